//! All pages of a range: loading them, comparing two ranges, the trend and what moved.

use crate::screen_fixture::{ScreenFixture, now};
use crate::{render, snapshots, text};
use chrono::{Days, TimeDelta};
use docdeck::app::{Effect, Msg};
use docdeck::model::Time;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::ledger::{Budget, RateLimited, Wait};
use docdeck::model::load::Timed;
use docdeck::model::period::DateRange;
use docdeck::model::report::{LoadEnded, LoadOutcome, LoadProgress, Recalled, Report};
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts, PageRow, ViewCount, ViewsPage};
use docdeck::ui::{Depth, Theme, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::sync::{Arc, LazyLock};

fn counts(human: i64, ai: i64) -> Counts {
    Counts { human: Count::Known(human), ai: Count::Known(ai), total: Count::Known(human + ai) }
}

/// All pages of a site; `bent` changes how they were read.
pub(crate) fn report(range: DateRange, pages: i64, bent: i64, as_of: Time) -> Report {
    let page = |n: i64| {
        let path = match n {
            0 => "/quickstart".to_owned(),
            1 => "/api/create-job".to_owned(),
            2 => "/guides/deploying/to-your-own-cluster/with-a-custom-certificate-authority".to_owned(),
            n => format!("/guides/page-{n}"),
        };
        let human = 9120 / (n + 1) + (n * bent) % 97;
        let ai = if n % 3 == 1 { human * 2 + bent } else { human / 2 + (n * bent) % 41 };
        PageRow { path: CleanText::line(&path), counts: counts(human, ai) }
    };
    // Some are new, some gone.
    let rows = (0..pages).filter(|n| *n < 12 || (n + bent) % 9 != 0).map(page);
    let answer = ViewsPage {
        totals: counts(128_402 - 5000 * bent, 61_220 - 4000 * bent),
        rows: rows.collect(),
        has_more: Some(false),
    };
    let mut report = Report::begin(range, answer, true, as_of);
    report.answers = 5;
    report
}

fn whole(report: Report) -> Recalled {
    Recalled { last_time: Some(report.answers), report: Some(Arc::new(report)), ..Recalled::default() }
}

/// The views screen, with this known of its range.
pub(crate) fn looking(world: &mut ScreenFixture, known: impl FnOnce(DateRange) -> Recalled) -> DateRange {
    world.jobs();
    world.keys("2");
    let range = world.app.views.query().range;
    world.tell(Msg::CachedReport { range, recalled: Ok(known(range)) });
    range
}

/// Two weeks compared.
pub(crate) fn compared(world: &mut ScreenFixture) {
    let range = looking(world, |range| whole(report(range, 60, 0, now() - TimeDelta::minutes(3))));
    compare(world, range, |range, bent| report(range, 60, bent * 3, now() - TimeDelta::minutes(2)));
}

/// Compares the days of the range that are over with those of the week before: six sevenths of these weeks.
fn compare(world: &mut ScreenFixture, range: DateRange, of: impl Fn(DateRange, i64) -> Report) {
    world.keys("c");
    for (week, bent) in [(range, 0), (range.step(-1).expect("a week"), 1)] {
        let mut report = of(week.first_days(6), bent);
        let part = |count: &mut Count| {
            if let Count::Known(views) = count {
                *views = *views * 6 / 7;
            }
        };
        for Counts { human, ai, total } in report.rows.iter_mut().map(|row| &mut row.counts).chain([&mut report.totals])
        {
            part(human);
            part(ai);
            *total = (human.value().unwrap_or_default() + ai.value().unwrap_or_default()).into();
        }
        world.tell(Msg::CachedReport { range: report.range, recalled: Ok(whole(report)) });
    }
    assert!(world.app.views.is_comparing());
}

/// Two weeks of a small site compared, as a reader would meet them.
pub(crate) fn site_compared(world: &mut ScreenFixture) {
    let range = looking(world, |range| whole(site(range, 0)));
    compare(world, range, site);
}

/// The pages of the demo's site; each has a week of its own.
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
    let sum = |part: fn(&Counts) -> &Count| rows.iter().filter_map(|row| part(&row.counts).value()).sum::<ViewCount>();
    let (human, ai) = (sum(|counts| &counts.human), sum(|counts| &counts.ai));
    let totals = Counts { human: human.into(), ai: ai.into(), total: (human + ai).into() };
    let mut report =
        Report::begin(range, ViewsPage { totals, rows, has_more: Some(false) }, true, now() - TimeDelta::minutes(3));
    report.answers = 5;
    report
}

fn loading(world: &mut ScreenFixture) -> DateRange {
    looking(world, |_| Recalled::default());
    world.views(50, true);
    world.keys("a y");
    world.app.views.query().range
}

fn told(world: &mut ScreenFixture, range: DateRange, rows: usize, requests: u32, share: f64) {
    let progress = LoadProgress { range, rows, answers: requests, requests, share: Some(share), is_complete: false };
    world.tell(Msg::News(EngineEvent::Loading(progress)));
}

#[test]
fn the_price_of_all_pages() {
    snapshots("all_price", |world| {
        looking(world, |_| Recalled { last_time: Some(5), ..Recalled::default() });
        world.views(50, true);
        world.keys("a");
    });
}

#[test]
fn all_pages_while_they_are_loaded() {
    snapshots("all_loading", |world| {
        let range = loading(world);
        told(world, range, 750, 3, 0.62);
    });
}

#[test]
fn all_pages_of_another_range_while_they_are_loaded() {
    snapshots("all_loading_behind", |world| {
        let range = loading(world);
        world.keys("[");
        let before = world.app.views.query().range;
        world.tell(Msg::CachedReport { range: before, recalled: Ok(Recalled::default()) });
        world.views(50, true);
        told(world, range, 750, 3, 0.62);
    });
}

#[test]
fn all_pages_of_which_a_limit_kept_some_back() {
    snapshots("all_broken_off", |world| {
        let range = loading(world);
        told(world, range, 45, 1, 0.4);
        let mut part = report(range, 45, 0, now());
        part.complete = false;
        let failure = Failure::new(
            limited(now() + TimeDelta::minutes(10)),
            "429 Too Many Requests: the limit is used up, so nothing was done: try again in 10 min.",
        );
        let end = LoadOutcome { report: Some(Arc::new(part)), ended: LoadEnded::Failed(failure), requests: 2 };
        world.tell(Msg::LoadEnded { range, end });
    });
}

#[test]
fn an_old_report_of_all_pages() {
    snapshots("all_old", |world| {
        looking(world, |range| whole(report(range, 60, 0, now() - TimeDelta::hours(30))));
    });
}

#[test]
fn a_range_whose_load_was_broken_off() {
    snapshots("all_goes_on", |world| {
        looking(world, |range| {
            let mut part = report(range, 1000, 0, now());
            part.complete = false;
            Recalled { report: Some(Arc::new(part)), broken_off: Some(4), ..Recalled::default() }
        });
        world.views(50, true);
    });
}

#[test]
fn nothing_to_see_and_no_requests_left() {
    snapshots("all_none_left", |world| {
        world.jobs();
        let until = now() + TimeDelta::minutes(22);
        let budget = Budget { used: 100, limit: 100, resets_at: Some(until), blocked: None };
        world.tell(Msg::News(EngineEvent::Budget(RateLimited::Views, budget)));
        world.keys("2");
        let sentence = "The limit of 100 requests for page views an hour is used up, so nothing was asked: try again in 22 min, at 14:24.";
        let failure = Failure::new(limited(until), sentence);
        world.tell(Msg::Views { query: world.app.views.query(), result: Err(failure), old: None });
    });
}

fn limited(until: Time) -> FailureKind {
    FailureKind::Limited(Wait { until, is_estimate: false })
}

/// The week before is asked for and does not come: what is listed is still the first one.
fn offline_a_week_before(world: &mut ScreenFixture) {
    looking(world, |_| Recalled::default());
    world.views(50, true);
    world.keys("[");
    let before = world.app.views.query().range;
    world.tell(Msg::CachedReport { range: before, recalled: Ok(Recalled::default()) });
    let sentence =
        "The service can't be reached (connection refused), so nothing was sent: check the network, then ask again.";
    let failure = Failure::new(FailureKind::Offline, sentence);
    world.tell(Msg::Views { query: world.app.views.query(), result: Err(failure), old: None });
}

#[test]
fn another_range_than_was_asked_for_says_so_first() {
    snapshots("other_range", offline_a_week_before);
}

/// What came yesterday, so long ago that the clock alone does not tell it.
fn answer(world: &mut ScreenFixture, kept: Recalled) {
    looking(world, |_| kept);
    let value = ViewsPage { totals: counts(900, 400), rows: report(week(), 50, 0, now()).rows, has_more: Some(true) };
    let result = Ok(Timed { value, as_of: yesterday() });
    world.tell(Msg::Views { query: world.app.views.query(), result, old: None });
}

const SENTENCE: &str = "Something went wrong, and this sentence says at length what it was.";

fn fail(world: &mut ScreenFixture, kind: FailureKind) {
    let failure = Failure::new(kind, SENTENCE);
    world.tell(Msg::Views { query: world.app.views.query(), result: Err(failure), old: None });
}

fn load_failed(world: &mut ScreenFixture, kind: FailureKind) {
    let ended = LoadEnded::Failed(Failure::new(kind, SENTENCE));
    world.tell(Msg::LoadEnded { range: week(), end: LoadOutcome { report: None, ended, requests: 1 } });
}

fn yesterday() -> Time {
    now() - TimeDelta::hours(20)
}

fn week() -> DateRange {
    let day = |day: &str| day.parse().expect("a day");
    DateRange::new(day("2026-11-14"), day("2026-11-20")).expect("a week")
}

/// Most pages of a large site.
static PART: LazyLock<Arc<Report>> =
    LazyLock::new(|| Arc::new(Report { complete: false, ..report(week(), 1200, 0, yesterday()) }));

#[test]
fn how_old_the_views_are_and_why_is_never_cut() {
    type Scene = (&'static str, fn(&mut ScreenFixture, FailureKind));
    let scenes: [Scene; 12] = [
        ("one answer", |world, kind| {
            answer(world, Recalled::default());
            world.keys("r");
            fail(world, kind);
        }),
        ("one answer beside a load that was broken off", |world, kind| {
            answer(world, Recalled { broken_off: Some(4), ..Recalled::default() });
            world.keys("r");
            fail(world, kind);
        }),
        ("asking again", |world, _| {
            answer(world, Recalled { broken_off: Some(4), ..Recalled::default() });
            world.keys("r");
        }),
        ("asking again after a load failed", |world, kind| {
            answer(world, Recalled::default());
            load_failed(world, kind);
            world.keys("r");
        }),
        ("loading another year", |world, _| {
            answer(world, Recalled::default());
            (0..50).for_each(|_| world.keys("["));
            answer(world, Recalled::default());
            world.keys("a y ]");
        }),
        ("loading some of another year", |world, _| {
            answer(world, Recalled::default());
            (0..50).for_each(|_| world.keys("["));
            answer(world, Recalled::default());
            world.keys("a y");
            let range = world.app.views.query().range;
            world.keys("]");
            told(world, range, 12_500, 50, 0.62);
        }),
        ("stopping", |world, _| {
            let range = loading(world);
            told(world, range, 12_500, 50, 0.62);
            world.keys("Esc");
        }),
        ("all pages", |world, kind| {
            looking(world, |range| whole(report(range, 60, 0, yesterday())));
            load_failed(world, kind);
        }),
        ("not all pages", |world, kind| {
            looking(world, |_| Recalled { report: Some(PART.clone()), broken_off: Some(4), ..Recalled::default() });
            world.keys("r");
            fail(world, kind);
        }),
        ("another year", |world, kind| {
            answer(world, Recalled::default());
            (0..50).for_each(|_| world.keys("["));
            answer(world, Recalled::default());
            world.keys("]");
            fail(world, kind);
        }),
        ("50 per page", |world, kind| {
            answer(world, Recalled::default());
            world.keys("L 2 0 0 Enter");
            fail(world, kind);
        }),
        ("another size of page", |world, kind| {
            answer(world, Recalled::default());
            world.keys("p 1 2 Enter");
            answer(world, Recalled::default());
            world.keys("L 2 0 0 Enter");
            fail(world, kind);
        }),
    ];
    let kinds = [
        (FailureKind::Offline, "offline"),
        (FailureKind::KeyRefused, "key refused"),
        (FailureKind::NotFound, "not found"),
        (limited(now() + TimeDelta::minutes(10)), "14:12"),
        (limited(now() + TimeDelta::seconds(50)), "50s"),
        (FailureKind::Limited(Wait { until: now() + TimeDelta::minutes(1), is_estimate: true }), "about"),
        (FailureKind::Service, "no usable answer"),
        (FailureKind::Store, "record failed"),
        (FailureKind::Local, "failed here"),
    ];
    for ((scene, build), (kind, words)) in scenes.iter().flat_map(|scene| kinds.iter().map(move |kind| (scene, kind))) {
        for width in [40, 45, 50, 59, 60, 66, 72, 80, 99, 100, 110, 120, 140, 160] {
            let mut world = ScreenFixture::new((width, 24));
            build(&mut world, *kind);
            let screen = text(&render(&world.app, Depth::None));
            let line = screen.lines().nth(2).unwrap_or_default();
            let is_told = match *scene {
                "asking again" => line.contains("asking again…"),
                "stopping" => line.contains("62%") && line.contains(" · stopping"),
                "loading another year" | "loading some of another year" => {
                    line.contains("25-") && line.contains("stops")
                }
                scene => {
                    let is_there = scene != "50 per page" || line.contains(scene);
                    is_there && (line.contains(words) || line.contains(SENTENCE))
                }
            };
            assert!(is_told && !line.ends_with('…'), "{scene}, {words}, {width} columns: {line}");
        }
    }
}

#[test]
fn a_page_beyond_the_last_one() {
    snapshots("beyond_the_last_page", |world| {
        looking(world, |_| Recalled::default());
        world.views(50, true);
        world.keys("p 9 9 9 Enter");
        world.views(0, false);
    });
}

#[test]
fn a_week_compared_with_a_quarter_says_so() {
    snapshots("compared_unlike", |world| {
        let range = looking(world, |range| whole(report(range, 60, 0, now() - TimeDelta::minutes(3))));
        let from = range.from().checked_sub_days(Days::new(91)).expect("a day");
        let quarter = DateRange::new(from, range.from()).expect("a range");
        let of = |range| Arc::new(report(range, 60, 3, now() - TimeDelta::minutes(2)));
        world.app.views.table.show_report(of(range), Some(of(quarter)));
    });
}

#[test]
fn two_ranges_compared() {
    snapshots("compared", compared);
}

#[test]
fn totals_against_the_period_before() {
    snapshots("totals_against", |world| {
        world.jobs();
        world.views(50, true);
        let week = world.app.views.query().range;
        let totals = |human, ai| Timed { value: counts(human, ai), as_of: now() };
        let before = week.step(-1).expect("a week").first_days(6);
        let known = vec![(week.first_days(6), totals(117_010, 55_940)), (before, totals(113_300, 42_700))];
        world.tell(Msg::TotalsRecalled(Ok(known)));
    });
}

#[test]
fn what_moved() {
    snapshots("movers", |world| {
        compared(world);
        world.keys("w j j");
    });
    snapshots("movers_lost", |world| {
        compared(world);
        world.keys("w m Tab G");
    });
}

/// The screen at a size, as text.
fn screen(size: (u16, u16), build: impl FnOnce(&mut ScreenFixture)) -> String {
    let mut world = ScreenFixture::new(size);
    build(&mut world);
    text(&render(&world.app, Depth::None))
}

#[test]
fn the_movers_tell_how_many_pages_moved_and_how_many_of_them_are_listed() {
    let of_many = |size| {
        screen(size, |world| {
            let range = looking(world, |range| whole(report(range, 900, 0, now())));
            compare(world, range, |range, bent| report(range, 900, bent * 40, now()));
            world.keys("w");
        })
    };
    for size in [(160, 48), (120, 40), (80, 24), (40, 12)] {
        let shown = of_many(size);
        assert!(shown.contains("lost: top 250 of "), "{shown}");
        assert!(!shown.contains("lost 250"), "{shown}");
    }
}

#[test]
fn the_title_of_each_dialog_names_the_range() {
    for size in [(160, 48), (80, 24), (40, 12)] {
        for (keys, range) in
            [("e", "2026-11-14 … 2026-11-20"), ("t", "2026-11-14 … 2026-11-20"), ("w", "14–19 Nov vs 7–12 Nov")]
        {
            let shown = screen(size, |world| {
                compared(world);
                world.keys(keys);
            });
            assert!(shown.lines().any(|line| line.contains('┌') && line.contains(range)), "{shown}");
        }
    }
}

#[test]
fn a_part_of_the_pages_is_never_called_all_pages() {
    let part = |range| Recalled {
        report: Some(Arc::new(Report { complete: false, ..report(range, 60, 0, now()) })),
        broken_off: Some(1),
        ..Recalled::default()
    };
    for size in [(160, 48), (120, 40), (80, 24), (40, 12)] {
        for keys in ["", "[", "e", "w", "Enter", "H"] {
            let shown = screen(size, |world| {
                looking(world, part);
                world.views(50, true);
                world.keys("a y");
                let range = world.app.views.query().range;
                let end = LoadOutcome { report: part(range).report, ended: LoadEnded::Stopped, requests: 1 };
                world.tell(Msg::LoadEnded { range, end });
                world.keys(keys);
            });
            let others = ["not all pages", "until all pages are loaded", "load all pages to know"];
            let claims = others.iter().fold(shown.clone(), |shown, other| shown.replace(other, ""));
            assert!(!claims.contains("all pages"), "{keys:?}\n{shown}");
        }
    }
}

#[test]
fn merged_rows_are_said_to_have_moved_only_after_two_requests() {
    let with = |answers| {
        screen((160, 48), |world| {
            looking(world, |range| whole(Report { moved: 2, answers, ..report(range, 60, 0, now()) }));
        })
    };
    assert!(with(2).contains("2 duplicate rows merged: rows moved while loading"), "{}", with(2));
    assert!(with(1).contains("2 duplicate rows merged"), "{}", with(1));
    assert!(!with(1).contains("moved"), "{}", with(1));
}

/// Opens the trend; of the days that `known` gives numbers for these are known.
fn trend(world: &mut ScreenFixture, keys: &str, known: impl Fn(i64) -> Option<(i64, i64)>) {
    world.jobs();
    world.views(50, true);
    world.keys(keys);
    world.keys("t");
    let asked = world.effects.iter().rev().find_map(|effect| match effect {
        Effect::RecallTotals(ranges) => Some(ranges.clone()),
        _ => None,
    });
    let today = now().date_naive();
    let day = |range: &DateRange| {
        let ago = (today - range.from()).num_days();
        let (human, ai) = known(ago).filter(|_| range.days() == 1)?;
        Some((*range, Timed { value: counts(human, ai), as_of: now() - TimeDelta::minutes(1) }))
    };
    let totals = asked.expect("the days").iter().filter_map(day).collect();
    world.tell(Msg::TotalsRecalled(Ok(totals)));
}

fn rhythm(ago: i64) -> (i64, i64) {
    let day = now().date_naive() - Days::new(u64::try_from(ago).expect("before today"));
    let quiet = if chrono::Datelike::weekday(&day).num_days_from_monday() > 4 { 9 } else { 20 };
    let today = if ago == 0 { 2 } else { 1 };
    ((900 + ago * 13 % 70) * quiet / today, (410 - ago) * (quiet + 14) / 2 / today)
}

/// The trend of thirty days, all known.
pub(crate) fn month_by_day(world: &mut ScreenFixture) {
    trend(world, "d", |ago| Some(rhythm(ago)));
}

#[test]
fn the_trend_of_a_week_with_days_that_are_not_known() {
    snapshots("trend_week", |world| {
        trend(world, "", |ago| (ago != 3 && ago != 4).then(|| rhythm(ago)));
    });
}

#[test]
fn the_trend_of_a_month_with_its_mean() {
    snapshots("trend_month", |world| {
        trend(world, "d", |ago| (!(14..=16).contains(&ago)).then(|| rhythm(ago)));
        world.keys("h h");
    });
}

#[test]
fn the_trend_of_a_quarter_by_week() {
    snapshots("trend_quarter", |world| {
        trend(world, "d d", |ago| (!(30..=33).contains(&ago)).then(|| rhythm(ago)));
    });
}

#[test]
fn the_trend_of_which_nothing_is_known_and_its_price() {
    snapshots("trend_price", |world| {
        trend(world, "", |_| None);
        world.keys("a");
    });
}

#[test]
fn the_trend_of_numbers_that_are_no_counts() {
    snapshots("trend_odd", |world| {
        trend(world, "", |ago| Some(if ago == 2 { (-5, 3) } else { rhythm(ago) }));
        world.keys("h h");
    });
}

#[test]
fn in_ascii_reports_are_ascii() {
    for keys in ["", "w", "w m Tab G", "t", "a"] {
        let mut world = ScreenFixture::new((120, 40));
        compared(&mut world);
        world.keys(keys);
        assert_ascii(&world);
    }
    for preset in ["", "d", "d d"] {
        let mut world = ScreenFixture::new((120, 40));
        trend(&mut world, preset, |ago| (ago != 12).then(|| rhythm(ago)));
        assert_ascii(&world);
    }
}

fn assert_ascii(world: &ScreenFixture) {
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a test terminal");
    let theme = Theme { ascii: true, ..Theme::new(Depth::None) };
    terminal.draw(|frame| draw(frame, &world.app, &theme, now())).expect("a frame");
    let shown = crate::text(terminal.backend().buffer());
    // What has no stand-in would be a question mark: only unknown days, and the words that explain them, have one.
    let unexplained = shown.lines().filter(|line| line.contains('?') && !line.contains("not known"));
    let unexplained: Vec<&str> = unexplained.filter(|line| !line.contains("? help") && !line.contains(" ?")).collect();
    assert!(shown.is_ascii() && unexplained.is_empty(), "{unexplained:?} in\n{shown}");
}

#[test]
fn no_size_makes_the_drawing_of_reports_fail() {
    for keys in ["", "w", "w Tab m m G", "t", "t h h", "a", "D"] {
        for columns in [40, 41, 59, 60, 61, 79, 80, 99, 100, 113, 114, 139, 140, 160, 300] {
            for rows in [12, 13, 14, 17, 24, 48, 100] {
                let mut world = ScreenFixture::new((160, 48));
                compared(&mut world);
                world.keys(keys);
                world.resize(columns, rows);
                crate::render(&world.app, Depth::Many);
            }
        }
    }
    for preset in ["d", "d d"] {
        for columns in [40, 60, 80, 160] {
            let mut world = ScreenFixture::new((columns, 12));
            trend(&mut world, preset, |ago| Some(rhythm(ago)));
            for key in ["g", "G", "k", "j"] {
                world.keys(key);
                crate::render(&world.app, Depth::Many);
            }
        }
    }
}
