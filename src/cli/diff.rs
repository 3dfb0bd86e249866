//! `docdeck diff`: prints the changes of a job's pull request.

use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use super::pull_requests::{configured_hosts, find_target, pull_requests_disabled_error};
use super::session::{CommandContext, StoreSession};
use super::table::{ColumnKind, TextCell, TextColumn, table_lines};
use crate::engine::{DiffLoad, LinkedPullRequest};
use crate::model::colors::ColorRole;
use crate::model::diff::{Diff, DiffFile, FileContent, LineKind};
use crate::model::number_format::grouped_number;
use crate::model::pull_request::short_commit;
use crate::model::text::CleanText;
use crate::runtime::hosts::ConfiguredHosts;
use crate::store::StoredDiff;
use clap::Args;

/// Help text about the requests, the output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
Asks GitHub (two requests) or GitLab (one request) for the state of the pull request, and loads the diff only if there \
are new commits since it was last loaded. If that fails, prints the last loaded diff. Uses the same tokens as `docdeck \
pr`.

When piped, it prints a unified diff as Git writes it, without control characters. At most 10 MiB are read; a note on \
stderr says if files are missing. With --stat, piped output is one line per file, with tab-separated fields: path, \
change (added, deleted, modified, renamed, copied), added lines, removed lines.

Exit codes: 0 printed; 2 usage, configuration or database error; 4 no such job, the job has no pull request, or the \
pull request could not be read (the last loaded diff, if any, is still printed).";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// id of a tracked job, or a unique prefix of it
    #[arg(value_name = "ID", add = super::completion_candidates::job_ids())]
    id: String,
    /// print a diffstat instead of the diff
    #[arg(long)]
    stat: bool,
}

/// Runs `docdeck diff`.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    let Some(hosts) = configured_hosts(cx)? else { return Err(pull_requests_disabled_error()) };
    let session = cx.open_store(true)?;
    let done = load_and_print(&session, &hosts, options, cx.out).await;
    session.close().await;
    done
}

async fn load_and_print(
    session: &StoreSession,
    hosts: &ConfiguredHosts,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let target = match find_target(session, hosts, &options.id).await? {
        Ok(target) => target,
        Err(problem) => {
            out.note(&problem);
            return Ok(Code::Service);
        }
    };
    let linked = &target.linked;
    let problem = match &target.client {
        Err(problem) => problem.clone(),
        Ok(client) => match DiffLoad::run(&session.store, client, linked, None).await.result {
            Ok(diff) => {
                print(&diff, options, out);
                return Ok(Code::Done);
            }
            Err(failure) => failure.message.to_string(),
        },
    };
    if let Some(diff) = stored_diff(session, linked).await? {
        print(&diff, options, out);
        let head = short_commit(&diff.head);
        out.note(&format!("This is the diff of commit {head}; newer changes could not be read."));
    }
    out.note(&problem);
    Ok(Code::Service)
}

async fn stored_diff(session: &StoreSession, linked: &LinkedPullRequest) -> Result<Option<StoredDiff>, CliError> {
    let Some((_, link)) = linked.jobs.first() else { return Ok(None) };
    Ok(session.store.diff(link).await?)
}

fn print(stored: &StoredDiff, options: &Options, out: &mut Out) {
    if options.stat || out.stdout_is_terminal() {
        let diff = Diff::parse(stored.text.clone());
        match options.stat {
            true => write_diffstat(&diff, out),
            false => write_lines(&diff, out),
        }
    } else {
        out.write(&stored.text);
    }
    if stored.is_truncated {
        out.note("The diff is larger than 10 MiB. The files at its end are missing.");
    }
}

/// Writes the diff with colours, without the control characters that it may contain.
fn write_lines(diff: &Diff, out: &mut Out) {
    let mut lines = Vec::new();
    for file in &diff.files {
        lines.push(out.paint(ColorRole::Title, &file_heading(file)));
        for hunk in &file.hunks {
            let section = CleanText::line(diff.heading(hunk));
            lines
                .push(out.paint(ColorRole::Muted, &format!("@@ -{} +{} @@ {section}", hunk.old_start, hunk.new_start)));
            for line in diff.lines().get(hunk.lines.clone()).unwrap_or_default() {
                let (sign, role) = match line.kind {
                    LineKind::Context => (' ', ColorRole::Text),
                    LineKind::Added => ('+', ColorRole::Good),
                    LineKind::Removed => ('-', ColorRole::Bad),
                };
                let text = CleanText::block(diff.line_text(line)).to_string().replace('\n', " ");
                lines.push(out.paint(role, &format!("{sign}{text}")));
            }
        }
    }
    out.print_lines(&lines);
}

fn file_heading(file: &DiffFile) -> String {
    let old = file.old_path.as_ref().map(|old| format!("{old} → ")).unwrap_or_default();
    let content = match file.content {
        FileContent::Complete => "",
        FileContent::Binary => ", binary",
        FileContent::Missing => ", lines not reported by the host",
    };
    format!("{old}{} ({}{content})", file.path, file.change.word())
}

fn write_diffstat(diff: &Diff, out: &mut Out) {
    let count = |role: ColorRole, sign: char, count: u32| {
        let piped = count.to_string();
        TextCell::new(role, format!("{sign}{}", grouped_number(count))).with_piped_text(piped)
    };
    let columns = [
        TextColumn::new("FILE", ColumnKind::Flexible { min: 20 }, |file: &&DiffFile, _| {
            TextCell::new(ColorRole::Text, file.path.as_str())
        }),
        TextColumn::new("CHANGE", ColumnKind::Left, |file: &&DiffFile, _| {
            TextCell::new(ColorRole::Muted, file.change.word())
        }),
        TextColumn::new("+", ColumnKind::Right, move |file: &&DiffFile, _| count(ColorRole::Good, '+', file.additions)),
        TextColumn::new("−", ColumnKind::Right, move |file: &&DiffFile, _| {
            count(ColorRole::Bad, '−', file.deletions)
        }),
    ];
    let lines = table_lines(&columns, &diff.files.iter().collect::<Vec<_>>(), out);
    out.print_lines(&lines);
}
