//! `docdeck views --all`: prints the cost, loads all pages of a range with progress, and writes the rows. If loading
//! ends early, the loaded rows stay cached and the same command continues from there.

use super::{Options, write_content};
use crate::cli::error::CliError;
use crate::cli::exit_code::Code;
use crate::cli::out::{Out, rfc3339_seconds};
use crate::cli::session::{Session, WaitEnd};
use crate::model::engine_event::EngineEvent;
use crate::model::export::{ExportContent, ExportFormat};
use crate::model::ledger::RateLimited;
use crate::model::period::DateRange;
use crate::model::report::{LoadEndReason, LoadEstimate, LoadOutcome, LoadPlan, LoadProgress, Report};
use crate::model::views::{PageRow, as_f64};
use crate::tui::format::{format_count, format_views, plural};
use crate::tui::views::request_cost::{cost_text, floor_percent};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

/// The number of steps of the progress bar.
const BAR_STEPS: u64 = 1000;
/// The characters of the progress bar for the loaded and the remaining part.
const BAR_CHARS: &str = "█░";
const ASCII_BAR_CHARS: &str = "#.";

/// Loads all pages and writes them.
pub(super) async fn load_and_write_all(
    session: &mut Session,
    range: DateRange,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    if let Some(cost) = cost_line(session, range, options.fresh).await? {
        out.note(&cost);
    }
    let plan = LoadPlan { range, from_start: options.fresh, max_requests: u32::MAX, stop_at_percent: options.until };
    let mut progress = LoadProgressBar::begin(out);
    let ended = load_with_progress(session, plan, &mut progress, out).await;
    progress.end();
    let Some(LoadOutcome { report, end_reason: ended, requests }) = ended else {
        return Err(CliError::new(Code::Interrupted, format!("Interrupted. {}", progress.cached_message(range))));
    };
    let error = match ended {
        LoadEndReason::Complete | LoadEndReason::TargetReached => None,
        LoadEndReason::Failed(failure) => Some(CliError::from(failure)),
        LoadEndReason::Stopped => Some(CliError::new(Code::Interrupted, "Loading was stopped.")),
        LoadEndReason::RequestLimit => {
            Some(CliError::new(Code::Limited, "Loading stopped: the agreed number of requests is used."))
        }
    };
    let Some(report) = report else {
        return error.map_or(Ok(Code::Done), Err);
    };
    let Some(error) = error else {
        write_report(&report, requests, options, out)?;
        if !report.complete {
            let share = report.loaded_share().map(floor_percent).unwrap_or_default();
            out.note(&format!("Stopped at {share} of the views because of --until. Omit it to load the rest."));
        }
        return Ok(Code::Done);
    };
    let extract = ExportContent::of_pages(&report, None, ranked(&report).into_iter());
    match error {
        // JSON output is one object with the error and the partial data.
        error if options.is_json() => Err(error.with_fields(partial_json(&extract))),
        error => {
            write_content(&extract, 0, options.format(), out)?;
            let rows = plural(report.rows.len(), "row");
            out.note(&format!("docdeck: Partial: {rows} of {range} loaded. Run the same command again to continue."));
            Err(error)
        }
    }
}

/// Writes the rows of the report, and notes about its numbers. `requests` is the number of requests that this run used.
pub(super) fn write_report(report: &Report, requests: u32, options: &Options, out: &mut Out) -> Result<(), CliError> {
    let extract = ExportContent::of_pages(report, None, ranked(report).into_iter());
    write_content(&extract, 0, options.format(), out)?;
    for note in notes_about_numbers(report, requests) {
        out.note(&note);
    }
    Ok(())
}

/// Describes the expected cost in a line. Returns `None` if a fresh and complete report is cached, so that nothing must
/// be loaded.
async fn cost_line(session: &Session, range: DateRange, from_start: bool) -> Result<Option<String>, CliError> {
    let now = session.engine.service_now();
    let known = session.engine.cached_report(range).await?;
    let is_complete = known.report.as_ref().is_some_and(|report| report.complete && range.is_fresh(report.as_of, now));
    if is_complete && !from_start && known.interrupted_after.is_none() {
        return Ok(None);
    }
    let left = session.store.budget(&session.scope, RateLimited::Views, now).await?.requests_left();
    let rows = known.report.as_ref().filter(|report| !from_start && !report.complete).map(|report| report.rows.len());
    let from = rows.map(|rows| format!(", continuing after {} rows", format_count(rows))).unwrap_or_default();
    let loaded = known.interrupted_after.filter(|_| !from_start).unwrap_or(0);
    let rest =
        |expected: LoadEstimate| LoadEstimate { requests: expected.requests.saturating_sub(loaded).max(1), ..expected };
    let words = cost_text(1, known.estimate_load().map(rest));
    Ok(Some(format!("Loading all pages of {range}{from}: {words}, {left} requests left this hour.")))
}

/// Loads the pages and shows the progress. Returns `None` after a signal; the answer to a running request is still
/// saved.
async fn load_with_progress(
    session: &mut Session,
    plan: LoadPlan,
    progress: &mut LoadProgressBar,
    out: &mut Out,
) -> Option<LoadOutcome> {
    let engine = session.engine.clone();
    let loading = engine.load_all(plan);
    tokio::pin!(loading);
    loop {
        tokio::select! {
            // Events that have already arrived are handled before the end of the load.
            biased;
            wait_end = session.next(None) => match wait_end {
                WaitEnd::Event(event) => {
                    if let EngineEvent::Loading(at) = *event { progress.update_bar(at, out) }
                }
                WaitEnd::Interrupted => {
                    session.engine.stop_loading(plan.range);
                    return None;
                }
                WaitEnd::TimedOut => {}
            },
            end = &mut loading => return Some(end),
        }
    }
}

/// Shows the progress of a load: as a bar on a terminal, otherwise as a line per answer.
struct LoadProgressBar {
    bar: Option<ProgressBar>,
    last: Option<LoadProgress>,
}

impl LoadProgressBar {
    fn begin(out: &mut Out) -> Self {
        let (template, chars) =
            if out.draws_ascii() { ("[{bar:30}] {msg}", ASCII_BAR_CHARS) } else { ("{bar:30} {msg}", BAR_CHARS) };
        let style = ProgressStyle::with_template(template).ok().filter(|_| out.can_animate());
        let bar = style.map(|style| {
            let bar = ProgressBar::with_draw_target(Some(BAR_STEPS), ProgressDrawTarget::stderr());
            bar.set_style(style.progress_chars(chars));
            bar.set_message("loading");
            bar.tick();
            bar
        });
        Self { bar, last: None }
    }

    fn update_bar(&mut self, at: LoadProgress, out: &mut Out) {
        let share = at.share.map(|share| format!("{:.0}% of the views, ", (share * 100.0).floor())).unwrap_or_default();
        let requests = plural(at.requests, "request");
        let text = format!("{share}{} rows, {requests}", format_count(at.rows));
        match &self.bar {
            Some(bar) => {
                bar.set_position(bar_steps(at.share));
                bar.set_message(text);
            }
            None => out.note(&text),
        }
        self.last = Some(at);
    }

    /// Removes the bar.
    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Describes what an interrupted load leaves in the cache.
    fn cached_message(&self, range: DateRange) -> String {
        match &self.last {
            Some(at) => format!(
                "{} rows of {range} are cached ({}). Run the same command again to continue.",
                format_count(at.rows),
                plural(at.requests, "request")
            ),
            None => "Nothing was loaded.".to_owned(),
        }
    }
}

/// Converts a share to steps of the progress bar, rounded down. `None`, an unknown share, is 0 steps.
fn bar_steps(share: Option<f64>) -> u64 {
    let share = share.unwrap_or(0.0);
    // Counting avoids a lossy conversion from f64, and there are only a thousand steps.
    (0..=BAR_STEPS).take_while(|part| as_f64(*part) / as_f64(BAR_STEPS) <= share).last().unwrap_or(0)
}

/// Returns the rows, sorted by total views if the report is complete, otherwise in the service's order.
fn ranked(report: &Report) -> Vec<&PageRow> {
    let mut rows: Vec<&PageRow> = report.rows.iter().collect();
    if report.complete {
        rows.sort_by(|a, b| b.counts.total.value().cmp(&a.counts.total.value()).then_with(|| a.path.cmp(&b.path)));
    }
    rows
}

/// Returns notes about the numbers: their age, merged rows, and a difference from the site's total.
fn notes_about_numbers(report: &Report, requests: u32) -> Vec<String> {
    let mut notes = Vec::new();
    let as_of = rfc3339_seconds(report.as_of);
    notes.push(match requests {
        0 => format!("{} rows as of {as_of}, no requests.", format_count(report.rows.len())),
        n => format!("{} rows as of {as_of}, {}.", format_count(report.rows.len()), plural(n, "request")),
    });
    if report.duplicates > 0 {
        let rows = plural(report.duplicates, "duplicate row");
        let why = if report.answers > 1 { ", because rows moved between two requests" } else { "" };
        notes.push(format!("Merged {rows}{why}. Each page is listed once, with its latest numbers."));
    }
    if let Some(total) = report.totals.total.value().filter(|_| report.complete) {
        let sum = report.sums().total;
        if !sum.nearly_equals(total) {
            notes.push(format!(
                "The rows add up to {}, but the site's total is {}.",
                format_views(sum),
                format_views(total)
            ));
        }
    }
    notes
}

/// Returns the partial data as a JSON object, to be merged with the error.
fn partial_json(extract: &ExportContent<'_>) -> Value {
    let text = ExportFormat::Json.write(extract).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
