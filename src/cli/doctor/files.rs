//! Checks folders, disk space, the store, other instances and the request budgets. Creates no file and no folder;
//! changes the store only to repair it.

use super::super::data_folder::{
    StoreUnavailable, is_denied, repair_message, shell_quoted, store_failure, unwritable_reason,
};
use super::modes::{self, is_path_writable, permissions};
use super::report::DoctorReport;
use super::settings::ResolvedSettings;
use crate::engine::RunningInstances;
use crate::model::file_size::format_size;
use crate::model::job::JobId;
use crate::model::ledger::{Budget, RateLimited};
use crate::runtime::logfile;
use crate::store::{DATABASE_FILE, Store, StoreContent, StoreError, StoreExamination, examine};
use crate::tui::format::plural;
use chrono::Utc;
use std::io::ErrorKind;
use std::path::Path;

/// With less free space than this, in bytes, the disk counts as full. A transaction needs space for its journal and for
/// the pages that it adds.
#[cfg(unix)]
const MIN_FREE_BYTES: u64 = 64 << 10;
#[cfg(unix)]
const LOW_FREE_BYTES: u64 = 32 << 20;

/// Checks the files and adds the results to the report. Returns the id of a tracked job that the check of the service
/// can request, or `None` if there is none.
pub(super) async fn check_files(report: &mut DoctorReport, settings: &ResolvedSettings, repair: bool) -> Option<JobId> {
    report.begin_section("Files");
    let folder = settings.data_folder.clone()?;
    if let Some(config) = settings.config.as_deref().and_then(Path::parent).filter(|folder| folder.is_dir()) {
        modes::check_config_folder(report, config);
    }
    if folder.is_dir() {
        modes::check_data_folder(report, &folder);
        modes::check_data_files(report, &folder);
    } else if let Some(unavailable) = StoreUnavailable::of(&folder) {
        let message = format!("{} {}", folder.display(), unavailable.description(&folder));
        report.problem("data folder", message, unavailable.remedy());
    } else {
        report.ok("data folder", format!("{} doesn't exist yet; the first start creates it", folder.display()));
    }
    check_disk(report, &folder);
    report_log_size(report, &folder);
    if repair {
        repair_store(report, settings, &folder).await;
    }
    let content = check_store_file(report, settings, &folder).await;
    report_damaged_files(report, &folder);
    report_instances(report, settings, &folder, content.as_ref());
    report_budgets(report, content.as_ref());
    content.and_then(|content| content.example_job)
}

/// Checks the store and returns its content. Returns `None` if there is no readable store.
async fn check_store_file(
    report: &mut DoctorReport,
    settings: &ResolvedSettings,
    folder: &Path,
) -> Option<StoreContent> {
    let is_none = match Store::try_exists(folder) {
        Ok(is_there) => !is_there,
        Err(error) => error.kind() == ErrorKind::NotADirectory,
    };
    if is_none && StoreUnavailable::of(folder).is_some() {
        report.skipped("database", "none, and none can be created there");
        return None;
    }
    let (at, scope, now) = (folder.to_path_buf(), settings.scope.clone(), Utc::now());
    let examined = tokio::task::spawn_blocking(move || examine(&at, scope.as_ref(), now)).await;
    report_store(report, folder, examined.ok()?)
}

/// Checks the free space of the data folder's disk.
#[cfg(unix)]
fn check_disk(report: &mut DoctorReport, folder: &Path) {
    let there = folder.ancestors().find(|above| above.is_dir()).unwrap_or(Path::new("."));
    let Ok(found) = rustix::fs::statvfs(there) else { return };
    // A file system without a fixed number of files reports that 0 of 0 are free.
    let has_no_file_left = found.f_files > 0 && found.f_favail == 0;
    report_free_space(report, there, found.f_bavail.saturating_mul(found.f_frsize), has_no_file_left);
}

#[cfg(unix)]
fn report_free_space(report: &mut DoctorReport, at: &Path, free: u64, has_no_file_left: bool) {
    let (at, remedy) = (at.display(), "free some space, or choose another folder with --data-dir");
    if has_no_file_left {
        report.problem(
            "disk",
            format!("full at {at} (no more files can be created): nothing can be saved or sent"),
            remedy,
        );
    } else if free < MIN_FREE_BYTES {
        report.problem(
            "disk",
            format!("full at {at} ({} free): nothing can be saved or sent", format_size(free)),
            remedy,
        );
    } else if free < LOW_FREE_BYTES {
        report.warning("disk", format!("nearly full at {at} ({} free)", format_size(free)), remedy);
    } else {
        report.ok("disk", format!("{} free", format_size(free)));
    }
}

#[cfg(not(unix))]
fn check_disk(_report: &mut DoctorReport, _folder: &Path) {}

/// Repairs the store if it is damaged, as the next start of docdeck would.
async fn repair_store(report: &mut DoctorReport, settings: &ResolvedSettings, folder: &Path) {
    const NAME: &str = "repair";
    if !Store::exists(folder) {
        return report.skipped(NAME, "no database to repair");
    }
    if !RunningInstances::find(folder, settings.scope.as_ref()).instances.is_empty() {
        let message = "not done: another docdeck uses the database";
        return report.problem(NAME, message, "quit it, then run this again");
    }
    match Store::repair(folder, Utc::now()).await {
        Ok(opened) => match repair_message(&opened) {
            Some(sentence) if opened.has_rebuilt_indexes => report.ok(NAME, sentence),
            Some(sentence) => report.warning(NAME, sentence, "check what is missing, then delete the damaged file"),
            None => report.ok(NAME, "nothing to repair"),
        },
        Err(error) => report.problem_with_remedy(NAME, store_failure(folder, &error).sentence),
    }
}

fn report_log_size(report: &mut DoctorReport, folder: &Path) {
    let path = folder.join(logfile::NAME);
    if let Ok(found) = std::fs::metadata(&path) {
        report.ok("log", format!("{}, {}", path.display(), format_size(found.len())));
    }
}

fn report_store(
    report: &mut DoctorReport,
    folder: &Path,
    examined: Result<Option<StoreExamination>, StoreError>,
) -> Option<StoreContent> {
    let StoreExamination { bytes, schema, supported_schema: known, faults: mistakes, content } = match examined {
        Ok(Some(examined)) => examined,
        Ok(None) => {
            report.ok("database", "none yet");
            return None;
        }
        Err(StoreError::Damaged) => {
            report_damage(report, "its pages can't be read");
            return None;
        }
        Err(StoreError::Busy) => {
            report.warning("database", "not checked: another docdeck kept it locked", "try again");
            return None;
        }
        Err(error) => {
            report_open_error(report, &folder.join(DATABASE_FILE), &error);
            return None;
        }
    };
    if let Some(mistake) = mistakes.first() {
        report_damage(report, mistake.as_str());
        return content;
    }
    let path = folder.join(DATABASE_FILE);
    let mode = permissions(&path).map_or_else(String::new, |mode| format!(", mode {mode:o}"));
    let message = format!("intact, {}, schema {schema}{mode}", format_size(bytes));
    match (schema < known, is_path_writable(&path), unwritable_reason(folder).is_none()) {
        (true, true, true) => report.ok("database", format!("{message}; the next start upgrades it to {known}")),
        (true, file, _) => {
            let message =
                format!("{message}, but must be upgraded to {known} and can't be written, so it can't be used");
            let remedy =
                "make its folder writable, or copy it to a writable one and choose that with --data-dir".to_owned();
            report.problem(
                "database",
                message,
                if file { remedy } else { format!("chmod 600 {}", shell_quoted(&path)) },
            );
        }
        (false, true, _) => report.ok("database", message),
        (false, false, _) => {
            let message = format!("{message}, but can't be written: nothing can be saved or sent");
            report.problem("database", message, format!("chmod 600 {}", shell_quoted(&path)));
        }
    }
    if let Some(content) = &content {
        report_jobs(report, content);
    }
    content
}

/// Reports why the store can't be opened. Finds the cause itself, since SQLite has one error for several causes.
fn report_open_error(report: &mut DoctorReport, path: &Path, error: &StoreError) {
    if path.is_dir() {
        report.problem(
            "database",
            format!("{DATABASE_FILE} is a folder, not a file"),
            format!("move {} away", shell_quoted(path)),
        );
    } else if is_denied(path) {
        let remedy = format!("as its owner: chmod 600 {}", shell_quoted(path));
        report.problem("database", format!("{DATABASE_FILE} can't be read: permission denied"), remedy);
    } else {
        report.problem_with_remedy("database", error.failure().message.to_string());
    }
}

fn report_damage(report: &mut DoctorReport, why: &str) {
    let remedy = "recover what can be read with `docdeck doctor --repair`, or start docdeck, which does the same; the \
                  damaged file is kept";
    report.problem("database", format!("damaged: {why}"), remedy);
}

fn report_jobs(report: &mut DoctorReport, content: &StoreContent) {
    let StoreContent { jobs, jobs_in_project: jobs_here, undelivered, queued, paused, drafts, .. } = content;
    let paused = match paused {
        0 => String::new(),
        n => format!(", {n} paused (`p` in the dashboard resumes them)"),
    };
    let message = format!(
        "{jobs} tracked, {jobs_here} in this project; {} queued{paused}, {}",
        plural_count(*queued, "prompt"),
        plural_count(*drafts, "draft")
    );
    match *undelivered {
        0 => report.ok("jobs", message),
        n => report.warning(
            "jobs",
            format!("{message}; {} undelivered", plural_count(n, "prompt")),
            "the dashboard lists them first; press ! to resolve them",
        ),
    }
}

fn plural_count(count: i64, what: &str) -> String {
    plural(usize::try_from(count).unwrap_or_default(), what)
}

/// Reports damaged databases that were moved aside, and a damaged page that an earlier run found.
fn report_damaged_files(report: &mut DoctorReport, folder: &Path) {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    let aside = names.iter().filter(|name| name.starts_with("docdeck-corrupt-") && name.ends_with(".db")).count();
    if aside > 0 {
        let files = if aside == 1 { "1 damaged file" } else { &format!("{aside} damaged files") };
        let message = format!("{files} (docdeck-corrupt-*.db), from which the readable data was recovered");
        report.warning("old databases", message, "delete it if nothing is missing");
    }
    if Store::is_marked_damaged(folder) {
        report.warning("old databases", "an earlier run found a damaged page", "the next start checks every page");
    }
}

fn report_instances(
    report: &mut DoctorReport,
    settings: &ResolvedSettings,
    folder: &Path,
    content: Option<&StoreContent>,
) {
    let alive = RunningInstances::find(folder, settings.scope.as_ref());
    let processes: Vec<&str> = alive.instances.iter().map(|name| name.split('-').next().unwrap_or(name)).collect();
    match processes.as_slice() {
        [] => report.ok("running", "no other docdeck is running"),
        some => {
            let does = match (alive.has_poller, alive.has_dispatcher) {
                (true, true) => "checks jobs and sends prompts",
                (true, false) => "checks jobs, doesn't send prompts",
                (false, true) => "sends prompts, doesn't check jobs",
                (false, false) => "neither checks jobs nor sends prompts",
            };
            report.ok("running", format!("process {}; {does}", some.join(", ")));
        }
    }
    let senders = content.map(|content| content.senders.as_slice()).unwrap_or_default();
    let dead = senders.iter().filter(|name| !alive.instances.contains(name)).count();
    if dead > 0 {
        let message = "docdeck ended while it was sending a prompt";
        report.warning(
            "sending",
            message,
            "start the dashboard, which lists it as unconfirmed, and press ! to resolve it",
        );
    }
}

fn report_budgets(report: &mut DoctorReport, content: Option<&StoreContent>) {
    report.begin_section("Requests in the last hour, this computer");
    let Some(content) = content.filter(|content| !content.budgets.is_empty()) else {
        return report.skipped("requests", "unknown without a database and a project");
    };
    for (limited, budget) in &content.budgets {
        let Budget { used, limit, resets_at, blocked } = budget;
        let frees = resets_at
            .map_or_else(String::new, |at| format!(", the next request is free at {}", at.format("%H:%M UTC")));
        let name = limited_name(*limited);
        match blocked {
            Some(wait) => {
                let message = format!("{used} of {limit}, but the service reported that the limit is reached");
                let when = match wait.is_estimate {
                    true => "in about a minute (estimated, the service gave no time)".to_owned(),
                    false => format!("at {}", wait.until.format("%H:%M:%S UTC")),
                };
                let goes = format!("queued prompts are sent {when} if docdeck is running; paused ones stay");
                report.warning(name, message, goes);
            }
            None if budget.requests_left() == 0 => {
                report.warning(
                    name,
                    format!("{used} of {limit}{frees}"),
                    "queued prompts are sent then if docdeck is running; paused ones stay",
                );
            }
            None => report.ok(name, format!("{used} of {limit}{frees}")),
        }
    }
}

fn limited_name(limited: RateLimited) -> &'static str {
    limited.store_name()
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::report::CheckState;
    use super::*;

    #[test]
    fn a_full_disk_is_a_problem_and_a_nearly_full_one_a_warning() {
        let disks = [
            (0, false),
            (MIN_FREE_BYTES - 1, false),
            (1 << 30, true),
            (MIN_FREE_BYTES, false),
            (LOW_FREE_BYTES, false),
        ];
        let states = disks.map(|(free, has_no_file_left)| {
            let mut report = DoctorReport::default();
            report_free_space(&mut report, Path::new("/data"), free, has_no_file_left);
            report.checks.pop().map(|check| check.state)
        });
        let expected =
            [CheckState::Problem, CheckState::Problem, CheckState::Problem, CheckState::Warning, CheckState::Ok];
        assert_eq!(states, expected.map(Some));
    }
}
