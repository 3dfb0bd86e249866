//! What the user can do with a pull request on its code host, and the outcome.

use super::failure::Failure;
use super::job::JobKey;
use super::pull_request::short_commit;
use super::text::CleanText;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

/// How the commits of a pull request are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum MergeMethod {
    /// A merge commit.
    Merge,
    /// All commits as one.
    Squash,
    /// The commits on top of the base branch.
    Rebase,
}

impl MergeMethod {
    pub const ALL: [Self; 3] = [Self::Merge, Self::Squash, Self::Rebase];

    /// Returns the name, as in GitHub's API and on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// An action on a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullRequestAction {
    Approve,
    RequestChanges(String),
    Comment(String),
    /// Marks a draft as ready for review.
    MarkReady,
    /// Merges by this method; `None` for the method that the repository prefers.
    Merge(Option<MergeMethod>),
    /// Closes the pull request without merging it.
    Close,
}

impl PullRequestAction {
    /// Returns the question that confirms the action. It names the pull request, its head commit and the effect.
    pub fn question(&self, number: u64, repository: &str, head: &CleanText) -> String {
        let head = short_commit(head);
        let pull_request = format!("#{number} in {repository}");
        match self {
            Self::Approve => format!("Approve {pull_request} at commit {head}? Everyone sees the approval as yours."),
            Self::RequestChanges(text) => {
                format!("Request changes on {pull_request} at commit {head}? Everyone sees your review: “{text}”")
            }
            Self::Comment(text) => format!("Comment on {pull_request}, head {head}? Everyone sees: “{text}”"),
            Self::MarkReady => {
                format!("Mark the draft {pull_request}, head {head}, as ready? Reviewers are asked for a review.")
            }
            Self::Merge(method) => {
                let how = match method {
                    Some(MergeMethod::Merge) => "with a merge commit",
                    Some(MergeMethod::Squash) => "as a single commit",
                    Some(MergeMethod::Rebase) => "by rebasing",
                    None => "using the repository's default method",
                };
                format!("Merge {pull_request} at commit {head} {how}? It can't be undone here.")
            }
            Self::Close => format!("Close {pull_request}, head {head}, without merging it?"),
        }
    }

    /// Returns the question that confirms the action on several pull requests. Their list is shown below it.
    pub fn question_for_several(&self, count: usize) -> String {
        let all = match count {
            1 => "1 pull request".to_owned(),
            _ => format!("{count} pull requests"),
        };
        let question = match self {
            Self::Approve => format!("Approve {all}? Everyone sees the approvals as yours."),
            Self::RequestChanges(text) => {
                format!("Request changes on {all}? Everyone sees your review of each: “{text}”")
            }
            Self::Comment(text) => format!("Comment on {all}? Everyone sees: “{text}”"),
            Self::MarkReady => format!("Mark {all} as ready? Reviewers are asked for reviews."),
            Self::Merge(_) => {
                format!("Merge {all}, each using its repository's default method? It can't be undone here.")
            }
            Self::Close => format!("Close {all} without merging?"),
        };
        format!("{question} docdeck stops at the first failure.")
    }

    /// Returns the title of the question, and the label of the key that confirms the action.
    pub fn title_and_confirm_label(&self) -> (&'static str, &'static str) {
        match self {
            Self::Approve => ("Approve", "approve"),
            Self::RequestChanges(_) => ("Request changes", "request changes"),
            Self::Comment(_) => ("Comment", "comment"),
            Self::MarkReady => ("Mark as ready", "mark as ready"),
            Self::Merge(_) => ("Merge", "merge"),
            Self::Close => ("Close pull request", "close it"),
        }
    }

    /// Returns the kind and the text of a comment or of a review that requests changes; `None` for other actions.
    pub fn review_text(&self) -> Option<(UnsentReviewKind, &str)> {
        match self {
            Self::RequestChanges(text) => Some((UnsentReviewKind::ChangeRequest, text)),
            Self::Comment(text) => Some((UnsentReviewKind::Comment, text)),
            Self::Approve | Self::MarkReady | Self::Merge(_) | Self::Close => None,
        }
    }

    /// Returns the participle for sentences: `#7 was …`.
    pub fn participle(&self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::RequestChanges(_) => "reviewed",
            Self::Comment(_) => "commented on",
            Self::MarkReady => "marked as ready",
            Self::Merge(_) => "merged",
            Self::Close => "closed",
        }
    }
}

/// The purpose of a text that was written but not sent. A pull request can have one such text of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnsentReviewKind {
    ChangeRequest,
    Comment,
}

impl UnsentReviewKind {
    pub const ALL: [Self; 2] = [Self::ChangeRequest, Self::Comment];

    /// Returns the action that sends the text.
    pub fn action(self, text: String) -> PullRequestAction {
        match self {
            Self::ChangeRequest => PullRequestAction::RequestChanges(text),
            Self::Comment => PullRequestAction::Comment(text),
        }
    }
}

/// The head commit of a job's pull request when the user saw it. An action is not sent if the head commit has changed
/// since then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenHeadCommit {
    pub job: JobKey,
    pub head: CleanText,
}

/// The outcome of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionOutcome {
    Done,
    /// The head commit has changed, so nothing was done.
    HeadChanged,
    /// The host refused the action or was not reached, for this reason. Nothing was done.
    NotDone(CleanText),
    /// The response was lost, so the action may have been carried out.
    Unconfirmed {
        reason: CleanText,
        /// Whether the state of the pull request was read after the response was lost.
        is_state_read: bool,
    },
}

impl ActionOutcome {
    /// Returns the outcome of an action that failed before it was sent.
    pub fn not_done(failure: &Failure) -> Self {
        Self::NotDone(CleanText::line(failure.message.as_str().trim_end_matches('.')))
    }

    /// Sets whether the state of the pull request was read after the response was lost. Any other outcome than
    /// [`Self::Unconfirmed`] stays unchanged.
    #[must_use]
    pub fn with_state_read(self, is_read: bool) -> Self {
        match self {
            Self::Unconfirmed { reason, .. } => Self::Unconfirmed { reason, is_state_read: is_read },
            other => other,
        }
    }

    /// Returns the sentence for the user.
    pub fn sentence(&self, action: &PullRequestAction, number: u64) -> String {
        let participle = action.participle();
        match self {
            Self::Done => format!("#{number} was {participle}."),
            Self::HeadChanged => {
                format!("#{number} was not {participle}: it has new commits. Look at its changes, then try again.")
            }
            Self::NotDone(reason) => format!("#{number} was not {participle}: {reason}."),
            Self::Unconfirmed { reason, is_state_read } => {
                let state = match is_state_read {
                    true => "check the state on screen: it was loaded after the action",
                    false => "refresh first: the state could not be loaded after the action",
                };
                format!(
                    "#{number} may have been {participle}: {reason}. docdeck doesn't try again on its own; {state}."
                )
            }
        }
    }
}
