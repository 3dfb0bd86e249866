//! Checks the permissions of docdeck's folders and files: 0700 for the data folder, 0600 for its files.

use super::super::data_folder::{shell_quoted, unwritable_reason};
use super::report::DoctorReport;
use std::path::{Path, PathBuf};

/// The permission bits of all users except the owner.
const OTHER_USERS_ACCESS: u32 = 0o077;
/// The permission bits that let users other than the owner write.
const OTHER_USERS_WRITE: u32 = 0o022;

/// Checks the configuration folder, which other users may read but not change.
pub(super) fn check_config_folder(report: &mut DoctorReport, folder: &Path) {
    let shown = folder.display();
    match permissions(folder) {
        Some(mode) if mode & OTHER_USERS_WRITE != 0 => {
            let message =
                format!("{shown}, mode {mode:o}: other users can replace config.toml, which names programs to run");
            report.warning("config folder", message, format!("chmod go-w {}", shell_quoted(folder)));
        }
        Some(mode) => report.ok("config folder", format!("{shown}, mode {mode:o}")),
        None => report.ok("config folder", format!("{shown}")),
    }
}

/// Checks the folder of the store and the log.
pub(super) fn check_data_folder(report: &mut DoctorReport, folder: &Path) {
    let (shown, name) = (folder.display(), "data folder");
    if let Some(why) = unwritable_reason(folder) {
        let message = format!("{shown} can't be written ({why}): nothing can be saved or sent");
        let remedy = match why.as_str() {
            "permission denied" => format!("chmod 700 {}, or choose another one with --data-dir", shell_quoted(folder)),
            _ => "choose another one with --data-dir".to_owned(),
        };
        return report.problem(name, message, remedy);
    }
    let remedy = || format!("chmod 700 {}, unless other users need it", shell_quoted(folder));
    match permissions(folder) {
        Some(mode) if mode & OTHER_USERS_WRITE != 0 => {
            report.warning(name, format!("{shown}, mode {mode:o}: other users can write to it"), remedy());
        }
        Some(mode) if mode & OTHER_USERS_ACCESS != 0 => {
            report.warning(name, format!("{shown}, mode {mode:o}: other users can read it"), remedy());
        }
        Some(mode) => report.ok(name, format!("{shown}, mode {mode:o}")),
        None => report.ok(name, format!("{shown}")),
    }
}

/// Checks the permissions of the files in the data folder, because the store contains prompts and jobs, and the log
/// contains requests.
pub(super) fn check_data_files(report: &mut DoctorReport, folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("docdeck") || name.ends_with(".lock")
    };
    let mut ours: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_file()).filter(is_ours).collect();
    ours.sort();
    let open: Vec<(PathBuf, u32)> = ours
        .iter()
        .filter_map(|path| Some((path.clone(), permissions(path)?)))
        .filter(|(_, mode)| mode & OTHER_USERS_ACCESS != 0)
        .collect();
    if ours.is_empty() || (open.is_empty() && ours.iter().all(|path| permissions(path).is_none())) {
        return;
    }
    if open.is_empty() {
        return report.ok("files", "only you can read and write them");
    }
    let names: Vec<String> = open
        .iter()
        .map(|(path, mode)| format!("{} {mode:o}", path.file_name().unwrap_or_default().to_string_lossy()))
        .collect();
    let paths: Vec<String> = open.iter().map(|(path, _)| shell_quoted(path)).collect();
    let message = format!("other users have access: {}", names.join(", "));
    report.warning("files", message, format!("chmod 600 {}", paths.join(" ")));
}

/// Returns the permission bits, or `None` if the path can't be read or the platform has no such bits.
pub(super) fn permissions(path: &Path) -> Option<u32> {
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
