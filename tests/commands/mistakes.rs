//! A configuration with each mistake, and the message that it gets: from a start, which ends with it, and from the doctor,
//! who goes on.

use crate::doctor::Home;

/// A file, and what is said of it; `{}` is the file's path. Each setting there is has at least one row with a value that it
/// can't have, each table one with a field that it doesn't know.
const MISTAKES: &[(&str, &str)] = &[
    ("nonsense\n", "{}:1:9: "),
    ("[ui\n", "{}:1:4: "),
    ("default_profile = \"a\"\ndefault_profile = \"b\"\n", "{}:2:1: duplicate key"),
    ("defautl_profile = \"a\"\n", "{}:1:1: unknown field `defautl_profile`, expected one of `default_profile`, "),
    ("default_profile = 7\n", "{}:1:19: a number stands where there should be a text in quotes."),
    ("default_profile = \"b\"\n[profiles.a]\n", "{}:1:19: there is no profile b; known here: a. Mend the line"),
    ("on_change = \"ntfy\"\n", "{}:1:13: a text stands where there should be an array."),
    ("on_change = []\n", "{}:1:13: on_change is empty; it is an array: the program, then its arguments."),
    ("profiles = \"a\"\n", "{}:1:12: a text stands where there should be a table."),
    ("[profiles]\na = 1\n", "{}:2:5: a number stands where there should be a table."),
    (
        "[profiles.a]\nprojectid = \"p\"\n",
        "{}:2:1: unknown field `projectid`, expected one of `base_url`, `project_id`, ",
    ),
    ("[profiles.a]\nbase_url = true\n", "{}:2:12: true or false stands where there should be a text in quotes."),
    ("[profiles.a]\nproject_id = 12\n", "{}:2:14: a number stands where there should be a text in quotes."),
    ("[profiles.a]\norganization = 1.5\n", "{}:2:16: a number stands where there should be a text in quotes."),
    ("[profiles.a]\nca_file = []\n", "{}:2:11: an array stands where there should be a path in quotes."),
    ("[profiles.a]\napi_key_command = \"pass show x\"\n", "{}:2:19: a text stands where there should be an array."),
    (
        "[profiles.a]\napi_key_command = []\n",
        "{}:2:19: the profile a has an empty api_key_command; it is an array: the program, then its arguments.",
    ),
    ("[profiles.a]\napi_key_file = 7\n", "{}:2:16: a number stands where there should be a path in quotes."),
    ("[profiles.a]\napi_key = 7\n", "{}:2:11: a number stands where there should be a text in quotes."),
    (
        "[profiles.a]\napi_key = \" \"\n",
        "There is no usable API key in api_key in {}: it has to be one line with nothing but the key, without blanks in it.",
    ),
    (
        "[profiles.a]\napi_key = \"mint_a\"\napi_key_file = \"key\"\n",
        "{}:3:16: the profile a names more than one source of the API key; keep one of api_key_command, api_key_file, api_key.",
    ),
    ("poll = 60\n", "{}:1:8: a number stands where there should be a table."),
    ("[poll]\nper_hour = 60\n", "{}:2:1: unknown field `per_hour`, expected `per_minute`."),
    ("[poll]\nper_minute = \"60\"\n", "{}:2:14: a text stands where there should be a whole number above 0."),
    ("[poll]\nper_minute = -1\n", "{}:2:14: a number stands where there should be a whole number above 0."),
    ("[poll]\nper_minute = 0\n", "{}:2:14: per_minute is 0, and has to be from 1 to 600."),
    ("ui = []\n", "{}:1:6: an array stands where there should be a table."),
    ("[ui]\ncolour = \"auto\"\n", "{}:2:1: unknown field `colour`, expected one of `color`, `ascii`, `links`, "),
    ("[ui]\ncolor = \"sometimes\"\n", "{}:2:9: unknown value `sometimes`, expected one of `auto`, `always`, `never`."),
    ("[ui]\nascii = \"yes\"\n", "{}:2:9: a text stands where there should be true or false."),
    ("[ui]\nlinks = 1\n", "{}:2:9: a number stands where there should be true or false."),
    ("[ui]\ntheme = 1\n", "{}:2:9: a number stands where there should be a text in quotes."),
    ("[ui]\nground = \"blue\"\n", "{}:2:10: unknown value `blue`, expected `dark` or `light`."),
    ("[ui]\nmouse = \"off\"\n", "{}:2:9: a text stands where there should be true or false."),
    ("[ui]\nall_profiles = \"yes\"\n", "{}:2:16: a text stands where there should be true or false."),
    ("[ui]\nreduced_motion = 0\n", "{}:2:18: a number stands where there should be true or false."),
    ("[ui]\nclipboard = \"wl-copy\"\n", "{}:2:13: a text stands where there should be an array."),
    ("[ui]\nclipboard = []\n", "{}:2:13: clipboard is empty; it is an array: the program, then its arguments."),
    ("keys = 1\n", "{}:1:8: a number stands where there should be a table."),
    ("[keys]\njobs = \"n\"\n", "{}:2:8: a text stands where there should be a table."),
    ("[keys.jobs]\nnew-job = 1\n", "{}:2:11: there should be a key in quotes or an array of keys, like \"n\" or "),
    ("notify = \"bell\"\n", "{}:1:10: a text stands where there should be a table."),
    ("[notify]\nsound = true\n", "{}:2:1: unknown field `sound`, expected `how` or `title`."),
    ("[notify]\nhow = \"loud\"\n", "{}:2:7: unknown value `loud`, expected one of `osc9`, `osc777`, `bell`, `off`."),
    ("[notify]\ntitle = \"no\"\n", "{}:2:9: a text stands where there should be true or false."),
    ("filters = \"x\"\n", "{}:1:11: a text stands where there should be an array."),
    ("[[filters]]\ntext = \"a\"\n", "{}:2:1: unknown field `text`, expected `name` or `filter`."),
    ("[[filters]]\nname = \"a\"\n", "{}:1:1: missing field `filter`."),
    ("[[filters]]\nname = 1\nfilter = \"x\"\n", "{}:2:8: a number stands where there should be a text in quotes."),
    ("[[filters]]\nname = \"\"\nfilter = \"x\"\n", "{}:2:8: the name of a filter is empty."),
    ("[[filters]]\nname = \"a\"\nfilter = \"\"\n", "{}:3:10: the filter a is empty."),
    ("commands = \"x\"\n", "{}:1:12: a text stands where there should be an array."),
    (
        "[[commands]]\nkey = \"X\"\nname = \"x\"\nrun = [\"a\"]\nshell = true\n",
        "{}:5:1: unknown field `shell`, expected one of `key`, `name`, `run`.",
    ),
    ("[[commands]]\nkey = 1\n", "{}:2:7: a number stands where there should be a text in quotes."),
    ("[[commands]]\nkey = \"X\"\nname = 1\n", "{}:3:8: a number stands where there should be a text in quotes."),
    (
        "[[commands]]\nkey = \"X\"\nname = \"x\"\nrun = \"gh pr\"\n",
        "{}:4:7: a text stands where there should be an array.",
    ),
    ("[[commands]]\nkey = \"X\"\nname = \"x\"\nrun = []\n", "{}:4:7: run of the command x is empty"),
    (
        "[[commands]]\nkey = \"X\"\nname = \"x\"\nrun = [\"a\", \"{b}\"]\n",
        "{}:4:13: the command x has the unknown placeholder {b}",
    ),
];

/// What only the dashboard looks at: a script goes on with it.
const OF_THE_DASHBOARD: &[(&str, &str)] = &[
    ("[ui]\ntheme = \"no-such\"\n", "{}:2:9: there is no theme no-such; there are auto, dark, light, "),
    ("[[commands]]\nkey = \"n\"\nname = \"x\"\nrun = [\"a\"]\n", "{}:2:7: the key n of the command x is docdeck's own"),
    ("[keys.jobs]\nno-such = \"x\"\n", "{}:2:1: jobs has no action no-such"),
    ("[keys.nowhere]\nclose = \"x\"\n", "{}:1:7: there are no keys of nowhere"),
];

/// What is found only when the service is to be asked.
const LATE: &[(&str, &str)] = &[
    ("[profiles.a]\nbase_url = \"ftp://x\"\n", "{}:2:12: the base URL starts with neither https:// nor http://"),
    (
        "[profiles.a]\nbase_url = \"http://x.example\"\n",
        "{}:2:12: the base URL would send the key unencrypted to x.example",
    ),
    ("[profiles.a]\nbase_url = \"https://u:p@x.example\"\n", "{}:2:12: the base URL contains a user name or password"),
    (
        "[profiles.a]\napi_key_command = [\"docdeck-no-such-program\"]\n",
        "The API key command docdeck-no-such-program could not be started: no such file or directory. Try it in a shell; docdeck runs it without one.",
    ),
    (
        "[profiles.a]\napi_key_command = [\"sh\", \"-c\", \"echo locked >&2; exit 3\"]\n",
        "The API key command sh ended with code 3 and said: locked.",
    ),
    (
        "[profiles.a]\napi_key_command = [\"true\"]\n",
        "There is no usable API key in the output of true: it has to be one line with nothing but the key, without blanks in it.",
    ),
    (
        "[profiles.a]\napi_key_file = \"/nonexistent/key\"\n",
        "The API key can't be read from /nonexistent/key: no such file or directory. Write the key there",
    ),
    (
        "[profiles.a]\napi_key = \"mint_a\"\nca_file = \"none.pem\"\n",
        "can't be read: no such file or directory. Mend ca_file in the profile",
    ),
    ("[profiles.a]\napi_key = \"mint_a\"\nca_file = \"config.toml\"\n", "holds none: it has to be in PEM form"),
];

/// Runs it on this file; what the file leaves out comes from elsewhere, so that the mistake is the only one. Gives the exit
/// code and what is said, with `{}` for the file's path.
fn run(text: &str, words: &[&str]) -> (Option<i32>, String) {
    let home = Home::new();
    let path = home.write("config.toml", text);
    let path = path.to_str().expect("a path");
    let mut command = home.docdeck(words);
    command.args(["--config", path]);
    if !text.contains("api_key") {
        command.env("DOCDECK_API_KEY", "mint_e1se");
    }
    if !text.contains("project_id") {
        command.env("DOCDECK_PROJECT_ID", "66f1c0ffee");
    }
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    (output.status.code(), said.replace(path, "{}").replace("~/config.toml", "{}"))
}

#[test]
fn each_mistake_in_the_configuration_ends_a_start_with_its_message() {
    for (text, message) in MISTAKES.iter().chain(OF_THE_DASHBOARD) {
        let (code, said) = run(text, &[]);
        assert_eq!(code, Some(2), "{text}: {said}");
        assert!(said.starts_with("docdeck: ") && said.contains(message), "{text}: {said}");
        assert!(!said.contains("mint_"), "{text}: {said}");
    }
}

#[test]
fn a_script_ends_by_what_is_wrong_in_the_file_and_not_by_what_only_the_dashboard_needs() {
    for (text, message) in MISTAKES {
        let (code, said) = run(text, &["status"]);
        assert_eq!(code, Some(2), "{text}: {said}");
        assert!(said.starts_with("docdeck: ") && said.contains(message), "{text}: {said}");
    }
    for (text, message) in OF_THE_DASHBOARD {
        assert_eq!(run(text, &["jobs"]), (Some(0), String::new()), "{text}");
        assert_eq!(run(text, &["status"]), (Some(0), "no jobs known here\n".to_owned()), "{text}");
        // Who asks for colours gets the usual ones, and the reason.
        let (code, said) = run(text, &["jobs", "--color", "always"]);
        assert_eq!((code, said.contains(message)), (Some(0), text.contains("theme")), "{text}: {said}");
    }
}

/// The names that the message about an unknown field in this table tells.
fn settings_of(table: &str) -> Vec<String> {
    let (_, said) = run(&format!("{table}no-such = 1\n"), &["status"]);
    let (_, known) = said.split_once("expected ").expect("the names that there are");
    let names = known.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(said.contains("unknown field `no-such`"), "{said}");
    names
}

#[test]
fn no_setting_is_left_out_of_the_table_of_mistakes() {
    let command = "[[commands]]\nkey = \"X\"\nname = \"x\"\nrun = [\"a\"]\n";
    for table in ["", "[profiles.a]\n", "[poll]\n", "[ui]\n", "[notify]\n", "[[filters]]\n", command] {
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
fn a_mistake_that_is_found_later_ends_the_command_before_anything_is_asked() {
    for (text, message) in LATE {
        let (code, said) = run(text, &["track", "j"]);
        assert_eq!(code, Some(2), "{text}: {said}");
        assert!(said.starts_with("docdeck: ") && said.contains(message), "{text}: {said}");
        assert!(!said.contains("mint_"), "{text}: {said}");
    }
}

#[test]
fn each_mistake_in_the_configuration_is_a_problem_for_the_doctor_who_goes_on() {
    for (text, message) in MISTAKES.iter().chain(OF_THE_DASHBOARD).chain(LATE) {
        let (code, said) = run(text, &["doctor", "--offline"]);
        assert_eq!(code, Some(1), "{text}: {said}");
        assert!(said.contains(message), "{text}: {said}");
        assert!(said.contains("\nTerminal\n"), "{text}: {said}");
        assert!(!said.contains("mint_a") && !said.contains("mint_e"), "{text}: {said}");
    }
}

#[test]
fn a_key_that_others_can_read_is_refused_wherever_it_lies() {
    use std::os::unix::fs::PermissionsExt;
    for (config, in_file) in [("api_key = \"mint_a\"\n", false), ("api_key_file = \"key\"\n", true)] {
        let home = Home::new();
        let path = home.write("config.toml", &format!("[profiles.a]\nproject_id = \"p\"\n{config}"));
        let open = if in_file { home.write("key", "mint_a\n") } else { path.clone() };
        std::fs::set_permissions(&open, PermissionsExt::from_mode(0o640)).expect("a mode");
        let config = path.to_str().expect("a path");
        let message = format!(
            "Others on this computer can read {0}, which holds the API key, so it is not used. Make it yours alone: chmod 600 {0}",
            open.display()
        );
        let track = home.docdeck(&["track", "j", "--config", config]).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&track.stderr).into_owned();
        assert_eq!((track.status.code(), stderr.trim_end()), (Some(2), format!("docdeck: {message}").as_str()));
        let doctor = home.docdeck(&["doctor", "--offline", "--config", config]).output().expect("it runs");
        let stdout = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert!(stdout.contains(&message.replace(home.path().to_str().expect("a path"), "~")), "{stdout}");
    }
}

#[cfg(unix)]
#[test]
fn line_breaks_of_an_argument_are_escaped_and_the_usage_comes_once() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = Home::new();
    for words in [&["import", "a\ndocdeck: all is well"][..], &["jobs", "x\ndocdeck: all is well"], &["jo\nbs"]] {
        let output = home.docdeck(words).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("\\n") && !stderr.lines().any(|line| line.starts_with("docdeck: all")), "{stderr}");
    }
    for words in [&["show"][..], &["new"], &["--project"]] {
        let typed = std::ffi::OsStr::from_bytes(b"\xff");
        let output = home.docdeck(words).arg(typed).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), stderr.matches("Usage:").count()), (Some(2), 1), "{stderr}");
        assert!(stderr.starts_with("docdeck: Invalid UTF-8"), "{stderr}");
    }
}

#[test]
fn a_configuration_file_that_is_named_has_to_be_there() {
    let home = Home::new();
    let start = home.docdeck(&["--config", "/nonexistent/config.toml"]).output().expect("it runs");
    let said = "There is no configuration file /nonexistent/config.toml, which --config or DOCDECK_CONFIG names; docdeck init, with the same, makes one.";
    assert_eq!(
        (start.status.code(), String::from_utf8_lossy(&start.stderr).trim_end()),
        (Some(2), format!("docdeck: {said}").as_str())
    );
    let doctor =
        home.docdeck(&["doctor", "--offline", "--config", "/nonexistent/config.toml"]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&doctor.stdout).contains(said));
}

#[test]
fn a_configuration_file_that_is_no_text_is_pointed_at_where_that_begins() {
    let home = Home::new();
    let path = home.write("config.toml", "");
    std::fs::write(&path, b"# caf\xc3\xa9\n[profiles.a]\nproject_id = \"\xe9\"\n").expect("written");
    let config = path.to_str().expect("a path");
    for words in [&["jobs"][..], &["status"], &[]] {
        let output = home.docdeck(words).args(["--config", config]).output().expect("it runs");
        let said = format!(
            "docdeck: {config}:3:15: what stands here is no text in UTF-8; save the file in that encoding. Mend the line, or "
        );
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && stderr.starts_with(&said), "{stderr}");
    }
}

#[test]
fn what_is_wrong_with_an_option_is_a_sentence_that_says_what_is_expected() {
    let home = Home::new();
    let cases: [(&[&str], &str); 12] = [
        (&["prune", "--older-than", "x"], "'--older-than <DAYS>': it has to be a whole number of days, like 400."),
        (&["prune", "--older-than", "-1"], "'--older-than <DAYS>': it has to be a whole number of days, like 400."),
        (&["prune", "--keep", "1.5"], "'--keep <N>': it has to be a whole number of ranges, like 20."),
        (&["views", "--page", "0"], "'--page <N>': it has to be a whole number from 1 on."),
        (&["views", "--limit", "251"], "'--limit <N>': it has to be a whole number from 1 to 250."),
        (&["wait", "j", "--timeout", "soon"], "'--timeout <S>': it has to be a whole number of seconds, like 600."),
        (&["sim", "--port", "70000"], "'--port <P>': it has to be a whole number from 0 to 65535."),
        (&["demo", "--seed", "x"], "'--seed <N>': it has to be a whole number, like 7."),
        (&["demo", "--speed", "0"], "'--speed <X>': it has to be a number above 0, at most 1000000."),
        (&["jobs", "--colour"], "Unexpected argument '--colour' found."),
        (&["job"], "Unrecognized subcommand 'job'."),
        (&["show"], "The following required arguments were not provided:"),
    ];
    for (words, said) in cases {
        let output = home.docdeck(words).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let (first, hints) = stderr.split_once('\n').expect("more than a line");
        assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
        assert!(first.starts_with("docdeck: ") && first.ends_with(said), "{words:?}: {stderr}");
        assert!(hints.contains("--help") && !stderr.contains("error:"), "{words:?}: {stderr}");
    }
}

#[test]
fn which_of_several_profiles_is_asked_by_every_command_the_dashboard_and_the_doctor() {
    let text = "[profiles.bb]\nproject_id = \"b\"\napi_key = \"mint_b\"\n\
                [profiles.aa]\nproject_id = \"a\"\napi_key = \"mint_a\"\n";
    let said = "There are several profiles in {}: aa, bb. Choose one with --profile, or name one as default_profile.\n";
    for words in [&[][..], &["jobs"], &["status"], &["new", "x"]] {
        assert_eq!(run(text, words), (Some(2), format!("docdeck: {said}")), "{words:?}");
    }
    let (code, doctor) = run(text, &["doctor", "--offline"]);
    assert!(code == Some(1) && doctor.contains(said.trim_end()), "{doctor}");
    let (code, jobs) = run(text, &["jobs", "--profile", "bb"]);
    assert_eq!((code, jobs.as_str()), (Some(0), ""));
}

#[test]
fn of_an_address_or_a_folder_that_can_not_be_it_is_not_said_that_nothing_is_known() {
    let home = Home::new();
    let file = home.write("file", "");
    let file = file.to_str().expect("a path");
    let below = format!("{file}/below");
    let cases = [
        ("--base-url", "ftp://x", "The base URL starts with neither"),
        ("--base-url", "http://example.com", "would send the key unencrypted"),
        ("--base-url", "nonsense", "The base URL"),
        ("--data-dir", file, "can't be used (not a directory)"),
        ("--data-dir", &below, "can't be used (not a directory)"),
    ];
    for (option, value, said) in cases {
        for words in [&["jobs"][..], &["jobs", "--json"], &["status"], &["show", "j"]] {
            let mut command = home.docdeck(words);
            let output = command.args([option, value, "--project", "p"]).output().expect("it runs");
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{words:?} {value}: {stderr}");
            assert!(stderr.contains(said), "{words:?} {value}: {stderr}");
        }
    }
}

#[test]
fn a_blank_option_is_refused_and_not_taken_for_none() {
    let home = Home::new();
    for option in ["--project", "--base-url", "--profile"] {
        for (value, words) in [("", &["jobs"][..]), (" ", &["status"]), ("", &["new", "x"]), ("", &[])] {
            let output = home.docdeck(words).args([option, value]).output().expect("it runs");
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{option}: {stderr}");
            assert!(stderr.contains(&format!("for '{option} <")) && stderr.contains("it is blank; leave"), "{stderr}");
        }
    }
    for option in ["--config", "--data-dir"] {
        let output = home.docdeck(&["jobs", option, ""]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn a_mistake_in_the_words_is_json_where_that_was_asked_for() {
    let home = Home::new();
    for words in
        [&["show", "--json"][..], &["new", "--json", "--batch", "b", "--queue", "--wait"], &["jobs", "--json", "-x"]]
    {
        let output = home.docdeck(words).output().expect("it runs");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!((output.status.code(), json["exitCode"].as_i64()), (Some(2), Some(2)), "{words:?}");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let said = json["error"].as_str().expect("a sentence");
        assert!(stderr.split_whitespace().collect::<Vec<_>>().join(" ").contains(said), "{said}: {stderr}");
    }
    let output = home.docdeck(&["export", "--json"]).output().expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("what export writes is JSON already"), "{stderr}");
}
