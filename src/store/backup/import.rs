//! Taking lines in, one transaction for all: what is new is added, what is known is joined by the model's rules.

use super::lines::{BackupReader, ImportError};
use super::{ExportFilter, Imported};
use crate::model::Time;
use crate::model::backup::join::{self, PromptReport};
use crate::model::backup::{BackupLine, DraftOf, DraftRecord, DraftText, JobRecord, PromptRecord};
use crate::model::prompt::{Delivery, DraftSlot, Prompt, PromptKind};
use crate::model::row::{Job, JobKey};
use crate::store::error::StoreError;
use crate::store::{drafts, jobs, labels, pages, prompts, scopes};
use rusqlite::{Connection, Transaction};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::BufRead;

type R<T> = Result<T, StoreError>;

/// Takes in all lines.
pub(super) fn import(
    tx: &Transaction<'_>,
    from: impl BufRead,
    only: &ExportFilter,
    now: Time,
) -> Result<Imported, ImportError> {
    let mut lines = BackupReader::new(from, now);
    let mut import = Import { tx, done: Imported::default(), known: KnownJobs::read(tx)?, now };
    while let Some(line) = lines.next()? {
        match line {
            BackupLine::Job(record) if only.includes(&record.scope) => import.job(*record)?,
            BackupLine::Draft(record) if only.includes(&record.scope) => import.draft_alone(&record)?,
            BackupLine::Header(_) | BackupLine::Job(_) | BackupLine::Draft(_) => {}
            BackupLine::End(_) => import.done.has_end = true,
        }
    }
    Ok(import.done)
}

/// A job that was in the store before the import.
#[derive(Debug)]
struct Candidate {
    key: JobKey,
    has_id: bool,
    /// Hash of the text of its prompt, so that jobs of the same moment need not be read one after the other.
    text: u64,
}

/// Jobs by the moment at which the prompt that creates them was written: what tells them apart before they have an id.
#[derive(Debug, Default)]
struct KnownJobs {
    by_prompt: HashMap<(i64, i64), Vec<Candidate>>,
    /// Jobs that a line of this file was found to be.
    found: HashSet<JobKey>,
}

impl KnownJobs {
    fn read(connection: &Connection) -> R<Self> {
        let mut known = Self::default();
        let mut ask = connection.prepare(
            "SELECT job.scope, prompt.written_at, job.key, job.id IS NOT NULL, prompt.text
             FROM prompt JOIN job ON job.key = prompt.job
             WHERE prompt.kind = 'create' ORDER BY job.id IS NOT NULL, job.key",
        )?;
        let mut rows = ask.query([])?;
        while let Some(row) = rows.next()? {
            let text = hash(row.get_ref(4)?.as_str().unwrap_or_default());
            let candidate = Candidate { key: JobKey(row.get(2)?), has_id: row.get(3)?, text };
            known.by_prompt.entry((row.get(0)?, row.get(1)?)).or_default().push(candidate);
        }
        Ok(known)
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

struct Import<'a> {
    tx: &'a Transaction<'a>,
    done: Imported,
    known: KnownJobs,
    now: Time,
}

impl Import<'_> {
    fn job(&mut self, record: JobRecord) -> R<()> {
        let scope = scopes::ensure(self.tx, &record.scope)?;
        let key = match self.find(scope, &record)? {
            None => self.add(scope, &record)?,
            Some(row) => self.join(row, &record)?.key,
        };
        self.known.found.insert(key);
        Ok(())
    }

    /// The row that is this job: by the service's id, or by the prompt that creates it. Where one row has the id and
    /// another one, still without an id, has the prompt, it is the latter: joining takes the former into it.
    fn find(&self, scope: i64, record: &JobRecord) -> R<Option<Job>> {
        let by_id = match &record.row.id {
            Some(id) => jobs::find_by_id(self.tx, scope, id)?,
            None => None,
        };
        let Some(told) = record.prompts.iter().find(|prompt| prompt.kind == PromptKind::Create) else {
            return Ok(by_id);
        };
        if let Some(row) = &by_id
            && self.has_prompt(row.key, told)?
        {
            return Ok(by_id);
        }
        Ok(self.find_by_prompt(scope, record, told)?.or(by_id))
    }

    fn find_by_prompt(&self, scope: i64, record: &JobRecord, told: &PromptRecord) -> R<Option<Job>> {
        let moment = (scope, told.written_at.timestamp_millis());
        let candidates = self.known.by_prompt.get(&moment).map_or(&[][..], Vec::as_slice);
        let text = hash(&told.text);
        let only_one = candidates.len() == 1;
        // An id stays: two jobs with an id each are two.
        let may_be =
            |known: &&Candidate| !(known.has_id && record.row.id.is_some()) && (known.text == text || only_one);
        let mut of_that_moment = None;
        for candidate in candidates.iter().filter(may_be) {
            let Some(row) = jobs::find(self.tx, jobs::current(self.tx, candidate.key)?)? else { continue };
            if self.known.found.contains(&row.key) || (row.id.is_some() && record.row.id.is_some()) {
                continue;
            }
            if self.has_prompt(row.key, told)? {
                return Ok(Some(row));
            }
            of_that_moment = Some(row);
        }
        // The only one of that moment: its text was changed on one side.
        let Some(row) = of_that_moment.filter(|_| only_one) else { return Ok(None) };
        let thread = prompts::thread(self.tx, row.key)?;
        let mut known = thread.prompts.iter().filter(|known| known.kind == PromptKind::Create);
        let is_it = known.any(|known| join::outcome(known, told) != PromptReport::Another);
        Ok(is_it.then_some(row))
    }

    fn has_prompt(&self, key: JobKey, told: &PromptRecord) -> R<bool> {
        let is_it =
            |known: &Prompt| (known.kind, known.written_at, &known.text) == (told.kind, told.written_at, &told.text);
        Ok(prompts::thread(self.tx, key)?.prompts.iter().any(is_it))
    }

    fn add(&mut self, scope: i64, record: &JobRecord) -> R<JobKey> {
        let name = if record.row.has_own_title { &record.name() } else { &record.row.title };
        let key = jobs::insert_whole(self.tx, scope, name, &record.row)?;
        pages::write(self.tx, key, &record.row.pages)?;
        for prompt in &record.prompts {
            self.add_prompt(key, prompt)?;
        }
        jobs::record(self.tx, key, &record.events)?;
        if let Some(draft) = &record.draft {
            self.draft(scope, DraftSlot::FollowUp(key), draft, &[])?;
        }
        self.done.jobs_added += 1;
        // A prompt for a job that was discarded counts as well, if it has no id.
        let is_settled = |prompt: &PromptRecord| !prompt.delivery.kind().holds_the_rest();
        if record.row.id.is_none() || !record.prompts.iter().all(is_settled) {
            jobs::touch(self.tx, key)?;
        }
        Ok(key)
    }

    fn add_prompt(&mut self, key: JobKey, told: &PromptRecord) -> R<()> {
        let delivery = join::arrived(&told.delivery);
        self.done.prompts_added += 1;
        self.done.in_flight += u64::from(delivery != told.delivery);
        // One that was never sent from there is a mere copy here.
        let sent_at = told.sent_at.filter(|_| !matches!(told.delivery, Delivery::Queued { .. }));
        let state_at = self.state_at(&delivery, told);
        let id = prompts::take_in(self.tx, key, &PromptRecord { delivery, sent_at, state_at, ..told.clone() })?;
        match &told.draft {
            Some(draft) => self.draft(jobs::scope_of(self.tx, key)?, DraftSlot::Prompt(id), draft, &[]).map(|_| ()),
            None => Ok(()),
        }
    }

    /// When a prompt entered its state: one that is unconfirmed only here became that now.
    fn state_at(&self, delivery: &Delivery, told: &PromptRecord) -> Option<Time> {
        if *delivery == told.delivery { told.state_at } else { Some(self.now) }
    }

    fn join(&mut self, row: Job, record: &JobRecord) -> R<Job> {
        let (tx, mut row) = (self.tx, row);
        let mut changed = false;
        if let (None, Some(id)) = (&row.id, &record.row.id) {
            jobs::join_id(tx, &mut row, id)?;
            row.dismissed = record.row.dismissed;
            changed = true;
        }
        changed |= join::take_facts(&mut row, &record.row);
        let (has_words, left_out) = join::take_words(&mut row, &record.row);
        self.done.words_left_out += u64::from(left_out);
        if has_words {
            labels::write(tx, &row)?;
        }
        changed |= has_words | pages::add(tx, row.key, &record.row.pages)?;
        let thread = prompts::thread(tx, row.key)?;
        changed |= self.join_prompts(row.key, &thread.prompts, &record.prompts)?;
        let events = join::new_events(&thread.events, &record.events);
        jobs::record(tx, row.key, &events)?;
        changed |= !events.is_empty();
        if let Some(draft) = &record.draft {
            let scope = jobs::scope_of(tx, row.key)?;
            changed |= self.draft(scope, DraftSlot::FollowUp(row.key), draft, &[])?;
        }
        if changed {
            self.done.jobs_changed += 1;
            return jobs::put(tx, &row);
        }
        self.done.jobs_unchanged += 1;
        Ok(row)
    }

    fn join_prompts(&mut self, key: JobKey, known: &[Prompt], told: &[PromptRecord]) -> R<bool> {
        let mut changed = false;
        for (told, pair) in told.iter().zip(join::pairs(known, told)) {
            let Some(known) = pair.and_then(|place| known.get(place)) else {
                self.add_prompt(key, told)?;
                changed = true;
                continue;
            };
            match join::outcome(known, told) {
                PromptReport::Nothing => {}
                PromptReport::Another => {
                    self.add_prompt(key, told)?;
                    changed = true;
                    continue;
                }
                PromptReport::Becomes(delivery) => {
                    let state_at = self.state_at(&delivery, told);
                    prompts::becomes(self.tx, known.id, &delivery, &PromptRecord { state_at, ..told.clone() })?;
                    changed = true;
                }
            }
            if let Some(draft) = &told.draft {
                let scope = jobs::scope_of(self.tx, key)?;
                changed |= self.draft(scope, DraftSlot::Prompt(known.id), draft, &[])?;
            }
        }
        Ok(changed)
    }

    fn draft_alone(&mut self, record: &DraftRecord) -> R<()> {
        let scope = scopes::ensure(self.tx, &record.scope)?;
        let (slot, pages) = match &record.of {
            DraftOf::NewJob => (DraftSlot::NewJob, &[][..]),
            DraftOf::AboutPages(pages) => (DraftSlot::AboutPages, pages.as_slice()),
            DraftOf::Batch => (DraftSlot::Batch, &[][..]),
        };
        self.draft(scope, slot, &record.draft, pages).map(|_| ())
    }

    /// Puts the draft into its place if that is free. Whether it did.
    fn draft(
        &mut self,
        scope: i64,
        slot: DraftSlot,
        draft: &DraftText,
        about: &[crate::model::text::CleanText],
    ) -> R<bool> {
        match drafts::text_of(self.tx, scope, slot)? {
            None => {
                drafts::insert(self.tx, scope, slot, &draft.text, about, draft.saved_at)?;
                self.done.drafts_added += 1;
                Ok(true)
            }
            Some(text) => {
                self.done.drafts_left_out += u64::from(text != draft.text);
                Ok(false)
            }
        }
    }
}
