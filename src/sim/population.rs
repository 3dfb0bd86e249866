//! The jobs that are there from the start: every state a job can be in, from minutes to weeks old, and a handful
//! that finish one after the other while somebody looks.
//!
//! Their prompts are data: `assets/demo/prompts.txt`. How a job lives on from there is `jobs` and `world`.

use super::jobs::{SimJob, SimPullRequest, SimRun, branch, new_id};
use super::prompt_directives::RunOutcome;
use super::rng::SeededRng;
use crate::model::Time;
use chrono::TimeDelta;

const PROMPTS: &str = include_str!("../../assets/demo/prompts.txt");
const POPULATION: u64 = 3 << 32;

/// When those at work finish, in seconds after the start at speed 1; how many there are at most.
const STAGGER: [u32; 6] = [14, 32, 58, 92, 134, 178];

/// What the service keeps to itself about a seeded job.
#[derive(Debug, Clone)]
pub(super) struct Seed {
    pub(super) prompt: String,
    pub(super) follow_ups: Vec<String>,
    pub(super) follow_up_at: Vec<Time>,
    /// End of the run before the follow-up.
    pub(super) first_run_ended: Option<Time>,
    pub(super) seen: bool,
    pub(super) is_variation: bool,
}

/// A job in the making: times are lengths before the start, except those of `Working`.
struct SeedJob {
    state: SeedState,
    /// How long ago it finished, or, at work, how long it has been.
    age: TimeDelta,
    seen: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SeedState {
    Working { left: TimeDelta, ending: SeedEnding },
    Finished(SeedEnding),
    Archived(SeedEnding),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SeedEnding {
    PullRequest,
    LatePullRequest,
    Nothing,
    Failure,
    Reviewing,
}

/// `count` jobs, oldest first; pull requests are numbered from `first_pr`. `scaled` turns a length at speed 1 into
/// one of this world.
pub(super) fn populate(
    seed: u64,
    count: u32,
    first_pr: u32,
    now: Time,
    scaled: impl Fn(TimeDelta) -> TimeDelta,
) -> Vec<(SimJob, Seed)> {
    let mut draw = SeededRng::new(seed, POPULATION);
    let working = count.div_ceil(4).min(6);
    let mut sketches: Vec<SeedJob> = at_work(working, &mut draw, scaled);
    sketches.extend(finished(count - working, &mut draw));
    let mut jobs: Vec<(SimJob, Seed)> =
        sketches.iter().zip(prompts(count)).map(|(sketch, text)| make(sketch, text, now, &mut draw)).collect();
    jobs.sort_by_key(|(job, _)| job.created_at);
    for ((job, _), number) in jobs.iter_mut().filter(|(job, _)| job.link.is_some()).zip(first_pr..) {
        job.link = job.link.map(|link| SimPullRequest { number, ..link });
    }
    jobs
}

fn at_work(count: u32, draw: &mut SeededRng, scaled: impl Fn(TimeDelta) -> TimeDelta) -> Vec<SeedJob> {
    const ENDINGS: [SeedEnding; 6] = [
        SeedEnding::PullRequest,
        SeedEnding::LatePullRequest,
        SeedEnding::Nothing,
        SeedEnding::Failure,
        SeedEnding::PullRequest,
        SeedEnding::LatePullRequest,
    ];
    let take = usize::try_from(count).unwrap_or(0);
    let mut list = Vec::new();
    for (left, ending) in STAGGER.into_iter().zip(ENDINGS).take(take) {
        let left = scaled(TimeDelta::milliseconds(i64::from(left) * 1000 + i64::from(draw.between(0, 2500))));
        let age = TimeDelta::seconds(i64::from(draw.between(25, 320)));
        list.push(SeedJob { state: SeedState::Working { left, ending }, age, seen: true });
    }
    list
}

fn finished(count: u32, draw: &mut SeededRng) -> Vec<SeedJob> {
    use SeedEnding::{Failure, LatePullRequest, Nothing, PullRequest, Reviewing};
    const STATES: [SeedState; 12] = [
        SeedState::Finished(PullRequest),
        SeedState::Finished(Failure),
        SeedState::Finished(PullRequest),
        SeedState::Finished(Nothing),
        SeedState::Finished(Reviewing),
        SeedState::Finished(PullRequest),
        SeedState::Finished(LatePullRequest),
        SeedState::Archived(PullRequest),
        SeedState::Finished(Failure),
        SeedState::Finished(PullRequest),
        SeedState::Archived(Nothing),
        SeedState::Finished(PullRequest),
    ];
    let mut list = Vec::new();
    let mut minutes = 4_u32;
    for (n, state) in (0..count).zip(STATES.iter().cycle()) {
        let age = if n < 17 { minutes } else { draw.between(180, 40 * 1440) };
        minutes = minutes.saturating_mul(draw.between(150, 185)) / 100;
        let age = TimeDelta::seconds(i64::from(age) * 60 + i64::from(draw.between(0, 59)));
        // One word that nobody knows is enough.
        let is_second_word = n >= 12 && *state == SeedState::Finished(Reviewing);
        let state = if is_second_word { SeedState::Finished(PullRequest) } else { *state };
        list.push(SeedJob { state, age, seen: n > 2 });
    }
    list
}

struct Text {
    prompt: String,
    follow_ups: Vec<String>,
    is_variation: bool,
}

/// The prompts of the file, and from its end on over again with a number.
fn prompts(count: u32) -> impl Iterator<Item = Text> {
    let blocks: Vec<&str> = PROMPTS.split("\n\n").map(str::trim).filter(|block| !block.is_empty()).collect();
    let known = u32::try_from(blocks.len()).unwrap_or(1).max(1);
    (0..count).zip(blocks.into_iter().cycle()).collect::<Vec<_>>().into_iter().map(move |(n, block)| {
        let (follow_ups, lines): (Vec<&str>, Vec<&str>) = block.lines().partition(|line| line.starts_with("> "));
        let mut prompt = lines.join("\n");
        let is_variation = n >= known;
        if is_variation {
            prompt.push_str(&format!("\nPart {}.", n / known + 1));
        }
        let follow_ups = follow_ups.into_iter().map(|line| line.trim_start_matches("> ").to_owned()).collect();
        Text { prompt, follow_ups, is_variation }
    })
}

fn make(sketch: &SeedJob, text: Text, now: Time, draw: &mut SeededRng) -> (SimJob, Seed) {
    let (ending, ends) = match sketch.state {
        SeedState::Working { left, ending } => (ending, now + left),
        SeedState::Finished(ending) | SeedState::Archived(ending) => (ending, now - sketch.age),
    };
    let worked = TimeDelta::seconds(i64::from(draw.between(40, 460)));
    let last_began = if matches!(sketch.state, SeedState::Working { .. }) { now - sketch.age } else { ends - worked };
    // A follow-up only makes sense after a run that made a pull request.
    let has_pr = matches!(ending, SeedEnding::PullRequest | SeedEnding::LatePullRequest);
    let follow_ups = if has_pr { text.follow_ups.clone() } else { Vec::new() };
    let pause = TimeDelta::seconds(i64::from(draw.between(120, 2400)));
    let first_run = TimeDelta::seconds(i64::from(draw.between(60, 420)));
    let first_run_ended = (!follow_ups.is_empty()).then(|| last_began - pause);
    let created_at = first_run_ended.map_or(last_began, |ended| ended - first_run);
    let late = match ending {
        SeedEnding::LatePullRequest if first_run_ended.is_none() => TimeDelta::seconds(i64::from(draw.between(4, 9))),
        _ => TimeDelta::zero(),
    };
    let archived = matches!(sketch.state, SeedState::Archived(_)).then(|| ends + sketch.age / 2);
    let outcome = match ending {
        SeedEnding::PullRequest | SeedEnding::LatePullRequest => RunOutcome::PullRequest { late },
        SeedEnding::Nothing => RunOutcome::NoPullRequest,
        SeedEnding::Failure => RunOutcome::Failed,
        SeedEnding::Reviewing => RunOutcome::Word("reviewing".to_owned()),
    };
    let job = SimJob {
        id: new_id(created_at, draw),
        git_ref: branch(&text.prompt),
        model: if draw.chance(700) { "sonnet" } else { "opus" },
        created_at,
        run: SimRun { ends, outcome, archived },
        link: has_pr.then(|| SimPullRequest { number: 0, from: first_run_ended.unwrap_or(ends + late) }),
    };
    let follow_up_at = follow_ups.iter().map(|_| last_began).collect();
    let Text { prompt, is_variation, .. } = text;
    (job, Seed { prompt, follow_ups, follow_up_at, first_run_ended, seen: sketch.seen, is_variation })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn there_are_at_least_forty_different_prompts_and_more_jobs_get_numbered_ones() {
        let first: HashSet<String> = prompts(40).map(|text| text.prompt).collect();
        assert_eq!(first.len(), 40);
        let many: HashSet<String> = prompts(500).map(|text| text.prompt).collect();
        assert_eq!(many.len(), 500);
    }
}
