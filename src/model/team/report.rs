//! The reports of analytics that a team shares, and the rule that decides which of several versions counts.
//!
//! Only complete reports are shared. Of the reports of the same kind and range, the one that was loaded later counts,
//! and of two that were loaded in the same millisecond, the one with the larger hash of its content. This is a total
//! order ([`ReportVersion`]), so it doesn't matter in which order and how often reports arrive. The load time of a
//! report is that of its oldest response, on the clock of the service, which is the same for all members.
//!
//! A report with texts of readers expires: see [`ReportRules`].

use crate::model::Time;
use crate::model::analytics::{AnalyticsKind, ReaderTextRetention};
use crate::model::hash::stable_hash;
use crate::model::period::DateRange;
use crate::model::views::Counts;
use chrono::TimeDelta;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Reports that were loaded longer ago are not exchanged.
pub const MAX_REPORT_AGE: TimeDelta = TimeDelta::days(90);
/// The load time of a report may be at most this much later than the clocks of the database and of this computer.
const MAX_REPORT_CLOCK_ERROR: TimeDelta = TimeDelta::days(1);
/// The maximum number of parts of a report, so that a report has at most 16 MB.
pub const MAX_REPORT_PARTS: usize = 64;
/// The maximum size of a part in bytes. Only a part with a single row can be this large.
const MAX_PART_BYTES: usize = 256 << 10;
/// The maximum size of a part with more than one row.
const MAX_MULTI_ROW_PART_BYTES: usize = 128 << 10;
/// The maximum size of a [`ReportSummary`] as JSON, in bytes.
const MAX_SUMMARY_BYTES: usize = 4096;
/// The maximum number of requests for one report. A larger number in a received report is reduced to it.
const MAX_REPORT_RESPONSES: u32 = 10_000;

/// A kind of report that is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReportKind {
    /// The views of all pages.
    PageViews,
    /// The site's totals of a day.
    DayTotals,
    /// The rows of visitors, searches, feedback or questions.
    Rows(AnalyticsKind),
}

impl ReportKind {
    /// All kinds that are shared.
    pub const SHARED: [Self; 7] = [
        Self::PageViews,
        Self::DayTotals,
        Self::Rows(AnalyticsKind::Visitors),
        Self::Rows(AnalyticsKind::Searches),
        Self::Rows(AnalyticsKind::FeedbackByPage),
        Self::Rows(AnalyticsKind::Feedback),
        Self::Rows(AnalyticsKind::Questions),
    ];

    /// Returns the name in the local store and in the team's database.
    pub fn name(self) -> &'static str {
        match self {
            Self::PageViews => "page-views",
            Self::DayTotals => "day-totals",
            Self::Rows(kind) => kind.name(),
        }
    }

    /// Whether the rows contain what readers wrote.
    pub fn has_reader_text(self) -> bool {
        matches!(self, Self::Rows(kind) if kind.has_reader_text())
    }

    /// Returns `None` if no shared kind has this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::SHARED.into_iter().find(|kind| kind.name() == name)
    }
}

/// Identifies a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReportKey {
    pub kind: ReportKind,
    pub range: DateRange,
}

impl ReportKey {
    /// Returns `None` if the kind is not shared or the days are not a valid range. Totals are shared only for single
    /// days.
    pub fn parse(kind: &str, from: &str, to: &str) -> Option<Self> {
        let kind = ReportKind::parse(kind)?;
        let range = DateRange::new(from.parse().ok()?, to.parse().ok()?)?;
        (kind != ReportKind::DayTotals || range.days() == 1).then_some(Self { kind, range })
    }
}

/// When a report was loaded, and a hash of its content. Of several versions of a report, the one that was loaded last
/// counts. If they were loaded at the same time, the one with the largest hash counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReportVersion {
    /// Versions are compared by this field first, because it is declared first.
    pub as_of: Time,
    pub hash: u64,
}

impl ReportVersion {
    /// Parses the text of a version, as `Display` formats it.
    pub fn parse(text: &str) -> Option<Self> {
        let (millis, hash) = text.split_once('-')?;
        let as_of = Time::from_timestamp_millis(millis.parse().ok()?)?;
        Some(Self { as_of, hash: u64::from_str_radix(hash, 16).ok()? })
    }

    /// Whether the report may be exchanged at `now`: it is not too old, and not from the future.
    pub fn can_be_exchanged(&self, now: Time) -> bool {
        let age = now - self.as_of;
        (-MAX_REPORT_CLOCK_ERROR..=MAX_REPORT_AGE).contains(&age)
    }
}

impl fmt::Display for ReportVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:016x}", self.as_of.timestamp_millis(), self.hash)
    }
}

/// The rules of a member for reports with texts of readers.
///
/// Each member sets for how many days such texts stay stored after they were loaded. The member that loads a report
/// sends it with the time at which it expires: when this number of days has passed, at most [`MAX_REPORT_AGE`] after
/// the load. At this time, the database and all members delete the report; a member that has set fewer days deletes it
/// earlier. A member that never stores texts of readers neither sends nor receives them.
#[derive(Debug, Clone, Copy)]
pub struct ReportRules {
    pub now: Time,
    pub reader_text_days: ReaderTextRetention,
}

impl ReportRules {
    /// Returns when a report that was loaded at `as_of` expires if this member sends it; `None` if the report never
    /// expires. If this member received the report from another member, `received_expiry` is the expiry that it had.
    pub fn expiry(&self, kind: ReportKind, as_of: Time, received_expiry: Option<Time>) -> Option<Time> {
        if !kind.has_reader_text() {
            return None;
        }
        let own_expiry = as_of + MAX_REPORT_AGE.min(TimeDelta::days(i64::from(self.reader_text_days.0)));
        Some(received_expiry.map_or(own_expiry, |expiry| expiry.min(own_expiry)))
    }

    /// Whether this member may store a report that was loaded at `as_of` and expires at `expires_at`.
    pub fn allows_storing(&self, kind: ReportKind, as_of: Time, expires_at: Option<Time>) -> bool {
        let is_kept = as_of >= self.reader_text_days.cutoff(self.now) && expires_at.is_none_or(|at| at > self.now);
        is_kept || !kind.has_reader_text()
    }
}

/// Whether the expiry of another member's report is valid. A report with texts of readers must expire at most
/// [`MAX_REPORT_AGE`] after it was loaded. All other reports must not expire.
pub fn is_valid_expiry(kind: ReportKind, as_of: Time, expires_at: Option<Time>) -> bool {
    match expires_at {
        Some(at) => kind.has_reader_text() && at - as_of <= MAX_REPORT_AGE,
        None => !kind.has_reader_text(),
    }
}

/// The data of a report apart from its rows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReportSummary {
    pub totals: Counts,
    /// The number of requests that the report took.
    pub responses: u32,
    pub duplicates: u32,
    #[serde(rename = "isCut")]
    pub has_unavailable_rows: bool,
}

/// A report without its rows, as it was received: the content of its JSON is not checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportHeader {
    pub key: ReportKey,
    pub version: ReportVersion,
    pub summary: String,
    /// When a report with texts of readers expires, on the service's clock; `None` for other reports.
    pub expires_at: Option<Time>,
    /// The number of parts in which its rows are stored.
    pub parts: usize,
}

/// A report with its rows in parts of limited size, as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedReport {
    pub key: ReportKey,
    pub version: ReportVersion,
    pub summary: String,
    /// See [`ReportHeader::expires_at`].
    pub expires_at: Option<Time>,
    pub parts: Vec<String>,
}

impl SharedReport {
    /// Returns a report that doesn't expire; `None` if it is too large.
    pub fn new<R: Serialize>(key: ReportKey, as_of: Time, summary: &ReportSummary, rows: &[R]) -> Option<Self> {
        let summary = serde_json::to_string(summary).ok().filter(|text| text.len() <= MAX_SUMMARY_BYTES)?;
        let parts = split_rows(rows)?;
        let version = ReportVersion { as_of, hash: hash_content(&summary, &parts) };
        Some(Self { key, version, summary, expires_at: None, parts })
    }

    /// Joins a received header with its parts. Returns `None` if parts are missing, changed or too large.
    pub fn from_parts(header: ReportHeader, parts: Vec<String>) -> Option<Self> {
        let ReportHeader { key, version, summary, expires_at, parts: expected } = header;
        let is_small = summary.len() <= MAX_SUMMARY_BYTES && parts.iter().all(|part| part.len() <= MAX_PART_BYTES);
        let is_sound = is_small && parts.len() == expected && hash_content(&summary, &parts) == version.hash;
        is_sound.then_some(Self { key, version, summary, expires_at, parts })
    }

    pub fn size_in_bytes(&self) -> usize {
        self.summary.len() + self.parts.iter().map(String::len).sum::<usize>()
    }

    /// Reads the summary; `None` if it is malformed.
    pub fn read_summary(&self) -> Option<ReportSummary> {
        let summary: ReportSummary = serde_json::from_str(&self.summary).ok()?;
        Some(ReportSummary { responses: summary.responses.clamp(1, MAX_REPORT_RESPONSES), ..summary })
    }

    /// Reads and cleans the rows; `None` if they are malformed.
    pub fn read_rows<R: DeserializeOwned>(&self) -> Option<Vec<R>> {
        let mut rows = Vec::new();
        for part in &self.parts {
            rows.append(&mut serde_json::from_str::<Vec<R>>(part).ok()?);
        }
        Some(rows)
    }
}

/// Splits the rows into JSON arrays of limited size. Returns `None` if a row is too large or there are too many arrays.
fn split_rows<R: Serialize>(rows: &[R]) -> Option<Vec<String>> {
    let mut parts: Vec<String> = Vec::new();
    for row in rows {
        let row = serde_json::to_string(row).ok().filter(|row| row.len() + 2 <= MAX_PART_BYTES)?;
        match parts.last_mut().filter(|part| part.len() + row.len() + 2 <= MAX_MULTI_ROW_PART_BYTES) {
            Some(part) => part.push(','),
            None => {
                parts.last_mut().into_iter().for_each(|part| part.push(']'));
                parts.push("[".to_owned());
            }
        }
        parts.last_mut()?.push_str(&row);
    }
    parts.last_mut().into_iter().for_each(|part| part.push(']'));
    (parts.len() <= MAX_REPORT_PARTS).then_some(parts)
}

fn hash_content(summary: &str, parts: &[String]) -> u64 {
    let texts = std::iter::once(summary).chain(parts.iter().map(String::as_str));
    stable_hash(texts.flat_map(|text| text.bytes().chain([b'\n'])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::text::CleanText;
    use crate::model::views::{Count, PageRow};

    fn key() -> ReportKey {
        ReportKey::parse("page-views", "2026-11-01", "2026-11-20").expect("a key")
    }

    fn rows(count: usize, path_length: usize) -> Vec<PageRow> {
        let row = |n: usize| PageRow {
            path: CleanText::line(&format!("/{n}/{}", "x".repeat(path_length))),
            counts: Counts::new(Count::Known(1), Count::Missing, Count::Other(CleanText::line("many"))),
        };
        (0..count).map(row).collect()
    }

    fn shared(rows: &[PageRow]) -> Option<SharedReport> {
        SharedReport::new(key(), Time::UNIX_EPOCH, &ReportSummary::default(), rows)
    }

    #[test]
    fn the_rows_of_a_large_report_are_split_into_parts_of_limited_size() {
        for (count, length) in [(0, 0), (1, 0), (1, 200_000), (25_000, 60), (3, 100_000)] {
            let expected = rows(count, length);
            let report = shared(&expected).expect("not too large");
            assert!(report.parts.iter().all(|part| part.len() <= MAX_PART_BYTES), "{count}");
            assert_eq!(report.read_rows::<PageRow>(), Some(expected), "{count}");
        }
        assert_eq!(shared(&rows(25_000, 60)).map(|report| report.parts.len() > 10), Some(true));
        assert_eq!(shared(&rows(1, MAX_PART_BYTES)), None, "a row is too large");
        assert_eq!(shared(&rows(200, 100_000)), None, "too many parts");
    }

    #[test]
    fn a_missing_or_changed_part_is_noticed() {
        let report = shared(&rows(5_000, 60)).expect("not too large");
        let SharedReport { key, version, summary, expires_at, parts } = report.clone();
        let header = ReportHeader { key, version, summary, expires_at, parts: parts.len() };
        assert_eq!(SharedReport::from_parts(header.clone(), parts.clone()), Some(report));
        assert_eq!(SharedReport::from_parts(header.clone(), parts.iter().skip(1).cloned().collect()), None);
        let changed = parts.iter().map(|part| part.replace("/7/", "/8/")).collect();
        assert_eq!(SharedReport::from_parts(header, changed), None);
    }

    #[test]
    fn a_stored_version_is_parsed_back_and_other_text_is_rejected() {
        let version = ReportVersion { as_of: Time::from_timestamp_millis(1_800_000_000_123).expect("a time"), hash: 7 };
        assert_eq!(ReportVersion::parse(&version.to_string()), Some(version));
        for text in ["", "1", "1-x", "x-1", "99999999999999999999-1", "9223372036854775807-1"] {
            assert_eq!(ReportVersion::parse(text), None, "{text}");
        }
    }

    #[test]
    fn only_known_kinds_and_valid_days_are_shared() {
        for kind in ReportKind::SHARED {
            assert_eq!(ReportKind::parse(kind.name()), Some(kind));
        }
        let parse = ReportKey::parse;
        assert_eq!(parse("conversations", "2026-11-01", "2026-11-02"), None);
        assert_eq!(parse("searches", "2026-11-02", "2026-11-01"), None);
        assert_eq!(parse("day-totals", "2026-11-01", "2026-11-02"), None, "more than a day");
        assert!(parse("day-totals", "2026-11-01", "2026-11-01").is_some());
    }

    #[test]
    fn texts_of_readers_expire_after_the_shortest_of_all_settings() {
        let now = Time::from_timestamp_millis(1_800_000_000_000).expect("a time");
        let (texts, searches) = (ReportKind::Rows(AnalyticsKind::Questions), ReportKind::Rows(AnalyticsKind::Searches));
        let rules = |days| ReportRules { now, reader_text_days: ReaderTextRetention(days) };
        let day = |day: i64| now + TimeDelta::days(day);
        for (days, received, expected) in
            [(30, None, 30), (400, None, 90), (30, Some(7), 7), (7, Some(30), 7), (400, Some(7), 7)]
        {
            let expiry = rules(days).expiry(texts, now, received.map(day));
            assert_eq!(expiry, Some(day(expected)), "{days} {received:?}");
            assert!(is_valid_expiry(texts, now, expiry), "{days} {received:?}");
        }
        for (days, loaded, expires, expected) in [
            (30, -29, None, true),
            (30, -31, None, false),
            (30, -29, Some(1), true),
            (30, -29, Some(-1), false),
            (7, -8, Some(1), false),
            (0, 0, Some(90), false),
        ] {
            let allowed = rules(days).allows_storing(texts, day(loaded), expires.map(day));
            assert_eq!(allowed, expected, "{days} {loaded} {expires:?}");
        }
        assert_eq!(rules(30).expiry(searches, now, None), None);
        assert!(rules(0).allows_storing(searches, day(-80), None));
        for (kind, expires, expected) in
            [(texts, None, false), (texts, Some(91), false), (searches, None, true), (searches, Some(1), false)]
        {
            assert_eq!(is_valid_expiry(kind, now, expires.map(day)), expected, "{kind:?} {expires:?}");
        }
    }

    #[test]
    fn old_reports_and_those_from_the_future_are_not_exchanged() {
        let now = Time::from_timestamp_millis(1_800_000_000_000).expect("a time");
        let at = |days: i64| ReportVersion { as_of: now + TimeDelta::days(days), hash: 0 }.can_be_exchanged(now);
        assert_eq!([-91, -89, 0, 1, 2].map(at), [false, true, true, true, false]);
    }
}
