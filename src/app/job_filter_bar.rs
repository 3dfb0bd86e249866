//! Typing the filter of the jobs list, its saved ones as tabs, its sorting, and asking the store in which prompts a
//! word stands. What passes is `filter`'s.

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
use crate::model::job_state::search_words;
use crate::model::row::JobKey;
use crate::model::text::CleanText;

/// What is typed, over which saved filter.
#[derive(Debug, Default)]
pub(super) struct Search {
    typed: String,
    /// 0 for all jobs, n for the saved filter n − 1.
    tab: usize,
    /// The word that the store is looking for; one at a time, whatever the speed of the keys.
    finding: Option<String>,
}

impl App {
    /// The text that is typed into the filter of the screen, kept or still being typed.
    pub fn filter_text(&self) -> &str {
        if self.screen == Screen::Views { self.views.table.filter_text() } else { &self.search.typed }
    }

    /// The text that is typed into the filter of the jobs.
    pub(super) fn jobs_filter(&self) -> &str {
        &self.search.typed
    }

    /// What is wrong with the filter of the list in front, while it holds: a status that there is not, with those that
    /// there are.
    pub fn filter_problem(&self) -> Option<String> {
        let is_list = self.screen == Screen::Jobs
            && self.dialogs.iter().all(|overlay| matches!(overlay, Dialog::Filter(_) | Dialog::AllJobs(_)));
        let list = self.listed();
        let unknown = list.filter().unknown_status(list.other_statuses()).filter(|_| is_list)?;
        let others = list.other_statuses().map(str::to_owned);
        let valid: Vec<String> = search_words().map(|(word, _)| word).chain(others).collect();
        Some(format!("No job status starts with “{unknown}”. Valid: {}.", valid.join(", ")))
    }

    /// The names of the saved filters, all jobs first, with the one that holds; none when nothing is saved.
    pub fn tabs(&self) -> impl Iterator<Item = (&str, bool)> {
        let all = (!self.config.filters.is_empty()).then_some("All");
        let names = all.into_iter().chain(self.config.filters.iter().map(|filter| filter.name.as_str()));
        names.enumerate().map(|(n, name)| (name, n == self.search.tab))
    }

    /// The filter's input, while it is being typed.
    pub fn filter_input(&self) -> Option<&TextInput> {
        self.dialogs.iter().rev().find_map(|overlay| match overlay {
            Dialog::Filter(input) => Some(input.as_ref()),
            _ => None,
        })
    }

    pub(super) fn open_filter(&mut self) {
        if let Some(help) = self.help_on_top() {
            help.find();
        } else if self.store == StoreState::Read {
            let typed = self.all_jobs().map_or(self.search.typed.as_str(), AllJobs::filter);
            self.dialogs.push(Dialog::Filter(Box::new(TextInput::selected_line(typed))));
        }
    }

    /// The text of the filter changed under the keys.
    pub(super) fn filter_typed(&mut self) {
        let held = self.all_jobs().map_or(self.filter_text(), AllJobs::filter);
        let Some(text) = self.filter_input().map(TextInput::text).filter(|text| text != held) else { return };
        if self.all_jobs().is_some() {
            self.filter_all_jobs(&text);
        } else if self.screen == Screen::Views {
            self.views.table.set_filter(&text);
        } else {
            self.search.typed = text;
            self.apply_filter();
        }
    }

    /// Takes away what is typed; whether there was anything.
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

    /// To the saved filter after, or before; all jobs are one of them.
    pub(super) fn turn_tab(&mut self, forward: bool, now: Time) {
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

    /// To the saved filter at this place of the tabs.
    pub(super) fn choose_tab(&mut self, place: usize) {
        self.search.tab = place.min(self.config.filters.len());
        self.apply_filter();
    }

    /// The name of the saved filter that holds; none where all jobs do.
    pub(super) fn tab(&self) -> Option<&str> {
        let filter = self.search.tab.checked_sub(1).and_then(|n| self.config.filters.get(n));
        filter.map(|filter| filter.name.as_str())
    }

    /// Filters as it was left; a saved filter that is no more is passed over.
    pub(super) fn restore_filter(&mut self, typed: &str, tab: Option<&str>) {
        typed.clone_into(&mut self.search.typed);
        let place = self.config.filters.iter().position(|filter| tab == Some(filter.name.as_str()));
        self.search.tab = place.map_or(0, |place| place + 1);
        self.apply_filter();
    }

    fn apply_filter(&mut self) {
        let saved = self.saved_filter();
        self.jobs.set_filter(JobFilter::parse(&format!("{saved} {}", self.search.typed)));
        if let Some(typed) = self.all_jobs().map(|open| open.filter().to_owned()) {
            self.filter_all_jobs(&typed);
        }
    }

    /// The saved filter that holds, and this, over the list of all profiles' jobs.
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

    /// Whether there is a filter of the jobs that could be saved.
    pub(super) fn can_save_filter(&self) -> bool {
        let is_jobs = self.screen == Screen::Jobs && matches!(self.dialogs.last(), None | Some(Dialog::Filter(_)));
        is_jobs && self.config.config.is_some() && self.all_jobs().is_none() && !self.search.typed.trim().is_empty()
    }

    /// The key that saves the filter: what is typed is kept, and a name for it asked for.
    pub(super) fn ask_filter_name(&mut self, now: Time) {
        if self.can_save_filter() {
            self.dialogs.pop_if(|overlay| matches!(overlay, Dialog::Filter(_)));
            self.ask(InputField::FilterName, "");
        } else if self.screen == Screen::Jobs && self.all_jobs().is_none() {
            let filters = self.key_label(Context::Jobs, Action::Filter);
            let why = match self.config.config {
                None => NOT_IN_DEMO.to_owned(),
                Some(_) => format!("There is no filter to save. Type one first: {filters}"),
            };
            self.notify(Severity::Info, &why, now);
        }
    }

    /// The filter that holds has a name: it is saved with the one of its tab. One of that name is replaced after a
    /// question.
    pub(super) fn save_filter(&mut self, name: &str) -> Option<Effect> {
        let filter = SavedFilter { name: CleanText::line(name), text: self.whole_filter() };
        if let Some(old) = self.config.filters.iter().find(|old| old.name == filter.name) {
            let text = format!("Replace the saved filter {} ({})?", old.name, CleanText::line(&old.text));
            self.dialogs.push(Dialog::Question(ConfirmDialog { text, yes: ConfirmAction::ReplaceFilter(filter) }));
            return None;
        }
        Some(Effect::SaveFilter { filter, replace: false })
    }

    /// The filter of the tab and what is typed over it.
    fn whole_filter(&self) -> String {
        format!("{} {}", self.saved_filter(), self.search.typed).trim().to_owned()
    }

    /// The filter is in the configuration: it is a tab from now on, and that tab is shown unless another filter was typed
    /// meanwhile.
    pub(super) fn filter_saved(&mut self, filter: SavedFilter, result: Result<(), Failure>, now: Time) {
        if let Err(failure) = result {
            return self.notify(Severity::Problem, &format!("The filter was not saved. {}", failure.sentence), now);
        }
        let name = filter.name.clone();
        let holds = self.whole_filter() == filter.text;
        let place = self.config.filters.iter().position(|old| old.name == name);
        match place.and_then(|place| self.config.filters.get_mut(place)) {
            Some(old) => *old = filter,
            None => self.config.filters.push(filter),
        }
        if holds {
            self.search.tab = place.map_or(self.config.filters.len(), |place| place + 1);
            self.search.typed.clear();
        }
        self.apply_filter();
        let (next, previous) =
            (self.key_label(Context::Jobs, Action::NextTab), self.key_label(Context::Jobs, Action::PreviousTab));
        self.notify(
            Severity::Info,
            &format!("Saved the filter {name} as a tab. {previous} and {next} change tabs."),
            now,
        );
    }

    pub(super) fn next_sort(&mut self) {
        let by = self.listed().sorting().by.next();
        self.listed_mut().sort(JobSorting { by, reversed: false });
    }

    pub(super) fn reverse_sort(&mut self) {
        let sorting = self.listed().sorting();
        self.listed_mut().sort(JobSorting { reversed: !sorting.reversed, ..sorting });
    }

    /// The next word to look for in the prompts, when none is being looked for.
    pub(super) fn find_next(&mut self) -> Option<Effect> {
        if self.search.finding.is_some() {
            return None;
        }
        let word = self.listed().word_to_find()?;
        self.search.finding = Some(word.clone());
        Some(self.find_in_prompts(word))
    }

    /// The store looked through the prompts for a word.
    pub(super) fn prompts_found(&mut self, word: String, jobs: Result<Vec<JobKey>, Failure>, now: Time) {
        if self.search.finding.as_ref() == Some(&word) {
            self.search.finding = None;
        }
        match jobs {
            Ok(jobs) => self.dirty |= self.listed_mut().take_found(word, jobs),
            // Not asked again at once: the rows are filtered all the same, by what they show.
            Err(failure) => {
                if self.listed_mut().take_found(word, Vec::new()) {
                    self.notify_failure(&failure, now);
                }
            }
        }
    }
}
