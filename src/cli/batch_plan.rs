//! Plans a batch: which prompts of the file are new, and which were queued or sent before.

use super::error::CliError;
use super::new::Options;
use super::prompt_text;
use crate::model::batch::parse_prompts;
use crate::model::endpoint::Scope;
use crate::model::job::JobKey;
use crate::model::prompt::DeliveryKind;
use crate::store::{RecentPrompt, Store};
use crate::tui::format::plural;
use chrono::{TimeDelta, Utc};
use std::path::Path;

/// The maximum size of a file of prompts, in bytes. The dashboard has the same limit.
const MAX_BATCH_FILE_BYTES: u64 = 32 << 20;
/// A prompt that was sent within this time is not sent again without `--again`.
const DUPLICATE_PROMPT_PERIOD: TimeDelta = TimeDelta::hours(24);

/// The prompts of a file, separated into prompts to queue and prompts that were queued or sent before.
#[derive(Debug)]
pub(super) struct BatchPlan {
    /// The prompts that will be queued.
    pub(super) new_prompts: Vec<String>,
    /// The prompts in the store that have the same text as a prompt of the file, and are not sent yet or were sent
    /// recently; empty with `--again`.
    pub(super) earlier_prompts: Vec<RecentPrompt>,
}

/// Reads the prompts from a file; `-` is stdin.
///
/// # Errors
/// Fails if the file can't be read or contains no prompt.
pub(super) fn read_prompts(file: &Path) -> Result<Vec<String>, CliError> {
    let (name, text) = if file.as_os_str() == "-" {
        (None, prompt_text::read_prompt_stream(std::io::stdin().lock(), "stdin", MAX_BATCH_FILE_BYTES)?)
    } else {
        (file.to_str(), prompt_text::read_text_file(file, MAX_BATCH_FILE_BYTES)?)
    };
    parse_prompts(name, &text)
        .map_err(|error| CliError::local_error(format!("{}: {error} Nothing was sent.", file.display())))
}

/// Separates the prompts of a file into new prompts and prompts that were queued or sent before.
///
/// # Errors
/// Fails if the store can't be read. Also fails if prompts were queued or sent before and no option states what to do
/// with them.
pub(super) async fn plan_batch(
    store: &Store,
    scope: &Scope,
    prompts: Vec<String>,
    options: &Options,
) -> Result<BatchPlan, CliError> {
    let earlier_prompts = store.recent_prompts(scope, Utc::now() - DUPLICATE_PROMPT_PERIOD).await?;
    let earlier_prompts: Vec<RecentPrompt> =
        earlier_prompts.into_iter().filter(|earlier| prompts.contains(&earlier.text)).collect();
    let is_earlier = |text: &String| earlier_prompts.iter().any(|earlier| earlier.text == *text);
    let earlier_count = prompts.iter().filter(|text| is_earlier(text)).count();
    if earlier_count == 0 || options.again {
        return Ok(BatchPlan { new_prompts: prompts, earlier_prompts: Vec::new() });
    }
    if options.rest || options.dry_run {
        let new_prompts = prompts.into_iter().filter(|text| !is_earlier(text)).collect();
        return Ok(BatchPlan { new_prompts, earlier_prompts });
    }
    let (all, verb) = (plural(prompts.len(), "prompt"), if earlier_count == 1 { "is" } else { "are" });
    let waits = |text: &&String| earlier_prompts.iter().any(|earlier| earlier.text == **text && is_unsent(earlier));
    let waiting = prompts.iter().filter(waits).count();
    let (queue, recent) = ("in the queue", "sent in the last 24 hours");
    let counts = match (waiting, earlier_count.saturating_sub(waiting)) {
        (0, sent) => format!("{sent} {recent}"),
        (waiting, 0) => format!("{waiting} {queue}"),
        (waiting, sent) => format!("{waiting} {queue}, {sent} {recent}"),
    };
    Err(CliError::local_error(format!(
        "{earlier_count} of {all} {verb} not new: {counts}. Nothing was queued. Add --rest to send only the prompts \
         that were not sent yet, or --again to send the whole file again."
    )))
}

/// Returns the message for a file whose `count` prompts were all sent before.
pub(super) fn all_sent_message(count: usize) -> String {
    let (prompts, them) = match count {
        1 => ("the only prompt in the file was".to_owned(), "it"),
        _ => (format!("all {count} prompts were"), "them"),
    };
    format!("Nothing left to send: {prompts} sent in the last 24 hours. Add --again to send {them} again.")
}

/// Whether the prompt is still to be sent: it is `Queued`, `Paused` or `NotSent`.
pub(super) fn is_unsent(prompt: &RecentPrompt) -> bool {
    matches!(prompt.state, DeliveryKind::Queued | DeliveryKind::Paused | DeliveryKind::NotSent)
}

/// Returns the jobs of those earlier prompts that are still to be sent. `--rest` sends them.
pub(super) fn unsent_jobs(earlier_prompts: &[RecentPrompt]) -> Vec<JobKey> {
    earlier_prompts.iter().filter(|prompt| is_unsent(prompt)).map(|prompt| prompt.job).collect()
}
