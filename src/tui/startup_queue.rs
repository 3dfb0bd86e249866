//! Queues keys and engine events that arrive before the store is read, so that they are neither lost nor applied to a
//! partial list.
//!
//! Keys that don't need all rows work at once, such as those that move among the first rows or open another screen.
//! Other keys wait until the store is read, and so do the keys after them, except those that interrupt, suspend or
//! redraw. The engine events are applied after the store has been read, because they may be newer than the rows that
//! were read.

use super::app::screen_of;
use super::keymap::{Action, Chord, Context};
use super::{App, Effect, Screen, Severity, StoreState};
use crate::model::Time;
use crate::model::job::{Job, JobKey, JobsLeftAfterPrune};
use crossterm::event::{Event, KeyEventKind};

/// The maximum number of queued input events. It is larger than the number of keys that anyone types before giving up.
const MAX_QUEUED_INPUT_EVENTS: usize = 16_384;

impl App {
    /// Queues input that has to wait until the store is read, or drops it if the queue is full. Returns whether the
    /// input has to wait.
    pub(super) fn queue_input(&mut self, event: &Event, now: Time) -> bool {
        if self.store == StoreState::Loaded || self.screen == Screen::Welcome {
            return false;
        }
        let is_queued = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                let action = self.config.keymap.action(self.contexts(), Chord::from_event(*key));
                let is_immediate = matches!(action, Some(Action::Interrupt | Action::Suspend | Action::Redraw));
                !is_immediate && (!self.startup_queue.input_events.is_empty() || self.needs_all_rows(action))
            }
            // Pastes and focus changes stay in order with the queued keys. A key implies that the terminal has the
            // focus, so a later loss of the focus must be handled after the key.
            Event::Paste(_) | Event::FocusGained | Event::FocusLost => !self.startup_queue.input_events.is_empty(),
            _ => false,
        };
        if is_queued && self.startup_queue.input_events.len() < MAX_QUEUED_INPUT_EVENTS {
            self.startup_queue.input_events.push(event.clone());
        }
        if is_queued && self.store != StoreState::Reading {
            let leave = self.config.keymap.key_label(Context::Everywhere, Action::Interrupt);
            self.notify_until_time(
                now + chrono::TimeDelta::seconds(15),
                Severity::Warning,
                &format!(
                    "docdeck can't read the jobs yet. The keys that you pressed take effect once it can; {leave} quits."
                ),
                now,
            );
        }
        is_queued
    }

    /// Whether an action has to wait until all rows are loaded.
    fn needs_all_rows(&self, action: Option<Action>) -> bool {
        let needs_first_rows_only = matches!(
            action,
            Some(Action::Down | Action::Up | Action::PageDown | Action::PageUp | Action::Top | Action::Quit)
                | Some(Action::Help | Action::Palette | Action::Profiles)
        ) || action.and_then(screen_of).is_some();
        let on_jobs = self.screen == Screen::Jobs && self.topmost_modal_index().is_none();
        action == Some(Action::NewJob) || (on_jobs && !needs_first_rows_only)
    }

    /// Queues a changed row until the store is read, because it may be newer than the row that is being read.
    pub(super) fn queue_changed_row(&mut self, row: &Job) {
        if self.store != StoreState::Loaded {
            self.startup_queue.changed_rows.retain(|queued| queued.key != row.key);
            self.startup_queue.changed_rows.push(row.clone());
        }
    }

    /// Queues the merge of the job `gone` into the job `into` if the store is not read yet. Returns whether it was
    /// queued.
    pub(super) fn queue_merge(&mut self, gone: JobKey, into: JobKey) -> bool {
        let reading = self.store != StoreState::Loaded;
        if reading {
            self.startup_queue.merged_jobs.push((gone, into));
        }
        reading
    }

    /// Queues the jobs that remain after pruning if the store is not read yet. Returns whether they were queued.
    pub(super) fn queue_remaining(&mut self, remaining: &JobsLeftAfterPrune) -> bool {
        let reading = self.store != StoreState::Loaded;
        if reading {
            self.startup_queue.remaining_jobs = Some(remaining.clone());
        }
        reading
    }

    /// Whether any input is queued until the store is read.
    pub(super) fn has_queued_input(&self) -> bool {
        !self.startup_queue.input_events.is_empty()
    }

    /// Applies the engine events that arrived while the store was being read.
    pub(super) fn apply_queued_engine_events(&mut self) {
        for row in std::mem::take(&mut self.startup_queue.changed_rows) {
            self.jobs.upsert(row);
        }
        for (gone, into) in std::mem::take(&mut self.startup_queue.merged_jobs) {
            self.merge_jobs(gone, into);
        }
        if let Some(remaining) = self.startup_queue.remaining_jobs.take() {
            self.jobs.retain(|key| remaining.contains(key));
        }
    }

    /// Runs the queued keys if the store is read. Otherwise, they stay queued, because some may be the letters of a
    /// prompt. Before the editor for the prompt is open, such letters would run as commands.
    pub(super) fn run_queued_keys(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if self.store != StoreState::Loaded {
            return;
        }
        for event in std::mem::take(&mut self.startup_queue.input_events) {
            self.handle_input(event, now, effects);
            self.after_update(effects);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::endpoint::Scope;
    use crate::model::failure::Failure;
    use crate::tui::jobs::tests::at;
    use crate::tui::{AppConfig, InitialData, JobsEffect, JobsMsg, Msg};
    use chrono::FixedOffset;
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    fn started_app() -> App {
        let scope = Scope { base_url: "https://api.example.com".into(), project: "a".into(), organization: None };
        let start = AppConfig { size: (80, 24), ..AppConfig::new(scope, FixedOffset::east_opt(0).expect("UTC")) };
        App::new(start, at(0)).0
    }

    fn type_keys(app: &mut App, keys: &str) -> Vec<Effect> {
        let key = |c: char| Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
        keys.chars().flat_map(|c| app.update(Msg::Input(key(c)), at(1))).collect()
    }

    fn store_locked() -> Msg {
        Msg::Jobs(JobsMsg::InitialDataLoaded(Err(Failure::local("Another docdeck kept the store locked."))))
    }

    fn notice(app: &App) -> &str {
        app.notice.as_ref().map_or("", |notice| notice.text.as_str())
    }

    #[test]
    fn a_prompt_typed_while_the_store_is_locked_does_not_run_as_commands() {
        for before in ["", "nquit: d 2"] {
            let mut app = started_app();
            assert_eq!(type_keys(&mut app, before), []);
            app.update(store_locked(), at(1));
            assert!(
                matches!(&app.store, StoreState::Unreadable { why, .. } if why.message.as_str().contains("locked"))
            );
            let rest = "nquit: d 2".strip_prefix(before).unwrap_or_default();
            assert_eq!(type_keys(&mut app, rest), []);
            assert!(rest.is_empty() || notice(&app).contains("keys that you pressed"), "{}", notice(&app));
            assert!(app.dialogs.is_empty() && app.screen == Screen::Jobs);
            app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData::default())))), at(5));
            let editor = app.top::<crate::tui::compose::editor::Editor>().expect("an editor");
            assert_eq!(editor.input.text(), "quit: d 2");
        }
    }

    #[test]
    fn reading_an_unreadable_store_is_retried_and_the_failure_is_reported_once() {
        let mut app = started_app();
        app.update(store_locked(), at(1));
        let again = app.next_timer(at(1)).expect("a moment");
        assert!(app.update(Msg::Timer, at(1)).is_empty(), "not before its time");
        assert_eq!(app.update(Msg::Timer, again), [Effect::Jobs(JobsEffect::LoadInitialData)]);
        assert!(app.update(Msg::Timer, again).is_empty(), "not while that is under way");
        app.notice = None;
        app.update(store_locked(), again);
        assert_eq!(notice(&app), "");
        app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData::default())))), again);
        assert_eq!(app.next_timer(again), None);
    }
}
