//! `docdeck doctor`: checks everything that docdeck depends on, says of each thing how it is and what to do, and changes
//! nothing unless it is asked to repair the database. What it prints is fit for a bug report.

mod files;
mod modes;
mod report;
mod service;
mod settings;
mod terminal;

use super::error::CliError;
use super::exit_code::Code;
use super::out::{Out, rfc3339};
use crate::config::Flags;
use crate::config::environment::Environment;
use chrono::Utc;
use clap::Args;
use report::{CheckState, DoctorReport, ReportHead};

/// What to look at.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Leave out the one request to the service
    #[arg(long)]
    offline: bool,
    /// Repair the database if it is damaged: recover what can be read, and keep the damaged file
    #[arg(long)]
    repair: bool,
    /// Answer as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// The shape of `--json`, for the help.
pub(super) const JSON: &str = "With --json: {\"version\", \"platform\", \"at\", \"ok\", \"problems\", \"warnings\", \"checks\": [{\"section\",\n\
\"check\", \"state\", \"says\", \"remedy\"}]}; a state is ok, warning, problem or skipped.\n\
Exit code: 0 when there is no problem, 1 when there is one, 2 usage.";

/// Looks at everything, in an order in which each look may rest on those before it.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let mut report = DoctorReport::default();
    report.private.home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf());
    let known = settings::check(&mut report, flags, environment).await;
    out.dress(&known.look, environment, flags);
    let job = files::check(&mut report, &known, options.repair).await;
    service::check_route(&mut report, &known);
    service::check_answer(&mut report, &known, job, options.offline).await;
    terminal::check(&mut report, &known, environment).await;
    let head = ReportHead {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        at: rfc3339(Utc::now()),
    };
    if options.json {
        out.json(&report.json(&head));
    } else {
        let lines = report.lines(&head, out.width(), |meaning, text| out.paint(meaning, text));
        out.lines(&lines);
    }
    Ok(if report.count(CheckState::Problem) == 0 { Code::Done } else { Code::Failed })
}
