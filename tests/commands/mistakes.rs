//! Mistakes in the configuration file or in the arguments: docdeck exits with an error message. `docdeck doctor` lists
//! configuration mistakes as problems and continues.

use crate::doctor::HomeFolder;

/// Configuration files with a mistake, and the expected message, in which `{}` stands for the file's path. Each setting
/// has at least one row with an invalid value, and each configuration table has a row with an unknown field.
const MISTAKES: &[(&str, &str)] = &[
    ("nonsense\n", "{}:1:9: "),
    ("[ui\n", "{}:1:4: "),
    ("default_profile = \"a\"\ndefault_profile = \"b\"\n", "{}:2:1: duplicate key"),
    ("defautl_profile = \"a\"\n", "{}:1:1: unknown field `defautl_profile`, expected one of `default_profile`, "),
    ("default_profile = 7\n", "{}:1:19: expected a string in quotes, found a number."),
    ("default_profile = \"b\"\n[profiles.a]\n", "{}:1:19: there is no profile b; profiles: a. Fix the line"),
    ("on_change = \"ntfy\"\n", "{}:1:13: expected an array, found a string."),
    ("on_change = []\n", "{}:1:13: on_change is empty; it must be an array of the program and its arguments."),
    ("profiles = \"a\"\n", "{}:1:12: expected a table, found a string."),
    ("[profiles]\na = 1\n", "{}:2:5: expected a table, found a number."),
    (
        "[profiles.a]\nprojectid = \"p\"\n",
        "{}:2:1: unknown field `projectid`, expected one of `base_url`, `project_id`, ",
    ),
    ("[profiles.a]\nbase_url = true\n", "{}:2:12: expected a string in quotes, found true or false."),
    ("[profiles.a]\nproject_id = 12\n", "{}:2:14: expected a string in quotes, found a number."),
    ("[profiles.a]\norganization = 1.5\n", "{}:2:16: expected a string in quotes, found a number."),
    ("[profiles.a]\nca_file = []\n", "{}:2:11: expected a path in quotes, found an array."),
    ("[profiles.a]\napi_key_command = \"pass show x\"\n", "{}:2:19: expected an array, found a string."),
    (
        "[profiles.a]\napi_key_command = []\n",
        "{}:2:19: the profile a has an empty api_key_command; it must be an array of the program and its arguments.",
    ),
    ("[profiles.a]\napi_key_file = 7\n", "{}:2:16: expected a path in quotes, found a number."),
    ("[profiles.a]\napi_key = 7\n", "{}:2:11: expected a string in quotes, found a number."),
    (
        "[profiles.a]\napi_key = \" \"\n",
        "There is no usable API key in api_key in {}. It must be a single line with only the key, without spaces.",
    ),
    (
        "[profiles.a]\napi_key = \"mint_a\"\napi_key_file = \"key\"\n",
        "{}:3:16: the profile a names more than one source of the API key; keep one of api_key_command, api_key_file, api_key.",
    ),
    ("poll = 60\n", "{}:1:8: expected a table, found a number."),
    ("[poll]\nper_hour = 60\n", "{}:2:1: unknown field `per_hour`, expected `per_minute`."),
    ("[poll]\nper_minute = \"60\"\n", "{}:2:14: expected a whole number above 0, found a string."),
    ("[poll]\nper_minute = -1\n", "{}:2:14: expected a whole number above 0, found a number."),
    ("[poll]\nper_minute = 0\n", "{}:2:14: per_minute is 0, but must be between 1 and 600."),
    ("[analytics]\nrecord_days = 1\n", "{}:2:15: expected true or false, found a number."),
    ("[analytics]\nweights = 1\n", "{}:2:11: expected a table, found a number."),
    ("[analytics]\nweights = { votes = 2 }\n", "{}:2:13: unknown field `votes`, expected one of `views`, `lost_views`"),
    ("team = 1\n", "{}:1:8: expected a table, found a number."),
    ("[team]\nurl = \"postgres://a:b@c/d\"\n", "{}:2:1: unknown field `url`, expected one of `url_command`, "),
    ("[team]\nurl_command = []\n", "{}:2:15: url_command must be an array of the program and its arguments."),
    ("[team]\nurl_command = \"pass\"\n", "{}:2:15: expected an array, found a string."),
    ("[team]\nurl_command = [\"pass\"]\nurl_file = \"url\"\n", "{}:3:12: keep one of url_command and url_file."),
    ("[team]\nurl_file = 1\n", "{}:2:12: expected a path in quotes, found a number."),
    ("[team]\nname = \" \"\n", "{}:2:8: name is blank."),
    ("[team]\nca_file = []\n", "{}:2:11: expected a path in quotes, found an array."),
    ("analytics = 1\n", "{}:1:13: expected a table, found a number."),
    ("privacy = 1\n", "{}:1:11: expected a table, found a number."),
    ("[privacy]\nreader_text_days = -1\n", "{}:2:20: expected a whole number from 0 to 65535, found a number."),
    ("ui = []\n", "{}:1:6: expected a table, found an array."),
    ("[ui]\ncolour = \"auto\"\n", "{}:2:1: unknown field `colour`, expected one of `color`, `ascii`, `links`, "),
    ("[ui]\ncolor = \"sometimes\"\n", "{}:2:9: unknown value `sometimes`, expected one of `auto`, `always`, `never`."),
    ("[ui]\nascii = \"yes\"\n", "{}:2:9: expected true or false, found a string."),
    ("[ui]\nlinks = 1\n", "{}:2:9: expected true or false, found a number."),
    ("[ui]\ntheme = 1\n", "{}:2:9: expected a string in quotes, found a number."),
    ("[ui]\nbackground = \"blue\"\n", "{}:2:14: unknown value `blue`, expected `dark` or `light`."),
    ("[ui]\nmouse = \"off\"\n", "{}:2:9: expected true or false, found a string."),
    ("[ui]\nall_profiles = \"yes\"\n", "{}:2:16: expected true or false, found a string."),
    ("[ui]\nreduced_motion = 0\n", "{}:2:18: expected true or false, found a number."),
    ("[ui]\nclipboard = \"wl-copy\"\n", "{}:2:13: expected an array, found a string."),
    ("[ui]\nclipboard = []\n", "{}:2:13: clipboard is empty; it must be an array of the program and its arguments."),
    ("hosts = 1\n", "{}:1:9: expected a table, found a number."),
    ("[hosts.\"github.com\"]\nrest_url = \"http://example.com\"\n", "{}:2:12: rest_url must start with https://"),
    ("pull_requests = 1\n", "{}:1:17: expected a table, found a number."),
    ("keys = 1\n", "{}:1:8: expected a table, found a number."),
    ("[keys]\njobs = \"n\"\n", "{}:2:8: expected a table, found a string."),
    ("[keys.jobs]\nnew-job = 1\n", "{}:2:11: there should be a key in quotes or an array of keys, like \"n\" or "),
    ("notify = \"bell\"\n", "{}:1:10: expected a table, found a string."),
    ("[notify]\nsound = true\n", "{}:2:1: unknown field `sound`, expected one of `method`, `title`."),
    (
        "[notify]\nmethod = \"loud\"\n",
        "{}:2:10: unknown value `loud`, expected one of `osc9`, `osc777`, `bell`, `off`.",
    ),
    ("[notify]\ntitle = \"no\"\n", "{}:2:9: expected true or false, found a string."),
    ("filters = \"x\"\n", "{}:1:11: expected an array, found a string."),
    ("[[filters]]\ntext = \"a\"\n", "{}:2:1: unknown field `text`, expected `name` or `filter`."),
    ("[[filters]]\nname = \"a\"\n", "{}:1:1: missing field `filter`."),
    ("[[filters]]\nname = 1\nfilter = \"x\"\n", "{}:2:8: expected a string in quotes, found a number."),
    ("[[filters]]\nname = \"\"\nfilter = \"x\"\n", "{}:2:8: the name of a filter is empty."),
    ("[[filters]]\nname = \"a\"\nfilter = \"\"\n", "{}:3:10: the filter a is empty."),
    ("commands = \"x\"\n", "{}:1:12: expected an array, found a string."),
    (
        "[[commands]]\nkey = \"X\"\nname = \"x\"\nrun = [\"a\"]\nshell = true\n",
        "{}:5:1: unknown field `shell`, expected one of `key`, `name`, `run`.",
    ),
    ("[[commands]]\nkey = 1\n", "{}:2:7: expected a string in quotes, found a number."),
    ("[[commands]]\nkey = \"X\"\nname = 1\n", "{}:3:8: expected a string in quotes, found a number."),
    ("[[commands]]\nkey = \"X\"\nname = \"x\"\nrun = \"gh pr\"\n", "{}:4:7: expected an array, found a string."),
    ("[[commands]]\nkey = \"X\"\nname = \"x\"\nrun = []\n", "{}:4:7: the command x has nothing to run"),
    (
        "[[commands]]\nkey = \"X\"\nname = \"x\"\nrun = [\"a\", \"{b}\"]\n",
        "{}:4:13: the command x has the unknown placeholder {b}",
    ),
];

/// Mistakes that only the dashboard reports; other commands ignore them.
const DASHBOARD_ONLY: &[(&str, &str)] = &[
    ("[ui]\ntheme = \"no-such\"\n", "{}:2:9: there is no theme no-such; valid: auto, dark, light, "),
    (
        "[[commands]]\nkey = \"n\"\nname = \"x\"\nrun = [\"a\"]\n",
        "{}:2:7: the key n of the command x is used by docdeck",
    ),
    ("[keys.jobs]\nno-such = \"x\"\n", "{}:2:1: jobs has no action no-such"),
    ("[keys.nowhere]\nclose = \"x\"\n", "{}:1:7: unknown key context nowhere"),
];

/// Mistakes that docdeck finds only when it is about to send a request.
const REQUEST_ONLY: &[(&str, &str)] = &[
    ("[profiles.a]\nbase_url = \"ftp://x\"\n", "{}:2:12: the base URL does not start with https:// or http://"),
    (
        "[profiles.a]\nbase_url = \"http://x.example\"\n",
        "{}:2:12: use https: plain http would send the key unencrypted to x.example",
    ),
    ("[profiles.a]\nbase_url = \"https://u:p@x.example\"\n", "{}:2:12: the base URL contains a user name or password"),
    (
        "[profiles.a]\napi_key_command = [\"docdeck-no-such-program\"]\n",
        "The API key command docdeck-no-such-program could not be started: no such file or directory. Try it in a terminal; docdeck runs it without a shell.",
    ),
    (
        "[profiles.a]\napi_key_command = [\"sh\", \"-c\", \"echo locked >&2; exit 3\"]\n",
        "The API key command sh failed with code 3 and printed: locked.",
    ),
    (
        "[profiles.a]\napi_key_command = [\"true\"]\n",
        "There is no usable API key in the output of true. It must be a single line with only the key, without spaces.",
    ),
    (
        "[profiles.a]\napi_key_file = \"/nonexistent/key\"\n",
        "The API key can't be read from /nonexistent/key: no such file or directory. Write the key to this file",
    ),
    (
        "[profiles.a]\napi_key = \"mint_a\"\nca_file = \"none.pem\"\n",
        "can't be read: no such file or directory. Correct ca_file in the profile",
    ),
    ("[profiles.a]\napi_key = \"mint_a\"\nca_file = \"config.toml\"\n", "has no certificate in PEM form"),
];

/// Runs the program with a configuration file that contains `text`. If `text` has no API key or project id, the
/// environment provides it, so that docdeck reports only the mistake under test. Returns the exit code and the output,
/// in which `{}` replaces the file's path.
fn run(text: &str, words: &[&str]) -> (Option<i32>, String) {
    let home = HomeFolder::new();
    let path = home.write_private_file("config.toml", text);
    let path = path.to_str().expect("a path");
    let mut command = home.docdeck_command(words);
    command.args(["--config", path]);
    if !text.contains("api_key") {
        command.env("DOCDECK_API_KEY", "mint_e1se");
    }
    if !text.contains("project_id") {
        command.env("DOCDECK_PROJECT_ID", "66f1c0ffee");
    }
    let output = command.output().expect("it runs");
    let printed = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    (output.status.code(), printed.replace(path, "{}").replace("~/config.toml", "{}"))
}

#[test]
fn the_dashboard_exits_with_a_message_for_each_configuration_mistake() {
    for (text, message) in MISTAKES.iter().chain(DASHBOARD_ONLY) {
        let (code, printed) = run(text, &[]);
        assert_eq!(code, Some(2), "{text}: {printed}");
        assert!(printed.starts_with("docdeck: ") && printed.contains(message), "{text}: {printed}");
        assert!(!printed.contains("mint_"), "{text}: {printed}");
    }
}

#[test]
fn commands_ignore_mistakes_that_concern_only_the_dashboard() {
    for (text, message) in MISTAKES {
        let (code, printed) = run(text, &["status"]);
        assert_eq!(code, Some(2), "{text}: {printed}");
        assert!(printed.starts_with("docdeck: ") && printed.contains(message), "{text}: {printed}");
    }
    for (text, message) in DASHBOARD_ONLY {
        assert_eq!(run(text, &["jobs"]), (Some(0), String::new()), "{text}");
        assert_eq!(run(text, &["status"]), (Some(0), "no jobs\n".to_owned()), "{text}");
        // With a wrong theme, the default colours are used and the reason is printed.
        let (code, printed) = run(text, &["jobs", "--color", "always"]);
        assert_eq!((code, printed.contains(message)), (Some(0), text.contains("theme")), "{text}: {printed}");
    }
}

/// Returns the setting names that the error message lists when `table` contains an unknown field.
fn settings_of(table: &str) -> Vec<String> {
    let (_, printed) = run(&format!("{table}no-such = 1\n"), &["status"]);
    let (_, known) = printed.split_once("expected ").expect("the names that there are");
    let names = known.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(printed.contains("unknown field `no-such`"), "{printed}");
    names
}

#[test]
fn the_table_of_mistakes_covers_every_setting() {
    let command = "[[commands]]\nkey = \"X\"\nname = \"x\"\nrun = [\"a\"]\n";
    for table in [
        "",
        "[profiles.a]\n",
        "[poll]\n",
        "[analytics]\n",
        "[privacy]\n",
        "[ui]\n",
        "[notify]\n",
        "[[filters]]\n",
        command,
    ] {
        for name in settings_of(table) {
            let (head, _) = table.split_once('\n').unwrap_or_default();
            let is_about = |(text, message): &&(&str, &str)| {
                let sets = text.lines().any(|line| line.starts_with(&format!("{name} = ")));
                sets && text.starts_with(head) && !message.contains("unknown field")
            };
            assert!(MISTAKES.iter().any(|row| is_about(&row)), "{head} {name}");
        }
    }
}

#[test]
fn a_mistake_in_the_connection_settings_ends_the_command_before_any_request() {
    for (text, message) in REQUEST_ONLY {
        let (code, printed) = run(text, &["track", "j"]);
        assert_eq!(code, Some(2), "{text}: {printed}");
        assert!(printed.starts_with("docdeck: ") && printed.contains(message), "{text}: {printed}");
        assert!(!printed.contains("mint_"), "{text}: {printed}");
    }
}

#[test]
fn doctor_reports_each_configuration_mistake_and_continues() {
    for (text, message) in MISTAKES.iter().chain(DASHBOARD_ONLY).chain(REQUEST_ONLY) {
        let (code, printed) = run(text, &["doctor", "--offline"]);
        assert_eq!(code, Some(1), "{text}: {printed}");
        assert!(printed.contains(message), "{text}: {printed}");
        assert!(printed.contains("\nTerminal\n"), "{text}: {printed}");
        assert!(!printed.contains("mint_a") && !printed.contains("mint_e"), "{text}: {printed}");
    }
}

#[test]
fn an_api_key_in_a_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    for (config, in_file) in [("api_key = \"mint_a\"\n", false), ("api_key_file = \"key\"\n", true)] {
        let home = HomeFolder::new();
        let path = home.write_private_file("config.toml", &format!("[profiles.a]\nproject_id = \"p\"\n{config}"));
        let open = if in_file { home.write_private_file("key", "mint_a\n") } else { path.clone() };
        std::fs::set_permissions(&open, PermissionsExt::from_mode(0o640)).expect("a mode");
        let config = path.to_str().expect("a path");
        let message = format!(
            "Other users can read {0}, which contains the API key, so it is not used. Make it private: chmod 600 {0}",
            open.display()
        );
        let track = home.docdeck_command(&["track", "j", "--config", config]).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&track.stderr).into_owned();
        assert_eq!((track.status.code(), stderr.trim_end()), (Some(2), format!("docdeck: {message}").as_str()));
        let doctor = home.docdeck_command(&["doctor", "--offline", "--config", config]).output().expect("it runs");
        let stdout = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert!(stdout.contains(&message.replace(home.path().to_str().expect("a path"), "~")), "{stdout}");
    }
}

#[cfg(unix)]
#[test]
fn line_breaks_in_an_argument_are_escaped_and_the_usage_appears_once() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = HomeFolder::new();
    for words in [&["import", "a\ndocdeck: all is well"][..], &["jobs", "x\ndocdeck: all is well"], &["jo\nbs"]] {
        let output = home.docdeck_command(words).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("\\n") && !stderr.lines().any(|line| line.starts_with("docdeck: all")), "{stderr}");
    }
    for words in [&["show"][..], &["new"], &["--project"]] {
        let typed = std::ffi::OsStr::from_bytes(b"\xff");
        let output = home.docdeck_command(words).arg(typed).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), stderr.matches("Usage:").count()), (Some(2), 1), "{stderr}");
        assert!(stderr.starts_with("docdeck: Invalid UTF-8"), "{stderr}");
    }
}

#[test]
fn a_configuration_file_given_as_an_option_must_exist() {
    let home = HomeFolder::new();
    let start = home.docdeck_command(&["--config", "/nonexistent/config.toml"]).output().expect("it runs");
    let expected = "Configuration file /nonexistent/config.toml not found. Create it with `docdeck init --config /nonexistent/config.toml`.";
    assert_eq!(
        (start.status.code(), String::from_utf8_lossy(&start.stderr).trim_end()),
        (Some(2), format!("docdeck: {expected}").as_str())
    );
    let doctor = home
        .docdeck_command(&["doctor", "--offline", "--config", "/nonexistent/config.toml"])
        .output()
        .expect("it runs");
    assert!(String::from_utf8_lossy(&doctor.stdout).contains(expected));
}

#[test]
fn invalid_utf8_in_the_configuration_is_reported_with_its_position() {
    let home = HomeFolder::new();
    let path = home.write_private_file("config.toml", "");
    std::fs::write(&path, b"# caf\xc3\xa9\n[profiles.a]\nproject_id = \"\xe9\"\n").expect("written");
    let config = path.to_str().expect("a path");
    for words in [&["jobs"][..], &["status"], &[]] {
        let output = home.docdeck_command(words).args(["--config", config]).output().expect("it runs");
        let expected = format!(
            "docdeck: {config}:3:15: this is not valid UTF-8; save the file in that encoding. Fix the line, or "
        );
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && stderr.starts_with(&expected), "{stderr}");
    }
}

#[test]
fn the_error_for_an_invalid_option_value_states_what_is_expected() {
    let home = HomeFolder::new();
    let cases: [(&[&str], &str); 12] = [
        (&["prune", "--older-than", "x"], "'--older-than <DAYS>': it must be a whole number of days, like 400."),
        (&["prune", "--older-than", "-1"], "'--older-than <DAYS>': it must be a whole number of days, like 400."),
        (&["prune", "--keep", "1.5"], "'--keep <N>': it must be a whole number of ranges, like 20."),
        (&["views", "--page", "0"], "'--page <N>': it must be a whole number, 1 or more."),
        (&["views", "--limit", "251"], "'--limit <N>': it must be a whole number from 1 to 250."),
        (&["wait", "j", "--timeout", "soon"], "'--timeout <S>': it must be a whole number of seconds, like 600."),
        (&["sim", "--port", "70000"], "'--port <P>': it must be a whole number from 0 to 65535."),
        (&["demo", "--seed", "x"], "'--seed <N>': it must be a whole number, like 7."),
        (&["demo", "--speed", "0"], "'--speed <X>': it must be a number above 0, at most 1000000."),
        (&["jobs", "--colour"], "Unexpected argument '--colour' found."),
        (&["job"], "Unrecognized subcommand 'job'."),
        (&["show"], "The following required arguments were not provided:"),
    ];
    for (words, expected) in cases {
        let output = home.docdeck_command(words).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let (first, hints) = stderr.split_once('\n').expect("more than a line");
        assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
        assert!(first.starts_with("docdeck: ") && first.ends_with(expected), "{words:?}: {stderr}");
        assert!(hints.contains("--help") && !stderr.contains("error:"), "{words:?}: {stderr}");
    }
}

#[test]
fn without_a_default_profile_every_command_requires_the_choice_of_one() {
    let text = "[profiles.bb]\nproject_id = \"b\"\napi_key = \"mint_b\"\n\
                [profiles.aa]\nproject_id = \"a\"\napi_key = \"mint_a\"\n";
    let expected = "There are several profiles in {}: aa, bb. Choose one with --profile, or set default_profile.\n";
    for words in [&[][..], &["jobs"], &["status"], &["new", "x"]] {
        assert_eq!(run(text, words), (Some(2), format!("docdeck: {expected}")), "{words:?}");
    }
    let (code, doctor) = run(text, &["doctor", "--offline"]);
    assert!(code == Some(1) && doctor.contains(expected.trim_end()), "{doctor}");
    let (code, jobs) = run(text, &["jobs", "--profile", "bb"]);
    assert_eq!((code, jobs.as_str()), (Some(0), ""));
}

#[test]
fn an_invalid_base_url_or_data_folder_is_an_error_and_not_an_empty_list() {
    let home = HomeFolder::new();
    let file = home.write_private_file("file", "");
    let file = file.to_str().expect("a path");
    let below = format!("{file}/below");
    let cases = [
        ("--base-url", "ftp://x", "The base URL does not start with https:// or http://"),
        ("--base-url", "http://example.com", "would send the key unencrypted"),
        ("--base-url", "nonsense", "The base URL"),
        ("--data-dir", file, "can't be used (not a directory)"),
        ("--data-dir", &below, "can't be used (not a directory)"),
    ];
    for (option, value, expected) in cases {
        for words in [&["jobs"][..], &["jobs", "--json"], &["status"], &["show", "j"]] {
            let mut command = home.docdeck_command(words);
            let output = command.args([option, value, "--project", "p"]).output().expect("it runs");
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{words:?} {value}: {stderr}");
            assert!(stderr.contains(expected), "{words:?} {value}: {stderr}");
        }
    }
}

#[test]
fn a_blank_option_is_refused() {
    let home = HomeFolder::new();
    let of_reports = ["--check", "--filter", "--from", "--to", "--last"].map(|option| ("searches", option));
    let others = [("views", "--check"), ("views", "--last"), ("needs-work", "--check"), ("jobs", "--by")];
    for (command, option) in of_reports.into_iter().chain(others) {
        let output = home.docdeck_command(&[command]).args([option, " "]).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{command} {option}: {stderr}");
        assert!(stderr.contains("it is blank; omit the option, or give it a value"), "{command} {option}: {stderr}");
    }
    for option in ["--project", "--base-url", "--profile"] {
        for (value, words) in [("", &["jobs"][..]), (" ", &["status"]), ("", &["new", "x"]), ("", &[])] {
            let output = home.docdeck_command(words).args([option, value]).output().expect("it runs");
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{option}: {stderr}");
            assert!(stderr.contains(&format!("for '{option} <")) && stderr.contains("it is blank; omit"), "{stderr}");
        }
    }
    for option in ["--config", "--data-dir"] {
        let output = home.docdeck_command(&["jobs", option, ""]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn a_usage_error_is_printed_as_json_if_requested() {
    let home = HomeFolder::new();
    for words in
        [&["show", "--json"][..], &["new", "--json", "--batch", "b", "--queue", "--wait"], &["jobs", "--json", "-x"]]
    {
        let output = home.docdeck_command(words).output().expect("it runs");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!((output.status.code(), json["exitCode"].as_i64()), (Some(2), Some(2)), "{words:?}");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let expected = json["error"].as_str().expect("a sentence");
        assert!(stderr.split_whitespace().collect::<Vec<_>>().join(" ").contains(expected), "{expected}: {stderr}");
    }
    let output = home.docdeck_command(&["export", "--json"]).output().expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("export always writes JSON"), "{stderr}");
}
