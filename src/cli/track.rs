//! `docdeck track`: tracks jobs that were created elsewhere, with one request each.

use super::error::CliError;
use super::exit_code::Code;
use super::job_format::{jobs_json, write_job_table};
use super::out::Out;
use super::session::{CommandContext, Interrupted, Session};
use crate::engine::LeaseRoles;
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::Job;
use crate::model::remote_job::JobId;
use crate::tui::format::plural;
use clap::Args;
use serde_json::{Value, json};

/// Help text about the JSON output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
With --json: {\"jobs\": [JOB, …], \"failures\": [{\"id\", \"error\", \"exitCode\"}, …]}, with the JOB \
of `docdeck jobs --help`; plus \"error\" and \"exitCode\" if the command fails.

Exit codes: 0 all are tracked; otherwise that of the first failure: 2 usage, configuration or database error; 3 key \
refused; 4 job not found, service or network error; 5 limit reached; 130 Ctrl-C.";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// ids of the jobs on the service
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// The results of requesting the jobs.
#[derive(Debug, Default)]
struct TrackResults {
    jobs: Vec<Job>,
    failures: Vec<(JobId, Failure)>,
    /// The number of jobs that were not requested, because the key was refused or a limit was reached.
    not_requested_count: usize,
}

impl TrackResults {
    /// Returns a sentence for each job that could not be tracked.
    fn failure_sentences(&self) -> impl Iterator<Item = String> {
        self.failures.iter().map(|(id, failure)| format!("{}: {}", id.to_clean_text(), failure.message))
    }
}

/// Runs `docdeck track`.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    let mut ids: Vec<JobId> = Vec::new();
    for id in options.ids.iter().map(|id| JobId::new(id.trim())) {
        let id =
            id.ok_or_else(|| CliError::local_error("An id is blank. Give the ids of jobs, separated by spaces."))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    cx.with_session(LeaseRoles::None, async |session, out| {
        let mut tracked = TrackResults::default();
        if let Err(Interrupted) = track_ids(session, ids, &mut tracked, out).await {
            let found = "Interrupted. The jobs that were found so far are tracked; list them with `docdeck jobs`.";
            let sentences = tracked.failure_sentences().chain([found.to_owned()]).collect::<Vec<_>>();
            return Err(CliError::new(Code::Interrupted, sentences.join("\n")));
        }
        write_tracked(session, tracked, options.json, out).await
    })
    .await
}

async fn track_ids(
    session: &mut Session,
    ids: Vec<JobId>,
    tracked: &mut TrackResults,
    out: &mut Out,
) -> Result<(), Interrupted> {
    let count = ids.len();
    for (n, id) in ids.into_iter().enumerate() {
        out.show_live_line(&format!("loading job {} of {count}", n + 1));
        let engine = session.engine.clone();
        match session.run_interruptible(engine.track(&id)).await? {
            Ok(row) => tracked.jobs.push(row),
            Err(failure) => {
                // The remaining requests would fail the same way.
                let will_all_fail = matches!(failure.kind, FailureKind::KeyRefused | FailureKind::Limited(_));
                tracked.failures.push((id, failure));
                if will_all_fail {
                    tracked.not_requested_count = count - n - 1;
                    break;
                }
            }
        }
    }
    Ok(())
}

async fn write_tracked(
    session: &Session,
    tracked: TrackResults,
    as_json: bool,
    out: &mut Out,
) -> Result<Code, CliError> {
    let failures: Vec<Value> = tracked.failures.iter().map(|(id, failure)| failure_json(id, failure)).collect();
    let fields = json!({ "jobs": jobs_json(&session.store, &tracked.jobs).await?, "failures": failures });
    if !as_json {
        write_job_table(&tracked.jobs, chrono::Utc::now(), out);
    }
    if let Some((_, first)) = tracked.failures.first() {
        let mut sentences: Vec<String> = tracked.failure_sentences().collect();
        if tracked.not_requested_count > 0 {
            sentences.push(format!(
                "{} not requested because of that error. Run the command again to track the rest.",
                plural(tracked.not_requested_count, "job")
            ));
        }
        return Err(CliError::new(first.kind.into(), sentences.join("\n")).with_json_fields(fields));
    }
    if as_json {
        out.print_json(&fields);
    }
    Ok(Code::Done)
}

fn failure_json(id: &JobId, failure: &Failure) -> Value {
    let code = Code::from(failure.kind).number();
    json!({ "id": id.as_str(), "error": failure.message.as_str(), "exitCode": code })
}
