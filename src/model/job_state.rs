//! The states that lists show for jobs: the symbol, the name and the meaning of each. Lists, the help, the filter and
//! `docdeck jobs --status` use these tables.

use super::job::{Job, JobGroup};
use super::prompt::DeliveryKind;
use super::pull_request::{PullRequest, PullRequestFact};
use super::remote_job::Status;
use std::borrow::Cow;

/// The state that the symbol before a job's title shows: an undelivered prompt takes precedence over the service's
/// status.
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
    /// The service responded with 404 for the job.
    Gone,
    /// The service returned a status that docdeck doesn't know.
    Other,
    /// The prompt was discarded before the service created a job.
    Discarded,
    /// The service has not returned a status yet.
    NoStatus,
}

impl JobState {
    /// All states, in the order of the help screen.
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

    /// Returns the state that the list shows for a job.
    pub fn of(job: &Job) -> Self {
        match job.local.undelivered {
            Some(DeliveryKind::Unconfirmed) => return Self::Unconfirmed,
            Some(DeliveryKind::NotSent) => return Self::NotSent,
            Some(DeliveryKind::Rejected) => return Self::Rejected,
            Some(DeliveryKind::Sending) => return Self::Sending,
            Some(DeliveryKind::Queued) => return Self::Queued,
            Some(DeliveryKind::Paused) => return Self::Paused,
            Some(DeliveryKind::Discarded) => return Self::Discarded,
            Some(DeliveryKind::Accepted) | None => {}
        }
        if job.local.gone {
            return Self::Gone;
        }
        if job.id.is_none() {
            return Self::Discarded;
        }
        job.remote.status.as_ref().map_or(Self::NoStatus, Self::of_status)
    }

    /// Returns the state for a status of the service.
    pub fn of_status(status: &Status) -> Self {
        match status {
            Status::Active => Self::Active,
            Status::Completed => Self::Completed,
            Status::Archived => Self::Archived,
            Status::Failed => Self::Failed,
            Status::Unknown(_) => Self::Other,
        }
    }

    /// Returns the symbol of the state, one character; [`super::ascii`] has a replacement for each symbol.
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
            Self::Gone => "∅",
            Self::Other => "?",
            Self::Discarded => "–",
            Self::NoStatus => "·",
        }
    }

    /// Returns the name of the state on screen.
    pub fn screen_word(self) -> &'static str {
        if self == Self::Active { "working" } else { self.word_and_meaning().0 }
    }

    /// Returns the name of the state, as `docdeck jobs --status` accepts it, and its meaning.
    pub fn word_and_meaning(self) -> (&'static str, &'static str) {
        match self {
            Self::Active => ("active", "the agent is working"),
            Self::Completed => ("completed", "agent finished"),
            Self::Archived => ("archived", "archived on the service"),
            Self::Failed => ("failed", "ended with an error"),
            Self::Gone => ("gone", "no longer on the service"),
            Self::Other => ("other", "a status unknown to docdeck"),
            Self::NoStatus => ("not checked", "not checked on the service yet"),
            Self::Queued => ("queued", "waiting to be sent"),
            Self::Paused => ("paused", "not sent until you resume it"),
            Self::Sending => ("sending", "being sent"),
            Self::NotSent => ("not sent", "did not reach the service"),
            Self::Rejected => ("rejected", "refused by the service"),
            Self::Unconfirmed => ("unconfirmed", "the prompt may or may not have arrived"),
            Self::Discarded => ("discarded", "discarded by you; if it was unconfirmed, the job may have started"),
        }
    }
}

/// Returns the name of a job's state. A status that is unknown to docdeck is named as the service names it.
pub fn state_word(job: &Job) -> &str {
    match (JobState::of(job), &job.remote.status) {
        (JobState::Other, Some(status)) => status.word(),
        (state, _) => state.word_and_meaning().0,
    }
}

/// Returns the word for a job's state on screen. Like [`state_word`], but an active job is `working`, and a completed
/// job has the state of its pull request.
pub fn state_word_in_lists(job: &Job) -> &str {
    match (JobState::of(job), fact_shown_as_state(job)) {
        (_, Some(fact)) => fact.screen_word(),
        (JobState::Active, None) => JobState::Active.screen_word(),
        _ => state_word(job),
    }
}

/// Returns the fact about the pull request that lists show as the state of a completed job. Returns `None` for any
/// other job, and if the state of the pull request is unknown.
pub fn fact_shown_as_state(job: &Job) -> Option<PullRequestFact> {
    job.pr_fact().filter(|_| JobState::of(job) == JobState::Completed)
}

/// Returns the text in a list's column of pull requests: the number of the job's pull request, or `PR` if its link
/// contains no number. Without a pull request, the text is `no PR` for a completed job, otherwise empty. If
/// `with_symbol` is set, the symbol for the state of the pull request follows the number, unless the list shows this
/// state as the state of the job.
pub fn pull_request_cell(job: &Job, with_symbol: bool) -> Cow<'static, str> {
    let fact = job.pr_fact().filter(|_| with_symbol && fact_shown_as_state(job).is_none());
    match (job.pr_number(), &job.remote.pr_link) {
        (Some(number), _) => match fact {
            Some(fact) => format!("#{number} {}", fact.symbol()).into(),
            None => format!("#{number}").into(),
        },
        (None, Some(_)) => "PR".into(),
        (None, None) if JobState::of(job) == JobState::Completed => "no PR".into(),
        (None, None) => "".into(),
    }
}

/// Returns the text for a job's pull request in lists, such as `PR 7`, or `PR` if its link contains no number. Empty if
/// the job has no pull request.
pub fn pull_request_label(job: &Job) -> Cow<'static, str> {
    match (job.pr_number(), &job.remote.pr_link) {
        (Some(number), _) => ["PR ", &number.to_string()].concat().into(),
        (None, Some(_)) => "PR".into(),
        (None, None) => "".into(),
    }
}

/// The marks that a row of the jobs list can have besides the symbol of the job's state, with their meanings.
pub const ROW_MARKS: [(&str, &str); 4] = [
    (SELECTED_SYMBOL, "selected"),
    (NEEDS_YOU_SYMBOL, "needs you"),
    (UNSEEN_SYMBOL, "finished, not seen yet"),
    (MARKED_SYMBOL, "marked"),
];
pub const SELECTED_SYMBOL: &str = "▌";
pub const NEEDS_YOU_SYMBOL: &str = "●";
pub const UNSEEN_SYMBOL: &str = "•";
pub const MARKED_SYMBOL: &str = "*";

/// Returns the words that the user can type to filter jobs, with their meanings: statuses, delivery states, groups and
/// `ready`. The user can also type a status that only the service knows; this function can't return it.
pub fn known_filter_words() -> impl Iterator<Item = (String, &'static str)> {
    let is_searched = |state: &JobState| !matches!(state, JobState::Other | JobState::NoStatus);
    let states = JobState::ALL.into_iter().filter(is_searched).map(JobState::word_and_meaning);
    let groups = JobGroup::ALL.into_iter().filter(|group| *group != JobGroup::Queued).map(|group| {
        let help = match group {
            JobGroup::NeedsYou => "waiting for you",
            JobGroup::Working | JobGroup::Queued => {
                "the agent is working, checks are running, or the status is unknown"
            }
            JobGroup::Done => "nothing left to do",
            JobGroup::Dismissed => "dismissed by you",
        };
        (group.name(), help)
    });
    let ready = [(PullRequestFact::Ready.word_and_meaning().0, "completed, with a pull request ready for review")];
    states.chain(groups).chain(ready).map(|(word, help)| (word.replace(' ', "-"), help))
}

/// Returns the characters of a word in lower case and without separators.
fn normalized_chars(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).flat_map(char::to_lowercase)
}

/// Normalizes a word for [`starts_with_normalized`]: `Not-Sent` becomes `notsent`.
pub fn normalize_word(word: &str) -> String {
    normalized_chars(word).collect()
}

/// Whether the normalized form of `word` starts with `normalized_prefix`.
pub fn starts_with_normalized(word: &str, normalized_prefix: &str) -> bool {
    let mut chars = normalized_chars(word);
    normalized_prefix.chars().all(|expected| chars.next() == Some(expected))
}

/// Returns all words that describe a job: its status (unless the job is gone), its displayed state and its group. If
/// lists show the state of the pull request as the job's state, the word that the filter `pr:` accepts for it is
/// included, too.
pub fn state_words(job: &Job) -> impl Iterator<Item = &str> {
    let status = job.remote.status.as_ref().filter(|_| !job.local.gone).map(Status::word);
    let fact = fact_shown_as_state(job).map(|fact| fact.word_and_meaning().0);
    status.into_iter().chain([state_word(job), state_word_in_lists(job)]).chain(fact).chain([job.group().name()])
}

/// The word for a pull request whose state is not loaded.
const UNKNOWN_PULL_REQUEST_WORD: &str = "unknown";

/// Returns all words that describe the pull request of a job, for filters; none if the job has no pull request.
pub fn pull_request_words(job: &Job) -> impl Iterator<Item = &'static str> {
    let is_unknown = job.pull_request.is_none() && job.remote.pr_link.is_some();
    let known = job.pull_request.as_deref().into_iter().flat_map(PullRequest::words);
    known.chain(is_unknown.then_some(UNKNOWN_PULL_REQUEST_WORD))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;
    use crate::model::ascii::ascii_symbol;
    use crate::model::job::JobKey;
    use crate::model::text::CleanText;

    #[test]
    fn every_symbol_has_an_ascii_replacement_and_every_state_a_unique_word() {
        let mut seen = std::collections::HashSet::new();
        for state in JobState::ALL {
            let symbol = state.symbol();
            assert!(symbol.is_ascii() || ascii_symbol(symbol).is_some(), "{state:?}");
            assert!(seen.insert(state.word_and_meaning().0), "{state:?}");
        }
        for (mark, _) in ROW_MARKS {
            assert!(mark.is_ascii() || ascii_symbol(mark).is_some(), "{mark}");
        }
    }

    #[test]
    fn a_draft_is_found_by_its_word_on_screen_and_by_the_word_of_the_filter() {
        use crate::model::pull_request::PullRequestState;
        use crate::model::pull_request::tests::open_pull_request;
        use crate::model::remote_job::JobId;
        let mut job = Job::new(JobKey(1), CleanText::line("Job"), Time::default());
        (job.id, job.remote.status) = (JobId::new("j1"), Some(Status::Completed));
        let draft = PullRequest { state: PullRequestState::Draft, ..open_pull_request(Time::default()) };
        job.pull_request = Some(Box::new(draft));
        assert_eq!(state_word_in_lists(&job), "draft PR");
        let words: Vec<&str> = state_words(&job).collect();
        assert!(["completed", "draft", "draft PR"].iter().all(|word| words.contains(word)), "{words:?}");
        assert!(pull_request_words(&job).any(|word| word == "draft"));
    }

    #[test]
    fn case_and_separators_make_no_difference() {
        for word in ["not sent", "Not-Sent", "not_sent", "notsent"] {
            assert_eq!(normalize_word(word), "notsent");
        }
    }
}
