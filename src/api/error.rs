//! Every way in which a request can fail, each with a message for the user: what happened, what it means, what to do.
//!
//! The message depends on the operation: a lost response is harmless for fetching a job, but not for a prompt. The
//! caller decides what to do about the prompt, from [`ApiError::request_effect`].

use super::connect_error::ConnectError;
use super::retry_after::RetryAfterHeader;
use crate::model::Time;
use crate::model::failure::{Failure, FailureKind};
use crate::model::ledger::Wait;
use crate::model::log::Operation;
use crate::model::text::CleanText;
use std::time::Duration;

/// Whether the service may have carried out a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestEffect {
    /// The request never reached the service.
    NotReached,
    /// The service sent a response whose status means that it did not carry out the request.
    Refused,
    /// The service may have carried out the request: the response was lost, came too late or could not be used, or its
    /// status (303, 408, 499 or 5xx) doesn't show what the service has done.
    Unknown,
}

/// Why a response with a 2xx status can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// The body is empty.
    Empty,
    /// The body is an HTML page.
    HtmlPage,
    /// The body is not a JSON object.
    NotJson,
    /// The body is a job without a usable id.
    NoId,
    /// The body has neither totals nor rows of page views, or its rows are not a list.
    NoViews,
    /// The body is a build without an id or a state.
    NoBuild,
    /// The body has no list of the rows of a report.
    NoRows,
    /// The body has no list of the messages of a conversation.
    NoMessages,
}

/// Why a request failed, with one variant per documented error of the service. `Display` is the message for the user.
/// `service_text` is the error text in the response, empty if there is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// No connection was established.
    #[error("{}", connect_error_message(.host, .cause))]
    NotReached { host: CleanText, cause: ConnectError },
    /// The id is empty, `.` or `..`, which can't be a part of a URL's path.
    #[error("The id “{id}” is not valid, so nothing was sent: check whether it was copied in full.")]
    UnusableId { id: CleanText },
    /// No complete response arrived in time.
    #[error("The service did not answer within {}; {}.", duration_text(*.after), uncertain_outcome_advice(*.operation))]
    TimedOut { operation: Operation, after: Duration },
    /// The connection was lost after the request was sent; `detail` is the reason.
    #[error("The connection was lost before the answer arrived ({detail}); {}.", uncertain_outcome_advice(*.operation))]
    Lost { operation: Operation, detail: CleanText },
    /// Status 400.
    #[error("The service refused the request (400{}); {}.", quoted_suffix(.service_text), how_to_correct(*.operation))]
    BadRequest { operation: Operation, service_text: CleanText },
    /// Status 401.
    #[error("The service refused the key (401{}); it is wrong, expired or revoked: create a new one on the API keys page of your Mintlify dashboard.", quoted_suffix(.service_text))]
    Unauthorized { service_text: CleanText },
    /// Status 403.
    #[error("The key isn't allowed to do this (403{}): {}the key lacks the {} scope, or its allowlist does not include this computer's address; check the API keys page of your Mintlify dashboard.", quoted_suffix(.service_text), subscription_plan_hint(*.operation), permission_name(*.operation))]
    Forbidden { operation: Operation, service_text: CleanText },
    /// Status 404. If the response is an HTML page instead of an error of the service, the base URL is probably wrong.
    #[error("{}", not_found_text(*.operation, .service_text, *.is_html_page))]
    NotFound { operation: Operation, service_text: CleanText, is_html_page: bool },
    /// Status 429.
    #[error("Limit reached (429{}); the request was not carried out. Try again {retry}.", quoted_suffix(.service_text))]
    Limited { retry: RetryAfterHeader, service_text: CleanText },
    /// Status 408, or 499 as proxies use it: the server gave up while the request was in progress.
    #[error("The service timed out ({status}{}); {}.", quoted_suffix(.service_text), uncertain_outcome_advice(*.operation))]
    ServerTimeout { operation: Operation, status: u16, service_text: CleanText },
    /// A 4xx status without a variant of its own.
    #[error("The service refused the request ({status}{}); {}.", quoted_suffix(.service_text), how_to_correct(*.operation))]
    Rejected { operation: Operation, status: u16, service_text: CleanText },
    /// A 5xx status.
    #[error("The service failed ({status}{}); {}.", quoted_suffix(.service_text), uncertain_outcome_advice(*.operation))]
    Failed { operation: Operation, status: u16, service_text: CleanText },
    /// A 3xx status. A redirect is never followed, because the key must not be sent to another host. `host` is the host
    /// that the redirect points to.
    #[error("{}", redirect_text(*.operation, *.status, .host.as_ref()))]
    Redirected { operation: Operation, status: u16, host: Option<CleanText> },
    /// A 2xx status with an unusable response; `excerpt` is its beginning.
    #[error("The service answered {status} with {}; {}.", unreadable_text(*.why, .excerpt), uncertain_outcome_advice(*.operation))]
    Unreadable { operation: Operation, status: u16, why: Unreadable, excerpt: CleanText },
    /// The response exceeds the size limit.
    #[error("The answer is larger than {limit_mib} MiB and was not read completely; {}.", uncertain_outcome_advice(*.operation))]
    TooLarge { operation: Operation, limit_mib: usize },
    /// The response is a job, but not the requested one.
    #[error("The service returned a different job ({got}), so the answer was ignored; {}.", uncertain_outcome_advice(*.operation))]
    OtherJob { operation: Operation, got: CleanText },
}

impl ApiError {
    /// Returns how far the request got: not sent, refused, or perhaps carried out.
    pub fn request_effect(&self) -> RequestEffect {
        match self {
            Self::NotReached { .. } | Self::UnusableId { .. } => RequestEffect::NotReached,
            Self::BadRequest { .. }
            | Self::Unauthorized { .. }
            | Self::Forbidden { .. }
            | Self::NotFound { .. }
            | Self::Limited { .. }
            | Self::Rejected { .. } => RequestEffect::Refused,
            // 303 ("See Other") is the only redirect that can follow completed work. Any other redirect means that no
            // server at this address accepted the request: it leads to a login page, from http to https, or to a
            // corrected path.
            Self::Redirected { status: 303, .. } => RequestEffect::Unknown,
            Self::Redirected { .. } => RequestEffect::Refused,
            Self::TimedOut { .. }
            | Self::Lost { .. }
            | Self::ServerTimeout { .. }
            | Self::Failed { .. }
            | Self::Unreadable { .. }
            | Self::TooLarge { .. }
            | Self::OtherJob { .. } => RequestEffect::Unknown,
        }
    }

    /// Returns the kind of the failure and the message. `now` is the service's time, from which the wait after a 429 is
    /// calculated.
    pub fn failure(&self, now: Time) -> Failure {
        let kind = match self {
            Self::NotReached { cause: ConnectError::NoCertificates(_), .. } | Self::UnusableId { .. } => {
                FailureKind::Local
            }
            Self::NotReached { .. }
            | Self::TimedOut { .. }
            | Self::Lost { .. }
            | Self::ServerTimeout { .. }
            | Self::Failed { .. } => FailureKind::Offline,
            Self::Unauthorized { .. } | Self::Forbidden { .. } => FailureKind::KeyRefused,
            // A 404 means that a job is gone, except a 404 with an HTML page, which comes from a wrong base URL.
            Self::NotFound { is_html_page: false, .. } => FailureKind::NotFound,
            Self::Limited { retry, .. } => FailureKind::Limited(retry.wait(now)),
            Self::NotFound { is_html_page: true, .. }
            | Self::BadRequest { .. }
            | Self::Rejected { .. }
            | Self::Redirected { .. }
            | Self::Unreadable { .. }
            | Self::TooLarge { .. }
            | Self::OtherJob { .. } => FailureKind::Service,
        };
        Failure::new(kind, &self.to_string())
    }

    /// Returns the wait that a 429 requires, or `None` for any other error. `now` is the service's time.
    pub fn wait(&self, now: Time) -> Option<Wait> {
        match self {
            Self::Limited { retry, .. } => Some(retry.wait(now)),
            _ => None,
        }
    }

    /// Returns a short reason for the log, without the service's own text if it may repeat a prompt.
    pub fn log_reason(&self) -> CleanText {
        let text = match self {
            Self::NotReached { cause, .. } => short_cause(cause),
            Self::UnusableId { .. } => "unusable id".to_owned(),
            Self::TimedOut { after, .. } => format!("timed out after {}", duration_text(*after)),
            Self::Lost { detail, .. } => format!("connection lost: {detail}"),
            Self::BadRequest { operation, service_text } => reason_with_text("bad request", *operation, service_text),
            Self::Unauthorized { .. } => "key refused".to_owned(),
            Self::Forbidden { .. } => "key not allowed".to_owned(),
            Self::NotFound { is_html_page: true, .. } => "not found, answered with a web page".to_owned(),
            Self::NotFound { .. } => "not found".to_owned(),
            Self::Limited { retry: RetryAfterHeader::Missing, .. } => {
                "limit reached, retry in about a minute".to_owned()
            }
            Self::Limited { retry, .. } => format!("limit reached, retry {retry}"),
            Self::ServerTimeout { .. } => "service timed out".to_owned(),
            Self::Rejected { operation, service_text, .. } => reason_with_text("refused", *operation, service_text),
            Self::Failed { operation, service_text, .. } => {
                reason_with_text("service failed", *operation, service_text)
            }
            Self::Redirected { host: Some(host), .. } => format!("redirect to {host}, not followed"),
            Self::Redirected { host: None, .. } => "redirect, not followed".to_owned(),
            Self::Unreadable { why, .. } => short_unreadable_text(*why).to_owned(),
            Self::TooLarge { limit_mib, .. } => format!("answer over {limit_mib} MiB"),
            Self::OtherJob { .. } => "returned a different job".to_owned(),
        };
        CleanText::title(&text, 120)
    }
}

fn connect_error_message(host: &CleanText, cause: &ConnectError) -> String {
    match cause {
        ConnectError::UnknownHost => {
            format!("The host name {host} was not found, so nothing was sent: check the network and the base URL.")
        }
        ConnectError::Refused => {
            format!("Could not reach {host} (connection refused), so nothing was sent: check the base URL.")
        }
        ConnectError::NoRoute => {
            format!("Could not reach {host} (no route), so nothing was sent: check the network.")
        }
        ConnectError::TimedOut => {
            format!("Could not connect to {host} in time, so nothing was sent: check the network and the base URL.")
        }
        ConnectError::Tls(reason) => format!(
            "No secure connection to {host}: {reason}, so nothing was sent: check the base URL, the clock and the certificates (for a company's own CA, set ca_file in the profile)."
        ),
        ConnectError::Proxy(reason) => format!(
            "Could not reach {host} through the proxy ({reason}), so nothing was sent: check HTTPS_PROXY, ALL_PROXY and NO_PROXY."
        ),
        ConnectError::NoCertificates(reason) => format!(
            "This computer can't check certificates ({reason}), so nothing was sent: install its root certificates (the package ca-certificates), or set ca_file in the profile or SSL_CERT_FILE."
        ),
        ConnectError::Other(reason) => {
            format!("Could not connect to {host} ({reason}), so nothing was sent: check the network and the base URL.")
        }
    }
}

fn short_cause(cause: &ConnectError) -> String {
    match cause {
        ConnectError::UnknownHost => "name not found".to_owned(),
        ConnectError::Refused => "connection refused".to_owned(),
        ConnectError::NoRoute => "no route".to_owned(),
        ConnectError::TimedOut => "no connection in time".to_owned(),
        ConnectError::Tls(reason) => format!("no TLS: {reason}"),
        ConnectError::Proxy(reason) => format!("proxy: {reason}"),
        ConnectError::NoCertificates(_) => "no root certificates".to_owned(),
        ConnectError::Other(reason) => format!("no connection: {reason}"),
    }
}

fn not_found_text(operation: Operation, service_text: &CleanText, is_html_page: bool) -> String {
    let quoted = quoted_suffix(service_text);
    if is_html_page {
        return format!(
            "A web page answered instead of the service (404{quoted}), so the base URL is probably wrong: check it and the project id."
        );
    }
    match operation {
        Operation::Create => {
            format!(
                "The project was not found (404{quoted}), so no job was started: check the project id and the base URL."
            )
        }
        Operation::GetJob => format!("The service has no such job (404{quoted}): check the id and the project."),
        Operation::FollowUp => {
            format!(
                "The service has no such job (404{quoted}), so the follow-up was rejected: start a new job instead."
            )
        }
        Operation::Views | Operation::Analytics(_) | Operation::Preview => {
            format!("The project was not found (404{quoted}): check the project id and the base URL.")
        }
        Operation::Build => format!("The service doesn't know this build (404{quoted}): build the preview again."),
        Operation::Conversation => {
            format!("The service doesn't have this conversation (404{quoted}): load the questions again.")
        }
    }
}

fn redirect_text(operation: Operation, status: u16, host: Option<&CleanText>) -> String {
    let to = host.map_or_else(String::new, |host| format!(" to {host}"));
    let meaning =
        if status == 303 { uncertain_outcome_advice(operation) } else { "nothing was done: check the base URL" };
    format!(
        "The service redirected the request ({status}{to}). To protect the key, docdeck follows no redirect; {meaning}."
    )
}

/// Returns a phrase for a request whose response is missing or unusable: what the service may have done nevertheless,
/// and what to do next.
fn uncertain_outcome_advice(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => {
            "the job may have been started anyway, so docdeck does not resend the prompt: look for the job on your Mintlify dashboard"
        }
        Operation::FollowUp => {
            "the follow-up may have arrived anyway, so docdeck does not send it again automatically: check the job"
        }
        Operation::Preview => "the preview may be built anyway",
        Operation::GetJob | Operation::Views | Operation::Build | Operation::Analytics(_) | Operation::Conversation => {
            "nothing is lost: try again in a moment"
        }
    }
}

fn how_to_correct(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "no job was started: correct the prompt and send it again",
        Operation::FollowUp => "the follow-up was rejected: correct it and send it again",
        Operation::GetJob => "check the id and the project",
        Operation::Preview => "nothing is built: check that the branch exists",
        Operation::Build => "build the preview again",
        Operation::Views => "try another range or another block of rows",
        Operation::Analytics(_) => "try another range, or load the report from the start",
        Operation::Conversation => "load the questions again",
    }
}

fn permission_name(operation: Operation) -> &'static str {
    match operation {
        Operation::Create | Operation::FollowUp | Operation::Preview => "write",
        Operation::GetJob | Operation::Views | Operation::Build | Operation::Analytics(_) | Operation::Conversation => {
            "read"
        }
    }
}

/// Returns another possible reason for a 403, which is that the project's plan doesn't include the operation. Returns
/// an empty text if all plans include it.
fn subscription_plan_hint(operation: Operation) -> &'static str {
    if operation == Operation::Preview { "the project's plan may not include previews, " } else { "" }
}

fn unreadable_text(why: Unreadable, excerpt: &CleanText) -> String {
    let what = match why {
        Unreadable::Empty => return "nothing in it".to_owned(),
        Unreadable::HtmlPage => "a web page, so the base URL may be wrong",
        Unreadable::NotJson => "something other than a JSON object",
        Unreadable::NoId => "a job that has no id",
        Unreadable::NoViews => "something other than page views",
        Unreadable::NoBuild => "something other than a build",
        Unreadable::NoRows => "something other than the requested report",
        Unreadable::NoMessages => "something other than a conversation",
    };
    if excerpt.is_empty() { what.to_owned() } else { format!("{what} (“{excerpt}”)") }
}

fn short_unreadable_text(why: Unreadable) -> &'static str {
    match why {
        Unreadable::Empty => "empty answer",
        Unreadable::HtmlPage => "web page instead of JSON",
        Unreadable::NotJson => "answer is not a JSON object",
        Unreadable::NoId => "job without an id",
        Unreadable::NoViews => "answer without views",
        Unreadable::NoBuild => "answer without a build",
        Unreadable::NoRows => "answer without the report",
        Unreadable::NoMessages => "answer without messages",
    }
}

fn quoted_suffix(service_text: &CleanText) -> String {
    if service_text.is_empty() { String::new() } else { format!(": “{service_text}”") }
}

fn reason_with_text(what: &str, operation: Operation, service_text: &CleanText) -> String {
    match operation {
        Operation::Create | Operation::FollowUp => what.to_owned(),
        _ if !service_text.is_empty() => format!("{what}: {service_text}"),
        _ => what.to_owned(),
    }
}

fn duration_text(duration: Duration) -> String {
    match duration.as_millis() {
        millis @ 0..1000 => format!("{millis} ms"),
        _ => format!("{} s", duration.as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Time {
        text.parse().expect("a time")
    }

    #[test]
    fn see_other_is_the_only_redirect_that_leaves_a_prompt_unconfirmed() {
        let redirect = |status| ApiError::Redirected { operation: Operation::Create, status, host: None };
        for status in [300, 301, 302, 304, 307, 308] {
            assert_eq!(redirect(status).request_effect(), RequestEffect::Refused, "{status}");
        }
        assert_eq!(redirect(303).request_effect(), RequestEffect::Unknown);
    }

    #[test]
    fn the_wait_after_a_429_ends_by_the_services_clock() {
        let now = moment("2026-11-20T12:00:00Z");
        let limited = ApiError::Limited { retry: RetryAfterHeader::Seconds(90), service_text: CleanText::default() };
        let until = moment("2026-11-20T12:01:30Z");
        let wait = Wait { until, is_estimate: false };
        assert_eq!(limited.wait(now), Some(wait));
        assert_eq!(limited.failure(now).kind, FailureKind::Limited(wait));
        assert_eq!(limited.log_reason().as_str(), "limit reached, retry in 90 s");
        let silent = ApiError::Limited { retry: RetryAfterHeader::Missing, service_text: CleanText::default() };
        assert!(silent.wait(now).is_some_and(|wait| wait.is_estimate));
        assert!(silent.to_string().contains("about a minute"), "{silent}");
        let other = ApiError::Unauthorized { service_text: CleanText::default() };
        assert_eq!(other.wait(now), None);
    }

    #[test]
    fn a_404_page_does_not_mark_a_job_as_gone() {
        let now = moment("2026-11-20T12:00:00Z");
        let missing = |is_html_page| ApiError::NotFound {
            operation: Operation::GetJob,
            service_text: CleanText::default(),
            is_html_page,
        };
        assert_eq!(missing(false).failure(now).kind, FailureKind::NotFound);
        assert_eq!(missing(true).failure(now).kind, FailureKind::Service);
        assert!(missing(true).to_string().contains("base URL"));
    }

    #[test]
    fn the_log_does_not_repeat_text_that_may_contain_a_prompt() {
        let failed = |operation| ApiError::Failed {
            operation,
            status: 500,
            service_text: CleanText::line("no: my secret plan"),
        };
        assert!(!failed(Operation::Create).log_reason().as_str().contains("plan"));
        assert!(failed(Operation::Views).log_reason().as_str().contains("plan"));
    }
}
