//! The command line as clap reads it: commands, the options that all of them take, and the simulated world. What an
//! option of one command means stands in that command's file.

use super::{
    completions, doctor, export, follow, import, init, jobs, man, new, prune, show, status, track, views, wait, watch,
};
use crate::config::{ColorChoice, Flags};
use crate::sim::{Fault, SimOptions};
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

/// A dashboard for agent jobs and page views of a documentation project.
///
/// Without a command it opens the dashboard. `docdeck demo` needs no key and no network.
#[derive(Debug, Parser)]
#[command(name = "docdeck", version = env!("DOCDECK_VERSION"), max_term_width = 100)]
#[command(
    after_help = "The API key comes from DOCDECK_API_KEY or the configuration file; there is no option for it. Also \
    read: DOCDECK_BASE_URL, DOCDECK_PROJECT_ID, DOCDECK_PROFILE, DOCDECK_CONFIG, DOCDECK_DATA_DIR, \
    DOCDECK_REDUCED_MOTION, NO_COLOR. An option beats the environment, which beats the configuration file.\n\n\
    Exit codes: 0 done (an archived job counts as done), 1 a job failed or \
    the doctor found a problem, 2 usage, configuration or store, or not a terminal, 3 the key was refused, 4 service or \
    network, or no such job, 5 the hour's requests are used up, 6 unconfirmed: a prompt may have arrived, 101 an error in \
    docdeck, 124 timed out while waiting, 130 Ctrl-C. The help of a command says what they mean there."
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) options: Options,
}

/// The options without a command, as they open the dashboard.
#[derive(Debug, Parser)]
#[command(name = "docdeck", disable_help_flag = true, disable_version_flag = true)]
struct NoCommand {
    #[command(flatten)]
    options: Options,
}

impl Arguments {
    /// Reads the words of a command line, the program's name first. Without a command the options are read alone: to make
    /// ready for all commands with theirs takes longer than all that the dashboard does before it opens the store. Whatever
    /// else there is, and whatever is wrong, is left to the whole reading.
    ///
    /// # Errors
    /// What is wrong, or the help or the version that was asked for.
    pub(super) fn read(words: impl Iterator<Item = OsString>) -> Result<Self, clap::Error> {
        let words: Vec<OsString> = words.collect();
        if words.get(1).is_none_or(|word| word.as_encoded_bytes().starts_with(b"-"))
            && let Ok(NoCommand { options }) = NoCommand::try_parse_from(&words)
        {
            return Ok(Self { command: None, options });
        }
        Self::try_parse_from(&words)
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// The dashboard on a built-in simulated service; keeps nothing, needs no key and no network
    Demo(SimArguments),
    /// The simulated service alone, on 127.0.0.1; prints lines to paste into a shell
    Sim {
        /// Port to listen on; a free one when left out
        #[arg(long, value_name = "P", default_value_t = 0, value_parser = number(0..=u16::MAX, "a whole number from 0 to 65535"))]
        port: u16,
        #[command(flatten)]
        world: SimArguments,
    },
    /// Asks for project and key, tries them with one request, and writes the configuration file
    ///
    /// In a terminal it asks for what no option says; the typed key is not shown. With --yes it asks nothing: a profile is
    /// added to a file that is there, one that the file has already is changed only with --overwrite. When the request
    /// shows that something is wrong, nothing is written, with --yes, and the code is 3 (key refused), 4 (service or
    /// project) or 5 (limit); without it, it asks. The file is readable by you alone, and what is in it stays.
    Init(init::Options),
    /// Creates a job from a prompt
    #[command(after_long_help = new::JSON)]
    New(new::Options),
    /// Sends a follow-up to a job that is known on this computer
    #[command(after_long_help = follow::JSON)]
    Follow(follow::Options),
    /// Lists the jobs known on this computer; asks the service nothing
    ///
    /// Those that need you come first, then those at work, queued and done; each group with the newest first. Jobs that
    /// were put away are listed with `--status dismissed` alone. The service can't list its jobs: `docdeck track` takes
    /// in one that was made elsewhere.
    #[command(after_long_help = jobs::JSON)]
    Jobs(jobs::Options),
    /// Shows a job with its thread, as it is known on this computer; asks the service nothing
    #[command(after_long_help = show::JSON)]
    Show(show::Options),
    /// Starts following jobs that were made elsewhere: asks the service for each of them
    #[command(after_long_help = track::JSON)]
    Track(track::Options),
    /// Waits until every one of these jobs is finished
    ///
    /// Looks at them as the dashboard does, or hears of them from the dashboard that looks. Each change is a line on
    /// stderr. A job that completed without a pull request is looked at once more, five seconds later: its link may come
    /// late. Ctrl-C leaves the jobs alone.
    #[command(after_long_help = wait::JSON)]
    Wait(wait::Options),
    /// Tells every change of the jobs known here, a line each, as it happens
    #[command(after_long_help = watch::JSON)]
    Watch(watch::Options),
    /// Says in one line how the jobs known here stand: for tmux and shell prompts; asks the service nothing
    #[command(after_long_help = status::JSON)]
    Status(status::Options),
    /// Shows page views by humans and AI: a page of rows, or all of them, for people or as CSV, JSON and Markdown
    ///
    /// What is kept and fresh costs no request: a range that ended before yesterday is kept for good, one that ended
    /// yesterday for an hour, one with today for five minutes. All days are UTC, and both ends are included.
    ///
    /// --all says first what is known of its price (the service doesn't tell how many rows there are) and stops where
    /// the hour's requests end.
    #[command(after_long_help = views::FORMATS)]
    Views(views::Options),
    /// Writes all that is known on this computer as JSON Lines: to keep, or to take elsewhere
    ///
    /// Jobs with their threads, titles, tags, notes and pages, and drafts, of all projects unless --project or --base-url
    /// names one. The key is not in it, nor are page views: those can be asked for again. Needs no key and no network.
    ///
    /// Prompts that wait here to be sent stay with this computer: elsewhere they arrive unconfirmed, and docdeck never
    /// sends them from there by itself. To take a queue along, pause it first (p in the dashboard): paused prompts
    /// arrive paused.
    #[command(after_long_help = export::LINES)]
    Export(export::Options),
    /// Takes in what an export wrote, here or on another computer, without duplicates
    ///
    /// Takes all of the file or nothing; the same file twice changes nothing more. A job that is known here is found by
    /// its id, else by the prompt that creates it. Of what the service said, its later answer counts. Tags and threads
    /// are put together. A title, a note or a draft that is here already stays, and what is left out for it is said.
    ///
    /// What was queued or on its way where the file was written arrives as unconfirmed: that computer may send it, or
    /// may have, so docdeck never sends it from here by itself. What was paused arrives paused: release it on one
    /// computer only. Takes all projects, unless --project or --base-url names one. Needs no key and no network.
    #[command(after_long_help = import::JSON)]
    Import(import::Options),
    /// Removes old page views from the store on this computer, or jobs that are over, and gives the room back
    ///
    /// Page views can be asked for again, at the price of requests. Jobs, prompts and drafts are known here alone: they
    /// are never touched without --jobs. Needs no key and no network; takes all projects, unless --project or --base-url
    /// names one.
    ///
    /// With --jobs, removes jobs and their threads that are finished, gone or discarded, were looked at, and did not change
    /// for so many days. A job that is at work, unsent, not looked at, needs you or has a draft is never touched. `docdeck
    /// export` keeps a copy.
    #[command(after_long_help = prune::JSON)]
    Prune(prune::Options),
    /// Prints the script that completes commands, options and ids of jobs in a shell
    ///
    /// The shell asks docdeck at each Tab: ids come from the record on this computer, without a request.
    #[command(after_long_help = completions::USE)]
    Completions(completions::Options),
    /// Prints the manual as roff, for man
    #[command(after_long_help = man::USE)]
    Man(man::Options),
    /// Looks at configuration, files, store, network, key and terminal; changes nothing without --repair
    ///
    /// Says of each how it is, and what to do where something is wrong. The service is asked once, for a job: no limited
    /// operation. What is printed is fit for a bug report: it holds no key, no password, and ids cut short.
    #[command(after_long_help = doctor::JSON)]
    Doctor(doctor::Options),
}

impl Command {
    /// Whether the answer is JSON, so that a failure is told in JSON as well.
    pub(super) fn answers_in_json(&self) -> bool {
        match self {
            Self::New(options) => options.json,
            Self::Follow(options) => options.json,
            Self::Jobs(options) => options.json,
            Self::Show(options) => options.json,
            Self::Track(options) => options.json,
            Self::Wait(options) => options.json,
            Self::Watch(options) => options.json,
            Self::Status(options) => options.json,
            Self::Views(options) => options.is_json(),
            Self::Import(options) => options.json,
            Self::Doctor(options) => options.json,
            Self::Prune(options) => options.json,
            Self::Demo(_)
            | Self::Sim { .. }
            | Self::Init(_)
            | Self::Export(_)
            | Self::Completions(_)
            | Self::Man(_) => false,
        }
    }
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub(super) struct Options {
    /// Profile of the configuration file
    #[arg(long, global = true, value_name = "NAME", value_parser = not_blank, add = super::completion_candidates::profiles())]
    pub(super) profile: Option<String>,
    /// Base address of the service
    #[arg(long, global = true, value_name = "URL", value_parser = not_blank)]
    pub(super) base_url: Option<String>,
    /// Project id
    #[arg(long, global = true, value_name = "ID", value_parser = not_blank)]
    pub(super) project: Option<String>,
    /// Configuration file
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Folder of the store and the log
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(super) data_dir: Option<PathBuf>,
    /// Whether to use colours
    #[arg(long, global = true, value_name = "WHEN")]
    pub(super) color: Option<ColorChoice>,
    /// Only ASCII characters for lines, bars and signs
    #[arg(long, global = true)]
    pub(super) ascii: bool,
}

impl From<Options> for Flags {
    fn from(options: Options) -> Self {
        let Options { profile, base_url, project, config, data_dir, color, ascii } = options;
        Self { profile, base_url, project, config, data_dir, color, ascii }
    }
}

/// The simulated world.
#[derive(Debug, Args)]
pub(super) struct SimArguments {
    /// Jobs that are there at the start
    #[arg(long, value_name = "N", default_value_t = SimOptions::default().jobs, value_parser = number(0..=u32::MAX, "a whole number, like 40"))]
    jobs: u32,
    /// Pages of the simulated site
    #[arg(long, value_name = "N", default_value_t = SimOptions::default().pages, value_parser = number(0..=u32::MAX, "a whole number, like 40"))]
    pages: u32,
    /// How many times faster than real its jobs work
    #[arg(long, value_name = "X", default_value_t = SimOptions::default().speed, value_parser = parse_speed)]
    speed: f64,
    /// The same seed gives the same world
    #[arg(long, value_name = "N", default_value_t = SimOptions::default().seed, value_parser = number(0..=u64::MAX, "a whole number, like 7"))]
    seed: u64,
    /// A fault to switch on; may be given more than once
    ///
    /// OP: create, get, message, views or all.
    /// Not carried out: refuse, 302, 400, 401, 403, 404, 429, 429-SECONDS, 429-date, 429-bare, 500, 503, 502-html, html.
    /// Carried out: lost, 500-done, malformed, empty, huge, slow, odd, tenths, stuck, endless. First of all waits: latency-MS.
    #[arg(long = "fault", value_name = "OP=KIND[:PROBABILITY]", value_parser = str::parse::<Fault>, verbatim_doc_comment)]
    faults: Vec<Fault>,
}

impl SimArguments {
    pub(super) fn options(self, port: u16) -> SimOptions {
        let Self { jobs, pages, speed, seed, faults } = self;
        SimOptions { port, jobs, pages, speed, seed, faults }
    }
}

/// A shell puts nothing where a variable is not set; what is meant then nobody can know.
fn not_blank(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is blank; leave the option out to go by the environment and the configuration file".into()),
        text => Ok(text.to_owned()),
    }
}

/// Seconds of `--timeout`.
pub(super) fn parse_seconds(text: &str) -> Result<u32, String> {
    number(0..=u32::MAX, "a whole number of seconds, like 600")(text)
}

/// A number in this range; `wanted` says which ones there are.
pub(super) fn number<T>(
    allowed: RangeInclusive<T>,
    wanted: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Clone + Send + Sync + 'static,
{
    move |text| match text.parse() {
        Ok(number) if allowed.contains(&number) => Ok(number),
        _ => Err(format!("it has to be {wanted}")),
    }
}

fn parse_speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed > 0.0 && speed <= 1_000_000.0 => Ok(speed),
        _ => Err("it has to be a number above 0, at most 1000000".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn options_stand_before_or_after_the_command() {
        let before = Arguments::parse_from(["docdeck", "--ascii", "--project", "p", "demo", "--seed", "3"]);
        let after = Arguments::parse_from(["docdeck", "demo", "--seed", "3", "--project", "p", "--ascii"]);
        assert!(before.options.ascii && after.options.ascii);
        assert_eq!(before.options.project, after.options.project);
        assert!(matches!(after.command, Some(Command::Demo(SimArguments { seed: 3, .. }))));
    }

    #[test]
    fn options_without_a_command_are_read_as_they_are_with_all_commands() {
        let lines: [&[&str]; 12] = [
            &[],
            &["--data-dir", "/x y", "--ascii"],
            &["--profile=a", "--color", "never", "--project", "p", "--base-url", "http://[::1]", "--config", "c"],
            &["--ascii", "demo"],
            &["--ascii", "--", "demo"],
            &["--project", " "],
            &["--project"],
            &["--ascii", "--ascii"],
            &["--json"],
            &["--help"],
            &["-V"],
            &["--"],
        ];
        for line in lines {
            let words = || ["docdeck"].iter().chain(line).map(OsString::from);
            let said = |result: Result<Arguments, clap::Error>| match result {
                Ok(arguments) => format!("{arguments:?}"),
                Err(error) => error.render().to_string(),
            };
            assert_eq!(said(Arguments::read(words())), said(Arguments::try_parse_from(words())), "{line:?}");
        }
    }

    #[test]
    fn there_is_no_option_for_the_key() {
        let help = Arguments::command().render_long_help().to_string();
        assert!(!help.contains("--api-key") && !help.contains("--key"), "{help}");
    }

    #[test]
    fn a_speed_that_is_none_is_refused() {
        for bad in ["0", "-1", "NaN", "inf", "fast"] {
            assert!(Arguments::try_parse_from(["docdeck", "demo", &format!("--speed={bad}")]).is_err(), "{bad}");
        }
    }
}
