//! The page views: which range, which page of rows, what is loaded and how fresh it is.

pub mod all_pages;
pub mod cached_ranges;
pub mod calendar;
#[cfg(test)]
mod choosing_tests;
pub mod columns;
pub mod compare;
pub mod export;
mod keys;
mod loading;
pub mod months;
pub mod movers;
pub mod page_detail;
pub(in crate::app) mod page_job;
pub mod presets;
mod ranges;
pub mod request_cost;
mod saved_range;
mod shape;
pub mod table;
pub mod trend;

use super::msg::Effect;
use crate::model::Time;
use crate::model::failure::{Failure, FailureKind};
use crate::model::load::{Load, Timed};
use crate::model::period::{DateRange, Period, Preset};
use crate::model::report::Report;
use crate::model::views::{LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN, PageRow, ViewsPage, ViewsQuery};
use chrono::TimeDelta;
use std::sync::Arc;

/// An answer with the question that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewsAnswer {
    pub query: ViewsQuery,
    pub page: ViewsPage,
}

/// State of the views screen.
#[derive(Debug)]
pub struct ViewsScreen {
    /// The range as a key chose it; none for a range of one's own.
    preset: Option<Preset>,
    /// What the range is a part of: it says by how much `[` and `]` step.
    period: Period,
    query: ViewsQuery,
    /// The one answer that is asked for or listed; idle while a report is listed.
    load: Load<ViewsAnswer>,
    /// Share of the site's views that the rows of a report hold that is not whole, worked out when it is listed.
    loaded_share: Option<f64>,
    /// The range of which the record is read before anything is asked of the service.
    recalling: Option<DateRange>,
    /// What is listed.
    pub table: table::PageTable,
    /// What is known of whole ranges, and what is being loaded.
    pub all: all_pages::AllPages,
    /// The site's totals by range.
    pub totals: trend::RangeTotals,
}

/// What came so shortly after something else may only look newer: the service tells its time in whole seconds, and what is
/// thought of it is corrected with each answer.
const AS_NEW: TimeDelta = TimeDelta::seconds(2);

impl ViewsScreen {
    /// The last seven days, nothing asked for yet.
    pub fn new(now: Time) -> Self {
        let preset = Preset::SevenDays;
        let range = preset.range(now.date_naive());
        let query = ViewsQuery { range, limit: LIMIT_DEFAULT, page: 1 };
        Self {
            preset: Some(preset),
            period: preset.period(now.date_naive()),
            query,
            load: Load::Idle,
            loaded_share: None,
            recalling: None,
            table: table::PageTable::default(),
            all: all_pages::AllPages::default(),
            totals: trend::RangeTotals::default(),
        }
    }

    /// What is asked for now.
    pub fn query(&self) -> ViewsQuery {
        self.query
    }

    /// What is loaded; it may still be the answer to an earlier question.
    pub fn load(&self) -> &Load<ViewsAnswer> {
        &self.load
    }

    /// All rows that are listed.
    pub fn rows(&self) -> &[PageRow] {
        self.table.rows()
    }

    /// The selected page.
    pub fn selected_row(&self) -> Option<&PageRow> {
        self.table.selected_row()
    }

    /// Whether what is shown answers what is asked for.
    pub fn is_current(&self) -> bool {
        match self.table.report() {
            Some(report) => report.range == self.query.range,
            None => self.load.shown().is_some_and(|shown| shown.value.query == self.query),
        }
    }

    /// Why there is nothing newer of what is asked for. A limit that has passed is no reason any more.
    pub fn trouble(&self, now: Time) -> Option<&Failure> {
        let holds = |failure: &&Failure| !matches!(failure.kind, FailureKind::Limited(wait) if wait.until <= now);
        let of_all = self.all.trouble(self.query.range).filter(holds);
        of_all.or_else(|| self.load.failure().filter(holds))
    }

    /// Share of the site's views that the listed rows hold, 0 to 1, where a report is listed that is not whole.
    pub fn loaded_share(&self) -> Option<f64> {
        self.loaded_share
    }

    /// Lists what came of a range that is not known whole.
    fn list_part(&mut self, report: Arc<Report>) {
        self.loaded_share = report.loaded_share();
        self.table.show_report(report, None);
    }

    /// When what is listed was true.
    pub fn as_of(&self) -> Option<Time> {
        let report = self.table.report().map(|report| report.as_of);
        report.or_else(|| self.load.shown().map(|shown| shown.as_of))
    }

    /// Whether there is a page after this one: known only once this one is loaded.
    pub fn has_next(&self) -> bool {
        self.table.report().is_none()
            && self
                .load
                .shown()
                .is_some_and(|shown| shown.value.query == self.query && self.query.has_next(&shown.value.page))
    }

    /// The first look at this screen reads the record, then asks; later ones don't.
    pub fn shown_first(&mut self) -> Option<Effect> {
        let is_first = matches!(self.load, Load::Idle) && self.table.report().is_none();
        is_first.then(|| self.recall())
    }

    fn ask(&mut self, force: bool) -> Effect {
        self.load.start();
        Effect::LoadViews { query: self.query, force }
    }

    /// What is known comes first; what to ask for is decided once that is read.
    fn recall(&mut self) -> Effect {
        self.load.start();
        self.recalling = Some(self.query.range);
        Effect::LoadCached(self.query.range)
    }

    fn turn_to(&mut self, query: ViewsQuery) -> Option<Effect> {
        let same_range = query.range == self.query.range;
        let lists_all = self.table.report().is_some() && self.is_current();
        if same_range && lists_all {
            // All pages are there: only the number of rows in one answer could change.
            self.query.limit = query.limit;
            return None;
        }
        if query == self.query && !matches!(self.load, Load::Idle | Load::Failed { .. }) {
            return None;
        }
        self.query = query;
        self.table.move_to_end(false);
        Some(if same_range { self.ask(false) } else { self.recall() })
    }

    /// The page after or before.
    pub fn turn_page(&mut self, forward: bool) -> Option<Effect> {
        let page = if forward {
            self.has_next().then(|| self.query.page.saturating_add(1))?
        } else {
            (self.query.page > 1).then(|| self.query.page - 1)?
        };
        self.jump(page)
    }

    /// To a page, counted from 1.
    pub fn jump(&mut self, page: u32) -> Option<Effect> {
        self.turn_to(ViewsQuery { page: page.max(1), ..self.query })
    }

    /// Another number of rows per page; the first row shown stays on the page.
    pub fn set_limit(&mut self, limit: u32) -> Option<Effect> {
        let limit = limit.clamp(LIMIT_MIN, LIMIT_MAX);
        let page = u32::try_from(self.query.offset() / u64::from(limit)).unwrap_or(0).saturating_add(1);
        self.turn_to(ViewsQuery { limit, page, ..self.query })
    }

    fn set_range(&mut self, range: DateRange) -> Option<Effect> {
        self.turn_to(ViewsQuery { range, page: 1, ..self.query })
    }

    /// Takes an answer; one to an older question is dropped. Whether anything changed.
    pub fn take(
        &mut self,
        query: ViewsQuery,
        result: Result<Timed<ViewsPage>, Failure>,
        old: Option<Timed<ViewsPage>>,
        now: Time,
    ) -> bool {
        if query != self.query {
            return false;
        }
        if self.table.report().is_some_and(|report| report.range == query.range) {
            // All its pages came while this one answer was on its way.
            self.load = Load::Idle;
            return true;
        }
        let answered = |stamped: Timed<ViewsPage>| Timed {
            value: ViewsAnswer { query, page: stamped.value },
            as_of: stamped.as_of,
        };
        match (result, old) {
            (Err(failure), Some(old)) => {
                self.load = Load::Failed { failure, at: now, before: Some(answered(old)) };
            }
            (result, _) => self.load.finish(result.map(answered), now),
        }
        match (self.load.shown(), self.all.report(query.range)) {
            // Nothing newer came, and a load that was broken off had taken in more than this answer holds.
            (Some(shown), Some(report))
                if query.page == 1
                    && report.rows.len() > shown.value.page.rows.len()
                    && (self.load.failure().is_some() || shown.as_of - report.as_of <= AS_NEW) =>
            {
                let report = Arc::clone(report);
                self.list_part(report);
                if self.load.failure().is_none() {
                    self.load = Load::Idle;
                }
            }
            (Some(shown), _) => self.table.show_answer(&shown.value.page.rows),
            // Nothing else is known of the range.
            (None, Some(report)) => {
                let report = Arc::clone(report);
                self.list_part(report);
            }
            (None, None) => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::text::CleanText;
    use crate::model::views::Counts;

    fn now() -> Time {
        "2026-11-20T12:00:00Z".parse().expect("a time")
    }

    fn page(rows: usize, has_more: bool) -> Timed<ViewsPage> {
        let row = |n: usize| PageRow { path: CleanText::line(&format!("/{n}")), counts: Counts::default() };
        let value =
            ViewsPage { totals: Counts::default(), rows: (0..rows).map(row).collect(), has_more: Some(has_more) };
        Timed { value, as_of: now() }
    }

    fn query(effect: Option<Effect>) -> ViewsQuery {
        match effect {
            Some(Effect::LoadViews { query, .. }) => query,
            other => panic!("expected a request, got {other:?}"),
        }
    }

    fn recalled(effect: Option<Effect>) -> DateRange {
        match effect {
            Some(Effect::LoadCached(range)) => range,
            other => panic!("expected a look into the record, got {other:?}"),
        }
    }

    #[test]
    fn pages_turn_only_where_there_are_some() {
        let mut views = ViewsScreen::new(now());
        recalled(views.shown_first());
        assert!(views.turn_page(true).is_none(), "nothing known of a next page yet");
        assert!(views.turn_page(false).is_none());
        views.take(views.query(), Ok(page(50, true)), None, now());
        let second = query(views.turn_page(true));
        assert_eq!((second.page, second.offset()), (2, 50));
        views.take(second, Ok(page(3, false)), None, now());
        assert!(views.turn_page(true).is_none());
    }

    #[test]
    fn an_answer_to_an_older_question_is_dropped() {
        let mut views = ViewsScreen::new(now());
        recalled(views.shown_first());
        let first = views.query();
        recalled(views.next_preset(now()));
        assert!(!views.take(first, Ok(page(5, false)), None, now()));
        assert!(views.load().is_loading());
    }

    #[test]
    fn what_was_loaded_stays_when_asking_again_fails() {
        let mut views = ViewsScreen::new(now());
        views.shown_first();
        let first = views.query();
        views.take(first, Ok(page(5, false)), None, now());
        views.ask(true);
        views.take(first, Err(Failure::new(FailureKind::Offline, "no network")), None, now());
        assert_eq!(views.rows().len(), 5);
        assert!(views.load().failure().is_some());
    }

    #[test]
    fn a_limit_that_has_passed_is_no_trouble_any_more() {
        let mut views = ViewsScreen::new(now());
        views.shown_first();
        let until = now() + TimeDelta::minutes(5);
        let failure = Failure::new(
            FailureKind::Limited(crate::model::ledger::Wait { until, is_estimate: false }),
            "the limit is used up",
        );
        views.take(views.query(), Err(failure), None, now());
        assert!(views.trouble(now()).is_some());
        assert!(views.trouble(until).is_none());
    }

    #[test]
    fn where_nothing_newer_came_more_than_one_old_answer_is_listed() {
        let mut views = ViewsScreen::new(now());
        views.shown_first();
        let query = views.query();
        let part = Report::begin(query.range, page(250, true).value, false, now());
        let recalled = crate::model::report::Recalled {
            report: Some(Arc::new(part)),
            broken_off: Some(1),
            ..crate::model::report::Recalled::default()
        };
        views.all.learn(query.range, recalled);
        let offline = || Err(Failure::new(FailureKind::Offline, "no network"));
        views.take(query, offline(), Some(page(50, true)), now());
        assert_eq!(views.rows().len(), 250);
        assert!(views.is_current() && views.trouble(now()).is_some());
    }

    #[test]
    fn another_page_size_keeps_the_first_row_on_the_page() {
        let mut views = ViewsScreen::new(now());
        query(views.jump(5));
        let resized = query(views.set_limit(25));
        assert_eq!((resized.limit, resized.page), (25, 9));
        assert_eq!(query(views.set_limit(9999)).limit, LIMIT_MAX);
    }
}
