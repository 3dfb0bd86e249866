//! Copies text in two ways. OSC 52 is a sequence that makes the user's terminal copy the text, even over SSH; this
//! module only builds that sequence. A configured program, run without a shell, reads the text from stdin.

use crate::model::endpoint::API_KEY_VARIABLE;
use crate::model::export::MAX_COPY_BYTES;
use crate::model::failure::Failure;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io::ErrorKind;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// Maximum number of bytes of text that terminals accept.
pub const MAX_TEXT_BYTES: usize = MAX_COPY_BYTES;

/// The error for a text that is too long to be copied through the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Too long to copy: {bytes} bytes, and a terminal accepts at most {MAX_TEXT_BYTES}.")]
pub struct CopyTooLong {
    pub bytes: usize,
}

/// Returns the sequence that copies `text`.
///
/// # Errors
/// The text has more than [`MAX_TEXT_BYTES`] bytes.
pub fn copy_sequence(text: &str) -> Result<Vec<u8>, CopyTooLong> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(CopyTooLong { bytes: text.len() });
    }
    Ok(format!("\x1b]52;c;{}\x07", STANDARD.encode(text)).into_bytes())
}

/// How long the program may take to read the text, and how long to wait for its exit after that. A program that is
/// still running then has not failed: some programs keep running to provide the copied text.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(3);

/// Passes the text to a program, given as its name and arguments.
///
/// # Errors
/// The program can't be started, doesn't read the complete text, or fails.
pub async fn copy_with_program(words: &[String], text: String) -> Result<(), Failure> {
    let (program, arguments) = words.split_first().map_or(("", [].as_slice()), |(first, rest)| (first.as_str(), rest));
    let failed = |why: &str| {
        let sentence = format!("{program} could not copy ({why}). It is set as clipboard under [ui] in config.toml.");
        Failure::local(&sentence)
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_remove(API_KEY_VARIABLE)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => failed("it is not installed"),
        _ => failed("it could not be started"),
    })?;
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
        let text = "ü\n".repeat(MAX_TEXT_BYTES);
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
    fn a_text_is_sent_as_base64() {
        assert_eq!(copy_sequence("a ü\x1b").expect("short"), b"\x1b]52;c;YSDDvBs=\x07");
    }

    #[test]
    fn only_base64_is_sent_for_any_text() {
        let controls = (0..0x20).chain(0x7f..0xa0).filter_map(char::from_u32);
        let texts = ["\x1b]52;c;AAAA\x07".to_owned(), "\u{9d}0;x\u{9c}\u{9b}2J".to_owned(), controls.collect()];
        for text in texts {
            let sequence = String::from_utf8(copy_sequence(&text).expect("short")).expect("ASCII");
            let payload =
                sequence.strip_prefix("\x1b]52;c;").and_then(|rest| rest.strip_suffix('\x07')).expect("both ends");
            assert!(payload.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b)), "{payload:?}");
            assert_eq!(STANDARD.decode(payload).expect("base64"), text.as_bytes());
        }
    }

    #[test]
    fn a_text_that_is_too_long_for_terminals_is_rejected() {
        assert!(copy_sequence(&"x".repeat(MAX_TEXT_BYTES)).is_ok_and(|sequence| sequence.len() < 100_010));
        assert_eq!(copy_sequence(&"x".repeat(MAX_TEXT_BYTES + 1)), Err(CopyTooLong { bytes: MAX_TEXT_BYTES + 1 }));
    }
}
