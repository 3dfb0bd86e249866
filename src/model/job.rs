//! The service's job, as tolerantly as it may come (api.md: agent job).

use super::Time;
use super::redaction::Redactor;
use super::text::CleanText;
use std::fmt;

/// The service's id of a job: opaque, kept as received, cleaned only where it is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(Box<str>);

impl JobId {
    /// `None` for an id with nothing in it.
    pub fn new(raw: &str) -> Option<Self> {
        (!raw.trim().is_empty()).then(|| Self(raw.into()))
    }

    /// The id as received, for paths (percent-encoded there) and the store.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as it may be shown.
    pub fn clean(&self) -> CleanText {
        CleanText::line(&self.0)
    }
}

/// What the service says of a job; an unknown word is kept and shown as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// The agent is processing.
    Active,
    /// Finished; a pull request may exist.
    Completed,
    /// Put away.
    Archived,
    /// Unrecoverable error.
    Failed,
    /// A word that api.md does not name; polled slowly.
    Unknown(CleanText),
}

impl Status {
    /// Reads the service's word; case, surrounding space and what can't be seen don't matter for the known four: a word
    /// that is shown as one of them is that one.
    pub fn parse(raw: &str) -> Self {
        let word = CleanText::line(raw);
        match word.as_str().to_ascii_lowercase().as_str() {
            "active" => Self::Active,
            "completed" => Self::Completed,
            "archived" => Self::Archived,
            "failed" => Self::Failed,
            _ => Self::Unknown(word),
        }
    }

    /// The word, as the service writes it.
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

    /// Whether a caller that polls may stop here (api.md: completed, archived or failed).
    pub fn is_finished(&self) -> bool {
        matches!(self, Self::Completed | Self::Archived | Self::Failed)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A job as the service answered it. Only the id is needed; no other missing field loses the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteJob {
    /// The service's id.
    pub id: JobId,
    /// Its status; `Unknown("")` when the answer had none.
    pub status: Status,
    /// The repository, usually a full URL.
    pub repository: Option<CleanText>,
    /// The branch that the agent works on.
    pub git_ref: Option<CleanText>,
    /// The model, as the service names it.
    pub model: Option<CleanText>,
    /// The pull request, once there is one. Shown as text; opened only when it is http or https.
    pub pr_link: Option<CleanText>,
    /// When the service made it.
    pub created_at: Option<Time>,
    /// When it was archived.
    pub archived_at: Option<Time>,
}

impl RemoteJob {
    /// Takes a known key out of every text; of an id nothing may be changed.
    pub fn redact(&mut self, redactor: &Redactor) {
        if let Status::Unknown(word) = &mut self.status {
            redactor.clean(word);
        }
        let texts = [&mut self.repository, &mut self.git_ref, &mut self.model, &mut self.pr_link];
        texts.into_iter().flatten().for_each(|text| redactor.clean(text));
    }
}

/// The number of a pull request in a link such as `https://github.com/acme/docs/pull/1423`.
pub fn pr_number(link: &str) -> Option<u64> {
    // Byte by byte: this is asked of every row of a list in each frame.
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
    fn an_unknown_status_keeps_the_services_word() {
        assert_eq!(Status::parse("Active"), Status::Active);
        let odd = Status::parse("re\x1b[2Jviewing");
        assert_eq!(odd.word(), "reviewing");
        assert!(!odd.is_finished());
    }

    #[test]
    fn a_pull_request_number_is_read_from_the_usual_links() {
        assert_eq!(pr_number("https://github.com/acme/docs/pull/1423"), Some(1423));
        assert_eq!(pr_number("https://gitlab.com/a/b/-/merge_requests/7/"), Some(7));
        assert_eq!(pr_number("https://github.com/acme/docs/pull/8/?plain=1#a/b"), Some(8));
        assert_eq!(pr_number("pull/9"), Some(9));
        assert_eq!(pr_number("9"), None);
        assert_eq!(pr_number("https://example.com/pull/x"), None);
        assert_eq!(pr_number("https://example.com/issues/4"), None);
    }
}
