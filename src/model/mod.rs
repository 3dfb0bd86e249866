//! Plain data and the rules over it: jobs, prompts, views, periods, ledgers, polling.
//!
//! Nothing in here does I/O, knows a runtime or a terminal, or reads a clock: the time of day is always an argument.

pub mod ascii;
pub mod backup;
pub mod batch;
pub mod change;
pub mod colors;
pub mod command;
pub mod comparison;
pub mod connection;
pub mod count;
pub mod endpoint;
pub mod engine_event;
pub mod export;
pub mod failure;
pub mod impact;
pub mod job;
pub mod job_state;
pub mod json;
pub mod layout;
pub mod ledger;
pub mod link;
pub mod load;
pub mod log;
pub mod period;
pub mod poll;
pub mod prompt;
pub mod redaction;
pub mod report;
pub mod row;
pub mod setup;
pub mod text;
pub mod unrecorded;
pub mod views;

/// Moment in UTC; the unit of every stored and compared time.
pub type Time = chrono::DateTime<chrono::Utc>;

/// The time, where RFC 3339 can say it: in the years 0 to 9999 of UTC. No other may come in from outside, since what it is
/// written into could not be read again.
pub fn in_rfc3339_range(time: Time) -> Option<Time> {
    (0..=9999).contains(&chrono::Datelike::year(&time)).then_some(time)
}
