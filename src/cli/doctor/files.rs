//! Checks disk space, the store, other instances and the number of requests. Creates no file and no folder; changes the
//! store only to repair it.

use super::facts::DoctorFacts;
use super::permissions::{chmod_command, is_path_writable, mode_text};
use super::report::{CheckResult, error, ok, problem, skipped, warning};
use crate::cli::data_folder::{StoreUnavailable, cli_store_error, repair_message, shell_quoted, unwritable_reason};
use crate::engine::RunningInstances;
use crate::model::file_size::format_size;
use crate::runtime::logfile;
use crate::store::{DATABASE_FILE, Store, StoreContent, StoreError, StoreExamination};
use crate::tui::format::plural;
use chrono::Utc;
use std::path::Path;

/// With less free space than this, in bytes, the disk is nearly full.
#[cfg(unix)]
const LOW_FREE_BYTES: u64 = 32 << 20;

/// Checks the free space of the data folder's disk.
#[cfg(unix)]
pub(super) fn disk(facts: &DoctorFacts<'_>) -> CheckResult {
    let at = facts.data_folder_path()?.ancestors().find(|above| above.is_dir()).unwrap_or(Path::new("."));
    let found = rustix::fs::statvfs(at).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free >= LOW_FREE_BYTES {
        return ok(format!("{} free", format_size(free)));
    }
    let message = format!("nearly full at {}, {} free", at.display(), format_size(free));
    warning(message, "free some space, or choose another folder with --data-dir")
}

#[cfg(not(unix))]
pub(super) fn disk(_: &DoctorFacts<'_>) -> CheckResult {
    None
}

pub(super) fn log(facts: &DoctorFacts<'_>) -> CheckResult {
    let path = facts.data_folder_path()?.join(logfile::LOG_FILE_NAME);
    let bytes = std::fs::metadata(&path).ok()?.len();
    ok(format!("{}, {}", path.display(), format_size(bytes)))
}

/// Repairs the store if it is damaged, as the next start of docdeck would. Changes nothing while another docdeck uses
/// the store.
pub(super) async fn repair(facts: &DoctorFacts<'_>) -> CheckResult {
    let (folder, scope) = (facts.data_folder_path()?, facts.scope.as_ref());
    if !Store::exists(folder) {
        return skipped("no database to repair");
    }
    if !RunningInstances::find(folder, scope).instance_names.is_empty() {
        return problem("not done: another docdeck uses the database", "quit it, then run this again");
    }
    match Store::repair(folder, Utc::now()).await {
        Ok(opened) => match repair_message(&opened) {
            Some(sentence) if opened.has_rebuilt_indexes => ok(sentence),
            Some(sentence) => warning(sentence, "check what is missing, then delete the damaged file"),
            None => ok("nothing to repair"),
        },
        Err(error) => super::report::error(cli_store_error(folder, &error).sentence),
    }
}

pub(super) fn database(facts: &DoctorFacts<'_>) -> CheckResult {
    let folder = facts.data_folder_path()?;
    let path = folder.join(DATABASE_FILE);
    let StoreExamination { file_bytes, schema, supported_schema, faults, .. } =
        match facts.store_examination.as_ref()? {
            _ if !path.exists() && StoreUnavailable::check(folder).is_some() => {
                return skipped("none, and none can be created in the data folder");
            }
            Ok(Some(examined)) => examined,
            Ok(None) => return ok("none yet"),
            Err(StoreError::Damaged) => return damaged_database("its pages can't be read"),
            Err(StoreError::Busy) => return warning("not checked: another docdeck kept it locked", "try again"),
            // SQLite's error doesn't show that the database is a folder, so this is checked here.
            Err(_) if path.is_dir() => {
                let remedy = format!("move {} away", shell_quoted(&path));
                return problem(format!("{DATABASE_FILE} is a folder, not a file"), remedy);
            }
            Err(cause) => return error(cli_store_error(folder, cause).sentence),
        };
    if let Some(fault) = faults.first() {
        return damaged_database(fault.as_str());
    }
    let message = format!("intact, {}, schema {schema}{}", format_size(*file_bytes), mode_text(&path));
    let needs_upgrade = schema < supported_schema;
    match (is_path_writable(&path), unwritable_reason(folder)) {
        (false, _) => problem(
            format!("{message}, but can't be written: nothing can be saved or sent"),
            chmod_command("600", &path),
        ),
        (true, Some(_)) if needs_upgrade => problem(
            format!("{message}, but must be upgraded to {supported_schema}, which needs a writable folder"),
            "make its folder writable, or copy it to a writable one and choose that with --data-dir",
        ),
        (true, _) if needs_upgrade => ok(format!("{message}; the next start upgrades it to {supported_schema}")),
        (true, _) => ok(message),
    }
}

fn damaged_database(why: &str) -> CheckResult {
    let remedy = "recover what can be read with `docdeck doctor --repair`, or start docdeck, which does the same; the \
                  damaged file is kept";
    problem(format!("damaged: {why}"), remedy)
}

/// Counts the jobs, prompts and drafts in an intact store.
pub(super) fn jobs(facts: &DoctorFacts<'_>) -> CheckResult {
    let examined = facts.store_examination.as_ref()?.as_ref().ok()?.as_ref()?;
    let content = examined.content.as_ref().filter(|_| examined.faults.is_empty())?;
    let StoreContent { jobs, jobs_in_project, undelivered, queued_prompts, paused_prompts, drafts, .. } = content;
    let (queued, drafts) = (plural(*queued_prompts, "prompt"), plural(*drafts, "draft"));
    let paused = match paused_prompts {
        0 => String::new(),
        n => format!(", {n} paused (`p` in the dashboard resumes them)"),
    };
    let message = format!("{jobs} tracked, {jobs_in_project} in this project; {queued} queued{paused}, {drafts}");
    if *undelivered == 0 {
        return ok(message);
    }
    let message = format!("{message}; {} undelivered", plural(*undelivered, "prompt"));
    warning(message, "the dashboard lists them first; press ! to resolve them")
}

/// Reports damaged databases that were moved aside.
pub(super) fn old_databases(facts: &DoctorFacts<'_>) -> CheckResult {
    let names = std::fs::read_dir(facts.data_folder_path()?)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let count = names.filter(|name| name.starts_with("docdeck-corrupt-") && name.ends_with(".db")).count();
    if count == 0 {
        return None;
    }
    let files = plural(count, "damaged file");
    let message = format!("{files} (docdeck-corrupt-*.db), from which the readable data was recovered");
    let them = if count == 1 { "it" } else { "them" };
    warning(message, format!("delete {them} if nothing is missing in docdeck"))
}

pub(super) fn running(facts: &DoctorFacts<'_>) -> CheckResult {
    facts.data_folder_path()?;
    let RunningInstances { instance_names, has_poller, has_dispatcher } = &facts.running_instances;
    let processes: Vec<&str> = instance_names.iter().map(|name| name.split('-').next().unwrap_or(name)).collect();
    if processes.is_empty() {
        return ok("no other docdeck is running");
    }
    let does = match (has_poller, has_dispatcher) {
        (true, true) => "checks jobs and sends prompts",
        (true, false) => "checks jobs, doesn't send prompts",
        (false, true) => "sends prompts, doesn't check jobs",
        (false, false) => "neither checks jobs nor sends prompts",
    };
    ok(format!("process {}; {does}", processes.join(", ")))
}

/// Reports the requests that this computer has sent in the last hour.
pub(super) fn requests(facts: &DoctorFacts<'_>) -> CheckResult {
    let budgets = facts.store_content().map(|content| &content.budgets).filter(|budgets| !budgets.is_empty())?;
    let sentences = budgets.iter().map(|(limited, budget)| {
        let until = budget.wait().map(|wait| format!(" (limit reached until {})", wait.until.format("%H:%M UTC")));
        format!("{} {}/{}{}", limited.label(), budget.used, budget.limit, until.unwrap_or_default())
    });
    let message = format!("{} this hour, this computer", sentences.collect::<Vec<_>>().join(", "));
    if budgets.iter().all(|(_, budget)| budget.requests_left() > 0) {
        return ok(message);
    }
    warning(message, "when the limit ends, queued prompts are sent if docdeck is running; paused ones stay paused")
}
