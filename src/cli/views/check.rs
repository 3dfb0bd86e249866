//! `docdeck views --check FILTER`: loads all pages, compares them with the previous period if the filter needs that,
//! and writes the pages that pass the filter.

use super::load_progress::{LoadProgressBar, cost_line, load_with_progress};
use super::output::write_content;
use crate::cli::error::CliError;
use crate::cli::exit_code::Code;
use crate::cli::out::Out;
use crate::cli::range_options::ParsedRange;
use crate::cli::session::Session;
use crate::model::comparison::{ComparedRanges, Comparison};
use crate::model::export::{ExportContent, ExportFormat};
use crate::model::period::DateRange;
use crate::model::report::{LoadEndReason, LoadPlan, Report};
use crate::tui::views::table::{FilterableData, PageTable};
use std::sync::Arc;

/// Returns what is wrong with a filter, as a sentence. `None` if it is valid.
pub(super) fn filter_problem(filter: &str) -> Option<String> {
    let problem =
        PageTable::problem_of_filter(filter, FilterableData { is_compared: true, ..FilterableData::default() })?;
    Some(format!("--check: {problem}. Nothing was loaded."))
}

/// Writes the pages that pass the filter. Returns [`Code::Failed`] if there are any.
pub(super) async fn check(
    session: &mut Session,
    days: ParsedRange,
    filter: &str,
    fresh: bool,
    format: Option<ExportFormat>,
    out: &mut Out,
) -> Result<Code, CliError> {
    // The filter is valid, so its only possible problem is that it needs a comparison, which the default data lacks.
    let needs_comparison = PageTable::problem_of_filter(filter, FilterableData::default()).is_some();
    let today = session.engine.service_time().date_naive();
    let ranges = needs_comparison.then(|| ComparedRanges::with_previous(days.range, days.period, today)).transpose();
    let ranges = ranges.map_err(|why| CliError::local_error(format!("--check: {why} Nothing was loaded.")))?;
    let report = load(session, days.range, fresh, out).await?;
    let comparison = match ranges {
        Some(ranges) => Some(load_comparison(session, ranges, &report, fresh, out).await?),
        None => None,
    };
    let mut table = PageTable::default();
    table.show_compared(Arc::clone(&report), comparison.clone());
    table.set_filter(filter);
    let content = ExportContent::from_pages(&report, comparison.as_ref(), table.shown_pages());
    let found = content.pages.len();
    write_content(&content, 0, format, out)?;
    Ok(if found > 0 { Code::Failed } else { Code::Done })
}

/// Loads the reports of the compared ranges. The report of the current one may be `report`.
async fn load_comparison(
    session: &mut Session,
    ranges: ComparedRanges,
    report: &Arc<Report>,
    fresh: bool,
    out: &mut Out,
) -> Result<Comparison, CliError> {
    let current_report = if ranges.current == report.range {
        Arc::clone(report)
    } else {
        load(session, ranges.current, fresh, out).await?
    };
    let previous_report = load(session, ranges.previous, fresh, out).await?;
    Ok(Comparison { current: current_report, previous: previous_report })
}

/// Loads all pages of a range, or takes them from the cache.
async fn load(session: &mut Session, range: DateRange, fresh: bool, out: &mut Out) -> Result<Arc<Report>, CliError> {
    if let Some(cost) = cost_line(session, range, fresh).await? {
        out.note(&cost);
    }
    let plan = LoadPlan { range, from_start: fresh, max_requests: u32::MAX, stop_at_percent: None };
    let mut progress = LoadProgressBar::begin(out);
    let ended = load_with_progress(session, plan, &mut progress, out).await;
    progress.end();
    let interrupted = || CliError::new(Code::Interrupted, format!("Interrupted. {}", progress.cached_message(range)));
    let outcome = ended.ok_or_else(interrupted)?;
    match (outcome.end_reason, outcome.report) {
        (LoadEndReason::Complete, Some(report)) => Ok(report),
        (LoadEndReason::Failed(failure), _) => Err(CliError::from(failure)),
        _ => Err(CliError::new(Code::Interrupted, "Loading was stopped.")),
    }
}
