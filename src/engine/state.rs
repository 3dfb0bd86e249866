//! What the engine's tasks and its handle share: client, store, clock, leases, and the ways to tell news. Each task's
//! own state stays in its file.

use super::EngineSetup;
use super::clock::{Observed, ServiceClock, local_now, remembered_offset};
use super::hook::{Changed, Hook};
use super::lease::{Instance, LeaseRole, Leases};
use super::load_all::LoadingAll;
use super::poll::PollerCommand;
use super::views::PendingLoad;
use crate::api::{ApiAnswer, ApiError, Client};
use crate::model::Time;
use crate::model::connection::Connection;
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::log::{LogEntry, LogKind, Operation};
use crate::model::period::DateRange;
use crate::model::prompt::{Delivery, DeliveryKind, PromptId};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use crate::model::views::ViewsQuery;
use crate::store::{Changes, Hold, Store, StoreError};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::time::Instant;

/// The same trouble is told again only after this long.
const TROUBLE_AGAIN: Duration = Duration::from_secs(60);

/// Shared by the tasks of one engine.
#[derive(Debug)]
pub(super) struct EngineState {
    pub(super) client: Client,
    pub(super) store: Store,
    pub(super) scope: Scope,
    pub(super) clock: ServiceClock,
    pub(super) leases: Leases,
    pub(super) instance: Instance,
    /// Whether no other instance may send what is handed over here.
    pub(super) reserving: bool,
    /// There is something to send, or the time until which something waits has changed.
    pub(super) dispatch_wake: Notify,
    pub(super) watch_wake: Notify,
    /// Prompts handed over here and not settled: sent by this instance whoever holds the lease.
    pub(super) own: Mutex<HashMap<PromptId, JobKey>>,
    /// Prompts that this instance is sending.
    pub(super) busy: Mutex<HashSet<PromptId>>,
    pub(super) loading: Mutex<HashMap<ViewsQuery, PendingLoad>>,
    pub(super) loading_all: Mutex<HashMap<DateRange, LoadingAll>>,
    /// View requests that the store could not write down.
    pub(super) unwritten_spends: Mutex<Vec<Time>>,
    /// Where changes go for which the user has a program; none when there is no such program.
    pub(super) changes: Option<mpsc::Sender<Changed>>,
    /// Requests outside the schedule at the same time.
    pub(super) asking: Semaphore,
    news: mpsc::Sender<EngineEvent>,
    orders: mpsc::UnboundedSender<PollerCommand>,
    sending: AtomicUsize,
    /// Outcomes of prompts that the store could not write so far.
    unrecorded: AtomicUsize,
    /// Changes that the user's program has not been run for to its end.
    pub(super) telling: AtomicUsize,
    /// Highest revision seen by [`Inner::catch_up`], and how often jobs were let go of by then.
    seen: tokio::sync::Mutex<(i64, i64)>,
    trouble: Mutex<Option<(CleanText, Instant)>>,
    /// How the talk with the service goes as the store has it, as far as this instance knows.
    pub(super) shared: Mutex<Option<Connection>>,
}

/// What was found while beginning.
#[derive(Debug)]
pub(super) struct Beginning {
    /// The store's data version before anything was read; none when this instance is alone.
    pub(super) data_version: Option<i64>,
    pub(super) trouble: Option<Failure>,
    /// The program for changes, to be run once the engine is there.
    pub(super) hook: Option<Hook>,
}

impl EngineState {
    /// Reads what the store remembers and begins to live as an instance.
    pub(super) async fn begin(
        setup: EngineSetup,
    ) -> Result<(Self, mpsc::UnboundedReceiver<PollerCommand>, Beginning), Failure> {
        let EngineSetup { client, store, scope, lock_folder, on_change, news, poll, duties } = setup;
        let unread = |error: StoreError| error.failure();
        // Before the rows are read, so that no change falls between the two.
        let data_version = match lock_folder {
            Some(_) => Some(store.data_version().await.map_err(unread)?),
            None => None,
        };
        let offset = remembered_offset(&store, &scope).await.map_err(unread)?;
        let revision = store.revision(&scope).await.map_err(unread)?;
        let prunes = store.prunes().await.map_err(unread)?;
        let (instance, locked) = Instance::begin(lock_folder.clone());
        // A command: what it can't send itself is not sent behind its caller's back.
        let reserving = !duties.include(LeaseRole::Dispatch);
        // Where nothing can be written nothing is sent either, and that is said as what it is.
        let trouble = match locked {
            Err(_) if store.try_writing().await.unwrap_or(true) => Some(Failure::new(
                FailureKind::Local,
                "docdeck can't lock files in its data folder: another docdeck may take prompts that are being sent \
                 for lost. Keep the data folder on a file system with locks.",
            )),
            _ => None,
        };
        let (orders, receiver) = mpsc::unbounded_channel();
        let (changes, hook) = match on_change.and_then(Hook::new) {
            Some((hook, changes)) => (Some(changes), Some(hook)),
            None => (None, None),
        };
        let inner = Self {
            leases: Leases::new(lock_folder, &scope, duties),
            clock: ServiceClock::new(local_now(), offset),
            client,
            store,
            scope,
            instance,
            reserving,
            dispatch_wake: Notify::new(),
            watch_wake: Notify::new(),
            own: Mutex::default(),
            busy: Mutex::default(),
            loading: Mutex::default(),
            loading_all: Mutex::default(),
            unwritten_spends: Mutex::default(),
            changes,
            asking: Semaphore::new(poll.in_flight.max(1)),
            news,
            orders,
            sending: AtomicUsize::new(0),
            unrecorded: AtomicUsize::new(0),
            telling: AtomicUsize::new(0),
            seen: tokio::sync::Mutex::new((revision, prunes)),
            trouble: Mutex::default(),
            shared: Mutex::default(),
        };
        Ok((inner, receiver, Beginning { data_version, trouble, hook }))
    }

    /// Tells a fact. Whoever stopped listening misses it, nothing else happens.
    pub(super) async fn emit(&self, news: EngineEvent) {
        let _ = self.news.send(self.in_local_time(news)).await;
    }

    /// Moments of the service's time as the listener's own clock has them.
    fn in_local_time(&self, mut news: EngineEvent) -> EngineEvent {
        let local = |at: &mut Option<Time>| *at = at.map(|at| self.clock.local_of(at));
        match &mut news {
            EngineEvent::Budget(_, budget) => {
                local(&mut budget.resets_at);
                budget.blocked = budget.blocked.map(|wait| wait.with(self.clock.local_of(wait.until)));
            }
            EngineEvent::Prompt { delivery: Delivery::Queued { until }, .. } => local(until),
            EngineEvent::Totals { totals, .. } => totals.as_of = self.clock.local_of(totals.as_of),
            _ => {}
        }
        news
    }

    /// Tells that something beside a request went wrong, not more than once a minute for the same.
    pub(super) async fn trouble(&self, failure: Failure) {
        {
            let mut last = lock(&self.trouble);
            if last.as_ref().is_some_and(|(told, at)| *told == failure.sentence && at.elapsed() < TROUBLE_AGAIN) {
                return;
            }
            *last = Some((failure.sentence.clone(), Instant::now()));
        }
        self.emit(EngineEvent::Trouble(failure)).await;
    }

    /// Writes a line of the log.
    pub(super) async fn log(&self, subject: CleanText, what: LogKind) {
        self.emit(EngineEvent::Logged(LogEntry { at: local_now(), subject, what })).await;
    }

    /// Takes in what comes with every answer: the service's time and a line of the log.
    pub(super) async fn account<T>(
        &self,
        operation: Operation,
        subject: CleanText,
        answer: ApiAnswer<T>,
    ) -> Result<T, ApiError> {
        if let Some(date) = answer.date {
            let Observed { moved, keep } = self.clock.observe(date, local_now());
            if moved {
                self.dispatch_wake.notify_one();
            }
            if let Some(offset) = keep {
                // Lost on a full disk: the next run starts from the local clock, as the first one did.
                let _ = self.store.remember(&self.scope.clock_key(), &offset.num_milliseconds().to_string()).await;
            }
        }
        let millis = u32::try_from(answer.took.as_millis()).unwrap_or(u32::MAX);
        let reason = answer.result.as_ref().err().map(ApiError::short);
        self.log(subject, LogKind::Request { operation, status: answer.status, millis, reason }).await;
        answer.result
    }

    /// Tells a step of a prompt with the row of its job, as the store has it.
    pub(super) async fn emit_step(&self, prompt: PromptId, delivery: Delivery, row: Job) {
        let key = row.key;
        self.emit(EngineEvent::Prompt { prompt, delivery, job: Box::new(row) }).await;
        self.emit(EngineEvent::Thread(key)).await;
    }

    /// Tells and schedules every row that changed since the last time, whoever changed it.
    pub(super) async fn catch_up(&self) -> Result<(), StoreError> {
        let mut seen = self.seen.lock().await;
        let (after, known) = *seen;
        let Changes { rows, merged, revision, prunes } = self.store.jobs_changed_since(&self.scope, after).await?;
        let left = if prunes == known { None } else { Some(self.store.left(&self.scope).await?) };
        *seen = (revision, prunes);
        drop(seen);
        for row in &rows {
            self.emit(EngineEvent::Job(Box::new(row.clone()))).await;
            self.emit_own_steps(row).await?;
            self.emit(EngineEvent::Thread(row.key)).await;
        }
        for (gone, into) in merged {
            self.emit(EngineEvent::Merged { gone, into }).await;
        }
        if let Some(left) = left {
            self.emit(EngineEvent::Left(left)).await;
        }
        self.order(PollerCommand::Rows { rows, by_others: true });
        Ok(())
    }

    /// Tells which rows turned out to be this job, after it got its id. Whoever heard of them before loses nothing.
    pub(super) async fn emit_merged(&self, into: JobKey) {
        // Not read: another start will not show them.
        for gone in self.store.merged_into(into).await.unwrap_or_default() {
            self.emit(EngineEvent::Merged { gone, into }).await;
        }
    }

    /// Where the prompts stand that were handed over here and may be sent by another instance: whoever waits for them
    /// hears of them in the same way.
    async fn emit_own_steps(&self, row: &Job) -> Result<(), StoreError> {
        if !lock(&self.own).values().any(|job| *job == row.key) {
            return Ok(());
        }
        for prompt in self.store.thread(row.key).await?.prompts {
            // Its own sends tell their steps themselves.
            if !lock(&self.own).contains_key(&prompt.id) || lock(&self.busy).contains(&prompt.id) {
                continue;
            }
            let kind = prompt.delivery.kind();
            // By now it may have gone out from here.
            if kind == DeliveryKind::Paused && self.store.hold(prompt.id).await? != Hold::User {
                continue;
            }
            if !matches!(kind, DeliveryKind::Queued | DeliveryKind::Sending) {
                lock(&self.own).remove(&prompt.id);
            }
            let job = Box::new(row.clone());
            self.emit(EngineEvent::Prompt { prompt: prompt.id, delivery: prompt.delivery, job }).await;
        }
        Ok(())
    }

    /// Takes the leases that are free.
    pub(super) fn take_leases(&self) {
        if !self.leases.holds(LeaseRole::Poll) && self.leases.try_take(LeaseRole::Poll) {
            self.order(PollerCommand::Lease);
        }
        if !self.leases.holds(LeaseRole::Dispatch) && self.leases.try_take(LeaseRole::Dispatch) {
            self.dispatch_wake.notify_one();
            self.watch_wake.notify_one();
        }
    }

    /// What dead instances left in `Sending` becomes unconfirmed. Whether other instances, which live, are sending.
    pub(super) async fn recover_abandoned_sends(&self) -> Result<bool, StoreError> {
        let mut others_send = false;
        for name in self.store.senders(&self.scope).await? {
            if name == self.instance.name() {
                continue;
            }
            if !self.instance.is_dead(&name) {
                others_send = true;
                continue;
            }
            for row in self.store.abandon(&self.scope, &name, local_now()).await? {
                let subject = row.id.as_ref().map_or_else(|| CleanText::line("new job"), |id| id.clean());
                let note = "docdeck ended while sending: unconfirmed";
                self.log(subject, LogKind::Note(CleanText::line(note))).await;
                let key = row.key;
                self.emit(EngineEvent::Job(Box::new(row))).await;
                self.emit(EngineEvent::Thread(key)).await;
            }
        }
        Ok(others_send)
    }

    /// At the end: what this instance was sending is unconfirmed, and the record says so at once.
    pub(super) async fn give_up_sending(&self) {
        let is_busy = !lock(&self.busy).is_empty();
        if is_busy {
            // Not written, it is what the next start makes of it.
            let _ = self.store.abandon(&self.scope, self.instance.name(), local_now()).await;
        }
    }

    /// Tells the poller; it may have ended already.
    pub(super) fn order(&self, order: PollerCommand) {
        let _ = self.orders.send(order);
    }

    /// Tells the poller that a request which it did not start is on its way, for as long as the guard lives.
    pub(super) fn in_flight(&self) -> InFlight<'_> {
        self.order(PollerCommand::RequestStarted);
        InFlight(self)
    }

    /// Counts a request that sends a prompt, for as long as the guard lives.
    pub(super) fn sending(self: &Arc<Self>) -> Sending {
        self.sending.fetch_add(1, Ordering::Relaxed);
        Sending(Arc::clone(self))
    }

    /// Counts an outcome that could not be recorded so far, for as long as the guard lives.
    pub(super) fn recording(self: &Arc<Self>) -> Recording {
        self.unrecorded.fetch_add(1, Ordering::Relaxed);
        Recording(Arc::clone(self))
    }

    pub(super) fn has_unrecorded(&self) -> bool {
        self.unrecorded.load(Ordering::Relaxed) > 0
    }

    /// Counts a change that is about to be told, for as long as the guard lives: whoever hears of it first may want to end.
    pub(super) fn hook_guard(&self) -> HookGuard<'_> {
        self.telling.fetch_add(1, Ordering::Relaxed);
        HookGuard(self)
    }

    pub(super) fn has_running_hooks(&self) -> bool {
        self.telling.load(Ordering::Relaxed) > 0
    }

    pub(super) fn is_sending(&self) -> bool {
        self.sending.load(Ordering::Relaxed) > 0
    }
}

/// See [`Inner::in_flight`].
#[derive(Debug)]
pub(super) struct InFlight<'a>(&'a EngineState);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.order(PollerCommand::RequestEnded);
    }
}

/// See [`Inner::telling`].
#[derive(Debug)]
pub(super) struct HookGuard<'a>(&'a EngineState);

impl Drop for HookGuard<'_> {
    fn drop(&mut self) {
        self.0.telling.fetch_sub(1, Ordering::Relaxed);
    }
}

/// See [`Inner::sending`].
#[derive(Debug)]
pub(super) struct Sending(Arc<EngineState>);

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.sending.fetch_sub(1, Ordering::Relaxed);
    }
}

/// See [`Inner::recording`].
#[derive(Debug)]
pub(super) struct Recording(Arc<EngineState>);

impl Drop for Recording {
    fn drop(&mut self) {
        self.0.unrecorded.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Nothing here panics while it holds a lock, so a poisoned one holds good data.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
