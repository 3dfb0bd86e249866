//! Books requests in the team's ledger of the hourly limits before they are sent. If the database doesn't answer, only
//! this computer's ledger decides, and the request is added to the team's ledger later.

use super::state::TeamAccess;
use crate::engine::clock::local_now;
use crate::engine::lock::lock;
use crate::engine::state::EngineState;
use crate::model::Time;
use crate::model::ledger::{Budget, Quota, Wait};
use crate::model::team::{MAX_SEND_DELAY_AFTER_BOOKING, TeamRequestPermission, TeamUsage};
use crate::team::{RateLimitWait, TeamConnection, TeamError, TeamLedgerUsage, TeamLimit};
use chrono::{TimeDelta, Utc};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// How long the database may take to book a request.
pub(super) const BOOKING_TIMEOUT: Duration = Duration::from_secs(1);
/// How long requests are sent without a booking after the database did not answer.
const RETRY_BOOKING_AFTER: Duration = Duration::from_secs(10);
/// After this time, a used-up limit is checked again even without a notification, since notifications may be lost.
const RECHECK_LIMIT_AFTER: Duration = Duration::from_secs(30);
/// The connection is closed when it has not been used for this long.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Whether the team's ledger permits one request. A booked request must be sent before the booking expires.
#[derive(Debug, Clone)]
pub(in crate::engine) struct BookingResult {
    pub(in crate::engine) permission: TeamRequestPermission,
    quota: Quota,
    /// When the booking was requested, on the monotonic clock and on the wall clock. The monotonic clock alone is not
    /// enough, because it stops while the computer sleeps.
    requested_at: (Instant, Time),
}

impl BookingResult {
    fn new(quota: Quota, permission: TeamRequestPermission) -> Self {
        Self { permission, quota, requested_at: (Instant::now(), local_now()) }
    }

    /// Whether it is too late to send the request: the team's ledger might stop counting it before the service does.
    pub(in crate::engine) fn is_expired(&self) -> bool {
        let (instant, time) = self.requested_at;
        let lifetime = MAX_SEND_DELAY_AFTER_BOOKING.to_std().unwrap_or_default();
        let is_valid = instant.elapsed() < lifetime && (Utc::now() - time).abs() < MAX_SEND_DELAY_AFTER_BOOKING;
        matches!(self.permission, TeamRequestPermission::Booked { .. }) && !is_valid
    }
}

impl EngineState {
    /// Books one request in the team's ledger, if the project is shared.
    pub(in crate::engine) async fn book_request(&self, quota: Quota) -> BookingResult {
        let Some(access) = self.team.access() else {
            return BookingResult::new(quota, TeamRequestPermission::NotShared);
        };
        // If the store can't be read, no request can be sent anyway.
        let Ok(Some(team)) = self.store.team_membership(&self.scope).await else {
            return BookingResult::new(quota, TeamRequestPermission::NotShared);
        };
        if let Some((until, requested_at)) = lock(&self.team.used_up_limits).get(&quota).copied()
            && until > self.clock.now()
            && requested_at.elapsed() < RECHECK_LIMIT_AFTER
        {
            return BookingResult::new(quota, TeamRequestPermission::LimitReached { until });
        }
        let booking_id = format!("{:032x}", fastrand::u128(..));
        let mut booking =
            BookingResult::new(quota, TeamRequestPermission::Unreachable { booking_id: booking_id.clone() });
        if lock(&self.team.earliest_next_booking).is_some_and(|at| at > Instant::now()) {
            return booking;
        }
        let limit = TeamLimit { organization: &team.organization, scope: &self.scope, quota };
        let booked = tokio::time::timeout(BOOKING_TIMEOUT, self.book_over_connection(access, limit, &booking_id)).await;
        match booked {
            Ok(Ok((is_booked, counts))) => {
                *lock(&self.team.earliest_next_booking) = None;
                self.set_team_usage(&counts).await;
                let until = lock(&self.team.counts).get(&quota).and_then(|count| count.resets_at);
                booking.permission = match until {
                    _ if is_booked => TeamRequestPermission::Booked { booking_id },
                    // Try again in a second: the counts don't show when a request becomes free, because another member
                    // is booking the last request or has just canceled a booking.
                    None => TeamRequestPermission::LimitReached { until: self.clock.now() + TimeDelta::seconds(1) },
                    Some(until) => TeamRequestPermission::LimitReached { until },
                };
                if let TeamRequestPermission::LimitReached { until } = booking.permission {
                    lock(&self.team.used_up_limits).insert(quota, (until, Instant::now()));
                }
            }
            Ok(Err(_)) | Err(_) => {
                // After an unfinished statement, the connection can't be used any more.
                *self.team.booking_connection.lock().await = None;
                *lock(&self.team.earliest_next_booking) = Instant::now().checked_add(RETRY_BOOKING_AFTER);
            }
        }
        booking
    }

    async fn book_over_connection(
        &self,
        access: &TeamAccess,
        limit: TeamLimit<'_>,
        booking_id: &str,
    ) -> Result<(bool, Vec<TeamLedgerUsage>), TeamError> {
        let mut slot = self.team.booking_connection.lock().await;
        let connection = self.open_booking_connection(access, &mut slot).await?;
        let is_booked = connection.try_book_request(limit, booking_id).await?;
        let counts = connection.ledger_usage(limit.organization, limit.scope).await?;
        let clock = connection.clock().await?;
        Ok((is_booked, counts.into_iter().map(|count| count.with_local_time(clock)).collect()))
    }

    /// Returns the connection in `slot`, which is the locked `booking_connection`. Opens it if it is closed.
    pub(super) async fn open_booking_connection<'a>(
        &self,
        access: &TeamAccess,
        slot: &'a mut Option<(TeamConnection, Instant)>,
    ) -> Result<&'a TeamConnection, TeamError> {
        let (connection, used_at) = match slot {
            Some(open) => open,
            closed => {
                let connection = TeamConnection::open_checked(&access.address, BOOKING_TIMEOUT).await?;
                tokio::spawn(close_when_idle(Arc::downgrade(&self.team.booking_connection)));
                closed.insert((connection, Instant::now()))
            }
        };
        *used_at = Instant::now();
        Ok(connection)
    }

    /// Cancels the booking of a request that was not sent. If the database doesn't answer, the request still
    /// counts for an hour.
    pub(in crate::engine) async fn cancel_booking(&self, booking: &BookingResult) {
        let TeamRequestPermission::Booked { booking_id } = &booking.permission else { return };
        let Ok(Some(team)) = self.store.team_membership(&self.scope).await else { return };
        let limit = TeamLimit { organization: &team.organization, scope: &self.scope, quota: booking.quota };
        let mut slot = self.team.booking_connection.lock().await;
        let Some((connection, _)) = slot.as_ref() else { return };
        let returned = tokio::time::timeout(BOOKING_TIMEOUT, connection.cancel_booking(limit, booking_id)).await;
        if !matches!(returned, Ok(Ok(()))) {
            *slot = None;
        }
    }

    /// Shares the wait after a 429 with the other members, if the project is shared. If the database doesn't answer,
    /// they don't learn of the wait.
    pub(in crate::engine) async fn share_wait_with_team(&self, quota: Quota, wait: Wait) {
        let Some(access) = self.team.access() else { return };
        let Ok(Some(team)) = self.store.team_membership(&self.scope).await else { return };
        if lock(&self.team.earliest_next_booking).is_some_and(|at| at > Instant::now()) {
            return;
        }
        let limit = TeamLimit { organization: &team.organization, scope: &self.scope, quota };
        let blocked = RateLimitWait { remaining: wait.until - self.clock.now(), is_estimate: wait.is_estimate };
        let share = async {
            let mut slot = self.team.booking_connection.lock().await;
            let connection = self.open_booking_connection(access, &mut slot).await?;
            connection.share_rate_limit_wait(limit, blocked).await
        };
        if !matches!(tokio::time::timeout(BOOKING_TIMEOUT, share).await, Ok(Ok(()))) {
            *self.team.booking_connection.lock().await = None;
        }
    }

    /// Stores the waits that other members got with a 429, as if this computer had received the 429. Members share how
    /// long a wait still lasts. Sharing takes time, so a wait that this computer already knows may seem to end a little
    /// later. So a wait that ends at most a second after the known wait is ignored.
    async fn store_shared_waits(&self, counts: &[TeamLedgerUsage]) {
        for TeamLedgerUsage { quota, rate_limit_wait, .. } in counts {
            let Some(RateLimitWait { remaining, is_estimate }) = *rate_limit_wait else { continue };
            let now = self.clock.now();
            let wait = Wait { until: now + remaining, is_estimate };
            let known = self.store.budget(&self.scope, *quota, now).await.ok().and_then(|budget| budget.blocked);
            if known.is_none_or(|known| wait.until - known.until > TimeDelta::seconds(1))
                && let Err(error) = self.store.record_rate_limit(&self.scope, *quota, wait, now).await
            {
                self.emit_problem(error.failure()).await;
            }
        }
    }

    /// Stores how many requests the team has used, and emits the budgets. The times in `counts` are local wall time.
    /// Wakes the dispatcher if a limit is no longer used up.
    pub(super) async fn set_team_usage(&self, counts: &[TeamLedgerUsage]) {
        self.store_shared_waits(counts).await;
        let as_of = local_now();
        let mut is_limit_free_again = false;
        for TeamLedgerUsage { quota, used, resets_at, .. } in counts {
            let resets_at = resets_at.map(|at| self.clock.local_to_service(at));
            lock(&self.team.counts).insert(*quota, TeamUsage { used: *used, resets_at, as_of });
            if *used < quota.limit() {
                is_limit_free_again |= lock(&self.team.used_up_limits).remove(quota).is_some();
            }
        }
        self.emit_budgets().await;
        if is_limit_free_again {
            self.dispatch_wake.notify_one();
        }
    }

    /// Returns the team's budget if it is known, otherwise the budget of this computer.
    pub(in crate::engine) async fn with_team_count(&self, quota: Quota, local_budget: Budget) -> Budget {
        let Some((usage, is_current)) = self.team.usage(quota) else { return local_budget };
        let since = self.clock.now() - quota.window();
        let unreported = self.store.unreported_requests(&self.scope, since).await.unwrap_or_default();
        let unreported = unreported.iter().filter(|unreported| unreported.quota == quota).count();
        usage.budget(local_budget, u32::try_from(unreported).unwrap_or(u32::MAX), is_current, local_now())
    }
}

/// Closes the booking connection after it has not been used for [`IDLE_TIMEOUT`].
async fn close_when_idle(connection: Weak<tokio::sync::Mutex<Option<(TeamConnection, Instant)>>>) {
    let mut check_at = Instant::now() + IDLE_TIMEOUT;
    loop {
        tokio::time::sleep_until(check_at).await;
        let Some(connection) = connection.upgrade() else { return };
        let mut slot = connection.lock().await;
        match slot.as_ref() {
            None => return,
            Some((_, used_at)) if used_at.elapsed() >= IDLE_TIMEOUT => {
                *slot = None;
                return;
            }
            Some((_, used_at)) => check_at = *used_at + IDLE_TIMEOUT,
        }
    }
}
