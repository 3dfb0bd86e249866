//! The task that looks at jobs, one instance for all on this computer: it starts GETs when the scheduler says so, and
//! rests, backs off or stops by how the service answers (design.md: polling). It alone decides the connection's state.

use super::PollOptions;
use super::clock::local_now;
use super::inner::Inner;
use super::lease::{Duty, random};
use super::look::{Health, Heard, Seen};
use super::schedule::{Ended, Scheduler};
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
pub(super) enum Order {
    /// Rows are new or changed.
    Rows { rows: Vec<Job>, by_others: bool },
    /// Which jobs are on screen.
    OnScreen(Vec<JobKey>),
    /// A request that the poller did not start is on its way.
    RequestStarted,
    /// It has ended; its outcome, if it says anything about the connection, came before.
    RequestEnded,
    /// The outcome of a request that the poller did not start.
    Heard(Heard),
    /// The user wants to know: what stopped polling is forgotten.
    Retry,
    /// The poll lease came or went.
    Lease,
    /// How the talk with the service goes for the instance that looks at jobs.
    Told(Connection),
}

/// Whether and when requests may go out. Moments are steady time.
#[derive(Debug, PartialEq, Eq)]
enum Mode {
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
    inner: Arc<Inner>,
    scheduler: Scheduler,
    mode: Mode,
    /// Whether all jobs that are not over are in the scheduler; only with the lease.
    loaded: bool,
    gets: JoinSet<Heard>,
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
pub(super) async fn run(inner: Arc<Inner>, mut orders: mpsc::UnboundedReceiver<Order>, options: PollOptions) {
    let mut poller = Poller {
        scheduler: Scheduler::new(options.per_minute, options.in_flight, random()),
        inner,
        mode: Mode::Running,
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
        self.inner.leases.holds(Duty::Poll)
    }

    async fn start_due(&mut self) {
        if !self.leads() {
            return;
        }
        let now = self.inner.clock.steady();
        if let Mode::Resting { until } | Mode::Stalled { until } = self.mode
            && until <= now
        {
            self.run_again(now);
        }
        if !self.loaded && self.mode == Mode::Running {
            self.load(now).await;
        }
        match self.mode {
            Mode::Running => {
                for key in self.scheduler.due(now) {
                    self.ask(key);
                }
            }
            Mode::Down { failures, next_try, probe: None } if next_try <= now => {
                let probe = self.scheduler.probe(now);
                if probe.is_none() && self.suspect.is_some() {
                    // It is in no schedule, and counts all the same.
                    self.scheduler.spend(now);
                }
                if let Some(key) = probe.or(self.suspect) {
                    self.mode = Mode::Down { failures, next_try, probe: Some(key) };
                    self.ask(key);
                }
            }
            Mode::Down { .. } | Mode::Resting { .. } | Mode::Stalled { .. } | Mode::Refused => {}
        }
    }

    /// The next moment at which [`Poller::start_due`] has something to do.
    fn next_wake(&mut self, now: Time) -> Option<Time> {
        if !self.leads() {
            return None;
        }
        match self.mode {
            Mode::Running => self.scheduler.next_wake(now),
            Mode::Down { next_try, probe: None, .. } if !self.scheduler.is_empty() || self.suspect.is_some() => {
                Some(next_try)
            }
            Mode::Down { .. } | Mode::Refused => None,
            Mode::Resting { until } | Mode::Stalled { until } => {
                (!self.loaded || !self.scheduler.is_empty()).then_some(until)
            }
        }
    }

    fn ask(&mut self, key: JobKey) {
        let inner = Arc::clone(&self.inner);
        self.gets.spawn(async move { inner.look(key).await.1 });
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
                self.enter(Mode::Stalled { until: now + STORE_PAUSE });
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

    async fn obey(&mut self, order: Order) {
        match order {
            Order::Rows { rows, by_others } => {
                if self.loaded {
                    self.schedule(&rows);
                }
                if by_others && !self.leads() {
                    self.follow(&rows).await;
                }
            }
            Order::OnScreen(jobs) => self.scheduler.set_on_screen(jobs),
            Order::RequestStarted => self.others_in_flight += 1,
            Order::RequestEnded => self.others_in_flight = self.others_in_flight.saturating_sub(1),
            Order::Heard(heard) => {
                if heard.asked {
                    self.scheduler.spend(self.inner.clock.steady());
                }
                self.hear(heard, true).await;
            }
            Order::Retry => self.retry(),
            Order::Lease => {
                self.loaded = false;
                self.scheduler.clear(self.inner.clock.steady());
                if matches!(self.mode, Mode::Stalled { .. } | Mode::Down { .. }) {
                    self.enter(Mode::Running);
                }
                if self.leads() {
                    self.inner.begin_to_share(&self.told).await;
                }
            }
            Order::Told(connection) => self.hear_told(connection).await,
        }
    }

    async fn take(&mut self, done: Result<Heard, JoinError>) {
        match done {
            Ok(heard) => {
                let key = heard.key;
                let is_probe = matches!(self.mode, Mode::Down { probe, .. } if probe.is_some() && probe == key);
                let how = match heard.health {
                    Health::Good | Health::Odd(_) => Ended::Answered,
                    Health::Down(_) => Ended::Failed,
                    Health::Limited(_) | Health::Refused(_) | Health::Unwritten(_) => Ended::Postponed,
                };
                self.hear(heard, is_probe).await;
                if let Some(key) = key {
                    self.scheduler.answered(key, how, self.inner.clock.steady());
                }
            }
            Err(error) if error.is_panic() => {
                // Which job it was is not known any more: begin anew from the record, after a pause.
                self.loaded = false;
                self.enter(Mode::Stalled { until: self.inner.clock.steady() + STORE_PAUSE });
                let sentence = "Looking at a job broke off by a fault in docdeck; polling goes on in a few seconds.";
                self.inner.trouble(Failure::new(FailureKind::Local, sentence)).await;
            }
            Err(_) => {}
        }
    }

    /// `decides`: whether a failure counts for the backoff; those of requests that were under way when the first one
    /// failed don't.
    async fn hear(&mut self, heard: Heard, decides: bool) {
        let (wall, now) = (local_now(), self.inner.clock.steady());
        match &heard.seen {
            Seen::Row(row) if self.loaded => self.scheduler.update(row, wall, now),
            Seen::Vanished => {
                if let Some(key) = heard.key {
                    self.scheduler.remove(key, now);
                    self.suspect.take_if(|suspect| *suspect == key);
                    self.forget_probe();
                }
                return;
            }
            Seen::Row(_) | Seen::Nothing => {}
        }
        match heard.health {
            Health::Good => {
                self.suspect = None;
                self.odd = 0;
                // A look that began before the 429 does not end the rest.
                if !matches!(self.mode, Mode::Running | Mode::Resting { .. } | Mode::Stalled { .. }) {
                    self.run_again(now);
                    self.inner.take_leases();
                }
                if !matches!(self.mode, Mode::Resting { .. }) {
                    self.tell(Connection::Ready).await;
                }
            }
            Health::Odd(reason) => {
                self.odd = self.odd.saturating_add(1);
                match self.mode {
                    Mode::Down { .. } => self.go_down(heard.key, reason, decides, now).await,
                    // One job that is asked for in vain says nothing of a service that answers for others.
                    Mode::Running if self.told != Connection::Ready || self.odd >= ODD_ANSWERS => {
                        self.tell(Connection::Unusable { reason }).await;
                    }
                    _ => {}
                }
            }
            Health::Down(reason) => self.go_down(heard.key, reason, decides, now).await,
            Health::Limited(wait) => {
                let until = self.inner.clock.steady_of(wait.until);
                self.enter(Mode::Resting { until });
                self.tell(Connection::Limited(wait.with(self.inner.clock.wall_of(until)))).await;
            }
            Health::Refused(reason) => {
                self.enter(Mode::Refused);
                self.tell(Connection::Refused { reason }).await;
            }
            Health::Unwritten(failure) => {
                self.enter(Mode::Stalled { until: now + STORE_PAUSE });
                self.inner.trouble(failure).await;
            }
        }
    }

    async fn go_down(&mut self, key: Option<JobKey>, reason: CleanText, decides: bool, now: Time) {
        let failures = match self.mode {
            Mode::Running | Mode::Stalled { .. } => 1,
            Mode::Down { failures, .. } if decides => failures.saturating_add(1),
            Mode::Down { .. } | Mode::Resting { .. } | Mode::Refused => return,
        };
        self.suspect = key.or(self.suspect);
        if self.suspect.is_none() && self.scheduler.is_empty() {
            // Nothing to probe with: the next request that goes well ends it.
            self.tell(Connection::Offline { reason, next_try: None }).await;
            return;
        }
        // Within the budget: when that is used up, there is nothing to probe with any sooner.
        let next_try = self.scheduler.has_place_at(now).max(now + backoff(failures));
        self.enter(Mode::Down { failures, next_try, probe: None });
        self.tell(Connection::Offline { reason, next_try: Some(self.inner.clock.wall_of(next_try)) }).await;
    }

    /// The job that was to be probed with is gone from the record: the next try takes another one.
    fn forget_probe(&mut self) {
        if let Mode::Down { probe, .. } = &mut self.mode {
            *probe = None;
        }
    }

    fn retry(&mut self) {
        let now = self.inner.clock.steady();
        match &mut self.mode {
            Mode::Refused => {
                self.run_again(now);
                self.inner.take_leases();
            }
            Mode::Down { next_try, .. } => *next_try = now,
            Mode::Running | Mode::Resting { .. } | Mode::Stalled { .. } => {}
        }
    }

    fn run_again(&mut self, now: Time) {
        self.scheduler.resume(now);
        self.enter(Mode::Running);
    }

    fn enter(&mut self, mode: Mode) {
        // Another instance may have a key that is taken; with the same one it finds out with one request of its own.
        self.inner.leases.stand_back(mode == Mode::Refused);
        self.mode = mode;
        self.since = local_now();
    }

    /// Another instance polls, and says how that goes.
    async fn hear_told(&mut self, connection: Connection) {
        if self.leads() || self.mode == Mode::Refused {
            return;
        }
        match connection {
            Connection::Ready if self.mode != Mode::Running => self.enter(Mode::Running),
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
            if self.mode != Mode::Running {
                self.enter(Mode::Running);
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
            self.inner.tell(EngineEvent::Connection(connection)).await;
        }
    }
}
