//! `docdeck searches`, `feedback`, `questions` and `visitors`: loads a report, and prints its rows in several formats.
//! Uses the same engine, cache and ledger as the dashboard. `needs_work` is the command that combines the reports.

pub(super) mod needs_work;
mod table;

use super::error::CliError;
use super::exit_code::Code;
use super::number_parser::number_parser;
use super::out::{Out, rfc3339_seconds};
use super::range_options::RangeOptions;
use super::session::{CommandContext, Interrupted, Session};
use crate::api::DecodedRow;
use crate::engine::LeaseRoles;
use crate::model::analytics::export::RowsExport;
use crate::model::analytics::fields::{Field, FieldedRow, find_field, sort_rows};
use crate::model::analytics::filter::RowFilter;
use crate::model::analytics::{Feedback, PageFeedback, RowsPlan, RowsReport};
use crate::model::export::ExportFormat;
use crate::model::ledger::RateLimited;
use crate::model::report::LoadEndReason;
use crate::tui::format::{format_count, plural};
use chrono::Utc;
use clap::{Args, ValueEnum};
use std::sync::Arc;

/// Help text about the formats and the exit codes.
pub(super) const FORMAT_HELP: &str = "\
table: on a terminal, with headings; in a pipe, one line per row with tabs between the columns. json, csv and md have \
the field names of the service; json is {\"range\", the list of rows, \"complete\", \"asOf\"}. \"complete\" is true if \
all rows of the range are included.

The rows arrive in several answers, each of which takes one of the 100 analytics requests an hour. Loaded rows are \
cached: run the same command again to continue. A range that is over is never requested twice.

What readers wrote is printed on a terminal, but in a pipe and in json, csv and md only with --with-comments.

Exit codes: 0 written; 1 --check found rows; 2 usage, configuration or database error; 3 key refused; 4 service or \
network error; 5 hourly limit reached; 130 Ctrl-C.";

#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    days: RangeOptions,
    /// print only rows that pass this filter, such as 'hits>20 unclicked' or 'page /guides down>3'
    #[arg(long, value_name = "FILTER")]
    filter: Option<String>,
    /// print the rows that pass this filter, and exit with 1 if there are any
    #[arg(long, value_name = "FILTER", conflicts_with = "filter")]
    check: Option<String>,
    /// sort by this field, from the highest value; with -FIELD, from the lowest
    #[arg(long, value_name = "FIELD", allow_hyphen_values = true)]
    sort: Option<String>,
    /// use at most this many requests
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true,
          value_parser = number_parser(1..=u32::MAX, "a whole number, 1 or more"))]
    max_requests: u32,
    /// load from the service even if the cache is fresh
    #[arg(long)]
    fresh: bool,
    /// also write what readers wrote
    #[arg(long)]
    with_comments: bool,
    /// print in this format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = OutputFormat::Table)]
    format: OutputFormat,
    /// print JSON, the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct FeedbackOptions {
    /// count the votes and comments of each page
    #[arg(long)]
    by_page: bool,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    Table,
    Csv,
    Json,
    Md,
}

impl OutputFormat {
    /// Returns the format of exports; `None` for a table.
    fn export_format(self) -> Option<ExportFormat> {
        match self {
            Self::Table => None,
            Self::Csv => Some(ExportFormat::Csv),
            Self::Json => Some(ExportFormat::Json),
            Self::Md => Some(ExportFormat::Markdown),
        }
    }
}

impl Options {
    /// Whether the output is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.format() == OutputFormat::Json
    }

    fn format(&self) -> OutputFormat {
        if self.json { OutputFormat::Json } else { self.format }
    }
}

impl FeedbackOptions {
    /// Whether the output is JSON.
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

/// Runs the command that prints rows of this kind.
pub(super) async fn run<R: FieldedRow + DecodedRow>(
    cx: &mut CommandContext<'_>,
    options: &Options,
) -> Result<Code, CliError> {
    // Mistakes in the options are reported before anything is requested.
    options.days.range(Utc::now().date_naive())?;
    let filter = parse_filter::<R>(options)?;
    let order = Order::<R>::parse(options.sort.as_deref())?;
    cx.with_session(LeaseRoles::None, async |session, out| {
        let report = load::<R>(session, options, out).await?;
        let rows: Vec<&R> = report.rows.iter().filter(|row| filter.passes(row)).collect();
        let rows = sort_rows(rows, |row| row, order.field, order.is_ascending);
        let found = rows.len();
        write(&report, rows, options, out)?;
        Ok(if options.check.is_some() && found > 0 { Code::Failed } else { Code::Done })
    })
    .await
}

fn parse_filter<R: FieldedRow>(options: &Options) -> Result<RowFilter<R>, CliError> {
    let (option, text) = match (&options.filter, &options.check) {
        (Some(text), _) => ("--filter", text.as_str()),
        (None, Some(text)) => ("--check", text.as_str()),
        (None, None) => ("--filter", ""),
    };
    let filter = RowFilter::parse(text);
    match filter.problem() {
        Some(problem) => Err(CliError::unusable(format!("{option}: {problem}. Nothing was loaded."))),
        None => Ok(filter),
    }
}

/// By which field the rows are sorted.
struct Order<R: 'static> {
    field: &'static Field<R>,
    is_ascending: bool,
}

impl<R: FieldedRow> Order<R> {
    fn parse(typed: Option<&str>) -> Result<Self, CliError> {
        let (name, is_ascending) = match typed.map(|typed| (typed, typed.strip_prefix('-'))) {
            None => (R::DEFAULT_SORT, false),
            Some((_, Some(name))) => (name, true),
            Some((name, None)) => (name, false),
        };
        match find_field::<R>(name) {
            Some(field) => Ok(Self { field, is_ascending }),
            None => {
                let names: Vec<&str> = R::FIELDS.iter().map(|field| field.name).collect();
                Err(CliError::unusable(format!(
                    "--sort: there is no field “{name}”. Fields: {}. Nothing was loaded.",
                    names.join(", ")
                )))
            }
        }
    }
}

/// Loads the report, or takes it from the cache. Prints the cost before, and what is missing afterwards.
async fn load<R: FieldedRow + DecodedRow>(
    session: &mut Session,
    options: &Options,
    out: &mut Out,
) -> Result<Arc<RowsReport<R>>, CliError> {
    // Today is taken from the service's clock if its time is known, otherwise from this computer's clock.
    let now = session.engine.service_now();
    let days = options.days.range(now.date_naive())?;
    days.note_future_end(out);
    let (range, engine) = (days.range, session.engine.clone());
    let kind = R::KIND.label();
    let cached = engine.cached_rows::<R>(range).await;
    let is_fresh = cached.as_ref().is_some_and(|report| report.is_complete() && range.is_fresh(report.as_of, now));
    if !is_fresh || options.fresh {
        let left = session.store.budget(&session.scope, RateLimited::Views, now).await?.requests_left();
        let most = options.max_requests.min(left.max(1));
        out.note(&format!("Loading {kind} of {range}: 1 to {most} of {left} analytics requests left this hour."));
    }
    let plan = RowsPlan { range, max_requests: options.max_requests, from_start: options.fresh };
    out.show_live(&format!("loading {kind}"));
    let ended = session.run_interruptible(engine.load_rows::<R>(plan)).await;
    out.clear_live();
    let outcome = ended.map_err(|Interrupted| {
        engine.stop_loading_rows(R::KIND, range);
        CliError::new(Code::Interrupted, "Interrupted. The answers that arrived are cached.")
    })?;
    let Some(report) = outcome.report else {
        return match outcome.end_reason {
            LoadEndReason::Failed(failure) => Err(CliError::from(failure)),
            _ => Err(CliError::new(Code::Service, format!("No {kind} were loaded."))),
        };
    };
    if let LoadEndReason::Failed(failure) = outcome.end_reason {
        // Partial rows are cached and can be printed by a later call.
        return Err(CliError::from(failure));
    }
    note_gaps(&report, outcome.requests, out);
    Ok(report)
}

/// Prints the age of the rows, and what is missing.
fn note_gaps<R: FieldedRow>(report: &RowsReport<R>, requests: u32, out: &mut Out) {
    let (rows, as_of) = (format_count(report.rows.len()), rfc3339_seconds(report.as_of));
    let cost = if requests == 0 { "no requests".to_owned() } else { plural(requests, "request") };
    out.note(&format!("{rows} rows as of {as_of}, {cost}."));
    if !report.is_complete() {
        out.note("Partial: there are more rows. Run the same command again to continue.");
    } else if report.is_cut {
        out.note("The service has more rows, but offers no way to load them.");
    }
    if report.duplicates > 0 {
        let duplicates = plural(report.duplicates, "duplicate row");
        out.note(&format!("Merged {duplicates}, because rows moved between two requests."));
    }
}

fn write<R: FieldedRow>(
    report: &RowsReport<R>,
    rows: Vec<&R>,
    options: &Options,
    out: &mut Out,
) -> Result<(), CliError> {
    let is_table_on_terminal = options.format() == OutputFormat::Table && out.is_terminal();
    let export = RowsExport::new(report, rows, options.with_comments || is_table_on_terminal);
    match options.format().export_format() {
        Some(format) => {
            let text = export.write(format).map_err(CliError::unusable)?;
            out.write(&text);
        }
        None => table::write(&export, out),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::analytics::Search;

    #[test]
    fn the_order_is_a_field_with_its_direction() {
        let order = |typed| Order::<Search>::parse(typed).map(|order| (order.field.name, order.is_ascending));
        assert_eq!(order(None).ok(), Some(("hits", false)));
        assert_eq!(order(Some("ctr")).ok(), Some(("ctr", false)));
        assert_eq!(order(Some("-ctr")).ok(), Some(("ctr", true)));
        let error = order(Some("clicks")).expect_err("wrong").sentence;
        assert!(error.contains("no field “clicks”. Fields: search, hits, ctr, page, last."), "{error}");
    }
}
