//! What is kept of page views: a range a line, how much of it, how old, and the site's totals.
//!
//! ```text
//! ┌ Kept here: 14 ranges, 3.1 MB; docdeck prune cuts it ─────────────────────────────┐
//! │ range                     days   pages             as of    human       AI       │
//! │▌2026-11-14 … 2026-11-20      7   1,200  complete      3m  128,402   61,220       │
//! │ 2026-11-07 … 2026-11-13      7     250  partial       5d  120,001   50,110       │
//! ```

use super::count_text;
use crate::app::format::{coarse, count, number, plural};
use crate::app::views::cached_ranges::CachedRanges;
use crate::model::load::Load;
use crate::model::report::{CachedViews, KnownRange};
use crate::ui::text::{TextRow, left, right};
use crate::ui::{View, boxed, more_below, put};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};

const RANGE: usize = 23;
const DAYS: usize = 6;
const PAGES: usize = 9;
const WHOLE: usize = 9;
const AGE: usize = 5;
const COUNT: usize = 12;

pub(in crate::ui) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &CachedRanges, area: Rect) {
    let theme = view.theme;
    let shown = open.kept.shown().map(|kept| &kept.value);
    let inner = boxed(frame, area, Line::styled(title(view, shown, usize::from(area.width)), theme.title), theme.focus);
    let width = usize::from(inner.width);
    let said = match (&open.kept, shown) {
        (Load::Failed { failure, .. }, None) => Some((failure.sentence.to_string(), theme.bad)),
        (_, None) => Some(("Looking…".to_owned(), theme.muted)),
        (_, Some(kept)) if kept.ranges.is_empty() => Some((nothing(view), theme.muted)),
        _ => None,
    };
    if let Some((text, style)) = said {
        let inside = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        frame.render_widget(Paragraph::new(Line::styled(text, style)).wrap(Wrap { trim: true }), inside);
        return;
    }
    put(frame, inner, 0, heads(view, width));
    let g = view.app.geometry();
    let (lines, rows) = (g.kept_lines(), g.kept_rows());
    for (n, (known, selected)) in open.visible(rows).enumerate() {
        put(frame, lines, n, line(view, known, selected, width));
    }
    more_below(frame, view, area, open.below(rows));
}

/// How many ranges and how much room they take; the way to cut it where there is room to say it. A demo's are not on
/// disk.
fn title(view: View<'_>, kept: Option<&CachedViews>, width: usize) -> String {
    let Some(kept) = kept.filter(|kept| !kept.ranges.is_empty()) else { return " Kept here ".to_owned() };
    let title = format!(" Kept here: {}, {}", plural(kept.ranges.len(), "range"), bytes(kept.bytes));
    let hint = if view.app.config.demo { ", as long as the demo runs" } else { "; docdeck prune cuts it" };
    let whole = title.chars().count() + hint.chars().count() + 3 <= width;
    format!("{title}{} ", if whole { hint } else { "" })
}

fn nothing(view: View<'_>) -> String {
    let rest = if view.app.config.demo { "as long as the demo runs" } else { "on this computer" };
    format!(
        "Nothing is kept yet. Every range whose pages are loaded with the key a is kept here, {rest}, so that it can \
         be shown and compared again without a request, also offline."
    )
}

/// Which columns have room.
fn has(column: usize, width: usize) -> bool {
    let needed = [RANGE + WHOLE + AGE, DAYS, PAGES, COUNT, COUNT, COUNT];
    needed.iter().take(column + 1).sum::<usize>() + 2 <= width
}

fn heads<'a>(view: View<'_>, width: usize) -> Line<'a> {
    let mut row = TextRow::new(width);
    let style = view.theme.muted;
    row.push(" ", style).push(left("range", RANGE), style);
    for (column, head, cells) in [(1, "days", DAYS), (2, "pages", PAGES)] {
        if has(column, width) {
            row.push(right(head, cells), style);
        }
    }
    row.push(left("", WHOLE), style).push(right("age", AGE), style);
    for (column, head) in [(3, "human"), (4, "AI"), (5, "total")] {
        if has(column, width) {
            row.push(right(head, COUNT), style);
        }
    }
    row.line()
}

fn line<'a>(view: View<'_>, known: &KnownRange, selected: bool, width: usize) -> Line<'a> {
    let View { theme, now, .. } = view;
    let text = if selected { theme.selected } else { theme.text };
    let mut row = TextRow::new(width);
    row.push(if selected { "▌" } else { " " }, theme.mark);
    row.push(left(&known.range.to_string(), RANGE), text);
    if has(1, width) {
        row.push(right(&number(known.range.days()), DAYS), text);
    }
    if has(2, width) {
        row.push(right(&number(known.rows), PAGES), text);
    }
    // Loaded before its last day was over, a range has more views by now.
    let is_over = known.as_of.date_naive() > known.range.to();
    let (whole, style): (&str, Style) = match (known.complete, is_over) {
        (false, _) => (" partial", theme.warning),
        (true, false) => (" so far", theme.text),
        (true, true) => (" complete", theme.muted),
    };
    row.push(left(whole, WHOLE), style).push(right(&coarse(now - known.as_of), AGE), theme.muted);
    for (column, counted) in [(3, &known.totals.human), (4, &known.totals.ai), (5, &known.totals.total)] {
        if has(column, width) {
            row.push(right(&count_text(counted), COUNT), text);
        }
    }
    row.line()
}

/// Bytes as people say them: `820 B`, `12 kB`, `3.1 MB`.
fn bytes(n: u64) -> String {
    match n {
        0..1000 => format!("{n} B"),
        1000..1_000_000 => format!("{} kB", n / 1000),
        _ => format!("{}.{} MB", count(usize::try_from(n / 1_000_000).unwrap_or(usize::MAX)), n % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_on_disk_is_said_in_the_unit_that_fits() {
        assert_eq!([0, 999, 1000, 12_999].map(bytes), ["0 B", "999 B", "1 kB", "12 kB"]);
        assert_eq!([3_149_000, 1_234_000_000].map(bytes), ["3.1 MB", "1,234.0 MB"]);
    }
}
