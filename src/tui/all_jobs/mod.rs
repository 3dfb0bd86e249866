//! A list of the tracked jobs of all profiles. Only the jobs of the current profile are polled, so the list shows when
//! the selected job was last checked. Titles, tags, notes and dismissals can be changed in this list. Before the user
//! can send a prompt to a job of another profile, docdeck has to switch to that profile.

mod draw;
pub mod list;

use self::list::AllJobs;
use super::component::prelude::*;
use super::format::short_age_changes_at;
use super::geometry::{Geometry, row_capacity, title_area, without_top_rows};
use super::jobs::actions::{footer_label, handle_jobs_action, job_action_label};
use super::jobs::screen::click_list_line;
use super::jobs::{JobLine, JobList};
use super::profiles::ProfilesDialog;
use super::{AllProfilesJobs, Screen};
use crate::model::endpoint::Scope;
use crate::model::failure::Failure;
use crate::model::job::{Job, JobKey, JobsLeftAfterPrune};
use crate::model::load::{Load, Timed};
use crate::tui::JobsEffect;
use crate::tui::widgets::list_state::line_at;

/// The dialog with the jobs of all profiles. Its data is in [`App::all_jobs`], because the actions on jobs use it.
#[derive(Debug)]
pub struct AllJobsDialog;

impl Component for AllJobsDialog {
    fn contexts(&self) -> &'static [Context] {
        &[Context::AllJobs, Context::Lists, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        let open = app.all_jobs.as_ref()?;
        match action {
            Action::Copy => Some(job_action_label(action, app)),
            Action::Close if open.list.marked_count() > 0 => Some("unmark".into()),
            Action::Close if open.has_filter() => Some("clear filter".into()),
            _ => footer_label(action, app),
        }
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Open => return go_to_selected_job(cx),
            Action::FollowUp | Action::Resolve => return handle_action_if_in_current_profile(action, cx),
            Action::Refresh => cx.app.reread_all_jobs(cx.effects),
            Action::Quit => return close_list(cx),
            _ => return handle_jobs_action(action, cx),
        }
        Flow::Handled
    }

    /// Clears the marks. If several jobs are marked, the key must be pressed twice. Without marks, clears the filter.
    /// Without marks and filter, closes the list.
    fn close(&mut self, cx: &mut Cx<'_>) -> Flow {
        let marks = cx.app.active_list().marked_count();
        if cx.app.warn_once_before_clearing_marks(marks, cx.now) {
        } else if marks > 0 {
            cx.app.active_list_mut().clear_marks();
        } else if !cx.app.clear_filter() {
            return close_list(cx);
        }
        Flow::Handled
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        let rows = cx.app.geometry().all_jobs_rows();
        cx.app.active_list_mut().scroll(by, rows);
    }

    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        let g = cx.app.geometry();
        let title = title_area(g.upper_rule());
        if title.contains(at) {
            cx.app.select_filter_tab_at(usize::from(at.x - title.x), usize::from(title.width));
        } else if let Some(line) = line_at(g.all_jobs_lines(), at)
            && click_list_line(cx.app.active_list_mut(), line)
        {
            cx.app.close_filter_input();
            return go_to_selected_job(cx);
        }
        Flow::Handled
    }

    /// Returns the next time at which one of the visible ages changes, or the age of the selected job's last check.
    fn next_timer(&self, app: &App, now: Time) -> Option<Time> {
        let open = app.all_jobs.as_ref()?;
        let ages = open.list.visible(app.geometry().all_jobs_rows()).filter_map(|line| match line {
            JobLine::Job(job) => job.state_since(),
            JobLine::Heading(..) => None,
        });
        let checked_at = open.list.selected().and_then(|job| job.local.checked_at);
        ages.chain(checked_at).map(|from| short_age_changes_at(from, now)).min()
    }

    fn position_text(&self, app: &App) -> String {
        app.active_list().position_text(app.geometry().all_jobs_rows())
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        if let Some(open) = &view.app.all_jobs {
            draw::draw(frame, view, open, self);
        }
    }
}

impl Geometry {
    /// Returns the area of the list of the jobs of all profiles, below its column headings.
    pub fn all_jobs_lines(&self) -> Rect {
        without_top_rows(self.content, self.list_heading_rows())
    }

    /// Returns how many rows of the screen the list of the jobs of all profiles has, at least one.
    pub fn all_jobs_rows(&self) -> usize {
        row_capacity(self.all_jobs_lines()).max(1)
    }
}

fn close_list(cx: &mut Cx<'_>) -> Flow {
    cx.app.all_jobs = None;
    Flow::Close
}

/// Closes the list and selects the job on the jobs screen, after switching to the profile of the job if necessary.
fn go_to_selected_job(cx: &mut Cx<'_>) -> Flow {
    let Some((profile, key)) = cx.app.selected_profile_and_job() else { return Flow::Handled };
    cx.app.all_jobs = None;
    if profile == cx.app.config.current_profile {
        cx.app.screen = Screen::Jobs;
        cx.app.jobs.select(key);
    } else {
        let candidates = cx.app.profiles_of_same_project(profile);
        ProfilesDialog::open_and_switch(candidates, key, cx);
    }
    Flow::Close
}

/// Opens the follow-up editor or the dialog for an undelivered prompt. If jobs are marked, only shows a notice. If the
/// selected job belongs to another profile, only shows how to switch to that profile, because the API key and the
/// limits of that profile apply.
fn handle_action_if_in_current_profile(action: Action, cx: &mut Cx<'_>) -> Flow {
    let (app, now) = (&mut *cx.app, cx.now);
    let Some((profile, _)) = app.selected_profile_and_job() else { return Flow::Handled };
    if app.acts_on_marks() {
        let jobs = app.key_label(Context::AllJobs, Action::Close);
        let text = format!("In this list, this action works on one job only. {jobs} clears the marks.");
        app.notify(Severity::Info, &text, now);
        return Flow::Handled;
    }
    if profile != app.config.current_profile {
        let (key, enter) = (app.key_label(Context::Jobs, action), app.key_label(Context::AllJobs, Action::Open));
        let text = format!("Press {enter} to switch to {} first, then {key}.", app.possible_profile_names(profile));
        app.notify(Severity::Info, &text, now);
        return Flow::Handled;
    }
    let flow = go_to_selected_job(cx);
    match action {
        // `open_follow_up` ignores the marks of the jobs screen, so that the follow-up goes only to the selected job.
        Action::FollowUp => cx.app.open_follow_up(now),
        _ => cx.app.open_undelivered(now),
    }
    flow
}

impl App {
    /// Returns the list that key presses act on: the jobs of all profiles if that dialog is open, otherwise the jobs of
    /// the current profile.
    pub fn active_list(&self) -> &JobList {
        self.all_jobs.as_ref().map_or(&self.jobs, |open| &open.list)
    }

    pub(super) fn active_list_mut(&mut self) -> &mut JobList {
        self.all_jobs.as_mut().map_or(&mut self.jobs, |open| &mut open.list)
    }

    /// Opens the list of the jobs of all profiles. Selects the job that is selected on the jobs screen. If there is
    /// only one profile, shows a notice instead.
    pub(super) fn open_all_jobs(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if self.config.profiles.len() < 2 {
            let key = self.key_label(Context::Everywhere, Action::Profiles);
            let text = format!("There is only one profile. Press {key} to add another.");
            return self.notify(Severity::Info, &text, now);
        }
        let initial_job = self.jobs.selected().map(|row| row.key);
        self.push_all_jobs_dialog(initial_job, effects);
    }

    /// Opens the list and filters it by the saved filter that is active on the jobs screen.
    fn push_all_jobs_dialog(&mut self, initial_job: Option<JobKey>, effects: &mut Vec<Effect>) {
        effects.push(self.list_all_jobs());
        self.all_jobs = Some(AllJobs::new(initial_job));
        self.open(AllJobsDialog);
        self.filter_all_profiles_jobs("");
    }

    /// Opens the list at startup if the configuration asks for it and there are several profiles. Does nothing if a
    /// dialog is open or the user has already typed something.
    pub(super) fn open_all_jobs_at_startup(&mut self, effects: &mut Vec<Effect>) {
        if std::mem::take(&mut self.config.opens_all_jobs)
            && self.config.profiles.len() > 1
            && self.dialogs.is_empty()
            && !self.has_queued_input()
        {
            // The user has not selected a job yet, so the first job of the list gets selected.
            self.push_all_jobs_dialog(None, effects);
        }
    }

    /// Returns the indexes of all profiles, the most preferred first: the current profile, which is known to work, then
    /// the profiles without a problem, then the profiles with a problem, such as a missing API key. Within each of
    /// these groups, the default profile is first.
    fn profiles_by_preference(&self) -> Vec<usize> {
        let mut indexes: Vec<usize> = (0..self.config.profiles.len()).collect();
        let has_problem = |at: usize| self.config.profiles.get(at).is_none_or(|profile| profile.problem.is_some());
        let config = &self.config;
        indexes.sort_by_key(|&at| (at != config.current_profile, has_problem(at), Some(at) != config.default_profile));
        indexes
    }

    /// Returns the indexes of all profiles with the same project as `profile`, the most preferred first. Includes
    /// `profile` itself.
    fn profiles_of_same_project(&self, profile: usize) -> Vec<usize> {
        let project = |at: usize| {
            let scope = self.config.profiles.get(at)?.scope.as_ref()?;
            Some((&scope.base_url, &scope.project))
        };
        self.profiles_by_preference().into_iter().filter(|&at| project(at) == project(profile)).collect()
    }

    /// Returns the names, separated by commas, of the profiles that a job listed under `profile` may belong to. If
    /// `profile` is the current or the default profile, this is only `profile`, otherwise all profiles with the same
    /// project.
    pub fn possible_profile_names(&self, profile: usize) -> String {
        let is_certain = [Some(self.config.current_profile), self.config.default_profile].contains(&Some(profile));
        let indexes = if is_certain { vec![profile] } else { self.profiles_of_same_project(profile) };
        let names = indexes.into_iter().filter_map(|at| self.config.profiles.get(at));
        names.map(|profile| profile.name.to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the projects of all profiles without duplicates, each with the index of its most preferred profile.
    fn all_scopes(&self) -> Vec<(usize, Scope)> {
        let mut scopes: Vec<(usize, Scope)> = Vec::new();
        for at in self.profiles_by_preference() {
            let Some(scope) = self.config.profiles.get(at).and_then(|profile| profile.scope.clone()) else { continue };
            let is_listed =
                scopes.iter().any(|(_, other)| (&other.base_url, &other.project) == (&scope.base_url, &scope.project));
            if !is_listed {
                scopes.push((at, scope));
            }
        }
        scopes
    }

    /// Returns the effect that reads the jobs of all profiles from the store.
    fn list_all_jobs(&self) -> Effect {
        Effect::Jobs(JobsEffect::ListAllJobs(self.all_scopes()))
    }

    /// Returns the effect that searches the prompts of the listed jobs for `word`.
    pub(super) fn find_in_prompts(&self, word: String) -> Effect {
        match self.all_jobs {
            Some(_) => Effect::Jobs(JobsEffect::FindJobsByPromptIn(
                self.all_scopes().into_iter().map(|(_, scope)| scope).collect(),
                word,
            )),
            None => Effect::Jobs(JobsEffect::FindJobsByPrompt(word)),
        }
    }

    /// Reads the jobs from the store again. Does nothing if the list is closed or is already being read.
    pub(super) fn reread_all_jobs(&mut self, effects: &mut Vec<Effect>) {
        let effect = self.list_all_jobs();
        if let Some(open) = self.all_jobs.as_mut().filter(|open| !matches!(open.read_state, Load::Loading { .. })) {
            open.read_state.start();
            effects.push(effect);
        }
    }

    /// Puts the jobs that were read from the store into the list, if it is open. Also adds the jobs of other profiles
    /// to `other_profile_jobs`.
    pub(super) fn apply_all_jobs(&mut self, result: Result<AllProfilesJobs, Failure>, now: Time) {
        let (rows, current) = (self.geometry().all_jobs_rows(), self.config.current_profile);
        let others = result
            .iter()
            .flat_map(|read| &read.jobs)
            .filter(|(profile, _)| *profile != current)
            .map(|(_, row)| row.key);
        self.other_profile_jobs.extend(others);
        let Some(open) = self.all_jobs.as_mut() else { return };
        let read = result.map(|AllProfilesJobs { jobs, jobs_without_profile_count: without_profile }| {
            open.omitted_count = without_profile;
            open.profile_indexes = jobs.iter().map(|(profile, row)| (row.key, *profile)).collect();
            open.list.replace(jobs.into_iter().map(|(_, row)| row).collect());
            if let Some(key) = open.initial_job.take() {
                open.list.select(key);
            }
            Timed { value: (), as_of: now }
        });
        open.read_state.finish(read, now);
        open.list.keep_selected_visible(rows);
        self.is_dirty = true;
    }

    /// Updates a job in the open list, or adds the job to it. Does nothing until the list is loaded. A job that is not
    /// in the list yet is assumed to belong to the current profile.
    pub(super) fn upsert_in_all_jobs(&mut self, row: &Job) {
        let current = self.config.current_profile;
        if let Some(open) = self.all_jobs.as_mut().filter(|open| open.is_loaded()) {
            open.profile_indexes.entry(row.key).or_insert(current);
            let changed = open.list.upsert(row.clone());
            self.is_dirty |= changed;
        }
    }

    /// Updates a job that the user changed. A job of another profile is updated only in the list of all profiles,
    /// because the jobs screen shows only jobs of the current profile.
    pub(super) fn put_changed_job(&mut self, row: Job) {
        if self.other_profile_jobs.contains(&row.key) {
            self.upsert_in_all_jobs(&row);
        } else {
            self.put_job(row);
        }
    }

    /// Removes the pruned jobs from the open list: the jobs of the current profile that are not in `remaining`.
    pub(super) fn remove_pruned_from_all_jobs(&mut self, remaining: &JobsLeftAfterPrune) {
        let current = self.config.current_profile;
        if let Some(open) = self.all_jobs.as_mut() {
            let AllJobs { list, profile_indexes, .. } = open;
            list.retain(|key| profile_indexes.get(&key) != Some(&current) || remaining.contains(key));
        }
    }

    /// Returns the index of the selected job's profile, and the key of the job.
    fn selected_profile_and_job(&self) -> Option<(usize, JobKey)> {
        let open = self.all_jobs.as_ref()?;
        let row = open.list.selected()?;
        Some((open.profile_of(row)?, row.key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::change::LocalChange;
    use crate::model::endpoint::ApiKey;
    use crate::model::engine_event::EngineEvent;
    use crate::model::job::JobKey;
    use crate::model::remote_job::Status;
    use crate::model::text::CleanText;
    use crate::tui::ProfileEntry;
    use crate::tui::jobs::tests::{at, row};
    use crate::tui::widgets::text_input::TextInput;
    use crate::tui::{AppConfig, JobsMsg, Msg, ProfilesEffect, ProfilesMsg};
    use chrono::FixedOffset;
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

    fn scope(project: &str) -> Scope {
        Scope { base_url: "https://api.example.com".into(), project: project.into(), organization: None }
    }

    fn profile(name: &str, project: &str) -> ProfileEntry {
        ProfileEntry { name: CleanText::line(name), scope: Some(scope(project)), problem: None }
    }

    fn all_profiles_jobs(jobs: Vec<(usize, Job)>) -> AllProfilesJobs {
        AllProfilesJobs { jobs, jobs_without_profile_count: 0 }
    }

    fn press(app: &mut App, code: KeyCode) -> Vec<Effect> {
        app.update(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))), at(1000))
    }

    /// Creates an app with two profiles of one project and one profile of another project. The list is open, and its
    /// first job is selected.
    fn app_with_open_list() -> App {
        let mut app = started_app(Vec::new());
        press(&mut app, KeyCode::Char('g'));
        app
    }

    /// Creates an app with two profiles of one project, one profile of another project, and these saved filters. The
    /// list has just been opened, on the job that is selected on the jobs screen.
    fn started_app(filters: Vec<crate::tui::SavedFilter>) -> App {
        let profiles = vec![profile("same", "a"), profile("a", "a"), profile("b", "b")];
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let config =
            AppConfig { size: (120, 40), profiles, current_profile: 1, filters, ..AppConfig::new(scope("a"), utc) };
        let (mut app, _) = App::new(config, at(0));
        let data = crate::tui::InitialData { jobs: vec![row(1, Status::Active)], ..crate::tui::InitialData::default() };
        app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(data)))), at(0));
        let effects = press(&mut app, KeyCode::Char('A'));
        assert_eq!(
            effects,
            [Effect::Jobs(JobsEffect::ListAllJobs(vec![(1, scope("a")), (2, scope("b"))]))],
            "each project once"
        );
        let mut failed = row(2, Status::Failed);
        failed.remote.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
        let jobs = vec![(1, row(1, Status::Active)), (2, row(3, Status::Active)), (2, failed)];
        app.update(Msg::Jobs(JobsMsg::AllJobsListed(Ok(all_profiles_jobs(jobs)))), at(1000));
        app
    }

    fn listed_keys(app: &App) -> Vec<i64> {
        let open = app.all_jobs.as_ref().expect("the list is open");
        open.list.shown_rows().map(|row| row.key.0).collect()
    }

    #[test]
    fn ages_of_other_profiles_jobs_change_without_input() {
        let app = app_with_open_list();
        let next = AllJobsDialog.next_timer(&app, at(1000)).expect("an age");
        assert!(next > at(1000) && next <= at(1060), "{next}");
    }

    #[test]
    fn the_list_can_be_clicked_while_its_filter_is_typed() {
        let mut app = app_with_open_list();
        press(&mut app, KeyCode::Char('/'));
        press(&mut app, KeyCode::Char('j'));
        let lines = app.geometry().all_jobs_lines();
        let list = app.active_list();
        let is_other = |line| matches!(line, JobLine::Job(job) if !list.is_selected(job));
        let line = list.visible(20).position(is_other).expect("another job");
        let row = lines.y + u16::try_from(line).expect("a small number");
        let click = MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column: lines.x + 3,
            row,
            modifiers: KeyModifiers::NONE,
        };
        let (before, was) = (app.jobs.selected().map(|job| job.key), selected_key(&app));
        app.update(Msg::Input(Event::Mouse(click)), at(1001));
        assert_ne!(selected_key(&app), was);
        assert_eq!(app.jobs.selected().map(|job| job.key), before, "the list below is not in use");
        assert_eq!(app.filter_input().map(TextInput::text).as_deref(), Some("j"), "the filter stays open");
    }

    fn selected_key(app: &App) -> Option<i64> {
        app.all_jobs.as_ref().and_then(|open| open.list.selected()).map(|row| row.key.0)
    }

    #[test]
    fn the_list_opens_on_the_selected_job_or_at_startup_on_its_first_job() {
        assert_eq!(selected_key(&started_app(Vec::new())), Some(1));
        let profiles = vec![profile("a", "a"), profile("b", "b")];
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let config = AppConfig { size: (120, 40), profiles, opens_all_jobs: true, ..AppConfig::new(scope("a"), utc) };
        let (mut app, _) = App::new(config, at(0));
        let data = crate::tui::InitialData { jobs: vec![row(1, Status::Active)], ..crate::tui::InitialData::default() };
        app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(data)))), at(0));
        let jobs = vec![(0, row(1, Status::Active)), (1, row(2, Status::Failed))];
        app.update(Msg::Jobs(JobsMsg::AllJobsListed(Ok(all_profiles_jobs(jobs)))), at(1));
        assert_eq!(selected_key(&app), Some(2));
    }

    #[test]
    fn saved_filters_apply_to_the_list_and_can_be_switched_in_it() {
        let saved = |name: &str, text: &str| crate::tui::SavedFilter { name: CleanText::line(name), text: text.into() };
        let mut app = started_app(vec![saved("broken", "s:failed"), saved("at work", "s:active")]);
        press(&mut app, KeyCode::Char(']'));
        assert_eq!((listed_keys(&app), app.active_filter_name()), (vec![2], Some("broken")));
        press(&mut app, KeyCode::Char(']'));
        assert_eq!(listed_keys(&app), [3, 1]);
        // The typed filter applies in addition to the saved filter, and Esc clears only the typed filter.
        for c in ['/', '#', '7'] {
            press(&mut app, KeyCode::Char(c));
        }
        press(&mut app, KeyCode::Enter);
        assert_eq!(listed_keys(&app), [0_i64; 0]);
        press(&mut app, KeyCode::Esc);
        assert_eq!(listed_keys(&app), [3, 1]);
        let title: String = app.all_jobs_title(78).into_iter().map(|(text, _)| text).collect();
        assert!(title.contains("  2 of 3") && title.contains("[at work]"), "{title}");
        press(&mut app, KeyCode::Char('['));
        press(&mut app, KeyCode::Char('A'));
        assert_eq!(app.active_filter_name(), Some("broken"), "both lists share the tab");
        assert_eq!(app.jobs.matching_count(), 0);
        press(&mut app, KeyCode::Char('A'));
        app.update(
            Msg::Jobs(JobsMsg::AllJobsListed(Ok(all_profiles_jobs(vec![
                (1, row(1, Status::Active)),
                (2, row(2, Status::Failed)),
            ])))),
            at(2),
        );
        assert_eq!(listed_keys(&app), [2]);
    }

    #[test]
    fn jobs_that_need_the_user_come_first_across_profiles() {
        let mut app = app_with_open_list();
        assert_eq!(listed_keys(&app), [2, 3, 1]);
        // The jobs screen still has only the job of the current profile.
        assert_eq!(app.jobs.len(), 1);
        press(&mut app, KeyCode::Char('j'));
        app.update(
            Msg::Jobs(JobsMsg::AllJobsListed(Ok(all_profiles_jobs(vec![(2, row(3, Status::Active))])))),
            at(1001),
        );
        let open = app.all_jobs.as_ref().expect("the list is open");
        assert!(open.list.selected().is_some_and(|row| row.key == JobKey(3)));
    }

    #[test]
    fn a_pull_request_is_opened_and_copied_without_switching_profiles() {
        let mut app = app_with_open_list();
        let link = "https://github.com/acme/docs/pull/7";
        let viewed = || Effect::Jobs(JobsEffect::ChangeLocalData(vec![JobKey(2)], LocalChange::Viewed));
        let handled = Effect::Jobs(JobsEffect::ChangeLocalData(vec![JobKey(2)], LocalChange::Handled));
        assert_eq!(press(&mut app, KeyCode::Char('o')), [handled, Effect::OpenUrl(CleanText::line(link))]);
        let copied = Effect::copy(&format!("the link {link}"), link.to_owned());
        assert_eq!(press(&mut app, KeyCode::Char('y')), [viewed(), copied]);
        press(&mut app, KeyCode::Char('j'));
        assert_eq!(press(&mut app, KeyCode::Char('o')), []);
    }

    fn typed(app: &mut App, text: &str) -> Vec<Effect> {
        text.chars().flat_map(|c| press(app, KeyCode::Char(c))).collect()
    }

    #[test]
    fn jobs_of_other_profiles_can_be_tagged_and_dismissed_but_do_not_appear_on_the_jobs_screen() {
        let mut app = app_with_open_list();
        typed(&mut app, "Tdocs");
        let tags = LocalChange::Tags(vec![CleanText::line("docs")]);
        assert_eq!(press(&mut app, KeyCode::Enter), [Effect::Jobs(JobsEffect::ChangeLocalData(vec![JobKey(2)], tags))]);
        let mut tagged = row(2, Status::Failed);
        (tagged.local.tags, tagged.revision) = (vec![CleanText::line("docs")].into(), 10);
        app.update(Msg::Jobs(JobsMsg::LocalDataChanged(Ok(vec![tagged.clone()]))), at(1001));
        assert_eq!((app.jobs.len(), app.active_list().get(JobKey(2)).map(|row| row.local.tags.len())), (1, Some(1)));
        assert_eq!(
            typed(&mut app, "d"),
            [Effect::Jobs(JobsEffect::ChangeLocalData(vec![JobKey(2)], LocalChange::Dismissed(true)))]
        );
        assert_eq!(app.active_list().selected().map(|row| row.key), Some(JobKey(3)));
        // The result of a change can arrive after the list was closed.
        press(&mut app, KeyCode::Esc);
        (tagged.local.dismissed, tagged.revision) = (true, 11);
        app.update(Msg::Jobs(JobsMsg::LocalDataChanged(Ok(vec![tagged]))), at(1002));
        assert_eq!(app.jobs.len(), 1);
    }

    #[test]
    fn the_list_has_its_own_marks_filter_and_sort_order_and_esc_clears_the_marks_first() {
        let mut app = app_with_open_list();
        typed(&mut app, "/s:failed");
        press(&mut app, KeyCode::Enter);
        assert_eq!((listed_keys(&app), app.jobs.filter().is_empty()), (vec![2], true));
        typed(&mut app, "v");
        assert_eq!((app.active_list().marked_count(), app.jobs.marked_count()), (1, 0));
        press(&mut app, KeyCode::Esc);
        assert_eq!(app.active_list().marked_count(), 0);
        press(&mut app, KeyCode::Esc);
        assert_eq!(listed_keys(&app), [2, 3, 1]);
        typed(&mut app, "sS");
        assert_eq!(listed_keys(&app), [1, 2, 3], "by age, the oldest first");
        press(&mut app, KeyCode::Esc);
        assert!(app.dialogs.is_empty());
    }

    #[test]
    fn a_confirmation_about_marked_jobs_uses_the_marks_of_the_open_list() {
        let mut app = app_with_open_list();
        typed(&mut app, "vvd");
        let effects = press(&mut app, KeyCode::Char('y'));
        assert_eq!(
            effects,
            [Effect::Jobs(JobsEffect::ChangeLocalData(vec![JobKey(2), JobKey(3)], LocalChange::Dismissed(true)))]
        );
    }

    #[test]
    fn a_follow_up_needs_the_profile_of_the_job() {
        let mut app = app_with_open_list();
        assert_eq!(typed(&mut app, "f"), []);
        let notice = app.notice.as_ref().map(|notice| notice.text.to_string()).unwrap_or_default();
        assert!(notice.contains("Press Enter to switch to b first"), "{notice}");
        assert!(app.top::<AllJobsDialog>().is_some());
        typed(&mut app, "Gf");
        assert!(app.top::<crate::tui::compose::editor::Editor>().is_some(), "a job of the current profile");
    }

    #[test]
    fn the_list_stays_up_to_date_while_it_is_open() {
        let mut app = app_with_open_list();
        app.update(Msg::Engine(EngineEvent::Job(Box::new(Job { revision: 9, ..row(1, Status::Failed) }))), at(1001));
        assert_eq!(listed_keys(&app), [2, 1, 3], "a change of the current profile shows at once");
        let effects = app.update(Msg::Engine(EngineEvent::ExternalChange), at(1002));
        assert_eq!(effects, [Effect::Jobs(JobsEffect::ListAllJobs(vec![(1, scope("a")), (2, scope("b"))]))]);
        assert_eq!(app.update(Msg::Engine(EngineEvent::ExternalChange), at(1003)), [], "one read at a time");
        app.update(
            Msg::Jobs(JobsMsg::AllJobsListed(Ok(all_profiles_jobs(vec![
                (2, row(4, Status::Failed)),
                (1, row(1, Status::Active)),
            ])))),
            at(1004),
        );
        assert_eq!(listed_keys(&app), [4, 1]);
        press(&mut app, KeyCode::Esc);
        assert_eq!(app.update(Msg::Engine(EngineEvent::ExternalChange), at(1005)), [], "the list is closed");
    }

    #[test]
    fn the_configuration_can_open_the_list_at_startup() {
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let started_app = |profiles: Vec<ProfileEntry>| {
            let config =
                AppConfig { size: (120, 40), profiles, opens_all_jobs: true, ..AppConfig::new(scope("a"), utc) };
            let (mut app, _) = App::new(config, at(0));
            app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::default()))), at(0));
            app
        };
        let app = started_app(vec![profile("a", "a"), profile("b", "b")]);
        assert!(app.top::<AllJobsDialog>().is_some() && !app.config.opens_all_jobs);
        let app = started_app(vec![profile("a", "a")]);
        assert!(app.dialogs.is_empty() && app.notice.is_none(), "only one profile");
    }

    #[test]
    fn enter_switches_to_the_profile_of_the_job_and_selects_the_job() {
        let mut app = app_with_open_list();
        assert_eq!(press(&mut app, KeyCode::Enter), [Effect::Profiles(ProfilesEffect::ReadProfileKey(2))]);
        let key = || ApiKey::new("mint_b").expect("a key");
        app.update(Msg::Profiles(ProfilesMsg::ProfileKeyRead(2, Ok(key()))), at(1001));
        app.update(Msg::Profiles(ProfilesMsg::ProfileKeyTested(2, Ok((key(), None)))), at(1002));
        let jobs = vec![row(3, Status::Active), row(2, Status::Failed)];
        app.update(
            Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(crate::tui::InitialData {
                jobs,
                ..crate::tui::InitialData::default()
            })))),
            at(1003),
        );
        assert_eq!(app.config.profile.as_str(), "b");
        assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(2)));
    }

    /// Creates an app whose current profile is `here`. The profiles `bad`, `good` and `none` share another project, and
    /// `none` has no API key.
    fn app_with_shared_project(default: Option<usize>) -> App {
        let mut none = profile("none", "shared");
        none.problem = Some(CleanText::line("It has no key."));
        let profiles = vec![none, profile("bad", "shared"), profile("good", "shared"), profile("here", "a")];
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let config = AppConfig {
            size: (120, 40),
            profiles,
            current_profile: 3,
            default_profile: default,
            ..AppConfig::new(scope("a"), utc)
        };
        let (mut app, _) = App::new(config, at(0));
        app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::default()))), at(0));
        press(&mut app, KeyCode::Char('A'));
        app
    }

    #[test]
    fn jobs_of_a_shared_project_are_listed_under_its_default_profile_or_else_under_all_its_profiles() {
        let listed = |app: &mut App, first: usize| {
            assert_eq!(
                app.list_all_jobs(),
                Effect::Jobs(JobsEffect::ListAllJobs(vec![(3, scope("a")), (first, scope("shared"))]))
            );
            app.possible_profile_names(first)
        };
        assert_eq!(listed(&mut app_with_shared_project(Some(2)), 2), "good");
        assert_eq!(listed(&mut app_with_shared_project(None), 1), "bad, good, none");
    }

    #[test]
    fn enter_switches_to_the_first_profile_of_the_project_whose_api_key_can_be_read() {
        let mut app = app_with_shared_project(None);
        app.update(
            Msg::Jobs(JobsMsg::AllJobsListed(Ok(all_profiles_jobs(vec![(1, row(9, Status::Active))])))),
            at(1000),
        );
        assert_eq!(press(&mut app, KeyCode::Enter), [Effect::Profiles(ProfilesEffect::ReadProfileKey(1))]);
        let failed = || Failure::new(crate::model::failure::FailureKind::Local, "The key command failed.");
        assert_eq!(
            app.update(Msg::Profiles(ProfilesMsg::ProfileKeyRead(1, Err(failed()))), at(1001)),
            [Effect::Profiles(ProfilesEffect::ReadProfileKey(2))]
        );
        let key = || ApiKey::new("mint_b").expect("a key");
        assert_eq!(
            app.update(Msg::Profiles(ProfilesMsg::ProfileKeyRead(2, Ok(key()))), at(1002)),
            [Effect::Profiles(ProfilesEffect::TestProfileKey(2, key()))]
        );
        app.update(Msg::Profiles(ProfilesMsg::ProfileKeyTested(2, Ok((key(), None)))), at(1003));
        let jobs = vec![row(8, Status::Active), row(9, Status::Active)];
        app.update(
            Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(crate::tui::InitialData {
                jobs,
                ..crate::tui::InitialData::default()
            })))),
            at(1004),
        );
        assert_eq!(app.config.profile.as_str(), "good");
        assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(9)));
    }

    #[test]
    fn if_an_api_key_is_refused_pressing_enter_tries_the_next_profile() {
        let mut app = app_with_shared_project(None);
        app.update(
            Msg::Jobs(JobsMsg::AllJobsListed(Ok(all_profiles_jobs(vec![(1, row(9, Status::Active))])))),
            at(1000),
        );
        press(&mut app, KeyCode::Enter);
        app.update(Msg::Profiles(ProfilesMsg::ProfileKeyRead(1, Ok(ApiKey::new("mint_a").expect("a key")))), at(1001));
        let refused = Failure::new(crate::model::failure::FailureKind::KeyRefused, "The key is not accepted.");
        assert_eq!(
            app.update(Msg::Profiles(ProfilesMsg::ProfileKeyTested(1, Err(refused))), at(1002)),
            [],
            "no second request without the user"
        );
        assert!(
            app.top::<ProfilesDialog>()
                .and_then(|dialog| dialog.message.as_ref())
                .is_some_and(|text| text.as_str().contains("Enter tries good")),
            "{:?}",
            app.dialogs.last()
        );
        assert_eq!(press(&mut app, KeyCode::Enter), [Effect::Profiles(ProfilesEffect::ReadProfileKey(2))]);
    }

    #[test]
    fn enter_on_a_job_of_the_current_profile_selects_it_on_the_jobs_screen() {
        let mut app = app_with_open_list();
        press(&mut app, KeyCode::Char('G'));
        assert_eq!(press(&mut app, KeyCode::Enter).len(), 0);
        assert!(app.dialogs.is_empty());
        assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(1)));
    }
}
