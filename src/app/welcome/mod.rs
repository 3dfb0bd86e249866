//! The first page of somebody who has configured nothing yet: takes the key's source and the project, tries them with one
//! request, has them written, and begins. Reading the key, asking and writing are effects; an answer to an attempt that is
//! over is dropped.
//!
//! ```text
//! Ctrl-S ─ ReadKey ─ TryProfile ─ WriteConfig ─ Begin
//!             └ failed ──┴─ asks whether to write all the same
//! ```

mod form;

pub use form::{Form, Line, Source};

use super::keymap::{Action, Edit};
use super::overlay::{Consequence, Overlay, Question};
use super::{App, Effect, Screen};
use crate::model::endpoint::ApiKey;
use crate::model::failure::Failure;
use crate::model::setup::{Allowed, AlreadySet, NewProfile};
use crate::model::text::CleanText;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The page.
#[derive(Debug, Clone)]
pub struct Welcome {
    pub form: Form,
    /// Where the configuration is to lie.
    pub config: CleanText,
    pub step: Step,
    /// How the last attempt went, until something is changed.
    pub said: Option<Said>,
    /// Whether it is written once it was tried.
    saves: bool,
    /// The number of the attempt that answers belong to.
    attempt: u64,
    tried: Option<Tried>,
}

/// What is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Filling,
    /// The key is being read.
    Reading,
    /// The service was asked.
    Trying,
    /// The configuration is being written.
    Saving,
}

/// How something went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub is_good: bool,
    pub text: CleanText,
}

/// A profile that was tried, or could not be.
#[derive(Debug, Clone)]
struct Tried {
    profile: NewProfile,
    /// None where it could not be read.
    key: Option<ApiKey>,
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
}

/// Why the configuration was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotWritten {
    /// Something is there that has to be asked about.
    There(Allowed),
    Failed(Failure),
}

impl Welcome {
    /// Begins with what is known; `config` is where the configuration is to lie.
    pub fn new(known: &AlreadySet, config: CleanText) -> Self {
        Self { form: Form::new(known), config, step: Step::Filling, said: None, saves: false, attempt: 0, tried: None }
    }

    /// What follows, once a profile with a key was written.
    pub fn ready(&self) -> Option<Ready> {
        let Tried { profile, key: Some(key) } = self.tried.clone()? else { return None };
        let how = self.said.as_ref().map_or("", |said| said.text.as_str());
        let greeting = CleanText::line(&format!("Saved in {}. {how}", self.config));
        Some(Ready { profile, key, greeting })
    }

    /// Whether characters are typed at this moment.
    pub fn takes_text(&self) -> bool {
        self.form.line != Line::Source
    }

    /// Whether Esc has something to go back from.
    pub(super) fn has_layer(&self) -> bool {
        self.step != Step::Filling || self.takes_text()
    }

    fn say(&mut self, is_good: bool, text: &str) {
        self.said = Some(Said { is_good, text: CleanText::line(text) });
    }

    /// Something was changed: what was said of it before no longer holds. False while it is being written.
    fn touch(&mut self) -> bool {
        if self.step == Step::Saving {
            return false;
        }
        self.step = Step::Filling;
        self.attempt += 1;
        self.said = None;
        true
    }

    fn type_key(&mut self, key: KeyEvent) {
        if self.form.is_secret(self.form.line) {
            let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER);
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

    fn paste(&mut self, text: &str) -> bool {
        if !self.takes_text() {
            return false;
        }
        if self.touch() {
            if self.form.is_secret(self.form.line) {
                self.form.secret.push(text.trim());
            } else if let Some(input) = self.form.input_mut() {
                input.paste(text);
            }
        }
        true
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

    /// Esc: gives an attempt up, else goes back to the first line.
    fn step_back(&mut self) {
        match self.step {
            Step::Saving => {}
            Step::Reading | Step::Trying => {
                self.touch();
                self.say(false, "Given up; nothing was written.");
            }
            Step::Filling => self.form.line = Line::Source,
        }
    }
}

impl App {
    /// The page, while it is all that is on the screen.
    pub(super) fn welcome_on_top(&mut self) -> Option<&mut Welcome> {
        let on_top = self.overlays.is_empty() && self.screen == Screen::Welcome;
        self.welcome.as_deref_mut().filter(|_| on_top)
    }

    /// A key that no binding took, where characters are typed.
    pub(super) fn type_on_welcome(&mut self, key: KeyEvent) -> bool {
        self.welcome_on_top().is_some_and(|welcome| {
            welcome.type_key(key);
            true
        })
    }

    pub(super) fn paste_on_welcome(&mut self, text: &str) -> bool {
        self.welcome_on_top().is_some_and(|welcome| welcome.paste(text))
    }

    pub(super) fn edit_on_welcome(&mut self, edit: Edit) -> bool {
        self.welcome_on_top().is_some_and(|welcome| {
            welcome.edit(edit);
            true
        })
    }

    pub(super) fn step_back_on_welcome(&mut self) {
        if let Some(welcome) = self.welcome_on_top() {
            welcome.step_back();
        }
    }

    pub(super) fn act_on_welcome(&mut self, action: Action, effects: &mut Vec<Effect>) {
        let Some(welcome) = self.welcome_on_top() else { return };
        match action {
            Action::NextField if welcome.form.is_at_end() => effects.extend(welcome.attempt(true)),
            Action::NextField => welcome.form.step(true),
            Action::NextChoice | Action::PreviousChoice if welcome.touch() => {
                welcome.form.change(action == Action::NextChoice);
            }
            Action::Confirm => effects.extend(welcome.attempt(true)),
            Action::TryOut => effects.extend(welcome.attempt(false)),
            Action::Demo if welcome.step != Step::Saving => {
                welcome.touch();
                effects.push(Effect::Begin(Begin::Demo));
            }
            _ => {}
        }
    }

    pub(super) fn step_on_welcome(&mut self, down: bool) {
        if let Some(welcome) = self.welcome_on_top() {
            welcome.form.step(down);
        }
    }

    /// The key was read, or could not be.
    pub(super) fn key_read(&mut self, attempt: u64, result: Result<ApiKey, Failure>) -> Option<Effect> {
        self.dirty = true;
        let welcome = self.welcome_in(attempt, Step::Reading)?;
        match (result, &mut welcome.tried) {
            (Ok(key), Some(tried)) => {
                tried.key = Some(key.clone());
                welcome.step = Step::Trying;
                Some(Effect::TryProfile { attempt, scope: tried.profile.scope(), key })
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
        let welcome = self.welcome_in(attempt, Step::Trying)?;
        match result {
            Ok(said) => {
                welcome.say(true, said.as_str());
                if welcome.saves {
                    return welcome.write(Allowed::Nothing);
                }
                welcome.step = Step::Filling;
            }
            Err(failure) => self.ask_to_save(&failure),
        }
        None
    }

    /// The configuration was written, or not.
    pub(super) fn config_written(&mut self, attempt: u64, result: Result<(), NotWritten>) -> Option<Effect> {
        self.dirty = true;
        let welcome = self.welcome_in(attempt, Step::Saving)?;
        welcome.step = Step::Filling;
        match result {
            Ok(()) if welcome.tried.as_ref().is_some_and(|tried| tried.key.is_some()) => {
                return Some(Effect::Begin(Begin::Dashboard));
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
                let text = match needs {
                    Allowed::Change => format!(
                        "{} has a profile {}. Change it? All else in the file stays.",
                        welcome.config,
                        CleanText::line(&welcome.form.profile_name())
                    ),
                    _ => format!(
                        "{} is there already. Add the profile {}? All else in it stays.",
                        welcome.config,
                        CleanText::line(&welcome.form.profile_name())
                    ),
                };
                self.overlays.push(Overlay::Question(Question { text, yes: Consequence::SaveProfile(needs) }));
            }
            Err(NotWritten::Failed(failure)) => welcome.say(false, failure.sentence.as_str()),
        }
        None
    }

    /// Yes: writes what was tried.
    pub(super) fn save_profile(&mut self, allowed: Allowed) -> Option<Effect> {
        self.welcome_on_top()?.write(allowed)
    }

    /// What was asked for went wrong; where it was to be written, the user decides.
    fn ask_to_save(&mut self, failure: &Failure) {
        let Some(welcome) = self.welcome.as_deref_mut() else { return };
        welcome.step = Step::Filling;
        welcome.say(false, failure.sentence.as_str());
        if welcome.saves {
            let text = format!("{} Save it all the same?", failure.sentence);
            let yes = Consequence::SaveProfile(Allowed::Nothing);
            self.overlays.push(Overlay::Question(Question { text, yes }));
        }
    }

    /// The page, if it waits for the answer to this attempt in this step.
    fn welcome_in(&mut self, attempt: u64, step: Step) -> Option<&mut Welcome> {
        self.welcome.as_deref_mut().filter(|welcome| welcome.attempt == attempt && welcome.step == step)
    }
}

impl Welcome {
    /// Reads the key, for one request; with `saves` it is written then.
    fn attempt(&mut self, saves: bool) -> Option<Effect> {
        if self.step != Step::Filling {
            return None;
        }
        self.touch();
        let profile = match self.form.profile() {
            Ok(profile) => profile,
            Err((line, wrong)) => {
                self.form.line = line;
                self.say(false, wrong);
                return None;
            }
        };
        self.saves = saves;
        let key = profile.key.clone();
        self.tried = Some(Tried { profile, key: None });
        if !self.form.has_key() {
            if saves {
                return self.write(Allowed::Nothing);
            }
            self.say(false, "DOCDECK_API_KEY is not set in this shell, so there is no key to test.");
            return None;
        }
        self.step = Step::Reading;
        Some(Effect::ReadKey { attempt: self.attempt, key })
    }

    fn write(&mut self, allowed: Allowed) -> Option<Effect> {
        let profile = Box::new(self.tried.as_ref()?.profile.clone());
        self.step = Step::Saving;
        Some(Effect::WriteConfig { attempt: self.attempt, profile, allowed })
    }
}
