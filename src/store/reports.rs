//! All pages of a range: one whole report of it, and one that is being loaded, taken in answer by answer.
//!
//! An answer is taken in by the rule of [`Report::absorb`], in one transaction, so that a load goes on where it was
//! broken off whatever ended it. Times are the service's, as everywhere in the cache.

use super::columns::{Ms, opt_time, time};
use super::error::StoreError;
use super::views::{self, counts_of, counts_text, days};
use super::{Store, scopes, totals};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::period::DateRange;
use crate::model::report::{Recalled, Report};
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, LIMIT_MAX, PageRow, ViewsPage, ViewsQuery};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};
use std::sync::Arc;

type R<T> = Result<T, StoreError>;

/// One answer on its way into the report that is being loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportAnswer {
    pub range: DateRange,
    /// Which one it is, counted from 1.
    pub number: u32,
    pub answer: ViewsPage,
    /// Whether the service said that there is no more.
    pub complete: bool,
    pub as_of: Time,
    /// Of a load that was begun anew on purpose: when. Kept with the first answer.
    pub since: Option<Time>,
}

/// A report that is being loaded, or whose load was broken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    pub report: Report,
    /// It was begun anew on purpose at that moment: no answer from before may be taken in.
    pub since: Option<Time>,
}

/// Reports.
impl Store {
    /// Takes the next answer into the report that is being loaded; the last one makes it the whole report, in place of
    /// the one before. False when it is not the next: another instance took it in already, or dropped the report.
    pub async fn absorb_answer(&self, scope: &Scope, next: ReportAnswer) -> R<bool> {
        let scope = scope.clone();
        self.handle.write(move |tx| absorb(tx, &scope, &next)).await
    }

    /// As [`Store::save_views`] and [`Store::absorb_answer`] in one transaction, for an answer of the largest page size:
    /// afterwards it is in the cache and in the report, or in neither. One that says that there is more and has no row that
    /// is new only ends in the cache: taken in, it would have a load go on for ever.
    pub async fn keep_and_absorb(&self, scope: &Scope, next: ReportAnswer) -> R<bool> {
        let scope = scope.clone();
        self.handle
            .write(move |tx| {
                let query = ViewsQuery { range: next.range, limit: LIMIT_MAX, page: next.number };
                views::save(tx, &scope, query, &next.answer, next.as_of)?;
                Ok((next.complete || brings_new(tx, &scope, &next)?) && absorb(tx, &scope, &next)?)
            })
            .await
    }

    /// What is known of a range: the whole report, else the one that is being loaded.
    pub async fn recall_views(&self, scope: &Scope, range: DateRange) -> R<Recalled> {
        self.handle.read_of(scope, move |db, scope| recall(db, scope, range)).await
    }

    /// The report that is being loaded, as far as it is.
    pub async fn unfinished_report(&self, scope: &Scope, range: DateRange) -> R<Option<Unfinished>> {
        self.handle
            .read_of(scope, move |db, scope| {
                let Some(head) = head(db, scope, range, false)? else { return Ok(None) };
                let since = head.since;
                Ok(Some(Unfinished { report: read(db, range, head)?, since }))
            })
            .await
    }

    /// Drops the report that is being loaded; the whole one of the range stays.
    pub async fn drop_unfinished(&self, scope: &Scope, range: DateRange) -> R<()> {
        let scope = scope.clone();
        self.handle
            .write(move |tx| {
                let Some(scope) = scopes::find(tx, &scope)? else { return Ok(()) };
                head(tx, scope, range, false)?.map_or(Ok(()), |head| delete(tx, head.id))
            })
            .await
    }
}

/// A row of `views_report`.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) id: i64,
    complete: bool,
    answers: u32,
    moved: u32,
    rows: u32,
    pub(super) as_of: Time,
    since: Option<Time>,
    totals: Counts,
}

/// The range's whole report, or the one that is being loaded.
pub(super) fn head(connection: &Connection, scope: i64, range: DateRange, complete: bool) -> R<Option<Head>> {
    let mut ask = connection.prepare_cached(
        "SELECT id, complete, answers, moved, row_count, as_of, since, totals FROM views_report
         WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3 AND complete = ?4",
    )?;
    let (from, to) = days(range);
    let read = |row: &Row<'_>| {
        let totals: String = row.get(7)?;
        Ok(Head {
            id: row.get(0)?,
            complete: row.get(1)?,
            answers: row.get(2)?,
            moved: row.get(3)?,
            rows: row.get(4)?,
            as_of: time(row, 5)?,
            since: opt_time(row, 6)?,
            totals: counts_of(&totals),
        })
    };
    Ok(ask.query_row(params![scope, from, to, complete], read).optional()?)
}

fn absorb(tx: &Transaction<'_>, scope: &Scope, next: &ReportAnswer) -> R<bool> {
    let scope = scopes::ensure(tx, scope)?;
    let unfinished = head(tx, scope, next.range, false)?;
    let known = unfinished.as_ref().map_or(0, |head| head.answers);
    if next.number.checked_sub(1) != Some(known) {
        return Ok(false);
    }
    let (id, first_place) = match unfinished {
        Some(head) => (head.id, head.rows),
        None => (begin(tx, scope, next)?, 0),
    };
    let (added, moved) = add_rows(tx, id, first_place, &next.answer.rows)?;
    tx.prepare_cached(
        "UPDATE views_report SET answers = ?2, moved = moved + ?3, row_count = row_count + ?4,
             as_of = min(as_of, ?5), totals = ?6
         WHERE id = ?1",
    )?
    .execute(params![id, next.number, moved, added, Ms(next.as_of), counts_text(&next.answer.totals)?])?;
    if next.complete {
        if let Some(before) = head(tx, scope, next.range, true)? {
            delete(tx, before.id)?;
        }
        tx.prepare_cached("UPDATE views_report SET complete = 1, since = NULL WHERE id = ?1")?.execute([id])?;
    }
    Ok(true)
}

/// Whether a row of the answer is not in the report that is being loaded; as a rule the first one says so.
fn brings_new(tx: &Transaction<'_>, scope: &Scope, next: &ReportAnswer) -> R<bool> {
    let unfinished = head(tx, scopes::ensure(tx, scope)?, next.range, false)?;
    let Some(head) = unfinished else { return Ok(!next.answer.rows.is_empty()) };
    let mut has = tx.prepare_cached("SELECT 1 FROM views_row WHERE report = ?1 AND path = ?2")?;
    for row in &next.answer.rows {
        let known = match find_path(tx, &row.path)? {
            Some(path) => has.exists([head.id, path])?,
            None => false,
        };
        if !known {
            return Ok(true);
        }
    }
    Ok(false)
}

fn begin(tx: &Transaction<'_>, scope: i64, first: &ReportAnswer) -> R<i64> {
    let (from, to) = days(first.range);
    tx.prepare_cached(
        "INSERT INTO views_report (scope, date_from, date_to, complete, answers, moved, row_count, as_of, since, totals)
         VALUES (?1, ?2, ?3, 0, 0, 0, 0, ?4, ?5, '')",
    )?
    .execute(params![scope, from, to, Ms(first.as_of), first.since.map(Ms)])?;
    Ok(tx.last_insert_rowid())
}

/// Gives how many rows are new and how many came again: those keep their place, and their last numbers count.
fn add_rows(tx: &Transaction<'_>, report: i64, first_place: u32, rows: &[PageRow]) -> R<(u32, u32)> {
    let mut find = tx.prepare_cached(FIND_PATH)?;
    let mut name = tx.prepare_cached("INSERT INTO views_path (path) VALUES (?1)")?;
    let mut add = tx.prepare_cached(
        "INSERT INTO views_row (report, path, human, ai, total, odd, place) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (report, path) DO NOTHING",
    )?;
    let mut again = tx.prepare_cached(
        "UPDATE views_row SET human = ?3, ai = ?4, total = ?5, odd = ?6 WHERE report = ?1 AND path = ?2",
    )?;
    let (mut added, mut moved) = (0_u32, 0_u32);
    for row in rows {
        let path = match find.query_row([row.path.as_str()], |found| found.get(0)).optional()? {
            Some(path) => path,
            None => name.insert([row.path.as_str()])?,
        };
        let Columns { human, ai, total, odd } = columns(&row.counts)?;
        let place = first_place.saturating_add(added);
        // As a rule it is new.
        if add.execute(params![report, path, human, ai, total, odd, place])? > 0 {
            added = added.saturating_add(1);
        } else {
            again.execute(params![report, path, human, ai, total, odd])?;
            moved = moved.saturating_add(1);
        }
    }
    Ok((added, moved))
}

const FIND_PATH: &str = "SELECT id FROM views_path WHERE path = ?1";

/// The number of a path; none when it is in no report.
pub(super) fn find_path(connection: &Connection, path: &CleanText) -> R<Option<i64>> {
    let mut ask = connection.prepare_cached(FIND_PATH)?;
    Ok(ask.query_row([path.as_str()], |row| row.get(0)).optional()?)
}

/// Three counts as they lie in a row.
struct Columns {
    human: Option<i64>,
    ai: Option<i64>,
    total: Option<i64>,
    odd: Option<String>,
}

fn columns(counts: &Counts) -> R<Columns> {
    if let (Count::Known(human), Count::Known(ai), Count::Known(total)) = (&counts.human, &counts.ai, &counts.total) {
        return Ok(Columns { human: Some(*human), ai: Some(*ai), total: Some(*total), odd: None });
    }
    Ok(Columns { human: None, ai: None, total: None, odd: Some(counts_text(counts)?) })
}

/// Reads human, ai, total and odd from four columns.
pub(super) fn counts(row: &Row<'_>, index: usize) -> rusqlite::Result<Counts> {
    let odd: Option<String> = row.get(index + 3)?;
    if let Some(odd) = odd {
        return Ok(counts_of(&odd));
    }
    let count =
        |index| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(index)?.map_or(Count::Missing, Count::Known));
    Ok(Counts { human: count(index)?, ai: count(index + 1)?, total: count(index + 2)? })
}

fn recall(connection: &Connection, scope: i64, range: DateRange) -> R<Recalled> {
    let whole = head(connection, scope, range, true)?;
    let unfinished = head(connection, scope, range, false)?;
    let broken_off = unfinished.as_ref().map(|head| head.answers);
    let last_time = match &whole {
        Some(head) => Some(head.answers),
        None => last_answers(connection, scope)?,
    };
    let report = match whole.or(unfinished) {
        Some(head) => Some(Arc::new(read(connection, range, head)?)),
        None => None,
    };
    Ok(Recalled { report, broken_off, totals: totals::find(connection, scope, range)?, last_time })
}

/// Answers of the whole report that was loaded last, of any range.
fn last_answers(connection: &Connection, scope: i64) -> R<Option<u32>> {
    let mut ask = connection.prepare_cached(
        "SELECT answers FROM views_report WHERE scope = ?1 AND complete = 1 ORDER BY as_of DESC, id DESC LIMIT 1",
    )?;
    Ok(ask.query_row([scope], |row| row.get(0)).optional()?)
}

fn read(connection: &Connection, range: DateRange, head: Head) -> R<Report> {
    let mut ask = connection.prepare_cached(
        "SELECT views_path.path, human, ai, total, odd FROM views_row
         JOIN views_path ON views_path.id = views_row.path WHERE report = ?1 ORDER BY place",
    )?;
    let of_row = |row: &Row<'_>| {
        let path: String = row.get(0)?;
        Ok(PageRow { path: CleanText::line(&path), counts: counts(row, 1)? })
    };
    let rows = ask.query_map([head.id], of_row)?.collect::<rusqlite::Result<Vec<_>>>()?;
    let Head { complete, answers, moved, as_of, totals, .. } = head;
    Ok(Report { range, totals, rows, moved, answers, complete, as_of })
}

/// Deletes a report with its rows; paths that are in no report any more stay until the history is cut.
pub(super) fn delete(tx: &Transaction<'_>, report: i64) -> R<()> {
    tx.prepare_cached("DELETE FROM views_row WHERE report = ?1")?.execute([report])?;
    tx.prepare_cached("DELETE FROM views_report WHERE id = ?1")?.execute([report])?;
    Ok(())
}
