//! The page views: which range, which page of rows, what is loaded and how fresh it is.

mod all;
pub mod calendar;
pub mod card;
#[cfg(test)]
mod choosing_tests;
pub mod export;
pub mod kept;
pub mod movers;
pub(in crate::app) mod page_job;
mod ranges;
mod shape;
pub mod table;
pub mod trend;

use super::msg::Effect;
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::load::{Load, Stamped};
use crate::model::period::{DateRange, Period, Preset};
use crate::model::views::{LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN, PageRow, ViewsPage, ViewsQuery};

/// An answer with the question that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub query: ViewsQuery,
    pub page: ViewsPage,
}

/// State of the views screen.
#[derive(Debug)]
pub struct Views {
    /// The range as a key chose it; none for a range of one's own.
    preset: Option<Preset>,
    /// What the range is a part of: it says by how much `[` and `]` step.
    period: Period,
    query: ViewsQuery,
    load: Load<Answered>,
    /// What is listed.
    pub table: table::Table,
    /// What is known of whole ranges, and what is being loaded.
    pub all: all::All,
    /// The site's totals by range.
    pub totals: trend::Totals,
}

impl Views {
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
            table: table::Table::default(),
            all: all::All::default(),
            totals: trend::Totals::default(),
        }
    }

    /// What is asked for now.
    pub fn query(&self) -> ViewsQuery {
        self.query
    }

    /// What is loaded; it may still be the answer to an earlier question.
    pub fn load(&self) -> &Load<Answered> {
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
        self.load.shown().is_some_and(|shown| shown.value.query == self.query)
    }

    /// Whether there is a page after this one: known only once this one is loaded.
    pub fn has_next(&self) -> bool {
        self.load.shown().is_some_and(|shown| shown.value.query == self.query && self.query.has_next(&shown.value.page))
    }

    /// The first look at this screen asks; later ones don't.
    pub fn shown_first(&mut self) -> Option<Effect> {
        matches!(self.load, Load::Idle).then(|| self.ask(false))
    }

    /// Asks again, past the cache. The days of a preset are counted from today.
    pub fn refresh(&mut self, now: Time) -> Effect {
        self.follow_today(now);
        self.ask(true)
    }

    fn ask(&mut self, force: bool) -> Effect {
        self.load.start();
        Effect::LoadViews { query: self.query, force }
    }

    fn turn_to(&mut self, query: ViewsQuery) -> Option<Effect> {
        if query == self.query && !matches!(self.load, Load::Idle | Load::Failed { .. }) {
            return None;
        }
        self.query = query;
        self.table.move_to_end(false);
        Some(self.ask(false))
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
        result: Result<Stamped<ViewsPage>, Failure>,
        old: Option<Stamped<ViewsPage>>,
        now: Time,
    ) -> bool {
        if query != self.query {
            return false;
        }
        let answered = |stamped: Stamped<ViewsPage>| Stamped {
            value: Answered { query, page: stamped.value },
            as_of: stamped.as_of,
        };
        match (result, old) {
            (Err(failure), Some(old)) => {
                self.load = Load::Failed { failure, at: now, before: Some(answered(old)) };
            }
            (result, _) => self.load.finish(result.map(answered), now),
        }
        if let Some(shown) = self.load.shown() {
            self.table.show_answer(&shown.value.page.rows);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::failure::FailureKind;
    use crate::model::text::CleanText;
    use crate::model::views::Counts;

    fn now() -> Time {
        "2026-11-20T12:00:00Z".parse().expect("a time")
    }

    fn page(rows: usize, has_more: bool) -> Stamped<ViewsPage> {
        let row = |n: usize| PageRow { path: CleanText::line(&format!("/{n}")), counts: Counts::default() };
        let value =
            ViewsPage { totals: Counts::default(), rows: (0..rows).map(row).collect(), has_more: Some(has_more) };
        Stamped { value, as_of: now() }
    }

    fn query(effect: Option<Effect>) -> ViewsQuery {
        match effect {
            Some(Effect::LoadViews { query, .. }) => query,
            other => panic!("expected a request, got {other:?}"),
        }
    }

    #[test]
    fn pages_turn_only_where_there_are_some() {
        let mut views = Views::new(now());
        let first = query(views.shown_first());
        assert!(views.turn_page(true).is_none(), "nothing known of a next page yet");
        assert!(views.turn_page(false).is_none());
        views.take(first, Ok(page(50, true)), None, now());
        let second = query(views.turn_page(true));
        assert_eq!((second.page, second.offset()), (2, 50));
        views.take(second, Ok(page(3, false)), None, now());
        assert!(views.turn_page(true).is_none());
    }

    #[test]
    fn an_answer_to_an_older_question_is_dropped() {
        let mut views = Views::new(now());
        let first = query(views.shown_first());
        query(views.next_preset(now()));
        assert!(!views.take(first, Ok(page(5, false)), None, now()));
        assert!(views.load().is_loading());
    }

    #[test]
    fn what_was_loaded_stays_when_asking_again_fails() {
        let mut views = Views::new(now());
        let first = query(views.shown_first());
        views.take(first, Ok(page(5, false)), None, now());
        views.refresh(now());
        views.take(first, Err(Failure::new(FailureKind::Offline, "no network")), None, now());
        assert_eq!(views.rows().len(), 5);
        assert!(views.load().failure().is_some());
    }

    #[test]
    fn another_page_size_keeps_the_first_row_on_the_page() {
        let mut views = Views::new(now());
        query(views.jump(5));
        let resized = query(views.set_limit(25));
        assert_eq!((resized.limit, resized.page), (25, 9));
        assert_eq!(query(views.set_limit(9999)).limit, LIMIT_MAX);
    }
}
