//! Writing and sending prompts: opens and closes the editor, saves its text as a prompt, and reports what happens to the
//! prompt.

use super::component::Flow;
use super::compose::editor::Editor;
use super::keymap::{Action, Context};
use super::{App, Effect, Screen, Severity, StoreState, SubmitError};
use crate::model::Time;
use crate::model::prompt::{Delivery, DeliveryKind, DraftTarget, PromptId, PromptKind};
use crate::model::row::Job;
use crate::model::text::CleanText;

impl App {
    pub(super) fn open_new_job(&mut self, now: Time) {
        if self.store == StoreState::Read {
            self.open_editor(DraftTarget::NewJob, CleanText::line("New job"), now);
        } else {
            let sentence = "Jobs and drafts are still loading. Try again in a moment.";
            self.notify(Severity::Info, sentence, now);
        }
    }

    pub(super) fn open_follow_up(&mut self, now: Time) {
        let Some(row) = self.jobs.selected() else { return };
        if row.undelivered == Some(DeliveryKind::Discarded) {
            self.notify(Severity::Info, "Can't follow up: this job was discarded.", now);
        } else if row.id.is_none() {
            self.notify(Severity::Info, "Can't follow up: this job has no id yet.", now);
        } else if row.gone {
            self.notify(Severity::Problem, "Can't follow up: the service no longer has this job.", now);
        } else {
            let title = CleanText::line(&format!("Follow-up: {}", row.title));
            self.open_editor(DraftTarget::FollowUp(row.key), title, now);
        }
    }

    /// Closes the topmost dialog. Saves the text of an editor as a draft.
    pub(super) fn close(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if !self.dialogs.is_empty() && self.dispatch(now, effects, |dialog, cx| dialog.close(cx)) == Flow::Pass {
            self.dialogs.pop();
        }
    }

    /// Marks the store as read-only, so that nothing can be sent, and shows a notice about it.
    pub(super) fn notify_read_only(&mut self, now: Time) {
        self.config.read_only = true;
        let text = "The data folder can't be written, so nothing can be saved or sent. Make the folder writable, or \
                    choose another one with --data-dir.";
        self.notify(Severity::Problem, text, now);
    }

    /// Shows the job of a saved prompt, or restores the draft of a prompt that could not be saved.
    pub(super) fn apply_submit_result(
        &mut self,
        slot: DraftTarget,
        result: Result<(PromptId, Job), SubmitError>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        self.dirty = true;
        match result {
            Ok((_, row)) => {
                let key = row.key;
                self.put_job(row);
                if matches!(slot, DraftTarget::NewJob | DraftTarget::AboutPages) {
                    self.jobs.select(key);
                }
            }
            Err(error) => {
                let why = format!("Not sent: {}", error.failure.message);
                self.restore_draft(slot, error.text, error.pages, &why, now, effects);
            }
        }
    }

    /// Returns a notice about what a newly queued prompt waits for. `None` if it doesn't wait for another prompt of its
    /// job.
    fn queue_notice(&self, prompt: PromptId, row: &Job) -> Option<String> {
        if row.undelivered?.needs_user() {
            let resolve_key = self.key_label(Context::Jobs, Action::Resolve);
            return Some(format!(
                "Saved. It is sent after you resolve the earlier prompt (press {resolve_key} on its job)."
            ));
        }
        // The row has the queue position of the job's first queued prompt. A prompt's position is its id unless it was
        // moved.
        let is_first = row.queue_position.is_none_or(|place| place >= prompt.0);
        (!is_first).then(|| "Saved. It is sent after the earlier prompt.".to_owned())
    }

    /// Shows a notice about a change of a prompt's delivery.
    pub(super) fn report_delivery(
        &mut self,
        prompt: PromptId,
        delivery: &Delivery,
        job: &Job,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        self.dirty = true;
        let title = job.title.as_str();
        match delivery {
            Delivery::Accepted => {
                if self.drafts.remove(&DraftTarget::Prompt(prompt)).is_some() {
                    effects.push(Effect::DeleteDraft(DraftTarget::Prompt(prompt)));
                }
                if !self.unrecorded.take_recorded(prompt) {
                    self.notify(Severity::Info, &format!("Accepted: {title}"), now);
                }
            }
            Delivery::Queued { until: Some(until) } if *until > now => {
                let when = self.send_time(self.prompt_wait(Some(job), *until, now), now);
                let text = format!("Hourly limit reached. Will send {when} if docdeck is running.");
                self.notify(Severity::Info, &text, now);
            }
            Delivery::Queued { until: None } => {
                let waits = self.queue_notice(prompt, job);
                self.notify(Severity::Info, &waits.unwrap_or_else(|| format!("Saved, sending now: {title}")), now);
            }
            Delivery::NotSent(reason) => self.notify(Severity::Problem, &format!("Not sent: {title}. {reason}"), now),
            Delivery::Rejected(reason) => self.notify(Severity::Problem, &format!("Rejected: {title}. {reason}"), now),
            Delivery::Unconfirmed(_) => {
                self.notify(Severity::Problem, &format!("Unconfirmed: {title}. Press ! on it to resolve."), now);
            }
            Delivery::Queued { .. } | Delivery::Paused | Delivery::Sending | Delivery::Discarded { .. } => {}
        }
    }

    pub(super) fn edit_as_same_prompt(&mut self, prompt: PromptId, kind: PromptKind, reason: CleanText, text: &str) {
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
