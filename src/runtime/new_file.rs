//! Writing an export to a new file in the current folder: never over one that is there, readable by its owner alone.

use crate::app::{Msg, Overwrite};
use crate::model::failure::{Failure, FailureKind};
use crate::model::text::CleanText;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Names that are tried: `name`, `name-2`, … `name-999`.
const TRIES: u32 = 999;

/// Writes the text and says where.
pub(super) async fn written(name: String, text: String, _overwrite: Overwrite) -> Msg {
    let wanted = CleanText::line(&name);
    let done = tokio::task::spawn_blocking(move || write(Path::new(&name), &text)).await;
    let failure = |why: &str| {
        let sentence = format!("{wanted} could not be written to the current folder: {why}.");
        Err(Failure::new(FailureKind::Local, &sentence))
    };
    match done {
        Ok(Ok(path)) => {
            let what = CleanText::line(&format!("written to {}", path.display()));
            Msg::Handed { what, result: Ok(()) }
        }
        Ok(Err(error)) => {
            let why = error.to_string().to_lowercase();
            let why = why.split(" (os error").next().unwrap_or_default();
            Msg::Handed { result: failure(why), what: wanted }
        }
        Err(_) => Msg::Handed { result: failure("docdeck is about to end"), what: wanted },
    }
}

/// Writes to the first of `name`, `name-2`, … that is free; what was begun and not finished is taken away again.
fn write(name: &Path, text: &str) -> io::Result<PathBuf> {
    for n in 1..=TRIES {
        let path = numbered(name, n);
        let mut file = match create(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        let done = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        if let Err(error) = done {
            drop(file);
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
        return Ok(path);
    }
    Err(io::Error::other("too many files of that name are there already"))
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
        let paths: Vec<PathBuf> = ["a", "b", "c"].iter().map(|text| write(&name, text).expect("written")).collect();
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
        let path = write(&folder.path().join("jobs"), "x").expect("written");
        assert_eq!(std::fs::metadata(path).expect("there").permissions().mode() & 0o777, 0o600);
    }

    #[tokio::test]
    async fn it_says_where_it_wrote_or_why_it_could_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = |part: &str| folder.path().join(part).display().to_string();
        match written(name("jobs.json"), "x".into(), Overwrite::Never).await {
            Msg::Handed { what, result: Ok(()) } => {
                assert_eq!(what.as_str(), format!("written to {}", name("jobs.json")));
            }
            other => panic!("{other:?}"),
        }
        match written(name("none/jobs.json"), "x".into(), Overwrite::Never).await {
            Msg::Handed { result: Err(failure), .. } => {
                let said = failure.sentence.as_str();
                assert!(
                    said.ends_with("could not be written to the current folder: no such file or directory."),
                    "{said}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
}
