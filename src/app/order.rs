//! The order of the jobs list: how jobs are sorted, their sections, and the line of each.
//!
//! Sort keys are stored beside the row indexes, so that finding, inserting and removing a row cost a binary search,
//! however many jobs there are.

use crate::model::job::Status;
use crate::model::prompt::DeliveryKind;
use crate::model::row::{Job, JobGroup};

/// What the list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Groups by need, the newest job first in each.
    #[default]
    Need,
    /// Newest first.
    Age,
    /// Most recently changed first.
    Change,
    /// By status, the most urgent first.
    Status,
}

impl Sort {
    const ALL: [Self; 4] = [Self::Need, Self::Age, Self::Change, Self::Status];

    /// The sort with this name.
    pub(super) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.name() == name)
    }

    /// The name on screen and in the saved layout.
    pub fn name(self) -> &'static str {
        match self {
            Self::Need => "need",
            Self::Age => "age",
            Self::Change => "last change",
            Self::Status => "status",
        }
    }

    /// The next one, wrapping around.
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|&sort| sort == self).unwrap_or(0);
        Self::ALL.into_iter().cycle().nth(at + 1).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JobSorting {
    pub by: Sort,
    pub reversed: bool,
}

/// The sort key of a job: section, rank in it, time, and the job's key to make it unique.
pub(super) type SortKey = (usize, u8, i64, i64);

/// The sections of the list: the groups, or a single one. Dismissed jobs are always the last section.
pub(super) const SECTIONS: usize = JobGroup::ALL.len();
const DISMISSED: usize = SECTIONS - 1;

pub(super) fn section_index(group: JobGroup) -> usize {
    JobGroup::ALL.iter().position(|&other| other == group).unwrap_or(DISMISSED)
}

impl JobSorting {
    /// The key of a row that is shown in this group.
    pub(super) fn key(self, row: &Job, group: JobGroup) -> SortKey {
        let section = section_index(group);
        let time = match self.by {
            Sort::Change => row.changed_at,
            Sort::Need | Sort::Age | Sort::Status => row.age_from(),
        };
        let rank = match self.by {
            Sort::Status => rank(row),
            // Of the dismissed jobs, those that the agent is still working on come first.
            Sort::Need => u8::from(group == JobGroup::Dismissed && !row.counts_as_working()),
            Sort::Age | Sort::Change => 0,
        };
        let section = if self.by == Sort::Need || section == DISMISSED { section } else { 0 };
        if self.by == Sort::Need && group == JobGroup::Queued {
            // In queue order, the prompt that is sent first on top.
            let position = row.queue_position.unwrap_or(i64::MAX);
            return (section, 0, if self.reversed { position.saturating_neg() } else { position }, row.key.0);
        }
        // Newest first: a later time gives a smaller key.
        let (time, key) = (time.timestamp_millis(), row.key.0);
        if self.reversed {
            (section, u8::MAX - rank, time, key)
        } else {
            (section, rank, time.saturating_neg(), key.saturating_neg())
        }
    }
}

fn rank(row: &Job) -> u8 {
    match (row.undelivered, &row.status) {
        (Some(DeliveryKind::Unconfirmed), _) => 0,
        (Some(DeliveryKind::NotSent), _) => 1,
        (Some(DeliveryKind::Rejected), _) => 2,
        (Some(DeliveryKind::Sending), _) => 3,
        (Some(DeliveryKind::Queued), _) => 4,
        (Some(DeliveryKind::Paused), _) => 5,
        (Some(DeliveryKind::Discarded), _) => 13,
        _ if row.gone => 12,
        (_, Some(Status::Failed)) => 6,
        (_, Some(Status::Unknown(_))) => 7,
        (_, Some(Status::Active)) => 8,
        (_, None) => 9,
        (_, Some(Status::Completed)) => 10,
        (_, Some(Status::Archived)) => 11,
    }
}

/// A section that has jobs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    /// Its heading. `None` in a flat list.
    pub heading: Option<JobGroup>,
    /// Its first position in the order.
    pub start: usize,
    pub size: usize,
    /// Its number of lines, the heading included.
    pub lines: usize,
    /// Whether only its heading is shown.
    pub hidden: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ListItem {
    Heading(JobGroup, usize, bool),
    /// The index of a row.
    Row(usize),
}

/// Row indexes, sorted by their keys.
#[derive(Debug, Default)]
pub(super) struct JobOrder {
    entries: Vec<(SortKey, usize)>,
    sizes: [usize; SECTIONS],
    /// One list without headings, except for the dismissed jobs.
    pub flat: bool,
    /// Whether dismissed jobs are listed.
    pub show_dismissed: bool,
}

impl JobOrder {
    /// Takes the entries out, to replace them.
    pub(super) fn take(&mut self) -> Vec<(SortKey, usize)> {
        std::mem::take(&mut self.entries)
    }

    /// Sets the sorted entries.
    pub(super) fn replace(&mut self, entries: Vec<(SortKey, usize)>) {
        self.sizes = [0; SECTIONS];
        for ((section, ..), _) in &entries {
            if let Some(size) = self.sizes.get_mut(*section) {
                *size += 1;
            }
        }
        self.entries = entries;
    }

    /// Sets the sizes of the sections, of which only the first entries are loaded.
    pub(super) fn resize(&mut self, sizes: [usize; SECTIONS]) {
        self.sizes = sizes;
    }

    pub(super) fn insert(&mut self, key: SortKey, index: usize) {
        let at = self.count_before(key);
        self.entries.insert(at, (key, index));
        self.resize_by(key, 1);
    }

    pub(super) fn remove(&mut self, key: SortKey) {
        if let Some(at) = self.position(key) {
            self.entries.remove(at);
            self.resize_by(key, -1);
        }
    }

    /// Moves an entry to another position; only the entries between the two are moved.
    pub(super) fn shift(&mut self, from: SortKey, to: SortKey) {
        let Some(at) = self.position(from) else { return };
        let target = self.count_before(to);
        let (range, target) = if target > at { (at..target, target - 1) } else { (target..at + 1, target) };
        if let Some(range) = self.entries.get_mut(range) {
            if target > at { range.rotate_left(1) } else { range.rotate_right(1) }
        }
        if let Some((key, _)) = self.entries.get_mut(target) {
            *key = to;
        }
        self.resize_by(from, -1);
        self.resize_by(to, 1);
    }

    fn resize_by(&mut self, key: SortKey, by: isize) {
        if let Some(size) = self.sizes.get_mut(key.0) {
            *size = size.saturating_add_signed(by);
        }
    }

    /// The number of entries before a key.
    fn count_before(&self, key: SortKey) -> usize {
        self.entries.partition_point(|(other, _)| *other < key)
    }

    /// The position of a key, found by binary search.
    pub(super) fn position(&self, key: SortKey) -> Option<usize> {
        self.entries.binary_search_by(|(other, _)| other.cmp(&key)).ok()
    }

    /// The row index at a position.
    pub(super) fn at(&self, position: usize) -> Option<usize> {
        self.entries.get(position).map(|(_, index)| *index)
    }

    /// The section and row index at a position.
    pub(super) fn entry(&self, position: usize) -> Option<(usize, usize)> {
        self.entries.get(position).map(|(key, index)| (key.0, *index))
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The number of listed jobs: all but the hidden ones, which come last.
    pub(super) fn shown(&self) -> usize {
        let hidden = if self.show_dismissed { 0 } else { self.sizes.last().copied().unwrap_or(0) };
        let all: usize = self.sizes.iter().sum();
        self.entries.len().min(all.saturating_sub(hidden))
    }

    /// The indexes of the listed rows, in order.
    pub(super) fn row_indexes(&self) -> impl Iterator<Item = usize> + '_ {
        self.entries.iter().take(self.shown()).map(|(_, index)| *index)
    }

    fn sections(&self) -> impl Iterator<Item = Section> + '_ {
        let mut first = 0;
        JobGroup::ALL.into_iter().zip(self.sizes).filter_map(move |(group, size)| {
            let start = first;
            first += size;
            let dismissed = group == JobGroup::Dismissed;
            let hidden = dismissed && !self.show_dismissed;
            let heading = (dismissed || !self.flat).then_some(group);
            let lines = usize::from(heading.is_some()) + if hidden { 0 } else { size };
            (size > 0).then_some(Section { heading, start, size, lines, hidden })
        })
    }

    /// The number of lines, headings included.
    pub(super) fn line_count(&self) -> usize {
        self.sections().map(|section| section.lines).sum()
    }

    /// The heading or row on a line.
    pub(super) fn line(&self, at: usize) -> Option<ListItem> {
        let mut line = 0;
        for section in self.sections() {
            if at < line + section.lines {
                let n = at - line;
                return match section.heading {
                    Some(group) if n == 0 => Some(ListItem::Heading(group, section.size, section.hidden)),
                    Some(_) => self.at(section.start + n - 1).map(ListItem::Row),
                    None => self.at(section.start + n).map(ListItem::Row),
                };
            }
            line += section.lines;
        }
        None
    }

    /// The line of the job at a position.
    pub(super) fn line_of(&self, position: usize) -> usize {
        let before = self.sections().take_while(|section| section.start <= position);
        position + before.filter(|section| section.heading.is_some()).count()
    }

    /// The indexes of all rows, hidden ones too.
    #[cfg(test)]
    pub(super) fn all_indexes(&self) -> Vec<usize> {
        self.entries.iter().map(|(_, index)| *index).collect()
    }

    /// Whether every entry is at the position that its key demands.
    #[cfg(test)]
    pub(super) fn is_consistent(&self) -> bool {
        self.entries.is_sorted() && self.sizes.iter().sum::<usize>() == self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::jobs::tests::{at, row};

    #[test]
    fn the_sort_cycles_and_can_be_reversed() {
        let mut sort = Sort::default();
        let names: Vec<&str> = (0..5)
            .map(|_| {
                let name = sort.name();
                sort = sort.next();
                name
            })
            .collect();
        assert_eq!(names, ["need", "age", "last change", "status", "need"]);
        let (older, newer) = (row(1, Status::Active), row(2, Status::Active));
        let key = |reversed: bool, row: &Job| JobSorting { by: Sort::Age, reversed }.key(row, row.group());
        assert!(key(false, &newer) < key(false, &older));
        assert!(key(true, &older) < key(true, &newer));
    }

    #[test]
    fn dismissed_jobs_come_last_in_every_order() {
        let mut dismissed = row(9, Status::Failed);
        (dismissed.dismissed, dismissed.viewed_at) = (true, Some(at(100)));
        let other = row(1, Status::Completed);
        for by in Sort::ALL {
            for reversed in [false, true] {
                let key = |row: &Job| JobSorting { by, reversed }.key(row, row.group());
                assert!(key(&other) < key(&dismissed), "{by:?} {reversed}");
            }
        }
    }
}
