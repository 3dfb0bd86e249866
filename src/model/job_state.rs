//! The states of a job as lists show them: for each its symbol, what the symbol means, and its word. Lists, the help, the
//! filter and `docdeck jobs --status` all read these tables.

use super::job::Status;
use super::prompt::DeliveryKind;
use super::row::{Job, JobGroup};
use std::borrow::Cow;

/// What the symbol before a job's title stands for: a prompt that is not delivered comes before the service's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    Unconfirmed,
    NotSent,
    Rejected,
    Sending,
    Queued,
    Paused,
    Active,
    Completed,
    Failed,
    Archived,
    /// The service answered 404.
    Gone,
    /// A status that docdeck doesn't know.
    Other,
    /// The prompt was given up before the service answered with a job.
    Discarded,
    /// The service has not answered with a status yet.
    NoStatus,
}

impl JobState {
    /// All states, in the order in which the help lists them.
    pub const ALL: [Self; 14] = [
        Self::Active,
        Self::Completed,
        Self::Failed,
        Self::Archived,
        Self::Gone,
        Self::Other,
        Self::NoStatus,
        Self::Queued,
        Self::Paused,
        Self::Sending,
        Self::NotSent,
        Self::Rejected,
        Self::Unconfirmed,
        Self::Discarded,
    ];

    /// The state that the list shows for a job.
    pub fn of(job: &Job) -> Self {
        match job.undelivered {
            Some(DeliveryKind::Unconfirmed) => return Self::Unconfirmed,
            Some(DeliveryKind::NotSent) => return Self::NotSent,
            Some(DeliveryKind::Rejected) => return Self::Rejected,
            Some(DeliveryKind::Sending) => return Self::Sending,
            Some(DeliveryKind::Queued) => return Self::Queued,
            Some(DeliveryKind::Paused) => return Self::Paused,
            Some(DeliveryKind::Discarded) => return Self::Discarded,
            Some(DeliveryKind::Accepted) | None => {}
        }
        if job.gone {
            return Self::Gone;
        }
        if job.id.is_none() {
            return Self::Discarded;
        }
        match &job.status {
            Some(Status::Active) => Self::Active,
            Some(Status::Completed) => Self::Completed,
            Some(Status::Archived) => Self::Archived,
            Some(Status::Failed) => Self::Failed,
            Some(Status::Unknown(_)) => Self::Other,
            None => Self::NoStatus,
        }
    }

    /// One character; [`super::ascii`] has a stand-in for each.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Unconfirmed | Self::NotSent | Self::Rejected => "!",
            Self::Sending => "↑",
            Self::Queued => "…",
            Self::Paused => "‖",
            Self::Active => "◐",
            Self::Completed => "✓",
            Self::Failed => "✗",
            Self::Archived => "▪",
            Self::Gone => "×",
            Self::Other => "?",
            Self::Discarded | Self::NoStatus => "·",
        }
    }

    /// The word for it, as `jobs --status` takes it, and what it means.
    pub fn explained(self) -> (&'static str, &'static str) {
        match self {
            Self::Active => ("active", "the agent is working"),
            Self::Completed => ("completed", "finished"),
            Self::Archived => ("archived", "archived on the service"),
            Self::Failed => ("failed", "ended with an error"),
            Self::Gone => ("gone", "no longer on the service"),
            Self::Other => ("other", "a status that docdeck doesn't know"),
            Self::NoStatus => ("not seen yet", "the service was not asked yet"),
            Self::Queued => ("queued", "waits to be sent"),
            Self::Paused => ("paused", "not sent until you resume it"),
            Self::Sending => ("sending", "being sent"),
            Self::NotSent => ("not sent", "did not reach the service"),
            Self::Rejected => ("rejected", "refused by the service"),
            Self::Unconfirmed => ("unconfirmed", "the answer was lost; it may have arrived"),
            Self::Discarded => ("discarded", "given up; the service may still have started it"),
        }
    }
}

/// Where a job stands, in a word: a prompt that is not delivered, or else what the service answered.
pub fn word(job: &Job) -> &str {
    match (JobState::of(job), &job.status) {
        (JobState::Other, Some(status)) => status.word(),
        (state, _) => state.explained().0,
    }
}

/// The word behind a job's title in a list: what the symbol alone doesn't show.
pub fn list_word(job: &Job) -> Cow<'_, str> {
    match JobState::of(job) {
        JobState::Completed if job.pr_link.is_none() => "no PR".into(),
        JobState::Completed | JobState::Active => pull_request(job),
        _ => word(job).into(),
    }
}

/// The pull request as it is named in lists; empty if there is none.
pub fn pull_request(job: &Job) -> Cow<'static, str> {
    match (job.pr_number(), &job.pr_link) {
        (Some(number), _) => ["PR ", &number.to_string()].concat().into(),
        (None, Some(_)) => "PR".into(),
        (None, None) => "".into(),
    }
}

/// Marks that a row has besides its symbol, with what they mean.
pub const ROW_MARKS: [(&str, &str); 4] =
    [(SELECTED, "selected"), (NEEDS_YOU, "needs you"), (NOT_OPENED, "finished, not opened yet"), (MARKED, "marked")];
pub const SELECTED: &str = "▌";
pub const NEEDS_YOU: &str = "●";
pub const NOT_OPENED: &str = "○";
pub const MARKED: &str = "*";

/// The words by which jobs can be listed and filtered, as they are typed: statuses, deliveries, then groups. Jobs may have
/// statuses that are not among them.
pub fn search_words() -> impl Iterator<Item = (String, &'static str)> {
    let is_searched = |state: &JobState| !matches!(state, JobState::Other | JobState::NoStatus);
    let states = JobState::ALL.into_iter().filter(is_searched).map(JobState::explained);
    let groups = JobGroup::ALL.into_iter().filter(|group| *group != JobGroup::Queued).map(|group| {
        let help = match group {
            JobGroup::NeedsYou => "waits for you",
            JobGroup::Working | JobGroup::Queued => "the agent is working, or the status is unknown",
            JobGroup::Done => "nothing left to do",
            JobGroup::Dismissed => "dismissed by you",
        };
        (group.name(), help)
    });
    states.chain(groups).map(|(word, help)| (word.replace(' ', "-"), help))
}

/// The characters of a word without what may be written in several ways: case, and what separates its parts.
fn squeezed_chars(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).flat_map(char::to_lowercase)
}

/// A word in the form that [`begins`] compares: `Not-Sent` is `notsent`.
pub fn squeezed(word: &str) -> String {
    squeezed_chars(word).collect()
}

/// Whether a word begins with a squeezed text.
pub fn begins(word: &str, squeezed: &str) -> bool {
    let mut chars = squeezed_chars(word);
    squeezed.chars().all(|wanted| chars.next() == Some(wanted))
}

/// All words that describe a job: its status, its delivery and its group, a status only if the job is still there.
pub fn words(job: &Job) -> impl Iterator<Item = &str> {
    let status = job.status.as_ref().filter(|_| !job.gone).map(Status::word);
    status.into_iter().chain([word(job), job.group().name()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ascii::stand_in;

    #[test]
    fn every_symbol_has_an_ascii_stand_in_and_every_state_its_own_word() {
        let mut seen = std::collections::HashSet::new();
        for state in JobState::ALL {
            let symbol = state.symbol();
            assert!(symbol.is_ascii() || stand_in(symbol) != "?", "{state:?}");
            assert!(seen.insert(state.explained().0), "{state:?}");
        }
        for (mark, _) in ROW_MARKS {
            assert!(mark.is_ascii() || stand_in(mark) != "?", "{mark}");
        }
    }

    #[test]
    fn case_and_separators_make_no_difference() {
        for word in ["not sent", "Not-Sent", "not_sent", "notsent"] {
            assert_eq!(squeezed(word), "notsent");
        }
    }
}
