//! Actions on pull requests: when they are possible, their confirmation, and their outcome. An action on several pull
//! requests is sent to one pull request after the other, and stops at the first failure.

use super::review::ReviewDialog;
use crate::model::Time;
use crate::model::job::{Job, JobKey};
use crate::model::pull_request::{HostKind, PullRequestState, short_commit};
use crate::model::pull_request_action::{
    ActionOutcome, MergeMethod, PullRequestAction, SeenHeadCommit, UnsentReviewKind,
};
use crate::model::text::CleanText;
use crate::tui::bulk_action::{PullRequestTargets, Targets};
use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
use crate::tui::format::plural;
use crate::tui::jobs::job_facts;
use crate::tui::keymap::Action;
use crate::tui::state::BulkPullRequestAction;
use crate::tui::{App, Effect, JobsEffect, Severity};
use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};

/// The actions that docdeck sends to the code host of a pull request.
pub(super) const ACTIONS: [Action; 6] = [
    Action::Approve,
    Action::RequestChanges,
    Action::Comment,
    Action::MarkReady,
    Action::Merge,
    Action::ClosePullRequest,
];

/// Returns why an action on a job's pull request is not possible. `None` if docdeck knows no reason.
pub(super) fn reason_not_possible(app: &App, job: &Job, action: Action) -> Option<&'static str> {
    let Some(state) = job.pull_request.as_deref() else {
        return Some(if job.has_supported_pr_link() { "state unknown" } else { "no pull request" });
    };
    let is_draft = state.state == PullRequestState::Draft;
    let link = job.supported_pr_link();
    let is_on_gitlab = link.as_ref().is_some_and(|link| link.kind == HostKind::GitLab);
    let is_of_link = |host: &CleanText| link.as_ref().is_some_and(|link| link.host == host.as_str());
    match (action, state.state) {
        _ if app.tips.hosts_without_token.iter().any(|(host, _)| is_of_link(host)) => Some("no token"),
        _ if app.pull_request_work.unconfirmed_action_times.get(&job.key).is_some_and(|at| state.as_of < *at) => {
            Some("last action unconfirmed, refresh first")
        }
        (Action::RequestChanges, _) if is_on_gitlab => Some("not possible on GitLab"),
        (_, PullRequestState::Merged) => Some("merged"),
        (_, PullRequestState::Closed) => Some("closed"),
        (Action::MarkReady, _) => (!is_draft).then_some("not a draft"),
        (Action::Merge, PullRequestState::Queued) => Some("in the merge queue"),
        (Action::Merge, _) if is_draft => Some("draft"),
        (Action::Merge, _) if state.conflict == Some(true) => Some("merge conflict"),
        _ => None,
    }
}

/// Asks the user to confirm an action on the pull request whose head commit is on screen. For a review or comment,
/// first opens the dialog for its text. `base` is the branch into which the pull request is merged, if known.
pub(super) fn ask_about_action(
    app: &mut App,
    job: JobKey,
    action: Action,
    method: Option<MergeMethod>,
    base: Option<&CleanText>,
) {
    let Some((head, titles)) = app.jobs.get(job).and_then(|job| Some((head_commit(job)?, summary(job, base)))) else {
        return;
    };
    // Only merging and closing need the summary: the question about a review shows its text, and the other actions can
    // be undone.
    let titles = if matches!(action, Action::Merge | Action::ClosePullRequest) { titles } else { Vec::new() };
    ask_for_text_or_confirmation(
        app,
        PullRequestTargets { head_commits: vec![head], listed_targets: Targets { titles, ..Targets::default() } },
        action,
        method,
    );
}

/// Asks the user to confirm an action on the pull requests of several jobs.
pub(super) fn ask_about_action_on_several(app: &mut App, jobs: &[JobKey], action: Action) {
    let links = RefCell::new(HashSet::new());
    let mut listed_targets = app.split_targets(jobs, |job| {
        // Several jobs can have worked on one pull request, which must get the action only once.
        let is_new = || links.borrow_mut().insert(job.supported_pr_link());
        reason_not_possible(app, job, action).or_else(|| (!is_new()).then_some("same pull request"))
    });
    let rows: Vec<&Job> = listed_targets.keys.iter().filter_map(|key| app.jobs.get(*key)).collect();
    listed_targets.titles = rows.iter().map(|job| pull_request_title(job)).collect();
    let head_commits = rows.into_iter().filter_map(head_commit).collect();
    ask_for_text_or_confirmation(app, PullRequestTargets { head_commits, listed_targets }, action, None);
}

/// Returns what the user should know before a pull request is merged or closed: its title, then its checks, its review,
/// its size and the branch into which it is merged.
fn summary(job: &Job, base: Option<&CleanText>) -> Vec<CleanText> {
    let Some(state) = job.pull_request.as_deref() else { return Vec::new() };
    let checks = job_facts::checks_without_label(state).map(|(text, _)| text.into_owned());
    let review = job_facts::review(state).map(|(text, _)| text.into_owned());
    let size: String = job_facts::size(state).into_iter().map(|(text, _)| text).collect();
    let base = base.filter(|base| !base.is_empty()).map(|base| format!("into {base}"));
    let facts: Vec<String> = [checks, review, (!size.is_empty()).then_some(size), base].into_iter().flatten().collect();
    let facts = Some(CleanText::line(&facts.join(" · "))).filter(|facts| !facts.is_empty());
    [state.title.clone()].into_iter().chain(facts).collect()
}

fn head_commit(job: &Job) -> Option<SeenHeadCommit> {
    Some(SeenHeadCommit { job: job.key, head: job.pull_request.as_ref()?.head.clone() })
}

/// Returns the number, the repository and the head commit of a job's pull request, then its title.
fn pull_request_title(job: &Job) -> CleanText {
    let (Some(link), Some(state)) = (job.supported_pr_link(), &job.pull_request) else {
        return job.local.title.clone();
    };
    CleanText::line(&format!("#{} {} {} {}", link.number, link.repository, short_commit(&state.head), state.title))
}

/// For a review or comment, opens the dialog for its text. For any other action, asks whether to run it.
fn ask_for_text_or_confirmation(
    app: &mut App,
    targets: PullRequestTargets,
    action: Action,
    method: Option<MergeMethod>,
) {
    let confirmed = match action {
        Action::Approve => PullRequestAction::Approve,
        Action::MarkReady => PullRequestAction::MarkReady,
        Action::Merge => PullRequestAction::Merge(method),
        Action::ClosePullRequest => PullRequestAction::Close,
        _ => {
            let kind = match action {
                Action::RequestChanges => UnsentReviewKind::ChangeRequest,
                _ => UnsentReviewKind::Comment,
            };
            let dialog = ReviewDialog::new(app, targets, kind);
            return app.open(dialog);
        }
    };
    app.ask_to_run_pull_request_action(targets, confirmed);
}

impl App {
    /// Asks the user to confirm an action. The dialog states what the action does, and lists the repository, the number
    /// and the head commit of each pull request.
    pub(in crate::tui) fn ask_to_run_pull_request_action(
        &mut self,
        targets: PullRequestTargets,
        action: PullRequestAction,
    ) {
        let text = match targets.head_commits.as_slice() {
            [only] if targets.listed_targets.keys.is_empty() => {
                let Some(link) = self.jobs.get(only.job).and_then(|job| job.supported_pr_link()) else { return };
                action.question(link.number, &link.repository, &only.head)
            }
            several => action.question_for_several(several.len()),
        };
        self.open(ConfirmDialog { text, on_yes: ConfirmAction::RunPullRequestAction { targets, action } });
    }

    /// Starts a confirmed action. An action on several pull requests is not started while another one is running.
    pub(in crate::tui) fn start_pull_request_action(
        &mut self,
        targets: PullRequestTargets,
        action: PullRequestAction,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let is_for_several = !targets.listed_targets.keys.is_empty();
        let mut waiting_targets = VecDeque::from(targets.head_commits);
        if is_for_several {
            if self.pull_request_work.running_bulk_action.is_some() {
                let text = "Not started: the last action on several pull requests is still running.";
                return self.notify(Severity::Warning, text, now);
            }
            self.jobs.clear_marks();
        }
        let Some(target) = waiting_targets.pop_front() else { return };
        if is_for_several {
            let (action, current_job) = (action.clone(), target.job);
            let running_bulk_action = BulkPullRequestAction { action, current_job, waiting_targets, done_count: 0 };
            self.pull_request_work.running_bulk_action = Some(running_bulk_action);
        }
        effects.push(Effect::Jobs(JobsEffect::RunPullRequestAction { target, action }));
    }

    /// Shows the outcome of an action. If the action is for several pull requests and has succeeded, continues with the
    /// next one.
    pub(in crate::tui) fn finish_pull_request_action(
        &mut self,
        job: JobKey,
        action: &PullRequestAction,
        outcome: &ActionOutcome,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let number = self.jobs.get(job).and_then(|job| job.pr_number()).unwrap_or_default();
        let is_done = *outcome == ActionOutcome::Done;
        let mut text = outcome.sentence(action, number);
        match outcome {
            ActionOutcome::Unconfirmed { is_state_read: false, .. } => {
                self.pull_request_work.unconfirmed_action_times.insert(job, now);
            }
            _ => {
                self.pull_request_work.unconfirmed_action_times.remove(&job);
            }
        }
        if let Some((kind, text)) = action.review_text().filter(|_| is_done) {
            self.delete_sent_review(job, kind, text, effects);
        }
        if let Some(mut running_bulk_action) =
            self.pull_request_work.running_bulk_action.take_if(|running_bulk_action| {
                running_bulk_action.current_job == job && running_bulk_action.action == *action
            })
        {
            running_bulk_action.done_count += usize::from(is_done);
            let done = plural(running_bulk_action.done_count, "pull request");
            match running_bulk_action.waiting_targets.pop_front() {
                Some(target) if is_done => {
                    text = format!("{text} {} left.", running_bulk_action.waiting_targets.len() + 1);
                    running_bulk_action.current_job = target.job;
                    effects.push(Effect::Jobs(JobsEffect::RunPullRequestAction {
                        target,
                        action: running_bulk_action.action.clone(),
                    }));
                    self.pull_request_work.running_bulk_action = Some(running_bulk_action);
                }
                None if is_done => {
                    let were = if running_bulk_action.done_count == 1 { "was" } else { "were" };
                    text = format!("{done} {were} {}.", action.participle());
                }
                next => {
                    let (before, after) = (
                        running_bulk_action.done_count,
                        running_bulk_action.waiting_targets.len() + usize::from(next.is_some()),
                    );
                    text = format!("{text} {before} succeeded before that, {after} not started.");
                }
            }
        }
        self.notify(if is_done { Severity::Info } else { Severity::Warning }, &text, now);
    }
}
