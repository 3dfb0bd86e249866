//! Text entry: applies keys and pastes to the text input of the topmost dialog or the setup form.

use super::batch::BatchStep;
use super::component::{Component, Cx, Flow};
use super::dialog::{Dialog, InputCheck};
use super::keymap::{Action, Context, Edit};
use super::text_input::TextInput;
use super::{App, Effect, Screen, Severity};
use crate::model::Time;
use crossterm::event::KeyEvent;

impl App {
    pub(super) fn edit(&mut self, edit: Edit, now: Time, effects: &mut Vec<Effect>) {
        if !self.edit_on_welcome(edit) {
            self.change_text(now, effects, |input| input.edit(edit));
        }
    }

    pub(super) fn type_key(&mut self, key: KeyEvent, now: Time, effects: &mut Vec<Effect>) {
        if !self.type_on_welcome(key) {
            self.change_text(now, effects, |input| input.type_key(key));
        }
    }

    pub(super) fn paste(&mut self, text: &str, now: Time, effects: &mut Vec<Effect>) {
        self.dirty = true;
        let is_pasted = self.paste_on_welcome(text) || self.change_text(now, effects, |input| input.paste(text));
        if !is_pasted && self.screen != Screen::Welcome {
            let new = self.key_label(Context::Jobs, Action::NewJob);
            self.notify(
                Severity::Info,
                &format!("Nothing to paste into here. {new} opens the editor for a new job."),
                now,
            );
        }
    }

    /// Applies `change` to the text input of the topmost dialog. Returns false if that dialog has no text input.
    fn change_text(&mut self, now: Time, effects: &mut Vec<Effect>, change: impl Fn(&mut TextInput) -> bool) -> bool {
        let type_text = |dialog: &mut dyn Component, cx: &mut Cx<'_>| {
            let Some(input) = dialog.input() else { return Flow::Pass };
            if change(input) {
                dialog.input_changed(cx);
            }
            Flow::Handled
        };
        if self.dispatch(now, effects, type_text) != Flow::Pass {
            return true;
        }
        match self.dialogs.last_mut() {
            Some(Dialog::Editor(editor)) => editor.change(now, change),
            Some(Dialog::Input(ask)) => {
                if change(&mut ask.input) && ask.check != InputCheck::Running {
                    ask.check = InputCheck::NotStarted;
                }
            }
            // The list is narrowed only if the text changed, so that moving the cursor keeps the selected entry.
            Some(Dialog::Palette(palette)) => {
                if change(&mut palette.input) {
                    palette.narrow();
                }
            }
            Some(Dialog::Picker(picker)) if picker.takes_text() => {
                if change(&mut picker.filter) {
                    picker.narrow();
                }
            }
            Some(Dialog::Batch(batch)) if matches!(batch.step, BatchStep::Writing) => {
                if change(&mut batch.input) {
                    batch.message = None;
                    batch.draft_state.mark_changed(now);
                }
            }
            Some(Dialog::Filter(input)) => {
                change(input);
                self.apply_typed_filter();
            }
            Some(Dialog::Help(help)) if help.is_typing() => help.edit_query(change),
            _ => return false,
        }
        true
    }

    /// Goes to the next template blank in the text, or inserts a tab if there is no blank.
    pub(super) fn next_blank(&mut self, now: Time, effects: &mut Vec<Effect>) {
        self.change_text(now, effects, |input| input.next_blank() || input.edit(Edit::Tab));
    }
}
