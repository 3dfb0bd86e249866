//! The prompt editor: one text, the draft that it belongs to, and whether it is saved.

use super::keymap::Edit;
use super::text_input::TextInput;
use super::views::page_job::about_title;
use crate::model::Time;
use crate::model::prompt::{DraftSlot, PromptKind};
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use chrono::TimeDelta;

/// The time from the first unsaved change of a draft until it is saved.
pub const SAVE_AFTER: TimeDelta = TimeDelta::seconds(1);

/// Whether the text is saved as a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftState {
    /// Not changed since the editor was opened.
    Unchanged,
    /// To be saved at this time.
    Due(Time),
    /// Being saved.
    Saving,
    /// Saved at this time.
    Saved(Time),
    /// Saving failed; the editor shows this error.
    Failed(CleanText),
}

impl DraftState {
    /// Schedules saving after a change of the text.
    pub fn mark_changed(&mut self, now: Time) {
        if !matches!(self, Self::Due(_)) {
            *self = Self::Due(now + SAVE_AFTER);
        }
    }

    /// Whether there are unsaved changes.
    pub fn is_unsaved(&self) -> bool {
        matches!(self, Self::Due(_) | Self::Failed(_))
    }
}

#[derive(Debug)]
pub struct Editor {
    pub slot: DraftSlot,
    /// The kind of prompt that is sent. An undelivered prompt keeps its kind.
    pub kind: PromptKind,
    /// The jobs that a bulk follow-up is sent to; otherwise empty. The draft belongs to the first one.
    pub targets: Vec<JobKey>,
    /// The pages that a new job is about; otherwise empty.
    pub pages: Vec<CleanText>,
    /// `New job`, `Follow-up to …`.
    pub title: CleanText,
    pub input: TextInput,
    /// The initial text, if docdeck wrote it: unchanged, it counts as blank.
    initial: String,
    /// The text of the inserted template.
    template: String,
    /// Whether the text is open in an external editor.
    pub is_in_external_editor: bool,
    /// Why the prompt being edited was not delivered.
    pub last_failure: Option<CleanText>,
    pub saved: DraftState,
    /// A message below the text, such as why it was not sent.
    pub message: Option<CleanText>,
    /// Whether the user was warned about an unfilled `{{blank}}` since the last change. If so, the next send goes
    /// through.
    pub is_warned: bool,
}

impl Editor {
    /// The placeholder of an empty text. Only a new job takes its title from its prompt.
    pub fn placeholder(&self) -> &'static str {
        match self.kind {
            PromptKind::FollowUp => "What should the agent do next?",
            PromptKind::Create => "What should the agent do? The first line becomes the title.",
        }
    }

    pub fn new(slot: DraftSlot, title: CleanText, text: &str) -> Self {
        let is_follow_up = matches!(slot, DraftSlot::FollowUp(_));
        Self {
            slot,
            kind: if is_follow_up { PromptKind::FollowUp } else { PromptKind::Create },
            targets: Vec::new(),
            pages: Vec::new(),
            title,
            input: TextInput::block(text),
            initial: String::new(),
            template: String::new(),
            is_in_external_editor: false,
            last_failure: None,
            saved: DraftState::Unchanged,
            message: None,
            is_warned: false,
        }
    }

    /// Sets the initial text, with the cursor at the end of its first line.
    pub fn set_initial_text(&mut self, text: String) {
        self.input = TextInput::block(&text);
        self.input.edit(Edit::TextStart);
        self.input.edit(Edit::LineEnd);
        self.initial = text;
    }

    /// Whether the text is blank or still the initial one.
    pub fn is_unedited(&self) -> bool {
        self.input.is_blank() || (!self.initial.is_empty() && self.input.text().trim_end() == self.initial.trim_end())
    }

    /// Replaces an untyped text with a template, with the cursor at the top. It is saved as a draft only once it is
    /// changed.
    pub fn insert_template(&mut self, text: &str) {
        if !self.is_in_external_editor {
            self.input.replace(text);
            self.input.edit(Edit::TextStart);
            self.template = self.input.text();
            (self.message, self.is_warned) = (None, false);
        }
    }

    /// Whether the user has written nothing: the text is untyped or an unchanged template.
    pub fn is_unchanged(&self) -> bool {
        self.is_unedited() || (!self.template.is_empty() && self.input.text().trim_end() == self.template.trim_end())
    }

    /// Restores a text that could not be saved as a prompt, above the text typed since then.
    pub fn restore_text(&mut self, text: String, mut pages: Vec<CleanText>) {
        let typed = if self.is_unedited() { String::new() } else { self.input.text() };
        if !typed.is_empty() {
            pages.extend(self.pages.iter().filter(|page| !pages.contains(page)).cloned().collect::<Vec<_>>());
        }
        if !pages.is_empty() {
            self.title = about_title(&pages);
        }
        self.pages = pages;
        self.input.replace(&join_drafts(text, &typed));
    }

    /// Changes the text, unless it is open in an external editor. `change` returns whether the text changed.
    pub fn change(&mut self, now: Time, change: impl FnOnce(&mut TextInput) -> bool) {
        if !self.is_in_external_editor && change(&mut self.input) {
            self.touched(now);
        }
    }

    /// Clears messages and schedules saving after a change of the text.
    pub fn touched(&mut self, now: Time) {
        self.message = None;
        self.is_warned = false;
        self.saved.mark_changed(now);
    }

    pub fn is_unsaved(&self) -> bool {
        self.saved.is_unsaved()
    }
}

/// Joins two drafts to one text, so that neither is lost.
pub(super) fn join_drafts(first: String, second: &str) -> String {
    match (first.trim().is_empty(), second.trim().is_empty()) {
        (_, true) => first,
        (true, false) => second.to_owned(),
        (false, false) => format!("{first}\n\n{second}"),
    }
}
