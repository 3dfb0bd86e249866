//! How the talk with the service goes, as the header says it.

use super::Time;
use super::text::CleanText;

/// State of the connection as last seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Connection {
    /// Nothing was asked yet.
    #[default]
    Unknown,
    /// The last answer was a good one.
    Live,
    /// No network, or the service is unwell; one probe at `next_try`, none where no job is there to probe with.
    Offline { reason: CleanText, next_try: Option<Time> },
    /// Polling rests until then because the service said 429.
    Resting { until: Time },
    /// The key was refused; polling stopped until the user asks again.
    Refused { reason: CleanText },
}
