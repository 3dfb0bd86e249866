//! Where each setting comes from: option, environment, file or default. [`super::resolve`] uses the values; `docdeck
//! doctor` shows the sources too.

use super::environment::Environment;
use super::file::{ConfigFile, ProfileConfig};
use super::{ConfigError, Flags};
use crate::api::Route;
use crate::model::endpoint::Scope;
use crate::model::redaction::redacted;
use crate::model::setup::{AlreadySet, DEFAULT_BASE_URL, DEFAULT_PROFILE, KeyPresence};
use crate::model::text::CleanText;
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// The source of a value, highest precedence first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingSource {
    /// A command-line option, as written.
    Flag(&'static str),
    /// An environment variable.
    Variable(&'static str),
    /// The configuration file.
    File,
    /// The built-in default.
    Default,
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag(name) | Self::Variable(name) => name,
            Self::File => "file",
            Self::Default => "default",
        })
    }
}

/// A value and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    pub value: T,
    pub from: SettingSource,
}

impl<T> Sourced<T> {
    pub(super) fn new(value: T, from: SettingSource) -> Self {
        Self { value, from }
    }
}

/// The first text that is not blank, trimmed.
fn first_set(candidates: [(Option<&String>, SettingSource); 3]) -> Option<Sourced<String>> {
    let mut texts = candidates.into_iter().filter_map(|(text, from)| Some((text?.trim(), from)));
    texts.find(|(text, _)| !text.is_empty()).map(|(text, from)| Sourced::new(text.to_owned(), from))
}

/// The base URL, without a trailing slash.
pub fn resolve_base_url(flags: &Flags, environment: &Environment, profile: &ProfileConfig) -> Sourced<String> {
    let named = first_set([
        (flags.base_url.as_ref(), SettingSource::Flag("--base-url")),
        (environment.base_url.as_ref(), SettingSource::Variable("DOCDECK_BASE_URL")),
        (profile.base_url.as_ref(), SettingSource::File),
    ]);
    let found = named.unwrap_or_else(|| Sourced::new(DEFAULT_BASE_URL.to_owned(), SettingSource::Default));
    Sourced::new(found.value.trim_end_matches('/').to_owned(), found.from)
}

/// The mistake in a base URL from the file; `None` if it is valid or comes from elsewhere.
pub fn base_url_mistake(named: &Sourced<String>, profile: &ProfileConfig, path: &Path) -> Option<ConfigError> {
    if named.from != SettingSource::File {
        return None;
    }
    let probe = Scope { base_url: named.value.clone(), project: "x".to_owned(), organization: None };
    let mut what = Route::for_scope(&probe).err()?;
    // It continues a line, after the file and the position.
    if let Some(first) = what.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    let (line, column) = profile.base_url_position;
    Some(ConfigError::Invalid { path: path.into(), line, column, what: CleanText::line(what.trim_end_matches('.')) })
}

pub fn resolve_project(flags: &Flags, environment: &Environment, profile: &ProfileConfig) -> Option<Sourced<String>> {
    first_set([
        (flags.project.as_ref(), SettingSource::Flag("--project")),
        (environment.project.as_ref(), SettingSource::Variable("DOCDECK_PROJECT_ID")),
        (profile.project_id.as_ref(), SettingSource::File),
    ])
}

/// Returns an error if a project id looks like a key, which would be sent in URLs, stored and exported.
pub fn project_mistake(project: &Sourced<String>) -> Option<ConfigError> {
    let has_key = matches!(redacted(&project.value), Cow::Owned(_));
    has_key.then_some(ConfigError::ProjectIsKey { from: project.from })
}

pub fn organization(profile: &ProfileConfig) -> Option<String> {
    profile.organization.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The service and project; `None` without a project.
pub fn resolve_scope(flags: &Flags, environment: &Environment, profile: &ProfileConfig) -> Option<Scope> {
    let project = resolve_project(flags, environment, profile)?.value;
    let base_url = resolve_base_url(flags, environment, profile).value;
    Some(Scope { base_url, project, organization: organization(profile) })
}

/// The settings that exist, for setup.
pub fn already_set(
    flags: &Flags,
    environment: &Environment,
    name: &str,
    profile: &ProfileConfig,
    key: KeyPresence,
) -> AlreadySet {
    let named = resolve_base_url(flags, environment, profile);
    AlreadySet {
        profile: name.to_owned(),
        base_url: (named.from != SettingSource::Default).then_some(named.value),
        project: resolve_project(flags, environment, profile).map(|project| project.value),
        organization: organization(profile),
        ca_file: profile.ca_file.clone(),
        key,
    }
}

/// The name of the profile to use, and its section if the file contains it.
///
/// # Errors
/// Fails if the named profile doesn't exist, or if none is named although the file has several and the environment
/// isn't sufficient without one.
pub fn resolve_profile<'a>(
    flags: &Flags,
    environment: &Environment,
    path: &Path,
    file: &'a ConfigFile,
) -> Result<(Sourced<String>, Option<&'a ProfileConfig>), ConfigError> {
    let named = [
        (flags.profile.as_ref(), SettingSource::Flag("--profile")),
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
    let usual = file.profiles.get(DEFAULT_PROFILE);
    // A key and a project from the environment need no profile. With less than that, the user must choose one.
    let is_enough =
        environment.api_key.is_some() && resolve_project(flags, environment, &ProfileConfig::default()).is_some();
    if usual.is_none() && file.profiles.len() > 1 && !is_enough {
        let known: Vec<&str> = file.profiles.keys().map(String::as_str).collect();
        return Err(ConfigError::WhichProfile { path: path.into(), known: CleanText::line(&known.join(", ")) });
    }
    Ok((Sourced::new(DEFAULT_PROFILE.to_owned(), SettingSource::Default), usual))
}

/// The path of the configuration file, which may not exist.
///
/// # Errors
/// Fails if no path is set and there is no home folder.
pub fn config_path(flags: &Flags, environment: &Environment) -> Result<Sourced<PathBuf>, ConfigError> {
    let named = [
        (flags.config.as_ref(), SettingSource::Flag("--config")),
        (environment.config.as_ref(), SettingSource::Variable("DOCDECK_CONFIG")),
    ];
    if let Some((path, from)) = named.into_iter().find_map(|(path, from)| Some((path?, from))) {
        return Ok(Sourced::new(path.clone(), from));
    }
    let folders = super::folders().ok_or(ConfigError::NoHome)?;
    Ok(Sourced::new(folders.config_dir().join("config.toml"), SettingSource::Default))
}

/// The folder of the store and the log. `directories` has no state folder on some systems, so the data folder is used
/// on all.
///
/// # Errors
/// Fails if no folder is set and there is no home folder.
pub fn resolve_data_folder(flags: &Flags, environment: &Environment) -> Result<Sourced<PathBuf>, ConfigError> {
    let named = [
        (flags.data_dir.as_ref(), SettingSource::Flag("--data-dir")),
        (environment.data_dir.as_ref(), SettingSource::Variable("DOCDECK_DATA_DIR")),
    ];
    if let Some((path, from)) = named.into_iter().find_map(|(path, from)| Some((path?, from))) {
        return Ok(Sourced::new(path.clone(), from));
    }
    let folders = super::folders().ok_or(ConfigError::NoHome)?;
    Ok(Sourced::new(folders.data_local_dir().to_path_buf(), SettingSource::Default))
}
