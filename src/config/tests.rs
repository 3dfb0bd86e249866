//! Precedence of settings, and invalid configurations.

use super::*;
use crate::model::endpoint::ApiKey;
use crate::model::setup::DEFAULT_BASE_URL;

fn found(text: &str, readable_by_others: bool) -> LoadedFile {
    LoadedFile { file: file::parse(text).expect("a good file"), readable_by_others }
}

fn environment(pairs: &[(&str, &str)]) -> Environment {
    Environment::from_lookup(|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned()))
}

fn joined(flags: &Flags, environment: &Environment, text: &str) -> Result<SetupState, ConfigError> {
    let flags = Flags { data_dir: Some("/data".into()), ..flags.clone() };
    join(&flags, environment, Path::new("/etc/docdeck/config.toml"), &found(text, false))
}

fn ready(flags: &Flags, environment: &Environment, text: &str) -> Settings {
    match joined(flags, environment, text) {
        Ok(SetupState::Ready(settings)) => *settings,
        other => panic!("not ready: {other:?}"),
    }
}

const FILE: &str = "default_profile = \"a\"\n\
    [profiles.a]\nbase_url = \"https://file.example/\"\nproject_id = \"file\"\norganization = \"org\"\napi_key = \"mint_file\"\n\
    [profiles.b]\nproject_id = \"other\"\napi_key = \"mint_other\"\n";

fn given(key: &KeySource) -> &ApiKey {
    match key {
        KeySource::Given(key) => key,
        other => panic!("no key: {other:?}"),
    }
}

#[test]
fn the_file_alone_is_enough() {
    let settings = ready(&Flags::default(), &environment(&[]), FILE);
    assert_eq!(settings.scope.base_url, "https://file.example");
    assert_eq!(settings.scope.project, "file");
    assert_eq!(settings.scope.organization.as_deref(), Some("org"));
    assert_eq!(given(&settings.key).expose(), "mint_file");
    assert_eq!(settings.profile.as_str(), "a");
}

#[test]
fn the_environment_beats_the_file_and_a_flag_beats_both() {
    let variables = environment(&[
        ("DOCDECK_BASE_URL", "http://127.0.0.1:1"),
        ("DOCDECK_PROJECT_ID", "variable"),
        ("DOCDECK_API_KEY", "mint_variable"),
        ("DOCDECK_DATA_DIR", "/elsewhere"),
    ]);
    let settings = ready(&Flags::default(), &variables, FILE);
    assert_eq!(settings.scope.base_url, "http://127.0.0.1:1");
    assert_eq!(settings.scope.project, "variable");
    assert_eq!(given(&settings.key).expose(), "mint_variable");
    let flags = Flags { base_url: Some("https://flag".into()), project: Some("flag".into()), ..Flags::default() };
    let settings = ready(&flags, &variables, FILE);
    assert_eq!((settings.scope.base_url.as_str(), settings.scope.project.as_str()), ("https://flag", "flag"));
    assert_eq!(settings.data_folder, Path::new("/data"));
}

#[test]
fn the_environment_alone_is_enough() {
    let variables = environment(&[("DOCDECK_PROJECT_ID", "p"), ("DOCDECK_API_KEY", "mint_v")]);
    let settings = ready(&Flags::default(), &variables, "");
    assert_eq!(settings.scope.base_url, DEFAULT_BASE_URL);
    assert_eq!(settings.profile.as_str(), "default");
}

#[test]
fn another_profile_is_chosen_by_flag_or_environment() {
    let flags = Flags { profile: Some("b".into()), ..Flags::default() };
    assert_eq!(ready(&flags, &environment(&[]), FILE).scope.project, "other");
    assert_eq!(ready(&Flags::default(), &environment(&[("DOCDECK_PROFILE", "b")]), FILE).scope.project, "other");
}

#[test]
fn a_single_profile_is_selected_by_default() {
    let settings =
        ready(&Flags::default(), &environment(&[("DOCDECK_API_KEY", "mint_v")]), "[profiles.x]\nproject_id = \"p\"\n");
    assert_eq!(settings.profile.as_str(), "x");
}

#[test]
fn several_profiles_without_a_selection_are_an_error() {
    let none = environment(&[]);
    let text = "[profiles.bb]\nproject_id = \"b\"\n[profiles.aa]\nproject_id = \"a\"\n";
    let error = joined(&Flags::default(), &none, text).expect_err("two");
    assert!(error.to_string().contains(": aa, bb. Choose one with --profile, or set default_profile."), "{error}");
    assert!(joined(&Flags::default(), &none, &text.replace("bb]", "default]")).is_ok(), "one is called default");
    let all = environment(&[("DOCDECK_API_KEY", "mint_x"), ("DOCDECK_PROJECT_ID", "p")]);
    assert_eq!(ready(&Flags::default(), &all, text).scope.project, "p", "no profile is needed");
}

#[test]
fn an_unknown_profile_is_an_error_that_lists_the_others() {
    let flags = Flags { profile: Some("c".into()), ..Flags::default() };
    let error = joined(&flags, &environment(&[]), FILE).expect_err("no such profile").to_string();
    assert!(error.contains("profile c") && error.contains("a, b"), "{error}");
}

#[test]
fn missing_settings_are_listed() {
    match joined(&Flags::default(), &environment(&[]), "") {
        Ok(SetupState::Missing(missing)) => assert!(missing.key && missing.project),
        other => panic!("{other:?}"),
    }
    match joined(&Flags::default(), &environment(&[("DOCDECK_API_KEY", "mint_v")]), "") {
        Ok(SetupState::Missing(missing)) => assert!(!missing.key && missing.project),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_key_in_a_file_that_others_can_read_is_rejected() {
    let result = join(&Flags::default(), &environment(&[]), Path::new("/c.toml"), &found(FILE, true));
    assert!(matches!(result, Err(ConfigError::KeyReadableByOthers { .. })), "{result:?}");
}

#[test]
fn two_sources_of_the_key_are_rejected() {
    let text = "[profiles.a]\nproject_id = \"p\"\napi_key = \"mint_a\"\napi_key_file = \"key\"\n";
    let error = joined(&Flags::default(), &environment(&[]), text).expect_err("two").to_string();
    assert!(error.starts_with("/etc/docdeck/config.toml:4:16: the profile a names more than one source"), "{error}");
}

#[test]
fn a_key_file_is_relative_to_the_configuration() {
    let text = "[profiles.a]\nproject_id = \"p\"\napi_key_file = \"key\"\n";
    let settings = ready(&Flags::default(), &environment(&[]), text);
    assert!(matches!(settings.key, KeySource::File(path) if path == Path::new("/etc/docdeck/key")));
}

#[test]
fn no_color_beats_the_file_and_a_flag_beats_no_color() {
    let variables = environment(&[("NO_COLOR", "1")]);
    let ui = file::Ui { color: Some(ColorChoice::Always), ..file::Ui::default() };
    assert_eq!(display_settings(&Flags::default(), &variables, &ui, Path::new("")).color, ColorChoice::Never);
    let flags = Flags { color: Some(ColorChoice::Always), ..Flags::default() };
    assert_eq!(display_settings(&flags, &variables, &file::Ui::default(), Path::new("")).color, ColorChoice::Always);
}

#[test]
fn a_poll_rate_out_of_range_is_an_error() {
    for (rate, at) in [("0", "2:14"), ("601", "2:14")] {
        let mistake = file::parse(&format!("[poll]\nper_minute = {rate}\n")).expect_err("out of range");
        assert_eq!(format!("{}:{}", mistake.line, mistake.column), at);
        assert_eq!(mistake.what.as_str(), format!("per_minute is {rate}, but must be between 1 and 600"));
    }
}

#[test]
fn a_missing_theme_is_an_error_only_when_it_is_read() {
    let variables = environment(&[("DOCDECK_PROJECT_ID", "p"), ("DOCDECK_API_KEY", "mint_v")]);
    let look = ready(&Flags::default(), &variables, "[ui]\ntheme = \"nope\"\n").display;
    let message = look.theme.read().expect_err("none").to_string();
    assert!(
        message.starts_with("/etc/docdeck/config.toml:2:9: there is no theme nope; valid: auto, dark, "),
        "{message}"
    );
}

#[test]
fn a_configuration_file_that_was_named_must_exist() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = Flags { config: Some(folder.path().join("none.toml")), ..Flags::default() };
    assert!(matches!(resolve(&flags, &environment(&[])), Err(ConfigError::NotFound { .. })));
}

#[test]
fn a_locale_without_utf_8_means_ascii_unless_overridden() {
    let ascii = |flag: bool, locale: &str, ui: Option<bool>| {
        let (flags, ui) = (Flags { ascii: flag, ..Flags::default() }, file::Ui { ascii: ui, ..file::Ui::default() });
        display_settings(&flags, &environment(&[("LANG", locale)]), &ui, Path::new("")).ascii
    };
    #[cfg(not(windows))]
    assert!(ascii(false, "C", None));
    assert!(!ascii(false, "C.UTF-8", None));
    assert!(!ascii(false, "C", Some(false)), "the file forces Unicode");
    assert!(ascii(false, "C.UTF-8", Some(true)));
    assert!(ascii(true, "C.UTF-8", Some(false)), "a flag outranks the file");
}

#[test]
fn a_key_as_project_id_is_refused_and_not_repeated() {
    let key = "mint_0a1b2c3d4e5f6071";
    let from_file = joined(&Flags::default(), &environment(&[]), &FILE.replace("\"file\"", &format!("\"{key}\"")));
    let from_variable = joined(&Flags::default(), &environment(&[("DOCDECK_PROJECT_ID", key)]), FILE);
    for refused in [from_file, from_variable] {
        let mistake = refused.expect_err("refused").to_string();
        assert!(mistake.contains("looks like an API key") && !mistake.contains(key), "{mistake}");
    }
    let flags = Flags { project: Some("peppermint_docs".into()), ..Flags::default() };
    assert_eq!(ready(&flags, &environment(&[]), FILE).scope.project, "peppermint_docs");
}
