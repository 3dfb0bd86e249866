//! Tests of switching profiles in a terminal: a key command that asks for a password gets the terminal and returns it.

use crate::support::pty::{Pty, Setup};

/// Returns a configuration with two profiles; `command` prints the API key of the second. Nothing listens on the port,
/// so the screens show only stored data.
fn config(command: &str) -> String {
    let profile = |name: &str, key: &str| {
        format!("[profiles.{name}]\nbase_url = \"http://127.0.0.1:9\"\nproject_id = \"{name}-docs\"\n{key}\n")
    };
    let command = format!("api_key_command = [\"sh\", \"-c\", \"{command}\"]");
    format!("default_profile = \"one\"\n{}{}", profile("one", "api_key = \"mint_0ne\""), profile("two", &command))
}

#[test]
fn a_key_command_gets_the_terminal_and_then_the_other_profile_appears() {
    let ask = "printf 'PIN: ' >/dev/tty; read pin </dev/tty; echo mint_$pin";
    let mut pty = Pty::spawn(Setup::dashboard_with(&config(ask)));
    pty.wait_for_text("No jobs yet.");
    pty.send("nA thought for one");
    pty.wait_for_text("A thought for one");
    pty.send("\x1b");
    pty.wait_for("the editor to be gone", |screen| !screen.contents().contains("━ New job"));
    pty.send("Pj\r");
    pty.wait_for("the question, outside of the dashboard", |screen| {
        !screen.alternate_screen()
            && screen.contents().contains("Running sh for the key")
            && screen.contents().contains("PIN:")
    });
    pty.send("m4rked\r");
    pty.wait_for("the other profile", |screen| screen.alternate_screen() && screen.contents().contains("docdeck  two"));
    pty.wait_for_text("No jobs yet.");
    pty.send("D");
    pty.wait_for_text("No drafts.");
    pty.send("Pk\r");
    pty.wait_for("the first profile with its jobs", |screen| {
        let text = screen.contents();
        text.contains("docdeck  one") && text.contains("No jobs yet.")
    });
    pty.send("D");
    pty.wait_for_text("A thought for one");
    pty.quit();
    assert!(!pty.sent().contains("mint_m4rked"));
}

#[test]
fn a_failing_key_command_keeps_the_old_profile_and_shows_its_output() {
    let mut pty = Pty::spawn(Setup::dashboard_with(&config("echo locked >&2; exit 3")));
    pty.wait_for_text("No jobs yet.");
    pty.send("Pj\r");
    pty.wait_for_text("Still on one: two can't be used.");
    pty.wait_for_text("printed: locked");
    pty.send("\x1b");
    pty.wait_for("the list to be gone", |screen| !screen.contents().contains("Still on one"));
    pty.wait_for_text("docdeck  one");
    pty.quit();
}

#[test]
fn a_saved_theme_is_written_to_the_configuration() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join("config.toml");
    let mine = config("echo mint_k") + "[ui]\nmouse = false # mine\n";
    std::fs::write(&path, &mine).expect("written");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("mode");
    let setup = Setup::dashboard().with("HOME", &home.path().display().to_string());
    let mut pty = Pty::spawn(setup.with("DOCDECK_CONFIG", &path.display().to_string()));
    pty.wait_for_text("No jobs yet.");
    pty.send(":theme light\r");
    pty.wait_for_text("Theme light, until you quit. To save it, press Ctrl-S");
    assert_eq!(std::fs::read_to_string(&path).expect("there"), mine);
    pty.send(":theme light\x13");
    pty.wait_for_text("Theme light saved in");
    assert_eq!(std::fs::read_to_string(&path).expect("there"), mine + "theme = \"light\"\n");
    pty.quit();
}
