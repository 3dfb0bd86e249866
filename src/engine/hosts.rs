//! Gets the clients for code hosts, requests the state of pull requests from them, and defines the commands to the task
//! that refreshes this state.

use super::clock::local_now;
use crate::api::hosts::{
    HostClient, HostError, HostErrorKind, HostRequestStats, HostResponse, MAX_PULL_REQUESTS_PER_REQUEST,
    PullRequestResult,
};
use crate::model::failure::Failure;
use crate::model::job::{Job, JobKey};
use crate::model::load::Timed;
use crate::model::pull_request::{HostKind, PullRequest, PullRequestLink};
use crate::model::pull_request_action::{ActionOutcome, PullRequestAction};
use crate::model::pull_request_details::PullRequestDetails;
use crate::model::text::CleanText;
use crate::store::{ReportedPullRequest, StoredDiff};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long to wait before asking GitHub once more which pull requests have merge conflicts. GitHub starts to compute
/// this only when it is requested, so the first response may not contain it.
const CONFLICT_RECHECK_DELAY: Duration = Duration::from_secs(3);

/// The result of looking up a host in a [`HostClients`].
#[derive(Debug, Clone)]
pub enum HostAccess {
    Client(HostClient),
    /// There is no token, so nothing is requested.
    NoToken,
    /// The token or the address can't be used; contains the reason.
    Unusable(CleanText),
}

/// Finds the clients for code hosts. Reading a token may run a program, so a client is requested only when it is
/// needed.
pub trait HostClients: Debug + Send + Sync {
    fn access<'a>(&'a self, host: &'a str, kind: HostKind) -> Pin<Box<dyn Future<Output = HostAccess> + Send + 'a>>;
}

/// Returns the command that gets a token for a host, in backquotes.
pub fn login_command(host: &str, kind: HostKind) -> String {
    match kind {
        HostKind::GitHub => format!("`gh auth login --hostname {host}`"),
        HostKind::GitLab => format!("`glab auth login --hostname {host}`"),
    }
}

/// Returns a message for a host without a token, with the ways to get one.
pub fn no_token_text(host: &str, kind: HostKind) -> String {
    let login = login_command(host, kind);
    format!("No token for {host}. Run {login}, or add a section [hosts.\"{host}\"] to the configuration.")
}

/// A command to the task that queries code hosts.
#[derive(Debug)]
pub(super) enum RefreshCommand {
    /// A job got a pull request.
    NewPullRequest,
    /// The terminal got or lost the focus.
    FocusChanged(bool),
    /// The user asked for the state of the pull requests of these jobs (`None`: of all jobs).
    Refresh(Option<Vec<JobKey>>),
    /// The user wants to see the changes of this job's pull request. If `should_refresh_head` is true, the head commit
    /// is requested first, so that new changes are found.
    LoadDiff { job: JobKey, should_refresh_head: bool, reply: oneshot::Sender<Result<StoredDiff, Failure>> },
    /// The user performs an action on this job's pull request. The commit is the head commit that the screen shows.
    PerformAction(JobKey, CleanText, PullRequestAction, oneshot::Sender<ActionOutcome>),
    /// The user wants to see the details of this job's pull request.
    LoadDetails(JobKey, oneshot::Sender<Result<Timed<PullRequestDetails>, Failure>>),
}

/// A pull request and the jobs that link to it. Several jobs link to it if one continues the work of another.
#[derive(Debug, Clone)]
pub struct LinkedPullRequest {
    pub link: PullRequestLink,
    /// Each job with the text of its link.
    pub jobs: Vec<(JobKey, CleanText)>,
}

/// Groups the pull requests of these jobs by host. Each pull request occurs once, in the order of the jobs. Leaves out
/// jobs without a link to a pull request.
pub fn pull_requests_by_host<'a>(
    jobs: impl IntoIterator<Item = &'a Job>,
) -> BTreeMap<(String, HostKind), Vec<LinkedPullRequest>> {
    links_by_host(jobs.into_iter().filter_map(|job| Some((job.key, job.remote.pr_link.as_ref()?))))
}

/// Like [`pull_requests_by_host`], but takes the key and the link of each job.
pub(super) fn links_by_host<'a>(
    jobs: impl Iterator<Item = (JobKey, &'a CleanText)>,
) -> BTreeMap<(String, HostKind), Vec<LinkedPullRequest>> {
    let mut by_host: BTreeMap<_, Vec<LinkedPullRequest>> = BTreeMap::new();
    let mut positions: HashMap<PullRequestLink, usize> = HashMap::new();
    for (job, text) in jobs {
        let Some(link) = PullRequestLink::parse(text.as_str()) else { continue };
        let host_pull_requests = by_host.entry((link.host.clone(), link.kind)).or_default();
        let position = *positions.entry(link.clone()).or_insert(host_pull_requests.len());
        if position == host_pull_requests.len() {
            host_pull_requests.push(LinkedPullRequest { link, jobs: Vec::new() });
        }
        if let Some(linked) = host_pull_requests.get_mut(position) {
            linked.jobs.push((job, text.clone()));
        }
    }
    by_host
}

/// The state of some pull requests of one host, read with as few requests as possible.
#[derive(Debug, Default)]
pub struct PullRequestStates {
    /// The state of each pull request that could be read, once for each of its jobs.
    pub reported: Vec<ReportedPullRequest>,
    /// The pull requests for which the host returned an error instead of the state. If a request for several pull
    /// requests failed as a whole, its error is only in `responses`.
    pub failed: Vec<(PullRequestLink, HostError)>,
    /// For each request: what the response reports about the host's limit, and the error if the request failed.
    pub responses: Vec<(HostRequestStats, Option<HostError>)>,
    results: Vec<PullRequestResult<PullRequest>>,
}

/// Returns how many pull requests [`PullRequestStates::read`] accepts at most.
pub fn max_links_per_read(kind: HostKind) -> usize {
    if kind == HostKind::GitHub { MAX_PULL_REQUESTS_PER_REQUEST } else { 1 }
}

impl PullRequestStates {
    /// Reads the state of pull requests of one host, and on GitHub their checks. If `should_recheck_conflicts` is true
    /// and GitHub is still computing whether some of them have merge conflicts, requests the state of these once more.
    pub async fn read(client: &HostClient, requested: &[LinkedPullRequest], should_recheck_conflicts: bool) -> Self {
        let mut states = Self::default();
        let links: Vec<PullRequestLink> = requested.iter().map(|linked| linked.link.clone()).collect();
        let response = client.pull_requests(&links, local_now()).await;
        match (&response.result, links.as_slice()) {
            (Err(error), [only]) if !error.kind.affects_other_requests() => {
                states.failed.push((only.clone(), error.clone()));
                states.responses.push((response.budget, None));
                return states;
            }
            _ => states.results = states.record_response(response),
        }
        if client.kind() == HostKind::GitHub {
            states.update_conflicts_and_checks(client, should_recheck_conflicts).await;
        }
        states.split_results(requested);
        states
    }

    async fn update_conflicts_and_checks(&mut self, client: &HostClient, should_recheck_conflicts: bool) {
        let with_unknown_conflicts = self.links_of_open_pull_requests(|state| state.conflict.is_none());
        if should_recheck_conflicts && !with_unknown_conflicts.is_empty() {
            tokio::time::sleep(CONFLICT_RECHECK_DELAY).await;
            let response = client.pull_requests(&with_unknown_conflicts, local_now()).await;
            for (link, state) in self.record_response(response) {
                if let (Some(slot), Ok(state)) = (self.state_mut(&link), state) {
                    *slot = state;
                }
            }
        }
        let open = self.links_of_open_pull_requests(|_| true);
        if !open.is_empty() {
            let response = client.checks(&open).await;
            // If the token lacks the permission to read checks, GitHub may refuse the whole request. This is not an
            // error: the state of the pull requests is then used without checks.
            let is_forbidden = response.result.as_ref().is_err_and(|error| error.kind.is_forbidden());
            let reported = if is_forbidden {
                self.responses.push((response.budget, None));
                Vec::new()
            } else {
                self.record_response(response)
            };
            let forbidden = open.into_iter().filter(|_| is_forbidden).map(|link| (link, None));
            let reported = reported.into_iter().filter_map(|(link, checks)| match checks {
                Ok(checks) => Some((link, Some(checks))),
                Err(error) => error.kind.is_forbidden().then_some((link, None)),
            });
            for (link, checks) in reported.chain(forbidden) {
                let Some(state) = self.state_mut(&link) else { continue };
                match checks {
                    // Ignore these checks: a new commit was pushed between the requests for the state and the checks.
                    Some(checks) if checks.head != state.head => {}
                    Some(checks) => (state.checks, state.checks_as_of) = (checks.checks, Some(state.as_of)),
                    None => state.checks_as_of = Some(state.as_of),
                }
            }
        }
    }

    /// Moves the results of the requested pull requests to `reported` and `failed`.
    fn split_results(&mut self, requested: &[LinkedPullRequest]) {
        let mut results: HashMap<PullRequestLink, _> = std::mem::take(&mut self.results).into_iter().collect();
        for linked in requested {
            match results.remove(&linked.link) {
                Some(Ok(state)) => self.reported.extend(linked.jobs.iter().map(|(job, text)| ReportedPullRequest {
                    job: *job,
                    link: text.clone(),
                    state: state.clone(),
                })),
                Some(Err(error)) => self.failed.push((linked.link.clone(), error)),
                None => {}
            }
        }
        // Even in a response with results, GitHub can report that the limit was reached for some of the pull requests.
        // Add this error to `responses`, as if the whole request had failed.
        let limited = self.failed.iter().find(|(_, error)| error.kind == HostErrorKind::Limited);
        self.responses.extend(limited.map(|(_, error)| (HostRequestStats::default(), Some(error.clone()))));
    }

    /// Records the response's budget and error. Returns the response's content, which is empty after an error.
    fn record_response<T>(&mut self, response: HostResponse<Vec<T>>) -> Vec<T> {
        let (content, error) = match response.result {
            Ok(content) => (content, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        self.responses.push((response.budget, error));
        content
    }

    /// Returns the links of the open pull requests for whose state `is_wanted` returns true.
    fn links_of_open_pull_requests(&self, is_wanted: impl Fn(&PullRequest) -> bool) -> Vec<PullRequestLink> {
        let open = self.results.iter().filter_map(|(link, state)| Some((link, state.as_ref().ok()?)));
        open.filter(|(_, state)| !state.state.is_final() && is_wanted(state)).map(|(link, _)| link.clone()).collect()
    }

    fn state_mut(&mut self, link: &PullRequestLink) -> Option<&mut PullRequest> {
        self.results.iter_mut().find(|(known, _)| known == link)?.1.as_mut().ok()
    }
}
