//! Reads how to reach the team's database, for the engine and for exchanges before and after a command.

use crate::cli::error::CliError;
use crate::config::{ConfigError, TeamSettings};
use crate::engine::TeamAccess;
use crate::model::endpoint::ApiKey;
use crate::store::Store;
use crate::team::TeamAddress;

/// The URL of the team's database, which is read once per command: a program that prints it may ask for a password.
#[derive(Debug, Default)]
pub(in crate::cli) struct TeamUrlReader(Option<Result<ApiKey, ConfigError>>);

impl TeamUrlReader {
    /// # Errors
    /// The URL can't be read.
    pub(super) async fn read(&mut self, settings: &TeamSettings) -> Result<ApiKey, ConfigError> {
        let result = match self.0.take() {
            Some(known) => known,
            None => settings.read_url().await,
        };
        self.0.insert(result).clone()
    }
}

/// Returns how to reach the team's database; `None` if no team is configured or no project is shared. Runs the command
/// that prints the URL, if there is one, which may need the terminal for a password prompt.
///
/// # Errors
/// The URL can't be read or used. docdeck works without the team then.
pub(in crate::cli) async fn read_access(
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
    let address = TeamAddress::new(&url.read(settings).await?, settings.roots()?)?;
    Ok(Some(TeamAccess { address, name: settings.name.clone() }))
}
