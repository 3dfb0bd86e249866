//! The data folder as commands find it: whether there is a store in it, whether that can be used, and what is said where
//! it can't.

use super::error::CliError;
use super::out::Out;
use crate::api::Route;
use crate::config::file::plain;
use crate::model::endpoint::Scope;
use crate::model::text::CleanText;
use crate::store::{FILE, Opened, Store, StoreError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Kinds of file systems on Linux that show the system and keep nothing.
#[cfg(target_os = "linux")]
const PROC: u64 = 0x9fa0;
#[cfg(target_os = "linux")]
const SYS: u64 = 0x6265_6572;

/// Whether something can be known of such a service in such a folder: of another nothing is known, and that is not
/// nothing.
///
/// # Errors
/// No service can have this address, or nobody can look into the folder.
pub(super) fn can_be_known(scope: &Scope, folder: &Path) -> Result<(), CliError> {
    Route::to(scope).map_err(CliError::unusable)?;
    is_there(folder).map(|_| ())
}

/// Whether there is a store in the folder. Where there is none, one could be made: a folder in which none ever can be is not
/// one of which nothing is known yet.
///
/// # Errors
/// Nobody can look into it, or no store can be made there.
pub(super) fn is_there(folder: &Path) -> Result<bool, CliError> {
    match Store::look_for(folder) {
        Ok(true) => Ok(true),
        Ok(false) => match barred(folder) {
            Some(sentence) => Err(CliError::unusable(sentence)),
            None => Ok(false),
        },
        Err(error) => {
            let remedy = if error.kind() == ErrorKind::PermissionDenied {
                format!("get the right to it (chmod u+rwx {}, as its owner), or choose", quoted(folder))
            } else {
                "choose".to_owned()
            };
            let (folder, why) = (folder.display(), plain(&error));
            Err(CliError::unusable(format!(
                "The data folder {folder} can't be used ({why}): {remedy} another one with --data-dir."
            )))
        }
    }
}

/// Why no store can be made in a folder without one.
#[derive(Debug)]
pub(super) struct StoreUnavailable {
    /// The folder itself, or the one above it in which it would have to be made.
    at: PathBuf,
    why: CleanText,
}

impl StoreUnavailable {
    /// Looks only: nothing is made. None where a store could be made.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        // Of a relative path the last one is empty, and means the folder that the shell is in.
        let mut above = folder.ancestors().map(|above| if above == Path::new("") { Path::new(".") } else { above });
        let at = above.find(|above| above.symlink_metadata().is_ok())?;
        let why = if at.is_dir() { writing_fails(at)? } else { CleanText::line("not a directory") };
        Some(Self { at: at.to_path_buf(), why })
    }

    /// What is so, without the folder's name.
    pub(super) fn says(&self, folder: &Path) -> String {
        let Self { at, why } = self;
        match (at == folder, at.is_dir()) {
            (true, true) => format!("can't be written ({why})"),
            (true, false) => "is no folder".to_owned(),
            (false, _) => format!("is not there and can't be made in {} ({why})", at.display()),
        }
    }

    /// What to do.
    pub(super) fn remedy(&self) -> String {
        match self.why.as_str() {
            "permission denied" => {
                format!(
                    "get the right to write in {} (chmod u+rwx, as its owner), or choose another one with --data-dir",
                    quoted(&self.at)
                )
            }
            _ => "choose another one with --data-dir".to_owned(),
        }
    }

    fn sentence(&self, folder: &Path) -> String {
        let (shown, says) = (folder.display(), self.says(folder));
        format!("The data folder {shown} {says}, so nothing is known and nothing can be kept: {}.", self.remedy())
    }
}

/// Why nothing can be known or kept in a folder; none where there is a store, or where one could be made.
pub(super) fn barred(folder: &Path) -> Option<CleanText> {
    let barred = if Store::is_there(folder) { None } else { StoreUnavailable::of(folder) };
    barred.map(|barred| CleanText::line(&barred.sentence(folder)))
}

/// Why nothing can be written in a folder, asked without writing; none where it can.
pub(super) fn writing_fails(folder: &Path) -> Option<CleanText> {
    #[cfg(unix)]
    {
        use rustix::fs::Access;
        if let Err(error) = rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK) {
            return Some(plain(&error.into()));
        }
    }
    // The system lets root write there, and makes nothing all the same.
    #[cfg(target_os = "linux")]
    if rustix::fs::statfs(folder).is_ok_and(|found| matches!(u64::try_from(found.f_type), Ok(PROC | SYS))) {
        return Some(CleanText::line("this file system keeps no files"));
    }
    #[cfg(not(unix))]
    if std::fs::metadata(folder).is_ok_and(|found| found.permissions().readonly()) {
        return Some(CleanText::line("permission denied"));
    }
    None
}

/// Whether the permissions of a file forbid to read it.
pub(super) fn is_denied(file: &Path) -> bool {
    std::fs::File::open(file).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

/// As it is to be typed into a shell. The home folder is shortened later: in quotes `~` would not be taken for it.
pub(super) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+' | ',' | ':' | '@' | '%');
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Opens the store in a folder, whatever is known of a service, and notes what was repaired.
///
/// # Errors
/// It can't be used, or with `writing` not be written.
pub(super) fn open_store(folder: &Path, writing: bool, out: &mut Out) -> Result<Store, CliError> {
    let (store, opened) = opened(folder, out)?;
    if writing && opened.read_only {
        return Err(unusable(folder, &StoreError::ReadOnly));
    }
    Ok(store)
}

/// As [`open_store`], but refuses a store that was just recovered: an incomplete backup would replace a good one.
///
/// # Errors
/// As [`open_store`]; it was damaged.
pub(super) async fn open_sound(folder: &Path, writing: bool, out: &mut Out) -> Result<Store, CliError> {
    let (store, opened) = opened(folder, out)?;
    if opened.moved_aside.is_some() {
        store.close().await;
        return Err(CliError::unusable(
            "Nothing was done: what was recovered may be incomplete. Check it with `docdeck jobs`, then run this again.",
        ));
    }
    if writing && opened.read_only {
        return Err(unusable(folder, &StoreError::ReadOnly));
    }
    Ok(store)
}

/// Opens the store in a folder, and notes what was repaired; whether it can be written is for the caller to look at.
///
/// # Errors
/// It can't be used.
pub(super) fn opened(folder: &Path, out: &mut Out) -> Result<(Store, Opened), CliError> {
    let (store, opened) = Store::open(folder, chrono::Utc::now()).map_err(|error| unusable(folder, &error))?;
    tell_repaired(&opened, out);
    if let Some(warning) = open_to_others(folder) {
        out.note(&format!("docdeck: {warning}"));
    }
    Ok((store, opened))
}

/// What the store of this folder can't do, for commands that send nothing: the store's own sentences are about prompts.
pub(super) fn unusable(folder: &Path, error: &StoreError) -> CliError {
    let file = folder.join(FILE);
    if is_denied(&file) {
        let (shown, file) = (file.display(), quoted(&file));
        let remedy = format!("its owner can mend that with chmod 600 {file}; or choose another folder with --data-dir");
        return CliError::unusable(format!("The store {shown} can't be read (permission denied): {remedy}."));
    }
    let folder = folder.display();
    CliError::unusable(match error {
        StoreError::ReadOnly => {
            format!(
                "The data folder {folder} can't be written, so nothing was changed: make it writable, or choose another \
                 one with --data-dir."
            )
        }
        StoreError::Full | StoreError::Refused => {
            format!("The disk of {folder} takes no more, so nothing was changed: free some space, then try again.")
        }
        StoreError::Busy => {
            format!("Another docdeck kept the store in {folder} locked, so nothing was changed: try again.")
        }
        other => other.failure().sentence.to_string(),
    })
}

/// Notes what was repaired.
fn tell_repaired(opened: &Opened, out: &mut Out) {
    if let Some(sentence) = repaired(opened) {
        out.note(&format!("docdeck: {sentence}"));
    }
}

/// What to do if the data folder is a link to a folder that others can look into: a folder that has other things as well
/// is not closed by docdeck, and a link hides that.
pub(super) fn open_to_others(folder: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let is_link = folder.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let target = std::fs::canonicalize(folder).ok().filter(|_| is_link)?;
        let mode = target.metadata().ok()?.permissions().mode();
        if mode & 0o077 != 0 {
            return Some(format!(
                "Others can look into the data folder {}: run chmod 700 {}, or choose another one with --data-dir.",
                target.display(),
                quoted(&target)
            ));
        }
    }
    #[cfg(not(unix))]
    let _ = folder;
    None
}

/// What was repaired when the store was opened; none if nothing was.
pub(super) fn repaired(opened: &Opened) -> Option<String> {
    match &opened.moved_aside {
        Some(aside) => Some(format!(
            "The database was damaged. {} The damaged file is kept as {}.",
            opened.recovered.sentence(),
            aside.display()
        )),
        None => opened.rebuilt.then(|| "An index of the database was damaged and has been rebuilt.".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_only_where_a_shell_would_break_it() {
        assert_eq!(quoted(Path::new("/home/me/.local/share/docdeck")), "/home/me/.local/share/docdeck");
        assert_eq!(quoted(Path::new("/a b/it's")), "'/a b/it'\\''s'");
    }
}
