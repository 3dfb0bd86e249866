//! Tests from a key press to its result, with the real app, client and store on the simulated service, connected as in
//! the dashboard. The tests assert effects, requests, the contents of the store and what the screen shows.

#![expect(clippy::expect_used, clippy::panic, reason = "clippy excuses test functions only, not what they share")]

mod analytics;
#[path = "../benches/backup.rs"]
#[expect(dead_code, reason = "benchmarks and other tests use the rest")]
mod backup;
mod batch;
#[cfg(unix)]
mod cached_ranges;
mod drafts;
mod health;
mod killed;
mod large_store;
mod layout;
mod mouse;
mod pages;
mod profiles;
mod pull_requests;
mod ranges;
mod sending;
mod setup;
mod sharing;
mod tasks;
mod unconfirmed;
mod undelivered;
mod views;
mod views_all;

#[path = "../support/mod.rs"]
mod support;
