//! The state of the connection to the service, for the header of the dashboard. It can be written as a line of text,
//! for docdeck processes that don't poll the service themselves.

use super::Time;
use super::ledger::Wait;
use super::text::CleanText;

/// The last known state of the connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ConnectionState {
    #[default]
    Unknown,
    /// The first request is being sent.
    Connecting,
    /// A request succeeded.
    Ready,
    /// The service's responses can't be used: they are not JSON, are pages from a proxy, or reject requests as invalid.
    Unusable { reason: CleanText },
    /// The network or the service is down. One request tests the connection again at `next_try`; `None` if there is no
    /// job to fetch for this test.
    Offline { reason: CleanText, next_try: Option<Time> },
    /// Polling is paused because the service responded with 429.
    Limited(Wait),
    /// The service rejected the API key; polling is stopped until the user retries.
    KeyRefused { reason: CleanText },
}

/// What [`ConnectionState::to_line`] writes in place of an unknown time.
const NO_TIME: &str = "-";
/// What [`ConnectionState::to_line`] writes after a time that docdeck estimated because the service gave none.
const ESTIMATE_WORD: &str = "estimate";

impl ConnectionState {
    /// Whether the state is also reported to processes that don't poll: the service is unreachable, sends unusable
    /// responses or limits requests. A rejected key concerns only the process that uses it.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Unusable { .. } | Self::Offline { .. } | Self::Limited(_))
    }

    /// Formats the state for [`ConnectionState::parse`]: a word and, for an outage, a Unix time in milliseconds (`-` if
    /// unknown) and the reason. A rate limit has no reason, but `estimate` follows its time if the time is an estimate.
    /// States that concern only this process, such as a rejected key, are written as `unknown`.
    pub fn to_line(&self) -> String {
        let ms = |at: &Time| at.timestamp_millis().to_string();
        match self {
            Self::Offline { reason, next_try } => {
                let at = next_try.as_ref().map_or_else(|| NO_TIME.to_owned(), ms);
                format!("offline {at} {reason}")
            }
            Self::Unusable { reason } => format!("unusable {NO_TIME} {reason}"),
            Self::Limited(wait) if wait.is_estimate => format!("resting {} {ESTIMATE_WORD}", ms(&wait.until)),
            Self::Limited(wait) => format!("resting {}", ms(&wait.until)),
            Self::Ready => "live".to_owned(),
            Self::Unknown | Self::Connecting | Self::KeyRefused { .. } => "unknown".to_owned(),
        }
    }

    /// Parses the output of [`ConnectionState::to_line`]; returns `None` for anything else.
    pub fn parse(words: &str) -> Option<Self> {
        let mut parts = words.splitn(3, ' ');
        let (state, at, reason) = (parts.next()?, parts.next(), parts.next());
        let moment = |at: &str| at.parse().ok().and_then(Time::from_timestamp_millis);
        Some(match (state, at) {
            ("live", None) => Self::Ready,
            ("unknown", None) => Self::Unknown,
            ("resting", Some(at)) => {
                Self::Limited(Wait { until: moment(at)?, is_estimate: reason == Some(ESTIMATE_WORD) })
            }
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
    fn a_state_is_formatted_and_parsed_without_loss() {
        let (at, reason) = (Time::from_timestamp_millis(1_800_000_000_123), CleanText::line("No network: try later."));
        let states = [
            ConnectionState::Ready,
            ConnectionState::Unknown,
            ConnectionState::Limited(Wait { until: at.expect("in range"), is_estimate: false }),
            ConnectionState::Limited(Wait { until: at.expect("in range"), is_estimate: true }),
            ConnectionState::Unusable { reason: reason.clone() },
            ConnectionState::Offline { reason: reason.clone(), next_try: at },
            ConnectionState::Offline { reason, next_try: None },
        ];
        for connection in states {
            assert_eq!(ConnectionState::parse(&connection.to_line()), Some(connection));
        }
        let refused = ConnectionState::KeyRefused { reason: CleanText::line("The key is not accepted.") };
        let parsed = ConnectionState::parse(&refused.to_line());
        assert_eq!(parsed, Some(ConnectionState::Unknown), "another instance may have another key");
        for other in ["", "offline", "offline soon x", "resting", "resting x", "unusable", "unusable x", "better 1"] {
            assert_eq!(ConnectionState::parse(other), None, "{other}");
        }
    }
}
