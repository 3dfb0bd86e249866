//! The start of the dashboard: reads the data of the first frame from the store, draws that frame, and only then reads
//! input.

use super::event_loop::Dashboard;
use crate::model::job::FirstJobs;
use crate::model::layout::Layout;
use crate::store::{OpenStore, StoreCreationHold};
use crate::terminal::tty::terminal_size;
use crate::tui::{AppConfig, Effect};
use std::io;
use std::time::{Duration, Instant};

/// Maximum time for which the first frame waits for its data. A frame without data would be replaced before the user
/// could read it.
const FIRST_FRAME_TIMEOUT: Duration = Duration::from_millis(30);

/// The data of the first frame.
#[derive(Debug, Default)]
pub struct FirstFrameData {
    /// The saved layout; `None` if layouts are not saved.
    pub(super) layout: Option<Layout>,
    /// The first rows of the jobs list; `None` if the dashboard has to read them.
    pub(super) first_jobs: Option<FirstJobs>,
    /// The store is created when this guard is dropped, after the first frame; `None` if the creation is not delayed.
    pub(super) store_creation_hold: Option<StoreCreationHold>,
}

impl FirstFrameData {
    /// Reads the layout, and as many rows of the jobs list as the terminal has.
    ///
    /// # Errors
    /// Fails if the size of the terminal is unknown.
    pub fn read(store: &mut OpenStore, config: &AppConfig) -> io::Result<Self> {
        let layout = read_saved_layout(store, config);
        // After an error, the dashboard reads the rows again, and reports the error.
        let first_jobs = store.first_jobs(&config.scope, terminal_size()?.1.into()).ok();
        Ok(Self { layout, first_jobs, store_creation_hold: None })
    }

    /// Returns the data for a store that is about to be created. `store_creation_hold` delays the creation until after
    /// the first frame, because creating the store at the same time would delay the frame.
    pub fn new(first_jobs: FirstJobs, store_creation_hold: Option<StoreCreationHold>) -> Self {
        Self { layout: None, first_jobs: Some(first_jobs), store_creation_hold }
    }
}

/// Reads the saved layout. Returns the default layout if it can't be read, and `None` if layouts are not saved.
pub fn read_saved_layout(store: &OpenStore, config: &AppConfig) -> Option<Layout> {
    // An error is ignored here, because other reads report it.
    let read = || store.value(&config.layout_store_key()).ok().flatten();
    config.can_save_layout().then(|| read().map(|text| Layout::parse(&text)).unwrap_or_default())
}

impl Dashboard {
    /// Waits briefly for the data of the first frame, draws the frame, and starts to read input. Until then, input
    /// stays in the terminal. `initial_effects` are the effects that [`App::new`](crate::tui::App::new) returned.
    ///
    /// # Errors
    /// Fails if there is no terminal from which to read.
    pub(super) async fn draw_first_frame(&mut self, initial_effects: Vec<Effect>) -> io::Result<()> {
        self.scheduler.request_frame();
        self.effects.check_writable();
        // The setup form has no initial effects, so there is no data to wait for.
        let is_reading = !initial_effects.is_empty();
        initial_effects.into_iter().for_each(|effect| self.effects.run(effect));
        let deadline = (Instant::now() + FIRST_FRAME_TIMEOUT).into();
        while is_reading
            && self.app.is_reading_store()
            && let Ok(msg) = tokio::time::timeout_at(deadline, self.effects.next()).await
        {
            self.handle(msg);
        }
        // If the data is still missing, the frame is drawn without it: reading input and requesting the background
        // colour must wait for the first frame, and should not wait for the store.
        self.draw();
        self.session.begin_reading()?;
        self.request_background();
        Ok(())
    }
}
