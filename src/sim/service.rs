//! Responds to the requests that the HTTP server has parsed: checks the API key and the limits, and carries out the
//! operations. Parts of the state, such as the jobs and the limits, have separate locks; no code takes a lock while it
//! holds another.

use super::analytics::{FirstMerges, ReportInputs, RowsQuery, SimAnalytics, SimulatedRow};
use super::code_host::{self, GitHubLimits, HostCost, HostFault, HostOperation, HostReply, HostWorld, RateLimit};
use super::faults::{Fault, Faults, InjectedFaults};
use super::limits::SimLimits;
use super::options::SimOptions;
use super::pages::Site;
use super::previews::SimPreviews;
use super::reply::Reply;
use super::rng::SeededRng;
use super::views::{Parameters, SimViews};
use super::world::{InitialJob, SimWorld};
use crate::api::wire::{ErrorDetailBody, JobBody};
use crate::model::Time;
use crate::model::analytics::{AnalyticsKind, RowsResponse};
use crate::model::ledger::Quota;
use crate::model::log::Operation;
use crate::model::period::DateRange;
use crate::model::pull_request::HostKind;
use crate::model::views::{ViewsQuery, ViewsResponse};
use axum::http::{StatusCode, header};
use chrono::{TimeDelta, Utc};
use serde_json::Value;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The id of the simulated project.
pub(super) const PROJECT_ID: &str = "acme-docs";

/// The random stream for the API keys and tokens; see [`SeededRng::new`].
const KEY_RNG_STREAM: u64 = 7 << 32;

/// The state of a running simulator.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) keys: SimKeys,
    world: Mutex<SimWorld>,
    /// Created when it is first needed, since forming the paths of all pages takes a moment.
    views: LazyLock<SimViews, Box<dyn FnOnce() -> SimViews + Send>>,
    analytics: SimAnalytics,
    merges: Mutex<CachedMerges>,
    limits: Mutex<SimLimits>,
    faults: Mutex<Faults>,
    request_counts: Counters,
    carried_out_counts: Counters,
    previews: Mutex<SimPreviews>,
    speed: f64,
    host_fault: Mutex<Option<HostFault>>,
    host_limits: Mutex<GitHubLimits>,
    host_request_count: AtomicU64,
    host_action_count: AtomicU64,
    /// How far the service's clock was moved forward, in milliseconds.
    clock_offset: AtomicI64,
}

/// The API keys of the simulated project, and the tokens for the code hosts. The same seed gives the same ones.
#[derive(Debug)]
pub(super) struct SimKeys {
    /// The key that may read and write.
    pub(super) write_key: String,
    /// The key that may only read.
    pub(super) read_key: String,
    /// The token for the simulated GitHub.
    github_token: String,
    /// The token for the simulated GitLab.
    gitlab_token: String,
}

impl SimKeys {
    /// Returns the token for a code host.
    pub(super) fn code_host_token(&self, kind: HostKind) -> &str {
        match kind {
            HostKind::GitHub => &self.github_token,
            HostKind::GitLab => &self.gitlab_token,
        }
    }
}

/// A parsed request.
#[derive(Debug)]
pub(super) struct SimRequest {
    pub(super) operation: Operation,
    pub(super) authorization: Option<String>,
    pub(super) is_json: bool,
    pub(super) project: String,
    /// The id of the job, build or conversation; empty if the operation has none.
    pub(super) resource_id: String,
    /// The query parameters of page views and other reports; `None` if they could not be parsed.
    pub(super) parameters: Option<Parameters>,
    /// Whether a fault makes reports contain a cursor even if there are no more rows.
    pub(super) should_claim_more_rows: bool,
    pub(super) body: axum::body::Bytes,
}

/// The cached first merge of each page, with the minute and the number of actions on pull requests for which the merges
/// were computed. The merges are computed again when the minute or the number of actions has changed.
type CachedMerges = Option<((i64, u64), Arc<FirstMerges>)>;

/// The number of requests of each operation.
#[derive(Debug, Default)]
struct Counters([AtomicU64; Operation::ALL.len()]);

impl Counters {
    fn increment(&self, operation: Operation) {
        let counter = Operation::ALL.iter().zip(&self.0).find(|(known, _)| **known == operation);
        counter.into_iter().for_each(|(_, counter)| {
            counter.fetch_add(1, Ordering::Relaxed);
        });
    }

    fn count(&self, operation: Operation) -> u64 {
        let counter = Operation::ALL.iter().zip(&self.0).find(|(known, _)| **known == operation);
        counter.map_or(0, |(_, counter)| counter.load(Ordering::Relaxed))
    }
}

impl Service {
    /// Creates the service with its initial jobs, pages and faults.
    pub(super) fn new(options: &SimOptions) -> Self {
        let now = Utc::now();
        let (seed, pages) = (options.seed, options.pages);
        let mut rng = SeededRng::new(seed, KEY_RNG_STREAM);
        let (high, low) = (rng.next(), rng.next());
        Self {
            keys: SimKeys {
                write_key: format!("mint_sim_{high:016x}{low:016x}"),
                read_key: format!("mint_sim_read_{low:016x}{high:016x}"),
                github_token: format!("sim_host_{:016x}{:016x}", rng.next(), rng.next()),
                gitlab_token: format!("sim_gitlab_{:016x}{:016x}", rng.next(), rng.next()),
            },
            world: Mutex::new(SimWorld::new(options, now)),
            views: LazyLock::new(Box::new(move || SimViews::new(Site::new(seed, pages, now)))),
            analytics: SimAnalytics::default(),
            merges: Mutex::default(),
            limits: Mutex::default(),
            faults: Mutex::new(Faults::new(options.seed, options.faults.clone())),
            request_counts: Counters::default(),
            carried_out_counts: Counters::default(),
            previews: Mutex::default(),
            speed: options.speed,
            host_fault: Mutex::default(),
            host_limits: Mutex::default(),
            host_request_count: AtomicU64::new(0),
            host_action_count: AtomicU64::new(0),
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
    pub(super) fn register_request(&self, operation: Operation) -> InjectedFaults {
        self.request_counts.increment(operation);
        locked(&self.faults).pick_faults(operation)
    }

    pub(super) fn set_faults(&self, faults: Vec<Fault>) {
        locked(&self.faults).replace(faults);
    }

    pub(super) fn request_count(&self, operation: Operation) -> u64 {
        self.request_counts.count(operation)
    }

    pub(super) fn carried_out_count(&self, operation: Operation) -> u64 {
        self.carried_out_counts.count(operation)
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

    pub(super) fn host_request_count(&self) -> u64 {
        self.host_request_count.load(Ordering::Relaxed)
    }

    /// Responds to a request to a code host. Returns `None` if the connection has to end without a response. Calls
    /// `make_reply` only if the token is right, and neither a fault nor a reached limit prevents the request.
    pub(super) fn respond_as_host(
        &self,
        kind: HostKind,
        authorization: Option<&str>,
        operation: HostOperation,
        cost: HostCost,
        make_reply: impl FnOnce(&HostWorld<'_>) -> HostReply,
    ) -> Option<Reply> {
        self.host_request_count.fetch_add(1, Ordering::Relaxed);
        let is_action = operation.is_action();
        self.host_action_count.fetch_add(u64::from(is_action), Ordering::Relaxed);
        let token = self.keys.code_host_token(kind);
        if authorization.and_then(bearer_key) != Some(token) {
            return Some(code_host::unauthorized(kind));
        }
        let general_fault = *locked(&self.host_fault);
        let fault = general_fault.or_else(|| locked(&self.faults).pick_host_fault(operation));
        if is_action && fault == Some(HostFault::LostAction) {
            return None;
        }
        let now = self.now();
        let rate_limit = locked(&self.host_limits).spend(cost, now);
        let mut world = locked(&self.world);
        let host = world.code_host(now, fault, token, rate_limit);
        let (mut reply, done) =
            code_host::refusal(kind, &host).map_or_else(|| make_reply(&host), |reply| (reply, None));
        if let Some((number, actions)) = done {
            world.set_host_actions(number, actions);
        }
        // The headers describe the actual limit. They are left out if a fault simulates a reached limit, because they
        // would report remaining requests.
        if !matches!(fault, Some(HostFault::LimitInBody | HostFault::LimitInStatus)) {
            reply.headers.extend(rate_limit.iter().flat_map(RateLimit::headers));
        }
        (!is_action || fault != Some(HostFault::LostActionResponse)).then_some(reply)
    }

    /// Returns how many actions on pull requests arrived.
    pub(super) fn host_action_count(&self) -> u64 {
        self.host_action_count.load(Ordering::Relaxed)
    }

    /// Responds to a request as documented. Checks the API key first, then the project, the limit and the request
    /// itself.
    pub(super) fn respond(&self, call: &SimRequest) -> Reply {
        let now = self.now();
        let result = self.check_request(call, now).and_then(|()| self.carry_out(call, now));
        if result.is_ok() {
            self.carried_out_counts.increment(call.operation);
        }
        result.unwrap_or_else(|rejection| rejection)
    }

    fn check_request(&self, call: &SimRequest, now: Time) -> Result<(), Reply> {
        let reject = |status, why: &str| Err(Reply::error(status, why, Vec::new()));
        let is_write = matches!(call.operation, Operation::Create | Operation::FollowUp | Operation::Preview);
        match call.authorization.as_deref().and_then(bearer_key) {
            Some(key) if key == self.keys.write_key => {}
            Some(key) if key == self.keys.read_key && !is_write => {}
            Some(key) if key == self.keys.read_key => {
                return reject(StatusCode::FORBIDDEN, "This API key lacks the write scope");
            }
            Some(_) => return reject(StatusCode::UNAUTHORIZED, "Invalid or expired API key"),
            None => return reject(StatusCode::UNAUTHORIZED, "Missing API key: send Authorization: Bearer <API_KEY>"),
        }
        if call.operation != Operation::Build && call.project != PROJECT_ID {
            return reject(StatusCode::NOT_FOUND, "Project not found");
        }
        let quota = match call.operation {
            Operation::Create => Quota::Create,
            Operation::FollowUp => Quota::FollowUp,
            Operation::Views | Operation::Analytics(_) | Operation::Conversation => Quota::Views,
            Operation::Preview => Quota::Previews,
            Operation::GetJob | Operation::Build => return Ok(()),
        };
        locked(&self.limits).count_request(quota, now).map_err(|retry_after| Reply {
            headers: vec![(header::RETRY_AFTER, retry_after)],
            ..Reply::error(StatusCode::TOO_MANY_REQUESTS, "Rate limit exceeded", Vec::new())
        })
    }

    /// Returns the response to a query at the current time, without counting a request.
    pub(super) fn views(&self, query: ViewsQuery) -> ViewsResponse {
        self.views.decoded_response(query, self.now())
    }

    /// Returns all rows of a report at the current time, without counting a request.
    pub(super) fn analytics<R: SimulatedRow>(&self, range: DateRange) -> RowsResponse<R> {
        self.with_report_inputs(self.now(), |inputs| self.analytics.rows(range, inputs))
    }

    /// Calls `compute` with the data from which reports are computed.
    fn with_report_inputs<T>(&self, now: Time, compute: impl FnOnce(ReportInputs<'_>) -> T) -> T {
        let minute = now.timestamp().div_euclid(60);
        let now = Time::from_timestamp(minute * 60, 0).unwrap_or(now);
        let state = (minute, self.host_action_count());
        let known = locked(&self.merges).as_ref().filter(|(of, _)| *of == state).map(|(_, merges)| Arc::clone(merges));
        let merges = known.unwrap_or_else(|| {
            let pages = locked(&self.world).code_host(now, None, "", None).merged_pages();
            let merges = Arc::new(FirstMerges::new(pages));
            *locked(&self.merges) = Some((state, Arc::clone(&merges)));
            merges
        });
        compute(ReportInputs { site: self.views.site(), merges: &merges, now })
    }

    fn analytics_reply(&self, kind: AnalyticsKind, call: &SimRequest, now: Time) -> Result<Reply, Reply> {
        let wrong = |details| Reply::error(StatusCode::BAD_REQUEST, "Invalid query parameters", details);
        let query = call.parameters.as_ref().map_or_else(
            || Err(Vec::new()),
            |parameters| RowsQuery::parse(kind, parameters, call.should_claim_more_rows),
        );
        let query = query.map_err(wrong)?;
        let body = self.with_report_inputs(now, |inputs| self.analytics.response(kind, &query, inputs));
        let body = body.map_err(|message| wrong(vec![ErrorDetailBody { message: message.to_owned() }]))?;
        Ok(Reply::json(StatusCode::OK, &body))
    }

    fn thread_reply(&self, id: &str, now: Time) -> Result<Reply, Reply> {
        let conversation = self.with_report_inputs(now, |inputs| self.analytics.conversation(id, inputs));
        let unknown = || Reply::error(StatusCode::NOT_FOUND, "Thread not found", Vec::new());
        conversation.map(|conversation| Reply::json(StatusCode::OK, &conversation)).ok_or_else(unknown)
    }

    fn carry_out(&self, call: &SimRequest, now: Time) -> Result<Reply, Reply> {
        match call.operation {
            Operation::Create => {
                let prompt = read_text(call, "prompt")?;
                let job = locked(&self.world).create(&prompt, now);
                Ok(Reply::json(StatusCode::CREATED, &job))
            }
            Operation::GetJob => job_or_404(locked(&self.world).job(&call.resource_id, now)),
            Operation::FollowUp => {
                let prompt = read_text(call, "prompt")?;
                job_or_404(locked(&self.world).follow_up(&call.resource_id, &prompt, now))
            }
            Operation::Preview => {
                let branch = read_text(call, "branch")?;
                if !locked(&self.world).has_branch(&branch) {
                    return Err(Reply::error(StatusCode::BAD_REQUEST, "Branch not found", Vec::new()));
                }
                Ok(Reply::json(StatusCode::ACCEPTED, &locked(&self.previews).start(&branch, now)))
            }
            Operation::Build => {
                let build = locked(&self.previews).build(&call.resource_id).cloned();
                let unknown = || Reply::error(StatusCode::NOT_FOUND, "Status not found", Vec::new());
                let (build, fault) = (build.ok_or_else(unknown)?, *locked(&self.host_fault));
                let files = locked(&self.world).code_host(now, fault, "", None).files_of_branch(&build.branch);
                Ok(Reply::json(StatusCode::OK, &build.status(&call.resource_id, &files, self.speed, now)))
            }
            Operation::Analytics(kind) => self.analytics_reply(kind, call, now),
            Operation::Conversation => self.thread_reply(&call.resource_id, now),
            Operation::Views => {
                let read = call.parameters.as_ref().map_or_else(|| Err(Vec::new()), Parameters::parse);
                let wrong = |details| Reply::error(StatusCode::BAD_REQUEST, "Invalid query parameters", details);
                let wanted = read.map_err(wrong)?;
                Ok(Reply::json(StatusCode::OK, &self.views.response(wanted, now)))
            }
        }
    }
}

fn job_or_404(job: Option<JobBody>) -> Result<Reply, Reply> {
    job.map(|job| Reply::json(StatusCode::OK, &job))
        .ok_or_else(|| Reply::error(StatusCode::NOT_FOUND, "Job not found", Vec::new()))
}

/// Returns a text field of the JSON body, or the response to an invalid body.
fn read_text(call: &SimRequest, field: &str) -> Result<String, Reply> {
    let reject = |why: &str| Reply::error(StatusCode::BAD_REQUEST, why, Vec::new());
    if !call.is_json {
        return Err(reject("The body must be JSON: send Content-Type: application/json"));
    }
    let mut body: serde_json::Map<String, Value> =
        serde_json::from_slice(&call.body).map_err(|_| reject("The body must be a JSON object"))?;
    match body.remove(field) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        Some(Value::String(_)) => Err(reject(&format!("{field} must have at least 1 character"))),
        _ => Err(reject(&format!("{field} must be a string"))),
    }
}

fn bearer_key(header: &str) -> Option<&str> {
    let (scheme, key) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim()).filter(|key| !key.is_empty())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_without_requests_left_gets_the_errors_of_each_api() {
        let service = Service::new(&SimOptions { jobs: 0, pages: 0, ..SimOptions::default() });
        let bearer = format!("Bearer {}", service.keys.code_host_token(HostKind::GitHub));
        let ask = |cost| {
            let make_reply = |_: &HostWorld<'_>| (Reply::json(StatusCode::OK, &"answered"), None);
            service
                .respond_as_host(HostKind::GitHub, Some(&bearer), HostOperation::State, cost, make_reply)
                .expect("an answer")
        };
        let remaining = |reply: &Reply| {
            let header = reply.headers.iter().find(|(name, _)| name == "x-ratelimit-remaining");
            header.map(|(_, value)| value.clone())
        };
        for _ in 0..4999 {
            assert_eq!(ask(HostCost::Rest).status, StatusCode::OK);
        }
        let last = ask(HostCost::Rest);
        assert_eq!((last.status, remaining(&last)), (StatusCode::OK, Some("0".to_owned())));
        let refused = ask(HostCost::Rest);
        assert_eq!((refused.status, remaining(&refused)), (StatusCode::FORBIDDEN, Some("0".to_owned())));
        assert_eq!(ask(HostCost::GraphQl(5000)).body, "\"answered\"");
        let refused = ask(HostCost::GraphQl(1));
        let body: Value = serde_json::from_slice(&refused.body).expect("JSON");
        assert_eq!((refused.status, remaining(&refused)), (StatusCode::OK, Some("0".to_owned())));
        assert_eq!(body.pointer("/errors/0/type").and_then(Value::as_str), Some("RATE_LIMITED"));
        service.advance(TimeDelta::hours(1));
        assert_eq!(ask(HostCost::Rest).status, StatusCode::OK);
    }
}
