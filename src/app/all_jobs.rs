//! The jobs of all profiles in one list, as they are known on this computer. Only the present profile's are being watched;
//! how old what is known of the others is, is said. What needs the service leads to the job's own profile.

use super::overlay::Overlay;
use super::{App, Effect, Tone, scroll};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::failure::Failure;
use crate::model::load::{Load, Stamped};
use crate::model::row::{Group, JobRow};

/// A job, and the place of the profile that Enter tries first, of those that share its project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    pub profile: usize,
    pub row: JobRow,
}

/// The layer.
#[derive(Debug)]
pub struct AllJobs {
    /// In the order of need, the newest first in each group; without those that were put away.
    pub jobs: Load<Vec<Known>>,
    selected: usize,
    top: usize,
}

impl AllJobs {
    fn all(&self) -> &[Known] {
        self.jobs.shown().map_or(&[], |jobs| &jobs.value)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all().len()
    }

    /// Whether there is none, as far as is known.
    pub fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    /// How many of them need the user.
    pub fn needing(&self) -> usize {
        self.all().iter().filter(|known| known.row.group() == Group::NeedsYou).count()
    }

    /// The selected job.
    pub fn selected(&self) -> Option<&Known> {
        self.all().get(self.selected)
    }

    /// The visible jobs, each with whether it is the selected one.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = (&Known, bool)> {
        let window = self.all().iter().enumerate().skip(self.top).take(rows);
        window.map(|(at, known)| (known, at == self.selected))
    }

    /// How many are out of sight below.
    pub fn below(&self, rows: usize) -> usize {
        self.len().saturating_sub(self.top + rows)
    }

    /// Moves the selection.
    pub(super) fn move_to(&mut self, to: impl FnOnce(usize, usize) -> usize, rows: usize) {
        self.selected = to(self.selected, self.len());
        self.keep_in_sight(rows);
    }

    /// Keeps the selection in sight.
    pub(super) fn keep_in_sight(&mut self, rows: usize) {
        self.top = scroll::follow(self.top, self.selected, rows, self.len());
    }
}

impl App {
    /// The key that lists the jobs of all profiles.
    pub(super) fn open_all_jobs(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if self.start.profiles.len() < 2 {
            return self.say(Tone::Info, "There is no other profile: [profiles.NAME] in config.toml makes one.", now);
        }
        effects.push(self.list_all_jobs());
        let jobs = Load::Loading { before: None };
        self.overlays.push(Overlay::AllJobs(Box::new(AllJobs { jobs, selected: 0, top: 0 })));
    }

    /// The places of all profiles in the order in which they are preferred for what they share: the present one, the
    /// default one, then those with a key; the present one is known to work.
    fn preferred(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.start.profiles.len()).collect();
        let lacks = |at: usize| self.start.profiles.get(at).is_none_or(|profile| profile.lacks.is_some());
        let start = &self.start;
        places.sort_by_key(|&at| (at != start.current, lacks(at), Some(at) != start.default));
        places
    }

    /// The places of the profiles of the same project as this one, itself among them, the preferred ones first.
    fn sharing(&self, profile: usize) -> Vec<usize> {
        let project = |at: usize| {
            let scope = self.start.profiles.get(at)?.scope.as_ref()?;
            Some((&scope.base_url, &scope.project))
        };
        self.preferred().into_iter().filter(|&at| project(at) == project(profile)).collect()
    }

    /// Whose a job is: the present profile's, else the default one's, else of each that shares its project.
    pub fn owners(&self, known: &Known) -> String {
        let is_sure = [Some(self.start.current), self.start.default].contains(&Some(known.profile));
        let places = if is_sure { vec![known.profile] } else { self.sharing(known.profile) };
        let names = places.into_iter().filter_map(|at| self.start.profiles.get(at));
        names.map(|profile| profile.name.to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Reads the record of each project once, whatever the number of its profiles; the preferred profile stands for it.
    fn list_all_jobs(&self) -> Effect {
        let places = self.preferred();
        let mut scopes: Vec<(usize, Scope)> = Vec::new();
        for at in places {
            let Some(scope) = self.start.profiles.get(at).and_then(|profile| profile.scope.clone()) else { continue };
            let is_listed =
                scopes.iter().any(|(_, other)| (&other.base_url, &other.project) == (&scope.base_url, &scope.project));
            if !is_listed {
                scopes.push((at, scope));
            }
        }
        Effect::ListAllJobs(scopes)
    }

    /// Asks the record again.
    pub(super) fn refresh_all_jobs(&mut self, effects: &mut Vec<Effect>) {
        let effect = self.list_all_jobs();
        if let Some(Overlay::AllJobs(open)) = self.overlays.last_mut() {
            open.jobs.start();
            effects.push(effect);
        }
    }

    /// The record was read.
    pub(super) fn all_jobs_listed(&mut self, result: Result<Vec<(usize, JobRow)>, Failure>, now: Time) {
        let rows = self.geometry().all_jobs_rows();
        let open = self.overlays.iter_mut().rev().find_map(|overlay| match overlay {
            Overlay::AllJobs(open) => Some(open),
            _ => None,
        });
        let Some(open) = open else { return };
        let chosen = open.selected().map(|known| known.row.key);
        let in_order = |jobs: Vec<(usize, JobRow)>| {
            let known = jobs.into_iter().map(|(profile, row)| Known { profile, row });
            let mut known: Vec<Known> = known.filter(|known| known.row.group() != Group::Dismissed).collect();
            known.sort_by_key(|known| (known.row.group(), std::cmp::Reverse(known.row.age_from()), known.row.key));
            Stamped { value: known, as_of: now }
        };
        open.jobs.finish(result.map(in_order), now);
        let place = open.all().iter().position(|known| Some(known.row.key) == chosen);
        open.move_to(|at, total| place.unwrap_or(at).min(total.saturating_sub(1)), rows);
        self.dirty = true;
    }

    /// Enter: to the job, on its own profile.
    pub(super) fn go_to_any_job(&mut self, effects: &mut Vec<Effect>) {
        let Some(Overlay::AllJobs(open)) = self.overlays.last() else { return };
        let Some((profile, key)) = open.selected().map(|known| (known.profile, known.row.key)) else { return };
        self.overlays.pop();
        if profile == self.start.current {
            self.jobs.select(key);
        } else {
            self.choose_profile(self.sharing(profile), key, effects);
        }
    }

    /// Opens the pull request of the selected one, whatever its profile.
    pub(super) fn open_any_pr(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(Overlay::AllJobs(open)) = self.overlays.last() else { return };
        match open.selected().map(|known| known.row.pr_link.clone()) {
            Some(Some(link)) => effects.push(Effect::OpenUrl(link)),
            Some(None) => self.say(Tone::Info, "This job has no pull request.", now),
            None => {}
        }
    }

    /// The link of the selected one's pull request, else its id, with what to say of it.
    pub(super) fn any_job_copy(&self) -> Option<(String, String)> {
        let Some(Overlay::AllJobs(open)) = self.overlays.last() else { return None };
        let row = &open.selected()?.row;
        match (&row.pr_link, &row.id) {
            (Some(link), _) => Some((format!("the link {link}"), link.to_string())),
            (None, Some(id)) => Some((format!("the job's id {}", id.clean()), id.as_str().to_owned())),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::jobs::tests::{at, row};
    use crate::app::profiles::Profile;
    use crate::app::{Msg, Start};
    use crate::model::endpoint::ApiKey;
    use crate::model::job::Status;
    use crate::model::row::JobKey;
    use crate::model::text::CleanText;
    use chrono::FixedOffset;
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    fn scope(project: &str) -> Scope {
        Scope { base_url: "https://api.example.com".into(), project: project.into(), organization: None }
    }

    fn profile(name: &str, project: &str) -> Profile {
        Profile { name: CleanText::line(name), scope: Some(scope(project)), lacks: None }
    }

    fn press(app: &mut App, code: KeyCode) -> Vec<Effect> {
        app.update(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))), at(1000))
    }

    /// Two profiles of one project and one of another, each with jobs; the list is open.
    fn opened() -> App {
        let profiles = vec![profile("same", "a"), profile("a", "a"), profile("b", "b")];
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let start = Start { size: (120, 40), profiles, current: 1, ..Start::new(scope("a"), utc) };
        let (mut app, _) = App::new(start, at(0));
        let known = crate::app::Known { jobs: vec![row(1, Status::Active)], ..crate::app::Known::default() };
        app.update(Msg::Loaded(Ok(Box::new(known))), at(0));
        let effects = press(&mut app, KeyCode::Char('A'));
        assert_eq!(effects, [Effect::ListAllJobs(vec![(1, scope("a")), (2, scope("b"))])], "each project once");
        let mut failed = row(2, Status::Failed);
        failed.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
        let jobs = vec![(1, row(1, Status::Active)), (2, row(3, Status::Active)), (2, failed)];
        app.update(Msg::AllJobs(Ok(jobs)), at(1000));
        app
    }

    fn order(app: &App) -> Vec<i64> {
        match app.overlays.last() {
            Some(Overlay::AllJobs(open)) => open.all().iter().map(|known| known.row.key.0).collect(),
            other => panic!("no list: {other:?}"),
        }
    }

    #[test]
    fn what_needs_the_user_comes_first_whatever_its_profile() {
        let mut app = opened();
        assert_eq!(order(&app), [2, 3, 1]);
        // The list of the present profile is left as it is.
        assert_eq!(app.jobs.len(), 1);
        press(&mut app, KeyCode::Char('j'));
        app.update(Msg::AllJobs(Ok(vec![(2, row(3, Status::Active))])), at(1001));
        assert!(
            matches!(app.overlays.last(), Some(Overlay::AllJobs(open)) if open.selected().is_some_and(|known| known.row.key == JobKey(3)))
        );
    }

    #[test]
    fn a_pull_request_is_opened_and_copied_without_turning() {
        let mut app = opened();
        let link = "https://github.com/acme/docs/pull/7";
        assert_eq!(press(&mut app, KeyCode::Char('o')), [Effect::OpenUrl(CleanText::line(link))]);
        assert_eq!(press(&mut app, KeyCode::Char('y')), [Effect::copy(&format!("the link {link}"), link.to_owned())]);
        press(&mut app, KeyCode::Char('j'));
        assert_eq!(press(&mut app, KeyCode::Char('o')), []);
    }

    #[test]
    fn enter_turns_to_the_jobs_profile_and_selects_it_there() {
        let mut app = opened();
        assert_eq!(press(&mut app, KeyCode::Enter), [Effect::ReadProfileKey(2)]);
        let key = || ApiKey::new("mint_b").expect("a key");
        app.update(Msg::ProfileKey(2, Ok(key())), at(1001));
        app.update(Msg::KeyTried(2, Ok(key())), at(1002));
        let jobs = vec![row(3, Status::Active), row(2, Status::Failed)];
        app.update(Msg::Loaded(Ok(Box::new(crate::app::Known { jobs, ..crate::app::Known::default() }))), at(1003));
        assert_eq!(app.start.profile.as_str(), "b");
        assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(2)));
    }

    /// On `here`; `bad`, `good` and `none` share a project, and the last of them has no key at all.
    fn sharing(default: Option<usize>) -> App {
        let mut none = profile("none", "shared");
        none.lacks = Some(CleanText::line("It has no key of its own."));
        let profiles = vec![none, profile("bad", "shared"), profile("good", "shared"), profile("here", "a")];
        let utc = FixedOffset::east_opt(0).expect("UTC");
        let start = Start { size: (120, 40), profiles, current: 3, default, ..Start::new(scope("a"), utc) };
        let (mut app, _) = App::new(start, at(0));
        app.update(Msg::Loaded(Ok(Box::default())), at(0));
        press(&mut app, KeyCode::Char('A'));
        app
    }

    #[test]
    fn a_shared_projects_jobs_are_the_default_profiles_else_of_all_by_name() {
        let listed = |app: &mut App, first: usize| {
            assert_eq!(app.list_all_jobs(), Effect::ListAllJobs(vec![(3, scope("a")), (first, scope("shared"))]));
            app.owners(&Known { profile: first, row: row(9, Status::Active) })
        };
        assert_eq!(listed(&mut sharing(Some(2)), 2), "good");
        assert_eq!(listed(&mut sharing(None), 1), "bad, good, none");
    }

    #[test]
    fn enter_goes_on_to_a_profile_of_the_project_whose_key_can_be_read() {
        let mut app = sharing(None);
        app.update(Msg::AllJobs(Ok(vec![(1, row(9, Status::Active))])), at(1000));
        assert_eq!(press(&mut app, KeyCode::Enter), [Effect::ReadProfileKey(1)]);
        let failed = || Failure::new(crate::model::failure::FailureKind::Local, "The key command failed.");
        assert_eq!(app.update(Msg::ProfileKey(1, Err(failed())), at(1001)), [Effect::ReadProfileKey(2)]);
        let key = || ApiKey::new("mint_b").expect("a key");
        assert_eq!(app.update(Msg::ProfileKey(2, Ok(key())), at(1002)), [Effect::TryProfileKey(2, key())]);
        app.update(Msg::KeyTried(2, Ok(key())), at(1003));
        let jobs = vec![row(8, Status::Active), row(9, Status::Active)];
        app.update(Msg::Loaded(Ok(Box::new(crate::app::Known { jobs, ..crate::app::Known::default() }))), at(1004));
        assert_eq!(app.start.profile.as_str(), "good");
        assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(9)));
    }

    #[test]
    fn after_a_refused_key_enter_tries_the_next_profile_and_still_goes_to_the_job() {
        let mut app = sharing(None);
        app.update(Msg::AllJobs(Ok(vec![(1, row(9, Status::Active))])), at(1000));
        press(&mut app, KeyCode::Enter);
        app.update(Msg::ProfileKey(1, Ok(ApiKey::new("mint_a").expect("a key"))), at(1001));
        let refused = Failure::new(crate::model::failure::FailureKind::KeyRefused, "The key is not accepted.");
        assert_eq!(app.update(Msg::KeyTried(1, Err(refused)), at(1002)), [], "no second request unasked");
        assert!(
            matches!(app.overlays.last(), Some(Overlay::Profiles(open))
                if open.said.as_ref().is_some_and(|said| said.as_str().contains("Enter tries good"))),
            "{:?}",
            app.overlays.last()
        );
        assert_eq!(press(&mut app, KeyCode::Enter), [Effect::ReadProfileKey(2)]);
    }

    #[test]
    fn enter_on_a_job_of_the_present_profile_selects_it() {
        let mut app = opened();
        press(&mut app, KeyCode::Char('G'));
        assert_eq!(press(&mut app, KeyCode::Enter).len(), 0);
        assert!(app.overlays.is_empty());
        assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(1)));
    }
}
