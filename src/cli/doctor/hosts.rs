//! Checks the code hosts of pull requests: where the token for each host comes from, and what it can read.

use super::facts::DoctorFacts;
use super::report::{CheckResult, error, ok, problem, skipped, skipped_with_remedy, warning};
use crate::api::hosts::{HostClient, HostError, HostErrorKind};
use crate::config::hosts::{HostSettings, env_variable};
use crate::engine::login_command;
use crate::model::pull_request::{ChecksState, HostKind, PullRequestLink};
use crate::runtime::hosts::ConfiguredHosts;
use chrono::Utc;
use std::collections::BTreeMap;

/// A code host that is configured or that tracked jobs link to.
#[derive(Debug)]
pub(super) struct HostFacts {
    host: String,
    kind: HostKind,
    token: TokenFacts,
}

#[derive(Debug)]
enum TokenFacts {
    /// Jobs link to this host as one kind, such as GitHub, but the configuration sets another kind.
    KindMismatch,
    /// None of these sources has a token.
    Missing(Vec<String>),
    /// The token can't be read, or the host's address can't be used. The text is a sentence with the reason.
    Unusable(String),
    /// The token comes from `source`. `access` is `None` if the token was not tested.
    Found { source: String, access: Option<Result<TokenAccess, HostError>> },
}

/// What a token can read.
#[derive(Debug, Clone, Copy)]
enum TokenAccess {
    PullRequestAndChecks,
    PullRequestOnly,
    /// The host accepts the token. No pull request of the host is known, so nothing else was requested.
    Unknown,
}

/// Examines all hosts. Reading their tokens may run programs. Unless offline, tests each token with one request. If a
/// job links to a pull request on GitHub, a second request reads the checks of this pull request.
pub(super) async fn examine(
    settings: HostSettings,
    facts: &DoctorFacts<'_>,
    links: &[PullRequestLink],
) -> Vec<HostFacts> {
    let linked = links.iter().map(|link| ((link.host.clone(), link.kind), Some(link)));
    let configured = settings.configured_hosts().map(|(host, kind)| ((host.to_owned(), kind), None));
    let all: BTreeMap<(String, HostKind), Option<&PullRequestLink>> = configured.chain(linked).collect();
    let roots = facts.ca_file.as_ref().and_then(|(_, roots)| roots.clone().ok());
    let hosts = ConfiguredHosts { settings, roots };
    let mut examined = Vec::new();
    for ((host, kind), link) in all {
        let token = examine_token(&hosts, &host, kind, link, facts.is_offline).await;
        examined.push(HostFacts { host, kind, token });
    }
    examined
}

async fn examine_token(
    hosts: &ConfiguredHosts,
    host: &str,
    kind: HostKind,
    link: Option<&PullRequestLink>,
    is_offline: bool,
) -> TokenFacts {
    let Some(address) = hosts.settings.address(host, kind) else { return TokenFacts::KindMismatch };
    let (source, token) = match hosts.settings.read_token(host, kind).await {
        Ok(Some(found)) => found,
        Ok(None) => {
            let sources = hosts.settings.token_sources(host, kind, env_variable);
            return TokenFacts::Missing(sources.iter().map(ToString::to_string).collect());
        }
        Err(error) => return TokenFacts::Unusable(error.to_string()),
    };
    let source = source.to_string();
    match hosts.client(&address, token) {
        Ok(_) if is_offline => TokenFacts::Found { source, access: None },
        Ok(client) => TokenFacts::Found { source, access: Some(test_token(&client, link).await) },
        Err(error) => TokenFacts::Unusable(error.to_string()),
    }
}

/// Finds out what the client's token can read.
async fn test_token(client: &HostClient, link: Option<&PullRequestLink>) -> Result<TokenAccess, HostError> {
    let Some(link) = link else { return client.check_token().await.result.map(|()| TokenAccess::Unknown) };
    let link = std::slice::from_ref(link);
    let mut checks = ChecksState::Unavailable;
    for (_, state) in client.pull_requests(link, Utc::now()).await.result? {
        checks = state?.checks.state;
    }
    if client.kind() == HostKind::GitHub {
        for (_, reported) in client.checks(link).await.result? {
            checks = reported.map_or(ChecksState::Unavailable, |reported| reported.checks.state);
        }
    }
    Ok(if checks == ChecksState::Unavailable {
        TokenAccess::PullRequestOnly
    } else {
        TokenAccess::PullRequestAndChecks
    })
}

/// Returns the findings about all hosts, each with the name of the check.
pub(super) fn findings(facts: &DoctorFacts<'_>) -> Vec<(&'static str, CheckResult)> {
    match &facts.hosts {
        None => vec![("pull requests", skipped("turned off: enabled = false in [pull_requests]"))],
        Some(hosts) => hosts.iter().map(|host| (host.kind.name(), finding(host))).collect(),
    }
}

fn finding(HostFacts { host, kind, token }: &HostFacts) -> CheckResult {
    let (source, access) = match token {
        TokenFacts::KindMismatch => {
            let message = format!("{host}: links of jobs show that it is {}, but config.toml differs", kind.name());
            return warning(message, format!("correct kind in [hosts.\"{host}\"]"));
        }
        TokenFacts::Missing(sources) => {
            let message = format!(
                "{host}: no token in {}; with one, docdeck shows the state, checks, reviews and changes of pull requests",
                sources.join(", ")
            );
            let login = login_command(host, *kind);
            return skipped_with_remedy(
                message,
                format!("run {login}, or add a section [hosts.\"{host}\"] to the configuration"),
            );
        }
        TokenFacts::Unusable(why) => return error(format!("{host}: {why}")),
        TokenFacts::Found { source, access } => (source, access),
    };
    let from = format!("{host}: token from {source}");
    match access {
        None => skipped(format!("{from}; not tested because of --offline")),
        Some(Ok(TokenAccess::PullRequestAndChecks)) => ok(format!("{from}; it reads pull requests and their checks")),
        Some(Ok(TokenAccess::PullRequestOnly)) => {
            let remedy = match kind {
                HostKind::GitHub => "a fine-grained token needs the permissions Checks: read and Commit statuses: read",
                HostKind::GitLab => "the token needs the scope read_api",
            };
            warning(format!("{from}; it reads pull requests, but not their checks"), remedy)
        }
        Some(Ok(TokenAccess::Unknown)) => ok(format!("{from}; the host accepts it (no job has a pull request there)")),
        Some(Err(HostError { kind: failure, .. })) => {
            let message = format!("{from}; {failure}");
            match failure {
                HostErrorKind::Unauthorized => {
                    problem(message, format!("renew it, for example with {}", login_command(host, *kind)))
                }
                HostErrorKind::Limited => warning(message, "wait, then try again"),
                HostErrorKind::NotFound | HostErrorKind::Forbidden(_) => {
                    warning(message, "allow the token to read the pull requests of the job's repository")
                }
                _ => error(message),
            }
        }
    }
}
