//! Draws the first frame and then starts to read input. Only what the first frame shows is awaited.

use super::effect_runner;
use super::event_loop::Dashboard;
use super::preload::{PendingRead, Preload};
use crate::model::row::InitialRows;
use crate::tui::{Effect, Msg};
use std::io;
use std::time::{Duration, Instant};

/// Maximum time for which the first frame waits for the first rows. A frame without rows would be replaced before
/// anybody could read it.
const FIRST_ROWS_TIMEOUT: Duration = Duration::from_millis(30);

impl Dashboard {
    /// Draws the first frame and then starts to read input, which stays in the terminal until then. `initial_effects`
    /// are the first effects of the state machine.
    ///
    /// # Errors
    /// No thread can be started, or there is no terminal from which to read.
    pub(super) async fn draw_first_frame(
        &mut self,
        initial_effects: Vec<Effect>,
        mut preload: Preload,
    ) -> io::Result<()> {
        // Watches for resizes before drawing: after a resize that nobody notices, the frame could stay cut off.
        self.session.watch_resizes()?;
        self.scheduler.request_frame();
        self.effects.check_writable();
        let mut first = None;
        for effect in initial_effects {
            let reads = matches!(effect, Effect::LoadFirstRows(_));
            if let Some(read) = preload.rows.take_if(|_| reads) {
                first = self.await_first_rows(read).await;
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

    /// Waits briefly for the first rows, and returns a message with them. If they take too long, returns `None`, and
    /// the effect that loads the first rows continues the same read.
    async fn await_first_rows(&mut self, mut pending: PendingRead<InitialRows>) -> Option<Msg> {
        let since = Instant::now();
        let read = tokio::time::timeout_at((since + FIRST_ROWS_TIMEOUT).into(), &mut pending).await.ok();
        if read.is_none() {
            self.scheduler.set_reading(true, since);
            self.effects.set_first_rows(pending);
        }
        Some(Msg::FirstRows(read?.map_err(effect_runner::save_failure)))
    }
}
