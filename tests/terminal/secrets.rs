//! Runs the dashboard and every command with a marked API key and a marked proxy password. They may be only where the
//! user put them and in the `Authorization` header, and nowhere else.

use crate::support::pty::{Pty, Setup as Run, environment, program};
use crate::support::slow::sample;
use docdeck::api::{Client, ClientOptions};
use docdeck::config::environment::Environment;
use docdeck::config::{GlobalOptions, SetupState, resolve};
use docdeck::model::endpoint::ApiKey;
use docdeck::model::setup::{ConfigWritePermission, ExistingSettings, KeySourceInput, NewProfile};
use docdeck::model::text::CleanText;
use docdeck::tui::welcome::Welcome;
use docdeck::tui::{Effect, Msg, ProfilesEffect, ProfilesMsg};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

const KEY: &str = "mint_m4rk3dk3y";
const PASSWORD: &str = "m4rk3dp4ss";
/// Both secrets contain this text.
const MARK: &str = "m4rk3d";

/// A service that responds to every request with an error that quotes the received API key, as a careless gateway may
/// do, and that stores the requests.
struct EchoService {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl EchoService {
    fn start(status: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let received = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let received = Arc::clone(&received);
                std::thread::spawn(move || serve(stream, status, &received));
            }
        });
        Self { url, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic").clone()
    }
}

fn serve(stream: std::net::TcpStream, status: u16, received: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let length =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).ok()?;
        let key = head.lines().find_map(|line| line.split_once("Bearer ")).map_or("", |(_, key)| key).to_owned();
        received.lock().expect("no panic").push(head);
        let response = serde_json::json!({ "error": format!("The key {key} of Bearer {key} was used.") }).to_string();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            response.len()
        );
        reader.get_mut().write_all((head + &response).as_bytes()).ok()?;
    }
}

/// A home folder with a configuration that contains the API key. Its environment sets a proxy with a password.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new(url: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let config = folder.path().join("config.toml");
        let text = format!("[profiles.a]\nbase_url = \"{url}\"\nproject_id = \"p\"\napi_key = \"{KEY}\"\n");
        std::fs::write(&config, text).expect("written");
        std::fs::set_permissions(&config, std::fs::Permissions::from_mode(0o600)).expect("its mode");
        Self { folder }
    }

    fn variables(&self) -> Vec<(String, String)> {
        let at = |name: &str| self.folder.path().join(name).display().to_string();
        let proxy = format!("http://user:{PASSWORD}@127.0.0.1:9");
        let more =
            [("DOCDECK_CONFIG", at("config.toml")), ("DOCDECK_DATA_DIR", at("data")), ("HTTPS_PROXY", proxy.clone())];
        let more = more.into_iter().chain([("HTTP_PROXY", proxy.clone()), ("ALL_PROXY", proxy)]);
        environment(self.folder.path()).into_iter().chain(more.map(|(name, value)| (name.to_owned(), value))).collect()
    }

    fn dashboard(&self) -> Run {
        self.variables().iter().fold(Run::dashboard(), |setup, (name, value)| setup.with(name, value))
    }

    /// Runs a command to its end under a umask; returns the exit code and all output. Asserts that the arguments of the
    /// process contain no secret.
    fn run(&self, words: &[&str], umask: &str) -> (i32, String) {
        let mut command = Command::new("sh");
        let script = format!("umask {umask}; exec \"$0\" \"$@\"");
        command.env_clear().envs(self.variables()).current_dir(self.folder.path());
        command.args(["-c", &script, &program()]).args(words).process_group(0);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let arguments = std::fs::read(format!("/proc/{}/cmdline", child.id())).unwrap_or_default();
        assert_no_secret(&format!("the arguments of {words:?}"), &arguments);
        let mut err = child.stderr.take().expect("stderr");
        let errors = std::thread::spawn(move || {
            let mut output = String::new();
            err.read_to_string(&mut output).map(|_| output)
        });
        let mut output = String::new();
        child.stdout.take().expect("stdout").read_to_string(&mut output).expect("text");
        output.push_str(&errors.join().expect("read").expect("text"));
        (child.wait().expect("a status").code().unwrap_or(-1), output)
    }

    /// Returns all files below the home folder except the configuration, which contains the key because the user put it
    /// there.
    fn files(&self) -> Vec<PathBuf> {
        let mut found = files_below(self.folder.path());
        found.retain(|path| path.file_name().is_none_or(|name| name != "config.toml"));
        found
    }

    /// Asserts that the terminal output and the files contain no secret, and that there is a log. Called after the
    /// dashboard has ended.
    #[track_caller]
    fn assert_no_secret_leaked(&self, pty: &mut Pty) {
        assert_no_secret("the terminal", pty.sent().as_bytes());
        self.assert_no_secret_on_disk();
        assert!(self.files().iter().any(|path| path.ends_with("docdeck.log")), "{:?}", self.files());
    }

    fn assert_no_secret_on_disk(&self) {
        for path in self.files() {
            assert_no_secret(&path.display().to_string(), &std::fs::read(&path).expect("read"));
        }
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[track_caller]
fn assert_no_secret(what: &str, bytes: &[u8]) {
    let at = bytes.windows(MARK.len()).position(|part| part == MARK.as_bytes());
    let near =
        at.map(|at| String::from_utf8_lossy(bytes.get(at.saturating_sub(80)..).unwrap_or_default()).into_owned());
    assert_eq!(near, None, "{what} holds a secret");
}

/// Commands that read the settings or the database.
const COMMANDS: &[&[&str]] = &[
    &["new", "Mend the links"],
    &["new", "Mend the links", "--json"],
    &["new", "Mend the links", "--queue"],
    &["follow", "j1", "And more"],
    &["track", "j1"],
    &["track", "j2", "--json"],
    &["wait", "j1", "--timeout", "1"],
    &["jobs"],
    &["jobs", "--json"],
    &["show", "j1"],
    &["status"],
    &["status", "--json"],
    &["views", "--last", "7d"],
    &["views", "--all", "--format", "json"],
    &["export"],
    &["export", "all.jsonl"],
    &["import", "all.jsonl"],
    &["doctor"],
    &["doctor", "--json"],
    &["doctor", "--offline"],
    &["prune", "--dry-run"],
    &["watch", "--nonsense"],
];

/// Tries a sample of the statuses, and all of them with `DOCDECK_SLOW_TESTS`.
#[test]
fn no_command_prints_or_stores_the_key_even_if_the_service_repeats_it() {
    for status in sample([400, 401, 403, 404, 429, 500], 4) {
        let service = EchoService::start(status);
        let home = Home::new(&service.url);
        for words in COMMANDS {
            let (code, output) = home.run(words, "022");
            assert!(code != 101 && !output.is_empty() | (code == 0), "{words:?} {code}: {output}");
            assert_no_secret(&format!("{words:?} after a {status}"), output.as_bytes());
        }
        home.assert_no_secret_on_disk();
        assert!(service.requests().iter().any(|head| head.contains(KEY)), "the service was asked with the key");
        assert!(service.requests().iter().all(|head| !head.contains(PASSWORD)), "loopback needs no proxy");
    }
}

#[test]
fn neither_key_nor_proxy_password_is_printed_if_the_proxy_fails() {
    // Nothing listens at the proxy, so the name is never resolved.
    let home = Home::new("https://docs.invalid");
    for words in COMMANDS {
        let (_, output) = home.run(words, "022");
        assert_no_secret(&format!("{words:?}"), output.as_bytes());
    }
    home.assert_no_secret_on_disk();
}

#[test]
fn the_dashboard_shows_and_stores_neither_secret() {
    let service = EchoService::start(400);
    let home = Home::new(&service.url);
    let mut pty = Pty::spawn(home.dashboard());
    pty.wait_for_text("No jobs yet.");
    pty.send("nA first job\x13");
    pty.wait_for_text("Rejected: “A first job”");
    pty.press_until("3", " create ");
    for keys in ["2", "3", "1", "?", "\x1b", "P", "\x1b"] {
        pty.send(keys);
        pty.wait_for_quiet();
    }
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
    home.assert_no_secret_leaked(&mut pty);
}

/// `DOCDECK_TEST_PANIC` has an effect only in debug builds.
#[test]
fn a_panic_reveals_neither_secret() {
    let service = EchoService::start(400);
    for place in ["loop", "task"] {
        let home = Home::new(&service.url);
        let mut pty = Pty::spawn(home.dashboard().with("DOCDECK_TEST_PANIC", place));
        assert_eq!(pty.wait_for_end(), 101);
        home.assert_no_secret_leaked(&mut pty);
    }
}

#[test]
fn a_key_in_the_environment_is_passed_to_no_program() {
    let service = EchoService::start(500);
    let home = Home::new(&service.url);
    let seen = home.folder.path().join("seen");
    let config = home.folder.path().join("config.toml");
    let text = format!(
        "[profiles.a]\nbase_url = \"{}\"\nproject_id = \"p\"\n\
         [[commands]]\nkey = \"F5\"\nname = \"look\"\nrun = [\"sh\", \"-c\", \"env > {}\"]\n",
        service.url,
        seen.display()
    );
    std::fs::write(&config, text).expect("written");
    let mut pty = Pty::spawn(home.dashboard().with("DOCDECK_API_KEY", KEY));
    pty.wait_for_text("No jobs yet.");
    pty.send("\x1b[15~");
    pty.wait_for("the command", |screen| !screen.alternate_screen() && screen.contents().contains("Press Enter"));
    pty.send("\r");
    pty.wait_for("the dashboard", |screen| screen.alternate_screen() && screen.contents().contains("No jobs yet."));
    pty.send("q");
    pty.wait_for_end();
    let environment = std::fs::read_to_string(&seen).expect("the command ran");
    assert!(environment.contains("HOME="), "{environment}");
    assert!(!environment.contains(KEY), "{environment}");
}

#[test]
fn http_to_another_computer_is_refused_before_anything_is_sent() {
    // A request would go to the proxy, which stores all requests that it receives.
    let proxy = EchoService::start(200);
    for url in ["http://docs.invalid", "http://192.0.2.1", "http://127.0.0.1.nip.invalid", "http://localhost.invalid"] {
        let home = Home::new(url);
        for words in [&["new", "Mend it"][..], &["views"], &["track", "j1"], &["doctor"]] {
            let mut command = Command::new(program());
            command
                .env_clear()
                .envs(home.variables())
                .envs(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].map(|name| (name, &proxy.url)));
            let output = command.args(words).stdin(Stdio::null()).output().expect("it ran");
            let printed =
                String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "{url} {words:?}: {printed}");
            assert!(printed.contains("se https: plain http"), "{url} {words:?}: {printed}");
            assert_no_secret(&format!("{url} {words:?}"), printed.as_bytes());
        }
        home.assert_no_secret_on_disk();
    }
    assert_eq!(proxy.requests(), Vec::<String>::new());
}

#[test]
fn stored_files_are_private_under_every_umask() {
    for umask in ["000", "022", "077"] {
        let service = EchoService::start(400);
        let home = Home::new(&service.url);
        for words in [&["new", "Mend it"][..], &["export", "data/all.jsonl"], &["doctor", "--offline"]] {
            home.run(words, umask);
        }
        let setup = home.dashboard().run_under(&["sh", "-c", &format!("umask {umask}; exec \"$0\" \"$@\"")]);
        let mut pty = Pty::spawn(setup);
        pty.wait_for_text("Mend it");
        pty.send("q");
        pty.wait_for_end();
        let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
        let data = home.folder.path().join("data");
        assert_eq!(mode(&data), 0o700, "umask {umask}");
        let files = files_below(&data);
        assert!(files.iter().any(|path| path.ends_with("docdeck.db")) && files.len() > 2, "{files:?}");
        for file in files {
            assert_eq!(mode(&file), 0o600, "{} under umask {umask}", file.display());
        }
    }
}

/// Returns an error and its sources, in every form in which they can be printed.
fn all_formats(error: &dyn std::error::Error) -> String {
    let mut all = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        all.push_str(&format!("{error} {error:#} {error:?} {error:#?}\n"));
        next = error.source();
    }
    all
}

#[test]
fn debug_output_contains_no_key() {
    let key = || ApiKey::new(KEY).expect("a key");
    let home = Home::new("https://docs.example");
    let global_options =
        GlobalOptions { config: Some(home.folder.path().join("config.toml")), ..GlobalOptions::default() };
    let environment = Environment::from_lookup(|name| (name == "DOCDECK_API_KEY").then(|| KEY.to_owned()));
    let settings =
        [Environment::default(), environment.clone()].map(|environment| resolve(&global_options, &environment));
    assert!(settings.iter().all(|setup| matches!(setup, Ok(SetupState::Ready(_)))));
    let profile = NewProfile {
        name: "a".to_owned(),
        base_url: None,
        project: "p".to_owned(),
        organization: None,
        ca_file: None,
        key: KeySourceInput::Typed(key()),
    };
    let scope = profile.scope();
    let mut welcome = Welcome::new(&ExistingSettings::default(), CleanText::line("/c/config.toml"));
    welcome.form.secret.push(KEY);
    let (effects, msg) = (
        [
            Effect::Profiles(ProfilesEffect::WriteConfig {
                attempt: 1,
                profile: Box::new(profile.clone()),
                allowed: ConfigWritePermission::Add,
            }),
            Effect::Profiles(ProfilesEffect::TestProfile {
                attempt: 1,
                profile: Box::new(profile.clone()),
                key: key(),
            }),
            Effect::Profiles(ProfilesEffect::ReadNewProfileKey { attempt: 1, key: profile.key.clone() }),
            Effect::Profiles(ProfilesEffect::SwitchProfile(0, key())),
            Effect::Profiles(ProfilesEffect::AddProfile(Box::new(profile.clone()), Some(key()))),
        ],
        Msg::Profiles(ProfilesMsg::NewProfileKeyRead { attempt: 1, result: Ok(key()) }),
    );
    let client = Client::new(scope, key(), ClientOptions::default());
    let all = format!("{settings:#?} {environment:?} {profile:?} {welcome:?} {effects:?} {msg:?} {client:#?}");
    assert!(all.contains("***"), "{all}");
    assert_no_secret("what is printed", all.as_bytes());
}

#[test]
fn no_configuration_error_repeats_a_misplaced_key() {
    let home = Home::new("https://docs.example");
    let path = home.folder.path().join("config.toml");
    let global_options = GlobalOptions { config: Some(path.clone()), ..GlobalOptions::default() };
    let good = format!("[profiles.a]\nproject_id = \"p\"\napi_key = \"{KEY}\"\n");
    let mistakes = [
        format!("{good}api_key_file = \"k\"\n"),
        format!("{good}nonsense = 1\n"),
        format!("{good}[poll]\nper_minute = 0\n"),
        format!("[profiles.a]\napi_key = [\"{KEY}\"]\n"),
        format!("[profiles.a]\napi_key = {KEY}\n"),
        format!("[profiles.a]\napi_key = \"{KEY}\n"),
        format!("[profiles.a]\napi_key_command = \"{KEY}\"\n"),
        format!("[profiles.a]\napi_key = \"{KEY}\" \"{KEY}\"\n"),
        format!("[profiles.a]\nproject_id = \"p\"\napi_key = \"{KEY} and more\"\n"),
        format!("profiles = \"{KEY}\"\n"),
        format!("poll.per_minute = \"{KEY}\"\n"),
        format!("ui.color = \"{KEY}\"\n"),
        format!("[profiles.a]\napi_key = \"\"\"{KEY}\n\"\"\n"),
    ];
    for text in mistakes {
        std::fs::write(&path, &text).expect("written");
        let error = resolve(&global_options, &Environment::default()).expect_err(&text);
        assert_no_secret(&text.replace(MARK, "…"), all_formats(&error).as_bytes());
    }
    std::fs::write(&path, &good).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("its mode");
    let error = resolve(&global_options, &Environment::default()).expect_err("others can read it");
    assert_no_secret("a file for all", all_formats(&error).as_bytes());
}
