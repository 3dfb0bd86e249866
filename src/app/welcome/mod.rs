//! The setup form: takes the source of the key and the project, validates them, tests them with one request, saves them
//! and starts the dashboard. It is the first page of a new user, and a dialog that adds a profile. Validating, reading
//! the key, testing and writing are effects; answers to an earlier attempt are ignored.
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
use crate::model::setup::{AlreadySet, NewProfile, SetupProblem, WritePermission};
use crate::model::text::CleanText;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

#[derive(Debug, Clone)]
pub struct Welcome {
    pub form: Form,
    /// The path of the configuration file to write.
    pub config: CleanText,
    pub step: SetupStep,
    /// The result of the last attempt, until something is changed.
    pub message: Option<SetupMessage>,
    /// Whether the profile is saved after the test.
    saves: bool,
    /// The number of the current attempt, which answers have to match.
    attempt: u64,
    tested: Option<TestedProfile>,
}

pub(super) const NOT_IN_DEMO: &str = "The demo saves no settings.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupStep {
    Filling,
    /// The fields are being validated on this computer.
    Checking,
    /// The key is being read.
    ReadingKey,
    /// The service is being asked.
    Testing,
    /// The configuration is being written.
    Saving,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupMessage {
    pub is_success: bool,
    pub text: CleanText,
}

/// A profile that was tested, or could not be.
#[derive(Debug, Clone)]
struct TestedProfile {
    profile: NewProfile,
    /// `None` if the key could not be read.
    key: Option<ApiKey>,
    /// Whether the service has accepted the key.
    is_verified: bool,
}

/// What runs after the setup form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelaunchTarget {
    /// The demo, after which the form is shown again.
    Demo,
    /// The dashboard of the new profile.
    Dashboard,
}

/// The profile of the dashboard to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileToStart {
    pub profile: NewProfile,
    /// The key that the test used.
    pub key: ApiKey,
    /// The first notice.
    pub greeting: CleanText,
    /// Whether the service has accepted the key.
    pub is_verified: bool,
}

/// Why the configuration was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigWriteError {
    /// The existing file may be changed only if the user confirms it.
    NeedsConfirmation(WritePermission),
    Failed(Failure),
}

impl Welcome {
    /// Creates the page for the first profile with the given values; `config` is the path of the configuration file.
    pub fn new(known: &AlreadySet, config: CleanText) -> Self {
        Self::with(Form::new(SetupPurpose::FirstProfile, known), config, 0)
    }

    /// Creates the dialog for another profile. `attempts` is larger than the number of any earlier attempt.
    fn additional(config: CleanText, attempts: u64) -> Self {
        Self::with(Form::new(SetupPurpose::AnotherProfile, &AlreadySet::default()), config, attempts)
    }

    fn with(form: Form, config: CleanText, attempt: u64) -> Self {
        Self { form, config, step: SetupStep::Filling, message: None, saves: false, attempt, tested: None }
    }

    /// The profile of the dashboard to start, once a profile with a key was written.
    pub fn ready(&self) -> Option<ProfileToStart> {
        let TestedProfile { profile, key: Some(key), is_verified } = self.tested.clone()? else { return None };
        let how = self.message.as_ref().map_or("", |message| message.text.as_str());
        let greeting = CleanText::line(&format!("Saved in {}. {how}", self.config));
        Some(ProfileToStart { profile, key, greeting, is_verified })
    }

    /// Whether the service has accepted the key of the profile that was tested last.
    fn is_verified(&self) -> bool {
        self.tested.as_ref().is_some_and(|tested| tested.is_verified)
    }

    /// The context of the focused line.
    pub(super) fn context(&self) -> Context {
        if self.form.is_choice() { Context::Welcome } else { Context::WelcomeText }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.step != SetupStep::Filling
    }

    fn show_message(&mut self, is_good: bool, text: &str) {
        self.message = Some(SetupMessage { is_success: is_good, text: CleanText::line(text) });
    }

    /// Discards the last result, because something was changed. Returns false while the configuration is being written.
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
            // The cursor of a secret is always at its end.
            if matches!(edit, Edit::DeleteToLineStart | Edit::DeleteWordBack) && self.discard_result() {
                self.form.secret.clear();
            }
        } else if (moves || self.discard_result())
            && let Some(input) = self.form.input_mut()
        {
            input.edit(edit);
        }
    }

    /// Cancels an attempt. Writing can't be canceled.
    fn cancel(&mut self) {
        if self.discard_result() {
            self.show_message(false, "Canceled. Nothing was saved.");
        }
    }
}

impl App {
    /// The form if it has the focus: as a dialog, or as the page without a dialog over it.
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

    /// The form, even if a dialog is over it.
    fn setup_mut(&mut self) -> Option<&mut Welcome> {
        let dialog = self.dialogs.iter_mut().rev().find_map(|dialog| match dialog {
            Dialog::Setup(form) => Some(form.as_mut()),
            _ => None,
        });
        dialog.or(self.welcome.as_deref_mut())
    }

    /// Whether the service has accepted the key of the profile in the form.
    pub(super) fn is_setup_verified(&mut self) -> bool {
        self.setup_mut().is_some_and(|form| form.is_verified())
    }

    /// Opens the form for another profile.
    pub(super) fn open_new_profile(&mut self, now: Time) {
        let Some(config) = self.config.config.clone() else {
            return self.notify(Severity::Info, NOT_IN_DEMO, now);
        };
        // A profile switch in progress has priority.
        if matches!(self.dialogs.last(), Some(Dialog::Profiles(open)) if !open.is_choosing()) {
            return;
        }
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

    /// Cancels an attempt, or closes the dialog.
    pub(super) fn step_back_on_welcome(&mut self) {
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
            Action::NextField if form.line == FormLine::More && !form.is_open => form.open(true),
            Action::NextField if form.is_at_end() => effects.extend(welcome.attempt(true, &names)),
            Action::NextField => form.step(true),
            Action::NextChoice | Action::PreviousChoice if form.line == FormLine::More => {
                form.open(action == Action::NextChoice);
            }
            Action::NextChoice | Action::PreviousChoice if welcome.discard_result() => {
                welcome.form.change(action == Action::NextChoice);
            }
            Action::Confirm => effects.extend(welcome.attempt(true, &names)),
            Action::TryOut => effects.extend(welcome.attempt(false, &names)),
            Action::Demo if is_page && welcome.step != SetupStep::Saving => {
                welcome.discard_result();
                effects.push(Effect::Relaunch(RelaunchTarget::Demo));
            }
            _ => {}
        }
    }

    pub(super) fn step_on_welcome(&mut self, down: bool) {
        if let Some(welcome) = self.setup_on_top_mut() {
            welcome.form.step(down);
        }
    }

    /// Takes the result of the validation. Invalid values can't be saved.
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

    /// Takes the key, or the reason why it could not be read.
    pub(super) fn key_read(&mut self, attempt: u64, result: Result<ApiKey, Failure>) -> Option<Effect> {
        self.dirty = true;
        let welcome = self.form_waiting_for(attempt, SetupStep::ReadingKey)?;
        match (result, &mut welcome.tested) {
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

    /// Takes the result of the test.
    pub(super) fn profile_tried(&mut self, attempt: u64, result: Result<CleanText, Failure>) -> Option<Effect> {
        self.dirty = true;
        let welcome = self.form_waiting_for(attempt, SetupStep::Testing)?;
        match result {
            Ok(message) => {
                welcome.show_message(true, message.as_str());
                if let Some(tested) = &mut welcome.tested {
                    tested.is_verified = true;
                }
                if welcome.saves {
                    return welcome.write(WritePermission::Nothing);
                }
                welcome.step = SetupStep::Filling;
            }
            Err(failure) => self.ask_to_save_anyway(&failure),
        }
        None
    }

    /// Takes the result of writing the configuration.
    pub(super) fn config_written(&mut self, attempt: u64, result: Result<(), ConfigWriteError>) -> Option<Effect> {
        self.dirty = true;
        let welcome = self.form_waiting_for(attempt, SetupStep::Saving)?;
        welcome.step = SetupStep::Filling;
        match result {
            Ok(()) if welcome.form.purpose == SetupPurpose::AnotherProfile => {
                let TestedProfile { profile, key, .. } = welcome.tested.clone()?;
                return Some(Effect::AddProfile(Box::new(profile), key));
            }
            Ok(()) if welcome.tested.as_ref().is_some_and(|tested| tested.key.is_some()) => {
                return Some(Effect::Relaunch(RelaunchTarget::Dashboard));
            }
            Ok(()) => {
                let next = if welcome.form.has_key() {
                    "The dashboard starts once the key can be read."
                } else {
                    "Set DOCDECK_API_KEY in your shell, then run docdeck again."
                };
                let message = format!("Saved in {}. {next}", welcome.config);
                welcome.show_message(true, &message);
            }
            Err(ConfigWriteError::NeedsConfirmation(needs)) => {
                let (config, name) = (&welcome.config, CleanText::line(&welcome.form.profile_name()));
                let text = match needs {
                    WritePermission::Change => {
                        format!("{config} already has a profile {name}. Update it? The rest is unchanged.")
                    }
                    _ => format!("{config} already exists. Add the profile {name}? The rest is unchanged."),
                };
                // Opening the form from the list of profiles already means adding one.
                if needs == WritePermission::Add && welcome.form.purpose == SetupPurpose::AnotherProfile {
                    return welcome.write(needs);
                }
                self.dialogs.push(Dialog::Confirm(ConfirmDialog { text, yes: ConfirmAction::SaveProfile(needs) }));
            }
            Err(ConfigWriteError::Failed(failure)) => welcome.show_message(false, failure.message.as_str()),
        }
        None
    }

    /// Writes the tested profile after the user confirmed it.
    pub(super) fn save_profile(&mut self, allowed: WritePermission) -> Option<Effect> {
        self.setup_on_top_mut()?.write(allowed)
    }

    /// Shows why the test failed. If the profile was to be saved, the user decides.
    fn ask_to_save_anyway(&mut self, failure: &Failure) {
        let Some(welcome) = self.setup_mut() else { return };
        welcome.step = SetupStep::Filling;
        welcome.show_message(false, failure.message.as_str());
        if welcome.saves {
            let text = format!("{} Save it anyway?", failure.message);
            let yes = ConfirmAction::SaveProfile(WritePermission::Nothing);
            self.dialogs.push(Dialog::Confirm(ConfirmDialog { text, yes }));
        }
    }

    /// The form, if it waits for this step of this attempt.
    fn form_waiting_for(&mut self, attempt: u64, step: SetupStep) -> Option<&mut Welcome> {
        self.setup_mut().filter(|welcome| welcome.attempt == attempt && welcome.step == step)
    }
}

impl Welcome {
    /// Validates the fields, then tests them with one request; with `saves` they are saved afterwards. `names` are the
    /// existing profiles.
    fn attempt(&mut self, saves: bool, names: &[CleanText]) -> Option<Effect> {
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
        self.saves = saves;
        self.tested = Some(TestedProfile { profile: profile.clone(), key: None, is_verified: false });
        self.step = SetupStep::Checking;
        Some(Effect::CheckProfile { attempt: self.attempt, profile: Box::new(profile) })
    }

    /// Reads the key for the test, if there is one.
    fn read_key(&mut self) -> Option<Effect> {
        let key = self.tested.as_ref()?.profile.key.clone();
        if self.form.has_key() {
            self.step = SetupStep::ReadingKey;
            return Some(Effect::ReadKey { attempt: self.attempt, key });
        }
        if self.saves {
            return self.write(WritePermission::Nothing);
        }
        self.step = SetupStep::Filling;
        self.show_message(false, "DOCDECK_API_KEY is not set in this shell, so there is no key to test.");
        None
    }

    fn write(&mut self, allowed: WritePermission) -> Option<Effect> {
        let profile = Box::new(self.tested.as_ref()?.profile.clone());
        self.step = SetupStep::Saving;
        Some(Effect::WriteConfig { attempt: self.attempt, profile, allowed })
    }
}
