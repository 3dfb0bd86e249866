//! The task that asks code hosts for the state of pull requests, never while the terminal is not focused. If several
//! instances have the focus (not every terminal reports it), one of them at a time makes a round of requests.

use super::clock::{local_now, sleep_until};
use super::hosts::{
    HostAccess, HostDirectory, HostRound, LinkedJobs, RefreshCommand, links_by_host, links_per_round, no_token_text,
};
use super::lease::LeaseRole;
use super::refresh_plan::{Occasion, SpentPoints, is_due, next_refresh};
use super::state::EngineState;
use crate::api::hosts::{HostClient, HostError, HostErrorKind, RequestBudget};
use crate::model::Time;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::log::LogKind;
use crate::model::pull_request::{HostKind, PullRequestLink};
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use crate::store::{ReportedPullRequest, StoreError, StoredPullRequest};
use chrono::TimeDelta;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How long to wait after a failed request.
const RETRY_INTERVAL: TimeDelta = TimeDelta::minutes(5);
/// The most pull requests that are requested at once. The newest jobs come first.
const MAX_PER_ROUND: usize = 200;
/// How many more requests are made at once for conflicts that GitHub is still computing. The others are known the next
/// time. So 200 pull requests need at most 20 requests.
const MAX_CONFLICT_REQUESTS: usize = 4;
/// The longest time until the task looks for new pull requests by itself.
const MAX_SLEEP: TimeDelta = TimeDelta::seconds(60);
/// How long to wait while another instance makes a round of requests.
const BUSY_INTERVAL: TimeDelta = TimeDelta::seconds(5);

/// A host and the state of its connection.
#[derive(Debug)]
struct Host {
    access: HostAccess,
    spent: SpentPoints,
    /// No request is sent before this time.
    blocked_until: Option<Time>,
    /// Whether the host refused the token. Then nothing is requested until the user asks for it.
    is_refused: bool,
}

/// The pull requests that are requested at once.
#[derive(Debug, Default)]
struct Round {
    /// Each job with its link, the newest job first.
    due: Vec<(JobKey, CleanText)>,
    /// When the next of the other pull requests is due.
    next: Option<Time>,
}

pub(super) struct Refresher {
    pub(super) inner: Arc<EngineState>,
    directory: Arc<dyn HostDirectory>,
    hosts: HashMap<String, Host>,
    is_focused: bool,
    /// When a job whose pull request could not be read is tried again.
    retries: HashMap<JobKey, Time>,
}

/// Runs until the engine stops.
pub(super) async fn run_refresher(
    inner: Arc<EngineState>,
    directory: Arc<dyn HostDirectory>,
    mut commands: mpsc::UnboundedReceiver<RefreshCommand>,
) {
    let (hosts, retries) = (HashMap::new(), HashMap::new());
    let mut refresher = Refresher { inner, directory, hosts, is_focused: true, retries };
    let mut next = Some(Instant::now());
    loop {
        tokio::select! {
            command = commands.recv() => match command {
                Some(command) => next = refresher.handle(command).await.or(next),
                None => return,
            },
            () = sleep_until(next), if next.is_some() && refresher.is_focused => {
                next = refresher.refresh(Occasion::Schedule, None).await;
            }
        }
    }
}

impl Refresher {
    /// Returns when to look for due pull requests; `None` if that has not changed.
    async fn handle(&mut self, command: RefreshCommand) -> Option<Instant> {
        match command {
            RefreshCommand::NewLink => Some(Instant::now()),
            RefreshCommand::Focused(is_focused) => {
                let has_changed = std::mem::replace(&mut self.is_focused, is_focused) != is_focused;
                if has_changed && is_focused { self.refresh(Occasion::Focus, None).await } else { None }
            }
            RefreshCommand::Refresh(jobs) => {
                self.retries.clear();
                // The user may have changed the token.
                self.hosts.retain(|_, host| !host.is_refused && matches!(host.access, HostAccess::Client(_)));
                self.refresh(Occasion::User, jobs.as_deref()).await
            }
            RefreshCommand::LoadDiff(job, reply) => {
                // Nobody may be waiting any more, but the diff is stored.
                let _ = reply.send(self.load_diff(job).await);
                None
            }
            RefreshCommand::Act(job, head, action, reply) => {
                let _ = reply.send(self.act(job, &head, &action).await);
                None
            }
            RefreshCommand::LoadDetails(job, reply) => {
                let _ = reply.send(self.load_details(job).await);
                None
            }
        }
    }

    /// Refreshes the pull requests that are due. If another instance is already refreshing, does so only if the user asked
    /// for it. Returns when to check again.
    async fn refresh(&mut self, occasion: Occasion, only: Option<&[JobKey]>) -> Option<Instant> {
        let inner = Arc::clone(&self.inner);
        if !inner.leases.try_take(LeaseRole::Refresh) && occasion != Occasion::User {
            return self.wake_at(local_now() + BUSY_INTERVAL);
        }
        let next = self.refresh_with_lease(occasion, only).await;
        inner.leases.give_back(LeaseRole::Refresh);
        next
    }

    async fn refresh_with_lease(&mut self, occasion: Occasion, only: Option<&[JobKey]>) -> Option<Instant> {
        let now = local_now();
        // Another instance may just have refreshed them, so the store decides what is due.
        match self.find_due(occasion, only, now).await {
            Ok(round) => {
                let unavailable = self.unavailable_hosts(now).count();
                for ((host, kind), requested) in links_by_host(round.due.iter().map(|(job, link)| (*job, link))) {
                    self.request_of_host(&host, kind, &requested, now).await;
                }
                // The pull requests of a host without a token may have taken the places of others.
                let is_incomplete =
                    round.due.len() == MAX_PER_ROUND && self.unavailable_hosts(now).count() > unavailable;
                let latest = if is_incomplete { now } else { now + MAX_SLEEP };
                self.wake_at(round.next.map_or(latest, |next| next.min(latest)))
            }
            Err(error) => {
                self.inner.emit_trouble(error.failure()).await;
                self.wake_at(now + MAX_SLEEP)
            }
        }
    }

    /// Finds the pull requests to request now. Hosts that can't be asked are left out, so that their pull requests
    /// don't take the places of others.
    async fn find_due(&self, occasion: Occasion, only: Option<&[JobKey]>, now: Time) -> Result<Round, StoreError> {
        let only = only.map(<[JobKey]>::to_vec);
        let waiting: HashSet<JobKey> = self.retries.iter().filter(|(_, at)| **at > now).map(|(job, _)| *job).collect();
        let unavailable: HashSet<String> = self.unavailable_hosts(now).cloned().collect();
        let visit = move |round: &mut Round, found: StoredPullRequest<'_>| {
            if only.as_ref().is_some_and(|only| !only.contains(&found.job)) {
                return;
            }
            let next = found.state.and_then(next_refresh).filter(|next| *next > now);
            round.next = next.into_iter().chain(round.next).min();
            if round.due.len() < MAX_PER_ROUND
                && !waiting.contains(&found.job)
                && is_due(found.state, occasion, now)
                && PullRequestLink::parse(found.link.as_str()).is_some_and(|link| !unavailable.contains(&link.host))
            {
                round.due.push((found.job, found.link.clone()));
            }
        };
        self.inner.store.visit_pull_requests(&self.inner.scope, occasion == Occasion::User, visit).await
    }

    async fn request_of_host(&mut self, name: &str, kind: HostKind, requested: &[LinkedJobs], now: Time) {
        let Some(client) = self.client(name, kind, now).await else { return };
        for (n, chunk) in requested.chunks(links_per_round(kind)).enumerate() {
            let has_points = self.hosts.get_mut(name).is_some_and(|host| host.spent.left(now) >= 3);
            if !has_points || self.is_blocked(name, now) {
                return;
            }
            let round = HostRound::read(&client, chunk, n < MAX_CONFLICT_REQUESTS).await;
            for (budget, error) in &round.answers {
                self.account(name, budget, error.as_ref()).await;
            }
            for (link, error) in &round.failed {
                let note = CleanText::line(&format!("pull request #{}: {}", link.number, error.kind));
                self.inner.log(CleanText::line(&link.repository), LogKind::Note(note)).await;
            }
            let jobs = chunk.iter().flat_map(|linked| &linked.jobs);
            self.retries.extend(jobs.map(|(job, _)| (*job, now + RETRY_INTERVAL)));
            for reported in &round.reported {
                self.retries.remove(&reported.job);
            }
            self.store(round.reported, now).await;
        }
    }

    /// Records what an answer says about the host's limit, and adds the request to the log.
    pub(super) async fn account(&mut self, name: &str, budget: &RequestBudget, error: Option<&HostError>) {
        let now = local_now();
        if let Some(host) = self.hosts.get_mut(name) {
            host.spent.add(now, budget.cost.unwrap_or(1));
            match error.map(|error| &error.kind) {
                None => {}
                Some(HostErrorKind::Limited) => host.blocked_until = Some(budget.blocked_until(now)),
                Some(HostErrorKind::Unauthorized) => host.is_refused = true,
                Some(_) => host.blocked_until = Some(now + RETRY_INTERVAL),
            }
        }
        let reason = error.map(|error| CleanText::line(&error.kind.to_string()));
        let request = LogKind::HostRequest { status: budget.status, millis: budget.millis, reason };
        self.inner.log(CleanText::line(name), request).await;
        // A refused token is shown to the user once, because it is not used again.
        if let Some(error) = error.filter(|error| error.kind == HostErrorKind::Unauthorized) {
            let text = format!("{error}. Pull requests are not updated; press r after renewing it.");
            self.inner.emit(EngineEvent::Notice(CleanText::line(&text))).await;
        }
    }

    async fn store(&self, reported: Vec<ReportedPullRequest>, now: Time) {
        if reported.is_empty() {
            return;
        }
        match self.inner.store.apply_pull_requests(reported, now).await {
            Ok(rows) => {
                for row in rows {
                    self.inner.emit(EngineEvent::Job(Box::new(row))).await;
                }
            }
            Err(error) => self.inner.emit_trouble(error.failure()).await,
        }
    }

    /// Returns why nothing can be requested from a host now.
    pub(super) fn obstacle(&self, name: &str, kind: HostKind) -> Failure {
        let host = self.hosts.get(name);
        let sentence = match host.map(|host| &host.access) {
            Some(HostAccess::Unusable(why)) => why.to_string(),
            Some(HostAccess::Client(_)) if host.is_some_and(|host| host.is_refused) => {
                format!("{name} refused the token. Renew it, then refresh the jobs list.")
            }
            Some(HostAccess::Client(_)) => format!("{name} can't be asked at the moment. Try again in a few minutes."),
            Some(HostAccess::NoToken) | None => no_token_text(name, kind),
        };
        Failure::new(FailureKind::Service, &sentence)
    }

    /// Returns the client for a host; `None` if nothing can be requested from it now.
    pub(super) async fn client(&mut self, name: &str, kind: HostKind, now: Time) -> Option<HostClient> {
        if !self.hosts.contains_key(name) {
            let access = self.directory.access(name, kind).await;
            match &access {
                HostAccess::Client(_) => {}
                HostAccess::NoToken => {
                    self.inner.emit(EngineEvent::MissingToken { host: CleanText::line(name), kind }).await;
                }
                HostAccess::Unusable(why) => self.inner.emit(EngineEvent::Notice(why.clone())).await,
            }
            let host = Host { access, spent: SpentPoints::default(), blocked_until: None, is_refused: false };
            self.hosts.insert(name.to_owned(), host);
        }
        match &self.hosts.get(name)?.access {
            HostAccess::Client(client) if self.can_request(name, now) => Some(client.clone()),
            _ => None,
        }
    }

    fn is_blocked(&self, name: &str, now: Time) -> bool {
        self.hosts.get(name).is_none_or(|host| host.is_refused || host.blocked_until.is_some_and(|until| until > now))
    }

    /// Returns the known hosts to which no requests can be sent now.
    fn unavailable_hosts(&self, now: Time) -> impl Iterator<Item = &String> {
        self.hosts.keys().filter(move |name| !self.can_request(name, now))
    }

    /// Whether requests to this host can be sent now. Its access must be known.
    fn can_request(&self, name: &str, now: Time) -> bool {
        let has_client = self.hosts.get(name).is_some_and(|host| matches!(host.access, HostAccess::Client(_)));
        has_client && !self.is_blocked(name, now)
    }

    fn wake_at(&self, at: Time) -> Option<Instant> {
        Instant::now().checked_add((at - local_now()).to_std().unwrap_or_default())
    }
}
