//! The fields of the setup form, the focused line, and the profile that results from the fields.

use crate::model::command::split_command_line;
use crate::model::endpoint::ApiKey;
use crate::model::setup::{
    DEFAULT_BASE_URL, DEFAULT_PROFILE, ExistingSettings, KeyPresence, KeySourceInput, NewProfile, SetupField, non_blank,
};
use crate::tui::secret_input::SecretInput;
use crate::tui::text_input::TextInput;

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

    /// Whether the source needs text input: a command, a file path or the key.
    fn has_input(self) -> bool {
        matches!(self, Self::Command | Self::File | Self::Typed)
    }
}

/// A line of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormLine {
    /// The choice of the key source.
    Source,
    /// The command, the file path or the API key, depending on the key source.
    Key,
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
    pub command: TextInput,
    pub file: TextInput,
    pub secret: SecretInput,
    pub project: TextInput,
    pub base_url: TextInput,
    pub organization: TextInput,
    pub ca_file: TextInput,
    pub name: TextInput,
    /// Whether the optional lines below "more" are shown.
    pub shows_optional_lines: bool,
    key_presence: KeyPresence,
}

impl Form {
    /// Creates a form. The existing settings, `known`, prefill its fields. Focuses the first required line that is
    /// empty.
    pub(super) fn new(purpose: SetupPurpose, known: &ExistingSettings) -> Self {
        let line = |text: &Option<String>| TextInput::line(text.as_deref().unwrap_or_default());
        let mut form = Self {
            purpose,
            line: FormLine::Source,
            source: match known.key {
                KeyPresence::No => KeySourceChoice::Typed,
                KeyPresence::Environment => KeySourceChoice::Variable,
                KeyPresence::File => KeySourceChoice::Unchanged,
            },
            command: TextInput::line(""),
            file: TextInput::line(""),
            secret: SecretInput::default(),
            project: line(&known.project),
            base_url: line(&known.base_url),
            organization: line(&known.organization),
            ca_file: line(&known.ca_file.as_ref().map(|file| file.display().to_string())),
            name: TextInput::line(Some(known.profile.as_str()).filter(|name| *name != DEFAULT_PROFILE).unwrap_or("")),
            shows_optional_lines: false,
            key_presence: known.key,
        };
        form.line = form.first_empty();
        form
    }

    /// Returns the first required line that is empty, or the project if none is empty.
    fn first_empty(&self) -> FormLine {
        let is_empty = |line: &FormLine| match line {
            FormLine::More => false,
            line if self.is_secret(*line) => self.secret.is_empty(),
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
        let is_another = self.purpose == SetupPurpose::AnotherProfile;
        let mut lines = vec![FormLine::Source];
        lines.extend(self.source.has_input().then_some(FormLine::Key));
        lines.push(FormLine::Project);
        // Another profile needs a name, so its line is always visible.
        lines.extend(is_another.then_some(FormLine::Name));
        lines.push(FormLine::More);
        if self.shows_optional_lines {
            lines.extend([FormLine::BaseUrl, FormLine::Organization, FormLine::CaFile]);
            lines.extend((!is_another).then_some(FormLine::Name));
        }
        lines
    }

    /// Returns the profile's name, or the default name if none is typed.
    pub fn profile_name(&self) -> String {
        non_blank(&self.name.text()).unwrap_or_else(|| DEFAULT_PROFILE.to_owned())
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

    /// Returns the text input of a line. `None` for a choice, for the secret input, and if the key source has no text
    /// input.
    pub fn input(&self, line: FormLine) -> Option<&TextInput> {
        match (line, self.source) {
            (FormLine::Source | FormLine::More, _)
            | (FormLine::Key, KeySourceChoice::Unchanged | KeySourceChoice::Typed | KeySourceChoice::Variable) => None,
            (FormLine::Key, KeySourceChoice::Command) => Some(&self.command),
            (FormLine::Key, KeySourceChoice::File) => Some(&self.file),
            (FormLine::Project, _) => Some(&self.project),
            (FormLine::BaseUrl, _) => Some(&self.base_url),
            (FormLine::Organization, _) => Some(&self.organization),
            (FormLine::CaFile, _) => Some(&self.ca_file),
            (FormLine::Name, _) => Some(&self.name),
        }
    }

    /// Returns the text input of the focused line.
    pub(super) fn input_mut(&mut self) -> Option<&mut TextInput> {
        match (self.line, self.source) {
            (FormLine::Source | FormLine::More, _)
            | (FormLine::Key, KeySourceChoice::Unchanged | KeySourceChoice::Typed | KeySourceChoice::Variable) => None,
            (FormLine::Key, KeySourceChoice::Command) => Some(&mut self.command),
            (FormLine::Key, KeySourceChoice::File) => Some(&mut self.file),
            (FormLine::Project, _) => Some(&mut self.project),
            (FormLine::BaseUrl, _) => Some(&mut self.base_url),
            (FormLine::Organization, _) => Some(&mut self.organization),
            (FormLine::CaFile, _) => Some(&mut self.ca_file),
            (FormLine::Name, _) => Some(&mut self.name),
        }
    }

    /// Whether the API key itself is typed on this line.
    pub fn is_secret(&self, line: FormLine) -> bool {
        line == FormLine::Key && self.source == KeySourceChoice::Typed
    }

    /// If the key source is focused, moves the focus to the text input for the source. A source without text input is
    /// changed to a typed key, because the user has started to type.
    pub(super) fn go_to_key(&mut self) {
        if self.line == FormLine::Source {
            if !self.source.has_input() {
                self.source = KeySourceChoice::Typed;
            }
            self.line = FormLine::Key;
        }
    }

    /// Moves the focus to the next or previous line. After the last line comes the first one.
    pub(super) fn move_focus(&mut self, down: bool) {
        let lines = self.lines();
        let at = lines.iter().position(|line| *line == self.line).unwrap_or(0);
        let to = (at + if down { 1 } else { lines.len() - 1 }) % lines.len();
        self.line = lines.get(to).copied().unwrap_or(FormLine::Source);
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

    /// Whether the last text input is focused.
    pub(super) fn is_on_last_input(&self) -> bool {
        self.lines().into_iter().rev().find(|line| *line != FormLine::More) == Some(self.line)
    }

    /// Selects the next or previous key source.
    pub(super) fn change_source(&mut self, forward: bool) {
        let all = self.sources();
        let at = all.iter().position(|source| *source == self.source).unwrap_or(0);
        let to = (at + if forward { 1 } else { all.len() - 1 }) % all.len();
        self.source = all.get(to).copied().unwrap_or(self.source);
    }

    /// Returns the profile that the fields describe. If a value is missing or invalid, returns its line and what is
    /// wrong.
    pub(super) fn profile(&self) -> Result<NewProfile, (FormLine, &'static str)> {
        let key = match self.source {
            KeySourceChoice::Unchanged | KeySourceChoice::Variable => KeySourceInput::SetElsewhere,
            KeySourceChoice::Command => match split_command_line(&self.command.text()) {
                words if words.first().is_some_and(|program| !program.is_empty()) => KeySourceInput::Command(words),
                _ => {
                    return Err((
                        FormLine::Key,
                        "Enter the command that prints the key, for example: pass show docdeck",
                    ));
                }
            },
            KeySourceChoice::File => match non_blank(&self.file.text()) {
                Some(path) => KeySourceInput::File(path.into()),
                None => return Err((FormLine::Key, "Enter the file that contains the key.")),
            },
            KeySourceChoice::Typed if self.secret.is_empty() => return Err((FormLine::Key, "Type or paste the key.")),
            KeySourceChoice::Typed => match ApiKey::new(self.secret.expose()) {
                Some(key) => KeySourceInput::Typed(key),
                None => return Err((FormLine::Key, "Invalid key: a key is printable ASCII without spaces.")),
            },
        };
        let Some(project) = non_blank(&self.project.text()) else {
            return Err((FormLine::Project, "Enter the project id."));
        };
        if self.purpose == SetupPurpose::AnotherProfile && self.name.is_blank() {
            return Err((FormLine::Name, "Give the profile a name."));
        }
        Ok(NewProfile {
            name: self.profile_name(),
            base_url: non_blank(&self.base_url.text()).filter(|url| url != DEFAULT_BASE_URL),
            project,
            organization: non_blank(&self.organization.text()),
            ca_file: non_blank(&self.ca_file.text()).map(Into::into),
            key,
        })
    }
}

impl From<SetupField> for FormLine {
    fn from(field: SetupField) -> Self {
        match field {
            SetupField::Key => Self::Key,
            SetupField::Project => Self::Project,
            SetupField::BaseUrl => Self::BaseUrl,
            SetupField::Organization => Self::Organization,
            SetupField::CaFile => Self::CaFile,
            SetupField::Name => Self::Name,
        }
    }
}
