//! Tests how the dashboard explains that its data folder can't be used.

use crate::support::pty::{Pty, Setup};
use rustix::process::Signal;

#[cfg(target_os = "linux")]
#[test]
fn the_dashboard_reports_only_that_the_data_folder_cannot_be_created() {
    let setup = Setup::dashboard().with("DOCDECK_BASE_URL", "http://127.0.0.1:1").with("DOCDECK_PROJECT_ID", "p");
    let setup = setup.with("DOCDECK_API_KEY", "mint_a").with("DOCDECK_DATA_DIR", "/proc/docdeck");
    let mut pty = Pty::spawn_at(120, 40, setup);
    pty.wait_for_text("The data folder /proc/docdeck doesn't exist and can't be created in /proc");
    pty.send("n");
    pty.wait_for_text("New job");
    pty.send("words");
    pty.wait_for_text("words");
    pty.send("\x13");
    pty.wait_for_text("Not sent: the data folder can't be written");
    let screen = pty.screen().contents();
    assert!(screen.contains("can't be created in /proc") && !screen.contains("lock"), "{screen}");
    pty.signal(Signal::TERM);
    pty.wait_for_end();
    pty.assert_restored();
}
