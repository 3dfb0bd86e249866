//! The commands as they are built: run on the simulated service and a record of their own, by what they write, how they
//! end and what the service has received. Nothing sleeps; every wait is bounded.

#![cfg(unix)]
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod batching;
mod command_fixture;
mod doctor;
mod folders;
mod help;
mod http;
mod listing;
mod mistakes;
mod moving;
mod seen;
mod sending;
mod shell;
mod tracking;
mod views;
mod waiting;
mod watching;
