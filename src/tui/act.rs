//! Runs the action of a pressed key on the topmost dialog or, if no dialog is open, on the current screen.

use super::component::Flow;
use super::dialog::Dialog;
use super::help::Help;
use super::input_dialog::InputField;
use super::keymap::{Action, Context};
use super::scroll::Scroll;
use super::text_entry::TextEntry;
use super::{App, Effect, Pane, Screen, Severity, StoreState};
use crate::model::Time;

impl App {
    pub(super) fn run_action(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        if self.dispatch(now, effects, |dialog, cx| dialog.act(action, cx)) != Flow::Pass {
            return;
        }
        if let Some(by) = Scroll::of_action(action) {
            return self.scroll(by, now, effects);
        }
        match action {
            Action::ShowJobs => self.switch_screen(Screen::Jobs, now, effects),
            Action::ShowViews => self.switch_screen(Screen::Views, now, effects),
            Action::ShowLog => self.switch_screen(Screen::Log, now, effects),
            Action::Help => self.open(Help::new(self.contexts())),
            Action::Palette => self.open_palette(),
            Action::Profiles => self.open_profiles(now),
            Action::NewProfile => self.open_new_profile(now),
            Action::SaveFilter => self.ask_filter_name(now),
            Action::AllJobs => self.open_all_jobs(now, effects),
            Action::Mouse => self.toggle_mouse(now, effects),
            Action::Repaint => effects.push(Effect::Repaint),
            Action::Suspend => effects.push(Effect::Suspend),
            Action::Close => self.close_or_clear(now, effects),
            Action::Interrupt if self.has_something_to_close() && !self.is_asking_to_quit() => {
                self.close_or_clear(now, effects)
            }
            Action::Quit if !self.dialogs.is_empty() => self.close(now, effects),
            Action::Quit if self.has_dialog_or_detail() => self.close_or_clear(now, effects),
            Action::Interrupt | Action::Quit => self.quit(effects),
            Action::Edit(edit) => {
                self.enter_text(TextEntry::Edit(edit), now, effects);
            }
            Action::Confirm => {
                self.dialogs.pop_if(|dialog| matches!(dialog, Dialog::Filter(_)));
            }
            Action::CopyMain => self.copy_main(now, effects),
            action if matches!(self.dialogs.last(), Some(Dialog::AllJobs(_))) => {
                self.act_on_all_jobs(action, now, effects);
            }
            Action::Refresh => self.refresh(now, effects),
            action if self.screen == Screen::Jobs => self.act_on_jobs(action, now, effects),
            _ => {}
        }
    }

    fn act_on_jobs(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        match action {
            Action::NewJob => self.open_new_job(now),
            Action::FollowUp => self.follow_up(now),
            Action::Open => self.open_detail(effects),
            Action::Peek => {
                self.mark_selected_seen(effects);
                if !self.geometry().shows_both() && self.jobs.selected().is_some() {
                    self.pane = Pane::Detail;
                }
            }
            Action::NextPane => {
                self.pane = match self.pane {
                    Pane::List if self.jobs.selected().is_some() => Pane::Detail,
                    _ => Pane::List,
                }
            }
            Action::ToggleDetail => self.toggle_detail(now),
            Action::OpenPr => self.open_prs(now, effects),
            Action::CopyId => self.copy_id(effects),
            Action::Dismiss => self.dismiss(now, effects),
            Action::MarkDone => self.mark_done(now, effects),
            Action::Undo => self.undo_last_change(now, effects),
            Action::FoldDismissed => self.jobs.toggle_dismissed(),
            Action::Track if self.store == StoreState::Read => self.open_input(InputField::TrackId, ""),
            Action::Resolve => self.open_undelivered(now),
            Action::Drafts => self.open_drafts(now),
            Action::Batch => self.open_batch(now),
            Action::BeforeAfter => self.confirm_impact_load(now, effects),
            Action::QueuePause | Action::QueueUp | Action::QueueDown | Action::QueueRemove => {
                self.change_queue(action, now, effects);
            }
            _ => self.act_on_list(action, now, effects),
        }
    }

    pub(super) fn copy_id(&self, effects: &mut Vec<Effect>) {
        if let Some(id) = self.active_list().selected().and_then(|row| row.id.as_ref()) {
            effects.push(Effect::copy(&format!("the job id {}", id.clean()), id.clean().to_string()));
        }
    }

    pub(super) fn act_on_list(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        match action {
            Action::Filter => self.open_filter(),
            Action::NextTab => self.switch_tab(true, now),
            Action::PreviousTab => self.switch_tab(false, now),
            Action::NextSort => self.next_sort(),
            Action::ReverseSort => self.reverse_sort(),
            Action::Mark => self.active_list_mut().toggle_mark(),
            Action::MarkRange => self.active_list_mut().mark_range(),
            Action::Rename => self.ask_title(),
            Action::Tags => self.ask_tags(),
            Action::Note => self.ask_note(),
            Action::Export => self.export_or_confirm(now, effects),
            _ => {}
        }
    }

    /// Whether a dialog is open, or the job details are shown in place of the list.
    pub(super) fn has_dialog_or_detail(&self) -> bool {
        !self.dialogs.is_empty() || (self.pane == Pane::Detail && !self.geometry().shows_both())
    }

    /// Whether Esc has something to close, clear or stop.
    pub(super) fn has_something_to_close(&self) -> bool {
        let has_something_to_clear = match self.screen {
            Screen::Jobs => self.jobs.marked_count() > 0 || !self.filter_text().trim().is_empty(),
            Screen::Views => {
                self.views.all_pages.can_stop() || self.views.table.marked_count() > 0 || self.views.table.is_filtered()
            }
            Screen::Welcome | Screen::Log => false,
        };
        !self.dialogs.is_empty() || self.pane == Pane::Detail || has_something_to_clear
    }

    /// Closes the topmost dialog. If no dialog is open, leaves the job details, stops loading, or clears the marks or
    /// the filter, whichever applies first. If nothing applies, clears the notice.
    fn close_or_clear(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if !self.dialogs.is_empty() && self.dispatch(now, effects, |dialog, cx| dialog.close(cx)) != Flow::Pass {
            return;
        }
        let is_jobs_screen = self.screen == Screen::Jobs;
        match self.dialogs.last().map(Dialog::context) {
            Some(Context::Filter) => {
                self.dialogs.pop();
                self.clear_filter();
            }
            Some(Context::AllJobs) if self.warn_before_clearing_marks(self.active_list().marked_count(), now) => {}
            Some(Context::AllJobs) if self.active_list().marked_count() > 0 => self.active_list_mut().clear_marks(),
            Some(Context::AllJobs) if self.clear_filter() => {}
            Some(_) => self.close(now, effects),
            None if self.pane == Pane::Detail => self.pane = Pane::List,
            None if is_jobs_screen && self.warn_before_clearing_marks(self.jobs.marked_count(), now) => {}
            None if is_jobs_screen && self.jobs.marked_count() > 0 => self.jobs.clear_marks(),
            None if is_jobs_screen && self.clear_filter() => {}
            None if self.dispatch_to_screen(now, effects, |screen, cx| screen.close(cx)) == Flow::Handled => {}
            None => self.notice = None,
        }
    }

    /// Moves the focus to the details of the selected job and marks it as seen.
    fn open_detail(&mut self, effects: &mut Vec<Effect>) {
        if self.jobs.selected().is_some() {
            self.mark_selected_seen(effects);
            self.pane = Pane::Detail;
        }
    }

    fn mark_selected_seen(&mut self, effects: &mut Vec<Effect>) {
        let selected = self.jobs.selected().map(|row| row.key);
        self.mark_seen(selected.as_slice(), effects);
    }

    fn copy_main(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if matches!(self.dialogs.last(), Some(Dialog::AllJobs(_)))
            || self.dialogs.is_empty() && self.screen == Screen::Jobs
        {
            self.copy_links(now, effects);
        }
    }

    fn refresh(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if self.screen != Screen::Jobs {
            return;
        }
        match self.jobs.selected() {
            Some(row) if row.id.is_some() => {
                effects.push(Effect::CheckJob(row.key));
                self.notify(Severity::Info, "Checking this job…", now);
            }
            Some(_) => self.notify(Severity::Info, "This job has no id yet, so it can't be checked.", now),
            None => {}
        }
    }
}
