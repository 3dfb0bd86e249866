//! Checks the route to the service, then the API key with one request for a job. The request counts against no limit
//! and changes nothing.

use super::report::DoctorReport;
use super::settings::ResolvedSettings;
use crate::api::{ApiAnswer, ApiError, Client, ConnectError, Proxy, Route, count_system_roots};
use crate::engine::check::missing_project_failure;
use crate::model::endpoint::Scope;
use crate::model::job::{JobId, RemoteJob};
use chrono::{TimeDelta, Utc};
use std::time::Duration;

/// The timeout for connecting to the service, short enough for an interactive command.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The timeout for the whole request.
pub(super) const TOTAL_TIMEOUT: Duration = Duration::from_secs(15);
/// The id of a job that doesn't exist.
const PROBE_JOB: &str = "docdeck-doctor-looks-for-no-job";
/// If this computer's clock is off by at least this much, the check is a warning.
const CLOCK_WARNING_OFFSET: TimeDelta = TimeDelta::seconds(30);
/// If this computer's clock is off by at least this much, the check is a problem, because valid certificates can look
/// expired.
const CLOCK_PROBLEM_OFFSET: TimeDelta = TimeDelta::hours(12);

/// Checks the proxy and the certificates, without a request.
pub(super) fn check_route(report: &mut DoctorReport, settings: &ResolvedSettings) {
    report.begin_section("Network");
    // Any project will do, because the route doesn't depend on it.
    let scope = Scope { base_url: settings.base_url.clone(), project: "x".to_owned(), organization: None };
    // The check of the settings has already reported the reason.
    let Ok(route) = Route::for_scope(&scope) else { return report.skipped("proxy", "the base URL can't be used") };
    for variable in &route.unusable {
        let message = format!("{variable} is set but contains no address, so it is ignored");
        report.warning("proxy", message, format!("write it like http://proxy.example:3128, or unset {variable}"));
    }
    report.ok(
        "proxy",
        match &route.proxy {
            Proxy::Loopback => "none: not used for this computer".to_owned(),
            Proxy::None => "none".to_owned(),
            Proxy::Excluded { variable } => format!("none: NO_PROXY excludes {} ({variable} is set)", route.host),
            Proxy::Through { variable, address, with_credentials: false } => format!("{address} ({variable})"),
            Proxy::Through { variable, address, with_credentials: true } => {
                format!("{address} ({variable}, with user and password)")
            }
        },
    );
    if !route.encrypted {
        return report.ok("certificates", "not needed: no TLS to this computer");
    }
    let extra = settings.roots.as_ref().map_or(0, crate::api::ExtraRoots::count);
    let more = if extra > 0 { format!(", {extra} from ca_file") } else { String::new() };
    match count_system_roots() {
        Some(0) if extra == 0 => report.problem(
            "certificates",
            "this computer has no root certificates, so no secure connection is possible",
            "install the package ca-certificates, or name a certificate file with ca_file in the profile or SSL_CERT_FILE",
        ),
        Some(n) => report.ok("certificates", format!("{n} from the system{more}")),
        None => report.ok("certificates", format!("checked by the system{more}")),
    }
}

/// Checks the connection, the API key and the clock with one request for a job.
pub(super) async fn check_answer(
    report: &mut DoctorReport,
    settings: &ResolvedSettings,
    job: Option<JobId>,
    offline: bool,
) {
    report.begin_section("Service");
    if offline {
        return report.skipped("request", "not sent because of --offline");
    }
    let Some(client) = &settings.client else {
        return report.skipped("request", "not sent: key, project or base URL is missing");
    };
    let is_known = job.is_some();
    let Some(id) = job.or_else(|| JobId::new(PROBE_JOB)) else { return };
    let before = Utc::now();
    let answer = client.get_job(&id).await;
    if let Err(error @ ApiError::NotReached { cause, .. }) = &answer.result {
        let name =
            if matches!(cause, ConnectError::Tls(_) | ConnectError::NoCertificates(_)) { "TLS" } else { "connection" };
        return report.problem_with_remedy(name, error.to_string());
    }
    report_connection(report, client, &answer);
    check_api_key(report, &answer, is_known);
    check_clock(report, &answer, before);
}

fn report_connection(report: &mut DoctorReport, client: &Client, answer: &ApiAnswer<RemoteJob>) {
    let took = answer.took.as_millis();
    let encrypted = Route::for_scope(client.scope()).is_ok_and(|route| route.encrypted);
    let tls = if encrypted { "TLS, certificate trusted" } else { "without TLS, on this computer" };
    report.ok("connection", format!("{tls}; answered in {took} ms"));
}

fn check_api_key(report: &mut DoctorReport, answer: &ApiAnswer<RemoteJob>, is_known: bool) {
    let write = "write access is not tested";
    if let Err(ApiError::NotFound { words, is_page: false, .. }) = &answer.result
        && let Some(failure) = missing_project_failure(words)
    {
        return report.problem_with_remedy("project", failure.message.to_string());
    }
    match &answer.result {
        Ok(_) => report.ok("key", format!("read access works (a job was loaded); {write}")),
        Err(ApiError::NotFound { is_page: false, .. }) if !is_known => {
            report.ok("key", format!("read access works (probe job not found, as expected); {write}"));
        }
        Err(ApiError::NotFound { is_page: false, .. }) => report.warning(
            "key",
            format!("accepted, but the service doesn't have a tracked job (404); {write}"),
            "check the project id; if the job was deleted, the next check marks it as gone",
        ),
        Err(error @ ApiError::Limited { .. }) => {
            report.warning("key", error.to_string(), "loading a job has no documented limit; wait, then try again");
        }
        Err(error) => report.problem_with_remedy("key", error.to_string()),
    }
}

fn check_clock(report: &mut DoctorReport, answer: &ApiAnswer<RemoteJob>, before: crate::model::Time) {
    let Some(date) = answer.date else { return report.skipped("clock", "the service sent no time") };
    // The service set `date`, in whole seconds, at some time between `before` and `after`.
    let after = Utc::now();
    let off = if date > after {
        date - after
    } else if date + TimeDelta::seconds(1) < before {
        before - (date + TimeDelta::seconds(1))
    } else {
        TimeDelta::zero()
    };
    let way = if date > after { "behind" } else { "ahead of" };
    let message = format!("{} s {way} the service's", off.num_seconds());
    let remedy = "set this computer's clock (timedatectl set-ntp true); until then docdeck uses the service's time";
    if off >= CLOCK_PROBLEM_OFFSET {
        report.problem("clock", message, remedy);
    } else if off >= CLOCK_WARNING_OFFSET {
        report.warning("clock", message, remedy);
    } else {
        report.ok("clock", if off.num_seconds() == 0 { "same as the service's".to_owned() } else { message });
    }
}
