//! Pauses, resumes, moves and removes queued prompts, and computes when a queued prompt is sent.

use super::bulk_action::{BulkAction, Targets};
use super::keymap::{Action, Context};
use super::{App, Effect, Severity, format};
use crate::model::Time;
use crate::model::change::QueueChange;
use crate::model::job::{Job, JobKey};
use crate::model::ledger::{MAX_RATE_LIMIT_WAIT, Quota, Wait};
use crate::model::prompt::DeliveryKind;
use crate::tui::JobsEffect;
use chrono::TimeDelta;
use std::collections::HashSet;

/// Whether a job has a queued prompt, paused or not.
pub(super) fn has_queued_prompt(row: &Job) -> bool {
    matches!(row.local.undelivered, Some(DeliveryKind::Queued | DeliveryKind::Paused))
}

/// Whether a prompt of a new job waits in the queue, paused or not. Only such prompts can be moved in the queue.
pub(super) fn is_queued_new_job(row: &Job) -> bool {
    has_queued_prompt(row) && row.id.is_none()
}

/// Returns the position in the queue; smaller positions are sent first.
fn queue_position(row: &Job) -> i64 {
    row.local.queue_position.unwrap_or(i64::MAX)
}

/// The reasons for skipping a job when prompts are moved in the queue.
const NOT_QUEUED_REASON: &str = "not queued";
const NOT_NEW_REASON: &str = "not a new job";
const ALREADY_FIRST_REASON: &str = "already first";
const ALREADY_LAST_REASON: &str = "already last";

impl App {
    /// Returns a function that returns why one of these jobs can't be moved in the queue, or `None` if it can. A job is
    /// first if only other jobs of `keys` are before it, because the jobs keep their order.
    fn reason_not_movable(&self, keys: &[JobKey], is_earlier: bool) -> impl Fn(&Job) -> Option<&'static str> {
        let moved: HashSet<JobKey> = keys.iter().copied().collect();
        let others = self.active_list().rows().filter(|row| is_queued_new_job(row) && !moved.contains(&row.key));
        let (first, last) = others
            .map(queue_position)
            .fold((i64::MAX, i64::MIN), |(first, last), position| (first.min(position), last.max(position)));
        move |row| match () {
            () if !has_queued_prompt(row) => Some(NOT_QUEUED_REASON),
            () if !is_queued_new_job(row) => Some(NOT_NEW_REASON),
            () if is_earlier && queue_position(row) <= first => Some(ALREADY_FIRST_REASON),
            () if !is_earlier && queue_position(row) >= last => Some(ALREADY_LAST_REASON),
            () => None,
        }
    }

    /// Returns how long the hourly limit delays the queued prompts of this job. `None` if the limit doesn't delay them,
    /// or if no prompt is queued or the prompts are paused.
    pub fn hourly_limit_wait(&self, row: &Job, now: Time) -> Option<Wait> {
        if row.local.undelivered != Some(DeliveryKind::Queued) {
            return None;
        }
        let quota = if row.id.is_none() { Quota::Create } else { Quota::FollowUp };
        self.budget(quota).wait().filter(|wait| wait.until > now)
    }

    /// Returns when a prompt with this wait will be sent, as text: `after 17:24`, because other prompts may be sent
    /// first; `in 42s`; or `in about a minute` for an estimate.
    pub fn send_time_text(&self, wait: Wait, now: Time) -> String {
        if wait.is_estimate || wait.until - now < TimeDelta::minutes(1) {
            return format!("in {}", wait.time_left_text(now));
        }
        format!("after {}", wait.until.with_timezone(&self.config.offset).format("%H:%M"))
    }

    /// Returns how long a queued prompt waits. `until` is the end of the wait as in
    /// [`Delivery::Queued`](crate::model::prompt::Delivery::Queued), and `row` is the prompt's job.
    pub fn prompt_wait(&self, row: Option<&Job>, until: Time, now: Time) -> Wait {
        let known = row.and_then(|row| self.hourly_limit_wait(row, now));
        Wait { until: until.min(now + MAX_RATE_LIMIT_WAIT), is_estimate: known.is_some_and(|wait| wait.is_estimate) }
    }

    pub(super) fn change_queue(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        let keys = self.target_keys();
        let targets = match action {
            Action::SendEarlier | Action::SendLater => {
                self.split_targets(&keys, self.reason_not_movable(&keys, action == Action::SendEarlier))
            }
            _ => self.split_targets(&keys, |row| (!has_queued_prompt(row)).then_some(NOT_QUEUED_REASON)),
        };
        if targets.keys.is_empty() {
            let is_skipped_as = |reason| targets.skipped.iter().any(|(_, other)| *other == reason);
            let text = match self.acts_on_marks() {
                _ if is_skipped_as(ALREADY_FIRST_REASON) => "Already first in the queue.",
                _ if is_skipped_as(ALREADY_LAST_REASON) => "Already last in the queue.",
                _ if is_skipped_as(NOT_NEW_REASON) => "Only queued new jobs can be moved.",
                true => "None of the marked jobs has a queued prompt.",
                false => "This job has no queued prompt.",
            };
            return self.notify(Severity::Info, text, now);
        }
        // If some prompts are paused and others are not, the pause key pauses all of them.
        let paused =
            |key: &JobKey| self.jobs.get(*key).is_some_and(|row| row.local.undelivered == Some(DeliveryKind::Paused));
        let change = match action {
            Action::PauseQueue if targets.keys.iter().all(paused) => QueueChange::Resume,
            Action::PauseQueue => QueueChange::Pause,
            Action::SendEarlier => QueueChange::Up,
            Action::SendLater => QueueChange::Down,
            Action::RemoveFromQueue => {
                let text = format!("Remove {} from the queue without sending?", prompts_text(&targets));
                return self.ask_to_run_bulk(text, BulkAction::RemoveFromQueue, targets);
            }
            _ => return,
        };
        if self.acts_on_marks() {
            let prompts = prompts_text(&targets);
            let text = match change {
                QueueChange::Pause => format!("Pause {prompts}?"),
                QueueChange::Resume => format!("Resume {prompts}?"),
                QueueChange::Up => format!("Move {prompts} one place forward in the queue?"),
                QueueChange::Down => format!("Move {prompts} one place back in the queue?"),
            };
            return self.ask_to_run_bulk(text, BulkAction::Queue(change), targets);
        }
        let text = match change {
            QueueChange::Pause => {
                format!("Paused. Press {} to resume.", self.key_label(Context::Jobs, Action::PauseQueue))
            }
            QueueChange::Resume => "Resumed. The prompt is sent in turn while docdeck is running.".to_owned(),
            QueueChange::Up => "Moved earlier in the queue.".to_owned(),
            QueueChange::Down => "Moved later in the queue.".to_owned(),
        };
        self.notify(Severity::Info, &text, now);
        effects.push(Effect::Jobs(JobsEffect::ChangeQueue(targets.keys, change)));
    }
}

fn prompts_text(targets: &Targets) -> String {
    match targets.keys.len() {
        1 => "the prompt of 1 job".to_owned(),
        n => format!("the prompts of {}", format::plural(n, "job")),
    }
}
