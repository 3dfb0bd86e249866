//! Deletes texts that readers wrote and that were loaded too long ago: at the start and regularly while docdeck runs.

use super::state::EngineState;
use std::sync::Arc;
use std::time::Duration;

/// The time between two searches for expired texts. It is much shorter than a day, because the timer stops while the
/// computer sleeps.
const CHECK_INTERVAL: Duration = Duration::from_secs(3600);

/// Deletes expired texts until it is aborted.
pub(super) async fn run_reader_text_cleanup(inner: Arc<EngineState>) {
    loop {
        let now = inner.clock.now();
        // If the store can't be written, which is reported elsewhere, a later check deletes the texts.
        let _ = inner.store.delete_expired_reader_texts(inner.analytics.reader_text_days, now).await;
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
}
