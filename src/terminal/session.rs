//! The terminal as the event loop uses it: draws on the screen, waits for events and signals, and gives the terminal to
//! the shell or to a program for a while.

use super::backend::FrameBackend;
use super::caps::TerminalCaps;
use super::escape_reassembly::EscapeReassembler;
use super::hangup::HangupWatch;
use super::modes::TerminalGuard;
use super::osc_replies::{self, OscReplyFilter};
use super::reader::Reader;
use super::signals::{Signal, SignalStream, stop_group};
use super::tty::{Tty, terminal_size};
use crossterm::event::Event;
use ratatui::{Frame, Terminal};
use std::collections::VecDeque;
use std::io;
use std::panic::PanicHookInfo;
use std::time::{Duration, Instant};

/// The maximum time to wait for the reader to read what was typed so far.
const READ_TIMEOUT: Duration = Duration::from_millis(20);

/// An event of the terminal or the system.
#[derive(Debug)]
pub enum TerminalEvent {
    Event(Event),
    Signal(Signal),
    /// The terminal reported its background colour: red, green and blue.
    Background([u8; 3]),
}

/// The terminal, taken over by this program. While `is_away` is set, the shell or another program uses it.
#[derive(Debug)]
pub struct TerminalSession {
    screen: Terminal<FrameBackend<Tty>>,
    /// `None` before [`Self::begin_reading`] and while `is_away` is set. Declared before `guard`, so that the reader is
    /// dropped first. Then reading ends before the terminal is restored, and later input goes to the shell.
    reader: Option<Reader>,
    guard: TerminalGuard,
    is_away: bool,
    osc_filter: OscReplyFilter,
    escape_filter: EscapeReassembler,
    ready_events: VecDeque<Event>,
    signals: SignalStream,
    hangup: HangupWatch,
    title: String,
}

impl TerminalSession {
    /// Takes over the terminal, with mouse reports if `mouse` is set, and installs a panic hook. The hook restores the
    /// terminal, then calls `report_panic`.
    ///
    /// # Errors
    /// The terminal or its size is not available.
    pub fn open(
        caps: TerminalCaps,
        mouse: bool,
        report_panic: impl Fn(&PanicHookInfo<'_>) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let signals = SignalStream::listen()?;
        let guard = TerminalGuard::new(caps, mouse, report_panic);
        guard.take_over()?;
        let screen = Terminal::new(FrameBackend::new(Tty::stdout()?, terminal_size()?.into(), caps.modern))?;
        Ok(Self {
            screen,
            guard,
            reader: None,
            is_away: false,
            osc_filter: OscReplyFilter::default(),
            escape_filter: EscapeReassembler::default(),
            ready_events: VecDeque::new(),
            signals,
            hangup: HangupWatch::watch(),
            title: String::new(),
        })
    }

    pub fn caps(&self) -> TerminalCaps {
        self.guard.caps()
    }

    /// Draws a frame of this size. Sends the changes since the last frame in a single write, or nothing if there are
    /// none. The cursor moves to the position that the frame sets, and is visible if `shows_cursor` is true.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(
        &mut self,
        size: (u16, u16),
        shows_cursor: bool,
        render: impl FnOnce(&mut Frame<'_>),
    ) -> io::Result<()> {
        self.screen.backend_mut().prepare(size.into(), shows_cursor);
        self.screen.draw(|frame| {
            if !frame.area().is_empty() {
                render(frame);
            }
        })?;
        Ok(())
    }

    /// Clears the terminal before the next frame, which is then drawn completely.
    ///
    /// # Errors
    /// Never fails; ratatui's signature requires the `Result`.
    pub fn invalidate(&mut self) -> io::Result<()> {
        self.screen.clear()
    }

    /// Sends a sequence that draws nothing, between two frames.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn send(&mut self, sequence: &[u8]) -> io::Result<()> {
        self.screen.backend_mut().send(sequence)
    }

    /// Copies the text to the clipboard of the user's terminal, even over SSH. No terminal confirms that, and many
    /// terminals ignore texts of more than 74,994 bytes.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        self.send(&self.caps().multiplexer.copy_sequence(text))
    }

    /// Starts to watch for resizes, even before [`Self::begin_reading`]. Returns at once.
    ///
    /// # Errors
    /// There is no terminal from which to read.
    pub fn watch_resizes(&self) -> io::Result<()> {
        Reader::listen()
    }

    /// Starts to read input. From now on events arrive, including keys that were typed earlier.
    ///
    /// # Errors
    /// No thread can be started, or there is no terminal from which to read.
    pub fn begin_reading(&mut self) -> io::Result<()> {
        self.reader = Some(Reader::start()?);
        Ok(())
    }

    /// Waits briefly until the reader has read what was typed so far. Otherwise an Esc that is read together with the
    /// terminal's next reply would look like a part of that reply.
    pub async fn wait_for_typed_input(&self) {
        let until = Instant::now() + READ_TIMEOUT;
        while terminal_has_input() && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Sets whether the terminal reports the mouse, now and whenever it is taken over again.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn set_mouse(&mut self, on: bool) -> io::Result<()> {
        let sequences = self.guard.set_mouse(on);
        if self.is_away() { Ok(()) } else { self.send(sequences.as_bytes()) }
    }

    /// Returns the columns and rows of the terminal.
    ///
    /// # Errors
    /// The system does not report a size.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        terminal_size()
    }

    /// Waits for the next event. Cancel safe.
    pub async fn next(&mut self) -> TerminalEvent {
        loop {
            if let Some(event) = self.ready_events.pop_front() {
                return TerminalEvent::Event(event);
            }
            if let Some(background) = self.osc_filter.take_background() {
                return TerminalEvent::Background(background);
            }
            let release_at = [self.escape_filter.deadline(), self.osc_filter.deadline()].into_iter().flatten().min();
            tokio::select! {
                signal = self.signals.next() => return TerminalEvent::Signal(signal),
                () = self.hangup.wait_for_hangup() => return TerminalEvent::Signal(Signal::Hangup),
                event = next_event(self.reader.as_mut()) => match event {
                    Some(event) => self.push_event(event, Instant::now()),
                    None => return TerminalEvent::Signal(Signal::Hangup),
                },
                () = sleep_until_moment(release_at) => self.release_held(Instant::now()),
            }
        }
    }

    /// Returns an event that is already available, if any.
    pub fn try_next(&mut self) -> Option<Event> {
        while self.ready_events.is_empty() {
            let event = self.reader.as_mut()?.try_next()?;
            self.push_event(event, Instant::now());
        }
        self.ready_events.pop_front()
    }

    fn push_event(&mut self, event: Event, now: Instant) {
        let mut passed = Vec::new();
        self.osc_filter.push(event, now, &mut passed);
        for event in passed {
            self.escape_filter.push(event, now, &mut self.ready_events);
        }
    }

    /// Passes on held keys if the rest of a possible sequence has not followed in time.
    fn release_held(&mut self, now: Instant) {
        let mut passed = Vec::new();
        self.osc_filter.expire(now, &mut passed);
        for event in passed {
            self.escape_filter.push(event, now, &mut self.ready_events);
        }
        self.escape_filter.expire(now, &mut self.ready_events);
    }

    /// Asks the terminal for its background colour, unless it would print unknown sequences. The reply may be late or
    /// never come.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn ask_background(&mut self) -> io::Result<()> {
        if self.caps().modern && !self.is_away() {
            self.osc_filter.expect_reply(Instant::now());
            self.send(osc_replies::QUERY)?;
        }
        Ok(())
    }

    /// Waits briefly for the terminal's pending reply, if any. Otherwise the shell would read the reply as typed text.
    pub async fn await_pending_reply(&mut self) {
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

    /// Restores the terminal and stops the process group. Returns true once the group was stopped and continued:
    /// SIGCONT then arrives as a [`TerminalEvent`], and the caller has to call [`Self::resume`]. Returns false if no
    /// shell could continue the group. Then the group was not stopped, and the terminal is taken over again.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn suspend_process(&mut self) -> io::Result<bool> {
        self.release();
        if stop_group() {
            return Ok(true);
        }
        self.resume()?;
        Ok(false)
    }

    /// Restores the terminal for a program that is about to start. [`Self::resume`] takes the terminal over again.
    pub fn release(&mut self) {
        self.reader = None;
        self.is_away = true;
        self.guard.restore();
    }

    /// Takes the terminal over again, even if it was not released. The next frame is drawn completely.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn resume(&mut self) -> io::Result<()> {
        self.release();
        self.guard.take_over()?;
        self.begin_reading()?;
        self.is_away = false;
        self.invalidate()?;
        let title = std::mem::take(&mut self.title);
        self.set_title(&title)
    }

    /// Sets the window title, without control characters, if the terminal can restore the previous title later.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn set_title(&mut self, title: &str) -> io::Result<()> {
        if self.caps().sets_title && title != self.title {
            let text: String = title.chars().filter(|c| !c.is_control()).collect();
            self.send(format!("\x1b]2;{text}\x07").as_bytes())?;
            title.clone_into(&mut self.title);
        }
        Ok(())
    }
}

/// Whether the terminal has input that was not read yet.
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

/// Sleeps until `moment`, or forever if it is `None`.
pub async fn sleep_until_moment(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}
