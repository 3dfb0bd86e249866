//! Shares the project with a team: [`session`] exchanges changes, [`budget`] books requests of the hourly limits, and
//! [`state`] contains the state that the engine's tasks share. Does nothing if no team is configured.

mod budget;
mod session;
pub(super) mod state;

pub(super) use budget::Booking;
pub(super) use session::run_sessions;
