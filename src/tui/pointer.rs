//! Mouse input: clicks, dragging the divider between the panes, and the wheel. A click outside of the header and the
//! footer goes to the topmost dialog or, if none is open, to the screen.

use super::component::{Component, Cx, Flow};
use super::compose::editor::Editor;
use super::geometry::{JobsArrangement, MIN_PANE_COLUMNS, MIN_PANE_ROWS, is_usable};
use super::keymap::Action;
use super::state::Pointer;
use super::{App, Effect, Screen, Severity};
use crate::model::Time;
use crate::model::job::JobGroup;
use crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;
use unicode_width::UnicodeWidthStr as _;

/// How many lines one notch of the mouse wheel scrolls.
const LINES_PER_NOTCH: isize = 3;

impl App {
    /// Whether docdeck receives mouse events. Otherwise the terminal selects text with the mouse.
    pub fn is_mouse_enabled(&self) -> bool {
        self.pointer.is_mouse_enabled
    }

    pub(super) fn toggle_mouse(&mut self, now: Time, effects: &mut Vec<Effect>) {
        self.pointer = Pointer::new(!self.pointer.is_mouse_enabled);
        effects.push(Effect::SetMouse(self.pointer.is_mouse_enabled));
        let text = if self.pointer.is_mouse_enabled {
            "Mouse on: docdeck handles clicks and scrolling."
        } else {
            "Mouse off: select text with the terminal."
        };
        self.notify(Severity::Info, text, now);
    }

    pub(super) fn handle_mouse(&mut self, event: MouseEvent, now: Time, effects: &mut Vec<Effect>) {
        if !self.pointer.is_mouse_enabled || !is_usable(self.size) {
            return;
        }
        self.finish_alerts.set_focused(true);
        let at = Position::new(event.column, event.row);
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                (self.is_dirty, self.pointer.is_dragging) = (true, false);
                self.click(at, now, effects);
            }
            MouseEventKind::Drag(MouseButton::Left) => self.drag(at),
            MouseEventKind::Up(MouseButton::Left) => self.pointer.is_dragging = false,
            MouseEventKind::ScrollDown => self.scroll_with_wheel(at, LINES_PER_NOTCH, now, effects),
            MouseEventKind::ScrollUp => self.scroll_with_wheel(at, -LINES_PER_NOTCH, now, effects),
            _ => {}
        }
    }

    fn click(&mut self, at: Position, now: Time, effects: &mut Vec<Effect>) {
        let g = self.geometry();
        let is_on_message = self.has_message_at(at);
        self.tips.dismiss();
        if is_on_message {
            // A click on a message must not act on the rows that the message covers, because the user can't see these
            // rows.
            return;
        }
        if g.footer.contains(at) {
            if !self.is_list_partial() {
                self.click_footer(usize::from(at.x), now, effects);
            }
            return;
        }
        let count_before = self.dialogs.len();
        self.dismiss_or_shrink_notice();
        if g.header.contains(at) && self.topmost_modal_index().is_none() {
            self.click_header(usize::from(at.x), now, effects);
        } else {
            self.dispatch(now, effects, |component, cx| component.click(at, cx));
        }
        self.read_draft_of_new_editor(count_before, effects);
    }

    /// Whether a cell shows the list or the thread above an editor.
    fn is_above_editor(&self, at: Position) -> bool {
        let (g, is_editor) = (self.geometry(), self.top::<Editor>().is_some() && !self.has_dialog_under_editor());
        is_editor && self.panes.editor_rows > 0 && (g.list.contains(at) || g.detail.contains(at))
    }

    /// Whether a message is shown at a cell.
    fn has_message_at(&self, at: Position) -> bool {
        self.message_area(&self.message_lines(usize::from(self.size.0))).contains(at)
    }

    /// Presses the key whose hint in the footer was clicked.
    fn click_footer(&mut self, cell: usize, now: Time, effects: &mut Vec<Effect>) {
        let hints = self.footer(usize::from(self.size.0));
        let hit = hints.iter().find(|hint| (hint.start..hint.start + hint.width()).contains(&cell));
        if let Some(chord) = hit.map(|hint| hint.chord) {
            self.handle_key(KeyEvent::new(chord.code, chord.modifiers), now, effects);
        }
    }

    fn click_header(&mut self, cell: usize, now: Time, effects: &mut Vec<Effect>) {
        let header = self.header(usize::from(self.size.0), now);
        let hit = header.tabs.iter().find(|tab| (tab.start..tab.start + tab.text.width()).contains(&cell));
        let Some(screen) = hit.map(|tab| tab.screen) else { return };
        if screen == Screen::Jobs && self.screen == screen && self.jobs.count_of(JobGroup::NeedsYou) > 0 {
            // The tab shows the number of jobs that need the user, so a click on it selects the next of these jobs.
            self.run_action(Action::NextNeedsYou, now, effects);
        } else {
            self.close_filter_input();
            self.switch_screen(screen, now, effects);
        }
    }

    fn drag(&mut self, at: Position) {
        if !self.pointer.is_dragging {
            return;
        }
        let g = self.geometry();
        // One cell is between the panes.
        let clamped = |cells: u16, whole: u16, min: u16| cells.clamp(min, whole.saturating_sub(min + 1).max(min));
        let mut panes = self.panes;
        match g.arrangement {
            _ if self.topmost_modal_index().is_some() || self.screen != Screen::Jobs => {
                self.pointer.is_dragging = false
            }
            JobsArrangement::OneAtATime => self.pointer.is_dragging = false,
            JobsArrangement::SideBySide => panes.list_width = Some(clamped(at.x, g.content.width, MIN_PANE_COLUMNS)),
            JobsArrangement::Stacked => {
                panes.list_height = Some(clamped(at.y.saturating_sub(g.content.y), g.content.height, MIN_PANE_ROWS));
            }
        }
        if panes != self.panes {
            self.panes = panes;
            self.is_dirty = true;
        }
    }

    fn scroll_with_wheel(&mut self, at: Position, by: isize, now: Time, effects: &mut Vec<Effect>) {
        let covering = self.topmost_modal_index().and_then(|dialog| self.dialogs.get(dialog));
        let is_on_top = covering.map_or(self.geometry().body, |dialog| dialog.area(self)).contains(at);
        let scroll = |component: &mut dyn Component, cx: &mut Cx<'_>| {
            component.scroll_with_wheel(at, by, cx);
            Flow::Handled
        };
        self.is_dirty |= is_on_top || self.is_above_editor(at);
        if is_on_top {
            self.dispatch_to_modal_or_screen(now, effects, scroll);
        } else if self.is_above_editor(at) {
            self.dispatch_to_screen(now, effects, scroll);
        }
    }
}

#[cfg(test)]
#[path = "pointer_tests.rs"]
mod tests;
