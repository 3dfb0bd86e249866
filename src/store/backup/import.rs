//! Imports jobs and drafts in one transaction. Adds new jobs. If a job is already stored, merges both by the rules in
//! `model::backup::merge_rules`.

use super::lines::{BackupReader, ImportError};
use crate::model::Time;
use crate::model::backup::merge_rules::{self, PromptMerge};
use crate::model::backup::{BackupLine, DraftPurpose, DraftRecord, DraftText, JobRecord, PromptRecord};
use crate::model::job::{Job, JobKey};
use crate::model::prompt::{Delivery, DraftTarget, Prompt, PromptKind};
use crate::store::error::StoreResult;
use crate::store::scopes::{self, ScopeFilter};
use crate::store::{drafts, job_rows, jobs, labels, pages, prompts};
use rusqlite::{Connection, Transaction};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::BufRead;

/// Counts of what an import did, or would do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportCounts {
    pub jobs_added: u64,
    /// Jobs that were already stored and got new data.
    pub jobs_changed: u64,
    /// Jobs that were already stored and got no new data.
    pub jobs_unchanged: u64,
    pub prompts_added: u64,
    /// Added prompts that are unconfirmed on this computer: the computer that wrote the backup had not sent them yet,
    /// or had received no response.
    pub in_flight_prompts: u64,
    pub drafts_added: u64,
    /// Drafts that were skipped, since their slot already contains another text.
    pub drafts_skipped: u64,
    /// Jobs whose imported title or note was skipped, since the user has set another one on this computer.
    pub labels_skipped: u64,
    /// Whether the backup contains the line that marks its end. Without that line, something may have been cut off.
    pub has_end_line: bool,
}

pub(super) fn import_backup(
    tx: &Transaction<'_>,
    from: impl BufRead,
    filter: &ScopeFilter,
    now: Time,
) -> Result<ImportCounts, ImportError> {
    let mut lines = BackupReader::new(from, now);
    let mut import = BackupImport::new(tx, now)?;
    while let Some(line) = lines.next()? {
        match line {
            BackupLine::Job(record) if filter.includes(&record.scope) => import.import_job(*record)?,
            BackupLine::Draft(record) if filter.includes(&record.scope) => import.import_draft(&record)?,
            BackupLine::Header(_) => import.begin_backup()?,
            BackupLine::Job(_) | BackupLine::Draft(_) => {}
            BackupLine::End(_) => import.counts.has_end_line = true,
        }
    }
    Ok(import.counts)
}

pub(super) fn import_jobs(
    tx: &Transaction<'_>,
    records: impl IntoIterator<Item = JobRecord>,
    now: Time,
) -> StoreResult<()> {
    let mut import = BackupImport::new(tx, now)?;
    records.into_iter().try_for_each(|record| import.import_job(record))
}

/// A job that was in the store before the import of a backup, and that may be the same as an imported job.
#[derive(Debug)]
struct MatchCandidate {
    key: JobKey,
    has_id: bool,
    /// Hash of the text of the job's first prompt. Of several jobs whose first prompts were written at the same moment,
    /// only those with a matching hash are read.
    text_hash: u64,
}

/// The jobs that were in the store before the import of a backup. A job that has no id yet is identified by the time at
/// which its first prompt was written.
#[derive(Debug, Default)]
struct KnownJobs {
    /// The jobs by their scope and the time at which their first prompt was written.
    by_written_at: HashMap<(i64, i64), Vec<MatchCandidate>>,
    /// The keys of jobs that were already matched to a line of this backup, or added from it.
    imported_jobs: HashSet<JobKey>,
}

impl KnownJobs {
    fn read(db: &Connection) -> StoreResult<Self> {
        let mut known = Self::default();
        let mut statement = db.prepare_cached(
            "SELECT job.scope, prompt.written_at, job.key, job.id IS NOT NULL, prompt.text
             FROM prompt JOIN job ON job.key = prompt.job
             WHERE prompt.kind = 'create' ORDER BY job.id IS NOT NULL, job.key",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let text = hash(row.get_ref(4)?.as_str().unwrap_or_default());
            let candidate = MatchCandidate { key: row.get(2)?, has_id: row.get(3)?, text_hash: text };
            known.by_written_at.entry((row.get(0)?, row.get(1)?)).or_default().push(candidate);
        }
        Ok(known)
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

struct BackupImport<'a> {
    tx: &'a Transaction<'a>,
    counts: ImportCounts,
    known_jobs: KnownJobs,
    now: Time,
}

impl<'a> BackupImport<'a> {
    fn new(tx: &'a Transaction<'a>, now: Time) -> StoreResult<Self> {
        Ok(Self { tx, counts: ImportCounts::default(), known_jobs: KnownJobs::read(tx)?, now })
    }

    /// Prepares for the jobs after a header line. If several backups are concatenated, a job of a later one may be the
    /// same as a job that was imported from an earlier one.
    fn begin_backup(&mut self) -> StoreResult<()> {
        if !self.known_jobs.imported_jobs.is_empty() {
            self.known_jobs = KnownJobs::read(self.tx)?;
        }
        Ok(())
    }

    fn import_job(&mut self, record: JobRecord) -> StoreResult<()> {
        let scope = scopes::ensure_scope(self.tx, &record.scope)?;
        let key = match self.find_stored_job(scope, &record)? {
            None => self.add_job(scope, &record)?,
            Some(row) => self.merge_job(row, &record)?.key,
        };
        self.known_jobs.imported_jobs.insert(key);
        Ok(())
    }

    /// Finds the stored row of the imported job by the service's id, or by the prompt that created the job. If one row
    /// has the id, and another row without an id has the prompt, returns the row with the prompt: [`jobs::assign_id`]
    /// later merges the row with the id into it.
    fn find_stored_job(&self, scope: i64, record: &JobRecord) -> StoreResult<Option<Job>> {
        let by_id = match &record.job.id {
            Some(id) => job_rows::find_by_id(self.tx, scope, id)?,
            None => None,
        };
        let Some(imported) = record.prompts.iter().find(|prompt| prompt.kind == PromptKind::Create) else {
            return Ok(by_id);
        };
        if let Some(row) = &by_id
            && self.has_prompt(row.key, imported)?
        {
            return Ok(by_id);
        }
        Ok(self.find_by_prompt(scope, record, imported)?.or(by_id))
    }

    fn find_by_prompt(&self, scope: i64, record: &JobRecord, imported: &PromptRecord) -> StoreResult<Option<Job>> {
        let written_at = (scope, imported.written_at.timestamp_millis());
        let candidates = self.known_jobs.by_written_at.get(&written_at).map_or(&[][..], Vec::as_slice);
        let text = hash(&imported.text);
        let is_only_candidate = candidates.len() == 1;
        // If the candidate and the imported job both have an id, they are different jobs: the caller has already
        // searched for a job with the imported id.
        let is_possible_match = |known: &&MatchCandidate| {
            !(known.has_id && record.job.id.is_some()) && (known.text_hash == text || is_only_candidate)
        };
        let mut edited_candidate = None;
        for candidate in candidates.iter().filter(is_possible_match) {
            let Some(job) = job_rows::find_job(self.tx, job_rows::resolve_merged_key(self.tx, candidate.key)?)? else {
                continue;
            };
            if self.known_jobs.imported_jobs.contains(&job.key) || (job.id.is_some() && record.job.id.is_some()) {
                continue;
            }
            if self.has_prompt(job.key, imported)? {
                return Ok(Some(job));
            }
            edited_candidate = Some(job);
        }
        // If only one stored job has a first prompt that was written at that moment, it may be the imported job even
        // if the texts differ: the text may have been edited on one of the computers.
        let Some(job) = edited_candidate.filter(|_| is_only_candidate) else { return Ok(None) };
        let thread = prompts::read_thread(self.tx, job.key)?;
        let mut known = thread.prompts.iter().filter(|known| known.kind == PromptKind::Create);
        let is_same = known.any(|known| merge_rules::decide_merge(known, imported) != PromptMerge::OtherPrompt);
        Ok(is_same.then_some(job))
    }

    fn has_prompt(&self, key: JobKey, imported: &PromptRecord) -> StoreResult<bool> {
        let is_same = |known: &Prompt| {
            (known.kind, known.written_at, &known.text) == (imported.kind, imported.written_at, &imported.text)
        };
        Ok(prompts::read_thread(self.tx, key)?.prompts.iter().any(is_same))
    }

    fn add_job(&mut self, scope: i64, record: &JobRecord) -> StoreResult<JobKey> {
        let name = if record.job.local.has_custom_title { &record.default_title() } else { &record.job.local.title };
        let key = job_rows::insert_full_job(self.tx, scope, name, &record.job)?;
        pages::add_pages(self.tx, key, &record.job.local.pages)?;
        pages::add_signal_snapshots(self.tx, key, &record.signals)?;
        for prompt in &record.prompts {
            self.add_prompt(key, prompt)?;
        }
        job_rows::insert_events(self.tx, key, &record.events)?;
        if let Some(draft) = &record.draft {
            self.add_draft(scope, DraftTarget::FollowUp(key), draft, &[])?;
        }
        self.counts.jobs_added += 1;
        // `bump_revision_and_derive_columns` updates the columns that depend on prompts. A job without an id always
        // needs this update, because its first prompt may have been discarded, which `is_settled` doesn't detect.
        let is_settled =
            |prompt: &PromptRecord| !prompt.delivery.kind().blocks_later_prompts() && prompt.author.is_none();
        if record.job.id.is_none() || !record.prompts.iter().all(is_settled) {
            job_rows::bump_revision_and_derive_columns(self.tx, key)?;
        }
        Ok(key)
    }

    fn add_prompt(&mut self, key: JobKey, imported: &PromptRecord) -> StoreResult<()> {
        let delivery = merge_rules::delivery_after_import(&imported.delivery);
        self.counts.prompts_added += 1;
        self.counts.in_flight_prompts += u64::from(delivery != imported.delivery);
        // A queued prompt may already have been sent once, if it was queued again after a 429. Its copy counts as never
        // sent.
        let sent_at = imported.sent_at.filter(|_| !matches!(imported.delivery, Delivery::Queued { .. }));
        let state_at = self.state_entered_at(&delivery, imported);
        let id = prompts::insert_imported_prompt(
            self.tx,
            key,
            &PromptRecord { delivery, sent_at, state_at, ..imported.clone() },
        )?;
        match &imported.draft {
            Some(draft) => {
                self.add_draft(job_rows::job_scope_id(self.tx, key)?, DraftTarget::Prompt(id), draft, &[]).map(|_| ())
            }
            None => Ok(()),
        }
    }

    /// Returns the time at which the prompt entered the state `delivery`. If its state in the backup is different, the
    /// import changes the state, so the time is now.
    fn state_entered_at(&self, delivery: &Delivery, imported: &PromptRecord) -> Option<Time> {
        if *delivery == imported.delivery { imported.state_at } else { Some(self.now) }
    }

    fn merge_job(&mut self, job: Job, record: &JobRecord) -> StoreResult<Job> {
        let (tx, mut job) = (self.tx, job);
        let mut changed = false;
        if let (None, Some(id)) = (&job.id, &record.job.id) {
            jobs::assign_id(tx, &mut job, id)?;
            job.local.dismissed = record.job.local.dismissed;
            changed = true;
        }
        changed |= merge_rules::merge_service_data(&mut job, &record.job);
        let (has_new_texts, has_skipped) = merge_rules::merge_user_texts(&mut job, &record.job);
        self.counts.labels_skipped += u64::from(has_skipped);
        if has_new_texts {
            labels::write_labels(tx, &job)?;
        }
        changed |= has_new_texts | pages::add_pages(tx, job.key, &record.job.local.pages)?;
        pages::add_signal_snapshots(tx, job.key, &record.signals)?;
        let thread = prompts::read_thread(tx, job.key)?;
        changed |= self.merge_prompts(job.key, &thread.prompts, &record.prompts)?;
        let events = merge_rules::new_events(&thread.events, &record.events);
        job_rows::insert_events(tx, job.key, &events)?;
        changed |= !events.is_empty();
        if let Some(draft) = &record.draft {
            let scope = job_rows::job_scope_id(tx, job.key)?;
            changed |= self.add_draft(scope, DraftTarget::FollowUp(job.key), draft, &[])?;
        }
        if changed {
            self.counts.jobs_changed += 1;
            return job_rows::update_job(tx, &job);
        }
        self.counts.jobs_unchanged += 1;
        Ok(job)
    }

    fn merge_prompts(&mut self, key: JobKey, known: &[Prompt], imported: &[PromptRecord]) -> StoreResult<bool> {
        let mut changed = false;
        for (imported, pair) in imported.iter().zip(merge_rules::match_prompts(known, imported)) {
            let Some(known) = pair.and_then(|index| known.get(index)) else {
                self.add_prompt(key, imported)?;
                changed = true;
                continue;
            };
            match merge_rules::decide_merge(known, imported) {
                PromptMerge::Unchanged => {}
                PromptMerge::OtherPrompt => {
                    self.add_prompt(key, imported)?;
                    changed = true;
                    continue;
                }
                PromptMerge::Becomes(delivery) => {
                    let state_at = self.state_entered_at(&delivery, imported);
                    prompts::update_imported_prompt(
                        self.tx,
                        known.id,
                        &delivery,
                        &PromptRecord { state_at, ..imported.clone() },
                    )?;
                    changed = true;
                }
            }
            if let Some(draft) = &imported.draft {
                let scope = job_rows::job_scope_id(self.tx, key)?;
                changed |= self.add_draft(scope, DraftTarget::Prompt(known.id), draft, &[])?;
            }
        }
        Ok(changed)
    }

    fn import_draft(&mut self, record: &DraftRecord) -> StoreResult<()> {
        let scope = scopes::ensure_scope(self.tx, &record.scope)?;
        let (slot, pages) = match &record.purpose {
            DraftPurpose::NewJob => (DraftTarget::NewJob, &[][..]),
            DraftPurpose::AboutPages(pages) => (DraftTarget::AboutPages, pages.as_slice()),
            DraftPurpose::Batch => (DraftTarget::Batch, &[][..]),
        };
        self.add_draft(scope, slot, &record.draft, pages).map(|_| ())
    }

    /// Stores the draft if its slot is free. Returns whether the draft was stored.
    fn add_draft(
        &mut self,
        scope: i64,
        slot: DraftTarget,
        draft: &DraftText,
        pages: &[crate::model::text::CleanText],
    ) -> StoreResult<bool> {
        match drafts::find_draft(self.tx, scope, slot)? {
            None => {
                drafts::insert_draft(self.tx, scope, slot, &draft.text, pages, draft.saved_at)?;
                self.counts.drafts_added += 1;
                Ok(true)
            }
            Some((text, _)) => {
                self.counts.drafts_skipped += u64::from(text != draft.text);
                Ok(false)
            }
        }
    }
}
