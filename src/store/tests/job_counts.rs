//! Tests that the stored numbers of jobs per group match the jobs.

use super::*;
use crate::store::{JobPruneFilter, ScopeFilter, open, schema};
use proptest::prelude::*;

/// Rows with three columns: the scope's id, the group's number and the number of jobs.
type JobCounts = Vec<(i64, i64, i64)>;

fn counts(db: &Connection, sql: &str) -> JobCounts {
    let mut statement = db.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("an answer");
    rows.collect::<rusqlite::Result<_>>().expect("rows")
}

/// Returns the stored numbers of jobs per group, after checking that they match the jobs. `group_column` is the
/// name of the column that contains a job's group.
fn checked_stored_counts(db: &Connection, group_column: &str) -> JobCounts {
    let stored =
        format!("SELECT scope, {group_column}, jobs FROM job_count WHERE jobs <> 0 ORDER BY scope, {group_column}");
    let stored = counts(db, &stored);
    let counted = format!(
        "SELECT scope, {group_column}, count(*) FROM job WHERE merged_into IS NULL GROUP BY scope, {group_column}"
    );
    assert_eq!(stored, counts(db, &counted));
    stored
}

const SCOPES: &str = "INSERT INTO scope (id, base_url, project) VALUES (1, 'a', 'a'), (2, 'b', 'b');";
const COLUMNS: &str = "scope, status, undelivered, gone, dismissed, pr_link, viewed_at, changed_at, pr_turn";

/// Generates values for [`COLUMNS`], in SQL.
fn column_values() -> impl Strategy<Value = Vec<String>> {
    let word = |words: &'static [&'static str]| proptest::sample::select(words).prop_map(str::to_owned);
    (
        word(&["1", "2"]),
        word(&["NULL", "'active'", "'completed'", "'failed'", "'archived'", "'odd'"]),
        word(&["NULL", "NULL", "'queued'", "'paused'", "'sending'", "'rejected'"]),
        word(&["0", "1"]),
        word(&["0", "1"]),
        word(&["NULL", "'https://x.test/1'"]),
        word(&["NULL", "5", "50"]),
        word(&["10", "60"]),
        word(&["NULL", "'user'", "'host'", "'nobody'"]),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i)| vec![a, b, c, d, e, f, g, h, i])
}

fn write_statement() -> impl Strategy<Value = String> {
    let insert = column_values().prop_map(|values| {
        let columns = COLUMNS.replace("viewed_at", "handled_at");
        format!(
            "INSERT INTO job ({columns}, title, created_at, started_at, revision) VALUES ({}, 't', 1, 1, 1)",
            values.join(", ")
        )
    });
    let all = (column_values(), 0_i64..12).prop_map(|(values, key)| {
        let set: Vec<String> =
            COLUMNS.split(", ").zip(&values).map(|(column, value)| format!("{column} = {value}")).collect();
        format!("UPDATE job SET {} WHERE key = {key}", set.join(", "))
    });
    let one = (column_values(), 0..9_usize, 0_i64..12).prop_map(|(values, at, from)| {
        let column = COLUMNS.split(", ").nth(at).expect("a column");
        format!("UPDATE job SET {column} = {} WHERE key >= {from}", values[at])
    });
    let merge = (0_i64..12, 0_i64..12).prop_map(|(from, into)| {
        format!("UPDATE job SET merged_into = (SELECT key FROM job WHERE key = {into}) WHERE key = {from}")
    });
    let delete = (0_i64..12).prop_map(|key| format!("DELETE FROM job WHERE key = {key} OR merged_into = {key}"));
    prop_oneof![4 => insert, 3 => all, 3 => one, 1 => merge, 1 => delete]
}

proptest! {
    #[test]
    fn the_stored_numbers_of_jobs_are_correct_after_any_writes(writes in proptest::collection::vec(write_statement(), 1..40)) {
        let db = open::in_memory().expect("a store");
        db.execute_batch(&format!("PRAGMA foreign_keys = OFF; {SCOPES}")).expect("scopes");
        for sql in writes {
            db.execute(&sql, []).expect("written");
            checked_stored_counts(&db, "list_group");
        }
    }
}

#[test]
fn the_migration_counts_existing_jobs() {
    let db = Connection::open_in_memory().expect("a database");
    let counting = schema::MIGRATIONS.iter().position(|sql| sql.contains("TABLE job_count")).expect("one that counts");
    db.execute_batch(&schema::MIGRATIONS[..counting].concat()).expect("created");
    db.execute_batch(SCOPES).expect("scopes");
    let columns = COLUMNS.replace("viewed_at", "looked_at").replace(", pr_turn", "");
    let insert = format!(
        "INSERT INTO job ({columns}, title, created_at, started_at, revision, merged_into)
         VALUES (?1, ?2, NULL, 0, 0, NULL, NULL, 10, 't', 1, 1, 1, ?3)"
    );
    for (scope, status, into) in [(1, "active", None), (1, "failed", None), (1, "failed", Some(1)), (2, "failed", None)]
    {
        db.execute(&insert, (scope, status, into)).expect("a job");
    }
    db.execute_batch(schema::MIGRATIONS[counting]).expect("migrated");
    assert_eq!(checked_stored_counts(&db, "need"), [(1, 0, 1), (1, 1, 1), (2, 0, 1)]);
}

#[tokio::test]
async fn the_counts_stay_correct_when_jobs_are_sent_merged_dismissed_or_pruned() {
    let store = memory_store();
    let stored = async || store.with_connection(|db| checked_stored_counts(db, "list_group")).await;
    let (prompt, row) = store.new_job("a prompt", at(0)).await;
    assert_eq!(stored().await, [(1, 2, 1)]);
    store.permit(prompt, at(1)).await;
    assert_eq!(stored().await, [(1, 1, 1)]);
    store.track(&scope(), response("j1", Status::Active), at(2)).await.expect("tracked");
    assert_eq!(stored().await, [(1, 1, 2)]);
    store.accept(prompt, response("j1", Status::Active), at(3)).await;
    assert_eq!(stored().await, [(1, 1, 1)], "one job, in two rows");
    store.apply_job(row.key, response_with_pr("j1", Status::Completed, 7), at(4)).await;
    assert_eq!(stored().await, [(1, 0, 1)]);
    store.change_one_job(row.key, LocalChange::Viewed, at(5)).await;
    assert_eq!(stored().await, [(1, 0, 1)], "viewing is not handling");
    store.change_one_job(row.key, LocalChange::Handled, at(5)).await;
    assert_eq!(stored().await, [(1, 3, 1)]);
    store.change_one_job(row.key, LocalChange::Dismissed(true), at(6)).await;
    assert_eq!(stored().await, [(1, 5, 1)]);
    let pruned =
        store.prune_jobs(JobPruneFilter { before: at(100), scopes: ScopeFilter::default() }).await.expect("pruned");
    assert_eq!((pruned.counts.jobs, stored().await), (1, vec![]));
}
