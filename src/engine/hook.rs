//! The user's own program for changes (`on_change`): run once for each change that a look at a job or the answer to a
//! prompt brought into the record, with the job as JSON on its stdin. The merge shows a change to one instance only, so it runs once on a computer.

use super::state::EngineState;
use crate::model::endpoint::KEY_VARIABLE;
use crate::model::json;
use crate::model::log::LogKind;
use crate::model::prompt::PromptKind;
use crate::model::row::Job;
use crate::model::text::CleanText;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Programs at the same time.
const AT_ONCE: usize = 4;
/// Changes that wait for their run; more than that are dropped, and the log says so.
const WAITING: usize = 256;
/// How long one run may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A change to run the program for.
#[derive(Debug)]
pub(super) struct Changed {
    /// Which job, as the log says it.
    subject: CleanText,
    /// What the program reads.
    job: String,
}

/// The program, and the changes that wait for it.
#[derive(Debug)]
pub(super) struct Hook {
    words: Arc<[String]>,
    changes: mpsc::Receiver<Changed>,
}

impl Hook {
    /// None for a program without a name.
    pub(super) fn new(words: Vec<String>) -> Option<(Self, mpsc::Sender<Changed>)> {
        let named = words.first().is_some_and(|program| !program.is_empty());
        let (sender, changes) = mpsc::channel(WAITING);
        named.then(|| (Self { words: words.into(), changes }, sender))
    }

    /// Runs the program until it is aborted; programs that still run are killed then.
    pub(super) async fn run(mut self, inner: Arc<EngineState>) {
        let mut runs: JoinSet<()> = JoinSet::new();
        loop {
            tokio::select! {
                change = self.changes.recv(), if runs.len() < AT_ONCE => {
                    let Some(change) = change else { return };
                    let (inner, words) = (Arc::clone(&inner), Arc::clone(&self.words));
                    runs.spawn(async move {
                        if let Err(why) = run_one(&words, &change.job, PATIENCE).await {
                            inner.log(change.subject, LogKind::Note(CleanText::line(&why))).await;
                        }
                        inner.telling.fetch_sub(1, Ordering::Relaxed);
                    });
                }
                Some(_) = runs.join_next() => {}
            }
        }
    }
}

impl EngineState {
    /// Hands a change over to the user's program, if there is one.
    pub(super) async fn run_hook(&self, row: &Job) {
        let Some(changes) = &self.changes else { return };
        let thread = self.store.thread(row.key).await.unwrap_or_default();
        let first = thread.prompts.iter().find(|prompt| prompt.kind == PromptKind::Create);
        let mut job = json::job(row, first.map(|prompt| prompt.text.as_str())).to_string();
        job.push('\n');
        let subject = row.id.as_ref().map(|id| id.clean()).unwrap_or_default();
        self.telling.fetch_add(1, Ordering::Relaxed);
        if changes.try_send(Changed { subject: subject.clone(), job }).is_err() {
            self.telling.fetch_sub(1, Ordering::Relaxed);
            let note = "on_change was not run: too many changes wait for it";
            self.log(subject, LogKind::Note(CleanText::line(note))).await;
        }
    }
}

/// One run, to its end.
///
/// # Errors
/// What the log says: it can't be started, fails, or takes too long and was ended.
async fn run_one(words: &[String], job: &str, patience: Duration) -> Result<(), String> {
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let mut child = Command::new(program)
        .args(arguments)
        .env_remove(KEY_VARIABLE)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("on_change: {program} can't be started: {error}"))?;
    let stdin = child.stdin.take();
    let feed = async {
        if let Some(mut stdin) = stdin {
            // A program that does not read to the end does not want to know.
            let _ = stdin.write_all(job.as_bytes()).await;
        }
    };
    let whole = async { tokio::join!(feed, child.wait()).1 };
    match tokio::time::timeout(patience, whole).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("on_change: {program} failed: {status}")),
        Ok(Err(error)) => Err(format!("on_change: {program} can't be waited for: {error}")),
        Err(_) => Err(format!("on_change: {program} took longer than {} s and was ended", patience.as_secs())),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[tokio::test]
    async fn the_program_reads_the_job_from_its_stdin_and_gets_its_arguments_as_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a b");
        let words = words(&["tee", file.to_str().expect("a path")]);
        assert_eq!(run_one(&words, "{\"id\":\"j\"}\n", PATIENCE).await, Ok(()));
        assert_eq!(std::fs::read_to_string(file).expect("written"), "{\"id\":\"j\"}\n");
    }

    #[tokio::test]
    async fn a_program_that_is_missing_fails_or_hangs_is_told_and_ended() {
        let missing = run_one(&words(&["docdeck-no-such-program"]), "x", PATIENCE).await.expect_err("missing");
        assert!(missing.contains("can't be started"), "{missing}");
        let fails = run_one(&words(&["false"]), "x", PATIENCE).await.expect_err("fails");
        assert!(fails.contains("false failed"), "{fails}");
        let hangs = run_one(&words(&["sleep", "600"]), "x", Duration::from_millis(50)).await.expect_err("hangs");
        assert!(hangs.contains("took longer"), "{hangs}");
    }

    #[tokio::test]
    async fn a_program_that_does_not_read_a_long_job_is_fine() {
        assert_eq!(run_one(&words(&["true"]), &"x".repeat(1 << 20), PATIENCE).await, Ok(()));
    }

    #[test]
    fn a_program_without_a_name_is_none() {
        assert!(Hook::new(Vec::new()).is_none());
        assert!(Hook::new(words(&[""])).is_none());
    }
}
