//! Cutting the history of page views, and giving its room back. Jobs, prompts and drafts are never touched here: they are
//! known on this computer alone, while views can be asked for again.

use super::columns::{UnixMillis, time};
use super::error::StoreError;
use super::{Store, loading, reports};
use crate::model::Time;
use rusqlite::{Connection, Row, Transaction, params};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

type R<T> = Result<T, StoreError>;

/// Which page views go: what any of the rules names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prune {
    /// What was loaded before this moment.
    pub before: Option<Time>,
    /// All ranges but these many of each project, those that were loaded last.
    pub keep: Option<u32>,
    /// Everything.
    pub all: bool,
    /// Of this project alone, at whatever service.
    pub project: Option<String>,
    /// Of this service alone.
    pub base_url: Option<String>,
}

/// What went, or would go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Ranges of which pages went; what follows is of these and of ranges of which totals alone are known.
    pub ranges: u32,
    /// Reports of all pages, whole or broken off.
    pub reports: u32,
    /// Single answers.
    pub answers: u32,
    /// Totals of a range or of a day.
    pub totals: u32,
    /// Bytes of the whole file before and after. The same when nothing was done.
    pub bytes_before: u64,
    pub bytes_after: u64,
    /// Whether the room could not be given back to the disk, since another process held the file or the disk is full.
    /// docdeck itself uses it again.
    pub still_large: bool,
}

/// Pruning.
impl Store {
    /// What [`Store::prune_views`] would delete. Changes nothing.
    pub async fn would_prune(&self, what: Prune) -> R<Pruned> {
        self.handle
            .read(move |db| {
                let bytes = file_bytes(db)?;
                Ok(Pruned { bytes_before: bytes, bytes_after: bytes, ..counted(&doomed(db, &what)?) })
            })
            .await
    }

    /// Deletes page views in one transaction, then gives the room back to the disk.
    pub async fn prune_views(&self, what: Prune) -> R<Pruned> {
        let (pruned, orphans) = self
            .handle
            .write(move |tx| {
                let bytes_before = file_bytes(tx)?;
                let doomed = doomed(tx, &what)?;
                let orphans = delete(tx, &doomed)?;
                Ok((Pruned { bytes_before, ..counted(&doomed) }, orphans))
            })
            .await?;
        let has_gone = orphans > 0 || (pruned.reports, pruned.answers, pruned.totals) != (0, 0, 0);
        self.handle
            .bare(move |db| {
                let still_large = (has_gone || is_hollow(db)?) && db.execute_batch("VACUUM").is_err();
                Ok(Pruned { bytes_after: file_bytes(db)?, still_large, ..pruned })
            })
            .await
    }
}

/// A project's range, as it lies in columns.
type RangeKey = (i64, String, String);

/// What is kept of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RangeContent {
    Report,
    /// One that is being loaded, or whose load was broken off.
    Loading,
    Answer,
    /// Found by their key.
    Totals,
}

/// Something of a range that may go.
#[derive(Debug)]
struct Item {
    kind: RangeContent,
    id: i64,
    key: RangeKey,
    as_of: Time,
    /// Whether it makes its range one that is listed as kept.
    has_pages: bool,
}

fn counted(doomed: &[Item]) -> Pruned {
    let ranges: BTreeSet<&RangeKey> = doomed.iter().filter(|item| item.has_pages).map(|item| &item.key).collect();
    let mut pruned = Pruned { ranges: u32::try_from(ranges.len()).unwrap_or(u32::MAX), ..Pruned::default() };
    for item in doomed {
        let count = match item.kind {
            RangeContent::Report | RangeContent::Loading => &mut pruned.reports,
            RangeContent::Answer => &mut pruned.answers,
            RangeContent::Totals => &mut pruned.totals,
        };
        *count = count.saturating_add(1);
    }
    pruned
}

fn doomed(connection: &Connection, what: &Prune) -> R<Vec<Item>> {
    let mut found = items(connection, what)?;
    let surplus = what.keep.map_or_else(BTreeSet::new, |keep| surplus(&found, keep));
    found.retain(|item| {
        what.all || what.before.is_some_and(|before| item.as_of < before) || surplus.contains(&item.key)
    });
    Ok(found)
}

fn items(connection: &Connection, what: &Prune) -> R<Vec<Item>> {
    let mut ask = connection.prepare(
        "SELECT kind, id, scope, date_from, date_to, as_of, has_pages FROM (
             SELECT 0 AS kind, id, scope, date_from, date_to, as_of, 1 AS has_pages FROM views_report
             UNION ALL SELECT 1, views_loading.id, scope, date_from, date_to, min(views_part.as_of), 1
                 FROM views_loading JOIN views_part ON loading = views_loading.id GROUP BY views_loading.id
             UNION ALL SELECT 2, rowid, scope, date_from, date_to, as_of, row_limit > 1 FROM views_answer
             UNION ALL SELECT 3, 0, scope, date_from, date_to, as_of, 0 FROM views_total)
         WHERE scope IN (SELECT id FROM scope WHERE project = coalesce(?1, project)
         AND base_url = coalesce(?2, base_url))",
    )?;
    let of_row = |row: &Row<'_>| {
        Ok(Item {
            kind: match row.get(0)? {
                0 => RangeContent::Report,
                1 => RangeContent::Loading,
                2 => RangeContent::Answer,
                _ => RangeContent::Totals,
            },
            id: row.get(1)?,
            key: (row.get(2)?, row.get(3)?, row.get(4)?),
            as_of: time(row, 5)?,
            has_pages: row.get(6)?,
        })
    };
    Ok(ask.query_map(params![what.project, what.base_url], of_row)?.collect::<rusqlite::Result<_>>()?)
}

/// Ranges with pages beyond the `keep` of their project that were loaded last.
fn surplus(found: &[Item], keep: u32) -> BTreeSet<RangeKey> {
    let mut last: BTreeMap<&RangeKey, Time> = BTreeMap::new();
    for item in found.iter().filter(|item| item.has_pages) {
        let known = last.entry(&item.key).or_insert(item.as_of);
        *known = item.as_of.max(*known);
    }
    let mut newest: Vec<(&RangeKey, Time)> = last.into_iter().collect();
    newest.sort_by_key(|(key, as_of)| (key.0, Reverse(*as_of), Reverse(&key.2)));
    let mut surplus = BTreeSet::new();
    let (mut project, mut kept) = (None, 0);
    for (key, _) in newest {
        if project != Some(key.0) {
            (project, kept) = (Some(key.0), 0);
        }
        if kept < keep {
            kept += 1;
        } else {
            surplus.insert(key.clone());
        }
    }
    surplus
}

/// Gives how many paths went since no report has them any more.
fn delete(tx: &Transaction<'_>, doomed: &[Item]) -> R<usize> {
    let mut answer = tx.prepare("DELETE FROM views_answer WHERE rowid = ?1")?;
    let mut totals =
        tx.prepare("DELETE FROM views_total WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3 AND as_of = ?4")?;
    for Item { kind, id, key: (scope, from, to), as_of, .. } in doomed {
        match kind {
            RangeContent::Report => reports::delete(tx, *id)?,
            RangeContent::Loading => loading::delete(tx, *id)?,
            RangeContent::Answer => drop(answer.execute([id])?),
            RangeContent::Totals => drop(totals.execute(params![scope, from, to, UnixMillis(*as_of)])?),
        }
    }
    Ok(tx.execute("DELETE FROM views_path WHERE id NOT IN (SELECT path FROM views_row)", [])?)
}

/// Whether more than a tenth of the file is unused, as after a time when the room could not be given back.
fn is_hollow(connection: &Connection) -> R<bool> {
    Ok(pragma(connection, "freelist_count")?.saturating_mul(10) > pragma(connection, "page_count")?)
}

pub(super) fn file_bytes(connection: &Connection) -> R<u64> {
    Ok(pragma(connection, "page_count")?.saturating_mul(pragma(connection, "page_size")?))
}

fn pragma(connection: &Connection, name: &str) -> R<u64> {
    let value: i64 = connection.pragma_query_value(None, name, |row| row.get(0))?;
    Ok(u64::try_from(value).unwrap_or(0))
}
