//! Filters and sorts the rows of the jobs list.
//!
//! With each typed character, the filter usually becomes narrower. In that case, only the rows that passed, and the
//! rows that may pass when more is typed ([`Match::Candidate`]), are matched again. The rows that still pass keep
//! their order, so they are not sorted again.

use super::super::filter::{JobFilter, Match, RowsToRematch};
use super::super::order::{JobSortKey, JobSorting, SECTION_COUNT, Sort, section_index};
use super::{JobList, shown_group};
use crate::model::job::{JobKey, PullRequestCounts};

impl JobList {
    /// Filters and sorts all rows. The selected job stays selected if it is still listed.
    pub(super) fn rebuild(&mut self) {
        self.keeps_selected_listed = false;
        self.group_counts = [0; SECTION_COUNT];
        self.working_count = 0;
        self.pull_request_counts = PullRequestCounts::default();
        self.candidates.clear();
        self.order.is_flat = self.sorting.by != Sort::Group;
        let mut entries = EntriesBySection::default();
        for index in 0..self.rows.len() {
            let Some(row) = self.rows.get(index) else { continue };
            let group = shown_group(row, self.keeps_selected_in_needs_you && self.selected == Some(row.key));
            if let Some(count) = self.group_counts.get_mut(section_index(row.group())) {
                *count += 1;
            }
            self.pull_request_counts.adjust(row.group(), row.pr_fact(), 1);
            self.working_count += usize::from(row.counts_as_working());
            match self.filter_state.match_row(row) {
                Match::Passes => entries.push(self.sorting.key(row, group), index),
                Match::Candidate => self.set_candidate(index, true),
                Match::Fails => {}
            }
        }
        self.set_entries(entries.into_sorted());
    }

    /// Does the same as [`JobList::rebuild`] with less work, for a filter that became narrower: every row that passes
    /// the new filter must have passed the previous filter or have been a candidate of it.
    fn rebuild_narrowed(&mut self) {
        let candidates = std::mem::take(&mut self.candidates);
        let mut entries = self.take_passing_entries();
        entries.retain(|(_, index)| {
            let outcome = self.rows.get(*index).map_or(Match::Fails, |row| self.filter_state.match_new_terms(row));
            self.set_candidate(*index, outcome == Match::Candidate);
            outcome == Match::Passes
        });
        let indexes =
            candidates.into_iter().enumerate().filter_map(|(index, is_candidate)| is_candidate.then_some(index));
        self.add_rows_passing_filter(entries, indexes);
    }

    /// Adds the rows at `indexes` that pass the filter to `entries`, and makes the result the list. The indexes must
    /// not be in `entries` already.
    fn add_rows_passing_filter(&mut self, mut entries: Vec<(JobSortKey, usize)>, indexes: impl Iterator<Item = usize>) {
        let mut more = EntriesBySection::default();
        for index in indexes {
            let outcome = self.match_at(index);
            self.set_candidate(index, outcome == Match::Candidate);
            if outcome == Match::Passes
                && let Some(key) = self.sort_key_at(index)
            {
                more.push(key, index);
            }
        }
        let more = more.into_sorted();
        if !more.is_empty() {
            entries.extend(more);
            // `entries` now consists of two sorted parts. A stable sort only merges them, whereas an unstable sort
            // would sort everything again.
            entries.sort();
        }
        self.set_entries(entries);
    }

    /// Replaces the list with these sorted entries. If the selected job is not among them, selects the first one.
    fn set_entries(&mut self, entries: Vec<(JobSortKey, usize)>) {
        self.marks.recount(entries.iter().filter_map(|((section, ..), index)| {
            let row = self.rows.get(*index)?;
            Some((*section, row.key))
        }));
        self.order.replace(entries);
        if self.selected_position().is_none() {
            self.select_first();
        } else {
            self.keeps_selected_listed = true;
        }
    }

    /// Matches a row against the filter. The selected row counts as passing while it has to stay in the list, even if
    /// it doesn't match.
    pub(super) fn match_at(&mut self, index: usize) -> Match {
        let Some(row) = self.rows.get(index) else { return Match::Fails };
        if self.keeps_selected_listed && self.selected == Some(row.key) {
            Match::Passes
        } else {
            self.filter_state.match_row(row)
        }
    }

    pub(super) fn set_candidate(&mut self, index: usize, is_candidate: bool) {
        if is_candidate && self.candidates.len() <= index {
            self.candidates.resize(self.rows.len().max(index + 1), false);
        }
        if let Some(slot) = self.candidates.get_mut(index) {
            *slot = is_candidate;
        }
    }

    pub fn sorting(&self) -> JobSorting {
        self.sorting
    }

    /// Sorts the rows that pass the filter in another order.
    pub fn sort(&mut self, sorting: JobSorting) {
        self.sorting = sorting;
        if self.is_partial {
            self.rebuild();
            return;
        }
        let before = self.take_passing_entries();
        self.order.is_flat = sorting.by != Sort::Group;
        let mut entries = EntriesBySection::default();
        for (_, index) in before {
            if let Some(key) = self.sort_key_at(index) {
                entries.push(key, index);
            }
        }
        self.set_entries(entries.into_sorted());
    }

    pub fn filter(&self) -> &JobFilter {
        self.filter_state.filter()
    }

    pub fn set_filter(&mut self, filter: JobFilter) {
        if *self.filter_state.filter() == filter {
            return;
        }
        if self.filter_state.set(filter) && !self.is_partial {
            self.rebuild_narrowed();
        } else {
            self.rebuild();
        }
    }

    /// Returns the first word of the filter that the prompts have not been searched for.
    pub fn next_search_word(&self) -> Option<String> {
        self.filter_state.filter().prompt_words().into_iter().find(|word| !self.filter_state.has_search_result(word))
    }

    /// Marks the search results as outdated, because there are new prompts.
    pub fn mark_search_stale(&mut self) {
        self.filter_state.mark_searches_stale();
    }

    /// Applies a search result: the jobs that have `word` in a prompt. Returns whether the filter still has this word.
    pub fn apply_search_result(&mut self, word: String, jobs: Vec<JobKey>) -> bool {
        match self.filter_state.apply_search_result(word, jobs) {
            RowsToRematch::NoRows => return false,
            RowsToRematch::All => self.rebuild(),
            RowsToRematch::Jobs(jobs) => self.add_matching(&jobs),
        }
        true
    }

    /// Adds the rows of these jobs to the list if they pass the filter now. No other row changes.
    fn add_matching(&mut self, jobs: &[JobKey]) {
        let entries = self.take_passing_entries();
        let mut listed = vec![false; self.rows.len()];
        for (_, index) in &entries {
            if let Some(listed) = listed.get_mut(*index) {
                *listed = true;
            }
        }
        let indexes: Vec<usize> = jobs.iter().filter_map(|key| self.index.get(key)).copied().collect();
        self.add_rows_passing_filter(
            entries,
            indexes.into_iter().filter(|index| !listed.get(*index).copied().unwrap_or(true)),
        );
    }

    /// Empties the list and returns its entries. Leaves out the selected row if it is listed only because it is
    /// selected, so all returned rows pass the filter.
    fn take_passing_entries(&mut self) -> Vec<(JobSortKey, usize)> {
        self.keeps_selected_listed = false;
        let mut entries = self.order.take_entries();
        if let Some(index) = self.selected.and_then(|key| self.index.get(&key)).copied() {
            let outcome = self.match_at(index);
            if outcome != Match::Passes {
                self.set_candidate(index, outcome == Match::Candidate);
                entries.retain(|(_, other)| *other != index);
            }
        }
        entries
    }
}

/// Unsorted entries by section. Rows are stored from the oldest to the newest, so most entries of a section arrive in
/// ascending or descending order, which sorting detects in one pass.
#[derive(Default)]
struct EntriesBySection([Vec<(JobSortKey, usize)>; SECTION_COUNT]);

impl EntriesBySection {
    fn push(&mut self, key: JobSortKey, index: usize) {
        if let Some(section) = self.0.get_mut(key.0) {
            section.push((key, index));
        }
    }

    fn into_sorted(mut self) -> Vec<(JobSortKey, usize)> {
        let mut all = Vec::with_capacity(self.0.iter().map(Vec::len).sum());
        for section in &mut self.0 {
            section.sort();
            all.append(section);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::row;
    use super::*;
    use crate::model::job::Job;
    use crate::model::pull_request::tests::open_pull_request;
    use crate::model::pull_request::{PullRequest, PullRequestState};
    use crate::model::remote_job::Status;
    use crate::model::text::CleanText;
    use crate::tui::filter::FilterState;
    use proptest::prelude::*;

    /// A random step of the test: a filter is being typed while the list changes.
    #[derive(Debug, Clone)]
    enum FilterStep {
        Type(char),
        /// Deletes the last n characters.
        Delete(usize),
        /// The store has searched the prompts for the next word.
        SearchResult,
        /// A job is changed or added.
        Change(i64, [String; 3], Option<u16>),
        Move(isize),
        Mark,
        Sort(bool),
    }

    fn step() -> impl Strategy<Value = FilterStep> {
        prop_oneof![
            12 => prop::sample::select("abcdeé12 !#s:".chars().collect::<Vec<_>>()).prop_map(FilterStep::Type),
            2 => (1_usize..4).prop_map(FilterStep::Delete),
            4 => Just(FilterStep::SearchResult),
            3 => (1_i64..40, [text(), text(), text()], proptest::option::of(1_u16..300))
                .prop_map(|(key, texts, pr)| FilterStep::Change(key, texts, pr)),
            2 => (-3_isize..4).prop_map(FilterStep::Move),
            1 => Just(FilterStep::Mark),
            1 => proptest::bool::ANY.prop_map(FilterStep::Sort),
        ]
    }

    fn text() -> impl Strategy<Value = String> {
        "[abcdeÉ /-]{0,14}"
    }

    fn job(key: i64, [title, git_ref, tag]: &[String; 3], pr: Option<u16>) -> Job {
        let status = match key.rem_euclid(3) {
            0 => Status::Active,
            1 => Status::Failed,
            _ => Status::Completed,
        };
        let mut job = row(key, status);
        job.local.title = CleanText::line(title);
        job.remote.source.git_ref = Some(CleanText::line(git_ref));
        job.local.tags = [CleanText::line(tag)].into();
        job.remote.pr_link = pr.map(|pr| CleanText::line(&format!("https://github.com/acme/docs/pull/{pr}")));
        let state = match key % 2 {
            0 => PullRequestState::Open,
            _ => PullRequestState::Draft,
        };
        let state = PullRequest { state, ..open_pull_request(job.created_at) };
        job.pull_request = pr.map(|_| Box::new(state));
        job.local.dismissed = key % 11 == 0;
        job
    }

    /// Returns the jobs that have a word in a prompt.
    fn jobs_with_word(prompts: &[String], word: &str) -> Vec<JobKey> {
        let found = (1..).zip(prompts).filter(|(_, prompt)| prompt.to_lowercase().contains(word));
        found.map(|(key, _)| JobKey(key)).collect()
    }

    /// Returns the expected row indexes, found by matching each row separately.
    fn expected_indexes(list: &JobList, prompts: &[String], searched: &[String]) -> Vec<usize> {
        let mut state = FilterState::default();
        state.set(list.filter().clone());
        for word in searched {
            state.apply_search_result(word.clone(), jobs_with_word(prompts, word));
        }
        let stays = |row: &Job| list.keeps_selected_listed && list.selected == Some(row.key);
        let passing =
            list.rows.iter().enumerate().filter(|(_, row)| stays(row) || state.match_row(row) == Match::Passes);
        let mut entries: Vec<_> = passing.map(|(index, _)| (list.sort_key_at(index), index)).collect();
        entries.sort();
        entries.into_iter().map(|(_, index)| index).collect()
    }

    proptest! {
        #[test]
        fn typing_a_filter_gives_the_same_rows_as_matching_every_row(
            rows in proptest::collection::vec(([text(), text(), text()], proptest::option::of(1_u16..300)), 1..30),
            prompts in proptest::collection::vec(text(), 40),
            steps in proptest::collection::vec(step(), 1..60),
        ) {
            let mut list = JobList::default();
            list.replace((1..).zip(&rows).map(|(key, (texts, pr))| job(key, texts, *pr)).collect());
            let (mut typed, mut searched) = (String::new(), Vec::new());
            for (revision, step) in (100..).zip(steps) {
                match step {
                    FilterStep::Type(c) => typed.push(c),
                    FilterStep::Delete(n) => typed = typed.chars().take(typed.chars().count().saturating_sub(n)).collect(),
                    FilterStep::SearchResult => {
                        if let Some(word) = list.next_search_word() {
                            prop_assert!(list.apply_search_result(word.clone(), jobs_with_word(&prompts, &word)));
                            searched.push(word);
                        }
                    }
                    FilterStep::Change(key, texts, pr) => {
                        list.upsert(Job { revision, ..job(key, &texts, pr) });
                    }
                    FilterStep::Move(by) => list.move_by(by),
                    FilterStep::Mark => list.toggle_mark(),
                    FilterStep::Sort(reversed) => list.sort(JobSorting { by: list.sorting.by.next(), is_reversed: reversed }),
                }
                list.set_filter(JobFilter::parse(&typed));
                // The list drops the search results of a word when the filter no longer has the word.
                searched.retain(|word| list.filter().prompt_words().contains(word));
                prop_assert_eq!(list.order.all_indexes(), expected_indexes(&list, &prompts, &searched), "{:?}", typed);
                prop_assert!(list.order.is_consistent());
                prop_assert_eq!(list.marked_count(), list.marked_keys().len());
                prop_assert_eq!(list.group_counts.iter().sum::<usize>(), list.rows.len());
                let mut counts = PullRequestCounts::default();
                list.rows.iter().for_each(|row| counts.adjust(row.group(), row.pr_fact(), 1));
                prop_assert_eq!(list.pull_request_counts, counts);
            }
        }
    }
}
