//! Decides when the state of a pull request is requested again, and how many points of a code host's limit may be spent.
//! Makes no requests and reads no clock.

use crate::model::Time;
use crate::model::pull_request::{ChecksState, PullRequest};
use chrono::TimeDelta;

/// While checks are running.
const PENDING_INTERVAL: TimeDelta = TimeDelta::seconds(60);
/// The interval while no checks are pending.
const INTERVAL: TimeDelta = TimeDelta::minutes(5);
/// When the terminal gets the focus, a state that is older than this is requested again.
const FOCUS_AGE: TimeDelta = TimeDelta::seconds(30);
/// What is due a little later is requested in the same request.
const TOGETHER: TimeDelta = TimeDelta::seconds(30);
/// The points per hour that docdeck spends of a host's limit (GitHub's is 5,000). The rest is for the user's other tools.
pub(super) const POINTS_PER_HOUR: u64 = 500;
/// The most points that the requests for some pull requests at once cost: their states, those with a conflict that was
/// still being computed, and their checks.
pub(super) const POINTS_PER_CHUNK: u64 = 3;

/// Why pull requests are requested now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefreshTrigger {
    /// Their time has come.
    Schedule,
    /// The terminal got the focus.
    Focus,
    /// The user asked for it.
    User,
}

/// Returns when the state is requested again, soon if the checks are running or could not be read; `None` if it is final.
pub fn next_refresh(state: &PullRequest) -> Option<Time> {
    if state.state.is_final() {
        return None;
    }
    let is_pending = state.checks.state == ChecksState::Pending || !state.has_current_checks();
    Some(state.as_of + if is_pending { PENDING_INTERVAL } else { INTERVAL })
}

/// Whether the state belongs into a request that is made now.
pub(super) fn is_due(state: Option<&PullRequest>, trigger: RefreshTrigger, now: Time) -> bool {
    let Some(state) = state else { return true };
    match (trigger, next_refresh(state)) {
        (RefreshTrigger::User, _) => true,
        (_, None) => false,
        (RefreshTrigger::Focus, Some(_)) => now - state.as_of > FOCUS_AGE,
        // A time in the future means that the clock was set back.
        (RefreshTrigger::Schedule, Some(due)) => due <= now + TOGETHER || state.as_of > now + TOGETHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::pull_request::tests::open_pull_request;
    use crate::model::pull_request::{Checks, PullRequestState};

    fn at(second: i64) -> Time {
        Time::from_timestamp(1_795_000_000 + second, 0).expect("in range")
    }

    #[test]
    fn running_checks_are_requested_every_minute_and_final_states_only_by_the_user() {
        let open = open_pull_request(at(0));
        let pending = Checks { state: ChecksState::Pending, ..Checks::default() };
        let pending = PullRequest { checks: pending, ..open.clone() };
        let merged = PullRequest { state: PullRequestState::Merged, ..open.clone() };
        let due = |state: &PullRequest, second| is_due(Some(state), RefreshTrigger::Schedule, at(second));
        assert_eq!((due(&pending, 29), due(&pending, 30)), (false, true));
        assert_eq!((due(&open, 269), due(&open, 270), due(&merged, 100_000)), (false, true, false));
        assert!(
            is_due(Some(&open), RefreshTrigger::Focus, at(31)) && !is_due(Some(&open), RefreshTrigger::Focus, at(30))
        );
        assert!(
            is_due(Some(&merged), RefreshTrigger::User, at(1))
                && !is_due(Some(&merged), RefreshTrigger::Focus, at(1000))
        );
        assert!(is_due(None, RefreshTrigger::Schedule, at(0)));
    }
}
