//! The jobs list: its rows, the selection and the visible lines.
//!
//! Each row is stored once, in `rows`. `order` holds the sorted indexes of the rows that pass the filter. A key press
//! needs only binary searches, however many jobs there are, and a changed row moves only one entry. The module `index`
//! filters and sorts the rows, `selection` moves the selection, `marks` holds the marks, and `filter` has the matching
//! rules.

pub(super) mod actions;
pub mod detail;
pub(super) mod detail_draw;
mod index;
pub(in crate::tui) mod job_facts;
pub(super) mod list_draw;
pub mod messages;
mod next_step;
pub(super) mod screen;
mod selection;
mod update;
mod viewport;

use super::filter::{FilterState, Match};
use super::format::{display_width, position_text};
use super::marks::MarkedJobs;
use super::order::{JobOrder, JobSortKey, JobSorting, ListItem, SECTION_COUNT, section_index};
use crate::model::job::{FirstJobs, Job, JobGroup, JobKey, PullRequestCounts};
use crate::model::prompt::DeliveryKind;
use crate::model::remote_job::Status;
use crate::model::text::CleanText;
use crate::tui::widgets::scroll::FirstLine;
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

/// The number of cells that a wide row has in addition to the title, including a blank at the end. The columns are in
/// [`list_draw`].
const CELLS_BESIDE_TITLE: usize = 33;

/// The number of blank cells before the column with the authors.
pub(in crate::tui) const AUTHOR_GAP: usize = 2;
/// The limits of the width of the column with the authors.
const MIN_AUTHOR_CELLS: usize = 4;
const MAX_AUTHOR_CELLS: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JobLine<'a> {
    /// The heading of a group, the number of its jobs, and whether they are hidden.
    Heading(JobGroup, usize, bool),
    Job(&'a Job),
}

#[derive(Debug, Default)]
pub struct JobList {
    rows: Vec<Job>,
    index: HashMap<JobKey, usize>,
    pub(super) order: JobOrder,
    sorting: JobSorting,
    filter_state: FilterState,
    /// For each row index, whether matching the row gave `Match::Candidate`: the row fails the filter, but may match a
    /// longer one, because matches are fuzzy.
    candidates: Vec<bool>,
    pub(super) marks: MarkedJobs,
    /// How many jobs each group has, regardless of the filter.
    group_counts: [usize; SECTION_COUNT],
    /// How many jobs the agent is working on, including dismissed jobs.
    working_count: usize,
    pull_request_counts: PullRequestCounts,
    selected: Option<JobKey>,
    /// Whether the selected job stays in the group “needs you” until another job is selected.
    keeps_selected_in_needs_you: bool,
    /// Whether the selected job stays in the list until another job is selected, although it no longer passes the
    /// filter.
    keeps_selected_listed: bool,
    /// Whether only the first rows are loaded, so that the list can't be sorted or filtered yet.
    is_partial: bool,
    top: FirstLine,
    /// The width in cells of the longest title.
    max_title_width: usize,
    /// The width in cells of the longest name of an author; 0 if no job has one.
    max_author_width: usize,
    /// All statuses that docdeck doesn't know, from current and former rows.
    unrecognized_statuses: BTreeSet<CleanText>,
}

impl JobList {
    /// Shows the first rows while the others are still being read. Does nothing if the list is filtered or not in the
    /// default order, because both need all rows (see [`JobList::replace`]).
    pub fn show_first_rows(&mut self, first: FirstJobs) {
        if self.sorting != JobSorting::default() || !self.filter_state.filter().is_empty() {
            return;
        }
        self.replace(first.jobs);
        self.is_partial = true;
        self.group_counts = first.group_counts;
        self.working_count = first.working_count;
        self.pull_request_counts = first.pull_requests;
        self.order.set_section_sizes(first.group_counts);
    }

    pub fn replace(&mut self, rows: Vec<Job>) {
        self.is_partial = false;
        rows.iter().for_each(|row| add_unknown_status(&mut self.unrecognized_statuses, row));
        self.max_title_width = rows.iter().map(title_width).max().unwrap_or(0);
        self.max_author_width = rows.iter().map(author_width).max().unwrap_or(0);
        self.index = rows.iter().enumerate().map(|(index, row)| (row.key, index)).collect();
        self.rows = rows;
        self.rebuild();
    }

    /// Inserts or replaces a row, unless the current one is newer. Returns whether anything changed.
    pub fn upsert(&mut self, row: Job) -> bool {
        add_unknown_status(&mut self.unrecognized_statuses, &row);
        self.max_title_width = self.max_title_width.max(title_width(&row));
        self.max_author_width = self.max_author_width.max(author_width(&row));
        let Some(&index) = self.index.get(&row.key) else {
            if self.is_partial {
                // The complete list, which is still being read, will contain this row.
                return false;
            }
            self.index.insert(row.key, self.rows.len());
            self.rows.push(row);
            self.filter_state.mark_searches_stale();
            self.finish_change(self.rows.len() - 1, None);
            if self.selected.is_none() {
                self.select_first();
            }
            return true;
        };
        let Some(old) = self.rows.get(index) else { return false };
        if old.revision > row.revision || *old == row {
            return false;
        }
        let position = self.selected_position();
        let old_key = self.begin_change(index);
        if self.selected == Some(row.key) {
            self.keeps_selected_in_needs_you = self.keeps_selected_in_needs_you || row.group() == JobGroup::NeedsYou;
        }
        if let Some(slot) = self.rows.get_mut(index) {
            *slot = row;
        }
        self.finish_change(index, old_key);
        if self.selected_position().is_none() {
            self.select_near(position.unwrap_or(0));
        }
        true
    }

    /// Returns the group in which a row is shown.
    pub fn shown_group(&self, row: &Job) -> JobGroup {
        shown_group(row, self.keeps_selected_in_needs_you && self.selected == Some(row.key))
    }

    fn sort_key_at(&self, index: usize) -> Option<JobSortKey> {
        self.rows.get(index).map(|row| self.sorting.key(row, self.shown_group(row)))
    }

    fn update_counts(&mut self, index: usize, by: isize) {
        let Some((group, fact)) = self.rows.get(index).map(|row| (row.group(), row.pr_fact())) else {
            return;
        };
        self.pull_request_counts.adjust(group, fact, by);
        if let Some(count) = self.group_counts.get_mut(section_index(group)) {
            *count = count.saturating_add_signed(by);
        }
        if self.rows.get(index).is_some_and(Job::counts_as_working) {
            self.working_count = self.working_count.saturating_add_signed(by);
        }
    }

    /// Removes a row from the counts before the row changes. Returns its sort key if it is in the list.
    fn begin_change(&mut self, index: usize) -> Option<JobSortKey> {
        self.update_counts(index, -1);
        self.sort_key_at(index).filter(|key| self.order.position(*key).is_some())
    }

    /// Adds a changed or new row to the counts. Then inserts, moves or removes its entry in the list, depending on
    /// whether the row passes the filter. `old_key` is what `begin_change` returned, or `None` for a new row.
    fn finish_change(&mut self, index: usize, old_key: Option<JobSortKey>) {
        self.update_counts(index, 1);
        let outcome = self.match_at(index);
        self.set_candidate(index, outcome == Match::Candidate);
        let (Some(key), Some(row)) = (self.sort_key_at(index), self.rows.get(index)) else { return };
        let new_key = (outcome == Match::Passes).then_some(key);
        if let Some(old_key) = old_key {
            self.marks.decrement_if_marked(old_key.0, row.key);
        }
        if let Some(new_key) = new_key {
            self.marks.increment_if_marked(new_key.0, row.key);
        }
        match (old_key, new_key) {
            (Some(old_key), Some(new_key)) => self.order.move_entry(old_key, new_key),
            (Some(old_key), None) => self.order.remove(old_key),
            (None, Some(new_key)) => self.order.insert(new_key, index),
            (None, None) => {}
        }
    }

    /// Returns the position of a row in the list. Returns `None` if the row is not in the list or hidden.
    pub(super) fn position(&self, key: JobKey) -> Option<usize> {
        let index = *self.index.get(&key)?;
        self.order.position(self.sort_key_at(index)?).filter(|&at| at < self.order.listed_count())
    }

    pub(super) fn row_at(&self, position: usize) -> Option<&Job> {
        self.order.row_index_at(position).and_then(|index| self.rows.get(index))
    }

    /// Returns the jobs at these positions, each after the index of its section.
    pub(super) fn keys_in(&self, positions: RangeInclusive<usize>) -> impl Iterator<Item = (usize, JobKey)> {
        let entries = positions.filter_map(|position| self.order.section_and_row_index(position));
        entries.filter_map(|(section, index)| Some((section, self.rows.get(index)?.key)))
    }

    /// Returns how many jobs are in a group, regardless of the filter.
    pub fn count_of(&self, group: JobGroup) -> usize {
        self.group_counts.get(section_index(group)).copied().unwrap_or(0)
    }

    /// Returns how many new jobs wait in the queue and are not paused, including dismissed jobs, whose prompts are sent
    /// as well. Queued follow-ups don't count, because they have another limit.
    pub fn count_queued_new_jobs(&self) -> usize {
        let is_queued = |row: &&Job| row.id.is_none() && row.local.undelivered == Some(DeliveryKind::Queued);
        self.rows.iter().filter(is_queued).count()
    }

    /// Returns the number of all jobs that are loaded, whether they are listed or not.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns how many jobs pass the filter, including hidden dismissed jobs.
    pub fn matching_count(&self) -> usize {
        self.order.len()
    }

    /// Returns how many jobs are listed, not including hidden dismissed jobs.
    pub fn listed_count(&self) -> usize {
        self.order.listed_count()
    }

    /// Returns all statuses that docdeck doesn't know, from current and former jobs, sorted.
    pub fn unrecognized_statuses(&self) -> impl Iterator<Item = &str> + Clone {
        self.unrecognized_statuses.iter().map(CleanText::as_str)
    }

    /// Returns how many jobs the agent is working on, including dismissed jobs.
    pub fn working_count(&self) -> usize {
        self.working_count
    }

    /// Returns how many of the jobs that need the user have a pull request to review, and how many have one with
    /// failing checks.
    pub fn pull_request_counts(&self) -> PullRequestCounts {
        self.pull_request_counts
    }

    /// Returns all rows, in no particular order.
    pub fn rows(&self) -> impl Iterator<Item = &Job> {
        self.rows.iter()
    }

    pub fn get(&self, key: JobKey) -> Option<&Job> {
        self.index.get(&key).and_then(|&index| self.rows.get(index))
    }

    /// Removes the row `gone`, because its job was merged into the job `into`. If `gone` was selected, selects `into`.
    /// Returns whether the row `gone` existed.
    pub fn remove_merged(&mut self, gone: JobKey, into: JobKey) -> bool {
        let Some(&index) = self.index.get(&gone) else { return false };
        if self.selected == Some(gone) {
            self.select(into);
        }
        let mut rows = std::mem::take(&mut self.rows);
        rows.remove(index);
        self.replace(rows);
        true
    }

    /// Removes the rows that `keep` rejects. If the selected job is removed, selects the job that takes its position.
    /// Returns how many rows were removed. Does nothing while only the first rows are loaded.
    pub(super) fn retain(&mut self, keep: impl Fn(JobKey) -> bool) -> usize {
        let before = self.rows.len();
        if self.is_partial || self.rows.iter().all(|row| keep(row.key)) {
            return 0;
        }
        let position = self.selected_position();
        let mut rows = std::mem::take(&mut self.rows);
        rows.retain(|row| keep(row.key));
        self.marks.retain(&keep);
        let is_left = self.selected.is_some_and(&keep);
        self.replace(rows);
        if !is_left {
            self.select_near(position.unwrap_or(0));
        }
        before - self.rows.len()
    }

    /// Returns the listed rows in their order on screen.
    pub fn shown_rows(&self) -> impl Iterator<Item = &Job> {
        self.order.row_indexes().filter_map(|index| self.rows.get(index))
    }

    pub fn selected(&self) -> Option<&Job> {
        self.selected.and_then(|key| self.get(key))
    }

    pub fn is_selected(&self, row: &Job) -> bool {
        self.selected == Some(row.key)
    }

    /// Whether the list has no group headings except that of the dismissed jobs, because it is not sorted by group.
    pub fn is_flat(&self) -> bool {
        self.order.is_flat
    }

    pub fn shows_dismissed(&self) -> bool {
        self.order.shows_dismissed
    }

    /// Returns the number of lines, including headings.
    pub fn line_count(&self) -> usize {
        self.order.line_count()
    }

    /// Returns the visible lines of a view of `rows` lines, from top to bottom.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = JobLine<'_>> {
        (self.top()..self.line_count().min(self.top() + rows)).filter_map(|at| self.line(at))
    }

    pub fn top(&self) -> usize {
        self.top.get()
    }

    /// Returns the number of columns of a list that shows all titles in full.
    pub fn needed_list_columns(&self) -> usize {
        let author = self.author_cells().map_or(0, |cells| AUTHOR_GAP + cells);
        self.max_title_width + author + CELLS_BESIDE_TITLE
    }

    /// Returns the width of the column with the authors; `None` if no job has an author.
    pub(super) fn author_cells(&self) -> Option<usize> {
        (self.max_author_width > 0).then(|| self.max_author_width.clamp(MIN_AUTHOR_CELLS, MAX_AUTHOR_CELLS))
    }

    /// Returns the position in a list of `rows` visible lines, such as `2 of 44, 28 more ↓`; empty if no job is
    /// selected.
    pub fn position_text(&self, rows: usize) -> String {
        let total = self.listed_count();
        let Some(position) = self.selected_position() else { return String::new() };
        let (mut shown, mut end) = (0, total);
        // A binary search for the position of the first job below the visible lines.
        while shown < end {
            let middle = shown.midpoint(end);
            if self.order.line_of(middle) < self.top() + rows {
                shown = middle + 1;
            } else {
                end = middle;
            }
        }
        position_text(position, total, total - shown)
    }

    /// Returns the difference between the number of jobs in a group and the number of rows shown in it: -1, 0 or 1. The
    /// two numbers differ if the selected job has changed its group, but is still shown in its former group.
    fn group_count_correction(&self, group: JobGroup) -> isize {
        let selected = self.selected().filter(|row| self.shown_group(row) != row.group());
        selected.map_or(0, |row| isize::from(row.group() == group) - isize::from(self.shown_group(row) == group))
    }

    fn line(&self, at: usize) -> Option<JobLine<'_>> {
        match self.order.item_on_line(at)? {
            ListItem::Heading(group, size, hidden) => {
                Some(JobLine::Heading(group, size.saturating_add_signed(self.group_count_correction(group)), hidden))
            }
            ListItem::Row(index) => self.rows.get(index).map(JobLine::Job),
        }
    }
}

fn add_unknown_status(statuses: &mut BTreeSet<CleanText>, row: &Job) {
    if let Some(Status::Unknown(word)) = &row.remote.status
        && !statuses.contains(word)
    {
        statuses.insert(word.clone());
    }
}

fn title_width(row: &Job) -> usize {
    display_width(row.local.title.as_str())
}

fn author_width(row: &Job) -> usize {
    row.author().map_or(0, |author| display_width(author.as_str()))
}

fn shown_group(row: &Job, keeps_group: bool) -> JobGroup {
    match row.group() {
        JobGroup::Done if keeps_group => JobGroup::NeedsYou,
        group => group,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::Time;
    use crate::model::prompt::{Delivery, Prompt, PromptId, PromptKind, Thread};
    use crate::model::pull_request::tests::open_pull_request;
    use crate::model::remote_job::JobId;
    use crate::tui::filter::JobFilter;
    use crate::tui::widgets::scroll::Scroll;

    pub(crate) fn at(seconds: i64) -> Time {
        Time::from_timestamp(1_800_000_000 + seconds, 0).expect("in range")
    }

    pub(crate) fn row(key: i64, status: Status) -> Job {
        let mut job = Job::new(JobKey(key), CleanText::line(&format!("Job {key}")), at(key));
        job.id = JobId::new(&format!("job-{key}"));
        job.remote.status = Some(status);
        job.local.checked_at = Some(at(key));
        job.revision = key;
        job
    }

    /// A thread that consists of one accepted prompt.
    pub(crate) fn thread_of_prompt(text: &str) -> Thread {
        let prompt = Prompt {
            id: PromptId(1),
            kind: PromptKind::Create,
            text: text.to_owned(),
            delivery: Delivery::Accepted,
            written_at: at(0),
            sent_at: None,
            state_at: None,
            author: None,
        };
        Thread { prompts: vec![prompt], events: Vec::new() }
    }

    fn shown_lines(list: &JobList) -> Vec<String> {
        let name = |line: JobLine<'_>| match line {
            JobLine::Heading(group, n, _) => format!("{} {n}", group.name()),
            JobLine::Job(row) => row.key.0.to_string(),
        };
        (0..list.line_count()).filter_map(|at| list.line(at)).map(name).collect()
    }

    #[test]
    fn groups_have_a_fixed_order_and_list_the_newest_job_first() {
        let mut list = JobList::default();
        let mut handled = row(4, Status::Failed);
        handled.local.handled_at = Some(at(100));
        list.replace(vec![row(1, Status::Active), row(2, Status::Failed), row(3, Status::Active), handled]);
        assert_eq!(shown_lines(&list), ["needs you 1", "2", "working 2", "3", "1", "done 1", "4"]);
    }

    #[test]
    fn a_handled_job_changes_its_group_only_when_the_selection_moves_on() {
        let mut list = JobList::default();
        list.replace(vec![row(1, Status::Failed), row(2, Status::Failed)]);
        list.select(JobKey(2));
        let mut handled = row(2, Status::Failed);
        (handled.local.handled_at, handled.revision) = (Some(at(100)), 10);
        assert!(list.upsert(handled));
        assert_eq!(shown_lines(&list), ["needs you 1", "2", "1"]);
        list.move_by(1);
        assert_eq!(shown_lines(&list), ["needs you 1", "1", "done 1", "2"]);
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
        assert_eq!(list.get(JobKey(5)).and_then(|row| row.remote.status.clone()), Some(Status::Failed));
    }

    #[test]
    fn dismissed_jobs_are_hidden_until_the_user_shows_them() {
        let mut list = JobList::default();
        let mut dismissed = row(2, Status::Active);
        dismissed.local.dismissed = true;
        list.replace(vec![row(1, Status::Active), dismissed]);
        assert_eq!(shown_lines(&list), ["working 1", "1", "dismissed 1"]);
        list.move_by(1);
        assert_eq!(list.selected().map(|row| row.key), Some(JobKey(1)));
        list.toggle_dismissed_visibility();
        assert_eq!(shown_lines(&list), ["working 1", "1", "dismissed 1", "2"]);
    }

    #[test]
    fn scrolling_to_the_first_job_shows_the_heading_above_it() {
        let mut list = JobList::default();
        list.replace((1..=50).map(|key| row(key, Status::Active)).collect());
        list.scroll(Scroll::Bottom, 1);
        list.keep_selected_visible(10);
        assert_eq!(list.top(), 41);
        list.scroll(Scroll::Top, 1);
        list.keep_selected_visible(10);
        assert_eq!(list.top(), 0);
    }

    proptest::proptest! {
        #[test]
        fn the_order_stays_consistent_after_any_changes(changes in proptest::collection::vec((1_i64..20, 0_u8..4, proptest::bool::ANY, -3_isize..4), 1..80)) {
            let mut list = JobList::default();
            for (n, (key, status, dismissed, step)) in changes.into_iter().enumerate() {
                let status = [Status::Active, Status::Failed, Status::Completed, Status::Archived][usize::from(status)].clone();
                let mut changed = row(key, status);
                changed.revision = i64::try_from(n).expect("small") + 1;
                changed.local.dismissed = dismissed;
                changed.pull_request = (key % 3 > 0).then(|| Box::new(open_pull_request(changed.created_at)));
                list.upsert(changed);
                list.move_by(step);
                list.keep_selected_visible(5);
                match n % 7 {
                    2 => list.sort(JobSorting { by: list.sorting.by.next(), is_reversed: dismissed }),
                    3 => list.toggle_mark(),
                    4 => list.set_filter(JobFilter::parse(["s:failed", "1", "!s:done", ""][usize::from(key > 9) + usize::from(dismissed)])),
                    5 => list.toggle_dismissed_visibility(),
                    _ => {}
                }
                proptest::prop_assert!(list.order.is_consistent());
                proptest::prop_assert_eq!(list.group_counts.iter().sum::<usize>(), list.rows.len());
                let mut counts = PullRequestCounts::default();
                list.rows.iter().for_each(|row| counts.adjust(row.group(), row.pr_fact(), 1));
                proptest::prop_assert_eq!(list.pull_request_counts, counts);
                proptest::prop_assert_eq!(list.marked_count(), list.marked_keys().len());
                for row in list.shown_rows() {
                    proptest::prop_assert!(list.position(row.key).is_some(), "every row is found by its key");
                }
                let seen = list.selected().and_then(|row| list.position(row.key));
                proptest::prop_assert_eq!(seen.is_some(), list.listed_count() > 0, "a job is selected if any is listed");
            }
        }
    }

    #[test]
    fn a_merged_row_is_removed_and_its_selection_moves_to_the_other_row() {
        let mut list = JobList::default();
        list.replace((1..=4).map(|key| row(key, Status::Active)).collect());
        list.select(JobKey(2));
        assert!(list.remove_merged(JobKey(2), JobKey(3)));
        assert_eq!((list.len(), list.get(JobKey(2)), list.count_of(JobGroup::Working)), (3, None, 3));
        assert_eq!(list.selected().map(|row| row.key), Some(JobKey(3)));
        assert!(!list.remove_merged(JobKey(2), JobKey(3)), "only once");
    }
}
