//! Checks the permissions of docdeck's folders and files: 0700 for the data folder, 0600 for its files.

use super::super::data_folder::{StoreUnavailable, shell_quoted, unwritable_reason};
use super::facts::Facts;
use super::report::{CheckResult, ok, problem, warning};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The permission bits of all users except the owner.
const OTHER_USERS_ACCESS: u32 = 0o077;
/// The permission bits that let users other than the owner write.
const OTHER_USERS_WRITE: u32 = 0o022;

/// Checks the configuration folder, which other users may read but not change.
pub(super) fn config_folder(facts: &Facts<'_>) -> CheckResult {
    facts.folder()?;
    let folder = facts.config_file().parent().filter(|folder| folder.is_dir())?;
    let shown = format!("{}{}", folder.display(), mode_text(folder));
    if permissions(folder).is_none_or(|mode| mode & OTHER_USERS_WRITE == 0) {
        return ok(shown);
    }
    let message = format!("{shown}: other users can replace config.toml, which names programs to run");
    warning(message, chmod("go-w", folder))
}

/// Checks the folder of the store and the log.
pub(super) fn data_folder(facts: &Facts<'_>) -> CheckResult {
    let folder = facts.folder()?;
    let shown = folder.display();
    if !folder.is_dir() {
        return match StoreUnavailable::of(folder) {
            Some(reason) => problem(format!("{shown} {}", reason.description(folder)), reason.remedy()),
            None => ok(format!("{shown} doesn't exist yet; the first start creates it")),
        };
    }
    if let Some(why) = unwritable_reason(folder) {
        let other = "choose another one with --data-dir";
        let remedy = match why.as_str() {
            "permission denied" => format!("{}, or {other}", chmod("700", folder)),
            _ => other.to_owned(),
        };
        return problem(format!("{shown} can't be written ({why}): nothing can be saved or sent"), remedy);
    }
    let shown = format!("{shown}{}", mode_text(folder));
    let access = match permissions(folder).unwrap_or(0) & OTHER_USERS_ACCESS {
        0 => return ok(shown),
        mode if mode & OTHER_USERS_WRITE == 0 => "read",
        _ => "write to",
    };
    let remedy = format!("{}, unless other users need it", chmod("700", folder));
    warning(format!("{shown}: other users can {access} it"), remedy)
}

/// Checks the permissions of the files in the data folder, because the store contains prompts and jobs, and the log
/// contains requests.
pub(super) fn data_files(facts: &Facts<'_>) -> CheckResult {
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        path.is_file() && (name.starts_with("docdeck") || name.ends_with(".lock"))
    };
    let paths = std::fs::read_dir(facts.folder()?).ok()?.flatten().map(|entry| entry.path()).filter(is_ours);
    let mut files: Vec<(PathBuf, u32)> = paths.filter_map(|path| Some((path.clone(), permissions(&path)?))).collect();
    if files.is_empty() {
        return None;
    }
    files.retain(|(_, mode)| mode & OTHER_USERS_ACCESS != 0);
    if files.is_empty() {
        return ok("only you can read and write them");
    }
    files.sort();
    let names = files.iter().map(|(path, mode)| format!("{} {mode:o}", path.file_name().unwrap_or_default().display()));
    let paths: Vec<String> = files.iter().map(|(path, _)| shell_quoted(path)).collect();
    let message = format!("other users have access: {}", names.collect::<Vec<_>>().join(", "));
    warning(message, format!("chmod 600 {}", paths.join(" ")))
}

/// Returns the command that changes the permissions.
pub(super) fn chmod(mode: &str, path: &Path) -> String {
    format!("chmod {mode} {}", shell_quoted(path))
}

/// Returns the permission bits as the end of a message. The text is empty if they are unknown.
pub(super) fn mode_text(path: &Path) -> String {
    permissions(path).map_or_else(String::new, |mode| format!(", mode {mode:o}"))
}

/// Returns the permission bits, or `None` if the path can't be read or the platform has no such bits.
fn permissions(path: &Path) -> Option<u32> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path).ok().map(|found| found.permissions().mode() & 0o777)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Whether this user may write to the path, checked without writing.
pub(super) fn is_path_writable(path: &Path) -> bool {
    #[cfg(unix)]
    {
        rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
    }
    #[cfg(not(unix))]
    {
        std::fs::metadata(path).is_ok_and(|found| !found.permissions().readonly())
    }
}
