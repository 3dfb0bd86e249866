//! Movers: the pages that gained or lost the most views between two ranges, by human, AI or all views. Computed when
//! the dialog opens and when its metric changes, not when it is drawn.

mod draw;

use super::page_detail::PageDetail;
use super::table::{Metric, PageColumn, PageSorting};
use crate::model::comparison::{ComparedRanges, Comparison, ViewsChange};
use crate::model::period::DateRange;
use crate::model::report::Report;
use crate::model::text::CleanText;
use crate::model::views::{Counts, DecimalCount};
use crate::tui::component::prelude::*;
use crate::tui::format::position_text;
use crate::tui::geometry::{Geometry, without_top_rows};
use crate::tui::widgets::list_state::{ClickedRow, ListState};
use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

/// Maximum number of pages in each half of the dialog.
const MAX_PAGES_PER_HALF: usize = 250;
/// The minimum height of the dialog with a blank row between halves that are one above the other.
const MIN_ROWS_WITH_BLANK: u16 = 18;
/// The minimum width of the dialog at which the halves are side by side, each with bars.
const MIN_WIDTH_SIDE_BY_SIDE: u16 = 144;
/// The number of rows above the pages of each half: its title and the headings.
const HEADING_ROWS: u16 = 2;

/// The metric that movers are ranked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoverMetric {
    Human,
    Ai,
    Total,
}

impl MoverMetric {
    /// Returns the name on the screen.
    pub fn name(self) -> &'static str {
        self.metric().name()
    }

    fn metric(self) -> Metric {
        match self {
            Self::Human => Metric::Human,
            Self::Ai => Metric::Ai,
            Self::Total => Metric::Total,
        }
    }

    /// Returns the metric that corresponds to the column by which the pages are sorted. If they are sorted by path,
    /// returns the metric that corresponds to the metric of the bars.
    fn of(sorting: PageSorting, bars: Metric) -> Self {
        let sorted_by = match sorting.by {
            PageColumn::Value(metric) | PageColumn::Change(metric) => metric,
            PageColumn::Path => bars,
        };
        match sorted_by {
            Metric::Human | Metric::HumanVisitors => Self::Human,
            Metric::Ai | Metric::AiVisitors | Metric::Share => Self::Ai,
            Metric::Total | Metric::Visitors => Self::Total,
        }
    }

    fn next(self) -> Self {
        match self {
            Self::Human => Self::Ai,
            Self::Ai => Self::Total,
            Self::Total => Self::Human,
        }
    }

    fn views_in(self, counts: &Counts) -> Option<DecimalCount> {
        self.metric().count(counts)?.value()
    }
}

/// A page whose views changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mover {
    pub path: CleanText,
    /// Views in the previous range, per day if the ranges differ in length. `None` if the page is new: it is not among
    /// the pages of that range.
    pub previous: Option<DecimalCount>,
    /// Views in the current range, per day if the ranges differ in length. `None` if the page is gone: it is not among
    /// the pages of that range.
    pub current: Option<DecimalCount>,
    /// How far human and AI views moved in the direction of the change; 0 for views that moved in the other direction.
    pub human_and_ai_contributions: (DecimalCount, DecimalCount),
}

impl Mover {
    pub fn delta(&self) -> DecimalCount {
        self.current.unwrap_or_default() - self.previous.unwrap_or_default()
    }

    fn change(&self) -> ViewsChange {
        match (self.previous, self.current) {
            (Some(previous), Some(current)) => ViewsChange::InBoth { current, previous },
            (None, current) => ViewsChange::New(current.unwrap_or_default()),
            (Some(previous), None) => ViewsChange::Gone(previous),
        }
    }
}

/// One half of the dialog: the pages that gained views, or the pages that lost views.
#[derive(Debug, Default)]
pub struct MoversHalf {
    movers: Vec<Mover>,
    /// The number of all pages that belong in this half, including pages beyond [`MAX_PAGES_PER_HALF`].
    page_count: usize,
    pub list: ListState,
}

impl MoversHalf {
    pub fn len(&self) -> usize {
        self.movers.len()
    }

    pub fn page_count(&self) -> usize {
        self.page_count
    }

    pub fn is_empty(&self) -> bool {
        self.movers.is_empty()
    }

    /// Returns the visible pages. The `bool` is true for the selected page.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = (&Mover, bool)> {
        self.list.visible(self.movers.iter(), rows)
    }

    /// Returns the largest change, which is the change of the first page.
    pub fn largest_change(&self) -> DecimalCount {
        self.movers.first().map(|mover| mover.delta().abs()).unwrap_or_default()
    }

    /// Returns all view counts of the listed pages, in the previous and in the current range.
    pub fn view_counts(&self) -> impl Iterator<Item = DecimalCount> {
        self.movers.iter().flat_map(|mover| [mover.previous, mover.current]).flatten()
    }
}

/// A page whose views changed, not yet sorted into the increases or the decreases.
struct PageChange {
    delta: DecimalCount,
    previous: Option<DecimalCount>,
    current: Option<DecimalCount>,
    pair: PageIndexPair,
}

/// Row indexes of one page in the previous and in the current report; `None` for a report that doesn't list the page.
type PageIndexPair = (Option<usize>, Option<usize>);

#[derive(Debug)]
pub struct Movers {
    pub metric: MoverMetric,
    pub gained: MoversHalf,
    pub lost: MoversHalf,
    /// Whether the half with the pages that lost views has the focus.
    pub is_lost_half_focused: bool,
    /// Number of pages that are left out because their views in one of the ranges are not a valid count.
    pub pages_without_counts: usize,
    comparison: Comparison,
    /// The range on screen. Only its complete days are compared.
    shown_range: DateRange,
    /// The row indexes of every page that both reports list, or that is known to be missing from one of them.
    pairs: Vec<PageIndexPair>,
}

/// Pairs the pages of two reports by path. A page that a partial report lacks is left out, because it may not be loaded
/// yet.
fn pair_pages(previous: &Report, current: &Report) -> Vec<PageIndexPair> {
    let mut others: HashMap<&str, usize> =
        previous.rows.iter().enumerate().map(|(index, row)| (row.path.as_str(), index)).collect();
    let mut pairs = Vec::with_capacity(current.rows.len());
    for (index, row) in current.rows.iter().enumerate() {
        match others.remove(row.path.as_str()) {
            Some(other) => pairs.push((Some(other), Some(index))),
            None if previous.complete => pairs.push((None, Some(index))),
            None => {}
        }
    }
    if current.complete {
        pairs.extend(others.into_values().map(|index| (Some(index), None)));
    }
    pairs
}

impl Movers {
    pub fn new(comparison: Comparison, shown_range: DateRange, by: MoverMetric) -> Self {
        let pairs = pair_pages(&comparison.previous, &comparison.current);
        let (gained, lost) = (MoversHalf::default(), MoversHalf::default());
        let mut movers = Self {
            metric: by,
            gained,
            lost,
            is_lost_half_focused: false,
            pages_without_counts: 0,
            comparison,
            shown_range,
            pairs,
        };
        movers.rank_by(by);
        movers
    }

    /// Returns the compared ranges.
    pub fn ranges(&self) -> ComparedRanges {
        self.comparison.ranges()
    }

    /// Returns the label of the comparison, such as `complete days, 16–21 Nov vs 9–14 Nov`.
    pub fn label(&self) -> String {
        self.ranges().label(self.shown_range)
    }

    /// Whether one of the reports is partial, so that the views of more pages may have changed.
    pub fn is_partial(&self) -> bool {
        !self.comparison.current.complete || !self.comparison.previous.complete
    }

    /// Recomputes both halves by another metric.
    fn rank_by(&mut self, by: MoverMetric) {
        let (ranges, Comparison { current, previous }) = (self.ranges(), &self.comparison);
        let count = |report: &Report, index: Option<usize>| match index.and_then(|index| report.rows.get(index)) {
            Some(row) => by.views_in(&row.counts).map(Some),
            None => Some(None),
        };
        let (mut gained, mut lost, mut without_counts) = (Vec::new(), Vec::new(), 0);
        for &pair in &self.pairs {
            let (Some(previous_views), Some(current_views)) = (count(previous, pair.0), count(current, pair.1)) else {
                without_counts += 1;
                continue;
            };
            let previous_views = previous_views.map(|views| ranges.comparable_previous(views));
            let current_views = current_views.map(|views| ranges.comparable_current(views));
            let delta = current_views.unwrap_or_default() - previous_views.unwrap_or_default();
            let moved = PageChange { delta, previous: previous_views, current: current_views, pair };
            match delta.cmp(&DecimalCount::ZERO) {
                Ordering::Greater => gained.push(moved),
                Ordering::Less => lost.push(moved),
                Ordering::Equal => {}
            }
        }
        (self.gained, self.lost) = (self.top_movers(gained), self.top_movers(lost));
        (self.metric, self.pages_without_counts) = (by, without_counts);
        self.is_lost_half_focused = self.gained.is_empty() && !self.lost.is_empty();
    }

    /// Returns the pages whose views changed the most, starting with the largest change. Pages with equal changes are
    /// sorted by path.
    fn top_movers(&self, mut moved: Vec<PageChange>) -> MoversHalf {
        let total = moved.len();
        if total > MAX_PAGES_PER_HALF {
            moved.select_nth_unstable_by_key(MAX_PAGES_PER_HALF, |moved| Reverse(moved.delta.abs()));
            moved.truncate(MAX_PAGES_PER_HALF);
        }
        let Comparison { current, previous } = &self.comparison;
        let row = |report: &Report, index: Option<usize>| report.rows.get(index?).map(|row| row.path.clone());
        let movers = moved.into_iter().filter_map(|moved| {
            let path = row(current, moved.pair.1).or_else(|| row(previous, moved.pair.0))?;
            let change = |metric| self.change_of(moved.pair, metric);
            let towards = |by: DecimalCount| {
                let by = if moved.delta < DecimalCount::ZERO { DecimalCount::ZERO - by } else { by };
                by.max(DecimalCount::ZERO)
            };
            let human_and_ai_contributions = (towards(change(MoverMetric::Human)), towards(change(MoverMetric::Ai)));
            Some(Mover { path, previous: moved.previous, current: moved.current, human_and_ai_contributions })
        });
        let mut movers: Vec<Mover> = movers.collect();
        movers.sort_by(|a, b| {
            let by_size = b.delta().abs().cmp(&a.delta().abs());
            by_size.then_with(|| a.path.as_str().cmp(b.path.as_str()))
        });
        MoversHalf { list: ListState::new(movers.len(), 0), movers, page_count: total }
    }

    /// Returns the views of a page in the current range minus those in the previous range. A number that is not a valid
    /// count is treated as 0.
    fn change_of(&self, (previous, current): PageIndexPair, metric: MoverMetric) -> DecimalCount {
        let views = |report: &Report, index: Option<usize>| {
            index.and_then(|index| metric.views_in(&report.rows.get(index)?.counts)).unwrap_or_default()
        };
        let ranges = self.ranges();
        let previous = ranges.comparable_previous(views(&self.comparison.previous, previous));
        ranges.comparable_current(views(&self.comparison.current, current)) - previous
    }

    fn focused_half(&self) -> &MoversHalf {
        if self.is_lost_half_focused { &self.lost } else { &self.gained }
    }

    pub fn selected(&self) -> Option<&Mover> {
        self.focused_half().movers.get(self.focused_half().list.selected())
    }

    /// Moves the selection of the focused half.
    fn move_by(&mut self, by: Scroll, layout: &MoversLayout) {
        let (half, rows) = if self.is_lost_half_focused {
            (&mut self.lost, layout.row_count(1))
        } else {
            (&mut self.gained, layout.row_count(0))
        };
        half.list.scroll(by, rows);
    }

    /// Opens the movers, or explains that they need a comparison.
    pub fn open(cx: &mut Cx<'_>) {
        let table = &cx.app.views.table;
        let (Some(comparison), Some(listed)) = (table.comparison(), table.report()) else {
            let key = |action| cx.app.key_label(Context::Views, action);
            let (previous, any) = (key(Action::Compare), key(Action::CompareWith));
            let text = format!(
                "Largest changes need a comparison: {previous} compares with the previous period, {any} with any range."
            );
            return cx.notify(Severity::Info, &text);
        };
        cx.open(Self::new(comparison.clone(), listed.range, MoverMetric::of(table.sorting(), table.metric())));
    }

    /// Opens the details of the selected page.
    fn open_selected(&self, cx: &mut Cx<'_>) {
        if let Some(mover) = self.selected() {
            PageDetail::open(mover.path.clone(), cx);
        }
    }
}

/// The areas of the dialog.
pub(in crate::tui) struct MoversLayout {
    /// The half with the pages that gained views and the half with the pages that lost views, including their headings.
    pub halves: [Rect; 2],
}

impl MoversLayout {
    /// Places the two halves of the dialog side by side on a wide screen, otherwise one above the other.
    pub(in crate::tui) fn of(g: Geometry) -> Self {
        let is_wide = g.body.width >= MIN_WIDTH_SIDE_BY_SIDE;
        let inner = g.content;
        let halves = if is_wide {
            let left = inner.width / 2;
            [Rect { width: left, ..inner }, Rect { x: inner.x + left + 1, width: inner.width - left - 1, ..inner }]
        } else {
            let gap = u16::from(inner.height >= MIN_ROWS_WITH_BLANK);
            let upper = (inner.height.saturating_sub(gap) / 2).max(1).min(inner.height);
            [Rect { height: upper, ..inner }, without_top_rows(inner, upper + gap)]
        };
        Self { halves }
    }

    /// Returns the number of pages of a half that fit below its headings.
    fn row_count(&self, half: usize) -> usize {
        self.halves.get(half).map_or(0, |area| usize::from(without_top_rows(*area, HEADING_ROWS).height))
    }
}

impl Component for Movers {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Movers, Context::Lists, Context::Everywhere]
    }

    fn fills_screen(&self) -> bool {
        true
    }

    fn footer_label(&self, action: Action, _app: &App) -> Option<FooterLabel> {
        match action {
            Action::NextPane => Some(if self.is_lost_half_focused { "increases" } else { "decreases" }.into()),
            action => FooterLabel::default_if(action != Action::Open || self.selected().is_some()),
        }
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Open => self.open_selected(cx),
            Action::NextPane => self.is_lost_half_focused = !self.is_lost_half_focused,
            Action::Metric => self.rank_by(self.metric.next()),
            _ => return Flow::Unhandled,
        }
        Flow::Handled
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        self.move_by(by, &MoversLayout::of(cx.app.geometry()));
    }

    /// Focuses the clicked half and selects the clicked page, or opens it if it was already selected.
    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        let layout = MoversLayout::of(cx.app.geometry());
        for (area, is_lost) in layout.halves.into_iter().zip([false, true]).filter(|(area, _)| area.contains(at)) {
            let had_focus = self.is_lost_half_focused == is_lost;
            self.is_lost_half_focused = is_lost;
            let half = if is_lost { &mut self.lost } else { &mut self.gained };
            if half.list.click(without_top_rows(area, HEADING_ROWS), at) == Some(ClickedRow::AlreadySelected)
                && had_focus
            {
                self.open_selected(cx);
            }
        }
        Flow::Handled
    }

    /// Scrolls the half at the position, which need not have the focus.
    fn scroll_with_wheel(&mut self, at: Position, by: isize, cx: &mut Cx<'_>) {
        let layout = MoversLayout::of(cx.app.geometry());
        for (half, area) in [&mut self.gained, &mut self.lost].into_iter().zip(layout.halves) {
            if area.contains(at) {
                half.list.scroll(Scroll::By(by), usize::from(without_top_rows(area, HEADING_ROWS).height));
            }
        }
    }

    fn refresh(&mut self, app: &App) {
        let layout = MoversLayout::of(app.geometry());
        self.gained.list.keep_selected_visible(layout.row_count(0));
        self.lost.list.keep_selected_visible(layout.row_count(1));
    }

    fn position_text(&self, app: &App) -> String {
        let half = self.focused_half();
        let rows = MoversLayout::of(app.geometry()).row_count(usize::from(self.is_lost_half_focused));
        if half.is_empty() {
            return String::new();
        }
        position_text(half.list.selected(), half.len(), half.list.hidden_below(rows))
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        draw::draw(frame, view, self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::views::Count;
    use crate::model::views::{PageRow, ViewsResponse};
    use std::sync::Arc;

    fn report(rows: &[(&str, i64, i64)], complete: bool) -> Arc<Report> {
        let rows = rows.iter().map(|(path, human, ai)| PageRow {
            path: CleanText::line(path),
            counts: Counts::new(Count::Known(*human), Count::Known(*ai), Count::Known(human + ai)),
        });
        let page = ViewsResponse { rows: rows.collect(), ..ViewsResponse::default() };
        Arc::new(Report::from_first_response(
            DateRange::last_days(7, chrono::NaiveDate::default()),
            page,
            complete,
            crate::model::Time::default(),
        ))
    }

    fn moved(previous: Arc<Report>, current: Arc<Report>, by: MoverMetric) -> Movers {
        let shown_range = current.range;
        Movers::new(Comparison { current, previous }, shown_range, by)
    }

    fn deltas(half: &MoversHalf) -> Vec<(&str, i128)> {
        half.visible(99).map(|(mover, _)| (mover.path.as_str(), mover.delta().rounded())).collect()
    }

    #[test]
    fn pages_are_ordered_by_their_change_including_new_and_gone_pages() {
        let previous = report(&[("/a", 10, 0), ("/b", 50, 5), ("/gone", 7, 0), ("/same", 3, 9)], true);
        let current = report(&[("/a", 100, 0), ("/b", 20, 95), ("/new", 8, 1), ("/same", 3, 9)], true);
        let movers = moved(previous.clone(), current.clone(), MoverMetric::Human);
        assert_eq!(deltas(&movers.gained), [("/a", 90), ("/new", 8)]);
        assert_eq!(deltas(&movers.lost), [("/b", -30), ("/gone", -7)]);
        assert_eq!(
            movers.gained.movers.get(1).map(|mover| (mover.previous, mover.current)),
            Some((None, Some(8.into())))
        );
        assert_eq!(
            movers.lost.movers.get(1).map(|mover| (mover.previous, mover.current)),
            Some((Some(7.into()), None))
        );
        let by_ai = moved(previous.clone(), current.clone(), MoverMetric::Ai);
        assert_eq!(deltas(&by_ai.gained), [("/b", 90), ("/new", 1)]);
        assert!(by_ai.lost.is_empty(), "a gone page without AI views lost none");
    }

    #[test]
    fn the_shares_of_a_change_have_its_direction() {
        let previous = report(&[("/both", 10, 5), ("/mixed", 10, 50), ("/less", 40, 20)], true);
        let current = report(&[("/both", 14, 8), ("/mixed", 90, 10), ("/less", 10, 25)], true);
        let movers = moved(previous, current, MoverMetric::Total);
        let shares = |half: &MoversHalf| -> Vec<_> {
            half.visible(9).map(|(mover, _)| mover.human_and_ai_contributions).collect()
        };
        assert_eq!(shares(&movers.gained), [(80.into(), 0.into()), (4.into(), 3.into())]);
        assert_eq!(shares(&movers.lost), [(30.into(), 0.into())]);
    }

    #[test]
    fn a_page_that_is_missing_from_a_partial_report_is_unknown() {
        let previous = report(&[("/a", 10, 0), ("/z", 4, 0)], false);
        let current = report(&[("/a", 11, 0), ("/b", 5, 0)], true);
        assert_eq!(deltas(&moved(previous.clone(), current.clone(), MoverMetric::Total).gained), [("/a", 1)]);
        let previous = Arc::new(Report { complete: true, ..(*previous).clone() });
        let current = Arc::new(Report { complete: false, ..(*current).clone() });
        assert!(moved(previous, current, MoverMetric::Total).lost.is_empty(), "/z may not be loaded yet");
    }

    #[test]
    fn ranges_of_different_lengths_are_compared_per_day() {
        let rows = [("/a", 90, 0), ("/b", 10, 0)];
        let current = report(&rows, true);
        let range = DateRange::last_days(14, chrono::NaiveDate::default());
        let previous = Arc::new(Report { range, ..(*report(&rows, true)).clone() });
        let movers = moved(previous, current, MoverMetric::Human);
        assert_eq!((movers.gained.len(), movers.lost.len()), (2, 0), "equal views in half the days");
        let first = movers.selected().expect("a page");
        let daily = [first.current, first.previous].map(|views| views.map(DecimalCount::tenths));
        assert_eq!(daily, [Some(129), Some(64)]);
    }

    #[test]
    fn pages_without_valid_counts_are_left_out_and_counted() {
        let previous = report(&[("/a", -4, 0), ("/b", 1, 0)], true);
        let current = report(&[("/a", 4, 0), ("/b", 3, 0)], true);
        let movers = moved(previous.clone(), current.clone(), MoverMetric::Human);
        assert_eq!((movers.pages_without_counts, deltas(&movers.gained)), (1, vec![("/b", 2)]));
    }

    #[test]
    fn only_the_pages_with_the_largest_changes_are_listed() {
        let paths: Vec<String> = (0..600).map(|n| format!("/{n}")).collect();
        let rows = |more: i64| -> Vec<(&str, i64, i64)> {
            paths
                .iter()
                .enumerate()
                .map(|(n, path)| (path.as_str(), more * i64::try_from(n).expect("small"), 0))
                .collect()
        };
        let movers = moved(report(&rows(1), true), report(&rows(2), true), MoverMetric::Human);
        let deltas: Vec<i128> = movers.gained.visible(999).map(|(mover, _)| mover.delta().rounded()).collect();
        assert_eq!(deltas, (350..600).rev().collect::<Vec<i128>>());
        assert_eq!(
            (movers.gained.len(), movers.gained.page_count()),
            (MAX_PAGES_PER_HALF, 599),
            "the first page didn't move"
        );
    }

    #[test]
    fn scrolling_moves_the_selection_of_the_focused_half() {
        let previous = report(&[("/a", 1, 0), ("/b", 1, 0), ("/c", 9, 0)], true);
        let current = report(&[("/a", 5, 0), ("/b", 3, 0), ("/c", 1, 0)], true);
        let mut movers = moved(previous.clone(), current.clone(), MoverMetric::Human);
        let row = Rect { width: 9, height: 1 + HEADING_ROWS, ..Rect::default() };
        movers.move_by(Scroll::By(1), &MoversLayout { halves: [row, row] });
        assert_eq!(movers.selected().map(|mover| mover.path.as_str()), Some("/b"));
        assert_eq!(movers.gained.visible(1).map(|(mover, _)| mover.path.as_str()).collect::<Vec<_>>(), ["/b"]);
        movers.is_lost_half_focused = true;
        assert_eq!(movers.selected().map(|mover| mover.path.as_str()), Some("/c"));
    }
}
