//! Copying a text: through the terminal, to whose user it goes also over SSH; and to a program, where one is configured.
//! Over SSH that program is on the other computer, so it gets only what the terminal doesn't take.

use super::clipboard::{copy_sequence, hand_to};
use super::event_loop::Dashboard;
use super::multiplexer::Multiplexer;
use crate::app::Msg;
use crate::model::failure::{Failure, FailureKind};
use crate::model::text::CleanText;

impl Dashboard {
    /// Copies; none where a program answers later.
    pub(super) fn copy(&mut self, what: CleanText, text: String) -> Option<Msg> {
        let by_terminal = self.copy_through_terminal(&text);
        let is_second = by_terminal.is_ok() && self.environment.ssh;
        if self.clipboard.is_empty() || is_second {
            return Some(Msg::ActionFinished { what, result: by_terminal });
        }
        let words = self.clipboard.clone();
        self.effects.spawn(async move { Msg::ActionFinished { what, result: hand_to(&words, text).await } });
        None
    }

    /// Copies by OSC 52, between two frames.
    pub(super) fn copy_through_terminal(&mut self, text: &str) -> Result<(), Failure> {
        let local = |sentence: &str| Failure::new(FailureKind::Local, sentence);
        if !self.session.is_modern() {
            return Err(local(
                "This terminal takes no copies. clipboard under [ui] in config.toml names a program that does.",
            ));
        }
        let sequence = copy_sequence(text).map_err(|error| local(&error.to_string()))?;
        let sequence = Multiplexer::of(&self.environment).copying(&sequence);
        self.session.screen.send(&sequence).map_err(|_| local("The terminal took nothing; nothing was copied."))
    }
}
