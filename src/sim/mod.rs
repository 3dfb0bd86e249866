//! The simulated service: an HTTP server on 127.0.0.1 with jobs and page views generated from a seed, the documented
//! limits, and faults that can be injected. It accepts only what the documentation of the real service permits.
//!
//! The modules `world`, `jobs`, `prompt_directives` and `population` simulate the jobs; `pages`, `paths` and `views`
//! simulate the page views, `analytics` the other reports; `code_host` simulates the pull requests of the jobs,
//! `previews` the builds of previews; `limits` and `faults` reject requests or make them fail; `service` combines
//! all of these; `http`, `host_routes`, `reply` and `bad_bodies` are the server. Only `service` reads the clock.
//!
//! The Date header, `createdAt`, the days of the views and the rolling hour of the limits follow the wall clock. Only
//! the durations of runs, checks, reviews and builds are divided by `speed`. Directives in a prompt, like `[sim:fail]`
//! or `[sim:seconds=3]`, control its run; see the table in `prompt_directives`.

mod analytics;
mod bad_bodies;
mod code_host;
mod faults;
mod host_routes;
mod http;
mod jobs;
mod limits;
mod options;
mod pages;
mod paths;
mod population;
mod previews;
mod prompt_directives;
mod reply;
mod rng;
mod service;
mod views;
mod world;

pub use analytics::SimulatedRow;
pub use code_host::{HostFault, HostOperation};
pub use faults::{Fault, FaultKind, FaultTarget, SimRetryAfter};
pub use options::SimOptions;
pub use world::InitialJob;

use crate::api::hosts::HostAddress;
use crate::model::Time;
use crate::model::analytics::RowsResponse;
use crate::model::log::Operation;
use crate::model::period::DateRange;
use crate::model::pull_request::HostKind;
use crate::model::views::{ViewsQuery, ViewsResponse};
use chrono::TimeDelta;
use service::Service;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A running simulated service. Dropping it stops the server.
pub struct Sim {
    address: SocketAddr,
    service: Arc<Service>,
    /// Dropping this sender stops the server.
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

impl fmt::Debug for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sim").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Sim {
    /// Starts the service, listening on 127.0.0.1, in the current tokio runtime. Fails if the port is not available or
    /// the speed is invalid.
    pub async fn start(options: SimOptions) -> io::Result<Self> {
        if !(options.speed.is_finite() && options.speed > 0.0) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the speed must be a number above 0"));
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let address = listener.local_addr()?;
        let service = Arc::new(Service::new(&options));
        let (stop, stopped) = oneshot::channel();
        let server = tokio::spawn(http::serve(listener, Arc::clone(&service), stopped));
        Ok(Self { address, service, stop, server })
    }

    /// Stops the service and waits until the port is free and every connection is closed.
    pub async fn stop(self) {
        let Self { stop, server, .. } = self;
        drop(stop);
        // The server task returns nothing.
        let _ = server.await;
    }

    /// Returns the address on which the service listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the base URL for a client.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the API key with all permissions. The same seed gives the same key.
    pub fn api_key(&self) -> &str {
        &self.service.keys.write_key
    }

    /// Returns an API key that may only read: every POST with it is refused with 403.
    pub fn read_only_key(&self) -> &str {
        &self.service.keys.read_key
    }

    /// Returns the token for the simulated code host of this kind. The same seed gives the same token.
    pub fn host_token(&self, kind: HostKind) -> &str {
        self.service.keys.code_host_token(kind)
    }

    /// Returns the address of the simulated code host of this kind. The links of pull requests name github.com or
    /// gitlab.com instead.
    pub fn host_address(&self, kind: HostKind) -> HostAddress {
        let (host, path, version) = match kind {
            HostKind::GitHub => ("github.com", "github", "v3"),
            HostKind::GitLab => ("gitlab.com", "gitlab", "v4"),
        };
        HostAddress {
            host: host.to_owned(),
            kind,
            rest_url: format!("{}/{path}/api/{version}", self.base_url()),
            graphql_url: format!("{}/{path}/api/graphql", self.base_url()),
        }
    }

    /// Replaces the fault that applies to every request to the simulated code hosts. With `None`, the faults of
    /// [`Sim::set_faults`] apply.
    pub fn set_host_fault(&self, fault: Option<HostFault>) {
        self.service.set_host_fault(fault);
    }

    /// Returns how many actions on pull requests arrived at the simulated code hosts.
    pub fn host_action_count(&self) -> u64 {
        self.service.host_action_count()
    }

    /// Returns how many requests to the simulated code hosts arrived.
    pub fn host_request_count(&self) -> u64 {
        self.service.host_request_count()
    }

    /// Returns the id of the only project.
    pub fn project(&self) -> &str {
        service::PROJECT_ID
    }

    /// Returns shell commands that set environment variables, so that a docdeck started from the same shell uses this
    /// simulated service. Comments after the commands contain the configuration for the code hosts.
    pub fn shell_lines(&self) -> String {
        let mut lines = format!(
            "export DOCDECK_BASE_URL={}\nexport DOCDECK_API_KEY={}\nexport DOCDECK_PROJECT_ID={}\n",
            self.base_url(),
            self.api_key(),
            self.project()
        );
        let hosts = [(HostKind::GitHub, "SIM_GITHUB_TOKEN"), (HostKind::GitLab, "SIM_GITLAB_TOKEN")];
        for (kind, variable) in hosts {
            lines.push_str(&format!("export {variable}={}\n", self.host_token(kind)));
        }
        lines.push_str("# For pull requests, add these lines to config.toml:\n");
        for (kind, variable) in hosts {
            let HostAddress { host, rest_url, graphql_url, .. } = self.host_address(kind);
            let graphql = match kind {
                HostKind::GitHub => format!("graphql_url = \"{graphql_url}\", "),
                HostKind::GitLab => String::new(),
            };
            let settings = format!("{graphql}rest_url = \"{rest_url}\", token_env = \"{variable}\"");
            lines.push_str(&format!("# hosts.\"{host}\" = {{ {settings} }}\n"));
        }
        lines
    }

    /// Returns the jobs that existed at the start, oldest first, in their current state.
    pub fn initial_jobs(&self) -> Vec<InitialJob> {
        self.service.initial_jobs()
    }

    /// Returns the service's time: the wall clock, moved forward by all calls of [`Sim::advance`].
    pub fn now(&self) -> Time {
        self.service.now()
    }

    /// Moves the service's clock forward, which affects jobs, limits and the Date header.
    pub fn advance(&self, by: TimeDelta) {
        self.service.advance(by);
    }

    /// Replaces the active faults.
    pub fn set_faults(&self, faults: Vec<Fault>) {
        self.service.set_faults(faults);
    }

    /// Returns how many requests of an operation arrived, whatever their outcome.
    pub fn requests(&self, operation: Operation) -> u64 {
        self.service.request_count(operation)
    }

    /// Returns how many requests of an operation were carried out, including those whose response was lost.
    pub fn carried_out_count(&self, operation: Operation) -> u64 {
        self.service.carried_out_count(operation)
    }

    /// Returns what the service would respond to a query now, without a request. Used to fill a store with history.
    pub fn views(&self, query: ViewsQuery) -> ViewsResponse {
        self.service.views(query)
    }

    /// Returns all rows of a report that a client could load now, without a request.
    pub fn analytics<R: SimulatedRow>(&self, range: DateRange) -> RowsResponse<R> {
        self.service.analytics(range)
    }

    /// Returns every accepted prompt as (job id, text), in the order of arrival.
    pub fn received_prompts(&self) -> Vec<(String, String)> {
        self.service.received_prompts()
    }
}
