//! Draws the first frame and starts what follows it. Nothing that isn't on it is awaited.

use super::effect_runner;
use super::event_loop::Dashboard;
use super::preload::{PendingRead, Preload};
use super::reader::Reader;
use crate::app::{Effect, Msg};
use crate::model::row::InitialRows;
use std::io;
use std::time::{Duration, Instant};

/// How long a slow disk may delay the frame for the first rows: a frame without them would be replaced before anybody
/// could read it.
const PATIENCE: Duration = Duration::from_millis(30);

impl Dashboard {
    /// Draws the first frame and then starts reading input, which waits in the terminal until then. `initial_effects`
    /// are the first effects of the state machine.
    ///
    /// # Errors
    /// No thread can be started, or there is no terminal to read.
    pub(super) async fn first_frame(&mut self, initial_effects: Vec<Effect>, mut preload: Preload) -> io::Result<()> {
        // A frame that is drawn before resizes are watched may be cut by the terminal and stay so.
        Reader::listen()?;
        self.scheduler.request_frame();
        self.effects.check_writable();
        let mut first = None;
        for effect in initial_effects {
            let reads = matches!(effect, Effect::LoadFirstRows(_));
            if let Some(read) = preload.rows.take_if(|_| reads) {
                first = self.first_rows(read).await;
                if first.is_some() {
                    continue;
                }
            }
            self.effects.run(effect);
        }
        if let Some(msg) = first {
            self.handle(msg);
        }
        self.draw_when_due();
        self.session.begin_reading()?;
        self.session.wait_for_typed_input().await;
        self.ask_background();
        Ok(())
    }

    /// The first rows. Returns `None` if they take too long; then the effect that loads them gets them.
    async fn first_rows(&mut self, mut pending: PendingRead<InitialRows>) -> Option<Msg> {
        let since = Instant::now();
        let read = tokio::time::timeout_at((since + PATIENCE).into(), &mut pending).await.ok();
        if read.is_none() {
            self.scheduler.set_reading(true, since);
            self.effects.set_first_rows(pending);
        }
        Some(Msg::FirstRows(read?.map_err(effect_runner::save_failure)))
    }
}
