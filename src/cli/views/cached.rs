//! Answers `docdeck views` from the cache, without a key and without a request.

use super::{Options, all, write_response};
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::cli::session::StoreSession;
use crate::engine::StoredAnalytics;
use crate::model::views::ViewsQuery;

/// Writes the requested page views if they are cached and fresh. Returns false if they must be loaded.
pub(super) async fn write_if_cached(
    session: &StoreSession,
    options: &Options,
    out: &mut Out,
) -> Result<bool, CliError> {
    let stored = StoredAnalytics::open(&session.store, &session.scope).await?;
    let days = options.days.parse(stored.service_time().date_naive())?;
    if options.all {
        let Some(report) = stored.fresh_report(days.range).await? else { return Ok(false) };
        days.note_future_end(out);
        all::write_report(&report, 0, options, out)?;
        return Ok(true);
    }
    let query = ViewsQuery { range: days.range, limit: options.limit, page: options.page };
    let Some(page) = stored.fresh_cached_response(query).await? else { return Ok(false) };
    days.note_future_end(out);
    write_response(query, &page, options, out)?;
    let when = out.time_in_words(page.as_of, chrono::Utc::now());
    out.note(&format!("docdeck: Loaded {when}; --fresh loads again."));
    Ok(true)
}
