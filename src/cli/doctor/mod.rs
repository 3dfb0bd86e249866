//! `docdeck doctor`: checks everything that docdeck depends on and reports problems with remedies. Changes nothing
//! without `--repair`. The report is safe to post in a bug report.
//!
//! [`Facts`] collects what the checks need. Each check is a function that derives a finding from the facts; the tables
//! below list the checks in the order of the report.

mod facts;
mod files;
mod permissions;
mod report;
mod service;
mod settings;
mod terminal;

use super::error::CliError;
use super::exit_code::Code;
use super::session::CommandContext;
use crate::model::ledger::RateLimited;
use clap::Args;
use facts::Facts;
use report::{CheckResult, CheckState, DoctorReport};

#[derive(Debug, Args)]
pub(super) struct Options {
    /// skip the request to the service
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
\"check\", \"state\", \"says\", \"remedy\"}]}; a state is ok, warning, problem or skipped.\n\
Exit codes: 0 no problem; 1 a problem; 2 usage.";

/// A check: its section in the report, its name and its function.
type Check = (&'static str, &'static str, fn(&Facts<'_>) -> CheckResult);

/// The section with the request budgets.
const REQUESTS: &str = "Requests in the last hour, this computer";

/// The checks that must come before a repair, which changes permissions.
const BEFORE_REPAIR: &[Check] = &[
    ("Configuration", "file", settings::file),
    ("Configuration", "profile", settings::profile),
    ("Configuration", "base URL", settings::base_url),
    ("Configuration", "project", settings::project),
    ("Configuration", "organization", settings::organization),
    ("Configuration", "key", settings::key),
    ("Configuration", "ca_file", settings::ca_file),
    ("Configuration", "project", settings::project_in_address),
    ("Configuration", "theme", settings::theme),
    ("Configuration", "customization", settings::customization),
    ("Configuration", "data folder", settings::data_folder),
    ("Files", "config folder", permissions::config_folder),
    ("Files", "data folder", permissions::data_folder),
    ("Files", "files", permissions::data_files),
    ("Files", "disk", files::disk),
    ("Files", "log", files::log),
];

const AFTER_REPAIR: &[Check] = &[
    ("Files", "repair", |facts| facts.repair.clone()),
    ("Files", "database", files::database),
    ("Files", "jobs", files::jobs),
    ("Files", "old databases", files::old_databases),
    ("Files", "old databases", files::damaged_page),
    ("Files", "running", files::running),
    ("Files", "sending", files::sending),
    (REQUESTS, "requests", files::unknown_budgets),
    (REQUESTS, "creates", |facts| files::budget(facts, RateLimited::Create)),
    (REQUESTS, "follow-ups", |facts| files::budget(facts, RateLimited::FollowUp)),
    (REQUESTS, "views", |facts| files::budget(facts, RateLimited::Views)),
    ("Network", "proxy", |facts| service::unusable_proxy(facts, 0)),
    ("Network", "proxy", |facts| service::unusable_proxy(facts, 1)),
    ("Network", "proxy", service::proxy),
    ("Network", "certificates", service::certificates),
    ("Service", "request", service::request),
    ("Service", "TLS", service::tls),
    ("Service", "connection", service::connection),
    ("Service", "project", service::project),
    ("Service", "key", service::key),
    ("Service", "clock", service::clock),
    ("Terminal", "TERM", terminal::term),
    ("Terminal", "size", terminal::size),
    ("Terminal", "colours", terminal::colors),
    ("Terminal", "characters", terminal::characters),
    ("Terminal", "multiplexer", terminal::multiplexer),
    ("Terminal", "clipboard", terminal::clipboard),
    ("Terminal", "mouse", terminal::mouse),
    ("Terminal", "links", terminal::links),
    ("Terminal", "browser", terminal::browser),
    ("Terminal", "editor", terminal::editor),
    ("Terminal", "replies", terminal::no_replies),
    ("Terminal", "background", terminal::background),
    ("Terminal", "keyboard", terminal::keyboard),
    ("Terminal", "device", terminal::device),
    ("Terminal", "replies", terminal::missing_replies),
];

/// Runs `docdeck doctor`.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    let CommandContext { flags, environment, out } = cx;
    let mut facts = Facts::read_settings(flags, environment, options.offline).await;
    out.configure(&facts.display, environment, flags);
    let mut report = DoctorReport::default();
    let mut run = |checks: &[Check], facts: &Facts<'_>| {
        checks.iter().for_each(|(section, name, check)| report.add(section, name, check(facts)));
    };
    run(BEFORE_REPAIR, &facts);
    if options.repair {
        facts.repair = files::repair(&facts).await;
    }
    facts.examine_store().await;
    facts.request_job().await;
    facts.query_terminal().await;
    run(AFTER_REPAIR, &facts);
    report.hide(facts.private_data());
    if options.json {
        out.json(&report.json());
    } else {
        let lines = report.lines(out, out.width());
        out.lines(&lines);
    }
    Ok(if report.count(CheckState::Problem) == 0 { Code::Done } else { Code::Failed })
}
