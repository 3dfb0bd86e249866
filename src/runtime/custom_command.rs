//! Runs a custom command in the foreground, with the terminal. Its output stays readable until the user presses
//! Enter.

use super::event_loop::Dashboard;
use crate::model::failure::Failure;
use crate::model::text::CleanText;
use crate::tui::Msg;
use std::io::{self, Write};
use std::process::ExitStatus;

impl Dashboard {
    /// Runs a command, given as its program and arguments. Returns a message only if nothing was run.
    pub(super) fn run_custom_command(&mut self, words: Vec<String>) -> Option<Msg> {
        let program = CleanText::line(words.first().map_or("", String::as_str));
        let answer = self.run_in_foreground(&[words], move |result| finished_msg(&program, result));
        if answer.is_none() {
            self.foreground = self.foreground.take().map(|foreground| foreground.and_then(wait_for_enter));
        }
        answer
    }
}

/// Returns the message about how the command ended.
fn finished_msg(program: &CleanText, result: Result<ExitStatus, Failure>) -> Msg {
    let (what, result) = match result {
        Ok(status) if status.success() => (format!("{program} finished."), Ok(())),
        Ok(status) => {
            let sentence = format!("{program} failed with {}.", exit_text(status));
            (sentence.clone(), Err(Failure::local(&sentence)))
        }
        Err(failure) => (failure.message.to_string(), Err(failure)),
    };
    Msg::ActionFinished { success_notice: CleanText::line(&what), result }
}

fn exit_text(status: ExitStatus) -> String {
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}

/// Shows how the command ended, waits for Enter or the end of the input, and returns the message unchanged.
async fn wait_for_enter(msg: Msg) -> Msg {
    if let Msg::ActionFinished { success_notice: what, .. } = &msg {
        let mut out = io::stdout().lock();
        // The error is ignored: if the terminal is gone, the event loop notices it.
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
        match finished_msg(&CleanText::line("gh"), Ok(ExitStatus::from_raw(raw))) {
            Msg::ActionFinished { success_notice: what, result } => (what.to_string(), result.is_ok()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_exit_status_is_reported() {
        assert_eq!(sentence(0), ("gh finished.".to_owned(), true));
        assert_eq!(sentence(3 << 8), ("gh failed with exit code 3.".to_owned(), false));
        let (killed, ok) = sentence(9);
        assert!(killed.starts_with("gh failed with signal: 9") && !ok, "{killed}");
    }
}
