//! `docdeck status`: one line from the record for a status line or a shell's prompt. No request, no key, no event loop;
//! the file is opened for reading only.

use super::data_folder::{can_be_known, unusable};
use super::error::CliError;
use super::exit_code::Code;
use super::out::{Out, rfc3339};
use crate::app::format::coarse;
use crate::config::environment::Environment;
use crate::config::{Flags, SetupState, data_folder, resolve};
use crate::model::Time;
use crate::store::{StatusSummary, Store};
use chrono::TimeDelta;
use clap::Args;
use serde_json::{Value, json};

/// What is said, and how.
pub(super) const JSON: &str = "\
Prints `2 need you · 3 working`, and how many are queued or paused if any are. If the working ones were not checked for ten \
minutes (no dashboard runs, or it can't reach the service), the age of that check follows. Dismissed jobs count as \
working while the agent works on them. Without a project it \
says `not set up`, where nothing is known yet `no jobs known here`; both end with 0, so that a prompt stays quiet.

With --json: {\"needYou\", \"active\", \"queued\", \"paused\", \"known\", \"asOf\"}; all null where it is not set up. active is the number \
of working jobs, asOf the oldest last check of one, null if there is none.

Exit code: 0 said, 2 usage, configuration or store.

In tmux: set -g status-right '#(docdeck status)'";

/// Checks of working jobs that are older than this are shown with their age.
const FRESH: TimeDelta = TimeDelta::minutes(10);

/// How to say it.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Answer as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Says it.
pub(super) fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let (scope, look) = match resolve(flags, environment)? {
        SetupState::Ready(settings) => (Some(settings.scope), settings.look),
        SetupState::Missing(missing) => (missing.scope.clone(), missing.look),
    };
    out.dress(&look, environment, flags);
    let glance = match &scope {
        Some(scope) => {
            let folder = data_folder(flags, environment)?;
            can_be_known(scope, &folder)?;
            Store::glance(&folder, scope).map_err(|error| unusable(&folder, &error))?.unwrap_or_default()
        }
        None => {
            if options.json {
                out.json(&as_json(None));
            } else {
                out.line("not set up");
            }
            return Ok(Code::Done);
        }
    };
    if options.json {
        out.json(&as_json(Some(glance)));
    } else {
        out.line(&sentence(glance, chrono::Utc::now()));
    }
    Ok(Code::Done)
}

fn sentence(glance: StatusSummary, now: Time) -> String {
    let StatusSummary { known, needs_you, active, queued, paused, as_of } = glance;
    if known == 0 {
        return "no jobs known here".to_owned();
    }
    let verb = if needs_you == 1 { "needs" } else { "need" };
    let mut line = format!("{needs_you} {verb} you · {active} working");
    if queued > 0 {
        line.push_str(&format!(" · {queued} queued"));
    }
    if paused > 0 {
        line.push_str(&format!(" · {paused} paused"));
    }
    if let Some(age) = as_of.map(|at| now - at).filter(|age| *age >= FRESH) {
        line.push_str(&format!(" · seen {} ago", coarse(age)));
    }
    line
}

fn as_json(glance: Option<StatusSummary>) -> Value {
    let field = |of: fn(&StatusSummary) -> usize| glance.as_ref().map(of);
    json!({
        "needYou": field(|glance| glance.needs_you),
        "active": field(|glance| glance.active),
        "queued": field(|glance| glance.queued),
        "paused": field(|glance| glance.paused),
        "known": field(|glance| glance.known),
        "asOf": glance.and_then(|glance| glance.as_of).map(rfc3339),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_counts_and_tells_the_age_of_what_is_old() {
        let now: Time = "2026-11-20T12:00:00Z".parse().expect("a time");
        let glance = StatusSummary {
            known: 5,
            needs_you: 2,
            active: 3,
            as_of: Some(now - TimeDelta::minutes(9)),
            ..StatusSummary::default()
        };
        assert_eq!(sentence(glance, now), "2 need you · 3 working");
        let old =
            StatusSummary { needs_you: 1, queued: 4, paused: 1, as_of: Some(now - TimeDelta::hours(2)), ..glance };
        assert_eq!(sentence(old, now), "1 needs you · 3 working · 4 queued · 1 paused · seen 2h ago");
        assert_eq!(sentence(StatusSummary { known: 1, ..StatusSummary::default() }, now), "0 need you · 0 working");
        assert_eq!(sentence(StatusSummary::default(), now), "no jobs known here");
    }
}
