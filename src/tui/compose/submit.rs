//! Writing and sending prompts: opens the editor, retries failed jobs, and reports what happens to a prompt.

use super::editor::Editor;
use super::messages::PromptsMsg;
use crate::model::Time;
use crate::model::change::LocalChange;
use crate::model::failure::Failure;
use crate::model::job::{Job, JobKey};
use crate::model::prompt::{Delivery, DeliveryKind, DraftTarget, PromptId, PromptKind};
use crate::model::text::CleanText;
use crate::tui::keymap::{Action, Context};
use crate::tui::{App, Effect, Pane, PromptsEffect, Screen, Severity, StoreState, SubmitError};

impl App {
    pub(in crate::tui) fn handle_prompts_msg(&mut self, msg: PromptsMsg, now: Time, effects: &mut Vec<Effect>) {
        match msg {
            PromptsMsg::Submitted { draft_target, result } => {
                if result.is_ok() {
                    self.jobs.mark_search_stale();
                }
                if !self.apply_bulk_follow_up_result(draft_target, &result, now, effects) {
                    self.apply_submit_result(draft_target, result, now, effects);
                }
            }
            PromptsMsg::Retried { job, result } => self.apply_retry_result(job, result, now, effects),
            PromptsMsg::Resolved { result, .. } => self.apply_resolve_result(result, now),
            PromptsMsg::Discarded { sentence, result } => self.apply_discard_result(&sentence, result, now),
            PromptsMsg::RemovedFromQueue(result) => self.apply_queue_removal_result(result, now),
            PromptsMsg::PromptsRestored(result) => self.apply_restore_result(result, now),
            PromptsMsg::BatchAdded(result) => self.apply_batch_result(result, now, effects),
            // These messages are for a dialog. They get here only if that dialog was closed, so they are ignored.
            PromptsMsg::HistoryLoaded(_)
            | PromptsMsg::TemplatesLoaded(_)
            | PromptsMsg::EditedExternally(_)
            | PromptsMsg::PromptsRead { .. }
            | PromptsMsg::DraftSaved { .. }
            | PromptsMsg::DraftRead { .. } => {}
        }
    }

    pub(in crate::tui) fn open_new_job(&mut self, now: Time) {
        if self.store == StoreState::Loaded {
            self.open_editor(DraftTarget::NewJob, CleanText::line("New job"), now);
        } else {
            let sentence = "Jobs and drafts are still loading. Try again in a moment.";
            self.notify(Severity::Info, sentence, now);
        }
    }

    /// Opens the editor for a follow-up to the selected job, and adds this text to the draft.
    pub(in crate::tui) fn open_follow_up_with_text(&mut self, text: &str, now: Time) {
        self.open_follow_up(now);
        if let Some(editor) = self.find_mut::<Editor>() {
            editor.quote(text, now);
        }
    }

    pub(in crate::tui) fn open_follow_up(&mut self, now: Time) {
        let Some(row) = self.jobs.selected() else { return };
        if row.local.undelivered == Some(DeliveryKind::Discarded) {
            self.notify(Severity::Info, "Can't follow up: this job was discarded.", now);
        } else if row.id.is_none() {
            self.notify(Severity::Info, "Can't follow up yet: the service has not accepted this job.", now);
        } else if row.local.gone {
            self.notify(Severity::Info, "Can't follow up: the service no longer has this job.", now);
        } else {
            let title = CleanText::line(&format!("Follow-up: {}", row.local.title));
            let mut editor = self.new_editor(DraftTarget::FollowUp(row.key), title, now);
            editor.is_inline = self.pane == Pane::Detail;
            self.detail.lines_below = 0;
            self.open(editor);
        }
    }

    /// Submits the last prompt of the selected job once more, if the job failed.
    pub(in crate::tui) fn retry_job(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(job) = self.jobs.selected() else { return };
        let prompts = self.detail.thread().shown().map(|thread| thread.value.prompts.as_slice());
        let is_unknown =
            prompts.is_some_and(|prompts| prompts.iter().all(|prompt| prompt.delivery != Delivery::Accepted));
        if !job.can_retry() {
            self.notify(Severity::Info, "Only a failed job can be retried.", now);
        } else if is_unknown {
            let new = self.key_label(Context::Jobs, Action::NewJob);
            let text = format!("docdeck doesn't have the prompt of this job. Press {new} to start a new job.");
            self.notify(Severity::Info, &text, now);
        } else if self.retried_job != Some(job.key) {
            // Until the response has arrived and the new job is selected, a second press of the key for the same job is
            // ignored, so that the prompt is not sent twice.
            self.retried_job = Some(job.key);
            effects.push(Effect::Prompts(PromptsEffect::Retry(job.key)));
        }
    }

    /// Selects the job to which the retried prompt belongs. If that is a new job, marks the failed job as done. On
    /// failure, only shows a notice.
    fn apply_retry_result(&mut self, job: JobKey, result: Result<Job, Failure>, now: Time, effects: &mut Vec<Effect>) {
        (self.is_dirty, self.retried_job) = (true, None);
        match result {
            Ok(row) => {
                let key = row.key;
                self.put_job(row);
                self.jobs.select(key);
                if key != job {
                    self.change_jobs(vec![job], LocalChange::Handled, "marking as done", effects);
                }
            }
            Err(failure) => self.notify_failure(&failure, now),
        }
    }

    /// Marks the store as read-only, so that nothing can be sent, and shows a notice about it.
    pub(in crate::tui) fn set_read_only(&mut self, now: Time) {
        self.config.read_only = true;
        let text = "The data folder can't be written, so nothing can be saved or sent. Make the folder writable, or \
                    choose another one with --data-dir.";
        self.notify(Severity::Warning, text, now);
    }

    /// Updates the job of a saved prompt in the list, and selects the job if it is new. If the prompt could not be
    /// saved, restores its draft.
    pub(in crate::tui) fn apply_submit_result(
        &mut self,
        draft_target: DraftTarget,
        result: Result<(PromptId, Job), SubmitError>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        self.is_dirty = true;
        match result {
            Ok((_, row)) => {
                let key = row.key;
                self.put_job(row);
                if matches!(draft_target, DraftTarget::NewJob | DraftTarget::AboutPages) {
                    self.jobs.select(key);
                }
            }
            Err(error) => {
                let why = format!("Not sent: {}", error.failure.message);
                self.restore_draft(draft_target, error.text, error.pages, &why, now, effects);
            }
        }
    }

    /// Returns a notice about what a newly queued prompt waits for. `None` if it doesn't wait for another prompt of its
    /// job.
    fn queued_prompt_notice(&self, prompt: PromptId, row: &Job) -> Option<String> {
        if row.local.undelivered?.needs_user() {
            let resolve_key = self.key_label(Context::Jobs, Action::Resolve);
            return Some(format!(
                "Saved. It will be sent after you resolve the earlier prompt (press {resolve_key} on its job)."
            ));
        }
        // The queue position of a job is that of its first queued prompt. The position of a new prompt is its id. So if
        // the job's position is lower than the id of the new prompt, an earlier prompt of the job is queued.
        let is_first = row.local.queue_position.is_none_or(|place| place >= prompt.0);
        (!is_first).then(|| "Saved. It will be sent after the earlier prompt.".to_owned())
    }

    /// Shows a notice about a change of a prompt's delivery, if the user has to know about it. Deletes the draft of an
    /// accepted prompt.
    pub(in crate::tui) fn report_delivery(
        &mut self,
        prompt: PromptId,
        delivery: &Delivery,
        job: &Job,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        self.is_dirty = true;
        let title = job.local.title.as_str();
        match delivery {
            Delivery::Accepted => {
                if self.drafts.remove(&DraftTarget::Prompt(prompt)).is_some() {
                    effects.push(Effect::Prompts(PromptsEffect::DeleteDraft(DraftTarget::Prompt(prompt))));
                }
                if !self.unrecorded.take_if_recorded_late(prompt) {
                    self.notify(Severity::Info, &format!("Accepted: {title}"), now);
                }
            }
            Delivery::Queued { until: Some(until) } if *until > now => {
                let when = self.send_time_text(self.prompt_wait(Some(job), *until, now), now);
                let text = format!("Hourly limit reached. The saved prompt will be sent {when} if docdeck is running.");
                self.notify(Severity::Info, &text, now);
            }
            Delivery::Queued { until: None } => {
                let waits = self.queued_prompt_notice(prompt, job);
                self.notify(Severity::Info, &waits.unwrap_or_else(|| format!("Saved, sending now: {title}")), now);
            }
            Delivery::NotSent(reason) => self.notify_undelivered(&format!("Not sent: “{title}”. {reason}"), now),
            Delivery::Rejected(reason) => self.notify_undelivered(&format!("Rejected: “{title}”. {reason}"), now),
            Delivery::Unconfirmed(_) => {
                self.notify_undelivered(&format!("Unconfirmed: “{title}”. It may have reached the service."), now)
            }
            Delivery::Queued { .. } | Delivery::Paused | Delivery::Sending | Delivery::Discarded { .. } => {}
        }
    }

    /// Shows that a prompt was not delivered, and the key to resolve it.
    fn notify_undelivered(&mut self, what: &str, now: Time) {
        let key = self.key_label(Context::Jobs, Action::Resolve);
        let text = format!("{}. Press {key} to resolve it.", what.trim_end_matches('.'));
        self.notify_until_done(Action::Resolve, Severity::Error, &text, now);
    }

    /// Opens the text of an undelivered prompt in the editor. When the user sends it, the edited text replaces the text
    /// of this prompt. No new prompt is created.
    pub(in crate::tui) fn edit_undelivered_prompt(
        &mut self,
        prompt: PromptId,
        kind: PromptKind,
        reason: CleanText,
        text: &str,
    ) {
        let title = match kind {
            PromptKind::Create => "New job, not delivered",
            PromptKind::FollowUp => "Follow-up, not delivered",
        };
        let mut editor = Editor::new(DraftTarget::Prompt(prompt), CleanText::line(title), text);
        editor.kind = kind;
        editor.last_failure = Some(reason);
        self.open(editor);
        self.screen = Screen::Jobs;
    }
}
