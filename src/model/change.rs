//! Changes to jobs that are stored on this computer only: the service is not involved.

use super::Time;
use super::prompt::PromptId;
use super::row::Job;
use super::text::CleanText;

/// A change to the local data of one or more jobs; applied to all of them or to none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocalChange {
    /// A custom title; `None` restores the default title, the first line of the prompt.
    Title(Option<CleanText>),
    /// Replaces the tags.
    Tags(Vec<CleanText>),
    AddTags(Vec<CleanText>),
    RemoveTags(Vec<CleanText>),
    /// `None` removes the note.
    Note(Option<CleanText>),
    Dismissed(bool),
    /// The user has viewed the job.
    Viewed,
    /// The user has opened the job's pull request or marked the job as done.
    Handled,
    /// Sets when the user last acted on the job, for undo; `None` returns it to the jobs that need the user.
    HandledAt(Option<Time>),
}

/// A change to queued prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueChange {
    /// Not sent until released.
    Pause,
    Release,
    /// Moves the prompt one position towards the front of the queue.
    Up,
    Down,
}

/// Prompts that were discarded together, and their jobs' rows after that.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discarded {
    pub prompts: Vec<PromptId>,
    pub rows: Vec<Job>,
}

/// Parses typed tags: separated by spaces or commas, lower-cased, without a leading `#`, duplicates removed.
pub fn parse_tags(typed: &str) -> Vec<CleanText> {
    let mut tags: Vec<CleanText> = Vec::new();
    for word in typed.split([' ', ',', '\t']) {
        let tag = CleanText::line(&word.trim_start_matches('#').to_lowercase());
        if !tag.is_empty() && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_tags_are_separated_and_duplicates_are_removed() {
        let tags = parse_tags("#docs, API docs  sso");
        assert_eq!(tags.iter().map(CleanText::as_str).collect::<Vec<_>>(), ["docs", "api", "sso"]);
    }
}
