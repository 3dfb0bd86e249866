//! Applies messages to the state, mostly by calling the module that is responsible for the message.

use super::component::{Flow, TextEntry};
use super::compose::editor::Editor;
use super::jobs::JobLine;
use super::jobs::messages::JobsEffect;
use super::keymap::{Action, Chord, Context};
use super::{App, Effect, Msg, Pane, Screen, Severity, StoreState};
use crate::model::Time;
use crate::model::connection::ConnectionState;
use crate::model::engine_event::EngineEvent;
use crate::model::job::JobKey;
use crate::model::ledger::Quota;
use chrono::TimeDelta;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind};
use zeroize::Zeroizing;

/// How long shortcuts are ignored after a text input closed while the user may still have been typing.
const SHORTCUT_LOCKOUT: TimeDelta = TimeDelta::milliseconds(500);

impl App {
    /// Handles a message. Returns the effects, in the order in which they have to be started.
    pub fn update(&mut self, msg: Msg, now: Time) -> Vec<Effect> {
        self.updated_at = now;
        self.only_moves_selection = false;
        // `only_moves_selection` describes the whole update only if the message is a key press. Other messages, such as
        // the first jobs, may run queued keys that move the selection, but also change other parts of the screen.
        let is_key = matches!(msg, Msg::Input(Event::Key(_)));
        let mut effects = Vec::new();
        // The number of open text inputs, to find out whether the message closes one of them. `None` for input events,
        // because `handle_key` itself records when a key closes a text input.
        let open_inputs = (!matches!(msg, Msg::Input(_))).then(|| self.open_text_dialog_count());
        if let Some(msg) = self.deliver(msg, now, &mut effects) {
            self.handle_message(msg, now, &mut effects);
        }
        if open_inputs.is_some_and(|open| self.open_text_dialog_count() < open) {
            self.input_closed_at = Some(now);
        }
        self.after_update(&mut effects);
        self.show_tip(now, &mut effects);
        self.schedule_layout_save(now);
        self.show_finish_alerts(now, &mut effects);
        self.content_version += u64::from(!(is_key && self.only_moves_selection));
        effects
    }

    fn handle_message(&mut self, msg: Msg, now: Time, effects: &mut Vec<Effect>) {
        match msg {
            Msg::Jobs(msg) => self.handle_jobs_msg(msg, now, effects),
            Msg::Prompts(msg) => self.handle_prompts_msg(msg, now, effects),
            Msg::Views(msg) => self.handle_views_msg(msg, now, effects),
            Msg::Analytics(msg) => self.handle_analytics_msg(msg, now, effects),
            Msg::Profiles(msg) => self.handle_profiles_msg(msg, now, effects),
            Msg::Input(event) => self.handle_input(event, now, effects),
            Msg::Engine(event) => self.handle_engine_event(event, now, effects),
            // The notice was already shown, at the start or after an earlier message.
            Msg::StoreReadOnly if self.config.read_only => {}
            Msg::StoreReadOnly => self.set_read_only(now),
            Msg::FileExists(file) => self.ask_to_overwrite(file, now),
            Msg::FilterSaved { filter, result } => self.apply_filter_save_result(filter, result, now),
            Msg::ActionFinished { success_notice, result } => match result {
                Ok(()) => self.notify(Severity::Info, success_notice.as_str(), now),
                Err(failure) => self.notify_failure(&failure, now),
            },
            Msg::LayoutLoaded(key, saved) => self.apply_loaded_layout(&key, saved.as_ref(), now),
            Msg::Timer => self.handle_timer(now, effects),
            Msg::TeamDisconnected => effects.push(Effect::SuspendNow),
            Msg::Resumed => {
                self.is_dirty = true;
                self.detail.prefetched.clear();
                effects.push(Effect::Redraw);
            }
            Msg::Terminate => self.save_and_quit(effects),
        }
    }

    /// Does what is necessary after every message, such as making the selection visible, showing the selected job in
    /// the details, prefetching the threads of jobs near it, and reporting the visible working jobs to the engine.
    pub(super) fn after_update(&mut self, effects: &mut Vec<Effect>) {
        if self.has_nothing_to_select() {
            self.pane = Pane::List;
        }
        self.panes.editor_rows = self.find::<Editor>().map_or(0, |editor| editor.rows_below_thread(self));
        let g = self.geometry();
        // The width is set after every message, because it changes not only with the size of the terminal: a longer
        // title widens the list, which makes the details narrower.
        self.detail.set_width(g.detail_columns());
        self.jobs.keep_selected_visible(self.rows_not_covered_by_message(g.list_lines()));
        if self.screen == Screen::Analytics {
            self.views.table.show_selection(self.rows_not_covered_by_message(self.views_areas().lines));
        }
        if let Some(open) = &mut self.all_jobs {
            open.list.keep_selected_visible(g.all_jobs_rows());
        }
        self.refresh_dialogs();
        self.drop_unused_comparison();
        self.load_shown_tab(self.updated_at, effects);
        let selected = self.jobs.selected().map(|row| (row.key, row.revision));
        effects.extend(self.detail.show(selected).map(JobsEffect::LoadThread).map(Effect::Jobs));
        effects
            .extend(self.detail.job_pages.show(self.jobs.selected()).map(JobsEffect::LoadJobImpact).map(Effect::Jobs));
        effects.extend(self.prefetch_threads());
        effects.extend(self.search_next_word());
        let seen: Vec<JobKey> = match self.screen {
            Screen::Jobs => self.visible_working_jobs(g.list_rows()),
            _ => Vec::new(),
        };
        if seen != self.last_reported_visible_jobs {
            self.last_reported_visible_jobs.clone_from(&seen);
            effects.push(Effect::Jobs(JobsEffect::ReportVisibleJobs(seen)));
        }
    }

    /// Returns the visible jobs that the agent is working on.
    fn visible_working_jobs(&self, rows: usize) -> Vec<JobKey> {
        let lines = self.jobs.visible(rows);
        let jobs = lines.filter_map(|line| match line {
            JobLine::Job(row) if row.is_working() => Some(row.key),
            _ => None,
        });
        jobs.collect()
    }

    pub(super) fn handle_input(&mut self, event: Event, now: Time, effects: &mut Vec<Effect>) {
        if self.queue_input(&event, now) {
            return;
        }
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                self.set_focused(true, effects);
                if !self.is_late_typing(Chord::from_event(key), now) {
                    self.handle_key(key, now, effects);
                }
            }
            Event::FocusGained => self.set_focused(true, effects),
            Event::FocusLost => self.set_focused(false, effects),
            Event::Mouse(event) => self.handle_mouse(event, now, effects),
            // The text is wiped from memory after use, because it may be an API key.
            Event::Paste(text) => self.paste(&Zeroizing::new(text), now, effects),
            Event::Resize(columns, rows) => {
                self.size = (columns, rows);
                self.dialogs.iter_mut().for_each(|dialog| dialog.resized());
                self.is_dirty = true;
            }
            _ => {}
        }
    }

    /// Records whether the terminal has the focus, and informs the engine if this has changed. While the terminal
    /// doesn't have the focus, the engine sends no requests to code hosts.
    fn set_focused(&mut self, is_focused: bool, effects: &mut Vec<Effect>) {
        if self.finish_alerts.set_focused(is_focused) {
            effects.push(Effect::Jobs(JobsEffect::ReportFocus(is_focused)));
        }
    }

    pub(super) fn handle_key(&mut self, key: KeyEvent, now: Time, effects: &mut Vec<Effect>) {
        let chord = Chord::from_event(key);
        if !super::geometry::is_usable(self.size) {
            // The terminal is too small to show anything, so only quitting, suspending and redrawing work.
            match self.config.keymap.action(&[Context::Everywhere], chord) {
                Some(Action::Quit | Action::Interrupt) => self.save_and_quit(effects),
                Some(Action::Suspend) => effects.push(Effect::Suspend),
                Some(Action::Redraw) => effects.push(Effect::Redraw),
                _ => {}
            }
            return;
        }
        self.is_dirty = true;
        self.tips.dismiss();
        let takes_text = self.takes_text();
        // A character that is typed as text must not run a shortcut of another context.
        let contexts = self.contexts();
        let is_text = takes_text && chord.types_text();
        let lookup: &[Context] = match contexts {
            [first, ..] if is_text => std::slice::from_ref(first),
            all => all,
        };
        let (count_before, open_inputs) = (self.dialogs.len(), self.open_text_dialog_count());
        let action_despite_dialogs = || if is_text { None } else { self.action_despite_dialogs(chord) };
        let action = self.config.keymap.action(lookup, chord).or_else(action_despite_dialogs);
        // A second Esc counts as a confirmation only while the notice that asks for it is on screen. An old notice is
        // therefore dismissed only after the action of Esc.
        let closes = action == Some(Action::Close);
        let notice = if closes { self.notice.clone() } else { self.dismiss_or_shrink_notice() };
        match action {
            Some(action) => self.run_action(action, now, effects),
            None if takes_text => {
                self.enter_text(TextEntry::Key(key), now, effects);
            }
            None if self.dispatch(now, effects, |dialog, _| dialog.handle_unbound_key()) != Flow::Unhandled => {}
            None => {
                self.run_custom_command(chord, now, effects);
                self.notice = self.notice.take().or_else(|| notice.clone());
            }
        }
        if closes && self.notice == notice {
            self.dismiss_or_shrink_notice();
        }
        let is_sent =
            matches!(action, Some(Action::Send | Action::Confirm)) && chord != Chord::from_event(KeyCode::Enter.into());
        if is_sent && self.open_text_dialog_count() < open_inputs {
            self.input_closed_at = Some(now);
        }
        self.read_draft_of_new_editor(count_before, effects);
    }

    /// Returns the number of dialogs that take text.
    fn open_text_dialog_count(&self) -> usize {
        self.dialogs.iter().filter(|dialog| dialog.takes_text()).count()
    }

    /// Whether a key was probably meant for a text input that has just closed. This applies to keys that edit text and
    /// to keys that confirm, but not to other keys such as Esc and arrows.
    fn is_late_typing(&self, chord: Chord, now: Time) -> bool {
        let since = self.input_closed_at.map(|at| now - at);
        if self.takes_text() || !since.is_some_and(|since| (TimeDelta::zero()..SHORTCUT_LOCKOUT).contains(&since)) {
            return false;
        }
        let edits = matches!(chord.code, KeyCode::Enter | KeyCode::Backspace | KeyCode::Delete);
        let confirms = || self.config.keymap.action(self.contexts(), chord) == Some(Action::Confirm);
        edits || chord.types_text() || confirms()
    }

    /// Returns the action of a key that works even while a dialog is open: redrawing, suspending, and the second
    /// Ctrl-C, which confirms quitting. Such a key neither answers a confirmation nor types text.
    fn action_despite_dialogs(&self, chord: Chord) -> Option<Action> {
        let action = self.config.keymap.action(&[Context::Everywhere], chord);
        let is_again = action == Some(Action::Interrupt) && self.is_asking_to_quit();
        action.filter(|action| is_again || matches!(action, Action::Redraw | Action::Suspend))
    }

    fn handle_engine_event(&mut self, event: EngineEvent, now: Time, effects: &mut Vec<Effect>) {
        match event {
            EngineEvent::Job(row) => self.put_job(*row),
            EngineEvent::Prompt { prompt, delivery, job } => {
                effects.extend(self.detail.mark_stale(job.key).map(JobsEffect::LoadThread).map(Effect::Jobs));
                self.put_job((*job).clone());
                self.report_delivery(prompt, &delivery, &job, now, effects);
            }
            EngineEvent::Thread(job) => {
                self.jobs.mark_search_stale();
                if let Some(open) = &mut self.all_jobs {
                    open.list.mark_search_stale();
                }
                effects.extend(self.detail.mark_stale(job).map(JobsEffect::LoadThread).map(Effect::Jobs))
            }
            EngineEvent::Merged { gone, into } if self.queue_merge(gone, into) => {}
            EngineEvent::Merged { gone, into } => self.merge_jobs(gone, into),
            EngineEvent::JobsRemoved(left) => self.remove_pruned_jobs(&left, now),
            EngineEvent::ExternalChange => self.reread_all_jobs(effects),
            EngineEvent::Team(status) => {
                self.is_dirty |= self.team != status;
                self.team = status;
            }
            EngineEvent::QueueOwnership(sends) => self.sends_queued_prompts = sends,
            EngineEvent::Loading(progress) => self.show_load_progress(progress, now),
            EngineEvent::LoadingRows(progress) => self.show_rows_progress(progress),
            EngineEvent::ReportReceived(key) => self.apply_received_report(key, effects),
            EngineEvent::Totals { range, totals } => self.apply_totals(range, totals),
            EngineEvent::ConnectionState(connection) => {
                // If the setup has already tested the API key, the connection is ready. It stays ready while the engine
                // is connecting.
                let is_starting = matches!(connection, ConnectionState::Unknown | ConnectionState::Connecting);
                if !(is_starting && self.connection == ConnectionState::Ready) {
                    self.is_dirty |= self.connection != connection;
                    self.connection = connection;
                }
            }
            EngineEvent::Budget(quota, budget) => {
                self.is_dirty |= self.budgets.insert(quota, budget) != Some(budget);
            }
            EngineEvent::Logged(mut entry) => {
                // A log entry about a job names the job by its title, not by its id.
                let job = self
                    .jobs
                    .rows()
                    .find(|job| job.id.as_ref().is_some_and(|id| id.as_str() == entry.subject.as_str()));
                if let Some(job) = job {
                    entry.subject = job.local.title.clone();
                }
                self.log.push(entry);
                self.is_dirty |= self.screen == Screen::Log;
            }
            EngineEvent::InternalFailure(failure) => self.notify_failure(&failure, now),
            EngineEvent::Unrecorded(_) | EngineEvent::Recorded(_) => self.update_unrecorded_outcomes(&event, now),
            EngineEvent::MissingToken { host, kind } => self.tips.hosts_without_token.push((host, kind)),
            EngineEvent::Notice(text) => self.notify(Severity::Warning, text.as_str(), now),
        }
    }

    /// Updates the list of prompts whose outcome could not be recorded. Shows a notice if such an outcome has been
    /// recorded after all.
    fn update_unrecorded_outcomes(&mut self, event: &EngineEvent, now: Time) {
        (self.is_dirty, self.is_unrecorded_alert_seen) = (true, false);
        if let (Some(sentence), EngineEvent::Recorded(_)) = (self.unrecorded.apply(event), event) {
            self.notify(Severity::Success, sentence.as_str(), now);
        }
    }

    /// Tries again to read the store if the next attempt is due, because another process may have unlocked it since.
    fn retry_reading_store(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if let StoreState::Unreadable { retry_at: again, .. } = &mut self.store
            && again.take_if(|at| *at <= now).is_some()
        {
            effects.push(Effect::Jobs(JobsEffect::LoadInitialData));
        }
    }

    fn handle_timer(&mut self, now: Time, effects: &mut Vec<Effect>) {
        self.end_due_notice(now);
        self.tips.expire(now);
        self.retry_reading_store(now, effects);
        effects.extend(self.save_layout(Some(now)));
        let freed = |quota: Quota| self.budget(quota).resets_at.is_some_and(|at| at <= now);
        if Quota::HOURLY.into_iter().any(freed) {
            // Clears the reset times that have passed. Otherwise, every later timer would request the budgets again.
            for budget in self.budgets.values_mut() {
                budget.resets_at = budget.resets_at.filter(|at| *at > now);
            }
            effects.push(Effect::ReportBudgets);
        }
        self.is_dirty = true;
    }

    /// Saves typed text that is not saved as a draft yet.
    pub(super) fn save_unsaved_drafts(&mut self, effects: &mut Vec<Effect>) {
        effects.extend(self.dialogs.iter_mut().filter_map(|dialog| dialog.save_draft()));
    }

    /// Saves typed text and the layout, then exits.
    pub(super) fn save_and_quit(&mut self, effects: &mut Vec<Effect>) {
        self.save_unsaved_drafts(effects);
        effects.extend(self.save_layout(None));
        effects.push(Effect::Quit);
    }

    /// Shows new alerts about finished jobs and new notices about the team, and sends the notification that is due.
    pub(super) fn show_finish_alerts(&mut self, now: Time, effects: &mut Vec<Effect>) {
        // An alert replaces only an `Info` notice, so that it doesn't hide a problem.
        if let Some(summary) = self.finish_alerts.take_new_summary(now)
            && self.notice.as_ref().is_none_or(|notice| notice.severity == Severity::Info)
        {
            self.notify(Severity::Info, summary.as_str(), now);
        }
        effects.extend(self.finish_alerts.take_due_notification(now).map(Effect::ShowDesktopNotification));
        if let Some(text) = self.team_notices.take(now)
            && self.notice.as_ref().is_none_or(|notice| notice.severity == Severity::Info)
        {
            self.notify(Severity::Info, text.as_str(), now);
        }
    }
}
