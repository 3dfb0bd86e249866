//! The state of the connection to the service, for the header, and as a line of text for the instances that don't poll.

use super::Time;
use super::ledger::Wait;
use super::text::CleanText;

/// State of the connection as last seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Connection {
    /// No request was made yet.
    #[default]
    Unknown,
    /// The first request is on its way.
    Connecting,
    /// A request succeeded.
    Ready,
    /// There are answers, but none that could be used: no JSON, a page of something in between, a request refused as such.
    Unusable { reason: CleanText },
    /// No network, or the service is unwell; one probe at `next_try`, none where no job is there to probe with.
    Offline { reason: CleanText, next_try: Option<Time> },
    /// Polling pauses because the service answered 429.
    Limited(Wait),
    /// The key was refused; polling stopped until the user asks again.
    Refused { reason: CleanText },
}

/// No moment is known.
const NO_TIME: &str = "-";
/// Marks a moment that the service did not name.
const ESTIMATE: &str = "estimate";

impl Connection {
    /// Whether it is worth telling the instances that do not poll: a service that can't be reached, gives no answer of use
    /// or asks for a rest. A refused key is one's own.
    pub fn is_trouble(&self) -> bool {
        matches!(self, Self::Unusable { .. } | Self::Offline { .. } | Self::Limited(_))
    }

    /// As a line of text that [`Connection::parse`] reads: a word, then milliseconds UTC, then the reason.
    pub fn words(&self) -> String {
        let ms = |at: &Time| at.timestamp_millis().to_string();
        match self {
            Self::Offline { reason, next_try } => {
                let at = next_try.as_ref().map_or_else(|| NO_TIME.to_owned(), ms);
                format!("offline {at} {reason}")
            }
            Self::Unusable { reason } => format!("unusable {NO_TIME} {reason}"),
            Self::Limited(wait) if wait.is_estimate => format!("resting {} {ESTIMATE}", ms(&wait.until)),
            Self::Limited(wait) => format!("resting {}", ms(&wait.until)),
            Self::Ready => "live".to_owned(),
            Self::Unknown | Self::Connecting | Self::Refused { .. } => "unknown".to_owned(),
        }
    }

    /// What [`Connection::words`] said; none for anything else.
    pub fn parse(words: &str) -> Option<Self> {
        let mut parts = words.splitn(3, ' ');
        let (state, at, reason) = (parts.next()?, parts.next(), parts.next());
        let moment = |at: &str| at.parse().ok().and_then(Time::from_timestamp_millis);
        Some(match (state, at) {
            ("live", None) => Self::Ready,
            ("unknown", None) => Self::Unknown,
            ("resting", Some(at)) => Self::Limited(Wait { until: moment(at)?, is_estimate: reason == Some(ESTIMATE) }),
            ("unusable", Some(NO_TIME)) => Self::Unusable { reason: CleanText::line(reason?) },
            ("offline", Some(at)) => {
                let next_try = if at == NO_TIME { None } else { Some(moment(at)?) };
                Self::Offline { reason: CleanText::line(reason?), next_try }
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_to_other_instances_comes_back_as_it_was() {
        let (at, reason) = (Time::from_timestamp_millis(1_800_000_000_123), CleanText::line("No network: try later."));
        let told = [
            Connection::Ready,
            Connection::Unknown,
            Connection::Limited(Wait { until: at.expect("in range"), is_estimate: false }),
            Connection::Limited(Wait { until: at.expect("in range"), is_estimate: true }),
            Connection::Unusable { reason: reason.clone() },
            Connection::Offline { reason: reason.clone(), next_try: at },
            Connection::Offline { reason, next_try: None },
        ];
        for connection in told {
            assert_eq!(Connection::parse(&connection.words()), Some(connection));
        }
        let refused = Connection::Refused { reason: CleanText::line("The key is not accepted.") };
        assert_eq!(Connection::parse(&refused.words()), Some(Connection::Unknown), "another one may have another key");
        for other in ["", "offline", "offline soon x", "resting", "resting x", "unusable", "unusable x", "better 1"] {
            assert_eq!(Connection::parse(other), None, "{other}");
        }
    }
}
