//! Asks questions as plain lines on stderr and reads the answers from stdin. Ctrl-C cancels. The terminal's echo is
//! restored in every case.

use super::super::error::CliError;
use super::super::exit_code::Code;
use crate::model::text::filter_output;
use crate::terminal::signals::SignalStream;
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// Asks questions and reads each answer as one line.
#[derive(Debug, Default)]
pub(super) struct AnswerReader {
    /// Input that was read after the end of the last answer: the start of the next answer. It may contain an API key.
    unread_input: Zeroizing<Vec<u8>>,
}

impl AnswerReader {
    /// Asks a question. Returns `default` if the answer is empty.
    pub(super) async fn ask(&mut self, question: &str, default: &str) -> Result<String, CliError> {
        let shown_default = if default.is_empty() { String::new() } else { format!(" [{default}]") };
        let line = self.read_answer(&format!("{question}{shown_default}: ")).await?;
        let typed = line.trim();
        Ok(if typed.is_empty() { default.to_owned() } else { typed.to_owned() })
    }

    /// Asks for confirmation. Every answer except `y` and `yes` means no.
    pub(super) async fn confirm(&mut self, question: &str) -> Result<bool, CliError> {
        let line = self.read_answer(&format!("{question} [y/N] ")).await?;
        Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }

    /// Asks for a secret without showing what is typed.
    #[cfg(unix)]
    pub(super) async fn ask_secret(&mut self, question: &str) -> Result<Zeroizing<String>, CliError> {
        let _quiet =
            quiet::EchoOff::begin().map_err(|_| CliError::unusable("This terminal can't hide what is typed."))?;
        self.read_answer(&format!("{question}: ")).await
    }

    /// Asks for a secret without showing what is typed.
    #[cfg(not(unix))]
    pub(super) async fn ask_secret(&mut self, _: &str) -> Result<Zeroizing<String>, CliError> {
        Err(CliError::unusable(
            "This terminal can't hide what is typed: use a command or a file, or the setup page of `docdeck`.",
        ))
    }

    async fn read_answer(&mut self, prompt: &str) -> Result<Zeroizing<String>, CliError> {
        print_prompt(prompt);
        let rest = std::mem::take(&mut self.unread_input);
        let reading = tokio::task::spawn_blocking(move || read_line(rest));
        let read = tokio::select! {
            read = reading => read,
            () = wait_for_signal() => {
                eprintln!();
                return Err(CliError::new(Code::Interrupted, "Nothing was written."));
            }
        };
        let unread = || CliError::unusable("The input ended before the last question. Nothing was written.");
        let (line, rest) = read.ok().and_then(Result::ok).flatten().ok_or_else(unread)?;
        self.unread_input = rest;
        Ok(line)
    }
}

/// Prints text on stderr, without a line break.
fn print_prompt(text: &str) {
    let mut err = io::stderr().lock();
    // A closed stderr is not an error.
    let _ = err.write_all(filter_output(text).as_bytes()).and_then(|()| err.flush());
}

type RawLine = (Zeroizing<String>, Zeroizing<Vec<u8>>);

/// Reads a line that begins with the input in `rest`. Returns the line and the input after it, or `None` at the end of
/// the input.
fn read_line(mut rest: Zeroizing<Vec<u8>>) -> io::Result<Option<RawLine>> {
    let mut input = open_stdin()?;
    let mut part = Zeroizing::new([0; 4096]);
    loop {
        if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let after = Zeroizing::new(rest.split_off(end + 1));
            rest.truncate(end);
            return Ok(Some((Zeroizing::new(String::from_utf8_lossy(&rest).into_owned()), after)));
        }
        let n = input.read(part.as_mut_slice())?;
        if n == 0 {
            return Ok(None);
        }
        rest.extend_from_slice(part.get(..n).unwrap_or_default());
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_after_a_line_is_kept_for_the_next_line() {
        let (line, rest) = read_line(Zeroizing::new(b"one\ntwo\n".to_vec())).expect("read").expect("a line");
        assert_eq!((line.as_str(), rest.as_slice()), ("one", b"two\n".as_slice()));
    }
}
