//! Runs the built commands on the simulated service with a separate store, and checks their output, exit codes and
//! requests. No test sleeps, and every wait has a timeout.

#![cfg(unix)]
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod analytics;
mod backup;
mod batching;
mod doctor;
mod folders;
mod help;
mod listing;
mod merge_requests;
mod mistakes;
mod on_terminal;
mod pull_requests;
mod sending;
mod shell;
mod tracking;
mod views;
mod waiting;
mod watching;

#[path = "../support/mod.rs"]
mod support;
