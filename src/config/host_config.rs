//! The sections `[hosts."HOST"]` and `[pull_requests]` of the configuration file.

use super::positions::{LineColumn, ValuePositions};
use crate::api::hosts::api_url_problem;
use crate::model::pull_request::HostKind;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A section `[hosts."HOST"]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HostConfig {
    pub(super) kind: Option<HostKind>,
    pub(super) rest_url: Option<String>,
    pub(super) graphql_url: Option<String>,
    /// A program that prints the token, and its arguments. Runs without a shell.
    pub(super) token_command: Option<Vec<String>>,
    /// A file that contains only the token.
    pub(super) token_file: Option<PathBuf>,
    /// The name of an environment variable that contains the token.
    pub(super) token_env: Option<String>,
}

/// The section `[pull_requests]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PullRequestConfig {
    /// Whether code hosts are asked for the state of pull requests.
    pub(super) enabled: bool,
    /// Whether pull requests can be reviewed, merged and closed.
    pub(super) actions: bool,
}

impl Default for PullRequestConfig {
    fn default() -> Self {
        Self { enabled: true, actions: true }
    }
}

/// Checks the sections of all hosts. Returns the first mistake with its position.
pub(super) fn find_mistake(
    hosts: &BTreeMap<String, HostConfig>,
    positions: &ValuePositions<'_>,
) -> Option<(LineColumn, String)> {
    hosts.iter().find_map(|(host, config)| {
        let at = |name: &str| positions.position_of(&["hosts", host], name);
        let section = || positions.position_of(&["hosts"], host);
        let tokens = [
            ("token_command", config.token_command.is_some()),
            ("token_file", config.token_file.is_some()),
            ("token_env", config.token_env.is_some()),
        ];
        let mut set = tokens.into_iter().filter(|(_, is_set)| *is_set).skip(1);
        if let Some((second, _)) = set.next() {
            return Some((
                at(second),
                "a host has one source of its token: keep one of token_command, token_file, token_env".to_owned(),
            ));
        }
        if config.token_command.as_ref().is_some_and(|words| words.first().is_none_or(|word| word.trim().is_empty())) {
            return Some((
                at("token_command"),
                "token_command must be an array of the program and its arguments".to_owned(),
            ));
        }
        for (name, url) in [("rest_url", &config.rest_url), ("graphql_url", &config.graphql_url)] {
            if let Some(why) = url.as_ref().and_then(|url| api_url_problem(url)) {
                return Some((at(name), format!("{name} {why}")));
            }
        }
        let is_known = config.kind.is_some() || matches!(host.as_str(), "github.com" | "gitlab.com");
        let is_lower = host.chars().all(|c| !c.is_ascii_uppercase()) && !host.contains('/');
        match (is_known, is_lower) {
            (_, false) => {
                Some((section(), "write the host in lower case and without a path, like ghe.example.com".to_owned()))
            }
            (false, _) => Some((section(), "set kind to \"github\" or \"gitlab\"".to_owned())),
            _ => None,
        }
    })
}
