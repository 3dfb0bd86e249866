//! Computes when the app needs its next `Msg::Timer`: for the blinking symbol in the header, ages and countdowns on
//! screen, the end of a notice, or a draft to save.

use super::{App, StoreState, format};
use crate::model::Time;
use crate::model::connection::ConnectionState;
use crate::model::ledger::Quota;
use chrono::TimeDelta;

/// Half a period of the heartbeat, in milliseconds.
const HALF_BEAT_MS: i64 = 500;

impl App {
    /// Returns the time at which `Msg::Timer` has to be sent. `None` if nothing changes with time.
    pub fn next_timer(&self, now: Time) -> Option<Time> {
        let notice = self.notice.as_ref().and_then(|notice| notice.until);
        [
            notice,
            self.dialogs.iter().filter_map(|dialog| dialog.next_timer(self, now)).min(),
            self.store_retry_at(),
            self.layout_save_due_at(),
            self.finish_alerts.notification_due_at(),
            self.tips.ends_at(),
            self.next_beat(now),
            self.header_changes_at(now),
            self.screen_component().and_then(|screen| screen.next_timer(self, now)),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Returns when reading the store is retried.
    fn store_retry_at(&self) -> Option<Time> {
        match self.store {
            StoreState::Unreadable { retry_at: again, .. } => again,
            _ => None,
        }
    }

    /// Whether the heartbeat, the symbol in the header that blinks while jobs are polled, shows its large glyph now.
    pub fn is_heartbeat_large(&self, now: Time) -> bool {
        self.next_beat(now).is_some() && now.timestamp_millis().rem_euclid(2 * HALF_BEAT_MS) < HALF_BEAT_MS
    }

    fn next_beat(&self, now: Time) -> Option<Time> {
        let is_polling = self.connection == ConnectionState::Ready && self.jobs.working_count() > 0;
        (is_polling && !self.config.reduced_motion && self.size.0 > 0).then(|| {
            let into = now.timestamp_millis().rem_euclid(HALF_BEAT_MS);
            now + TimeDelta::milliseconds(HALF_BEAT_MS - into)
        })
    }

    /// Returns the time at which a displayed number of seconds changes next: every second or, with reduced motion,
    /// every ten seconds.
    pub(super) fn seconds_change_at(&self, now: Time) -> Time {
        let step: i64 = if self.config.reduced_motion { 10_000 } else { 1000 };
        now + TimeDelta::milliseconds(step - now.timestamp_millis().rem_euclid(step))
    }

    fn header_changes_at(&self, now: Time) -> Option<Time> {
        let connection = match &self.connection {
            ConnectionState::Offline { next_try: Some(next_try), .. } if *next_try > now => {
                Some(self.seconds_change_at(now))
            }
            ConnectionState::Limited(wait) if wait.until > now => Some(wait.next_text_change(now)),
            _ => None,
        };
        // If the reset time of a limit is in the past, the timer is due at once, because the reset hasn't been handled
        // yet. Limits that are not on screen need a timer too, because a reset may change which limit is shown.
        let shown = self.quota_closest_to_limit();
        let changes = |quota: Quota| {
            let budget = self.budget(quota);
            let at = budget.resets_at?;
            Some(match budget.blocked {
                _ if at <= now => now,
                _ if quota != shown => at,
                Some(wait) => wait.next_text_change(now).min(at),
                None => format::next_wait_text_change(at, now).min(at),
            })
        };
        let reset = Quota::HOURLY.into_iter().filter_map(changes).min();
        connection.into_iter().chain(reset).min()
    }
}
