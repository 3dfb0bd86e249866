//! `docdeck status`: prints a one-line summary for a status line or a shell prompt. Sends no request, needs no key and
//! no async runtime, and opens the database read-only. With a team, `team::exchange_before_status` may exchange changes
//! before that, which needs both a runtime and a writable database.

use super::data_folder::{check_service_and_folder, cli_store_error};
use super::error::CliError;
use super::exit_code::Code;
use super::out::rfc3339_seconds;
use super::session::CommandContext;
use crate::config::{SetupState, data_folder, resolve};
use crate::model::Time;
use crate::store::{StatusSummary, Store};
use crate::tui::format::{needs_you_text, short_age};
use chrono::TimeDelta;
use clap::Args;
use serde_json::{Value, json};

/// Help text about the output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
Prints `2 need you · 3 working`, plus the number of queued and paused jobs if there are any. If the state of \
pull requests is known, also counts how many of the jobs that need you are ready for review, and how many have failing \
checks: `3 need you · 2 to review · 1 failing · 3 working`. If the working jobs have \
not been checked for ten minutes (no dashboard is running, or the service can't be reached), adds the age of the last \
check. Dismissed jobs count as working while the agent works on them. Prints `not set up` without a project, and `no \
jobs` if none is tracked; both exit with 0, so that a shell prompt stays quiet.

With --json: {\"needsYou\", \"toReview\", \"failing\", \"active\", \"queued\", \"paused\", \"known\", \"asOf\"}; all null if not set up. \"toReview\" \
and \"failing\" are included in \"needsYou\". \
\"active\" counts the working jobs, \"known\" all tracked jobs; \"asOf\" is the oldest check time of the \
working jobs, or null.

Exit codes: 0 printed; 2 usage, configuration or database error.

In tmux: set -g status-right '#(docdeck status)'";

/// If the last check of a working job was at least this long ago, the summary states how long ago. If there are several
/// such jobs, the summary states the longest of these times.
const STALE_AFTER: TimeDelta = TimeDelta::minutes(10);

#[derive(Debug, Args)]
pub(super) struct Options {
    /// print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs `docdeck status`.
pub(super) fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    let CommandContext { global_options, environment, out, .. } = cx;
    let (scope, display) = match resolve(global_options, environment)? {
        SetupState::Ready(settings) => (Some(settings.scope), settings.display),
        SetupState::Missing(missing) => (missing.scope.clone(), missing.display),
    };
    out.configure(&display, environment, global_options);
    let summary = match &scope {
        Some(scope) => {
            let folder = data_folder(global_options, environment)?;
            check_service_and_folder(scope, &folder)?;
            Store::status_summary(&folder, scope).map_err(|error| cli_store_error(&folder, &error))?.unwrap_or_default()
        }
        None => {
            if options.json {
                out.print_json(&summary_json(None));
            } else {
                out.print_line("not set up");
            }
            return Ok(Code::Done);
        }
    };
    if options.json {
        out.print_json(&summary_json(Some(summary)));
    } else {
        out.print_line(&summary_sentence(summary, chrono::Utc::now()));
    }
    Ok(Code::Done)
}

fn summary_sentence(summary: StatusSummary, now: Time) -> String {
    let StatusSummary { tracked: known, needs_you, pull_requests, active, queued, paused, as_of } = summary;
    if known == 0 {
        return "no jobs".to_owned();
    }
    let mut line = format!("{} · {active} working", needs_you_text(needs_you, pull_requests));
    if queued > 0 {
        line.push_str(&format!(" · {queued} queued"));
    }
    if paused > 0 {
        line.push_str(&format!(" · {paused} paused"));
    }
    if let Some(age) = as_of.map(|at| now - at).filter(|age| *age >= STALE_AFTER) {
        line.push_str(&format!(" · checked {} ago", short_age(age)));
    }
    line
}

fn summary_json(summary: Option<StatusSummary>) -> Value {
    let field = |of: fn(&StatusSummary) -> usize| summary.as_ref().map(of);
    json!({
        "needsYou": field(|summary| summary.needs_you),
        "toReview": field(|summary| summary.pull_requests.to_review),
        "failing": field(|summary| summary.pull_requests.failing),
        "active": field(|summary| summary.active),
        "queued": field(|summary| summary.queued),
        "paused": field(|summary| summary.paused),
        "known": field(|summary| summary.tracked),
        "asOf": summary.and_then(|summary| summary.as_of).map(rfc3339_seconds),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::job::PullRequestCounts;

    #[test]
    fn the_line_has_the_counts_and_the_age_of_an_old_check() {
        let now: Time = "2026-11-20T12:00:00Z".parse().expect("a time");
        let summary = StatusSummary {
            tracked: 5,
            needs_you: 2,
            active: 3,
            as_of: Some(now - TimeDelta::minutes(9)),
            ..StatusSummary::default()
        };
        assert_eq!(summary_sentence(summary, now), "2 need you · 3 working");
        let pull_requests = PullRequestCounts { to_review: 2, failing: 1 };
        let with_counts = StatusSummary { needs_you: 3, pull_requests, ..summary };
        assert_eq!(summary_sentence(with_counts, now), "3 need you · 2 to review · 1 failing · 3 working");
        let old =
            StatusSummary { needs_you: 1, queued: 4, paused: 1, as_of: Some(now - TimeDelta::hours(2)), ..summary };
        assert_eq!(summary_sentence(old, now), "1 needs you · 3 working · 4 queued · 1 paused · checked 2h ago");
        assert_eq!(
            summary_sentence(StatusSummary { tracked: 1, ..StatusSummary::default() }, now),
            "0 need you · 0 working"
        );
        assert_eq!(summary_sentence(StatusSummary::default(), now), "no jobs");
    }
}
