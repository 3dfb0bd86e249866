//! Loads yesterday's page views into the cache once a day, if the user has turned this on. This costs one request a
//! day. Later, trends and sparklines need no request for a day that is already cached.

use super::lease::LeaseRole;
use super::state::EngineState;
use super::views::RequestPurpose;
use crate::model::failure::Failure;
use crate::model::period::{COUNTING_DELAY, DateRange};
use crate::model::views::{MAX_PAGE_SIZE, ViewsQuery};
use std::sync::Arc;
use std::time::Duration;

/// The time between two checks. It is much shorter than a day, because the timer stops while the computer sleeps.
const CHECK_INTERVAL: Duration = Duration::from_secs(600);
/// The time until the next check after a failed request. It is long, so that repeated failures use few of the hour's
/// requests.
const RETRY_INTERVAL: Duration = Duration::from_secs(3600);

/// Loads the page views of each day once they are final, until the task is aborted. Only the instance with the poll
/// lease loads them.
pub(super) async fn run_daily_loader(inner: Arc<EngineState>) {
    loop {
        let has_failed = inner.leases.holds(LeaseRole::Poll) && load_last_final_day(&inner).await.is_err();
        tokio::time::sleep(if has_failed { RETRY_INTERVAL } else { CHECK_INTERVAL }).await;
    }
}

/// Requests the page views of the last day whose counts no longer change, unless these final counts are already cached.
/// Makes only one request, with the largest page size, even if the day has more pages.
///
/// # Errors
/// The request failed, or the hourly limit is reached.
async fn load_last_final_day(inner: &Arc<EngineState>) -> Result<(), Failure> {
    let Some(day) = (inner.clock.now() - COUNTING_DELAY).date_naive().pred_opt() else { return Ok(()) };
    let query = ViewsQuery { range: DateRange::day(day), limit: MAX_PAGE_SIZE, page: 1 };
    let is_cached = inner.cached_views(query).await.is_some_and(|views| query.range.is_final(views.as_of));
    if is_cached {
        return Ok(());
    }
    inner.load_views_for_purpose(query, true, RequestPurpose::Page).await.loaded.map(drop)
}
