//! The jobs of all profiles in one list, as they are known on this computer. Only the present profile's are being watched;
//! how old what is known of the others is, is said. What is kept on this computer (titles, tags, notes, what is put away) is
//! changed from here as on the jobs screen; what needs the service leads to the job's own profile.

use super::dialog::Dialog;
use super::filter::JobFilter;
use super::jobs::JobList;
use super::keymap::{Action, Context};
use super::{AllProfilesJobs, App, Effect, Severity};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::failure::Failure;
use crate::model::load::{Load, Timed};
use crate::model::row::{Job, JobGroup, JobKey, RemainingJobs};
use std::collections::HashMap;

/// The layer.
#[derive(Debug)]
pub struct AllJobs {
    /// How far reading them is; what was read is in the list.
    pub reading: Load<()>,
    pub list: JobList,
    /// The place of the profile that Enter tries first, of those that share the job's project.
    profiles: HashMap<JobKey, usize>,
    /// What is typed into its filter.
    filter: String,
    /// The job to begin with.
    begin: Option<JobKey>,
    /// How many jobs of projects without a profile are not in it.
    left_out: usize,
}

impl AllJobs {
    fn new(begin: Option<JobKey>) -> Self {
        Self {
            reading: Load::Loading { before: None },
            list: JobList::default(),
            profiles: HashMap::new(),
            filter: String::new(),
            begin,
            left_out: 0,
        }
    }

    /// Whether they were read at all.
    pub fn is_read(&self) -> bool {
        self.reading.shown().is_some()
    }

    /// How many of them need the user.
    pub fn needing(&self) -> usize {
        self.list.count_of(JobGroup::NeedsYou)
    }

    /// The place of the profile that a job is listed under.
    pub fn profile_of(&self, row: &Job) -> Option<usize> {
        self.profiles.get(&row.key).copied()
    }

    /// What is typed into its filter.
    pub fn filter(&self) -> &str {
        &self.filter
    }

    /// How many jobs are known here of projects that no profile leads to; they are not listed.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Shows what passes the saved filter and what is typed only.
    pub(super) fn set_filter(&mut self, saved: &str, typed: &str) {
        typed.clone_into(&mut self.filter);
        self.list.set_filter(JobFilter::parse(&format!("{saved} {typed}")));
    }
}

impl App {
    /// The list of the jobs of all profiles, while it is open.
    pub fn all_jobs(&self) -> Option<&AllJobs> {
        self.dialogs.iter().rev().find_map(|overlay| match overlay {
            Dialog::AllJobs(open) => Some(open.as_ref()),
            _ => None,
        })
    }

    pub(super) fn all_jobs_mut(&mut self) -> Option<&mut AllJobs> {
        self.dialogs.iter_mut().rev().find_map(|overlay| match overlay {
            Dialog::AllJobs(open) => Some(open.as_mut()),
            _ => None,
        })
    }

    /// The jobs that keys work on: of all profiles where they are listed, else the present one's.
    pub fn listed(&self) -> &JobList {
        self.all_jobs().map_or(&self.jobs, |open| &open.list)
    }

    pub(super) fn listed_mut(&mut self) -> &mut JobList {
        let open = self.dialogs.iter_mut().rev().find_map(|overlay| match overlay {
            Dialog::AllJobs(open) => Some(&mut open.list),
            _ => None,
        });
        open.unwrap_or(&mut self.jobs)
    }

    /// The key that lists the jobs of all profiles.
    pub(super) fn open_all_jobs(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if self.config.profiles.len() < 2 {
            return self.notify(
                Severity::Info,
                "There is no other profile: [profiles.NAME] in config.toml makes one.",
                now,
            );
        }
        let begin = self.jobs.selected().map(|row| row.key);
        self.begin_all_jobs(begin, effects);
    }

    /// The saved filter of the jobs holds in it as well.
    fn begin_all_jobs(&mut self, begin: Option<JobKey>, effects: &mut Vec<Effect>) {
        effects.push(self.list_all_jobs());
        self.dialogs.push(Dialog::AllJobs(Box::new(AllJobs::new(begin))));
        self.filter_all_jobs("");
    }

    /// Where the configuration wants the list at the start: it opens, unless something was typed already.
    pub(super) fn begin_with_all_jobs(&mut self, effects: &mut Vec<Effect>) {
        if std::mem::take(&mut self.config.all_profiles)
            && self.config.profiles.len() > 1
            && self.dialogs.is_empty()
            && !self.has_typed_ahead()
        {
            // Nobody has chosen a job yet: what needs the user most comes first.
            self.begin_all_jobs(None, effects);
        }
    }

    /// The places of all profiles in the order in which they are preferred for what they share: the present one, the
    /// default one, then those with a key; the present one is known to work.
    fn preferred(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.config.profiles.len()).collect();
        let lacks = |at: usize| self.config.profiles.get(at).is_none_or(|profile| profile.lacks.is_some());
        let start = &self.config;
        places.sort_by_key(|&at| (at != start.current, lacks(at), Some(at) != start.default));
        places
    }

    /// The places of the profiles of the same project as this one, itself among them, the preferred ones first.
    fn sharing(&self, profile: usize) -> Vec<usize> {
        let project = |at: usize| {
            let scope = self.config.profiles.get(at)?.scope.as_ref()?;
            Some((&scope.base_url, &scope.project))
        };
        self.preferred().into_iter().filter(|&at| project(at) == project(profile)).collect()
    }

    /// Whose a job is that is listed under this profile: the present one's, else the default one's, else of each that
    /// shares its project.
    pub fn owners(&self, profile: usize) -> String {
        let is_sure = [Some(self.config.current), self.config.default].contains(&Some(profile));
        let places = if is_sure { vec![profile] } else { self.sharing(profile) };
        let names = places.into_iter().filter_map(|at| self.config.profiles.get(at));
        names.map(|profile| profile.name.to_string()).collect::<Vec<_>>().join(", ")
    }

    /// The projects of all profiles, each once, whatever the number of its profiles; the preferred one stands for it.
    fn all_scopes(&self) -> Vec<(usize, Scope)> {
        let mut scopes: Vec<(usize, Scope)> = Vec::new();
        for at in self.preferred() {
            let Some(scope) = self.config.profiles.get(at).and_then(|profile| profile.scope.clone()) else { continue };
            let is_listed =
                scopes.iter().any(|(_, other)| (&other.base_url, &other.project) == (&scope.base_url, &scope.project));
            if !is_listed {
                scopes.push((at, scope));
            }
        }
        scopes
    }

    fn list_all_jobs(&self) -> Effect {
        Effect::ListAllJobs(self.all_scopes())
    }

    /// Looks for a word in the prompts of what is listed.
    pub(super) fn find_in_prompts(&self, word: String) -> Effect {
        match self.all_jobs() {
            Some(_) => Effect::FindPromptsIn(self.all_scopes().into_iter().map(|(_, scope)| scope).collect(), word),
            None => Effect::FindPrompts(word),
        }
    }

    /// Asks the record again; an answer that is on its way is waited for.
    pub(super) fn refresh_all_jobs(&mut self, effects: &mut Vec<Effect>) {
        let effect = self.list_all_jobs();
        if let Some(open) = self.all_jobs_mut().filter(|open| !matches!(open.reading, Load::Loading { .. })) {
            open.reading.start();
            effects.push(effect);
        }
    }

    /// The record was read.
    pub(super) fn all_jobs_listed(&mut self, result: Result<AllProfilesJobs, Failure>, now: Time) {
        let (rows, current) = (self.geometry().all_jobs_rows(), self.config.current);
        let others = result
            .iter()
            .flat_map(|read| &read.jobs)
            .filter(|(profile, _)| *profile != current)
            .map(|(_, row)| row.key);
        self.other_profile_jobs.extend(others);
        let Some(open) = self.all_jobs_mut() else { return };
        let read = result.map(|AllProfilesJobs { jobs, left_out }| {
            open.left_out = left_out;
            open.profiles = jobs.iter().map(|(profile, row)| (row.key, *profile)).collect();
            open.list.replace(jobs.into_iter().map(|(_, row)| row).collect());
            if let Some(key) = open.begin.take() {
                open.list.select(key);
            }
            Timed { value: (), as_of: now }
        });
        open.reading.finish(read, now);
        open.list.keep_in_sight(rows);
        self.dirty = true;
    }

    /// A row of the present profile came, or one that was changed here, whose profile is known.
    pub(super) fn put_among_all(&mut self, row: &Job) {
        let current = self.config.current;
        if let Some(open) = self.all_jobs_mut().filter(|open| open.is_read()) {
            open.profiles.entry(row.key).or_insert(current);
            let changed = open.list.upsert(row.clone());
            self.dirty |= changed;
        }
    }

    /// Rows were changed here: those of other profiles do not belong in the present one's list.
    pub(super) fn changed_here(&mut self, row: Job) {
        if self.other_profile_jobs.contains(&row.key) {
            self.put_among_all(&row);
        } else {
            self.put(row);
        }
    }

    /// Some of the present profile's jobs were let go of.
    pub(super) fn prune_among_all(&mut self, left: &RemainingJobs) {
        let current = self.config.current;
        if let Some(open) = self.all_jobs_mut() {
            let AllJobs { list, profiles, .. } = open;
            list.retain(|key| profiles.get(&key) != Some(&current) || left.has(key));
        }
    }

    /// What the keys of this list do, those that its jobs have in common with any list of jobs apart.
    pub(super) fn act_on_all_jobs(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        match action {
            Action::Open => self.go_to_any_job(effects),
            Action::FollowUp | Action::Resolve => self.go_on_with_any_job(action, now, effects),
            Action::OpenPr => self.open_prs(now, effects),
            Action::CopyId => self.copy_id(effects),
            Action::Dismiss => self.dismiss(now, effects),
            Action::MarkDone => self.mark_done(now, effects),
            Action::Undo => self.take_back(now, effects),
            Action::FoldDismissed => self.listed_mut().toggle_dismissed(),
            Action::Refresh => self.refresh_all_jobs(effects),
            _ => self.act_on_list(action, now, effects),
        }
    }

    /// The selected job, with the place of its profile.
    fn any_job(&self) -> Option<(usize, JobKey)> {
        let open = self.all_jobs()?;
        let row = open.list.selected()?;
        Some((open.profile_of(row)?, row.key))
    }

    /// Enter: to the job, on its own profile.
    fn go_to_any_job(&mut self, effects: &mut Vec<Effect>) {
        let Some((profile, key)) = self.any_job() else { return };
        self.dialogs.pop();
        if profile == self.config.current {
            self.screen = super::Screen::Jobs;
            self.jobs.select(key);
        } else {
            self.choose_profile(self.sharing(profile), key, effects);
        }
    }

    /// What sends goes out on the job's own profile, with its key and its budget.
    fn go_on_with_any_job(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        let Some((profile, _)) = self.any_job() else { return };
        if self.acts_on_marks() {
            let jobs = self.key_label(Context::AllJobs, Action::Close);
            let text = format!("From this list one job at a time: {jobs} takes the marks away.");
            return self.notify(Severity::Info, &text, now);
        }
        if profile != self.config.current {
            let (what, enter) = (self.key_label(Context::Jobs, action), self.key_label(Context::AllJobs, Action::Open));
            let text = format!("{enter} turns to {} first, where {what} does it.", self.owners(profile));
            return self.notify(Severity::Info, &text, now);
        }
        self.go_to_any_job(effects);
        match action {
            // Of this job alone, whatever is marked in the list of its profile.
            Action::FollowUp => self.open_follow_up(now),
            _ => self.open_resolve(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::jobs::tests::{at, row};
    use crate::app::profiles::ProfileEntry;
    use crate::app::{AppConfig, Msg};
    use crate::model::change::LocalChange;
    use crate::model::endpoint::ApiKey;
    use crate::model::engine_event::EngineEvent;
    use crate::model::job::Status;
    use crate::model::row::JobKey;
    use crate::model::text::CleanText;
    use chrono::FixedOffset;
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    fn scope(project: &str) -> Scope {
        Scope { base_url: "https://api.example.com".into(), project: project.into(), organization: None }
    }

    fn profile(name: &str, project: &str) -> ProfileEntry {
        ProfileEntry { name: CleanText::line(name), scope: Some(scope(project)), lacks: None }
    }

    fn of_all(jobs: Vec<(usize, Job)>) -> AllProfilesJobs {
        AllProfilesJobs { jobs, left_out: 0 }
    }

    fn press(app: &mut App, code: KeyCode) -> Vec<Effect> {
        app.update(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))), at(1000))
    }

    /// Two profiles of one project and one of another, each with jobs; the list is open, its first job selected.
    fn opened() -> App {
        let mut app = begun(Vec::new());
        press(&mut app, KeyCode::Char('g'));
        app
    }

    /// As it begins, with these saved filters.
    fn begun(filters: Vec<crate::app::SavedFilter>) -> App {
        let profiles = vec![profile("same", "a"), profile("a", "a"), profile("b", "b")];
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let start = AppConfig { size: (120, 40), profiles, current: 1, filters, ..AppConfig::new(scope("a"), utc) };
        let (mut app, _) = App::new(start, at(0));
        let known =
            crate::app::InitialData { jobs: vec![row(1, Status::Active)], ..crate::app::InitialData::default() };
        app.update(Msg::Loaded(Ok(Box::new(known))), at(0));
        let effects = press(&mut app, KeyCode::Char('A'));
        assert_eq!(effects, [Effect::ListAllJobs(vec![(1, scope("a")), (2, scope("b"))])], "each project once");
        let mut failed = row(2, Status::Failed);
        failed.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
        let jobs = vec![(1, row(1, Status::Active)), (2, row(3, Status::Active)), (2, failed)];
        app.update(Msg::AllJobs(Ok(of_all(jobs))), at(1000));
        app
    }

    fn order(app: &App) -> Vec<i64> {
        match app.dialogs.last() {
            Some(Dialog::AllJobs(open)) => open.list.shown_rows().map(|row| row.key.0).collect(),
            other => panic!("no list: {other:?}"),
        }
    }

    fn selected(app: &App) -> Option<i64> {
        app.all_jobs().and_then(|open| open.list.selected()).map(|row| row.key.0)
    }

    #[test]
    fn it_begins_with_the_job_that_was_selected_and_asked_for_at_the_start_with_the_first_one() {
        assert_eq!(selected(&begun(Vec::new())), Some(1));
        let profiles = vec![profile("a", "a"), profile("b", "b")];
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let start = AppConfig { size: (120, 40), profiles, all_profiles: true, ..AppConfig::new(scope("a"), utc) };
        let (mut app, _) = App::new(start, at(0));
        let known =
            crate::app::InitialData { jobs: vec![row(1, Status::Active)], ..crate::app::InitialData::default() };
        app.update(Msg::Loaded(Ok(Box::new(known))), at(0));
        let jobs = vec![(0, row(1, Status::Active)), (1, row(2, Status::Failed))];
        app.update(Msg::AllJobs(Ok(of_all(jobs))), at(1));
        assert_eq!(selected(&app), Some(2));
    }

    #[test]
    fn saved_filters_hold_in_it_and_are_turned_to_from_there() {
        let saved = |name: &str, text: &str| crate::app::SavedFilter { name: CleanText::line(name), text: text.into() };
        let mut app = begun(vec![saved("broken", "s:failed"), saved("at work", "s:active")]);
        press(&mut app, KeyCode::Char(']'));
        assert_eq!((order(&app), app.tab()), (vec![2], Some("broken")));
        press(&mut app, KeyCode::Char(']'));
        assert_eq!(order(&app), [3, 1]);
        // What is typed narrows that further, and Esc takes it away alone.
        for c in ['/', '#', '7'] {
            press(&mut app, KeyCode::Char(c));
        }
        press(&mut app, KeyCode::Enter);
        assert_eq!(order(&app), [0_i64; 0]);
        press(&mut app, KeyCode::Esc);
        assert_eq!(order(&app), [3, 1]);
        let title: String = app.all_jobs_title(78).into_iter().map(|(text, _)| text).collect();
        assert!(title.contains(": 2 of 3") && title.contains("[at work]"), "{title}");
        press(&mut app, KeyCode::Char('['));
        press(&mut app, KeyCode::Char('A'));
        assert_eq!(app.tab(), Some("broken"), "it is one choice for both lists");
        assert_eq!(app.jobs.passing(), 0);
        press(&mut app, KeyCode::Char('A'));
        app.update(Msg::AllJobs(Ok(of_all(vec![(1, row(1, Status::Active)), (2, row(2, Status::Failed))]))), at(2));
        assert_eq!(order(&app), [2]);
    }

    #[test]
    fn what_needs_the_user_comes_first_whatever_its_profile() {
        let mut app = opened();
        assert_eq!(order(&app), [2, 3, 1]);
        // The list of the present profile is left as it is.
        assert_eq!(app.jobs.len(), 1);
        press(&mut app, KeyCode::Char('j'));
        app.update(Msg::AllJobs(Ok(of_all(vec![(2, row(3, Status::Active))]))), at(1001));
        assert!(
            matches!(app.dialogs.last(), Some(Dialog::AllJobs(open)) if open.list.selected().is_some_and(|row| row.key == JobKey(3)))
        );
    }

    #[test]
    fn a_pull_request_is_opened_and_copied_without_turning() {
        let mut app = opened();
        let link = "https://github.com/acme/docs/pull/7";
        let looked = || Effect::Change(vec![JobKey(2)], LocalChange::Looked);
        let handled = Effect::Change(vec![JobKey(2)], LocalChange::Handled);
        assert_eq!(press(&mut app, KeyCode::Char('o')), [handled, Effect::OpenUrl(CleanText::line(link))]);
        let copied = Effect::copy(&format!("the link {link}"), link.to_owned());
        assert_eq!(press(&mut app, KeyCode::Char('y')), [looked(), copied]);
        press(&mut app, KeyCode::Char('j'));
        assert_eq!(press(&mut app, KeyCode::Char('o')), []);
    }

    fn typed(app: &mut App, text: &str) -> Vec<Effect> {
        text.chars().flat_map(|c| press(app, KeyCode::Char(c))).collect()
    }

    #[test]
    fn titles_tags_and_dismissing_work_on_jobs_of_any_profile_and_stay_out_of_the_present_ones_list() {
        let mut app = opened();
        typed(&mut app, "Tdocs");
        let tags = LocalChange::Tags(vec![CleanText::line("docs")]);
        assert_eq!(press(&mut app, KeyCode::Enter), [Effect::Change(vec![JobKey(2)], tags)]);
        let mut tagged = row(2, Status::Failed);
        (tagged.tags, tagged.revision) = (vec![CleanText::line("docs")].into(), 10);
        app.update(Msg::Changed(Ok(vec![tagged.clone()])), at(1001));
        assert_eq!((app.jobs.len(), app.listed().get(JobKey(2)).map(|row| row.tags.len())), (1, Some(1)));
        assert_eq!(typed(&mut app, "d"), [Effect::Change(vec![JobKey(2)], LocalChange::Dismissed(true))]);
        assert_eq!(app.listed().selected().map(|row| row.key), Some(JobKey(3)));
        // The answer may come when the list is closed.
        press(&mut app, KeyCode::Esc);
        (tagged.dismissed, tagged.revision) = (true, 11);
        app.update(Msg::Changed(Ok(vec![tagged])), at(1002));
        assert_eq!(app.jobs.len(), 1);
    }

    #[test]
    fn it_is_filtered_sorted_and_marked_by_itself_and_esc_takes_one_after_the_other_away() {
        let mut app = opened();
        typed(&mut app, "/s:failed");
        press(&mut app, KeyCode::Enter);
        assert_eq!((order(&app), app.jobs.filter().is_empty()), (vec![2], true));
        typed(&mut app, "v");
        assert_eq!((app.listed().marked(), app.jobs.marked()), (1, 0));
        press(&mut app, KeyCode::Esc);
        assert_eq!(app.listed().marked(), 0);
        press(&mut app, KeyCode::Esc);
        assert_eq!(order(&app), [2, 3, 1]);
        typed(&mut app, "sS");
        assert_eq!(order(&app), [1, 2, 3], "by age, the oldest first");
        press(&mut app, KeyCode::Esc);
        assert!(app.dialogs.is_empty());
    }

    #[test]
    fn a_question_about_marked_jobs_is_about_those_of_this_list() {
        let mut app = opened();
        typed(&mut app, "vvd");
        let effects = press(&mut app, KeyCode::Char('y'));
        assert_eq!(effects, [Effect::Change(vec![JobKey(2), JobKey(3)], LocalChange::Dismissed(true))]);
    }

    #[test]
    fn what_sends_is_left_to_the_jobs_own_profile() {
        let mut app = opened();
        assert_eq!(typed(&mut app, "f"), []);
        let said = app.notice.as_ref().map(|notice| notice.text.to_string()).unwrap_or_default();
        assert!(said.contains("Enter turns to b first") && matches!(app.dialogs.last(), Some(Dialog::AllJobs(_))));
        typed(&mut app, "Gf");
        assert!(app.dialogs.last().and_then(Dialog::as_editor).is_some(), "the present profile's job");
    }

    #[test]
    fn it_stays_up_to_date_while_it_is_open() {
        let mut app = opened();
        app.update(Msg::News(EngineEvent::Job(Box::new(Job { revision: 9, ..row(1, Status::Failed) }))), at(1001));
        assert_eq!(order(&app), [2, 1, 3], "of the present profile at once");
        let effects = app.update(Msg::News(EngineEvent::OthersWrote), at(1002));
        assert_eq!(effects, [Effect::ListAllJobs(vec![(1, scope("a")), (2, scope("b"))])]);
        assert_eq!(app.update(Msg::News(EngineEvent::OthersWrote), at(1003)), [], "one reading at a time");
        app.update(Msg::AllJobs(Ok(of_all(vec![(2, row(4, Status::Failed)), (1, row(1, Status::Active))]))), at(1004));
        assert_eq!(order(&app), [4, 1]);
        press(&mut app, KeyCode::Esc);
        assert_eq!(app.update(Msg::News(EngineEvent::OthersWrote), at(1005)), [], "nobody looks");
    }

    #[test]
    fn the_configuration_may_begin_with_it_once() {
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let begun = |profiles: Vec<ProfileEntry>| {
            let start = AppConfig { size: (120, 40), profiles, all_profiles: true, ..AppConfig::new(scope("a"), utc) };
            let (mut app, _) = App::new(start, at(0));
            app.update(Msg::Loaded(Ok(Box::default())), at(0));
            app
        };
        let app = begun(vec![profile("a", "a"), profile("b", "b")]);
        assert!(matches!(app.dialogs.last(), Some(Dialog::AllJobs(_))) && !app.config.all_profiles);
        let app = begun(vec![profile("a", "a")]);
        assert!(app.dialogs.is_empty() && app.notice.is_none(), "there is only one");
    }

    #[test]
    fn enter_turns_to_the_jobs_profile_and_selects_it_there() {
        let mut app = opened();
        assert_eq!(press(&mut app, KeyCode::Enter), [Effect::ReadProfileKey(2)]);
        let key = || ApiKey::new("mint_b").expect("a key");
        app.update(Msg::ProfileKey(2, Ok(key())), at(1001));
        app.update(Msg::KeyTried(2, Ok((key(), None))), at(1002));
        let jobs = vec![row(3, Status::Active), row(2, Status::Failed)];
        app.update(
            Msg::Loaded(Ok(Box::new(crate::app::InitialData { jobs, ..crate::app::InitialData::default() }))),
            at(1003),
        );
        assert_eq!(app.config.profile.as_str(), "b");
        assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(2)));
    }

    /// On `here`; `bad`, `good` and `none` share a project, and the last of them has no key at all.
    fn sharing(default: Option<usize>) -> App {
        let mut none = profile("none", "shared");
        none.lacks = Some(CleanText::line("It has no key of its own."));
        let profiles = vec![none, profile("bad", "shared"), profile("good", "shared"), profile("here", "a")];
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let start = AppConfig { size: (120, 40), profiles, current: 3, default, ..AppConfig::new(scope("a"), utc) };
        let (mut app, _) = App::new(start, at(0));
        app.update(Msg::Loaded(Ok(Box::default())), at(0));
        press(&mut app, KeyCode::Char('A'));
        app
    }

    #[test]
    fn a_shared_projects_jobs_are_the_default_profiles_else_of_all_by_name() {
        let listed = |app: &mut App, first: usize| {
            assert_eq!(app.list_all_jobs(), Effect::ListAllJobs(vec![(3, scope("a")), (first, scope("shared"))]));
            app.owners(first)
        };
        assert_eq!(listed(&mut sharing(Some(2)), 2), "good");
        assert_eq!(listed(&mut sharing(None), 1), "bad, good, none");
    }

    #[test]
    fn enter_goes_on_to_a_profile_of_the_project_whose_key_can_be_read() {
        let mut app = sharing(None);
        app.update(Msg::AllJobs(Ok(of_all(vec![(1, row(9, Status::Active))]))), at(1000));
        assert_eq!(press(&mut app, KeyCode::Enter), [Effect::ReadProfileKey(1)]);
        let failed = || Failure::new(crate::model::failure::FailureKind::Local, "The key command failed.");
        assert_eq!(app.update(Msg::ProfileKey(1, Err(failed())), at(1001)), [Effect::ReadProfileKey(2)]);
        let key = || ApiKey::new("mint_b").expect("a key");
        assert_eq!(app.update(Msg::ProfileKey(2, Ok(key())), at(1002)), [Effect::TryProfileKey(2, key())]);
        app.update(Msg::KeyTried(2, Ok((key(), None))), at(1003));
        let jobs = vec![row(8, Status::Active), row(9, Status::Active)];
        app.update(
            Msg::Loaded(Ok(Box::new(crate::app::InitialData { jobs, ..crate::app::InitialData::default() }))),
            at(1004),
        );
        assert_eq!(app.config.profile.as_str(), "good");
        assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(9)));
    }

    #[test]
    fn after_a_refused_key_enter_tries_the_next_profile_and_still_goes_to_the_job() {
        let mut app = sharing(None);
        app.update(Msg::AllJobs(Ok(of_all(vec![(1, row(9, Status::Active))]))), at(1000));
        press(&mut app, KeyCode::Enter);
        app.update(Msg::ProfileKey(1, Ok(ApiKey::new("mint_a").expect("a key"))), at(1001));
        let refused = Failure::new(crate::model::failure::FailureKind::KeyRefused, "The key is not accepted.");
        assert_eq!(app.update(Msg::KeyTried(1, Err(refused)), at(1002)), [], "no second request unasked");
        assert!(
            matches!(app.dialogs.last(), Some(Dialog::Profiles(open))
                if open.said.as_ref().is_some_and(|said| said.as_str().contains("Enter tries good"))),
            "{:?}",
            app.dialogs.last()
        );
        assert_eq!(press(&mut app, KeyCode::Enter), [Effect::ReadProfileKey(2)]);
    }

    #[test]
    fn enter_on_a_job_of_the_present_profile_selects_it() {
        let mut app = opened();
        press(&mut app, KeyCode::Char('G'));
        assert_eq!(press(&mut app, KeyCode::Enter).len(), 0);
        assert!(app.dialogs.is_empty());
        assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(1)));
    }
}
