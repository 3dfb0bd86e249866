//! What is read ahead is shown at once, costs next to no reads, and is never older than what was told.

use super::super::jobs::tests::{at, row};
use super::super::{AppConfig, InitialData, Msg};
use super::*;
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::FailureKind;
use crate::model::job::Status;
use crate::model::load::Load;
use crate::model::prompt::{Prompt, PromptId, PromptKind};
use crate::model::row::Job;
use chrono::FixedOffset;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;

const JOBS: i64 = 60;

fn thread(text: &str) -> Thread {
    let prompt = Prompt {
        id: PromptId(1),
        kind: PromptKind::Create,
        text: text.to_owned(),
        delivery: Delivery::Accepted,
        written_at: at(0),
        sent_at: None,
        state_at: None,
    };
    Thread { prompts: vec![prompt], events: Vec::new() }
}

fn stamped(text: &str) -> Timed<Thread> {
    Timed { value: thread(text), as_of: at(0) }
}

/// A read that was asked for, with what it found once it was carried out.
type Read<T> = (Vec<JobKey>, Option<T>);

/// The dashboard, and a record in which the thread of a job is how often it changed.
struct PrefetchFixture {
    app: App,
    /// By place: the row's revision, and how often the thread changed.
    record: Vec<(i64, u64)>,
    revision: i64,
    /// Changes of which nobody was told, with the job and how often its thread had changed.
    news: Vec<(EngineEvent, JobKey, u64)>,
    plain: Option<Read<u64>>,
    ahead: Option<Read<Vec<u64>>>,
    /// How often reads were asked for.
    reads: (usize, usize),
    /// By place: how often the thread had changed when that was last told, by its row or by name.
    told: Vec<(u64, u64)>,
}

fn place(job: JobKey) -> usize {
    usize::try_from(job.0 - 1).expect("a place")
}

impl PrefetchFixture {
    fn new() -> Self {
        let scope = Scope { base_url: "https://api.example.com".into(), project: "a".into(), organization: None };
        let start = AppConfig { size: (160, 48), ..AppConfig::new(scope, FixedOffset::east_opt(0).expect("UTC")) };
        let (app, _) = App::new(start, at(0));
        let places = usize::try_from(JOBS).expect("a number");
        let (record, told) = (vec![(0, 0); places], vec![(0, 0); places]);
        let mut world =
            Self { app, record, revision: 0, news: Vec::new(), plain: None, ahead: None, reads: (0, 0), told };
        let jobs = (1..=JOBS).map(|key| world.row(JobKey(key))).collect();
        world.tell(Msg::Loaded(Ok(Box::new(InitialData { jobs, ..InitialData::default() }))));
        world
    }

    /// The row as the record has it.
    fn row(&self, job: JobKey) -> Job {
        let mut row = row(job.0, Status::Completed);
        (row.looked_at, row.revision) = (Some(at(100)), self.record[place(job)].0);
        row
    }

    fn tell(&mut self, msg: Msg) {
        for effect in self.app.update(msg, at(1)) {
            match effect {
                Effect::LoadThread(job) => {
                    self.reads.0 += 1;
                    assert!(self.plain.replace((vec![job], None)).is_none(), "one thread is read at a time");
                }
                Effect::ReadAhead(jobs) => {
                    self.reads.1 += 1;
                    assert!(!jobs.is_empty() && jobs.len() <= 24, "{jobs:?}");
                    assert!(self.ahead.replace((jobs, None)).is_none(), "one read ahead at a time");
                }
                _ => {}
            }
        }
    }

    fn key(&mut self, code: KeyCode) {
        let before = self.selected();
        self.tell(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))));
        let selected = self.selected();
        if selected != before
            && let Some(shown) = self.shown()
        {
            let (by_row, by_name) = self.told[place(selected)];
            assert!(shown >= by_row.max(by_name), "a thread that was known to have changed is not shown anew");
        }
    }

    fn selected(&self) -> JobKey {
        self.app.jobs.selected().expect("a job").key
    }

    /// How often the thread that is shown, and holds, had changed.
    fn shown(&self) -> Option<u64> {
        let Load::Ready(thread) = self.app.detail.thread() else { return None };
        let text = &thread.value.prompts[0].text;
        let (job, changes) = text.split_once(' ').expect("two words");
        assert_eq!(job, self.selected().0.to_string(), "the thread of another job is shown");
        changes.parse().ok()
    }

    /// A thread or only its row changes, by whomever; it is told later.
    fn change(&mut self, job: JobKey, how: u8) {
        self.revision += 1;
        let (revision, changes) = &mut self.record[place(job)];
        *revision = self.revision;
        *changes += u64::from(how != 0);
        let changes = *changes;
        let row = Box::new(self.row(job));
        let news = match how {
            0 => vec![EngineEvent::Job(row)],
            1 => vec![EngineEvent::Job(row), EngineEvent::Thread(job)],
            // As a change of the queue is told: the row comes last.
            2 => vec![EngineEvent::Thread(job), EngineEvent::Job(row)],
            _ => vec![EngineEvent::Prompt { prompt: PromptId(1), delivery: Delivery::Accepted, job: row }],
        };
        self.news.extend(news.into_iter().map(|news| (news, job, changes)));
    }

    fn hear(&mut self) {
        if self.news.is_empty() {
            return;
        }
        let (news, job, changes) = self.news.remove(0);
        let told = &mut self.told[place(job)];
        match news {
            EngineEvent::Job(_) => told.0 = changes,
            EngineEvent::Thread(_) => told.1 = changes,
            _ => *told = (changes, changes),
        }
        self.tell(Msg::News(news));
    }

    /// The record carries out what it was asked for; the answer is on its way then.
    fn read(&mut self, ahead: bool) {
        let record = &self.record;
        let find = |jobs: &[JobKey]| jobs.iter().map(|job| record[place(*job)].1).collect::<Vec<_>>();
        if ahead && let Some((jobs, found)) = &mut self.ahead {
            *found = Some(found.take().unwrap_or_else(|| find(jobs)));
        } else if !ahead && let Some((jobs, found)) = &mut self.plain {
            *found = Some(found.unwrap_or_else(|| find(jobs)[0]));
        }
    }

    fn answer(&mut self, ahead: bool) {
        self.read(ahead);
        let thread = |job: JobKey, changes: u64| thread(&format!("{} {changes}", job.0));
        if ahead && let Some((jobs, Some(found))) = self.ahead.take() {
            let threads = jobs.into_iter().zip(found).map(|(job, changes)| (job, thread(job, changes)));
            self.tell(Msg::ReadAhead(Ok(threads.collect())));
        } else if !ahead && let Some((jobs, Some(changes))) = self.plain.take() {
            self.tell(Msg::Thread { job: jobs[0], result: Ok(thread(jobs[0], changes)) });
        }
    }

    fn come_to_rest(&mut self) {
        while !self.news.is_empty() || self.plain.is_some() || self.ahead.is_some() {
            self.hear();
            self.answer(false);
            self.answer(true);
        }
    }

    /// Presses a key, and has all that it asks for read.
    fn step(&mut self, code: KeyCode) {
        self.key(code);
        self.come_to_rest();
    }
}

#[test]
fn a_step_shows_its_thread_at_once_and_one_in_many_reads_anything() {
    let mut world = PrefetchFixture::new();
    world.step(KeyCode::Down);
    world.reads = (0, 0);
    for _ in 0..40 {
        world.key(KeyCode::Down);
        assert!(world.shown().is_some() && !world.app.reads_record(), "in the first frame");
        assert!(!world.app.detail.lines().is_empty());
        world.come_to_rest();
    }
    assert!(world.reads.0 == 0 && world.reads.1 <= 3, "{:?}", world.reads);
    world.reads = (0, 0);
    for step in 0..40 {
        world.step(if step % 2 == 0 { KeyCode::Up } else { KeyCode::Down });
    }
    assert!(world.reads.0 == 0 && world.reads.1 <= 1, "{:?}", world.reads);
}

#[test]
fn a_leap_reads_the_thread_that_it_leads_to_and_no_other() {
    let mut world = PrefetchFixture::new();
    for code in [KeyCode::PageDown, KeyCode::End, KeyCode::Home] {
        world.reads = (0, 0);
        world.step(code);
        assert_eq!(world.reads, (1, 0), "{code:?}");
    }
}

#[test]
fn what_is_read_ahead_changes_nothing_on_the_screen() {
    let mut world = PrefetchFixture::new();
    world.key(KeyCode::Down);
    world.answer(false);
    world.app.take_dirty();
    world.answer(true);
    assert!(!world.app.take_dirty());
}

#[test]
fn what_can_not_be_read_ahead_is_read_when_it_is_shown() {
    let mut world = PrefetchFixture::new();
    world.step(KeyCode::Down);
    for _ in 0..AHEAD {
        world.step(KeyCode::Down);
    }
    world.reads = (0, 0);
    world.app.detail.ahead.reading = true;
    world.tell(Msg::ReadAhead(Err(Failure::new(FailureKind::Store, "It did not work."))));
    assert!(world.app.notice.is_none(), "whoever turns to the job is told");
    for code in [KeyCode::Up, KeyCode::Up] {
        world.key(code);
        assert_eq!(world.shown(), None);
        world.answer(false);
        assert_eq!(world.shown(), Some(0));
    }
    assert_eq!(world.reads, (2, 1));
}

#[test]
fn a_change_that_is_told_while_threads_are_read_ahead_is_not_in_them() {
    for how in 1..4 {
        let mut world = PrefetchFixture::new();
        world.key(KeyCode::Down);
        world.read(true);
        let next = JobKey(world.selected().0 - 1);
        world.change(next, how);
        // Of the word by name and by row the first one is enough.
        world.hear();
        world.answer(true);
        world.answer(false);
        world.key(KeyCode::Down);
        assert_eq!((world.selected(), world.shown()), (next, None), "{how}");
        world.come_to_rest();
        assert_eq!(world.shown(), Some(1));
    }
}

#[test]
fn after_a_pause_of_the_whole_program_nothing_from_before_counts() {
    let mut world = PrefetchFixture::new();
    world.step(KeyCode::Down);
    world.tell(Msg::Resumed);
    world.key(KeyCode::Down);
    assert_eq!(world.shown(), None);
}

#[test]
fn little_is_kept_and_the_newest_of_it() {
    let mut ahead = ThreadPrefetch::default();
    for (jobs, text) in [(0..200, "short".to_owned()), (200..400, "x".repeat(MOST_OF_ONE / 2))] {
        for job in jobs {
            ahead.keep((JobKey(job), 1), stamped(&text));
            assert!(ahead.bytes <= MOST_BYTES && ahead.kept.len() <= MOST_JOBS);
        }
    }
    assert!(ahead.kept.len() > 16);
    assert!(ahead.take((JobKey(399), 1)).is_some() && ahead.take((JobKey(200), 1)).is_none());
    ahead.keep((JobKey(1), 1), stamped(&"x".repeat(MOST_OF_ONE)));
    assert!(ahead.knows((JobKey(1), 1)) && ahead.take((JobKey(1), 1)).is_none(), "a large one is not kept");
    let mut waits = stamped("waits");
    waits.value.prompts[0].delivery = Delivery::Queued { until: Some(at(9)) };
    ahead.keep((JobKey(2), 1), waits);
    assert!(ahead.take((JobKey(2), 1)).is_none(), "nor one with a time that the clocks may move");
    ahead.forget_all();
    assert_eq!(ahead.bytes, 0);
}

#[test]
fn where_not_all_have_room_the_next_ones_stay() {
    let mut ahead = ThreadPrefetch::default();
    let job = |places: isize| Some((JobKey(if places < 0 { 20 - places as i64 } else { places as i64 }), 1));
    let asked = ahead.ask(&job).expect("jobs");
    assert_eq!(asked.len(), 24);
    let large = "x".repeat(MOST_OF_ONE - 1024);
    ahead.answer(Ok(asked.into_iter().map(|job| (job, thread(&large))).collect()), at(0));
    let known: Vec<i64> = (1..=24).filter(|job| ahead.knows((JobKey(*job), 1))).collect();
    assert_eq!(known, (1..=12).chain(21..=24).collect::<Vec<_>>());
}

/// What happens, in any order.
#[derive(Debug, Clone)]
enum Happens {
    Key(KeyCode),
    Change(i64, u8),
    Hear,
    Read(bool),
    Answer(bool),
    Fail,
    Resumed,
}

fn happens() -> impl Strategy<Value = Happens> {
    let steps = prop::sample::select(vec![KeyCode::Down, KeyCode::Down, KeyCode::Up]);
    let leaps = prop::sample::select(vec![KeyCode::Home, KeyCode::End, KeyCode::PageDown, KeyCode::PageUp]);
    prop_oneof![
        12 => steps.prop_map(Happens::Key),
        1 => leaps.prop_map(Happens::Key),
        // Near the first jobs of the list, where most steps lead.
        6 => (JOBS - 11..=JOBS, 0_u8..4).prop_map(|(job, how)| Happens::Change(job, how)),
        6 => Just(Happens::Hear),
        6 => any::<bool>().prop_map(Happens::Read),
        10 => any::<bool>().prop_map(Happens::Answer),
        1 => Just(Happens::Fail),
        1 => Just(Happens::Resumed),
    ]
}

proptest! {
    #[test]
    fn the_thread_at_rest_is_that_of_the_record_whatever_came_in_between(
        happens in prop::collection::vec(happens(), 1..160)
    ) {
        let mut world = PrefetchFixture::new();
        for one in happens {
            match one {
                Happens::Key(code) => world.key(code),
                Happens::Change(job, how) => world.change(JobKey(job), how),
                Happens::Hear => world.hear(),
                Happens::Read(ahead) => world.read(ahead),
                Happens::Answer(ahead) => world.answer(ahead),
                Happens::Fail if world.ahead.take().is_some() => {
                    world.tell(Msg::ReadAhead(Err(Failure::new(FailureKind::Store, "It did not work."))));
                }
                Happens::Fail => {}
                Happens::Resumed => world.tell(Msg::Resumed),
            }
            if let Some(shown) = world.shown() {
                let job = place(world.selected());
                prop_assert!(shown >= world.told[job].1, "a change was told and is not shown");
                prop_assert!(shown <= world.record[job].1);
            }
        }
        world.come_to_rest();
        let job = place(world.selected());
        prop_assert_eq!(world.shown(), Some(world.record[job].1));
    }
}
