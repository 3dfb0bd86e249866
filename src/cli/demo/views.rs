//! Caches page views for the demo: the ranges for the comparison with the previous period, days of the trend, and the
//! weeks before and after jobs. The cache is filled in the background while the dashboard opens.

use crate::model::Time;
use crate::model::comparison::ComparedRanges;
use crate::model::endpoint::Scope;
use crate::model::impact::weeks_before_and_after;
use crate::model::period::DateRange;
use crate::model::views::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, ViewsQuery};
use crate::sim::Sim;
use crate::store::{ReportResponse, Store, StoreError};
use chrono::{Days, NaiveDate, NaiveTime, TimeDelta};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The first cached day of the trend, as a number of days before today.
const FIRST_CACHED_DAYS_AGO: u64 = 29;
/// Days of the trend that are not cached, as numbers of days before today, so that the demo has something to load.
const MISSING_DAYS_AGO: RangeInclusive<u64> = 20..=21;

/// Writes page views into the store. If writing fails, the user can still load them.
pub(super) async fn fill_cache(sim: Arc<Sim>, store: Store, scope: Scope) {
    let writer = CacheWriter { sim, store, scope };
    // The demo's store is in memory, so writing fails only if the program ends.
    let _ = writer.fill().await;
}

/// Returns the ranges that are needed to compare the default range with the previous period. Today is incomplete, so
/// these are the complete days of the default range, the matching days of the previous period, and the whole previous
/// period.
fn ranges_to_compare(today: NaiveDate) -> Vec<DateRange> {
    let week = DateRange::last_days(7, today);
    let Some(previous) = week.step(-1) else { return Vec::new() };
    let compared = ComparedRanges::new(week, previous, true, today);
    let compared = compared.iter().flat_map(|ranges| [ranges.current, ranges.previous]);
    compared.chain([previous]).collect()
}

struct CacheWriter {
    sim: Arc<Sim>,
    store: Store,
    scope: Scope,
}

impl CacheWriter {
    async fn fill(&self) -> Result<(), StoreError> {
        // Waits until the history is written, because the store answers only then. Page views are not computed earlier,
        // because that would delay the first frame.
        let jobs = self.store.jobs(&self.scope).await?;
        let today = self.sim.now().date_naive();
        for range in ranges_to_compare(today) {
            self.cache_range(range).await?;
        }
        let days = (0..=FIRST_CACHED_DAYS_AGO).filter(|ago| !MISSING_DAYS_AGO.contains(ago));
        for day in days.filter_map(|ago| today.checked_sub_days(Days::new(ago))).map(DateRange::day) {
            let query = ViewsQuery { range: day, limit: DEFAULT_PAGE_SIZE, page: 1 };
            self.store
                .save_views(&self.scope, query, &self.compute_response(query).await, self.simulated_load_time(day.to()))
                .await?;
        }
        for row in jobs.iter().filter(|row| !row.local.pages.is_empty()) {
            let weeks = weeks_before_and_after(row).map(|weeks| [Some(weeks.before), weeks.after]);
            for range in weeks.into_iter().flatten().flatten().filter(|range| range.to() < today) {
                self.cache_range(range).await?;
            }
        }
        Ok(())
    }

    /// Caches the page views of all pages in a range.
    async fn cache_range(&self, range: DateRange) -> Result<(), StoreError> {
        for number in 1.. {
            let query = ViewsQuery { range, limit: MAX_PAGE_SIZE, page: number };
            let response = self.compute_response(query).await;
            let is_last = !query.has_next(&response);
            let as_of = self.simulated_load_time(range.to());
            let response = ReportResponse { range, number, response, is_last, as_of, restarted_at: None };
            if !self.store.cache_and_add_report_response(&self.scope, response, None).await? || is_last {
                break;
            }
        }
        Ok(())
    }

    /// Computes the simulated service's response on another thread, so that the event loop is not blocked.
    async fn compute_response(&self, query: ViewsQuery) -> crate::model::views::ViewsResponse {
        let sim = Arc::clone(&self.sim);
        tokio::task::spawn_blocking(move || sim.views(query)).await.unwrap_or_default()
    }

    /// Returns when the demo's user supposedly loaded a range that ends on `last`: at 9:00 UTC two days after `last`,
    /// or an hour ago if that is earlier, but not before `last` was over. If `last` is not over yet, returns now.
    fn simulated_load_time(&self, last: NaiveDate) -> Time {
        let at = |days, time: NaiveTime| last.checked_add_days(Days::new(days)).map(|day| day.and_time(time).and_utc());
        let now = self.sim.now();
        let lately = now - TimeDelta::hours(1);
        let lately = at(1, NaiveTime::MIN).map_or(lately, |over| lately.max(over.min(now)));
        let morning = NaiveTime::from_hms_opt(9, 0, 0).unwrap_or_default();
        at(2, morning).map_or(lately, |later| later.min(lately))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::SimOptions;
    use chrono::Utc;

    #[tokio::test]
    async fn the_demo_caches_page_views_for_comparison_trend_and_job_effect() {
        let sim = Arc::new(Sim::start(SimOptions { pages: 300, ..SimOptions::default() }).await.expect("a simulator"));
        let scope = Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None };
        let store = Store::in_memory().expect("a store");
        let history = super::super::history::DemoHistory::new(&scope, sim.initial_jobs(), Utc::now());
        history.write(store.clone()).await.expect("written");
        fill_cache(Arc::clone(&sim), store.clone(), scope.clone()).await;
        let today = sim.now().date_naive();
        let weeks = ranges_to_compare(today);
        assert_eq!(
            weeks.iter().map(DateRange::days).collect::<Vec<_>>(),
            [6, 6, 7],
            "complete days, and a complete week"
        );
        for range in weeks {
            let stored = store.cached_report(&scope, range).await.expect("read");
            let report = stored.report.expect("all pages");
            assert!(report.complete && report.as_of.date_naive() > range.to(), "its days were over");
        }
        let days: Vec<DateRange> =
            (0..30).filter_map(|ago| today.checked_sub_days(Days::new(ago))).map(DateRange::day).collect();
        let known = store.views_totals(&scope, &days).await.expect("read");
        assert_eq!(known.len(), 28, "two older days are not loaded");
        let rows = store.jobs(&scope).await.expect("jobs");
        let finished = rows
            .iter()
            .find(|row| !row.local.pages.is_empty() && weeks_before_and_after(row).is_some_and(|w| w.after.is_some()));
        let weeks = finished.and_then(weeks_before_and_after).expect("a finished job about pages");
        let path = &finished.expect("the same").local.pages[0];
        let views = store.page_views(&scope, path, &[weeks.before]).await.expect("read");
        assert!(views[0].counts().is_some(), "{views:?}");
    }
}
