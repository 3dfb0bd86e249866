//! `docdeck needs-work`: prints the pages that need work, according to cached reports. With --load, it loads the
//! missing reports first.

use super::selection::SelectionOptions;
use super::table;
use crate::api::DecodableRow;
use crate::cli::error::CliError;
use crate::cli::exit_code::Code;
use crate::cli::out::Out;
use crate::cli::output_format::FormatOptions;
use crate::cli::range_options::{ParsedRange, RangeOptions};
use crate::cli::session::{CommandContext, Interrupted, Session, StoreSession};
use crate::config::analytics_weights;
use crate::engine::{Engine, LeaseRoles, StoredAnalytics};
use crate::model::analytics::fields::{FieldedRow, HasFields};
use crate::model::analytics::needs_work::{
    LoadedReports, NeedsWorkRanking, PageSignals, ProblemSignal, ReportSet, SignalWeights,
};
use crate::model::analytics::needs_work_export::NeedsWorkExport;
use crate::model::analytics::{Feedback, PageFeedback, Question, RowsLoadPlan, RowsReport, Search};
use crate::model::comparison::{ComparedRanges, Comparison};
use crate::model::export::ExportFormat;
use crate::model::failure::Failure;
use crate::model::ledger::Quota;
use crate::model::period::DateRange;
use crate::model::report::{LoadEndReason, LoadOutcome, LoadPlan, Report};
use crate::model::views::{MAX_PAGE_SIZE, ViewsQuery};
use crate::store::StoreError;
use chrono::{NaiveDate, Utc};
use clap::Args;
use std::sync::Arc;

/// Help text about the columns and the exit codes.
pub(in crate::cli) const OUTPUT_HELP: &str = "\
Each row is a page with its signals:
  views                  page views in the range
  lost views             how many fewer views the page had than in the previous period, on
                         complete days; unknown unless all pages of both periods are cached
  feedback               thumbs down and open comments
  questions              those that the assistant did not answer
  unclicked searches     searches of queries that nobody clicked a result of and whose words
                         match the page's path

For each signal except \"views\", docdeck computes what share of the site's total the page has. The score is the average \
of these shares, weighted by `weights` under [analytics] in config.toml. A signal whose report is not loaded is empty, never 0. Signals that belong to no page are \
in a row without a path.

Without --load, no request is sent. --load loads the first 250 pages and the first rows of the other reports, with at \
most 5 requests. To load all rows, run `docdeck views`, `searches`, `feedback` (also with --by-page) and `questions` \
with --all.

json: {\"range\": {\"from\", \"to\"}, \"totals\": {…}, \"pages\": [{\"path\", \"score\", \"views\", \"change\", \
\"lostViews\", \"thumbsDown\", \"openComments\", \"unansweredQuestions\", \"unclickedSearches\"}, …], \
\"missing\": […], \"partial\": […], \"asOf\"}. \"totals\" has the site's number of each signal. \"score\" and \
\"change\" (of the views) are fractions: 0.05 is 5%. \
\"missing\" names the reports that are not loaded, \"partial\" those that are \
loaded in part. If --load fails, the object has the pages according to the loaded reports, with \"error\" and \
\"exitCode\".

Exit codes: 0 written; 1 --check found pages; 2 usage, configuration or database error, or --check found nothing, but \
a report or the change of views is not loaded; 3 key refused; 4 service or network error; 5 hourly limit reached, or \
--check found nothing, but a report is loaded in part; 130 Ctrl-C.";

#[derive(Debug, Args)]
pub(in crate::cli) struct Options {
    #[command(flatten)]
    days: RangeOptions,
    /// load missing reports first (at most 5 requests)
    #[arg(long)]
    load: bool,
    /// with --load, load all reports again
    #[arg(long, requires = "load")]
    fresh: bool,
    #[command(flatten)]
    selection: SelectionOptions,
    /// print at most this many pages
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    format: FormatOptions,
}

impl Options {
    pub(in crate::cli) fn is_json(&self) -> bool {
        self.format.is_json()
    }
}

/// Runs `docdeck needs-work`.
pub(in crate::cli) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    // Mistakes in the options are reported before anything is requested.
    options.days.parse(Utc::now().date_naive())?;
    options.selection.parse::<PageSignals>()?;
    let weights = analytics_weights(cx.global_options, cx.environment)?;
    if !options.load {
        return cx
            .with_store(async |session, out| {
                let stored = StoredAnalytics::open(&session.store, &session.scope).await?;
                let days = options.days.parse(stored.service_time().date_naive())?;
                days.note_future_end(out);
                let reports = CachedReports::read(session, days, stored.service_time().date_naive()).await?;
                print(&reports, days.range, &weights, options, out)
            })
            .await;
    }
    cx.with_session(LeaseRoles::None, async |session, out| {
        let days = options.days.parse(session.engine.service_time().date_naive())?;
        days.note_future_end(out);
        let (reports, error) = load_reports(session, days, options.fresh, out).await?;
        match error {
            None => print(&reports, days.range, &weights, options, out),
            Some(error) => Err(print_loaded_and_return_error(&reports, days.range, &weights, options, error, out)?),
        }
    })
    .await
}

/// The cached reports of a range. A field is `None` if its report is not cached.
#[derive(Debug, Default)]
struct CachedReports {
    views: Option<Arc<Report>>,
    /// The page views of the complete days of the range and of the previous period, if both are cached.
    comparison: Option<Comparison>,
    feedback_by_page: Option<Arc<RowsReport<PageFeedback>>>,
    feedback: Option<Arc<RowsReport<Feedback>>>,
    questions: Option<Arc<RowsReport<Question>>>,
    searches: Option<Arc<RowsReport<Search>>>,
}

impl CachedReports {
    /// Reads the cached reports from the store.
    async fn read(session: &StoreSession, days: ParsedRange, today: NaiveDate) -> Result<Self, StoreError> {
        let StoreSession { store, scope } = session;
        let range = days.range;
        let comparison = match ComparedRanges::with_previous(range, days.period, today) {
            Ok(ranges) => {
                let current = store.cached_report(scope, ranges.current).await?.report;
                current.zip(store.cached_report(scope, ranges.previous).await?.report)
            }
            Err(_) => None,
        };
        Ok(Self {
            views: store.cached_report(scope, range).await?.report,
            comparison: comparison.map(|(current, previous)| Comparison { current, previous }),
            feedback_by_page: store.rows_report(scope, range).await?.report,
            feedback: store.rows_report(scope, range).await?.report,
            questions: store.rows_report(scope, range).await?.report,
            searches: store.rows_report(scope, range).await?.report,
        })
    }

    /// Reads the cached reports through the engine, which converts their times from the service's clock to this
    /// computer's clock.
    async fn read_from_engine(engine: &Engine, days: ParsedRange, today: NaiveDate) -> Result<Self, Failure> {
        let range = days.range;
        let comparison = match ComparedRanges::with_previous(range, days.period, today) {
            Ok(ranges) => {
                let current = engine.cached_report(ranges.current).await?.report;
                current.zip(engine.cached_report(ranges.previous).await?.report)
            }
            Err(_) => None,
        };
        Ok(Self {
            views: engine.cached_report(range).await?.report,
            comparison: comparison.map(|(current, previous)| Comparison { current, previous }),
            feedback_by_page: engine.stored_rows(range).await?.report,
            feedback: engine.stored_rows(range).await?.report,
            questions: engine.stored_rows(range).await?.report,
            searches: engine.stored_rows(range).await?.report,
        })
    }

    /// Loads the missing reports with one request each. A loaded report, however old, is requested again only if
    /// `fresh` is set.
    ///
    /// # Errors
    /// Fails if a request failed. The reports after it are not requested.
    async fn load_from_service(&mut self, engine: &Engine, range: DateRange, fresh: bool) -> Result<(), Failure> {
        if fresh || self.views.is_none() {
            let plan = LoadPlan { range, from_start: fresh, max_requests: 1, stop_at_percent: None };
            let LoadOutcome { report, end_reason, .. } = engine.load_all(plan).await;
            replace_report(&mut self.views, report, end_reason)?;
        }
        load_first_rows(&mut self.feedback_by_page, engine, range, fresh).await?;
        load_first_rows(&mut self.feedback, engine, range, fresh).await?;
        load_first_rows(&mut self.questions, engine, range, fresh).await?;
        load_first_rows(&mut self.searches, engine, range, fresh).await
    }

    fn loaded_reports(&self) -> LoadedReports<'_> {
        LoadedReports {
            views: self.views.as_deref(),
            comparison: self.comparison.as_ref(),
            feedback_by_page: self.feedback_by_page.as_deref(),
            feedback: self.feedback.as_deref(),
            questions: self.questions.as_deref(),
            searches: self.searches.as_deref(),
        }
    }
}

/// Loads the reports. If this takes requests, prints the cost first. If loading fails, returns the error together with
/// the reports that are loaded.
async fn load_reports(
    session: &mut Session,
    days: ParsedRange,
    fresh: bool,
    out: &mut Out,
) -> Result<(CachedReports, Option<CliError>), CliError> {
    let (range, engine) = (days.range, session.engine.clone());
    let mut reports = CachedReports::read_from_engine(&engine, days, engine.service_time().date_naive()).await?;
    let requests = count_needed_requests(session, &reports, range, fresh).await?;
    let now = session.engine.service_time();
    let left = session.store.budget(&session.scope, Quota::Views, now).await?.requests_left();
    // If none are left, loading fails with an error that says so.
    if requests > 0 && left > 0 {
        out.note(&format!(
            "Loading the reports of {}: uses {requests} of the {left} analytics requests left this hour.",
            range.format_dates(true)
        ));
    }
    out.show_live_line("loading reports");
    let ended = session.run_interruptible(reports.load_from_service(&engine, range, fresh)).await;
    out.clear_live_line();
    let error = match ended {
        Ok(ended) => ended.err().map(CliError::from),
        Err(Interrupted) => Some(CliError::new(Code::Interrupted, "Interrupted.")),
    };
    Ok((reports, error))
}

/// Returns how many requests it takes to load the missing reports or, if `fresh` is set, all reports.
async fn count_needed_requests(
    session: &Session,
    reports: &CachedReports,
    range: DateRange,
    fresh: bool,
) -> Result<usize, Failure> {
    if fresh {
        return Ok(ReportSet::all().count());
    }
    let missing = reports.loaded_reports().missing();
    // Only the first rows of page views are loaded. This takes no request if a fresh response with these rows is
    // cached.
    let first = ViewsQuery { range, limit: MAX_PAGE_SIZE, page: 1 };
    let has_views = missing.has_views
        && StoredAnalytics::open(&session.store, &session.scope).await?.fresh_cached_response(first).await?.is_some();
    Ok(missing.count().saturating_sub(usize::from(has_views)))
}

/// Loads the first rows of a report if it is missing or `fresh` is set.
async fn load_first_rows<R: FieldedRow + DecodableRow>(
    report: &mut Option<Arc<RowsReport<R>>>,
    engine: &Engine,
    range: DateRange,
    fresh: bool,
) -> Result<(), Failure> {
    if !fresh && report.is_some() {
        return Ok(());
    }
    let outcome = engine.load_rows::<R>(RowsLoadPlan { range, max_requests: 1, from_start: fresh }).await;
    replace_report(report, outcome.report, outcome.end_reason)
}

/// Replaces `report` with `loaded` if a load has returned a report, even an incomplete one. If the load failed, returns
/// its error.
fn replace_report<T>(report: &mut Option<T>, loaded: Option<T>, end: LoadEndReason) -> Result<(), Failure> {
    if loaded.is_some() {
        *report = loaded;
    }
    if let LoadEndReason::Failed(failure) = end { Err(failure) } else { Ok(()) }
}

/// Prints the pages. With `--check`, returns [`Code::Failed`] if there are any; if there are none, returns an error
/// unless all data that the filter needs is loaded.
fn print(
    reports: &CachedReports,
    range: DateRange,
    weights: &SignalWeights,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let selection = options.selection.parse::<PageSignals>()?;
    let loaded = reports.loaded_reports();
    let found = NeedsWorkRanking::compute(loaded, weights);
    let (missing, partial) = (loaded.missing(), loaded.partial());
    note_gaps(loaded, " Load them with --load.", out);
    let mut pages = selection.select(&found.pages);
    let has_failed = selection.has_check_option && !pages.is_empty();
    if selection.has_check_option && pages.is_empty() {
        let is_change_unknown = found.total(ProblemSignal::LostViews).is_none();
        if !missing.is_empty() {
            let text = "--check: no page passes the filter, but not all reports are loaded. Add --load.";
            return Err(CliError::local_error(text));
        }
        if is_change_unknown && ["lost", "change"].iter().any(|field| selection.has_numeric_condition(field)) {
            let text = "--check: the change of views is unknown until all pages are loaded, both for the complete days \
                        of the range and for the previous period. Load each of the two with `docdeck views --all`.";
            return Err(CliError::local_error(text));
        }
        if !partial.is_empty() {
            let text = "--check: no page passes the filter, but some reports are partial. Load all their rows \
                        first, for example with `docdeck searches --all`.";
            return Err(CliError::new(Code::Limited, text));
        }
    }
    pages.truncate(options.limit);
    write(&NeedsWorkExport { range, needs_work: &found, pages: &pages, reports: loaded }, options, out)?;
    Ok(if has_failed { Code::Failed } else { Code::Done })
}

/// After loading a report has failed, prints the pages that need work according to the reports that are loaded. Prints
/// nothing if no report is loaded. If the output is JSON, adds the pages to the error instead of printing them. Returns
/// the error.
fn print_loaded_and_return_error(
    reports: &CachedReports,
    range: DateRange,
    weights: &SignalWeights,
    options: &Options,
    error: CliError,
    out: &mut Out,
) -> Result<CliError, CliError> {
    let loaded = reports.loaded_reports();
    if loaded.missing() == ReportSet::all() {
        return Ok(error);
    }
    let found = NeedsWorkRanking::compute(loaded, weights);
    let mut pages = options.selection.parse::<PageSignals>()?.select(&found.pages);
    pages.truncate(options.limit);
    let export = NeedsWorkExport { range, needs_work: &found, pages: &pages, reports: loaded };
    if options.is_json() {
        let text = export.write(ExportFormat::Json).map_err(CliError::local_error)?;
        return Ok(error.with_json_fields(serde_json::from_str(&text).unwrap_or_default()));
    }
    write(&export, options, out)?;
    note_gaps(loaded, "", out);
    Ok(error)
}

/// Prints which reports are not loaded, with `advice` about them, and which are partial.
fn note_gaps(loaded: LoadedReports<'_>, advice: &str, out: &mut Out) {
    let (missing, partial) = (loaded.missing(), loaded.partial());
    if !missing.is_empty() {
        out.note(&format!("Not loaded: {}.{advice}", missing.names().join(", ")));
    }
    if !partial.is_empty() {
        out.note(&format!("Partial: {}.", partial.names().join(", ")));
    }
}

/// Writes the pages in the format of the options.
fn write(export: &NeedsWorkExport<'_>, options: &Options, out: &mut Out) -> Result<(), CliError> {
    match options.format.export_format() {
        Some(format) => out.write(&export.write(format).map_err(CliError::local_error)?),
        None => table::write(export.range, export.pages, PageSignals::FIELDS.iter().collect(), out),
    }
    Ok(())
}
