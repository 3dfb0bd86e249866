//! Runs a program that prints the API key (`api_key_command`), a token or the URL of the team's database, without a
//! shell. With [`TerminalUse::Foreground`], the program's process group is in the foreground of the terminal, so that
//! it can ask for a password. The group is killed after a timeout.

use super::error::ConfigError;
use super::file::system_message;
use crate::model::endpoint::{API_KEY_VARIABLE, ApiKey, TEAM_URL_VARIABLE};
use crate::model::redaction::{redacted_path, redacted_setting};
use crate::model::text::CleanText;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use zeroize::Zeroizing;

/// The maximum number of bytes to read from an API key file, or from stdout or stderr of an API key command.
pub(super) const MAX_KEY_SOURCE_BYTES: usize = 64 * 1024;
/// How long a command may take to print the API key before it is killed.
pub(super) const KEY_COMMAND_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of characters of a failing command's stderr to show.
const MAX_STDERR_CHARS: usize = 300;
/// A line of stdout with at least this many bytes may be the API key. If stderr repeats the line, docdeck replaces it
/// with `***` before it shows the stderr text.
const MIN_REDACTED_LINE_BYTES: usize = 8;

/// Whether a program may use the terminal, for example to ask for a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TerminalUse {
    /// The program gets the terminal while it runs.
    Foreground,
    /// The program can't use the terminal, because the dashboard is on the screen.
    None,
}

/// Runs the program `words[0]` with the other words as arguments. Removes `removed_variables`, docdeck's API key and
/// the team URL from the program's environment. Returns the first nonblank line of stdout as the API key.
///
/// # Errors
/// Fails if the program can't be started, exits with an error, runs longer than `timeout`, or prints no valid API key.
/// If the program exits with an error or runs too long, the error contains the program's stderr.
pub(super) async fn run_key_command(
    words: &[String],
    timeout: Duration,
    terminal: TerminalUse,
    removed_variables: &[&str],
) -> Result<ApiKey, ConfigError> {
    let (program, arguments) = words.split_first().map_or(("", [].as_slice()), |(first, rest)| (first.as_str(), rest));
    let failed = |why: &str| ConfigError::KeyCommand { program: redacted_program(program), why: CleanText::line(why) };
    let mut command = Command::new(program);
    command.args(arguments).env_remove(API_KEY_VARIABLE).env_remove(TEAM_URL_VARIABLE).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    removed_variables.iter().for_each(|variable| {
        command.env_remove(variable);
    });
    #[cfg(unix)]
    if can_have_process_group() {
        command.process_group(0);
    }
    let mut child =
        command.spawn().map_err(|error| failed(&format!("could not be started: {}", system_message(&error))))?;
    let mut group = ProcessGroup::of(&child, terminal);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (mut output, mut errors) = (new_buffer(), new_buffer());
    let all = async {
        tokio::join!(child.wait(), read_and_truncate(stdout, &mut output), read_and_truncate(stderr, &mut errors)).0
    };
    let ended = tokio::time::timeout(timeout, all).await;
    let message = describe_stderr(&errors, &output);
    let Ok(status) = ended else {
        return Err(failed(&format!("did not finish within {} s and was stopped; it {message}", timeout.as_secs())));
    };
    group.mark_ended();
    let status = status.map_err(|error| failed(system_message(&error).as_str()))?;
    if !status.success() {
        return Err(failed(&format!("failed with {} and {message}", describe_exit(status))));
    }
    let text = Zeroizing::new(String::from_utf8_lossy(&output).into_owned());
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    ApiKey::new(line)
        .ok_or_else(|| ConfigError::NoKey { source_name: format!("the output of {}", redacted_program(program)) })
}

/// Returns the program's path for display. Redacts the path, because it may be an API key in the wrong field.
fn redacted_program(program: &str) -> CleanText {
    CleanText::line(&redacted_path(Path::new(program)).display().to_string())
}

/// Describes how a failed program ended.
fn describe_exit(status: ExitStatus) -> String {
    status.code().map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"))
}

/// Returns the text that the program printed to stderr (`errors`), without anything that may be the API key. The
/// program may print the API key to both stdout (`output`) and stderr.
fn describe_stderr(errors: &[u8], output: &[u8]) -> String {
    let mut text = Zeroizing::new(String::from_utf8_lossy(errors).into_owned());
    let output = Zeroizing::new(String::from_utf8_lossy(output).into_owned());
    for line in output.lines().map(str::trim).filter(|line| line.len() >= MIN_REDACTED_LINE_BYTES) {
        text = Zeroizing::new(text.replace(line, "***"));
    }
    let message = CleanText::title(&redacted_setting(&text), MAX_STDERR_CHARS);
    if message.is_empty() { "printed no error".to_owned() } else { format!("printed: {message}") }
}

/// Returns an empty buffer with enough space for [`MAX_KEY_SOURCE_BYTES`]. A buffer that grows leaves copies of the API
/// key in memory that are never wiped.
fn new_buffer() -> Zeroizing<Vec<u8>> {
    Zeroizing::new(Vec::with_capacity(MAX_KEY_SOURCE_BYTES))
}

/// Reads the stream to its end, but stores only the first [`MAX_KEY_SOURCE_BYTES`], so that memory use is limited.
async fn read_and_truncate(stream: Option<impl AsyncRead + Unpin>, buffer: &mut Zeroizing<Vec<u8>>) {
    let Some(mut stream) = stream else { return };
    let mut chunk = Zeroizing::new(vec![0; 4096]);
    while let Ok(n @ 1..) = stream.read(&mut chunk).await {
        let free_bytes = MAX_KEY_SOURCE_BYTES.saturating_sub(buffer.len());
        buffer.extend_from_slice(chunk.get(..n.min(free_bytes)).unwrap_or_default());
    }
}

/// Whether the command can have its own process group. If not, it stays in docdeck's group, and a timeout kills only
/// the command, not its child processes. In a container, docdeck's group may have no id, because the group was created
/// outside. docdeck then couldn't take the terminal back from another group, so the command gets a group of its own
/// only if there is no terminal.
#[cfg(unix)]
fn can_have_process_group() -> bool {
    nix::unistd::getpgrp().as_raw() > 0 || std::fs::File::open("/dev/tty").is_err()
}

/// The command's process group. With [`TerminalUse::Foreground`], the group is in the foreground of the terminal while
/// the command runs. The group is killed on drop unless the command has ended.
#[cfg(unix)]
#[derive(Debug)]
struct ProcessGroup {
    /// The group to kill on drop, or `None` if the command has ended or has no group.
    id: Option<rustix::process::Pid>,
    /// Gives the terminal back to docdeck when this field is dropped, which happens after the group is killed.
    _terminal: Option<ForegroundTerminal>,
}

#[cfg(unix)]
impl ProcessGroup {
    fn of(child: &Child, terminal: TerminalUse) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        let id = id.filter(|_| can_have_process_group());
        let group = id.filter(|_| terminal == TerminalUse::Foreground);
        Self { id, _terminal: group.and_then(ForegroundTerminal::give_to) }
    }

    /// Marks the command as ended, so that the group is not killed on drop.
    fn mark_ended(&mut self) {
        self.id = None;
    }
}

#[cfg(unix)]
impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            // An error means that the group has just ended.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

/// Keeps the command's process group in the foreground of the terminal, because a process in the background can't read
/// a password from the terminal. On drop, puts docdeck's process group into the foreground again.
#[cfg(unix)]
#[derive(Debug)]
struct ForegroundTerminal {
    terminal: std::fs::File,
    /// docdeck's process group.
    docdeck_group: rustix::process::Pid,
}

#[cfg(unix)]
impl ForegroundTerminal {
    /// Puts `group` into the foreground of the terminal. Returns `None` if there is no terminal, or if docdeck itself
    /// is not in the foreground.
    fn give_to(group: rustix::process::Pid) -> Option<Self> {
        use rustix::termios::{tcgetpgrp, tcsetpgrp};
        let terminal = std::fs::File::open("/dev/tty").ok()?;
        let ours = rustix::process::Pid::from_raw(nix::unistd::getpgrp().as_raw())?;
        if tcgetpgrp(&terminal).ok()? != ours {
            return None;
        }
        tcsetpgrp(&terminal, group).ok()?;
        let foreground = Self { terminal, docdeck_group: ours };
        // If the command tried to read from the terminal before it was in the foreground, the system has stopped the
        // command. This signal makes the command continue.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::CONT);
        Some(foreground)
    }
}

#[cfg(unix)]
impl Drop for ForegroundTerminal {
    fn drop(&mut self) {
        use nix::sys::signal::{SigSet, SigmaskHow, Signal};
        // A background process that takes the terminal gets SIGTTOU, which would stop docdeck if it weren't blocked.
        let mut blocked = SigSet::empty();
        blocked.add(Signal::SIGTTOU);
        let before = blocked.thread_swap_mask(SigmaskHow::SIG_BLOCK);
        // An error means that the terminal is gone, so docdeck can't use it anyway.
        let _ = rustix::termios::tcsetpgrp(&self.terminal, self.docdeck_group);
        if let Ok(before) = before {
            let _ = before.thread_set_mask();
        }
    }
}

/// On systems without process groups, only the command itself is killed, not its child processes.
#[cfg(not(unix))]
#[derive(Debug)]
struct ProcessGroup;

#[cfg(not(unix))]
impl ProcessGroup {
    fn of(_child: &Child, _terminal: TerminalUse) -> Self {
        Self
    }

    fn mark_ended(&mut self) {}
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    async fn run_sh(script: &str) -> Result<ApiKey, ConfigError> {
        run_key_command(&words(&["sh", "-c", script]), KEY_COMMAND_TIMEOUT, TerminalUse::Foreground, &[]).await
    }

    #[tokio::test]
    async fn the_first_nonblank_line_of_stdout_is_the_api_key() {
        let key = run_sh("echo; echo mint_one; echo other").await.expect("a key");
        assert_eq!(key.expose(), "mint_one");
    }

    #[tokio::test]
    async fn arguments_are_passed_without_a_shell() {
        let key = run_key_command(&words(&["printf", "%s", "$HOME;x"]), KEY_COMMAND_TIMEOUT, TerminalUse::None, &[])
            .await
            .expect("a key");
        assert_eq!(key.expose(), "$HOME;x");
    }

    #[tokio::test]
    async fn the_error_shows_the_cleaned_stderr_but_not_the_stdout_of_a_failing_command() {
        let error = run_sh("echo mint_half; printf 'no \\033[2Jaccess' >&2; exit 3").await.expect_err("it failed");
        let message = error.to_string();
        assert!(message.contains("code 3") && message.contains("no access"), "{message}");
        assert!(!message.contains("mint_half") && !message.contains('\x1b'), "{message}");
    }

    #[tokio::test]
    async fn an_api_key_in_the_stderr_of_a_failing_command_is_removed() {
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
        let hangs = run_key_command(
            &words(&["sh", "-c", "echo locked >&2; sleep 600"]),
            Duration::from_millis(300),
            TerminalUse::None,
            &[],
        )
        .await;
        let message = hangs.expect_err("it hangs").to_string();
        assert!(message.contains("did not finish within 0 s") && message.contains("printed: locked"), "{message}");
    }

    #[tokio::test]
    async fn a_command_that_hangs_is_killed_with_its_child_processes() {
        let folder = tempfile::tempdir().expect("a folder");
        let fifo = folder.path().join("held");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, kind, mode, 0).expect("a fifo");
        // `read` returns when no process has the FIFO open any more, even if killed processes are never reaped.
        let (read_ended, ended) = std::sync::mpsc::channel();
        let fifo_path = fifo.clone();
        std::thread::spawn(move || read_ended.send(std::fs::read(fifo_path)));
        let script = format!("sleep 600 >'{}' & wait", fifo.display());
        let hangs =
            run_key_command(&words(&["sh", "-c", &script]), Duration::from_secs(2), TerminalUse::Foreground, &[]).await;
        assert!(matches!(hangs, Err(ConfigError::KeyCommand { .. })), "{hangs:?}");
        let ended = ended.recv_timeout(Duration::from_secs(20));
        assert!(ended.is_ok(), "a child process is still running");
    }

    #[tokio::test]
    async fn the_error_for_a_missing_program_names_the_program() {
        let error = run_key_command(&words(&["docdeck-no-such-program"]), KEY_COMMAND_TIMEOUT, TerminalUse::None, &[])
            .await
            .expect_err("not there");
        assert!(error.to_string().contains("docdeck-no-such-program"), "{error}");
    }
}
