//! The texts of reviews and comments that were written but not sent: one of each per pull request. They are stored by
//! the pull request's link, which doesn't change if rows of jobs are merged.

use super::Store;
use super::error::StoreResult;
use super::kv;
use super::query::Query as _;
use crate::model::pull_request_action::UnsentReviewKind;
use crate::model::text::CleanText;
use rusqlite::Transaction;
use std::collections::HashMap;

/// Returns the prefix of the key; the rest of the key is the pull request's link.
fn key_prefix(kind: UnsentReviewKind) -> &'static str {
    match kind {
        UnsentReviewKind::ChangeRequest => "review:",
        UnsentReviewKind::Comment => "comment:",
    }
}

impl Store {
    /// Replaces the text for the pull requests with these links; a blank text deletes it.
    pub async fn save_unsent_review(&self, links: &[CleanText], kind: UnsentReviewKind, text: &str) -> StoreResult<()> {
        let (links, text) = (links.to_vec(), text.to_owned());
        self.write(move |tx| {
            for link in links {
                let key = format!("{}{link}", key_prefix(kind));
                match text.trim().is_empty() {
                    true => kv::delete(tx, &key)?,
                    false => kv::set(tx, &key, &text)?,
                }
            }
            Ok(())
        })
        .await
    }

    /// Returns all texts, by the pull request's link and the kind of the text.
    pub async fn unsent_reviews(&self) -> StoreResult<HashMap<(CleanText, UnsentReviewKind), String>> {
        let sql = "SELECT substr(key, length(?1) + 1), value FROM key_value WHERE substr(key, 1, length(?1)) = ?1";
        self.read(move |db| {
            let mut texts = HashMap::new();
            for kind in UnsentReviewKind::ALL {
                let found = db.query_all(sql, [key_prefix(kind)], |row| Ok(((row.get(0)?, kind), row.get(1)?)))?;
                texts.extend(found);
            }
            Ok(texts)
        })
        .await
    }
}

/// Deletes the texts for pull requests that no job links to.
pub(super) fn delete_unlinked_unsent_reviews(tx: &Transaction<'_>) -> StoreResult<()> {
    for kind in UnsentReviewKind::ALL {
        tx.change(
            "DELETE FROM key_value WHERE substr(key, 1, length(?1)) = ?1 AND substr(key, length(?1) + 1) NOT IN (
                 SELECT pr_link FROM job WHERE pr_link IS NOT NULL)",
            [key_prefix(kind)],
        )?;
    }
    Ok(())
}
