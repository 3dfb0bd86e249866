//! Runs `api_key_command` without a shell, in its own process group, which gets the terminal for password prompts and
//! is killed as a whole after a timeout.

use super::ConfigError;
use super::file::system_message;
use super::key::MAX_BYTES;
use crate::model::endpoint::{ApiKey, KEY_VARIABLE};
use crate::model::redaction::{redacted_path, redacted_setting};
use crate::model::text::CleanText;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use zeroize::Zeroizing;

/// The timeout of a key command.
pub(super) const LIMIT: Duration = Duration::from_secs(10);
/// Maximum characters of a failing command's stderr to show.
const SHOWN: usize = 300;
/// Shorter lines of output are not removed from the shown text: they are words, not keys.
const SHORTEST_KEY: usize = 8;

/// Runs the program; the first line of its output that isn't blank is the key.
///
/// # Errors
/// Fails if the program can't be started, fails (with its stderr), runs longer than `limit`, or prints no key.
pub(super) async fn run_key_command(words: &[String], limit: Duration) -> Result<ApiKey, ConfigError> {
    let (program, arguments) = words.split_first().map_or(("", [].as_slice()), |(first, rest)| (first.as_str(), rest));
    let failed = |why: &str| ConfigError::KeyCommand { program: shown_program(program), why: CleanText::line(why) };
    let mut command = Command::new(program);
    command.args(arguments).env_remove(KEY_VARIABLE).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    if can_have_own_group() {
        command.process_group(0);
    }
    let mut child =
        command.spawn().map_err(|error| failed(&format!("could not be started: {}", system_message(&error))))?;
    let mut group = ProcessGroup::of(&child);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (mut output, mut complaint) = (buffer(), buffer());
    let all =
        async { tokio::join!(child.wait(), read_start(stdout, &mut output), read_start(stderr, &mut complaint)).0 };
    let ended = tokio::time::timeout(limit, all).await;
    let message = stderr_text(&complaint, &output);
    let Ok(status) = ended else {
        return Err(failed(&format!("did not finish within {} s and was stopped; it {message}", limit.as_secs())));
    };
    group.mark_ended();
    let status = status.map_err(|error| failed(system_message(&error).as_str()))?;
    if !status.success() {
        return Err(failed(&format!("failed with {} and {message}", ending(status))));
    }
    let text = Zeroizing::new(String::from_utf8_lossy(&output).into_owned());
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    ApiKey::new(line)
        .ok_or_else(|| ConfigError::NoKey { source_name: format!("the output of {}", shown_program(program)) })
}

/// The program for display. It is redacted because it may be a key in the wrong field.
fn shown_program(program: &str) -> CleanText {
    CleanText::line(&redacted_path(Path::new(program)).display().to_string())
}

fn ending(status: ExitStatus) -> String {
    status.code().map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"))
}

/// What the program printed to stderr, without anything that may be the key.
fn stderr_text(complaint: &[u8], output: &[u8]) -> String {
    let mut text = Zeroizing::new(String::from_utf8_lossy(complaint).into_owned());
    let output = Zeroizing::new(String::from_utf8_lossy(output).into_owned());
    for line in output.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_KEY) {
        text = Zeroizing::new(text.replace(line, "***"));
    }
    let message = CleanText::title(&redacted_setting(&text), SHOWN);
    if message.is_empty() { "printed no error".to_owned() } else { format!("printed: {message}") }
}

/// A buffer with enough space: one that grows leaves copies in memory that are never wiped.
fn buffer() -> Zeroizing<Vec<u8>> {
    Zeroizing::new(Vec::with_capacity(MAX_BYTES))
}

/// Reads to the end but stores only the start, so that endless output doesn't fill the memory.
async fn read_start(stream: Option<impl AsyncRead + Unpin>, kept: &mut Zeroizing<Vec<u8>>) {
    let Some(mut stream) = stream else { return };
    let mut part = Zeroizing::new(vec![0; 4096]);
    while let Ok(n @ 1..) = stream.read(&mut part).await {
        let room = MAX_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(part.get(..n.min(room)).unwrap_or_default());
    }
}

/// Whether the command can get its own process group: if there is no terminal, or it can be taken back. In a container
/// our group may have no number (it was created outside); the command then stays in our group and is killed alone.
#[cfg(unix)]
fn can_have_own_group() -> bool {
    nix::unistd::getpgrp().as_raw() > 0 || std::fs::File::open("/dev/tty").is_err()
}

/// The command's process group. It has the terminal while the command runs, and is killed on drop.
#[cfg(unix)]
#[derive(Debug)]
struct ProcessGroup {
    id: Option<rustix::process::Pid>,
    /// Takes the terminal back on drop, after the group was killed.
    _terminal: Option<ForegroundTerminal>,
}

#[cfg(unix)]
impl ProcessGroup {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        let id = id.filter(|_| can_have_own_group());
        Self { id, _terminal: id.and_then(ForegroundTerminal::give_to) }
    }

    /// Marks the command as ended, so that nothing is killed.
    fn mark_ended(&mut self) {
        self.id = None;
    }
}

#[cfg(unix)]
impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            // The group may just have ended by itself.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

/// The terminal while it belongs to another process group: a background process can't ask for a password.
#[cfg(unix)]
#[derive(Debug)]
struct ForegroundTerminal {
    terminal: std::fs::File,
    ours: rustix::process::Pid,
}

#[cfg(unix)]
impl ForegroundTerminal {
    /// `None` if there is no terminal, or it belongs to another process group.
    fn give_to(group: rustix::process::Pid) -> Option<Self> {
        use rustix::termios::{tcgetpgrp, tcsetpgrp};
        let terminal = std::fs::File::open("/dev/tty").ok()?;
        let ours = rustix::process::Pid::from_raw(nix::unistd::getpgrp().as_raw())?;
        if tcgetpgrp(&terminal).ok()? != ours {
            return None;
        }
        tcsetpgrp(&terminal, group).ok()?;
        let lent = Self { terminal, ours };
        // The command may have been stopped because it asked before it had the terminal.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::CONT);
        Some(lent)
    }
}

#[cfg(unix)]
impl Drop for ForegroundTerminal {
    fn drop(&mut self) {
        use nix::sys::signal::{SigSet, SigmaskHow, Signal};
        // Taking the terminal back from the background raises SIGTTOU, which would stop us unless it is blocked.
        let mut blocked = SigSet::empty();
        blocked.add(Signal::SIGTTOU);
        let before = blocked.thread_swap_mask(SigmaskHow::SIG_BLOCK);
        // If the terminal is gone, there is nothing to take back.
        let _ = rustix::termios::tcsetpgrp(&self.terminal, self.ours);
        if let Ok(before) = before {
            let _ = before.thread_set_mask();
        }
    }
}

/// On other systems only the program itself is killed, by its handle.
#[cfg(not(unix))]
#[derive(Debug)]
struct Group;

#[cfg(not(unix))]
impl ProcessGroup {
    fn of(_child: &Child) -> Self {
        Self
    }

    fn has_ended(&mut self) {}
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    async fn run_sh(script: &str) -> Result<ApiKey, ConfigError> {
        run_key_command(&words(&["sh", "-c", script]), LIMIT).await
    }

    #[tokio::test]
    async fn the_first_line_of_a_commands_output_is_the_key() {
        let key = run_sh("echo; echo mint_one; echo other").await.expect("a key");
        assert_eq!(key.expose(), "mint_one");
    }

    #[tokio::test]
    async fn arguments_are_not_read_by_a_shell() {
        let key = run_key_command(&words(&["printf", "%s", "$HOME;x"]), LIMIT).await.expect("a key");
        assert_eq!(key.expose(), "$HOME;x");
    }

    #[tokio::test]
    async fn a_failing_commands_stderr_is_shown_cleaned_and_its_output_is_not() {
        let error = run_sh("echo mint_half; printf 'no \\033[2Jaccess' >&2; exit 3").await.expect_err("it failed");
        let message = error.to_string();
        assert!(message.contains("code 3") && message.contains("no access"), "{message}");
        assert!(!message.contains("mint_half") && !message.contains('\x1b'), "{message}");
    }

    #[tokio::test]
    async fn a_key_that_a_failing_command_repeats_is_removed() {
        for key in ["mint_5ecret", "another-5ecret"] {
            let error = run_sh(&format!("echo {key}; echo \"can't store {key}: denied\" >&2; exit 1")).await;
            let message = error.expect_err("it failed").to_string();
            assert!(
                message.contains("can't store ***") && message.contains("denied") && !message.contains("5ecret"),
                "{message}"
            );
        }
    }

    #[tokio::test]
    async fn a_command_that_hangs_is_stopped_and_its_stderr_is_shown() {
        let hangs =
            run_key_command(&words(&["sh", "-c", "echo locked >&2; sleep 600"]), Duration::from_millis(300)).await;
        let message = hangs.expect_err("it hangs").to_string();
        assert!(message.contains("did not finish within 0 s") && message.contains("printed: locked"), "{message}");
    }

    #[tokio::test]
    async fn a_command_that_hangs_is_killed_with_its_child_processes() {
        let folder = tempfile::tempdir().expect("a folder");
        let fifo = folder.path().join("held");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, kind, mode, 0).expect("a fifo");
        // Reading the FIFO ends when no process has it open any more, even if killed processes are never reaped.
        let (let_go, ended) = std::sync::mpsc::channel();
        let held = fifo.clone();
        std::thread::spawn(move || let_go.send(std::fs::read(held)));
        let script = format!("sleep 600 >'{}' & wait", fifo.display());
        let hangs = run_key_command(&words(&["sh", "-c", &script]), Duration::from_secs(2)).await;
        assert!(matches!(hangs, Err(ConfigError::KeyCommand { .. })), "{hangs:?}");
        let ended = ended.recv_timeout(Duration::from_secs(20));
        assert!(ended.is_ok(), "a child process is still running");
    }

    #[tokio::test]
    async fn a_missing_command_is_an_error_with_its_name() {
        let error = run_key_command(&words(&["docdeck-no-such-program"]), LIMIT).await.expect_err("not there");
        assert!(error.to_string().contains("docdeck-no-such-program"), "{error}");
    }
}
