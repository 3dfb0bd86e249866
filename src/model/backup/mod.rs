//! The export format: all data of this computer as JSON Lines, for `docdeck export` and `docdeck import`.
//!
//! A header, one line per job with its complete thread, drafts that belong to no job, and an end line that shows that
//! the file is complete. `wire` defines the lines; `join` has the rules for merging an imported file.

pub mod join;
mod wire;

use super::Time;
use super::endpoint::Scope;
use super::job::JobId;
use super::prompt::{Delivery, JobEvent, PromptKind};
use super::row::Job;
use super::text::{CleanText, escaped_json};

/// The version that is written, and the newest that can be read.
pub const VERSION: u32 = 1;

/// Maximum characters of an error about a line, which may quote it.
const COMPLAINT: usize = 160;

/// One line of the file.
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
    pub program: CleanText,
    pub exported_at: Time,
}

/// The number of lines of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BackupTotals {
    pub jobs: u64,
    pub drafts: u64,
}

/// A job with all its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRecord {
    /// Without the organization, which belongs to the configuration.
    pub scope: Scope,
    /// Key, revision, queue position and undelivered prompt have no meaning here; the importing store sets them.
    pub row: Job,
    /// In the order of the thread.
    pub prompts: Vec<PromptRecord>,
    pub events: Vec<JobEvent>,
    /// An unsent follow-up.
    pub draft: Option<DraftText>,
}

/// A prompt with its delivery state when the file was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptRecord {
    pub kind: PromptKind,
    /// As typed.
    pub text: String,
    pub delivery: Delivery,
    pub written_at: Time,
    pub sent_at: Option<Time>,
    /// When that state began.
    pub state_at: Option<Time>,
    /// An unsent edited version.
    pub draft: Option<DraftText>,
}

/// The text of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftText {
    /// As typed.
    pub text: String,
    pub saved_at: Time,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftRecord {
    pub scope: Scope,
    pub of: DraftPurpose,
    pub draft: DraftText,
}

/// What a draft without a job is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftPurpose {
    NewJob,
    AboutPages(Vec<CleanText>),
    Batch,
}

/// Why a line can't be imported, as a phrase that follows "line 17".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    #[error("is not the header of a docdeck export; choose a file written by `docdeck export`")]
    NoHeader,
    #[error("was written by a newer docdeck (format {0}, supported up to {VERSION}); update docdeck")]
    Newer(u32),
    /// Not JSON, or not a line of this format.
    #[error("can't be read: {0}")]
    Shape(CleanText),
    /// A kind that this format doesn't have.
    #[error("has the unknown kind {0}")]
    Kind(CleanText),
    /// A job that could not be identified.
    #[error("is a job with neither an id nor a prompt")]
    Nameless,
    #[error("has a prompt that is blank")]
    Blank,
    #[error("has an empty baseUrl or project")]
    NoScope,
    /// A value that this format doesn't have.
    #[error("has the unknown {of} \"{word}\"")]
    Word { of: &'static str, word: CleanText },
}

impl JobRecord {
    /// The number of prompts that are queued or being sent.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        let is_in_flight = |delivery: &Delivery| matches!(delivery, Delivery::Queued { .. } | Delivery::Sending);
        self.prompts.iter().filter(|prompt| is_in_flight(&prompt.delivery)).count()
    }

    /// The default title: the first line of the job's prompt, or its id.
    #[must_use]
    pub fn default_title(&self) -> CleanText {
        let first = self.prompts.iter().find(|prompt| prompt.kind == PromptKind::Create);
        let first = first.map(|first| wire::title_from_prompt(&first.text)).filter(|title| !title.is_empty());
        first.or_else(|| self.row.id.as_ref().map(JobId::clean)).unwrap_or_default()
    }
}

impl LineError {
    fn shape(what: impl std::fmt::Display) -> Self {
        Self::Shape(CleanText::title(&what.to_string(), COMPLAINT))
    }
}

impl BackupLine {
    /// The line as text, without its line break.
    ///
    /// # Errors
    /// Fails if JSON serialization fails, which it never does in memory.
    pub fn write(&self) -> Result<String, LineError> {
        let line = serde_json::to_string(&wire::WireLine::from(self)).map_err(LineError::shape)?;
        Ok(escaped_json(&line).into_owned())
    }

    /// Reads a line. Unknown fields are ignored; missing times are `now`.
    ///
    /// # Errors
    /// What is wrong with it, as a phrase that follows "line 17".
    pub fn read(text: &str, now: Time) -> Result<Self, LineError> {
        wire::parse_backup_line(text, now)
    }
}
