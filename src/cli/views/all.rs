//! `docdeck views --all`: prints the cost, loads all pages of a range with progress, and writes the rows. If loading
//! ends early, the loaded rows stay cached and the same command continues from there.

use super::Options;
use super::load_progress::{LoadProgressBar, cost_line, load_with_progress};
use super::output::write_content;
use crate::cli::error::CliError;
use crate::cli::exit_code::Code;
use crate::cli::out::{Out, rfc3339_seconds};
use crate::cli::session::Session;
use crate::model::export::{ExportContent, ExportFormat};
use crate::model::period::DateRange;
use crate::model::report::{LoadEndReason, LoadOutcome, LoadPlan, Report};
use crate::model::views::PageRow;
use crate::tui::format::{format_count, format_views, plural};
use crate::tui::views::request_cost::floor_percent;
use serde_json::Value;

/// Loads all pages and writes them. If loading fails, writes the rows that are loaded and returns the error; after a
/// signal, writes nothing.
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
    let content = ExportContent::from_pages(&report, None, ranked_rows(&report).into_iter());
    match error {
        // JSON output is one object with the error and the partial data.
        error if options.is_json() => Err(error.with_json_fields(partial_json(&content))),
        error => {
            write_content(&content, 0, options.format.export_format(), out)?;
            let rows = plural(report.rows.len(), "row");
            out.note(&format!(
                "docdeck: Partial: {rows} of {} loaded. Run the same command again to continue.",
                range.format_dates(true)
            ));
            Err(error)
        }
    }
}

/// Writes the rows of the report, and notes about its numbers. `requests` is the number of requests that this run used.
pub(super) fn write_report(report: &Report, requests: u32, options: &Options, out: &mut Out) -> Result<(), CliError> {
    let content = ExportContent::from_pages(report, None, ranked_rows(report).into_iter());
    write_content(&content, 0, options.format.export_format(), out)?;
    for note in notes_about_numbers(report, requests) {
        out.note(&note);
    }
    Ok(())
}

/// Returns the rows, sorted by total views if the report is complete, otherwise in the service's order.
fn ranked_rows(report: &Report) -> Vec<&PageRow> {
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
        let why = if report.responses > 1 { ", because rows moved between two requests" } else { "" };
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
fn partial_json(content: &ExportContent<'_>) -> Value {
    let text = ExportFormat::Json.write(content).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
