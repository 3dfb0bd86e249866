//! `docdeck team init`: sets up the team's database.

use super::database::{CONNECT_TIMEOUT, read_team_settings};
use crate::cli::error::CliError;
use crate::cli::exit_code::Code;
use crate::cli::session::CommandContext;
use crate::team::{OrganizationName, TeamConnection, set_up_schema, setup_sql_for_administrator, supported_version};

/// Prints the statements that an administrator can run instead of this command.
pub(super) fn print_sql(cx: &mut CommandContext<'_>, organization: &OrganizationName) -> Code {
    cx.out.write(&setup_sql_for_administrator(organization));
    Code::Done
}

/// Creates or updates the schema, and adds the organization.
///
/// # Errors
/// Fails if no URL is configured, the database can't be reached, or the login may not create schemas and roles.
pub(super) async fn init(cx: &mut CommandContext<'_>, organization: &OrganizationName) -> Result<Code, CliError> {
    let (_, address) = read_team_settings(cx).await?;
    let connection = TeamConnection::open(&address, CONNECT_TIMEOUT).await?;
    let found = set_up_schema(&connection, organization).await?;
    let (name, role, version) = (organization.as_str(), organization.role(), supported_version());
    let what = match found {
        0 => format!("Created the schema docdeck (version {version})"),
        found if found < version => format!("Updated the schema docdeck from version {found} to {version}"),
        _ => format!("The schema docdeck is up to date (version {version})"),
    };
    cx.out.print_lines(&[
        format!("{what} with the organization {name}."),
        "Give each member a login with the organization's role:".to_owned(),
        format!("  CREATE ROLE ana LOGIN PASSWORD '…' IN ROLE {role};"),
        "Each member then sets the URL with this login and runs `docdeck team join`.".to_owned(),
    ]);
    Ok(Code::Done)
}
