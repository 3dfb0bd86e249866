//! All that is known on this computer as JSON Lines, to be kept or taken elsewhere (design.md: `export`, `import`).
//!
//! A header, then a line a job with its whole thread, then drafts that belong to no job, then an end line that shows
//! that nothing was cut off. `wire` is the shape of the lines; `join` has the rules by which what a file tells becomes one
//! with what is known here.

pub mod join;
mod wire;

use super::Time;
use super::endpoint::Scope;
use super::job::JobId;
use super::prompt::{Delivery, JobEvent, PromptKind};
use super::row::Job;
use super::text::{CleanText, escaped_json};

/// The format that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// Characters of a complaint about a line: it may quote what stands there.
const COMPLAINT: usize = 160;

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackupLine {
    Header(BackupHeader),
    Job(Box<JobRecord>),
    Draft(DraftRecord),
    End(BackupTotals),
}

/// What the file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupHeader {
    /// The docdeck that wrote it.
    pub program: CleanText,
    pub exported_at: Time,
}

/// How many lines of each kind came before the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BackupTotals {
    pub jobs: u64,
    pub drafts: u64,
}

/// A job with all that is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRecord {
    /// Without the organization, which is a matter of the configuration.
    pub scope: Scope,
    /// Its key, revision, place and undelivered prompt mean nothing: the store that takes it in gives it its own.
    pub row: Job,
    /// As they follow each other in the thread.
    pub prompts: Vec<PromptRecord>,
    pub events: Vec<JobEvent>,
    /// A follow-up that is not sent yet.
    pub draft: Option<DraftText>,
}

/// A prompt with where it stood when the file was written.
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
    /// Changes to it that are not sent yet.
    pub draft: Option<DraftText>,
}

/// An unfinished text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftText {
    /// As typed.
    pub text: String,
    pub saved_at: Time,
}

/// A draft that belongs to no job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftRecord {
    pub scope: Scope,
    pub of: DraftOf,
    pub draft: DraftText,
}

/// What such a draft is to become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftOf {
    NewJob,
    AboutPages(Vec<CleanText>),
    Batch,
}

/// Why a line can't be taken in, as a phrase that follows "line 17".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// The first line is no header.
    #[error("is not the header of a docdeck export: name a file that `docdeck export` wrote")]
    NoHeader,
    /// Written by a later docdeck.
    #[error("says that a newer docdeck wrote this (its format is {0}, this one reads up to {VERSION}): update docdeck")]
    Newer(u32),
    /// No JSON, or not in the shape of a line.
    #[error("can't be read: {0}")]
    Shape(CleanText),
    /// A line of another kind than this format has.
    #[error("is of the kind {0}, which this format doesn't have")]
    Kind(CleanText),
    /// A job that neither the service nor this computer could tell from others.
    #[error("is a job with neither an id nor a prompt")]
    Nameless,
    /// A prompt without a visible character.
    #[error("has a prompt that is blank")]
    Blank,
    /// Nothing names the service or the project.
    #[error("has an empty baseUrl or project")]
    NoScope,
    /// A word that this format doesn't have.
    #[error("has the {of} \"{word}\", which docdeck doesn't know")]
    Word { of: &'static str, word: CleanText },
}

impl JobRecord {
    /// How many of its prompts wait to be sent, or are on their way.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        let is_in_flight = |delivery: &Delivery| matches!(delivery, Delivery::Queued { .. } | Delivery::Sending);
        self.prompts.iter().filter(|prompt| is_in_flight(&prompt.delivery)).count()
    }

    /// The title that it has unless the user gives it one: the first line of its prompt, else its id.
    #[must_use]
    pub fn name(&self) -> CleanText {
        let first = self.prompts.iter().find(|prompt| prompt.kind == PromptKind::Create);
        let first = first.map(|first| wire::title(&first.text)).filter(|title| !title.is_empty());
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
    /// What the writer of JSON said; a text in memory gives no reason for it.
    pub fn write(&self) -> Result<String, LineError> {
        let line = serde_json::to_string(&wire::WireLine::from(self)).map_err(LineError::shape)?;
        Ok(escaped_json(&line).into_owned())
    }

    /// Reads a line. Fields that this docdeck doesn't know are passed over; times that are missing are `now`.
    ///
    /// # Errors
    /// What is wrong with it, as a phrase that follows "line 17".
    pub fn read(text: &str, now: Time) -> Result<Self, LineError> {
        wire::read(text, now)
    }
}
