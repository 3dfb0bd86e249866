//! `docdeck export`: all that is known here as JSON Lines, to keep or to take elsewhere. Needs neither key nor network, and
//! reads no configuration file.

use super::data_folder::{is_there, open_sound, unusable};
use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use crate::config::environment::Environment;
use crate::config::{Flags, data_folder};
use crate::store::{ExportFilter, Exported, StoreError};
use chrono::Utc;
use clap::builder::UnknownArgumentValueParser;
use clap::{ArgAction, Args};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What stands in the file.
pub(super) const LINES: &str = "\
A line is a JSON object; kind says which. docdeck: the header with version (1), program, exportedAt. job: baseUrl, project and \
the job as `docdeck jobs --help` tells, with named (whether title is your own), note, startedAt, finishedAt, changedAt, \
checkedAt, lookedAt, handledAt, followedUpAt, gone, goneAt, dismissed, prompts ({kind, text, delivery, reason, writtenAt, \
sentAt, stateAt, discardedFrom, draft}; a discarded prompt has the delivery dismissed), events ({at, kind, from, to}) and draft ({text, savedAt}, of a follow-up). draft: baseUrl, project, of (new job, job about pages, many jobs), \
text, savedAt, pages. end: how many jobs and drafts came before it. Times are RFC 3339 in UTC.

Exit code: 0 written, 2 usage, file or store.";

/// Where to write.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// File to write, readable by you alone; - or nothing writes to the standard output
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Write over FILE if it is there
    #[arg(long, requires = "file")]
    force: bool,
    /// Not an option: what it would ask for is there without it.
    #[arg(long = "json", hide = true, action = ArgAction::SetTrue, value_parser = UnknownArgumentValueParser::suggest(
        "what export writes is JSON already, an object a line"
    ))]
    _json: String,
}

/// Exports, and says on stderr what went out.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let folder = data_folder(flags, environment)?;
    if !is_there(&folder)? {
        let why = format!("There is no store in {}: nothing is known here that could be exported.", folder.display());
        return Err(CliError::unusable(why));
    }
    let file = options.file.as_deref().filter(|file| *file != Path::new("-"));
    if let Some(file) = file {
        // Before the work; the file itself is made in one step that fails where one is in the way.
        check_place(file, options.force)?;
    }
    let (spool, exported) = read_out(&folder, flags, out).await?;
    let said = said(exported, file);
    let mut lines: Box<dyn Read> = match spool {
        Spool::File(mut spool) => {
            spool.rewind().map_err(CliError::unusable)?;
            Box::new(spool)
        }
        Spool::Memory(bytes) => Box::new(io::Cursor::new(bytes.taken())),
    };
    match file {
        Some(file) => write_file(&mut lines, file, options.force).map_err(|error| not_written(file, &error))?,
        None => match io::copy(&mut lines, &mut io::stdout().lock()) {
            // Whoever read has had enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Code::Done),
            Err(error) => return Err(CliError::unusable(format!("The export can't be written: {error}."))),
            Ok(_) => {}
        },
    }
    out.note(&said);
    Ok(Code::Done)
}

/// Where the lines are until they are written out: whoever reads them slowly keeps nobody from the store.
enum Spool {
    /// A file without a name.
    File(File),
    /// No disk has space for one.
    Memory(Buffer),
}

/// Bytes that the store's thread writes.
#[derive(Debug, Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn taken(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl io::Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads all lines out of the store.
async fn read_out(folder: &Path, flags: &Flags, out: &mut Out) -> Result<(Spool, Exported), CliError> {
    let (now, program) = (Utc::now(), env!("CARGO_PKG_VERSION"));
    let store = open_sound(folder, false, out).await?;
    if let Ok(spool) = spool(folder) {
        let lines = spool.try_clone().map_err(CliError::unusable)?;
        match store.export(lines, only(flags), program, now).await {
            Err(StoreError::Full | StoreError::Refused) => {}
            exported => {
                store.close().await;
                return Ok((Spool::File(spool), exported.map_err(|error| unusable(folder, &error))?));
            }
        }
    }
    let buffer = Buffer::default();
    let exported = store.export(buffer.clone(), only(flags), program, now).await;
    store.close().await;
    Ok((Spool::Memory(buffer), exported.map_err(|error| unusable(folder, &error))?))
}

/// A file that nobody else can open, gone with its last handle: beside the store, or where temporary files lie.
pub(super) fn spool(folder: &Path) -> io::Result<File> {
    tempfile::tempfile_in(folder).or_else(|_| tempfile::tempfile())
}

/// The project and service that the global options name.
pub(super) fn only(flags: &Flags) -> ExportFilter {
    let base_url = flags.base_url.as_ref().map(|url| url.trim_end_matches('/').to_owned());
    ExportFilter { project: flags.project.clone(), base_url }
}

fn check_place(file: &Path, force: bool) -> Result<(), CliError> {
    match std::fs::symlink_metadata(file) {
        Ok(_) if !force => Err(not_written(file, &ErrorKind::AlreadyExists.into())),
        // A link is followed: what it leads to must be a file.
        Ok(_) if std::fs::metadata(file).is_ok_and(|found| !found.is_file()) => {
            Err(CliError::unusable(format!("{} is no file, so nothing was exported to it.", file.display())))
        }
        _ => Ok(()),
    }
}

fn write_file(spool: &mut dyn Read, file: &Path, force: bool) -> io::Result<()> {
    if force {
        // Whole beside the old one, then in its place.
        let target = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let folder = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        io::copy(spool, &mut new)?;
        new.as_file().sync_all()?;
        new.persist(&target).map_err(|error| error.error)?;
        return Ok(());
    }
    let mut new = create(file)?;
    let written = io::copy(spool, &mut new).and_then(|_| new.sync_all());
    if written.is_err() {
        drop(new);
        let _ = std::fs::remove_file(file);
    }
    written
}

/// A file of the user alone that is not there yet.
fn create(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(file)
}

fn not_written(file: &Path, error: &io::Error) -> CliError {
    let file = file.display();
    CliError::unusable(match error.kind() {
        ErrorKind::AlreadyExists => {
            format!("{file} is there already, so nothing was exported: choose another name, or say --force.")
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            format!("The disk of {file} is full, so nothing was exported: free some space, or write to another disk.")
        }
        _ => format!("The export can't be written to {file}: {error}."),
    })
}

fn said(exported: Exported, file: Option<&Path>) -> String {
    let totals = exported.totals;
    // Drafts of follow-ups are part of their jobs.
    let what = match totals.drafts {
        0 => count(totals.jobs, "job"),
        1 => format!("{} and 1 draft of a new job", count(totals.jobs, "job")),
        drafts => format!("{} and {drafts} drafts of new jobs", count(totals.jobs, "job")),
    };
    let place = file.map(|file| format!(" to {}", file.display())).unwrap_or_default();
    let mut said = format!("Exported {what}{place}.");
    if exported.in_flight > 0 {
        let (prompts, them) = if exported.in_flight == 1 {
            ("1 prompt waits here to be sent, or is".to_owned(), "It stays")
        } else {
            (format!("{} prompts wait here to be sent, or are", exported.in_flight), "They stay")
        };
        said.push_str(&format!(
            "\n{prompts} on the way. {them} with this computer: elsewhere an import makes unconfirmed what only this one \
             may send. To take the queue along, pause it first (p in the dashboard)."
        ));
    }
    said
}

/// `1 job`, `3 jobs`; of several words the first one gets the s.
pub(super) fn count(n: u64, one: &str) -> String {
    match one.split_once(' ') {
        _ if n == 1 => format!("1 {one}"),
        Some((head, rest)) => format!("{n} {head}s {rest}"),
        None => format!("{n} {one}s"),
    }
}
