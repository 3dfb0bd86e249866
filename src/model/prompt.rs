//! Prompts and their delivery states, which are stored so that no prompt is lost or sent twice.

use super::Time;
use super::job::{JobId, Status};
use super::row::JobKey;
use super::text::CleanText;

/// Key of a prompt in the store on this computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PromptId(pub i64);

/// What a prompt asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PromptKind {
    /// Creates the job.
    Create,
    /// Continues it.
    FollowUp,
}

/// The delivery state of a prompt. Every reason is a sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// Stored; docdeck sends it when its turn comes and the limit allows it.
    Queued {
        /// When the limit resets; not sent before that.
        until: Option<Time>,
    },
    /// Stored, and not sent until the user releases it.
    Paused,
    /// Passed to the network. If the process is killed, the prompt stays in this state and becomes unconfirmed on the
    /// next start.
    Sending,
    /// The service answered with the job.
    Accepted,
    /// The prompt never reached the service.
    NotSent(CleanText),
    /// The service rejected the prompt; the reason is the service's message.
    Rejected(CleanText),
    /// The service may or may not have received the prompt; docdeck never resends it automatically.
    Unconfirmed(CleanText),
    /// Discarded by the user; the prompt stays in the thread.
    Discarded {
        /// The previous state; `None` if an older version of docdeck discarded it.
        from: Option<DeliveryKind>,
    },
}

impl Delivery {
    /// The state without its data, for lists and symbols.
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

    /// The reason for the state, if it has one.
    pub fn reason(&self) -> Option<&CleanText> {
        match self {
            Self::NotSent(reason) | Self::Rejected(reason) | Self::Unconfirmed(reason) => Some(reason),
            Self::Queued { .. } | Self::Paused | Self::Sending | Self::Accepted | Self::Discarded { .. } => None,
        }
    }
}

/// A delivery state without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryKind {
    Queued,
    Paused,
    Sending,
    Accepted,
    NotSent,
    Rejected,
    Unconfirmed,
    Discarded,
}

impl DeliveryKind {
    pub const ALL: [Self; 8] = [
        Self::Queued,
        Self::Paused,
        Self::Sending,
        Self::Accepted,
        Self::NotSent,
        Self::Rejected,
        Self::Unconfirmed,
        Self::Discarded,
    ];

    /// The name on the screen and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Paused => "paused",
            Self::Sending => "sending",
            Self::Accepted => "accepted",
            Self::NotSent => "not sent",
            Self::Rejected => "rejected",
            Self::Unconfirmed => "unconfirmed",
            Self::Discarded => "discarded",
        }
    }

    /// The name in the store and in exports, which older versions of docdeck can read too.
    pub fn stored_word(self) -> &'static str {
        match self {
            Self::Discarded => "dismissed",
            other => other.word(),
        }
    }

    /// Parses either name of a state.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word || kind.stored_word() == word)
    }

    /// Whether the user has to decide what happens next.
    pub fn needs_user(self) -> bool {
        matches!(self, Self::NotSent | Self::Rejected | Self::Unconfirmed)
    }

    /// Whether the service certainly did not carry out the prompt.
    pub fn had_no_effect(self) -> bool {
        matches!(self, Self::NotSent | Self::Rejected)
    }

    /// Whether later prompts of the job must wait for this one, since follow-ups are sent in order.
    pub fn blocks_next(self) -> bool {
        !matches!(self, Self::Accepted | Self::Discarded)
    }
}

/// One prompt of a job's thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    pub id: PromptId,
    pub kind: PromptKind,
    /// As typed; use [`CleanText`] to show it.
    pub text: String,
    pub delivery: Delivery,
    /// When it was submitted.
    pub written_at: Time,
    /// When it was last sent.
    pub sent_at: Option<Time>,
    /// When the current delivery state began; `None` if unknown.
    pub state_at: Option<Time>,
}

impl Prompt {
    /// A sentence about what became of a discarded prompt; `None` for any other prompt.
    pub fn discarded_text(&self) -> Option<&'static str> {
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
    /// The status changed; `from` is `None` for the first answer.
    Status { from: Option<Status>, to: Status },
    /// A pull request appeared or changed.
    PullRequest(CleanText),
    /// The service answered 404.
    Gone,
    /// The service returns the job again after a 404.
    Back,
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

/// What a draft is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DraftSlot {
    NewJob,
    /// A new job about pages, which the draft lists.
    AboutPages,
    Batch,
    FollowUp(JobKey),
    /// An edited version of a prompt that was not delivered.
    Prompt(PromptId),
}

/// The user's decision about an undelivered prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// Send it again, although the service may then carry it out twice.
    SendAgain,
    /// Send this text instead (not possible for an unconfirmed prompt).
    SendEdited(String),
    /// The unconfirmed prompt created this job on the service.
    Link(JobId),
}
