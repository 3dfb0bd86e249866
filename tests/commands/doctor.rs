//! `docdeck doctor`: what it finds, that it changes nothing, and that what it prints can be pasted anywhere.

use assert_cmd::Command;
use docdeck::model::change::QueueChange;
use docdeck::model::endpoint::Scope;
use docdeck::model::ledger::Limited;
use docdeck::model::log::Operation;
use docdeck::sim::{Sim, SimOptions};
use docdeck::store::Store;
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A home folder of nobody.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Writes a file that only its owner can read.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("a mode");
        path
    }

    /// The program with these words, in an environment that knows nothing of this computer's user.
    pub(crate) fn docdeck(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_docdeck"));
        command.env_clear().env("HOME", self.path()).env("PATH", "/usr/bin:/bin").env("LANG", "C.UTF-8");
        command.env("TERM", "xterm-256color").env("DOCDECK_DATA_DIR", self.data()).current_dir(self.path()).args(words);
        command
    }

    /// Everything below with its size, time and mode.
    fn inventory(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let entry = entry.expect("an entry");
                let known = entry.metadata().expect("there");
                let said =
                    format!("{} {:?} {:o}", known.len(), known.modified().expect("a time"), known.permissions().mode());
                found.insert(entry.path(), said);
                if known.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        found
    }
}

/// Exit code, and what stands on stdout.
fn ran(command: &mut Command) -> (i32, String) {
    let output = command.output().expect("it runs");
    (output.status.code().expect("a code"), String::from_utf8(output.stdout).expect("text"))
}

fn json(command: &mut Command) -> (i32, Value) {
    let (code, text) = ran(command);
    (code, serde_json::from_str(&text).expect("JSON"))
}

/// The line of this name in this section: its state, what it says and the remedy.
fn check<'a>(report: &'a Value, section: &str, name: &str) -> (&'a str, &'a str, Option<&'a str>) {
    let checks = report["checks"].as_array().expect("checks");
    let found = checks
        .iter()
        .find(|check| check["section"].as_str().is_some_and(|s| s.starts_with(section)) && check["check"] == name);
    let found = found.unwrap_or_else(|| panic!("no {section}/{name} in {report:#}"));
    (found["state"].as_str().expect("a state"), found["says"].as_str().expect("words"), found["remedy"].as_str())
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
fn without_configuration_it_says_what_is_missing_and_makes_nothing() {
    let home = Home::new();
    let (code, report) = json(&mut home.docdeck(&["doctor", "--json"]));
    assert_eq!((code, &report["ok"], &report["problems"]), (1, &Value::Bool(false), &Value::from(2)));
    let (state, says, remedy) = check(&report, "Configuration", "key");
    assert_eq!((state, says), ("problem", "no API key is set"));
    assert!(remedy.is_some_and(|remedy| remedy.contains("DOCDECK_API_KEY") && remedy.contains("docdeck init")));
    assert_eq!(check(&report, "Service", "request").0, "skipped");
    assert_eq!(check(&report, "Files", "store"), ("ok", "none yet", None));
    assert!(home.inventory().is_empty(), "{:?}", home.inventory());
}

#[tokio::test]
async fn a_good_setup_has_no_problem_and_costs_one_get_that_is_not_limited() {
    let (home, sim) = (Home::new(), sim().await);
    let key = home.write("key", &format!("{}\n", sim.api_key()));
    let config = format!(
        "default_profile = \"acme\"\n[profiles.acme]\nbase_url = \"{}\"\nproject_id = \"{}\"\napi_key_file = \"{}\"\n\
         [profiles.other]\nproject_id = \"x\"\n",
        sim.base_url(),
        sim.project(),
        key.display()
    );
    let config = home.write("config.toml", &config);
    let mut command = home.docdeck(&["doctor", "--json", "--config", config.to_str().expect("a path")]);
    let (code, report) = on_another_thread(move || json(&mut command)).await;
    assert_eq!((code, &report["ok"]), (0, &Value::Bool(true)), "{report:#}");
    assert_eq!(check(&report, "Configuration", "file").1, "~/config.toml (--config)");
    assert_eq!(check(&report, "Configuration", "profile").1, "acme (file), 1 other");
    assert_eq!(check(&report, "Configuration", "base URL").1, format!("{} (file)", sim.base_url()));
    assert_eq!(check(&report, "Configuration", "key").1, "from api_key_file ~/key");
    assert!(check(&report, "Service", "key").1.starts_with("read works (404 for a job that nobody has"));
    assert_eq!(check(&report, "Service", "clock").0, "ok");
    assert_eq!(sim.requests(Operation::Get), 1);
    assert_eq!([Operation::Create, Operation::FollowUp, Operation::Views].map(|of| sim.requests(of)), [0, 0, 0]);
}

#[tokio::test]
async fn what_it_prints_holds_no_secret_and_nobodys_name() {
    let (home, sim) = (Home::new(), sim().await);
    for words in [&["doctor"][..], &["doctor", "--json"]] {
        let mut command = with_sim(home.docdeck(words), &sim);
        command.env("HTTPS_PROXY", "http://me:pr0xypw@127.0.0.1:9");
        let (code, text) = on_another_thread(move || ran(&mut command)).await;
        assert_eq!(code, 0, "{text}");
        for private in [sim.api_key(), sim.project(), home.path().to_str().expect("a path"), "pr0xypw"] {
            assert!(!text.contains(private), "{private}: {text}");
        }
    }
}

#[tokio::test]
async fn a_flag_and_a_variable_are_named_as_where_a_value_comes_from() {
    let (home, sim) = (Home::new(), sim().await);
    let mut command = with_sim(home.docdeck(&["doctor", "--offline", "--json", "--project", "66f1c0ffee99"]), &sim);
    let (code, report) = on_another_thread(move || json(&mut command)).await;
    assert_eq!(code, 0);
    assert_eq!(check(&report, "Configuration", "project").1, "66f1*** (--project)");
    assert_eq!(check(&report, "Configuration", "base URL").1, format!("{} (DOCDECK_BASE_URL)", sim.base_url()));
    assert_eq!(check(&report, "Configuration", "key").1, "from DOCDECK_API_KEY in the environment");
    assert_eq!(check(&report, "Service", "request"), ("skipped", "--offline: the service was not asked", None));
    assert_eq!(sim.requests(Operation::Get), 0);
}

#[tokio::test]
async fn a_refused_key_an_unreachable_service_and_a_wrong_address_are_problems() {
    let (home, sim) = (Home::new(), sim().await);
    let mut command = with_sim(home.docdeck(&["doctor", "--json"]), &sim);
    command.env("DOCDECK_API_KEY", "mint_wr0ng");
    let (code, report) = on_another_thread(move || json(&mut command)).await;
    let (state, says, _) = check(&report, "Service", "key");
    assert_eq!((code, state), (1, "problem"));
    assert!(says.contains("401") && !report.to_string().contains("wr0ng"), "{says}");

    let mut command = with_sim(home.docdeck(&["doctor", "--json"]), &sim);
    command.env("DOCDECK_BASE_URL", "http://127.0.0.1:9");
    let (code, report) = on_another_thread(move || json(&mut command)).await;
    let (state, says, _) = check(&report, "Service", "connection");
    assert_eq!((code, state), (1, "problem"));
    assert!(says.contains("connection refused"), "{says}");

    let mut command = with_sim(home.docdeck(&["doctor", "--json"]), &sim);
    command.env("DOCDECK_BASE_URL", "mint_pasted_into_the_wrong_field");
    let (code, report) = on_another_thread(move || json(&mut command)).await;
    assert_eq!((code, check(&report, "Configuration", "base URL").0), (1, "problem"));
    assert!(!report.to_string().contains("pasted"), "{report}");
}

#[tokio::test]
async fn a_project_that_the_service_does_not_know_is_a_problem() {
    let (home, sim) = (Home::new(), sim().await);
    let mut command = with_sim(home.docdeck(&["doctor", "--json"]), &sim);
    command.env("DOCDECK_PROJECT_ID", "66f1c0ffee00");
    let (code, report) = on_another_thread(move || json(&mut command)).await;
    let (state, says, _) = check(&report, "Service", "project");
    assert_eq!((code, state), (1, "problem"), "{report:#}");
    assert!(says.contains("“Project not found”") && says.contains("check the project id"), "{says}");
}

#[tokio::test]
async fn the_store_is_counted_and_left_as_it_is() {
    let (home, sim) = (Home::new(), sim().await);
    let scope = Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None };
    let now = chrono::Utc::now();
    let (store, _) = Store::open(&home.data(), now).expect("a store");
    store.add_new_job(&scope, "Fix the links", now).await.expect("stored");
    let (_, held) = store.add_new_job(&scope, "Fix the menu", now).await.expect("stored");
    store.change_queue(&[held.key], QueueChange::Pause, now).await.expect("paused");
    store.spend(&scope, Limited::Views, now).await.expect("written").expect("a place");
    store.mark_full(&scope, Limited::Create, now + chrono::TimeDelta::minutes(5)).await.expect("written");
    store.close().await;
    let before = home.inventory();
    let mut command = with_sim(home.docdeck(&["doctor", "--json"]), &sim);
    let (code, report) = on_another_thread(move || json(&mut command)).await;
    assert_eq!(code, 0, "{report:#}");
    let (state, says, _) = check(&report, "Files", "store");
    assert!(
        state == "ok" && says.starts_with("sound, ") && says.contains(", schema ") && says.ends_with(", mode 600"),
        "{says}"
    );
    assert_eq!(
        check(&report, "Files", "jobs").1,
        "2 known here, 2 of this project; 1 prompt queued, 1 paused until `p` in the dashboard lets them go, 0 drafts"
    );
    let (state, _, remedy) = check(&report, "Budgets", "creates");
    assert!(
        state == "warning" && remedy.is_some_and(|remedy| remedy.ends_with("; what is paused stays")),
        "{remedy:?}"
    );
    assert!(check(&report, "Budgets", "views").1.starts_with("1 of 100, the next place is free at "));
    assert_eq!(home.inventory(), before);
}

#[test]
fn a_damaged_store_is_reported_and_not_moved_aside() {
    let home = Home::new();
    std::fs::create_dir(home.data()).expect("a folder");
    std::fs::write(home.data().join("docdeck.db"), vec![0x5a; 8192]).expect("written");
    let before = home.inventory();
    let (code, report) = json(&mut home.docdeck(&["doctor", "--json"]));
    let (state, says, remedy) = check(&report, "Files", "store");
    assert_eq!((code, state), (1, "problem"));
    assert!(
        says.starts_with("damaged") && remedy.is_some_and(|remedy| remedy.contains("moves the file aside")),
        "{says}"
    );
    assert_eq!(home.inventory(), before);
}

#[tokio::test]
async fn a_page_that_makes_no_sense_is_found_by_the_integrity_check() {
    let home = Home::new();
    let scope = Scope { base_url: "https://a.example".into(), project: "p".into(), organization: None };
    let now = chrono::Utc::now();
    let (store, _) = Store::open(&home.data(), now).expect("a store");
    for n in 0..400 {
        store.add_new_job(&scope, &format!("{n} {}", "words ".repeat(60)), now).await.expect("stored");
    }
    store.close().await;
    let path = home.data().join("docdeck.db");
    let mut bytes = std::fs::read(&path).expect("read");
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes.get_mut(middle..middle + 4096).expect("a page").fill(0x5a);
    std::fs::write(&path, bytes).expect("written");
    let (code, report) = json(&mut home.docdeck(&["doctor", "--json"]));
    let (state, says, _) = check(&report, "Files", "store");
    assert_eq!((code, state), (1, "problem"), "{says}");
    assert!(says.starts_with("damaged: "), "{says}");
}

#[test]
fn a_store_of_a_newer_docdeck_and_another_programs_database_are_problems() {
    let home = Home::new();
    std::fs::create_dir(home.data()).expect("a folder");
    let path = home.data().join("docdeck.db");
    let database = rusqlite_file(&path, "PRAGMA user_version = 99; CREATE TABLE t (a)");
    let (code, report) = json(&mut home.docdeck(&["doctor", "--json"]));
    assert!(code == 1 && check(&report, "Files", "store").1.contains("newer docdeck"), "{report:#}");
    std::fs::remove_file(database).expect("removed");
    rusqlite_file(&path, "CREATE TABLE t (a)");
    let (code, report) = json(&mut home.docdeck(&["doctor", "--json"]));
    assert!(code == 1 && check(&report, "Files", "store").1.contains("another program"), "{report:#}");
}

/// A database made by somebody else.
fn rusqlite_file<'a>(path: &'a Path, sql: &str) -> &'a Path {
    let database = rusqlite::Connection::open(path).expect("a database");
    database.execute_batch(sql).expect("made");
    path
}

#[test]
fn a_data_folder_that_can_not_be_is_a_problem() {
    let home = Home::new();
    let file = home.write("file", "");
    let words = ["doctor", "--json", "--data-dir", file.to_str().expect("a path")];
    let (code, report) = json(&mut home.docdeck(&words));
    assert_eq!((code, check(&report, "Files", "data folder").1), (1, "~/file is no folder"));
    let below = file.join("below");
    let (_, report) = json(&mut home.docdeck(&["doctor", "--json", "--data-dir", below.to_str().expect("a path")]));
    assert_eq!(check(&report, "Files", "data folder").0, "problem");
}

#[test]
fn who_runs_here_is_told() {
    let home = Home::new();
    std::fs::create_dir(home.data()).expect("a folder");
    let lock = std::fs::File::create(home.data().join("instance-4711-00000000deadbeef.lock")).expect("made");
    lock.lock().expect("locked");
    let (_, report) = json(&mut home.docdeck(&["doctor", "--json", "--project", "p"]));
    assert_eq!(check(&report, "Files", "running").1, "process 4711; leases: polling free, sending free");
}

#[test]
fn the_proxy_that_would_be_taken_is_told_and_no_password() {
    let home = Home::new();
    let mut command = home.docdeck(&["doctor", "--json", "--offline", "--project", "p"]);
    command.env("HTTPS_PROXY", "http://me:pr0xypw@proxy.example:3128");
    let (_, report) = json(&mut command);
    let says = check(&report, "Network", "proxy").1;
    assert_eq!(says, "http://proxy.example:3128 (HTTPS_PROXY, with user and password)");
    command.env("NO_PROXY", "mintlify.com").env("SSL_CERT_FILE", "/nonexistent");
    let (code, report) = json(&mut command);
    assert_eq!(check(&report, "Network", "proxy").1, "none: NO_PROXY leaves out api.mintlify.com (HTTPS_PROXY is set)");
    let (state, _, remedy) = check(&report, "Network", "certificates");
    assert_eq!((code, state), (1, "problem"));
    assert!(remedy.is_some_and(|remedy| remedy.contains("ca-certificates")));
}

#[test]
fn for_people_it_is_plain_text_without_colours_when_piped() {
    let home = Home::new();
    let (code, text) = ran(&mut home.docdeck(&["doctor"]));
    assert_eq!(code, 1);
    assert!(text.contains("\nConfiguration\n  ok       file          none; it would be ~/"), "{text}");
    assert!(text.ends_with("\n2 problems.\n") && !text.contains('\x1b') && text.is_ascii(), "{text}");
}
