//! The simulated service: a seeded world of jobs and page views, with its documented limits and with faults that can
//! be switched on, answering over real HTTP on 127.0.0.1. It keeps to api.md and is nothing more lenient.
//!
//! The rooms: `world`, `jobs`, `directives` and `population` are the jobs' lives; `pages`, `paths` and `views` what is
//! read; `limits` and `faults` what gets refused or goes wrong; `service` puts them together; `http`, `reply` and
//! `broken` are its face. The world is pure, only `service` reads the clock.
//!
//! Time is real: the Date header, `createdAt`, the days of the views and the limits' rolling hour all follow the wall
//! clock. `speed` shortens the jobs' lives alone, all of their lengths alike. A prompt may steer its own run with words
//! like `[sim:fail]` or `[sim:seconds=3]`; the table of them heads `directives`.

mod bad_bodies;
mod faults;
mod http;
mod jobs;
mod limits;
mod pages;
mod paths;
mod population;
mod prompt_directives;
mod reply;
mod rng;
mod service;
mod views;
mod world;

pub use faults::{Fault, FaultKind, SimRetryAfter};
pub use world::{SeededChange, SeededJob};

use crate::model::Time;
use crate::model::log::Operation;
use crate::model::views::{ViewsPage, ViewsQuery};
use chrono::TimeDelta;
use service::Service;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// What to simulate; the flags of `docdeck sim` and `docdeck demo`.
#[derive(Debug, Clone)]
pub struct SimOptions {
    /// Port on 127.0.0.1; 0 for any that is free.
    pub port: u16,
    /// Jobs that are there from the start.
    pub jobs: u32,
    /// Pages of the site.
    pub pages: u32,
    /// How many times faster than usual jobs live; above 0.
    pub speed: f64,
    /// The same seed gives the same world.
    pub seed: u64,
    /// What goes wrong from the start on.
    pub faults: Vec<Fault>,
}

impl Default for SimOptions {
    fn default() -> Self {
        Self { port: 0, jobs: 24, pages: 1200, speed: 1.0, seed: 7, faults: Vec::new() }
    }
}

/// A running simulator, stopped when dropped.
pub struct Sim {
    address: SocketAddr,
    service: Arc<Service>,
    /// Dropping it stops the server.
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

impl fmt::Debug for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sim").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Sim {
    /// Binds 127.0.0.1 and answers from then on, on the current tokio runtime. Err when the port can't be had or the
    /// speed makes no sense.
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

    /// Stops and waits until the port is free and every connection closed.
    pub async fn stop(self) {
        let Self { stop, server, .. } = self;
        drop(stop);
        // The server only ends; it has nothing to tell.
        let _ = server.await;
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base address for a client.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The key that may do all; the same for the same seed.
    pub fn api_key(&self) -> &str {
        &self.service.keys.write
    }

    /// A key with the read scope only: 403 on every POST.
    pub fn read_only_key(&self) -> &str {
        &self.service.keys.read
    }

    /// The one project there is.
    pub fn project(&self) -> &str {
        service::PROJECT
    }

    /// Lines to paste into a shell, so that a docdeck started there talks to this simulator.
    pub fn shell_lines(&self) -> String {
        format!(
            "export DOCDECK_BASE_URL={}\nexport DOCDECK_API_KEY={}\nexport DOCDECK_PROJECT_ID={}\n",
            self.base_url(),
            self.api_key(),
            self.project()
        )
    }

    /// The jobs that were there from the start, oldest first, as they are now.
    pub fn seeded(&self) -> Vec<SeededJob> {
        self.service.seeded()
    }

    /// The service's time: the wall clock, and what it was put forward.
    pub fn now(&self) -> Time {
        self.service.now()
    }

    /// Puts the service's clock forward: jobs live on, limits free up, the Date header follows.
    pub fn advance(&self, by: TimeDelta) {
        self.service.advance(by);
    }

    /// Other faults from now on, in place of those there were.
    pub fn set_faults(&self, faults: Vec<Fault>) {
        self.service.set_faults(faults);
    }

    /// Requests of an operation that arrived, whatever became of them.
    pub fn requests(&self, operation: Operation) -> u64 {
        self.service.requests(operation)
    }

    /// Requests of an operation that were carried out, also where the answer was lost.
    pub fn carried_out(&self, operation: Operation) -> u64 {
        self.service.carried_out(operation)
    }

    /// What the service would answer now, without a request: for a record that begins with a past.
    pub fn views(&self, query: ViewsQuery) -> ViewsPage {
        self.service.views(query)
    }

    /// Every prompt that was taken in, in order, as (job id, prompt).
    pub fn prompts(&self) -> Vec<(String, String)> {
        self.service.received_prompts()
    }
}
