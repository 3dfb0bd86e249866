//! Data types and rules without side effects: jobs, prompts, page views, date ranges, rate limits, polling.
//!
//! This layer does no I/O, depends on no async runtime or terminal, and never reads a clock: the current time is always
//! an argument.

pub mod analytics;
pub mod ascii;
pub mod backup;
pub mod batch;
pub mod change;
pub mod colors;
pub mod command;
pub mod comparison;
pub mod connection;
pub mod count;
pub mod diff;
pub mod endpoint;
pub mod engine_event;
pub mod export;
pub mod failure;
pub mod file_size;
pub mod filter;
pub mod guide;
pub mod hash;
pub mod impact;
pub mod job;
pub mod job_state;
pub mod json;
pub mod layout;
pub mod ledger;
pub mod link;
pub mod load;
pub mod log;
pub mod merge;
pub mod number_format;
pub mod period;
pub mod poll;
pub mod preview;
pub mod prompt;
pub mod pull_request;
pub mod pull_request_action;
pub mod pull_request_details;
pub mod redaction;
pub mod remote_job;
pub mod report;
pub mod setup;
pub mod team;
pub mod text;
pub mod time_format;
pub mod unrecorded;
pub mod views;

/// A time in UTC; all times are stored and compared in UTC.
pub type Time = chrono::DateTime<chrono::Utc>;

/// Returns `time` if RFC 3339 can represent it (years 0 to 9999 in UTC), otherwise `None`. docdeck rejects other times
/// on input, because it could not read them back after writing them.
pub fn checked_rfc3339_time(time: Time) -> Option<Time> {
    (0..=9999).contains(&chrono::Datelike::year(&time)).then_some(time)
}
