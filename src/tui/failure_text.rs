//! Texts about failures. A reached limit is stated with the time that is left, because the message of the failure was
//! written when it arrived.

use super::App;
use crate::model::Time;
use crate::model::failure::{Failure, FailureKind};
use crate::model::ledger::Wait;
use chrono::TimeDelta;

/// Starts the sentence at the end of a message about a reached limit.
const TRY_AGAIN: &str = " Try again ";

impl App {
    /// Returns the message of a failure. If a limit is reached, the message states when it ends as of `now`.
    pub(super) fn failure_text(&self, failure: &Failure, now: Time) -> String {
        text_with_wait(failure, |wait| self.send_time_text(wait, now))
    }

    /// Returns the message of a failure for a notice. If a limit is reached, the message states when it ends, because a
    /// notice can't count down.
    pub(super) fn failure_notice_text(&self, failure: &Failure, now: Time) -> String {
        text_with_wait(failure, |wait| self.wait_end_text(wait, now))
    }

    /// Returns the next time at which the result of [`Self::failure_text`] changes, or at which the limit ends. `None`
    /// if the failure is not about a limit. In the last minute before the limit ends, the text counts down in seconds.
    pub(super) fn failure_text_changes_at(&self, failure: &Failure, now: Time) -> Option<Time> {
        match failure.kind {
            FailureKind::Limited(wait) if wait.is_estimate => Some(wait.next_text_change(now)),
            FailureKind::Limited(Wait { until, .. }) => Some(if (until - now).num_seconds() < 60 {
                self.seconds_change_at(now).min(until)
            } else {
                (until - TimeDelta::seconds(59)).max(now + TimeDelta::seconds(1))
            }),
            _ => None,
        }
    }

    /// Returns when a wait ends, for a text that can't count down, such as a notice: `after 17:24`, with the seconds if
    /// the wait ends within a minute, or `in about a minute` for an estimate.
    pub(super) fn wait_end_text(&self, wait: Wait, now: Time) -> String {
        if wait.is_estimate {
            return format!("in {}", wait.time_left_text(now));
        }
        let format = if wait.until - now < TimeDelta::minutes(1) { "%H:%M:%S" } else { "%H:%M" };
        format!("after {}", wait.until.with_timezone(&self.config.offset).format(format))
    }
}

/// Returns the message of a failure. If a limit is reached, `wait_text` replaces the time in the message.
fn text_with_wait(failure: &Failure, wait_text: impl FnOnce(Wait) -> String) -> String {
    let message = failure.message.as_str();
    match (failure.kind, message.rsplit_once(TRY_AGAIN)) {
        (FailureKind::Limited(wait), Some((why, _))) => format!("{why}{TRY_AGAIN}{}.", wait_text(wait)),
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::finish_alerts::tests::app;
    use crate::tui::jobs::tests::at;

    #[test]
    fn the_text_about_a_limit_counts_down() {
        let app = app(Vec::new());
        let until = at(0) + TimeDelta::seconds(90);
        let failure = |is_estimate| {
            let kind = FailureKind::Limited(Wait { until, is_estimate });
            Failure::new(kind, "Limit reached (429: “Try again later.”). Try again in 90 s.")
        };
        let text = |is_estimate, seconds: i64| {
            let text = app.failure_text(&failure(is_estimate), at(0) + TimeDelta::seconds(seconds));
            text.strip_prefix("Limit reached (429: “Try again later.”). Try again ").expect("the reason").to_owned()
        };
        assert!(text(false, 0).starts_with("after "), "{}", text(false, 0));
        assert_eq!(text(false, 50), "in 40s.");
        assert_eq!((text(true, 50), text(true, 70)), ("in about a minute.".into(), "in under a minute.".into()));
        let notice = app.failure_notice_text(&failure(false), at(40));
        assert_eq!(
            notice,
            format!("Limit reached (429: “Try again later.”). Try again after {}.", until.format("%H:%M:%S"))
        );
        let offline = Failure::new(FailureKind::Offline, "Could not reach it. Try again in a moment.");
        assert_eq!(app.failure_text(&offline, at(0)), offline.message.as_str());
        assert_eq!(app.failure_text_changes_at(&offline, at(0)), None);
        let changes = |at| app.failure_text_changes_at(&failure(false), at);
        assert_eq!(changes(at(0)), Some(at(0) + TimeDelta::seconds(31)));
        assert_eq!(changes(until - TimeDelta::milliseconds(400)), Some(until));
    }
}
