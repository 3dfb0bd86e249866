//! Caches diffs, details and built previews of pull requests, one of each per link. A diff is stored with the head
//! commit to which it belongs.

use super::Store;
use super::columns::UnixMillis;
use super::error::StoreResult;
use super::job_rows::{bump_revision_and_derive_columns, find_job};
use super::pages;
use super::query::Query as _;
use crate::model::Time;
use crate::model::job::JobKey;
use crate::model::load::Timed;
use crate::model::pull_request_details::PullRequestDetails;
use crate::model::text::CleanText;
use rusqlite::Transaction;

/// Maximum total size of cached diffs in bytes. The oldest ones are removed first; the newest one is always kept.
const MAX_TOTAL_BYTES: i64 = 64 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDiff {
    /// The head commit to which the diff belongs.
    pub head: CleanText,
    pub text: String,
    /// Whether files are missing at the end.
    pub is_truncated: bool,
    pub as_of: Time,
}

impl Store {
    /// Returns the cached diff of the pull request with this link.
    pub async fn diff(&self, link: &CleanText) -> StoreResult<Option<StoredDiff>> {
        let link = link.clone();
        self.read(move |db| {
            let sql = "SELECT head, diff, is_cut, as_of FROM pull_request_diff WHERE link = ?1";
            db.query_first(sql, [&link], |row| {
                let UnixMillis(as_of) = row.get(3)?;
                Ok(StoredDiff { head: row.get(0)?, text: row.get(1)?, is_truncated: row.get(2)?, as_of })
            })
        })
        .await
    }

    /// Returns the cached details of the pull request with this link.
    pub async fn pull_request_details(&self, link: &CleanText) -> StoreResult<Option<Timed<PullRequestDetails>>> {
        let link = link.clone();
        self.read(move |db| {
            let sql = "SELECT details, as_of FROM pull_request_details WHERE link = ?1";
            let found = db.query_first(sql, [&link], |row| {
                let UnixMillis(as_of) = row.get(1)?;
                Ok((row.get::<_, String>(0)?, as_of))
            })?;
            // Details that another version wrote may be unreadable. They are requested again.
            Ok(found.and_then(|(json, as_of)| Some(Timed { value: serde_json::from_str(&json).ok()?, as_of })))
        })
        .await
    }

    /// Caches `details` for the pull request whose link is `link`. Details that were cached earlier are replaced. Each
    /// of `jobs` that has no pages yet gets the pages that the pull request changes.
    pub async fn save_pull_request_details(
        &self,
        link: &CleanText,
        jobs: Vec<JobKey>,
        details: Timed<PullRequestDetails>,
    ) -> StoreResult<()> {
        let link = link.clone();
        self.write(move |tx| {
            let json = serde_json::to_string(&details.value).unwrap_or_default();
            tx.change(
                "INSERT INTO pull_request_details (link, details, as_of) VALUES (?1, ?2, ?3)
                 ON CONFLICT (link) DO UPDATE SET details = ?2, as_of = ?3",
                (&link, json, UnixMillis(details.as_of)),
            )?;
            let changed = details.value.pages();
            for job in jobs {
                let has_pages = find_job(tx, job)?.is_none_or(|row| !row.local.pages.is_empty());
                if !has_pages && pages::add_pages(tx, job, &changed)? {
                    bump_revision_and_derive_columns(tx, job)?;
                }
            }
            Ok(())
        })
        .await
    }

    /// Returns the address of a preview for the pull request with this link: the preview that its code host reported,
    /// otherwise the last preview that was built at the user's request.
    pub async fn preview_url(&self, link: &CleanText) -> StoreResult<Option<CleanText>> {
        let reported = self.pull_request_details(link).await?.and_then(|details| details.value.preview);
        let link = link.clone();
        let sql = "SELECT url FROM preview WHERE link = ?1";
        let built = self.read(move |db| db.query_first(sql, [&link], |row| row.get(0))).await?;
        Ok(reported.or(built))
    }

    /// Records the preview that was built for the pull request with this link.
    pub async fn save_built_preview(&self, link: &CleanText, url: &CleanText, now: Time) -> StoreResult<()> {
        let (link, url) = (link.clone(), url.clone());
        self.write(move |tx| {
            tx.change(
                "INSERT INTO preview (link, url, built_at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (link) DO UPDATE SET url = ?2, built_at = ?3",
                (&link, &url, UnixMillis(now)),
            )?;
            Ok(())
        })
        .await
    }

    /// Replaces the cached diff of the pull request with this link.
    pub async fn save_diff(&self, link: &CleanText, diff: StoredDiff) -> StoreResult<()> {
        let link = link.clone();
        self.write(move |tx| {
            tx.change(
                "INSERT INTO pull_request_diff (link, head, diff, is_cut, as_of) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (link) DO UPDATE SET head = ?2, diff = ?3, is_cut = ?4, as_of = ?5",
                (&link, &diff.head, &diff.text, diff.is_truncated, UnixMillis(diff.as_of)),
            )?;
            tx.change(
                "DELETE FROM pull_request_diff WHERE link <> ?1 AND link IN (
                     SELECT link FROM (
                         SELECT link, sum(octet_length(diff)) OVER (ORDER BY as_of DESC, link) AS total
                         FROM pull_request_diff)
                     WHERE total > ?2)",
                (&link, MAX_TOTAL_BYTES),
            )?;
            Ok(())
        })
        .await
    }
}

/// Deletes the cached diffs, details and previews of pull requests to which no job links.
pub(super) fn delete_unlinked_pull_request_data(tx: &Transaction<'_>) -> StoreResult<()> {
    for table in ["pull_request_diff", "pull_request_details", "preview"] {
        let jobs = "SELECT pr_link FROM job WHERE pr_link IS NOT NULL";
        tx.change(&format!("DELETE FROM {table} WHERE link NOT IN ({jobs})"), [])?;
    }
    Ok(())
}
