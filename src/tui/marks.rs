//! Marks on jobs. Keys act on all marked jobs at once. Marks on jobs that are not listed are kept, but have no effect.

use super::jobs::JobList;
use super::order::{SECTION_COUNT, section_index};
use crate::model::job::{Job, JobGroup, JobKey};
use std::collections::HashSet;

#[derive(Debug, Default)]
pub(super) struct MarkedJobs {
    keys: HashSet<JobKey>,
    /// The job that was marked or unmarked last. The next range of marks starts at this job.
    range_start: Option<JobKey>,
    /// The number of marked jobs in each section of the list.
    counts: [usize; SECTION_COUNT],
}

impl MarkedJobs {
    /// Updates the number of marked jobs in a section after a job was marked or added to the section.
    pub(super) fn increment_if_marked(&mut self, section: usize, key: JobKey) {
        if self.keys.contains(&key)
            && let Some(count) = self.counts.get_mut(section)
        {
            *count += 1;
        }
    }

    /// Updates the number of marked jobs in a section when a job is removed from the section or about to be unmarked.
    pub(super) fn decrement_if_marked(&mut self, section: usize, key: JobKey) {
        if self.keys.contains(&key)
            && let Some(count) = self.counts.get_mut(section)
        {
            *count = count.saturating_sub(1);
        }
    }

    /// Removes the marks of all jobs for which `keep` returns false.
    pub(super) fn retain(&mut self, keep: impl Fn(JobKey) -> bool) {
        self.keys.retain(|key| keep(*key));
        self.range_start = self.range_start.filter(|key| keep(*key));
    }

    /// Counts the marked jobs of all sections again. `jobs` are all jobs of the list, each with its section.
    pub(super) fn recount(&mut self, jobs: impl Iterator<Item = (usize, JobKey)>) {
        self.counts = [0; SECTION_COUNT];
        if !self.keys.is_empty() {
            jobs.for_each(|(section, key)| self.increment_if_marked(section, key));
        }
    }
}

impl JobList {
    pub fn is_marked(&self, key: JobKey) -> bool {
        self.marks.keys.contains(&key)
    }

    /// Returns the number of listed jobs that are marked.
    pub fn marked_count(&self) -> usize {
        let hidden = if self.shows_dismissed() { 0 } else { self.marks.counts.last().copied().unwrap_or(0) };
        self.marks.counts.iter().sum::<usize>().saturating_sub(hidden)
    }

    /// Whether the condition `holds` is true for at least one marked job that is listed.
    pub(super) fn any_marked(&self, holds: impl Fn(&Job) -> bool) -> bool {
        // Checking whether a job is listed is slower than most conditions, so it comes last.
        let marked = self.marks.keys.iter().filter_map(|key| self.get(*key));
        marked.filter(|job| holds(job)).any(|job| self.position(job.key).is_some())
    }

    /// Returns the keys of the marked jobs that are listed, in the order of the list.
    pub fn marked_keys(&self) -> Vec<JobKey> {
        if self.marked_count() == 0 {
            return Vec::new();
        }
        self.shown_rows().map(|row| row.key).filter(|key| self.is_marked(*key)).collect()
    }

    /// Marks or unmarks the selected job and moves down.
    pub fn toggle_mark(&mut self) {
        let Some(key) = self.selected().map(|row| row.key) else { return };
        self.mark(key, !self.is_marked(key));
        self.marks.range_start = Some(key);
        self.move_by(1);
    }

    /// Marks all jobs from the job that was marked or unmarked last to the selected job. If there is no such job in the
    /// list, marks only the selected job.
    pub fn mark_range(&mut self) {
        let Some(to) = self.selected().and_then(|row| self.position(row.key)) else { return };
        let from = self.marks.range_start.and_then(|key| self.position(key)).unwrap_or(to);
        let jobs: Vec<(usize, JobKey)> = self.keys_in(from.min(to)..=from.max(to)).collect();
        for (section, key) in jobs {
            if self.marks.keys.insert(key) {
                self.marks.increment_if_marked(section, key);
            }
        }
        self.marks.range_start = self.selected().map(|row| row.key);
    }

    /// Removes all marks, including those of jobs that are not listed.
    pub fn clear_marks(&mut self) {
        self.marks = MarkedJobs::default();
    }

    fn mark(&mut self, key: JobKey, marked: bool) {
        let section = self.section_of(key);
        if marked && self.marks.keys.insert(key) {
            section.into_iter().for_each(|section| self.marks.increment_if_marked(section, key));
        } else if !marked && self.marks.keys.contains(&key) {
            section.into_iter().for_each(|section| self.marks.decrement_if_marked(section, key));
            self.marks.keys.remove(&key);
        }
    }

    /// Returns the section of a job. `None` if the job is not listed.
    fn section_of(&self, key: JobKey) -> Option<usize> {
        self.position(key)?;
        let group = self.get(key).map(|row| self.shown_group(row))?;
        let dismissed = group == JobGroup::Dismissed;
        Some(if self.order.is_flat && !dismissed { 0 } else { section_index(group) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::remote_job::Status;
    use crate::tui::filter::JobFilter;
    use crate::tui::jobs::tests::row;
    use crate::tui::order::{JobSorting, Sort};

    fn list() -> JobList {
        let mut list = JobList::default();
        list.replace((1..=5).map(|key| row(key, Status::Active)).collect());
        list
    }

    fn keys(list: &JobList) -> Vec<i64> {
        list.marked_keys().into_iter().map(|key| key.0).collect()
    }

    #[test]
    fn marking_selects_the_next_job_and_marking_again_removes_the_mark() {
        let mut list = list();
        list.toggle_mark();
        list.toggle_mark();
        assert_eq!((keys(&list), list.marked_count()), (vec![5, 4], 2));
        list.move_by(-1);
        list.toggle_mark();
        assert_eq!((keys(&list), list.marked_count()), (vec![5], 1));
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
        assert_eq!(list.marked_count(), 5);
        list.set_filter(JobFilter::parse("job-3"));
        assert_eq!((keys(&list), list.marked_count()), (vec![3], 1));
        list.set_filter(JobFilter::default());
        assert_eq!(list.marked_count(), 5);
    }

    #[test]
    fn marks_of_folded_dismissed_jobs_do_not_count() {
        let mut list = list();
        (0..5).for_each(|_| list.toggle_mark());
        let mut dismissed = row(3, Status::Active);
        (dismissed.local.dismissed, dismissed.revision) = (true, 10);
        list.upsert(dismissed);
        assert_eq!((keys(&list), list.marked_count()), (vec![5, 4, 2, 1], 4));
        list.sort(JobSorting { by: Sort::Age, is_reversed: true });
        assert_eq!((keys(&list), list.marked_count()), (vec![1, 2, 4, 5], 4));
        list.toggle_dismissed_visibility();
        assert_eq!(list.marked_count(), 5);
    }
}
