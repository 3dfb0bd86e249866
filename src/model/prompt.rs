//! Prompts and their delivery states, which are stored so that no prompt is lost or sent twice.

use super::Time;
use super::job::JobKey;
use super::ledger::Quota;
use super::link;
use super::remote_job::{JobId, Status};
use super::text::CleanText;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The maximum number of characters of a job's title.
pub const MAX_TITLE_CHARS: usize = 200;
/// The maximum number of characters of the name of a prompt's author.
pub const MAX_AUTHOR_CHARS: usize = 40;

/// Returns the title of a job with this prompt: the first line with visible text. Returns an empty title if there is
/// none.
pub fn prompt_title(text: &str) -> CleanText {
    // The first line of a prompt about a page is `/path:`. The title doesn't need the colon.
    let mut lines = text.lines().map(|line| CleanText::title(line.trim_end().trim_end_matches(':'), MAX_TITLE_CHARS));
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

/// The id of a prompt in the store on this computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PromptId(pub i64);

/// What a prompt asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum PromptKind {
    /// Creates a job.
    Create,
    /// Continues a job.
    FollowUp,
}

impl PromptKind {
    /// Returns the name used in the store, in exports and in JSON output.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns the hourly limit that prompts of this kind count toward.
    pub fn quota(self) -> Quota {
        match self {
            Self::Create => Quota::Create,
            Self::FollowUp => Quota::FollowUp,
        }
    }
}

/// The delivery state of a prompt. Every reason is a sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// Stored; docdeck sends it when its turn comes and the limit allows it.
    Queued {
        /// The prompt is not sent before this time, because the rate limit is used up. `None` if it is not used up.
        until: Option<Time>,
    },
    /// Stored, and not sent until the user resumes it.
    Paused,
    /// Being sent. If the process is killed, the next start or another running instance marks the prompt as
    /// `Unconfirmed`.
    Sending,
    /// The service accepted the prompt and responded with the job.
    Accepted,
    /// The prompt never reached the service.
    NotSent(CleanText),
    /// The service rejected the prompt; the reason is the service's message.
    Rejected(CleanText),
    /// The service may or may not have received the prompt; docdeck never resends it automatically.
    Unconfirmed(CleanText),
    /// Discarded by the user; the prompt stays in the thread.
    Discarded {
        /// The state before the prompt was discarded; `None` if an older version of docdeck discarded it.
        from: Option<DeliveryKind>,
    },
}

impl Delivery {
    /// Returns the state without its data, for lists and symbols.
    pub fn kind(&self) -> DeliveryKind {
        match self {
            Self::Queued { .. } => DeliveryKind::Queued,
            Self::Paused => DeliveryKind::Paused,
            Self::Sending => DeliveryKind::Sending,
            Self::Accepted => DeliveryKind::Accepted,
            Self::NotSent(_) => DeliveryKind::NotSent,
            Self::Rejected(_) => DeliveryKind::Rejected,
            Self::Unconfirmed(_) => DeliveryKind::Unconfirmed,
            Self::Discarded { .. } => DeliveryKind::Discarded,
        }
    }

    /// Returns the reason for the state, or `None` if the state has none.
    pub fn reason(&self) -> Option<&CleanText> {
        match self {
            Self::NotSent(reason) | Self::Rejected(reason) | Self::Unconfirmed(reason) => Some(reason),
            Self::Queued { .. } | Self::Paused | Self::Sending | Self::Accepted | Self::Discarded { .. } => None,
        }
    }
}

/// A delivery state without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum DeliveryKind {
    Queued,
    Paused,
    Sending,
    Accepted,
    #[strum(serialize = "not sent")]
    NotSent,
    Rejected,
    Unconfirmed,
    Discarded,
}

impl DeliveryKind {
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Returns the name used on the screen and in JSON output.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns the name used in the store and in exports, which older versions of docdeck can also read.
    pub fn stored_word(self) -> &'static str {
        match self {
            Self::Discarded => "dismissed",
            other => other.word(),
        }
    }

    /// Parses the name of a state as it is used on the screen, in the store or in exports.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word || kind.stored_word() == word)
    }

    /// Returns the delivery state with its data. Ignores the data that a prompt in this state doesn't have.
    pub fn with_data(self, reason: CleanText, until: Option<Time>, discarded_from: Option<Self>) -> Delivery {
        match self {
            Self::Queued => Delivery::Queued { until },
            Self::Paused => Delivery::Paused,
            Self::Sending => Delivery::Sending,
            Self::Accepted => Delivery::Accepted,
            Self::NotSent => Delivery::NotSent(reason),
            Self::Rejected => Delivery::Rejected(reason),
            Self::Unconfirmed => Delivery::Unconfirmed(reason),
            Self::Discarded => Delivery::Discarded { from: discarded_from },
        }
    }

    /// Whether the user has to decide what happens next.
    pub fn needs_user(self) -> bool {
        matches!(self, Self::NotSent | Self::Rejected | Self::Unconfirmed)
    }

    /// Whether the service certainly did not carry out the prompt.
    pub fn certainly_had_no_effect(self) -> bool {
        matches!(self, Self::NotSent | Self::Rejected)
    }

    /// Whether later prompts of the job must wait for this one, since follow-ups are sent in order.
    pub fn blocks_later_prompts(self) -> bool {
        !matches!(self, Self::Accepted | Self::Discarded)
    }
}

/// One prompt of a job's thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    pub id: PromptId,
    pub kind: PromptKind,
    /// The text as typed; use [`CleanText`] to show it.
    pub text: String,
    pub delivery: Delivery,
    /// When the user submitted the prompt.
    pub written_at: Time,
    /// When the prompt was last sent; `None` if it was never sent.
    pub sent_at: Option<Time>,
    /// When the prompt entered its current delivery state; `None` if unknown.
    pub state_at: Option<Time>,
    /// The member of the team who wrote the prompt on another computer; `None` if it was written on this one. Only the
    /// computer on which a prompt was written sends it.
    pub author: Option<CleanText>,
}

impl Prompt {
    /// Whether the prompt was written on this computer. Only that computer can send or discard it.
    pub fn is_from_this_computer(&self) -> bool {
        self.author.is_none()
    }

    /// Returns a sentence about the fate of a discarded prompt, or `None` if the prompt was not discarded.
    pub fn discard_explanation(&self) -> Option<&'static str> {
        let Delivery::Discarded { from } = self.delivery else { return None };
        let may_have_arrived = match from {
            Some(from) => from == DeliveryKind::Unconfirmed,
            None => self.sent_at.is_some(),
        };
        Some(match (self.kind, from) {
            (PromptKind::Create, _) if may_have_arrived => "Discarded. The service may still have started it.",
            (PromptKind::FollowUp, _) if may_have_arrived => "Discarded. The service may still have received it.",
            (_, Some(DeliveryKind::Rejected)) => "Discarded after the service rejected it.",
            (_, Some(_)) => "Discarded before it was sent.",
            (_, None) => "Discarded.",
        })
    }
}

/// A change of a job that docdeck observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// The status changed; `from` is `None` for the first response.
    Status { from: Option<Status>, to: Status },
    /// A pull request appeared or changed.
    PullRequest(CleanText),
    /// The service responded with 404 for the job.
    Gone,
    /// The service returns the job again after a 404.
    Back,
}

impl EventKind {
    /// Returns the word that the store and exports use for the change, and the values before and after the change.
    pub fn parts(&self) -> (&'static str, Option<&str>, Option<&str>) {
        match self {
            Self::Status { from, to } => ("status", from.as_ref().map(Status::service_word), Some(to.service_word())),
            Self::PullRequest(link) => ("pull request", None, Some(link.as_str())),
            Self::Gone => ("gone", None, None),
            Self::Back => ("back", None, None),
        }
    }

    /// Creates the change from its [`EventKind::parts`]. Returns `None` if the word is unknown.
    pub fn from_parts(word: &str, before: Option<&str>, after: Option<&str>) -> Option<Self> {
        let after = after.unwrap_or_default();
        Some(match word {
            "status" => Self::Status { from: before.map(Status::parse), to: Status::parse(after) },
            "pull request" => Self::PullRequest(CleanText::line(after)),
            "gone" => Self::Gone,
            "back" => Self::Back,
            _ => return None,
        })
    }

    /// Describes the change in a few words, for the log.
    pub fn log_text(&self) -> CleanText {
        // Uses the same word for an active job as the screen: `working`.
        let word = |status: &Status| if *status == Status::Active { "working".to_owned() } else { status.to_string() };
        CleanText::line(&match self {
            Self::Status { from: Some(from), to } => format!("{} → {}", word(from), word(to)),
            Self::Status { from: None, to } => word(to),
            Self::PullRequest(link) => format!("pull request {}", link::display_url(link)),
            Self::Gone => "no longer on the service".to_owned(),
            Self::Back => "on the service again".to_owned(),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEvent {
    pub at: Time,
    pub kind: EventKind,
}

/// The prompts and events of a job, each list oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Thread {
    pub prompts: Vec<Prompt>,
    pub events: Vec<JobEvent>,
}

impl Thread {
    /// Returns the text of the prompt that created the job.
    pub fn creation_prompt(&self) -> Option<&str> {
        self.prompts.iter().find(|prompt| prompt.kind == PromptKind::Create).map(|prompt| prompt.text.as_str())
    }
}

/// What a draft is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DraftTarget {
    NewJob,
    /// A new job about certain pages, which are saved with the draft.
    AboutPages,
    /// Prompts for many new jobs.
    Batch,
    FollowUp(JobKey),
    /// An edited version of a prompt that was not delivered.
    Prompt(PromptId),
}

/// The user's decision about an undelivered prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptResolution {
    /// Send the prompt again, although the service may then carry it out twice.
    SendAgain,
    /// Send this text instead of the prompt (not possible for an unconfirmed prompt).
    SendEdited(String),
    /// Link the unconfirmed prompt to the job with this id, which the prompt has created on the service.
    Link(JobId),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_text_of_a_status_change_shows_the_new_status() {
        let kind = EventKind::Status { from: Some(Status::Active), to: Status::Completed };
        assert_eq!(kind.log_text().as_str(), "working → completed");
        let first = EventKind::Status { from: None, to: Status::parse("odd one") };
        assert_eq!(first.log_text().as_str(), "odd one");
    }
}
