//! Runs the user's `on_change` program once for each change of a job, with the job as JSON on its
//! stdin. Only the instance that merges the change into the store runs the program, so it does not run twice
//! if several instances are open.

use super::state::{CountedGuard, EngineState};
use crate::model::endpoint::{API_KEY_VARIABLE, TEAM_URL_VARIABLE};
use crate::model::job::Job;
use crate::model::json;
use crate::model::log::LogKind;
use crate::model::text::CleanText;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The maximum number of `on_change` programs that run at the same time.
const MAX_RUNNING_PROGRAMS: usize = 4;
/// How many changes may wait for their program to run. A change beyond that is dropped with a log entry.
const MAX_WAITING_CHANGES: usize = 256;
/// How long one program may run before it is killed.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(30);

/// A change for which the program runs.
#[derive(Debug)]
pub(super) struct HookChange {
    /// The job's id, for the log.
    subject: CleanText,
    /// The changed job as JSON: the program's input.
    job_json: String,
    /// Counts this change in `EngineState::running_hooks` until the program has ended.
    running_guard: CountedGuard,
}

/// The `on_change` program, and the queue of changes for which it runs.
#[derive(Debug)]
pub(super) struct Hook {
    command: Arc<[String]>,
    changes: mpsc::Receiver<HookChange>,
}

impl Hook {
    /// Returns the hook and the sender of its queue; `None` if `command` names no program.
    pub(super) fn new(command: Vec<String>) -> Option<(Self, mpsc::Sender<HookChange>)> {
        let has_name = command.first().is_some_and(|program| !program.is_empty());
        let (sender, changes) = mpsc::channel(MAX_WAITING_CHANGES);
        has_name.then(|| (Self { command: command.into(), changes }, sender))
    }

    /// Runs the program for each change until this task is aborted. Programs that still run are then killed.
    pub(super) async fn run(mut self, inner: Arc<EngineState>) {
        let mut runs: JoinSet<()> = JoinSet::new();
        loop {
            tokio::select! {
                change = self.changes.recv(), if runs.len() < MAX_RUNNING_PROGRAMS => {
                    let Some(change) = change else { return };
                    let (inner, command) = (Arc::clone(&inner), Arc::clone(&self.command));
                    runs.spawn(async move {
                        if let Err(why) = run_program(&command, &change.job_json, PROGRAM_TIMEOUT).await {
                            inner.log(change.subject, LogKind::Note(CleanText::line(&why))).await;
                        }
                        drop(change.running_guard);
                    });
                }
                Some(_) = runs.join_next() => {}
            }
        }
    }
}

impl EngineState {
    /// Queues a change of the job `row` for the `on_change` program, if the user has configured one.
    pub(super) async fn queue_hook(&self, row: &Job) {
        let Some(changes) = &self.hook_queue else { return };
        let thread = self.store.thread(row.key).await.unwrap_or_default();
        let mut job = json::job_object(row, thread.creation_prompt()).to_string();
        job.push('\n');
        let subject = row.id.as_ref().map(|id| id.to_clean_text()).unwrap_or_default();
        let change = HookChange { subject: subject.clone(), job_json: job, running_guard: self.running_hooks.guard() };
        if changes.try_send(change).is_err() {
            let note = "on_change was not run: too many changes are waiting";
            self.log(subject, LogKind::Note(CleanText::line(note))).await;
        }
    }
}

/// Runs the program once.
///
/// # Errors
/// The program can't be started, fails, or was killed because it took too long. The error is the log text.
async fn run_program(command: &[String], job: &str, timeout: Duration) -> Result<(), String> {
    let Some((program, arguments)) = command.split_first() else { return Ok(()) };
    let mut child = Command::new(program)
        .args(arguments)
        .env_remove(API_KEY_VARIABLE)
        .env_remove(TEAM_URL_VARIABLE)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("on_change: {program} can't be started: {error}"))?;
    let stdin = child.stdin.take();
    let feed = async {
        if let Some(mut stdin) = stdin {
            // A write error is ignored, because the program doesn't have to read all of its input.
            let _ = stdin.write_all(job.as_bytes()).await;
        }
    };
    let run = async { tokio::join!(feed, child.wait()).1 };
    match tokio::time::timeout(timeout, run).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("on_change: {program} failed: {status}")),
        Ok(Err(error)) => Err(format!("on_change: can't wait for {program}: {error}")),
        Err(_) => Err(format!("on_change: {program} took longer than {} s and was killed", timeout.as_secs())),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn command(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[tokio::test]
    async fn the_program_reads_the_job_from_stdin_and_gets_its_arguments_unchanged() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a b");
        let command = command(&["tee", file.to_str().expect("a path")]);
        assert_eq!(run_program(&command, "{\"id\":\"j\"}\n", PROGRAM_TIMEOUT).await, Ok(()));
        assert_eq!(std::fs::read_to_string(file).expect("written"), "{\"id\":\"j\"}\n");
    }

    #[tokio::test]
    async fn a_program_that_is_missing_or_fails_or_hangs_is_an_error() {
        let missing =
            run_program(&command(&["docdeck-no-such-program"]), "x", PROGRAM_TIMEOUT).await.expect_err("missing");
        assert!(missing.contains("can't be started"), "{missing}");
        let fails = run_program(&command(&["false"]), "x", PROGRAM_TIMEOUT).await.expect_err("fails");
        assert!(fails.contains("false failed"), "{fails}");
        let hangs = run_program(&command(&["sleep", "600"]), "x", Duration::from_millis(50)).await.expect_err("hangs");
        assert!(hangs.contains("took longer"), "{hangs}");
    }

    #[tokio::test]
    async fn a_program_need_not_read_its_input() {
        assert_eq!(run_program(&command(&["true"]), &"x".repeat(1 << 20), PROGRAM_TIMEOUT).await, Ok(()));
    }

    #[test]
    fn a_program_without_a_name_is_no_hook() {
        assert!(Hook::new(Vec::new()).is_none());
        assert!(Hook::new(command(&[""])).is_none());
    }
}
