//! One cell of the matrix: one operation of a real engine on a real store, against one fault.

use crate::list::{BEFORE, Fault, ID, KEY, Outcome};
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

/// Longer than anything here takes; a cell that waits for it has failed.
const TOO_LONG: Duration = Duration::from_secs(60);
/// How long a client waits where the fault is that it has to wait.
const HASTE: Duration = Duration::from_millis(1500);
/// What is typed: with all that JSON, a shell or SQL would trip over.
const TEXT: &str = "Fix \"the\" links;\n\t'--' {x} \\ \u{1f980} e\u{301}";
/// More than the largest answer that is read, and what lies in the buffers between both ends.
const FLOOD_MAX: u64 = 64 << 20;

/// What is wrong with a cell.
pub(crate) type Wrong = String;

/// Fails the cell with what was found.
pub(crate) fn check(holds: bool, wrong: impl FnOnce() -> String) -> Result<(), Wrong> {
    if holds { Ok(()) } else { Err(wrong()) }
}

/// The engine with its record, and the record as it was before.
struct FaultFixture {
    engine: Engine,
    store: Store,
    scope: Scope,
    news: mpsc::Receiver<EngineEvent>,
    /// The job that is there already.
    row: Job,
    query: ViewsQuery,
    views: Timed<ViewsPage>,
}

/// What the dashboard asks for today. A cell that runs into the next day goes on with what it began with.
pub(crate) fn query() -> ViewsQuery {
    ViewsQuery { range: DateRange::last_days(7, chrono::Utc::now().date_naive()), limit: 50, page: 1 }
}

pub(crate) fn options(hasty: bool) -> ClientOptions {
    let wait = if hasty { HASTE } else { TOO_LONG };
    // Any authority that did not sign what the servers here show, so that nothing depends on this computer's.
    let stranger = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/leaf.pem"));
    let roots = Some(ExtraRoots::read(stranger).expect("a certificate"));
    // Whatever makes this computer slow: a connection that does not come about is given up before the whole is.
    ClientOptions { connect_timeout: wait, total_timeout: wait * 2, roots }
}

pub(crate) fn folder() -> TempDir {
    // What is tried is not the disk.
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.expect("a folder")
}

/// The service as the profile names it.
pub(crate) fn service(server: &Server) -> Scope {
    Scope { base_url: server.base_url().to_owned(), project: "proj".to_owned(), organization: None }
}

/// A record that knows a job, and page views of that moment.
pub(crate) async fn seed(
    scope: &Scope,
    operation: Operation,
    folder: &Path,
    query: ViewsQuery,
    now: Time,
) -> (Store, Job) {
    let (store, _) = Store::open(folder, now).expect("a store");
    let link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
    // A new job is none that is known.
    let id = JobId::new(if operation == Operation::Create { "job_0" } else { ID }).expect("an id");
    let job = RemoteJob {
        id,
        status: Status::parse(BEFORE),
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
    async fn begin(server: &Server, fault: &Fault, operation: Operation, folder: &Path) -> Self {
        let scope = service(server);
        let now: Time = chrono::SubsecRound::trunc_subsecs(chrono::Utc::now(), 3);
        let query = query();
        let (store, row) = seed(&scope, operation, folder, query, now).await;
        let views = store.cached_views(&scope, query).await.expect("read").expect("kept");
        let key = ApiKey::new(KEY).expect("a key");
        let client = Client::new(scope.clone(), key, options(fault.hasty)).expect("a client");
        let (sender, news) = mpsc::channel(4096);
        let setup = EngineSetup {
            client,
            store: store.clone(),
            scope: scope.clone(),
            poll: PollOptions::default(),
            // Only what the cell asks for goes out.
            duties: LeaseRoles::None,
            lock_folder: Some(folder.to_owned()),
            on_change: None,
            news: sender,
        };
        let engine = Engine::start(setup).await.expect("an engine");
        Self { engine, store, scope, news, row, query, views }
    }

    /// What becomes of a prompt that was handed over.
    async fn delivery(&mut self, of: PromptId) -> Result<Delivery, Wrong> {
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

    async fn prompt(&mut self, operation: Operation) -> Result<Outcome, Wrong> {
        let before = self.engine.service_now();
        let handed = match operation {
            Operation::FollowUp => self.engine.submit_follow_up(self.row.key, TEXT).await,
            _ => self.engine.submit_new_job(TEXT).await,
        };
        let (prompt, row) = handed.map_err(|failure| failure.sentence.to_string())?;
        let delivery = self.delivery(prompt).await?;
        let now = self.engine.service_now();
        let row = self.store.job(row.key).await.expect("read").expect("there");
        let thread = self.store.thread(row.key).await.expect("read");
        let kept: Vec<_> = thread.prompts.iter().map(|prompt| (prompt.text.as_str(), &prompt.delivery)).collect();
        // Without the duty to send, what waits is kept for this instance alone: for all others it is paused.
        let on_disk = if matches!(delivery, Delivery::Queued { .. }) { &Delivery::Paused } else { &delivery };
        check(kept == [(TEXT, on_disk)], || format!("on disk is {kept:?}, told was {delivery:?}"))?;
        let limited = if operation == Operation::FollowUp { RateLimited::FollowUp } else { RateLimited::Create };
        let budget = self.store.budget(&self.scope, limited, now).await.expect("read");
        let used = u32::from(!matches!(delivery, Delivery::NotSent(_)));
        check(budget.used == used || budget.blocked.is_some(), || format!("{} used in the ledger", budget.used))?;
        if let Some(reason) = delivery.reason() {
            said(reason)?;
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
                Outcome::Limited(pause(before, until, now)?)
            }
            other => return Err(format!("ended as {other:?}")),
        })
    }

    async fn get(&self) -> Result<Outcome, Wrong> {
        let before = self.engine.service_now();
        let result = self.engine.refresh(self.row.key).await;
        let row = self.store.job(self.row.key).await.expect("read").expect("there");
        match result {
            Ok(told) => {
                check(told == row, || format!("told was {told:?}, on disk is {row:?}"))?;
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

    async fn views(&self) -> Result<Outcome, Wrong> {
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

    fn failed(&self, before: Time, failure: &Failure) -> Result<Outcome, Wrong> {
        said(&failure.sentence)?;
        Ok(match failure.kind {
            FailureKind::Offline => Outcome::Offline,
            FailureKind::KeyRefused => Outcome::KeyRefused,
            FailureKind::NotFound => Outcome::NotFound,
            FailureKind::Service => Outcome::Service,
            FailureKind::Limited(wait) => Outcome::Limited(pause(before, wait.until, self.engine.service_now())?),
            FailureKind::Store | FailureKind::Local => return Err(format!("ended as {failure:?}")),
        })
    }
}

/// One sentence, without the key and without anything that a terminal would obey.
fn said(sentence: &CleanText) -> Result<(), Wrong> {
    let text = sentence.as_str();
    let is_plain = |c: char| !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let sound = text.len() > 20 && text.len() < 1_000 && text.ends_with('.') && text.chars().all(is_plain);
    check(sound && !text.contains(KEY), || format!("it said {text:?}"))
}

/// Whole seconds of a rest that was asked for at an unknown moment between `before` and `after`; a date counts from the
/// moment when the list of faults was made.
fn pause(before: Time, until: Time, after: Time) -> Result<i64, Wrong> {
    let (most, least) = (until - before, until - after);
    for seconds in [60, 90, 600, 86_400] {
        let asked = chrono::TimeDelta::seconds(seconds);
        let dated = if seconds == 600 { chrono::TimeDelta::seconds(300) } else { chrono::TimeDelta::zero() };
        if least <= asked && asked - dated <= most {
            return Ok(seconds);
        }
    }
    Err(format!("rests for {most}"))
}

/// Runs one cell and gives what came of it.
pub(crate) async fn run(fault: &Fault, operation: Operation) -> Result<Outcome, Wrong> {
    let wire = if operation == Operation::Views { &fault.views } else { &fault.job };
    let (server, folder) = (Server::start(wire.clone()).await, folder());
    let mut desk = FaultFixture::begin(&server, fault, operation, folder.path()).await;
    let outcome = match operation {
        Operation::Create | Operation::FollowUp => desk.prompt(operation).await?,
        Operation::Get => desk.get().await?,
        Operation::Views => desk.views().await?,
    };
    desk.engine.stop().await;
    desk.store.close().await;
    let method = if matches!(operation, Operation::Create | Operation::FollowUp) { "POST /" } else { "GET /" };
    let requests = server.requests();
    let wanted = usize::from(wire.hears());
    check(requests.len() == wanted && requests.iter().all(|line| line.starts_with(method)), || {
        format!("requests were {requests:?}")
    })?;
    check(server.connections() <= 1, || format!("{} connections", server.connections()))?;
    if let Wire::Answer(_, End::Flood(_)) = wire {
        check(server.flooded() <= FLOOD_MAX, || format!("{} bytes were taken", server.flooded()))?;
    }
    sound(folder.path())?;
    Ok(outcome)
}

/// The file is whole, and the key is nowhere in the folder.
fn sound(folder: &Path) -> Result<(), Wrong> {
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
