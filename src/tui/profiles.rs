//! The list of profiles, and switching to another profile. While the API key of the other profile is read and tested,
//! the current profile stays in use. If the service accepts the key or can't be reached, the dashboard restarts with
//! the other profile.

use super::dialog::Dialog;
use super::editor::DraftState;
use super::keymap::{Action, Context};
use super::list_state::ListState;
use super::welcome::NOT_IN_DEMO;
use super::{App, AppConfig, Effect, Screen, Severity};
use crate::model::Time;
use crate::model::connection::Connection;
use crate::model::endpoint::{ApiKey, Scope};
use crate::model::failure::{Failure, FailureKind};
use crate::model::row::JobKey;
use crate::model::text::CleanText;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileEntry {
    pub name: CleanText,
    /// The service and project. `None` if the profile has no project.
    pub scope: Option<Scope>,
    /// Why docdeck can't switch to this profile, as a sentence. `None` if it can.
    pub problem: Option<CleanText>,
}

impl ProfileEntry {
    /// Returns the host of the profile's service, for display.
    pub fn host(&self) -> CleanText {
        let url = self.scope.as_ref().map_or("", |scope| scope.base_url.as_str());
        CleanText::line(url.split_once("://").map_or(url, |(_, rest)| rest))
    }

    /// Returns the profile's project, for display.
    pub fn project(&self) -> CleanText {
        CleanText::line(self.scope.as_ref().map_or("", |scope| scope.project.as_str()))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwitchStep {
    Choosing,
    /// The API key of the profile at this index is being read.
    ReadingKey(usize),
    /// The service is being asked whether it accepts the API key of the profile at this index.
    TestingKey(usize),
}

#[derive(Debug)]
pub struct ProfilesDialog {
    pub step: SwitchStep,
    /// The job to select after the switch, if any.
    job_to_select: Option<JobKey>,
    /// The indexes of other profiles of the same project, to try if the selected profile can't be used.
    fallback_profiles: Vec<usize>,
    /// Why the last switch failed.
    pub message: Option<CleanText>,
    pub list: ListState,
}

impl ProfilesDialog {
    pub(super) fn is_choosing(&self) -> bool {
        self.step == SwitchStep::Choosing
    }

    /// Moves the selection to the index that `to` returns, given the selected index and the number of profiles. Does
    /// nothing during a switch.
    pub(super) fn move_to(&mut self, to: impl FnOnce(usize, usize) -> usize, rows: usize) {
        if self.step == SwitchStep::Choosing {
            self.list.move_to(to, rows);
            self.job_to_select = None;
            self.fallback_profiles.clear();
            self.message = None;
        }
    }
}

impl App {
    pub(super) fn open_profiles(&mut self, now: Time) {
        if self.config.profiles.is_empty() {
            return self.notify(Severity::Info, NOT_IN_DEMO, now);
        }
        if matches!(self.dialogs.last(), Some(Dialog::Profiles(_))) {
            return;
        }
        let open = ProfilesDialog {
            step: SwitchStep::Choosing,
            job_to_select: None,
            fallback_profiles: Vec::new(),
            message: None,
            list: ListState::new(self.config.profiles.len(), self.config.current_profile),
        };
        self.dialogs.push(Dialog::Profiles(open));
    }

    /// Starts switching to the selected profile. First saves typed text as drafts of the current profile.
    pub(super) fn switch_to_selected_profile(&mut self, effects: &mut Vec<Effect>) {
        let Some(Dialog::Profiles(open)) = self.dialogs.last_mut() else { return };
        let at = open.list.selected();
        if open.step != SwitchStep::Choosing {
            return;
        }
        if at == self.config.current_profile {
            self.dialogs.pop();
            return;
        }
        let Some(profile) = self.config.profiles.get(at) else { return };
        if let Some(lacks) = &profile.problem {
            open.message = Some(CleanText::line(&format!("Can't switch to {}. {lacks}", profile.name)));
            return;
        }
        open.step = SwitchStep::ReadingKey(at);
        open.message = None;
        effects.extend(self.dialogs.iter_mut().filter_map(|dialog| dialog.save_draft_if(DraftState::is_unsaved)));
        effects.push(Effect::ReadProfileKey(at));
    }

    /// Starts switching to the first of the `candidates` that can be used. After the switch, selects `job_to_select`.
    pub(super) fn switch_to_any_profile(
        &mut self,
        mut candidates: Vec<usize>,
        job_to_select: JobKey,
        effects: &mut Vec<Effect>,
    ) {
        if candidates.is_empty() {
            return;
        }
        let (selected, others) = (candidates.remove(0), candidates);
        let open = ProfilesDialog {
            step: SwitchStep::Choosing,
            job_to_select: Some(job_to_select),
            fallback_profiles: others,
            message: None,
            list: ListState::new(self.config.profiles.len(), selected),
        };
        self.dialogs.push(Dialog::Profiles(open));
        self.switch_to_selected_profile(effects);
    }

    /// Returns the list of profiles if it is open at this step.
    fn profiles_dialog_in(&mut self, step: &SwitchStep) -> Option<&mut ProfilesDialog> {
        self.dialogs.iter_mut().rev().find_map(|dialog| match dialog {
            Dialog::Profiles(open) if open.step == *step => Some(open),
            _ => None,
        })
    }

    /// Tests the API key that was read. If it could not be read, tries the next profile of the same project. Does
    /// nothing if the dialog was closed meanwhile.
    pub(super) fn profile_key_read(&mut self, at: usize, result: Result<ApiKey, Failure>, effects: &mut Vec<Effect>) {
        let Some(open) = self.profiles_dialog_in(&SwitchStep::ReadingKey(at)) else { return };
        match result {
            Ok(key) => {
                open.step = SwitchStep::TestingKey(at);
                effects.push(Effect::TestProfileKey(at, key));
            }
            // Reading a key needs no request, so the next profile of the same project is tried at once.
            Err(_) if !open.fallback_profiles.is_empty() => {
                open.step = SwitchStep::Choosing;
                open.list.select(open.fallback_profiles.remove(0));
                self.switch_to_selected_profile(effects);
            }
            Err(failure) => self.stay_on_current(at, &failure),
        }
        self.dirty = true;
    }

    /// Completes the switch if the service has accepted the API key or can't be reached.
    pub(super) fn profile_key_tested(
        &mut self,
        at: usize,
        result: Result<(ApiKey, Option<Failure>), Failure>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let Some(open) = self.profiles_dialog_in(&SwitchStep::TestingKey(at)) else { return };
        let job_to_select = open.job_to_select;
        match result {
            Ok((key, failure)) => {
                self.switch_to_profile(at, key, now, effects);
                self.pending_selection = job_to_select;
                match failure {
                    Some(failure) => self.report_unverified_switch(failure, now),
                    None => self.connection = Connection::Ready,
                }
            }
            Err(failure) => self.stay_on_current(at, &failure),
        }
        self.dirty = true;
    }

    /// Stays on the current profile, and explains in the dialog why the profile at index `at` can't be used. Selects
    /// the next profile of the same project, if any.
    fn stay_on_current(&mut self, at: usize, failure: &Failure) {
        let Some(name) = self.config.profiles.get(at).map(|profile| profile.name.clone()) else { return };
        let (current, tries) = (self.config.profile.clone(), self.key_label(Context::Profiles, Action::Confirm));
        let open = self.dialogs.iter_mut().rev().find_map(|dialog| match dialog {
            Dialog::Profiles(open) => Some(open),
            _ => None,
        });
        if let Some(open) = open {
            open.step = SwitchStep::Choosing;
            // Each attempt is a request, so the user has to start the next one.
            let next = (!open.fallback_profiles.is_empty()).then(|| open.fallback_profiles.remove(0));
            let next = next.and_then(|next| Some((next, &self.config.profiles.get(next)?.name)));
            let next_hint = next.map(|(_, next)| format!(" {tries} tries {next} of the same project."));
            open.list.select(next.map_or(open.list.selected(), |(next, _)| next));
            let sentence = &failure.message;
            open.message = Some(CleanText::line(&format!(
                "Still on {current}: {name} can't be used. {sentence}{}",
                next_hint.unwrap_or_default()
            )));
        }
    }

    /// Reports that the API key of the new profile could not be tested, so that only stored jobs are shown.
    fn report_unverified_switch(&mut self, failure: Failure, now: Time) {
        let text = format!("Switched to {}, showing stored jobs. {}", self.config.profile, failure.message);
        self.notify(Severity::Problem, &text, now);
        self.connection = match failure.kind {
            FailureKind::Offline => Connection::Offline { reason: failure.message, next_try: None },
            FailureKind::Limited(wait) => Connection::Limited(wait),
            FailureKind::Service => Connection::Unusable { reason: failure.message },
            _ => Connection::Unknown,
        };
    }

    /// Adds a new profile to the list after it was written to the configuration. Switches to the profile if its API key
    /// could be read.
    pub(super) fn profile_added(
        &mut self,
        profile: ProfileEntry,
        key: Option<ApiKey>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let name = profile.name.clone();
        let is_verified = self.is_setup_verified();
        self.config.profiles.push(profile);
        self.dialogs.retain(|dialog| !matches!(dialog, Dialog::Setup(_) | Dialog::Profiles(_)));
        self.dirty = true;
        let Some(key) = key else {
            return self.notify(Severity::Info, &format!("Profile {name} added. Its key could not be read yet."), now);
        };
        effects.extend(self.dialogs.iter_mut().filter_map(|dialog| dialog.save_draft_if(DraftState::is_unsaved)));
        self.switch_to_profile(self.config.profiles.len() - 1, key, now, effects);
        if is_verified {
            self.connection = Connection::Ready;
        }
    }

    /// Restarts the dashboard with another profile. The effects after `SwitchProfile` apply to the new profile.
    fn switch_to_profile(&mut self, at: usize, key: ApiKey, now: Time, effects: &mut Vec<Effect>) {
        let Some(profile) = self.config.profiles.get(at) else { return };
        let Some(scope) = profile.scope.clone() else { return };
        let notice = format!("Switched to {}: {} at {}.", profile.name, profile.project(), profile.host());
        let start = AppConfig {
            profile: profile.name.clone(),
            scope,
            current_profile: at,
            size: self.size,
            notice: None,
            opens_all_jobs: false,
            is_verified: false,
            ..self.config.clone()
        };
        effects.extend(self.save_layout(None));
        effects.push(Effect::SwitchProfile(at, key));
        let (new_app, first_effects) = App::new(start, now);
        let before = std::mem::replace(self, new_app);
        effects.extend(first_effects);
        self.recent_choices = before.recent_choices;
        self.finish_alerts = before.finish_alerts;
        // These prompts belong to the previous profile, but their ids are stored nowhere else.
        self.unrecorded = before.unrecorded;
        // The mouse setting has to match the terminal, whose mouse reporting doesn't change.
        self.pointer = before.pointer;
        effects.extend(self.load_layout(before.panes));
        if matches!(before.screen, Screen::Views | Screen::Log) {
            self.switch_screen(before.screen, now, effects);
        }
        self.notify(Severity::Info, &notice, now);
    }
}

#[cfg(test)]
#[path = "profiles_tests.rs"]
mod tests;
