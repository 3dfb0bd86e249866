//! The dialogs that are shown over a screen. They form a stack: key presses go to the topmost dialog, and Esc closes
//! it.

use super::Effect;
use super::all_jobs::AllJobs;
use super::batch::{BatchDialog, BatchStep};
use super::component::Component;
use super::editor::{DraftState, Editor};
use super::keymap::Context;
use super::picker::Picker;
use super::text_input::TextInput;
use crate::model::prompt::DraftTarget;

#[derive(Debug)]
pub enum Dialog {
    Editor(Box<Editor>),
    Picker(Box<Picker>),
    Batch(Box<BatchDialog>),
    /// The filter of the jobs or of the page views, while the user edits it in place.
    Filter(Box<TextInput>),
    AllJobs(Box<AllJobs>),
    Component(Box<dyn Component>),
}

impl Dialog {
    /// Scrolls the text input towards its start, as far as possible without hiding the cursor. Called after the size of
    /// the dialog has changed.
    pub(super) fn scroll_to_start(&mut self) {
        match self {
            Self::Editor(editor) => editor.input.reset_scroll(),
            Self::Batch(batch) => batch.input.reset_scroll(),
            Self::Component(dialog) => dialog.resized(),
            _ => {}
        }
    }

    /// Returns the context whose key bindings apply while the dialog is on top.
    pub fn context(&self) -> Context {
        match self {
            Self::Editor(_) => Context::Editor,
            Self::Picker(picker) if picker.takes_text() => Context::Picker,
            Self::Picker(_) => Context::Drafts,
            Self::Batch(batch) => match batch.step {
                BatchStep::Writing => Context::BatchText,
                _ => Context::Batch,
            },
            Self::Filter(_) => Context::Filter,
            Self::AllJobs(_) => Context::AllJobs,
            Self::Component(dialog) => dialog.context(),
        }
    }

    pub(super) fn as_component(&self) -> Option<&dyn Component> {
        match self {
            Self::Component(dialog) => Some(dialog.as_ref()),
            _ => None,
        }
    }

    pub(super) fn as_component_mut(&mut self) -> Option<&mut dyn Component> {
        match self {
            Self::Component(dialog) => Some(dialog.as_mut()),
            _ => None,
        }
    }

    /// Whether the dialog is of this type.
    pub fn is<T: Component>(&self) -> bool {
        self.as_component().is_some_and(|dialog| dialog.downcast_ref::<T>().is_some())
    }

    pub(super) fn as_editor(&self) -> Option<&Editor> {
        match self {
            Self::Editor(editor) => Some(editor),
            _ => None,
        }
    }

    pub(super) fn as_editor_mut(&mut self) -> Option<&mut Editor> {
        match self {
            Self::Editor(editor) => Some(editor),
            _ => None,
        }
    }

    /// Returns whether the typed text is saved as a draft. Returns `None` if the dialog has no draft or its text is
    /// open in an external editor.
    pub(super) fn draft_state(&self) -> Option<&DraftState> {
        match self {
            Self::Editor(editor) if !editor.is_in_external_editor => Some(&editor.draft_state),
            Self::Batch(batch) => Some(&batch.draft_state),
            _ => None,
        }
    }

    /// Returns the effect that saves the typed text as a draft, if it is not saved yet.
    pub(super) fn save_draft(&mut self) -> Option<Effect> {
        match self {
            Self::Component(dialog) => dialog.save_draft(),
            _ => self.save_draft_if(DraftState::is_unsaved),
        }
    }

    /// If the dialog has a draft and `is_due` returns true for the state of the draft, sets the state to `Saving` and
    /// returns the effect that saves the draft.
    pub(super) fn save_draft_if(&mut self, is_due: impl FnOnce(&DraftState) -> bool) -> Option<Effect> {
        if !self.draft_state().is_some_and(is_due) {
            return None;
        }
        let (slot, saved, input, pages) = match self {
            Self::Editor(editor) => (editor.slot, &mut editor.draft_state, &editor.input, editor.pages.as_slice()),
            Self::Batch(batch) => (DraftTarget::Batch, &mut batch.draft_state, &batch.input, [].as_slice()),
            _ => return None,
        };
        *saved = DraftState::Saving;
        Some(Effect::save_draft(slot, input.text(), pages))
    }

    /// Whether typed characters go to a text input rather than to key bindings.
    pub fn takes_text(&self) -> bool {
        match self {
            Self::Component(dialog) => dialog.takes_text(),
            Self::Editor(_) | Self::Filter(_) => true,
            Self::Picker(picker) => picker.takes_text(),
            Self::Batch(batch) => matches!(batch.step, BatchStep::Writing),
            Self::AllJobs(_) => false,
        }
    }
}
