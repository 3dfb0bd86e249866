//! The tabs of the analytics screen other than page views.

use crate::screen_fixture::{ScreenFixture, counts, now};
use crate::{LARGE, SMALL, WIDE, snapshots};
use chrono::TimeDelta;
use docdeck::model::analytics::{
    AnalyticsRow, AnswerSource, Cursor, Feedback, FeedbackStatus, PageFeedback, Question, RowsMerge, RowsReport,
    RowsResponse, Search,
};
use docdeck::model::comparison::ComparedRanges;
use docdeck::model::period::{DateRange, Period};
use docdeck::model::report::Report;
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts, PageRow, ViewsResponse};
use docdeck::tui::{AnalyticsMsg, Msg, RowsMsg};
use std::sync::Arc;

fn line(text: &str) -> CleanText {
    CleanText::line(text)
}

fn report<R: AnalyticsRow>(range: DateRange, rows: Vec<R>, next: Option<&str>) -> Arc<RowsReport<R>> {
    let totals = Counts { total: Count::Known(833), ..Counts::default() };
    let response = RowsResponse { rows, totals, next: next.and_then(Cursor::new), has_unavailable_rows: false };
    Arc::new(RowsMerge::start(range, response, now()).into_report())
}

fn loaded<R: AnalyticsRow>(range: DateRange, rows: Vec<R>, next: Option<&str>) -> RowsMsg<R> {
    RowsMsg::Cached { range, report: Some(report(range, rows, next)), is_fresh: true }
}

fn search(query: &str, hits: i64, rate: f64, page: Option<&str>) -> Search {
    Search {
        query: line(query),
        hits: Count::Known(hits),
        click_rate: Count::from_f64(rate).expect("a count"),
        top_page: page.map(line),
        last_searched_at: Some(now() - TimeDelta::hours(hits % 30)),
    }
}

fn searches() -> Vec<Search> {
    let mut rows = vec![
        search("quickstart", 107, 0.4485, Some("/quickstart")),
        search("preview deployments", 57, 0.0, None),
        search("クイックスタート", 40, 0.55, Some("/ja/クイックスタート")),
        search("how do I rotate the keys of a service account without downtime", 39, 0.02, Some("/guides/api-keys")),
        search("sso", 27, 0.67, Some("/guides/deploying/to-your-own-cluster/with-a-custom-certificate-authority")),
    ];
    rows.extend((1..=40).map(|n| search(&format!("endpoint {n}"), 20 / n + 1, 0.3, Some("/api"))));
    rows
}

fn feedback(id: usize, path: &str, comment: Option<&str>, helpful: Option<bool>, status: FeedbackStatus) -> Feedback {
    Feedback {
        id: line(&id.to_string()),
        path: line(path),
        comment: comment.map(CleanText::block),
        created_at: Some(now() - TimeDelta::hours(id.try_into().expect("small"))),
        source: Some(line("contextual")),
        status,
        helpful,
        ..Feedback::default()
    }
}

fn comments() -> Vec<Feedback> {
    vec![
        feedback(
            1,
            "/guides/sso",
            Some("Which port does the proxy need?\nIt is not in the table."),
            Some(false),
            FeedbackStatus::Pending,
        ),
        feedback(2, "/pricing", None, Some(false), FeedbackStatus::InProgress),
        feedback(5, "/quickstart", Some("Exactly what I needed."), Some(true), FeedbackStatus::Resolved),
        Feedback {
            filename: Some(line("create-job.py")),
            lang: Some(line("python")),
            code: Some(CleanText::block("client.jobs.create(prompt)")),
            ..feedback(
                30,
                "/api/create-job",
                Some("The method is called new now."),
                None,
                FeedbackStatus::Other(line("escalated")),
            )
        },
    ]
}

fn votes() -> Vec<PageFeedback> {
    let row = |path: &str, up, down| PageFeedback {
        path: line(path),
        thumbs_up: Count::Known(up),
        thumbs_down: Count::Known(down),
        code: Count::Known(1),
        total: Count::Known(up + down + 1),
    };
    vec![row("/pricing", 7, 5), row("/guides/sso", 0, 12), row("/quickstart", 30, 2), row("/api", 1, 0)]
}

fn question(id: &str, query: &str, page: &str, is_answered: Option<bool>) -> Question {
    Question {
        id: line(id),
        asked_at: Some(now() - TimeDelta::minutes(53)),
        query: line(query),
        response: CleanText::block("The table lists 443 and 8443.\n\nAsk support about other ports."),
        is_clarifying: false,
        sources: vec![AnswerSource { title: line("SSO"), url: line("/guides/sso") }],
        is_answered,
        category: Some(line("how-to")),
        page: Some(line(page)),
    }
}

fn questions() -> Vec<Question> {
    vec![
        question("1", "How do I contact support?", "/quickstart", Some(true)),
        question("2", "Which port does the proxy need?", "https://docs.acme.dev/guides/sso#ports", Some(false)),
        question("3", "Is there a Helm chart?", "/guides/deploying/aws", None),
    ]
}

/// Opens the tab that is this many to the right of the page views.
fn open(fixture: &mut ScreenFixture, tab: usize) -> DateRange {
    fixture.load_jobs();
    fixture.load_views(50, true);
    (0..tab).for_each(|_| fixture.press_keys("Tab"));
    fixture.app.views.query().range
}

fn analytics(fixture: &mut ScreenFixture, msg: AnalyticsMsg) {
    fixture.handle(Msg::Analytics(msg));
}

/// Shows the pages that need work.
pub(crate) fn load_signals(fixture: &mut ScreenFixture, with_questions: bool) {
    let range = open(fixture, 4);
    analytics(fixture, AnalyticsMsg::Searches(loaded(range, searches(), None)));
    analytics(fixture, AnalyticsMsg::Feedback(loaded(range, comments(), None)));
    analytics(fixture, AnalyticsMsg::FeedbackByPage(loaded(range, votes(), None)));
    let questions = match with_questions {
        true => loaded(range, questions(), None),
        false => RowsMsg::Cached { range, report: None, is_fresh: false },
    };
    analytics(fixture, AnalyticsMsg::Questions(questions));
    let views = |range, factor: i64| {
        let row = |path: &str, human: i64| PageRow { path: line(path), counts: counts(human * factor, human) };
        let rows = vec![row("/quickstart", 940), row("/guides/sso", 350), row("/pricing", 210), row("/api", 90)];
        let page = ViewsResponse { totals: counts(9_000, 4_000), rows, has_more: Some(false) };
        Some(Arc::new(Report::from_first_response(range, page, true, now())))
    };
    let compared =
        ComparedRanges::with_previous(range, Period::from_range(range), now().date_naive()).expect("complete days");
    for (range, factor) in [(range, 2), (compared.current, 2), (compared.previous, 3)] {
        analytics(fixture, AnalyticsMsg::CachedViews(views(range, factor)));
    }
}

#[test]
fn searches_of_a_range() {
    snapshots("searches", &[SMALL, LARGE], &["quickstart", "45%"], |fixture| {
        let range = open(fixture, 1);
        analytics(fixture, AnalyticsMsg::Searches(loaded(range, searches(), Some("more"))));
    });
}

#[test]
fn searches_compared_with_the_previous_period() {
    snapshots("searches_compared", &[], &["quickstart"], |fixture| {
        let range = open(fixture, 1);
        analytics(fixture, AnalyticsMsg::Searches(loaded(range, searches(), None)));
        fixture.press_keys("c");
        analytics(fixture, AnalyticsMsg::Searches(loaded(range.first_days(6), searches(), None)));
        let previous = range.step(-1).expect("a range").first_days(6);
        let rows = vec![search("quickstart", 80, 0.5, Some("/quickstart")), search("old topic", 66, 0.1, Some("/api"))];
        analytics(fixture, AnalyticsMsg::Searches(loaded(previous, rows, None)));
    });
}

#[test]
fn searches_before_the_first_response() {
    snapshots("searches_loading", &[], &["Loading…"], |fixture| {
        open(fixture, 1);
    });
}

#[test]
fn searches_with_a_filter_that_nothing_passes() {
    snapshots("searches_filtered", &[], &["No matches."], |fixture| {
        let range = open(fixture, 1);
        analytics(fixture, AnalyticsMsg::Searches(loaded(range, searches(), None)));
        fixture.press_keys("/ h i t s > 9 0 0 Enter");
    });
}

#[test]
fn feedback_comment_by_comment() {
    snapshots("feedback", &[SMALL], &["comment"], |fixture| {
        let range = open(fixture, 2);
        analytics(fixture, AnalyticsMsg::Feedback(loaded(range, comments(), None)));
        fixture.press_keys("v");
    });
}

#[test]
fn feedback_counted_by_page() {
    snapshots("feedback_by_page", &[], &["/guides/sso"], |fixture| {
        let range = open(fixture, 2);
        fixture.press_keys("z");
        analytics(fixture, AnalyticsMsg::FeedbackByPage(loaded(range, votes(), None)));
    });
}

#[test]
fn questions_with_unanswered_ones_first() {
    snapshots("questions", &[SMALL, LARGE], &["unanswered"], |fixture| {
        let range = open(fixture, 3);
        analytics(fixture, AnalyticsMsg::Questions(loaded(range, questions(), None)));
    });
}

#[test]
fn questions_by_page() {
    snapshots("questions_by_page", &[], &["unanswered", "questions"], |fixture| {
        let range = open(fixture, 3);
        analytics(fixture, AnalyticsMsg::Questions(loaded(range, questions(), None)));
        fixture.press_keys("z");
    });
}

#[test]
fn a_question_with_its_answer() {
    snapshots("question_detail", &[], &["Status"], |fixture| {
        let range = open(fixture, 3);
        analytics(fixture, AnalyticsMsg::Questions(loaded(range, questions(), None)));
        fixture.press_keys("Enter");
    });
}

#[test]
fn pages_that_need_work() {
    snapshots("needs_work", &[SMALL, WIDE, LARGE], &["/guides/sso"], |fixture| load_signals(fixture, true));
}

#[test]
fn pages_that_need_work_with_a_report_that_is_not_loaded() {
    snapshots("needs_work_partial", &[], &["press a to load questions"], |fixture| load_signals(fixture, false));
}

#[test]
fn pages_that_need_work_before_anything_is_loaded() {
    snapshots("needs_work_empty", &[], &["Nothing is loaded for this range."], |fixture| {
        let range = open(fixture, 4);
        analytics(fixture, AnalyticsMsg::FeedbackByPage(RowsMsg::Cached { range, report: None, is_fresh: false }));
        analytics(fixture, AnalyticsMsg::Feedback(RowsMsg::Cached { range, report: None, is_fresh: false }));
        analytics(fixture, AnalyticsMsg::Questions(RowsMsg::Cached { range, report: None, is_fresh: false }));
        analytics(fixture, AnalyticsMsg::Searches(RowsMsg::Cached { range, report: None, is_fresh: false }));
    });
}

#[test]
fn a_job_about_a_page_that_needs_work() {
    snapshots("needs_work_job", &[], &["Evidence about /guides/sso"], |fixture| {
        load_signals(fixture, true);
        fixture.press_keys("n Esc");
    });
}
