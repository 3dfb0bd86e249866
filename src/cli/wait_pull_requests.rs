//! The second part of `docdeck wait --pr`: waits until the pull requests of finished jobs are merged or ready.

use super::error::CliError;
use super::exit_code::Code;
use super::job_format::id_text;
use super::out::Out;
use super::pull_requests::{ReadProblem, refresh_pull_requests};
use super::session::{Session, WaitEnd};
use super::waiting::{Timer, log_progress};
use crate::engine::next_refresh;
use crate::model::Time;
use crate::model::job::Job;
use crate::model::pull_request::{ChecksState, PullRequestFact as Fact};
use crate::model::text::sentence_case;
use crate::runtime::hosts::ConfiguredHosts;
use crate::tui::format::plural;
use chrono::{TimeDelta, Utc};
use clap::ValueEnum;

/// How long to wait after a request that failed for a temporary reason.
const RETRY_INTERVAL: TimeDelta = TimeDelta::seconds(60);

/// The state of a pull request for which the command waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum WantedState {
    /// the pull request is merged
    Merged,
    /// the pull request can be reviewed or merged: no draft, no conflict, no failing or running checks
    Ready,
}

impl WantedState {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Ready => "ready",
        }
    }
}

/// How far the pull request of a finished job is from the wanted state.
#[derive(Debug, PartialEq, Eq)]
enum WaitProgress {
    Reached,
    /// The state is requested again at this time; `None` if the state is unknown.
    Waiting(Option<Time>),
    /// The pull request can no longer get the wanted state, so the command fails.
    Never(Obstacle),
}

/// Why the command stops waiting for a pull request: the pull request can no longer get the wanted state, or docdeck
/// can't read the checks of the pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Obstacle {
    NoPullRequest,
    Closed,
    UnreadableChecks,
}

impl Obstacle {
    fn error(self, job: &Job) -> CliError {
        let pull_request = match job.pr_number() {
            Some(number) => format!("pull request #{number} of job {}", id_text(job)),
            None => format!("the pull request of job {}", id_text(job)),
        };
        let text = match self {
            Self::NoPullRequest => format!("The job {} has no pull request.", id_text(job)),
            Self::Closed => format!("{} was closed without merging.", sentence_case(&pull_request)),
            Self::UnreadableChecks => format!(
                "The token can't read the checks of {pull_request}, so it is unknown whether the pull request is ready."
            ),
        };
        CliError::new(self.code(), text)
    }

    fn code(self) -> Code {
        match self {
            Self::NoPullRequest | Self::UnreadableChecks => Code::Service,
            Self::Closed => Code::Failed,
        }
    }
}

fn wait_progress(job: &Job, wanted: WantedState) -> WaitProgress {
    if job.pr_url().is_none() {
        return WaitProgress::Never(Obstacle::NoPullRequest);
    }
    let Some(state) = job.pull_request.as_deref() else { return WaitProgress::Waiting(None) };
    match (state.main_fact(), wanted) {
        (Fact::Merged, _) => WaitProgress::Reached,
        (Fact::Ready | Fact::Queued, WantedState::Ready) => match state.checks.state {
            _ if !state.has_current_checks() => WaitProgress::Waiting(next_refresh(state)),
            ChecksState::Unavailable => WaitProgress::Never(Obstacle::UnreadableChecks),
            _ => WaitProgress::Reached,
        },
        (Fact::Closed, _) => WaitProgress::Never(Obstacle::Closed),
        _ => WaitProgress::Waiting(next_refresh(state)),
    }
}

/// Waits until the pull requests of these jobs have the wanted state. A state that a dashboard has stored recently is
/// not requested again. `retry_command` is the command that continues the wait.
///
/// # Errors
/// Fails if the time is up, a signal asked to end, a host has no token, a pull request can't get the wanted state any
/// more, or the store can't be used.
pub(super) async fn wait_for_state(
    session: &mut Session,
    hosts: &ConfiguredHosts,
    rows: &mut Vec<Job>,
    wanted: WantedState,
    timer: Timer,
    retry_command: &str,
    out: &mut Out,
) -> Result<(), CliError> {
    let mut last_problem = String::new();
    loop {
        let now = Utc::now();
        let is_due = |job: &&Job| match wait_progress(job, wanted) {
            WaitProgress::Waiting(at) => at.is_none_or(|at| at <= now),
            WaitProgress::Reached | WaitProgress::Never(_) => false,
        };
        let due: Vec<Job> = rows.iter().filter(is_due).cloned().collect();
        let problems = refresh_pull_requests(&session.store, hosts, &due).await?;
        if let Some(lasting) = problems.iter().find(|problem| problem.is_lasting) {
            return Err(CliError::new(Code::Service, lasting.text.clone()));
        }
        reload_jobs(session, rows).await?;
        if let Some(error) = rows.iter().find_map(|job| match wait_progress(job, wanted) {
            WaitProgress::Never(obstacle) => Some(obstacle.error(job)),
            WaitProgress::Reached | WaitProgress::Waiting(_) => None,
        }) {
            return Err(error);
        }
        let left = rows.iter().filter(|job| wait_progress(job, wanted) != WaitProgress::Reached).count();
        if left == 0 {
            return Ok(());
        }
        report_problem(&problems, &mut last_problem, out);
        let until = next_request_time(rows, wanted, !problems.is_empty(), Utc::now());
        while Utc::now() < until {
            let what = plural(left, "pull request");
            out.show_live_line(&format!("waiting for {what} to be {} · {}", wanted.word(), timer.elapsed_text()));
            match session.next_event_or_tick(timer.end()).await {
                WaitEnd::Interrupted => {
                    return Err(early_end_error(Code::Interrupted, left, wanted, timer, retry_command));
                }
                WaitEnd::TimedOut if timer.has_expired() => {
                    return Err(early_end_error(Code::TimedOut, left, wanted, timer, retry_command));
                }
                WaitEnd::TimedOut | WaitEnd::Event(_) => {}
            }
        }
    }
}

fn early_end_error(
    code: Code,
    remaining_count: usize,
    wanted: WantedState,
    timer: Timer,
    retry_command: &str,
) -> CliError {
    let what = if code == Code::TimedOut { "Timed out" } else { "Interrupted" };
    let (waited, is) = (timer.elapsed_text(), if remaining_count == 1 { "is" } else { "are" });
    let left = plural(remaining_count, "pull request");
    let text =
        format!("{what} after {waited}: {left} {is} not {} yet. Run `{retry_command}` to wait again.", wanted.word());
    CliError::new(code, text)
}

/// Returns the earliest time at which the state of any of the pull requests is requested again. A state is requested
/// again after [`RETRY_INTERVAL`] if it is unknown, or if it is still due because the last request failed
/// (`has_failed`).
fn next_request_time(rows: &[Job], wanted: WantedState, has_failed: bool, now: Time) -> Time {
    let retry = now + RETRY_INTERVAL;
    let times = rows.iter().filter_map(|job| match wait_progress(job, wanted) {
        WaitProgress::Waiting(Some(at)) if at > now || !has_failed => Some(at),
        WaitProgress::Waiting(_) => Some(retry),
        WaitProgress::Reached | WaitProgress::Never(_) => None,
    });
    times.min().unwrap_or(retry)
}

/// Prints the first problem, unless its text is the same as `last_problem`. Stores the text in `last_problem`.
fn report_problem(problems: &[ReadProblem], last_problem: &mut String, out: &mut Out) {
    let text = problems.first().map(|problem| problem.text.clone()).unwrap_or_default();
    if !text.is_empty() && text != *last_problem {
        log_progress(&text, out);
    }
    *last_problem = text;
}

async fn reload_jobs(session: &Session, rows: &mut Vec<Job>) -> Result<(), CliError> {
    for row in rows {
        if let Some(new) = session.store.job(row.key).await? {
            *row = new;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::pull_request::tests::open_pull_request;
    use crate::model::pull_request::{Checks, PullRequest, PullRequestState};
    use crate::model::remote_job::Status;
    use crate::model::text::CleanText;
    use crate::tui::jobs::tests::{at, row};

    fn job(state: Option<PullRequest>) -> Job {
        let mut job = row(1, Status::Completed);
        job.remote.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
        job.pull_request = state.map(Box::new);
        job
    }

    #[test]
    fn merged_ends_both_waits_and_closed_ends_them_with_an_error() {
        let open = PullRequest {
            checks: Checks { state: ChecksState::Pending, ..Checks::default() },
            ..open_pull_request(at(0))
        };
        let with = |state| job(Some(PullRequest { state, ..open.clone() }));
        for wanted in [WantedState::Merged, WantedState::Ready] {
            assert_eq!(wait_progress(&with(PullRequestState::Merged), wanted), WaitProgress::Reached);
            let closed = with(PullRequestState::Closed);
            assert_eq!(wait_progress(&closed, wanted), WaitProgress::Never(Obstacle::Closed));
            assert_eq!(wait_progress(&with(PullRequestState::Open), wanted), WaitProgress::Waiting(Some(at(60))));
            assert_eq!(wait_progress(&job(None), wanted), WaitProgress::Waiting(None));
            let without = row(1, Status::Completed);
            assert_eq!(wait_progress(&without, wanted), WaitProgress::Never(Obstacle::NoPullRequest));
        }
        assert_eq!((Obstacle::Closed.code(), Obstacle::NoPullRequest.code()), (Code::Failed, Code::Service));
    }

    #[test]
    fn the_next_request_is_at_the_earliest_due_time_or_a_minute_after_a_failure() {
        let pending = Checks { state: ChecksState::Pending, ..Checks::default() };
        let known = job(Some(PullRequest { checks: pending, ..open_pull_request(at(0)) }));
        let next = |rows: &[Job], has_failed, now| next_request_time(rows, WantedState::Merged, has_failed, at(now));
        assert_eq!(next(&[known.clone(), job(None)], false, 10), at(60));
        assert_eq!(
            next(std::slice::from_ref(&known), true, 70),
            at(130),
            "its time has passed, but the host did not answer"
        );
        assert_eq!(next(&[job(None)], true, 0), at(60));
    }
}
