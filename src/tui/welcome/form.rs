//! The fields of the setup form, the focused line, and the profile that results from the fields.

use crate::model::command::split_command_line;
use crate::model::endpoint::ApiKey;
use crate::model::setup::{
    DEFAULT_BASE_URL, DEFAULT_PROFILE, ExistingSettings, KeyPresence, KeySourceInput, NewProfile, SetupField, non_blank,
};
use crate::tui::secret_input::SecretInput;
use crate::tui::text_input::TextInput;
use std::collections::HashMap;

/// Where the API key comes from, as chosen in the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySourceChoice {
    /// The source that the configuration file already names.
    Unchanged,
    /// A command that prints the key.
    Command,
    /// A file that contains the key.
    File,
    /// The key is typed into the form.
    Typed,
    /// The environment variable `DOCDECK_API_KEY`.
    Variable,
}

impl KeySourceChoice {
    /// Returns the name on screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Command => "a command",
            Self::File => "a file",
            Self::Typed => "typed here",
            Self::Variable => "environment",
        }
    }

    /// Returns the line in which the source is typed; `None` if nothing has to be typed.
    fn line(self) -> Option<FormLine> {
        match self {
            Self::Command => Some(FormLine::Command),
            Self::File => Some(FormLine::File),
            Self::Typed => Some(FormLine::Secret),
            Self::Unchanged | Self::Variable => None,
        }
    }
}

/// A line of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FormLine {
    /// The choice of the key source.
    Source,
    /// The command that prints the API key.
    Command,
    /// The file that contains the API key.
    File,
    /// The API key itself.
    Secret,
    Project,
    /// The choice whether the optional lines below it are shown.
    More,
    BaseUrl,
    Organization,
    CaFile,
    /// The name of the profile.
    Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupPurpose {
    /// Setting up the first profile.
    FirstProfile,
    /// Adding another profile, which needs a name.
    AnotherProfile,
}

#[derive(Debug, Clone)]
pub struct Form {
    pub purpose: SetupPurpose,
    /// The focused line.
    pub line: FormLine,
    pub source: KeySourceChoice,
    pub secret: SecretInput,
    /// The text inputs of all lines except the choices and the secret.
    inputs: HashMap<FormLine, TextInput>,
    /// Whether the optional lines below "more" are shown.
    pub shows_optional_lines: bool,
    key_presence: KeyPresence,
}

impl Form {
    /// Creates a form. The existing settings, `known`, prefill its fields. Focuses the first required line that is
    /// empty.
    pub(super) fn new(purpose: SetupPurpose, known: &ExistingSettings) -> Self {
        let name = Some(known.profile.clone()).filter(|name| name != DEFAULT_PROFILE);
        let inputs = [
            (FormLine::Command, None),
            (FormLine::File, None),
            (FormLine::Project, known.project.clone()),
            (FormLine::BaseUrl, known.base_url.clone()),
            (FormLine::Organization, known.organization.clone()),
            (FormLine::CaFile, known.ca_file.as_ref().map(|file| file.display().to_string())),
            (FormLine::Name, name),
        ];
        let mut form = Self {
            purpose,
            line: FormLine::Source,
            source: match known.key {
                KeyPresence::No => KeySourceChoice::Typed,
                KeyPresence::Environment => KeySourceChoice::Variable,
                KeyPresence::File => KeySourceChoice::Unchanged,
            },
            secret: SecretInput::default(),
            inputs: inputs.map(|(line, text)| (line, TextInput::line(&text.unwrap_or_default()))).into(),
            shows_optional_lines: false,
            key_presence: known.key,
        };
        form.line = form.first_empty();
        form
    }

    /// Returns the first required line that is empty, or the project if none is empty.
    fn first_empty(&self) -> FormLine {
        let is_empty = |line: &FormLine| match line {
            FormLine::Secret => self.secret.is_empty(),
            line => self.input(*line).is_some_and(TextInput::is_blank),
        };
        let needed = self.lines().into_iter().take_while(|line| *line != FormLine::More);
        needed.into_iter().find(is_empty).unwrap_or(FormLine::Project)
    }

    /// Returns the available key sources.
    pub fn sources(&self) -> Vec<KeySourceChoice> {
        let configured = (self.key_presence == KeyPresence::File).then_some(KeySourceChoice::Unchanged);
        // The environment variable has the key of the profile in use, not of another profile.
        let variable = (self.purpose == SetupPurpose::FirstProfile).then_some(KeySourceChoice::Variable);
        configured
            .into_iter()
            .chain([KeySourceChoice::Command, KeySourceChoice::File, KeySourceChoice::Typed])
            .chain(variable)
            .collect()
    }

    /// Returns the visible lines.
    pub fn lines(&self) -> Vec<FormLine> {
        let mut lines = vec![FormLine::Source];
        lines.extend(self.source.line());
        lines.push(FormLine::Project);
        // Another profile needs a name, so its line is always visible.
        lines.extend((self.purpose == SetupPurpose::AnotherProfile).then_some(FormLine::Name));
        lines.push(FormLine::More);
        if self.shows_optional_lines {
            lines.extend(self.optional_lines());
        }
        lines
    }

    /// Returns the lines below "more".
    pub fn optional_lines(&self) -> impl Iterator<Item = FormLine> {
        let name = (self.purpose == SetupPurpose::FirstProfile).then_some(FormLine::Name);
        [FormLine::BaseUrl, FormLine::Organization, FormLine::CaFile].into_iter().chain(name)
    }

    /// Returns the profile's name, or the default name if none is typed.
    pub fn profile_name(&self) -> String {
        self.value(FormLine::Name).unwrap_or_else(|| DEFAULT_PROFILE.to_owned())
    }

    /// Whether the environment variable for the API key is set.
    pub fn has_variable(&self) -> bool {
        self.key_presence == KeyPresence::Environment
    }

    /// Whether the chosen source can have a key. Only an unset environment variable can't.
    pub fn source_can_have_key(&self) -> bool {
        self.source != KeySourceChoice::Variable || self.has_variable()
    }

    /// Whether the focused line is a choice rather than a text input.
    pub fn is_choice(&self) -> bool {
        matches!(self.line, FormLine::Source | FormLine::More)
    }

    /// Returns the text input of a line. `None` for a choice and for the secret.
    pub fn input(&self, line: FormLine) -> Option<&TextInput> {
        self.inputs.get(&line)
    }

    /// Returns the text input of the focused line.
    pub(super) fn focused_input(&mut self) -> Option<&mut TextInput> {
        self.inputs.get_mut(&self.line)
    }

    /// Returns the trimmed text of a line; `None` if it is blank.
    fn value(&self, line: FormLine) -> Option<String> {
        non_blank(&self.input(line)?.text())
    }

    /// If the key source is focused, moves the focus to the text input for the source. A source without text input is
    /// changed to a typed key, because the user has started to type.
    pub(super) fn go_to_key(&mut self) {
        if self.line == FormLine::Source {
            self.line = self.source.line().unwrap_or_else(|| {
                self.source = KeySourceChoice::Typed;
                FormLine::Secret
            });
        }
    }

    /// Moves the focus to the next or previous line. After the last line comes the first one.
    pub(super) fn move_focus(&mut self, down: bool) {
        self.line = neighbour(&self.lines(), self.line, down);
    }

    /// Shows or hides the optional lines below "more". If they are shown while "more" is focused, moves the focus to
    /// the first of them.
    pub(super) fn set_optional_lines_shown(&mut self, open: bool) {
        self.shows_optional_lines = open;
        if open && self.line == FormLine::More {
            self.move_focus(true);
        }
    }

    /// Moves the focus to a line, and shows the optional lines if it is one of them.
    pub(super) fn go_to(&mut self, line: FormLine) {
        self.shows_optional_lines |= !self.lines().contains(&line);
        self.line = line;
    }

    /// Moves the focus to the line of a field.
    pub(super) fn go_to_field(&mut self, field: SetupField) {
        self.go_to(match field {
            SetupField::Key => self.source.line().unwrap_or(FormLine::Source),
            SetupField::Project => FormLine::Project,
            SetupField::BaseUrl => FormLine::BaseUrl,
            SetupField::Organization => FormLine::Organization,
            SetupField::CaFile => FormLine::CaFile,
            SetupField::Name => FormLine::Name,
        });
    }

    /// Whether the last text input is focused.
    pub(super) fn is_on_last_input(&self) -> bool {
        self.lines().into_iter().rev().find(|line| *line != FormLine::More) == Some(self.line)
    }

    /// Selects the next or previous key source.
    pub(super) fn change_source(&mut self, forward: bool) {
        self.source = neighbour(&self.sources(), self.source, forward);
    }

    /// Returns the profile that the fields describe. If a value is missing or invalid, returns its line and what is
    /// wrong.
    pub(super) fn profile(&self) -> Result<NewProfile, (FormLine, &'static str)> {
        let key = match self.source {
            KeySourceChoice::Unchanged | KeySourceChoice::Variable => KeySourceInput::SetElsewhere,
            KeySourceChoice::Command => {
                let words = split_command_line(&self.value(FormLine::Command).unwrap_or_default());
                if words.first().is_none_or(String::is_empty) {
                    let what = "Enter the command that prints the key, for example: pass show docdeck";
                    return Err((FormLine::Command, what));
                }
                KeySourceInput::Command(words)
            }
            KeySourceChoice::File => {
                let path =
                    self.value(FormLine::File).ok_or((FormLine::File, "Enter the file that contains the key."))?;
                KeySourceInput::File(path.into())
            }
            KeySourceChoice::Typed if self.secret.is_empty() => {
                return Err((FormLine::Secret, "Type or paste the key."));
            }
            KeySourceChoice::Typed => {
                let invalid = (FormLine::Secret, "Invalid key: a key is printable ASCII without spaces.");
                KeySourceInput::Typed(ApiKey::new(self.secret.expose()).ok_or(invalid)?)
            }
        };
        let project = self.value(FormLine::Project).ok_or((FormLine::Project, "Enter the project id."))?;
        if self.purpose == SetupPurpose::AnotherProfile && self.value(FormLine::Name).is_none() {
            return Err((FormLine::Name, "Give the profile a name."));
        }
        Ok(NewProfile {
            name: self.profile_name(),
            base_url: self.value(FormLine::BaseUrl).filter(|url| url != DEFAULT_BASE_URL),
            project,
            organization: self.value(FormLine::Organization),
            ca_file: self.value(FormLine::CaFile).map(Into::into),
            key,
        })
    }
}

/// Returns the element after or before `current`. After the last element comes the first one.
fn neighbour<T: Copy + PartialEq>(all: &[T], current: T, forward: bool) -> T {
    let at = all.iter().position(|one| *one == current).unwrap_or(0);
    let to = (at + if forward { 1 } else { all.len().saturating_sub(1) }) % all.len().max(1);
    all.get(to).copied().unwrap_or(current)
}
