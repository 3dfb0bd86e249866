//! All exit codes, and the code of each kind of failure.

use crate::model::failure::FailureKind;
use crate::runtime::Exit;
use std::process::ExitCode;

/// The exit codes. Scripts rely on the numbers. A panic exits with 101.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Code {
    /// Success; an archived job counts as done.
    Done = 0,
    /// A job failed, or `docdeck doctor` found a problem.
    Failed = 1,
    /// Wrong usage or configuration, a store that can't be used or is too new, or no terminal.
    Unusable = 2,
    /// The service answered 401 or 403.
    KeyRefused = 3,
    /// The service or the network failed, the job was not found, any other 4xx, or 5xx on a GET.
    Service = 4,
    /// The ledger is full, or the service answered 429.
    Limited = 5,
    /// A POST had no readable answer, or its answer could not be written. It must not be repeated without a check.
    Unconfirmed = 6,
    /// Timed out while waiting.
    TimedOut = 124,
    /// Ctrl-C, or another signal that ends a wait.
    Interrupted = 130,
}

impl Code {
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
            // The program that replaces it sets its own exit code.
            Exit::Quit | Exit::Terminated | Exit::Relaunch(_) => Self::Done,
            Exit::Interrupted => Self::Interrupted,
        }
    }
}
