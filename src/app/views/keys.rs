//! What the actions of the key table do on the screen of page views and on the layers over it.

use super::super::keymap::Action;
use super::super::overlay::{Overlay, Wanted};
use super::super::{App, Effect, Tone};
use super::calendar::Purpose;
use crate::model::Time;

impl App {
    pub(in crate::app) fn act_on_views(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        let effect = match action {
            Action::NextPage | Action::PreviousPage if self.views.table.is_tree() => {
                self.walk_tree(action == Action::NextPage);
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
                self.say(Tone::Info, "All pages are listed: g and G go to the ends.", now);
                None
            }
            Action::JumpToPage => {
                self.ask(Wanted::Page, "");
                None
            }
            Action::PageSize => {
                self.ask(Wanted::PageSize, "");
                None
            }
            Action::CustomRange => {
                self.open_calendar(Purpose::Show, now);
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
            Action::CompareWith if matches!(self.overlays.last(), Some(Overlay::Kept(_))) => {
                self.compare_with_kept(now, effects);
            }
            Action::CompareWith => self.open_calendar(Purpose::Compare, now),
            Action::NextPane => self.turn_movers(),
            Action::Metric if matches!(self.overlays.last(), Some(Overlay::Movers(_))) => self.weigh_movers(),
            Action::Trend => self.open_trend(now, effects),
            Action::Movers => self.open_movers(now),
            Action::NewJob => self.open_job_about_pages(now, effects),
            Action::BeforeAfter => self.ask_for_card_job(now, effects),
            Action::Open if matches!(self.overlays.last(), Some(Overlay::Movers(_))) => self.open_mover(now, effects),
            Action::Open => {
                if !self.views.table.toggle_folder() {
                    self.open_card(now, effects);
                }
            }
            Action::Export => self.open_export(now),
            Action::ListKept => self.open_kept(effects),
            _ => self.act_on_choice(action, now, effects),
        }
    }

    /// The keys of the layers in which a range or an export is chosen, else of the table of pages.
    fn act_on_choice(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        match (action, self.overlays.last_mut()) {
            (Action::NextDay, Some(Overlay::Calendar(open))) => open.move_days(1),
            (Action::PreviousDay, Some(Overlay::Calendar(open))) => open.move_days(-1),
            (Action::Today, Some(Overlay::Calendar(open))) => open.to_today(),
            (Action::OtherPart, Some(Overlay::Calendar(open))) => open.turn_focus(),
            (Action::CompareBefore(before), _) => self.take_before(before, now, effects),
            (Action::NextChoice, Some(Overlay::Export(_))) => self.change_export(true),
            (Action::PreviousChoice, Some(Overlay::Export(_))) => self.change_export(false),
            (_, None) => self.shape_table(action, now),
            _ => {}
        }
    }
}
