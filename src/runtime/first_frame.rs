//! The first frame, and what is begun right after it. Nothing that is not on it is waited for.

use super::effect_runner;
use super::event_loop::Dashboard;
use super::preload::{PendingRead, Preload};
use super::reader::Reader;
use crate::app::{Effect, Msg};
use crate::model::row::FirstRows;
use std::io;
use std::time::{Duration, Instant};

/// How long a slow disk may hold the frame back for the first rows: what is drawn without them is drawn again at once, and
/// nobody could have read it.
const PATIENCE: Duration = Duration::from_millis(30);

impl Dashboard {
    /// Draws the first frame, and only then begins to read what is typed: it waits in the terminal until then. `begin` is what
    /// the state machine begins with.
    ///
    /// # Errors
    /// No thread can be had, or there is no terminal to read.
    pub(super) async fn first_frame(&mut self, begin: Vec<Effect>, mut begun: Preload) -> io::Result<()> {
        // A frame that is drawn before a change of the size is told of may be cut in the terminal and stay so.
        Reader::listen()?;
        self.gate.want();
        self.effects.try_writing();
        let mut first = None;
        for effect in begin {
            let reads = matches!(effect, Effect::LoadFirstRows(_));
            if let Some(reading) = begun.rows.take_if(|_| reads) {
                first = self.first_rows(reading).await;
                if first.is_some() {
                    continue;
                }
            }
            self.effects.carry(effect);
        }
        if let Some(msg) = first {
            self.handle(msg);
        }
        self.draw_when_due();
        self.session.begin_reading()?;
        self.session.typed_is_read().await;
        self.ask_background();
        Ok(())
    }

    /// The first rows; none where they take longer: then the effect that asks for them gets them.
    async fn first_rows(&mut self, mut reading: PendingRead<FirstRows>) -> Option<Msg> {
        let since = Instant::now();
        let read = tokio::time::timeout_at((since + PATIENCE).into(), &mut reading).await.ok();
        if read.is_none() {
            self.gate.reading(true, since);
            self.effects.read_first(reading);
        }
        Some(Msg::FirstRows(read?.map_err(effect_runner::failure)))
    }
}
