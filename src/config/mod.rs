//! Merges command-line options, environment variables and `config.toml` into one set of settings. An option overrides
//! an environment variable, which overrides the file.
//!
//! The settings contain a [`KeySource`] instead of the API key. Reading the API key may run a program, so the caller
//! decides when to read it.

mod analytics;
pub mod check;
pub mod customization;
mod display;
pub mod environment;
mod error;
pub mod file;
mod global_options;
mod host_config;
pub mod hosts;
pub mod key;
mod key_command;
pub mod keys;
mod positions;
mod privacy;
pub mod profiles;
pub mod sourced;
pub mod sources;
mod team;
mod team_config;
pub mod themes;
pub mod write;

pub use display::{ChosenTheme, DisplaySettings, display_settings};
pub use error::ConfigError;
pub use global_options::{ColorChoice, GlobalOptions};
pub use team::TeamSettings;

use crate::api::{ClientOptions, ExtraRoots};
use crate::model::analytics::needs_work::SignalWeights;
use crate::model::analytics::{AnalyticsSettings, ReaderTextRetention};
use crate::model::endpoint::Scope;
use crate::model::setup::{ExistingSettings, KeyPresence};
use crate::model::text::CleanText;
use customization::Customization;
use environment::Environment;
use file::{ConfigFile, LoadedFile, ProfileConfig};
use hosts::HostSettings;
use key::KeySource;
use profiles::ConfiguredProfile;
use sourced::{SettingSource, Sourced};
use std::path::{Path, PathBuf};

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
    pub analytics: AnalyticsSettings,
    /// How much each problem of a page, such as lost views, counts in the ranking of pages that need work.
    pub weights: SignalWeights,
    pub display: DisplaySettings,
    pub customization: Customization,
    /// The settings for code hosts; `None` if docdeck doesn't request the state of pull requests.
    pub hosts: Option<HostSettings>,
    /// The settings for the team's database; `None` if no URL is configured. An error is reported only if a project is
    /// shared.
    pub team: Result<Option<TeamSettings>, ConfigError>,
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
    Missing(Box<IncompleteSettings>),
}

/// Incomplete settings: the API key, the project or both are not configured.
#[derive(Debug, Clone)]
pub struct IncompleteSettings {
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

impl IncompleteSettings {
    fn missing_summary(&self) -> &'static str {
        match (self.needs_key, self.needs_project) {
            (true, true) => {
                "The API key and the project id are not set yet. Both are on the API keys page of your Mintlify dashboard."
            }
            (true, false) => "The API key is not set yet. Create one on the API keys page of your Mintlify dashboard.",
            (false, _) => "The project id is not set yet. It is on the API keys page of your Mintlify dashboard.",
        }
    }

    /// Returns setup instructions to print when there is no terminal for the setup screen.
    pub fn setup_instructions(&self) -> String {
        let them = if self.needs_key && self.needs_project { "them" } else { "it" };
        let mut lines = vec![self.missing_summary().to_owned(), format!("Set {them} in the shell:")];
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
        lines.push(format!(
            "`docdeck init` asks for {them} and writes this file. To try docdeck without a key, run `docdeck demo`."
        ));
        lines.join("\n")
    }

    /// Returns the setup instructions for the project id only. Commands that only read the store need no API key.
    pub fn project_instructions(&self) -> String {
        Self { needs_key: false, ..self.clone() }.setup_instructions()
    }
}

/// Merges command-line options, environment variables and the configuration file. Runs no program.
///
/// # Errors
/// Fails if the file or the profile in it is invalid, if the selected profile is unknown, or if the user gave the path
/// of a file that doesn't exist. Also fails if other users can read a file that contains an API key.
pub fn resolve(global_options: &GlobalOptions, environment: &Environment) -> Result<SetupState, ConfigError> {
    let path = sources::config_path(global_options, environment)?;
    let loaded = load_config_file(&path)?;
    merge_settings(global_options, environment, &path.value, &loaded)
}

/// Loads the configuration file. A missing file is an error only if the user gave its path.
fn load_config_file(path: &Sourced<PathBuf>) -> Result<LoadedFile, ConfigError> {
    match (file::read_config_file(&path.value)?, path.from) {
        (Some(loaded), _) => Ok(loaded),
        (None, SettingSource::Default) => Ok(LoadedFile { file: ConfigFile::default(), is_readable_by_others: false }),
        (None, _) => Err(ConfigError::NotFound { path: path.value.clone() }),
    }
}

/// Returns the settings for code hosts; `None` if docdeck doesn't request the state of pull requests.
///
/// # Errors
/// Fails if the file is invalid, or missing although the user gave its path.
pub fn host_settings(
    global_options: &GlobalOptions,
    environment: &Environment,
) -> Result<Option<HostSettings>, ConfigError> {
    let path = sources::config_path(global_options, environment)?;
    Ok(HostSettings::from_file(&load_config_file(&path)?.file, &path.value))
}

/// Returns the settings for the team's database; `None` if no URL is configured.
///
/// # Errors
/// Fails if the file is invalid, or missing although the user gave its path. Also fails if `DOCDECK_TEAM_URL` is
/// invalid.
pub fn team_settings(
    global_options: &GlobalOptions,
    environment: &Environment,
) -> Result<Option<TeamSettings>, ConfigError> {
    let path = sources::config_path(global_options, environment)?;
    TeamSettings::from_file(&load_config_file(&path)?.file, &path.value, environment)
}

/// Returns how much each problem of a page, such as lost views, counts in the ranking of pages that need work.
///
/// # Errors
/// Fails if the file is invalid, or missing although the user gave its path.
pub fn analytics_weights(
    global_options: &GlobalOptions,
    environment: &Environment,
) -> Result<SignalWeights, ConfigError> {
    let path = sources::config_path(global_options, environment)?;
    Ok(load_config_file(&path)?.file.analytics.weights())
}

/// Returns for how many days the texts that readers wrote are stored.
///
/// # Errors
/// Fails if the file is invalid, or missing although the user gave its path.
pub fn reader_text_days(
    global_options: &GlobalOptions,
    environment: &Environment,
) -> Result<ReaderTextRetention, ConfigError> {
    let path = sources::config_path(global_options, environment)?;
    Ok(load_config_file(&path)?.file.privacy.reader_text_days())
}

/// Returns the path of the configuration file, which may not exist.
///
/// # Errors
/// Fails if no path is set and there is no home folder.
pub fn path(global_options: &GlobalOptions, environment: &Environment) -> Result<PathBuf, ConfigError> {
    sources::config_path(global_options, environment).map(|path| path.value)
}

/// Returns the name of the current profile.
///
/// # Errors
/// Fails if the file is invalid or doesn't contain the profile.
pub fn current_profile_name(global_options: &GlobalOptions, environment: &Environment) -> Result<String, ConfigError> {
    let path = path(global_options, environment)?;
    let file = file::read_config_file(&path)?.map(|loaded| loaded.file).unwrap_or_default();
    sources::resolve_profile(global_options, environment, &path, &file).map(|(name, _)| name.value)
}

fn merge_settings(
    global_options: &GlobalOptions,
    environment: &Environment,
    path: &Path,
    loaded: &LoadedFile,
) -> Result<SetupState, ConfigError> {
    let display = display_settings(global_options, environment, &loaded.file.ui, path);
    let per_minute = loaded.file.polls_per_minute();
    let empty_profile = ProfileConfig::default();
    let (name, profile) = sources::resolve_profile(global_options, environment, path, &loaded.file)?;
    let (name, profile) = (name.value, profile.unwrap_or(&empty_profile));
    let key = key::resolve_key_source(environment, &name, profile, path, loaded.is_readable_by_others)?;
    let base_url = sources::resolve_base_url(global_options, environment, profile);
    let project = sources::resolve_project(global_options, environment, profile);
    let mistake = sources::base_url_mistake(&base_url, profile, path);
    if let Some(mistake) = mistake.or_else(|| sources::project_mistake(project.as_ref()?)) {
        return Err(mistake);
    }
    let scope = sources::resolve_scope(global_options, environment, profile);
    let (key, scope) = match (key, scope) {
        (Some(key), Some(scope)) => (key, scope),
        (key, scope) => {
            let known_key = match (&key, &environment.api_key) {
                (None, _) => KeyPresence::NotSet,
                (Some(_), Some(_)) => KeyPresence::Environment,
                (Some(_), None) => KeyPresence::File,
            };
            return Ok(SetupState::Missing(Box::new(IncompleteSettings {
                needs_key: key.is_none(),
                needs_project: scope.is_none(),
                scope,
                existing: sources::existing_settings(global_options, environment, &name, profile, known_key),
                key_source: key,
                config_path: path.into(),
                display,
                customization: loaded.file.customization(),
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
    let (profiles, current) = profiles::all_profiles(&chosen, &name, environment, path, loaded);
    Ok(SetupState::Ready(Box::new(Settings {
        scope,
        key,
        profile: CleanText::line(&name),
        data_folder: data_folder(global_options, environment)?,
        templates_folder: path.with_file_name("templates"),
        ca_file,
        default_profile: loaded.file.default_profile.as_deref().and_then(|name| {
            let name = CleanText::line(name);
            profiles.iter().position(|profile| profile.name == name)
        }),
        profiles,
        current_profile: current,
        polls_per_minute: per_minute,
        analytics: AnalyticsSettings {
            reader_text_days: loaded.file.privacy.reader_text_days(),
            records_daily_views: loaded.file.analytics.record_days.unwrap_or(false),
        },
        weights: loaded.file.analytics.weights(),
        display,
        customization: loaded.file.customization(),
        hosts: HostSettings::from_file(&loaded.file, path),
        team: TeamSettings::from_file(&loaded.file, path, environment),
        config_path: path.into(),
    })))
}

/// Reads the configuration file for the demo: the file that `--config` or `DOCDECK_CONFIG` names. The demo ignores the
/// file at the default path. Returns an empty configuration and an empty path if neither is set.
///
/// # Errors
/// Fails if the file is invalid or missing.
pub fn read_explicit_config_file(
    global_options: &GlobalOptions,
    environment: &Environment,
) -> Result<(ConfigFile, PathBuf), ConfigError> {
    let Some(path) = global_options.config.clone().or_else(|| environment.config.clone()) else {
        return Ok((ConfigFile::default(), PathBuf::new()));
    };
    match file::read_config_file(&path)? {
        Some(loaded) => Ok((loaded.file, path)),
        None => Err(ConfigError::NotFound { path }),
    }
}

/// Returns the folder that contains the store and the log file.
///
/// # Errors
/// Fails if no folder is set and there is no home folder.
pub fn data_folder(global_options: &GlobalOptions, environment: &Environment) -> Result<PathBuf, ConfigError> {
    sources::resolve_data_folder(global_options, environment).map(|folder| folder.value)
}

#[cfg(test)]
mod tests;
