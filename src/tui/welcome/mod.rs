//! The setup form, for the source of an API key and a project. It validates them, tests them with one request, saves
//! them and starts the dashboard. New users see it as the first screen; later it is a dialog that adds a profile.
//! Validating, reading the key, testing and saving are effects. Answers to effects of an earlier attempt are ignored.
//!
//! ```text
//! Ctrl-S ─ CheckProfile ─ ReadKey ─ TestProfile ─ WriteConfig ─ Relaunch, or AddProfile
//!              └ invalid     └ failed ───┴─ asks whether to save anyway
//! ```

mod form;

pub use form::{Form, FormLine, KeySourceChoice, SetupPurpose};

use super::dialog::{ConfirmAction, ConfirmDialog, Dialog};
use super::keymap::{Action, Context, Edit};
use super::{App, Effect, Screen, Severity};
use crate::model::Time;
use crate::model::endpoint::ApiKey;
use crate::model::failure::Failure;
use crate::model::setup::{ExistingSettings, NewProfile, SetupProblem, WritePermission};
use crate::model::text::CleanText;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The state of the setup form.
#[derive(Debug, Clone)]
pub struct Welcome {
    pub form: Form,
    /// The path of the configuration file to write.
    pub config_path: CleanText,
    pub step: SetupStep,
    /// The result of the last attempt, until a field is changed.
    pub message: Option<SetupMessage>,
    /// Whether the current attempt saves the profile after the test.
    saves_profile: bool,
    /// The number of the current attempt. Answers with another number are ignored.
    attempt: u64,
    /// The profile of the last attempt.
    attempted_profile: Option<AttemptedProfile>,
}

pub(super) const NOT_IN_DEMO: &str = "The demo saves no settings.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupStep {
    /// No attempt is in progress: the user fills in the form.
    Filling,
    /// The fields are being validated, without a request.
    Checking,
    /// The API key is being read from its source.
    ReadingKey,
    /// The profile is being tested with a request.
    Testing,
    /// The profile is being written to the configuration.
    Saving,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupMessage {
    pub is_success: bool,
    pub text: CleanText,
}

/// The profile of an attempt to test or save it.
#[derive(Debug, Clone)]
struct AttemptedProfile {
    profile: NewProfile,
    /// The API key. `None` until it is read, or if it could not be read.
    key: Option<ApiKey>,
    /// Whether the service has accepted the API key.
    is_verified: bool,
}

/// What docdeck starts when the setup form ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelaunchTarget {
    /// The demo. The form is shown again after the demo.
    Demo,
    /// The dashboard of the new profile.
    Dashboard,
}

/// What is needed to start the dashboard with a new profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileToStart {
    pub profile: NewProfile,
    /// The API key that was tested.
    pub key: ApiKey,
    /// The notice to show at the start.
    pub greeting: CleanText,
    /// Whether the service has accepted the API key.
    pub is_verified: bool,
}

/// Why the configuration was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigWriteError {
    /// The configuration file already exists. The user has to confirm this change to it.
    NeedsConfirmation(WritePermission),
    Failed(Failure),
}

impl Welcome {
    /// Creates the form for the first profile. The existing settings, `known`, prefill its fields. `config` is the path
    /// of the configuration file.
    pub fn new(known: &ExistingSettings, config: CleanText) -> Self {
        Self::with(Form::new(SetupPurpose::FirstProfile, known), config, 0)
    }

    /// Creates the form for another profile. `attempts` is the number of the last attempt in an earlier form.
    fn additional(config: CleanText, attempts: u64) -> Self {
        Self::with(Form::new(SetupPurpose::AnotherProfile, &ExistingSettings::default()), config, attempts)
    }

    fn with(form: Form, config: CleanText, attempt: u64) -> Self {
        Self {
            form,
            config_path: config,
            step: SetupStep::Filling,
            message: None,
            saves_profile: false,
            attempt,
            attempted_profile: None,
        }
    }

    /// Returns what is needed to start the dashboard with the profile of the last attempt. `None` if its API key was
    /// not read.
    pub fn profile_to_start(&self) -> Option<ProfileToStart> {
        let AttemptedProfile { profile, key: Some(key), is_verified } = self.attempted_profile.clone()? else {
            return None;
        };
        let how = self.message.as_ref().map_or("", |message| message.text.as_str());
        let greeting = CleanText::line(&format!("Saved in {}. {how}", self.config_path));
        Some(ProfileToStart { profile, key, greeting, is_verified })
    }

    /// Whether the service has accepted the API key of the last attempt.
    fn is_verified(&self) -> bool {
        self.attempted_profile.as_ref().is_some_and(|tested| tested.is_verified)
    }

    /// Returns the key context of the focused line.
    pub(super) fn context(&self) -> Context {
        if self.form.is_choice() { Context::Welcome } else { Context::WelcomeText }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.step != SetupStep::Filling
    }

    fn show_message(&mut self, is_good: bool, text: &str) {
        self.message = Some(SetupMessage { is_success: is_good, text: CleanText::line(text) });
    }

    /// Ends the current attempt and discards its result, because a field is changed. Returns false while the profile is
    /// being saved, when fields can't be changed.
    fn discard_result(&mut self) -> bool {
        if self.step == SetupStep::Saving {
            return false;
        }
        self.step = SetupStep::Filling;
        self.attempt += 1;
        self.message = None;
        true
    }

    fn type_key(&mut self, key: KeyEvent) {
        let has_modifier = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER);
        if matches!(key.code, KeyCode::Char(_)) && !has_modifier {
            self.form.go_to_key();
        }
        if self.form.is_secret(self.form.line) {
            match key.code {
                KeyCode::Char(c) if !has_modifier && self.discard_result() => {
                    self.form.secret.push(c.encode_utf8(&mut [0; 4]));
                }
                KeyCode::Backspace if !has_modifier && self.discard_result() => self.form.secret.pop(),
                _ => {}
            }
            return;
        }
        let changes = matches!(key.code, KeyCode::Char(_) | KeyCode::Backspace | KeyCode::Delete);
        if (!changes || self.discard_result())
            && let Some(input) = self.form.input_mut()
        {
            input.type_key(key);
        }
    }

    fn paste(&mut self, text: &str) {
        self.form.go_to_key();
        if self.discard_result() {
            if self.form.is_secret(self.form.line) {
                self.form.secret.push(text.trim());
            } else if let Some(input) = self.form.input_mut() {
                input.paste(text);
            }
        }
    }

    fn edit(&mut self, edit: Edit) {
        let moves = matches!(
            edit,
            Edit::LineStart | Edit::LineEnd | Edit::TextStart | Edit::TextEnd | Edit::WordBack | Edit::WordForward
        );
        if self.form.is_secret(self.form.line) {
            // The cursor of a secret is always at its end, so both edits delete all of it.
            if matches!(edit, Edit::DeleteToLineStart | Edit::DeleteWordBack) && self.discard_result() {
                self.form.secret.clear();
            }
        } else if (moves || self.discard_result())
            && let Some(input) = self.form.input_mut()
        {
            input.edit(edit);
        }
    }

    /// Cancels the current attempt, unless the profile is already being saved.
    fn cancel(&mut self) {
        if self.discard_result() {
            self.show_message(false, "Canceled. Nothing was saved.");
        }
    }
}

impl App {
    /// Returns the setup form if it has the focus: as the topmost dialog, or as the screen without a dialog over it.
    pub(super) fn setup_on_top(&self) -> Option<&Welcome> {
        match self.dialogs.last() {
            Some(Dialog::Setup(form)) => Some(form),
            Some(_) => None,
            None => self.welcome.as_deref().filter(|_| self.screen == Screen::Welcome),
        }
    }

    fn setup_on_top_mut(&mut self) -> Option<&mut Welcome> {
        match self.dialogs.last_mut() {
            Some(Dialog::Setup(form)) => Some(form),
            Some(_) => None,
            None => self.welcome.as_deref_mut().filter(|_| self.screen == Screen::Welcome),
        }
    }

    /// Returns the setup form, even if another dialog is over it.
    fn setup_mut(&mut self) -> Option<&mut Welcome> {
        let dialog = self.dialogs.iter_mut().rev().find_map(|dialog| match dialog {
            Dialog::Setup(form) => Some(form.as_mut()),
            _ => None,
        });
        dialog.or(self.welcome.as_deref_mut())
    }

    /// Whether the service has accepted the API key of the form's last attempt.
    pub(super) fn is_setup_verified(&mut self) -> bool {
        self.setup_mut().is_some_and(|form| form.is_verified())
    }

    /// Opens the setup form as a dialog that adds a profile.
    pub(super) fn open_new_profile(&mut self, now: Time) {
        let Some(config) = self.config.config_path.clone() else {
            return self.notify(Severity::Info, NOT_IN_DEMO, now);
        };
        self.dialogs.push(Dialog::Setup(Box::new(Welcome::additional(config, self.setup_attempts))));
    }

    pub(super) fn type_on_welcome(&mut self, key: KeyEvent) -> bool {
        self.setup_on_top_mut().is_some_and(|welcome| {
            welcome.type_key(key);
            true
        })
    }

    pub(super) fn paste_on_welcome(&mut self, text: &str) -> bool {
        self.setup_on_top_mut().is_some_and(|welcome| {
            welcome.paste(text);
            true
        })
    }

    pub(super) fn edit_on_welcome(&mut self, edit: Edit) -> bool {
        self.setup_on_top_mut().is_some_and(|welcome| {
            welcome.edit(edit);
            true
        })
    }

    /// Cancels the current attempt or, if there is none, closes the dialog.
    pub(super) fn cancel_or_close_welcome(&mut self) {
        let Some(welcome) = self.setup_on_top_mut() else { return };
        if welcome.is_busy() {
            welcome.cancel();
        } else if let Some(Dialog::Setup(form)) = self.dialogs.pop_if(|top| matches!(top, Dialog::Setup(_))) {
            self.setup_attempts = form.attempt;
        }
    }

    pub(super) fn act_on_welcome(&mut self, action: Action, effects: &mut Vec<Effect>) {
        let is_page = self.dialogs.is_empty();
        let names: Vec<CleanText> = self.config.profiles.iter().map(|profile| profile.name.clone()).collect();
        let Some(welcome) = self.setup_on_top_mut() else { return };
        let form = &mut welcome.form;
        match action {
            Action::NextField if form.line == FormLine::More && !form.shows_optional_lines => {
                form.set_optional_lines_shown(true)
            }
            Action::NextField if form.is_on_last_input() => effects.extend(welcome.start_attempt(true, &names)),
            Action::NextField => form.move_focus(true),
            Action::NextChoice | Action::PreviousChoice if form.line == FormLine::More => {
                form.set_optional_lines_shown(action == Action::NextChoice);
            }
            Action::NextChoice | Action::PreviousChoice if welcome.discard_result() => {
                welcome.form.change_source(action == Action::NextChoice);
            }
            Action::Confirm => effects.extend(welcome.start_attempt(true, &names)),
            Action::TryOut => effects.extend(welcome.start_attempt(false, &names)),
            Action::Demo if is_page && welcome.step != SetupStep::Saving => {
                welcome.discard_result();
                effects.push(Effect::Relaunch(RelaunchTarget::Demo));
            }
            _ => {}
        }
    }

    pub(super) fn move_welcome_focus(&mut self, down: bool) {
        if let Some(welcome) = self.setup_on_top_mut() {
            welcome.form.move_focus(down);
        }
    }

    /// Handles the result of the validation: continues with reading the key, or shows the problem.
    pub(super) fn profile_checked(&mut self, attempt: u64, result: Result<(), SetupProblem>) -> Option<Effect> {
        self.dirty = true;
        let welcome = self.form_waiting_for(attempt, SetupStep::Checking)?;
        match result {
            Ok(()) => welcome.read_key(),
            Err(problem) => {
                welcome.step = SetupStep::Filling;
                if let Some(field) = problem.field {
                    welcome.form.go_to(field.into());
                }
                welcome.show_message(false, problem.sentence.as_str());
                None
            }
        }
    }

    /// Handles the result of reading the API key: continues with the test, or shows why the key could not be read.
    pub(super) fn key_read(&mut self, attempt: u64, result: Result<ApiKey, Failure>) -> Option<Effect> {
        self.dirty = true;
        let welcome = self.form_waiting_for(attempt, SetupStep::ReadingKey)?;
        match (result, &mut welcome.attempted_profile) {
            (Ok(key), Some(tested)) => {
                tested.key = Some(key.clone());
                welcome.step = SetupStep::Testing;
                Some(Effect::TestProfile { attempt, profile: Box::new(tested.profile.clone()), key })
            }
            (Ok(_), None) => None,
            (Err(failure), _) => {
                self.ask_to_save_anyway(&failure);
                None
            }
        }
    }

    /// Handles the result of the test: shows it and, if the attempt is to save the profile, saves it. After a failed
    /// test, the user is asked before saving.
    pub(super) fn profile_tested(&mut self, attempt: u64, result: Result<CleanText, Failure>) -> Option<Effect> {
        self.dirty = true;
        let welcome = self.form_waiting_for(attempt, SetupStep::Testing)?;
        match result {
            Ok(message) => {
                welcome.show_message(true, message.as_str());
                if let Some(tested) = &mut welcome.attempted_profile {
                    tested.is_verified = true;
                }
                if welcome.saves_profile {
                    return welcome.write(WritePermission::Nothing);
                }
                welcome.step = SetupStep::Filling;
            }
            Err(failure) => self.ask_to_save_anyway(&failure),
        }
        None
    }

    /// Handles the result of saving the profile: starts the dashboard, adds the profile to the list, or asks for a
    /// confirmation.
    pub(super) fn config_written(&mut self, attempt: u64, result: Result<(), ConfigWriteError>) -> Option<Effect> {
        self.dirty = true;
        let welcome = self.form_waiting_for(attempt, SetupStep::Saving)?;
        welcome.step = SetupStep::Filling;
        match result {
            Ok(()) if welcome.form.purpose == SetupPurpose::AnotherProfile => {
                let AttemptedProfile { profile, key, .. } = welcome.attempted_profile.clone()?;
                return Some(Effect::AddProfile(Box::new(profile), key));
            }
            Ok(()) if welcome.attempted_profile.as_ref().is_some_and(|tested| tested.key.is_some()) => {
                return Some(Effect::Relaunch(RelaunchTarget::Dashboard));
            }
            Ok(()) => {
                let next = if welcome.form.source_can_have_key() {
                    "The dashboard starts once the key can be read."
                } else {
                    "Set DOCDECK_API_KEY in your shell, then run docdeck again."
                };
                let message = format!("Saved in {}. {next}", welcome.config_path);
                welcome.show_message(true, &message);
            }
            Err(ConfigWriteError::NeedsConfirmation(needs)) => {
                let (config, name) = (&welcome.config_path, CleanText::line(&welcome.form.profile_name()));
                let text = match needs {
                    WritePermission::Change => {
                        format!("{config} already has a profile {name}. Update it? The rest is unchanged.")
                    }
                    _ => format!("{config} already exists. Add the profile {name}? The rest is unchanged."),
                };
                // A form that was opened to add a profile needs no confirmation for that.
                if needs == WritePermission::Add && welcome.form.purpose == SetupPurpose::AnotherProfile {
                    return welcome.write(needs);
                }
                self.dialogs.push(Dialog::Confirm(ConfirmDialog { text, on_yes: ConfirmAction::SaveProfile(needs) }));
            }
            Err(ConfigWriteError::Failed(failure)) => welcome.show_message(false, failure.message.as_str()),
        }
        None
    }

    /// Saves the profile of the last attempt after the user has confirmed it.
    pub(super) fn save_profile(&mut self, allowed: WritePermission) -> Option<Effect> {
        self.setup_on_top_mut()?.write(allowed)
    }

    /// Shows why the key could not be read or the test failed. If the attempt would save the profile, asks whether to
    /// save it anyway.
    fn ask_to_save_anyway(&mut self, failure: &Failure) {
        let Some(welcome) = self.setup_mut() else { return };
        welcome.step = SetupStep::Filling;
        welcome.show_message(false, failure.message.as_str());
        if welcome.saves_profile {
            let text = format!("{} Save it anyway?", failure.message);
            let yes = ConfirmAction::SaveProfile(WritePermission::Nothing);
            self.dialogs.push(Dialog::Confirm(ConfirmDialog { text, on_yes: yes }));
        }
    }

    /// Returns the setup form if this attempt is its current one and is at this step.
    fn form_waiting_for(&mut self, attempt: u64, step: SetupStep) -> Option<&mut Welcome> {
        self.setup_mut().filter(|welcome| welcome.attempt == attempt && welcome.step == step)
    }
}

impl Welcome {
    /// Starts an attempt: validates the fields, tests them with one request and, if `saves` is true, saves them.
    /// `names` are the names of the existing profiles.
    fn start_attempt(&mut self, saves: bool, names: &[CleanText]) -> Option<Effect> {
        if self.is_busy() || !self.discard_result() {
            return None;
        }
        let profile = match self.form.profile() {
            Ok(profile) => profile,
            Err((line, wrong)) => {
                self.form.go_to(line);
                self.show_message(false, wrong);
                return None;
            }
        };
        let name = CleanText::line(&profile.name);
        if self.form.purpose == SetupPurpose::AnotherProfile && names.contains(&name) {
            self.form.go_to(FormLine::Name);
            self.show_message(false, &format!("The profile {name} already exists. Choose another name."));
            return None;
        }
        self.saves_profile = saves;
        self.attempted_profile = Some(AttemptedProfile { profile: profile.clone(), key: None, is_verified: false });
        self.step = SetupStep::Checking;
        Some(Effect::CheckProfile { attempt: self.attempt, profile: Box::new(profile) })
    }

    /// Continues an attempt after validation: reads the API key for the test. Without a key, skips the test.
    fn read_key(&mut self) -> Option<Effect> {
        let key = self.attempted_profile.as_ref()?.profile.key.clone();
        if self.form.source_can_have_key() {
            self.step = SetupStep::ReadingKey;
            return Some(Effect::ReadKey { attempt: self.attempt, key });
        }
        if self.saves_profile {
            return self.write(WritePermission::Nothing);
        }
        self.step = SetupStep::Filling;
        self.show_message(false, "DOCDECK_API_KEY is not set in this shell, so there is no key to test.");
        None
    }

    fn write(&mut self, allowed: WritePermission) -> Option<Effect> {
        let profile = Box::new(self.attempted_profile.as_ref()?.profile.clone());
        self.step = SetupStep::Saving;
        Some(Effect::WriteConfig { attempt: self.attempt, profile, allowed })
    }
}
