//! `docdeck import`: takes in what `docdeck export` wrote, here or elsewhere. Needs neither key nor network, and reads no
//! configuration file.

use super::code::Code;
use super::export::{count, only, spool};
use super::folder::{is_there, open_store, unusable};
use super::out::Out;
use super::refusal::Refusal;
use crate::config::environment::Environment;
use crate::config::file::plain;
use crate::config::{Flags, data_folder};
use crate::store::{ImportError, Imported, Store, check_import};
use chrono::Utc;
use clap::Args;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, Write};
use std::path::{Path, PathBuf};

/// What `--json` gives.
pub(super) const JSON: &str = "\
With --json: {\"dryRun\", \"jobs\": {\"added\", \"changed\", \"unchanged\"}, \"prompts\": {\"added\", \"unconfirmed\"}, \
\"drafts\": {\"added\", \"leftOut\"}, \"titlesAndNotesLeftOut\", \"hasEnd\"}. hasEnd is false for a file \
that was cut off.

Exit code: 0 taken in, 2 usage, file or store.";

/// What to take in.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// File that an export wrote; - reads the standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only say what would be taken in
    #[arg(long)]
    dry_run: bool,
    /// Answer as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Imports, or says what that would do.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, Refusal> {
    let folder = data_folder(flags, environment)?;
    let lines = looked_over(&folder, &options.file)?;
    let store = open(&folder, options.dry_run, out)?;
    let imported = store.import(BufReader::new(lines), only(flags), options.dry_run, Utc::now()).await;
    store.close().await;
    let imported = imported.map_err(|error| refused(&folder, &options.file, &error))?;
    if !imported.has_end {
        out.note(&format!(
            "docdeck: {} has no end line, as an export has: something may have been cut off at its end.",
            name(&options.file)
        ));
    }
    if options.json {
        out.json(&as_json(&imported, options.dry_run));
    } else {
        out.lines(&as_text(&imported, options.dry_run));
    }
    Ok(Code::Done)
}

/// The lines in a file that can be read again, all looked over: nobody is kept from the store while they come in.
fn looked_over(folder: &Path, file: &Path) -> Result<File, Refusal> {
    let fails = |error: ImportError| refused(folder, file, &error);
    let (mut lines, checked) = if file == Path::new("-") {
        let mut spool = spool(folder).map_err(|error| fails(error.into()))?;
        (spool.try_clone().map_err(|error| fails(error.into()))?, check(io::stdin().lock(), Some(&mut spool)))
    } else {
        let mut found = File::open(file).map_err(|error| fails(error.into()))?;
        if found.metadata().is_ok_and(|found| found.is_file()) {
            let checked = check(&mut found, None);
            (found, checked)
        } else {
            let mut spool = spool(folder).map_err(|error| fails(error.into()))?;
            (spool.try_clone().map_err(|error| fails(error.into()))?, check(found, Some(&mut spool)))
        }
    };
    checked.map_err(fails)?;
    lines.rewind().map_err(|error| fails(error.into()))?;
    Ok(lines)
}

fn check(from: impl Read, copy: Option<&mut File>) -> Result<(), ImportError> {
    check_import(BufReader::new(Copied { from, copy }), Utc::now()).map(|_| ())
}

/// Reads, and writes what it read into a copy.
struct Copied<'a, R> {
    from: R,
    copy: Option<&'a mut File>,
}

impl<R: Read> Read for Copied<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        if let Some(copy) = &mut self.copy {
            copy.write_all(buffer.get(..read).unwrap_or_default())?;
        }
        Ok(read)
    }
}

fn open(folder: &Path, dry_run: bool, out: &mut Out) -> Result<Store, Refusal> {
    if !is_there(folder)? && dry_run {
        return Store::in_memory().map_err(Refusal::unusable);
    }
    open_store(folder, !dry_run, out)
}

fn refused(folder: &Path, file: &Path, error: &ImportError) -> Refusal {
    let file = name(file);
    Refusal::unusable(match error {
        ImportError::Store(error) => return unusable(folder, error),
        ImportError::Unreadable(error) => {
            let why = plain(error);
            format!("{file} can't be read ({why}): check its name and its permissions. Nothing was imported.")
        }
        wrong => format!("{file}: {}. Nothing was imported.", wrong.to_string().trim_end_matches('.')),
    })
}

fn name(file: &Path) -> String {
    if file == Path::new("-") { "The standard input".to_owned() } else { file.display().to_string() }
}

fn as_json(imported: &Imported, dry_run: bool) -> Value {
    let Imported {
        jobs_added,
        jobs_changed,
        jobs_unchanged,
        prompts_added,
        in_flight,
        drafts_added,
        drafts_left_out,
        words_left_out,
        has_end,
    } = imported;
    json!({
        "dryRun": dry_run,
        "jobs": { "added": jobs_added, "changed": jobs_changed, "unchanged": jobs_unchanged },
        "prompts": { "added": prompts_added, "unconfirmed": in_flight },
        "drafts": { "added": drafts_added, "leftOut": drafts_left_out },
        "titlesAndNotesLeftOut": words_left_out,
        "hasEnd": has_end,
    })
}

fn as_text(imported: &Imported, dry_run: bool) -> Vec<String> {
    let (added, changed) = if dry_run { ("Would add", "would change") } else { ("Added", "changed") };
    let parts = [(imported.prompts_added, "prompt"), (imported.drafts_added, "draft")];
    let parts: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(*n, what)).collect();
    let mut lines = vec![format!(
        "{added} {}{}; {changed} {}; {} known already.",
        count(imported.jobs_added, "job"),
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) },
        imported.jobs_changed,
        imported.jobs_unchanged,
    )];
    if imported.in_flight > 0 {
        let verb = if imported.in_flight == 1 { "was" } else { "were" };
        lines.push(format!(
            "{} {verb} not through where the file was written: unconfirmed here, since that computer may send what it has. \
             docdeck never sends them from here by itself.",
            count(imported.in_flight, "prompt")
        ));
    }
    if imported.drafts_left_out > 0 {
        let verb = if imported.drafts_left_out == 1 { "was" } else { "were" };
        let what = count(imported.drafts_left_out, "draft");
        lines.push(format!("{what} {verb} left out: another text is in its place here. The file still has it."));
    }
    if imported.words_left_out > 0 {
        let what = count(imported.words_left_out, "job");
        lines.push(format!("Of {what} a title or a note was left out: there is another one here."));
    }
    lines
}
