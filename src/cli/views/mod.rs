//! `docdeck views`: page views from the cache and the service, as a table or as a file for others. One page of rows, or all
//! of them; the same engine, cache and ledger as the dashboard's.

mod all;
mod cached;
mod days;
mod table;

use super::arguments::number;
use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use super::session::{Interrupted, Session, StoreSession};
use crate::config::Flags;
use crate::config::environment::Environment;
use crate::engine::LeaseRoles;
use crate::model::export::{ExportContent, ExportFormat};
use crate::model::load::Timed;
use crate::model::views::{LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN, ViewsPage, ViewsQuery};
use chrono::Utc;
use clap::{Args, ValueEnum};
use days::Days;

/// What the formats give.
pub(super) const FORMATS: &str = "\
table: on a terminal with headings and bars (human \u{2588}, AI \u{2592}); when piped a line a page with path, human, AI, total and \
AI share, apart by tabs. json: {\"range\": {\"from\", \"to\"}, \"totals\": {\"human\", \"ai\", \"total\"}, \"views\": [{\"path\", \"human\", \
\"ai\", \"total\"}, …], \"complete\", \"asOf\"}; when loading all pages broke off, what came, with error and exitCode beside it. csv \
and md as the dashboard exports them. complete is true where all pages of the range are there.

What is kept and fresh is read from the record: without a key, and without running a key command.

Exit code: 0 written, 2 usage, configuration or store, 3 the key was refused, 4 service or network, 5 the hour's requests are used up, 130 Ctrl-C. What came before is \
kept: the same command goes on from there.";

/// Which views.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    days: Days,
    /// Page of rows, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true,
          value_parser = number(1..=u32::MAX, "a whole number from 1 on"))]
    page: u32,
    /// Rows of a page
    #[arg(long, value_name = "N", default_value_t = LIMIT_DEFAULT,
          allow_negative_numbers = true, value_parser = number(LIMIT_MIN..=LIMIT_MAX, "a whole number from 1 to 250"))]
    limit: u32,
    /// All pages, by as many requests as that takes and the hour has left; ranked by total views
    #[arg(long, conflicts_with_all = ["page", "limit"])]
    all: bool,
    /// With --all, stop when this share of all views is loaded, like 95%: the rest often takes most of the requests
    #[arg(long, value_name = "PERCENT", requires = "all", value_parser = read_percent)]
    until: Option<u8>,
    /// Ask the service even where a fresh answer is kept; with --all begin anew
    #[arg(long)]
    fresh: bool,
    /// How they are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = As::Table)]
    format: As,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

fn read_percent(text: &str) -> Result<u8, String> {
    let percent = text.trim().trim_end_matches('%').parse().ok().filter(|percent| (1..=100).contains(percent));
    percent.ok_or_else(|| "write a whole number from 1 to 100, like 95%".to_owned())
}

/// How they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum As {
    Table,
    Csv,
    Json,
    Md,
}

impl Options {
    /// Whether the answer is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.format() == As::Json
    }

    fn format(&self) -> As {
        if self.json { As::Json } else { self.format }
    }
}

/// Loads and writes them.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    // Before anything else: a range that is none needs no key.
    options.days.range(Utc::now().date_naive())?;
    // What can't be opened here can't be either by the desk, which says so.
    if let Some(record) = StoreSession::open(flags, environment, out).ok().filter(|_| !options.fresh) {
        let answered = cached::answer(&record, options, out).await;
        record.close().await;
        if answered? {
            return Ok(Code::Done);
        }
    }
    Session::with(flags, environment, LeaseRoles::None, out, async |desk, out| answer(desk, options, out).await).await
}

async fn answer(desk: &mut Session, options: &Options, out: &mut Out) -> Result<Code, CliError> {
    // By the service's clock, as far as it is known.
    let days = options.days.range(desk.engine.service_now().date_naive())?;
    days.say_cut(out);
    if options.all {
        return all::answer(desk, days.range, options, out).await;
    }
    let query = ViewsQuery { range: days.range, limit: options.limit, page: options.page };
    let engine = desk.engine.clone();
    out.live("asking for page views");
    let loaded = desk.drive(engine.load_views(query, options.fresh)).await;
    out.clear_live();
    let loaded = loaded.map_err(|Interrupted| {
        CliError::new(Code::Interrupted, "Interrupted. An answer that was under way is kept if it came.")
    })??;
    write_page(query, &loaded, options, out)?;
    Ok(Code::Done)
}

/// A page of rows, and what comes after it.
fn write_page(query: ViewsQuery, loaded: &Timed<ViewsPage>, options: &Options, out: &mut Out) -> Result<(), CliError> {
    let is_all = options.page == 1 && !query.has_next(&loaded.value);
    let extract = ExportContent::of_answer(query.range, &loaded.value, is_all, loaded.as_of);
    write(&extract, query.offset(), options.format(), out)?;
    if loaded.value.rows.is_empty() && options.page > 1 {
        out.note(&format!("docdeck: Page {} is empty: the pages end before it.", options.page));
    } else if query.has_next(&loaded.value) {
        out.note(&format!(
            "docdeck: There are more pages: --page {} has the next rows, --all loads them all.",
            options.page.saturating_add(1)
        ));
    }
    Ok(())
}

/// Writes what is there; `before` rows came before them.
fn write(extract: &ExportContent<'_>, before: u64, format: As, out: &mut Out) -> Result<(), CliError> {
    let format = match format {
        As::Table => {
            table::write(extract, before, out);
            return Ok(());
        }
        As::Csv => ExportFormat::Csv,
        As::Json => ExportFormat::Json,
        As::Md => ExportFormat::Markdown,
    };
    let text = format.write(extract).map_err(CliError::unusable)?;
    out.write(&text);
    Ok(())
}
