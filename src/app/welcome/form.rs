//! The fields of the welcome page: what is typed, which line has the keys, and the profile that it amounts to.

use crate::app::secret_input::SecretInput;
use crate::app::text_input::TextInput;
use crate::model::command::words;
use crate::model::endpoint::ApiKey;
use crate::model::setup::{AlreadySet, DEFAULT_BASE_URL, DEFAULT_PROFILE, KeyFrom, KnownKey, NewProfile, typed};

/// Where the key comes from, as it is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// As the file says already.
    Kept,
    Program,
    File,
    Typed,
    /// The environment variable.
    Variable,
}

impl Source {
    /// Its name among the choices.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "as it is",
            Self::Program => "a program",
            Self::File => "a file",
            Self::Typed => "typed here",
            Self::Variable => "environment",
        }
    }
}

/// A line of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    Source,
    /// The program, the file or the key itself.
    Key,
    Project,
    BaseUrl,
    Organization,
    /// The profile's name.
    Name,
}

/// The form.
#[derive(Debug, Clone)]
pub struct Form {
    /// The line that has the keys.
    pub line: Line,
    pub source: Source,
    pub program: TextInput,
    pub file: TextInput,
    pub secret: SecretInput,
    pub project: TextInput,
    pub base_url: TextInput,
    pub organization: TextInput,
    pub name: TextInput,
    known: KnownKey,
}

impl Form {
    /// Begins with what is known.
    pub(super) fn new(known: &AlreadySet) -> Self {
        let line = |text: &Option<String>| TextInput::line(text.as_deref().unwrap_or_default());
        Self {
            line: Line::Source,
            source: match known.key {
                KnownKey::No => Source::Typed,
                KnownKey::Environment => Source::Variable,
                KnownKey::File => Source::Kept,
            },
            program: TextInput::line(""),
            file: TextInput::line(""),
            secret: SecretInput::default(),
            project: line(&known.project),
            base_url: line(&known.base_url),
            organization: line(&known.organization),
            name: TextInput::line(Some(known.profile.as_str()).filter(|name| *name != DEFAULT_PROFILE).unwrap_or("")),
            known: known.key,
        }
    }

    /// The sources to choose from.
    pub fn sources(&self) -> Vec<Source> {
        let kept = (self.known == KnownKey::File).then_some(Source::Kept);
        kept.into_iter().chain([Source::Program, Source::File, Source::Typed, Source::Variable]).collect()
    }

    /// The lines, from the top.
    pub fn lines(&self) -> Vec<Line> {
        let key = matches!(self.source, Source::Program | Source::File | Source::Typed).then_some(Line::Key);
        [Line::Source]
            .into_iter()
            .chain(key)
            .chain([Line::Project, Line::BaseUrl, Line::Organization, Line::Name])
            .collect()
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
        self.source != Source::Variable || self.has_variable()
    }

    /// The text of a line; none of the choices and of what is not shown.
    pub fn input(&self, line: Line) -> Option<&TextInput> {
        match (line, self.source) {
            (Line::Source, _) | (Line::Key, Source::Kept | Source::Typed | Source::Variable) => None,
            (Line::Key, Source::Program) => Some(&self.program),
            (Line::Key, Source::File) => Some(&self.file),
            (Line::Project, _) => Some(&self.project),
            (Line::BaseUrl, _) => Some(&self.base_url),
            (Line::Organization, _) => Some(&self.organization),
            (Line::Name, _) => Some(&self.name),
        }
    }

    pub(super) fn input_mut(&mut self) -> Option<&mut TextInput> {
        match (self.line, self.source) {
            (Line::Source, _) | (Line::Key, Source::Kept | Source::Typed | Source::Variable) => None,
            (Line::Key, Source::Program) => Some(&mut self.program),
            (Line::Key, Source::File) => Some(&mut self.file),
            (Line::Project, _) => Some(&mut self.project),
            (Line::BaseUrl, _) => Some(&mut self.base_url),
            (Line::Organization, _) => Some(&mut self.organization),
            (Line::Name, _) => Some(&mut self.name),
        }
    }

    /// Whether the key is typed on this line.
    pub fn is_secret(&self, line: Line) -> bool {
        line == Line::Key && self.source == Source::Typed
    }

    /// To the line below or above, round and round.
    pub(super) fn step(&mut self, down: bool) {
        let lines = self.lines();
        let at = lines.iter().position(|line| *line == self.line).unwrap_or(0);
        let to = (at + if down { 1 } else { lines.len() - 1 }) % lines.len();
        self.line = lines.get(to).copied().unwrap_or(Line::Source);
    }

    /// Whether the last line has the keys.
    pub(super) fn is_at_end(&self) -> bool {
        self.lines().last() == Some(&self.line)
    }

    /// The next source, or the one before.
    pub(super) fn change(&mut self, forward: bool) {
        let all = self.sources();
        let at = all.iter().position(|source| *source == self.source).unwrap_or(0);
        let to = (at + if forward { 1 } else { all.len() - 1 }) % all.len();
        self.source = all.get(to).copied().unwrap_or(self.source);
    }

    /// The profile; else the line on which something is missing or wrong, and what.
    pub(super) fn profile(&self) -> Result<NewProfile, (Line, &'static str)> {
        let key = match self.source {
            Source::Kept | Source::Variable => KeyFrom::Elsewhere,
            Source::Program => match words(&self.program.text()) {
                words if words.first().is_some_and(|program| !program.is_empty()) => KeyFrom::Command(words),
                _ => return Err((Line::Key, "Name the program that prints the key, like: pass show docdeck")),
            },
            Source::File => match typed(&self.file.text()) {
                Some(path) => KeyFrom::File(path.into()),
                None => return Err((Line::Key, "Name the file that holds the key.")),
            },
            Source::Typed if self.secret.is_empty() => return Err((Line::Key, "Type or paste the key.")),
            Source::Typed => match ApiKey::new(self.secret.expose()) {
                Some(key) => KeyFrom::Typed(key),
                None => return Err((Line::Key, "That can't be a key: a key is printable ASCII without blanks.")),
            },
        };
        let Some(project) = typed(&self.project.text()) else {
            return Err((Line::Project, "The project id is missing."));
        };
        Ok(NewProfile {
            name: self.profile_name(),
            base_url: typed(&self.base_url.text()).filter(|url| url != DEFAULT_BASE_URL),
            project,
            organization: typed(&self.organization.text()),
            ca_file: None,
            key,
        })
    }
}
