//! Sharing the project with a team. [`session`] exchanges changes, [`budget`] books requests of the hourly limits, and
//! [`state`] is what the engine's tasks share about it. If no team is configured, none of this does anything.

mod budget;
mod session;
pub(super) mod state;

pub(super) use budget::Booking;
pub(super) use session::run_sessions;
