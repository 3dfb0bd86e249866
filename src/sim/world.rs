//! Keeps all jobs of the simulated service: creates jobs, returns them, and starts new runs for follow-ups. Doesn't
//! read the clock, and takes everything random from the seed. `jobs` simulates one job, `population` creates the jobs
//! that exist at the start, and `service` checks API keys and limits.

use super::code_host::{HostFault, HostWorld, RateLimit, UserActions};
use super::jobs::{SimJob, SimPullRequest, SimRun, branch_name, new_id, pull_request_title};
use super::options::{SimOptions, scaled};
use super::population::{InitialJobData, create_initial_jobs};
use super::prompt_directives::{Directives, RunOutcome, merge_blocker, repository_host};
use super::rng::SeededRng;
use crate::api::wire::JobBody;
use crate::model::Time;
use crate::model::remote_job::{RemoteState, Status};
use crate::model::text::CleanText;
use chrono::TimeDelta;
use std::collections::HashMap;

/// Added to the number of a job to get the random stream for its id; see [`SeededRng::new`].
const JOB_ID_RNG_STREAM_BASE: u64 = 1 << 32;
/// Added to the number of a run to get its random stream.
const RUN_RNG_STREAM_BASE: u64 = 2 << 32;

/// A job that exists at the start, with its prompts and its history, because the service returns neither.
#[derive(Debug, Clone)]
pub struct InitialJob {
    /// The job's id on the service.
    pub id: String,
    /// The prompt that created the job.
    pub prompt: String,
    /// The texts of the follow-ups, oldest first.
    pub follow_ups: Vec<String>,
    /// The times of the follow-ups, in the same order.
    pub follow_up_times: Vec<Time>,
    pub created_at: Time,
    /// When the job's last run ended; `None` while it is active.
    pub finished_at: Option<Time>,
    /// The states that a client would have seen if it had polled since the job's creation, each with the time from
    /// which the job was in it, oldest first.
    pub changes: Vec<(Time, RemoteState)>,
    /// Whether the demo should mark the job as seen by the user.
    pub is_seen: bool,
    /// Whether the prompt is a numbered copy of another job's prompt, because there are more jobs than prompts.
    pub is_prompt_a_repeat: bool,
    /// The job as the service returns it now.
    pub body: JobBody,
}

/// All jobs of the simulated project.
#[derive(Debug)]
pub(super) struct SimWorld {
    seed: u64,
    speed: f64,
    jobs: Vec<SimJob>,
    index_by_id: HashMap<String, usize>,
    initial_jobs: Vec<InitialJobData>,
    created_job_count: u64,
    run_count: u64,
    next_pr_number: u32,
    received_prompts: Vec<(String, String)>,
    /// What the user did on the code host, by the number of the pull request.
    host_actions: HashMap<u32, UserActions>,
}

impl SimWorld {
    /// Creates the jobs that exist at the start. Their history ends at `now`.
    pub(super) fn new(options: &SimOptions, now: Time) -> Self {
        let first_pr = 1400;
        let (jobs, seeds): (Vec<SimJob>, Vec<InitialJobData>) =
            create_initial_jobs(options.seed, options.jobs, first_pr, now, |length| scaled(length, options.speed))
                .into_iter()
                .unzip();
        let last_pr = jobs.iter().filter_map(|job| job.pull_request).map(|pull_request| pull_request.number).max();
        let index_by_id = jobs.iter().enumerate().map(|(index, job)| (job.id.clone(), index)).collect();
        Self {
            seed: options.seed,
            speed: options.speed,
            jobs,
            index_by_id,
            initial_jobs: seeds,
            created_job_count: 0,
            run_count: 0,
            next_pr_number: last_pr.unwrap_or(first_pr) + 1,
            received_prompts: Vec::new(),
            host_actions: HashMap::new(),
        }
    }

    /// Creates a job and starts its first run.
    pub(super) fn create(&mut self, prompt: &str, now: Time) -> JobBody {
        self.created_job_count += 1;
        let mut rng = SeededRng::new(self.seed, JOB_ID_RNG_STREAM_BASE + self.created_job_count);
        let plan = self.plan_run(prompt, false);
        let (run, delay) = self.start_run(plan, now);
        let mut job = SimJob {
            id: new_id(now, &mut rng),
            title: pull_request_title(prompt),
            git_ref: branch_name(prompt),
            model: if rng.chance(700) { "sonnet" } else { "opus" },
            created_at: now,
            host: repository_host(prompt),
            run,
            pull_request: None,
            merge_blocker: merge_blocker(prompt),
        };
        job.pull_request = delay.map(|delay| self.open_pull_request(job.run.ends_at + delay));
        let body = job.body(now);
        self.received_prompts.push((job.id.clone(), prompt.to_owned()));
        self.index_by_id.insert(job.id.clone(), self.jobs.len());
        self.jobs.push(job);
        body
    }

    /// Returns the job as it is at `now`, or `None` for an unknown id.
    pub(super) fn job(&self, id: &str, now: Time) -> Option<JobBody> {
        let index = self.index_by_id.get(id)?;
        self.jobs.get(*index).map(|job| job.body(now))
    }

    /// Whether a job has this branch, even if the job is finished.
    pub(super) fn has_branch(&self, branch: &str) -> bool {
        self.jobs.iter().any(|job| job.git_ref == branch)
    }

    /// Starts a new run of a job. A finished or archived job becomes active again. An active job doesn't end earlier
    /// than it would without the follow-up. Returns `None` for an unknown id.
    pub(super) fn follow_up(&mut self, id: &str, prompt: &str, now: Time) -> Option<JobBody> {
        let index = *self.index_by_id.get(id)?;
        let before = self.jobs.get(index)?.clone();
        let plan = self.plan_run(prompt, true);
        let (mut run, delay) = self.start_run(plan, now);
        run.ends_at = run.ends_at.max(before.run.ends_at);
        // If the job's pull request is already visible, the job keeps it. Otherwise, the new run decides whether the
        // job gets a pull request, whatever the previous run had planned.
        let opened = before.pull_request.filter(|pull_request| pull_request.visible_from <= now);
        let pull_request = match (opened, delay) {
            (Some(pull_request), _) => Some(pull_request),
            (None, Some(delay)) => Some(self.open_pull_request(run.ends_at + delay)),
            (None, None) => None,
        };
        self.received_prompts.push((id.to_owned(), prompt.to_owned()));
        let job = self.jobs.get_mut(index)?;
        job.run = run;
        job.pull_request = pull_request;
        Some(job.body(now))
    }

    /// Returns the prompts accepted since the start as (job id, text), in the order of arrival.
    pub(super) fn received_prompts(&self) -> &[(String, String)] {
        &self.received_prompts
    }

    /// Returns the jobs that existed at the start, oldest first, as they are at `now`.
    pub(super) fn initial_jobs(&self, now: Time) -> Vec<InitialJob> {
        self.jobs.iter().zip(&self.initial_jobs).map(|(job, seed)| initial_job(job, seed, now)).collect()
    }

    /// Returns the simulated code hosts with the pull requests of the jobs. `token` is the token for the host that
    /// receives the request.
    pub(super) fn code_host<'a>(
        &'a self,
        now: Time,
        fault: Option<HostFault>,
        token: &'a str,
        rate_limit: Option<RateLimit>,
    ) -> HostWorld<'a> {
        let (seed, speed, actions) = (self.seed, self.speed, &self.host_actions);
        HostWorld { jobs: &self.jobs, seed, speed, now, fault, token, rate_limit, actions }
    }

    /// Records what the user has done with a pull request.
    pub(super) fn set_host_actions(&mut self, number: u32, actions: UserActions) {
        self.host_actions.insert(number, actions);
    }

    fn open_pull_request(&mut self, from: Time) -> SimPullRequest {
        let number = self.next_pr_number;
        self.next_pr_number += 1;
        SimPullRequest { number, visible_from: from }
    }

    fn plan_run(&mut self, prompt: &str, is_follow_up: bool) -> RunPlan {
        self.run_count += 1;
        let mut rng = SeededRng::new(self.seed, RUN_RNG_STREAM_BASE + self.run_count);
        let random_plan =
            if is_follow_up { RunPlan::follow_up(&mut rng) } else { RunPlan::new_job(&mut rng, self.run_count == 1) };
        match Directives::parse(prompt) {
            None => random_plan,
            Some(directives) => RunPlan {
                work_time: directives.work_time.unwrap_or(random_plan.work_time),
                outcome: directives.outcome.unwrap_or(RunOutcome::PullRequest { link_delay: TimeDelta::zero() }),
                archive_after: directives.archive_after,
            },
        }
    }

    /// Converts a plan to a run that starts at `now`. Also returns how long after the end of the run the link of its
    /// pull request appears, or `None` if the run opens no pull request.
    fn start_run(&self, plan: RunPlan, now: Time) -> (SimRun, Option<TimeDelta>) {
        let ends = now + scaled(plan.work_time, self.speed);
        let archived = plan.archive_after.map(|after| ends + scaled(after, self.speed));
        let delay = match plan.outcome {
            RunOutcome::PullRequest { link_delay: delay } => Some(scaled(delay, self.speed)),
            _ => None,
        };
        (SimRun { ends_at: ends, outcome: plan.outcome, archived_at: archived }, delay)
    }
}

/// The plan of a run. Its durations apply at speed 1, and are shorter at a higher speed.
#[derive(Debug)]
struct RunPlan {
    work_time: TimeDelta,
    outcome: RunOutcome,
    archive_after: Option<TimeDelta>,
}

impl RunPlan {
    /// Plans the first run of a new job, which takes 20 s to 8 min. The first run after the start of the simulator is
    /// quick and successful, because the user watches it.
    fn new_job(rng: &mut SeededRng, is_first: bool) -> Self {
        if is_first {
            let work_time = seconds_delta(rng.between(20, 30));
            return Self {
                work_time,
                outcome: RunOutcome::PullRequest { link_delay: seconds_delta(3) },
                archive_after: None,
            };
        }
        let (low, high) = match rng.between(0, 99) {
            0..35 => (20, 60),
            35..80 => (60, 240),
            _ => (240, 480),
        };
        Self { work_time: seconds_delta(rng.between(low, high)), ..Self::with_random_outcome(rng) }
    }

    /// Plans the run of a follow-up, which takes 15 to 120 s.
    fn follow_up(rng: &mut SeededRng) -> Self {
        Self { work_time: seconds_delta(rng.between(15, 120)), ..Self::with_random_outcome(rng) }
    }

    fn with_random_outcome(rng: &mut SeededRng) -> Self {
        let outcome = match rng.between(0, 99) {
            0..76 => {
                let is_late = rng.chance(250);
                RunOutcome::PullRequest {
                    link_delay: if is_late { seconds_delta(rng.between(2, 20)) } else { TimeDelta::zero() },
                }
            }
            76..89 => RunOutcome::NoPullRequest,
            _ => RunOutcome::Failed,
        };
        let is_archived = outcome != RunOutcome::Failed && rng.chance(100);
        let archive_after = is_archived.then(|| seconds_delta(rng.between(300, 1800)));
        Self { work_time: TimeDelta::zero(), outcome, archive_after }
    }
}

fn seconds_delta(n: u32) -> TimeDelta {
    TimeDelta::seconds(i64::from(n))
}

fn initial_job(job: &SimJob, seed: &InitialJobData, now: Time) -> InitialJob {
    let body = job.body(now);
    let earlier =
        |status, pr_link| RemoteState { status: Some(status), pr_link, archived_at: None, ..body.state.clone() };
    let mut changes = vec![(job.created_at, earlier(Status::Active, None))];
    if let Some(ended) = seed.first_run_ended_at {
        let pr_link = job.pull_request_url().map(|url| CleanText::line(&url));
        changes.push((ended, earlier(Status::Completed, pr_link)));
    }
    changes.extend(seed.follow_up_times.iter().map(|&at| (at, earlier(Status::Active, None))));
    let late_link =
        job.pull_request.map(|pull_request| pull_request.visible_from).filter(|&from| from > job.run.ends_at);
    let ends = [Some(job.run.ends_at), late_link, job.run.archived_at].into_iter().flatten().filter(|&at| at <= now);
    changes.extend(ends.map(|at| (at, job.body(at).state)));
    changes.sort_by_key(|(at, _)| *at);
    InitialJob {
        id: job.id.clone(),
        prompt: seed.prompt.clone(),
        follow_ups: seed.follow_ups.clone(),
        follow_up_times: seed.follow_up_times.clone(),
        created_at: job.created_at,
        finished_at: (!job.is_active(now)).then_some(job.run.ends_at),
        changes,
        is_seen: seed.is_seen,
        is_prompt_a_repeat: seed.is_prompt_a_repeat,
        body,
    }
}

#[cfg(test)]
#[path = "world_tests.rs"]
mod tests;
