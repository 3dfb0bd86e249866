//! Lending the terminal to a program in the foreground (the user's editor, a command of the user's own) and taking it
//! back when the program has ended. The dashboard goes on meanwhile, without keys and without drawing.

use super::event_loop::Dashboard;
use crate::app::Msg;
use crate::model::endpoint::KEY_VARIABLE;
use crate::model::failure::{Failure, FailureKind};
use std::fmt;
use std::future::Future;
use std::io::ErrorKind;
use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::process::{Child, Command};

/// A program that has the terminal.
pub(super) struct ForegroundChild {
    ended: Pin<Box<dyn Future<Output = Msg> + Send>>,
    program: Option<u32>,
    /// The program has ended; only what comes after it is waited for.
    over: Arc<AtomicBool>,
    /// What there is to save when docdeck has to end before the program has.
    rescue: Option<Box<dyn FnOnce() -> Option<Msg> + Send>>,
}

impl fmt::Debug for ForegroundChild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("program", &self.program).finish_non_exhaustive()
    }
}

impl ForegroundChild {
    /// Says what to save when docdeck has to end first.
    pub(super) fn rescue_by(&mut self, rescue: impl FnOnce() -> Option<Msg> + Send + 'static) {
        self.rescue = Some(Box::new(rescue));
    }

    /// Asks the program to end: docdeck ends, and the shell gets the terminal. Gives what is saved.
    pub(super) fn call_back(&mut self) -> Option<Msg> {
        let saved = self.rescue.take().and_then(|rescue| rescue());
        if self.over.load(Ordering::SeqCst) {
            return saved;
        }
        #[cfg(unix)]
        if let Some(pid) = self.program.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw) {
            // It may have ended by itself just now.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        saved
    }
}

impl ForegroundChild {
    /// The terminal is docdeck's to write on, and of programs that it starts, until this has a message.
    pub(super) fn to_ourselves(ended: impl Future<Output = Msg> + Send + 'static) -> Self {
        Self { ended: Box::pin(ended), program: None, over: Arc::default(), rescue: None }
    }

    /// Does this with the program's message before the terminal is taken back.
    pub(super) fn and_then<F>(self, next: impl FnOnce(Msg) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Msg> + Send + 'static,
    {
        let Self { ended, program, over, rescue } = self;
        Self { ended: Box::pin(async move { next(ended.await).await }), program, over, rescue }
    }
}

/// Waits for the program that has the terminal, or for ever when none has it.
pub(super) async fn ended(loan: Option<&mut ForegroundChild>) -> Msg {
    match loan {
        Some(loan) => loan.ended.as_mut().await,
        None => std::future::pending().await,
    }
}

impl Dashboard {
    /// Lends the terminal to the first of these programs (each with its arguments, no shell between) that is there.
    /// `then` makes the message once it has ended, with the terminal taken back already; an answer that is given here
    /// says that nothing was lent.
    pub(super) fn lend(
        &mut self,
        programs: &[Vec<String>],
        then: impl FnOnce(Result<ExitStatus, Failure>) -> Msg + Send + 'static,
    ) -> Option<Msg> {
        if self.session.is_away() {
            return Some(then(Err(local("The terminal is lent already; nothing was run."))));
        }
        self.session.hand_over();
        match start(programs) {
            Ok(mut child) => {
                let program = child.id();
                let over = Arc::new(AtomicBool::new(false));
                let is_over = Arc::clone(&over);
                let ended = async move {
                    let result = child.wait().await;
                    is_over.store(true, Ordering::SeqCst);
                    then(result.map_err(|error| local(&format!("{error}."))))
                };
                self.loan = Some(ForegroundChild { ended: Box::pin(ended), program, over, rescue: None });
                None
            }
            Err(failure) => {
                self.take_back();
                Some(then(Err(failure)))
            }
        }
    }
}

/// Starts the first program that is there.
fn start(programs: &[Vec<String>]) -> Result<Child, Failure> {
    let mut names = Vec::new();
    for words in programs {
        let Some((program, arguments)) = words.split_first() else { continue };
        match Command::new(program).args(arguments).env_remove(KEY_VARIABLE).spawn() {
            Ok(child) => return Ok(child),
            Err(error) if error.kind() == ErrorKind::NotFound => names.push(program.as_str()),
            Err(error) => return Err(local(&format!("{program} could not be started: {error}."))),
        }
    }
    let names = if names.is_empty() { "No program is named".to_owned() } else { names.join(" and ") };
    Err(local(&format!("{names}: not installed here. Nothing was run.")))
}

fn local(sentence: &str) -> Failure {
    Failure::new(FailureKind::Local, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_program_that_is_there_is_started() {
        let missing = vec!["docdeck-no-such-program".to_owned()];
        let mut child = start(&[missing.clone(), vec!["true".to_owned()]]).expect("the second one");
        assert!(child.wait().await.expect("ended").success());
        let failure = start(&[missing]).expect_err("not there");
        assert!(failure.sentence.as_str().contains("docdeck-no-such-program"), "{failure:?}");
    }
}
