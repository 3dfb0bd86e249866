//! The store's errors, with messages for the user, and their mapping from SQLite's error codes.
//!
//! No message contains a prompt's text: SQLite's messages name tables and columns, never values.

use crate::model::failure::{Failure, FailureKind};
use crate::model::text::{CleanText, sentence_case};
use crate::model::unrecorded::StoreWriteProblem;
use std::path::PathBuf;

pub(super) type StoreResult<T> = Result<T, StoreError>;

/// Why a call failed. A failed call stores nothing.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A newer version of docdeck wrote the file, which was not touched.
    #[error(
        "the database {} was written by a newer docdeck (schema {found}, this one supports {supported}) and was not \
         changed: update docdeck, or choose another folder with --data-dir", path.display()
    )]
    NewerSchema { path: PathBuf, found: i64, supported: i64 },
    /// An older version of docdeck wrote the file. It needs a migration, but can't be written, and was not touched.
    #[error(
        "the database {} was written by an older docdeck (schema {found}, this one needs {supported}) and can't be \
         updated, since its folder can't be written: make the folder writable and restart docdeck, or copy the file to \
         a writable folder and choose that one with --data-dir", path.display()
    )]
    OlderSchema { path: PathBuf, found: i64, supported: i64 },
    /// The file is a sound database of another program, and was not touched.
    #[error(
        "the file {} is the database of another program and was not changed: choose another folder with --data-dir",
        .0.display()
    )]
    ForeignDatabase(PathBuf),
    /// The file or its folder can't be written.
    #[error(
        "the data folder can't be written, so nothing was saved or sent: make the folder writable, or choose another \
         one with --data-dir"
    )]
    ReadOnly,
    #[error("the disk is full, so nothing was saved or sent: free some space, then try again")]
    DiskFull,
    /// The disk refused a write although it isn't full: it is failing, or a quota or a file size limit is exceeded.
    /// SQLite reports all of these with the same code.
    #[error(
        "the disk refuses to write (quota exceeded, or failing), so nothing was saved or sent: free some space, then \
         try again"
    )]
    WriteRefused,
    /// Another process held the lock for longer than this process waits.
    #[error("another docdeck kept the database locked, so nothing was saved: try again")]
    Busy,
    /// Pages of the file can't be read correctly.
    #[error(
        "the database is damaged: restart docdeck, or run `docdeck doctor --repair`, to recover what can be read (the \
         damaged file is kept)"
    )]
    Damaged,
    /// The prompt has no visible text.
    #[error("the prompt is blank: write what the agent should do")]
    BlankPrompt,
    #[error("this job is not in the database: refresh the list")]
    NoSuchJob,
    #[error("this prompt is not in the database: refresh the list")]
    NoSuchPrompt,
    /// The prompt's state doesn't allow this action.
    #[error("the prompt was sent or changed meanwhile, so nothing was done: check its state")]
    StateChanged,
    /// The prompt is unconfirmed and may have been carried out, so its text must not change.
    #[error(
        "this prompt may have been carried out and can't be edited: send it again unchanged, link it, or discard it"
    )]
    NotEditable,
    /// A member of the team wrote the prompt on another computer.
    #[error("this prompt was written on another computer, so it can be sent, edited or discarded only there")]
    WrittenElsewhere,
    #[error("the database is closed: restart docdeck")]
    Closed,
    /// Any other error of SQLite or the operating system, with its message.
    #[error("the database can't be used ({0}): check the data folder, then restart docdeck")]
    Unusable(String),
}

impl StoreError {
    /// Returns why the outcome of a finished action can't be stored, and what the user can do about it.
    pub fn write_problem(&self) -> StoreWriteProblem {
        let (what, remedy) = match self {
            Self::DiskFull => ("the disk is full", "free some space"),
            Self::WriteRefused => ("the disk refuses to write (quota exceeded, or failing)", "free some space"),
            Self::ReadOnly => ("the data folder can't be written", "make it writable"),
            Self::Busy => ("another program has locked the database", "end that program"),
            Self::Damaged => ("the database is damaged", "restart docdeck"),
            other => {
                return StoreWriteProblem {
                    reason: CleanText::line(&other.to_string()),
                    remedy: CleanText::line("restart docdeck"),
                };
            }
        };
        StoreWriteProblem { reason: CleanText::line(what), remedy: CleanText::line(remedy) }
    }

    /// Returns the message for a failed change other than sending a prompt. Unlike the message of [`Self::failure`],
    /// this one doesn't state that nothing was sent, since a prompt may be sent at the same time.
    pub fn not_saved_failure(&self) -> Failure {
        if !matches!(self, Self::DiskFull | Self::WriteRefused | Self::ReadOnly) {
            return self.failure();
        }
        let StoreWriteProblem { reason, remedy } = self.write_problem();
        Self::to_failure(&format!("{reason}, so this was not saved: {remedy}, then try again"))
    }

    /// Returns the error as a [`Failure`] for the user.
    pub fn failure(&self) -> Failure {
        Self::to_failure(&self.to_string())
    }

    fn to_failure(message: &str) -> Failure {
        Failure::new(FailureKind::Store, &format!("{}.", sentence_case(message)))
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        if error.sqlite_error().is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_WRITE) {
            return Self::WriteRefused;
        }
        match error.sqlite_error_code() {
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => Self::Busy,
            Some(Code::DiskFull) => Self::DiskFull,
            // If the journal can't be created beside the file, SQLite reports "can't open".
            Some(Code::ReadOnly | Code::CannotOpen | Code::PermissionDenied) => Self::ReadOnly,
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => Self::Damaged,
            _ => Self::Unusable(error.to_string()),
        }
    }
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind as Kind;
        match error.kind() {
            Kind::StorageFull => Self::DiskFull,
            Kind::QuotaExceeded | Kind::FileTooLarge => Self::WriteRefused,
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Self::ReadOnly,
            _ => Self::Unusable(error.to_string()),
        }
    }
}
