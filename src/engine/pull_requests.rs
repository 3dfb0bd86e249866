//! The task that queries code hosts for the state of pull requests: on schedule while the terminal has the focus, and
//! when the user requests it. If several instances seem to have the focus (not every terminal reports it), only one of
//! them at a time makes a round of requests.

use super::clock::{local_now, sleep_until};
use super::hosts::{
    HostAccess, HostClients, LinkedPullRequest, PullRequestStates, RefreshCommand, links_by_host, max_links_per_read,
    no_token_text,
};
use super::lease::LeaseRole;
use super::refresh_plan::{MAX_POINTS_PER_CHUNK, MAX_POINTS_PER_HOUR, RefreshTrigger, is_due, next_refresh};
use super::state::EngineState;
use crate::api::hosts::{HostClient, HostError, HostErrorKind, HostRequestStats};
use crate::model::Time;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::{Job, JobKey};
use crate::model::ledger::Wait;
use crate::model::log::LogKind;
use crate::model::pull_request::{HostKind, PullRequestFact, PullRequestLink};
use crate::model::text::CleanText;
use crate::store::{PullRequestUpdate, ReportedPullRequest, StoreError, StoredPullRequest};
use chrono::TimeDelta;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How long to wait after a failed request.
const RETRY_INTERVAL: TimeDelta = TimeDelta::minutes(5);
/// The maximum number of pull requests in one round. The pull requests of the newest jobs come first.
const MAX_PULL_REQUESTS_PER_ROUND: usize = 200;
/// The maximum number of chunks per host and round for which merge conflicts are requested once more, if GitHub is
/// still computing them. For the other chunks, the next round reads the conflicts. A round of 200 pull requests on
/// GitHub has 8 chunks with 2 requests each, so it needs at most 16 + 4 requests.
const MAX_CHUNKS_WITH_CONFLICT_RECHECK: usize = 4;
/// The longest time until the task looks for new pull requests without a command.
const MAX_SLEEP: TimeDelta = TimeDelta::seconds(60);
/// The first known state of a pull request counts as a change only if its job finished less than this time ago.
const MAX_RECENT_FINISH_AGE: TimeDelta = TimeDelta::hours(1);
/// How long to wait while another instance makes a round of requests.
const BUSY_LEASE_RETRY_INTERVAL: TimeDelta = TimeDelta::seconds(5);

/// The client for a code host, and what prevents requests to the host for now.
#[derive(Debug)]
struct HostState {
    access: HostAccess,
    /// No request is sent before this time, because the host's limit is reached.
    limited_until: Option<Time>,
    /// A request failed, so nothing is requested before this time unless the user asks for it.
    paused_until: Option<Time>,
    /// Whether the host refused the token. Then nothing is requested until the user asks for it.
    has_refused_token: bool,
    /// Whether docdeck's share of the host's limit is used up for now.
    is_out_of_points: bool,
}

/// The pull requests that are due now.
#[derive(Debug, Default)]
struct DuePullRequests {
    /// Each job with its link, the newest job first.
    jobs: Vec<(JobKey, CleanText)>,
    /// When the next pull request becomes due.
    next_due: Option<Time>,
}

/// The pull requests that are requested one chunk after the other, while the lease is held.
#[derive(Debug)]
struct RefreshRound {
    started_at: Time,
    /// The chunks that were not requested yet. Commands are handled between two chunks.
    chunks: VecDeque<PullRequestChunk>,
    /// When to look for due pull requests after this round.
    next_due: Time,
    /// The number of hosts that were unavailable when the round started. If more hosts are unavailable at its end, the
    /// next round starts at once. `None` if the round contains fewer pull requests than the maximum: then no pull
    /// request had to wait for the next round.
    unavailable_host_count_at_start: Option<usize>,
}

/// Pull requests of one host for [`PullRequestStates::read`].
#[derive(Debug)]
struct PullRequestChunk {
    host: String,
    kind: HostKind,
    pull_requests: Vec<LinkedPullRequest>,
    /// Whether conflicts that are still being computed are requested once more.
    should_recheck_conflicts: bool,
}

/// The state of the task that keeps the state of pull requests up to date.
pub(super) struct Refresher {
    pub(super) inner: Arc<EngineState>,
    host_clients: Arc<dyn HostClients>,
    hosts: HashMap<String, HostState>,
    is_focused: bool,
    round: Option<RefreshRound>,
    /// The jobs whose pull request could not be read, with the time of the next attempt.
    retries: HashMap<JobKey, Time>,
    /// The jobs with a merged pull request for which the changed pages were looked up.
    pub(super) jobs_with_looked_up_pages: HashSet<JobKey>,
}

/// Runs until the engine stops.
pub(super) async fn run_refresher(
    inner: Arc<EngineState>,
    host_clients: Arc<dyn HostClients>,
    mut commands: mpsc::UnboundedReceiver<RefreshCommand>,
) {
    let (hosts, retries, jobs_with_looked_up_pages) = (HashMap::new(), HashMap::new(), HashSet::new());
    let mut refresher =
        Refresher { inner, host_clients, hosts, is_focused: true, round: None, retries, jobs_with_looked_up_pages };
    let mut next = Some(Instant::now());
    loop {
        let is_in_round = refresher.round.is_some();
        // A command is handled before the rest of a round, so that the user doesn't wait for the end of the round.
        tokio::select! {
            biased;
            command = commands.recv() => match command {
                Some(command) => next = refresher.handle_command(command).await.or(next),
                None => return,
            },
            () = std::future::ready(()), if is_in_round => next = refresher.continue_round().await.or(next),
            () = sleep_until(next), if !is_in_round && next.is_some() && refresher.is_focused => {
                next = refresher.start_round(RefreshTrigger::Schedule, None).await;
            }
        }
    }
}

impl Refresher {
    /// Handles a command. Returns when to look for due pull requests; `None` if that time has not changed.
    async fn handle_command(&mut self, command: RefreshCommand) -> Option<Instant> {
        match command {
            RefreshCommand::NewPullRequest => Some(Instant::now()),
            RefreshCommand::FocusChanged(is_focused) => {
                let has_changed = std::mem::replace(&mut self.is_focused, is_focused) != is_focused;
                match is_focused {
                    true if has_changed => self.start_round(RefreshTrigger::Focus, None).await,
                    true => None,
                    false => self.end_round(),
                }
            }
            RefreshCommand::Refresh(jobs) => {
                self.retries.clear();
                // Forget the hosts without a usable token, so that their tokens are read again: the user may have
                // changed them.
                self.hosts.retain(|_, host| !host.has_refused_token && matches!(host.access, HostAccess::Client(_)));
                self.hosts.values_mut().for_each(|host| host.paused_until = None);
                self.start_round(RefreshTrigger::User, jobs.as_deref()).await
            }
            RefreshCommand::LoadDiff { job, should_refresh_head, reply } => {
                // The caller may have stopped waiting; the diff is stored nevertheless.
                let _ = reply.send(self.load_diff(job, should_refresh_head).await);
                None
            }
            RefreshCommand::PerformAction(job, head, action, reply) => {
                let _ = reply.send(self.perform_action(job, &head, &action).await);
                None
            }
            RefreshCommand::LoadDetails(job, reply) => {
                let _ = reply.send(self.load_details(job).await);
                None
            }
        }
    }

    /// Ends the current round, and starts a new one with the pull requests that are due. While another instance makes a
    /// round, starts one only if the user requested it. Returns when to look for due pull requests again; `None` if the
    /// new round has not ended yet.
    async fn start_round(&mut self, trigger: RefreshTrigger, selected_jobs: Option<&[JobKey]>) -> Option<Instant> {
        self.end_round();
        if !self.inner.leases.try_take(LeaseRole::RefreshPullRequests) && trigger != RefreshTrigger::User {
            return self.local_to_instant(local_now() + BUSY_LEASE_RETRY_INTERVAL);
        }
        let started_at = local_now();
        // Another instance may just have refreshed some pull requests, so what is due is read from the store.
        let due = match self.find_due(trigger, selected_jobs, started_at).await {
            Ok(due) => due,
            Err(error) => {
                self.inner.leases.release_one(LeaseRole::RefreshPullRequests);
                self.inner.emit_problem(error.failure()).await;
                return self.local_to_instant(started_at + MAX_SLEEP);
            }
        };
        let mut chunks = VecDeque::new();
        for ((host, kind), pull_requests) in links_by_host(due.jobs.iter().map(|(job, link)| (*job, link))) {
            chunks.extend(pull_requests.chunks(max_links_per_read(kind)).enumerate().map(|(n, pull_requests)| {
                PullRequestChunk {
                    host: host.clone(),
                    kind,
                    pull_requests: pull_requests.to_vec(),
                    should_recheck_conflicts: n < MAX_CHUNKS_WITH_CONFLICT_RECHECK,
                }
            }));
        }
        // If the round is only for some jobs, look for others right after it, because they may be overdue.
        let latest = if selected_jobs.is_some() { started_at } else { started_at + MAX_SLEEP };
        let next_due = due.next_due.map_or(latest, |next| next.min(latest));
        let is_full = due.jobs.len() == MAX_PULL_REQUESTS_PER_ROUND;
        let unavailable_host_count_at_start = is_full.then(|| self.unavailable_hosts(started_at).count());
        self.round = Some(RefreshRound { started_at, chunks, next_due, unavailable_host_count_at_start });
        self.continue_round().await
    }

    /// Sends the next requests of the current round. If this ends the round, returns when to look for due pull requests
    /// again.
    async fn continue_round(&mut self) -> Option<Instant> {
        if let Some(chunk) = self.round.as_mut().and_then(|round| round.chunks.pop_front()) {
            self.request_chunk(&chunk).await;
        }
        if self.round.as_ref().is_some_and(|round| round.chunks.is_empty()) { self.end_round() } else { None }
    }

    /// Ends the current round, even if not everything was requested. Returns when to look for due pull requests again;
    /// `None` if there was no round.
    fn end_round(&mut self) -> Option<Instant> {
        let round = self.round.take()?;
        self.inner.leases.release_one(LeaseRole::RefreshPullRequests);
        // If a host became unavailable during a round of the maximum size, its pull requests have taken slots that
        // others could have used. So the next round starts at once, as it does after an interruption.
        let unavailable = self.unavailable_hosts(round.started_at).count();
        let is_incomplete = round.unavailable_host_count_at_start.is_some_and(|at_start| unavailable > at_start);
        let is_interrupted = !round.chunks.is_empty();
        self.local_to_instant(if is_incomplete || is_interrupted { round.started_at } else { round.next_due })
    }

    /// Finds the pull requests to request now. Leaves out pull requests on unavailable hosts, so that they don't use up
    /// the maximum number for a round.
    async fn find_due(
        &self,
        trigger: RefreshTrigger,
        selected_jobs: Option<&[JobKey]>,
        now: Time,
    ) -> Result<DuePullRequests, StoreError> {
        let selected_jobs = selected_jobs.map(<[JobKey]>::to_vec);
        let waiting: HashSet<JobKey> = self.retries.iter().filter(|(_, at)| **at > now).map(|(job, _)| *job).collect();
        let unavailable: HashSet<String> = self.unavailable_hosts(now).cloned().collect();
        let visit = move |due: &mut DuePullRequests, found: StoredPullRequest<'_>| {
            if selected_jobs.as_ref().is_some_and(|selected_jobs| !selected_jobs.contains(&found.job)) {
                return;
            }
            let next = found.state.and_then(next_refresh).filter(|next| *next > now);
            due.next_due = next.into_iter().chain(due.next_due).min();
            if due.jobs.len() < MAX_PULL_REQUESTS_PER_ROUND
                && !waiting.contains(&found.job)
                && is_due(found.state, trigger, now)
                && PullRequestLink::parse(found.link.as_str()).is_some_and(|link| !unavailable.contains(&link.host))
            {
                due.jobs.push((found.job, found.link.clone()));
            }
        };
        self.inner.store.visit_pull_requests(&self.inner.scope, trigger == RefreshTrigger::User, visit).await
    }

    async fn request_chunk(&mut self, chunk: &PullRequestChunk) {
        let (name, now) = (chunk.host.as_str(), local_now());
        let Ok(client) = self.client(name, chunk.kind).await else { return };
        let spent = match self.inner.store.spent_host_points(name, now).await {
            Ok(spent) => spent,
            Err(error) => return self.inner.emit_problem(error.failure()).await,
        };
        if !self.is_available(name, now) || !self.has_points_left_or_notify(name, spent).await {
            return;
        }
        let states = PullRequestStates::read(&client, &chunk.pull_requests, chunk.should_recheck_conflicts).await;
        for (budget, error) in &states.responses {
            self.record_host_response(name, budget, error.as_ref()).await;
        }
        for (link, error) in &states.failed {
            let note = CleanText::line(&format!("pull request #{}: {}", link.number, error.kind));
            self.inner.log(CleanText::line(&link.repository), LogKind::Note(note)).await;
        }
        let jobs = chunk.pull_requests.iter().flat_map(|linked| &linked.jobs);
        self.retries.extend(jobs.map(|(job, _)| (*job, now + RETRY_INTERVAL)));
        for reported in &states.reported {
            self.retries.remove(&reported.job);
        }
        self.store_states(&client, states.reported, now).await;
    }

    /// Whether enough of docdeck's share of the host's limit is left for one chunk. When the share is used up, emits a
    /// notice once.
    async fn has_points_left_or_notify(&mut self, name: &str, spent: u64) -> bool {
        let has_points = spent + MAX_POINTS_PER_CHUNK <= MAX_POINTS_PER_HOUR;
        let Some(host) = self.hosts.get_mut(name) else { return has_points };
        let was_out_of_points = std::mem::replace(&mut host.is_out_of_points, !has_points);
        if !has_points && !was_out_of_points {
            let text = format!(
                "docdeck has used its share of the hourly limit of {name} ({MAX_POINTS_PER_HOUR} points). \
                 Pull requests are updated again within the hour."
            );
            self.inner.emit(EngineEvent::Notice(CleanText::line(&text))).await;
        }
        has_points
    }

    /// Records how much of the host's limit a request used, and whether the host can still be used after the response.
    /// Adds the request to the log. Notifies the user if the host refused the token.
    pub(super) async fn record_host_response(
        &mut self,
        name: &str,
        budget: &HostRequestStats,
        error: Option<&HostError>,
    ) {
        let now = local_now();
        // If this fails, the failure is reported when the response is stored.
        let _ = self.inner.store.record_host_points(name, budget.cost.unwrap_or(1), now).await;
        if let Some(host) = self.hosts.get_mut(name) {
            match error.map(|error| &error.kind) {
                None => {}
                Some(HostErrorKind::Limited) => host.limited_until = Some(budget.blocked_until(now)),
                Some(HostErrorKind::Unauthorized) => host.has_refused_token = true,
                Some(kind) if kind.affects_other_requests() => host.paused_until = Some(now + RETRY_INTERVAL),
                Some(_) => {}
            }
        }
        let reason = error.map(|error| CleanText::line(&error.kind.to_string()));
        let request = LogKind::HostRequest { status: budget.status, millis: budget.duration_millis, reason };
        self.inner.log(CleanText::line(name), request).await;
        // A refused token is not used again until the user refreshes the jobs list, so this notice doesn't repeat.
        if let Some(error) = error.filter(|error| error.kind == HostErrorKind::Unauthorized) {
            let text = format!("{error}. Pull requests are not updated. Renew the token, then refresh the jobs list.");
            self.inner.emit(EngineEvent::Notice(CleanText::line(&text))).await;
        }
    }

    async fn store_states(&mut self, client: &HostClient, reported: Vec<ReportedPullRequest>, now: Time) {
        if reported.is_empty() {
            return;
        }
        match self.inner.store.apply_pull_requests(reported, now).await {
            Ok(applied) => {
                for PullRequestUpdate { job, previous_fact } in applied {
                    self.emit_pull_request(client, job, previous_fact).await;
                }
            }
            Err(error) => self.inner.emit_problem(error.failure()).await,
        }
    }

    /// Emits a job whose pull request was read. Queues the `on_change` program if the most important fact differs from
    /// `previous_fact`.
    pub(super) async fn emit_pull_request(
        &mut self,
        client: &HostClient,
        job: Job,
        previous_fact: Option<PullRequestFact>,
    ) {
        let job = self.look_up_changed_pages(client, job).await;
        // The first known state of a pull request doesn't count as a change if its job finished long ago, because the
        // job may just have been imported.
        let is_new = job.local.finished_at.is_some_and(|at| local_now() - at < MAX_RECENT_FINISH_AGE);
        let has_changed = job.pull_request.as_ref().map(|state| state.main_fact()) != previous_fact;
        if has_changed && (previous_fact.is_some() || is_new) {
            self.inner.queue_hook(&job).await;
        }
        self.inner.emit(EngineEvent::Job(Box::new(job))).await;
    }

    /// Returns the client for a host, even while scheduled requests are paused after a failure.
    ///
    /// # Errors
    /// There is no usable token, the host refused it, or its limit is reached.
    pub(super) async fn client(&mut self, name: &str, kind: HostKind) -> Result<HostClient, Failure> {
        if !self.hosts.contains_key(name) {
            let access = self.host_clients.access(name, kind).await;
            match &access {
                HostAccess::Client(_) => {}
                HostAccess::NoToken => {
                    self.inner.emit(EngineEvent::MissingToken { host: CleanText::line(name), kind }).await;
                }
                HostAccess::Unusable(why) => self.inner.emit(EngineEvent::Notice(why.clone())).await,
            }
            let host = HostState {
                access,
                limited_until: None,
                paused_until: None,
                has_refused_token: false,
                is_out_of_points: false,
            };
            self.hosts.insert(name.to_owned(), host);
        }
        let now = local_now();
        let obstacle = match self.hosts.get(name) {
            Some(host) => match (&host.access, host.limited_until.filter(|until| *until > now)) {
                (HostAccess::Client(client), None) if !host.has_refused_token => return Ok(client.clone()),
                (HostAccess::Client(_), None) => {
                    format!("{name} refused the token. Renew it, then refresh the jobs list.")
                }
                (HostAccess::Client(_), Some(until)) => {
                    let left = Wait { until, is_estimate: false }.time_left_text(now);
                    format!("The rate limit of {name} is reached. Try again in {left}.")
                }
                (HostAccess::Unusable(why), _) => why.to_string(),
                (HostAccess::NoToken, _) => no_token_text(name, kind),
            },
            None => no_token_text(name, kind),
        };
        Err(Failure::new(FailureKind::Service, &obstacle))
    }

    /// Returns the known hosts from which nothing can be requested now.
    fn unavailable_hosts(&self, now: Time) -> impl Iterator<Item = &String> {
        self.hosts.keys().filter(move |name| !self.is_available(name, now))
    }

    /// Whether the state of pull requests can be requested from this host now. Always false for a host that is not in
    /// `hosts` yet.
    fn is_available(&self, name: &str, now: Time) -> bool {
        self.hosts.get(name).is_some_and(|host| {
            let until = host.limited_until.max(host.paused_until);
            matches!(host.access, HostAccess::Client(_))
                && !host.has_refused_token
                && until.is_none_or(|until| until <= now)
        })
    }

    fn local_to_instant(&self, at: Time) -> Option<Instant> {
        Instant::now().checked_add((at - local_now()).to_std().unwrap_or_default())
    }
}
