//! The fixture of the flow tests: a dashboard without a terminal. A test presses keys. The effects run as in the event
//! loop, and their messages are handled until a condition holds. Effects that need a terminal are only recorded.

use super::scope_of;
use chrono::{FixedOffset, TimeDelta};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use docdeck::api::{Client, ClientOptions};
use docdeck::config::key::KeySource;
use docdeck::config::profiles::ConfiguredProfile;
use docdeck::engine::{HostAccess, HostClients, PollOptions};
use docdeck::model::Time;
use docdeck::model::analytics::AnalyticsSettings;
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::job::{Job, JobKey};
use docdeck::model::prompt::{Prompt, Thread};
use docdeck::model::pull_request::HostKind;
use docdeck::model::remote_job::Status;
use docdeck::model::setup::ExistingSettings;
use docdeck::model::text::CleanText;
use docdeck::runtime::effects::{EffectTasks, EngineConfig};
use docdeck::runtime::hosts::SimulatedHosts;
use docdeck::runtime::profile_effects::ProfileEffectRunner;
use docdeck::runtime::profile_switcher::ProfileSwitcher;
use docdeck::sim::Sim;
use docdeck::store::{OpenStore, Store};
use docdeck::tui::ProfileEntry;
use docdeck::tui::draw::{self, ColorDepth, Theme};
use docdeck::tui::welcome::Welcome;
use docdeck::tui::{App, AppConfig, Effect, Msg, ProfilesEffect, StoreState};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

#[derive(Debug)]
struct NoTokens;

impl HostClients for NoTokens {
    fn access<'a>(&'a self, _: &'a str, _: HostKind) -> Pin<Box<dyn Future<Output = HostAccess> + Send + 'a>> {
        Box::pin(async { HostAccess::NoToken })
    }
}

/// The time after which a wait fails the test; much longer than any wait takes.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);
/// How often [`DashboardFixture::wait_until`] checks its condition if no message arrives.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);
/// The minimum time between two timer messages, as in the event loop.
const MIN_TIMER_INTERVAL: Duration = Duration::from_millis(10);
/// The columns and rows of the screen.
const SIZE: (u16, u16) = (160, 40);

/// A dashboard without a terminal.
pub(crate) struct DashboardFixture {
    pub(crate) app: App,
    pub(crate) store: Store,
    pub(crate) scope: Scope,
    /// Every effect that the app has requested so far.
    pub(crate) requested_effects: Vec<Effect>,
    effects: EffectTasks,
    profiles: ProfileSwitcher,
    events: mpsc::Receiver<EngineEvent>,
    last_timer_at: Instant,
    /// How far the dashboard's clock is ahead of the real clock. [`DashboardFixture::pause`] advances it.
    clock_offset: TimeDelta,
}

/// Longer than the time for which the app ignores letter keys after a text input has closed.
const LETTER_DELAY: TimeDelta = TimeDelta::milliseconds(500);

/// Returns the export folder of a dashboard whose database is in `folder`.
pub(crate) fn export_folder_in(folder: &Path) -> PathBuf {
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
    /// Starts a dashboard on the database in `folder`, and waits until the dashboard has read it.
    pub(crate) async fn start(sim: &Sim, folder: &Path) -> Self {
        Self::start_with_scope(scope_of(sim), sim.api_key(), folder).await
    }

    /// Like [`DashboardFixture::start`], with this profile, whose saved layout is restored.
    pub(crate) async fn start_with_saved_layout(profile: &str, sim: &Sim, folder: &Path) -> Self {
        let store = OpenStore::open(folder, now()).expect("a store");
        let start = app_config(profile, &scope_of(sim), false);
        let layout = docdeck::runtime::startup::read_saved_layout(&store, &start);
        let (store, _) = store.start().expect("a thread");
        let start = AppConfig { layout, ..start };
        Self::start_on(store, start, sim.api_key(), ClientOptions::default(), folder, None).await
    }

    /// Like [`DashboardFixture::start`], with the simulated code hosts.
    pub(crate) async fn start_with_hosts(sim: &Sim, folder: &Path) -> Self {
        let (store, opened) = Store::open(folder, now()).expect("a store");
        let start = app_config("acme-docs", &scope_of(sim), opened.is_read_only);
        let hosts = SimulatedHosts::clients(sim);
        Self::start_on(store, start, sim.api_key(), ClientOptions::default(), folder, hosts).await
    }

    /// Starts a dashboard that may ask code hosts, but has no token for any. Without code hosts, it would forget the
    /// states of open pull requests.
    pub(crate) async fn start_without_tokens(scope: Scope, key: &str, folder: &Path) -> Self {
        let (store, opened) = Store::open(folder, now()).expect("a store");
        let (start, options) = (app_config("acme-docs", &scope, opened.is_read_only), ClientOptions::default());
        Self::start_on(store, start, key, options, folder, Some(Arc::new(NoTokens))).await
    }

    pub(crate) async fn start_with_scope(scope: Scope, key: &str, folder: &Path) -> Self {
        Self::start_with_options(ClientOptions::default(), scope, key, folder).await
    }

    /// Like [`DashboardFixture::start_with_scope`], with these options of the client.
    pub(crate) async fn start_with_options(options: ClientOptions, scope: Scope, key: &str, folder: &Path) -> Self {
        let (store, opened) = Store::open(folder, now()).expect("a store");
        Self::start_on(store, app_config("acme-docs", &scope, opened.is_read_only), key, options, folder, None).await
    }

    async fn start_on(
        store: Store,
        start: AppConfig,
        key: &str,
        options: ClientOptions,
        folder: &Path,
        hosts: Option<Arc<dyn HostClients>>,
    ) -> Self {
        let scope = start.scope.clone();
        let key = ApiKey::new(key).expect("a key");
        let client = Client::new(scope.clone(), key, options).expect("a client");
        let (sender, events) = mpsc::channel(256);
        let mut effects = EffectTasks::new(store.clone(), scope.clone(), None);
        let exports = export_folder_in(folder);
        // In tests of a read-only folder, the export folder can't be created, which is no error.
        let _ = std::fs::create_dir_all(&exports);
        effects.set_export_folder(exports);
        let config_path = folder.join("config.toml");
        let start = AppConfig { config_path: Some(CleanText::line(&config_path.display().to_string())), ..start };
        effects.set_profile_effects(ProfileEffectRunner { config_path, configured_key_source: None });
        let (app, begin) = App::new(start, now());
        for effect in begin {
            effects.run(effect);
        }
        let (poll, lock_folder) = (PollOptions::default(), Some(folder.to_owned()));
        let (analytics, on_change) = (AnalyticsSettings::default(), Vec::new());
        effects
            .start_engine(EngineConfig { client, poll, analytics, lock_folder, on_change, hosts, team: None }, sender);
        let profiles = ProfileSwitcher { lock_folder: Some(folder.to_owned()), ..ProfileSwitcher::default() };
        let mut dashboard = Self {
            app,
            store,
            scope,
            requested_effects: Vec::new(),
            effects,
            profiles,
            events,
            last_timer_at: Instant::now(),
            clock_offset: TimeDelta::zero(),
        };
        dashboard
            .wait_until("the store", |dashboard| {
                dashboard.app.store == StoreState::Loaded && dashboard.effects.engine().is_some()
            })
            .await;
        dashboard
    }

    /// Starts a dashboard on the welcome page, which writes the configuration to `folder`.
    pub(crate) fn start_welcome(
        folder: &Path,
        set: &ExistingSettings,
        configured_key_source: Option<KeySource>,
    ) -> Self {
        let config_path = folder.join("config.toml");
        let scope = Scope { base_url: String::new(), project: String::new(), organization: None };
        let start = AppConfig {
            size: SIZE,
            needs_setup: true,
            ..AppConfig::new(scope.clone(), FixedOffset::east_opt(0).expect("UTC"))
        };
        let store = Store::in_memory().expect("a store");
        let mut effects = EffectTasks::new(store.clone(), scope.clone(), None);
        let form = Welcome::new(set, CleanText::line(&config_path.display().to_string()));
        effects.set_profile_effects(ProfileEffectRunner { config_path, configured_key_source });
        let (mut app, begin) = App::new(start, now());
        app.open(form);
        assert_eq!(begin, []);
        let (_, events) = mpsc::channel(1);
        Self {
            app,
            store,
            scope,
            requested_effects: Vec::new(),
            effects,
            profiles: ProfileSwitcher::default(),
            events,
            last_timer_at: Instant::now(),
            clock_offset: TimeDelta::zero(),
        }
    }

    /// Sets the configured profiles: name, scope and API key of each. The dashboard must be running with the first one.
    pub(crate) fn set_profiles(&mut self, profiles: &[(&str, Scope, &str)]) {
        let key = |key: &str| KeySource::Literal(ApiKey::new(key).expect("a key"));
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

    /// Ends the dashboard as SIGTERM does, so that typed text is saved.
    pub(crate) async fn terminate(mut self) {
        self.handle(Msg::Terminate);
        assert_eq!(self.requested_effects.last(), Some(&Effect::Quit));
        self.effects.end().await;
    }

    /// Stops the engine without notifying the app, as a crash does.
    pub(crate) async fn crash(self) {
        self.effects.engine().expect("an engine").stop().await;
    }

    fn handle(&mut self, msg: Msg) {
        let at = self.now();
        for effect in self.app.update(msg, at) {
            self.requested_effects.push(effect.clone());
            match effect {
                Effect::Profiles(ProfilesEffect::ReadProfileKey(at)) => self.effects.spawn(self.profiles.read_key(at)),
                Effect::Profiles(ProfilesEffect::TestProfileKey(at, key)) => {
                    self.effects.spawn(self.profiles.test_key(at, key))
                }
                Effect::Profiles(ProfilesEffect::SwitchProfile(at, key)) => {
                    let connection = self.profiles.engine_config(at, key).expect("a profile");
                    self.scope = connection.client.scope().clone();
                    self.effects.switch_project(connection, &mut self.events);
                }
                Effect::Profiles(ProfilesEffect::AddProfile(profile, key)) => {
                    let msg = self.profiles.add(self.effects.profile_effects().configured_profile(&profile), key);
                    self.effects.spawn(async move { msg });
                }
                other => self.effects.run(other),
            }
        }
        // The event loop runs these effects after drawing a frame. The fixture draws no frames.
        self.effects.run_deferred_prefetch();
    }

    /// Presses a key for each of these characters.
    pub(crate) fn press_chars(&mut self, characters: &str) {
        characters.chars().for_each(|c| self.press_key(KeyCode::Char(c)));
    }

    pub(crate) fn press_key(&mut self, code: KeyCode) {
        self.handle(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))));
    }

    /// Handles a terminal event.
    pub(crate) fn input(&mut self, event: Event) {
        self.handle(Msg::Input(event));
    }

    pub(crate) fn press_ctrl(&mut self, c: char) {
        self.handle(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))));
        if c == 's' {
            self.skip_letter_delay();
        }
    }

    /// Advances the dashboard's clock past the time for which the app ignores letter keys after a prompt was sent.
    pub(crate) fn skip_letter_delay(&mut self) {
        self.clock_offset += LETTER_DELAY;
    }

    fn now(&self) -> Time {
        now() + self.clock_offset
    }

    pub(crate) fn paste(&mut self, text: &str) {
        self.handle(Msg::Input(Event::Paste(text.to_owned())));
    }

    /// Types a prompt for a new job and sends it.
    pub(crate) fn send_new(&mut self, text: &str) {
        self.press_chars("n");
        self.press_chars(text);
        self.press_ctrl('s');
    }

    /// Sends a new job and waits until the service has accepted it. Returns the row key of the job, which is selected.
    pub(crate) async fn send_accepted_job(&mut self, text: &str) -> JobKey {
        self.send_new(text);
        self.wait_until("an accepted prompt", |dashboard| {
            let selected = dashboard.app.jobs.selected();
            dashboard.app.dialogs.is_empty()
                && selected.is_some_and(|row| text.starts_with(row.local.title.as_str()) && row.id.is_some())
        })
        .await;
        self.selected_job().key
    }

    pub(crate) fn selected_job(&self) -> &Job {
        self.app.jobs.selected().expect("a selected job")
    }

    pub(crate) fn status(&self, key: JobKey) -> Option<Status> {
        self.app.jobs.get(key).and_then(|row| row.remote.status.clone())
    }

    /// Reads the thread of a job from the store.
    pub(crate) async fn thread(&self, key: JobKey) -> Thread {
        self.store.thread(key).await.expect("a thread")
    }

    /// Reads the prompt from a store that must contain exactly one job with one prompt.
    pub(crate) async fn only_prompt(&self) -> Prompt {
        let rows = self.store.jobs(&self.scope).await.expect("rows");
        let [row] = rows.as_slice() else { panic!("one job, not {rows:?}") };
        let prompts = self.thread(row.key).await.prompts;
        let [prompt] = prompts.as_slice() else { panic!("one prompt, not {prompts:?}") };
        prompt.clone()
    }

    /// Handles messages and timers until the condition holds. Panics after a timeout.
    pub(crate) async fn wait_until(&mut self, what: &str, holds: impl FnMut(&Self) -> bool) {
        if !self.holds_within(WAIT_TIMEOUT, holds).await {
            panic!("timed out waiting for {what}; the screen:\n{}", self.screen());
        }
    }

    /// Handles messages and timers until the screen shows this text.
    pub(crate) async fn wait_until_shown(&mut self, text: &str) {
        self.wait_until(text, |dashboard| dashboard.shows(text)).await;
    }

    /// Handles messages and timers until the condition holds or the timeout expires. Returns whether the condition
    /// held.
    pub(crate) async fn holds_within(&mut self, timeout: Duration, mut holds: impl FnMut(&Self) -> bool) -> bool {
        let end = Instant::now() + timeout;
        while !holds(self) {
            if Instant::now() >= end {
                return false;
            }
            self.handle_next().await;
        }
        true
    }

    /// Handles messages and timers for this long. Used to check that something does not happen.
    pub(crate) async fn run_for(&mut self, time: Duration) {
        self.holds_within(time, |_| false).await;
    }

    async fn handle_next(&mut self) {
        let at = self.now();
        let pause = self.app.next_timer(at).map(|wake| (wake - at).max(TimeDelta::zero()));
        let wake = pause.map(|pause| Instant::now() + pause.to_std().unwrap_or_default());
        let wake = wake.map(|at| at.max(self.last_timer_at + MIN_TIMER_INTERVAL));
        let next_check = Instant::now() + CHECK_INTERVAL;
        let msg = tokio::select! {
            Some(event) = self.events.recv() => Msg::Engine(event),
            msg = self.effects.next() => msg,
            () = tokio::time::sleep_until(wake.unwrap_or(next_check)), if wake.is_some() => {
                self.last_timer_at = Instant::now();
                Msg::Timer
            }
            () = tokio::time::sleep_until(next_check) => return,
        };
        self.handle(msg);
    }

    /// Draws the screen and returns its text.
    pub(crate) fn screen(&self) -> String {
        let (columns, rows) = self.app.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a terminal");
        let theme = Theme::new(ColorDepth::None);
        terminal.draw(|frame| draw::draw(frame, &self.app, &theme, self.now())).expect("drawn");
        let cells = terminal.backend().buffer().content();
        let line = |row: &[ratatui::buffer::Cell]| row.iter().map(|cell| cell.symbol()).collect::<String>();
        cells.chunks(usize::from(columns)).map(|row| line(row).trim_end().to_owned() + "\n").collect()
    }

    pub(crate) fn shows(&self, text: &str) -> bool {
        self.screen().contains(text)
    }

    /// Asserts that the screen shows the text; on failure, prints the complete screen.
    pub(crate) fn assert_shows(&self, text: &str) {
        let screen = self.screen();
        assert!(screen.contains(text), "no {text:?} on the screen:\n{screen}");
    }
}
