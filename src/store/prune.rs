//! Deletes old page views and other analytics and returns their space to the disk. Jobs, prompts and drafts are never
//! deleted here: unlike analytics, they can't be loaded again from the service.

use super::columns::UnixMillis;
use super::error::StoreResult;
use super::query::Query as _;
use super::scopes::ScopeFilter;
use super::{Store, analytics, loading, reports};
use crate::model::Time;
use rusqlite::{Connection, Transaction, params};
use std::collections::BTreeSet;

/// Which analytics to delete. An item is deleted if it belongs to `scopes` and one of the other fields selects it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnalyticsPruneFilter {
    /// Selects items that were loaded before this moment.
    pub before: Option<Time>,
    /// Selects the items of all ranges, except for this many of the most recently loaded ranges of each project. Ranges
    /// with nothing but totals are neither counted nor selected.
    pub keep_newest_ranges: Option<u32>,
    /// Selects everything.
    pub should_delete_all: bool,
    /// Selects the texts of readers that were loaded before this moment.
    pub reader_texts_before: Option<Time>,
    /// Selects the texts of readers that were received from another member of a team and expired before this moment.
    pub team_reader_texts_expired_before: Option<Time>,
    /// Only analytics of these projects and services are deleted.
    pub scopes: ScopeFilter,
}

/// What was deleted, or would be deleted, and the size of the whole file in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PruneOutcome<C> {
    pub counts: C,
    pub bytes_before: u64,
    /// The size afterwards. It can be smaller even if nothing was deleted, since space that was already unused may be
    /// returned to the disk.
    pub bytes_after: u64,
    /// Whether the file could not be shrunk, for example because another process was using it or the disk is full.
    /// docdeck then reuses the free space in the file.
    pub shrinking_failed: bool,
}

impl<C> PruneOutcome<C> {
    /// Returns an outcome in which nothing has been deleted yet: both sizes are the current size of the file.
    pub(super) fn from_counts(db: &Connection, counts: C) -> StoreResult<Self> {
        let bytes = file_bytes(db)?;
        Ok(Self { counts, bytes_before: bytes, bytes_after: bytes, shrinking_failed: false })
    }

    /// Returns unused space in the file to the disk if `should_shrink` is true, and reads the size of the file again.
    pub(super) fn shrink_file(self, db: &Connection, should_shrink: bool) -> StoreResult<Self> {
        let shrinking_failed = should_shrink && db.execute_batch("VACUUM").is_err();
        Ok(Self { bytes_after: file_bytes(db)?, shrinking_failed, ..self })
    }
}

/// How many cached items were deleted, or would be deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrunedAnalyticsCounts {
    /// Ranges with cached pages. The other counts also include the items of ranges for which only totals were cached.
    pub ranges: u32,
    /// Reports of all pages of a range, complete or partial.
    pub reports: u32,
    /// Single responses of the service.
    pub responses: u32,
    /// Cached totals of a range or of a day.
    pub totals: u32,
    /// Reports of visitors, searches, feedback and questions, complete or partial.
    pub other_reports: u32,
}

impl Store {
    /// Counts what [`Store::prune_analytics`] would delete. Changes nothing.
    pub async fn plan_prune_analytics(
        &self,
        filter: AnalyticsPruneFilter,
    ) -> StoreResult<PruneOutcome<PrunedAnalyticsCounts>> {
        self.read(move |db| PruneOutcome::from_counts(db, count_pruned(&items_to_delete(db, &filter)?))).await
    }

    /// Deletes the selected analytics in one transaction, then returns their space to the disk.
    pub async fn prune_analytics(
        &self,
        filter: AnalyticsPruneFilter,
    ) -> StoreResult<PruneOutcome<PrunedAnalyticsCounts>> {
        let delete = self.write(move |tx| {
            let selected = items_to_delete(tx, &filter)?;
            let pruned = PruneOutcome::from_counts(tx, count_pruned(&selected))?;
            let orphans = delete_items(tx, &selected)?;
            Ok((pruned, orphans > 0 || !selected.is_empty()))
        });
        let (pruned, has_deleted) = delete.await?;
        self.run_without_transaction(move |db| pruned.shrink_file(db, has_deleted || has_much_free_space(db)?)).await
    }
}

/// A range of a scope, as the values of its columns: the scope's id, the first day and the last day.
type RangeKey = (i64, String, String);

/// The kind of an item that is stored for a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CachedItemKind {
    Report,
    /// A report that is being loaded, or whose load was interrupted.
    UnfinishedReport,
    Response,
    /// The totals of the range. They have no id; scope and range identify them.
    Totals,
    /// A report of visitors, searches, feedback or questions, complete or partial.
    OtherReport,
}

/// An item that is stored for a range, and that may be deleted.
#[derive(Debug)]
struct CachedItem {
    kind: CachedItemKind,
    id: i64,
    key: RangeKey,
    as_of: i64,
    /// Whether the item contains pages. If it does, the list of cached ranges shows its range.
    has_pages: bool,
}

fn count_pruned(selected: &[CachedItem]) -> PrunedAnalyticsCounts {
    let ranges: BTreeSet<&RangeKey> = selected.iter().filter(|item| item.has_pages).map(|item| &item.key).collect();
    let mut pruned = PrunedAnalyticsCounts {
        ranges: u32::try_from(ranges.len()).unwrap_or(u32::MAX),
        ..PrunedAnalyticsCounts::default()
    };
    for item in selected {
        let count = match item.kind {
            CachedItemKind::Report | CachedItemKind::UnfinishedReport => &mut pruned.reports,
            CachedItemKind::Response => &mut pruned.responses,
            CachedItemKind::Totals => &mut pruned.totals,
            CachedItemKind::OtherReport => &mut pruned.other_reports,
        };
        *count = count.saturating_add(1);
    }
    pruned
}

fn items_to_delete(db: &Connection, filter: &AnalyticsPruneFilter) -> StoreResult<Vec<CachedItem>> {
    let AnalyticsPruneFilter {
        before,
        keep_newest_ranges,
        should_delete_all,
        reader_texts_before,
        team_reader_texts_expired_before,
        scopes: ScopeFilter { project, base_url },
    } = filter;
    let sql = format!(
        "WITH item AS (
             SELECT 0 AS kind, id, scope, date_from, date_to, as_of, 1 AS has_pages, 0 AS has_reader_text, NULL AS expires_at
                 FROM views_report
             UNION ALL SELECT 1, views_loading.id, scope, date_from, date_to, min(views_part.as_of), 1, 0, NULL
                 FROM views_loading JOIN views_part ON loading = views_loading.id GROUP BY views_loading.id
             UNION ALL SELECT 2, rowid, scope, date_from, date_to, as_of, row_limit > 1, 0, NULL FROM views_answer
             UNION ALL SELECT 3, 0, scope, date_from, date_to, as_of, 0, 0, NULL FROM views_total
             UNION ALL SELECT 4, id, scope, date_from, date_to, as_of, 0, kind IN ({}), expires_at
                 FROM analytics_report),
         ranked AS (
             SELECT scope, date_from, date_to, row_number() OVER (
                 PARTITION BY scope ORDER BY max(as_of) DESC, date_to DESC, date_from) AS age_rank
             FROM item WHERE has_pages = 1 OR kind = 4 GROUP BY scope, date_from, date_to)
         SELECT kind, id, scope, date_from, date_to, as_of, has_pages
         FROM item LEFT JOIN ranked USING (scope, date_from, date_to)
         WHERE scope IN (SELECT id FROM scope WHERE project = coalesce(?1, project) AND base_url = coalesce(?2, base_url))
             AND (?3 OR as_of < ?4 OR age_rank > ?5 OR has_reader_text AND (as_of < ?6 OR expires_at < ?7))",
        analytics::reader_text_kinds_sql()
    );
    let [before, reader_texts_before, expired_before] =
        [before, reader_texts_before, team_reader_texts_expired_before].map(|time| time.map(UnixMillis));
    db.query_all(
        &sql,
        params![project, base_url, should_delete_all, before, keep_newest_ranges, reader_texts_before, expired_before],
        |row| {
            Ok(CachedItem {
                kind: match row.get("kind")? {
                    0 => CachedItemKind::Report,
                    1 => CachedItemKind::UnfinishedReport,
                    2 => CachedItemKind::Response,
                    3 => CachedItemKind::Totals,
                    _ => CachedItemKind::OtherReport,
                },
                id: row.get("id")?,
                key: (row.get("scope")?, row.get("date_from")?, row.get("date_to")?),
                as_of: row.get("as_of")?,
                has_pages: row.get("has_pages")?,
            })
        },
    )
}

/// Deletes the items, and the paths that are no longer in any report. Returns the number of deleted paths.
fn delete_items(tx: &Transaction<'_>, selected: &[CachedItem]) -> StoreResult<usize> {
    for CachedItem { kind, id, key: (scope, from, to), as_of, .. } in selected {
        match kind {
            CachedItemKind::Report => reports::delete_report(tx, *id)?,
            CachedItemKind::UnfinishedReport => loading::delete_unfinished_load(tx, *id)?,
            CachedItemKind::Response => drop(tx.change("DELETE FROM views_answer WHERE rowid = ?1", [id])?),
            CachedItemKind::Totals => drop(tx.change(
                "DELETE FROM views_total WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3 AND as_of = ?4",
                params![scope, from, to, as_of],
            )?),
            CachedItemKind::OtherReport => analytics::delete_report(tx, *id)?,
        }
    }
    tx.change("DELETE FROM views_path WHERE id NOT IN (SELECT path FROM views_row)", [])
}

/// Whether more than a tenth of the file is unused, for example because an earlier prune could not shrink the file.
fn has_much_free_space(db: &Connection) -> StoreResult<bool> {
    Ok(read_pragma(db, "freelist_count")?.saturating_mul(10) > read_pragma(db, "page_count")?)
}

fn file_bytes(db: &Connection) -> StoreResult<u64> {
    Ok(read_pragma(db, "page_count")?.saturating_mul(read_pragma(db, "page_size")?))
}

fn read_pragma(db: &Connection, name: &str) -> StoreResult<u64> {
    let value: i64 = db.pragma_query_value(None, name, |row| row.get(0))?;
    Ok(u64::try_from(value).unwrap_or(0))
}
