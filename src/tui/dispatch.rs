//! Hands inputs and messages to the open dialogs.

use super::component::{Component, Cx, Flow};
use super::dialog::Dialog;
use super::log::LogComponent;
use super::views::screen::ViewsComponent;
use super::{App, Effect, Msg, Screen};
use crate::model::Time;

impl App {
    /// Opens a dialog on top of all others.
    pub fn open(&mut self, dialog: impl Component) {
        self.dialogs.push(Dialog::Component(Box::new(dialog)));
    }

    /// Returns the topmost dialog if it has this type.
    pub fn top<T: Component>(&self) -> Option<&T> {
        self.top_component()?.downcast_ref()
    }

    /// Returns the open dialog of this type. If there are several, returns the topmost of them.
    pub fn find<T: Component>(&self) -> Option<&T> {
        self.dialogs.iter().rev().find_map(|dialog| dialog.as_component()?.downcast_ref())
    }

    /// Returns the open dialog of this type. If there are several, returns the topmost of them.
    pub fn find_mut<T: Component>(&mut self) -> Option<&mut T> {
        self.dialogs.iter_mut().rev().find_map(|dialog| dialog.as_component_mut()?.downcast_mut())
    }

    /// Closes the open dialogs of this type for which `is_closed` is true.
    pub(super) fn close_all<T: Component>(&mut self, is_closed: impl Fn(&T) -> bool) {
        let closes = |dialog: &Dialog| dialog.as_component()?.downcast_ref().map(&is_closed);
        self.dialogs.retain(|dialog| closes(dialog) != Some(true));
    }

    /// Returns the topmost dialog or, if none is open, the current screen.
    pub(super) fn top_component(&self) -> Option<&dyn Component> {
        match self.dialogs.last() {
            Some(dialog) => dialog.as_component(),
            None => self.screen_component(),
        }
    }

    pub(super) fn screen_component(&self) -> Option<&'static dyn Component> {
        match self.screen {
            Screen::Views => Some(&ViewsComponent),
            Screen::Log => Some(&LogComponent),
            Screen::Jobs | Screen::Welcome => None,
        }
    }

    /// Lets the topmost dialog or, if none is open, the current screen handle an input.
    pub(super) fn dispatch(
        &mut self,
        now: Time,
        effects: &mut Vec<Effect>,
        handle: impl FnOnce(&mut dyn Component, &mut Cx<'_>) -> Flow,
    ) -> Flow {
        match self.dialogs.len().checked_sub(1) {
            Some(top) => self.dispatch_to(top, now, effects, handle),
            None => self.dispatch_to_screen(now, effects, handle),
        }
    }

    /// Lets the current screen handle an input.
    pub(super) fn dispatch_to_screen(
        &mut self,
        now: Time,
        effects: &mut Vec<Effect>,
        handle: impl FnOnce(&mut dyn Component, &mut Cx<'_>) -> Flow,
    ) -> Flow {
        let screen = self.screen;
        let mut cx = Cx { app: self, now, effects };
        match screen {
            Screen::Views => handle(&mut ViewsComponent, &mut cx),
            Screen::Log => handle(&mut LogComponent, &mut cx),
            Screen::Jobs | Screen::Welcome => Flow::Pass,
        }
    }

    /// Lets the dialog at an index of the stack handle something. It is not in the stack meanwhile, so that it can
    /// change the app and open other dialogs.
    fn dispatch_to(
        &mut self,
        at: usize,
        now: Time,
        effects: &mut Vec<Effect>,
        handle: impl FnOnce(&mut dyn Component, &mut Cx<'_>) -> Flow,
    ) -> Flow {
        if self.dialogs.get(at).is_none_or(|dialog| dialog.as_component().is_none()) {
            return Flow::Pass;
        }
        let mut dialog = self.dialogs.remove(at);
        let Some(component) = dialog.as_component_mut() else { return Flow::Pass };
        let flow = handle(component, &mut Cx { app: self, now, effects });
        if flow != Flow::Close {
            self.dialogs.insert(at.min(self.dialogs.len()), dialog);
        }
        self.dirty |= flow != Flow::Pass;
        flow
    }

    /// Offers a message to all dialogs, the topmost first. Returns the message if none of them handles it.
    pub(super) fn deliver(&mut self, msg: Msg, now: Time, effects: &mut Vec<Effect>) -> Option<Msg> {
        let mut unhandled = Some(msg);
        for at in (0..self.dialogs.len()).rev() {
            if self.dialogs.get(at).is_none_or(|dialog| dialog.as_component().is_none()) {
                continue;
            }
            let msg = unhandled.take()?;
            self.dispatch_to(at, now, effects, |dialog, cx| match dialog.receive(msg, cx) {
                Ok(flow) => flow,
                Err(msg) => {
                    unhandled = Some(msg);
                    Flow::Pass
                }
            });
        }
        unhandled
    }

    /// Adapts all dialogs to changed data or a changed size of the terminal.
    pub(super) fn refresh_dialogs(&mut self) {
        let mut dialogs = std::mem::take(&mut self.dialogs);
        dialogs.iter_mut().filter_map(Dialog::as_component_mut).for_each(|dialog| dialog.refresh(self));
        self.dialogs = dialogs;
    }
}
