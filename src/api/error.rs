//! Every way in which a request fails, each with a user's sentence: what happened, what it means, what to do.
//!
//! The sentence depends on the operation, because a lost answer means nothing for a look at a job and much for a prompt.
//! What becomes of the prompt is decided above, by [`ApiError::reached`].

use super::connect_error::ConnectError;
use super::retry_after::RetryAfterHeader;
use crate::model::Time;
use crate::model::failure::{Failure, FailureKind};
use crate::model::ledger::Wait;
use crate::model::log::Operation;
use crate::model::text::CleanText;
use std::time::Duration;

/// Whether the service may have carried a request out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// Never reached the service.
    No,
    /// It answered, in full, that it did not do it.
    Refused,
    /// It may have been carried out: lost answer, timeout after the connection stood, 5xx, unreadable 2xx.
    Maybe,
}

/// Why a good status came with an answer that can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// There was no body.
    Empty,
    /// A page for browsers.
    Page,
    /// Not a JSON object.
    NotJson,
    /// A job without an id.
    NoId,
    /// Neither totals nor rows.
    NoViews,
}

/// Every error of api.md as its own variant; `Display` is the sentence. `words` are the service's own, empty when it had
/// none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// No connection came about.
    #[error("{}", not_reached(.host, .cause))]
    NotReached { host: CleanText, cause: ConnectError },
    /// The id is `.` or `..`, which no address can carry.
    #[error("The id “{id}” can't stand in an address, so nothing was sent: look whether it was copied in full.")]
    UnusableId { id: CleanText },
    /// No answer, or not all of it, in time.
    #[error("The service did not answer within {}; {}.", seconds(*.after), maybe_done(*.operation))]
    TimedOut { operation: Operation, after: Duration },
    /// The connection broke after the request went out; with the reason.
    #[error("The connection broke before the answer was there ({detail}); {}.", maybe_done(*.operation))]
    Lost { operation: Operation, detail: CleanText },
    /// 400.
    #[error("The service refused the request (400{}); {}.", said(.words), correct_it(*.operation))]
    BadRequest { operation: Operation, words: CleanText },
    /// 401.
    #[error("The service does not accept the key (401{}); it is wrong, expired or revoked: make a new one on the API keys page of the service's dashboard.", said(.words))]
    Unauthorized { words: CleanText },
    /// 403.
    #[error("The key may not do this (403{}): it lacks the {} scope, or this computer's address is not on its list; look at the API keys page of the service's dashboard.", said(.words), scope(*.operation))]
    Forbidden { operation: Operation, words: CleanText },
    /// 404. A page for browsers in place of the service's error says more about the base URL than about the job.
    #[error("{}", not_found(*.operation, .words, *.is_page))]
    NotFound { operation: Operation, words: CleanText, is_page: bool },
    /// 429.
    #[error("Limit reached (429{}); the request was not carried out. Try again {retry}.", said(.words))]
    Limited { retry: RetryAfterHeader, words: CleanText },
    /// 408, and 499 as proxies use it: given up while the request was under way.
    #[error("The service gave up waiting ({status}{}); {}.", said(.words), maybe_done(*.operation))]
    GaveUp { operation: Operation, status: u16, words: CleanText },
    /// Any other 4xx.
    #[error("The service refused the request ({status}{}); {}.", said(.words), correct_it(*.operation))]
    Rejected { operation: Operation, status: u16, words: CleanText },
    /// 5xx.
    #[error("The service failed ({status}{}); {}.", said(.words), maybe_done(*.operation))]
    Failed { operation: Operation, status: u16, words: CleanText },
    /// 3xx, never followed: the key stays with the host that it was given for. `host` is where it points.
    #[error("{}", redirected(*.operation, *.status, .host.as_ref()))]
    Redirected { operation: Operation, status: u16, host: Option<CleanText> },
    /// A good status with an answer that can't be used; `excerpt` is how it begins.
    #[error("The service answered {status} with {}; {}.", unreadable(*.why, .excerpt), maybe_done(*.operation))]
    Unreadable { operation: Operation, status: u16, why: Unreadable, excerpt: CleanText },
    /// The answer is longer than any that makes sense.
    #[error("The answer is larger than {limit_mib} MiB and was not read to its end; {}.", maybe_done(*.operation))]
    TooLarge { operation: Operation, limit_mib: usize },
    /// The answer is a job, but not the one that was asked for.
    #[error("The service answered with another job ({got}), so the answer was dropped; {}.", maybe_done(*.operation))]
    OtherJob { operation: Operation, got: CleanText },
}

impl ApiError {
    /// What this means for a prompt that was sent.
    pub fn reached(&self) -> Reached {
        match self {
            Self::NotReached { .. } | Self::UnusableId { .. } => Reached::No,
            Self::BadRequest { .. }
            | Self::Unauthorized { .. }
            | Self::Forbidden { .. }
            | Self::NotFound { .. }
            | Self::Limited { .. }
            | Self::Rejected { .. } => Reached::Refused,
            // "See Other" is the one redirect that follows work that was done. The others say that nobody took the
            // request at this address: a login page, a move from http to https, a missing part of the path.
            Self::Redirected { status: 303, .. } => Reached::Maybe,
            Self::Redirected { .. } => Reached::Refused,
            Self::TimedOut { .. }
            | Self::Lost { .. }
            | Self::GaveUp { .. }
            | Self::Failed { .. }
            | Self::Unreadable { .. }
            | Self::TooLarge { .. }
            | Self::OtherJob { .. } => Reached::Maybe,
        }
    }

    /// Kind and sentence for the core. `now` is the service's time, for `Retry-After` in seconds (one minute when a 429
    /// says nothing).
    pub fn failure(&self, now: Time) -> Failure {
        let kind = match self {
            Self::NotReached { cause: ConnectError::NoCertificates(_), .. } | Self::UnusableId { .. } => {
                FailureKind::Local
            }
            Self::NotReached { .. }
            | Self::TimedOut { .. }
            | Self::Lost { .. }
            | Self::GaveUp { .. }
            | Self::Failed { .. } => FailureKind::Offline,
            Self::Unauthorized { .. } | Self::Forbidden { .. } => FailureKind::KeyRefused,
            // A wrong base URL must not make every job look gone.
            Self::NotFound { is_page: false, .. } => FailureKind::NotFound,
            Self::Limited { retry, .. } => FailureKind::Limited(retry.wait(now)),
            Self::NotFound { is_page: true, .. }
            | Self::BadRequest { .. }
            | Self::Rejected { .. }
            | Self::Redirected { .. }
            | Self::Unreadable { .. }
            | Self::TooLarge { .. }
            | Self::OtherJob { .. } => FailureKind::Service,
        };
        Failure::new(kind, &self.to_string())
    }

    /// Some for a 429: until when to send nothing (service's time).
    pub fn wait(&self, now: Time) -> Option<Wait> {
        match self {
            Self::Limited { retry, .. } => Some(retry.wait(now)),
            _ => None,
        }
    }

    /// A short reason for the log. Without the service's words where these may repeat a prompt.
    pub fn short(&self) -> CleanText {
        let text = match self {
            Self::NotReached { cause, .. } => short_cause(cause),
            Self::UnusableId { .. } => "unusable id".to_owned(),
            Self::TimedOut { after, .. } => format!("timed out after {}", seconds(*after)),
            Self::Lost { detail, .. } => format!("connection lost: {detail}"),
            Self::BadRequest { operation, words } => quote("bad request", *operation, words),
            Self::Unauthorized { .. } => "key not accepted".to_owned(),
            Self::Forbidden { .. } => "key may not do this".to_owned(),
            Self::NotFound { is_page: true, .. } => "not found, answered with a web page".to_owned(),
            Self::NotFound { .. } => "not found".to_owned(),
            Self::Limited { retry: RetryAfterHeader::Unsaid, .. } => {
                "limit reached, retry in about a minute".to_owned()
            }
            Self::Limited { retry, .. } => format!("limit reached, retry {retry}"),
            Self::GaveUp { .. } => "service gave up waiting".to_owned(),
            Self::Rejected { operation, words, .. } => quote("refused", *operation, words),
            Self::Failed { operation, words, .. } => quote("service failed", *operation, words),
            Self::Redirected { host: Some(host), .. } => format!("redirect to {host}, not followed"),
            Self::Redirected { host: None, .. } => "redirect, not followed".to_owned(),
            Self::Unreadable { why, .. } => short_unreadable(*why).to_owned(),
            Self::TooLarge { limit_mib, .. } => format!("answer over {limit_mib} MiB"),
            Self::OtherJob { .. } => "answered with another job".to_owned(),
        };
        CleanText::title(&text, 120)
    }
}

fn not_reached(host: &CleanText, cause: &ConnectError) -> String {
    match cause {
        ConnectError::Name => {
            format!("The name of {host} was not found, so nothing was sent: check the network and the base URL.")
        }
        ConnectError::Refused => {
            format!("Nobody answers at {host} (connection refused), so nothing was sent: check the base URL.")
        }
        ConnectError::NoRoute => {
            format!("There is no way to {host} from here, so nothing was sent: check the network.")
        }
        ConnectError::TimedOut => {
            format!(
                "No connection to {host} came about in time, so nothing was sent: check the network and the base URL."
            )
        }
        ConnectError::Tls(reason) => format!(
            "No secure connection to {host} came about, {reason}, so nothing was sent: check base URL, clock and certificates (a company's own: ca_file in the profile)."
        ),
        ConnectError::Proxy(reason) => format!(
            "The proxy did not lead to {host} ({reason}), so nothing was sent: check HTTPS_PROXY, ALL_PROXY and NO_PROXY."
        ),
        ConnectError::NoCertificates(reason) => format!(
            "This computer can't check certificates ({reason}), so nothing was sent: install its root certificates (the package ca-certificates), or name a file of them with ca_file in the profile or SSL_CERT_FILE."
        ),
        ConnectError::Other(reason) => {
            format!(
                "No connection to {host} came about ({reason}), so nothing was sent: check the network and the base URL."
            )
        }
    }
}

fn short_cause(cause: &ConnectError) -> String {
    match cause {
        ConnectError::Name => "name not found".to_owned(),
        ConnectError::Refused => "connection refused".to_owned(),
        ConnectError::NoRoute => "no route".to_owned(),
        ConnectError::TimedOut => "no connection in time".to_owned(),
        ConnectError::Tls(reason) => format!("no TLS: {reason}"),
        ConnectError::Proxy(reason) => format!("proxy: {reason}"),
        ConnectError::NoCertificates(_) => "no root certificates".to_owned(),
        ConnectError::Other(reason) => format!("no connection: {reason}"),
    }
}

fn not_found(operation: Operation, words: &CleanText, is_page: bool) -> String {
    let said = said(words);
    if is_page {
        return format!(
            "A web page answered in place of the service (404{said}), so the base URL is probably wrong: check it and the project id."
        );
    }
    match operation {
        Operation::Create => {
            format!(
                "The service does not know the project (404{said}), so no job was started: check the project id and the base URL."
            )
        }
        Operation::Get => format!("The service does not know this job (404{said}): check the id and the project."),
        Operation::FollowUp => {
            format!(
                "The service does not know this job (404{said}), so the follow-up was not taken: start a new job instead."
            )
        }
        Operation::Views => {
            format!("The service does not know the project (404{said}): check the project id and the base URL.")
        }
    }
}

fn redirected(operation: Operation, status: u16, host: Option<&CleanText>) -> String {
    let to = host.map_or_else(String::new, |host| format!(" to {host}"));
    let meaning = if status == 303 { maybe_done(operation) } else { "nothing was done: check the base URL" };
    format!("The service points elsewhere ({status}{to}), where docdeck does not follow with the key; {meaning}.")
}

/// What an answer that never came whole means, and what to do.
fn maybe_done(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => {
            "the job may have been started all the same, so docdeck does not send it again by itself: look for it on the service's dashboard"
        }
        Operation::FollowUp => {
            "the follow-up may have arrived all the same, so docdeck does not send it again by itself: look at the job"
        }
        Operation::Get | Operation::Views => "nothing is lost: try again in a moment",
    }
}

fn correct_it(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "no job was started: correct the prompt and send it again",
        Operation::FollowUp => "the follow-up was not taken: correct it and send it again",
        Operation::Get => "check the id and the project",
        Operation::Views => "try another range or page",
    }
}

fn scope(operation: Operation) -> &'static str {
    match operation {
        Operation::Create | Operation::FollowUp => "write",
        Operation::Get | Operation::Views => "read",
    }
}

fn unreadable(why: Unreadable, excerpt: &CleanText) -> String {
    let what = match why {
        Unreadable::Empty => return "nothing in it".to_owned(),
        Unreadable::Page => "a web page, so the base URL may be wrong",
        Unreadable::NotJson => "something that is not a JSON object",
        Unreadable::NoId => "a job that has no id",
        Unreadable::NoViews => "something that is not page views",
    };
    if excerpt.is_empty() { what.to_owned() } else { format!("{what} (“{excerpt}”)") }
}

fn short_unreadable(why: Unreadable) -> &'static str {
    match why {
        Unreadable::Empty => "empty answer",
        Unreadable::Page => "web page in place of JSON",
        Unreadable::NotJson => "answer is not a JSON object",
        Unreadable::NoId => "job without an id",
        Unreadable::NoViews => "answer without views",
    }
}

fn said(words: &CleanText) -> String {
    if words.is_empty() { String::new() } else { format!(": “{words}”") }
}

fn quote(what: &str, operation: Operation, words: &CleanText) -> String {
    match operation {
        Operation::Get | Operation::Views if !words.is_empty() => format!("{what}: {words}"),
        _ => what.to_owned(),
    }
}

fn seconds(duration: Duration) -> String {
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
    fn only_see_other_among_the_redirects_leaves_a_prompt_unconfirmed() {
        let redirect = |status| ApiError::Redirected { operation: Operation::Create, status, host: None };
        for status in [300, 301, 302, 304, 307, 308] {
            assert_eq!(redirect(status).reached(), Reached::Refused, "{status}");
        }
        assert_eq!(redirect(303).reached(), Reached::Maybe);
    }

    #[test]
    fn a_limit_says_until_when_in_the_services_time() {
        let now = moment("2026-11-20T12:00:00Z");
        let limited = ApiError::Limited { retry: RetryAfterHeader::Seconds(90), words: CleanText::default() };
        let until = moment("2026-11-20T12:01:30Z");
        let wait = Wait { until, is_estimate: false };
        assert_eq!(limited.wait(now), Some(wait));
        assert_eq!(limited.failure(now).kind, FailureKind::Limited(wait));
        assert_eq!(limited.short().as_str(), "limit reached, retry in 90 s");
        let silent = ApiError::Limited { retry: RetryAfterHeader::Unsaid, words: CleanText::default() };
        assert!(silent.wait(now).is_some_and(|wait| wait.is_estimate));
        assert!(silent.to_string().contains("about a minute"), "{silent}");
        let other = ApiError::Unauthorized { words: CleanText::default() };
        assert_eq!(other.wait(now), None);
    }

    #[test]
    fn a_404_from_a_web_server_does_not_make_a_job_gone() {
        let now = moment("2026-11-20T12:00:00Z");
        let missing = |is_page| ApiError::NotFound { operation: Operation::Get, words: CleanText::default(), is_page };
        assert_eq!(missing(false).failure(now).kind, FailureKind::NotFound);
        assert_eq!(missing(true).failure(now).kind, FailureKind::Service);
        assert!(missing(true).to_string().contains("base URL"));
    }

    #[test]
    fn the_log_does_not_repeat_words_that_may_hold_a_prompt() {
        let failed =
            |operation| ApiError::Failed { operation, status: 500, words: CleanText::line("no: my secret plan") };
        assert!(!failed(Operation::Create).short().as_str().contains("plan"));
        assert!(failed(Operation::Views).short().as_str().contains("plan"));
    }
}
