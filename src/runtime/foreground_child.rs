//! Runs a program in the foreground (the user's editor or a custom command): gives it the terminal, and takes the
//! terminal back when the program exits. In the meantime the dashboard keeps running, without keys and drawing.

use super::event_loop::Dashboard;
use crate::model::endpoint::{API_KEY_VARIABLE, TEAM_URL_VARIABLE};
use crate::model::failure::Failure;
use crate::tui::Msg;
use std::fmt;
use std::future::Future;
use std::io::ErrorKind;
use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::process::{Child, Command};

/// A program, or a task within docdeck, that has the terminal.
pub(super) struct ForegroundChild {
    /// Resolves to the message about the result.
    exit: Pin<Box<dyn Future<Output = Msg> + Send>>,
    /// The process id; `None` if a task within docdeck has the terminal.
    process_id: Option<u32>,
    /// Whether the program has exited. `exit` may still wait for a task that runs after it (see [`Self::and_then`]).
    has_exited: Arc<AtomicBool>,
    /// Called if docdeck ends before the program. Returns a message with the text that the program has saved so far.
    read_saved_text: Option<Box<dyn FnOnce() -> Option<Msg> + Send>>,
}

impl fmt::Debug for ForegroundChild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForegroundChild").field("program", &self.process_id).finish_non_exhaustive()
    }
}

impl ForegroundChild {
    /// Sets the function that is called if docdeck ends before the program. It returns a message with the text that the
    /// program has saved so far.
    pub(super) fn set_saved_text_reader(&mut self, read_saved_text: impl FnOnce() -> Option<Msg> + Send + 'static) {
        self.read_saved_text = Some(Box::new(read_saved_text));
    }

    /// Terminates the program, because docdeck ends and the shell gets the terminal. Returns a message with the text
    /// that the program has saved, if any.
    pub(super) fn terminate(&mut self) -> Option<Msg> {
        let saved = self.read_saved_text.take().and_then(|read_saved_text| read_saved_text());
        if self.has_exited.load(Ordering::SeqCst) {
            return saved;
        }
        #[cfg(unix)]
        if let Some(pid) =
            self.process_id.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw)
        {
            // The error is ignored: the program may already have exited.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        saved
    }
}

impl ForegroundChild {
    /// Creates a `ForegroundChild` for a task of docdeck. The task uses the terminal, itself or through programs that
    /// it starts, until it returns a message.
    pub(super) fn from_task(ended: impl Future<Output = Msg> + Send + 'static) -> Self {
        Self { exit: Box::pin(ended), process_id: None, has_exited: Arc::default(), read_saved_text: None }
    }

    /// Passes the program's message to the task `next`, which runs after the program and ends before the terminal is
    /// taken back.
    pub(super) fn and_then<F>(self, next: impl FnOnce(Msg) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Msg> + Send + 'static,
    {
        let Self { exit: ended, process_id: program, has_exited, read_saved_text } = self;
        Self {
            exit: Box::pin(async move { next(ended.await).await }),
            process_id: program,
            has_exited,
            read_saved_text,
        }
    }
}

/// Waits until the foreground program has exited, or forever if there is none.
pub(super) async fn wait_for_exit(foreground: Option<&mut ForegroundChild>) -> Msg {
    match foreground {
        Some(foreground) => foreground.exit.as_mut().await,
        None => std::future::pending().await,
    }
}

impl Dashboard {
    /// Runs one of `programs` in the foreground: the first one that is installed. Each consists of a program and its
    /// arguments; no shell is used. `then` creates the message about the result, which is handled after docdeck has
    /// taken the terminal back. Returns a message only if no program was started.
    pub(super) fn run_in_foreground(
        &mut self,
        programs: &[Vec<String>],
        then: impl FnOnce(Result<ExitStatus, Failure>) -> Msg + Send + 'static,
    ) -> Option<Msg> {
        if self.session.is_released() {
            return Some(then(Err(Failure::local("Another program is using the terminal; nothing was run."))));
        }
        self.session.release();
        match spawn_first_installed(programs) {
            Ok(mut child) => {
                let program = child.id();
                let has_exited = Arc::new(AtomicBool::new(false));
                let exited = Arc::clone(&has_exited);
                let ended = async move {
                    let result = child.wait().await;
                    exited.store(true, Ordering::SeqCst);
                    then(result.map_err(|error| Failure::local(&format!("{error}."))))
                };
                self.foreground = Some(ForegroundChild {
                    exit: Box::pin(ended),
                    process_id: program,
                    has_exited,
                    read_saved_text: None,
                });
                None
            }
            Err(failure) => {
                self.regain_terminal();
                Some(then(Err(failure)))
            }
        }
    }
}

/// Starts the first of these programs that is installed.
fn spawn_first_installed(programs: &[Vec<String>]) -> Result<Child, Failure> {
    let mut names = Vec::new();
    for words in programs {
        let Some((program, arguments)) = words.split_first() else { continue };
        match Command::new(program).args(arguments).env_remove(API_KEY_VARIABLE).env_remove(TEAM_URL_VARIABLE).spawn() {
            Ok(child) => return Ok(child),
            Err(error) if error.kind() == ErrorKind::NotFound => names.push(program.as_str()),
            Err(error) => return Err(Failure::local(&format!("{program} could not be started: {error}."))),
        }
    }
    let names = if names.is_empty() { "No program given".to_owned() } else { names.join(" and ") };
    Err(Failure::local(&format!("{names}: not installed. Nothing was run.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_installed_program_is_started() {
        let missing = vec!["docdeck-no-such-program".to_owned()];
        let mut child = spawn_first_installed(&[missing.clone(), vec!["true".to_owned()]]).expect("the second one");
        assert!(child.wait().await.expect("ended").success());
        let failure = spawn_first_installed(&[missing]).expect_err("not there");
        assert!(failure.message.as_str().contains("docdeck-no-such-program"), "{failure:?}");
    }
}
