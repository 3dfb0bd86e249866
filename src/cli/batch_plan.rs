//! What is to be done with a file of prompts: which of them are new, which are known here already.

use super::error::CliError;
use super::new::Options;
use super::prompt_text;
use crate::app::format::plural;
use crate::model::batch::parse;
use crate::model::endpoint::Scope;
use crate::model::prompt::DeliveryKind;
use crate::model::row::JobKey;
use crate::store::{KnownPrompt, Store};
use chrono::{TimeDelta, Utc};
use std::path::Path;

/// Largest file of prompts, in bytes, as in the dashboard.
const MAX_BYTES: u64 = 32 << 20;
/// Prompts that went out within this time count as sent already.
const LATELY: TimeDelta = TimeDelta::hours(24);

/// What is to be done with a file.
#[derive(Debug)]
pub(super) struct BatchPlan {
    /// To be queued.
    pub(super) fresh: Vec<String>,
    /// Known already: the same text waits here, or went out lately.
    pub(super) known: Vec<KnownPrompt>,
}

/// The prompts in a file; `-` is stdin.
///
/// # Errors
/// It can't be read, or gives none.
pub(super) fn read(file: &Path) -> Result<Vec<String>, CliError> {
    let (name, text) = if file.as_os_str() == "-" {
        (None, prompt_text::read(std::io::stdin().lock(), "stdin", MAX_BYTES)?)
    } else {
        (file.to_str(), prompt_text::open_and_read(file, MAX_BYTES)?)
    };
    parse(name, &text).map_err(|error| CliError::unusable(format!("{}: {error} Nothing was sent.", file.display())))
}

/// What of the file is new, and what is known already.
///
/// # Errors
/// Some is known, and nobody said what is meant with it; the record can't be read.
pub(super) async fn plan(
    store: &Store,
    scope: &Scope,
    prompts: Vec<String>,
    options: &Options,
) -> Result<BatchPlan, CliError> {
    let known = store.known_prompts(scope, Utc::now() - LATELY).await?;
    let known: Vec<KnownPrompt> = known.into_iter().filter(|known| prompts.contains(&known.text)).collect();
    let is_known = |text: &String| known.iter().any(|known| known.text == *text);
    let double = prompts.iter().filter(|text| is_known(text)).count();
    if double == 0 || options.again {
        return Ok(BatchPlan { fresh: prompts, known: Vec::new() });
    }
    if options.rest || options.dry_run {
        let fresh = prompts.into_iter().filter(|text| !is_known(text)).collect();
        return Ok(BatchPlan { fresh, known });
    }
    let (all, verb) = (plural(prompts.len(), "prompt"), if double == 1 { "is" } else { "are" });
    let waits = |text: &&String| known.iter().any(|known| known.text == **text && is_waiting(known));
    let waiting = prompts.iter().filter(waits).count();
    let (queue, lately) = ("in the queue here", "went out within the last 24 hours");
    let stand = match (waiting, double.saturating_sub(waiting)) {
        (0, sent) => format!("{sent} {lately}"),
        (waiting, 0) => format!("{waiting} {queue}"),
        (waiting, sent) => format!("{waiting} {queue}, {sent} {lately}"),
    };
    Err(CliError::unusable(format!(
        "{double} of {all} {verb} known already: {stand}. Nothing was queued. --rest goes on with what has not gone out; --again sends all of them once more."
    )))
}

/// What is said of so many prompts that all went out.
pub(super) fn nothing_left(count: usize) -> String {
    let them = if count == 1 { "its one prompt".to_owned() } else { format!("all {count} prompts") };
    format!(
        "Nothing of this file is left to send: {them} went out within the last 24 hours. --again sends them once more."
    )
}

/// Whether it waits here to go out.
pub(super) fn is_waiting(known: &KnownPrompt) -> bool {
    matches!(known.state, DeliveryKind::Queued | DeliveryKind::Paused | DeliveryKind::NotSent)
}

/// The jobs that --rest goes on with.
pub(super) fn waiting(known: &[KnownPrompt]) -> Vec<JobKey> {
    known.iter().filter(|known| is_waiting(known)).map(|known| known.job).collect()
}
