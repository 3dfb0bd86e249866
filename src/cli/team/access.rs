//! Reads how to reach the team's database, for the engine.

use crate::cli::error::CliError;
use crate::config::{ConfigError, TeamSettings};
use crate::engine::TeamAccess;
use crate::store::Store;
use crate::team::TeamAddress;

/// Returns how to reach the team's database; `None` if no team is configured or no project is shared. Runs the command
/// that prints the URL, if there is one, which may need the terminal for a password prompt.
///
/// # Errors
/// The URL can't be read or used. docdeck works without the team then.
pub(in crate::cli) async fn read_access(
    settings: &Result<Option<TeamSettings>, ConfigError>,
    store: &Store,
) -> Result<Option<TeamAccess>, CliError> {
    let settings = match settings {
        Ok(None) => return Ok(None),
        _ if !store.shares_projects().await? => return Ok(None),
        Ok(Some(settings)) => settings,
        Err(error) => return Err(error.clone().into()),
    };
    let address = TeamAddress::new(&settings.read_url().await?, settings.roots()?)?;
    Ok(Some(TeamAccess { address, name: settings.name.clone() }))
}
