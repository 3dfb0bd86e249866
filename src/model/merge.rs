//! Rules for merging what the service or a code host reports into a job.
//!
//! A field that the response leaves out keeps its value in the job. Changes that the service reports are returned as
//! events.

use super::Time;
use super::job::Job;
use super::prompt::{EventKind, JobEvent};
use super::pull_request::{PullRequest, PullRequestTurn};
use super::remote_job::RemoteJob;
use chrono::TimeDelta;

/// Merges a response into the job and returns the changes as events.
pub fn merge_response(job: &mut Job, response: &RemoteJob, now: Time) -> Vec<JobEvent> {
    let mut kinds = Vec::new();
    let before = job.remote.clone();
    job.remote.update(&response.state);
    job.created_at = response.created_at.unwrap_or(job.created_at);
    if std::mem::take(&mut job.local.gone) {
        job.local.gone_at = None;
        kinds.push(EventKind::Back);
    }
    let awaits_first_response = job.local.checked_at.is_none() && job.id.is_some();
    let mut is_done_again = false;
    if job.remote.status != before.status {
        // A finished job can become active again, and is then no longer archived. `RemoteState::update` never clears
        // a field, so `archived_at` is copied from the response here.
        if before.is_finished() && !job.remote.is_finished() {
            job.remote.archived_at = response.state.archived_at;
        }
        update_times(job, before.is_finished(), awaits_first_response, now);
        kinds.extend(job.remote.status.clone().map(|to| EventKind::Status { from: before.status, to }));
    } else if awaits_first_response && job.local.finished_at.is_none() && job.remote.is_finished() {
        // In the first response after a follow-up, the service may report the job as finished, just as before the
        // follow-up. The job then counts as finished again.
        job.local.finished_at = Some(now);
        is_done_again = job.local.followed_up_at.is_some();
    }
    if job.remote.pr_link != before.pr_link {
        job.pull_request = None;
        kinds.extend(job.remote.pr_link.clone().map(EventKind::PullRequest));
    }
    job.local.checked_at = Some(now);
    let is_news = |kind: &EventKind| matches!(kind, EventKind::Status { .. } | EventKind::PullRequest(_));
    if is_done_again || kinds.iter().any(is_news) {
        job.local.changed_at = time_after_last_action(job, now);
    }
    kinds.into_iter().map(|kind| JobEvent { at: now, kind }).collect()
}

/// Merges the state that a code host reported for the job's pull request into the job. If the pull request's most
/// important fact (such as failed checks) or its head commit has changed, and the user has to act next, the job counts
/// as changed, so that it is listed as needing the user again.
pub fn apply_pull_request_state(job: &mut Job, newer: PullRequest, now: Time) {
    let before = job.pull_request.take();
    let merged = before.as_ref().map_or_else(|| newer.clone(), |before| before.combined_with(newer.clone()));
    let is_news = before.is_some_and(|before| (before.main_fact(), &before.head) != (merged.main_fact(), &merged.head));
    if is_news && merged.main_fact().turn() == PullRequestTurn::User {
        job.local.changed_at = time_after_last_action(job, now);
    }
    job.pull_request = Some(Box::new(merged));
}

/// Returns `now`. If the user's last action has a later time, because the clock was set back since, returns a time just
/// after that action.
fn time_after_last_action(job: &Job, now: Time) -> Time {
    let last = job.local.viewed_at.max(job.local.handled_at);
    last.map_or(now, |last| now.max(last + TimeDelta::milliseconds(1)))
}

/// Marks the job as gone, since the service no longer has it. Returns an event unless the job was already gone.
pub fn mark_gone(job: &mut Job, now: Time) -> Vec<JobEvent> {
    job.local.checked_at = Some(now);
    if std::mem::replace(&mut job.local.gone, true) {
        return Vec::new();
    }
    job.local.gone_at = Some(now);
    vec![JobEvent { at: now, kind: EventKind::Gone }]
}

/// Updates the start and finish times of the agent's work after a change of status.
fn update_times(job: &mut Job, was_finished: bool, started_by_follow_up: bool, now: Time) {
    let is_finished = job.remote.is_finished();
    if is_finished && (!was_finished || started_by_follow_up) {
        job.local.finished_at = Some(now);
    }
    if was_finished && !is_finished {
        if !started_by_follow_up {
            job.local.started_at = now;
        }
        job.local.finished_at = None;
    }
}
