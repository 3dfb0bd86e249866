//! Handles the actions of the page views screen and of its dialogs.

use super::super::component::Cx;
use super::super::dialog::InputField;
use super::super::keymap::Action;
use super::super::{App, Effect, Severity};
use super::cached_ranges::CachedRanges;
use super::calendar::{Calendar, CalendarPurpose};
use super::export::ExportDialog;
use super::movers::Movers;
use super::page_detail::PageDetail;
use super::trend::TrendDialog;
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
            Action::CompareWith => Calendar::open(CalendarPurpose::Compare, &mut Cx { app: self, now, effects }),
            Action::Trend => TrendDialog::open(&mut Cx { app: self, now, effects }),
            Action::Movers => Movers::open(&mut Cx { app: self, now, effects }),
            Action::NewJob => self.open_job_about_pages(now, effects),
            Action::Open => {
                if !self.views.table.toggle_folder() {
                    if let Some(path) = self.views.selected_row().map(|row| row.path.clone()) {
                        PageDetail::open(path, &mut Cx { app: self, now, effects });
                    }
                }
            }
            Action::Export => ExportDialog::open(&mut Cx { app: self, now, effects }),
            Action::ListCached => CachedRanges::open(&mut Cx { app: self, now, effects }),
            _ if self.dialogs.is_empty() => self.change_table(action, now),
            _ => {}
        }
    }
}
