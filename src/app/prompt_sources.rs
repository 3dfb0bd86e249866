//! Where the editor's text can come from besides the keys: prompts that were sent, templates, drafts, an editor of the
//! user's own.

use super::dialog::{ConfirmAction, ConfirmDialog, Dialog};
use super::editor::{DraftState, Editor, joined};
use super::keymap::{Action, Context};
use super::picker::{Picker, PickerEntry, Picking};
use super::templates::{TemplateValues, fill};
use super::views::page_job::{about_title, draft_about_read, for_pages, named};
use super::{App, Effect, Screen, Severity, StoreState, Template, format};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::prompt::{DraftSlot, PromptKind};
use crate::model::row::Job;
use crate::model::text::CleanText;

impl App {
    /// Opens the list of what can be taken into the editor.
    pub(super) fn open_picker(&mut self, picking: Picking, effects: &mut Vec<Effect>) {
        let Some(Dialog::Editor(editor)) = self.dialogs.last() else { return };
        if !editor.is_lent {
            effects.push(if picking == Picking::History { Effect::LoadHistory } else { Effect::LoadTemplates });
            self.dialogs.push(Dialog::Picker(Box::new(Picker::new(picking))));
        }
    }

    pub(super) fn open_drafts(&mut self, now: Time) {
        if self.store != StoreState::Read {
            return;
        }
        if self.draft_count() == 0 {
            self.notify(Severity::Info, "There are no drafts.", now);
            return;
        }
        let mut picker = Picker::new(Picking::Drafts);
        picker.take(Ok(self.draft_entries()));
        self.dialogs.push(Dialog::Picker(Box::new(picker)));
    }

    /// How many texts are kept that were not sent.
    pub fn draft_count(&self) -> usize {
        self.drafts.values().filter(|text| !text.trim().is_empty()).count()
    }

    /// The drafts: the new job's, that of one about pages, that of many at once, those of follow-ups, prompts that came back.
    fn draft_entries(&self) -> Vec<PickerEntry> {
        let order = |slot: &DraftSlot| match slot {
            DraftSlot::NewJob => (0, 0),
            DraftSlot::AboutPages => (1, 0),
            DraftSlot::Batch => (2, 0),
            DraftSlot::FollowUp(job) => (3, job.0),
            DraftSlot::Prompt(prompt) => (4, prompt.0),
        };
        let mut drafts: Vec<_> = self.drafts.iter().filter(|(_, text)| !text.trim().is_empty()).collect();
        drafts.sort_by_key(|(slot, _)| order(slot));
        let entry =
            |(slot, text): (&DraftSlot, &String)| PickerEntry::new(text.clone(), self.draft_title(*slot), Some(*slot));
        drafts.into_iter().map(entry).collect()
    }

    fn draft_title(&self, slot: DraftSlot) -> CleanText {
        match slot {
            DraftSlot::NewJob => CleanText::line("New job"),
            DraftSlot::AboutPages => CleanText::line(&format!("New job about {}", named(&self.draft_pages))),
            DraftSlot::Batch => CleanText::line("Many new jobs"),
            DraftSlot::FollowUp(job) => match self.jobs.get(job) {
                Some(row) => CleanText::line(&format!("Follow-up: {}", row.title)),
                None => CleanText::line("Follow-up to a job that is not here"),
            },
            DraftSlot::Prompt(_) => CleanText::line("A prompt that came back"),
        }
    }

    fn picker(&mut self, picking: Picking) -> Option<&mut Picker> {
        self.dialogs.iter_mut().rev().find_map(|overlay| match overlay {
            Dialog::Picker(picker) if picker.picking == picking => Some(picker.as_mut()),
            _ => None,
        })
    }

    /// Takes in what another instance left for the editor that was just opened: what is typed from here on would be written
    /// over it. Where both differ, one stands below the other, so that neither is lost.
    pub(super) fn draft_read(&mut self, slot: DraftSlot, theirs: String, pages: &[CleanText], now: Time) {
        let ours = self.drafts.get(&slot).map(String::as_str).unwrap_or_default();
        let ours_is_blank = ours.trim().is_empty();
        if theirs.trim().is_empty() || ours.contains(theirs.as_str()) {
            return;
        }
        let text = if theirs.contains(ours) { theirs } else { joined(theirs, ours) };
        let Some(editor) = self.editor().filter(|editor| editor.slot == slot && editor.saved == DraftState::Unchanged)
        else {
            return;
        };
        let said = if slot == DraftSlot::AboutPages {
            let said = draft_about_read(editor, &text, pages, !ours_is_blank);
            self.draft_pages = editor.pages.clone();
            // Its texts are filled for the pages that the editor was opened for.
            self.dialogs.retain(|overlay| !matches!(overlay, Dialog::Picker(_)));
            said
        } else {
            editor.input = Editor::new(slot, editor.title.clone(), &text).input;
            "A draft from another docdeck on this computer is here.".to_owned()
        };
        self.drafts.insert(slot, text);
        self.notify(Severity::Info, &said, now);
    }

    /// The drafts as they are now, where their list is open.
    fn list_drafts_again(&mut self) {
        let entries = self.draft_entries();
        let rows = self.geometry().picker_rows();
        let is_empty = entries.is_empty();
        if let Some(picker) = self.picker(Picking::Drafts) {
            picker.take(Ok(entries));
            picker.keep_in_sight(rows);
        }
        if is_empty {
            self.dialogs.retain(|overlay| !matches!(overlay, Dialog::Picker(open) if open.picking == Picking::Drafts));
        }
    }

    pub(super) fn history_read(&mut self, result: Result<Vec<String>, Failure>) {
        self.dirty = true;
        let entry = |text: String| {
            let lines = text.lines().count();
            let note = if lines > 1 { format::plural(lines, "line") } else { String::new() };
            PickerEntry::new(text, CleanText::line(&note), None)
        };
        if let Some(picker) = self.picker(Picking::History) {
            picker.take(result.map(|prompts| prompts.into_iter().map(entry).collect()));
        }
    }

    pub(super) fn templates_read(&mut self, templates: Vec<Template>, now: Time) {
        self.dirty = true;
        let values = self.values(now);
        let pages = self.dialogs.iter().find_map(Dialog::as_editor).map_or(0, |editor| editor.pages.len());
        let mut templates = templates;
        if pages > 0 {
            templates.sort_by_key(|template| for_pages(&template.text, pages));
        }
        let entry = |template: Template| PickerEntry::new(fill(&template.text, &values), template.name, None);
        if let Some(picker) = self.picker(Picking::Templates) {
            picker.take(Ok(templates.into_iter().map(entry).collect()));
        }
    }

    /// What the blanks of a template stand for here: the pages that a new job is about, the job that a follow-up is for
    /// or that is selected.
    fn values(&self, now: Time) -> TemplateValues {
        let editor = self.dialogs.iter().find_map(Dialog::as_editor);
        let pages = editor.map(|editor| editor.pages.as_slice()).unwrap_or_default();
        let mut values = if pages.is_empty() { TemplateValues::default() } else { self.page_values(pages, now) };
        let named = |row: &Job| match &row.id {
            Some(id) => format!("\"{}\" ({})", row.title, id.clean()),
            None => format!("\"{}\"", row.title),
        };
        let job = match editor.map(|editor| editor.slot) {
            Some(DraftSlot::FollowUp(job)) => self.jobs.get(job),
            _ if self.screen == Screen::Jobs => self.jobs.selected(),
            _ => None,
        };
        values.job = job.map(named);
        values
    }

    /// Enter in a list of texts.
    pub(super) fn take_picked(&mut self, now: Time) {
        let Some(Dialog::Picker(picker)) = self.dialogs.last() else { return };
        let Some(entry) = picker.selected() else { return };
        let (text, slot) = (entry.text.clone(), entry.slot);
        let is_template = picker.picking == Picking::Templates;
        self.dialogs.pop();
        if let Some(slot) = slot {
            self.open_draft(slot, now);
            return;
        }
        let Some(Dialog::Editor(editor)) = self.dialogs.last_mut() else { return };
        match (editor.is_unchanged(), is_template) {
            (true, true) => editor.take_template(&text),
            (true, false) => editor.change(now, |input| input.replace(&text)),
            (false, _) => editor.change(now, |input| input.paste(&text)),
        }
        if editor.input.has_blank() {
            let next = self.key_label(Context::Editor, Action::NextBlank);
            self.notify(Severity::Info, &format!("{next} goes to the next blank."), now);
        }
    }

    pub(super) fn open_draft(&mut self, slot: DraftSlot, now: Time) {
        let title = self.draft_title(slot);
        match slot {
            DraftSlot::NewJob => self.open_editor(slot, title, now),
            DraftSlot::AboutPages => {
                let title = about_title(&self.draft_pages);
                self.open_editor(slot, title, now);
            }
            DraftSlot::Batch => self.open_batch(now),
            DraftSlot::FollowUp(job) => {
                self.jobs.select(job);
                self.open_editor(slot, title, now);
            }
            DraftSlot::Prompt(prompt) => {
                let kind = self.detail.prompt(prompt).map_or(PromptKind::Create, |prompt| prompt.kind);
                let reason = self.detail.prompt(prompt).and_then(|prompt| prompt.delivery.reason().cloned());
                let text = self.drafts.get(&slot).cloned().unwrap_or_default();
                self.edit_again(prompt, kind, reason.unwrap_or_default(), &text);
            }
        }
    }

    pub(super) fn ask_to_delete_draft(&mut self) {
        let Some(Dialog::Picker(picker)) = self.dialogs.last() else { return };
        let Some((entry, slot)) = picker.selected().and_then(|entry| Some((entry, entry.slot?))) else { return };
        let characters = format::plural(entry.text.chars().count(), "character");
        let text = format!("Delete this draft ({}, {characters})? It can't be brought back.", entry.note);
        self.dialogs.push(Dialog::Question(ConfirmDialog { text, yes: ConfirmAction::DeleteDraft(slot) }));
    }

    pub(super) fn delete_draft(&mut self, slot: DraftSlot, effects: &mut Vec<Effect>) {
        self.drafts.remove(&slot);
        effects.push(Effect::DeleteDraft(slot));
        self.list_drafts_again();
    }

    /// Hands the text to the user's own editor; what is not on disk goes there first.
    pub(super) fn edit_outside(&mut self, effects: &mut Vec<Effect>) {
        let Some(Dialog::Editor(editor)) = self.dialogs.last_mut() else { return };
        if editor.is_lent {
            return;
        }
        let text = editor.input.text();
        if editor.is_unsaved() {
            editor.saved = DraftState::Writing;
            effects.push(Effect::save_draft(editor.slot, text.clone(), &editor.pages));
        }
        editor.is_lent = true;
        effects.push(Effect::EditOutside(text));
    }

    /// The user's own editor has ended.
    pub(super) fn edited_outside(&mut self, result: Result<String, Failure>, now: Time) {
        self.dirty = true;
        let mut editors = self.dialogs.iter_mut().rev().filter_map(Dialog::as_editor_mut);
        let Some(editor) = editors.find(|editor| editor.is_lent) else { return };
        editor.is_lent = false;
        match result {
            Ok(text) => {
                // Editors end a file with a line feed of their own.
                let ends = editor.input.text().ends_with('\n');
                let text = if ends { text.as_str() } else { text.trim_end_matches(['\n', '\r']) };
                editor.change(now, |input| input.replace(text));
            }
            Err(failure) => {
                editor.message = Some(CleanText::line(&format!("{} Your text is as it was.", failure.sentence)));
            }
        }
    }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
