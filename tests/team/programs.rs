//! The built program on the computers of a team, with the simulated service and a real database.

use crate::holding_proxy::{HoldingProxy, Then};
use crate::proxy::Cut;
use crate::support::command::CommandFixture;
use crate::support::postgres::Postgres;
use crate::support::scope_of;
use docdeck::model::prompt::DeliveryKind;
use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The time after which a wait fails the test; much longer than any wait takes.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + WAIT_TIMEOUT;
    while !holds() {
        assert!(Instant::now() < end, "timed out waiting for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The service, the team's database, and the computers of ana and bob, who have joined.
pub(crate) struct Team {
    pub(crate) fixture: CommandFixture,
    pub(crate) server: Postgres,
}

impl Team {
    /// Returns `None` if PostgreSQL is not installed.
    pub(crate) fn new() -> Option<Self> {
        let team = Self { server: Postgres::start(&[])?, fixture: CommandFixture::new(&[]) };
        team.run("admin", &["team", "init", "--organization", "docs"]);
        team.server.sql("CREATE ROLE ana LOGIN IN ROLE docdeck_docs; CREATE ROLE bob LOGIN IN ROLE docdeck_docs");
        for user in ["ana", "bob"] {
            team.run(user, &["team", "join"]);
        }
        Some(team)
    }

    fn variables(&self, computer: &str, url: &str) -> Vec<(String, String)> {
        let data = self.fixture.home.path().join(computer).display().to_string();
        let own = [("DOCDECK_DATA_DIR", data), ("DOCDECK_TEAM_URL", url.to_owned()), ("USER", computer.to_owned())];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
        self.fixture.environment_variables().into_iter().chain(own).collect()
    }

    /// Runs docdeck on the computer of this user, and returns what it prints.
    pub(crate) fn run(&self, user: &str, words: &[&str]) -> String {
        self.run_as(user, user, words)
    }

    /// Runs docdeck on a computer, with the login of this user, and returns what it prints.
    pub(crate) fn run_as(&self, computer: &str, user: &str, words: &[&str]) -> String {
        let variables = self.variables(computer, &self.server.url(user));
        let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (&**name, &**value)).collect();
        self.fixture.run_with(words, &variables, "").expect_exit_code(0).out
    }

    /// Starts docdeck on a computer, with this URL of the team's database.
    pub(crate) fn spawn(&self, computer: &str, url: &str, words: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_docdeck"));
        command.env_clear().envs(self.variables(computer, url)).args(words).current_dir(self.fixture.home.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    }

    /// Runs docdeck through a proxy, and kills it at the message with this number or as soon as `is_enough` holds.
    /// Returns how it ended.
    pub(crate) fn kill_at(&self, at: usize, cut: Cut, words: &[&str], mut is_enough: impl FnMut() -> bool) -> End {
        let proxy = HoldingProxy::start(self.server.folder(), at, cut, Then::Silence);
        let mut child = self.spawn("ana", &proxy.url("ana"), words);
        let mut end = None;
        wait_until("the message", || {
            end = match child.try_wait().expect("a status") {
                _ if proxy.is_reached() => Some(End::AtMessage),
                Some(status) => {
                    assert!(status.success(), "{words:?}: {status}");
                    Some(End::Finished)
                }
                None => is_enough().then_some(End::Enough),
            };
            end.is_some()
        });
        kill(child);
        end.expect("an end")
    }

    /// Returns the prompts that the service has, and checks that it got each of them once.
    pub(crate) fn received_prompts(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.fixture.sim.received_prompts().into_iter().map(|(_, text)| text).collect();
        let count = texts.len();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), count, "something was sent twice");
        texts
    }

    /// Returns the prompts on a computer, with their delivery.
    pub(crate) fn stored_prompts(&self, computer: &str) -> BTreeMap<String, DeliveryKind> {
        let folder = self.fixture.home.path().join(computer);
        block_on(async {
            let store = crate::support::open_store(&folder);
            let mut all = BTreeMap::new();
            for job in store.jobs(&scope_of(&self.fixture.sim)).await.expect("read") {
                for prompt in store.thread(job.key).await.expect("a thread").prompts {
                    let before = all.insert(prompt.text, prompt.delivery.kind());
                    assert_eq!(before, None, "a prompt is there twice");
                }
            }
            store.close().await;
            all
        })
    }

    pub(crate) fn holder(&self) -> String {
        self.server.sql("SELECT holder FROM docdeck.lease WHERE expires_at > now()")
    }
}

/// How a run of docdeck ended that was to be killed at a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Killed at the message.
    AtMessage,
    /// Killed because it had done enough.
    Enough,
    /// It exited before the message.
    Finished,
}

pub(crate) fn kill(mut child: Child) {
    // It may have exited.
    let _ = child.kill();
    child.wait().expect("a status");
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work)
}
