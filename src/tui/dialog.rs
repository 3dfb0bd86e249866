//! The dialogs that are shown over a screen. They form a stack: key presses go to the topmost dialog, and Esc closes
//! it.

use super::Effect;
use super::all_jobs::AllJobs;
use super::component::Component;
use super::keymap::Context;
use super::text_input::TextInput;

#[derive(Debug)]
pub enum Dialog {
    /// The filter of the jobs or of the page views, while the user edits it in place.
    Filter(Box<TextInput>),
    AllJobs(Box<AllJobs>),
    Component(Box<dyn Component>),
}

impl Dialog {
    /// Scrolls the text input towards its start, as far as possible without hiding the cursor. Called after the size of
    /// the dialog has changed.
    pub(super) fn scroll_to_start(&mut self) {
        if let Self::Component(dialog) = self {
            dialog.resized();
        }
    }

    /// Returns the context whose key bindings apply while the dialog is on top.
    pub fn context(&self) -> Context {
        match self {
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

    /// Returns the effect that saves the typed text as a draft, if it is not saved yet.
    pub(super) fn save_draft(&mut self) -> Option<Effect> {
        self.as_component_mut()?.save_draft()
    }

    /// Whether typed characters go to a text input rather than to key bindings.
    pub fn takes_text(&self) -> bool {
        match self {
            Self::Component(dialog) => dialog.takes_text(),
            Self::Filter(_) => true,
            Self::AllJobs(_) => false,
        }
    }
}
