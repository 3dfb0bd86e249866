//! From a key press to what it leads to: the state machine, the real client and the real store on the simulated service,
//! joined as the dashboard joins them. Asserted are effects, requests, rows of the store and what the screen shows.

#![expect(clippy::expect_used, clippy::panic, reason = "clippy excuses test functions only, not what they share")]

mod batch;
mod dashboard_fixture;
mod drafts;
mod health;
#[cfg(unix)]
mod kept;
mod killed;
mod layout;
mod many;
mod mouse;
mod pages;
mod profiles;
mod ranges;
mod refused;
mod sending;
mod setup;
mod sharing;
mod tasks;
mod unconfirmed;
mod views;
mod views_all;

#[cfg(unix)]
#[path = "../terminal/pty.rs"]
#[expect(dead_code, reason = "made for the terminal's tests, which use all of it")]
mod pty;
