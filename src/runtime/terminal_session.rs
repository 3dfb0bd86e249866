//! The terminal as the loops see it: taken over, with a screen to draw on, events and signals to wait for, and a way to
//! leave it for a while and come back.

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

/// How long the reader may take to have what was typed before it began.
const READ_WITHIN: Duration = Duration::from_millis(20);

/// What came from the terminal or the system.
#[derive(Debug)]
pub enum TerminalEvent {
    Event(Event),
    Signal(Signal),
    /// The terminal told its background.
    Background(Rgb),
}

/// The terminal while docdeck has it.
#[derive(Debug)]
pub struct TerminalSession {
    pub screen: TerminalOutput<Tty>,
    /// None before [`Self::begin_reading`] and while the terminal is left to the shell. Ends before the guard gives the terminal
    /// back, so that what is typed then goes to the shell.
    reader: Option<Reader>,
    guard: Guard,
    is_away: bool,
    answers: OscReplyFilter,
    filter: EscapeReassembler,
    ready: VecDeque<Event>,
    signals: SignalStream,
    hangup: HangupWatch,
    title: CleanText,
}

impl TerminalSession {
    /// Takes the terminal over, with the mouse or without it, and sets the panic hook; `log` is where a panic is written
    /// down.
    ///
    /// # Errors
    /// The terminal or its size can't be had.
    pub fn open(kind: TerminalCaps, mouse: bool, log: Option<PathBuf>) -> io::Result<Self> {
        let signals = SignalStream::listen()?;
        let guard = Guard(TerminalState::new(kind, mouse));
        super::crash::install(Arc::clone(&guard.0), log);
        guard.0.take()?;
        let screen = TerminalOutput::new(Tty::stdout()?, kind.modern)?;
        Ok(Self {
            screen,
            guard,
            reader: None,
            is_away: false,
            answers: OscReplyFilter::default(),
            filter: EscapeReassembler::default(),
            ready: VecDeque::new(),
            signals,
            hangup: HangupWatch::watch(),
            title: CleanText::default(),
        })
    }

    /// Begins to read: events come from here on, what was typed before among them.
    ///
    /// # Errors
    /// No thread can be had, or there is no terminal to read.
    pub fn begin_reading(&mut self) -> io::Result<()> {
        self.reader = Some(Reader::start()?);
        Ok(())
    }

    /// Waits until the reader has what was typed so far, a moment at most: an Esc that is read together with the terminal's next
    /// answer looks like a part of it.
    pub async fn typed_is_read(&self) {
        let until = Instant::now() + READ_WITHIN;
        while terminal_has_input() && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Whether the terminal ignores sequences that it doesn't know.
    pub fn is_modern(&self) -> bool {
        self.guard.0.kind().modern
    }

    /// Has the mouse reported or not, from now on and whenever the terminal is taken over again.
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
    /// The system can't tell.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        output::size()
    }

    /// The next thing that happens. Nothing is lost when this is dropped while waiting.
    pub async fn next(&mut self) -> TerminalEvent {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return TerminalEvent::Event(event);
            }
            if let Some(background) = self.answers.take_answer() {
                return TerminalEvent::Background(background);
            }
            let held = [self.filter.deadline(), self.answers.deadline()].into_iter().flatten().min();
            tokio::select! {
                signal = self.signals.next() => return TerminalEvent::Signal(signal),
                () = self.hangup.happened() => return TerminalEvent::Signal(Signal::Hangup),
                event = next_event(self.reader.as_mut()) => match event {
                    Some(event) => self.take_in(event, Instant::now()),
                    None => return TerminalEvent::Signal(Signal::Hangup),
                },
                () = until(held) => self.let_go(Instant::now()),
            }
        }
    }

    /// An event that is there already.
    pub fn waiting(&mut self) -> Option<Event> {
        while self.ready.is_empty() {
            let event = self.reader.as_mut()?.waiting()?;
            self.take_in(event, Instant::now());
        }
        self.ready.pop_front()
    }

    fn take_in(&mut self, event: Event, now: Instant) {
        let mut through = Vec::new();
        self.answers.push(event, now, &mut through);
        for event in through {
            self.filter.push(event, now, &mut self.ready);
        }
    }

    /// Hands on what has waited long enough for the rest of a sequence.
    fn let_go(&mut self, now: Instant) {
        let mut through = Vec::new();
        self.answers.expire(now, &mut through);
        for event in through {
            self.filter.push(event, now, &mut self.ready);
        }
        self.filter.expire(now, &mut self.ready);
    }

    /// Asks the terminal for its background, where it can be asked; the answer may come late, or never.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn ask_background(&mut self) -> io::Result<()> {
        if self.is_modern() && !self.is_away() {
            self.answers.ask(Instant::now());
            self.screen.send(osc_replies::QUESTION)?;
        }
        Ok(())
    }

    /// Waits for an answer of the terminal that is still on its way, a moment at most: after the end it would be typed into
    /// the shell.
    pub async fn await_answer(&mut self) {
        while let Some(deadline) = self.answers.awaited_until() {
            match tokio::time::timeout_at(deadline.into(), next_event(self.reader.as_mut())).await {
                Ok(Some(event)) => self.answers.push(event, Instant::now(), &mut Vec::new()),
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Whether the terminal is left to the shell, or lent.
    pub fn is_away(&self) -> bool {
        self.is_away
    }

    /// Gives the terminal back and stops the process group. True when it was stopped and continued: SIGCONT then comes
    /// as a [`Happening`], and [`Self::come_back`] is the answer to it. False when nobody could have continued it: the
    /// terminal is taken over again.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn leave(&mut self) -> io::Result<bool> {
        self.hand_over();
        if stop_group() {
            return Ok(true);
        }
        self.come_back()?;
        Ok(false)
    }

    /// Gives the terminal to a program that is about to start; [`Self::come_back`] takes it over again.
    pub fn hand_over(&mut self) {
        self.reader = None;
        self.is_away = true;
        self.guard.0.give_back();
    }

    /// Takes the terminal over again, whatever became of it meanwhile; the next frame is drawn whole.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn come_back(&mut self) -> io::Result<()> {
        self.hand_over();
        self.guard.0.take()?;
        self.begin_reading()?;
        self.is_away = false;
        let title = std::mem::take(&mut self.title);
        self.screen.forget();
        self.set_title(title)
    }

    /// Sets the window's title where the old one can be given back.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn set_title(&mut self, title: CleanText) -> io::Result<()> {
        if self.guard.0.kind().titles && title != self.title {
            self.screen.send(&title_sequence(&title))?;
            self.title = title;
        }
        Ok(())
    }
}

/// Whether something is typed that nobody has read.
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

/// Waits until that moment, or for ever when there is none.
pub async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}
