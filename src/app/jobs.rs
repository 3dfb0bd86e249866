//! The jobs list: rows, the selection, what is visible.
//!
//! Rows are kept once, in `rows`; `order` holds the places of those that pass the filter, sorted, so that a key costs a
//! binary search and a change moves one entry, whatever the number of jobs. Marks are `marks`', the filter's rules
//! `filter`'s.

mod sight;

use super::filter::{Filter, Sieve};
use super::marks::Marks;
use super::order::{Order, SECTIONS, SortKey, Sorting, Spot, section};
use super::scroll;
use crate::model::row::{FirstRows, Group, JobKey, JobRow};
use std::collections::{HashMap, HashSet};

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
    pub(super) order: Order,
    sorting: Sorting,
    sieve: Sieve,
    pub(super) marks: Marks,
    /// How many jobs each group has, whatever the filter.
    counts: [usize; SECTIONS],
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
}

impl JobList {
    /// Shows the head of a list whose other rows are still being read. Another order or a filter needs all rows: then
    /// there is nothing to show before [`JobList::replace`].
    pub fn begin(&mut self, first: FirstRows) {
        if self.sorting != Sorting::default() || !self.sieve.filter().is_empty() {
            return;
        }
        self.replace(first.rows);
        self.begun = true;
        self.counts = first.sizes;
        self.order.resize(first.sizes);
    }

    /// Replaces all rows.
    pub fn replace(&mut self, rows: Vec<JobRow>) {
        self.begun = false;
        self.revision = rows.iter().map(|row| row.revision).max().unwrap_or(0);
        self.place = rows.iter().enumerate().map(|(place, row)| (row.key, place)).collect();
        self.rows = rows;
        self.lay_out();
    }

    /// Filters and sorts all rows anew. The selection stays on its job when that is still there.
    fn lay_out(&mut self) {
        self.kept = false;
        self.counts = [0; SECTIONS];
        self.order.flat = self.sorting.by != super::order::Sort::Need;
        let mut entries = Vec::with_capacity(if self.sieve.filter().is_empty() { self.rows.len() } else { 0 });
        for (place, row) in self.rows.iter().enumerate() {
            let group = shown_group(row, self.held && self.selected == Some(row.key));
            if let Some(count) = self.counts.get_mut(section(group)) {
                *count += 1;
            }
            if self.sieve.passes(row) {
                entries.push((self.sorting.key(row, group), place));
            }
        }
        self.marks.recount(entries.iter().filter_map(|((section, ..), place)| {
            let row = self.rows.get(*place)?;
            Some((*section, row.key))
        }));
        self.order.replace(entries);
        if self.selected_position().is_none() {
            self.select_first();
        } else {
            self.kept = true;
        }
    }

    /// Puts a row in or replaces it; a row older than the one here is ignored. Whether anything changed.
    pub fn upsert(&mut self, row: JobRow) -> bool {
        self.revision = self.revision.max(row.revision);
        let Some(&place) = self.place.get(&row.key) else {
            if self.begun {
                // It comes with the rest.
                return false;
            }
            self.place.insert(row.key, self.rows.len());
            self.rows.push(row);
            self.sieve.find_again();
            self.put_in(self.rows.len() - 1);
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
        self.take_out(place);
        if self.selected == Some(row.key) {
            self.held = self.held || row.group() == Group::NeedsYou;
        }
        if let Some(slot) = self.rows.get_mut(place) {
            *slot = row;
        }
        self.put_in(place);
        if self.selected_position().is_none() {
            self.select_near(position.unwrap_or(0));
        }
        true
    }

    /// The group under which a row stands now.
    pub fn shown_group(&self, row: &JobRow) -> Group {
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
    }

    fn put_in(&mut self, place: usize) {
        self.count(place, 1);
        let Some(key) = self.key_at(place) else { return };
        if self.passes(place)
            && let Some(row) = self.rows.get(place)
        {
            self.marks.entered(key.0, row.key);
            self.order.insert(key, place);
        }
    }

    fn take_out(&mut self, place: usize) {
        self.count(place, -1);
        let Some(key) = self.key_at(place) else { return };
        if let Some(row) = self.rows.get(place)
            && self.order.remove(key)
        {
            self.marks.left(key.0, row.key);
        }
    }

    /// The position of a row that has a line.
    pub(super) fn position(&self, key: JobKey) -> Option<usize> {
        let place = *self.place.get(&key)?;
        self.order.position(self.key_at(place)?).filter(|&at| at < self.order.shown())
    }

    /// The row at a position.
    pub(super) fn at(&self, position: usize) -> Option<&JobRow> {
        self.order.at(position).and_then(|place| self.rows.get(place))
    }

    /// How many jobs stand under a group, whatever the filter.
    pub fn count_of(&self, group: Group) -> usize {
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
    pub fn shown_rows(&self) -> impl Iterator<Item = &JobRow> {
        self.order.places().filter_map(|place| self.rows.get(place))
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
        self.order.show_dismissed
    }

    /// How it is sorted.
    pub fn sorting(&self) -> Sorting {
        self.sorting
    }

    /// Sorts in another way.
    pub fn sort(&mut self, sorting: Sorting) {
        self.sorting = sorting;
        self.lay_out();
    }

    /// The filter.
    pub fn filter(&self) -> &Filter {
        self.sieve.filter()
    }

    /// Shows what passes another filter only.
    pub fn set_filter(&mut self, filter: Filter) {
        if *self.sieve.filter() != filter {
            self.sieve.set(filter);
            self.lay_out();
        }
    }

    /// The first word of the filter for which it is not known in which prompts it stands.
    pub fn word_to_find(&self) -> Option<String> {
        self.sieve.filter().words().into_iter().find(|word| !self.sieve.has_found(word))
    }

    /// There are new prompts, in which the filter's words are to be looked for again.
    pub fn find_again(&mut self) {
        self.sieve.find_again();
    }

    /// Takes the jobs in whose prompts a word of the filter stands; whether the filter still asks for it.
    pub fn take_found(&mut self, word: String, jobs: HashSet<JobKey>) -> bool {
        let wanted = self.sieve.take(word, jobs);
        if wanted {
            self.lay_out();
        }
        wanted
    }

    /// Lines in all, headings included.
    pub fn line_count(&self) -> usize {
        self.order.line_count()
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
        match self.order.line(at)? {
            Spot::Heading(group, size, hidden) => Some(Line::Heading(group, size, hidden)),
            Spot::Row(place) => self.rows.get(place).map(Line::Job),
        }
    }

    fn selected_position(&self) -> Option<usize> {
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

    fn select_first(&mut self) {
        self.select_near(0);
    }

    /// The job at a position, or the last one; nothing where no job has a line.
    fn select_near(&mut self, position: usize) {
        let key = self.at(position.min(self.shown().saturating_sub(1))).map(|row| row.key);
        self.select_key(key.filter(|_| self.shown() > 0));
    }

    fn select_position(&mut self, position: usize) {
        if position < self.shown() {
            let key = self.at(position).map(|row| row.key);
            self.select_key(key);
        }
    }

    /// Selects a job, if it is there; one that is out of sight is shown for as long as it is selected.
    pub fn select(&mut self, key: JobKey) {
        let Some(row) = self.get(key) else { return };
        self.order.show_dismissed |= row.group() == Group::Dismissed;
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
        let held = key.and_then(|key| self.get(key)).is_some_and(|row| row.group() == Group::NeedsYou);
        let old = self.hold(key, held, key.is_some());
        let stays =
            places.map(|place| self.standing(place)).into_iter().zip(before).map(|(after, before)| after == before);
        let moved: Vec<usize> =
            places.into_iter().zip(stays).filter(|(_, stays)| !stays).filter_map(|(place, _)| place).collect();
        if moved.is_empty() {
            return;
        }
        let new = self.hold(old.0, old.1, old.2);
        for place in &moved {
            self.take_out(*place);
        }
        self.hold(new.0, new.1, new.2);
        for place in &moved {
            self.put_in(*place);
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
    fn standing(&mut self, place: Option<usize>) -> Option<(Group, SortKey, bool)> {
        let row = self.rows.get(place?)?;
        Some((self.shown_group(row), self.key_at(place?)?, self.passes(place?)))
    }

    /// Whether a row belongs in the list: the selected one may have to stay.
    fn passes(&mut self, place: usize) -> bool {
        let Some(row) = self.rows.get(place) else { return false };
        (self.kept && self.selected == Some(row.key)) || self.sieve.passes(row)
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

fn shown_group(row: &JobRow, held: bool) -> Group {
    match row.group() {
        Group::Done if held => Group::NeedsYou,
        group => group,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::Time;
    use crate::model::job::{JobId, Status};
    use crate::model::text::CleanText;

    pub(crate) fn at(seconds: i64) -> Time {
        Time::from_timestamp(1_800_000_000 + seconds, 0).expect("in range")
    }

    pub(crate) fn row(key: i64, status: Status) -> JobRow {
        JobRow {
            id: JobId::new(&format!("job-{key}")),
            status: Some(status),
            checked_at: Some(at(key)),
            revision: key,
            ..JobRow::new(JobKey(key), CleanText::line(&format!("Job {key}")), at(key))
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
                match n % 7 {
                    2 => list.sort(Sorting { by: list.sorting.by.next(), reversed: dismissed }),
                    3 => list.toggle_mark(),
                    4 => list.set_filter(Filter::parse(["s:failed", "1", "!s:done", ""][usize::from(key > 9) + usize::from(dismissed)])),
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
        assert_eq!((list.len(), list.get(JobKey(2)), list.count_of(Group::Working)), (3, None, 3));
        assert_eq!(list.selected().map(|row| row.key), Some(JobKey(3)));
        assert!(!list.merge(JobKey(2), JobKey(3)), "only once");
    }
}
