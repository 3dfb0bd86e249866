//! The only impure glue of the dashboard: takes the terminal over, runs the event loop on it, gives it back.
//!
//! - `event_loop`: owns the state machine; waits, carries out, draws
//! - [`stage`]: the terminal; under it [`terminal`] (the guard), [`output`] (one write a frame: what `frames` finds changed,
//!   as `encode` says it), [`reader`] and [`input`] (events), [`signals`] and [`hangup`] (ways to end), [`crash`] (panics)
//! - [`effects`]: what the state machine asks for, as tasks; `hands`: what each of them does, with `views` and `about`
//!   for page views; [`opener`] and [`clipboard`] for links and copies, which
//!   `copying` hands on
//! - `lend`: the terminal to a program of the user's, and back; `outside`: to the user's editor; `own_command`: to a
//!   configured one; `texts`: files of texts; `new_file`: exports
//! - [`first_run`]: what the welcome page asks for: reading a key, trying a profile, writing it
//! - [`switch`]: to another profile; `retired`: what is left of the one before
//! - `first_frame`: the first frame and what comes right after it; [`remembered`]: how the dashboard was left and its first
//!   rows, read before
//! - [`notify`]: telling the terminal of a finished job; [`multiplexer`]: through tmux and screen
//! - [`probe`]: what the terminal can do, for who wants to know without a dashboard
//! - [`gate`]: when to draw; [`logfile`]: what is written down

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
mod new_file;
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

use crate::app::welcome::{Begin, Welcome};
use crate::app::{App, AppConfig};
use crate::config::DisplaySettings;
use crate::config::customization::How;
use crate::config::environment::Environment;
use crate::model::colors::ThemeColours;
use crate::store::Store;
use effects::{Effects, EngineConfig, NEWS_WAITING};
use event_loop::{Dashboard, now};
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

/// What the dashboard is made of.
#[derive(Debug)]
pub struct DashboardConfig {
    /// What the state machine is told; its size is filled in here.
    pub start: AppConfig,
    pub look: DisplaySettings,
    /// Of the theme that `look` names; none for the usual one.
    pub colours: Option<ThemeColours>,
    /// How a job that finished is told to a terminal without focus.
    pub notify: How,
    /// A program and its arguments that takes copies; empty for none.
    pub clipboard: Vec<String>,
    pub store: Store,
    /// What was asked of the store already; none where nothing was.
    pub begun: Option<Preload>,
    /// None for the welcome page: there is nobody to talk to.
    pub connection: Option<EngineConfig>,
    pub environment: Environment,
    pub kind: terminal::TerminalCaps,
    pub folders: Folders,
    /// What can be turned to; empty where there is nothing but this.
    pub profiles: switch::ProfileSwitcher,
    /// What the welcome page needs.
    pub first_run: FirstRun,
}

/// Where files of the user's lie.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    /// Where store and log lie; none where nothing is kept.
    pub data: Option<PathBuf>,
    /// Templates of the user's own.
    pub templates: Option<PathBuf>,
    /// Themes of the user's own.
    pub themes: Option<PathBuf>,
}

/// The end of a dashboard.
#[derive(Debug)]
pub struct Outcome {
    pub exit: Exit,
    /// The welcome page, as it was left.
    pub welcome: Option<Box<Welcome>>,
    /// Whether the outcome of a prompt could not be recorded.
    pub is_unrecorded: bool,
}

/// How the dashboard ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The user quit.
    Quit,
    /// It was asked to end by a signal other than SIGINT, or the terminal is gone.
    Ended,
    /// SIGINT from outside.
    Interrupted,
    /// Another one is to follow in the same terminal.
    Begin(Begin),
}

/// Runs the dashboard until it ends; the terminal is given back before this returns.
///
/// # Errors
/// The terminal can't be taken over.
pub async fn run(parts: DashboardConfig) -> io::Result<Outcome> {
    let mut begun = match parts.begun {
        Some(begun) => begun,
        None => Preload::begin(&parts.store, &parts.start)?,
    };
    let log_path = parts.folders.data.as_ref().map(|folder| folder.join(logfile::NAME));
    let session = TerminalSession::open(parts.kind, parts.start.mouse, log_path)?;
    let (news_sender, news) = mpsc::channel(NEWS_WAITING);
    let layout = begun.layout().await;
    let start = AppConfig { size: session.size()?, layout, ..parts.start };
    let demo = start.demo;
    let paints = ThemeState::new(&parts.look, parts.colours, &parts.environment);
    let mut effects = Effects::new(parts.store, start.scope.clone(), parts.folders.templates.clone());
    effects.set_up(parts.first_run);
    let (app, begin) = App::new(start, now());
    let mut dashboard = Dashboard {
        app,
        theme: paints.theme(),
        paints,
        session,
        effects,
        news,
        log: None,
        notify: parts.notify,
        clipboard: parts.clipboard,
        environment: parts.environment,
        folders: parts.folders,
        profiles: parts.profiles,
        gate: FrameScheduler::default(),
        typed: false,
        loan: None,
        returned: None,
        ending: None,
        armed: None,
        last_wake: Instant::now(),
    };
    dashboard.first_frame(begin, begun).await?;
    if let Some(folder) = dashboard.folders.data.clone() {
        dashboard.effects.check_database(folder);
    }
    // A folder that can't be written keeps no log either; the dashboard says so.
    dashboard.log = dashboard.folders.data.as_deref().and_then(|folder| LogGuard::open(folder).ok());
    if let Some(connection) = parts.connection {
        dashboard.effects.start_engine(connection, news_sender.clone());
    }
    #[cfg(debug_assertions)]
    crash_on_request(&mut dashboard.effects);
    let exit = dashboard.run().await;
    // The terminal first: what is still to be written to disk needs no screen.
    let Dashboard { app, mut session, mut effects, mut news, .. } = dashboard;
    session.await_answer().await;
    drop(session);
    let mut unrecorded = app.unrecorded;
    // The screen that showed them is gone.
    unrecorded.iter().for_each(|one| effects::note(&format!("docdeck: {}", one.sentence())));
    if exit == Exit::Quit && !demo {
        effects.await_answers(&mut news, &mut unrecorded).await;
    }
    effects.end().await;
    drop(news_sender);
    Ok(Outcome { exit, welcome: app.welcome, is_unrecorded: !unrecorded.is_empty() })
}

/// Panics where a test asks for it, to see that the terminal is given back. Not in release builds.
#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "a panic is what is asked for")]
fn crash_on_request(effects: &mut Effects) {
    match std::env::var("DOCDECK_TEST_PANIC").as_deref() {
        Ok("loop") => panic!("asked for by DOCDECK_TEST_PANIC"),
        Ok("task") => effects.spawn(async { panic!("asked for by DOCDECK_TEST_PANIC") }),
        _ => {}
    }
}
