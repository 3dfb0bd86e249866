//! Exchanges reports of analytics, after the jobs and in small steps, so that changes of jobs never wait for a large
//! report. A step is repeated if it is cut, and what it has stored before is not transferred again.

use super::connection::{Param, malformed, number, text};
use super::error::TeamError;
use super::exchange::{Exchange, ExchangeStep};
use super::signals::{channel, reports_payload};
use crate::model::Time;
use crate::model::team::{MAX_REPORT_AGE, MAX_REPORT_PARTS, ReportHeader, ReportKey, ReportVersion, SharedReport};
use crate::store::MergedReport;
use std::collections::{HashMap, VecDeque};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// How many headers are received at once.
const HEADERS_PER_PAGE: i64 = 200;
/// How many parts are received at once. Together they have at most 1 MB.
const PARTS_PER_PAGE: i64 = 4;

/// How far receiving reports is.
#[derive(Debug, Default)]
pub(super) struct ReportProgress {
    /// The last batch when receiving began: its number and id. `None` while nothing is being received.
    target: Option<(i64, String)>,
    /// The time and the number of the change of the last header that was read.
    last_header: Option<(i64, i64)>,
    /// Whether all headers were read.
    has_all_headers: bool,
    /// The reports that this computer lacks, the newest first.
    wanted: VecDeque<ReportHeader>,
    /// The parts of the first of them that were received.
    parts: Vec<String>,
    /// The reports that were stored and not taken by [`Exchange::take_received_reports`].
    received: Vec<ReportKey>,
}

/// What the database has about a report.
#[derive(Debug, Clone, Copy)]
struct StoredReport {
    version: ReportVersion,
    slot: i32,
}

impl Exchange<'_> {
    /// Exchanges all reports.
    ///
    /// # Errors
    /// The connection is lost, or the store can't be written.
    pub(super) async fn exchange_reports(&mut self, now: Time) -> Result<(), TeamError> {
        while self.receive_next_reports(now).await? == ExchangeStep::MoreToCome {}
        let before = self.report.sent_reports;
        while self.send_next_reports(now).await? == ExchangeStep::MoreToCome {}
        if self.report.sent_reports > before {
            while self.receive_next_reports(now).await? == ExchangeStep::MoreToCome {}
        }
        Ok(())
    }

    /// Returns the reports that were received since the last call.
    pub fn take_received_reports(&mut self) -> Vec<ReportKey> {
        std::mem::take(&mut self.reports.received)
    }

    /// Receives some of the reports that other members have loaded: the names of some, or some rows of one.
    ///
    /// # Errors
    /// The connection is lost, or the store can't be written.
    pub async fn receive_next_reports(&mut self, now: Time) -> Result<ExchangeStep, TeamError> {
        let Some((target, batch)) = self.reports.target.clone() else {
            return self.start_receiving().await;
        };
        if !self.reports.wanted.is_empty() {
            self.receive_wanted().await?;
        } else if !self.reports.has_all_headers {
            self.receive_headers(now).await?;
        } else {
            // Only now, so that what is missing is received after an interruption.
            self.store.set_team_report_cursor(self.scope, target, batch.clone()).await?;
            (self.team.report_cursor, self.team.report_batch) = (target, Some(batch));
            let received = std::mem::take(&mut self.reports.received);
            self.reports = ReportProgress { received, ..ReportProgress::default() };
            // Others may have sent more meanwhile, and their notifications may have arrived during a step.
        }
        Ok(ExchangeStep::MoreToCome)
    }

    async fn start_receiving(&mut self) -> Result<ExchangeStep, TeamError> {
        let sql = "SELECT last_change, id FROM docdeck.batch WHERE project = $1 AND last_change > $2 AND EXISTS (
                 SELECT 1 FROM docdeck.report WHERE project = $1 AND change > $2)
             ORDER BY last_change DESC LIMIT 1";
        let params: [Param<'_>; 2] = [(&self.project, Type::INT8), (&self.team.report_cursor, Type::INT8)];
        let Some(row) = self.connection.query(sql, &params).await?.pop() else { return Ok(ExchangeStep::Last) };
        self.reports.target = Some((number(&row, 0)?, text(&row, 1)?));
        Ok(ExchangeStep::MoreToCome)
    }

    /// Reads the names and totals of the next reports, those that were loaded last first.
    async fn receive_headers(&mut self, now: Time) -> Result<(), TeamError> {
        let sql = "SELECT kind, date_from, date_to, version, summary, parts, as_of, change FROM docdeck.report
             WHERE project = $1 AND change > $2 AND as_of >= $3 AND (as_of, change) < ($4, $5)
             ORDER BY as_of DESC, change DESC LIMIT $6";
        let latest = now.max(self.clock.to_team(now));
        let oldest = (latest - MAX_REPORT_AGE).timestamp_millis();
        let (last_time, last_change) = self.reports.last_header.unwrap_or((i64::MAX, i64::MAX));
        let params: [Param<'_>; 6] = [
            (&self.project, Type::INT8),
            (&self.team.report_cursor, Type::INT8),
            (&oldest, Type::INT8),
            (&last_time, Type::INT8),
            (&last_change, Type::INT8),
            (&HEADERS_PER_PAGE, Type::INT8),
        ];
        let rows = self.connection.query(sql, &params).await?;
        let mut headers = Vec::new();
        for row in &rows {
            let as_of = number(row, 6)?;
            self.reports.last_header = Some((as_of, number(row, 7)?));
            match parse_header(row)?.filter(|header| header.version.can_be_exchanged(latest)) {
                Some(header) if header.version.as_of.timestamp_millis() == as_of => headers.push(header),
                _ => self.report.unreadable += 1,
            }
        }
        self.reports.has_all_headers = i64::try_from(rows.len()).is_ok_and(|rows| rows < HEADERS_PER_PAGE);
        if !headers.is_empty() {
            self.reports.wanted = self.store.wanted_team_reports(self.scope, headers).await?.into();
        }
        Ok(())
    }

    /// Receives the next parts of the first report that is wanted, or several reports without rows.
    async fn receive_wanted(&mut self) -> Result<(), TeamError> {
        let mut complete = Vec::new();
        while self.reports.wanted.front().is_some_and(|header| header.parts == 0) {
            complete.extend(self.reports.wanted.pop_front().map(|header| (header, Vec::new())));
        }
        if complete.is_empty()
            && let Some(header) = self.reports.wanted.front().cloned()
        {
            let parts = self.receive_parts(&header).await?;
            let is_end = parts.is_empty();
            self.reports.parts.extend(parts);
            if self.reports.parts.len() < header.parts && !is_end {
                return Ok(());
            }
            self.reports.wanted.pop_front();
            let parts = std::mem::take(&mut self.reports.parts);
            if parts.len() < header.parts && self.is_replaced(&header).await? {
                // The newer version has a higher number, so it is received next time.
                return Ok(());
            }
            complete.push((header, parts));
        }
        let count = complete.len();
        let sound = complete.into_iter().filter_map(|(header, parts)| SharedReport::from_parts(header, parts));
        let sound: Vec<SharedReport> = sound.collect();
        self.report.unreadable += count - sound.len();
        for (key, merged) in self.store.merge_team_reports(self.scope, sound).await? {
            match merged {
                MergedReport::New => {
                    self.report.received_reports += 1;
                    self.reports.received.push(key);
                }
                MergedReport::Known => {}
                MergedReport::Unreadable => self.report.unreadable += 1,
            }
        }
        Ok(())
    }

    async fn receive_parts(&self, header: &ReportHeader) -> Result<Vec<String>, TeamError> {
        let sql = "SELECT DISTINCT ON (number) content FROM docdeck.report_part
             WHERE project = $1 AND kind = $2 AND date_from = $3 AND date_to = $4
                 AND version = $5 AND number > $6 AND number <= $7
             ORDER BY number LIMIT $8";
        let key = KeyTexts::of(header.key);
        let version = header.version.to_string();
        let known = i32::try_from(self.reports.parts.len()).unwrap_or(i32::MAX);
        let last = i32::try_from(header.parts).unwrap_or(i32::MAX);
        let parts: [Param<'_>; 4] =
            [(&version, Type::TEXT), (&known, Type::INT4), (&last, Type::INT4), (&PARTS_PER_PAGE, Type::INT8)];
        let params: Vec<Param<'_>> = key.params(&self.project).into_iter().chain(parts).collect();
        self.connection.query(sql, &params).await?.iter().map(|row| text(row, 0)).collect()
    }

    /// Whether the database has another version of the report by now.
    async fn is_replaced(&self, header: &ReportHeader) -> Result<bool, TeamError> {
        let stored = self.read_stored_reports(&[header.key]).await?;
        Ok(stored.get(&header.key).is_none_or(|stored| stored.version != header.version))
    }

    /// Sends the next reports that the team doesn't have. Each part of a large report is stored at once, where nobody reads
    /// it yet; a short transaction then makes the new versions visible.
    ///
    /// # Errors
    /// The connection is lost, or the store can't be written.
    pub async fn send_next_reports(&mut self, now: Time) -> Result<ExchangeStep, TeamError> {
        let reports = self.store.next_team_reports(self.scope, now).await?;
        if reports.is_empty() {
            return Ok(ExchangeStep::Last);
        }
        let keys: Vec<ReportKey> = reports.iter().map(|report| report.key).collect();
        let latest = now.max(self.clock.to_team(now));
        let is_newer = |report: &SharedReport, stored: Option<&StoredReport>| {
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
            self.connection.run("BEGIN").await?;
            let stored = self.lock_reports(&keys).await?;
            let is_sent = self.are_parts_stored(&uploaded).await?;
            // Another member may have used the same slot meanwhile, or sent a later version.
            let is_free = |report: &SharedReport, slot: i32| {
                stored.get(&report.key).is_none_or(|stored| stored.slot != slot || stored.version == report.version)
            };
            let written: Vec<(&SharedReport, i32)> = uploaded
                .into_iter()
                .zip(is_sent)
                .filter(|((report, slot), is_sent)| {
                    *is_sent && is_free(report, *slot) && is_newer(report, stored.get(&report.key))
                })
                .map(|(uploaded, _)| uploaded)
                .collect();
            if written.is_empty() {
                self.connection.run("ROLLBACK").await?;
            } else {
                self.write_headers(&written).await?;
                self.empty_old_parts(latest - MAX_REPORT_AGE).await?;
                self.connection.run("COMMIT").await?;
                self.report.sent_reports += written.len();
                finished.extend(written.iter().map(|(report, _)| *report));
            }
        }
        let is_stuck = finished.is_empty();
        let finished = finished.into_iter().map(|report| (report.key, report.version)).collect();
        self.store.finish_team_reports(self.scope, finished).await?;
        Ok(if is_stuck { ExchangeStep::Last } else { ExchangeStep::MoreToCome })
    }

    /// Returns what the database has about these reports. Ignores what can't be read.
    async fn read_stored_reports(&self, keys: &[ReportKey]) -> Result<HashMap<ReportKey, StoredReport>, TeamError> {
        let sql = "SELECT kind, date_from, date_to, version, slot FROM docdeck.report
             WHERE project = $1 AND (kind, date_from, date_to) IN (
                 SELECT kind, date_from, date_to FROM unnest($2::text[], $3::text[], $4::text[])
                 AS row (kind, date_from, date_to))";
        let columns = KeyColumns::of(keys.iter().copied());
        let rows = self.connection.query(sql, &columns.params(&self.project)).await?;
        let mut stored = HashMap::new();
        for row in &rows {
            let key = ReportKey::parse(&text(row, 0)?, &text(row, 1)?, &text(row, 2)?);
            let version = ReportVersion::parse(&text(row, 3)?);
            let slot = row.try_get(4).map_err(|_| malformed())?;
            stored.extend(key.zip(version).map(|(key, version)| (key, StoredReport { version, slot })));
        }
        Ok(stored)
    }

    /// Locks the project, and returns what the database has about these reports.
    async fn lock_reports(&self, keys: &[ReportKey]) -> Result<HashMap<ReportKey, StoredReport>, TeamError> {
        let lock = "SELECT 1 FROM docdeck.project WHERE id = $1 FOR UPDATE";
        self.connection.query_one(lock, &[(&self.project, Type::INT8)]).await?;
        // A query of its own, which sees what was committed before the lock was granted.
        self.read_stored_reports(keys).await
    }

    /// Stores the parts of a report that are not yet in the slot.
    async fn upload_parts(&self, report: &SharedReport, slot: i32) -> Result<(), TeamError> {
        let key = KeyTexts::of(report.key);
        let version = report.version.to_string();
        let find = "SELECT number FROM docdeck.report_part
             WHERE project = $1 AND kind = $2 AND date_from = $3 AND date_to = $4 AND slot = $5 AND version = $6";
        let slot: [Param<'_>; 2] = [(&slot, Type::INT4), (&version, Type::TEXT)];
        let params: Vec<Param<'_>> = key.params(&self.project).into_iter().chain(slot).collect();
        let mut stored: Vec<i32> = Vec::new();
        if !report.parts.is_empty() {
            for row in &self.connection.query(find, &params).await? {
                stored.push(row.try_get(0).map_err(|_| malformed())?);
            }
        }
        let write =
            "INSERT INTO docdeck.report_part (project, kind, date_from, date_to, slot, version, number, content)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
             ON CONFLICT (project, kind, date_from, date_to, slot, number)
             DO UPDATE SET version = EXCLUDED.version, content = EXCLUDED.content";
        for (number, content) in (1_i32..).zip(&report.parts).filter(|(number, _)| !stored.contains(number)) {
            let part: [Param<'_>; 2] = [(&number, Type::INT4), (content, Type::TEXT)];
            let params: Vec<Param<'_>> = params.iter().cloned().chain(part).collect();
            self.connection.query(write, &params).await?;
        }
        Ok(())
    }

    /// Returns for each report whether its slot has all of its parts.
    async fn are_parts_stored(&self, uploaded: &[(&SharedReport, i32)]) -> Result<Vec<bool>, TeamError> {
        let sql = "SELECT kind, date_from, date_to, slot, version, count(*) FROM docdeck.report_part
             WHERE project = $1 AND (kind, date_from, date_to) IN (
                 SELECT kind, date_from, date_to FROM unnest($2::text[], $3::text[], $4::text[])
                 AS row (kind, date_from, date_to))
             GROUP BY kind, date_from, date_to, slot, version";
        let columns = KeyColumns::of(uploaded.iter().map(|(report, _)| report.key));
        let mut counts = HashMap::new();
        for row in &self.connection.query(sql, &columns.params(&self.project)).await? {
            let key = ReportKey::parse(&text(row, 0)?, &text(row, 1)?, &text(row, 2)?);
            let slot: i32 = row.try_get(3).map_err(|_| malformed())?;
            counts.insert((key, slot, text(row, 4)?), number(row, 5)?);
        }
        let is_stored = |(report, slot): &(&SharedReport, i32)| {
            let found = counts.get(&(Some(report.key), *slot, report.version.to_string())).copied().unwrap_or_default();
            usize::try_from(found).is_ok_and(|found| found == report.parts.len())
        };
        Ok(uploaded.iter().map(is_stored).collect())
    }

    /// Empties the parts of reports that are too old to be received, since no member has the right to delete them. The
    /// caller has locked the project.
    async fn empty_old_parts(&self, before: Time) -> Result<(), TeamError> {
        // A part that is just being uploaded has a later version.
        let sql = "WITH old AS (
                 UPDATE docdeck.report SET parts = 0 WHERE project = $1 AND parts > 0 AND as_of < $2
                 RETURNING kind, date_from, date_to
             )
             UPDATE docdeck.report_part AS part SET content = '', version = '' FROM old
             WHERE part.project = $1 AND (part.kind, part.date_from, part.date_to) = (old.kind, old.date_from, old.date_to)
                 AND part.version COLLATE \"C\" < $3";
        let millis = before.timestamp_millis();
        let version = millis.to_string();
        let params: [Param<'_>; 3] = [(&self.project, Type::INT8), (&millis, Type::INT8), (&version, Type::TEXT)];
        self.connection.query(sql, &params).await?;
        Ok(())
    }

    /// Makes these versions visible. The caller has locked the project.
    async fn write_headers(&self, reports: &[(&SharedReport, i32)]) -> Result<(), TeamError> {
        let sql = "WITH new AS (
                 SELECT kind, date_from, date_to, as_of, version, summary, slot, parts, last_change + nth AS change
                 FROM docdeck.project, unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[],
                     $8::integer[], $9::integer[]) WITH ORDINALITY
                     AS row (kind, date_from, date_to, as_of, version, summary, slot, parts, nth)
                 WHERE project.id = $1
             ), written AS (
                 INSERT INTO docdeck.report
                     (project, kind, date_from, date_to, as_of, version, summary, slot, parts, change)
                 SELECT $1, kind, date_from, date_to, as_of, version, summary, slot, parts, change FROM new
                 ON CONFLICT (project, kind, date_from, date_to) DO UPDATE SET as_of = EXCLUDED.as_of,
                     version = EXCLUDED.version, summary = EXCLUDED.summary, slot = EXCLUDED.slot,
                     parts = EXCLUDED.parts, change = EXCLUDED.change
             ), advanced AS (
                 UPDATE docdeck.project SET last_change = (SELECT max(change) FROM new),
                     last_stamp = greatest(last_stamp + 1, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
                 WHERE id = $1 RETURNING last_change, last_stamp
             ), added AS (
                 INSERT INTO docdeck.batch (project, id, last_change, stamp, member)
                 SELECT $1, $10, last_change, last_stamp, $11 FROM advanced RETURNING project
             )
             SELECT pg_notify($12, $13) FROM added";
        let KeyColumns { kinds, from, to } = KeyColumns::of(reports.iter().map(|(report, _)| report.key));
        let as_of: Vec<i64> = reports.iter().map(|(report, _)| report.version.as_of.timestamp_millis()).collect();
        let versions: Vec<String> = reports.iter().map(|(report, _)| report.version.to_string()).collect();
        let summaries: Vec<&str> = reports.iter().map(|(report, _)| report.summary.as_str()).collect();
        let slots: Vec<i32> = reports.iter().map(|(_, slot)| *slot).collect();
        let parts: Vec<i32> =
            reports.iter().map(|(report, _)| i32::try_from(report.parts.len()).unwrap_or(i32::MAX)).collect();
        let batch = format!("{:032x}", fastrand::u128(..));
        let channel = channel(&self.team.organization);
        let payload = reports_payload(self.project);
        let params: [Param<'_>; 13] = [
            (&self.project, Type::INT8),
            (&kinds, Type::TEXT_ARRAY),
            (&from, Type::TEXT_ARRAY),
            (&to, Type::TEXT_ARRAY),
            (&as_of, Type::INT8_ARRAY),
            (&versions, Type::TEXT_ARRAY),
            (&summaries, Type::TEXT_ARRAY),
            (&slots, Type::INT4_ARRAY),
            (&parts, Type::INT4_ARRAY),
            (&batch, Type::TEXT),
            (&self.team.member, Type::TEXT),
            (&channel, Type::TEXT),
            (&payload, Type::TEXT),
        ];
        self.connection.query(sql, &params).await?;
        Ok(())
    }
}

/// A key as the values of its columns.
struct KeyTexts {
    kind: &'static str,
    from: String,
    to: String,
}

impl KeyTexts {
    fn of(key: ReportKey) -> Self {
        Self { kind: key.kind.name(), from: key.range.from().to_string(), to: key.range.to().to_string() }
    }

    /// Returns these parameters after the project.
    fn params<'a>(&'a self, project: &'a i64) -> [Param<'a>; 4] {
        [(project, Type::INT8), (&self.kind, Type::TEXT), (&self.from, Type::TEXT), (&self.to, Type::TEXT)]
    }
}

/// Several keys as arrays of their columns.
struct KeyColumns {
    kinds: Vec<&'static str>,
    from: Vec<String>,
    to: Vec<String>,
}

impl KeyColumns {
    fn of(keys: impl Iterator<Item = ReportKey>) -> Self {
        let mut columns = Self { kinds: Vec::new(), from: Vec::new(), to: Vec::new() };
        for KeyTexts { kind, from, to } in keys.map(KeyTexts::of) {
            columns.kinds.push(kind);
            columns.from.push(from);
            columns.to.push(to);
        }
        columns
    }

    /// Returns these parameters after the project.
    fn params<'a>(&'a self, project: &'a i64) -> [Param<'a>; 4] {
        [
            (project, Type::INT8),
            (&self.kinds, Type::TEXT_ARRAY),
            (&self.from, Type::TEXT_ARRAY),
            (&self.to, Type::TEXT_ARRAY),
        ]
    }
}

/// Returns `None` if the header is malformed, or of a newer docdeck.
fn parse_header(row: &Row) -> Result<Option<ReportHeader>, TeamError> {
    let key = ReportKey::parse(&text(row, 0)?, &text(row, 1)?, &text(row, 2)?);
    let version = ReportVersion::parse(&text(row, 3)?);
    let parts: i32 = row.try_get(5).map_err(|_| malformed())?;
    let (summary, parts) = (text(row, 4)?, usize::try_from(parts).ok().filter(|parts| *parts <= MAX_REPORT_PARTS));
    Ok(key.zip(version).zip(parts).map(|((key, version), parts)| ReportHeader { key, version, summary, parts }))
}
