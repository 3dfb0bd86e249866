//! Drafts: whether typed text is saved, the list of drafts, and opening and restoring them.

use super::batch::Batch;
use super::editor::Editor;
use super::picker::{Picker, PickerEntry, PickerKind};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::prompt::{DraftTarget, PromptKind};
use crate::model::text::CleanText;
use crate::tui::draw::View;
use crate::tui::keymap::{Action, Context};
use crate::tui::views::page_detail::PageDetail;
use crate::tui::views::page_job::{short_list, title_of_job_about};
use crate::tui::{App, Effect, Severity, StoreState};
use chrono::TimeDelta;
use ratatui::style::Style;

/// The time from the first unsaved change of a draft until the draft is saved.
pub const DRAFT_SAVE_DELAY: TimeDelta = TimeDelta::seconds(1);

/// Whether the text is saved as a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftState {
    /// The text has not changed since the editor was opened.
    Unchanged,
    /// The text is to be saved at this time.
    Due(Time),
    /// The text is being saved.
    Saving,
    /// The text was saved at this time.
    Saved(Time),
    /// Saving failed. The editor shows this error.
    Failed(CleanText),
}

impl DraftState {
    /// Schedules saving after a change of the text.
    pub fn mark_changed(&mut self, now: Time) {
        if !matches!(self, Self::Due(_)) {
            *self = Self::Due(now + DRAFT_SAVE_DELAY);
        }
    }

    /// Whether there are unsaved changes.
    pub fn is_unsaved(&self) -> bool {
        matches!(self, Self::Due(_) | Self::Failed(_))
    }

    /// Returns the time at which the text has to be saved.
    pub fn due_at(&self) -> Option<Time> {
        match self {
            Self::Due(at) => Some(*at),
            _ => None,
        }
    }

    pub fn is_due(&self, now: Time) -> bool {
        self.due_at().is_some_and(|at| at <= now)
    }

    /// Changes the state to [`Self::Saving`] if there are unsaved changes. Returns whether there were any.
    pub fn start_saving(&mut self) -> bool {
        let is_unsaved = self.is_unsaved();
        if is_unsaved {
            *self = Self::Saving;
        }
        is_unsaved
    }

    /// Applies the result of saving.
    pub fn apply_saved(&mut self, result: Result<Time, Failure>) {
        match result {
            Ok(at) if *self == Self::Saving => *self = Self::Saved(at),
            Ok(_) => {}
            Err(failure) => *self = Self::Failed(failure.message),
        }
    }
}

/// Joins two drafts into one text, so that neither is lost.
pub(in crate::tui) fn join_drafts(first: String, second: &str) -> String {
    match (first.trim().is_empty(), second.trim().is_empty()) {
        (_, true) => first,
        (true, false) => second.to_owned(),
        (false, false) => format!("{first}\n\n{second}"),
    }
}

pub(super) fn close_key(view: View<'_>) -> String {
    view.app.contexts().first().map_or_else(String::new, |context| view.app.key_label(*context, Action::Close))
}

/// Returns the state of the draft as text, and its style.
pub(super) fn draft_state_text(view: View<'_>, saved: &DraftState) -> (String, Style) {
    let theme = view.theme;
    match saved {
        DraftState::Unchanged => (format!("{} closes and keeps the draft", close_key(view)), theme.muted),
        DraftState::Due(_) => ("draft not saved yet".to_owned(), theme.muted),
        DraftState::Saving => ("saving the draft…".to_owned(), theme.muted),
        DraftState::Saved(_) if view.app.config.is_demo => ("draft kept until the demo ends".to_owned(), theme.muted),
        DraftState::Saved(at) => {
            let at = at.with_timezone(&view.app.config.offset).format("%H:%M:%S");
            (format!("draft saved at {at}"), theme.muted)
        }
        DraftState::Failed(reason) => (format!("Could not save the draft: {reason}"), theme.warning),
    }
}

impl App {
    pub(in crate::tui) fn open_drafts(&mut self, now: Time) {
        if self.store != StoreState::Read {
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

    /// Updates the list of drafts if it is open. Closes it if there are no drafts.
    fn refresh_drafts(&mut self) {
        let entries = self.draft_entries();
        if entries.is_empty() {
            self.close_all::<Picker>(|picker| picker.kind == PickerKind::Drafts);
        } else if let Some(picker) = self.find_mut::<Picker>().filter(|picker| picker.kind == PickerKind::Drafts) {
            picker.set_entries(Ok(entries));
        }
    }

    pub(in crate::tui) fn open_draft(&mut self, slot: DraftTarget, now: Time) {
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

    pub(in crate::tui) fn delete_draft(&mut self, slot: DraftTarget, effects: &mut Vec<Effect>) {
        self.drafts.remove(&slot);
        effects.push(Effect::DeleteDraft(slot));
        self.refresh_drafts();
    }

    /// Turns a text that could not be saved as a prompt into a draft again, and shows the reason `why`. Opens the
    /// draft's editor unless another dialog was opened meanwhile.
    pub(in crate::tui) fn restore_draft(
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
        let open = self.find_mut::<Editor>().filter(|editor| editor.slot == slot && !editor.is_in_external_editor);
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
        if slot == DraftTarget::Batch {
            if let Some(batch) = self.find_mut::<Batch>() {
                batch.show_failure(why, now);
            }
        } else if let Some(editor) = self.find_mut::<Editor>().filter(|editor| editor.slot == slot) {
            editor.mark_changed(now);
            editor.message = Some(CleanText::line(&format!("{why} The text stays here; {copy} copies it.")));
        }
    }
}
