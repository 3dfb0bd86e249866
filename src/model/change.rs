//! What the user changes about jobs on this computer only: the service hears nothing of it.

use super::Time;
use super::prompt::PromptId;
use super::row::Job;
use super::text::CleanText;

/// A change to the local side of one or more jobs; carried out for all of them or for none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocalChange {
    /// A title of one's own; none goes back to the prompt's first line.
    Title(Option<CleanText>),
    /// Replaces the tags.
    Tags(Vec<CleanText>),
    /// Adds tags to those that each job has.
    AddTags(Vec<CleanText>),
    /// Takes tags away.
    RemoveTags(Vec<CleanText>),
    /// A note of one's own; none removes it.
    Note(Option<CleanText>),
    Dismissed(bool),
    /// The user looked at it now.
    Looked,
    /// The user opened its pull request now, or marked it as done.
    Handled,
    /// When the user last acted on it, as it was before; `None` puts it back among the jobs that need the user.
    HandledAt(Option<Time>),
}

/// A change to prompts that wait to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueChange {
    /// Not sent until released.
    Pause,
    Release,
    /// One place towards the front, or the back, of the queue.
    Up,
    Down,
}

/// Prompts that were discarded together, with the rows of their jobs after that.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discarded {
    pub prompts: Vec<PromptId>,
    pub rows: Vec<Job>,
}

/// Reads typed tags: separated by spaces or commas, a leading `#` dropped, each once, in order.
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
    fn typed_tags_are_told_apart_and_kept_once() {
        let tags = parse_tags("#docs, API docs  sso");
        assert_eq!(tags.iter().map(CleanText::as_str).collect::<Vec<_>>(), ["docs", "api", "sso"]);
    }
}
