//! Creates the jobs that exist at the start. They are minutes to weeks old and in every state that a job can be in; a
//! few finish one after the other while the user watches. Their prompts are in `assets/demo/prompts.txt`.

use super::jobs::{MergeBlocker, SimJob, SimPullRequest, SimRun, branch_name, new_id, pull_request_title};
use super::prompt_directives::RunOutcome;
use super::rng::SeededRng;
use crate::model::Time;
use crate::model::pull_request::HostKind;
use chrono::TimeDelta;

const PROMPTS: &str = include_str!("../../assets/demo/prompts.txt");
/// The random stream for the jobs at the start; see [`SeededRng::new`].
const POPULATION_RNG_STREAM: u64 = 3 << 32;
/// Added to the number of a pull request to get the random stream that decides why it is not merged. Chosen so that the
/// demo has one pull request that is behind its base branch, one in the merge queue, one that is closed, and two for
/// which a reviewer requests changes: one before the start, and one while the user watches.
const MERGE_BLOCKER_RNG_STREAM: u64 = 48_907_108 << 32;

/// When the active jobs finish, one after the other, in seconds after the start at speed 1. A random time of up to
/// 2.5 s is added to each.
const FINISH_SECONDS: [u32; 6] = [14, 32, 58, 92, 134, 178];

/// The data about a job that the service does not return.
#[derive(Debug, Clone)]
pub(super) struct InitialJobData {
    pub(super) prompt: String,
    pub(super) follow_ups: Vec<String>,
    pub(super) follow_up_times: Vec<Time>,
    /// When the first run ended, after which the follow-ups were sent; `None` if there are no follow-ups.
    pub(super) first_run_ended_at: Option<Time>,
    pub(super) is_seen: bool,
    pub(super) is_prompt_a_repeat: bool,
}

/// What kind of job to create.
struct SeedJob {
    state: SeedState,
    /// How long before the start of the simulator the job finished or, if it is still active, its last run began.
    age: TimeDelta,
    is_seen: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SeedState {
    /// The job is active, and finishes `time_to_finish` after the start.
    Working {
        time_to_finish: TimeDelta,
        outcome: SeedEnding,
    },
    Finished(SeedEnding),
    Archived(SeedEnding),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SeedEnding {
    PullRequest,
    LatePullRequest,
    NoPullRequest,
    Failure,
    UnknownStatus,
}

/// Creates `count` jobs, oldest first. Their pull requests are numbered from `first_pr`, and every fifth is on GitLab.
/// `scaled` divides a duration by the simulator's speed.
pub(super) fn create_initial_jobs(
    seed: u64,
    count: u32,
    first_pr: u32,
    now: Time,
    scaled: impl Fn(TimeDelta) -> TimeDelta,
) -> Vec<(SimJob, InitialJobData)> {
    let mut rng = SeededRng::new(seed, POPULATION_RNG_STREAM);
    let working = count.div_ceil(4).min(6);
    let mut seed_jobs: Vec<SeedJob> = working_jobs(working, &mut rng, scaled);
    seed_jobs.extend(finished_jobs(count - working, &mut rng));
    let mut jobs: Vec<(SimJob, InitialJobData)> = seed_jobs
        .iter()
        .zip(initial_prompts(count))
        .map(|(seed_job, text)| create_job(seed_job, text, now, &mut rng))
        .collect();
    jobs.sort_by_key(|(job, _)| job.created_at);
    for ((job, _), number) in jobs.iter_mut().filter(|(job, _)| job.pull_request.is_some()).zip(first_pr..) {
        job.pull_request = job.pull_request.map(|pull_request| SimPullRequest { number, ..pull_request });
        job.merge_blocker = merge_blocker(seed, number);
        job.host = if number % 5 == 4 { HostKind::GitLab } else { HostKind::GitHub };
    }
    jobs
}

fn merge_blocker(seed: u64, number: u32) -> Option<MergeBlocker> {
    match SeededRng::new(seed, MERGE_BLOCKER_RNG_STREAM + u64::from(number)).between(0, 999) {
        ..40 => Some(MergeBlocker::Queued),
        40..100 => Some(MergeBlocker::Behind),
        100..160 => Some(MergeBlocker::ChangesRequested),
        160..190 => Some(MergeBlocker::Closed),
        _ => None,
    }
}

fn working_jobs(count: u32, rng: &mut SeededRng, scaled: impl Fn(TimeDelta) -> TimeDelta) -> Vec<SeedJob> {
    const ENDINGS: [SeedEnding; 6] = [
        SeedEnding::PullRequest,
        SeedEnding::LatePullRequest,
        SeedEnding::NoPullRequest,
        SeedEnding::Failure,
        SeedEnding::PullRequest,
        SeedEnding::LatePullRequest,
    ];
    let take = usize::try_from(count).unwrap_or(0);
    let mut list = Vec::new();
    for (time_to_finish, outcome) in FINISH_SECONDS.into_iter().zip(ENDINGS).take(take) {
        let time_to_finish =
            scaled(TimeDelta::milliseconds(i64::from(time_to_finish) * 1000 + i64::from(rng.between(0, 2500))));
        let age = TimeDelta::seconds(i64::from(rng.between(25, 320)));
        list.push(SeedJob { state: SeedState::Working { time_to_finish, outcome }, age, is_seen: true });
    }
    list
}

fn finished_jobs(count: u32, rng: &mut SeededRng) -> Vec<SeedJob> {
    use SeedEnding::{Failure, LatePullRequest, NoPullRequest, PullRequest, UnknownStatus};
    const STATES: [SeedState; 12] = [
        SeedState::Finished(PullRequest),
        SeedState::Finished(Failure),
        SeedState::Finished(PullRequest),
        SeedState::Finished(NoPullRequest),
        SeedState::Finished(UnknownStatus),
        SeedState::Finished(PullRequest),
        SeedState::Finished(LatePullRequest),
        SeedState::Archived(PullRequest),
        SeedState::Finished(Failure),
        SeedState::Finished(PullRequest),
        SeedState::Archived(NoPullRequest),
        SeedState::Finished(PullRequest),
    ];
    let mut list = Vec::new();
    let mut minutes = 4_u32;
    for (n, state) in (0..count).zip(STATES.iter().cycle()) {
        let age = if n < 17 { minutes } else { rng.between(180, 40 * 1440) };
        minutes = minutes.saturating_mul(rng.between(150, 185)) / 100;
        let age = TimeDelta::seconds(i64::from(age) * 60 + i64::from(rng.between(0, 59)));
        // Only one job has a status that is unknown to docdeck.
        let is_second_unknown = n >= 12 && *state == SeedState::Finished(UnknownStatus);
        let state = if is_second_unknown { SeedState::Finished(PullRequest) } else { *state };
        list.push(SeedJob { state, age, is_seen: n > 2 });
    }
    list
}

struct InitialPrompts {
    prompt: String,
    follow_ups: Vec<String>,
    is_prompt_a_repeat: bool,
}

/// Returns `count` prompts from the file. If the file has fewer, they are repeated with a number at the end.
fn initial_prompts(count: u32) -> impl Iterator<Item = InitialPrompts> {
    let blocks: Vec<&str> = PROMPTS.split("\n\n").map(str::trim).filter(|block| !block.is_empty()).collect();
    let known = u32::try_from(blocks.len()).unwrap_or(1).max(1);
    (0..count).zip(blocks.into_iter().cycle()).collect::<Vec<_>>().into_iter().map(move |(n, block)| {
        let (follow_ups, lines): (Vec<&str>, Vec<&str>) = block.lines().partition(|line| line.starts_with("> "));
        let mut prompt = lines.join("\n");
        let is_prompt_a_repeat = n >= known;
        if is_prompt_a_repeat {
            prompt.push_str(&format!("\nPart {}.", n / known + 1));
        }
        let follow_ups = follow_ups.into_iter().map(|line| line.trim_start_matches("> ").to_owned()).collect();
        InitialPrompts { prompt, follow_ups, is_prompt_a_repeat }
    })
}

fn create_job(seed_job: &SeedJob, text: InitialPrompts, now: Time, rng: &mut SeededRng) -> (SimJob, InitialJobData) {
    let (outcome, ends) = match seed_job.state {
        SeedState::Working { time_to_finish, outcome } => (outcome, now + time_to_finish),
        SeedState::Finished(outcome) | SeedState::Archived(outcome) => (outcome, now - seed_job.age),
    };
    let worked = TimeDelta::seconds(i64::from(rng.between(40, 460)));
    let last_began =
        if matches!(seed_job.state, SeedState::Working { .. }) { now - seed_job.age } else { ends - worked };
    // A follow-up only makes sense after a run that created a pull request.
    let has_pr = matches!(outcome, SeedEnding::PullRequest | SeedEnding::LatePullRequest);
    let follow_ups = if has_pr { text.follow_ups.clone() } else { Vec::new() };
    let pause = TimeDelta::seconds(i64::from(rng.between(120, 2400)));
    let first_run = TimeDelta::seconds(i64::from(rng.between(60, 420)));
    let first_run_ended_at = (!follow_ups.is_empty()).then(|| last_began - pause);
    let created_at = first_run_ended_at.map_or(last_began, |ended| ended - first_run);
    let delay = match outcome {
        SeedEnding::LatePullRequest if first_run_ended_at.is_none() => TimeDelta::seconds(i64::from(rng.between(4, 9))),
        _ => TimeDelta::zero(),
    };
    let archived = matches!(seed_job.state, SeedState::Archived(_)).then(|| ends + seed_job.age / 2);
    let run_outcome = match outcome {
        SeedEnding::PullRequest | SeedEnding::LatePullRequest => RunOutcome::PullRequest { link_delay: delay },
        SeedEnding::NoPullRequest => RunOutcome::NoPullRequest,
        SeedEnding::Failure => RunOutcome::Failed,
        SeedEnding::UnknownStatus => RunOutcome::OtherStatus("reviewing".to_owned()),
    };
    let job = SimJob {
        id: new_id(created_at, rng),
        title: pull_request_title(&text.prompt),
        git_ref: branch_name(&text.prompt),
        model: if rng.chance(700) { "sonnet" } else { "opus" },
        created_at,
        host: HostKind::GitHub,
        run: SimRun { ends_at: ends, outcome: run_outcome, archived_at: archived },
        pull_request: has_pr
            .then(|| SimPullRequest { number: 0, visible_from: first_run_ended_at.unwrap_or(ends + delay) }),
        merge_blocker: None,
    };
    let follow_up_at = follow_ups.iter().map(|_| last_began).collect();
    let InitialPrompts { prompt, is_prompt_a_repeat, .. } = text;
    (
        job,
        InitialJobData {
            prompt,
            follow_ups,
            follow_up_times: follow_up_at,
            first_run_ended_at,
            is_seen: seed_job.is_seen,
            is_prompt_a_repeat,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_forty_prompts_are_distinct_and_their_repetitions_are_numbered() {
        let first: HashSet<String> = initial_prompts(40).map(|text| text.prompt).collect();
        assert_eq!(first.len(), 40);
        let many: HashSet<String> = initial_prompts(500).map(|text| text.prompt).collect();
        assert_eq!(many.len(), 500);
    }
}
