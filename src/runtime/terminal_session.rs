//! The terminal for the event loop: a screen to draw on, events and signals to wait for, and a way to leave it for a
//! while and return.

use super::escape_reassembly::EscapeReassembler;
use super::hangup::HangupWatch;
use super::osc_replies::{self, OscReplyFilter};
use super::output::{self, TerminalOutput, Tty};
use super::reader::Reader;
use super::signals::{Signal, SignalStream, stop_group};
use super::terminal::{Guard, TerminalCaps, TerminalState, title_sequence};
use crate::model::colors::Rgb;
use crate::model::text::CleanText;
use crossterm::event::Event;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the reader may take to read what was typed before it started.
const READ_TIMEOUT: Duration = Duration::from_millis(20);

/// An event of the terminal or the system.
#[derive(Debug)]
pub enum TerminalEvent {
    Event(Event),
    Signal(Signal),
    /// The terminal reported its background.
    Background(Rgb),
}

/// The terminal while docdeck has it.
#[derive(Debug)]
pub struct TerminalSession {
    pub screen: TerminalOutput<Tty>,
    /// `None` before [`Self::begin_reading`] and while the terminal belongs to the shell. Declared before the guard,
    /// so that it ends before the terminal is restored and later input goes to the shell.
    reader: Option<Reader>,
    guard: Guard,
    is_away: bool,
    osc_filter: OscReplyFilter,
    escape_filter: EscapeReassembler,
    ready: VecDeque<Event>,
    signals: SignalStream,
    hangup: HangupWatch,
    title: CleanText,
}

impl TerminalSession {
    /// Takes the terminal over, with or without the mouse, and installs the panic hook; panics are written to `log`.
    ///
    /// # Errors
    /// The terminal or its size is not available.
    pub fn open(caps: TerminalCaps, mouse: bool, log: Option<PathBuf>) -> io::Result<Self> {
        let signals = SignalStream::listen()?;
        let guard = Guard(TerminalState::new(caps, mouse));
        super::crash::install(Arc::clone(&guard.0), log);
        guard.0.take_over()?;
        let screen = TerminalOutput::new(Tty::stdout()?, caps.modern)?;
        Ok(Self {
            screen,
            guard,
            reader: None,
            is_away: false,
            osc_filter: OscReplyFilter::default(),
            escape_filter: EscapeReassembler::default(),
            ready: VecDeque::new(),
            signals,
            hangup: HangupWatch::watch(),
            title: CleanText::default(),
        })
    }

    /// Starts to read. Events arrive from now on, including what was typed before.
    ///
    /// # Errors
    /// No thread can be started, or there is no terminal to read.
    pub fn begin_reading(&mut self) -> io::Result<()> {
        self.reader = Some(Reader::start()?);
        Ok(())
    }

    /// Waits briefly until the reader has read what was typed so far: an Esc that is read together with the
    /// terminal's next reply looks like a part of it.
    pub async fn wait_for_typed_input(&self) {
        let until = Instant::now() + READ_TIMEOUT;
        while terminal_has_input() && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Whether the terminal ignores unknown sequences.
    pub fn is_modern(&self) -> bool {
        self.guard.0.caps().modern
    }

    /// Sets whether the mouse is reported, now and whenever the terminal is taken over again.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn set_mouse(&mut self, on: bool) -> io::Result<()> {
        let sequences = self.guard.0.set_mouse(on);
        if self.is_away() { Ok(()) } else { self.screen.send(sequences.as_bytes()) }
    }

    /// Columns and rows.
    ///
    /// # Errors
    /// The system does not report a size.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        output::terminal_size()
    }

    /// The next event. Cancel safe.
    pub async fn next(&mut self) -> TerminalEvent {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return TerminalEvent::Event(event);
            }
            if let Some(background) = self.osc_filter.take_background() {
                return TerminalEvent::Background(background);
            }
            let held = [self.escape_filter.deadline(), self.osc_filter.deadline()].into_iter().flatten().min();
            tokio::select! {
                signal = self.signals.next() => return TerminalEvent::Signal(signal),
                () = self.hangup.wait_for_hangup() => return TerminalEvent::Signal(Signal::Hangup),
                event = next_event(self.reader.as_mut()) => match event {
                    Some(event) => self.push_event(event, Instant::now()),
                    None => return TerminalEvent::Signal(Signal::Hangup),
                },
                () = sleep_until_moment(held) => self.release_held(Instant::now()),
            }
        }
    }

    /// An event that is already available.
    pub fn try_next(&mut self) -> Option<Event> {
        while self.ready.is_empty() {
            let event = self.reader.as_mut()?.try_next()?;
            self.push_event(event, Instant::now());
        }
        self.ready.pop_front()
    }

    fn push_event(&mut self, event: Event, now: Instant) {
        let mut passed = Vec::new();
        self.osc_filter.push(event, now, &mut passed);
        for event in passed {
            self.escape_filter.push(event, now, &mut self.ready);
        }
    }

    /// Releases keys that have waited long enough for the rest of a sequence.
    fn release_held(&mut self, now: Instant) {
        let mut passed = Vec::new();
        self.osc_filter.expire(now, &mut passed);
        for event in passed {
            self.escape_filter.push(event, now, &mut self.ready);
        }
        self.escape_filter.expire(now, &mut self.ready);
    }

    /// Asks the terminal for its background, if it can be asked. The reply may be late or never come.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn ask_background(&mut self) -> io::Result<()> {
        if self.is_modern() && !self.is_away() {
            self.osc_filter.expect_reply(Instant::now());
            self.screen.send(osc_replies::QUERY)?;
        }
        Ok(())
    }

    /// Waits briefly for a pending reply of the terminal, which would be typed into the shell otherwise.
    pub async fn await_answer(&mut self) {
        while let Some(deadline) = self.osc_filter.reply_deadline() {
            match tokio::time::timeout_at(deadline.into(), next_event(self.reader.as_mut())).await {
                Ok(Some(event)) => self.osc_filter.push(event, Instant::now(), &mut Vec::new()),
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Whether the shell or another program has the terminal.
    pub fn is_away(&self) -> bool {
        self.is_away
    }

    /// Restores the terminal and stops the process group. Returns true if it was stopped and continued: SIGCONT then
    /// arrives as a [`TerminalEvent`], which [`Self::resume`] answers. Returns false if no one could have
    /// continued it; the terminal is taken over again then.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn leave(&mut self) -> io::Result<bool> {
        self.release();
        if stop_group() {
            return Ok(true);
        }
        self.resume()?;
        Ok(false)
    }

    /// Restores the terminal for a program that is about to start; [`Self::resume`] takes it over again.
    pub fn release(&mut self) {
        self.reader = None;
        self.is_away = true;
        self.guard.0.restore();
    }

    /// Takes the terminal over again in any case; the next frame is drawn completely.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn resume(&mut self) -> io::Result<()> {
        self.release();
        self.guard.0.take_over()?;
        self.begin_reading()?;
        self.is_away = false;
        let title = std::mem::take(&mut self.title);
        self.screen.invalidate();
        self.set_title(title)
    }

    /// Sets the window title, if the old one can be restored.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn set_title(&mut self, title: CleanText) -> io::Result<()> {
        if self.guard.0.caps().titles && title != self.title {
            self.screen.send(&title_sequence(&title))?;
            self.title = title;
        }
        Ok(())
    }
}

/// Whether there is unread input.
#[cfg(unix)]
fn terminal_has_input() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut ready, Some(&Timespec::default())).is_ok_and(|count| count > 0)
}

#[cfg(not(unix))]
fn terminal_has_input() -> bool {
    false
}

async fn next_event(reader: Option<&mut Reader>) -> Option<Event> {
    match reader {
        Some(reader) => reader.next().await,
        None => std::future::pending().await,
    }
}

/// Waits until that time, or forever if there is none.
pub async fn sleep_until_moment(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}
