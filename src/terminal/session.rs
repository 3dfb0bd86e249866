//! The terminal as the event loop uses it: draws on the screen, waits for events and signals, and gives the terminal to
//! the shell or to a program for a while.

use super::backend::TerminalScreen;
use super::background;
use super::caps::TerminalCaps;
use super::hangup::HangupWatch;
use super::input_decoder::InputDecoder;
use super::modes::TerminalGuard;
use super::reader::Reader;
use super::signals::{ResizeStream, Signal, SignalStream, stop_process_group};
use super::tty::{Tty, terminal_size};
use crossterm::event::Event;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use std::collections::VecDeque;
use std::io;
use std::panic::PanicHookInfo;
use std::time::Instant;

/// An event of the terminal or the system.
#[derive(Debug)]
pub enum TerminalEvent {
    Input(Event),
    Signal(Signal),
    /// The terminal reported its background colour: red, green and blue.
    Background([u8; 3]),
}

/// The terminal, taken over by this program. After [`Self::release`], the shell or another program uses it until
/// [`Self::resume`].
#[derive(Debug)]
pub struct TerminalSession {
    screen: TerminalScreen<Tty>,
    /// `None` before [`Self::begin_reading`] and while the terminal is released.
    reader: Option<Reader>,
    guard: TerminalGuard,
    is_released: bool,
    decoder: InputDecoder,
    ready_events: VecDeque<Event>,
    signals: SignalStream,
    resizes: ResizeStream,
    hangup: HangupWatch,
    title: String,
}

impl TerminalSession {
    /// Takes over the terminal, with mouse reports if `reports_mouse` is set, and installs a panic hook. The hook
    /// restores the terminal, then calls `report_panic`. Characters for which `is_hidden` is true are removed from
    /// every frame.
    ///
    /// # Errors
    /// Fails if the terminal or its size is not available.
    pub fn open(
        caps: TerminalCaps,
        reports_mouse: bool,
        is_hidden: fn(char) -> bool,
        report_panic: impl Fn(&PanicHookInfo<'_>) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let (signals, resizes) = (SignalStream::listen()?, ResizeStream::listen()?);
        let guard = TerminalGuard::new(caps, reports_mouse, report_panic);
        guard.take_over()?;
        let screen = TerminalScreen::new(Tty::stdout()?, terminal_size()?.into(), caps.is_modern, is_hidden)?;
        Ok(Self {
            screen,
            guard,
            reader: None,
            is_released: false,
            decoder: InputDecoder::default(),
            ready_events: VecDeque::new(),
            signals,
            resizes,
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
    /// The frame begins with the cells that `prepare_next` has left in the buffer of the last frame, or with blank ones
    /// if the size has changed. `prepare_next` is called after the frame was sent.
    ///
    /// # Errors
    /// Fails if the terminal is gone.
    pub fn draw(
        &mut self,
        size: (u16, u16),
        shows_cursor: bool,
        render: impl FnOnce(&mut Frame<'_>),
        prepare_next: impl FnOnce(&mut Buffer),
    ) -> io::Result<()> {
        let render = |frame: &mut Frame<'_>| {
            if !frame.buffer_mut().area.is_empty() {
                render(frame);
            }
        };
        self.screen.draw(size.into(), shows_cursor, render, prepare_next)
    }

    /// Clears the terminal before the next frame, which is then drawn completely.
    pub fn invalidate(&mut self) {
        self.screen.clear();
    }

    /// Sends a sequence that draws nothing, between two frames.
    ///
    /// # Errors
    /// Fails if the terminal is gone.
    pub fn send(&mut self, sequence: &[u8]) -> io::Result<()> {
        self.screen.send(sequence)
    }

    /// Copies the text to the clipboard of the user's terminal, even over SSH. Terminals don't confirm that they have
    /// copied a text, and many of them ignore texts of more than 74,994 bytes.
    ///
    /// # Errors
    /// Fails if the terminal is gone.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        self.send(&self.caps().multiplexer.clipboard_sequence(text))
    }

    /// Starts to read input. From now on events arrive, including keys that were typed earlier.
    ///
    /// # Errors
    /// Fails if there is no terminal from which to read.
    pub fn begin_reading(&mut self) -> io::Result<()> {
        self.reader = Some(Reader::open()?);
        Ok(())
    }

    /// Sets whether the terminal reports the mouse, now and whenever it is taken over again.
    ///
    /// # Errors
    /// Fails if the terminal is gone.
    pub fn set_mouse(&mut self, on: bool) -> io::Result<()> {
        let sequences = self.guard.set_mouse(on);
        if self.is_released() { Ok(()) } else { self.send(sequences.as_bytes()) }
    }

    /// Returns the columns and rows of the terminal.
    ///
    /// # Errors
    /// Fails if the system does not report a size.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        terminal_size()
    }

    /// Waits for the next event. Cancel safe.
    pub async fn next(&mut self) -> TerminalEvent {
        let Self { reader, decoder, ready_events, .. } = self;
        loop {
            if let Some(event) = ready_events.pop_front() {
                return TerminalEvent::Input(event);
            }
            if let Some(background) = decoder.take_background() {
                return TerminalEvent::Background(background);
            }
            let release_at = decoder.release_deadline();
            tokio::select! {
                signal = self.signals.next() => return TerminalEvent::Signal(signal),
                () = self.hangup.wait_for_hangup() => return TerminalEvent::Signal(Signal::Hangup),
                () = self.resizes.next() => if let Ok((columns, rows)) = terminal_size() {
                    return TerminalEvent::Input(Event::Resize(columns, rows));
                },
                is_open = read_input(reader.as_mut(), decoder, ready_events) => if !is_open {
                    return TerminalEvent::Signal(Signal::Hangup);
                },
                () = sleep_until_moment(release_at) => decoder.release_expired(Instant::now(), ready_events),
            }
        }
    }

    /// Returns an input event that is already available, if any.
    pub fn try_next(&mut self) -> Option<Event> {
        if self.ready_events.is_empty() {
            self.reader.as_mut()?.try_read(&mut self.decoder, &mut self.ready_events);
        }
        self.ready_events.pop_front()
    }

    /// Asks the terminal for its background colour, unless the terminal would print unknown sequences. The reply may
    /// arrive late or never.
    ///
    /// # Errors
    /// Fails if the terminal is gone.
    pub fn request_background(&mut self) -> io::Result<()> {
        if self.caps().is_modern && !self.is_released() {
            self.decoder.expect_reply(Instant::now());
            self.send(background::QUERY)?;
        }
        Ok(())
    }

    /// Waits briefly for a pending reply of the terminal, if any, so that the program that uses the terminal next, such
    /// as the shell, doesn't read the reply as typed text.
    pub async fn await_pending_reply(&mut self) {
        while let Some(deadline) = self.decoder.reply_deadline() {
            let read = read_input(self.reader.as_mut(), &mut self.decoder, &mut self.ready_events);
            if !tokio::time::timeout_at(deadline.into(), read).await.is_ok_and(|is_open| is_open) {
                return;
            }
        }
    }

    /// Whether the shell or another program has the terminal.
    pub fn is_released(&self) -> bool {
        self.is_released
    }

    /// Restores the terminal and stops the process group. Returns true after the group was stopped and continued;
    /// SIGCONT then arrives as a [`TerminalEvent`], and the caller has to call [`Self::resume`]. If there is no shell
    /// that could continue the group, doesn't stop it, takes the terminal over again and returns false.
    ///
    /// # Errors
    /// Fails if the terminal is gone.
    pub fn suspend_process(&mut self) -> io::Result<bool> {
        self.release();
        if stop_process_group() {
            return Ok(true);
        }
        self.resume()?;
        Ok(false)
    }

    /// Restores the terminal for a program that is about to start. [`Self::resume`] takes the terminal over again.
    pub fn release(&mut self) {
        self.reader = None;
        self.is_released = true;
        self.guard.restore();
    }

    /// Takes the terminal over again, even if it was not released. The next frame is drawn completely.
    ///
    /// # Errors
    /// Fails if the terminal is gone.
    pub fn resume(&mut self) -> io::Result<()> {
        self.release();
        self.guard.take_over()?;
        self.begin_reading()?;
        self.is_released = false;
        self.invalidate();
        let title = std::mem::take(&mut self.title);
        self.set_title(&title)
    }

    /// Sets the window title, without control characters, if the terminal can restore the previous title later.
    ///
    /// # Errors
    /// Fails if the terminal is gone.
    pub fn set_title(&mut self, title: &str) -> io::Result<()> {
        if self.caps().sets_title && title != self.title {
            let text: String = title.chars().filter(|c| !c.is_control()).collect();
            self.send(format!("\x1b]2;{text}\x07").as_bytes())?;
            title.clone_into(&mut self.title);
        }
        Ok(())
    }
}

/// Reads input, or waits forever if there is no reader. Returns false at the end of the input. Cancel safe.
async fn read_input(reader: Option<&mut Reader>, decoder: &mut InputDecoder, out: &mut VecDeque<Event>) -> bool {
    match reader {
        Some(reader) => reader.read(decoder, out).await,
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
