//! `docdeck init` as it is built: what it asks, what it writes, what it never writes over, and its exit codes.

use crate::pty::{self, Pty, Setup};
use crate::service::Service;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A folder with a simulator, and where the settings are to lie in it.
struct Place {
    folder: tempfile::TempDir,
    service: Service,
}

impl Place {
    fn new(faults: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let service = Service::start(folder.path(), faults);
        Self { folder, service }
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join(".config/docdeck/config.toml")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.config()).expect("a configuration")
    }

    /// What a run without a terminal says on stdout and on stderr.
    fn init(&self, variables: &[(&str, &str)], arguments: &[&str], code: i32) -> (String, String) {
        let mut command = assert_cmd::Command::new(pty::program());
        command.env_clear().envs(pty::environment(self.folder.path())).envs(variables.iter().copied());
        let output = command.arg("init").args(arguments).assert().code(code).get_output().clone();
        let text = |bytes| String::from_utf8(bytes).expect("text");
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert!(!out.contains(&self.service.key) && !err.contains(&self.service.key), "the key is shown");
        (out, err)
    }

    /// As [`Place::init`], with the right answers in options and environment.
    fn all_given(&self, arguments: &[&str], code: i32) -> (String, String) {
        let given = ["--yes", "--project", &self.service.project, "--base-url", &self.service.url];
        self.init(&[("DOCDECK_API_KEY", &self.service.key)], &[&given, arguments].concat(), code)
    }

    fn key_file(&self, key: &str) -> String {
        let path = self.folder.path().join("key");
        std::fs::write(&path, key).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("mode");
        path.display().to_string()
    }

    /// A run in a terminal.
    fn asked(&self, arguments: &[&str]) -> Pty {
        let home = self.folder.path().display().to_string();
        Pty::spawn(Setup::command(&[&["init"], arguments].concat()).with("HOME", &home))
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("there").permissions().mode() & 0o777
}

#[test]
fn with_yes_it_checks_once_and_writes_a_file_for_its_owner_alone() {
    let place = Place::new(&[]);
    let (out, err) = place.all_given(&[], 0);
    assert!(err.contains("did not refuse the key") && err.contains("first use"), "{err}");
    assert!(out.contains("Wrote ") && out.contains("Next: `docdeck` opens the dashboard"), "{out}");
    assert_eq!((mode(&place.config()), mode(place.config().parent().expect("a folder"))), (0o600, 0o700));
    let text = place.text();
    assert!(text.contains("[profiles.default]") && text.contains("#[[commands]]"), "{text}");
    assert!(!text.contains(&place.service.key), "the environment has the key");
}

#[test]
fn whatever_the_umask_nobody_else_can_read_it() {
    for umask in ["000", "777"] {
        let place = Place::new(&[]);
        let config = place.folder.path().join("config.toml");
        let mut command = assert_cmd::Command::new("sh");
        command.env_clear().envs(pty::environment(place.folder.path())).env("DOCDECK_API_KEY", &place.service.key);
        let script = format!("umask {umask}; exec \"$@\"");
        command.args(["-c", &script, "sh", &pty::program(), "init", "--yes", "--config"]).arg(&config);
        command.args(["--project", &place.service.project, "--base-url", &place.service.url]);
        command.assert().code(0);
        assert_eq!(mode(&config), 0o600, "{umask}");
    }
}

#[test]
fn the_key_comes_from_a_program_or_a_file() {
    let place = Place::new(&[]);
    let given = ["--yes", "--project", &place.service.project, "--base-url", &place.service.url];
    let command = format!("cat '{}'", place.key_file(&place.service.key));
    place.init(&[], &[&given[..], &["--api-key-command", &command]].concat(), 0);
    assert!(place.text().contains("api_key_command = [\"cat\", "), "{}", place.text());
    let file = place.key_file(&place.service.key);
    place.init(&[], &[&given[..], &["--api-key-file", &file, "--profile", "other"]].concat(), 0);
    assert!(place.text().contains(&format!("api_key_file = \"{file}\"")), "{}", place.text());
}

#[test]
fn certificates_of_ones_own_are_read_before_the_check_and_written() {
    let place = Place::new(&[]);
    let none = place.folder.path().join("none.pem");
    let (_, err) = place.all_given(&["--ca-file", none.to_str().expect("a path")], 2);
    assert!(err.contains("none.pem can't be read: no such file or directory"), "{err}");
    assert!(!place.config().exists());
    let (_, err) = place.all_given(&["--ca-file", &place.key_file("no certificate")], 2);
    assert!(err.contains("holds none: it has to be in PEM form"), "{err}");
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/ca.pem");
    place.all_given(&["--ca-file", own], 0);
    assert!(place.text().contains(&format!("\nca_file = \"{own}\"\n")), "{}", place.text());
}

#[test]
fn a_refused_key_ends_with_3_and_nothing_is_written() {
    let place = Place::new(&[]);
    let file = place.key_file("mint_wrong");
    let given = ["--yes", "--project", "p", "--base-url", &place.service.url, "--api-key-file", &file];
    let (out, err) = place.init(&[], &given, 3);
    assert!(out.is_empty() && err.contains("does not accept the key"), "{err}");
    assert!(!err.contains("mint_wrong") && !place.config().exists());
}

#[test]
fn another_project_or_no_service_ends_with_4_and_nothing_is_written() {
    let place = Place::new(&[]);
    let key = [("DOCDECK_API_KEY", place.service.key.as_str())];
    let (_, err) = place.init(&key, &["--yes", "--project", "other", "--base-url", &place.service.url], 4);
    assert!(err.contains("does not seem to know the project"), "{err}");
    let (_, err) = place.init(&key, &["--yes", "--project", "p", "--base-url", "http://127.0.0.1:1"], 4);
    assert!(err.contains("Nobody answers at 127.0.0.1:1"), "{err}");
    assert!(!place.config().exists());
}

#[test]
fn a_key_as_profile_name_or_organization_ends_with_2_and_nothing_is_written() {
    let place = Place::new(&[]);
    for option in ["--profile", "--organization"] {
        let (_, err) = place.all_given(&[option, "mint_misplaced"], 2);
        assert!(err.contains("This looks like an API key."), "{err}");
        assert!(!err.contains("mint_misplaced") && !place.config().exists(), "{err}");
    }
}

#[test]
fn a_limit_ends_with_5_and_a_failing_service_with_4() {
    for (fault, code) in [("get=429", 5), ("get=503", 4)] {
        let place = Place::new(&["--fault", fault]);
        place.all_given(&[], code);
        assert!(!place.config().exists());
    }
}

#[test]
fn what_is_missing_or_no_address_ends_with_2() {
    let place = Place::new(&[]);
    let (_, err) = place.init(&[], &["--yes", "--project", "p"], 2);
    assert!(err.contains("no source of the API key"), "{err}");
    let key = [("DOCDECK_API_KEY", place.service.key.as_str())];
    assert!(place.init(&key, &["--yes"], 2).1.contains("no project id"));
    assert!(
        place.init(&key, &["--yes", "--project", "p", "--base-url", "nonsense"], 2).1.contains("not a web address")
    );
    let (_, err) = place.init(&[], &["--yes", "--project", "p", "--api-key-command", "false"], 2);
    assert!(err.contains("The API key command false ended with code 1"), "{err}");
    assert!(!place.config().exists());
    let (_, err) = place.init(&[], &[], 2);
    assert!(err.contains("no terminal to ask them in") && err.contains("--yes"), "{err}");
}

#[test]
fn without_a_check_nobody_is_asked() {
    let place = Place::new(&[]);
    let key = [("DOCDECK_API_KEY", "mint_any")];
    place.init(&key, &["--yes", "--no-check", "--project", "p", "--base-url", "http://127.0.0.1:1"], 0);
    assert!(place.text().contains("http://127.0.0.1:1"));
}

#[test]
fn a_profile_that_is_there_is_changed_only_with_a_word_for_it() {
    let place = Place::new(&[]);
    place.all_given(&[], 0);
    let before = place.text() + "\n# mine\n";
    std::fs::write(place.config(), &before).expect("written");
    let (_, err) = place.all_given(&["--organization", "acme"], 2);
    assert!(err.contains("has the profile default already") && err.contains("--overwrite"), "{err}");
    assert_eq!(place.text(), before);
    place.all_given(&["--organization", "acme", "--overwrite"], 0);
    assert!(
        place.text().contains("organization = \"acme\"") && place.text().ends_with("\n# mine\n"),
        "{}",
        place.text()
    );
    let (out, _) = place.all_given(&["--profile", "second"], 0);
    assert!(out.contains("docdeck --profile second"), "{out}");
    assert!(place.text().contains("[profiles.second]") && place.text().contains("\n# mine\n"), "{}", place.text());
}

#[test]
fn in_a_terminal_it_asks_line_by_line_and_does_not_show_the_key() {
    let place = Place::new(&[]);
    let mut pty = place.asked(&[]);
    pty.wait_for_text("Project id:");
    pty.send(&format!("{}\r", place.service.project));
    pty.wait_for_text("1 to 4 [3]:");
    pty.send("3\r");
    pty.wait_for_text("API key (not shown):");
    pty.send(&format!("{}\r", place.service.key));
    pty.wait_for_text("Base URL of the service [https://api.mintlify.com]:");
    pty.send(&format!("{}\r", place.service.url));
    pty.wait_for_text("Organization");
    pty.send("\r");
    pty.wait_for_text("Name of this profile [default]:");
    pty.send("docs\r");
    assert_eq!(pty.wait_for_end(), 0);
    assert!(!pty.sent().contains(&place.service.key), "the key is shown");
    assert!(pty.sent().contains("did not refuse the key") && pty.sent().contains("Wrote "), "{}", pty.sent());
    pty.assert_given_back();
    let text = place.text();
    assert!(text.contains("default_profile = \"docs\"") && text.contains(&place.service.key), "{text}");
    assert_eq!(mode(&place.config()), 0o600);
}

#[test]
fn a_wrong_answer_is_refused_at_once_and_asked_for_again() {
    let place = Place::new(&[]);
    let key = PathBuf::from(place.key_file(&place.service.key));
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).expect("mode");
    let mut pty = place.asked(&["--base-url", "http://docs.example.com"]);
    pty.wait_for_text("Project id:");
    pty.send("\r");
    pty.wait_for_text("The project id is missing");
    pty.send("mint_secret\r");
    pty.wait_for_text("This looks like an API key, not like a project id.");
    pty.send(&format!("{}\r", place.service.project));
    pty.wait_for_text("1 to 4 [3]:");
    pty.send(&format!("2\r{}\r", key.display()));
    pty.wait_for_text("Others on this computer can read");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).expect("mode");
    pty.send(&format!("2\r{}\r", key.display()));
    pty.wait_for_text("would send the key unencrypted to docs.example.com");
    pty.wait_for_text("Base URL of the service [https://api.mintlify.com]:");
    pty.send(&format!("{}\r", place.service.url));
    pty.wait_for_text("Organization");
    assert!(!place.config().exists());
    pty.send("\r");
    pty.wait_for_text("Name of this profile");
    pty.send("\r");
    assert_eq!(pty.wait_for_end(), 0);
    assert!(place.text().contains(&format!("api_key_file = \"{}\"", key.display())), "{}", place.text());
}

#[test]
fn answers_can_be_corrected_after_the_service_refused_them() {
    let place = Place::new(&[]);
    let file = place.key_file(&place.service.key);
    let given = ["--project", "other", "--base-url", &place.service.url, "--api-key-file", &file];
    let mut pty = place.asked(&[&given[..], &["--organization", "", "--profile", "a"]].concat());
    pty.wait_for_text("does not seem to know the project");
    pty.wait_for_text("Write it anyway?");
    pty.send("c\r");
    pty.wait_for_text("Project id [other]:");
    pty.send(&format!("{}\r", place.service.project));
    pty.wait_for_text("1 to 4 [3]:");
    pty.send(&format!("2\r{file}\r"));
    pty.wait_for_text(&format!("Base URL of the service [{}]:", place.service.url));
    pty.send("\r");
    pty.wait_for_text("Organization");
    pty.send("\r");
    pty.wait_for_text("Name of this profile [a]:");
    pty.send("\r");
    assert_eq!(pty.wait_for_end(), 0);
    assert!(place.text().contains(&format!("project_id = \"{}\"", place.service.project)), "{}", place.text());
}

#[test]
fn the_end_of_the_input_writes_nothing() {
    let place = Place::new(&[]);
    let mut pty = place.asked(&["--project", "p"]);
    pty.wait_for_text("1 to 4");
    pty.send("\x04");
    assert_eq!(pty.wait_for_end(), 2);
    assert!(!place.config().exists());
}

#[test]
fn a_key_that_is_refused_is_asked_about() {
    let place = Place::new(&[]);
    for (answer, code, written) in [("n", 3, false), ("y", 0, true)] {
        let file = place.key_file("mint_wrong");
        let given = ["--project", "p", "--base-url", &place.service.url, "--api-key-file", &file];
        let mut pty = place.asked(&[&given[..], &["--organization", "", "--profile", "a"]].concat());
        pty.wait_for_text("Write it anyway?");
        assert!(pty.screen().contents().contains("does not accept the key"));
        pty.send(&format!("{answer}\r"));
        assert_eq!(pty.wait_for_end(), code);
        assert_eq!(place.config().exists(), written);
    }
}

#[test]
fn a_file_that_is_there_is_asked_about() {
    let place = Place::new(&[]);
    place.all_given(&[], 0);
    let before = place.text();
    let file = place.key_file(&place.service.key);
    let given = [
        "--project",
        &place.service.project,
        "--base-url",
        &place.service.url,
        "--api-key-file",
        &file,
        "--organization",
        "",
    ];
    let mut pty = place.asked(&[&given[..], &["--profile", "default"]].concat());
    pty.wait_for_text("already has a profile default. Change it?");
    pty.send("\r");
    assert_eq!(pty.wait_for_end(), 2);
    assert_eq!(place.text(), before, "no answer is no");
    let mut pty = place.asked(&[&given[..], &["--profile", "new"]].concat());
    pty.wait_for_text("Add the profile new to it?");
    pty.send("y\r");
    assert_eq!(pty.wait_for_end(), 0);
    assert!(place.text().contains("[profiles.new]"));
}

#[test]
fn ctrl_c_writes_nothing_and_the_terminal_echoes_again() {
    let place = Place::new(&[]);
    let mut pty = place.asked(&["--project", "p"]);
    pty.wait_for_text("1 to 4");
    pty.send("3\r");
    pty.wait_for_text("API key (not shown):");
    pty.send("mint_half");
    pty.send("\x03");
    assert_eq!(pty.wait_for_end(), 130);
    assert!(!pty.sent().contains("mint_half"));
    pty.assert_given_back();
    assert!(!place.config().exists());
}
