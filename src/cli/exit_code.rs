//! Defines the exit codes, and converts each kind of failure to an exit code.

use crate::model::failure::FailureKind;
use crate::runtime::ExitReason;
use std::process::ExitCode;

/// The exit codes. Scripts rely on the numbers. A panic exits with 101.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Code {
    /// Success. A command that waited for a job also succeeds if the job was archived.
    Done = 0,
    /// A job failed, a pull request was closed without merging, `docdeck doctor` found a problem, or `--check` found
    /// rows.
    Failed = 1,
    /// An error on this computer, such as wrong usage or configuration, an unusable store, or no terminal.
    Unusable = 2,
    /// The service responded with 401 or 403.
    KeyRefused = 3,
    /// The service or the network failed, or the job was not found. Also used for a 4xx response that has no exit code
    /// of its own, and for a 5xx response to a GET.
    Service = 4,
    /// The hourly limit is reached by docdeck's own count, or the service responded with 429. Also used in these cases:
    /// a load has used its maximum number of requests; `--check` found nothing, but not all rows are loaded; or a
    /// prompt was paused or discarded before it was sent.
    Limited = 5,
    /// A prompt, an approval or a merge had no readable response, or its result could not be recorded or printed. The
    /// user must check whether it was carried out before repeating it.
    Unconfirmed = 6,
    /// What the command waited for did not happen within the time set by `--timeout`.
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

impl From<ExitReason> for Code {
    fn from(exit: ExitReason) -> Self {
        match exit {
            // A relaunch starts another dashboard, whose end determines the exit code.
            ExitReason::Quit | ExitReason::Terminated | ExitReason::Relaunch(_) => Self::Done,
            ExitReason::Interrupted => Self::Interrupted,
        }
    }
}
