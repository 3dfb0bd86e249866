//! Writing and sending prompts: opens and closes the editor, saves its text as a prompt, and reports what happens to the
//! prompt.

use super::component::Flow;
use super::dialog::Dialog;
use super::editor::{DraftState, Editor, join_drafts};
use super::keymap::{Action, Context};
use super::views::page_detail::PageDetail;
use super::{App, Effect, Screen, Severity, StoreState, SubmitError};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::prompt::{Delivery, DeliveryKind, DraftTarget, PromptId, PromptKind, Resolution};
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

    pub(super) fn open_editor(&mut self, slot: DraftTarget, title: CleanText, now: Time) {
        let text = self.drafts.get(&slot).cloned().unwrap_or_default();
        let mut editor = Editor::new(slot, title, &text);
        if !text.trim().is_empty() {
            self.notify(Severity::Info, "Draft restored.", now);
            if slot == DraftTarget::AboutPages {
                editor.pages.clone_from(&self.draft_pages);
            }
        }
        self.dialogs.push(Dialog::Editor(Box::new(editor)));
    }

    /// Closes the topmost dialog. Saves the text of an editor as a draft.
    pub(super) fn close(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if self.dialogs.is_empty() || self.dispatch(now, effects, |dialog, cx| dialog.close(cx)) != Flow::Pass {
            return;
        }
        match self.dialogs.last() {
            Some(Dialog::Batch(_)) => return self.close_batch(now, effects),
            // The editor stays open, because the external editor returns the text to it on exit.
            Some(Dialog::Editor(editor)) if editor.is_in_external_editor => return,
            _ => {}
        }
        let Some(dialog) = self.dialogs.pop() else { return };
        let Dialog::Editor(editor) = dialog else { return };
        let text = editor.input.text();
        if editor.is_unchanged() {
            // A draft may have been saved before the text was deleted again.
            let was_saved =
                editor.is_unsaved() || (editor.draft_state != DraftState::Unchanged && !text.trim().is_empty());
            if self.drafts.remove(&editor.slot).is_some() || was_saved {
                effects.push(Effect::DeleteDraft(editor.slot));
            }
            return;
        }
        if editor.is_unsaved() {
            effects.push(Effect::save_draft(editor.slot, text.clone(), &editor.pages));
        }
        let (slot, has_several_targets) = (editor.slot, editor.targets.len() > 1);
        self.drafts.insert(slot, text);
        if slot == DraftTarget::AboutPages {
            self.draft_pages = editor.pages;
        }
        let again = match slot {
            DraftTarget::NewJob => self.key_label(Context::Jobs, Action::NewJob),
            DraftTarget::AboutPages => self.key_label(Context::Views, Action::NewJob) + " on a page",
            DraftTarget::FollowUp(_) if has_several_targets => {
                self.key_label(Context::Jobs, Action::FollowUp) + " on the first of these jobs"
            }
            DraftTarget::FollowUp(_) => self.key_label(Context::Jobs, Action::FollowUp) + " on this job",
            DraftTarget::Prompt(_) => self.key_label(Context::Jobs, Action::Resolve) + " on its job",
            DraftTarget::Batch => self.key_label(Context::Jobs, Action::Batch),
        };
        self.notify(Severity::Info, &format!("Draft saved; {again} opens it again."), now);
    }

    pub(super) fn editor(&mut self) -> Option<&mut Editor> {
        self.dialogs.iter_mut().rev().find_map(|dialog| match dialog {
            Dialog::Editor(editor) => Some(editor.as_mut()),
            _ => None,
        })
    }

    /// Marks the store as read-only, so that nothing can be sent, and shows a notice about it.
    pub(super) fn notify_read_only(&mut self, now: Time) {
        self.config.read_only = true;
        let text = "The data folder can't be written, so nothing can be saved or sent. Make the folder writable, or \
                    choose another one with --data-dir.";
        self.notify(Severity::Problem, text, now);
    }

    /// Closes the editor and submits its text as a prompt. If the text can't be sent, the editor stays open with a
    /// message.
    pub(super) fn send(&mut self, effects: &mut Vec<Effect>) {
        let read_only = self.config.read_only;
        let (copy, next) =
            (self.key_label(Context::Editor, Action::CopyMain), self.key_label(Context::Editor, Action::NextBlank));
        let Some(Dialog::Editor(editor)) = self.dialogs.last_mut() else { return };
        if editor.is_in_external_editor {
            return;
        }
        if editor.is_blank_or_initial() {
            let is_empty = editor.input.is_blank();
            let why = if is_empty { "the prompt is empty." } else { "describe what the agent should do." };
            editor.message = Some(CleanText::line(&format!("Nothing to send: {why}")));
            return;
        }
        if read_only {
            let why = "Not sent: the data folder can't be written.";
            editor.message = Some(CleanText::line(&format!("{why} {copy} copies the text.")));
            return;
        }
        if editor.input.has_blank() && !editor.is_warned {
            // This only warns, because the user may want to send the blank, for example in a text about templates.
            let why = format!("A {{{{blank}}}} is left: {next} goes to it. Send again to keep it.");
            editor.message = Some(CleanText::line(&why));
            editor.is_warned = true;
            return;
        }
        let Some(editor) = self.close_sent_editor(effects) else { return };
        let text = editor.input.text();
        effects.push(match editor.slot {
            DraftTarget::FollowUp(job) => Effect::SubmitFollowUp(job, text),
            // The prompts of a batch are submitted by another dialog, never by this editor.
            DraftTarget::NewJob | DraftTarget::Batch => Effect::SubmitNewJob(text),
            DraftTarget::AboutPages => Effect::SubmitJobAbout(text, editor.pages),
            DraftTarget::Prompt(prompt) => Effect::Resolve(prompt, Resolution::SendEdited(text)),
        });
    }

    /// Closes the editor whose text becomes a prompt. Saves the text as a draft, so that it survives a crash before the
    /// prompt is saved.
    pub(super) fn close_sent_editor(&mut self, effects: &mut Vec<Effect>) -> Option<Editor> {
        let draft = self.dialogs.last_mut()?.save_draft_if(DraftState::is_unsaved);
        let Dialog::Editor(editor) = self.dialogs.pop_if(|dialog| dialog.as_editor().is_some())? else {
            return None;
        };
        effects.extend(draft);
        self.drafts.remove(&editor.slot);
        Some(*editor)
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

    /// Turns a text that could not be saved as a prompt into a draft again, and shows the reason `why`. Opens the
    /// draft's editor unless another dialog was opened meanwhile.
    pub(super) fn restore_draft(
        &mut self,
        slot: DraftTarget,
        text: String,
        pages: Vec<CleanText>,
        why: &str,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let is_free = self.dialogs.is_empty() || self.top::<PageDetail>().is_some();
        let mut pages = pages;
        let open = self.editor().filter(|editor| editor.slot == slot && !editor.is_in_external_editor);
        if open.is_none() {
            let newer = self.drafts.remove(&slot).unwrap_or_default();
            if slot == DraftTarget::AboutPages && !newer.is_empty() {
                pages.extend(self.draft_pages.iter().filter(|page| !pages.contains(page)).cloned().collect::<Vec<_>>());
            }
            let text = join_drafts(text, &newer);
            effects.push(Effect::save_draft(slot, text.clone(), &pages));
            self.drafts.insert(slot, text);
            if slot == DraftTarget::AboutPages {
                self.draft_pages = pages;
            }
            if !is_free {
                let drafts = self.key_label(Context::Jobs, Action::Drafts);
                let why = format!("{why} Saved as a draft: {drafts} on the jobs screen lists it.");
                self.notify(Severity::Problem, &why, now);
                return;
            }
            self.open_draft(slot, now);
            // Removes the notice about the restored draft, because the reason that the dialog shows is more important.
            self.dismiss_info();
        } else if let Some(editor) = open {
            editor.restore_text(text, pages);
        }
        let copy = self.key_label(Context::Editor, Action::CopyMain);
        match self.dialogs.last_mut() {
            Some(Dialog::Batch(batch)) => {
                batch.draft_state.mark_changed(now);
                batch.message = Some(CleanText::line(why));
            }
            _ => {
                if let Some(editor) = self.editor().filter(|editor| editor.slot == slot) {
                    editor.mark_changed(now);
                    editor.message = Some(CleanText::line(&format!("{why} The text stays here; {copy} copies it.")));
                }
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

    pub(super) fn draft_saved(&mut self, slot: DraftTarget, result: Result<Time, Failure>) {
        self.dirty = true;
        let saved = self.dialogs.iter_mut().rev().find_map(|dialog| match dialog {
            Dialog::Editor(editor) if editor.slot == slot => Some(&mut editor.draft_state),
            Dialog::Batch(batch) if slot == DraftTarget::Batch => Some(&mut batch.draft_state),
            _ => None,
        });
        let Some(saved) = saved else { return };
        match result {
            Ok(at) if *saved == DraftState::Saving => *saved = DraftState::Saved(at),
            Ok(_) => {}
            Err(failure) => *saved = DraftState::Failed(failure.message),
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
        self.dialogs.push(Dialog::Editor(Box::new(editor)));
        self.screen = Screen::Jobs;
    }
}
