//! Puts a marked API key in the wrong place: into any field of a configuration, a mistyped line, an argument, or the
//! service's responses. In none of these cases may the key be printed, logged, shown or exported.

use crate::support::pty::{Pty, Setup, environment, program};
use crate::support::slow::sample;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use docdeck::config::environment::Environment;
use docdeck::config::{GlobalOptions, SetupState as Configured, file, resolve};
use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const KEY: &str = "mint_m4rk3d8c1f0a7b62e9d5";
/// The part of the key that no output may contain, in lower or upper case.
const MARK: &str = "m4rk3d";
/// Number of configurations with the key in the wrong place.
const MUTATIONS: u64 = 2_000;
/// The built program is run only with every configuration whose number is a multiple of this.
const RUN_EVERY: usize = 20;

/// A valid configuration with fields of every type.
const CONFIG: &str = r##"default_profile = "docs"
on_change = ["true", "x"]

[profiles.docs]
project_id = "p"
organization = "o"
base_url = "http://127.0.0.1:9"
api_key_file = "key"
ca_file = "ca.pem"

[profiles.other]
project_id = "p"
api_key_command = ["true", "show"]

[poll]
per_minute = 60

[ui]
theme = "dark"
background = "dark"
color = "never"
clipboard = ["true"]
links = false

[keys.jobs]
new-job = ["n", "F5"]

[notify]
how = "bell"

[[filters]]
name = "failed"
filter = "s:failed"

[[commands]]
key = "X"
name = "diff"
run = ["true", "{pr}"]
"##;

/// A seeded generator: the numbers are the same in every run.
struct TestRng(u64);

impl TestRng {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).expect("64 bits") % end.max(1)
    }
}

/// Returns the configuration with the key somewhere in it and with up to two more mistakes.
fn mutated(seed: u64) -> String {
    let mut random = TestRng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut lines: Vec<String> = CONFIG.lines().map(str::to_owned).collect();
    let at = random.below(lines.len());
    let Some(line) = lines.get_mut(at) else { return String::new() };
    *line = match random.below(8) {
        // Replaces a value, a name or a complete line.
        0 => line.split_once(" = ").map_or(KEY.to_owned(), |(name, _)| format!("{name} = \"{KEY}\"")),
        1 => line.split_once(" = ").map_or(format!("[{KEY}]"), |(name, _)| format!("{name} = [\"{KEY}\"]")),
        2 => line.split_once(" = ").map_or(KEY.to_owned(), |(_, value)| format!("{KEY} = {value}")),
        3 => KEY.to_owned(),
        4 => format!("{line}\napi_key = \"{KEY}\""),
        5 => line.split_once(" = ").map_or(format!("\"{KEY}\""), |(name, _)| format!("{name} = {KEY}")),
        // Inserts the key into the middle of a line.
        _ => {
            let (head, tail) = line.split_at(random.below(line.len() + 1));
            format!("{head}{KEY}{tail}")
        }
    };
    for _ in 0..random.below(3) {
        let at = random.below(lines.len());
        let Some(line) = lines.get_mut(at) else { break };
        let place = random.below(line.len() + 1);
        let (head, tail) = line.split_at(place);
        *line = match random.below(5) {
            0 => format!("{head}\"{tail}"),
            1 => format!("{head}={tail}"),
            2 => format!("{head}\n{tail}"),
            3 => format!("{head}{}", tail.get(1..).unwrap_or_default()),
            _ => format!("{line}\n{line}"),
        };
    }
    lines.join("\n")
}

#[track_caller]
fn assert_no_secret(what: &str, text: &str) {
    let small = text.to_lowercase();
    let near = small.find(MARK).map(|at| small.get(at.saturating_sub(60)..).unwrap_or(&small).to_owned());
    assert_eq!(near, None, "{what} holds the key");
    for before in 0..3 {
        let key = STANDARD.encode(format!("{}{KEY}", "x".repeat(before)));
        let core = key.get(4..key.len() - 4).expect("ASCII");
        assert!(!text.contains(core), "{what} holds the key in base64: {text}");
    }
}

fn write(path: &Path, text: &str) {
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).expect("written");
}

/// Runs a command; returns its stdout, its stderr and the content of the log file.
fn run(home: &Path, words: &[&str]) -> String {
    let mut command = Command::new(program());
    command.env_clear().envs(environment(home)).current_dir(home).stdin(Stdio::null());
    command.env("DOCDECK_CONFIG", home.join("config.toml")).env("DOCDECK_DATA_DIR", home.join("data"));
    let output = command.args(words).output().expect("it ran");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text.push_str(&std::fs::read_to_string(home.join("data/docdeck.log")).unwrap_or_default());
    text
}

/// Runs the program with a sample of the configurations, and with more of them with `DOCDECK_SLOW_TESTS`.
#[test]
fn a_key_anywhere_in_a_configuration_is_never_printed() {
    let home = tempfile::tempdir().expect("a folder");
    let config = home.path().join("config.toml");
    let global_options = GlobalOptions { config: Some(config.clone()), ..GlobalOptions::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let runs: HashSet<u64> = sample((0..MUTATIONS).step_by(RUN_EVERY), 8).into_iter().collect();
    let mut refused = 0;
    for seed in 0..MUTATIONS {
        let text = mutated(seed);
        write(&config, &text);
        let what = format!("mutation {seed}");
        match resolve(&global_options, &Environment::default()) {
            Err(error) => {
                refused += 1;
                assert_no_secret(&what, &format!("{error} {error:?}"));
            }
            Ok(Configured::Missing(missing)) => assert_no_secret(&what, &missing.setup_instructions()),
            // A key command whose name contains the key doesn't exist, and `true` prints nothing.
            Ok(Configured::Ready(settings)) => {
                if let Err(error) = runtime.block_on(settings.key.read()) {
                    assert_no_secret(&what, &format!("{error} {error:?}"));
                }
            }
        }
        if let Ok(Some(found)) = file::read_config_file(&config) {
            let own = found.file.customization();
            let keymap = docdeck::cli::customization::keymap(&own, &config);
            let commands =
                keymap.as_ref().ok().map(|keymap| docdeck::cli::customization::parse_commands(&own, keymap, &config));
            let errors = [keymap.as_ref().err(), commands.as_ref().and_then(|read| read.as_ref().err())];
            errors.into_iter().flatten().for_each(|error| assert_no_secret(&what, &format!("{error} {error:?}")));
        }
        if runs.contains(&seed) {
            for words in [&["doctor", "--offline"][..], &["doctor", "--offline", "--json"], &["jobs"], &["new", "x"]] {
                assert_no_secret(&format!("{what}, {words:?}"), &run(home.path(), words));
            }
        }
    }
    println!("{MUTATIONS} configurations, {refused} of them refused");
    assert!(refused > MUTATIONS / 4, "{refused}");
}

#[test]
fn a_key_in_the_wrong_field_is_printed_neither_by_doctor_nor_on_the_screen() {
    let fields = [
        format!("api_key_file = \"{KEY}\""),
        format!("api_key_file = \"secrets/{KEY}\""),
        format!("api_key_command = [\"{KEY}\"]"),
        format!("api_key_command = [\"sh\", \"-c\", \"echo {KEY} >&2; exit 1\"]"),
        format!("api_key_command = [\"true\"]\nca_file = \"{KEY}\""),
        format!("api_key = \"other_key\"\nca_file = \"{KEY}\""),
        format!("api_key = \"other_key\"\norganization = \"{KEY}\""),
        format!("api_key {KEY}"),
        KEY.to_owned(),
        format!("api_key = \"other_key\"\n[ui]\ntheme = \"{KEY}\""),
    ];
    for field in fields {
        let config = format!("[profiles.a]\nbase_url = \"http://127.0.0.1:9\"\nproject_id = \"p\"\n{field}\n");
        let home = tempfile::tempdir().expect("a folder");
        write(&home.path().join("config.toml"), &config);
        for words in [&["doctor", "--offline"][..], &["doctor", "--json"], &["views"], &["status"], &["show", KEY]] {
            assert_no_secret(&format!("{field}, {words:?}"), &run(home.path(), words));
        }
        let mut pty = Pty::spawn(Setup::dashboard_with(&config));
        pty.wait_for_quiet();
        pty.send("q");
        pty.wait_for_end();
        assert_no_secret(&field, &pty.sent());
    }
}

/// Starts a service that repeats the key, in this form, in every field of a successful response; returns its URL.
fn start_repeating_service(form: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let job = serde_json::json!({
        "id": "job-1", "status": format!("waits for {form}"), "model": form, "createdAt": form,
        "source": { "repository": format!("https://{form}.example/x"), "ref": form },
        "prLink": format!("https://github.com/acme/docs/pull/1?key={form}"),
    });
    let views = serde_json::json!({
        "totals": { "human": 1, "ai": 1, "total": 2 }, "hasMore": false,
        "views": [{ "path": format!("/{form}/x"), "human": 1, "ai": form, "total": 2 }],
    });
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).is_ok_and(|read| read > 0) {}
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            let _ = reader.read_exact(&mut body);
            let response = if head.contains("/analytics/") { views.to_string() } else { job.to_string() };
            // With its underscore escaped, the key does not occur literally in the response.
            let response = response.replace('_', "\\u005f");
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", response.len());
            let _ = reader.get_mut().write_all((head + &response).as_bytes());
        }
    });
    url
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn a_key_repeated_by_a_successful_response_is_never_shown_or_stored() {
    let in_base64 = STANDARD.encode(format!("Bearer {KEY}"));
    for form in [KEY.to_owned(), KEY.to_uppercase(), STANDARD.encode(KEY), in_base64, KEY.replace('_', "%5f")] {
        let config = format!(
            "[profiles.a]\nbase_url = \"{}\"\nproject_id = \"p\"\napi_key = \"{KEY}\"\n",
            start_repeating_service(&form)
        );
        let home = tempfile::tempdir().expect("a folder");
        write(&home.path().join("config.toml"), &config);
        let commands: [&[&str]; 8] = [
            &["new", "Do it"],
            &["track", "job-1", "--json"],
            &["jobs"],
            &["jobs", "--json"],
            &["show", "job-1"],
            &["show", "job-1", "--json"],
            &["views", "--all", "--format", "csv"],
            &["export"],
        ];
        for words in commands {
            let output = run(home.path(), words);
            assert_no_secret(&format!("{words:?} with {form}"), &output);
        }
        assert!(run(home.path(), &["show", "job-1"]).contains("***"), "the fields are there");
        for path in files_below(&home.path().join("data")) {
            let bytes = std::fs::read(&path).expect("read");
            assert_no_secret(&path.display().to_string(), &String::from_utf8_lossy(&bytes));
        }
        let setup =
            Setup::dashboard_with(&config).with("DOCDECK_DATA_DIR", &home.path().join("data").display().to_string());
        let mut pty = Pty::spawn_at(160, 48, setup);
        pty.wait_for_text("Do it");
        for keys in ["\r", "\x1b", "2", "3", "1"] {
            pty.send(keys);
            pty.wait_for_quiet();
        }
        pty.send("q");
        pty.wait_for_end();
        assert_no_secret("the screen", &pty.sent());
    }
}

#[test]
fn a_prompt_is_sent_and_stored_unchanged_even_if_it_contains_the_key() {
    let home = tempfile::tempdir().expect("a folder");
    let service = crate::service::Service::start(home.path(), &[]);
    let prompt = "Rotate mint_0123456789abcdef in the docs";
    let docdeck = |words: &[&str]| {
        let mut command = Command::new(program());
        command.env_clear().envs(environment(home.path())).current_dir(home.path()).stdin(Stdio::null());
        command.env("DOCDECK_BASE_URL", &service.url).env("DOCDECK_API_KEY", &service.key);
        command.env("DOCDECK_PROJECT_ID", &service.project).env("DOCDECK_DATA_DIR", home.path().join("data"));
        String::from_utf8(command.args(words).output().expect("it ran").stdout).expect("text")
    };
    let job: serde_json::Value = serde_json::from_str(&docdeck(&["new", prompt, "--json"])).expect("JSON");
    assert_eq!((job["prompt"].as_str(), job["title"].as_str()), (Some(prompt), Some("Rotate *** in the docs")));
    assert!(docdeck(&["export"]).contains(prompt));
}
