//! A failure as the user meets it: one sentence, and the kind that decides what is offered next.

use super::ledger::Wait;
use super::text::CleanText;

/// What failed and why, said in one sentence: what happened, what it means, what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    pub sentence: CleanText,
}

/// Kinds of failure that lead to different offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The service can't be reached or is unwell: tried again by itself.
    Offline,
    /// 401 or 403: nothing is tried again until the user says so.
    KeyRefused,
    /// The service does not know it.
    NotFound,
    /// The limit is reached.
    Limited(Wait),
    /// The service refused the request or answered what can't be read.
    Service,
    /// The store on this computer can't do it.
    Store,
    /// Something on this computer outside the store: an opener, a file, a command.
    Local,
}

impl Failure {
    /// The sentence is cleaned on the way in.
    pub fn new(kind: FailureKind, sentence: &str) -> Self {
        Self { kind, sentence: CleanText::line(sentence) }
    }
}
