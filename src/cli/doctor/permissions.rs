//! Checks the permissions of docdeck's folders. The data folder should be 0700, which also protects the files in it.

use super::super::data_folder::{StoreUnavailable, shell_quoted, unwritable_reason};
use super::facts::DoctorFacts;
use super::report::{CheckResult, error, ok, problem, warning};
use std::path::Path;

/// The permission bits of all users except the owner.
const OTHER_USERS_ACCESS: u32 = 0o077;
/// The permission bits that let users other than the owner write.
const OTHER_USERS_WRITE: u32 = 0o022;

/// Checks that other users can't change the configuration folder. Reading it is allowed.
pub(super) fn config_folder(facts: &DoctorFacts<'_>) -> CheckResult {
    facts.data_folder_path()?;
    let folder = facts.config_file_path().parent().filter(|folder| folder.is_dir())?;
    let shown = format!("{}{}", folder.display(), mode_text(folder));
    if permissions(folder).is_none_or(|mode| mode & OTHER_USERS_WRITE == 0) {
        return ok(shown);
    }
    let message = format!("{shown}: other users can replace config.toml, which names programs to run");
    warning(message, chmod_command("go-w", folder))
}

/// Checks the folder of the store and the log.
pub(super) fn data_folder(facts: &DoctorFacts<'_>) -> CheckResult {
    let folder = match &facts.data_folder {
        Ok(folder) => folder,
        Err(mistake) => return error(mistake),
    };
    let shown = folder.display();
    if !folder.is_dir() {
        return match StoreUnavailable::check(folder) {
            Some(reason) => problem(format!("{shown} {}", reason.description(folder)), reason.remedy()),
            None => ok(format!("{shown} doesn't exist yet; the first start creates it")),
        };
    }
    if let Some(why) = unwritable_reason(folder) {
        let other = "choose another one with --data-dir";
        let remedy = match why.as_str() {
            "permission denied" => format!("{}, or {other}", chmod_command("700", folder)),
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
    let remedy = format!("{}, unless other users need it", chmod_command("700", folder));
    warning(format!("{shown}: other users can {access} it"), remedy)
}

pub(super) fn chmod_command(mode: &str, path: &Path) -> String {
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
