//! The engine submits prompts, polls and tracks jobs, loads analytics, and keeps requests within the hourly limits.
//! The dashboard and the commands both use it.
//!
//! The engine stores each change before it emits the change as an event. The engine's tasks share one
//! `state::EngineState`: the dispatcher sends prompts, the poller checks jobs, and the watcher takes leases and notices
//! changes by other docdeck instances on this computer. If the project is shared with a team, another task exchanges
//! changes with the team's database. Another task deletes expired texts of readers. Three more tasks may run: one
//! loads yesterday's page views once a day, one queries code hosts for the state of pull requests, and one runs the
//! program `on_change`.

mod analytics;
mod cached;
pub mod check;
mod clock;
mod connection_sharing;
mod daily_load;
mod dispatch;
mod fetch;
mod hook;
mod hosts;
mod instances;
mod lease;
mod ledger;
mod load_all;
mod lock;
mod poll;
mod poller_message;
mod previews;
mod pull_request_work;
mod pull_requests;
mod reader_texts;
mod refresh_plan;
mod reports;
mod running_loads;
mod schedule;
mod setup;
mod state;
mod submit;
mod team;
mod views;
mod watch;

use crate::model::Time;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::job::JobKey;
pub use cached::StoredAnalytics;
pub use clock::sleep_until;
use hosts::RefreshCommand;
pub use hosts::{
    HostAccess, HostClients, LinkedPullRequest, PullRequestStates, login_command, max_links_per_read, no_token_text,
    pull_requests_by_host,
};
pub use instances::RunningInstances;
pub use lease::LeaseRoles;
use poller_message::PollerMessage;
pub use pull_request_work::{ActionRun, DiffLoad};
pub use refresh_plan::next_refresh;
pub use setup::{EngineSetup, PollOptions};
use state::EngineState;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
pub use team::state::TeamAccess;
use tokio::task::JoinHandle;

/// How long docdeck waits for the team's database before docdeck ends. If the database takes longer, the polling lease
/// is not released, but expires later.
const TEAM_CLOSE_TIMEOUT: Duration = Duration::from_millis(50);
/// How long docdeck waits for the team's database before docdeck is suspended.
const TEAM_SUSPEND_TIMEOUT: Duration = Duration::from_millis(200);

/// The engine for one scope (an API address and a project). Clones share the same tasks. The methods for a topic are
/// in the topic's module, such as `submit` or `reports`.
#[derive(Debug, Clone)]
pub struct Engine {
    inner: Arc<EngineState>,
    tasks: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Engine {
    /// Spawns the engine's tasks on the current runtime; they run until [`Engine::stop`]. Right after the
    /// start, the engine emits the budgets and marks as `Unconfirmed` the prompts that an instance was sending
    /// when it died.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn start(setup: EngineSetup) -> Result<Self, Failure> {
        let poll = setup.poll.clone();
        let (inner, commands, start) = EngineState::new(setup).await?;
        let inner = Arc::new(inner);
        inner.take_leases();
        let mut tasks = vec![
            tokio::spawn(dispatch::run_dispatcher(Arc::clone(&inner), start.startup_problem)),
            tokio::spawn(poll::run_poller(Arc::clone(&inner), commands, poll)),
            tokio::spawn(reader_texts::run_reader_text_cleanup(Arc::clone(&inner))),
        ];
        if inner.analytics.records_daily_views {
            tasks.push(tokio::spawn(daily_load::run_daily_loader(Arc::clone(&inner))));
        }
        if let Some(access) = inner.team.access() {
            tasks.push(tokio::spawn(team::run_sessions(Arc::clone(&inner), access.clone())));
        }
        if let Some(hook) = start.hook {
            tasks.push(tokio::spawn(hook.run(Arc::clone(&inner))));
        }
        if let Some((host_clients, commands)) = start.refresher {
            tasks.push(tokio::spawn(pull_requests::run_refresher(Arc::clone(&inner), host_clients, commands)));
        }
        if let Some(version) = start.data_version {
            tasks.push(tokio::spawn(watch::run_watcher(Arc::clone(&inner), version)));
        }
        Ok(Self { inner, tasks: Arc::new(Mutex::new(tasks)) })
    }

    /// Aborts the tasks and releases the leases and the instance lock. A prompt that is being sent becomes
    /// `Unconfirmed`; to avoid that, first call [`Engine::stop_dispatching`] and wait until [`Engine::is_sending`]
    /// returns false.
    pub async fn stop(&self) {
        self.inner.release_leases();
        self.inner.team.wait_until_disconnected(TEAM_CLOSE_TIMEOUT).await;
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in &tasks {
            task.abort();
        }
        for task in tasks {
            // The task was aborted above, so an error is expected.
            let _ = task.await;
        }
        self.inner.abort_loading();
        self.inner.abandon_sends_of_this_instance().await;
        self.inner.instance.unregister();
    }

    /// Releases all leases, and starts no further send. Prompts that are being sent are not affected. Call this before
    /// waiting until [`Engine::is_sending`] returns false: otherwise the next send may start right after the wait.
    pub fn stop_dispatching(&self) {
        self.inner.stop_dispatching();
        self.inner.release_leases();
    }

    /// Whether a prompt is being sent right now, or a permit to send one is being requested.
    pub fn is_sending(&self) -> bool {
        self.inner.running_sends.has_guards()
    }

    /// Whether the outcome of a prompt is known but not recorded in the store yet. The engine keeps trying to record
    /// it.
    pub fn has_unrecorded_outcomes(&self) -> bool {
        self.inner.unrecorded_outcomes.has_guards()
    }

    /// Whether the user's `on_change` program is running or waiting to run. Stopping the engine kills the
    /// program.
    pub fn has_running_hooks(&self) -> bool {
        self.inner.running_hooks.has_guards()
    }

    /// Whether this instance sends the queued prompts, including those that other instances queued.
    pub fn is_dispatcher(&self) -> bool {
        self.inner.leases.holds(lease::LeaseRole::Dispatch)
    }

    /// Releases all leases before a suspend, so that other instances poll and dispatch until
    /// [`Engine::resume`].
    pub fn release_leases(&self) {
        self.inner.release_leases();
    }

    /// Whether there is a connection to the team's database.
    pub fn has_team_connection(&self) -> bool {
        self.inner.team.is_connected()
    }

    /// Releases all leases. Then waits for at most `TEAM_SUSPEND_TIMEOUT` until the team's polling lease is released,
    /// too, and the connection to the team's database is closed.
    pub async fn release_leases_and_close_team_connection(&self) {
        self.inner.release_leases();
        self.inner.team.wait_until_disconnected(TEAM_SUSPEND_TIMEOUT).await;
    }

    /// Takes the free leases again after a suspend.
    pub fn resume(&self) {
        self.inner.leases.allow_taking_leases();
        self.inner.take_leases();
        self.inner.watch_wake.notify_one();
    }

    /// Converts a service time from the store to local wall time. Times in the engine's events and return
    /// values need no conversion.
    pub fn to_local_time(&self, service: Time) -> Time {
        self.inner.clock.service_to_local(service)
    }

    /// Sets which jobs are on screen. Up to a quarter of the polling requests is reserved for them.
    pub fn set_on_screen(&self, jobs: Vec<JobKey>) {
        self.inner.send_to_poller(PollerMessage::OnScreen(jobs));
    }

    /// Sets whether the terminal has the focus. Without the focus, no scheduled requests are sent to code hosts.
    pub fn set_focused(&self, is_focused: bool) {
        self.inner.send_to_refresher(RefreshCommand::FocusChanged(is_focused));
    }

    /// Requests the state of the pull requests of these jobs again (`None`: of all jobs), even if the state is final or
    /// the host has refused the token.
    pub fn refresh_pull_requests(&self, jobs: Option<Vec<JobKey>>) {
        self.inner.send_to_refresher(RefreshCommand::Refresh(jobs));
    }

    /// Deletes the stored states of pull requests that were neither merged nor closed, and emits the changed jobs.
    /// For use if code hosts are no longer queried, since such a state would then never change.
    pub async fn forget_open_pull_requests(&self) {
        match self.inner.store.forget_open_pull_requests(&self.inner.scope).await {
            Ok(jobs) => {
                for job in jobs {
                    self.inner.emit(EngineEvent::Job(Box::new(job))).await;
                }
            }
            Err(error) => self.inner.emit_problem(error.failure()).await,
        }
    }

    /// Returns the service's time: the last Date header of a response plus the time since then. Before the first
    /// response, returns the local time at the engine's start, plus the saved offset, plus the time since the start.
    /// Later jumps of the local clock don't change service time.
    pub fn service_time(&self) -> Time {
        self.inner.clock.now()
    }

    /// Emits the budgets of the three hourly limits, and reads the team's counts of used requests again.
    pub async fn emit_budgets(&self) {
        self.inner.team.refresh_counts();
        self.inner.emit_budgets().await;
    }
}
