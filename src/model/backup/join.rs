//! How what a file tells becomes one with what is known here, as rules: no order of imports loses anything that was
//! typed, the same file twice changes nothing more, and nothing that another computer may send is ever sent by this one.

use super::PromptRecord;
use crate::model::Time;
use crate::model::job::Status;
use crate::model::prompt::{Delivery, EventKind, JobEvent, Prompt};
use crate::model::row::Job;
use crate::model::text::CleanText;
use chrono::TimeDelta;
use std::mem::discriminant;

/// Why a prompt that waited to be sent on the computer that exported it is unconfirmed here.
const QUEUED_ELSEWHERE: &str =
    "it was waiting to be sent where it was exported, and may have been sent from there since";
/// Why one that was on its way is.
const SENDING_ELSEWHERE: &str =
    "it was on its way when it was exported, so the service may or may not have carried it out";

/// Where a prompt stands that is new here. What the other computer was about to send by itself, or was sending, may be
/// carried out from there: it is unconfirmed here, so that only the user can send it.
#[must_use]
pub fn arrived(told: &Delivery) -> Delivery {
    match told {
        Delivery::Queued { .. } => Delivery::Unconfirmed(CleanText::line(QUEUED_ELSEWHERE)),
        Delivery::Sending => Delivery::Unconfirmed(CleanText::line(SENDING_ELSEWHERE)),
        settled => settled.clone(),
    }
}

/// What a file says of a prompt that is known here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptReport {
    /// Nothing new.
    Nothing,
    /// It stands there now, with the text and the time of sending that the file tells.
    Becomes(Delivery),
    /// It is another prompt: one text was accepted there, another one is written here.
    Another,
}

/// What a file says of a prompt that is known here. One that is unconfirmed and was never sent from here nor, as far as
/// was told, from elsewhere, is a mere copy: any news of it counts. Else what stands here stays, unless the file says that
/// the prompt was accepted, how just this sending ended, or that it went out elsewhere since, without an answer.
#[must_use]
pub fn outcome(known: &Prompt, told: &PromptRecord) -> PromptReport {
    let is_copy = matches!(known.delivery, Delivery::Unconfirmed(_)) && known.sent_at.is_none();
    if known.text != told.text && !is_copy {
        let is_accepted = told.delivery == Delivery::Accepted && known.delivery != Delivery::Sending;
        return if is_accepted { PromptReport::Another } else { PromptReport::Nothing };
    }
    news(known, told, is_copy).map_or(PromptReport::Nothing, PromptReport::Becomes)
}

fn news(known: &Prompt, told: &PromptRecord, is_copy: bool) -> Option<Delivery> {
    use Delivery::{Accepted, Discarded, NotSent, Paused, Queued, Rejected, Sending, Unconfirmed};
    let same_sending = known.sent_at == told.sent_at;
    let went_out_since = told.sent_at > known.sent_at;
    let counts = match (&known.delivery, &told.delivery) {
        (Accepted | Sending, _) => false,
        (_, Accepted) => true,
        (Unconfirmed(_), Paused | Discarded { .. }) => is_copy,
        (Unconfirmed(_), NotSent(_) | Rejected(_)) => is_copy || same_sending,
        (Unconfirmed(_), Unconfirmed(_) | Sending) => is_copy && went_out_since,
        (Queued { .. } | Paused | NotSent(_) | Rejected(_), Unconfirmed(_) | Sending) => went_out_since,
        _ => false,
    };
    counts.then(|| arrived(&told.delivery))
}

/// Takes what the service said as the file tells it, where the file's last answer is the later one; else only what is
/// not known here. Whether anything changed.
pub fn take_facts(known: &mut Job, told: &Job) -> bool {
    let before = known.clone();
    if last_word(told) > last_word(known) {
        let differs = told.status != known.status || told.pr_link.is_some() && told.pr_link != known.pr_link;
        known.status = told.status.clone().or(known.status.take());
        known.gone = told.gone;
        known.gone_at = told.gone_at;
        known.archived_at = told.archived_at;
        known.started_at = told.started_at;
        known.finished_at = told.finished_at;
        known.checked_at = told.checked_at;
        known.followed_up_at = told.followed_up_at;
        if told.id.is_some() {
            known.created_at = told.created_at;
        }
        if differs {
            // Neither seen nor handled here yet, even if the user did something about the job after that.
            let last = known.looked_at.max(known.handled_at).map(|last| last + TimeDelta::milliseconds(1));
            known.changed_at = last.map_or(told.changed_at, |last| last.max(told.changed_at));
        }
        take_texts(known, told, true);
    } else {
        known.status = known.status.take().or_else(|| told.status.clone());
        take_texts(known, told, false);
    }
    if told.is_handled() {
        known.handled_at = known.handled_at.max(told.handled_at);
    }
    *known != before
}

/// When the service last answered about the job; after a follow-up to which it has not answered yet, that.
fn last_word(row: &Job) -> Time {
    row.checked_at.unwrap_or_else(|| row.last_accepted_at())
}

/// Texts of the service: those that were told where they are `later`, else those that are known; the others where there
/// is none.
fn take_texts(known: &mut Job, told: &Job, later: bool) {
    fn take<T: Clone>(known: &mut Option<T>, told: &Option<T>, later: bool) {
        if later && told.is_some() || known.is_none() {
            known.clone_from(told);
        }
    }
    take(&mut known.repository, &told.repository, later);
    take(&mut known.git_ref, &told.git_ref, later);
    take(&mut known.model, &told.model, later);
    take(&mut known.pr_link, &told.pr_link, later);
}

/// Takes what a user wrote elsewhere: tags that are missing here, title and note where there is none here. Whether
/// anything changed; the second value tells that a title or a note of the file was left out.
pub fn take_words(known: &mut Job, told: &Job) -> (bool, bool) {
    let before = known.clone();
    let mut left_out = false;
    if told.has_own_title {
        if known.has_own_title {
            left_out |= known.title != told.title;
        } else {
            known.has_own_title = true;
            known.title = told.title.clone();
        }
    }
    match (&known.note, &told.note) {
        (None, Some(_)) => known.note.clone_from(&told.note),
        (Some(known), Some(told)) => left_out |= known != told,
        (_, None) => {}
    }
    for tag in &told.tags {
        if !known.tags.contains(tag) {
            known.tags.push(tag.clone());
        }
    }
    (*known != before, left_out)
}

/// Which known prompt each told one is, by its place in `known`: the same kind, written at the same moment; of several
/// the one with the same text, in their order.
#[must_use]
pub fn pairs(known: &[Prompt], told: &[PromptRecord]) -> Vec<Option<usize>> {
    let mut taken = vec![false; known.len()];
    let mut pairs = vec![None; told.len()];
    for same_text in [true, false] {
        for (pair, told) in pairs.iter_mut().zip(told).filter(|(pair, _)| pair.is_none()) {
            let is_it = |(place, known): &(usize, &Prompt)| {
                !taken.get(*place).is_some_and(|taken| *taken)
                    && (known.kind, known.written_at) == (told.kind, told.written_at)
                    && (!same_text || known.text == told.text)
            };
            *pair = known.iter().enumerate().find(is_it).map(|(place, _)| place);
            if let Some(taken) = pair.and_then(|place| taken.get_mut(place)) {
                *taken = true;
            }
        }
    }
    pairs
}

/// The events of the file that are news here. Two computers see one transition at two moments: of a run of events that
/// say the same, nothing is taken when one of them is known already.
#[must_use]
pub fn new_events(known: &[JobEvent], told: &[JobEvent]) -> Vec<JobEvent> {
    let mut all: Vec<(&JobEvent, bool)> = known.iter().map(|event| (event, true)).collect();
    all.extend(told.iter().filter(|event| !known.contains(event)).map(|event| (event, false)));
    all.sort_by_key(|(event, is_known)| (event.at, !is_known));
    let mut news: Vec<JobEvent> = Vec::new();
    for family in [is_status, is_pull_request, is_presence] {
        let of_family: Vec<(&JobEvent, bool)> = all.iter().filter(|(event, _)| family(&event.kind)).copied().collect();
        for run in of_family.chunk_by(|(one, _), (other, _)| says_the_same(&one.kind, &other.kind)) {
            if run.iter().all(|(_, is_known)| !is_known) {
                news.extend(run.iter().map(|(event, _)| (*event).clone()));
            }
        }
    }
    // As they came: events of one moment have an order.
    told.iter().filter(|event| news.contains(event)).cloned().collect()
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

fn says_the_same(one: &EventKind, other: &EventKind) -> bool {
    let to = |kind: &EventKind| -> Option<Status> {
        if let EventKind::Status { to, .. } = kind { Some(to.clone()) } else { None }
    };
    match (one, other) {
        (EventKind::Status { .. }, EventKind::Status { .. }) => to(one) == to(other),
        (EventKind::PullRequest(one), EventKind::PullRequest(other)) => one == other,
        _ => discriminant(one) == discriminant(other),
    }
}
