//! The order of the jobs list: how jobs are sorted, in which sections they stand, and which line each takes.
//!
//! Keys are kept beside the rows' places, so that finding, taking out and putting in cost a binary search, whatever the
//! number of jobs.

use crate::model::job::Status;
use crate::model::prompt::DeliveryKind;
use crate::model::row::{Job, JobGroup};

/// By what the list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// In groups by need, the newest first in each.
    #[default]
    Need,
    /// The newest first.
    Age,
    /// The last one that changed first.
    Change,
    /// By status, in the order in which they ask for something.
    Status,
}

impl Sort {
    const ALL: [Self; 4] = [Self::Need, Self::Age, Self::Change, Self::Status];

    /// The one that has this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.name() == name)
    }

    /// The word for it on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Need => "need",
            Self::Age => "age",
            Self::Change => "last change",
            Self::Status => "status",
        }
    }

    /// The one after it.
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|&sort| sort == self).unwrap_or(0);
        Self::ALL.into_iter().cycle().nth(at + 1).unwrap_or_default()
    }
}

/// A sort order and its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JobSorting {
    pub by: Sort,
    pub reversed: bool,
}

/// Where a job stands: section, rank in it, moment, and the job's key to tell all apart.
pub(super) type SortKey = (usize, u8, i64, i64);

/// Sections of the list: the groups, or one for all; dismissed jobs are the last one always.
pub(super) const SECTIONS: usize = JobGroup::ALL.len();
const DISMISSED: usize = SECTIONS - 1;

/// The section of a group.
pub(super) fn section(group: JobGroup) -> usize {
    JobGroup::ALL.iter().position(|&other| other == group).unwrap_or(DISMISSED)
}

impl JobSorting {
    /// The key of a row that stands under this group.
    pub(super) fn key(self, row: &Job, group: JobGroup) -> SortKey {
        let place = section(group);
        let moment = match self.by {
            Sort::Change => row.changed_at,
            Sort::Need | Sort::Age | Sort::Status => row.age_from(),
        };
        let rank = match self.by {
            Sort::Status => rank(row),
            // Of the dismissed jobs those come first that the agent still works on.
            Sort::Need => u8::from(group == JobGroup::Dismissed && !row.counts_as_working()),
            Sort::Age | Sort::Change => 0,
        };
        let place = if self.by == Sort::Need || place == DISMISSED { place } else { 0 };
        if self.by == Sort::Need && group == JobGroup::Queued {
            // The line as it stands, the one that goes out first on top.
            let line = row.queue_position.unwrap_or(i64::MAX);
            return (place, 0, if self.reversed { line.saturating_neg() } else { line }, row.key.0);
        }
        // The newest first: later moments have smaller keys.
        let (moment, key) = (moment.timestamp_millis(), row.key.0);
        if self.reversed {
            (place, u8::MAX - rank, moment, key)
        } else {
            (place, rank, moment.saturating_neg(), key.saturating_neg())
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

/// One section that has jobs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    /// Its heading; none in a flat list.
    pub heading: Option<JobGroup>,
    /// First position in the order.
    pub start: usize,
    pub size: usize,
    /// Lines that it takes, its heading included.
    pub lines: usize,
    /// Only its heading is shown.
    pub hidden: bool,
}

/// A line of the list.
#[derive(Debug, Clone, Copy)]
pub(super) enum ListItem {
    Heading(JobGroup, usize, bool),
    /// The place of a row.
    Row(usize),
}

/// Places of rows in the order of their keys.
#[derive(Debug, Default)]
pub(super) struct JobOrder {
    entries: Vec<(SortKey, usize)>,
    sizes: [usize; SECTIONS],
    /// One list without headings, but for the dismissed.
    pub flat: bool,
    /// Dismissed jobs are hidden unless asked for.
    pub show_dismissed: bool,
}

impl JobOrder {
    /// The entries, which are to be replaced.
    pub(super) fn take(&mut self) -> Vec<(SortKey, usize)> {
        std::mem::take(&mut self.entries)
    }

    /// Takes all anew, in order.
    pub(super) fn replace(&mut self, entries: Vec<(SortKey, usize)>) {
        self.sizes = [0; SECTIONS];
        for ((section, ..), _) in &entries {
            if let Some(size) = self.sizes.get_mut(*section) {
                *size += 1;
            }
        }
        self.entries = entries;
    }

    /// These entries are the first ones of sections of that size; the others are still to come.
    pub(super) fn resize(&mut self, sizes: [usize; SECTIONS]) {
        self.sizes = sizes;
    }

    pub(super) fn insert(&mut self, key: SortKey, place: usize) {
        let at = self.before(key);
        self.entries.insert(at, (key, place));
        self.resize_by(key, 1);
    }

    pub(super) fn remove(&mut self, key: SortKey) {
        if let Some(at) = self.position(key) {
            self.entries.remove(at);
            self.resize_by(key, -1);
        }
    }

    /// An entry goes from one place to another: only what lies between them moves.
    pub(super) fn shift(&mut self, from: SortKey, to: SortKey) {
        let Some(at) = self.position(from) else { return };
        let goal = self.before(to);
        let (stretch, goal) = if goal > at { (at..goal, goal - 1) } else { (goal..at + 1, goal) };
        if let Some(stretch) = self.entries.get_mut(stretch) {
            if goal > at { stretch.rotate_left(1) } else { stretch.rotate_right(1) }
        }
        if let Some((key, _)) = self.entries.get_mut(goal) {
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

    /// How many entries come before a key.
    fn before(&self, key: SortKey) -> usize {
        self.entries.partition_point(|(other, _)| *other < key)
    }

    /// The position of a key, by binary search.
    pub(super) fn position(&self, key: SortKey) -> Option<usize> {
        self.entries.binary_search_by(|(other, _)| other.cmp(&key)).ok()
    }

    /// The place of the row at a position.
    pub(super) fn at(&self, position: usize) -> Option<usize> {
        self.entries.get(position).map(|(_, place)| *place)
    }

    /// The section and the place of the row at a position.
    pub(super) fn entry(&self, position: usize) -> Option<(usize, usize)> {
        self.entries.get(position).map(|(key, place)| (key.0, *place))
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Jobs that have a line: all but the hidden ones, which come last.
    pub(super) fn shown(&self) -> usize {
        let hidden = if self.show_dismissed { 0 } else { self.sizes.last().copied().unwrap_or(0) };
        let all: usize = self.sizes.iter().sum();
        self.entries.len().min(all.saturating_sub(hidden))
    }

    /// Places of the rows that have a line, in order.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.entries.iter().take(self.shown()).map(|(_, place)| *place)
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

    /// Lines in all, headings included.
    pub(super) fn line_count(&self) -> usize {
        self.sections().map(|section| section.lines).sum()
    }

    /// What stands on a line.
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

    /// The line of the job at this position.
    pub(super) fn line_of(&self, position: usize) -> usize {
        let before = self.sections().take_while(|section| section.start <= position);
        position + before.filter(|section| section.heading.is_some()).count()
    }

    /// Places of all rows, hidden ones as well; for tests.
    #[cfg(test)]
    pub(super) fn everywhere(&self) -> Vec<usize> {
        self.entries.iter().map(|(_, place)| *place).collect()
    }

    /// Whether every entry stands where its key says; for tests.
    #[cfg(test)]
    pub(super) fn is_whole(&self) -> bool {
        self.entries.is_sorted() && self.sizes.iter().sum::<usize>() == self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::jobs::tests::{at, row};

    #[test]
    fn sorting_goes_round_and_reversing_turns_it() {
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
    fn dismissed_jobs_come_last_however_the_list_is_sorted() {
        let mut dismissed = row(9, Status::Failed);
        (dismissed.dismissed, dismissed.looked_at) = (true, Some(at(100)));
        let other = row(1, Status::Completed);
        for by in Sort::ALL {
            for reversed in [false, true] {
                let key = |row: &Job| JobSorting { by, reversed }.key(row, row.group());
                assert!(key(&other) < key(&dismissed), "{by:?} {reversed}");
            }
        }
    }
}
