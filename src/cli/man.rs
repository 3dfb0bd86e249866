//! `docdeck man`: prints the manual as roff, generated from the help texts.

use super::arguments::Arguments;
use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use clap::{Args, Command, CommandFactory as _};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io;
use std::path::{Path, PathBuf};

/// Help text about reading and installing the manual.
pub(super) const USAGE_HELP: &str = "\
To read:     docdeck man | man -l -
To install:  docdeck man --dir ~/.local/share/man/man1";

/// The exit codes and their meanings.
pub(super) const EXIT_CODES: [(&str, &str); 10] = [
    ("0", "Done. An archived job counts as done. Also if rows are missing because of --max-requests or --until."),
    ("1", "A job failed, a pull request was closed without merging, doctor found a problem, or --check found rows."),
    ("2", "Usage or configuration error; the database can't be used or is too new; no terminal."),
    ("3", "Key refused (401, 403)."),
    (
        "4",
        "Service or network error, job not found, any other 4xx, or 5xx on a request that only reads. \
         Also if nothing was approved or merged, for example because of a new head commit.",
    ),
    (
        "5",
        "Hourly limit reached, by docdeck's count or by the service's answer. \
         Also if --check finds nothing, but not all rows are loaded, \
         or if another docdeck paused or discarded the prompt.",
    ),
    (
        "6",
        "Unconfirmed: a prompt, an approval or a merge was sent and no readable answer came. \
         It is not sent again automatically; a prompt is saved.",
    ),
    ("101", "docdeck crashed."),
    ("124", "Timed out while waiting."),
    ("130", "Interrupted (Ctrl-C)."),
];

/// The environment variables that docdeck reads, and their meanings.
pub(super) const ENVIRONMENT_VARIABLES: [(&str, &str); 9] = [
    ("DOCDECK_API_KEY", "The API key. There is no option for it, because other users can see arguments."),
    ("DOCDECK_BASE_URL", "The base URL of the service."),
    ("DOCDECK_PROJECT_ID", "The project id."),
    ("DOCDECK_PROFILE", "The profile of the configuration file."),
    ("DOCDECK_CONFIG", "The configuration file."),
    ("DOCDECK_DATA_DIR", "The folder of the database and the log."),
    ("DOCDECK_TEAM_URL", "The URL of the team's database. Not an option, because other users can see arguments."),
    ("DOCDECK_REDUCED_MOTION", "Turns animations off."),
    ("NO_COLOR", "Turns colours off."),
];

#[derive(Debug, Args)]
pub(super) struct Options {
    /// print the page of this command [default: the page of docdeck itself]
    #[arg(value_name = "COMMAND", conflicts_with = "dir", add = command_names())]
    command: Option<String>,
    /// write all pages into this folder, one file each, and overwrite existing ones
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

/// Runs `docdeck man`.
pub(super) fn run(options: &Options, out: &mut Out) -> Result<Code, CliError> {
    let mut root = Arguments::command().version(env!("CARGO_PKG_VERSION"));
    root.build();
    if let Some(folder) = &options.dir {
        write_man_pages(&root, folder)?;
        return Ok(Code::Done);
    }
    let wanted = match &options.command {
        None => &root,
        Some(name) => commands_with_man_page(&root).find(|page| page.get_name() == name).ok_or_else(|| {
            CliError::local_error(format!(
                "Unknown command {}. List the commands with `docdeck --help`.",
                super::out::clean_line(name)
            ))
        })?,
    };
    let page = man_page(wanted).map_err(|error| CliError::local_error(format!("Can't generate the page: {error}.")))?;
    out.write(&String::from_utf8_lossy(&page));
    Ok(Code::Done)
}

/// Returns the commands and subcommands that have a manual page.
fn commands_with_man_page(root: &Command) -> impl Iterator<Item = &Command> {
    let commands = root.get_subcommands().flat_map(|command| std::iter::once(command).chain(command.get_subcommands()));
    commands.filter(|command| !command.is_hide_set())
}

/// Offers the names of the commands, but not of their subcommands, to a shell that completes the argument.
fn command_names() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let root = Arguments::command();
        let known = root
            .get_subcommands()
            .map(|command| CompletionCandidate::new(command.get_name()).help(command.get_about().cloned()));
        known.collect()
    })
}

fn write_man_pages(root: &Command, folder: &Path) -> Result<(), CliError> {
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        for command in std::iter::once(root).chain(commands_with_man_page(root)) {
            std::fs::write(folder.join(Man::new(command.clone()).get_filename()), man_page(command)?)?;
        }
        Ok(())
    };
    let why = |error| CliError::local_error(format!("Can't write the pages to {}: {error}.", folder.display()));
    write().map_err(why)
}

fn man_page(command: &Command) -> io::Result<Vec<u8>> {
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
    // clap names the section EXTRA. Manuals usually call it NOTES.
    page.extend(String::from_utf8_lossy(&notes).replacen(".SH EXTRA", ".SH NOTES", 1).into_bytes());
    if command.has_subcommands() {
        man_section("EXIT STATUS", &EXIT_CODES).to_writer(&mut page)?;
        man_section("ENVIRONMENT", &ENVIRONMENT_VARIABLES).to_writer(&mut page)?;
    }
    Ok(page)
}

fn man_section(title: &str, rows: &[(&str, &str)]) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    for (name, meaning) in rows {
        roff.control("TP", []).text([bold(*name)]).text([roman(*meaning)]);
    }
    roff
}
