//! The fixtures of the integration tests: a simulated service and stores in temporary folders. The submodules have
//! fixtures with the engine, the dashboard, the program on the command line or in a pseudo-terminal, and servers that
//! misbehave.

#![expect(dead_code, reason = "each test target uses a part of the harness")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that can't build its fixture should fail"
)]

#[cfg(unix)]
pub(crate) mod command;
pub(crate) mod dashboard;
pub(crate) mod engine;
#[cfg(unix)]
pub(crate) mod http;
#[cfg(unix)]
pub(crate) mod postgres;
#[cfg(unix)]
pub(crate) mod pty;
pub(crate) mod server;
pub(crate) mod slow;
#[cfg(unix)]
pub(crate) mod small_disk;
pub(crate) mod tls;

use docdeck::model::endpoint::Scope;
use docdeck::sim::{Fault, Sim, SimOptions};
use docdeck::store::Store;
use std::path::Path;
use tempfile::TempDir;

/// Starts a simulator with these faults, in which jobs run a hundred times faster than usual.
pub(crate) async fn start_sim(faults: &[&str]) -> Sim {
    start_sim_on_port(0, faults).await
}

pub(crate) async fn start_sim_on_port(port: u16, faults: &[&str]) -> Sim {
    Sim::start(SimOptions { port, ..sim_options(120, faults) }).await.expect("a simulator")
}

/// Returns options for a site with this number of pages and no jobs, in which jobs run a hundred times faster than
/// usual.
fn sim_options(pages: u32, faults: &[&str]) -> SimOptions {
    SimOptions { jobs: 0, pages, speed: 100.0, faults: parse_faults(faults), ..SimOptions::default() }
}

fn parse_faults(faults: &[&str]) -> Vec<Fault> {
    faults.iter().map(|fault| fault.parse().expect("a fault")).collect()
}

/// Replaces the simulator's faults.
pub(crate) fn set_faults(sim: &Sim, faults: &[&str]) {
    sim.set_faults(parse_faults(faults));
}

pub(crate) fn scope_of(sim: &Sim) -> Scope {
    Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None }
}

pub(crate) fn create_folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

pub(crate) fn open_store(folder: &Path) -> Store {
    Store::open(folder, chrono::Utc::now()).expect("a store").0
}
