//! `docdeck views`: prints a set of rows or all rows of page views, in several formats, from the cache or the service.
//! Uses the same engine, cache and ledger as the dashboard.

mod all;
mod cached;
mod check;
mod load_progress;
mod output;
mod table;

use super::blank_check::parse_non_blank;
use super::error::CliError;
use super::exit_code::Code;
use super::number_parser::number_parser;
use super::out::Out;
use super::output_format::FormatOptions;
use super::range_options::RangeOptions;
use super::session::{CommandContext, Interrupted, Session};
use crate::engine::LeaseRoles;
use crate::model::export::ExportContent;
use crate::model::load::Timed;
use crate::model::views::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MIN_PAGE_SIZE, ViewsQuery, ViewsResponse};
use chrono::Utc;
use clap::Args;
use output::write_content;

/// Help text about the formats and the exit codes.
pub(super) const FORMAT_HELP: &str = "\
table: on a terminal, with headings and bars (human \u{2588}, AI \u{2592}); in a pipe, one line per page with path, \
human, AI, total and AI share, separated by tabs. json: {\"range\": {\"from\", \"to\"}, \"totals\": {\"human\", \
\"ai\", \"total\"}, \"views\": [{\"path\", \"human\", \"ai\", \"total\"}, …], \"complete\", \"asOf\"}; if loading all \
pages fails, the partial data with \"error\" and \"exitCode\". csv and md: as exported by the dashboard. \
\"complete\" is true if all pages of the range are included.

Fresh cached data is read without the key and without running a key command.

Exit codes: 0 written; 1 --check found pages; 2 usage, configuration or database error; 3 key refused; 4 service or \
network error; 5 hourly limit reached; 130 Ctrl-C. Loaded data is cached: run the same command again to continue.";

#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    days: RangeOptions,
    /// print set N of the rows: with --limit 50, set 1 is rows 1 to 50, set 2 is rows 51 to 100
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true,
          value_parser = number_parser(1..=u32::MAX, "a whole number, 1 or more"))]
    page: u32,
    /// print sets of this many rows
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PAGE_SIZE,
          allow_negative_numbers = true, value_parser = number_parser(MIN_PAGE_SIZE..=MAX_PAGE_SIZE, "a whole number from 1 to 250"))]
    limit: u32,
    /// load all pages of the site, sorted by total views (first prints how many requests that probably takes)
    #[arg(long, conflicts_with_all = ["page", "limit"])]
    all: bool,
    /// with --all, stop when this share of the views is loaded, like 95%; the rest often takes most of the requests
    #[arg(long, value_name = "PERCENT", requires = "all", value_parser = parse_percent)]
    until: Option<u8>,
    /// load all pages, print those that pass this filter, such as 'Δ<-30% human>200' (Δ: compared with the previous
    /// period), and exit with 1 if there are any
    #[arg(long, value_name = "FILTER", value_parser = parse_non_blank, conflicts_with_all = ["page", "limit", "all"])]
    check: Option<String>,
    /// load from the service even if the cache is fresh; with --all, start over
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    format: FormatOptions,
}

fn parse_percent(text: &str) -> Result<u8, String> {
    let percent = text.trim().trim_end_matches('%').parse().ok().filter(|percent| (1..=100).contains(percent));
    percent.ok_or_else(|| "write a whole number from 1 to 100, like 95%".to_owned())
}

impl Options {
    /// Whether the output is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.format.is_json()
    }
}

/// Runs `docdeck views`.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    // The range is checked first, because an invalid range can be reported without a key.
    options.days.parse(Utc::now().date_naive())?;
    if let Some(problem) = options.check.as_deref().and_then(check::filter_problem) {
        return Err(CliError::local_error(problem));
    }
    // An error is ignored here, because opening the session below reports it.
    if let Some(session) = cx.open_store(false).ok().filter(|_| !options.fresh && options.check.is_none()) {
        let is_written = cached::write_if_cached(&session, options, cx.out).await;
        session.close().await;
        if is_written? {
            return Ok(Code::Done);
        }
    }
    cx.with_session(LeaseRoles::None, async |session, out| load_and_write(session, options, out).await).await
}

async fn load_and_write(session: &mut Session, options: &Options, out: &mut Out) -> Result<Code, CliError> {
    // “Today” is the date of the service's clock if that is known, otherwise of this computer's clock.
    let days = options.days.parse(session.engine.service_time().date_naive())?;
    days.note_future_end(out);
    if let Some(filter) = &options.check {
        return check::check(session, days, filter, options.fresh, options.format.export_format(), out).await;
    }
    if options.all {
        return all::load_and_write_all(session, days.range, options, out).await;
    }
    let query = ViewsQuery { range: days.range, limit: options.limit, page: options.page };
    let engine = session.engine.clone();
    out.show_live_line("loading page views");
    let loaded = session.run_interruptible(engine.load_views(query, options.fresh)).await;
    out.clear_live_line();
    let loaded = loaded.map_err(|Interrupted| {
        CliError::new(Code::Interrupted, "Interrupted. If the answer arrived anyway, it is cached.")
    })??;
    write_response(query, &loaded, options, out)?;
    Ok(Code::Done)
}

/// Writes a set of rows (see `--page`), and a note if the set begins after the last row or if more rows follow.
fn write_response(
    query: ViewsQuery,
    loaded: &Timed<ViewsResponse>,
    options: &Options,
    out: &mut Out,
) -> Result<(), CliError> {
    let is_all = options.page == 1 && !query.has_next(&loaded.value);
    let content = ExportContent::from_response(query.range, &loaded.value, is_all, loaded.as_of);
    write_content(&content, query.offset(), options.format.export_format(), out)?;
    if loaded.value.rows.is_empty() && options.page > 1 {
        out.note(&format!("docdeck: Set {} has no rows. Choose a lower --page.", options.page));
    } else if query.has_next(&loaded.value) {
        out.note(&format!(
            "docdeck: There are more rows: --page {} prints the next set, --all prints all rows.",
            options.page.saturating_add(1)
        ));
    }
    Ok(())
}
