//! The user's own editor: the text goes into a file that only the user can read, the terminal is lent to the editor, the
//! text comes back, the file is removed.

use super::event_loop::Dashboard;
use crate::app::Msg;
use crate::config::environment::Environment;
use crate::model::command::words;
use crate::model::failure::{Failure, FailureKind};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;

/// The file's name: editors know Markdown by it.
const NAME: &str = "prompt.md";
/// Names that are tried for the folder before giving up.
const TRIES: u32 = 100;
/// Largest text that is taken back, in bytes.
const LARGEST: u64 = 8 << 20;
/// What is tried where no variable names an editor.
const USUAL: [&str; 2] = ["vi", "nano"];

impl Dashboard {
    /// Lends the terminal to the user's editor with this text.
    pub(super) fn edit_outside(&mut self, text: &str) -> Option<Msg> {
        let parent = self.folders.data.clone().unwrap_or_else(std::env::temp_dir);
        let file = EditedFile::write(&parent, text).or_else(|_| EditedFile::write(&std::env::temp_dir(), text));
        let file = match file {
            Ok(file) => file,
            Err(error) => {
                let sentence = format!("The text could not be handed to an editor: {error}.");
                return Some(Msg::EditedOutside(Err(local(&sentence))));
            }
        };
        let programs = editors(&self.environment, &file.path());
        let file = Arc::new(file);
        let kept = Arc::clone(&file);
        let answer = self.lend(&programs, move |ended| Msg::EditedOutside(file.read(ended)));
        if let (None, Some(loan)) = (&answer, &mut self.loan) {
            loan.rescue_by(move || kept.saved().map(|text| Msg::EditedOutside(Ok(text))));
        }
        answer
    }
}

/// The editors to try, each with its arguments and the file.
fn editors(environment: &Environment, file: &Path) -> Vec<Vec<String>> {
    let named = environment.editor.as_deref().map(words).filter(|words| !words.is_empty());
    let programs = named.map_or_else(|| USUAL.map(|name| vec![name.to_owned()]).to_vec(), |words| vec![words]);
    let with_file = |mut words: Vec<String>| {
        words.push(file.display().to_string());
        words
    };
    programs.into_iter().map(with_file).collect()
}

fn local(sentence: &str) -> Failure {
    Failure::new(FailureKind::Local, sentence)
}

/// A text in a folder of its own, gone with this value.
#[derive(Debug)]
struct EditedFile {
    folder: PathBuf,
}

impl EditedFile {
    fn write(parent: &Path, text: &str) -> io::Result<Self> {
        let folder = own_folder(parent)?;
        let file = Self { folder };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut open = options.open(file.path())?;
        open.write_all(text.as_bytes())?;
        // A file ends with a line feed; editors complain otherwise.
        if !text.is_empty() && !text.ends_with('\n') {
            open.write_all(b"\n")?;
        }
        Ok(file)
    }

    fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    /// What the editor has written so far; an empty file may be one that is being written just now.
    fn saved(&self) -> Option<String> {
        self.text().ok().filter(|text| !text.trim().is_empty())
    }

    /// What the editor left, unless it failed.
    fn read(&self, ended: Result<ExitStatus, Failure>) -> Result<String, Failure> {
        let status = ended?;
        if !status.success() {
            return Err(local(&format!("Your editor ended with a failure ({status}), so its text was not taken.")));
        }
        self.text()
    }

    fn text(&self) -> Result<String, Failure> {
        let unreadable = |why: String| local(&format!("What your editor left could not be read: {why}."));
        let size = fs::metadata(self.path()).map_err(|error| unreadable(error.to_string()))?.len();
        if size > LARGEST {
            return Err(unreadable(format!("it has {size} bytes, and at most {LARGEST} are taken")));
        }
        fs::read_to_string(self.path()).map_err(|error| unreadable(error.to_string()))
    }
}

impl Drop for EditedFile {
    fn drop(&mut self) {
        // An editor may have left a copy beside it. What can't be removed is still readable by the user alone.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A new folder that only the user can enter.
fn own_folder(parent: &Path) -> io::Result<PathBuf> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let id = std::process::id();
    for n in 0..TRIES {
        let folder = parent.join(format!("docdeck-edit-{id}-{n}"));
        match builder.create(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|()| folder),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "no free name for a folder"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(code: i32) -> ExitStatus {
        std::process::Command::new("sh").args(["-c", &format!("exit {code}")]).status().expect("run")
    }

    #[test]
    fn the_text_lies_where_nobody_else_can_read_it_and_is_gone_afterwards() {
        let parent = tempfile::tempdir().expect("a folder");
        let file = EditedFile::write(parent.path(), "a\nb").expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
            assert_eq!((mode(&file.folder), mode(&file.path())), (0o700, 0o600));
        }
        assert_eq!(file.read(Ok(ended(0))), Ok("a\nb\n".to_owned()));
        drop(file);
        assert_eq!(fs::read_dir(parent.path()).expect("read").count(), 0);
    }

    #[test]
    fn an_editor_that_fails_changes_nothing() {
        let parent = tempfile::tempdir().expect("a folder");
        let file = EditedFile::write(parent.path(), "a").expect("written");
        assert!(file.read(Ok(ended(1))).is_err());
        fs::write(file.path(), b"\xff\xfe").expect("written");
        assert!(file.read(Ok(ended(0))).is_err());
    }

    #[test]
    fn without_a_variable_the_usual_editors_are_tried() {
        let file = Path::new("/x/prompt.md");
        let usual = editors(&Environment::default(), file);
        assert_eq!(usual, [["vi", "/x/prompt.md"], ["nano", "/x/prompt.md"]]);
        let named = Environment { editor: Some("code --wait".to_owned()), ..Environment::default() };
        assert_eq!(editors(&named, file), [["code", "--wait", "/x/prompt.md"]]);
    }
}
