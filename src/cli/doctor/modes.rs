//! Who may read and write what docdeck keeps (design: the data folder 0700, its files 0600), and how to mend it. Looks only.

use super::super::data_folder::{quoted, writing_fails};
use super::report::DoctorReport;
use std::path::{Path, PathBuf};

/// Anybody but the owner, and their right to write.
const OTHERS: u32 = 0o077;
const OTHERS_WRITE: u32 = 0o022;

/// The folder of the configuration: others may look into it, as long as they can change nothing.
pub(super) fn config_folder(report: &mut DoctorReport, folder: &Path) {
    let shown = folder.display();
    match permissions(folder) {
        Some(mode) if mode & OTHERS_WRITE != 0 => {
            let says =
                format!("{shown}, mode {mode:o}: others can put another config.toml there, which names what is run");
            report.warning("config folder", says, format!("chmod go-w {}", quoted(folder)));
        }
        Some(mode) => report.ok("config folder", format!("{shown}, mode {mode:o}")),
        None => report.ok("config folder", format!("{shown}")),
    }
}

/// The folder of record and log.
pub(super) fn data_folder(report: &mut DoctorReport, folder: &Path) {
    let (shown, name) = (folder.display(), "data folder");
    if let Some(why) = writing_fails(folder) {
        let says = format!("{shown} can't be written ({why}): nothing can be saved or sent");
        let remedy = match why.as_str() {
            "permission denied" => format!("chmod 700 {}, or choose another one with --data-dir", quoted(folder)),
            _ => "choose another one with --data-dir".to_owned(),
        };
        return report.problem(name, says, remedy);
    }
    let remedy = || format!("chmod 700 {}, unless others keep things there as well", quoted(folder));
    match permissions(folder) {
        Some(mode) if mode & OTHERS_WRITE != 0 => {
            report.warning(name, format!("{shown}, mode {mode:o}: others can write in it"), remedy());
        }
        Some(mode) if mode & OTHERS != 0 => {
            report.warning(name, format!("{shown}, mode {mode:o}: others can look into it"), remedy());
        }
        Some(mode) => report.ok(name, format!("{shown}, mode {mode:o}")),
        None => report.ok(name, format!("{shown}")),
    }
}

/// The files in it: prompts and jobs are in the record, requests in the log.
pub(super) fn data_files(report: &mut DoctorReport, folder: &Path) {
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
        .filter(|(_, mode)| mode & OTHERS != 0)
        .collect();
    if ours.is_empty() || (open.is_empty() && ours.iter().all(|path| permissions(path).is_none())) {
        return;
    }
    if open.is_empty() {
        return report.ok("files", "yours alone: nobody else can read or write one");
    }
    let names: Vec<String> = open
        .iter()
        .map(|(path, mode)| format!("{} {mode:o}", path.file_name().unwrap_or_default().to_string_lossy()))
        .collect();
    let paths: Vec<String> = open.iter().map(|(path, _)| quoted(path)).collect();
    let says = format!("open to others by their modes: {}", names.join(", "));
    report.warning("files", says, format!("chmod 600 {}", paths.join(" ")));
}

/// The permission bits; none where there are no such.
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

/// Whether this user may write it, asked without writing.
pub(super) fn is_writable(path: &Path) -> bool {
    #[cfg(unix)]
    {
        rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
    }
    #[cfg(not(unix))]
    {
        std::fs::metadata(path).is_ok_and(|found| !found.permissions().readonly())
    }
}
