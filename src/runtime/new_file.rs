//! Writes an export to a file in the current folder, readable only by its owner. An existing file is replaced only
//! after the user has confirmed this. The replacement is first written to another file, which is then renamed, so that
//! the existing file is not lost if writing fails.

use crate::config::file::system_message;
use crate::model::failure::Failure;
use crate::model::text::CleanText;
use crate::tui::{Msg, NewFile, Overwrite};
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Maximum number of file names that are tried: `name`, `name-2`, … `name-999`.
const MAX_NUMBERED_NAMES: u32 = 999;

/// The result of writing a file.
#[derive(Debug)]
enum WriteResult {
    Written(PathBuf),
    /// Nothing was written: the file exists, and the user has not confirmed that it may be overwritten.
    Exists,
}

/// Writes the file to `folder`, or to the current folder if `folder` is `None`, and returns a message with its path. If
/// the file exists, `overwrite` decides whether to write under a numbered name, to ask the user, or to replace the
/// file.
pub(super) async fn save_new_file(folder: Option<PathBuf>, file: NewFile, overwrite: Overwrite) -> Msg {
    let NewFile { name, text, description: what } = file;
    let wanted = CleanText::line(&name);
    let path = folder.unwrap_or_default().join(&name);
    let task = tokio::task::spawn_blocking(move || (write_text(&path, &text, overwrite), text));
    let failure = |why: &str| {
        let sentence = format!("Could not write {wanted} to the current folder: {why}.");
        Err(Failure::local(&sentence))
    };
    match task.await {
        Ok((Ok(WriteResult::Written(path)), _)) => {
            // The message contains the absolute path, because the screen doesn't show the current folder.
            let path = std::path::absolute(&path).unwrap_or(path);
            let what = CleanText::line(&format!("{what} written to {}.", path.display()));
            Msg::ActionFinished { success_notice: what, result: Ok(()) }
        }
        Ok((Ok(WriteResult::Exists), text)) => Msg::FileExists(NewFile { name, text, description: what }),
        Ok((Err(error), _)) => {
            Msg::ActionFinished { result: failure(system_message(&error).as_str()), success_notice: wanted }
        }
        Err(_) => Msg::ActionFinished { result: failure("docdeck is shutting down"), success_notice: wanted },
    }
}

fn write_text(path: &Path, text: &str, overwrite: Overwrite) -> io::Result<WriteResult> {
    match overwrite {
        Overwrite::Never => write_numbered_file(path, text).map(WriteResult::Written),
        Overwrite::Ask => match write_new_file(path, text.as_bytes()) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(WriteResult::Exists),
            done => done.map(|()| WriteResult::Written(path.to_path_buf())),
        },
        Overwrite::Yes => replace_file(path, text.as_bytes()).map(|()| WriteResult::Written(path.to_path_buf())),
    }
}

/// Creates the first of the files `name`, `name-2`, … that doesn't exist yet, and returns its path.
fn write_numbered_file(name: &Path, text: &str) -> io::Result<PathBuf> {
    for n in 1..=MAX_NUMBERED_NAMES {
        let path = numbered_name(name, n);
        match write_new_file(&path, text.as_bytes()) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many files with that name exist"))
}

/// Creates a file, which must not exist yet and which only the user can read. If writing to it fails, removes the
/// incomplete file.
///
/// # Errors
/// Fails if the file already exists, or can't be created or written.
pub fn write_new_file(path: &Path, mut source: impl Read) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    let done = io::copy(&mut source, &mut file).and_then(|_| file.sync_all());
    if done.is_err() {
        drop(file);
        let _ = std::fs::remove_file(path);
    }
    done
}

/// Replaces a file: writes to a new file beside it, then renames the new file. If the path is a symbolic link, replaces
/// the file that it points to.
///
/// # Errors
/// Fails if the new file can't be written or renamed. The old file is then unchanged.
pub fn replace_file(path: &Path, mut source: impl Read) -> io::Result<()> {
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = NamedTempFile::new_in(folder)?;
    io::copy(&mut source, &mut new)?;
    new.as_file().sync_all()?;
    new.persist(target)?;
    Ok(())
}

/// Returns the `n`th of the names `jobs.json`, `jobs-2.json`, …
fn numbered_name(name: &Path, n: u32) -> PathBuf {
    if n == 1 {
        return name.to_path_buf();
    }
    let stem = name.file_stem().unwrap_or_default().to_string_lossy();
    let end = name.extension().map(|end| format!(".{}", end.to_string_lossy())).unwrap_or_default();
    name.with_file_name(format!("{stem}-{n}{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numbered_name_is_used_if_the_file_exists() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().join("jobs.json");
        let paths: Vec<PathBuf> =
            ["a", "b", "c"].iter().map(|text| write_numbered_file(&name, text).expect("written")).collect();
        let names: Vec<_> = paths.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!(names, ["jobs.json", "jobs-2.json", "jobs-3.json"]);
        let texts: Vec<String> = paths.iter().map(|path| std::fs::read_to_string(path).expect("there")).collect();
        assert_eq!(texts, ["a", "b", "c"]);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = write_numbered_file(&folder.path().join("jobs"), "x").expect("written");
        assert_eq!(std::fs::metadata(path).expect("there").permissions().mode() & 0o777, 0o600);
    }

    #[tokio::test]
    async fn the_message_contains_the_path_or_the_reason_of_the_failure() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = |part: &str| folder.path().join(part).display().to_string();
        let file = |name: String| NewFile { name, text: "x".into(), description: CleanText::line("3 jobs") };
        let save = |name: String| save_new_file(None, file(name), Overwrite::Never);
        match save(name("jobs.json")).await {
            Msg::ActionFinished { success_notice: what, result: Ok(()) } => {
                assert_eq!(what.as_str(), format!("3 jobs written to {}.", name("jobs.json")));
            }
            other => panic!("{other:?}"),
        }
        match save(name("none/jobs.json")).await {
            Msg::ActionFinished { result: Err(failure), .. } => {
                let sentence = failure.message.as_str();
                assert!(sentence.ends_with(" to the current folder: no such file or directory."), "{sentence}");
            }
            other => panic!("{other:?}"),
        }
    }

    fn views() -> NewFile {
        NewFile { name: "views.csv".into(), text: "new".into(), description: CleanText::line("2 pages as CSV") }
    }

    #[tokio::test]
    async fn an_existing_file_is_overwritten_only_after_confirmation() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("views.csv");
        std::fs::write(&path, "old").expect("written");
        let write = |overwrite| save_new_file(Some(folder.path().to_owned()), views(), overwrite);
        match write(Overwrite::Ask).await {
            Msg::FileExists(file) => assert_eq!(file, views()),
            other => panic!("{other:?}"),
        }
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "old");
        match write(Overwrite::Yes).await {
            Msg::ActionFinished { success_notice: what, result: Ok(()) } => {
                assert!(what.as_str().ends_with("views.csv."), "{what}")
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "new");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left beside it");
    }

    #[tokio::test]
    async fn an_existing_file_stays_intact_if_overwriting_fails() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("views.csv/kept");
        std::fs::create_dir(folder.path().join("views.csv")).expect("a folder in the way");
        std::fs::write(&inside, "old").expect("written");
        let written = save_new_file(Some(folder.path().to_owned()), views(), Overwrite::Yes);
        assert!(matches!(written.await, Msg::ActionFinished { result: Err(_), .. }));
        assert_eq!(std::fs::read_to_string(&inside).expect("there"), "old");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left beside it");
    }
}
