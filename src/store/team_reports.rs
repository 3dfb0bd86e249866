//! The local side of sharing analytics reports with a team: finds reports that the team doesn't have, and stores
//! reports of other members as if this computer had loaded them. The rules are in `model::team`, the exchange with the
//! database is in `team`.
//!
//! The rest of the store needs no code for the team: an exchange compares the complete reports with the versions that
//! were last sent or received.

use super::columns::{UnixMillis, read_optional_time};
use super::error::StoreResult;
use super::query::Query as _;
use super::views::date_columns;
use super::{Store, analytics, reports, views};
use crate::model::Time;
use crate::model::analytics::{
    AnalyticsKind, AnalyticsRow, Feedback, PageFeedback, Question, RowsMerge, RowsReport, RowsResponse, Search,
};
use crate::model::endpoint::Scope;
use crate::model::report::Report;
use crate::model::team::{
    MAX_REPORT_AGE, ReportHeader, ReportKey, ReportKind, ReportRules, ReportSummary, ReportVersion, SharedReport,
};
use crate::model::views::{PageRow, ViewsResponse};
use chrono::TimeDelta;
use rusqlite::{Connection, Transaction, params};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Maximum number of reports that one transaction reads for sending.
const MAX_REPORTS_PER_READ: i64 = 50;
/// After this many bytes of reports, a transaction reads no further reports for sending.
const MAX_BYTES_PER_READ: usize = 1 << 20;

/// The result of merging a report of another member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportMergeResult {
    /// The report was stored.
    New,
    /// The report was not stored: this computer already has the same or a later version, or is not allowed to store the
    /// report.
    Skipped,
    /// The content of the report is malformed.
    Unreadable,
}

impl Store {
    /// Returns how many reports the team doesn't have, at most 50; 0 if the project is not shared.
    pub async fn count_unsent_team_reports(&self, scope: &Scope, rules: ReportRules) -> StoreResult<usize> {
        self.read_in_scope(scope, move |db, scope| Ok(find_unsent_reports(db, scope, rules)?.len())).await
    }

    /// Returns the next reports that the team doesn't have, the most recently loaded first.
    pub async fn next_unsent_team_reports(&self, scope: &Scope, rules: ReportRules) -> StoreResult<Vec<SharedReport>> {
        if self.count_unsent_team_reports(scope, rules).await? == 0 {
            return Ok(Vec::new());
        }
        self.write_in_scope(scope, move |tx, scope| {
            loop {
                let unsent = find_unsent_reports(tx, scope, rules)?;
                let mut found = Vec::new();
                let mut bytes = 0;
                for UnsentReport { key_columns, as_of, expires_at } in &unsent {
                    let key = ReportKey::parse(&key_columns[0], &key_columns[1], &key_columns[2]);
                    let report = key.map_or(Ok(None), |key| read_shared_report(tx, scope, key))?;
                    let Some(report) = report else {
                        // The report can't be sent: it is too large, or the file was edited by hand. An empty version
                        // is stored for it, so that it is skipped from now on.
                        write_team_version_columns(tx, scope, key_columns, *as_of, "")?;
                        continue;
                    };
                    let expires_at = rules.expiry(report.key.kind, report.version.as_of, *expires_at);
                    let report = SharedReport { expires_at, ..report };
                    bytes += report.size_in_bytes();
                    found.push(report);
                    if bytes >= MAX_BYTES_PER_READ {
                        break;
                    }
                }
                if !found.is_empty() || unsent.is_empty() {
                    return Ok(found);
                }
            }
        })
        .await
    }

    /// Records that the team has these versions of the reports, or later versions.
    pub async fn record_sent_team_reports(
        &self,
        scope: &Scope,
        sent: Vec<(ReportKey, ReportVersion)>,
    ) -> StoreResult<()> {
        self.write_in_scope(scope, move |tx, scope| {
            sent.into_iter().try_for_each(|(key, version)| write_team_version(tx, scope, key, version))
        })
        .await
    }

    /// Returns the version of each report that this computer has last sent to the team or received from it.
    pub async fn team_report_versions(&self, scope: &Scope) -> StoreResult<HashMap<ReportKey, ReportVersion>> {
        let versions = self.read_in_scope(scope, |db, scope| {
            let sql = "SELECT kind, date_from, date_to, version FROM team_report WHERE scope = ?1";
            let columns: Vec<[String; 4]> =
                db.query_all(sql, [scope], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
            let parse = |[kind, from, to, version]: &[String; 4]| {
                ReportKey::parse(kind, from, to).zip(ReportVersion::parse(version))
            };
            Ok(columns.iter().filter_map(parse).collect())
        });
        versions.await
    }

    /// Returns the headers of those reports that this computer is allowed to store and doesn't have in the same or a
    /// later version.
    pub async fn wanted_team_reports(
        &self,
        scope: &Scope,
        headers: Vec<ReportHeader>,
        rules: ReportRules,
    ) -> StoreResult<Vec<ReportHeader>> {
        self.write_in_scope(scope, move |tx, scope| {
            let mut wanted = Vec::new();
            for header in headers {
                let is_allowed = rules.allows_storing(header.key.kind, header.version.as_of, header.expires_at);
                if is_allowed && is_wanted_or_record_version(tx, scope, header.key, header.version)? {
                    wanted.push(header);
                }
            }
            Ok(wanted)
        })
        .await
    }

    /// Stores reports of other members as if this computer had loaded them. Keeps newer local reports and unfinished
    /// loads. Skips reports with texts of readers that this computer is not allowed to store. Returns a result for each
    /// report.
    pub async fn merge_team_reports(
        &self,
        scope: &Scope,
        shared: Vec<SharedReport>,
        rules: ReportRules,
    ) -> StoreResult<Vec<(ReportKey, ReportMergeResult)>> {
        self.write_in_scope(scope, move |tx, scope| {
            let merge = |report: &SharedReport| Ok((report.key, merge_report(tx, scope, report, rules)?));
            shared.iter().map(merge).collect()
        })
        .await
    }

    /// Stores up to which change the team's reports were received: the number of the change, and the batch to which it
    /// belongs.
    pub async fn set_team_report_cursor(&self, scope: &Scope, cursor: i64, batch: String) -> StoreResult<()> {
        self.write_in_scope(scope, move |tx, scope| {
            let sql = "UPDATE team SET report_cursor = ?2, report_batch = ?3 WHERE scope = ?1";
            tx.change(sql, params![scope, cursor, batch])?;
            Ok(())
        })
        .await
    }
}

/// Forgets which versions of reports the team has.
pub(super) fn forget_team_versions(tx: &Transaction<'_>, scope: i64) -> StoreResult<()> {
    tx.change("DELETE FROM team_report WHERE scope = ?1", [scope])?;
    Ok(())
}

/// Marks all reports of this computer as unsent, because the database may have lost them. Keeps the versions, so that
/// reports that were pruned are not received again. Leaves out reports without a version, since they can't be shared.
pub(super) fn mark_reports_unsent(tx: &Transaction<'_>, scope: i64) -> StoreResult<()> {
    tx.change("UPDATE team_report SET as_of = 0 WHERE scope = ?1 AND version <> ''", [scope])?;
    Ok(())
}

/// A report that the team doesn't have: its columns (kind, first day and last day), and its time in milliseconds.
struct UnsentReport {
    key_columns: [String; 3],
    as_of: i64,
    /// The time at which the texts of readers in the report expire. `None` unless another member has loaded them.
    expires_at: Option<Time>,
}

/// Returns a query that finds the complete reports of a scope and its totals of single days.
fn complete_reports_sql() -> String {
    let kinds = ReportKind::SHARED.into_iter().filter(|kind| matches!(kind, ReportKind::Rows(_)));
    let kinds = kinds.map(|kind| format!("'{}'", kind.name())).collect::<Vec<_>>().join(", ");
    format!(
        "SELECT '{}' AS kind, date_from, date_to, as_of, NULL AS expires_at FROM views_report
         WHERE scope = ?1 AND complete = 1
         UNION ALL
         SELECT kind, date_from, date_to, as_of, expires_at FROM analytics_report
         WHERE scope = ?1 AND complete = 1 AND kind IN ({kinds})
         UNION ALL
         SELECT '{}', date_from, date_to, as_of, NULL FROM views_total WHERE scope = ?1 AND date_from = date_to",
        ReportKind::PageViews.name(),
        ReportKind::DayTotals.name()
    )
}

fn find_unsent_reports(db: &Connection, scope: i64, rules: ReportRules) -> StoreResult<Vec<UnsentReport>> {
    let sql = format!(
        "WITH complete AS ({})
         SELECT complete.kind, complete.date_from, complete.date_to, complete.as_of, complete.expires_at FROM complete
         LEFT JOIN team_report AS known ON known.scope = ?1 AND known.kind = complete.kind
             AND known.date_from = complete.date_from AND known.date_to = complete.date_to
         WHERE (known.as_of IS NULL OR complete.as_of > known.as_of) AND complete.as_of BETWEEN ?2 AND ?3
             AND (complete.kind NOT IN ({})
                  OR complete.as_of >= ?5 AND (complete.expires_at IS NULL OR complete.expires_at > ?6))
             AND EXISTS (SELECT 1 FROM team WHERE scope = ?1)
         ORDER BY complete.as_of DESC LIMIT ?4",
        complete_reports_sql(),
        analytics::reader_text_kinds_sql()
    );
    let ReportRules { now, reader_text_days } = rules;
    let [oldest, latest, oldest_text, now] =
        [now - MAX_REPORT_AGE, now + TimeDelta::days(1), reader_text_days.cutoff(now), now].map(UnixMillis);
    db.query_all(&sql, params![scope, oldest, latest, MAX_REPORTS_PER_READ, oldest_text, now], |row| {
        let key_columns = [row.get(0)?, row.get(1)?, row.get(2)?];
        Ok(UnsentReport { key_columns, as_of: row.get(3)?, expires_at: read_optional_time(row, 4)? })
    })
}

/// Reads a complete report in the format in which it is shared. Returns `None` if there is none, or if it is too large.
fn read_shared_report(db: &Connection, scope: i64, key: ReportKey) -> StoreResult<Option<SharedReport>> {
    let ReportKey { kind, range } = key;
    match kind {
        ReportKind::PageViews => {
            let Some((id, report)) = reports::find_complete_report(db, scope, range)? else { return Ok(None) };
            let Report { totals, responses, duplicates, as_of, .. } = report;
            let summary = ReportSummary { totals, responses, duplicates, has_unavailable_rows: false };
            Ok(SharedReport::new(key, as_of, &summary, &reports::read_rows(db, id)?))
        }
        ReportKind::DayTotals => {
            let Some(totals) = views::find_totals(db, scope, range)? else { return Ok(None) };
            let summary = ReportSummary { totals: totals.value, responses: 1, ..ReportSummary::default() };
            Ok(SharedReport::new::<PageRow>(key, totals.as_of, &summary, &[]))
        }
        ReportKind::Rows(AnalyticsKind::Visitors) => read_shared_rows::<PageRow>(db, scope, key),
        ReportKind::Rows(AnalyticsKind::Searches) => read_shared_rows::<Search>(db, scope, key),
        ReportKind::Rows(AnalyticsKind::FeedbackByPage) => read_shared_rows::<PageFeedback>(db, scope, key),
        ReportKind::Rows(AnalyticsKind::Feedback) => read_shared_rows::<Feedback>(db, scope, key),
        ReportKind::Rows(AnalyticsKind::Questions) => read_shared_rows::<Question>(db, scope, key),
    }
}

fn read_shared_rows<R: AnalyticsRow>(db: &Connection, scope: i64, key: ReportKey) -> StoreResult<Option<SharedReport>> {
    let Some((report, _)) = analytics::read_report::<R>(db, scope, key.range, true)? else { return Ok(None) };
    let RowsReport { rows, totals, has_unavailable_rows, duplicates, responses, as_of, .. } = report;
    let summary = ReportSummary { totals, responses, duplicates, has_unavailable_rows };
    Ok(SharedReport::new(key, as_of, &summary, &rows))
}

/// Returns the time of this computer's complete report, in milliseconds.
fn local_report_time(db: &Connection, scope: i64, key: ReportKey) -> StoreResult<Option<i64>> {
    let sql = format!(
        "SELECT as_of FROM ({}) WHERE kind = ?2 AND date_from = ?3 AND date_to = ?4 ORDER BY as_of DESC",
        complete_reports_sql()
    );
    let (from, to) = date_columns(key.range);
    db.query_first(&sql, params![scope, key.kind.name(), from, to], |row| row.get(0))
}

/// Returns whether to receive the team's version of a report: it is newer than the local version, and was not received
/// before. If the local version is the same or later, also updates what is stored about the team's version, since this
/// decides whether the local version is sent.
fn is_wanted_or_record_version(
    tx: &Transaction<'_>,
    scope: i64,
    key: ReportKey,
    version: ReportVersion,
) -> StoreResult<bool> {
    let known = read_team_version(tx, scope, key)?;
    if known == Some(version) {
        return Ok(false);
    }
    let millis = version.as_of.timestamp_millis();
    // If there is no local report, it may have been pruned. A pruned report is received again only in a newer version.
    let Some(local) = local_report_time(tx, scope, key)? else { return Ok(known.is_none_or(|known| known < version)) };
    let order = match local.cmp(&millis) {
        Ordering::Equal => {
            // If the local report was sent or received, its hash is stored. This stored hash is used, because a hash
            // that is computed from the cleaned content might differ.
            let local = match known.filter(|known| known.as_of == version.as_of) {
                Some(known) => Some(known),
                None => read_shared_report(tx, scope, key)?.map(|local| local.version),
            };
            local.map_or(Ordering::Less, |local| local.cmp(&version))
        }
        order => order,
    };
    match order {
        Ordering::Less => return Ok(true),
        Ordering::Greater if local == millis => {
            // The local version takes precedence and must be sent. Deleting what is stored about the team's version
            // makes the local version count as unsent.
            let (from, to) = date_columns(key.range);
            let sql = "DELETE FROM team_report WHERE scope = ?1 AND kind = ?2 AND date_from = ?3 AND date_to = ?4";
            tx.change(sql, params![scope, key.kind.name(), from, to])?;
        }
        Ordering::Equal | Ordering::Greater => write_team_version(tx, scope, key, version)?,
    }
    Ok(false)
}

fn merge_report(
    tx: &Transaction<'_>,
    scope: i64,
    report: &SharedReport,
    rules: ReportRules,
) -> StoreResult<ReportMergeResult> {
    // Texts of readers in the report may have expired since the header was received.
    let is_allowed = rules.allows_storing(report.key.kind, report.version.as_of, report.expires_at);
    if !is_allowed || !is_wanted_or_record_version(tx, scope, report.key, report.version)? {
        return Ok(ReportMergeResult::Skipped);
    }
    let is_stored = match report.key.kind {
        ReportKind::PageViews => store_page_views(tx, scope, report)?,
        ReportKind::DayTotals => store_totals(tx, scope, report)?,
        ReportKind::Rows(AnalyticsKind::Visitors) => store_rows::<PageRow>(tx, scope, report)?,
        ReportKind::Rows(AnalyticsKind::Searches) => store_rows::<Search>(tx, scope, report)?,
        ReportKind::Rows(AnalyticsKind::FeedbackByPage) => store_rows::<PageFeedback>(tx, scope, report)?,
        ReportKind::Rows(AnalyticsKind::Feedback) => store_rows::<Feedback>(tx, scope, report)?,
        ReportKind::Rows(AnalyticsKind::Questions) => store_rows::<Question>(tx, scope, report)?,
    };
    if !is_stored {
        return Ok(ReportMergeResult::Unreadable);
    }
    write_team_version(tx, scope, report.key, report.version)?;
    Ok(ReportMergeResult::New)
}

/// Stores the views of all pages. Returns `false` if the content is malformed.
fn store_page_views(tx: &Transaction<'_>, scope: i64, report: &SharedReport) -> StoreResult<bool> {
    let (range, as_of) = (report.key.range, report.version.as_of);
    let Some((summary, rows)) = report.read_summary().zip(report.read_rows::<PageRow>()) else { return Ok(false) };
    let ReportSummary { totals, responses, duplicates, .. } = summary;
    let response = ViewsResponse { totals, rows, has_more: Some(false) };
    let merged = Report::from_first_response(range, response, true, as_of);
    // Members send each page only once. If duplicates were merged, the content would no longer have the hash of its
    // version.
    if merged.duplicates > 0 {
        return Ok(false);
    }
    reports::replace_complete_report(tx, scope, &Report { responses, duplicates, ..merged })?;
    store_totals(tx, scope, report)
}

/// Stores the site's totals of the range, unless there are later ones. Returns `false` if the content is malformed.
fn store_totals(tx: &Transaction<'_>, scope: i64, report: &SharedReport) -> StoreResult<bool> {
    let (range, as_of) = (report.key.range, report.version.as_of);
    let Some(ReportSummary { totals, .. }) = report.read_summary() else { return Ok(false) };
    if views::find_totals(tx, scope, range)?.is_none_or(|known| known.as_of <= as_of) {
        views::replace_totals(tx, scope, range, &totals, as_of)?;
    }
    Ok(true)
}

fn store_rows<R: AnalyticsRow>(tx: &Transaction<'_>, scope: i64, report: &SharedReport) -> StoreResult<bool> {
    let (range, as_of) = (report.key.range, report.version.as_of);
    let Some((summary, rows)) = report.read_summary().zip(report.read_rows::<R>()) else { return Ok(false) };
    let ReportSummary { totals, responses, has_unavailable_rows, .. } = summary;
    let row_count = rows.len();
    let response = RowsResponse { rows, totals, next: None, has_unavailable_rows };
    let merged = RowsMerge::start(range, response, as_of).into_report();
    if merged.rows.len() < row_count {
        return Ok(false);
    }
    analytics::replace_report(tx, scope, &RowsReport { responses, ..merged }, report.expires_at)?;
    Ok(true)
}

/// Returns the version that was last sent or received; `None` if there is none, or if it can't be read.
fn read_team_version(db: &Connection, scope: i64, key: ReportKey) -> StoreResult<Option<ReportVersion>> {
    let sql = "SELECT version FROM team_report WHERE scope = ?1 AND kind = ?2 AND date_from = ?3 AND date_to = ?4";
    let (from, to) = date_columns(key.range);
    let known: Option<String> = db.query_first(sql, params![scope, key.kind.name(), from, to], |row| row.get(0))?;
    Ok(known.and_then(|known| ReportVersion::parse(&known)))
}

fn write_team_version(tx: &Transaction<'_>, scope: i64, key: ReportKey, version: ReportVersion) -> StoreResult<()> {
    let (from, to) = date_columns(key.range);
    let as_of = version.as_of.timestamp_millis();
    write_team_version_columns(tx, scope, &[key.kind.name().to_owned(), from, to], as_of, &version.to_string())
}

fn write_team_version_columns(
    tx: &Transaction<'_>,
    scope: i64,
    columns: &[String; 3],
    as_of: i64,
    version: &str,
) -> StoreResult<()> {
    let [kind, from, to] = columns;
    tx.change(
        "INSERT INTO team_report (scope, kind, date_from, date_to, as_of, version) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET as_of = excluded.as_of, version = excluded.version",
        params![scope, kind, from, to, as_of, version],
    )?;
    Ok(())
}
