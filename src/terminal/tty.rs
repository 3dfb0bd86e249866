//! Writes to the terminal and returns its size.

use std::io::{self, Write};

/// The terminal to which stdout writes. On Unix, writes bypass the standard library's line buffer, which would split a
/// frame into several writes.
#[derive(Debug)]
pub struct Tty {
    #[cfg(unix)]
    out: std::fs::File,
    #[cfg(not(unix))]
    out: io::Stdout,
}

impl Tty {
    /// Opens the terminal to which stdout writes.
    ///
    /// # Errors
    /// Fails if stdout is closed.
    pub fn stdout() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            Ok(Self { out: std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?) })
        }
        #[cfg(not(unix))]
        {
            Ok(Self { out: io::stdout() })
        }
    }
}

impl Write for Tty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.out.write(bytes) {
                // Another process has made the shared terminal non-blocking, and the terminal's buffer is full. Wait
                // until the buffer has space again.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                other => return other,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns the columns and rows of the terminal. On Unix, queries the system through stdout, because crossterm would
/// reopen the terminal each time.
///
/// # Errors
/// Fails if the system does not report a size.
pub fn terminal_size() -> io::Result<(u16, u16)> {
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(io::stdout())
        && size.ws_col > 0
        && size.ws_row > 0
    {
        return Ok((size.ws_col, size.ws_row));
    }
    crossterm::terminal::size()
}
