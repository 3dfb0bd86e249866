//! Merges options, environment and `config.toml` into one set of settings: an option overrides the environment, which overrides
//! the file.
//!
//! The API key is passed on only as a [`KeySource`]: reading it may run a program, so the caller decides when to do
//! that.

pub mod check;
pub mod customization;
pub mod environment;
pub mod file;
pub mod key;
mod key_command;
pub mod keys;
mod positions;
pub mod profiles;
pub mod sources;
pub mod themes;
pub mod write;

use crate::api::{ClientOptions, ExtraRoots, RootsError};
use crate::model::colors::{Background, ThemePalettes};
use crate::model::endpoint::Scope;
use crate::model::redaction::redacted_text;
use crate::model::setup::{AlreadySet, KeyPresence};
use crate::model::text::CleanText;
use customization::Customization;
use environment::Environment;
use file::{ConfigFile, LoadedFile, ProfileConfig};
use key::KeySource;
use positions::LineColumn;
use profiles::ConfiguredProfile;
use serde::Deserialize;
use sources::{SettingSource, Sourced};
use std::path::{Path, PathBuf};
use themes::ThemeError;

/// The default of `[poll] per_minute`, in GET requests for polling, and its maximum.
const PER_MINUTE: u32 = 60;
const PER_MINUTE_MAX: u32 = 600;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

/// The options of all commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    pub profile: Option<String>,
    pub base_url: Option<String>,
    pub project: Option<String>,
    pub config: Option<PathBuf>,
    pub data_dir: Option<PathBuf>,
    pub color: Option<ColorChoice>,
    pub ascii: bool,
}

/// Display settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplaySettings {
    pub color: ColorChoice,
    pub theme: ChosenTheme,
    /// The terminal's background from the file. If set, the terminal is not asked.
    pub background: Option<Background>,
    /// Use only ASCII characters for lines, bars and symbols.
    pub ascii: bool,
    /// Emit hyperlinks if the terminal supports them.
    pub links: bool,
    /// No heartbeat animation, by request or over SSH.
    pub calm: bool,
    /// Whether mouse support is on at the start.
    pub mouse: bool,
    /// Whether jobs of all profiles are listed at the start.
    pub all_profiles: bool,
}

impl DisplaySettings {
    /// The defaults, for when no configuration is available.
    pub fn defaults() -> Self {
        Self {
            color: ColorChoice::Never,
            theme: ChosenTheme::default(),
            background: None,
            ascii: true,
            links: false,
            calm: true,
            mouse: false,
            all_profiles: false,
        }
    }
}

/// The theme named in the file. It is read only when something is drawn with it, because most outputs have no colours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChosenTheme {
    /// `None` for the default theme.
    name: Option<String>,
    position: LineColumn,
    config: PathBuf,
}

impl ChosenTheme {
    /// Like [`Self::read`], but returns `None` for the default theme, which is always valid and need not be read early.
    ///
    /// # Errors
    /// See [`Self::read`].
    pub fn read_unless_default(&self) -> Result<Option<ThemePalettes>, ConfigError> {
        let is_usual = self.name.as_deref().is_none_or(|name| name == themes::AUTO);
        (!is_usual).then(|| self.read()).transpose()
    }

    /// Reads the theme's colours. Custom themes are next to the configuration file.
    ///
    /// # Errors
    /// Fails if the theme doesn't exist or its file is invalid.
    pub fn read(&self) -> Result<ThemePalettes, ConfigError> {
        let Some(name) = &self.name else { return Ok(themes::default_theme()) };
        themes::load_theme(name, Some(&self.config.with_file_name("themes")))
            .map_err(|error| of_theme(error, self.position, &self.config))
    }
}

/// All settings of a run.
#[derive(Debug)]
pub struct Settings {
    pub scope: Scope,
    pub key: KeySource,
    pub profile: CleanText,
    /// The folder of the store and the log.
    pub data_folder: PathBuf,
    /// The folder of custom templates, next to the configuration file.
    pub templates: PathBuf,
    /// A certificate file that is trusted in addition to the system's certificates.
    pub ca_file: Option<PathBuf>,
    /// All profiles by name, and the index of the current one.
    pub profiles: Vec<ConfiguredProfile>,
    pub current: usize,
    /// The index of `default_profile`.
    pub default: Option<usize>,
    /// GET requests per minute for polling.
    pub per_minute: u32,
    pub display: DisplaySettings,
    pub customization: Customization,
    /// The configuration file, for errors that are found later.
    pub config: PathBuf,
}

impl Settings {
    /// The settings of the HTTP client. Reads the certificate file, if there is one.
    ///
    /// # Errors
    /// Fails if the file can't be read or contains no certificates.
    pub fn client_options(&self) -> Result<ClientOptions, ConfigError> {
        let roots = self.ca_file.as_deref().map(ExtraRoots::read).transpose()?;
        Ok(ClientOptions { roots, ..ClientOptions::default() })
    }
}

/// Whether docdeck is configured.
#[derive(Debug)]
pub enum SetupState {
    Ready(Box<Settings>),
    Missing(Box<MissingSettings>),
}

/// The settings that are missing before docdeck can use a service.
#[derive(Debug, Clone)]
pub struct MissingSettings {
    pub key: bool,
    pub project: bool,
    /// The scope of the local store, if the project is set: it can be read without a key.
    pub scope: Option<Scope>,
    /// The settings that exist.
    pub existing: AlreadySet,
    /// The configured source of the key.
    pub source: Option<KeySource>,
    /// The path of the configuration file, which may not exist.
    pub config: PathBuf,
    pub display: DisplaySettings,
    pub customization: Customization,
}

impl MissingSettings {
    fn what(&self) -> &'static str {
        match (self.key, self.project) {
            (true, true) => "The API key and the project id are not set yet.",
            (true, false) => "The API key is not set yet.",
            (false, _) => "The project id is not set yet.",
        }
    }

    /// Setup instructions, for when there is no terminal for the setup screen.
    pub fn setup_instructions(&self) -> String {
        let mut lines = vec![
            self.what().to_owned(),
            "In the shell (both are on the API keys page of the service's dashboard):".into(),
        ];
        if self.key {
            lines.push("  export DOCDECK_API_KEY=mint_…".into());
        }
        if self.project {
            lines.push("  export DOCDECK_PROJECT_ID=…".into());
        }
        let name = &self.existing.profile;
        let name = if file::is_bare(name) { name.clone() } else { format!("{name:?}") };
        lines.push(format!("or permanently, in {}:", self.config.display()));
        lines.push(format!("  [profiles.{name}]"));
        if self.project {
            lines.push("  project_id = \"…\"".into());
        }
        if self.key {
            lines.push("  api_key_command = [\"pass\", \"show\", \"docdeck\"]".into());
        }
        lines.push(
            "`docdeck init` asks for them and writes this file. To try it without a key, run `docdeck demo`.".into(),
        );
        lines.join("\n")
    }

    /// The same for commands that only read the store and need no key.
    pub fn project_instructions(&self) -> String {
        Self { key: false, ..self.clone() }.setup_instructions()
    }
}

/// Errors in the configuration, as sentences for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("{}:{line}:{column}: {what}. Fix the line, or choose another file with --config.", path.display())]
    Invalid { path: PathBuf, line: usize, column: usize, what: CleanText },
    #[error("{} can't be read: {why}. Make the file readable, or choose another one with --config.", path.display())]
    Unreadable { path: PathBuf, why: CleanText },
    #[error("The API key can't be read from {}: {why}. Write the key to this file and make it private (chmod 600), or set another api_key_file.", path.display())]
    KeyFile { path: PathBuf, why: CleanText },
    #[error("Configuration file {0} not found. Create it with `docdeck init --config {0}`.", path.display())]
    NotFound { path: PathBuf },
    #[error(
        "There is no profile {name} in {} (profiles: {known}). Choose one with --profile, or create it with \
         `docdeck init --profile {name}`.", path.display()
    )]
    NoProfile { name: CleanText, path: PathBuf, known: CleanText },
    #[error(
        "There are several profiles in {}: {known}. Choose one with --profile, or set default_profile.",
        path.display()
    )]
    WhichProfile { path: PathBuf, known: CleanText },
    #[error("Other users can read {0}, which contains the API key, so it is not used. Make it private: chmod 600 {0}", path.display())]
    KeyReadableByOthers { path: PathBuf },
    #[error("The API key command {program} {why}. Try it in a terminal; docdeck runs it without a shell.")]
    KeyCommand { program: CleanText, why: CleanText },
    #[error("There is no usable API key in {source_name}. It must be a single line with only the key, without spaces.")]
    NoKey { source_name: String },
    #[error(
        "The project id ({from}) looks like an API key, so it is not used. Correct it, and set the key as DOCDECK_API_KEY or with `docdeck init`."
    )]
    ProjectIsKey { from: SettingSource },
    #[error(transparent)]
    Theme(#[from] ThemeError),
    #[error(transparent)]
    Roots(#[from] RootsError),
    #[error("No home folder found. Set the data folder with --data-dir and the configuration file with --config.")]
    NoHome,
}

impl ConfigError {
    /// An error in the file at this path. The sentence never contains a piece of a key in the wrong field.
    pub fn invalid(path: &Path, (line, column): (usize, usize), what: &str) -> Self {
        Self::Invalid { path: path.into(), line, column, what: CleanText::line(&redacted_text(what)) }
    }
}

/// Merges options, environment and file. Only reads the file; runs no program.
///
/// # Errors
/// Fails if the file is invalid or missing although it was named, the profile is unknown, or others can read a file
/// with a key.
pub fn resolve(flags: &Flags, environment: &Environment) -> Result<SetupState, ConfigError> {
    let path = sources::config_path(flags, environment)?;
    let found = load_config_file(&path)?;
    join(flags, environment, &path.value, &found)
}

/// Loads the file, which must exist only if it was named.
fn load_config_file(path: &Sourced<PathBuf>) -> Result<LoadedFile, ConfigError> {
    match (file::read_config_file(&path.value)?, path.from) {
        (Some(found), _) => Ok(found),
        (None, SettingSource::Default) => Ok(LoadedFile { file: ConfigFile::default(), readable_by_others: false }),
        (None, _) => Err(ConfigError::NotFound { path: path.value.clone() }),
    }
}

/// The path of the configuration file, which may not exist.
///
/// # Errors
/// Fails if no path is set and there is no home folder.
pub fn path(flags: &Flags, environment: &Environment) -> Result<PathBuf, ConfigError> {
    sources::config_path(flags, environment).map(|path| path.value)
}

/// The name of the current profile.
///
/// # Errors
/// Fails if the file is invalid or doesn't contain the profile.
pub fn profile_of(flags: &Flags, environment: &Environment) -> Result<String, ConfigError> {
    let path = path(flags, environment)?;
    let file = file::read_config_file(&path)?.map(|found| found.file).unwrap_or_default();
    sources::resolve_profile(flags, environment, &path, &file).map(|(name, _)| name.value)
}

fn join(flags: &Flags, environment: &Environment, path: &Path, found: &LoadedFile) -> Result<SetupState, ConfigError> {
    let look = display_settings(flags, environment, &found.file.ui, path);
    let per_minute = found.file.poll_rate();
    let nothing = ProfileConfig::default();
    let (name, profile) = sources::resolve_profile(flags, environment, path, &found.file)?;
    let (name, profile) = (name.value, profile.unwrap_or(&nothing));
    let key = key::source(environment, &name, profile, path, found.readable_by_others)?;
    if let Some(mistake) =
        sources::base_url_mistake(&sources::resolve_base_url(flags, environment, profile), profile, path)
    {
        return Err(mistake);
    }
    if let Some(mistake) =
        sources::resolve_project(flags, environment, profile).and_then(|id| sources::project_mistake(&id))
    {
        return Err(mistake);
    }
    let scope = sources::resolve_scope(flags, environment, profile);
    let (key, scope) = match (key, scope) {
        (Some(key), Some(scope)) => (key, scope),
        (key, scope) => {
            let known_key = match (&key, &environment.api_key) {
                (None, _) => KeyPresence::No,
                (Some(_), Some(_)) => KeyPresence::Environment,
                (Some(_), None) => KeyPresence::File,
            };
            return Ok(SetupState::Missing(Box::new(MissingSettings {
                key: key.is_none(),
                project: scope.is_none(),
                scope,
                existing: sources::already_set(flags, environment, &name, profile, known_key),
                source: key,
                config: path.into(),
                display: look,
                customization: found.file.customization(),
            })));
        }
    };
    let ca_file = profile.ca_file.as_deref().map(|file| key::resolve_path(path, file));
    let chosen = ConfiguredProfile {
        name: CleanText::line(&name),
        scope: Some(scope.clone()),
        key: Ok(Some(key.clone())),
        ca_file: ca_file.clone(),
    };
    let (profiles, current) = profiles::all_profiles(&chosen, &name, environment, path, found);
    Ok(SetupState::Ready(Box::new(Settings {
        scope,
        key,
        profile: CleanText::line(&name),
        data_folder: data_folder(flags, environment)?,
        templates: path.with_file_name("templates"),
        ca_file,
        default: found.file.default_profile.as_deref().and_then(|name| {
            let name = CleanText::line(name);
            profiles.iter().position(|profile| profile.name == name)
        }),
        profiles,
        current,
        per_minute,
        display: look,
        customization: found.file.customization(),
        config: path.into(),
    })))
}

/// The file and its path for a run without a service (the demo): only a file that was named is used.
///
/// # Errors
/// Fails if the file is invalid or missing.
pub fn named_file(flags: &Flags, environment: &Environment) -> Result<(ConfigFile, PathBuf), ConfigError> {
    let Some(path) = flags.config.clone().or_else(|| environment.config.clone()) else {
        return Ok((ConfigFile::default(), PathBuf::new()));
    };
    match file::read_config_file(&path)? {
        Some(found) => Ok((found.file, path)),
        None => Err(ConfigError::NotFound { path }),
    }
}

/// The display settings; custom themes are next to the file at `path`.
pub fn display_settings(flags: &Flags, environment: &Environment, ui: &file::Ui, path: &Path) -> DisplaySettings {
    let from_environment = environment.no_color.then_some(ColorChoice::Never);
    // `--color auto` means the default of the terminal and the environment, including NO_COLOR.
    let flag = flags.color.filter(|flag| *flag != ColorChoice::Auto || from_environment.is_none());
    let choice = flag.or(from_environment).or(ui.color).unwrap_or_default();
    DisplaySettings {
        color: choice,
        theme: ChosenTheme { name: ui.theme.clone(), position: ui.theme_position, config: path.into() },
        background: ui.ground.map(Background::from),
        ascii: flags.ascii || ui.ascii.unwrap_or(environment.ascii_locale),
        links: ui.links.unwrap_or(true),
        calm: environment.ssh || environment.reduced_motion.or(ui.reduced_motion).unwrap_or(false),
        mouse: ui.mouse.unwrap_or(true),
        all_profiles: ui.all_profiles.unwrap_or(false),
    }
}

/// An unknown theme name is reported at the line that sets it; any other error is in the theme's file.
fn of_theme(error: ThemeError, (line, column): LineColumn, path: &Path) -> ConfigError {
    match error {
        ThemeError::Unknown { name, known } => {
            let what = format!("there is no theme {name}; valid: {known}");
            ConfigError::invalid(path, (line, column), &what)
        }
        other => other.into(),
    }
}

/// The folder of the store and the log.
///
/// # Errors
/// Fails if no folder is set and there is no home folder.
pub fn data_folder(flags: &Flags, environment: &Environment) -> Result<PathBuf, ConfigError> {
    sources::resolve_data_folder(flags, environment).map(|folder| folder.value)
}

fn folders() -> Option<directories::ProjectDirs> {
    directories::ProjectDirs::from("", "", "docdeck")
}

#[cfg(test)]
mod tests;
