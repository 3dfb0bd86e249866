//! Cutting the history of page views, and giving its room back. Jobs, prompts and drafts are never touched here: they are
//! known on this computer alone, while views can be asked for again.

use super::columns::{Ms, time};
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
                Ok(Pruned { bytes_before: bytes, bytes_after: bytes, ..doomed(db, &what)?.counted() })
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
                Ok((Pruned { bytes_before, ..doomed.counted() }, orphans))
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
type Key = (i64, String, String);

/// Something of a range that may go.
#[derive(Debug)]
struct Item {
    key: Key,
    /// None for totals, which are found by their key.
    id: Option<i64>,
    as_of: Time,
    /// Whether it makes its range one that is listed as kept.
    has_pages: bool,
}

#[derive(Debug, Default)]
struct Doomed {
    reports: Vec<Item>,
    loading: Vec<Item>,
    answers: Vec<Item>,
    totals: Vec<Item>,
}

impl Doomed {
    /// What makes its range one that is listed as kept.
    fn with_pages(&self) -> impl Iterator<Item = &Item> {
        self.reports.iter().chain(&self.loading).chain(&self.answers).filter(|item| item.has_pages)
    }

    fn counted(&self) -> Pruned {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let with_pages = self.with_pages();
        let ranges: BTreeSet<&Key> = with_pages.map(|item| &item.key).collect();
        Pruned {
            ranges: number(ranges.len()),
            reports: number(self.reports.len().saturating_add(self.loading.len())),
            answers: number(self.answers.len()),
            totals: number(self.totals.len()),
            ..Pruned::default()
        }
    }
}

fn doomed(connection: &Connection, what: &Prune) -> R<Doomed> {
    let mut found = Doomed {
        reports: items(connection, what, "SELECT scope, date_from, date_to, as_of, id, 1 FROM views_report", "")?,
        loading: items(
            connection,
            what,
            "SELECT scope, date_from, date_to, min(as_of), id, 1 FROM views_loading JOIN views_part ON loading = id",
            "GROUP BY id",
        )?,
        answers: items(
            connection,
            what,
            "SELECT scope, date_from, date_to, as_of, rowid, row_limit > 1 FROM views_answer",
            "",
        )?,
        totals: items(connection, what, "SELECT scope, date_from, date_to, as_of, NULL, 0 FROM views_total", "")?,
    };
    let surplus = what.keep.map_or_else(BTreeSet::new, |keep| surplus(&found, keep));
    let goes =
        |item: &Item| what.all || what.before.is_some_and(|before| item.as_of < before) || surplus.contains(&item.key);
    found.reports.retain(goes);
    found.loading.retain(goes);
    found.answers.retain(goes);
    found.totals.retain(goes);
    Ok(found)
}

fn items(connection: &Connection, what: &Prune, select: &str, group: &str) -> R<Vec<Item>> {
    let mut ask = connection.prepare(&format!(
        "{select} WHERE scope IN (SELECT id FROM scope WHERE project = coalesce(?1, project)
         AND base_url = coalesce(?2, base_url)) {group}"
    ))?;
    let of_row = |row: &Row<'_>| {
        Ok(Item {
            key: (row.get(0)?, row.get(1)?, row.get(2)?),
            as_of: time(row, 3)?,
            id: row.get(4)?,
            has_pages: row.get(5)?,
        })
    };
    Ok(ask.query_map(params![what.project, what.base_url], of_row)?.collect::<rusqlite::Result<_>>()?)
}

/// Ranges with pages beyond the `keep` of their project that were loaded last.
fn surplus(found: &Doomed, keep: u32) -> BTreeSet<Key> {
    let mut last: BTreeMap<&Key, Time> = BTreeMap::new();
    for item in found.with_pages() {
        let known = last.entry(&item.key).or_insert(item.as_of);
        *known = item.as_of.max(*known);
    }
    let mut newest: Vec<(&Key, Time)> = last.into_iter().collect();
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
fn delete(tx: &Transaction<'_>, doomed: &Doomed) -> R<usize> {
    for report in doomed.reports.iter().filter_map(|item| item.id) {
        reports::delete(tx, report)?;
    }
    for loading in doomed.loading.iter().filter_map(|item| item.id) {
        loading::delete(tx, loading)?;
    }
    let mut answer = tx.prepare("DELETE FROM views_answer WHERE rowid = ?1")?;
    for id in doomed.answers.iter().filter_map(|item| item.id) {
        answer.execute([id])?;
    }
    let mut totals =
        tx.prepare("DELETE FROM views_total WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3 AND as_of = ?4")?;
    for Item { key: (scope, from, to), as_of, .. } in &doomed.totals {
        totals.execute(params![scope, from, to, Ms(*as_of)])?;
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
