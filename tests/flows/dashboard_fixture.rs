//! The fixture of the flow tests: a dashboard without a terminal. Keys go in, effects run as in the event loop, and
//! messages are fed back until a condition holds. Effects that need a terminal are only recorded.

use chrono::{FixedOffset, TimeDelta};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use docdeck::api::{Client, ClientOptions};
use docdeck::app::profiles::ProfileEntry;
use docdeck::app::welcome::Welcome;
use docdeck::app::{App, AppConfig, Effect, Msg, StoreState};
use docdeck::config::key::KeySource;
use docdeck::config::profiles::ConfiguredProfile;
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
/// Interval of checking a condition outside of the dashboard.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);
/// Shortest pause between two timers that the state machine requested, as in the event loop.
const WAKE_PAUSE: Duration = Duration::from_millis(10);
const SIZE: (u16, u16) = (160, 40);

/// A dashboard without a terminal.
pub(crate) struct DashboardFixture {
    pub(crate) app: App,
    pub(crate) store: Store,
    pub(crate) scope: Scope,
    /// Every effect so far, whether the runner or the fixture handled it.
    pub(crate) requested_effects: Vec<Effect>,
    effects: Effects,
    profiles: ProfileSwitcher,
    news: mpsc::Receiver<EngineEvent>,
    last_wake: Instant,
    /// How far the dashboard's clock is ahead of the test's: the fixture pauses after each prompt that is sent.
    paused: TimeDelta,
}

/// Longer than the time for which letters have no effect after a text input has closed.
const PAUSE: TimeDelta = TimeDelta::milliseconds(500);

/// A simulator in which jobs run a hundred times faster than usual.
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

/// Replaces the simulator's faults.
pub(crate) fn faults(sim: &Sim, faults: &[&str]) {
    sim.set_faults(read(faults));
}

pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

pub(crate) fn scope_of(sim: &Sim) -> Scope {
    Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None }
}

/// The folder for exports of a dashboard whose database is in this folder.
pub(crate) fn exports_in(folder: &Path) -> PathBuf {
    folder.join("exports")
}

fn now() -> Time {
    chrono::Utc::now()
}

fn app_config(profile: &str, scope: &Scope, read_only: bool) -> AppConfig {
    let utc = FixedOffset::east_opt(0).expect("UTC");
    AppConfig { profile: CleanText::line(profile), size: SIZE, read_only, ..AppConfig::new(scope.clone(), utc) }
}

impl DashboardFixture {
    /// A dashboard on the database in that folder, after it was read.
    pub(crate) async fn start(sim: &Sim, folder: &Path) -> Self {
        Self::start_with(scope_of(sim), sim.api_key(), folder).await
    }

    /// As [`DashboardFixture::start`], with a named profile whose layout is restored.
    pub(crate) async fn resume_as(profile: &str, sim: &Sim, folder: &Path) -> Self {
        let (store, opened) = Store::open(folder, now()).expect("a store");
        let start = app_config(profile, &scope_of(sim), opened.read_only);
        let layout = docdeck::runtime::preload::read_saved_layout(&store, &start).await;
        Self::start_on(store, AppConfig { layout, ..start }, sim.api_key(), ClientOptions::default(), folder).await
    }

    pub(crate) async fn start_with(scope: Scope, key: &str, folder: &Path) -> Self {
        Self::start_with_options(ClientOptions::default(), scope, key, folder).await
    }

    /// As [`DashboardFixture::start_with`], with a client with these options.
    pub(crate) async fn start_with_options(options: ClientOptions, scope: Scope, key: &str, folder: &Path) -> Self {
        let (store, opened) = Store::open(folder, now()).expect("a store");
        Self::start_on(store, app_config("acme-docs", &scope, opened.read_only), key, options, folder).await
    }

    async fn start_on(store: Store, start: AppConfig, key: &str, options: ClientOptions, folder: &Path) -> Self {
        let scope = start.scope.clone();
        let key = ApiKey::new(key).expect("a key");
        let client = Client::new(scope.clone(), key, options).expect("a client");
        let (sender, news) = mpsc::channel(256);
        let mut effects = Effects::new(store.clone(), scope.clone(), None);
        let exports = exports_in(folder);
        // If the database can't be written, the exports folder can't be created either.
        let _ = std::fs::create_dir_all(&exports);
        effects.set_export_folder(exports);
        let config = folder.join("config.toml");
        let start = AppConfig { config: Some(CleanText::line(&config.display().to_string())), ..start };
        effects.set_first_run(FirstRun { config, source: None });
        let (app, begin) = App::new(start, now());
        for effect in begin {
            effects.run(effect);
        }
        let poll = PollOptions::default();
        effects.start_engine(
            EngineConfig { client, poll, lock_folder: Some(folder.to_owned()), on_change: Vec::new() },
            sender,
        );
        let profiles = ProfileSwitcher { lock_folder: Some(folder.to_owned()), ..ProfileSwitcher::default() };
        let mut dashboard = Self {
            app,
            store,
            scope,
            requested_effects: Vec::new(),
            effects,
            profiles,
            news,
            last_wake: Instant::now(),
            paused: TimeDelta::zero(),
        };
        dashboard
            .until("the store", |dashboard| {
                dashboard.app.store == StoreState::Read && dashboard.effects.engine().is_some()
            })
            .await;
        dashboard
    }

    /// The welcome page for a configuration in that folder.
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
        effects.set_first_run(FirstRun { config, source });
        let (app, begin) = App::new(start, now());
        assert_eq!(begin, []);
        let (_, news) = mpsc::channel(1);
        Self {
            app,
            store,
            scope,
            requested_effects: Vec::new(),
            effects,
            profiles: ProfileSwitcher::default(),
            news,
            last_wake: Instant::now(),
            paused: TimeDelta::zero(),
        }
    }

    /// Sets the profiles, each with its key; the first one is the current one.
    pub(crate) fn set_profiles(&mut self, profiles: &[(&str, Scope, &str)]) {
        let key = |key: &str| KeySource::Given(ApiKey::new(key).expect("a key"));
        let known = profiles.iter().map(|(name, scope, with)| ConfiguredProfile {
            name: CleanText::line(name),
            scope: Some(scope.clone()),
            key: Ok(Some(key(with))),
            ca_file: None,
        });
        self.profiles.profiles = known.collect();
        let listed = profiles.iter().map(|(name, scope, _)| ProfileEntry {
            name: CleanText::line(name),
            scope: Some(scope.clone()),
            problem: None,
        });
        self.app.config.profiles = listed.collect();
    }

    /// Whether the engine runs.
    pub(crate) fn has_engine(&self) -> bool {
        self.effects.engine().is_some()
    }

    /// Ends it as SIGTERM does: typed text is saved.
    pub(crate) async fn terminate(mut self) {
        self.handle(Msg::Terminate);
        assert_eq!(self.requested_effects.last(), Some(&Effect::Quit));
        self.effects.end().await;
    }

    /// Ends it without notifying the state machine, as a crash does.
    pub(crate) async fn crash(self) {
        self.effects.engine().expect("an engine").stop().await;
    }

    fn handle(&mut self, msg: Msg) {
        let at = self.now();
        for effect in self.app.update(msg, at) {
            self.requested_effects.push(effect.clone());
            match effect {
                Effect::ReadProfileKey(at) => self.effects.spawn(self.profiles.read_key(at)),
                Effect::TestProfileKey(at, key) => self.effects.spawn(self.profiles.test_key(at, key)),
                Effect::SwitchProfile(at, key) => {
                    let connection = self.profiles.engine_config(at, key).expect("a profile");
                    self.scope = connection.client.scope().clone();
                    self.effects.switch(connection, &mut self.news);
                }
                Effect::AddProfile(profile, key) => {
                    let msg = self.profiles.add(self.effects.first_run().known_profile(&profile), key);
                    self.effects.spawn(async move { msg });
                }
                other => self.effects.run(other),
            }
        }
        // No frame is ever due here.
        self.effects.run_deferred();
    }

    /// Presses the keys of these characters.
    pub(crate) fn keys(&mut self, characters: &str) {
        characters.chars().for_each(|c| self.key(KeyCode::Char(c)));
    }

    pub(crate) fn key(&mut self, code: KeyCode) {
        self.handle(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))));
    }

    /// Sends a terminal event.
    pub(crate) fn input(&mut self, event: Event) {
        self.handle(Msg::Input(event));
    }

    pub(crate) fn ctrl(&mut self, c: char) {
        self.handle(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))));
        if c == 's' {
            self.pause();
        }
    }

    /// Advances the clock past the time in which letters have no effect after a prompt was sent.
    pub(crate) fn pause(&mut self) {
        self.paused += PAUSE;
    }

    fn now(&self) -> Time {
        now() + self.paused
    }

    pub(crate) fn paste(&mut self, text: &str) {
        self.handle(Msg::Input(Event::Paste(text.to_owned())));
    }

    /// Types a prompt for a new job and sends it.
    pub(crate) fn send_new(&mut self, text: &str) {
        self.keys("n");
        self.keys(text);
        self.ctrl('s');
    }

    /// Sends a new job and waits until the service has accepted it; the job is selected.
    pub(crate) async fn accepted(&mut self, text: &str) -> JobKey {
        self.send_new(text);
        self.until("an accepted prompt", |dashboard| {
            let selected = dashboard.app.jobs.selected();
            dashboard.app.dialogs.is_empty()
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

    /// The thread of a job in the store.
    pub(crate) async fn thread(&self, key: JobKey) -> Thread {
        self.store.thread(key).await.expect("a thread")
    }

    /// The only prompt in the store.
    pub(crate) async fn only_prompt(&self) -> Prompt {
        let rows = self.store.jobs(&self.scope).await.expect("rows");
        let [row] = rows.as_slice() else { panic!("one job, not {rows:?}") };
        let prompts = self.thread(row.key).await.prompts;
        let [prompt] = prompts.as_slice() else { panic!("one prompt, not {prompts:?}") };
        prompt.clone()
    }

    /// Feeds events to the state machine until the condition holds.
    pub(crate) async fn until(&mut self, what: &str, holds: impl FnMut(&Self) -> bool) {
        if !self.within(TOO_LONG, holds).await {
            panic!("timed out waiting for {what}; the screen:\n{}", self.screen());
        }
    }

    /// Runs until the screen shows this text.
    pub(crate) async fn until_shown(&mut self, text: &str) {
        self.until(text, |dashboard| dashboard.shows(text)).await;
    }

    /// As [`DashboardFixture::until`], with a timeout; returns whether the condition held.
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

    /// Runs for this long, to check that something does not happen.
    pub(crate) async fn run_for(&mut self, time: Duration) {
        self.within(time, |_| false).await;
    }

    async fn turn(&mut self) {
        let at = self.now();
        let pause = self.app.next_timer(at).map(|wake| (wake - at).max(TimeDelta::zero()));
        let wake = pause.map(|pause| Instant::now() + pause.to_std().unwrap_or_default());
        let wake = wake.map(|at| at.max(self.last_wake + WAKE_PAUSE));
        let look = Instant::now() + CHECK_INTERVAL;
        let msg = tokio::select! {
            Some(news) = self.news.recv() => Msg::Engine(news),
            msg = self.effects.next() => msg,
            () = tokio::time::sleep_until(wake.unwrap_or(look)), if wake.is_some() => {
                self.last_wake = Instant::now();
                Msg::Timer
            }
            () = tokio::time::sleep_until(look) => return,
        };
        self.handle(msg);
    }

    /// The screen as text, one line per row.
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

    /// Fails, printing the complete screen, if it doesn't show the text.
    pub(crate) fn assert_shows(&self, text: &str) {
        let screen = self.screen();
        assert!(screen.contains(text), "no {text:?} on the screen:\n{screen}");
    }
}
