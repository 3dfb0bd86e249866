//! Loads all pages of a range for the commands: describes the cost first, then shows the progress.

use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::cli::session::{Session, WaitEnd};
use crate::model::engine_event::EngineEvent;
use crate::model::ledger::Quota;
use crate::model::period::DateRange;
use crate::model::report::{LoadEstimate, LoadOutcome, LoadPlan, LoadProgress};
use crate::model::views::as_f64;
use crate::tui::format::{format_count, plural};
use crate::tui::views::request_cost::cost_text;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The number of steps of the progress bar.
const BAR_STEPS: u64 = 1000;
/// The characters of the progress bar for the loaded and the remaining part.
const BAR_CHARS: &str = "█░";
const ASCII_BAR_CHARS: &str = "#.";

/// Describes the expected cost in a line. Returns `None` if nothing has to be loaded: a fresh and complete report is
/// cached, no later load was interrupted, and `from_start` is false.
pub(super) async fn cost_line(
    session: &Session,
    range: DateRange,
    from_start: bool,
) -> Result<Option<String>, CliError> {
    let now = session.engine.service_time();
    let known = session.engine.cached_report(range).await?;
    let is_complete = known.report.as_ref().is_some_and(|report| report.complete && range.is_fresh(report.as_of, now));
    if is_complete && !from_start && known.responses_before_interruption.is_none() {
        return Ok(None);
    }
    let left = session.store.budget(&session.scope, Quota::Views, now).await?.requests_left();
    let rows = known.report.as_ref().filter(|report| !from_start && !report.complete).map(|report| report.rows.len());
    let from = rows.map(|rows| format!(", continuing after {} rows", format_count(rows))).unwrap_or_default();
    let loaded = known.responses_before_interruption.filter(|_| !from_start).unwrap_or(0);
    let rest =
        |expected: LoadEstimate| LoadEstimate { requests: expected.requests.saturating_sub(loaded).max(1), ..expected };
    let words = cost_text(1, known.estimate_load().map(rest));
    Ok(Some(format!(
        "Loading all pages of {}{from}: {words}, {left} requests left this hour.",
        range.format_dates(true)
    )))
}

/// Loads the pages and shows the progress. Returns `None` after a signal; the response to a running request is still
/// saved.
pub(super) async fn load_with_progress(
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
            wait_end = session.next_event(None) => match wait_end {
                WaitEnd::Event(event) => {
                    if let EngineEvent::Loading(at) = *event { progress.show_progress(at, out) }
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

/// Shows the progress of a load: as a bar on a terminal, otherwise as a line per response.
pub(super) struct LoadProgressBar {
    bar: Option<ProgressBar>,
    last_progress: Option<LoadProgress>,
}

impl LoadProgressBar {
    pub(super) fn begin(out: &mut Out) -> Self {
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
        Self { bar, last_progress: None }
    }

    fn show_progress(&mut self, progress: LoadProgress, out: &mut Out) {
        let share =
            progress.share.map(|share| format!("{:.0}% of the views, ", (share * 100.0).floor())).unwrap_or_default();
        let requests = plural(progress.requests, "request");
        let text = format!("{share}{} rows, {requests}", format_count(progress.rows));
        match &self.bar {
            Some(bar) => {
                bar.set_position(bar_steps(progress.share));
                bar.set_message(text);
            }
            None => out.note(&text),
        }
        self.last_progress = Some(progress);
    }

    /// Removes the bar.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Describes what an interrupted load leaves in the cache.
    pub(super) fn cached_message(&self, range: DateRange) -> String {
        match &self.last_progress {
            Some(at) => format!(
                "{} rows of {} are cached ({}). Run the same command again to continue.",
                format_count(at.rows),
                range.format_dates(true),
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
