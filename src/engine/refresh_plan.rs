//! Decides when the state of a pull request is requested again, and defines how many points of a code host's limit may
//! be spent. Makes no requests and reads no clock.

use crate::model::Time;
use crate::model::pull_request::{ChecksState, PullRequest};
use chrono::TimeDelta;

/// How often the state of a pull request is requested while its checks are running or could not be read.
const RUNNING_CHECKS_REFRESH_INTERVAL: TimeDelta = TimeDelta::seconds(60);
/// How often the state of a pull request is requested while its checks are known and none of them is running.
const USUAL_REFRESH_INTERVAL: TimeDelta = TimeDelta::minutes(5);
/// When the terminal gets the focus, a state that is older than this is requested again.
const MAX_AGE_ON_FOCUS: TimeDelta = TimeDelta::seconds(30);
/// Pull requests that become due within this time are requested together with those that are due now.
const DUE_TOLERANCE: TimeDelta = TimeDelta::seconds(30);
/// The maximum number of points of a host's hourly limit that docdeck spends (GitHub's limit is 5,000). The rest is for
/// the user's other tools.
pub(super) const MAX_POINTS_PER_HOUR: u64 = 500;
/// The maximum cost of a chunk of pull requests in points: one each for the states, the checks, and the conflicts that
/// were still being computed.
pub(super) const MAX_POINTS_PER_CHUNK: u64 = 3;

/// Why pull requests are requested now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefreshTrigger {
    /// They are due on schedule.
    Schedule,
    /// The terminal got the focus.
    Focus,
    /// The user asked for it.
    User,
}

/// Returns the time at which the state is requested again; `None` if the state is final. The time is sooner if checks
/// are running or could not be read.
pub fn next_refresh(state: &PullRequest) -> Option<Time> {
    if state.state.is_final() {
        return None;
    }
    let is_pending = state.checks.state == ChecksState::Pending || !state.has_current_checks();
    Some(state.as_of + if is_pending { RUNNING_CHECKS_REFRESH_INTERVAL } else { USUAL_REFRESH_INTERVAL })
}

/// Whether a pull request with this state is requested now; always true if its state is not known yet (`None`).
pub(super) fn is_due(state: Option<&PullRequest>, trigger: RefreshTrigger, now: Time) -> bool {
    let Some(state) = state else { return true };
    match (trigger, next_refresh(state)) {
        (RefreshTrigger::User, _) => true,
        (_, None) => false,
        (RefreshTrigger::Focus, Some(_)) => now - state.as_of > MAX_AGE_ON_FOCUS,
        // If the time of the state is in the future, the clock was set back. Then `due` is wrong, so request the state
        // now.
        (RefreshTrigger::Schedule, Some(due)) => due <= now + DUE_TOLERANCE || state.as_of > now + DUE_TOLERANCE,
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
