//! Prints the table of pages: with headings and bars on a terminal; in a pipe, as one uncut line per page, with tabs
//! between the columns.

use crate::cli::out::{Out, cut_to_width};
use crate::model::colors::ColorRole;
use crate::model::export::{ExportContent, format_received, guard_formulas, guard_unless_number};
use crate::model::views::{Counts, ViewCount, as_f64};
use crate::tui::format::{format_views, views_or_received};
use unicode_width::UnicodeWidthStr as _;

const HUMAN_SYMBOL: &str = "█";
const AI_SYMBOL: &str = "▒";
/// The number of cells between two columns.
const GAP: usize = 2;
/// The minimum width of the path column, in cells.
const MIN_PATH_WIDTH: usize = 16;
/// The minimum and maximum width of a bar, in cells. A bar that would be narrower is left out.
const MIN_BAR_WIDTH: usize = 12;
const MAX_BAR_WIDTH: usize = 48;

/// The printed row of a page.
struct PrintedRow<'a> {
    rank: String,
    path: &'a str,
    /// The columns human, AI, total and AI share.
    numbers: [String; 4],
    counts: &'a Counts,
}

/// Writes the table; `before` is the number of rows on earlier pages.
pub(super) fn write_page_table(content: &ExportContent<'_>, before: u64, out: &mut Out) {
    let rows = || content.lines.iter().filter_map(|line| Some((line.path, line.now?)));
    let Some(width) = out.width() else {
        let lines: Vec<String> = rows().map(|(path, counts)| piped_page_line(path, counts)).collect();
        out.lines(&lines);
        return;
    };
    let rows: Vec<PrintedRow<'_>> = (before.saturating_add(1)..)
        .zip(rows())
        .map(|(rank, (path, counts))| PrintedRow {
            rank: rank.to_string(),
            path,
            numbers: printed_numbers(counts),
            counts,
        })
        .collect();
    let mut lines = vec![range_heading(content, out), painted_totals(content.totals, out)];
    if rows.is_empty() {
        lines.push("No page views in this range.".to_owned());
    } else {
        lines.extend(page_table_lines(&rows, width, out));
    }
    for missing in content.missing_notes() {
        lines.push(out.paint(ColorRole::Muted, &missing));
    }
    out.lines(&lines);
}

fn piped_page_line(path: &str, counts: &Counts) -> String {
    let share = counts.ai_share().map(|share| format!("{share:.4}")).unwrap_or_default();
    let number = |count| guard_unless_number(format_received(count));
    [guard_formulas(path), number(&counts.human), number(&counts.ai), number(&counts.total), share].join("\t")
}

fn range_heading(content: &ExportContent<'_>, out: &Out) -> String {
    let today = content.as_of.date_naive();
    let partial = if content.range.contains(today) { ", today partial" } else { "" };
    let days = content.range.days();
    let days = if days == 1 { "1 day".to_owned() } else { format!("{days} days") };
    let range = out.paint(ColorRole::Title, &content.range.to_string());
    // The date is left out if it is today.
    let moment = if chrono::Utc::now().date_naive() == today { "%H:%M UTC" } else { "%Y-%m-%d %H:%M UTC" };
    format!("{range}, {days} UTC{partial}, as of {}", content.as_of.format(moment))
}

fn painted_totals(counts: &Counts, out: &Out) -> String {
    let [human, ai, total, share] = printed_numbers(counts);
    let human = out.paint(ColorRole::Human, &format!("{HUMAN_SYMBOL} human {human}"));
    let ai = out.paint(ColorRole::Ai, &format!("{AI_SYMBOL} AI {ai}"));
    format!("{human}  {ai}  total {total}  AI share {share}")
}

/// Formats the numbers with grouped digits. `?` is a missing number, and `–` is an AI share that can't be computed.
fn printed_numbers(counts: &Counts) -> [String; 4] {
    let share = counts.ai_share().map_or_else(|| "–".to_owned(), |share| format!("{:.0}%", share * 100.0));
    [views_or_received(&counts.human), views_or_received(&counts.ai), views_or_received(&counts.total), share]
}

fn page_table_lines(rows: &[PrintedRow<'_>], width: usize, out: &Out) -> Vec<String> {
    let names = ["human", "AI", "total", "share"];
    let widest =
        |cell: &dyn Fn(&PrintedRow<'_>) -> usize, name: &str| rows.iter().map(cell).fold(name.len(), usize::max);
    let rank = widest(&|row| row.rank.len(), "#");
    let mut cells = [0; 4];
    for (at, (cells, name)) in cells.iter_mut().zip(names).enumerate() {
        *cells = widest(&|row| row.numbers.get(at).map_or(0, |text| text.width()), name);
    }
    let fixed = rank + cells.iter().map(|cells| cells + GAP).sum::<usize>() + GAP;
    let path = widest(&|row| row.path.width(), "path");
    // The path gets as much of the width as it needs, and the bar gets the rest. If too little is left, there is no
    // bar.
    let path = path
        .min(width.saturating_sub(fixed + GAP + MIN_BAR_WIDTH).max(MIN_PATH_WIDTH))
        .min(width.saturating_sub(fixed).max(4));
    let bar = width.saturating_sub(fixed + path + GAP).min(MAX_BAR_WIDTH);
    let bar = if bar < MIN_BAR_WIDTH { 0 } else { bar };
    let full = rows.iter().filter_map(|row| row.counts.total.value()).max().unwrap_or_default();
    let scale = format!("0 to {}", format_views(full));
    let numbers = |texts: &[String; 4]| -> String {
        texts
            .iter()
            .zip(cells)
            .map(|(text, cells)| format!("  {}{text}", " ".repeat(cells.saturating_sub(text.width()))))
            .collect()
    };
    let titles = numbers(&names.map(str::to_owned));
    let blank = " ".repeat(path.saturating_sub(4));
    let scale = if bar >= scale.len() { format!("  {scale}") } else { String::new() };
    let head = format!("{:>rank$}  path{blank}{titles}{scale}", "#");
    let line = |row: &PrintedRow<'_>| {
        let name = cut_to_width(row.path, path);
        let blank = " ".repeat(path.saturating_sub(name.width()));
        let bar = draw_bar(row.counts, full, bar, out);
        format!("{:>rank$}  {name}{blank}{}{bar}", row.rank, numbers(&row.numbers))
    };
    std::iter::once(out.paint(ColorRole::Muted, &cut_to_width(&head, width))).chain(rows.iter().map(line)).collect()
}

/// Draws a bar of human and AI views on a scale from 0 to `full`. The bar is empty if a count is unknown.
fn draw_bar(counts: &Counts, full: ViewCount, width: usize, out: &Out) -> String {
    let (Some(human), Some(ai)) = (counts.human.value(), counts.ai.value()) else { return String::new() };
    if width == 0 || full.is_zero() {
        return String::new();
    }
    let all = nearest_cells(human + ai, full, width);
    let human = nearest_cells(human, full, width).min(all);
    let parts = [(ColorRole::Human, HUMAN_SYMBOL, human), (ColorRole::Ai, AI_SYMBOL, all - human)];
    let bar: String = parts.iter().map(|(role, sign, n)| out.paint(*role, &sign.repeat(*n))).collect();
    if bar.is_empty() { bar } else { format!("  {bar}") }
}

/// Returns how many of `width` cells stand for `value` if all of them stand for `full`. Rounds to the nearest number,
/// but a value above zero gets at least one cell.
fn nearest_cells(value: ViewCount, full: ViewCount, width: usize) -> usize {
    if value.is_zero() {
        return 0;
    }
    let part = value.ratio_to(full).min(1.0);
    let off =
        |n: usize| (as_f64(u64::try_from(n).unwrap_or(0)) / as_f64(u64::try_from(width).unwrap_or(1)) - part).abs();
    (1..=width).min_by(|a, b| off(*a).total_cmp(&off(*b))).unwrap_or(0)
}
