//! What the store can't do, as sentences for the user, and which of SQLite's codes means which.
//!
//! No sentence carries a prompt's text: SQLite's messages name tables and columns, never values.

use crate::model::failure::{Failure, FailureKind};
use crate::model::text::CleanText;
use crate::model::unrecorded::Obstacle;
use std::path::PathBuf;

/// Why a call of the store came to nothing. After any of these nothing of the call is on disk, unless said otherwise.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file was written by a later docdeck; it was not touched.
    #[error(
        "the store {} was written by a newer docdeck (its schema is {found}, this one knows {known}) and was left \
         untouched: update docdeck, or choose another folder with --data-dir", path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    /// The file was written by an earlier docdeck and can't be brought up to date; it was not touched.
    #[error(
        "the store {} was written by an older docdeck (its schema is {found}, this one needs {known}) and has to be \
         brought up to date once, but its folder can't be written: make the folder writable and start docdeck again, or \
         copy the file into a folder that can be written and choose that one with --data-dir", path.display()
    )]
    Older { path: PathBuf, found: i64, known: i64 },
    /// The file is a sound database, but not one of docdeck's; it was not touched.
    #[error(
        "the file {} is the database of another program and was left untouched: choose another folder with --data-dir",
        .0.display()
    )]
    Foreign(PathBuf),
    /// The file or its folder can't be written.
    #[error(
        "the data folder can't be written, so nothing was saved or sent and the text stays where it is: make the \
         folder writable, or choose another one with --data-dir"
    )]
    ReadOnly,
    /// No room on the disk.
    #[error(
        "the disk is full, so nothing was saved or sent and the text stays where it is: free some space, then try again"
    )]
    Full,
    /// The disk refused a write: over a quota or a limit on the size of files, or failing. SQLite tells only a full disk apart.
    #[error(
        "the disk takes no more (a quota is used up, or the disk fails), so nothing was saved or sent and the text stays \
         where it is: free some space, then try again"
    )]
    Refused,
    /// Another process held the lock longer than the busy timeout.
    #[error("another docdeck kept the store locked for too long, so nothing was saved: try again")]
    Busy,
    /// Pages of the file make no sense.
    #[error(
        "the database on this computer is damaged: start docdeck again, or run `docdeck doctor --repair`, to recover what \
         can be read (the damaged file is kept)"
    )]
    Damaged,
    /// A prompt with nothing in it to read.
    #[error("the prompt is blank: write what the agent should do")]
    Blank,
    /// No such job here.
    #[error("this job is not in the store of this computer: refresh the list")]
    NoSuchJob,
    /// No such prompt here.
    #[error("this prompt is not in the store of this computer: refresh the list")]
    NoSuchPrompt,
    /// The prompt is not in a state in which this may be done to it.
    #[error("the prompt was sent or changed meanwhile and is left as it is: check its state")]
    MovedOn,
    /// An unconfirmed prompt may already be at work, so its text is what it was.
    #[error(
        "this prompt may have been carried out already and can't be edited: send it again as it is, link it, or discard it"
    )]
    NotEditable,
    /// The store was closed.
    #[error("the store is closed: start docdeck again")]
    Closed,
    /// Anything else that SQLite or the system said.
    #[error("the store on this computer can't be used ({0}): check the data folder, then start docdeck again")]
    Unusable(String),
}

impl StoreError {
    /// What keeps the store from writing what already happened, and what to do about it.
    pub fn obstacle(&self) -> Obstacle {
        let (what, remedy) = match self {
            Self::Full => ("the disk is full", "free some space"),
            Self::Refused => ("the disk takes no more (a quota is used up, or the disk fails)", "free some space"),
            Self::ReadOnly => ("the data folder can't be written", "make it writable"),
            Self::Busy => ("another program keeps the store locked", "end that program"),
            Self::Damaged => ("the store is damaged", "start docdeck again"),
            other => {
                return Obstacle {
                    what: CleanText::line(&other.to_string()),
                    remedy: CleanText::line("start docdeck again"),
                };
            }
        };
        Obstacle { what: CleanText::line(what), remedy: CleanText::line(remedy) }
    }

    /// The failure of a change other than sending a prompt, for the core: says nothing about prompts, since one may be on
    /// its way.
    pub fn not_saved(&self) -> Failure {
        if !matches!(self, Self::Full | Self::Refused | Self::ReadOnly) {
            return self.failure();
        }
        let Obstacle { what, remedy } = self.obstacle();
        Self::as_sentence(&format!("{what}, so this was not saved: {remedy}, then try again"))
    }

    /// The failure for the core.
    pub fn failure(&self) -> Failure {
        Self::as_sentence(&self.to_string())
    }

    fn as_sentence(words: &str) -> Failure {
        let mut letters = words.chars();
        let first = letters.next().map(char::to_uppercase).into_iter().flatten();
        let sentence: String = first.chain(letters).chain(['.']).collect();
        Failure::new(FailureKind::Store, &sentence)
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        if error.sqlite_error().is_some_and(|told| told.extended_code == rusqlite::ffi::SQLITE_IOERR_WRITE) {
            return Self::Refused;
        }
        match error.sqlite_error_code() {
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => Self::Busy,
            Some(Code::DiskFull) => Self::Full,
            // A journal that can't be made beside the file shows as "can't open".
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
            Kind::StorageFull => Self::Full,
            Kind::QuotaExceeded | Kind::FileTooLarge => Self::Refused,
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Self::ReadOnly,
            _ => Self::Unusable(error.to_string()),
        }
    }
}
