//! Custom commands, the clipboard program and notifications in a terminal: a command gets the terminal and returns it,
//! and a job that finishes while the terminal is unfocused sends a notification.

use crate::support::pty::{Pty, Setup};

const COMMAND: &str = "[[commands]]\nkey = \"X\"\nname = \"greet\"\n\
                       run = [\"sh\", \"-c\", \"printf 'hello %s\\\\n' \\\"$1\\\"; exit 3\", \"sh\", \"{id}\"]\n";

#[test]
fn a_command_gets_the_terminal_and_enter_returns_to_the_dashboard() {
    let mut pty = Pty::spawn(Setup::demo_with(&[], COMMAND));
    pty.wait_for_text("Needs you");
    // Selects the second job, because the first one has no id: the response to its creation was lost.
    pty.send("jX");
    pty.wait_for("the command's words outside the alternate screen", |screen| {
        let text = screen.contents();
        !screen.alternate_screen() && text.contains("hello ") && text.contains("sh failed with exit code 3.")
    });
    pty.assert_modes_off();
    pty.send("\r");
    pty.wait_for("the dashboard again", |screen| {
        screen.alternate_screen()
            && screen.contents().contains("Needs you")
            && screen.contents().contains("exit code 3")
    });
    pty.quit();
}

#[test]
fn a_command_does_not_inherit_the_key() {
    let config = "[[commands]]\nkey = \"X\"\nname = \"peek\"\n\
                  run = [\"sh\", \"-c\", \"printf 'key [%s]\\n' \\\"$DOCDECK_API_KEY\\\"\"]\n";
    let setup = Setup::demo_with(&[], config).with("DOCDECK_API_KEY", "mint_marked");
    let mut pty = Pty::spawn(setup);
    pty.wait_for_text("Needs you");
    pty.send("X");
    pty.wait_for_text("key []");
    pty.send("\r");
    pty.wait_for("the dashboard again", |screen| screen.alternate_screen());
    assert!(!pty.sent().contains("mint_marked"));
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
}

#[test]
fn docdeck_can_be_ended_while_a_command_waits_for_enter() {
    let mut pty = Pty::spawn(Setup::demo_with(&[], COMMAND));
    pty.wait_for_text("Needs you");
    pty.send("jX");
    pty.wait_for_text("Press Enter");
    pty.signal(rustix::process::Signal::TERM);
    assert_eq!(pty.wait_for_end(), 0);
    pty.assert_modes_off();
}

#[test]
fn a_job_that_finishes_while_the_terminal_is_unfocused_notifies_through_tmux() {
    let config = "[notify]\nhow = \"osc9\"\ntitle = false\n";
    let setup = Setup::demo_with(&["--speed", "100"], config).with("TMUX", "/tmp/tmux");
    let mut pty = Pty::spawn(setup);
    pty.wait_for_text("Needs you");
    // Sends a prompt and right after it the event that the terminal has lost the focus. docdeck checks a new job within
    // seconds.
    pty.send("nFix the links\x13\x1b[O");
    pty.wait_for_sent("\x1bPtmux;\x1b\x1b]9;");
    pty.wait_for_sent("\x07\x1b\\");
    let sent = pty.sent();
    let notification = sent.split("\x1bPtmux;\x1b\x1b]9;").nth(1).and_then(|rest| rest.split('\x07').next());
    let is_about_finish = |notification: &str| {
        ["completed: ", "failed: ", "PR ", "archived: "].iter().any(|word| notification.starts_with(word))
    };
    assert!(
        notification
            .is_some_and(|notification| is_about_finish(notification) && !notification.contains(['\x1b', ';', '\n'])),
        "{notification:?}"
    );
    assert!(!sent.contains("\x1b]2;"), "the title is left alone");
    // The notification may be about another job. So the editor may still be open and would receive the `q`.
    pty.wait_for("the editor to be gone, after it was there", |screen| {
        let text = screen.contents();
        text.contains("Fix the links") && !text.contains("━ New job")
    });
    pty.quit();
}

/// Starts the demo with this clipboard program and copies the id of its second job.
fn copy_id_in_demo(program: &str, variables: &[(&str, &str)]) -> Pty {
    let config = format!("[ui]\nclipboard = [{program}]\n");
    let setup = Setup::demo_with(&[], &config);
    let mut pty = Pty::spawn(variables.iter().fold(setup, |setup, (name, value)| setup.with(name, value)));
    pty.wait_for_text("Needs you");
    pty.send("jY");
    pty
}

#[test]
fn a_copy_goes_to_the_terminal_and_to_the_configured_program() {
    // The program reads all of stdin and then fails, so that the error message shows that it ran.
    let reads = "\"sh\", \"-c\", \"cat > copied; exit 1\"";
    let mut pty = copy_id_in_demo(reads, &[]);
    pty.wait_for_text("sh could not copy (it failed)");
    assert_eq!(pty.sent().matches("\x1b]52;c;").count(), 1);
    let copied = std::fs::read_to_string(pty.home().join("copied")).expect("it has the text");
    assert!(copied.starts_with("01") && copied.len() == 26, "{copied:?}");
    // Over SSH the program is not used, because it would run on the wrong computer.
    let mut pty = copy_id_in_demo(reads, &[("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")]);
    pty.wait_for_text("Copied");
    assert_eq!(pty.sent().matches("\x1b]52;c;").count(), 1);
    // The sequence is not sent to a terminal that would print it.
    let mut pty = copy_id_in_demo("\"tee\", \"copied\"", &[("TERM", "linux")]);
    pty.wait_for_text("Copied");
    assert!(!pty.sent().contains("\x1b]"));
    assert_eq!(std::fs::read_to_string(pty.home().join("copied")).expect("it has the text").len(), 26);
}

#[test]
fn a_key_with_two_bindings_is_reported_before_the_terminal_is_touched() {
    let mut pty = Pty::spawn(Setup::demo_with(&[], &COMMAND.replace("\"X\"", "\"n\"")));
    assert_eq!(pty.wait_for_end(), 2);
    let sent = pty.sent();
    assert!(sent.contains("config.toml:2:7: the key n of the command greet is used by docdeck"), "{sent}");
    assert!(!sent.contains('\x1b'), "{sent}");
}
