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

mod case;
#[cfg(unix)]
mod concurrency;
#[cfg(unix)]
mod crash;
#[cfg(unix)]
mod disk_errors;
mod list;
mod matrix;
#[cfg(unix)]
mod migration;
#[cfg(unix)]
mod power;
mod screen;
mod server;

#[path = "../support/slow.rs"]
mod slow;

#[path = "../client/tls.rs"]
mod tls;

#[path = "../flows/dashboard_fixture.rs"]
#[expect(dead_code, reason = "made for the flows, which use all of it")]
mod dashboard_fixture;

#[cfg(unix)]
#[path = "../commands/command_fixture.rs"]
#[expect(dead_code, reason = "made for the commands' tests, which use all of it")]
mod command_fixture;
#[cfg(unix)]
#[path = "../commands/http.rs"]
#[expect(dead_code, reason = "made for the commands' tests, which use all of it")]
mod http;
#[cfg(unix)]
#[path = "../terminal/pty.rs"]
#[expect(dead_code, reason = "made for the terminal's tests, which use all of it")]
mod pty;
