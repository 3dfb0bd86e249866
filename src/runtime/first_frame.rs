//! The first frame, and what is begun right after it. Nothing that is not on it is waited for.

use super::event_loop::Dashboard;
use super::hands;
use super::remembered::Begun;
use crate::app::{Effect, Msg};
use std::io;
use std::time::Instant;

impl Dashboard {
    /// Draws the first frame, and only then begins to read what is typed: it waits in the terminal until then. `begin` is what
    /// the state machine begins with.
    ///
    /// # Errors
    /// No thread can be had, or there is no terminal to read.
    pub(super) async fn first_frame(&mut self, begin: Vec<Effect>, begun: Begun) -> io::Result<()> {
        self.gate.want();
        self.effects.try_writing();
        self.begin(begin, begun).await;
        self.draw_when_due();
        self.stage.begin_reading()?;
        // A change of the size is told of only from here on.
        self.notice_size();
        Ok(())
    }

    /// Carries out what the state machine begins with. The first rows are waited for a moment: that makes one frame of two, and
    /// one with a loading line that nobody could have read.
    async fn begin(&mut self, begin: Vec<Effect>, mut begun: Begun) {
        let mut first = None;
        for effect in begin {
            if let Effect::LoadFirstRows(_) = effect {
                let since = Instant::now();
                match begun.rows().await {
                    Some(Ok(rows)) => {
                        first = Some(Msg::FirstRows(rows.map_err(hands::failure)));
                        continue;
                    }
                    Some(Err(reading)) => {
                        self.gate.reading(true, since);
                        self.effects.read_first(reading);
                    }
                    None => {}
                }
            }
            self.effects.carry(effect);
        }
        if let Some(msg) = first {
            self.handle(msg);
        }
    }
}
