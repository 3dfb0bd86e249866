//! The event loop. It owns the state machine, waits for keys, messages, timers and signals, and runs the effects that
//! need the terminal. It draws when the frame scheduler allows it. There is no fixed tick: the loop wakes up only when
//! something happens.

use super::effects::EffectTasks;
use super::foreground_child::{self, ForegroundChild};
use super::logfile::LogFile;
use super::notify;
use super::opener::{self, OpenMethod};
use super::profile_switcher::ProfileSwitcher;
use super::theme_state::ThemeState;
use crate::config::customization::NotifyMethod;
use crate::config::environment::Environment;
use crate::model::Time;
use crate::model::colors::Rgb;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::link;
use crate::model::text::CleanText;
use crate::terminal::frame_scheduler::FrameScheduler;
use crate::terminal::session::{TerminalEvent, TerminalSession, sleep_until_moment};
use crate::terminal::signals::{Signal, stop_process_group};
use crate::tui::draw::{self, KeptCells, Theme};
use crate::tui::keymap::{Action, Context};
use crate::tui::{App, Effect, Msg, ProfilesEffect, RelaunchTarget};
use chrono::Utc;
use crossterm::event::Event;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Maximum number of events and messages that are handled before drawing, so that a flood of events can't prevent
/// drawing.
const MAX_MESSAGES_BEFORE_DRAWING: usize = 2048;
/// Maximum time for handling events and messages before drawing.
const MAX_HANDLING_TIME_BEFORE_DRAWING: Duration = Duration::from_millis(8);
/// Minimum time between two timers of the state machine.
const MIN_TIMER_INTERVAL: Duration = Duration::from_millis(10);
/// For this long after a foreground program has ended, SIGINT and SIGQUIT are assumed to be meant for that program.
const INTERRUPT_GRACE_AFTER_CHILD: Duration = Duration::from_millis(500);
/// Maximum time to sleep. After the computer has woken up from standby, ages on the screen are correct again within
/// this time.
const MAX_SLEEP: Duration = Duration::from_secs(60);

/// Folders that contain the user's files.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    /// The folder of the database and the log file; `None` if nothing is saved on disk.
    pub data: Option<PathBuf>,
    /// The folder of the user's own templates.
    pub templates: Option<PathBuf>,
    /// The folder of the user's own themes.
    pub themes: Option<PathBuf>,
}

/// Why the dashboard ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    /// The user quit.
    Quit,
    /// A signal other than SIGINT ended docdeck, or the terminal is gone.
    Terminated,
    /// Another process sent SIGINT. (A typed Ctrl-C is a key.)
    Interrupted,
    /// Another dashboard starts next in the same terminal.
    Relaunch(RelaunchTarget),
}

/// The state machine and everything that the event loop needs to run it.
#[derive(Debug)]
pub(super) struct Dashboard {
    pub(super) app: App,
    pub(super) theme: Theme,
    /// The cells of the last frame that the next frame may keep instead of drawing them again.
    pub(super) kept_cells: KeptCells,
    pub(super) theme_state: ThemeState,
    pub(super) session: TerminalSession,
    pub(super) effects: EffectTasks,
    pub(super) engine_events: mpsc::Receiver<EngineEvent>,
    pub(super) log: Option<LogFile>,
    pub(super) environment: Environment,
    pub(super) notify: NotifyMethod,
    /// The program, with its arguments, that copies text; empty if none is configured.
    pub(super) copy_program: Vec<String>,
    pub(super) folders: Folders,
    pub(super) profiles: ProfileSwitcher,
    pub(super) scheduler: FrameScheduler,
    /// Whether input from the terminal has arrived since the last call of [`Self::draw_when_due`].
    pub(super) has_new_input: bool,
    /// The program that has the terminal, if any.
    pub(super) foreground: Option<ForegroundChild>,
    /// Whether docdeck will be suspended as soon as the connection to the team's database is closed.
    pub(super) is_suspend_pending: bool,
    /// When the last foreground program ended.
    pub(super) child_ended_at: Option<Instant>,
    /// Why the dashboard ends; `None` while it runs.
    pub(super) exit_reason: Option<ExitReason>,
    /// When to send the next [`Msg::Timer`] to the state machine, because the screen then changes without input. `None`
    /// if no such change is due.
    pub(super) next_timer_at: Option<Time>,
    /// When the state machine last got [`Msg::Timer`].
    pub(super) last_timer_at: Instant,
}

/// Why a wait ended.
enum WakeReason {
    Terminal(TerminalEvent),
    Msg(Box<Msg>),
    /// The foreground program has ended.
    ChildEnded(Box<Msg>),
    /// A frame is due, or a timer of the state machine has expired.
    Timer,
}

impl Dashboard {
    /// Runs until the dashboard ends, and returns why. Pending writes are finished later, by [`EffectTasks::end`].
    pub(super) async fn run(&mut self) -> ExitReason {
        loop {
            match self.wait().await {
                WakeReason::Terminal(TerminalEvent::Input(event)) => self.handle(Msg::Input(event)),
                WakeReason::Terminal(TerminalEvent::Signal(signal)) => self.handle_signal(signal),
                WakeReason::Terminal(TerminalEvent::Background([r, g, b])) => {
                    self.theme_state.set_reported_background(Rgb(r, g, b));
                    self.update_theme();
                }
                WakeReason::Msg(msg) => self.handle(*msg),
                WakeReason::ChildEnded(msg) => {
                    self.foreground = None;
                    self.child_ended_at = Some(Instant::now());
                    self.regain_terminal();
                    self.handle(*msg);
                }
                WakeReason::Timer => {}
            }
            self.handle_pending_messages();
            if let Some(exit_reason) = self.exit_reason {
                return exit_reason;
            }
            self.fire_timer();
            self.draw_when_due();
            // Calculated after drawing, so that the frame doesn't wait for the calculation.
            self.next_timer_at = self.app.next_timer(Utc::now());
            if self.scheduler.is_idle() {
                self.effects.run_deferred_prefetch();
            }
        }
    }

    async fn wait(&mut self) -> WakeReason {
        let monotonic_now = Instant::now();
        let frame = self.scheduler.due_at(monotonic_now).filter(|_| !self.session.is_released());
        let wake = self.next_timer_at.map(|at| self.timer_instant(at, monotonic_now));
        tokio::select! {
            event = self.session.next() => WakeReason::Terminal(event),
            msg = foreground_child::wait_for_exit(self.foreground.as_mut()) => WakeReason::ChildEnded(Box::new(msg)),
            Some(engine_event) = self.engine_events.recv() => WakeReason::Msg(Box::new(Msg::Engine(engine_event))),
            msg = self.effects.next() => WakeReason::Msg(Box::new(msg)),
            () = sleep_until_moment(frame) => WakeReason::Timer,
            () = sleep_until_moment(wake) => WakeReason::Timer,
        }
    }

    /// Asks the terminal for its background if the theme depends on it, without waiting for the reply.
    pub(super) fn request_background(&mut self) {
        if self.theme_state.should_request_background() {
            // The error is ignored: if the terminal is gone, the next frame fails too.
            let _ = self.session.request_background();
        }
    }

    /// Switches to the theme `name`. Returns the message with the result. If `save_as_default` is set and the theme
    /// exists, returns `None`: the theme is saved in the configuration by a task, which sends the message.
    fn use_theme(&mut self, name: &str, save_as_default: bool) -> Option<Msg> {
        let result = self
            .theme_state
            .select(name, self.folders.themes.as_deref())
            .map_err(|error| Failure::local(&format!("Theme not changed. {error}")));
        self.request_background();
        self.update_theme();
        if save_as_default && result.is_ok() {
            self.effects.spawn(self.effects.profile_effects().clone().save_theme_setting(name.to_owned()));
            return None;
        }
        let key = self.app.key_label(Context::Palette, Action::SaveTheme);
        let until = if self.app.config.config_path.is_some() {
            format!("until you quit. To save it, press {key} on it in the palette.")
        } else {
            "until you quit.".to_owned()
        };
        Some(Msg::ActionFinished { success_notice: CleanText::line(&format!("Theme {name}, {until}")), result })
    }

    /// Applies the current theme, and requests a frame if the theme has changed.
    fn update_theme(&mut self) {
        let theme = self.theme_state.theme();
        if theme != self.theme {
            self.theme = theme;
            self.scheduler.request_frame();
        }
    }

    /// Converts `at`, the time of a timer, to the monotonic clock. `monotonic_now` is the current time on that clock.
    /// The result is at most [`MAX_SLEEP`] from now, and at least [`MIN_TIMER_INTERVAL`] after the last timer.
    fn timer_instant(&self, at: Time, monotonic_now: Instant) -> Instant {
        let pause = (at - Utc::now()).to_std().unwrap_or_default().min(MAX_SLEEP);
        (monotonic_now + pause).max(self.last_timer_at + MIN_TIMER_INTERVAL)
    }

    /// Sends [`Msg::Timer`] to the state machine if its timer has expired, even if another event arrived at the same
    /// time.
    fn fire_timer(&mut self) {
        if self.next_timer_at.is_some_and(|at| at <= Utc::now()) {
            self.last_timer_at = Instant::now();
            self.handle(Msg::Timer);
        }
    }

    /// Handles the events and messages that are already available, up to a limit, before drawing.
    fn handle_pending_messages(&mut self) {
        let start = Instant::now();
        for _ in 0..MAX_MESSAGES_BEFORE_DRAWING {
            let msg = if self.exit_reason.is_some() {
                None
            } else if let Some(event) = self.session.try_next() {
                Some(Msg::Input(event))
            } else if let Ok(engine_event) = self.engine_events.try_recv() {
                Some(Msg::Engine(engine_event))
            } else {
                self.effects.try_next()
            };
            match msg {
                Some(msg) => self.handle(msg),
                None => return,
            }
            if start.elapsed() >= MAX_HANDLING_TIME_BEFORE_DRAWING {
                return;
            }
        }
    }

    pub(super) fn handle(&mut self, msg: Msg) {
        self.has_new_input |= matches!(msg, Msg::Input(_));
        let mut queue = VecDeque::from([msg]);
        while let Some(msg) = queue.pop_front() {
            if let Msg::Input(Event::Resize(..)) = &msg {
                // The terminal may have cut or wrapped its content, even if it is back at the old size.
                self.redraw_all();
            }
            if let (Some(log), Msg::Engine(EngineEvent::Logged(entry))) = (&self.log, &msg) {
                log.record(entry);
            }
            for effect in self.app.update(msg, Utc::now()) {
                queue.extend(self.run_effect(effect));
            }
        }
    }

    /// Runs an effect. Effects that need the terminal or other state of the event loop run here; some of them return
    /// their message at once. All others run as tasks.
    fn run_effect(&mut self, effect: Effect) -> Option<Msg> {
        match effect {
            Effect::Quit => {
                self.exit_reason.get_or_insert(ExitReason::Quit);
                None
            }
            Effect::Suspend => self.suspend(),
            Effect::SuspendNow => self.stop_process(),
            Effect::SetMouse(on) => {
                if self.session.set_mouse(on).is_err() {
                    self.exit_reason.get_or_insert(ExitReason::Terminated);
                }
                None
            }
            Effect::Redraw => {
                self.redraw_all();
                None
            }
            Effect::Copy { success_notice: what, text } => self.copy(what, text),
            Effect::OpenUrl(url) => self.open_link(url),
            Effect::RunCommand(words) => self.run_custom_command(words),
            Effect::ShowDesktopNotification(text) => {
                self.notify(&text);
                None
            }
            Effect::UseTheme { name, save_as_default } => self.use_theme(&name, save_as_default),
            Effect::Profiles(ProfilesEffect::AddProfile(profile, key)) => {
                Some(self.profiles.add(self.effects.profile_effects().configured_profile(&profile), key))
            }
            Effect::OpenExternalEditor(text) => self.open_external_editor(&text),
            Effect::Profiles(ProfilesEffect::ReadNewProfileKey { attempt, key }) => self.read_key(attempt, key),
            Effect::Relaunch(next) => {
                self.exit_reason.get_or_insert(ExitReason::Relaunch(next));
                None
            }
            Effect::Profiles(ProfilesEffect::ReadProfileKey(at)) => self.read_profile_key(at),
            Effect::Profiles(ProfilesEffect::TestProfileKey(at, key)) => {
                self.effects.spawn(self.profiles.test_key(at, key));
                None
            }
            Effect::Profiles(ProfilesEffect::SwitchProfile(at, key)) => self.switch_profile(at, key),
            other => {
                self.effects.run(other);
                None
            }
        }
    }

    /// Sends a notification between two frames, but not while another program has the terminal.
    fn notify(&mut self, text: &CleanText) {
        let caps = self.session.caps();
        let method = if caps.is_modern { self.notify } else { notify::fallback_method(self.notify) };
        let sequence = notify::notification_sequence(method, text, caps.multiplexer);
        // The error is ignored: if the terminal is gone, the next frame fails too.
        if !self.session.is_released() && !sequence.is_empty() {
            let _ = self.session.send(&sequence);
        }
    }

    fn open_link(&mut self, url: CleanText) -> Option<Msg> {
        // The user must see exactly the link that is copied or opened.
        let url = link::display_url(&url);
        let words = match opener::open_method(url.as_str(), &self.environment) {
            Ok(OpenMethod::Run(words)) => words,
            Ok(OpenMethod::CopyInstead) => {
                let result = self
                    .copy_through_terminal(url.as_str())
                    .map_err(|_| Failure::local(&format!("No browser available, and copying failed. The link: {url}")));
                let what = CleanText::line(&format!("No browser available; link copied: {url}"));
                return Some(Msg::ActionFinished { success_notice: what, result });
            }
            Err(failure) => return Some(Msg::ActionFinished { success_notice: url, result: Err(failure) }),
        };
        self.effects.spawn(async move {
            let result = opener::run_opener(&words, url.as_str()).await;
            Msg::ActionFinished { success_notice: CleanText::line(&format!("Opened {url}")), result }
        });
        None
    }

    fn handle_signal(&mut self, signal: Signal) {
        if let Some(foreground) = &mut self.foreground {
            match signal {
                // The signal is meant for the foreground program, which is in the same process group and gets it too.
                Signal::Interrupt | Signal::Quit | Signal::Continue => return,
                Signal::Stop => {
                    self.release_leases();
                    stop_process_group();
                    self.continue_running();
                    return;
                }
                Signal::Terminate | Signal::Hangup => {
                    if let Some(msg) = foreground.terminate() {
                        self.handle(msg);
                    }
                }
            }
        }
        // The SIGINT or SIGQUIT that ended the foreground program may arrive here after the end of that program.
        let is_late_interrupt = self.child_ended_at.is_some_and(|at| at.elapsed() < INTERRUPT_GRACE_AFTER_CHILD);
        match signal {
            Signal::Interrupt | Signal::Quit if is_late_interrupt => {}
            Signal::Terminate | Signal::Hangup | Signal::Interrupt | Signal::Quit => {
                let exit_reason =
                    if signal == Signal::Interrupt { ExitReason::Interrupted } else { ExitReason::Terminated };
                self.exit_reason = Some(exit_reason);
                self.handle(Msg::Terminate);
            }
            Signal::Stop => {
                if let Some(msg) = self.suspend() {
                    self.handle(msg);
                }
            }
            Signal::Continue => self.resume(),
        }
    }

    /// Gives the terminal to the shell until SIGCONT. If there is a connection to the team's database, a task closes it
    /// first, and the message of this task then leads to [`Self::stop_process`]. Returns a message if suspending is not
    /// possible.
    fn suspend(&mut self) -> Option<Msg> {
        if self.session.is_released() || self.is_suspend_pending {
            return None;
        }
        self.release_leases();
        self.is_suspend_pending = true;
        match self.effects.engine().filter(|engine| engine.has_team_connection()) {
            Some(engine) => {
                // Also gives up the team's polling lease, so that another member polls while docdeck is stopped.
                self.effects.spawn(async move {
                    engine.release_leases_and_close_team_connection().await;
                    Msg::TeamDisconnected
                });
                None
            }
            None => self.stop_process(),
        }
    }

    /// Stops this process, unless it was resumed or another program was started since the suspend was requested.
    /// Returns a message if there is no shell that could resume the process.
    fn stop_process(&mut self) -> Option<Msg> {
        if !std::mem::take(&mut self.is_suspend_pending) {
            return None;
        }
        if self.session.is_released() {
            self.continue_running();
            return None;
        }
        match self.session.suspend_process() {
            Ok(true) => None,
            Ok(false) => {
                self.continue_running();
                let sentence = "Can't suspend: not started from a shell with job control.";
                let result = Err(Failure::local(sentence));
                Some(Msg::ActionFinished { success_notice: CleanText::line("suspend"), result })
            }
            Err(_) => {
                self.exit_reason.get_or_insert(ExitReason::Terminated);
                None
            }
        }
    }

    /// Releases the leases, so that another instance takes over while this one is stopped.
    fn release_leases(&self) {
        if let Some(engine) = self.effects.engine() {
            engine.release_leases();
        }
    }

    /// Requests a frame that is drawn completely.
    fn redraw_all(&mut self) {
        self.session.invalidate();
        self.scheduler.request_frame();
    }

    /// Takes the terminal over again after a foreground program.
    pub(super) fn regain_terminal(&mut self) {
        if self.session.resume().is_err() {
            self.exit_reason.get_or_insert(ExitReason::Terminated);
        }
        self.scheduler.request_frame();
    }

    /// Takes the terminal over again after SIGCONT, and continues.
    fn resume(&mut self) {
        self.is_suspend_pending = false;
        if self.session.resume().is_err() {
            self.exit_reason.get_or_insert(ExitReason::Terminated);
            return;
        }
        self.continue_running();
        self.handle(Msg::Resumed);
    }

    /// Notifies the state machine if the terminal's size has changed. Doesn't wait for the resize event, which may
    /// still be in the queue.
    pub(super) fn notify_if_resized(&mut self) {
        if let Ok((columns, rows)) = self.session.size()
            && (columns, rows) != self.app.size
        {
            self.handle(Msg::Input(Event::Resize(columns, rows)));
        }
    }

    /// Resumes the engine and requests a frame, after docdeck was suspended or could not be suspended.
    fn continue_running(&mut self) {
        if let Some(engine) = self.effects.engine() {
            engine.resume();
        }
        self.scheduler.request_frame();
    }

    /// Draws if something changed and a frame is due.
    pub(super) fn draw_when_due(&mut self) {
        let has_typed = std::mem::take(&mut self.has_new_input);
        match self.app.take_dirty() {
            true if has_typed => self.scheduler.request_input_frame(),
            true => self.scheduler.request_frame(),
            false => {}
        }
        self.scheduler.set_reading_store(self.app.is_reading_store(), Instant::now());
        if !self.session.is_released() && self.scheduler.is_due(Instant::now()) {
            self.draw();
        }
    }

    /// Draws a frame, whether or not one is due.
    pub(super) fn draw(&mut self) {
        self.notify_if_resized();
        self.app.take_dirty();
        let (app, theme, kept_cells, now) = (&self.app, &self.theme, &self.kept_cells, Utc::now());
        let drawn = self.session.draw(
            app.size,
            app.has_text_context(),
            |frame| draw::draw_with_kept_cells(frame, app, theme, now, kept_cells),
            |next| kept_cells.blank_others(next),
        );
        let drawn = drawn.and_then(|()| self.session.set_title(CleanText::line(&app.terminal_title()).as_str()));
        if drawn.is_err() {
            // The terminal is gone, possibly without a signal.
            self.exit_reason.get_or_insert(ExitReason::Terminated);
        }
        self.scheduler.record_frame(Instant::now());
    }
}
