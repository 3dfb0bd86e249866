use super::reports::{counts, part, range, views_response, week};
use super::*;
use crate::model::period::DateRange;
use crate::model::prompt::DraftTarget;
use crate::model::report::{CachedPages, CachedRange};
use crate::model::views::{Counts, ViewsQuery};
use crate::store::{AnalyticsPruneFilter, PruneOutcome, PrunedAnalyticsCounts, ReportResponse, ScopeFilter, schema};

const OCTOBER: (&str, &str) = ("2026-10-01", "2026-10-31");

fn october() -> DateRange {
    range(OCTOBER.0, OCTOBER.1)
}

fn cached_range(range: DateRange, rows: u32, complete: bool, as_of: Time, totals: Counts) -> CachedRange {
    CachedRange { range, as_of, views: Some(CachedPages { rows, complete, totals }), reports: Vec::new() }
}

impl Store {
    async fn save_rows(&self, scope: &Scope, range: DateRange, limit: u32, number: u32, rows: usize, seconds: i64) {
        let paths: Vec<String> = (0..rows).map(|n| format!("/{number}/{n}")).collect();
        let rows: Vec<(&str, Counts)> = paths.iter().map(|path| (path.as_str(), counts(1, 1))).collect();
        let query = ViewsQuery { range, limit, page: number };
        self.save_views(scope, query, &views_response(&rows, 99), at(seconds)).await.expect("stored");
    }

    async fn save_complete(&self, range: DateRange, path: &str, seconds: i64) {
        let rows = views_response(&[(path, counts(1, 1))], 9);
        assert!(self.add_part(ReportResponse { range, ..part(1, rows, true, seconds) }).await);
    }

    async fn ranges(&self) -> Vec<DateRange> {
        self.cached_ranges(&scope())
            .await
            .expect("read")
            .ranges
            .into_iter()
            .map(|cached_range| cached_range.range)
            .collect()
    }

    async fn prune(&self, filter: AnalyticsPruneFilter) -> PruneOutcome<PrunedAnalyticsCounts> {
        let planned = self.plan_prune_analytics(filter.clone()).await.expect("read");
        let did = self.prune_analytics(filter).await.expect("pruned");
        assert_eq!(planned.counts, did.counts, "the plan matches the result");
        did
    }
}

#[tokio::test]
async fn each_cached_range_is_listed_once_and_the_days_of_the_trend_are_not_listed() {
    let store = memory_store();
    let empty = store.cached_ranges(&scope()).await.expect("read");
    assert_eq!(empty.ranges, []);
    store.save_rows(&scope(), week(), 50, 1, 50, 1).await;
    store.save_rows(&scope(), week(), 50, 2, 20, 2).await;
    store.save_rows(&scope(), week(), 20, 1, 20, 3).await;
    store.save_rows(&scope(), range("2026-11-20", "2026-11-20"), 1, 1, 1, 3).await;
    store.save_rows(&scope(), october(), 50, 1, 50, 4).await;
    let rows = views_response(&[("/a", counts(1, 1)), ("/b", counts(2, 2))], 8);
    store.add_part(ReportResponse { range: october(), ..part(1, rows.clone(), true, 5) }).await;
    store.add_part(ReportResponse { range: october(), ..part(1, rows, false, 6) }).await;
    let cached = store.cached_ranges(&scope()).await.expect("read");
    let listed = cached_range(week(), 70, false, at(1), counts(99, 0));
    let october = cached_range(october(), 2, true, at(5), counts(8, 0));
    assert_eq!(cached.ranges, [listed, october]);
    store.save_rows(&scope(), week(), 250, 1, 250, 7).await;
    let more = store.cached_ranges(&scope()).await.expect("read");
    let added = more.bytes - cached.bytes;
    assert!(cached.bytes >= empty.bytes && (3000..20_000).contains(&added), "{added}");
    let other = Scope { project: "other".to_owned(), ..scope() };
    assert_eq!(store.cached_ranges(&other).await.expect("read").ranges, []);
}

#[tokio::test]
async fn an_interrupted_load_counts_each_page_once_and_is_pruned_by_the_age_of_its_oldest_response() {
    let store = memory_store();
    store.add_part(part(1, views_response(&[("/a", counts(1, 1)), ("/b", counts(2, 2))], 8), false, 10)).await;
    store.add_part(part(2, views_response(&[("/b", counts(3, 3)), ("/c", counts(4, 4))], 9), false, 20)).await;
    let cached = store.cached_ranges(&scope()).await.expect("read");
    let listed = cached_range(week(), 3, false, at(10), counts(9, 0));
    assert_eq!(cached.ranges, [listed]);
    assert_eq!(
        store
            .prune(AnalyticsPruneFilter { before: Some(at(10)), ..AnalyticsPruneFilter::default() })
            .await
            .counts
            .reports,
        0
    );
    let pruned = store.prune(AnalyticsPruneFilter { before: Some(at(11)), ..AnalyticsPruneFilter::default() }).await;
    assert_eq!((pruned.counts.ranges, pruned.counts.reports), (1, 1));
    assert_eq!((store.count_rows("views_loading").await, store.count_rows("views_part").await), (0, 0));
}

#[tokio::test]
async fn pruning_by_age_also_deletes_paths_that_no_report_uses_any_more() {
    let store = memory_store();
    store.save_complete(october(), "/old", 10).await;
    store.save_complete(week(), "/new", 20).await;
    store.save_rows(&scope(), week(), 50, 1, 3, 9).await;
    let pruned = store.prune(AnalyticsPruneFilter { before: Some(at(15)), ..AnalyticsPruneFilter::default() }).await;
    assert_eq!(
        (pruned.counts.ranges, pruned.counts.reports, pruned.counts.responses, pruned.counts.totals),
        (2, 1, 1, 1)
    );
    assert_eq!(store.ranges().await, [week()]);
    assert_eq!((store.count_rows("views_path").await, store.count_rows("views_row").await), (1, 1));
    let again = store.prune(AnalyticsPruneFilter { before: Some(at(15)), ..AnalyticsPruneFilter::default() }).await;
    assert_eq!(again.counts, PrunedAnalyticsCounts::default());
}

#[tokio::test]
async fn pruning_all_but_a_number_of_ranges_keeps_the_newest_of_each_project_and_the_days_of_the_trend() {
    let store = memory_store();
    let other = Scope { project: "other".to_owned(), ..scope() };
    let september = range("2026-09-01", "2026-09-30");
    store.save_complete(october(), "/a", 30).await;
    store.save_complete(week(), "/a", 20).await;
    store.save_complete(september, "/a", 10).await;
    store.save_rows(&scope(), september, 50, 1, 3, 10).await;
    store.save_rows(&scope(), range("2026-11-20", "2026-11-20"), 1, 1, 1, 1).await;
    store.save_rows(&other, week(), 50, 1, 3, 1).await;
    let pruned =
        store.prune(AnalyticsPruneFilter { keep_newest_ranges: Some(2), ..AnalyticsPruneFilter::default() }).await;
    assert_eq!(
        (pruned.counts.ranges, pruned.counts.reports, pruned.counts.responses, pruned.counts.totals),
        (1, 1, 1, 1)
    );
    assert_eq!(store.ranges().await, [week(), october()]);
    assert_eq!(store.cached_ranges(&other).await.expect("read").ranges.len(), 1);
    let pruned = store
        .prune(AnalyticsPruneFilter {
            keep_newest_ranges: Some(0),
            scopes: ScopeFilter { project: Some("other".to_owned()), base_url: None },
            ..AnalyticsPruneFilter::default()
        })
        .await;
    assert_eq!((pruned.counts.ranges, pruned.counts.responses), (1, 1));
    assert_eq!(store.ranges().await, [week(), october()], "this project is unchanged");
}

#[tokio::test]
async fn pruning_all_page_views_deletes_nothing_else() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    store.save_draft(&scope(), DraftTarget::NewJob, "typed", at(1)).await.expect("stored");
    store.save_complete(week(), "/a", 20).await;
    let more = views_response(&[("/b", counts(1, 1))], 9);
    store.add_part(part(1, more, false, 30)).await;
    store.save_rows(&scope(), range("2026-11-20", "2026-11-20"), 1, 1, 1, 1).await;
    let elsewhere = AnalyticsPruneFilter {
        should_delete_all: true,
        scopes: ScopeFilter { project: None, base_url: Some("https://elsewhere".to_owned()) },
        ..AnalyticsPruneFilter::default()
    };
    assert_eq!(store.prune(elsewhere).await.counts.reports, 0);
    let pruned = store.prune(AnalyticsPruneFilter { should_delete_all: true, ..AnalyticsPruneFilter::default() }).await;
    assert_eq!(
        (pruned.counts.ranges, pruned.counts.reports, pruned.counts.responses, pruned.counts.totals),
        (1, 2, 1, 1)
    );
    let tables =
        ["views_loading", "views_part", "views_report", "views_row", "views_path", "views_answer", "views_total"];
    for table in tables {
        assert_eq!(store.count_rows(table).await, 0, "{table}");
    }
    assert_eq!(store.jobs(&scope()).await.expect("jobs").len(), 1);
    assert_eq!(store.thread_of(row.key).await.prompts.len(), 1);
    assert_eq!(store.drafts(&scope()).await.expect("drafts").len(), 1);
}

#[tokio::test]
async fn pruning_returns_the_space_to_the_disk() {
    let folder = tempdir().expect("a folder");
    let store = open(folder.path());
    for number in 1..=60 {
        store.save_rows(&scope(), week(), 250, number, 250, 1).await;
    }
    let size = || std::fs::metadata(folder.path().join("docdeck.db")).expect("a file").len();
    let before = size();
    let pruned = store.prune(AnalyticsPruneFilter { should_delete_all: true, ..AnalyticsPruneFilter::default() }).await;
    assert_eq!((pruned.bytes_before, pruned.bytes_after, pruned.shrinking_failed), (before, size(), false));
    assert!(size() < before / 2, "{} of {before}", size());
}

#[tokio::test]
async fn a_prune_that_deletes_nothing_still_returns_free_space_to_the_disk() {
    let folder = tempdir().expect("a folder");
    let store = open(folder.path());
    for number in 1..=60 {
        store.save_rows(&scope(), week(), 250, number, 250, 1).await;
    }
    store.with_connection(|db| db.execute("DELETE FROM views_answer", []).expect("deleted")).await;
    let pruned = store.prune(AnalyticsPruneFilter::default()).await;
    assert!(!pruned.shrinking_failed && pruned.bytes_after < pruned.bytes_before / 2, "{pruned:?}");
}

#[test]
fn the_reports_migration_copies_the_totals_of_existing_responses() {
    let mut db = Connection::open_in_memory().expect("a database");
    for (number, sql) in (1..).zip(&schema::MIGRATIONS[..3]) {
        db.execute_batch(sql).expect("migrated");
        db.pragma_update(None, "user_version", number).expect("set");
    }
    db.execute_batch(
        r#"INSERT INTO scope (id, base_url, project) VALUES (1, 'u', 'p');
           INSERT INTO views_answer VALUES (1, '2026-11-14', '2026-11-20', 50, 1, 10,
               '{"totals":[9,1,10],"rows":[["/a",[1,1,2]]],"more":false}');
           INSERT INTO views_answer VALUES (1, '2026-11-14', '2026-11-20', 50, 2, 20,
               '{"totals":["1e99",null,11],"rows":[],"more":false}');
           INSERT INTO views_answer VALUES (1, '2026-10-01', '2026-10-31', 50, 1, 10, 'no JSON');"#,
    )
    .expect("answers of before");
    schema::migrate(&mut db).expect("migrated");
    let read = |sql: &str| db.query_row(sql, [], |row| row.get::<_, String>(0)).expect(sql);
    assert_eq!(
        read("SELECT group_concat(date_from || ' ' || as_of || ' ' || totals) FROM views_total"),
        "2026-11-14 20 [\"1e99\",null,11]"
    );
    assert_eq!(read("SELECT group_concat(row_count, ' ' ORDER BY rowid) FROM views_answer"), "1 0 0");
}
