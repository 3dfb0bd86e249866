//! `docdeck export`: writes all local jobs and drafts as JSON Lines. Needs neither key nor network, and reads no
//! configuration file.

use super::data_folder::{cli_store_error, open_undamaged, store_exists};
use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use super::session::CommandContext;
use crate::config::{GlobalOptions, data_folder};
use crate::runtime::new_file::{replace_file, write_new_file};
use crate::store::{ExportCounts, ScopeFilter, StoreError};
use crate::tui::format::plural;
use chrono::Utc;
use clap::builder::UnknownArgumentValueParser;
use clap::{ArgAction, Args};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Help text about the format of the exported file.
pub(super) const FILE_FORMAT_HELP: &str = "\
Each line is a JSON object with a \"kind\":

docdeck (first line): \"version\" (1), \"program\", \"exportedAt\".
job: \"baseUrl\", \"project\" and JOB as in `docdeck jobs --help`, with \"named\" (whether you set the title), \
\"note\", \"startedAt\", \"finishedAt\", \"changedAt\", \"checkedAt\", \"viewedAt\", \"handledAt\", \
\"followedUpAt\", \"gone\", \"goneAt\", \"dismissed\", \"prompts\": [{\"kind\", \"text\", \"delivery\", \
\"reason\", \"writtenAt\", \"sentAt\", \"stateAt\", \"discardedFrom\", \"author\", \"draft\"}, …] (for \
historical reasons, a discarded prompt has the \"delivery\" \"dismissed\"), \"events\": [{\"at\", \"kind\", \"from\", \"to\"}, …] and \"draft\": {\"text\", \
\"savedAt\"} (of a follow-up). \"changedAt\" is when the service last reported a change, \"checkedAt\" when it last \
answered, \"viewedAt\" when you last opened the job, \"handledAt\" when you last acted on it. \"stateAt\" is when the \
prompt got its \"delivery\"; \"discardedFrom\" is the delivery that it had before you discarded it. The \"draft\" of a \
prompt is your edited version, not sent yet.
draft: \"baseUrl\", \"project\", \"of\" (what the draft is for: new job, job about pages, many jobs), \
\"text\", \"savedAt\", \"pages\".
end (last line): \"jobs\" and \"drafts\", the numbers of jobs and drafts before it.

Times are RFC 3339 in UTC.

Exit codes: 0 written; 2 usage, file or database error.";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// write to this file, which only you can read afterwards [default: -, stdout]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// overwrite FILE if it exists
    #[arg(long, requires = "file")]
    force: bool,
    /// Not a real option, but a way to give `--json` a better error message.
    #[arg(long = "json", hide = true, action = ArgAction::SetTrue, value_parser = UnknownArgumentValueParser::suggest(
        "export always writes JSON, one object per line"
    ))]
    _json: String,
}

/// Runs `docdeck export`. Prints a summary on stderr.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    let CommandContext { global_options, environment, out, .. } = cx;
    let folder = data_folder(global_options, environment)?;
    if !store_exists(&folder)? {
        let why = format!("Nothing to export: {} contains no database.", folder.display());
        return Err(CliError::local_error(why));
    }
    let file = options.file.as_deref().filter(|file| *file != Path::new("-"));
    if let Some(file) = file {
        // Fail before the export starts. If another program creates the file during the export, writing it fails below.
        check_destination(file, options.force)?;
    }
    let (spool, exported) = export_to_spool(&folder, global_options, out).await?;
    let summary = summary(exported, file);
    let mut lines: Box<dyn Read> = match spool {
        Spool::File(mut spool) => {
            spool.rewind().map_err(CliError::local_error)?;
            Box::new(spool)
        }
        Spool::Memory(bytes) => Box::new(io::Cursor::new(bytes.take_bytes())),
    };
    match file {
        Some(file) => {
            let written = if options.force { replace_file(file, lines) } else { write_new_file(file, lines) };
            written.map_err(|error| export_error(file, &error))?;
        }
        None => match io::copy(&mut lines, &mut io::stdout().lock()) {
            // The reader closed the pipe, which is not an error.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Code::Done),
            Err(error) => return Err(CliError::local_error(format!("Can't write the export: {error}."))),
            Ok(_) => {}
        },
    }
    out.note(&summary);
    Ok(Code::Done)
}

/// The exported lines until they are written to their destination. Without this buffer, a slow reader would block the
/// store.
enum Spool {
    /// An unnamed temporary file.
    File(File),
    /// A buffer in memory, used if no temporary file can be created or its disk is full.
    Memory(SharedBuffer),
}

/// A shared buffer that the store's thread writes to.
#[derive(Debug, Clone, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    fn take_bytes(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl io::Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Exports the store to a temporary file, or to memory if that fails.
async fn export_to_spool(
    folder: &Path,
    global_options: &GlobalOptions,
    out: &mut Out,
) -> Result<(Spool, ExportCounts), CliError> {
    let (now, program) = (Utc::now(), env!("CARGO_PKG_VERSION"));
    let store = open_undamaged(folder, false, out).await?;
    if let Ok(spool) = create_spool(folder) {
        let lines = spool.try_clone().map_err(CliError::local_error)?;
        match store.export(lines, scope_filter(global_options), program, now).await {
            Err(StoreError::DiskFull | StoreError::WriteRefused) => {}
            exported => {
                store.close().await;
                return Ok((Spool::File(spool), exported.map_err(|error| cli_store_error(folder, &error))?));
            }
        }
    }
    let buffer = SharedBuffer::default();
    let exported = store.export(buffer.clone(), scope_filter(global_options), program, now).await;
    store.close().await;
    Ok((Spool::Memory(buffer), exported.map_err(|error| cli_store_error(folder, &error))?))
}

/// Creates an unnamed temporary file that only this process can open: beside the store or, if that fails, in the
/// system's temporary folder.
pub(super) fn create_spool(folder: &Path) -> io::Result<File> {
    tempfile::tempfile_in(folder).or_else(|_| tempfile::tempfile())
}

/// Returns the filter for the project and service that the global options select.
pub(super) fn scope_filter(global_options: &GlobalOptions) -> ScopeFilter {
    let base_url = global_options.base_url.as_ref().map(|url| url.trim_end_matches('/').to_owned());
    ScopeFilter { project: global_options.project.clone(), base_url }
}

fn check_destination(file: &Path, force: bool) -> Result<(), CliError> {
    match std::fs::symlink_metadata(file) {
        Ok(_) if !force => Err(export_error(file, &ErrorKind::AlreadyExists.into())),
        // `metadata` follows links: the target of a link must be a file.
        Ok(_) if std::fs::metadata(file).is_ok_and(|found| !found.is_file()) => Err(CliError::local_error(format!(
            "{} is not a file, so nothing was exported. Choose another name.",
            file.display()
        ))),
        _ => Ok(()),
    }
}

fn export_error(file: &Path, error: &io::Error) -> CliError {
    let file = file.display();
    CliError::local_error(match error.kind() {
        ErrorKind::AlreadyExists => {
            format!(
                "{file} already exists, so nothing was exported: choose another name, or overwrite it with --force."
            )
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            format!("The disk of {file} is full, so nothing was exported: free some space, or write to another disk.")
        }
        _ => format!("Can't write the export to {file}: {error}."),
    })
}

fn summary(exported: ExportCounts, file: Option<&Path>) -> String {
    let totals = exported.totals;
    // Drafts of follow-ups are not counted, because they are part of their jobs.
    let what = match totals.drafts {
        0 => plural(totals.jobs, "job"),
        drafts => {
            let of = if drafts == 1 { "a new job" } else { "new jobs" };
            format!("{} and {} of {of}", plural(totals.jobs, "job"), plural(drafts, "draft"))
        }
    };
    let place = file.map(|file| format!(" to {}", file.display())).unwrap_or_default();
    let mut summary = format!("Exported {what}{place}.");
    if exported.in_flight_prompts > 0 {
        let prompts = plural(exported.in_flight_prompts, "prompt");
        let (are, them, they_are) =
            if exported.in_flight_prompts == 1 { ("is", "it", "it is") } else { ("are", "them", "they are") };
        summary.push_str(&format!(
            "\n{prompts} {are} queued or being sent. Only this computer may send {them}; on another computer {they_are} imported \
             as unconfirmed. To move the queue, pause it first (p in the dashboard)."
        ));
    }
    summary
}
