//! The dialog that lists the cached date ranges, with their page views and other reports, their age and their total
//! size on disk. Showing a cached range uses no requests.
//!
//! ```text
//! ─ Cached ranges ────────── 3.1 MB, `docdeck prune --all` empties the cache ─
//!  range, UTC               days    pages state     age       human  other reports
//! ▌14–20 Nov                   7    1,200 ongoing    3m     128,402  searches, questions
//!  7–13 Nov                    7        –             5d           –  feedback
//! ```

use crate::model::comparison::NotComparable;
use crate::model::file_size::format_size;
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::{CacheOverview, CachedPages, CachedRange};
use crate::tui::analytics::AnalyticsTab;
use crate::tui::component::prelude::*;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::rules::DialogFrame;
use crate::tui::format::{count_text, grouped_number, short_age, short_age_changes_at};
use crate::tui::geometry::{Geometry, inside_margin, without_top_rows};
use crate::tui::views::range_line::{short_range, unfinished_state};
use crate::tui::widgets::list_state::ListState;
use crate::tui::widgets::table::{Column, ListCell, ListRow, Table, TableCell};
use crate::tui::{ViewsEffect, ViewsMsg};
use ratatui::widgets::{Paragraph, Wrap};

#[derive(Debug)]
pub struct CachedRanges {
    pub overview: Load<CacheOverview>,
    pub list: ListState,
}

impl CachedRanges {
    /// Opens the dialog and starts reading the list of cached ranges.
    pub fn open(cx: &mut Cx<'_>) {
        cx.open(Self { overview: Load::Loading { previous: None }, list: ListState::default() });
        cx.run(Effect::Views(ViewsEffect::ListCachedRanges));
    }

    fn ranges(&self) -> &[CachedRange] {
        self.overview.shown().map_or(&[], |cached| &cached.value.ranges)
    }

    pub fn selected(&self) -> Option<&CachedRange> {
        self.ranges().get(self.list.selected())
    }

    /// Returns the ranges that are visible in `rows` rows. The `bool` is true for the selected range.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = (&CachedRange, bool)> {
        self.list.visible(self.ranges().iter(), rows)
    }
}

/// Returns the area of the list, below its column headings.
fn range_list_area(g: Geometry) -> Rect {
    without_top_rows(g.content, 1)
}

/// Returns how many ranges the list can show at once, at least one.
fn visible_row_count(g: Geometry) -> usize {
    usize::from(range_list_area(g).height).max(1)
}

impl CachedRanges {
    fn selected_range(&self) -> Option<DateRange> {
        Some(self.selected()?.range)
    }

    /// Shows the selected range in a tab that has cached data of this range.
    fn show(&self, cx: &mut Cx<'_>) -> Flow {
        let Some(known) = self.selected() else { return Flow::Handled };
        cx.app.show_cached_tab(known);
        cx.effects.extend(cx.app.views.set_custom_range(known.range));
        Flow::Close
    }

    /// Compares the range on screen with the selected range. If they are the same, shows a notice instead.
    fn compare(&self, cx: &mut Cx<'_>) -> Flow {
        let Some(range) = self.selected_range() else { return Flow::Handled };
        if range == cx.app.views.query().range {
            cx.notify(Severity::Info, &NotComparable::SameDays.to_string());
            return Flow::Handled;
        }
        cx.app.compare_tab_with(range, cx.now, cx.effects);
        Flow::Close
    }
}

impl Component for CachedRanges {
    fn contexts(&self) -> &'static [Context] {
        &[Context::CachedRanges, Context::Lists, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        FooterLabel::default_if(match action {
            Action::Confirm => self.selected().is_some(),
            Action::CompareWith => {
                let tab = app.analytics.tab;
                tab != AnalyticsTab::NeedsWork && self.selected().is_some_and(|known| tab.can_show_cached(known))
            }
            _ => true,
        })
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Confirm => self.show(cx),
            Action::CompareWith => self.compare(cx),
            _ => Flow::Unhandled,
        }
    }

    fn list(&mut self, app: &App) -> Option<(&mut ListState, Rect)> {
        Some((&mut self.list, range_list_area(app.geometry())))
    }

    /// Shows the list of cached ranges, or why it can't be read.
    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        let Msg::Views(ViewsMsg::CachedRangesListed(result)) = msg else { return Err(msg) };
        self.overview.finish(result.map(|value| Timed { value, as_of: cx.now }), cx.now);
        self.list.set_len(self.ranges().len());
        Ok(Flow::Handled)
    }

    /// Returns the next time at which one of the visible ages changes.
    fn next_timer(&self, app: &App, now: Time) -> Option<Time> {
        let visible = self.visible(visible_row_count(app.geometry()));
        visible.map(|(known, _)| short_age_changes_at(known.as_of, now)).min()
    }

    fn position_text(&self, app: &App) -> String {
        self.list.position_text(visible_row_count(app.geometry()))
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let g = view.app.geometry();
        let theme = view.theme;
        let shown = self.overview.shown().map(|cached| &cached.value);
        let note = Line::styled(size_text(view, shown), theme.muted);
        let inner =
            DialogFrame { upper_right: note, ..DialogFrame::new(view, "Cached ranges") }.draw(frame, view, self);
        let width = usize::from(inner.width);
        let text = match (&self.overview, shown) {
            (Load::Failed { failure, .. }, None) => Some((failure.message.to_string(), theme.bad)),
            (_, None) => Some(("Loading…".to_owned(), theme.muted)),
            (_, Some(cached)) if cached.ranges.is_empty() => Some((no_ranges_text(view), theme.muted)),
            _ => None,
        };
        if let Some((text, style)) = text {
            let text = Paragraph::new(Line::styled(text, style)).wrap(Wrap { trim: true });
            frame.render_widget(text, inside_margin(inner));
            return;
        }
        let table = range_table(width);
        draw_line(frame, inner, 0, table.headings(theme.muted));
        let lines = range_list_area(g);
        let rows = usize::from(lines.height).max(1);
        for (n, (range, is_selected)) in self.visible(rows).enumerate() {
            draw_line(frame, lines, n, table.row(view, range, is_selected));
        }
    }
}

/// Returns the size of the cached ranges; empty if there are no ranges. On a wide screen, adds how to free the space
/// or, in the demo, that the ranges are deleted when the demo ends.
fn size_text(view: View<'_>, cached: Option<&CacheOverview>) -> String {
    let Some(cached) = cached.filter(|cached| !cached.ranges.is_empty()) else { return String::new() };
    let size = format_size(cached.bytes);
    let hint = match view.app.config.is_demo {
        true => "deleted when the demo ends",
        false => "`docdeck prune --all` empties the cache",
    };
    let is_narrow = view.app.size.0 < 80;
    if is_narrow { size } else { format!("{size}, {hint}") }
}

fn no_ranges_text(view: View<'_>) -> String {
    let rest = if view.app.config.is_demo { "until the demo ends" } else { "on this computer" };
    format!(
        "No cached ranges yet. Load all rows of a range ({} on an analytics tab) to cache it {rest}; you can then show \
         and compare it without requests, even offline.",
        view.app.key_label(Context::Views, Action::LoadAll)
    )
}

fn range_table(width: usize) -> Table<ListCell<CachedRange>> {
    type C = Column<ListCell<CachedRange>>;
    let columns = [
        C::left_aligned("", 1, |row, _| row.selection_mark()),
        C::left_aligned("range, UTC", 23, |row, _| row.cell(short_range(row.item.range, row.view.now))),
        C::right_aligned("days", 6, |row, _| row.cell(grouped_number(row.item.range.days()))).optional(1),
        C::right_aligned("pages", 9, |row, _| pages_cell(row, |pages| grouped_number(pages.rows))).optional(2),
        C::left_aligned(" state", 9, completeness_cell).with_gap_before(1),
        C::right_aligned("age", 5, |row, _| row.muted_cell(short_age(row.view.now - row.item.as_of))),
        C::right_aligned("human", 12, |row, _| pages_cell(row, |pages| count_text(&pages.totals.human))).optional(4),
        C::right_aligned("AI", 12, |row, _| pages_cell(row, |pages| count_text(&pages.totals.ai))).optional(5),
        C::right_aligned("total", 12, |row, _| pages_cell(row, |pages| count_text(&pages.totals.total))).optional(6),
        C::flexible("other reports", 22, |row, _| row.muted_cell(report_names(row.item)))
            .with_gap_before(2)
            .optional(3),
        // One cell at the right stays blank.
        C::left_aligned("", 1, |row, _| row.cell("")),
    ];
    Table::new(columns, width)
}

/// Returns the cell about the page views of a range; `–` if they are not cached.
fn pages_cell<'a>(row: &ListRow<'a, CachedRange>, text: impl FnOnce(&CachedPages) -> String) -> TableCell<'a> {
    row.item.views.as_ref().map_or_else(|| row.muted_cell("–"), |pages| row.cell(text(pages)))
}

fn report_names(known: &CachedRange) -> String {
    known.reports.iter().map(|kind| kind.label()).collect::<Vec<_>>().join(", ")
}

fn completeness_cell<'a>(row: &ListRow<'a, CachedRange>, _width: usize) -> TableCell<'a> {
    let theme = row.view.theme;
    let Some(views) = &row.item.views else { return row.cell("") };
    match unfinished_state(row.item.range, row.item.as_of, row.view.now) {
        _ if !views.complete => TableCell::new(" partial", theme.warning),
        Some(state) => TableCell::new(format!(" {state}"), theme.text),
        None => TableCell::new(" complete", theme.muted),
    }
}
