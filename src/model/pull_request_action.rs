//! What the user can do with a pull request on its code host, and what became of it.

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
    /// A draft becomes ready for review.
    MarkReady,
    Merge(MergeMethod),
    /// Closes it without merging.
    Close,
}

impl PullRequestAction {
    /// Returns the question before the action, which names the pull request, its head commit and the effect.
    pub fn question(&self, number: u64, repository: &str, head: &CleanText) -> String {
        let head: String = head.as_str().chars().take(7).collect();
        let pull_request = format!("#{number} in {repository}");
        match self {
            Self::Approve => format!("Approve {pull_request} at commit {head}? Everyone sees the approval as yours."),
            Self::RequestChanges(text) => {
                format!("Request changes of {pull_request} at commit {head}? Everyone sees your review: “{text}”")
            }
            Self::Comment(text) => format!("Comment on {pull_request}, head {head}? Everyone sees: “{text}”"),
            Self::MarkReady => {
                format!("Mark the draft {pull_request}, head {head}, as ready? Reviewers are asked for a review.")
            }
            Self::Merge(MergeMethod::Merge) => {
                format!("Merge {pull_request} at commit {head} with a merge commit? It can't be undone here.")
            }
            Self::Merge(MergeMethod::Squash) => {
                format!("Merge {pull_request} at commit {head} as a single commit? It can't be undone here.")
            }
            Self::Merge(MergeMethod::Rebase) => {
                format!("Merge {pull_request} at commit {head} by rebasing? It can't be undone here.")
            }
            Self::Close => format!("Close {pull_request}, head {head}, without merging it?"),
        }
    }

    /// Returns the title of the question, and the label of the key that confirms it.
    pub fn labels(&self) -> (&'static str, &'static str) {
        match self {
            Self::Approve => ("Approve", "approve"),
            Self::RequestChanges(_) => ("Request changes", "request changes"),
            Self::Comment(_) => ("Comment", "comment"),
            Self::MarkReady => ("Mark as ready", "mark as ready"),
            Self::Merge(_) => ("Merge", "merge"),
            Self::Close => ("Close pull request", "close it"),
        }
    }

    /// Returns the participle for sentences: `#7 was …`.
    fn participle(&self) -> &'static str {
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

/// What became of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionOutcome {
    Done,
    /// The head commit is another one, so nothing was done.
    Moved,
    /// The host refused the action, or was not reached; contains the reason. Nothing was done.
    NotDone(CleanText),
    /// The answer was lost, so the action may have been carried out; contains the reason.
    Unconfirmed(CleanText),
}

impl ActionOutcome {
    /// Returns the sentence for the user.
    pub fn sentence(&self, action: &PullRequestAction, number: u64) -> String {
        let participle = action.participle();
        match self {
            Self::Done => format!("#{number} was {participle}."),
            Self::Moved => {
                format!("#{number} was not {participle}: it has new commits. Look at its changes, then try again.")
            }
            Self::NotDone(why) => format!("#{number} was not {participle}: {why}."),
            Self::Unconfirmed(why) => format!(
                "#{number} may have been {participle}: {why}. docdeck doesn't try again by itself; the state on screen \
                 was read after that."
            ),
        }
    }
}
