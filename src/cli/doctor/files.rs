//! Checks disk space, the store, other instances and the request budgets. Creates no file and no folder; changes the
//! store only to repair it.

use super::facts::Facts;
use super::permissions::{chmod, is_path_writable, mode_text};
use super::report::{CheckResult, error, ok, problem, skipped, warning};
use crate::cli::data_folder::{
    StoreUnavailable, is_denied, repair_message, shell_quoted, store_failure, unwritable_reason,
};
use crate::engine::RunningInstances;
use crate::model::file_size::format_size;
use crate::model::ledger::{Budget, RateLimited};
use crate::runtime::logfile;
use crate::store::{DATABASE_FILE, Store, StoreContent, StoreError, StoreExamination};
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

/// Checks the free space of the data folder's disk.
pub(super) fn disk(facts: &Facts<'_>) -> CheckResult {
    let folder = facts.folder()?;
    #[cfg(unix)]
    {
        let existing = folder.ancestors().find(|above| above.is_dir()).unwrap_or(Path::new("."));
        let found = rustix::fs::statvfs(existing).ok()?;
        // A file system without a fixed number of files reports that 0 of 0 are free.
        let has_no_file_left = found.f_files > 0 && found.f_favail == 0;
        free_space(existing, found.f_bavail.saturating_mul(found.f_frsize), has_no_file_left)
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

#[cfg(unix)]
fn free_space(at: &Path, free: u64, has_no_file_left: bool) -> CheckResult {
    let (at, size) = (at.display(), format_size(free));
    let remedy = "free some space, or choose another folder with --data-dir";
    let full = |why: &str| problem(format!("full at {at} ({why}): nothing can be saved or sent"), remedy);
    match free {
        _ if has_no_file_left => full("no more files can be created"),
        ..MIN_FREE_BYTES => full(&format!("{size} free")),
        MIN_FREE_BYTES..LOW_FREE_BYTES => warning(format!("nearly full at {at} ({size} free)"), remedy),
        _ => ok(format!("{size} free")),
    }
}

pub(super) fn log(facts: &Facts<'_>) -> CheckResult {
    let path = facts.folder()?.join(logfile::NAME);
    let bytes = std::fs::metadata(&path).ok()?.len();
    ok(format!("{}, {}", path.display(), format_size(bytes)))
}

/// Repairs the store if it is damaged, as the next start of docdeck would.
pub(super) async fn repair(facts: &Facts<'_>) -> CheckResult {
    let (folder, scope) = (facts.folder()?, facts.scope.as_ref());
    if !Store::exists(folder) {
        return skipped("no database to repair");
    }
    if !RunningInstances::find(folder, scope).instances.is_empty() {
        return problem("not done: another docdeck uses the database", "quit it, then run this again");
    }
    match Store::repair(folder, Utc::now()).await {
        Ok(opened) => match repair_message(&opened) {
            Some(sentence) if opened.has_rebuilt_indexes => ok(sentence),
            Some(sentence) => warning(sentence, "check what is missing, then delete the damaged file"),
            None => ok("nothing to repair"),
        },
        Err(error) => super::report::error(store_failure(folder, &error).sentence),
    }
}

pub(super) fn database(facts: &Facts<'_>) -> CheckResult {
    let folder = facts.folder()?;
    let path = folder.join(DATABASE_FILE);
    let is_missing = Store::try_exists(folder).map_or_else(|error| error.kind() == ErrorKind::NotADirectory, |is| !is);
    let StoreExamination { bytes, schema, supported_schema, faults, .. } = match facts.examined.as_ref()? {
        _ if is_missing && StoreUnavailable::of(folder).is_some() => {
            return skipped("none, and none can be created there");
        }
        Ok(Some(examined)) => examined,
        Ok(None) => return ok("none yet"),
        Err(StoreError::Damaged) => return damaged("its pages can't be read"),
        Err(StoreError::Busy) => return warning("not checked: another docdeck kept it locked", "try again"),
        // SQLite has one error for several causes.
        Err(_) if path.is_dir() => {
            let remedy = format!("move {} away", shell_quoted(&path));
            return problem(format!("{DATABASE_FILE} is a folder, not a file"), remedy);
        }
        Err(_) if is_denied(&path) => {
            let remedy = format!("as its owner: {}", chmod("600", &path));
            return problem(format!("{DATABASE_FILE} can't be read: permission denied"), remedy);
        }
        Err(cause) => return error(cause.failure().message),
    };
    if let Some(fault) = faults.first() {
        return damaged(fault.as_str());
    }
    let message = format!("intact, {}, schema {schema}{}", format_size(*bytes), mode_text(&path));
    match (schema < supported_schema, is_path_writable(&path)) {
        (false, true) => ok(message),
        (false, false) => {
            problem(format!("{message}, but can't be written: nothing can be saved or sent"), chmod("600", &path))
        }
        (true, true) if unwritable_reason(folder).is_none() => {
            ok(format!("{message}; the next start upgrades it to {supported_schema}"))
        }
        (true, is_writable) => {
            let folder = "make its folder writable, or copy it to a writable one and choose that with --data-dir";
            problem(
                format!(
                    "{message}, but must be upgraded to {supported_schema} and can't be written, so it can't be used"
                ),
                if is_writable { folder.to_owned() } else { chmod("600", &path) },
            )
        }
    }
}

fn damaged(why: &str) -> CheckResult {
    let remedy = "recover what can be read with `docdeck doctor --repair`, or start docdeck, which does the same; the \
                  damaged file is kept";
    problem(format!("damaged: {why}"), remedy)
}

/// Counts the jobs, prompts and drafts in an intact store.
pub(super) fn jobs(facts: &Facts<'_>) -> CheckResult {
    let examined = facts.examined.as_ref()?.as_ref().ok()?.as_ref()?;
    let content = examined.content.as_ref().filter(|_| examined.faults.is_empty())?;
    let StoreContent { jobs, jobs_in_project, undelivered, queued, paused, drafts, .. } = content;
    let count = |n: &i64, what| plural(usize::try_from(*n).unwrap_or_default(), what);
    let (queued, drafts) = (count(queued, "prompt"), count(drafts, "draft"));
    let paused = match paused {
        0 => String::new(),
        n => format!(", {n} paused (`p` in the dashboard resumes them)"),
    };
    let message = format!("{jobs} tracked, {jobs_in_project} in this project; {queued} queued{paused}, {drafts}");
    if *undelivered == 0 {
        return ok(message);
    }
    let message = format!("{message}; {} undelivered", count(undelivered, "prompt"));
    warning(message, "the dashboard lists them first; press ! to resolve them")
}

/// Reports damaged databases that were moved aside.
pub(super) fn old_databases(facts: &Facts<'_>) -> CheckResult {
    let names =
        std::fs::read_dir(facts.folder()?).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let files = match names.filter(|name| name.starts_with("docdeck-corrupt-") && name.ends_with(".db")).count() {
        0 => return None,
        1 => "1 damaged file".to_owned(),
        n => format!("{n} damaged files"),
    };
    let message = format!("{files} (docdeck-corrupt-*.db), from which the readable data was recovered");
    warning(message, "delete it if nothing is missing")
}

/// Reports a damaged page that an earlier run found.
pub(super) fn damaged_page(facts: &Facts<'_>) -> CheckResult {
    facts.folder().filter(|folder| Store::is_marked_damaged(folder))?;
    warning("an earlier run found a damaged page", "the next start checks every page")
}

pub(super) fn running(facts: &Facts<'_>) -> CheckResult {
    facts.folder()?;
    let RunningInstances { instances, has_poller, has_dispatcher } = &facts.running;
    let processes: Vec<&str> = instances.iter().map(|name| name.split('-').next().unwrap_or(name)).collect();
    let does = match (has_poller, has_dispatcher) {
        _ if processes.is_empty() => return ok("no other docdeck is running"),
        (true, true) => "checks jobs and sends prompts",
        (true, false) => "checks jobs, doesn't send prompts",
        (false, true) => "sends prompts, doesn't check jobs",
        (false, false) => "neither checks jobs nor sends prompts",
    };
    ok(format!("process {}; {does}", processes.join(", ")))
}

/// Reports prompts whose sender is no longer running.
pub(super) fn sending(facts: &Facts<'_>) -> CheckResult {
    let is_dead = |name| !facts.running.instances.contains(name);
    facts.content()?.senders.iter().any(is_dead).then_some(())?;
    let remedy = "start the dashboard, which lists it as unconfirmed, and press ! to resolve it";
    warning("docdeck ended while it was sending a prompt", remedy)
}

/// Reports that the request budgets are unknown.
pub(super) fn unknown_budgets(facts: &Facts<'_>) -> CheckResult {
    facts.folder().filter(|_| facts.content().is_none_or(|content| content.budgets.is_empty()))?;
    skipped("unknown without a database and a project")
}

pub(super) fn budget(facts: &Facts<'_>, limited: RateLimited) -> CheckResult {
    let (_, budget) = facts.content()?.budgets.iter().find(|(of, _)| *of == limited)?;
    let Budget { used, limit, resets_at, blocked } = budget;
    let stay = "if docdeck is running; paused ones stay";
    if let Some(wait) = blocked {
        let when = match wait.is_estimate {
            true => "in about a minute (estimated, the service gave no time)".to_owned(),
            false => format!("at {}", wait.until.format("%H:%M:%S UTC")),
        };
        let message = format!("{used} of {limit}, but the service reported that the limit is reached");
        return warning(message, format!("queued prompts are sent {when} {stay}"));
    }
    let resets = resets_at.map(|at| format!(", the next request is free at {}", at.format("%H:%M UTC")));
    let message = format!("{used} of {limit}{}", resets.unwrap_or_default());
    if budget.requests_left() > 0 {
        ok(message)
    } else {
        warning(message, format!("queued prompts are sent then {stay}"))
    }
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
            free_space(Path::new("/data"), free, has_no_file_left).map(|found| found.state)
        });
        let expected =
            [CheckState::Problem, CheckState::Problem, CheckState::Problem, CheckState::Warning, CheckState::Ok];
        assert_eq!(states, expected.map(Some));
    }
}
