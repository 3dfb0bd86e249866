//! The page views of the demo's past: a week to compare with, days of the trend, and what jobs changed. Written while the
//! first screen is looked at already.

use crate::model::Time;
use crate::model::comparison::ComparedRanges;
use crate::model::endpoint::Scope;
use crate::model::impact::windows_of;
use crate::model::period::DateRange;
use crate::model::views::{LIMIT_MAX, ViewsQuery};
use crate::sim::Sim;
use crate::store::{ReportAnswer, Store, StoreError};
use chrono::{Days, NaiveDate, NaiveTime, TimeDelta};
use std::sync::Arc;

/// Days of the trend that are known, and the last ones that are not, so that it has something to ask for.
const KNOWN_DAYS: u64 = 29;
const UNKNOWN_DAYS: u64 = 3;

/// Writes the past into the record. What fails is missing there, and can be asked for.
pub(super) async fn remember(sim: Arc<Sim>, store: Store, scope: Scope) {
    let memory = Memory { sim, store, scope };
    // The demo's record is in memory: nothing here can fail but by the program's end.
    let _ = memory.fill().await;
}

/// What the default range is compared by, its previous period and its complete days, and that period as a whole.
fn weeks_to_compare(today: NaiveDate) -> Vec<DateRange> {
    let week = DateRange::last_days(7, today);
    let Some(previous) = week.step(-1) else { return Vec::new() };
    let compared = ComparedRanges::of(week, previous, true, today);
    let compared = compared.iter().flat_map(|ranges| [ranges.now, ranges.before]);
    compared.chain([previous]).collect()
}

struct Memory {
    sim: Arc<Sim>,
    store: Store,
    scope: Scope,
}

impl Memory {
    async fn fill(&self) -> Result<(), StoreError> {
        let today = self.sim.now().date_naive();
        for range in weeks_to_compare(today) {
            self.report(range).await?;
        }
        let days = (UNKNOWN_DAYS..=KNOWN_DAYS).filter_map(|ago| today.checked_sub_days(Days::new(ago)));
        for day in days.filter_map(|day| DateRange::new(day, day)) {
            let query = ViewsQuery { range: day, limit: 1, page: 1 };
            self.store.save_views(&self.scope, query, &self.answer(query).await, self.loaded(day.to())).await?;
        }
        for row in self.store.jobs(&self.scope).await?.iter().filter(|row| !row.pages.is_empty()) {
            let windows = windows_of(row).map(|windows| [Some(windows.before), windows.after]);
            for range in windows.into_iter().flatten().flatten().filter(|range| range.to() < today) {
                self.report(range).await?;
            }
        }
        Ok(())
    }

    /// All pages of a range.
    async fn report(&self, range: DateRange) -> Result<(), StoreError> {
        for number in 1.. {
            let query = ViewsQuery { range, limit: LIMIT_MAX, page: number };
            let answer = self.answer(query).await;
            let complete = !query.has_next(&answer);
            let as_of = self.loaded(range.to());
            let answer = ReportAnswer { range, number, answer, complete, as_of, since: None };
            if !self.store.keep_and_absorb(&self.scope, answer, None).await? || complete {
                break;
            }
        }
        Ok(())
    }

    /// An answer, counted up beside the event loop.
    async fn answer(&self, query: ViewsQuery) -> crate::model::views::ViewsPage {
        let sim = Arc::clone(&self.sim);
        tokio::task::spawn_blocking(move || sim.views(query)).await.unwrap_or_default()
    }

    /// When somebody had loaded what ended on that day: two mornings later, or an hour ago.
    fn loaded(&self, last: NaiveDate) -> Time {
        let morning = NaiveTime::from_hms_opt(9, 0, 0).unwrap_or_default();
        let later = last.checked_add_days(Days::new(2)).map(|day| day.and_time(morning).and_utc());
        let lately = self.sim.now() - TimeDelta::hours(1);
        later.map_or(lately, |later| later.min(lately))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::SimOptions;
    use chrono::Utc;

    #[tokio::test]
    async fn the_demo_can_compare_weeks_and_knows_most_days_and_what_a_job_changed() {
        let sim = Arc::new(Sim::start(SimOptions { pages: 300, ..SimOptions::default() }).await.expect("a simulator"));
        let scope = Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None };
        let store = Store::in_memory().expect("a store");
        let past = super::super::history::DemoHistory { store: &store, scope: &scope, now: Utc::now() };
        past.fill(sim.seeded()).await.expect("filled");
        remember(Arc::clone(&sim), store.clone(), scope.clone()).await;
        let today = sim.now().date_naive();
        let weeks = weeks_to_compare(today);
        assert_eq!(weeks.iter().map(DateRange::days).collect::<Vec<_>>(), [6, 6, 7], "complete days, and a whole week");
        for range in weeks {
            let recalled = store.recall_views(&scope, range).await.expect("read");
            let report = recalled.report.expect("all pages");
            assert!(report.complete && report.as_of.date_naive() > range.to(), "its days were over");
        }
        let days: Vec<DateRange> = (0..30)
            .filter_map(|ago| today.checked_sub_days(Days::new(ago)))
            .filter_map(|day| DateRange::new(day, day))
            .collect();
        let known = store.views_totals(&scope, &days).await.expect("read");
        assert_eq!(known.len(), 27, "the last three are left to ask for");
        let rows = store.jobs(&scope).await.expect("jobs");
        let finished =
            rows.iter().find(|row| !row.pages.is_empty() && windows_of(row).is_some_and(|w| w.after.is_some()));
        let windows = finished.and_then(windows_of).expect("a finished job about pages");
        let path = &finished.expect("the same").pages[0];
        let views = store.page_views(&scope, path, &[windows.before]).await.expect("read");
        assert!(views[0].counts().is_some(), "{views:?}");
    }
}
