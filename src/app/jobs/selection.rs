//! The selection of the jobs list: it stays on its job, and so does the job in its group, until the selection leaves it.

use super::super::filter::Match;
use super::super::order::SortKey;
use super::super::scroll;
use super::JobList;
use crate::model::row::{JobGroup, JobKey};
use std::collections::HashSet;

impl JobList {
    pub(super) fn selected_position(&self) -> Option<usize> {
        self.position(self.selected?)
    }

    /// Moves the selection by so many jobs.
    pub fn move_by(&mut self, by: isize) {
        let at = self.selected_position().unwrap_or(0);
        self.select_position(scroll::moved(at, by, self.shown()));
    }

    /// To the first job, or the last.
    pub fn move_to_end(&mut self, last: bool) {
        self.select_position(if last { self.shown().saturating_sub(1) } else { 0 });
    }

    pub(super) fn select_first(&mut self) {
        self.select_near(0);
    }

    /// The job at a position, or the last one; nothing where no job has a line.
    pub(super) fn select_near(&mut self, position: usize) {
        let key = self.at(position.min(self.shown().saturating_sub(1))).map(|row| row.key);
        self.select_key(key.filter(|_| self.shown() > 0));
    }

    pub(super) fn select_position(&mut self, position: usize) {
        if position < self.shown() {
            let key = self.at(position).map(|row| row.key);
            self.select_key(key);
        }
    }

    /// Selects a job, if it is there; one that is out of sight is shown for as long as it is selected.
    pub fn select(&mut self, key: JobKey) {
        let Some(row) = self.get(key) else { return };
        self.order.show_dismissed |= row.group() == JobGroup::Dismissed;
        self.select_key(Some(key));
    }

    fn select_key(&mut self, key: Option<JobKey>) {
        if key == self.selected {
            return;
        }
        // The job that is left goes to where it belongs, out of the list if it has to; the new one comes in. Most stay
        // where they are: nothing is moved then, or a key would cost more the longer the list is.
        let places = [self.selected, key].map(|key| key.and_then(|key| self.place.get(&key).copied()));
        let before = places.map(|place| self.standing(place));
        let held = key.and_then(|key| self.get(key)).is_some_and(|row| row.group() == JobGroup::NeedsYou);
        let old = self.hold(key, held, key.is_some());
        let stays =
            places.map(|place| self.standing(place)).into_iter().zip(before).map(|(after, before)| after == before);
        let moved: Vec<usize> =
            places.into_iter().zip(stays).filter(|(_, stays)| !stays).filter_map(|(place, _)| place).collect();
        if moved.is_empty() {
            return;
        }
        let new = self.hold(old.0, old.1, old.2);
        let moved: Vec<(usize, Option<SortKey>)> =
            moved.into_iter().map(|place| (place, self.leave_group(place))).collect();
        self.hold(new.0, new.1, new.2);
        for (place, stood) in moved {
            self.stand(place, stood);
        }
    }

    /// Selects a job, without anything else; gives what was before.
    fn hold(&mut self, key: Option<JobKey>, held: bool, kept: bool) -> (Option<JobKey>, bool, bool) {
        (
            std::mem::replace(&mut self.selected, key),
            std::mem::replace(&mut self.held, held),
            std::mem::replace(&mut self.kept, kept),
        )
    }

    /// Where a row stands now: its group, its key, and whether it is in the list.
    fn standing(&mut self, place: Option<usize>) -> Option<(JobGroup, SortKey, bool)> {
        let row = self.rows.get(place?)?;
        Some((self.shown_group(row), self.key_at(place?)?, self.verdict(place?) == Match::Passes))
    }

    /// Moves the selection off jobs that are about to leave their places: to the next one below, or else above.
    pub fn leave(&mut self, keys: &[JobKey]) {
        let leaving: HashSet<JobKey> = keys.iter().copied().collect();
        let Some(at) = self.selected_position() else { return };
        let stays = |at: &usize| self.at(*at).is_some_and(|row| !leaving.contains(&row.key));
        let next = (at..self.shown()).find(stays).or_else(|| (0..at).rev().find(stays));
        if let Some(next) = next {
            self.select_position(next);
        }
    }

    /// Shows or hides dismissed jobs; a hidden selection moves to the last one shown.
    pub fn toggle_dismissed(&mut self) {
        let at = self.selected_position().unwrap_or(0);
        self.order.show_dismissed = !self.order.show_dismissed;
        if self.selected_position().is_none() {
            self.select_near(at);
        }
    }
}
