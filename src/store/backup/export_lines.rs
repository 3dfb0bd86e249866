//! Exports jobs and drafts. Reads one job at a time, so that only one job is in memory.

use super::backup_writer::LineWriter;
use super::{ExportCounts, ScopeFilter};
use crate::model::Time;
use crate::model::backup::{
    BackupHeader, BackupLine, BackupTotals, DraftPurpose, DraftRecord, DraftText, JobRecord, PromptRecord,
};
use crate::model::endpoint::Scope;
use crate::model::prompt::{DraftTarget, Prompt, PromptId};
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use crate::store::error::StoreResult;
use crate::store::{Draft, drafts, jobs, prompts, scopes};
use rusqlite::Connection;
use std::collections::HashMap;
use std::io::Write;

/// The drafts of a scope: those of jobs, those of prompts, and the others.
#[derive(Debug, Default)]
struct Drafts {
    of_jobs: HashMap<JobKey, DraftText>,
    of_prompts: HashMap<PromptId, DraftText>,
    without_job: Vec<(DraftPurpose, DraftText)>,
}

pub(super) fn export(
    connection: &Connection,
    out: impl Write,
    only: &ScopeFilter,
    program: &str,
    now: Time,
) -> StoreResult<ExportCounts> {
    let mut lines = LineWriter::new(out);
    lines.write(&BackupLine::Header(BackupHeader { program: CleanText::line(program), exported_at: now }))?;
    let (mut totals, mut in_flight) = (BackupTotals::default(), 0);
    for scope in scopes::read_scopes(connection)?.into_iter().filter(|scope| only.includes(scope)) {
        let drafts = group_drafts(drafts::list_drafts(connection, &scope)?);
        for key in job_keys(connection, &scope)? {
            let Some(record) = read_job_record(connection, &scope, key, &drafts)? else { continue };
            in_flight += u64::try_from(record.queued_or_sending_count()).unwrap_or(u64::MAX);
            lines.write(&BackupLine::Job(Box::new(record)))?;
            totals.jobs += 1;
        }
        for (of, draft) in drafts.without_job {
            lines.write(&BackupLine::Draft(DraftRecord { scope: scope.clone(), purpose: of, draft }))?;
            totals.drafts += 1;
        }
    }
    lines.write(&BackupLine::End(totals))?;
    lines.finish()?;
    Ok(ExportCounts { totals, in_flight })
}

/// Returns the keys of the scope's jobs. Jobs with an id come first: an import must find them by their ids before it
/// searches for the other jobs by their prompts.
fn job_keys(connection: &Connection, scope: &Scope) -> StoreResult<Vec<JobKey>> {
    let Some(scope) = scopes::find_scope(connection, scope)? else { return Ok(Vec::new()) };
    let mut statement =
        connection.prepare("SELECT key FROM job WHERE scope = ?1 AND merged_into IS NULL ORDER BY id IS NULL, key")?;
    let keys = statement.query_map([scope], |row| row.get(0).map(JobKey))?;
    Ok(keys.collect::<rusqlite::Result<_>>()?)
}

fn group_drafts(drafts: Vec<Draft>) -> Drafts {
    let mut grouped = Drafts::default();
    for Draft { slot, text, pages, saved_at } in drafts {
        let draft = DraftText { text, saved_at };
        match slot {
            DraftTarget::FollowUp(key) => drop(grouped.of_jobs.insert(key, draft)),
            DraftTarget::Prompt(id) => drop(grouped.of_prompts.insert(id, draft)),
            DraftTarget::NewJob => grouped.without_job.push((DraftPurpose::NewJob, draft)),
            DraftTarget::AboutPages => grouped.without_job.push((DraftPurpose::AboutPages(pages), draft)),
            DraftTarget::Batch => grouped.without_job.push((DraftPurpose::Batch, draft)),
        }
    }
    grouped
}

fn read_job_record(
    connection: &Connection,
    scope: &Scope,
    key: JobKey,
    drafts: &Drafts,
) -> StoreResult<Option<JobRecord>> {
    let Some(row) = jobs::find_job(connection, key)? else { return Ok(None) };
    let thread = prompts::read_thread(connection, key)?;
    let with_draft = |prompt: Prompt| {
        let draft = drafts.of_prompts.get(&prompt.id).cloned();
        let Prompt { kind, text, delivery, written_at, sent_at, state_at, .. } = prompt;
        PromptRecord { kind, text, delivery, written_at, sent_at, state_at, draft }
    };
    Ok(Some(JobRecord {
        scope: scope.clone(),
        row,
        prompts: thread.prompts.into_iter().map(with_draft).collect(),
        events: thread.events,
        draft: drafts.of_jobs.get(&key).cloned(),
    }))
}
