//! One case of the matrix: one operation of a real engine on a real store, against one fault.

use crate::list::{Fault, ID, KEY, Outcome, STORED_STATUS};
use crate::server::{End, Server, Wire};
use docdeck::api::{Client, ClientOptions, ExtraRoots};
use docdeck::engine::{Engine, EngineSetup, LeaseRoles, PollOptions};
use docdeck::model::Time;
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::job::{JobId, RemoteJob, Status};
use docdeck::model::ledger::RateLimited;
use docdeck::model::load::Timed;
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::model::prompt::{Delivery, PromptId};
use docdeck::model::row::Job;
use docdeck::model::text::CleanText;
use docdeck::model::views::{Counts, PageRow, ViewsPage, ViewsQuery};
use docdeck::store::Store;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc;

/// Longer than anything here takes; a case that waits for it has failed.
const TOO_LONG: Duration = Duration::from_secs(60);
/// The client's timeout in cases that test timeouts.
const SHORT_TIMEOUT: Duration = Duration::from_millis(1500);
/// The typed prompt, with everything that JSON, a shell or SQL could trip over.
const TEXT: &str = "Fix \"the\" links;\n\t'--' {x} \\ \u{1f980} e\u{301}";
/// More than the largest answer that the client reads plus the buffers at both ends.
const FLOOD_MAX: u64 = 64 << 20;

/// Describes what is wrong with a case.
pub(crate) type Mistake = String;

/// Fails the case with this description unless the condition holds.
pub(crate) fn check(holds: bool, wrong: impl FnOnce() -> String) -> Result<(), Mistake> {
    if holds { Ok(()) } else { Err(wrong()) }
}

/// The engine with its store, and the contents of the store at the start.
struct FaultFixture {
    engine: Engine,
    store: Store,
    scope: Scope,
    news: mpsc::Receiver<EngineEvent>,
    /// The job that is tracked already.
    row: Job,
    query: ViewsQuery,
    views: Timed<ViewsPage>,
}

/// The query that the dashboard makes today. A case that runs past midnight keeps the query that it started with.
pub(crate) fn query() -> ViewsQuery {
    ViewsQuery { range: DateRange::last_days(7, chrono::Utc::now().date_naive()), limit: 50, page: 1 }
}

pub(crate) fn options(short_timeout: bool) -> ClientOptions {
    let wait = if short_timeout { SHORT_TIMEOUT } else { TOO_LONG };
    // Any authority that did not sign the servers' certificates, so that nothing depends on this computer's
    // authorities.
    let stranger = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/leaf.pem"));
    let roots = Some(ExtraRoots::read(stranger).expect("a certificate"));
    // A connection that can't be made has to time out before the request does, even on a slow computer.
    ClientOptions { connect_timeout: wait, total_timeout: wait * 2, roots }
}

pub(crate) fn folder() -> TempDir {
    // The tests are not about the disk, so the store is in memory where possible.
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.expect("a folder")
}

/// The scope of a profile for this server.
pub(crate) fn service(server: &Server) -> Scope {
    Scope { base_url: server.base_url().to_owned(), project: "proj".to_owned(), organization: None }
}

/// Creates a store with a tracked job and page views as of now.
pub(crate) async fn seed(
    scope: &Scope,
    operation: Operation,
    folder: &Path,
    query: ViewsQuery,
    now: Time,
) -> (Store, Job) {
    let (store, _) = Store::open(folder, now).expect("a store");
    let link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
    // The id of a newly created job must not be tracked yet.
    let id = JobId::new(if operation == Operation::Create { "job_0" } else { ID }).expect("an id");
    let job = RemoteJob {
        id,
        status: Status::parse(STORED_STATUS),
        repository: Some(CleanText::line("acme/docs")),
        git_ref: None,
        model: None,
        pr_link: link,
        created_at: None,
        archived_at: None,
    };
    let row = store.track(scope, job, now).await.expect("written");
    let page = PageRow { path: CleanText::line("/kept"), counts: Counts::default() };
    let page = ViewsPage { totals: Counts::default(), rows: vec![page], has_more: Some(false) };
    store.save_views(scope, query, &page, now).await.expect("written");
    (store, row)
}

impl FaultFixture {
    async fn start(server: &Server, fault: &Fault, operation: Operation, folder: &Path) -> Self {
        let scope = service(server);
        let now: Time = chrono::SubsecRound::trunc_subsecs(chrono::Utc::now(), 3);
        let query = query();
        let (store, row) = seed(&scope, operation, folder, query, now).await;
        let views = store.cached_views(&scope, query).await.expect("read").expect("kept");
        let key = ApiKey::new(KEY).expect("a key");
        let client = Client::new(scope.clone(), key, options(fault.short_timeout)).expect("a client");
        let (sender, news) = mpsc::channel(4096);
        let setup = EngineSetup {
            client,
            store: store.clone(),
            scope: scope.clone(),
            poll: PollOptions::default(),
            // Only the requests of the case are sent.
            roles: LeaseRoles::None,
            lock_folder: Some(folder.to_owned()),
            on_change: None,
            events: sender,
        };
        let engine = Engine::start(setup).await.expect("an engine");
        Self { engine, store, scope, news, row, query, views }
    }

    /// Waits for the final delivery of a submitted prompt.
    async fn delivery(&mut self, of: PromptId) -> Result<Delivery, Mistake> {
        let step = async {
            loop {
                match self.news.recv().await {
                    Some(EngineEvent::Prompt { prompt, delivery, .. }) if prompt == of => match delivery {
                        Delivery::Sending | Delivery::Queued { until: None } => {}
                        delivery => return delivery,
                    },
                    Some(_) => {}
                    None => panic!("the engine ended"),
                }
            }
        };
        tokio::time::timeout(TOO_LONG, step).await.map_err(|_| "no outcome".to_owned())
    }

    async fn prompt(&mut self, operation: Operation) -> Result<Outcome, Mistake> {
        let before = self.engine.service_now();
        let handed = match operation {
            Operation::FollowUp => self.engine.submit_follow_up(self.row.key, TEXT).await,
            _ => self.engine.submit_new_job(TEXT).await,
        };
        let (prompt, row) = handed.map_err(|failure| failure.message.to_string())?;
        let delivery = self.delivery(prompt).await?;
        let now = self.engine.service_now();
        let row = self.store.job(row.key).await.expect("read").expect("there");
        let thread = self.store.thread(row.key).await.expect("read");
        let kept: Vec<_> = thread.prompts.iter().map(|prompt| (prompt.text.as_str(), &prompt.delivery)).collect();
        // Without the sender role, a queued prompt is only queued in this instance: all others see it as paused.
        let on_disk = if matches!(delivery, Delivery::Queued { .. }) { &Delivery::Paused } else { &delivery };
        check(kept == [(TEXT, on_disk)], || format!("on disk is {kept:?}, told was {delivery:?}"))?;
        let limited = if operation == Operation::FollowUp { RateLimited::FollowUp } else { RateLimited::Create };
        let budget = self.store.budget(&self.scope, limited, now).await.expect("read");
        let used = u32::from(!matches!(delivery, Delivery::NotSent(_)));
        check(budget.used == used || budget.blocked.is_some(), || format!("{} used in the ledger", budget.used))?;
        if let Some(reason) = delivery.reason() {
            assert_is_sentence(reason)?;
        }
        let queued = self.store.queued(&self.scope).await.expect("read");
        check(queued.is_empty() || matches!(delivery, Delivery::Queued { .. }), || format!("waits still: {queued:?}"))?;
        if operation == Operation::FollowUp && !matches!(delivery, Delivery::Accepted) {
            check((&row.id, &row.status) == (&self.row.id, &self.row.status), || format!("the job became {row:?}"))?;
        }
        Ok(match delivery {
            Delivery::NotSent(_) => Outcome::NotSent,
            Delivery::Rejected(_) => Outcome::Rejected,
            Delivery::Unconfirmed(_) => Outcome::Unconfirmed,
            Delivery::Accepted => {
                let id = row.id.as_ref().map_or_else(String::new, |id| id.as_str().to_owned());
                Outcome::Accepted(id, row.status.as_ref().map_or_else(String::new, Status::to_string))
            }
            Delivery::Queued { until: Some(until) } => {
                check(budget.blocked.map(|wait| wait.until) == Some(until), || {
                    format!("the ledger says {:?}", budget.blocked)
                })?;
                Outcome::Limited(retry_seconds(before, until, now)?)
            }
            other => return Err(format!("ended as {other:?}")),
        })
    }

    async fn get(&self) -> Result<Outcome, Mistake> {
        let before = self.engine.service_now();
        let result = self.engine.refresh(self.row.key).await;
        let row = self.store.job(self.row.key).await.expect("read").expect("there");
        match result {
            Ok(job) => {
                check(job == row, || format!("told was {job:?}, on disk is {row:?}"))?;
                check(row.id == self.row.id, || format!("the id became {:?}", row.id))?;
                check(row.pr_link.is_some() && row.repository.is_some(), || "what was known is gone".to_owned())?;
                Ok(match row.gone {
                    true => Outcome::Gone,
                    false => Outcome::Row(row.status.as_ref().map_or_else(String::new, Status::to_string)),
                })
            }
            Err(failure) => {
                check(row == self.row, || format!("the record became {row:?}"))?;
                self.failed(before, &failure)
            }
        }
    }

    async fn views(&self) -> Result<Outcome, Mistake> {
        let before = self.engine.service_now();
        let result = self.engine.load_views(self.query, true).await;
        let now = self.engine.service_now();
        let kept = self.engine.cached_views(self.query).await.ok_or("no views are kept")?;
        let budget = self.store.budget(&self.scope, RateLimited::Views, now).await.expect("read");
        match result {
            Ok(loaded) => {
                check(kept == loaded, || format!("kept is {kept:?}"))?;
                check(budget.used == 1, || format!("{} used in the ledger", budget.used))?;
                Ok(Outcome::Loaded(format!("{:?}", loaded.value.totals.human)))
            }
            Err(failure) => {
                check(kept == self.views, || format!("kept is {kept:?}"))?;
                check(budget.used <= 1 || budget.blocked.is_some(), || format!("{} used", budget.used))?;
                self.failed(before, &failure)
            }
        }
    }

    fn failed(&self, before: Time, failure: &Failure) -> Result<Outcome, Mistake> {
        assert_is_sentence(&failure.message)?;
        Ok(match failure.kind {
            FailureKind::Offline => Outcome::Offline,
            FailureKind::KeyRefused => Outcome::KeyRefused,
            FailureKind::NotFound => Outcome::NotFound,
            FailureKind::Service => Outcome::Service,
            FailureKind::Limited(wait) => {
                Outcome::Limited(retry_seconds(before, wait.until, self.engine.service_now())?)
            }
            FailureKind::Store | FailureKind::Local => return Err(format!("ended as {failure:?}")),
        })
    }
}

/// Asserts that the text is one sentence without the key and without control characters.
fn assert_is_sentence(sentence: &CleanText) -> Result<(), Mistake> {
    let text = sentence.as_str();
    let is_plain = |c: char| !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_plain_sentence = text.len() > 20 && text.len() < 1_000 && text.ends_with('.') && text.chars().all(is_plain);
    check(is_plain_sentence && !text.contains(KEY), || format!("the message is {text:?}"))
}

/// Whole seconds of a retry time that was requested at an unknown moment between `before` and `after`; a date counts
/// from the moment at which the list of faults was created.
fn retry_seconds(before: Time, until: Time, after: Time) -> Result<i64, Mistake> {
    let (most, least) = (until - before, until - after);
    for seconds in [60, 90, 600, 86_400] {
        let requested = chrono::TimeDelta::seconds(seconds);
        let dated = if seconds == 600 { chrono::TimeDelta::seconds(300) } else { chrono::TimeDelta::zero() };
        if least <= requested && requested - dated <= most {
            return Ok(seconds);
        }
    }
    Err(format!("waits {most}"))
}

/// Runs one case and returns its outcome.
pub(crate) async fn run(fault: &Fault, operation: Operation) -> Result<Outcome, Mistake> {
    let wire = if operation == Operation::Views { &fault.views } else { &fault.job };
    let (server, folder) = (Server::start(wire.clone()).await, folder());
    let mut fixture = FaultFixture::start(&server, fault, operation, folder.path()).await;
    let outcome = match operation {
        Operation::Create | Operation::FollowUp => fixture.prompt(operation).await?,
        Operation::Get => fixture.get().await?,
        Operation::Views => fixture.views().await?,
    };
    fixture.engine.stop().await;
    fixture.store.close().await;
    let method = if matches!(operation, Operation::Create | Operation::FollowUp) { "POST /" } else { "GET /" };
    let requests = server.requests();
    let wanted = usize::from(wire.can_receive());
    check(requests.len() == wanted && requests.iter().all(|line| line.starts_with(method)), || {
        format!("requests were {requests:?}")
    })?;
    check(server.connections() <= 1, || format!("{} connections", server.connections()))?;
    if let Wire::Answer(_, End::Flood(_)) = wire {
        check(server.flooded() <= FLOOD_MAX, || format!("{} bytes were taken", server.flooded()))?;
    }
    check_intact(folder.path())?;
    Ok(outcome)
}

/// Asserts that the database is intact and that the key is nowhere in the folder.
fn check_intact(folder: &Path) -> Result<(), Mistake> {
    let file = rusqlite::Connection::open(folder.join("docdeck.db")).expect("opened");
    let word: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
    check(word == "ok", || format!("the store is {word}"))?;
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let bytes = std::fs::read(entry.path()).expect("read");
        let has_key = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        check(!has_key, || format!("the key is in {}", entry.path().display()))?;
    }
    Ok(())
}
