//! `docdeck wait`: waits until all given jobs are finished and, with `--pr`, until their pull requests are merged or
//! ready.

use super::error::CliError;
use super::exit_code::Code;
use super::job_format::{jobs_json, write_job_table};
use super::out::Out;
use super::pull_requests::{configured_hosts, pull_requests_disabled_error};
use super::resolve_id;
use super::session::{CommandContext, Session, StoreSession};
use super::wait_pull_requests::{WantedState, wait_for_state};
use super::waiting::{JobWait, Timer, WaitTimeout, wait_command};
use crate::engine::LeaseRoles;
use crate::model::job::Job;
use crate::runtime::hosts::ConfiguredHosts;
use clap::Args;
use serde_json::json;

/// Help text about the JSON output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
With --json: {\"jobs\": [JOB, …]}, where JOB is as in `docdeck jobs --help`; plus \"error\" and \"exitCode\" if the \
command fails, for example after a timeout.

With --pr, docdeck asks the code hosts every minute while checks are running, and every five minutes otherwise. The \
tokens and the number of calls are those of `docdeck pr`. A merged pull request also counts as ready.

Exit codes: 0 all are done (archived counts as done); 1 a job failed, or a pull request was closed; 2 usage, \
configuration or database error; 3 key refused; 4 a job is gone from the service or not tracked, or (with --pr) it has \
no pull request, or one that can't be read; 124 timeout; 130 Ctrl-C. After 124 and 130, the jobs keep running.";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// ids of tracked jobs, or unique prefixes of them
    #[arg(value_name = "ID", required = true, add = super::completion_candidates::job_ids())]
    ids: Vec<String>,
    /// also wait until the pull request of each job has this state
    #[arg(long, value_name = "STATE")]
    pr: Option<WantedState>,
    #[command(flatten)]
    pub(super) wait_timeout: WaitTimeout,
    /// print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs `docdeck wait`.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    let timer = options.wait_timeout.start();
    // The jobs are found before the API key is read, because an unknown id can be reported without the key.
    let rows = cx.with_store(async |session, _| find_jobs(session, &options.ids).await).await?;
    let wanted = match options.pr {
        Some(state) => Some((state, configured_hosts(cx)?.ok_or_else(pull_requests_disabled_error)?)),
        None => None,
    };
    let work = async |session: &mut Session, out: &mut Out| {
        wait(session, rows, wanted.as_ref(), timer, options.json, out).await
    };
    cx.with_session(LeaseRoles::Poll, work).await
}

async fn find_jobs(session: &StoreSession, ids: &[String]) -> Result<Vec<Job>, CliError> {
    let known = session.store.jobs(&session.scope).await?;
    Ok(resolve_id::find_all_by_id_prefix(&known, ids)?.into_iter().cloned().collect())
}

async fn wait(
    session: &mut Session,
    rows: Vec<Job>,
    wanted: Option<&(WantedState, ConfiguredHosts)>,
    timer: Timer,
    as_json: bool,
    out: &mut Out,
) -> Result<Code, CliError> {
    let mut waiting = JobWait::new(rows, timer);
    let end = waiting.wait(session, out).await?;
    let state = wanted.map(|(state, _)| format!(" --pr {}", state.word())).unwrap_or_default();
    let retry_command = wait_command(&waiting.jobs) + &state;
    let mut error = waiting.error(end, &retry_command);
    if let (None, Code::Done, Some((state, hosts))) = (&error, waiting.code(), wanted) {
        let done = wait_for_state(session, hosts, &mut waiting.jobs, *state, timer, &retry_command, out).await;
        error = done.err();
    }
    let known = if as_json { Some(json!({ "jobs": jobs_json(&session.store, &waiting.jobs).await? })) } else { None };
    match (error, known) {
        (Some(error), Some(known)) => return Err(error.with_json_fields(known)),
        (None, Some(known)) => out.print_json(&known),
        (error, None) => {
            write_job_table(&waiting.jobs, chrono::Utc::now(), out);
            if let Some(error) = error {
                return Err(error);
            }
        }
    }
    Ok(waiting.code())
}
