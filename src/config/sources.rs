//! Finds the value of each setting and where it comes from: a command-line option, the environment, the file or the
//! default. [`super::resolve`] uses only the values; `docdeck doctor` shows both.

use super::environment::Environment;
use super::error::ConfigError;
use super::file::{ConfigFile, ProfileConfig};
use super::global_options::GlobalOptions;
use super::sourced::{SettingSource, Sourced};
use crate::api::Route;
use crate::model::endpoint::Scope;
use crate::model::redaction::redacted;
use crate::model::setup::{DEFAULT_BASE_URL, DEFAULT_PROFILE, ExistingSettings, KeyPresence};
use crate::model::text::CleanText;
use directories::ProjectDirs;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Returns the first candidate that is set and not blank, trimmed.
fn first_nonblank(candidates: [(Option<&String>, SettingSource); 3]) -> Option<Sourced<String>> {
    let mut texts = candidates.into_iter().filter_map(|(text, from)| Some((text?.trim(), from)));
    texts.find(|(text, _)| !text.is_empty()).map(|(text, from)| Sourced::new(text.to_owned(), from))
}

/// Returns the base URL of the service, without a trailing slash.
pub fn resolve_base_url(
    global_options: &GlobalOptions,
    environment: &Environment,
    profile: &ProfileConfig,
) -> Sourced<String> {
    let named = first_nonblank([
        (global_options.base_url.as_ref(), SettingSource::CommandLineOption("--base-url")),
        (environment.base_url.as_ref(), SettingSource::Variable("DOCDECK_BASE_URL")),
        (profile.base_url.as_ref(), SettingSource::File),
    ]);
    let found = named.unwrap_or_else(|| Sourced::new(DEFAULT_BASE_URL.to_owned(), SettingSource::Default));
    Sourced::new(found.value.trim_end_matches('/').to_owned(), found.from)
}

/// Checks a base URL that the configuration file at `path` sets. Returns `None` if the URL is valid, or if it doesn't
/// come from the file.
pub fn base_url_mistake(base_url: &Sourced<String>, profile: &ProfileConfig, path: &Path) -> Option<ConfigError> {
    if base_url.from != SettingSource::File {
        return None;
    }
    let probe = Scope { base_url: base_url.value.clone(), project: "x".to_owned(), organization: None };
    let mut what = Route::for_scope(&probe).err()?;
    // The message follows the file name and position on the same line, so it starts in lower case.
    if let Some(first) = what.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    let (line, column) = profile.base_url_position;
    Some(ConfigError::Invalid { path: path.into(), line, column, what: CleanText::line(what.trim_end_matches('.')) })
}

/// Returns the project id, or `None` if no project is set.
pub fn resolve_project(
    global_options: &GlobalOptions,
    environment: &Environment,
    profile: &ProfileConfig,
) -> Option<Sourced<String>> {
    first_nonblank([
        (global_options.project.as_ref(), SettingSource::CommandLineOption("--project")),
        (environment.project.as_ref(), SettingSource::Variable("DOCDECK_PROJECT_ID")),
        (profile.project_id.as_ref(), SettingSource::File),
    ])
}

/// Returns an error if the project id contains an API key, because project ids are sent in URLs, stored and exported.
pub fn project_mistake(project: &Sourced<String>) -> Option<ConfigError> {
    let has_key = matches!(redacted(&project.value), Cow::Owned(_));
    has_key.then_some(ConfigError::ProjectIdLooksLikeKey { from: project.from })
}

/// Returns the organization that the profile sets, or `None` if it is unset or blank.
pub fn resolve_organization(profile: &ProfileConfig) -> Option<String> {
    profile.organization.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns the service and project, or `None` if no project is set.
pub fn resolve_scope(
    global_options: &GlobalOptions,
    environment: &Environment,
    profile: &ProfileConfig,
) -> Option<Scope> {
    let project = resolve_project(global_options, environment, profile)?.value;
    let base_url = resolve_base_url(global_options, environment, profile).value;
    Some(Scope { base_url, project, organization: resolve_organization(profile) })
}

/// Returns the existing settings, which prefill the setup screen.
pub fn existing_settings(
    global_options: &GlobalOptions,
    environment: &Environment,
    name: &str,
    profile: &ProfileConfig,
    key: KeyPresence,
) -> ExistingSettings {
    let base_url = resolve_base_url(global_options, environment, profile);
    ExistingSettings {
        profile: name.to_owned(),
        base_url: (base_url.from != SettingSource::Default).then_some(base_url.value),
        project: resolve_project(global_options, environment, profile).map(|project| project.value),
        organization: resolve_organization(profile),
        ca_file: profile.ca_file.clone(),
        key,
    }
}

/// Returns the name of the profile to use, and the settings of that profile if the file contains it. If no option,
/// variable or `default_profile` selects a profile, and the file has exactly one profile, uses this profile. If nothing
/// selects a profile and the file has none or several, uses the profile called `default`.
///
/// # Errors
/// Fails if the selected profile is not in the file. If no profile is selected, fails if the file has several profiles
/// but none called `default`, unless no profile is needed: the environment sets the API key, and an option or the
/// environment sets the project.
pub fn resolve_profile<'a>(
    global_options: &GlobalOptions,
    environment: &Environment,
    path: &Path,
    file: &'a ConfigFile,
) -> Result<(Sourced<String>, Option<&'a ProfileConfig>), ConfigError> {
    let named = [
        (global_options.profile.as_ref(), SettingSource::CommandLineOption("--profile")),
        (environment.profile.as_ref(), SettingSource::Variable("DOCDECK_PROFILE")),
        (file.default_profile.as_ref(), SettingSource::File),
    ];
    if let Some((name, from)) = named.into_iter().find_map(|(name, from)| Some((name?, from))) {
        let profile = file.profiles.get(name).ok_or_else(|| {
            let known: Vec<&str> = file.profiles.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            if from == SettingSource::File {
                let what = format!("there is no profile {name}; profiles: {known}");
                return ConfigError::invalid(path, file.default_profile_position, &what);
            }
            ConfigError::NoProfile { name: CleanText::line(name), path: path.into(), known: CleanText::line(&known) }
        })?;
        return Ok((Sourced::new(name.clone(), from), Some(profile)));
    }
    let mut profiles = file.profiles.iter();
    if let (Some((name, profile)), None) = (profiles.next(), profiles.next()) {
        return Ok((Sourced::new(name.clone(), SettingSource::File), Some(profile)));
    }
    let default_profile = file.profiles.get(DEFAULT_PROFILE);
    // No profile is needed if the API key and the project are set outside the file.
    let is_configured_outside_file = environment.api_key.is_some()
        && resolve_project(global_options, environment, &ProfileConfig::default()).is_some();
    if default_profile.is_none() && file.profiles.len() > 1 && !is_configured_outside_file {
        let known: Vec<&str> = file.profiles.keys().map(String::as_str).collect();
        return Err(ConfigError::AmbiguousProfile { path: path.into(), known: CleanText::line(&known.join(", ")) });
    }
    Ok((Sourced::new(DEFAULT_PROFILE.to_owned(), SettingSource::Default), default_profile))
}

/// Returns the path of the configuration file, which may not exist.
///
/// # Errors
/// Fails if no path is set and there is no home folder.
pub fn config_path(global_options: &GlobalOptions, environment: &Environment) -> Result<Sourced<PathBuf>, ConfigError> {
    let named = [
        (global_options.config.as_ref(), SettingSource::CommandLineOption("--config")),
        (environment.config.as_ref(), SettingSource::Variable("DOCDECK_CONFIG")),
    ];
    first_path_or_default(named, |folders| folders.config_dir().join("config.toml"))
}

/// Returns the folder that contains the store and the log file. The default is the user's data folder, not the user's
/// state folder, because the crate `directories` supports a state folder only on some systems.
///
/// # Errors
/// Fails if no folder is set and there is no home folder.
pub fn resolve_data_folder(
    global_options: &GlobalOptions,
    environment: &Environment,
) -> Result<Sourced<PathBuf>, ConfigError> {
    let named = [
        (global_options.data_dir.as_ref(), SettingSource::CommandLineOption("--data-dir")),
        (environment.data_dir.as_ref(), SettingSource::Variable("DOCDECK_DATA_DIR")),
    ];
    first_path_or_default(named, |folders| folders.data_local_dir().to_path_buf())
}

fn first_path_or_default(
    candidates: [(Option<&PathBuf>, SettingSource); 2],
    default: impl FnOnce(&ProjectDirs) -> PathBuf,
) -> Result<Sourced<PathBuf>, ConfigError> {
    if let Some((path, from)) = candidates.into_iter().find_map(|(path, from)| Some((path?, from))) {
        return Ok(Sourced::new(path.clone(), from));
    }
    let folders = ProjectDirs::from("", "", "docdeck").ok_or(ConfigError::NoHome)?;
    Ok(Sourced::new(default(&folders), SettingSource::Default))
}
