//! Actions on a pull request: when they are possible, their confirmation, and what became of them.

use crate::model::Time;
use crate::model::pull_request::PullRequestState;
use crate::model::pull_request_action::{ActionOutcome, MergeMethod, PullRequestAction};
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
use crate::tui::input_dialog::{InputDialog, InputField};
use crate::tui::keymap::Action;
use crate::tui::{App, Severity};

/// Whether an action makes sense in the known state of a job's pull request.
pub(super) fn is_possible(app: &App, job: JobKey, action: Action) -> bool {
    let state = app.jobs.get(job).and_then(|job| job.pull_request.as_deref());
    let Some(state) = state.filter(|_| app.config.allows_pull_request_actions) else { return false };
    match action {
        Action::MarkReady => state.state == PullRequestState::Draft,
        Action::Merge => state.state == PullRequestState::Open && state.conflict != Some(true),
        _ => !state.state.is_final(),
    }
}

/// Asks the user to confirm an action on the pull request as it is on screen, after asking for the text of a review.
pub(super) fn start(app: &mut App, job: JobKey, action: Action, method: MergeMethod) {
    let Some(row) = app.jobs.get(job) else { return };
    let Some(head) = row.pull_request.as_ref().map(|state| state.head.clone()) else { return };
    let confirmed = match action {
        Action::Approve => PullRequestAction::Approve,
        Action::MarkReady => PullRequestAction::MarkReady,
        Action::Merge => PullRequestAction::Merge(method),
        Action::ClosePullRequest => PullRequestAction::Close,
        _ => {
            let title = row.local.title.clone();
            let field = InputField::Review { job, head, requests_changes: action == Action::RequestChanges };
            return app.open(InputDialog::new(field, "").with_job(&title));
        }
    };
    app.confirm_pull_request_action(job, head, confirmed);
}

impl App {
    /// Asks the user to confirm an action, with the repository, the number, the head commit and the effect.
    pub(in crate::tui) fn confirm_pull_request_action(
        &mut self,
        job: JobKey,
        head: CleanText,
        action: PullRequestAction,
    ) {
        let Some(link) = self.jobs.get(job).and_then(|job| job.known_pull_request()) else { return };
        let text = action.question(link.number, &link.repository, &head);
        self.open(ConfirmDialog { text, on_yes: ConfirmAction::ActOnPullRequest { job, head, action } });
    }

    /// Shows what became of an action.
    pub(in crate::tui) fn show_action_outcome(
        &mut self,
        job: JobKey,
        action: &PullRequestAction,
        outcome: &ActionOutcome,
        now: Time,
    ) {
        let number = self.jobs.get(job).and_then(|job| job.pr_number()).unwrap_or_default();
        let severity = if *outcome == ActionOutcome::Done { Severity::Info } else { Severity::Warning };
        self.notify(severity, &outcome.sentence(action, number), now);
    }
}
