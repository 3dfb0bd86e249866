//! The trend: human and AI views per day of the range, or per week of a long one, from the site's totals.
//!
//! ```text
//!  6 of 7 days known: human 128,402  AI 61,220  mean of 5 of 6 full days 31,603
//!  31,603 │     ▒▒    ▒▒                        selected below, ▲ at its column
//!         │ ██  ██ ━━ ██ ━━ ▒▒
//!         │ ██  ██    ██    ██   ?
//!       0 └─────────────────▲▲──═══──┄┄┄
//!          11-14            11-17
//! ▌Tue 2026-11-17: human 9,120  AI 4,310  total 13,430  AI share 32%  as of 14:02
//!  1 of 7 days not known or not fresh: a asks, 1 request, 63 left here
//! ```

use super::status_line::as_of;
use super::{count_text, mark};
use crate::app::format::{mean, views};
use crate::app::views::trend::{Bar, FullDaysMean, MEAN_DAYS, TrendDialog, height};
use crate::model::Time;
use crate::model::period::DateRange;
use crate::model::views::ViewCount;
use crate::ui::text::{TextRow, right};
use crate::ui::{View, bars, boxed, put};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

/// Under a Saturday or Sunday that is going on.
const PARTIAL_WEEKEND: &str = "┅";
/// Widest column of a bar, its gap included.
const SLOT: usize = 14;

/// What is drawn of one bar.
struct TrendColumn {
    bar: Bar,
    /// Views per day; none where they are unknown or no counts.
    human: Option<ViewCount>,
    ai: Option<ViewCount>,
    mean: Option<ViewCount>,
    partial: bool,
}

/// The part of the chart that is on screen.
struct Chart {
    columns: Vec<TrendColumn>,
    /// First and last column, and the cells of each.
    shown: std::ops::Range<usize>,
    slot: usize,
    /// Views at the top.
    full: ViewCount,
    /// The most that is known of a column; none where nothing is known, and then there is no scale.
    top: Option<ViewCount>,
    gutter: usize,
    rows: usize,
}

pub(in crate::ui) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &TrendDialog, area: Rect) {
    let theme = view.theme;
    let each = if open.is_weekly() { "mean per day of each week" } else { "views per day" };
    // The range is never cut.
    let forms = [
        format!(" Trend, {each}: {} UTC ", open.range),
        format!(" Trend: {} UTC ", open.range),
        format!(" {} UTC ", open.range),
    ];
    let title_width = usize::from(area.width).saturating_sub(2);
    let title = forms.into_iter().find(|form| form.width() <= title_width).unwrap_or_else(|| open.range.to_string());
    let inner = boxed(frame, area, Line::styled(title, theme.title), theme.focus);
    let text = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let (width, height) = (usize::from(text.width), usize::from(text.height));
    let legend = usize::from(height >= 11);
    let chart = chart(view, open, width, height.saturating_sub(5 + legend));
    put(frame, text, 0, sums(view, open, &chart, width));
    if legend == 1 {
        put(frame, text, 1, legend_line(view, open, &chart, width));
    }
    let top = 1 + legend;
    for row in 0..chart.rows {
        put(frame, text, top + row, level(view, &chart, row, width));
    }
    put(frame, text, top + chart.rows, axis(view, open, &chart, width));
    put(frame, text, top + chart.rows + 1, dates(view, &chart, width));
    put(frame, inner, top + chart.rows + 2, selected(view, open, &chart, usize::from(inner.width)));
    let price = view.app.trend_price(open, view.now, width < 70);
    let mut row = TextRow::new(width);
    row.push(price, theme.muted);
    put(frame, text, top + chart.rows + 3, row.line());
}

fn chart(view: View<'_>, open: &TrendDialog, width: usize, rows: usize) -> Chart {
    let columns: Vec<TrendColumn> = open.bars(&view.app.views.totals).map(|bar| column(view, open, bar)).collect();
    let tops = columns.iter().flat_map(|column| [column.human.zip(column.ai).map(|(h, a)| h + a), column.mean]);
    let top = tops.flatten().max();
    let full = top.unwrap_or_default().max(ViewCount::ONE);
    let gutter = mean(full).len() + 2;
    let room = width.saturating_sub(gutter).max(1);
    let slot = (room / columns.len().max(1)).clamp(1, SLOT);
    let visible = (room / slot).min(columns.len()).max(1);
    // By whole screenfuls, the last one full.
    let start = (open.selected() / visible * visible).min(columns.len().saturating_sub(visible));
    let shown = start..(start + visible).min(columns.len());
    Chart { columns, shown, slot, full, top, gutter, rows }
}

fn column(view: View<'_>, open: &TrendDialog, bar: Bar) -> TrendColumn {
    let counts = bar.totals.as_ref().map(|known| &known.value);
    let as_of = bar.totals.as_ref().map_or(view.now, |known| known.as_of);
    let per_day = |count: &crate::model::views::Count| {
        let count = count.value()?;
        Some(if open.is_weekly() { per_day(count, bar.range, as_of) } else { count })
    };
    let mean = if open.is_weekly() { None } else { view.app.views.totals.mean_up_to(bar.range.from()) };
    let partial = bar.is_partial(view.now) || (open.is_weekly() && bar.range.days() < 7);
    TrendColumn {
        human: counts.and_then(|counts| per_day(&counts.human)),
        ai: counts.and_then(|counts| per_day(&counts.ai)),
        mean,
        partial,
        bar,
    }
}

/// Views per day; a day that was going on counts as far as it had come, never as a whole one.
fn per_day(views: ViewCount, range: DateRange, as_of: Time) -> ViewCount {
    views.scaled(86_400, u64::from(range.seconds_by(as_of)).max(1))
}

impl Chart {
    fn visible(&self) -> impl Iterator<Item = (usize, &TrendColumn)> {
        self.columns.iter().enumerate().skip(self.shown.start).take(self.shown.len())
    }

    /// Cells of the bar itself; the rest of its slot is the gap.
    fn bar_width(&self) -> usize {
        if self.slot > 1 { self.slot - 1 } else { 1 }
    }
}

/// One row of the chart, counted from the top.
fn level<'a>(view: View<'_>, chart: &Chart, from_top: usize, width: usize) -> Line<'a> {
    let theme = view.theme;
    let level = chart.rows - from_top;
    let mut row = TextRow::new(width);
    let at = if from_top == 0 {
        chart.top
    } else if chart.rows >= 6 && level == chart.rows / 2 && chart.rows.is_multiple_of(2) {
        chart.top.map(|top| top.scaled(1, 2))
    } else {
        None
    };
    // The 0 stands at the foot.
    let label = at.filter(|at| !at.is_zero()).map(mean).unwrap_or_default();
    row.push(right(&label, chart.gutter - 2), theme.muted).push(" │", theme.muted);
    for (_, column) in chart.visible() {
        let (glyph, style) = cell(view, chart, column, level);
        let is_mean = column.mean.is_some_and(|mean| bars::cells(mean, chart.full.as_f64(), chart.rows) == level);
        if is_mean {
            row.push("━".repeat(chart.slot), theme.title);
            continue;
        }
        row.push(glyph.repeat(chart.bar_width()), style).push(" ".repeat(chart.slot - chart.bar_width()), theme.text);
    }
    row.line()
}

/// What stands in a column at this height, the lowest is 1: human below, AI above.
fn cell(view: View<'_>, chart: &Chart, column: &TrendColumn, level: usize) -> (&'static str, Style) {
    let theme = view.theme;
    let (Some(human), Some(ai)) = (column.human, column.ai) else {
        let sign = if column.bar.totals.is_some() { "≠" } else { "?" };
        return if level == 1 { (sign, theme.muted) } else { (" ", theme.text) };
    };
    let whole = bars::cells(human + ai, chart.full.as_f64(), chart.rows);
    let human_cells = bars::human_part(human, ai, whole);
    match level {
        level if level <= human_cells => ("█", theme.human),
        level if level <= whole => ("▒", theme.ai),
        _ => (" ", theme.text),
    }
}

/// The line under the bars: weekends doubled, what is partial dotted, the selected one pointed at.
fn axis<'a>(view: View<'_>, open: &TrendDialog, chart: &Chart, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    let foot = if chart.top.is_some() { "0" } else { "" };
    row.push(right(foot, chart.gutter - 2), theme.muted).push(" └", theme.muted);
    for (place, column) in chart.visible() {
        let sign = match column {
            column if column.partial && column.bar.is_weekend() && !open.is_weekly() => PARTIAL_WEEKEND,
            column if column.partial => "┄",
            column if column.bar.is_weekend() => "═",
            _ => "─",
        };
        let width = chart.bar_width();
        if place == open.selected() {
            let side = (width - 1) / 2;
            row.push(sign.repeat(side), theme.muted).push("▲", theme.mark);
            row.push(sign.repeat(width - 1 - side), theme.muted);
        } else {
            row.push(sign.repeat(width), theme.muted);
        }
        row.push("─".repeat(chart.slot - chart.bar_width()), theme.muted);
    }
    row.line()
}

/// Dates where they have room; `…` where there is more to a side.
fn dates<'a>(view: View<'_>, chart: &Chart, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    let more_before = if chart.shown.start > 0 { "…" } else { "" };
    row.push(right(more_before, chart.gutter), theme.muted);
    let each = 6_usize.div_ceil(chart.slot);
    for (at, (_, column)) in chart.visible().enumerate() {
        let from = column.bar.range.from();
        let label =
            if chart.slot >= 7 && column.bar.range.days() == 1 { from.format("%a %d") } else { from.format("%m-%d") };
        if at.is_multiple_of(each) && chart.gutter + at * chart.slot + 5 <= width {
            row.to(chart.gutter + at * chart.slot).push(label.to_string(), theme.muted);
        }
    }
    if chart.shown.end < chart.columns.len() {
        row.to(width.saturating_sub(1)).push("…", theme.muted);
    }
    row.line()
}

fn legend_line<'a>(view: View<'_>, open: &TrendDialog, chart: &Chart, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    row.push("█", theme.human).push(" human  ", theme.muted).push("▒", theme.ai).push(" AI  ", theme.muted);
    let any = |holds: fn(&TrendColumn) -> bool| chart.columns.iter().any(holds);
    let mut signs = if open.is_weekly() { vec!["┄ part of a week"] } else { vec!["═ weekend", "┄ partial"] };
    if !open.is_weekly() && any(|column| column.partial && column.bar.is_weekend()) {
        signs.push("┅ both");
    }
    signs.push("? not known");
    if any(|column| column.bar.totals.is_some() && column.human.zip(column.ai).is_none()) {
        signs.push("≠ odd");
    }
    if any(|column| column.mean.is_some()) {
        signs.push("━ mean of 7 days");
    } else if !open.is_weekly() && open.range.days() > MEAN_DAYS {
        signs.push("no 7 days in a row for a mean");
    }
    // Each is there whole or not at all.
    let mut gap = "";
    for sign in signs {
        if row.room() >= gap.width() + sign.width() {
            row.push(gap, theme.muted).push(sign, theme.muted);
            gap = "  ";
        }
    }
    row.line()
}

/// Sums over what is known, and the mean per day over what is known in full.
fn sums<'a>(view: View<'_>, open: &TrendDialog, chart: &Chart, width: usize) -> Line<'a> {
    let theme = view.theme;
    let known: Vec<&TrendColumn> = chart.columns.iter().filter(|column| column.bar.totals.is_some()).collect();
    let (all, unit) = (chart.columns.len(), open.unit());
    let mut row = TextRow::new(width);
    let plural = if all == 1 { "" } else { "s" };
    row.push(format!("{} of {all} {unit}{plural} known", known.len()), theme.text);
    if known.is_empty() {
        return row.line();
    }
    let counts = || known.iter().filter_map(|column| column.bar.totals.as_ref()).map(|known| &known.value);
    let sum = counts().fold(crate::model::report::Sums::default(), crate::model::report::Sums::with);
    row.push(": ", theme.text).push(format!("human {}", views(sum.human)), theme.human);
    row.push(format!("  AI {}", views(sum.ai)), theme.ai);
    let mean_forms = open.mean_of_full_days(&view.app.views.totals, view.now).map(mean_forms);
    let fitting = mean_forms.into_iter().flatten().find(|form| form.width() <= row.room());
    row.push(fitting.unwrap_or_default(), theme.text);
    row.line()
}

/// The mean per day with the days that it is about, the longest form first. It is never shown without them: a mean that leaves
/// days out would pass for that of the range.
fn mean_forms(FullDaysMean { mean: per_day, days, all }: FullDaysMean) -> [String; 3] {
    let per_day = mean(per_day);
    let of = if days == all { days.to_string() } else { format!("{days} of {all}") };
    let unit = if all == 1 { "day" } else { "days" };
    let short = of.replace(" of ", "/");
    [
        format!("  mean of {of} full {unit} {per_day}"),
        format!("  mean of {of} {unit} {per_day}"),
        format!("  mean {per_day} ({short}d)"),
    ]
}

/// The selected bar in exact numbers; what has no room is left out whole, the least important first.
fn selected<'a>(view: View<'_>, open: &TrendDialog, chart: &Chart, width: usize) -> Line<'a> {
    let theme = view.theme;
    let Some(column) = chart.columns.get(open.selected()) else { return Line::default() };
    let bar = &column.bar;
    let narrow = width < 60;
    let mut row = TextRow::new(width);
    row.push("▌", theme.mark).push(day_words(bar, width), theme.selected);
    let partial = partial_words(open, bar, view.now);
    if !narrow {
        row.push(&partial, theme.warning);
    }
    let Some(known) = &bar.totals else {
        row.push(": not known", theme.muted);
        return row.line();
    };
    let counts = &known.value;
    let mean_day = height(counts).filter(|_| bar.range.days() > 1).map(|sum| per_day(sum, bar.range, known.as_of));
    let over = if bar.is_partial(view.now) {
        format!(" over {:.1} days", bar.range.days_by(known.as_of))
    } else {
        String::new()
    };
    let share = counts.ai_share().map(|share| format!("  share {:.0}%", share * 100.0));
    // The axis says that it is partial; over how many days the mean goes is said where there is room.
    let mean = mean_day.map(|views| format!("  {} a day", mean(views))).unwrap_or_default();
    let numbers = if narrow {
        format!(": {} + {} AI{}", count_text(&counts.human), count_text(&counts.ai), mark(counts))
    } else {
        let (human, ai, total) = (count_text(&counts.human), count_text(&counts.ai), count_text(&counts.total));
        format!(": human {human}  AI {ai}  total {total}{}", mark(counts))
    };
    row.push(numbers, theme.text);
    let weekend = if bar.is_weekend() { "  weekend" } else { "" };
    let pieces = [
        (if narrow && !partial.is_empty() { " partial".to_owned() } else { String::new() }, theme.warning),
        (mean, theme.text),
        (share.unwrap_or_default(), theme.text),
        (format!("  {}", as_of(view, known.as_of)), theme.muted),
        (weekend.to_owned(), theme.muted),
    ];
    for (piece, style) in pieces.into_iter().filter(|(piece, _)| !piece.is_empty()) {
        if row.room() >= piece.width() {
            let over = if piece.ends_with(" a day") { over.as_str() } else { "" };
            row.push(&piece, style);
            row.push(if row.room() >= over.width() { over } else { "" }, style);
        }
    }
    row.line()
}

fn day_words(bar: &Bar, width: usize) -> String {
    let (from, to) = (bar.range.from(), bar.range.to());
    match (bar.range.days(), width) {
        (1, 60..) => from.format("%a %Y-%m-%d").to_string(),
        (1, _) => from.format("%a %m-%d").to_string(),
        (_, 100..) => bar.range.to_string(),
        (_, 60..) => format!("{} … {}", from.format("%m-%d"), to.format("%m-%d")),
        _ => format!("{}…{}", from.format("%m-%d"), to.format("%m-%d")),
    }
}

/// What keeps the numbers from being those of a whole day or week.
fn partial_words(open: &TrendDialog, bar: &Bar, now: Time) -> String {
    let today = bar.range.contains(now.date_naive());
    let late = if today {
        ", today partial"
    } else if bar.is_partial(now) {
        ", partial when asked"
    } else {
        ""
    };
    let cut = if open.is_weekly() && bar.range.days() < 7 {
        format!(", {} of 7 days", bar.range.days())
    } else {
        String::new()
    };
    format!("{late}{cut}")
}
