//! Validates a new profile before it is written to the configuration file. Uses the same code that reads the profile
//! when docdeck starts, so a profile that passes can be loaded.

use super::error::ConfigError;
use super::key::{self, resolve_path};
use super::write;
use crate::api::{ExtraRoots, Route};
use crate::model::endpoint::Scope;
use crate::model::setup::{
    DEFAULT_BASE_URL, KeySourceInput, NewProfile, SetupField, SetupProblem, contains_key_prefix,
};
use std::path::Path;

/// Validates a new profile for the configuration file at `config`. Reads the configuration file, the API key file and
/// the certificates. Runs no program and sends no request.
///
/// # Errors
/// Returns the first invalid field with the reason, or a reason without a field if the configuration file is invalid.
pub fn check_profile(config: &Path, profile: &NewProfile) -> Result<(), SetupProblem> {
    use SetupField::{BaseUrl, CaFile, Key, Name, Organization, Project};
    for field in [Project, BaseUrl, Key, Organization, Name, CaFile] {
        check_field(config, profile, field)?;
    }
    write::required_permission(config, &profile.name)
        .map(drop)
        .map_err(|error| SetupProblem::new(None, &error.to_string()))
}

/// Validates a single field of a new profile.
///
/// # Errors
/// Returns the reason if the value is invalid. The reason never contains an API key.
pub fn check_field(config: &Path, profile: &NewProfile, field: SetupField) -> Result<(), SetupProblem> {
    let checked = match field {
        SetupField::Project if contains_key_prefix(&profile.project) => {
            Err("This looks like an API key, not a project id.".to_owned())
        }
        SetupField::Project => check_scope(DEFAULT_BASE_URL, &profile.project),
        // The check also rejects a base URL with which the API key would be sent unencrypted to another computer.
        SetupField::BaseUrl => check_scope(profile.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL), "x"),
        SetupField::Organization => check_is_not_key(profile.organization.as_deref().unwrap_or_default()),
        SetupField::Name => check_is_not_key(&profile.name),
        SetupField::CaFile => profile.ca_file.as_deref().map_or(Ok(()), |file| check_certificates(config, file)),
        SetupField::Source => Ok(()),
        SetupField::Key | SetupField::Command | SetupField::File => match &profile.key {
            KeySourceInput::File(file) => check_key_file(config, file),
            KeySourceInput::Command(words) => check_key_command(words),
            KeySourceInput::SetElsewhere | KeySourceInput::Typed(_) => Ok(()),
        },
    };
    checked.map_err(|sentence| SetupProblem::new(Some(field), &sentence))
}

/// Rejects an API key in a value that docdeck shows on the screen, such as a profile's name.
fn check_is_not_key(text: &str) -> Result<(), String> {
    if contains_key_prefix(text) { Err("This looks like an API key.".to_owned()) } else { Ok(()) }
}

fn check_scope(base_url: &str, project: &str) -> Result<(), String> {
    let base_url = base_url.trim().trim_end_matches('/').to_owned();
    Route::for_scope(&Scope { base_url, project: project.to_owned(), organization: None }).map(drop)
}

/// The error message if the text that was entered as a command or file is probably the API key itself.
pub const KEY_ENTERED_AS_SOURCE_MESSAGE: &str =
    "This looks like the key itself. To store it in config.toml, choose “typed here”.";

/// Rejects a command that is probably the API key itself. Doesn't run the command. `words` are the program and its
/// arguments.
fn check_key_command(words: &[String]) -> Result<(), String> {
    let is_key = words.first().is_some_and(|program| contains_key_prefix(program));
    if is_key { Err(KEY_ENTERED_AS_SOURCE_MESSAGE.to_owned()) } else { Ok(()) }
}

/// Checks a file that contains the API key. A relative path is resolved from the folder of the configuration file
/// `config`.
fn check_key_file(config: &Path, file: &Path) -> Result<(), String> {
    let path = resolve_path(config, file);
    if contains_key_prefix(&file.to_string_lossy()) && !path.exists() {
        return Err(KEY_ENTERED_AS_SOURCE_MESSAGE.to_owned());
    }
    key::read_key_file(&path).map(drop).map_err(|error| error.to_string())
}

/// Checks a certificate file. A relative path is resolved from the folder of the configuration file `config`.
fn check_certificates(config: &Path, file: &Path) -> Result<(), String> {
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
        let url = "http://127.0.0.1:1";
        let profiles = [
            NewProfile { project: key.clone(), ..new(url, typed()) },
            new(&key, typed()),
            new(url, KeySourceInput::Command(vec![key.clone()])),
            new(url, KeySourceInput::File(key.into())),
        ];
        for profile in profiles {
            let problem = super::check_profile(&config, &profile).expect_err("refused");
            assert!(!problem.sentence.as_str().contains("secret"));
        }
    }
}
