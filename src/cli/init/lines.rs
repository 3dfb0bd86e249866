//! Asks questions as plain lines on stderr and reads the answers from stdin. Ctrl-C cancels. The terminal's echo is
//! restored in every case.

use super::super::error::CliError;
use super::super::exit_code::Code;
use crate::model::text::filter_output;
use crate::terminal::signals::SignalStream;
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// The maximum length of an answer in bytes. The buffer is allocated once, because a reallocation would leave a copy of
/// an API key that is not wiped.
const MAX_ANSWER_BYTES: usize = 4096;

/// Asks a question and returns the answer without blanks around it.
pub(super) async fn ask_line(question: &str) -> Result<String, CliError> {
    Ok(read_answer(question).await?.trim().to_owned())
}

/// Asks for a secret without showing what is typed.
#[cfg(unix)]
pub(super) async fn ask_secret(question: &str) -> Result<Zeroizing<String>, CliError> {
    let _quiet = quiet::EchoOff::begin().map_err(|_| CliError::unusable("This terminal can't hide what is typed."))?;
    read_answer(question).await
}

/// Asks for a secret without showing what is typed.
#[cfg(not(unix))]
pub(super) async fn ask_secret(_: &str) -> Result<Zeroizing<String>, CliError> {
    Err(CliError::unusable(
        "This terminal can't hide what is typed: use a command or a file, or the setup page of `docdeck`.",
    ))
}

async fn read_answer(question: &str) -> Result<Zeroizing<String>, CliError> {
    print_question(question);
    let read = tokio::select! {
        read = tokio::task::spawn_blocking(read_line) => read,
        () = wait_for_signal() => {
            eprintln!();
            return Err(CliError::new(Code::Interrupted, "Nothing was written."));
        }
    };
    let unread = || CliError::unusable("The input ended before the last question. Nothing was written.");
    read.ok().and_then(Result::ok).flatten().ok_or_else(unread)
}

/// Prints text on stderr, without a line break.
fn print_question(text: &str) {
    let mut err = io::stderr().lock();
    // A closed stderr is not an error.
    let _ = err.write_all(filter_output(text).as_bytes()).and_then(|()| err.flush());
}

/// Reads a line of the input byte by byte, so that no buffer keeps parts of an API key or of the next answer. Returns
/// `None` at the end of the input.
fn read_line() -> io::Result<Option<Zeroizing<String>>> {
    let mut input = open_stdin()?;
    let mut line = Zeroizing::new(Vec::with_capacity(MAX_ANSWER_BYTES));
    let mut byte = Zeroizing::new([0]);
    while input.read(byte.as_mut_slice())? > 0 {
        match *byte {
            [b'\n'] => return Ok(Some(Zeroizing::new(String::from_utf8_lossy(&line).into_owned()))),
            [other] if line.len() < MAX_ANSWER_BYTES => line.push(other),
            _ => {}
        }
    }
    Ok(None)
}

/// Returns stdin without the standard library's buffer, which could keep parts of a key in memory.
#[cfg(unix)]
fn open_stdin() -> io::Result<impl Read> {
    use std::os::fd::AsFd;
    io::stdin().as_fd().try_clone_to_owned().map(std::fs::File::from)
}

#[cfg(not(unix))]
fn open_stdin() -> io::Result<impl Read> {
    Ok(io::stdin())
}

/// Waits for Ctrl-C, or another signal that asks the program to end.
async fn wait_for_signal() {
    match SignalStream::listen_for_end() {
        Ok(mut signals) => {
            signals.next().await;
        }
        Err(_) => std::future::pending().await,
    }
}

#[cfg(unix)]
mod quiet {
    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
    use std::io;

    /// Turns the terminal's echo off until this value is dropped.
    pub(super) struct EchoOff(Termios);

    impl EchoOff {
        pub(super) fn begin() -> io::Result<Self> {
            let before = tcgetattr(io::stdin())?;
            let mut quiet = before.clone();
            quiet.local_modes.remove(LocalModes::ECHO);
            quiet.local_modes.insert(LocalModes::ECHONL);
            // Ctrl-Z is disabled: while docdeck is suspended, the shell would turn the echo on, and the key would be
            // visible.
            quiet.special_codes[SpecialCodeIndex::VSUSP] = 0;
            tcsetattr(io::stdin(), OptionalActions::Now, &quiet)?;
            Ok(Self(before))
        }
    }

    impl Drop for EchoOff {
        fn drop(&mut self) {
            // This fails only if the terminal is gone, and then there is nothing to restore.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        }
    }
}
