//! `docdeck team forget`: removes old jobs and reports from the team's database, as its administrator.

use super::database::{CONNECT_TIMEOUT, choose_organization, parse_organization, read_team_settings};
use crate::cli::confirm::confirm;
use crate::cli::error::CliError;
use crate::cli::exit_code::Code;
use crate::cli::session::{CommandContext, StoreSession};
use crate::team::{ForgetSummary, OrganizationName, TeamAddress, TeamConnection, forget};
use crate::tui::format::plural;
use chrono::NaiveDate;
use clap::Args;
use serde_json::json;
use std::io::IsTerminal as _;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// remove the jobs that no member has changed since this day (UTC), and the analytics that were loaded before it
    #[arg(long, value_name = "YYYY-MM-DD")]
    before: NaiveDate,
    /// use this organization of the team's database (not one on the service); needed only if your login belongs to
    /// several
    #[arg(long, value_name = "NAME", value_parser = parse_organization)]
    organization: Option<OrganizationName>,
    /// only print what would be removed
    #[arg(long)]
    dry_run: bool,
    /// don't ask for confirmation
    #[arg(long)]
    yes: bool,
    /// print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Removes the jobs and reports after a confirmation. With `--dry-run`, only counts them.
///
/// # Errors
/// Fails if the login is not that of the administrator, the database can't be used, or the confirmation needs a
/// terminal.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    let can_ask = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !(options.yes || options.dry_run || can_ask) {
        return Err(CliError::local_error(
            "docdeck team forget asks for confirmation, which needs a terminal. Add --yes to remove the jobs without \
             asking.",
        ));
    }
    let (_, address) = read_team_settings(cx).await?;
    let session = cx.open_store(false)?;
    let done = run_in_session(cx, &session, &address, options).await;
    session.close().await;
    done
}

async fn run_in_session(
    cx: &mut CommandContext<'_>,
    session: &StoreSession,
    address: &TeamAddress,
    options: &Options,
) -> Result<Code, CliError> {
    let connection = TeamConnection::open_checked(address, CONNECT_TIMEOUT).await?;
    let joined = session.store.team_membership(&session.scope).await?.map(|team| team.organization);
    let organization = match (joined, &options.organization) {
        (Some(joined), None) => joined,
        (_, wanted) => choose_organization(&connection, wanted.as_ref()).await?,
    };
    let before = options.before.and_time(chrono::NaiveTime::MIN).and_utc();
    let forget = async |is_dry_run| {
        let report = forget(&connection, &session.scope, &organization, before, is_dry_run).await?;
        report.ok_or_else(|| {
            CliError::local_error(format!("The organization {organization} doesn't share this project."))
        })
    };
    let what = |report: &ForgetSummary| {
        let count = |n: i64| usize::try_from(n).unwrap_or_default();
        let (jobs, prompts) = (plural(count(report.jobs), "job"), plural(count(report.prompts), "prompt"));
        let reports = plural(count(report.reports), "older analytics report");
        format!("{jobs} with {prompts}, unchanged since {}, and {reports}", options.before)
    };
    let mut report = forget(true).await?;
    let is_empty = report == ForgetSummary::default();
    let is_asking = !options.yes && !options.dry_run && !is_empty;
    if is_asking {
        let question = format!(
            "Remove {} from the database of {organization}? New members won't see them. Members who have them keep \
             their copies.",
            what(&report)
        );
        if !confirm(&question, cx.out) {
            cx.out.note("Nothing was removed.");
            return Ok(Code::Service);
        }
    }
    if !options.dry_run && !is_empty {
        report = forget(false).await?;
    }
    if options.json {
        cx.out.print_json(&json!({ "dryRun": options.dry_run, "jobs": report.jobs, "prompts": report.prompts,
            "reports": report.reports }));
    } else {
        cx.out.print_line(&match (is_empty, options.dry_run) {
            (true, _) => format!("Nothing to remove: no job or report is from before {}.", options.before),
            (_, true) => format!("Would remove {}.", what(&report)),
            (_, false) => format!("Removed {}. Members who have them keep their copies.", what(&report)),
        });
    }
    Ok(Code::Done)
}
