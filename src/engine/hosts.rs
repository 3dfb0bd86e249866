//! How the engine gets clients for code hosts, the requests for the pull requests of jobs, and the commands to the task
//! that sends them.

use super::clock::local_now;
use crate::api::hosts::{
    HostClient, HostError, HostErrorKind, HostResponse, MAX_PER_REQUEST, PullRequestResult, RequestBudget,
};
use crate::model::failure::Failure;
use crate::model::load::Timed;
use crate::model::pull_request::{HostKind, PullRequest, PullRequestLink};
use crate::model::pull_request_action::{ActionOutcome, PullRequestAction};
use crate::model::pull_request_details::PullRequestDetails;
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use crate::store::{ReportedPullRequest, StoredDiff};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long to wait before asking once more whether there is a conflict, which GitHub computes on demand.
const CONFLICT_DELAY: Duration = Duration::from_secs(3);

/// What a [`HostDirectory`] knows about a host.
#[derive(Debug, Clone)]
pub enum HostAccess {
    Client(HostClient),
    /// There is no token, so nothing is requested.
    NoToken,
    /// The token or the address can't be used; contains the reason.
    Unusable(CleanText),
}

/// Finds the clients for code hosts. Reading a token may run a program, so a client is requested only when it is needed.
pub trait HostDirectory: Debug + Send + Sync {
    fn access<'a>(&'a self, host: &'a str, kind: HostKind) -> Pin<Box<dyn Future<Output = HostAccess> + Send + 'a>>;
}

/// Returns the command that gets a token for a host, in backquotes.
pub fn login_command(host: &str, kind: HostKind) -> String {
    match kind {
        HostKind::GitHub => format!("`gh auth login --hostname {host}`"),
        HostKind::GitLab => format!("`glab auth login --hostname {host}`"),
    }
}

/// Says that there is no token for a host, and how to get one.
pub fn no_token_text(host: &str, kind: HostKind) -> String {
    let login = login_command(host, kind);
    format!("No token for {host}. Run {login}, or add a section [hosts.\"{host}\"] to the configuration.")
}

/// A command to the task that asks code hosts.
#[derive(Debug)]
pub(super) enum RefreshCommand {
    /// A job got a pull request.
    NewLink,
    /// The terminal got or lost the focus.
    Focused(bool),
    /// The user asked for the state of the pull requests of these jobs, or of all jobs.
    Refresh(Option<Vec<JobKey>>),
    /// The user wants to see the changes of this job's pull request, and whether there are new ones.
    LoadDiff { job: JobKey, again: bool, reply: oneshot::Sender<Result<StoredDiff, Failure>> },
    /// The user acts on this job's pull request, with this head commit on screen.
    Act(JobKey, CleanText, PullRequestAction, oneshot::Sender<ActionOutcome>),
    /// The user wants to see the details of this job's pull request.
    LoadDetails(JobKey, oneshot::Sender<Result<Timed<PullRequestDetails>, Failure>>),
}

/// A pull request and the jobs that link to it: more than one if a job continues the work of another one.
#[derive(Debug, Clone)]
pub struct LinkedJobs {
    pub link: PullRequestLink,
    /// Each job with the text of its link.
    pub jobs: Vec<(JobKey, CleanText)>,
}

/// Returns the pull requests of these jobs for each host, each of them once, in the order of the jobs. Leaves out jobs
/// without a link to a pull request.
pub fn pull_requests_by_host<'a>(
    jobs: impl IntoIterator<Item = &'a Job>,
) -> BTreeMap<(String, HostKind), Vec<LinkedJobs>> {
    links_by_host(jobs.into_iter().filter_map(|job| Some((job.key, job.remote.pr_link.as_ref()?))))
}

/// Like [`pull_requests_by_host`], with the links of the jobs.
pub(super) fn links_by_host<'a>(
    jobs: impl Iterator<Item = (JobKey, &'a CleanText)>,
) -> BTreeMap<(String, HostKind), Vec<LinkedJobs>> {
    let mut by_host: BTreeMap<_, Vec<LinkedJobs>> = BTreeMap::new();
    let mut positions: HashMap<PullRequestLink, usize> = HashMap::new();
    for (job, text) in jobs {
        let Some(link) = PullRequestLink::parse(text.as_str()) else { continue };
        let of_host = by_host.entry((link.host.clone(), link.kind)).or_default();
        let position = *positions.entry(link.clone()).or_insert(of_host.len());
        if position == of_host.len() {
            of_host.push(LinkedJobs { link, jobs: Vec::new() });
        }
        if let Some(linked) = of_host.get_mut(position) {
            linked.jobs.push((job, text.clone()));
        }
    }
    by_host
}

/// The state of some pull requests of one host, read with as few requests as possible.
#[derive(Debug, Default)]
pub struct HostRound {
    /// The states, for each job of each pull request that could be read.
    pub reported: Vec<ReportedPullRequest>,
    /// The pull requests that the host reported without their state. Empty if a whole request for several failed.
    pub failed: Vec<(PullRequestLink, HostError)>,
    /// What each response says about the host's limit, and why it failed.
    pub responses: Vec<(RequestBudget, Option<HostError>)>,
    results: Vec<PullRequestResult<PullRequest>>,
}

/// Returns the largest number of pull requests for [`HostRound::read`].
pub fn links_per_round(kind: HostKind) -> usize {
    if kind == HostKind::GitHub { MAX_PER_REQUEST } else { 1 }
}

impl HostRound {
    /// Reads the state of pull requests of one host, and on GitHub their checks. With `asks_again`, conflicts that GitHub
    /// is still computing are requested once more.
    pub async fn read(client: &HostClient, requested: &[LinkedJobs], asks_again: bool) -> Self {
        let mut round = Self::default();
        let links: Vec<PullRequestLink> = requested.iter().map(|linked| linked.link.clone()).collect();
        let response = client.pull_requests(&links, local_now()).await;
        match (&response.result, links.as_slice()) {
            (Err(error), [only]) if !error.kind.concerns_host() => {
                round.failed.push((only.clone(), error.clone()));
                round.responses.push((response.budget, None));
                return round;
            }
            _ => round.results = round.take(response),
        }
        if client.kind() == HostKind::GitHub {
            round.read_again_and_checks(client, asks_again).await;
        }
        round.assign_to_jobs(requested);
        round
    }

    async fn read_again_and_checks(&mut self, client: &HostClient, asks_again: bool) {
        let computing = self.links(|state| state.conflict.is_none());
        if asks_again && !computing.is_empty() {
            tokio::time::sleep(CONFLICT_DELAY).await;
            let response = client.pull_requests(&computing, local_now()).await;
            for (link, state) in self.take(response) {
                if let (Some(slot), Ok(state)) = (self.state_mut(&link), state) {
                    *slot = state;
                }
            }
        }
        let open = self.links(|_| true);
        if !open.is_empty() {
            let response = client.checks(&open).await;
            // The whole response may be lost if the token may not read checks.
            let is_forbidden = response.result.as_ref().is_err_and(|error| error.kind.is_forbidden());
            let reported = if is_forbidden {
                self.responses.push((response.budget, None));
                Vec::new()
            } else {
                self.take(response)
            };
            let forbidden = open.into_iter().filter(|_| is_forbidden).map(|link| (link, None));
            let reported = reported.into_iter().filter_map(|(link, checks)| match checks {
                Ok(checks) => Some((link, Some(checks))),
                Err(error) => error.kind.is_forbidden().then_some((link, None)),
            });
            for (link, checks) in reported.chain(forbidden) {
                let Some(state) = self.state_mut(&link) else { continue };
                match checks {
                    // A new commit was pushed between the two requests.
                    Some(checks) if checks.head != state.head => {}
                    Some(checks) => (state.checks, state.checks_as_of) = (checks.checks, Some(state.as_of)),
                    None => state.checks_as_of = Some(state.as_of),
                }
            }
        }
    }

    fn assign_to_jobs(&mut self, requested: &[LinkedJobs]) {
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
        // GitHub can report a reached limit for a part of a response.
        let limited = self.failed.iter().find(|(_, error)| error.kind == HostErrorKind::Limited);
        self.responses.extend(limited.map(|(_, error)| (RequestBudget::default(), Some(error.clone()))));
    }

    fn take<T>(&mut self, response: HostResponse<Vec<T>>) -> Vec<T> {
        let (content, error) = match response.result {
            Ok(content) => (content, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        self.responses.push((response.budget, error));
        content
    }

    /// Returns the links of the open pull requests for whose state `wanted` is true.
    fn links(&self, wanted: impl Fn(&PullRequest) -> bool) -> Vec<PullRequestLink> {
        let open = self.results.iter().filter_map(|(link, state)| Some((link, state.as_ref().ok()?)));
        open.filter(|(_, state)| !state.state.is_final() && wanted(state)).map(|(link, _)| link.clone()).collect()
    }

    fn state_mut(&mut self, link: &PullRequestLink) -> Option<&mut PullRequest> {
        self.results.iter_mut().find(|(known, _)| known == link)?.1.as_mut().ok()
    }
}
