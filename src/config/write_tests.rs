//! Tests the contents and permissions of written files, and that a change preserves all other text of a file.

use super::*;
use crate::config::environment::Environment;
use crate::config::key::KeySource;
use crate::config::{GlobalOptions, Settings, SetupState, resolve};
use crate::model::analytics::ReaderTextRetention;
use crate::model::analytics::needs_work::ProblemSignal;
use crate::model::endpoint::ApiKey;

fn profile(name: &str, key: KeySourceInput) -> NewProfile {
    NewProfile {
        name: name.to_owned(),
        base_url: None,
        project: "my-docs".to_owned(),
        organization: None,
        ca_file: None,
        key,
    }
}

fn typed_key(key: &str) -> KeySourceInput {
    KeySourceInput::Typed(ApiKey::new(key).expect("a key"))
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn settings(path: &Path, name: Option<&str>) -> Settings {
    let global_options = GlobalOptions {
        config: Some(path.to_owned()),
        data_dir: Some("/data".into()),
        profile: name.map(str::to_owned),
        ..GlobalOptions::default()
    };
    match resolve(&global_options, &Environment::default()) {
        Ok(SetupState::Ready(settings)) => *settings,
        other => panic!("not ready: {other:?}"),
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("there")
}

/// Uncomments the example settings (`#name = …`). Explanations (`# …`) stay commented out.
fn uncomment_examples(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix('#') {
        Some(example) if !example.starts_with(' ') => example.to_owned() + "\n",
        _ => line.to_owned() + "\n",
    };
    text.lines().map(line).collect()
}

#[test]
fn reading_a_new_file_returns_the_settings_that_were_written() {
    let folder = folder();
    let path = folder.path().join("config.toml");
    let new = NewProfile {
        base_url: Some("http://127.0.0.1:1".to_owned()),
        organization: Some("acme \"inc\"".to_owned()),
        ca_file: Some("/etc/corp \"ca\".pem".into()),
        ..profile("my docs", KeySourceInput::Command(vec!["pass".to_owned(), "show \"it\"\\".to_owned()]))
    };
    write_profile(&path, &new, ConfigWritePermission::Nothing).expect("written");
    let read = settings(&path, None);
    assert_eq!(read.scope, new.scope());
    assert_eq!(read.profile.as_str(), "my docs");
    assert_eq!(read.ca_file, new.ca_file);
    assert!(matches!(read.key, KeySource::Command(words) if words == ["pass", "show \"it\"\\"]));
}

#[test]
fn every_source_of_the_api_key_is_read_back() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    write_profile(&at("file"), &profile("a", KeySourceInput::File("/etc/key".into())), ConfigWritePermission::Nothing)
        .expect("written");
    assert!(matches!(settings(&at("file"), None).key, KeySource::File(path) if path == Path::new("/etc/key")));
    write_profile(&at("typed"), &profile("a", typed_key(r#"mint_"a\b"#)), ConfigWritePermission::Nothing)
        .expect("written");
    assert!(matches!(settings(&at("typed"), None).key, KeySource::Literal(key) if key.expose() == r#"mint_"a\b"#));
    write_profile(&at("none"), &profile("a", KeySourceInput::SetElsewhere), ConfigWritePermission::Nothing)
        .expect("written");
    let global_options = GlobalOptions { config: Some(at("none")), ..GlobalOptions::default() };
    assert!(
        matches!(resolve(&global_options, &Environment::default()), Ok(SetupState::Missing(missing)) if missing.needs_key)
    );
}

#[test]
fn the_examples_in_a_new_file_are_valid_section_by_section_and_all_together() {
    for key in [
        KeySourceInput::SetElsewhere,
        typed_key("mint_k"),
        KeySourceInput::File("key".into()),
        KeySourceInput::Command(vec!["k".into()]),
    ] {
        let text = new_file_text(Path::new("config.toml"), &profile("docs", key)).expect("a text");
        file::parse(&text).expect("the file");
        file::parse(&uncomment_examples(&text)).expect("the file with all of its examples");
    }
    for section in COMMENTED_EXAMPLES.split("\n\n") {
        file::parse(&uncomment_examples(section)).expect(section);
    }
    let rest = file::parse(&uncomment_examples(COMMENTED_EXAMPLES)).expect("all of it");
    let customization = rest.customization();
    assert_eq!((customization.filters.len(), customization.commands.len(), customization.keys.len()), (1, 1, 2));
    assert!(rest.ui.theme.is_some() && rest.poll.per_minute.is_some());
    assert_eq!((rest.privacy.reader_text_days(), rest.analytics.record_days), (ReaderTextRetention(7), Some(true)));
    assert_eq!(rest.analytics.weights().get(ProblemSignal::UnclickedSearches), 0.5);
}

#[test]
fn a_new_file_contains_every_setting_or_an_example_of_it() {
    let text = new_file_text(Path::new("config.toml"), &profile("docs", KeySourceInput::SetElsewhere)).expect("a text");
    for table in ["", "[profiles.a]\n", "[poll]\n", "[ui]\n", "[notify]\n"] {
        let mistake = file::parse(&format!("{table}no-such = 1\n")).expect_err("no setting");
        let names = mistake.what.as_str().split('`').skip(3).step_by(2);
        // A new file contains `api_key` only if the user typed the API key.
        for name in names.filter(|name| *name != "api_key") {
            let shown = [format!("\n{name} = "), format!("\n#{name} = "), format!("[{name}"), format!("[[{name}")];
            assert!(shown.iter().any(|shown| text.contains(shown)), "{name}: {}", *text);
        }
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_a_written_file() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    let folder = folder();
    let path = folder.path().join("new/deep/config.toml");
    write_profile(&path, &profile("a", typed_key("mint_k")), ConfigWritePermission::Nothing).expect("written");
    assert_eq!((mode(&path), mode(path.parent().expect("a folder"))), (0o600, 0o700));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("mode");
    write_profile(&path, &profile("b", typed_key("mint_l")), ConfigWritePermission::Add).expect("written");
    assert_eq!(mode(&path), 0o600, "the file now contains an API key");
    assert_eq!(
        fs::read_dir(path.parent().expect("a folder")).expect("a folder").count(),
        1,
        "no temporary file is left"
    );
}

const EXISTING_FILE: &str = "# mine\ndefault_profile = \"a\" # the first\n\n[profiles.a]   # one\nproject_id = \"p\"  # its id\n\
    api_key_file = \"k\"\n\n# colours\n[ui]\nascii = true\n";

#[test]
fn adding_a_profile_preserves_all_other_text() {
    let folder = folder();
    let path = folder.path().join("config.toml");
    fs::write(&path, EXISTING_FILE).expect("written");
    let new = profile("b", typed_key("mint_k"));
    let refused = write_profile(&path, &new, ConfigWritePermission::Nothing).expect_err("not asked");
    assert_eq!(refused, WriteError::AlreadyExists { path: path.clone(), needs: ConfigWritePermission::Add });
    assert_eq!(read(&path), EXISTING_FILE);
    write_profile(&path, &new, ConfigWritePermission::Add).expect("written");
    let text = read(&path);
    for line in EXISTING_FILE.lines().filter(|line| !line.is_empty()) {
        assert!(text.lines().any(|other| other == line), "{line} in {text}");
    }
    assert_eq!(settings(&path, Some("b")).scope.project, "my-docs");
    assert_eq!(settings(&path, None).scope.project, "p");
}

#[test]
fn an_existing_profile_is_changed_only_with_permission() {
    let folder = folder();
    let path = folder.path().join("config.toml");
    fs::write(&path, EXISTING_FILE).expect("written");
    let refused =
        write_profile(&path, &profile("a", typed_key("mint_k")), ConfigWritePermission::Add).expect_err("not asked");
    assert_eq!(refused, WriteError::AlreadyExists { path: path.clone(), needs: ConfigWritePermission::Change });
    assert_eq!(read(&path), EXISTING_FILE);
    write_profile(&path, &profile("a", typed_key("mint_k")), ConfigWritePermission::Change).expect("written");
    let text = read(&path);
    assert!(text.contains("project_id = \"my-docs\"  # its id\n") && text.contains("# colours\n[ui]\n"), "{text}");
    assert!(!text.contains("api_key_file"), "one source at a time: {text}");
    assert!(matches!(settings(&path, None).key, KeySource::Literal(key) if key.expose() == "mint_k"));
}

#[test]
fn the_api_key_source_in_the_file_is_preserved_if_the_user_enters_none() {
    let folder = folder();
    let path = folder.path().join("config.toml");
    fs::write(&path, EXISTING_FILE).expect("written");
    write_profile(&path, &profile("a", KeySourceInput::SetElsewhere), ConfigWritePermission::Change).expect("written");
    assert!(read(&path).contains("api_key_file = \"k\""));
}

#[test]
fn a_profile_can_be_added_to_an_inline_dotted_or_missing_table() {
    let folder = folder();
    for (n, mine) in ["profiles = { a = { project_id = \"p\" } }\n", "[profiles]\na.project_id = \"p\"\n", "[ui]\n", ""]
        .into_iter()
        .enumerate()
    {
        let path = folder.path().join(format!("{n}.toml"));
        fs::write(&path, mine).expect("written");
        write_profile(&path, &profile("b", typed_key("mint_k")), ConfigWritePermission::Add).expect(mine);
        assert_eq!(settings(&path, Some("b")).scope.project, "my-docs", "{}", read(&path));
    }
}

#[test]
fn writing_a_profile_does_not_change_an_invalid_file() {
    let folder = folder();
    let path = folder.path().join("config.toml");
    fs::write(&path, "nonsense\n").expect("written");
    let refused =
        write_profile(&path, &profile("a", typed_key("mint_k")), ConfigWritePermission::Change).expect_err("wrong");
    assert!(matches!(refused, WriteError::Config(ConfigError::Invalid { line: 1, .. })), "{refused}");
    assert_eq!(read(&path), "nonsense\n");
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_to_the_file_is_preserved() {
    let folder = folder();
    let (path, real) = (folder.path().join("config.toml"), folder.path().join("real.toml"));
    fs::write(&real, EXISTING_FILE).expect("written");
    std::os::unix::fs::symlink(&real, &path).expect("a link");
    write_profile(&path, &profile("b", typed_key("mint_k")), ConfigWritePermission::Add).expect("written");
    assert!(fs::symlink_metadata(&path).expect("there").is_symlink());
    assert!(read(&real).contains("[profiles.b]"));
}

#[cfg(unix)]
#[test]
fn the_error_of_a_failed_write_does_not_contain_the_api_key() {
    let folder = folder();
    fs::write(folder.path().join("file"), "").expect("written");
    let path = folder.path().join("file/config.toml");
    let refused = write_profile(&path, &profile("a", typed_key("mint_k")), ConfigWritePermission::Nothing)
        .expect_err("no folder");
    assert!(!refused.to_string().contains("mint_k"), "{refused}");
}

#[test]
fn saving_a_filter_or_a_theme_preserves_all_other_text() {
    let folder = folder();
    let path = folder.path().join("config.toml");
    let mine = "# mine\ndefault_profile = \"a\"\n\n[profiles.a] # work\nproject_id = \"p\"\n\n[[filters]]\nname = \"old\"\n\
                filter = \"s:failed\" # red\n\n[ui]\nascii = true # really\n# the end\n";
    fs::write(&path, mine).expect("written");
    save_filter(&path, "mine", "s:active \"x\"", false).expect("saved");
    save_theme_setting(&path, "dark").expect("saved");
    let text = read(&path);
    for line in mine.lines() {
        assert!(text.lines().any(|other| other == line), "{line} is gone from {text}");
    }
    let file = file::parse(&text).expect("a good file");
    let filters: Vec<(String, String)> =
        file.customization().filters.iter().map(|f| (f.name.get_ref().clone(), f.filter.get_ref().clone())).collect();
    let pair = |name: &str, filter: &str| (name.to_owned(), filter.to_owned());
    assert_eq!(filters, [pair("old", "s:failed"), pair("mine", "s:active \"x\"")]);
    assert_eq!(file.ui.theme.as_deref(), Some("dark"));
    save_theme_setting(&path, "light").expect("saved");
    let before = read(&path);
    assert!(matches!(save_filter(&path, "old", "x", false), Err(WriteError::FilterExists { .. })));
    assert_eq!(read(&path), before);
    save_filter(&path, "old", "s:done", true).expect("replaced");
    assert_eq!(read(&path), before.replace("\"s:failed\" # red", "\"s:done\" # red"));
}

#[test]
fn the_examples_of_a_profile_stay_below_its_header_when_tables_are_added() {
    let folder = folder();
    let path = folder.path().join("config.toml");
    write_profile(&path, &profile("main", KeySourceInput::SetElsewhere), ConfigWritePermission::Nothing).expect("new");
    save_theme_setting(&path, "nord").expect("saved");
    save_filter(&path, "mine", "s:failed", false).expect("saved");
    let second = profile("second", KeySourceInput::Command(vec!["pass".to_owned()]));
    write_profile(&path, &second, ConfigWritePermission::Add).expect("added");
    let text = read(&path);
    let headers: Vec<&str> = text.lines().filter(|line| line.starts_with('[')).collect();
    assert_eq!(headers, ["[profiles.main]", "[ui]", "[[filters]]", "[profiles.second]"]);
    let uncommented = text.replace("#organization =", "organization =").replace("#api_key_file =", "api_key_file =");
    let file = file::parse(&uncommented).expect("a good file");
    let main = file.profiles.get("main").expect("a profile");
    assert!(main.organization.is_some() && main.api_key_file.is_some(), "{text}");
}

#[test]
fn filters_can_be_added_and_replaced_in_an_inline_array() {
    let folder = folder();
    let path = folder.path().join("config.toml");
    fs::write(&path, "filters = [{ name = \"a\", filter = \"x\" }] # few\nui = { ascii = true }\n").expect("written");
    save_filter(&path, "b", "y", false).expect("saved");
    save_filter(&path, "a", "z", true).expect("replaced");
    save_theme_setting(&path, "dark").expect("saved");
    let file = file::parse(&read(&path)).expect("a good file");
    assert_eq!((file.customization().filters.len(), file.ui.theme.as_deref()), (2, Some("dark")));
    assert_eq!(file.customization().filters[0].filter.get_ref(), "z");
    assert!(read(&path).contains("# few"));
}

#[test]
fn saving_a_filter_or_a_theme_creates_a_missing_file() {
    let folder = folder();
    for name in ["filter", "theme"] {
        let path = folder.path().join(name).join("config.toml");
        match name {
            "filter" => save_filter(&path, "a", "x", false),
            _ => save_theme_setting(&path, "dark"),
        }
        .expect("saved");
        let text = read(&path);
        assert!(text.starts_with("# docdeck's settings") && text.contains("#per_minute"), "{text}");
        file::parse(&text).expect("a good file");
    }
}

#[test]
fn saving_a_filter_or_a_theme_does_not_change_an_invalid_file() {
    let folder = folder();
    let path = folder.path().join("config.toml");
    fs::write(&path, "nonsense\n").expect("written");
    for result in [save_theme_setting(&path, "dark"), save_filter(&path, "a", "x", false)] {
        let error = result.expect_err("the file is invalid").to_string();
        assert!(error.contains("config.toml:1"), "{error}");
    }
    assert_eq!(read(&path), "nonsense\n");
}

#[cfg(unix)]
#[test]
fn saving_a_theme_preserves_the_permissions_of_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = folder.path().join("config.toml");
    fs::write(&path, "").expect("written");
    for mode in [0o644, 0o600] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("mode");
        save_theme_setting(&path, "dark").expect("saved");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, mode);
    }
}
