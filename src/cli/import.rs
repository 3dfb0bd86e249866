//! `docdeck import`: imports a file that `docdeck export` wrote. Needs neither key nor network, and reads no
//! configuration file.

use super::data_folder::{cli_store_error, open_store, store_exists};
use super::error::CliError;
use super::exit_code::Code;
use super::export::{create_spool, scope_filter};
use super::out::Out;
use super::session::CommandContext;
use crate::config::file::system_message;
use crate::config::{GlobalOptions, data_folder};
use crate::store::{ImportCounts, ImportError, Store, check_backup};
use crate::tui::format::plural;
use chrono::Utc;
use clap::Args;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often the progress of an import is redrawn.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
/// The check of a file shows its progress only after this many bytes, because a smaller file is checked quickly.
const SHOW_PROGRESS_AFTER_BYTES: u64 = 4 << 20;

/// Help text about the JSON output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
With --json: {\"dryRun\", \"jobs\": {\"added\", \"changed\", \"unchanged\"}, \"prompts\": {\"added\", \
\"unconfirmed\"}, \"drafts\": {\"added\", \"leftOut\"}, \"titlesAndNotesLeftOut\", \"hasEnd\"}. \"hasEnd\" is false \
if the file was cut off.

Exit codes: 0 imported; 2 usage, file or database error.";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// import this file, written by `docdeck export`; `-` reads stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// only print what would be imported
    #[arg(long)]
    dry_run: bool,
    /// print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs `docdeck import`.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    let CommandContext { global_options, environment, out, .. } = cx;
    out.configure_live_lines(environment);
    let folder = data_folder(global_options, environment)?;
    let lines = open_checked_input(&folder, &options.file, out)?;
    let store = open_import_store(&folder, options.dry_run, out)?;
    let imported = import_with_progress(&store, lines, global_options, options, out).await;
    store.close().await;
    let imported = imported.map_err(|error| import_error(&folder, &options.file, &error))?;
    if !imported.has_end_line {
        out.note(&format!(
            "docdeck: {} has no end line: it may have been cut off. Check whether the export was complete.",
            source_name(&options.file)
        ));
    }
    if options.json {
        out.print_json(&imported_json(&imported, options.dry_run));
    } else {
        out.print_lines(&imported_lines(&imported, options.dry_run));
    }
    Ok(Code::Done)
}

async fn import_with_progress(
    store: &Store,
    lines: File,
    global_options: &GlobalOptions,
    options: &Options,
    out: &mut Out,
) -> Result<ImportCounts, ImportError> {
    let total = lines.metadata().map_or(0, |found| found.len());
    let read = Arc::new(AtomicU64::new(0));
    let counted = BufReader::new(CountingReader { source: lines, bytes_read: Arc::clone(&read) });
    let import = store.import(counted, scope_filter(global_options), options.dry_run, Utc::now());
    tokio::pin!(import);
    loop {
        tokio::select! {
            biased;
            imported = &mut import => {
                out.clear_live_line();
                return imported;
            }
            () = tokio::time::sleep(PROGRESS_INTERVAL) => match percent_done(read.load(Ordering::Relaxed), total) {
                Some(100) => out.show_live_line("Importing: saving…"),
                share => out.show_live_line(&progress_text("Importing", share)),
            },
        }
    }
}

/// Checks all lines and returns a file from which they can be read again. Input that is not a regular file is copied to
/// a temporary file, so that the store is not locked while a slow source is read.
fn open_checked_input(folder: &Path, file: &Path, out: &mut Out) -> Result<File, CliError> {
    let fails = |error: ImportError| import_error(folder, file, &error);
    let source: Box<dyn Read> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let mut found = File::open(file).map_err(|error| fails(error.into()))?;
        let about = found.metadata().ok().filter(std::fs::Metadata::is_file);
        if let Some(about) = about {
            check_and_copy_source(&mut found, None, about.len(), out).map_err(fails)?;
            found.rewind().map_err(|error| fails(error.into()))?;
            return Ok(found);
        }
        Box::new(found)
    };
    let mut spool = create_spool(folder).map_err(|error| fails(error.into()))?;
    let mut lines = spool.try_clone().map_err(|error| fails(error.into()))?;
    check_and_copy_source(source, Some(&mut spool), 0, out).map_err(fails)?;
    lines.rewind().map_err(|error| fails(error.into()))?;
    Ok(lines)
}

/// Checks all lines of `source` and copies them to `copy` if given. `total_bytes` is 0 if the size is unknown.
fn check_and_copy_source(
    source: impl Read,
    copy: Option<&mut File>,
    total_bytes: u64,
    out: &mut Out,
) -> Result<(), ImportError> {
    let checked =
        check_backup(BufReader::new(ProgressReader { source, copy, bytes_read: 0, total_bytes, out }), Utc::now())
            .map(|_| ());
    out.clear_live_line();
    checked
}

/// Returns the percentage of `total` that is done. Returns `None` if `total` is 0, which means unknown.
fn percent_done(done: u64, total: u64) -> Option<u64> {
    done.saturating_mul(100).checked_div(total)
}

fn progress_text(what: &str, percent: Option<u64>) -> String {
    percent.map_or_else(|| format!("{what}…"), |percent| format!("{what}: {percent} %"))
}

/// A reader that shows the progress and, if `copy` is given, copies what it reads.
struct ProgressReader<'a, R> {
    source: R,
    copy: Option<&'a mut File>,
    bytes_read: u64,
    total_bytes: u64,
    out: &'a mut Out,
}

impl<R: Read> Read for ProgressReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        if let Some(copy) = &mut self.copy {
            copy.write_all(buffer.get(..read).unwrap_or_default())?;
        }
        self.bytes_read = self.bytes_read.saturating_add(u64::try_from(read).unwrap_or(0));
        if self.bytes_read > SHOW_PROGRESS_AFTER_BYTES {
            self.out
                .show_live_line(&progress_text("Checking the file", percent_done(self.bytes_read, self.total_bytes)));
        }
        Ok(read)
    }
}

/// A reader that counts the bytes that are read from `source`.
struct CountingReader {
    source: File,
    bytes_read: Arc<AtomicU64>,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.bytes_read.fetch_add(u64::try_from(read).unwrap_or(0), Ordering::Relaxed);
        Ok(read)
    }
}

fn open_import_store(folder: &Path, dry_run: bool, out: &mut Out) -> Result<Store, CliError> {
    if !store_exists(folder)? && dry_run {
        return Store::in_memory().map_err(CliError::local_error);
    }
    open_store(folder, !dry_run, out)
}

fn import_error(folder: &Path, file: &Path, error: &ImportError) -> CliError {
    let file = source_name(file);
    CliError::local_error(match error {
        ImportError::Store(error) => return cli_store_error(folder, error),
        ImportError::Unreadable(error) => {
            let why = system_message(error);
            format!("{file} can't be read ({why}): check its name and its permissions. Nothing was imported.")
        }
        wrong => format!("{file}: {}. Nothing was imported.", wrong.to_string().trim_end_matches('.')),
    })
}

fn source_name(file: &Path) -> String {
    if file == Path::new("-") { "The standard input".to_owned() } else { file.display().to_string() }
}

fn imported_json(imported: &ImportCounts, dry_run: bool) -> Value {
    let ImportCounts {
        jobs_added,
        jobs_changed,
        jobs_unchanged,
        prompts_added,
        in_flight_prompts,
        drafts_added,
        drafts_skipped,
        labels_skipped,
        has_end_line,
    } = imported;
    json!({
        "dryRun": dry_run,
        "jobs": { "added": jobs_added, "changed": jobs_changed, "unchanged": jobs_unchanged },
        "prompts": { "added": prompts_added, "unconfirmed": in_flight_prompts },
        "drafts": { "added": drafts_added, "leftOut": drafts_skipped },
        "titlesAndNotesLeftOut": labels_skipped,
        "hasEnd": has_end_line,
    })
}

fn imported_lines(imported: &ImportCounts, dry_run: bool) -> Vec<String> {
    let (added, changed) = if dry_run { ("Would add", "would change") } else { ("Added", "changed") };
    let parts = [(imported.prompts_added, "prompt"), (imported.drafts_added, "draft")];
    let parts: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| plural(*n, what)).collect();
    let mut lines = vec![format!(
        "{added} {}{}; {changed} {}; {} unchanged.",
        plural(imported.jobs_added, "job"),
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) },
        imported.jobs_changed,
        imported.jobs_unchanged,
    )];
    if imported.in_flight_prompts > 0 {
        let verb = if imported.in_flight_prompts == 1 { "is" } else { "are" };
        lines.push(format!(
            "{} {verb} unconfirmed, because the computer that wrote the file may still send what it has queued. \
             docdeck never sends them from here automatically.",
            plural(imported.in_flight_prompts, "prompt")
        ));
    }
    if imported.drafts_skipped > 0 {
        let verb = if imported.drafts_skipped == 1 { "was" } else { "were" };
        let what = plural(imported.drafts_skipped, "draft");
        lines.push(format!(
            "{what} {verb} skipped: this computer already has a different draft. The text is still in the file."
        ));
    }
    if imported.labels_skipped > 0 {
        let what = plural(imported.labels_skipped, "job");
        lines.push(format!("A title or a note of {what} was skipped: this computer already has a different one."));
    }
    lines
}
