//! Loads the changes and the details of pull requests, and performs actions on them. Changes come from the cache as
//! long as the head commit stays the same, otherwise from the code host.

use super::Engine;
use super::clock::local_now;
use super::hosts::{LinkedPullRequest, PullRequestStates, RefreshCommand, pull_requests_by_host};
use super::pull_requests::Refresher;
use crate::api::hosts::{HostClient, HostError, HostErrorKind, HostRequestStats};
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::{Job, JobKey};
use crate::model::load::Timed;
use crate::model::log::LogKind;
use crate::model::pull_request::{
    PULL_REQUESTS_DISABLED, PullRequest, PullRequestFact, PullRequestState, ReviewDecision, short_commit,
};
use crate::model::pull_request_action::{ActionOutcome, PullRequestAction};
use crate::model::pull_request_details::PullRequestDetails;
use crate::model::text::CleanText;
use crate::store::{ReportedPullRequest, Store, StoredDiff};
use chrono::TimeDelta;
use tokio::sync::oneshot;

/// The maximum number of requests for a diff, which is requested again if commits were pushed in the meantime.
const MAX_DIFF_ATTEMPTS: usize = 2;

/// The changed pages of a pull request are looked up automatically until this long after its merge.
const MAX_RECENT_MERGE_AGE: TimeDelta = TimeDelta::days(14);
/// The maximum number of merged pull requests whose changed pages are looked up automatically. If the user opens a pull
/// request, its changed pages are always looked up.
const MAX_PULL_REQUESTS_WITH_PAGE_LOOKUP: usize = 50;

/// The result of loading a diff, and the responses from the code host. A host doesn't report to which commit a diff
/// belongs, so the pull request's state is requested before and after the diff.
#[derive(Debug)]
pub struct DiffLoad {
    pub result: Result<StoredDiff, Failure>,
    /// For each request: what the response reports about the host's limit, and the error if the request failed.
    pub responses: Vec<(HostRequestStats, Option<HostError>)>,
}

impl DiffLoad {
    /// Loads and stores the changes of a pull request, and each state of the pull request that is requested on the way.
    /// `head` is the last known head commit; `None` if the head commit must be requested first.
    pub async fn run(store: &Store, client: &HostClient, linked: &LinkedPullRequest, head: Option<CleanText>) -> Self {
        let mut responses = Vec::new();
        let result = load_or_request_diff(store, client, linked, head, &mut responses).await;
        Self { result, responses }
    }
}

impl Engine {
    /// Loads the changes of a job's pull request: from the cache if they belong to its head commit, otherwise from the
    /// code host. If `should_refresh_head` is true, requests the head commit first.
    ///
    /// # Errors
    /// The job has no pull request, its host can't be queried, or the request failed.
    pub async fn load_diff(&self, job: JobKey, should_refresh_head: bool) -> Result<StoredDiff, Failure> {
        let (reply, result) = oneshot::channel();
        self.inner.send_to_refresher(RefreshCommand::LoadDiff { job, should_refresh_head, reply });
        result.await.unwrap_or_else(|_| Err(pull_requests_disabled_failure()))
    }

    /// Performs an action on a job's pull request, unless its head commit is no longer `head`.
    pub async fn perform_pull_request_action(
        &self,
        job: JobKey,
        head: CleanText,
        action: PullRequestAction,
    ) -> ActionOutcome {
        let (reply, result) = oneshot::channel();
        self.inner.send_to_refresher(RefreshCommand::PerformAction(job, head, action, reply));
        result.await.unwrap_or_else(|_| ActionOutcome::not_done(&pull_requests_disabled_failure()))
    }

    /// Requests the state and the details of a job's pull request from the code host.
    ///
    /// # Errors
    /// The job has no pull request, its host can't be queried, or a request failed.
    pub async fn load_pull_request_details(&self, job: JobKey) -> Result<Timed<PullRequestDetails>, Failure> {
        let (reply, result) = oneshot::channel();
        self.inner.send_to_refresher(RefreshCommand::LoadDetails(job, reply));
        result.await.unwrap_or_else(|_| Err(pull_requests_disabled_failure()))
    }
}

/// A job's pull request and the client for its code host.
struct ActionTarget {
    host: String,
    linked: LinkedPullRequest,
    client: HostClient,
    /// The last known head commit.
    head: Option<CleanText>,
    /// The most important fact about the pull request in its last known state.
    main_fact: Option<PullRequestFact>,
}

impl Refresher {
    pub(super) async fn load_diff(&mut self, job: JobKey, should_refresh_head: bool) -> Result<StoredDiff, Failure> {
        let target = self.find_target(job).await?;
        let store = self.inner.store.clone();
        let head = target.head.clone().filter(|_| !should_refresh_head);
        let load = DiffLoad::run(&store, &target.client, &target.linked, head).await;
        self.record_responses_and_emit_job(job, &target, &load.responses).await;
        load.result
    }

    /// Loads the state and the details of a job's pull request.
    pub(super) async fn load_details(&mut self, job: JobKey) -> Result<Timed<PullRequestDetails>, Failure> {
        let target = self.find_target(job).await?;
        let store = self.inner.store.clone();
        let mut responses = Vec::new();
        let details = match request_head(&store, &target.client, &target.linked, &mut responses).await {
            Ok(head) => request_and_store_details(&store, &target.client, &target.linked, head, &mut responses).await,
            Err(failure) => Err(failure),
        };
        self.record_responses_and_emit_job(job, &target, &responses).await;
        details
    }

    /// Performs an action, unless the head commit is no longer `head`. Afterwards, requests the state again.
    pub(super) async fn perform_action(
        &mut self,
        job: JobKey,
        head: &CleanText,
        action: &PullRequestAction,
    ) -> ActionOutcome {
        let target = match self.find_target(job).await {
            Ok(target) => target,
            Err(failure) => return ActionOutcome::not_done(&failure),
        };
        let (link, repository) = (&target.linked.link, CleanText::line(&target.linked.link.repository));
        // Logged before the request, so that the log shows the action even if docdeck ends before the response.
        let (label, head_text) = (action.title_and_confirm_label().0, short_commit(head));
        let sending = CleanText::line(&format!("#{}: sending “{label}” for commit {head_text}", link.number));
        self.inner.log(repository.clone(), LogKind::Note(sending)).await;
        let action_run = ActionRun::run(&self.inner.store, &target.client, &target.linked, head, action).await;
        self.record_responses_and_emit_job(job, &target, &action_run.responses).await;
        let note = CleanText::line(&action_run.outcome.sentence(action, link.number));
        self.inner.log(repository, LogKind::Note(note)).await;
        action_run.outcome
    }

    /// Looks up once which pages a recently merged pull request has changed, so that the views before and after the
    /// merge can be compared. If the job already has pages, looks up nothing. Returns the job with its pages.
    pub(super) async fn look_up_changed_pages(&mut self, client: &HostClient, job: Job) -> Job {
        let state = job.pull_request.as_deref();
        let merged_at = state.and_then(|state| state.merged_at);
        let is_wanted = merged_at.is_some_and(|at| local_now() - at < MAX_RECENT_MERGE_AGE)
            && job.local.pages.is_empty()
            && self.jobs_with_looked_up_pages.len() < MAX_PULL_REQUESTS_WITH_PAGE_LOOKUP
            && self.jobs_with_looked_up_pages.insert(job.key);
        let by_host = pull_requests_by_host(is_wanted.then_some(&job)).pop_first();
        let Some(((host, _), Some(linked))) = by_host.map(|(host, mut linked)| (host, linked.pop())) else {
            return job;
        };
        let head = state.map(|state| state.head.clone()).unwrap_or_default();
        let (store, mut responses) = (self.inner.store.clone(), Vec::new());
        // If this fails, the pages are found when the user opens the pull request.
        let _ = request_and_store_details(&store, client, &linked, head, &mut responses).await;
        for (budget, error) in &responses {
            self.record_host_response(&host, budget, error.as_ref()).await;
        }
        store.job(job.key).await.ok().flatten().unwrap_or(job)
    }

    async fn find_target(&mut self, job: JobKey) -> Result<ActionTarget, Failure> {
        let row = self.inner.store.job(job).await.map_err(|error| error.failure())?;
        let by_host = pull_requests_by_host(row.as_ref()).pop_first();
        let Some(((host, kind), Some(linked))) = by_host.map(|(host, mut linked)| (host, linked.pop())) else {
            return Err(Failure::local("This job has no pull request on GitHub or GitLab."));
        };
        let client = self.client(&host, kind).await?;
        let state = row.and_then(|row| row.pull_request);
        let main_fact = state.as_ref().map(|state| state.main_fact());
        Ok(ActionTarget { host, linked, client, main_fact, head: state.map(|state| state.head) })
    }

    /// Records the host's limit as reported in the responses, and emits the job with the new state of its pull request.
    async fn record_responses_and_emit_job(
        &mut self,
        job: JobKey,
        target: &ActionTarget,
        responses: &[(HostRequestStats, Option<HostError>)],
    ) {
        for (budget, error) in responses {
            self.record_host_response(&target.host, budget, error.as_ref()).await;
        }
        if let Ok(Some(job)) = self.inner.store.job(job).await {
            self.emit_pull_request(&target.client, job, target.main_fact).await;
        }
    }
}

/// The result of trying to perform an action on a pull request, and the responses from the code host.
#[derive(Debug)]
pub struct ActionRun {
    pub outcome: ActionOutcome,
    /// For each request: what the response reports about the host's limit, and the error if the request failed.
    pub responses: Vec<(HostRequestStats, Option<HostError>)>,
}

impl ActionRun {
    /// Sends the action once, unless the pull request is merged or closed or its head commit is no longer `head`.
    /// Requests and stores the pull request's state before the action and, unless the host's limit was reached, after
    /// it, so that the user sees the effect even if the response was lost.
    pub async fn run(
        store: &Store,
        client: &HostClient,
        linked: &LinkedPullRequest,
        head: &CleanText,
        action: &PullRequestAction,
    ) -> Self {
        let mut responses = Vec::new();
        let outcome = match prepare_action(store, client, linked, head, action, &mut responses).await {
            Err(outcome) => outcome,
            Ok((current, action)) => {
                let response = client.perform_action(&linked.link, &current, &action).await;
                let error = response.result.err();
                let outcome = error.as_ref().map_or(ActionOutcome::Done, HostError::outcome);
                let is_limited = error.as_ref().is_some_and(|error| error.kind == HostErrorKind::Limited);
                // If the host's limit is reached, no request follows, so the error is recorded here. After any other
                // error, the state is requested again, and that request shows whether the host can be used.
                responses.push((response.budget, error.filter(|_| is_limited)));
                match is_limited {
                    true => outcome,
                    false => {
                        let is_end = matches!(action, PullRequestAction::Merge(_) | PullRequestAction::Close);
                        if is_end && matches!(outcome, ActionOutcome::Done) {
                            let jobs: Vec<JobKey> = linked.jobs.iter().map(|(job, _)| *job).collect();
                            // A failure is ignored: the screen then just doesn't show who merged or closed the pull
                            // request.
                            let _ = store.record_pull_request_ended_by_user(&jobs).await;
                        }
                        let state = request_and_store_state(store, client, linked, &mut responses).await;
                        if let (ActionOutcome::Done, PullRequestAction::Approve, Ok(state)) =
                            (&outcome, &action, &state)
                        {
                            store_approval(store, linked, state).await;
                        }
                        outcome.with_state_read(state.is_ok())
                    }
                }
            }
        };
        Self { outcome, responses }
    }

    /// Requests and stores the state, before the user is asked to confirm an action on the commit `head`. Returns the
    /// action to confirm. If it is a merge, the returned action contains the merge method.
    ///
    /// # Errors
    /// The pull request is merged or closed, its head commit is no longer `head`, or a request failed.
    pub async fn prepare_action(
        store: &Store,
        client: &HostClient,
        linked: &LinkedPullRequest,
        head: &CleanText,
        action: &PullRequestAction,
    ) -> Result<PullRequestAction, ActionOutcome> {
        prepare_action(store, client, linked, head, action, &mut Vec::new()).await.map(|(_, action)| action)
    }
}

/// Requests and stores the state, and checks that the action is possible. Returns the full head commit (`head` may be
/// abbreviated) and the action to send.
async fn prepare_action(
    store: &Store,
    client: &HostClient,
    linked: &LinkedPullRequest,
    head: &CleanText,
    action: &PullRequestAction,
    responses: &mut Vec<(HostRequestStats, Option<HostError>)>,
) -> Result<(CleanText, PullRequestAction), ActionOutcome> {
    let state = request_and_store_state(store, client, linked, responses)
        .await
        .map_err(|failure| ActionOutcome::not_done(&failure))?;
    // If the pull request is merged or closed, no action is sent. GitHub would accept a review, but the review would
    // have no effect.
    let ended = match state.state {
        PullRequestState::Merged => Some("it is already merged"),
        PullRequestState::Closed => Some("it is closed"),
        PullRequestState::Open | PullRequestState::Draft | PullRequestState::Queued => None,
    };
    if let Some(why) = ended {
        return Err(ActionOutcome::NotDone(CleanText::line(why)));
    }
    let current = state.head;
    if !current.as_str().starts_with(head.as_str()) {
        return Err(ActionOutcome::HeadChanged);
    }
    let action = match action {
        PullRequestAction::Merge(None) => {
            let details = request_details(client, linked, responses).await;
            let details = details.map_err(|failure| ActionOutcome::not_done(&failure))?;
            PullRequestAction::Merge(details.merge_methods.first().copied())
        }
        action => action.clone(),
    };
    Ok((current, action))
}

/// Requests the details of a pull request, and stores them for this head commit.
async fn request_and_store_details(
    store: &Store,
    client: &HostClient,
    linked: &LinkedPullRequest,
    head: CleanText,
    responses: &mut Vec<(HostRequestStats, Option<HostError>)>,
) -> Result<Timed<PullRequestDetails>, Failure> {
    let details = request_details(client, linked, responses).await?;
    let details = Timed { value: PullRequestDetails { head, ..details }, as_of: local_now() };
    if let Some((_, text)) = linked.jobs.first() {
        let jobs = linked.jobs.iter().map(|(job, _)| *job).collect();
        store.save_pull_request_details(text, jobs, details.clone()).await.map_err(|error| error.failure())?;
    }
    Ok(details)
}

async fn request_details(
    client: &HostClient,
    linked: &LinkedPullRequest,
    responses: &mut Vec<(HostRequestStats, Option<HostError>)>,
) -> Result<PullRequestDetails, Failure> {
    let response = client.details(&linked.link).await;
    responses.push((response.budget, response.result.as_ref().err().cloned()));
    response.result.map_err(|error| host_failure(&error))
}

async fn load_or_request_diff(
    store: &Store,
    client: &HostClient,
    linked: &LinkedPullRequest,
    head: Option<CleanText>,
    responses: &mut Vec<(HostRequestStats, Option<HostError>)>,
) -> Result<StoredDiff, Failure> {
    let Some(text) = linked.jobs.first().map(|(_, text)| text) else {
        return Err(Failure::local("The job has no pull request."));
    };
    let mut head = match head {
        Some(head) => head,
        None => request_head(store, client, linked, responses).await?,
    };
    for _ in 0..MAX_DIFF_ATTEMPTS {
        if let Some(cached) = store.diff(text).await.map_err(|error| error.failure())?.filter(|diff| diff.head == head)
        {
            return Ok(cached);
        }
        let response = client.diff(&linked.link).await;
        responses.push((response.budget, response.result.as_ref().err().cloned()));
        let reported = response.result.map_err(|error| host_failure(&error))?;
        let head_after = request_head(store, client, linked, responses).await?;
        if head_after == head {
            let diff =
                StoredDiff { head, text: reported.text, is_truncated: reported.is_truncated, as_of: local_now() };
            store.save_diff(text, diff.clone()).await.map_err(|error| error.failure())?;
            return Ok(diff);
        }
        head = head_after;
    }
    let number = linked.link.number;
    Err(Failure::new(
        FailureKind::Service,
        &format!("#{number} got new commits while its changes were read. Try again."),
    ))
}

/// Requests and stores the state of the pull request. Returns its head commit.
async fn request_head(
    store: &Store,
    client: &HostClient,
    linked: &LinkedPullRequest,
    responses: &mut Vec<(HostRequestStats, Option<HostError>)>,
) -> Result<CleanText, Failure> {
    request_and_store_state(store, client, linked, responses).await.map(|state| state.head)
}

/// Requests, stores and returns the state of the pull request.
async fn request_and_store_state(
    store: &Store,
    client: &HostClient,
    linked: &LinkedPullRequest,
    responses: &mut Vec<(HostRequestStats, Option<HostError>)>,
) -> Result<PullRequest, Failure> {
    let states = PullRequestStates::read(client, std::slice::from_ref(linked), true).await;
    responses.extend(states.responses);
    if let Some((_, error)) = states.failed.first() {
        return Err(host_failure(error));
    }
    let Some(reported) = states.reported.first() else {
        let error = responses.iter().rev().find_map(|(_, error)| error.as_ref());
        return Err(error.map_or_else(|| Failure::local("The state of the pull request is unknown."), host_failure));
    };
    let state = reported.state.clone();
    store.apply_pull_requests(states.reported, local_now()).await.map_err(|error| error.failure())?;
    Ok(state)
}

/// Stores that the user has approved the pull request, if the host doesn't report reviews with the state of a pull
/// request.
async fn store_approval(store: &Store, linked: &LinkedPullRequest, state: &PullRequest) {
    if state.review.is_some() {
        return;
    }
    let state = PullRequest { review: Some(ReviewDecision::Approved), ..state.clone() };
    let report =
        |(job, link): &(JobKey, CleanText)| ReportedPullRequest { job: *job, link: link.clone(), state: state.clone() };
    // If this fails, the review is shown as unknown.
    let _ = store.apply_pull_requests(linked.jobs.iter().map(report).collect(), local_now()).await;
}

/// Returns the failure for an action while docdeck doesn't query code hosts.
fn pull_requests_disabled_failure() -> Failure {
    Failure::local(PULL_REQUESTS_DISABLED)
}

fn host_failure(error: &HostError) -> Failure {
    Failure::new(FailureKind::Service, &format!("{error}."))
}
