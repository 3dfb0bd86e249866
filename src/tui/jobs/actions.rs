//! The actions that work in every list of jobs: on the jobs screen and in the list of all profiles' jobs. They act on
//! [`App::active_list`].

use crate::model::job::Job;
use crate::model::prompt::DeliveryKind;
use crate::tui::component::prelude::*;
use crate::tui::queue::{has_queued_prompt, is_queued_new_job};

/// Returns the label of an action in the footer. `None` if the action would do nothing now.
pub(in crate::tui) fn footer_label(action: Action, app: &App) -> Option<FooterLabel> {
    let list = app.active_list();
    let selected = list.selected();
    let is_possible = match action {
        Action::PauseQueue | Action::RemoveFromQueue => app.any_target_job(has_queued_prompt),
        // Also offered for the first and the last prompt: to find these, every frame would have to visit all jobs.
        Action::SendEarlier | Action::SendLater => app.any_target_job(is_queued_new_job),
        Action::Filter | Action::NextSort => !list.is_empty(),
        Action::Mark | Action::Rename | Action::Tags | Action::Note | Action::Open => selected.is_some(),
        Action::FollowUp => app.any_target_job(|job| job.id.is_some() && !job.local.gone),
        Action::OpenPr => app.any_target_job(|job| job.remote.pr_link.is_some()),
        Action::MarkDone => app.any_target_job(|job| job.needs_action() && !job.local.dismissed),
        Action::Resolve => selected.is_some_and(|job| {
            let is_shown = app.detail.job() == Some(job.key);
            job.local.undelivered.is_some_and(DeliveryKind::needs_user)
                || (is_shown && app.detail.undelivered_of_others().is_some())
        }),
        Action::Dismiss => {
            // A job can't be dismissed while its prompt is being sent or waits for the user's decision.
            let blocks = |kind: DeliveryKind| kind.needs_user() || kind == DeliveryKind::Sending;
            list.marked_count() > 0 || selected.is_some_and(|job| !job.local.undelivered.is_some_and(blocks))
        }
        _ => app.offers_global_action(action),
    };
    is_possible.then(|| job_action_label(action, app))
}

/// Returns the label of an action on jobs. The label of the key that pauses prompts depends on the jobs that it acts on.
/// If no job is marked, the label of some other actions depends on the state of the selected job.
pub(in crate::tui) fn job_action_label(action: Action, app: &App) -> FooterLabel {
    let list = app.active_list();
    if action == Action::PauseQueue {
        // The key resumes the prompts only if all of them are paused.
        let has_prompt = |kind| app.any_target_job(|job| job.local.undelivered == Some(kind));
        let resumes = has_prompt(DeliveryKind::Paused) && !has_prompt(DeliveryKind::Queued);
        return if resumes { "resume".into() } else { FooterLabel::Default };
    }
    let Some(job) = list.selected().filter(|_| list.marked_count() == 0) else { return FooterLabel::Default };
    match action {
        Action::Dismiss if job.local.dismissed => "restore".into(),
        Action::MarkDone if job.is_handled() => "move back".into(),
        Action::Resolve if !job.local.undelivered.is_some_and(DeliveryKind::needs_user) => "copy prompt".into(),
        _ => FooterLabel::Default,
    }
}

/// Runs an action on the jobs list that has the focus.
pub(in crate::tui) fn handle_jobs_action(action: Action, cx: &mut Cx<'_>) -> Flow {
    let (app, now) = (&mut *cx.app, cx.now);
    match action {
        Action::OpenPr => app.open_prs(now, cx.effects),
        Action::Copy => app.copy_links(now, cx.effects),
        Action::CopyId => {
            if let Some(id) = app.active_list().selected().and_then(|job| job.id.as_ref()) {
                cx.effects
                    .push(Effect::copy(&format!("the job id {}", id.to_clean_text()), id.to_clean_text().to_string()));
            }
        }
        Action::Dismiss => app.dismiss_or_restore(now, cx.effects),
        Action::MarkDone => app.toggle_done(now, cx.effects),
        Action::Undo => app.undo_last_change(now, cx.effects),
        Action::FoldDismissed => app.active_list_mut().toggle_dismissed_visibility(),
        Action::Filter => app.open_filter_input(),
        Action::NextTab => app.switch_filter_tab(true, now),
        Action::PreviousTab => app.switch_filter_tab(false, now),
        Action::NextSort => app.switch_to_next_sort(),
        Action::ReverseSort => app.reverse_sort(),
        Action::Mark => app.active_list_mut().toggle_mark(),
        Action::MarkRange => app.active_list_mut().mark_range(),
        Action::Rename => app.ask_title(),
        Action::Tags => app.ask_tags(),
        Action::Note => app.ask_note(),
        Action::Export => app.export_or_ask(now, cx.effects),
        _ => return Flow::Unhandled,
    }
    Flow::Handled
}

impl App {
    /// Whether `holds` is true for at least one of the jobs that keys act on: the marked jobs or, if none is marked or
    /// the details have the focus, the selected job.
    fn any_target_job(&self, holds: impl Fn(&Job) -> bool) -> bool {
        let list = self.active_list();
        if self.acts_on_marks() {
            return list.any_marked(holds);
        }
        list.selected().is_some_and(holds)
    }

    /// Asks the user to press the key once more before several marks are cleared, because it takes work to set them
    /// again. Returns `true` if the marks must not be cleared yet; `false` if there are fewer than two marks, or if the
    /// notice was already on screen.
    pub(in crate::tui) fn warn_once_before_clearing_marks(&mut self, marks: usize, now: Time) -> bool {
        if marks < 2 {
            return false;
        }
        let key = self.key_label(Context::Everywhere, Action::Close);
        let text = format!("{} marks: press {key} again to clear them.", crate::tui::format::format_count(marks));
        let was_warned = self.notice.as_ref().is_some_and(|notice| notice.text.as_str() == text);
        if was_warned {
            self.end_notice();
        } else {
            self.notify(Severity::Info, &text, now);
        }
        !was_warned
    }
}
