//! The setup form: its fields in order, their labels, explanations and values, and the profile that results. The setup
//! screen and `docdeck init` show this form; neither adds fields or rules.

use super::secret_input::SecretInput;
use super::{
    DEFAULT_BASE_URL, DEFAULT_PROFILE, ExistingSettings, KeyPresence, KeySourceInput, NewProfile, SetupProblem,
    non_blank,
};
use crate::model::command::split_command_line;
use crate::model::endpoint::ApiKey;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupPurpose {
    /// Setting up the first profile.
    FirstProfile,
    /// Adding another profile, which needs a name.
    AnotherProfile,
}

/// Where the API key comes from, as chosen in the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySourceChoice {
    /// The source that the configuration file already names.
    Unchanged,
    /// The key is typed into the form.
    Typed,
    /// A command that prints the key.
    Command,
    /// A file that contains the key.
    File,
    /// The environment variable `DOCDECK_API_KEY`.
    Variable,
}

impl KeySourceChoice {
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Typed => "typed here",
            Self::Command => "command",
            Self::File => "file",
            Self::Variable => "environment",
        }
    }

    /// Returns the field in which the key or its source is typed.
    pub fn field(self) -> SetupField {
        match self {
            Self::Command => SetupField::Command,
            Self::File => SetupField::File,
            Self::Typed | Self::Unchanged | Self::Variable => SetupField::Key,
        }
    }
}

/// A field of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SetupField {
    /// The choice of the key source.
    Source,
    /// The API key itself.
    Key,
    /// The command that prints the API key.
    Command,
    /// The file that contains the API key.
    File,
    Project,
    BaseUrl,
    Organization,
    CaFile,
    /// The name of the profile.
    Name,
}

impl SetupField {
    pub fn label(self) -> &'static str {
        match self {
            Self::Source => "key source",
            Self::Key => "API key",
            Self::Command => "command",
            Self::File => "file",
            Self::Project => "project id",
            Self::BaseUrl => "base URL",
            Self::Organization => "organization",
            Self::CaFile => "certificates",
            Self::Name => "profile",
        }
    }
}

/// The form and what was typed into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupForm {
    pub purpose: SetupPurpose,
    pub source: KeySourceChoice,
    /// The typed API key.
    pub secret: SecretInput,
    /// The texts of all fields except the API key and the choice of its source.
    texts: BTreeMap<SetupField, String>,
    key_presence: KeyPresence,
}

impl SetupForm {
    /// Creates a form whose fields are prefilled with the existing settings.
    pub fn new(purpose: SetupPurpose, existing: &ExistingSettings) -> Self {
        let ca_file = existing.ca_file.as_ref().map(|file| file.display().to_string());
        let name = Some(existing.profile.clone()).filter(|name| name != DEFAULT_PROFILE);
        let texts = [
            (SetupField::Project, existing.project.clone()),
            (SetupField::BaseUrl, existing.base_url.clone()),
            (SetupField::Organization, existing.organization.clone()),
            (SetupField::CaFile, ca_file),
            (SetupField::Name, name),
        ];
        Self {
            purpose,
            source: match existing.key {
                KeyPresence::NotSet => KeySourceChoice::Typed,
                KeyPresence::Environment => KeySourceChoice::Variable,
                KeyPresence::File => KeySourceChoice::Unchanged,
            },
            secret: SecretInput::default(),
            texts: texts.into_iter().filter_map(|(field, text)| Some((field, text?))).collect(),
            key_presence: existing.key,
        }
    }

    /// Returns the available key sources.
    pub fn sources(&self) -> Vec<KeySourceChoice> {
        let configured = (self.key_presence == KeyPresence::File).then_some(KeySourceChoice::Unchanged);
        // The environment variable is not offered for another profile, because it has the key of the profile in use.
        let variable = (self.purpose == SetupPurpose::FirstProfile).then_some(KeySourceChoice::Variable);
        let typed = [KeySourceChoice::Typed, KeySourceChoice::Command, KeySourceChoice::File];
        configured.into_iter().chain(typed).chain(variable).collect()
    }

    /// Returns the fields that everyone needs.
    pub fn main_fields(&self) -> Vec<SetupField> {
        let name = (self.purpose == SetupPurpose::AnotherProfile).then_some(SetupField::Name);
        [self.source.field(), SetupField::Project].into_iter().chain(name).collect()
    }

    /// Returns the fields with a default value, which only some users need.
    pub fn optional_fields(&self) -> Vec<SetupField> {
        let name = (self.purpose == SetupPurpose::FirstProfile).then_some(SetupField::Name);
        let fields = [SetupField::Source, SetupField::BaseUrl, SetupField::Organization, SetupField::CaFile];
        fields.into_iter().chain(name).collect()
    }

    /// Returns the text of a field; empty for the key and its source.
    pub fn text(&self, field: SetupField) -> &str {
        self.texts.get(&field).map_or("", String::as_str)
    }

    pub fn set_text(&mut self, field: SetupField, text: String) {
        self.texts.insert(field, text);
    }

    /// Returns the trimmed text of a field; `None` if it is blank.
    fn value(&self, field: SetupField) -> Option<String> {
        non_blank(self.text(field))
    }

    /// Returns the placeholder of a field, which states what it means to leave the field empty.
    pub fn placeholder(&self, field: SetupField) -> &'static str {
        match (field, self.source) {
            (SetupField::Key, KeySourceChoice::Variable) => "from DOCDECK_API_KEY",
            (SetupField::Key, KeySourceChoice::Unchanged) => "unchanged",
            (SetupField::BaseUrl, _) => DEFAULT_BASE_URL,
            (SetupField::Organization | SetupField::CaFile, _) => "none",
            (SetupField::Name, _) if self.purpose == SetupPurpose::FirstProfile => DEFAULT_PROFILE,
            _ => "required",
        }
    }

    /// Returns what a field is and where to get its value.
    pub fn explanation(&self, field: SetupField) -> String {
        let text = match field {
            SetupField::Project => "The project id is on the API keys page of your Mintlify dashboard.",
            SetupField::BaseUrl => {
                "Address of the service; leave it empty for the default. http:// works for this computer only."
            }
            SetupField::Organization => {
                "Analytics requests are limited per organization: enter yours if you use several of its projects, so that they share one count."
            }
            SetupField::CaFile => "PEM file of extra CA certificates to trust.",
            SetupField::Name => "A name for this key and project. It is [profiles.NAME] in the configuration.",
            SetupField::Source | SetupField::Key | SetupField::Command | SetupField::File => {
                let is_unused = self.is_key_variable_set() && self.source != KeySourceChoice::Variable;
                let unused = if is_unused { " DOCDECK_API_KEY is set in this shell and is used instead." } else { "" };
                return format!("{}{unused}", self.source_explanation());
            }
        };
        text.to_owned()
    }

    fn source_explanation(&self) -> &'static str {
        match self.source {
            KeySourceChoice::Unchanged => "Keeps the key source of the configuration.",
            KeySourceChoice::Typed => {
                "An admin key. docdeck stores it in a file that only you can read, and never shows it."
            }
            KeySourceChoice::Command => {
                "A command that prints the key, like: pass show docdeck. docdeck runs it at each start, without a shell; quote arguments that contain spaces. The first line of its output is the key."
            }
            KeySourceChoice::File => {
                "A file that contains only the key; ~/ is your home folder. It must be readable only by you: chmod 600."
            }
            KeySourceChoice::Variable if self.is_key_variable_set() => {
                "DOCDECK_API_KEY is set in this shell. It is used instead of any key in a file."
            }
            KeySourceChoice::Variable => {
                "DOCDECK_API_KEY is not set in this shell. Add export DOCDECK_API_KEY=… to your shell's startup file, \
                 then start docdeck in a new shell."
            }
        }
    }

    /// Whether the environment variable for the API key is set.
    fn is_key_variable_set(&self) -> bool {
        self.key_presence == KeyPresence::Environment
    }

    /// Returns false if the chosen source is the environment variable and it is not set; otherwise true.
    pub fn source_can_provide_key(&self) -> bool {
        self.source != KeySourceChoice::Variable || self.is_key_variable_set()
    }

    /// Returns the message that a field must be filled in; `None` if it has a value or is not required.
    fn missing_message(&self, field: SetupField) -> Option<&'static str> {
        let (is_missing, what) = match field {
            SetupField::Key => {
                (self.source == KeySourceChoice::Typed && self.secret.is_empty(), "Type or paste the key.")
            }
            SetupField::Command => {
                let words = split_command_line(self.text(field));
                let what = "Enter the command that prints the key, for example: pass show docdeck";
                (words.first().is_none_or(String::is_empty), what)
            }
            SetupField::File => (self.value(field).is_none(), "Enter the file that contains the key."),
            SetupField::Project => (self.value(field).is_none(), "Enter the project id."),
            SetupField::Name if self.purpose == SetupPurpose::AnotherProfile => {
                (self.value(field).is_none(), "Give the profile a name.")
            }
            _ => (false, ""),
        };
        is_missing.then_some(what)
    }

    /// Returns the first required field that is empty.
    pub fn first_missing_field(&self) -> Option<SetupField> {
        self.main_fields().into_iter().find(|field| self.missing_message(*field).is_some())
    }

    /// Returns the profile that the fields describe.
    ///
    /// # Errors
    /// Fails if a required field is empty (the error names the first one), or if the typed key is invalid.
    pub fn profile(&self) -> Result<NewProfile, SetupProblem> {
        let problem = |field, what| Err(SetupProblem::new(Some(field), what));
        if let Some((field, what)) =
            self.main_fields().into_iter().find_map(|field| Some((field, self.missing_message(field)?)))
        {
            return problem(field, what);
        }
        if self.source == KeySourceChoice::Typed && ApiKey::new(self.secret.expose()).is_none() {
            return problem(SetupField::Key, "Invalid key: a key is printable ASCII without spaces.");
        }
        Ok(self.unchecked_profile())
    }

    /// Returns the profile that the fields describe so far.
    pub fn unchecked_profile(&self) -> NewProfile {
        NewProfile {
            name: self.value(SetupField::Name).unwrap_or_else(|| DEFAULT_PROFILE.to_owned()),
            base_url: self.value(SetupField::BaseUrl).filter(|url| url != DEFAULT_BASE_URL),
            project: self.value(SetupField::Project).unwrap_or_default(),
            organization: self.value(SetupField::Organization),
            ca_file: self.value(SetupField::CaFile).map(Into::into),
            key: match self.source {
                KeySourceChoice::Command => KeySourceInput::Command(split_command_line(self.text(SetupField::Command))),
                KeySourceChoice::File => KeySourceInput::File(self.value(SetupField::File).unwrap_or_default().into()),
                KeySourceChoice::Typed => {
                    ApiKey::new(self.secret.expose()).map_or(KeySourceInput::SetElsewhere, KeySourceInput::Typed)
                }
                KeySourceChoice::Unchanged | KeySourceChoice::Variable => KeySourceInput::SetElsewhere,
            },
        }
    }
}
