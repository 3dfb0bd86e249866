//! The filter bar of the jobs list: typing a filter, saved filters as tabs, sorting, and the search in prompts. The
//! matching rules are in `filter`.

use super::all_jobs::AllJobs;
use super::dialog::{ConfirmAction, ConfirmDialog, Dialog, InputField};
use super::filter::JobFilter;
use super::keymap::{Action, Context};
use super::order::JobSorting;
use super::text_input::TextInput;
use super::welcome::NOT_IN_DEMO;
use super::{App, Effect, SavedFilter, Screen, Severity, StoreState};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::job_state::filter_words;
use crate::model::row::JobKey;
use crate::model::text::CleanText;

/// The typed filter, and the saved filter that it is combined with.
#[derive(Debug, Default)]
pub(super) struct Search {
    typed: String,
    /// 0 for all jobs, n for the saved filter n − 1.
    tab: usize,
    /// The word that the store is searching prompts for. Only one search runs at a time, however fast the user types.
    finding: Option<String>,
}

impl App {
    /// The filter text of the current screen, applied or still being typed.
    pub fn filter_text(&self) -> &str {
        if self.screen == Screen::Views { self.views.table.filter_text() } else { &self.search.typed }
    }

    pub(super) fn jobs_filter_text(&self) -> &str {
        &self.search.typed
    }

    /// The error of the front list's filter: an unknown status, with the valid ones.
    pub fn filter_problem(&self) -> Option<String> {
        let is_list = self.screen == Screen::Jobs
            && self.dialogs.iter().all(|dialog| matches!(dialog, Dialog::Filter(_) | Dialog::AllJobs(_)));
        let list = self.listed();
        let unknown = list.filter().unknown_status(list.other_statuses()).filter(|_| is_list)?;
        let others = list.other_statuses().map(str::to_owned);
        let valid: Vec<String> = filter_words().map(|(word, _)| word).chain(others).collect();
        Some(format!("No job status starts with “{unknown}”. Valid: {}.", valid.join(", ")))
    }

    /// The names of the saved filters, all jobs first, each with whether it is active. Empty if no filter is saved.
    pub fn tabs(&self) -> impl Iterator<Item = (&str, bool)> {
        let all = (!self.config.filters.is_empty()).then_some("All");
        let names = all.into_iter().chain(self.config.filters.iter().map(|filter| filter.name.as_str()));
        names.enumerate().map(|(n, name)| (name, n == self.search.tab))
    }

    /// The filter's input while it is being typed.
    pub fn filter_input(&self) -> Option<&TextInput> {
        self.dialogs.iter().rev().find_map(|dialog| match dialog {
            Dialog::Filter(input) => Some(input.as_ref()),
            _ => None,
        })
    }

    pub(super) fn open_filter(&mut self) {
        if let Some(help) = self.help_on_top() {
            help.start_search();
        } else if self.store == StoreState::Read {
            let typed = self.all_jobs().map_or(self.search.typed.as_str(), AllJobs::filter);
            self.dialogs.push(Dialog::Filter(Box::new(TextInput::selected_line(typed))));
        }
    }

    /// Applies the filter text after a key changed it.
    pub(super) fn apply_typed_filter(&mut self) {
        let applied = self.all_jobs().map_or(self.filter_text(), AllJobs::filter);
        let Some(text) = self.filter_input().map(TextInput::text).filter(|text| text != applied) else { return };
        if self.all_jobs().is_some() {
            self.filter_all_jobs(&text);
        } else if self.screen == Screen::Views {
            self.views.table.set_filter(&text);
        } else {
            self.search.typed = text;
            self.apply_filter();
        }
    }

    /// Clears the typed filter. Returns whether there was one.
    pub(super) fn clear_filter(&mut self) -> bool {
        if let Some(open) = self.all_jobs() {
            let had = !open.filter().trim().is_empty();
            self.filter_all_jobs("");
            return had;
        }
        let had = !self.filter_text().trim().is_empty();
        if self.screen == Screen::Views {
            self.views.table.set_filter("");
            return had;
        }
        self.search.typed.clear();
        self.apply_filter();
        had
    }

    /// Switches to the next or previous tab. All jobs are the first tab.
    pub(super) fn switch_tab(&mut self, forward: bool, now: Time) {
        let tabs = self.config.filters.len() + 1;
        if tabs == 1 {
            self.notify(
                Severity::Info,
                &format!(
                    "No saved filters. Type a filter ({}) and save it with Ctrl-S.",
                    self.key_label(Context::Jobs, Action::Filter)
                ),
                now,
            );
            return;
        }
        let step = if forward { 1 } else { tabs - 1 };
        self.search.tab = (self.search.tab + step) % tabs;
        self.apply_filter();
    }

    pub(super) fn select_tab(&mut self, index: usize) {
        self.search.tab = index.min(self.config.filters.len());
        self.apply_filter();
    }

    /// The name of the active saved filter. `None` if all jobs are shown.
    pub(super) fn active_tab(&self) -> Option<&str> {
        let filter = self.search.tab.checked_sub(1).and_then(|n| self.config.filters.get(n));
        filter.map(|filter| filter.name.as_str())
    }

    /// Restores the saved filter state. A saved filter that no longer exists is skipped.
    pub(super) fn restore_filter(&mut self, typed: &str, tab: Option<&str>) {
        typed.clone_into(&mut self.search.typed);
        let index = self.config.filters.iter().position(|filter| tab == Some(filter.name.as_str()));
        self.search.tab = index.map_or(0, |index| index + 1);
        self.apply_filter();
    }

    fn apply_filter(&mut self) {
        let saved = self.saved_filter();
        self.jobs.set_filter(JobFilter::parse(&format!("{saved} {}", self.search.typed)));
        if let Some(typed) = self.all_jobs().map(|open| open.filter().to_owned()) {
            self.filter_all_jobs(&typed);
        }
    }

    /// Filters the list of all profiles' jobs by the active saved filter and `typed`.
    pub(super) fn filter_all_jobs(&mut self, typed: &str) {
        let saved = self.saved_filter();
        if let Some(open) = self.all_jobs_mut() {
            open.set_filter(&saved, typed);
        }
    }

    fn saved_filter(&self) -> String {
        let saved = self.search.tab.checked_sub(1).and_then(|n| self.config.filters.get(n));
        saved.map(|filter| filter.text.clone()).unwrap_or_default()
    }

    /// Whether there is a filter of the jobs that can be saved.
    pub(super) fn can_save_filter(&self) -> bool {
        let is_jobs = self.screen == Screen::Jobs && matches!(self.dialogs.last(), None | Some(Dialog::Filter(_)));
        is_jobs && self.config.config.is_some() && self.all_jobs().is_none() && !self.search.typed.trim().is_empty()
    }

    /// Asks for a name for the typed filter, which stays active.
    pub(super) fn ask_filter_name(&mut self, now: Time) {
        if self.can_save_filter() {
            self.dialogs.pop_if(|dialog| matches!(dialog, Dialog::Filter(_)));
            self.open_input(InputField::FilterName, "");
        } else if self.screen == Screen::Jobs && self.all_jobs().is_none() {
            let filters = self.key_label(Context::Jobs, Action::Filter);
            let why = match self.config.config {
                None => NOT_IN_DEMO.to_owned(),
                Some(_) => format!("No filter to save. Type one first: {filters}"),
            };
            self.notify(Severity::Info, &why, now);
        }
    }

    /// Saves the active filter, combined with the one of its tab, under a name. Asks before it replaces a saved filter.
    pub(super) fn save_filter(&mut self, name: &str) -> Option<Effect> {
        let filter = SavedFilter { name: CleanText::line(name), text: self.full_filter() };
        if let Some(old) = self.config.filters.iter().find(|old| old.name == filter.name) {
            let text = format!("Replace the saved filter {} ({})?", old.name, CleanText::line(&old.text));
            self.dialogs.push(Dialog::Confirm(ConfirmDialog { text, yes: ConfirmAction::ReplaceFilter(filter) }));
            return None;
        }
        Some(Effect::SaveFilter { filter, replace: false })
    }

    /// The filter of the tab and the typed one.
    fn full_filter(&self) -> String {
        format!("{} {}", self.saved_filter(), self.search.typed).trim().to_owned()
    }

    /// Adds a saved filter as a tab, and switches to it unless another filter was typed meanwhile.
    pub(super) fn filter_saved(&mut self, filter: SavedFilter, result: Result<(), Failure>, now: Time) {
        if let Err(failure) = result {
            return self.notify(Severity::Problem, &format!("The filter was not saved. {}", failure.message), now);
        }
        let name = filter.name.clone();
        let is_active = self.full_filter() == filter.text;
        let index = self.config.filters.iter().position(|old| old.name == name);
        match index.and_then(|index| self.config.filters.get_mut(index)) {
            Some(old) => *old = filter,
            None => self.config.filters.push(filter),
        }
        if is_active {
            self.search.tab = index.map_or(self.config.filters.len(), |index| index + 1);
            self.search.typed.clear();
        }
        self.apply_filter();
        let (next, previous) =
            (self.key_label(Context::Jobs, Action::NextTab), self.key_label(Context::Jobs, Action::PreviousTab));
        self.notify(Severity::Info, &format!("Filter {name} saved as a tab. {previous} and {next} switch tabs."), now);
    }

    pub(super) fn next_sort(&mut self) {
        let by = self.listed().sorting().by.next();
        self.listed_mut().sort(JobSorting { by, reversed: false });
    }

    pub(super) fn reverse_sort(&mut self) {
        let sorting = self.listed().sorting();
        self.listed_mut().sort(JobSorting { reversed: !sorting.reversed, ..sorting });
    }

    /// Starts the search for the next word in the prompts, unless a search is running.
    pub(super) fn search_next_word(&mut self) -> Option<Effect> {
        if self.search.finding.is_some() {
            return None;
        }
        let word = self.listed().next_search_word()?;
        self.search.finding = Some(word.clone());
        Some(self.find_in_prompts(word))
    }

    /// Takes the result of searching the prompts for a word.
    pub(super) fn apply_found_prompts(&mut self, word: String, jobs: Result<Vec<JobKey>, Failure>, now: Time) {
        if self.search.finding.as_ref() == Some(&word) {
            self.search.finding = None;
        }
        match jobs {
            Ok(jobs) => self.dirty |= self.listed_mut().apply_found(word, jobs),
            // The search is not repeated at once: the rows are still filtered by what they show.
            Err(failure) => {
                if self.listed_mut().apply_found(word, Vec::new()) {
                    self.notify_failure(&failure, now);
                }
            }
        }
    }
}
