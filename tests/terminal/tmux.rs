//! Tests of docdeck inside a real tmux: start, resize, copy, title, passthrough, detach and attach, quit. Skipped if
//! tmux is not installed.

use crate::support::pty::{Pty, Setup, program};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Timeout of every wait.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A separate tmux server that ends when dropped.
struct Tmux {
    folder: tempfile::TempDir,
}

impl Tmux {
    /// Starts a shell in one pane of 80 × 24, without the user's configuration. Returns `None` if tmux is not
    /// installed.
    fn start() -> Option<Self> {
        let is_there = Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success());
        if !is_there {
            eprintln!("skipped: there is no tmux on this computer");
            return None;
        }
        let tmux = Self { folder: tempfile::tempdir().expect("a folder") };
        let config = "set -g default-terminal tmux-256color\nset -g set-clipboard on\nset -g allow-passthrough on\n\
                      set -g allow-rename on\nset -g set-titles on\nset -g status off\nset -s escape-time 10\n\
                      set -g remain-on-exit off\n";
        std::fs::write(tmux.path("tmux.conf"), config).expect("written");
        let shell = ["new-session", "-d", "-x", "80", "-y", "24", "env", "PS1=ready> ", "sh", "-i"];
        tmux.run(&shell);
        tmux.wait_for("ready>");
        Some(tmux)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The options that select this server and its configuration.
    fn options(&self) -> Vec<String> {
        let [socket, config] = ["tmux.sock", "tmux.conf"].map(|name| self.path(name).display().to_string());
        ["-u", "-S", &socket, "-f", &config].map(str::to_owned).to_vec()
    }

    fn run(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command
            .env_clear()
            .envs(crate::support::pty::environment(self.folder.path()))
            .env("DOCDECK_REDUCED_MOTION", "1");
        let output = command.args(self.options()).args(arguments).output().expect("tmux runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    fn keys(&self, keys: &[&str]) {
        self.run(&[&["send-keys"], keys].concat());
    }

    fn wait_for(&self, text: &str) {
        self.wait_until(text, || self.screen().contains(text));
    }

    fn wait_until(&self, what: &str, holds: impl Fn() -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !holds() {
            assert!(Instant::now() < deadline, "timed out waiting for {what}; the pane:\n{}", self.screen());
        }
    }

    /// Expands a tmux format such as `#{pane_title}`.
    fn query(&self, format: &str) -> String {
        self.run(&["display-message", "-p", format]).trim_end().to_owned()
    }

    /// Attaches a new terminal to the server.
    fn attach(&self) -> Pty {
        let words = [vec!["tmux".to_owned()], self.options(), vec!["attach".to_owned()]].concat();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Pty::spawn(Setup::of(&words))
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let ended = Command::new("tmux").args(self.options()).arg("kill-server").output();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

fn start_demo(tmux: &Tmux, config: &Path) {
    let line = format!("{} demo --no-tour --speed 100 --config {}", program(), config.display());
    tmux.keys(&["-l", &line]);
    tmux.keys(&["Enter"]);
    tmux.wait_for("Needs you");
}

#[test]
fn the_dashboard_works_in_a_pane() {
    let Some(tmux) = Tmux::start() else { return };
    let config = tmux.path("config.toml");
    std::fs::write(&config, "[notify]\nhow = \"osc9\"\n").expect("written");
    let mut outer = tmux.attach();
    outer.wait_for_text("ready>");
    start_demo(&tmux, &config);
    outer.wait_for_text("Needs you");
    assert_eq!(tmux.query("#{alternate_on}"), "1");
    tmux.wait_until("its title", || tmux.query("#{pane_title}").ends_with("docdeck"));

    tmux.keys(&["j", "j"]);
    outer.wait_for("the third row, selected", |screen| screen.contents().matches('▌').count() == 1);

    // The copied text reaches tmux's buffer and the outer terminal.
    tmux.keys(&["Y"]);
    tmux.wait_until("a copied id", || tmux.run(&["list-buffers"]).lines().count() == 1);
    let id = tmux.run(&["show-buffer"]);
    assert!(id.starts_with("01") && id.len() == 26, "{id:?}");
    outer.wait_for_sent("\x1b]52;");

    tmux.run(&["split-window", "-d", "-l", "8", "cat"]);
    tmux.wait_until("a frame for 15 rows", || tmux.query("#{pane_height}") == "15" && tmux.screen().contains("help"));
    tmux.run(&["kill-pane", "-t", "{bottom}"]);
    tmux.wait_until("a frame for 24 rows", || {
        let screen = tmux.screen();
        screen.lines().count() == 24 && screen.lines().last().is_some_and(|line| line.contains("help"))
    });

    // A job that finishes while the pane is unfocused notifies the outer terminal.
    tmux.keys(&["n"]);
    tmux.wait_for("New job");
    tmux.keys(&["-l", "Fix the links"]);
    tmux.keys(&["C-s"]);
    tmux.keys(&["-H", "1b", "5b", "4f"]);
    outer.wait_for_sent("\x1b]9;");

    let before = outer.sent().len();
    tmux.run(&["detach-client"]);
    outer.wait_for_end();
    assert!(!outer.sent().get(before..).unwrap_or_default().contains("panicked"));
    let mut again = tmux.attach();
    again.wait_for_text("Needs you");

    tmux.wait_until("no editor", || !tmux.screen().contains("━ New job"));
    tmux.keys(&["q"]);
    tmux.wait_until("the shell alone", || {
        let screen = tmux.screen();
        tmux.query("#{alternate_on}") == "0" && screen.trim_end().ends_with("ready>") && !screen.contains("Needs you")
    });
    for mode in ["mouse_any_flag", "keypad_cursor_flag", "insert_flag"] {
        assert_eq!(tmux.query(&format!("#{{{mode}}}")), "0", "{mode}");
    }
    assert_eq!(tmux.query("#{cursor_flag}"), "1");
    tmux.keys(&["-l", "echo typed=$((1+1))"]);
    tmux.keys(&["Enter"]);
    tmux.wait_for("typed=2");
}
