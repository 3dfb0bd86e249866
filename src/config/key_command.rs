//! Running `api_key_command`: without a shell, in a process group of its own that has the terminal meanwhile (a password
//! manager may ask for a password there), ended as a whole when it takes too long.

use super::ConfigError;
use super::file::plain;
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

/// How long a key command may take.
pub(super) const LIMIT: Duration = Duration::from_secs(10);
/// What is shown of a failing command's words, in characters.
const SHOWN: usize = 300;
/// Shortest line of output that is struck out of what is shown: shorter ones are no keys, but words.
const SHORTEST_KEY: usize = 8;

/// The key that the program prints: the first line of its output that is not blank.
///
/// # Errors
/// It can't be started, fails (with what it said on its stderr), takes longer than `limit`, or prints no key.
pub(super) async fn run(words: &[String], limit: Duration) -> Result<ApiKey, ConfigError> {
    let (program, arguments) = words.split_first().map_or(("", [].as_slice()), |(first, rest)| (first.as_str(), rest));
    let failed = |why: &str| ConfigError::KeyCommand { program: shown_program(program), why: CleanText::line(why) };
    let mut command = Command::new(program);
    command.args(arguments).env_remove(KEY_VARIABLE).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    if can_stand_alone() {
        command.process_group(0);
    }
    let mut child = command.spawn().map_err(|error| failed(&format!("could not be started: {}", plain(&error))))?;
    let mut group = ProcessGroup::of(&child);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (mut output, mut complaint) = (buffer(), buffer());
    let all = async { tokio::join!(child.wait(), head(stdout, &mut output), head(stderr, &mut complaint)).0 };
    let ended = tokio::time::timeout(limit, all).await;
    let said = said(&complaint, &output);
    let Ok(status) = ended else {
        return Err(failed(&format!("gave no answer within {} s and was ended; it {said}", limit.as_secs())));
    };
    group.has_ended();
    let status = status.map_err(|error| failed(plain(&error).as_str()))?;
    if !status.success() {
        return Err(failed(&format!("ended with {} and {said}", ending(status))));
    }
    let text = Zeroizing::new(String::from_utf8_lossy(&output).into_owned());
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    ApiKey::new(line)
        .ok_or_else(|| ConfigError::NoKey { source_name: format!("the output of {}", shown_program(program)) })
}

/// The program as it may be shown: it may be the key itself, in the wrong field.
fn shown_program(program: &str) -> CleanText {
    CleanText::line(&redacted_path(Path::new(program)).display().to_string())
}

fn ending(status: ExitStatus) -> String {
    status.code().map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"))
}

/// What the program said on its stderr, without what may be the key.
fn said(complaint: &[u8], output: &[u8]) -> String {
    let mut text = Zeroizing::new(String::from_utf8_lossy(complaint).into_owned());
    let output = Zeroizing::new(String::from_utf8_lossy(output).into_owned());
    for line in output.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_KEY) {
        text = Zeroizing::new(text.replace(line, "***"));
    }
    let said = CleanText::title(&redacted_setting(&text), SHOWN);
    if said.is_empty() { "said nothing".to_owned() } else { format!("said: {said}") }
}

/// Large enough for all that is kept: a buffer that grows leaves copies behind that nobody wipes.
fn buffer() -> Zeroizing<Vec<u8>> {
    Zeroizing::new(Vec::with_capacity(MAX_BYTES))
}

/// Reads to the end and keeps the head: a program that prints without end is not to fill the memory.
async fn head(stream: Option<impl AsyncRead + Unpin>, kept: &mut Zeroizing<Vec<u8>>) {
    let Some(mut stream) = stream else { return };
    let mut part = Zeroizing::new(vec![0; 4096]);
    while let Ok(n @ 1..) = stream.read(&mut part).await {
        let room = MAX_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(part.get(..n.min(room)).unwrap_or_default());
    }
}

/// Whether the command can have a process group of its own: where there is no terminal, or one that could be taken back. In
/// a container ours may have no number (it is led from outside): then the command stays among us and is ended alone.
#[cfg(unix)]
fn can_stand_alone() -> bool {
    nix::unistd::getpgrp().as_raw() > 0 || std::fs::File::open("/dev/tty").is_err()
}

/// The command's process group: it has the terminal while it lives, and is ended with this value.
#[cfg(unix)]
#[derive(Debug)]
struct ProcessGroup {
    id: Option<rustix::process::Pid>,
    /// Gives the terminal back when dropped; after the group was ended.
    _terminal: Option<LentTerminal>,
}

#[cfg(unix)]
impl ProcessGroup {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        let id = id.filter(|_| can_stand_alone());
        Self { id, _terminal: id.and_then(LentTerminal::to) }
    }

    /// Nothing is left to be ended.
    fn has_ended(&mut self) {
        self.id = None;
    }
}

#[cfg(unix)]
impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            // All of it may have ended by itself just now.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

/// The terminal in the hands of another process group. In the background it could not ask for a password.
#[cfg(unix)]
#[derive(Debug)]
struct LentTerminal {
    terminal: std::fs::File,
    ours: rustix::process::Pid,
}

#[cfg(unix)]
impl LentTerminal {
    /// None where there is no terminal, or it is not ours to lend.
    fn to(group: rustix::process::Pid) -> Option<Self> {
        use rustix::termios::{tcgetpgrp, tcsetpgrp};
        let terminal = std::fs::File::open("/dev/tty").ok()?;
        let ours = rustix::process::Pid::from_raw(nix::unistd::getpgrp().as_raw())?;
        if tcgetpgrp(&terminal).ok()? != ours {
            return None;
        }
        tcsetpgrp(&terminal, group).ok()?;
        let lent = Self { terminal, ours };
        // It may have asked before the terminal was its own, and been stopped for it.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::CONT);
        Some(lent)
    }
}

#[cfg(unix)]
impl Drop for LentTerminal {
    fn drop(&mut self) {
        use nix::sys::signal::{SigSet, SigmaskHow, Signal};
        // Who is in the background is stopped for taking the terminal, unless it has closed its ears to that.
        let mut deaf = SigSet::empty();
        deaf.add(Signal::SIGTTOU);
        let before = deaf.thread_swap_mask(SigmaskHow::SIG_BLOCK);
        // A terminal that is gone needs no owner.
        let _ = rustix::termios::tcsetpgrp(&self.terminal, self.ours);
        if let Ok(before) = before {
            let _ = before.thread_set_mask();
        }
    }
}

/// Elsewhere the program alone is ended, by its handle.
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
        run(&words(&["sh", "-c", script]), LIMIT).await
    }

    #[tokio::test]
    async fn the_first_line_of_a_commands_output_is_the_key() {
        let key = run_sh("echo; echo mint_one; echo other").await.expect("a key");
        assert_eq!(key.expose(), "mint_one");
    }

    #[tokio::test]
    async fn arguments_are_not_read_by_a_shell() {
        let key = run(&words(&["printf", "%s", "$HOME;x"]), LIMIT).await.expect("a key");
        assert_eq!(key.expose(), "$HOME;x");
    }

    #[tokio::test]
    async fn what_a_failing_command_says_is_shown_clean_and_its_output_is_not() {
        let error = run_sh("echo mint_half; printf 'no \\033[2Jaccess' >&2; exit 3").await.expect_err("it failed");
        let said = error.to_string();
        assert!(said.contains("code 3") && said.contains("no access"), "{said}");
        assert!(!said.contains("mint_half") && !said.contains('\x1b'), "{said}");
    }

    #[tokio::test]
    async fn a_key_that_a_failing_command_repeats_is_struck_out() {
        for key in ["mint_5ecret", "another-5ecret"] {
            let error = run_sh(&format!("echo {key}; echo \"can't store {key}: denied\" >&2; exit 1")).await;
            let said = error.expect_err("it failed").to_string();
            assert!(said.contains("can't store ***") && said.contains("denied") && !said.contains("5ecret"), "{said}");
        }
    }

    #[tokio::test]
    async fn a_command_that_hangs_is_given_up_with_what_it_said() {
        let hangs = run(&words(&["sh", "-c", "echo locked >&2; sleep 600"]), Duration::from_millis(300)).await;
        let said = hangs.expect_err("it hangs").to_string();
        assert!(said.contains("gave no answer within 0 s") && said.contains("said: locked"), "{said}");
    }

    #[tokio::test]
    async fn a_command_that_hangs_is_ended_with_all_that_it_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let fifo = folder.path().join("held");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, kind, mode, 0).expect("a fifo");
        // Its reader comes to the end once nobody holds it open any more: also where the ended are never buried.
        let (let_go, ended) = std::sync::mpsc::channel();
        let held = fifo.clone();
        std::thread::spawn(move || let_go.send(std::fs::read(held)));
        let script = format!("sleep 600 >'{}' & wait", fifo.display());
        let hangs = run(&words(&["sh", "-c", &script]), Duration::from_secs(2)).await;
        assert!(matches!(hangs, Err(ConfigError::KeyCommand { .. })), "{hangs:?}");
        let ended = ended.recv_timeout(Duration::from_secs(20));
        assert!(ended.is_ok(), "what the command started goes on");
    }

    #[tokio::test]
    async fn a_command_that_does_not_exist_is_said_by_name() {
        let error = run(&words(&["docdeck-no-such-program"]), LIMIT).await.expect_err("not there");
        assert!(error.to_string().contains("docdeck-no-such-program"), "{error}");
    }
}
