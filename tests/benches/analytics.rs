//! Measures the tabs Searches and Questions of the analytics screen with 1,000 and 25,000 rows at 160×48: the time of a
//! key press and the frame after it, without a real terminal. Goal: 5 ms to filter or sort all rows.
//!
//! `cargo bench --bench analytics`

#![expect(clippy::expect_used, reason = "a benchmark that can't be set up should fail")]

#[expect(dead_code, reason = "the jobs benchmark uses the rest")]
mod app_fixture;
mod timing;

use app_fixture::{AppFixture, now};
use criterion::{BenchmarkId, Criterion};
use docdeck::model::analytics::{Question, RowsMerge, RowsReport, RowsResponse, Search};
use docdeck::model::period::DateRange;
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts};
use docdeck::tui::{AnalyticsMsg, ListTab, Msg, RowsMsg, Screen};
use std::sync::Arc;
use timing::{bench_group, bench_timed, short_criterion};

const ROW_COUNTS: [i64; 2] = [1_000, 25_000];

/// Sequences of keys. Only the last key of each is measured; the keys before it prepare the state.
const KEYS: [&str; 8] = ["j", "G", "s", "s s", "S", "/ w", "/ w e", "/ h i t s > 2 0"];
/// The second sorts by page, the third by category, and the last one by the text of the question.
const QUESTION_KEYS: [&str; 4] = ["j", "s", "s s", "s s s"];

fn main() {
    let mut criterion = short_criterion();
    for rows in ROW_COUNTS {
        let searches = sample_report(rows);
        bench_keys(&mut criterion, "searches", rows, &KEYS, || open_searches(&searches));
        let questions = sample_questions(rows);
        bench_keys(&mut criterion, "questions", rows, &QUESTION_KEYS, || open_questions(&questions));
    }
    criterion.final_summary();
}

fn bench_keys(criterion: &mut Criterion, tab: &str, rows: i64, sequences: &[&str], open: impl Fn() -> AppFixture) {
    let mut group = bench_group(criterion, &format!("{tab}: key and frame"));
    for keys in sequences {
        let (before, key) = keys.rsplit_once(' ').unwrap_or(("", keys));
        bench_timed(&mut group, BenchmarkId::new(*keys, rows), || open().time_key(before, key));
    }
}

fn sample_report(rows: i64) -> Arc<RowsReport<Search>> {
    let search = |n: i64| Search {
        query: CleanText::line(&format!("how to set up webhook number {}", n * 7919 % 1_000_003)),
        hits: Count::Known(200_000 / (n + 20) + n * 31 % 17),
        click_rate: Count::Known(n % 2),
        top_page: (n % 3 > 0).then(|| CleanText::line(&format!("/guides/topic-{}", n % 197))),
        last_searched_at: Some(now()),
    };
    let range = DateRange::last_days(7, now().date_naive());
    let response = RowsResponse {
        rows: (0..rows).map(search).collect(),
        totals: Counts::default(),
        next: None,
        has_unavailable_rows: false,
    };
    Arc::new(RowsMerge::start(range, response, now()).into_report())
}

fn sample_questions(rows: i64) -> Arc<RowsReport<Question>> {
    let starts = ["How do I", "What is", "Why does", "can i", "Is there"];
    let question = |n: i64| {
        let start = usize::try_from(n * 31 % 5).ok().and_then(|at| starts.get(at)).expect("a start");
        Question {
            id: CleanText::line(&format!("01M8{n:022}")),
            asked_at: Some(now()),
            query: CleanText::line(&format!("{start} set up webhook number {}?", n * 7919 % 1_000_003)),
            response: CleanText::line(&"Usually because a parameter is missing. ".repeat(5)),
            is_answered: Some(n % 3 > 0),
            category: Some(CleanText::line("troubleshooting")),
            page: Some(CleanText::line(&format!("https://docs.acme.dev/guides/topic-{}", n % 197))),
            ..Question::default()
        }
    };
    let response = RowsResponse {
        rows: (0..rows).map(question).collect(),
        totals: Counts::default(),
        next: None,
        has_unavailable_rows: false,
    };
    Arc::new(RowsMerge::start(DateRange::last_days(7, now().date_naive()), response, now()).into_report())
}

/// Opens the Questions tab with a cached report.
fn open_questions(report: &Arc<RowsReport<Question>>) -> AppFixture {
    let mut fixture = AppFixture::with_jobs(Vec::new());
    fixture.press("2 Tab Tab Tab");
    let cached = RowsMsg::Cached { range: report.range, report: Some(Arc::clone(report)), is_fresh: true };
    fixture.send(Msg::Analytics(AnalyticsMsg::Questions(cached)));
    assert_eq!(fixture.app.analytics.questions.rows().count(), report.rows.len());
    fixture
}

/// Opens the Searches tab with a cached report.
fn open_searches(report: &Arc<RowsReport<Search>>) -> AppFixture {
    let mut fixture = AppFixture::with_jobs(Vec::new());
    fixture.press("2 Tab");
    assert_eq!(fixture.app.screen, Screen::Analytics);
    let cached = RowsMsg::Cached { range: report.range, report: Some(Arc::clone(report)), is_fresh: true };
    fixture.send(Msg::Analytics(AnalyticsMsg::Searches(cached)));
    assert_eq!(fixture.app.analytics.searches.rows().count(), report.rows.len());
    fixture
}
