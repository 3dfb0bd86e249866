//! `docdeck track`: takes jobs in that were made elsewhere, one request each.

use super::error::CliError;
use super::exit_code::Code;
use super::job_line::write_table;
use super::jobs::as_json;
use super::out::Out;
use super::session::{Interrupted, Session};
use crate::app::format::plural;
use crate::config::Flags;
use crate::config::environment::Environment;
use crate::engine::LeaseRoles;
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::JobId;
use crate::model::row::Job;
use clap::Args;
use serde_json::{Value, json};

/// What `--json` gives.
pub(super) const JSON: &str = "\
With --json: {\"jobs\": [JOB, …], \"failures\": [{\"id\", \"error\", \"exitCode\"}, …]}, a JOB as \
`docdeck jobs --help` tells.

Exit code: 0 all are followed, else that of the first failure: 2 usage, configuration or store, 3 the key was refused, 4 no \
such job, service or network, 130 Ctrl-C.";

/// Which jobs.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The service's ids
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Answer as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// What came of it.
#[derive(Debug, Default)]
struct Tracked {
    rows: Vec<Job>,
    failures: Vec<(JobId, Failure)>,
    /// Not asked for: the key is refused, or the service rests.
    left: usize,
}

/// Asks for each id, in order.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let mut ids: Vec<JobId> = Vec::new();
    for id in options.ids.iter().map(|id| JobId::new(id.trim())) {
        let id = id.ok_or_else(|| CliError::unusable("An id is blank: give the ids of jobs, apart by spaces."))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let mut desk = Session::open(flags, environment, LeaseRoles::None, out).await?;
    let asked = ask(&mut desk, ids, out).await;
    let answered = match asked {
        Ok(tracked) => answer(&desk, tracked, options.json, out).await,
        Err(Interrupted) => Err(CliError::new(
            Code::Interrupted,
            "Interrupted. Jobs that the service had answered about are known now; `docdeck jobs` lists them.",
        )),
    };
    desk.close(out).await;
    answered
}

async fn ask(desk: &mut Session, ids: Vec<JobId>, out: &mut Out) -> Result<Tracked, Interrupted> {
    let mut tracked = Tracked::default();
    let count = ids.len();
    for (n, id) in ids.into_iter().enumerate() {
        out.live(&format!("asking about job {} of {count}", n + 1));
        let engine = desk.engine.clone();
        match desk.drive(engine.track(&id)).await? {
            Ok(row) => tracked.rows.push(row),
            Err(failure) => {
                out.note(&format!("docdeck: {}: {}", id.clean(), failure.sentence));
                // What the service says of one it would say of all.
                let is_for_all = matches!(failure.kind, FailureKind::KeyRefused | FailureKind::Limited(_));
                tracked.failures.push((id, failure));
                if is_for_all {
                    tracked.left = count - n - 1;
                    break;
                }
            }
        }
    }
    Ok(tracked)
}

async fn answer(desk: &Session, tracked: Tracked, in_json: bool, out: &mut Out) -> Result<Code, CliError> {
    let Tracked { rows, failures, left } = tracked;
    if in_json {
        let failures: Vec<Value> = failures.iter().map(|(id, failure)| failure_json(id, failure)).collect();
        out.json(&json!({ "jobs": as_json(&desk.store, &rows).await?, "failures": failures }));
    } else {
        write_table(&rows, chrono::Utc::now(), out);
    }
    if left > 0 {
        out.note(&format!("{} more not asked for.", plural(left, "job")));
    }
    Ok(failures.first().map_or(Code::Done, |(_, failure)| failure.kind.into()))
}

fn failure_json(id: &JobId, failure: &Failure) -> Value {
    let code = Code::from(failure.kind).number();
    json!({ "id": id.as_str(), "error": failure.sentence.as_str(), "exitCode": code })
}
