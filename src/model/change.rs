//! Changes that the user makes to jobs and queued prompts on this computer. Nothing is sent to the service.

use super::Time;
use super::job::Job;
use super::prompt::PromptId;
use super::text::CleanText;

/// A change to the local data of one or more jobs. It is applied to all of these jobs or to none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocalChange {
    /// Sets a custom title; `None` restores the default title, the first line of the prompt.
    Title(Option<CleanText>),
    /// Replaces all tags.
    Tags(Vec<CleanText>),
    AddTags(Vec<CleanText>),
    RemoveTags(Vec<CleanText>),
    /// Sets the note; `None` removes it.
    Note(Option<CleanText>),
    Dismissed(bool),
    /// Records that the user has viewed the job.
    Viewed,
    /// Records that the user has opened the job's pull request or marked the job as done.
    Handled,
    /// Undoes `Handled`: restores the earlier time at which the user acted on the job. `None` means that the user had
    /// not acted on it, so the job may be listed under "needs you" again.
    RestoreHandledAt(Option<Time>),
}

/// A change to queued prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueChange {
    /// Keeps the prompt from being sent until the user resumes it.
    Pause,
    /// Resumes a paused prompt.
    Resume,
    /// Moves the prompt one position toward the front of the queue.
    Up,
    Down,
}

/// Prompts that were discarded together, and the updated jobs that they belong to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiscardedPrompts {
    pub prompts: Vec<PromptId>,
    pub jobs: Vec<Job>,
}

/// Parses typed tags, separated by spaces or commas. Converts tags to lower case, and removes leading `#` signs and
/// duplicates.
pub fn parse_tags(typed: &str) -> Vec<CleanText> {
    normalized_tags(typed.split([' ', ',', '\t']).map(|word| word.trim_start_matches('#')))
}

/// Returns tags in lower case, without empty ones and duplicates.
pub fn normalized_tags<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<CleanText> {
    let mut tags: Vec<CleanText> = Vec::new();
    for tag in words.into_iter().map(|word| CleanText::line(&word.to_lowercase())) {
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
