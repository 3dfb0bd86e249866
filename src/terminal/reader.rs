//! Reads the terminal within the event loop, because passing each key on from a separate thread would take longer.
//! After the reader is dropped, input stays in the terminal for the program that reads it next.

use super::input_decoder::InputDecoder;
use crossterm::event::Event;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::time::Instant;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Maximum number of bytes per read, so that a flood of input doesn't delay the next frame.
const MAX_READ_BYTES: usize = 1024;

/// The input of the terminal.
#[derive(Debug)]
pub(super) struct Reader(AsyncFd<File>);

impl Reader {
    /// Opens the input: stdin, or the controlling terminal if stdin is something else.
    ///
    /// # Errors
    /// Fails if there is no terminal from which to read.
    pub(super) fn open() -> io::Result<Self> {
        let stdin = io::stdin();
        let file =
            if stdin.is_terminal() { stdin.as_fd().try_clone_to_owned()?.into() } else { File::open("/dev/tty")? };
        #[expect(deprecated, reason = "its successor asks for unsafe code; the descriptor is owned and stays open")]
        AsyncFd::with_interest(file, Interest::READABLE).map(Self)
    }

    /// Waits for input and decodes it. Appends the events to `out`. Returns false at the end of the input. Cancel safe.
    pub(super) async fn read(&mut self, decoder: &mut InputDecoder, out: &mut impl Extend<Event>) -> bool {
        loop {
            let Ok(mut guard) = self.0.readable_mut().await else { return false };
            if has_input(guard.get_inner()) {
                return read_chunk(guard.get_inner_mut(), decoder, out);
            }
            guard.clear_ready();
        }
    }

    /// Decodes the input that is already available, if any. Appends the events to `out`.
    pub(super) fn try_read(&mut self, decoder: &mut InputDecoder, out: &mut impl Extend<Event>) {
        if has_input(self.0.get_ref()) {
            // Ignores the end of the input, which the next `read` will report.
            read_chunk(self.0.get_mut(), decoder, out);
        }
    }
}

/// Whether a read would return at once. Checked before each read, because the terminal can't be made non-blocking:
/// other processes share it.
fn has_input(tty: &File) -> bool {
    poll(&mut [PollFd::new(tty, PollFlags::IN)], Some(&Timespec::default())).is_ok_and(|count| count > 0)
}

fn read_chunk(tty: &mut File, decoder: &mut InputDecoder, out: &mut impl Extend<Event>) -> bool {
    let mut chunk = [0; MAX_READ_BYTES];
    match tty.read(&mut chunk) {
        Ok(0) => false,
        Ok(length) => {
            decoder.push(chunk.get(..length).unwrap_or_default(), Instant::now(), out);
            true
        }
        Err(error) => matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock),
    }
}
