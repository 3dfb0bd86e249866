//! Loading all pages and comparing, told by messages.

use super::*;
use crate::app::Msg;
use crate::app::msg::AppConfig;
use crate::model::comparison::ComparedRanges;
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::FailureKind;
use crate::model::ledger::{Budget, RateLimited, Wait};
use crate::model::load::Timed;
use crate::model::report::SimilarRange;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, PageRow, ViewsPage};
use chrono::{FixedOffset, TimeDelta};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;

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

/// The days of this week that are over, and those of the week before that correspond to them.
fn complete_days() -> DateRange {
    range("2026-11-14", "2026-11-19")
}

fn days_before() -> DateRange {
    range("2026-11-07", "2026-11-12")
}

fn counts(human: i64) -> Counts {
    Counts { human: Count::Known(human), ai: Count::Known(0), total: Count::Known(human) }
}

fn page(rows: usize, has_more: bool) -> ViewsPage {
    let row = |n: usize| PageRow { path: CleanText::line(&format!("/{n}")), counts: counts(1) };
    ViewsPage { totals: counts(1000), rows: (0..rows).map(row).collect(), has_more: Some(has_more) }
}

fn report(range: DateRange, rows: usize, answers: u32, complete: bool, as_of: Time) -> Arc<Report> {
    Arc::new(Report { answers, ..Report::begin(range, page(rows, !complete), complete, as_of) })
}

fn whole(range: DateRange, as_of: Time) -> Recalled {
    let report = report(range, 600, 3, true, as_of);
    Recalled { last_time: Some(report.answers), report: Some(report), ..Recalled::default() }
}

fn broken_off(range: DateRange) -> Recalled {
    let report = report(range, 1000, 4, false, now());
    Recalled { report: Some(report), broken_off: Some(4), last_time: Some(5), ..Recalled::default() }
}

/// The state machine on its views screen, with what it asked for.
struct LoadFixture {
    app: App,
    asked: Vec<Effect>,
}

impl LoadFixture {
    /// Looks at the views of this week; what is known of it is told.
    fn looking(known: Recalled) -> Self {
        let scope =
            Scope { base_url: "https://api.example.com".to_owned(), project: "acme".to_owned(), organization: None };
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let start = AppConfig { size: (120, 40), ..AppConfig::new(scope, utc) };
        let mut seat = Self { app: App::new(start, now()).0, asked: Vec::new() };
        seat.left(63);
        seat.keys("2");
        assert_eq!(seat.asked.last(), Some(&Effect::LoadCached(week())), "the record comes first");
        assert!(!seat.asks_the_service());
        seat.recall(week(), known);
        seat
    }

    /// As [`LoadFixture::looking`], with one answer of 50 rows and more behind it.
    fn with_an_answer() -> Self {
        let mut seat = Self::looking(Recalled::default());
        seat.answer(50, true);
        seat
    }

    fn tell(&mut self, msg: Msg) {
        self.asked.extend(self.app.update(msg, now()));
    }

    fn keys(&mut self, keys: &str) {
        for key in keys.chars() {
            let code = if key == '␛' { KeyCode::Esc } else { KeyCode::Char(key) };
            self.tell(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))));
        }
    }

    fn recall(&mut self, range: DateRange, known: Recalled) {
        self.tell(Msg::CachedReport { range, recalled: Ok(known) });
    }

    fn answer(&mut self, rows: usize, has_more: bool) {
        let answer = Timed { value: page(rows, has_more), as_of: now() };
        self.tell(Msg::Views { query: self.app.views.query(), result: Ok(answer), old: None });
    }

    fn left(&mut self, left: u32) {
        let resets_at = Some(now() + TimeDelta::minutes(22));
        let budget = Budget { used: 100 - left, limit: 100, resets_at, blocked: None };
        self.tell(Msg::News(EngineEvent::Budget(RateLimited::Views, budget)));
    }

    fn progress(&mut self, range: DateRange, answers: u32) {
        let rows = answers as usize * 250;
        let progress = LoadProgress { range, rows, answers, requests: answers, share: Some(0.62), is_complete: false };
        self.tell(Msg::News(EngineEvent::Loading(progress)));
    }

    fn end(&mut self, range: DateRange, report: Option<Arc<Report>>, ended: LoadEnded, requests: u32) {
        self.tell(Msg::LoadEnded { range, end: LoadOutcome { report, ended, requests } });
    }

    /// Compares this week, of which all pages are listed, with the one before; all pages are cached.
    fn compare(&mut self) {
        self.keys("c");
        self.recall(complete_days(), whole(complete_days(), now()));
        self.recall(days_before(), whole(days_before(), now()));
    }

    fn site_change(&self) -> Option<(ComparedRanges, bool)> {
        self.app.views.site_change(now()).map(|change| (change.ranges, change.by_page))
    }

    fn question(&self) -> &str {
        match self.app.dialogs.last() {
            Some(Dialog::Question(question)) => &question.text,
            other => panic!("a question, not {other:?}"),
        }
    }

    fn said(&self) -> &str {
        self.app.notice.as_ref().map_or("", |notice| notice.text.as_str())
    }

    fn asks_the_service(&self) -> bool {
        self.asked
            .iter()
            .any(|effect| matches!(effect, Effect::LoadViews { .. } | Effect::LoadAll(_) | Effect::LoadTotals(_)))
    }

    /// Orders to load so far.
    fn orders(&self) -> Vec<LoadPlan> {
        let order = |effect: &Effect| match effect {
            Effect::LoadAll(order) => Some(*order),
            _ => None,
        };
        self.asked.iter().filter_map(order).collect()
    }

    fn listed(&self) -> Option<(DateRange, usize, bool)> {
        self.app.views.table.report().map(|report| (report.range, report.rows.len(), report.complete))
    }
}

#[test]
fn a_whole_report_is_listed_however_old_and_nothing_is_asked_for() {
    let old = now() - TimeDelta::days(2);
    let seat = LoadFixture::looking(whole(week(), old));
    assert_eq!(seat.listed(), Some((week(), 600, true)));
    assert!(!seat.asks_the_service(), "{:?}", seat.asked);
    assert_eq!(seat.app.views.as_of(), Some(old));
}

#[test]
fn a_range_of_which_nothing_whole_is_known_costs_one_answer() {
    let seat = LoadFixture::looking(broken_off(week()));
    let asked: Vec<&Effect> = seat.asked.iter().filter(|effect| matches!(effect, Effect::LoadViews { .. })).collect();
    assert_eq!(asked.len(), 1);
    assert_eq!(seat.app.views.all.broken_off(week()), Some(1000));
}

#[test]
fn what_a_broken_off_load_took_in_is_listed_when_not_even_one_answer_comes() {
    let mut seat = LoadFixture::looking(broken_off(week()));
    let failure = Failure::new(FailureKind::Offline, "No network.");
    seat.tell(Msg::Views { query: seat.app.views.query(), result: Err(failure), old: None });
    assert_eq!(seat.listed(), Some((week(), 1000, false)));
}

#[test]
fn the_price_is_said_first_and_what_was_agreed_to_is_asked_for_once() {
    let mut seat = LoadFixture::with_an_answer();
    seat.keys("a");
    assert!(seat.orders().is_empty());
    assert!(seat.question().starts_with("Load all pages of 2026-11-14 … 2026-11-20? About 4 requests, "));
    seat.keys("n");
    assert!(seat.orders().is_empty(), "no is no");
    seat.keys("ay");
    assert_eq!(seat.orders(), [LoadPlan { range: week(), afresh: false, at_most: AT_A_GO, until: None }]);
    seat.keys("ayay");
    assert_eq!(seat.orders().len(), 1, "a key more stops, it never begins a second one");
}

#[test]
fn a_fresh_first_answer_at_the_largest_size_is_free_and_asking_again_says_so() {
    let mut seat = LoadFixture::looking(Recalled::default());
    seat.app.views.query.limit = crate::model::views::LIMIT_MAX;
    seat.answer(250, true);
    let order = LoadPlan { range: week(), afresh: false, at_most: AT_A_GO, until: None };
    let question = seat.app.price_question(&[order], now());
    assert!(question.contains("About 3 requests, estimated from the first 250 rows"), "{question}");
    let later = seat.app.price_question(&[order], now() + TimeDelta::minutes(6));
    assert!(later.contains("About 4 requests,"), "{later}");
    seat.recall(week(), whole(week(), now()));
    let again = seat.app.price_question(&[LoadPlan { afresh: true, ..order }], now());
    assert!(again.starts_with("Load all pages of 2026-11-14 … 2026-11-20 again? "), "{again}");
    seat.app.connection = crate::model::connection::Connection::Offline {
        reason: CleanText::line("no network"),
        next_try: Some(now() + TimeDelta::seconds(12)),
    };
    assert!(seat.app.price_question(&[order], now()).starts_with("Offline now: "));
}

#[test]
fn a_limit_that_is_told_of_wakes_the_screen_each_second_of_its_last_minute_and_at_its_end() {
    let mut seat = LoadFixture::looking(Recalled::default());
    seat.tell(Msg::News(EngineEvent::Budget(
        RateLimited::Views,
        Budget { used: 1, limit: 100, resets_at: None, blocked: None },
    )));
    let until = now() + TimeDelta::minutes(5);
    let failure = Failure::new(FailureKind::Limited(Wait { until, is_estimate: false }), "the limit is used up");
    seat.tell(Msg::Views { query: seat.app.views.query(), result: Err(failure), old: None });
    seat.app.notice = None;
    assert_eq!(seat.app.next_timer(now()), Some(until - TimeDelta::seconds(59)));
    let late = until - TimeDelta::seconds(30);
    assert_eq!(seat.app.next_timer(late), Some(late + TimeDelta::seconds(1)));
    assert_eq!(seat.app.next_timer(until - TimeDelta::milliseconds(400)), Some(until));
    assert_eq!(seat.app.next_timer(until), None);
}

#[test]
fn the_price_counts_rows_that_are_proven_and_tells_of_the_last_time() {
    let mut seat = LoadFixture::looking(Recalled { last_time: Some(5), ..Recalled::default() });
    seat.tell(Msg::Views {
        query: seat.app.views.query(),
        result: Ok(Timed { value: page(50, true), as_of: now() }),
        old: None,
    });
    for _ in 0..5 {
        seat.app.views.turn_page(true);
        seat.answer(50, true);
    }
    seat.keys("a");
    let text = "Load all pages of 2026-11-14 … 2026-11-20? At least 2 requests, last time 5, 63 left here.";
    assert_eq!(seat.question(), text, "301 rows at least");
}

#[test]
fn an_unknown_number_of_rows_is_estimated_and_the_question_says_from_what() {
    let mut seat = LoadFixture::with_an_answer();
    seat.keys("a");
    let text = "Load all pages of 2026-11-14 … 2026-11-20? About 4 requests, estimated from the first 50 rows (5% of the \
                views), 63 left here.";
    assert_eq!(seat.question(), text);
    let similar = SimilarRange { range: week_before(), rows: 1_099 };
    let mut seat = LoadFixture::looking(Recalled { similar: Some(similar), ..Recalled::default() });
    seat.answer(50, true);
    seat.keys("a");
    let text = "Load all pages of 2026-11-14 … 2026-11-20? About 5 requests, estimated from the 1,099 pages of \
                2026-11-07 … 2026-11-13, 63 left here.";
    assert_eq!(seat.question(), text);
    let mut seat = LoadFixture::looking(Recalled::default());
    seat.answer(2, true);
    seat.keys("a");
    let text = "Load all pages of 2026-11-14 … 2026-11-20? At least 1 request, 63 left here.";
    assert_eq!(seat.question(), text, "two rows say nothing");
}

#[test]
fn each_range_that_nothing_is_known_of_is_expected_to_cost_as_much_as_the_others() {
    let seat = LoadFixture::with_an_answer();
    let order = |range| LoadPlan { range, afresh: false, at_most: AT_A_GO, until: None };
    let of = |ranges: &[DateRange]| {
        let orders: Vec<LoadPlan> = ranges.iter().copied().map(order).collect();
        seat.app.price_question(&orders, now())
    };
    let far = range("2026-10-01", "2026-10-07");
    assert!(of(&[week()]).contains("? About 4 requests, "), "{}", of(&[week()]));
    assert!(of(&[week(), week_before()]).contains("? About 8 requests, "));
    assert!(of(&[week(), week_before(), far]).contains("? About 12 requests, "));
    assert!(of(&[week_before(), far]).contains("? At least 2 requests, "), "{}", of(&[week_before(), far]));
}

#[test]
fn a_load_offers_to_stop_at_95_and_at_99_percent_and_goes_on_by_itself() {
    let mut seat = LoadFixture::with_an_answer();
    seat.keys("ay");
    let at = |seat: &mut LoadFixture, answers: u32, share: f64, is_complete: bool| {
        seat.app.notice = None;
        let rows = answers as usize * 250;
        let progress =
            LoadProgress { range: week(), rows, answers, requests: answers, share: Some(share), is_complete };
        seat.tell(Msg::News(EngineEvent::Loading(progress)));
        seat.app.notice.as_ref().map(|notice| notice.text.to_string())
    };
    assert_eq!(at(&mut seat, 1, 0.949, false), None);
    let offer = "95% of all views are loaded; the rest takes about 2 more requests. Esc stops here.";
    assert_eq!(at(&mut seat, 2, 0.95, false).as_deref(), Some(offer));
    assert_eq!(at(&mut seat, 3, 0.97, false), None, "once");
    let offer = "99% of all views are loaded; the rest takes more requests. Esc stops here.";
    assert_eq!(at(&mut seat, 9, 0.995, false).as_deref(), Some(offer), "the estimate was too low");
    assert_eq!(at(&mut seat, 10, 0.999, false), None);
    assert!(seat.app.views.all.can_stop() && seat.orders().len() == 1, "it goes on");
    seat.keys("␛");
    assert!(!seat.app.views.all.can_stop());
    seat.end(week(), Some(report(week(), 2_500, 10, false, now())), LoadEnded::Stopped, 10);
    assert!(seat.said().starts_with("Stopped after 2,500 rows (99% of the views), which are kept"), "{}", seat.said());
    // The last answer needs no offer.
    let mut seat = LoadFixture::with_an_answer();
    seat.keys("ay");
    assert_eq!(at(&mut seat, 1, 1.0, true), None);
}

#[test]
fn what_is_provably_one_request_is_not_asked_about() {
    let mut seat = LoadFixture::looking(Recalled::default());
    seat.answer(50, false);
    seat.keys("a");
    assert_eq!(seat.orders(), [LoadPlan { range: week(), afresh: false, at_most: 1, until: None }]);
    seat.progress(week(), 1);
    // The data grew meanwhile: even then nothing more is asked for by itself.
    seat.end(week(), Some(report(week(), 250, 1, false, now())), LoadEnded::AtMost, 1);
    assert_eq!(seat.orders().len(), 1);
    assert!(seat.question().starts_with("250 rows, 62% of the views, by 1 request so far. There is more."));
    seat.keys("y");
    assert_eq!(seat.orders().len(), 2);
}

#[test]
fn a_go_ends_at_its_limit_and_asks_again_with_what_it_brought() {
    let mut seat = LoadFixture::with_an_answer();
    seat.keys("ay");
    seat.progress(week(), 20);
    seat.left(43);
    seat.end(week(), Some(report(week(), 5000, 20, false, now())), LoadEnded::AtMost, 20);
    let text = "5,000 rows, 62% of the views, by 20 requests so far. There is more. Go on loading all pages of \
                2026-11-14 … 2026-11-20? At most 20 more, 43 left here.";
    assert_eq!(seat.question(), text);
    seat.keys("n");
    assert_eq!(seat.listed(), Some((week(), 5000, false)), "what came is listed");
    assert_eq!(seat.orders().len(), 1);
    assert_eq!(seat.app.load_all_hint(), "go on loading");
}

#[test]
fn a_question_that_nobody_waits_for_does_not_open_over_what_is_typed() {
    let mut seat = LoadFixture::with_an_answer();
    seat.keys("ay1");
    seat.end(week(), Some(report(week(), 5000, 20, false, now())), LoadEnded::AtMost, 20);
    assert!(seat.app.dialogs.is_empty());
    assert!(seat.said().contains("asked for again, it goes on"));
}

#[test]
fn with_fewer_requests_left_than_it_takes_the_rest_is_offered_and_with_none_a_reason() {
    let mut seat = LoadFixture::looking(Recalled { last_time: Some(5), ..Recalled::default() });
    seat.answer(50, true);
    seat.left(3);
    seat.keys("a");
    assert!(seat.question().ends_with("That is more than is left: it stops after 3 and can go on later."));
    seat.keys("y");
    assert_eq!(seat.orders().last().map(|order| order.at_most), Some(3));
    seat.end(week(), Some(report(week(), 750, 3, false, now())), LoadEnded::AtMost, 3);
    seat.keys("␛");
    seat.left(0);
    seat.keys("a");
    assert!(seat.app.dialogs.is_empty(), "nothing to agree to");
    let text = "No requests for page views are left on this computer this hour; the next is free in 22m. The trend (t), \
                what is kept (H) and every cached range can still be seen.";
    assert_eq!(seat.said(), text);
    assert_eq!(seat.orders().len(), 1);
}

#[test]
fn a_reset_that_passed_while_something_else_happened_still_wakes() {
    let mut seat = LoadFixture::with_an_answer();
    seat.left(0);
    let resets_at = now() + TimeDelta::minutes(22);
    let late = resets_at + TimeDelta::milliseconds(300);
    assert!(seat.app.next_timer(resets_at - TimeDelta::milliseconds(300)).is_some_and(|at| at <= resets_at));
    assert_eq!(seat.app.next_timer(late), Some(late));
    assert!(seat.app.update(Msg::Wake, late).contains(&Effect::ReportBudgets));
    assert!(seat.app.next_timer(late).is_none_or(|at| at > late), "once");
}

#[test]
fn the_same_key_and_esc_stop_a_load_and_it_goes_on_from_there() {
    for stop in ["a", "␛"] {
        let mut seat = LoadFixture::with_an_answer();
        seat.keys("ay");
        seat.progress(week(), 2);
        seat.keys(stop);
        seat.keys(stop);
        let stops = seat.asked.iter().filter(|effect| **effect == Effect::StopLoading(week())).count();
        assert_eq!(stops, 1, "after {stop}");
        seat.end(week(), Some(report(week(), 500, 2, false, now())), LoadEnded::Stopped, 2);
        assert_eq!(seat.listed(), Some((week(), 500, false)));
        assert_eq!(seat.said(), "Stopped after 500 rows (62% of the views), which are kept: a goes on from there.");
        seat.keys("a");
        assert!(
            seat.question().contains("going on after 500 rows? About 2 requests, estimated from the first 500 rows"),
            "{}",
            seat.question()
        );
        seat.keys("y");
        assert_eq!(
            seat.orders().last(),
            Some(&LoadPlan { range: week(), afresh: false, at_most: AT_A_GO, until: None })
        );
    }
}

#[test]
fn a_failure_half_way_says_when_and_keeps_what_came() {
    let mut seat = LoadFixture::with_an_answer();
    seat.keys("ay");
    let failure = Failure::new(
        FailureKind::Limited(Wait { until: now() + TimeDelta::minutes(10), is_estimate: false }),
        "429: in 10 min.",
    );
    seat.end(week(), Some(report(week(), 250, 1, false, now())), LoadEnded::Failed(failure.clone()), 1);
    assert_eq!(seat.said(), "429: in 10 min. a goes on where it stopped.");
    assert_eq!(seat.listed(), Some((week(), 250, false)));
    assert_eq!(seat.app.views.all.trouble(week()), Some(&failure));
}

#[test]
fn a_stale_whole_report_stays_when_asking_anew_is_broken_off() {
    let mut seat = LoadFixture::looking(whole(week(), now() - TimeDelta::hours(3)));
    seat.keys("r");
    assert!(seat.question().contains("At least 1 request, last time 3, 63 left here."), "{}", seat.question());
    seat.keys("y");
    assert_eq!(seat.orders(), [LoadPlan { range: week(), afresh: true, at_most: AT_A_GO, until: None }]);
    seat.progress(week(), 1);
    // The whole one from before is what there is.
    let old = whole(week(), now() - TimeDelta::hours(3)).report;
    seat.end(week(), old, LoadEnded::Stopped, 1);
    assert_eq!(seat.listed(), Some((week(), 600, true)), "old and whole beats new and not whole");
    assert_eq!(seat.app.views.all.broken_off(week()), Some(250));
    seat.keys("ay");
    assert_eq!(seat.orders().last().map(|order| order.afresh), Some(false), "a goes on with what r began");
}

#[test]
fn a_fresh_whole_report_is_not_loaded_again() {
    let mut seat = LoadFixture::looking(whole(week(), now()));
    seat.keys("a");
    assert!(seat.app.dialogs.is_empty() && seat.orders().is_empty());
    assert!(seat.said().contains("r asks for all of them anew"));
}

#[test]
fn a_load_goes_on_behind_another_range_and_another_screen() {
    let mut seat = LoadFixture::with_an_answer();
    seat.keys("ay[");
    seat.recall(week_before(), Recalled::default());
    seat.answer(50, true);
    seat.progress(week(), 2);
    seat.end(week(), Some(report(week(), 600, 3, true, now())), LoadEnded::Complete, 3);
    assert_eq!(seat.listed(), None, "another range is wanted now");
    assert_eq!(seat.said(), "All pages of 2026-11-14 … 2026-11-20 are loaded: 600 rows.");
    assert_eq!(seat.app.views.query().range, week_before());
}

#[test]
fn an_answer_that_comes_after_all_pages_did_does_not_take_their_place() {
    let mut seat = LoadFixture::with_an_answer();
    seat.keys("ayl");
    assert!(seat.app.views.load().is_loading(), "the next page of rows is asked for");
    seat.end(week(), Some(report(week(), 600, 3, true, now())), LoadEnded::Complete, 3);
    seat.answer(50, true);
    assert_eq!(seat.listed(), Some((week(), 600, true)));
    assert!(!seat.app.views.load().is_loading());
}

#[test]
fn a_load_that_is_stopping_is_no_layer_any_more() {
    let mut seat = LoadFixture::with_an_answer();
    seat.keys("ay");
    assert!(seat.app.has_layer());
    seat.keys("␛");
    assert!(!seat.app.has_layer(), "Ctrl-C quits, however long the answer takes");
}

#[test]
fn several_ranges_have_one_price_and_are_loaded_one_after_the_other() {
    let mut seat = LoadFixture::with_an_answer();
    let mut effects = Vec::new();
    let far = range("2026-10-01", "2026-10-07");
    seat.app.ask_to_load(vec![week(), week_before(), far], now(), &mut effects);
    assert_eq!(
        effects,
        [Effect::LoadCached(week_before()), Effect::LoadCached(far)],
        "what is known of them comes first"
    );
    seat.recall(week_before(), Recalled { last_time: Some(2), ..Recalled::default() });
    assert!(seat.app.dialogs.is_empty());
    seat.recall(far, whole(far, now()));
    assert!(
        seat.question()
            .starts_with("Load all pages of 2026-11-14 … 2026-11-20 and of 2026-11-07 … 2026-11-13? About 6")
    );
    seat.keys("y");
    assert_eq!(seat.orders().iter().map(|order| order.range).collect::<Vec<_>>(), [week()]);
    seat.end(week(), Some(report(week(), 600, 3, true, now())), LoadEnded::Complete, 3);
    let orders = seat.orders();
    let second = orders.get(1).expect("the second");
    assert_eq!((second.range, second.at_most), (week_before(), AT_A_GO - 3), "one go for both");
    seat.end(week_before(), Some(report(week_before(), 300, 2, true, now())), LoadEnded::Complete, 2);
    assert_eq!(seat.orders().len(), 2);
    assert!(!seat.app.views.all.is_busy());
}

#[test]
fn ranges_that_are_known_whole_and_fresh_are_not_asked_about() {
    let mut seat = LoadFixture::with_an_answer();
    let far = range("2026-10-01", "2026-10-07");
    let mut effects = Vec::new();
    seat.app.ask_to_load(vec![far], now(), &mut effects);
    seat.recall(far, whole(far, now()));
    assert!(seat.app.dialogs.is_empty() && seat.orders().is_empty());
    assert_eq!(seat.said(), "All of that is known already: nothing to ask for.");
}

#[test]
fn a_failure_ends_the_line() {
    let mut seat = LoadFixture::with_an_answer();
    let mut effects = Vec::new();
    seat.app.ask_to_load(vec![week(), week_before()], now(), &mut effects);
    seat.recall(week_before(), Recalled::default());
    seat.keys("y");
    seat.end(week(), None, LoadEnded::Failed(Failure::new(FailureKind::Offline, "No network.")), 0);
    assert_eq!((seat.orders().len(), seat.said()), (1, "No network."));
    assert!(!seat.app.views.all.is_busy());
}

#[test]
fn a_comparison_of_what_is_cached_costs_nothing_and_the_key_takes_it_back() {
    let mut seat = LoadFixture::looking(whole(week(), now()));
    seat.keys("c");
    let read: Vec<&Effect> = seat.asked.iter().rev().take(2).collect();
    assert_eq!(read, [&Effect::LoadCached(days_before()), &Effect::LoadCached(complete_days())]);
    seat.recall(complete_days(), whole(complete_days(), now()));
    seat.recall(days_before(), whole(days_before(), now()));
    assert!(seat.app.views.is_comparing() && !seat.asks_the_service());
    let ranges = ComparedRanges { now: complete_days(), before: days_before() };
    assert_eq!(seat.site_change(), Some((ranges, true)));
    assert_eq!(seat.listed(), Some((week(), 600, true)), "the table has the range's own numbers");
    seat.keys("c");
    assert!(!seat.app.views.is_comparing());
    assert_eq!(seat.listed(), Some((week(), 600, true)));
}

#[test]
fn a_comparison_asks_one_price_for_what_is_missing_and_no_gives_it_up() {
    let mut seat = LoadFixture::with_an_answer();
    let unread = |seat: &mut LoadFixture| {
        seat.keys("c");
        seat.recall(complete_days(), Recalled::default());
        seat.recall(days_before(), Recalled::default());
    };
    unread(&mut seat);
    let ranges = "of 2026-11-14 … 2026-11-20, of 2026-11-14 … 2026-11-19 and of 2026-11-07 … 2026-11-12?";
    assert!(seat.question().contains(ranges), "{}", seat.question());
    seat.keys("n");
    assert!(seat.app.views.all.comparison.is_none() && seat.orders().is_empty());
    unread(&mut seat);
    seat.keys("y");
    seat.end(week(), Some(report(week(), 600, 3, true, now())), LoadEnded::Complete, 3);
    seat.end(complete_days(), Some(report(complete_days(), 500, 2, true, now())), LoadEnded::Complete, 2);
    assert!(!seat.app.views.is_comparing(), "the other one is still to come");
    assert_eq!(seat.listed(), Some((week(), 600, true)));
    seat.end(days_before(), Some(report(days_before(), 400, 2, true, now())), LoadEnded::Complete, 2);
    assert!(seat.app.views.is_comparing());
}

#[test]
fn days_that_were_loaded_before_they_were_over_are_not_compared_but_asked_for_again() {
    let mut seat = LoadFixture::looking(whole(week(), now()));
    seat.keys("c");
    seat.recall(complete_days(), whole(complete_days(), now()));
    seat.recall(days_before(), whole(days_before(), "2026-11-12T10:00:00Z".parse().expect("a time")));
    assert!(seat.question().contains("2026-11-07 … 2026-11-12?"), "{}", seat.question());
    seat.keys("n");
    assert!(!seat.app.views.is_comparing());
}

#[test]
fn a_range_of_today_alone_has_nothing_to_compare() {
    let today = range("2026-11-20", "2026-11-20");
    let mut seat = LoadFixture::looking(whole(week(), now()));
    seat.keys("D2026-11-20");
    seat.tell(Msg::Input(Event::Key(KeyCode::Enter.into())));
    seat.recall(today, whole(today, now()));
    let asked = seat.asked.len();
    seat.keys("c");
    assert_eq!(
        seat.said(),
        "Only complete days can be compared, and today isn't over. Choose a range with earlier days."
    );
    assert_eq!(seat.asked.len(), asked);
}

#[test]
fn a_month_is_compared_per_day_with_the_month_before_that_the_key_steps_to() {
    let mut seat = LoadFixture::looking(whole(week(), now()));
    let [october, september] = [range("2026-10-01", "2026-10-31"), range("2026-09-01", "2026-09-30")];
    seat.keys("D2026-10");
    seat.tell(Msg::Input(Event::Key(KeyCode::Enter.into())));
    seat.recall(october, whole(october, now()));
    seat.keys("c");
    seat.recall(september, whole(september, now()));
    let ranges = ComparedRanges { now: october, before: september };
    assert_eq!(seat.site_change(), Some((ranges, true)));
    assert_eq!(ranges.per_day_words().as_deref(), Some("per day, 31 vs 30 days"));
    seat.keys("[");
    assert_eq!(seat.app.views.query().range, september);
}

#[test]
fn this_month_is_compared_with_as_many_days_of_the_month_before() {
    let mut seat = LoadFixture::looking(whole(week(), now()));
    let month = range("2026-11-01", "2026-11-20");
    seat.keys("D2026-11");
    seat.tell(Msg::Input(Event::Key(KeyCode::Enter.into())));
    seat.recall(month, whole(month, now()));
    seat.keys("c");
    let (days, before) = (range("2026-11-01", "2026-11-19"), range("2026-10-01", "2026-10-19"));
    seat.recall(days, whole(days, now()));
    seat.recall(before, whole(before, now()));
    assert_eq!(seat.site_change(), Some((ComparedRanges { now: days, before }, true)));
}

#[test]
fn after_midnight_the_comparison_keeps_its_days_until_the_range_is_loaded_anew() {
    let mut seat = LoadFixture::looking(whole(week(), now()));
    seat.keys("D2026-11-14 2026-11-20");
    seat.tell(Msg::Input(Event::Key(KeyCode::Enter.into())));
    seat.compare();
    let tomorrow: Time = "2026-11-21T00:10:00Z".parse().expect("a time");
    let change = seat.app.views.site_change(tomorrow).expect("a comparison");
    assert_eq!(change.ranges, ComparedRanges { now: complete_days(), before: days_before() });
    let effects = seat.app.update(Msg::Input(Event::Key(KeyCode::Char('r').into())), tomorrow);
    assert!(effects.contains(&Effect::LoadCached(week_before())), "all seven days are over now: {effects:?}");
}

#[test]
fn another_range_keeps_comparing_if_both_are_cached_and_explains_if_not() {
    let mut seat = LoadFixture::looking(whole(week(), now()));
    seat.compare();
    seat.keys("[");
    seat.recall(week_before(), whole(week_before(), now()));
    let far = range("2026-10-31", "2026-11-06");
    assert!(seat.asked.contains(&Effect::LoadCached(far)));
    seat.recall(far, whole(far, now()));
    assert_eq!(seat.site_change(), Some((ComparedRanges { now: week_before(), before: far }, true)));
    seat.keys("[");
    seat.recall(far, whole(far, now()));
    let farther = range("2026-10-24", "2026-10-30");
    seat.recall(farther, Recalled::default());
    assert!(!seat.app.views.is_comparing());
    assert_eq!(seat.listed(), Some((far, 600, true)));
    assert!(seat.said().starts_with("No longer compared"), "{}", seat.said());
    assert!(!seat.asks_the_service(), "none of it cost anything");
}

#[test]
fn a_range_is_not_compared_with_itself() {
    let mut seat = LoadFixture::looking(whole(week(), now()));
    let mut effects = Vec::new();
    seat.app.compare_with(week(), now(), &mut effects);
    assert!(effects.is_empty() && seat.app.views.all.comparison.is_none());
}

#[test]
fn the_sites_totals_are_compared_once_those_of_the_complete_days_are_cached() {
    let mut seat = LoadFixture::with_an_answer();
    let asked = seat.asked.iter().find_map(|effect| match effect {
        Effect::RecallTotals(ranges) => Some(ranges.clone()),
        _ => None,
    });
    let asked = asked.expect("totals are read");
    assert!([complete_days(), days_before()].iter().all(|range| asked.contains(range)), "{asked:?}");
    let told = |range: DateRange, views: i64, at: &str| {
        let totals = Timed { value: counts(views), as_of: at.parse().expect("a time") };
        Msg::TotalsRecalled(Ok(vec![(range, totals)]))
    };
    seat.tell(told(days_before(), 800, "2026-11-13T00:00:01Z"));
    assert_eq!(seat.site_change(), None, "nothing is known of this week's complete days");
    seat.tell(told(complete_days(), 900, "2026-11-19T23:00:00Z"));
    assert_eq!(seat.site_change(), None, "the last day was not over");
    // Day by day, as the trend loads them.
    for day in 14..20 {
        let day = range(&format!("2026-11-{day}"), &format!("2026-11-{day}"));
        seat.tell(told(day, 150, "2026-11-20T00:00:01Z"));
    }
    let change = seat.app.views.site_change(now()).expect("both are known");
    assert_eq!(change.ranges, ComparedRanges { now: complete_days(), before: days_before() });
    assert_eq!((change.by_page, change.now.total), (false, Count::Known(900)));
    let today = now().date_naive();
    assert_eq!(change.so_far, Some((today, 100.into())), "1,000 in the week, 900 of them before today");
}

#[test]
fn movers_need_a_comparison() {
    let mut seat = LoadFixture::looking(whole(week(), now()));
    seat.keys("w");
    assert!(seat.said().contains("c compares"));
    seat.compare();
    seat.keys("w");
    assert!(matches!(seat.app.dialogs.last(), Some(Dialog::Movers(_))));
    seat.keys("m");
    let by = match seat.app.dialogs.last() {
        Some(Dialog::Movers(open)) => open.by,
        other => panic!("movers, not {other:?}"),
    };
    assert_eq!(by, crate::app::views::movers::MovedBy::Ai);
}

#[test]
fn the_trend_opens_with_what_is_known_and_says_the_price_of_the_rest() {
    let mut seat = LoadFixture::with_an_answer();
    seat.keys("t");
    let Some(Effect::RecallTotals(asked)) = seat.asked.last() else { panic!("a look into the record") };
    assert_eq!(asked.len(), 13, "seven days, and six before them for the mean");
    let day = |n: u32| range(&format!("2026-11-{n}"), &format!("2026-11-{n}"));
    let known = [14, 15].map(|n| (day(n), Timed { value: counts(9), as_of: now() }));
    seat.tell(Msg::TotalsRecalled(Ok(known.to_vec())));
    seat.keys("a");
    let text = "5 of 7 days are not known or not fresh: 5 requests, 63 left here. Ask for them, the newest first?";
    assert_eq!(seat.question(), text);
    seat.keys("y");
    let newest_first: Vec<DateRange> = (16..=20).rev().map(day).collect();
    assert_eq!(seat.asked.last(), Some(&Effect::LoadTotals(newest_first)));
    seat.keys("a");
    assert!(seat.app.dialogs.len() == 1 && seat.said().contains("already"), "asked for once");
    seat.tell(Msg::News(EngineEvent::Totals { range: day(20), totals: Timed { value: counts(4), as_of: now() } }));
    assert_eq!(seat.app.views.totals.still_to_come(), 4);
    seat.tell(Msg::TotalsLoaded(Err(Failure::new(FailureKind::Offline, "No network."))));
    assert_eq!(seat.said(), "No network. What came is kept; a asks for the rest.");
    seat.keys("a");
    assert!(seat.question().starts_with("4 of 7 days"), "{}", seat.question());
}

#[test]
fn a_trend_that_costs_more_than_is_left_offers_the_newest() {
    let mut seat = LoadFixture::with_an_answer();
    seat.left(3);
    seat.keys("ta");
    let text = "7 of 7 days are not known or not fresh: 7 requests, but only 3 left here. Ask for the newest 3?";
    assert_eq!(seat.question(), text);
    seat.keys("y");
    let Some(Effect::LoadTotals(asked)) = seat.asked.last() else { panic!("three requests") };
    assert_eq!(asked.len(), 3);
}

proptest! {
    /// Keys in any order, each look into the record answered: what costs more than one request was agreed to, no load
    /// begins while another goes on, and the trend asks for nothing twice.
    #[test]
    fn nothing_is_asked_for_that_was_not_agreed_to(
        keys in prop::collection::vec(prop::sample::select("aayyycctrn[]dw␛␛12e".chars().collect::<Vec<_>>()), 1..60),
        ends in prop::collection::vec(0_u8..6, 60),
    ) {
        let mut seat = LoadFixture::with_an_answer();
        let mut ends = ends.into_iter();
        let mut running: Option<LoadPlan> = None;
        for key in keys {
            let was_asked = matches!(seat.app.dialogs.last(), Some(Dialog::Question(_)));
            let seen = seat.asked.len();
            seat.keys(&key.to_string());
            let mut at = seen;
            while let Some(effect) = seat.asked.get(at).cloned() {
                at += 1;
                match effect {
                    Effect::LoadCached(range) => {
                        // Some ranges are known, some are not.
                        let known = if range.days() == 7 { whole(range, now()) } else { Recalled::default() };
                        seat.recall(range, known);
                    }
                    Effect::LoadViews { .. } => seat.answer(50, true),
                    Effect::RecallTotals(_) => seat.tell(Msg::TotalsRecalled(Ok(Vec::new()))),
                    Effect::LoadTotals(ranges) => {
                        prop_assert!(ranges.len() <= 1 || (key == 'y' && was_asked));
                        seat.tell(Msg::TotalsLoaded(Ok(())));
                    }
                    Effect::LoadAll(order) => {
                        prop_assert!(running.is_none(), "one at a time");
                        prop_assert!(order.at_most == 1 || (key == 'y' && was_asked), "{order:?} by {key}");
                        prop_assert!(order.at_most > 0 && order.at_most <= AT_A_GO);
                        running = Some(order);
                    }
                    _ => {}
                }
            }
            if let (Some(order), Some(end)) = (running, ends.next()) {
                let (ended, complete) = match end {
                    0 => (LoadEnded::Complete, true),
                    1 => (LoadEnded::Stopped, false),
                    2 => (LoadEnded::AtMost, false),
                    3 => (LoadEnded::Failed(Failure::new(FailureKind::Offline, "No network.")), false),
                    _ => continue,
                };
                let before = seat.orders().len();
                let goes_on = complete;
                seat.end(order.range, Some(report(order.range, 500, 2, complete, now())), ended, 2);
                let orders = seat.orders();
                prop_assert!(orders.len() == before || goes_on, "only a whole one is followed by the next");
                running = orders.get(before).copied();
            }
        }
    }
}
