//! Mouse support. The geometry determines what is under the pointer, and a click does what a key would do there. This
//! file handles the wheel and the divider, `screens` handles clicks on a screen, and `dialogs` handles clicks on a
//! dialog.

mod dialogs;
mod screens;
#[cfg(test)]
mod tests;

use super::component::{Component, Cx, Flow};
use super::dialog::Dialog;
use super::geometry::{Geometry, JobsArrangement, MIN_PANE_COLUMNS, MIN_PANE_ROWS, is_usable};
use super::scroll::Scroll;
use super::{App, Effect, Pane, Screen, Severity, StoreState};
use crate::model::Time;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

/// How many lines one notch of the mouse wheel scrolls.
const LINES_PER_NOTCH: isize = 3;

#[derive(Debug)]
pub(super) struct Pointer {
    /// Whether mouse reporting is on.
    is_on: bool,
    /// The border of the divider that is being dragged: 0 for the left or upper border, 1 for the right or lower
    /// border. `None` while the divider is not being dragged.
    dragged_side: Option<u16>,
}

impl Pointer {
    pub(super) fn new(on: bool) -> Self {
        Self { is_on: on, dragged_side: None }
    }
}

/// Returns the index of the line at a cell of a list. `None` if the cell is outside the list.
pub(super) fn line_at(list: Rect, at: Position) -> Option<usize> {
    list.contains(at).then(|| usize::from(at.y - list.y))
}

impl App {
    /// Whether docdeck receives mouse events. Otherwise the terminal selects text with the mouse.
    pub fn is_mouse_on(&self) -> bool {
        self.pointer.is_on
    }

    pub(super) fn toggle_mouse(&mut self, now: Time, effects: &mut Vec<Effect>) {
        self.pointer = Pointer::new(!self.pointer.is_on);
        effects.push(Effect::SetMouse(self.pointer.is_on));
        let text = if self.pointer.is_on {
            "Mouse on: docdeck handles clicks and scrolling."
        } else {
            "Mouse off: the terminal selects text with it."
        };
        self.notify(Severity::Info, text, now);
    }

    pub(super) fn handle_mouse(&mut self, event: MouseEvent, now: Time, effects: &mut Vec<Effect>) {
        if !self.pointer.is_on || !is_usable(self.size) {
            return;
        }
        self.finish_alerts.set_focused(true);
        let at = Position::new(event.column, event.row);
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                (self.dirty, self.pointer.dragged_side) = (true, None);
                self.click(at, now, effects);
            }
            MouseEventKind::Drag(MouseButton::Left) => self.drag(at),
            MouseEventKind::Up(MouseButton::Left) => self.pointer.dragged_side = None,
            MouseEventKind::ScrollDown => self.wheel(at, LINES_PER_NOTCH, now, effects),
            MouseEventKind::ScrollUp => self.wheel(at, -LINES_PER_NOTCH, now, effects),
            _ => {}
        }
    }

    /// Whether clicks go to the current screen. They do if no dialog is open, or if the topmost dialog is a filter
    /// input, which doesn't cover the screen.
    fn screen_is_on_top(&self) -> bool {
        matches!(self.dialogs.last(), None | Some(Dialog::Filter(_)))
    }

    fn click(&mut self, at: Position, now: Time, effects: &mut Vec<Effect>) {
        let g = self.geometry();
        let is_on_message = self.has_message_at(at);
        self.tips.dismiss();
        if is_on_message {
            // The user can't see what is below the message.
            return;
        }
        if g.footer.contains(at) {
            if !self.is_list_partial() {
                self.click_footer(usize::from(at.x), now, effects);
            }
            return;
        }
        let count_before = self.dialogs.len();
        self.dismiss_info();
        if !self.screen_is_on_top() {
            self.click_dialog(at, now, effects);
        } else if g.header.contains(at) {
            self.click_header(usize::from(at.x), now, effects);
        } else {
            match self.screen {
                Screen::Jobs => self.click_jobs(at, now, effects),
                Screen::Views | Screen::Log => {
                    self.dispatch_to_screen(now, effects, |screen, cx| screen.click(at, cx));
                }
                Screen::Welcome => {}
            }
        }
        self.read_draft_of_new_editor(count_before, effects);
    }

    /// Whether the jobs list may still lack jobs, because the store is being read. Clicks on jobs and on the footer are
    /// then ignored, because the lines of the list may move just before a click.
    fn is_list_partial(&self) -> bool {
        self.store == StoreState::Reading && self.screen == Screen::Jobs
    }

    /// Whether a message is shown at a cell.
    fn has_message_at(&self, at: Position) -> bool {
        let lines = self.message_lines(usize::from(self.size.0)).len();
        self.message_area(lines).contains(at)
    }

    fn drag(&mut self, at: Position) {
        let Some(side) = self.pointer.dragged_side else { return };
        let g = self.geometry();
        let to = |cell: u16| cell.saturating_add(1).saturating_sub(side);
        let clamped = |cells: u16, whole: u16, min: u16| cells.clamp(min, whole.saturating_sub(min).max(min));
        let mut panes = self.panes;
        match g.arrangement {
            _ if !self.screen_is_on_top() || self.screen != Screen::Jobs => self.pointer.dragged_side = None,
            JobsArrangement::OneAtATime => self.pointer.dragged_side = None,
            JobsArrangement::Right => panes.columns = Some(clamped(to(at.x), g.body.width, MIN_PANE_COLUMNS)),
            JobsArrangement::Below => {
                panes.rows = Some(clamped(to(at.y.saturating_sub(g.body.y)), g.body.height, MIN_PANE_ROWS));
            }
        }
        if super::geometry::compute_layout(self.size, panes) != g {
            self.panes = panes;
            self.detail.set_width(self.geometry().detail_columns());
            self.dirty = true;
        }
    }

    fn wheel(&mut self, at: Position, by: isize, now: Time, effects: &mut Vec<Effect>) {
        let g = self.geometry();
        if !self.screen_is_on_top() {
            if self.dialog_area(g).is_some_and(|area| area.contains(at)) {
                self.dirty = true;
                self.wheel_dialog(at, by, now, effects);
            }
            return;
        }
        if !g.body.contains(at) {
            return;
        }
        self.dirty = true;
        match self.screen {
            Screen::Jobs if self.shows_list_at(g, at) => self.jobs.scroll_by(by, g.list_rows()),
            Screen::Jobs => {
                let pane = std::mem::replace(&mut self.pane, Pane::Detail);
                self.scroll(Scroll::By(by), now, effects);
                self.pane = pane;
            }
            Screen::Views | Screen::Log => {
                let wheel = |screen: &mut dyn Component, cx: &mut Cx<'_>| {
                    screen.wheel(at, by, cx);
                    Flow::Handled
                };
                self.dispatch_to_screen(now, effects, wheel);
            }
            Screen::Welcome => {}
        }
    }

    /// Whether the jobs list is visible at a cell.
    fn shows_list_at(&self, g: Geometry, at: Position) -> bool {
        g.list.contains(at) && (g.shows_both() || self.pane == Pane::List)
    }

    /// Returns the area of the topmost dialog. `None` if the dialog can't be scrolled.
    fn dialog_area(&self, g: Geometry) -> Option<Rect> {
        Some(match self.dialogs.last()? {
            Dialog::Component(dialog) => dialog.area(self),
            Dialog::Filter(_) => return None,
            Dialog::AllJobs(_) => g.full_dialog(),
        })
    }

    fn wheel_dialog(&mut self, at: Position, by: isize, now: Time, effects: &mut Vec<Effect>) {
        let wheel = |dialog: &mut dyn Component, cx: &mut Cx<'_>| {
            dialog.wheel(at, by, cx);
            Flow::Handled
        };
        if self.dispatch(now, effects, wheel) != Flow::Pass {
            return;
        }
        self.scroll(Scroll::By(by), now, effects);
    }
}
