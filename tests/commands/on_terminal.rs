//! The commands on a terminal: relative times, tables that fit the terminal's width, the progress line that is redrawn
//! in place, and a typed Ctrl-C.

use crate::support::command::CommandFixture;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::io::{Read as _, Write as _};
use std::sync::mpsc;
use std::time::Duration;

const RUN_TIMEOUT: Duration = Duration::from_secs(30);

/// Runs the program on a terminal of this width. `react` is a pair of a text and keys: types the keys after the program
/// has printed the text. Returns the exit code and the complete output.
fn run_on_terminal(
    fixture: &CommandFixture,
    words: &[&str],
    variables: &[(&str, &str)],
    columns: u16,
    react: Option<(&str, &str)>,
) -> (u32, String) {
    let size = PtySize { rows: 24, cols: columns, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).expect("a pty");
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_docdeck"));
    command.args(words);
    command.env_clear();
    fixture.environment_variables().iter().for_each(|(name, value)| command.env(name, value));
    variables.iter().for_each(|(name, value)| command.env(name, value));
    command.cwd(fixture.home.path());
    let mut child = pair.slave.spawn_command(command).expect("started");
    drop(pair.slave);
    let (sender, receiver) = mpsc::channel();
    let mut reader = pair.master.try_clone_reader().expect("a reader");
    std::thread::spawn(move || {
        let mut part = [0; 4096];
        while let Ok(n @ 1..) = reader.read(&mut part) {
            if sender.send(part.get(..n).unwrap_or_default().to_vec()).is_err() {
                return;
            }
        }
    });
    let mut writer = pair.master.take_writer().expect("a writer");
    let (mut output, mut react) = (Vec::new(), react);
    loop {
        match receiver.recv_timeout(RUN_TIMEOUT) {
            Ok(part) => output.extend(part),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                panic!("it does not end; so far: {}", String::from_utf8_lossy(&output));
            }
        }
        if let Some((text, keys)) = react
            && String::from_utf8_lossy(&output).contains(text)
        {
            writer.write_all(keys.as_bytes()).expect("typed");
            react = None;
        }
    }
    let code = child.wait().expect("a status").exit_code();
    (code, String::from_utf8(output).expect("text"))
}

#[test]
fn a_table_has_headings_and_ages_and_is_never_wider_than_the_terminal() {
    let fixture = CommandFixture::new(&[]);
    let title =
        format!("A title that has far more words than a terminal has room for [sim:seconds=60000] {}", "x".repeat(200));
    fixture.run(&["new", &title]).expect_exit_code(0);
    for columns in [40, 80, 120] {
        let (code, output) = run_on_terminal(&fixture, &["jobs", "--color", "never"], &[], columns, None);
        assert_eq!(code, 0);
        let lines: Vec<&str> = output.lines().collect();
        assert!(lines.first().is_some_and(|line| line.starts_with("ID ") && line.contains("STATE")), "{output}");
        assert!(
            lines.iter().all(|line| line.trim_end().chars().count() <= usize::from(columns)),
            "{columns}: {output}"
        );
        assert!(lines.get(1).is_some_and(|line| line.contains("  active  ") && line.contains('…')), "{output}");
    }
    let (_, output) = run_on_terminal(&fixture, &["jobs"], &[], 80, None);
    assert!(output.contains("\x1b[") && output.contains("now"), "{output:?}");
    let (_, output) = run_on_terminal(&fixture, &["jobs", "--ascii"], &[("NO_COLOR", "1")], 80, None);
    assert!(output.is_ascii() && !output.contains('\x1b') && output.contains('~'), "{output:?}");
}

#[test]
fn the_progress_line_is_redrawn_and_removed_at_the_end() {
    let fixture = CommandFixture::new(&[]);
    let words = ["new", "Do [sim:seconds=150] [sim:fail]", "--wait"];
    let (code, output) = run_on_terminal(&fixture, &words, &[], 80, None);
    assert_eq!(code, 1);
    assert!(output.contains("\rwaiting for the job · "), "{output:?}");
    let mut parser = vt100::Parser::new(
        std::num::NonZeroU16::new(24).expect("rows"),
        std::num::NonZeroU16::new(80).expect("columns"),
        0,
    );
    parser.process(output.as_bytes());
    let screen = parser.screen().contents();
    assert!(!screen.contains("waiting"), "{screen}");
    assert!(screen.contains("accepted: Do") && screen.contains("failed: Do") && screen.contains("TITLE"), "{screen}");
}

#[test]
fn with_reduced_motion_nothing_is_redrawn() {
    let fixture = CommandFixture::new(&[]);
    let words = ["new", "Do [sim:seconds=150] [sim:fail]", "--wait"];
    let (code, output) =
        run_on_terminal(&fixture, &words, &[("DOCDECK_REDUCED_MOTION", "1"), ("NO_COLOR", "1")], 80, None);
    assert_eq!(code, 1);
    assert!(!output.contains('\x1b') && !output.replace("\r\n", "\n").contains('\r'), "{output:?}");
}

#[test]
fn ctrl_c_leaves_the_job_running() {
    let fixture = CommandFixture::new(&[]);
    let words = ["new", "Long [sim:seconds=60000]", "--wait"];
    let (code, output) = run_on_terminal(&fixture, &words, &[], 80, Some(("waiting for the job", "\x03")));
    assert_eq!(code, 130);
    let plain = output.replace("\r\n", "");
    assert!(plain.contains("Interrupted after") && plain.contains("keeps running on the service"), "{output:?}");
}

#[test]
fn a_prompt_can_be_typed_and_ended_with_ctrl_d() {
    let fixture = CommandFixture::new(&[]);
    let typed = "Typed [sim:seconds=60000]\n\x04";
    let (code, _) = run_on_terminal(&fixture, &["new", "-"], &[], 80, Some(("Ctrl-D", typed)));
    assert_eq!(code, 0);
    assert_eq!(
        fixture.sim.received_prompts().first().map(|(_, text)| text.as_str()),
        Some("Typed [sim:seconds=60000]")
    );
}
