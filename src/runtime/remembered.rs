//! What was remembered of the layout, read from the store before the first frame.

use crate::app::Start;
use crate::model::layout::Layout;
use crate::store::Store;
use std::time::Duration;

/// How long a slow disk may hold the first frame back for it.
const PATIENCE: Duration = Duration::from_millis(100);

/// How the dashboard was left, the usual layout where that can't be read or takes too long; none where nothing is to be
/// remembered.
pub async fn layout(store: &Store, start: &Start) -> Option<Layout> {
    if !start.can_remember() {
        return None;
    }
    let text = tokio::time::timeout(PATIENCE, store.recall(&start.layout_key())).await;
    // An unreadable record is said elsewhere.
    let text = text.ok().and_then(Result::ok).flatten();
    Some(text.map(|text| Layout::parse(&text)).unwrap_or_default())
}
