//! Finds the team's database and the organization for the commands of `docdeck team`.

use crate::cli::error::CliError;
use crate::cli::exit_code::Code;
use crate::cli::session::CommandContext;
use crate::config::{TeamSettings, team_settings};
use crate::model::text::CleanText;
use crate::team::{MemberSettings, OrganizationName, TeamAddress, TeamConnection, TeamError, organizations};
use std::time::Duration;

/// How long a command waits for a connection.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) fn parse_organization(text: &str) -> Result<OrganizationName, &'static str> {
    OrganizationName::new(text).ok_or("it must have 1 to 40 lower-case letters, digits or underscores")
}

/// Reads the settings of the team and the URL of its database. Reading the URL may run a command. Returns the settings
/// and the address in the URL.
///
/// # Errors
/// Fails if no URL is configured, or if the URL can't be read or is invalid.
pub(super) async fn read_team_settings(cx: &mut CommandContext<'_>) -> Result<(TeamSettings, TeamAddress), CliError> {
    let Some(settings) = team_settings(cx.global_options, cx.environment)? else {
        return Err(CliError::local_error(
            "No team is configured. Set DOCDECK_TEAM_URL, or url_command or url_file in the section [team] of the \
             configuration file.",
        ));
    };
    let url = settings.read_url().await?;
    cx.out.hide_key(&url);
    let address = TeamAddress::new(&url, settings.read_roots()?)?;
    Ok((settings, address))
}

/// Returns the settings of this member for an exchange.
pub(super) fn member_settings(settings: &TeamSettings) -> MemberSettings<'_> {
    MemberSettings { name: settings.member_name.as_str(), reader_text_days: settings.reader_text_days }
}

/// Returns the organization `wanted` if it is given, otherwise the only organization of the database login.
///
/// # Errors
/// Fails if the login doesn't belong to `wanted`. Without `wanted`, fails if the login belongs to no organization or to
/// several.
pub(super) async fn choose_organization(
    connection: &TeamConnection,
    wanted: Option<&OrganizationName>,
) -> Result<String, TeamError> {
    let known = organizations(connection).await?;
    match (wanted, known.as_slice()) {
        (Some(wanted), known) if known.iter().any(|name| name == wanted.as_str()) => Ok(wanted.as_str().to_owned()),
        (Some(wanted), _) => Err(TeamError::NotAMember { name: CleanText::line(wanted.as_str()) }),
        (None, []) => Err(TeamError::NoOrganization),
        (None, [only]) => Ok(only.clone()),
        (None, several) => Err(TeamError::SeveralOrganizations { names: CleanText::line(&several.join(", ")) }),
    }
}

impl From<TeamError> for CliError {
    fn from(error: TeamError) -> Self {
        let code = if error.is_temporary() { Code::Service } else { Code::Unusable };
        Self::new(code, error)
    }
}
