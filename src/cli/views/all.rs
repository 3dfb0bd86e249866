//! All pages of a range: the price first, then how far it is, then all rows. What came before an end of any kind is kept,
//! and the same command goes on from there.

use super::{Options, write};
use crate::app::format::{count, plural, views};
use crate::app::views::request_cost::{percent, price_words};
use crate::cli::error::CliError;
use crate::cli::exit_code::Code;
use crate::cli::out::{Out, rfc3339};
use crate::cli::session::{Session, WaitEnd};
use crate::model::engine_event::EngineEvent;
use crate::model::export::{ExportContent, ExportFormat};
use crate::model::ledger::RateLimited;
use crate::model::period::DateRange;
use crate::model::report::{Expected, LoadEnded, LoadOutcome, LoadPlan, LoadProgress, Report};
use crate::model::views::{PageRow, as_f64};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

/// Parts that the bar is made of.
const PARTS: u64 = 1000;
/// What a bar is drawn with: done and to do.
const SIGNS: &str = "█░";
const ASCII_SIGNS: &str = "#.";

/// Loads and writes them.
pub(super) async fn answer(
    desk: &mut Session,
    range: DateRange,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    if let Some(price) = price(desk, range, options.fresh).await? {
        out.note(&price);
    }
    let order = LoadPlan { range, afresh: options.fresh, at_most: u32::MAX, until: options.until };
    let mut progress = LoadProgressBar::begin(out);
    let ended = load(desk, order, &mut progress, out).await;
    progress.end();
    let Some(LoadOutcome { report, ended, requests }) = ended else {
        return Err(CliError::new(Code::Interrupted, format!("Interrupted. {}", progress.kept(range))));
    };
    let refusal = match ended {
        LoadEnded::Complete | LoadEnded::Enough => None,
        LoadEnded::Failed(failure) => Some(CliError::from(failure)),
        LoadEnded::Stopped => Some(CliError::new(Code::Interrupted, "Loading was stopped.")),
        LoadEnded::AtMost => Some(CliError::new(Code::Limited, "Loading took all the requests that it may take.")),
    };
    let Some(report) = report else {
        return refusal.map_or(Ok(Code::Done), Err);
    };
    let Some(refusal) = refusal else {
        write_whole(&report, requests, options, out)?;
        if !report.complete {
            let share = report.loaded_share().map(percent).unwrap_or_default();
            out.note(&format!(
                "Stopped at {share} of the views, as --until asks. Without it the same command loads the rest."
            ));
        }
        return Ok(Code::Done);
    };
    let extract = ExportContent::of_pages(&report, None, ranked(&report).into_iter());
    match refusal {
        // Of JSON there is one object, with the failure beside what is known.
        refusal if options.is_json() => Err(refusal.with(known(&extract))),
        refusal => {
            write(&extract, 0, options.format(), out)?;
            let rows = plural(report.rows.len(), "row");
            out.note(&format!("docdeck: Not complete: {rows} of {range} so far. The same command goes on from there."));
            Err(refusal)
        }
    }
}

/// The rows, and what a reader of the numbers should know; `requests` is what they cost just now.
pub(super) fn write_whole(report: &Report, requests: u32, options: &Options, out: &mut Out) -> Result<(), CliError> {
    let extract = ExportContent::of_pages(report, None, ranked(report).into_iter());
    write(&extract, 0, options.format(), out)?;
    for note in notes(report, requests) {
        out.note(&note);
    }
    Ok(())
}

/// What is known of the price; none where all is known already and fresh.
async fn price(desk: &Session, range: DateRange, afresh: bool) -> Result<Option<String>, CliError> {
    let now = desk.engine.service_now();
    let known = desk.engine.recall(range).await?;
    let is_whole = known.report.as_ref().is_some_and(|report| report.complete && range.is_fresh(report.as_of, now));
    if is_whole && !afresh && known.broken_off.is_none() {
        return Ok(None);
    }
    let left = desk.store.budget(&desk.scope, RateLimited::Views, now).await?.left();
    let rows = known.report.as_ref().filter(|report| !afresh && !report.complete).map(|report| report.rows.len());
    let from = rows.map(|rows| format!(", going on after {} rows", count(rows))).unwrap_or_default();
    let taken_in = known.broken_off.filter(|_| !afresh).unwrap_or(0);
    let rest =
        |expected: Expected| Expected { requests: expected.requests.saturating_sub(taken_in).max(1), ..expected };
    let words = price_words(1, known.expected().map(rest));
    Ok(Some(format!("Loading all pages of {range}{from}: {words}, {left} left here.")))
}

/// Loads, and shows how far it is; none when somebody asked to end. What was under way then still ends in the record.
async fn load(
    desk: &mut Session,
    order: LoadPlan,
    progress: &mut LoadProgressBar,
    out: &mut Out,
) -> Option<LoadOutcome> {
    let engine = desk.engine.clone();
    let loading = engine.load_all(order);
    tokio::pin!(loading);
    loop {
        tokio::select! {
            // What was told before the end is heard before it.
            biased;
            happening = desk.next(None) => match happening {
                WaitEnd::News(news) => {
                    if let EngineEvent::Loading(at) = *news { progress.at(at, out) }
                }
                WaitEnd::Interrupted => {
                    desk.engine.stop_loading(order.range);
                    return None;
                }
                WaitEnd::Late => {}
            },
            end = &mut loading => return Some(end),
        }
    }
}

/// How far it is: a bar on a terminal, else a line an answer.
struct LoadProgressBar {
    bar: Option<ProgressBar>,
    last: Option<LoadProgress>,
}

impl LoadProgressBar {
    fn begin(out: &mut Out) -> Self {
        let (template, signs) =
            if out.draws_ascii() { ("[{bar:30}] {msg}", ASCII_SIGNS) } else { ("{bar:30} {msg}", SIGNS) };
        let style = ProgressStyle::with_template(template).ok().filter(|_| out.moves());
        let bar = style.map(|style| {
            let bar = ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::stderr());
            bar.set_style(style.progress_chars(signs));
            bar.set_message("asking");
            bar.tick();
            bar
        });
        Self { bar, last: None }
    }

    fn at(&mut self, at: LoadProgress, out: &mut Out) {
        let share = at.share.map(|share| format!("{:.0}% of the views, ", (share * 100.0).floor())).unwrap_or_default();
        let requests = plural(usize::try_from(at.requests).unwrap_or(usize::MAX), "request");
        let text = format!("{share}{} rows, {requests}", count(at.rows));
        match &self.bar {
            Some(bar) => {
                bar.set_position(parts(at.share));
                bar.set_message(text);
            }
            None => out.note(&text),
        }
        self.last = Some(at);
    }

    /// Takes the bar away.
    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn kept(&self, range: DateRange) -> String {
        match &self.last {
            Some(at) => format!(
                "{} rows of {range} are kept ({}): the same command goes on from there.",
                count(at.rows),
                plural(usize::try_from(at.requests).unwrap_or(usize::MAX), "request")
            ),
            None => "Nothing new had come.".to_owned(),
        }
    }
}

/// A share as parts of the bar, rounded down.
fn parts(share: Option<f64>) -> u64 {
    let share = share.unwrap_or(0.0);
    // Few enough to be counted.
    (0..=PARTS).take_while(|part| as_f64(*part) / as_f64(PARTS) <= share).last().unwrap_or(0)
}

/// The rows by total views once they are all there; before that in the service's order.
fn ranked(report: &Report) -> Vec<&PageRow> {
    let mut rows: Vec<&PageRow> = report.rows.iter().collect();
    if report.complete {
        rows.sort_by(|a, b| b.counts.total.value().cmp(&a.counts.total.value()).then_with(|| a.path.cmp(&b.path)));
    }
    rows
}

/// What a reader of the numbers should know.
fn notes(report: &Report, requests: u32) -> Vec<String> {
    let mut notes = Vec::new();
    let as_of = rfc3339(report.as_of);
    notes.push(match requests {
        0 => format!("{} rows as of {as_of}, without a request.", count(report.rows.len())),
        n => format!(
            "{} rows as of {as_of}, by {}.",
            count(report.rows.len()),
            plural(usize::try_from(n).unwrap_or(usize::MAX), "request")
        ),
    });
    if report.moved > 0 {
        let rows = plural(usize::try_from(report.moved).unwrap_or(usize::MAX), "duplicate row");
        let why = if report.answers > 1 { ", because rows moved between two requests" } else { "" };
        notes.push(format!("Merged {rows}{why}: each page is listed once, with its last numbers."));
    }
    if let Some(total) = report.totals.total.value().filter(|_| report.complete) {
        let sum = report.sums().total;
        if !sum.nearly_equals(total) {
            notes.push(format!("The rows add up to {}, the site's total is {}.", views(sum), views(total)));
        }
    }
    notes
}

/// The object of the format, to stand beside a failure.
fn known(extract: &ExportContent<'_>) -> Value {
    let text = ExportFormat::Json.write(extract).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
