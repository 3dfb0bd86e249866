//! The way to the service and one request over it. A look at a job is no limited operation (api.md: limits), and tells
//! whether the key is taken; nothing is sent that could change anything.

use super::report::DoctorReport;
use super::settings::ResolvedSettings;
use crate::api::{ApiAnswer, ApiError, Client, ConnectError, Proxy, Route, system_roots};
use crate::engine::check::no_project;
use crate::model::endpoint::Scope;
use crate::model::job::{JobId, RemoteJob};
use chrono::{TimeDelta, Utc};
use std::time::Duration;

/// How long the doctor waits: it is to be done before anybody loses patience.
pub(super) const CONNECT: Duration = Duration::from_secs(5);
pub(super) const ANSWER: Duration = Duration::from_secs(15);
/// A job that nobody has.
const NOBODYS: &str = "docdeck-doctor-looks-for-no-job";
/// From how far off a clock is worth a word, and from how far certificates begin to look wrong.
const CLOCK_OFF: TimeDelta = TimeDelta::seconds(30);
const CLOCK_WRONG: TimeDelta = TimeDelta::hours(12);

/// Proxy and certificates; asks nothing.
pub(super) fn check_route(report: &mut DoctorReport, known: &ResolvedSettings) {
    report.begin("Network");
    // The way is the same for every project.
    let scope = Scope { base_url: known.base_url.clone(), project: "x".to_owned(), organization: None };
    // Why not stands above.
    let Ok(route) = Route::to(&scope) else { return report.skipped("proxy", "the base URL can't be used") };
    for variable in &route.unusable {
        let says = format!("{variable} is set, but holds no address, so it is passed over");
        report.warning("proxy", says, format!("write it like http://proxy.example:3128, or unset {variable}"));
    }
    report.ok(
        "proxy",
        match &route.proxy {
            Proxy::Loopback => "none: this computer is never reached through one".to_owned(),
            Proxy::None => "none".to_owned(),
            Proxy::LeftOut { variable } => format!("none: NO_PROXY leaves out {} ({variable} is set)", route.host),
            Proxy::Through { variable, address, with_credentials: false } => format!("{address} ({variable})"),
            Proxy::Through { variable, address, with_credentials: true } => {
                format!("{address} ({variable}, with user and password)")
            }
        },
    );
    if !route.encrypted {
        return report.ok("certificates", "not needed: no TLS to this computer itself");
    }
    let own = known.roots.as_ref().map_or(0, crate::api::ExtraRoots::count);
    let more = if own > 0 { format!(", and {own} of ca_file") } else { String::new() };
    match system_roots() {
        Some(0) if own == 0 => report.problem(
            "certificates",
            "this computer has no root certificates, so no secure connection can come about",
            "install the package ca-certificates, or name a file of them with ca_file in the profile or SSL_CERT_FILE",
        ),
        Some(n) => report.ok("certificates", format!("{n} of the system{more}")),
        None => report.ok("certificates", format!("the system's own checks{more}")),
    }
}

/// Connection, key and clock, by one look at a job.
pub(super) async fn check_answer(
    report: &mut DoctorReport,
    known: &ResolvedSettings,
    job: Option<JobId>,
    offline: bool,
) {
    report.begin("Service");
    if offline {
        return report.skipped("request", "--offline: the service was not asked");
    }
    let Some(client) = &known.client else {
        return report.skipped("request", "without a key, a project and a base URL");
    };
    let is_known = job.is_some();
    let Some(id) = job.or_else(|| JobId::new(NOBODYS)) else { return };
    let before = Utc::now();
    let answer = client.get_job(&id).await;
    if let Err(error @ ApiError::NotReached { cause, .. }) = &answer.result {
        let name =
            if matches!(cause, ConnectError::Tls(_) | ConnectError::NoCertificates(_)) { "TLS" } else { "connection" };
        return report.problem_said(name, error.to_string());
    }
    connection(report, client, &answer);
    key(report, &answer, is_known);
    clock(report, &answer, before);
}

fn connection(report: &mut DoctorReport, client: &Client, answer: &ApiAnswer<RemoteJob>) {
    let took = answer.took.as_millis();
    let encrypted = Route::to(client.scope()).is_ok_and(|route| route.encrypted);
    let tls = if encrypted { "TLS agreed on, the certificate is trusted" } else { "without TLS, on this computer" };
    report.ok("connection", format!("{tls}; answered in {took} ms"));
}

fn key(report: &mut DoctorReport, answer: &ApiAnswer<RemoteJob>, is_known: bool) {
    let write = "write is only known by use: nothing was sent";
    if let Err(ApiError::NotFound { words, is_page: false, .. }) = &answer.result
        && let Some(failure) = no_project(words)
    {
        return report.problem_said("project", failure.sentence.to_string());
    }
    match &answer.result {
        Ok(_) => report.ok("key", format!("read works (a job was looked at); {write}")),
        Err(ApiError::NotFound { is_page: false, .. }) if !is_known => {
            report.ok("key", format!("read works (404 for a job that nobody has, as it should be); {write}"));
        }
        Err(ApiError::NotFound { is_page: false, .. }) => report.warning(
            "key",
            format!("taken, but the service does not know a job that is known here (404); {write}"),
            "check the project id; a job that was deleted there is marked as gone at the next look",
        ),
        Err(error @ ApiError::Limited { .. }) => {
            report.warning("key", error.to_string(), "a look at a job has no documented limit; wait, then try again");
        }
        Err(error) => report.problem_said("key", error.to_string()),
    }
}

fn clock(report: &mut DoctorReport, answer: &ApiAnswer<RemoteJob>, before: crate::model::Time) {
    let Some(date) = answer.date else { return report.skipped("clock", "the service tells no time") };
    // The answer was made somewhere between the two moments, and its time has whole seconds.
    let after = Utc::now();
    let off = if date > after {
        date - after
    } else if date + TimeDelta::seconds(1) < before {
        before - (date + TimeDelta::seconds(1))
    } else {
        TimeDelta::zero()
    };
    let way = if date > after { "behind" } else { "ahead of" };
    let says = format!("{} s {way} the service's", off.num_seconds());
    let remedy =
        "set this computer's clock (timedatectl set-ntp true); docdeck goes by the service's time all the same";
    if off >= CLOCK_WRONG {
        report.problem("clock", says, remedy);
    } else if off >= CLOCK_OFF {
        report.warning("clock", says, remedy);
    } else {
        report.ok("clock", if off.num_seconds() == 0 { "as the service's".to_owned() } else { says });
    }
}
