//! The format of export files, for `docdeck export` and `docdeck import`: the jobs and drafts of all projects as JSON
//! Lines.
//!
//! A file has a header, one line per job with its complete thread, drafts that belong to no job, and an end line, which
//! shows that the file is complete. `wire` converts the lines from and to JSON, and `merge_rules` has the rules for
//! merging an imported file into the store.

pub mod merge_rules;
mod wire;

use super::Time;
use super::analytics::signal_snapshot::JobSnapshots;
use super::endpoint::Scope;
use super::job::Job;
use super::prompt::{Delivery, JobEvent, PromptKind, prompt_title};
use super::remote_job::JobId;
use super::text::{CleanText, escaped_json};

/// The version of the format that docdeck writes, and the newest one that it can read.
pub const EXPORT_FORMAT_VERSION: u32 = 1;

/// The maximum number of characters of an error about a line, which may quote the line.
const MAX_ERROR_CHARS: usize = 160;

/// One line of an export file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackupLine {
    Header(BackupHeader),
    Job(Box<JobRecord>),
    Draft(DraftRecord),
    End(BackupTotals),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupHeader {
    /// The version of docdeck that wrote the file.
    pub docdeck_version: CleanText,
    pub exported_at: Time,
}

/// How many jobs and drafts a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BackupTotals {
    pub jobs: u64,
    pub drafts: u64,
}

/// A job with all its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRecord {
    /// The service and project of the job, without the organization, which belongs to the configuration.
    pub scope: Scope,
    /// The job. Its key, revision, queue position and undelivered prompt have no meaning here; the importing store sets
    /// them.
    pub job: Job,
    /// The prompts, in the order of the thread.
    pub prompts: Vec<PromptRecord>,
    pub events: Vec<JobEvent>,
    /// The draft of a follow-up, if there is one.
    pub draft: Option<DraftText>,
    /// The reports' numbers about the job's pages, such as the number of unanswered questions, before and after the
    /// job.
    pub signals: JobSnapshots,
}

/// A prompt, with its delivery state at the time of the export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptRecord {
    pub kind: PromptKind,
    /// The text as typed.
    pub text: String,
    pub delivery: Delivery,
    pub written_at: Time,
    pub sent_at: Option<Time>,
    /// When the prompt entered its delivery state.
    pub state_at: Option<Time>,
    /// The member of the team who wrote the prompt; `None` if it was written on the computer that exported it.
    pub author: Option<CleanText>,
    /// The draft of an edited version of the prompt, if there is one.
    pub draft: Option<DraftText>,
}

/// The text of a draft, and when the draft was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftText {
    /// The text as typed.
    pub text: String,
    pub saved_at: Time,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftRecord {
    pub scope: Scope,
    pub purpose: DraftPurpose,
    pub draft: DraftText,
}

/// What a draft that belongs to no job is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftPurpose {
    NewJob,
    AboutPages(Vec<CleanText>),
    Batch,
}

/// Why a line can't be imported. The message is a phrase that follows "line 17".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    #[error("is not the header of a docdeck export; choose a file written by `docdeck export`")]
    NoHeader,
    #[error("was written by a newer docdeck (format {0}, supported up to {EXPORT_FORMAT_VERSION}); update docdeck")]
    NewerVersion(u32),
    /// The line is not JSON, or not a line of this format.
    #[error("can't be read: {0}")]
    Malformed(CleanText),
    /// The line has a kind that this format doesn't have.
    #[error("has the unknown kind {0}")]
    UnknownKind(CleanText),
    /// The job has neither an id nor a prompt, so it can't be identified.
    #[error("is a job with neither an id nor a prompt")]
    Unidentified,
    #[error("has a prompt that is blank")]
    BlankPrompt,
    #[error("has an empty baseUrl or project")]
    NoScope,
    /// A field has a value that this format doesn't have.
    #[error("has the unknown {field} \"{word}\"")]
    UnknownWord { field: &'static str, word: CleanText },
}

impl JobRecord {
    /// Returns the number of prompts that are queued or being sent.
    #[must_use]
    pub fn queued_or_sending_count(&self) -> usize {
        let is_undecided = |delivery: &Delivery| matches!(delivery, Delivery::Queued { .. } | Delivery::Sending);
        self.prompts.iter().filter(|prompt| is_undecided(&prompt.delivery)).count()
    }

    /// Returns the default title: the first line of the job's prompt, or the job's id.
    #[must_use]
    pub fn default_title(&self) -> CleanText {
        let first = self.prompts.iter().find(|prompt| prompt.kind == PromptKind::Create);
        let first = first.map(|first| prompt_title(&first.text)).filter(|title| !title.is_empty());
        first.or_else(|| self.job.id.as_ref().map(JobId::to_clean_text)).unwrap_or_default()
    }
}

impl LineError {
    fn malformed(what: impl std::fmt::Display) -> Self {
        Self::Malformed(CleanText::title(&what.to_string(), MAX_ERROR_CHARS))
    }
}

impl BackupLine {
    /// Returns the line as JSON, without a line break at its end.
    ///
    /// # Errors
    /// Fails only if JSON serialization fails, which never happens when it writes to memory.
    pub fn to_json(&self) -> Result<String, LineError> {
        let line = serde_json::to_string(&wire::WireLine::from(self)).map_err(LineError::malformed)?;
        Ok(escaped_json(&line).into_owned())
    }

    /// Parses a line. Unknown fields are ignored. If the header, a job or a draft lacks a required time, `now` is used
    /// instead.
    ///
    /// # Errors
    /// Returns what is wrong with the line, as a phrase that follows "line 17".
    pub fn parse(text: &str, now: Time) -> Result<Self, LineError> {
        wire::parse_backup_line(text, now)
    }
}
