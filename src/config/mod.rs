//! Merges command-line options, environment variables and `config.toml` into one set of settings. An option overrides
//! an environment variable, which overrides the file.
//!
//! The settings contain a [`KeySource`] instead of the API key. Reading the API key may run a program, so the caller
//! decides when to read it.

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
use crate::model::setup::{ExistingSettings, KeyPresence};
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

/// The default of `[poll] per_minute`, the maximum number of GET requests per minute for polling.
const DEFAULT_POLLS_PER_MINUTE: u32 = 60;
/// The largest value that `[poll] per_minute` may have.
const MAX_POLLS_PER_MINUTE: u32 = 600;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

/// The command-line options that all commands have in common.
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

/// The settings that control how docdeck looks on screen, and the initial state of the mouse and the job list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplaySettings {
    pub color: ColorChoice,
    pub theme: ChosenTheme,
    /// Whether the terminal's background is dark or light, as set in the file. If `None`, docdeck asks the terminal.
    pub background: Option<Background>,
    /// Whether to use only ASCII characters for lines, bars and symbols.
    pub ascii: bool,
    /// Whether to print hyperlinks if the terminal supports them.
    pub links: bool,
    /// Whether the heartbeat animation is off: if the user asked for reduced motion, and always over SSH.
    pub has_reduced_motion: bool,
    /// Whether mouse support is on when the dashboard starts.
    pub mouse: bool,
    /// Whether the dashboard lists the jobs of all profiles when it starts.
    pub all_profiles: bool,
}

impl DisplaySettings {
    /// Returns settings for use without a configuration. They work in any terminal: ASCII, no colours, no mouse.
    pub fn without_config() -> Self {
        Self {
            color: ColorChoice::Never,
            theme: ChosenTheme::default(),
            background: None,
            ascii: true,
            links: false,
            has_reduced_motion: true,
            mouse: false,
            all_profiles: false,
        }
    }
}

/// The theme that the configuration file selects. The theme's own file is read only when colours are needed, because
/// the output of most commands has no colours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChosenTheme {
    /// `None` for the default theme.
    name: Option<String>,
    /// Where the configuration file sets the theme, for error messages.
    position: LineColumn,
    /// The path of the configuration file.
    config: PathBuf,
}

impl ChosenTheme {
    /// Reads the theme's colours. Custom themes are in the folder `themes` next to the configuration file.
    ///
    /// # Errors
    /// Fails if the theme doesn't exist or its file is invalid.
    pub fn read(&self) -> Result<ThemePalettes, ConfigError> {
        let Some(name) = &self.name else { return Ok(themes::default_theme()) };
        themes::load_theme(name, Some(&self.config.with_file_name("themes")))
            .map_err(|error| theme_config_error(error, self.position, &self.config))
    }
}

/// The complete settings: an API key and a project are configured.
#[derive(Debug)]
pub struct Settings {
    pub scope: Scope,
    pub key: KeySource,
    pub profile: CleanText,
    /// The folder that contains the store and the log file.
    pub data_folder: PathBuf,
    /// The folder that contains custom prompt templates, next to the configuration file.
    pub templates_folder: PathBuf,
    /// A file of certificates to trust in addition to the system's certificates.
    pub ca_file: Option<PathBuf>,
    /// All profiles, sorted by name. If the file doesn't contain the current profile, that profile comes first.
    pub profiles: Vec<ConfiguredProfile>,
    /// The index of the current profile in `profiles`.
    pub current_profile: usize,
    /// The index in `profiles` of the profile that the file sets as `default_profile`.
    pub default_profile: Option<usize>,
    /// The maximum number of GET requests per minute for polling.
    pub polls_per_minute: u32,
    pub display: DisplaySettings,
    pub customization: Customization,
    /// The path of the configuration file, for error messages about settings that are checked later.
    pub config_path: PathBuf,
}

impl Settings {
    /// Returns the options of the HTTP client. Reads the certificate file if one is configured.
    ///
    /// # Errors
    /// Fails if the certificate file can't be read or contains no certificates.
    pub fn client_options(&self) -> Result<ClientOptions, ConfigError> {
        let roots = self.ca_file.as_deref().map(ExtraRoots::read).transpose()?;
        Ok(ClientOptions { roots, ..ClientOptions::default() })
    }
}

/// Whether docdeck has all the settings that it needs to use a service.
#[derive(Debug)]
pub enum SetupState {
    Ready(Box<Settings>),
    Missing(Box<MissingSettings>),
}

/// The settings if the API key, the project or both are not configured, and which of the two are missing.
#[derive(Debug, Clone)]
pub struct MissingSettings {
    /// Whether the API key is missing.
    pub needs_key: bool,
    /// Whether the project id is missing.
    pub needs_project: bool,
    /// The service and project, or `None` if no project is set. The scope is enough to read the local store.
    pub scope: Option<Scope>,
    /// The existing settings, which prefill the setup screen.
    pub existing: ExistingSettings,
    /// Where the API key is read from, or `None` if no API key is configured.
    pub key_source: Option<KeySource>,
    /// The path of the configuration file, which may not exist.
    pub config_path: PathBuf,
    pub display: DisplaySettings,
    pub customization: Customization,
}

impl MissingSettings {
    fn missing_summary(&self) -> &'static str {
        match (self.needs_key, self.needs_project) {
            (true, true) => "The API key and the project id are not set yet.",
            (true, false) => "The API key is not set yet.",
            (false, _) => "The project id is not set yet.",
        }
    }

    /// Returns setup instructions to print when there is no terminal for the setup screen.
    pub fn setup_instructions(&self) -> String {
        let mut lines = vec![
            self.missing_summary().to_owned(),
            "In the shell (both are on the API keys page of the service's dashboard):".into(),
        ];
        if self.needs_key {
            lines.push("  export DOCDECK_API_KEY=mint_…".into());
        }
        if self.needs_project {
            lines.push("  export DOCDECK_PROJECT_ID=…".into());
        }
        let name = &self.existing.profile;
        let name = if file::is_bare_toml_key(name) { name.clone() } else { format!("{name:?}") };
        lines.push(format!("or permanently, in {}:", self.config_path.display()));
        lines.push(format!("  [profiles.{name}]"));
        if self.needs_project {
            lines.push("  project_id = \"…\"".into());
        }
        if self.needs_key {
            lines.push("  api_key_command = [\"pass\", \"show\", \"docdeck\"]".into());
        }
        lines.push(
            "`docdeck init` asks for them and writes this file. To try it without a key, run `docdeck demo`.".into(),
        );
        lines.join("\n")
    }

    /// Returns the setup instructions without the API key, for commands that only read the store.
    pub fn project_instructions(&self) -> String {
        Self { needs_key: false, ..self.clone() }.setup_instructions()
    }
}

/// An error in the configuration, worded for the user.
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
    AmbiguousProfile { path: PathBuf, known: CleanText },
    #[error("Other users can read {0}, which contains the API key, so it is not used. Make it private: chmod 600 {0}", path.display())]
    KeyReadableByOthers { path: PathBuf },
    #[error("The API key command {program} {why}. Try it in a terminal; docdeck runs it without a shell.")]
    KeyCommand { program: CleanText, why: CleanText },
    #[error("There is no usable API key in {source_name}. It must be a single line with only the key, without spaces.")]
    NoKey { source_name: String },
    #[error(
        "The project id ({from}) looks like an API key, so it is not used. Correct it, and set the key as DOCDECK_API_KEY or with `docdeck init`."
    )]
    ProjectIdLooksLikeKey { from: SettingSource },
    #[error(transparent)]
    Theme(#[from] ThemeError),
    #[error(transparent)]
    Roots(#[from] RootsError),
    #[error("No home folder found. Set the data folder with --data-dir and the configuration file with --config.")]
    NoHome,
}

impl ConfigError {
    /// Returns an error about one place in the file at `path`. Redacts API keys in `what`, in case the user has put
    /// one into the wrong field.
    pub fn invalid(path: &Path, (line, column): (usize, usize), what: &str) -> Self {
        Self::Invalid { path: path.into(), line, column, what: CleanText::line(&redacted_text(what)) }
    }
}

/// Merges command-line options, environment variables and the configuration file. Runs no program.
///
/// # Errors
/// Fails if the file or the profile in it is invalid, if the selected profile is unknown, or if the user gave the path
/// of a file that doesn't exist. Also fails if other users can read a file that contains an API key.
pub fn resolve(flags: &Flags, environment: &Environment) -> Result<SetupState, ConfigError> {
    let path = sources::config_path(flags, environment)?;
    let found = load_config_file(&path)?;
    merge_settings(flags, environment, &path.value, &found)
}

/// Loads the configuration file. A missing file is an error only if the user gave its path.
fn load_config_file(path: &Sourced<PathBuf>) -> Result<LoadedFile, ConfigError> {
    match (file::read_config_file(&path.value)?, path.from) {
        (Some(found), _) => Ok(found),
        (None, SettingSource::Default) => Ok(LoadedFile { file: ConfigFile::default(), readable_by_others: false }),
        (None, _) => Err(ConfigError::NotFound { path: path.value.clone() }),
    }
}

/// Returns the path of the configuration file, which may not exist.
///
/// # Errors
/// Fails if no path is set and there is no home folder.
pub fn path(flags: &Flags, environment: &Environment) -> Result<PathBuf, ConfigError> {
    sources::config_path(flags, environment).map(|path| path.value)
}

/// Returns the name of the current profile.
///
/// # Errors
/// Fails if the file is invalid or doesn't contain the profile.
pub fn current_profile_name(flags: &Flags, environment: &Environment) -> Result<String, ConfigError> {
    let path = path(flags, environment)?;
    let file = file::read_config_file(&path)?.map(|found| found.file).unwrap_or_default();
    sources::resolve_profile(flags, environment, &path, &file).map(|(name, _)| name.value)
}

fn merge_settings(
    flags: &Flags,
    environment: &Environment,
    path: &Path,
    found: &LoadedFile,
) -> Result<SetupState, ConfigError> {
    let display = display_settings(flags, environment, &found.file.ui, path);
    let per_minute = found.file.poll_rate();
    let empty_profile = ProfileConfig::default();
    let (name, profile) = sources::resolve_profile(flags, environment, path, &found.file)?;
    let (name, profile) = (name.value, profile.unwrap_or(&empty_profile));
    let key = key::resolve_key_source(environment, &name, profile, path, found.readable_by_others)?;
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
                needs_key: key.is_none(),
                needs_project: scope.is_none(),
                scope,
                existing: sources::existing_settings(flags, environment, &name, profile, known_key),
                key_source: key,
                config_path: path.into(),
                display,
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
        templates_folder: path.with_file_name("templates"),
        ca_file,
        default_profile: found.file.default_profile.as_deref().and_then(|name| {
            let name = CleanText::line(name);
            profiles.iter().position(|profile| profile.name == name)
        }),
        profiles,
        current_profile: current,
        polls_per_minute: per_minute,
        display,
        customization: found.file.customization(),
        config_path: path.into(),
    })))
}

/// Reads the configuration file for the demo: the file that `--config` or `DOCDECK_CONFIG` names. The demo ignores the
/// file at the default path. Returns an empty configuration and an empty path if neither is set.
///
/// # Errors
/// Fails if the file is invalid or missing.
pub fn read_explicit_config_file(
    flags: &Flags,
    environment: &Environment,
) -> Result<(ConfigFile, PathBuf), ConfigError> {
    let Some(path) = flags.config.clone().or_else(|| environment.config.clone()) else {
        return Ok((ConfigFile::default(), PathBuf::new()));
    };
    match file::read_config_file(&path)? {
        Some(found) => Ok((found.file, path)),
        None => Err(ConfigError::NotFound { path }),
    }
}

/// Merges the display settings. `path` is the path of the configuration file: theme errors name it, and custom themes
/// are in the folder `themes` next to it.
pub fn display_settings(flags: &Flags, environment: &Environment, ui: &file::Ui, path: &Path) -> DisplaySettings {
    let from_environment = environment.no_color.then_some(ColorChoice::Never);
    // `--color auto` doesn't override NO_COLOR.
    let flag = flags.color.filter(|flag| *flag != ColorChoice::Auto || from_environment.is_none());
    let choice = flag.or(from_environment).or(ui.color).unwrap_or_default();
    DisplaySettings {
        color: choice,
        theme: ChosenTheme { name: ui.theme.clone(), position: ui.theme_position, config: path.into() },
        background: ui.ground.map(Background::from),
        ascii: flags.ascii || ui.ascii.unwrap_or(environment.is_ascii_locale),
        links: ui.links.unwrap_or(true),
        has_reduced_motion: environment.is_ssh || environment.reduced_motion.or(ui.reduced_motion).unwrap_or(false),
        mouse: ui.mouse.unwrap_or(true),
        all_profiles: ui.all_profiles.unwrap_or(false),
    }
}

/// Converts a theme error. An unknown theme name becomes an error at the line of the configuration file that sets the
/// theme; any other error is about the theme's own file and stays as it is.
fn theme_config_error(error: ThemeError, (line, column): LineColumn, path: &Path) -> ConfigError {
    match error {
        ThemeError::Unknown { name, known } => {
            let what = format!("there is no theme {name}; valid: {known}");
            ConfigError::invalid(path, (line, column), &what)
        }
        other => other.into(),
    }
}

/// Returns the folder that contains the store and the log file.
///
/// # Errors
/// Fails if no folder is set and there is no home folder.
pub fn data_folder(flags: &Flags, environment: &Environment) -> Result<PathBuf, ConfigError> {
    sources::resolve_data_folder(flags, environment).map(|folder| folder.value)
}

fn project_dirs() -> Option<directories::ProjectDirs> {
    directories::ProjectDirs::from("", "", "docdeck")
}

#[cfg(test)]
mod tests;
