//! Clicks on the layers over a screen: a line that is listed is chosen, the chosen one taken; a day, a choice or an answer
//! as well. Beside a layer, and on what is no target, nothing happens.

use super::super::batch::BatchStep;
use super::super::dialog::Dialog;
use super::super::geometry::Geometry;
use super::super::keymap::Action;
use super::super::text_input::TextInput;
use super::super::views::months::{CalendarTarget, Months};
use super::super::views::page_detail::PageDetailLine;
use super::super::{App, Effect};
use super::line_at;
use crate::model::Time;
use ratatui::layout::{Position, Rect};

/// A click into a text puts the cursor there.
fn point_at(input: &mut TextInput, text: Rect, at: Position) {
    if text.contains(at) {
        input.point_at(at.y - text.y, at.x - text.x);
    }
}

/// What a click on a layer comes to.
enum Hit {
    /// The key that takes what is chosen.
    Take(Action),
    /// One of the choices is another one now.
    Chosen,
    Nothing,
}

/// The line that is clicked of the lines in sight, told by which of them is chosen: how far it is from that one. None
/// where nothing stands there.
fn distance(list: Rect, at: Position, chosen: impl Iterator<Item = bool>) -> Option<isize> {
    let line = line_at(list, at)?;
    let lines: Vec<bool> = chosen.collect();
    lines.get(line)?;
    let from = lines.iter().position(|chosen| *chosen)?;
    isize::try_from(line).ok()?.checked_sub_unsigned(from)
}

impl App {
    pub(super) fn click_layer(&mut self, at: Position, now: Time, effects: &mut Vec<Effect>) {
        let g = self.geometry();
        if let Some(Dialog::Export(open)) = self.dialogs.last() {
            if let Some((part, choice)) = open.choice_at(g.body, at) {
                self.choose_export(part, choice);
            }
            return;
        }
        if let Some(Dialog::Calendar(open)) = self.dialogs.last() {
            let target = Months::of(open, g.body).at(open, at);
            self.click_calendar(target, now, effects);
            return;
        }
        if let Hit::Take(action) = self.hit_layer(g, at) {
            self.act(action, now, effects);
        }
    }

    fn hit_layer(&mut self, g: Geometry, at: Position) -> Hit {
        if let Some(Dialog::Question(question)) = self.dialogs.last() {
            let place = question.place(g, &self.answers(question));
            if place.yes.contains(at) {
                return Hit::Take(Action::Yes);
            }
            if place.no.contains(at) {
                self.dialogs.pop();
            }
            return Hit::Chosen;
        }
        let title = g.all_jobs_title();
        let to = |by: isize| move |at: usize, total: usize| super::super::scroll::moved(at, by, total);
        let by = match self.dialogs.last_mut() {
            Some(Dialog::Palette(open)) => {
                let rows = g.palette_rows();
                let by = distance(g.palette_lines(), at, open.visible(rows).map(|(_, chosen)| chosen));
                by.inspect(|by| open.move_to(to(*by), rows))
            }
            Some(Dialog::Picker(open)) => {
                let rows = g.picker_rows();
                let by = distance(g.picker_lines(), at, open.visible(rows).map(|(_, chosen)| chosen));
                by.inspect(|by| open.move_to(to(*by), rows))
            }
            Some(Dialog::Kept(open)) => {
                let rows = g.kept_rows();
                let by = distance(g.kept_lines(), at, open.visible(rows).map(|(_, chosen)| chosen));
                by.inspect(|by| open.move_to(to(*by), rows))
            }
            Some(Dialog::AllJobs(_)) if title.contains(at) => {
                let tab = self.tab_at(usize::from(at.x - title.x), usize::from(title.width));
                tab.into_iter().for_each(|tab| self.choose_tab(tab));
                return Hit::Chosen;
            }
            Some(Dialog::AllJobs(open)) => {
                let list = &mut open.list;
                let Some(line) = line_at(g.all_jobs_lines(), at) else { return Hit::Chosen };
                if list.folds_at(line) {
                    list.toggle_dismissed();
                }
                let Some(key) = list.visible_job(line) else { return Hit::Chosen };
                if list.selected().is_some_and(|row| row.key == key) {
                    return Hit::Take(Action::Open);
                }
                list.select(key);
                return Hit::Chosen;
            }
            Some(Dialog::Profiles(open)) => {
                let (total, failed) = (self.config.profiles.len(), open.said.is_some());
                let (lines, top) = (g.profile_lines(total, failed), open.top());
                let rows = g.profile_rows(total, failed);
                let chosen = (top..total.min(top.saturating_add(rows))).map(|at| at == open.selected());
                let by = distance(lines, at, chosen);
                by.filter(|by| *by != 0).into_iter().for_each(|by| open.move_to(to(by), rows, total));
                by
            }
            Some(Dialog::Editor(open)) => {
                point_at(&mut open.input, g.editor_text(), at);
                None
            }
            Some(Dialog::Batch(open)) => {
                // Queueing many is no thing of a click on one of them.
                if matches!(open.step, BatchStep::Writing) {
                    point_at(&mut open.input, g.batch_text(), at);
                } else if let (BatchStep::Preview(preview), Some(line)) = (&mut open.step, line_at(g.batch_lines(), at))
                {
                    let place = preview.top.saturating_add(line);
                    preview.move_to(|at, total| if place < total { place } else { at }, g.batch_rows());
                }
                None
            }
            Some(Dialog::Movers(open)) => {
                return if open.click(at, g) { Hit::Take(Action::Open) } else { Hit::Chosen };
            }
            Some(Dialog::Card(open)) => {
                let place = line_at(g.layer_lines(), at).map(|line| open.scroll.saturating_add(line));
                let lines = open.lines(g.layer_columns());
                return match place.and_then(|place| lines.get(place)) {
                    Some(PageDetailLine::Job(job)) if *job == open.selected => Hit::Take(Action::Open),
                    Some(PageDetailLine::Job(job)) => {
                        open.selected = *job;
                        Hit::Chosen
                    }
                    _ => Hit::Nothing,
                };
            }
            _ => None,
        };
        if by == Some(0) { Hit::Take(Action::Confirm) } else { Hit::Nothing }
    }

    /// A day has the cursor, then is picked, as with Enter; a quick choice is taken; the line has the keys.
    fn click_calendar(&mut self, target: Option<CalendarTarget>, now: Time, effects: &mut Vec<Effect>) {
        let Some(open) = self.calendar_on_top() else { return };
        match target {
            Some(CalendarTarget::Day(day)) if open.has_cursor_on(day) => self.act(Action::Confirm, now, effects),
            Some(CalendarTarget::Day(day)) => open.point_at(day),
            Some(CalendarTarget::Line) => open.focus_line(),
            Some(CalendarTarget::Before(before)) => self.take_before(before, now, effects),
            None => {}
        }
    }
}
