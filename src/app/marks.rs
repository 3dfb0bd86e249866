//! Marks: the jobs that a bulk action applies to. Marks of jobs that are not listed don't count.

use super::jobs::JobList;
use super::order::{SECTIONS, section_index};
use crate::model::row::{Job, JobGroup, JobKey};
use std::collections::HashSet;

#[derive(Debug, Default)]
pub(super) struct MarkedJobs {
    keys: HashSet<JobKey>,
    /// Where a range begins.
    last: Option<JobKey>,
    /// How many marked jobs each section of the list has.
    counts: [usize; SECTIONS],
}

impl MarkedJobs {
    /// Counts a job that was added to a section of the list.
    pub(super) fn count_added(&mut self, section: usize, key: JobKey) {
        if self.keys.contains(&key)
            && let Some(count) = self.counts.get_mut(section)
        {
            *count += 1;
        }
    }

    /// Counts a job that was removed from a section of the list.
    pub(super) fn count_removed(&mut self, section: usize, key: JobKey) {
        if self.keys.contains(&key)
            && let Some(count) = self.counts.get_mut(section)
        {
            *count = count.saturating_sub(1);
        }
    }

    /// Drops the marks of jobs that no longer exist.
    pub(super) fn retain(&mut self, keep: impl Fn(JobKey) -> bool) {
        self.keys.retain(|key| keep(*key));
        self.last = self.last.filter(|key| keep(*key));
    }

    /// Counts the marks of the whole list.
    pub(super) fn recount(&mut self, jobs: impl Iterator<Item = (usize, JobKey)>) {
        self.counts = [0; SECTIONS];
        if !self.keys.is_empty() {
            jobs.for_each(|(section, key)| self.count_added(section, key));
        }
    }
}

impl JobList {
    pub fn is_marked(&self, key: JobKey) -> bool {
        self.marks.keys.contains(&key)
    }

    /// How many of the listed jobs are marked.
    pub fn marked(&self) -> usize {
        let hidden = if self.shows_dismissed() { 0 } else { self.marks.counts.last().copied().unwrap_or(0) };
        self.marks.counts.iter().sum::<usize>().saturating_sub(hidden)
    }

    /// Whether the condition holds for one of the listed marked jobs.
    pub(super) fn any_marked(&self, holds: impl Fn(&Job) -> bool) -> bool {
        let listed = self.marks.keys.iter().filter(|key| self.position(**key).is_some());
        listed.filter_map(|key| self.get(*key)).any(holds)
    }

    /// The listed marked jobs, in the list's order.
    pub fn marked_keys(&self) -> Vec<JobKey> {
        if self.marked() == 0 {
            return Vec::new();
        }
        self.shown_rows().map(|row| row.key).filter(|key| self.is_marked(*key)).collect()
    }

    /// Marks or unmarks the selected job and moves down.
    pub fn toggle_mark(&mut self) {
        let Some(key) = self.selected().map(|row| row.key) else { return };
        self.mark(key, !self.is_marked(key));
        self.marks.last = Some(key);
        self.move_by(1);
    }

    /// Marks all jobs from the last marked one to the selected one.
    pub fn mark_range(&mut self) {
        let Some(to) = self.selected().and_then(|row| self.position(row.key)) else { return };
        let from = self.marks.last.and_then(|key| self.position(key)).unwrap_or(to);
        let jobs: Vec<(usize, JobKey)> = self.keys_in(from.min(to)..=from.max(to)).collect();
        for (section, key) in jobs {
            if self.marks.keys.insert(key) {
                self.marks.count_added(section, key);
            }
        }
        self.marks.last = self.selected().map(|row| row.key);
    }

    /// Removes all marks, those of hidden jobs too.
    pub fn clear_marks(&mut self) {
        self.marks = MarkedJobs::default();
    }

    fn mark(&mut self, key: JobKey, marked: bool) {
        let section = self.section_of(key);
        if marked && self.marks.keys.insert(key) {
            section.into_iter().for_each(|section| self.marks.count_added(section, key));
        } else if !marked && self.marks.keys.contains(&key) {
            section.into_iter().for_each(|section| self.marks.count_removed(section, key));
            self.marks.keys.remove(&key);
        }
    }

    /// The section of a job, if it is listed.
    fn section_of(&self, key: JobKey) -> Option<usize> {
        self.position(key)?;
        let group = self.get(key).map(|row| self.shown_group(row))?;
        let dismissed = group == JobGroup::Dismissed;
        Some(if self.order.flat && !dismissed { 0 } else { section_index(group) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::filter::JobFilter;
    use crate::app::jobs::tests::row;
    use crate::app::order::{JobSorting, Sort};
    use crate::model::job::Status;

    fn list() -> JobList {
        let mut list = JobList::default();
        list.replace((1..=5).map(|key| row(key, Status::Active)).collect());
        list
    }

    fn keys(list: &JobList) -> Vec<i64> {
        list.marked_keys().into_iter().map(|key| key.0).collect()
    }

    #[test]
    fn marking_moves_down_and_marking_again_unmarks() {
        let mut list = list();
        list.toggle_mark();
        list.toggle_mark();
        assert_eq!((keys(&list), list.marked()), (vec![5, 4], 2));
        list.move_by(-1);
        list.toggle_mark();
        assert_eq!((keys(&list), list.marked()), (vec![5], 1));
    }

    #[test]
    fn a_range_goes_from_the_last_mark_to_the_selection_in_either_direction() {
        let mut list = list();
        list.select(JobKey(2));
        list.toggle_mark();
        list.select(JobKey(4));
        list.mark_range();
        assert_eq!(keys(&list), [4, 3, 2]);
    }

    #[test]
    fn marks_of_jobs_that_the_filter_hides_do_not_count() {
        let mut list = list();
        (0..5).for_each(|_| list.toggle_mark());
        assert_eq!(list.marked(), 5);
        list.set_filter(JobFilter::parse("job-3"));
        assert_eq!((keys(&list), list.marked()), (vec![3], 1));
        list.set_filter(JobFilter::default());
        assert_eq!(list.marked(), 5);
    }

    #[test]
    fn marks_of_folded_dismissed_jobs_do_not_count() {
        let mut list = list();
        (0..5).for_each(|_| list.toggle_mark());
        let mut dismissed = row(3, Status::Active);
        (dismissed.dismissed, dismissed.revision) = (true, 10);
        list.upsert(dismissed);
        assert_eq!((keys(&list), list.marked()), (vec![5, 4, 2, 1], 4));
        list.sort(JobSorting { by: Sort::Age, reversed: true });
        assert_eq!((keys(&list), list.marked()), (vec![1, 2, 4, 5], 4));
        list.toggle_dismissed();
        assert_eq!(list.marked(), 5);
    }
}
