//! Folders, disk space, the store, other instances, and the budgets that the store keeps. Makes no file and no folder; the
//! store is changed only to repair it.

use super::super::data_folder::{StoreUnavailable, is_denied, quoted, repaired, unusable, writing_fails};
use super::modes::{self, is_writable, permissions};
use super::report::DoctorReport;
use super::settings::ResolvedSettings;
use crate::app::format::plural;
use crate::engine::RunningInstances;
use crate::model::job::JobId;
use crate::model::ledger::{Budget, RateLimited};
use crate::runtime::logfile;
use crate::store::{Content, Examined, FILE, Store, StoreError, examine};
use chrono::Utc;
use std::io::ErrorKind;
use std::path::Path;

/// Bytes without which a transaction fails: its journal and the pages that it adds.
#[cfg(unix)]
const FULL: u64 = 64 << 10;
#[cfg(unix)]
const NEARLY_FULL: u64 = 32 << 20;

/// Looks at folders, store, instances and budgets; gives a job that the service should know.
pub(super) async fn check(report: &mut DoctorReport, known: &ResolvedSettings, repair: bool) -> Option<JobId> {
    report.begin("Files");
    let folder = known.data_folder.clone()?;
    if let Some(config) = known.config.as_deref().and_then(Path::parent).filter(|folder| folder.is_dir()) {
        modes::config_folder(report, config);
    }
    if folder.is_dir() {
        modes::data_folder(report, &folder);
        modes::data_files(report, &folder);
    } else if let Some(barred) = StoreUnavailable::of(&folder) {
        let says = format!("{} {}", folder.display(), barred.says(&folder));
        report.problem("data folder", says, barred.remedy());
    } else {
        report.ok("data folder", format!("{} is not there yet; the first start makes it", folder.display()));
    }
    disk(report, &folder);
    log(report, &folder);
    if repair {
        repair_store(report, known, &folder).await;
    }
    let content = content(report, known, &folder).await;
    remains(report, &folder);
    instances(report, known, &folder, content.as_ref());
    budgets(report, content.as_ref());
    content.and_then(|content| content.a_job)
}

/// What is in the store, where there is one.
async fn content(report: &mut DoctorReport, known: &ResolvedSettings, folder: &Path) -> Option<Content> {
    let is_none = match Store::look_for(folder) {
        Ok(is_there) => !is_there,
        Err(error) => error.kind() == ErrorKind::NotADirectory,
    };
    if is_none && StoreUnavailable::of(folder).is_some() {
        report.skipped("store", "none, and none can be made there");
        return None;
    }
    let (at, scope, now) = (folder.to_path_buf(), known.scope.clone(), Utc::now());
    let examined = tokio::task::spawn_blocking(move || examine(&at, scope.as_ref(), now)).await;
    store(report, folder, examined.ok()?)
}

/// Free space where the data folder is, or will be.
#[cfg(unix)]
fn disk(report: &mut DoctorReport, folder: &Path) {
    let there = folder.ancestors().find(|above| above.is_dir()).unwrap_or(Path::new("."));
    let Ok(found) = rustix::fs::statvfs(there) else { return };
    // Some file systems have no fixed number of files, and give 0 of 0.
    let has_no_file_left = found.f_files > 0 && found.f_favail == 0;
    space(report, there, found.f_bavail.saturating_mul(found.f_frsize), has_no_file_left);
}

#[cfg(unix)]
fn space(report: &mut DoctorReport, at: &Path, free: u64, has_no_file_left: bool) {
    let (at, remedy) = (at.display(), "free some space, or choose another folder with --data-dir");
    if has_no_file_left {
        report.problem(
            "disk",
            format!("full at {at} (no more files can be made): nothing can be saved or sent"),
            remedy,
        );
    } else if free < FULL {
        report.problem("disk", format!("full at {at} ({} free): nothing can be saved or sent", size(free)), remedy);
    } else if free < NEARLY_FULL {
        report.warning("disk", format!("nearly full at {at} ({} free)", size(free)), remedy);
    } else {
        report.ok("disk", format!("{} free", size(free)));
    }
}

#[cfg(not(unix))]
fn disk(_report: &mut DoctorReport, _folder: &Path) {}

/// Repairs the store if it is damaged, as the next start would do.
async fn repair_store(report: &mut DoctorReport, known: &ResolvedSettings, folder: &Path) {
    const NAME: &str = "repair";
    if !Store::is_there(folder) {
        return report.skipped(NAME, "no database to repair");
    }
    if !RunningInstances::look(folder, known.scope.as_ref()).instances.is_empty() {
        let says = "not done: another docdeck uses the database";
        return report.problem(NAME, says, "quit it, then run this again");
    }
    match Store::repair(folder, Utc::now()).await {
        Ok(opened) => match repaired(&opened) {
            Some(sentence) if opened.rebuilt => report.ok(NAME, sentence),
            Some(sentence) => report.warning(NAME, sentence, "look for what is missing, then delete the damaged file"),
            None => report.ok(NAME, "nothing to repair"),
        },
        Err(error) => report.problem_said(NAME, unusable(folder, &error).sentence),
    }
}

fn log(report: &mut DoctorReport, folder: &Path) {
    let path = folder.join(logfile::NAME);
    if let Ok(found) = std::fs::metadata(&path) {
        report.ok("log", format!("{}, {}", path.display(), size(found.len())));
    }
}

fn store(report: &mut DoctorReport, folder: &Path, examined: Result<Option<Examined>, StoreError>) -> Option<Content> {
    let Examined { bytes, schema, known, mistakes, content } = match examined {
        Ok(Some(examined)) => examined,
        Ok(None) => {
            report.ok("store", "none yet");
            return None;
        }
        Err(StoreError::Damaged) => {
            damaged(report, "its pages make no sense");
            return None;
        }
        Err(StoreError::Busy) => {
            report.warning("store", "another docdeck kept it locked for too long to be looked at", "try again");
            return None;
        }
        Err(error) => {
            unopened(report, &folder.join(FILE), &error);
            return None;
        }
    };
    if let Some(mistake) = mistakes.first() {
        damaged(report, mistake.as_str());
        return content;
    }
    let path = folder.join(FILE);
    let mode = permissions(&path).map_or_else(String::new, |mode| format!(", mode {mode:o}"));
    let says = format!("sound, {}, schema {schema}{mode}", size(bytes));
    match (schema < known, is_writable(&path), writing_fails(folder).is_none()) {
        (true, true, true) => report.ok("store", format!("{says}; the next start brings it to {known}")),
        (true, file, _) => {
            let says = format!("{says}, but has to be brought to {known} once and can't be written: it can't be used");
            let remedy =
                "make its folder writable, or copy it into one that is and choose that one with --data-dir".to_owned();
            report.problem("store", says, if file { remedy } else { format!("chmod 600 {}", quoted(&path)) });
        }
        (false, true, _) => report.ok("store", says),
        (false, false, _) => {
            let says = format!("{says}, but can't be written: nothing can be saved or sent");
            report.problem("store", says, format!("chmod 600 {}", quoted(&path)));
        }
    }
    if let Some(content) = &content {
        jobs(report, content);
    }
    content
}

/// SQLite says of many things that they can't be opened; the system knows more.
fn unopened(report: &mut DoctorReport, path: &Path, error: &StoreError) {
    if path.is_dir() {
        report.problem("store", format!("{FILE} is a folder, no file"), format!("move {} away", quoted(path)));
    } else if is_denied(path) {
        let remedy = format!("as its owner: chmod 600 {}", quoted(path));
        report.problem("store", format!("{FILE} can't be read: its permissions forbid it"), remedy);
    } else {
        report.problem_said("store", error.failure().sentence.to_string());
    }
}

fn damaged(report: &mut DoctorReport, why: &str) {
    let remedy = "recover what can be read with `docdeck doctor --repair`; the next start does so as well, and the damaged file \
                  is kept";
    report.problem("store", format!("damaged: {why}"), remedy);
}

fn jobs(report: &mut DoctorReport, content: &Content) {
    let Content { jobs, jobs_here, undelivered, queued, paused, drafts, .. } = content;
    let held = match paused {
        0 => String::new(),
        n => format!(", {n} paused until `p` in the dashboard lets them go"),
    };
    let says = format!(
        "{jobs} known here, {jobs_here} of this project; {} queued{held}, {}",
        of(*queued, "prompt"),
        of(*drafts, "draft")
    );
    match *undelivered {
        0 => report.ok("jobs", says),
        n => report.warning(
            "jobs",
            format!("{says}; {} undelivered", of(n, "prompt")),
            "the dashboard lists them first; ! decides",
        ),
    }
}

fn of(count: i64, what: &str) -> String {
    plural(usize::try_from(count).unwrap_or_default(), what)
}

/// Stores that were moved aside, and word of a damaged page.
fn remains(report: &mut DoctorReport, folder: &Path) {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    let aside = names.iter().filter(|name| name.starts_with("docdeck-corrupt-") && name.ends_with(".db")).count();
    if aside > 0 {
        let kept = if aside == 1 { "1 damaged file is" } else { &format!("{aside} damaged files are") };
        let says = format!("{kept} kept (docdeck-corrupt-*.db); what could be read was recovered from it");
        report.warning("old stores", says, "delete it once nothing is missing");
    }
    if Store::is_noted_damaged(folder) {
        report.warning("old stores", "a run met a damaged page", "the next start reads every page before it goes on");
    }
}

fn instances(report: &mut DoctorReport, known: &ResolvedSettings, folder: &Path, content: Option<&Content>) {
    let alive = RunningInstances::look(folder, known.scope.as_ref());
    let processes: Vec<&str> = alive.instances.iter().map(|name| name.split('-').next().unwrap_or(name)).collect();
    let held = |held| if held { "held" } else { "free" };
    let leases = format!("leases: polling {}, sending {}", held(alive.polls), held(alive.dispatches));
    match processes.as_slice() {
        [] => report.ok("running", format!("no other docdeck; {leases}")),
        some => report.ok("running", format!("process {}; {leases}", some.join(", "))),
    }
    let senders = content.map(|content| content.senders.as_slice()).unwrap_or_default();
    let dead = senders.iter().filter(|name| !alive.instances.contains(name)).count();
    if dead > 0 {
        let says = "a docdeck that ended while sending left a prompt behind";
        report.warning("sending", says, "the next dashboard lists it as unconfirmed, and asks what is to become of it");
    }
}

fn budgets(report: &mut DoctorReport, content: Option<&Content>) {
    report.begin("Budgets, as used here in the last hour");
    let Some(content) = content.filter(|content| !content.budgets.is_empty()) else {
        return report.skipped("budgets", "without a store and a project nothing is known of them");
    };
    for (limited, budget) in &content.budgets {
        let Budget { used, limit, resets_at, blocked } = budget;
        let frees = resets_at
            .map_or_else(String::new, |at| format!(", the next request is free at {}", at.format("%H:%M UTC")));
        let name = limited_name(*limited);
        match blocked {
            Some(wait) => {
                let says = format!("{used} of {limit}, and the service reported that the limit is reached");
                let when = match wait.is_estimate {
                    true => "in about a minute (an estimate: the service named no time)".to_owned(),
                    false => format!("at {}", wait.until.format("%H:%M:%S UTC")),
                };
                let goes = format!("queued prompts are sent {when} if docdeck is running; paused ones stay");
                report.warning(name, says, goes);
            }
            None if budget.left() == 0 => {
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
    limited.word()
}

/// Bytes for people: 24.1 MB.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::report::CheckState;
    use super::*;

    #[test]
    fn a_full_disk_is_a_problem_and_a_nearly_full_one_a_warning() {
        let disks = [(0, false), (FULL - 1, false), (1 << 30, true), (FULL, false), (NEARLY_FULL, false)];
        let states = disks.map(|(free, has_no_file_left)| {
            let mut report = DoctorReport::default();
            space(&mut report, Path::new("/data"), free, has_no_file_left);
            report.checks.pop().map(|check| check.state)
        });
        let expected =
            [CheckState::Problem, CheckState::Problem, CheckState::Problem, CheckState::Warning, CheckState::Ok];
        assert_eq!(states, expected.map(Some));
    }
}
