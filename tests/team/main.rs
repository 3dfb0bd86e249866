//! Shares jobs through a real PostgreSQL server, which the tests start in their own folder: several members, lost
//! connections, a server that is killed or restored from an older copy. Skipped if PostgreSQL is not installed.

#![cfg(unix)]
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a wrong index should fail the test")]

mod budget;
mod commands;
mod cut_off;
mod database;
mod engines;
mod exchanging;
mod full_disk;
mod holding_proxy;
mod idle;
mod interrupted;
mod killed;
mod lease;
mod programs;
mod proxy;
mod reader_texts;
mod reports;

#[path = "../support/mod.rs"]
mod support;

use docdeck::model::Time;
use docdeck::model::analytics::ReaderTextRetention;
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::job::Job;
use docdeck::model::prompt::{Delivery, Prompt};
use docdeck::model::remote_job::{JobId, RemoteJob, Status};
use docdeck::model::text::CleanText;
use docdeck::store::{SendPermit, Store};
use docdeck::team::{self, ExchangeSummary, MemberSettings, OrganizationName, TeamAddress, TeamConnection, TeamError};
use std::collections::BTreeMap;
use std::time::Duration;
use support::postgres::Postgres;

const TIMEOUT: Duration = Duration::from_secs(10);

/// Starts a server with the schema, the organizations `docs` and `other`, and a login for each.
async fn start_database(settings: &[&str]) -> Option<Postgres> {
    Some(with_schema(Postgres::start(settings)?).await)
}

/// Creates the schema, the organizations `docs` and `other`, and a login for each.
async fn with_schema(server: Postgres) -> Postgres {
    let connection = connect(&server.url("admin")).await.expect("connected");
    for name in ["docs", "other"] {
        team::set_up_schema(&connection, &OrganizationName::new(name).expect("a name")).await.expect("created");
    }
    server.sql("CREATE ROLE ana LOGIN IN ROLE docdeck_docs; CREATE ROLE eve LOGIN IN ROLE docdeck_other");
    server
}

fn address(url: &str) -> TeamAddress {
    TeamAddress::new(&ApiKey::new(url).expect("a URL"), None).expect("a valid URL")
}

async fn connect(url: &str) -> Result<TeamConnection, TeamError> {
    TeamConnection::open(&address(url), TIMEOUT).await
}

fn text(text: &str) -> CleanText {
    CleanText::line(text)
}

fn scope(project: &str) -> Scope {
    Scope { base_url: "https://docs.example".to_owned(), project: project.to_owned(), organization: None }
}

/// The current time, in milliseconds like the store's times.
fn now() -> Time {
    Time::from_timestamp_millis(chrono::Utc::now().timestamp_millis()).expect("in range")
}

/// Returns the day on which the tests began, so that a range stays the same if they run past midnight.
fn first_day() -> chrono::NaiveDate {
    static FIRST_DAY: std::sync::LazyLock<chrono::NaiveDate> = std::sync::LazyLock::new(|| now().date_naive());
    *FIRST_DAY
}

fn answer(id: &str, status: Status) -> RemoteJob {
    RemoteJob::new(JobId::new(id).expect("an id"), status)
}

/// A computer of a team.
struct Member {
    name: &'static str,
    store: Store,
    scope: Scope,
    url: String,
    reader_text_days: ReaderTextRetention,
}

/// The settings of a member with the default number of days.
fn member_settings(name: &str) -> MemberSettings<'_> {
    MemberSettings { name, reader_text_days: ReaderTextRetention::default() }
}

/// What a user sees of a job: the state, the texts and the thread.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SeenJob {
    status: Option<String>,
    link: Option<String>,
    title: Option<String>,
    note: Option<String>,
    dismissed: bool,
    tags: Vec<String>,
    /// The prompts by their text: their delivery.
    prompts: BTreeMap<String, String>,
}

impl Member {
    async fn join(server: &Postgres, name: &'static str, project: &str) -> Self {
        let store = Store::in_memory().expect("a store");
        let (scope, url) = (scope(project), server.url("ana"));
        let member = Self { name, store, scope, url, reader_text_days: ReaderTextRetention::default() };
        member.store.join_team(&member.scope, "docs").await.expect("joined");
        member
    }

    fn settings(&self) -> MemberSettings<'_> {
        MemberSettings { name: self.name, reader_text_days: self.reader_text_days }
    }

    /// Exchanges once over this URL.
    async fn exchange_over(&self, url: &str) -> Result<ExchangeSummary, TeamError> {
        let connection = TeamConnection::open_checked(&address(url), TIMEOUT).await?;
        team::exchange(&connection, &self.store, &self.scope, self.settings(), now()).await
    }

    async fn exchange(&self) -> ExchangeSummary {
        self.exchange_over(&self.url).await.expect("exchanged")
    }

    async fn track(&self, id: &str, status: Status) -> Job {
        self.store.track(&self.scope, answer(id, status), now()).await.expect("tracked")
    }

    async fn job(&self, id: &str) -> Job {
        let found = self.store.job_by_id(&self.scope, &JobId::new(id).expect("an id")).await.expect("read");
        found.unwrap_or_else(|| panic!("{} has no job {id}", self.name))
    }

    async fn prompts(&self, id: &str) -> Vec<Prompt> {
        let key = self.job(id).await.key;
        self.store.thread(key).await.map(|thread| thread.prompts).unwrap_or_default()
    }

    async fn change(&self, id: &str, change: docdeck::model::change::LocalChange) {
        let key = self.job(id).await.key;
        self.store.change_jobs(&[key], change, now()).await.expect("changed");
    }

    /// Sends a follow-up as the engine does, up to the given outcome.
    async fn follow_up(&self, id: &str, prompt: &str, outcome: Delivery) {
        let key = self.job(id).await.key;
        let (prompt, _) = self.store.add_follow_up(key, prompt, now()).await.expect("queued");
        if matches!(outcome, Delivery::Queued { .. }) {
            return;
        }
        let permit = self.store.request_permit(prompt, self.name, now(), now()).await.expect("an answer");
        assert!(matches!(permit, SendPermit::Granted { .. }), "{permit:?}");
        match outcome {
            Delivery::Sending => {}
            Delivery::Accepted => {
                let accepted = answer(id, Status::Active);
                self.store.record_accepted_send(prompt, accepted, now()).await.expect("stored");
            }
            other => drop(self.store.record_unaccepted_send(prompt, other, None, now()).await.expect("stored")),
        }
    }

    async fn seen(&self, id: &str) -> SeenJob {
        let job = self.job(id).await;
        let mut tags: Vec<String> = job.local.tags.iter().map(ToString::to_string).collect();
        tags.sort();
        let prompts = self.prompts(id).await.into_iter();
        SeenJob {
            status: job.remote.status.as_ref().map(|status| status.word().to_owned()),
            link: job.remote.pr_link.as_ref().map(ToString::to_string),
            title: job.local.has_custom_title.then(|| job.local.title.to_string()),
            note: job.local.note.as_ref().map(ToString::to_string),
            dismissed: job.local.dismissed,
            tags,
            prompts: prompts.map(|prompt| (prompt.text, prompt.delivery.kind().word().to_owned())).collect(),
        }
    }
}
