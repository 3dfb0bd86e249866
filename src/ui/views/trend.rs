//! Draws the trend: human and AI views per day of the range, or per week of a long one, from the site's totals.
//!
//! ```text
//!  6 of 7 days loaded: human 128,402  AI 61,220  mean of 5 of 6 full days 31,603
//!  31,603 │     ▒▒    ▒▒                        selected below, ▲ at its column
//!         │ ██  ██ ━━ ██ ━━ ▒▒
//!         │ ██  ██    ██    ██   ?
//!       0 └─────────────────▲▲──═══──┄┄┄
//!          11-14            11-17
//! ▌Tue 2026-11-17: human 9,120  AI 4,310  total 13,430  AI share 32%  as of 14:02
//!  1 of 7 days missing or outdated: a loads, 1 request, 63 left
//! ```

use super::status_line::as_of;
use super::{count_text, mismatch_sign};
use crate::app::format::{format_views, mean};
use crate::app::views::trend::{FullDaysMean, MEAN_DAYS, TrendBar, TrendDialog, bar_height};
use crate::model::Time;
use crate::model::period::DateRange;
use crate::model::views::ViewCount;
use crate::ui::text::{TextRow, right};
use crate::ui::{View, bars, draw_box, draw_line};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

/// Under a Saturday or Sunday that is in progress.
const PARTIAL_WEEKEND: &str = "┅";
/// Largest width of a bar with its gap.
const SLOT: usize = 14;

/// One bar with its values.
struct TrendColumn {
    bar: TrendBar,
    /// Views per day; `None` if they are unknown or invalid.
    human: Option<ViewCount>,
    ai: Option<ViewCount>,
    mean: Option<ViewCount>,
    partial: bool,
}

/// The visible part of the chart.
struct Chart {
    columns: Vec<TrendColumn>,
    /// The visible columns, and the width of each.
    shown: std::ops::Range<usize>,
    slot: usize,
    /// Views at the top of the scale.
    full: ViewCount,
    /// The largest value of a column; `None` if nothing is known, and then there is no scale.
    top: Option<ViewCount>,
    gutter: usize,
    rows: usize,
}

pub(in crate::ui) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &TrendDialog, area: Rect) {
    let theme = view.theme;
    let each = if open.is_weekly() { "mean per day of each week" } else { "views per day" };
    // The range is never cut off.
    let forms = [
        format!(" Trend, {each}: {} UTC ", open.range),
        format!(" Trend: {} UTC ", open.range),
        format!(" {} UTC ", open.range),
    ];
    let title_width = usize::from(area.width).saturating_sub(2);
    let title = forms.into_iter().find(|form| form.width() <= title_width).unwrap_or_else(|| open.range.to_string());
    let inner = draw_box(frame, area, Line::styled(title, theme.title), theme.focus);
    let text = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let (width, height) = (usize::from(text.width), usize::from(text.height));
    let legend = usize::from(height >= 11);
    let chart = chart(view, open, width, height.saturating_sub(5 + legend));
    draw_line(frame, text, 0, sums(view, open, &chart, width));
    if legend == 1 {
        draw_line(frame, text, 1, legend_line(view, open, &chart, width));
    }
    let top = 1 + legend;
    for row in 0..chart.rows {
        draw_line(frame, text, top + row, level(view, &chart, row, width));
    }
    draw_line(frame, text, top + chart.rows, axis(view, open, &chart, width));
    draw_line(frame, text, top + chart.rows + 1, axis_dates(view, &chart, width));
    draw_line(frame, inner, top + chart.rows + 2, selected(view, open, &chart, usize::from(inner.width)));
    let cost = view.app.trend_cost_text(open, view.now, width < 70);
    let mut row = TextRow::new(width);
    row.push(cost, theme.muted);
    draw_line(frame, text, top + chart.rows + 3, row.line());
}

fn chart(view: View<'_>, open: &TrendDialog, width: usize, rows: usize) -> Chart {
    let columns: Vec<TrendColumn> =
        open.bars(&view.app.views.totals).map(|bar| trend_column(view, open, bar)).collect();
    let tops = columns.iter().flat_map(|column| [column.human.zip(column.ai).map(|(h, a)| h + a), column.mean]);
    let top = tops.flatten().max();
    let full = top.unwrap_or_default().max(ViewCount::ONE);
    let gutter = mean(full).len() + 2;
    let space = width.saturating_sub(gutter).max(1);
    let slot = (space / columns.len().max(1)).clamp(1, SLOT);
    let visible = (space / slot).min(columns.len()).max(1);
    // Scrolls by whole screens; the last one is full.
    let start = (open.selected() / visible * visible).min(columns.len().saturating_sub(visible));
    let shown = start..(start + visible).min(columns.len());
    Chart { columns, shown, slot, full, top, gutter, rows }
}

fn trend_column(view: View<'_>, open: &TrendDialog, bar: TrendBar) -> TrendColumn {
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

/// Views per day. A day in progress counts in proportion to the time that had passed.
fn per_day(views: ViewCount, range: DateRange, as_of: Time) -> ViewCount {
    views.scaled(86_400, u64::from(range.seconds_by(as_of)).max(1))
}

impl Chart {
    fn visible(&self) -> impl Iterator<Item = (usize, &TrendColumn)> {
        self.columns.iter().enumerate().skip(self.shown.start).take(self.shown.len())
    }

    /// Width of the bar itself, without the gap.
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
    // The 0 is shown at the bottom.
    let label = at.filter(|at| !at.is_zero()).map(mean).unwrap_or_default();
    row.push(right(&label, chart.gutter - 2), theme.muted).push(" │", theme.muted);
    for (_, column) in chart.visible() {
        let (glyph, style) = cell(view, chart, column, level);
        let is_mean = column.mean.is_some_and(|mean| bars::bar_cells(mean, chart.full.as_f64(), chart.rows) == level);
        if is_mean {
            row.push("━".repeat(chart.slot), theme.title);
            continue;
        }
        row.push(glyph.repeat(chart.bar_width()), style).push(" ".repeat(chart.slot - chart.bar_width()), theme.text);
    }
    row.line()
}

/// A column's sign at this height, counted from 1 at the bottom: human below, AI above.
fn cell(view: View<'_>, chart: &Chart, column: &TrendColumn, level: usize) -> (&'static str, Style) {
    let theme = view.theme;
    let (Some(human), Some(ai)) = (column.human, column.ai) else {
        let sign = if column.bar.totals.is_some() { "≠" } else { "?" };
        return if level == 1 { (sign, theme.muted) } else { (" ", theme.text) };
    };
    let height = bars::bar_cells(human + ai, chart.full.as_f64(), chart.rows);
    let human_cells = bars::human_part(human, ai, height);
    match level {
        level if level <= human_cells => ("█", theme.human),
        level if level <= height => ("▒", theme.ai),
        _ => (" ", theme.text),
    }
}

/// The line under the bars: double for weekends, dotted for partial days; an arrow marks the selected bar.
fn axis<'a>(view: View<'_>, open: &TrendDialog, chart: &Chart, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    let zero = if chart.top.is_some() { "0" } else { "" };
    row.push(right(zero, chart.gutter - 2), theme.muted).push(" └", theme.muted);
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

/// Dates, as many as fit; `…` if there are more bars on a side.
fn axis_dates<'a>(view: View<'_>, chart: &Chart, width: usize) -> Line<'a> {
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
            row.pad_to(chart.gutter + at * chart.slot).push(label.to_string(), theme.muted);
        }
    }
    if chart.shown.end < chart.columns.len() {
        row.pad_to(width.saturating_sub(1)).push("…", theme.muted);
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
    signs.push("? unknown");
    if any(|column| column.bar.totals.is_some() && column.human.zip(column.ai).is_none()) {
        signs.push("≠ invalid");
    }
    if any(|column| column.mean.is_some()) {
        signs.push("━ mean of 7 days");
    } else if !open.is_weekly() && open.range.days() > MEAN_DAYS {
        signs.push("mean needs 7 days in a row");
    }
    // Each sign is shown completely or not at all.
    let mut gap = "";
    for sign in signs {
        if row.remaining() >= gap.width() + sign.width() {
            row.push(gap, theme.muted).push(sign, theme.muted);
            gap = "  ";
        }
    }
    row.line()
}

/// Sums over the known bars, and the mean per day over the complete days.
fn sums<'a>(view: View<'_>, open: &TrendDialog, chart: &Chart, width: usize) -> Line<'a> {
    let theme = view.theme;
    let known: Vec<&TrendColumn> = chart.columns.iter().filter(|column| column.bar.totals.is_some()).collect();
    let (all, unit) = (chart.columns.len(), open.unit());
    let mut row = TextRow::new(width);
    let plural = if all == 1 { "" } else { "s" };
    row.push(format!("{} of {all} {unit}{plural} loaded", known.len()), theme.text);
    if known.is_empty() {
        return row.line();
    }
    let counts = || known.iter().filter_map(|column| column.bar.totals.as_ref()).map(|known| &known.value);
    let sum = counts().fold(crate::model::report::Sums::default(), crate::model::report::Sums::with);
    row.push(": ", theme.text).push(format!("human {}", format_views(sum.human)), theme.human);
    row.push(format!("  AI {}", format_views(sum.ai)), theme.ai);
    let mean_forms = open.mean_of_full_days(&view.app.views.totals, view.now).map(mean_forms);
    let fitting = mean_forms.into_iter().flatten().find(|form| form.width() <= row.remaining());
    row.push(fitting.unwrap_or_default(), theme.text);
    row.line()
}

/// The mean per day with the number of days in it, the longest form first. The number is always shown: a mean that
/// leaves out days could be mistaken for that of the range.
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

/// The selected bar in exact numbers; parts that don't fit are left out, the least important first.
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
        row.push(": unknown", theme.muted);
        return row.line();
    };
    let counts = &known.value;
    let mean_day = bar_height(counts).filter(|_| bar.range.days() > 1).map(|sum| per_day(sum, bar.range, known.as_of));
    let over = if bar.is_partial(view.now) {
        format!(" over {:.1} days", bar.range.days_by(known.as_of))
    } else {
        String::new()
    };
    let share = counts.ai_share().map(|share| format!("  share {:.0}%", share * 100.0));
    // The axis shows that it is partial; the number of days in the mean is shown if it fits.
    let mean = mean_day.map(|views| format!("  {} a day", mean(views))).unwrap_or_default();
    let numbers = if narrow {
        format!(": {} + {} AI{}", count_text(&counts.human), count_text(&counts.ai), mismatch_sign(counts))
    } else {
        let (human, ai, total) = (count_text(&counts.human), count_text(&counts.ai), count_text(&counts.total));
        format!(": human {human}  AI {ai}  total {total}{}", mismatch_sign(counts))
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
        if row.remaining() >= piece.width() {
            let over = if piece.ends_with(" a day") { over.as_str() } else { "" };
            row.push(&piece, style);
            row.push(if row.remaining() >= over.width() { over } else { "" }, style);
        }
    }
    row.line()
}

fn day_words(bar: &TrendBar, width: usize) -> String {
    let (from, to) = (bar.range.from(), bar.range.to());
    match (bar.range.days(), width) {
        (1, 60..) => from.format("%a %Y-%m-%d").to_string(),
        (1, _) => from.format("%a %m-%d").to_string(),
        (_, 100..) => bar.range.to_string(),
        (_, 60..) => format!("{} … {}", from.format("%m-%d"), to.format("%m-%d")),
        _ => format!("{}…{}", from.format("%m-%d"), to.format("%m-%d")),
    }
}

/// What makes the numbers differ from those of a complete day or week.
fn partial_words(open: &TrendDialog, bar: &TrendBar, now: Time) -> String {
    let today = bar.range.contains(now.date_naive());
    let late = if today {
        ", today partial"
    } else if bar.is_partial(now) {
        ", partial when loaded"
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
