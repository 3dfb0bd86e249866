//! The setup form: takes the key's source and the project, checks and tries them with one request, has them written, and
//! begins. It is the page of a first start, and a dialog that adds a profile to a running dashboard. Checking, reading the
//! key, asking and writing are effects; an answer to an attempt that is over is dropped.
//!
//! ```text
//! Ctrl-S ─ CheckProfile ─ ReadKey ─ TryProfile ─ WriteConfig ─ Begin, or AddProfile
//!              └ refused     └ failed ──┴─ asks whether to write anyway
//! ```

mod form;

pub use form::{Form, FormLine, KeySourceChoice, Purpose};

use super::dialog::{ConfirmAction, ConfirmDialog, Dialog};
use super::keymap::{Action, Context, Edit};
use super::{App, Effect, Screen, Severity};
use crate::model::Time;
use crate::model::endpoint::ApiKey;
use crate::model::failure::Failure;
use crate::model::setup::{AlreadySet, NewProfile, SetupProblem, WritePermission};
use crate::model::text::CleanText;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The page.
#[derive(Debug, Clone)]
pub struct Welcome {
    pub form: Form,
    /// Where the configuration is to lie.
    pub config: CleanText,
    pub step: SetupStep,
    /// How the last attempt went, until something is changed.
    pub said: Option<SetupMessage>,
    /// Whether it is written once it was tried.
    saves: bool,
    /// The number of the attempt that answers belong to.
    attempt: u64,
    tried: Option<Tried>,
}

/// Why the demo saves nothing.
pub(super) const NOT_IN_DEMO: &str = "The demo saves no settings.";

/// What is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupStep {
    Filling,
    /// What is typed is being checked on this computer.
    Checking,
    /// The key is being read.
    Reading,
    /// The service was asked.
    Trying,
    /// The configuration is being written.
    Saving,
}

/// How something went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupMessage {
    pub is_good: bool,
    pub text: CleanText,
}

/// A profile that was tried, or could not be.
#[derive(Debug, Clone)]
struct Tried {
    profile: NewProfile,
    /// None where it could not be read.
    key: Option<ApiKey>,
    /// The service has accepted the key.
    is_verified: bool,
}

/// What the page leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// The demo; the page comes back after it.
    Demo,
    /// The dashboard of the profile that was written.
    Dashboard,
}

/// What the dashboard that follows the page is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    pub profile: NewProfile,
    /// As it was read for the attempt.
    pub key: ApiKey,
    /// What is to be said there first.
    pub greeting: CleanText,
    /// The service has accepted the key.
    pub is_verified: bool,
}

/// Why the configuration was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotWritten {
    /// Something is there that has to be asked about.
    There(WritePermission),
    Failed(Failure),
}

impl Welcome {
    /// The page of a first start: begins with what is known; `config` is the path of the configuration file.
    pub fn new(known: &AlreadySet, config: CleanText) -> Self {
        Self::with(Form::new(Purpose::FirstProfile, known), config, 0)
    }

    /// The dialog for one more profile. `attempts` is larger than the number of any attempt before.
    fn another(config: CleanText, attempts: u64) -> Self {
        Self::with(Form::new(Purpose::AnotherProfile, &AlreadySet::default()), config, attempts)
    }

    fn with(form: Form, config: CleanText, attempt: u64) -> Self {
        Self { form, config, step: SetupStep::Filling, said: None, saves: false, attempt, tried: None }
    }

    /// What follows, once a profile with a key was written.
    pub fn ready(&self) -> Option<Ready> {
        let Tried { profile, key: Some(key), is_verified } = self.tried.clone()? else { return None };
        let how = self.said.as_ref().map_or("", |said| said.text.as_str());
        let greeting = CleanText::line(&format!("Saved in {}. {how}", self.config));
        Some(Ready { profile, key, greeting, is_verified })
    }

    /// Whether the service has accepted the key of the profile that was tried last.
    fn is_verified(&self) -> bool {
        self.tried.as_ref().is_some_and(|tried| tried.is_verified)
    }

    /// The context whose keys hold.
    pub(super) fn context(&self) -> Context {
        if self.form.is_choice() { Context::Welcome } else { Context::WelcomeText }
    }

    /// Whether an attempt is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.step != SetupStep::Filling
    }

    fn say(&mut self, is_good: bool, text: &str) {
        self.said = Some(SetupMessage { is_good, text: CleanText::line(text) });
    }

    /// Something was changed: what was said of it before no longer holds. False while it is being written.
    fn touch(&mut self) -> bool {
        if self.step == SetupStep::Saving {
            return false;
        }
        self.step = SetupStep::Filling;
        self.attempt += 1;
        self.said = None;
        true
    }

    fn type_key(&mut self, key: KeyEvent) {
        let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER);
        if matches!(key.code, KeyCode::Char(_)) && !held {
            self.form.go_to_key();
        }
        if self.form.is_secret(self.form.line) {
            match key.code {
                KeyCode::Char(c) if !held && self.touch() => self.form.secret.push(c.encode_utf8(&mut [0; 4])),
                KeyCode::Backspace if !held && self.touch() => self.form.secret.pop(),
                _ => {}
            }
            return;
        }
        let changes = matches!(key.code, KeyCode::Char(_) | KeyCode::Backspace | KeyCode::Delete);
        if (!changes || self.touch())
            && let Some(input) = self.form.input_mut()
        {
            input.type_key(key);
        }
    }

    fn paste(&mut self, text: &str) {
        self.form.go_to_key();
        if self.touch() {
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
            // The cursor is always at its end.
            if matches!(edit, Edit::DeleteToLineStart | Edit::DeleteWordBack) && self.touch() {
                self.form.secret.clear();
            }
        } else if (moves || self.touch())
            && let Some(input) = self.form.input_mut()
        {
            input.edit(edit);
        }
    }

    /// Cancels an attempt; what is being written can't be stopped.
    fn cancel(&mut self) {
        if self.touch() {
            self.say(false, "Canceled. Nothing was written.");
        }
    }
}

impl App {
    /// The form, while it has the keys: as a dialog, or as the page without anything over it.
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

    /// The form, whatever lies over it.
    fn setup_mut(&mut self) -> Option<&mut Welcome> {
        let dialog = self.dialogs.iter_mut().rev().find_map(|overlay| match overlay {
            Dialog::Setup(form) => Some(form.as_mut()),
            _ => None,
        });
        dialog.or(self.welcome.as_deref_mut())
    }

    /// Whether the service has accepted the key of the profile in the form.
    pub(super) fn is_setup_verified(&mut self) -> bool {
        self.setup_mut().is_some_and(|form| form.is_verified())
    }

    /// The key that adds a profile: a form over the running dashboard.
    pub(super) fn open_new_profile(&mut self, now: Time) {
        let Some(config) = self.config.config.clone() else {
            return self.notify(Severity::Info, NOT_IN_DEMO, now);
        };
        // A profile that is being switched to comes first.
        if matches!(self.dialogs.last(), Some(Dialog::Profiles(open)) if !open.is_choosing()) {
            return;
        }
        self.dialogs.push(Dialog::Setup(Box::new(Welcome::another(config, self.setup_attempts))));
    }

    /// A key that no binding took.
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

    /// Esc: cancels an attempt, or closes the dialog.
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
            Action::NextChoice | Action::PreviousChoice if welcome.touch() => {
                welcome.form.change(action == Action::NextChoice);
            }
            Action::Confirm => effects.extend(welcome.attempt(true, &names)),
            Action::TryOut => effects.extend(welcome.attempt(false, &names)),
            Action::Demo if is_page && welcome.step != SetupStep::Saving => {
                welcome.touch();
                effects.push(Effect::Relaunch(Begin::Demo));
            }
            _ => {}
        }
    }

    pub(super) fn step_on_welcome(&mut self, down: bool) {
        if let Some(welcome) = self.setup_on_top_mut() {
            welcome.form.step(down);
        }
    }

    /// What is typed was checked on this computer. What docdeck would refuse is not offered to be saved.
    pub(super) fn profile_checked(&mut self, attempt: u64, result: Result<(), SetupProblem>) -> Option<Effect> {
        self.dirty = true;
        let welcome = self.welcome_in(attempt, SetupStep::Checking)?;
        match result {
            Ok(()) => welcome.read_key(),
            Err(problem) => {
                welcome.step = SetupStep::Filling;
                if let Some(field) = problem.field {
                    welcome.form.go_to(field.into());
                }
                welcome.say(false, problem.sentence.as_str());
                None
            }
        }
    }

    /// The key was read, or could not be.
    pub(super) fn key_read(&mut self, attempt: u64, result: Result<ApiKey, Failure>) -> Option<Effect> {
        self.dirty = true;
        let welcome = self.welcome_in(attempt, SetupStep::Reading)?;
        match (result, &mut welcome.tried) {
            (Ok(key), Some(tried)) => {
                tried.key = Some(key.clone());
                welcome.step = SetupStep::Trying;
                Some(Effect::TryProfile { attempt, profile: Box::new(tried.profile.clone()), key })
            }
            (Ok(_), None) => None,
            (Err(failure), _) => {
                self.ask_to_save(&failure);
                None
            }
        }
    }

    /// The service answered, or nothing did.
    pub(super) fn profile_tried(&mut self, attempt: u64, result: Result<CleanText, Failure>) -> Option<Effect> {
        self.dirty = true;
        let welcome = self.welcome_in(attempt, SetupStep::Trying)?;
        match result {
            Ok(said) => {
                welcome.say(true, said.as_str());
                if let Some(tried) = &mut welcome.tried {
                    tried.is_verified = true;
                }
                if welcome.saves {
                    return welcome.write(WritePermission::Nothing);
                }
                welcome.step = SetupStep::Filling;
            }
            Err(failure) => self.ask_to_save(&failure),
        }
        None
    }

    /// The configuration was written, or not.
    pub(super) fn config_written(&mut self, attempt: u64, result: Result<(), NotWritten>) -> Option<Effect> {
        self.dirty = true;
        let welcome = self.welcome_in(attempt, SetupStep::Saving)?;
        welcome.step = SetupStep::Filling;
        match result {
            Ok(()) if welcome.form.purpose == Purpose::AnotherProfile => {
                let Tried { profile, key, .. } = welcome.tried.clone()?;
                return Some(Effect::AddProfile(Box::new(profile), key));
            }
            Ok(()) if welcome.tried.as_ref().is_some_and(|tried| tried.key.is_some()) => {
                return Some(Effect::Relaunch(Begin::Dashboard));
            }
            Ok(()) => {
                let next = if welcome.form.has_key() {
                    "docdeck begins here once the key can be read."
                } else {
                    "Set DOCDECK_API_KEY in your shell, then run docdeck again."
                };
                let said = format!("Saved in {}. {next}", welcome.config);
                welcome.say(true, &said);
            }
            Err(NotWritten::There(needs)) => {
                let (config, name) = (&welcome.config, CleanText::line(&welcome.form.profile_name()));
                let text = match needs {
                    WritePermission::Change => {
                        format!("{config} already has a profile {name}. Change it? The rest stays.")
                    }
                    _ => format!("{config} already exists. Add the profile {name} to it? The rest stays."),
                };
                // The list of profiles was just asked for one more, and adding is what that is.
                if needs == WritePermission::Add && welcome.form.purpose == Purpose::AnotherProfile {
                    return welcome.write(needs);
                }
                self.dialogs.push(Dialog::Question(ConfirmDialog { text, yes: ConfirmAction::SaveProfile(needs) }));
            }
            Err(NotWritten::Failed(failure)) => welcome.say(false, failure.sentence.as_str()),
        }
        None
    }

    /// Yes: writes what was tried.
    pub(super) fn save_profile(&mut self, allowed: WritePermission) -> Option<Effect> {
        self.setup_on_top_mut()?.write(allowed)
    }

    /// The key could not be tried, or was refused; where it was to be written, the user decides.
    fn ask_to_save(&mut self, failure: &Failure) {
        let Some(welcome) = self.setup_mut() else { return };
        welcome.step = SetupStep::Filling;
        welcome.say(false, failure.sentence.as_str());
        if welcome.saves {
            let text = format!("{} Save it anyway?", failure.sentence);
            let yes = ConfirmAction::SaveProfile(WritePermission::Nothing);
            self.dialogs.push(Dialog::Question(ConfirmDialog { text, yes }));
        }
    }

    /// The page, if it waits for the answer to this attempt in this step.
    fn welcome_in(&mut self, attempt: u64, step: SetupStep) -> Option<&mut Welcome> {
        self.setup_mut().filter(|welcome| welcome.attempt == attempt && welcome.step == step)
    }
}

impl Welcome {
    /// Checks what is typed, then tries it with one request; with `saves` it is written then. `names` are those of the
    /// profiles that there are.
    fn attempt(&mut self, saves: bool, names: &[CleanText]) -> Option<Effect> {
        if self.is_busy() || !self.touch() {
            return None;
        }
        let profile = match self.form.profile() {
            Ok(profile) => profile,
            Err((line, wrong)) => {
                self.form.go_to(line);
                self.say(false, wrong);
                return None;
            }
        };
        let name = CleanText::line(&profile.name);
        if self.form.purpose == Purpose::AnotherProfile && names.contains(&name) {
            self.form.go_to(FormLine::Name);
            self.say(false, &format!("There is already a profile {name}. Choose another name."));
            return None;
        }
        self.saves = saves;
        self.tried = Some(Tried { profile: profile.clone(), key: None, is_verified: false });
        self.step = SetupStep::Checking;
        Some(Effect::CheckProfile { attempt: self.attempt, profile: Box::new(profile) })
    }

    /// Reads the key for the request, if there is one.
    fn read_key(&mut self) -> Option<Effect> {
        let key = self.tried.as_ref()?.profile.key.clone();
        if self.form.has_key() {
            self.step = SetupStep::Reading;
            return Some(Effect::ReadKey { attempt: self.attempt, key });
        }
        if self.saves {
            return self.write(WritePermission::Nothing);
        }
        self.step = SetupStep::Filling;
        self.say(false, "DOCDECK_API_KEY is not set in this shell, so there is no key to test.");
        None
    }

    fn write(&mut self, allowed: WritePermission) -> Option<Effect> {
        let profile = Box::new(self.tried.as_ref()?.profile.clone());
        self.step = SetupStep::Saving;
        Some(Effect::WriteConfig { attempt: self.attempt, profile, allowed })
    }
}
