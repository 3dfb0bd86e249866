//! The jobs list: rows, the selection, what is visible.
//!
//! Rows are kept once, in `rows`; `order` holds the places of those that pass the filter, sorted, so that a key costs a
//! binary search and a change moves one entry, whatever the number of jobs. Which rows these are is `laying`'s, the
//! selection `selection`'s; marks are `marks`', the filter's rules `filter`'s.

mod index;
mod selection;
mod viewport;

use super::filter::{FilterState, Match};
use super::marks::MarkedJobs;
use super::order::{JobOrder, JobSorting, ListItem, SECTIONS, SortKey, section};
use crate::model::job::Status;
use crate::model::row::{FirstRows, Job, JobGroup, JobKey};
use crate::model::text::CleanText;
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

/// A line of the list as drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JobLine<'a> {
    /// The heading of a group, with the number of its jobs, and whether they are hidden.
    Heading(JobGroup, usize, bool),
    Job(&'a Job),
}

/// The list and its selection.
#[derive(Debug, Default)]
pub struct JobList {
    rows: Vec<Job>,
    place: HashMap<JobKey, usize>,
    pub(super) order: JobOrder,
    sorting: JobSorting,
    sieve: FilterState,
    /// By place: the rows that are not in the order, and may come into it when what is typed into the filter goes on.
    near: Vec<bool>,
    pub(super) marks: MarkedJobs,
    /// How many jobs each group has, whatever the filter.
    counts: [usize; SECTIONS],
    /// How many jobs the agent works on, dismissed ones included.
    working: usize,
    selected: Option<JobKey>,
    /// The selected job stays among those that need the user until the selection leaves it.
    held: bool,
    /// The selected job stays in the list although it no longer passes the filter, until the selection leaves it.
    kept: bool,
    /// Only the head of the list is here: nobody sorts or filters it before the rest is.
    begun: bool,
    /// First visible line.
    top: usize,
    revision: i64,
    /// Statuses that rows have or had and docdeck doesn't know.
    other_statuses: BTreeSet<CleanText>,
}

impl JobList {
    /// Shows the head of a list whose other rows are still being read. Another order or a filter needs all rows: then
    /// there is nothing to show before [`JobList::replace`].
    pub fn begin(&mut self, first: FirstRows) {
        if self.sorting != JobSorting::default() || !self.sieve.filter().is_empty() {
            return;
        }
        self.replace(first.rows);
        self.begun = true;
        self.counts = first.sizes;
        self.working = first.working;
        self.order.resize(first.sizes);
    }

    /// Replaces all rows.
    pub fn replace(&mut self, rows: Vec<Job>) {
        self.begun = false;
        self.revision = rows.iter().map(|row| row.revision).max().unwrap_or(0);
        rows.iter().for_each(|row| note_status(&mut self.other_statuses, row));
        self.place = rows.iter().enumerate().map(|(place, row)| (row.key, place)).collect();
        self.rows = rows;
        self.lay_out();
    }

    /// Puts a row in or replaces it; a row older than the one here is ignored. Whether anything changed.
    pub fn upsert(&mut self, row: Job) -> bool {
        self.revision = self.revision.max(row.revision);
        note_status(&mut self.other_statuses, &row);
        let Some(&place) = self.place.get(&row.key) else {
            if self.begun {
                // It comes with the rest.
                return false;
            }
            self.place.insert(row.key, self.rows.len());
            self.rows.push(row);
            self.sieve.find_again();
            self.stand(self.rows.len() - 1, None);
            if self.selected.is_none() {
                self.select_first();
            }
            return true;
        };
        let Some(old) = self.rows.get(place) else { return false };
        if old.revision > row.revision || *old == row {
            return false;
        }
        let position = self.selected_position();
        let stood = self.leave_group(place);
        if self.selected == Some(row.key) {
            self.held = self.held || row.group() == JobGroup::NeedsYou;
        }
        if let Some(slot) = self.rows.get_mut(place) {
            *slot = row;
        }
        self.stand(place, stood);
        if self.selected_position().is_none() {
            self.select_near(position.unwrap_or(0));
        }
        true
    }

    /// The group under which a row stands now.
    pub fn shown_group(&self, row: &Job) -> JobGroup {
        shown_group(row, self.held && self.selected == Some(row.key))
    }

    fn key_at(&self, place: usize) -> Option<SortKey> {
        self.rows.get(place).map(|row| self.sorting.key(row, self.shown_group(row)))
    }

    fn count(&mut self, place: usize, by: isize) {
        let Some(group) = self.rows.get(place).map(|row| self.shown_group(row)) else { return };
        if let Some(count) = self.counts.get_mut(section(group)) {
            *count = count.saturating_add_signed(by);
        }
        if self.rows.get(place).is_some_and(Job::counts_as_working) {
            self.working = self.working.saturating_add_signed(by);
        }
    }

    /// A row is about to change: gives the key under which it stands, if it has a line.
    fn leave_group(&mut self, place: usize) -> Option<SortKey> {
        self.count(place, -1);
        self.key_at(place).filter(|key| self.order.position(*key).is_some())
    }

    /// A row has changed, or is new: it goes from where it stood to where it belongs.
    fn stand(&mut self, place: usize, stood: Option<SortKey>) {
        self.count(place, 1);
        let verdict = self.verdict(place);
        self.set_near(place, verdict == Match::Fuzzy);
        let (Some(key), Some(row)) = (self.key_at(place), self.rows.get(place)) else { return };
        let stands = (verdict == Match::Passes).then_some(key);
        if let Some(stood) = stood {
            self.marks.left(stood.0, row.key);
        }
        if let Some(stands) = stands {
            self.marks.entered(stands.0, row.key);
        }
        match (stood, stands) {
            (Some(stood), Some(stands)) => self.order.shift(stood, stands),
            (Some(stood), None) => self.order.remove(stood),
            (None, Some(stands)) => self.order.insert(stands, place),
            (None, None) => {}
        }
    }

    /// The position of a row that has a line.
    pub(super) fn position(&self, key: JobKey) -> Option<usize> {
        let place = *self.place.get(&key)?;
        self.order.position(self.key_at(place)?).filter(|&at| at < self.order.shown())
    }

    /// The row at a position.
    pub(super) fn at(&self, position: usize) -> Option<&Job> {
        self.order.at(position).and_then(|place| self.rows.get(place))
    }

    /// The jobs at these positions, each with the section that it stands in.
    pub(super) fn stretch(&self, positions: RangeInclusive<usize>) -> impl Iterator<Item = (usize, JobKey)> {
        let entries = positions.filter_map(|position| self.order.entry(position));
        entries.filter_map(|(section, place)| Some((section, self.rows.get(place)?.key)))
    }

    /// How many jobs stand under a group, whatever the filter.
    pub fn count_of(&self, group: JobGroup) -> usize {
        self.counts.get(section(group)).copied().unwrap_or(0)
    }

    /// How many jobs are known here.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no job is known here.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many jobs pass the filter, hidden dismissed ones included.
    pub fn passing(&self) -> usize {
        self.order.len()
    }

    /// How many jobs have a line.
    pub fn shown(&self) -> usize {
        self.order.shown()
    }

    /// Largest revision seen.
    pub fn revision(&self) -> i64 {
        self.revision
    }

    /// Statuses that jobs have or had and docdeck doesn't know, in their order.
    pub fn other_statuses(&self) -> impl Iterator<Item = &str> + Clone {
        self.other_statuses.iter().map(CleanText::as_str)
    }

    /// How many jobs the agent works on, dismissed ones included.
    pub fn active(&self) -> usize {
        self.working
    }

    /// All rows, in no order.
    pub fn rows(&self) -> impl Iterator<Item = &Job> {
        self.rows.iter()
    }

    /// A row by its key.
    pub fn get(&self, key: JobKey) -> Option<&Job> {
        self.place.get(&key).and_then(|&place| self.rows.get(place))
    }

    /// A row is no more, its job is that of another row now; a selection goes along.
    pub fn merge(&mut self, gone: JobKey, into: JobKey) -> bool {
        let Some(&place) = self.place.get(&gone) else { return false };
        if self.selected == Some(gone) {
            self.select(into);
        }
        let (mut rows, revision) = (std::mem::take(&mut self.rows), self.revision);
        rows.remove(place);
        self.replace(rows);
        self.revision = revision;
        true
    }

    /// Lets go of the rows that are not to be kept; a selection among them moves to the job that took its place. How many
    /// went.
    pub(super) fn retain(&mut self, keep: impl Fn(JobKey) -> bool) -> usize {
        let before = self.rows.len();
        if self.begun || self.rows.iter().all(|row| keep(row.key)) {
            return 0;
        }
        let position = self.selected_position();
        let (mut rows, revision) = (std::mem::take(&mut self.rows), self.revision);
        rows.retain(|row| keep(row.key));
        self.marks.retain(&keep);
        let is_left = self.selected.is_some_and(&keep);
        self.replace(rows);
        self.revision = revision;
        if !is_left {
            self.select_near(position.unwrap_or(0));
        }
        before - self.rows.len()
    }

    /// All rows that have a line, in order.
    pub fn shown_rows(&self) -> impl Iterator<Item = &Job> {
        self.order.places().filter_map(|place| self.rows.get(place))
    }

    /// The selected row.
    pub fn selected(&self) -> Option<&Job> {
        self.selected.and_then(|key| self.get(key))
    }

    /// Whether this row is the selected one.
    pub fn is_selected(&self, row: &Job) -> bool {
        self.selected == Some(row.key)
    }

    /// Whether dismissed jobs are shown.
    pub fn shows_dismissed(&self) -> bool {
        self.order.show_dismissed
    }

    /// Lines in all, headings included.
    pub fn line_count(&self) -> usize {
        self.order.line_count()
    }

    /// The visible lines, from the first visible one on.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = JobLine<'_>> {
        (self.top..self.line_count().min(self.top + rows)).filter_map(|at| self.line(at))
    }

    /// First visible line.
    pub fn top(&self) -> usize {
        self.top
    }

    fn line(&self, at: usize) -> Option<JobLine<'_>> {
        match self.order.line(at)? {
            ListItem::Heading(group, size, hidden) => Some(JobLine::Heading(group, size, hidden)),
            ListItem::Row(place) => self.rows.get(place).map(JobLine::Job),
        }
    }
}

fn note_status(statuses: &mut BTreeSet<CleanText>, row: &Job) {
    if let Some(Status::Unknown(word)) = &row.status
        && !statuses.contains(word)
    {
        statuses.insert(word.clone());
    }
}

fn shown_group(row: &Job, held: bool) -> JobGroup {
    match row.group() {
        JobGroup::Done if held => JobGroup::NeedsYou,
        group => group,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::app::filter::JobFilter;
    use crate::model::Time;
    use crate::model::job::JobId;

    pub(crate) fn at(seconds: i64) -> Time {
        Time::from_timestamp(1_800_000_000 + seconds, 0).expect("in range")
    }

    pub(crate) fn row(key: i64, status: Status) -> Job {
        Job {
            id: JobId::new(&format!("job-{key}")),
            status: Some(status),
            checked_at: Some(at(key)),
            revision: key,
            ..Job::new(JobKey(key), CleanText::line(&format!("Job {key}")), at(key))
        }
    }

    fn keys(list: &JobList) -> Vec<String> {
        let name = |line: JobLine<'_>| match line {
            JobLine::Heading(group, n, _) => format!("{} {n}", group.name()),
            JobLine::Job(row) => row.key.0.to_string(),
        };
        (0..list.line_count()).filter_map(|at| list.line(at)).map(name).collect()
    }

    #[test]
    fn groups_stand_in_the_order_of_need_and_the_newest_first() {
        let mut list = JobList::default();
        let mut handled = row(4, Status::Failed);
        handled.handled_at = Some(at(100));
        list.replace(vec![row(1, Status::Active), row(2, Status::Failed), row(3, Status::Active), handled]);
        assert_eq!(keys(&list), ["needs you 1", "2", "working 2", "3", "1", "done 1", "4"]);
    }

    #[test]
    fn a_job_that_was_acted_on_leaves_its_group_only_with_the_selection() {
        let mut list = JobList::default();
        list.replace(vec![row(1, Status::Failed), row(2, Status::Failed)]);
        list.select(JobKey(2));
        let mut handled = row(2, Status::Failed);
        (handled.handled_at, handled.revision) = (Some(at(100)), 10);
        assert!(list.upsert(handled));
        assert_eq!(keys(&list), ["needs you 2", "2", "1"]);
        list.move_by(1);
        assert_eq!(keys(&list), ["needs you 1", "1", "done 1", "2"]);
    }

    #[test]
    fn the_selection_stays_on_its_job_when_the_list_changes() {
        let mut list = JobList::default();
        list.replace((1..=5).map(|key| row(key, Status::Active)).collect());
        list.select(JobKey(3));
        list.upsert(row(9, Status::Active));
        let mut failed = row(5, Status::Failed);
        failed.revision = 20;
        list.upsert(failed);
        assert_eq!(list.selected().map(|row| row.key), Some(JobKey(3)));
    }

    #[test]
    fn an_older_row_does_not_replace_a_newer_one() {
        let mut list = JobList::default();
        list.replace(vec![row(5, Status::Failed)]);
        let mut stale = row(5, Status::Active);
        stale.revision = 1;
        assert!(!list.upsert(stale));
        assert_eq!(list.get(JobKey(5)).and_then(|row| row.status.clone()), Some(Status::Failed));
    }

    #[test]
    fn dismissed_jobs_are_hidden_until_asked_for() {
        let mut list = JobList::default();
        let mut put_away = row(2, Status::Active);
        put_away.dismissed = true;
        list.replace(vec![row(1, Status::Active), put_away]);
        assert_eq!(keys(&list), ["working 1", "1", "dismissed 1"]);
        list.move_by(1);
        assert_eq!(list.selected().map(|row| row.key), Some(JobKey(1)));
        list.toggle_dismissed();
        assert_eq!(keys(&list), ["working 1", "1", "dismissed 1", "2"]);
    }

    #[test]
    fn the_heading_of_the_first_job_stays_in_sight() {
        let mut list = JobList::default();
        list.replace((1..=50).map(|key| row(key, Status::Active)).collect());
        list.move_to_end(true);
        list.keep_in_sight(10);
        assert_eq!(list.top(), 41);
        list.move_to_end(false);
        list.keep_in_sight(10);
        assert_eq!(list.top(), 0);
    }

    proptest::proptest! {
        #[test]
        fn the_order_stays_whole_whatever_changes(changes in proptest::collection::vec((1_i64..20, 0_u8..4, proptest::bool::ANY, -3_isize..4), 1..80)) {
            let mut list = JobList::default();
            for (n, (key, status, dismissed, step)) in changes.into_iter().enumerate() {
                let status = [Status::Active, Status::Failed, Status::Completed, Status::Archived][usize::from(status)].clone();
                let mut changed = row(key, status);
                changed.revision = i64::try_from(n).expect("small") + 1;
                changed.dismissed = dismissed;
                list.upsert(changed);
                list.move_by(step);
                list.keep_in_sight(5);
                match n % 7 {
                    2 => list.sort(JobSorting { by: list.sorting.by.next(), reversed: dismissed }),
                    3 => list.toggle_mark(),
                    4 => list.set_filter(JobFilter::parse(["s:failed", "1", "!s:done", ""][usize::from(key > 9) + usize::from(dismissed)])),
                    5 => list.toggle_dismissed(),
                    _ => {}
                }
                proptest::prop_assert!(list.order.is_whole());
                proptest::prop_assert_eq!(list.counts.iter().sum::<usize>(), list.rows.len());
                proptest::prop_assert_eq!(list.marked(), list.marked_keys().len());
                for row in list.shown_rows() {
                    proptest::prop_assert!(list.position(row.key).is_some(), "every row is found by its key");
                }
                let seen = list.selected().and_then(|row| list.position(row.key));
                proptest::prop_assert_eq!(seen.is_some(), list.shown() > 0, "what has a line has a selection in it");
            }
        }
    }

    #[test]
    fn a_row_that_became_another_one_leaves_the_list_and_takes_the_selection_along() {
        let mut list = JobList::default();
        list.replace((1..=4).map(|key| row(key, Status::Active)).collect());
        list.select(JobKey(2));
        assert!(list.merge(JobKey(2), JobKey(3)));
        assert_eq!((list.len(), list.get(JobKey(2)), list.count_of(JobGroup::Working)), (3, None, 3));
        assert_eq!(list.selected().map(|row| row.key), Some(JobKey(3)));
        assert!(!list.merge(JobKey(2), JobKey(3)), "only once");
    }
}
