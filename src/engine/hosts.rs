//! How the engine gets clients for code hosts, and the commands to the task that uses them.

use super::clock::local_now;
use crate::api::hosts::{HostAnswer, HostClient, HostError, MAX_PER_REQUEST, PullRequestResult, RequestBudget};
use crate::model::pull_request::{HostKind, PullRequest, PullRequestLink};
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;

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

/// A command to the task that asks code hosts.
#[derive(Debug)]
pub(super) enum RefreshCommand {
    /// A job got a pull request.
    NewLink,
    /// The terminal got or lost the focus.
    Focused(bool),
    /// The user asked for the state of the pull requests of these jobs, or of all jobs.
    Refresh(Option<Vec<JobKey>>),
}

/// The state of some pull requests of one host, read with as few requests as possible.
#[derive(Debug, Default)]
pub struct HostRound {
    /// One element per link, in the same order. Empty if the first request failed.
    pub results: Vec<PullRequestResult<PullRequest>>,
    /// What each answer says about the host's limit, and why it failed.
    pub answers: Vec<(RequestBudget, Option<HostError>)>,
}

/// Returns the largest number of links for [`HostRound::read`].
pub fn links_per_round(kind: HostKind) -> usize {
    if kind == HostKind::GitHub { MAX_PER_REQUEST } else { 1 }
}

impl HostRound {
    /// Reads the state of pull requests of one host, and on GitHub their checks. Conflicts that GitHub is still computing
    /// are requested once more.
    pub async fn read(client: &HostClient, links: &[PullRequestLink]) -> Self {
        let mut round = Self::default();
        let answer = client.pull_requests(links, local_now()).await;
        round.results = round.take(answer);
        if client.kind() == HostKind::GitLab {
            return round;
        }
        let computing = round.links(|state| state.conflict.is_none());
        if !computing.is_empty() {
            tokio::time::sleep(CONFLICT_DELAY).await;
            let answer = client.pull_requests(&computing, local_now()).await;
            for (link, state) in round.take(answer) {
                if let (Some(slot), Ok(state)) = (round.state_mut(&link), state) {
                    *slot = state;
                }
            }
        }
        let open = round.links(|_| true);
        if !open.is_empty() {
            let answer = client.checks(&open).await;
            for (link, checks) in round.take(answer) {
                // A new commit may have been pushed between the two requests.
                if let (Some(state), Ok(checks)) = (round.state_mut(&link), checks)
                    && state.head == checks.head
                {
                    state.checks = checks.checks;
                }
            }
        }
        round
    }

    fn take<T>(&mut self, answer: HostAnswer<Vec<T>>) -> Vec<T> {
        let (content, error) = match answer.result {
            Ok(content) => (content, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        self.answers.push((answer.budget, error));
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
