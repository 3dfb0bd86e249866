//! The filter bar of the jobs list: typing a filter, saved filters as tabs, sorting, and the search in prompts. The
//! matching rules are in `filter`.

use super::all_jobs::AllJobsDialog;
use super::all_jobs::list::AllJobs;
use super::analytics::AnalyticsTab;
use super::app::NOT_SAVED_IN_DEMO;
use super::confirm::{ConfirmAction, ConfirmDialog};
use super::filter::JobFilter;
use super::filter_input::FilterInput;
use super::input_dialog::InputField;
use super::keymap::{Action, Context};
use super::order::{JobSorting, Sort};
use super::state::PromptSearch;
use super::{App, Effect, SavedFilter, Screen, Severity, StoreState};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::job::JobKey;
use crate::model::job_state::known_filter_words;
use crate::model::pull_request::PullRequestFact;
use crate::model::text::CleanText;
use crate::tui::widgets::text_input::TextInput;

impl App {
    /// Returns the typed filter of the current screen, whether or not the user is still typing it.
    pub fn filter_text(&self) -> &str {
        match (self.screen, self.analytics.tab) {
            (Screen::Analytics, AnalyticsTab::Pages) => self.views.table.filter_text(),
            (Screen::Analytics, _) => self.analytics.filter_text(),
            _ => &self.filter_bar.typed,
        }
    }

    /// Whether the list on screen is filtered, or its filter is being typed.
    pub(in crate::tui) fn is_filtering(&self) -> bool {
        self.filter_input().is_some() || !self.filter_text().trim().is_empty()
    }

    pub(super) fn jobs_filter_text(&self) -> &str {
        &self.filter_bar.typed
    }

    /// Returns an error if the filter of the list of jobs on screen has an unknown job status, or an unknown state of
    /// pull requests. The error lists the valid words. `None` on other screens, and while a dialog other than the
    /// filter input or the list of all profiles' jobs is open.
    pub fn filter_problem(&self) -> Option<String> {
        let is_list = self.screen == Screen::Jobs
            && self.dialogs.iter().all(|dialog| dialog.is::<FilterInput>() || dialog.is::<AllJobsDialog>());
        let list = self.active_list();
        if !is_list {
            return None;
        }
        if let Some(unknown) = list.filter().unknown_pull_request_state() {
            // `changes` is left out, because it means the same as `rework`.
            let valid: Vec<String> = PullRequestFact::known_filter_words().filter(|word| word != "changes").collect();
            return Some(format!("No pull request state starts with “{unknown}”. Valid: {}.", valid.join(", ")));
        }
        let unknown = list.filter().unknown_status(list.unrecognized_statuses())?;
        let others = list.unrecognized_statuses().map(str::to_owned);
        let valid: Vec<String> =
            known_filter_words().map(|(word, _)| word).filter(|word| word != "active").chain(others).collect();
        Some(format!("No job status starts with “{unknown}”. Valid: {}.", valid.join(", ")))
    }

    /// Returns the names of the tabs, each with whether it is active: all jobs, then the saved filters. Empty if no
    /// filter is saved.
    pub fn filter_tabs(&self) -> impl Iterator<Item = (&str, bool)> {
        let all = (!self.config.filters.is_empty()).then_some("All");
        let names = all.into_iter().chain(self.config.filters.iter().map(|filter| filter.name.as_str()));
        names.enumerate().map(|(n, name)| (name, n == self.filter_bar.active_tab_index))
    }

    pub(super) fn open_filter_input(&mut self) {
        if self.store == StoreState::Loaded {
            let typed = self.all_jobs.as_ref().map_or(self.filter_bar.typed.as_str(), AllJobs::filter);
            self.open(FilterInput { input: TextInput::single_line_selected(typed) });
        }
    }

    /// Applies the filter text after it was edited.
    pub(super) fn apply_typed_filter(&mut self, text: String) {
        if self.all_jobs.is_some() {
            self.filter_all_profiles_jobs(&text);
        } else if self.screen == Screen::Analytics {
            self.filter_analytics(&text);
        } else {
            self.filter_bar.typed = text;
            self.apply_filter();
        }
    }

    fn filter_analytics(&mut self, text: &str) {
        match self.analytics.tab {
            AnalyticsTab::Pages => self.views.table.set_filter(text),
            _ => self.analytics.set_filter(text),
        }
    }

    /// Clears the typed filter. Returns false if it was already blank.
    pub(super) fn clear_filter(&mut self) -> bool {
        if let Some(open) = &self.all_jobs {
            let had = open.has_filter();
            self.filter_all_profiles_jobs("");
            return had;
        }
        let had = !self.filter_text().trim().is_empty();
        if self.screen == Screen::Analytics {
            self.filter_analytics("");
            return had;
        }
        self.filter_bar.typed.clear();
        self.apply_filter();
        had
    }

    /// Switches to the next or previous tab, wrapping around. The first tab shows all jobs. If no filter is saved,
    /// shows a notice about how to save one.
    pub(super) fn switch_filter_tab(&mut self, is_forward: bool, now: Time) {
        let tabs = self.config.filters.len() + 1;
        if tabs == 1 {
            self.notify(
                Severity::Info,
                &format!(
                    "No saved filters. Type a filter ({}) and save it with {}.",
                    self.key_label(Context::Jobs, Action::Filter),
                    self.key_label(Context::Filter, Action::SaveFilter)
                ),
                now,
            );
            return;
        }
        let step = if is_forward { 1 } else { tabs - 1 };
        self.filter_bar.active_tab_index = (self.filter_bar.active_tab_index + step) % tabs;
        self.apply_filter();
    }

    /// Switches to the tab at a cell of the title, if there is one.
    pub(super) fn select_filter_tab_at(&mut self, cell: usize, width: usize) {
        let Some(index) = self.filter_tab_at(cell, width) else { return };
        self.filter_bar.active_tab_index = index.min(self.config.filters.len());
        self.apply_filter();
    }

    /// Returns the name of the active saved filter. Returns `None` if the tab of all jobs is active.
    pub(super) fn active_filter_name(&self) -> Option<&str> {
        let filter = self.filter_bar.active_tab_index.checked_sub(1).and_then(|n| self.config.filters.get(n));
        filter.map(|filter| filter.name.as_str())
    }

    /// Restores the typed filter and the active tab of the last session. If the saved filter of that tab no longer
    /// exists, the tab of all jobs becomes active.
    pub(super) fn restore_filter(&mut self, typed: &str, tab: Option<&str>) {
        typed.clone_into(&mut self.filter_bar.typed);
        let index = self.config.filters.iter().position(|filter| tab == Some(filter.name.as_str()));
        self.filter_bar.active_tab_index = index.map_or(0, |index| index + 1);
        self.apply_filter();
    }

    fn apply_filter(&mut self) {
        let saved = self.active_saved_filter_text();
        self.jobs.set_filter(JobFilter::parse(&format!("{saved} {}", self.filter_bar.typed)));
        if let Some(typed) = self.all_jobs.as_ref().map(|open| open.filter().to_owned()) {
            self.filter_all_profiles_jobs(&typed);
        }
    }

    /// Filters the list of all profiles' jobs by the active saved filter and by `typed`.
    pub(super) fn filter_all_profiles_jobs(&mut self, typed: &str) {
        let saved = self.active_saved_filter_text();
        if let Some(open) = self.all_jobs.as_mut() {
            open.set_filter(&saved, typed);
        }
    }

    fn active_saved_filter_text(&self) -> String {
        let saved = self.filter_bar.active_tab_index.checked_sub(1).and_then(|n| self.config.filters.get(n));
        saved.map(|filter| filter.text.clone()).unwrap_or_default()
    }

    /// Whether the jobs screen has a typed filter that can be saved in the configuration.
    pub(super) fn can_save_filter(&self) -> bool {
        self.screen == Screen::Jobs
            && self.dialogs.last().is_none_or(|dialog| dialog.is::<FilterInput>())
            && self.config.config_path.is_some()
            && self.all_jobs.is_none()
            && !self.filter_bar.typed.trim().is_empty()
    }

    /// Asks under which name to save the typed filter, or shows why it can't be saved. The filter stays active.
    pub(super) fn ask_filter_name(&mut self, now: Time) {
        if self.can_save_filter() {
            self.close_filter_input();
            self.open_input(InputField::FilterName, "");
        } else if self.screen == Screen::Jobs && self.all_jobs.is_none() {
            let filters = self.key_label(Context::Jobs, Action::Filter);
            let why = match self.config.config_path {
                None => NOT_SAVED_IN_DEMO.to_owned(),
                Some(_) => format!("No filter to save. Type one first: {filters}"),
            };
            self.notify(Severity::Info, &why, now);
        }
    }

    /// Returns the effect that saves the typed filter, combined with the saved filter of the active tab, under a name.
    /// If a saved filter already has this name, asks the user whether to replace it, and returns `None`.
    pub(super) fn save_filter(&mut self, name: &str) -> Option<Effect> {
        let filter = SavedFilter { name: CleanText::line(name), text: self.full_filter() };
        if let Some(old) = self.config.filters.iter().find(|old| old.name == filter.name) {
            let text = format!("Replace the saved filter {} ({})?", old.name, CleanText::line(&old.text));
            self.open(ConfirmDialog { text, on_yes: ConfirmAction::ReplaceFilter(filter) });
            return None;
        }
        Some(Effect::SaveFilter { filter, replaces_existing: false })
    }

    /// Returns the saved filter of the active tab, combined with the typed filter.
    fn full_filter(&self) -> String {
        format!("{} {}", self.active_saved_filter_text(), self.filter_bar.typed).trim().to_owned()
    }

    /// Adds a tab for a filter that was just saved, or updates the tab with its name. Switches to this tab unless the
    /// user has changed the filter or the tab meanwhile. If saving failed, only shows the error.
    pub(super) fn apply_filter_save_result(&mut self, filter: SavedFilter, result: Result<(), Failure>, now: Time) {
        if let Err(failure) = result {
            return self.notify(Severity::Error, &format!("The filter was not saved. {}", failure.message), now);
        }
        let name = filter.name.clone();
        let is_active = self.full_filter() == filter.text;
        let index = self.config.filters.iter().position(|old| old.name == name);
        match index.and_then(|index| self.config.filters.get_mut(index)) {
            Some(old) => *old = filter,
            None => self.config.filters.push(filter),
        }
        if is_active {
            self.filter_bar.active_tab_index = index.map_or(self.config.filters.len(), |index| index + 1);
            self.filter_bar.typed.clear();
        }
        self.apply_filter();
        let (next, previous) =
            (self.key_label(Context::Jobs, Action::NextTab), self.key_label(Context::Jobs, Action::PreviousTab));
        self.notify(Severity::Info, &format!("Filter {name} saved as a tab. {previous} and {next} switch tabs."), now);
    }

    pub(super) fn switch_to_next_sort(&mut self) {
        let by = self.active_list().sorting().by.next();
        self.active_list_mut().sort(JobSorting { by, is_reversed: false });
    }

    /// Sorts the jobs by the clicked column or, if they are already sorted by it, reverses the order. A click never
    /// reverses the order by group.
    pub(super) fn sort_or_reverse_jobs_by(&mut self, by: Sort) {
        let current = self.active_list().sorting();
        let is_reversed = current.by == by && by != Sort::Group && !current.is_reversed;
        self.active_list_mut().sort(JobSorting { by, is_reversed });
    }

    pub(super) fn reverse_sort(&mut self) {
        let sorting = self.active_list().sorting();
        self.active_list_mut().sort(JobSorting { is_reversed: !sorting.is_reversed, ..sorting });
    }

    /// Starts searching the prompts for the next word of the filter, unless a search is running.
    pub(super) fn search_next_word(&mut self) -> Option<Effect> {
        if self.filter_bar.running_search.is_some() {
            return None;
        }
        let word = self.active_list().next_search_word()?;
        let covers_all_profiles = self.all_jobs.is_some();
        self.filter_bar.running_search = Some(PromptSearch { word: word.clone(), covers_all_profiles });
        Some(self.find_in_prompts(word))
    }

    /// Applies the result of searching the prompts for a word, unless it is about the jobs of another list than the one
    /// on screen.
    pub(super) fn apply_prompt_search(&mut self, word: String, jobs: Result<Vec<JobKey>, Failure>, now: Time) {
        let finished = self.filter_bar.running_search.take_if(|search| search.word == word);
        if finished.is_some_and(|search| search.covers_all_profiles != self.all_jobs.is_some()) {
            return;
        }
        match jobs {
            Ok(jobs) => self.is_dirty |= self.active_list_mut().apply_search_result(word, jobs),
            // A failed search counts as a search without results, so that it is not repeated at once.
            Err(failure) => {
                if self.active_list_mut().apply_search_result(word, Vec::new()) {
                    self.notify_failure(&failure, now);
                }
            }
        }
    }
}
