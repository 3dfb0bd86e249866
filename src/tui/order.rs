//! The order of the jobs list: how jobs are sorted, the sections of the list, and the line of each job.
//!
//! Sort keys are stored beside the row indexes, so that a binary search finds the position of a row.

use crate::model::job::{Job, JobGroup};
use crate::model::prompt::DeliveryKind;
use crate::model::pull_request::PullRequestFact;
use crate::model::remote_job::Status;

/// What the jobs list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// By group, such as `NeedsYou` or `Working`. Within most groups, the newest job comes first.
    #[default]
    Group,
    /// By the time for which the job has been in its state, the shortest time first.
    Age,
    /// By last change, the most recently changed job first.
    Change,
    /// By status, the most urgent job first.
    Status,
}

impl Sort {
    const ALL: [Self; 4] = [Self::Group, Self::Age, Self::Change, Self::Status];

    /// Returns the variant with this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        // Earlier versions of docdeck saved the order by group as `need`.
        let name = if name == "need" { "group" } else { name };
        Self::ALL.into_iter().find(|sort| sort.name() == name)
    }

    /// Returns the name on screen. For `Age`, it differs from [`Self::name`], because an age could also be
    /// the time since the job was created.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Age => "time in state",
            _ => self.name(),
        }
    }

    /// Returns the name in the saved layout.
    pub fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Age => "age",
            Self::Change => "last change",
            Self::Status => "status",
        }
    }

    /// Returns the next variant in `ALL`. After the last variant comes the first.
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|&sort| sort == self).unwrap_or(0);
        Self::ALL.into_iter().cycle().nth(at + 1).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JobSorting {
    pub by: Sort,
    pub is_reversed: bool,
}

/// The sort key of a job: section, rank within the section, time or queue position, and row key. The row key makes the
/// sort key unique.
pub type JobSortKey = (usize, u8, i64, i64);

/// The number of sections: one per group. A flat list has all jobs in the first section, except for the dismissed jobs,
/// which are always in the last.
pub(super) const SECTION_COUNT: usize = JobGroup::ALL.len();
const DISMISSED_SECTION: usize = SECTION_COUNT - 1;

pub(super) fn section_index(group: JobGroup) -> usize {
    JobGroup::ALL.iter().position(|&other| other == group).unwrap_or(DISMISSED_SECTION)
}

impl JobSorting {
    /// Returns the sort key of a job that is shown in this group.
    pub fn key(self, row: &Job, group: JobGroup) -> JobSortKey {
        let section = section_index(group);
        let time = match self.by {
            Sort::Change => row.local.changed_at,
            Sort::Group | Sort::Age | Sort::Status => row.sort_time(),
        };
        let rank = match self.by {
            Sort::Status => status_rank(row),
            // Dismissed jobs that the agent is still working on come before all other dismissed jobs.
            Sort::Group => u8::from(group == JobGroup::Dismissed && !row.counts_as_working()),
            Sort::Age | Sort::Change => 0,
        };
        let section = if self.by == Sort::Group || section == DISMISSED_SECTION { section } else { 0 };
        if self.by == Sort::Group && group == JobGroup::Queued {
            // Queued jobs are in queue order: unless the order is reversed, the prompt that will be sent next is at the
            // top.
            let position = row.local.queue_position.unwrap_or(i64::MAX);
            return (section, 0, if self.is_reversed { position.saturating_neg() } else { position }, row.key.0);
        }
        // Unless the order is reversed, a later time gives a smaller key, so that the newest job comes first.
        let (time, key) = (time.timestamp_millis(), row.key.0);
        if self.is_reversed {
            (section, u8::MAX - rank, time, key)
        } else {
            (section, rank, time.saturating_neg(), key.saturating_neg())
        }
    }
}

/// Returns the rank of a job in the order by status. The most urgent status has rank 0.
fn status_rank(row: &Job) -> u8 {
    match (row.local.undelivered, &row.remote.status) {
        (Some(DeliveryKind::Unconfirmed), _) => 0,
        (Some(DeliveryKind::NotSent), _) => 1,
        (Some(DeliveryKind::Rejected), _) => 2,
        (Some(DeliveryKind::Sending), _) => 3,
        (Some(DeliveryKind::Queued), _) => 4,
        (Some(DeliveryKind::Paused), _) => 5,
        (Some(DeliveryKind::Discarded), _) => 22,
        _ if row.local.gone => 21,
        (_, Some(Status::Failed)) => 6,
        (_, Some(Status::Unknown(_))) => 12,
        (_, Some(Status::Active)) => 13,
        (_, None) => 14,
        (_, Some(Status::Completed)) => pull_request_rank(row.pr_fact()),
        (_, Some(Status::Archived)) => 20,
    }
}

/// Returns the rank of a completed job by the state of its pull request.
fn pull_request_rank(fact: Option<PullRequestFact>) -> u8 {
    match fact {
        Some(PullRequestFact::Conflict) => 7,
        Some(PullRequestFact::Failing) => 8,
        Some(PullRequestFact::ChangesRequested) => 9,
        Some(PullRequestFact::Ready) => 10,
        Some(PullRequestFact::Draft) => 11,
        Some(PullRequestFact::Pending) => 15,
        Some(PullRequestFact::Queued) => 16,
        None => 17,
        Some(PullRequestFact::Merged) => 18,
        Some(PullRequestFact::Closed) => 19,
    }
}

/// A section of the list that has at least one job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    /// The group that the heading names. `None` for a section without a heading, in a flat list.
    pub heading: Option<JobGroup>,
    /// The position of the section's first job in the order.
    pub start: usize,
    /// The number of jobs in the section, even if the jobs are hidden.
    pub size: usize,
    /// The number of lines of the section, including the heading.
    pub lines: usize,
    /// Whether the jobs of the section are hidden, so that only the heading is shown.
    pub is_hidden: bool,
}

/// What a line of the list shows.
#[derive(Debug, Clone, Copy)]
pub(super) enum ListItem {
    /// A heading: its group, the number of jobs in the group, and whether these jobs are hidden.
    Heading(JobGroup, usize, bool),
    /// The job with this row index.
    Row(usize),
}

/// The row indexes of the jobs that pass the filter, sorted by sort key.
#[derive(Debug, Default)]
pub(super) struct JobOrder {
    entries: Vec<(JobSortKey, usize)>,
    section_sizes: [usize; SECTION_COUNT],
    /// Whether the list is flat: without headings, except for the heading of the dismissed jobs.
    pub is_flat: bool,
    /// Whether dismissed jobs are listed.
    pub shows_dismissed: bool,
}

impl JobOrder {
    /// Removes and returns all entries, for the caller to reorder and pass to [`Self::replace`].
    pub(super) fn take_entries(&mut self) -> Vec<(JobSortKey, usize)> {
        std::mem::take(&mut self.entries)
    }

    /// Replaces all entries with `entries`, which must be sorted.
    pub(super) fn replace(&mut self, entries: Vec<(JobSortKey, usize)>) {
        self.section_sizes = [0; SECTION_COUNT];
        for ((section, ..), _) in &entries {
            if let Some(size) = self.section_sizes.get_mut(*section) {
                *size += 1;
            }
        }
        self.entries = entries;
    }

    /// Sets the sizes that the sections have in the store. Used while only the first jobs are loaded.
    pub(super) fn set_section_sizes(&mut self, section_sizes: [usize; SECTION_COUNT]) {
        self.section_sizes = section_sizes;
    }

    pub(super) fn insert(&mut self, key: JobSortKey, index: usize) {
        let at = self.count_before(key);
        self.entries.insert(at, (key, index));
        self.change_section_size(key, 1);
    }

    pub(super) fn remove(&mut self, key: JobSortKey) {
        if let Some(at) = self.position(key) {
            self.entries.remove(at);
            self.change_section_size(key, -1);
        }
    }

    /// Changes the sort key of an entry and moves the entry to its new position. Only the entries between the old and
    /// the new position are shifted.
    pub(super) fn move_entry(&mut self, from: JobSortKey, to: JobSortKey) {
        let Some(at) = self.position(from) else { return };
        let target = self.count_before(to);
        let (range, target) = if target > at { (at..target, target - 1) } else { (target..at + 1, target) };
        if let Some(range) = self.entries.get_mut(range) {
            if target > at { range.rotate_left(1) } else { range.rotate_right(1) }
        }
        if let Some((key, _)) = self.entries.get_mut(target) {
            *key = to;
        }
        self.change_section_size(from, -1);
        self.change_section_size(to, 1);
    }

    fn change_section_size(&mut self, key: JobSortKey, by: isize) {
        if let Some(size) = self.section_sizes.get_mut(key.0) {
            *size = size.saturating_add_signed(by);
        }
    }

    /// Returns the number of entries whose sort key is smaller than `key`.
    fn count_before(&self, key: JobSortKey) -> usize {
        self.entries.partition_point(|(other, _)| *other < key)
    }

    /// Returns the position of a sort key, found by binary search.
    pub(super) fn position(&self, key: JobSortKey) -> Option<usize> {
        self.entries.binary_search_by(|(other, _)| other.cmp(&key)).ok()
    }

    /// Returns the row index at a position.
    pub(super) fn row_index_at(&self, position: usize) -> Option<usize> {
        self.entries.get(position).map(|(_, index)| *index)
    }

    /// Returns the section and the row index at a position.
    pub(super) fn section_and_row_index(&self, position: usize) -> Option<(usize, usize)> {
        self.entries.get(position).map(|(key, index)| (key.0, *index))
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of listed jobs. Hidden dismissed jobs, which come last, are not counted.
    pub(super) fn listed_count(&self) -> usize {
        let hidden = if self.shows_dismissed { 0 } else { self.section_sizes.last().copied().unwrap_or(0) };
        let all: usize = self.section_sizes.iter().sum();
        self.entries.len().min(all.saturating_sub(hidden))
    }

    /// Returns the row indexes of the listed jobs, in order.
    pub(super) fn row_indexes(&self) -> impl Iterator<Item = usize> + '_ {
        self.entries.iter().take(self.listed_count()).map(|(_, index)| *index)
    }

    fn sections(&self) -> impl Iterator<Item = Section> + '_ {
        let mut first = 0;
        JobGroup::ALL.into_iter().zip(self.section_sizes).filter_map(move |(group, size)| {
            let start = first;
            first += size;
            let dismissed = group == JobGroup::Dismissed;
            let hidden = dismissed && !self.shows_dismissed;
            let heading = (dismissed || !self.is_flat).then_some(group);
            let lines = usize::from(heading.is_some()) + if hidden { 0 } else { size };
            (size > 0).then_some(Section { heading, start, size, lines, is_hidden: hidden })
        })
    }

    /// Returns the number of lines, including headings.
    pub(super) fn line_count(&self) -> usize {
        self.sections().map(|section| section.lines).sum()
    }

    /// Returns the heading or job on a line.
    pub(super) fn item_on_line(&self, at: usize) -> Option<ListItem> {
        let mut line = 0;
        for section in self.sections() {
            if at < line + section.lines {
                let n = at - line;
                return match section.heading {
                    Some(group) if n == 0 => Some(ListItem::Heading(group, section.size, section.is_hidden)),
                    Some(_) => self.row_index_at(section.start + n - 1).map(ListItem::Row),
                    None => self.row_index_at(section.start + n).map(ListItem::Row),
                };
            }
            line += section.lines;
        }
        None
    }

    /// Returns the line of the job at a position of the order.
    pub(super) fn line_of(&self, position: usize) -> usize {
        let before = self.sections().take_while(|section| section.start <= position);
        position + before.filter(|section| section.heading.is_some()).count()
    }

    /// Returns the row indexes of all jobs in the order, including hidden dismissed ones.
    #[cfg(test)]
    pub(super) fn all_indexes(&self) -> Vec<usize> {
        self.entries.iter().map(|(_, index)| *index).collect()
    }

    /// Whether the entries are sorted, and the sizes of the sections add up to their number.
    #[cfg(test)]
    pub(super) fn is_consistent(&self) -> bool {
        self.entries.is_sorted() && self.section_sizes.iter().sum::<usize>() == self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::jobs::tests::{at, row};

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
        assert_eq!(Sort::from_name("need"), Some(Sort::Group));
        assert_eq!(names, ["group", "age", "last change", "status", "group"]);
        let (older, newer) = (row(1, Status::Active), row(2, Status::Active));
        let key = |is_reversed: bool, row: &Job| JobSorting { by: Sort::Age, is_reversed }.key(row, row.group());
        assert!(key(false, &newer) < key(false, &older));
        assert!(key(true, &older) < key(true, &newer));
    }

    #[test]
    fn dismissed_jobs_come_last_in_every_order() {
        let mut dismissed = row(9, Status::Failed);
        (dismissed.local.dismissed, dismissed.local.viewed_at) = (true, Some(at(100)));
        let other = row(1, Status::Completed);
        for by in Sort::ALL {
            for is_reversed in [false, true] {
                let key = |row: &Job| JobSorting { by, is_reversed }.key(row, row.group());
                assert!(key(&other) < key(&dismissed), "{by:?} {is_reversed}");
            }
        }
    }
}
