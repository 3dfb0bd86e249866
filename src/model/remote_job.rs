//! A job as the service describes it. Every field except the id may be missing or unexpected.

use super::Time;
use super::redaction::Redactor;
use super::text::CleanText;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The service's opaque job id: stored as received, and cleaned only for display.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct JobId(Box<str>);

impl JobId {
    /// Returns `None` if `raw` is blank.
    pub fn new(raw: &str) -> Option<Self> {
        (!raw.trim().is_empty()).then(|| Self(raw.into()))
    }

    /// Returns the id as received, for the store and for URLs, in which it must be percent-encoded.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id for display.
    pub fn to_clean_text(&self) -> CleanText {
        CleanText::line(&self.0)
    }
}

/// A job's status. An unknown status is stored and shown as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// The agent is working on the job.
    Active,
    /// The agent has finished; a pull request may exist.
    Completed,
    /// The job is archived on the service.
    Archived,
    /// The job ended with an unrecoverable error.
    Failed,
    /// An unknown status; a job with such a status is polled slowly.
    Unknown(CleanText),
}

impl Status {
    /// Parses a status from the service. Case, surrounding white space and invisible characters are ignored, so that a
    /// text that looks like one of the four known statuses is treated as that status.
    pub fn parse(raw: &str) -> Self {
        // Cleaning takes most of the time, and nearly no status needs it.
        Self::known(raw).unwrap_or_else(|| {
            let word = CleanText::line(raw);
            Self::known(word.as_str()).unwrap_or(Self::Unknown(word))
        })
    }

    fn known(word: &str) -> Option<Self> {
        let all = [Self::Active, Self::Completed, Self::Archived, Self::Failed];
        all.into_iter().find(|status| status.word().eq_ignore_ascii_case(word))
    }

    /// Returns the status as the service writes it, or `no status` if it is empty.
    pub fn word(&self) -> &str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Archived => "archived",
            Self::Failed => "failed",
            Self::Unknown(word) if word.is_empty() => "no status",
            Self::Unknown(word) => word.as_str(),
        }
    }

    /// Returns the status as the service writes it, even if it is empty.
    pub fn service_word(&self) -> &str {
        match self {
            Self::Unknown(word) => word.as_str(),
            known => known.word(),
        }
    }

    /// Whether the agent has stopped working: the job is completed, archived or failed.
    pub fn is_finished(&self) -> bool {
        matches!(self, Self::Completed | Self::Archived | Self::Failed)
    }
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.service_word())
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer).map(|word| Self::parse(&word))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A job in a response of the service. Only the id is required.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteJob {
    pub id: JobId,
    pub created_at: Option<Time>,
    pub state: RemoteState,
}

/// What the service reports about a job, apart from its id and creation time. Its JSON has the service's field names.
/// This JSON is used in the output of commands, in exports and in the simulated service. A response of the service is
/// not deserialized: `api::decode` reads its fields one by one, so that a malformed field doesn't affect the others.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RemoteState {
    /// The status; `Unknown("")` if no response had a status, `None` if there was no response yet.
    pub status: Option<Status>,
    pub source: JobSource,
    /// The name of the AI model, as the service writes it.
    pub model: Option<Arc<CleanText>>,
    /// The link to the pull request, if there is one. It is shown as text, and opened only if it is http or https.
    pub pr_link: Option<CleanText>,
    #[serde(with = "super::time_format")]
    pub archived_at: Option<Time>,
}

/// What the agent works on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct JobSource {
    /// The repository, usually as a full URL.
    pub repository: Option<Arc<CleanText>>,
    /// The branch that the agent works on.
    #[serde(rename = "ref")]
    pub git_ref: Option<CleanText>,
}

impl RemoteJob {
    /// Returns a response that contains only an id and a status.
    pub fn new(id: JobId, status: Status) -> Self {
        Self { id, created_at: None, state: RemoteState { status: Some(status), ..RemoteState::default() } }
    }

    /// Removes the API key from all texts. The id stays unchanged, because it identifies the job.
    pub fn redact(&mut self, redactor: &Redactor) {
        let RemoteState { status, source, model, pr_link, archived_at: _ } = &mut self.state;
        if let Some(Status::Unknown(word)) = status {
            redactor.redact_line(word);
        }
        [&mut source.git_ref, pr_link].into_iter().flatten().for_each(|text| redactor.redact_line(text));
        [&mut source.repository, model]
            .into_iter()
            .flatten()
            .for_each(|text| redactor.redact_line(Arc::make_mut(text)));
    }
}

impl RemoteState {
    /// Takes over the fields of `newer`. A field that is missing in `newer` keeps its value. An empty status in `newer`
    /// doesn't replace a status.
    pub fn update(&mut self, newer: &Self) {
        /// Replaces `current` only if `newer` differs, so that equal texts of several jobs keep sharing an allocation.
        fn replace<T: Clone + PartialEq>(current: &mut Option<T>, newer: &Option<T>) {
            if newer.is_some() && newer != current {
                current.clone_from(newer);
            }
        }
        let Self { status, source, model, pr_link, archived_at } = newer;
        if self.status.is_none() || *status != Some(Status::Unknown(CleanText::default())) {
            replace(&mut self.status, status);
        }
        replace(&mut self.source.repository, &source.repository);
        replace(&mut self.source.git_ref, &source.git_ref);
        replace(&mut self.model, model);
        replace(&mut self.pr_link, pr_link);
        replace(&mut self.archived_at, archived_at);
    }

    /// Whether the agent has stopped working, according to the last known status.
    pub fn is_finished(&self) -> bool {
        self.status.as_ref().is_some_and(Status::is_finished)
    }
}

/// Returns the pull request number in a link such as `https://github.com/acme/docs/pull/1423`, or `None` if the link
/// has another form.
pub fn pr_number(link: &str) -> Option<u64> {
    // Works on bytes for speed, because it runs for every row of a list in each frame.
    let is_slash = |byte: &u8| *byte == b'/';
    let end = link.bytes().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(link.len());
    let end = link.as_bytes().get(..end)?.iter().rposition(|byte| !is_slash(byte))? + 1;
    let slash = link.as_bytes().get(..end)?.iter().rposition(is_slash)?;
    let number = link.get(slash + 1..end)?.parse().ok()?;
    let part = link.as_bytes().get(..slash)?.rsplit(is_slash).next()?;
    matches!(part, b"pull" | b"pulls" | b"merge_requests" | b"pull-requests").then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_status_is_kept_as_the_service_wrote_it() {
        assert_eq!(Status::parse("Active"), Status::Active);
        let odd = Status::parse("re\x1b[2Jviewing");
        assert_eq!(odd.word(), "reviewing");
        assert!(!odd.is_finished());
    }

    #[test]
    fn a_pull_request_number_is_parsed_from_common_links() {
        assert_eq!(pr_number("https://github.com/acme/docs/pull/1423"), Some(1423));
        assert_eq!(pr_number("https://gitlab.com/a/b/-/merge_requests/7/"), Some(7));
        assert_eq!(pr_number("https://github.com/acme/docs/pull/8/?plain=1#a/b"), Some(8));
        assert_eq!(pr_number("pull/9"), Some(9));
        assert_eq!(pr_number("9"), None);
        assert_eq!(pr_number("https://example.com/pull/x"), None);
        assert_eq!(pr_number("https://example.com/issues/4"), None);
    }
}
