//! The texts of reviews and comments that were written, but not sent: one per pull request, under its link. A job has
//! the same link after its row was merged with another one.

use super::Store;
use super::error::StoreResult;
use super::kv;
use super::query::Query as _;
use crate::model::text::CleanText;
use rusqlite::Transaction;
use std::collections::HashMap;

/// The start of the keys, which a link follows.
const KEY_PREFIX: &str = "review:";

impl Store {
    /// Replaces the text for the pull requests with these links; a blank text deletes it.
    pub async fn save_unsent_review(&self, links: &[CleanText], text: &str) -> StoreResult<()> {
        let (links, text) = (links.to_vec(), text.to_owned());
        self.write(move |tx| {
            for link in links {
                let key = format!("{KEY_PREFIX}{link}");
                match text.trim().is_empty() {
                    true => kv::delete(tx, &key)?,
                    false => kv::set(tx, &key, &text)?,
                }
            }
            Ok(())
        })
        .await
    }

    /// Returns all texts by the links of the pull requests.
    pub async fn unsent_reviews(&self) -> StoreResult<HashMap<CleanText, String>> {
        let sql = "SELECT substr(key, length(?1) + 1), value FROM key_value WHERE substr(key, 1, length(?1)) = ?1";
        let rows = self.read(move |db| db.query_all(sql, [KEY_PREFIX], |row| Ok((row.get(0)?, row.get(1)?)))).await?;
        Ok(rows.into_iter().collect())
    }
}

/// Deletes the texts for pull requests that no job links to.
pub(super) fn delete_unlinked(tx: &Transaction<'_>) -> StoreResult<()> {
    tx.change(
        "DELETE FROM key_value WHERE substr(key, 1, length(?1)) = ?1 AND substr(key, length(?1) + 1) NOT IN (
             SELECT pr_link FROM job WHERE pr_link IS NOT NULL)",
        [KEY_PREFIX],
    )?;
    Ok(())
}
