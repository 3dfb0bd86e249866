//! The prompt editor: one text, the draft that the text belongs to, and whether the text is saved.

use super::keymap::Edit;
use super::text_input::TextInput;
use super::views::page_job::title_of_job_about;
use crate::model::Time;
use crate::model::prompt::{DraftTarget, PromptKind};
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use chrono::TimeDelta;

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
}

#[derive(Debug)]
pub struct Editor {
    pub slot: DraftTarget,
    /// The kind of prompt that is sent. An undelivered prompt that the user edits keeps its kind.
    pub kind: PromptKind,
    /// The jobs that a bulk follow-up is sent to; empty for any other prompt. The draft belongs to the first of these
    /// jobs.
    pub targets: Vec<JobKey>,
    /// The pages that a new job is about; empty for any other prompt.
    pub pages: Vec<CleanText>,
    /// The title of the editor, such as `New job` or `Follow-up to …`.
    pub title: CleanText,
    pub input: TextInput,
    /// The initial text, if docdeck wrote it; otherwise empty. Until the user changes this text, the editor is treated
    /// as blank.
    initial: String,
    /// The text of the inserted template; empty if no template was inserted.
    template: String,
    /// Whether the text is open in an external editor.
    pub is_in_external_editor: bool,
    /// The reason why the prompt was not delivered, if the user is editing an undelivered prompt.
    pub last_failure: Option<CleanText>,
    pub draft_state: DraftState,
    /// A message below the text, such as the reason why the prompt was not sent.
    pub message: Option<CleanText>,
    /// Whether the user was warned about an unfilled `{{blank}}` since the text last changed. If so, the next attempt
    /// to send the prompt is not stopped.
    pub is_warned: bool,
}

impl Editor {
    /// Returns the hint that is shown while the text is empty. Only a new job takes its title from its prompt.
    pub fn placeholder(&self) -> &'static str {
        match self.kind {
            PromptKind::FollowUp => "What should the agent do next?",
            PromptKind::Create => "What should the agent do? The first line becomes the title.",
        }
    }

    pub fn new(slot: DraftTarget, title: CleanText, text: &str) -> Self {
        let is_follow_up = matches!(slot, DraftTarget::FollowUp(_));
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
            draft_state: DraftState::Unchanged,
            message: None,
            is_warned: false,
        }
    }

    /// Sets the initial text and moves the cursor to the end of its first line.
    pub fn set_initial_text(&mut self, text: String) {
        self.input = TextInput::block(&text);
        self.input.edit(Edit::TextStart);
        self.input.edit(Edit::LineEnd);
        self.initial = text;
    }

    /// Whether the text is blank or still the initial text.
    pub fn is_blank_or_initial(&self) -> bool {
        self.input.is_blank() || (!self.initial.is_empty() && self.input.text().trim_end() == self.initial.trim_end())
    }

    /// Replaces the text with a template and moves the cursor to its start. The template is saved as a draft only once
    /// the user changes it. Does nothing while the text is open in an external editor.
    pub fn insert_template(&mut self, text: &str) {
        if !self.is_in_external_editor {
            self.input.replace(text);
            self.input.edit(Edit::TextStart);
            self.template = self.input.text();
            (self.message, self.is_warned) = (None, false);
        }
    }

    /// Whether the user has not typed anything: the text is blank, the initial text or an unchanged template.
    pub fn is_unchanged(&self) -> bool {
        self.is_blank_or_initial()
            || (!self.template.is_empty() && self.input.text().trim_end() == self.template.trim_end())
    }

    /// Puts a text that could not be saved as a prompt back into the editor, above the text that the user has typed
    /// since then.
    pub fn restore_text(&mut self, text: String, mut pages: Vec<CleanText>) {
        let typed = if self.is_blank_or_initial() { String::new() } else { self.input.text() };
        if !typed.is_empty() {
            pages.extend(self.pages.iter().filter(|page| !pages.contains(page)).cloned().collect::<Vec<_>>());
        }
        if !pages.is_empty() {
            self.title = title_of_job_about(&pages);
        }
        self.pages = pages;
        self.input.replace(&join_drafts(text, &typed));
    }

    /// Changes the text, unless it is open in an external editor. `change` returns whether the text changed.
    pub fn change(&mut self, now: Time, change: impl FnOnce(&mut TextInput) -> bool) {
        if !self.is_in_external_editor && change(&mut self.input) {
            self.mark_changed(now);
        }
    }

    /// Clears the message and schedules saving, after the text has changed.
    pub fn mark_changed(&mut self, now: Time) {
        self.message = None;
        self.is_warned = false;
        self.draft_state.mark_changed(now);
    }

    pub fn is_unsaved(&self) -> bool {
        self.draft_state.is_unsaved()
    }
}

/// Joins two drafts into one text, so that neither is lost.
pub(super) fn join_drafts(first: String, second: &str) -> String {
    match (first.trim().is_empty(), second.trim().is_empty()) {
        (_, true) => first,
        (true, false) => second.to_owned(),
        (false, false) => format!("{first}\n\n{second}"),
    }
}
