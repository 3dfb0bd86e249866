//! `docdeck searches`, `feedback`, `questions` and `visitors`: loads a report, and prints its rows in several formats.
//! Uses the same engine, cache and ledger as the dashboard. The submodule `needs_work` has the command that combines
//! these reports.

pub(super) mod needs_work;
mod selection;
mod table;

use selection::{RowSelection, SelectionOptions};

use super::error::CliError;
use super::exit_code::Code;
use super::number_parser::number_parser;
use super::out::{Out, rfc3339_seconds};
use super::output_format::FormatOptions;
use super::range_options::RangeOptions;
use super::session::{CommandContext, Interrupted, Session, StoreSession};
use crate::api::DecodableRow;
use crate::engine::{LeaseRoles, StoredAnalytics};
use crate::model::analytics::export::RowsExport;
use crate::model::analytics::fields::FieldedRow;
use crate::model::analytics::{Feedback, PageFeedback, RowsLoadPlan, RowsReport};
use crate::model::export::ExportFormat;
use crate::model::ledger::Quota;
use crate::model::report::LoadEndReason;
use crate::tui::format::{format_count, plural};
use chrono::Utc;
use clap::Args;
use std::sync::Arc;

/// Returns the help text about the formats and the exit codes, for a report with or without texts of readers.
pub(super) fn format_help(has_reader_texts: bool) -> String {
    let [cached, printed] = if has_reader_texts { READER_TEXTS_HELP } else { ["", ""] };
    format!("{FORMAT_HELP}{cached}\n\n{printed}{EXIT_CODES_HELP}")
}

/// Help about reports with texts of readers: whether the texts are cached, and when they are printed.
const READER_TEXTS_HELP: [&str; 2] = [
    " With reader_text_days = 0 in config.toml, feedback and questions are not cached.",
    "Comments and questions of readers are printed on a terminal. In a pipe, and in json, csv and md, they are included \
     only with --with-comments.\n\n",
];

const FORMAT_HELP: &str = "\
table: with headings on a terminal; in a pipe, one line per row, with tabs between the columns. json: {\"range\", ROWS, \
\"complete\", \"asOf\"}, where ROWS is \"searches\", \"feedback\", \"conversations\" (for questions) or \"visitors\". \
The fields of json and csv have the service's names. \"complete\" is true if all rows of the range are included.

Each request loads a part of the rows and counts toward the limit of 100 analytics requests an hour. Loaded rows are \
cached: run the same command again to continue. A complete report stays fresh for 5 minutes if it was loaded before \
the range ended, for an hour if within two hours after its end, and forever if later.";

const EXIT_CODES_HELP: &str = "\
Exit codes: 0 written; 1 --check found rows; 2 usage, configuration or database error; 3 key refused; 4 service or \
network error; 5 hourly limit reached, or --check found nothing in partial data; 130 Ctrl-C. After 3, 4 and 5, the \
rows that are loaded are printed nevertheless; in json, together with \"error\" and \"exitCode\".";

#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    days: RangeOptions,
    #[command(flatten)]
    selection: SelectionOptions,
    /// use at most this many requests
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true,
          value_parser = number_parser(1..=u32::MAX, "a whole number, 1 or more"))]
    max_requests: u32,
    /// load all rows, with as many requests as that takes
    #[arg(long, conflicts_with = "max_requests")]
    all: bool,
    /// print at most this many rows
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = number_parser(1..=u32::MAX, "a whole number, 1 or more"))]
    limit: Option<u32>,
    /// load from the service even if the cache is fresh
    #[arg(long)]
    fresh: bool,
    /// include the comments and questions of readers
    #[arg(long)]
    with_comments: bool,
    #[command(flatten)]
    format: FormatOptions,
}

#[derive(Debug, Args)]
pub(super) struct FeedbackOptions {
    /// count the votes and comments of each page
    #[arg(long)]
    by_page: bool,
    #[command(flatten)]
    options: Options,
}

impl Options {
    pub(super) fn is_json(&self) -> bool {
        self.format.is_json()
    }

    fn max_requests(&self) -> u32 {
        if self.all { u32::MAX } else { self.max_requests }
    }
}

impl FeedbackOptions {
    pub(super) fn is_json(&self) -> bool {
        self.options.is_json()
    }
}

/// Runs `docdeck feedback`.
pub(super) async fn run_feedback(cx: &mut CommandContext<'_>, options: &FeedbackOptions) -> Result<Code, CliError> {
    match options.by_page {
        true => run::<PageFeedback>(cx, &options.options).await,
        false => run::<Feedback>(cx, &options.options).await,
    }
}

/// Runs the command that prints rows of the type `R`, for example `docdeck searches`.
pub(super) async fn run<R: FieldedRow + DecodableRow>(
    cx: &mut CommandContext<'_>,
    options: &Options,
) -> Result<Code, CliError> {
    // Mistakes in the options are reported before anything is requested.
    options.days.parse(Utc::now().date_naive())?;
    let printer = Printer::<R>::new(options)?;
    // An error is ignored here, because opening the session below reports it.
    if let Some(session) = cx.open_store(false).ok().filter(|_| !options.fresh) {
        let cached = fresh_cached_report::<R>(&session, options, cx.out).await;
        session.close().await;
        if let Some(report) = cached? {
            printer.note_age_and_gaps(&report, 0, true, cx.out);
            return printer.print(&report, cx.out);
        }
    }
    cx.with_session(LeaseRoles::None, async |session, out| {
        let LoadedReport { report, requests, failure } = load::<R>(session, options, out).await?;
        printer.note_age_and_gaps(&report, requests, session.engine.stores_rows(R::KIND), out);
        match failure {
            None => printer.print(&report, out),
            Some(error) => Err(printer.print_after_failure(&report, error, out)?),
        }
    })
    .await
}

/// Returns the complete report of the range if it is cached and fresh. This needs neither a key nor a request.
async fn fresh_cached_report<R: FieldedRow>(
    session: &StoreSession,
    options: &Options,
    out: &mut Out,
) -> Result<Option<Arc<RowsReport<R>>>, CliError> {
    let stored = StoredAnalytics::open(&session.store, &session.scope).await?;
    let days = options.days.parse(stored.service_time().date_naive())?;
    let report = stored.fresh_rows::<R>(days.range).await?;
    if report.is_some() {
        days.note_future_end(out);
    }
    Ok(report)
}

/// The rows that were loaded.
struct LoadedReport<R> {
    report: Arc<RowsReport<R>>,
    /// The number of requests that were sent for the report.
    requests: u32,
    /// The error if loading failed. The report then has the rows that were loaded before.
    failure: Option<CliError>,
}

/// Prints the cost, then loads the report.
async fn load<R: FieldedRow + DecodableRow>(
    session: &mut Session,
    options: &Options,
    out: &mut Out,
) -> Result<LoadedReport<R>, CliError> {
    // “Today” is the date of the service's clock if that is known, otherwise of this computer's clock.
    let now = session.engine.service_time();
    let days = options.days.parse(now.date_naive())?;
    days.note_future_end(out);
    let (range, engine) = (days.range, session.engine.clone());
    let kind = R::KIND.label();
    let left = session.store.budget(&session.scope, Quota::Views, now).await?.requests_left();
    // If no requests are left, prints no cost: an error about the limit follows, unless the report is cached.
    let requests = match options.max_requests().min(left) {
        0 => None,
        1 => Some("1".to_owned()),
        most => Some(format!("1 to {most}")),
    };
    if let Some(requests) = requests {
        let range = range.format_dates(true);
        out.note(&format!(
            "Loading {kind} of {range}: uses {requests} of the {left} analytics requests left this hour."
        ));
    }
    let plan = RowsLoadPlan { range, max_requests: options.max_requests(), from_start: options.fresh };
    out.show_live_line(&format!("loading {kind}"));
    let ended = session.run_interruptible(engine.load_rows::<R>(plan)).await;
    out.clear_live_line();
    let outcome = ended.map_err(|Interrupted| {
        engine.stop_loading_rows(R::KIND, range);
        let cached = if engine.stores_rows(R::KIND) { " The answers that arrived are cached." } else { "" };
        CliError::new(Code::Interrupted, format!("Interrupted.{cached}"))
    })?;
    let failure = match outcome.end_reason {
        LoadEndReason::Failed(failure) => Some(CliError::from(failure)),
        _ => None,
    };
    match outcome.report {
        Some(report) => Ok(LoadedReport { report, requests: outcome.requests, failure }),
        None => Err(failure.unwrap_or_else(|| CliError::new(Code::Service, format!("No {kind} were loaded.")))),
    }
}

/// Prints the rows of a report that the options select.
struct Printer<'a, R: 'static> {
    options: &'a Options,
    selection: RowSelection<R>,
}

impl<'a, R: FieldedRow> Printer<'a, R> {
    fn new(options: &'a Options) -> Result<Self, CliError> {
        Ok(Self { options, selection: options.selection.parse()? })
    }

    /// Prints the rows. With `--check`, returns [`Code::Failed`] if there are any; if there are none, returns an error
    /// unless all rows are loaded.
    fn print(&self, report: &RowsReport<R>, out: &mut Out) -> Result<Code, CliError> {
        let rows = self.selection.select(&report.rows);
        let (found, has_check_option) = (rows.len(), self.selection.has_check_option);
        if has_check_option && found == 0 && (!report.is_complete() || report.has_unavailable_rows) {
            return Err(CliError::new(
                Code::Limited,
                "--check: no loaded row passes the filter, but not all rows are loaded. Add --all to load them.",
            ));
        }
        self.write_rows(report, rows, out)?;
        Ok(if has_check_option && found > 0 { Code::Failed } else { Code::Done })
    }

    /// Prints the rows that were loaded before the failure. Returns the error; it has the rows if the output is JSON,
    /// because that is one object with the error and the rows.
    fn print_after_failure(
        &self,
        report: &RowsReport<R>,
        error: CliError,
        out: &mut Out,
    ) -> Result<CliError, CliError> {
        let rows = self.selection.select(&report.rows);
        if self.options.is_json() {
            let text = self.export(report, rows, out).write(ExportFormat::Json).map_err(CliError::local_error)?;
            return Ok(error.with_json_fields(serde_json::from_str(&text).unwrap_or_default()));
        }
        self.write_rows(report, rows, out)?;
        Ok(error)
    }

    fn write_rows(&self, report: &RowsReport<R>, rows: Vec<&R>, out: &mut Out) -> Result<(), CliError> {
        let export = self.export(report, rows, out);
        match self.options.format.export_format() {
            Some(format) => out.write(&export.write(format).map_err(CliError::local_error)?),
            None => table::write(export.range, &export.rows, export.fields().collect(), out),
        }
        Ok(())
    }

    /// Returns the export of these rows, up to the number in `--limit`.
    fn export<'r>(&self, report: &'r RowsReport<R>, mut rows: Vec<&'r R>, out: &Out) -> RowsExport<'r, R> {
        if let Some(limit) = self.options.limit {
            rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        let is_table_on_terminal = self.options.format.export_format().is_none() && out.stdout_is_terminal();
        RowsExport::new(report, rows, self.options.with_comments || is_table_on_terminal)
    }

    /// Prints the age of the rows, and whether rows are missing or were duplicates. `is_stored` states whether a later
    /// load can continue this one.
    fn note_age_and_gaps(&self, report: &RowsReport<R>, requests: u32, is_stored: bool, out: &mut Out) {
        let (rows, as_of) = (format_count(report.rows.len()), rfc3339_seconds(report.as_of));
        let cost = if requests == 0 { "no requests".to_owned() } else { plural(requests, "request") };
        out.note(&format!("{rows} rows as of {as_of}, {cost}."));
        if !report.is_complete() {
            let more = if is_stored { "Run the same command again to continue." } else { "Add --all." };
            out.note(&format!("Partial: there are more rows. {more}"));
        } else if report.has_unavailable_rows {
            out.note("The service has more rows, but offers no way to load them.");
        }
        if report.duplicates > 0 {
            let duplicates = plural(report.duplicates, "duplicate row");
            out.note(&format!("Merged {duplicates}, because rows moved between two requests."));
        }
    }
}
