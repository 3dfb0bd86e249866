//! `docdeck jobs`: the jobs known here. Reads the record alone: no key, no request.

use super::code::Code;
use super::desk::Record;
use super::job_line::{state, write_table};
use super::live::STATUSES;
use super::out::{Out, clean};
use super::refusal::Refusal;
use crate::app::format::plural;
use crate::config::Flags;
use crate::config::environment::Environment;
use crate::model::json;
use crate::model::prompt::{PromptKind, Thread};
use crate::model::row::{Group, JobRow};
use crate::store::{Store, StoreError};
use clap::Args;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// What `--json` gives.
pub(super) const JSON: &str = "\
With --json: {\"jobs\": [JOB, …]}. A JOB is the service's object (id, status, source {repository, ref}, model, prLink, \
createdAt, archivedAt) plus title, prompt, tags, pages, delivery. What is not known is null. delivery is accepted, or \
how a prompt of the job stands that is not through: queued, paused, sending, not sent, rejected, unconfirmed.

Any command with --json that fails writes an object with error (the sentence on stderr) and exitCode.

Piped, a line a job: id, state, link of the pull request, time, title, apart by tabs.

Exit code: 0 listed, be there jobs or not; 2 usage, configuration or store.";

/// Which of them.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Only these: active, completed, archived, failed, any other word of the service, a delivery (unconfirmed, queued,
    /// …), or a group (needs-you, working, done, dismissed)
    #[arg(long, value_name = "S", add = super::live::statuses())]
    status: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Lists them.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, Refusal> {
    Record::with(flags, environment, out, async |record, out| list(record, options, out).await).await
}

async fn list(record: &Record, options: &Options, out: &mut Out) -> Result<Code, Refusal> {
    let all = record.store.jobs(&record.scope).await?;
    let known = all.len();
    let (mut rows, others): (Vec<JobRow>, Vec<JobRow>) = match &options.status {
        Some(wanted) => all.into_iter().partition(|row| is(row, wanted)),
        None => all.into_iter().partition(|row| row.group() != Group::Dismissed),
    };
    rows.sort_by_key(|row| (row.group(), Reverse(row.age_from()), Reverse(row.key)));
    if options.json {
        let jobs = as_json(&record.store, &rows).await?;
        out.json(&serde_json::json!({ "jobs": jobs }));
    } else {
        write_table(&rows, chrono::Utc::now(), out);
    }
    // A word that only the service may know is said wherever nothing has it: it may be a slip. A program that asks for what
    // is known needs no more than an empty list.
    let is_terminal = out.is_terminal() && !options.json;
    match &options.status {
        Some(wanted) if rows.is_empty() && known > 0 && (is_terminal || !is_known(wanted)) => {
            let (wanted, words) = (clean(wanted), words(&others).join(", "));
            out.note(&format!("None of the {} known here is {wanted}. What they are: {words}.", plural(known, "job")));
        }
        _ if !is_terminal => {}
        _ if known == 0 => {
            out.note("No job is known on this computer. `docdeck new` makes one, `docdeck track` takes one in.");
        }
        None if !others.is_empty() => {
            out.note(&format!("{} put away: --status dismissed lists them.", plural(others.len(), "job")));
        }
        _ => {}
    }
    Ok(Code::Done)
}

/// Whether docdeck itself has such a word.
fn is_known(wanted: &str) -> bool {
    STATUSES.iter().any(|(word, _)| plain(word) == plain(wanted))
}

/// All words by which these jobs can be listed, each once: statuses and deliveries, then groups.
fn words(rows: &[JobRow]) -> Vec<String> {
    let states = rows.iter().map(|row| state(row).0.to_owned()).collect::<BTreeSet<_>>();
    let groups = rows.iter().map(JobRow::group).collect::<BTreeSet<_>>();
    let groups = groups.into_iter().map(|group| group.name().replace(' ', "-"));
    states.into_iter().map(|word| clean(word).to_string()).chain(groups).collect()
}

/// Whether a word says something about the job: its status, its delivery or its group.
fn is(row: &JobRow, wanted: &str) -> bool {
    let same = |word: &str| plain(word) == plain(wanted);
    let status = row.status.as_ref().is_some_and(|status| same(status.word()));
    (status && !row.gone) || same(state(row).0) || same(row.group().name())
}

/// A word whatever its case and what parts it.
fn plain(word: &str) -> String {
    word.trim().to_lowercase().replace(['-', '_'], " ")
}

/// Jobs as JSON, each with the prompt that created it.
pub(super) async fn as_json(store: &Store, rows: &[JobRow]) -> Result<Vec<Value>, StoreError> {
    let mut jobs = Vec::with_capacity(rows.len());
    for row in rows {
        let thread = store.thread(row.key).await?;
        jobs.push(json::job(row, created_by(&thread)));
    }
    Ok(jobs)
}

/// The prompt that created the job.
pub(super) fn created_by(thread: &Thread) -> Option<&str> {
    thread.prompts.iter().find(|prompt| prompt.kind == PromptKind::Create).map(|prompt| prompt.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;
    use crate::model::job::{JobId, Status};
    use crate::model::prompt::DeliveryKind;
    use crate::model::row::JobKey;
    use crate::model::text::CleanText;

    #[test]
    fn a_status_a_delivery_and_a_group_are_words_to_list_by() {
        let mut row = JobRow::new(JobKey(1), CleanText::line("Job"), Time::default());
        row.id = JobId::new("j1");
        row.status = Some(Status::Failed);
        let words = |row: &JobRow| {
            let all = ["failed", "FAILED", "needs-you", "needs you", "done", "not_sent", "gone", "active"];
            all.into_iter().filter(|word| is(row, word)).collect::<Vec<_>>()
        };
        assert_eq!(words(&row), ["failed", "FAILED", "needs-you", "needs you"]);
        row.undelivered = Some(DeliveryKind::NotSent);
        assert_eq!(words(&row), ["failed", "FAILED", "needs-you", "needs you", "not_sent"]);
        row.undelivered = None;
        row.gone = true;
        assert_eq!(words(&row), ["done", "gone"]);
    }
}
