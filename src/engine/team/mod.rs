//! Shares the project with a team: [`session`] exchanges changes, [`budget`] books requests of the hourly limits,
//! [`received_reports`] emits which reports have arrived, and [`state`] contains the state that the engine's tasks share. Does nothing if no team is configured.

mod budget;
mod received_reports;
mod session;
pub(super) mod state;

pub(super) use budget::Booking;
pub(super) use session::run_sessions;
