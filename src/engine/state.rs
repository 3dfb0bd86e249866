//! The state that the engine's tasks and [`super::Engine`] share (client, store, clock, leases), and the methods that
//! emit events. State that only one task uses is in the task's module.

use super::clock::{ClockUpdate, ServiceClock, local_now};
use super::hook::{Hook, HookChange};
use super::hosts::{HostClients, RefreshCommand};
use super::lease::{Instance, LeaseRole, Leases};
use super::lock::lock;
use super::poller_message::PollerMessage;
use super::running_loads::{RunningLoads, SharedViewsLoad};
use super::setup::EngineSetup;
use super::team::state::TeamState;
use crate::api::{ApiError, ApiResponse, Client};
use crate::model::Time;
use crate::model::analytics::{AnalyticsKind, AnalyticsSettings};
use crate::model::connection::ConnectionState;
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::job::{Job, JobKey};
use crate::model::log::{LogEntry, LogKind, Operation};
use crate::model::period::DateRange;
use crate::model::prompt::{Delivery, DeliveryKind, PromptId};
use crate::model::report::LoadOutcome;
use crate::model::text::CleanText;
use crate::model::views::ViewsQuery;
use crate::store::{JobChanges, PausedBy, Store, StoreError};
use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::time::Instant;

/// A problem that is the same as the last one is emitted again only after this time.
const PROBLEM_REPEAT_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct EngineState {
    pub(super) client: Client,
    pub(super) store: Store,
    pub(super) scope: Scope,
    pub(super) analytics: AnalyticsSettings,
    pub(super) clock: ServiceClock,
    pub(super) leases: Leases,
    pub(super) instance: Instance,
    /// Whether the prompts that are submitted to this instance are reserved for it: no other instance may send them.
    pub(super) should_reserve_prompts: bool,
    /// Wakes the dispatcher when there is a prompt to send or the end of a wait has changed.
    pub(super) dispatch_wake: Notify,
    /// Wakes the watcher, which looks for changes by other instances.
    pub(super) watch_wake: Notify,
    /// Prompts that were submitted to this instance and have no outcome yet, each with its job. This
    /// instance sends them even without the dispatch lease.
    pub(super) submitted_prompts: Mutex<HashMap<PromptId, JobKey>>,
    /// Prompts that this instance is sending right now.
    pub(super) prompts_being_sent: Mutex<HashSet<PromptId>>,
    pub(super) running_views_loads: Mutex<HashMap<ViewsQuery, SharedViewsLoad>>,
    pub(super) running_all_pages_loads: RunningLoads<DateRange, LoadOutcome>,
    /// The running loads of reports other than page views. Each outcome is a
    /// [`RowsLoadOutcome`](crate::model::analytics::RowsLoadOutcome) with rows of the kind in its key.
    pub(super) running_row_loads: RunningLoads<(AnalyticsKind, DateRange), Arc<dyn Any + Send + Sync>>,
    /// Held while a budget is read and emitted, so that no older count is emitted after a newer one.
    pub(super) budget_emit_lock: tokio::sync::Mutex<()>,
    /// The times of analytics requests that the store could not record.
    pub(super) unrecorded_request_times: Mutex<Vec<Time>>,
    /// The queue of changes for the `on_change` program; `None` if the user has configured no program.
    pub(super) hook_queue: Option<mpsc::Sender<HookChange>>,
    /// Limits how many requests of [`EngineState::fetch_by_id`] run at the same time.
    pub(super) fetch_slots: Semaphore,
    events: mpsc::Sender<EngineEvent>,
    poller_sender: mpsc::UnboundedSender<PollerMessage>,
    /// Commands to the task that refreshes the state of pull requests; `None` if it doesn't run.
    refresher_sender: Option<mpsc::UnboundedSender<RefreshCommand>>,
    /// Counts the requests that send a prompt, and the requests for a permit before them.
    pub(super) running_sends: GuardCounter,
    /// Whether no further send may start, because this instance is about to end.
    is_dispatch_stopped: Mutex<bool>,
    /// Counts the prompt outcomes that are not recorded yet, because the store could not be written.
    pub(super) unrecorded_outcomes: GuardCounter,
    /// Counts the changes that the `on_change` program has not handled yet. A guard must be taken before the
    /// change's event is emitted. Otherwise the receiver of the event could stop the engine before the program
    /// has run.
    pub(super) running_hooks: GuardCounter,
    /// The highest job revision that [`EngineState::emit_changed_jobs`] has read, and how often jobs had been removed
    /// from the store at that time.
    seen_revision_and_prune_count: tokio::sync::Mutex<(i64, i64)>,
    last_problem: Mutex<Option<(CleanText, Instant)>>,
    /// The connection state in the store, as this instance last read or wrote it.
    pub(super) shared_connection: Mutex<Option<ConnectionState>>,
    /// The state of the exchange with a team.
    pub(super) team: TeamState,
}

/// What the tasks need at their start, besides the [`EngineState`].
#[derive(Debug)]
pub(super) struct TaskStartData {
    /// The store's data version before anything was read. If the version changes later, another instance has written to
    /// the store. `None` if there can be no other instance.
    pub(super) data_version: Option<i64>,
    /// A problem that occurred during the start. The dispatcher emits it, since no event can be emitted yet.
    pub(super) startup_problem: Option<Failure>,
    /// The `on_change` program, to run once the engine exists.
    pub(super) hook: Option<Hook>,
    /// What the task that refreshes the state of pull requests needs; `None` if it doesn't run.
    pub(super) refresher: Option<(Arc<dyn HostClients>, mpsc::UnboundedReceiver<RefreshCommand>)>,
}

impl EngineState {
    /// Reads the saved state and registers this process as an instance.
    pub(super) async fn new(
        setup: EngineSetup,
    ) -> Result<(Self, mpsc::UnboundedReceiver<PollerMessage>, TaskStartData), Failure> {
        let EngineSetup { client, store, scope, lock_folder, on_change, hosts, events, poll, analytics, roles, team } =
            setup;
        let failure = |error: StoreError| error.failure();
        // The data version is read first, so that the watcher notices changes made while the other values are read.
        let data_version = match lock_folder {
            Some(_) => Some(store.data_version().await.map_err(failure)?),
            None => None,
        };
        let offset = store.service_clock_offset(&scope).await.map_err(failure)?;
        let revision = store.latest_job_revision(&scope).await.map_err(failure)?;
        let prunes = store.prune_count().await.map_err(failure)?;
        let team_reports = match team {
            Some(_) if store.team_membership(&scope).await.map_err(failure)?.is_some() => {
                Some(store.team_report_versions(&scope).await.map_err(failure)?)
            }
            _ => None,
        };
        let (instance, locked) = Instance::register(lock_folder.clone());
        // An instance without the dispatch role is a command. If a command ends before it has sent its
        // prompt, no other instance may send the prompt later.
        let should_reserve_prompts = !roles.includes(LeaseRole::Dispatch);
        // If the store can't be written, a missing lock is not reported. It does no harm then, because no prompt can be
        // sent, and the problem of the store is reported elsewhere.
        let startup_problem = match locked {
            Err(_) if store.check_writable().await.unwrap_or(true) => Some(Failure::local(
                "File locks don't work in the data folder, so another docdeck may mark a prompt as unconfirmed while \
                 this one is still sending it. Move the data folder to a file system that supports locks.",
            )),
            _ => None,
        };
        let (messages, receiver) = mpsc::unbounded_channel();
        let (changes, hook) = match on_change.and_then(Hook::new) {
            Some((hook, changes)) => (Some(changes), Some(hook)),
            None => (None, None),
        };
        let (refresher_sender, refresher) = match hosts {
            Some(host_clients) => {
                let (commands, receiver) = mpsc::unbounded_channel();
                (Some(commands), Some((host_clients, receiver)))
            }
            None => (None, None),
        };
        let inner = Self {
            leases: Leases::new(lock_folder, &scope, roles),
            clock: ServiceClock::new(local_now(), offset),
            client,
            store,
            scope,
            analytics,
            instance,
            should_reserve_prompts,
            dispatch_wake: Notify::new(),
            watch_wake: Notify::new(),
            submitted_prompts: Mutex::default(),
            prompts_being_sent: Mutex::default(),
            running_views_loads: Mutex::default(),
            running_all_pages_loads: RunningLoads::default(),
            running_row_loads: RunningLoads::default(),
            budget_emit_lock: tokio::sync::Mutex::default(),
            unrecorded_request_times: Mutex::default(),
            hook_queue: changes,
            fetch_slots: Semaphore::new(poll.max_in_flight.max(1)),
            events,
            poller_sender: messages,
            refresher_sender,
            running_sends: GuardCounter::default(),
            is_dispatch_stopped: Mutex::default(),
            unrecorded_outcomes: GuardCounter::default(),
            running_hooks: GuardCounter::default(),
            seen_revision_and_prune_count: tokio::sync::Mutex::new((revision, prunes)),
            last_problem: Mutex::default(),
            shared_connection: Mutex::default(),
            team: TeamState::new(team, team_reports),
        };
        Ok((inner, receiver, TaskStartData { data_version, startup_problem, hook, refresher }))
    }

    /// Sends a command to the task that refreshes the state of pull requests, if it runs.
    pub(super) fn send_to_refresher(&self, command: RefreshCommand) {
        // An error means that the engine is stopping.
        let _ = self.refresher_sender.as_ref().map(|commands| commands.send(command));
    }

    /// Emits an event. If the receiver is closed, the event is dropped.
    pub(super) async fn emit(&self, event: EngineEvent) {
        let _ = self.events.send(self.event_in_local_time(event)).await;
    }

    /// Converts service times in an event to the local clock.
    fn event_in_local_time(&self, mut event: EngineEvent) -> EngineEvent {
        let local = |at: &mut Option<Time>| *at = at.map(|at| self.clock.service_to_local(at));
        match &mut event {
            EngineEvent::Budget(_, budget) => {
                local(&mut budget.resets_at);
                budget.blocked = budget.blocked.map(|wait| wait.ending_at(self.clock.service_to_local(wait.until)));
            }
            EngineEvent::Prompt { delivery: Delivery::Queued { until }, .. } => local(until),
            EngineEvent::Totals { totals, .. } => totals.as_of = self.clock.service_to_local(totals.as_of),
            _ => {}
        }
        event
    }

    /// Emits a problem that is not the outcome of a request. Does nothing if the last problem was the same and was
    /// emitted less than a minute ago.
    pub(super) async fn emit_problem(&self, failure: Failure) {
        {
            let mut last = lock(&self.last_problem);
            if last
                .as_ref()
                .is_some_and(|(reported, at)| *reported == failure.message && at.elapsed() < PROBLEM_REPEAT_INTERVAL)
            {
                return;
            }
            *last = Some((failure.message.clone(), Instant::now()));
        }
        self.emit(EngineEvent::InternalFailure(failure)).await;
    }

    /// Emits a log entry.
    pub(super) async fn log(&self, subject: CleanText, kind: LogKind) {
        self.emit(EngineEvent::Logged(LogEntry { at: local_now(), subject, kind })).await;
    }

    /// Sets the clock by the Date header of a response, emits a log entry for the request, and returns the response's
    /// result.
    pub(super) async fn record_response<T>(
        &self,
        operation: Operation,
        subject: CleanText,
        response: ApiResponse<T>,
    ) -> Result<T, ApiError> {
        if let Some(date) = response.date {
            let ClockUpdate { has_jumped: moved, offset_to_save: save } = self.clock.sync_to(date, local_now());
            if moved {
                self.dispatch_wake.notify_one();
            }
            if let Some(offset) = save {
                // If the offset can't be saved (disk full), the next start uses the old offset until the first
                // response.
                let _ = self
                    .store
                    .set_value(&self.scope.clock_offset_store_key(), &offset.num_milliseconds().to_string())
                    .await;
            }
        }
        let millis = u32::try_from(response.took.as_millis()).unwrap_or(u32::MAX);
        let reason = response.result.as_ref().err().map(ApiError::log_reason);
        self.log(subject, LogKind::Request { operation, status: response.status, millis, reason }).await;
        response.result
    }

    /// Emits a prompt's new delivery state with the stored row of its job.
    pub(super) async fn emit_delivery(&self, prompt: PromptId, delivery: Delivery, row: Job) {
        self.emit(EngineEvent::Prompt { prompt, delivery, job: Box::new(row) }).await;
    }

    /// Emits every job that changed since the last call, no matter which instance changed it, and passes these jobs to
    /// the poller. Also emits which jobs were merged or removed.
    pub(super) async fn emit_changed_jobs(&self) -> Result<(), StoreError> {
        let mut seen = self.seen_revision_and_prune_count.lock().await;
        let (after, seen_prunes) = *seen;
        let JobChanges { jobs: rows, merged_job_keys, revision, prune_count: prunes } =
            self.store.jobs_changed_since(&self.scope, after).await?;
        let remaining_jobs =
            if prunes == seen_prunes { None } else { Some(self.store.remaining_jobs(&self.scope).await?) };
        *seen = (revision, prunes);
        drop(seen);
        for row in &rows {
            self.emit(EngineEvent::Job(Box::new(row.clone()))).await;
            self.emit_submitted_deliveries(row).await?;
            self.emit(EngineEvent::Thread(row.key)).await;
        }
        for (gone, into) in merged_job_keys {
            self.emit(EngineEvent::Merged { gone, into }).await;
        }
        if let Some(remaining_jobs) = remaining_jobs {
            self.emit(EngineEvent::JobsRemoved(remaining_jobs)).await;
        }
        // The link to the pull request may have been found by an instance without the focus, which doesn't request the
        // state. So this instance requests it.
        if rows.iter().any(|row| row.remote.pr_link.is_some() && row.pull_request.is_none()) {
            self.send_to_refresher(RefreshCommand::NewPullRequest);
        }
        self.send_to_poller(PollerMessage::JobsChanged { rows, maybe_changed_by_others: true });
        Ok(())
    }

    /// Emits which jobs were merged into the job `into` when `into` got its id.
    pub(super) async fn emit_merged_jobs(&self, into: JobKey) {
        // A read error does little harm: the merged jobs stay on screen only until a restart.
        for gone in self.store.job_keys_merged_into(into).await.unwrap_or_default() {
            self.emit(EngineEvent::Merged { gone, into }).await;
        }
    }

    /// Emits the delivery states of the job's prompts that were submitted to this instance. So code that waits for the
    /// outcome of such a prompt gets the same events if another instance sends the prompt.
    async fn emit_submitted_deliveries(&self, row: &Job) -> Result<(), StoreError> {
        if !lock(&self.submitted_prompts).values().any(|job| *job == row.key) {
            return Ok(());
        }
        for prompt in self.store.thread(row.key).await?.prompts {
            // Skip a prompt that this instance is sending, because the dispatcher emits its delivery states.
            if !lock(&self.submitted_prompts).contains_key(&prompt.id)
                || lock(&self.prompts_being_sent).contains(&prompt.id)
            {
                continue;
            }
            let kind = prompt.delivery.kind();
            // A prompt that an instance has reserved is also `Paused`, but that instance may be about to send it.
            // So only a pause by the user is emitted.
            if kind == DeliveryKind::Paused && self.store.paused_by(prompt.id).await? != PausedBy::User {
                continue;
            }
            if !matches!(kind, DeliveryKind::Queued | DeliveryKind::Sending) {
                lock(&self.submitted_prompts).remove(&prompt.id);
            }
            let job = Box::new(row.clone());
            self.emit(EngineEvent::Prompt { prompt: prompt.id, delivery: prompt.delivery, job }).await;
        }
        Ok(())
    }

    /// Releases all leases and informs the tasks that need them.
    pub(super) fn release_leases(&self) {
        self.leases.release_all();
        self.send_to_poller(PollerMessage::LeaseChanged);
        self.team.wake();
    }

    /// Returns a guard that counts a send, or `None` if no further send may start. The guard must be taken before the
    /// permit is requested: from the permit on, the prompt would be `Unconfirmed` if the engine stopped.
    pub(super) fn begin_send(&self) -> Option<CountedGuard> {
        let is_stopped = lock(&self.is_dispatch_stopped);
        (!*is_stopped).then(|| self.running_sends.guard())
    }

    /// Makes [`Self::begin_send`] return `None` from now on.
    pub(super) fn stop_dispatching(&self) {
        *lock(&self.is_dispatch_stopped) = true;
    }

    /// Takes the poll lease and the dispatch lease if they are free and this instance may take them. Wakes the tasks
    /// that need them.
    pub(super) fn take_leases(&self) {
        if !self.leases.holds(LeaseRole::Poll) && self.leases.try_take(LeaseRole::Poll) {
            self.send_to_poller(PollerMessage::LeaseChanged);
            self.team.wake();
        }
        if !self.leases.holds(LeaseRole::Dispatch) && self.leases.try_take(LeaseRole::Dispatch) {
            self.dispatch_wake.notify_one();
            self.watch_wake.notify_one();
        }
    }

    /// Marks as `Unconfirmed` the prompts that an instance was sending when it died. Returns whether a living
    /// instance other than this one is sending a prompt.
    pub(super) async fn recover_abandoned_sends(&self) -> Result<bool, StoreError> {
        let mut are_others_sending = false;
        for name in self.store.sending_instances(&self.scope).await? {
            if name == self.instance.name() {
                continue;
            }
            if !self.instance.is_dead(&name) {
                are_others_sending = true;
                continue;
            }
            for row in self.store.abandon_sends(&self.scope, &name, local_now()).await? {
                let subject = row.id.as_ref().map_or_else(|| CleanText::line("new job"), |id| id.to_clean_text());
                let note = "unconfirmed: docdeck ended while sending";
                self.log(subject, LogKind::Note(CleanText::line(note))).await;
                let key = row.key;
                self.emit(EngineEvent::Job(Box::new(row))).await;
                self.emit(EngineEvent::Thread(key)).await;
            }
        }
        Ok(are_others_sending)
    }

    /// Marks as `Unconfirmed` the prompts that this instance is sending. Called when the engine stops.
    pub(super) async fn abandon_sends_of_this_instance(&self) {
        let is_busy = !lock(&self.prompts_being_sent).is_empty();
        if is_busy {
            // If this can't be written, the next start marks the prompts.
            let _ = self.store.abandon_sends(&self.scope, self.instance.name(), local_now()).await;
        }
    }

    /// Sends a message to the poller. Does nothing if the poller has ended.
    pub(super) fn send_to_poller(&self, message: PollerMessage) {
        let _ = self.poller_sender.send(message);
    }

    /// Informs the poller that a request of another task is in flight, until the guard is dropped.
    pub(super) fn in_flight_guard(&self) -> InFlightGuard<'_> {
        self.send_to_poller(PollerMessage::RequestStarted);
        InFlightGuard(self)
    }
}

/// Until this guard is dropped, the poller counts a request of another task as in flight.
#[derive(Debug)]
pub(super) struct InFlightGuard<'a>(&'a EngineState);

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.send_to_poller(PollerMessage::RequestEnded);
    }
}

/// Creates guards, and counts those that are not dropped yet.
#[derive(Debug, Default)]
pub(super) struct GuardCounter(CountedGuard);

/// A guard of a [`GuardCounter`].
pub(super) type CountedGuard = Arc<()>;

impl GuardCounter {
    pub(super) fn guard(&self) -> CountedGuard {
        Arc::clone(&self.0)
    }

    pub(super) fn has_guards(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}
