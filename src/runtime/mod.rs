//! The runtime of the dashboard: the event loop, and the code that runs its effects. All side effects of the dashboard
//! start here, since `tui` is pure.
//!
//! - `event_loop`: owns the state machine; waits for events, runs effects and draws, in the terminal session of
//!   [`crate::terminal`]
//! - [`effects`]: runs the effects of the state machine as tasks; `effect_runner` runs a single effect, with `views`
//!   and `impact` for page views; [`opener`] opens links; `copying` copies text
//! - `foreground_child`: gives the terminal to a program: the user's editor (`external_editor`) or a custom command
//!   (`custom_command`)
//! - `templates`: reads templates and files of prompts; [`new_file`]: writes exports
//! - [`profile_effects`]: reads an API key, and tests and saves a profile, a filter or a theme
//! - [`profile_switcher`]: the profiles to which the user can switch; `profile_keys`: reads their keys and switches;
//!   `draining_session`: finishes the work for the previous profile
//! - [`startup`]: reads the layout and the first rows, and draws the first frame
//! - [`hosts`]: the clients for code hosts, with the addresses and tokens of the configuration
//! - [`notify`]: builds notifications for the terminal; [`theme_state`]: the current theme
//! - [`logfile`]: the log file; [`crash`]: reports panics; [`core_dump`]: forbids core dumps

mod analytics;
mod copying;
pub mod core_dump;
pub mod crash;
mod custom_command;
mod draining_session;
mod effect_runner;
pub mod effects;
mod event_loop;
mod external_editor;
mod foreground_child;
pub mod hosts;
mod impact;
mod jobs;
pub mod logfile;
pub mod new_file;
pub mod notify;
pub mod opener;
pub mod profile_effects;
mod profile_keys;
pub mod profile_switcher;
mod prompts;
mod pull_requests;
pub mod startup;
mod templates;
pub mod theme_state;
mod views;

pub use event_loop::{ExitReason, Folders};

use crate::config::DisplaySettings;
use crate::config::customization::NotifyMethod;
use crate::config::environment::Environment;
use crate::model::colors::ThemePalettes;
use crate::model::text::is_hidden;
use crate::store::Store;
use crate::terminal::caps::TerminalCaps;
use crate::terminal::frame_scheduler::FrameScheduler;
use crate::terminal::multiplexer::Multiplexer;
use crate::terminal::session::TerminalSession;
use crate::tui::component::Component;
use crate::tui::draw::KeptCells;
use crate::tui::welcome::Welcome;
use crate::tui::{App, AppConfig};
use chrono::Utc;
use effects::{EVENT_CAPACITY, EffectTasks, EngineConfig};
use event_loop::Dashboard;
use logfile::LogFile;
use profile_effects::ProfileEffectRunner;
use startup::FirstFrameData;
use std::io;
use std::panic::PanicHookInfo;
use std::time::Instant;
use theme_state::ThemeState;
use tokio::sync::mpsc;

/// Everything that [`run_dashboard`] needs.
#[derive(Debug)]
pub struct DashboardConfig {
    /// The configuration of the state machine. [`run_dashboard`] sets its size and its layout.
    pub app: AppConfig,
    /// The dialog that is open at the start: the setup form, or the tour of the demo.
    pub first_dialog: Option<Box<dyn Component>>,
    pub display: DisplaySettings,
    /// The colours of the selected theme; `None` for the default theme.
    pub palettes: Option<ThemePalettes>,
    /// How to notify the user of a finished job while the terminal has no focus.
    pub notify: NotifyMethod,
    /// The program, with its arguments, that copies text; empty if none is configured.
    pub copy_program: Vec<String>,
    pub store: Store,
    pub first_frame_data: FirstFrameData,
    /// `None` for the setup form, because no service is configured yet.
    pub engine: Option<EngineConfig>,
    pub environment: Environment,
    pub caps: TerminalCaps,
    pub folders: Folders,
    /// The profiles to which the user can switch; may be empty.
    pub profiles: profile_switcher::ProfileSwitcher,
    /// Runs the effects of profiles and of the setup form.
    pub profile_effects: ProfileEffectRunner,
}

/// The result of [`run_dashboard`].
#[derive(Debug)]
pub struct DashboardOutcome {
    pub exit_reason: ExitReason,
    /// The final state of the setup form, if the dashboard showed it.
    pub welcome: Option<Box<Welcome>>,
    /// Whether the outcome of at least one sent prompt could not be recorded in the store.
    pub has_unrecorded_outcomes: bool,
}

/// The error for a terminal that can't show a full screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "This terminal (TERM=dumb) can't place text on the screen, so the dashboard can't run in it. Use another terminal, set TERM if it is wrong, or run `docdeck watch`, which prints each change on a line."
)]
pub struct DumbTerminal;

/// Detects the capabilities of the terminal from the environment.
///
/// # Errors
/// Fails if `TERM` is `dumb`.
pub fn terminal_caps(environment: &Environment) -> Result<TerminalCaps, DumbTerminal> {
    TerminalCaps::detect(environment.term.as_deref(), multiplexer(environment)).ok_or(DumbTerminal)
}

/// Detects the multiplexer from the environment.
pub fn multiplexer(environment: &Environment) -> Multiplexer {
    Multiplexer::detect(environment.is_in_tmux, environment.is_in_screen)
}

/// Runs the dashboard until it ends, and restores the terminal.
///
/// # Errors
/// Fails if the terminal can't be taken over.
pub async fn run_dashboard(config: Box<DashboardConfig>) -> io::Result<DashboardOutcome> {
    let FirstFrameData { layout, first_jobs, store_creation_hold } = config.first_frame_data;
    let log_path = config.folders.data.as_ref().map(|folder| folder.join(logfile::LOG_FILE_NAME));
    let report_panic = move |info: &PanicHookInfo<'_>| crash::report_and_exit(info, log_path.as_ref());
    let session = TerminalSession::open(config.caps, config.app.mouse_enabled, is_hidden, report_panic)?;
    let (event_sender, engine_events) = mpsc::channel(EVENT_CAPACITY);
    let start = AppConfig { size: session.size()?, layout, ..config.app };
    let demo = start.is_demo;
    let theme_state = ThemeState::new(&config.display, config.palettes, config.caps, &config.environment);
    let mut effects = EffectTasks::new(config.store, start.scope.clone(), config.folders.templates.clone());
    effects.set_profile_effects(config.profile_effects);
    effects.set_first_jobs(first_jobs);
    let (app, initial_effects) = App::new(start, Utc::now());
    // On the heap, like the configuration: tokio moves large futures to the heap, which takes longer at the start.
    let mut dashboard = Box::new(Dashboard {
        app,
        theme: theme_state.theme(),
        kept_cells: KeptCells::default(),
        theme_state,
        session,
        effects,
        engine_events,
        log: None,
        notify: config.notify,
        copy_program: config.copy_program,
        environment: config.environment,
        folders: config.folders,
        profiles: config.profiles,
        scheduler: FrameScheduler::default(),
        has_new_input: false,
        foreground: None,
        is_suspend_pending: false,
        child_ended_at: None,
        exit_reason: None,
        next_timer_at: None,
        last_timer_at: Instant::now(),
    });
    dashboard.app.dialogs.extend(config.first_dialog);
    dashboard.draw_first_frame(initial_effects).await?;
    drop(store_creation_hold);
    if let Some(folder) = dashboard.folders.data.clone() {
        dashboard.effects.check_database(folder, event_sender.clone());
    }
    // If the folder is not writable, there is no log file. `EffectTasks::check_writable` reports that problem.
    dashboard.log = dashboard.folders.data.as_deref().and_then(|folder| LogFile::open(folder).ok());
    if let Some(connection) = config.engine {
        dashboard.effects.start_engine(connection, event_sender.clone());
    }
    #[cfg(debug_assertions)]
    panic_if_test_asks(&mut dashboard.effects);
    let exit_reason = dashboard.run().await;
    // Restores the terminal before waiting for pending writes, which need no screen.
    let mut session = dashboard.session;
    session.await_pending_reply().await;
    drop(session);
    let welcome = dashboard.app.find::<Welcome>().cloned().map(Box::new);
    let mut unrecorded = dashboard.app.unrecorded;
    let (mut effects, mut engine_events) = (dashboard.effects, dashboard.engine_events);
    // Prints the unrecorded outcomes, because the screen that showed them is gone.
    unrecorded.iter().for_each(|one| effects::print_to_stderr(&format!("docdeck: {}", one.sentence())));
    if exit_reason == ExitReason::Quit && !demo {
        effects.await_responses(&mut engine_events, &mut unrecorded).await;
    }
    effects.end().await;
    drop(event_sender);
    Ok(DashboardOutcome { exit_reason, welcome, has_unrecorded_outcomes: !unrecorded.is_empty() })
}

/// Panics if an environment variable requests it, so that tests can check that the terminal is restored. Not in release
/// builds.
#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "a panic is what is asked for")]
fn panic_if_test_asks(effects: &mut EffectTasks) {
    match std::env::var("DOCDECK_TEST_PANIC").as_deref() {
        Ok("loop") => panic!("asked for by DOCDECK_TEST_PANIC"),
        Ok("task") => effects.spawn(async { panic!("asked for by DOCDECK_TEST_PANIC") }),
        _ => {}
    }
}
