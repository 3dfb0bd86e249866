//! What the log screen lists: requests and transitions, without the text of prompts and without the key.

use super::Time;
use super::text::CleanText;

/// The four operations of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    Create,
    Get,
    FollowUp,
    Views,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 4] = [Self::Create, Self::Get, Self::FollowUp, Self::Views];

    /// Short name on the screen, in the log and in `--fault`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Get => "get",
            Self::FollowUp => "message",
            Self::Views => "views",
        }
    }
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    pub at: Time,
    /// What it is about: a job's id or title, or a range of days.
    pub subject: CleanText,
    pub what: LogKind,
}

/// What a line of the log records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogKind {
    /// A request: its status when one came, how long it took, and why it failed.
    Request { operation: Operation, status: Option<u16>, millis: u32, reason: Option<CleanText> },
    /// A change that was seen.
    Transition(CleanText),
    /// Something else worth keeping: a store moved aside, a lease taken.
    Note(CleanText),
}
