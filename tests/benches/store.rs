//! Measures the store on a real file in the temporary folder:
//!
//! - `start`: the queries when docdeck starts, with 10,000 and 100,000 jobs, the 10,000 also with states of pull
//!   requests;
//! - `history`: the size on disk and the reading time of 60 ranges with 1,200 pages each. They are written as when all
//!   pages are loaded: each response to the cache and to the report of its range;
//! - `load`: loading all 25,000 pages of a range in 100 responses, each of which is decoded, merged and stored in its
//!   own transaction. Goal: 250 ms in total. The same with a store in memory shows how long transactions wait for the
//!   disk.
//!
//! Prints the shortest, median and longest time of each. Slow times are not a failure. Takes about a minute.
//!
//! Run it with `cargo bench --bench store`, or one part with `cargo bench --bench store -- load` (or `start`,
//! `history`).

#![expect(clippy::expect_used, reason = "a benchmark that can't run should stop")]

#[path = "backup.rs"]
#[expect(dead_code, reason = "only tests that run the program use the environment")]
mod backup;

use chrono::{Days, NaiveDate, TimeDelta};
use docdeck::api::BodyReader;
use docdeck::api::wire::{CountsBody, PageBody, ViewsBody};
use docdeck::model::Time;
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::model::report::ReportMerge;
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts, MAX_PAGE_SIZE, PageRow, ViewsResponse};
use docdeck::store::{AnalyticsPruneFilter, ReportResponse, ScopeFilter, Store};
use std::future::Future;
use std::hint::black_box;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const HISTORY_RANGES: u64 = 60;
const HISTORY_PAGES: u32 = 1_200;
const LARGE_SITE_PAGES: u32 = 25_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |part: &str| wanted.is_empty() || wanted.iter().any(|word| word == part);
    if is_wanted("start") {
        for (name, jobs, backup) in [
            ("10,000 jobs", 10_000, backup::backup_of_jobs(10_000)),
            ("10,000 jobs with pull requests", 10_000, backup::backup_with_pull_requests(10_000)),
            ("100,000 jobs", 100_000, backup::backup_of_jobs(100_000)),
        ] {
            println!("{name}:");
            runtime.block_on(bench_start(&folder.path().join(name), jobs, backup));
        }
    }
    if is_wanted("history") {
        runtime.block_on(bench_history(&folder.path().join("history")));
    }
    if is_wanted("load") {
        runtime.block_on(bench_load(&folder.path().join("load")));
    }
}

/// Measures the queries that docdeck needs for its first frame and for the complete list of jobs.
async fn bench_start(folder: &Path, jobs: usize, backup: String) {
    std::fs::create_dir(folder).expect("a folder");
    let (store, _) = Store::open(folder, now()).expect("a store");
    let lines = std::io::Cursor::new(backup);
    store.import(lines, ScopeFilter::default(), false, now()).await.expect("imported");
    store.close().await;
    let scope = Scope { base_url: "http://127.0.0.1:9".to_owned(), project: "acme".to_owned(), organization: None };
    let (mut opening, mut first, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..10 {
        let started = Instant::now();
        let (store, _) = Store::open(folder, now()).expect("a store");
        opening.push(started.elapsed());
        first.push(timed(store.first_jobs(&scope, 45)).await.0);
        let (elapsed, rows) = timed(store.jobs(&scope)).await;
        assert_eq!(rows.len(), jobs);
        all.push(elapsed);
        store.close().await;
    }
    print_times("open", opening);
    print_times("the first 45 rows", first);
    print_times("all rows", all);
    let (store, _) = Store::open(folder, now()).expect("a store");
    print_times("a word in their prompts", time_calls(|| store.find_jobs_by_prompt(&scope, "guide")).await);
    store.close().await;
}

async fn bench_history(folder: &Path) {
    let (store, _) = Store::open(folder, now()).expect("a store");
    write_ranges(&store, 0..HISTORY_RANGES, HISTORY_PAGES).await;
    store.close().await;
    let size = std::fs::metadata(folder.join("docdeck.db")).expect("a file").len();
    println!("on disk: {:.1} MB", f64::from(u32::try_from(size).expect("small")) / 1e6);
    let mut opening = Vec::new();
    for _ in 0..10 {
        let started = Instant::now();
        let (store, _) = Store::open(folder, now()).expect("a store");
        opening.push(started.elapsed());
        store.close().await;
    }
    print_times("open", opening);
    let (store, _) = Store::open(folder, now()).expect("a store");
    bench_reads(&store).await;
    let (elapsed, pruned) = timed(
        store.prune_analytics(AnalyticsPruneFilter { keep_newest_ranges: Some(20), ..AnalyticsPruneFilter::default() }),
    )
    .await;
    print_times("prune to 20 ranges", vec![elapsed]);
    println!("on disk then: {:.1} MB", f64::from(u32::try_from(pruned.bytes_after).expect("small")) / 1e6);
    store.close().await;
}

/// Measures loading all pages of a large site, on disk and in memory.
async fn bench_load(folder: &Path) {
    let (store, _) = Store::open(folder, now()).expect("a store");
    // The first load is measured separately, because it also stores the paths of all pages.
    print_times("25,000 pages of a new site", load_all(&store, 0..1).await);
    print_times("25,000 pages decoded, merged and stored", load_all(&store, 1..11).await);
    let in_memory = Store::in_memory().expect("a store");
    print_times("25,000 pages of a new site, in memory", load_all(&in_memory, 0..1).await);
    print_times("25,000 pages in memory", load_all(&in_memory, 1..11).await);
    in_memory.close().await;
    let scope = scope();
    print_times("read a report of 25,000 pages", time_calls(|| store.cached_report(&scope, range(1))).await);
    store.close().await;
}

/// Stores these ranges as the engine does, and prints the time of each response.
async fn write_ranges(store: &Store, ranges: Range<u64>, pages: u32) {
    let mut times = Vec::new();
    let scope = scope();
    println!("{} ranges of {pages} pages:", ranges.end);
    for days_ago in ranges {
        for (number, response, is_last) in responses(days_ago, pages) {
            let as_of = as_of(days_ago);
            let next = ReportResponse { range: range(days_ago), number, response, is_last, as_of, restarted_at: None };
            times.push(timed(store.cache_and_add_report_response(&scope, next, None)).await.0);
        }
    }
    print_times("store an answer of 250 rows in cache and report", times);
}

/// Loads all 25,000 pages of each range; returns the time of each range.
async fn load_all(store: &Store, ranges: Range<u64>) -> Vec<Duration> {
    let mut times = Vec::new();
    for days_ago in ranges {
        let responses = responses(days_ago, LARGE_SITE_PAGES);
        let bodies: Vec<Vec<u8>> = responses.iter().map(|(_, page, _)| encode_body(page)).collect();
        let started = Instant::now();
        load_range(store, days_ago, &bodies).await;
        times.push(started.elapsed());
    }
    times
}

/// Processes all responses of a range as the engine does: stores each response, then merges it into the displayed
/// report.
async fn load_range(store: &Store, days_ago: u64, bodies: &[Vec<u8>]) {
    let (scope, as_of) = (scope(), as_of(days_ago));
    let key = ApiKey::new("mint_of_nobody").expect("a key");
    let reader = BodyReader { operation: Operation::Views, timeout: Duration::from_secs(60), key: &key };
    let mut merge: Option<Arc<ReportMerge>> = None;
    for (number, body) in (1..).zip(bodies) {
        let response = reader.views(200, None, body).expect("page views");
        let is_last = response.has_more == Some(false);
        let range = range(days_ago);
        let next = ReportResponse { range, number, response: response.clone(), is_last, as_of, restarted_at: None };
        assert!(store.cache_and_add_report_response(&scope, next, merge.clone()).await.expect("stored"));
        let so_far = merge.take().and_then(Arc::into_inner);
        merge = Some(Arc::new(ReportMerge::add_or_start(so_far, range, response, is_last, as_of)));
        black_box(merge.as_deref().and_then(ReportMerge::loaded_share));
    }
    black_box(merge);
}

/// Encodes page views as the service's JSON response.
fn encode_body(page: &ViewsResponse) -> Vec<u8> {
    let number = |count: &Count| match count {
        Count::Known(n) => n.unsigned_abs(),
        _ => 0,
    };
    let counts = |of: &Counts| CountsBody { human: number(&of.human), ai: number(&of.ai), total: number(&of.total) };
    let row = |row: &PageRow| PageBody { path: row.path.to_string(), counts: counts(&row.counts) };
    let body = ViewsBody {
        totals: counts(&page.totals),
        views: page.rows.iter().map(row).collect(),
        has_more: page.has_more == Some(true),
    };
    serde_json::to_vec(&body).expect("JSON")
}

async fn bench_reads(store: &Store) {
    let (scope, path) = (scope(), CleanText::line(&path(600)));
    print_times("list cached ranges, the first time", vec![timed(store.cached_ranges(&scope)).await.0]);
    print_times("list cached ranges", time_calls(|| store.cached_ranges(&scope)).await);
    print_times("read a complete report", time_calls(|| store.cached_report(&scope, range(30))).await);
    print_times("one page in all ranges", time_calls(|| store.page_views_by_range(&scope, &path)).await);
    let ranges: Vec<DateRange> = (0..20).map(range).collect();
    print_times("one page in 20 ranges", time_calls(|| store.page_views(&scope, &path, &ranges)).await);
    let days: Vec<DateRange> = (0..60).map(range).collect();
    print_times("totals of 60 ranges", time_calls(|| store.views_totals(&scope, &days)).await);
}

/// Returns the time and the value of a call.
async fn timed<T, E: std::fmt::Debug>(call: impl Future<Output = Result<T, E>>) -> (Duration, T) {
    let started = Instant::now();
    let value = call.await.expect("no failure");
    (started.elapsed(), value)
}

/// Makes the call ten times, and returns the time of each call.
async fn time_calls<T, E: std::fmt::Debug, F: Future<Output = Result<T, E>>>(call: impl Fn() -> F) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..10 {
        times.push(timed(call()).await.0);
    }
    times
}

fn print_times(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let [least, middle, worst] =
        [times.first(), times.get(times.len() / 2), times.last()].map(|time| time.copied().map_or(0.0, ms));
    println!("  {what:<42} {least:>9.2} ms least, {middle:>9.2} median, {worst:>9.2} worst");
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn now() -> Time {
    "2026-11-20T12:00:00Z".parse().expect("a time")
}

fn as_of(days_ago: u64) -> Time {
    now() - TimeDelta::days(i64::try_from(days_ago).expect("small"))
}

fn scope() -> Scope {
    Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "acme-docs".to_owned(), organization: None }
}

/// Returns the seven days that end `days_ago` days before [`now`].
fn range(days_ago: u64) -> DateRange {
    let to: NaiveDate = now().date_naive().checked_sub_days(Days::new(days_ago)).expect("a day");
    DateRange::last_days(7, to)
}

fn path(n: u32) -> String {
    format!("/guides/section-{}/how-to-do-thing-{n}", n % 40)
}

/// Returns the responses of a range, each with its number and whether it is the last. The order of pages differs
/// between ranges.
fn responses(days_ago: u64, pages: u32) -> Vec<(u32, ViewsResponse, bool)> {
    let row = |place: u32| {
        let n = (place * 7 + u32::try_from(days_ago).expect("small") * 13) % pages;
        let (human, ai) = (i64::from(pages - place) * 17, i64::from(pages - place) * 5);
        PageRow { path: CleanText::line(&path(n)), counts: counts(human, ai) }
    };
    let last = pages.div_ceil(MAX_PAGE_SIZE);
    let page = |number: u32| ViewsResponse {
        totals: counts(12_345_678, 3_456_789),
        rows: ((number - 1) * MAX_PAGE_SIZE..(number * MAX_PAGE_SIZE).min(pages)).map(row).collect(),
        has_more: Some(number < last),
    };
    (1..=last).map(|number| (number, page(number), number == last)).collect()
}

fn counts(human: i64, ai: i64) -> Counts {
    Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai))
}
