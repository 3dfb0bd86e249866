//! The poller: the task that checks the jobs with GETs. Only the instance with the poll lease polls. In a team, it also
//! needs the team's lease. The task starts GETs when the scheduler permits, and waits, backs off or stops
//! depending on the responses. Only this task determines the connection state.

use super::clock::{local_now, sleep_until};
use super::connection_sharing::ConnectionReporter;
use super::lease::LeaseRole;
use super::poller_message::{FetchOutcome, PollerMessage, ServiceHealth};
use super::schedule::{RequestEnd, Scheduler};
use super::setup::PollOptions;
use super::state::EngineState;
use crate::model::Time;
use crate::model::connection::ConnectionState;
use crate::model::failure::Failure;
use crate::model::job::{Job, JobKey};
use crate::model::poll::backoff;
use crate::model::text::CleanText;
use chrono::TimeDelta;
use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// After this many unusable responses in a row, the poller assumes that the service causes them, not a single job.
const MAX_UNUSABLE_RESPONSES: u32 = 3;
/// How long polling pauses if the store can't record responses.
const STORE_RETRY_DELAY: TimeDelta = TimeDelta::seconds(15);

/// Whether requests may start, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PollerMode {
    Running,
    /// The service can't be reached or fails. One GET at a time (the probe) checks whether it is back.
    Down {
        failures: u32,
        probe: Option<JobKey>,
    },
    /// The service responded with 429 (too many requests).
    Limited,
    /// The store can't record responses, or a check failed because of a bug.
    Stalled,
    /// The service responded with 401 or 403: polling stops until the user asks to try again.
    Refused,
}

struct Poller {
    inner: Arc<EngineState>,
    scheduler: Scheduler,
    mode: PollerMode,
    /// No request starts before this steady time (see `ServiceClock::steady_now`): the end of a pause, or the
    /// time of the next probe.
    not_before: Time,
    /// Whether the jobs to check were loaded from the store after the poll lease or the team's permission to poll last
    /// changed.
    has_loaded_jobs: bool,
    fetches: JoinSet<FetchOutcome>,
    /// Requests in flight that the poller did not start.
    unscheduled_requests_in_flight: usize,
    connection: ConnectionReporter,
    /// When the mode last changed, or an outage was last read from the store, in local wall time.
    mode_changed_at: Time,
    /// The number of unusable responses in a row.
    unusable_responses: u32,
}

/// Polls until it is aborted.
pub(super) async fn run_poller(
    inner: Arc<EngineState>,
    mut messages: mpsc::UnboundedReceiver<PollerMessage>,
    options: PollOptions,
) {
    let mut poller = Poller {
        scheduler: Scheduler::new(options.per_minute, options.max_in_flight),
        mode: PollerMode::Running,
        not_before: inner.clock.steady_now(),
        has_loaded_jobs: false,
        fetches: JoinSet::new(),
        unscheduled_requests_in_flight: 0,
        connection: ConnectionReporter::new(Arc::clone(&inner)),
        mode_changed_at: local_now(),
        unusable_responses: 0,
        inner,
    };
    loop {
        // Handle all pending messages before starting requests. When the poller handles a change of the lease, it loads
        // its jobs again, so a GET that it has started just before would be sent twice.
        while let Ok(message) = messages.try_recv() {
            poller.handle_message(message).await;
        }
        poller.start_due_checks().await;
        poller
            .connection
            .emit_connecting(poller.unscheduled_requests_in_flight > 0 || !poller.fetches.is_empty())
            .await;
        let wake = poller.next_wake().map(|at| poller.inner.clock.steady_to_instant(at));
        tokio::select! {
            message = messages.recv() => match message {
                Some(message) => poller.handle_message(message).await,
                None => return,
            },
            Some(Ok(outcome)) = poller.fetches.join_next() => poller.handle_finished_get(outcome).await,
            () = sleep_until(wake), if wake.is_some() => {}
        }
    }
}

impl Poller {
    fn has_lease(&self) -> bool {
        self.inner.leases.holds(LeaseRole::Poll)
    }

    fn steady_now(&self) -> Time {
        self.inner.clock.steady_now()
    }

    async fn start_due_checks(&mut self) {
        let steady_now = self.steady_now();
        if !self.has_lease() || steady_now < self.not_before {
            return;
        }
        if matches!(self.mode, PollerMode::Limited | PollerMode::Stalled) {
            self.resume_polling();
        }
        if self.mode == PollerMode::Running && !self.has_loaded_jobs {
            self.load_unfinished_jobs().await;
        }
        self.inner.team.set_has_jobs_to_poll(!self.scheduler.is_empty());
        if !self.inner.team.may_poll() {
            return;
        }
        let to_check = match self.mode {
            PollerMode::Running => self.scheduler.take_due_jobs(steady_now),
            PollerMode::Down { failures, probe: None } => {
                let probe = self.scheduler.take_probe();
                self.mode = PollerMode::Down { failures, probe };
                probe.into_iter().collect()
            }
            _ => Vec::new(),
        };
        for key in to_check {
            let inner = Arc::clone(&self.inner);
            self.fetches.spawn(async move {
                let fetched = AssertUnwindSafe(inner.fetch_job(key)).catch_unwind().await;
                fetched.map_or_else(|_| FetchOutcome::crashed(key), |(_, outcome)| outcome)
            });
        }
    }

    /// Returns the next time at which [`Poller::start_due_checks`] has something to do; `None` if it has nothing to do
    /// before the next message or response.
    fn next_wake(&self) -> Option<Time> {
        match self.mode {
            _ if !self.has_lease() || !self.inner.team.may_poll() => None,
            PollerMode::Running => self.scheduler.next_wake(self.steady_now()),
            PollerMode::Down { probe: Some(_), .. } | PollerMode::Refused => None,
            _ if self.has_loaded_jobs && self.scheduler.is_empty() => None,
            _ => Some(self.not_before),
        }
    }

    /// Loads the unfinished jobs from the store into the scheduler.
    async fn load_unfinished_jobs(&mut self) {
        match self.inner.store.jobs_to_check(&self.inner.scope).await {
            Ok(rows) => {
                self.schedule_jobs(&rows);
                self.has_loaded_jobs = true;
            }
            Err(error) => self.stall(error.failure()).await,
        }
    }

    fn schedule_jobs(&mut self, rows: &[Job]) {
        let (wall, steady_now) = (local_now(), self.steady_now());
        for row in rows {
            self.scheduler.update(row, wall, steady_now);
        }
    }

    async fn handle_message(&mut self, message: PollerMessage) {
        match message {
            PollerMessage::JobsChanged { rows, maybe_changed_by_others } => {
                self.schedule_jobs(&rows);
                let is_new_check = |row: &Job| row.local.checked_at.is_some_and(|at| at > self.mode_changed_at);
                if maybe_changed_by_others && !self.has_lease() && rows.iter().any(is_new_check) {
                    self.adopt_shared_recovery().await;
                }
            }
            PollerMessage::OnScreen(jobs) => self.scheduler.set_on_screen(jobs),
            PollerMessage::RequestStarted => self.unscheduled_requests_in_flight += 1,
            PollerMessage::RequestEnded => {
                self.unscheduled_requests_in_flight = self.unscheduled_requests_in_flight.saturating_sub(1)
            }
            PollerMessage::Outcome(outcome) => {
                match self.mode {
                    _ if outcome.was_job_requested => self.scheduler.count_unscheduled_request(self.steady_now()),
                    _ if outcome.health != ServiceHealth::NotRequested => {}
                    PollerMode::Refused => self.recover(),
                    PollerMode::Down { .. } => self.not_before = self.steady_now(),
                    _ => {}
                }
                self.apply_outcome(outcome, true).await;
            }
            PollerMessage::LeaseChanged => {
                self.has_loaded_jobs = false;
                if matches!(self.mode, PollerMode::Stalled | PollerMode::Down { .. }) {
                    self.set_mode(PollerMode::Running, self.steady_now());
                }
                if self.has_lease() {
                    self.connection.overwrite_shared_connection().await;
                }
            }
            PollerMessage::SharedConnection(connection) => self.adopt_shared_connection(connection).await,
        }
    }

    async fn handle_finished_get(&mut self, outcome: FetchOutcome) {
        let is_probe = matches!(self.mode, PollerMode::Down { probe: Some(key), .. } if outcome.key == Some(key));
        if let Some(key) = outcome.key {
            self.scheduler.finish_request(key, request_end(&outcome.health), self.steady_now());
        }
        self.apply_outcome(outcome, is_probe).await;
    }

    /// Updates the mode and the connection state from the outcome of a request. If no request was possible, removes the
    /// job from the schedule. If the request failed, `should_lengthen_backoff` determines whether the backoff gets
    /// longer. It is false for a scheduled request other than the probe, because such a request may have started before
    /// the first failure.
    async fn apply_outcome(&mut self, outcome: FetchOutcome, should_lengthen_backoff: bool) {
        let FetchOutcome { key, health, .. } = outcome;
        match health {
            ServiceHealth::NotRequested => {
                if let PollerMode::Down { probe, .. } = &mut self.mode {
                    probe.take_if(|probe| key == Some(*probe));
                }
                key.inspect(|key| self.scheduler.remove(*key, self.steady_now()));
            }
            ServiceHealth::Good => {
                self.unusable_responses = 0;
                if matches!(self.mode, PollerMode::Down { .. } | PollerMode::Refused) {
                    self.recover();
                }
                // A request that began before a 429 does not end the pause after the 429.
                if self.mode != PollerMode::Limited {
                    self.connection.emit(ConnectionState::Ready).await;
                }
            }
            ServiceHealth::Unusable(reason) => {
                self.unusable_responses = self.unusable_responses.saturating_add(1);
                // Once the service is known to be `Ready`, report it as `Unusable` only after several unusable
                // responses in a row. A single unusable response may concern only its job.
                let concerns_service = self.unusable_responses >= MAX_UNUSABLE_RESPONSES
                    || *self.connection.last_emitted() != ConnectionState::Ready;
                match self.mode {
                    PollerMode::Down { .. } => self.enter_outage(key, reason, should_lengthen_backoff).await,
                    PollerMode::Running if concerns_service => {
                        self.connection.emit(ConnectionState::Unusable { reason }).await;
                    }
                    _ => {}
                }
            }
            ServiceHealth::Down(reason) => self.enter_outage(key, reason, should_lengthen_backoff).await,
            ServiceHealth::Limited(wait) => {
                let until = self.inner.clock.service_to_steady(wait.until);
                self.set_mode(PollerMode::Limited, until);
                let wait = wait.ending_at(self.inner.clock.steady_to_local(until));
                self.connection.emit(ConnectionState::Limited(wait)).await;
            }
            ServiceHealth::Refused(reason) => {
                self.set_mode(PollerMode::Refused, self.steady_now());
                self.connection.emit(ConnectionState::KeyRefused { reason }).await;
            }
            ServiceHealth::NotStored(failure) => self.stall(failure).await,
        }
    }

    async fn enter_outage(&mut self, key: Option<JobKey>, reason: CleanText, should_lengthen_backoff: bool) {
        let failures = match self.mode {
            PollerMode::Running | PollerMode::Stalled => 1,
            PollerMode::Down { failures, .. } if should_lengthen_backoff => failures.saturating_add(1),
            PollerMode::Down { .. } | PollerMode::Limited | PollerMode::Refused => return,
        };
        // Schedule the failed job even if it is not polled otherwise, so that it can be the probe.
        key.inspect(|key| self.scheduler.add_due_job(*key, self.steady_now()));
        let mut next_try = None;
        // An instance without the lease or without jobs sends no probe. Its outage ends with the next successful
        // request of another task or another instance.
        if self.has_lease() && !self.scheduler.is_empty() {
            // A probe counts toward the polling budget, so it waits until the budget permits a request.
            let at = self.scheduler.next_probe(self.steady_now()).max(self.steady_now() + backoff(failures));
            self.set_mode(PollerMode::Down { failures, probe: None }, at);
            next_try = Some(self.inner.clock.steady_to_local(at));
        }
        self.connection.emit(ConnectionState::Offline { reason, next_try }).await;
    }

    /// Stops polling for a while because of a local failure.
    async fn stall(&mut self, failure: Failure) {
        self.set_mode(PollerMode::Stalled, self.steady_now() + STORE_RETRY_DELAY);
        self.inner.emit_problem(failure).await;
    }

    /// Resumes polling after an outage or a refused key, and takes the leases that are free.
    fn recover(&mut self) {
        self.resume_polling();
        self.inner.take_leases();
    }

    fn resume_polling(&mut self) {
        self.scheduler.resume(self.steady_now());
        self.set_mode(PollerMode::Running, self.steady_now());
    }

    fn set_mode(&mut self, mode: PollerMode, not_before: Time) {
        // After the service has refused the key, another instance polls: its API key may be valid, and if it isn't,
        // only one more request is wasted.
        self.inner.leases.set_should_yield_polling(mode == PollerMode::Refused);
        self.inner.team.wake();
        (self.mode, self.not_before) = (mode, not_before);
        self.mode_changed_at = local_now();
    }

    /// Adopts the connection state that the polling instance wrote to the store. Does nothing if this instance polls or
    /// if the service has refused this instance's key.
    async fn adopt_shared_connection(&mut self, connection: ConnectionState) {
        if self.has_lease() || self.mode == PollerMode::Refused {
            return;
        }
        match connection {
            ConnectionState::Ready => self.adopt_shared_recovery().await,
            // The polling instance has just started and has checked nothing yet. So this instance keeps the connection
            // state that it emitted last, unless that state is an outage.
            ConnectionState::Unknown if !self.connection.last_emitted().is_outage() => {}
            connection => {
                // Only a check after this moment may end the outage.
                self.mode_changed_at = local_now();
                self.connection.emit(connection).await;
            }
        }
    }

    /// Reports the service as reachable, because another instance has received a response.
    async fn adopt_shared_recovery(&mut self) {
        if self.mode != PollerMode::Running {
            self.set_mode(PollerMode::Running, self.steady_now());
        }
        self.connection.emit(ConnectionState::Ready).await;
    }
}

fn request_end(health: &ServiceHealth) -> RequestEnd {
    match health {
        ServiceHealth::Good | ServiceHealth::Unusable(_) | ServiceHealth::NotRequested => RequestEnd::Responded,
        ServiceHealth::Down(_) => RequestEnd::Failed,
        ServiceHealth::Limited(_) | ServiceHealth::Refused(_) | ServiceHealth::NotStored(_) => RequestEnd::Postponed,
    }
}
