//! A value that is loaded in the background, with its state, so that the screen can show whether it is outdated or
//! missing.

use super::Time;
use super::failure::Failure;

/// A value and when it was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timed<T> {
    pub value: T,
    pub as_of: Time,
}

/// A value that is loaded in the background. The previous value stays available while loading and after a failure.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Load<T> {
    #[default]
    Idle,
    Loading {
        previous: Option<Timed<T>>,
    },
    Ready(Timed<T>),
    Failed {
        failure: Failure,
        at: Time,
        previous: Option<Timed<T>>,
    },
}

impl<T> Load<T> {
    /// Returns the value to show, with its time. While loading and after a failure, this is the previous value.
    pub fn shown(&self) -> Option<&Timed<T>> {
        match self {
            Self::Idle => None,
            Self::Ready(value) => Some(value),
            Self::Loading { previous } | Self::Failed { previous, .. } => previous.as_ref(),
        }
    }

    pub fn is_loading(&self) -> bool {
        matches!(self, Self::Loading { .. })
    }

    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed { failure, .. } => Some(failure),
            _ => None,
        }
    }

    /// Marks the value as loading. The current value stays available as the previous one.
    pub fn start(&mut self) {
        let previous = self.take_shown();
        *self = Self::Loading { previous };
    }

    /// Stores the result of loading. After a failure, the previous value stays available.
    pub fn finish(&mut self, result: Result<Timed<T>, Failure>, at: Time) {
        *self = match result {
            Ok(value) => Self::Ready(value),
            Err(failure) => Self::Failed { failure, at, previous: self.take_shown() },
        };
    }

    fn take_shown(&mut self) -> Option<Timed<T>> {
        match std::mem::take(self) {
            Self::Idle => None,
            Self::Ready(value) => Some(value),
            Self::Loading { previous } | Self::Failed { previous, .. } => previous,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::failure::FailureKind;

    #[test]
    fn the_previous_value_stays_while_loading_and_after_a_failure() {
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
