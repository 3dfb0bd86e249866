//! Tests of `docdeck init` as a built program: its form, the file that it writes, what it never overwrites, and
//! its exit codes.

use crate::service::Service;
use crate::support::pty::{self, Pty, Setup};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A home folder, and a simulated service that `docdeck init` can check.
struct InitFixture {
    folder: tempfile::TempDir,
    service: Service,
}

impl InitFixture {
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

    /// Runs `docdeck init` without a terminal and expects this exit code; returns stdout and stderr.
    fn init(&self, variables: &[(&str, &str)], arguments: &[&str], code: i32) -> (String, String) {
        let mut command = assert_cmd::Command::new(pty::program());
        command.env_clear().envs(pty::environment(self.folder.path())).envs(variables.iter().copied());
        let output = command.arg("init").args(arguments).assert().code(code).get_output().clone();
        let text = |bytes| String::from_utf8(bytes).expect("text");
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert!(!out.contains(&self.service.key) && !err.contains(&self.service.key), "the key is shown");
        (out, err)
    }

    /// Runs `docdeck init` without a terminal, with correct answers in options and environment. Returns stdout and
    /// stderr.
    fn init_with_answers(&self, arguments: &[&str], code: i32) -> (String, String) {
        let given = ["--yes", "--project", &self.service.project, "--base-url", &self.service.url];
        self.init(&[("DOCDECK_API_KEY", &self.service.key)], &[&given, arguments].concat(), code)
    }

    fn key_file(&self, key: &str) -> String {
        let path = self.folder.path().join("key");
        std::fs::write(&path, key).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("mode");
        path.display().to_string()
    }

    /// Starts `docdeck init` in a terminal.
    fn start_in_terminal(&self, arguments: &[&str]) -> Pty {
        let home = self.folder.path().display().to_string();
        Pty::spawn(Setup::command(&[&["init"], arguments].concat()).with("HOME", &home))
    }
}

fn file_mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("there").permissions().mode() & 0o777
}

#[test]
fn with_yes_init_checks_once_and_writes_a_file_that_only_the_owner_can_read() {
    let fixture = InitFixture::new(&[]);
    let (out, err) = fixture.init_with_answers(&[], 0);
    assert!(err.contains("The key works") && err.contains("Your first job"), "{err}");
    assert!(out.contains("Wrote ") && out.contains("Next: run `docdeck` to open the dashboard"), "{out}");
    assert_eq!((file_mode(&fixture.config()), file_mode(fixture.config().parent().expect("a folder"))), (0o600, 0o700));
    let text = fixture.text();
    assert!(text.contains("[profiles.default]") && text.contains("#[[commands]]"), "{text}");
    assert!(!text.contains(&fixture.service.key), "the environment has the key");
}

#[test]
fn no_umask_makes_the_file_readable_to_others() {
    for umask in ["000", "777"] {
        let fixture = InitFixture::new(&[]);
        let config = fixture.folder.path().join("config.toml");
        let mut command = assert_cmd::Command::new("sh");
        command.env_clear().envs(pty::environment(fixture.folder.path())).env("DOCDECK_API_KEY", &fixture.service.key);
        let script = format!("umask {umask}; exec \"$@\"");
        command.args(["-c", &script, "sh", &pty::program(), "init", "--yes", "--config"]).arg(&config);
        command.args(["--project", &fixture.service.project, "--base-url", &fixture.service.url]);
        command.assert().code(0);
        assert_eq!(file_mode(&config), 0o600, "{umask}");
    }
}

#[test]
fn the_key_can_come_from_a_program_or_a_file() {
    let fixture = InitFixture::new(&[]);
    let given = ["--yes", "--project", &fixture.service.project, "--base-url", &fixture.service.url];
    let command = format!("cat '{}'", fixture.key_file(&fixture.service.key));
    fixture.init(&[], &[&given[..], &["--api-key-command", &command]].concat(), 0);
    assert!(fixture.text().contains("api_key_command = [\"cat\", "), "{}", fixture.text());
    let file = fixture.key_file(&fixture.service.key);
    fixture.init(&[], &[&given[..], &["--api-key-file", &file, "--profile", "other"]].concat(), 0);
    assert!(fixture.text().contains(&format!("api_key_file = \"{file}\"")), "{}", fixture.text());
}

#[test]
fn custom_certificates_are_loaded_before_the_check_and_saved() {
    let fixture = InitFixture::new(&[]);
    let none = fixture.folder.path().join("none.pem");
    let (_, err) = fixture.init_with_answers(&["--ca-file", none.to_str().expect("a path")], 2);
    assert!(err.contains("none.pem can't be read: no such file or directory"), "{err}");
    assert!(!fixture.config().exists());
    let (_, err) = fixture.init_with_answers(&["--ca-file", &fixture.key_file("no certificate")], 2);
    assert!(err.contains("has no certificate in PEM form"), "{err}");
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/ca.pem");
    fixture.init_with_answers(&["--ca-file", own], 0);
    assert!(fixture.text().contains(&format!("\nca_file = \"{own}\"\n")), "{}", fixture.text());
}

#[test]
fn a_rejected_key_exits_with_3_and_writes_nothing() {
    let fixture = InitFixture::new(&[]);
    let file = fixture.key_file("mint_wrong");
    let given = ["--yes", "--project", "p", "--base-url", &fixture.service.url, "--api-key-file", &file];
    let (out, err) = fixture.init(&[], &given, 3);
    assert!(out.is_empty() && err.contains("refused the key"), "{err}");
    assert!(!err.contains("mint_wrong") && !fixture.config().exists());
}

#[test]
fn a_wrong_project_or_an_unreachable_service_exits_with_4_and_writes_nothing() {
    let fixture = InitFixture::new(&[]);
    let key = [("DOCDECK_API_KEY", fixture.service.key.as_str())];
    let (_, err) = fixture.init(&key, &["--yes", "--project", "other", "--base-url", &fixture.service.url], 4);
    assert!(err.contains("the project was not found"), "{err}");
    let (_, err) = fixture.init(&key, &["--yes", "--project", "p", "--base-url", "http://127.0.0.1:1"], 4);
    assert!(err.contains("Could not reach 127.0.0.1:1"), "{err}");
    assert!(!fixture.config().exists());
}

#[test]
fn a_key_as_profile_name_or_organization_ends_with_2_and_nothing_is_written() {
    let fixture = InitFixture::new(&[]);
    for option in ["--profile", "--organization"] {
        let (_, err) = fixture.init_with_answers(&[option, "mint_misplaced"], 2);
        assert!(err.contains("This looks like an API key."), "{err}");
        assert!(!err.contains("mint_misplaced") && !fixture.config().exists(), "{err}");
    }
}

#[test]
fn a_rate_limit_exits_with_5_and_a_failing_service_with_4() {
    for (fault, code) in [("get=429", 5), ("get=503", 4)] {
        let fixture = InitFixture::new(&["--fault", fault]);
        fixture.init_with_answers(&[], code);
        assert!(!fixture.config().exists());
    }
}

#[test]
fn missing_answers_and_invalid_urls_exit_with_2() {
    let fixture = InitFixture::new(&[]);
    let (_, err) = fixture.init(&[], &["--yes", "--project", "p"], 2);
    assert!(err.contains("The API key is missing"), "{err}");
    let key = [("DOCDECK_API_KEY", fixture.service.key.as_str())];
    assert!(fixture.init(&key, &["--yes"], 2).1.contains("The project id is missing"));
    assert!(
        fixture.init(&key, &["--yes", "--project", "p", "--base-url", "nonsense"], 2).1.contains("not a web address")
    );
    let (_, err) = fixture.init(&[], &["--yes", "--project", "p", "--api-key-command", "false"], 2);
    assert!(err.contains("The API key command false failed with code 1"), "{err}");
    for option in ["--api-key-command", "--api-key-file"] {
        let (_, err) = fixture.init(&[], &["--yes", "--project", "p", option, "mint_secret"], 2);
        let expected = format!("{option}: this looks like the key itself. Set DOCDECK_API_KEY");
        assert!(err.contains(&expected) && !err.contains("mint_secret"), "{err}");
    }
    assert!(!fixture.config().exists());
    let (_, err) = fixture.init(&[], &[], 2);
    assert!(err.contains("needs an interactive terminal") && err.contains("--yes"), "{err}");
}

#[test]
fn without_a_check_no_request_is_sent() {
    let fixture = InitFixture::new(&[]);
    let key = [("DOCDECK_API_KEY", "mint_any")];
    fixture.init(&key, &["--yes", "--no-check", "--project", "p", "--base-url", "http://127.0.0.1:1"], 0);
    assert!(fixture.text().contains("http://127.0.0.1:1"));
}

#[test]
fn an_existing_profile_is_only_replaced_on_request() {
    let fixture = InitFixture::new(&[]);
    fixture.init_with_answers(&[], 0);
    let before = fixture.text() + "\n# mine\n";
    std::fs::write(fixture.config(), &before).expect("written");
    let (_, err) = fixture.init_with_answers(&["--organization", "acme"], 2);
    assert!(err.contains("already has a profile default") && err.contains("--overwrite"), "{err}");
    assert_eq!(fixture.text(), before);
    fixture.init_with_answers(&["--organization", "acme", "--overwrite"], 0);
    assert!(
        fixture.text().contains("organization = \"acme\"") && fixture.text().ends_with("\n# mine\n"),
        "{}",
        fixture.text()
    );
    let (out, _) = fixture.init_with_answers(&["--profile", "second"], 0);
    assert!(out.contains("docdeck --profile second"), "{out}");
    assert!(
        fixture.text().contains("[profiles.second]") && fixture.text().contains("\n# mine\n"),
        "{}",
        fixture.text()
    );
}

#[test]
fn in_a_terminal_init_shows_the_form_with_the_options_and_never_the_key() {
    let fixture = InitFixture::new(&[]);
    let given = ["--project", &fixture.service.project, "--base-url", &fixture.service.url, "--profile", "docs"];
    let mut pty = fixture.start_in_terminal(&given);
    pty.wait_for_text("Test and save");
    assert!(pty.screen().contents().contains(&fixture.service.project), "{}", pty.screen().contents());
    pty.send(&fixture.service.key);
    pty.send("\x13");
    assert_eq!(pty.wait_for_end(), 0);
    assert!(!pty.sent().contains(&fixture.service.key), "the key is shown");
    assert!(pty.sent().contains("Wrote ") && pty.sent().contains("Next: run `docdeck`"), "{}", pty.sent());
    pty.assert_restored();
    let text = fixture.text();
    assert!(text.contains("default_profile = \"docs\"") && text.contains(&fixture.service.key), "{text}");
    assert_eq!(file_mode(&fixture.config()), 0o600);
}

#[test]
fn a_rejected_key_can_be_saved_after_a_question() {
    let fixture = InitFixture::new(&[]);
    let file = fixture.key_file("mint_wrong");
    let given = ["--project", "p", "--base-url", &fixture.service.url, "--api-key-file", &file];
    for is_saved in [false, true] {
        let mut pty = fixture.start_in_terminal(&given);
        pty.wait_for_text("Test and save");
        // All fields are set, so the button has the focus.
        pty.send("\r");
        pty.wait_for_text("Save the profile anyway?");
        pty.send(if is_saved { "y" } else { "n\x03" });
        assert_eq!(pty.wait_for_end(), if is_saved { 0 } else { 130 });
        assert_eq!(fixture.config().exists(), is_saved);
    }
}

#[test]
fn an_existing_file_is_only_changed_after_a_question() {
    let fixture = InitFixture::new(&[]);
    fixture.init_with_answers(&[], 0);
    let before = fixture.text();
    let file = fixture.key_file(&fixture.service.key);
    let given = [
        "--project",
        &fixture.service.project,
        "--base-url",
        &fixture.service.url,
        "--api-key-file",
        &file,
        "--profile",
    ];
    let mut pty = fixture.start_in_terminal(&[&given[..], &["default"]].concat());
    pty.wait_for_text("Test and save");
    pty.send("\x13");
    pty.wait_for_text("y change");
    pty.send("n\x03");
    assert_eq!(pty.wait_for_end(), 130);
    assert_eq!(fixture.text(), before);
    let mut pty = fixture.start_in_terminal(&[&given[..], &["new"]].concat());
    pty.wait_for_text("Test and save");
    pty.send("\x13");
    pty.wait_for_text("y add");
    pty.send("y");
    assert_eq!(pty.wait_for_end(), 0);
    assert!(fixture.text().contains("[profiles.new]"));
}

#[test]
fn ctrl_c_writes_nothing_and_restores_the_terminal() {
    let fixture = InitFixture::new(&[]);
    let mut pty = fixture.start_in_terminal(&["--project", "p"]);
    pty.wait_for_text("Test and save");
    pty.send("mint_half\x03");
    assert_eq!(pty.wait_for_end(), 130);
    assert!(pty.sent().contains("Nothing was written.") && !pty.sent().contains("mint_half"), "{}", pty.sent());
    pty.assert_restored();
    assert!(!fixture.config().exists());
}
