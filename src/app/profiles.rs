//! The profiles of the configuration, and turning to another one: its key is read and tried while the present one goes on;
//! only then everything begins anew on the other.

use super::dialog::Dialog;
use super::editor::DraftState;
use super::keymap::{Action, Context};
use super::welcome::NOT_IN_DEMO;
use super::{App, AppConfig, Effect, Screen, Severity, scroll};
use crate::model::Time;
use crate::model::connection::Connection;
use crate::model::endpoint::{ApiKey, Scope};
use crate::model::failure::{Failure, FailureKind};
use crate::model::row::JobKey;
use crate::model::text::CleanText;

/// A profile as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileEntry {
    pub name: CleanText,
    /// Whom it leads to; none without a project.
    pub scope: Option<Scope>,
    /// Why it can't be turned to, a sentence; none when it can.
    pub lacks: Option<CleanText>,
}

impl ProfileEntry {
    /// The host of its service, as a word for people.
    pub fn host(&self) -> CleanText {
        let url = self.scope.as_ref().map_or("", |scope| scope.base_url.as_str());
        CleanText::line(url.split_once("://").map_or(url, |(_, rest)| rest))
    }

    /// Its project, as it may be shown.
    pub fn project(&self) -> CleanText {
        CleanText::line(self.scope.as_ref().map_or("", |scope| scope.project.as_str()))
    }
}

/// How far turning to another one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwitchStep {
    Choosing,
    /// The key of the one at this place is read.
    Reading(usize),
    /// The service is asked whether it takes the key.
    Asking(usize),
}

/// The layer.
#[derive(Debug)]
pub struct ProfilesDialog {
    pub step: SwitchStep,
    /// The job to go to on the other one.
    goal: Option<JobKey>,
    /// Places of others that lead to the same project, to be tried should this one not be usable.
    others: Vec<usize>,
    /// Why the last one that was chosen was not turned to.
    pub said: Option<CleanText>,
    selected: usize,
    top: usize,
}

impl ProfilesDialog {
    /// The place of the selected one.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Whether none is being switched to.
    pub(super) fn is_choosing(&self) -> bool {
        self.step == SwitchStep::Choosing
    }

    /// The first visible one.
    pub fn top(&self) -> usize {
        self.top
    }

    /// Moves the choice, unless one was made.
    pub(super) fn move_to(&mut self, to: impl FnOnce(usize, usize) -> usize, rows: usize, total: usize) {
        if self.step == SwitchStep::Choosing {
            self.selected = to(self.selected, total);
            self.goal = None;
            self.others.clear();
            self.said = None;
        }
        self.keep_in_sight(rows, total);
    }

    /// Keeps the choice in sight.
    pub(super) fn keep_in_sight(&mut self, rows: usize, total: usize) {
        self.top = scroll::follow(self.top, self.selected, rows, total);
    }
}

impl App {
    /// The key that lists the profiles.
    pub(super) fn open_profiles(&mut self, now: Time) {
        if self.config.profiles.is_empty() {
            return self.notify(Severity::Info, NOT_IN_DEMO, now);
        }
        if matches!(self.dialogs.last(), Some(Dialog::Profiles(_))) {
            return;
        }
        let open = ProfilesDialog {
            step: SwitchStep::Choosing,
            goal: None,
            others: Vec::new(),
            said: None,
            selected: self.config.current,
            top: 0,
        };
        self.dialogs.push(Dialog::Profiles(open));
    }

    /// Enter: the selected one is turned to. What is typed goes to disk first, where it belongs.
    pub(super) fn take_profile(&mut self, effects: &mut Vec<Effect>) {
        let Some(Dialog::Profiles(open)) = self.dialogs.last_mut() else { return };
        let at = open.selected;
        if open.step != SwitchStep::Choosing {
            return;
        }
        if at == self.config.current {
            self.dialogs.pop();
            return;
        }
        let Some(profile) = self.config.profiles.get(at) else { return };
        if let Some(lacks) = &profile.lacks {
            open.said = Some(CleanText::line(&format!("{} can't be turned to. {lacks}", profile.name)));
            return;
        }
        open.step = SwitchStep::Reading(at);
        open.said = None;
        effects.extend(self.dialogs.iter_mut().filter_map(|overlay| overlay.write_draft(DraftState::is_unsaved)));
        effects.push(Effect::ReadProfileKey(at));
    }

    /// Turns to the first of the profiles at these places that can be used, to go to this job there.
    pub(super) fn choose_profile(&mut self, mut places: Vec<usize>, goal: JobKey, effects: &mut Vec<Effect>) {
        if places.is_empty() {
            return;
        }
        let (selected, others) = (places.remove(0), places);
        let open =
            ProfilesDialog { step: SwitchStep::Choosing, goal: Some(goal), others, said: None, selected, top: 0 };
        self.dialogs.push(Dialog::Profiles(open));
        self.take_profile(effects);
    }

    /// The layer, if it waits for this step.
    fn waiting_for(&mut self, step: &SwitchStep) -> Option<&mut ProfilesDialog> {
        self.dialogs.iter_mut().rev().find_map(|overlay| match overlay {
            Dialog::Profiles(open) if open.step == *step => Some(open),
            _ => None,
        })
    }

    /// Its key was read. Who closed the layer meanwhile has changed their mind.
    pub(super) fn profile_key_read(&mut self, at: usize, result: Result<ApiKey, Failure>, effects: &mut Vec<Effect>) {
        let Some(open) = self.waiting_for(&SwitchStep::Reading(at)) else { return };
        match result {
            Ok(key) => {
                open.step = SwitchStep::Asking(at);
                effects.push(Effect::TryProfileKey(at, key));
            }
            // Reading a key costs nothing, so the next one of the same project is tried at once.
            Err(_) if !open.others.is_empty() => {
                (open.step, open.selected) = (SwitchStep::Choosing, open.others.remove(0));
                self.take_profile(effects);
            }
            Err(failure) => self.stay(at, &failure),
        }
        self.dirty = true;
    }

    /// The service was asked.
    pub(super) fn key_tried(
        &mut self,
        at: usize,
        result: Result<(ApiKey, Option<Failure>), Failure>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let Some(open) = self.waiting_for(&SwitchStep::Asking(at)) else { return };
        let goal = open.goal;
        match result {
            Ok((key, away)) => {
                self.turn_to_profile(at, key, now, effects);
                self.pending_selection = goal;
                match away {
                    Some(failure) => self.turned_unheard(failure, now),
                    None => self.connection = Connection::Ready,
                }
            }
            Err(failure) => self.stay(at, &failure),
        }
        self.dirty = true;
    }

    /// The present profile goes on.
    fn stay(&mut self, at: usize, failure: &Failure) {
        let Some(name) = self.config.profiles.get(at).map(|profile| profile.name.clone()) else { return };
        let (here, tries) = (self.config.profile.clone(), self.key_label(Context::Profiles, Action::Confirm));
        let open = self.dialogs.iter_mut().rev().find_map(|overlay| match overlay {
            Dialog::Profiles(open) => Some(open),
            _ => None,
        });
        if let Some(open) = open {
            open.step = SwitchStep::Choosing;
            // Each try is a request: another one is made by another press.
            let next = (!open.others.is_empty()).then(|| open.others.remove(0));
            let next = next.and_then(|next| Some((next, &self.config.profiles.get(next)?.name)));
            let further = next.map(|(_, next)| format!(" {tries} tries {next}, of the same project."));
            open.selected = next.map_or(open.selected, |(next, _)| next);
            let sentence = &failure.sentence;
            open.said = Some(CleanText::line(&format!(
                "Still on {here}: {name} can't be used. {sentence}{}",
                further.unwrap_or_default()
            )));
        }
    }

    /// On the other profile, whose key could not be checked: stored jobs are shown, and why the check failed.
    fn turned_unheard(&mut self, failure: Failure, now: Time) {
        let text = format!("Now on {}, showing stored jobs. {}", self.config.profile, failure.sentence);
        self.notify(Severity::Problem, &text, now);
        self.connection = match failure.kind {
            FailureKind::Offline => Connection::Offline { reason: failure.sentence, next_try: None },
            FailureKind::Limited(wait) => Connection::Limited(wait),
            FailureKind::Service => Connection::Unusable { reason: failure.sentence },
            _ => Connection::Unknown,
        };
    }

    /// A profile was written: it is switched to if its key is there.
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
        self.dialogs.retain(|overlay| !matches!(overlay, Dialog::Setup(_) | Dialog::Profiles(_)));
        self.dirty = true;
        let Some(key) = key else {
            return self.notify(
                Severity::Info,
                &format!("Added the profile {name}. Its key could not be read yet."),
                now,
            );
        };
        effects.extend(self.dialogs.iter_mut().filter_map(|overlay| overlay.write_draft(DraftState::is_unsaved)));
        self.turn_to_profile(self.config.profiles.len() - 1, key, now, effects);
        if is_verified {
            self.connection = Connection::Ready;
        }
    }

    /// Begins anew on another profile. The effects after the first one are the new profile's.
    fn turn_to_profile(&mut self, at: usize, key: ApiKey, now: Time, effects: &mut Vec<Effect>) {
        let Some(profile) = self.config.profiles.get(at) else { return };
        let Some(scope) = profile.scope.clone() else { return };
        let said = format!("Now on {}: {} at {}.", profile.name, profile.project(), profile.host());
        let start = AppConfig {
            profile: profile.name.clone(),
            scope,
            current: at,
            size: self.size,
            notice: None,
            all_profiles: false,
            is_verified: false,
            ..self.config.clone()
        };
        effects.extend(self.remember_layout(None));
        effects.push(Effect::SwitchProfile(at, key));
        let (fresh, begin) = App::new(start, now);
        let before = std::mem::replace(self, fresh);
        effects.extend(begin);
        self.recent_choices = before.recent_choices;
        self.finish_alerts = before.finish_alerts;
        // Of another profile, but nothing else tells their ids.
        self.unrecorded = before.unrecorded;
        // As the terminal has it.
        self.pointer = before.pointer;
        effects.extend(self.recall_layout(before.panes));
        if matches!(before.screen, Screen::Views | Screen::Log) {
            self.switch_screen(before.screen, now, effects);
        }
        self.notify(Severity::Info, &said, now);
    }
}

#[cfg(test)]
#[path = "profiles_tests.rs"]
mod tests;
