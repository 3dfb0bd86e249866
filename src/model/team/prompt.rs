//! The prompts of a team's jobs.

use crate::model::Time;
use crate::model::backup::PromptRecord;
use crate::model::prompt::{Delivery, DeliveryKind, MAX_AUTHOR_CHARS, Prompt, PromptKind, prompt_title};
use crate::model::text::CleanText;
use serde::{Deserialize, Serialize};

/// Identifies a prompt within the team: the member who wrote it, its id on the member's computer, and the time at which
/// it was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PromptUid(pub String);

impl PromptUid {
    /// Returns the id of a prompt that was written by this member. The id contains the time of writing, since the
    /// member's store may give the same number to another prompt after it was restored from a backup.
    pub fn new(member: &str, prompt: &Prompt) -> Self {
        Self(format!("{member}-{}-{}", prompt.id.0, prompt.written_at.timestamp_millis()))
    }

    /// Whether the prompt was written by this member.
    pub fn is_by(&self, member: &str) -> bool {
        self.0.strip_prefix(member).is_some_and(|rest| rest.starts_with('-'))
    }
}

/// A prompt with its delivery, as the computer on which it was written reports it. All texts are as received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedPrompt {
    pub uid: PromptUid,
    /// The name of the member who wrote it.
    pub author: String,
    pub kind: String,
    pub text: String,
    pub delivery: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discarded_from: Option<String>,
    #[serde(with = "crate::model::time_format::required")]
    pub written_at: Time,
    #[serde(default, with = "crate::model::time_format")]
    pub sent_at: Option<Time>,
    #[serde(default, with = "crate::model::time_format")]
    pub state_at: Option<Time>,
    /// Increases with every change. Only the member who wrote the prompt changes it.
    pub version: i64,
}

impl SharedPrompt {
    /// Converts a prompt to its shared form. Returns `None` if the prompt is not shared: a prompt that was never sent
    /// is private, like a draft, and an imported prompt is shared only by the computer on which it was written.
    pub fn from_prompt(prompt: &Prompt, member: &str, author: &str, version: i64) -> Option<Self> {
        let was_sent = prompt.sent_at.is_some() || prompt.delivery == Delivery::Accepted;
        if !(prompt.is_from_this_computer() && was_sent) {
            return None;
        }
        let discarded_from = match prompt.delivery {
            Delivery::Discarded { from } => from.map(|from| from.word().to_owned()),
            _ => None,
        };
        Some(Self {
            uid: PromptUid::new(member, prompt),
            author: author.to_owned(),
            kind: prompt.kind.word().to_owned(),
            text: prompt.text.clone(),
            delivery: prompt.delivery.kind().stored_word().to_owned(),
            reason: prompt.delivery.reason().map(CleanText::to_string).unwrap_or_default(),
            discarded_from,
            written_at: prompt.written_at,
            sent_at: prompt.sent_at,
            state_at: prompt.state_at,
            version,
        })
    }

    /// Replaces this copy of the prompt with `other` if `other` has a larger version. If the versions are equal, the
    /// copy with the larger JSON text wins, so that the order of several merges doesn't change the result.
    pub fn merge(&mut self, other: &Self) {
        let order = |prompt: &Self| (prompt.version, serde_json::to_string(prompt).unwrap_or_default());
        if order(other) > order(self) {
            self.clone_from(other);
        }
    }

    /// Returns the author's name for display.
    pub fn author_name(&self) -> CleanText {
        let name = CleanText::title(&self.author, MAX_AUTHOR_CHARS);
        if name.is_empty() { CleanText::line("unknown") } else { name }
    }

    /// Returns the prompt as a record of a backup, which can be merged like an imported prompt. Returns `None` if its
    /// text is blank, or if its kind or delivery is a word that only a newer version of docdeck knows.
    pub fn to_record(&self) -> Option<PromptRecord> {
        let kind: PromptKind = self.kind.parse().ok()?;
        let delivery = DeliveryKind::parse(&self.delivery)?;
        let from = self.discarded_from.as_deref().and_then(DeliveryKind::parse);
        (!prompt_title(&self.text).is_empty()).then(|| PromptRecord {
            kind,
            text: self.text.clone(),
            delivery: delivery.with_data(CleanText::line(&self.reason), None, from),
            written_at: self.written_at,
            sent_at: self.sent_at,
            state_at: self.state_at,
            author: Some(self.author_name()),
            draft: None,
        })
    }
}
