//! Entries of the log screen: requests and state changes. An entry may contain a job's title, which is often the first
//! line of its prompt. No other text of a prompt and no API key is logged.

use super::Time;
use super::analytics::AnalyticsKind;
use super::text::CleanText;

/// The operations of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Creates a job.
    Create,
    /// Reads the state of a job.
    GetJob,
    /// Sends a follow-up to a job.
    FollowUp,
    /// Reads page views.
    Views,
    /// Starts the build of a preview of the site.
    Preview,
    /// Reads the state of a build.
    Build,
    /// Reads rows of a report.
    Analytics(AnalyticsKind),
    /// Reads the messages of a conversation with the assistant.
    Conversation,
}

impl Operation {
    pub const ALL: [Self; 12] = [
        Self::Create,
        Self::GetJob,
        Self::FollowUp,
        Self::Views,
        Self::Preview,
        Self::Build,
        Self::Analytics(AnalyticsKind::Visitors),
        Self::Analytics(AnalyticsKind::Searches),
        Self::Analytics(AnalyticsKind::Feedback),
        Self::Analytics(AnalyticsKind::FeedbackByPage),
        Self::Analytics(AnalyticsKind::Questions),
        Self::Conversation,
    ];

    /// Returns the name on the screen, in the log and in the option `--fault`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::GetJob => "get",
            Self::FollowUp => "message",
            Self::Views => "views",
            Self::Preview => "preview",
            Self::Build => "build",
            Self::Analytics(kind) => kind.name(),
            Self::Conversation => "thread",
        }
    }

    /// Whether the response contains what readers of the site wrote. Such text must not get into messages or the log.
    pub fn has_reader_text(self) -> bool {
        match self {
            Self::Analytics(kind) => kind.has_reader_text(),
            Self::Conversation => true,
            _ => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    pub at: Time,
    /// What the entry is about, such as a job's id or title, a date range or a code host.
    pub subject: CleanText,
    pub kind: LogKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogKind {
    /// A request to the service: the HTTP status if there was a response, the duration, and the reason for a failure.
    Request { operation: Operation, status: Option<u16>, millis: u32, reason: Option<CleanText> },
    /// A request to a code host, with the same data as [`Self::Request`]. The entry's subject is the host.
    HostRequest { status: Option<u16>, millis: u32, reason: Option<CleanText> },
    /// A state change of a job.
    Transition(CleanText),
    /// Any other event, for example that a damaged store was replaced or a lease was taken.
    Note(CleanText),
}
