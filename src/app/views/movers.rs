//! Movers: the pages that gained and lost most between two ranges, by human, AI or all views. Worked out when the layer
//! opens and when its metric changes, not when it is drawn.

use super::super::dialog::Dialog;
use super::super::geometry::Geometry;
use super::super::keymap::{Action, Context};
use super::super::scroll::{self, Scroll};
use super::super::{App, Effect, Severity};
use super::table::Metric;
use crate::model::Time;
use crate::model::comparison::{ComparedRanges, Comparison};
use crate::model::period::DateRange;
use crate::model::report::Report;
use crate::model::text::CleanText;
use crate::model::views::{Counts, ViewCount};
use ratatui::layout::{Position, Rect};
use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

/// Pages listed in each half; more is no longer what moved most.
const KEPT: usize = 250;

/// By what pages move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MovedBy {
    Human,
    Ai,
    Total,
}

impl MovedBy {
    /// The word on the screen.
    pub fn word(self) -> &'static str {
        self.metric().name()
    }

    fn metric(self) -> Metric {
        match self {
            Self::Human => Metric::Human,
            Self::Ai => Metric::Ai,
            Self::Total => Metric::Total,
        }
    }

    fn next(self) -> Self {
        match self {
            Self::Human => Self::Ai,
            Self::Ai => Self::Total,
            Self::Total => Self::Human,
        }
    }

    fn of(self, counts: &Counts) -> Option<ViewCount> {
        self.metric().count(counts)?.value()
    }
}

/// One page that moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mover {
    pub path: CleanText,
    /// Compared per day if the ranges differ in length. None for a new page: it is not among all pages of the other range.
    pub before: Option<ViewCount>,
    /// None for a page that is gone: it is not among all pages of this range.
    pub now: Option<ViewCount>,
}

impl Mover {
    /// By how much it moved.
    pub fn delta(&self) -> ViewCount {
        self.now.unwrap_or_default() - self.before.unwrap_or_default()
    }
}

/// One half of the layer.
#[derive(Debug, Default)]
pub struct Half {
    movers: Vec<Mover>,
    /// How many pages moved this way, listed or not.
    total: usize,
    selected: usize,
    top: usize,
}

impl Half {
    /// How many pages it lists.
    pub fn len(&self) -> usize {
        self.movers.len()
    }

    /// How many pages moved this way, listed or not.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Whether it lists none.
    pub fn is_empty(&self) -> bool {
        self.movers.is_empty()
    }

    /// The visible pages, each with whether it is the selected one.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = (&Mover, bool)> {
        let selected = self.selected;
        self.movers.iter().enumerate().skip(self.top).take(rows).map(move |(at, mover)| (mover, at == selected))
    }

    /// All numbers in it.
    pub fn numbers(&self) -> impl Iterator<Item = ViewCount> {
        self.movers.iter().flat_map(|mover| [mover.before, mover.now]).flatten()
    }

    /// Pages below the visible ones.
    pub fn hidden_below(&self, rows: usize) -> usize {
        self.movers.len().saturating_sub(self.top + rows)
    }

    fn keep_in_sight(&mut self, rows: usize) {
        self.top = scroll::follow(self.top, self.selected, rows, self.movers.len());
    }
}

/// A page on its way into a half.
struct Moved {
    delta: ViewCount,
    then: Option<ViewCount>,
    after: Option<ViewCount>,
    pair: Pair,
}

/// Places of one page in the two reports.
type Pair = (Option<usize>, Option<usize>);

/// The layer.
#[derive(Debug)]
pub struct Movers {
    pub by: MovedBy,
    pub gained: Half,
    pub lost: Half,
    /// Whether the lower half, or the right one, has the keys.
    pub on_lost: bool,
    /// Pages left out since one of their two numbers is no count.
    pub odd: usize,
    comparison: Comparison,
    /// The range on screen, of which complete days are compared.
    shown: DateRange,
    /// Every page that is known in both reports, or known to be missing from one of them.
    pairs: Vec<Pair>,
}

/// Joins two reports by path. A page that is missing from a report that is not whole is unknown, and left out.
fn pairs(before: &Report, now: &Report) -> Vec<Pair> {
    let mut others: HashMap<&str, usize> =
        before.rows.iter().enumerate().map(|(place, row)| (row.path.as_str(), place)).collect();
    let mut pairs = Vec::with_capacity(now.rows.len());
    for (place, row) in now.rows.iter().enumerate() {
        match others.remove(row.path.as_str()) {
            Some(other) => pairs.push((Some(other), Some(place))),
            None if before.complete => pairs.push((None, Some(place))),
            None => {}
        }
    }
    if now.complete {
        pairs.extend(others.into_values().map(|place| (Some(place), None)));
    }
    pairs
}

impl Movers {
    /// What moved between two reports.
    pub fn new(comparison: Comparison, shown: DateRange, by: MovedBy) -> Self {
        let pairs = pairs(&comparison.before, &comparison.now);
        let (gained, lost) = (Half::default(), Half::default());
        let mut movers = Self { by, gained, lost, on_lost: false, odd: 0, comparison, shown, pairs };
        movers.weigh(by);
        movers
    }

    /// The ranges that are compared.
    pub fn ranges(&self) -> ComparedRanges {
        self.comparison.ranges()
    }

    /// What is compared, in words.
    pub fn label(&self) -> String {
        self.ranges().label(self.shown)
    }

    /// Whether not all pages of both ranges are loaded, so that more pages may have moved.
    pub fn is_partial(&self) -> bool {
        !self.comparison.now.complete || !self.comparison.before.complete
    }

    /// Orders the pages anew, by another metric.
    fn weigh(&mut self, by: MovedBy) {
        let (ranges, Comparison { now, before }) = (self.ranges(), &self.comparison);
        let count = |report: &Report, place: Option<usize>| match place.and_then(|place| report.rows.get(place)) {
            Some(row) => by.of(&row.counts).map(Some),
            None => Some(None),
        };
        let (mut gained, mut lost, mut odd) = (Vec::new(), Vec::new(), 0);
        for &pair in &self.pairs {
            let (Some(then), Some(after)) = (count(before, pair.0), count(now, pair.1)) else {
                odd += 1;
                continue;
            };
            let then = then.map(|views| ranges.of_before(views));
            let after = after.map(|views| ranges.of_now(views));
            let delta = after.unwrap_or_default() - then.unwrap_or_default();
            let moved = Moved { delta, then, after, pair };
            match delta.cmp(&ViewCount::ZERO) {
                Ordering::Greater => gained.push(moved),
                Ordering::Less => lost.push(moved),
                Ordering::Equal => {}
            }
        }
        (self.gained, self.lost) = (self.most(gained), self.most(lost));
        (self.by, self.odd) = (by, odd);
        self.on_lost = self.gained.is_empty() && !self.lost.is_empty();
    }

    /// Those that moved most, by path where they moved alike.
    fn most(&self, mut moved: Vec<Moved>) -> Half {
        let total = moved.len();
        if total > KEPT {
            moved.select_nth_unstable_by_key(KEPT, |moved| Reverse(moved.delta.abs()));
            moved.truncate(KEPT);
        }
        let Comparison { now, before } = &self.comparison;
        let row = |report: &Report, place: Option<usize>| report.rows.get(place?).map(|row| row.path.clone());
        let movers = moved.into_iter().filter_map(|moved| {
            let path = row(now, moved.pair.1).or_else(|| row(before, moved.pair.0))?;
            Some(Mover { path, before: moved.then, now: moved.after })
        });
        let mut movers: Vec<Mover> = movers.collect();
        movers.sort_by(|a, b| {
            let by_size = b.delta().abs().cmp(&a.delta().abs());
            by_size.then_with(|| a.path.as_str().cmp(b.path.as_str()))
        });
        Half { movers, total, ..Half::default() }
    }

    fn half(&self) -> &Half {
        if self.on_lost { &self.lost } else { &self.gained }
    }

    /// The selected page.
    pub fn selected(&self) -> Option<&Mover> {
        self.half().movers.get(self.half().selected)
    }

    pub(in crate::app) fn scroll(&mut self, by: Scroll, rows: (usize, usize)) {
        let (half, rows) = if self.on_lost { (&mut self.lost, rows.1) } else { (&mut self.gained, rows.0) };
        half.selected = by.apply(half.selected, rows, half.movers.len());
        half.keep_in_sight(rows);
    }

    /// Which half lies under a cell: its place on the screen, its rows, and whether it is the one of what lost.
    fn half_at(&mut self, at: Position, g: Geometry) -> Option<(&mut Half, Rect, usize, bool)> {
        let ([upper, lower], rows) = (g.movers_halves(), g.movers_rows());
        if upper.contains(at) {
            return Some((&mut self.gained, upper, rows.0, false));
        }
        lower.contains(at).then_some((&mut self.lost, lower, rows.1, true))
    }

    /// Scrolls the half under a cell; its selection stays in sight.
    pub(in crate::app) fn scroll_at(&mut self, at: Position, by: isize, g: Geometry) {
        if let Some((half, _, rows, _)) = self.half_at(at, g) {
            half.selected = scroll::moved(half.selected, by, half.movers.len());
            half.keep_in_sight(rows);
        }
    }

    /// A click gives a half the keys and selects its page; whether that was selected and had them already.
    pub(in crate::app) fn click(&mut self, at: Position, g: Geometry) -> bool {
        let had_keys = self.on_lost;
        let Some((half, area, rows, on_lost)) = self.half_at(at, g) else { return false };
        let line = usize::from(at.y - area.y).checked_sub(1).filter(|line| *line < rows);
        let place = line.map(|line| half.top + line).filter(|place| *place < half.movers.len());
        let again = on_lost == had_keys && place == Some(half.selected);
        half.selected = place.unwrap_or(half.selected);
        self.on_lost = on_lost;
        again
    }

    pub(in crate::app) fn keep_in_sight(&mut self, rows: (usize, usize)) {
        self.gained.keep_in_sight(rows.0);
        self.lost.keep_in_sight(rows.1);
    }
}

impl App {
    /// The key that shows what moved.
    pub(in crate::app) fn open_movers(&mut self, now: Time) {
        let table = &self.views.table;
        let (Some(comparison), Some(listed)) = (table.comparison(), table.report()) else {
            let (before, any) =
                (self.key_label(Context::Views, Action::Compare), self.key_label(Context::Views, Action::CompareWith));
            let text =
                format!("Movers need a comparison: {before} compares with the previous period, {any} with any range.");
            self.notify(Severity::Info, &text, now);
            return;
        };
        let movers = Movers::new(comparison.clone(), listed.range, MovedBy::Human);
        self.dialogs.push(Dialog::Movers(movers));
    }

    /// The other metric.
    pub(in crate::app) fn weigh_movers(&mut self) {
        if let Some(Dialog::Movers(open)) = self.dialogs.last_mut() {
            open.weigh(open.by.next());
        }
    }

    /// The other half has the keys.
    pub(in crate::app) fn turn_movers(&mut self) {
        if let Some(Dialog::Movers(open)) = self.dialogs.last_mut() {
            open.on_lost = !open.on_lost;
        }
    }

    /// Enter: the card of the page, over the movers.
    pub(in crate::app) fn open_mover(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(Dialog::Movers(open)) = self.dialogs.last() else { return };
        let Some(path) = open.selected().map(|mover| mover.path.clone()) else { return };
        self.open_card_of(path, now, effects);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::views::Count;
    use crate::model::views::{PageRow, ViewsPage};
    use std::sync::Arc;

    fn report(rows: &[(&str, i64, i64)], complete: bool) -> Arc<Report> {
        let rows = rows.iter().map(|(path, human, ai)| PageRow {
            path: CleanText::line(path),
            counts: Counts { human: Count::Known(*human), ai: Count::Known(*ai), total: Count::Known(human + ai) },
        });
        let page = ViewsPage { rows: rows.collect(), ..ViewsPage::default() };
        Arc::new(Report::begin(DateRange::last_days(7, chrono::NaiveDate::default()), page, complete, Time::default()))
    }

    fn moved(before: Arc<Report>, now: Arc<Report>, by: MovedBy) -> Movers {
        let shown = now.range;
        Movers::new(Comparison { now, before }, shown, by)
    }

    fn told(half: &Half) -> Vec<(&str, i128)> {
        half.visible(99).map(|(mover, _)| (mover.path.as_str(), mover.delta().rounded())).collect()
    }

    #[test]
    fn pages_are_ordered_by_how_far_they_moved_and_new_and_gone_ones_are_told_apart() {
        let before = report(&[("/a", 10, 0), ("/b", 50, 5), ("/gone", 7, 0), ("/same", 3, 9)], true);
        let now = report(&[("/a", 100, 0), ("/b", 20, 95), ("/new", 8, 1), ("/same", 3, 9)], true);
        let movers = moved(before.clone(), now.clone(), MovedBy::Human);
        assert_eq!(told(&movers.gained), [("/a", 90), ("/new", 8)]);
        assert_eq!(told(&movers.lost), [("/b", -30), ("/gone", -7)]);
        assert_eq!(movers.gained.movers.get(1).map(|mover| (mover.before, mover.now)), Some((None, Some(8.into()))));
        assert_eq!(movers.lost.movers.get(1).map(|mover| (mover.before, mover.now)), Some((Some(7.into()), None)));
        let by_ai = moved(before.clone(), now.clone(), MovedBy::Ai);
        assert_eq!(told(&by_ai.gained), [("/b", 90), ("/new", 1)]);
        assert!(by_ai.lost.is_empty(), "a page without AI views that is gone lost none");
    }

    #[test]
    fn a_page_that_is_missing_from_a_report_that_is_not_whole_is_unknown() {
        let before = report(&[("/a", 10, 0), ("/z", 4, 0)], false);
        let now = report(&[("/a", 11, 0), ("/b", 5, 0)], true);
        assert_eq!(told(&moved(before.clone(), now.clone(), MovedBy::Total).gained), [("/a", 1)]);
        let before = Arc::new(Report { complete: true, ..(*before).clone() });
        let now = Arc::new(Report { complete: false, ..(*now).clone() });
        assert!(moved(before.clone(), now.clone(), MovedBy::Total).lost.is_empty(), "/z may still come");
    }

    #[test]
    fn ranges_that_differ_in_length_move_per_day() {
        let rows = [("/a", 90, 0), ("/b", 10, 0)];
        let now = report(&rows, true);
        let range = DateRange::last_days(14, chrono::NaiveDate::default());
        let before = Arc::new(Report { range, ..(*report(&rows, true)).clone() });
        let movers = moved(before, now, MovedBy::Human);
        assert_eq!((movers.gained.len(), movers.lost.len()), (2, 0), "as many views in half the days");
        let first = movers.selected().expect("a page");
        let daily = [first.now, first.before].map(|views| views.map(ViewCount::tenths));
        assert_eq!(daily, [Some(129), Some(64)]);
    }

    #[test]
    fn what_is_no_count_is_counted_as_left_out() {
        let before = report(&[("/a", -4, 0), ("/b", 1, 0)], true);
        let now = report(&[("/a", 4, 0), ("/b", 3, 0)], true);
        let movers = moved(before.clone(), now.clone(), MovedBy::Human);
        assert_eq!((movers.odd, told(&movers.gained)), (1, vec![("/b", 2)]));
    }

    #[test]
    fn of_many_pages_those_that_moved_most_are_kept() {
        let paths: Vec<String> = (0..600).map(|n| format!("/{n}")).collect();
        let rows = |more: i64| -> Vec<(&str, i64, i64)> {
            paths
                .iter()
                .enumerate()
                .map(|(n, path)| (path.as_str(), more * i64::try_from(n).expect("small"), 0))
                .collect()
        };
        let movers = moved(report(&rows(1), true), report(&rows(2), true), MovedBy::Human);
        let deltas: Vec<i128> = movers.gained.visible(999).map(|(mover, _)| mover.delta().rounded()).collect();
        assert_eq!(deltas, (350..600).rev().collect::<Vec<i128>>());
        assert_eq!((movers.gained.len(), movers.gained.total()), (KEPT, 599), "the page that stayed at 0 didn't move");
    }

    #[test]
    fn the_keys_move_in_the_half_that_has_them() {
        let before = report(&[("/a", 1, 0), ("/b", 1, 0), ("/c", 9, 0)], true);
        let now = report(&[("/a", 5, 0), ("/b", 3, 0), ("/c", 1, 0)], true);
        let mut movers = moved(before.clone(), now.clone(), MovedBy::Human);
        movers.scroll(Scroll::By(1), (1, 1));
        assert_eq!(movers.selected().map(|mover| mover.path.as_str()), Some("/b"));
        assert_eq!(movers.gained.visible(1).map(|(mover, _)| mover.path.as_str()).collect::<Vec<_>>(), ["/b"]);
        movers.on_lost = true;
        assert_eq!(movers.selected().map(|mover| mover.path.as_str()), Some("/c"));
    }
}
