//! A prompt and what became of it: the durable record behind "nothing is lost" and "nothing is sent twice".

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

/// Where a prompt stands (design.md: submitting). Every reason is a sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// On disk, to be sent by docdeck when its turn or the limit comes.
    Queued {
        /// Not before this moment: a limit is used up until then.
        until: Option<Time>,
    },
    /// On disk, and not sent until the user releases it.
    Paused,
    /// On disk and handed to the network; a killed process leaves it here, and it becomes unconfirmed.
    Sending,
    /// The service answered with the job.
    Accepted,
    /// It never reached the service.
    NotSent(CleanText),
    /// The service refused it, in its own words.
    Rejected(CleanText),
    /// It may or may not have been carried out; never sent again by docdeck itself.
    Unconfirmed(CleanText),
    /// Given up by the user; it stays in the thread.
    Discarded {
        /// Its state before that; `None` if an older docdeck discarded it.
        from: Option<DeliveryKind>,
    },
}

impl Delivery {
    /// The bare kind, for lists and marks.
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

    /// Why it stands there, where there is more to say than its kind.
    pub fn reason(&self) -> Option<&CleanText> {
        match self {
            Self::NotSent(reason) | Self::Rejected(reason) | Self::Unconfirmed(reason) => Some(reason),
            Self::Queued { .. } | Self::Paused | Self::Sending | Self::Accepted | Self::Discarded { .. } => None,
        }
    }
}

/// [`Delivery`] without its reasons.
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
    /// All kinds.
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

    /// The word for it on the screen and in JSON.
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

    /// The word for it in the store and in exports, which older versions of docdeck read as well.
    pub fn stored_word(self) -> &'static str {
        match self {
            Self::Discarded => "dismissed",
            other => other.word(),
        }
    }

    /// The kind that a word names, either of the two for a discarded prompt.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word || kind.stored_word() == word)
    }

    /// Whether only the user can bring it further.
    pub fn needs_user(self) -> bool {
        matches!(self, Self::NotSent | Self::Rejected | Self::Unconfirmed)
    }

    /// Whether its end is known, and it is that the service did nothing.
    pub fn was_not_carried_out(self) -> bool {
        matches!(self, Self::NotSent | Self::Rejected)
    }

    /// Whether a prompt behind this one has to wait for it (follow-ups go out in order).
    pub fn holds_the_rest(self) -> bool {
        !matches!(self, Self::Accepted | Self::Discarded)
    }
}

/// One prompt of a job's thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    pub id: PromptId,
    pub kind: PromptKind,
    /// As typed; clean it before showing it.
    pub text: String,
    pub delivery: Delivery,
    /// When it was handed over to be sent.
    pub written_at: Time,
    /// When it last went out.
    pub sent_at: Option<Time>,
    /// When its delivery state began; `None` if that is unknown.
    pub state_at: Option<Time>,
}

impl Prompt {
    /// A sentence about what a discarded prompt may have led to; `None` for any other prompt.
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

/// Something that happened to a job, as seen from here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// The status changed; `from` is none at the first answer.
    Status { from: Option<Status>, to: Status },
    /// A pull request appeared or changed.
    PullRequest(CleanText),
    /// The service no longer knows the job (404).
    Gone,
    /// It knows it again.
    Back,
}

/// A transition with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEvent {
    pub at: Time,
    pub kind: EventKind,
}

/// All that is known of what was said to and seen of one job, each list oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Thread {
    pub prompts: Vec<Prompt>,
    pub events: Vec<JobEvent>,
}

/// Where an unfinished text belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DraftSlot {
    /// A new job.
    NewJob,
    /// A new job about pages, which the draft names.
    AboutPages,
    /// Many new jobs at once.
    Batch,
    /// A follow-up to this job.
    FollowUp(JobKey),
    /// Changes to a prompt that came back undelivered.
    Prompt(PromptId),
}

/// What the user decides about a prompt that docdeck will not send by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// Send it again, knowing that it may then have been carried out twice.
    SendAgain,
    /// Send this text instead (not for an unconfirmed one).
    SendEdited(String),
    /// The unconfirmed new job is this one of the service.
    Link(JobId),
}
