//! What the record answers by itself: no key is read, and nothing is asked.

use super::{Options, all, write_page};
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::cli::session::StoreSession;
use crate::engine::KeptViews;
use crate::model::views::ViewsQuery;

/// Writes what is asked for, where it is kept and fresh; false where it has to be asked for.
pub(super) async fn answer(record: &StoreSession, options: &Options, out: &mut Out) -> Result<bool, CliError> {
    let kept = KeptViews::of(&record.store, &record.scope).await?;
    let days = options.days.range(kept.service_now().date_naive())?;
    if options.all {
        let Some(report) = kept.fresh_report(days.range).await? else { return Ok(false) };
        days.say_cut(out);
        all::write_whole(&report, 0, options, out)?;
        return Ok(true);
    }
    let query = ViewsQuery { range: days.range, limit: options.limit, page: options.page };
    let Some(page) = kept.fresh_answer(query).await? else { return Ok(false) };
    days.say_cut(out);
    write_page(query, &page, options, out)?;
    let when = out.when_in_words(page.as_of, chrono::Utc::now());
    out.note(&format!("docdeck: Asked for {when}; --fresh asks again."));
    Ok(true)
}
