use super::*;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::{Report, ReportMerge, StoredReport};
use crate::model::views::{Count, Counts, MAX_PAGE_SIZE, PageRow, ViewsQuery, ViewsResponse};
use crate::store::{ReportResponse, loading, schema};
use proptest::prelude::*;
use std::sync::Arc;

pub(super) fn range(from: &str, to: &str) -> DateRange {
    let day = |text: &str| text.parse().expect("a date");
    DateRange::new(day(from), day(to)).expect("a range")
}

pub(super) fn week() -> DateRange {
    range("2026-11-14", "2026-11-20")
}

pub(super) fn counts(human: i64, ai: i64) -> Counts {
    Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai))
}

pub(super) fn views_response(rows: &[(&str, Counts)], total: i64) -> ViewsResponse {
    let rows = rows.iter().map(|(path, counts)| PageRow { path: line(path), counts: counts.clone() });
    ViewsResponse { totals: counts(total, 0), rows: rows.collect(), has_more: None }
}

pub(super) fn part(number: u32, response: ViewsResponse, is_last: bool, seconds: i64) -> ReportResponse {
    ReportResponse { range: week(), number, response, is_last, as_of: at(seconds), restarted_at: None }
}

impl Store {
    pub(super) async fn add_part(&self, part: ReportResponse) -> bool {
        self.add_report_response(&scope(), part).await.expect("written")
    }

    async fn cached(&self, range: DateRange) -> StoredReport {
        self.cached_report(&scope(), range).await.expect("read")
    }

    pub(super) async fn count_rows(&self, table: &'static str) -> u32 {
        let sql = format!("SELECT count(*) FROM {table}");
        self.with_connection(move |db| db.query_row(&sql, [], |row| row.get(0)).expect("a count")).await
    }
}

#[tokio::test]
async fn responses_are_merged_by_the_rules_of_the_model() {
    let store = memory_store();
    let odd = Counts::new(Count::Other(line("12.5")), Count::Missing, Count::Known(-3));
    let first = views_response(&[("/a", counts(9, 1)), ("/b ü\"", odd.clone()), ("/d", counts(2, 2)), ("", odd)], 30);
    let second = views_response(&[("/d", counts(3, 2)), ("/c", counts(i64::MAX, 0)), ("/c", counts(1, 1))], 31);
    let mut report = Report::from_first_response(week(), first.clone(), false, at(20));
    assert!(store.add_part(part(1, first, false, 20)).await);
    let stored = store.cached(week()).await;
    assert_eq!((stored.report.as_deref(), stored.responses_before_interruption), (Some(&report), Some(1)));
    report.add_response(second.clone(), true, at(10));
    assert!(store.add_part(part(2, second, true, 10)).await);
    let stored = store.cached(week()).await;
    assert_eq!((stored.report.as_deref(), stored.responses_before_interruption), (Some(&report), None));
    assert_eq!((report.duplicates, report.rows.len(), stored.last_load_requests), (2, 5, Some(2)));
}

#[tokio::test]
async fn counts_with_a_fraction_are_stored_without_loss() {
    let store = memory_store();
    let counts = |literals: [&str; 3]| {
        let [human, ai, total] = literals.map(|literal| Count::from_json_number(literal).expect("a number"));
        Counts::new(human, ai, total)
    };
    let tenths = counts(["0.1", "0.2", "0.30000000000000004"]);
    let large = counts(["4503599627370495.5", "12.0", "9007199254740991"]);
    let page = ViewsResponse {
        totals: counts(["12.5", "1e-9", "1.7976931348623157"]),
        ..views_response(&[("/a", tenths), ("/b", large)], 1)
    };
    let report = Report::from_first_response(week(), page.clone(), true, at(0));
    assert!(store.add_part(part(1, page, true, 0)).await);
    assert_eq!(store.cached(week()).await.report.as_deref(), Some(&report));
    let row: (Option<i64>, Option<String>) = store
        .with_connection(|db| {
            db.query_row("SELECT total, raw_counts FROM views_row WHERE position = 1", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .expect("a row")
        })
        .await;
    assert_eq!(row, (None, Some("[4503599627370495.5,12,9007199254740991]".to_owned())), "12.0 is written as 12");
}

#[tokio::test]
async fn a_complete_report_stays_until_the_next_one_is_complete() {
    let store = memory_store();
    store.add_part(part(1, views_response(&[("/a", counts(1, 1)), ("/b", counts(1, 0))], 3), true, 0)).await;
    store.add_part(part(1, views_response(&[("/a", counts(2, 2))], 9), false, 50)).await;
    let stored = store.cached(week()).await;
    let Some(report) = stored.report else { panic!("there is a report") };
    assert_eq!((report.complete, report.rows.len(), report.as_of), (true, 2, at(0)));
    assert_eq!((stored.responses_before_interruption, stored.last_load_requests), (Some(1), Some(1)));
    store.add_part(part(2, views_response(&[("/c", counts(5, 0))], 9), true, 51)).await;
    let stored = store.cached(week()).await;
    let report = stored.report.expect("a report");
    let paths: Vec<&str> = report.rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!((paths, report.as_of, stored.responses_before_interruption), (vec!["/a", "/c"], at(50), None));
    assert_eq!((store.count_rows("views_report").await, store.count_rows("views_row").await), (1, 2));
}

#[tokio::test]
async fn complete_reports_of_single_days_are_read_in_order() {
    let store = memory_store();
    for (day, complete) in [("2026-11-18", true), ("2026-11-15", true), ("2026-11-16", false), ("2026-11-21", true)] {
        let response = views_response(&[("/a", counts(1, 1))], 2);
        assert!(store.add_part(ReportResponse { range: range(day, day), ..part(1, response, complete, 0) }).await);
    }
    store.add_part(part(1, views_response(&[("/a", counts(9, 9))], 18), true, 0)).await;
    let reports = store.daily_reports(&scope(), week()).await.expect("read");
    let days: Vec<String> = reports.iter().map(|report| report.range.from().to_string()).collect();
    assert_eq!(days, ["2026-11-15", "2026-11-18"]);
    assert!(reports.iter().all(|report| report.complete && report.rows.len() == 1));
}

#[tokio::test]
async fn a_response_that_is_not_the_next_one_does_not_change_the_report() {
    let store = memory_store();
    let rows = |path: &str| views_response(&[(path, counts(1, 1))], 9);
    assert!(!store.add_part(part(2, rows("/b"), true, 0)).await);
    assert!(!store.add_part(part(0, rows("/b"), true, 0)).await);
    assert_eq!(store.cached(week()).await, StoredReport::default());
    assert!(store.add_part(part(1, rows("/a"), false, 0)).await);
    // Another instance loads the same range and has added the first response.
    assert!(!store.add_part(part(1, rows("/a"), false, 1)).await);
    assert!(!store.add_part(part(3, rows("/c"), true, 1)).await);
    let stored = store.cached(week()).await;
    assert_eq!(stored.report.map(|report| (report.responses, report.duplicates, report.rows.len())), Some((1, 0, 1)));
}

#[tokio::test]
async fn a_response_is_stored_both_in_the_cache_and_in_the_report_or_in_neither() {
    let store = memory_store();
    let rows = |path: &str| views_response(&[("/a", counts(1, 1)), (path, counts(2, 2))], 9);
    let cached = async |number| {
        let query = ViewsQuery { range: week(), limit: MAX_PAGE_SIZE, page: number };
        store.cached_views(&scope(), query).await.expect("read")
    };
    assert!(store.cache_and_add_report_response(&scope(), part(1, rows("/b"), false, 1), None).await.expect("written"));
    assert_eq!(cached(1).await, Some(Timed { value: rows("/b"), as_of: at(1) }));
    let before = store.cached(week()).await;
    assert_eq!(before.report.as_ref().map(|report| (report.responses, report.rows.len())), Some((1, 2)));
    assert_eq!(before.totals, Some(Timed { value: counts(9, 0), as_of: at(1) }));
    // The trigger makes the last statement of the transaction fail.
    let stop = "CREATE TRIGGER stop BEFORE INSERT ON views_row BEGIN SELECT RAISE(ABORT, 'stop'); END";
    store.with_connection(|db| db.execute_batch(stop).expect("made")).await;
    store.cache_and_add_report_response(&scope(), part(2, rows("/c"), true, 2), None).await.expect_err("stopped");
    assert_eq!((cached(2).await, store.cached(week()).await), (None, before));
    assert_eq!((store.count_rows("views_path").await, store.count_rows("views_report").await), (0, 0));
    store.with_connection(|db| db.execute_batch("DROP TRIGGER stop").expect("gone")).await;
    assert!(store.cache_and_add_report_response(&scope(), part(2, rows("/c"), true, 2), None).await.expect("written"));
    let whole = store.cached(week()).await.report.expect("a report");
    assert_eq!((whole.complete, whole.responses, whole.duplicates, whole.rows.len()), (true, 2, 1, 3));
}

#[tokio::test]
async fn a_response_that_is_not_the_next_one_is_only_cached() {
    let store = memory_store();
    let rows = |path: &str| views_response(&[(path, counts(2, 2))], 9);
    let keeps = async |number, path: &str| {
        let response = rows(path);
        let taken = store
            .cache_and_add_report_response(&scope(), part(number, response.clone(), false, 5), None)
            .await
            .expect("written");
        let query = ViewsQuery { range: week(), limit: MAX_PAGE_SIZE, page: number };
        let cached = store.cached_views(&scope(), query).await.expect("read").map(|cached| cached.value);
        assert_eq!(cached, Some(response));
        taken
    };
    assert!(!keeps(2, "/b").await, "the second comes first");
    assert_eq!(store.cached(week()).await.report, None);
    assert!(keeps(1, "/a").await);
    assert!(!keeps(1, "/c").await && !keeps(3, "/c").await);
    let known = store.cached(week()).await.report.expect("a report");
    assert_eq!((known.responses, known.rows.len(), known.rows[0].path.as_str()), (1, 1, "/a"));
}

/// Returns the path with the number `n`. Sorting `count` such paths by number doesn't sort them alphabetically.
fn unsorted_path(n: u32, count: u32) -> String {
    format!("/{}/{}", n * 7 % 10, n * 1_237 % count)
}

#[tokio::test]
async fn thousands_of_rows_with_new_and_known_paths_keep_the_order_of_the_service() {
    let store = memory_store();
    let response_with_rows = |number: u32, range, first: u32, rows: u32| {
        let paths: Vec<String> = (first..first + rows).map(|n| unsorted_path(n, 4_001)).collect();
        let rows: Vec<(&str, Counts)> =
            paths.iter().zip(1..).map(|(path, n)| (path.as_str(), counts(n, i64::from(number)))).collect();
        ReportResponse { range, ..part(number, views_response(&rows, 9), number == 2, 5) }
    };
    let other = range("2026-10-01", "2026-10-31");
    // The first report already contains half of the paths of the second one.
    for (range, first) in [(week(), 0), (other, 1_200)] {
        let responses =
            [response_with_rows(1, range, first, 1_100), response_with_rows(2, range, first + 1_090, 1_101)];
        let mut report = Report::from_first_response(range, responses[0].response.clone(), false, at(5));
        report.add_response(responses[1].response.clone(), true, at(5));
        for response in responses {
            assert!(store.add_part(response).await);
        }
        let known = store.cached(range).await.report.expect("a report");
        assert_eq!((known.rows.len(), known.duplicates), (2_191, 10));
        assert!(*known == report, "the same rows in the same order");
    }
    let paths: std::collections::HashSet<String> = (0..3_391).map(|n| unsorted_path(n, 4_001)).collect();
    assert_eq!(store.count_rows("views_path").await as usize, paths.len());
    assert_eq!((store.count_rows("views_loading").await, store.count_rows("views_part").await), (0, 0));
}

#[tokio::test]
async fn an_unfinished_report_with_an_unreadable_response_is_ignored_and_loaded_again() {
    let store = memory_store();
    let rows = |path: &str| views_response(&[(path, counts(1, 1))], 9);
    store.add_part(part(1, rows("/a"), false, 0)).await;
    store.add_part(ReportResponse { range: range("2026-10-01", "2026-10-31"), ..part(1, rows("/o"), false, 0) }).await;
    store
        .with_connection(|db| {
            db.execute("UPDATE views_part SET answer = 'no JSON' WHERE loading = 1", []).expect("corrupted")
        })
        .await;
    assert!(!store.add_part(part(2, rows("/b"), true, 1)).await, "not complete");
    assert_eq!(store.unfinished_report(&scope(), week()).await.expect("read"), None);
    assert_eq!(store.cached(week()).await.report, None);
    assert_eq!(store.cached_ranges(&scope()).await.expect("read").ranges.len(), 1, "the other one");
    assert!(store.add_part(part(1, rows("/a"), false, 2)).await);
    assert!(store.add_part(part(2, rows("/b"), true, 3)).await);
    assert_eq!(store.cached(week()).await.report.map(|report| report.rows.len()), Some(2));
}

#[tokio::test]
async fn a_response_of_a_load_that_another_instance_restarted_is_ignored() {
    let store = memory_store();
    let rows = |path: &str| views_response(&[(path, counts(1, 1))], 9);
    let old = Arc::new(ReportMerge::new(Report::from_first_response(week(), rows("/old"), false, at(0))));
    store.add_part(part(1, rows("/old"), false, 0)).await;
    store.delete_unfinished_report(&scope(), week()).await.expect("dropped");
    let response = |number, path, is_last| ReportResponse {
        restarted_at: Some(at(5) + chrono::TimeDelta::microseconds(7)),
        ..part(number, rows(path), is_last, 6)
    };
    assert!(store.add_part(response(1, "/new", false)).await);
    let late =
        store.cache_and_add_report_response(&scope(), part(2, rows("/b"), true, 1), Some(old)).await.expect("stored");
    assert!(!late);
    assert!(store.add_part(response(2, "/b", true)).await);
    let whole = store.cached(week()).await.report.expect("a report");
    let paths: Vec<&str> = whole.rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(paths, ["/new", "/b"]);
}

#[test]
fn the_loading_migration_keeps_an_unfinished_report() {
    let mut db = rusqlite::Connection::open_in_memory().expect("a database");
    for (number, sql) in (1..).zip(&schema::MIGRATIONS[..6]) {
        db.execute_batch(sql).expect("migrated");
        db.pragma_update(None, "user_version", number).expect("set");
    }
    db.execute_batch(
        r#"INSERT INTO scope (id, base_url, project) VALUES (1, 'u', 'p');
           INSERT INTO views_path VALUES (1, '/z "q"'), (2, '/ü'), (3, '/a'), (4, '/short'), (5, '/odd');
           INSERT INTO views_report VALUES (5, 1, '2026-11-14', '2026-11-20', 0, 2, 1, 3, 7000, 6000, '[9,"x",null]');
           INSERT INTO views_row VALUES (5, 3, 2, 4, 5, 9, NULL), (5, 1, 0, NULL, NULL, NULL, '[1,"2.5",null]'),
               (5, 2, 1, -1, 0, 9223372036854775807, NULL), (5, 4, 3, NULL, NULL, NULL, '[1,2]'),
               (5, 5, 4, NULL, NULL, NULL, '[1e300,true,3]');
           INSERT INTO views_report VALUES (6, 1, '2026-11-14', '2026-11-20', 1, 1, 0, 1, 3000, NULL, '[1,1,2]');
           INSERT INTO views_row VALUES (6, 2, 0, 1, 1, 2, NULL);
           INSERT INTO views_report VALUES (7, 1, '2026-10-01', '2026-10-31', 0, 1, 0, 0, 7000, NULL, 'no JSON');"#,
    )
    .expect("a load that was broken off");
    schema::migrate(&mut db).expect("migrated");
    let loading = loading::find_unfinished_load(&db, 1, week()).expect("read").expect("there");
    let report = loading::merge_stored_responses(&db, week(), &loading).expect("read").expect("rows");
    assert_eq!((loading.restarted_at, report.responses, report.complete), (Time::from_timestamp(6, 0), 2, false));
    assert_eq!(report.duplicates, 1);
    let odd = |text: &str| Count::Other(line(text));
    assert_eq!(report.totals, Counts::new(Count::Known(9), odd("x"), Count::Missing));
    let rows: Vec<(&str, Counts)> = report.rows.iter().map(|row| (row.path.as_str(), row.counts.clone())).collect();
    let known = |human, ai, total| Counts::new(Count::Known(human), Count::Known(ai), Count::Known(total));
    let expected = [
        ("/z \"q\"", Counts::new(Count::Known(1), odd("2.5"), Count::Missing)),
        ("/ü", known(-1, 0, i64::MAX)),
        ("/a", known(4, 5, 9)),
        ("/short", Counts::default()),
        ("/odd", Counts { total: Count::Known(3), ..Counts::default() }),
    ];
    assert_eq!(rows, expected);
    let october =
        loading::find_unfinished_load(&db, 1, range("2026-10-01", "2026-10-31")).expect("read").expect("there");
    let october =
        loading::merge_stored_responses(&db, week(), &october).expect("read").expect("an answer without rows");
    assert_eq!((october.rows.len(), october.totals), (0, Counts::default()));
    let left = "SELECT (SELECT count(*) FROM views_row), (SELECT group_concat(id) FROM views_report)";
    let left: (u32, String) = db.query_row(left, [], |row| Ok((row.get(0)?, row.get(1)?))).expect("read");
    assert_eq!(left, (1, "6".to_owned()), "the complete one stays");
}

#[tokio::test]
async fn deleting_an_unfinished_report_keeps_the_complete_one() {
    let store = memory_store();
    let rows = |path: &str| views_response(&[(path, counts(1, 1))], 9);
    store.delete_unfinished_report(&scope(), week()).await.expect("nothing to drop");
    store.add_part(part(1, rows("/a"), true, 0)).await;
    store.add_part(ReportResponse { restarted_at: Some(at(5)), ..part(1, rows("/b"), false, 6) }).await;
    let unfinished = store.unfinished_report(&scope(), week()).await.expect("read").expect("there");
    assert_eq!(
        (unfinished.restarted_at, unfinished.report.responses, unfinished.report.complete),
        (Some(at(5)), 1, false)
    );
    store.delete_unfinished_report(&scope(), week()).await.expect("dropped");
    assert_eq!(store.unfinished_report(&scope(), week()).await.expect("read"), None);
    let stored = store.cached(week()).await;
    assert_eq!((stored.report.map(|report| report.complete), stored.responses_before_interruption), (Some(true), None));
}

#[tokio::test]
async fn a_load_continues_after_docdeck_is_restarted_and_belongs_to_one_project() {
    let folder = tempdir().expect("a folder");
    let rows = |path: &str| views_response(&[(path, counts(1, 1))], 9);
    let store = open(folder.path());
    store.add_part(part(1, rows("/a"), false, 0)).await;
    store.close().await;
    let store = open(folder.path());
    assert!(store.add_part(part(2, rows("/b"), true, 1)).await);
    assert_eq!(store.cached(week()).await.report.map(|report| report.rows.len()), Some(2));
    let other = Scope { project: "other".to_owned(), ..scope() };
    assert_eq!(store.cached_report(&other, week()).await.expect("read"), StoredReport::default());
}

#[tokio::test]
async fn a_range_without_a_report_gets_the_complete_report_of_the_range_closest_in_length() {
    let store = memory_store();
    let rows = |path: &str| views_response(&[(path, counts(1, 1))], 9);
    let other = |number, is_last| ReportResponse {
        range: range("2026-10-01", "2026-10-31"),
        ..part(number, rows(&format!("/{number}")), is_last, 90)
    };
    let known = async |range| {
        let known = store.cached(range).await;
        (known.last_load_requests, known.range_of_similar_length.map(|similar| (similar.range, similar.rows)))
    };
    assert_eq!(known(week()).await, (None, None));
    for number in 1..=3 {
        store.add_part(other(number, number == 3)).await;
    }
    let october = Some((range("2026-10-01", "2026-10-31"), 3));
    assert_eq!(known(week()).await, (None, october));
    store.add_part(part(1, rows("/a"), false, 100)).await;
    assert_eq!(known(week()).await, (None, october), "a partial report does not count");
    store.add_part(part(2, rows("/b"), true, 100)).await;
    assert_eq!(known(week()).await, (Some(2), None));
    assert_eq!(known(range("2026-09-01", "2026-09-08")).await, (None, Some((week(), 2))), "about as long");
    assert_eq!(known(range("2026-09-01", "2026-09-30")).await, (None, october), "about as long");
}

#[tokio::test]
async fn the_totals_of_a_range_are_those_of_its_last_response_of_any_page_size() {
    let store = memory_store();
    let query = |range, limit, page| ViewsQuery { range, limit, page };
    let (one, two) = (range("2026-11-19", "2026-11-19"), range("2026-11-20", "2026-11-20"));
    store.save_views(&scope(), query(week(), 50, 1), &views_response(&[], 10), at(1)).await.expect("stored");
    store.save_views(&scope(), query(week(), MAX_PAGE_SIZE, 2), &views_response(&[], 12), at(2)).await.expect("stored");
    let odd = Counts::new(Count::Other(line("1e99")), Count::Missing, Count::Known(-1));
    let strange = ViewsResponse { totals: odd.clone(), ..ViewsResponse::default() };
    store.save_views(&scope(), query(two, 1, 1), &strange, at(3)).await.expect("stored");
    let known = store.views_totals(&scope(), &[two, one, week()]).await.expect("read");
    let stamped = |value, seconds| Timed { value, as_of: at(seconds) };
    assert_eq!(known, [(two, stamped(odd, 3)), (week(), stamped(counts(12, 0), 2))]);
    let stored = store.cached(week()).await;
    assert_eq!(stored, StoredReport { totals: Some(stamped(counts(12, 0), 2)), ..StoredReport::default() });
    let other = Scope { project: "other".to_owned(), ..scope() };
    assert_eq!(store.views_totals(&other, &[week()]).await.expect("read"), []);
}

/// Generates a number, or a value that may be received instead.
fn any_count() -> impl Strategy<Value = Count> {
    prop_oneof![
        any::<i64>().prop_map(Count::Known),
        any::<f64>().prop_map(|number| Count::from_f64(number).unwrap_or_default()),
        (0_i64..1_000_000).prop_map(|n| Count::from_json_number(&format!("{}.{}", n / 10, n % 10)).expect("a number")),
        Just(Count::Missing),
        "[ -~]{0,12}".prop_map(|text| Count::Other(line(&text))),
    ]
}

fn any_response() -> impl Strategy<Value = ViewsResponse> {
    let counts =
        || (any_count(), any_count(), any_count()).prop_map(|(human, ai, total)| Counts::new(human, ai, total));
    // There are few different paths, so that many rows are duplicates.
    let row = ("/[a-e\"ü]{0,2}", counts()).prop_map(|(path, counts)| PageRow { path: line(&path), counts });
    (counts(), proptest::collection::vec(row, 0..12)).prop_map(|(totals, rows)| ViewsResponse {
        totals,
        rows,
        has_more: None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn for_any_responses_the_stored_report_equals_the_report_merged_in_memory(
        responses in proptest::collection::vec((any_response(), 0_i64..100), 1..6)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            // `with_merge` is given the earlier responses already merged; `store` has to read and merge them itself.
            let (store, with_merge) = (memory_store(), memory_store());
            let mut report: Option<Report> = None;
            for (number, (response, seconds)) in (1..).zip(&responses) {
                let complete = number as usize == responses.len();
                let so_far = report.clone().map(ReportMerge::new).map(Arc::new);
                match &mut report {
                    Some(report) => report.add_response(response.clone(), complete, at(*seconds)),
                    None => {
                        report = Some(Report::from_first_response(week(), response.clone(), complete, at(*seconds)));
                    }
                }
                let next = part(number, response.clone(), complete, *seconds);
                let is_added = with_merge.cache_and_add_report_response(&scope(), next.clone(), so_far).await;
                assert!(is_added.expect("written"));
                assert!(store.add_part(next).await);
                for store in [&store, &with_merge] {
                    assert_eq!(store.cached(week()).await.report.as_deref(), report.as_ref());
                }
            }
        });
    }
}
