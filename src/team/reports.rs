//! Exchanges analytics reports, after the jobs and in small steps, so that changes of jobs never wait for a large
//! report. An interrupted step is repeated, but parts that were already uploaded are not sent again.

use super::connection::{Param, malformed_row, read_number, read_text, time_from_millis};
use super::error::TeamError;
use super::exchange::{Exchange, ExchangeStep};
use super::signals::{channel, reports_payload};
use crate::model::Time;
use crate::model::team::{
    MAX_REPORT_AGE, MAX_REPORT_PARTS, ReportHeader, ReportKey, ReportKind, ReportRules, ReportVersion, SharedReport,
    is_valid_expiry,
};
use crate::store::ReportMergeResult;
use std::collections::{HashMap, VecDeque};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// How many headers one query receives.
const HEADERS_PER_QUERY: i64 = 200;
/// How many parts one query receives. Together they have at most 1 MB.
const PARTS_PER_QUERY: i64 = 4;

/// The progress of receiving reports.
#[derive(Debug, Default)]
pub(super) struct ReportProgress {
    /// The number and the id of the batch that was the last one when receiving began. `None` while nothing is received.
    receive_target: Option<(i64, String)>,
    /// The time and the change number of the last header that was read.
    last_header_position: Option<(i64, i64)>,
    /// Whether all headers were read.
    has_all_headers: bool,
    /// The reports that this computer lacks, the newest first.
    wanted_reports: VecDeque<ReportHeader>,
    /// The received parts of the first report in `wanted_reports`.
    parts: Vec<String>,
    /// The reports that were stored and that [`Exchange::take_received_reports`] has not returned yet.
    received_keys: Vec<ReportKey>,
}

/// The version of a report in the database, and the slot that contains its parts.
#[derive(Debug, Clone, Copy)]
struct StoredReportVersion {
    version: ReportVersion,
    slot: i32,
}

impl Exchange<'_> {
    /// Exchanges all reports.
    ///
    /// # Errors
    /// The connection is lost, or the store can't be written.
    pub(super) async fn exchange_all_reports(&mut self, now: Time) -> Result<(), TeamError> {
        while self.receive_next_reports(now).await? == ExchangeStep::HasMore {}
        let sent_before = self.summary.sent_reports;
        while self.send_next_reports(now).await? == ExchangeStep::HasMore {}
        if self.summary.sent_reports > sent_before {
            while self.receive_next_reports(now).await? == ExchangeStep::HasMore {}
        }
        Ok(())
    }

    /// Returns how long texts that the site's readers wrote are stored, and the current time. If the clocks of the
    /// database and of this computer differ, the later time counts as current, so that no text is stored too long.
    fn retention_rules(&self, now: Time) -> ReportRules {
        ReportRules { now: now.max(self.clock.to_team_time(now)), reader_text_days: self.member.reader_text_days }
    }

    /// Returns the reports that were received since the last call.
    pub fn take_received_reports(&mut self) -> Vec<ReportKey> {
        std::mem::take(&mut self.reports.received_keys)
    }

    /// Does the next step of receiving the reports that other members have loaded: looks for new reports, receives
    /// headers or parts of a report, or moves the cursor. Returns [`ExchangeStep::Last`] if there are no new reports.
    ///
    /// # Errors
    /// The connection is lost, or the store can't be written.
    pub async fn receive_next_reports(&mut self, now: Time) -> Result<ExchangeStep, TeamError> {
        let Some((cursor, batch)) = self.reports.receive_target.clone() else {
            return self.find_receive_target().await;
        };
        if !self.reports.wanted_reports.is_empty() {
            self.receive_wanted_reports(now).await?;
        } else if !self.reports.has_all_headers {
            self.receive_headers(now).await?;
        } else {
            // The cursor moves only when all reports are stored, so that the missing ones are received after an
            // interruption.
            self.store.set_team_report_cursor(self.scope, cursor, batch.clone()).await?;
            (self.team.report_cursor, self.team.report_cursor_batch) = (cursor, Some(batch));
            let received_keys = std::mem::take(&mut self.reports.received_keys);
            self.reports = ReportProgress { received_keys, ..ReportProgress::default() };
            // The next step looks for new reports, because their notifications may have arrived during an earlier
            // step.
        }
        Ok(ExchangeStep::HasMore)
    }

    async fn find_receive_target(&mut self) -> Result<ExchangeStep, TeamError> {
        let sql = "SELECT last_change, id FROM docdeck.batch WHERE project = $1 AND last_change > $2 AND EXISTS (
                 SELECT 1 FROM docdeck.report WHERE project = $1 AND change > $2)
             ORDER BY last_change DESC LIMIT 1";
        let params: [Param<'_>; 2] = [(&self.project_id, Type::INT8), (&self.team.report_cursor, Type::INT8)];
        let Some(row) = self.connection.query(sql, &params).await?.pop() else { return Ok(ExchangeStep::Last) };
        self.reports.receive_target = Some((read_number(&row, 0)?, read_text(&row, 1)?));
        Ok(ExchangeStep::HasMore)
    }

    /// Receives the headers of the next reports, the most recently loaded first.
    async fn receive_headers(&mut self, now: Time) -> Result<(), TeamError> {
        let sql =
            "SELECT kind, date_from, date_to, version, summary, parts, as_of, change, expires_at FROM docdeck.report
             WHERE project = $1 AND change > $2 AND as_of >= $3 AND (as_of, change) < ($4, $5)
                 AND kind <> ALL($7) AND (expires_at IS NULL OR expires_at > $8)
             ORDER BY as_of DESC, change DESC LIMIT $6";
        let rules = self.retention_rules(now);
        let latest = rules.now;
        let oldest = (latest - MAX_REPORT_AGE).timestamp_millis();
        let excluded = ReportKind::SHARED.into_iter().filter(|kind| !rules.allows_storing(*kind, latest, None));
        let excluded: Vec<&str> = excluded.map(ReportKind::name).collect();
        let latest_millis = latest.timestamp_millis();
        let (last_time, last_change) = self.reports.last_header_position.unwrap_or((i64::MAX, i64::MAX));
        let params: [Param<'_>; 8] = [
            (&self.project_id, Type::INT8),
            (&self.team.report_cursor, Type::INT8),
            (&oldest, Type::INT8),
            (&last_time, Type::INT8),
            (&last_change, Type::INT8),
            (&HEADERS_PER_QUERY, Type::INT8),
            (&excluded, Type::TEXT_ARRAY),
            (&latest_millis, Type::INT8),
        ];
        let rows = self.connection.query(sql, &params).await?;
        let mut headers = Vec::new();
        for row in &rows {
            let as_of = read_number(row, 6)?;
            self.reports.last_header_position = Some((as_of, read_number(row, 7)?));
            match parse_header(row)?.filter(|header| header.version.can_be_exchanged(latest)) {
                Some(header) if header.version.as_of.timestamp_millis() == as_of => headers.push(header),
                _ => self.summary.unreadable += 1,
            }
        }
        self.reports.has_all_headers = i64::try_from(rows.len()).is_ok_and(|rows| rows < HEADERS_PER_QUERY);
        if !headers.is_empty() {
            self.reports.wanted_reports = self.store.wanted_team_reports(self.scope, headers, rules).await?.into();
        }
        Ok(())
    }

    /// Stores the reports at the start of `wanted_reports` that have no parts. If there are none, receives the next
    /// parts of the first wanted report, and stores the report once it has all parts. Skips a report if the database
    /// lacks some of its parts.
    async fn receive_wanted_reports(&mut self, now: Time) -> Result<(), TeamError> {
        let mut complete = Vec::new();
        while self.reports.wanted_reports.front().is_some_and(|header| header.parts == 0) {
            complete.extend(self.reports.wanted_reports.pop_front().map(|header| (header, Vec::new())));
        }
        if complete.is_empty()
            && let Some(header) = self.reports.wanted_reports.front().cloned()
        {
            let parts = self.receive_parts(&header).await?;
            let has_no_more_parts = parts.is_empty();
            self.reports.parts.extend(parts);
            if self.reports.parts.len() < header.parts && !has_no_more_parts {
                return Ok(());
            }
            self.reports.wanted_reports.pop_front();
            let parts = std::mem::take(&mut self.reports.parts);
            if parts.len() < header.parts && self.is_replaced(&header).await? {
                // The database no longer has this version. If a newer one has replaced it, that one has a higher change
                // number, so it is received later.
                return Ok(());
            }
            complete.push((header, parts));
        }
        let count = complete.len();
        let readable = complete.into_iter().filter_map(|(header, parts)| SharedReport::from_parts(header, parts));
        let readable: Vec<SharedReport> = readable.collect();
        self.summary.unreadable += count - readable.len();
        let rules = self.retention_rules(now);
        for (key, merged) in self.store.merge_team_reports(self.scope, readable, rules).await? {
            match merged {
                ReportMergeResult::New => {
                    self.summary.received_reports += 1;
                    self.reports.received_keys.push(key);
                }
                ReportMergeResult::Skipped => {}
                ReportMergeResult::Unreadable => self.summary.unreadable += 1,
            }
        }
        Ok(())
    }

    async fn receive_parts(&self, header: &ReportHeader) -> Result<Vec<String>, TeamError> {
        let sql = "SELECT DISTINCT ON (number) content FROM docdeck.report_part
             WHERE project = $1 AND kind = $2 AND date_from = $3 AND date_to = $4
                 AND version = $5 AND number > $6 AND number <= $7
             ORDER BY number LIMIT $8";
        let key = ReportKeyValues::new(header.key);
        let version = header.version.to_string();
        let received = i32::try_from(self.reports.parts.len()).unwrap_or(i32::MAX);
        let last = i32::try_from(header.parts).unwrap_or(i32::MAX);
        let parts: [Param<'_>; 4] =
            [(&version, Type::TEXT), (&received, Type::INT4), (&last, Type::INT4), (&PARTS_PER_QUERY, Type::INT8)];
        let params: Vec<Param<'_>> = key.params(&self.project_id).into_iter().chain(parts).collect();
        self.connection.query(sql, &params).await?.iter().map(|row| read_text(row, 0)).collect()
    }

    /// Whether the database now has another version of the report, or none.
    async fn is_replaced(&self, header: &ReportHeader) -> Result<bool, TeamError> {
        let stored = self.read_stored_reports(&[header.key]).await?;
        Ok(stored.get(&header.key).is_none_or(|stored| stored.version != header.version))
    }

    /// Sends the next reports that the team doesn't have. Stores each part of a report immediately, in the slot that no
    /// header refers to. Then a short transaction makes the new versions visible. Returns [`ExchangeStep::Last`] if
    /// there is nothing to send, or if none of these reports could be sent.
    ///
    /// # Errors
    /// The connection is lost, or the store can't be written.
    pub async fn send_next_reports(&mut self, now: Time) -> Result<ExchangeStep, TeamError> {
        let rules = self.retention_rules(now);
        let reports = self.store.next_unsent_team_reports(self.scope, rules).await?;
        if reports.is_empty() {
            return Ok(ExchangeStep::Last);
        }
        let keys: Vec<ReportKey> = reports.iter().map(|report| report.key).collect();
        let latest = rules.now;
        let is_newer = |report: &SharedReport, stored: Option<&StoredReportVersion>| {
            stored.is_none_or(|stored| stored.version < report.version || !stored.version.can_be_exchanged(latest))
        };
        let stored = self.read_stored_reports(&keys).await?;
        let mut uploaded = Vec::new();
        for report in &reports {
            let stored = stored.get(&report.key);
            if is_newer(report, stored) {
                let slot = stored.map_or(0, |stored| 1 - stored.slot);
                self.upload_parts(report, slot).await?;
                uploaded.push((report, slot));
            }
        }
        let mut finished: Vec<&SharedReport> =
            reports.iter().filter(|report| !is_newer(report, stored.get(&report.key))).collect();
        if !uploaded.is_empty() {
            self.connection.run_statements("BEGIN").await?;
            let stored = self.lock_reports(&keys).await?;
            let are_complete = self.are_parts_stored(&uploaded).await?;
            // While this member uploaded parts, another member may have used the same slot or sent a later version.
            let is_slot_free = |report: &SharedReport, slot: i32| {
                stored.get(&report.key).is_none_or(|stored| stored.slot != slot || stored.version == report.version)
            };
            let written: Vec<(&SharedReport, i32)> = uploaded
                .into_iter()
                .zip(are_complete)
                .filter(|((report, slot), is_complete)| {
                    *is_complete && is_slot_free(report, *slot) && is_newer(report, stored.get(&report.key))
                })
                .map(|(uploaded, _)| uploaded)
                .collect();
            if written.is_empty() {
                self.connection.run_statements("ROLLBACK").await?;
            } else {
                self.write_headers(&written).await?;
                self.clear_old_parts(latest - MAX_REPORT_AGE).await?;
                self.connection.run_statements("COMMIT").await?;
                self.summary.sent_reports += written.len();
                finished.extend(written.iter().map(|(report, _)| *report));
            }
        }
        let has_no_progress = finished.is_empty();
        let finished = finished.into_iter().map(|report| (report.key, report.version)).collect();
        self.store.record_sent_team_reports(self.scope, finished).await?;
        Ok(if has_no_progress { ExchangeStep::Last } else { ExchangeStep::HasMore })
    }

    /// Returns the versions of these reports in the database. Leaves out unreadable ones.
    async fn read_stored_reports(
        &self,
        keys: &[ReportKey],
    ) -> Result<HashMap<ReportKey, StoredReportVersion>, TeamError> {
        let sql = "SELECT kind, date_from, date_to, version, slot FROM docdeck.report
             WHERE project = $1 AND (kind, date_from, date_to) IN (
                 SELECT kind, date_from, date_to FROM unnest($2::text[], $3::text[], $4::text[])
                 AS row (kind, date_from, date_to))";
        let columns = ReportKeyLists::new(keys.iter().copied());
        let rows = self.connection.query(sql, &columns.params(&self.project_id)).await?;
        let mut stored = HashMap::new();
        for row in &rows {
            let key = ReportKey::parse(&read_text(row, 0)?, &read_text(row, 1)?, &read_text(row, 2)?);
            let version = ReportVersion::parse(&read_text(row, 3)?);
            let slot = row.try_get(4).map_err(|_| malformed_row())?;
            stored.extend(key.zip(version).map(|(key, version)| (key, StoredReportVersion { version, slot })));
        }
        Ok(stored)
    }

    /// Locks the project, and returns the versions of these reports in the database.
    async fn lock_reports(&self, keys: &[ReportKey]) -> Result<HashMap<ReportKey, StoredReportVersion>, TeamError> {
        let lock = "SELECT 1 FROM docdeck.project WHERE id = $1 FOR UPDATE";
        self.connection.query_one(lock, &[(&self.project_id, Type::INT8)]).await?;
        // This must be a separate query: it sees what other members committed before this member got the lock.
        self.read_stored_reports(keys).await
    }

    /// Stores those parts of a report that the slot does not contain yet.
    async fn upload_parts(&self, report: &SharedReport, slot: i32) -> Result<(), TeamError> {
        let key = ReportKeyValues::new(report.key);
        let version = report.version.to_string();
        let find = "SELECT number FROM docdeck.report_part
             WHERE project = $1 AND kind = $2 AND date_from = $3 AND date_to = $4 AND slot = $5 AND version = $6";
        let slot: [Param<'_>; 2] = [(&slot, Type::INT4), (&version, Type::TEXT)];
        let params: Vec<Param<'_>> = key.params(&self.project_id).into_iter().chain(slot).collect();
        let mut stored: Vec<i32> = Vec::new();
        if !report.parts.is_empty() {
            for row in &self.connection.query(find, &params).await? {
                stored.push(row.try_get(0).map_err(|_| malformed_row())?);
            }
        }
        let write =
            "INSERT INTO docdeck.report_part (project, kind, date_from, date_to, slot, version, number, content, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
             ON CONFLICT (project, kind, date_from, date_to, slot, number)
             DO UPDATE SET version = EXCLUDED.version, content = EXCLUDED.content, expires_at = EXCLUDED.expires_at";
        let expires_at = report.expires_at.map(|at| at.timestamp_millis());
        for (number, content) in (1_i32..).zip(&report.parts).filter(|(number, _)| !stored.contains(number)) {
            let part: [Param<'_>; 3] = [(&number, Type::INT4), (content, Type::TEXT), (&expires_at, Type::INT8)];
            let params: Vec<Param<'_>> = params.iter().cloned().chain(part).collect();
            self.connection.query(write, &params).await?;
        }
        Ok(())
    }

    /// Returns for each uploaded report whether the database contains all of its parts. Each report comes with the slot
    /// to which it was uploaded: the database has two slots for a report, for its current and its next version.
    async fn are_parts_stored(&self, uploaded: &[(&SharedReport, i32)]) -> Result<Vec<bool>, TeamError> {
        let sql = "SELECT kind, date_from, date_to, slot, version, count(*) FROM docdeck.report_part
             WHERE project = $1 AND (kind, date_from, date_to) IN (
                 SELECT kind, date_from, date_to FROM unnest($2::text[], $3::text[], $4::text[])
                 AS row (kind, date_from, date_to))
             GROUP BY kind, date_from, date_to, slot, version";
        let columns = ReportKeyLists::new(uploaded.iter().map(|(report, _)| report.key));
        let mut counts = HashMap::new();
        for row in &self.connection.query(sql, &columns.params(&self.project_id)).await? {
            let key = ReportKey::parse(&read_text(row, 0)?, &read_text(row, 1)?, &read_text(row, 2)?);
            let slot: i32 = row.try_get(3).map_err(|_| malformed_row())?;
            counts.insert((key, slot, read_text(row, 4)?), read_number(row, 5)?);
        }
        let is_stored = |(report, slot): &(&SharedReport, i32)| {
            let found = counts.get(&(Some(report.key), *slot, report.version.to_string())).copied().unwrap_or_default();
            usize::try_from(found).is_ok_and(|found| found == report.parts.len())
        };
        Ok(uploaded.iter().map(is_stored).collect())
    }

    /// Empties the parts of reports that are too old to be received. Doesn't delete these parts, since members may
    /// delete only expired texts of readers. The caller must have locked the project.
    async fn clear_old_parts(&self, before: Time) -> Result<(), TeamError> {
        // A part that is just being uploaded has a later version, so it is not emptied.
        let sql = "WITH old AS (
                 UPDATE docdeck.report SET parts = 0 WHERE project = $1 AND parts > 0 AND as_of < $2
                 RETURNING kind, date_from, date_to
             )
             UPDATE docdeck.report_part AS part SET content = '', version = '' FROM old
             WHERE part.project = $1 AND (part.kind, part.date_from, part.date_to) = (old.kind, old.date_from, old.date_to)
                 AND part.version COLLATE \"C\" < $3";
        let millis = before.timestamp_millis();
        let version = millis.to_string();
        let params: [Param<'_>; 3] = [(&self.project_id, Type::INT8), (&millis, Type::INT8), (&version, Type::TEXT)];
        self.connection.query(sql, &params).await?;
        Ok(())
    }

    /// Makes the headers refer to these versions, so that other members can see them. The caller must have locked the
    /// project.
    async fn write_headers(&self, reports: &[(&SharedReport, i32)]) -> Result<(), TeamError> {
        let sql = "WITH new AS (
                 SELECT kind, date_from, date_to, as_of, version, summary, slot, parts, expires_at,
                     last_change + nth AS change
                 FROM docdeck.project, unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[],
                     $8::integer[], $9::integer[], $14::bigint[]) WITH ORDINALITY
                     AS row (kind, date_from, date_to, as_of, version, summary, slot, parts, expires_at, nth)
                 WHERE project.id = $1
             ), written AS (
                 INSERT INTO docdeck.report
                     (project, kind, date_from, date_to, as_of, version, summary, slot, parts, change, expires_at)
                 SELECT $1, kind, date_from, date_to, as_of, version, summary, slot, parts, change, expires_at FROM new
                 ON CONFLICT (project, kind, date_from, date_to) DO UPDATE SET as_of = EXCLUDED.as_of,
                     version = EXCLUDED.version, summary = EXCLUDED.summary, slot = EXCLUDED.slot,
                     parts = EXCLUDED.parts, change = EXCLUDED.change, expires_at = EXCLUDED.expires_at
             ), advanced AS (
                 UPDATE docdeck.project SET last_change = (SELECT max(change) FROM new),
                     last_stamp = greatest(last_stamp + 1, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
                 WHERE id = $1 RETURNING last_change, last_stamp
             ), added AS (
                 INSERT INTO docdeck.batch (project, id, last_change, stamp, member)
                 SELECT $1, $10, last_change, last_stamp, $11 FROM advanced RETURNING project
             )
             SELECT pg_notify($12, $13) FROM added";
        let ReportKeyLists { kinds, from, to } = ReportKeyLists::new(reports.iter().map(|(report, _)| report.key));
        let as_of: Vec<i64> = reports.iter().map(|(report, _)| report.version.as_of.timestamp_millis()).collect();
        let versions: Vec<String> = reports.iter().map(|(report, _)| report.version.to_string()).collect();
        let summaries: Vec<&str> = reports.iter().map(|(report, _)| report.summary.as_str()).collect();
        let slots: Vec<i32> = reports.iter().map(|(_, slot)| *slot).collect();
        let parts: Vec<i32> =
            reports.iter().map(|(report, _)| i32::try_from(report.parts.len()).unwrap_or(i32::MAX)).collect();
        let expires_at: Vec<Option<i64>> =
            reports.iter().map(|(report, _)| report.expires_at.map(|at| at.timestamp_millis())).collect();
        let batch = format!("{:032x}", fastrand::u128(..));
        let channel = channel(&self.team.organization);
        let payload = reports_payload(self.project_id);
        let params: [Param<'_>; 14] = [
            (&self.project_id, Type::INT8),
            (&kinds, Type::TEXT_ARRAY),
            (&from, Type::TEXT_ARRAY),
            (&to, Type::TEXT_ARRAY),
            (&as_of, Type::INT8_ARRAY),
            (&versions, Type::TEXT_ARRAY),
            (&summaries, Type::TEXT_ARRAY),
            (&slots, Type::INT4_ARRAY),
            (&parts, Type::INT4_ARRAY),
            (&batch, Type::TEXT),
            (&self.team.member_id, Type::TEXT),
            (&channel, Type::TEXT),
            (&payload, Type::TEXT),
            (&expires_at, Type::INT8_ARRAY),
        ];
        self.connection.query(sql, &params).await?;
        Ok(())
    }
}

/// The column values of a report key.
struct ReportKeyValues {
    kind: &'static str,
    from: String,
    to: String,
}

impl ReportKeyValues {
    fn new(key: ReportKey) -> Self {
        Self { kind: key.kind.name(), from: key.range.from().to_string(), to: key.range.to().to_string() }
    }

    /// Returns the parameters: the project, followed by these columns.
    fn params<'a>(&'a self, project: &'a i64) -> [Param<'a>; 4] {
        [(project, Type::INT8), (&self.kind, Type::TEXT), (&self.from, Type::TEXT), (&self.to, Type::TEXT)]
    }
}

/// The column values of several report keys, one list per column.
struct ReportKeyLists {
    kinds: Vec<&'static str>,
    from: Vec<String>,
    to: Vec<String>,
}

impl ReportKeyLists {
    fn new(keys: impl Iterator<Item = ReportKey>) -> Self {
        let mut columns = Self { kinds: Vec::new(), from: Vec::new(), to: Vec::new() };
        for ReportKeyValues { kind, from, to } in keys.map(ReportKeyValues::new) {
            columns.kinds.push(kind);
            columns.from.push(from);
            columns.to.push(to);
        }
        columns
    }

    /// Returns the parameters: the project, followed by these columns.
    fn params<'a>(&'a self, project: &'a i64) -> [Param<'a>; 4] {
        [
            (project, Type::INT8),
            (&self.kinds, Type::TEXT_ARRAY),
            (&self.from, Type::TEXT_ARRAY),
            (&self.to, Type::TEXT_ARRAY),
        ]
    }
}

/// Parses the header of a report; `None` if it is malformed or was written by a newer docdeck.
fn parse_header(row: &Row) -> Result<Option<ReportHeader>, TeamError> {
    let key = ReportKey::parse(&read_text(row, 0)?, &read_text(row, 1)?, &read_text(row, 2)?);
    let version = ReportVersion::parse(&read_text(row, 3)?);
    let parts: i32 = row.try_get(5).map_err(|_| malformed_row())?;
    let (summary, parts) = (read_text(row, 4)?, usize::try_from(parts).ok().filter(|parts| *parts <= MAX_REPORT_PARTS));
    let expires_at: Option<i64> = row.try_get(8).map_err(|_| malformed_row())?;
    let expires_at = expires_at.map(time_from_millis).transpose()?;
    let header = key.zip(version).zip(parts);
    let header = header.map(|((key, version), parts)| ReportHeader { key, version, summary, expires_at, parts });
    Ok(header.filter(|header| is_valid_expiry(header.key.kind, header.version.as_of, expires_at)))
}
