//! Exit codes: the whole list of design.md's command line, and which failure ends with which.

use crate::model::failure::FailureKind;
use crate::runtime::Exit;
use std::process::ExitCode;

/// What the program ends with; scripts rely on the numbers. A panic is 101.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Code {
    /// Archived counts as done.
    Done = 0,
    /// A job failed, or something that was looked at is not as it should be.
    Failed = 1,
    /// Usage, configuration, store unusable or too new, not a terminal.
    Unusable = 2,
    /// 401, 403.
    KeyRefused = 3,
    /// Service or network, any other 4xx, no such job, 5xx on a GET.
    Service = 4,
    /// The ledger is full, or a 429.
    Limited = 5,
    /// A POST without a readable answer, or one whose answer could not be handed on: not to be sent again unseen.
    Unconfirmed = 6,
    /// Timed out while waiting.
    TimedOut = 124,
    /// Ctrl-C, or another signal that asks to end while something is waited for.
    Interrupted = 130,
}

impl Code {
    /// The number.
    pub(super) fn number(self) -> u8 {
        self as u8
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code.number())
    }
}

impl From<FailureKind> for Code {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::KeyRefused => Self::KeyRefused,
            FailureKind::Offline | FailureKind::NotFound | FailureKind::Service => Self::Service,
            FailureKind::Limited(_) => Self::Limited,
            FailureKind::Store | FailureKind::Local => Self::Unusable,
        }
    }
}

impl From<Exit> for Code {
    fn from(exit: Exit) -> Self {
        match exit {
            // What is begun in its place ends by itself.
            Exit::Quit | Exit::Ended | Exit::Begin(_) => Self::Done,
            Exit::Interrupted => Self::Interrupted,
        }
    }
}
