//! A single case of the fault matrix: one operation of a real engine on a real store, against a server with one fault.

use crate::list::{API_KEY, ExpectedOutcome, Fault, JOB_ID, STORED_STATUS};
use crate::support::server::{ConnectionEnd, Server, ServerBehavior};
use docdeck::api::{Client, ClientOptions, ExtraRoots};
use docdeck::engine::{Engine, EngineSetup, LeaseRoles, PollOptions};
use docdeck::model::Time;
use docdeck::model::analytics::AnalyticsSettings;
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::job::Job;
use docdeck::model::ledger::Quota;
use docdeck::model::load::Timed;
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::model::prompt::{Delivery, PromptId};
use docdeck::model::remote_job::{JobId, RemoteJob, Status};
use docdeck::model::text::CleanText;
use docdeck::model::views::{Counts, PageRow, ViewsQuery, ViewsResponse};
use docdeck::store::Store;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc;

/// The time after which a wait fails the case; much longer than any wait takes.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);
/// The client's timeout in cases that test timeouts. Long enough for a connection to a local server while all other
/// cases need the processor.
const SHORT_TIMEOUT: Duration = Duration::from_secs(3);
/// The submitted prompt, with characters that JSON, a shell or SQL could misread.
const PROMPT_TEXT: &str = "Fix \"the\" links;\n\t'--' {x} \\ \u{1f980} e\u{301}";
/// The most bytes of a flood that the client may take: more than the largest response that it reads, plus the buffers
/// at both ends.
const MAX_FLOOD_BYTES: u64 = 64 << 20;

/// A description of what is wrong with a case.
pub(crate) type CaseError = String;

/// Returns the description as an error unless the condition holds.
pub(crate) fn check(holds: bool, wrong: impl FnOnce() -> String) -> Result<(), CaseError> {
    if holds { Ok(()) } else { Err(wrong()) }
}

/// The engine under test with its store, and what the store contained at the start.
struct FaultFixture {
    engine: Engine,
    store: Store,
    scope: Scope,
    events: mpsc::Receiver<EngineEvent>,
    /// The job that is tracked at the start.
    tracked_job: Job,
    query: ViewsQuery,
    cached_views: Timed<ViewsResponse>,
}

/// Returns the page views query that the dashboard makes today. A case keeps the query of its start, so it may run past
/// midnight.
pub(crate) fn todays_query() -> ViewsQuery {
    ViewsQuery { range: DateRange::last_days(7, chrono::Utc::now().date_naive()), limit: 50, page: 1 }
}

pub(crate) fn client_options(short_timeout: bool) -> ClientOptions {
    let wait = if short_timeout { SHORT_TIMEOUT } else { WAIT_TIMEOUT };
    // This certificate has not signed any server's certificate. With it, no case depends on this computer's
    // authorities.
    let unrelated_root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/leaf.pem"));
    let roots = Some(ExtraRoots::read(unrelated_root).expect("a certificate"));
    // The connection timeout must be shorter than the timeout of the request, even on a slow computer.
    ClientOptions { connect_timeout: wait, total_timeout: wait * 2, roots }
}

pub(crate) fn create_store_folder() -> TempDir {
    // These tests don't depend on the disk, so the store is in memory if possible, which is faster.
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.expect("a folder")
}

/// Returns the scope of a profile for this server.
pub(crate) fn scope_of(server: &Server) -> Scope {
    Scope { base_url: server.base_url(), project: "proj".to_owned(), organization: None }
}

/// Creates a store with a tracked job and page views as of now.
pub(crate) async fn create_case_store(
    scope: &Scope,
    operation: Operation,
    folder: &Path,
    query: ViewsQuery,
    now: Time,
) -> (Store, Job) {
    let (store, _) = Store::open(folder, now).expect("a store");
    let link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
    // The id of a newly created job must not be tracked yet.
    let id = JobId::new(if operation == Operation::Create { "job_0" } else { JOB_ID }).expect("an id");
    let mut job = RemoteJob::new(id, Status::parse(STORED_STATUS));
    job.state.source.repository = Some(CleanText::line("acme/docs").into());
    job.state.pr_link = link;
    let row = store.track(scope, job, now).await.expect("written");
    let page = PageRow { path: CleanText::line("/kept"), counts: Counts::default() };
    let page = ViewsResponse { totals: Counts::default(), rows: vec![page], has_more: Some(false) };
    store.save_views(scope, query, &page, now).await.expect("written");
    (store, row)
}

impl FaultFixture {
    async fn start(server: &Server, fault: &Fault, operation: Operation, folder: &Path) -> Self {
        let scope = scope_of(server);
        let now: Time = chrono::SubsecRound::trunc_subsecs(chrono::Utc::now(), 3);
        let query = todays_query();
        let (store, row) = create_case_store(&scope, operation, folder, query, now).await;
        let views = store.cached_views(&scope, query).await.expect("read").expect("kept");
        let key = ApiKey::new(API_KEY).expect("a key");
        let client = Client::new(scope.clone(), key, client_options(fault.short_timeout)).expect("a client");
        let (sender, events) = mpsc::channel(4096);
        let setup = EngineSetup {
            client,
            store: store.clone(),
            scope: scope.clone(),
            poll: PollOptions::default(),
            analytics: AnalyticsSettings::default(),
            // Without roles, the engine sends only the requests that the case makes.
            roles: LeaseRoles::None,
            lock_folder: Some(folder.to_owned()),
            on_change: None,
            hosts: None,
            team: None,
            events: sender,
        };
        let engine = Engine::start(setup).await.expect("an engine");
        Self { engine, store, scope, events, tracked_job: row, query, cached_views: views }
    }

    /// Waits for the final delivery of a submitted prompt.
    async fn wait_for_delivery(&mut self, of: PromptId) -> Result<Delivery, CaseError> {
        let step = async {
            loop {
                match self.events.recv().await {
                    Some(EngineEvent::Prompt { prompt, delivery, .. }) if prompt == of => match delivery {
                        Delivery::Sending | Delivery::Queued { until: None } => {}
                        delivery => return delivery,
                    },
                    Some(_) => {}
                    None => panic!("the engine ended"),
                }
            }
        };
        tokio::time::timeout(WAIT_TIMEOUT, step).await.map_err(|_| "no outcome".to_owned())
    }

    async fn run_prompt(&mut self, operation: Operation) -> Result<ExpectedOutcome, CaseError> {
        let before = self.engine.service_time();
        let submitted = match operation {
            Operation::FollowUp => self.engine.submit_follow_up(self.tracked_job.key, PROMPT_TEXT).await,
            _ => self.engine.submit_new_job(PROMPT_TEXT).await,
        };
        let (prompt, row) = submitted.map_err(|failure| failure.message.to_string())?;
        let delivery = self.wait_for_delivery(prompt).await?;
        let now = self.engine.service_time();
        let row = self.store.job(row.key).await.expect("read").expect("there");
        let thread = self.store.thread(row.key).await.expect("read");
        let kept: Vec<_> = thread.prompts.iter().map(|prompt| (prompt.text.as_str(), &prompt.delivery)).collect();
        // This instance may not send the queue, so the store records a prompt that it queues as paused.
        let on_disk = if matches!(delivery, Delivery::Queued { .. }) { &Delivery::Paused } else { &delivery };
        check(kept == [(PROMPT_TEXT, on_disk)], || format!("on disk is {kept:?}, reported was {delivery:?}"))?;
        let quota = if operation == Operation::FollowUp { Quota::FollowUp } else { Quota::Create };
        let budget = self.store.budget(&self.scope, quota, now).await.expect("read");
        let used = u32::from(!matches!(delivery, Delivery::NotSent(_)));
        check(budget.used == used || budget.blocked.is_some(), || format!("{} used in the ledger", budget.used))?;
        if let Some(reason) = delivery.reason() {
            check_sentence(reason)?;
        }
        let queued = self.store.sendable_prompts(&self.scope).await.expect("read");
        check(queued.is_empty() || matches!(delivery, Delivery::Queued { .. }), || {
            format!("still queued: {queued:?}")
        })?;
        if operation == Operation::FollowUp && !matches!(delivery, Delivery::Accepted) {
            check((&row.id, &row.remote.status) == (&self.tracked_job.id, &self.tracked_job.remote.status), || {
                format!("the job became {row:?}")
            })?;
        }
        Ok(match delivery {
            Delivery::NotSent(_) => ExpectedOutcome::NotSent,
            Delivery::Rejected(_) => ExpectedOutcome::Rejected,
            Delivery::Unconfirmed(_) => ExpectedOutcome::Unconfirmed,
            Delivery::Accepted => {
                let id = row.id.as_ref().map_or_else(String::new, |id| id.as_str().to_owned());
                ExpectedOutcome::Accepted(id, row.remote.status.as_ref().map_or_else(String::new, Status::to_string))
            }
            Delivery::Queued { until: Some(until) } => {
                check(budget.blocked.map(|wait| wait.until) == Some(until), || {
                    format!("the ledger says {:?}", budget.blocked)
                })?;
                ExpectedOutcome::Limited(retry_seconds(before, until, now)?)
            }
            other => return Err(format!("ended as {other:?}")),
        })
    }

    async fn run_get(&self) -> Result<ExpectedOutcome, CaseError> {
        let before = self.engine.service_time();
        let result = self.engine.refresh(self.tracked_job.key).await;
        let row = self.store.job(self.tracked_job.key).await.expect("read").expect("there");
        match result {
            Ok(job) => {
                check(job == row, || format!("returned was {job:?}, on disk is {row:?}"))?;
                check(row.id == self.tracked_job.id, || format!("the id became {:?}", row.id))?;
                check(row.remote.pr_link.is_some() && row.remote.source.repository.is_some(), || {
                    "what was known is gone".to_owned()
                })?;
                Ok(match row.local.gone {
                    true => ExpectedOutcome::Gone,
                    false => ExpectedOutcome::JobStatus(
                        row.remote.status.as_ref().map_or_else(String::new, Status::to_string),
                    ),
                })
            }
            Err(failure) => {
                check(row == self.tracked_job, || format!("the record became {row:?}"))?;
                self.failure_outcome(before, &failure)
            }
        }
    }

    async fn run_views_effect(&self) -> Result<ExpectedOutcome, CaseError> {
        let before = self.engine.service_time();
        let result = self.engine.load_views(self.query, true).await;
        let now = self.engine.service_time();
        let kept = self.engine.cached_views(self.query).await.ok_or("no views are kept")?;
        let budget = self.store.budget(&self.scope, Quota::Views, now).await.expect("read");
        match result {
            Ok(loaded) => {
                check(kept == loaded, || format!("kept is {kept:?}"))?;
                check(budget.used == 1, || format!("{} used in the ledger", budget.used))?;
                Ok(ExpectedOutcome::Loaded(format!("{:?}", loaded.value.totals.human)))
            }
            Err(failure) => {
                check(kept == self.cached_views, || format!("kept is {kept:?}"))?;
                check(budget.used <= 1 || budget.blocked.is_some(), || format!("{} used", budget.used))?;
                self.failure_outcome(before, &failure)
            }
        }
    }

    fn failure_outcome(&self, before: Time, failure: &Failure) -> Result<ExpectedOutcome, CaseError> {
        check_sentence(&failure.message)?;
        Ok(match failure.kind {
            FailureKind::Offline => ExpectedOutcome::Offline,
            FailureKind::KeyRefused => ExpectedOutcome::KeyRefused,
            FailureKind::NotFound => ExpectedOutcome::NotFound,
            FailureKind::Service => ExpectedOutcome::Service,
            FailureKind::Limited(wait) => {
                ExpectedOutcome::Limited(retry_seconds(before, wait.until, self.engine.service_time())?)
            }
            FailureKind::Store | FailureKind::Local => return Err(format!("ended as {failure:?}")),
        })
    }
}

/// Checks that the text is a sentence without the API key and without control characters.
pub(crate) fn check_sentence(sentence: &CleanText) -> Result<(), CaseError> {
    let text = sentence.as_str();
    let is_plain = |c: char| !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_plain_sentence = text.len() > 20 && text.len() < 1_000 && text.ends_with('.') && text.chars().all(is_plain);
    check(is_plain_sentence && !text.contains(API_KEY), || format!("the message is {text:?}"))
}

/// Returns the seconds that the server demanded in `Retry-After`, given that the response was sent between `before`
/// and `after` and that the engine waits until `until`. The 600 seconds of a date count from the creation of the fault
/// list, up to 300 seconds earlier.
pub(crate) fn retry_seconds(before: Time, until: Time, after: Time) -> Result<i64, CaseError> {
    let (longest, shortest) = (until - before, until - after);
    for seconds in [60, 90, 600, 86_400] {
        let requested = chrono::TimeDelta::seconds(seconds);
        let list_age = if seconds == 600 { chrono::TimeDelta::seconds(300) } else { chrono::TimeDelta::zero() };
        if shortest <= requested && requested - list_age <= longest {
            return Ok(seconds);
        }
    }
    Err(format!("waits {longest}"))
}

/// Runs one case and returns its outcome.
pub(crate) async fn run(fault: &Fault, operation: Operation) -> Result<ExpectedOutcome, CaseError> {
    let wire = if operation == Operation::Views { &fault.views } else { &fault.job };
    let (server, folder) = (Server::start(wire.clone()).await, create_store_folder());
    let mut fixture = FaultFixture::start(&server, fault, operation, folder.path()).await;
    let outcome = match operation {
        Operation::Create | Operation::FollowUp => fixture.run_prompt(operation).await?,
        Operation::GetJob => fixture.run_get().await?,
        Operation::Views => fixture.run_views_effect().await?,
        Operation::Preview | Operation::Build | Operation::Analytics(_) | Operation::Conversation => {
            unreachable!("these have tests of their own")
        }
    };
    fixture.engine.stop().await;
    fixture.store.close().await;
    let method = if matches!(operation, Operation::Create | Operation::FollowUp) { "POST /" } else { "GET /" };
    let requests = server.requests();
    let expected = usize::from(wire.reads_requests());
    check(requests.len() == expected && requests.iter().all(|request| request.head.starts_with(method)), || {
        format!("requests were {requests:?}")
    })?;
    check(server.connection_count() <= 1, || format!("{} connections", server.connection_count()))?;
    if let ServerBehavior::Response(_, ConnectionEnd::Flood(_)) = wire {
        check(server.flooded_bytes() <= MAX_FLOOD_BYTES, || format!("{} bytes were taken", server.flooded_bytes()))?;
    }
    check_intact(folder.path())?;
    Ok(outcome)
}

/// Checks that the database is intact and that no file in the folder contains the API key.
fn check_intact(folder: &Path) -> Result<(), CaseError> {
    let file = rusqlite::Connection::open(folder.join("docdeck.db")).expect("opened");
    let word: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
    check(word == "ok", || format!("the store is {word}"))?;
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let bytes = std::fs::read(entry.path()).expect("read");
        let has_key = bytes.windows(API_KEY.len()).any(|window| window == API_KEY.as_bytes());
        check(!has_key, || format!("the key is in {}", entry.path().display()))?;
    }
    Ok(())
}
