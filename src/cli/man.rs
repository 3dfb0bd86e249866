//! `docdeck man`: the manual as roff, made from the same words as the help.

use super::arguments::Arguments;
use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io;
use std::path::{Path, PathBuf};

/// How to read and to keep it.
pub(super) const USE: &str = "\
To read:     docdeck man | man -l -
To install:  docdeck man --dir ~/.local/share/man/man1";

/// What the exit codes mean (design.md: the command line).
const EXIT_CODES: [(&str, &str); 10] = [
    ("0", "Done. An archived job counts as done."),
    ("1", "A job failed, or something that was looked at is not as it should be."),
    ("2", "Usage or configuration; the store can't be used or is too new; not a terminal."),
    ("3", "The key was refused (401, 403)."),
    ("4", "The service or the network, any other 4xx, no such job, 5xx on a request that only reads."),
    ("5", "Rate limited: the hour's requests are used up here, or the service said so."),
    ("6", "Unconfirmed: a prompt went out and no readable answer came. It is kept, and never sent again by itself."),
    ("101", "A fault in docdeck."),
    ("124", "The time was up while waiting."),
    ("130", "Ctrl-C."),
];

const VARIABLES: [(&str, &str); 8] = [
    ("DOCDECK_API_KEY", "The key. There is no option for it: arguments can be seen by others."),
    ("DOCDECK_BASE_URL", "The service."),
    ("DOCDECK_PROJECT_ID", "The project."),
    ("DOCDECK_PROFILE", "The profile of the configuration file."),
    ("DOCDECK_CONFIG", "The configuration file."),
    ("DOCDECK_DATA_DIR", "The folder of the store and the log."),
    ("DOCDECK_REDUCED_MOTION", "Nothing on the screen moves by itself."),
    ("NO_COLOR", "No colours."),
];

/// Which pages.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Page of this command; of docdeck itself when left out
    #[arg(value_name = "COMMAND", conflicts_with = "dir", add = super::completion_candidates::commands())]
    command: Option<String>,
    /// Write all pages into this folder, one file each, over those that are there
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

/// Prints a page, or writes them all.
pub(super) fn run(options: &Options, out: &mut Out) -> Result<Code, CliError> {
    let mut whole = Arguments::command().version(env!("CARGO_PKG_VERSION"));
    whole.build();
    if let Some(folder) = &options.dir {
        write_all(&whole, folder)?;
        return Ok(Code::Done);
    }
    let wanted = match &options.command {
        None => &whole,
        Some(name) => pages(&whole).find(|page| page.get_name() == name).ok_or_else(|| {
            CliError::unusable(format!("There is no command {}: `docdeck --help` lists them.", super::out::clean(name)))
        })?,
    };
    let page = page(wanted).map_err(|error| CliError::unusable(format!("The page could not be made: {error}.")))?;
    out.write(&String::from_utf8_lossy(&page));
    Ok(Code::Done)
}

/// The commands that have a page of their own.
fn pages(whole: &Command) -> impl Iterator<Item = &Command> {
    whole.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

fn write_all(whole: &Command, folder: &Path) -> Result<(), CliError> {
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        for command in std::iter::once(whole).chain(pages(whole)) {
            std::fs::write(folder.join(Man::new(command.clone()).get_filename()), page(command)?)?;
        }
        Ok(())
    };
    let why = |error| CliError::unusable(format!("The pages can't be written to {}: {error}.", folder.display()));
    write().map_err(why)
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone()).manual("docdeck manual").source(concat!("docdeck ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut notes = Vec::new();
    man.render_extra_section(&mut notes)?;
    // What such a section is called in manuals.
    page.extend(String::from_utf8_lossy(&notes).replacen(".SH EXTRA", ".SH NOTES", 1).into_bytes());
    if command.has_subcommands() {
        table("EXIT STATUS", &EXIT_CODES).to_writer(&mut page)?;
        table("ENVIRONMENT", &VARIABLES).to_writer(&mut page)?;
    }
    Ok(page)
}

fn table(title: &str, rows: &[(&str, &str)]) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    for (name, meaning) in rows {
        roff.control("TP", []).text([bold(*name)]).text([roman(*meaning)]);
    }
    roff
}
