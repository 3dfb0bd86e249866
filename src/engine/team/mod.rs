//! Shares the project with a team: [`session`] exchanges changes, [`budget`] books requests of the hourly limits,
//! [`report_loads`] waits for reports that other members are loading, [`received_reports`] emits which reports have
//! arrived, and [`state`] contains the state that the engine's tasks share. Does nothing if no team is configured.

mod budget;
mod received_reports;
mod report_loads;
mod session;
pub(super) mod state;

pub(super) use budget::BookingResult;
pub(super) use session::run_sessions;
