//! What comes before the record is read, so that it is neither lost nor done to a part of the list.
//!
//! Keys: a user who is quicker than the disk finds them done. What only looks at the first rows, or leaves, is done at
//! once. News: what was written after the rows were read is newer than they are.

use super::keymap::{Action, Chord, Context};
use super::{App, Effect, Screen, Severity, StoreState};
use crate::model::Time;
use crate::model::row::{Job, JobKey, RemainingJobs};
use crossterm::event::{Event, KeyEventKind};

/// Keys that are kept at most: more than anyone types before giving up.
const MOST: usize = 16_384;

/// What came ahead, each in its order.
#[derive(Debug, Default)]
pub(super) struct StartupQueue {
    typed: Vec<Event>,
    rows: Vec<Job>,
    merged: Vec<(JobKey, JobKey)>,
    left: Option<RemainingJobs>,
}

impl App {
    /// Keeps what is typed before the record is read. Whether it was kept.
    pub(super) fn type_ahead(&mut self, event: &Event, now: Time) -> bool {
        if self.store == StoreState::Read || self.screen == Screen::Welcome {
            return false;
        }
        let is_kept = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                let action = self.config.keymap.action(self.contexts(), Chord::from_event(*key));
                let leaves = matches!(action, Some(Action::Interrupt | Action::Suspend | Action::Repaint));
                !leaves && (!self.startup_queue.typed.is_empty() || self.needs_record(action))
            }
            // In their order: a key says that the terminal has the focus.
            Event::Paste(_) | Event::FocusGained | Event::FocusLost => !self.startup_queue.typed.is_empty(),
            _ => false,
        };
        if is_kept && self.startup_queue.typed.len() < MOST {
            self.startup_queue.typed.push(event.clone());
        }
        if is_kept && self.store != StoreState::Reading {
            let leave = self.config.keymap.key_label(Context::Everywhere, Action::Interrupt);
            self.notify(
                Severity::Problem,
                &format!("What is known here can't be read yet. What you type waits for it; {leave} leaves."),
                now,
            );
        }
        is_kept
    }

    /// Whether an action can't be done right with the first rows alone.
    fn needs_record(&self, action: Option<Action>) -> bool {
        let only_looks = matches!(
            action,
            Some(Action::Down | Action::Up | Action::PageDown | Action::PageUp | Action::Top | Action::Quit)
                | Some(Action::ShowJobs | Action::ShowViews | Action::ShowLog | Action::Help | Action::Palette)
                | Some(Action::Profiles)
        );
        let on_jobs = self.screen == Screen::Jobs && self.dialogs.is_empty();
        action == Some(Action::NewJob) || (on_jobs && !only_looks)
    }

    /// Keeps a row that came before the others are read; it may be newer than its row among them.
    pub(super) fn row_ahead(&mut self, row: &Job) {
        if self.store != StoreState::Read {
            self.startup_queue.rows.retain(|kept| kept.key != row.key);
            self.startup_queue.rows.push(row.clone());
        }
    }

    /// Keeps word of two rows that became one. Whether it was kept.
    pub(super) fn merged_ahead(&mut self, gone: JobKey, into: JobKey) -> bool {
        let reading = self.store != StoreState::Read;
        if reading {
            self.startup_queue.merged.push((gone, into));
        }
        reading
    }

    /// Keeps word of the rows that are left. Whether it was kept.
    pub(super) fn left_ahead(&mut self, left: &RemainingJobs) -> bool {
        let reading = self.store != StoreState::Read;
        if reading {
            self.startup_queue.left = Some(left.clone());
        }
        reading
    }

    /// Whether keys wait for the record.
    pub(super) fn has_typed_ahead(&self) -> bool {
        !self.startup_queue.typed.is_empty()
    }

    /// Takes in what was told while the record was read.
    pub(super) fn catch_up_with_news(&mut self) {
        for row in std::mem::take(&mut self.startup_queue.rows) {
            self.jobs.upsert(row);
        }
        for (gone, into) in std::mem::take(&mut self.startup_queue.merged) {
            self.merged(gone, into);
        }
        if let Some(left) = self.startup_queue.left.take() {
            self.jobs.retain(|key| left.has(key));
        }
    }

    /// Does what was typed ahead, once the record is read. Until then it waits: half a prompt is no row of commands.
    pub(super) fn catch_up_with_keys(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if self.store != StoreState::Read {
            return;
        }
        for event in std::mem::take(&mut self.startup_queue.typed) {
            self.input(event, now, effects);
            self.after_update(effects);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::jobs::tests::at;
    use crate::app::{AppConfig, InitialData, Msg};
    use crate::model::endpoint::Scope;
    use crate::model::failure::{Failure, FailureKind};
    use chrono::FixedOffset;
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    fn started() -> App {
        let scope = Scope { base_url: "https://api.example.com".into(), project: "a".into(), organization: None };
        let start = AppConfig { size: (80, 24), ..AppConfig::new(scope, FixedOffset::east_opt(0).expect("UTC")) };
        App::new(start, at(0)).0
    }

    fn typed(app: &mut App, keys: &str) -> Vec<Effect> {
        let key = |c: char| Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
        keys.chars().flat_map(|c| app.update(Msg::Input(key(c)), at(1))).collect()
    }

    fn locked() -> Msg {
        Msg::Loaded(Err(Failure::new(FailureKind::Local, "Another docdeck kept the store locked.")))
    }

    fn said(app: &App) -> &str {
        app.notice.as_ref().map_or("", |notice| notice.text.as_str())
    }

    #[test]
    fn a_prompt_typed_before_a_locked_record_is_read_is_no_row_of_commands() {
        for before in ["", "nquit: d 2"] {
            let mut app = started();
            assert_eq!(typed(&mut app, before), []);
            app.update(locked(), at(1));
            assert!(said(&app).contains("locked"), "{}", said(&app));
            let rest = "nquit: d 2".strip_prefix(before).unwrap_or_default();
            assert_eq!(typed(&mut app, rest), []);
            assert!(rest.is_empty() || said(&app).contains("waits for it"), "{}", said(&app));
            assert!(app.dialogs.is_empty() && app.screen == Screen::Jobs);
            app.update(Msg::Loaded(Ok(Box::new(InitialData::default()))), at(5));
            let editor = app.dialogs.last().and_then(crate::app::dialog::Dialog::as_editor).expect("an editor");
            assert_eq!(editor.input.text(), "quit: d 2");
        }
    }

    #[test]
    fn a_record_that_can_not_be_read_is_tried_again_and_that_is_said_once() {
        let mut app = started();
        app.update(locked(), at(1));
        let again = app.next_timer(at(1)).expect("a moment");
        assert!(app.update(Msg::Wake, at(1)).is_empty(), "not before its time");
        assert_eq!(app.update(Msg::Wake, again), [Effect::LoadKnown]);
        assert!(app.update(Msg::Wake, again).is_empty(), "not while that is under way");
        app.notice = None;
        app.update(locked(), again);
        assert_eq!(said(&app), "");
        app.update(Msg::Loaded(Ok(Box::new(InitialData::default()))), again);
        assert_eq!(app.next_timer(again), None);
    }
}
