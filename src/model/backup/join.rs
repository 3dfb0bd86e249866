//! The rules for merging an imported file into the store: no order of imports loses anything that the user wrote,
//! importing a file twice changes nothing more, and no prompt that another computer might send is sent from this one.

use super::PromptRecord;
use crate::model::Time;
use crate::model::job::Status;
use crate::model::prompt::{Delivery, EventKind, JobEvent, Prompt};
use crate::model::row::Job;
use crate::model::text::CleanText;
use chrono::TimeDelta;
use std::mem::discriminant;

/// The reason for an imported prompt that was queued when it was exported: it becomes unconfirmed.
const QUEUED_ELSEWHERE: &str =
    "it was waiting to be sent where it was exported, and may have been sent from there since";
/// The reason for an imported prompt that was being sent when it was exported: it becomes unconfirmed.
const SENDING_ELSEWHERE: &str =
    "it was being sent when it was exported, so the service may or may not have carried it out";

/// The delivery state of a newly imported prompt. One that the other computer may still send, or was sending, becomes
/// unconfirmed, so that only the user can send it from here.
#[must_use]
pub fn imported_delivery(imported: &Delivery) -> Delivery {
    match imported {
        Delivery::Queued { .. } => Delivery::Unconfirmed(CleanText::line(QUEUED_ELSEWHERE)),
        Delivery::Sending => Delivery::Unconfirmed(CleanText::line(SENDING_ELSEWHERE)),
        settled => settled.clone(),
    }
}

/// How an imported prompt affects the stored one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptMerge {
    Unchanged,
    /// The stored prompt gets this state, and the text and sending time of the imported one.
    Becomes(Delivery),
    /// They are different prompts: the imported one was accepted with another text.
    OtherPrompt,
}

/// Compares an imported prompt with the stored one. A stored prompt that is unconfirmed and was never sent from any
/// computer is only a copy of an import, so any newer state replaces it. Otherwise the stored state stays, unless the
/// imported prompt was accepted, has the result of the same send, or was sent again later without an answer.
#[must_use]
pub fn compare_prompt(known: &Prompt, imported: &PromptRecord) -> PromptMerge {
    let is_copy = matches!(known.delivery, Delivery::Unconfirmed(_)) && known.sent_at.is_none();
    if known.text != imported.text && !is_copy {
        let is_accepted = imported.delivery == Delivery::Accepted && known.delivery != Delivery::Sending;
        return if is_accepted { PromptMerge::OtherPrompt } else { PromptMerge::Unchanged };
    }
    new_state(known, imported, is_copy).map_or(PromptMerge::Unchanged, PromptMerge::Becomes)
}

fn new_state(known: &Prompt, imported: &PromptRecord, is_copy: bool) -> Option<Delivery> {
    use Delivery::{Accepted, Discarded, NotSent, Paused, Queued, Rejected, Sending, Unconfirmed};
    let same_sending = known.sent_at == imported.sent_at;
    let went_out_since = imported.sent_at > known.sent_at;
    let counts = match (&known.delivery, &imported.delivery) {
        (Accepted | Sending, _) => false,
        (_, Accepted) => true,
        (Unconfirmed(_), Paused | Discarded { .. }) => is_copy,
        (Unconfirmed(_), NotSent(_) | Rejected(_)) => is_copy || same_sending,
        (Unconfirmed(_), Unconfirmed(_) | Sending) => is_copy && went_out_since,
        (Queued { .. } | Paused | NotSent(_) | Rejected(_), Unconfirmed(_) | Sending) => went_out_since,
        _ => false,
    };
    counts.then(|| imported_delivery(&imported.delivery))
}

/// Merges the service's data of an imported job: all of it if the imported job has the later answer, otherwise only
/// missing fields. Returns whether anything changed.
pub fn merge_service_data(known: &mut Job, imported: &Job) -> bool {
    let before = known.clone();
    if last_answer(imported) > last_answer(known) {
        let has_new_link = imported.pr_link.is_some() && imported.pr_link != known.pr_link;
        let differs = imported.status != known.status || has_new_link;
        known.status = imported.status.clone().or(known.status.take());
        known.gone = imported.gone;
        known.gone_at = imported.gone_at;
        known.archived_at = imported.archived_at;
        known.started_at = imported.started_at;
        known.finished_at = imported.finished_at;
        known.checked_at = imported.checked_at;
        known.followed_up_at = imported.followed_up_at;
        if imported.id.is_some() {
            known.created_at = imported.created_at;
        }
        if differs {
            // Mark the change as not viewed and not handled, even if the user did something about the job later.
            let last = known.viewed_at.max(known.handled_at).map(|last| last + TimeDelta::milliseconds(1));
            known.changed_at = last.map_or(imported.changed_at, |last| last.max(imported.changed_at));
        }
        merge_service_texts(known, imported, true);
    } else {
        known.status = known.status.take().or_else(|| imported.status.clone());
        merge_service_texts(known, imported, false);
    }
    if imported.is_handled() {
        known.handled_at = known.handled_at.max(imported.handled_at);
    }
    *known != before
}

/// When the service last answered about the job, or accepted a follow-up that it has not answered about yet.
fn last_answer(row: &Job) -> Time {
    row.checked_at.unwrap_or_else(|| row.last_accepted_at())
}

/// Merges the service's texts: the imported ones replace the stored ones if they are `later`, otherwise they only fill
/// gaps.
fn merge_service_texts(known: &mut Job, imported: &Job, later: bool) {
    fn take<T: Clone>(known: &mut Option<T>, imported: &Option<T>, later: bool) {
        if later && imported.is_some() || known.is_none() {
            known.clone_from(imported);
        }
    }
    take(&mut known.repository, &imported.repository, later);
    take(&mut known.git_ref, &imported.git_ref, later);
    take(&mut known.model, &imported.model, later);
    take(&mut known.pr_link, &imported.pr_link, later);
}

/// Merges what the user wrote elsewhere: adds missing tags, and title and note if there are none. Returns whether
/// anything changed, and whether a different title or note in the file was ignored.
pub fn merge_user_texts(known: &mut Job, imported: &Job) -> (bool, bool) {
    let before = known.clone();
    let mut left_out = false;
    if imported.has_own_title {
        if known.has_own_title {
            left_out |= known.title != imported.title;
        } else {
            known.has_own_title = true;
            known.title = imported.title.clone();
        }
    }
    match (&known.note, &imported.note) {
        (None, Some(_)) => known.note.clone_from(&imported.note),
        (Some(known), Some(imported)) => left_out |= known != imported,
        (_, None) => {}
    }
    for tag in &imported.tags {
        if !known.tags.contains(tag) {
            known.tags.push(tag.clone());
        }
    }
    (*known != before, left_out)
}

/// Finds the stored prompt for each imported one, as an index into `known`: same kind, written at the same time. If
/// there are several, the same text decides, then the order.
#[must_use]
pub fn match_prompts(known: &[Prompt], imported: &[PromptRecord]) -> Vec<Option<usize>> {
    let mut taken = vec![false; known.len()];
    let mut pairs = vec![None; imported.len()];
    for same_text in [true, false] {
        for (pair, imported) in pairs.iter_mut().zip(imported).filter(|(pair, _)| pair.is_none()) {
            let is_it = |(place, known): &(usize, &Prompt)| {
                !taken.get(*place).is_some_and(|taken| *taken)
                    && (known.kind, known.written_at) == (imported.kind, imported.written_at)
                    && (!same_text || known.text == imported.text)
            };
            *pair = known.iter().enumerate().find(is_it).map(|(place, _)| place);
            if let Some(taken) = pair.and_then(|place| taken.get_mut(place)) {
                *taken = true;
            }
        }
    }
    pairs
}

/// Returns the imported events that are new. Two computers see the same change at different times, so nothing is taken
/// from a run of equal changes if one of them is already stored.
#[must_use]
pub fn new_events(known: &[JobEvent], imported: &[JobEvent]) -> Vec<JobEvent> {
    let mut all: Vec<(&JobEvent, bool)> = known.iter().map(|event| (event, true)).collect();
    all.extend(imported.iter().filter(|event| !known.contains(event)).map(|event| (event, false)));
    all.sort_by_key(|(event, is_known)| (event.at, !is_known));
    let mut news: Vec<JobEvent> = Vec::new();
    for family in [is_status, is_pull_request, is_presence] {
        let of_family: Vec<(&JobEvent, bool)> = all.iter().filter(|(event, _)| family(&event.kind)).copied().collect();
        for run in of_family.chunk_by(|(one, _), (other, _)| is_same_change(&one.kind, &other.kind)) {
            if run.iter().all(|(_, is_known)| !is_known) {
                news.extend(run.iter().map(|(event, _)| (*event).clone()));
            }
        }
    }
    // Keep the imported order, because events of the same time are ordered.
    imported.iter().filter(|event| news.contains(event)).cloned().collect()
}

fn is_status(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Status { .. })
}

fn is_pull_request(kind: &EventKind) -> bool {
    matches!(kind, EventKind::PullRequest(_))
}

fn is_presence(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Gone | EventKind::Back)
}

fn is_same_change(one: &EventKind, other: &EventKind) -> bool {
    let to = |kind: &EventKind| -> Option<Status> {
        if let EventKind::Status { to, .. } = kind { Some(to.clone()) } else { None }
    };
    match (one, other) {
        (EventKind::Status { .. }, EventKind::Status { .. }) => to(one) == to(other),
        (EventKind::PullRequest(one), EventKind::PullRequest(other)) => one == other,
        _ => discriminant(one) == discriminant(other),
    }
}
