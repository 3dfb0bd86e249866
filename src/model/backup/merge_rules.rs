//! The rules for merging an imported file into the store. Nothing that the user wrote is lost, in whatever order files
//! are imported. Importing a file again changes nothing. A prompt that another computer may still send is not sent from
//! this one.

use super::PromptRecord;
use crate::model::Time;
use crate::model::job::Job;
use crate::model::prompt::{Delivery, EventKind, JobEvent, Prompt};
use crate::model::pull_request::PullRequest;
use crate::model::remote_job::Status;
use crate::model::text::CleanText;
use chrono::TimeDelta;
use std::mem::discriminant;

/// The reason shown for an imported prompt that was `Queued` when it was exported and becomes `Unconfirmed`.
const QUEUED_ELSEWHERE: &str =
    "it was waiting to be sent where it was exported, and may have been sent from there since";
/// The reason shown for an imported prompt that was `Sending` when it was exported and becomes `Unconfirmed`.
const SENDING_ELSEWHERE: &str =
    "it was being sent when it was exported, so the service may or may not have carried it out";

/// Returns the delivery state for a newly imported prompt. A prompt that the other computer was sending or may still
/// send becomes unconfirmed, so that this computer sends it only if the user decides so.
#[must_use]
pub fn imported_delivery(imported: &Delivery) -> Delivery {
    match imported {
        Delivery::Queued { .. } => Delivery::Unconfirmed(CleanText::line(QUEUED_ELSEWHERE)),
        Delivery::Sending => Delivery::Unconfirmed(CleanText::line(SENDING_ELSEWHERE)),
        settled => settled.clone(),
    }
}

/// How an imported prompt changes the stored prompt that it was matched with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptMerge {
    Unchanged,
    /// The stored prompt gets this state, and the text and the sending time of the imported prompt.
    Becomes(Delivery),
    /// The two are different prompts, because the imported prompt was accepted with another text.
    OtherPrompt,
}

/// Decides how an imported prompt changes the prompt `stored`.
///
/// A stored prompt that is `Accepted` or `Sending` never changes. One that is `Unconfirmed` and has no sending time is
/// only a copy from an earlier import, so any newer state replaces its state. Any other stored state is replaced only
/// if the imported prompt was accepted, has the missing result of the same send, or was sent again later with an
/// unknown result.
#[must_use]
pub fn decide_merge(known: &Prompt, imported: &PromptRecord) -> PromptMerge {
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

/// Merges the service's data about a job into the stored job `known`: all of it if `imported` has the later response of
/// the service, otherwise only fields that `known` lacks. Returns whether `known` changed.
pub fn merge_service_data(known: &mut Job, imported: &Job) -> bool {
    let before = known.clone();
    if last_response(imported) > last_response(known) {
        let has_new_link = imported.remote.pr_link.is_some() && imported.remote.pr_link != known.remote.pr_link;
        let differs = imported.remote.status != known.remote.status || has_new_link;
        known.remote.update(&imported.remote);
        // `update` would keep the time of a job that is no longer archived.
        known.remote.archived_at = imported.remote.archived_at;
        known.local.gone = imported.local.gone;
        known.local.gone_at = imported.local.gone_at;
        known.local.started_at = imported.local.started_at;
        known.local.finished_at = imported.local.finished_at;
        known.local.checked_at = imported.local.checked_at;
        known.local.followed_up_at = imported.local.followed_up_at;
        if imported.id.is_some() {
            known.created_at = imported.created_at;
        }
        if differs {
            // The job must count as not viewed and not handled, even if the user viewed or handled it after
            // `imported.changed_at`.
            let last = known.local.viewed_at.max(known.local.handled_at).map(|last| last + TimeDelta::milliseconds(1));
            known.local.changed_at = last.map_or(imported.local.changed_at, |last| last.max(imported.local.changed_at));
        }
    } else {
        let newer = std::mem::replace(&mut known.remote, imported.remote.clone());
        known.remote.update(&newer);
        known.remote.archived_at = newer.archived_at;
    }
    if known.remote.pr_link == imported.remote.pr_link {
        let is_newer = |newer: &PullRequest| known.pull_request.as_ref().is_none_or(|known| known.as_of < newer.as_of);
        if imported.pull_request.as_deref().is_some_and(is_newer) {
            known.pull_request.clone_from(&imported.pull_request);
        }
    } else if before.remote.pr_link != known.remote.pr_link {
        known.pull_request = None;
    }
    if imported.is_handled() {
        known.local.handled_at = known.local.handled_at.max(imported.local.handled_at);
    }
    *known != before
}

/// Returns when the service last responded about the job, or when it last accepted a prompt if there is no such
/// response yet.
#[must_use]
pub fn last_response(row: &Job) -> Time {
    row.local.checked_at.unwrap_or_else(|| row.last_accepted_at())
}

/// Merges the tags, the title and the note that the user wrote on another computer into the stored job `known`. Missing
/// tags are added; the title and the note are used only if `known` has none. Returns whether `known` changed, and
/// whether a different title or note was ignored.
pub fn merge_user_texts(known: &mut Job, imported: &Job) -> (bool, bool) {
    let before = known.clone();
    let mut left_out = false;
    if imported.local.has_custom_title {
        if known.local.has_custom_title {
            left_out |= known.local.title != imported.local.title;
        } else {
            known.local.has_custom_title = true;
            known.local.title = imported.local.title.clone();
        }
    }
    match (&known.local.note, &imported.local.note) {
        (None, Some(_)) => known.local.note.clone_from(&imported.local.note),
        (Some(known), Some(imported)) => left_out |= known != imported,
        (_, None) => {}
    }
    for tag in &imported.local.tags {
        if !known.local.tags.contains(tag) {
            known.local.tags.push(tag.clone());
        }
    }
    (*known != before, left_out)
}

/// Returns for each imported prompt the index of the same prompt in `stored`, or `None` if it is not stored. Prompts
/// are the same if they are of the same kind and were written at the same time. If this is true of several stored
/// prompts, the first with the same text is chosen, or the first of them if none has the same text.
#[must_use]
pub fn match_prompts(known: &[Prompt], imported: &[PromptRecord]) -> Vec<Option<usize>> {
    let mut taken = vec![false; known.len()];
    let mut pairs = vec![None; imported.len()];
    for same_text in [true, false] {
        for (pair, imported) in pairs.iter_mut().zip(imported).filter(|(pair, _)| pair.is_none()) {
            let is_match = |(place, known): &(usize, &Prompt)| {
                !taken.get(*place).is_some_and(|taken| *taken)
                    && (known.kind, known.written_at) == (imported.kind, imported.written_at)
                    && (!same_text || known.text == imported.text)
            };
            *pair = known.iter().enumerate().find(is_match).map(|(place, _)| place);
            if let Some(taken) = pair.and_then(|place| taken.get_mut(place)) {
                *taken = true;
            }
        }
    }
    pairs
}

/// Returns the imported events that are not stored yet. Two computers see the same change at different times.
/// Therefore, if consecutive events describe the same change and one of them is stored, none of the others is new.
#[must_use]
pub fn new_events(known: &[JobEvent], imported: &[JobEvent]) -> Vec<JobEvent> {
    let mut all: Vec<(&JobEvent, bool)> = known.iter().map(|event| (event, true)).collect();
    all.extend(imported.iter().filter(|event| !known.contains(event)).map(|event| (event, false)));
    all.sort_by_key(|(event, is_known)| (event.at, !is_known));
    let mut news: Vec<JobEvent> = Vec::new();
    for family in [is_status, is_pull_request, is_gone_or_back] {
        let of_family: Vec<(&JobEvent, bool)> = all.iter().filter(|(event, _)| family(&event.kind)).copied().collect();
        for run in of_family.chunk_by(|(one, _), (other, _)| is_same_change(&one.kind, &other.kind)) {
            if run.iter().all(|(_, is_known)| !is_known) {
                news.extend(run.iter().map(|(event, _)| (*event).clone()));
            }
        }
    }
    // Keep the order of the file, because it is significant for events with the same time.
    imported.iter().filter(|event| news.contains(event)).cloned().collect()
}

fn is_status(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Status { .. })
}

fn is_pull_request(kind: &EventKind) -> bool {
    matches!(kind, EventKind::PullRequest(_))
}

fn is_gone_or_back(kind: &EventKind) -> bool {
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
