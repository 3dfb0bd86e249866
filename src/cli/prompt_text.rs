//! The text of a prompt: an argument, stdin, or a file. Read before anything else is done, and looked over.

use super::error::CliError;
use crate::model::text::CleanText;
use clap::Args;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

/// Largest prompt from a file or from stdin, in bytes: nobody writes one by hand, so it is a mistake.
const MAX_BYTES: u64 = 1 << 20;

/// Where it is.
#[derive(Debug, Args)]
pub(super) struct PromptSource {
    /// What the agent should do; `-` reads it from stdin
    #[arg(value_name = "PROMPT|-", conflicts_with = "file")]
    prompt: Option<String>,
    /// Read the prompt from this file
    #[arg(long, value_name = "F")]
    file: Option<PathBuf>,
}

impl PromptSource {
    /// The text, without the line breaks at its end that files have.
    ///
    /// # Errors
    /// There is none, it can't be read, it is no text, too large, or blank.
    pub(super) fn read(&self) -> Result<String, CliError> {
        let text = match (&self.prompt, &self.file) {
            (_, Some(path)) => from_file(path)?,
            (Some(dash), None) if dash == "-" => from_stdin()?,
            (Some(text), None) => text.clone(),
            (None, None) => {
                return Err(CliError::unusable(
                    "There is no prompt: give it as an argument, with --file, or as `-` to read it from stdin.",
                ));
            }
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
        let text = text.trim_end_matches(['\n', '\r']);
        if CleanText::block(text).as_str().trim().is_empty() {
            return Err(CliError::unusable(
                "The prompt is blank, so nothing was sent: write what the agent should do.",
            ));
        }
        Ok(text.to_owned())
    }
}

fn from_stdin() -> Result<String, CliError> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        use std::io::Write as _;
        // Nobody may be reading it; the text is read all the same.
        let _ = writeln!(io::stderr(), "Write the prompt; Ctrl-D on a line of its own ends it.");
    }
    read(stdin.lock(), "stdin", MAX_BYTES)
}

fn from_file(path: &Path) -> Result<String, CliError> {
    open_and_read(path, MAX_BYTES)
}

/// The text of a file of at most so many bytes.
///
/// # Errors
/// There is no such file, it can't be read, it is no text, or too large.
pub(super) fn open_and_read(path: &Path, max_bytes: u64) -> Result<String, CliError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => CliError::unusable(format!("There is no file {name}, so nothing was sent.")),
        _ => unreadable(&name, &error),
    })?;
    read(file, &name, max_bytes)
}

/// All of a stream of at most so many bytes.
///
/// # Errors
/// As [`open_and_read`].
pub(super) fn read(stream: impl Read, name: &str, max_bytes: u64) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    stream.take(max_bytes + 1).read_to_end(&mut bytes).map_err(|error| unreadable(name, &error))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > max_bytes) {
        let size = max_bytes >> 20;
        return Err(CliError::unusable(format!("{name} holds more than {size} MiB, so nothing was sent: give less.")));
    }
    String::from_utf8(bytes)
        .map_err(|_| CliError::unusable(format!("{name} is not UTF-8 text, so nothing was sent: save it as UTF-8.")))
}

fn unreadable(name: &str, error: &io::Error) -> CliError {
    CliError::unusable(format!("{name} can't be read ({error}), so nothing was sent."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(prompt: &str) -> Result<String, String> {
        PromptSource { prompt: Some(prompt.to_owned()), file: None }.read().map_err(|refusal| refusal.sentence)
    }

    #[test]
    fn the_line_breaks_of_a_files_end_and_of_another_system_are_not_the_prompts() {
        assert_eq!(given("\u{feff}Fix\r\nit\r\n\n").as_deref(), Ok("Fix\nit"));
        assert_eq!(given("  indented"), Ok("  indented".to_owned()));
    }

    #[test]
    fn a_text_without_anything_to_see_is_blank() {
        for blank in ["", " \n\t", "\u{200b}\u{feff}"] {
            assert!(given(blank).is_err_and(|sentence| sentence.starts_with("The prompt is blank")), "{blank:?}");
        }
    }

    #[test]
    fn a_stream_is_read_up_to_its_limit_and_has_to_be_text() {
        let read = |bytes: &[u8]| read(bytes, "stdin", 4).map_err(|refusal| refusal.sentence);
        assert_eq!(read(b"abcd").as_deref(), Ok("abcd"));
        assert!(read(b"abcde").is_err_and(|sentence| sentence.contains("more than")));
        assert!(read(b"\xff").is_err_and(|sentence| sentence.contains("not UTF-8")));
    }
}
