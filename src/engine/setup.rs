//! What the engine needs to start.

use super::hosts::HostClients;
use super::lease::LeaseRoles;
use super::team::state::TeamAccess;
use crate::api::Client;
use crate::model::analytics::AnalyticsSettings;
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::store::Store;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The limits of polling: how many requests per minute, and how many at once.
#[derive(Debug, Clone)]
pub struct PollOptions {
    /// The maximum number of GETs in any 60 seconds.
    pub per_minute: u32,
    /// The maximum number of GETs in flight at the same time.
    pub max_in_flight: usize,
}

impl Default for PollOptions {
    fn default() -> Self {
        Self { per_minute: 60, max_in_flight: 8 }
    }
}

/// Everything that an engine needs to start.
#[derive(Debug, Clone)]
pub struct EngineSetup {
    pub client: Client,
    pub store: Store,
    pub scope: Scope,
    pub poll: PollOptions,
    pub analytics: AnalyticsSettings,
    /// The leases that this instance may take. It sends the prompts submitted to it even without a lease.
    pub roles: LeaseRoles,
    /// The folder for the lock files of leases and instances; `None` in the demo, which has only one
    /// instance and no files.
    pub lock_folder: Option<PathBuf>,
    /// A program and its arguments, run for each change of a job with the job as JSON on its stdin.
    pub on_change: Option<Vec<String>>,
    /// Finds the clients for code hosts; `None` if the state of pull requests is not requested.
    pub hosts: Option<Arc<dyn HostClients>>,
    /// The team's database; `None` if no team is configured. Used only if the project is shared.
    pub team: Option<TeamAccess>,
    /// Receives all events. A full channel slows the engine down; no event is lost.
    pub events: mpsc::Sender<EngineEvent>,
}
