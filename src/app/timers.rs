//! When the screen changes by itself: the heartbeat, ages, a countdown, a notice's end, a draft to be written.

use super::dialog::Dialog;
use super::editor::DraftState;
use super::jobs::JobLine;
use super::{App, Screen, StoreState, format};
use crate::model::Time;
use crate::model::connection::Connection;
use crate::model::failure::FailureKind;
use crate::model::ledger::{RateLimited, Wait};
use chrono::TimeDelta;

/// Half a heartbeat.
const BEAT: i64 = 500;

impl App {
    /// The next moment at which the screen changes without a message; none when nothing moves.
    pub fn next_timer(&self, now: Time) -> Option<Time> {
        let notice = self.notice.as_ref().map(|notice| notice.until);
        let due = |saved: &DraftState| match saved {
            DraftState::Due(at) => Some(*at),
            _ => None,
        };
        let draft = self.dialogs.iter().filter_map(Dialog::saved).find_map(due);
        [
            notice,
            draft,
            self.record_due(),
            self.layout_due(),
            self.finish_alerts.due(),
            self.tips.until(),
            self.beat(now),
            self.header_changes(now),
            self.body_changes(now),
            self.limit_passes(now),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// When the record is read again.
    fn record_due(&self) -> Option<Time> {
        match self.store {
            StoreState::Unreadable { again, .. } => again,
            _ => None,
        }
    }

    /// Whether the heartbeat's glyph is the large one; still when nothing is polled.
    pub fn is_beating(&self, now: Time) -> bool {
        self.beat(now).is_some() && now.timestamp_millis().rem_euclid(2 * BEAT) < BEAT
    }

    fn beat(&self, now: Time) -> Option<Time> {
        let alive = self.connection == Connection::Ready && self.jobs.active() > 0;
        (alive && !self.config.calm && self.size.0 > 0).then(|| {
            let into = now.timestamp_millis().rem_euclid(BEAT);
            now + TimeDelta::milliseconds(BEAT - into)
        })
    }

    /// Seconds step by one, or by ten where that saves bytes.
    fn next_second(&self, now: Time) -> Time {
        let step: i64 = if self.config.calm { 10_000 } else { 1000 };
        now + TimeDelta::milliseconds(step - now.timestamp_millis().rem_euclid(step))
    }

    /// The limit that the views screen tells of: seconds in its last minute, gone at its end.
    fn limit_passes(&self, now: Time) -> Option<Time> {
        let failure = self.views.trouble(now).filter(|_| self.screen == Screen::Views)?;
        match failure.kind {
            FailureKind::Limited(wait) if wait.is_estimate => Some(wait.changes(now)),
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
            Connection::Limited(wait) if wait.until > now => Some(wait.changes(now)),
            _ => None,
        };
        // A reset that has passed wakes at once: another message may have come between it and its wake. That of a limit that
        // is not shown counts as well, since it may be the closest one until then.
        let shown = self.limit_shown();
        let changes = |limited: RateLimited| {
            let budget = self.budget(limited);
            let at = budget.resets_at?;
            Some(match budget.blocked {
                _ if at <= now => now,
                _ if limited != shown => at,
                Some(wait) => wait.changes(now).min(at),
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
                    JobLine::Job(row) => row.state_since().map(|since| format::coarse_changes(since, now)),
                    JobLine::Heading(..) => None,
                });
                let counting = self.detail_is_visible() && self.jobs.selected().is_some_and(|row| row.is_working());
                let detail = counting.then(|| self.next_second(now));
                ages.chain(detail).min()
            }
            Screen::Views => {
                let moments = self.views.as_of().into_iter().chain(self.kept_as_of());
                moments.map(|as_of| format::coarse_changes(as_of, now)).min()
            }
            Screen::Welcome | Screen::Log => None,
        }
    }
}
