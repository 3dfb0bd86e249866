//! What the first frame needs of the store: how the dashboard was left, and the first rows. Both are asked for as soon as
//! it is known of which store, so that it is opened and read while all else is made ready.

use super::output;
use crate::app::AppConfig;
use crate::model::layout::Layout;
use crate::model::row::FirstRows;
use crate::store::{Store, StoreError};
use futures_util::FutureExt as _;
use std::io;
use std::pin::Pin;
use std::time::Duration;

/// How long a slow disk may hold the first frame back for the layout.
const PATIENCE: Duration = Duration::from_millis(100);

/// A call of the store that is under way.
pub(super) type PendingRead<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>>;

/// What is being read.
pub struct Preload {
    layout: Option<PendingRead<Option<String>>>,
    /// None for the welcome page.
    pub(super) rows: Option<PendingRead<FirstRows>>,
}

impl std::fmt::Debug for Preload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Begun").field("layout", &self.layout.is_some()).field("rows", &self.rows.is_some()).finish()
    }
}

impl Preload {
    /// Asks the store, which may still be being opened, for as many rows of the list as the terminal has.
    ///
    /// # Errors
    /// The terminal's size can't be had.
    pub fn begin(store: &Store, start: &AppConfig) -> io::Result<Self> {
        let limit: u32 = output::size()?.1.into();
        let layout = layout_read(store, start);
        let rows = start.welcome.is_none().then(|| {
            let (store, scope) = (store.clone(), start.scope.clone());
            begun(async move { store.first_jobs(&scope, limit).await })
        });
        Ok(Self { layout, rows })
    }

    /// As [`layout`], of what is being read.
    pub(super) async fn layout(&mut self) -> Option<Layout> {
        Some(laid(self.layout.take()?).await)
    }
}

/// How the dashboard was left, the usual layout where that can't be read or takes too long; none where nothing is to be
/// remembered.
pub async fn layout(store: &Store, start: &AppConfig) -> Option<Layout> {
    Some(laid(layout_read(store, start)?).await)
}

fn layout_read(store: &Store, start: &AppConfig) -> Option<PendingRead<Option<String>>> {
    start.can_remember().then(|| {
        let (store, key) = (store.clone(), start.layout_key());
        begun(async move { store.recall(&key).await })
    })
}

async fn laid(text: PendingRead<Option<String>>) -> Layout {
    // An unreadable record is said elsewhere.
    let text = tokio::time::timeout(PATIENCE, text).await.ok().and_then(Result::ok).flatten();
    text.map(|text| Layout::parse(&text)).unwrap_or_default()
}

/// Hands a call over at once: by itself it would wait until somebody asks for its answer.
fn begun<T: Send + 'static>(call: impl Future<Output = Result<T, StoreError>> + Send + 'static) -> PendingRead<T> {
    let mut call: PendingRead<T> = Box::pin(call);
    match (&mut call).now_or_never() {
        Some(answer) => Box::pin(std::future::ready(answer)),
        None => call,
    }
}
