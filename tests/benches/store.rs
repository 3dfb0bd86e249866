//! Measures the store on a real file in the temporary folder:
//!
//! - the queries at the start, with 10,000 and 100,000 jobs;
//! - a long history: 60 ranges of 1,200 pages, written as by load all (each answer to the cache and the report): its
//!   size on disk, and how long it takes to read;
//! - load all with 25,000 pages in 100 answers, each decoded, merged and stored in its transaction, and again with the
//!   store in memory: the difference is the time that transactions wait for the disk. Goal: 250 ms in total.
//!
//! Prints the shortest, median and longest time of each. It never fails because of times, and takes about a minute.
//!
//! Run it with `cargo bench --bench store`, or one part with `cargo bench --bench store -- load` (or `start`,
//! `history`).

#![expect(clippy::expect_used, reason = "a benchmark that can't run should stop")]

#[path = "../guard/record.rs"]
#[expect(dead_code, reason = "only tests that run the program use the environment")]
mod record;

use chrono::{Days, NaiveDate, TimeDelta};
use docdeck::api::BodyReader;
use docdeck::api::wire::{CountsBody, PageBody, ViewsBody};
use docdeck::model::Time;
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::model::report::ReportMerge;
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts, LIMIT_MAX, PageRow, ViewsPage};
use docdeck::store::{ExportFilter, Prune, ReportAnswer, Store};
use std::future::Future;
use std::hint::black_box;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const RANGES: u64 = 60;
const PAGES: u32 = 1_200;
const LARGE: u32 = 25_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |part: &str| wanted.is_empty() || wanted.iter().any(|word| word == part);
    if is_wanted("start") {
        for jobs in [10_000, 100_000] {
            runtime.block_on(start(&folder.path().join(jobs.to_string()), jobs));
        }
    }
    if is_wanted("history") {
        runtime.block_on(history(&folder.path().join("history")));
    }
    if is_wanted("load") {
        runtime.block_on(large(&folder.path().join("load")));
    }
}

/// The queries before the first frame, and before all rows are loaded.
async fn start(folder: &Path, jobs: u32) {
    std::fs::create_dir(folder).expect("a folder");
    let (store, _) = Store::open(folder, now()).expect("a store");
    let lines = std::io::Cursor::new(record::record(jobs));
    store.import(lines, ExportFilter::default(), false, now()).await.expect("taken in");
    store.close().await;
    println!("{jobs} jobs:");
    let scope = Scope { base_url: "http://127.0.0.1:9".to_owned(), project: "acme".to_owned(), organization: None };
    let (mut opening, mut first, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..10 {
        let began = Instant::now();
        let (store, _) = Store::open(folder, now()).expect("a store");
        opening.push(began.elapsed());
        first.push(timed(store.first_jobs(&scope, 45)).await.0);
        let (took, rows) = timed(store.jobs(&scope)).await;
        assert_eq!(rows.len(), usize::try_from(jobs).expect("small"));
        all.push(took);
        store.close().await;
    }
    report("open", opening);
    report("the first 45 rows", first);
    report("all rows", all);
    let (store, _) = Store::open(folder, now()).expect("a store");
    report("a word in their prompts", ten(|| store.find_prompts(&scope, "guide")).await);
    store.close().await;
}

async fn history(folder: &Path) {
    let (store, _) = Store::open(folder, now()).expect("a store");
    write(&store, 0..RANGES, PAGES).await;
    store.close().await;
    let size = std::fs::metadata(folder.join("docdeck.db")).expect("a file").len();
    println!("on disk: {:.1} MB", f64::from(u32::try_from(size).expect("small")) / 1e6);
    let mut opening = Vec::new();
    for _ in 0..10 {
        let began = Instant::now();
        let (store, _) = Store::open(folder, now()).expect("a store");
        opening.push(began.elapsed());
        store.close().await;
    }
    report("open", opening);
    let (store, _) = Store::open(folder, now()).expect("a store");
    read(&store).await;
    let (took, pruned) = timed(store.prune_views(Prune { keep: Some(20), ..Prune::default() })).await;
    report("prune to 20 ranges", vec![took]);
    println!("on disk then: {:.1} MB", f64::from(u32::try_from(pruned.bytes_after).expect("small")) / 1e6);
    store.close().await;
}

/// Loads all pages of a large site.
async fn large(folder: &Path) {
    let (store, _) = Store::open(folder, now()).expect("a store");
    // The first load also stores the paths.
    report("25,000 pages of a new site", load_all(&store, 0..1).await);
    report("25,000 pages decoded, merged and stored", load_all(&store, 1..11).await);
    let in_memory = Store::in_memory().expect("a store");
    report("25,000 pages of a new site, in memory", load_all(&in_memory, 0..1).await);
    report("25,000 pages in memory", load_all(&in_memory, 1..11).await);
    in_memory.close().await;
    let scope = scope();
    report("read a report of 25,000 pages", ten(|| store.cached_report(&scope, range(1))).await);
    store.close().await;
}

/// Stores these ranges as the engine does.
async fn write(store: &Store, ranges: Range<u64>, pages: u32) {
    let mut taking = Vec::new();
    let scope = scope();
    println!("{} ranges of {pages} pages:", ranges.end);
    for back in ranges {
        for (number, answer, complete) in answers(back, pages) {
            let as_of = as_of(back);
            let next = ReportAnswer { range: range(back), number, answer, complete, as_of, restarted_at: None };
            taking.push(timed(store.cache_and_absorb(&scope, next, None)).await.0);
        }
    }
    report("store an answer of 250 rows in cache and report", taking);
}

/// Loads all 25,000 pages of each range.
async fn load_all(store: &Store, ranges: Range<u64>) -> Vec<Duration> {
    let mut loading = Vec::new();
    for back in ranges {
        let bodies: Vec<Vec<u8>> = answers(back, LARGE).iter().map(|(_, page, _)| body(page)).collect();
        let began = Instant::now();
        load(store, back, &bodies).await;
        loading.push(began.elapsed());
    }
    loading
}

/// Processes all answers of a range as the engine does: stores each, then merges it into the displayed report.
async fn load(store: &Store, back: u64, bodies: &[Vec<u8>]) {
    let (scope, as_of) = (scope(), as_of(back));
    let key = ApiKey::new("mint_of_nobody").expect("a key");
    let reading = BodyReader { operation: Operation::Views, within: Duration::from_secs(60), key: &key };
    let mut merge: Option<Arc<ReportMerge>> = None;
    for (number, body) in (1..).zip(bodies) {
        let answer = reading.views(200, None, body).expect("page views");
        let complete = answer.has_more == Some(false);
        let next =
            ReportAnswer { range: range(back), number, answer: answer.clone(), complete, as_of, restarted_at: None };
        assert!(store.cache_and_absorb(&scope, next, merge.clone()).await.expect("taken in"));
        let so_far = merge.take().and_then(Arc::into_inner);
        merge = Some(Arc::new(ReportMerge::with(so_far, range(back), answer, complete, as_of)));
        black_box(merge.as_deref().and_then(ReportMerge::loaded_share));
    }
    black_box(merge);
}

/// The service's JSON of an answer.
fn body(page: &ViewsPage) -> Vec<u8> {
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

async fn read(store: &Store) {
    let (scope, path) = (scope(), CleanText::line(&path(600)));
    report("list cached ranges, the first time", vec![timed(store.cached_ranges(&scope)).await.0]);
    report("list cached ranges", ten(|| store.cached_ranges(&scope)).await);
    report("read a complete report", ten(|| store.cached_report(&scope, range(30))).await);
    report("one page in all ranges", ten(|| store.page_periods(&scope, &path)).await);
    let ranges: Vec<DateRange> = (0..20).map(range).collect();
    report("one page in 20 ranges", ten(|| store.page_views(&scope, &path, &ranges)).await);
    let days: Vec<DateRange> = (0..60).map(range).collect();
    report("totals of 60 ranges", ten(|| store.views_totals(&scope, &days)).await);
}

async fn timed<T, E: std::fmt::Debug>(call: impl Future<Output = Result<T, E>>) -> (Duration, T) {
    let began = Instant::now();
    let value = call.await.expect("no failure");
    (began.elapsed(), value)
}

async fn ten<T, E: std::fmt::Debug, F: Future<Output = Result<T, E>>>(call: impl Fn() -> F) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..10 {
        times.push(timed(call()).await.0);
    }
    times
}

fn report(what: &str, mut times: Vec<Duration>) {
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

fn as_of(back: u64) -> Time {
    now() - TimeDelta::days(i64::try_from(back).expect("small"))
}

fn scope() -> Scope {
    Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "acme-docs".to_owned(), organization: None }
}

/// The week that ended this many days ago.
fn range(back: u64) -> DateRange {
    let to: NaiveDate = now().date_naive().checked_sub_days(Days::new(back)).expect("a day");
    DateRange::last_days(7, to)
}

fn path(n: u32) -> String {
    format!("/guides/section-{}/how-to-do-thing-{n}", n % 40)
}

/// The answers of a range. Each range has the pages in a different order.
fn answers(back: u64, pages: u32) -> Vec<(u32, ViewsPage, bool)> {
    let row = |place: u32| {
        let n = (place * 7 + u32::try_from(back).expect("small") * 13) % pages;
        let (human, ai) = (i64::from(pages - place) * 17, i64::from(pages - place) * 5);
        PageRow { path: CleanText::line(&path(n)), counts: counts(human, ai) }
    };
    let last = pages.div_ceil(LIMIT_MAX);
    let page = |number: u32| ViewsPage {
        totals: counts(12_345_678, 3_456_789),
        rows: ((number - 1) * LIMIT_MAX..(number * LIMIT_MAX).min(pages)).map(row).collect(),
        has_more: Some(number < last),
    };
    (1..=last).map(|number| (number, page(number), number == last)).collect()
}

fn counts(human: i64, ai: i64) -> Counts {
    Counts { human: Count::Known(human), ai: Count::Known(ai), total: Count::Known(human + ai) }
}
