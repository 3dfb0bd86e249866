//! Checks the route to the service, then the connection, the API key and the clock with the response to one request.

use super::facts::{DoctorFacts, TimedResponse};
use super::report::{CheckResult, error, ok, problem, skipped, warning};
use crate::api::{ApiError, ExtraRoots, Proxy, count_system_root_certificates};
use crate::engine::check::missing_project_failure;
use chrono::TimeDelta;

/// If this computer's clock is off by at least this much, the check reports a warning.
const CLOCK_WARNING_OFFSET: TimeDelta = TimeDelta::seconds(30);
/// If this computer's clock is off by at least this much, the check reports a problem, because valid certificates can
/// look expired.
const CLOCK_PROBLEM_OFFSET: TimeDelta = TimeDelta::hours(12);

pub(super) fn proxy(facts: &DoctorFacts<'_>) -> CheckResult {
    // The check of the base URL has already reported why it can't be used.
    let Ok(route) = &facts.route else { return skipped("the base URL can't be used") };
    let proxy = match &route.proxy {
        Proxy::Loopback => "none: not used, because the service runs on this computer".to_owned(),
        Proxy::None => "none".to_owned(),
        Proxy::Excluded { variable } => format!("none: NO_PROXY excludes {} ({variable} is set)", route.host),
        Proxy::Through { variable, address, has_credentials } => {
            let credentials = if *has_credentials { ", with user and password" } else { "" };
            format!("{address} ({variable}{credentials})")
        }
    };
    if route.unusable_variables.is_empty() {
        return ok(proxy);
    }
    let why = match route.unusable_variables.as_slice() {
        [_] => "is ignored, because its value is not an address",
        _ => "are ignored, because their values are not addresses",
    };
    let message = format!("{proxy}; {} {why}", route.unusable_variables.join(", "));
    warning(message, "set the variable like http://proxy.example:3128, or unset it")
}

pub(super) fn certificates(facts: &DoctorFacts<'_>) -> CheckResult {
    if !facts.route.as_ref().ok()?.uses_tls {
        return ok("not needed: the service runs on this computer, without TLS");
    }
    let roots = facts.ca_file.as_ref().and_then(|(_, roots)| roots.as_ref().ok());
    let more = match roots.map_or(0, ExtraRoots::count) {
        0 => String::new(),
        extra => format!(", {extra} from ca_file"),
    };
    match count_system_root_certificates() {
        Some(0) if more.is_empty() => problem(
            "this computer has no root certificates, so no secure connection is possible",
            "install the package ca-certificates, or name a certificate file with ca_file in the profile or SSL_CERT_FILE",
        ),
        Some(n) => ok(format!("{n} from the system{more}")),
        None => ok(format!("checked by the system{more}")),
    }
}

/// Reports whether the service has responded, or why no request was sent.
pub(super) fn connection(facts: &DoctorFacts<'_>) -> CheckResult {
    let Some(TimedResponse { response, .. }) = facts.service_response() else {
        return match facts.response.as_ref().map(|timed| &timed.response.result) {
            Some(Err(failure)) => error(failure),
            _ if facts.is_offline => skipped("no request because of --offline"),
            _ => skipped("no request: key, project or base URL is missing"),
        };
    };
    let is_encrypted = facts.route.as_ref().is_ok_and(|route| route.uses_tls);
    let tls = if is_encrypted { "TLS, certificate trusted" } else { "without TLS, on this computer" };
    ok(format!("{tls}; answered in {} ms", response.took.as_millis()))
}

/// Reports whether the service accepts the key and finds the project.
pub(super) fn access(facts: &DoctorFacts<'_>) -> CheckResult {
    let write = "write access is not tested";
    let is_tracked = facts.store_content().is_some_and(|content| content.example_job.is_some());
    match &facts.service_response()?.response.result {
        Ok(_) => ok(format!("read access works (a job was loaded); {write}")),
        Err(ApiError::NotFound { service_text, is_html_page: false, .. }) => {
            if let Some(failure) = missing_project_failure(service_text) {
                return error(failure.message);
            }
            if !is_tracked {
                return ok(format!("read access works (probe job not found, as expected); {write}"));
            }
            let message = format!("read access works, but a tracked job was not found on the service (404); {write}");
            warning(message, "check the project id; if the job was deleted, the next check marks it as gone")
        }
        Err(failure @ ApiError::Limited { .. }) => warning(failure, "wait, then try again"),
        Err(failure) => error(failure),
    }
}

pub(super) fn clock(facts: &DoctorFacts<'_>) -> CheckResult {
    let TimedResponse { response, sent_at, received_at } = facts.service_response()?;
    let Some(date) = response.date else { return skipped("the service sent no time") };
    // The service set `date`, in whole seconds, at some time between `sent_at` and `received_at`.
    let is_behind = date > *received_at;
    let offset = if is_behind { date - received_at } else { *sent_at - (date + TimeDelta::seconds(1)) };
    let seconds = offset.num_seconds();
    let message = format!("{seconds} s {} the service's", if is_behind { "behind" } else { "ahead of" });
    let remedy = "set this computer's clock (timedatectl set-ntp true); until then docdeck uses the service's time";
    match offset {
        _ if offset >= CLOCK_PROBLEM_OFFSET => problem(message, remedy),
        _ if offset >= CLOCK_WARNING_OFFSET => warning(message, remedy),
        _ if seconds <= 0 => ok("same as the service's"),
        _ => ok(message),
    }
}
