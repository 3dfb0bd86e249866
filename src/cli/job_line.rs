//! A job as commands write it: its state in a word, and a table of many.

use super::out::{Out, rfc3339};
use super::table::{Set, TextCell, TextColumn, TextTable};
use crate::model::Time;
use crate::model::colors::ColorRole;
use crate::model::job_state::{JobState, NEEDS_YOU, pull_request, word};
use crate::model::row::{Job, JobGroup};

/// The word for a job's state, and the color role that it is written in.
pub(super) fn state(row: &Job) -> (&str, ColorRole) {
    let meaning = match JobState::of(row) {
        JobState::Unconfirmed | JobState::NotSent | JobState::Rejected => ColorRole::Warning,
        JobState::Completed => ColorRole::Good,
        JobState::Failed => ColorRole::Bad,
        JobState::Active | JobState::Other => ColorRole::Working,
        _ => ColorRole::Muted,
    };
    (word(row), meaning)
}

/// A job's id to be read; nothing for one that the service has not accepted.
pub(super) fn id(row: &Job) -> String {
    row.id.as_ref().map(|id| id.clean().to_string()).unwrap_or_default()
}

/// Writes rows as a table. Piped: id, state, link of the pull request, when that state began (empty if unknown), title.
pub(super) fn write_table<'a>(rows: impl IntoIterator<Item = &'a Job>, now: Time, out: &mut Out) {
    let column = |heading, set| TextColumn { heading, set };
    let mut table = TextTable::new(&[
        column("", Set::Seen),
        column("ID", Set::Id),
        column("STATE", Set::Left),
        column("PR", Set::Left),
        column("AGE", Set::Right),
        column("TITLE", Set::Flexible),
    ]);
    for row in rows {
        let (word, meaning) = state(row);
        let mark = if row.group() == JobGroup::NeedsYou { NEEDS_YOU } else { "" };
        let since = row.state_since();
        let link = row.pr_address().unwrap_or_default();
        table.row(vec![
            TextCell::new(ColorRole::Warning, mark),
            TextCell::new(ColorRole::Muted, id(row)),
            TextCell::new(meaning, word),
            TextCell::new(ColorRole::Text, pull_request(row).into_owned()).piped(link.as_str()),
            TextCell::new(ColorRole::Muted, since.map(|at| out.when(at, now)).unwrap_or_default())
                .piped(since.map(rfc3339).unwrap_or_default()),
            TextCell::new(ColorRole::Text, row.title.as_str()),
        ]);
    }
    table.write(out);
}
