//! Sources of the text in the prompt editor, other than typing: earlier prompts, templates, drafts and an external
//! editor.

use super::confirm::{ConfirmAction, ConfirmDialog};
use super::dialog::Dialog;
use super::editor::{DraftState, Editor, join_drafts};
use super::keymap::{Action, Context};
use super::picker::{Picker, PickerEntry, PickerKind};
use super::templates::{TemplateValues, fill_template};
use super::views::page_job::{load_other_draft, short_list, template_order, title_of_job_about};
use super::{App, Effect, Screen, Severity, StoreState, Template, format};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::prompt::{DraftTarget, PromptKind};
use crate::model::row::Job;
use crate::model::text::CleanText;

impl App {
    /// Opens the picker of earlier prompts or templates.
    pub(super) fn open_picker(&mut self, kind: PickerKind, effects: &mut Vec<Effect>) {
        let Some(Dialog::Editor(editor)) = self.dialogs.last() else { return };
        if !editor.is_in_external_editor {
            effects.push(if kind == PickerKind::History { Effect::LoadHistory } else { Effect::LoadTemplates });
            self.dialogs.push(Dialog::Picker(Box::new(Picker::new(kind))));
        }
    }

    pub(super) fn open_drafts(&mut self, now: Time) {
        if self.store != StoreState::Read {
            return;
        }
        if self.draft_count() == 0 {
            self.notify(Severity::Info, "No drafts.", now);
            return;
        }
        let mut picker = Picker::new(PickerKind::Drafts);
        picker.set_entries(Ok(self.draft_entries()));
        self.dialogs.push(Dialog::Picker(Box::new(picker)));
    }

    /// Returns the number of drafts that are not blank.
    pub fn draft_count(&self) -> usize {
        self.drafts.values().filter(|text| !text.trim().is_empty()).count()
    }

    /// Returns the entries for the drafts in this order: new job, new job about pages, batch, follow-ups, undelivered
    /// prompts.
    fn draft_entries(&self) -> Vec<PickerEntry> {
        let order = |slot: &DraftTarget| match slot {
            DraftTarget::NewJob => (0, 0),
            DraftTarget::AboutPages => (1, 0),
            DraftTarget::Batch => (2, 0),
            DraftTarget::FollowUp(job) => (3, job.0),
            DraftTarget::Prompt(prompt) => (4, prompt.0),
        };
        let mut drafts: Vec<_> = self.drafts.iter().filter(|(_, text)| !text.trim().is_empty()).collect();
        drafts.sort_by_key(|(slot, _)| order(slot));
        let entry = |(slot, text): (&DraftTarget, &String)| {
            PickerEntry::new(text.clone(), self.draft_title(*slot), Some(*slot))
        };
        drafts.into_iter().map(entry).collect()
    }

    fn draft_title(&self, slot: DraftTarget) -> CleanText {
        match slot {
            DraftTarget::NewJob => CleanText::line("New job"),
            DraftTarget::AboutPages => CleanText::line(&format!("New job about {}", short_list(&self.draft_pages))),
            DraftTarget::Batch => CleanText::line("New jobs from a list"),
            DraftTarget::FollowUp(job) => match self.jobs.get(job) {
                Some(row) => CleanText::line(&format!("Follow-up: {}", row.title)),
                None => CleanText::line("Follow-up to an untracked job"),
            },
            DraftTarget::Prompt(_) => CleanText::line("Undelivered prompt"),
        }
    }

    fn find_picker(&mut self, kind: PickerKind) -> Option<&mut Picker> {
        self.dialogs.iter_mut().rev().find_map(|dialog| match dialog {
            Dialog::Picker(picker) if picker.kind == kind => Some(picker.as_mut()),
            _ => None,
        })
    }

    /// Merges `other`, a draft that another instance has saved, into an editor that was just opened. Otherwise the
    /// editor's next save would overwrite that draft. If the editor already has a different text, the two texts are
    /// joined, so that neither is lost.
    pub(super) fn draft_read(&mut self, slot: DraftTarget, other: String, pages: &[CleanText], now: Time) {
        let own = self.drafts.get(&slot).map(String::as_str).unwrap_or_default();
        let own_is_blank = own.trim().is_empty();
        if other.trim().is_empty() || own.contains(other.as_str()) {
            return;
        }
        let text = if other.contains(own) { other } else { join_drafts(other, own) };
        let Some(editor) =
            self.editor().filter(|editor| editor.slot == slot && editor.draft_state == DraftState::Unchanged)
        else {
            return;
        };
        let message = if slot == DraftTarget::AboutPages {
            let message = load_other_draft(editor, &text, pages, !own_is_blank);
            self.draft_pages = editor.pages.clone();
            // An open picker is closed, because its templates are filled in for the editor's previous pages.
            self.dialogs.retain(|dialog| !matches!(dialog, Dialog::Picker(_)));
            message
        } else {
            editor.input = Editor::new(slot, editor.title.clone(), &text).input;
            "Loaded a draft from another docdeck on this computer.".to_owned()
        };
        self.drafts.insert(slot, text);
        self.notify(Severity::Info, &message, now);
    }

    /// Updates the list of drafts if it is open.
    fn refresh_drafts(&mut self) {
        let entries = self.draft_entries();
        let rows = self.geometry().picker_rows();
        let is_empty = entries.is_empty();
        if let Some(picker) = self.find_picker(PickerKind::Drafts) {
            picker.set_entries(Ok(entries));
            picker.list.keep_selected_visible(rows);
        }
        if is_empty {
            self.dialogs.retain(|dialog| !matches!(dialog, Dialog::Picker(open) if open.kind == PickerKind::Drafts));
        }
    }

    pub(super) fn history_read(&mut self, result: Result<Vec<String>, Failure>) {
        self.dirty = true;
        let entry = |text: String| {
            let lines = text.lines().count();
            let note = if lines > 1 { format::plural(lines, "line") } else { String::new() };
            PickerEntry::new(text, CleanText::line(&note), None)
        };
        if let Some(picker) = self.find_picker(PickerKind::History) {
            picker.set_entries(result.map(|prompts| prompts.into_iter().map(entry).collect()));
        }
    }

    pub(super) fn templates_read(&mut self, templates: Vec<Template>, now: Time) {
        self.dirty = true;
        let values = self.template_values(now);
        let pages = self.dialogs.iter().find_map(Dialog::as_editor).map_or(0, |editor| editor.pages.len());
        let mut templates = templates;
        if pages > 0 {
            templates.sort_by_key(|template| template_order(&template.text, pages));
        }
        let entry = |template: Template| PickerEntry::new(fill_template(&template.text, &values), template.name, None);
        if let Some(picker) = self.find_picker(PickerKind::Templates) {
            picker.set_entries(Ok(templates.into_iter().map(entry).collect()));
        }
    }

    /// Returns the values for template blanks. Most values describe the pages of a new job. The value of `job`
    /// describes the job of a follow-up or, on the jobs screen, the selected job.
    fn template_values(&self, now: Time) -> TemplateValues {
        let editor = self.dialogs.iter().find_map(Dialog::as_editor);
        let pages = editor.map(|editor| editor.pages.as_slice()).unwrap_or_default();
        let mut values =
            if pages.is_empty() { TemplateValues::default() } else { self.page_template_values(pages, now) };
        let named = |row: &Job| match &row.id {
            Some(id) => format!("\"{}\" ({})", row.title, id.clean()),
            None => format!("\"{}\"", row.title),
        };
        let job = match editor.map(|editor| editor.slot) {
            Some(DraftTarget::FollowUp(job)) => self.jobs.get(job),
            _ if self.screen == Screen::Jobs => self.jobs.selected(),
            _ => None,
        };
        values.job = job.map(named);
        values
    }

    /// Closes the picker. Opens the selected entry if it is a draft, otherwise inserts its text into the editor.
    pub(super) fn use_picked_text(&mut self, now: Time) {
        let Some(Dialog::Picker(picker)) = self.dialogs.last() else { return };
        let Some(entry) = picker.selected() else { return };
        let (text, slot) = (entry.text.clone(), entry.slot);
        let is_template = picker.kind == PickerKind::Templates;
        self.dialogs.pop();
        if let Some(slot) = slot {
            self.open_draft(slot, now);
            return;
        }
        let Some(Dialog::Editor(editor)) = self.dialogs.last_mut() else { return };
        match (editor.is_unchanged(), is_template) {
            (true, true) => editor.insert_template(&text),
            (true, false) => editor.change(now, |input| input.replace(&text)),
            (false, _) => editor.change(now, |input| input.paste(&text)),
        }
        if editor.input.has_blank() {
            let next = self.key_label(Context::Editor, Action::NextBlank);
            self.notify(Severity::Info, &format!("{next} goes to the next blank."), now);
        }
    }

    pub(super) fn open_draft(&mut self, slot: DraftTarget, now: Time) {
        let title = self.draft_title(slot);
        match slot {
            DraftTarget::NewJob => self.open_editor(slot, title, now),
            DraftTarget::AboutPages => {
                let title = title_of_job_about(&self.draft_pages);
                self.open_editor(slot, title, now);
            }
            DraftTarget::Batch => self.open_batch(now),
            DraftTarget::FollowUp(job) => {
                self.jobs.select(job);
                self.open_editor(slot, title, now);
            }
            DraftTarget::Prompt(prompt) => {
                let kind = self.detail.prompt(prompt).map_or(PromptKind::Create, |prompt| prompt.kind);
                let reason = self.detail.prompt(prompt).and_then(|prompt| prompt.delivery.reason().cloned());
                let text = self.drafts.get(&slot).cloned().unwrap_or_default();
                self.edit_as_same_prompt(prompt, kind, reason.unwrap_or_default(), &text);
            }
        }
    }

    pub(super) fn ask_to_delete_draft(&mut self) {
        let Some(Dialog::Picker(picker)) = self.dialogs.last() else { return };
        let Some((entry, slot)) = picker.selected().and_then(|entry| Some((entry, entry.slot?))) else { return };
        let characters = format::plural(entry.text.chars().count(), "character");
        let text = format!("Delete this draft ({}, {characters})? This can't be undone.", entry.note);
        self.open(ConfirmDialog { text, on_yes: ConfirmAction::DeleteDraft(slot) });
    }

    pub(super) fn delete_draft(&mut self, slot: DraftTarget, effects: &mut Vec<Effect>) {
        self.drafts.remove(&slot);
        effects.push(Effect::DeleteDraft(slot));
        self.refresh_drafts();
    }

    /// Saves the text as a draft and opens it in the external editor.
    pub(super) fn open_external_editor(&mut self, effects: &mut Vec<Effect>) {
        let Some(Dialog::Editor(editor)) = self.dialogs.last_mut() else { return };
        if editor.is_in_external_editor {
            return;
        }
        let text = editor.input.text();
        if editor.is_unsaved() {
            editor.draft_state = DraftState::Saving;
            effects.push(Effect::save_draft(editor.slot, text.clone(), &editor.pages));
        }
        editor.is_in_external_editor = true;
        effects.push(Effect::OpenExternalEditor(text));
    }

    /// Puts the text of the external editor, which has exited, into the prompt editor.
    pub(super) fn external_editor_closed(&mut self, result: Result<String, Failure>, now: Time) {
        self.dirty = true;
        let mut editors = self.dialogs.iter_mut().rev().filter_map(Dialog::as_editor_mut);
        let Some(editor) = editors.find(|editor| editor.is_in_external_editor) else { return };
        editor.is_in_external_editor = false;
        match result {
            Ok(text) => {
                // Many editors add a line feed at the end of a file, so it is removed unless the old text ended with
                // one.
                let ends = editor.input.text().ends_with('\n');
                let text = if ends { text.as_str() } else { text.trim_end_matches(['\n', '\r']) };
                editor.change(now, |input| input.replace(text));
            }
            Err(failure) => {
                editor.message = Some(CleanText::line(&format!("{} Your text is unchanged.", failure.message)));
            }
        }
    }
}

#[cfg(test)]
#[path = "prompt_sources_tests.rs"]
mod tests;
