//! Draws the trend: human and AI views per day of the range, or per week of a long range, from the site's totals.
//!
//! ```text
//!  █ human  ▒ AI  ╱╲ so far  ░ previous  ━ average 26,904 (complete days)
//!  40k ┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
//!      │▇▇▇▇▇▇░
//!    0 ┴──────────▲──────────
//!       Mon 16    Tue 17
//! ▌Tue 17 Nov   human 9,120   AI 4,310   total 13,430   AI share 32%
//!  1 of 7 days not loaded: press a to load it (1 request, 63 left this hour)
//! ```

use super::super::range_totals::{CompleteDaysMean, TrendBar, bar_height};
use super::TrendDialog;
use super::chart::{AXIS_ROWS, Chart, ChartBar, chart_bars, mean_per_day, weekend_sign};
use crate::model::Time;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::rules::DialogFrame;
use crate::tui::draw::text::{TextRow, blanks};
use crate::tui::format::{count_text, format_mean, format_views, mismatch_sign, plural};
use crate::tui::geometry::{inside_margin, title_area};
use crate::tui::keymap::{Action, Context};
use crate::tui::view::View;
use chrono::Datelike as _;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// Minimum height of the dialog at which it has a legend.
const MIN_ROWS_WITH_LEGEND: usize = 9;
/// The number of rows below the axis: the selected bar and the cost of the missing bars.
const FOOT_ROWS: usize = 2;
/// The number of blank cells between the legend and a text such as `all 7 days loaded`.
const PAGE_LEGEND_GAP: usize = 3;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &TrendDialog) {
    let rule = title_area(view.app.geometry().upper_rule());
    let theme = view.theme;
    let each = if open.is_weekly() { "daily average by week" } else { "per day" };
    let range = open.range.format_dates(true);
    // The longest title that fits is used, so that the range is not cut off.
    let name = if open.shows_visitors { "Visitor trend" } else { "Trend" };
    let forms = [format!("{name}  {range} UTC, {each}"), format!("{name}  {range} UTC"), format!("{range} UTC")];
    let title_width = usize::from(rule.width);
    let title = forms.into_iter().find(|form| form.width() <= title_width).unwrap_or(range);
    let inner = DialogFrame::new(view, title).draw(frame, view, open);
    let text = inside_margin(inner);
    let (width, height) = (usize::from(text.width), usize::from(text.height));
    let legend = usize::from(height >= MIN_ROWS_WITH_LEGEND);
    let totals = open.totals(view.app);
    let previous = view.app.views.previous_period();
    let mean = open.mean_of_complete_days(totals, view.now);
    let bars = chart_bars(open.range, open.bars(totals), previous, totals, view.now);
    let axis = usize::from(AXIS_ROWS);
    let rows = height.saturating_sub(legend + axis + FOOT_ROWS);
    let chart =
        Chart::new(bars, (width, rows), theme).with_selected(open.selected()).with_mean(mean.map(|mean| mean.mean));
    let load_key = view.app.key_label(Context::Trend, Action::LoadAll);
    let chart = chart.with_unloaded_note(format!("not loaded: press {load_key} to load them"));
    if legend == 1 {
        draw_line(frame, text, 0, legend_line(view, open, &chart, mean, width));
    }
    for (row, line) in chart.lines(width, theme).into_iter().enumerate() {
        draw_line(frame, text, legend + row, line);
    }
    let foot = legend + rows + axis;
    draw_line(frame, inner, foot, selected_bar_line(view, open, &chart, width + 1));
    let cost = open.cost_text(view.app, view.now, width).unwrap_or_else(|| all_loaded_text(view, open, &chart));
    let mut row = TextRow::new(width);
    row.push(cost, theme.muted);
    draw_line(frame, text, foot + 1, row.line());
}

/// Draws the trend above the table of pages: cached days or weeks only, and the previous period if it is compared.
pub(in crate::tui) fn draw_above_table(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let views = &view.app.views;
    let Some(range) = views.trend_range else { return };
    let previous = views.previous_period().filter(|previous| {
        views.table.comparison().is_some_and(|comparison| comparison.previous.range.from() == previous.from())
    });
    let bars = chart_bars(range, TrendDialog::new(range).bars(&views.totals), previous, &views.totals, view.now);
    let text = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let width = usize::from(text.width);
    let chart = Chart::new(bars, (width, usize::from(area.height.saturating_sub(AXIS_ROWS))), view.theme);
    let (trend, load) =
        (view.app.key_label(Context::Views, Action::Trend), view.app.key_label(Context::Trend, Action::LoadAll));
    let chart = chart.with_unloaded_note(format!("not loaded: press {trend}, then {load}"));
    for (row, line) in chart.lines(width, view.theme).into_iter().enumerate() {
        draw_line(frame, text, row, line);
    }
}

/// Returns the line that is above the table of pages if no bar of the trend is loaded. The line shows how to load the
/// bars, and the cost.
pub(in crate::tui) fn unloaded_trend_line<'a>(view: View<'_>, width: usize) -> Line<'a> {
    let View { app, theme, now, .. } = view;
    let mut row = TextRow::new(width);
    let Some(range) = app.views.trend_range else { return row.line() };
    let open = TrendDialog::new(range);
    let requests = plural(open.missing_ranges(&app.views.totals, now).len(), "request");
    let [trend, load] = [(Context::Views, Action::Trend), (Context::Trend, Action::LoadAll)]
        .map(|(context, action)| app.key_label(context, action));
    row.push(format!(" views per {} not loaded: press ", open.unit()), theme.muted).push(trend, theme.key);
    row.push(", then ", theme.muted).push(load, theme.key).push(format!(" ({requests})"), theme.muted);
    row.line()
}

/// Returns the text that all bars are loaded, with the time at which the last of them was loaded. If some bars are
/// incomplete, the time is about these bars only, because only their views still grow.
fn all_loaded_text(view: View<'_>, open: &TrendDialog, chart: &Chart) -> String {
    let times = |is_incomplete: bool| {
        let bars = chart.bars.iter().filter(move |bar| !is_incomplete || bar.is_incomplete);
        bars.filter_map(|bar| bar.bar.totals.as_ref()).map(|totals| totals.as_of).max()
    };
    let as_of = times(true).or(times(false)).map(|at| format!(", {}", view.as_of_text(at))).unwrap_or_default();
    format!("{}{as_of}", all_bars_text(open))
}

fn all_bars_text(open: &TrendDialog) -> String {
    match open.len() {
        1 => format!("the {} is loaded", open.unit()),
        all => format!("all {all} {}s loaded", open.unit()),
    }
}

/// Returns the line below the trend of a page if all bars are loaded: the legend, then the number of bars.
pub(in crate::tui::views) fn page_legend<'a>(
    view: View<'_>,
    open: &TrendDialog,
    chart: Option<&Chart>,
    width: usize,
) -> Line<'a> {
    let loaded = all_bars_text(open);
    let space = width.saturating_sub(loaded.width() + PAGE_LEGEND_GAP);
    let mut line = chart.map(|chart| legend_line(view, open, chart, None, space)).unwrap_or_default();
    let gap = if line.width() == 0 { 0 } else { PAGE_LEGEND_GAP };
    line.push_span(Span::styled([&blanks(gap), loaded.as_str()].concat(), view.theme.muted));
    line
}

/// The long and the short name of the previous period in the legend.
const PREVIOUS_PERIOD_NAMES: (&str, &str) = ("previous period", "previous");
/// The sign of the average in the legend.
const AVERAGE_SIGN: &str = "━";

/// Returns the legend. If it doesn't fit, its names are shortened, and then the average is shown without its number.
fn legend_line<'a>(
    view: View<'_>,
    open: &TrendDialog,
    chart: &Chart,
    mean: Option<CompleteDaysMean>,
    width: usize,
) -> Line<'a> {
    let theme = view.theme;
    let today = view.now.date_naive();
    let incomplete = |bar: &ChartBar| bar.is_incomplete && bar.bar.totals.is_some();
    let so_far = match chart.bars.iter().find(|bar| incomplete(bar)) {
        Some(bar) if !bar.bar.range.contains(today) => Some("incomplete when loaded"),
        Some(_) if open.is_weekly() => Some("this week so far"),
        Some(_) => Some("today so far"),
        None => None,
    };
    let mut entries: Vec<(&str, Style, String)> = if chart.is_line() {
        vec![("⣀⠤", theme.text, "human and AI".to_owned())]
    } else {
        vec![("█", theme.human, "human".to_owned()), ("▒", theme.ai_fill(), "AI".to_owned())]
    };
    if open.shows_visitors {
        entries.iter_mut().for_each(|(.., text)| text.push_str(" visitors"));
    }
    entries.extend(so_far.filter(|_| !chart.is_line()).map(|text| ("╱╲", theme.muted, text.to_owned())));
    let mean = mean.map(|mean| mean_text(mean, open.range.days()));
    let weekend = weekend_sign("─", theme.muted, theme);
    let signs = [
        (chart.shows_previous(), "░", PREVIOUS_PERIOD_NAMES.0),
        (chart.bars.iter().any(ChartBar::is_invalid), "≠", "invalid"),
        (chart.bars.iter().any(|bar| bar.bar.totals.is_none()), "?", "not loaded"),
        (mean.is_some(), AVERAGE_SIGN, mean.as_deref().unwrap_or_default()),
        (chart.marks_weekends(), weekend.0, "weekend"),
    ];
    let signs = signs.into_iter().filter(|(is_shown, ..)| *is_shown);
    let style = |sign: &str| if sign == weekend.0 { weekend.1 } else { theme.muted };
    entries.extend(signs.map(|(_, sign, text)| (sign, style(sign), text.to_owned())));
    let fits = |entries: &[(&str, Style, String)]| {
        entries.iter().map(|(sign, _, text)| sign.width() + text.width() + 3).sum::<usize>() <= width + 2
    };
    if !fits(&entries) {
        for (sign, _, text) in &mut entries {
            match *sign {
                "╱╲" => "so far".clone_into(text),
                _ if text == PREVIOUS_PERIOD_NAMES.0 => PREVIOUS_PERIOD_NAMES.1.clone_into(text),
                _ => {}
            }
        }
    }
    if !fits(&entries) {
        let average = entries.iter_mut().find(|(sign, ..)| *sign == AVERAGE_SIGN);
        average.into_iter().for_each(|(.., text)| "average".clone_into(text));
    }
    let mut row = TextRow::new(width);
    for (sign, style, text) in entries {
        let gap = if row.used_cells() == 0 { "" } else { "  " };
        // Each entry is shown completely or not at all.
        if row.remaining_cells() > gap.width() + sign.width() + text.width() {
            row.push(gap, theme.muted).push(sign, style).push(" ", theme.muted).push(text, theme.muted);
        }
    }
    row.line()
}

/// Returns the mean per day. If it is not the mean of all days of the range, adds which days it is about.
fn mean_text(CompleteDaysMean { mean, known_days, complete_days }: CompleteDaysMean, all_days: u32) -> String {
    let days = if known_days < complete_days {
        format!(" ({known_days} of {complete_days} complete days loaded)")
    } else if complete_days < all_days {
        " (complete days)".to_owned()
    } else {
        String::new()
    };
    format!("average {}{days}", format_mean(mean))
}

/// Returns the line with the exact numbers of the selected bar. Leaves out parts that don't fit, the least important
/// first.
fn selected_bar_line<'a>(view: View<'_>, open: &TrendDialog, chart: &Chart, width: usize) -> Line<'a> {
    let theme = view.theme;
    let Some(ChartBar { bar, previous, .. }) = chart.bars.get(open.selected()) else { return Line::default() };
    let narrow = width < 60;
    let mut row = TextRow::new(width);
    row.push("▌", theme.mark).push(bar_dates_text(bar, view.now), theme.title);
    let incomplete = incomplete_text(open, bar, view.now);
    if !narrow {
        row.push(&incomplete, theme.warning);
    }
    let gap = if narrow { "  " } else { "   " };
    let Some(known) = &bar.totals else {
        row.push(gap, theme.muted).push("not loaded", theme.muted);
        return row.line();
    };
    let counts = &known.value;
    let mean_day =
        bar_height(counts).filter(|_| bar.range.days() > 1).map(|sum| mean_per_day(sum, bar.range, known.as_of));
    // The number of days so far may be left out, because the hatching also shows that the bar is incomplete.
    let over = if bar.is_incomplete(view.now) {
        format!(" ({:.1} days so far)", bar.range.elapsed_days(known.as_of))
    } else {
        String::new()
    };
    let share = counts.ai_share().map(|share| format!("{gap}AI share {:.0}%", share * 100.0));
    // The previous period is known per day, so a bar of several days has none.
    let previous = previous.filter(|_| bar.range.days() == 1);
    let previous = previous.map(|views| format!("{gap}previous period {}", format_views(views)));
    let mean = mean_day.map(|views| format!("{gap}{} a day", format_mean(views))).unwrap_or_default();
    let (human, ai, total) = (count_text(&counts.human), count_text(&counts.ai), count_text(&counts.total));
    let mismatch = mismatch_sign(counts);
    let sum = if bar.range.days() > 1 { "sum: " } else { "" };
    let forms = [
        format!("{gap}{sum}human {human}{gap}AI {ai}{gap}total {total}{mismatch}"),
        format!("{gap}{sum}human {human}{gap}AI {ai}{mismatch}"),
        format!("{gap}{sum}human {human} AI {ai}{mismatch}"),
        format!("{gap}human {human} AI {ai}{mismatch}"),
        format!("{gap}{human} + {ai} AI{mismatch}"),
    ];
    // A number that is cut off would be taken for a smaller one.
    let fits = |form: &&String| form.width() <= row.remaining_cells();
    let numbers = forms.iter().skip(if narrow { 2 } else { 0 }).find(fits).or(forms.last());
    row.push(numbers.map_or("", String::as_str), theme.text);
    let pieces = [
        (if narrow { short_incomplete_text(open, bar, view.now) } else { String::new() }, theme.warning),
        (mean, theme.text),
        (share.unwrap_or_default(), theme.text),
        (previous.unwrap_or_default(), theme.muted),
    ];
    for (piece, style) in pieces.into_iter().filter(|(piece, _)| !piece.is_empty()) {
        if row.remaining_cells() >= piece.width() {
            let over = if piece.ends_with(" a day") { over.as_str() } else { "" };
            row.push(&piece, style);
            row.push(if row.remaining_cells() >= over.width() { over } else { "" }, style);
        }
    }
    row.line()
}

fn bar_dates_text(bar: &TrendBar, now: Time) -> String {
    let day = bar.range.from();
    let dates = bar.range.format_dates(day.year() != now.year());
    if bar.range.days() == 1 { format!("{} {dates}", day.format("%a")) } else { dates }
}

/// Returns the shortest form of [`incomplete_text`].
fn short_incomplete_text(open: &TrendDialog, bar: &TrendBar, now: Time) -> String {
    if bar.is_incomplete(now) {
        " incomplete".to_owned()
    } else if open.is_weekly() && bar.range.days() < 7 {
        format!(" {}/7 days", bar.range.days())
    } else {
        String::new()
    }
}

/// Returns why the bar doesn't show a complete day or week, or an empty text if it does.
fn incomplete_text(open: &TrendDialog, bar: &TrendBar, now: Time) -> String {
    let today = bar.range.contains(now.date_naive());
    let late = if today {
        "today so far"
    } else if bar.is_incomplete(now) {
        "incomplete when loaded"
    } else {
        ""
    };
    match (open.is_weekly() && bar.range.days() < 7, late) {
        (true, "") => format!(" ({} of 7 days)", bar.range.days()),
        (true, late) => format!(" ({} of 7 days, {late})", bar.range.days()),
        (false, "") => String::new(),
        (false, late) => format!(", {late}"),
    }
}
