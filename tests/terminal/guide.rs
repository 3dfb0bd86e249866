//! Tests which pager shows the output of `docdeck help TOPIC` on a terminal.

use crate::support::pty::{Pty, Setup};

#[test]
fn the_pager_of_the_environment_shows_a_topic() {
    let mut pty = Pty::spawn(Setup::command(&["help", "backup"]).with("PAGER", "sed s/^/paged:/"));
    assert_eq!(pty.wait_for_end(), 0);
    let sent = pty.sent();
    assert!(sent.contains("paged:\x1b[1mBackup"), "headings are bold: {sent}");
    assert!(sent.lines().all(|line| line.starts_with("paged:")), "{sent}");
}

#[test]
fn without_a_working_pager_a_topic_is_printed() {
    for pager in ["/nonexistent/pager", "false", " "] {
        let mut pty = Pty::spawn(Setup::command(&["help", "backup", "--color", "never"]).with("PAGER", pager));
        assert_eq!(pty.wait_for_end(), 0);
        let sent = pty.sent();
        assert!(sent.starts_with("Backup") && sent.contains("docdeck import backup.jsonl"), "{pager}: {sent}");
    }
}

#[test]
fn the_list_of_topics_needs_no_pager() {
    let mut pty = Pty::spawn(Setup::command(&["help"]).with("PAGER", "false"));
    assert_eq!(pty.wait_for_end(), 0);
    assert!(pty.sent().starts_with("Topics of the guide:"), "{}", pty.sent());
}
