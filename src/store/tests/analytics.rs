//! Tests of the stored reports of visitors, searches, feedback and questions.

use super::reports::{counts, range, week};
use super::*;
use crate::model::analytics::{
    AnalyticsKind, AnalyticsRow, AnswerSource, Cursor, Feedback, FeedbackStatus, PageFeedback, Question,
    ReaderTextRetention, RowsMerge, RowsReport, RowsResponse, Search, StoredRows,
};
use crate::model::period::DateRange;
use crate::model::report::CachedRange;
use crate::model::team::{ReportKey, ReportKind, ReportRules, ReportSummary, SharedReport};
use crate::model::views::{Count, Counts, PageRow};
use crate::store::{AnalyticsPruneFilter, PrunedAnalyticsCounts, ReportMergeResult, ResponsePosition, salvage};
use crate::store::{open as opening, schema};

fn response<R>(rows: Vec<R>, next: Option<&str>) -> RowsResponse<R> {
    RowsResponse { rows, totals: counts(7, 1), next: next.and_then(Cursor::new), has_unavailable_rows: false }
}

/// Returns the position of a response in a report whose load was started at second 10.
fn position(number: u32, seconds: i64) -> ResponsePosition {
    ResponsePosition { range: week(), number, as_of: at(seconds), started_at: at(10), should_replace_unfinished: false }
}

fn search(query: &str) -> Search {
    Search { query: line(query), hits: Count::Known(3), ..Search::default() }
}

fn comment(id: &str, text: &str) -> Feedback {
    let text = Some(CleanText::block(text));
    Feedback { id: line(id), path: line("/a"), comment: text, status: FeedbackStatus::Pending, ..Feedback::default() }
}

impl Store {
    async fn save_part<R: AnalyticsRow>(&self, response: &RowsResponse<R>, position: ResponsePosition) -> bool {
        self.save_rows_response(&scope(), response, position).await.expect("written")
    }

    async fn stored_rows<R: AnalyticsRow>(&self) -> StoredRows<R> {
        self.rows_report(&scope(), week()).await.expect("read")
    }

    /// Stores a complete report of one row.
    async fn save_one_row<R: AnalyticsRow>(&self, range: DateRange, row: R, seconds: i64) {
        let position = ResponsePosition { range, started_at: at(seconds), ..position(1, seconds) };
        assert!(self.save_part(&response(vec![row], None), position).await);
    }

    async fn prune_other_reports(&self, filter: AnalyticsPruneFilter) -> u32 {
        let planned = self.plan_prune_analytics(filter.clone()).await.expect("read").counts;
        let counts = self.prune_analytics(filter).await.expect("pruned").counts;
        assert_eq!(counts, planned);
        assert_eq!(
            counts,
            PrunedAnalyticsCounts { other_reports: counts.other_reports, ..PrunedAnalyticsCounts::default() }
        );
        counts.other_reports
    }
}

/// Asserts that a report of two responses with these rows is read as it was written.
async fn assert_round_trip<R: AnalyticsRow>(rows: Vec<R>) {
    let store = memory_store();
    let (first, last) = (
        response(rows, Some("01J \"x\" ü")),
        RowsResponse { has_unavailable_rows: true, ..response(Vec::new(), None) },
    );
    assert!(store.save_part(&first, position(1, 10)).await);
    let mut merge = RowsMerge::start(week(), first, at(10));
    assert_eq!(store.stored_rows::<R>().await.report.as_deref(), Some(merge.report()), "unfinished");
    assert!(store.save_part(&last, position(2, 20)).await);
    merge.add_response(last, at(20));
    assert_eq!(store.stored_rows::<R>().await.report.as_deref(), Some(merge.report()), "complete");
}

#[tokio::test]
async fn ranges_are_listed_with_their_cached_reports() {
    let store = memory_store();
    let before = week().step(-1).expect("a week");
    store.save_one_row(week(), comment("c", "text"), 20).await;
    store.save_one_row(week(), search("a"), 30).await;
    store.save_one_row(week(), PageRow { path: line("/a"), counts: counts(1, 1) }, 10).await;
    store.save_one_row(before, PageRow { path: line("/a"), counts: counts(1, 1) }, 10).await;
    let cached = store.cached_ranges(&scope()).await.expect("read");
    let reports = vec![AnalyticsKind::Searches, AnalyticsKind::Feedback];
    assert_eq!(cached.ranges, [CachedRange { range: week(), as_of: at(20), views: None, reports }]);
}

#[tokio::test]
async fn rows_of_every_kind_are_read_as_they_were_written() {
    let odd = Counts::new(Count::Other(line("12.5x")), Count::Missing, Count::Known(-3));
    let page = |path: &str, counts| PageRow { path: line(path), counts };
    assert_round_trip(vec![page("/a", counts(i64::MAX, 0)), page("/b ü\"", odd), page("", Counts::default())]).await;
    let rate = Count::from_f64(0.25).expect("a count");
    let clicked =
        Search { click_rate: rate, top_page: Some(line("/sso")), last_searched_at: Some(at(5)), ..search("b") };
    assert_round_trip(vec![search("a"), clicked, Search::default()]).await;
    let code = Feedback {
        code: Some(CleanText::block("let x = 1;\n\tx")),
        filename: Some(line("a.rs")),
        lang: Some(line("rust")),
        helpful: Some(false),
        source: Some(line("code_snippet")),
        created_at: Some(at(1)),
        status: FeedbackStatus::Other(line("escalated")),
        ..Feedback::default()
    };
    assert_round_trip(vec![comment("f1", "Two\nlines \u{202e}\x1b[31m"), code]).await;
    let votes = PageFeedback { path: line("/a"), thumbs_down: Count::Known(2), ..PageFeedback::default() };
    assert_round_trip(vec![votes, PageFeedback::default()]).await;
    let question = Question {
        id: line("q1"),
        asked_at: Some(at(3)),
        query: line("How?"),
        response: CleanText::block("So:\n\n1. like\n2. this"),
        sources: vec![AnswerSource { title: line("SSO"), url: line("https://docs.acme.dev/sso") }],
        is_answered: Some(true),
        category: Some(line("auth")),
        page: Some(line("/sso")),
        is_clarifying: true,
    };
    assert_round_trip(vec![question, Question::default()]).await;
}

#[tokio::test]
async fn an_interrupted_load_is_continued_and_replaces_the_complete_report_when_it_ends() {
    let store = memory_store();
    assert_eq!(store.stored_rows::<Search>().await, StoredRows::default());
    store.save_one_row(week(), search("old"), 1).await;
    assert!(store.save_part(&response(vec![search("a"), search("b")], Some("x")), position(1, 10)).await);
    let stored = store.stored_rows::<Search>().await;
    assert_eq!(stored.report.map(|report| report.rows.clone()), Some(vec![search("old")]));
    assert_eq!((stored.responses_before_interruption, stored.last_load_requests), (Some(1), Some(1)));
    let unfinished = store.unfinished_rows::<Search>(&scope(), week()).await.expect("read").expect("a report");
    assert_eq!((unfinished.started_at, unfinished.report.next), (at(10), Cursor::new("x")));
    assert!(store.save_part(&response(vec![search("b"), search("c")], None), position(2, 20)).await);
    let stored = store.stored_rows::<Search>().await;
    let report = stored.report.expect("a report");
    assert_eq!(report.rows, [search("a"), search("b"), search("c")]);
    assert_eq!((report.duplicates, report.responses, report.as_of), (1, 2, at(10)));
    assert_eq!((stored.responses_before_interruption, stored.last_load_requests), (None, Some(2)));
    assert_eq!((store.count_rows("analytics_report").await, store.count_rows("analytics_answer").await), (1, 2));
}

#[tokio::test]
async fn a_response_of_another_load_is_not_mixed_into_the_report() {
    let store = memory_store();
    let next = |rows: &[&str]| response(rows.iter().map(|query| search(query)).collect(), Some("x"));
    assert!(!store.save_part(&next(&["b"]), position(2, 20)).await, "there is nothing to continue");
    assert!(store.save_part(&next(&["a"]), position(1, 10)).await);
    assert!(!store.save_part(&next(&["b"]), position(1, 10)).await, "another instance has begun");
    assert!(!store.save_part(&next(&["b"]), position(3, 20)).await, "an answer is missing");
    assert!(store.save_part(&next(&["b"]), position(2, 20)).await);
    assert!(!store.save_part(&next(&["c"]), position(2, 20)).await, "it is already stored");
    let restarted = ResponsePosition { started_at: at(30), should_replace_unfinished: true, ..position(1, 30) };
    assert!(store.save_part(&next(&["d"]), restarted).await);
    assert!(!store.save_part(&next(&["b"]), position(2, 40)).await, "the load was started again");
    let report = store.stored_rows::<Search>().await.report.expect("a report");
    assert_eq!((report.rows.as_slice(), report.as_of), ([search("d")].as_slice(), at(30)));
}

#[tokio::test]
async fn profiles_with_the_same_project_share_reports_but_kinds_and_ranges_have_separate_ones() {
    let store = memory_store();
    store.save_one_row(week(), search("a"), 1).await;
    let other_profile = Scope { organization: Some("acme".to_owned()), ..scope() };
    assert!(store.rows_report::<Search>(&other_profile, week()).await.expect("read").report.is_some());
    let other_project = Scope { project: "blog".to_owned(), ..scope() };
    assert!(store.rows_report::<Search>(&other_project, week()).await.expect("read").report.is_none());
    let october = range("2026-10-01", "2026-10-31");
    assert!(store.rows_report::<Search>(&scope(), october).await.expect("read").report.is_none());
    assert!(store.stored_rows::<Question>().await.report.is_none());
}

#[tokio::test]
async fn a_report_that_was_edited_by_others_counts_as_not_stored_and_can_be_replaced() {
    for edit in [
        "UPDATE analytics_answer SET rows = '{'",
        "UPDATE analytics_answer SET rows = '[{\"searchQuery\": 5}]'",
        "UPDATE analytics_answer SET rows = '[[[[]]]]'",
        "UPDATE analytics_answer SET rows = '[]'",
        "UPDATE analytics_answer SET number = 3 WHERE number = 2",
        "DELETE FROM analytics_answer WHERE number = 1",
        "UPDATE analytics_report SET answers = -1",
        "UPDATE analytics_report SET row_count = 9223372036854775807",
        "UPDATE analytics_report SET as_of = 9223372036854775807",
        "UPDATE analytics_report SET started_at = -9223372036854775807",
        "UPDATE analytics_report SET next_cursor = ''",
        "UPDATE analytics_report SET next_cursor = hex(zeroblob(2000))",
        "UPDATE analytics_report SET next_cursor = iif(complete, 'x', NULL)",
    ] {
        let store = memory_store();
        assert!(store.save_part(&response(vec![search("a")], Some("x")), position(1, 10)).await);
        assert!(store.save_part(&response(vec![search("b")], None), position(2, 20)).await);
        assert!(store.save_part(&response(vec![search("c")], Some("x")), position(1, 30)).await);
        assert!(
            store
                .save_part(
                    &response(vec![search("d")], Some("y")),
                    ResponsePosition { started_at: at(10), ..position(2, 40) }
                )
                .await
        );
        assert_eq!(store.stored_rows::<Search>().await.responses_before_interruption, Some(2));
        store.with_connection(move |db| db.execute_batch(edit).expect(edit)).await;
        assert_eq!(store.stored_rows::<Search>().await, StoredRows::default(), "{edit}");
        assert_eq!(store.unfinished_rows::<Search>(&scope(), week()).await.expect("read"), None, "{edit}");
        store.save_one_row(week(), search("new"), 50).await;
        let report = store.stored_rows::<Search>().await.report.expect(edit);
        assert_eq!((report.rows.as_slice(), report.as_of), ([search("new")].as_slice(), at(50)), "{edit}");
        assert_eq!(store.count_rows("analytics_answer").await, 1, "{edit}");
    }
}

#[tokio::test]
async fn text_in_an_edited_file_is_cleaned_and_unreadable_totals_count_as_missing() {
    let store = memory_store();
    store.save_one_row(week(), search("a"), 1).await;
    let edit = "UPDATE analytics_answer SET rows = '[{\"searchQuery\": \"a\\u001b[31m\\u202eb\", \"unknown\": [1]}]';
         UPDATE analytics_report SET totals = '[1, {}]'";
    store.with_connection(move |db| db.execute_batch(edit).expect("edited")).await;
    let report = store.stored_rows::<Search>().await.report.expect("a report");
    assert!(report.rows.iter().all(|row| !row.query.as_str().contains(['\u{1b}', '\u{202e}'])), "{report:?}");
    assert_eq!(report.totals, Counts::default());
}

fn days_later(days: i64) -> Time {
    at(days * 86_400)
}

#[tokio::test]
async fn only_texts_of_readers_expire_and_no_trace_of_them_stays_in_the_file() {
    let folder = tempdir().expect("a folder");
    let store = open(folder.path());
    store.save_one_row(week(), search("a"), 0).await;
    store.save_one_row(week(), Question { id: line("q1"), ..Question::default() }, 0).await;
    let secret = "my door code is 4711 ".repeat(500);
    store.save_one_row(week(), comment("f1", &secret), 0).await;
    let days = ReaderTextRetention::default();
    assert_eq!(store.delete_expired_reader_texts(days, days_later(30)).await.expect("nothing to do"), 0);
    assert_eq!(store.delete_expired_reader_texts(days, days_later(31)).await.expect("deleted"), 2);
    assert!(
        store.stored_rows::<Feedback>().await.report.is_none()
            && store.stored_rows::<Question>().await.report.is_none()
    );
    assert!(store.stored_rows::<Search>().await.report.is_some());
    // A report from the future was loaded with a wrong clock, so its age is unknown.
    store.save_one_row(week(), comment("f1", &secret), 10 * 86_400).await;
    assert_eq!(store.delete_expired_reader_texts(days, days_later(1)).await.expect("deleted"), 1);
    store.save_one_row(week(), comment("f1", &secret), 0).await;
    assert_eq!(store.delete_expired_reader_texts(ReaderTextRetention(0), at(1)).await.expect("deleted"), 1);
    // Inserting and deleting rows of different sizes moves texts from page to page.
    for n in 0..60_i64 {
        let day =
            DateRange::day("2026-09-01".parse::<chrono::NaiveDate>().expect("a day") + chrono::TimeDelta::days(n));
        let times = usize::try_from(n * 7 % 40 + 1).expect("small");
        store.save_one_row(day, comment("f1", &"my door code is 4711 ".repeat(times)), 0).await;
        store.save_one_row(day, search(&"a search ".repeat(times)), 0).await;
        store.save_one_row(day, Question { query: line("my door code is 4711"), ..Question::default() }, 0).await;
    }
    assert_eq!(store.delete_expired_reader_texts(ReaderTextRetention(0), at(1)).await.expect("deleted"), 120);
    store.close().await;
    let bytes = std::fs::read(folder.path().join("docdeck.db")).expect("bytes");
    let found = bytes.windows(9).filter(|window| window == b"door code").count();
    assert_eq!(found, 0, "a deleted text is still in the file");
}

#[tokio::test]
async fn received_texts_of_readers_expire_by_the_shorter_setting_of_both_members() {
    let store = memory_store();
    store.join_team(&scope(), "docs").await.expect("joined");
    let receive = async |seconds: i64, days: i64| {
        let key = ReportKey { kind: ReportKind::Rows(AnalyticsKind::Feedback), range: week() };
        let report = SharedReport::new(key, at(seconds), &ReportSummary::default(), &[comment("f1", "x")]);
        let report = SharedReport { expires_at: Some(days_later(days)), ..report.expect("small") };
        let rules = ReportRules { now: at(99), reader_text_days: ReaderTextRetention::default() };
        store.merge_team_reports(&scope(), vec![report], rules).await.expect("stored")[0].1
    };
    let delete =
        async |now| store.delete_expired_reader_texts(ReaderTextRetention::default(), now).await.expect("deleted");
    let prune = async |now| {
        let expired = Some(now);
        let filter =
            AnalyticsPruneFilter { team_reader_texts_expired_before: expired, ..AnalyticsPruneFilter::default() };
        store.prune_other_reports(filter).await
    };
    assert_eq!(receive(0, 7).await, ReportMergeResult::New);
    assert_eq!((delete(days_later(7) - chrono::TimeDelta::seconds(1)).await, delete(days_later(7)).await), (0, 1));
    // A report that was deleted is not received again.
    assert_eq!(receive(0, 7).await, ReportMergeResult::Skipped);
    assert_eq!(receive(1, 7).await, ReportMergeResult::New);
    assert_eq!((prune(days_later(7)).await, prune(days_later(8)).await), (0, 1));
    // An expired report is not received. A report that this computer has loaded expires only by its own setting.
    assert_eq!(receive(2, 0).await, ReportMergeResult::Skipped);
    store.save_one_row(week(), comment("f1", "x"), 3).await;
    assert_eq!((delete(days_later(8)).await, prune(days_later(8)).await), (0, 0));
    // If this computer loads the report itself, the received time of expiry no longer applies.
    assert_eq!(receive(4, 7).await, ReportMergeResult::New);
    store.save_one_row(week(), comment("f1", "x"), 5).await;
    assert_eq!(delete(days_later(8)).await, 0);
}

#[tokio::test]
async fn texts_of_readers_that_were_loaded_before_they_were_shared_are_not_sent() {
    let sharing = schema::MIGRATIONS.iter().position(|sql| sql.contains("ADD COLUMN expires_at")).expect("a migration");
    let mut db = rusqlite::Connection::open_in_memory().expect("a database");
    db.execute_batch(&schema::MIGRATIONS[..sharing].concat()).expect("created");
    db.execute_batch(&format!(
        "INSERT INTO scope (id, base_url, project) VALUES (1, '{}', '{}');
         INSERT INTO team (scope, organization, member) VALUES (1, 'docs', 'm');
         INSERT INTO analytics_report
         SELECT column1, 1, column2, '2026-11-01', '2026-11-02', 1, 1, 1, 0, {}, '', NULL, 0
         FROM (VALUES (1, 'feedback'), (2, 'searches'));
         INSERT INTO analytics_answer SELECT id, 1, '[{{}}]' FROM analytics_report;
         PRAGMA user_version = {sharing}",
        scope().base_url,
        scope().project,
        at(5).timestamp_millis(),
    ))
    .expect("filled");
    schema::migrate(&mut db).expect("migrated");
    let store = Store::start(db, false, None).expect("a store");
    let rules = ReportRules { now: at(99), reader_text_days: ReaderTextRetention::default() };
    for _ in 0..2 {
        let unsent = store.next_unsent_team_reports(&scope(), rules).await.expect("read");
        assert_eq!(unsent.iter().map(|report| report.key.kind.name()).collect::<Vec<_>>(), ["searches"]);
        // As if the team's database had been restored from an older copy.
        store.reset_team_exchange(&scope()).await.expect("restarted");
    }
}

#[tokio::test]
async fn other_reports_are_pruned_by_the_rules_of_page_views_and_expired_texts_are_deleted() {
    let store = memory_store();
    let fill = async || {
        for (n, seconds) in [(1, 10), (2, 20), (3, 30)] {
            let day = DateRange::day(format!("2026-11-0{n}").parse().expect("a day"));
            store.save_one_row(day, search("a"), seconds).await;
            store.save_one_row(day, comment("f", "x"), seconds).await;
        }
    };
    let none = AnalyticsPruneFilter::default();
    fill().await;
    assert_eq!(store.prune_other_reports(none.clone()).await, 0);
    let expired = AnalyticsPruneFilter { reader_texts_before: Some(at(20)), ..none.clone() };
    assert_eq!(store.prune_other_reports(expired).await, 1, "the feedback of one range");
    assert_eq!(store.prune_other_reports(AnalyticsPruneFilter { before: Some(at(20)), ..none.clone() }).await, 1);
    assert_eq!(
        store.prune_other_reports(AnalyticsPruneFilter { keep_newest_ranges: Some(1), ..none.clone() }).await,
        2
    );
    assert_eq!(store.prune_other_reports(AnalyticsPruneFilter { should_delete_all: true, ..none }).await, 2);
    assert_eq!(store.count_rows("analytics_answer").await, 0);
}

#[tokio::test]
async fn reports_are_recovered_from_a_damaged_file_if_all_of_their_responses_are() {
    let folder = tempdir().expect("a folder");
    let store = open(folder.path());
    let rows: Vec<Search> = (0..500).map(|n| search(&format!("query {n} {}", "words ".repeat(20)))).collect();
    assert!(store.save_part(&response(rows, Some("x")), position(1, 10)).await);
    assert!(store.save_part(&response(vec![search("b")], None), position(2, 20)).await);
    store.save_one_row(week(), comment("f", "x"), 5).await;
    let expected = store.stored_rows::<Search>().await;
    store
        .with_connection(|db| db.execute_batch("DELETE FROM analytics_answer WHERE report = 2").expect("damaged"))
        .await;
    store.close().await;
    let found = salvage::salvage_tables(&folder.path().join("docdeck.db")).expect("read");
    let mut db = opening::in_memory().expect("a store");
    salvage::write_recovered_rows(&mut db, &found, at(99)).expect("written");
    schema::check_readable(&db, true).expect("sound");
    let store = Store::start(db, false, None).expect("a store");
    assert_eq!(store.stored_rows::<Search>().await, expected);
    assert_eq!(store.stored_rows::<Feedback>().await, StoredRows::default());
    let report: &RowsReport<Search> = expected.report.as_deref().expect("a report");
    assert_eq!((report.rows.len(), report.responses), (501, 2));
}
