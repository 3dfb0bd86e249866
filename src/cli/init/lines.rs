//! Questions and answers as plain lines: asked on stderr, read from stdin. Ctrl-C ends them, and the terminal echoes again
//! whatever ended them.

use super::super::error::CliError;
use super::super::exit_code::Code;
use crate::model::text::gated;
use crate::runtime::signals::EndSignals;
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// What was read and not yet taken; a key may be in it.
#[derive(Debug, Default)]
pub(super) struct AnswerReader {
    rest: Zeroizing<Vec<u8>>,
}

impl AnswerReader {
    /// Asks, with what holds when nothing is typed.
    pub(super) async fn ask(&mut self, question: &str, usual: &str) -> Result<String, CliError> {
        let usual_shown = if usual.is_empty() { String::new() } else { format!(" [{usual}]") };
        let line = self.line(&format!("{question}{usual_shown}: ")).await?;
        let typed = line.trim();
        Ok(if typed.is_empty() { usual.to_owned() } else { typed.to_owned() })
    }

    /// Asks for a yes; anything else is no.
    pub(super) async fn is_yes(&mut self, question: &str) -> Result<bool, CliError> {
        let line = self.line(&format!("{question} [y/N] ")).await?;
        Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }

    /// Asks for what is not to be seen.
    #[cfg(unix)]
    pub(super) async fn secret(&mut self, question: &str) -> Result<Zeroizing<String>, CliError> {
        let _quiet =
            quiet::Quiet::begin().map_err(|_| CliError::unusable("This terminal can't hide what is typed."))?;
        self.line(&format!("{question}: ")).await
    }

    /// Asks for what is not to be seen.
    #[cfg(not(unix))]
    pub(super) async fn secret(&mut self, _: &str) -> Result<Zeroizing<String>, CliError> {
        Err(CliError::unusable(
            "What is typed can't be hidden here: name a program or a file, or use the page of `docdeck`.",
        ))
    }

    async fn line(&mut self, prompt: &str) -> Result<Zeroizing<String>, CliError> {
        say(prompt);
        let rest = std::mem::take(&mut self.rest);
        let reading = tokio::task::spawn_blocking(move || read_line(rest));
        let read = tokio::select! {
            read = reading => read,
            () = ended() => {
                eprintln!();
                return Err(CliError::new(Code::Interrupted, "Nothing was written."));
            }
        };
        let unread = || CliError::unusable("The input ended before all was asked. Nothing was written.");
        let (line, rest) = read.ok().and_then(Result::ok).flatten().ok_or_else(unread)?;
        self.rest = rest;
        Ok(line)
    }
}

/// Says something beside the results, without a line end.
fn say(text: &str) {
    let mut err = io::stderr().lock();
    // Nobody may be there to read it.
    let _ = err.write_all(gated(text).as_bytes()).and_then(|()| err.flush());
}

type RawLine = (Zeroizing<String>, Zeroizing<Vec<u8>>);

/// A line, and what came behind it; none at the end of the input.
fn read_line(mut rest: Zeroizing<Vec<u8>>) -> io::Result<Option<RawLine>> {
    let mut input = input()?;
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

/// Stdin without the library's buffer, which would keep what it has read.
#[cfg(unix)]
fn input() -> io::Result<impl Read> {
    use std::os::fd::AsFd;
    io::stdin().as_fd().try_clone_to_owned().map(std::fs::File::from)
}

#[cfg(not(unix))]
fn input() -> io::Result<impl Read> {
    Ok(io::stdin())
}

/// Waits for Ctrl-C, or another signal that asks to end.
async fn ended() {
    match EndSignals::listen() {
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

    /// The terminal without an echo, until this is dropped.
    pub(super) struct Quiet(Termios);

    impl Quiet {
        pub(super) fn begin() -> io::Result<Self> {
            let before = tcgetattr(io::stdin())?;
            let mut quiet = before.clone();
            quiet.local_modes.remove(LocalModes::ECHO);
            quiet.local_modes.insert(LocalModes::ECHONL);
            // Back from a stop the shell's settings would hold, and the key would be seen.
            quiet.special_codes[SpecialCodeIndex::VSUSP] = 0;
            tcsetattr(io::stdin(), OptionalActions::Now, &quiet)?;
            Ok(Self(before))
        }
    }

    impl Drop for Quiet {
        fn drop(&mut self) {
            // A terminal that is gone needs nothing back.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_behind_a_line_is_the_next_one() {
        let (line, rest) = read_line(Zeroizing::new(b"one\ntwo\n".to_vec())).expect("read").expect("a line");
        assert_eq!((line.as_str(), rest.as_slice()), ("one", b"two\n".as_slice()));
    }
}
