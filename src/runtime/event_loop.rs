//! The event loop: owns the state machine, waits for keys, messages, moments and signals, carries out what needs the
//! terminal, and draws through the frame gate. There is no tick: nothing wakes it unless something happened.

use super::effects::Effects;
use super::foreground_child::{self, ForegroundChild};
use super::frame_scheduler::FrameScheduler;
use super::logfile::LogGuard;
use super::multiplexer::Multiplexer;
use super::notify;
use super::opener::{self, OpenMethod};
use super::signals::{Signal, stop_group};
use super::switch::ProfileSwitcher;
use super::terminal_session::{TerminalEvent, TerminalSession, until};
use super::theme_state::ThemeState;
use super::{Exit, Folders};
use crate::app::keymap::{Action, Context};
use crate::app::{App, Effect, Msg};
use crate::config::customization::How;
use crate::config::environment::Environment;
use crate::model::Time;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::link;
use crate::model::text::CleanText;
use crate::ui::{self, Theme};
use chrono::Utc;
use crossterm::event::Event;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// What is handled before a frame is due at the latest, so that a flood can't starve drawing.
const BURST: usize = 2048;
const BURST_TIME: Duration = Duration::from_millis(8);
/// Shortest pause between two moments that the state machine asked for.
const WAKE_PAUSE: Duration = Duration::from_millis(10);
/// For so long after a lent terminal came back, an interrupt was meant for the program that had it.
const ECHO: Duration = Duration::from_millis(500);
/// Longest sleep: after the computer slept, ages on the screen are right again within this time.
const WAKE_MAX: Duration = Duration::from_secs(60);

pub(super) fn now() -> Time {
    Utc::now()
}

/// The state machine and all around it, while it runs.
#[derive(Debug)]
pub(super) struct Dashboard {
    pub(super) app: App,
    pub(super) theme: Theme,
    pub(super) paints: ThemeState,
    pub(super) session: TerminalSession,
    pub(super) effects: Effects,
    pub(super) news: mpsc::Receiver<EngineEvent>,
    pub(super) log: Option<LogGuard>,
    pub(super) environment: Environment,
    pub(super) notify: How,
    pub(super) clipboard: Vec<String>,
    pub(super) folders: Folders,
    pub(super) profiles: ProfileSwitcher,
    pub(super) gate: FrameScheduler,
    /// Something came from the terminal since it was last looked whether a frame is due.
    pub(super) typed: bool,
    /// A program that has the terminal.
    pub(super) loan: Option<ForegroundChild>,
    /// When the last such program ended.
    pub(super) returned: Option<Instant>,
    pub(super) ending: Option<Exit>,
    /// When the screen changes by itself.
    pub(super) armed: Option<Time>,
    pub(super) last_wake: Instant,
}

/// What ended a wait.
enum WakeReason {
    Happened(TerminalEvent),
    Msg(Box<Msg>),
    /// The program that had the terminal has ended.
    Returned(Box<Msg>),
    /// A frame is due, or the moment that the state machine asked for has come.
    Moment,
}

impl Dashboard {
    /// Runs until it ends; what is not on disk yet is left to [`Effects::end`].
    pub(super) async fn run(&mut self) -> Exit {
        loop {
            match self.wait().await {
                WakeReason::Happened(TerminalEvent::Event(event)) => self.handle(Msg::Input(event)),
                WakeReason::Happened(TerminalEvent::Signal(signal)) => self.signal(signal),
                WakeReason::Happened(TerminalEvent::Background(colour)) => {
                    self.paints.background(colour);
                    self.repaint();
                }
                WakeReason::Msg(msg) => self.handle(*msg),
                WakeReason::Returned(msg) => {
                    self.loan = None;
                    self.returned = Some(Instant::now());
                    self.take_back();
                    self.handle(*msg);
                }
                WakeReason::Moment => {}
            }
            self.drain();
            if let Some(exit) = self.ending {
                return exit;
            }
            self.wake();
            self.draw_when_due();
            if self.gate.is_at_rest() {
                self.effects.carry_what_can_wait();
            }
        }
    }

    async fn wait(&mut self) -> WakeReason {
        let instant = Instant::now();
        let frame = self.gate.due(instant).filter(|_| !self.session.is_away());
        let wake = self.armed.map(|at| self.instant_of(at, instant));
        tokio::select! {
            happening = self.session.next() => WakeReason::Happened(happening),
            msg = foreground_child::ended(self.loan.as_mut()) => WakeReason::Returned(Box::new(msg)),
            Some(news) = self.news.recv() => WakeReason::Msg(Box::new(Msg::News(news))),
            msg = self.effects.next() => WakeReason::Msg(Box::new(msg)),
            () = until(frame) => WakeReason::Moment,
            () = until(wake) => WakeReason::Moment,
        }
    }

    /// Asks the terminal for its background where the theme depends on it. No answer is waited for.
    pub(super) fn ask_background(&mut self) {
        if self.paints.depends_on_ground() {
            // A terminal that is gone tells so at the next frame.
            let _ = self.session.ask_background();
        }
    }

    /// Draws with another theme; with `keep` it is saved, if there is such a theme.
    fn use_theme(&mut self, name: &str, keep: bool) -> Option<Msg> {
        let result = self
            .paints
            .choose(name, self.folders.themes.as_deref())
            .map_err(|error| Failure::new(FailureKind::Local, &format!("The theme stays as it is. {error}")));
        self.ask_background();
        self.repaint();
        if keep && result.is_ok() {
            self.effects.spawn(self.effects.first_run().clone().save_theme(name.to_owned()));
            return None;
        }
        let key = self.app.key_label(Context::Palette, Action::KeepTheme);
        let until = if self.app.config.config.is_some() {
            format!("until you quit. To keep it, press {key} on it in the palette.")
        } else {
            "until you quit.".to_owned()
        };
        Some(Msg::ActionFinished { what: CleanText::line(&format!("Theme {name}, {until}")), result })
    }

    /// Takes the theme as it is now; a frame is drawn when that changes anything.
    fn repaint(&mut self) {
        let theme = self.paints.theme();
        if theme != self.theme {
            self.theme = theme;
            self.gate.want();
        }
    }

    /// A moment on the monotonic clock.
    fn instant_of(&self, at: Time, instant: Instant) -> Instant {
        let pause = (at - now()).to_std().unwrap_or_default().min(WAKE_MAX);
        (instant + pause).max(self.last_wake + WAKE_PAUSE)
    }

    /// Tells the state machine of a moment that has come, also when something else happened just then, and asks for the
    /// next one.
    fn wake(&mut self) {
        if self.armed.is_some_and(|at| at <= now()) {
            self.last_wake = Instant::now();
            self.handle(Msg::Wake);
        }
        self.armed = self.app.next_timer(now());
    }

    /// Handles what is there already before anything is drawn, within bounds.
    fn drain(&mut self) {
        let begun = Instant::now();
        for _ in 0..BURST {
            let msg = if self.ending.is_some() {
                None
            } else if let Some(event) = self.session.waiting() {
                Some(Msg::Input(event))
            } else if let Ok(news) = self.news.try_recv() {
                Some(Msg::News(news))
            } else {
                self.effects.waiting()
            };
            match msg {
                Some(msg) => self.handle(msg),
                None => return,
            }
            if begun.elapsed() >= BURST_TIME {
                return;
            }
        }
    }

    pub(super) fn handle(&mut self, msg: Msg) {
        self.typed |= matches!(msg, Msg::Input(_));
        let mut waiting = VecDeque::from([msg]);
        while let Some(msg) = waiting.pop_front() {
            if let Msg::Input(Event::Resize(..)) = &msg {
                // The terminal may have cut or wrapped what it showed, also when its size is the old one again.
                self.session.screen.forget();
                self.gate.want();
            }
            if let (Some(log), Msg::News(EngineEvent::Logged(entry))) = (&self.log, &msg) {
                log.record(entry);
            }
            for effect in self.app.update(msg, now()) {
                waiting.extend(self.carry(effect));
            }
        }
    }

    /// Carries an effect out, here or as a task; what is done here answers at once.
    fn carry(&mut self, effect: Effect) -> Option<Msg> {
        match effect {
            Effect::Quit => {
                self.ending.get_or_insert(Exit::Quit);
                None
            }
            Effect::Suspend => self.suspend(),
            Effect::Mouse(on) => {
                if self.session.set_mouse(on).is_err() {
                    self.ending.get_or_insert(Exit::Ended);
                }
                None
            }
            Effect::Repaint => {
                self.session.screen.forget();
                self.gate.want();
                None
            }
            Effect::Copy { what, text } => self.copy(what, text),
            Effect::OpenUrl(url) => self.open(url),
            Effect::RunCommand(words) => self.run_own_command(words),
            Effect::Notify(text) => {
                self.notify(&text);
                None
            }
            Effect::UseTheme { name, keep } => self.use_theme(&name, keep),
            Effect::AddProfile(profile, key) => Some(self.profiles.add(self.effects.first_run().known(&profile), key)),
            Effect::EditOutside(text) => self.edit_outside(&text),
            Effect::ReadKey { attempt, key } => self.read_key(attempt, key),
            Effect::Relaunch(next) => {
                self.ending.get_or_insert(Exit::Begin(next));
                None
            }
            Effect::ReadProfileKey(at) => self.read_profile_key(at),
            Effect::TryProfileKey(at, key) => {
                self.effects.spawn(self.profiles.try_key(at, key));
                None
            }
            Effect::SwitchProfile(at, key) => self.turn_to_profile(at, key),
            other => {
                self.effects.carry(other);
                None
            }
        }
    }

    /// Between two frames, and not into the screen of a program that has the terminal.
    fn notify(&mut self, text: &CleanText) {
        let how = if self.session.is_modern() { self.notify } else { notify::plain(self.notify) };
        let sequence = notify::sequence(how, text, Multiplexer::of(&self.environment));
        // A terminal that is gone tells so at the next frame.
        if !self.session.is_away() && !sequence.is_empty() {
            let _ = self.session.screen.send(&sequence);
        }
    }

    fn open(&mut self, url: CleanText) -> Option<Msg> {
        // What is said and copied is what is opened.
        let url = link::shown(&url);
        let words = match opener::opening(url.as_str(), &self.environment) {
            Ok(OpenMethod::Run(words)) => words,
            Ok(OpenMethod::CopyInstead) => {
                let result = self.copy_through_terminal(url.as_str()).map_err(|_| {
                    Failure::new(
                        FailureKind::Local,
                        &format!("No browser here, and nothing was copied. The link: {url}"),
                    )
                });
                let what = CleanText::line(&format!("No browser here, so the link was copied: {url}"));
                return Some(Msg::ActionFinished { what, result });
            }
            Err(failure) => return Some(Msg::ActionFinished { what: url, result: Err(failure) }),
        };
        self.effects.spawn(async move {
            let result = opener::run(&words, url.as_str()).await;
            Msg::ActionFinished { what: CleanText::line(&format!("Opened {url}")), result }
        });
        None
    }

    fn signal(&mut self, signal: Signal) {
        if let Some(loan) = &mut self.loan {
            match signal {
                // Typed for the program that has the terminal; its group is ours.
                Signal::Interrupt | Signal::Quit | Signal::Continue => return,
                Signal::Stop => {
                    self.release_leases();
                    stop_group();
                    self.go_on();
                    return;
                }
                Signal::Terminate | Signal::Hangup => {
                    if let Some(msg) = loan.call_back() {
                        self.handle(msg);
                    }
                }
            }
        }
        // What ended the program may be told to us after its end.
        let echo = self.returned.is_some_and(|at| at.elapsed() < ECHO);
        match signal {
            Signal::Interrupt | Signal::Quit if echo => {}
            Signal::Terminate | Signal::Hangup | Signal::Interrupt | Signal::Quit => {
                let exit = if signal == Signal::Interrupt { Exit::Interrupted } else { Exit::Ended };
                self.ending = Some(exit);
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

    /// Leaves the terminal to the shell; SIGCONT brings it back.
    fn suspend(&mut self) -> Option<Msg> {
        if self.session.is_away() {
            return None;
        }
        self.release_leases();
        match self.session.leave() {
            Ok(true) => None,
            Ok(false) => {
                self.go_on();
                let sentence = "There is no shell here to come back from, so docdeck stays.";
                let result = Err(Failure::new(FailureKind::Local, sentence));
                Some(Msg::ActionFinished { what: CleanText::line("suspend"), result })
            }
            Err(_) => {
                self.ending.get_or_insert(Exit::Ended);
                None
            }
        }
    }

    /// Another instance takes over while this one is stopped.
    fn release_leases(&self) {
        if let Some(engine) = self.effects.engine() {
            engine.release_leases();
        }
    }

    /// The program that had the terminal is gone.
    pub(super) fn take_back(&mut self) {
        if self.session.come_back().is_err() {
            self.ending.get_or_insert(Exit::Ended);
        }
        self.gate.want();
    }

    fn resume(&mut self) {
        if self.session.come_back().is_err() {
            self.ending.get_or_insert(Exit::Ended);
            return;
        }
        self.go_on();
        self.handle(Msg::Resumed);
    }

    /// The frame is as large as the terminal is now; a message about a resize may be on its way still.
    pub(super) fn notice_size(&mut self) {
        if let Ok((columns, rows)) = self.session.size()
            && (columns, rows) != self.app.size
        {
            self.handle(Msg::Input(Event::Resize(columns, rows)));
        }
    }

    /// The terminal is ours again, whether the process was stopped or not.
    fn go_on(&mut self) {
        if let Some(engine) = self.effects.engine() {
            engine.resume();
        }
        self.gate.want();
    }

    /// Draws if something changed and the gate is open.
    pub(super) fn draw_when_due(&mut self) {
        let typed = std::mem::take(&mut self.typed);
        match self.app.take_dirty() {
            true if typed => self.gate.want_answer(),
            true => self.gate.want(),
            false => {}
        }
        self.gate.reading(self.app.reads_record(), Instant::now());
        if self.session.is_away() || !self.gate.is_open(Instant::now()) {
            return;
        }
        self.notice_size();
        let (app, theme, time) = (&self.app, &self.theme, now());
        let drawn = self.session.screen.draw(app.size, app.is_typing(), |frame| ui::draw(frame, app, theme, time));
        let drawn = drawn.and_then(|()| self.session.set_title(CleanText::line(&app.title())));
        if drawn.is_err() {
            // The terminal is gone; a signal may never tell.
            self.ending.get_or_insert(Exit::Ended);
        }
        self.gate.drawn(Instant::now());
    }
}
