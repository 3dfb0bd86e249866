//! Running a command of the user's own: in the foreground, with the terminal lent to it. What it wrote stays to be read
//! until Enter is pressed.

use super::event_loop::Dashboard;
use crate::app::Msg;
use crate::model::failure::{Failure, FailureKind};
use crate::model::text::CleanText;
use std::io::{self, Write};
use std::process::ExitStatus;

impl Dashboard {
    /// Runs it; an answer that is given here says that nothing was run.
    pub(super) fn run_own_command(&mut self, words: Vec<String>) -> Option<Msg> {
        let program = CleanText::line(words.first().map_or("", String::as_str));
        let answer = self.lend(&[words], move |result| said(&program, result));
        if answer.is_none() {
            self.loan = self.loan.take().map(|loan| loan.and_then(after_enter));
        }
        answer
    }
}

/// How it ended, as a message.
fn said(program: &CleanText, result: Result<ExitStatus, Failure>) -> Msg {
    let (what, result) = match result {
        Ok(status) if status.success() => (format!("{program} has ended."), Ok(())),
        Ok(status) => {
            let sentence = format!("{program} ended with {}.", how(status));
            (sentence.clone(), Err(Failure::new(FailureKind::Local, &sentence)))
        }
        Err(failure) => (failure.sentence.to_string(), Err(failure)),
    };
    Msg::ActionFinished { what: CleanText::line(&what), result }
}

fn how(status: ExitStatus) -> String {
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}

/// Says how it ended and waits for Enter, or for the end of input.
async fn after_enter(msg: Msg) -> Msg {
    if let Msg::ActionFinished { what, .. } = &msg {
        let mut out = io::stdout().lock();
        // The terminal may be gone, which the event loop finds out by itself.
        let _ = write!(out, "\n{what} Press Enter to return to docdeck. ").and_then(|()| out.flush());
    }
    let _ = tokio::task::spawn_blocking(|| io::stdin().read_line(&mut String::new())).await;
    msg
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn sentence(raw: i32) -> (String, bool) {
        match said(&CleanText::line("gh"), Ok(ExitStatus::from_raw(raw))) {
            Msg::ActionFinished { what, result } => (what.to_string(), result.is_ok()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn how_it_ended_is_said() {
        assert_eq!(sentence(0), ("gh has ended.".to_owned(), true));
        assert_eq!(sentence(3 << 8), ("gh ended with exit code 3.".to_owned(), false));
        let (killed, ok) = sentence(9);
        assert!(killed.starts_with("gh ended with signal: 9") && !ok, "{killed}");
    }
}
