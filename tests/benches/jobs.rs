//! Measures the jobs screen with 10,000 and 100,000 jobs at 160×48 with the details on the right: the time of a key
//! press and its frame, without the terminal. Goals: 0.3 ms to move the selection, whatever the number of jobs; 10 ms
//! to filter or sort all rows. Also measures a change of one job, a search in prompts, and loading all rows. Takes
//! about a minute.
//!
//! `cargo bench --bench jobs`

#![expect(clippy::expect_used, reason = "a benchmark that can't be set up should fail")]

mod stage;
mod timing;

use chrono::TimeDelta;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion};
use docdeck::app::Msg;
use docdeck::model::job::Status;
use docdeck::model::prompt::{Delivery, EventKind, JobEvent, Prompt, PromptId, PromptKind, Thread};
use docdeck::model::row::JobKey;
use stage::{Stage, input, now, rows};
use std::time::Instant;
use timing::{criterion, group, timed};

const MANY: [i64; 2] = [10_000, 100_000];

/// A measured key: its description, the keys before it, the key itself, and the keys that restore the state.
type Step = (&'static str, &'static str, &'static str, &'static str);

const STEPS: [Step; 20] = [
    ("down", "", "Down", ""),
    ("up", "G", "Up", ""),
    ("page down", "g", "PgDn", ""),
    ("page up", "G", "PgUp", ""),
    ("to the first", "G", "g", ""),
    ("to the last", "g", "G", ""),
    ("filter, 1st letter, all pass", "/", "g", "Esc"),
    ("filter, 3rd letter, all pass", "/ g u", "i", "Esc"),
    ("filter, 4th letter, few pass", "/ 9 9 9", "9", "Esc"),
    ("filter, 1st letter, none pass", "/", "q", "Esc"),
    ("filter, 2nd word", "/ g u i d e Space", "7", "Esc"),
    ("filter, a letter deleted", "/ g u i", "Backspace", "Esc"),
    ("filter cleared", "/ g u", "Esc", ""),
    ("sort by age", "", "s", "s s s"),
    ("sort by last change", "s", "s", "s s"),
    ("sort by status", "s s", "s", "s"),
    ("reverse", "", "S", "S"),
    ("mark", "g", "v", "Esc"),
    ("mark all", "g v G", "V", "Esc"),
    ("down, all marked", "g v G V g", "Down", "Esc"),
];

fn main() {
    let mut criterion = criterion();
    for jobs in MANY {
        let mut stage = Stage::of(rows(jobs));
        keys(&mut criterion, jobs, &mut stage);
        frame(&mut criterion, jobs, &mut stage);
        change(&mut criterion, jobs, &mut stage);
        found(&mut criterion, jobs, &mut stage);
        stage.thread = Some(thread());
        let mut group = group(&mut criterion, "key and frame with a thread");
        measure(&mut group, jobs, &mut stage, ("down", "", "Down", ""));
        drop(group);
        all_rows(&mut criterion, jobs);
    }
    criterion.final_summary();
}

fn keys(criterion: &mut Criterion, jobs: i64, stage: &mut Stage) {
    let mut group = group(criterion, "key and frame");
    for step in STEPS {
        stage.press("g");
        measure(&mut group, jobs, stage, step);
    }
}

fn measure(group: &mut BenchmarkGroup<'_, WallTime>, jobs: i64, stage: &mut Stage, step: Step) {
    let (what, before, key, after) = step;
    timed(group, BenchmarkId::new(what, jobs), || {
        stage.press(before);
        let msg = input(key);
        stage.draw();
        let began = Instant::now();
        stage.send(msg);
        stage.draw();
        let took = began.elapsed();
        stage.press(after);
        took
    });
}

/// A frame without changes.
fn frame(criterion: &mut Criterion, jobs: i64, stage: &mut Stage) {
    let mut group = group(criterion, "frame");
    timed(&mut group, BenchmarkId::from_parameter(jobs), || {
        let began = Instant::now();
        stage.draw();
        began.elapsed()
    });
}

/// A job far down in the list changes and moves to another group.
fn change(criterion: &mut Criterion, jobs: i64, stage: &mut Stage) {
    let mut group = group(criterion, "change of a job and frame");
    let mut changed = rows(10).pop().expect("a row");
    timed(&mut group, BenchmarkId::from_parameter(jobs), || {
        changed.revision += jobs;
        changed.gone = !changed.gone;
        let msg = Msg::JobsChanged(vec![changed.clone()]);
        let began = Instant::now();
        stage.send(msg);
        stage.draw();
        began.elapsed()
    });
}

/// A word is found in the prompts of half of the jobs, but not in their rows.
fn found(criterion: &mut Criterion, jobs: i64, stage: &mut Stage) {
    let mut group = group(criterion, "word found in prompts and frame");
    timed(&mut group, BenchmarkId::from_parameter(jobs), || {
        stage.press("/ q q");
        let msg = Msg::PromptsFound { text: "qq".to_owned(), jobs: Ok((1..=jobs / 2).map(JobKey).collect()) };
        stage.draw();
        let began = Instant::now();
        stage.send(msg);
        stage.draw();
        let took = began.elapsed();
        assert!(stage.app.jobs.matching_count() > 0, "the filter matches them");
        stage.press("Esc");
        took
    });
}

/// Loads, sorts and counts all rows.
fn all_rows(criterion: &mut Criterion, jobs: i64) {
    let mut group = group(criterion, "all rows");
    timed(&mut group, BenchmarkId::from_parameter(jobs), || {
        let rows = rows(jobs);
        let began = Instant::now();
        let stage = Stage::of(rows);
        let took = began.elapsed();
        drop(stage);
        took
    });
}

/// A thread with a long prompt, a follow-up, and status changes.
fn thread() -> Thread {
    let at = |minutes: i64| now() - TimeDelta::minutes(minutes);
    let prompt = |id: i64, kind: PromptKind, text: String, minutes: i64| Prompt {
        id: PromptId(id),
        kind,
        text,
        delivery: Delivery::Accepted,
        written_at: at(minutes),
        sent_at: Some(at(minutes)),
        state_at: Some(at(minutes)),
    };
    let long = "Go through every page under /api, follow each link, and fix or remove the ones that lead nowhere.\n";
    let done = EventKind::Status { from: Some(Status::Active), to: Status::Completed };
    Thread {
        prompts: vec![
            prompt(1, PromptKind::Create, long.repeat(20), 60),
            prompt(2, PromptKind::FollowUp, "Also check the redirects".to_owned(), 20),
        ],
        events: vec![JobEvent { at: at(54), kind: done.clone() }, JobEvent { at: at(14), kind: done }],
    }
}
