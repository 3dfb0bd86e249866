//! What comes before the record is read, so that it is neither lost nor done to a part of the list.
//!
//! Keys: a user who is quicker than the disk finds them done. What only looks at the first rows, or leaves, is done at
//! once. News: what was written after the rows were read is newer than they are.

use super::keymap::{Action, Chord};
use super::{App, Effect, Record, Screen};
use crate::model::Time;
use crate::model::row::{JobKey, JobRow, Left};
use crossterm::event::{Event, KeyEventKind};

/// Keys that are kept at most; a disk that takes longer to answer gets no more.
const MOST: usize = 256;

/// What came ahead, each in its order.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    typed: Vec<Event>,
    rows: Vec<JobRow>,
    merged: Vec<(JobKey, JobKey)>,
    left: Option<Left>,
}

impl App {
    /// Keeps what is typed before the record is read. Whether it was kept.
    pub(super) fn type_ahead(&mut self, event: &Event) -> bool {
        if self.record != Record::Reading || self.screen == Screen::Welcome {
            return false;
        }
        let is_kept = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                let action = self.start.keymap.action(self.contexts(), Chord::from_event(*key));
                let leaves = matches!(action, Some(Action::Interrupt | Action::Suspend | Action::Repaint));
                !leaves && (!self.ahead.typed.is_empty() || self.needs_record(action))
            }
            // In their order: a key says that the terminal has the focus.
            Event::Paste(_) | Event::FocusGained | Event::FocusLost => !self.ahead.typed.is_empty(),
            _ => false,
        };
        if is_kept && self.ahead.typed.len() < MOST {
            self.ahead.typed.push(event.clone());
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
        let on_jobs = self.screen == Screen::Jobs && self.overlays.is_empty();
        action == Some(Action::NewJob) || (on_jobs && !only_looks)
    }

    /// Keeps a row that came before the others are read; it may be newer than its row among them.
    pub(super) fn row_ahead(&mut self, row: &JobRow) {
        if self.record == Record::Reading {
            self.ahead.rows.push(row.clone());
        }
    }

    /// Keeps word of two rows that became one. Whether it was kept.
    pub(super) fn merged_ahead(&mut self, gone: JobKey, into: JobKey) -> bool {
        let reading = self.record == Record::Reading;
        if reading {
            self.ahead.merged.push((gone, into));
        }
        reading
    }

    /// Keeps word of the rows that are left. Whether it was kept.
    pub(super) fn left_ahead(&mut self, left: &Left) -> bool {
        let reading = self.record == Record::Reading;
        if reading {
            self.ahead.left = Some(left.clone());
        }
        reading
    }

    /// Whether keys wait for the record.
    pub(super) fn has_typed_ahead(&self) -> bool {
        !self.ahead.typed.is_empty()
    }

    /// Takes in what was told while the record was read.
    pub(super) fn catch_up_with_news(&mut self) {
        for row in std::mem::take(&mut self.ahead.rows) {
            self.jobs.upsert(row);
        }
        for (gone, into) in std::mem::take(&mut self.ahead.merged) {
            self.merged(gone, into);
        }
        if let Some(left) = self.ahead.left.take() {
            self.jobs.retain(|key| left.has(key));
        }
    }

    /// Does what was typed ahead, now that the record is read or can't be.
    pub(super) fn catch_up_with_keys(&mut self, now: Time, effects: &mut Vec<Effect>) {
        for event in std::mem::take(&mut self.ahead.typed) {
            self.input(event, now, effects);
            self.settle(effects);
        }
    }
}
