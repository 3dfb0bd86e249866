//! `docdeck jobs`: lists the tracked jobs from the store. Needs no key and sends no request.

use super::blank_check::parse_non_blank;
use super::error::CliError;
use super::exit_code::Code;
use super::job_format::{jobs_json, write_job_table};
use super::out::{Out, clean_line};
use super::session::StoreSession;
use crate::model::job::{Job, JobGroup};
use crate::model::job_state::{known_filter_words, normalize_word, starts_with_normalized, state_words};
use crate::tui::format::plural;
use clap::Args;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Help text about the output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
With --json: {\"jobs\": [JOB, …]}. A JOB is the service's object {\"id\", \"status\", \"source\": \
{\"repository\", \"ref\"}, \"model\", \"prLink\", \"createdAt\", \"archivedAt\"} plus \"title\", \"prompt\", \
\"author\", \"tags\", \"pages\", \"delivery\" and \"pullRequest\" (as in `docdeck pr --help`). Unknown values are null. \
\"author\": the member of the team who started the job, null if it was started on this computer. \"delivery\": accepted, or the state of an undelivered \
prompt: queued, paused, sending, not sent, rejected, unconfirmed, discarded.

If a command with --json fails, it writes an object with \"error\" (the message on stderr) and \"exitCode\".

When piped, it prints one line per job, with tab-separated fields: id, state, pull request URL, the time at which the \
job entered that state (empty if unknown), title.

Exit codes: 0 listed, even if no job matches; 2 unknown status, usage, configuration or database error.";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// list only jobs in this state: a status of the service (active, completed, archived, failed, …), a delivery
    /// state of its prompt (unconfirmed, queued, …) or a group (needs-you, working, done, dismissed)
    #[arg(long, value_name = "S", add = super::completion_candidates::statuses())]
    status: Option<String>,
    /// list only jobs that this member of the team started; the start of the name is enough
    #[arg(long, value_name = "NAME", value_parser = parse_non_blank, conflicts_with = "mine",
          add = super::completion_candidates::authors())]
    by: Option<String>,
    /// list only your own jobs, not those that other members of the team started
    #[arg(long)]
    mine: bool,
    /// print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs `docdeck jobs`.
pub(super) async fn run(session: &StoreSession, options: &Options, out: &mut Out) -> Result<Code, CliError> {
    let all = session.store.jobs(&session.scope).await?;
    let known = all.len();
    if let Some(wanted) = &options.status {
        check_status(wanted, &all)?;
    }
    let author = options.by.as_deref().map(normalize_word);
    let of_author = |row: &Job| match (&author, row.author()) {
        (Some(start), author) => author.is_some_and(|name| starts_with_normalized(name.as_str(), start)),
        (None, author) => !options.mine || author.is_none(),
    };
    let all = all.into_iter().filter(of_author);
    let (mut rows, others): (Vec<Job>, Vec<Job>) = match &options.status {
        Some(wanted) => all.partition(|row| has_status_word(row, wanted)),
        None => all.partition(|row| row.group() != JobGroup::Dismissed),
    };
    rows.sort_by_key(|row| (row.group(), Reverse(row.sort_time()), Reverse(row.key)));
    if options.json {
        let jobs = jobs_json(&session.store, &rows).await?;
        out.print_json(&serde_json::json!({ "jobs": jobs }));
    } else {
        write_job_table(&rows, chrono::Utc::now(), out);
    }
    if out.stdout_is_terminal() && !options.json && options.status.is_none() {
        if known == 0 {
            out.note("No jobs yet. Create one with `docdeck new`, or add one with `docdeck track ID`.");
        } else if !others.is_empty() {
            out.note(&format!("{} dismissed: list them with --status dismissed.", plural(others.len(), "job")));
        }
    }
    Ok(Code::Done)
}

/// Checks that the word `wanted` is a built-in status or describes one of the jobs.
///
/// # Errors
/// Fails if `wanted` is probably a typing mistake. Without this error, the user would see an empty list and no reason
/// for it.
fn check_status(wanted: &str, jobs: &[Job]) -> Result<(), CliError> {
    let built_in: Vec<String> = known_filter_words().map(|(word, _)| word).collect();
    if built_in.iter().any(|word| is_same_word(word, wanted)) || jobs.iter().any(|job| has_status_word(job, wanted)) {
        return Ok(());
    }
    let others =
        jobs.iter().flat_map(state_words).filter(|word| !built_in.iter().any(|known| is_same_word(known, word)));
    let others: BTreeSet<String> = others.map(|word| clean_line(word).to_string()).collect();
    let valid: Vec<String> = built_in.into_iter().chain(others).collect();
    Err(CliError::local_error(format!("Unknown status “{}”; valid: {}.", clean_line(wanted), valid.join(", "))))
}

/// Whether a word describes the job: its status, its delivery or its group.
fn has_status_word(job: &Job, wanted: &str) -> bool {
    state_words(job).any(|word| is_same_word(word, wanted))
}

/// Whether two words are equal if case and separators are ignored.
fn is_same_word(one: &str, other: &str) -> bool {
    normalize_word(one) == normalize_word(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;
    use crate::model::job::JobKey;
    use crate::model::prompt::DeliveryKind;
    use crate::model::remote_job::{JobId, Status};
    use crate::model::text::CleanText;

    #[test]
    fn jobs_are_listed_by_status_delivery_and_group() {
        let mut row = Job::new(JobKey(1), CleanText::line("Job"), Time::default());
        row.id = JobId::new("j1");
        row.remote.status = Some(Status::Failed);
        let words = |row: &Job| {
            let all = ["failed", "FAILED", "needs-you", "needs you", "done", "not_sent", "gone", "active"];
            all.into_iter().filter(|word| has_status_word(row, word)).collect::<Vec<_>>()
        };
        assert_eq!(words(&row), ["failed", "FAILED", "needs-you", "needs you"]);
        row.local.undelivered = Some(DeliveryKind::NotSent);
        assert_eq!(words(&row), ["failed", "FAILED", "needs-you", "needs you", "not_sent"]);
        row.local.undelivered = None;
        assert!(check_status("typo", std::slice::from_ref(&row)).is_err());
        row.local.gone = true;
        assert_eq!(words(&row), ["done", "gone"]);
    }
}
