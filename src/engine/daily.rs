//! Records the page views of yesterday once a day, if the user wants that: with one request, so that trends and
//! sparklines of later months cost nothing.

use super::lease::LeaseRole;
use super::state::EngineState;
use super::views::RequestPurpose;
use crate::model::period::DateRange;
use crate::model::views::{MAX_PAGE_SIZE, ViewsQuery};
use std::sync::Arc;
use std::time::Duration;

/// The time between two checks. It is much shorter than a day, because the timer stops while the computer sleeps.
const CHECK_INTERVAL: Duration = Duration::from_secs(600);
/// How long after its end a day is recorded, because the service may still be counting.
const SETTLE_HOURS: i64 = 2;

/// Records each day once it is over, until the task is aborted. Only the instance that polls for all records.
pub(super) async fn run_recorder(inner: Arc<EngineState>) {
    loop {
        if inner.leases.holds(LeaseRole::Poll) {
            record_yesterday(&inner).await;
        }
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
}

/// Requests the page views of yesterday, unless they were loaded after that day had ended.
async fn record_yesterday(inner: &Arc<EngineState>) {
    let now = inner.clock.now();
    let Some(day) = (now - chrono::TimeDelta::hours(SETTLE_HOURS)).date_naive().pred_opt() else { return };
    let query = ViewsQuery { range: DateRange::day(day), limit: MAX_PAGE_SIZE, page: 1 };
    let is_recorded = inner.cached_views(query).await.is_some_and(|views| views.as_of.date_naive() > day);
    if !is_recorded {
        // A failure is in the log, and the next check tries again.
        let _ = inner.load_views_for(query, true, RequestPurpose::Page).await;
    }
}
