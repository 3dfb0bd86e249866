//! The rules for merging an imported file into the store. Nothing that the user wrote on this computer is lost, in
//! whatever order files are imported. Importing a file again changes nothing. A prompt that another computer may still
//! send is sent from this one only if the user decides so.

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
const QUEUED_ELSEWHERE_REASON: &str =
    "it was waiting to be sent where it was exported, and may have been sent from there since";
/// The reason shown for an imported prompt that was `Sending` when it was exported and becomes `Unconfirmed`.
const SENDING_ELSEWHERE_REASON: &str =
    "it was being sent when it was exported, so the service may or may not have carried it out";

/// Returns the delivery state for a newly imported prompt. A prompt that the exporting computer was sending or may
/// still send becomes unconfirmed, so that this computer sends it only if the user decides so.
#[must_use]
pub fn delivery_after_import(imported: &Delivery) -> Delivery {
    match imported {
        Delivery::Queued { .. } => Delivery::Unconfirmed(CleanText::line(QUEUED_ELSEWHERE_REASON)),
        Delivery::Sending => Delivery::Unconfirmed(CleanText::line(SENDING_ELSEWHERE_REASON)),
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
/// A stored prompt that is `Unconfirmed` and has no sending time is a copy from an earlier import. If the texts of the
/// two prompts differ and `stored` is not a copy, `stored` stays unchanged. In this case, an accepted imported prompt
/// counts as another prompt, unless `stored` is being sent.
///
/// If the texts are the same or `stored` is a copy:
///
/// - An `Accepted` or `Sending` stored prompt stays unchanged.
/// - A copy changes if the imported prompt is `Accepted`, `NotSent`, `Rejected`, `Paused` or `Discarded`. A copy also
///   changes if the imported prompt is `Unconfirmed` or `Sending` and has a sending time.
/// - Any other stored prompt changes if the imported prompt is `Accepted`.
/// - An `Unconfirmed` stored prompt also changes if the imported prompt is `NotSent` or `Rejected` and has the same
///   sending time.
/// - A `Queued`, `Paused`, `NotSent` or `Rejected` stored prompt also changes if the imported prompt was sent later and
///   is `Unconfirmed` or `Sending`.
#[must_use]
pub fn decide_merge(stored: &Prompt, imported: &PromptRecord) -> PromptMerge {
    let stored_is_copy = matches!(stored.delivery, Delivery::Unconfirmed(_)) && stored.sent_at.is_none();
    if stored.text != imported.text && !stored_is_copy {
        let is_accepted = imported.delivery == Delivery::Accepted && stored.delivery != Delivery::Sending;
        return if is_accepted { PromptMerge::OtherPrompt } else { PromptMerge::Unchanged };
    }
    delivery_after_merge(stored, imported, stored_is_copy).map_or(PromptMerge::Unchanged, PromptMerge::Becomes)
}

fn delivery_after_merge(stored: &Prompt, imported: &PromptRecord, stored_is_copy: bool) -> Option<Delivery> {
    use Delivery::{Accepted, Discarded, NotSent, Paused, Queued, Rejected, Sending, Unconfirmed};
    let is_same_send = stored.sent_at == imported.sent_at;
    let was_sent_later = imported.sent_at > stored.sent_at;
    let is_replaced = match (&stored.delivery, &imported.delivery) {
        (Accepted | Sending, _) => false,
        (_, Accepted) => true,
        (Unconfirmed(_), Paused | Discarded { .. }) => stored_is_copy,
        (Unconfirmed(_), NotSent(_) | Rejected(_)) => stored_is_copy || is_same_send,
        (Unconfirmed(_), Unconfirmed(_) | Sending) => stored_is_copy && was_sent_later,
        (Queued { .. } | Paused | NotSent(_) | Rejected(_), Unconfirmed(_) | Sending) => was_sent_later,
        _ => false,
    };
    is_replaced.then(|| delivery_after_import(&imported.delivery))
}

/// Merges the service's data about a job into the job `stored`: all of it if `imported` has the later response of the
/// service, otherwise only fields that `stored` lacks. In both cases, also takes over a later state of the same pull
/// request, and a later time at which the user handled the job. Returns whether `stored` changed.
pub fn merge_service_data(stored: &mut Job, imported: &Job) -> bool {
    let before = stored.clone();
    if last_response_at(imported) > last_response_at(stored) {
        let has_new_link = imported.remote.pr_link.is_some() && imported.remote.pr_link != stored.remote.pr_link;
        let differs = imported.remote.status != stored.remote.status || has_new_link;
        stored.remote.update(&imported.remote);
        // `RemoteState::update` never clears a field, but a job that is no longer archived must lose this time.
        stored.remote.archived_at = imported.remote.archived_at;
        stored.local.gone = imported.local.gone;
        stored.local.gone_at = imported.local.gone_at;
        stored.local.started_at = imported.local.started_at;
        stored.local.finished_at = imported.local.finished_at;
        stored.local.checked_at = imported.local.checked_at;
        stored.local.followed_up_at = imported.local.followed_up_at;
        if imported.id.is_some() {
            stored.created_at = imported.created_at;
        }
        if differs {
            // `changed_at` must be later than the user's last view or action, even if `imported.changed_at` is earlier.
            // Otherwise the job would count as viewed or handled.
            let last =
                stored.local.viewed_at.max(stored.local.handled_at).map(|last| last + TimeDelta::milliseconds(1));
            stored.local.changed_at =
                last.map_or(imported.local.changed_at, |last| last.max(imported.local.changed_at));
        }
    } else {
        let newer = std::mem::replace(&mut stored.remote, imported.remote.clone());
        stored.remote.update(&newer);
        stored.remote.archived_at = newer.archived_at;
    }
    if stored.remote.pr_link == imported.remote.pr_link {
        let is_newer =
            |newer: &PullRequest| stored.pull_request.as_ref().is_none_or(|stored| stored.as_of < newer.as_of);
        if imported.pull_request.as_deref().is_some_and(is_newer) {
            stored.pull_request.clone_from(&imported.pull_request);
        }
    } else if before.remote.pr_link != stored.remote.pr_link {
        stored.pull_request = None;
    }
    if imported.is_handled() {
        stored.local.handled_at = stored.local.handled_at.max(imported.local.handled_at);
    }
    *stored != before
}

/// Returns when the service last responded about the job, or when it last accepted a prompt if there is no such
/// response yet.
#[must_use]
pub fn last_response_at(job: &Job) -> Time {
    job.local.checked_at.unwrap_or_else(|| job.last_accepted_at())
}

/// Merges the tags, the title and the note that the user wrote on another computer into the job `stored`. Missing tags
/// are added; the title and the note are used only if `stored` has none. Returns whether `stored` changed, and whether
/// a different title or note was ignored.
pub fn merge_user_texts(stored: &mut Job, imported: &Job) -> (bool, bool) {
    let before = stored.clone();
    let mut left_out = false;
    if imported.local.has_custom_title {
        if stored.local.has_custom_title {
            left_out |= stored.local.title != imported.local.title;
        } else {
            stored.local.has_custom_title = true;
            stored.local.title = imported.local.title.clone();
        }
    }
    match (&stored.local.note, &imported.local.note) {
        (None, Some(_)) => stored.local.note.clone_from(&imported.local.note),
        (Some(stored), Some(imported)) => left_out |= stored != imported,
        (_, None) => {}
    }
    for tag in &imported.local.tags {
        if !stored.local.tags.contains(tag) {
            stored.local.tags.push(tag.clone());
        }
    }
    (*stored != before, left_out)
}

/// Returns for each imported prompt the index of the same prompt in `stored`, or `None` if it is not stored. Prompts
/// are the same if they are of the same kind and were written at the same time. If several stored prompts match, the
/// first one with the same text is chosen; if none has the same text, the first one.
#[must_use]
pub fn match_prompts(stored: &[Prompt], imported: &[PromptRecord]) -> Vec<Option<usize>> {
    let mut taken = vec![false; stored.len()];
    let mut pairs = vec![None; imported.len()];
    for same_text in [true, false] {
        for (pair, imported) in pairs.iter_mut().zip(imported).filter(|(pair, _)| pair.is_none()) {
            let is_match = |(index, stored): &(usize, &Prompt)| {
                !taken.get(*index).is_some_and(|taken| *taken)
                    && (stored.kind, stored.written_at) == (imported.kind, imported.written_at)
                    && (!same_text || stored.text == imported.text)
            };
            *pair = stored.iter().enumerate().find(is_match).map(|(index, _)| index);
            if let Some(taken) = pair.and_then(|index| taken.get_mut(index)) {
                *taken = true;
            }
        }
    }
    pairs
}

/// Returns the imported events that are not stored yet. Two computers see the same change at different times.
/// Therefore, stored and imported events are sorted together by time, and consecutive events of the same change count
/// as one: if one of them is stored, the others are not new.
#[must_use]
pub fn new_events(stored: &[JobEvent], imported: &[JobEvent]) -> Vec<JobEvent> {
    let mut all: Vec<(&JobEvent, bool)> = stored.iter().map(|event| (event, true)).collect();
    all.extend(imported.iter().filter(|event| !stored.contains(event)).map(|event| (event, false)));
    all.sort_by_key(|(event, is_stored)| (event.at, !is_stored));
    let mut new_events: Vec<JobEvent> = Vec::new();
    for is_of_kind in [is_status, is_pull_request, is_gone_or_back] {
        let of_kind: Vec<(&JobEvent, bool)> =
            all.iter().filter(|(event, _)| is_of_kind(&event.kind)).copied().collect();
        for run in of_kind.chunk_by(|(one, _), (other, _)| is_same_change(&one.kind, &other.kind)) {
            if run.iter().all(|(_, is_stored)| !is_stored) {
                new_events.extend(run.iter().map(|(event, _)| (*event).clone()));
            }
        }
    }
    // Keep the order of the file, because it is significant for events with the same time.
    imported.iter().filter(|event| new_events.contains(event)).cloned().collect()
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
