//! Opens the store in the data folder, and checks whether the folder contains a store or one can be created there.

use super::error::CliError;
use super::out::Out;
use crate::api::Route;
use crate::config::file::system_message;
use crate::model::endpoint::Scope;
use crate::model::text::CleanText;
use crate::store::{DATABASE_FILE, OpenOutcome, Store, StoreError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The magic numbers of procfs and sysfs, Linux file systems that can't store files.
#[cfg(target_os = "linux")]
const PROC_MAGIC: u64 = 0x9fa0;
#[cfg(target_os = "linux")]
const SYSFS_MAGIC: u64 = 0x6265_6572;

/// Checks the service's address and the data folder, so that a mistake in either is not reported as "no jobs".
///
/// # Errors
/// Fails if the address is invalid, or the folder can't be read.
pub(super) fn check_service_and_folder(scope: &Scope, folder: &Path) -> Result<(), CliError> {
    Route::for_scope(scope).map_err(CliError::local_error)?;
    store_exists(folder).map(|_| ())
}

/// Whether the folder contains a store. If false, a store can be created there.
///
/// # Errors
/// Fails if the folder can't be read, or has no store and none can be created.
pub(super) fn store_exists(folder: &Path) -> Result<bool, CliError> {
    match Store::try_exists(folder) {
        Ok(true) => Ok(true),
        Ok(false) => match unavailable_reason(folder) {
            Some(sentence) => Err(CliError::local_error(sentence)),
            None => Ok(false),
        },
        Err(error) => {
            let remedy = if error.kind() == ErrorKind::PermissionDenied {
                format!("run chmod u+rwx {} as its owner, or choose", shell_quoted(folder))
            } else {
                "choose".to_owned()
            };
            let (folder, why) = (folder.display(), system_message(&error));
            Err(CliError::local_error(format!(
                "The data folder {folder} can't be used ({why}): {remedy} another one with --data-dir."
            )))
        }
    }
}

/// The reason why no store can be created in a folder.
#[derive(Debug)]
pub(super) struct StoreUnavailable {
    /// The path that `why` is about: the folder or, if the folder doesn't exist, its closest existing ancestor.
    existing_path: PathBuf,
    why: CleanText,
}

impl StoreUnavailable {
    /// Checks a folder without creating anything. Returns `None` if a store can be created there.
    pub(super) fn check(folder: &Path) -> Option<Self> {
        // The last ancestor of a relative path is an empty path. It means the current folder, but can't be opened.
        let mut above = folder.ancestors().map(|above| if above == Path::new("") { Path::new(".") } else { above });
        let existing_path = above.find(|above| above.symlink_metadata().is_ok())?;
        let why =
            if existing_path.is_dir() { unwritable_reason(existing_path)? } else { CleanText::line("not a directory") };
        Some(Self { existing_path: existing_path.to_path_buf(), why })
    }

    /// Returns the reason as the end of a sentence that begins with the folder's name.
    pub(super) fn description(&self, folder: &Path) -> String {
        let Self { existing_path, why } = self;
        match (existing_path == folder, existing_path.is_dir()) {
            (true, true) => format!("can't be written ({why})"),
            (true, false) => "is not a folder".to_owned(),
            (false, _) => format!("doesn't exist and can't be created in {} ({why})", existing_path.display()),
        }
    }

    /// Returns what the user can do so that a store can be created.
    pub(super) fn remedy(&self) -> String {
        match self.why.as_str() {
            "permission denied" => {
                format!(
                    "run chmod u+rwx {} as its owner, or choose another one with --data-dir",
                    shell_quoted(&self.existing_path)
                )
            }
            _ => "choose another one with --data-dir".to_owned(),
        }
    }

    fn sentence(&self, folder: &Path) -> String {
        let (shown, description) = (folder.display(), self.description(folder));
        format!("The data folder {shown} {description}, so nothing can be loaded or saved: {}.", self.remedy())
    }
}

/// Returns why the folder can't be used, or `None` if it contains a store or one can be created there.
pub(super) fn unavailable_reason(folder: &Path) -> Option<CleanText> {
    let unavailable = if Store::exists(folder) { None } else { StoreUnavailable::check(folder) };
    unavailable.map(|unavailable| CleanText::line(&unavailable.sentence(folder)))
}

/// Returns why files can't be created in the folder, or `None` if they can. Checks this without writing.
pub(super) fn unwritable_reason(folder: &Path) -> Option<CleanText> {
    #[cfg(unix)]
    {
        use rustix::fs::Access;
        if let Err(error) = rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK) {
            return Some(system_message(&error.into()));
        }
    }
    // On procfs and sysfs, root passes the access check but can't create files.
    #[cfg(target_os = "linux")]
    if rustix::fs::statfs(folder).is_ok_and(|found| matches!(u64::try_from(found.f_type), Ok(PROC_MAGIC | SYSFS_MAGIC)))
    {
        return Some(CleanText::line("this file system can't store files"));
    }
    #[cfg(not(unix))]
    if std::fs::metadata(folder).is_ok_and(|found| found.permissions().readonly()) {
        return Some(CleanText::line("permission denied"));
    }
    None
}

/// Whether the file's permissions forbid reading it.
fn is_read_denied(file: &Path) -> bool {
    std::fs::File::open(file).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

/// Returns the path, quoted for a shell if necessary. Writes the home folder in full, because a shell doesn't expand
/// `~` in quotes.
pub(super) fn shell_quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+' | ',' | ':' | '@' | '%');
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Opens the store in a folder and prints what was repaired.
///
/// # Errors
/// Fails if the store can't be used, or `for_writing` is true and the store is read-only.
pub(super) fn open_store(folder: &Path, for_writing: bool, out: &mut Out) -> Result<Store, CliError> {
    let (store, opened) = open_and_print_repairs(folder, out)?;
    if for_writing && opened.is_read_only {
        return Err(cli_store_error(folder, &StoreError::ReadOnly));
    }
    Ok(store)
}

/// Opens the store like [`open_store`], but fails if the store was damaged and has just been recovered. A recovered
/// store may be incomplete, and its export could replace a complete backup.
///
/// # Errors
/// Fails like [`open_store`], and if the store was damaged.
pub(super) async fn open_undamaged(folder: &Path, for_writing: bool, out: &mut Out) -> Result<Store, CliError> {
    let (store, opened) = open_and_print_repairs(folder, out)?;
    if opened.damaged_file.is_some() {
        store.close().await;
        return Err(CliError::local_error(
            "Nothing was done, because the recovered data may be incomplete. Check it with `docdeck jobs`, then try again.",
        ));
    }
    if for_writing && opened.is_read_only {
        return Err(cli_store_error(folder, &StoreError::ReadOnly));
    }
    Ok(store)
}

/// Opens the store in a folder and prints what was repaired. The caller must check whether the store is read-only.
///
/// # Errors
/// Fails if the store can't be used.
pub(super) fn open_and_print_repairs(folder: &Path, out: &mut Out) -> Result<(Store, OpenOutcome), CliError> {
    let (store, opened) = Store::open(folder, chrono::Utc::now()).map_err(|error| cli_store_error(folder, &error))?;
    note_repairs(&opened, out);
    if let Some(warning) = permission_warning(folder) {
        out.note(&format!("docdeck: {warning}"));
    }
    Ok((store, opened))
}

/// Describes a store error for a command that sends nothing. Most default messages of [`StoreError`] don't fit such a
/// command, because they are about saving and sending.
pub(super) fn cli_store_error(folder: &Path, error: &StoreError) -> CliError {
    let file = folder.join(DATABASE_FILE);
    if is_read_denied(&file) {
        let (shown, file) = (file.display(), shell_quoted(&file));
        let remedy = format!("run chmod 600 {file} as its owner, or choose another folder with --data-dir");
        return CliError::local_error(format!("Can't read the database {shown} (permission denied): {remedy}."));
    }
    let folder = folder.display();
    CliError::local_error(match error {
        StoreError::ReadOnly => {
            format!(
                "The data folder {folder} can't be written, so nothing was changed: make it writable, or choose \
                 another one with --data-dir."
            )
        }
        StoreError::DiskFull | StoreError::WriteRefused => {
            format!("The disk of {folder} is full, so nothing was changed: free some space, then try again.")
        }
        StoreError::Busy => {
            format!("Another docdeck kept the database in {folder} locked, so nothing was changed: try again.")
        }
        other => other.failure().message.to_string(),
    })
}

fn note_repairs(opened: &OpenOutcome, out: &mut Out) {
    if let Some(sentence) = repair_message(opened) {
        out.note(&format!("docdeck: {sentence}"));
    }
}

/// Returns a warning if the data folder is a link to a folder that other users can read. docdeck doesn't change the
/// permissions of such a folder, because it may contain other things.
pub(super) fn permission_warning(folder: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let is_link = folder.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let target = std::fs::canonicalize(folder).ok().filter(|_| is_link)?;
        let mode = target.metadata().ok()?.permissions().mode();
        if mode & 0o077 != 0 {
            return Some(format!(
                "Other users can read the data folder {}: run chmod 700 {}, or choose another one with --data-dir.",
                target.display(),
                shell_quoted(&target)
            ));
        }
    }
    #[cfg(not(unix))]
    let _ = folder;
    None
}

/// Describes what was repaired when the store was opened. Returns `None` if nothing was repaired.
pub(super) fn repair_message(opened: &OpenOutcome) -> Option<String> {
    match &opened.damaged_file {
        Some(damaged_file) => Some(format!(
            "The database was damaged. {} The damaged file is kept as {}.",
            opened.recovery_counts.message(),
            damaged_file.display()
        )),
        None => {
            opened.has_rebuilt_indexes.then(|| "An index of the database was damaged and has been rebuilt.".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_only_if_a_shell_would_split_it() {
        assert_eq!(shell_quoted(Path::new("/home/me/.local/share/docdeck")), "/home/me/.local/share/docdeck");
        assert_eq!(shell_quoted(Path::new("/a b/it's")), "'/a b/it'\\''s'");
    }
}
