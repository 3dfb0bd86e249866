//! Text entry: applies keys and pastes to the text input of the topmost dialog or the setup form.

use super::component::Flow;
use super::dialog::Dialog;
use super::keymap::{Action, Context, Edit};
use super::text_input::TextInput;
use super::{App, Effect, Screen, Severity};
use crate::model::Time;
use crossterm::event::KeyEvent;

/// Typed or pasted text, or a command that edits text.
#[derive(Debug, Clone, Copy)]
pub enum TextEntry<'a> {
    Key(KeyEvent),
    Paste(&'a str),
    Edit(Edit),
}

impl TextEntry<'_> {
    /// Applies the entry to a text input. Returns whether the text has changed.
    pub(super) fn apply(self, input: &mut TextInput) -> bool {
        match self {
            Self::Key(key) => input.type_key(key),
            Self::Paste(text) => input.paste(text),
            Self::Edit(edit) => input.edit(edit),
        }
    }
}

impl App {
    pub(super) fn paste(&mut self, text: &str, now: Time, effects: &mut Vec<Effect>) {
        self.dirty = true;
        if !self.enter_text(TextEntry::Paste(text), now, effects) && self.screen != Screen::Welcome {
            let new = self.key_label(Context::Jobs, Action::NewJob);
            self.notify(
                Severity::Info,
                &format!("Nothing to paste into here. {new} opens the editor for a new job."),
                now,
            );
        }
    }

    /// Lets the topmost dialog handle typed text. Returns false if that dialog has no text input.
    pub(super) fn enter_text(&mut self, entry: TextEntry<'_>, now: Time, effects: &mut Vec<Effect>) -> bool {
        if self.dispatch(now, effects, |dialog, cx| dialog.enter_text(entry, cx)) != Flow::Pass {
            return true;
        }
        let change = |input: &mut TextInput| entry.apply(input);
        match self.dialogs.last_mut() {
            Some(Dialog::Filter(input)) => {
                change(input);
                self.apply_typed_filter();
            }
            _ => return false,
        }
        true
    }
}
