//! Tests that prefetched threads are shown at once, need few reads, and are never older than reported changes.

use super::super::jobs::tests::{at, row, thread_of_prompt};
use super::super::{AppConfig, InitialData, Msg};
use super::*;
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::FailureKind;
use crate::model::job::Job;
use crate::model::load::Load;
use crate::model::prompt::PromptId;
use crate::model::remote_job::Status;
use crate::tui::App;
use crate::tui::Effect;
use crate::tui::{JobsEffect, JobsMsg};
use chrono::FixedOffset;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;

const JOBS: i64 = 60;

fn timed_thread(text: &str) -> Timed<Thread> {
    Timed { value: thread_of_prompt(text), as_of: at(0) }
}

/// A requested read: its jobs, and the result once the store has executed the read.
type RequestedRead<T> = (Vec<JobKey>, Option<T>);

/// A dashboard with a simulated store. The text of each thread is the number of its changes.
struct PrefetchFixture {
    app: App,
    /// For each job, the revision of its row and the number of changes of its thread.
    stored_jobs: Vec<(i64, u64)>,
    revision: i64,
    /// Events that the dashboard has not received yet, each with its job and the number of changes of the job's thread.
    events: Vec<(EngineEvent, JobKey, u64)>,
    /// The read of a single thread that is in progress.
    single_read: Option<RequestedRead<u64>>,
    /// The prefetch that is in progress.
    prefetch: Option<RequestedRead<Vec<u64>>>,
    /// The number of single reads, and the number of prefetches.
    reads: (usize, usize),
    /// For each job, the number of changes of its thread as of the last delivered event about its row, and as of the
    /// last delivered event about its thread.
    reported_changes: Vec<(u64, u64)>,
}

fn index(job: JobKey) -> usize {
    usize::try_from(job.0 - 1).expect("an index")
}

impl PrefetchFixture {
    fn new() -> Self {
        let scope = Scope { base_url: "https://api.example.com".into(), project: "a".into(), organization: None };
        let start = AppConfig { size: (160, 48), ..AppConfig::new(scope, FixedOffset::east_opt(0).expect("UTC")) };
        let (app, _) = App::new(start, at(0));
        let jobs = usize::try_from(JOBS).expect("a number");
        let (stored_jobs, reported_changes) = (vec![(0, 0); jobs], vec![(0, 0); jobs]);
        let mut fixture = Self {
            app,
            stored_jobs,
            revision: 0,
            events: Vec::new(),
            single_read: None,
            prefetch: None,
            reads: (0, 0),
            reported_changes,
        };
        let jobs = (1..=JOBS).map(|key| fixture.row(JobKey(key))).collect();
        fixture
            .send(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData { jobs, ..InitialData::default() })))));
        fixture
    }

    /// Returns the row of a job as stored.
    fn row(&self, job: JobKey) -> Job {
        let mut row = row(job.0, Status::Completed);
        (row.local.viewed_at, row.revision) = (Some(at(100)), self.stored_jobs[index(job)].0);
        row
    }

    fn send(&mut self, msg: Msg) {
        for effect in self.app.update(msg, at(1)) {
            match effect {
                Effect::Jobs(JobsEffect::LoadThread(job)) => {
                    self.reads.0 += 1;
                    assert!(self.single_read.replace((vec![job], None)).is_none(), "one thread is read at a time");
                }
                Effect::Jobs(JobsEffect::PrefetchThreads(jobs)) => {
                    self.reads.1 += 1;
                    assert!(!jobs.is_empty() && jobs.len() <= 24, "{jobs:?}");
                    assert!(self.prefetch.replace((jobs, None)).is_none(), "one prefetch at a time");
                }
                _ => {}
            }
        }
    }

    fn press_key(&mut self, code: KeyCode) {
        let before = self.selected();
        self.send(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))));
        let selected = self.selected();
        if selected != before
            && let Some(shown) = self.shown_change_count()
        {
            let (by_row, by_name) = self.reported_changes[index(selected)];
            assert!(shown >= by_row.max(by_name), "a thread with a reported change is not shown again");
        }
    }

    fn selected(&self) -> JobKey {
        self.app.jobs.selected().expect("a job").key
    }

    /// Returns the number of changes of the thread on screen. `None` while a newer thread is being read.
    fn shown_change_count(&self) -> Option<u64> {
        let Load::Ready(thread) = self.app.detail.thread() else { return None };
        let text = &thread.value.prompts[0].text;
        let (job, changes) = text.split_once(' ').expect("two words");
        assert_eq!(job, self.selected().0.to_string(), "the thread of another job is shown");
        changes.parse().ok()
    }

    /// Changes the row of a job and, unless `event_kind` is 0, its thread. `event_kind` selects the events about the
    /// change, which are delivered later.
    fn change_job(&mut self, job: JobKey, event_kind: u8) {
        self.revision += 1;
        let (revision, changes) = &mut self.stored_jobs[index(job)];
        *revision = self.revision;
        *changes += u64::from(event_kind != 0);
        let changes = *changes;
        let row = Box::new(self.row(job));
        let events = match event_kind {
            0 => vec![EngineEvent::Job(row)],
            1 => vec![EngineEvent::Job(row), EngineEvent::Thread(job)],
            // For changes of the queue, the event about the row comes last.
            2 => vec![EngineEvent::Thread(job), EngineEvent::Job(row)],
            _ => vec![EngineEvent::Prompt { prompt: PromptId(1), delivery: Delivery::Accepted, job: row }],
        };
        self.events.extend(events.into_iter().map(|event| (event, job, changes)));
    }

    /// Sends the oldest undelivered event to the dashboard.
    fn deliver_event(&mut self) {
        if self.events.is_empty() {
            return;
        }
        let (event, job, changes) = self.events.remove(0);
        let reported = &mut self.reported_changes[index(job)];
        match event {
            EngineEvent::Job(_) => reported.0 = changes,
            EngineEvent::Thread(_) => reported.1 = changes,
            _ => *reported = (changes, changes),
        }
        self.send(Msg::Engine(event));
    }

    /// Executes the requested prefetch or, if `is_prefetch` is false, the requested single read in the store. The
    /// result is delivered later, by `deliver_answer`.
    fn execute_read(&mut self, is_prefetch: bool) {
        let stored = &self.stored_jobs;
        let find = |jobs: &[JobKey]| jobs.iter().map(|job| stored[index(*job)].1).collect::<Vec<_>>();
        if is_prefetch && let Some((jobs, found)) = &mut self.prefetch {
            *found = Some(found.take().unwrap_or_else(|| find(jobs)));
        } else if !is_prefetch && let Some((jobs, found)) = &mut self.single_read {
            *found = Some(found.unwrap_or_else(|| find(jobs)[0]));
        }
    }

    /// Delivers a result to the dashboard: that of the requested prefetch or, if `is_prefetch` is false, that of the
    /// requested read of one thread.
    fn deliver_answer(&mut self, is_prefetch: bool) {
        self.execute_read(is_prefetch);
        let thread = |job: JobKey, changes: u64| thread_of_prompt(&format!("{} {changes}", job.0));
        if is_prefetch && let Some((jobs, Some(found))) = self.prefetch.take() {
            let threads = jobs.into_iter().zip(found).map(|(job, changes)| (job, thread(job, changes)));
            self.send(Msg::Jobs(JobsMsg::ThreadsPrefetched(Ok(threads.collect()))));
        } else if !is_prefetch && let Some((jobs, Some(changes))) = self.single_read.take() {
            self.send(Msg::Jobs(JobsMsg::ThreadLoaded { job: jobs[0], result: Ok(thread(jobs[0], changes)) }));
        }
    }

    fn deliver_all(&mut self) {
        while !self.events.is_empty() || self.single_read.is_some() || self.prefetch.is_some() {
            self.deliver_event();
            self.deliver_answer(false);
            self.deliver_answer(true);
        }
    }

    /// Presses a key, then delivers all events and answers all reads.
    fn step(&mut self, code: KeyCode) {
        self.press_key(code);
        self.deliver_all();
    }
}

#[test]
fn most_moves_to_the_next_job_show_its_thread_at_once_without_a_read() {
    let mut fixture = PrefetchFixture::new();
    fixture.step(KeyCode::Down);
    fixture.reads = (0, 0);
    for _ in 0..40 {
        fixture.press_key(KeyCode::Down);
        assert!(fixture.shown_change_count().is_some() && !fixture.app.is_reading_store(), "in the first frame");
        assert!(!fixture.app.detail.lines().is_empty());
        fixture.deliver_all();
    }
    assert!(fixture.reads.0 == 0 && fixture.reads.1 <= 3, "{:?}", fixture.reads);
    fixture.reads = (0, 0);
    for step in 0..40 {
        fixture.step(if step % 2 == 0 { KeyCode::Up } else { KeyCode::Down });
    }
    assert!(fixture.reads.0 == 0 && fixture.reads.1 <= 1, "{:?}", fixture.reads);
}

#[test]
fn a_jump_to_a_distant_job_reads_only_the_thread_of_that_job() {
    let mut fixture = PrefetchFixture::new();
    for code in [KeyCode::PageDown, KeyCode::End, KeyCode::Home] {
        fixture.reads = (0, 0);
        fixture.step(code);
        assert_eq!(fixture.reads, (1, 0), "{code:?}");
    }
}

#[test]
fn prefetching_does_not_change_the_screen() {
    let mut fixture = PrefetchFixture::new();
    fixture.press_key(KeyCode::Down);
    fixture.deliver_answer(false);
    fixture.app.take_dirty();
    fixture.deliver_answer(true);
    assert!(!fixture.app.take_dirty());
}

#[test]
fn a_thread_whose_prefetch_failed_is_read_when_it_is_shown() {
    let mut fixture = PrefetchFixture::new();
    fixture.step(KeyCode::Down);
    for _ in 0..PREFETCH_AHEAD {
        fixture.step(KeyCode::Down);
    }
    fixture.reads = (0, 0);
    fixture.app.detail.prefetched.is_reading = true;
    fixture.send(Msg::Jobs(JobsMsg::ThreadsPrefetched(Err(Failure::new(FailureKind::Store, "It did not work.")))));
    assert!(fixture.app.notice.is_none(), "the failure is reported when the job is selected");
    for code in [KeyCode::Up, KeyCode::Up] {
        fixture.press_key(code);
        assert_eq!(fixture.shown_change_count(), None);
        fixture.deliver_answer(false);
        assert_eq!(fixture.shown_change_count(), Some(0));
    }
    assert_eq!(fixture.reads, (2, 1));
}

#[test]
fn a_thread_that_changes_during_its_prefetch_is_read_again() {
    for event_kind in 1..4 {
        let mut fixture = PrefetchFixture::new();
        fixture.press_key(KeyCode::Down);
        fixture.execute_read(true);
        let next = JobKey(fixture.selected().0 - 1);
        fixture.change_job(next, event_kind);
        // The first event is enough to drop the thread, even if a second event about the same change follows.
        fixture.deliver_event();
        fixture.deliver_answer(true);
        fixture.deliver_answer(false);
        fixture.press_key(KeyCode::Down);
        assert_eq!((fixture.selected(), fixture.shown_change_count()), (next, None), "{event_kind}");
        fixture.deliver_all();
        assert_eq!(fixture.shown_change_count(), Some(1));
    }
}

#[test]
fn threads_that_were_prefetched_before_a_suspend_are_not_used() {
    let mut fixture = PrefetchFixture::new();
    fixture.step(KeyCode::Down);
    fixture.send(Msg::Resumed);
    fixture.press_key(KeyCode::Down);
    assert_eq!(fixture.shown_change_count(), None);
}

#[test]
fn the_cache_is_small_and_keeps_the_last_added_threads() {
    let mut cache = ThreadPrefetch::default();
    for (jobs, text) in [(0..200, "short".to_owned()), (200..400, "x".repeat(MAX_PREFETCHED_THREAD_BYTES / 2))] {
        for job in jobs {
            cache.cache_thread((JobKey(job), 1), timed_thread(&text));
            assert!(cache.bytes <= MAX_CACHE_BYTES && cache.entries.len() <= MAX_CACHED_JOBS);
        }
    }
    assert!(cache.entries.len() > 16);
    assert!(cache.take((JobKey(399), 1)).is_some() && cache.take((JobKey(200), 1)).is_none());
    cache.cache_thread((JobKey(1), 1), timed_thread(&"x".repeat(MAX_PREFETCHED_THREAD_BYTES)));
    assert!(cache.contains((JobKey(1), 1)) && cache.take((JobKey(1), 1)).is_none(), "a large one is not cached");
    let mut waits = timed_thread("waits");
    waits.value.prompts[0].delivery = Delivery::Queued { until: Some(at(9)) };
    cache.cache_thread((JobKey(2), 1), waits);
    assert!(cache.take((JobKey(2), 1)).is_none(), "nor one with a time that depends on the clock");
    cache.clear();
    assert_eq!(cache.bytes, 0);
}

#[test]
fn if_the_cache_is_too_small_it_keeps_the_threads_of_the_nearest_jobs() {
    let mut cache = ThreadPrefetch::default();
    let job = |places: isize| Some((JobKey(if places < 0 { 20 - places as i64 } else { places as i64 }), 1));
    let requested = cache.start_next_prefetch(&job).expect("jobs");
    assert_eq!(requested.len(), 24);
    let large = "x".repeat(MAX_PREFETCHED_THREAD_BYTES - 1024);
    cache.apply_result(Ok(requested.into_iter().map(|job| (job, thread_of_prompt(&large))).collect()), at(0));
    let known: Vec<i64> = (1..=24).filter(|job| cache.contains((JobKey(*job), 1))).collect();
    assert_eq!(known, (1..=12).chain(21..=24).collect::<Vec<_>>());
}

/// A step of the property test below.
#[derive(Debug, Clone)]
enum Step {
    Key(KeyCode),
    /// Changes a job: its key, and the `event_kind` of [`PrefetchFixture::change_job`].
    Change(i64, u8),
    DeliverEvent,
    /// Executes the requested prefetch or, if false, the requested single read.
    Read(bool),
    /// Delivers the result of the requested prefetch or, if false, of the requested single read.
    Answer(bool),
    /// Makes the requested prefetch fail.
    Fail,
    Resumed,
}

fn steps() -> impl Strategy<Value = Step> {
    let steps = prop::sample::select(vec![KeyCode::Down, KeyCode::Down, KeyCode::Up]);
    let jumps = prop::sample::select(vec![KeyCode::Home, KeyCode::End, KeyCode::PageDown, KeyCode::PageUp]);
    prop_oneof![
        12 => steps.prop_map(Step::Key),
        1 => jumps.prop_map(Step::Key),
        // Changes jobs near the start of the list, where most steps move the selection.
        6 => (JOBS - 11..=JOBS, 0_u8..4).prop_map(|(job, event_kind)| Step::Change(job, event_kind)),
        6 => Just(Step::DeliverEvent),
        6 => any::<bool>().prop_map(Step::Read),
        10 => any::<bool>().prop_map(Step::Answer),
        1 => Just(Step::Fail),
        1 => Just(Step::Resumed),
    ]
}

proptest! {
    #[test]
    fn the_final_thread_is_the_stored_one_after_any_steps(
        steps in prop::collection::vec(steps(), 1..160)
    ) {
        let mut fixture = PrefetchFixture::new();
        for one in steps {
            match one {
                Step::Key(code) => fixture.press_key(code),
                Step::Change(job, event_kind) => fixture.change_job(JobKey(job), event_kind),
                Step::DeliverEvent => fixture.deliver_event(),
                Step::Read(is_prefetch) => fixture.execute_read(is_prefetch),
                Step::Answer(is_prefetch) => fixture.deliver_answer(is_prefetch),
                Step::Fail if fixture.prefetch.take().is_some() => {
                    fixture.send(Msg::Jobs(JobsMsg::ThreadsPrefetched(Err(Failure::new(FailureKind::Store, "It did not work.")))));
                }
                Step::Fail => {}
                Step::Resumed => fixture.send(Msg::Resumed),
            }
            if let Some(shown) = fixture.shown_change_count() {
                let job = index(fixture.selected());
                prop_assert!(shown >= fixture.reported_changes[job].1, "a reported change is shown");
                prop_assert!(shown <= fixture.stored_jobs[job].1);
            }
        }
        fixture.deliver_all();
        let job = index(fixture.selected());
        prop_assert_eq!(fixture.shown_change_count(), Some(fixture.stored_jobs[job].1));
    }
}
