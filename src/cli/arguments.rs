//! Defines the command line for clap: the commands, the global options, and the options of the simulated service. The
//! options of each command are in the file of that command.

use super::blank_check::parse_non_blank;
use super::number_parser::number_parser;
use super::{
    analytics, approve_and_merge, completions, diff, doctor, export, follow, help, import, init, jobs, man, new, prune,
    pull_requests, show, status, team, track, views, wait, watch,
};
use crate::config::{ColorChoice, GlobalOptions};
use crate::sim::{Fault, SimOptions};
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// start and review agent jobs for a Mintlify site, and see its page views
///
/// A job is a task for Mintlify's agent, and usually ends in a pull request. Mintlify ("the service") can't list jobs,
/// so docdeck tracks those that you create with it or add with `docdeck track`. Without a command, docdeck opens the
/// dashboard; `docdeck demo` opens it without a key or a network.
#[derive(Debug, Parser)]
#[command(name = "docdeck", bin_name = "docdeck", version = env!("DOCDECK_VERSION"), max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "The API key comes from DOCDECK_API_KEY or the configuration file; there is no option for it. Other \
    variables: DOCDECK_BASE_URL, DOCDECK_PROJECT_ID, DOCDECK_PROFILE, DOCDECK_CONFIG, DOCDECK_DATA_DIR, \
    DOCDECK_TEAM_URL, DOCDECK_REDUCED_MOTION, NO_COLOR. Options override the environment, which overrides the configuration file.\n\n\
    Exit codes: 0 done (an archived job counts as done); 1 a job failed, a pull request was closed without merging, \
    --check found rows, or doctor found a problem; 2 usage, configuration or database error, or no terminal; 3 key \
    refused; 4 service or network error, job not found, or an approval or merge not carried out, for example because \
    of a new head commit; 5 hourly limit reached; 6 unconfirmed: a prompt, an approval or a merge may have arrived; \
    101 crash; 124 timeout; 130 Ctrl-C. The help of each command has the details."
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) global: GlobalArguments,
}

/// A parser for a command line that opens the dashboard: global options, and no command except `demo`.
#[derive(Debug, Parser)]
#[command(name = "docdeck", disable_help_flag = true, disable_version_flag = true, disable_help_subcommand = true)]
struct DashboardArguments {
    #[command(subcommand)]
    command: Option<DashboardCommand>,
    #[command(flatten)]
    global: GlobalArguments,
}

#[derive(Debug, Subcommand)]
enum DashboardCommand {
    Demo(DemoArguments),
}

impl Arguments {
    /// Parses a command line; the first word is the program's name. If the command line probably opens the dashboard
    /// (no second word, or one that is an option or `demo`), first tries the small parser of [`DashboardArguments`].
    /// Building the complete parser takes longer than everything else that the dashboard does before it opens the
    /// store. If the small parser fails, uses the complete parser. Without a second word, there is nothing to parse.
    ///
    /// # Errors
    /// Fails if the arguments are wrong, or they ask for the help or the version.
    pub(super) fn read(words: impl Iterator<Item = OsString>) -> Result<Self, clap::Error> {
        let words: Vec<OsString> = words.collect();
        if words.len() == 1 {
            return Ok(Self { command: None, global: GlobalArguments::default() });
        }
        if words.get(1).is_none_or(|word| word == "demo" || word.as_encoded_bytes().starts_with(b"-"))
            && let Ok(DashboardArguments { command, global }) = DashboardArguments::try_parse_from(&words)
        {
            return Ok(Self { command: command.map(|DashboardCommand::Demo(options)| Command::Demo(options)), global });
        }
        Self::try_parse_from(&words)
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// open the dashboard on a simulated service (saves nothing, needs no key and no network)
    Demo(DemoArguments),
    /// run the demo's simulated service without the dashboard, on 127.0.0.1 (prints the settings for your shell)
    Sim {
        /// listen on this port; 0 picks a free one
        #[arg(long, value_name = "P", default_value_t = 0, value_parser = number_parser(0..=u16::MAX, "a whole number from 0 to 65535"))]
        port: u16,
        #[command(flatten)]
        simulation: SimArguments,
    },
    /// ask for the project and the key, check them with one request, and write the configuration file
    ///
    /// Opens the setup form with the values of the options. With --yes it asks nothing: it adds a profile to an
    /// existing file, and changes an existing profile only with --overwrite.
    ///
    /// If the check fails with --yes, nothing is written and the exit code is 3 (key refused), 4 (service error, or no
    /// such project) or 5 (limit); without --yes, init asks what to do. The file is private to you; its other settings
    /// are kept.
    Init(init::Options),
    /// create a job from a prompt
    #[command(after_long_help = new::OUTPUT_HELP)]
    New(new::Options),
    /// send a follow-up to a tracked job
    #[command(after_long_help = follow::OUTPUT_HELP)]
    Follow(follow::Options),
    /// list the tracked jobs (sends no request)
    ///
    /// Tracked jobs are those that were created or added on this computer, or by your team. The jobs that need you
    /// come first, then working, queued and done ones; each group lists the newest first. Dismissed jobs are listed
    /// only with `--status dismissed`. The service can't list its jobs; use `docdeck track` to add a job that was
    /// created elsewhere.
    #[command(after_long_help = jobs::OUTPUT_HELP)]
    Jobs(jobs::Options),
    /// show a tracked job and its thread (sends no request)
    #[command(after_long_help = show::OUTPUT_HELP)]
    Show(show::Options),
    /// load and show the state of the jobs' pull requests on GitHub and GitLab
    #[command(after_long_help = pull_requests::OUTPUT_HELP)]
    Pr(pull_requests::Options),
    /// print the changes of a job's pull request
    #[command(after_long_help = diff::OUTPUT_HELP)]
    Diff(diff::Options),
    /// approve a job's pull request if its head commit is the one that you reviewed
    #[command(after_long_help = approve_and_merge::OUTPUT_HELP)]
    Approve(approve_and_merge::Options),
    /// merge a job's pull request if its head commit is the one that you reviewed (asks first)
    #[command(after_long_help = approve_and_merge::OUTPUT_HELP)]
    Merge(approve_and_merge::MergeOptions),
    /// track jobs that were created elsewhere (one request each)
    #[command(after_long_help = track::OUTPUT_HELP)]
    Track(track::Options),
    /// wait until the given jobs are finished
    ///
    /// Checks the jobs as the dashboard does, or uses the checks of a running dashboard. Each change is a line on
    /// stderr. A job that completed without a pull request is checked once more five seconds later, because the link
    /// may arrive late. Ctrl-C stops waiting; the jobs keep running.
    #[command(
        after_long_help = wait::OUTPUT_HELP,
        mut_arg("timeout", |arg| arg.help("stop waiting after this many seconds; the jobs keep running"))
    )]
    Wait(wait::Options),
    /// print a line for each change of the tracked jobs, as it happens
    #[command(after_long_help = watch::OUTPUT_HELP)]
    Watch(watch::Options),
    /// print a one-line summary of the tracked jobs for tmux and shell prompts (sends no request)
    #[command(after_long_help = status::OUTPUT_HELP)]
    Status(status::Options),
    /// show page views by humans and AI, as a table, CSV, JSON or Markdown
    ///
    /// Fresh cached views cost no request. Views stay fresh for 5 minutes if they were loaded before the range ended,
    /// for an hour if within two hours after its end, and forever if later. All days are UTC, and ranges are inclusive.
    ///
    /// --all first prints how many requests it will probably use (the service doesn't report the number of rows), and
    /// stops when the hourly limit is reached.
    #[command(after_long_help = views::FORMAT_HELP)]
    Views(views::Options),
    /// show what readers searched for, and whether they clicked a result
    #[command(after_long_help = analytics::format_help(false), mut_arg("with_comments", |arg| arg.hide(true)))]
    Searches(analytics::Options),
    /// show the feedback of readers, comment by comment or counted by page
    #[command(after_long_help = analytics::format_help(true))]
    Feedback(analytics::FeedbackOptions),
    /// show the questions that readers asked the site's AI assistant, and whether it could answer them
    #[command(after_long_help = analytics::format_help(true))]
    Questions(analytics::Options),
    /// show the human and AI visitors of each page
    #[command(after_long_help = analytics::format_help(false), mut_arg("with_comments", |arg| arg.hide(true)))]
    Visitors(analytics::Options),
    /// show the pages that need work, according to page views, feedback, questions and searches
    #[command(after_long_help = analytics::needs_work::OUTPUT_HELP)]
    NeedsWork(analytics::needs_work::Options),
    /// write jobs and drafts as JSON Lines, for backup or another computer
    ///
    /// Exports drafts and jobs (threads, titles, tags, notes, pages) of all projects unless --project or --base-url
    /// selects one. Exports neither the key nor analytics, which can be loaded again. Needs no key and no network.
    ///
    /// Queued prompts are sent only from this computer: on another computer they are imported as unconfirmed, and
    /// docdeck never sends them there automatically. To move a queue, pause it first (p in the dashboard): paused
    /// prompts are imported as paused.
    #[command(after_long_help = export::FILE_FORMAT_HELP)]
    Export(export::Options),
    /// import a file of `docdeck export` from any computer, without duplicates
    ///
    /// All or nothing; importing a file again has no effect. A job in the file is matched with a tracked job
    /// by its id, or by the prompt that created it. If the file and this computer have different service data about a
    /// job, the newer data is kept. Tags and threads are merged. A title, note or draft on this computer is kept, and
    /// import reports what it left out.
    ///
    /// Prompts that were queued or being sent when the file was written are imported as unconfirmed: the other computer
    /// may still send them, so docdeck never sends them from here automatically. Paused prompts are imported as paused:
    /// resume them on one computer only. Imports all projects unless --project or --base-url selects one. Needs no key
    /// and no network.
    #[command(after_long_help = import::OUTPUT_HELP)]
    Import(import::Options),
    /// delete old analytics (or, with --jobs, finished jobs) from this computer
    ///
    /// Analytics (page views, visitors, searches, feedback, questions) can be loaded again, which uses requests.
    /// Comments and questions of readers are also deleted if they were loaded more than reader_text_days days ago
    /// (in the configuration file; 30 by default). Jobs and their prompts can't be loaded again; they are deleted only
    /// with --jobs. Needs no key and no network. Covers all projects unless --project or --base-url selects one.
    ///
    /// --jobs deletes a job and its thread if all of these hold: it is finished, gone or discarded; you have opened it;
    /// it has not changed for --older-than days. It never deletes a job that needs you or has a draft. To keep a copy,
    /// run `docdeck export` first.
    #[command(after_long_help = prune::OUTPUT_HELP)]
    Prune(prune::Options),
    /// share jobs and analytics of this project with other computers through PostgreSQL
    #[command(after_long_help = team::OUTPUT_HELP)]
    Team(team::Options),
    /// print a shell script that completes commands, options and job ids
    ///
    /// The shell runs docdeck each time you press Tab. Job ids come from the database on this computer, without a
    /// request.
    #[command(after_long_help = completions::SETUP_HELP)]
    Completions(completions::Options),
    /// print the manual as roff, for man
    #[command(after_long_help = man::USAGE_HELP)]
    Man(man::Options),
    /// open a topic of the guide, or the help of a command; without an argument, list the topics
    Help(help::Options),
    /// check configuration, files, database, network, key and terminal (changes nothing without --repair)
    ///
    /// Prints the state of each, and how to fix what is wrong. Sends one job lookup,
    /// which doesn't count toward the hourly limits. The report is safe to post: it contains no key and no password,
    /// and ids are shortened.
    #[command(after_long_help = doctor::OUTPUT_HELP)]
    Doctor(doctor::Options),
}

impl Command {
    /// Whether changes of the team are received before the command runs, so that it prints the latest jobs.
    pub(super) fn receives_team_jobs(&self) -> bool {
        matches!(self, Self::Jobs(_) | Self::Show(_) | Self::Watch(_))
    }

    /// Whether the command prints analytics. If so, reports of the team are received before the command runs, and the
    /// reports that the command has loaded are sent to the team after it.
    pub(super) fn prints_analytics(&self) -> bool {
        matches!(
            self,
            Self::Views(_)
                | Self::Searches(_)
                | Self::Feedback(_)
                | Self::Questions(_)
                | Self::Visitors(_)
                | Self::NeedsWork(_)
        )
    }

    /// Whether the command changes jobs. If so, the changes are sent to the team after the command.
    pub(super) fn changes_jobs(&self) -> bool {
        matches!(self, Self::New(_) | Self::Follow(_) | Self::Track(_) | Self::Approve(_) | Self::Merge(_))
    }

    /// Whether the command prints its result as JSON. An error is then printed as JSON too.
    pub(super) fn prints_json(&self) -> bool {
        match self {
            Self::New(options) => options.json,
            Self::Follow(options) => options.json,
            Self::Jobs(options) => options.json,
            Self::Show(options) => options.json,
            Self::Pr(options) => options.json,
            Self::Approve(options) => options.json,
            Self::Merge(options) => options.common.json,
            Self::Track(options) => options.json,
            Self::Wait(options) => options.json,
            Self::Watch(options) => options.json,
            Self::Status(options) => options.json,
            Self::Views(options) => options.is_json(),
            Self::Searches(options) | Self::Questions(options) | Self::Visitors(options) => options.is_json(),
            Self::Feedback(options) => options.is_json(),
            Self::NeedsWork(options) => options.is_json(),
            Self::Import(options) => options.json,
            Self::Doctor(options) => options.json,
            Self::Prune(options) => options.json,
            Self::Team(options) => options.prints_json(),
            Self::Demo { .. }
            | Self::Sim { .. }
            | Self::Diff(_)
            | Self::Init(_)
            | Self::Export(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Help(_) => false,
        }
    }
}

/// Options that every command accepts.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct GlobalArguments {
    /// use this profile of the configuration file
    #[arg(long, global = true, value_name = "NAME", value_parser = parse_global_option, add = super::completion_candidates::profiles())]
    pub(super) profile: Option<String>,
    /// use the service at this base URL
    #[arg(long, global = true, value_name = "URL", value_parser = parse_global_option)]
    pub(super) base_url: Option<String>,
    /// use the project with this id
    #[arg(long, global = true, value_name = "ID", value_parser = parse_global_option)]
    pub(super) project: Option<String>,
    /// read this configuration file
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// keep the database and the log in this folder
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(super) data_dir: Option<PathBuf>,
    /// choose when to use colour
    #[arg(long, global = true, value_name = "WHEN")]
    pub(super) color: Option<ColorChoice>,
    /// draw lines, bars and symbols in ASCII
    #[arg(long, global = true)]
    pub(super) ascii: bool,
}

impl From<GlobalArguments> for GlobalOptions {
    fn from(arguments: GlobalArguments) -> Self {
        let GlobalArguments { profile, base_url, project, config, data_dir, color, ascii } = arguments;
        Self { profile, base_url, project, config, data_dir, color, ascii }
    }
}

/// Options of the demo.
#[derive(Debug, Args)]
pub(super) struct DemoArguments {
    #[command(flatten)]
    pub(super) simulation: SimArguments,
    /// don't show the tour at the start
    #[arg(long)]
    pub(super) no_tour: bool,
    /// simulate a colleague who works on shared jobs too (needs PostgreSQL on this computer)
    #[arg(long)]
    pub(super) team: bool,
}

/// Options of the simulated service.
#[derive(Debug, Args)]
pub(super) struct SimArguments {
    /// start with this many jobs
    #[arg(long, value_name = "N", default_value_t = SimOptions::default().jobs, value_parser = number_parser(0..=u32::MAX, "a whole number, like 40"))]
    jobs: u32,
    /// simulate a site with this many pages
    #[arg(long, value_name = "N", default_value_t = SimOptions::default().pages, value_parser = number_parser(0..=u32::MAX, "a whole number, like 40"))]
    pages: u32,
    /// run jobs this many times faster than real time
    #[arg(long, value_name = "X", default_value_t = SimOptions::default().speed, value_parser = parse_speed)]
    speed: f64,
    /// generate data from this seed; the same seed gives the same data
    #[arg(long, value_name = "N", default_value_t = SimOptions::default().seed, value_parser = number_parser(0..=u64::MAX, "a whole number, like 7"))]
    seed: u64,
    /// simulate a fault, like views=503:0.3 (3 of 10 requests fail with status 503); can be repeated
    ///
    /// OP of the service: create, get, message (a follow-up), views, visitors, searches,
    /// feedback, feedback-by-page, questions, thread (a reader's conversation with the
    /// assistant), preview (start to build a preview of the site), build (get the state of
    /// that build) or all.
    /// KINDs that make a request fail: refuse (no response), 302 (a redirect), 400, 401, 403,
    /// 404, 500, 503, html and 502-html (an HTML page), 429 (Retry-After: 60 seconds),
    /// 429-SECONDS, 429-date (Retry-After: a date), 429-bare (no Retry-After).
    /// KINDs with a bad response: lost (carried out, but no response), 500-done (carried out,
    /// but status 500), malformed, empty, huge, slow, odd (wrong counts of views), tenths
    /// (counts with fractions), stuck (always the first rows), endless (no last page).
    /// KINDs that delay the request: latency-MS.
    ///
    /// OP of the code hosts: host-state, host-checks, host-details, host-diff, host-merge,
    /// host-review (also comments), host-edit (mark as ready, close) or host-all.
    /// KINDs that make a request fail: 401, 502, limit, limit-retry-after.
    /// KINDs with a bad response: forbidden-checks, other-repository (a pull request of
    /// another repository), half-missing (every other pull request), unknown-conflicts,
    /// many-files (above the limit of a diff), moving-head (always a new commit), hostile-text.
    /// KINDs that make an action go wrong: lost (carried out, but no response), refuse (not
    /// carried out, and no response), moved (a commit is pushed before the merge).
    #[arg(long = "fault", value_name = "OP=KIND[:PROBABILITY]", value_parser = str::parse::<Fault>, verbatim_doc_comment)]
    faults: Vec<Fault>,
}

impl SimArguments {
    pub(super) fn options(self, port: u16) -> SimOptions {
        let Self { jobs, pages, speed, seed, faults } = self;
        SimOptions { port, jobs, pages, speed, seed, faults }
    }
}

/// Rejects a blank value and removes blanks around others. The message states what applies without the option.
fn parse_global_option(text: &str) -> Result<String, String> {
    match parse_non_blank(text) {
        Err(_) => Err("it is blank; omit the option to use the environment or the configuration file".into()),
        Ok(text) => Ok(text.trim().to_owned()),
    }
}

fn parse_speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed > 0.0 && speed <= 1_000_000.0 => Ok(speed),
        _ => Err("it must be a number above 0, at most 1000000".into()),
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
    fn global_options_are_accepted_before_and_after_the_command() {
        let before = Arguments::parse_from(["docdeck", "--ascii", "--project", "p", "demo", "--seed", "3"]);
        let after = Arguments::parse_from(["docdeck", "demo", "--seed", "3", "--project", "p", "--ascii"]);
        assert!(before.global.ascii && after.global.ascii);
        assert_eq!(before.global.project, after.global.project);
        assert!(matches!(
            after.command,
            Some(Command::Demo(DemoArguments { simulation: SimArguments { seed: 3, .. }, .. }))
        ));
    }

    #[test]
    fn every_command_with_analytics_exchanges_reports_with_the_team() {
        for (word, exchanges) in [
            ("views", true),
            ("searches", true),
            ("feedback", true),
            ("questions", true),
            ("visitors", true),
            ("needs-work", true),
            ("jobs", false),
        ] {
            let arguments = Arguments::parse_from(["docdeck", word]);
            assert_eq!(arguments.command.map(|command| command.prints_analytics()), Some(exchanges), "{word}");
        }
    }

    #[test]
    fn the_small_parser_and_the_complete_parser_agree() {
        let lines: [&[&str]; 19] = [
            &[],
            &["--data-dir", "/x y", "--ascii"],
            &["--profile=a", "--color", "never", "--project", "p", "--base-url", "http://[::1]", "--config", "c"],
            &["--ascii", "demo"],
            &["--ascii", "--", "demo"],
            &["demo"],
            &["demo", "--ascii", "--seed", "3", "--no-tour"],
            &["demo", "--seed", "x"],
            &["demo", "--help"],
            &["demo", "demo"],
            &["demo", "jobs"],
            &["--ascii", "help"],
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
            let text_of = |result: Result<Arguments, clap::Error>| match result {
                Ok(arguments) => format!("{arguments:?}"),
                Err(error) => error.render().to_string(),
            };
            assert_eq!(text_of(Arguments::read(words())), text_of(Arguments::try_parse_from(words())), "{line:?}");
        }
    }

    #[test]
    fn there_is_no_option_for_the_api_key() {
        let help = Arguments::command().render_long_help().to_string();
        assert!(!help.contains("--api-key") && !help.contains("--key"), "{help}");
    }

    #[test]
    fn an_invalid_speed_is_refused() {
        for bad in ["0", "-1", "NaN", "inf", "fast"] {
            assert!(Arguments::try_parse_from(["docdeck", "demo", &format!("--speed={bad}")]).is_err(), "{bad}");
        }
    }
}
