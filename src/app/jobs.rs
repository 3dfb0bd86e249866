//! The jobs list: rows in their groups, the selection, what is visible.
//!
//! Rows are kept once, in `rows`; `order` holds their places sorted by group and age, so that a key costs a binary search
//! and a change moves one entry, whatever the number of jobs.

use super::scroll;
use crate::model::Time;
use crate::model::row::{Group, JobKey, JobRow};
use std::cmp::Reverse;
use std::collections::HashMap;

/// A line of the list as drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Line<'a> {
    /// The heading of a group, with the number of its jobs, and whether they are hidden.
    Heading(Group, usize, bool),
    Job(&'a JobRow),
}

/// The list and its selection.
#[derive(Debug, Default)]
pub struct JobList {
    rows: Vec<JobRow>,
    place: HashMap<JobKey, usize>,
    order: Vec<usize>,
    /// How many jobs each group has.
    sizes: [usize; Group::ALL.len()],
    selected: Option<JobKey>,
    /// The selected job stays among those that need the user until the selection leaves it.
    held: bool,
    /// First visible line.
    top: usize,
    /// Dismissed jobs are hidden unless asked for.
    show_dismissed: bool,
    revision: i64,
}

type SortKey = (Group, Reverse<Time>, Reverse<JobKey>);

impl JobList {
    /// Replaces all rows.
    pub fn replace(&mut self, rows: Vec<JobRow>) {
        self.revision = rows.iter().map(|row| row.revision).max().unwrap_or(0);
        self.place = rows.iter().enumerate().map(|(place, row)| (row.key, place)).collect();
        self.rows = rows;
        self.sort_all();
        if self.selected.is_none_or(|key| !self.place.contains_key(&key)) {
            self.select_first();
        }
    }

    fn sort_all(&mut self) {
        let mut keyed: Vec<(SortKey, usize)> =
            self.rows.iter().enumerate().map(|(place, row)| (self.sort_key(row), place)).collect();
        keyed.sort_unstable();
        self.sizes = [0; Group::ALL.len()];
        for ((group, ..), _) in &keyed {
            self.count(*group, 1);
        }
        self.order = keyed.into_iter().map(|(_, place)| place).collect();
    }

    /// Puts a row in or replaces it; a row older than the one here is ignored. Whether anything changed.
    pub fn upsert(&mut self, row: JobRow) -> bool {
        self.revision = self.revision.max(row.revision);
        let Some(&place) = self.place.get(&row.key) else {
            self.place.insert(row.key, self.rows.len());
            self.rows.push(row);
            self.insert_into_order(self.rows.len() - 1);
            if self.selected.is_none() {
                self.select_first();
            }
            return true;
        };
        let Some(old) = self.rows.get(place) else { return false };
        if old.revision > row.revision || *old == row {
            return false;
        }
        self.remove_from_order(place);
        if self.selected == Some(row.key) {
            self.held = self.held || row.group() == Group::NeedsYou;
        }
        if let Some(slot) = self.rows.get_mut(place) {
            *slot = row;
        }
        self.insert_into_order(place);
        true
    }

    /// The group under which a row stands now.
    pub fn shown_group(&self, row: &JobRow) -> Group {
        let group = row.group();
        let held = self.held && self.selected == Some(row.key);
        if held && group == Group::Done { Group::NeedsYou } else { group }
    }

    fn sort_key(&self, row: &JobRow) -> SortKey {
        (self.shown_group(row), Reverse(row.age_from()), Reverse(row.key))
    }

    fn key_at(&self, place: usize) -> Option<SortKey> {
        self.rows.get(place).map(|row| self.sort_key(row))
    }

    fn insert_into_order(&mut self, place: usize) {
        let Some(key) = self.key_at(place) else { return };
        let at = self.order.partition_point(|&other| self.key_at(other).is_some_and(|other| other < key));
        self.order.insert(at, place);
        self.count(key.0, 1);
    }

    fn remove_from_order(&mut self, place: usize) {
        if let (Some(key), Some(at)) = (self.key_at(place), self.position(place)) {
            self.order.remove(at);
            self.count(key.0, -1);
        }
    }

    fn count(&mut self, group: Group, by: isize) {
        let at = Group::ALL.iter().position(|&other| other == group).unwrap_or(0);
        if let Some(size) = self.sizes.get_mut(at) {
            *size = size.saturating_add_signed(by);
        }
    }

    /// Place in `order`, by binary search.
    fn position(&self, place: usize) -> Option<usize> {
        let key = self.key_at(place)?;
        let at = self.order.partition_point(|&other| self.key_at(other).is_some_and(|other| other < key));
        (self.order.get(at) == Some(&place)).then_some(at)
    }

    /// How many jobs stand under a group.
    pub fn count_of(&self, group: Group) -> usize {
        Group::ALL.iter().zip(self.sizes).find(|(other, _)| **other == group).map_or(0, |(_, size)| size)
    }

    /// How many jobs are known here.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no job is known here.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Largest revision seen.
    pub fn revision(&self) -> i64 {
        self.revision
    }

    /// Jobs that the agent works on.
    pub fn active(&self) -> usize {
        self.count_of(Group::Working)
    }

    /// A row by its key.
    pub fn get(&self, key: JobKey) -> Option<&JobRow> {
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

    /// The selected row.
    pub fn selected(&self) -> Option<&JobRow> {
        self.selected.and_then(|key| self.get(key))
    }

    /// Whether this row is the selected one.
    pub fn is_selected(&self, row: &JobRow) -> bool {
        self.selected == Some(row.key)
    }

    /// Whether dismissed jobs are shown.
    pub fn shows_dismissed(&self) -> bool {
        self.show_dismissed
    }

    /// Jobs that have a line: all but the hidden ones, which come last.
    fn shown(&self) -> usize {
        let hidden = if self.show_dismissed { 0 } else { self.count_of(Group::Dismissed) };
        self.order.len() - hidden
    }

    /// Each group that has jobs: its first place in the order, its size, and how many lines it takes.
    fn groups(&self) -> impl Iterator<Item = (Group, usize, usize, usize)> + '_ {
        let mut first = 0;
        Group::ALL.into_iter().zip(self.sizes).filter_map(move |(group, size)| {
            let start = first;
            first += size;
            let hidden = group == Group::Dismissed && !self.show_dismissed;
            (size > 0).then_some((group, start, size, if hidden { 1 } else { size + 1 }))
        })
    }

    /// Lines in all, headings included.
    pub fn line_count(&self) -> usize {
        self.groups().map(|(.., lines)| lines).sum()
    }

    /// The visible lines, from the first visible one on.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = Line<'_>> {
        (self.top..self.line_count().min(self.top + rows)).filter_map(|at| self.line(at))
    }

    /// First visible line.
    pub fn top(&self) -> usize {
        self.top
    }

    fn line(&self, at: usize) -> Option<Line<'_>> {
        let mut line = 0;
        for (group, start, size, lines) in self.groups() {
            if at < line + lines {
                return match at - line {
                    0 => Some(Line::Heading(group, size, lines == 1)),
                    n => self.order.get(start + n - 1).and_then(|&place| self.rows.get(place)).map(Line::Job),
                };
            }
            line += lines;
        }
        None
    }

    /// The line of the job at this place of the order.
    fn line_of(&self, position: usize) -> usize {
        let headings = self.groups().take_while(|(_, start, ..)| *start <= position).count();
        position + headings
    }

    fn selected_position(&self) -> Option<usize> {
        self.place.get(&self.selected?).and_then(|&place| self.position(place))
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

    fn select_first(&mut self) {
        self.selected = None;
        self.select_position(0);
    }

    fn select_position(&mut self, position: usize) {
        let key = self.order.get(position).and_then(|&place| self.rows.get(place)).map(|row| row.key);
        if position < self.shown() {
            self.select_key(key);
        }
    }

    /// Selects a job, if it is there.
    pub fn select(&mut self, key: JobKey) {
        if self.place.contains_key(&key) {
            self.select_key(Some(key));
        }
    }

    fn select_key(&mut self, key: Option<JobKey>) {
        if key == self.selected {
            return;
        }
        let left = self.selected.and_then(|old| self.place.get(&old).copied());
        // The job that is left goes to where it belongs: out under the old rule, in under the new one.
        if let Some(place) = left {
            self.remove_from_order(place);
        }
        self.selected = key;
        self.held = false;
        if let Some(place) = left {
            self.insert_into_order(place);
        }
        self.held = self.selected().is_some_and(|row| row.group() == Group::NeedsYou);
    }

    /// Moves the selection off a job that is about to leave its place: to the one below, or above at the end.
    pub fn leave_selected(&mut self) {
        let Some(at) = self.selected_position() else { return };
        let by = if at + 1 < self.shown() { 1 } else { -1 };
        self.move_by(by);
    }

    /// Shows or hides dismissed jobs; a hidden selection moves to the last one shown.
    pub fn toggle_dismissed(&mut self) {
        self.show_dismissed = !self.show_dismissed;
        if self.selected_position().is_some_and(|at| at >= self.shown()) {
            self.move_to_end(true);
        }
    }

    /// Keeps the selection in sight: `rows` lines are visible. Its group's heading comes with the first job.
    pub fn keep_in_sight(&mut self, rows: usize) {
        let Some(position) = self.selected_position() else {
            self.top = 0;
            return;
        };
        let line = self.line_of(position);
        self.top = scroll::follow(self.top, line, rows, self.line_count());
        let under_heading = matches!(line.checked_sub(1).and_then(|at| self.line(at)), Some(Line::Heading(..)));
        if under_heading && self.top == line && rows > 1 {
            self.top = line - 1;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::job::{JobId, Status};
    use crate::model::text::CleanText;

    pub(crate) fn at(seconds: i64) -> Time {
        Time::from_timestamp(1_800_000_000 + seconds, 0).expect("in range")
    }

    pub(crate) fn row(key: i64, status: Status) -> JobRow {
        JobRow {
            named: false,
            tags: Vec::new(),
            note: None,
            key: JobKey(key),
            id: JobId::new(&format!("job-{key}")),
            title: CleanText::line(&format!("Job {key}")),
            status: Some(status),
            repository: None,
            git_ref: None,
            model: None,
            pr_link: None,
            created_at: at(key),
            archived_at: None,
            started_at: at(key),
            finished_at: None,
            changed_at: at(key),
            checked_at: Some(at(key)),
            looked_at: None,
            gone: false,
            dismissed: false,
            place: None,
            undelivered: None,
            revision: key,
        }
    }

    fn keys(list: &JobList) -> Vec<String> {
        let name = |line: Line<'_>| match line {
            Line::Heading(group, n, _) => format!("{} {n}", group.name()),
            Line::Job(row) => row.key.0.to_string(),
        };
        (0..list.line_count()).filter_map(|at| list.line(at)).map(name).collect()
    }

    #[test]
    fn groups_stand_in_the_order_of_need_and_the_newest_first() {
        let mut list = JobList::default();
        let mut looked = row(4, Status::Failed);
        looked.looked_at = Some(at(100));
        list.replace(vec![row(1, Status::Active), row(2, Status::Failed), row(3, Status::Active), looked]);
        assert_eq!(keys(&list), ["needs you 1", "2", "working 2", "3", "1", "done 1", "4"]);
    }

    #[test]
    fn a_job_that_was_looked_at_leaves_its_group_only_with_the_selection() {
        let mut list = JobList::default();
        list.replace(vec![row(1, Status::Failed), row(2, Status::Failed)]);
        list.select(JobKey(2));
        let mut looked = row(2, Status::Failed);
        (looked.looked_at, looked.revision) = (Some(at(100)), 10);
        assert!(list.upsert(looked));
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
                let mut sorted: Vec<_> = list.order.clone();
                sorted.sort_by_key(|&place| list.key_at(place));
                proptest::prop_assert_eq!(&sorted, &list.order);
                proptest::prop_assert_eq!(list.order.len(), list.rows.len());
                proptest::prop_assert_eq!(list.sizes.iter().sum::<usize>(), list.rows.len());
            }
        }
    }

    #[test]
    fn a_row_that_became_another_one_leaves_the_list_and_takes_the_selection_along() {
        let mut list = JobList::default();
        list.replace((1..=4).map(|key| row(key, Status::Active)).collect());
        list.select(JobKey(2));
        assert!(list.merge(JobKey(2), JobKey(3)));
        assert_eq!((list.len(), list.get(JobKey(2)), list.count_of(Group::Working)), (3, None, 3));
        assert_eq!(list.selected().map(|row| row.key), Some(JobKey(3)));
        assert!(!list.merge(JobKey(2), JobKey(3)), "only once");
    }
}
