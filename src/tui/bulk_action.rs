//! The actions that can be confirmed for several jobs at once.

use crate::model::change::QueueChange;
use crate::model::job::JobKey;
use crate::model::pull_request_action::SeenHeadCommit;
use crate::model::text::CleanText;

/// An action on several jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BulkAction {
    OpenPrs,
    CopyLinks,
    Dismiss,
    Restore,
    /// Marks the jobs as done.
    MarkDone,
    /// Moves the jobs back to the group “needs you”.
    MarkNotDone,
    Tags(TagChanges),
    Export,
    /// Sends the text of the open editor to each job. The confirmation is shown over the editor.
    FollowUp,
    Queue(QueueChange),
    RemoveFromQueue,
}

/// The jobs that a bulk action applies to, and the marked jobs that it skips. The confirmation lists both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Targets {
    pub keys: Vec<JobKey>,
    /// The titles of the jobs, in the order of `keys`.
    pub titles: Vec<CleanText>,
    /// The marked jobs to skip, each as its title and the reason for skipping it.
    pub skipped: Vec<(CleanText, &'static str)>,
    /// How far the list of these jobs is scrolled in the confirmation; 0 at the top.
    pub scroll: usize,
}

/// The pull requests that an action applies to, with the head commits that were on screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PullRequestTargets {
    pub head_commits: Vec<SeenHeadCommit>,
    /// What the confirmation lists. Empty if the action applies to one pull request only.
    pub listed_targets: Targets,
}

/// Changes to tags, parsed from typed text. `+x` adds a tag, `-x` removes one. A bare `x` adds a tag too, but for a
/// single job the typed tags then replace all others; see [`TagChanges::replaces_all_tags`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TagChanges {
    pub add: Vec<CleanText>,
    pub remove: Vec<CleanText>,
    /// Whether the typed tags replace all tags of the job, if only one job is changed. True if a word was typed without
    /// `+` or `-`, or if nothing was typed.
    pub replaces_all_tags: bool,
}

impl TagChanges {
    /// Parses typed tags. If the same tag is typed twice, the last mention applies.
    pub fn parse(typed: &str) -> Self {
        let mut changes = Self::default();
        for word in typed.split([' ', ',', '\t']) {
            let (minus, rest) = match (word.strip_prefix('-'), word.strip_prefix('+')) {
                (Some(rest), _) => (true, rest),
                (_, Some(rest)) => (false, rest),
                _ => (false, word),
            };
            let tags = crate::model::change::parse_tags(rest);
            changes.replaces_all_tags |= rest.len() == word.len() && !tags.is_empty();
            for tag in tags {
                changes.add.retain(|other| *other != tag);
                changes.remove.retain(|other| *other != tag);
                if minus { &mut changes.remove } else { &mut changes.add }.push(tag);
            }
        }
        changes.replaces_all_tags |= changes.is_empty();
        changes
    }

    /// Whether no tag is added and none is removed.
    pub fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty()
    }

    /// Returns the changes on one line for a confirmation: `+docs -old`.
    pub fn summary(&self) -> String {
        let add = self.add.iter().map(|tag| format!("+{tag}"));
        let remove = self.remove.iter().map(|tag| format!("-{tag}"));
        add.chain(remove).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn apply_to(&self, tags: &[CleanText]) -> Vec<CleanText> {
        let current = if self.replaces_all_tags { &[] } else { tags };
        let mut out: Vec<CleanText> = current.iter().filter(|tag| !self.remove.contains(tag)).cloned().collect();
        out.extend(self.add.iter().filter(|tag| !current.contains(tag)).cloned());
        out
    }
}
