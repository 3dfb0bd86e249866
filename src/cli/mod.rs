//! The command line: arguments in, exit code out. One file per command; what they do lies in the rooms below.

mod dashboard;
mod demo;
mod own;
mod prune;
mod sim;

use crate::config::environment::Environment;
use crate::config::{self, ColorChoice, Flags};
use crate::sim::{Fault, SimOptions};
use clap::{Args, Parser, Subcommand};
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

/// A dashboard for agent jobs and page views of a documentation project.
///
/// Without a command it opens the dashboard. `docdeck demo` needs no key and no network.
#[derive(Debug, Parser)]
#[command(name = "docdeck", version, max_term_width = 100)]
#[command(
    after_help = "The API key comes from DOCDECK_API_KEY or the configuration file; there is no option for it.\n\
    Also read: DOCDECK_BASE_URL, DOCDECK_PROJECT_ID, DOCDECK_PROFILE, DOCDECK_CONFIG, DOCDECK_DATA_DIR,\n\
    DOCDECK_REDUCED_MOTION, NO_COLOR. An option beats the environment, which beats the configuration file."
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The dashboard on a built-in simulated service; keeps nothing, needs no key and no network
    Demo(World),
    /// The simulated service alone, on 127.0.0.1; prints lines to paste into a shell
    Sim {
        /// Port to listen on; a free one when left out
        #[arg(long, value_name = "P", default_value_t = 0)]
        port: u16,
        #[command(flatten)]
        world: World,
    },
    /// Removes old page views from the store on this computer, and gives the room back
    ///
    /// Page views can be asked for again, at the price of requests. Jobs, prompts and drafts are known here alone and
    /// never touched. Needs no key and no network; takes the views of all projects, unless --project or --base-url
    /// names one.
    Prune(prune::Options),
}

/// Options of every command.
#[derive(Debug, Args)]
struct Options {
    /// Profile of the configuration file
    #[arg(long, global = true, value_name = "NAME")]
    profile: Option<String>,
    /// Base address of the service
    #[arg(long, global = true, value_name = "URL")]
    base_url: Option<String>,
    /// Project id
    #[arg(long, global = true, value_name = "ID")]
    project: Option<String>,
    /// Configuration file
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder of the store and the log
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Whether to use colours
    #[arg(long, global = true, value_name = "WHEN")]
    color: Option<ColorChoice>,
    /// Only ASCII characters for lines, bars and signs
    #[arg(long, global = true)]
    ascii: bool,
}

impl From<Options> for Flags {
    fn from(options: Options) -> Self {
        let Options { profile, base_url, project, config, data_dir, color, ascii } = options;
        Self { profile, base_url, project, config, data_dir, color, ascii }
    }
}

/// The simulated world.
#[derive(Debug, Args)]
struct World {
    /// Jobs that are there at the start
    #[arg(long, value_name = "N", default_value_t = SimOptions::default().jobs)]
    jobs: u32,
    /// Pages of the simulated site
    #[arg(long, value_name = "N", default_value_t = SimOptions::default().pages)]
    pages: u32,
    /// How many times faster than real its jobs work
    #[arg(long, value_name = "X", default_value_t = SimOptions::default().speed, value_parser = parse_speed)]
    speed: f64,
    /// The same seed gives the same world
    #[arg(long, value_name = "N", default_value_t = SimOptions::default().seed)]
    seed: u64,
    /// A fault to switch on; may be given more than once
    ///
    /// OP: create, get, message, views or all.
    /// Not carried out: refuse, 302, 400, 401, 403, 404, 429, 429-SECONDS, 429-date, 429-bare, 500, 503, 502-html, html.
    /// Carried out: lost, 500-done, malformed, empty, huge, slow, odd, stuck, endless. First of all waits: latency-MS.
    #[arg(long = "fault", value_name = "OP=KIND[:PROBABILITY]", value_parser = str::parse::<Fault>, verbatim_doc_comment)]
    faults: Vec<Fault>,
}

impl World {
    fn options(self, port: u16) -> SimOptions {
        let Self { jobs, pages, speed, seed, faults } = self;
        SimOptions { port, jobs, pages, speed, seed, faults }
    }
}

fn parse_speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed > 0.0 && speed <= 1_000_000.0 => Ok(speed),
        _ => Err("a number above 0, at most 1000000".into()),
    }
}

/// Exit codes (design.md: the command line).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Done = 0,
    /// Usage, configuration, store unusable, not a terminal.
    Unusable = 2,
    /// Ctrl-C.
    Interrupted = 130,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        match code {
            Code::Done => Self::SUCCESS,
            Code::Unusable => Self::from(2),
            Code::Interrupted => Self::from(130),
        }
    }
}

impl From<crate::runtime::Exit> for Code {
    fn from(exit: crate::runtime::Exit) -> Self {
        match exit {
            crate::runtime::Exit::Quit | crate::runtime::Exit::Ended => Self::Done,
            crate::runtime::Exit::Interrupted => Self::Interrupted,
        }
    }
}

/// Why a command could not run, as a sentence, and what the program ends with.
#[derive(Debug)]
struct Refusal {
    code: Code,
    sentence: String,
}

impl Refusal {
    /// Usage, configuration, store or terminal.
    fn unusable(why: impl fmt::Display) -> Self {
        Self { code: Code::Unusable, sentence: why.to_string() }
    }
}

/// Reads the arguments, does what they say, gives the exit code.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let environment = Environment::of_process();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(&Refusal::unusable(format!("The system gives no event loop: {error}."))),
    };
    let flags = Flags::from(arguments.options);
    let result = runtime.block_on(async {
        match arguments.command {
            None => dashboard::run(&flags, environment).await,
            Some(Command::Demo(world)) => demo::run(&flags, environment, world.options(0)).await,
            Some(Command::Sim { port, world }) => sim::run(world.options(port)).await,
            Some(Command::Prune(options)) => prune::run(&flags, &environment, &options).await,
        }
    });
    // A name that is still being looked up on another thread is not waited for.
    runtime.shutdown_background();
    match result {
        Ok(code) => code.into(),
        Err(refusal) => report(&refusal),
    }
}

fn report(refusal: &Refusal) -> ExitCode {
    eprintln!("docdeck: {}", refusal.sentence);
    refusal.code.into()
}

impl From<config::ConfigError> for Refusal {
    fn from(error: config::ConfigError) -> Self {
        Self::unusable(error)
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
        assert!(matches!(after.command, Some(Command::Demo(World { seed: 3, .. }))));
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
