//! Every way in which a request to a code host can fail, each with a message for the user.

use crate::api::ConnectError;
use crate::model::text::CleanText;
use std::time::Duration;

/// Why a request to a code host failed. `Display` is the message for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{host}: {kind}")]
pub struct HostError {
    /// The host name, as in the links to pull requests.
    pub host: CleanText,
    pub kind: HostErrorKind,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostErrorKind {
    /// The configured address can't be used.
    #[error("the address of its API is invalid; check rest_url and graphql_url in [hosts]")]
    InvalidAddress,
    /// No connection was established.
    #[error("could not be reached ({})", reason(.0))]
    NotReached(ConnectError),
    /// Data that an action needs could not be requested, so the action was not sent.
    #[error("{0}")]
    NotSent(Box<HostErrorKind>),
    #[error("no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// The connection was lost after the request was sent.
    #[error("the connection was lost before the answer arrived ({0})")]
    Lost(CleanText),
    /// Status 401.
    #[error("the token was refused (401); it is wrong, expired or revoked")]
    Unauthorized,
    /// GitLab's 401 in response to an action. GitLab also sends it if the token is valid, but the user lacks the
    /// permission.
    #[error("refused (401); you don't have permission, you have already done it, or the token is wrong")]
    ActionRefused,
    /// GitLab's 405 in response to a merge: the merge request can't be merged now. GitLab doesn't report the reason.
    #[error("refused (405); an approval may be missing, or the pipeline may be running")]
    MergeRefused,
    /// Status 403, or the corresponding error in a GraphQL response.
    #[error("the token can't read this{}", reason_suffix(.0))]
    Forbidden(CleanText),
    /// Status 404, or the token has no access to the repository.
    #[error("not found, or the token has no access to it")]
    NotFound,
    /// The limit of requests is used up.
    #[error("rate limit reached")]
    Limited,
    /// An error status without a variant of its own.
    #[error("answered {status}{}", reason_suffix(&without_status_code(.text, *.status)))]
    Failed { status: u16, text: CleanText },
    /// A successful response that can't be used.
    #[error("the answer could not be read{}", reason_suffix(.0))]
    Unreadable(CleanText),
    #[error("the answer is larger than {limit_mib} MiB")]
    TooLarge { limit_mib: usize },
    /// The host doesn't support the action, or the action has no effect on this pull request. The text is the reason.
    #[error("{0}")]
    Unsupported(CleanText),
    /// The response is about another pull request than the requested one.
    #[error("the answer is about another pull request")]
    OtherPullRequest,
}

impl HostErrorKind {
    /// Whether the token lacks a permission.
    pub fn is_forbidden(&self) -> bool {
        matches!(self, Self::Forbidden(_))
    }

    /// Whether other requests to the host would fail as well, since the host, its limit or the token caused the error.
    /// If `false`, the error affects only the requested pull request or operation.
    pub fn affects_other_requests(&self) -> bool {
        match self {
            Self::InvalidAddress
            | Self::NotReached(_)
            | Self::TimedOut(_)
            | Self::Lost(_)
            | Self::Unauthorized
            | Self::Limited => true,
            Self::NotSent(why) => why.affects_other_requests(),
            Self::Failed { status, .. } => *status >= 500,
            Self::ActionRefused
            | Self::MergeRefused
            | Self::Forbidden(_)
            | Self::NotFound
            | Self::Unreadable(_)
            | Self::TooLarge { .. }
            | Self::Unsupported(_)
            | Self::OtherPullRequest => false,
        }
    }
}

/// Returns why no connection was established, as a phrase for the message.
fn reason(error: &ConnectError) -> &str {
    match error {
        ConnectError::UnknownHost => "host name not found",
        ConnectError::Refused => "connection refused",
        ConnectError::NoRoute => "no route",
        ConnectError::TimedOut => "timed out",
        ConnectError::Tls(reason)
        | ConnectError::Proxy(reason)
        | ConnectError::NoCertificates(reason)
        | ConnectError::Other(reason) => reason.as_str(),
    }
}

/// Returns the text without the status code at its start. GitLab writes texts such as `405 Method Not Allowed`.
fn without_status_code(text: &CleanText, status: u16) -> CleanText {
    let rest = text.as_str().strip_prefix(&status.to_string());
    let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(' '));
    rest.map_or_else(|| text.clone(), CleanText::line)
}

fn reason_suffix(text: &CleanText) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_not_repeated() {
        let sentence = |text: &str| HostErrorKind::Failed { status: 405, text: CleanText::line(text) }.to_string();
        assert_eq!(sentence("405 Method Not Allowed"), "answered 405: Method Not Allowed");
        assert_eq!(sentence("Not mergeable"), "answered 405: Not mergeable");
        assert_eq!(sentence("4050 files"), "answered 405: 4050 files");
        assert_eq!([sentence("405"), sentence("")], ["answered 405"; 2]);
    }
}
