//! The state from which the simulated code hosts compute their responses.

use super::diffs::{ChangedFile, changed_files};
use super::host_fault::HostFault;
use super::pull_request::{HostPullRequest, UserActions};
use super::rate_limit::RateLimit;
use crate::model::Time;
use crate::model::pull_request::PullRequestLink;
use crate::sim::jobs::SimJob;
use crate::sim::reply::Reply;
use std::collections::HashMap;

/// The maximum number of jobs whose pull requests are checked by [`HostWorld::merged_pages`].
const MAX_JOBS_FOR_MERGED_PAGES: usize = 100;

/// A response. If an action was carried out, the response comes with the number of the pull request and everything that
/// the user has done with this pull request.
pub(in crate::sim) type HostReply = (Reply, Option<(u32, UserActions)>);

/// The state from which a host computes its responses.
pub(in crate::sim) struct HostWorld<'a> {
    pub(in crate::sim) jobs: &'a [SimJob],
    pub(in crate::sim) seed: u64,
    pub(in crate::sim) speed: f64,
    pub(in crate::sim) now: Time,
    pub(in crate::sim) fault: Option<HostFault>,
    /// The token for the host to which the request is sent.
    pub(in crate::sim) token: &'a str,
    /// What is left of the token's limit after the request; `None` if the token has no limit.
    pub(in crate::sim) rate_limit: Option<RateLimit>,
    /// What the user did with each pull request. The key is the number of the pull request.
    pub(in crate::sim) actions: &'a HashMap<u32, UserActions>,
}

impl HostWorld<'_> {
    /// Returns the pull request with this link in its current state.
    pub(super) fn find(&self, url: &str) -> Option<HostPullRequest> {
        self.find_after(url, None)
    }

    /// Returns the pull request with this link after these actions of the user; if `actions` is `None`, after the
    /// recorded actions.
    pub(super) fn find_after(&self, url: &str, actions: Option<&UserActions>) -> Option<HostPullRequest> {
        let number = PullRequestLink::parse(url)?.number;
        let is_searched =
            |job: &&SimJob| job.pull_request.is_some_and(|pull_request| u64::from(pull_request.number) == number);
        let job = self.jobs.iter().find(is_searched)?;
        let found = match actions {
            Some(actions) => HostPullRequest::from_job(job, self, actions),
            None => self.pull_request(job),
        };
        found.filter(|found| found.url == url)
    }

    /// Returns the pull request of a job in its current state.
    fn pull_request(&self, job: &SimJob) -> Option<HostPullRequest> {
        let actions = job.pull_request.and_then(|pull_request| self.actions.get(&pull_request.number));
        HostPullRequest::from_job(job, self, actions.unwrap_or(&UserActions::default()))
    }

    /// Returns the pages of the site that a merged pull request changed, each with the time of the merge. Considers
    /// only the pull requests of the newest jobs.
    pub(in crate::sim) fn merged_pages(&self) -> Vec<(String, Time)> {
        let newest = self.jobs.iter().rev().take(MAX_JOBS_FOR_MERGED_PAGES).filter_map(|job| self.pull_request(job));
        let merged = newest.filter_map(|found| {
            let at = found.merged_at()?;
            Some(found.files.into_iter().filter_map(move |file| Some((page_path(&file.path)?, at))))
        });
        merged.flatten().collect()
    }

    /// Returns the files that the newest pull request of a branch changes, even before it is open.
    pub(in crate::sim) fn files_of_branch(&self, branch: &str) -> Vec<ChangedFile> {
        let is_large = self.fault == Some(HostFault::ManyFiles);
        let mut pull_requests =
            self.jobs.iter().rev().filter(|job| job.git_ref == branch).filter_map(|job| job.pull_request);
        pull_requests
            .next()
            .map(|pull_request| changed_files(self.seed, pull_request.number, is_large))
            .unwrap_or_default()
    }

    /// Returns what the user has done with a pull request.
    pub(super) fn actions_on(&self, pull_request: &HostPullRequest) -> UserActions {
        self.actions.get(&pull_request.number).cloned().unwrap_or_default()
    }
}

/// Returns the path of the page that a file of the repository contains.
fn page_path(file: &str) -> Option<String> {
    file.strip_suffix(".mdx").map(|path| format!("/{path}"))
}
