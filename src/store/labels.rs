//! The user's data about jobs: title, tags, note, viewed, handled, dismissed. The data is never sent to the service. If
//! the project is shared, the team receives titles, tags, notes and dismissals. Also searches for jobs by the texts of
//! their prompts, and lists the texts of sent prompts.

use super::columns;
use super::error::StoreResult;
use super::query::Query as _;
use super::{Store, job_rows};
use crate::model::Time;
use crate::model::change::{LocalChange, normalized_tags};
use crate::model::endpoint::Scope;
use crate::model::job::{Job, JobKey};
use crate::model::prompt::MAX_TITLE_CHARS;
use crate::model::text::CleanText;
use rusqlite::{Transaction, params};
use std::collections::HashSet;
use thin_vec::ThinVec;

/// Maximum number of texts that [`Store::sent_prompts`] returns.
const MAX_SENT_PROMPTS: usize = 1000;
/// Maximum total size in bytes of the texts that [`Store::sent_prompts`] returns.
const MAX_SENT_PROMPTS_BYTES: usize = 16 << 20;
/// If the text to search for has at least this many bytes, prompts are compared in Rust: SQLite rejects very long
/// patterns.
const MAX_PATTERN_BYTES: usize = 10_000;

impl Store {
    /// Changes the user's data (title, tags, note, viewed, handled, dismissed) about all these jobs, or about none if
    /// one of them is unknown. Returns the rows in the order of `jobs`.
    pub async fn change_jobs(&self, jobs: &[JobKey], change: LocalChange, now: Time) -> StoreResult<Vec<Job>> {
        let jobs = jobs.to_vec();
        self.write(move |tx| {
            let change_job = |key: &JobKey| {
                let mut row = job_rows::read_job_or_merge_target(tx, *key)?;
                apply_change(&mut row, &change, now);
                write_labels(tx, &row)?;
                job_rows::update_job(tx, &row)
            };
            jobs.iter().map(change_job).collect()
        })
        .await
    }

    /// Returns the jobs with a prompt that contains `text`, ignoring case.
    pub async fn find_jobs_by_prompt(&self, scope: &Scope, text: &str) -> StoreResult<Vec<JobKey>> {
        let text = text.to_owned();
        self.read_in_scope(scope, move |db, scope| {
            if text.is_ascii() && text.len() < MAX_PATTERN_BYTES {
                let matching = "SELECT DISTINCT job.key FROM prompt CROSS JOIN job ON job.key = prompt.job
                     WHERE job.scope = ?1 AND prompt.text LIKE ?2 ESCAPE '\\' ORDER BY job.key";
                return db.query_all(matching, params![scope, like_pattern(&text)], |row| row.get(0));
            }
            // The texts are compared in Rust: SQLite ignores case only for ASCII letters, and rejects very long
            // patterns.
            let wanted = text.to_lowercase();
            let all = "SELECT job.key, prompt.text FROM job CROSS JOIN prompt ON prompt.job = job.key
                 WHERE job.scope = ?1 ORDER BY job.key";
            let found = db.query_all(all, [scope], |row| {
                let is_match = row.get_ref(1)?.as_str().is_ok_and(|text| text.to_lowercase().contains(&wanted));
                is_match.then(|| row.get(0)).transpose()
            })?;
            let mut keys: Vec<JobKey> = found.into_iter().flatten().collect();
            keys.dedup();
            Ok(keys)
        })
        .await
    }

    /// Returns the texts of sent prompts, newest first and without duplicates; at most 1,000 texts and 16 MiB in total.
    pub async fn sent_prompts(&self, scope: &Scope) -> StoreResult<Vec<String>> {
        self.read_in_scope(scope, |db, scope| {
            let mut statement = db.prepare_cached(SENT_PROMPTS_SQL)?;
            let mut rows = statement.query([scope])?;
            let (mut texts, mut seen, mut bytes) = (Vec::new(), HashSet::new(), 0_usize);
            while let Some(row) = rows.next()? {
                let text: String = row.get(0)?;
                if !seen.insert(text.clone()) {
                    continue;
                }
                bytes = bytes.saturating_add(text.len());
                if bytes > MAX_SENT_PROMPTS_BYTES && !texts.is_empty() {
                    break;
                }
                texts.push(text);
                if texts.len() == MAX_SENT_PROMPTS {
                    break;
                }
            }
            Ok(texts)
        })
        .await
    }
}

fn apply_change(row: &mut Job, change: &LocalChange, now: Time) {
    match change {
        LocalChange::Title(title) => {
            let title = title.as_ref().map(|title| CleanText::title(title.as_str(), MAX_TITLE_CHARS));
            let title = title.filter(|title| !title.is_empty());
            row.local.has_custom_title = title.is_some();
            row.local.title = title.unwrap_or_default();
        }
        LocalChange::Tags(tags) => row.local.tags = normalized_tags(tags.iter().map(CleanText::as_str)).into(),
        LocalChange::AddTags(tags) => add_tags(&mut row.local.tags, tags),
        LocalChange::RemoveTags(tags) => {
            let tags = normalized_tags(tags.iter().map(CleanText::as_str));
            row.local.tags.retain(|known| !tags.contains(known));
        }
        LocalChange::Note(note) => row.local.note = note.clone().filter(|note| !note.as_str().trim().is_empty()),
        LocalChange::Dismissed(dismissed) => {
            row.local.dismissed = *dismissed;
            if let Some(team) = &mut row.local.team {
                team.dismissed_by = None;
            }
        }
        // `viewed_at` must not be earlier than the last change of the job, even if the clock has been set back since
        // then.
        LocalChange::Viewed => row.local.viewed_at = Some(now.max(row.local.changed_at)),
        LocalChange::Handled => {
            row.local.handled_at = Some(now.max(row.local.changed_at));
            row.local.viewed_at = row.local.viewed_at.max(row.local.handled_at);
        }
        LocalChange::RestoreHandledAt(at) => row.local.handled_at = *at,
    }
}

fn add_tags(tags: &mut ThinVec<CleanText>, new_tags: &[CleanText]) {
    *tags = normalized_tags(tags.iter().chain(new_tags).map(CleanText::as_str)).into();
}

/// Adds the title, tags and note that the user wrote for `other` to `target`, when the two rows are merged. If the user
/// wrote a title for both, the title of `other` is dropped; nothing else is lost.
pub(super) fn merge_labels(tx: &Transaction<'_>, target: &mut Job, other: &Job) -> StoreResult<()> {
    if !target.local.has_custom_title && other.local.has_custom_title {
        target.local.has_custom_title = true;
        target.local.title = other.local.title.clone();
    }
    add_tags(&mut target.local.tags, &other.local.tags);
    target.local.note = match (target.local.note.take(), other.local.note.clone()) {
        (Some(note), Some(other)) => Some(CleanText::block(&format!("{note}\n{other}"))),
        (note, other) => note.or(other),
    };
    write_labels(tx, target)
}

/// Writes the user's title, tags and note.
pub(super) fn write_labels(tx: &Transaction<'_>, row: &Job) -> StoreResult<()> {
    job_rows::write_columns(tx, row.key, columns::label_columns(row))
}

/// Returns a LIKE pattern that matches `text` anywhere, with its special characters escaped.
fn like_pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

/// The query of [`Store::sent_prompts`]. It uses an index by time, so that SQLite reads the newest rows first and only
/// as many rows as are needed.
pub(super) const SENT_PROMPTS_SQL: &str = "SELECT prompt.text FROM prompt CROSS JOIN job ON job.key = prompt.job
     WHERE prompt.sent_at IS NOT NULL AND job.scope = ?1 AND prompt.author IS NULL ORDER BY prompt.sent_at DESC, prompt.id DESC";
