//! Measures the changes of a pull request: 5,000 changed lines in 50 files, at 160×48, without a real terminal. Goals:
//! the changes are on the screen within 100 ms of the response of the code host, and a key costs as much as on the jobs
//! screen.
//!
//! `cargo bench --bench changes`

#![expect(clippy::expect_used, reason = "a benchmark that can't be set up should fail")]

mod app_fixture;
mod timing;

use app_fixture::{AppFixture, finished_jobs, now, with_pull_requests};
use criterion::{BenchmarkId, Criterion};
use docdeck::model::diff::{Diff, LoadedDiff};
use docdeck::model::job::JobKey;
use docdeck::model::pull_request_details::SiteFacts;
use docdeck::tui::{JobsMsg, Msg};
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;
use timing::{bench_group, bench_timed, short_criterion};

const FILES: u32 = 50;
/// Each hunk replaces two lines by two others and has six lines around them.
const HUNKS_PER_FILE: u32 = 25;
const CHANGED_LINES: u64 = 5000;

/// A key press to measure: its description, the keys pressed before it, the measured key, and the keys pressed after
/// it.
const STEPS: [(&str, &str, &str, &str); 8] = [
    ("down", "", "Down", ""),
    ("page down", "g", "PgDn", ""),
    ("to the last line", "g", "G", ""),
    ("next file", "g", "]", ""),
    ("previous file", "G", "[", ""),
    ("search, 1st letter", "g /", "e", "Esc"),
    ("mark a line", "g Down Down Down", "v", "Esc"),
    ("ignore whitespace", "g", "w", "w"),
];

fn main() {
    let text = diff_text();
    let diff = Diff::parse(text.clone());
    let (added, removed) = diff.added_and_removed_lines();
    assert_eq!((added + removed, diff.files.len()), (CHANGED_LINES, usize::try_from(FILES).expect("small")));
    let mut criterion = short_criterion();
    bench_response(&mut criterion, &text);
    let mut fixture = open_changes();
    fixture.send(loaded(&fixture, diff));
    let mut group = bench_group(&mut criterion, "changes: key and frame");
    for (what, before, key, after) in STEPS {
        bench_timed(&mut group, BenchmarkId::from_parameter(what), || {
            let elapsed = fixture.time_key(before, key);
            fixture.press(after);
            elapsed
        });
    }
    bench_timed(&mut group, BenchmarkId::from_parameter("frame only"), || {
        let started = Instant::now();
        fixture.draw();
        started.elapsed()
    });
    drop(group);
    criterion.final_summary();
}

/// Measures the steps from the response of the code host to the first frame.
fn bench_response(criterion: &mut Criterion, text: &str) {
    let mut group = bench_group(criterion, "changes: answer");
    bench_timed(&mut group, BenchmarkId::from_parameter("parse"), || {
        let text = text.to_owned();
        let started = Instant::now();
        black_box(Diff::parse(text));
        started.elapsed()
    });
    bench_timed(&mut group, BenchmarkId::from_parameter("lay out"), || {
        let mut fixture = open_changes();
        let msg = loaded(&fixture, Diff::parse(text.to_owned()));
        let started = Instant::now();
        fixture.send(msg);
        started.elapsed()
    });
    bench_timed(&mut group, BenchmarkId::from_parameter("parse, lay out and draw"), || {
        let (mut fixture, text) = (open_changes(), text.to_owned());
        fixture.draw();
        let started = Instant::now();
        let msg = loaded(&fixture, Diff::parse(text));
        fixture.send(msg);
        fixture.draw();
        started.elapsed()
    });
}

/// Returns a dashboard that waits for the changes of the selected job.
fn open_changes() -> AppFixture {
    let mut fixture = AppFixture::with_jobs(with_pull_requests(finished_jobs(9)));
    fixture.press("g c");
    fixture
}

fn loaded(fixture: &AppFixture, diff: Diff) -> Msg {
    let job = fixture.app.jobs.selected();
    let head = job.and_then(|job| Some(job.pull_request.as_ref()?.head.clone())).expect("a pull request");
    let job = job.map_or(JobKey(1), |job| job.key);
    let diff = LoadedDiff { head, diff, is_truncated: false, as_of: now(), problem: None, site: SiteFacts::default() };
    Msg::Jobs(JobsMsg::DiffLoaded { job, result: Ok(Box::new(diff)) })
}

/// Returns a diff of prose, in which a few words of each changed line differ.
fn diff_text() -> String {
    let mut text = String::new();
    for file in 0..FILES {
        let path = format!("guides/section-{}/topic-{file}.mdx", file % 7);
        let _ =
            write!(text, "diff --git a/{path} b/{path}\nindex 83db48f..bf2a1c9 100644\n--- a/{path}\n+++ b/{path}\n");
        for hunk in 0..HUNKS_PER_FILE {
            let start = 1 + hunk * 40;
            let _ = writeln!(text, "@@ -{start},8 +{start},8 @@ ## Step {hunk}");
            let line = |sign: char, verb: &str, n: u32| {
                format!(
                    "{sign}{n}. Open the settings of your project and {verb} the **single sign-on** section, then go on \
                     with the [next step](/guides/topic-{file}#{hunk}) as described there.\n"
                )
            };
            (0..3).for_each(|n| text.push_str(&line(' ', "read", n)));
            (3..5).for_each(|n| text.push_str(&line('-', "look at", n)));
            (3..5).for_each(|n| text.push_str(&line('+', "choose", n)));
            (5..8).for_each(|n| text.push_str(&line(' ', "read", n)));
        }
    }
    text
}
