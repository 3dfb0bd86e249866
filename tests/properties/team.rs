//! Properties of the rules by which a team's jobs are merged: five members with clocks that are hours apart, whose
//! exchanges are lost, repeated and arrive in any order, end with the same state, and lose nothing but by the rules.

#![expect(clippy::indexing_slicing, reason = "a wrong index should fail the test")]

use chrono::TimeDelta;
use docdeck::model::Time;
use docdeck::model::job::{Job, JobKey};
use docdeck::model::merge::merge_response;
use docdeck::model::remote_job::{JobId, RemoteJob, Status};
use docdeck::model::team::{SharedJob, TeamClock, apply_shared_job, job_change};
use docdeck::model::text::CleanText;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const MEMBERS: usize = 5;
const TAGS: [&str; 3] = ["api", "docs", "sso"];
const STATUSES: [&str; 4] = ["active", "completed", "failed", "archived"];

#[derive(Debug, Clone)]
enum Step {
    /// The service answers a member with this status, and with or without a pull request.
    Answer {
        member: usize,
        status: usize,
        link: Option<u8>,
    },
    Title {
        member: usize,
        title: Option<u8>,
    },
    Note {
        member: usize,
        note: Option<u8>,
    },
    Tag {
        member: usize,
        tag: usize,
        add: bool,
    },
    Dismiss {
        member: usize,
        dismissed: bool,
    },
    /// The member sends its changes. The answer may be lost, so that the member doesn't know that they arrived.
    Push {
        member: usize,
        answer_lost: bool,
    },
    /// The member receives a state of the past, the latest one if `age` is 0.
    Pull {
        member: usize,
        age: usize,
    },
    /// Time passes.
    Wait {
        seconds: i64,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let member = 0..MEMBERS;
    let step = prop_oneof![
        3 => (member.clone(), 0..STATUSES.len(), proptest::option::of(0_u8..3))
            .prop_map(|(member, status, link)| Step::Answer { member, status, link }),
        1 => (member.clone(), proptest::option::of(0_u8..9)).prop_map(|(member, title)| Step::Title { member, title }),
        1 => (member.clone(), proptest::option::of(0_u8..9)).prop_map(|(member, note)| Step::Note { member, note }),
        3 => (member.clone(), 0..TAGS.len(), any::<bool>())
            .prop_map(|(member, tag, add)| Step::Tag { member, tag, add }),
        1 => (member.clone(), any::<bool>()).prop_map(|(member, dismissed)| Step::Dismiss { member, dismissed }),
        4 => (member.clone(), any::<bool>())
            .prop_map(|(member, answer_lost)| Step::Push { member, answer_lost }),
        4 => (member, 0_usize..4).prop_map(|(member, age)| Step::Pull { member, age }),
        2 => (1_i64..5000).prop_map(|seconds| Step::Wait { seconds }),
    ];
    prop::collection::vec(step, 1..60)
}

/// A computer with its own clock.
struct Member {
    job: Job,
    base: SharedJob,
    /// By how many seconds its clock is wrong.
    skew: i64,
    /// The changes that were sent without an answer, with their number.
    outbox: Option<(usize, docdeck::model::team::JobChange)>,
}

/// The database: all states that it ever had, and the numbers of the batches that it stored.
struct Database {
    now: Time,
    last_stamp: Time,
    states: Vec<SharedJob>,
    batches: BTreeSet<usize>,
}

struct World {
    database: Database,
    members: Vec<Member>,
    next_batch: usize,
    /// What the rules promise: the last write that reached the database, per field and tag.
    expected: Expected,
    /// The latest response that a member with an accepted push has seen.
    latest_status: Option<(Time, String)>,
}

#[derive(Debug, Default)]
struct Expected {
    title: String,
    note: String,
    dismissed: bool,
    tags: BTreeMap<String, bool>,
}

impl World {
    fn new(skews: &[i64]) -> Self {
        let now = Time::from_timestamp(1_800_000_000, 0).expect("in range");
        let member = |skew: &i64| {
            let mut job = Job::new(JobKey(1), CleanText::line("j"), now + TimeDelta::seconds(*skew));
            job.id = JobId::new("j");
            Member { job, base: SharedJob::default(), skew: *skew, outbox: None }
        };
        Self {
            members: skews.iter().map(member).collect(),
            database: Database { now, last_stamp: now, states: vec![SharedJob::default()], batches: BTreeSet::new() },
            next_batch: 0,
            expected: Expected::default(),
            latest_status: None,
        }
    }

    fn local_time(&self, member: usize) -> Time {
        self.database.now + TimeDelta::seconds(self.members[member].skew)
    }

    fn clock(&self, member: usize) -> TeamClock {
        TeamClock::new(self.database.now, self.local_time(member))
    }

    fn run(&mut self, step: &Step) {
        match *step {
            Step::Answer { member, status, link } => {
                let mut answer = RemoteJob::new(JobId::new("j").expect("an id"), Status::parse(STATUSES[status]));
                answer.state.pr_link = link.map(|number| CleanText::line(&format!("https://x.example/pull/{number}")));
                self.database.now += TimeDelta::seconds(10);
                let now = self.local_time(member);
                merge_response(&mut self.members[member].job, &answer, now);
                self.latest_status = Some((self.database.now, STATUSES[status].to_owned()));
            }
            Step::Title { member, title } => {
                let local = &mut self.members[member].job.local;
                local.has_custom_title = title.is_some();
                local.title = title.map(|title| CleanText::line(&format!("title {title}"))).unwrap_or_default();
            }
            Step::Note { member, note } => {
                self.members[member].job.local.note = note.map(|note| CleanText::line(&format!("note {note}")));
            }
            Step::Tag { member, tag, add } => {
                let tags = &mut self.members[member].job.local.tags;
                tags.retain(|known| known.as_str() != TAGS[tag]);
                if add {
                    tags.push(CleanText::line(TAGS[tag]));
                }
            }
            Step::Dismiss { member, dismissed } => self.members[member].job.local.dismissed = dismissed,
            Step::Push { member, answer_lost } => self.push(member, answer_lost),
            Step::Pull { member, age } => {
                let states = &self.database.states;
                let state = states[states.len().saturating_sub(1 + age)].clone();
                self.pull(member, &state);
            }
            Step::Wait { seconds } => self.database.now += TimeDelta::seconds(seconds),
        }
    }

    fn push(&mut self, member: usize, answer_lost: bool) {
        let clock = self.clock(member);
        if self.members[member].outbox.is_none() {
            // An exchange first receives what it has not seen.
            let latest = self.database.states.last().expect("a state").clone();
            self.pull(member, &latest);
            let change = job_change(&self.members[member].base, &self.members[member].job, clock);
            if change.is_empty() {
                return;
            }
            self.next_batch += 1;
            self.members[member].outbox = Some((self.next_batch, change));
        }
        let (batch, change) = self.members[member].outbox.clone().expect("a batch");
        let database = &mut self.database;
        if database.batches.insert(batch) {
            database.last_stamp = database.now.max(database.last_stamp + TimeDelta::milliseconds(1));
            let mut state = database.states.last().expect("a state").clone();
            state.merge(&change.to_shared_job(database.last_stamp));
            // The states of a row only grow: merging an older state again changes nothing.
            for older in &database.states {
                let mut again = state.clone();
                again.merge(older);
                assert_eq!(again, state);
            }
            database.states.push(state);
            self.expected.note_write(&change);
        }
        if !answer_lost {
            self.members[member].outbox = None;
            let latest = self.database.states.last().expect("a state").clone();
            self.pull(member, &latest);
        }
    }

    fn pull(&mut self, member: usize, state: &SharedJob) {
        let clock = self.clock(member);
        let Member { job, base, .. } = &mut self.members[member];
        // Whatever arrives late or twice is merged into what is known.
        let mut merged = base.clone();
        merged.merge(state);
        apply_shared_job(job, base, &merged, clock);
        *base = merged;
    }
}

impl Expected {
    fn note_write(&mut self, change: &docdeck::model::team::JobChange) {
        if let Some(title) = &change.title {
            self.title.clone_from(title);
        }
        if let Some(note) = &change.note {
            self.note.clone_from(note);
        }
        if let Some(dismissed) = change.dismissed {
            self.dismissed = dismissed;
        }
        self.tags.extend(change.tags.clone());
    }
}

/// What a user sees of a job, in an order that doesn't depend on the computer.
fn visible(job: &Job) -> (Option<String>, Option<String>, String, Option<String>, bool, BTreeSet<String>) {
    let local = &job.local;
    (
        job.remote.status.as_ref().map(|status| status.word().to_owned()),
        job.remote.pr_link.as_ref().map(ToString::to_string),
        if local.has_custom_title { local.title.to_string() } else { String::new() },
        local.note.as_ref().map(ToString::to_string),
        local.dismissed,
        local.tags.iter().map(ToString::to_string).collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn five_members_converge_whatever_is_lost_repeated_or_late(
        steps in steps(),
        skews in prop::collection::vec(-40_000_i64..40_000, MEMBERS),
    ) {
        let mut world = World::new(&skews);
        for step in &steps {
            world.run(step);
        }
        // Everyone exchanges until nothing changes any more.
        for _ in 0..4 {
            for member in 0..MEMBERS {
                world.push(member, false);
            }
        }
        let latest = world.database.states.last().expect("a state").clone();
        for member in 0..MEMBERS {
            world.pull(member, &latest);
        }
        let first = visible(&world.members[0].job);
        for member in &world.members {
            prop_assert_eq!(&visible(&member.job), &first);
        }
        if let Some((_, status)) = &world.latest_status {
            prop_assert_eq!(first.0.as_ref(), Some(status));
        }
        let Expected { title, note, dismissed, tags } = &world.expected;
        prop_assert_eq!(&first.2, title);
        prop_assert_eq!(first.3.as_deref().unwrap_or_default(), note);
        prop_assert_eq!(first.4, *dismissed);
        let expected: BTreeSet<String> =
            tags.iter().filter(|(_, has_tag)| **has_tag).map(|(tag, _)| tag.clone()).collect();
        prop_assert_eq!(&first.5, &expected);
        // Nothing is left to be sent.
        for member in 0..MEMBERS {
            let Member { job, base, .. } = &world.members[member];
            let rest = job_change(base, job, world.clock(member));
            prop_assert!(rest.is_empty(), "{:?}", rest);
        }
    }

    #[test]
    fn merging_is_independent_of_order_and_repetition(steps in steps(), order in any::<u64>()) {
        let mut world = World::new(&[0; MEMBERS]);
        for step in &steps {
            world.run(step);
        }
        for member in 0..MEMBERS {
            world.push(member, false);
        }
        let mut states = world.database.states.clone();
        // The state of each single batch, too: what a member knows is not always a state that the database had.
        states.extend(world.members.iter().map(|member| member.base.clone()));
        let expected = states.iter().fold(SharedJob::default(), |mut all, state| { all.merge(state); all });
        let mut seed = order;
        let mut shuffled = SharedJob::default();
        for _ in 0..4 * states.len() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(seed >> 33).unwrap_or_default() % states.len();
            shuffled.merge(&states[at]);
        }
        states.iter().rev().for_each(|state| shuffled.merge(state));
        prop_assert_eq!(shuffled, expected);
    }
}
