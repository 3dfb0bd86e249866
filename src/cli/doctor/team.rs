//! Checks the connection to the team's database, if a team is configured.

use super::facts::DoctorFacts;
use super::report::{CheckResult, error, ok, skipped};
use crate::config::TeamSettings;
use crate::model::text::CleanText;
use crate::team::{TeamAddress, TeamConnection};
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The team's database and whether it can be used.
#[derive(Debug)]
pub(super) struct TeamFacts {
    host: CleanText,
    uses_tls: bool,
    /// Whether connecting succeeded; the error is a sentence. `None` if no connection was made because of `--offline`.
    connection_result: Option<Result<(), String>>,
}

/// Connects to the team's database, unless offline. The error is a sentence about the settings or the URL. Returns
/// `None` if no team is configured.
pub(super) async fn examine(facts: &DoctorFacts<'_>) -> Option<Result<TeamFacts, String>> {
    let settings = match TeamSettings::from_file(&facts.config, facts.config_file_path(), facts.environment) {
        Ok(settings) => settings?,
        Err(error) => return Some(Err(error.to_string())),
    };
    let address = async {
        let url = settings.read_url().await.map_err(|error| error.to_string())?;
        let roots = settings.read_roots().map_err(|error| error.to_string())?;
        TeamAddress::new(&url, roots).map_err(|error| error.to_string())
    };
    let address = match address.await {
        Ok(address) => address,
        Err(sentence) => return Some(Err(sentence)),
    };
    let connection_result = if facts.is_offline {
        None
    } else {
        let connection = TeamConnection::open_checked(&address, CONNECT_TIMEOUT).await;
        Some(connection.map(drop).map_err(|error| error.to_string()))
    };
    Some(Ok(TeamFacts { host: address.host(), uses_tls: address.uses_tls(), connection_result }))
}

pub(super) fn database(facts: &DoctorFacts<'_>) -> CheckResult {
    let TeamFacts { host, uses_tls, connection_result } = match facts.team.as_ref()? {
        Ok(team) => team,
        Err(sentence) => return error(sentence),
    };
    let tls = if *uses_tls { "TLS, certificate trusted" } else { "without TLS, on this computer" };
    match connection_result {
        None => skipped(format!("{host}: not tested because of --offline")),
        Some(Ok(())) => ok(format!("connected to {host}, {tls}")),
        Some(Err(sentence)) => error(sentence),
    }
}
