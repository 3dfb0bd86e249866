//! Reads the address of the team's database and this member's name, for the engine and for exchanges before and after a
//! command.

use crate::cli::error::CliError;
use crate::config::{ConfigError, TeamSettings};
use crate::engine::TeamAccess;
use crate::model::endpoint::ApiKey;
use crate::store::Store;
use crate::team::TeamAddress;

/// Reads the URL of the team's database at most once per command, because reading the URL may run a program that asks
/// for a password.
#[derive(Debug, Default)]
pub(in crate::cli) struct TeamUrlReader(Option<Result<ApiKey, ConfigError>>);

impl TeamUrlReader {
    /// Returns the URL. The first call reads the URL, and later calls return the same result.
    ///
    /// # Errors
    /// Fails if the URL can't be read.
    pub(super) async fn read(&mut self, settings: &TeamSettings) -> Result<ApiKey, ConfigError> {
        let result = match self.0.take() {
            Some(known) => known,
            None => settings.read_url().await,
        };
        self.0.insert(result).clone()
    }
}

/// Returns the access to the team's database; `None` if no team is configured or no project is shared. If a program is
/// configured to print the URL, runs that program, which may ask for a password on the terminal.
///
/// # Errors
/// Fails if the URL can't be read or used. docdeck then works without the team.
pub(in crate::cli) async fn resolve_team_access(
    settings: &Result<Option<TeamSettings>, ConfigError>,
    store: &Store,
    url: &mut TeamUrlReader,
) -> Result<Option<TeamAccess>, CliError> {
    let settings = match settings {
        Ok(None) => return Ok(None),
        _ if !store.shares_projects().await? => return Ok(None),
        Ok(Some(settings)) => settings,
        Err(error) => return Err(error.clone().into()),
    };
    let address = TeamAddress::new(&url.read(settings).await?, settings.read_roots()?)?;
    Ok(Some(TeamAccess { address, name: settings.member_name.clone() }))
}
