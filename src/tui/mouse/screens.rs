//! Clicks on the header, the footer, the jobs and the page views.

use super::super::dialog::Dialog;
use super::super::geometry::JobsArrangement;
use super::super::keymap::Action;
use super::super::{App, Effect, Pane};
use super::line_at;
use crate::model::Time;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;
use unicode_width::UnicodeWidthStr as _;

impl App {
    /// Presses the key whose hint in the footer was clicked.
    pub(super) fn click_footer(&mut self, cell: usize, now: Time, effects: &mut Vec<Effect>) {
        let hints = self.footer(usize::from(self.size.0));
        let hit = hints.iter().find(|hint| (hint.at..hint.at + hint.width()).contains(&cell));
        if let Some(chord) = hit.map(|hint| hint.chord) {
            self.handle_key(KeyEvent::new(chord.code, chord.mods), now, effects);
        }
    }

    pub(super) fn click_header(&mut self, cell: usize, now: Time, effects: &mut Vec<Effect>) {
        let header = self.header(usize::from(self.size.0), now);
        let hit = header.tabs.iter().find(|tab| (tab.at..tab.at + tab.text.width()).contains(&cell));
        if let Some(screen) = hit.map(|tab| tab.screen) {
            self.close_filter_input();
            self.switch_screen(screen, now, effects);
        }
    }

    /// Closes the filter input and keeps the filter, as Enter does.
    pub(in crate::tui) fn close_filter_input(&mut self) {
        self.dialogs.pop_if(|dialog| matches!(dialog, Dialog::Filter(_)));
    }

    pub(super) fn click_jobs(&mut self, at: Position, now: Time, effects: &mut Vec<Effect>) {
        let g = self.geometry();
        let divider = g.divider();
        if divider.contains(at) {
            let side = if g.arrangement == JobsArrangement::Right { at.x - divider.x } else { at.y - divider.y };
            self.pointer.dragged_side = Some(side);
        } else if self.is_list_partial() {
            // The click is ignored, because the lines of a partial list may have moved just before the click.
        } else if self.shows_list_at(g, at) {
            let title = g.list_title();
            if title.contains(at) {
                let tab = self.tab_at(usize::from(at.x - title.x), usize::from(title.width));
                tab.into_iter().for_each(|tab| self.select_tab(tab));
                return;
            }
            let had_focus = std::mem::replace(&mut self.pane, Pane::List) == Pane::List;
            let Some(line) = line_at(g.list_lines(), at) else { return };
            if self.jobs.is_dismissed_heading(line) {
                self.jobs.toggle_dismissed();
                return;
            }
            let Some(key) = self.jobs.visible_job(line) else { return };
            if self.jobs.selected().is_none_or(|row| row.key != key) {
                self.jobs.select(key);
            } else if had_focus {
                self.close_filter_input();
                self.run_action(Action::Open, now, effects);
            }
        } else if g.detail.contains(at) && self.jobs.selected().is_some() {
            self.close_filter_input();
            self.pane = Pane::Detail;
        }
    }
}
