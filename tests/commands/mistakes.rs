//! A configuration with each mistake, and the message that it gets: from a start, which ends with it, and from the doctor,
//! who goes on.

use crate::doctor::Home;

/// A file, and what is said of it; `{}` is the file's path.
const MISTAKES: &[(&str, &str)] = &[
    ("nonsense\n", "{}:1:9: "),
    ("default_profile = 7\n", "{}:1:19: invalid type: integer `7`, expected a string"),
    ("defautl_profile = \"a\"\n", "{}:1:1: unknown field `defautl_profile`, expected one of `default_profile`, "),
    ("default_profile = \"a\"\ndefault_profile = \"b\"\n", "{}:2:1: duplicate key"),
    ("default_profile = \"b\"\n[profiles.a]\n", "There is no profile b in {}. Known there: a."),
    (
        "[profiles.a]\nprojectid = \"p\"\n",
        "{}:2:1: unknown field `projectid`, expected one of `base_url`, `project_id`, ",
    ),
    ("[profiles.a]\nproject_id = 12\n", "{}:2:14: invalid type: integer `12`, expected a string"),
    (
        "[profiles.a]\napi_key = \"mint_a\"\napi_key_file = \"key\"\n",
        "The profile a names more than one source of the API key. Keep one of api_key_command, api_key_file, api_key.",
    ),
    (
        "[profiles.a]\napi_key_command = []\n",
        "api_key_command of the profile a is empty. It is an array: the program, then its arguments.",
    ),
    ("[profiles.a]\napi_key_command = \"pass show x\"\n", "{}:2:19: a text stands where there should be a sequence."),
    (
        "[profiles.a]\napi_key = \" \"\n",
        "There is no usable API key in api_key in {}: it is empty, or holds characters that a key can't have.",
    ),
    ("[poll]\nper_minute = 0\n", "per_minute in [poll] is 0, and has to be from 1 to 600."),
    ("[poll]\nper_minute = \"60\"\n", "{}:2:14: a text stands where there should be u32"),
    ("[ui]\ntheme = \"no-such\"\n", "There is no theme no-such"),
    ("[ui]\ncolor = \"sometimes\"\n", "{}:2:9: unknown variant `sometimes`, expected one of `auto`, `always`, `never`"),
    ("[ui]\nground = \"blue\"\n", "{}:2:10: unknown variant `blue`, expected `dark` or `light`"),
    ("[notify]\nhow = \"loud\"\n", "{}:2:7: unknown variant `loud`"),
    ("on_change = []\n", "{}:1:13: on_change is empty; it is an array: the program, then its arguments."),
    ("[[filters]]\nname = \"a\"\nfilter = \"\"\n", "{}:3:10: the filter a is empty."),
    ("[[filters]]\nname = \"\"\nfilter = \"x\"\n", "{}:2:8: the name of a filter is empty."),
    ("[[commands]]\nkey = \"X\"\nname = \"x\"\nrun = []\n", "{}:4:7: run of the command x is empty"),
    (
        "[[commands]]\nkey = \"X\"\nname = \"x\"\nrun = [\"a\", \"{b}\"]\n",
        "{}:4:13: the command x has the unknown placeholder {b}",
    ),
    ("[[commands]]\nkey = \"n\"\nname = \"x\"\nrun = [\"a\"]\n", "{}:2:7: the key n of the command x is docdeck's own"),
    ("[keys.jobs]\nno-such = \"x\"\n", "{}:2:1: jobs has no action no-such"),
    ("[keys.nowhere]\nclose = \"x\"\n", "{}:1:7: there are no keys of nowhere"),
];

/// What is found only when the service is to be asked.
const LATE: &[(&str, &str)] = &[
    ("[profiles.a]\nbase_url = \"ftp://x\"\n", "The base URL starts with neither https:// nor http://"),
    ("[profiles.a]\nbase_url = \"http://x.example\"\n", "The base URL would send the key unencrypted to x.example"),
    ("[profiles.a]\nbase_url = \"https://u:p@x.example\"\n", "The base URL contains a user name or password"),
    (
        "[profiles.a]\napi_key_command = [\"docdeck-no-such-program\"]\n",
        "The API key command docdeck-no-such-program could not be started: no such file or directory.",
    ),
    (
        "[profiles.a]\napi_key_command = [\"sh\", \"-c\", \"echo locked >&2; exit 3\"]\n",
        "The API key command sh ended with code 3 and said: locked.",
    ),
    (
        "[profiles.a]\napi_key_command = [\"true\"]\n",
        "There is no usable API key in the output of true: it is empty, or holds characters that a key can't have.",
    ),
    (
        "[profiles.a]\napi_key_file = \"/nonexistent/key\"\n",
        "/nonexistent/key can't be read: no such file or directory.",
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
    for (text, message) in MISTAKES {
        let (code, said) = run(text, &[]);
        assert_eq!(code, Some(2), "{text}: {said}");
        assert!(said.starts_with("docdeck: ") && said.contains(message), "{text}: {said}");
        assert!(!said.contains("mint_"), "{text}: {said}");
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
    for (text, message) in MISTAKES.iter().chain(LATE) {
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
        ("--data-dir", file, "can't be used (Not a directory"),
        ("--data-dir", &below, "can't be used (Not a directory"),
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
