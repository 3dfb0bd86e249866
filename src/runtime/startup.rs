//! The start of the dashboard: reads the data of the first frame from the store, while everything else is prepared.
//! Draws that frame, and only then reads input.

use super::event_loop::Dashboard;
use crate::model::job::FirstJobs;
use crate::model::layout::Layout;
use crate::store::{Store, StoreCreationHold, StoreError};
use crate::terminal::tty::terminal_size;
use crate::tui::{AppConfig, Effect};
use std::io;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// Maximum time for which the dashboard waits for the layout.
const LAYOUT_TIMEOUT: Duration = Duration::from_millis(100);
/// Maximum time for which the first frame waits for its data. A frame without data would be replaced before the user
/// could read it.
const FIRST_FRAME_TIMEOUT: Duration = Duration::from_millis(30);

/// The reads from the store that run while everything else is prepared.
#[derive(Debug)]
pub struct Preload {
    layout: JoinHandle<Option<Layout>>,
    /// The first rows of the jobs list; `None` for the setup form.
    pub(super) first_jobs: Option<JoinHandle<Result<FirstJobs, StoreError>>>,
    /// The store is created when this guard is dropped, after the first frame; `None` if the creation is not delayed.
    pub(super) store_creation_hold: Option<StoreCreationHold>,
}

impl Preload {
    /// Starts to read the layout and, unless the dashboard starts with the setup form, as many rows of the jobs list as
    /// the terminal has. The store may still be opening.
    ///
    /// # Errors
    /// Fails if the size of the terminal is unknown.
    pub fn start(store: &Store, config: &AppConfig) -> io::Result<Self> {
        let limit: u32 = terminal_size()?.1.into();
        let layout = tokio::spawn(read_saved_layout(store, config));
        let first_jobs = (!config.needs_setup).then(|| {
            let (store, scope) = (store.clone(), config.scope.clone());
            tokio::spawn(async move { store.first_jobs(&scope, limit).await })
        });
        Ok(Self { layout, first_jobs, store_creation_hold: None })
    }

    /// Like [`Preload::start`], but for a store that is about to be created: it has no layout, and its first rows are
    /// already known. `store_creation_hold` delays the creation until after the first frame, because creating the store
    /// at the same time would delay the frame.
    pub fn with_first_jobs(first_jobs: FirstJobs, store_creation_hold: Option<StoreCreationHold>) -> Self {
        Self {
            layout: tokio::spawn(async { None }),
            first_jobs: Some(tokio::spawn(async { Ok(first_jobs) })),
            store_creation_hold,
        }
    }

    /// Waits for the layout; see [`read_saved_layout`]. Returns the default layout if that takes too long.
    pub(super) async fn layout(&mut self) -> Option<Layout> {
        let read = tokio::time::timeout(LAYOUT_TIMEOUT, &mut self.layout).await;
        read.ok().and_then(Result::ok).unwrap_or_else(|| Some(Layout::default()))
    }
}

/// Reads the saved layout. Returns the default layout if it can't be read, and `None` if layouts are not saved.
pub fn read_saved_layout(store: &Store, config: &AppConfig) -> impl Future<Output = Option<Layout>> + Send + use<> {
    let (store, key) = (store.clone(), config.can_save_layout().then(|| config.layout_store_key()));
    async move {
        // An error is ignored here, because other reads report it.
        let text = store.value(&key?).await.ok().flatten();
        Some(text.map(|text| Layout::parse(&text)).unwrap_or_default())
    }
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
