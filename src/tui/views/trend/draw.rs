//! Draws the trend: human and AI views per day of the range, or per week of a long range, from the site's totals.
//!
//! ```text
//!  6 of 7 days loaded: human 128,402  AI 61,220  mean 31,603 (5 of 6 full days)
//!  31,603 │     ▒▒    ▒▒                        selected below, ▲ at its column
//!         │ ██  ██ ━━ ██ ━━ ▒▒
//!         │ ██  ██    ██    ██   ?
//!       0 └─────────────────▲▲──═══──┄┄┄
//!          11-14            11-17
//! ▌Tue 2026-11-17: human 9,120  AI 4,310  total 13,430  AI share 32%  as of 14:02
//!  1 of 7 days missing or outdated: press a, 1 request, 63 left
//! ```

use super::{CompleteDaysMean, MEAN_DAYS, TrendBar, TrendDialog, bar_height};
use crate::model::Time;
use crate::model::period::DateRange;
use crate::model::views::ViewCount;
use crate::tui::draw::text::{TextRow, right};
use crate::tui::draw::{View, bars, draw_box, draw_line};
use crate::tui::format::{format_mean, format_views};
use crate::tui::views::draw::status_line::as_of;
use crate::tui::views::draw::{count_text, mismatch_sign};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

/// The symbol on the axis below a Saturday or Sunday whose numbers are partial.
const PARTIAL_WEEKEND: &str = "┅";
/// Maximum width of a bar with the gap behind it.
const MAX_COLUMN_WIDTH: usize = 14;

/// A bar of the chart, with its values.
struct TrendColumn {
    bar: TrendBar,
    /// Human views per day; `None` if they are unknown or invalid.
    human: Option<ViewCount>,
    /// AI views per day; `None` if they are unknown or invalid.
    ai: Option<ViewCount>,
    /// The mean of the last [`MEAN_DAYS`] days, including this day; `None` if it is unknown or the bars are weeks.
    mean: Option<ViewCount>,
    partial: bool,
}

/// The visible part of the chart.
struct Chart {
    columns: Vec<TrendColumn>,
    /// The range of visible columns.
    shown: std::ops::Range<usize>,
    /// The width of each column, with its gap.
    column_width: usize,
    /// The number of views at the top of the scale.
    full: ViewCount,
    /// The largest value of all columns; `None` if no value is known, so that there is no scale.
    top: Option<ViewCount>,
    /// The width of the labels at the left of the chart.
    gutter: usize,
    rows: usize,
}

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &TrendDialog) {
    let area = view.app.geometry().full_dialog();
    let theme = view.theme;
    let each = if open.is_weekly() { "daily mean by week" } else { "views per day" };
    // The longest title that fits is used, so that the range is not cut off.
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
    draw_line(frame, text, 0, sums_line(view, open, &chart, width));
    if legend == 1 {
        draw_line(frame, text, 1, legend_line(view, open, &chart, width));
    }
    let top = 1 + legend;
    for row in 0..chart.rows {
        draw_line(frame, text, top + row, chart_row(view, &chart, row, width));
    }
    draw_line(frame, text, top + chart.rows, axis_line(view, open, &chart, width));
    draw_line(frame, text, top + chart.rows + 1, axis_dates(view, &chart, width));
    draw_line(frame, inner, top + chart.rows + 2, selected_bar_line(view, open, &chart, usize::from(inner.width)));
    let cost = open.cost_text(view.app, view.now, width < 70);
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
    let gutter = format_mean(full).len() + 2;
    let space = width.saturating_sub(gutter).max(1);
    let slot = (space / columns.len().max(1)).clamp(1, MAX_COLUMN_WIDTH);
    let visible = (space / slot).min(columns.len()).max(1);
    // Scrolls by whole screens. The last screen is full too, so it may repeat columns of the screen before it.
    let start = (open.selected() / visible * visible).min(columns.len().saturating_sub(visible));
    let shown = start..(start + visible).min(columns.len());
    Chart { columns, shown, column_width: slot, full, top, gutter, rows }
}

fn trend_column(view: View<'_>, open: &TrendDialog, bar: TrendBar) -> TrendColumn {
    let counts = bar.totals.as_ref().map(|known| &known.value);
    let as_of = bar.totals.as_ref().map_or(view.now, |known| known.as_of);
    let per_day = |count: &crate::model::views::Count| {
        let count = count.value()?;
        Some(if open.is_weekly() { per_day(count, bar.range, as_of) } else { count })
    };
    let mean = if open.is_weekly() { None } else { view.app.views.totals.moving_mean(bar.range.from()) };
    let partial = bar.is_partial(view.now) || (open.is_weekly() && bar.range.days() < 7);
    TrendColumn {
        human: counts.and_then(|counts| per_day(&counts.human)),
        ai: counts.and_then(|counts| per_day(&counts.ai)),
        mean,
        partial,
        bar,
    }
}

/// Returns the mean number of views per day. A day that was in progress when the views were loaded counts as the
/// fraction that had passed.
fn per_day(views: ViewCount, range: DateRange, as_of: Time) -> ViewCount {
    views.scaled(86_400, u64::from(range.elapsed_seconds(as_of)).max(1))
}

impl Chart {
    fn visible(&self) -> impl Iterator<Item = (usize, &TrendColumn)> {
        self.columns.iter().enumerate().skip(self.shown.start).take(self.shown.len())
    }

    /// Returns the width of a bar without its gap.
    fn bar_width(&self) -> usize {
        if self.column_width > 1 { self.column_width - 1 } else { 1 }
    }
}

/// Returns one row of the chart. `from_top` is the index of the row, counted from the top.
fn chart_row<'a>(view: View<'_>, chart: &Chart, from_top: usize, width: usize) -> Line<'a> {
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
    // A scale that ends at 0 gets no label here, because the axis already has the label 0.
    let label = at.filter(|at| !at.is_zero()).map(format_mean).unwrap_or_default();
    row.push(right(&label, chart.gutter - 2), theme.muted).push(" │", theme.muted);
    for (_, column) in chart.visible() {
        let (glyph, style) = column_cell(view, chart, column, level);
        let is_mean = column.mean.is_some_and(|mean| bars::bar_cells(mean, chart.full.as_f64(), chart.rows) == level);
        if is_mean {
            row.push("━".repeat(chart.column_width), theme.title);
            continue;
        }
        row.push(glyph.repeat(chart.bar_width()), style)
            .push(" ".repeat(chart.column_width - chart.bar_width()), theme.text);
    }
    row.line()
}

/// Returns the symbol and the style of a column at the height `level`, counted from 1 at the bottom. Human views are at
/// the bottom, AI views above them.
fn column_cell(view: View<'_>, chart: &Chart, column: &TrendColumn, level: usize) -> (&'static str, Style) {
    let theme = view.theme;
    let (Some(human), Some(ai)) = (column.human, column.ai) else {
        let sign = if column.bar.totals.is_some() { "≠" } else { "?" };
        return if level == 1 { (sign, theme.muted) } else { (" ", theme.text) };
    };
    let height = bars::bar_cells(human + ai, chart.full.as_f64(), chart.rows);
    let human_cells = bars::human_cell_count(human, ai, height);
    match level {
        level if level <= human_cells => ("█", theme.human),
        level if level <= height => ("▒", theme.ai),
        _ => (" ", theme.text),
    }
}

/// Returns the axis under the bars: double for weekends and dashed for partial days, with an arrow at the selected bar.
fn axis_line<'a>(view: View<'_>, open: &TrendDialog, chart: &Chart, width: usize) -> Line<'a> {
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
        row.push("─".repeat(chart.column_width - chart.bar_width()), theme.muted);
    }
    row.line()
}

/// Returns the line with the dates under the axis, as many as fit. `…` at an end means that there are more bars on that
/// side.
fn axis_dates<'a>(view: View<'_>, chart: &Chart, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    let more_before = if chart.shown.start > 0 { "…" } else { "" };
    row.push(right(more_before, chart.gutter), theme.muted);
    let each = 6_usize.div_ceil(chart.column_width);
    for (at, (_, column)) in chart.visible().enumerate() {
        let from = column.bar.range.from();
        let label = if chart.column_width >= 7 && column.bar.range.days() == 1 {
            from.format("%a %d")
        } else {
            from.format("%m-%d")
        };
        if at.is_multiple_of(each) && chart.gutter + at * chart.column_width + 5 <= width {
            row.pad_to(chart.gutter + at * chart.column_width).push(label.to_string(), theme.muted);
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
        signs.push("━ 7-day mean");
    } else if !open.is_weekly() && open.range.days() > MEAN_DAYS {
        signs.push("mean needs 7 days in a row");
    }
    // Each entry of the legend is shown completely or not at all.
    let mut gap = "";
    for sign in signs {
        if row.remaining() >= gap.width() + sign.width() {
            row.push(gap, theme.muted).push(sign, theme.muted);
            gap = "  ";
        }
    }
    row.line()
}

/// Returns the line with the sums of the known bars, and the mean per day of the full days.
fn sums_line<'a>(view: View<'_>, open: &TrendDialog, chart: &Chart, width: usize) -> Line<'a> {
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
    let sum = counts().fold(crate::model::report::ViewSums::default(), crate::model::report::ViewSums::with);
    row.push(": ", theme.text).push(format!("human {}", format_views(sum.human)), theme.human);
    row.push(format!("  AI {}", format_views(sum.ai)), theme.ai);
    let mean_forms = open.mean_of_complete_days(&view.app.views.totals, view.now).map(mean_forms);
    let fitting = mean_forms.into_iter().flatten().find(|form| form.width() <= row.remaining());
    row.push(fitting.unwrap_or_default(), theme.text);
    row.line()
}

/// Returns the text of the mean per day, the longest form first. Every form contains the number of days in the mean,
/// because a mean of only some days could be mistaken for the mean of the range.
fn mean_forms(
    CompleteDaysMean { mean: per_day, known_days: days, complete_days: all }: CompleteDaysMean,
) -> [String; 3] {
    let per_day = format_mean(per_day);
    let known_of = if days == all { String::new() } else { format!("{days} of ") };
    let full_days = |n: u32| if n == 1 { "1 full day".to_owned() } else { format!("{n} full days") };
    [
        format!("  mean {per_day} ({known_of}{})", full_days(all)),
        format!("  mean {per_day} ({})", full_days(days)),
        format!("  mean {per_day} ({days} days)"),
    ]
}

/// Returns the line with the exact numbers of the selected bar. Leaves out parts that don't fit, the least important
/// first.
fn selected_bar_line<'a>(view: View<'_>, open: &TrendDialog, chart: &Chart, width: usize) -> Line<'a> {
    let theme = view.theme;
    let Some(column) = chart.columns.get(open.selected()) else { return Line::default() };
    let bar = &column.bar;
    let narrow = width < 60;
    let mut row = TextRow::new(width);
    row.push("▌", theme.mark).push(bar_dates_text(bar, width), theme.selected);
    let partial = partial_text(open, bar, view.now);
    if !narrow {
        row.push(&partial, theme.warning);
    }
    let Some(known) = &bar.totals else {
        row.push(": unknown", theme.muted);
        return row.line();
    };
    let counts = &known.value;
    let mean_day = bar_height(counts).filter(|_| bar.range.days() > 1).map(|sum| per_day(sum, bar.range, known.as_of));
    // The number of days in the mean is shown only if it fits, because the axis also shows that the bar is partial.
    let over = if bar.is_partial(view.now) {
        format!(" over {:.1} days", bar.range.elapsed_days(known.as_of))
    } else {
        String::new()
    };
    let share = counts.ai_share().map(|share| format!("  share {:.0}%", share * 100.0));
    let mean = mean_day.map(|views| format!("  {} a day", format_mean(views))).unwrap_or_default();
    let (human, ai, total) = (count_text(&counts.human), count_text(&counts.ai), count_text(&counts.total));
    let mismatch = mismatch_sign(counts);
    let forms = [
        format!(": human {human}  AI {ai}  total {total}{mismatch}"),
        format!(": human {human}  AI {ai}{mismatch}"),
        format!(": {human} + {ai} AI{mismatch}"),
    ];
    // A number that is cut off would be taken for a smaller one.
    let fits = |form: &&String| form.width() <= row.remaining();
    let numbers = forms.iter().skip(if narrow { 2 } else { 0 }).find(fits).or(forms.last());
    row.push(numbers.map_or("", String::as_str), theme.text);
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

fn bar_dates_text(bar: &TrendBar, width: usize) -> String {
    let (from, to) = (bar.range.from(), bar.range.to());
    match (bar.range.days(), width) {
        (1, 60..) => from.format("%a %Y-%m-%d").to_string(),
        (1, _) => from.format("%a %m-%d").to_string(),
        (_, 100..) => bar.range.to_string(),
        (_, 60..) => format!("{} … {}", from.format("%m-%d"), to.format("%m-%d")),
        _ => format!("{}…{}", from.format("%m-%d"), to.format("%m-%d")),
    }
}

/// Returns why the bar doesn't show a complete day or week, or an empty text if it does.
fn partial_text(open: &TrendDialog, bar: &TrendBar, now: Time) -> String {
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
