//! `docdeck needs-work`: prints the pages that need work, from cached reports. With --load, loads what is missing first.

use super::OutputFormat;
use crate::api::DecodedRow;
use crate::cli::error::CliError;
use crate::cli::exit_code::Code;
use crate::cli::out::Out;
use crate::cli::range_options::RangeOptions;
use crate::cli::session::{CommandContext, Interrupted, Session};
use crate::cli::table::{ColumnKind, TextCell, TextColumn, table_lines};
use crate::config::analytics_weights;
use crate::engine::{Engine, LeaseRoles};
use crate::model::analytics::fields::FieldedRow;
use crate::model::analytics::needs_work::{LoadedReports, MissingReports, NeedsWork, PageSignals, Signal};
use crate::model::analytics::{Feedback, PageFeedback, Question, RowsPlan, RowsReport, Search};
use crate::model::colors::ColorRole;
use crate::model::export::{guard_formulas, guard_unless_number};
use crate::model::failure::Failure;
use crate::model::ledger::RateLimited;
use crate::model::period::DateRange;
use crate::model::report::{LoadEndReason, LoadPlan, Report};
use crate::tui::format::format_views;
use chrono::Utc;
use clap::Args;
use serde_json::{Value, json};
use std::sync::Arc;

/// Help text about the columns and the exit codes.
pub(in crate::cli) const OUTPUT_HELP: &str = "\
Each row is a page with its signals: views and lost views (compared with the previous period, if all its page views \
are cached), thumbs down, open comments, unanswered questions, and searches for words of the page's path after which \
nobody clicked a result. The score is the mean of the page's shares of the site's totals, weighted by `weights` under \
[analytics] in config.toml. A signal whose report is not loaded is empty, never 0. What belongs to no page is in a row \
without a path.

Without --load, no request is sent. --load uses at most 5 requests: the first 250 pages, and the first rows of the other \
reports. `docdeck views --all`, `searches`, `feedback` and `questions` load all rows.

json: {\"range\": {\"from\", \"to\"}, \"totals\": {…}, \"pages\": [{\"path\", \"score\", \"views\", \"change\", \
\"lostViews\", \"thumbsDown\", \"openComments\", \"unansweredQuestions\", \"unclickedSearches\"}, …], \"missing\": […]}.

Exit codes: 0 written; 1 --check found pages; 2 usage, configuration or database error; 3 key refused; 4 service or \
network error; 5 hourly limit reached; 130 Ctrl-C.";

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
    /// exit with 1 if a page has at least this percentage of the problem, like 5%
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    check: Option<f64>,
    /// print at most this many pages
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// print in this format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = OutputFormat::Table)]
    format: OutputFormat,
    /// print JSON, the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let percent = text.trim().trim_end_matches('%').parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or_else(|| "write a percentage, like 5%".to_owned())
}

impl Options {
    /// Whether the output is JSON.
    pub(in crate::cli) fn is_json(&self) -> bool {
        self.json || self.format == OutputFormat::Json
    }
}

/// Runs `docdeck needs-work`.
pub(in crate::cli) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    options.days.range(Utc::now().date_naive())?;
    let weights = analytics_weights(cx.flags, cx.environment)?;
    cx.with_session(LeaseRoles::None, async |session, out| {
        let now = session.engine.service_now();
        let days = options.days.range(now.date_naive())?;
        days.note_future_end(out);
        if options.load {
            load_reports(session, days.range, options.fresh, out).await?;
        }
        let reports = CachedReports::read(&session.engine, days.range).await?;
        let found = NeedsWork::compute(reports.loaded(), &weights);
        let missing = reports.loaded().missing().names();
        if !missing.is_empty() {
            let command = if options.load { "" } else { " Load them with --load." };
            out.note(&format!("Not loaded: {}.{command}", missing.join(", ")));
        }
        write(&found, days.range, &missing, options, out)?;
        let limit = options.check.map(|percent| percent / 100.0);
        let is_above = limit.is_some_and(|limit| found.pages.iter().any(|page| page.score >= limit));
        Ok(if is_above { Code::Failed } else { Code::Done })
    })
    .await
}

/// The reports of a range that are cached.
#[derive(Debug, Default)]
struct CachedReports {
    views: Option<Arc<Report>>,
    previous_views: Option<Arc<Report>>,
    feedback_by_page: Option<Arc<RowsReport<PageFeedback>>>,
    feedback: Option<Arc<RowsReport<Feedback>>>,
    questions: Option<Arc<RowsReport<Question>>>,
    searches: Option<Arc<RowsReport<Search>>>,
}

impl CachedReports {
    async fn read(engine: &Engine, range: DateRange) -> Result<Self, Failure> {
        let previous_views = match range.step(-1) {
            Some(previous) => engine.cached_report(previous).await?.report,
            None => None,
        };
        Ok(Self {
            views: engine.cached_report(range).await?.report,
            previous_views,
            feedback_by_page: engine.cached_rows(range).await,
            feedback: engine.cached_rows(range).await,
            questions: engine.cached_rows(range).await,
            searches: engine.cached_rows(range).await,
        })
    }

    fn loaded(&self) -> LoadedReports<'_> {
        LoadedReports {
            views: self.views.as_deref(),
            previous_views: self.previous_views.as_deref(),
            feedback_by_page: self.feedback_by_page.as_deref(),
            feedback: self.feedback.as_deref(),
            questions: self.questions.as_deref(),
            searches: self.searches.as_deref(),
        }
    }
}

/// Loads the reports with one request each. Those that are cached and fresh cost nothing unless `fresh` is set.
async fn load_reports(session: &mut Session, range: DateRange, fresh: bool, out: &mut Out) -> Result<(), CliError> {
    let now = session.engine.service_now();
    let left = session.store.budget(&session.scope, RateLimited::Views, now).await?.requests_left();
    out.note(&format!(
        "Loading the reports of {range}: at most {} of {left} analytics requests left this hour.",
        MissingReports::all().count()
    ));
    let engine = session.engine.clone();
    let load = async {
        let has_views = engine.cached_report(range).await?.report.is_some();
        if fresh || !has_views {
            let plan = LoadPlan { range, from_start: fresh, max_requests: 1, stop_at_percent: None };
            failure_of(engine.load_all(plan).await.end_reason)?;
        }
        load_first::<PageFeedback>(&engine, range, fresh).await?;
        load_first::<Feedback>(&engine, range, fresh).await?;
        load_first::<Question>(&engine, range, fresh).await?;
        load_first::<Search>(&engine, range, fresh).await
    };
    out.show_live("loading reports");
    let ended = session.run_interruptible(load).await;
    out.clear_live();
    let ended = ended
        .map_err(|Interrupted| CliError::new(Code::Interrupted, "Interrupted. The answers that arrived are cached."))?;
    ended.map_err(CliError::from)
}

async fn load_first<R: FieldedRow + DecodedRow>(engine: &Engine, range: DateRange, fresh: bool) -> Result<(), Failure> {
    if !fresh && engine.cached_rows::<R>(range).await.is_some() {
        return Ok(());
    }
    failure_of(engine.load_rows::<R>(RowsPlan { range, max_requests: 1, from_start: fresh }).await.end_reason)
}

fn failure_of(end: LoadEndReason) -> Result<(), Failure> {
    if let LoadEndReason::Failed(failure) = end { Err(failure) } else { Ok(()) }
}

fn write(
    found: &NeedsWork,
    range: DateRange,
    missing: &[&str],
    options: &Options,
    out: &mut Out,
) -> Result<(), CliError> {
    let pages: Vec<&PageSignals> = found.pages.iter().take(options.limit).collect();
    match options.format {
        _ if options.is_json() => out.write(&json_text(found, &pages, range, missing)),
        OutputFormat::Csv => out.write(&csv_text(&pages)),
        OutputFormat::Md => out.write(&markdown_text(&pages, range)),
        OutputFormat::Table | OutputFormat::Json => write_table(&pages, range, out),
    }
    Ok(())
}

fn path_of(page: &PageSignals) -> &str {
    page.path.as_ref().map(|path| path.as_str()).unwrap_or_default()
}

fn number_text(page: &PageSignals, signal: Signal) -> String {
    page.value(signal).map(|value| value.to_string()).unwrap_or_default()
}

fn json_text(found: &NeedsWork, pages: &[&PageSignals], range: DateRange, missing: &[&str]) -> String {
    let number = |value: Option<crate::model::views::ViewCount>| {
        value.map_or(Value::Null, |value| serde_json::from_str(&value.to_string()).unwrap_or_default())
    };
    let page = |page: &&PageSignals| {
        let mut row = json!({ "path": page.path, "score": page.score, "change": page.views_change().percent().map(|percent| percent / 100.0) });
        for signal in Signal::ALL {
            if let Some(fields) = row.as_object_mut() {
                fields.insert(signal.name().to_owned(), number(page.value(signal)));
            }
        }
        row
    };
    let totals: serde_json::Map<String, Value> =
        Signal::ALL.map(|signal| (signal.name().to_owned(), number(found.total(signal)))).into_iter().collect();
    let pages: Vec<Value> = pages.iter().map(page).collect();
    let range = json!({ "from": range.from(), "to": range.to() });
    let text = json!({ "range": range, "totals": totals, "pages": pages, "missing": missing });
    format!("{}\n", crate::model::text::escaped_json(&text.to_string()))
}

fn csv_text(pages: &[&PageSignals]) -> String {
    let quoted = |text: &str| {
        let needs_quotes = text.contains([',', '"', '\n', '\r']);
        if needs_quotes { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
    };
    let names: Vec<&str> = Signal::ALL.map(Signal::name).to_vec();
    let mut out = format!("path,score,{}\r\n", names.join(","));
    for page in pages {
        let numbers = Signal::ALL.map(|signal| guard_unless_number(number_text(page, signal)));
        out.push_str(&format!(
            "{},{:.4},{}\r\n",
            quoted(&guard_formulas(path_of(page))),
            page.score,
            numbers.map(|number| quoted(&number)).join(",")
        ));
    }
    out
}

fn markdown_text(pages: &[&PageSignals], range: DateRange) -> String {
    let names: Vec<&str> = Signal::ALL.map(Signal::label).to_vec();
    let mut out = format!("**Pages that need work, {range} (UTC)**\n\n| page | share | {} |\n", names.join(" | "));
    out.push_str(&format!("| --- |{}\n", " ---: |".repeat(names.len() + 1)));
    for page in pages {
        let numbers = Signal::ALL.map(|signal| number_text(page, signal));
        let path = path_of(page).replace('|', "\\|").replace('`', "\\`");
        out.push_str(&format!("| {path} | {:.1} % | {} |\n", page.score * 100.0, numbers.join(" | ")));
    }
    out
}

fn write_table(pages: &[&PageSignals], range: DateRange, out: &mut Out) {
    let number = |signal: Signal, heading: &'static str| {
        TextColumn::new(heading, ColumnKind::Number, move |page: &&PageSignals, _: &Out| {
            let shown = page.value(signal).map_or_else(|| "–".to_owned(), format_views);
            TextCell::plain(shown).with_piped_text(number_text(page, signal))
        })
    };
    let columns = [
        TextColumn::new("page", ColumnKind::Flexible { min: 12 }, |page: &&PageSignals, _: &Out| {
            let name = if page.path.is_none() { "(no page)" } else { path_of(page) };
            TextCell::plain(name).with_piped_text(path_of(page))
        }),
        number(Signal::Views, "views"),
        number(Signal::LostViews, "lost"),
        number(Signal::ThumbsDown, "thumbs down"),
        number(Signal::OpenComments, "comments"),
        number(Signal::UnansweredQuestions, "unanswered"),
        number(Signal::UnclickedSearches, "searches"),
        TextColumn::new("share", ColumnKind::Number, |page: &&PageSignals, _: &Out| {
            TextCell::plain(format!("{:.1}%", page.score * 100.0)).with_piped_text(format!("{:.4}", page.score))
        }),
    ];
    let lines = table_lines(&columns, pages, out);
    if out.is_terminal() {
        let range = out.paint(ColorRole::Title, &range.to_string());
        out.lines(&[format!("{range} UTC")]);
        if lines.is_empty() {
            out.lines(&["No page needs work, according to the loaded reports."]);
        }
    }
    out.lines(&lines);
}
