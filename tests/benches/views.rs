//! Measures the views screen with 2,500 and 25,000 pages at 160×48: the time of a key press and its frame, without the
//! terminal, and the memory that a comparison needs. Goals: 0.3 ms to move the selection, whatever the number of pages;
//! 10 ms to filter, sort or fold all pages. Takes about two minutes.
//!
//! `cargo bench --bench views`

#![expect(clippy::expect_used, reason = "a benchmark that can't be set up should fail")]

#[expect(dead_code, reason = "the jobs benchmark uses the rest")]
mod stage;
mod timing;

use criterion::{BatchSize, BenchmarkId, Criterion};
use docdeck::app::views::table::PageTable;
use docdeck::app::{Msg, Screen};
use docdeck::model::period::DateRange;
use docdeck::model::report::{Report, StoredReport};
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts, PageRow, ViewCount, ViewsPage};
use stage::{Stage, input, now};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use timing::{criterion, group, timed};

const MANY: [i64; 2] = [2_500, 25_000];

/// The last key of each sequence is measured; the others are pressed before it.
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
/// The same in a comparison.
const KEYS_COMPARED: [&str; 12] =
    ["j", "s", "s s s s s", "z", "z l l l l", "z v", "m", "/ d < - 2 0 %", "/ n e w", "z / g", "c", "w"];

fn main() {
    memory_of_a_comparison();
    let mut criterion = criterion();
    for pages in MANY {
        let reports = (report(pages, 0), report(pages, 1));
        keys(&mut criterion, "key and frame", &KEYS, pages, (&reports.0, None));
        keys(&mut criterion, "key and frame, compared", &KEYS_COMPARED, pages, (&reports.0, Some(&reports.1)));
        moves(&mut criterion, pages, &reports.0);
        frame(&mut criterion, pages, &reports.0);
        open(&mut criterion, pages, &reports.0);
        show(&mut criterion, pages, &reports);
    }
    criterion.final_summary();
}

/// Pages with a long tail in folders three levels deep, some of them only in the previous range.
fn report(pages: i64, salt: i64) -> Arc<Report> {
    let page = |n: i64| {
        let human = 2_000_000 / (n + 20) + (n * 7919 + salt * 31) % 97;
        let ai = human * ((n * 31 + salt) % 100) / 100;
        let counts = Counts { human: Count::Known(human), ai: Count::Known(ai), total: Count::Known(human + ai) };
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
    let sum: ViewCount = rows.iter().filter_map(|row| row.counts.total.value()).sum();
    let totals = Counts { human: Count::Known(0), ai: sum.into(), total: sum.into() };
    let week = DateRange::last_days(7, now().date_naive());
    let range = if salt == 0 { Some(week) } else { week.step(-1) }.expect("in the calendar");
    Arc::new(Report::from_first_answer(range, ViewsPage { totals, rows, has_more: None }, true, now()))
}

/// The views screen with all pages of a range, optionally compared with the previous range.
fn listed(now_shown: &Arc<Report>, before: Option<&Arc<Report>>) -> Stage {
    let mut stage = Stage::of(Vec::new());
    stage.press("2");
    assert_eq!(stage.app.screen, Screen::Views);
    stage.send(recalled(now_shown));
    if let Some(before) = before {
        stage.press("c");
        // The week includes today, so six days are compared.
        for report in [now_shown, before] {
            let complete = Report { range: report.range.first_days(6), ..(**report).clone() };
            stage.send(recalled(&Arc::new(complete)));
        }
        assert!(stage.app.views.is_comparing());
    }
    stage
}

/// A cached report with all pages of a range.
fn recalled(report: &Arc<Report>) -> Msg {
    let recalled = StoredReport { last_time: Some(100), report: Some(Arc::clone(report)), ..StoredReport::default() };
    Msg::CachedReport { range: report.range, recalled: Ok(recalled) }
}

fn keys(
    criterion: &mut Criterion,
    name: &str,
    all: &[&str],
    pages: i64,
    reports: (&Arc<Report>, Option<&Arc<Report>>),
) {
    let mut group = group(criterion, name);
    for keys in all {
        let (first, last) = keys.rsplit_once(' ').unwrap_or(("", keys));
        timed(&mut group, BenchmarkId::new(*keys, pages), || {
            let mut stage = listed(reports.0, reports.1);
            stage.press(first);
            stage.draw();
            let msg = input(last);
            let began = Instant::now();
            stage.send(msg);
            stage.draw();
            began.elapsed()
        });
    }
}

/// Moves the selection down and up: the goal of 0.3 ms applies to this. Each key above is the first one on a new list,
/// so nothing of it is in the processor's cache.
fn moves(criterion: &mut Criterion, pages: i64, report: &Arc<Report>) {
    let mut stage = listed(report, None);
    let mut keys = ["j", "j", "k", "j", "k", "k"].into_iter().cycle();
    timed(&mut group(criterion, "moves"), BenchmarkId::from_parameter(pages), || {
        let msg = input(keys.next().unwrap_or("j"));
        let began = Instant::now();
        stage.send(msg);
        stage.draw();
        began.elapsed()
    });
}

/// A frame without changes, in the middle of the list.
fn frame(criterion: &mut Criterion, pages: i64, report: &Arc<Report>) {
    let mut stage = listed(report, None);
    stage.press("PgDn PgDn PgDn");
    timed(&mut group(criterion, "frame"), BenchmarkId::from_parameter(pages), || {
        let began = Instant::now();
        stage.draw();
        began.elapsed()
    });
}

/// Opens the screen with a cached report.
fn open(criterion: &mut Criterion, pages: i64, report: &Arc<Report>) {
    timed(&mut group(criterion, "views opened"), BenchmarkId::from_parameter(pages), || {
        let mut stage = Stage::of(Vec::new());
        stage.draw();
        let began = Instant::now();
        stage.press("2");
        stage.send(recalled(report));
        stage.draw();
        began.elapsed()
    });
}

/// Starts and ends a comparison, and loads another report.
fn show(criterion: &mut Criterion, pages: i64, (now, before): &(Arc<Report>, Arc<Report>)) {
    let mut group = group(criterion, "table");
    for what in ["compare", "alone", "another"] {
        let load_app = || {
            let mut table = PageTable::default();
            table.show_report(Arc::clone(now), (what == "alone").then(|| Arc::clone(before)));
            let to = if what == "another" { Arc::clone(before) } else { Arc::clone(now) };
            (table, to, (what == "compare").then(|| Arc::clone(before)))
        };
        group.bench_function(BenchmarkId::new(what, pages), |bencher| {
            let shown = |(table, now, before): &mut (PageTable, Arc<Report>, Option<Arc<Report>>)| {
                table.show_report(Arc::clone(now), before.clone());
            };
            bencher.iter_batched_ref(load_app, shown, BatchSize::PerIteration);
        });
    }
}

/// Prints the memory of two reports of 25,000 pages and of the table that compares them.
fn memory_of_a_comparison() {
    let needed = allocation_counter::measure(|| {
        let mut table = PageTable::default();
        table.show_report(report(25_000, 0), Some(report(25_000, 1)));
        black_box(&table);
    });
    let megabytes = f64::from(u32::try_from(needed.bytes_max).expect("small")) / 1e6;
    println!("memory of a comparison of 25,000 pages: {megabytes:.1} MB at most");
}
