//! The test fixture: an engine with a store in its own folder, and helpers that wait for its events.

use docdeck::api::{Client, ClientOptions};
use docdeck::engine::{Engine, EngineSetup, LeaseRoles, PollOptions};
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::log::{LogEntry, LogKind, Operation};
use docdeck::model::prompt::{Delivery, PromptId};
use docdeck::model::row::{Job, JobKey};
use docdeck::sim::{Fault, Sim, SimOptions};
use docdeck::store::Store;
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc;

/// Longer than anything in these tests takes; a test that waits for it has failed.
const TOO_LONG: Duration = Duration::from_secs(20);

/// An engine, its store and its events.
pub(crate) struct EngineFixture {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) scope: Scope,
    news: mpsc::Receiver<EngineEvent>,
    /// Every request of this engine.
    pub(crate) requests: Vec<LogEntry>,
}

/// A simulator in which jobs run a hundred times faster than usual.
pub(crate) async fn sim(faults: &[&str]) -> Sim {
    let faults = faults.iter().map(|fault| fault.parse::<Fault>().expect("a fault")).collect();
    let options = SimOptions { jobs: 0, pages: 120, speed: 100.0, faults, ..SimOptions::default() };
    Sim::start(options).await.expect("a simulator")
}

pub(crate) fn scope_of(sim: &Sim) -> Scope {
    Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None }
}

pub(crate) fn open(folder: &Path) -> Store {
    Store::open(folder, chrono::Utc::now()).expect("a store").0
}

impl EngineFixture {
    /// With leases and locks, like the real program.
    pub(crate) async fn begin(sim: &Sim, folder: &Path) -> Self {
        Self::begin_with(scope_of(sim), sim.api_key(), folder).await
    }

    pub(crate) async fn begin_with(scope: Scope, key: &str, folder: &Path) -> Self {
        Self::on(open(folder), scope, key, Some(folder)).await
    }

    /// In memory and alone, like the demo.
    pub(crate) async fn begin_alone(sim: &Sim) -> Self {
        Self::on(Store::in_memory().expect("a store"), scope_of(sim), sim.api_key(), None).await
    }

    /// With an `on_change` program.
    pub(crate) async fn begin_with_program(sim: &Sim, folder: &Path, on_change: Vec<String>) -> Self {
        Self::made(open(folder), scope_of(sim), sim.api_key(), Some(folder), Some(on_change)).await
    }

    pub(crate) async fn on(store: Store, scope: Scope, key: &str, lock_folder: Option<&Path>) -> Self {
        Self::made(store, scope, key, lock_folder, None).await
    }

    async fn made(
        store: Store,
        scope: Scope,
        key: &str,
        lock_folder: Option<&Path>,
        on_change: Option<Vec<String>>,
    ) -> Self {
        let key = ApiKey::new(key).expect("a key");
        let client = Client::new(scope.clone(), key, ClientOptions::default()).expect("a client");
        let (sender, news) = mpsc::channel(4096);
        let setup = EngineSetup {
            client,
            store: store.clone(),
            scope: scope.clone(),
            poll: PollOptions::default(),
            roles: LeaseRoles::All,
            lock_folder: lock_folder.map(Path::to_owned),
            on_change,
            events: sender,
        };
        let engine = Engine::start(setup).await.expect("an engine");
        Self { engine, store, scope, news, requests: Vec::new() }
    }

    /// Returns the first event for which `wanted` returns a value; earlier ones are skipped.
    pub(crate) async fn until<T>(&mut self, what: &str, wanted: impl FnMut(&EngineEvent) -> Option<T>) -> T {
        self.within(TOO_LONG, wanted).await.unwrap_or_else(|| panic!("waited in vain for {what}"))
    }

    /// Like [`EngineFixture::until`], with another timeout.
    pub(crate) async fn within<T>(
        &mut self,
        timeout: Duration,
        mut wanted: impl FnMut(&EngineEvent) -> Option<T>,
    ) -> Option<T> {
        let end = tokio::time::Instant::now() + timeout;
        loop {
            let news = tokio::time::timeout_at(end, self.news.recv()).await.ok()?.expect("the engine runs");
            if let EngineEvent::Logged(entry) = &news
                && matches!(entry.kind, LogKind::Request { .. })
            {
                self.requests.push(entry.clone());
            }
            if let Some(found) = wanted(&news) {
                return Some(found);
            }
        }
    }

    /// The next state of a prompt other than `Sending` and `Queued` without a time.
    pub(crate) async fn outcome(&mut self, of: PromptId) -> (Delivery, Job) {
        self.until("the outcome of a prompt", |news| match news {
            EngineEvent::Prompt { prompt, delivery, job } if *prompt == of => match delivery {
                Delivery::Sending | Delivery::Queued { until: None } => None,
                delivery => Some((delivery.clone(), (**job).clone())),
            },
            _ => None,
        })
        .await
    }

    /// The first row of this job for which `wanted` holds.
    pub(crate) async fn row(&mut self, key: JobKey, what: &str, wanted: impl Fn(&Job) -> bool) -> Job {
        self.until(what, |news| match news {
            EngineEvent::Job(row) if row.key == key && wanted(row) => Some((**row).clone()),
            _ => None,
        })
        .await
    }

    /// Submits a new job and waits until it is accepted.
    pub(crate) async fn accepted(&mut self, text: &str) -> (PromptId, Job) {
        let (prompt, _) = self.engine.submit_new_job(text).await.expect("on disk");
        let (delivery, row) = self.outcome(prompt).await;
        assert_eq!(delivery, Delivery::Accepted);
        (prompt, row)
    }

    /// Waits for the next check of a job by this engine.
    pub(crate) async fn look(&mut self) {
        self.until("a look at a job", |news| match news {
            EngineEvent::Logged(LogEntry { kind: LogKind::Request { operation: Operation::Get, .. }, .. }) => Some(()),
            _ => None,
        })
        .await;
    }

    pub(crate) fn requests_of(&self, wanted: Operation) -> usize {
        let is_one =
            |entry: &&LogEntry| matches!(entry.kind, LogKind::Request { operation, .. } if operation == wanted);
        self.requests.iter().filter(is_one).count()
    }
}
