//! The setup form: asks for a project and for where its API key comes from. It validates them, tests them with one
//! request, saves them and starts the dashboard. New users see the form as the first screen, which can't be closed.
//! Later, it is a dialog that adds a profile. Validating, reading the key, testing and saving are effects. Answers to
//! effects of an earlier attempt are ignored.
//!
//! ```text
//! Ctrl-S ─ validate ─ read the key ─ test ─ write the configuration ─ start the dashboard, or add the profile
//!              └ invalid  └ failed ────┴─ asks whether to save anyway
//! ```

mod draw;

use super::component::TextEntry;
use super::component::prelude::*;
use super::confirm::{ConfirmAction, ConfirmDialog};
use super::keymap::Edit;
use crate::model::endpoint::ApiKey;
use crate::model::failure::Failure;
use crate::model::setup::{
    ConfigWritePermission, ExistingSettings, KeySourceChoice, NewProfile, SetupField, SetupForm, SetupProblem,
    SetupPurpose,
};
use crate::model::text::CleanText;
use crate::tui::app::NOT_SAVED_IN_DEMO;
use crate::tui::widgets::scroll::cyclic_neighbour;
use crate::tui::widgets::text_input::TextInput;
use crate::tui::{ConfigWriteError, ProfilesEffect, ProfilesMsg, RelaunchTarget};
use crossterm::event::{KeyCode, KeyModifiers};

/// The setup form, and the progress of saving it.
#[derive(Debug, Clone)]
pub struct Welcome {
    pub form: SetupForm,
    /// The focused line.
    line: FormLine,
    /// The text input of the focused line, if it has one.
    input: Option<TextInput>,
    /// Whether the fields below "more" are shown.
    shows_optional_fields: bool,
    /// The path of the configuration file to write.
    config_path: CleanText,
    step: SetupStep,
    /// The result of the last attempt, until a field is changed.
    message: Option<SetupMessage>,
    /// Whether the current attempt saves the profile after the test.
    saves_profile: bool,
    /// The number of the current attempt. Answers with another number are ignored.
    attempt: u64,
    /// The profile of the last attempt.
    attempted_profile: Option<AttemptedProfile>,
}

/// A line of the form that can have the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormLine {
    Field(SetupField),
    /// The button that tests and saves the profile.
    Save,
    /// The choice whether the fields below it are shown.
    More,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SetupStep {
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
struct SetupMessage {
    is_success: bool,
    text: CleanText,
}

/// A profile that the user has tried to test or to save.
#[derive(Debug, Clone)]
struct AttemptedProfile {
    profile: NewProfile,
    /// The API key. `None` until it is read, or if it could not be read.
    key: Option<ApiKey>,
    /// Whether the service has accepted the API key.
    is_key_verified: bool,
    is_saved: bool,
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
    pub is_key_verified: bool,
}

impl App {
    /// Opens the setup form as a dialog that adds a profile.
    pub(super) fn open_new_profile(&mut self, now: Time) {
        let Some(config) = self.config.config_path.clone() else {
            return self.notify(Severity::Info, NOT_SAVED_IN_DEMO, now);
        };
        let form = SetupForm::new(SetupPurpose::AnotherProfile, &ExistingSettings::default());
        self.open(Welcome::from_form(form, config, self.setup_attempts));
    }

    /// Saves the profile of the last attempt. Called after the user has agreed to save it.
    pub(super) fn save_profile(&mut self, allowed: ConfigWritePermission) -> Option<Effect> {
        self.find_mut::<Welcome>()?.write_config(allowed)
    }
}

impl Welcome {
    /// Creates the form for the first profile. The existing settings, `known`, prefill its fields. `config` is the path
    /// of the configuration file.
    pub fn new(known: &ExistingSettings, config: CleanText) -> Self {
        Self::from_form(SetupForm::new(SetupPurpose::FirstProfile, known), config, 0)
    }

    /// Creates the form with these values. Focuses the first required field that is empty, or the button if none is
    /// empty. `attempt` is the number of the last attempt in an earlier form.
    pub fn from_form(form: SetupForm, config: CleanText, attempt: u64) -> Self {
        let first = form.first_missing_field().map_or(FormLine::Save, FormLine::Field);
        let mut welcome = Self {
            form,
            line: FormLine::Save,
            input: None,
            shows_optional_fields: false,
            config_path: config,
            step: SetupStep::Filling,
            message: None,
            saves_profile: false,
            attempt,
            attempted_profile: None,
        };
        welcome.focus(first);
        welcome
    }

    /// Returns the visible lines.
    fn lines(&self) -> Vec<FormLine> {
        let main = self.form.main_fields().into_iter().map(FormLine::Field);
        let more = if self.shows_optional_fields { self.form.optional_fields() } else { Vec::new() };
        main.chain([FormLine::Save, FormLine::More]).chain(more.into_iter().map(FormLine::Field)).collect()
    }

    /// Moves the focus to a line, and shows the fields below "more" if it is one of them.
    fn focus(&mut self, line: FormLine) {
        self.shows_optional_fields |= !self.lines().contains(&line);
        self.line = line;
        self.input = match line {
            FormLine::Field(SetupField::Source | SetupField::Key) | FormLine::Save | FormLine::More => None,
            FormLine::Field(field) => Some(TextInput::single_line(self.form.text(field))),
        };
    }

    /// Moves the focus to the next or previous line. After the last line comes the first one.
    fn move_focus(&mut self, down: bool) {
        self.focus(cyclic_neighbour(&self.lines(), self.line, down));
    }

    /// Shows a problem and moves the focus to its field.
    fn show_problem(&mut self, problem: &SetupProblem) {
        if let Some(field) = problem.field {
            let field = if field == SetupField::Key { self.form.source.field() } else { field };
            self.focus(FormLine::Field(field));
        }
        self.show_message(false, problem.sentence.as_str());
    }

    /// Handles Enter: moves the focus to the next line or, after the last line, to the button. On the button, tests and
    /// saves the profile. On "more", first shows the fields below it.
    fn handle_enter(&mut self, cx: &mut Cx<'_>) {
        match self.line {
            FormLine::Save => self.test_and_maybe_save(true, cx),
            FormLine::More if !self.shows_optional_fields => self.change_choice(true),
            line if self.lines().last() == Some(&line) => self.focus(FormLine::Save),
            _ => self.move_focus(true),
        }
    }

    /// Changes the focused choice: selects the next or previous key source, or shows or hides the fields below "more".
    fn change_choice(&mut self, is_forward: bool) {
        if self.line == FormLine::More {
            self.shows_optional_fields = is_forward;
            if is_forward {
                self.move_focus(true);
            }
        } else if self.line == FormLine::Field(SetupField::Source) && self.try_end_attempt() {
            self.form.source = cyclic_neighbour(&self.form.sources(), self.form.source, is_forward);
        }
    }

    /// Whether the focused line is a choice or button rather than a text input.
    fn is_choice_or_button(&self) -> bool {
        matches!(self.line, FormLine::Field(SetupField::Source) | FormLine::Save | FormLine::More)
    }

    /// Returns what is needed to start the dashboard with the profile of the last attempt. `None` if its API key was
    /// not read.
    pub fn profile_to_start(&self) -> Option<ProfileToStart> {
        let AttemptedProfile { profile, key: Some(key), is_key_verified, .. } = self.attempted_profile.clone()? else {
            return None;
        };
        let how = self.message.as_ref().map_or("", |message| message.text.as_str());
        let greeting = CleanText::line(&format!("Saved in {}. {how}", self.config_path));
        Some(ProfileToStart { profile, key, greeting, is_key_verified })
    }

    /// Returns the profile of the last attempt if it is saved.
    pub fn saved_profile(&self) -> Option<&NewProfile> {
        self.attempted_profile.as_ref().filter(|attempted| attempted.is_saved).map(|attempted| &attempted.profile)
    }

    /// Whether the service has accepted the API key of the last attempt.
    pub(super) fn is_key_verified(&self) -> bool {
        self.attempted_profile.as_ref().is_some_and(|tested| tested.is_key_verified)
    }

    /// Whether the form is the screen of the first start rather than a dialog.
    fn is_screen(&self) -> bool {
        self.form.purpose == SetupPurpose::FirstProfile
    }

    fn is_busy(&self) -> bool {
        self.step != SetupStep::Filling
    }

    fn show_message(&mut self, is_success: bool, text: &str) {
        self.message = Some(SetupMessage { is_success, text: CleanText::line(text) });
    }

    /// Ends the current attempt and discards its result. While the profile is being saved, does nothing and returns
    /// false, because no field may change then.
    fn try_end_attempt(&mut self) -> bool {
        if self.step == SetupStep::Saving {
            return false;
        }
        self.step = SetupStep::Filling;
        self.attempt += 1;
        self.message = None;
        true
    }

    fn edit_secret(&mut self, entry: TextEntry<'_>) {
        match entry {
            TextEntry::Key(key) if !has_modifier(key.modifiers) => match key.code {
                KeyCode::Char(c) if self.try_end_attempt() => self.form.secret.push(c.encode_utf8(&mut [0; 4])),
                KeyCode::Backspace if self.try_end_attempt() => self.form.secret.pop(),
                _ => {}
            },
            TextEntry::Paste(text) if self.try_end_attempt() => self.form.secret.push(text.trim()),
            // The cursor is always at the end of the secret, and the secret counts as one word, so both edits delete
            // all of it.
            TextEntry::Edit(Edit::DeleteToLineStart | Edit::DeleteWordBack) if self.try_end_attempt() => {
                self.form.secret.clear();
            }
            _ => {}
        }
    }

    /// Starts an attempt: validates the fields, tests them with one request and, if `saves_profile` is true, saves
    /// them.
    fn test_and_maybe_save(&mut self, saves_profile: bool, cx: &mut Cx<'_>) {
        if self.is_busy() || !self.try_end_attempt() {
            return;
        }
        let profile = match self.form.profile() {
            Ok(profile) => profile,
            Err(problem) => return self.show_problem(&problem),
        };
        let name = CleanText::line(&profile.name);
        if !self.is_screen() && cx.app.config.profiles.iter().any(|other| other.name == name) {
            let text = format!("The profile {name} already exists. Choose another name.");
            return self.show_problem(&SetupProblem::new(Some(SetupField::Name), &text));
        }
        self.saves_profile = saves_profile;
        self.attempted_profile =
            Some(AttemptedProfile { profile: profile.clone(), key: None, is_key_verified: false, is_saved: false });
        self.step = SetupStep::Checking;
        cx.run(Effect::Profiles(ProfilesEffect::CheckProfile { attempt: self.attempt, profile: Box::new(profile) }));
    }

    /// Handles the result of the validation: shows the problem, or continues with reading the API key for the test.
    /// Without a key, skips the test.
    fn apply_profile_check(&mut self, result: Result<(), SetupProblem>) -> Option<Effect> {
        if let Err(problem) = result {
            self.step = SetupStep::Filling;
            self.show_problem(&problem);
            return None;
        }
        if self.form.source_can_provide_key() {
            self.step = SetupStep::ReadingKey;
            let key = self.attempted_profile.as_ref()?.profile.key.clone();
            return Some(Effect::Profiles(ProfilesEffect::ReadNewProfileKey { attempt: self.attempt, key }));
        }
        if self.saves_profile {
            return self.write_config(ConfigWritePermission::Nothing);
        }
        self.step = SetupStep::Filling;
        self.show_message(false, "DOCDECK_API_KEY is not set in this shell, so there is no key to test.");
        None
    }

    /// Handles the result of reading the API key: continues with the test, or shows why the key could not be read.
    fn apply_key(&mut self, result: Result<ApiKey, Failure>, cx: &mut Cx<'_>) -> Option<Effect> {
        match result {
            Ok(key) => {
                let tested = self.attempted_profile.as_mut()?;
                tested.key = Some(key.clone());
                self.step = SetupStep::Testing;
                Some(Effect::Profiles(ProfilesEffect::TestProfile {
                    attempt: self.attempt,
                    profile: Box::new(tested.profile.clone()),
                    key,
                }))
            }
            Err(failure) => {
                self.ask_to_save_anyway(&failure, cx);
                None
            }
        }
    }

    /// Handles the result of the test: shows it and, if the attempt is to save the profile, saves it. After a failed
    /// test, the user is asked before saving.
    fn apply_test_result(&mut self, result: Result<CleanText, Failure>, cx: &mut Cx<'_>) -> Option<Effect> {
        match result {
            Ok(message) => {
                self.show_message(true, message.as_str());
                self.attempted_profile.as_mut()?.is_key_verified = true;
                if self.saves_profile {
                    return self.write_config(ConfigWritePermission::Nothing);
                }
                self.step = SetupStep::Filling;
            }
            Err(failure) => self.ask_to_save_anyway(&failure, cx),
        }
        None
    }

    /// Handles the result of saving the profile: starts the dashboard, adds the profile to the list, asks for a
    /// confirmation, or shows a message.
    fn apply_config_result(&mut self, result: Result<(), ConfigWriteError>, cx: &mut Cx<'_>) -> Option<Effect> {
        self.step = SetupStep::Filling;
        match result {
            Ok(()) => {
                let attempted = self.attempted_profile.as_mut()?;
                attempted.is_saved = true;
                let AttemptedProfile { profile, key, .. } = attempted.clone();
                if !self.is_screen() {
                    return Some(Effect::Profiles(ProfilesEffect::AddProfile(Box::new(profile), key)));
                }
                if key.is_some() {
                    return Some(Effect::Relaunch(RelaunchTarget::Dashboard));
                }
                let next = if self.form.source_can_provide_key() {
                    "The key can't be read yet: correct it here, or fix its source and run docdeck again."
                } else {
                    "Set DOCDECK_API_KEY in your shell, then run docdeck again."
                };
                self.show_message(true, &format!("Saved in {}. {next}", self.config_path));
            }
            // The user has opened this dialog to add a profile, so adding one needs no confirmation.
            Err(ConfigWriteError::NeedsConfirmation(ConfigWritePermission::Add)) if !self.is_screen() => {
                return self.write_config(ConfigWritePermission::Add);
            }
            Err(ConfigWriteError::NeedsConfirmation(needs)) => {
                let text = needs.question(&self.config_path, &CleanText::line(&self.form.unchecked_profile().name));
                ask_to_save(text.unwrap_or_default(), needs, cx);
            }
            Err(ConfigWriteError::Failed(failure)) => self.show_message(false, failure.message.as_str()),
        }
        None
    }

    fn write_config(&mut self, allowed: ConfigWritePermission) -> Option<Effect> {
        let profile = Box::new(self.attempted_profile.as_ref()?.profile.clone());
        self.step = SetupStep::Saving;
        Some(Effect::Profiles(ProfilesEffect::WriteConfig { attempt: self.attempt, profile, allowed }))
    }

    /// Shows why the key could not be read or the test failed. If the attempt would save the profile, asks whether to
    /// save it anyway.
    fn ask_to_save_anyway(&mut self, failure: &Failure, cx: &mut Cx<'_>) {
        self.step = SetupStep::Filling;
        self.show_message(false, failure.message.as_str());
        if self.saves_profile {
            ask_to_save(format!("{} Save the profile anyway?", failure.message), ConfigWritePermission::Nothing, cx);
        }
    }

    /// Whether the form waits for the answer to this step of this attempt.
    fn waits_for(&self, attempt: u64, step: SetupStep) -> bool {
        self.attempt == attempt && self.step == step
    }
}

fn ask_to_save(text: String, allowed: ConfigWritePermission, cx: &mut Cx<'_>) {
    let on_yes = ConfirmAction::SaveProfile(allowed);
    cx.open(ConfirmDialog { text, on_yes });
}

fn has_modifier(modifiers: KeyModifiers) -> bool {
    modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER)
}

impl Component for Welcome {
    fn contexts(&self) -> &'static [Context] {
        match self.is_choice_or_button() {
            true => &[Context::Welcome, Context::Everywhere],
            false => &[Context::WelcomeText, Context::Text, Context::Everywhere],
        }
    }

    fn takes_text(&self) -> bool {
        true
    }

    fn footer_label(&self, action: Action, _app: &App) -> Option<FooterLabel> {
        FooterLabel::default_if(match action {
            Action::Demo => self.is_screen(),
            Action::Close => !self.is_screen() || self.is_busy(),
            Action::Interrupt => self.is_screen() && !self.is_busy(),
            Action::NextField | Action::NextChoice if self.line == FormLine::More && !self.shows_optional_fields => {
                return Some("expand".into());
            }
            Action::NextChoice | Action::PreviousChoice => self.line != FormLine::Save,
            _ => true,
        })
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::NextField => self.handle_enter(cx),
            Action::NextChoice | Action::PreviousChoice => self.change_choice(action == Action::NextChoice),
            Action::Confirm => self.test_and_maybe_save(true, cx),
            Action::TestConnection => self.test_and_maybe_save(false, cx),
            Action::Demo => {
                if self.is_screen() && self.try_end_attempt() {
                    cx.run(Effect::Relaunch(RelaunchTarget::Demo));
                }
            }
            Action::Interrupt if self.is_screen() && !self.is_busy() => cx.app.quit(cx.effects),
            Action::Quit if self.is_screen() => cx.app.quit(cx.effects),
            Action::Close | Action::Interrupt => return self.close(cx),
            _ => return Flow::Unhandled,
        }
        Flow::Handled
    }

    /// Cancels the current attempt, unless the profile is already being saved. Without an attempt, closes the dialog.
    fn close(&mut self, cx: &mut Cx<'_>) -> Flow {
        if self.is_busy() {
            if self.try_end_attempt() {
                self.show_message(false, "Cancelled. Nothing was saved.");
            }
        } else if !self.is_screen() {
            cx.app.setup_attempts = self.attempt;
            return Flow::Close;
        }
        Flow::Handled
    }

    fn scroll(&mut self, by: Scroll, _cx: &mut Cx<'_>) {
        if let Scroll::By(n) | Scroll::Page(n) = by {
            self.move_focus(n > 0);
        }
    }

    fn scroll_with_wheel(&mut self, _at: Position, _by: isize, _cx: &mut Cx<'_>) {}

    fn enter_text(&mut self, entry: TextEntry<'_>, _cx: &mut Cx<'_>) -> Flow {
        let (is_typed, is_change) = match entry {
            TextEntry::Key(key) => {
                let is_char = matches!(key.code, KeyCode::Char(_));
                let is_change = is_char || matches!(key.code, KeyCode::Backspace | KeyCode::Delete);
                (is_char && !has_modifier(key.modifiers), is_change)
            }
            TextEntry::Paste(_) => (true, true),
            TextEntry::Edit(
                Edit::LineStart | Edit::LineEnd | Edit::TextStart | Edit::TextEnd | Edit::WordBack | Edit::WordForward,
            ) => (false, false),
            TextEntry::Edit(_) => (false, true),
        };
        // If the choice of the key source has the focus, typed text goes into the field of the chosen source.
        if is_typed && self.line == FormLine::Field(SetupField::Source) {
            self.focus(FormLine::Field(self.form.source.field()));
        }
        let FormLine::Field(field) = self.line else { return Flow::Handled };
        if field == SetupField::Key {
            if is_typed && self.try_end_attempt() {
                self.form.source = KeySourceChoice::Typed;
            }
            self.edit_secret(entry);
        } else if (!is_change || self.try_end_attempt())
            && let Some(input) = &mut self.input
        {
            entry.apply(input);
            self.form.set_text(field, input.text());
        }
        Flow::Handled
    }

    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        use ProfilesMsg::{ConfigWritten, NewProfileKeyRead, ProfileChecked, ProfileTested};
        let effect = match msg {
            Msg::Profiles(ProfileChecked { attempt, result }) if self.waits_for(attempt, SetupStep::Checking) => {
                self.apply_profile_check(result)
            }
            Msg::Profiles(NewProfileKeyRead { attempt, result }) if self.waits_for(attempt, SetupStep::ReadingKey) => {
                self.apply_key(result, cx)
            }
            Msg::Profiles(ProfileTested { attempt, result }) if self.waits_for(attempt, SetupStep::Testing) => {
                self.apply_test_result(result, cx)
            }
            Msg::Profiles(ConfigWritten { attempt, result }) if self.waits_for(attempt, SetupStep::Saving) => {
                self.apply_config_result(result, cx)
            }
            msg => return Err(msg),
        };
        cx.effects.extend(effect);
        Ok(Flow::Handled)
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        draw::draw(frame, view, self);
    }
}
