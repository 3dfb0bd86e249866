//! Tests of loading all pages and of comparing, driven by messages to the app.

use super::*;
use crate::model::comparison::ComparedRanges;
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::FailureKind;
use crate::model::ledger::{Budget, CountedBy, Quota, Wait};
use crate::model::load::Timed;
use crate::model::report::LoadEndReason;
use crate::model::report::LoadOutcome;
use crate::model::report::LoadProgress;
use crate::model::report::SimilarRange;
use crate::model::team::{ReportKey, ReportKind};
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, PageRow, ViewsResponse};
use crate::tui::confirm::ConfirmDialog;
use crate::tui::filter_input::FilterInput;
use crate::tui::msg::AppConfig;
use crate::tui::views::Report;
use crate::tui::views::movers::{MoverMetric, Movers};
use crate::tui::{Msg, ViewsEffect, ViewsMsg};
use chrono::{FixedOffset, TimeDelta};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;
use std::sync::Arc;

fn now() -> Time {
    "2026-11-20T12:00:00Z".parse().expect("a time")
}

fn range(from: &str, to: &str) -> DateRange {
    DateRange::new(from.parse().expect("a date"), to.parse().expect("a date")).expect("in order")
}

fn week() -> DateRange {
    range("2026-11-14", "2026-11-20")
}

fn week_before() -> DateRange {
    range("2026-11-07", "2026-11-13")
}

/// Returns the days of this week that are over.
fn complete_days() -> DateRange {
    range("2026-11-14", "2026-11-19")
}

/// Returns the days of the previous week that correspond to [`complete_days`].
fn previous_complete_days() -> DateRange {
    range("2026-11-07", "2026-11-12")
}

fn counts(human: i64) -> Counts {
    Counts::new(Count::Known(human), Count::Known(0), Count::Known(human))
}

fn views_response(rows: usize, has_more: bool) -> ViewsResponse {
    let row = |n: usize| PageRow { path: CleanText::line(&format!("/{n}")), counts: counts(1) };
    ViewsResponse { totals: counts(1000), rows: (0..rows).map(row).collect(), has_more: Some(has_more) }
}

fn report(range: DateRange, rows: usize, responses: u32, complete: bool, as_of: Time) -> Arc<Report> {
    Arc::new(Report {
        responses,
        ..Report::from_first_response(range, views_response(rows, !complete), complete, as_of)
    })
}

fn complete_report(range: DateRange, as_of: Time) -> StoredReport {
    let report = report(range, 600, 3, true, as_of);
    StoredReport { last_load_requests: Some(report.responses), report: Some(report), ..StoredReport::default() }
}

fn interrupted_report(range: DateRange) -> StoredReport {
    let report = report(range, 1000, 4, false, now());
    StoredReport {
        report: Some(report),
        responses_before_interruption: Some(4),
        last_load_requests: Some(5),
        ..StoredReport::default()
    }
}

/// The app on its views screen, with all effects that it has returned.
struct LoadFixture {
    app: App,
    effects: Vec<Effect>,
}

impl LoadFixture {
    /// Opens the views screen with the range of this week. `cached` is the cached data of this range.
    fn with_cached(cached: StoredReport) -> Self {
        let mut test = Self::before_cache_is_read();
        test.read_cache(week(), cached);
        test
    }

    fn before_cache_is_read() -> Self {
        let scope =
            Scope { base_url: "https://api.example.com".to_owned(), project: "acme".to_owned(), organization: None };
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let start = AppConfig { size: (120, 40), ..AppConfig::new(scope, utc) };
        let mut test = Self { app: App::new(start, now()).0, effects: Vec::new() };
        test.set_requests_left(63);
        test.press("2");
        assert_eq!(
            test.effects.last(),
            Some(&Effect::Views(ViewsEffect::LoadCachedReport(week()))),
            "the cache comes first"
        );
        assert!(!test.has_requested_anything());
        test
    }

    /// Opens the views screen with an empty cache, and responds to the request with 50 rows; the range has more rows.
    fn with_a_response() -> Self {
        let mut test = Self::with_cached(StoredReport::default());
        test.respond(50, true);
        test
    }

    fn send(&mut self, msg: Msg) {
        self.effects.extend(self.app.update(msg, now()));
    }

    fn press(&mut self, keys: &str) {
        for key in keys.chars() {
            let code = if key == '␛' { KeyCode::Esc } else { KeyCode::Char(key) };
            self.send(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))));
        }
    }

    fn read_cache(&mut self, range: DateRange, cached: StoredReport) {
        self.send(Msg::Views(ViewsMsg::CachedReportLoaded { range, stored: Ok(cached) }));
    }

    fn respond(&mut self, rows: usize, has_more: bool) {
        let response = Timed { value: views_response(rows, has_more), as_of: now() };
        self.send(Msg::Views(ViewsMsg::Loaded { query: self.app.views.query(), result: Ok(response), old: None }));
    }

    fn set_requests_left(&mut self, left: u32) {
        let resets_at = Some(now() + TimeDelta::minutes(22));
        let budget =
            Budget { used: 100 - left, limit: 100, resets_at, blocked: None, counted_by: CountedBy::ThisComputer };
        self.send(Msg::Engine(EngineEvent::Budget(Quota::Views, budget)));
    }

    fn send_progress(&mut self, range: DateRange, responses: u32) {
        let rows = responses as usize * 250;
        let progress =
            LoadProgress { range, rows, responses, requests: responses, share: Some(0.62), is_complete: false };
        self.send(Msg::Engine(EngineEvent::Loading(progress)));
    }

    fn end_load(&mut self, range: DateRange, report: Option<Arc<Report>>, ended: LoadEndReason, requests: u32) {
        self.send(Msg::Views(ViewsMsg::LoadEnded { range, end: LoadOutcome { report, end_reason: ended, requests } }));
    }

    /// Compares this week, whose pages are all listed, with the previous week. All pages of the compared days are
    /// cached.
    fn compare(&mut self) {
        self.press("c");
        self.read_cache(complete_days(), complete_report(complete_days(), now()));
        self.read_cache(previous_complete_days(), complete_report(previous_complete_days(), now()));
    }

    fn site_change(&self) -> Option<(ComparedRanges, bool)> {
        self.app.views.site_change(now()).map(|change| (change.ranges, change.compares_pages))
    }

    fn question(&self) -> &str {
        &self.app.top::<ConfirmDialog>().expect("a question").text
    }

    fn notice(&self) -> &str {
        self.app.notice.as_ref().map_or("", |notice| notice.text.as_str())
    }

    fn has_requested_anything(&self) -> bool {
        self.effects.iter().any(|effect| {
            matches!(
                effect,
                Effect::Views(ViewsEffect::Load { .. })
                    | Effect::Views(ViewsEffect::LoadAll(_))
                    | Effect::Views(ViewsEffect::LoadTotals(_))
            )
        })
    }

    /// Returns the loads that were started so far.
    fn loads(&self) -> Vec<LoadPlan> {
        let plan = |effect: &Effect| match effect {
            Effect::Views(ViewsEffect::LoadAll(plan)) => Some(*plan),
            _ => None,
        };
        self.effects.iter().filter_map(plan).collect()
    }

    fn listed_report(&self) -> Option<(DateRange, usize, bool)> {
        self.app.views.table.report().map(|report| (report.range, report.rows.len(), report.complete))
    }
}

#[test]
fn a_complete_report_is_listed_regardless_of_its_age_and_nothing_is_requested() {
    let old = now() - TimeDelta::days(2);
    let test = LoadFixture::with_cached(complete_report(week(), old));
    assert_eq!(test.listed_report(), Some((week(), 600, true)));
    assert!(!test.has_requested_anything(), "{:?}", test.effects);
    assert_eq!(test.app.views.as_of(), Some(old));
}

#[test]
fn a_range_without_a_complete_report_requests_one_page_of_rows() {
    let test = LoadFixture::with_cached(interrupted_report(week()));
    let asked: Vec<&Effect> =
        test.effects.iter().filter(|effect| matches!(effect, Effect::Views(ViewsEffect::Load { .. }))).collect();
    assert_eq!(asked.len(), 1);
    assert_eq!(test.app.views.all_pages.rows_of_interrupted_load(week()), Some(1000));
}

#[test]
fn a_key_that_needs_all_pages_lists_a_report_that_was_read_but_not_listed() {
    let mut test = LoadFixture::with_a_response();
    assert_eq!(test.listed_report(), None);
    test.app.views.all_pages.set_cached(week(), complete_report(week(), now()));
    test.press("s");
    assert_eq!(test.listed_report(), Some((week(), 600, true)));
}

#[test]
fn rows_of_an_interrupted_load_are_listed_if_the_request_fails() {
    let mut test = LoadFixture::with_cached(interrupted_report(week()));
    let failure = Failure::new(FailureKind::Offline, "No network.");
    test.send(Msg::Views(ViewsMsg::Loaded { query: test.app.views.query(), result: Err(failure), old: None }));
    assert_eq!(test.listed_report(), Some((week(), 1000, false)));
}

#[test]
fn the_cost_is_shown_first_and_a_confirmed_load_starts_once() {
    let mut test = LoadFixture::with_a_response();
    test.press("a");
    assert!(test.loads().is_empty());
    assert!(test.question().starts_with("Load all pages of 14–20 Nov 2026? Uses about 4 analytics requests ("));
    test.press("n");
    assert!(test.loads().is_empty(), "no is no");
    test.press("ay");
    assert_eq!(
        test.loads(),
        [LoadPlan { range: week(), from_start: false, max_requests: REQUESTS_PER_CONFIRMATION, stop_at_percent: None }]
    );
    test.press("ayay");
    assert_eq!(test.loads().len(), 1, "one more key stops the load; it never starts a second one");
}

#[test]
fn a_fresh_first_response_of_the_largest_page_size_is_not_requested_again() {
    let mut test = LoadFixture::with_cached(StoredReport::default());
    test.app.views.query.limit = crate::model::views::MAX_PAGE_SIZE;
    test.respond(250, true);
    let plan =
        LoadPlan { range: week(), from_start: false, max_requests: REQUESTS_PER_CONFIRMATION, stop_at_percent: None };
    let question = test.app.load_question(&[plan], now());
    assert!(
        question.contains("Uses about 3 analytics requests (63 left this hour), estimated from the first 250 rows"),
        "{question}"
    );
    let later = test.app.load_question(&[plan], now() + TimeDelta::minutes(6));
    assert!(later.contains("Uses about 4 analytics requests ("), "{later}");
    test.read_cache(week(), complete_report(week(), now()));
    let again = test.app.load_question(&[LoadPlan { from_start: true, ..plan }], now());
    assert!(again.starts_with("Load all pages of 14–20 Nov 2026 again? "), "{again}");
    test.app.connection = crate::model::connection::ConnectionState::Offline {
        reason: CleanText::line("no network"),
        next_try: Some(now() + TimeDelta::seconds(12)),
    };
    assert!(test.app.load_question(&[plan], now()).starts_with("Offline: "));
}

#[test]
fn the_countdown_of_a_rate_limit_is_redrawn_each_second_in_its_last_minute() {
    let mut test = LoadFixture::with_cached(StoredReport::default());
    test.send(Msg::Engine(EngineEvent::Budget(
        Quota::Views,
        Budget { used: 1, limit: 100, resets_at: None, blocked: None, counted_by: CountedBy::ThisComputer },
    )));
    let until = now() + TimeDelta::minutes(5);
    let failure = Failure::new(FailureKind::Limited(Wait { until, is_estimate: false }), "the limit is used up");
    test.send(Msg::Views(ViewsMsg::Loaded { query: test.app.views.query(), result: Err(failure), old: None }));
    test.app.notice = None;
    assert_eq!(test.app.next_timer(now()), Some(until - TimeDelta::seconds(59)));
    let late = until - TimeDelta::seconds(30);
    assert_eq!(test.app.next_timer(late), Some(late + TimeDelta::seconds(1)));
    assert_eq!(test.app.next_timer(until - TimeDelta::milliseconds(400)), Some(until));
    assert_eq!(test.app.next_timer(until), None);
}

#[test]
fn the_cost_includes_all_rows_known_to_exist_and_shows_the_cost_of_the_last_load() {
    let mut test = LoadFixture::with_cached(StoredReport { last_load_requests: Some(5), ..StoredReport::default() });
    test.send(Msg::Views(ViewsMsg::Loaded {
        query: test.app.views.query(),
        result: Ok(Timed { value: views_response(50, true), as_of: now() }),
        old: None,
    }));
    for _ in 0..5 {
        test.app.views.turn_page(true);
        test.respond(50, true);
    }
    test.press("a");
    let text = "Load all pages of 14–20 Nov 2026? Uses at least 2 analytics requests, last time 5 (63 left this hour).";
    assert_eq!(test.question(), text, "301 rows at least");
}

#[test]
fn an_unknown_number_of_rows_is_estimated_and_the_question_shows_the_basis() {
    let mut test = LoadFixture::with_a_response();
    test.press("a");
    let text = "Load all pages of 14–20 Nov 2026? Uses about 4 analytics requests (63 left this hour), estimated from the first \
                50 rows (5% of the views).";
    assert_eq!(test.question(), text);
    let similar = SimilarRange { range: week_before(), rows: 1_099 };
    let mut test =
        LoadFixture::with_cached(StoredReport { range_of_similar_length: Some(similar), ..StoredReport::default() });
    test.respond(50, true);
    test.press("a");
    let text = "Load all pages of 14–20 Nov 2026? Uses about 5 analytics requests (63 left this hour), estimated from the \
                1,099 pages of 7–13 Nov 2026.";
    assert_eq!(test.question(), text);
    let mut test = LoadFixture::with_cached(StoredReport::default());
    test.respond(2, true);
    test.press("a");
    let text = "Load all pages of 14–20 Nov 2026? Uses at least 1 analytics request (63 left this hour).";
    assert_eq!(test.question(), text, "two rows are not enough for an estimate");
}

#[test]
fn a_range_without_an_estimate_is_expected_to_cost_the_mean_of_the_other_ranges() {
    let test = LoadFixture::with_a_response();
    let plan =
        |range| LoadPlan { range, from_start: false, max_requests: REQUESTS_PER_CONFIRMATION, stop_at_percent: None };
    let of = |ranges: &[DateRange]| {
        let loads: Vec<LoadPlan> = ranges.iter().copied().map(plan).collect();
        test.app.load_question(&loads, now())
    };
    let far = range("2026-10-01", "2026-10-07");
    assert!(of(&[week()]).contains("? Uses about 4 analytics requests ("), "{}", of(&[week()]));
    assert!(of(&[week(), week_before()]).contains("? Uses about 8 analytics requests ("));
    assert!(of(&[week(), week_before(), far]).contains("? Uses about 12 analytics requests ("));
    assert!(
        of(&[week_before(), far]).contains("? Uses at least 2 analytics requests ("),
        "{}",
        of(&[week_before(), far])
    );
}

#[test]
fn a_load_offers_to_stop_at_95_and_at_99_percent_and_continues_otherwise() {
    let mut test = LoadFixture::with_a_response();
    test.press("ay");
    let at = |test: &mut LoadFixture, responses: u32, share: f64, is_complete: bool| {
        test.app.notice = None;
        let rows = responses as usize * 250;
        let progress =
            LoadProgress { range: week(), rows, responses, requests: responses, share: Some(share), is_complete };
        test.send(Msg::Engine(EngineEvent::Loading(progress)));
        test.app.notice.as_ref().map(|notice| notice.text.to_string())
    };
    assert_eq!(at(&mut test, 1, 0.949, false), None);
    let offer = "95% of all views are loaded; the rest needs about 2 more requests. Esc stops loading.";
    assert_eq!(at(&mut test, 2, 0.95, false).as_deref(), Some(offer));
    assert_eq!(at(&mut test, 3, 0.97, false), None, "once");
    let offer = "99% of all views are loaded; the rest needs more requests. Esc stops loading.";
    assert_eq!(at(&mut test, 9, 0.995, false).as_deref(), Some(offer), "the estimate was too low");
    assert_eq!(at(&mut test, 10, 0.999, false), None);
    assert!(test.app.views.all_pages.can_stop() && test.loads().len() == 1, "it continues");
    test.press("␛");
    assert!(!test.app.views.all_pages.can_stop());
    test.end_load(week(), Some(report(week(), 2_500, 10, false, now())), LoadEndReason::Stopped, 10);
    assert!(test.notice().starts_with("Stopped after 2,500 rows (99% of the views); press a "), "{}", test.notice());
    // After the last response, docdeck doesn't offer to stop, because nothing is left to load.
    let mut test = LoadFixture::with_a_response();
    test.press("ay");
    assert_eq!(at(&mut test, 1, 1.0, true), None);
}

#[test]
fn a_load_of_a_single_request_needs_no_confirmation() {
    let mut test = LoadFixture::with_cached(StoredReport::default());
    test.respond(50, false);
    test.press("a");
    assert_eq!(test.loads(), [LoadPlan { range: week(), from_start: false, max_requests: 1, stop_at_percent: None }]);
    test.send_progress(week(), 1);
    // The range has grown meanwhile. Even so, nothing more is requested without a confirmation.
    test.end_load(week(), Some(report(week(), 250, 1, false, now())), LoadEndReason::RequestLimit, 1);
    assert_eq!(test.loads().len(), 1);
    assert!(test.question().starts_with("250 rows (62% of the views) loaded with 1 request. Continue "));
    test.press("y");
    assert_eq!(test.loads().len(), 2);
}

#[test]
fn a_load_pauses_after_the_confirmed_requests_and_asks_again() {
    let mut test = LoadFixture::with_a_response();
    test.press("ay");
    test.send_progress(week(), 20);
    test.set_requests_left(43);
    test.end_load(week(), Some(report(week(), 5000, 20, false, now())), LoadEndReason::RequestLimit, 20);
    let text = "5,000 rows (62% of the views) loaded with 20 requests. Continue loading all pages of \
                14–20 Nov 2026? Uses at most 20 more requests (43 left this hour).";
    assert_eq!(test.question(), text);
    test.press("n");
    assert_eq!(test.listed_report(), Some((week(), 5000, false)), "the loaded rows are listed");
    assert_eq!(test.loads().len(), 1);
    assert_eq!(test.app.load_all_label(), "resume loading");
}

#[test]
fn a_question_does_not_open_on_another_screen() {
    let mut test = LoadFixture::with_a_response();
    test.press("ay1");
    test.end_load(week(), Some(report(week(), 5000, 20, false, now())), LoadEndReason::RequestLimit, 20);
    assert!(test.app.dialogs.is_empty());
    assert!(test.notice().starts_with("Paused: "));
}

#[test]
fn a_load_warns_if_too_few_requests_are_left_and_is_refused_if_none_are_left() {
    let mut test = LoadFixture::with_cached(StoredReport { last_load_requests: Some(5), ..StoredReport::default() });
    test.respond(50, true);
    test.set_requests_left(3);
    test.press("a");
    assert!(test.question().ends_with("That is more than is left: loading stops after 3 and can continue later."));
    test.press("y");
    assert_eq!(test.loads().last().map(|plan| plan.max_requests), Some(3));
    test.end_load(week(), Some(report(week(), 750, 3, false, now())), LoadEndReason::RequestLimit, 3);
    test.press("␛");
    test.set_requests_left(0);
    test.press("a");
    assert!(test.app.dialogs.is_empty(), "nothing to confirm");
    let text = "No analytics requests are left this hour; the next one is possible after 12:22. Trends and \
                ranges that are already loaded can still be shown.";
    assert_eq!(test.notice(), text);
    assert_eq!(test.loads().len(), 1);
}

#[test]
fn budgets_are_updated_even_if_the_timer_fires_after_the_limit_was_reset() {
    let mut test = LoadFixture::with_a_response();
    test.set_requests_left(0);
    let resets_at = now() + TimeDelta::minutes(22);
    let late = resets_at + TimeDelta::milliseconds(300);
    assert!(test.app.next_timer(resets_at - TimeDelta::milliseconds(300)).is_some_and(|at| at <= resets_at));
    assert_eq!(test.app.next_timer(late), Some(late));
    assert!(test.app.update(Msg::Timer, late).contains(&Effect::ReportBudgets));
    assert!(test.app.next_timer(late).is_none_or(|at| at > late), "once");
}

#[test]
fn a_load_stopped_with_a_or_esc_can_continue_later() {
    for stop in ["a", "␛"] {
        let mut test = LoadFixture::with_a_response();
        test.press("ay");
        test.send_progress(week(), 2);
        test.press(stop);
        test.press(stop);
        let stops =
            test.effects.iter().filter(|effect| **effect == Effect::Views(ViewsEffect::StopLoading(week()))).count();
        assert_eq!(stops, 1, "after {stop}");
        test.end_load(week(), Some(report(week(), 500, 2, false, now())), LoadEndReason::Stopped, 2);
        assert_eq!(test.listed_report(), Some((week(), 500, false)));
        assert_eq!(test.notice(), "Stopped after 500 rows (62% of the views); press a to resume.");
        test.press("a");
        assert!(
            test.question().contains("continuing after 500 rows? Uses about 2 analytics requests (63 left this hour)"),
            "{}",
            test.question()
        );
        test.press("y");
        assert_eq!(
            test.loads().last(),
            Some(&LoadPlan {
                range: week(),
                from_start: false,
                max_requests: REQUESTS_PER_CONFIRMATION,
                stop_at_percent: None
            })
        );
    }
}

#[test]
fn a_load_that_fails_keeps_its_rows_and_can_continue() {
    let mut test = LoadFixture::with_a_response();
    test.press("ay");
    let failure = Failure::new(
        FailureKind::Limited(Wait { until: now() + TimeDelta::minutes(10), is_estimate: false }),
        "429. Try again in 10 min.",
    );
    test.end_load(week(), Some(report(week(), 250, 1, false, now())), LoadEndReason::Failed(failure.clone()), 1);
    assert_eq!(test.notice(), "429. Try again after 12:10: press a to resume.");
    assert_eq!(test.listed_report(), Some((week(), 250, false)));
    assert_eq!(test.app.views.all_pages.failure_of(week()), Some(&failure));
}

#[test]
fn an_old_complete_report_stays_listed_if_its_reload_is_interrupted() {
    let mut test = LoadFixture::with_cached(complete_report(week(), now() - TimeDelta::hours(3)));
    test.press("r");
    assert!(
        test.question().contains("Uses at least 1 analytics request, last time 3 (63 left this hour)."),
        "{}",
        test.question()
    );
    test.press("y");
    assert_eq!(
        test.loads(),
        [LoadPlan { range: week(), from_start: true, max_requests: REQUESTS_PER_CONFIRMATION, stop_at_percent: None }]
    );
    test.send_progress(week(), 1);
    // The store still has the old complete report.
    let old = complete_report(week(), now() - TimeDelta::hours(3)).report;
    test.end_load(week(), old, LoadEndReason::Stopped, 1);
    assert_eq!(
        test.listed_report(),
        Some((week(), 600, true)),
        "an old complete report is better than a new partial one"
    );
    assert_eq!(test.app.views.all_pages.rows_of_interrupted_load(week()), Some(250));
    test.press("ay");
    assert_eq!(test.loads().last().map(|plan| plan.from_start), Some(false), "a continues what r started");
}

#[test]
fn a_fresh_complete_report_is_not_loaded_again() {
    let mut test = LoadFixture::with_cached(complete_report(week(), now()));
    test.press("a");
    assert!(test.app.dialogs.is_empty() && test.loads().is_empty());
    assert!(test.notice().contains("r reloads them"));
}

#[test]
fn a_load_continues_while_another_range_is_shown() {
    let mut test = LoadFixture::with_a_response();
    test.press("ay[");
    test.read_cache(week_before(), StoredReport::default());
    test.respond(50, true);
    test.send_progress(week(), 2);
    test.end_load(week(), Some(report(week(), 600, 3, true, now())), LoadEndReason::Complete, 3);
    assert_eq!(test.listed_report(), None, "another range is shown now");
    assert_eq!(test.notice(), "All pages of 14–20 Nov 2026 are loaded: 600 rows.");
    assert_eq!(test.app.views.query().range, week_before());
}

#[test]
fn a_late_response_does_not_replace_a_complete_report() {
    let mut test = LoadFixture::with_a_response();
    test.press("ayl");
    assert!(test.app.views.load().is_loading(), "the next page of rows is requested");
    test.end_load(week(), Some(report(week(), 600, 3, true, now())), LoadEndReason::Complete, 3);
    test.respond(50, true);
    assert_eq!(test.listed_report(), Some((week(), 600, true)));
    assert!(!test.app.views.load().is_loading());
}

#[test]
fn ctrl_c_quits_while_a_load_is_stopping() {
    let mut test = LoadFixture::with_a_response();
    test.press("ay");
    assert!(test.app.has_something_to_close());
    test.press("␛");
    assert!(!test.app.has_something_to_close(), "Ctrl-C quits now");
}

#[test]
fn several_ranges_are_confirmed_together_and_loaded_one_after_the_other() {
    let mut test = LoadFixture::with_a_response();
    let mut effects = Vec::new();
    let far = range("2026-10-01", "2026-10-07");
    test.app.ask_to_load(vec![week(), week_before(), far], now(), &mut effects);
    assert_eq!(
        effects,
        [
            Effect::Views(ViewsEffect::LoadCachedReport(week_before())),
            Effect::Views(ViewsEffect::LoadCachedReport(far))
        ],
        "the cache is read first"
    );
    test.read_cache(week_before(), StoredReport { last_load_requests: Some(2), ..StoredReport::default() });
    assert!(test.app.dialogs.is_empty());
    test.read_cache(far, complete_report(far, now()));
    assert!(test.question().starts_with("Load all pages of 14–20 Nov 2026 and 7–13 Nov 2026? Uses about 6"));
    test.press("y");
    assert_eq!(test.loads().iter().map(|plan| plan.range).collect::<Vec<_>>(), [week()]);
    test.end_load(week(), Some(report(week(), 600, 3, true, now())), LoadEndReason::Complete, 3);
    let loads = test.loads();
    let second = loads.get(1).expect("the second");
    assert_eq!(
        (second.range, second.max_requests),
        (week_before(), REQUESTS_PER_CONFIRMATION - 3),
        "one allowance for both"
    );
    test.end_load(week_before(), Some(report(week_before(), 300, 2, true, now())), LoadEndReason::Complete, 2);
    assert_eq!(test.loads().len(), 2);
    assert!(!test.app.views.all_pages.is_busy());
}

#[test]
fn complete_and_fresh_ranges_need_no_confirmation() {
    let mut test = LoadFixture::with_a_response();
    let far = range("2026-10-01", "2026-10-07");
    let mut effects = Vec::new();
    test.app.ask_to_load(vec![far], now(), &mut effects);
    test.read_cache(far, complete_report(far, now()));
    assert!(test.app.dialogs.is_empty() && test.loads().is_empty());
    assert_eq!(test.notice(), "Everything is loaded already.");
}

#[test]
fn a_failure_cancels_the_queued_loads() {
    let mut test = LoadFixture::with_a_response();
    let mut effects = Vec::new();
    test.app.ask_to_load(vec![week(), week_before()], now(), &mut effects);
    test.read_cache(week_before(), StoredReport::default());
    test.press("y");
    test.end_load(week(), None, LoadEndReason::Failed(Failure::new(FailureKind::Offline, "No network.")), 0);
    assert_eq!((test.loads().len(), test.notice()), (1, "No network."));
    assert!(!test.app.views.all_pages.is_busy());
}

#[test]
fn a_comparison_of_cached_ranges_is_free_and_pressing_c_again_ends_it() {
    let mut test = LoadFixture::with_cached(complete_report(week(), now()));
    test.press("c");
    let read: Vec<&Effect> = test.effects.iter().rev().take(2).collect();
    assert_eq!(
        read,
        [
            &Effect::Views(ViewsEffect::LoadCachedReport(previous_complete_days())),
            &Effect::Views(ViewsEffect::LoadCachedReport(complete_days()))
        ]
    );
    test.read_cache(complete_days(), complete_report(complete_days(), now()));
    test.read_cache(previous_complete_days(), complete_report(previous_complete_days(), now()));
    assert!(test.app.views.is_comparing() && !test.has_requested_anything());
    let ranges = ComparedRanges { current: complete_days(), previous: previous_complete_days() };
    assert_eq!(test.site_change(), Some((ranges, true)));
    assert_eq!(test.listed_report(), Some((week(), 600, true)), "the table has the range's own numbers");
    test.press("c");
    assert!(!test.app.views.is_comparing());
    assert_eq!(test.listed_report(), Some((week(), 600, true)));
}

#[test]
fn a_comparison_shows_the_cost_of_missing_ranges_and_can_be_declined() {
    let mut test = LoadFixture::with_a_response();
    let unread = |test: &mut LoadFixture| {
        test.press("c");
        test.read_cache(complete_days(), StoredReport::default());
        test.read_cache(previous_complete_days(), StoredReport::default());
    };
    unread(&mut test);
    let start = "Comparing needs all pages. Load all pages of 14–20 Nov 2026, 14–19 Nov 2026 and 7–12 Nov 2026?";
    assert!(test.question().starts_with(start), "{}", test.question());
    test.press("n");
    assert!(test.app.views.all_pages.comparison.is_none() && test.loads().is_empty());
    unread(&mut test);
    test.press("y");
    test.end_load(week(), Some(report(week(), 600, 3, true, now())), LoadEndReason::Complete, 3);
    test.end_load(complete_days(), Some(report(complete_days(), 500, 2, true, now())), LoadEndReason::Complete, 2);
    assert!(!test.app.views.is_comparing(), "the other one is not loaded yet");
    assert_eq!(test.listed_report(), Some((week(), 600, true)));
    test.end_load(
        previous_complete_days(),
        Some(report(previous_complete_days(), 400, 2, true, now())),
        LoadEndReason::Complete,
        2,
    );
    assert!(test.app.views.is_comparing());
}

#[test]
fn days_that_were_loaded_before_they_ended_have_to_be_reloaded() {
    let mut test = LoadFixture::with_cached(complete_report(week(), now()));
    test.press("c");
    test.read_cache(complete_days(), complete_report(complete_days(), now()));
    test.read_cache(
        previous_complete_days(),
        complete_report(previous_complete_days(), "2026-11-12T10:00:00Z".parse().expect("a time")),
    );
    assert!(test.question().contains("7–12 Nov 2026?"), "{}", test.question());
    test.press("n");
    assert!(!test.app.views.is_comparing());
}

#[test]
fn a_range_that_is_only_today_has_no_complete_day_to_compare() {
    let today = range("2026-11-20", "2026-11-20");
    let mut test = LoadFixture::with_cached(complete_report(week(), now()));
    test.press("D2026-11-20");
    test.send(Msg::Input(Event::Key(KeyCode::Enter.into())));
    test.read_cache(today, complete_report(today, now()));
    let asked = test.effects.len();
    test.press("c");
    assert_eq!(
        test.notice(),
        "Only complete days can be compared, and today isn't over. Choose a range with earlier days."
    );
    assert_eq!(test.effects.len(), asked);
}

#[test]
fn a_month_is_compared_per_day_with_the_previous_month() {
    let mut test = LoadFixture::with_cached(complete_report(week(), now()));
    let [october, september] = [range("2026-10-01", "2026-10-31"), range("2026-09-01", "2026-09-30")];
    test.press("D2026-10");
    test.send(Msg::Input(Event::Key(KeyCode::Enter.into())));
    test.read_cache(october, complete_report(october, now()));
    test.press("c");
    test.read_cache(september, complete_report(september, now()));
    let ranges = ComparedRanges { current: october, previous: september };
    assert_eq!(test.site_change(), Some((ranges, true)));
    assert_eq!(ranges.per_day_text().as_deref(), Some("views per day, 31 vs 30 days"));
    test.press("[");
    assert_eq!(test.app.views.query().range, september);
}

#[test]
fn this_month_is_compared_with_the_same_days_of_the_previous_month() {
    let mut test = LoadFixture::with_cached(complete_report(week(), now()));
    let month = range("2026-11-01", "2026-11-20");
    test.press("D2026-11");
    test.send(Msg::Input(Event::Key(KeyCode::Enter.into())));
    test.read_cache(month, complete_report(month, now()));
    test.press("c");
    let (days, previous) = (range("2026-11-01", "2026-11-19"), range("2026-10-01", "2026-10-19"));
    test.read_cache(days, complete_report(days, now()));
    test.read_cache(previous, complete_report(previous, now()));
    assert_eq!(test.site_change(), Some((ComparedRanges { current: days, previous }, true)));
}

#[test]
fn after_midnight_the_comparison_keeps_its_days_until_a_reload() {
    let mut test = LoadFixture::with_cached(complete_report(week(), now()));
    test.press("D2026-11-14 2026-11-20");
    test.send(Msg::Input(Event::Key(KeyCode::Enter.into())));
    test.compare();
    let tomorrow: Time = "2026-11-21T00:10:00Z".parse().expect("a time");
    let change = test.app.views.site_change(tomorrow).expect("a comparison");
    assert_eq!(change.ranges, ComparedRanges { current: complete_days(), previous: previous_complete_days() });
    let effects = test.app.update(Msg::Input(Event::Key(KeyCode::Char('r').into())), tomorrow);
    assert!(
        effects.contains(&Effect::Views(ViewsEffect::LoadCachedReport(week_before()))),
        "all seven days are over now: {effects:?}"
    );
}

#[test]
fn after_a_change_of_range_the_comparison_continues_if_both_ranges_are_cached() {
    let mut test = LoadFixture::with_cached(complete_report(week(), now()));
    test.compare();
    test.press("[");
    test.read_cache(week_before(), complete_report(week_before(), now()));
    let far = range("2026-10-31", "2026-11-06");
    assert!(test.effects.contains(&Effect::Views(ViewsEffect::LoadCachedReport(far))));
    test.read_cache(far, complete_report(far, now()));
    assert_eq!(test.site_change(), Some((ComparedRanges { current: week_before(), previous: far }, true)));
    test.press("[");
    test.read_cache(far, complete_report(far, now()));
    let farther = range("2026-10-24", "2026-10-30");
    test.read_cache(farther, StoredReport::default());
    assert!(!test.app.views.is_comparing());
    assert_eq!(test.listed_report(), Some((far, 600, true)));
    assert!(test.notice().starts_with("Comparison ended"), "{}", test.notice());
    assert!(!test.has_requested_anything(), "nothing was requested");
}

#[test]
fn a_range_cannot_be_compared_with_itself() {
    let mut test = LoadFixture::with_cached(complete_report(week(), now()));
    let mut effects = Vec::new();
    test.app.compare_with(week(), now(), &mut effects);
    assert!(effects.is_empty() && test.app.views.all_pages.comparison.is_none());
}

#[test]
fn site_totals_are_compared_once_the_totals_of_the_complete_days_are_cached() {
    let mut test = LoadFixture::with_a_response();
    let asked = test.effects.iter().find_map(|effect| match effect {
        Effect::Views(ViewsEffect::LoadCachedTotals(ranges)) => Some(ranges.clone()),
        _ => None,
    });
    let asked = asked.expect("totals are read");
    assert!([complete_days(), previous_complete_days()].iter().all(|range| asked.contains(range)), "{asked:?}");
    let cached = |range: DateRange, views: i64, at: &str| {
        let totals = Timed { value: counts(views), as_of: at.parse().expect("a time") };
        Msg::Views(ViewsMsg::CachedTotalsLoaded(Ok(vec![(range, totals)])))
    };
    test.send(cached(previous_complete_days(), 800, "2026-11-13T00:00:01Z"));
    assert_eq!(test.site_change(), None, "this week's complete days are unknown");
    test.send(cached(complete_days(), 900, "2026-11-19T23:00:00Z"));
    assert_eq!(test.site_change(), None, "the last day was not over");
    // Caches the totals of each day, as the trend does.
    for day in 14..20 {
        let day = range(&format!("2026-11-{day}"), &format!("2026-11-{day}"));
        test.send(cached(day, 150, "2026-11-20T00:00:01Z"));
    }
    let change = test.app.views.site_change(now()).expect("both are known");
    assert_eq!(change.ranges, ComparedRanges { current: complete_days(), previous: previous_complete_days() });
    assert_eq!((change.compares_pages, change.current.total), (false, Count::Known(900)));
}

#[test]
fn movers_need_a_comparison() {
    let mut test = LoadFixture::with_cached(complete_report(week(), now()));
    test.press("w");
    assert!(test.notice().contains("c compares"));
    test.compare();
    test.press("w");
    assert!(test.app.top::<Movers>().is_some());
    let by = |test: &LoadFixture| test.app.top::<Movers>().expect("the movers").metric;
    assert_eq!(by(&test), MoverMetric::Total, "the pages are sorted by it");
    test.press("m");
    assert_eq!(by(&test), MoverMetric::Human);
}

#[test]
fn a_key_that_needs_all_pages_asks_and_goes_on_once_they_are_loaded() {
    let mut test = LoadFixture::with_a_response();
    test.press("/");
    assert!(test.question().starts_with("Filtering needs all pages. Load all pages of"), "{}", test.question());
    test.press("y");
    test.end_load(week(), Some(report(week(), 600, 3, true, now())), LoadEndReason::Complete, 3);
    assert!(test.app.top::<FilterInput>().is_some());
}

#[test]
fn the_trend_shows_cached_days_and_the_cost_of_the_missing_days() {
    let mut test = LoadFixture::with_a_response();
    test.press("t");
    let Some(Effect::Views(ViewsEffect::LoadCachedTotals(asked))) = test.effects.last() else {
        panic!("a read of the cache")
    };
    assert_eq!(asked.len(), 14, "seven days, and the seven days of the previous period");
    let day = |n: u32| range(&format!("2026-11-{n}"), &format!("2026-11-{n}"));
    let known = [14, 15].map(|n| (day(n), Timed { value: counts(9), as_of: now() }));
    test.send(Msg::Views(ViewsMsg::CachedTotalsLoaded(Ok(known.to_vec()))));
    test.press("a");
    let text = "Load 5 of 7 days (not loaded or outdated)? Uses 5 requests (63 left this hour), newest day first.";
    assert_eq!(test.question(), text);
    test.press("y");
    let newest_first: Vec<DateRange> = (16..=20).rev().map(day).collect();
    assert_eq!(test.effects.last(), Some(&Effect::Views(ViewsEffect::LoadTotals(newest_first))));
    test.press("a");
    assert!(test.app.dialogs.len() == 1 && test.notice().contains("Already"), "requested once");
    test.send(Msg::Engine(EngineEvent::Totals { range: day(20), totals: Timed { value: counts(4), as_of: now() } }));
    assert_eq!(test.app.views.totals.pending_count(), 4);
    test.send(Msg::Views(ViewsMsg::TotalsLoadEnded(Err(Failure::new(FailureKind::Offline, "No network.")))));
    assert_eq!(test.notice(), "No network. Press a to load the rest.");
    test.press("a");
    assert!(test.question().starts_with("Load 4 of 7 days ("), "{}", test.question());
}

#[test]
fn a_trend_that_needs_more_requests_than_are_left_offers_the_newest_days() {
    let mut test = LoadFixture::with_a_response();
    test.set_requests_left(3);
    test.press("ta");
    let text = "7 of 7 days are not loaded or outdated, but only 3 requests are left this hour. Load the newest 3?";
    assert_eq!(test.question(), text);
    test.press("y");
    let Some(Effect::Views(ViewsEffect::LoadTotals(asked))) = test.effects.last() else { panic!("three requests") };
    assert_eq!(asked.len(), 3);
}

proptest! {
    /// Presses keys in any order and answers every read of the cache. Checks that everything that costs more than one
    /// request was confirmed, and that no load starts while another one is running.
    #[test]
    fn nothing_is_requested_without_a_confirmation(
        keys in prop::collection::vec(prop::sample::select("aayyycctrn[]dw␛␛12e".chars().collect::<Vec<_>>()), 1..60),
        ends in prop::collection::vec(0_u8..6, 60),
    ) {
        let mut test = LoadFixture::with_a_response();
        let mut ends = ends.into_iter();
        let mut running: Option<LoadPlan> = None;
        for key in keys {
            let was_asked = test.app.top::<ConfirmDialog>().is_some();
            let seen = test.effects.len();
            test.press(&key.to_string());
            let mut at = seen;
            while let Some(effect) = test.effects.get(at).cloned() {
                at += 1;
                match effect {
                    Effect::Views(ViewsEffect::LoadCachedReport(range)) => {
                        // Only ranges of seven days are cached.
                        let is_cached = range.days() == 7;
                        let cached =
                            if is_cached { complete_report(range, now()) } else { StoredReport::default() };
                        test.read_cache(range, cached);
                    }
                    Effect::Views(ViewsEffect::Load { .. }) => test.respond(50, true),
                    Effect::Views(ViewsEffect::LoadCachedTotals(_)) => test.send(Msg::Views(ViewsMsg::CachedTotalsLoaded(Ok(Vec::new())))),
                    Effect::Views(ViewsEffect::LoadTotals(ranges)) => {
                        prop_assert!(ranges.len() <= 1 || (key == 'y' && was_asked));
                        test.send(Msg::Views(ViewsMsg::TotalsLoadEnded(Ok(()))));
                    }
                    Effect::Views(ViewsEffect::LoadAll(plan)) => {
                        prop_assert!(running.is_none(), "one at a time");
                        prop_assert!(plan.max_requests == 1 || (key == 'y' && was_asked), "{plan:?} by {key}");
                        prop_assert!(plan.max_requests > 0 && plan.max_requests <= REQUESTS_PER_CONFIRMATION);
                        running = Some(plan);
                    }
                    _ => {}
                }
            }
            if let (Some(plan), Some(end)) = (running, ends.next()) {
                let (ended, complete) = match end {
                    0 => (LoadEndReason::Complete, true),
                    1 => (LoadEndReason::Stopped, false),
                    2 => (LoadEndReason::RequestLimit, false),
                    3 => (LoadEndReason::Failed(Failure::new(FailureKind::Offline, "No network.")), false),
                    _ => continue,
                };
                let before = test.loads().len();
                let next_starts = complete;
                test.end_load(plan.range, Some(report(plan.range, 500, 2, complete, now())), ended, 2);
                let loads = test.loads();
                prop_assert!(loads.len() == before || next_starts, "only a complete load is followed by the next");
                running = loads.get(before).copied();
            }
        }
    }
}

#[test]
fn a_filter_that_is_opened_before_the_cache_is_read_needs_no_load_if_the_cache_has_all_pages() {
    let mut test = LoadFixture::before_cache_is_read();
    test.press("/");
    test.read_cache(week(), complete_report(week(), now()));
    assert!(test.app.top::<FilterInput>().is_some() && !test.has_requested_anything());
}

#[test]
fn a_report_that_another_member_loaded_is_listed_and_costs_nothing() {
    let received = |test: &mut LoadFixture, range| {
        let key = ReportKey { kind: ReportKind::PageViews, range };
        test.send(Msg::Engine(EngineEvent::ReportReceived(key)));
    };
    let reads =
        |test: &LoadFixture, range| test.effects.contains(&Effect::Views(ViewsEffect::LoadReceivedReport(range)));
    let mut test = LoadFixture::with_a_response();
    test.effects.clear();
    received(&mut test, range("2026-10-01", "2026-10-07"));
    assert_eq!(test.effects, [], "it is not on screen");
    received(&mut test, week());
    assert!(reads(&test, week()), "{:?}", test.effects);
    test.read_cache(week(), complete_report(week(), now()));
    assert_eq!(test.app.views.rows().len(), 600);
    test.press("a");
    assert!(test.notice().contains("All pages of this range are loaded"), "{}", test.notice());
    assert!(!test.has_requested_anything(), "{:?}", test.effects);
    // While the same range is being loaded, the received report is not read.
    let mut test = LoadFixture::with_cached(interrupted_report(week()));
    test.press("ay");
    test.effects.clear();
    received(&mut test, week());
    assert_eq!(test.effects, []);
    // Before the screen is opened, nothing is read.
    let mut test = LoadFixture::before_cache_is_read();
    test.press("1");
    test.read_cache(week(), StoredReport::default());
    received(&mut test, week_before());
    assert!(!reads(&test, week_before()));
}
