//! A failure as the user sees it: a sentence, and a kind that decides which actions are offered.

use super::Time;
use super::ledger::Wait;
use super::text::CleanText;

/// A failure with a message that states what failed, why, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    pub message: CleanText,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The service can't be reached or is down; docdeck retries automatically.
    Offline,
    /// The service responded with 401 or 403. docdeck doesn't retry until the user asks for it.
    KeyRefused,
    /// The service responded with 404.
    NotFound,
    /// A rate limit of the service is reached.
    Limited(Wait),
    /// The service rejected the request or sent an invalid response.
    Service,
    /// The store on this computer failed.
    Store,
    /// Something other than the store failed on this computer: the browser, a file, a command.
    Local,
}

impl Failure {
    /// Creates a failure, and removes unsafe characters from its sentence.
    pub fn new(kind: FailureKind, sentence: &str) -> Self {
        Self { kind, message: CleanText::line(sentence) }
    }

    /// Whether the failure is a rate limit whose waiting time is over.
    pub fn is_limit_over(&self, now: Time) -> bool {
        matches!(self.kind, FailureKind::Limited(wait) if wait.until <= now)
    }

    /// Creates a failure of something on this computer other than the store.
    pub fn local(sentence: &str) -> Self {
        Self::new(FailureKind::Local, sentence)
    }
}
