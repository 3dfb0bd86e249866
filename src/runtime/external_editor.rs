//! Edits a prompt in the user's own editor. Writes the prompt to a file that only the user can read, gives the terminal
//! to the editor, reads the text back and removes the file.

use super::event_loop::Dashboard;
use super::new_file::write_new_file;
use crate::config::environment::Environment;
use crate::model::command::split_command_line;
use crate::model::failure::Failure;
use crate::tui::{Msg, PromptsMsg};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use tempfile::TempDir;

/// The name of the edited file. Editors detect Markdown by its extension.
const FILE_NAME: &str = "prompt.md";
/// Maximum size of a text that is read back, in bytes.
const MAX_TEXT_BYTES: u64 = 8 << 20;
/// The editors that are tried if no environment variable names one.
const DEFAULT_EDITORS: [&str; 2] = ["vi", "nano"];

impl Dashboard {
    /// Opens the text in the user's editor. Returns a message only if no editor was started.
    pub(super) fn open_external_editor(&mut self, text: &str) -> Option<Msg> {
        let parent = self.folders.data.clone().unwrap_or_else(std::env::temp_dir);
        let file = EditedFile::write(&parent, text).or_else(|_| EditedFile::write(&std::env::temp_dir(), text));
        let file = match file {
            Ok(file) => file,
            Err(error) => {
                let sentence = format!("Could not write the text to a file for the editor: {error}.");
                return Some(Msg::Prompts(PromptsMsg::EditedExternally(Err(Failure::local(&sentence)))));
            }
        };
        let programs = editor_command_lines(&self.environment, &file.path());
        let file = Arc::new(file);
        let edited = Arc::clone(&file);
        let answer = self
            .run_in_foreground(&programs, move |ended| Msg::Prompts(PromptsMsg::EditedExternally(file.read(ended))));
        if let (None, Some(foreground)) = (&answer, &mut self.foreground) {
            foreground.set_saved_text_reader(move || {
                edited.saved_text().map(|text| Msg::Prompts(PromptsMsg::EditedExternally(Ok(text))))
            });
        }
        answer
    }
}

/// Returns the command lines of the editors to try: each editor with its arguments and the file.
fn editor_command_lines(environment: &Environment, file: &Path) -> Vec<Vec<String>> {
    let named = environment.editor.as_deref().map(split_command_line).filter(|words| !words.is_empty());
    let programs =
        named.map_or_else(|| DEFAULT_EDITORS.map(|name| vec![name.to_owned()]).to_vec(), |words| vec![words]);
    let with_file = |mut words: Vec<String>| {
        words.push(file.display().to_string());
        words
    };
    programs.into_iter().map(with_file).collect()
}

/// A text file in a separate folder that only the user can enter. Dropping it removes the folder, including backup
/// copies that the editor made.
#[derive(Debug)]
struct EditedFile {
    folder: TempDir,
}

impl EditedFile {
    fn write(parent: &Path, text: &str) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("docdeck-edit-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let file = Self { folder: builder.tempdir_in(parent)? };
        // Adds a final line feed, because editors complain about a text file that doesn't end with a line feed.
        let line_feed = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        write_new_file(&file.path(), text.as_bytes().chain(line_feed.as_bytes()))?;
        Ok(file)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(FILE_NAME)
    }

    /// Returns the text that the editor has saved so far. Returns `None` if the file can't be read, and also if it is
    /// blank, because the editor may be writing it at this moment.
    fn saved_text(&self) -> Option<String> {
        self.text().ok().filter(|text| !text.trim().is_empty())
    }

    /// Reads the text after the editor has exited. Fails if the editor failed, or if the file is unreadable or too
    /// large.
    fn read(&self, exit: Result<ExitStatus, Failure>) -> Result<String, Failure> {
        let status = exit?;
        if !status.success() {
            return Err(Failure::local(&format!("Your editor failed ({status}), so its text was ignored.")));
        }
        self.text()
    }

    fn text(&self) -> Result<String, Failure> {
        let unreadable = |why: String| Failure::local(&format!("Could not read the text from your editor: {why}."));
        let size = fs::metadata(self.path()).map_err(|error| unreadable(error.to_string()))?.len();
        if size > MAX_TEXT_BYTES {
            return Err(unreadable(format!("it has {size} bytes, more than {MAX_TEXT_BYTES}")));
        }
        fs::read_to_string(self.path()).map_err(|error| unreadable(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(code: i32) -> ExitStatus {
        std::process::Command::new("sh").args(["-c", &format!("exit {code}")]).status().expect("run")
    }

    #[test]
    fn the_file_is_private_and_removed_afterwards() {
        let parent = tempfile::tempdir().expect("a folder");
        let file = EditedFile::write(parent.path(), "a\nb").expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
            assert_eq!((mode(file.folder.path()), mode(&file.path())), (0o700, 0o600));
        }
        assert_eq!(file.read(Ok(ended(0))), Ok("a\nb\n".to_owned()));
        drop(file);
        assert_eq!(fs::read_dir(parent.path()).expect("read").count(), 0);
    }

    #[test]
    fn a_failed_editor_and_an_unreadable_text_are_errors() {
        let parent = tempfile::tempdir().expect("a folder");
        let file = EditedFile::write(parent.path(), "a").expect("written");
        assert!(file.read(Ok(ended(1))).is_err());
        fs::write(file.path(), b"\xff\xfe").expect("written");
        assert!(file.read(Ok(ended(0))).is_err());
    }

    #[test]
    fn without_a_variable_the_usual_editors_are_tried() {
        let file = Path::new("/x/prompt.md");
        let usual = editor_command_lines(&Environment::default(), file);
        assert_eq!(usual, [["vi", "/x/prompt.md"], ["nano", "/x/prompt.md"]]);
        let named = Environment { editor: Some("code --wait".to_owned()), ..Environment::default() };
        assert_eq!(editor_command_lines(&named, file), [["code", "--wait", "/x/prompt.md"]]);
    }
}
