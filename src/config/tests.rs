//! Tests which settings override others, and how invalid configurations are reported.

use super::*;
use crate::model::endpoint::ApiKey;
use crate::model::setup::DEFAULT_BASE_URL;

fn loaded_file(text: &str, is_readable_by_others: bool) -> LoadedFile {
    LoadedFile { file: file::parse(text).expect("a good file"), is_readable_by_others }
}

fn environment(pairs: &[(&str, &str)]) -> Environment {
    Environment::from_lookup(|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned()))
}

fn merge_text(
    global_options: &GlobalOptions,
    environment: &Environment,
    text: &str,
) -> Result<SetupState, ConfigError> {
    let global_options = GlobalOptions { data_dir: Some("/data".into()), ..global_options.clone() };
    merge_settings(&global_options, environment, Path::new("/etc/docdeck/config.toml"), &loaded_file(text, false))
}

fn expect_settings(global_options: &GlobalOptions, environment: &Environment, text: &str) -> Settings {
    match merge_text(global_options, environment, text) {
        Ok(SetupState::Ready(settings)) => *settings,
        other => panic!("not ready: {other:?}"),
    }
}

const TWO_PROFILES: &str = "default_profile = \"a\"\n\
    [profiles.a]\nbase_url = \"https://file.example/\"\nproject_id = \"file\"\norganization = \"org\"\napi_key = \"mint_file\"\n\
    [profiles.b]\nproject_id = \"other\"\napi_key = \"mint_other\"\n";

fn expect_literal_key(key: &KeySource) -> &ApiKey {
    match key {
        KeySource::Literal(key) => key,
        other => panic!("no key: {other:?}"),
    }
}

#[test]
fn a_complete_file_needs_no_environment_variables_or_flags() {
    let settings = expect_settings(&GlobalOptions::default(), &environment(&[]), TWO_PROFILES);
    assert_eq!(settings.scope.base_url, "https://file.example");
    assert_eq!(settings.scope.project, "file");
    assert_eq!(settings.scope.organization.as_deref(), Some("org"));
    assert_eq!(expect_literal_key(&settings.key).expose(), "mint_file");
    assert_eq!(settings.profile.as_str(), "a");
}

#[test]
fn the_environment_overrides_the_file_and_a_flag_overrides_both() {
    let variables = environment(&[
        ("DOCDECK_BASE_URL", "http://127.0.0.1:1"),
        ("DOCDECK_PROJECT_ID", "variable"),
        ("DOCDECK_API_KEY", "mint_variable"),
        ("DOCDECK_DATA_DIR", "/elsewhere"),
    ]);
    let settings = expect_settings(&GlobalOptions::default(), &variables, TWO_PROFILES);
    assert_eq!(settings.scope.base_url, "http://127.0.0.1:1");
    assert_eq!(settings.scope.project, "variable");
    assert_eq!(expect_literal_key(&settings.key).expose(), "mint_variable");
    let global_options = GlobalOptions {
        base_url: Some("https://flag".into()),
        project: Some("flag".into()),
        ..GlobalOptions::default()
    };
    let settings = expect_settings(&global_options, &variables, TWO_PROFILES);
    assert_eq!((settings.scope.base_url.as_str(), settings.scope.project.as_str()), ("https://flag", "flag"));
    assert_eq!(settings.data_folder, Path::new("/data"));
}

#[test]
fn a_complete_environment_needs_no_file() {
    let variables = environment(&[("DOCDECK_PROJECT_ID", "p"), ("DOCDECK_API_KEY", "mint_v")]);
    let settings = expect_settings(&GlobalOptions::default(), &variables, "");
    assert_eq!(settings.scope.base_url, DEFAULT_BASE_URL);
    assert_eq!(settings.profile.as_str(), "default");
}

#[test]
fn a_flag_or_environment_variable_selects_a_profile() {
    let global_options = GlobalOptions { profile: Some("b".into()), ..GlobalOptions::default() };
    assert_eq!(expect_settings(&global_options, &environment(&[]), TWO_PROFILES).scope.project, "other");
    assert_eq!(
        expect_settings(&GlobalOptions::default(), &environment(&[("DOCDECK_PROFILE", "b")]), TWO_PROFILES)
            .scope
            .project,
        "other"
    );
}

#[test]
fn the_only_profile_is_selected_by_default() {
    let settings = expect_settings(
        &GlobalOptions::default(),
        &environment(&[("DOCDECK_API_KEY", "mint_v")]),
        "[profiles.x]\nproject_id = \"p\"\n",
    );
    assert_eq!(settings.profile.as_str(), "x");
}

#[test]
fn several_profiles_without_a_selection_are_an_error() {
    let none = environment(&[]);
    let text = "[profiles.bb]\nproject_id = \"b\"\n[profiles.aa]\nproject_id = \"a\"\n";
    let error = merge_text(&GlobalOptions::default(), &none, text).expect_err("two");
    assert!(error.to_string().contains(": aa, bb. Choose one with --profile, or set default_profile."), "{error}");
    assert!(
        merge_text(&GlobalOptions::default(), &none, &text.replace("bb]", "default]")).is_ok(),
        "one is called default"
    );
    let complete = environment(&[("DOCDECK_API_KEY", "mint_x"), ("DOCDECK_PROJECT_ID", "p")]);
    assert_eq!(expect_settings(&GlobalOptions::default(), &complete, text).scope.project, "p", "no profile is needed");
}

#[test]
fn the_error_for_an_unknown_profile_lists_the_existing_profiles() {
    let global_options = GlobalOptions { profile: Some("c".into()), ..GlobalOptions::default() };
    let error = merge_text(&global_options, &environment(&[]), TWO_PROFILES).expect_err("no such profile").to_string();
    assert!(error.contains("profile c") && error.contains("a, b"), "{error}");
}

#[test]
fn a_missing_api_key_and_a_missing_project_are_reported() {
    match merge_text(&GlobalOptions::default(), &environment(&[]), "") {
        Ok(SetupState::Missing(missing)) => assert!(missing.needs_key && missing.needs_project),
        other => panic!("{other:?}"),
    }
    match merge_text(&GlobalOptions::default(), &environment(&[("DOCDECK_API_KEY", "mint_v")]), "") {
        Ok(SetupState::Missing(missing)) => assert!(!missing.needs_key && missing.needs_project),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_api_key_in_a_configuration_file_that_other_users_can_read_is_rejected() {
    let result = merge_settings(
        &GlobalOptions::default(),
        &environment(&[]),
        Path::new("/c.toml"),
        &loaded_file(TWO_PROFILES, true),
    );
    assert!(matches!(result, Err(ConfigError::KeyReadableByOthers { .. })), "{result:?}");
}

#[test]
fn two_sources_of_the_api_key_are_rejected() {
    let text = "[profiles.a]\nproject_id = \"p\"\napi_key = \"mint_a\"\napi_key_file = \"key\"\n";
    let error = merge_text(&GlobalOptions::default(), &environment(&[]), text).expect_err("two").to_string();
    assert!(error.starts_with("/etc/docdeck/config.toml:4:16: the profile a names more than one source"), "{error}");
}

#[test]
fn the_path_of_an_api_key_file_is_relative_to_the_configuration_file() {
    let text = "[profiles.a]\nproject_id = \"p\"\napi_key_file = \"key\"\n";
    let settings = expect_settings(&GlobalOptions::default(), &environment(&[]), text);
    assert!(matches!(settings.key, KeySource::File(path) if path == Path::new("/etc/docdeck/key")));
}

#[test]
fn no_color_overrides_the_file_and_a_flag_overrides_no_color() {
    let variables = environment(&[("NO_COLOR", "1")]);
    let ui = file::UiConfig { color: Some(ColorChoice::Always), ..file::UiConfig::default() };
    assert_eq!(display_settings(&GlobalOptions::default(), &variables, &ui, Path::new("")).color, ColorChoice::Never);
    let global_options = GlobalOptions { color: Some(ColorChoice::Always), ..GlobalOptions::default() };
    assert_eq!(
        display_settings(&global_options, &variables, &file::UiConfig::default(), Path::new("")).color,
        ColorChoice::Always
    );
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
fn an_unknown_theme_is_an_error_only_when_the_theme_is_read() {
    let variables = environment(&[("DOCDECK_PROJECT_ID", "p"), ("DOCDECK_API_KEY", "mint_v")]);
    let display = expect_settings(&GlobalOptions::default(), &variables, "[ui]\ntheme = \"nope\"\n").display;
    let message = display.theme.read().expect_err("none").to_string();
    assert!(
        message.starts_with("/etc/docdeck/config.toml:2:9: there is no theme nope; valid: auto, dark, "),
        "{message}"
    );
}

#[test]
fn a_configuration_file_named_by_a_flag_must_exist() {
    let folder = tempfile::tempdir().expect("a folder");
    let global_options = GlobalOptions { config: Some(folder.path().join("none.toml")), ..GlobalOptions::default() };
    assert!(matches!(resolve(&global_options, &environment(&[])), Err(ConfigError::NotFound { .. })));
}

#[test]
fn ascii_is_used_without_a_utf8_locale_unless_the_file_or_a_flag_overrides_it() {
    let ascii = |flag: bool, locale: &str, ui: Option<bool>| {
        let (global_options, ui) = (
            GlobalOptions { ascii: flag, ..GlobalOptions::default() },
            file::UiConfig { ascii: ui, ..file::UiConfig::default() },
        );
        display_settings(&global_options, &environment(&[("LANG", locale)]), &ui, Path::new("")).ascii
    };
    #[cfg(not(windows))]
    assert!(ascii(false, "C", None));
    assert!(!ascii(false, "C.UTF-8", None));
    assert!(!ascii(false, "C", Some(false)), "the file forces Unicode");
    assert!(ascii(false, "C.UTF-8", Some(true)));
    assert!(ascii(true, "C.UTF-8", Some(false)), "a flag outranks the file");
}

#[test]
fn an_api_key_as_project_id_is_rejected_and_not_repeated_in_the_error() {
    let key = "mint_0a1b2c3d4e5f6071";
    let from_file = merge_text(
        &GlobalOptions::default(),
        &environment(&[]),
        &TWO_PROFILES.replace("\"file\"", &format!("\"{key}\"")),
    );
    let from_variable =
        merge_text(&GlobalOptions::default(), &environment(&[("DOCDECK_PROJECT_ID", key)]), TWO_PROFILES);
    for refused in [from_file, from_variable] {
        let mistake = refused.expect_err("refused").to_string();
        assert!(mistake.contains("looks like an API key") && !mistake.contains(key), "{mistake}");
    }
    let global_options = GlobalOptions { project: Some("peppermint_docs".into()), ..GlobalOptions::default() };
    assert_eq!(expect_settings(&global_options, &environment(&[]), TWO_PROFILES).scope.project, "peppermint_docs");
}
