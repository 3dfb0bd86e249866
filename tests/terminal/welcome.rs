//! Tests of the complete first run in a terminal: the welcome page, the demo that it can open, and the dashboard that
//! follows.

use crate::service::Service;
use crate::support::pty::{Pty, Setup};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn open_welcome_page(home: &Path) -> Pty {
    let mut pty =
        Pty::spawn(Setup::dashboard().with("HOME", &home.display().to_string()).with("DOCDECK_REDUCED_MOTION", "1"));
    pty.wait_for_text("Welcome to docdeck");
    pty
}

#[test]
fn the_welcome_page_leads_to_the_jobs_screen_without_a_restart() {
    let home = tempfile::tempdir().expect("a folder");
    let service = Service::start(home.path(), &[]);
    let mut pty = open_welcome_page(home.path());
    pty.wait_for_text("An admin key. docdeck");
    pty.send(&format!("\x1b[200~{}\x1b[201~", service.key));
    pty.wait_for_text("••••••••");
    pty.send("\r");
    pty.wait_for_text("The project id is on");
    pty.send(&service.project);
    pty.send("\t\t\r\t");
    pty.wait_for_text("Address of the service");
    pty.send(&service.url);
    pty.wait_for_text(&service.url);
    pty.send("\x13");
    pty.wait_for_text("Saved in ");
    pty.wait_for_text("No jobs yet");
    assert!(pty.screen().alternate_screen());
    let config = home.path().join(".config/docdeck/config.toml");
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&config), mode(config.parent().expect("a folder"))), (0o600, 0o700));
    let text = std::fs::read_to_string(&config).expect("there");
    assert!(text.contains(&service.key) && text.contains(&service.url), "{text}");
    pty.send("n");
    pty.wait_for_text("New job");
    pty.send("\x1b");
    pty.wait_for("the jobs again", |screen| !screen.contents().contains("New job"));
    pty.quit();
    assert!(!pty.sent().contains(&service.key), "the key is shown");
    // A second start uses the saved configuration.
    let mut pty = Pty::spawn(Setup::dashboard().with("HOME", &home.path().display().to_string()));
    pty.wait_for_text("1 Jobs");
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
}

#[test]
fn the_demo_returns_to_the_welcome_page_with_the_typed_values() {
    let home = tempfile::tempdir().expect("a folder");
    let mut pty = open_welcome_page(home.path());
    pty.send("\tmy-docs");
    pty.wait_for_text("my-docs");
    pty.send("\x04");
    pty.wait_for_text("A tour in four steps");
    // The first key closes the tour.
    pty.send("\x1b");
    pty.wait_for("the dashboard", |screen| !screen.contents().contains("A tour in four steps"));
    pty.send("q");
    pty.wait_for("the page again", |screen| {
        let text = screen.contents();
        screen.alternate_screen() && text.contains("Welcome to docdeck") && text.contains("my-docs")
    });
    pty.wait_for_text("Ctrl-C quit");
    pty.send("q\x03");
    assert_eq!(pty.wait_for_end(), 0);
    pty.assert_restored();
    assert!(!home.path().join(".config").exists(), "nothing was written");
}

#[test]
fn a_program_that_prints_the_key_gets_the_terminal() {
    let home = tempfile::tempdir().expect("a folder");
    let service = Service::start(home.path(), &[]);
    let script = home.path().join("key.sh");
    std::fs::write(&script, format!("echo a password please > /dev/tty\necho {}\n", service.key)).expect("written");
    let mut pty = open_welcome_page(home.path());
    pty.send("\t\t\t\r\x1b[C");
    pty.wait_for_text("A command that prints the key");
    pty.send(&format!("sh '{}'\r{}\t\t\t\t{}", script.display(), service.project, service.url));
    pty.wait_for_text(&service.url);
    pty.send("\x13");
    pty.wait_for_text("1 Jobs");
    let sent = pty.sent();
    let output_at = sent.find("a password please").expect("the program spoke");
    let left_at = sent.find("\x1b[?1049l").expect("the alternate screen was left");
    assert!(left_at < output_at && sent.contains("Running sh for the key"));
    pty.quit();
}
