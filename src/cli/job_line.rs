//! A job as commands write it: its state in a word, and a table of many.

use super::out::{Out, rfc3339};
use super::table::{Cell, Column, Set, Table};
use crate::model::Time;
use crate::model::job::Status;
use crate::model::palette::Meaning;
use crate::model::row::{Group, JobRow};

/// Where a job stands, in a word: how a prompt of it that is not through stands, else what the service says.
pub(super) fn state(row: &JobRow) -> (&str, Meaning) {
    if let Some(kind) = row.undelivered {
        return (kind.word(), if kind.needs_user() { Meaning::Warning } else { Meaning::Muted });
    }
    if row.gone {
        return ("gone", Meaning::Muted);
    }
    if row.id.is_none() {
        return ("let go", Meaning::Muted);
    }
    match &row.status {
        Some(status @ Status::Completed) => (status.word(), Meaning::Good),
        Some(status @ Status::Failed) => (status.word(), Meaning::Bad),
        Some(status @ Status::Archived) => (status.word(), Meaning::Muted),
        Some(status) => (status.word(), Meaning::Working),
        None => ("not seen yet", Meaning::Muted),
    }
}

/// The pull request, as short as it can be named.
pub(super) fn pull_request(row: &JobRow) -> String {
    match (row.pr_number(), &row.pr_link) {
        (Some(number), _) => format!("PR {number}"),
        (None, Some(_)) => "PR".to_owned(),
        (None, None) => String::new(),
    }
}

/// A job's id to be read; nothing for one that the service has not accepted.
pub(super) fn id(row: &JobRow) -> String {
    row.id.as_ref().map(|id| id.clean().to_string()).unwrap_or_default()
}

/// Writes rows as a table. Piped: id, state, link of the pull request, when it was last set to work or finished, title.
pub(super) fn write_table<'a>(rows: impl IntoIterator<Item = &'a JobRow>, now: Time, out: &mut Out) {
    let column = |heading, set| Column { heading, set };
    let mut table = Table::new(&[
        column("", Set::Seen),
        column("ID", Set::Id),
        column("STATE", Set::Left),
        column("PR", Set::Left),
        column("AGE", Set::Right),
        column("TITLE", Set::Flexible),
    ]);
    for row in rows {
        let (word, meaning) = state(row);
        let mark = if row.group() == Group::NeedsYou { "●" } else { "" };
        let from = row.age_from();
        let link = row.pr_address().unwrap_or_default();
        table.row(vec![
            Cell::new(Meaning::Warning, mark),
            Cell::new(Meaning::Muted, id(row)),
            Cell::new(meaning, word),
            Cell::new(Meaning::Text, pull_request(row)).piped(link.as_str()),
            Cell::new(Meaning::Muted, out.when(from, now)).piped(rfc3339(from)),
            Cell::new(Meaning::Text, row.title.as_str()),
        ]);
    }
    table.write(out);
}
