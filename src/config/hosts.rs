//! Code hosts in the configuration: where their APIs are, and where their tokens come from.
//!
//! Without configuration, the same tokens are used as by `gh` and `glab`, in the same order. A token from the
//! environment is used only for the host for which these programs would use it.

use super::error::ConfigError;
use super::file::ConfigFile;
use super::host_config::HostConfig;
use super::key::{KeySource, resolve_path};
use super::key_command::{KEY_COMMAND_TIMEOUT, TerminalUse, run_key_command};
use crate::api::hosts::HostAddress;
use crate::model::endpoint::ApiKey;
use crate::model::pull_request::HostKind;
use crate::model::redaction::redacted_path;
use crate::model::text::CleanText;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The environment variables that can make `gh` and `glab` print the same token for any host. docdeck runs these
/// programs without the variables, because otherwise a link in a job could decide to which host that token is sent.
const VARIABLES_REMOVED_FOR_HOST_CLI: [&str; 8] = [
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GITLAB_TOKEN",
    "GITLAB_ACCESS_TOKEN",
    "OAUTH_TOKEN",
    "CODESPACES",
];

/// The settings for code hosts.
#[derive(Debug, Clone, Default)]
pub struct HostSettings {
    hosts: BTreeMap<String, HostConfig>,
    /// The path of the configuration file, to which paths of token files are relative.
    config_path: PathBuf,
    /// Whether pull requests can be reviewed, merged and closed.
    pub allows_actions: bool,
}

/// A source of the token for a host.
#[derive(Debug, Clone)]
pub enum TokenSource {
    /// An environment variable.
    Variable(String),
    Configured(KeySource),
    /// `gh` or `glab`, with arguments. A missing program, or a program without a token, is not an error.
    HostCli(Vec<String>),
}

impl HostSettings {
    /// Returns the settings of the file at `config_path`; `None` if code hosts are not asked for pull requests.
    pub fn from_file(file: &ConfigFile, config_path: &Path) -> Option<Self> {
        let (hosts, config_path) = (file.hosts.clone(), config_path.to_owned());
        let settings = Self { hosts, config_path, allows_actions: file.pull_requests.actions };
        file.pull_requests.enabled.then_some(settings)
    }

    /// Returns the hosts that have a section in the configuration, each with its kind.
    pub fn configured_hosts(&self) -> impl Iterator<Item = (&str, HostKind)> {
        let default_kind = |host: &str| if host == "gitlab.com" { HostKind::GitLab } else { HostKind::GitHub };
        self.hosts.iter().map(move |(host, config)| (host.as_str(), config.kind.unwrap_or_else(|| default_kind(host))))
    }

    /// Reads the token for a host from the first source that has one. Returns the token with its source; `None` if no
    /// source has a token.
    ///
    /// # Errors
    /// Fails if a configured source can't be read or contains no token.
    pub async fn read_token(&self, host: &str, kind: HostKind) -> Result<Option<(TokenSource, ApiKey)>, ConfigError> {
        for source in self.token_sources(host, kind, env_variable) {
            if let Some(token) = source.read(env_variable).await? {
                return Ok(Some((source, token)));
            }
        }
        Ok(None)
    }

    /// Returns the addresses of a host's API; `None` if the configuration sets a kind for this host that is not `kind`.
    pub fn address(&self, host: &str, kind: HostKind) -> Option<HostAddress> {
        let mut address = HostAddress::default_for(host, kind);
        let Some(config) = self.hosts.get(host) else { return Some(address) };
        if config.kind.is_some_and(|configured| configured != kind) {
            return None;
        }
        for (url, configured) in
            [(&mut address.rest_url, &config.rest_url), (&mut address.graphql_url, &config.graphql_url)]
        {
            if let Some(configured) = configured {
                url.clone_from(configured);
            }
        }
        Some(address)
    }

    /// Returns the sources of a host's token, in the order in which they are tried. `variable` returns the value of an
    /// environment variable.
    pub fn token_sources(
        &self,
        host: &str,
        kind: HostKind,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Vec<TokenSource> {
        let config = self.hosts.get(host).cloned().unwrap_or_default();
        if let Some(words) = config.token_command {
            return vec![TokenSource::Configured(KeySource::Command(words))];
        }
        if let Some(path) = config.token_file {
            return vec![TokenSource::Configured(KeySource::File(resolve_path(&self.config_path, &path)))];
        }
        if let Some(name) = config.token_env {
            return vec![TokenSource::Variable(name)];
        }
        let is_default_of = |name: &str| variable(name).is_some_and(|default| default.eq_ignore_ascii_case(host));
        let (names, words): (&[&str], &[&str]) = match kind {
            HostKind::GitHub if host == "github.com" || host.ends_with(".ghe.com") => {
                (&["GH_TOKEN", "GITHUB_TOKEN"], &["gh", "auth", "token", "--hostname"])
            }
            HostKind::GitHub if is_default_of("GH_HOST") => {
                (&["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"], &["gh", "auth", "token", "--hostname"])
            }
            HostKind::GitHub => (&[], &["gh", "auth", "token", "--hostname"]),
            HostKind::GitLab if host == "gitlab.com" || is_default_of("GITLAB_HOST") => {
                (&["GITLAB_TOKEN"], &["glab", "config", "get", "token", "--host"])
            }
            HostKind::GitLab => (&[], &["glab", "config", "get", "token", "--host"]),
        };
        let variables = names.iter().map(|name| TokenSource::Variable((*name).to_owned()));
        let program = words.iter().copied().chain([host]).map(str::to_owned).collect();
        variables.chain([TokenSource::HostCli(program)]).collect()
    }
}

/// Returns the value of an environment variable; `None` if it is unset or empty.
pub fn env_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Names the source without private data: a command without its arguments, and the value of `token_env` only if it
/// looks like a name, since the user may have pasted a token there.
impl fmt::Display for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_name = |text: &str| text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        match self {
            Self::Variable(name) if is_name(name) => write!(f, "{name}"),
            Self::Variable(_) => write!(f, "the variable of token_env"),
            Self::Configured(KeySource::File(path)) => write!(f, "token_file {}", path.display()),
            Self::Configured(KeySource::Command(words)) => {
                write!(f, "token_command ({})", words.first().map_or("", String::as_str))
            }
            Self::Configured(KeySource::Literal(_)) => write!(f, "the configuration"),
            Self::HostCli(words) => {
                let command: Vec<&str> =
                    words.iter().map(String::as_str).take_while(|word| !word.starts_with('-')).collect();
                write!(f, "`{}`", command.join(" "))
            }
        }
    }
}

impl TokenSource {
    /// Reads the token. Returns `None` if the environment variable or the host's own program (gh, glab) has no token. A
    /// program that prints the token can't use the terminal, because the dashboard uses it.
    ///
    /// # Errors
    /// Fails if a source from the configuration file can't be read or contains no token.
    pub async fn read(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Option<ApiKey>, ConfigError> {
        match self {
            Self::Variable(name) => Ok(variable(name).as_deref().and_then(ApiKey::new)),
            Self::Configured(source) => source.read_with(TerminalUse::None).await.map(Some).map_err(token_error),
            Self::HostCli(words) => {
                let token =
                    run_key_command(words, KEY_COMMAND_TIMEOUT, TerminalUse::None, &VARIABLES_REMOVED_FOR_HOST_CLI);
                Ok(token.await.ok())
            }
        }
    }
}

/// Rewords an error about reading an API key as an error about a token, because tokens are read by the same code.
fn token_error(error: ConfigError) -> ConfigError {
    let text = match error {
        ConfigError::KeyFile { path, why } => format!(
            "The token can't be read from {}: {why}. Write the token to this file and make it private (chmod 600), or \
             set another token_file.",
            path.display()
        ),
        ConfigError::KeyReadableByOthers { path } => format!(
            "Other users can read {0}, which contains the token, so it is not used. Make it private: chmod 600 {0}",
            redacted_path(&path).display()
        ),
        ConfigError::KeyCommand { program, why } => {
            format!("The token_command {program} {why}. Try it in a terminal; docdeck runs it without a shell.")
        }
        ConfigError::NoKey { source_name } => format!(
            "There is no usable token in {source_name}. It must be a single line with only the token, without spaces."
        ),
        other => return other,
    };
    ConfigError::HostToken(CleanText::line(&text))
}

/// Returns a notice that the host's pull requests are not updated, with the reason.
pub fn unusable_token_text(host: &str, error: &ConfigError) -> CleanText {
    CleanText::line(&format!("No token for {host}, so its pull requests are not updated: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::pull_request::PullRequestLink;

    fn settings(text: &str) -> HostSettings {
        let path = Path::new("/c/config.toml");
        HostSettings::from_file(&ConfigFile::parse(path, text).expect("valid"), path).expect("enabled")
    }

    fn sources(settings: &HostSettings, host: &str, kind: HostKind, set: &[(&str, &str)]) -> Vec<String> {
        let variable = |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned());
        let sources = settings.token_sources(host, kind, variable);
        let describe = |source: &TokenSource| match source {
            TokenSource::Variable(name) => name.clone(),
            TokenSource::Configured(_) => "configured".to_owned(),
            TokenSource::HostCli(words) => words.join(" "),
        };
        sources.iter().map(describe).collect()
    }

    #[test]
    fn tokens_come_from_the_sources_of_gh_and_glab_in_the_same_order() {
        let unconfigured = settings("");
        assert_eq!(
            sources(&unconfigured, "github.com", HostKind::GitHub, &[]),
            ["GH_TOKEN", "GITHUB_TOKEN", "gh auth token --hostname github.com"]
        );
        assert_eq!(
            sources(&unconfigured, "gitlab.com", HostKind::GitLab, &[]),
            ["GITLAB_TOKEN", "glab config get token --host gitlab.com"]
        );
    }

    #[test]
    fn a_token_of_the_environment_is_not_sent_to_a_host_that_only_a_link_names() {
        let unconfigured = settings("");
        assert_eq!(
            sources(&unconfigured, "evil.example", HostKind::GitHub, &[("GH_HOST", "ghe.corp")]),
            ["gh auth token --hostname evil.example"]
        );
        assert_eq!(sources(&unconfigured, "ghe.corp", HostKind::GitHub, &[("GH_HOST", "ghe.corp")]).len(), 3);
        assert_eq!(sources(&unconfigured, "evil.example", HostKind::GitLab, &[]).len(), 1);
    }

    #[test]
    fn the_addresses_of_an_api_follow_from_a_link() {
        for (link, rest_url, graphql_url) in [
            ("https://github.com/acme/docs/pull/7", "https://api.github.com", "https://api.github.com/graphql"),
            ("https://Acme.ghe.com/web/docs/pull/7", "https://api.acme.ghe.com", "https://api.acme.ghe.com/graphql"),
            ("https://ghe.corp/web/docs/pull/7", "https://ghe.corp/api/v3", "https://ghe.corp/api/graphql"),
            // Only the subdomains of ghe.com are GitHub's.
            ("https://acmeghe.com/web/docs/pull/7", "https://acmeghe.com/api/v3", "https://acmeghe.com/api/graphql"),
            (
                "https://git.corp:8443/web/docs/-/merge_requests/7",
                "https://git.corp:8443/api/v4",
                "https://git.corp:8443/api/graphql",
            ),
        ] {
            let link = PullRequestLink::parse(link).expect(link);
            let address = settings("").address(&link.host, link.kind).expect("an address");
            assert_eq!((address.rest_url.as_str(), address.graphql_url.as_str()), (rest_url, graphql_url), "{link:?}");
        }
    }

    #[test]
    fn subdomains_of_ghe_com_use_the_token_variables_of_github_com_as_in_gh() {
        let unconfigured = settings("");
        let expected = ["GH_TOKEN", "GITHUB_TOKEN", "gh auth token --hostname acme.ghe.com"];
        assert_eq!(sources(&unconfigured, "acme.ghe.com", HostKind::GitHub, &[]), expected);
        assert_eq!(sources(&unconfigured, "acmeghe.com", HostKind::GitHub, &[]).len(), 1);
    }

    #[test]
    fn a_configured_host_has_its_own_addresses_and_one_source() {
        let text =
            "[hosts.\"ghe.corp:8443\"]\nkind = \"github\"\nrest_url = \"http://127.0.0.1:1/rest\"\ntoken_env = \"T\"\n";
        let hosts = settings(text);
        let address = hosts.address("ghe.corp:8443", HostKind::GitHub).expect("an address");
        assert_eq!(address.rest_url, "http://127.0.0.1:1/rest");
        assert_eq!(address.graphql_url, "https://ghe.corp:8443/api/graphql");
        assert_eq!(hosts.address("ghe.corp:8443", HostKind::GitLab), None);
        assert_eq!(sources(&hosts, "ghe.corp:8443", HostKind::GitHub, &[]), ["T"]);
    }

    #[tokio::test]
    async fn errors_in_reading_a_token_are_about_the_token() {
        let error = async |section: &str| {
            let hosts = settings(&format!("[hosts.\"github.com\"]\n{section}\n"));
            hosts.read_token("github.com", HostKind::GitHub).await.expect_err(section).to_string()
        };
        let folder = tempfile::tempdir().expect("a folder");
        let empty = folder.path().join("token");
        std::fs::write(&empty, "").expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let set_mode = |mode| std::fs::set_permissions(&empty, std::fs::Permissions::from_mode(mode));
            set_mode(0o644).expect("mode");
            let readable = error(&format!("token_file = {empty:?}")).await;
            assert!(readable.contains("which contains the token, so it is not used"), "{readable}");
            set_mode(0o600).expect("mode");
        }
        for (section, expected) in [
            ("token_file = \"missing\"".to_owned(), "The token can't be read from /c/missing"),
            (format!("token_file = {empty:?}"), "There is no usable token in"),
            ("token_command = [\"docdeck-no-such-program\"]".to_owned(), "The token_command docdeck-no-such-program"),
        ] {
            let text = error(&section).await;
            assert!(text.starts_with(expected) && !text.to_lowercase().contains("api key"), "{text}");
        }
    }

    #[test]
    fn mistakes_have_their_position() {
        let error = |text: &str| ConfigFile::parse(Path::new("/c"), text).expect_err(text).to_string();
        for (text, expected) in [
            ("[hosts.\"ghe.corp\"]\ntoken_env = \"T\"\n", "set kind"),
            ("[hosts.\"github.com\"]\ntoken_env = \"T\"\ntoken_file = \"f\"\n", ":2:13: a host has one source"),
            ("[hosts.\"github.com\"]\nrest_url = \"http://example.com\"\n", "rest_url"),
            ("[hosts.\"GitHub.com\"]\nkind = \"github\"\n", "lower case"),
            ("[hosts.\"github.com\"]\ntoken_command = []\n", "token_command"),
            ("[hosts.\"github.com\"]\ntoken = \"x\"\n", "unknown field"),
        ] {
            assert!(error(text).contains(expected), "{}", error(text));
        }
    }
}
