//! Handles the actions of the page views screen and of its dialogs.

use super::super::component::Cx;
use super::super::dialog::{Dialog, InputField};
use super::super::keymap::Action;
use super::super::{App, Effect, Severity};
use super::calendar::{Calendar, CalendarPurpose};
use crate::model::Time;

impl App {
    pub(in crate::tui) fn act_on_views(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        let effect = match action {
            Action::NextPage | Action::PreviousPage if self.views.table.is_tree() => {
                self.navigate_tree(action == Action::NextPage);
                None
            }
            Action::NextPage => self.views.turn_page(true),
            Action::PreviousPage => self.views.turn_page(false),
            Action::NextRange => self.views.next_preset(now),
            Action::PeriodBefore | Action::PeriodAfter => {
                self.step_period(if action == Action::PeriodAfter { 1 } else { -1 }, now, effects);
                None
            }
            Action::JumpToPage if self.views.table.report().is_some() => {
                self.notify(Severity::Info, "All pages are listed: g and G go to the ends.", now);
                None
            }
            Action::JumpToPage => {
                self.open_input(InputField::Page, "");
                None
            }
            Action::PageSize => {
                self.open_input(InputField::PageSize, "");
                None
            }
            Action::CustomRange => {
                Calendar::open(CalendarPurpose::Show, &mut Cx { app: self, now, effects });
                None
            }
            _ => {
                self.act_on_table(action, now, effects);
                None
            }
        };
        effects.extend(effect);
    }

    fn act_on_table(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        match action {
            Action::LoadAll => self.load_all(now, effects),
            Action::Compare => self.compare(now, effects),
            Action::CompareWith if matches!(self.dialogs.last(), Some(Dialog::CachedRanges(_))) => {
                self.compare_with_cached(now, effects);
            }
            Action::CompareWith => Calendar::open(CalendarPurpose::Compare, &mut Cx { app: self, now, effects }),
            Action::NextPane => self.switch_movers_half(),
            Action::Metric if matches!(self.dialogs.last(), Some(Dialog::Movers(_))) => self.next_movers_metric(),
            Action::Trend => self.open_trend(now, effects),
            Action::Movers => self.open_movers(now),
            Action::NewJob => self.open_job_about_pages(now, effects),
            Action::BeforeAfter => self.confirm_impact_load_of_page(now, effects),
            Action::Open if matches!(self.dialogs.last(), Some(Dialog::Movers(_))) => {
                self.open_mover_details(now, effects)
            }
            Action::Open => {
                if !self.views.table.toggle_folder() {
                    self.open_selected_page(now, effects);
                }
            }
            Action::Export => self.open_export(now),
            Action::ListCached => self.open_cached_ranges(effects),
            _ => self.act_on_dialog_or_table(action, now),
        }
    }

    /// Handles the actions of the calendar and of the export dialog; without a dialog, the actions of the table of
    /// pages.
    fn act_on_dialog_or_table(&mut self, action: Action, now: Time) {
        match (action, self.dialogs.last_mut()) {
            (Action::NextChoice, Some(Dialog::Export(_))) => self.change_export(true),
            (Action::PreviousChoice, Some(Dialog::Export(_))) => self.change_export(false),
            (_, None) => self.change_table(action, now),
            _ => {}
        }
    }
}
