//! Builds of a preview of the site with the changes of a pull request.

use super::diff::FileChange;
use super::text::CleanText;

/// A build that the service has accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedBuild {
    /// The id for requesting the state of the build.
    pub id: CleanText,
    /// The address of the preview; `None` if the service reports none.
    pub url: Option<CleanText>,
}

/// What the service reports about a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    pub state: BuildState,
    /// A sentence about the result; may be empty.
    pub summary: CleanText,
    /// The last lines of the log, up to [`Self::MAX_LOG_LINES`].
    pub log: Vec<CleanText>,
    /// The changed files of the built commit, up to [`Self::MAX_FILES`].
    pub files: Vec<(FileChange, CleanText)>,
}

impl Build {
    pub const MAX_LOG_LINES: usize = 30;
    pub const MAX_FILES: usize = 100;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildState {
    Queued,
    InProgress,
    Success,
    Failure,
    /// A state that is unknown to docdeck.
    Other(CleanText),
}

impl BuildState {
    /// Parses the state as the service writes it.
    pub fn parse(text: &str) -> Self {
        match text {
            "queued" => Self::Queued,
            "in_progress" => Self::InProgress,
            "success" => Self::Success,
            "failure" => Self::Failure,
            other => Self::Other(CleanText::title(other, 40)),
        }
    }

    /// Whether the build has ended.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Success | Self::Failure)
    }
}
