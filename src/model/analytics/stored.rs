//! The data of reports that is stored on this computer, and how long it is stored.

use super::RowsReport;
use crate::model::Time;
use chrono::TimeDelta;
use std::sync::Arc;

/// The data about a report of a date range that is stored on this computer. Reading it uses no requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRows<R> {
    /// The complete report, or the rows of an interrupted load if there is no complete report.
    pub report: Option<Arc<RowsReport<R>>>,
    /// The number of responses that an interrupted load had received; `None` if there is no load to continue.
    pub responses_before_interruption: Option<u32>,
    /// The number of requests that loading the stored complete report took; `None` if there is no complete report.
    pub last_load_requests: Option<u32>,
}

impl<R> Default for StoredRows<R> {
    fn default() -> Self {
        Self { report: None, responses_before_interruption: None, last_load_requests: None }
    }
}

/// The number of days for which texts of readers stay stored after they were loaded. With 0, they are never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderTextRetention(pub u16);

impl Default for ReaderTextRetention {
    fn default() -> Self {
        Self(30)
    }
}

impl ReaderTextRetention {
    /// Whether the texts of readers are never stored.
    pub fn forbids_storing(self) -> bool {
        self.0 == 0
    }

    /// Returns the cutoff: texts that were loaded before the cutoff have expired at `now`.
    pub fn cutoff(self, now: Time) -> Time {
        if self.forbids_storing() {
            return Time::MAX_UTC;
        }
        now.checked_sub_signed(TimeDelta::days(i64::from(self.0))).unwrap_or(Time::MIN_UTC)
    }
}

/// The user's settings for analytics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnalyticsSettings {
    pub reader_text_days: ReaderTextRetention,
    /// Whether docdeck loads and stores the page views of yesterday once a day, with one request, so that trends use no
    /// requests later.
    pub records_daily_views: bool,
}
