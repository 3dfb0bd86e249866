//! Tests of the engine with the real client and the real store against the simulated service: submitting, polling,
//! sharing between instances, and loading page views.

#![expect(clippy::expect_used, clippy::panic, reason = "clippy excuses test functions only, not what they share")]

mod analytics;
mod batch;
mod changes;
mod daily;
mod moving;
mod polling;
mod previews;
mod pull_requests;
mod reports;
mod sharing;
mod submitting;
mod views;

#[path = "../support/mod.rs"]
mod support;
