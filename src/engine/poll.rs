//! The poller: the task that checks the jobs with GETs. Only the instance with the poll lease polls. The
//! task starts GETs when the scheduler permits, and waits, backs off or stops depending on the answers.
//! Only this task determines the connection state.

use super::PollOptions;
use super::clock::local_now;
use super::fetch::{FetchOutcome, JobCheck, ServiceHealth};
use super::lease::{LeaseRole, random};
use super::schedule::{RequestEnd, Scheduler};
use super::state::EngineState;
use crate::model::Time;
use crate::model::connection::Connection;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::poll::backoff;
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use chrono::TimeDelta;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};

/// After this many unusable answers in a row, the cause is taken to be the service, not a single job.
const MAX_UNUSABLE_ANSWERS: u32 = 3;
/// How long polling pauses if the store can't record answers.
const STORE_PAUSE: TimeDelta = TimeDelta::seconds(15);

/// A command to the poller.
#[derive(Debug)]
pub(super) enum PollerCommand {
    /// Jobs are new or changed.
    JobsChanged {
        rows: Vec<Job>,
        /// Whether other instances may have changed these jobs.
        by_others: bool,
    },
    /// The jobs that are on screen now.
    OnScreen(Vec<JobKey>),
    /// A request that the poller did not start has begun.
    RequestStarted,
    /// A request that the poller did not start has ended. If its outcome affects the connection state,
    /// `Outcome` was sent before.
    RequestEnded,
    /// The outcome of a request that the poller did not start.
    Outcome(FetchOutcome),
    /// The user asks to try again although a refused key or an outage has stopped polling.
    Retry,
    /// The poll lease was taken or released.
    Lease,
    /// The connection state that another instance has written to the store, because that instance polls.
    SharedConnection(Connection),
}

/// Whether and when requests may start. Times are steady times, see `ServiceClock::steady_now`.
#[derive(Debug, PartialEq, Eq)]
enum PollerMode {
    Running,
    /// The service can't be reached or fails. One GET at a time (the probe) checks whether it is back.
    Down {
        failures: u32,
        next_try: Time,
        probe: Option<JobKey>,
    },
    /// The service answered 429 (too many requests).
    Resting {
        until: Time,
    },
    /// The store can't record answers, or a check failed because of a bug.
    Stalled {
        until: Time,
    },
    /// The service answered 401 or 403: polling stops until the user asks to try again.
    Refused,
}

struct Poller {
    inner: Arc<EngineState>,
    scheduler: Scheduler,
    mode: PollerMode,
    /// Whether the scheduler contains all unfinished jobs. Only true while this instance has the poll lease.
    has_loaded_jobs: bool,
    gets: JoinSet<FetchOutcome>,
    /// Requests in flight that the poller did not start.
    others_in_flight: usize,
    last_emitted_connection: Connection,
    /// When the mode last changed or a shared outage last arrived, in local wall time.
    mode_changed_at: Time,
    /// The number of unusable answers in a row.
    unusable_answers: u32,
    /// The job of the last failed request. It is used as the probe if the schedule is empty.
    suspect: Option<JobKey>,
}

/// Polls until it is aborted.
pub(super) async fn run_poller(
    inner: Arc<EngineState>,
    mut commands: mpsc::UnboundedReceiver<PollerCommand>,
    options: PollOptions,
) {
    let mut poller = Poller {
        scheduler: Scheduler::new(options.per_minute, options.in_flight, random()),
        inner,
        mode: PollerMode::Running,
        has_loaded_jobs: false,
        gets: JoinSet::new(),
        others_in_flight: 0,
        last_emitted_connection: Connection::Unknown,
        mode_changed_at: local_now(),
        unusable_answers: 0,
        suspect: None,
    };
    loop {
        // Handle all pending commands first: a lease command clears the scheduler, so a GET started just
        // before that would be repeated.
        while let Ok(command) = commands.try_recv() {
            poller.handle(command).await;
        }
        poller.start_due().await;
        poller.report_connecting().await;
        let now = poller.inner.clock.steady_now();
        let wake = poller.next_wake(now).map(|at| poller.inner.clock.steady_to_instant(at));
        tokio::select! {
            command = commands.recv() => match command {
                Some(command) => poller.handle(command).await,
                None => return,
            },
            Some(done) = poller.gets.join_next() => poller.handle_finished_get(done).await,
            () = sleep_until(wake), if wake.is_some() => {}
        }
    }
}

/// Sleeps until `wake`, or forever for `None`.
pub async fn sleep_until(wake: Option<tokio::time::Instant>) {
    match wake {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

impl Poller {
    fn has_lease(&self) -> bool {
        self.inner.leases.holds(LeaseRole::Poll)
    }

    async fn start_due(&mut self) {
        if !self.has_lease() {
            return;
        }
        let now = self.inner.clock.steady_now();
        if let PollerMode::Resting { until } | PollerMode::Stalled { until } = self.mode
            && until <= now
        {
            self.run_again(now);
        }
        if !self.has_loaded_jobs && self.mode == PollerMode::Running {
            self.load_unfinished_jobs(now).await;
        }
        match self.mode {
            PollerMode::Running => {
                for key in self.scheduler.take_due(now) {
                    self.fetch(key);
                }
            }
            PollerMode::Down { failures, next_try, probe: None } if next_try <= now => {
                let probe = self.scheduler.take_probe(now);
                if probe.is_none() && self.suspect.is_some() {
                    // The suspect is not in the schedule, but its GET counts toward the polling budget.
                    self.scheduler.count_unscheduled(now);
                }
                if let Some(key) = probe.or(self.suspect) {
                    self.mode = PollerMode::Down { failures, next_try, probe: Some(key) };
                    self.fetch(key);
                }
            }
            PollerMode::Down { .. } | PollerMode::Resting { .. } | PollerMode::Stalled { .. } | PollerMode::Refused => {
            }
        }
    }

    /// Returns the next time at which [`Poller::start_due`] has something to do, `None` if there is none
    /// before the next command or answer.
    fn next_wake(&mut self, now: Time) -> Option<Time> {
        if !self.has_lease() {
            return None;
        }
        match self.mode {
            PollerMode::Running => self.scheduler.next_wake(now),
            PollerMode::Down { next_try, probe: None, .. } if !self.scheduler.is_empty() || self.suspect.is_some() => {
                Some(next_try)
            }
            PollerMode::Down { .. } | PollerMode::Refused => None,
            PollerMode::Resting { until } | PollerMode::Stalled { until } => {
                (!self.has_loaded_jobs || !self.scheduler.is_empty()).then_some(until)
            }
        }
    }

    fn fetch(&mut self, key: JobKey) {
        let inner = Arc::clone(&self.inner);
        self.gets.spawn(async move { inner.fetch_job(key).await.1 });
    }

    /// Loads the unfinished jobs from the store into the scheduler.
    async fn load_unfinished_jobs(&mut self, now: Time) {
        match self.inner.store.jobs_to_check(&self.inner.scope).await {
            Ok(rows) => {
                self.scheduler.clear(now);
                self.schedule(&rows);
                self.has_loaded_jobs = true;
            }
            Err(error) => {
                self.set_mode(PollerMode::Stalled { until: now + STORE_PAUSE });
                self.inner.emit_trouble(error.failure()).await;
            }
        }
    }

    fn schedule(&mut self, rows: &[Job]) {
        let (wall, now) = (local_now(), self.inner.clock.steady_now());
        for row in rows {
            self.scheduler.update(row, wall, now);
        }
    }

    async fn handle(&mut self, command: PollerCommand) {
        match command {
            PollerCommand::JobsChanged { rows, by_others } => {
                if self.has_loaded_jobs {
                    self.schedule(&rows);
                }
                if by_others && !self.has_lease() {
                    self.follow_rows(&rows).await;
                }
            }
            PollerCommand::OnScreen(jobs) => self.scheduler.set_on_screen(jobs),
            PollerCommand::RequestStarted => self.others_in_flight += 1,
            PollerCommand::RequestEnded => self.others_in_flight = self.others_in_flight.saturating_sub(1),
            PollerCommand::Outcome(outcome) => {
                if outcome.made_request {
                    self.scheduler.count_unscheduled(self.inner.clock.steady_now());
                }
                self.apply(outcome, true).await;
            }
            PollerCommand::Retry => self.retry(),
            PollerCommand::Lease => {
                self.has_loaded_jobs = false;
                self.scheduler.clear(self.inner.clock.steady_now());
                if matches!(self.mode, PollerMode::Stalled { .. } | PollerMode::Down { .. }) {
                    self.set_mode(PollerMode::Running);
                }
                if self.has_lease() {
                    self.inner.take_over_sharing(&self.last_emitted_connection).await;
                }
            }
            PollerCommand::SharedConnection(connection) => self.follow_connection(connection).await,
        }
    }

    async fn handle_finished_get(&mut self, done: Result<FetchOutcome, JoinError>) {
        match done {
            Ok(outcome) => {
                let key = outcome.key;
                let is_probe = matches!(self.mode, PollerMode::Down { probe, .. } if probe.is_some() && probe == key);
                let request_end = match outcome.health {
                    ServiceHealth::Good | ServiceHealth::Unusable(_) => RequestEnd::Answered,
                    ServiceHealth::Down(_) => RequestEnd::Failed,
                    ServiceHealth::Limited(_) | ServiceHealth::Refused(_) | ServiceHealth::NotStored(_) => {
                        RequestEnd::Postponed
                    }
                };
                self.apply(outcome, is_probe).await;
                if let Some(key) = key {
                    self.scheduler.finish_request(key, request_end, self.inner.clock.steady_now());
                }
            }
            Err(error) if error.is_panic() => {
                // A panic does not show which job was checked, so reload all jobs from the store after a pause.
                self.has_loaded_jobs = false;
                self.set_mode(PollerMode::Stalled { until: self.inner.clock.steady_now() + STORE_PAUSE });
                let sentence = "Checking a job failed because of a bug in docdeck; polling continues in a few seconds.";
                self.inner.emit_trouble(Failure::local(sentence)).await;
            }
            Err(_) => {}
        }
    }

    /// Updates the schedule, the mode and the connection state from the outcome of a request.
    /// `lengthens_backoff` says whether a failure of this request makes the backoff longer. It does not if the
    /// request may have started before the first failure.
    async fn apply(&mut self, outcome: FetchOutcome, lengthens_backoff: bool) {
        let (wall, now) = (local_now(), self.inner.clock.steady_now());
        match &outcome.job_check {
            JobCheck::Checked(row) if self.has_loaded_jobs => self.scheduler.update(row, wall, now),
            JobCheck::Removed => {
                if let Some(key) = outcome.key {
                    self.scheduler.remove(key, now);
                    self.suspect.take_if(|suspect| *suspect == key);
                    self.forget_probe();
                }
                return;
            }
            JobCheck::Checked(_) | JobCheck::Nothing => {}
        }
        match outcome.health {
            ServiceHealth::Good => {
                self.suspect = None;
                self.unusable_answers = 0;
                // A request that began before a 429 does not end the pause after the 429.
                if !matches!(self.mode, PollerMode::Running | PollerMode::Resting { .. } | PollerMode::Stalled { .. }) {
                    self.run_again(now);
                    self.inner.take_leases();
                }
                if !matches!(self.mode, PollerMode::Resting { .. }) {
                    self.emit_connection(Connection::Ready).await;
                }
            }
            ServiceHealth::Unusable(reason) => {
                self.unusable_answers = self.unusable_answers.saturating_add(1);
                match self.mode {
                    PollerMode::Down { .. } => self.go_down(outcome.key, reason, lengthens_backoff, now).await,
                    // Once the service is known to be `Ready`, report it as `Unusable` only after several unusable
                    // answers in a row. A single unusable answer may concern only its job.
                    PollerMode::Running
                        if self.last_emitted_connection != Connection::Ready
                            || self.unusable_answers >= MAX_UNUSABLE_ANSWERS =>
                    {
                        self.emit_connection(Connection::Unusable { reason }).await;
                    }
                    _ => {}
                }
            }
            ServiceHealth::Down(reason) => self.go_down(outcome.key, reason, lengthens_backoff, now).await,
            ServiceHealth::Limited(wait) => {
                let until = self.inner.clock.service_to_steady(wait.until);
                self.set_mode(PollerMode::Resting { until });
                self.emit_connection(Connection::Limited(wait.ending_at(self.inner.clock.steady_to_local(until))))
                    .await;
            }
            ServiceHealth::Refused(reason) => {
                self.set_mode(PollerMode::Refused);
                self.emit_connection(Connection::Refused { reason }).await;
            }
            ServiceHealth::NotStored(failure) => {
                self.set_mode(PollerMode::Stalled { until: now + STORE_PAUSE });
                self.inner.emit_trouble(failure).await;
            }
        }
    }

    async fn go_down(&mut self, key: Option<JobKey>, reason: CleanText, lengthens_backoff: bool, now: Time) {
        let failures = match self.mode {
            PollerMode::Running | PollerMode::Stalled { .. } => 1,
            PollerMode::Down { failures, .. } if lengthens_backoff => failures.saturating_add(1),
            PollerMode::Down { .. } | PollerMode::Resting { .. } | PollerMode::Refused => return,
        };
        self.suspect = key.or(self.suspect);
        if self.suspect.is_none() && self.scheduler.is_empty() {
            // There is no job to probe with: the next successful request ends the outage.
            self.emit_connection(Connection::Offline { reason, next_try: None }).await;
            return;
        }
        // A probe counts toward the polling budget, so it waits until the budget permits a request.
        let next_try = self.scheduler.next_free(now).max(now + backoff(failures));
        self.set_mode(PollerMode::Down { failures, next_try, probe: None });
        self.emit_connection(Connection::Offline {
            reason,
            next_try: Some(self.inner.clock.steady_to_local(next_try)),
        })
        .await;
    }

    /// Forgets the probe, whose job is no longer in the store, so that the next try uses another job.
    fn forget_probe(&mut self) {
        if let PollerMode::Down { probe, .. } = &mut self.mode {
            *probe = None;
        }
    }

    fn retry(&mut self) {
        let now = self.inner.clock.steady_now();
        match &mut self.mode {
            PollerMode::Refused => {
                self.run_again(now);
                self.inner.take_leases();
            }
            PollerMode::Down { next_try, .. } => *next_try = now,
            PollerMode::Running | PollerMode::Resting { .. } | PollerMode::Stalled { .. } => {}
        }
    }

    fn run_again(&mut self, now: Time) {
        self.scheduler.resume(now);
        self.set_mode(PollerMode::Running);
    }

    fn set_mode(&mut self, mode: PollerMode) {
        // After a refusal, polling is left to another instance: its API key may be valid, and if not, only one
        // more request is lost.
        self.inner.leases.yield_polling(mode == PollerMode::Refused);
        self.mode = mode;
        self.mode_changed_at = local_now();
    }

    /// Takes over the connection state that the polling instance has written to the store, if that is another
    /// instance.
    async fn follow_connection(&mut self, connection: Connection) {
        if self.has_lease() || self.mode == PollerMode::Refused {
            return;
        }
        match connection {
            Connection::Ready if self.mode != PollerMode::Running => self.set_mode(PollerMode::Running),
            // The other instance has just started and knows nothing yet, so the state stays as it is.
            Connection::Unknown if !self.last_emitted_connection.is_outage() => return,
            // Only a check after this moment ends the outage, see `follow_rows`.
            _ if connection.is_outage() => self.mode_changed_at = local_now(),
            _ => {}
        }
        self.emit_connection(connection).await;
    }

    /// Reports the service as reachable if another instance has checked one of these jobs since the last change
    /// of mode.
    async fn follow_rows(&mut self, rows: &[Job]) {
        if rows.iter().any(|row| row.checked_at.is_some_and(|at| at > self.mode_changed_at)) {
            if self.mode != PollerMode::Running {
                self.set_mode(PollerMode::Running);
            }
            self.emit_connection(Connection::Ready).await;
        }
    }

    /// Reports whether a request is in flight, as long as nothing else is known about the connection.
    async fn report_connecting(&mut self) {
        let is_requesting = self.others_in_flight > 0 || !self.gets.is_empty();
        match self.last_emitted_connection {
            Connection::Unknown if is_requesting => self.emit_connection(Connection::Connecting).await,
            Connection::Connecting if !is_requesting => self.emit_connection(Connection::Unknown).await,
            _ => {}
        }
    }

    async fn emit_connection(&mut self, connection: Connection) {
        if self.last_emitted_connection != connection {
            self.last_emitted_connection = connection.clone();
            self.inner.share_connection(&connection).await;
            self.inner.emit(EngineEvent::Connection(connection)).await;
        }
    }
}
