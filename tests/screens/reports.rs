//! All pages of a range: loading them, comparing two ranges, the trend and the movers.

use crate::screen_fixture::{ScreenFixture, now};
use crate::support::slow::sample;
use crate::{LARGE, SMALL, WIDE, render, snapshots, text};
use chrono::{Days, TimeDelta};
use docdeck::model::Time;
use docdeck::model::analytics::{Cursor, RowsMerge, RowsResponse};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::ledger::{Budget, CountedBy, Quota, Wait};
use docdeck::model::load::Timed;
use docdeck::model::period::DateRange;
use docdeck::model::report::{LoadEndReason, LoadOutcome, LoadProgress, Report, StoredReport};
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts, DecimalCount, PageRow, ViewsResponse};
use docdeck::tui::draw::{ColorDepth, Theme, draw};
use docdeck::tui::{AnalyticsMsg, Effect, Msg, RowsMsg, ViewsEffect, ViewsMsg};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::sync::{Arc, LazyLock};

fn counts(human: i64, ai: i64) -> Counts {
    Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai))
}

/// Returns a report of all pages of a site. `variation` changes their views, and which pages exist.
pub(crate) fn report(range: DateRange, pages: i64, variation: i64, as_of: Time) -> Report {
    let page = |n: i64| {
        let path = match n {
            0 => "/quickstart".to_owned(),
            1 => "/api/create-job".to_owned(),
            2 => "/guides/deploying/to-your-own-cluster/with-a-custom-certificate-authority".to_owned(),
            n => format!("/guides/page-{n}"),
        };
        let human = 9120 / (n + 1) + (n * variation) % 97;
        let ai = if n % 3 == 1 { human * 2 + variation } else { human / 2 + (n * variation) % 41 };
        PageRow { path: CleanText::line(&path), counts: counts(human, ai) }
    };
    // Other pages are missing for each `variation`.
    let rows = (0..pages).filter(|n| *n < 12 || (n + variation) % 9 != 0).map(page);
    let response = ViewsResponse {
        totals: counts(128_402 - 5000 * variation, 61_220 - 4000 * variation),
        rows: rows.collect(),
        has_more: Some(false),
    };
    let mut report = Report::from_first_response(range, response, true, as_of);
    report.responses = 5;
    report
}

fn stored(report: Report) -> StoredReport {
    StoredReport {
        last_load_requests: Some(report.responses),
        report: Some(Arc::new(report)),
        ..StoredReport::default()
    }
}

/// Opens the views screen, where `known` returns the cached data of its range; returns the range.
pub(crate) fn open_views_screen(
    fixture: &mut ScreenFixture,
    known: impl FnOnce(DateRange) -> StoredReport,
) -> DateRange {
    fixture.load_jobs();
    fixture.press_keys("2");
    let range = fixture.app.views.query().range;
    fixture.handle(Msg::Views(ViewsMsg::CachedReportLoaded { range, stored: Ok(known(range)) }));
    fixture.load_no_totals();
    range
}

/// Opens a comparison of the current week with the previous week.
pub(crate) fn open_comparison(fixture: &mut ScreenFixture) {
    let range = open_views_screen(fixture, |range| stored(report(range, 60, 0, now() - TimeDelta::minutes(3))));
    compare(fixture, range, |range, variation| report(range, 60, variation * 3, now() - TimeDelta::minutes(2)));
}

/// Compares the six complete days of the range with the same days of the previous week. `of` returns the report of a
/// week, whose views are reduced to six sevenths.
fn compare(fixture: &mut ScreenFixture, range: DateRange, of: impl Fn(DateRange, i64) -> Report) {
    fixture.press_keys("c");
    for (week, variation) in [(range, 0), (range.step(-1).expect("a week"), 1)] {
        let mut report = of(week.first_days(6), variation);
        let part = |count: &mut Count| {
            if let Count::Known(views) = count {
                *views = *views * 6 / 7;
            }
        };
        for Counts { human, ai, total, .. } in
            report.rows.iter_mut().map(|row| &mut row.counts).chain([&mut report.totals])
        {
            part(human);
            part(ai);
            *total = (human.value().unwrap_or_default() + ai.value().unwrap_or_default()).into();
        }
        fixture.handle(Msg::Views(ViewsMsg::CachedReportLoaded { range: report.range, stored: Ok(stored(report)) }));
    }
    assert!(fixture.app.views.is_comparing());
}

/// Opens a comparison of the current week of a small, realistic site with its previous week.
pub(crate) fn open_site_comparison(fixture: &mut ScreenFixture) {
    let range = open_views_screen(fixture, |range| stored(site(range, 0)));
    compare(fixture, range, site);
}

/// Returns a report with the pages of the demo's site. Their views depend on `week`: 0 is the current week.
fn site(range: DateRange, week: i64) -> Report {
    let paths = include_str!("../../assets/demo/pages.txt").lines().filter(|line| line.starts_with('/'));
    let rows: Vec<PageRow> = (0..)
        .zip(paths)
        .filter(|(n, _)| (n + week) % 17 != 16)
        .map(|(n, path)| {
            let path = path.split_whitespace().next().unwrap_or(path);
            let weight = 9120 * 5 / (n + 5);
            let drift = (n * 37 + 11) % 23 - 11;
            let human = weight * (100 - week * drift) / 100 * if path.starts_with("/api") { 4 } else { 8 } / 10;
            let ai = weight * (100 - week * (drift + 12)) / 100 * if path.starts_with("/api") { 7 } else { 3 } / 10;
            PageRow { path: CleanText::line(path), counts: counts(human, ai) }
        })
        .collect();
    let sum =
        |part: fn(&Counts) -> &Count| rows.iter().filter_map(|row| part(&row.counts).value()).sum::<DecimalCount>();
    let (human, ai) = (sum(|counts| &counts.human), sum(|counts| &counts.ai));
    let totals = Counts::new(human.into(), ai.into(), (human + ai).into());
    let mut report = Report::from_first_response(
        range,
        ViewsResponse { totals, rows, has_more: Some(false) },
        true,
        now() - TimeDelta::minutes(3),
    );
    report.responses = 5;
    report
}

fn start_loading_all(fixture: &mut ScreenFixture) -> DateRange {
    open_views_screen(fixture, |_| StoredReport::default());
    fixture.load_views(50, true);
    fixture.press_keys("a y");
    fixture.app.views.query().range
}

fn load_progress(fixture: &mut ScreenFixture, range: DateRange, rows: usize, requests: u32, share: f64) {
    let progress = LoadProgress { range, rows, responses: requests, requests, share: Some(share), is_complete: false };
    fixture.handle(Msg::Engine(EngineEvent::Loading(progress)));
}

#[test]
fn the_cost_of_all_pages() {
    snapshots("load_all_cost", &[], &["y load all · n cancel", "last time 5", "Load all pages"], |fixture| {
        open_views_screen(fixture, |_| StoredReport { last_load_requests: Some(5), ..StoredReport::default() });
        fixture.load_views(50, true);
        fixture.press_keys("a");
    });
}

#[test]
fn all_pages_while_they_are_loading() {
    snapshots("load_all", &[], &["· 750 rows ·", "loading"], |fixture| {
        let range = start_loading_all(fixture);
        load_progress(fixture, range, 750, 3, 0.62);
    });
}

#[test]
fn another_range_while_all_pages_of_the_first_range_are_loading() {
    snapshots("load_all_other_range", &[], &["loading"], |fixture| {
        let range = start_loading_all(fixture);
        fixture.press_keys("[");
        let before = fixture.app.views.query().range;
        fixture.handle(Msg::Views(ViewsMsg::CachedReportLoaded { range: before, stored: Ok(StoredReport::default()) }));
        fixture.load_views(50, true);
        load_progress(fixture, range, 750, 3, 0.62);
    });
}

#[test]
fn all_pages_cut_short_by_a_limit() {
    snapshots(
        "load_all_limited",
        &[],
        &["! Limit reached (429); the request was not carried out. Try again after 14:12: press a to resume."],
        |fixture| {
            let range = start_loading_all(fixture);
            load_progress(fixture, range, 45, 1, 0.4);
            let mut part = report(range, 45, 0, now());
            part.complete = false;
            let failure = Failure::new(
                limited(now() + TimeDelta::minutes(10)),
                "Limit reached (429); the request was not carried out. Try again in 10 min.",
            );
            let end =
                LoadOutcome { report: Some(Arc::new(part)), end_reason: LoadEndReason::Failed(failure), requests: 2 };
            fixture.handle(Msg::Views(ViewsMsg::LoadEnded { range, end }));
        },
    );
}

#[test]
fn an_old_report_of_all_pages() {
    snapshots("load_all_outdated", &[], &["1 of 55", "13,680"], |fixture| {
        open_views_screen(fixture, |range| stored(report(range, 60, 0, now() - TimeDelta::hours(30))));
    });
}

#[test]
fn a_range_with_a_partial_load() {
    snapshots("load_all_partial", &[], &["! partial: 890 rows, 67% of"], |fixture| {
        open_views_screen(fixture, |range| {
            let mut part = report(range, 1000, 0, now());
            part.complete = false;
            StoredReport {
                report: Some(Arc::new(part)),
                responses_before_interruption: Some(4),
                ..StoredReport::default()
            }
        });
        fixture.load_views(50, true);
    });
}

#[test]
fn no_rows_and_no_requests_left() {
    snapshots(
        "load_all_no_requests_left",
        &[],
        &["was sent. Try again after 14:24. This range is not cached."],
        |fixture| {
            fixture.load_jobs();
            let until = now() + TimeDelta::minutes(22);
            let budget = Budget {
                used: 100,
                limit: 100,
                resets_at: Some(until),
                blocked: None,
                counted_by: CountedBy::ThisComputer,
            };
            fixture.handle(Msg::Engine(EngineEvent::Budget(Quota::Views, budget)));
            fixture.press_keys("2");
            let sentence = "The hourly limit of 100 analytics requests is reached; nothing was sent. Try again in 22 min, at 14:24.";
            let failure = Failure::new(limited(until), sentence);
            fixture.handle(Msg::Views(ViewsMsg::Loaded {
                query: fixture.app.views.query(),
                result: Err(failure),
                old: None,
            }));
        },
    );
}

fn limited(until: Time) -> FailureKind {
    FailureKind::Limited(Wait { until, is_estimate: false })
}

/// Switches to the previous week, whose request fails. The screen still lists the pages of the current week.
fn offline_a_week_before(fixture: &mut ScreenFixture) {
    open_views_screen(fixture, |_| StoredReport::default());
    fixture.load_views(50, true);
    fixture.press_keys("[");
    let before = fixture.app.views.query().range;
    fixture.handle(Msg::Views(ViewsMsg::CachedReportLoaded { range: before, stored: Ok(StoredReport::default()) }));
    let sentence =
        "The service can't be reached (connection refused), so nothing was sent: check the network, then try again.";
    let failure = Failure::new(FailureKind::Offline, sentence);
    fixture.handle(Msg::Views(ViewsMsg::Loaded { query: fixture.app.views.query(), result: Err(failure), old: None }));
}

#[test]
fn a_screen_that_shows_another_range_than_requested_states_that_first() {
    snapshots(
        "other_range",
        &[],
        &["! The service can't be reached (connection refused), so nothing was sent: check"],
        offline_a_week_before,
    );
}

/// Opens the views screen with `kept` from the cache and a response of yesterday, whose age includes a date.
fn respond(fixture: &mut ScreenFixture, kept: StoredReport) {
    open_views_screen(fixture, |_| kept);
    let value =
        ViewsResponse { totals: counts(900, 400), rows: report(week(), 50, 0, now()).rows, has_more: Some(true) };
    let result = Ok(Timed { value, as_of: yesterday() });
    fixture.handle(Msg::Views(ViewsMsg::Loaded { query: fixture.app.views.query(), result, old: None }));
}

const SENTENCE: &str = "Something went wrong, and this sentence says at length what it was.";

fn fail(fixture: &mut ScreenFixture, kind: FailureKind) {
    let failure = Failure::new(kind, SENTENCE);
    fixture.handle(Msg::Views(ViewsMsg::Loaded { query: fixture.app.views.query(), result: Err(failure), old: None }));
}

fn load_failed(fixture: &mut ScreenFixture, kind: FailureKind) {
    let ended = LoadEndReason::Failed(Failure::new(kind, SENTENCE));
    fixture.handle(Msg::Views(ViewsMsg::LoadEnded {
        range: week(),
        end: LoadOutcome { report: None, end_reason: ended, requests: 1 },
    }));
}

fn yesterday() -> Time {
    now() - TimeDelta::hours(20)
}

fn week() -> DateRange {
    let day = |day: &str| day.parse().expect("a day");
    DateRange::new(day("2026-11-14"), day("2026-11-20")).expect("a week")
}

/// A partial report with most pages of a large site.
static PARTIAL_REPORT: LazyLock<Arc<Report>> =
    LazyLock::new(|| Arc::new(Report { complete: false, ..report(week(), 1200, 0, yesterday()) }));

/// Draws a sample of the widths, and all of them with `DOCDECK_SLOW_TESTS`.
#[test]
fn the_age_of_the_views_and_its_reason_are_never_cut_off() {
    type Scene = (&'static str, fn(&mut ScreenFixture, FailureKind));
    let scenes: [Scene; 12] = [
        ("one answer", |fixture, kind| {
            respond(fixture, StoredReport::default());
            fixture.press_keys("r");
            fail(fixture, kind);
        }),
        ("one answer beside a load that was broken off", |fixture, kind| {
            respond(fixture, StoredReport { responses_before_interruption: Some(4), ..StoredReport::default() });
            fixture.press_keys("r");
            fail(fixture, kind);
        }),
        ("refreshing", |fixture, _| {
            respond(fixture, StoredReport { responses_before_interruption: Some(4), ..StoredReport::default() });
            fixture.press_keys("r");
        }),
        ("refreshing after a load failed", |fixture, kind| {
            respond(fixture, StoredReport::default());
            load_failed(fixture, kind);
            fixture.press_keys("r");
        }),
        ("loading another year", |fixture, _| {
            respond(fixture, StoredReport::default());
            (0..50).for_each(|_| fixture.press_keys("["));
            respond(fixture, StoredReport::default());
            fixture.press_keys("a y ]");
        }),
        ("loading some of another year", |fixture, _| {
            respond(fixture, StoredReport::default());
            (0..50).for_each(|_| fixture.press_keys("["));
            respond(fixture, StoredReport::default());
            fixture.press_keys("a y");
            let range = fixture.app.views.query().range;
            fixture.press_keys("]");
            load_progress(fixture, range, 12_500, 50, 0.62);
        }),
        ("stopping", |fixture, _| {
            let range = start_loading_all(fixture);
            load_progress(fixture, range, 12_500, 50, 0.62);
            fixture.press_keys("Esc");
        }),
        ("all pages", |fixture, kind| {
            open_views_screen(fixture, |range| stored(report(range, 60, 0, yesterday())));
            load_failed(fixture, kind);
        }),
        ("not all pages", |fixture, kind| {
            open_views_screen(fixture, |_| StoredReport {
                report: Some(PARTIAL_REPORT.clone()),
                responses_before_interruption: Some(4),
                ..StoredReport::default()
            });
            fixture.press_keys("r");
            fail(fixture, kind);
        }),
        ("another year", |fixture, kind| {
            respond(fixture, StoredReport::default());
            (0..50).for_each(|_| fixture.press_keys("["));
            respond(fixture, StoredReport::default());
            fixture.press_keys("]");
            fail(fixture, kind);
        }),
        ("50 per request", |fixture, kind| {
            respond(fixture, StoredReport::default());
            fixture.press_keys("L 2 0 0 Enter");
            fail(fixture, kind);
        }),
        ("another size of page", |fixture, kind| {
            respond(fixture, StoredReport::default());
            fixture.press_keys("p 1 2 Enter");
            respond(fixture, StoredReport::default());
            fixture.press_keys("L 2 0 0 Enter");
            fail(fixture, kind);
        }),
    ];
    let kinds = [
        (FailureKind::Offline, "offline"),
        (FailureKind::KeyRefused, "key refused"),
        (FailureKind::NotFound, "not found"),
        (limited(now() + TimeDelta::minutes(10)), "14:12"),
        (limited(now() + TimeDelta::seconds(50)), "50s"),
        (FailureKind::Limited(Wait { until: now() + TimeDelta::minutes(1), is_estimate: true }), "min"),
        (FailureKind::Service, "no usable answer"),
        (FailureKind::Store, "database error"),
        (FailureKind::Local, "local error"),
    ];
    let cases = scenes.iter().flat_map(|scene| kinds.iter().map(move |kind| (scene, kind)));
    for ((scene, build), (kind, words)) in cases {
        // With another first width for each case, the samples cover all widths.
        let first = scene.len() + words.len();
        let widths = [40, 45, 50, 59, 60, 66, 72, 80, 99, 100, 110, 120, 140, 160];
        for width in sample(widths.iter().cycle().skip(first % widths.len()).take(widths.len()).copied(), 7) {
            let mut fixture = ScreenFixture::new((width, 24));
            build(&mut fixture, *kind);
            let screen = text(&render(&fixture.app, ColorDepth::None));
            let line = screen.lines().nth(3).unwrap_or_default();
            let is_explained = match *scene {
                "refreshing" => line.contains("refreshing…"),
                "stopping" => line.contains("62%") && line.contains(" · stopping"),
                "loading another year" | "loading some of another year" => {
                    line.contains("2025") && line.contains("stops")
                }
                scene => {
                    let names_scene = scene != "50 per request" || line.contains(scene);
                    names_scene && (line.contains(words) || line.contains(SENTENCE))
                }
            };
            assert!(is_explained && !line.ends_with('…'), "{scene}, {words}, {width} columns: {line}");
        }
    }
}

#[test]
fn a_page_beyond_the_last_one() {
    snapshots("beyond_the_last_page", &[], &["No rows here: ← goes back."], |fixture| {
        open_views_screen(fixture, |_| StoredReport::default());
        fixture.load_views(50, true);
        fixture.press_keys("p 9 9 9 Enter");
        fixture.load_views(0, false);
    });
}

#[test]
fn a_week_compared_with_a_quarter_shows_a_warning() {
    snapshots("compared_different_lengths", &[], &["all pages as of 14:00", "human 113,402", "AI 49,220"], |fixture| {
        let range = open_views_screen(fixture, |range| stored(report(range, 60, 0, now() - TimeDelta::minutes(3))));
        let from = range.from().checked_sub_days(Days::new(91)).expect("a day");
        let quarter = DateRange::new(from, range.from()).expect("a range");
        let of = |range| Arc::new(report(range, 60, 3, now() - TimeDelta::minutes(2)));
        fixture.app.views.table.show_report(of(range), Some(of(quarter)));
    });
}

#[test]
fn two_compared_ranges() {
    snapshots("compared", &[SMALL, WIDE, LARGE], &["as of 13:59"], |fixture| {
        open_comparison(fixture);
        load_days(fixture, |ago| Some(sample_views(ago)));
    });
}

#[test]
fn totals_compared_with_the_previous_period() {
    snapshots("totals_compared", &[], &["? help"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        let week = fixture.app.views.query().range;
        let totals = |human, ai| Timed { value: counts(human, ai), as_of: now() };
        let previous = week.step(-1).expect("a week").first_days(6);
        let known = vec![(week.first_days(6), totals(117_010, 55_940)), (previous, totals(113_300, 42_700))];
        fixture.handle(Msg::Views(ViewsMsg::CachedTotalsLoaded(Ok(known))));
    });
}

#[test]
fn the_trend_is_above_the_table_if_days_are_cached() {
    snapshots("views_with_trend", &[WIDE, LARGE], &["AI"], |fixture| {
        trend(fixture, "", |ago| (ago != 4).then(|| sample_views(ago)));
        fixture.press_keys("Esc");
    });
    let shown = screen((120, 36), |fixture| {
        trend(fixture, "", |_| None);
        fixture.press_keys("Esc");
    });
    assert!(!shown.contains('┤'), "no day is cached: {shown}");
}

#[test]
fn rows_have_sparklines_if_single_days_are_cached() {
    snapshots("views_daily", &[], &["AI"], |fixture| {
        let range = open_views_screen(fixture, |range| stored(report(range, 60, 0, now())));
        let days = [6, 5, 4, 2, 1].map(|ago| {
            let day = DateRange::last_days(1, range.to() - Days::new(ago));
            report(day, 60, i64::try_from(ago).expect("small") % 4, now())
        });
        fixture.handle(Msg::Views(ViewsMsg::DailyReportsLoaded { range, reports: days.into() }));
    });
}

#[test]
fn the_movers() {
    snapshots("movers", &[SMALL, WIDE, LARGE], &["Tab decreases"], |fixture| {
        open_comparison(fixture);
        fixture.press_keys("w j j");
    });
    snapshots("movers_lost", &[], &["Tab increases"], |fixture| {
        open_comparison(fixture);
        fixture.press_keys("w m Tab G");
    });
}

/// Returns the screen of the state that `build` creates, as text at this size.
fn screen(size: (u16, u16), build: impl FnOnce(&mut ScreenFixture)) -> String {
    let mut fixture = ScreenFixture::new(size);
    build(&mut fixture);
    text(&render(&fixture.app, ColorDepth::None))
}

#[test]
fn the_movers_show_how_many_pages_moved_and_how_many_are_listed() {
    let of_many = |size| {
        screen(size, |fixture| {
            let range = open_views_screen(fixture, |range| stored(report(range, 900, 0, now())));
            compare(fixture, range, |range, variation| report(range, 900, variation * 40, now()));
            fixture.press_keys("w m");
        })
    };
    for size in [(160, 48), (120, 40), (80, 24), (40, 12)] {
        let shown = of_many(size);
        assert!(shown.contains("250 of 793 pages"), "{shown}");
    }
}

#[test]
fn the_title_of_each_dialog_contains_the_range() {
    for size in [(160, 48), (80, 24), (40, 12)] {
        for (keys, range) in [("e", "14–20 Nov 2026"), ("t", "14–20 Nov 2026"), ("w", "14–19 Nov vs 7–12 Nov")]
        {
            let shown = screen(size, |fixture| {
                open_comparison(fixture);
                fixture.press_keys(keys);
            });
            assert!(
                shown.lines().any(|line| line.trim_start().starts_with(['─', '┌']) && line.contains(range)),
                "{shown}"
            );
        }
    }
}

#[test]
fn partial_reports_are_never_called_all_pages() {
    let part = |range| StoredReport {
        report: Some(Arc::new(Report { complete: false, ..report(range, 60, 0, now()) })),
        responses_before_interruption: Some(1),
        ..StoredReport::default()
    };
    for size in [(160, 48), (120, 40), (80, 24), (40, 12)] {
        for keys in ["", "[", "e", "w", "Enter", "H"] {
            let shown = screen(size, |fixture| {
                open_views_screen(fixture, part);
                fixture.load_views(50, true);
                fixture.press_keys("a y");
                let range = fixture.app.views.query().range;
                let end = LoadOutcome { report: part(range).report, end_reason: LoadEndReason::Stopped, requests: 1 };
                fixture.handle(Msg::Views(ViewsMsg::LoadEnded { range, end }));
                fixture.press_keys(keys);
            });
            let others = ["not all pages", "until all pages are loaded", "(press a)"];
            let claims = others.iter().fold(shown.clone(), |shown, other| shown.replace(other, ""));
            assert!(!claims.contains("all pages"), "{keys:?}\n{shown}");
        }
    }
}

#[test]
fn merged_rows_are_reported_as_moved_only_after_two_requests() {
    let with = |responses| {
        screen((160, 48), |fixture| {
            open_views_screen(fixture, |range| {
                stored(Report { duplicates: 2, responses, ..report(range, 60, 0, now()) })
            });
        })
    };
    assert!(with(2).contains("2 duplicate rows merged: rows moved while loading"), "{}", with(2));
    assert!(with(1).contains("2 duplicate rows merged"), "{}", with(1));
    assert!(!with(1).contains("moved"), "{}", with(1));
}

/// Presses `keys` and opens the trend. `known` returns the human and AI views of a day, given as the number of days
/// before today, or `None` if they are unknown.
fn trend(fixture: &mut ScreenFixture, keys: &str, known: impl Fn(i64) -> Option<(i64, i64)>) {
    fixture.load_jobs();
    fixture.load_views(50, true);
    fixture.press_keys(keys);
    fixture.press_keys("t");
    load_days(fixture, known);
}

/// Delivers the cached views of the days that were requested last. `known` returns them as it does for [`trend`].
fn load_days(fixture: &mut ScreenFixture, known: impl Fn(i64) -> Option<(i64, i64)>) {
    let requested = fixture.effects.iter().rev().find_map(|effect| match effect {
        Effect::Views(ViewsEffect::LoadCachedTotals(ranges)) => Some(ranges.clone()),
        _ => None,
    });
    let today = now().date_naive();
    let day = |range: &DateRange| {
        let ago = (today - range.from()).num_days();
        let (human, ai) = known(ago).filter(|_| range.days() == 1)?;
        Some((*range, Timed { value: counts(human, ai), as_of: now() - TimeDelta::minutes(1) }))
    };
    let totals = requested.expect("the days").iter().filter_map(day).collect();
    fixture.handle(Msg::Views(ViewsMsg::CachedTotalsLoaded(Ok(totals))));
}

/// Returns the human and AI views of a day: fewer at a weekend, and only a part for today.
fn sample_views(ago: i64) -> (i64, i64) {
    let day = now().date_naive() - Days::new(u64::try_from(ago).expect("before today"));
    let quiet = if chrono::Datelike::weekday(&day).num_days_from_monday() > 4 { 9 } else { 20 };
    let today = if ago == 0 { 2 } else { 1 };
    ((900 + ago * 13 % 70) * quiet / today, (410 - ago) * (quiet + 14) / 2 / today)
}

/// Opens the trend of thirty days whose views are all known.
pub(crate) fn open_month_trend(fixture: &mut ScreenFixture) {
    trend(fixture, "d", |ago| Some(sample_views(ago)));
}

#[test]
fn the_trend_of_a_week_with_unknown_days() {
    snapshots("trend_week", &[WIDE, LARGE], &["press a", "2 requests"], |fixture| {
        trend(fixture, "", |ago| (ago != 3 && ago != 4).then(|| sample_views(ago)));
    });
}

#[test]
fn the_trend_of_a_month_with_its_mean() {
    snapshots("trend_month", &[SMALL, WIDE], &["18,520"], |fixture| {
        trend(fixture, "d", |ago| (!(14..=16).contains(&ago)).then(|| sample_views(ago)));
        fixture.press_keys("h h");
    });
}

#[test]
fn the_trend_of_a_quarter_by_week() {
    snapshots("trend_quarter", &[], &["31,195", "a load missing"], |fixture| {
        trend(fixture, "d d", |ago| (!(30..=33).contains(&ago)).then(|| sample_views(ago)));
    });
}

#[test]
fn the_trend_without_any_known_day_and_its_cost() {
    let texts = ["Load 7 of 7 days (not loaded or outdated)? Uses 7"];
    snapshots("trend_cost", &[], &texts, |fixture| {
        trend(fixture, "", |_| None);
        fixture.press_keys("a");
    });
}

#[test]
fn the_trend_of_invalid_counts() {
    snapshots("trend_invalid", &[], &["-5", "all 7 days loaded"], |fixture| {
        trend(fixture, "", |ago| Some(if ago == 2 { (-5, 3) } else { sample_views(ago) }));
        fixture.press_keys("h h");
    });
}

#[test]
fn in_ascii_mode_reports_are_ascii() {
    for keys in ["", "w", "w m Tab G", "t", "a"] {
        let mut fixture = ScreenFixture::new((120, 40));
        open_comparison(&mut fixture);
        fixture.press_keys(keys);
        assert_ascii(&fixture);
    }
    for preset in ["", "d", "d d"] {
        let mut fixture = ScreenFixture::new((120, 40));
        trend(&mut fixture, preset, |ago| (ago != 12).then(|| sample_views(ago)));
        assert_ascii(&fixture);
    }
}

fn assert_ascii(fixture: &ScreenFixture) {
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a test terminal");
    let theme = Theme { ascii: true, shows_unicode_text: false, ..Theme::new(ColorDepth::None) };
    terminal.draw(|frame| draw(frame, &fixture.app, &theme, now())).expect("a frame");
    let shown = crate::text(terminal.backend().buffer());
    // A symbol without an ASCII replacement would become a question mark. Apart from the help key, only unknown days
    // and the text about them may contain question marks.
    let unexplained = shown.lines().filter(|line| line.contains('?') && !line.contains("unknown"));
    let unexplained: Vec<&str> = unexplained.filter(|line| !line.contains("? help") && !line.contains(" ?")).collect();
    assert!(shown.is_ascii() && unexplained.is_empty(), "{unexplained:?} in\n{shown}");
}

/// Draws a sample of the sizes, and all of them with `DOCDECK_SLOW_TESTS`.
#[test]
fn drawing_reports_never_fails_at_any_size() {
    let widths = [40, 41, 59, 60, 61, 79, 80, 99, 100, 113, 114, 139, 140, 160, 300];
    for keys in ["", "w", "w Tab m m G", "t", "t h h", "a", "D"] {
        for (n, rows) in [12, 13, 14, 17, 24, 48, 100].into_iter().enumerate() {
            for columns in sample(widths.into_iter().cycle().skip(n).take(widths.len()), 4) {
                let mut fixture = ScreenFixture::new((160, 48));
                open_comparison(&mut fixture);
                fixture.press_keys(keys);
                fixture.resize(columns, rows);
                crate::render(&fixture.app, ColorDepth::Indexed256);
            }
        }
    }
    for preset in ["d", "d d"] {
        for columns in [40, 60, 80, 160] {
            let mut fixture = ScreenFixture::new((columns, 12));
            trend(&mut fixture, preset, |ago| Some(sample_views(ago)));
            for key in ["g", "G", "k", "j"] {
                fixture.press_keys(key);
                crate::render(&fixture.app, ColorDepth::Indexed256);
            }
        }
    }
}

/// Shows the visitors of the first 40 pages.
fn show_visitors(fixture: &mut ScreenFixture, range: DateRange) {
    fixture.press_keys("u");
    let visitors = |row: PageRow| {
        let part = |count: &Count, of: i64| match count {
            Count::Known(views) => Count::Known(views / of),
            other => other.clone(),
        };
        let counts = Counts::new(part(&row.counts.human, 2), part(&row.counts.ai, 4), part(&row.counts.total, 3));
        PageRow { counts, ..row }
    };
    let rows = report(range, 40, 0, now()).rows.into_iter().map(visitors).collect();
    let response =
        RowsResponse { rows, totals: counts(9_120, 1_805), next: Cursor::new("40"), has_unavailable_rows: false };
    let report = Some(Arc::new(RowsMerge::start(range, response, now()).into_report()));
    fixture.handle(Msg::Analytics(AnalyticsMsg::Visitors(RowsMsg::Cached { range, report, is_fresh: true })));
}

#[test]
fn views_with_visitors() {
    snapshots("views_visitors", &[SMALL, LARGE], &["14k"], |fixture| {
        let range = open_views_screen(fixture, |range| stored(report(range, 60, 0, now())));
        show_visitors(fixture, range);
    });
}
