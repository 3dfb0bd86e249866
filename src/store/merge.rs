//! Rules for merging an answer of the service into a job's row, without any SQL.
//!
//! A field that the answer leaves out keeps its value in the row. Changes are returned as events.

use crate::model::Time;
use crate::model::job::{RemoteJob, Status};
use crate::model::prompt::{EventKind, JobEvent};
use crate::model::row::Job;
use crate::model::text::CleanText;
use chrono::TimeDelta;
use std::sync::Arc;

/// Merges an answer into the row and returns the changes as events.
pub(super) fn merge_answer(row: &mut Job, job: &RemoteJob, now: Time) -> Vec<JobEvent> {
    let mut kinds = Vec::new();
    if std::mem::take(&mut row.gone) {
        row.gone_at = None;
        kinds.push(EventKind::Back);
    }
    let awaits_first_answer = row.checked_at.is_none() && row.id.is_some();
    let mut is_done_again = false;
    let left_out = job.status == Status::Unknown(Default::default()) && row.status.is_some();
    if !left_out && row.status.as_ref() != Some(&job.status) {
        let from = row.status.replace(job.status.clone());
        set_times(row, from.as_ref().is_some_and(Status::is_finished), awaits_first_answer, now);
        kinds.push(EventKind::Status { from, to: job.status.clone() });
    } else if awaits_first_answer && row.finished_at.is_none() && row.status.as_ref().is_some_and(Status::is_finished) {
        // In the first answer after a follow-up, the service may report the job as finished, just as before the
        // follow-up. The job then counts as finished again.
        row.finished_at = Some(now);
        is_done_again = row.followed_up_at.is_some();
    }
    if job.pr_link.is_some() && row.pr_link != job.pr_link {
        kinds.extend(job.pr_link.clone().map(EventKind::PullRequest));
        row.pr_link.clone_from(&job.pr_link);
    }
    update_shared(&mut row.repository, job.repository.as_ref());
    update(&mut row.git_ref, job.git_ref.as_ref());
    update_shared(&mut row.model, job.model.as_ref());
    update(&mut row.archived_at, job.archived_at.as_ref());
    row.created_at = job.created_at.unwrap_or(row.created_at);
    row.checked_at = Some(now);
    let is_news = |kind: &EventKind| matches!(kind, EventKind::Status { .. } | EventKind::PullRequest(_));
    if is_done_again || kinds.iter().any(is_news) {
        // The change must be later than the user's last action, even if the clock was set back since.
        let last = row.viewed_at.max(row.handled_at);
        row.changed_at = last.map_or(now, |last| now.max(last + TimeDelta::milliseconds(1)));
    }
    kinds.into_iter().map(|kind| JobEvent { at: now, kind }).collect()
}

/// Marks the job as gone, since the service no longer has it. Returns an event unless the job was already gone.
pub(super) fn mark_gone(row: &mut Job, now: Time) -> Vec<JobEvent> {
    row.checked_at = Some(now);
    if std::mem::replace(&mut row.gone, true) {
        return Vec::new();
    }
    row.gone_at = Some(now);
    vec![JobEvent { at: now, kind: EventKind::Gone }]
}

/// Updates the start and finish times of the agent's work after a change of status.
fn set_times(row: &mut Job, was_finished: bool, started_by_follow_up: bool, now: Time) {
    let is_finished = row.status.as_ref().is_some_and(Status::is_finished);
    if is_finished && (!was_finished || started_by_follow_up) {
        row.finished_at = Some(now);
    }
    if was_finished && !is_finished {
        if !started_by_follow_up {
            row.started_at = now;
        }
        row.finished_at = None;
        row.archived_at = None;
    }
}

fn update<T: Clone>(known: &mut Option<T>, answered: Option<&T>) {
    if let Some(value) = answered {
        *known = Some(value.clone());
    }
}

/// Like [`update`], but keeps the allocation if the text is the same: several rows may share it.
fn update_shared(known: &mut Option<Arc<CleanText>>, answered: Option<&CleanText>) {
    if let Some(text) = answered
        && known.as_deref() != Some(text)
    {
        *known = Some(Arc::new(text.clone()));
    }
}
