//! The list of drafts, and how drafts are opened and restored.

use super::about_pages::{short_page_list, title_of_job_about_pages};
use super::batch::BatchDialog;
use super::draft_state::join_drafts;
use super::editor::Editor;
use super::picker::{Picker, PickerEntry, PickerKind};
use crate::model::Time;
use crate::model::prompt::{DraftTarget, PromptKind};
use crate::model::text::CleanText;
use crate::tui::keymap::{Action, Context};
use crate::tui::views::page_detail::PageDetail;
use crate::tui::{App, Effect, PromptsEffect, Severity, StoreState};

impl App {
    pub(in crate::tui) fn open_drafts(&mut self, now: Time) {
        if self.store != StoreState::Loaded {
            return;
        }
        if self.draft_count() == 0 {
            self.notify(Severity::Info, "No drafts.", now);
            return;
        }
        let mut picker = Picker::new(PickerKind::Drafts);
        picker.set_entries(Ok(self.draft_entries()));
        self.open(picker);
    }

    /// Returns the number of drafts that are not blank.
    pub fn draft_count(&self) -> usize {
        self.drafts.values().filter(|text| !text.trim().is_empty()).count()
    }

    /// Returns the entries for the drafts in this order: new job, new job about pages, batch, follow-ups, undelivered
    /// prompts.
    fn draft_entries(&self) -> Vec<PickerEntry> {
        let order = |draft_target: &DraftTarget| match draft_target {
            DraftTarget::NewJob => (0, 0),
            DraftTarget::AboutPages => (1, 0),
            DraftTarget::Batch => (2, 0),
            DraftTarget::FollowUp(job) => (3, job.0),
            DraftTarget::Prompt(prompt) => (4, prompt.0),
        };
        let mut drafts: Vec<_> = self.drafts.iter().filter(|(_, text)| !text.trim().is_empty()).collect();
        drafts.sort_by_key(|(draft_target, _)| order(draft_target));
        let entry = |(draft_target, text): (&DraftTarget, &String)| {
            PickerEntry::new(text.clone(), self.draft_title(*draft_target), Some(*draft_target))
        };
        drafts.into_iter().map(entry).collect()
    }

    fn draft_title(&self, draft_target: DraftTarget) -> CleanText {
        match draft_target {
            DraftTarget::NewJob => CleanText::line("New job"),
            DraftTarget::AboutPages => {
                CleanText::line(&format!("New job about {}", short_page_list(&self.draft_pages)))
            }
            DraftTarget::Batch => CleanText::line("New jobs from a list"),
            DraftTarget::FollowUp(job) => match self.jobs.get(job) {
                Some(row) => CleanText::line(&format!("Follow-up: {}", row.local.title)),
                None => CleanText::line("Follow-up to an untracked job"),
            },
            DraftTarget::Prompt(_) => CleanText::line("Undelivered prompt"),
        }
    }

    /// Updates the list of drafts if it is open. Closes it if there are no drafts.
    fn refresh_draft_list(&mut self) {
        let entries = self.draft_entries();
        if entries.is_empty() {
            self.close_dialogs_if::<Picker>(|picker| picker.kind == PickerKind::Drafts);
        } else if let Some(picker) = self.find_mut::<Picker>().filter(|picker| picker.kind == PickerKind::Drafts) {
            picker.set_entries(Ok(entries));
        }
    }

    pub(in crate::tui) fn open_draft(&mut self, draft_target: DraftTarget, now: Time) {
        let title = self.draft_title(draft_target);
        match draft_target {
            DraftTarget::NewJob => self.open_editor(draft_target, title, now),
            DraftTarget::AboutPages => {
                let title = title_of_job_about_pages(&self.draft_pages);
                self.open_editor(draft_target, title, now);
            }
            DraftTarget::Batch => self.open_batch(now),
            DraftTarget::FollowUp(job) => {
                self.jobs.select(job);
                self.open_editor(draft_target, title, now);
            }
            DraftTarget::Prompt(prompt) => {
                let kind = self.detail.prompt(prompt).map_or(PromptKind::Create, |prompt| prompt.kind);
                let reason = self.detail.prompt(prompt).and_then(|prompt| prompt.delivery.reason().cloned());
                let text = self.drafts.get(&draft_target).cloned().unwrap_or_default();
                self.edit_undelivered_prompt(prompt, kind, reason.unwrap_or_default(), &text);
            }
        }
    }

    pub(in crate::tui) fn delete_draft(&mut self, draft_target: DraftTarget, effects: &mut Vec<Effect>) {
        self.drafts.remove(&draft_target);
        effects.push(Effect::Prompts(PromptsEffect::DeleteDraft(draft_target)));
        self.refresh_draft_list();
    }

    /// Turns a text that could not be saved as a prompt into a draft again, and shows the reason `why`. If the draft's
    /// editor is open, the text goes into it. Otherwise opens the editor, unless another dialog was opened meanwhile.
    pub(in crate::tui) fn restore_draft(
        &mut self,
        draft_target: DraftTarget,
        text: String,
        pages: Vec<CleanText>,
        why: &str,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let is_free = self.dialogs.is_empty() || self.top::<PageDetail>().is_some();
        let mut pages = pages;
        let open = self
            .find_mut::<Editor>()
            .filter(|editor| editor.draft_target == draft_target && !editor.is_in_external_editor);
        if open.is_none() {
            let newer = self.drafts.remove(&draft_target).unwrap_or_default();
            if draft_target == DraftTarget::AboutPages && !newer.is_empty() {
                pages.extend(self.draft_pages.iter().filter(|page| !pages.contains(page)).cloned().collect::<Vec<_>>());
            }
            let text = join_drafts(text, &newer);
            effects.push(Effect::Prompts(PromptsEffect::save_draft(draft_target, text.clone(), &pages)));
            self.drafts.insert(draft_target, text);
            if draft_target == DraftTarget::AboutPages {
                self.draft_pages = pages;
            }
            if !is_free {
                let drafts = self.key_label(Context::Jobs, Action::Drafts);
                let why = format!("{why} Saved as a draft: {drafts} on the jobs screen lists it.");
                self.notify_until_done(Action::Drafts, Severity::Error, &why, now);
                return;
            }
            self.open_draft(draft_target, now);
            // Removes the notice about the restored draft, because the reason that the dialog shows is more important.
            self.dismiss_or_shrink_notice();
        } else if let Some(editor) = open {
            editor.restore_text(text, pages);
        }
        let copy = self.key_label(Context::Editor, Action::Copy);
        if draft_target == DraftTarget::Batch {
            if let Some(batch) = self.find_mut::<BatchDialog>() {
                batch.show_failure(why, now);
            }
        } else if let Some(editor) = self.find_mut::<Editor>().filter(|editor| editor.draft_target == draft_target) {
            editor.mark_changed(now);
            editor.message = Some(CleanText::line(&format!("{why} The text stays here; {copy} copies it.")));
        }
    }
}
