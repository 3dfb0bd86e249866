//! Draws the cached ranges of page views: for each range the number of cached pages, their age, and the site's totals.
//!
//! ```text
//! ┌ Cached: 14 ranges, 3.1 MB; docdeck prune frees space ────────────────────────────┐
//! │ range                     days   pages               age    human       AI       │
//! │▌2026-11-14 … 2026-11-20      7   1,200  complete      3m  128,402   61,220       │
//! │ 2026-11-07 … 2026-11-13      7     250  partial       5d  120,001   50,110       │
//! ```

use super::count_text;
use crate::model::file_size::format_size;
use crate::model::load::Load;
use crate::model::report::{CachedRange, CachedViews};
use crate::tui::draw::text::{TextRow, left, right};
use crate::tui::draw::{View, draw_box, draw_line, draw_more_below};
use crate::tui::format::{grouped_number, plural, short_age};
use crate::tui::keymap::{Action, Context};
use crate::tui::views::cached_ranges::CachedRanges;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};

// Widths of the columns, in cells.
const RANGE_CELLS: usize = 23;
const DAYS_CELLS: usize = 6;
const PAGES_CELLS: usize = 9;
const COMPLETENESS_CELLS: usize = 9;
const AGE_CELLS: usize = 5;
const COUNT_CELLS: usize = 12;

pub(in crate::tui::draw) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &CachedRanges, area: Rect) {
    let theme = view.theme;
    let shown = open.cached.shown().map(|cached| &cached.value);
    let inner = draw_box(
        frame,
        area,
        Line::styled(cached_ranges_title(view, shown, usize::from(area.width)), theme.title),
        theme.focus,
    );
    let width = usize::from(inner.width);
    let text = match (&open.cached, shown) {
        (Load::Failed { failure, .. }, None) => Some((failure.message.to_string(), theme.bad)),
        (_, None) => Some(("Loading…".to_owned(), theme.muted)),
        (_, Some(cached)) if cached.ranges.is_empty() => Some((no_ranges_text(view), theme.muted)),
        _ => None,
    };
    if let Some((text, style)) = text {
        let inside = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        frame.render_widget(Paragraph::new(Line::styled(text, style)).wrap(Wrap { trim: true }), inside);
        return;
    }
    draw_line(frame, inner, 0, cached_range_heads(view, width));
    let g = view.app.geometry();
    let (lines, rows) = (g.cached_lines(), g.cached_rows());
    for (n, (known, selected)) in open.visible(rows).enumerate() {
        draw_line(frame, lines, n, cached_range_line(view, known, selected, width));
    }
    draw_more_below(frame, view, area, open.list.hidden_below(rows));
}

/// Returns the title: the number of cached ranges and their size and, if it fits, how to free the space. The demo keeps
/// its ranges only in memory, until it ends.
fn cached_ranges_title(view: View<'_>, cached: Option<&CachedViews>, width: usize) -> String {
    let Some(cached) = cached.filter(|cached| !cached.ranges.is_empty()) else { return " Cached ranges ".to_owned() };
    let title = format!(" Cached: {}, {}", plural(cached.ranges.len(), "range"), format_size(cached.bytes));
    let hint = if view.app.config.is_demo { ", until the demo ends" } else { "; docdeck prune frees space" };
    let fits = title.chars().count() + hint.chars().count() + 3 <= width;
    format!("{title}{} ", if fits { hint } else { "" })
}

fn no_ranges_text(view: View<'_>) -> String {
    let rest = if view.app.config.is_demo { "until the demo ends" } else { "on this computer" };
    format!(
        "No cached ranges yet. To cache a range {rest}, press {} in the page views; you can then show and compare it \
         without requests, even offline.",
        view.app.key_label(Context::Views, Action::LoadAll)
    )
}

/// Whether the table has space for this column, counted from 0.
fn fits_column(column: usize, width: usize) -> bool {
    let needed =
        [RANGE_CELLS + COMPLETENESS_CELLS + AGE_CELLS, DAYS_CELLS, PAGES_CELLS, COUNT_CELLS, COUNT_CELLS, COUNT_CELLS];
    needed.iter().take(column + 1).sum::<usize>() + 2 <= width
}

fn cached_range_heads<'a>(view: View<'_>, width: usize) -> Line<'a> {
    let mut row = TextRow::new(width);
    let style = view.theme.muted;
    row.push(" ", style).push(left("range", RANGE_CELLS), style);
    for (column, head, cells) in [(1, "days", DAYS_CELLS), (2, "pages", PAGES_CELLS)] {
        if fits_column(column, width) {
            row.push(right(head, cells), style);
        }
    }
    row.push(left("", COMPLETENESS_CELLS), style).push(right("age", AGE_CELLS), style);
    for (column, head) in [(3, "human"), (4, "AI"), (5, "total")] {
        if fits_column(column, width) {
            row.push(right(head, COUNT_CELLS), style);
        }
    }
    row.line()
}

fn cached_range_line<'a>(view: View<'_>, known: &CachedRange, selected: bool, width: usize) -> Line<'a> {
    let View { theme, now, .. } = view;
    let text = if selected { theme.selected } else { theme.text };
    let mut row = TextRow::new(width);
    row.push(if selected { "▌" } else { " " }, theme.mark);
    row.push(left(&known.range.to_string(), RANGE_CELLS), text);
    if fits_column(1, width) {
        row.push(right(&grouped_number(known.range.days()), DAYS_CELLS), text);
    }
    if fits_column(2, width) {
        row.push(right(&grouped_number(known.rows), PAGES_CELLS), text);
    }
    // If a range was loaded before its last day was over, it has more views by now.
    let is_over = known.as_of.date_naive() > known.range.to();
    let (completeness, style): (&str, Style) = match (known.complete, is_over) {
        (false, _) => (" partial", theme.warning),
        (true, false) => (" to date", theme.text),
        (true, true) => (" complete", theme.muted),
    };
    row.push(left(completeness, COMPLETENESS_CELLS), style)
        .push(right(&short_age(now - known.as_of), AGE_CELLS), theme.muted);
    for (column, counted) in [(3, &known.totals.human), (4, &known.totals.ai), (5, &known.totals.total)] {
        if fits_column(column, width) {
            row.push(right(&count_text(counted), COUNT_CELLS), text);
        }
    }
    row.line()
}
