//! `docdeck wait`: until every one of some jobs is finished.

use super::error::CliError;
use super::exit_code::Code;
use super::job_line::write_table;
use super::jobs::as_json;
use super::out::Out;
use super::resolve_id;
use super::session::{Session, StoreSession};
use super::waiting::{JobWait, Timer};
use crate::config::Flags;
use crate::config::environment::Environment;
use crate::engine::LeaseRoles;
use crate::model::row::Job;
use clap::Args;
use serde_json::json;
use std::time::Duration;

/// What `--json` gives.
pub(super) const JSON: &str = "\
With --json: {\"jobs\": [JOB, …]}, a JOB as `docdeck jobs --help` tells; when the wait ends before the jobs do, \
error and exitCode beside it.

Exit code: 0 all are done (archived counts as done), 1 one failed, 2 usage, configuration or store, 3 the key was refused, \
4 the service no longer knows one, or it is not known here, 124 the time was up, 130 Ctrl-C; in the last two the jobs go \
on.";

/// Which jobs, and how long.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Ids of jobs known here, or the beginnings of them
    #[arg(value_name = "ID", required = true, add = super::completion_candidates::job_ids())]
    ids: Vec<String>,
    #[command(flatten)]
    pub(super) patience: Patience,
    /// Answer as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// How long to wait.
#[derive(Debug, Args)]
pub(super) struct Patience {
    /// Give up waiting after this many seconds; the job goes on
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = super::arguments::parse_seconds)]
    timeout: Option<u32>,
}

impl Patience {
    /// Begins to count.
    pub(super) fn start(&self) -> Timer {
        Timer::start(self.timeout.map(|seconds| Duration::from_secs(seconds.into())))
    }
}

/// Waits for them.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let timer = options.patience.start();
    // Before the key is asked for: an id that is not known needs none.
    let rows =
        StoreSession::with(flags, environment, out, async |record, _| wanted(record, &options.ids).await).await?;
    let work = async |desk: &mut Session, out: &mut Out| wait(desk, rows, timer, options.json, out).await;
    Session::with(flags, environment, LeaseRoles::Poll, out, work).await
}

async fn wanted(record: &StoreSession, ids: &[String]) -> Result<Vec<Job>, CliError> {
    let known = record.store.jobs(&record.scope).await?;
    let mut rows: Vec<Job> = Vec::new();
    for id in ids {
        let row = resolve_id::find(&known, id)?;
        if !rows.iter().any(|other| other.key == row.key) {
            rows.push(row.clone());
        }
    }
    Ok(rows)
}

async fn wait(
    desk: &mut Session,
    rows: Vec<Job>,
    timer: Timer,
    in_json: bool,
    out: &mut Out,
) -> Result<Code, CliError> {
    let mut waiting = JobWait::new(rows, timer);
    let end = waiting.wait(desk, out).await?;
    let again = again(&waiting.rows);
    let refusal = waiting.refusal(end, &again);
    let known = if in_json { Some(json!({ "jobs": as_json(&desk.store, &waiting.rows).await? })) } else { None };
    match (refusal, known) {
        (Some(refusal), Some(known)) => return Err(refusal.with(known)),
        (None, Some(known)) => out.json(&known),
        (refusal, None) => {
            write_table(&waiting.rows, chrono::Utc::now(), out);
            if let Some(refusal) = refusal {
                return Err(refusal);
            }
        }
    }
    Ok(waiting.code())
}

/// The command that waits for these again.
pub(super) fn again(rows: &[Job]) -> String {
    let ids: Vec<String> = rows.iter().filter_map(|row| row.id.as_ref()).map(|id| id.clean().to_string()).collect();
    format!("docdeck wait {}", ids.join(" "))
}
