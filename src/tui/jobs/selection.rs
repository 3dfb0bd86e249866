//! The selection of the jobs list. Until another job is selected, the selected job stays in the list even if it no
//! longer passes the filter, and stays in the group “needs you” even if the user has acted on it.

use super::super::filter::Match;
use super::super::order::JobSortKey;
use super::JobList;
use crate::model::job::{JobGroup, JobKey};
use crate::tui::widgets::scroll::{self, Scroll};
use std::collections::HashSet;

impl JobList {
    pub(super) fn selected_position(&self) -> Option<usize> {
        self.position(self.selected?)
    }

    pub fn move_by(&mut self, by: isize) {
        let at = self.selected_position().unwrap_or(0);
        self.select_position(scroll::move_within(at, by, self.listed_count()));
    }

    /// Moves the selection in a list with `rows` visible lines.
    pub(in crate::tui) fn scroll(&mut self, by: Scroll, rows: usize) {
        let at = self.selected_position().unwrap_or(0);
        self.select_position(by.apply(at, rows, self.listed_count()));
    }

    pub(super) fn select_first(&mut self) {
        self.select_near(0);
    }

    /// Selects the job at a position, or the last job if the list is shorter. Selects nothing if no job is listed.
    pub(super) fn select_near(&mut self, position: usize) {
        let key = self.row_at(position.min(self.listed_count().saturating_sub(1))).map(|row| row.key);
        self.select_key(key.filter(|_| self.listed_count() > 0));
    }

    pub(super) fn select_position(&mut self, position: usize) {
        if position < self.listed_count() {
            let key = self.row_at(position).map(|row| row.key);
            self.select_key(key);
        }
    }

    /// Selects a job if it exists. If the job is dismissed, shows the dismissed jobs. A job that doesn't pass the
    /// filter is listed as long as it is selected.
    pub fn select(&mut self, key: JobKey) {
        let Some(row) = self.get(key) else { return };
        self.order.shows_dismissed |= row.group() == JobGroup::Dismissed;
        self.select_key(Some(key));
    }

    fn select_key(&mut self, key: Option<JobKey>) {
        if key == self.selected {
            return;
        }
        // The job that was selected may now change its group or leave the list, and the job that gets selected may
        // enter the list. Usually, both stay in place. Only a job that doesn't stay in place is moved, because
        // moving a row takes long in a long list.
        let indexes = [self.selected, key].map(|key| key.and_then(|key| self.index.get(&key).copied()));
        let before = indexes.map(|index| self.row_state(index));
        let keeps_group = key.and_then(|key| self.get(key)).is_some_and(|row| row.group() == JobGroup::NeedsYou);
        let old = self.swap_selection(key, keeps_group, key.is_some());
        let stays =
            indexes.map(|index| self.row_state(index)).into_iter().zip(before).map(|(after, before)| after == before);
        let moved: Vec<usize> =
            indexes.into_iter().zip(stays).filter(|(_, stays)| !stays).filter_map(|(index, _)| index).collect();
        if moved.is_empty() {
            return;
        }
        let new = self.swap_selection(old.0, old.1, old.2);
        let moved: Vec<(usize, Option<JobSortKey>)> =
            moved.into_iter().map(|index| (index, self.begin_change(index))).collect();
        self.swap_selection(new.0, new.1, new.2);
        for (index, old_key) in moved {
            self.finish_change(index, old_key);
        }
    }

    /// Sets the selection without moving any row. Returns the previous selection.
    fn swap_selection(
        &mut self,
        key: Option<JobKey>,
        keeps_group: bool,
        keeps_listed: bool,
    ) -> (Option<JobKey>, bool, bool) {
        (
            std::mem::replace(&mut self.selected, key),
            std::mem::replace(&mut self.keeps_selected_in_needs_you, keeps_group),
            std::mem::replace(&mut self.keeps_selected_listed, keeps_listed),
        )
    }

    /// Returns the group in which a row is shown, its sort key, and whether it passes the filter.
    fn row_state(&mut self, index: Option<usize>) -> Option<(JobGroup, JobSortKey, bool)> {
        let row = self.rows.get(index?)?;
        Some((self.shown_group(row), self.sort_key_at(index?)?, self.match_at(index?) == Match::Passes))
    }

    /// Prepares for these jobs to leave their positions. If one of them is selected, selects the next job below it that
    /// stays, or the next one above it if there is none below.
    pub fn move_selection_off(&mut self, keys: &[JobKey]) {
        let leaving: HashSet<JobKey> = keys.iter().copied().collect();
        let Some(at) = self.selected_position() else { return };
        let stays = |at: &usize| self.row_at(*at).is_some_and(|row| !leaving.contains(&row.key));
        let next = (at..self.listed_count()).find(stays).or_else(|| (0..at).rev().find(stays));
        if let Some(next) = next {
            self.select_position(next);
        }
    }

    /// Shows or hides dismissed jobs. If this hides the selected job, selects the last job that is still shown.
    pub fn toggle_dismissed_visibility(&mut self) {
        let at = self.selected_position().unwrap_or(0);
        self.order.shows_dismissed = !self.order.shows_dismissed;
        if self.selected_position().is_none() {
            self.select_near(at);
        }
    }
}
