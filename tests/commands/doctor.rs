//! `docdeck doctor`: finds problems, changes nothing, and prints nothing private.

use assert_cmd::Command;
use docdeck::model::change::QueueChange;
use docdeck::model::endpoint::Scope;
use docdeck::model::ledger::{Quota, Wait};
use docdeck::model::log::Operation;
use docdeck::sim::{Sim, SimOptions};
use docdeck::store::Store;
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A temporary home folder, empty at first.
pub(crate) struct HomeFolder(TempDir);

impl HomeFolder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    fn data_folder(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Writes a file that only its owner can read.
    pub(crate) fn write_private_file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("a mode");
        path
    }

    /// Returns a command that runs the program with these arguments in this home folder, without the environment of the
    /// real user.
    pub(crate) fn docdeck_command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_docdeck"));
        command.env_clear().env("HOME", self.path()).env("PATH", "/usr/bin:/bin").env("LANG", "C.UTF-8");
        command
            .env("TERM", "xterm-256color")
            .env("DOCDECK_DATA_DIR", self.data_folder())
            .current_dir(self.path())
            .args(words);
        command
    }

    /// Returns the size, modification time and mode of each file and folder in the home folder.
    fn inventory(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let entry = entry.expect("an entry");
                let known = entry.metadata().expect("there");
                let fingerprint =
                    format!("{} {:?} {:o}", known.len(), known.modified().expect("a time"), known.permissions().mode());
                found.insert(entry.path(), fingerprint);
                if known.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        found
    }
}

/// Runs the command. Returns its exit code and stdout.
fn run(command: &mut Command) -> (i32, String) {
    let output = command.output().expect("it runs");
    (output.status.code().expect("a code"), String::from_utf8(output.stdout).expect("text"))
}

fn run_json(command: &mut Command) -> (i32, Value) {
    let (code, text) = run(command);
    (code, serde_json::from_str(&text).expect("JSON"))
}

/// Returns the state, text and remedy of a check in the JSON output of `docdeck doctor`.
fn find_check<'a>(report: &'a Value, section: &str, name: &str) -> (&'a str, &'a str, Option<&'a str>) {
    let checks = report["checks"].as_array().expect("checks");
    let found = checks
        .iter()
        .find(|check| check["section"].as_str().is_some_and(|s| s.starts_with(section)) && check["check"] == name);
    let found = found.unwrap_or_else(|| panic!("no {section}/{name} in {report:#}"));
    (found["state"].as_str().expect("a state"), found["message"].as_str().expect("words"), found["remedy"].as_str())
}

async fn sim() -> Sim {
    Sim::start(SimOptions { jobs: 0, pages: 10, ..SimOptions::default() }).await.expect("a simulator")
}

fn with_sim(mut command: Command, sim: &Sim) -> Command {
    command.env("DOCDECK_BASE_URL", sim.base_url()).env("DOCDECK_API_KEY", sim.api_key());
    command.env("DOCDECK_PROJECT_ID", sim.project());
    command
}

async fn on_another_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.expect("no panic")
}

#[test]
fn without_configuration_doctor_reports_what_is_missing_and_creates_nothing() {
    let home = HomeFolder::new();
    let (code, report) = run_json(&mut home.docdeck_command(&["doctor", "--json"]));
    assert_eq!((code, &report["ok"], &report["problems"]), (1, &Value::Bool(false), &Value::from(2)));
    let (state, message, remedy) = find_check(&report, "Configuration", "key");
    assert_eq!((state, message), ("problem", "no API key is set"));
    assert!(remedy.is_some_and(|remedy| remedy.contains("DOCDECK_API_KEY") && remedy.contains("docdeck init")));
    assert_eq!(find_check(&report, "Service", "connection").0, "skipped");
    assert_eq!(find_check(&report, "Files", "database"), ("ok", "none yet", None));
    assert!(home.inventory().is_empty(), "{:?}", home.inventory());
}

#[tokio::test]
async fn with_a_valid_setup_doctor_finds_no_problem_and_sends_one_request_without_an_hourly_limit() {
    let (home, sim) = (HomeFolder::new(), sim().await);
    let key = home.write_private_file("key", &format!("{}\n", sim.api_key()));
    let config = format!(
        "default_profile = \"acme\"\n[profiles.acme]\nbase_url = \"{}\"\nproject_id = \"{}\"\napi_key_file = \"{}\"\n\
         [profiles.other]\nproject_id = \"x\"\n",
        sim.base_url(),
        sim.project(),
        key.display()
    );
    let config = home.write_private_file("config.toml", &config);
    let mut command = home.docdeck_command(&["doctor", "--json", "--config", config.to_str().expect("a path")]);
    let (code, report) = on_another_thread(move || run_json(&mut command)).await;
    assert_eq!((code, &report["ok"]), (0, &Value::Bool(true)), "{report:#}");
    assert_eq!(find_check(&report, "Configuration", "file").1, "~/config.toml (--config), mode 600");
    assert_eq!(find_check(&report, "Configuration", "profile").1, "acme (file), 1 other");
    assert_eq!(find_check(&report, "Configuration", "base URL").1, format!("{} (file)", sim.base_url()));
    assert_eq!(find_check(&report, "Configuration", "key").1, "from api_key_file ~/key");
    assert!(find_check(&report, "Service", "access").1.starts_with("read access works (probe job not found"));
    assert_eq!(find_check(&report, "Service", "clock").0, "ok");
    assert_eq!(sim.requests(Operation::GetJob), 1);
    assert_eq!([Operation::Create, Operation::FollowUp, Operation::Views].map(|of| sim.requests(of)), [0, 0, 0]);
}

#[tokio::test]
async fn the_report_contains_no_secret_and_no_user_name() {
    let (home, sim) = (HomeFolder::new(), sim().await);
    for words in [&["doctor"][..], &["doctor", "--json"]] {
        let mut command = with_sim(home.docdeck_command(words), &sim);
        command.env("HTTPS_PROXY", "http://me:pr0xypw@127.0.0.1:9");
        let (code, text) = on_another_thread(move || run(&mut command)).await;
        assert_eq!(code, 0, "{text}");
        for private in [sim.api_key(), sim.project(), home.path().to_str().expect("a path"), "pr0xypw"] {
            assert!(!text.contains(private), "{private}: {text}");
        }
    }
}

#[tokio::test]
async fn the_source_of_each_setting_is_reported() {
    let (home, sim) = (HomeFolder::new(), sim().await);
    let mut command =
        with_sim(home.docdeck_command(&["doctor", "--offline", "--json", "--project", "66f1c0ffee99"]), &sim);
    let (code, report) = on_another_thread(move || run_json(&mut command)).await;
    assert_eq!(code, 0);
    assert_eq!(find_check(&report, "Configuration", "project").1, "66f1*** (--project)");
    assert_eq!(find_check(&report, "Configuration", "base URL").1, format!("{} (DOCDECK_BASE_URL)", sim.base_url()));
    assert_eq!(find_check(&report, "Configuration", "key").1, "from DOCDECK_API_KEY in the environment");
    assert_eq!(find_check(&report, "Service", "connection"), ("skipped", "no request because of --offline", None));
    assert_eq!(sim.requests(Operation::GetJob), 0);
}

#[tokio::test]
async fn a_rejected_api_key_an_unreachable_service_and_an_invalid_base_url_are_problems() {
    let (home, sim) = (HomeFolder::new(), sim().await);
    let mut command = with_sim(home.docdeck_command(&["doctor", "--json"]), &sim);
    command.env("DOCDECK_API_KEY", "mint_wr0ng");
    let (code, report) = on_another_thread(move || run_json(&mut command)).await;
    let (state, message, _) = find_check(&report, "Service", "access");
    assert_eq!((code, state), (1, "problem"));
    assert!(message.contains("401") && !report.to_string().contains("wr0ng"), "{message}");

    let mut command = with_sim(home.docdeck_command(&["doctor", "--json"]), &sim);
    command.env("DOCDECK_BASE_URL", "http://127.0.0.1:9");
    let (code, report) = on_another_thread(move || run_json(&mut command)).await;
    let (state, message, _) = find_check(&report, "Service", "connection");
    assert_eq!((code, state), (1, "problem"));
    assert!(message.contains("connection refused"), "{message}");

    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let mut command = with_sim(home.docdeck_command(&["doctor", "--json"]), &sim);
    command.env("DOCDECK_BASE_URL", format!("http://{}", listener.local_addr().expect("bound")));
    // Ends with the test's process, at the latest.
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let (code, report) = on_another_thread(move || run_json(&mut command)).await;
    let (state, message, _) = find_check(&report, "Service", "connection");
    assert_eq!((code, state), (1, "problem"), "a connection that is closed without an answer");
    assert!(!message.contains("answered in"), "{message}");

    let mut command = with_sim(home.docdeck_command(&["doctor", "--json"]), &sim);
    command.env("DOCDECK_BASE_URL", "mint_pasted_into_the_wrong_field");
    let (code, report) = on_another_thread(move || run_json(&mut command)).await;
    assert_eq!((code, find_check(&report, "Configuration", "base URL").0), (1, "problem"));
    assert!(!report.to_string().contains("pasted"), "{report}");
}

#[tokio::test]
async fn an_unknown_project_is_a_problem() {
    let (home, sim) = (HomeFolder::new(), sim().await);
    let mut command = with_sim(home.docdeck_command(&["doctor", "--json"]), &sim);
    command.env("DOCDECK_PROJECT_ID", "66f1c0ffee00");
    let (code, report) = on_another_thread(move || run_json(&mut command)).await;
    let (state, message, _) = find_check(&report, "Service", "access");
    assert_eq!((code, state), (1, "problem"), "{report:#}");
    assert!(message.contains("“Project not found”") && message.contains("check the project id"), "{message}");
}

#[tokio::test]
async fn doctor_counts_the_jobs_and_prompts_in_the_store_without_changing_it() {
    let (home, sim) = (HomeFolder::new(), sim().await);
    let scope = Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None };
    let now = chrono::Utc::now();
    let (store, _) = Store::open(&home.data_folder(), now).expect("a store");
    store.add_new_job(&scope, "Fix the links", now).await.expect("stored");
    let (_, held) = store.add_new_job(&scope, "Fix the menu", now).await.expect("stored");
    store.change_queue(&[held.key], QueueChange::Pause, now).await.expect("paused");
    store.spend(&scope, Quota::Views, now).await.expect("written").expect("a place");
    let wait = Wait { until: now + chrono::TimeDelta::minutes(5), is_estimate: false };
    store.record_rate_limit(&scope, Quota::Create, wait, now).await.expect("written");
    store.close().await;
    let before = home.inventory();
    let mut command = with_sim(home.docdeck_command(&["doctor", "--json"]), &sim);
    let (code, report) = on_another_thread(move || run_json(&mut command)).await;
    assert_eq!(code, 0, "{report:#}");
    let (state, message, _) = find_check(&report, "Files", "database");
    assert!(
        state == "ok"
            && message.starts_with("intact, ")
            && message.contains(", schema ")
            && message.ends_with(", mode 600"),
        "{message}"
    );
    assert_eq!(
        find_check(&report, "Files", "jobs").1,
        "2 tracked, 2 in this project; 1 prompt queued, 1 paused (`p` in the dashboard resumes them), 0 drafts"
    );
    let (state, message, remedy) = find_check(&report, "Files", "requests");
    assert!(
        state == "warning"
            && remedy.is_some_and(|remedy| remedy.ends_with("if docdeck is running; paused ones stay paused")),
        "{remedy:?}"
    );
    assert!(message.starts_with("new jobs 0/100 (limit reached until "), "{message}");
    assert!(
        message.contains(", follow-ups 0/100, ") && message.ends_with(" 1/100 this hour, this computer"),
        "{message}"
    );
    assert_eq!(home.inventory(), before);
}

#[test]
fn a_damaged_store_is_reported_and_not_changed() {
    let home = HomeFolder::new();
    std::fs::create_dir(home.data_folder()).expect("a folder");
    std::fs::write(home.data_folder().join("docdeck.db"), vec![0x5a; 8192]).expect("written");
    let before = home.inventory();
    let (code, report) = run_json(&mut home.docdeck_command(&["doctor", "--json"]));
    let (state, message, remedy) = find_check(&report, "Files", "database");
    assert_eq!((code, state), (1, "problem"));
    assert!(
        message.starts_with("damaged") && remedy.is_some_and(|remedy| remedy.contains("docdeck doctor --repair")),
        "{message}"
    );
    assert_eq!(home.inventory(), before);
}

#[tokio::test]
async fn a_damaged_store_is_repaired_on_request() {
    let home = HomeFolder::new();
    let scope = Scope { base_url: "https://a.example".into(), project: "p".into(), organization: None };
    let now = chrono::Utc::now();
    let (store, _) = Store::open(&home.data_folder(), now).expect("a store");
    store.add_new_job(&scope, "Fix the links", now).await.expect("stored");
    store.close().await;
    let (_, report) = run_json(&mut home.docdeck_command(&["doctor", "--json", "--offline", "--repair"]));
    assert_eq!(find_check(&report, "Files", "repair"), ("ok", "nothing to repair", None));
    let file = home.data_folder().join("docdeck.db");
    let mut bytes = std::fs::read(&file).expect("bytes");
    bytes[..100].fill(0);
    std::fs::write(&file, &bytes).expect("written");
    let (_, report) = run_json(&mut home.docdeck_command(&["doctor", "--json", "--offline", "--repair"]));
    let (state, message, _) = find_check(&report, "Files", "repair");
    assert_eq!(state, "warning");
    assert!(
        message.contains("Recovered 1 job, 1 prompt and 0 drafts; some may be missing. 1 queued prompt is paused."),
        "{message}"
    );
    assert_eq!(find_check(&report, "Files", "database").0, "ok");
    assert!(find_check(&report, "Files", "jobs").1.contains("1 paused"));
}

#[test]
fn a_folder_in_place_of_the_database_is_a_problem_with_a_remedy() {
    let home = HomeFolder::new();
    std::fs::create_dir_all(home.data_folder().join("docdeck.db")).expect("a folder");
    let (code, report) = run_json(&mut home.docdeck_command(&["doctor", "--json"]));
    let (state, message, remedy) = find_check(&report, "Files", "database");
    assert_eq!((code, state, message), (1, "problem", "docdeck.db is a folder, not a file"));
    assert!(remedy.is_some_and(|remedy| remedy.starts_with("move ")), "{remedy:?}");
}

#[tokio::test]
async fn a_damaged_page_is_found_by_the_integrity_check() {
    let home = HomeFolder::new();
    let scope = Scope { base_url: "https://a.example".into(), project: "p".into(), organization: None };
    let now = chrono::Utc::now();
    let (store, _) = Store::open(&home.data_folder(), now).expect("a store");
    for n in 0..400 {
        store.add_new_job(&scope, &format!("{n} {}", "words ".repeat(60)), now).await.expect("stored");
    }
    store.close().await;
    let path = home.data_folder().join("docdeck.db");
    let mut bytes = std::fs::read(&path).expect("read");
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes.get_mut(middle..middle + 4096).expect("a page").fill(0x5a);
    std::fs::write(&path, bytes).expect("written");
    let (code, report) = run_json(&mut home.docdeck_command(&["doctor", "--json"]));
    let (state, message, _) = find_check(&report, "Files", "database");
    assert_eq!((code, state), (1, "problem"), "{message}");
    assert!(message.starts_with("damaged: "), "{message}");
}

#[test]
fn a_store_of_a_newer_docdeck_and_another_programs_database_are_problems() {
    let home = HomeFolder::new();
    std::fs::create_dir(home.data_folder()).expect("a folder");
    let path = home.data_folder().join("docdeck.db");
    let database = create_database(&path, "PRAGMA user_version = 99; CREATE TABLE t (a)");
    let (code, report) = run_json(&mut home.docdeck_command(&["doctor", "--json"]));
    assert!(code == 1 && find_check(&report, "Files", "database").1.contains("newer docdeck"), "{report:#}");
    std::fs::remove_file(database).expect("removed");
    create_database(&path, "CREATE TABLE t (a)");
    let (code, report) = run_json(&mut home.docdeck_command(&["doctor", "--json"]));
    assert!(code == 1 && find_check(&report, "Files", "database").1.contains("another program"), "{report:#}");
}

/// Creates a database with this SQL, as another program or a newer docdeck might.
fn create_database<'a>(path: &'a Path, sql: &str) -> &'a Path {
    let database = rusqlite::Connection::open(path).expect("a database");
    database.execute_batch(sql).expect("made");
    path
}

#[test]
fn a_file_in_place_of_the_data_folder_is_a_problem() {
    let home = HomeFolder::new();
    let file = home.write_private_file("file", "");
    let words = ["doctor", "--json", "--data-dir", file.to_str().expect("a path")];
    let (code, report) = run_json(&mut home.docdeck_command(&words));
    assert_eq!((code, find_check(&report, "Files", "data folder").1), (1, "~/file is not a folder"));
    let below = file.join("below");
    let (_, report) =
        run_json(&mut home.docdeck_command(&["doctor", "--json", "--data-dir", below.to_str().expect("a path")]));
    assert_eq!(find_check(&report, "Files", "data folder").0, "problem");
}

#[test]
fn other_running_instances_are_reported() {
    let home = HomeFolder::new();
    std::fs::create_dir(home.data_folder()).expect("a folder");
    let lock = std::fs::File::create(home.data_folder().join("instance-4711-00000000deadbeef.lock")).expect("made");
    lock.lock().expect("locked");
    let (_, report) = run_json(&mut home.docdeck_command(&["doctor", "--json", "--project", "p"]));
    assert_eq!(find_check(&report, "Files", "running").1, "process 4711; neither checks jobs nor sends prompts");
}

#[test]
fn the_proxy_is_reported_without_its_password() {
    let home = HomeFolder::new();
    let mut command = home.docdeck_command(&["doctor", "--json", "--offline", "--project", "p"]);
    command.env("HTTPS_PROXY", "http://me:pr0xypw@proxy.example:3128");
    let (_, report) = run_json(&mut command);
    let message = find_check(&report, "Service", "proxy").1;
    assert_eq!(message, "http://proxy.example:3128 (HTTPS_PROXY, with user and password)");
    command.env("NO_PROXY", "mintlify.com").env("SSL_CERT_FILE", "/nonexistent");
    let (code, report) = run_json(&mut command);
    assert_eq!(
        find_check(&report, "Service", "proxy").1,
        "none: NO_PROXY excludes api.mintlify.com (HTTPS_PROXY is set)"
    );
    let (state, _, remedy) = find_check(&report, "Service", "certificates");
    assert_eq!((code, state), (1, "problem"));
    assert!(remedy.is_some_and(|remedy| remedy.contains("ca-certificates")));
}

#[test]
fn in_a_pipe_the_report_is_plain_text_without_colours() {
    let home = HomeFolder::new();
    let (code, text) = run(&mut home.docdeck_command(&["doctor"]));
    assert_eq!(code, 1);
    assert!(text.contains("\nConfiguration\n  ok       file          none at ~/"), "{text}");
    assert!(text.ends_with("\n2 problems.\n") && !text.contains('\x1b') && text.is_ascii(), "{text}");
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
}

#[tokio::test]
async fn access_for_other_users_is_a_warning_with_a_remedy() {
    let home = HomeFolder::new();
    let (store, _) = Store::open(&home.data_folder(), chrono::Utc::now()).expect("a store");
    store.close().await;
    let folder = home.data_folder();
    let doctor = || run_json(&mut home.docdeck_command(&["doctor", "--json", "--offline"])).1;
    assert_eq!(find_check(&doctor(), "Files", "data folder").0, "ok");
    for (mode, expected) in
        [(0o750, "mode 750: other users can read it"), (0o770, "mode 770: other users can write to it")]
    {
        set_mode(&folder, mode);
        let report = doctor();
        let (state, message, remedy) = find_check(&report, "Files", "data folder");
        assert!(state == "warning" && message.ends_with(expected), "{message}");
        assert!(remedy.is_some_and(|remedy| remedy.starts_with("chmod 700 ~/")), "{remedy:?}");
    }
}

#[test]
fn a_configuration_file_that_others_can_read_is_a_warning_or_a_problem_if_it_contains_a_key() {
    let home = HomeFolder::new();
    let file = home.write_private_file("config.toml", "[profiles.a]\nproject_id = \"p\"\n");
    set_mode(&file, 0o644);
    let words = ["doctor", "--json", "--offline", "--config", file.to_str().expect("a path")];
    let (_, report) = run_json(&mut home.docdeck_command(&words));
    let (state, message, remedy) = find_check(&report, "Configuration", "file");
    assert_eq!((state, remedy), ("warning", Some("chmod 600 ~/config.toml")));
    assert!(message.starts_with("~/config.toml (--config), mode 644: other users can read or change it"), "{message}");
    std::fs::write(&file, "[profiles.a]\nproject_id = \"p\"\napi_key = \"mint_1nl1ne\"\n").expect("written");
    let (code, report) = run_json(&mut home.docdeck_command(&words));
    let (state, message, _) = find_check(&report, "Configuration", "file");
    assert!(code == 1 && state == "problem" && message.ends_with("so the key is not used (profile a)"), "{message}");
    assert_eq!(find_check(&report, "Configuration", "key").0, "problem");
    assert!(!report.to_string().contains("1nl1ne"), "{report}");
}

#[test]
fn the_proxy_is_reported_without_a_project() {
    let home = HomeFolder::new();
    let mut command = home.docdeck_command(&["doctor", "--json"]);
    command.env("HTTPS_PROXY", "http://me:pr0xypw@proxy.example:3128");
    let (_, report) = run_json(&mut command);
    assert_eq!(find_check(&report, "Configuration", "project").0, "problem");
    let message = find_check(&report, "Service", "proxy").1;
    assert_eq!(message, "http://proxy.example:3128 (HTTPS_PROXY, with user and password)");
    assert!(!report.to_string().contains("pr0xypw"), "{report}");
}

#[test]
fn clipboard_and_mouse_are_reported() {
    let home = HomeFolder::new();
    let (_, report) = run_json(&mut home.docdeck_command(&["doctor", "--json"]));
    assert_eq!(find_check(&report, "Terminal", "clipboard"), ("ok", "OSC 52, if the terminal allows it", None));
    assert!(find_check(&report, "Terminal", "mouse").1.starts_with("on (SGR 1006)"));
    let text = "[ui]\nmouse = false\nclipboard = [\"docdeck-no-such-program\"]\n";
    let file = home.write_private_file("config.toml", text);
    let (_, report) =
        run_json(&mut home.docdeck_command(&["doctor", "--json", "--config", file.to_str().expect("a path")]));
    let (state, message, _) = find_check(&report, "Terminal", "clipboard");
    assert!(
        state == "ok" && message.ends_with("; also to docdeck-no-such-program (clipboard under [ui])"),
        "{message}"
    );
    assert_eq!(find_check(&report, "Terminal", "mouse").1, "off (mouse under [ui]); press M to turn it on");
}

#[test]
fn api_keys_and_passwords_are_never_printed_whatever_their_source() {
    let home = HomeFolder::new();
    let script = "echo mint_pr1nted; echo wrong: mint_pr1nted >&2; exit 1";
    let config = format!("[profiles.a]\nproject_id = \"p\"\napi_key_command = [\"sh\", \"-c\", \"{script}\"]\n");
    let file = home.write_private_file("config.toml", &config);
    let config = file.to_str().expect("a path");
    let (code, text) = run(&mut home.docdeck_command(&["doctor", "--config", config]));
    assert!(code == 1 && text.contains("failed with code 1 and printed: wrong: ***"), "{text}");
    let mut command = home.docdeck_command(&["doctor", "--config", config]);
    command.env("DOCDECK_BASE_URL", "https://me:b4sepw@a.example").env("DOCDECK_API_KEY", "mint_3nv");
    command.env("HTTPS_PROXY", "me:pr0xypw");
    let (_, second_text) = run(&mut command);
    for secret in ["pr1nted", "b4sepw", "3nv", "pr0xypw"] {
        assert!(!text.contains(secret) && !second_text.contains(secret), "{secret}: {text}{second_text}");
    }
}
