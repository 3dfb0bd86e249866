//! Repairs the rows of a damaged database: fills in missing values, replaces lost rows to which other rows refer, and
//! chooses a safe state for prompts whose state is uncertain.

use super::database_pages::{PageKind, RawRecord};
use super::{JOB_ID_INDEX, JOB_REVISION_INDEX, SCOPE_INDEX, SEQUENCE_TABLE, SalvagedTables};
use crate::model::Time;
use crate::model::prompt::{MAX_TITLE_CHARS, prompt_title};
use crate::model::text::CleanText;
use crate::store::error::StoreResult;
use crate::store::query::Query as _;
use crate::store::sending::ABANDONED_REASON;
use rusqlite::types::Value;
use rusqlite::{Transaction, params};
use std::collections::{BTreeMap, HashMap, HashSet};

const PROMPT_STATES: [&str; 7] = ["queued", "sending", "accepted", "not sent", "rejected", "unconfirmed", "dismissed"];
const PROMPT_KINDS: [&str; 2] = ["create", "follow-up"];
const EVENT_KINDS: [&str; 4] = ["status", "pull request", "gone", "back"];

/// The reason that is stored with a prompt that becomes unconfirmed because its state or its job can't be read from the
/// damaged file.
const UNCONFIRMED_REASON: &str = "the database was damaged: the service may or may not have received this prompt";
/// The text that a prompt gets if its own text can't be read.
const LOST_TEXT_PLACEHOLDER: &str = "(The text of this prompt was lost when the database was damaged.)";

/// The tables whose first column is the row's key. SQLite stores the key separately; the column itself contains NULL.
const TABLES_WITH_ROWID_KEY: [&str; 9] =
    ["scope", "revision", "ledger", "job", "prompt", "event", "views_report", "views_path", "analytics_report"];

/// The times that can be shown as a date, in milliseconds: the years 1 to 9999.
const DISPLAYABLE_TIMES: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

/// Guesses to which table or index a row belongs, from the number and the types of its columns. Used for rows on pages
/// that belong to none of the trees in which SQLite stores tables and indexes.
pub(super) fn guess_table(record: &RawRecord, kind: PageKind) -> Option<&'static str> {
    let values = &record.values;
    let text = |at: usize| match values.get(at) {
        Some(Some(Value::Text(text))) => Some(text.as_str()),
        _ => None,
    };
    let is_number = |at: usize| matches!(values.get(at), Some(Some(Value::Integer(_))));
    let is_null = |at: usize| matches!(values.get(at), Some(Some(Value::Null)));
    let is_one_of = |at: usize, words: &[&str]| text(at).is_some_and(|word| words.contains(&word));
    let is_url = |at: usize| text(at).is_some_and(|text| text.starts_with("http"));
    if kind == PageKind::IndexLeaf {
        return match values.len() {
            2 if text(0).is_some() && text(1).is_some() => Some("key_value"),
            3 if is_number(0) && is_number(2) && text(1).is_some_and(|path| path.starts_with('/')) => Some("job_page"),
            3 if is_number(0) && is_number(2) && text(1).is_some() => Some(JOB_ID_INDEX),
            3 if is_url(0) && text(1).is_some() && is_number(2) => Some(SCOPE_INDEX),
            _ => None,
        };
    }
    match values.len() {
        3 if is_null(0) && is_url(1) && text(2).is_some() => Some("scope"),
        5 if is_null(0) && is_url(1) && text(2).is_some() && text(3).is_some() => Some("ledger"),
        2 if is_number(0) && is_number(1) => Some("ledger_use"),
        6 if is_null(0) && is_number(1) && is_number(2) && is_one_of(3, &EVENT_KINDS) => Some("event"),
        7..=8 if is_number(0) && text(1).is_some() && text(2).is_some() && text(6).is_some() => Some("views_answer"),
        10..=20 if is_null(0) && is_number(1) && is_one_of(2, &PROMPT_KINDS) => Some("prompt"),
        5..=9 if is_number(0) && (is_null(1) || is_number(1)) && (is_null(2) || is_number(2)) && text(3).is_some() => {
            Some("draft")
        }
        18.. if is_null(0) && is_number(1) && text(3).is_some() => Some("job"),
        _ => None,
    }
}

/// Returns the sort key for copies of a prompt: the copy with the most advanced delivery comes first.
pub(super) fn delivery_rank(record: &RawRecord) -> usize {
    const STATES_BY_RANK: [&str; 7] =
        ["accepted", "dismissed", "unconfirmed", "sending", "rejected", "not sent", "queued"];
    let state = record.values.get(4).and_then(Option::as_ref);
    let rank = STATES_BY_RANK.iter().position(|word| state == Some(&Value::Text((*word).to_owned())));
    rank.unwrap_or(STATES_BY_RANK.len())
}

/// The values of a row by column; `None` for a value that can't be read.
pub(super) type SalvagedRow<'a> = BTreeMap<&'a str, Option<Value>>;

/// Repairs the rows, one table at a time.
pub(super) struct RowRepair<'a> {
    salvaged_tables: &'a SalvagedTables,
    now: i64,
    /// The keys of jobs that had no undelivered prompt, according to their own rows.
    jobs_without_undelivered_prompt: HashSet<i64>,
    /// The scope and the service's id of each job, by the job's key; read from the index of ids.
    scopes_and_ids_by_key: HashMap<i64, (i64, String)>,
    /// The number of queued prompts that the repair has paused.
    pub(super) paused_count: u64,
}

impl<'a> RowRepair<'a> {
    pub(super) fn new(salvaged_tables: &'a SalvagedTables, now: Time) -> Self {
        let scopes_and_ids_by_key =
            salvaged_tables.records_of(JOB_ID_INDEX).iter().filter_map(|entry| match entry.values.as_slice() {
                [Some(Value::Integer(scope)), Some(Value::Text(id)), Some(Value::Integer(key))] => {
                    Some((*key, (*scope, id.clone())))
                }
                _ => None,
            });
        Self {
            salvaged_tables,
            now: now.timestamp_millis(),
            jobs_without_undelivered_prompt: HashSet::new(),
            scopes_and_ids_by_key: scopes_and_ids_by_key.collect(),
            paused_count: 0,
        }
    }

    /// Returns the repaired values of a row, ready to be inserted.
    pub(super) fn repair_row<'c>(&mut self, table: &str, columns: &'c [String], record: &RawRecord) -> SalvagedRow<'c> {
        let mut row: SalvagedRow<'c> = columns.iter().map(String::as_str).zip(record.values.iter().cloned()).collect();
        if TABLES_WITH_ROWID_KEY.contains(&table)
            && let Some(key_column) = columns.first()
        {
            row.insert(key_column, Some(Value::Integer(record.rowid)));
        }
        for (column, value) in &mut row {
            self.repair_value(column, value);
        }
        match table {
            "job" => {
                // An older docdeck stored no `handled_at`, because it counted a job as handled once it was viewed.
                if let (None, Some(viewed_at)) = (row.get("handled_at"), row.get("viewed_at").cloned()) {
                    row.insert("handled_at", viewed_at);
                }
                if row.get("undelivered") == Some(&Some(Value::Null)) {
                    self.jobs_without_undelivered_prompt.insert(record.rowid);
                }
            }
            "prompt" => self.repair_prompt(&mut row),
            _ => {}
        }
        row
    }

    fn repair_value(&self, column: &str, value: &mut Option<Value>) {
        let is_time = column.ends_with("_at") || matches!(column, "at" | "as_of" | "until");
        let is_required_time =
            matches!(column, "created_at" | "started_at" | "changed_at" | "written_at" | "saved_at" | "at" | "as_of");
        match value {
            Some(Value::Integer(time)) if is_time && !DISPLAYABLE_TIMES.contains(time) => {
                *value = Some(if is_required_time { Value::Integer(self.now) } else { Value::Null });
            }
            None if is_required_time => *value = Some(Value::Integer(self.now)),
            None if matches!(column, "gone" | "dismissed" | "revision" | "paused" | "batch") => {
                *value = Some(Value::Integer(0));
            }
            None if column == "title" => *value = Some(Value::Text(String::new())),
            _ => {}
        }
    }

    fn repair_prompt(&mut self, prompt: &mut SalvagedRow<'_>) {
        let text = |column: &str| match prompt.get(column) {
            Some(Some(Value::Text(text))) => Some(text.clone()),
            _ => None,
        };
        let (kind, state, has_text) = (text("kind"), text("state"), text("text").is_some());
        let was_delivered = matches!(prompt.get("job"), Some(Some(Value::Integer(job)))
            if self.jobs_without_undelivered_prompt.contains(job));
        let mut set_column = |column, value: Value| drop(prompt.insert(column, Some(value)));
        set_column("instance", Value::Null);
        if !kind.is_some_and(|kind| PROMPT_KINDS.contains(&kind.as_str())) {
            set_column("kind", "create".to_owned().into());
        }
        if !has_text {
            set_column("text", LOST_TEXT_PLACEHOLDER.to_owned().into());
        }
        let reason = match state.as_deref().filter(|word| PROMPT_STATES.contains(word)) {
            Some("queued") => {
                self.paused_count += 1;
                set_column("paused", Value::Integer(1));
                set_column("until", Value::Null);
                return;
            }
            Some("sending") => ABANDONED_REASON,
            Some(_) => return,
            None if was_delivered => return set_column("state", "accepted".to_owned().into()),
            None => UNCONFIRMED_REASON,
        };
        set_column("state", "unconfirmed".to_owned().into());
        set_column("reason", reason.to_owned().into());
    }

    /// Replaces lost rows to which other rows refer. If a lost row can't be replaced, deletes the rows that refer to
    /// it. Also deletes cached data with invalid JSON, and reports that lack some of their rows.
    pub(super) fn repair_references(&self, tx: &Transaction<'_>) -> StoreResult<()> {
        tx.execute("INSERT OR IGNORE INTO revision (only, value) VALUES (1, 0)", [])?;
        tx.execute("UPDATE revision SET value = max(value, (SELECT coalesce(max(revision), 0) FROM job))", [])?;
        self.restore_last_keys(tx)?;
        self.restore_jobs_from_id_index(tx)?;
        self.restore_jobs_of_prompts(tx)?;
        self.restore_scopes(tx)?;
        self.restore_prompts_of_jobs(tx)?;
        self.move_drafts_of_lost_rows(tx)?;
        tx.execute_batch(
            "UPDATE prompt SET state_at = iif(state = 'queued', written_at, coalesce(sent_at, written_at))
             WHERE state_at IS NULL AND state NOT IN ('accepted', 'dismissed');
             UPDATE job SET merged_into = NULL WHERE merged_into NOT IN (SELECT key FROM job);
             DELETE FROM event WHERE job NOT IN (SELECT key FROM job);
             DELETE FROM job_page WHERE job NOT IN (SELECT key FROM job);
             DELETE FROM job_signals WHERE job NOT IN (SELECT key FROM job) OR NOT json_valid(signals);
             DELETE FROM ledger_use WHERE ledger NOT IN (SELECT id FROM ledger);
             DELETE FROM views_answer WHERE scope NOT IN (SELECT id FROM scope) OR NOT json_valid(answer);
             DELETE FROM views_total WHERE scope NOT IN (SELECT id FROM scope) OR NOT json_valid(totals);
             -- A report without some of its rows would show wrong sums.
             DELETE FROM views_report WHERE scope NOT IN (SELECT id FROM scope) OR NOT json_valid(totals)
                 OR row_count <> (SELECT count(*) FROM views_row JOIN views_path ON views_path.id = views_row.path
                                  WHERE report = views_report.id);
             DELETE FROM views_row WHERE report NOT IN (SELECT id FROM views_report);
             DELETE FROM views_path WHERE id NOT IN (SELECT path FROM views_row);
             DELETE FROM analytics_report WHERE scope NOT IN (SELECT id FROM scope);
             DELETE FROM analytics_answer WHERE report NOT IN (SELECT id FROM analytics_report);",
        )?;
        Ok(())
    }

    /// Restores jobs whose own rows are lost or have a wrong key, from the index of the service's ids.
    fn restore_jobs_from_id_index(&self, tx: &Transaction<'_>) -> StoreResult<()> {
        let mut has_key = tx.prepare("SELECT EXISTS (SELECT 1 FROM job WHERE key = ?1)")?;
        let mut keys: Vec<(&i64, &(i64, String))> = self.scopes_and_ids_by_key.iter().collect();
        keys.sort();
        for (key, (scope, id)) in keys {
            if has_key.query_row([key], |row| row.get(0))? {
                continue;
            }
            // The index contains the correct key for this id, so a row with this id and another key was damaged.
            let moved = tx.execute("UPDATE job SET key = ?1 WHERE scope = ?2 AND id = ?3", params![key, scope, id])?;
            if moved == 0 {
                self.insert_restored_job(tx, *key, *scope, Some(id))?;
            }
        }
        Ok(())
    }

    fn insert_restored_job(&self, tx: &Transaction<'_>, key: i64, scope: i64, id: Option<&str>) -> StoreResult<()> {
        let title = id.map(|id| CleanText::title(id, MAX_TITLE_CHARS)).unwrap_or_default();
        tx.execute(
            "INSERT OR IGNORE INTO job (key, scope, id, title, created_at, started_at, changed_at, revision)
             VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?5, 0)",
            params![key, scope, id, title.as_str(), self.now],
        )?;
        Ok(())
    }

    /// Restores jobs of which only prompts were found, and replaces lost titles. If the id of a created job is lost,
    /// the prompt that created it becomes unconfirmed, since it is uncertain whether the service has this job.
    fn restore_jobs_of_prompts(&self, tx: &Transaction<'_>) -> StoreResult<()> {
        let known: HashMap<i64, i64> =
            self.salvaged_tables.records_of(JOB_REVISION_INDEX).iter().filter_map(key_and_scope).collect();
        let default_scope: i64 = tx.query_row("SELECT coalesce(min(id), 1) FROM scope", [], |row| row.get(0))?;
        let lost = "SELECT DISTINCT job FROM prompt WHERE job NOT IN (SELECT key FROM job)";
        for key in tx.query_all(lost, [], |row| row.get(0))? {
            self.insert_restored_job(tx, key, known.get(&key).copied().unwrap_or(default_scope), None)?;
        }
        // All jobs without a proper title: those restored here or by `restore_jobs_from_id_index`, and those whose
        // title was lost.
        let untitled: Vec<(i64, String, i64)> = tx.query_all(
            "SELECT key, prompt.text, prompt.written_at FROM job JOIN prompt ON prompt.id =
                 (SELECT id FROM prompt AS first WHERE first.job = key ORDER BY kind, id LIMIT 1)
             WHERE title = '' OR title = job.id",
            [],
            |row| row.try_into(),
        )?;
        for (key, text, at) in untitled {
            tx.execute(
                "UPDATE job SET title = ?2, created_at = min(created_at, ?3), started_at = min(started_at, ?3)
                 WHERE key = ?1 AND (title = '' OR created_at = ?4)",
                params![key, prompt_title(&text), at, self.now],
            )?;
        }
        tx.execute(
            "UPDATE prompt SET state = 'unconfirmed', reason = ?1
             WHERE kind = 'create' AND state = 'accepted'
                 AND job IN (SELECT key FROM job WHERE id IS NULL AND merged_into IS NULL)",
            [UNCONFIRMED_REASON],
        )?;
        Ok(())
    }

    /// Restores scopes whose rows are lost, from the index of scopes. A scope that is missing there, too, gets a
    /// made-up name. But if only one scope is missing, and all ledgers that belong to no known scope have the same
    /// address and owner, the scope gets this address, and the owner as its project.
    fn restore_scopes(&self, tx: &Transaction<'_>) -> StoreResult<()> {
        let new = "INSERT OR IGNORE INTO scope (id, base_url, project) VALUES (?1, ?2, ?3)";
        for entry in self.salvaged_tables.records_of(SCOPE_INDEX) {
            if let [Some(Value::Text(base_url)), Some(Value::Text(project)), Some(Value::Integer(id))] =
                entry.values.as_slice()
            {
                tx.execute(new, params![id, base_url, project])?;
            }
        }
        let lost: Vec<i64> = tx.query_all(
            "SELECT scope FROM job WHERE scope NOT IN (SELECT id FROM scope)
             UNION SELECT scope FROM draft WHERE scope NOT IN (SELECT id FROM scope)",
            [],
            |row| row.get(0),
        )?;
        let ledgers: Vec<(String, String)> = tx.query_all(
            "SELECT DISTINCT base_url, owner FROM ledger WHERE NOT EXISTS
                 (SELECT 1 FROM scope WHERE scope.base_url = ledger.base_url AND scope.project = ledger.owner)",
            [],
            |row| row.try_into(),
        )?;
        for id in &lost {
            let (base_url, project) = match (lost.as_slice(), ledgers.as_slice()) {
                ([_], [only]) => only.clone(),
                _ => ("recovered".to_owned(), format!("project {id}")),
            };
            tx.execute(new, params![id, base_url, project])?;
        }
        Ok(())
    }

    /// Adds an unconfirmed prompt to each job whose undelivered prompt is lost. Otherwise, a job with neither an id nor
    /// a prompt would be listed as working.
    fn restore_prompts_of_jobs(&self, tx: &Transaction<'_>) -> StoreResult<()> {
        tx.execute(
            "INSERT INTO prompt (job, kind, text, state, reason, written_at)
             SELECT key, 'create', iif(title = '', ?1, title), 'unconfirmed', ?2, created_at FROM job
             WHERE id IS NULL AND merged_into IS NULL AND dismissed = 0
                 AND NOT EXISTS (SELECT 1 FROM prompt WHERE prompt.job = key AND kind = 'create')",
            [LOST_TEXT_PLACEHOLDER, UNCONFIRMED_REASON],
        )?;
        tx.execute(
            "INSERT INTO prompt (job, kind, text, state, reason, written_at)
             SELECT key, 'follow-up', ?1, 'unconfirmed', ?2, changed_at FROM job
             WHERE id IS NOT NULL AND undelivered IN ('unconfirmed', 'sending')
                 AND NOT EXISTS (SELECT 1 FROM prompt
                                 WHERE prompt.job = key AND state NOT IN ('accepted', 'dismissed'))",
            [LOST_TEXT_PLACEHOLDER, UNCONFIRMED_REASON],
        )?;
        Ok(())
    }

    /// Appends the drafts of lost jobs and prompts to the new-job draft.
    fn move_drafts_of_lost_rows(&self, tx: &Transaction<'_>) -> StoreResult<()> {
        let lost: Vec<(i64, i64, String, i64)> = tx.query_all(
            "SELECT rowid, scope, text, saved_at FROM draft WHERE job NOT IN (SELECT key FROM job)
                 OR prompt NOT IN (SELECT id FROM prompt) ORDER BY saved_at",
            [],
            |row| row.try_into(),
        )?;
        for (rowid, scope, text, at) in lost {
            tx.execute("DELETE FROM draft WHERE rowid = ?1", [rowid])?;
            let joined = tx.execute(
                "UPDATE draft SET text = text || char(10, 10) || ?2
                 WHERE scope = ?1 AND job IS NULL AND prompt IS NULL AND batch = 0 AND pages IS NULL",
                params![scope, text],
            )?;
            if joined == 0 {
                let new = "INSERT INTO draft (scope, text, saved_at) VALUES (?1, ?2, ?3)";
                tx.execute(new, params![scope, text, at])?;
            }
        }
        Ok(())
    }

    /// Makes sure that the keys of lost rows are never assigned again.
    fn restore_last_keys(&self, tx: &Transaction<'_>) -> StoreResult<()> {
        for entry in self.salvaged_tables.records_of(SEQUENCE_TABLE) {
            if let [Some(Value::Text(table)), Some(Value::Integer(last)), ..] = entry.values.as_slice() {
                let set =
                    tx.execute("UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1", params![table, last])?;
                if set == 0 && matches!(table.as_str(), "job" | "prompt") {
                    tx.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)", params![table, last])?;
                }
            }
        }
        Ok(())
    }
}

fn key_and_scope(entry: &RawRecord) -> Option<(i64, i64)> {
    match entry.values.as_slice() {
        [Some(Value::Integer(scope)), _, Some(Value::Integer(key))] => Some((*key, *scope)),
        _ => None,
    }
}
