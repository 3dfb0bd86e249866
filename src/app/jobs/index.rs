//! Which rows the filter lets into the jobs list, and where they stand.
//!
//! Whoever types a filter makes it narrower with each key. Then only the rows that passed are looked at again, and those
//! that were near to it (`filter`), and what is left stands in order as it is: no row is sorted.

use super::super::filter::{JobFilter, Match, Taken};
use super::super::order::{JobSorting, SECTIONS, Sort, SortKey, section};
use super::{JobList, shown_group};
use crate::model::row::JobKey;

impl JobList {
    /// Filters and sorts all rows anew. The selection stays on its job when that is still there.
    pub(super) fn lay_out(&mut self) {
        self.kept = false;
        self.counts = [0; SECTIONS];
        self.working = 0;
        self.near.clear();
        self.order.flat = self.sorting.by != Sort::Need;
        let mut entries = Entries::default();
        for place in 0..self.rows.len() {
            let Some(row) = self.rows.get(place) else { continue };
            let group = shown_group(row, self.held && self.selected == Some(row.key));
            if let Some(count) = self.counts.get_mut(section(group)) {
                *count += 1;
            }
            self.working += usize::from(row.counts_as_working());
            match self.sieve.verdict(row) {
                Match::Passes => entries.push(self.sorting.key(row, group), place),
                Match::Fuzzy => self.set_near(place, true),
                Match::Fails => {}
            }
        }
        self.settle(entries.in_order());
    }

    /// As [`JobList::lay_out`], for a filter that lets through only rows that the one before let through or that were near
    /// to it.
    fn narrow(&mut self) {
        let near = std::mem::take(&mut self.near);
        let mut entries = self.take_passing();
        entries.retain(|(_, place)| {
            let verdict = self.rows.get(*place).map_or(Match::Fails, |row| self.sieve.verdict_anew(row));
            self.set_near(*place, verdict == Match::Fuzzy);
            verdict == Match::Passes
        });
        let places = near.into_iter().enumerate().filter_map(|(place, is_near)| is_near.then_some(place));
        self.add(entries, places);
    }

    /// More rows may pass: those at these places, none of which is among the entries.
    fn add(&mut self, mut entries: Vec<(SortKey, usize)>, places: impl Iterator<Item = usize>) {
        let mut more = Entries::default();
        for place in places {
            let verdict = self.verdict(place);
            self.set_near(place, verdict == Match::Fuzzy);
            if verdict == Match::Passes
                && let Some(key) = self.key_at(place)
            {
                more.push(key, place);
            }
        }
        let more = more.in_order();
        if !more.is_empty() {
            entries.extend(more);
            // Two parts, each in order: the stable sort merges them, the other one would begin from nothing.
            entries.sort();
        }
        self.settle(entries);
    }

    /// These entries, in order, are the list from now on.
    fn settle(&mut self, entries: Vec<(SortKey, usize)>) {
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

    /// What the filter makes of a row: the selected one may have to stay.
    pub(super) fn verdict(&mut self, place: usize) -> Match {
        let Some(row) = self.rows.get(place) else { return Match::Fails };
        if self.kept && self.selected == Some(row.key) { Match::Passes } else { self.sieve.verdict(row) }
    }

    pub(super) fn set_near(&mut self, place: usize, near: bool) {
        if near && self.near.len() <= place {
            self.near.resize(self.rows.len().max(place + 1), false);
        }
        if let Some(kept) = self.near.get_mut(place) {
            *kept = near;
        }
    }

    /// How it is sorted.
    pub fn sorting(&self) -> JobSorting {
        self.sorting
    }

    /// Sorts in another way: what passes stays the same.
    pub fn sort(&mut self, sorting: JobSorting) {
        self.sorting = sorting;
        if self.begun {
            self.lay_out();
            return;
        }
        let before = self.take_passing();
        self.order.flat = sorting.by != Sort::Need;
        let mut entries = Entries::default();
        for (_, place) in before {
            if let Some(key) = self.key_at(place) {
                entries.push(key, place);
            }
        }
        self.settle(entries.in_order());
    }

    /// The filter.
    pub fn filter(&self) -> &JobFilter {
        self.sieve.filter()
    }

    /// Shows what passes another filter only.
    pub fn set_filter(&mut self, filter: JobFilter) {
        if *self.sieve.filter() == filter {
            return;
        }
        if self.sieve.set(filter) && !self.begun {
            self.narrow();
        } else {
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
    pub fn take_found(&mut self, word: String, jobs: Vec<JobKey>) -> bool {
        match self.sieve.take(word, jobs) {
            Taken::Unwanted => return false,
            Taken::Anew => self.lay_out(),
            Taken::More(jobs) => self.add_found(&jobs),
        }
        true
    }

    /// The rows of these jobs may pass by now, and no other row's standing has changed.
    fn add_found(&mut self, jobs: &[JobKey]) {
        let entries = self.take_passing();
        let mut listed = vec![false; self.rows.len()];
        for (_, place) in &entries {
            if let Some(listed) = listed.get_mut(*place) {
                *listed = true;
            }
        }
        let places: Vec<usize> = jobs.iter().filter_map(|key| self.place.get(key)).copied().collect();
        self.add(entries, places.into_iter().filter(|place| !listed.get(*place).copied().unwrap_or(true)));
    }

    /// The entries, without the selected row where it is in the list for no other reason than that.
    fn take_passing(&mut self) -> Vec<(SortKey, usize)> {
        self.kept = false;
        let mut entries = self.order.take();
        if let Some(place) = self.selected.and_then(|key| self.place.get(&key)).copied() {
            let verdict = self.verdict(place);
            if verdict != Match::Passes {
                self.set_near(place, verdict == Match::Fuzzy);
                entries.retain(|(_, other)| *other != place);
            }
        }
        entries
    }
}

/// Entries that come in any order, by their sections: rows are kept from the oldest to the newest, so that those of one
/// section mostly come in order, or in the opposite one, and are sorted by a look at each.
#[derive(Default)]
struct Entries([Vec<(SortKey, usize)>; SECTIONS]);

impl Entries {
    fn push(&mut self, key: SortKey, place: usize) {
        if let Some(section) = self.0.get_mut(key.0) {
            section.push((key, place));
        }
    }

    fn in_order(mut self) -> Vec<(SortKey, usize)> {
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
    use crate::app::filter::FilterState;
    use crate::model::job::Status;
    use crate::model::row::Job;
    use crate::model::text::CleanText;
    use proptest::prelude::*;

    /// What happens to a list while its filter is typed.
    #[derive(Debug, Clone)]
    enum FilterStep {
        Type(char),
        /// Takes the last characters away.
        Delete(usize),
        /// The store has looked through the prompts for the next word.
        Answer,
        /// A job changes, or comes.
        Change(i64, [String; 3], Option<u16>),
        Move(isize),
        Mark,
        Sort(bool),
    }

    fn step() -> impl Strategy<Value = FilterStep> {
        prop_oneof![
            12 => prop::sample::select("abcdeé12 !#s:".chars().collect::<Vec<_>>()).prop_map(FilterStep::Type),
            2 => (1_usize..4).prop_map(FilterStep::Delete),
            4 => Just(FilterStep::Answer),
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
        job.title = CleanText::line(title);
        job.git_ref = Some(CleanText::line(git_ref));
        job.tags = [CleanText::line(tag)].into();
        job.pr_link = pr.map(|pr| CleanText::line(&format!("https://github.com/acme/docs/pull/{pr}")));
        job.dismissed = key % 11 == 0;
        job
    }

    /// The jobs in whose prompts a word stands.
    fn answer(prompts: &[String], word: &str) -> Vec<JobKey> {
        let found = (1..).zip(prompts).filter(|(_, prompt)| prompt.to_lowercase().contains(word));
        found.map(|(key, _)| JobKey(key)).collect()
    }

    /// The places of the rows that are to be in the list: each row looked at by itself.
    fn expected(list: &JobList, prompts: &[String], answered: &[String]) -> Vec<usize> {
        let mut sieve = FilterState::default();
        sieve.set(list.filter().clone());
        for word in answered {
            sieve.take(word.clone(), answer(prompts, word));
        }
        let stays = |row: &Job| list.kept && list.selected == Some(row.key);
        let passing = list.rows.iter().enumerate().filter(|(_, row)| stays(row) || sieve.verdict(row) == Match::Passes);
        let mut entries: Vec<_> = passing.map(|(place, _)| (list.key_at(place), place)).collect();
        entries.sort();
        entries.into_iter().map(|(_, place)| place).collect()
    }

    proptest! {
        #[test]
        fn a_filter_that_is_typed_leaves_what_it_leaves_when_all_rows_are_looked_at(
            rows in proptest::collection::vec(([text(), text(), text()], proptest::option::of(1_u16..300)), 1..30),
            prompts in proptest::collection::vec(text(), 40),
            steps in proptest::collection::vec(step(), 1..60),
        ) {
            let mut list = JobList::default();
            list.replace((1..).zip(&rows).map(|(key, (texts, pr))| job(key, texts, *pr)).collect());
            let (mut typed, mut answered) = (String::new(), Vec::new());
            for (revision, step) in (100..).zip(steps) {
                match step {
                    FilterStep::Type(c) => typed.push(c),
                    FilterStep::Delete(n) => typed = typed.chars().take(typed.chars().count().saturating_sub(n)).collect(),
                    FilterStep::Answer => {
                        if let Some(word) = list.word_to_find() {
                            prop_assert!(list.take_found(word.clone(), answer(&prompts, &word)));
                            answered.push(word);
                        }
                    }
                    FilterStep::Change(key, texts, pr) => {
                        list.upsert(Job { revision, ..job(key, &texts, pr) });
                    }
                    FilterStep::Move(by) => list.move_by(by),
                    FilterStep::Mark => list.toggle_mark(),
                    FilterStep::Sort(reversed) => list.sort(JobSorting { by: list.sorting.by.next(), reversed }),
                }
                list.set_filter(JobFilter::parse(&typed));
                // What was found for a word is forgotten with the word.
                answered.retain(|word| list.filter().words().contains(word));
                prop_assert_eq!(list.order.everywhere(), expected(&list, &prompts, &answered), "{:?}", typed);
                prop_assert!(list.order.is_whole());
                prop_assert_eq!(list.marked(), list.marked_keys().len());
                prop_assert_eq!(list.counts.iter().sum::<usize>(), list.rows.len());
            }
        }
    }
}
