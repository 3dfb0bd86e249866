//! The mouse: what lies under it comes from the geometry and from the words' own places, and what it does is what a key
//! does. Here are the wheel and the divider; `screens` has the clicks on a screen, `layers` those on a layer over it.

mod layers;
mod screens;
#[cfg(test)]
mod tests;

use super::batch::BatchStep;
use super::dialog::Dialog;
use super::geometry::{Arrangement, Geometry, PANE_COLUMNS, PANE_ROWS, is_usable};
use super::scroll::Scroll;
use super::{App, Effect, Pane, Screen, Severity, StoreState};
use crate::model::Time;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

/// Lines that a notch of the wheel scrolls.
const NOTCH: isize = 3;

/// What is known of the mouse.
#[derive(Debug)]
pub(super) struct Pointer {
    /// Whether the terminal reports it.
    on: bool,
    /// The divider is being dragged, held at its left or upper border (0) or at the other one (1).
    held: Option<u16>,
}

impl Pointer {
    pub(super) fn new(on: bool) -> Self {
        Self { on, held: None }
    }
}

/// The line of a list under a cell.
fn line_at(list: Rect, at: Position) -> Option<usize> {
    list.contains(at).then(|| usize::from(at.y - list.y))
}

impl App {
    /// Whether the mouse is reported: else the terminal selects text with it.
    pub fn has_mouse(&self) -> bool {
        self.pointer.on
    }

    /// The key that switches the mouse on or off.
    pub(super) fn toggle_mouse(&mut self, now: Time, effects: &mut Vec<Effect>) {
        self.pointer = Pointer::new(!self.pointer.on);
        effects.push(Effect::Mouse(self.pointer.on));
        let text = if self.pointer.on {
            "The mouse is on: wheel, clicks and the divider come to docdeck."
        } else {
            "The mouse is off: the terminal selects text with it."
        };
        self.notify(Severity::Info, text, now);
    }

    pub(super) fn mouse(&mut self, event: MouseEvent, now: Time, effects: &mut Vec<Effect>) {
        if !self.pointer.on || !is_usable(self.size) {
            return;
        }
        self.finish_alerts.focus(true);
        let at = Position::new(event.column, event.row);
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                (self.dirty, self.pointer.held) = (true, None);
                self.click(at, now, effects);
            }
            MouseEventKind::Drag(MouseButton::Left) => self.drag(at),
            MouseEventKind::Up(MouseButton::Left) => self.pointer.held = None,
            MouseEventKind::ScrollDown => self.wheel(at, NOTCH, now),
            MouseEventKind::ScrollUp => self.wheel(at, -NOTCH, now),
            _ => {}
        }
    }

    /// A filter that is being typed lies beside the screen's list; every other layer lies over it.
    fn screen_is_on_top(&self) -> bool {
        matches!(self.dialogs.last(), None | Some(Dialog::Filter(_)))
    }

    fn click(&mut self, at: Position, now: Time, effects: &mut Vec<Effect>) {
        let g = self.geometry();
        let is_said = self.is_said(at);
        self.tips.dismiss();
        if is_said {
            // What is said over the last lines hides what lies under it.
            return;
        }
        if g.footer.contains(at) {
            if !self.lists_a_part() {
                self.click_footer(usize::from(at.x), now, effects);
            }
            return;
        }
        let layers = self.dialogs.len();
        self.take_info();
        if !self.screen_is_on_top() {
            self.click_layer(at, now, effects);
        } else if g.header.contains(at) {
            self.click_header(usize::from(at.x), now, effects);
        } else {
            match self.screen {
                Screen::Jobs => self.click_jobs(at, now, effects),
                Screen::Views => self.click_views(at, now, effects),
                Screen::Log | Screen::Welcome => {}
            }
        }
        self.layer_opened(layers, effects);
    }

    /// Whether the jobs are not all read yet: a click could be meant for a line that is about to move.
    fn lists_a_part(&self) -> bool {
        self.store == StoreState::Reading && self.screen == Screen::Jobs
    }

    /// Whether something that is said stands there.
    fn is_said(&self, at: Position) -> bool {
        let lines = self.said(usize::from(self.size.0)).len();
        self.said_at(lines).contains(at)
    }

    fn drag(&mut self, at: Position) {
        let Some(side) = self.pointer.held else { return };
        let g = self.geometry();
        let to = |cell: u16| cell.saturating_add(1).saturating_sub(side);
        let kept = |cells: u16, whole: u16, least: u16| cells.clamp(least, whole.saturating_sub(least).max(least));
        let mut panes = self.panes;
        match g.arrangement {
            _ if !self.screen_is_on_top() || self.screen != Screen::Jobs => self.pointer.held = None,
            Arrangement::Alone => self.pointer.held = None,
            Arrangement::Right => panes.columns = Some(kept(to(at.x), g.body.width, PANE_COLUMNS)),
            Arrangement::Below => {
                panes.rows = Some(kept(to(at.y.saturating_sub(g.body.y)), g.body.height, PANE_ROWS));
            }
        }
        if super::geometry::geometry(self.size, panes) != g {
            self.panes = panes;
            self.detail.fit(self.geometry().detail_columns());
            self.dirty = true;
        }
    }

    fn wheel(&mut self, at: Position, by: isize, now: Time) {
        let g = self.geometry();
        if !self.screen_is_on_top() {
            if self.layer_area(g).is_some_and(|area| area.contains(at)) {
                self.dirty = true;
                self.wheel_layer(at, by, now);
            }
            return;
        }
        if !g.body.contains(at) {
            return;
        }
        self.dirty = true;
        match self.screen {
            Screen::Jobs if self.lists_jobs_at(g, at) => self.jobs.scroll_by(by, g.list_rows()),
            Screen::Jobs => {
                let pane = std::mem::replace(&mut self.pane, Pane::Detail);
                self.scroll(Scroll::By(by));
                self.pane = pane;
            }
            Screen::Views => self.views.table.scroll_by(by, g.views_rows()),
            Screen::Log => self.scroll(Scroll::By(by)),
            Screen::Welcome => {}
        }
    }

    /// Whether the list of jobs is seen there.
    fn lists_jobs_at(&self, g: Geometry, at: Position) -> bool {
        g.list.contains(at) && (g.shows_both() || self.pane == Pane::List)
    }

    /// Where the layer on top lies, if it has something to scroll.
    fn layer_area(&self, g: Geometry) -> Option<Rect> {
        Some(match self.dialogs.last()? {
            Dialog::Editor(_) => g.editor(),
            Dialog::Palette(_) => g.palette(),
            Dialog::Help(_) => g.help(),
            Dialog::Movers(_) => g.movers(),
            Dialog::Profiles(_) => g.profiles(self.config.profiles.len()),
            Dialog::Calendar(open) => super::views::months::Months::of(open, g.body).area,
            Dialog::Export(open) => open.area(g.body),
            Dialog::Ask(_) | Dialog::Question(_) | Dialog::Filter(_) | Dialog::Setup(_) => return None,
            Dialog::Picker(_)
            | Dialog::Batch(_)
            | Dialog::Resolve(_)
            | Dialog::AllJobs(_)
            | Dialog::Card(_)
            | Dialog::Trend(_)
            | Dialog::Kept(_) => g.layer(),
        })
    }

    fn wheel_layer(&mut self, at: Position, by: isize, now: Time) {
        let g = self.geometry();
        let is_text = match self.dialogs.last() {
            Some(Dialog::Editor(_)) => true,
            Some(Dialog::Batch(open)) => matches!(open.step, BatchStep::Writing),
            _ => false,
        };
        match self.dialogs.last_mut() {
            // The cursor goes along, as it has to stay in sight.
            _ if is_text => {
                let code = if by < 0 { KeyCode::Up } else { KeyCode::Down };
                (0..by.unsigned_abs()).for_each(|_| self.type_key(KeyEvent::new(code, KeyModifiers::NONE), now));
            }
            // A step there is more than a line.
            Some(Dialog::Calendar(_) | Dialog::Export(_) | Dialog::Trend(_)) => {
                self.scroll(Scroll::By(by.signum()));
            }
            Some(Dialog::Movers(open)) => open.scroll_at(at, by, g),
            Some(Dialog::Card(open)) => open.scroll_lines(by, g.layer_columns(), g.layer_rows()),
            _ => self.scroll(Scroll::By(by)),
        }
    }
}
