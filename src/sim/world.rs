//! The jobs of the simulated service: set to work, looked at, woken by follow-ups.
//!
//! Pure: every moment is an argument, all luck comes from the seed. The life of one job lies in `jobs`, those that are
//! there from the start in `population`; who may ask, and how often, is decided in `http` and `limits`.

use super::SimOptions;
use super::jobs::{SimJob, SimPullRequest, SimRun, branch, new_id, pull_request};
use super::population::{Seed, populate};
use super::prompt_directives::{Directives, RunOutcome};
use super::rng::SeededRng;
use crate::api::wire::JobBody;
use crate::model::Time;
use chrono::TimeDelta;
use std::collections::HashMap;
use std::time::Duration;

/// Streams of luck; see [`Draw::new`].
const IDS: u64 = 1 << 32;
const RUNS: u64 = 2 << 32;

/// A job that was there from the start, with what nobody can ask the service for: its prompts and its past.
#[derive(Debug, Clone)]
pub struct SeededJob {
    /// The service's id.
    pub id: String,
    /// The prompt that it was made with.
    pub prompt: String,
    /// Follow-ups, oldest first, each sent at the moment of the same place in `follow_up_at`.
    pub follow_ups: Vec<String>,
    pub follow_up_at: Vec<Time>,
    pub created_at: Time,
    /// When its last run ended; none while it is active.
    pub finished_at: Option<Time>,
    /// What a caller that polled from the start would have seen since creation, oldest first.
    pub changes: Vec<SeededChange>,
    /// Whether a demonstration should take it as looked at by the user.
    pub seen: bool,
    /// Its prompt is that of another job with a number to it: there are fewer prompts than jobs.
    pub is_variation: bool,
    /// The job as the service answers it now.
    pub body: JobBody,
}

/// One change in a seeded job's past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeededChange {
    pub at: Time,
    /// The status from then on, in the service's word.
    pub status: String,
    /// The pull request known from then on.
    pub pr_link: Option<String>,
}

/// All jobs of the simulated project.
#[derive(Debug)]
pub(super) struct SimWorld {
    seed: u64,
    speed: f64,
    jobs: Vec<SimJob>,
    places: HashMap<String, usize>,
    seeds: Vec<Seed>,
    created: u64,
    runs: u64,
    next_pr: u32,
    received: Vec<(String, String)>,
}

impl SimWorld {
    /// A world with its seeded population, whose past ends at `now`.
    pub(super) fn new(options: &SimOptions, now: Time) -> Self {
        let first_pr = 1400;
        let (jobs, seeds): (Vec<SimJob>, Vec<Seed>) =
            populate(options.seed, options.jobs, first_pr, now, |length| scaled(length, options.speed))
                .into_iter()
                .unzip();
        let last_pr = jobs.iter().filter_map(|job| job.link).map(|link| link.number).max();
        let places = jobs.iter().enumerate().map(|(place, job)| (job.id.clone(), place)).collect();
        Self {
            seed: options.seed,
            speed: options.speed,
            jobs,
            places,
            seeds,
            created: 0,
            runs: 0,
            next_pr: last_pr.unwrap_or(first_pr) + 1,
            received: Vec::new(),
        }
    }

    /// Makes a job and sets it to work.
    pub(super) fn create(&mut self, prompt: &str, now: Time) -> JobBody {
        self.created += 1;
        let mut draw = SeededRng::new(self.seed, IDS + self.created);
        let plan = self.plan(prompt, false);
        let (run, late) = self.start(plan, now);
        let mut job = SimJob {
            id: new_id(now, &mut draw),
            git_ref: branch(prompt),
            model: if draw.chance(700) { "sonnet" } else { "opus" },
            created_at: now,
            run,
            link: None,
        };
        job.link = late.map(|late| self.open_pull_request(job.run.ends + late));
        let body = job.body(now);
        self.received.push((job.id.clone(), prompt.to_owned()));
        self.places.insert(job.id.clone(), self.jobs.len());
        self.jobs.push(job);
        body
    }

    /// The job as it is at that moment; `None` for an id that was never given out.
    pub(super) fn job(&self, id: &str, now: Time) -> Option<JobBody> {
        let place = self.places.get(id)?;
        self.jobs.get(*place).map(|job| job.body(now))
    }

    /// Sets a job to work (again): a finished or archived one wakes up, an active one works longer.
    pub(super) fn follow_up(&mut self, id: &str, prompt: &str, now: Time) -> Option<JobBody> {
        let place = *self.places.get(id)?;
        let before = self.jobs.get(place)?.clone();
        let plan = self.plan(prompt, true);
        let (mut run, late) = self.start(plan, now);
        run.ends = run.ends.max(before.run.ends);
        // A pull request that was opened stays the job's own; one that was only planned is planned anew.
        let opened = before.link.filter(|link| link.from <= now);
        let link = match (opened, late) {
            (Some(link), _) => Some(link),
            (None, Some(late)) => Some(self.open_pull_request(run.ends + late)),
            (None, None) => None,
        };
        self.received.push((id.to_owned(), prompt.to_owned()));
        let job = self.jobs.get_mut(place)?;
        job.run = run;
        job.link = link;
        Some(job.body(now))
    }

    /// Prompts that were taken in since the start, in order, each with its job's id.
    pub(super) fn received(&self) -> &[(String, String)] {
        &self.received
    }

    /// The jobs that were there from the start, oldest first, as they are at that moment.
    pub(super) fn seeded(&self, now: Time) -> Vec<SeededJob> {
        self.jobs.iter().zip(&self.seeds).map(|(job, seed)| seeded_job(job, seed, now)).collect()
    }

    fn open_pull_request(&mut self, from: Time) -> SimPullRequest {
        let number = self.next_pr;
        self.next_pr += 1;
        SimPullRequest { number, from }
    }

    fn plan(&mut self, prompt: &str, is_follow_up: bool) -> RunPlan {
        self.runs += 1;
        let mut draw = SeededRng::new(self.seed, RUNS + self.runs);
        let luck =
            if is_follow_up { RunPlan::follow_up(&mut draw) } else { RunPlan::new_job(&mut draw, self.runs == 1) };
        match Directives::parse(prompt) {
            None => luck,
            Some(asked) => RunPlan {
                work: asked.work.unwrap_or(luck.work),
                outcome: asked.outcome.unwrap_or(RunOutcome::PullRequest { late: TimeDelta::zero() }),
                archive_after: asked.archive_after,
            },
        }
    }

    /// A plan set in time, and how long after its end a pull request shows.
    fn start(&self, plan: RunPlan, now: Time) -> (SimRun, Option<TimeDelta>) {
        let ends = now + scaled(plan.work, self.speed);
        let archived = plan.archive_after.map(|after| ends + scaled(after, self.speed));
        let late = match plan.outcome {
            RunOutcome::PullRequest { late } => Some(scaled(late, self.speed)),
            _ => None,
        };
        (SimRun { ends, outcome: plan.outcome, archived }, late)
    }
}

/// What a run is to become; durations at speed 1.
#[derive(Debug)]
struct RunPlan {
    work: TimeDelta,
    outcome: RunOutcome,
    archive_after: Option<TimeDelta>,
}

impl RunPlan {
    /// A new job works 20 s to 8 min. The first of all is quick and goes well: somebody looks at it.
    fn new_job(draw: &mut SeededRng, is_first: bool) -> Self {
        if is_first {
            let work = seconds(draw.between(20, 30));
            return Self { work, outcome: RunOutcome::PullRequest { late: seconds(3) }, archive_after: None };
        }
        let (low, high) = match draw.between(0, 99) {
            0..35 => (20, 60),
            35..80 => (60, 240),
            _ => (240, 480),
        };
        Self { work: seconds(draw.between(low, high)), ..Self::ending(draw) }
    }

    /// A follow-up works 15 to 120 s.
    fn follow_up(draw: &mut SeededRng) -> Self {
        Self { work: seconds(draw.between(15, 120)), ..Self::ending(draw) }
    }

    fn ending(draw: &mut SeededRng) -> Self {
        let outcome = match draw.between(0, 99) {
            0..76 => {
                let is_late = draw.chance(250);
                RunOutcome::PullRequest { late: if is_late { seconds(draw.between(2, 20)) } else { TimeDelta::zero() } }
            }
            76..89 => RunOutcome::NoPullRequest,
            _ => RunOutcome::Failed,
        };
        let is_archived = outcome != RunOutcome::Failed && draw.chance(100);
        let archive_after = is_archived.then(|| seconds(draw.between(300, 1800)));
        Self { work: TimeDelta::zero(), outcome, archive_after }
    }
}

fn seconds(n: u32) -> TimeDelta {
    TimeDelta::seconds(i64::from(n))
}

/// A length of a job's life at that speed. A speed that makes no sense changes nothing.
fn scaled(length: TimeDelta, speed: f64) -> TimeDelta {
    let Ok(length_std) = length.to_std() else { return length };
    let shorter = Duration::try_from_secs_f64(length_std.as_secs_f64() / speed);
    shorter.ok().and_then(|d| TimeDelta::from_std(d).ok()).filter(|d| *d < TimeDelta::days(36_500)).unwrap_or(length)
}

fn seeded_job(job: &SimJob, seed: &Seed, now: Time) -> SeededJob {
    let mut changes = Vec::new();
    if let Some(ended) = seed.first_run_ended {
        let pr_link = job.link.map(|link| pull_request(link.number));
        changes.push(SeededChange { at: ended, status: "completed".to_owned(), pr_link });
    }
    for &at in &seed.follow_up_at {
        changes.push(SeededChange { at, status: "active".to_owned(), pr_link: None });
    }
    let late_link = job.link.map(|link| link.from).filter(|&from| from > job.run.ends);
    for at in [Some(job.run.ends), late_link, job.run.archived].into_iter().flatten().filter(|&at| at <= now) {
        let then = job.body(at);
        changes.push(SeededChange { at, status: then.status, pr_link: then.pr_link });
    }
    changes.sort_by_key(|change| change.at);
    SeededJob {
        id: job.id.clone(),
        prompt: seed.prompt.clone(),
        follow_ups: seed.follow_ups.clone(),
        follow_up_at: seed.follow_up_at.clone(),
        created_at: job.created_at,
        finished_at: (!job.is_active(now)).then_some(job.run.ends),
        changes,
        seen: seed.seen,
        is_variation: seed.is_variation,
        body: job.body(now),
    }
}

#[cfg(test)]
#[path = "world_tests.rs"]
mod tests;
