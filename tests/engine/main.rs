//! The engine with the real client and the real store against the simulated service: what is submitted, polled, shared
//! between instances and loaded.

#![expect(clippy::expect_used, clippy::panic, reason = "clippy excuses test functions only, not what they share")]

mod batch;
mod changes;
mod engine_fixture;
mod moving;
mod polling;
mod reports;
mod sharing;
mod submitting;
mod views;
