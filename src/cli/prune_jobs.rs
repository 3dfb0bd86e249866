//! `docdeck prune --jobs`: lets go of jobs that are over. Needs neither key nor network, and reads no configuration file.

use super::data_folder::{is_there, open_sound, unusable};
use super::error::CliError;
use super::exit_code::Code;
use super::export::{count, only};
use super::out::Out;
use super::prune::{Options, days_before, room};
use crate::config::Flags;
use crate::store::{PruneJobs, PrunedJobs};
use serde_json::{Value, json};
use std::path::Path;

/// Removes them, or says what it would do.
pub(super) async fn run(folder: &Path, flags: &Flags, options: &Options, out: &mut Out) -> Result<Code, CliError> {
    let there = is_there(folder)?;
    let pruned = if there { prune(folder, flags, options, out).await? } else { PrunedJobs::default() };
    if options.json {
        out.json(&as_json(&pruned, options.dry_run));
    } else if there {
        out.lines(&as_text(&pruned, options.dry_run));
    } else {
        out.line(&format!("There is no store in {}: nothing to remove.", folder.display()));
    }
    Ok(Code::Done)
}

async fn prune(folder: &Path, flags: &Flags, options: &Options, out: &mut Out) -> Result<PrunedJobs, CliError> {
    let now = chrono::Utc::now();
    let days = options.older_than.ok_or_else(|| CliError::unusable("Say how old: --jobs needs --older-than DAYS."))?;
    let what = PruneJobs { before: days_before(days, now), only: only(flags) };
    let store = open_sound(folder, !options.dry_run, out).await?;
    let pruned = if options.dry_run { store.would_prune_jobs(what).await } else { store.prune_jobs(what).await };
    store.close().await;
    pruned.map_err(|error| unusable(folder, &error))
}

fn as_json(pruned: &PrunedJobs, dry_run: bool) -> Value {
    let PrunedJobs { jobs, prompts, spared, bytes_before, bytes_after, still_large } = pruned;
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

fn as_text(pruned: &PrunedJobs, dry_run: bool) -> Vec<String> {
    let what = format!("{} with {}", count(pruned.jobs, "job"), count(pruned.prompts, "prompt"));
    let mut lines = vec![match (pruned.jobs, dry_run) {
        (0, _) => "No jobs to remove.".to_owned(),
        (_, true) => format!("Would remove {what}."),
        (_, false) => format!("Removed {what}."),
    }];
    if pruned.spared > 0 {
        let (are, stay) = if pruned.spared == 1 { ("is", "stays") } else { ("are", "stay") };
        lines.push(format!(
            "{} more {are} as old and {stay}: at work, unsent, not looked at, in need of you, or with a draft.",
            pruned.spared
        ));
    }
    lines.extend(room(pruned.bytes_before, pruned.bytes_after, pruned.still_large));
    lines
}
