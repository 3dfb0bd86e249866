//! Reads the terminal on a separate thread, since crossterm may block or spin inside a read (after a partial
//! sequence, or if the terminal is gone), which must not stop the event loop. Dropping the reader ends the reading.
//!
//! Polling `EventStream` would switch threads for every event; here it is only used to interrupt a poll. Cargo.toml
//! selects the `use-dev-tty` source: the default one is edge-triggered and misses a key that arrives with a resize.
//!
//! One gap remains: crossterm mistakes the report of a terminal mode (DECRPM, `ESC [ ? 2026 ; 2 $ y`) for the start
//! of a sequence that ends in `u` or `c`, and swallows typed keys up to such a letter. docdeck never requests a mode,
//! so a report comes only if a program before it did and exited; crossterm emits no event for it, so it can't be
//! filtered out here.

use crossterm::event::{Event, EventStream, poll, read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// Number of events that are buffered here before the terminal has to keep them.
const CAPACITY: usize = 1024;
/// Timeout of one poll; its length doesn't matter.
const POLL_TIMEOUT: Duration = Duration::from_secs(3600);
/// How long to wait for the thread to end, so that later input goes to the shell.
const STOP_TIMEOUT: Duration = Duration::from_millis(50);

/// Events of the terminal in order, until the input ends.
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
    /// Starts to watch for resizes, for the reader that is started next. Returns at once.
    ///
    /// # Errors
    /// There is no terminal to read.
    pub fn listen() -> std::io::Result<()> {
        poll(Duration::ZERO).map(|_| ())
    }

    /// Starts to read.
    ///
    /// # Errors
    /// No thread can be started, or there is no terminal to read.
    pub fn start() -> std::io::Result<Self> {
        Self::listen()?;
        let (sender, events) = mpsc::channel(CAPACITY);
        let (end, ended) = channel();
        let shared = Arc::new(ReaderState::default());
        let state = Arc::clone(&shared);
        std::thread::Builder::new().name("terminal".into()).spawn(move || read_events(&sender, &state, end))?;
        Ok(Self { events, shared, ended })
    }

    /// The next event; `None` at the end of the input. Cancel safe.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// An event that is already available.
    pub fn try_next(&mut self) -> Option<Event> {
        self.events.try_recv().ok()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.set_interrupt(None);
        self.events.close();
        // Within a partial sequence the thread ends only at the next byte, so it is left alone.
        let _ = self.ended.recv_timeout(STOP_TIMEOUT);
    }
}

/// Reads until stopped or until the input ends. Dropping `_end` signals the end.
fn read_events(sender: &mpsc::Sender<Event>, shared: &ReaderState, _end: Sender<()>) {
    shared.set_interrupt(Some(EventStream::new()));
    while !shared.stop.load(Ordering::SeqCst) {
        let event = match poll(POLL_TIMEOUT) {
            Ok(true) => read(),
            Ok(false) => continue,
            Err(error) => Err(error),
        };
        // Once the terminal is gone, the error repeats forever.
        let Ok(event) = event else { return };
        if sender.blocking_send(event).is_err() {
            return;
        }
    }
}
