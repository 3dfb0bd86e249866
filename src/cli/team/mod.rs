//! `docdeck team`: shares the jobs of a project with other computers through PostgreSQL. Commands for the database's
//! administrator are in [`setup`] and [`forget`], those for members in [`sharing`].

mod access;
mod brief_exchange;
mod database;
mod forget;
mod setup;
mod sharing;

pub(super) use access::{TeamUrlReader, resolve_team_access};
pub(super) use brief_exchange::{exchange_before_status, exchange_briefly, send_reports_briefly};

use super::error::CliError;
use super::exit_code::Code;
use super::session::CommandContext;
use crate::team::OrganizationName;
use clap::{Args, Subcommand};
use database::parse_organization;

/// Help text about the JSON output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
The URL of the database comes from DOCDECK_TEAM_URL, or from url_command or url_file in the section [team] of the \
configuration file. It is never printed. The connection is encrypted and the server's certificate is checked, unless \
the server runs on this computer.

`team status --json`: {\"joined\", \"organization\", \"name\", \"unsent\", \"unsentReports\", \"exchangedAt\", \
\"database\": {\"host\", \"tls\", \"reachable\", \"error\"}, \"members\": [{\"name\", \"lastSeen\", \
\"thisComputer\"}]}. `team sync --json`: {\"sent\", \"received\", \"sentReports\", \"receivedReports\", \
\"unreadable\", \"restarted\"}. `team forget --json`: {\"dryRun\", \"jobs\", \"prompts\", \"reports\"}. \
\"name\" is this computer's name in the team; \"unsent\" and \"unsentReports\" count the changed jobs and the \
analytics reports that were not sent yet; \"exchangedAt\" is the time of the last exchange; \"unreadable\" counts \
received changes that a newer docdeck made; \"restarted\" is true if the database was restored from an \
older copy, so that everything was exchanged again.

Exit codes: 0 done (for status, also if the team's database can't be reached); 2 usage, configuration or database \
error, or sync or forget of a project that is not shared; 4 the team's database can't be reached, or you answered no \
to a question.";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Option<TeamCommand>,
    /// print the JSON of `team status --json`
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum TeamCommand {
    /// create or update the schema of the team's database, as its administrator
    ///
    /// Creates the schema docdeck, a role for all members, and the role docdeck_NAME for the organization. Every
    /// database login that has the role docdeck_NAME is a member. Running the command again updates an older schema, or
    /// adds another organization.
    Init {
        /// create an organization with this name: a group of members who share jobs (not one on the service)
        #[arg(long, value_name = "NAME", default_value = "team", value_parser = parse_organization)]
        organization: OrganizationName,
        /// only print the statements for an empty database
        #[arg(long)]
        print_sql: bool,
    },
    /// share the jobs and analytics of this project, and receive those of the team
    ///
    /// All members can read all prompts, titles, tags and notes of the shared jobs, and the analytics that one of them
    /// loads. These include comments and questions of readers, unless reader_text_days is 0. A prompt is sent only by
    /// the computer on which it was written. Keys, drafts, queued prompts and what you have viewed stay on this
    /// computer.
    Join {
        /// use this organization of the team's database (not one on the service); needed only if your login belongs to
        /// several
        #[arg(long, value_name = "NAME", value_parser = parse_organization)]
        organization: Option<OrganizationName>,
    },
    /// stop sharing the jobs of this project (all jobs stay on this computer)
    Leave,
    /// print whether this project is shared, with whom, and when each member was last seen (the default command)
    Status {
        /// print JSON
        #[arg(long)]
        json: bool,
    },
    /// exchange changes with the team's database once, for scripts
    Sync {
        /// print JSON
        #[arg(long)]
        json: bool,
    },
    /// remove old jobs from the team's database, as its administrator
    ///
    /// Removes the state, titles, tags, notes and prompts of each job of this project that no member has changed since
    /// the day of --before. Members who have such a job keep their copy. The job comes back only if one of
    /// them changes it again, and then without its older prompts. Also removes the analytics that were loaded before
    /// that day. Members can't remove anything, so this needs the administrator's URL.
    Forget(forget::Options),
}

impl Options {
    /// Whether the command prints its result as JSON.
    pub(super) fn prints_json(&self) -> bool {
        match &self.command {
            None => self.json,
            Some(TeamCommand::Status { json } | TeamCommand::Sync { json }) => *json,
            Some(TeamCommand::Forget(options)) => options.json,
            Some(TeamCommand::Init { .. } | TeamCommand::Join { .. } | TeamCommand::Leave) => false,
        }
    }
}

/// Runs `docdeck team`.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    let Some(command) = &options.command else { return sharing::status(cx, options.json).await };
    match command {
        TeamCommand::Init { organization, print_sql: true } => Ok(setup::print_sql(cx, organization)),
        TeamCommand::Init { organization, print_sql: false } => setup::init(cx, organization).await,
        TeamCommand::Join { organization } => sharing::join(cx, organization.as_ref()).await,
        TeamCommand::Leave => sharing::leave(cx).await,
        TeamCommand::Status { json } => sharing::status(cx, *json).await,
        TeamCommand::Sync { json } => sharing::sync(cx, *json).await,
        TeamCommand::Forget(options) => forget::run(cx, options).await,
    }
}
