//! Reads the text of a prompt from an argument, stdin or a file, and checks it before the command does anything else.

use super::error::CliError;
use crate::model::text::CleanText;
use clap::Args;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

/// The maximum size of a prompt from a file or from stdin, in bytes. A larger file is probably the wrong one.
const MAX_PROMPT_BYTES: u64 = 1 << 20;

#[derive(Debug, Args)]
pub(super) struct PromptSource {
    /// prompt for the agent; `-` reads it from stdin
    #[arg(value_name = "PROMPT|-", conflicts_with = "file")]
    prompt: Option<String>,
    /// read the prompt from this file
    #[arg(long, value_name = "F")]
    file: Option<PathBuf>,
}

impl PromptSource {
    /// Reads the text, without line breaks at its end.
    ///
    /// # Errors
    /// Fails if there is no prompt, or it can't be read, is not UTF-8, is too large or is blank.
    pub(super) fn read(&self) -> Result<String, CliError> {
        let text = match (&self.prompt, &self.file) {
            (_, Some(path)) => read_from_file(path)?,
            (Some(dash), None) if dash == "-" => read_from_stdin()?,
            (Some(text), None) => text.clone(),
            (None, None) => {
                return Err(CliError::local_error(
                    "No prompt. Give it as an argument or with --file, or use `-` to read it from stdin.",
                ));
            }
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
        let text = text.trim_end_matches(['\n', '\r']);
        if CleanText::block(text).as_str().trim().is_empty() {
            return Err(CliError::local_error("Not sent: the prompt is blank. Write what the agent should do."));
        }
        Ok(text.to_owned())
    }
}

fn read_from_stdin() -> Result<String, CliError> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        use std::io::Write as _;
        // If stderr is closed, this hint is lost, but the prompt is still read.
        let _ = writeln!(io::stderr(), "Type the prompt, then press Ctrl-D on an empty line.");
    }
    read_prompt_stream(stdin.lock(), "stdin", MAX_PROMPT_BYTES)
}

fn read_from_file(path: &Path) -> Result<String, CliError> {
    read_text_file(path, MAX_PROMPT_BYTES)
}

/// Reads the text of a file of at most `max_bytes` bytes.
///
/// # Errors
/// Fails if the file doesn't exist, can't be read, is not UTF-8 or is too large.
pub(super) fn read_text_file(path: &Path, max_bytes: u64) -> Result<String, CliError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => CliError::local_error(format!("File {name} not found, so nothing was sent.")),
        _ => unreadable_prompt_error(&name, &error),
    })?;
    read_prompt_stream(file, &name, max_bytes)
}

/// Reads the text of a stream of at most `max_bytes` bytes. `name` is used in errors.
///
/// # Errors
/// Fails if the stream can't be read, is not UTF-8 or is too large.
pub(super) fn read_prompt_stream(stream: impl Read, name: &str, max_bytes: u64) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    stream.take(max_bytes + 1).read_to_end(&mut bytes).map_err(|error| unreadable_prompt_error(name, &error))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > max_bytes) {
        let size = max_bytes >> 20;
        return Err(CliError::local_error(format!(
            "{name} contains more than {size} MiB, so nothing was sent: use a smaller one."
        )));
    }
    String::from_utf8(bytes)
        .map_err(|_| CliError::local_error(format!("{name} is not UTF-8 text, so nothing was sent: save it as UTF-8.")))
}

fn unreadable_prompt_error(name: &str, error: &io::Error) -> CliError {
    CliError::local_error(format!("Can't read {name} ({error}), so nothing was sent."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_prompt(prompt: &str) -> Result<String, String> {
        PromptSource { prompt: Some(prompt.to_owned()), file: None }.read().map_err(|error| error.sentence)
    }

    #[test]
    fn byte_order_mark_carriage_returns_and_final_line_breaks_are_removed() {
        assert_eq!(read_prompt("\u{feff}Fix\r\nit\r\n\n").as_deref(), Ok("Fix\nit"));
        assert_eq!(read_prompt("  indented"), Ok("  indented".to_owned()));
    }

    #[test]
    fn a_text_without_visible_characters_is_blank() {
        for blank in ["", " \n\t", "\u{200b}\u{feff}"] {
            assert!(read_prompt(blank).is_err_and(|sentence| sentence.contains("the prompt is blank")), "{blank:?}");
        }
    }

    #[test]
    fn a_stream_must_be_utf8_and_within_the_limit() {
        let read = |bytes: &[u8]| read_prompt_stream(bytes, "stdin", 4).map_err(|error| error.sentence);
        assert_eq!(read(b"abcd").as_deref(), Ok("abcd"));
        assert!(read(b"abcde").is_err_and(|sentence| sentence.contains("more than")));
        assert!(read(b"\xff").is_err_and(|sentence| sentence.contains("not UTF-8")));
    }
}
