//! Tests the progress that `docdeck import` shows on a terminal.

use crate::support::pty::{Pty, Setup};
use std::fmt::Write as _;

/// Returns a backup of more than four megabytes. Smaller files are checked too fast to show the progress.
fn export() -> String {
    let prompt = "word ".repeat(20_000);
    let mut lines = r#"{"kind":"docdeck","version":1,"exportedAt":"2026-11-20T14:02:30Z"}"#.to_owned();
    for n in 0..60 {
        let prompt = format!(
            r#"{{"kind":"create","text":"{n} {prompt}","delivery":"accepted","writtenAt":"2026-11-20T14:02:30Z"}}"#
        );
        let _ = write!(
            lines,
            "\n{{\"kind\":\"job\",\"baseUrl\":\"http://127.0.0.1:1\",\"project\":\"p\",\"id\":\"j{n}\",\"prompts\":[{prompt}]}}"
        );
    }
    lines.push_str("\n{\"kind\":\"end\",\"jobs\":60,\"drafts\":0}\n");
    lines
}

#[test]
fn the_import_of_a_large_file_shows_its_progress_and_clears_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("jobs.jsonl");
    std::fs::write(&file, export()).expect("written");
    let path = file.to_str().expect("a path");
    let mut pty = Pty::spawn(Setup::command(&["import", path]).with("DOCDECK_REDUCED_MOTION", "0"));
    assert_eq!(pty.wait_for_end(), 0);
    assert!(pty.sent().contains("Checking the file: 9"), "{}", pty.sent());
    let screen = pty.screen().contents();
    assert!(screen.contains("Added 60 jobs") && !screen.contains("Checking"), "{screen}");

    let calm = Setup::command(&["import", path]).with("DOCDECK_REDUCED_MOTION", "1");
    let mut pty = Pty::spawn(calm);
    assert_eq!(pty.wait_for_end(), 0);
    assert!(!pty.sent().contains("Checking the file"), "{}", pty.sent());
}
