//! State shared by the engine's tasks and its handle: client, store, clock, leases, and the methods
//! that emit events. State of a single task is in that task's module.

use super::EngineSetup;
use super::clock::{Observed, ServiceClock, local_now, saved_offset};
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
use crate::model::failure::Failure;
use crate::model::log::{LogEntry, LogKind, Operation};
use crate::model::period::DateRange;
use crate::model::prompt::{Delivery, DeliveryKind, PromptId};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use crate::model::views::ViewsQuery;
use crate::store::{Changes, PausedBy, Store, StoreError};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::time::Instant;

/// The same problem is reported again only after this time.
const TROUBLE_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct EngineState {
    pub(super) client: Client,
    pub(super) store: Store,
    pub(super) scope: Scope,
    pub(super) clock: ServiceClock,
    pub(super) leases: Leases,
    pub(super) instance: Instance,
    /// Whether no other instance may send the prompts submitted here.
    pub(super) reserving: bool,
    /// Notified when there is something to send, or when the time until which a prompt waits has
    /// changed.
    pub(super) dispatch_wake: Notify,
    pub(super) watch_wake: Notify,
    /// Prompts submitted here that have no outcome yet. This instance sends them even without the
    /// dispatch lease.
    pub(super) own_prompts: Mutex<HashMap<PromptId, JobKey>>,
    /// Prompts that this instance is sending.
    pub(super) busy: Mutex<HashSet<PromptId>>,
    pub(super) loading: Mutex<HashMap<ViewsQuery, PendingLoad>>,
    pub(super) loading_all: Mutex<HashMap<DateRange, LoadingAll>>,
    /// Page-view requests that the store could not record.
    pub(super) unwritten_spends: Mutex<Vec<Time>>,
    /// The queue of the `on_change` program; `None` if the user has none.
    pub(super) changes: Option<mpsc::Sender<Changed>>,
    /// Limits concurrent requests outside the polling schedule.
    pub(super) fetch_slots: Semaphore,
    news: mpsc::Sender<EngineEvent>,
    commands: mpsc::UnboundedSender<PollerCommand>,
    sending: AtomicUsize,
    /// Outcomes of prompts that the store could not record yet.
    unrecorded: AtomicUsize,
    /// Changes for which the `on_change` program has not finished yet.
    pub(super) running_hooks: AtomicUsize,
    /// The highest revision read by [`EngineState::catch_up`], and the number of prunes at that time.
    seen: tokio::sync::Mutex<(i64, i64)>,
    trouble: Mutex<Option<(CleanText, Instant)>>,
    /// The state of the connection in the store, as last read or written here.
    pub(super) shared: Mutex<Option<Connection>>,
}

/// What `EngineState::begin` found.
#[derive(Debug)]
pub(super) struct StartState {
    /// The store's data version before anything was read; `None` if this instance is alone.
    pub(super) data_version: Option<i64>,
    pub(super) trouble: Option<Failure>,
    /// The `on_change` program, to run once the engine exists.
    pub(super) hook: Option<Hook>,
}

impl EngineState {
    /// Reads the saved state and registers this process as an instance.
    pub(super) async fn new(
        setup: EngineSetup,
    ) -> Result<(Self, mpsc::UnboundedReceiver<PollerCommand>, StartState), Failure> {
        let EngineSetup { client, store, scope, lock_folder, on_change, events: news, poll, roles: duties } = setup;
        let failure = |error: StoreError| error.failure();
        // Before the rows are read, so that no change falls between the two reads.
        let data_version = match lock_folder {
            Some(_) => Some(store.data_version().await.map_err(failure)?),
            None => None,
        };
        let offset = saved_offset(&store, &scope).await.map_err(failure)?;
        let revision = store.revision(&scope).await.map_err(failure)?;
        let prunes = store.prunes().await.map_err(failure)?;
        let (instance, locked) = Instance::begin(lock_folder.clone());
        // A command: a prompt that it can't send itself must not be sent later without its caller.
        let reserving = !duties.include(LeaseRole::Dispatch);
        // If nothing can be written, nothing is sent either, and that is reported as a separate problem.
        let trouble = match locked {
            Err(_) if store.check_writable().await.unwrap_or(true) => Some(Failure::local(
                "File locks don't work in the data folder, so another docdeck may treat prompts that are being \
                 sent as lost. Move the data folder to a file system with locks.",
            )),
            _ => None,
        };
        let (commands, receiver) = mpsc::unbounded_channel();
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
            own_prompts: Mutex::default(),
            busy: Mutex::default(),
            loading: Mutex::default(),
            loading_all: Mutex::default(),
            unwritten_spends: Mutex::default(),
            changes,
            fetch_slots: Semaphore::new(poll.in_flight.max(1)),
            news,
            commands,
            sending: AtomicUsize::new(0),
            unrecorded: AtomicUsize::new(0),
            running_hooks: AtomicUsize::new(0),
            seen: tokio::sync::Mutex::new((revision, prunes)),
            trouble: Mutex::default(),
            shared: Mutex::default(),
        };
        Ok((inner, receiver, StartState { data_version, trouble, hook }))
    }

    /// Emits an event. If the receiver is closed, the event is dropped.
    pub(super) async fn emit(&self, news: EngineEvent) {
        let _ = self.news.send(self.in_local_time(news)).await;
    }

    /// Converts service times in an event to the local clock.
    fn in_local_time(&self, mut news: EngineEvent) -> EngineEvent {
        let local = |at: &mut Option<Time>| *at = at.map(|at| self.clock.local_of(at));
        match &mut news {
            EngineEvent::Budget(_, budget) => {
                local(&mut budget.resets_at);
                budget.blocked = budget.blocked.map(|wait| wait.ending_at(self.clock.local_of(wait.until)));
            }
            EngineEvent::Prompt { delivery: Delivery::Queued { until }, .. } => local(until),
            EngineEvent::Totals { totals, .. } => totals.as_of = self.clock.local_of(totals.as_of),
            _ => {}
        }
        news
    }

    /// Reports a problem that is not the outcome of a request, at most once a minute for the same
    /// problem.
    pub(super) async fn trouble(&self, failure: Failure) {
        {
            let mut last = lock(&self.trouble);
            if last
                .as_ref()
                .is_some_and(|(reported, at)| *reported == failure.message && at.elapsed() < TROUBLE_INTERVAL)
            {
                return;
            }
            *last = Some((failure.message.clone(), Instant::now()));
        }
        self.emit(EngineEvent::InternalFailure(failure)).await;
    }

    /// Emits a log entry.
    pub(super) async fn log(&self, subject: CleanText, what: LogKind) {
        self.emit(EngineEvent::Logged(LogEntry { at: local_now(), subject, kind: what })).await;
    }

    /// Records what every answer contains: the service's time (for the clock) and a log entry.
    pub(super) async fn record_answer<T>(
        &self,
        operation: Operation,
        subject: CleanText,
        answer: ApiAnswer<T>,
    ) -> Result<T, ApiError> {
        if let Some(date) = answer.date {
            let Observed { moved, save } = self.clock.observe(date, local_now());
            if moved {
                self.dispatch_wake.notify_one();
            }
            if let Some(offset) = save {
                // If it can't be saved (disk full), the next start begins from the local clock, like the first one.
                let _ = self.store.set_value(&self.scope.clock_key(), &offset.num_milliseconds().to_string()).await;
            }
        }
        let millis = u32::try_from(answer.took.as_millis()).unwrap_or(u32::MAX);
        let reason = answer.result.as_ref().err().map(ApiError::short);
        self.log(subject, LogKind::Request { operation, status: answer.status, millis, reason }).await;
        answer.result
    }

    /// Emits a prompt's new delivery state with the stored row of its job.
    pub(super) async fn emit_step(&self, prompt: PromptId, delivery: Delivery, row: Job) {
        let key = row.key;
        self.emit(EngineEvent::Prompt { prompt, delivery, job: Box::new(row) }).await;
        self.emit(EngineEvent::Thread(key)).await;
    }

    /// Emits and schedules every row that changed since the last call, whichever instance changed it.
    pub(super) async fn catch_up(&self) -> Result<(), StoreError> {
        let mut seen = self.seen.lock().await;
        let (after, known) = *seen;
        let Changes { rows, merged, revision, prunes } = self.store.jobs_changed_since(&self.scope, after).await?;
        let left = if prunes == known { None } else { Some(self.store.remaining_jobs(&self.scope).await?) };
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
            self.emit(EngineEvent::JobsRemoved(left)).await;
        }
        self.order(PollerCommand::Rows { rows, by_others: true });
        Ok(())
    }

    /// Emits which rows were merged into this job when it got its id.
    pub(super) async fn emit_merged(&self, into: JobKey) {
        // On a read error nothing is emitted: the merged rows no longer exist after a restart anyway.
        for gone in self.store.merged_into(into).await.unwrap_or_default() {
            self.emit(EngineEvent::Merged { gone, into }).await;
        }
    }

    /// Emits the states of prompts that were submitted here but may be sent by another instance, so
    /// that their waiters receive the same events.
    async fn emit_own_steps(&self, row: &Job) -> Result<(), StoreError> {
        if !lock(&self.own_prompts).values().any(|job| *job == row.key) {
            return Ok(());
        }
        for prompt in self.store.thread(row.key).await?.prompts {
            // Sends of this instance emit their own steps.
            if !lock(&self.own_prompts).contains_key(&prompt.id) || lock(&self.busy).contains(&prompt.id) {
                continue;
            }
            let kind = prompt.delivery.kind();
            // The prompt may have been sent from here in the meantime.
            if kind == DeliveryKind::Paused && self.store.paused_by(prompt.id).await? != PausedBy::User {
                continue;
            }
            if !matches!(kind, DeliveryKind::Queued | DeliveryKind::Sending) {
                lock(&self.own_prompts).remove(&prompt.id);
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

    /// Marks prompts that dead instances left in `Sending` as unconfirmed. Returns whether other living
    /// instances are sending.
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
            for row in self.store.abandon_sends(&self.scope, &name, local_now()).await? {
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

    /// At the end: marks the prompts that this instance is sending as unconfirmed.
    pub(super) async fn abandon_own_sends(&self) {
        let is_busy = !lock(&self.busy).is_empty();
        if is_busy {
            // If this can't be written, the next start recovers them.
            let _ = self.store.abandon_sends(&self.scope, self.instance.name(), local_now()).await;
        }
    }

    /// Sends a command to the poller, which may have ended already.
    pub(super) fn order(&self, order: PollerCommand) {
        let _ = self.commands.send(order);
    }

    /// Informs the poller about a request that it did not start, until the guard is dropped.
    pub(super) fn in_flight(&self) -> InFlight<'_> {
        self.order(PollerCommand::RequestStarted);
        InFlight(self)
    }

    /// Counts a request that sends a prompt, until the guard is dropped.
    pub(super) fn sending(self: &Arc<Self>) -> Sending {
        self.sending.fetch_add(1, Ordering::Relaxed);
        Sending(Arc::clone(self))
    }

    /// Counts an outcome that is not recorded yet, until the guard is dropped.
    pub(super) fn recording(self: &Arc<Self>) -> Recording {
        self.unrecorded.fetch_add(1, Ordering::Relaxed);
        Recording(Arc::clone(self))
    }

    pub(super) fn has_unrecorded(&self) -> bool {
        self.unrecorded.load(Ordering::Relaxed) > 0
    }

    /// Counts a change before its event is emitted, until the guard is dropped: a receiver of the event
    /// may stop the engine at once, which must wait for the hook.
    pub(super) fn hook_guard(&self) -> HookGuard<'_> {
        self.running_hooks.fetch_add(1, Ordering::Relaxed);
        HookGuard(self)
    }

    pub(super) fn has_running_hooks(&self) -> bool {
        self.running_hooks.load(Ordering::Relaxed) > 0
    }

    pub(super) fn is_sending(&self) -> bool {
        self.sending.load(Ordering::Relaxed) > 0
    }
}

/// See [`EngineState::in_flight`].
#[derive(Debug)]
pub(super) struct InFlight<'a>(&'a EngineState);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.order(PollerCommand::RequestEnded);
    }
}

/// See [`EngineState::hook_guard`].
#[derive(Debug)]
pub(super) struct HookGuard<'a>(&'a EngineState);

impl Drop for HookGuard<'_> {
    fn drop(&mut self) {
        self.0.running_hooks.fetch_sub(1, Ordering::Relaxed);
    }
}

/// See [`EngineState::sending`].
#[derive(Debug)]
pub(super) struct Sending(Arc<EngineState>);

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.sending.fetch_sub(1, Ordering::Relaxed);
    }
}

/// See [`EngineState::recording`].
#[derive(Debug)]
pub(super) struct Recording(Arc<EngineState>);

impl Drop for Recording {
    fn drop(&mut self) {
        self.0.unrecorded.fetch_sub(1, Ordering::Relaxed);
    }
}

/// No code panics while holding one of these locks, so a poisoned mutex still holds valid data.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
