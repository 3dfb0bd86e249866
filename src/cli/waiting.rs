//! Waits until all given jobs are finished or gone, the time is up, or a signal asks docdeck to end. Prints a line on
//! stderr for each change and, on a terminal, a live line. The jobs themselves are not affected.

use super::changes::{changes_between, describe_changes};
use super::error::CliError;
use super::exit_code::Code;
use super::job_format::id_text;
use super::number_parser::number_parser;
use super::out::{Out, rfc3339_seconds};
use super::session::{Session, WaitEnd};
use crate::model::connection::ConnectionState;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::FailureKind;
use crate::model::job::{Job, JobKey};
use crate::model::ledger::Wait;
use crate::model::poll::has_ended;
use crate::model::remote_job::Status;
use crate::model::text::CleanText;
use crate::store::StoreError;
use crate::tui::format::{format_duration, plural};
use chrono::{Local, TimeDelta, Utc};
use clap::Args;
use std::time::Duration;
use tokio::time::Instant;

/// The start of a wait, and its optional end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timer {
    start: Instant,
    end: Option<Instant>,
}

impl Timer {
    /// Starts a timer that ends after `timeout`, or never.
    pub(super) fn start(timeout: Option<Duration>) -> Self {
        let start = Instant::now();
        Self { start, end: timeout.and_then(|timeout| start.checked_add(timeout)) }
    }

    /// Returns the moment at which the timer ends; `None` if it never ends.
    pub(super) fn end(self) -> Option<Instant> {
        self.end
    }

    pub(super) fn has_expired(self) -> bool {
        self.end.is_some_and(|end| end <= Instant::now())
    }

    /// Returns the time since the start as text.
    pub(super) fn elapsed_text(self) -> String {
        format_duration(TimeDelta::from_std(self.start.elapsed()).unwrap_or_default())
    }
}

/// The option that limits how long a command waits.
#[derive(Debug, Args)]
pub(super) struct WaitTimeout {
    /// stop waiting after this many seconds; started jobs keep running, and unsent prompts are paused
    #[arg(long, value_name = "S", allow_negative_numbers = true,
          value_parser = number_parser(0..=u32::MAX, "a whole number of seconds, like 600"))]
    timeout: Option<u32>,
}

impl WaitTimeout {
    /// Starts the timer.
    pub(super) fn start(&self) -> Timer {
        Timer::start(self.timeout.map(|seconds| Duration::from_secs(seconds.into())))
    }
}

/// A wait until all jobs of a list have ended, which means that they are finished or gone from the service.
#[derive(Debug)]
pub(super) struct JobWait {
    pub(super) jobs: Vec<Job>,
    timer: Timer,
    connection: ConnectionLog,
}

/// Why a wait for jobs ended.
#[derive(Debug)]
pub(super) enum WaitOutcome {
    /// Every job has ended.
    AllEnded,
    TimedOut,
    Interrupted,
    /// The service refused the key, so no more changes will come.
    KeyRefused(CleanText),
}

impl JobWait {
    /// Creates a wait for jobs that were read from the store.
    pub(super) fn new(jobs: Vec<Job>, timer: Timer) -> Self {
        Self { jobs, timer, connection: ConnectionLog::default() }
    }

    /// Waits until all jobs have ended, the time is up, a signal asks the command to end, or the service refuses the
    /// key.
    ///
    /// # Errors
    /// Fails if the store can't be read.
    pub(super) async fn wait(&mut self, session: &mut Session, out: &mut Out) -> Result<WaitOutcome, StoreError> {
        self.reload_jobs(session, out).await?;
        loop {
            if self.remaining_count() == 0 {
                return Ok(WaitOutcome::AllEnded);
            }
            out.show_live_line(&self.live_line());
            match session.next_event_or_tick(self.timer.end()).await {
                WaitEnd::Interrupted => return Ok(WaitOutcome::Interrupted),
                WaitEnd::TimedOut if self.timer.has_expired() => return Ok(WaitOutcome::TimedOut),
                WaitEnd::TimedOut => {}
                WaitEnd::Event(event) => {
                    if let Some(end) = self.handle_event(*event, session, out).await? {
                        return Ok(end);
                    }
                }
            }
        }
    }

    /// Returns the number of jobs that have not ended.
    pub(super) fn remaining_count(&self) -> usize {
        self.jobs.iter().filter(|row| !has_ended(row)).count()
    }

    /// Returns the exit code for all jobs: [`Code::Failed`] if a job failed, otherwise [`Code::Service`] if a job is
    /// gone, otherwise [`Code::Done`].
    pub(super) fn code(&self) -> Code {
        let any = |is: fn(&Job) -> bool| self.jobs.iter().any(is);
        if any(|row| row.remote.status == Some(Status::Failed) && !row.local.gone) {
            Code::Failed
        } else if any(|row| row.local.gone) {
            Code::Service
        } else {
            Code::Done
        }
    }

    /// Returns the error for the outcome. For [`WaitOutcome::AllEnded`], returns an error only if [`Self::code`] is
    /// [`Code::Service`], which means that a job is gone. `retry_command` is the command that continues the wait.
    pub(super) fn error(&self, outcome: WaitOutcome, retry_command: &str) -> Option<CliError> {
        let count = self.jobs.len();
        let left = self.remaining_count();
        let state = match (count, left) {
            (1, _) => "the job is not finished and keeps running".to_owned(),
            (_, 1) => format!("1 of {count} jobs is not finished and keeps running"),
            (_, left) => format!("{left} of {count} jobs are not finished and keep running"),
        };
        let waited = self.timer.elapsed_text();
        Some(match outcome {
            WaitOutcome::AllEnded if self.code() == Code::Service => CliError::new(Code::Service, self.gone_text()),
            WaitOutcome::AllEnded => return None,
            WaitOutcome::TimedOut => CliError::new(
                Code::TimedOut,
                format!("Timed out after {waited}: {state} on the service. Run `{retry_command}` to wait again."),
            ),
            WaitOutcome::Interrupted => CliError::new(
                Code::Interrupted,
                format!("Interrupted after {waited}: {state} on the service. Run `{retry_command}` to wait again."),
            ),
            WaitOutcome::KeyRefused(reason) => {
                CliError::new(Code::KeyRefused, format!("{reason} The jobs can't be checked any more: {state}."))
            }
        })
    }

    fn gone_text(&self) -> String {
        let gone: Vec<&Job> = self.jobs.iter().filter(|row| row.local.gone).collect();
        match gone.as_slice() {
            [job] => format!("The job {} is gone from the service.", id_text(job)),
            gone => format!("{} of {} jobs are gone from the service.", gone.len(), self.jobs.len()),
        }
    }

    /// Reads the jobs again, because no event reports a change that was made before the engine started.
    async fn reload_jobs(&mut self, session: &Session, out: &mut Out) -> Result<(), StoreError> {
        let keys: Vec<JobKey> = self.jobs.iter().map(|row| row.key).collect();
        for key in keys {
            if let Some(row) = session.store.job(key).await? {
                self.update(row, out);
            }
        }
        Ok(())
    }

    async fn handle_event(
        &mut self,
        event: EngineEvent,
        session: &Session,
        out: &mut Out,
    ) -> Result<Option<WaitOutcome>, StoreError> {
        match event {
            EngineEvent::Job(row) => self.update(*row, out),
            EngineEvent::Prompt { job, .. } => self.update(*job, out),
            // A job is removed from the store only if it has finished, so the command need not wait for it.
            EngineEvent::JobsRemoved(left) => self.jobs.retain(|row| left.contains(row.key)),
            EngineEvent::Merged { gone, into } => self.replace_merged_job(gone, session.store.job(into).await?),
            EngineEvent::ConnectionState(ConnectionState::KeyRefused { reason }) => {
                return Ok(Some(WaitOutcome::KeyRefused(reason)));
            }
            EngineEvent::ConnectionState(connection) => self.connection.update(&connection, out),
            EngineEvent::InternalFailure(failure) if failure.kind == FailureKind::Store => {
                out.note(failure.message.as_str())
            }
            EngineEvent::InternalFailure(failure) => log_progress(failure.message.as_str(), out),
            EngineEvent::Notice(text) => log_progress(text.as_str(), out),
            _ => {}
        }
        Ok(None)
    }

    /// Replaces the job `merged` with the job `into`, because the store has merged the two. If `into` is already in the
    /// list, only removes `merged`; if `into` is `None`, does nothing.
    fn replace_merged_job(&mut self, merged: JobKey, into: Option<Job>) {
        let Some(into) = into else { return };
        if self.jobs.iter().any(|row| row.key == into.key) {
            self.jobs.retain(|row| row.key != merged);
        } else if let Some(row) = self.jobs.iter_mut().find(|row| row.key == merged) {
            *row = into;
        }
    }

    fn update(&mut self, new: Job, out: &mut Out) {
        let Some(old) = self.jobs.iter_mut().find(|row| row.key == new.key && row.revision < new.revision) else {
            return;
        };
        let changes = changes_between(Some(old), &new);
        if !changes.is_empty() {
            log_progress(&describe_changes(&changes, &new), out);
        }
        *old = new;
    }

    fn live_line(&self) -> String {
        let (left, count) = (self.remaining_count(), self.jobs.len());
        let what = if count == 1 {
            "waiting for the job".to_owned()
        } else {
            format!("waiting for {left} of {}", plural(count, "job"))
        };
        let checked = self.jobs.iter().filter(|row| !has_ended(row)).filter_map(|row| row.local.checked_at).min();
        let checked =
            checked.map(|at| format!(" · checked {} ago", format_duration(Utc::now() - at))).unwrap_or_default();
        let trouble =
            self.connection.logged_problem.as_ref().map(|trouble| format!(" · {trouble}")).unwrap_or_default();
        format!("{what} · {}{checked}{trouble}", self.timer.elapsed_text())
    }
}

/// Returns the command that waits for these jobs again.
pub(super) fn wait_command(rows: &[Job]) -> String {
    let ids: Vec<String> =
        rows.iter().filter_map(|row| row.id.as_ref()).map(|id| id.to_clean_text().to_string()).collect();
    format!("docdeck wait {}", ids.join(" "))
}

/// Logs when a problem of the connection begins and when it ends.
#[derive(Debug, Default)]
pub(super) struct ConnectionLog {
    logged_problem: Option<CleanText>,
}

impl ConnectionLog {
    pub(super) fn update(&mut self, connection: &ConnectionState, out: &mut Out) {
        let problem = connection_problem(connection);
        if self.logged_problem != problem {
            log_progress(problem.as_ref().map_or("connected again", CleanText::as_str), out);
            self.logged_problem = problem;
        }
    }
}

/// Describes a problem with the connection. Returns `None` if the connection has no problem.
pub(super) fn connection_problem(connection: &ConnectionState) -> Option<CleanText> {
    let moment = |at: &crate::model::Time| at.with_timezone(&Local).format("%H:%M:%S").to_string();
    let words = match connection {
        ConnectionState::Unknown | ConnectionState::Connecting | ConnectionState::Ready => return None,
        ConnectionState::Unusable { reason } => format!("unusable answer: {reason}"),
        ConnectionState::Offline { reason, next_try: Some(at) } => {
            format!("offline, next try at {}: {reason}", moment(at))
        }
        ConnectionState::Offline { reason, next_try: None } => format!("offline: {reason}"),
        ConnectionState::Limited(wait) if wait.is_estimate => {
            "rate limited by the service, checking again in about a minute (estimated)".to_owned()
        }
        ConnectionState::Limited(wait) => {
            format!("rate limited by the service, checking again at {}", moment(&wait.until))
        }
        ConnectionState::KeyRefused { reason } => reason.to_string(),
    };
    Some(CleanText::line(&words))
}

/// Describes when a limit ends: the time of day and the remaining time, or only the remaining time if it is an
/// estimate.
pub(super) fn limit_end_text(wait: Wait) -> String {
    let left = wait.time_left_text(Utc::now());
    match wait.is_estimate {
        true => format!("in {left} (estimated, the service gave no time)"),
        false => format!("at {} (in {left})", wait.until.with_timezone(&Local).format("%H:%M:%S")),
    }
}

/// Prints a line on stderr: the current time and a progress message.
pub(super) fn log_progress(text: &str, out: &mut Out) {
    let time = log_time(out.stderr_is_terminal());
    out.note(&format!("{time} {text}"));
}

/// Returns the current time for a log line: the time of day on a terminal, otherwise RFC 3339.
pub(super) fn log_time(on_terminal: bool) -> String {
    if on_terminal { Local::now().format("%H:%M:%S").to_string() } else { rfc3339_seconds(Utc::now()) }
}
