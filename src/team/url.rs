//! Parses the URL of the team's database, and decides whether TLS is needed.

use super::error::TeamError;
use crate::model::endpoint::ApiKey;
use crate::model::redaction::Redactor;
use crate::model::text::CleanText;
use std::net::IpAddr;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{ChannelBinding, Host, SslMode};

/// How long connecting to one address may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// After this time without an answer to data that was sent, the connection counts as lost.
const UNACKNOWLEDGED_TIMEOUT: Duration = Duration::from_secs(15);
/// The maximum number of characters of a message from the server.
const MAX_MESSAGE_CHARS: usize = 200;

/// A parsed URL. Its debug output contains no password.
#[derive(Clone)]
pub(super) struct TeamUrl {
    config: Config,
    /// Whether the connection is encrypted and the server's certificate checked.
    pub(super) uses_tls: bool,
}

impl std::fmt::Debug for TeamUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TeamUrl(***)")
    }
}

impl TeamUrl {
    /// # Errors
    /// The URL is invalid, or turns TLS off for a server on another computer. The error contains no part of the URL.
    pub(super) fn parse(secret: &ApiKey) -> Result<Self, TeamError> {
        let text = secret.expose();
        if !(text.starts_with("postgres://") || text.starts_with("postgresql://")) {
            return Err(TeamError::Url("it doesn't start with postgres://"));
        }
        // The parameters about TLS are removed, because the library rejects some that libpq knows, such as
        // `sslmode=verify-full`. docdeck always checks the certificate if it uses TLS.
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let is_tls_parameter = |parameter: &&str| {
            ["sslmode=", "sslrootcert=", "channel_binding=", "sslnegotiation="]
                .iter()
                .any(|name| parameter.starts_with(name))
        };
        let (tls_parameters, other_parameters): (Vec<&str>, Vec<&str>) =
            query.split('&').filter(|parameter| !parameter.is_empty()).partition(is_tls_parameter);
        let mut config: Config =
            format!("{base}?{}", other_parameters.join("&")).parse().map_err(|_| TeamError::Url("it has a mistake"))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(TeamError::Url("it names no host"));
        }
        let is_local =
            config.get_hosts().iter().all(is_local) && config.get_hostaddrs().iter().all(IpAddr::is_loopback);
        let requires_tls = tls_parameters
            .iter()
            .any(|parameter| ["sslmode=require", "sslmode=verify"].iter().any(|start| parameter.starts_with(start)));
        if !is_local && tls_parameters.contains(&"sslmode=disable") {
            return Err(TeamError::TlsRequired);
        }
        let is_socket = config.get_hosts().iter().all(is_socket) && config.get_hostaddrs().is_empty();
        let uses_tls = !is_socket && (requires_tls || !is_local);
        config
            .ssl_mode(if uses_tls { SslMode::Require } else { SslMode::Disable })
            .channel_binding(ChannelBinding::Disable)
            .application_name("docdeck")
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_user_timeout(UNACKNOWLEDGED_TIMEOUT)
            .keepalives_idle(UNACKNOWLEDGED_TIMEOUT);
        Ok(Self { config, uses_tls })
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the host, for use in messages.
    pub(super) fn host(&self) -> CleanText {
        let hosts: Vec<String> = self.config.get_hosts().iter().map(host_name).collect();
        let addresses = self.config.get_hostaddrs().iter().map(IpAddr::to_string);
        let names = if hosts.is_empty() { addresses.collect() } else { hosts };
        CleanText::title(&names.join(", "), MAX_MESSAGE_CHARS)
    }

    /// Cleans a message of the server, and removes the password from it.
    pub(super) fn clean(&self, message: &str) -> CleanText {
        let password = self.config.get_password().map(String::from_utf8_lossy);
        let text = match password.as_deref().and_then(ApiKey::new) {
            Some(password) => Redactor::new(&password).redacted(message).into_owned(),
            None => message.to_owned(),
        };
        CleanText::title(text.trim_end_matches('.'), MAX_MESSAGE_CHARS)
    }
}

fn host_name(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
            name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

fn is_socket(host: &Host) -> bool {
    match host {
        Host::Tcp(_) => false,
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<TeamUrl, TeamError> {
        TeamUrl::parse(&ApiKey::new(text).expect("without spaces"))
    }

    #[test]
    fn tls_is_used_except_on_this_computer() {
        for (url, uses_tls) in [
            ("postgres://ana:pw@db.example/docs", true),
            ("postgresql://ana@10.0.0.7:6432/docs?sslmode=prefer", true),
            ("postgres://ana:pw@db.example/docs?sslmode=verify-full&sslrootcert=system&channel_binding=require", true),
            ("postgres://ana@localhost/docs", false),
            ("postgres://ana@127.0.0.1:5433/docs", false),
            ("postgres://ana@[::1]/docs", false),
            ("postgres://ana@localhost/docs?sslmode=verify-full", true),
            ("postgres://ana@%2Frun%2Fpostgresql/docs", false),
            ("postgres://ana@/docs?host=/run/postgresql", false),
            ("postgres://ana@localhost,db.example/docs", true),
            ("postgres://ana@localhost/docs?hostaddr=10.0.0.7", true),
        ] {
            assert_eq!(parse(url).map(|url| url.uses_tls).expect(url), uses_tls, "{url}");
        }
    }

    #[test]
    fn tls_can_be_turned_off_only_for_a_server_on_this_computer() {
        assert!(matches!(parse("postgres://ana@db.example/docs?sslmode=disable"), Err(TeamError::TlsRequired)));
        assert!(!parse("postgres://ana@localhost/docs?sslmode=disable").expect("valid").uses_tls);
    }

    #[test]
    fn no_message_contains_the_password_or_the_url() {
        for url in [
            "mysql://ana:hunter22@db/docs",
            "postgres://ana:hunter22@db:port/docs",
            "postgres://ana:huh?nter22=x&hunter22@db/docs",
            "postgres://ana:hunter22",
            "postgres:///docs?password=hunter22",
            "postgres://ana@db.example/docs?hunter22=1",
        ] {
            match parse(url) {
                Ok(url) => assert!(!format!("{url:?} {}", url.host()).contains("hunter22"), "{url:?}"),
                Err(error) => assert!(!format!("{error:?} {error}").contains("nter22"), "{error}"),
            }
        }
        let url = parse("postgres://ana:hunter22@db.example/docs").expect("valid");
        assert_eq!(url.clean("no such user: ana/hunter22\x1b[2J.").as_str(), "no such user: ana/***");
        assert_eq!(url.host().as_str(), "db.example");
    }
}
