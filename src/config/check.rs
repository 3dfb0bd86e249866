//! Validates a new profile before it is written, with the code that reads it at the next start.

use super::key::{self, resolve_path};
use super::{ConfigError, write};
use crate::api::{ExtraRoots, Route};
use crate::model::endpoint::Scope;
use crate::model::setup::{DEFAULT_BASE_URL, KeySourceInput, NewProfile, SetupField, SetupProblem, looks_like_key};
use std::path::Path;

/// Validates a new profile for the file at `config`. Reads that file, the key file and the certificates; runs no
/// program and sends no request.
///
/// # Errors
/// Returns the first invalid field with the reason.
pub fn check_profile(config: &Path, profile: &NewProfile) -> Result<(), SetupProblem> {
    let at = |field: SetupField| move |sentence: String| SetupProblem::new(Some(field), &sentence);
    check_project(&profile.project).map_err(at(SetupField::Project))?;
    check_base_url(profile.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL)).map_err(at(SetupField::BaseUrl))?;
    match &profile.key {
        KeySourceInput::File(file) => key_file(config, file).map_err(at(SetupField::Key))?,
        KeySourceInput::Command(words) => command(words).map_err(at(SetupField::Key))?,
        KeySourceInput::SetElsewhere | KeySourceInput::Typed(_) => {}
    }
    no_key(profile.organization.as_deref().unwrap_or_default()).map_err(at(SetupField::Organization))?;
    no_key(&profile.name).map_err(at(SetupField::Name))?;
    if let Some(file) = &profile.ca_file {
        certificates(config, file).map_err(at(SetupField::CaFile))?;
    }
    write::needed(config, &profile.name).map(drop).map_err(|error| SetupProblem::new(None, &error.to_string()))
}

/// # Errors
/// A sentence: it is not a valid URL, or would send the key unencrypted to another computer.
pub fn check_base_url(url: &str) -> Result<(), String> {
    check_scope(url, "x")
}

/// # Errors
/// A sentence: it is not valid in a URL, or is an API key.
pub fn check_project(project: &str) -> Result<(), String> {
    if looks_like_key(project) {
        return Err("This looks like an API key, not a project id.".to_owned());
    }
    check_scope(DEFAULT_BASE_URL, project)
}

/// Checks a text that is shown on the screen, like the profile's name.
///
/// # Errors
/// A sentence: it is an API key.
pub fn no_key(text: &str) -> Result<(), String> {
    if looks_like_key(text) { Err("This looks like an API key.".to_owned()) } else { Ok(()) }
}

fn check_scope(base_url: &str, project: &str) -> Result<(), String> {
    let base_url = base_url.trim().trim_end_matches('/').to_owned();
    Route::for_scope(&Scope { base_url, project: project.to_owned(), organization: None }).map(drop)
}

/// Validates the command that prints the key, without running it.
///
/// # Errors
/// A sentence: it contains no program, or is an API key.
pub fn command(words: &[String]) -> Result<(), String> {
    match words.first() {
        Some(program) if !program.trim().is_empty() && !looks_like_key(program) => Ok(()),
        Some(program) if looks_like_key(program) => Err(KEY_NOT_ITS_SOURCE.to_owned()),
        _ => Err("Enter the command that prints the key, for example: pass show docdeck".to_owned()),
    }
}

const KEY_NOT_ITS_SOURCE: &str = "This looks like the key itself. To store it in config.toml, choose “typed here”.";

/// Validates a file with the key; relative paths start at the folder of the file at `config`.
///
/// # Errors
/// A sentence: it can't be read, others can read it, or it contains no key.
pub fn key_file(config: &Path, file: &Path) -> Result<(), String> {
    let path = resolve_path(config, file);
    if looks_like_key(&file.to_string_lossy()) && !path.exists() {
        return Err(KEY_NOT_ITS_SOURCE.to_owned());
    }
    key::read_file(&path).map(drop).map_err(|error| error.to_string())
}

/// Validates a certificate file; relative paths start at the folder of the file at `config`.
///
/// # Errors
/// A sentence: it can't be read, or contains no certificates.
pub fn certificates(config: &Path, file: &Path) -> Result<(), String> {
    ExtraRoots::read(&resolve_path(config, file)).map(drop).map_err(|error| ConfigError::from(error).to_string())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::model::endpoint::ApiKey;
    use std::os::unix::fs::PermissionsExt;

    fn new(base_url: &str, key: KeySourceInput) -> NewProfile {
        NewProfile {
            name: "docs".to_owned(),
            base_url: Some(base_url.to_owned()),
            project: "p".to_owned(),
            organization: None,
            ca_file: None,
            key,
        }
    }

    fn typed() -> KeySourceInput {
        KeySourceInput::Typed(ApiKey::new("mint_k").expect("a key"))
    }

    #[test]
    fn every_invalid_field_is_rejected_before_it_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let config = folder.path().join("config.toml");
        let field =
            |profile: &NewProfile| super::check_profile(&config, profile).err().and_then(|problem| problem.field);
        let url = "http://127.0.0.1:1";
        assert_eq!(super::check_profile(&config, &new(url, typed())), Ok(()));
        for wrong in ["http://docs.example.com", "nonsense", "https://u:p@example.com"] {
            assert_eq!(field(&new(wrong, typed())), Some(SetupField::BaseUrl), "{wrong}");
        }
        let file = folder.path().join("key");
        assert_eq!(field(&new(url, KeySourceInput::File("key".into()))), Some(SetupField::Key), "it doesn't exist");
        std::fs::write(&file, "mint_k\n").expect("written");
        for (mode, accepted) in [(0o644, false), (0o600, true)] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("mode");
            assert_eq!(
                super::check_profile(&config, &new(url, KeySourceInput::File("key".into()))).is_ok(),
                accepted,
                "{mode:o}"
            );
        }
        let ca = NewProfile { ca_file: Some("key".into()), ..new(url, typed()) };
        assert_eq!(field(&ca), Some(SetupField::CaFile));
        std::fs::write(&config, "nonsense\n").expect("written");
        let problem = super::check_profile(&config, &new(url, typed())).expect_err("the file is invalid");
        assert!(problem.field.is_none() && problem.sentence.as_str().contains("config.toml:1"), "{problem:?}");
    }

    #[test]
    fn a_key_as_organization_or_name_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let config = folder.path().join("config.toml");
        let field =
            |profile: &NewProfile| super::check_profile(&config, profile).err().and_then(|problem| problem.field);
        let (url, key) = ("http://127.0.0.1:1", "MINT_secret".to_owned());
        let organization = NewProfile { organization: Some(key.clone()), ..new(url, typed()) };
        assert_eq!(field(&organization), Some(SetupField::Organization));
        assert_eq!(field(&NewProfile { name: key, ..new(url, typed()) }), Some(SetupField::Name));
    }

    #[test]
    fn a_key_in_another_field_is_not_repeated() {
        let folder = tempfile::tempdir().expect("a folder");
        let config = folder.path().join("config.toml");
        let key = "mint_secret".to_owned();
        let sentences = [
            check_project(&key),
            check_base_url(&key),
            command(std::slice::from_ref(&key)),
            key_file(&config, Path::new(&key)),
        ];
        for sentence in sentences {
            assert!(!sentence.expect_err("refused").contains("secret"));
        }
    }
}
