//! What the flows share: a dashboard without a terminal. Keys go in, effects are carried out as the event loop does,
//! and messages are fed back until something holds; what needs a terminal is recorded.

use chrono::{FixedOffset, TimeDelta};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use docdeck::api::{Client, ClientOptions};
use docdeck::app::profiles::ProfileEntry;
use docdeck::app::welcome::Welcome;
use docdeck::app::{App, AppConfig, Effect, Msg, StoreState};
use docdeck::config::key::KeySource;
use docdeck::config::profiles::KnownProfile;
use docdeck::engine::PollOptions;
use docdeck::model::Time;
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::job::Status;
use docdeck::model::prompt::{Prompt, Thread};
use docdeck::model::row::{Job, JobKey};
use docdeck::model::setup::AlreadySet;
use docdeck::model::text::CleanText;
use docdeck::runtime::effects::{Effects, EngineConfig};
use docdeck::runtime::first_run::FirstRun;
use docdeck::runtime::switch::ProfileSwitcher;
use docdeck::sim::{Fault, Sim, SimOptions};
use docdeck::store::Store;
use docdeck::ui::{self, Depth, Theme};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Longer than anything here takes; a test that waits for it has failed.
const TOO_LONG: Duration = Duration::from_secs(20);
/// How often a condition outside of the dashboard is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Shortest pause between two moments that the state machine asked for, as in the event loop.
const WAKE_PAUSE: Duration = Duration::from_millis(10);
const SIZE: (u16, u16) = (160, 40);

/// A dashboard.
pub(crate) struct DashboardFixture {
    pub(crate) app: App,
    pub(crate) store: Store,
    pub(crate) scope: Scope,
    /// Every effect so far, whoever carried it out.
    pub(crate) asked: Vec<Effect>,
    effects: Effects,
    profiles: ProfileSwitcher,
    news: mpsc::Receiver<EngineEvent>,
    last_wake: Instant,
    /// How much later it is for the dashboard than for the test: its user pauses after each text that is sent.
    paused: TimeDelta,
}

/// Longer than letters do nothing after a text input has closed.
const PAUSE: TimeDelta = TimeDelta::milliseconds(500);

/// A simulator in which jobs live a hundred times faster than usual.
pub(crate) async fn sim(faults: &[&str]) -> Sim {
    sim_on(0, faults).await
}

pub(crate) async fn sim_on(port: u16, faults: &[&str]) -> Sim {
    let options = SimOptions { port, jobs: 0, pages: 120, speed: 100.0, faults: read(faults), ..SimOptions::default() };
    Sim::start(options).await.expect("a simulator")
}

fn read(faults: &[&str]) -> Vec<Fault> {
    faults.iter().map(|fault| fault.parse().expect("a fault")).collect()
}

/// Other faults from now on.
pub(crate) fn faults(sim: &Sim, faults: &[&str]) {
    sim.set_faults(read(faults));
}

pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

pub(crate) fn scope_of(sim: &Sim) -> Scope {
    Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None }
}

/// Where a dashboard on the record in that folder writes its exports.
pub(crate) fn exports_in(folder: &Path) -> PathBuf {
    folder.join("exports")
}

fn now() -> Time {
    chrono::Utc::now()
}

fn start(profile: &str, scope: &Scope, read_only: bool) -> AppConfig {
    let utc = FixedOffset::east_opt(0).expect("UTC");
    AppConfig { profile: CleanText::line(profile), size: SIZE, read_only, ..AppConfig::new(scope.clone(), utc) }
}

impl DashboardFixture {
    /// A dashboard on the record in that folder, once it has read it.
    pub(crate) async fn begin(sim: &Sim, folder: &Path) -> Self {
        Self::begin_with(scope_of(sim), sim.api_key(), folder).await
    }

    /// As [`DashboardFixture::begin`], by a profile that goes on as it was left.
    pub(crate) async fn go_on_as(profile: &str, sim: &Sim, folder: &Path) -> Self {
        let (store, opened) = Store::open(folder, now()).expect("a store");
        let start = start(profile, &scope_of(sim), opened.read_only);
        let layout = docdeck::runtime::preload::layout(&store, &start).await;
        Self::begin_on(store, AppConfig { layout, ..start }, sim.api_key(), ClientOptions::default(), folder).await
    }

    pub(crate) async fn begin_with(scope: Scope, key: &str, folder: &Path) -> Self {
        Self::begin_by(ClientOptions::default(), scope, key, folder).await
    }

    /// As [`DashboardFixture::begin_with`], by a client with these options.
    pub(crate) async fn begin_by(options: ClientOptions, scope: Scope, key: &str, folder: &Path) -> Self {
        let (store, opened) = Store::open(folder, now()).expect("a store");
        Self::begin_on(store, start("acme-docs", &scope, opened.read_only), key, options, folder).await
    }

    async fn begin_on(store: Store, start: AppConfig, key: &str, options: ClientOptions, folder: &Path) -> Self {
        let scope = start.scope.clone();
        let key = ApiKey::new(key).expect("a key");
        let client = Client::new(scope.clone(), key, options).expect("a client");
        let (sender, news) = mpsc::channel(256);
        let mut effects = Effects::new(store.clone(), scope.clone(), None);
        let exports = exports_in(folder);
        // A record that can't be written has no room for exports either.
        let _ = std::fs::create_dir_all(&exports);
        effects.export_into(exports);
        let config = folder.join("config.toml");
        let start = AppConfig { config: Some(CleanText::line(&config.display().to_string())), ..start };
        effects.set_up(FirstRun { config, source: None });
        let (app, begin) = App::new(start, now());
        for effect in begin {
            effects.carry(effect);
        }
        let poll = PollOptions::default();
        effects.start_engine(
            EngineConfig { client, poll, lock_folder: Some(folder.to_owned()), on_change: Vec::new() },
            sender,
        );
        let profiles = ProfileSwitcher { lock_folder: Some(folder.to_owned()), ..ProfileSwitcher::default() };
        let mut desk = Self {
            app,
            store,
            scope,
            asked: Vec::new(),
            effects,
            profiles,
            news,
            last_wake: Instant::now(),
            paused: TimeDelta::zero(),
        };
        desk.until("the record", |desk| desk.app.store == StoreState::Read && desk.effects.engine().is_some()).await;
        desk
    }

    /// The welcome page, for a configuration in that folder.
    pub(crate) fn welcome(folder: &Path, set: &AlreadySet, source: Option<KeySource>) -> Self {
        let config = folder.join("config.toml");
        let scope = Scope { base_url: String::new(), project: String::new(), organization: None };
        let start = AppConfig {
            size: SIZE,
            welcome: Some(Box::new(Welcome::new(set, CleanText::line(&config.display().to_string())))),
            ..AppConfig::new(scope.clone(), FixedOffset::east_opt(0).expect("UTC"))
        };
        let store = Store::in_memory().expect("a store");
        let mut effects = Effects::new(store.clone(), scope.clone(), None);
        effects.set_up(FirstRun { config, source });
        let (app, begin) = App::new(start, now());
        assert_eq!(begin, []);
        let (_, news) = mpsc::channel(1);
        Self {
            app,
            store,
            scope,
            asked: Vec::new(),
            effects,
            profiles: ProfileSwitcher::default(),
            news,
            last_wake: Instant::now(),
            paused: TimeDelta::zero(),
        }
    }

    /// Knows these profiles from now on, each with its key; the first one is the present one.
    pub(crate) fn know(&mut self, profiles: &[(&str, Scope, &str)]) {
        let key = |key: &str| KeySource::Given(ApiKey::new(key).expect("a key"));
        let known = profiles.iter().map(|(name, scope, with)| KnownProfile {
            name: CleanText::line(name),
            scope: Some(scope.clone()),
            key: Ok(Some(key(with))),
            ca_file: None,
        });
        self.profiles.known = known.collect();
        let listed = profiles.iter().map(|(name, scope, _)| ProfileEntry {
            name: CleanText::line(name),
            scope: Some(scope.clone()),
            lacks: None,
        });
        self.app.config.profiles = listed.collect();
    }

    /// The engine, once it runs.
    pub(crate) fn has_engine(&self) -> bool {
        self.effects.engine().is_some()
    }

    /// Ends it as SIGTERM does: what is typed goes to disk.
    pub(crate) async fn terminate(mut self) {
        self.handle(Msg::Terminate);
        assert_eq!(self.asked.last(), Some(&Effect::Quit));
        self.effects.end().await;
    }

    /// Ends it without a word to the state machine, as a crash does.
    pub(crate) async fn crash(self) {
        self.effects.engine().expect("an engine").stop().await;
    }

    fn handle(&mut self, msg: Msg) {
        let at = self.now();
        for effect in self.app.update(msg, at) {
            self.asked.push(effect.clone());
            match effect {
                Effect::ReadProfileKey(at) => self.effects.spawn(self.profiles.read_key(at)),
                Effect::TryProfileKey(at, key) => self.effects.spawn(self.profiles.try_key(at, key)),
                Effect::SwitchProfile(at, key) => {
                    let connection = self.profiles.connection(at, key).expect("a profile");
                    self.scope = connection.client.scope().clone();
                    self.effects.switch(connection, &mut self.news);
                }
                Effect::AddProfile(profile, key) => {
                    let msg = self.profiles.add(self.effects.first_run().known(&profile), key);
                    self.effects.spawn(async move { msg });
                }
                other => self.effects.carry(other),
            }
        }
        // No frame is ever due here.
        self.effects.carry_what_can_wait();
    }

    /// Presses the keys of these characters.
    pub(crate) fn keys(&mut self, characters: &str) {
        characters.chars().for_each(|c| self.key(KeyCode::Char(c)));
    }

    pub(crate) fn key(&mut self, code: KeyCode) {
        self.handle(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))));
    }

    /// Feeds an event of the terminal.
    pub(crate) fn input(&mut self, event: Event) {
        self.handle(Msg::Input(event));
    }

    pub(crate) fn ctrl(&mut self, c: char) {
        self.handle(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))));
        if c == 's' {
            self.pause();
        }
    }

    /// Lets the time pass in which letters are no shortcuts after a text was sent.
    pub(crate) fn pause(&mut self) {
        self.paused += PAUSE;
    }

    fn now(&self) -> Time {
        now() + self.paused
    }

    pub(crate) fn paste(&mut self, text: &str) {
        self.handle(Msg::Input(Event::Paste(text.to_owned())));
    }

    /// Writes a prompt for a new job and sends it.
    pub(crate) fn send_new(&mut self, text: &str) {
        self.keys("n");
        self.keys(text);
        self.ctrl('s');
    }

    /// A new job that the service has accepted; it is selected.
    pub(crate) async fn accepted(&mut self, text: &str) -> JobKey {
        self.send_new(text);
        self.until("an accepted prompt", |desk| {
            let selected = desk.app.jobs.selected();
            desk.app.dialogs.is_empty()
                && selected.is_some_and(|row| text.starts_with(row.title.as_str()) && row.id.is_some())
        })
        .await;
        self.selected().key
    }

    pub(crate) fn selected(&self) -> &Job {
        self.app.jobs.selected().expect("a selected job")
    }

    pub(crate) fn status(&self, key: JobKey) -> Option<Status> {
        self.app.jobs.get(key).and_then(|row| row.status.clone())
    }

    /// The thread of a job as the store has it.
    pub(crate) async fn thread(&self, key: JobKey) -> Thread {
        self.store.thread(key).await.expect("a thread")
    }

    /// The only prompt that the store has.
    pub(crate) async fn only_prompt(&self) -> Prompt {
        let rows = self.store.jobs(&self.scope).await.expect("rows");
        let [row] = rows.as_slice() else { panic!("one job, not {rows:?}") };
        let prompts = self.thread(row.key).await.prompts;
        let [prompt] = prompts.as_slice() else { panic!("one prompt, not {prompts:?}") };
        prompt.clone()
    }

    /// Feeds what happens to the state machine until the condition holds.
    pub(crate) async fn until(&mut self, what: &str, holds: impl FnMut(&Self) -> bool) {
        if !self.within(TOO_LONG, holds).await {
            panic!("waited in vain for {what}; the screen:\n{}", self.screen());
        }
    }

    /// Until the screen shows this text.
    pub(crate) async fn until_shown(&mut self, text: &str) {
        self.until(text, |desk| desk.shows(text)).await;
    }

    /// As [`DashboardFixture::until`], with an end; whether the condition held.
    pub(crate) async fn within(&mut self, patience: Duration, mut holds: impl FnMut(&Self) -> bool) -> bool {
        let end = Instant::now() + patience;
        while !holds(self) {
            if Instant::now() >= end {
                return false;
            }
            self.turn().await;
        }
        true
    }

    /// Goes on for a while, to see that something does not happen.
    pub(crate) async fn go_on_for(&mut self, time: Duration) {
        self.within(time, |_| false).await;
    }

    async fn turn(&mut self) {
        let at = self.now();
        let pause = self.app.next_timer(at).map(|wake| (wake - at).max(TimeDelta::zero()));
        let wake = pause.map(|pause| Instant::now() + pause.to_std().unwrap_or_default());
        let wake = wake.map(|at| at.max(self.last_wake + WAKE_PAUSE));
        let look = Instant::now() + LOOK_AGAIN;
        let msg = tokio::select! {
            Some(news) = self.news.recv() => Msg::News(news),
            msg = self.effects.next() => msg,
            () = tokio::time::sleep_until(wake.unwrap_or(look)), if wake.is_some() => {
                self.last_wake = Instant::now();
                Msg::Wake
            }
            () = tokio::time::sleep_until(look) => return,
        };
        self.handle(msg);
    }

    /// The screen as text, a line a row.
    pub(crate) fn screen(&self) -> String {
        let (columns, rows) = self.app.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a terminal");
        let theme = Theme::new(Depth::None);
        terminal.draw(|frame| ui::draw(frame, &self.app, &theme, self.now())).expect("drawn");
        let cells = terminal.backend().buffer().content();
        let line = |row: &[ratatui::buffer::Cell]| row.iter().map(|cell| cell.symbol()).collect::<String>();
        cells.chunks(usize::from(columns)).map(|row| line(row).trim_end().to_owned() + "\n").collect()
    }

    pub(crate) fn shows(&self, text: &str) -> bool {
        self.screen().contains(text)
    }

    /// Fails with the whole screen when it doesn't show the text.
    pub(crate) fn assert_shows(&self, text: &str) {
        let screen = self.screen();
        assert!(screen.contains(text), "no {text:?} on the screen:\n{screen}");
    }
}
