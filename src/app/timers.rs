//! When the screen changes without a message: the heartbeat, ages, countdowns, the end of a notice, a draft to save.

use super::dialog::Dialog;
use super::editor::DraftState;
use super::jobs::JobLine;
use super::{App, Screen, StoreState, format};
use crate::model::Time;
use crate::model::connection::Connection;
use crate::model::failure::FailureKind;
use crate::model::ledger::{RateLimited, Wait};
use chrono::TimeDelta;

/// Half a period of the heartbeat, in milliseconds.
const HALF_BEAT: i64 = 500;

impl App {
    /// The next time at which the screen changes without a message. `None` if nothing changes.
    pub fn next_timer(&self, now: Time) -> Option<Time> {
        let notice = self.notice.as_ref().map(|notice| notice.until);
        let due = |saved: &DraftState| match saved {
            DraftState::Due(at) => Some(*at),
            _ => None,
        };
        let draft = self.dialogs.iter().filter_map(Dialog::draft_state).find_map(due);
        [
            notice,
            draft,
            self.store_retry(),
            self.layout_due(),
            self.finish_alerts.due(),
            self.tips.until(),
            self.next_beat(now),
            self.header_changes(now),
            self.body_changes(now),
            self.limit_changes(now),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// When reading the store is retried.
    fn store_retry(&self) -> Option<Time> {
        match self.store {
            StoreState::Unreadable { again, .. } => again,
            _ => None,
        }
    }

    /// Whether the heartbeat shows its large glyph. It stops when nothing is polled.
    pub fn is_heartbeat_large(&self, now: Time) -> bool {
        self.next_beat(now).is_some() && now.timestamp_millis().rem_euclid(2 * HALF_BEAT) < HALF_BEAT
    }

    fn next_beat(&self, now: Time) -> Option<Time> {
        let is_polling = self.connection == Connection::Ready && self.jobs.working_count() > 0;
        (is_polling && !self.config.reduced_motion && self.size.0 > 0).then(|| {
            let into = now.timestamp_millis().rem_euclid(HALF_BEAT);
            now + TimeDelta::milliseconds(HALF_BEAT - into)
        })
    }

    /// Seconds advance by one, or by ten to save bytes.
    fn next_second(&self, now: Time) -> Time {
        let step: i64 = if self.config.reduced_motion { 10_000 } else { 1000 };
        now + TimeDelta::milliseconds(step - now.timestamp_millis().rem_euclid(step))
    }

    /// When the limit shown on the views screen changes: every second in its last minute, and at its end.
    fn limit_changes(&self, now: Time) -> Option<Time> {
        let failure = self.views.load_failure(now).filter(|_| self.screen == Screen::Views)?;
        match failure.kind {
            FailureKind::Limited(wait) if wait.is_estimate => Some(wait.next_change(now)),
            FailureKind::Limited(Wait { until, .. }) => Some(if (until - now).num_seconds() < 60 {
                self.next_second(now).min(until)
            } else {
                (until - TimeDelta::seconds(59)).max(now + TimeDelta::seconds(1))
            }),
            _ => None,
        }
    }

    fn header_changes(&self, now: Time) -> Option<Time> {
        let connection = match &self.connection {
            Connection::Offline { next_try: Some(next_try), .. } if *next_try > now => Some(self.next_second(now)),
            Connection::Limited(wait) if wait.until > now => Some(wait.next_change(now)),
            _ => None,
        };
        // A reset in the past wakes at once: another message may have been handled between it and its timer. The reset
        // of a limit that is not shown counts too, because that one may be the closest limit until then.
        let shown = self.closest_limit();
        let changes = |limited: RateLimited| {
            let budget = self.budget(limited);
            let at = budget.resets_at?;
            Some(match budget.blocked {
                _ if at <= now => now,
                _ if limited != shown => at,
                Some(wait) => wait.next_change(now).min(at),
                None => format::until_changes(at, now).min(at),
            })
        };
        let reset = RateLimited::ALL.into_iter().filter_map(changes).min();
        connection.into_iter().chain(reset).min()
    }

    fn body_changes(&self, now: Time) -> Option<Time> {
        match self.screen {
            Screen::Jobs => {
                let rows = self.jobs.visible(self.geometry().list_rows());
                let ages = rows.filter_map(|line| match line {
                    JobLine::Job(row) => row.state_since().map(|since| format::short_age_changes_at(since, now)),
                    JobLine::Heading(..) => None,
                });
                let counting = self.detail_is_visible() && self.jobs.selected().is_some_and(|row| row.is_working());
                let detail = counting.then(|| self.next_second(now));
                ages.chain(detail).min()
            }
            Screen::Views => {
                let moments = self.views.as_of().into_iter().chain(self.cached_ranges_as_of());
                moments.map(|as_of| format::short_age_changes_at(as_of, now)).min()
            }
            Screen::Welcome | Screen::Log => None,
        }
    }
}
