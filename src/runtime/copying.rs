//! Copies text in two ways: through the terminal, and with the configured program. The terminal reaches the user's
//! clipboard even over SSH. The program then runs on the remote computer, so over SSH it is used only if the terminal
//! can't copy the text.

use super::event_loop::Dashboard;
use crate::model::failure::Failure;
use crate::model::text::CleanText;
use crate::terminal::clipboard::{copy_sequence, copy_with_program};
use crate::terminal::multiplexer::Multiplexer;
use crate::tui::Msg;

impl Dashboard {
    /// Copies the text and returns the result. Returns `None` if a program was started; its result follows in a
    /// message.
    pub(super) fn copy(&mut self, what: CleanText, text: String) -> Option<Msg> {
        let by_terminal = self.copy_through_terminal(&text);
        let is_copied = by_terminal.is_ok() && self.environment.is_ssh;
        if self.clipboard.is_empty() || is_copied {
            return Some(Msg::ActionFinished { what, result: by_terminal });
        }
        let words = self.clipboard.clone();
        self.effects.spawn(async move { Msg::ActionFinished { what, result: copy_with_program(&words, text).await } });
        None
    }

    /// Sends the text to the terminal's clipboard (OSC 52), between two frames.
    pub(super) fn copy_through_terminal(&mut self, text: &str) -> Result<(), Failure> {
        let local = |sentence: &str| Failure::local(sentence);
        if !self.session.is_modern() {
            return Err(local("This terminal can't copy. Set a program as clipboard under [ui] in config.toml."));
        }
        let sequence = copy_sequence(text).map_err(|error| local(&error.to_string()))?;
        let sequence = Multiplexer::of(&self.environment).wrap_copy(&sequence);
        self.session.screen.send(&sequence).map_err(|_| local("Could not write to the terminal; nothing was copied."))
    }
}
