//! `docdeck doctor`: checks everything that docdeck depends on and reports problems with remedies. Changes nothing
//! without `--repair`. The report is safe to post in a bug report.

mod files;
mod modes;
mod report;
mod service;
mod settings;
mod terminal;

use super::error::CliError;
use super::exit_code::Code;
use super::out::{Out, rfc3339_seconds};
use crate::config::Flags;
use crate::config::environment::Environment;
use chrono::Utc;
use clap::Args;
use report::{CheckState, DoctorReport, ReportHead};

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

/// Runs `docdeck doctor`. Some checks use the results of earlier ones, so the order matters.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let mut report = DoctorReport::default();
    report.private.home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf());
    let settings = settings::check_settings(&mut report, flags, environment).await;
    out.configure(&settings.display, environment, flags);
    let job = files::check_files(&mut report, &settings, options.repair).await;
    service::check_route(&mut report, &settings);
    service::check_answer(&mut report, &settings, job, options.offline).await;
    terminal::check_terminal(&mut report, &settings, environment).await;
    let head = ReportHead {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        at: rfc3339_seconds(Utc::now()),
    };
    if options.json {
        out.json(&report.json(&head));
    } else {
        let lines = report.lines(&head, out.width(), |role, text| out.paint(role, text));
        out.lines(&lines);
    }
    Ok(if report.count(CheckState::Problem) == 0 { Code::Done } else { Code::Failed })
}
