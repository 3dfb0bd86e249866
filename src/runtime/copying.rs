//! Copies text in two ways: through the terminal, and with the configured program. The terminal reaches the user's
//! clipboard even over SSH. Over SSH, the program runs on the remote computer, so it is used only if the terminal can't
//! copy the text.

use super::event_loop::Dashboard;
use super::opener::start_detached;
use crate::model::export::MAX_TERMINAL_COPY_BYTES;
use crate::model::failure::Failure;
use crate::model::text::CleanText;
use crate::tui::Msg;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;

/// How long the program may take to read the text, and how long to wait for its exit after that. If it has read the
/// text but doesn't exit, copying has succeeded, because some programs keep running to provide the copied text.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(3);

impl Dashboard {
    /// Copies the text and returns a message with the result. If a program has to copy the text, starts the program and
    /// returns `None`; the message follows later.
    pub(super) fn copy(&mut self, what: CleanText, text: String) -> Option<Msg> {
        let by_terminal = self.copy_through_terminal(&text);
        let is_copied = by_terminal.is_ok() && self.environment.is_ssh;
        if self.copy_program.is_empty() || is_copied {
            return Some(Msg::ActionFinished { success_notice: what, result: by_terminal });
        }
        let words = self.copy_program.clone();
        self.effects.spawn(async move {
            Msg::ActionFinished { success_notice: what, result: copy_with_program(&words, text).await }
        });
        None
    }

    /// Sends the text to the terminal's clipboard, between two frames.
    pub(super) fn copy_through_terminal(&mut self, text: &str) -> Result<(), Failure> {
        if !self.session.caps().is_modern {
            let sentence = "This terminal can't copy. Set `clipboard` under [ui] in config.toml to a program that can.";
            return Err(Failure::local(sentence));
        }
        check_length(text)?;
        self.session.copy(text).map_err(|_| Failure::local("Could not write to the terminal; nothing was copied."))
    }
}

/// Checks that terminals accept a text of this length.
fn check_length(text: &str) -> Result<(), Failure> {
    if text.len() <= MAX_TERMINAL_COPY_BYTES {
        return Ok(());
    }
    let bytes = text.len();
    let sentence =
        format!("Too long to copy: {bytes} bytes, and a terminal accepts at most {MAX_TERMINAL_COPY_BYTES}.");
    Err(Failure::local(&sentence))
}

/// Passes the text to a program, given as its name and arguments.
async fn copy_with_program(words: &[String], text: String) -> Result<(), Failure> {
    let program = words.first().map_or("", String::as_str);
    let failed = |why: &str| {
        let sentence = format!("{program} could not copy ({why}). It is set as clipboard under [ui] in config.toml.");
        Failure::local(&sentence)
    };
    let mut child = start_detached(words, Stdio::piped()).map_err(failed)?;
    let stdin = child.stdin.take();
    let write_text = async {
        if let Some(mut stdin) = stdin {
            stdin.write_all(text.as_bytes()).await?;
            stdin.shutdown().await?;
        }
        Ok::<(), std::io::Error>(())
    };
    match tokio::time::timeout(PROGRAM_TIMEOUT, write_text).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) => return Err(failed("it exited before it read all of the text")),
        Err(_) => return Err(failed("it does not read its input")),
    }
    match tokio::time::timeout(PROGRAM_TIMEOUT, child.wait()).await {
        Ok(Ok(status)) if !status.success() => Err(failed("it failed")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_program_gets_its_arguments_unchanged_and_a_text_of_any_length() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a b");
        let text = "ü\n".repeat(MAX_TERMINAL_COPY_BYTES);
        let tee = words(&["tee", file.to_str().expect("a path")]);
        assert_eq!(copy_with_program(&tee, text.clone()).await, Ok(()));
        assert!(std::fs::read_to_string(file).expect("written") == text);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_error_names_a_program_that_is_missing_or_fails() {
        for (program, why) in [("docdeck-no-such-program", "not installed"), ("false", "false could not copy")] {
            let failure = copy_with_program(&words(&[program]), "x".repeat(1 << 20)).await.expect_err("a failure");
            assert!(failure.message.as_str().contains(why), "{failure:?}");
        }
    }

    #[test]
    fn a_text_that_is_too_long_for_terminals_is_rejected() {
        assert_eq!(check_length(&"x".repeat(MAX_TERMINAL_COPY_BYTES)), Ok(()));
        assert!(check_length(&"x".repeat(MAX_TERMINAL_COPY_BYTES + 1)).is_err());
    }
}
