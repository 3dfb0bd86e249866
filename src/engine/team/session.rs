//! The task that exchanges changes with the team's database. Only the instance with the computer's poll lease runs
//! sessions. A session keeps one connection, on which the database notifies it of changes by other members. The session
//! sends changes of this computer as soon as they are stored. It queries the database only after a notification, and
//! once a minute in case a notification was lost.

use super::state::{PollPermission, TeamAccess};
use crate::engine::clock::{local_now, sleep_until};
use crate::engine::lease::LeaseRole;
use crate::engine::lock::lock;
use crate::engine::poller_message::PollerMessage;
use crate::engine::state::EngineState;
use crate::model::engine_event::EngineEvent;
use crate::model::ledger::RATE_LIMIT_WINDOW;
use crate::model::team::{ReportRules, TeamStatus};
use crate::model::text::CleanText;
use crate::store::StoreError;
use crate::team::{Exchange, ExchangeStep, LEASE_DURATION, MemberSettings, TeamConnection, TeamError};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How long to collect changes before sending them, since an action often writes several transactions.
const SEND_DELAY: Duration = Duration::from_millis(50);
/// How many SQL statements are needed to send changes once.
const STATEMENTS_PER_SEND: f64 = 7.0;
/// How many SQL statements per second are allowed on average. So if changes never stop, they are sent only every few
/// seconds.
const ALLOWED_STATEMENTS_PER_SECOND: f64 = 2.0;
/// How many SQL statements are allowed at once: 60 sends, enough to send a change of each of 50 active jobs
/// immediately.
const MAX_STATEMENTS_AT_ONCE: f64 = 420.0;
/// How often the session queries the database for changes without a notification.
const REGULAR_QUERY_INTERVAL: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// If connecting takes longer, polling starts without the team.
const POLL_WITHOUT_TEAM_AFTER: Duration = Duration::from_secs(2);
/// How often the team's polling lease is renewed while there are jobs to poll.
const LEASE_RENEWAL_INTERVAL: Duration = Duration::from_secs(4);
/// This instance stops polling this long before its lease expires in the database.
const LEASE_MARGIN: Duration = Duration::from_secs(2);
/// After the lease of another member has expired, this instance waits 50 to 150% of this time, at random, before it
/// tries to take the lease.
const MEAN_TAKEOVER_DELAY: Duration = Duration::from_millis(200);
const MAX_BACKOFF: Duration = Duration::from_secs(60);
/// How long to wait after an error that only an administrator or the user can resolve.
const LONG_BACKOFF: Duration = Duration::from_secs(600);
/// The maximum time that a session waits at its end for the release of the team's polling lease.
const LEASE_RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

/// Why a session ended without an error.
enum SessionEnd {
    /// The project is not shared.
    NotShared,
    /// This instance no longer has the poll lease of this computer.
    LostPollLease,
}

/// Runs one session after the other until it is aborted.
pub(in crate::engine) async fn run_sessions(inner: Arc<EngineState>, access: TeamAccess) {
    let lease_holder_id = format!("{:032x}", fastrand::u128(..));
    let mut commits = inner.store.commits();
    let mut failures: u32 = 0;
    let mut last_notice: Option<String> = None;
    loop {
        if !inner.leases.holds(LeaseRole::Poll) {
            inner.team.wake.notified().await;
            continue;
        }
        let result = run_session(&inner, &access, &lease_holder_id, &mut commits).await;
        inner.team.is_connected.send_replace(false);
        let error = match result {
            Ok(end) => {
                (failures, last_notice) = (0, None);
                inner.set_team_status(TeamStatus::Inactive).await;
                if let SessionEnd::NotShared = end {
                    inner.set_poll_permission(PollPermission::Unrestricted);
                    inner.forget_team_counts().await;
                    tokio::select! {
                        _ = commits.changed() => {}
                        () = inner.team.wake.notified() => {}
                    }
                }
                continue;
            }
            Err(error) => error,
        };
        // If this instance was online, this is the first failure in a row.
        failures = if inner.team.is_online() { 1 } else { failures.saturating_add(1) };
        inner.set_poll_permission(PollPermission::Unrestricted);
        if !matches!(inner.team_status(), TeamStatus::Offline { .. }) {
            inner.set_team_status(TeamStatus::Offline { since: local_now() }).await;
        }
        if let TeamError::Store(error) = &error {
            inner.emit_problem(StoreError::failure(error)).await;
        } else if !error.is_temporary() && last_notice.as_deref() != Some(&error.to_string()) {
            last_notice = Some(error.to_string());
            inner.emit(EngineEvent::Notice(CleanText::line(&error.to_string()))).await;
        }
        tokio::time::sleep(retry_delay(failures, error.is_temporary())).await;
    }
}

/// Returns how long to wait after this many failures in a row. After a temporary error: 0.5, 1, 2 … 60 s, each
/// shortened by up to a half at random, so that not all members reconnect at the same time. After any other error:
/// [`LONG_BACKOFF`].
fn retry_delay(failures: u32, is_temporary: bool) -> Duration {
    if !is_temporary {
        return LONG_BACKOFF;
    }
    let doubled = Duration::from_millis(250).saturating_mul(2_u32.saturating_pow(failures.min(10)));
    doubled.min(MAX_BACKOFF).mul_f64(0.5 + fastrand::f64() / 2.0)
}

async fn run_session(
    inner: &EngineState,
    access: &TeamAccess,
    lease_holder_id: &str,
    commits: &mut watch::Receiver<()>,
) -> Result<SessionEnd, TeamError> {
    commits.mark_unchanged();
    if inner.store.team_membership(&inner.scope).await?.is_none() {
        return Ok(SessionEnd::NotShared);
    }
    let connection = connect(inner, access).await?;
    inner.team.is_connected.send_replace(true);
    let reader_text_days = inner.analytics.reader_text_days;
    let member = MemberSettings { name: access.name.as_str(), reader_text_days };
    let started = Exchange::start(&connection, &inner.store, &inner.scope, member).await?;
    let Some(exchange) = started else { return Ok(SessionEnd::NotShared) };
    exchange.listen().await?;
    let mut session =
        ConnectedSession { inner, exchange, lease_holder_id, lease_due: None, reports: ReportExchange::default() };
    let end = session.run(&connection, commits).await?;
    // If releasing fails, the lease expires later.
    let _ = tokio::time::timeout(LEASE_RELEASE_TIMEOUT, session.exchange.release_poll_lease()).await;
    inner.set_poll_permission(PollPermission::Denied);
    Ok(end)
}

/// Connects to the database. If this takes longer than [`POLL_WITHOUT_TEAM_AFTER`], allows polling without the team.
async fn connect(inner: &EngineState, access: &TeamAccess) -> Result<TeamConnection, TeamError> {
    let connect = TeamConnection::open_checked(&access.address, CONNECT_TIMEOUT);
    tokio::pin!(connect);
    tokio::select! {
        connection = &mut connect => return connection,
        () = tokio::time::sleep(POLL_WITHOUT_TEAM_AFTER) => inner.set_poll_permission(PollPermission::Unrestricted),
    }
    connect.await
}

/// Limits how often changes are sent.
struct SendRateLimiter {
    /// How many statements may be sent at the time `credit_at`. Negative if sends that are already counted must wait.
    credit: f64,
    credit_at: Instant,
}

impl SendRateLimiter {
    /// Counts one send, and returns how long to wait before it.
    fn reserve_send(&mut self, now: Instant) -> Duration {
        let earned = now.saturating_duration_since(self.credit_at).as_secs_f64() * ALLOWED_STATEMENTS_PER_SECOND;
        self.credit = (self.credit + earned).min(MAX_STATEMENTS_AT_ONCE) - STATEMENTS_PER_SEND;
        self.credit_at = now;
        SEND_DELAY + Duration::from_secs_f64((-self.credit).max(0.0) / ALLOWED_STATEMENTS_PER_SECOND)
    }
}

/// Which exchanges of analytics reports are still to be done.
#[derive(Default)]
struct ReportExchange {
    must_receive: bool,
    must_send: bool,
    /// Whether reports were sent since they were last received.
    has_sent: bool,
}

impl ReportExchange {
    fn is_pending(&self) -> bool {
        self.must_receive || self.must_send
    }
}

/// The exchange with the team while the database is connected.
struct ConnectedSession<'a> {
    inner: &'a EngineState,
    exchange: Exchange<'a>,
    /// The random id of this process as a holder of the team's polling lease.
    lease_holder_id: &'a str,
    /// When to take or renew the lease for polling; `None` while it is not needed.
    lease_due: Option<Instant>,
    reports: ReportExchange,
}

impl ConnectedSession<'_> {
    async fn run(
        &mut self,
        connection: &TeamConnection,
        commits: &mut watch::Receiver<()>,
    ) -> Result<SessionEnd, TeamError> {
        let mut next_regular_query = Instant::now() + REGULAR_QUERY_INTERVAL;
        let mut rate_limiter = SendRateLimiter { credit: MAX_STATEMENTS_AT_ONCE, credit_at: Instant::now() };
        let mut send_due: Option<Instant> = None;
        self.receive_changes().await?;
        self.send_changes().await?;
        self.update_team_usage().await?;
        self.inner.store.record_team_exchange(&self.inner.scope, local_now()).await?;
        self.reports.must_receive = true;
        loop {
            self.take_or_release_lease().await?;
            self.inner.set_team_status(TeamStatus::Online).await;
            tokio::select! {
                signals = connection.next_notifications() => {
                    let signals = signals?;
                    if signals.has_changes {
                        self.receive_changes().await?;
                    }
                    if signals.has_ledger_changes {
                        self.update_team_usage().await?;
                    }
                    self.reports.must_receive |= signals.has_reports;
                    if signals.is_lease_released && !self.exchange.has_lease() && self.lease_due.is_some() {
                        self.lease_due = Some(Instant::now());
                    }
                }
                _ = commits.changed(), if send_due.is_none() => {
                    let now = Instant::now();
                    if self.has_unsent_changes().await? {
                        send_due = Some(now + rate_limiter.reserve_send(now));
                    }
                }
                () = sleep_until(send_due), if send_due.is_some() => {
                    send_due = None;
                    commits.mark_unchanged();
                    self.send_changes().await?;
                }
                () = self.inner.team.wake.notified() => {
                    if !self.inner.leases.holds(LeaseRole::Poll) {
                        return Ok(SessionEnd::LostPollLease);
                    }
                    let team = self.inner.store.team_membership(&self.inner.scope).await?;
                    if team.is_none_or(|team| team.organization != self.exchange.organization()) {
                        return Ok(SessionEnd::NotShared);
                    }
                    self.send_changes().await?;
                    if self.inner.team.must_read_counts.swap(false, Ordering::Relaxed) {
                        self.update_team_usage().await?;
                    }
                }
                () = sleep_until(self.lease_due), if self.lease_due.is_some() => {}
                // One step at a time, so that changes of jobs don't wait for large reports.
                () = std::future::ready(()), if self.reports.is_pending() => self.exchange_next_reports().await?,
                () = tokio::time::sleep_until(next_regular_query) => {
                    next_regular_query = Instant::now() + REGULAR_QUERY_INTERVAL;
                    let receivable = self.exchange.record_presence_and_check_for_data().await?;
                    if receivable.has_changes {
                        self.receive_changes().await?;
                    }
                    self.send_changes().await?;
                    self.reports.must_receive |= receivable.has_reports;
                }
            }
        }
    }

    /// Receives all changes of other members, and emits the changed jobs after each response of the database.
    async fn receive_changes(&mut self) -> Result<(), TeamError> {
        loop {
            let received_before = self.exchange.summary.received;
            let step = self.exchange.receive_next_changes(local_now()).await?;
            if self.exchange.summary.received > received_before {
                self.inner.emit_changed_jobs().await?;
                self.inner.emit(EngineEvent::ExternalChange).await;
            }
            if step == ExchangeStep::Last {
                return Ok(());
            }
            self.inner.set_team_status(TeamStatus::Receiving(self.exchange.summary.received)).await;
        }
    }

    /// Whether there is anything for [`Self::send_changes`].
    async fn has_unsent_changes(&self) -> Result<bool, TeamError> {
        let (store, scope) = (&self.inner.store, &self.inner.scope);
        let rules = ReportRules { now: local_now(), reader_text_days: self.inner.analytics.reader_text_days };
        Ok(store.has_unsent_team_changes(scope).await? || store.count_unsent_team_reports(scope, rules).await? > 0)
    }

    /// Sends the changes of this computer, and adds to the team's ledger the requests that were not booked. The reports
    /// are sent later, by [`Self::exchange_next_reports`].
    async fn send_changes(&mut self) -> Result<(), TeamError> {
        let sent_before = self.exchange.summary.sent;
        while self.exchange.send_next_batch().await? {}
        if self.exchange.summary.sent > sent_before {
            // Receives the changes that were just sent, to move the cursor past them.
            self.receive_changes().await?;
            self.inner.store.record_team_exchange(&self.inner.scope, local_now()).await?;
        }
        self.reports.must_send = true;
        self.report_unbooked_requests().await
    }

    /// Receives some analytics reports and emits them as events. If there are none to receive, sends some.
    async fn exchange_next_reports(&mut self) -> Result<(), TeamError> {
        if self.reports.must_receive {
            self.reports.must_receive = self.exchange.receive_next_reports(local_now()).await? == ExchangeStep::HasMore;
            let received = self.exchange.take_received_reports();
            self.inner.emit_received_reports(&received).await?;
            self.inner.mark_reports_as_emitted(&received).await?;
            self.reports.must_send |= !self.reports.must_receive;
            return Ok(());
        }
        let sent_before = self.exchange.summary.sent_reports;
        self.reports.must_send = self.exchange.send_next_reports(local_now()).await? == ExchangeStep::HasMore;
        self.reports.has_sent |= self.exchange.summary.sent_reports > sent_before;
        if !self.reports.must_send && std::mem::take(&mut self.reports.has_sent) {
            // Moves the cursor past the reports that were just sent.
            self.reports.must_receive = true;
        }
        Ok(())
    }

    /// Takes or renews the team's polling lease while there are jobs to poll, otherwise releases it. Allows or denies
    /// polling accordingly.
    async fn take_or_release_lease(&mut self) -> Result<(), TeamError> {
        if !self.inner.team.has_jobs_to_poll.load(Ordering::Relaxed) {
            self.lease_due = None;
            if self.exchange.has_lease() {
                self.exchange.release_poll_lease().await?;
            }
            self.inner.set_poll_permission(PollPermission::Denied);
            return Ok(());
        }
        let now = Instant::now();
        if self.lease_due.is_some_and(|due| due > now) {
            if !self.exchange.has_lease() {
                self.inner.set_poll_permission(PollPermission::Denied);
            }
            return Ok(());
        }
        let wall = local_now();
        match self.exchange.take_lease_or_get_wait(self.lease_holder_id).await? {
            None => {
                self.lease_due = Some(now + LEASE_RENEWAL_INTERVAL);
                let usable_time = LEASE_DURATION.saturating_sub(LEASE_MARGIN);
                self.inner.set_poll_permission(PollPermission::Until(now + usable_time, wall + usable_time));
            }
            Some(time) => {
                self.lease_due = Some(Instant::now() + time + MEAN_TAKEOVER_DELAY.mul_f64(0.5 + fastrand::f64()));
                self.inner.set_poll_permission(PollPermission::Denied);
            }
        }
        Ok(())
    }

    /// Adds to the team's ledger the requests that could not be booked when they were sent.
    async fn report_unbooked_requests(&mut self) -> Result<(), TeamError> {
        let clock = &self.inner.clock;
        let since = clock.now() - RATE_LIMIT_WINDOW;
        let unreported = self.inner.store.unreported_requests(&self.inner.scope, since).await?;
        if unreported.is_empty() {
            return Ok(());
        }
        let local = unreported
            .iter()
            .map(|request| (request.quota, request.booking_id.clone(), clock.service_to_local(request.at)));
        self.exchange.add_unbooked_requests(&local.collect::<Vec<_>>()).await?;
        self.inner.store.delete_reported_requests(&unreported).await?;
        self.update_team_usage().await
    }

    async fn update_team_usage(&mut self) -> Result<(), TeamError> {
        let counts = self.exchange.ledger_usage().await?;
        self.inner.set_team_usage(&counts).await;
        Ok(())
    }
}

impl EngineState {
    fn team_status(&self) -> TeamStatus {
        *lock(&self.team.status)
    }

    /// Sets and emits the state of the exchange, if it has changed.
    async fn set_team_status(&self, status: TeamStatus) {
        let before = std::mem::replace(&mut *lock(&self.team.status), status);
        if before != status {
            self.emit(EngineEvent::Team(status)).await;
            if matches!((before, status), (TeamStatus::Offline { .. }, _) | (_, TeamStatus::Offline { .. })) {
                // Emit the budgets again: they show the age of the team's counts while the exchange is offline, and
                // hide the age otherwise.
                self.emit_budgets().await;
            }
        }
    }

    /// Deletes the team's counts, so that budgets count only the requests of this computer.
    async fn forget_team_counts(&self) {
        let counts = std::mem::take(&mut *lock(&self.team.counts));
        lock(&self.team.used_up_limits).clear();
        if !counts.is_empty() {
            self.emit_budgets().await;
        }
    }

    fn set_poll_permission(&self, permission: PollPermission) {
        let was_polling_allowed = self.team.may_poll();
        *lock(&self.team.poll_permission) = permission;
        if self.team.may_poll() != was_polling_allowed {
            self.send_to_poller(PollerMessage::LeaseChanged);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changes_of_50_jobs_are_sent_at_once_and_endless_ones_with_two_statements_per_second() {
        let start = Instant::now();
        let mut rate_limiter = SendRateLimiter { credit: MAX_STATEMENTS_AT_ONCE, credit_at: start };
        assert!((0..50).all(|_| rate_limiter.reserve_send(start) == SEND_DELAY));
        let (mut now, mut sends) = (start, 0.0);
        while now < start + Duration::from_secs(600) {
            now += rate_limiter.reserve_send(now);
            sends += 1.0;
        }
        assert!(
            sends * STATEMENTS_PER_SEND <= 600.0 * ALLOWED_STATEMENTS_PER_SECOND + MAX_STATEMENTS_AT_ONCE,
            "{sends}"
        );
        assert_eq!(rate_limiter.reserve_send(now + Duration::from_secs(300)), SEND_DELAY);
    }

    #[test]
    fn another_member_tries_to_take_a_lease_over_within_15_seconds_after_its_last_renewal() {
        assert!(LEASE_DURATION + MEAN_TAKEOVER_DELAY.mul_f64(1.5) < Duration::from_secs(14));
        assert!(LEASE_RENEWAL_INTERVAL * 2 < LEASE_DURATION.saturating_sub(LEASE_MARGIN));
    }

    #[test]
    fn the_pause_grows_to_a_minute_and_is_random() {
        for failures in 1..40 {
            let pause = retry_delay(failures, true);
            assert!(pause >= Duration::from_millis(250) && pause <= MAX_BACKOFF, "{failures}: {pause:?}");
        }
        assert!(retry_delay(1, true) <= Duration::from_millis(500), "a short loss of the network is not noticed");
        assert!(retry_delay(12, true) >= MAX_BACKOFF / 2);
        assert_ne!(retry_delay(9, true), retry_delay(9, true));
    }
}
