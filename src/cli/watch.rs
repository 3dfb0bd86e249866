//! `docdeck watch`: prints a line for each change as it happens, without cursor movement, for logs and screen readers,
//! or as JSON for programs.

use super::changes::{changes_between, describe_changes};
use super::error::CliError;
use super::exit_code::Code;
use super::line_writer::LineWriterHandle;
use super::out::Out;
use super::session::{Session, WaitEnd};
use super::waiting::{ConnectionLog, log_progress, log_time};
use crate::model::connection::ConnectionState;
use crate::model::engine_event::EngineEvent;
use crate::model::job::{Job, JobGroup, JobKey};
use crate::model::json;
use crate::model::text::CleanText;
use crate::model::text::escaped_json;
use crate::model::time_format;
use crate::store::StoreError;
use crate::tui::format::plural;
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Help text about the output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
Runs until Ctrl-C, until the key is refused, or until the reader closes the pipe. Checks the jobs itself, or uses the \
checks of a running dashboard.

With --json, one object per line, flushed: JOB as in `docdeck jobs --help`, plus \"at\" and \"changes\", a list of \
what changed: \"new\" (the job was added), \"status\", \"pullRequest\" (its link), \"pullRequestState\" (its state, \
checks, review or conflict; noticed only when a dashboard or `docdeck pr` reads them), \"gone\" or \"back\" (the job \
disappeared from the service, or reappeared), \"delivery\" (of a prompt). Only changes are written; `docdeck jobs \
--json` prints the current state. If watch fails, the last line has \"error\" and \"exitCode\".

Exit codes: 0 the reader closed the pipe; 2 usage, configuration or database error; 3 key refused; 130 Ctrl-C.";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// print one JSON object per line
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs `docdeck watch`.
pub(super) async fn run(session: &mut Session, as_json: bool, out: &mut Out) -> Result<Code, CliError> {
    let jobs = session.store.jobs(&session.scope).await?;
    let known = first_line(&jobs);
    let jobs = jobs.into_iter().map(|row| (row.key, row)).collect();
    let lines = LineWriterHandle::start()?;
    if as_json {
        log_progress(&known, out);
    } else {
        lines.write(format!("{} {known}", log_time(out.stdout_is_terminal())), out);
    }
    let mut watch = JobWatch { jobs, lines, as_json, out, connection: ConnectionLog::default() };
    let end = watch.run(session).await;
    let JobWatch { lines, out, .. } = watch;
    if let Some(why) = lines.finish().await {
        out.set_output_error(why);
    }
    end
}

/// The last known version of each job, and where to write the changes.
struct JobWatch<'a> {
    jobs: BTreeMap<JobKey, Job>,
    lines: LineWriterHandle,
    as_json: bool,
    out: &'a mut Out,
    connection: ConnectionLog,
}

/// Returns the first line of the output: how many jobs are watched, are working, and need the user.
fn first_line(rows: &[Job]) -> String {
    let working = rows.iter().filter(|row| row.counts_as_working()).count();
    let needs = rows.iter().filter(|row| row.group() == JobGroup::NeedsYou).count();
    let verb = if needs == 1 { "needs" } else { "need" };
    format!("watching {}: {working} working, {needs} {verb} you", plural(rows.len(), "job"))
}

impl JobWatch<'_> {
    async fn run(&mut self, session: &mut Session) -> Result<Code, CliError> {
        loop {
            let wait_end = tokio::select! {
                wait_end = session.next_event(None) => wait_end,
                () = self.lines.wait_for_end() => return Ok(Code::Done),
            };
            match wait_end {
                WaitEnd::Interrupted => {
                    self.out.note("Interrupted. The jobs keep running.");
                    return Ok(Code::Interrupted);
                }
                WaitEnd::TimedOut => {}
                WaitEnd::Event(event) => {
                    if let Some(reason) = self.handle_event(*event, session).await? {
                        return Err(CliError::new(Code::KeyRefused, reason));
                    }
                }
            }
        }
    }

    /// Handles an event. Returns the service's reason if it refused the API key, otherwise `None`.
    async fn handle_event(&mut self, event: EngineEvent, session: &Session) -> Result<Option<CleanText>, StoreError> {
        match event {
            EngineEvent::Job(row) => self.update(*row, session).await?,
            EngineEvent::Prompt { job, .. } => self.update(*job, session).await?,
            EngineEvent::Merged { gone, .. } => {
                self.jobs.remove(&gone);
            }
            EngineEvent::JobsRemoved(left) => self.jobs.retain(|key, _| left.contains(*key)),
            EngineEvent::ConnectionState(ConnectionState::KeyRefused { reason }) => return Ok(Some(reason)),
            EngineEvent::ConnectionState(connection) => self.connection.update(&connection, self.out),
            EngineEvent::InternalFailure(failure) => log_progress(failure.message.as_str(), self.out),
            EngineEvent::Notice(text) => log_progress(text.as_str(), self.out),
            _ => {}
        }
        Ok(None)
    }

    async fn update(&mut self, new: Job, session: &Session) -> Result<(), StoreError> {
        let old = self.jobs.get(&new.key);
        if old.is_some_and(|old| old.revision >= new.revision) {
            return Ok(());
        }
        let changes = changes_between(old, &new);
        if !changes.is_empty() {
            if self.as_json {
                let thread = session.store.thread(new.key).await?;
                let mut job = json::job_object(&new, thread.creation_prompt());
                if let Value::Object(fields) = &mut job {
                    fields.insert("at".to_owned(), json!(time_format::json_time(chrono::Utc::now())));
                    let words: Vec<&str> = changes.iter().map(|change| change.json_name()).collect();
                    fields.insert("changes".to_owned(), json!(words));
                }
                self.lines.write(escaped_json(&job.to_string()).into_owned(), self.out);
            } else {
                let text = format!("{} {}", log_time(self.out.stdout_is_terminal()), describe_changes(&changes, &new));
                self.lines.write(text, self.out);
            }
        }
        self.jobs.insert(new.key, new);
        Ok(())
    }
}
