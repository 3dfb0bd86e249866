//! What happened when the store was opened, and what was recovered from a damaged file.

use crate::model::number_format::plural;
use std::path::PathBuf;

/// The result of opening the store.
#[derive(Debug, Default)]
pub struct OpenOutcome {
    /// The path to which the damaged file was moved after its readable data had been recovered into a new file; `None`
    /// if no file was moved.
    pub damaged_file: Option<PathBuf>,
    /// Counts of what was recovered from the damaged file; all 0 if no file was moved.
    pub recovery_counts: RecoveryCounts,
    /// Whether indexes were damaged and have been rebuilt.
    pub has_rebuilt_indexes: bool,
    /// Whether the store can't be written: reading works, every write is refused.
    pub is_read_only: bool,
}

/// Counts of what was recovered from a damaged database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecoveryCounts {
    pub jobs: u64,
    pub prompts: u64,
    pub drafts: u64,
    /// Prompts that are unconfirmed after the recovery, since they may have been sent.
    pub unconfirmed: u64,
    /// Prompts that were queued, and are paused after the recovery.
    pub paused: u64,
}

impl RecoveryCounts {
    /// Returns a message for the user, in one or two sentences.
    #[must_use]
    pub fn message(&self) -> String {
        let Self { jobs, prompts, drafts, unconfirmed, paused } = *self;
        if (jobs, prompts, drafts) == (0, 0, 0) {
            return "No job, prompt or draft could be recovered from it.".to_owned();
        }
        let mut sentence = format!(
            "Recovered {}, {} and {}; some may be missing.",
            plural(jobs, "job"),
            plural(prompts, "prompt"),
            plural(drafts, "draft")
        );
        let states = [(unconfirmed, "prompt", "unconfirmed"), (paused, "queued prompt", "paused")];
        let states = states.into_iter().filter(|(n, ..)| *n > 0);
        let states: Vec<String> = states
            .map(|(n, one, state)| format!("{} {} {state}", plural(n, one), if n == 1 { "is" } else { "are" }))
            .collect();
        if !states.is_empty() {
            sentence.push_str(&format!(" {}.", states.join(", ")));
        }
        sentence
    }
}
