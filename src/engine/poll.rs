//! The task that polls jobs, in one instance per computer: it starts GETs when the scheduler
//! permits and rests, backs off or stops depending on the answers. Only this task counts the
//! connection state.

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

/// After this many unusable answers in a row the cause is the service, not one job.
const MAX_UNUSABLE_ANSWERS: u32 = 3;
/// How long polling pauses if the store can't record answers.
const STORE_PAUSE: TimeDelta = TimeDelta::seconds(15);

/// A command to the poller.
#[derive(Debug)]
pub(super) enum PollerCommand {
    /// Rows are new or changed.
    Rows {
        rows: Vec<Job>,
        by_others: bool,
    },
    OnScreen(Vec<JobKey>),
    /// A request that the poller did not start has begun.
    RequestStarted,
    /// That request has ended; its outcome, if it affects the connection, was sent before.
    RequestEnded,
    /// The outcome of a request that the poller did not start.
    Outcome(FetchOutcome),
    /// The user asks for a retry: forget what stopped polling.
    Retry,
    /// The poll lease was taken or released.
    Lease,
    /// The connection state of the instance that polls.
    SharedConnection(Connection),
}

/// Whether and when requests may start. Times are steady time.
#[derive(Debug, PartialEq, Eq)]
enum PollerMode {
    Running,
    /// The service can't be reached or fails: one probe at a time.
    Down {
        failures: u32,
        next_try: Time,
        probe: Option<JobKey>,
    },
    /// The service finished 429.
    Resting {
        until: Time,
    },
    /// The store can't record answers.
    Stalled {
        until: Time,
    },
    /// 401 or 403: no request until the user asks for one.
    Refused,
}

struct Poller {
    inner: Arc<EngineState>,
    scheduler: Scheduler,
    mode: PollerMode,
    /// Whether all unfinished jobs are in the scheduler; only true with the lease.
    loaded: bool,
    gets: JoinSet<FetchOutcome>,
    /// Requests in flight that the poller did not start.
    others_in_flight: usize,
    reported: Connection,
    /// When the mode last changed, in local wall time.
    since: Time,
    /// The number of unusable answers in a row.
    unusable: u32,
    /// The job whose request failed, to probe with if the schedule is empty.
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
        loaded: false,
        gets: JoinSet::new(),
        others_in_flight: 0,
        reported: Connection::Unknown,
        since: local_now(),
        unusable: 0,
        suspect: None,
    };
    loop {
        // Process all pending commands first: a lease command resets the scheduler, so jobs fetched before
        // it would be fetched twice.
        while let Ok(command) = commands.try_recv() {
            poller.handle(command).await;
        }
        poller.start_due().await;
        poller.report_connecting().await;
        let now = poller.inner.clock.steady();
        let wake = poller.next_wake(now).map(|at| poller.inner.clock.instant_of(at));
        tokio::select! {
            command = commands.recv() => match command {
                Some(command) => poller.handle(command).await,
                None => return,
            },
            Some(done) = poller.gets.join_next() => poller.finish(done).await,
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
        let now = self.inner.clock.steady();
        if let PollerMode::Resting { until } | PollerMode::Stalled { until } = self.mode
            && until <= now
        {
            self.run_again(now);
        }
        if !self.loaded && self.mode == PollerMode::Running {
            self.load(now).await;
        }
        match self.mode {
            PollerMode::Running => {
                for key in self.scheduler.due(now) {
                    self.fetch(key);
                }
            }
            PollerMode::Down { failures, next_try, probe: None } if next_try <= now => {
                let probe = self.scheduler.probe(now);
                if probe.is_none() && self.suspect.is_some() {
                    // It is not scheduled, but its request counts nevertheless.
                    self.scheduler.spend(now);
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

    /// The next time at which [`Poller::start_due`] has something to do.
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
                (!self.loaded || !self.scheduler.is_empty()).then_some(until)
            }
        }
    }

    fn fetch(&mut self, key: JobKey) {
        let inner = Arc::clone(&self.inner);
        self.gets.spawn(async move { inner.fetch_job(key).await.1 });
    }

    /// Loads the unfinished jobs from the store into the scheduler.
    async fn load(&mut self, now: Time) {
        match self.inner.store.jobs_to_check(&self.inner.scope).await {
            Ok(rows) => {
                self.scheduler.clear(now);
                self.schedule(&rows);
                self.loaded = true;
            }
            Err(error) => {
                self.enter(PollerMode::Stalled { until: now + STORE_PAUSE });
                self.inner.trouble(error.failure()).await;
            }
        }
    }

    fn schedule(&mut self, rows: &[Job]) {
        let (wall, now) = (local_now(), self.inner.clock.steady());
        for row in rows {
            self.scheduler.update(row, wall, now);
        }
    }

    async fn handle(&mut self, command: PollerCommand) {
        match command {
            PollerCommand::Rows { rows, by_others } => {
                if self.loaded {
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
                if outcome.requested {
                    self.scheduler.spend(self.inner.clock.steady());
                }
                self.apply(outcome, true).await;
            }
            PollerCommand::Retry => self.retry(),
            PollerCommand::Lease => {
                self.loaded = false;
                self.scheduler.clear(self.inner.clock.steady());
                if matches!(self.mode, PollerMode::Stalled { .. } | PollerMode::Down { .. }) {
                    self.enter(PollerMode::Running);
                }
                if self.has_lease() {
                    self.inner.take_over_sharing(&self.reported).await;
                }
            }
            PollerCommand::SharedConnection(connection) => self.follow_connection(connection).await,
        }
    }

    async fn finish(&mut self, done: Result<FetchOutcome, JoinError>) {
        match done {
            Ok(outcome) => {
                let key = outcome.key;
                let is_probe = matches!(self.mode, PollerMode::Down { probe, .. } if probe.is_some() && probe == key);
                let how = match outcome.health {
                    ServiceHealth::Good | ServiceHealth::Unusable(_) => RequestEnd::Answered,
                    ServiceHealth::Down(_) => RequestEnd::Failed,
                    ServiceHealth::Limited(_) | ServiceHealth::Refused(_) | ServiceHealth::Unwritten(_) => {
                        RequestEnd::Postponed
                    }
                };
                self.apply(outcome, is_probe).await;
                if let Some(key) = key {
                    self.scheduler.finished(key, how, self.inner.clock.steady());
                }
            }
            Err(error) if error.is_panic() => {
                // The failed job is unknown, so reload all jobs from the store after a pause.
                self.loaded = false;
                self.enter(PollerMode::Stalled { until: self.inner.clock.steady() + STORE_PAUSE });
                let sentence = "Checking a job failed because of a bug in docdeck; polling continues in a few seconds.";
                self.inner.trouble(Failure::local(sentence)).await;
            }
            Err(_) => {}
        }
    }

    /// `counts`: whether a failure counts for the backoff. Failures of requests that were in flight at
    /// the first failure don't.
    async fn apply(&mut self, outcome: FetchOutcome, counts: bool) {
        let (wall, now) = (local_now(), self.inner.clock.steady());
        match &outcome.seen {
            JobCheck::Row(row) if self.loaded => self.scheduler.update(row, wall, now),
            JobCheck::Removed => {
                if let Some(key) = outcome.key {
                    self.scheduler.remove(key, now);
                    self.suspect.take_if(|suspect| *suspect == key);
                    self.forget_probe();
                }
                return;
            }
            JobCheck::Row(_) | JobCheck::Nothing => {}
        }
        match outcome.health {
            ServiceHealth::Good => {
                self.suspect = None;
                self.unusable = 0;
                // A fetch that began before the 429 does not end the rest.
                if !matches!(self.mode, PollerMode::Running | PollerMode::Resting { .. } | PollerMode::Stalled { .. }) {
                    self.run_again(now);
                    self.inner.take_leases();
                }
                if !matches!(self.mode, PollerMode::Resting { .. }) {
                    self.report(Connection::Ready).await;
                }
            }
            ServiceHealth::Unusable(reason) => {
                self.unusable = self.unusable.saturating_add(1);
                match self.mode {
                    PollerMode::Down { .. } => self.go_down(outcome.key, reason, counts, now).await,
                    // A single job with an unusable answer proves nothing about a service that answers for others.
                    PollerMode::Running
                        if self.reported != Connection::Ready || self.unusable >= MAX_UNUSABLE_ANSWERS =>
                    {
                        self.report(Connection::Unusable { reason }).await;
                    }
                    _ => {}
                }
            }
            ServiceHealth::Down(reason) => self.go_down(outcome.key, reason, counts, now).await,
            ServiceHealth::Limited(wait) => {
                let until = self.inner.clock.steady_of(wait.until);
                self.enter(PollerMode::Resting { until });
                self.report(Connection::Limited(wait.ending_at(self.inner.clock.wall_of(until)))).await;
            }
            ServiceHealth::Refused(reason) => {
                self.enter(PollerMode::Refused);
                self.report(Connection::Refused { reason }).await;
            }
            ServiceHealth::Unwritten(failure) => {
                self.enter(PollerMode::Stalled { until: now + STORE_PAUSE });
                self.inner.trouble(failure).await;
            }
        }
    }

    async fn go_down(&mut self, key: Option<JobKey>, reason: CleanText, counts: bool, now: Time) {
        let failures = match self.mode {
            PollerMode::Running | PollerMode::Stalled { .. } => 1,
            PollerMode::Down { failures, .. } if counts => failures.saturating_add(1),
            PollerMode::Down { .. } | PollerMode::Resting { .. } | PollerMode::Refused => return,
        };
        self.suspect = key.or(self.suspect);
        if self.suspect.is_none() && self.scheduler.is_empty() {
            // There is nothing to probe with: the next successful request ends this state.
            self.report(Connection::Offline { reason, next_try: None }).await;
            return;
        }
        // Within the budget: a probe needs a free request too.
        let next_try = self.scheduler.next_free(now).max(now + backoff(failures));
        self.enter(PollerMode::Down { failures, next_try, probe: None });
        self.report(Connection::Offline { reason, next_try: Some(self.inner.clock.wall_of(next_try)) }).await;
    }

    /// The probed job is no longer in the store: the next try takes another one.
    fn forget_probe(&mut self) {
        if let PollerMode::Down { probe, .. } = &mut self.mode {
            *probe = None;
        }
    }

    fn retry(&mut self) {
        let now = self.inner.clock.steady();
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
        self.enter(PollerMode::Running);
    }

    fn enter(&mut self, mode: PollerMode) {
        // Another instance may have a valid key; with the same key it finds out with one request.
        self.inner.leases.yield_polling(mode == PollerMode::Refused);
        self.mode = mode;
        self.since = local_now();
    }

    /// Another instance polls and has written its connection state to the store.
    async fn follow_connection(&mut self, connection: Connection) {
        if self.has_lease() || self.mode == PollerMode::Refused {
            return;
        }
        match connection {
            Connection::Ready if self.mode != PollerMode::Running => self.enter(PollerMode::Running),
            // It has only just started.
            Connection::Unknown if !self.reported.is_outage() => return,
            // Only a check after this moment ends the trouble.
            _ if connection.is_outage() => self.since = local_now(),
            _ => {}
        }
        self.report(connection).await;
    }

    /// Another instance polls: if its checks change rows, the service answers.
    async fn follow_rows(&mut self, rows: &[Job]) {
        if rows.iter().any(|row| row.checked_at.is_some_and(|at| at > self.since)) {
            if self.mode != PollerMode::Running {
                self.enter(PollerMode::Running);
            }
            self.report(Connection::Ready).await;
        }
    }

    /// Until the connection state is known, only reports whether a request is in flight.
    async fn report_connecting(&mut self) {
        let is_requesting = self.others_in_flight > 0 || !self.gets.is_empty();
        match self.reported {
            Connection::Unknown if is_requesting => self.report(Connection::Connecting).await,
            Connection::Connecting if !is_requesting => self.report(Connection::Unknown).await,
            _ => {}
        }
    }

    async fn report(&mut self, connection: Connection) {
        if self.reported != connection {
            self.reported = connection.clone();
            self.inner.share_connection(&connection).await;
            self.inner.emit(EngineEvent::Connection(connection)).await;
        }
    }
}
