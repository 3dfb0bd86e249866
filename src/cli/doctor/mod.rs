//! `docdeck doctor`: checks everything that docdeck depends on and reports problems with remedies. Changes nothing
//! without `--repair`. The report is safe to post in a bug report.
//!
//! [`DoctorFacts`] collects what the checks need. Each check is a function that derives a finding from the facts;
//! [`CHECKS`] lists them in the order of the report. The checks of code hosts are in [`hosts`], because their number
//! varies.

mod facts;
mod files;
mod hosts;
mod permissions;
mod report;
mod service;
mod settings;
mod team;
mod terminal;

use super::error::CliError;
use super::exit_code::Code;
use super::session::CommandContext;
use clap::Args;
use facts::DoctorFacts;
use report::{CheckResult, DoctorReport, FindingState};

#[derive(Debug, Args)]
pub(super) struct Options {
    /// skip the requests to the service and to code hosts
    #[arg(long)]
    offline: bool,
    /// repair the database if it is damaged: recover what can be read, and keep the damaged file
    #[arg(long)]
    repair: bool,
    /// print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Help text about the JSON output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "With --json: {\"version\", \"platform\", \"at\", \"ok\", \"problems\", \"warnings\", \"checks\": [{\"section\",\n\
\"check\", \"state\", \"message\", \"remedy\"}]}; a state is ok, warning, problem or skipped.\n\
Exit codes: 0 no problem; 1 a problem; 2 usage.";

/// A check: its section in the report, its name and its function.
type Check = (&'static str, &'static str, fn(&DoctorFacts<'_>) -> CheckResult);

const CHECKS: &[Check] = &[
    ("Configuration", "file", settings::file),
    ("Configuration", "profile", settings::profile),
    ("Configuration", "base URL", settings::base_url),
    ("Configuration", "project", settings::project),
    ("Configuration", "key", settings::key),
    ("Configuration", "ca_file", settings::ca_file),
    ("Configuration", "theme", settings::theme),
    ("Configuration", "customization", settings::customization),
    ("Files", "config folder", permissions::config_folder),
    ("Files", "data folder", permissions::data_folder),
    ("Files", "disk", files::disk),
    ("Files", "log", files::log),
    ("Files", "repair", |facts| facts.repair.clone()),
    ("Files", "database", files::database),
    ("Files", "jobs", files::jobs),
    ("Files", "old databases", files::old_databases),
    ("Files", "running", files::running),
    ("Files", "requests", files::requests),
    ("Service", "proxy", service::proxy),
    ("Service", "certificates", service::certificates),
    ("Service", "connection", service::connection),
    ("Service", "access", service::access),
    ("Service", "clock", service::clock),
    ("Team", "database", team::database),
];

/// The checks at the end of the report, after the checks of code hosts.
const TERMINAL_CHECKS: &[Check] = &[
    ("Terminal", "TERM", terminal::term),
    ("Terminal", "size", terminal::size),
    ("Terminal", "colours", terminal::colors),
    ("Terminal", "characters", terminal::characters),
    ("Terminal", "clipboard", terminal::clipboard),
    ("Terminal", "mouse", terminal::mouse),
    ("Terminal", "links", terminal::links),
    ("Terminal", "editor", terminal::editor),
    ("Terminal", "replies", terminal::replies),
    ("Terminal", "background", terminal::background),
    ("Terminal", "keyboard", terminal::keyboard),
];

/// Runs `docdeck doctor`.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    let CommandContext { global_options, environment, out, .. } = cx;
    let mut facts = DoctorFacts::read_settings(global_options, environment, options.offline).await;
    out.configure(&facts.display, environment, global_options);
    if options.repair {
        facts.repair = files::repair(&facts).await;
    }
    facts.examine_store().await;
    facts.request_job().await;
    facts.examine_hosts().await;
    facts.examine_team().await;
    facts.query_terminal().await;
    let run = |checks: &'static [Check]| {
        checks.iter().filter_map(|(section, name, check)| Some((*section, *name, check(&facts)?)))
    };
    let hosts = hosts::findings(&facts).into_iter().filter_map(|(name, found)| Some(("Code hosts", name, found?)));
    let findings = run(CHECKS).chain(hosts).chain(run(TERMINAL_CHECKS)).collect();
    let report = DoctorReport { findings, private_data: facts.private_data() };
    if options.json {
        out.print_json(&report.json());
    } else {
        let lines = report.lines(out, out.width());
        out.print_lines(&lines);
    }
    Ok(if report.count(FindingState::Problem) == 0 { Code::Done } else { Code::Failed })
}
