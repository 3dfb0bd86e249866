//! The prompt editor: one text, the slot it belongs to, and whether it is saved as a draft.

use super::keymap::Edit;
use super::text_input::TextInput;
use super::views::page_job::about_title;
use crate::model::Time;
use crate::model::prompt::{DraftSlot, PromptKind};
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use chrono::TimeDelta;

/// A draft is on disk this long after the first key that is not on disk yet.
pub const SAVE_AFTER: TimeDelta = TimeDelta::seconds(1);

/// Whether the text is on disk as a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftState {
    /// Nothing typed since the editor was opened.
    Unchanged,
    /// To be written at this time.
    Due(Time),
    /// Being written.
    Writing,
    /// On disk since then.
    At(Time),
    /// Could not be written; said in the editor.
    Failed(CleanText),
}

impl DraftState {
    /// The text changed.
    pub fn touched(&mut self, now: Time) {
        if !matches!(self, Self::Due(_)) {
            *self = Self::Due(now + SAVE_AFTER);
        }
    }

    /// Whether there is something typed that is not on disk.
    pub fn is_unsaved(&self) -> bool {
        matches!(self, Self::Due(_) | Self::Failed(_))
    }
}

/// The editor.
#[derive(Debug)]
pub struct Editor {
    pub slot: DraftSlot,
    /// What it will ask for; a prompt that came back is what it was.
    pub kind: PromptKind,
    /// The jobs that a follow-up to several goes to; empty for any other text. The draft is the first one's.
    pub targets: Vec<JobKey>,
    /// The pages that a new job is about; empty for any other text.
    pub pages: Vec<CleanText>,
    /// What is being written: `New job`, `Follow-up to …`.
    pub title: CleanText,
    pub input: TextInput,
    /// The text that it was opened with, where docdeck wrote that: as good as nothing typed.
    begun: String,
    /// The template that the text was replaced by.
    taken: String,
    /// The user's own editor has the text.
    pub is_lent: bool,
    /// Why a prompt that is edited was not delivered.
    pub last_failure: Option<CleanText>,
    pub saved: DraftState,
    /// Something to say under the text: why it wasn't sent.
    pub message: Option<CleanText>,
    /// A blank that is left was said since the last change: sending goes through.
    pub is_warned: bool,
}

impl Editor {
    /// What stands in an empty one. Only a new job takes its title from its prompt.
    pub fn invitation(&self) -> &'static str {
        match self.kind {
            PromptKind::FollowUp => "What should the agent do next?",
            PromptKind::Create => "What should the agent do? The first line becomes the title.",
        }
    }

    /// Opens on a text: a draft, or nothing.
    pub fn new(slot: DraftSlot, title: CleanText, text: &str) -> Self {
        let is_follow_up = matches!(slot, DraftSlot::FollowUp(_));
        Self {
            slot,
            kind: if is_follow_up { PromptKind::FollowUp } else { PromptKind::Create },
            targets: Vec::new(),
            pages: Vec::new(),
            title,
            input: TextInput::block(text),
            begun: String::new(),
            taken: String::new(),
            is_lent: false,
            last_failure: None,
            saved: DraftState::Unchanged,
            message: None,
            is_warned: false,
        }
    }

    /// Begins with a text that docdeck wrote, the cursor at the end of its first line.
    pub fn begin_with(&mut self, text: String) {
        self.input = TextInput::block(&text);
        self.input.edit(Edit::TextStart);
        self.input.edit(Edit::LineEnd);
        self.begun = text;
    }

    /// Whether there is nothing but what docdeck wrote.
    pub fn is_untyped(&self) -> bool {
        self.input.is_blank() || (!self.begun.is_empty() && self.input.text().trim_end() == self.begun.trim_end())
    }

    /// Puts a template in the place of a text that nobody typed, the cursor at its top. It is no draft before it is changed.
    pub fn take_template(&mut self, text: &str) {
        if !self.is_lent {
            self.input.replace(text);
            self.input.edit(Edit::TextStart);
            self.taken = self.input.text();
            (self.message, self.is_warned) = (None, false);
        }
    }

    /// Whether there is nothing of the user's own: what docdeck wrote, or a template as it is.
    pub fn is_unchanged(&self) -> bool {
        self.is_untyped() || (!self.taken.is_empty() && self.input.text().trim_end() == self.taken.trim_end())
    }

    /// Takes back a text that could not be saved as a prompt, above what was typed since.
    pub fn take_back(&mut self, text: String, mut pages: Vec<CleanText>) {
        let typed = if self.is_untyped() { String::new() } else { self.input.text() };
        if !typed.is_empty() {
            pages.extend(self.pages.iter().filter(|page| !pages.contains(page)).cloned().collect::<Vec<_>>());
        }
        if !pages.is_empty() {
            self.title = about_title(&pages);
        }
        self.pages = pages;
        self.input.replace(&joined(text, &typed));
    }

    /// Changes the text, unless the user's own editor has it; `change` returns whether it did.
    pub fn change(&mut self, now: Time, change: impl FnOnce(&mut TextInput) -> bool) {
        if !self.is_lent && change(&mut self.input) {
            self.touched(now);
        }
    }

    /// The text changed.
    pub fn touched(&mut self, now: Time) {
        self.message = None;
        self.is_warned = false;
        self.saved.touched(now);
    }

    /// Whether there is something typed that is not on disk.
    pub fn is_unsaved(&self) -> bool {
        self.saved.is_unsaved()
    }
}

/// Two drafts as one text, so that neither is lost.
pub(super) fn joined(first: String, second: &str) -> String {
    match (first.trim().is_empty(), second.trim().is_empty()) {
        (_, true) => first,
        (true, false) => second.to_owned(),
        (false, false) => format!("{first}\n\n{second}"),
    }
}
