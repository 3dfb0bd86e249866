//! `docdeck team`: shares the jobs of a project with other computers through PostgreSQL. Commands about the database
//! itself are in [`setup`], those about this computer in [`sharing`].

mod access;
mod setup;
mod sharing;

pub(super) use access::read_access;

use super::error::CliError;
use super::exit_code::Code;
use super::session::CommandContext;
use crate::config::{TeamSettings, team_settings};
use crate::team::{OrganizationName, TeamAddress, TeamError};
use clap::{Args, Subcommand};
use std::time::Duration;

/// How long a command waits for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Help text about the JSON output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
The URL of the database comes from DOCDECK_TEAM_URL, or from url_command or url_file in the section [team] of the \
configuration file. It is never printed. The connection is encrypted and the server's certificate is checked, except \
on this computer.

`team status --json`: {\"joined\", \"organization\", \"name\", \"unsent\", \"exchangedAt\", \"database\": {\"host\", \
\"tls\", \"reachable\", \"error\"}, \"members\": [{\"name\", \"lastSeen\", \"thisComputer\"}]}. `team sync --json`: \
{\"sent\", \"received\", \"unreadable\", \"restarted\"}.

Exit codes: 0 done; 2 usage, configuration or database error, or not joined; 4 the database can't be reached.";

#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(subcommand)]
    command: TeamCommand,
}

#[derive(Debug, Subcommand)]
enum TeamCommand {
    /// create or update the schema of the team's database, as its administrator
    ///
    /// Creates the schema docdeck, a role for all members, and a role for the organization. Every login with the role of
    /// the organization is a member. Running it again updates an older schema, or adds another organization.
    Init {
        /// the name of the organization, part of the name of its role
        #[arg(long, value_name = "NAME", default_value = "team", value_parser = parse_organization)]
        organization: OrganizationName,
        /// only print the statements for an empty database
        #[arg(long)]
        print_sql: bool,
    },
    /// share the jobs of this project, and receive those of the team
    ///
    /// All members can read all prompts of the shared jobs. A prompt is sent only by the computer on which it was
    /// written. Keys, drafts, queued prompts and what you have viewed stay on this computer.
    Join {
        /// the organization, if the login belongs to several
        #[arg(long, value_name = "NAME", value_parser = parse_organization)]
        organization: Option<OrganizationName>,
    },
    /// stop sharing the jobs of this project (all jobs stay on this computer)
    Leave,
    /// print whether this project is shared, with whom, and when changes were last exchanged
    Status {
        /// print JSON
        #[arg(long)]
        json: bool,
    },
    /// exchange changes once, for scripts
    Sync {
        /// print JSON
        #[arg(long)]
        json: bool,
    },
}

impl Options {
    /// Whether the command prints its result as JSON.
    pub(super) fn answers_in_json(&self) -> bool {
        matches!(self.command, TeamCommand::Status { json: true } | TeamCommand::Sync { json: true })
    }
}

fn parse_organization(text: &str) -> Result<OrganizationName, &'static str> {
    OrganizationName::new(text).ok_or("it must have 1 to 40 lower-case letters, digits or underscores")
}

/// Runs `docdeck team`.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    match &options.command {
        TeamCommand::Init { organization, print_sql: true } => Ok(setup::print_sql(cx, organization)),
        TeamCommand::Init { organization, print_sql: false } => setup::init(cx, organization).await,
        TeamCommand::Join { organization } => sharing::join(cx, organization.as_ref()).await,
        TeamCommand::Leave => sharing::leave(cx).await,
        TeamCommand::Status { json } => sharing::status(cx, *json).await,
        TeamCommand::Sync { json } => sharing::sync(cx, *json).await,
    }
}

/// Reads the settings of the team.
///
/// # Errors
/// No URL is configured, or it can't be read or used.
async fn read_settings(cx: &mut CommandContext<'_>) -> Result<(TeamSettings, TeamAddress), CliError> {
    let Some(settings) = team_settings(cx.flags, cx.environment)? else {
        return Err(CliError::unusable(
            "No team is configured. Set DOCDECK_TEAM_URL, or url_command or url_file in the section [team] of the \
             configuration file.",
        ));
    };
    let url = settings.read_url().await?;
    cx.out.hide_key(&url);
    let address = TeamAddress::new(&url, settings.roots()?)?;
    Ok((settings, address))
}

impl From<TeamError> for CliError {
    fn from(error: TeamError) -> Self {
        let code = if error.is_temporary() { Code::Service } else { Code::Unusable };
        Self::new(code, error)
    }
}
