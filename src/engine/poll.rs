//! The task that looks at jobs, one instance for all on this computer: it starts GETs when the scheduler says so, and
//! rests, backs off or stops by how the service answers (design.md: polling). It alone decides the connection's state.

use super::PollOptions;
use super::clock::local_now;
use super::fetch::{FetchOutcome, JobCheck, ServiceHealth};
use super::lease::{LeaseRole, random};
use super::schedule::{RequestEnd, Scheduler};
use super::state::EngineState;
use crate::model::Time;
use crate::model::connection::Connection;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::poll::backoff;
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use chrono::TimeDelta;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};

/// So many unusable answers in a row are not one job's alone.
const ODD_ANSWERS: u32 = 3;
/// How long polling pauses when the store can't take answers in.
const STORE_PAUSE: TimeDelta = TimeDelta::seconds(15);

/// What the poller is told.
#[derive(Debug)]
pub(super) enum PollerCommand {
    /// Rows are new or changed.
    Rows { rows: Vec<Job>, by_others: bool },
    /// Which jobs are on screen.
    OnScreen(Vec<JobKey>),
    /// A request that the poller did not start is on its way.
    RequestStarted,
    /// It has ended; its outcome, if it says anything about the connection, came before.
    RequestEnded,
    /// The outcome of a request that the poller did not start.
    Heard(FetchOutcome),
    /// The user wants to know: what stopped polling is forgotten.
    Retry,
    /// The poll lease came or went.
    Lease,
    /// How the talk with the service goes for the instance that looks at jobs.
    Told(Connection),
}

/// Whether and when requests may go out. Moments are steady time.
#[derive(Debug, PartialEq, Eq)]
enum PollerMode {
    Running,
    /// The service can't be reached or is unwell: one probe at a time.
    Down {
        failures: u32,
        next_try: Time,
        probe: Option<JobKey>,
    },
    /// The service said 429.
    Resting {
        until: Time,
    },
    /// The store can't take answers in.
    Stalled {
        until: Time,
    },
    /// 401 or 403: nothing until the user asks.
    Refused,
}

struct Poller {
    inner: Arc<EngineState>,
    scheduler: Scheduler,
    mode: PollerMode,
    /// Whether all jobs that are not over are in the scheduler; only with the lease.
    loaded: bool,
    gets: JoinSet<FetchOutcome>,
    /// Requests on their way that the poller did not start.
    others_in_flight: usize,
    told: Connection,
    /// When the mode last changed, local wall time.
    since: Time,
    /// Answers in a row that could not be used.
    odd: u32,
    /// The job whose request failed, to probe with when nothing else is there.
    suspect: Option<JobKey>,
}

/// Polls until it is aborted.
pub(super) async fn run(
    inner: Arc<EngineState>,
    mut orders: mpsc::UnboundedReceiver<PollerCommand>,
    options: PollOptions,
) {
    let mut poller = Poller {
        scheduler: Scheduler::new(options.per_minute, options.in_flight, random()),
        inner,
        mode: PollerMode::Running,
        loaded: false,
        gets: JoinSet::new(),
        others_in_flight: 0,
        told: Connection::Unknown,
        since: local_now(),
        odd: 0,
        suspect: None,
    };
    loop {
        // What was told already comes first: jobs that were asked for before the news of the lease, which begins
        // anew, would be asked for twice.
        while let Ok(order) = orders.try_recv() {
            poller.obey(order).await;
        }
        poller.start_due().await;
        poller.tell_connecting().await;
        let now = poller.inner.clock.steady();
        let wake = poller.next_wake(now).map(|at| poller.inner.clock.instant_of(at));
        tokio::select! {
            order = orders.recv() => match order {
                Some(order) => poller.obey(order).await,
                None => return,
            },
            Some(done) = poller.gets.join_next() => poller.take(done).await,
            () = sleep_until(wake), if wake.is_some() => {}
        }
    }
}

/// Sleeps until then; `None` is never.
pub(super) async fn sleep_until(wake: Option<tokio::time::Instant>) {
    match wake {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

impl Poller {
    fn leads(&self) -> bool {
        self.inner.leases.holds(LeaseRole::Poll)
    }

    async fn start_due(&mut self) {
        if !self.leads() {
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
                    self.ask(key);
                }
            }
            PollerMode::Down { failures, next_try, probe: None } if next_try <= now => {
                let probe = self.scheduler.probe(now);
                if probe.is_none() && self.suspect.is_some() {
                    // It is in no schedule, and counts all the same.
                    self.scheduler.spend(now);
                }
                if let Some(key) = probe.or(self.suspect) {
                    self.mode = PollerMode::Down { failures, next_try, probe: Some(key) };
                    self.ask(key);
                }
            }
            PollerMode::Down { .. } | PollerMode::Resting { .. } | PollerMode::Stalled { .. } | PollerMode::Refused => {
            }
        }
    }

    /// The next moment at which [`Poller::start_due`] has something to do.
    fn next_wake(&mut self, now: Time) -> Option<Time> {
        if !self.leads() {
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

    fn ask(&mut self, key: JobKey) {
        let inner = Arc::clone(&self.inner);
        self.gets.spawn(async move { inner.fetch_job(key).await.1 });
    }

    /// Takes the jobs of the record that are not over into the scheduler.
    async fn load(&mut self, now: Time) {
        match self.inner.store.jobs_under_way(&self.inner.scope).await {
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

    async fn obey(&mut self, order: PollerCommand) {
        match order {
            PollerCommand::Rows { rows, by_others } => {
                if self.loaded {
                    self.schedule(&rows);
                }
                if by_others && !self.leads() {
                    self.follow(&rows).await;
                }
            }
            PollerCommand::OnScreen(jobs) => self.scheduler.set_on_screen(jobs),
            PollerCommand::RequestStarted => self.others_in_flight += 1,
            PollerCommand::RequestEnded => self.others_in_flight = self.others_in_flight.saturating_sub(1),
            PollerCommand::Heard(heard) => {
                if heard.asked {
                    self.scheduler.spend(self.inner.clock.steady());
                }
                self.hear(heard, true).await;
            }
            PollerCommand::Retry => self.retry(),
            PollerCommand::Lease => {
                self.loaded = false;
                self.scheduler.clear(self.inner.clock.steady());
                if matches!(self.mode, PollerMode::Stalled { .. } | PollerMode::Down { .. }) {
                    self.enter(PollerMode::Running);
                }
                if self.leads() {
                    self.inner.begin_to_share(&self.told).await;
                }
            }
            PollerCommand::Told(connection) => self.hear_told(connection).await,
        }
    }

    async fn take(&mut self, done: Result<FetchOutcome, JoinError>) {
        match done {
            Ok(heard) => {
                let key = heard.key;
                let is_probe = matches!(self.mode, PollerMode::Down { probe, .. } if probe.is_some() && probe == key);
                let how = match heard.health {
                    ServiceHealth::Good | ServiceHealth::Odd(_) => RequestEnd::Answered,
                    ServiceHealth::Down(_) => RequestEnd::Failed,
                    ServiceHealth::Limited(_) | ServiceHealth::Refused(_) | ServiceHealth::Unwritten(_) => {
                        RequestEnd::Postponed
                    }
                };
                self.hear(heard, is_probe).await;
                if let Some(key) = key {
                    self.scheduler.answered(key, how, self.inner.clock.steady());
                }
            }
            Err(error) if error.is_panic() => {
                // Which job it was is not known any more: begin anew from the record, after a pause.
                self.loaded = false;
                self.enter(PollerMode::Stalled { until: self.inner.clock.steady() + STORE_PAUSE });
                let sentence = "Looking at a job broke off by a fault in docdeck; polling goes on in a few seconds.";
                self.inner.trouble(Failure::new(FailureKind::Local, sentence)).await;
            }
            Err(_) => {}
        }
    }

    /// `decides`: whether a failure counts for the backoff; those of requests that were under way when the first one
    /// failed don't.
    async fn hear(&mut self, heard: FetchOutcome, decides: bool) {
        let (wall, now) = (local_now(), self.inner.clock.steady());
        match &heard.seen {
            JobCheck::Row(row) if self.loaded => self.scheduler.update(row, wall, now),
            JobCheck::Vanished => {
                if let Some(key) = heard.key {
                    self.scheduler.remove(key, now);
                    self.suspect.take_if(|suspect| *suspect == key);
                    self.forget_probe();
                }
                return;
            }
            JobCheck::Row(_) | JobCheck::Nothing => {}
        }
        match heard.health {
            ServiceHealth::Good => {
                self.suspect = None;
                self.odd = 0;
                // A look that began before the 429 does not end the rest.
                if !matches!(self.mode, PollerMode::Running | PollerMode::Resting { .. } | PollerMode::Stalled { .. }) {
                    self.run_again(now);
                    self.inner.take_leases();
                }
                if !matches!(self.mode, PollerMode::Resting { .. }) {
                    self.tell(Connection::Ready).await;
                }
            }
            ServiceHealth::Odd(reason) => {
                self.odd = self.odd.saturating_add(1);
                match self.mode {
                    PollerMode::Down { .. } => self.go_down(heard.key, reason, decides, now).await,
                    // One job that is asked for in vain says nothing of a service that answers for others.
                    PollerMode::Running if self.told != Connection::Ready || self.odd >= ODD_ANSWERS => {
                        self.tell(Connection::Unusable { reason }).await;
                    }
                    _ => {}
                }
            }
            ServiceHealth::Down(reason) => self.go_down(heard.key, reason, decides, now).await,
            ServiceHealth::Limited(wait) => {
                let until = self.inner.clock.steady_of(wait.until);
                self.enter(PollerMode::Resting { until });
                self.tell(Connection::Limited(wait.with(self.inner.clock.wall_of(until)))).await;
            }
            ServiceHealth::Refused(reason) => {
                self.enter(PollerMode::Refused);
                self.tell(Connection::Refused { reason }).await;
            }
            ServiceHealth::Unwritten(failure) => {
                self.enter(PollerMode::Stalled { until: now + STORE_PAUSE });
                self.inner.trouble(failure).await;
            }
        }
    }

    async fn go_down(&mut self, key: Option<JobKey>, reason: CleanText, decides: bool, now: Time) {
        let failures = match self.mode {
            PollerMode::Running | PollerMode::Stalled { .. } => 1,
            PollerMode::Down { failures, .. } if decides => failures.saturating_add(1),
            PollerMode::Down { .. } | PollerMode::Resting { .. } | PollerMode::Refused => return,
        };
        self.suspect = key.or(self.suspect);
        if self.suspect.is_none() && self.scheduler.is_empty() {
            // Nothing to probe with: the next request that goes well ends it.
            self.tell(Connection::Offline { reason, next_try: None }).await;
            return;
        }
        // Within the budget: when that is used up, there is nothing to probe with any sooner.
        let next_try = self.scheduler.has_place_at(now).max(now + backoff(failures));
        self.enter(PollerMode::Down { failures, next_try, probe: None });
        self.tell(Connection::Offline { reason, next_try: Some(self.inner.clock.wall_of(next_try)) }).await;
    }

    /// The job that was to be probed with is gone from the record: the next try takes another one.
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
        // Another instance may have a key that is taken; with the same one it finds out with one request of its own.
        self.inner.leases.yield_polling(mode == PollerMode::Refused);
        self.mode = mode;
        self.since = local_now();
    }

    /// Another instance polls, and says how that goes.
    async fn hear_told(&mut self, connection: Connection) {
        if self.leads() || self.mode == PollerMode::Refused {
            return;
        }
        match connection {
            Connection::Ready if self.mode != PollerMode::Running => self.enter(PollerMode::Running),
            // It has only begun.
            Connection::Unknown if !self.told.is_trouble() => return,
            // Only a later look says that it is over.
            _ if connection.is_trouble() => self.since = local_now(),
            _ => {}
        }
        self.tell(connection).await;
    }

    /// Another instance polls: what it writes down says that the service answers.
    async fn follow(&mut self, rows: &[Job]) {
        if rows.iter().any(|row| row.checked_at.is_some_and(|at| at > self.since)) {
            if self.mode != PollerMode::Running {
                self.enter(PollerMode::Running);
            }
            self.tell(Connection::Ready).await;
        }
    }

    /// Until something is known of the connection, whether a request is on its way is all there is to tell.
    async fn tell_connecting(&mut self) {
        let is_asking = self.others_in_flight > 0 || !self.gets.is_empty();
        match self.told {
            Connection::Unknown if is_asking => self.tell(Connection::Connecting).await,
            Connection::Connecting if !is_asking => self.tell(Connection::Unknown).await,
            _ => {}
        }
    }

    async fn tell(&mut self, connection: Connection) {
        if self.told != connection {
            self.told = connection.clone();
            self.inner.share(&connection).await;
            self.inner.emit(EngineEvent::Connection(connection)).await;
        }
    }
}
