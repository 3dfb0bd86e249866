//! Writing an export to a file in the current folder, readable by its owner alone. One that is there is written over
//! only after the user said so, and then by a rename, so that a failure loses nothing.

use crate::app::{Msg, NewFile, Overwrite};
use crate::model::failure::{Failure, FailureKind};
use crate::model::text::CleanText;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Names that are tried: `name`, `name-2`, … `name-999`.
const TRIES: u32 = 999;

/// What became of a file.
#[derive(Debug)]
enum WriteResult {
    At(PathBuf),
    /// A file of that name is there, and nothing was said about writing over it.
    Exists,
}

/// Writes the text into this folder, else the current one, and says where; asks where a file is in the way.
pub(super) async fn written(folder: Option<PathBuf>, file: NewFile, overwrite: Overwrite) -> Msg {
    let NewFile { name, text, what } = file;
    let wanted = CleanText::line(&name);
    let path = folder.unwrap_or_default().join(&name);
    let task = tokio::task::spawn_blocking(move || (write(&path, &text, overwrite), text));
    let failure = |why: &str| {
        let sentence = format!("{wanted} could not be written to the current folder: {why}.");
        Err(Failure::new(FailureKind::Local, &sentence))
    };
    match task.await {
        Ok((Ok(WriteResult::At(path)), _)) => {
            // The folder that docdeck was started in is not on the screen.
            let path = std::path::absolute(&path).unwrap_or(path);
            let what = CleanText::line(&format!("{what} written to {}.", path.display()));
            Msg::ActionFinished { what, result: Ok(()) }
        }
        Ok((Ok(WriteResult::Exists), text)) => Msg::FileExists(NewFile { name, text, what }),
        Ok((Err(error), _)) => {
            let why = error.to_string().to_lowercase();
            let why = why.split(" (os error").next().unwrap_or_default();
            Msg::ActionFinished { result: failure(why), what: wanted }
        }
        Err(_) => Msg::ActionFinished { result: failure("docdeck is about to end"), what: wanted },
    }
}

fn write(path: &Path, text: &str, overwrite: Overwrite) -> io::Result<WriteResult> {
    match overwrite {
        Overwrite::Never => write_beside(path, text).map(WriteResult::At),
        Overwrite::Ask => match write_new(path, text) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(WriteResult::Exists),
            done => done.map(|()| WriteResult::At(path.to_path_buf())),
        },
        Overwrite::Yes => write_over(path, text).map(|()| WriteResult::At(path.to_path_buf())),
    }
}

/// Writes to the first of `name`, `name-2`, … that is free.
fn write_beside(name: &Path, text: &str) -> io::Result<PathBuf> {
    for n in 1..=TRIES {
        let path = numbered(name, n);
        match write_new(&path, text) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many files of that name are there already"))
}

/// Writes a file that must not be there yet; what was begun and not finished is taken away again.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = create(path)?;
    let done = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if done.is_err() {
        drop(file);
        let _ = std::fs::remove_file(path);
    }
    done
}

/// Puts a file that is finished in the place of the old one: until then the old one is whole.
fn write_over(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = write_beside(&path.with_file_name(format!(".{name}.new")), text)?;
    let done = std::fs::rename(&new, path);
    if done.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    done
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// `jobs.json`, `jobs-2.json`, …
fn numbered(name: &Path, n: u32) -> PathBuf {
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
    fn a_file_that_is_there_is_never_written_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().join("jobs.json");
        let paths: Vec<PathBuf> =
            ["a", "b", "c"].iter().map(|text| write_beside(&name, text).expect("written")).collect();
        let names: Vec<_> = paths.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!(names, ["jobs.json", "jobs-2.json", "jobs-3.json"]);
        let texts: Vec<String> = paths.iter().map(|path| std::fs::read_to_string(path).expect("there")).collect();
        assert_eq!(texts, ["a", "b", "c"]);
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = write_beside(&folder.path().join("jobs"), "x").expect("written");
        assert_eq!(std::fs::metadata(path).expect("there").permissions().mode() & 0o777, 0o600);
    }

    #[tokio::test]
    async fn it_says_where_it_wrote_or_why_it_could_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = |part: &str| folder.path().join(part).display().to_string();
        let file = |name: String| NewFile { name, text: "x".into(), what: CleanText::line("3 jobs") };
        let written = |name: String| written(None, file(name), Overwrite::Never);
        match written(name("jobs.json")).await {
            Msg::ActionFinished { what, result: Ok(()) } => {
                assert_eq!(what.as_str(), format!("3 jobs written to {}.", name("jobs.json")));
            }
            other => panic!("{other:?}"),
        }
        match written(name("none/jobs.json")).await {
            Msg::ActionFinished { result: Err(failure), .. } => {
                let said = failure.sentence.as_str();
                assert!(
                    said.ends_with("could not be written to the current folder: no such file or directory."),
                    "{said}"
                );
            }
            other => panic!("{other:?}"),
        }
    }

    fn views() -> NewFile {
        NewFile { name: "views.csv".into(), text: "new".into(), what: CleanText::line("2 pages as CSV") }
    }

    #[tokio::test]
    async fn a_file_in_the_way_is_asked_about_and_written_over_only_after_a_yes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("views.csv");
        std::fs::write(&path, "old").expect("written");
        let write = |overwrite| written(Some(folder.path().to_owned()), views(), overwrite);
        match write(Overwrite::Ask).await {
            Msg::FileExists(file) => assert_eq!(file, views()),
            other => panic!("{other:?}"),
        }
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "old");
        match write(Overwrite::Yes).await {
            Msg::ActionFinished { what, result: Ok(()) } => assert!(what.as_str().ends_with("views.csv."), "{what}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "new");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left beside it");
    }

    #[tokio::test]
    async fn what_is_in_the_way_stays_whole_where_writing_over_it_fails() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("views.csv/kept");
        std::fs::create_dir(folder.path().join("views.csv")).expect("a folder in the way");
        std::fs::write(&inside, "old").expect("written");
        let written = written(Some(folder.path().to_owned()), views(), Overwrite::Yes);
        assert!(matches!(written.await, Msg::ActionFinished { result: Err(_), .. }));
        assert_eq!(std::fs::read_to_string(&inside).expect("there"), "old");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left beside it");
    }
}
