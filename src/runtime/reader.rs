//! Reads the terminal on a thread of its own, since crossterm may block or spin inside a read (a sequence cut in the
//! middle, a terminal that is gone), which must not stop the event loop. Dropping the reader ends the reading.
//!
//! Polling `EventStream` would hop between threads for every event; here it is only the way to interrupt a poll. The
//! `use-dev-tty` source is chosen in Cargo.toml: the usual one is edge-triggered and forgets a key that comes with a resize.
//!
//! One gap is left: crossterm takes the report of a terminal's mode (DECRPM, `ESC [ ? 2026 ; 2 $ y`) for the beginning of
//! something that ends in `u` or `c`, and swallows what is typed up to such a letter. docdeck never asks for a mode, so
//! one comes only if a program before it asked and left; no event tells of it, so nothing here can take it out.

use crossterm::event::{Event, EventStream, poll, read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// Events that wait here before the terminal has to hold them.
const WAITING: usize = 1024;
/// One poll; any time will do.
const LONG: Duration = Duration::from_secs(3600);
/// How long the end of the reading is waited for, so that what is typed next goes to the shell.
const FAREWELL: Duration = Duration::from_millis(50);

/// Events of the terminal, in order; none any more when the input has ended.
#[derive(Debug)]
pub struct Reader {
    events: mpsc::Receiver<Event>,
    shared: Arc<ReaderState>,
    ended: Receiver<()>,
}

#[derive(Debug, Default)]
struct ReaderState {
    stop: AtomicBool,
    /// Interrupts a poll when dropped.
    interrupt: Mutex<Option<EventStream>>,
}

impl ReaderState {
    fn set_interrupt(&self, to: Option<EventStream>) {
        *self.interrupt.lock().unwrap_or_else(PoisonError::into_inner) = to;
    }
}

impl Reader {
    /// From here on a change of the terminal's size is told of, by the reader that is started next. Nothing is waited for.
    ///
    /// # Errors
    /// There is no terminal to read.
    pub fn listen() -> std::io::Result<()> {
        poll(Duration::ZERO).map(|_| ())
    }

    /// Begins to read.
    ///
    /// # Errors
    /// No thread can be had, or there is no terminal to read.
    pub fn start() -> std::io::Result<Self> {
        Self::listen()?;
        let (sender, events) = mpsc::channel(WAITING);
        let (end, ended) = channel();
        let shared = Arc::new(ReaderState::default());
        let own = Arc::clone(&shared);
        std::thread::Builder::new().name("terminal".into()).spawn(move || run(&sender, &own, end))?;
        Ok(Self { events, shared, ended })
    }

    /// The next event; `None` at the end of the input. Nothing is lost when this is dropped while waiting.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// An event that is there already.
    pub fn waiting(&mut self) -> Option<Event> {
        self.events.try_recv().ok()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.set_interrupt(None);
        self.events.close();
        // In the middle of a cut sequence it ends with the next byte only, and is left to itself.
        let _ = self.ended.recv_timeout(FAREWELL);
    }
}

/// Reads until told to stop, or the input has ended. `_end` is dropped at the end, which is what tells of it.
fn run(sender: &mpsc::Sender<Event>, shared: &ReaderState, _end: Sender<()>) {
    shared.set_interrupt(Some(EventStream::new()));
    while !shared.stop.load(Ordering::SeqCst) {
        let event = match poll(LONG) {
            Ok(true) => read(),
            Ok(false) => continue,
            Err(error) => Err(error),
        };
        // An error repeats for ever once the terminal is gone.
        let Ok(event) = event else { return };
        if sender.blocking_send(event).is_err() {
            return;
        }
    }
}
