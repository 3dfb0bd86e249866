//! Answers the requests that the HTTP server has parsed: checks the API key and the limits, and carries out the
//! operations. The jobs, the limits and the faults each have a lock; no code takes a lock while it holds another.

use super::code_host::HostFault;
use super::faults::{Fault, Faults, InjectedFaults};
use super::host_actions::ActionRequest;
use super::limits::SimLimits;
use super::options::SimOptions;
use super::pages::Site;
use super::reply::Reply;
use super::rng::SeededRng;
use super::views::{Parameters, SimViews};
use super::world::{InitialJob, SimWorld};
use crate::api::wire::JobBody;
use crate::model::Time;
use crate::model::ledger::RateLimited;
use crate::model::log::Operation;
use crate::model::views::{ViewsPage, ViewsQuery};
use axum::http::StatusCode;
use chrono::{TimeDelta, Utc};
use serde_json::Value;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The id of the simulated project.
pub(super) const PROJECT: &str = "acme-docs";

const KEY_STREAM: u64 = 7 << 32;

/// The state of a running simulator.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) keys: SimKeys,
    world: Mutex<SimWorld>,
    views: SimViews,
    limits: Mutex<SimLimits>,
    faults: Mutex<Faults>,
    request_counts: Counters,
    carried_out_counts: Counters,
    host_fault: Mutex<Option<HostFault>>,
    host_requests: AtomicU64,
    host_actions: AtomicU64,
    /// How far the service's clock was moved forward, in milliseconds.
    clock_offset: AtomicI64,
}

/// The API keys of the simulated project. The same seed gives the same keys.
#[derive(Debug)]
pub(super) struct SimKeys {
    /// The key that may read and write.
    pub(super) write: String,
    /// The key that may only read.
    pub(super) read: String,
    /// The token for the code host.
    pub(super) host: String,
}

/// A parsed request.
#[derive(Debug)]
pub(super) struct SimRequest {
    pub(super) operation: Operation,
    pub(super) authorization: Option<String>,
    pub(super) is_json: bool,
    pub(super) project: String,
    /// The job's id; empty if the operation has none.
    pub(super) job_id: String,
    /// The query parameters of page views; `None` if they could not be parsed.
    pub(super) parameters: Option<Parameters>,
    pub(super) body: axum::body::Bytes,
}

#[derive(Debug, Default)]
struct Counters([AtomicU64; 4]);

impl Counters {
    fn counter(&self, operation: Operation) -> &AtomicU64 {
        let [create, get, follow_up, views] = &self.0;
        match operation {
            Operation::Create => create,
            Operation::Get => get,
            Operation::FollowUp => follow_up,
            Operation::Views => views,
        }
    }

    fn add(&self, operation: Operation) {
        self.counter(operation).fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self, operation: Operation) -> u64 {
        self.counter(operation).load(Ordering::Relaxed)
    }
}

impl Service {
    /// Creates the service with its initial jobs, pages and faults.
    pub(super) fn new(options: &SimOptions) -> Self {
        let now = Utc::now();
        let mut rng = SeededRng::new(options.seed, KEY_STREAM);
        let (high, low) = (rng.next(), rng.next());
        Self {
            keys: SimKeys {
                write: format!("mint_sim_{high:016x}{low:016x}"),
                read: format!("mint_sim_read_{low:016x}{high:016x}"),
                host: format!("sim_host_{:016x}{:016x}", rng.next(), rng.next()),
            },
            world: Mutex::new(SimWorld::new(options, now)),
            views: SimViews::new(Site::new(options.seed, options.pages, now)),
            limits: Mutex::default(),
            faults: Mutex::new(Faults::new(options.seed, options.faults.clone())),
            request_counts: Counters::default(),
            carried_out_counts: Counters::default(),
            host_fault: Mutex::default(),
            host_requests: AtomicU64::new(0),
            host_actions: AtomicU64::new(0),
            clock_offset: AtomicI64::new(0),
        }
    }

    /// Returns the service's time: the wall clock, moved forward by all calls of [`Service::advance`].
    pub(super) fn now(&self) -> Time {
        Utc::now() + TimeDelta::milliseconds(self.clock_offset.load(Ordering::Relaxed))
    }

    /// Moves the service's clock forward.
    pub(super) fn advance(&self, by: TimeDelta) {
        self.clock_offset.fetch_add(by.num_milliseconds(), Ordering::Relaxed);
    }

    /// Counts a request and determines the faults that apply to it.
    pub(super) fn receive(&self, operation: Operation) -> InjectedFaults {
        self.request_counts.add(operation);
        locked(&self.faults).pick(operation)
    }

    pub(super) fn set_faults(&self, faults: Vec<Fault>) {
        locked(&self.faults).replace(faults);
    }

    pub(super) fn requests(&self, operation: Operation) -> u64 {
        self.request_counts.get(operation)
    }

    pub(super) fn carried_out(&self, operation: Operation) -> u64 {
        self.carried_out_counts.get(operation)
    }

    pub(super) fn received_prompts(&self) -> Vec<(String, String)> {
        locked(&self.world).received_prompts().to_vec()
    }

    pub(super) fn initial_jobs(&self) -> Vec<InitialJob> {
        let now = self.now();
        locked(&self.world).initial_jobs(now)
    }

    pub(super) fn set_host_fault(&self, fault: Option<HostFault>) {
        *locked(&self.host_fault) = fault;
    }

    pub(super) fn host_requests(&self) -> u64 {
        self.host_requests.load(Ordering::Relaxed)
    }

    /// Answers a GraphQL request to the code host.
    pub(super) fn answer_host(&self, authorization: Option<&str>, body: &[u8]) -> Reply {
        self.host_requests.fetch_add(1, Ordering::Relaxed);
        if authorization.and_then(bearer_key) != Some(self.keys.host.as_str()) {
            return Reply::json(StatusCode::UNAUTHORIZED, &serde_json::json!({ "message": "Bad credentials" }));
        }
        let fault = *locked(&self.host_fault);
        let mut world = locked(&self.world);
        let ready = serde_json::from_slice::<serde_json::Value>(body).ok().filter(|request| {
            request
                .get("query")
                .and_then(|query| query.as_str())
                .is_some_and(|query| query.contains("markPullRequestReady"))
        });
        let Some(request) = ready else { return world.code_host(self.now(), fault).answer(body) };
        self.host_actions.fetch_add(1, Ordering::Relaxed);
        let id = request.pointer("/variables/id").and_then(|id| id.as_str()).unwrap_or_default();
        let (reply, done) = world.code_host(self.now(), fault).mark_ready(id);
        if let Some((number, actions)) = done {
            world.set_host_actions(number, actions);
        }
        reply
    }

    /// Answers a REST request that acts on a pull request. `None` means that the connection ends without an answer.
    pub(super) fn act_on_host(
        &self,
        authorization: Option<&str>,
        url: &str,
        request: &ActionRequest<'_>,
    ) -> Option<Reply> {
        self.host_requests.fetch_add(1, Ordering::Relaxed);
        self.host_actions.fetch_add(1, Ordering::Relaxed);
        if authorization.and_then(bearer_key) != Some(self.keys.host.as_str()) {
            let refused = serde_json::json!({ "message": "Bad credentials" });
            return Some(Reply::json(StatusCode::UNAUTHORIZED, &refused));
        }
        let fault = *locked(&self.host_fault);
        if fault == Some(HostFault::LostAction) {
            return None;
        }
        let mut world = locked(&self.world);
        let (reply, done) = world.code_host(self.now(), fault).act(url, request);
        if let Some((number, actions)) = done {
            world.set_host_actions(number, actions);
        }
        (fault != Some(HostFault::LostActionAnswer)).then_some(reply)
    }

    /// Returns how many actions on pull requests arrived.
    pub(super) fn host_actions(&self) -> u64 {
        self.host_actions.load(Ordering::Relaxed)
    }

    /// Answers a REST request to the code host for the diff of a pull request, or for a page of its files.
    pub(super) fn answer_changes(&self, authorization: Option<&str>, url: &str, page: Option<(usize, usize)>) -> Reply {
        self.host_requests.fetch_add(1, Ordering::Relaxed);
        if authorization.and_then(bearer_key) != Some(self.keys.host.as_str()) {
            return Reply::json(StatusCode::UNAUTHORIZED, &serde_json::json!({ "message": "Bad credentials" }));
        }
        let fault = *locked(&self.host_fault);
        locked(&self.world).code_host(self.now(), fault).answer_changes(url, page)
    }

    /// Answers a request as documented. Checks the API key first, then the project, the limit and the request itself.
    pub(super) fn answer(&self, call: &SimRequest) -> Reply {
        let now = self.now();
        let result = self.check_request(call, now).and_then(|()| self.carry_out(call, now));
        if result.is_ok() {
            self.carried_out_counts.add(call.operation);
        }
        result.unwrap_or_else(|rejection| rejection)
    }

    fn check_request(&self, call: &SimRequest, now: Time) -> Result<(), Reply> {
        let reject = |status, why: &str| Err(Reply::error(status, why, Vec::new()));
        let is_write = matches!(call.operation, Operation::Create | Operation::FollowUp);
        match call.authorization.as_deref().and_then(bearer_key) {
            Some(key) if key == self.keys.write => {}
            Some(key) if key == self.keys.read && !is_write => {}
            Some(key) if key == self.keys.read => {
                return reject(StatusCode::FORBIDDEN, "This API key lacks the write scope");
            }
            Some(_) => return reject(StatusCode::UNAUTHORIZED, "Invalid or expired API key"),
            None => return reject(StatusCode::UNAUTHORIZED, "Missing API key: send Authorization: Bearer <API_KEY>"),
        }
        if call.project != PROJECT {
            return reject(StatusCode::NOT_FOUND, "Project not found");
        }
        let limited = match call.operation {
            Operation::Create => RateLimited::Create,
            Operation::FollowUp => RateLimited::FollowUp,
            Operation::Views => RateLimited::Views,
            Operation::Get => return Ok(()),
        };
        locked(&self.limits).count_request(limited, now).map_err(|retry_after| Reply {
            retry_after: Some(retry_after),
            ..Reply::error(StatusCode::TOO_MANY_REQUESTS, "Rate limit exceeded", Vec::new())
        })
    }

    /// Returns the answer to a query at the current time, without counting a request.
    pub(super) fn views(&self, query: ViewsQuery) -> ViewsPage {
        self.views.page(query, self.now())
    }

    fn carry_out(&self, call: &SimRequest, now: Time) -> Result<Reply, Reply> {
        match call.operation {
            Operation::Create => {
                let prompt = read_prompt(call)?;
                let job = locked(&self.world).create(&prompt, now);
                Ok(Reply::json(StatusCode::CREATED, &job))
            }
            Operation::Get => job_or_404(locked(&self.world).job(&call.job_id, now)),
            Operation::FollowUp => {
                let prompt = read_prompt(call)?;
                job_or_404(locked(&self.world).follow_up(&call.job_id, &prompt, now))
            }
            Operation::Views => {
                let read = call.parameters.as_ref().map_or_else(|| Err(Vec::new()), Parameters::parse);
                let wrong = |details| Reply::error(StatusCode::BAD_REQUEST, "Invalid query parameters", details);
                let wanted = read.map_err(wrong)?;
                Ok(Reply::json(StatusCode::OK, &self.views.answer(wanted, now)))
            }
        }
    }
}

fn job_or_404(job: Option<JobBody>) -> Result<Reply, Reply> {
    job.map(|job| Reply::json(StatusCode::OK, &job))
        .ok_or_else(|| Reply::error(StatusCode::NOT_FOUND, "Job not found", Vec::new()))
}

fn read_prompt(call: &SimRequest) -> Result<String, Reply> {
    let reject = |why: &str| Reply::error(StatusCode::BAD_REQUEST, why, Vec::new());
    if !call.is_json {
        return Err(reject("The body must be JSON: send Content-Type: application/json"));
    }
    let mut body: serde_json::Map<String, Value> =
        serde_json::from_slice(&call.body).map_err(|_| reject("The body must be a JSON object"))?;
    match body.remove("prompt") {
        Some(Value::String(prompt)) if !prompt.is_empty() => Ok(prompt),
        Some(Value::String(_)) => Err(reject("prompt must have at least 1 character")),
        _ => Err(reject("prompt must be a string")),
    }
}

fn bearer_key(header: &str) -> Option<&str> {
    let (scheme, key) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim()).filter(|key| !key.is_empty())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
