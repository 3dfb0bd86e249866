//! The fixture of the engine tests: an engine with a store in a separate folder, and helpers that wait for the engine's
//! events.

use super::{open_store, scope_of};
use docdeck::api::{Client, ClientOptions};
use docdeck::engine::{Engine, EngineSetup, HostClients, LeaseRoles, PollOptions, TeamAccess};
use docdeck::model::analytics::AnalyticsSettings;
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::job::{Job, JobKey};
use docdeck::model::log::{LogEntry, LogKind, Operation};
use docdeck::model::prompt::{Delivery, PromptId};
use docdeck::runtime::hosts::SimulatedHosts;
use docdeck::sim::Sim;
use docdeck::store::Store;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// The time after which a wait for an event fails the test; much longer than any event takes.
const EVENT_TIMEOUT: Duration = Duration::from_secs(60);

/// An engine, its store and its events.
pub(crate) struct EngineFixture {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) scope: Scope,
    events: mpsc::Receiver<EngineEvent>,
    /// The log entries of all requests in the events that the test has received.
    pub(crate) requests: Vec<LogEntry>,
}

impl EngineFixture {
    /// Starts an engine with leases and locks, like the real program.
    pub(crate) async fn start_on_folder(sim: &Sim, folder: &Path) -> Self {
        Self::start_with_scope(scope_of(sim), sim.api_key(), folder).await
    }

    pub(crate) async fn start_with_scope(scope: Scope, key: &str, folder: &Path) -> Self {
        Self::start_on_store(open_store(folder), scope, key, Some(folder)).await
    }

    /// Starts an engine on a store in memory, without locks, like the demo.
    pub(crate) async fn start_in_memory(sim: &Sim) -> Self {
        Self::start_on_store(Store::in_memory().expect("a store"), scope_of(sim), sim.api_key(), None).await
    }

    /// Like [`EngineFixture::start_on_folder`], with an `on_change` program.
    pub(crate) async fn start_with_on_change(sim: &Sim, folder: &Path, on_change: Vec<String>) -> Self {
        Self::start(open_store(folder), scope_of(sim), sim.api_key(), Some(folder), Some(on_change), None).await
    }

    /// Like [`EngineFixture::start_with_hosts`], with an `on_change` program.
    pub(crate) async fn start_with_hosts_and_on_change(sim: &Sim, on_change: Vec<String>) -> Self {
        let (store, hosts) = (Store::in_memory().expect("a store"), SimulatedHosts::clients(sim));
        Self::start(store, scope_of(sim), sim.api_key(), None, Some(on_change), hosts).await
    }

    /// Starts an engine that also asks the simulated code host for the state of pull requests.
    pub(crate) async fn start_with_hosts(sim: &Sim, store: Store, lock_folder: Option<&Path>) -> Self {
        let hosts = SimulatedHosts::clients(sim);
        Self::start(store, scope_of(sim), sim.api_key(), lock_folder, None, hosts).await
    }

    pub(crate) async fn start_with_directory(sim: &Sim, store: Store, hosts: Arc<dyn HostClients>) -> Self {
        Self::start(store, scope_of(sim), sim.api_key(), None, None, Some(hosts)).await
    }

    pub(crate) async fn start_on_store(store: Store, scope: Scope, key: &str, lock_folder: Option<&Path>) -> Self {
        Self::start(store, scope, key, lock_folder, None, None).await
    }

    async fn start(
        store: Store,
        scope: Scope,
        key: &str,
        lock_folder: Option<&Path>,
        on_change: Option<Vec<String>>,
        hosts: Option<Arc<dyn HostClients>>,
    ) -> Self {
        Self::start_in_team(store, scope, key, lock_folder, on_change, hosts, None).await
    }

    /// Starts an engine with this access to a team's database. The project may be shared.
    pub(crate) async fn start_as_member(sim: &Sim, store: Store, team: TeamAccess) -> Self {
        Self::start_in_team(store, scope_of(sim), sim.api_key(), None, None, None, Some(team)).await
    }

    /// Like [`Self::start_as_member`], on a computer on which several instances run.
    pub(crate) async fn start_as_member_in(sim: &Sim, folder: &Path, team: TeamAccess) -> Self {
        let store = super::open_store(folder);
        Self::start_in_team(store, scope_of(sim), sim.api_key(), Some(folder), None, None, Some(team)).await
    }

    async fn start_in_team(
        store: Store,
        scope: Scope,
        key: &str,
        lock_folder: Option<&Path>,
        on_change: Option<Vec<String>>,
        hosts: Option<Arc<dyn HostClients>>,
        team: Option<TeamAccess>,
    ) -> Self {
        let key = ApiKey::new(key).expect("a key");
        let client = Client::new(scope.clone(), key, ClientOptions::default()).expect("a client");
        let (sender, events) = mpsc::channel(4096);
        let setup = EngineSetup {
            client,
            store: store.clone(),
            scope: scope.clone(),
            poll: PollOptions::default(),
            analytics: AnalyticsSettings::default(),
            roles: LeaseRoles::All,
            lock_folder: lock_folder.map(Path::to_owned),
            on_change,
            hosts,
            team,
            events: sender,
        };
        let engine = Engine::start(setup).await.expect("an engine");
        Self { engine, store, scope, events, requests: Vec::new() }
    }

    /// Returns the status and the failure of each request to a code host that was logged so far.
    pub(crate) fn host_requests(&self) -> Vec<(Option<u16>, Option<String>)> {
        let read = |entry: &LogEntry| match &entry.kind {
            LogKind::HostRequest { status, reason, .. } => Some((*status, reason.as_ref().map(ToString::to_string))),
            _ => None,
        };
        self.requests.iter().filter_map(read).collect()
    }

    /// Skips events until `wanted` returns a value for one, and returns that value.
    pub(crate) async fn wait_for_event<T>(&mut self, what: &str, wanted: impl FnMut(&EngineEvent) -> Option<T>) -> T {
        self.wait_for_event_within(EVENT_TIMEOUT, wanted).await.unwrap_or_else(|| panic!("waited in vain for {what}"))
    }

    /// Like [`EngineFixture::wait_for_event`], with this timeout. Returns `None` if the timeout expires.
    pub(crate) async fn wait_for_event_within<T>(
        &mut self,
        timeout: Duration,
        mut wanted: impl FnMut(&EngineEvent) -> Option<T>,
    ) -> Option<T> {
        let end = tokio::time::Instant::now() + timeout;
        loop {
            let event = tokio::time::timeout_at(end, self.events.recv()).await.ok()?.expect("the engine runs");
            if let EngineEvent::Logged(entry) = &event
                && matches!(entry.kind, LogKind::Request { .. } | LogKind::HostRequest { .. })
            {
                self.requests.push(entry.clone());
            }
            if let Some(found) = wanted(&event) {
                return Some(found);
            }
        }
    }

    /// Waits for the next delivery state of the prompt, except `Sending` and `Queued` without a time. Returns the state
    /// and the job.
    pub(crate) async fn wait_for_delivery(&mut self, of: PromptId) -> (Delivery, Job) {
        self.wait_for_event("the outcome of a prompt", |event| match event {
            EngineEvent::Prompt { prompt, delivery, job } if *prompt == of => match delivery {
                Delivery::Sending | Delivery::Queued { until: None } => None,
                delivery => Some((delivery.clone(), (**job).clone())),
            },
            _ => None,
        })
        .await
    }

    /// Waits for an event with this job for which `wanted` holds, and returns the job.
    pub(crate) async fn wait_for_job(&mut self, key: JobKey, what: &str, wanted: impl Fn(&Job) -> bool) -> Job {
        self.wait_for_event(what, |event| match event {
            EngineEvent::Job(row) if row.key == key && wanted(row) => Some((**row).clone()),
            _ => None,
        })
        .await
    }

    /// Submits a new job and waits until it is accepted.
    pub(crate) async fn submit_accepted_job(&mut self, text: &str) -> (PromptId, Job) {
        let (prompt, _) = self.engine.submit_new_job(text).await.expect("on disk");
        let (delivery, row) = self.wait_for_delivery(prompt).await;
        assert_eq!(delivery, Delivery::Accepted);
        (prompt, row)
    }

    /// Waits until this engine has checked a job on the service.
    pub(crate) async fn wait_for_check(&mut self) {
        self.wait_for_event("a look at a job", |event| match event {
            EngineEvent::Logged(LogEntry { kind: LogKind::Request { operation: Operation::GetJob, .. }, .. }) => {
                Some(())
            }
            _ => None,
        })
        .await;
    }

    pub(crate) fn request_count_of(&self, wanted: Operation) -> usize {
        let is_one =
            |entry: &&LogEntry| matches!(entry.kind, LogKind::Request { operation, .. } if operation == wanted);
        self.requests.iter().filter(is_one).count()
    }
}
