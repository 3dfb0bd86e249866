//! `docdeck team join`, `leave`, `status` and `sync`: shares the jobs of one project.

use super::database::{CONNECT_TIMEOUT, choose_organization, member_settings, read_team_settings};
use crate::cli::error::CliError;
use crate::cli::exit_code::Code;
use crate::cli::out::{Out, rfc3339_seconds};
use crate::cli::session::{CommandContext, StoreSession};
use crate::cli::table::{ColumnKind, TextCell, TextColumn, table_lines};
use crate::config::{TeamSettings, reader_text_days, team_settings};
use crate::model::Time;
use crate::model::colors::ColorRole;
use crate::model::team::ReportRules;
use crate::model::text::CleanText;
use crate::model::time_format::json_time;
use crate::store::TeamMembership;
use crate::team::{
    ExchangeSummary, OrganizationName, TeamAddress, TeamConnection, TeamError, TeamMember, exchange,
    exchange_with_progress, members, report_unbooked_requests,
};
use crate::tui::format::plural;
use chrono::Utc;
use serde_json::{Value, json};

/// Shares the project, then exchanges all its jobs and reports with the team once.
///
/// # Errors
/// Fails if no URL or project is configured, the database can't be used, or the login doesn't belong to `organization`.
/// If `organization` is `None`, fails if the login belongs to no organization or to several.
pub(super) async fn join(
    cx: &mut CommandContext<'_>,
    organization: Option<&OrganizationName>,
) -> Result<Code, CliError> {
    let (settings, address) = read_team_settings(cx).await?;
    let session = cx.open_store(true)?;
    let joined = join_in_session(&session, &settings, &address, organization, cx.out).await;
    session.close().await;
    let (team, report) = joined?;
    let shares_texts = !settings.reader_text_days.forbids_storing();
    let texts = if shares_texts { ", and the comments and questions of readers that you load" } else { "" };
    cx.out.print_lines(&[
        format!("This project is now shared with the organization {} as {}.", team.organization, settings.member_name),
        format!(
            "All members can read all prompts, titles, tags and notes of its jobs{texts}. Queued prompts, drafts and keys stay on this computer."
        ),
        exchange_line(&report),
    ]);
    Ok(Code::Done)
}

async fn join_in_session(
    session: &StoreSession,
    settings: &TeamSettings,
    address: &TeamAddress,
    organization: Option<&OrganizationName>,
    out: &mut Out,
) -> Result<(TeamMembership, ExchangeSummary), CliError> {
    let connection = TeamConnection::open_checked(address, CONNECT_TIMEOUT).await?;
    let chosen = choose_organization(&connection, organization).await?;
    let team = session.store.join_team(&session.scope, &chosen).await?;
    out.show_live_line("Exchanging jobs with the team…");
    let show_progress = |received: usize| {
        out.show_live_line(&format!("Exchanging jobs with the team… {} received", plural(received, "change")));
    };
    let (store, scope, member) = (&session.store, &session.scope, member_settings(settings));
    let report = exchange_with_progress(&connection, store, scope, member, Utc::now(), show_progress).await;
    out.clear_live_line();
    Ok((team, report?))
}

/// Stops sharing the project. Works offline.
///
/// # Errors
/// Fails if the store can't be written.
pub(super) async fn leave(cx: &mut CommandContext<'_>) -> Result<Code, CliError> {
    let session = cx.open_store(true)?;
    let team = session.store.team_membership(&session.scope).await;
    let left = session.store.leave_team(&session.scope).await;
    session.close().await;
    left?;
    cx.out.print_line(&match team? {
        Some(team) => {
            format!(
                "This project is no longer shared with the organization {}. All jobs stay on this computer.",
                team.organization
            )
        }
        None => "This project is not shared.".to_owned(),
    });
    Ok(Code::Done)
}

/// Exchanges changes with the team's database once.
///
/// # Errors
/// Fails if the project is not shared, or the database can't be used.
pub(super) async fn sync(cx: &mut CommandContext<'_>, as_json: bool) -> Result<Code, CliError> {
    let (settings, address) = read_team_settings(cx).await?;
    let session = cx.open_store(true)?;
    let report = sync_in_session(&session, &settings, &address).await;
    session.close().await;
    let report = report?;
    if as_json {
        let ExchangeSummary { sent, received, sent_reports, received_reports, unreadable, was_database_restored } =
            report;
        cx.out.print_json(&json!({
            "sent": sent,
            "received": received,
            "sentReports": sent_reports,
            "receivedReports": received_reports,
            "unreadable": unreadable,
            "restarted": was_database_restored,
        }));
    } else {
        cx.out.print_line(&exchange_line(&report));
    }
    Ok(Code::Done)
}

async fn sync_in_session(
    session: &StoreSession,
    settings: &TeamSettings,
    address: &TeamAddress,
) -> Result<ExchangeSummary, CliError> {
    if session.store.team_membership(&session.scope).await?.is_none() {
        return Err(CliError::local_error("This project is not shared. Share it with `docdeck team join`."));
    }
    let connection = TeamConnection::open_checked(address, CONNECT_TIMEOUT).await?;
    let (store, scope, now) = (&session.store, &session.scope, Utc::now());
    let report = exchange(&connection, store, scope, member_settings(settings), now).await?;
    report_unbooked_requests(&connection, store, scope, now).await?;
    Ok(report)
}

fn exchange_line(report: &ExchangeSummary) -> String {
    let ExchangeSummary { sent, received, sent_reports, received_reports, unreadable, was_database_restored } = *report;
    let mut line = format!("Sent {}, received {}.", plural(sent, "changed job"), plural(received, "change"));
    if sent_reports + received_reports > 0 {
        let sent = plural(sent_reports, "report");
        line.push_str(&format!(" Analytics: sent {sent}, received {received_reports}."));
    }
    if was_database_restored {
        line.push_str(" The database was restored from an older copy, so everything was exchanged again.");
    }
    if unreadable > 0 {
        line.push_str(&format!(
            " Not shown: {} made by a newer docdeck. Update docdeck.",
            plural(unreadable, "change")
        ));
    }
    line
}

/// Prints whether and with whom the project is shared. If the database can't be reached, prints only the data of this
/// computer.
///
/// # Errors
/// Fails if the configuration is wrong or the store can't be read.
pub(super) async fn status(cx: &mut CommandContext<'_>, as_json: bool) -> Result<Code, CliError> {
    let session = cx.open_store(false)?;
    let (team, unsent_jobs) = (
        session.store.team_membership(&session.scope).await?,
        session.store.count_unsent_team_jobs(&session.scope).await?,
    );
    let reader_text_days = reader_text_days(cx.global_options, cx.environment)?;
    let rules = ReportRules { now: Utc::now(), reader_text_days };
    let unsent_reports = session.store.count_unsent_team_reports(&session.scope, rules).await?;
    let (name, database) = match team_settings(cx.global_options, cx.environment)? {
        Some(settings) => {
            (Some(settings.member_name.clone()), Some(query_database(cx, &session, team.as_ref()).await?))
        }
        None => (None, None),
    };
    session.close().await;
    let status = SharingStatus { team, unsent_jobs, unsent_reports, name, database };
    if as_json {
        cx.out.print_json(&status.json());
    } else {
        let lines = status.lines(cx.out, Utc::now());
        cx.out.print_lines(&lines);
    }
    Ok(Code::Done)
}

/// How docdeck connects to the team's database, and the members that the database lists.
struct DatabaseStatus {
    host: CleanText,
    uses_tls: bool,
    members: Result<Vec<TeamMember>, TeamError>,
}

async fn query_database(
    cx: &mut CommandContext<'_>,
    session: &StoreSession,
    team: Option<&TeamMembership>,
) -> Result<DatabaseStatus, CliError> {
    let (_, address) = read_team_settings(cx).await?;
    let ask = async {
        let connection = TeamConnection::open_checked(&address, CONNECT_TIMEOUT).await?;
        match team {
            Some(team) => members(&connection, &session.scope, team).await,
            None => Ok(Vec::new()),
        }
    };
    Ok(DatabaseStatus { host: address.host(), uses_tls: address.uses_tls(), members: ask.await })
}

struct SharingStatus {
    team: Option<TeamMembership>,
    /// The number of jobs with changes that were not sent yet.
    unsent_jobs: usize,
    /// The number of analytics reports that were not sent yet. The store counts at most 50.
    unsent_reports: usize,
    /// The name of this computer in the team. `None` if no URL is configured.
    name: Option<CleanText>,
    /// `None` if no URL is configured.
    database: Option<DatabaseStatus>,
}

impl SharingStatus {
    fn json(&self) -> Value {
        let database = self.database.as_ref().map(|database| {
            let error = database.members.as_ref().err().map(ToString::to_string);
            json!({ "host": database.host, "tls": database.uses_tls, "reachable": error.is_none(), "error": error })
        });
        let members = self.database.as_ref().and_then(|database| database.members.as_ref().ok());
        let member = |member: &TeamMember| json!({ "name": member.name, "lastSeen": json_time(member.last_seen), "thisComputer": member.is_this_computer });
        json!({
            "joined": self.team.is_some(),
            "organization": self.team.as_ref().map(|team| team.organization.clone()),
            "name": self.name,
            "unsent": self.unsent_jobs,
            "unsentReports": self.unsent_reports,
            "exchangedAt": self.team.as_ref().and_then(|team| team.exchanged_at).map(json_time),
            "database": database,
            "members": members.map(|members| members.iter().map(member).collect::<Vec<_>>()),
        })
    }

    fn lines(&self, out: &Out, now: Time) -> Vec<String> {
        let mut lines = Vec::new();
        match &self.team {
            Some(team) => {
                let exchanged = team.exchanged_at.map_or("never".to_owned(), |at| out.time_in_words(at, now));
                lines.push(format!("shared with the organization {}, last exchange {exchanged}", team.organization));
                if self.unsent_jobs > 0 {
                    lines.push(format!("{} not sent yet", plural(self.unsent_jobs, "changed job")));
                }
                if self.unsent_reports > 0 {
                    lines.push(format!("{} not sent yet", plural(self.unsent_reports, "analytics report")));
                }
            }
            None => lines.push("not shared: run `docdeck team join`".to_owned()),
        }
        match &self.database {
            None => lines.push("no database is configured".to_owned()),
            Some(database) => {
                let tls = if database.uses_tls { "encrypted" } else { "on this computer" };
                lines.push(format!("database on {}, {tls}", database.host));
                match &database.members {
                    Err(error) => lines.push(error.to_string()),
                    Ok(members) if members.is_empty() => {}
                    Ok(members) => {
                        lines.push(String::new());
                        lines.extend(member_lines(members, out, now));
                    }
                }
            }
        }
        lines
    }
}

/// Returns the members as a table: the name, when the member was last seen, and which one is this computer. In a pipe,
/// the fields are separated by tabs.
fn member_lines(members: &[TeamMember], out: &Out, now: Time) -> Vec<String> {
    let columns = [
        TextColumn::new("MEMBER", ColumnKind::Flexible { min: 12 }, |member: &TeamMember, _: &Out| {
            TextCell::new(ColorRole::Text, member.name.as_str())
        }),
        TextColumn::new("LAST SEEN", ColumnKind::Left, move |member: &TeamMember, out: &Out| {
            TextCell::new(ColorRole::Muted, out.time_in_words(member.last_seen, now))
                .with_piped_text(rfc3339_seconds(member.last_seen))
        }),
        TextColumn::new("", ColumnKind::Left, |member: &TeamMember, _: &Out| {
            TextCell::new(ColorRole::Muted, if member.is_this_computer { "this computer" } else { "" })
        }),
    ];
    table_lines(&columns, members, out)
}
