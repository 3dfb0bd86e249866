//! Measures the views screen with 2,500 and 25,000 pages at 160×48: the time of a key press and the frame after it,
//! without a real terminal, and the memory that a comparison needs. Goals: 0.3 ms to move the selection, whatever the
//! number of pages; 10 ms to filter, sort or fold all pages. Takes about two minutes.
//!
//! `cargo bench --bench views`

#![expect(clippy::expect_used, reason = "a benchmark that can't be set up should fail")]

#[expect(dead_code, reason = "the jobs benchmark uses the rest")]
mod app_fixture;
mod timing;

use app_fixture::{AppFixture, key_press, now};
use criterion::{BatchSize, BenchmarkId, Criterion};
use docdeck::model::period::DateRange;
use docdeck::model::report::{Report, StoredReport};
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts, DecimalCount, PageRow, ViewsResponse};
use docdeck::tui::views::table::PageTable;
use docdeck::tui::{Msg, Screen, ViewsMsg};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use timing::{bench_group, bench_timed, short_criterion};

const PAGE_COUNTS: [i64; 2] = [2_500, 25_000];

/// Sequences of keys. Only the last key of each is measured; the keys before it prepare the state.
const KEYS: [&str; 24] = [
    "j",
    "PgDn",
    "G",
    "s",
    "s s",
    "s s s s",
    "S",
    "z",
    "z j l",
    "z j l j",
    "z s",
    "m",
    "x",
    "v",
    "v G V",
    "v G V k",
    "/ g",
    "/ g u",
    "/ g u i d e s",
    "/ g u Backspace",
    "/ a i > 5 0 %",
    "z / g u i d e s",
    "Enter",
    "t",
];
/// Sequences of keys as in [`KEYS`], pressed while two ranges are compared.
const COMPARISON_KEYS: [&str; 12] =
    ["j", "s", "s s s s s", "z", "z l l l l", "z v", "m", "/ d < - 2 0 %", "/ n e w", "z / g", "c", "w"];

fn main() {
    print_comparison_memory();
    let mut criterion = short_criterion();
    for pages in PAGE_COUNTS {
        let reports = (sample_report(pages, 0), sample_report(pages, 1));
        bench_keys(&mut criterion, "key and frame", &KEYS, pages, (&reports.0, None));
        bench_keys(&mut criterion, "key and frame, compared", &COMPARISON_KEYS, pages, (&reports.0, Some(&reports.1)));
        bench_moves(&mut criterion, pages, &reports.0);
        bench_unchanged_frame(&mut criterion, pages, &reports.0);
        bench_opening(&mut criterion, pages, &reports.0);
        bench_show_report(&mut criterion, pages, &reports);
    }
    criterion.final_summary();
}

/// Returns a report of pages in nested folders, most of which have few views. `salt` 0 is this week and 1 the previous
/// week; some pages exist in only one of the two reports.
fn sample_report(pages: i64, salt: i64) -> Arc<Report> {
    let page = |n: i64| {
        let human = 2_000_000 / (n + 20) + (n * 7919 + salt * 31) % 97;
        let ai = human * ((n * 31 + salt) % 100) / 100;
        let counts = Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai));
        let section = match n % 4 {
            0 => "guides",
            1 => "reference",
            2 => "api-reference",
            _ => "changelog",
        };
        let name = (n + (n % 100 / 99) * salt * 1_000_000).to_string();
        let path = format!("/{section}/product-{}/topic-{}/page-number-{name}", n % 23, n % 197);
        PageRow { path: CleanText::line(&path), counts }
    };
    let rows: Vec<PageRow> = (0..pages).map(page).collect();
    let sum: DecimalCount = rows.iter().filter_map(|row| row.counts.total.value()).sum();
    let totals = Counts::new(Count::Known(0), sum.into(), sum.into());
    let week = DateRange::last_days(7, now().date_naive());
    let range = if salt == 0 { Some(week) } else { week.step(-1) }.expect("in the calendar");
    Arc::new(Report::from_first_response(range, ViewsResponse { totals, rows, has_more: None }, true, now()))
}

/// Opens the views screen with all pages of a range, compared with the previous range if `previous` is given.
fn open_views(current: &Arc<Report>, previous: Option<&Arc<Report>>) -> AppFixture {
    let mut fixture = AppFixture::with_jobs(Vec::new());
    fixture.press("2");
    assert_eq!(fixture.app.screen, Screen::Analytics);
    fixture.send(cached_report(current));
    if let Some(previous) = previous {
        fixture.press("c");
        // The current week includes today, so only its six complete days are compared.
        for report in [current, previous] {
            let complete = Report { range: report.range.first_days(6), ..(**report).clone() };
            fixture.send(cached_report(&Arc::new(complete)));
        }
        assert!(fixture.app.views.is_comparing());
    }
    fixture
}

/// Returns the message that delivers a cached report with all pages of a range.
fn cached_report(report: &Arc<Report>) -> Msg {
    let stored =
        StoredReport { last_load_requests: Some(100), report: Some(Arc::clone(report)), ..StoredReport::default() };
    Msg::Views(ViewsMsg::CachedReportLoaded { range: report.range, stored: Ok(stored) })
}

fn bench_keys(
    criterion: &mut Criterion,
    name: &str,
    all: &[&str],
    pages: i64,
    reports: (&Arc<Report>, Option<&Arc<Report>>),
) {
    let mut group = bench_group(criterion, name);
    for keys in all {
        let (before, key) = keys.rsplit_once(' ').unwrap_or(("", keys));
        bench_timed(&mut group, BenchmarkId::new(*keys, pages), || {
            open_views(reports.0, reports.1).time_key(before, key)
        });
    }
}

/// Measures moving the selection down and up, to which the goal of 0.3 ms applies. All key presses use the same list,
/// which is therefore in the processor's cache; `bench_keys` measures each key press on a new list.
fn bench_moves(criterion: &mut Criterion, pages: i64, report: &Arc<Report>) {
    let mut fixture = open_views(report, None);
    let mut keys = ["j", "j", "k", "j", "k", "k"].into_iter().cycle();
    bench_timed(&mut bench_group(criterion, "moves"), BenchmarkId::from_parameter(pages), || {
        let msg = key_press(keys.next().unwrap_or("j"));
        let started = Instant::now();
        fixture.send(msg);
        fixture.draw();
        started.elapsed()
    });
}

/// Measures drawing a frame in the middle of the list when nothing has changed.
fn bench_unchanged_frame(criterion: &mut Criterion, pages: i64, report: &Arc<Report>) {
    let mut fixture = open_views(report, None);
    fixture.press("PgDn PgDn PgDn");
    bench_timed(&mut bench_group(criterion, "frame"), BenchmarkId::from_parameter(pages), || {
        let started = Instant::now();
        fixture.draw();
        started.elapsed()
    });
}

/// Measures opening the views screen with a cached report.
fn bench_opening(criterion: &mut Criterion, pages: i64, report: &Arc<Report>) {
    bench_timed(&mut bench_group(criterion, "views opened"), BenchmarkId::from_parameter(pages), || {
        let mut fixture = AppFixture::with_jobs(Vec::new());
        fixture.draw();
        let started = Instant::now();
        fixture.press("2");
        fixture.send(cached_report(report));
        fixture.draw();
        started.elapsed()
    });
}

/// Measures showing a report in the table: to start a comparison, to end a comparison, and instead of another report.
fn bench_show_report(criterion: &mut Criterion, pages: i64, (current, previous): &(Arc<Report>, Arc<Report>)) {
    let mut group = bench_group(criterion, "table");
    for what in ["compare", "alone", "another"] {
        let setup = || {
            let mut table = PageTable::default();
            table.show_report(Arc::clone(current), (what == "alone").then(|| Arc::clone(previous)));
            let to = if what == "another" { Arc::clone(previous) } else { Arc::clone(current) };
            (table, to, (what == "compare").then(|| Arc::clone(previous)))
        };
        group.bench_function(BenchmarkId::new(what, pages), |bencher| {
            let show = |(table, current, previous): &mut (PageTable, Arc<Report>, Option<Arc<Report>>)| {
                table.show_report(Arc::clone(current), previous.clone());
            };
            bencher.iter_batched_ref(setup, show, BatchSize::PerIteration);
        });
    }
}

/// Prints the memory of two reports of 25,000 pages and of the table that compares them.
fn print_comparison_memory() {
    let needed = allocation_counter::measure(|| {
        let mut table = PageTable::default();
        table.show_report(sample_report(25_000, 0), Some(sample_report(25_000, 1)));
        black_box(&table);
    });
    let megabytes = f64::from(u32::try_from(needed.bytes_max).expect("small")) / 1e6;
    println!("memory of a comparison of 25,000 pages: {megabytes:.1} MB at most");
}
