//! The fields of the setup form: what is typed, which line has the focus, and the profile that it amounts to.

use crate::app::secret_input::SecretInput;
use crate::app::text_input::TextInput;
use crate::model::command::words;
use crate::model::endpoint::ApiKey;
use crate::model::setup::{
    AlreadySet, DEFAULT_BASE_URL, DEFAULT_PROFILE, KeySourceInput, KnownKey, NewProfile, SetupField, typed,
};

/// Where the key comes from, as it is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySourceChoice {
    /// As the configuration file says already.
    Kept,
    Program,
    File,
    Typed,
    /// The environment variable.
    Variable,
}

impl KeySourceChoice {
    /// Its name among the choices.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "as it is",
            Self::Program => "a command",
            Self::File => "a file",
            Self::Typed => "typed here",
            Self::Variable => "environment",
        }
    }

    /// Whether there is something to type for it.
    fn has_input(self) -> bool {
        matches!(self, Self::Program | Self::File | Self::Typed)
    }
}

/// A line of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormLine {
    Source,
    /// The command, the file or the key itself.
    Key,
    Project,
    /// Opens or folds the lines below it.
    More,
    BaseUrl,
    Organization,
    CaFile,
    /// The profile's name.
    Name,
}

/// What the form is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The first profile.
    FirstProfile,
    /// One more profile, which needs a name of its own.
    AnotherProfile,
}

/// The form.
#[derive(Debug, Clone)]
pub struct Form {
    pub purpose: Purpose,
    /// The line that has the focus.
    pub line: FormLine,
    pub source: KeySourceChoice,
    pub program: TextInput,
    pub file: TextInput,
    pub secret: SecretInput,
    pub project: TextInput,
    pub base_url: TextInput,
    pub organization: TextInput,
    pub ca_file: TextInput,
    pub name: TextInput,
    /// Whether the lines below *more* are shown.
    pub is_open: bool,
    known: KnownKey,
}

impl Form {
    /// Begins with what is known, at the first empty field.
    pub(super) fn new(purpose: Purpose, known: &AlreadySet) -> Self {
        let line = |text: &Option<String>| TextInput::line(text.as_deref().unwrap_or_default());
        let mut form = Self {
            purpose,
            line: FormLine::Source,
            source: match known.key {
                KnownKey::No => KeySourceChoice::Typed,
                KnownKey::Environment => KeySourceChoice::Variable,
                KnownKey::File => KeySourceChoice::Kept,
            },
            program: TextInput::line(""),
            file: TextInput::line(""),
            secret: SecretInput::default(),
            project: line(&known.project),
            base_url: line(&known.base_url),
            organization: line(&known.organization),
            ca_file: line(&known.ca_file.as_ref().map(|file| file.display().to_string())),
            name: TextInput::line(Some(known.profile.as_str()).filter(|name| *name != DEFAULT_PROFILE).unwrap_or("")),
            is_open: false,
            known: known.key,
        };
        form.line = form.first_empty();
        form
    }

    /// The first line that needs a text and has none; the project if none is empty.
    fn first_empty(&self) -> FormLine {
        let is_empty = |line: &FormLine| match line {
            FormLine::More => false,
            line if self.is_secret(*line) => self.secret.is_empty(),
            line => self.input(*line).is_some_and(TextInput::is_blank),
        };
        let needed = self.lines().into_iter().take_while(|line| *line != FormLine::More);
        needed.into_iter().find(is_empty).unwrap_or(FormLine::Project)
    }

    /// The sources to choose from.
    pub fn sources(&self) -> Vec<KeySourceChoice> {
        let kept = (self.known == KnownKey::File).then_some(KeySourceChoice::Kept);
        // The key in the environment is that of the profile in use.
        let variable = (self.purpose == Purpose::FirstProfile).then_some(KeySourceChoice::Variable);
        kept.into_iter()
            .chain([KeySourceChoice::Program, KeySourceChoice::File, KeySourceChoice::Typed])
            .chain(variable)
            .collect()
    }

    /// The lines that are shown, from the top.
    pub fn lines(&self) -> Vec<FormLine> {
        let is_another = self.purpose == Purpose::AnotherProfile;
        let mut lines = vec![FormLine::Source];
        lines.extend(self.source.has_input().then_some(FormLine::Key));
        lines.push(FormLine::Project);
        // One more profile can't do without a name.
        lines.extend(is_another.then_some(FormLine::Name));
        lines.push(FormLine::More);
        if self.is_open {
            lines.extend([FormLine::BaseUrl, FormLine::Organization, FormLine::CaFile]);
            lines.extend((!is_another).then_some(FormLine::Name));
        }
        lines
    }

    /// The profile's name, the usual one where none is typed.
    pub fn profile_name(&self) -> String {
        typed(&self.name.text()).unwrap_or_else(|| DEFAULT_PROFILE.to_owned())
    }

    /// Whether the environment variable is set.
    pub fn has_variable(&self) -> bool {
        self.known == KnownKey::Environment
    }

    /// Whether a key can be had: not from a variable that is not set.
    pub fn has_key(&self) -> bool {
        self.source != KeySourceChoice::Variable || self.has_variable()
    }

    /// Whether something is chosen on the line that has the focus, rather than typed.
    pub fn is_choice(&self) -> bool {
        matches!(self.line, FormLine::Source | FormLine::More)
    }

    /// The text of a line; none of choices and of lines that are not shown.
    pub fn input(&self, line: FormLine) -> Option<&TextInput> {
        match (line, self.source) {
            (FormLine::Source | FormLine::More, _)
            | (FormLine::Key, KeySourceChoice::Kept | KeySourceChoice::Typed | KeySourceChoice::Variable) => None,
            (FormLine::Key, KeySourceChoice::Program) => Some(&self.program),
            (FormLine::Key, KeySourceChoice::File) => Some(&self.file),
            (FormLine::Project, _) => Some(&self.project),
            (FormLine::BaseUrl, _) => Some(&self.base_url),
            (FormLine::Organization, _) => Some(&self.organization),
            (FormLine::CaFile, _) => Some(&self.ca_file),
            (FormLine::Name, _) => Some(&self.name),
        }
    }

    pub(super) fn input_mut(&mut self) -> Option<&mut TextInput> {
        match (self.line, self.source) {
            (FormLine::Source | FormLine::More, _)
            | (FormLine::Key, KeySourceChoice::Kept | KeySourceChoice::Typed | KeySourceChoice::Variable) => None,
            (FormLine::Key, KeySourceChoice::Program) => Some(&mut self.program),
            (FormLine::Key, KeySourceChoice::File) => Some(&mut self.file),
            (FormLine::Project, _) => Some(&mut self.project),
            (FormLine::BaseUrl, _) => Some(&mut self.base_url),
            (FormLine::Organization, _) => Some(&mut self.organization),
            (FormLine::CaFile, _) => Some(&mut self.ca_file),
            (FormLine::Name, _) => Some(&mut self.name),
        }
    }

    /// Whether the key is typed on this line.
    pub fn is_secret(&self, line: FormLine) -> bool {
        line == FormLine::Key && self.source == KeySourceChoice::Typed
    }

    /// From the choice of a source to the line where its text is typed. A source without a text can only have been left
    /// because the key itself is at hand.
    pub(super) fn go_to_key(&mut self) {
        if self.line == FormLine::Source {
            if !self.source.has_input() {
                self.source = KeySourceChoice::Typed;
            }
            self.line = FormLine::Key;
        }
    }

    /// To the line below or above, round and round.
    pub(super) fn step(&mut self, down: bool) {
        let lines = self.lines();
        let at = lines.iter().position(|line| *line == self.line).unwrap_or(0);
        let to = (at + if down { 1 } else { lines.len() - 1 }) % lines.len();
        self.line = lines.get(to).copied().unwrap_or(FormLine::Source);
    }

    /// Shows the lines below *more*, or folds them.
    pub(super) fn open(&mut self, open: bool) {
        self.is_open = open;
        if open && self.line == FormLine::More {
            self.step(true);
        }
    }

    /// To the line of a field, which may be folded.
    pub(super) fn go_to(&mut self, line: FormLine) {
        self.is_open |= !self.lines().contains(&line);
        self.line = line;
    }

    /// Whether the last line that is typed has the focus.
    pub(super) fn is_at_end(&self) -> bool {
        self.lines().into_iter().rev().find(|line| *line != FormLine::More) == Some(self.line)
    }

    /// The next source, or the one before.
    pub(super) fn change(&mut self, forward: bool) {
        let all = self.sources();
        let at = all.iter().position(|source| *source == self.source).unwrap_or(0);
        let to = (at + if forward { 1 } else { all.len() - 1 }) % all.len();
        self.source = all.get(to).copied().unwrap_or(self.source);
    }

    /// The profile; else the line on which something is missing or wrong, and what.
    pub(super) fn profile(&self) -> Result<NewProfile, (FormLine, &'static str)> {
        let key = match self.source {
            KeySourceChoice::Kept | KeySourceChoice::Variable => KeySourceInput::Elsewhere,
            KeySourceChoice::Program => match words(&self.program.text()) {
                words if words.first().is_some_and(|program| !program.is_empty()) => KeySourceInput::Command(words),
                _ => return Err((FormLine::Key, "Name the command that prints the key, like: pass show docdeck")),
            },
            KeySourceChoice::File => match typed(&self.file.text()) {
                Some(path) => KeySourceInput::File(path.into()),
                None => return Err((FormLine::Key, "Name the file that contains the key.")),
            },
            KeySourceChoice::Typed if self.secret.is_empty() => return Err((FormLine::Key, "Type or paste the key.")),
            KeySourceChoice::Typed => match ApiKey::new(self.secret.expose()) {
                Some(key) => KeySourceInput::Typed(key),
                None => return Err((FormLine::Key, "This can't be a key: a key is printable ASCII without spaces.")),
            },
        };
        let Some(project) = typed(&self.project.text()) else {
            return Err((FormLine::Project, "The project id is missing."));
        };
        if self.purpose == Purpose::AnotherProfile && self.name.is_blank() {
            return Err((FormLine::Name, "Give the profile a name."));
        }
        Ok(NewProfile {
            name: self.profile_name(),
            base_url: typed(&self.base_url.text()).filter(|url| url != DEFAULT_BASE_URL),
            project,
            organization: typed(&self.organization.text()),
            ca_file: typed(&self.ca_file.text()).map(Into::into),
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
