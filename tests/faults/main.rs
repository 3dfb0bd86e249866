//! Runs every operation of the service against every fault that a network, a proxy or the service can cause, with the
//! real client, engine and store: once by calling the engine, and once by pressing keys in the real dashboard. Asserts
//! what the store contains afterwards, what the screen shows at three sizes, and how many requests were sent.
//!
//! `cargo test --test faults -- --nocapture` prints a line for each operation and fault.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "clippy excuses test functions only, not what they share"
)]

mod analytics;
mod case;
#[cfg(unix)]
mod concurrency;
#[cfg(unix)]
mod crash;
#[cfg(unix)]
mod disk_errors;
#[cfg(unix)]
mod host_commands;
mod hosts;
mod list;
mod matrix;
#[cfg(unix)]
mod migration;
#[cfg(unix)]
mod power;
mod previews;
mod screen;

#[path = "../support/mod.rs"]
mod support;
