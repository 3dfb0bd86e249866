//! Formats jobs for the output of commands: the state as a word, the id, and a table of jobs.

use super::out::{Out, rfc3339_seconds};
use super::table::{ColumnKind, TextCell, TextColumn, TextTable};
use crate::model::Time;
use crate::model::colors::ColorRole;
use crate::model::job_state::{JobState, NEEDS_YOU, pull_request_label, state_word};
use crate::model::row::{Job, JobGroup};

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
    row.id.as_ref().map(|id| id.clean().to_string()).unwrap_or_default()
}

/// Writes jobs as a table. In a pipe, the columns are: id, state, pull request URL, start of the state (empty if
/// unknown), title.
pub(super) fn write_job_table<'a>(rows: impl IntoIterator<Item = &'a Job>, now: Time, out: &mut Out) {
    let column = |heading, kind| TextColumn { heading, kind };
    let mut table = TextTable::new(&[
        column("", ColumnKind::TerminalOnly),
        column("ID", ColumnKind::Id),
        column("STATE", ColumnKind::Left),
        column("PR", ColumnKind::Left),
        column("AGE", ColumnKind::Right),
        column("TITLE", ColumnKind::Flexible),
    ]);
    for row in rows {
        let (word, role) = state_and_role(row);
        let mark = if row.group() == JobGroup::NeedsYou { NEEDS_YOU } else { "" };
        let since = row.state_since();
        let link = row.pr_url().unwrap_or_default();
        table.add_row(vec![
            TextCell::new(ColorRole::Warning, mark),
            TextCell::new(ColorRole::Muted, id_text(row)),
            TextCell::new(role, word),
            TextCell::new(ColorRole::Text, pull_request_label(row).into_owned()).with_piped_text(link.as_str()),
            TextCell::new(ColorRole::Muted, since.map(|at| out.format_time(at, now)).unwrap_or_default())
                .with_piped_text(since.map(rfc3339_seconds).unwrap_or_default()),
            TextCell::new(ColorRole::Text, row.title.as_str()),
        ]);
    }
    table.write(out);
}
