//! Something that is asked for and may be late, old or missing: the screen shows which.

use super::Time;
use super::failure::Failure;

/// A value with the time it is true for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timed<T> {
    pub value: T,
    pub as_of: Time,
}

/// A value that is asked for. What was there before stays while a new answer is awaited and after it failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Load<T> {
    /// Not asked for.
    #[default]
    Idle,
    /// Asked for, no answer yet.
    Loading { before: Option<Timed<T>> },
    /// Answered.
    Ready(Timed<T>),
    /// Asked for in vain.
    Failed { failure: Failure, at: Time, before: Option<Timed<T>> },
}

impl<T> Load<T> {
    /// What can be shown, with its time, whether fresh or from before.
    pub fn shown(&self) -> Option<&Timed<T>> {
        match self {
            Self::Idle => None,
            Self::Ready(value) => Some(value),
            Self::Loading { before } | Self::Failed { before, .. } => before.as_ref(),
        }
    }

    /// Whether an answer is awaited.
    pub fn is_loading(&self) -> bool {
        matches!(self, Self::Loading { .. })
    }

    /// Why the last attempt failed.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed { failure, .. } => Some(failure),
            _ => None,
        }
    }

    /// Asks (again): what can be shown stays.
    pub fn start(&mut self) {
        let before = self.take_shown();
        *self = Self::Loading { before };
    }

    /// Takes the answer.
    pub fn finish(&mut self, result: Result<Timed<T>, Failure>, at: Time) {
        *self = match result {
            Ok(value) => Self::Ready(value),
            Err(failure) => Self::Failed { failure, at, before: self.take_shown() },
        };
    }

    fn take_shown(&mut self) -> Option<Timed<T>> {
        match std::mem::take(self) {
            Self::Idle => None,
            Self::Ready(value) => Some(value),
            Self::Loading { before } | Self::Failed { before, .. } => before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::failure::FailureKind;

    #[test]
    fn what_was_there_stays_while_loading_and_after_a_failure() {
        let at = Time::default();
        let mut load = Load::default();
        load.start();
        assert!(load.shown().is_none());
        load.finish(Ok(Timed { value: 7, as_of: at }), at);
        load.start();
        assert_eq!(load.shown().map(|s| s.value), Some(7));
        load.finish(Err(Failure::new(FailureKind::Offline, "no network")), at);
        assert_eq!(load.shown().map(|s| s.value), Some(7));
        assert!(load.failure().is_some());
    }
}
