//! Reads what the first frame needs from the store: the layout and the first rows. Both reads start as soon as the
//! store is known, so that the store is opened and read while everything else is prepared.

use crate::model::layout::Layout;
use crate::model::row::InitialRows;
use crate::store::{Store, StoreError};
use crate::terminal::tty::terminal_size;
use crate::tui::AppConfig;
use futures_util::FutureExt as _;
use std::io;
use std::pin::Pin;
use std::time::Duration;

/// Maximum time for which the first frame waits for the layout.
const LAYOUT_TIMEOUT: Duration = Duration::from_millis(100);

/// A read from the store that has already started.
pub(super) type PendingRead<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>>;

/// The reads from the store that run while everything else is prepared.
pub struct Preload {
    layout: Option<PendingRead<Option<String>>>,
    /// The read of the first rows of the jobs list; `None` for the setup form.
    pub(super) rows: Option<PendingRead<InitialRows>>,
}

impl std::fmt::Debug for Preload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Preload").field("layout", &self.layout.is_some()).field("rows", &self.rows.is_some()).finish()
    }
}

impl Preload {
    /// Starts to read the layout, and as many rows of the jobs list as the terminal has. The store may still be
    /// opening.
    ///
    /// # Errors
    /// The size of the terminal is unknown.
    pub fn start(store: &Store, config: &AppConfig) -> io::Result<Self> {
        let limit: u32 = terminal_size()?.1.into();
        let layout = start_layout_read(store, config);
        let rows = config.welcome.is_none().then(|| {
            let (store, scope) = (store.clone(), config.scope.clone());
            start_read(async move { store.first_jobs(&scope, limit).await })
        });
        Ok(Self { layout, rows })
    }

    /// Waits for the layout, whose read has already started. Returns the same as [`read_saved_layout`].
    pub(super) async fn layout(&mut self) -> Option<Layout> {
        Some(read_layout(self.layout.take()?).await)
    }
}

/// Reads the saved layout. Returns the default layout if it can't be read or takes too long, and `None` if layouts are
/// not saved.
pub async fn read_saved_layout(store: &Store, config: &AppConfig) -> Option<Layout> {
    Some(read_layout(start_layout_read(store, config)?).await)
}

fn start_layout_read(store: &Store, config: &AppConfig) -> Option<PendingRead<Option<String>>> {
    config.can_save_layout().then(|| {
        let (store, key) = (store.clone(), config.layout_key());
        start_read(async move { store.value(&key).await })
    })
}

async fn read_layout(text: PendingRead<Option<String>>) -> Layout {
    // An error is ignored here, because other reads report it.
    let text = tokio::time::timeout(LAYOUT_TIMEOUT, text).await.ok().and_then(Result::ok).flatten();
    text.map(|text| Layout::parse(&text)).unwrap_or_default()
}

/// Starts a call of the store by polling it once, because a future does nothing until it is polled.
fn start_read<T: Send + 'static>(call: impl Future<Output = Result<T, StoreError>> + Send + 'static) -> PendingRead<T> {
    let mut call: PendingRead<T> = Box::pin(call);
    match (&mut call).now_or_never() {
        Some(answer) => Box::pin(std::future::ready(answer)),
        None => call,
    }
}
