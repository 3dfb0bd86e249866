//! The dialog that lists the cached date ranges of page views, with their age and their total size on disk. Showing a
//! cached range uses no requests.
//!
//! ```text
//! ┌ Cached: 14 ranges, 3.1 MB; docdeck prune frees space ────────────────────────────┐
//! │ range                     days   pages               age    human       AI       │
//! │▌2026-11-14 … 2026-11-20      7   1,200  complete      3m  128,402   61,220       │
//! │ 2026-11-07 … 2026-11-13      7     250  partial       5d  120,001   50,110       │
//! ```

use crate::model::comparison::NotComparable;
use crate::model::file_size::format_size;
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::{CachedRange, CachedViews};
use crate::tui::component::prelude::*;
use crate::tui::draw::text::{TextRow, left, right};
use crate::tui::draw::{draw_box, draw_line, draw_more_below};
use crate::tui::format::{grouped_number, plural, short_age, short_age_changes_at};
use crate::tui::geometry::{Geometry, inner_area_below};
use crate::tui::list_state::ListState;
use crate::tui::views::draw::count_text;
use ratatui::style::Style;
use ratatui::widgets::{Paragraph, Wrap};

// Widths of the columns, in cells.
const RANGE_CELLS: usize = 23;
const DAYS_CELLS: usize = 6;
const PAGES_CELLS: usize = 9;
const COMPLETENESS_CELLS: usize = 9;
const AGE_CELLS: usize = 5;
const COUNT_CELLS: usize = 12;

#[derive(Debug)]
pub struct CachedRanges {
    pub cached: Load<CachedViews>,
    pub list: ListState,
}

impl CachedRanges {
    /// Opens the dialog and starts reading the list of cached ranges.
    pub fn open(cx: &mut Cx<'_>) {
        cx.open(Self { cached: Load::Loading { before: None }, list: ListState::default() });
        cx.run(Effect::ListCachedRanges);
    }

    fn ranges(&self) -> &[CachedRange] {
        self.cached.shown().map_or(&[], |cached| &cached.value.ranges)
    }

    /// Returns the selected range.
    pub fn selected(&self) -> Option<&CachedRange> {
        self.ranges().get(self.list.selected())
    }

    /// Returns the ranges that are visible in `rows` rows. The `bool` says whether the range is selected.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = (&CachedRange, bool)> {
        self.list.visible(self.ranges().iter(), rows)
    }
}

/// Returns the area of the list, below its column headings.
fn range_lines(g: Geometry) -> Rect {
    inner_area_below(g.full_dialog(), 1)
}

/// Returns the number of rows of the list, at least one.
fn row_count(g: Geometry) -> usize {
    usize::from(range_lines(g).height).max(1)
}

impl CachedRanges {
    fn selected_range(&self) -> Option<DateRange> {
        Some(self.selected()?.range)
    }

    /// Shows the page views of the selected range.
    fn show(&self, cx: &mut Cx<'_>) -> Flow {
        let Some(range) = self.selected_range() else { return Flow::Handled };
        cx.effects.extend(cx.app.views.set_custom_range(range));
        Flow::Close
    }

    /// Compares the range on screen with the selected range.
    fn compare(&self, cx: &mut Cx<'_>) -> Flow {
        let Some(range) = self.selected_range() else { return Flow::Handled };
        if range == cx.app.views.query().range {
            cx.notify(Severity::Info, &NotComparable::SameDays.to_string());
            return Flow::Handled;
        }
        cx.app.compare_with(range, cx.now, cx.effects);
        Flow::Close
    }
}

impl Component for CachedRanges {
    fn context(&self) -> Context {
        Context::CachedRanges
    }

    fn offers(&self, action: Action, _app: &App) -> Option<Label> {
        let needs_selection = matches!(action, Action::Confirm | Action::CompareWith);
        Label::default_if(!needs_selection || self.selected().is_some())
    }

    fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Confirm => self.show(cx),
            Action::CompareWith => self.compare(cx),
            _ => Flow::Pass,
        }
    }

    fn list(&mut self, app: &App) -> Option<(&mut ListState, Rect)> {
        Some((&mut self.list, range_lines(app.geometry())))
    }

    /// Shows the list of cached ranges, or why it can't be read.
    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        let Msg::CachedRanges(result) = msg else { return Err(msg) };
        self.cached.finish(result.map(|value| Timed { value, as_of: cx.now }), cx.now);
        self.list.set_len(self.ranges().len());
        Ok(Flow::Handled)
    }

    /// Returns when one of the visible ages changes.
    fn next_timer(&self, app: &App, now: Time) -> Option<Time> {
        let visible = self.visible(row_count(app.geometry()));
        visible.map(|(known, _)| short_age_changes_at(known.as_of, now)).min()
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let g = view.app.geometry();
        let area = g.full_dialog();
        let theme = view.theme;
        let shown = self.cached.shown().map(|cached| &cached.value);
        let inner = draw_box(
            frame,
            area,
            Line::styled(cached_ranges_title(view, shown, usize::from(area.width)), theme.title),
            theme.focus,
        );
        let width = usize::from(inner.width);
        let text = match (&self.cached, shown) {
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
        let lines = range_lines(g);
        let rows = usize::from(lines.height).max(1);
        for (n, (known, selected)) in self.visible(rows).enumerate() {
            draw_line(frame, lines, n, cached_range_line(view, known, selected, width));
        }
        draw_more_below(frame, view, area, self.list.hidden_below(rows));
    }
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
