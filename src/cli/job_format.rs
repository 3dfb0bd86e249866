//! Formats jobs for the output of commands: the state as a word, the id, a table of jobs, and jobs as JSON.

use super::out::{Out, rfc3339_seconds};
use super::table::{ColumnKind, TextCell, TextColumn, table_lines};
use crate::model::Time;
use crate::model::colors::ColorRole;
use crate::model::job::{Job, JobGroup};
use crate::model::job_state::{JobState, NEEDS_YOU_SYMBOL, pull_request_label, state_word};
use crate::model::json;
use crate::model::text::CleanText;
use crate::store::{Store, StoreError};
use serde_json::Value;

/// Returns the word for a job's state, and its colour role.
pub(super) fn state_and_role(row: &Job) -> (&str, ColorRole) {
    let role = match JobState::of(row) {
        JobState::Unconfirmed | JobState::NotSent | JobState::Rejected => ColorRole::Warning,
        JobState::Completed => ColorRole::Good,
        JobState::Failed => ColorRole::Bad,
        JobState::Active | JobState::Other => ColorRole::Working,
        _ => ColorRole::Muted,
    };
    (state_word(row), role)
}

/// Returns the job's id as clean text. The text is empty if the service has not accepted the job.
pub(super) fn id_text(row: &Job) -> String {
    row.id.as_ref().map(|id| id.to_clean_text().to_string()).unwrap_or_default()
}

/// Writes jobs as a table. In a pipe, the columns are: id, state, pull request URL, the time at which the job entered
/// the state (empty if unknown), title.
pub(super) fn write_job_table<'a>(rows: impl IntoIterator<Item = &'a Job>, now: Time, out: &mut Out) {
    let rows: Vec<&Job> = rows.into_iter().collect();
    let mut columns = vec![
        TextColumn::new("", ColumnKind::Left, |row: &&Job, _| {
            TextCell::new(ColorRole::Warning, if row.group() == JobGroup::NeedsYou { NEEDS_YOU_SYMBOL } else { "" })
        })
        .only_on_terminal(),
        TextColumn::new("ID", ColumnKind::Id, |row: &&Job, _| TextCell::new(ColorRole::Muted, id_text(row))),
        TextColumn::new("STATE", ColumnKind::Left, |row: &&Job, _| {
            let (word, role) = state_and_role(row);
            TextCell::new(role, word)
        }),
        TextColumn::new("PR", ColumnKind::Left, |row: &&Job, _| {
            let link = row.pr_url().unwrap_or_default();
            TextCell::new(ColorRole::Text, pull_request_label(row)).with_piped_text(link.as_str())
        }),
        TextColumn::new("AGE", ColumnKind::Right, |row: &&Job, out| {
            let since = row.state_since();
            TextCell::new(ColorRole::Muted, since.map(|at| out.format_time(at, now)).unwrap_or_default())
                .with_piped_text(since.map(rfc3339_seconds).unwrap_or_default())
        }),
        TextColumn::new("TITLE", ColumnKind::Flexible { min: 12 }, |row: &&Job, _| {
            TextCell::new(ColorRole::Text, row.local.title.as_str())
        }),
    ];
    if rows.iter().any(|row| row.author().is_some()) {
        let author = |row: &&Job, _: &Out| TextCell::new(ColorRole::Muted, row.author().map_or("", CleanText::as_str));
        columns.insert(columns.len() - 1, TextColumn::new("BY", ColumnKind::Left, author).only_on_terminal());
    }
    let lines = table_lines(&columns, &rows, out);
    out.print_lines(&lines);
}

/// Returns the jobs as JSON, each with the prompt that created it.
pub(super) async fn jobs_json(store: &Store, rows: &[Job]) -> Result<Vec<Value>, StoreError> {
    let mut jobs = Vec::with_capacity(rows.len());
    for row in rows {
        let thread = store.thread(row.key).await?;
        jobs.push(json::job_object(row, thread.creation_prompt()));
    }
    Ok(jobs)
}
