//! Reads the terminal on a separate thread, so that the event loop never blocks. crossterm may block or spin inside a
//! read: after a partial sequence, or if the terminal is gone. Dropping the reader ends the reading.
//!
//! `EventStream` is used only to interrupt a poll, because polling the stream itself would switch threads for every
//! event. Cargo.toml selects crossterm's `use-dev-tty` source: the default source is edge-triggered and misses a key
//! that arrives together with a resize.
//!
//! Known limitation: crossterm mistakes the report of a terminal mode (DECRPM, `ESC [ ? 2026 ; 2 $ y`) for the start of
//! a sequence that ends in `u` or `c`, and swallows typed keys up to such a letter. This module never requests a mode,
//! so such a report arrives only if the previous program requested it and exited too early. crossterm emits no event
//! for the report, so it can't be filtered out here.

use crossterm::event::{Event, EventStream, poll, read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// Maximum number of buffered events. Further input stays in the terminal's own buffer.
const CAPACITY: usize = 1024;
/// Timeout of one poll. Its length doesn't matter, because a poll can be interrupted.
const POLL_TIMEOUT: Duration = Duration::from_secs(3600);
/// How long `drop` waits for the reader's thread to end, so that later input goes to the shell.
const STOP_TIMEOUT: Duration = Duration::from_millis(50);

/// A thread that reads the terminal, and the events that it has read, in order.
#[derive(Debug)]
pub(super) struct Reader {
    events: mpsc::Receiver<Event>,
    shared: Arc<ReaderState>,
    ended: Receiver<()>,
}

#[derive(Debug, Default)]
struct ReaderState {
    stop: AtomicBool,
    /// Dropping the stream interrupts a poll.
    interrupt: Mutex<Option<EventStream>>,
}

impl ReaderState {
    fn set_interrupt(&self, to: Option<EventStream>) {
        *self.interrupt.lock().unwrap_or_else(PoisonError::into_inner) = to;
    }
}

impl Reader {
    /// Starts to watch for resizes, even before [`Self::start`]. Returns at once.
    ///
    /// # Errors
    /// There is no terminal from which to read.
    pub(super) fn listen() -> std::io::Result<()> {
        poll(Duration::ZERO).map(|_| ())
    }

    /// Starts a thread that reads the terminal.
    ///
    /// # Errors
    /// No thread can be started, or there is no terminal from which to read.
    pub(super) fn start() -> std::io::Result<Self> {
        Self::listen()?;
        let (sender, events) = mpsc::channel(CAPACITY);
        let (end, ended) = channel();
        let shared = Arc::new(ReaderState::default());
        let state = Arc::clone(&shared);
        std::thread::Builder::new().name("terminal".into()).spawn(move || read_events(&sender, &state, end))?;
        Ok(Self { events, shared, ended })
    }

    /// Waits for the next event. Returns `None` at the end of the input. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Returns an event that is already available, if any.
    pub(super) fn try_next(&mut self) -> Option<Event> {
        self.events.try_recv().ok()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.set_interrupt(None);
        self.events.close();
        // After a partial sequence, the thread ends only when the next byte arrives, so don't wait longer for it.
        let _ = self.ended.recv_timeout(STOP_TIMEOUT);
    }
}

/// Reads until the reader is dropped or the input ends. Dropping `_end` signals that the thread has ended.
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
