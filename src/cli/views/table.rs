//! Prints the table of pages: with headings and bars on a terminal; in a pipe, as one uncut line per page, with tabs
//! between the columns.

use crate::cli::out::Out;
use crate::cli::table::{BarPart, ColumnKind, TextCell, TextColumn, table_lines};
use crate::model::colors::ColorRole;
use crate::model::export::{ExportContent, format_as_received, guard_formulas_unless_number};
use crate::model::views::{Count, Counts, DecimalCount};
use crate::tui::format::{count_text, format_views, plural};

const HUMAN_SYMBOL: &str = "█";
const AI_SYMBOL: &str = "▒";
/// The minimum number of cells of a path that is cut to fit the terminal.
const MIN_PATH_WIDTH: usize = 4;

/// A row of the table: its rank, the path of the page, and its views.
type RankedPage<'a> = (u64, &'a str, &'a Counts);

/// Writes the table. `rows_before` is the number of rows in the sets before this one (see `--page`), so the first rank
/// is `rows_before + 1`.
pub(super) fn write_page_table(content: &ExportContent<'_>, rows_before: u64, out: &mut Out) {
    // If all pages of the range are loaded, a page that only the previous range lists has no views.
    let no_views = Counts::new(Count::Known(0), Count::Known(0), Count::Known(0));
    let absent = content.is_fully_loaded.then_some(&no_views);
    let pages = content.pages.iter().filter_map(|page| Some((page.path, page.counts.or(absent)?)));
    let pages = (rows_before.saturating_add(1)..).zip(pages).map(|(rank, (path, counts))| (rank, path, counts));
    let pages: Vec<RankedPage<'_>> = pages.collect();
    let table = page_table_lines(&pages, out);
    if !out.stdout_is_terminal() {
        out.print_lines(&table);
        return;
    }
    let mut lines = vec![range_heading(content, out), painted_totals(content.totals, out)];
    if table.is_empty() && content.excluded_count == 0 {
        lines.push("No page views in this range.".to_owned());
    }
    lines.extend(table);
    lines.extend(content.notes_on_missing_pages().iter().map(|missing| out.paint(ColorRole::Muted, missing)));
    out.print_lines(&lines);
}

fn page_table_lines(pages: &[RankedPage<'_>], out: &Out) -> Vec<String> {
    let full = pages.iter().filter_map(|(.., counts)| counts.total.value()).max().unwrap_or_default();
    let number = |heading, of: fn(&Counts) -> &Count| {
        TextColumn::new(heading, ColumnKind::Number, move |(.., counts): &RankedPage<'_>, _| {
            let received = guard_formulas_unless_number(format_as_received(of(counts)));
            TextCell::plain(count_text(of(counts))).with_piped_text(received)
        })
    };
    let columns = [
        TextColumn::new("#", ColumnKind::Number, |(rank, ..): &RankedPage<'_>, _| TextCell::plain(rank.to_string()))
            .only_on_terminal(),
        TextColumn::new("path", ColumnKind::Flexible { min: MIN_PATH_WIDTH }, |(_, path, _): &RankedPage<'_>, _| {
            TextCell::plain(*path)
        }),
        number("human", |counts| &counts.human),
        number("AI", |counts| &counts.ai),
        number("total", |counts| &counts.total),
        TextColumn::new("share", ColumnKind::Number, |(.., counts): &RankedPage<'_>, _| {
            let share = counts.ai_share().map(|share| format!("{share:.4}")).unwrap_or_default();
            TextCell::plain(ai_share_percent(counts)).with_piped_text(share)
        }),
        TextColumn::new(format!("0 to {}", format_views(full)), ColumnKind::Bar, |page: &RankedPage<'_>, _| {
            TextCell::bar(bar_parts(page.2, full))
        }),
    ];
    table_lines(&columns, pages, out)
}

/// Returns the bar of human and AI views on a scale from 0 to `full`. The bar is empty if a count is unknown or `full`
/// is 0.
fn bar_parts(counts: &Counts, full: DecimalCount) -> Vec<BarPart> {
    let (Some(human), Some(ai)) = (counts.human.value(), counts.ai.value()) else { return Vec::new() };
    if full.is_zero() {
        return Vec::new();
    }
    vec![
        (ColorRole::Human, HUMAN_SYMBOL, human.ratio_to(full)),
        (ColorRole::Ai, AI_SYMBOL, (human + ai).ratio_to(full)),
    ]
}

fn range_heading(content: &ExportContent<'_>, out: &Out) -> String {
    let today = content.as_of.date_naive();
    let so_far = if content.range.contains(today) { ", today so far" } else { "" };
    let days = plural(content.range.days(), "day");
    let range = out.paint(ColorRole::Title, &content.range.format_dates(true));
    // The date is left out if it is today.
    let moment = if chrono::Utc::now().date_naive() == today { "%H:%M UTC" } else { "%Y-%m-%d %H:%M UTC" };
    format!("{range}, {days} UTC{so_far}, as of {}", content.as_of.format(moment))
}

fn painted_totals(counts: &Counts, out: &Out) -> String {
    let [human, ai, total] = [&counts.human, &counts.ai, &counts.total].map(count_text);
    let human = out.paint(ColorRole::Human, &format!("{HUMAN_SYMBOL} human {human}"));
    let ai = out.paint(ColorRole::Ai, &format!("{AI_SYMBOL} AI {ai}"));
    format!("{human}  {ai}  total {total}  AI share {}", ai_share_percent(counts))
}

/// Formats the AI share; `–` if it can't be computed.
fn ai_share_percent(counts: &Counts) -> String {
    counts.ai_share().map_or_else(|| "–".to_owned(), |share| format!("{:.0}%", share * 100.0))
}
