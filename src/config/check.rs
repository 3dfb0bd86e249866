//! Validates a new profile before it is written to the configuration file. Uses the same code that reads the profile
//! when docdeck starts, so a profile that passes can be loaded.

use super::key::{self, resolve_path};
use super::{ConfigError, write};
use crate::api::{ExtraRoots, Route};
use crate::model::endpoint::Scope;
use crate::model::setup::{DEFAULT_BASE_URL, KeySourceInput, NewProfile, SetupField, SetupProblem, looks_like_key};
use std::path::Path;

/// Validates a new profile for the configuration file at `config`. Reads the configuration file, the API key file and
/// the certificates. Runs no program and sends no request.
///
/// # Errors
/// Returns the first invalid field with the reason, or a reason without a field if the configuration file is invalid.
pub fn check_profile(config: &Path, profile: &NewProfile) -> Result<(), SetupProblem> {
    let at = |field: SetupField| move |sentence: String| SetupProblem::new(Some(field), &sentence);
    check_project(&profile.project).map_err(at(SetupField::Project))?;
    check_base_url(profile.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL)).map_err(at(SetupField::BaseUrl))?;
    match &profile.key {
        KeySourceInput::File(file) => check_key_file(config, file).map_err(at(SetupField::Key))?,
        KeySourceInput::Command(words) => check_key_command(words).map_err(at(SetupField::Key))?,
        KeySourceInput::SetElsewhere | KeySourceInput::Typed(_) => {}
    }
    check_is_not_key(profile.organization.as_deref().unwrap_or_default()).map_err(at(SetupField::Organization))?;
    check_is_not_key(&profile.name).map_err(at(SetupField::Name))?;
    if let Some(file) = &profile.ca_file {
        check_certificates(config, file).map_err(at(SetupField::CaFile))?;
    }
    write::required_permission(config, &profile.name)
        .map(drop)
        .map_err(|error| SetupProblem::new(None, &error.to_string()))
}

/// Checks the base URL of a service.
///
/// # Errors
/// Fails if the URL is invalid, or if it would send the API key unencrypted to another computer. The error is a
/// sentence for the user.
pub fn check_base_url(url: &str) -> Result<(), String> {
    check_scope(url, "x")
}

/// Checks a project id.
///
/// # Errors
/// Fails if the id is not valid in a URL or looks like an API key. The error is a sentence for the user.
pub fn check_project(project: &str) -> Result<(), String> {
    if looks_like_key(project) {
        return Err("This looks like an API key, not a project id.".to_owned());
    }
    check_scope(DEFAULT_BASE_URL, project)
}

/// Checks that `text` is not an API key. `text` is a value that docdeck shows on the screen, such as a profile's name.
///
/// # Errors
/// Fails if `text` looks like an API key. The error is a sentence for the user.
pub fn check_is_not_key(text: &str) -> Result<(), String> {
    if looks_like_key(text) { Err("This looks like an API key.".to_owned()) } else { Ok(()) }
}

fn check_scope(base_url: &str, project: &str) -> Result<(), String> {
    let base_url = base_url.trim().trim_end_matches('/').to_owned();
    Route::for_scope(&Scope { base_url, project: project.to_owned(), organization: None }).map(drop)
}

/// Checks the command that prints the API key, without running it. `words` are the program and its arguments.
///
/// # Errors
/// Fails if `words` names no program, or if the program looks like an API key. The error is a sentence for the user.
pub fn check_key_command(words: &[String]) -> Result<(), String> {
    match words.first() {
        Some(program) if !program.trim().is_empty() && !looks_like_key(program) => Ok(()),
        Some(program) if looks_like_key(program) => Err(KEY_INSTEAD_OF_SOURCE.to_owned()),
        _ => Err("Enter the command that prints the key, for example: pass show docdeck".to_owned()),
    }
}

const KEY_INSTEAD_OF_SOURCE: &str = "This looks like the key itself. To store it in config.toml, choose “typed here”.";

/// Checks a file that contains the API key. A relative path is resolved from the folder of the configuration file
/// `config`.
///
/// # Errors
/// Fails if the file can't be read, if other users can read it, or if it contains no API key. The error is a sentence
/// for the user.
pub fn check_key_file(config: &Path, file: &Path) -> Result<(), String> {
    let path = resolve_path(config, file);
    if looks_like_key(&file.to_string_lossy()) && !path.exists() {
        return Err(KEY_INSTEAD_OF_SOURCE.to_owned());
    }
    key::read_key_file(&path).map(drop).map_err(|error| error.to_string())
}

/// Checks a certificate file. A relative path is resolved from the folder of the configuration file `config`.
///
/// # Errors
/// Fails if the file can't be read or contains no certificates. The error is a sentence for the user.
pub fn check_certificates(config: &Path, file: &Path) -> Result<(), String> {
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
    fn an_invalid_field_is_rejected_before_the_profile_is_written() {
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
        assert_eq!(field(&new(url, KeySourceInput::File("key".into()))), Some(SetupField::Key), "no such key file");
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
    fn an_api_key_entered_as_the_organization_or_name_is_rejected() {
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
    fn an_api_key_in_the_wrong_field_is_not_repeated_in_the_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let config = folder.path().join("config.toml");
        let key = "mint_secret".to_owned();
        let sentences = [
            check_project(&key),
            check_base_url(&key),
            check_key_command(std::slice::from_ref(&key)),
            check_key_file(&config, Path::new(&key)),
        ];
        for sentence in sentences {
            assert!(!sentence.expect_err("refused").contains("secret"));
        }
    }
}
