//! `docdeck prune --jobs`: removes finished jobs. Needs neither key nor network, and reads no configuration file.

use super::data_folder::{open_undamaged, store_exists, store_failure};
use super::error::CliError;
use super::exit_code::Code;
use super::export::{count_noun, export_filter};
use super::out::Out;
use super::prune::{Options, size_lines, subtract_days};
use crate::config::Flags;
use crate::store::{JobPruneFilter, PrunedJobs};
use serde_json::{Value, json};
use std::path::Path;

/// Runs `docdeck prune --jobs`.
pub(super) async fn run(folder: &Path, flags: &Flags, options: &Options, out: &mut Out) -> Result<Code, CliError> {
    let exists = store_exists(folder)?;
    let pruned = if exists { prune_old_jobs(folder, flags, options, out).await? } else { PrunedJobs::default() };
    if options.json {
        out.json(&pruned_jobs_json(&pruned, options.dry_run));
    } else if exists {
        out.lines(&pruned_jobs_lines(&pruned, options.dry_run));
    } else {
        out.line(&format!("Nothing to delete: {} contains no database.", folder.display()));
    }
    Ok(Code::Done)
}

async fn prune_old_jobs(
    folder: &Path,
    flags: &Flags,
    options: &Options,
    out: &mut Out,
) -> Result<PrunedJobs, CliError> {
    let now = chrono::Utc::now();
    let days = options.older_than.ok_or_else(|| CliError::unusable("--jobs needs --older-than DAYS."))?;
    let what = JobPruneFilter { before: subtract_days(days, now), only: export_filter(flags) };
    let store = open_undamaged(folder, !options.dry_run, out).await?;
    let pruned = if options.dry_run { store.plan_prune_jobs(what).await } else { store.prune_jobs(what).await };
    store.close().await;
    pruned.map_err(|error| store_failure(folder, &error))
}

fn pruned_jobs_json(pruned: &PrunedJobs, dry_run: bool) -> Value {
    let PrunedJobs { jobs, prompts, skipped: spared, bytes_before, bytes_after, still_large } = pruned;
    json!({
        "dryRun": dry_run,
        "jobs": jobs,
        "prompts": prompts,
        "spared": spared,
        "bytesBefore": bytes_before,
        "bytesAfter": bytes_after,
        "stillLarge": still_large,
    })
}

fn pruned_jobs_lines(pruned: &PrunedJobs, dry_run: bool) -> Vec<String> {
    let what = format!("{} with {}", count_noun(pruned.jobs, "job"), count_noun(pruned.prompts, "prompt"));
    let mut lines = vec![match (pruned.jobs, dry_run) {
        (0, _) => "No jobs to delete.".to_owned(),
        (_, true) => format!("Would delete {what}."),
        (_, false) => format!("Deleted {what}."),
    }];
    if pruned.skipped > 0 {
        let (jobs, are) = if pruned.skipped == 1 { ("job", "is") } else { ("jobs", "are") };
        lines.push(format!(
            "{} old {jobs} {are} kept: working, unsent, unopened, needing you, or with a draft.",
            pruned.skipped
        ));
    }
    lines.extend(size_lines(pruned.bytes_before, pruned.bytes_after, pruned.still_large));
    lines
}
