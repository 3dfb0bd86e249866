//! Exports jobs and drafts. Reads one job at a time, so that only one job is in memory.

use crate::model::Time;
use crate::model::backup::{
    BackupHeader, BackupLine, BackupTotals, DraftPurpose, DraftRecord, DraftText, JobRecord, PromptRecord,
};
use crate::model::endpoint::Scope;
use crate::model::job::JobKey;
use crate::model::prompt::{DraftTarget, Prompt, PromptId};
use crate::model::text::CleanText;
use crate::store::error::{StoreError, StoreResult};
use crate::store::query::Query as _;
use crate::store::scopes::{self, ScopeFilter};
use crate::store::{Draft, drafts, job_rows, pages, prompts};
use rusqlite::Connection;
use std::collections::HashMap;
use std::io::{BufWriter, Write};

/// Counts of what an export wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExportCounts {
    pub totals: BackupTotals,
    /// Prompts that this computer still has to send or is sending. A computer that imports them marks its copies as
    /// unconfirmed.
    pub in_flight_prompts: u64,
}

/// The drafts of a scope: follow-ups by job, edited texts by prompt, and the drafts of new jobs and batches.
#[derive(Debug, Default)]
struct GroupedDrafts {
    by_job: HashMap<JobKey, DraftText>,
    by_prompt: HashMap<PromptId, DraftText>,
    other_drafts: Vec<(DraftPurpose, DraftText)>,
}

pub(super) fn export(
    db: &Connection,
    out: impl Write,
    filter: &ScopeFilter,
    version: &str,
    now: Time,
) -> StoreResult<ExportCounts> {
    let mut out = BufWriter::with_capacity(64 << 10, out);
    let mut write = |line: &BackupLine| -> StoreResult<()> {
        let text = line.to_json().map_err(|error| StoreError::Unusable(format!("a line {error}")))?;
        out.write_all(text.as_bytes())?;
        Ok(out.write_all(b"\n")?)
    };
    write(&BackupLine::Header(BackupHeader { docdeck_version: CleanText::line(version), exported_at: now }))?;
    let (mut totals, mut in_flight_prompts) = (BackupTotals::default(), 0);
    for (id, scope) in scopes::read_scopes(db)?.into_iter().filter(|(_, scope)| filter.includes(scope)) {
        let drafts = group_drafts(drafts::list_drafts(db, id)?);
        // Jobs with an id come first: an import must find them by their ids before it searches for the other jobs by
        // their prompts.
        let keys: Vec<JobKey> = db.query_all(
            "SELECT key FROM job WHERE scope = ?1 AND merged_into IS NULL ORDER BY id IS NULL, key",
            [id],
            |row| row.get(0),
        )?;
        for key in keys {
            let Some(record) = read_job_record(db, &scope, key, &drafts)? else { continue };
            in_flight_prompts += u64::try_from(record.queued_or_sending_count()).unwrap_or(u64::MAX);
            write(&BackupLine::Job(Box::new(record)))?;
            totals.jobs += 1;
        }
        for (purpose, draft) in drafts.other_drafts {
            write(&BackupLine::Draft(DraftRecord { scope: scope.clone(), purpose, draft }))?;
            totals.drafts += 1;
        }
    }
    write(&BackupLine::End(totals))?;
    out.flush()?;
    Ok(ExportCounts { totals, in_flight_prompts })
}

fn group_drafts(drafts: Vec<Draft>) -> GroupedDrafts {
    let mut grouped = GroupedDrafts::default();
    for Draft { slot, text, pages, saved_at } in drafts {
        let draft = DraftText { text, saved_at };
        match slot {
            DraftTarget::FollowUp(key) => drop(grouped.by_job.insert(key, draft)),
            DraftTarget::Prompt(id) => drop(grouped.by_prompt.insert(id, draft)),
            DraftTarget::NewJob => grouped.other_drafts.push((DraftPurpose::NewJob, draft)),
            DraftTarget::AboutPages => grouped.other_drafts.push((DraftPurpose::AboutPages(pages), draft)),
            DraftTarget::Batch => grouped.other_drafts.push((DraftPurpose::Batch, draft)),
        }
    }
    grouped
}

fn read_job_record(
    db: &Connection,
    scope: &Scope,
    key: JobKey,
    drafts: &GroupedDrafts,
) -> StoreResult<Option<JobRecord>> {
    let Some(job) = job_rows::find_job(db, key)? else { return Ok(None) };
    let thread = prompts::read_thread(db, key)?;
    let with_draft = |prompt: Prompt| {
        let draft = drafts.by_prompt.get(&prompt.id).cloned();
        let Prompt { kind, text, delivery, written_at, sent_at, state_at, author, .. } = prompt;
        PromptRecord { kind, text, delivery, written_at, sent_at, state_at, author, draft }
    };
    Ok(Some(JobRecord {
        scope: scope.clone(),
        job,
        prompts: thread.prompts.into_iter().map(with_draft).collect(),
        events: thread.events,
        draft: drafts.by_job.get(&key).cloned(),
        signals: pages::read_signal_snapshots(db, key)?,
    }))
}
