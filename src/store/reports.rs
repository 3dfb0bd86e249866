//! All pages of a range: one whole report of it, and one that is being loaded, taken in answer by answer.
//!
//! An answer is kept as it came until the last one makes a whole report of all, by the rule of [`Report::absorb`]; each is
//! one transaction, so that a load goes on where it was broken off whatever ended it. Times are the service's, as everywhere
//! in the cache.

use super::columns::{CleanLine, time};
use super::error::StoreError;
use super::json_column::{counts_of, text_of};
use super::loading::LoadingRow;
use super::views::{self, days, range_of};
use super::{Store, loading, report_writer, scopes, totals};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::period::DateRange;
use crate::model::report::{Merge, Recalled, Report, SimilarRange};
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
pub struct UnfinishedReport {
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
        self.handle
            .write(move |tx| {
                let text = text_of(&next.answer)?;
                absorb(tx, scopes::ensure(tx, &scope)?, next, None, &text)
            })
            .await
    }

    /// As [`Store::save_views`] and [`Store::absorb_answer`] in one transaction, for an answer of the largest page size:
    /// afterwards it is in the cache and, if it is the next, in the report, or in neither. `so_far` is what the answers before
    /// it made, where somebody has that at hand.
    pub async fn keep_and_absorb(&self, scope: &Scope, next: ReportAnswer, so_far: Option<Arc<Merge>>) -> R<bool> {
        let scope = scope.clone();
        self.handle
            .write(move |tx| {
                let query = ViewsQuery { range: next.range, limit: LIMIT_MAX, page: next.number };
                let text = text_of(&next.answer)?;
                let scope = scopes::ensure(tx, &scope)?;
                views::save(tx, scope, query, &next.answer, &text, next.as_of)?;
                absorb(tx, scope, next, so_far, &text)
            })
            .await
    }

    /// What is known of a range: the whole report, else the one that is being loaded.
    pub async fn recall_views(&self, scope: &Scope, range: DateRange) -> R<Recalled> {
        self.handle.read_of(scope, move |db, scope| recall(db, scope, range)).await
    }

    /// The report that is being loaded, as far as it is.
    pub async fn unfinished_report(&self, scope: &Scope, range: DateRange) -> R<Option<UnfinishedReport>> {
        self.handle
            .read_of(scope, move |db, scope| {
                let Some(loading) = loading::find(db, scope, range)? else { return Ok(None) };
                let since = loading.since;
                Ok(loading::merged(db, range, &loading)?.map(|report| UnfinishedReport { report, since }))
            })
            .await
    }

    /// Drops the report that is being loaded; the whole one of the range stays.
    pub async fn drop_unfinished(&self, scope: &Scope, range: DateRange) -> R<()> {
        let scope = scope.clone();
        self.handle
            .write(move |tx| {
                let Some(scope) = scopes::find(tx, &scope)? else { return Ok(()) };
                loading::find(tx, scope, range)?.map_or(Ok(()), |loading| loading::delete(tx, loading.id))
            })
            .await
    }
}

/// A row of `views_report`.
#[derive(Debug)]
pub(super) struct ReportRow {
    pub(super) id: i64,
    answers: u32,
    moved: u32,
    pub(super) as_of: Time,
    totals: Counts,
}

/// The range's whole report.
pub(super) fn head(connection: &Connection, scope: i64, range: DateRange) -> R<Option<ReportRow>> {
    let mut ask = connection.prepare_cached(
        "SELECT id, answers, moved, as_of, totals FROM views_report
         WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3 AND complete = 1",
    )?;
    let (from, to) = days(range);
    let read = |row: &Row<'_>| {
        let totals: String = row.get(4)?;
        Ok(ReportRow {
            id: row.get(0)?,
            answers: row.get(1)?,
            moved: row.get(2)?,
            as_of: time(row, 3)?,
            totals: counts_of(&totals),
        })
    };
    Ok(ask.query_row(params![scope, from, to], read).optional()?)
}

/// Takes the answer in, which lies in `text` as well; see [`Store::keep_and_absorb`].
fn absorb(tx: &Transaction<'_>, scope: i64, next: ReportAnswer, so_far: Option<Arc<Merge>>, text: &str) -> R<bool> {
    let loading = in_hand(tx, scope, &next)?;
    let known = loading.as_ref().map_or(0, |loading| loading.answers);
    let is_of_another = loading.as_ref().is_some_and(|loading| !is_same(loading.since, next.since));
    if next.number.checked_sub(1) != Some(known) || is_of_another {
        return Ok(false);
    }
    if !next.complete {
        loading::add(tx, scope, loading, &next, text)?;
        return Ok(true);
    }
    let ReportAnswer { range, number, answer, as_of, .. } = next;
    let at_hand = so_far.filter(|so_far| so_far.report().answers == known).map(Arc::unwrap_or_clone);
    let so_far = match &loading {
        Some(loading) if at_hand.is_none() => {
            let Some(report) = loading::merged(tx, range, loading)? else { return Ok(false) };
            Some(Merge::of(report))
        }
        _ => at_hand,
    };
    if let Some(loading) = loading {
        loading::delete(tx, loading.id)?;
    }
    let whole = Merge::with(so_far, range, answer, true, as_of).into_report();
    if let Some(before) = head(tx, scope, range)? {
        delete(tx, before.id)?;
    }
    report_writer::file(tx, scope, &Report { answers: number, ..whole })?;
    Ok(true)
}

/// What is being loaded of the answer's range; one that can't be read any more makes room for a first answer.
fn in_hand(tx: &Transaction<'_>, scope: i64, next: &ReportAnswer) -> R<Option<LoadingRow>> {
    let Some(loading) = loading::find(tx, scope, next.range)? else { return Ok(None) };
    if next.number == 1 && loading::merged(tx, next.range, &loading)?.is_none() {
        loading::delete(tx, loading.id)?;
        return Ok(None);
    }
    Ok(Some(loading))
}

/// Whether both loads were begun anew at the same moment, or neither was: another instance may have begun one in between.
fn is_same(one: Option<Time>, other: Option<Time>) -> bool {
    let ms = |since: Option<Time>| since.map(|since| since.timestamp_millis());
    ms(one) == ms(other)
}

/// The number of a path; none when it is in no report.
pub(super) fn find_path(connection: &Connection, path: &CleanText) -> R<Option<i64>> {
    let mut ask = connection.prepare_cached(report_writer::FIND_PATH)?;
    Ok(ask.query_row([path.as_str()], |row| row.get(0)).optional()?)
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
    let whole = head(connection, scope, range)?;
    let loading = loading::find(connection, scope, range)?;
    let broken_off = loading.as_ref().map(|loading| loading.answers);
    let last_time = whole.as_ref().map(|head| head.answers);
    let similar = if whole.is_some() { None } else { similar_range(connection, scope, range)? };
    let report = match (whole, loading) {
        (Some(head), _) => Some(read(connection, range, head)?),
        (None, Some(loading)) => loading::merged(connection, range, &loading)?,
        (None, None) => None,
    };
    Ok(Recalled {
        report: report.map(Arc::new),
        broken_off,
        totals: totals::find(connection, scope, range)?,
        last_time,
        similar,
    })
}

/// The complete report of the range whose length is most like this one's, of several the newest.
fn similar_range(connection: &Connection, scope: i64, range: DateRange) -> R<Option<SimilarRange>> {
    let mut ask = connection.prepare_cached(
        "SELECT date_from, date_to, row_count FROM views_report WHERE scope = ?1 AND complete = 1
         ORDER BY as_of DESC, id DESC",
    )?;
    let found = ask.query_map([scope], |row| Ok((range_of(row, 0)?, row.get(2)?)))?;
    let found = found.collect::<rusqlite::Result<Vec<_>>>()?.into_iter();
    let known = found.filter_map(|(range, rows)| Some(SimilarRange { range: range?, rows }));
    Ok(known.min_by_key(|similar| similar.range.days().abs_diff(range.days())))
}

fn read(connection: &Connection, range: DateRange, head: ReportRow) -> R<Report> {
    let mut ask = connection.prepare_cached(
        "SELECT views_path.path, human, ai, total, odd, place FROM views_row
         CROSS JOIN views_path ON views_path.id = views_row.path WHERE report = ?1",
    )?;
    let mut found = ask.query([head.id])?;
    let mut read: Vec<(usize, PageRow)> = Vec::new();
    while let Some(row) = found.next()? {
        let CleanLine(path) = row.get(0)?;
        let place: i64 = row.get(5)?;
        read.push((usize::try_from(place).unwrap_or(usize::MAX), PageRow { path, counts: counts(row, 1)? }));
    }
    // Put in place here: SQLite would sort them with all their text.
    let mut slots: Vec<Option<PageRow>> = read.iter().map(|_| None).collect();
    for (place, row) in read {
        match slots.get_mut(place) {
            Some(slot) if slot.is_none() => *slot = Some(row),
            _ => slots.push(Some(row)),
        }
    }
    let rows = slots.into_iter().flatten().collect();
    let ReportRow { answers, moved, as_of, totals, .. } = head;
    Ok(Report { range, totals, rows, moved, answers, complete: true, as_of })
}

/// Deletes a report with its rows; paths that are in no report any more stay until the history is cut.
pub(super) fn delete(tx: &Transaction<'_>, report: i64) -> R<()> {
    tx.prepare_cached("DELETE FROM views_row WHERE report = ?1")?.execute([report])?;
    tx.prepare_cached("DELETE FROM views_report WHERE id = ?1")?.execute([report])?;
    Ok(())
}
