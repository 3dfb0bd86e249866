//! How long the keys of the views screen take with 25,000 pages, how long a frame takes, and how much memory it all
//! needs. It measures and fails on nothing: 5 ms a key and 2 ms a frame of 160×48 are what is aimed at, and 40 MB.
//!
//! `cargo bench --bench views`

#![expect(clippy::expect_used, reason = "a bench that can't build its world should fail")]

use chrono::FixedOffset;
use criterion::{BatchSize, BenchmarkId, Criterion};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use docdeck::app::views::table::Table;
use docdeck::app::{App, Known, Msg, Screen, Start};
use docdeck::model::Time;
use docdeck::model::endpoint::Scope;
use docdeck::model::period::DateRange;
use docdeck::model::report::{Recalled, Report};
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts, PageRow, ViewsPage};
use docdeck::ui::{Depth, Theme, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

const PAGES: i64 = 25_000;
const SIZE: (u16, u16) = (160, 48);

/// The last of these is measured, those before it are pressed first.
const KEYS: [&str; 22] = [
    "j",
    "G",
    "s",
    "ss",
    "sss",
    "ssss",
    "S",
    "z",
    "zs",
    "m",
    "mm",
    "x",
    "v",
    "vGV",
    "/g",
    "/gu",
    "/guides",
    "/ai>50%",
    "/human>1k",
    "/1 !2 ai>20%",
    "z/guides",
    "t",
];
/// The same in a comparison.
const KEYS_COMPARED: [&str; 19] = [
    "j", "s", "sss", "ssss", "sssss", "z", "zllll", "zv", "zsss", "m", "x", "/Δ<-20%", "/new", "/gone g", "z/g", "c",
    "cc", "w", "wm",
];
/// Flat, in the middle of it, as a tree with its folders open, compared, filtered, on a log scale.
const FRAMES: [(&str, &str); 6] =
    [("flat", ""), ("end", "G"), ("tree", "zjllj"), ("sorted", "s"), ("filtered", "/guides"), ("log scale", "xmm")];

fn main() {
    memory_of_a_comparison();
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
        .without_plots()
        .configure_from_args();
    keys(&mut criterion, "key", &KEYS, false);
    keys(&mut criterion, "key, compared", &KEYS_COMPARED, true);
    show(&mut criterion);
    frames(&mut criterion);
    criterion.final_summary();
}

fn now() -> Time {
    "2026-11-20T14:02:30Z".parse().unwrap_or_default()
}

/// Pages with a long tail, in folders three deep, some of them only in the range before.
fn report(salt: i64) -> Arc<Report> {
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
    let rows: Vec<PageRow> = (0..PAGES).map(page).collect();
    let sum: i64 = rows.iter().filter_map(|row| row.counts.total.value()).filter_map(|n| i64::try_from(n).ok()).sum();
    let totals = Counts { human: Count::Known(0), ai: Count::Known(sum), total: Count::Known(sum) };
    let week = DateRange::last_days(7, now().date_naive());
    let range = if salt == 0 { Some(week) } else { week.before() }.expect("in the calendar");
    Arc::new(Report::begin(range, ViewsPage { totals, rows, has_more: None }, true, now()))
}

fn start() -> Start {
    Start {
        profile: CleanText::line("acme-docs"),
        size: SIZE,
        ..Start::new(
            Scope { base_url: "https://api.example.com".to_owned(), project: "acme".to_owned(), organization: None },
            FixedOffset::east_opt(0).expect("UTC"),
        )
    }
}

/// The views screen with all pages of a range listed, compared with the one before or not.
fn app_of(now_shown: Arc<Report>, before: Option<Arc<Report>>) -> App {
    let (mut app, _) = App::new(start(), now());
    app.update(Msg::Loaded(Ok(Box::new(Known::default()))), now());
    press(&mut app, KeyCode::Char('2'));
    assert_eq!(app.screen, Screen::Views);
    recall(&mut app, now_shown);
    if let Some(before) = before {
        press(&mut app, KeyCode::Char('c'));
        recall(&mut app, before);
        assert!(app.views.is_comparing());
    }
    app
}

/// The record has all pages of a range.
fn recall(app: &mut App, report: Arc<Report>) {
    let range = report.range;
    let recalled = Recalled { last_time: Some(100), report: Some(report), ..Recalled::default() };
    drop(app.update(Msg::Recalled { range, recalled: Ok(recalled) }, now()));
}

fn press(app: &mut App, code: KeyCode) {
    drop(app.update(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))), now()));
}

fn type_all(app: &mut App, keys: &str) {
    keys.chars().for_each(|c| press(app, KeyCode::Char(c)));
}

fn keys(criterion: &mut Criterion, name: &str, all: &[&str], compared: bool) {
    let reports = (report(0), compared.then(|| report(1)));
    let mut group = criterion.benchmark_group(name);
    for keys in all {
        let mut chars: Vec<char> = keys.chars().collect();
        let last = chars.pop().unwrap_or('j');
        let pressed = || {
            let mut app = app_of(Arc::clone(&reports.0), reports.1.clone());
            chars.iter().for_each(|c| press(&mut app, KeyCode::Char(*c)));
            app
        };
        group.bench_function(BenchmarkId::from_parameter(keys), |bencher| {
            bencher.iter_batched_ref(pressed, |app| press(app, KeyCode::Char(last)), BatchSize::PerIteration);
        });
    }
}

/// A comparison comes and goes, a report comes.
fn show(criterion: &mut Criterion) {
    let (now, before) = (report(0), report(1));
    let mut group = criterion.benchmark_group("show");
    for what in ["compare", "alone", "another"] {
        let begun = || {
            let mut table = Table::default();
            table.show_report(Arc::clone(&now), (what == "alone").then(|| Arc::clone(&before)));
            let to = if what == "another" { Arc::clone(&before) } else { Arc::clone(&now) };
            (table, to, (what == "compare").then(|| Arc::clone(&before)))
        };
        group.bench_function(BenchmarkId::from_parameter(what), |bencher| {
            let shown = |(table, now, before): &mut (Table, Arc<Report>, Option<Arc<Report>>)| {
                table.show_report(Arc::clone(now), before.clone());
            };
            bencher.iter_batched_ref(begun, shown, BatchSize::PerIteration);
        });
    }
}

fn frames(criterion: &mut Criterion) {
    let (now_shown, before) = (report(0), report(1));
    let mut group = criterion.benchmark_group("frame");
    for (what, keys) in FRAMES {
        let mut app = app_of(Arc::clone(&now_shown), Some(Arc::clone(&before)));
        type_all(&mut app, keys);
        let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a test terminal");
        let theme = Theme::new(Depth::Many);
        group.bench_function(BenchmarkId::from_parameter(what), |bencher| {
            bencher.iter(|| terminal.draw(|frame| draw(frame, &app, &theme, now())).map(|_| ()));
        });
    }
}

/// Says what two reports and the table that compares them take.
fn memory_of_a_comparison() {
    let needed = allocation_counter::measure(|| {
        let mut table = Table::default();
        table.show_report(report(0), Some(report(1)));
        black_box(&table);
    });
    println!(
        "memory of a comparison: {:.1} MB at most",
        f64::from(u32::try_from(needed.bytes_max).expect("small")) / 1e6
    );
}
