//! Tests of the built program in a real pseudo-terminal: it starts, draws, resizes, suspends, ends in every way, and
//! restores the terminal. Every wait has a timeout.

#![cfg(unix)]
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../benches/backup.rs"]
mod backup;
mod cost;
mod cursor;
mod custom_commands;
mod doctor;
mod folders;
mod guide;
mod hostile;
mod hostile_hosts;
mod importing;
mod init;
mod key;
mod links;
mod locales;
mod mouse;
mod profiles;
mod prune;
mod redaction;
mod secrets;
mod service;
#[cfg(target_os = "linux")]
mod soak;
mod sources;
mod terms;
mod tmux;
mod views;
mod welcome;

#[path = "../support/mod.rs"]
mod support;

use rustix::process::Signal;
use support::pty::{self, Pty, Setup};

fn start_demo() -> Pty {
    let mut pty = Pty::spawn(Setup::demo());
    pty.wait_for_text("Needs you");
    pty
}

#[test]
fn the_demo_draws_and_q_restores_the_terminal() {
    let mut pty = start_demo();
    assert!(pty.screen().alternate_screen() && pty.screen().hide_cursor());
    pty.quit();
}

#[test]
fn only_the_background_colour_is_queried_and_only_after_the_first_frame() {
    let mut pty = start_demo();
    pty.wait_for_sent("\x1b]11;?");
    pty.send("q");
    pty.wait_for_end();
    let sent = pty.sent();
    for question in ["\x1b[6n", "\x1b[c", "\x1b[?u", "$p", "\x1b[18t"] {
        assert!(!sent.contains(question), "{question:?}");
    }
    let asked = sent.find("\x1b]11;?").expect("the background is asked for");
    assert!(sent.find("docdeck").expect("a frame") < asked);
    assert_eq!(sent.matches("\x1b]11;?").count(), 1);
}

#[test]
fn without_colours_the_terminal_is_not_queried() {
    let mut pty = Pty::spawn(Setup::demo().with("NO_COLOR", "1"));
    pty.wait_for_text("Needs you");
    pty.send("q");
    pty.wait_for_end();
    assert!(!pty.sent().contains("]11;?"));
}

#[test]
fn a_late_reply_between_typed_keys_changes_the_theme_and_types_nothing() {
    let mut pty = start_demo();
    pty.send("2");
    pty.wait_for_text("Searches  Feedback");
    // If docdeck took this reply as typed keys, the `1` in it would switch to the jobs screen.
    pty.send("jj\x1b]11;rgb:ffff/ffff/ffff\x1b\\j");
    pty.wait_for_sent("38;5;24");
    pty.wait_for_text("Searches  Feedback");
    pty.send("k\x1b]11;rgb:0000/0000/0000\x07k");
    pty.wait_for_sent("38;5;75");
    pty.send("1");
    pty.wait_for_text("Needs you");
    pty.quit();
}

#[test]
fn an_esc_typed_before_the_first_frame_is_not_taken_as_part_of_a_reply() {
    let mut pty = Pty::spawn(Setup::demo());
    pty.send("?\x1b");
    pty.wait_for_sent("\x1b]11;?");
    pty.send("\x1b]11;rgb:ffff/ffff/ffff\x1b\\");
    pty.wait_for_sent("38;5;24");
    pty.send("2");
    // The Esc has closed the help. With the help still open, `2` would not switch to the views.
    pty.wait_for_text("Searches  Feedback");
    pty.quit();
}

#[test]
fn a_reply_after_quitting_does_not_reach_the_shell() {
    let mut pty = Pty::spawn(Setup::shell());
    pty.send("PS1='rea''dy> '; stty -echo\r");
    pty.wait_for_text("ready>");
    pty.send("$DOCDECK demo --no-tour\r");
    pty.wait_for_sent("\x1b]11;?");
    pty.send("q");
    pty.send("\x1b]11;rgb:ffff/ffff/ffff\x1b\\");
    pty.wait_for("the prompt again", |screen| {
        !screen.alternate_screen() && screen.contents().matches("ready>").count() == 2
    });
    pty.send("echo typed=$((1+1))\r");
    pty.wait_for_text("typed=2");
    assert!(!pty.screen().contents().contains("rgb"), "{}", pty.screen().contents());
    pty.send("exit\r");
    pty.wait_for_end();
}

#[test]
fn many_resizes_down_to_one_cell_end_with_a_complete_screen() {
    let mut pty = start_demo();
    for (columns, rows) in [(1, 1), (300, 100), (2, 60), (200, 1), (20, 5), (39, 11), (160, 48), (1, 1), (80, 24)] {
        pty.resize(columns, rows);
    }
    pty.wait_for("a header and a footer at 80x24", |screen| {
        let text = screen.contents();
        text.lines().count() == 24 && text.contains("docdeck") && text.contains("help")
    });
    pty.quit();
}

#[test]
fn q_quits_even_in_a_terminal_of_one_cell() {
    let mut pty = start_demo();
    pty.resize(1, 1);
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
}

#[test]
fn signals_end_the_dashboard_cleanly() {
    let like_term = [Signal::QUIT, Signal::USR1, Signal::USR2, Signal::ALARM, Signal::ABORT].map(|signal| (signal, 0));
    for (signal, code) in [(Signal::TERM, 0), (Signal::HUP, 0), (Signal::INT, 130)].into_iter().chain(like_term) {
        let mut pty = start_demo();
        pty.signal(signal);
        assert_eq!(pty.wait_for_end(), code, "{signal:?}");
        pty.assert_restored();
    }
}

#[test]
fn the_dashboard_ends_when_its_terminal_is_gone() {
    let mut pty = start_demo();
    pty.hang_up();
    pty.wait_for_end();
}

#[test]
fn the_dashboard_ends_when_its_terminal_is_gone_even_without_a_hangup_signal() {
    // The program inherits `trap '' HUP` from the shell and ignores the signal, as under nohup.
    let mut pty = Pty::spawn(Setup::demo().run_under(&["sh", "-c", "trap '' HUP; \"$0\" \"$@\""]));
    pty.wait_for_text("Needs you");
    pty.hang_up();
    pty.wait_for_end();
}

#[test]
fn a_panic_restores_the_terminal_before_its_message() {
    for place in ["loop", "task"] {
        let mut pty = Pty::spawn(Setup::demo().with("DOCDECK_TEST_PANIC", place));
        assert_eq!(pty.wait_for_end(), 101, "{place}");
        pty.assert_restored();
        let sent = pty.sent();
        let left_at = sent.rfind("\x1b[?1049l").expect("the alternate screen was left");
        let message_at = sent.find("docdeck crashed").expect("a message");
        assert!(left_at < message_at, "{place}");
    }
}

#[test]
fn an_interrupted_escape_sequence_does_not_block_input() {
    let mut pty = start_demo();
    pty.send("\x1b[");
    pty.signal(Signal::TERM);
    assert_eq!(pty.wait_for_end(), 0);
}

#[test]
fn ctrl_z_returns_to_the_shell_and_fg_redraws_the_screen() {
    let mut pty = Pty::spawn(Setup::shell());
    pty.send("PS1='rea''dy> '; stty -echo\r");
    pty.wait_for_text("ready>");
    pty.send("$DOCDECK demo --no-tour\r");
    pty.wait_for_text("Needs you");
    pty.send("\x1a");
    pty.wait_for_text("Stopped");
    pty.send("echo here=$((40+2))\r");
    pty.wait_for_text("here=42");
    pty.assert_modes_off();
    pty.send("fg\r");
    pty.wait_for("the dashboard again", |screen| screen.alternate_screen() && screen.contents().contains("Needs you"));
    pty.send("q");
    pty.wait_for("the prompt", |screen| {
        !screen.alternate_screen() && screen.contents().trim_end().ends_with("demo --no-tour\nready>")
    });
    pty.send("echo code=$?; exit 7\r");
    pty.wait_for_text("code=0");
    assert_eq!(pty.wait_for_end(), 7);
    pty.assert_modes_off();
}

#[test]
fn ctrl_z_without_a_job_control_shell_does_not_suspend() {
    let mut pty = start_demo();
    pty.send("\x1a");
    pty.wait_for_text("Can't suspend");
    pty.quit();
}

/// If the session leader runs outside the container, the kernel reports its id as 0.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_z_in_a_session_started_outside_the_container_does_not_suspend() {
    let contained = ["unshare", "--user", "--pid", "--fork", "sh", "-c", "\"$0\" \"$@\"; exit $?"];
    let allowed = std::process::Command::new("unshare").args(["--user", "--pid", "--fork", "true"]).status();
    if !allowed.is_ok_and(|status| status.success()) {
        eprintln!("skipped: a PID namespace can't be created on this computer");
        return;
    }
    let mut pty = Pty::spawn(Setup::demo().run_under(&contained));
    pty.wait_for_text("Needs you");
    pty.send("\x1a");
    pty.wait_for_text("Can't suspend");
    pty.quit();
}

#[test]
fn sigcont_from_another_program_redraws_the_screen() {
    let mut pty = start_demo();
    pty.clear_screen();
    pty.signal(Signal::CONT);
    pty.wait_for_text("Needs you");
    pty.quit();
}

/// Starts the demo with this command as the external editor, and types text into a new job.
fn demo_with_editor(editor: &str) -> Pty {
    let mut pty = Pty::spawn(Setup::demo().with("EDITOR", editor));
    pty.wait_for_text("Needs you");
    pty.send("n");
    pty.wait_for_text("New job");
    pty.send("Begun here");
    pty.wait_for_text("Begun here");
    pty
}

fn close_editor_and_quit(mut pty: Pty) {
    pty.send("\x1b");
    pty.wait_for_text("Draft saved");
    pty.quit();
}

#[test]
fn ctrl_g_gives_the_terminal_to_the_external_editor_and_loads_its_text() {
    let mut pty = demo_with_editor("sh -c 'echo at the editor; cat \"$0\"; echo Ended there >> \"$0\"'");
    pty.send("\x07");
    pty.wait_for("the dashboard again, with both lines", |screen| {
        let text = screen.contents();
        screen.alternate_screen() && text.contains("Begun here") && text.contains("Ended there")
    });
    let sent = pty.sent();
    let editor_at = sent.find("at the editor").expect("the editor ran");
    let left_at = sent.find("\x1b[?1049l").expect("the alternate screen was left");
    let entered_at = sent.rfind("\x1b[?1049h").expect("the alternate screen was entered again");
    assert!(left_at < editor_at && editor_at < entered_at);
    close_editor_and_quit(pty);
}

#[test]
fn a_missing_or_failing_editor_leaves_the_text_unchanged() {
    for editor in ["docdeck-no-such-editor", "sh -c 'echo lost > \"$0\"; exit 3'"] {
        let mut pty = demo_with_editor(editor);
        pty.send("\x07");
        pty.wait_for("a reason", |screen| {
            let text = screen.contents();
            screen.alternate_screen() && text.contains("Your text is") && text.contains("Begun here")
        });
        assert!(!pty.screen().contents().contains("lost"));
        close_editor_and_quit(pty);
    }
}

#[test]
fn ctrl_c_in_the_external_editor_ends_only_the_editor() {
    let mut pty = demo_with_editor("sh -c 'echo at work; exec sleep 600'");
    pty.send("\x07");
    // Ctrl-C can end the editor only after it has started.
    pty.wait_for("the editor at work", |screen| !screen.alternate_screen() && screen.contents().contains("at work"));
    pty.send("\x03");
    pty.wait_for("the dashboard again", |screen| screen.alternate_screen() && screen.contents().contains("Your text"));
    close_editor_and_quit(pty);
}

#[test]
fn ctrl_backslash_in_a_foreground_program_reaches_only_that_program() {
    let mut pty = demo_with_editor("sh -c 'ulimit -c 0; echo at work; exec sleep 600'");
    pty.send("\x07");
    pty.wait_for("the editor at work", |screen| !screen.alternate_screen() && screen.contents().contains("at work"));
    pty.send("\x1c");
    pty.wait_for("the dashboard again", |screen| screen.alternate_screen() && screen.contents().contains("Your text"));
    close_editor_and_quit(pty);
}

#[test]
fn a_termination_signal_during_a_foreground_program_ends_both() {
    let mut pty = demo_with_editor("sh -c 'exec sleep 600'");
    pty.send("\x07");
    pty.wait_for("the terminal lent", |screen| !screen.alternate_screen());
    pty.signal(Signal::TERM);
    assert_eq!(pty.wait_for_end(), 0);
    pty.assert_restored();
}

#[test]
fn without_configuration_the_welcome_page_collects_the_settings() {
    let mut pty = Pty::spawn(Setup::dashboard());
    pty.wait_for_text("Welcome to docdeck");
    pty.send("\x03");
    assert_eq!(pty.wait_for_end(), 0);
    pty.assert_restored();
}

#[test]
fn an_idle_screen_sends_nothing() {
    let mut pty = Pty::spawn(Setup::dashboard());
    pty.wait_for_text("Welcome to docdeck");
    pty.wait_for_quiet();
    assert!(!pty.sends_within(std::time::Duration::from_millis(700)), "{:?}", pty.sent());
    pty.send("\x03");
    assert_eq!(pty.wait_for_end(), 0);
}

#[test]
fn a_dumb_terminal_is_refused_with_a_reason() {
    let mut pty = Pty::spawn(Setup::demo().with("TERM", "dumb"));
    assert_eq!(pty.wait_for_end(), 2);
    assert!(pty.sent().contains("TERM=dumb") && !pty.sent().contains('\x1b'), "{}", pty.sent());
}

#[test]
fn the_linux_console_is_sent_nothing_that_it_would_print() {
    let mut pty = Pty::spawn(Setup::demo().with("TERM", "linux"));
    pty.wait_for_text("Needs you");
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
    for sequence in ["?2026", "\x1b[>", "\x1b[<", "\x1b]"] {
        assert!(!pty.sent().contains(sequence), "{sequence:?}");
    }
    pty.assert_restored();
}

/// Prepares a docdeck command without a terminal; returns it with its home folder.
fn without_terminal(arguments: &[&str]) -> (assert_cmd::Command, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = assert_cmd::Command::new(pty::program());
    command.env_clear().envs(pty::environment(folder.path())).args(arguments);
    (command, folder)
}

/// Runs a command and expects this exit code and no stdout; returns stderr.
fn stderr_of(command: &mut assert_cmd::Command, code: i32) -> String {
    let output = command.assert().code(code).get_output().clone();
    assert!(output.stdout.is_empty(), "{:?}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn without_a_terminal_the_demo_reports_that_and_exits_with_2() {
    let (mut command, _folder) = without_terminal(&["demo"]);
    assert!(stderr_of(&mut command, 2).contains("needs an interactive terminal"));
}

#[test]
fn without_a_terminal_and_a_configuration_docdeck_explains_the_setup() {
    let (mut command, _folder) = without_terminal(&[]);
    let output = stderr_of(&mut command, 2);
    for part in ["DOCDECK_API_KEY", "DOCDECK_PROJECT_ID", "config.toml", "docdeck demo"] {
        assert!(output.contains(part), "{output}");
    }
}

#[test]
fn a_configuration_mistake_is_reported_with_its_position() {
    let (mut command, folder) = without_terminal(&[]);
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, "[profiles.a]\nproject = \"p\"\n").expect("written");
    assert!(stderr_of(command.arg("--config").arg(&path), 2).contains("mine.toml:2:1:"));
}

#[test]
fn an_unknown_option_is_a_usage_error() {
    let (mut command, _folder) = without_terminal(&["--nonsense"]);
    assert!(stderr_of(&mut command, 2).contains("--nonsense"));
}

#[test]
fn the_simulator_prints_shell_lines_and_serves_until_it_is_stopped() {
    for (signal, code) in [(Signal::TERM, 0), (Signal::INT, 130)] {
        let mut pty = Pty::spawn(Setup::simulator());
        pty.wait_for_text("export DOCDECK_PROJECT_ID=");
        let text = pty.screen().contents();
        let url =
            text.lines().find_map(|line| line.strip_prefix("export DOCDECK_BASE_URL=http://")).expect("an address");
        std::net::TcpStream::connect(url.trim()).expect("it listens");
        pty.signal(signal);
        assert_eq!(pty.wait_for_end(), code);
    }
}
