//! The runtime of the dashboard, its only part with side effects: takes the terminal over, runs the event loop,
//! restores the terminal.
//!
//! - `event_loop`: owns the state machine; waits, runs effects, draws; `frame_scheduler` decides when to draw
//! - [`terminal_session`]: the terminal, based on [`terminal`] (take over and restore), [`output`] (one write per
//!   frame; `double_buffer` finds the changes, `encode` encodes them), [`reader`], [`escape_reassembly`] and
//!   [`osc_replies`] (input), [`signals`] and [`hangup`] (reasons to end) and [`crash`] (panics)
//! - [`effects`]: the effects of the state machine as tasks; `effect_runner` runs each of them, with `views` and
//!   `impact` for page views; [`opener`], [`clipboard`] and `copying` for links and copies
//! - `foreground_child`: gives the terminal to a program; `external_editor` and `custom_command` use it; `templates`:
//!   text files; `new_file`: exports
//! - [`first_run`]: the effects of the setup form: reading a key, testing and saving a profile
//! - [`switch`]: to another profile; `draining_session`: the rest of the previous one
//! - `first_frame`: the first frame and what follows it; [`preload`]: the layout and the first rows, read before
//! - [`notify`]: notifications by the terminal; [`multiplexer`]: sequences through tmux and screen
//! - [`probe`]: the capabilities of the terminal, without a dashboard
//! - [`logfile`]: the log

mod cell_key;
pub mod clipboard;
mod copying;
pub mod core_dump;
pub mod crash;
mod cursor_backend;
mod custom_command;
mod double_buffer;
mod draining_session;
mod effect_runner;
pub mod effects;
mod encode;
pub mod escape_reassembly;
mod event_loop;
mod external_editor;
mod first_frame;
pub mod first_run;
mod foreground_child;
pub mod frame_scheduler;
pub mod hangup;
mod impact;
pub mod logfile;
pub mod multiplexer;
pub mod new_file;
pub mod notify;
pub mod opener;
pub mod osc_replies;
pub mod output;
pub mod preload;
pub mod probe;
pub mod reader;
mod sgr;
pub mod signals;
pub mod switch;
mod templates;
pub mod terminal;
pub mod terminal_session;
mod theme_state;
mod views;

use crate::app::welcome::{RelaunchTarget, Welcome};
use crate::app::{App, AppConfig};
use crate::config::DisplaySettings;
use crate::config::customization::NotifyMethod;
use crate::config::environment::Environment;
use crate::model::Time;
use crate::model::colors::ThemePalettes;
use crate::store::Store;
use chrono::Utc;
use effects::{EVENT_CAPACITY, Effects, EngineConfig};
use event_loop::Dashboard;
use first_run::FirstRun;
use frame_scheduler::FrameScheduler;
use logfile::LogGuard;
use preload::Preload;
use std::io;
use std::path::PathBuf;
use std::time::Instant;
use terminal_session::TerminalSession;
use theme_state::ThemeState;
use tokio::sync::mpsc;

/// What a dashboard is created from.
#[derive(Debug)]
pub struct DashboardConfig {
    /// The configuration of the state machine; its size is filled in here.
    pub app: AppConfig,
    pub display: DisplaySettings,
    /// The colours of the theme in `look`; `None` for the default theme.
    pub colours: Option<ThemePalettes>,
    /// How to notify a terminal without focus of a finished job.
    pub notify: NotifyMethod,
    /// A program with its arguments that takes copied texts; empty for none.
    pub clipboard: Vec<String>,
    pub store: Store,
    /// Reads from the store that have already started, if any.
    pub preload: Option<Preload>,
    /// `None` for the setup form, which has no service yet.
    pub engine: Option<EngineConfig>,
    pub environment: Environment,
    pub caps: terminal::TerminalCaps,
    pub folders: Folders,
    /// The profiles to switch to; may be empty.
    pub profiles: switch::ProfileSwitcher,
    /// What the setup form needs.
    pub first_run: FirstRun,
}

/// Folders with files of the user.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    /// Folder of the database and the log; `None` if nothing is saved.
    pub data: Option<PathBuf>,
    /// The user's own templates.
    pub templates: Option<PathBuf>,
    /// The user's own themes.
    pub themes: Option<PathBuf>,
}

/// The result of a dashboard.
#[derive(Debug)]
pub struct Outcome {
    pub exit: Exit,
    /// The final state of the setup form.
    pub welcome: Option<Box<Welcome>>,
    /// Whether the outcome of a prompt could not be recorded.
    pub is_unrecorded: bool,
}

/// Why the dashboard ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The user quit.
    Quit,
    /// A signal other than SIGINT, or the terminal is gone.
    Terminated,
    /// SIGINT from outside.
    Interrupted,
    /// Another dashboard follows in the same terminal.
    Relaunch(RelaunchTarget),
}

fn current_time() -> Time {
    Utc::now()
}

/// Runs the dashboard until it ends, and restores the terminal.
///
/// # Errors
/// The terminal can't be taken over.
pub async fn run_dashboard(config: DashboardConfig) -> io::Result<Outcome> {
    let mut preload = match config.preload {
        Some(preload) => preload,
        None => Preload::start(&config.store, &config.app)?,
    };
    let log_path = config.folders.data.as_ref().map(|folder| folder.join(logfile::NAME));
    let session = TerminalSession::open(config.caps, config.app.mouse, log_path)?;
    let (event_sender, engine_events) = mpsc::channel(EVENT_CAPACITY);
    let layout = preload.layout().await;
    let start = AppConfig { size: session.size()?, layout, ..config.app };
    let demo = start.demo;
    let theme_state = ThemeState::new(&config.display, config.colours, &config.environment);
    let mut effects = Effects::new(config.store, start.scope.clone(), config.folders.templates.clone());
    effects.set_first_run(config.first_run);
    let (app, initial_effects) = App::new(start, current_time());
    let mut dashboard = Dashboard {
        app,
        theme: theme_state.theme(),
        theme_state,
        session,
        effects,
        engine_events,
        log: None,
        notify: config.notify,
        clipboard: config.clipboard,
        environment: config.environment,
        folders: config.folders,
        profiles: config.profiles,
        scheduler: FrameScheduler::default(),
        has_typed: false,
        foreground: None,
        child_ended_at: None,
        ending: None,
        timer: None,
        last_wake: Instant::now(),
    };
    dashboard.first_frame(initial_effects, preload).await?;
    if let Some(folder) = dashboard.folders.data.clone() {
        dashboard.effects.check_database(folder);
    }
    // Without a writable folder there is no log; the dashboard reports that folder.
    dashboard.log = dashboard.folders.data.as_deref().and_then(|folder| LogGuard::open(folder).ok());
    if let Some(connection) = config.engine {
        dashboard.effects.start_engine(connection, event_sender.clone());
    }
    #[cfg(debug_assertions)]
    crash_on_request(&mut dashboard.effects);
    let exit = dashboard.run().await;
    // Restores the terminal first: pending writes need no screen.
    let Dashboard { app, mut session, mut effects, mut engine_events, .. } = dashboard;
    session.await_answer().await;
    drop(session);
    let mut unrecorded = app.unrecorded;
    // The screen that showed them is gone.
    unrecorded.iter().for_each(|one| effects::print_note(&format!("docdeck: {}", one.sentence())));
    if exit == Exit::Quit && !demo {
        effects.await_answers(&mut engine_events, &mut unrecorded).await;
    }
    effects.end().await;
    drop(event_sender);
    Ok(Outcome { exit, welcome: app.welcome, is_unrecorded: !unrecorded.is_empty() })
}

/// Panics if a test requests it, to check that the terminal is restored. Not in release builds.
#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "a panic is what is asked for")]
fn crash_on_request(effects: &mut Effects) {
    match std::env::var("DOCDECK_TEST_PANIC").as_deref() {
        Ok("loop") => panic!("asked for by DOCDECK_TEST_PANIC"),
        Ok("task") => effects.spawn(async { panic!("asked for by DOCDECK_TEST_PANIC") }),
        _ => {}
    }
}
