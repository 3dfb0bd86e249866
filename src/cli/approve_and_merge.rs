//! `docdeck approve` and `docdeck merge`: act on the pull request of a job, if its head commit is the given one.

use super::confirm::confirm;
use super::error::CliError;
use super::exit_code::Code;
use super::job_format::jobs_json;
use super::out::Out;
use super::pull_requests::{configured_hosts, find_target, pull_requests_disabled_error, write_pull_request_table};
use super::session::{CommandContext, StoreSession};
use crate::engine::ActionRun;
use crate::model::pull_request_action::{ActionOutcome, MergeMethod, PullRequestAction};
use crate::model::text::CleanText;
use crate::runtime::hosts::ConfiguredHosts;
use clap::Args;
use std::io::IsTerminal as _;

/// Help text about the head commit, the output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
If --head is no longer the head commit, nothing is done: review the new commits first. The approval or merge is sent \
once. If the answer is lost, docdeck loads the state of the pull request again and prints it, but never repeats the \
approval or merge.

Prints the new state in the format of `docdeck pr` (or `docdeck pr --json`), and the result of the action on stderr.

Exit codes: 0 done; 2 usage, configuration or database error; 4 no such job, or not done: the pull \
request has a new head commit or is already merged or closed, or the host refused or could not be reached; 6 unconfirmed: the answer was lost, so it may have been done.";

/// The minimum number of digits of `--head`. Git abbreviates commit ids to at least this many digits.
const MIN_COMMIT_ID_DIGITS: usize = 7;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// id of a tracked job, or a unique prefix of it
    #[arg(value_name = "ID", add = super::completion_candidates::job_ids())]
    id: String,
    /// the head commit that you reviewed, at least 7 hex digits
    #[arg(long, value_name = "SHA", value_parser = parse_head_commit)]
    head: CleanText,
    /// print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct MergeOptions {
    #[command(flatten)]
    pub(super) common: Options,
    /// merge, squash or rebase [default: the repository's default method]
    #[arg(long, value_name = "METHOD", value_parser = parse_method)]
    method: Option<MergeMethod>,
    /// merge without asking
    #[arg(long)]
    yes: bool,
}

fn parse_head_commit(text: &str) -> Result<CleanText, String> {
    let is_hash = text.len() >= MIN_COMMIT_ID_DIGITS && text.len() <= 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    if is_hash {
        Ok(CleanText::line(&text.to_ascii_lowercase()))
    } else {
        Err("a commit has 7 or more hex digits".to_owned())
    }
}

fn parse_method(text: &str) -> Result<MergeMethod, String> {
    text.parse().map_err(|_| {
        let names: Vec<&str> = MergeMethod::ALL.iter().map(|method| method.name()).collect();
        format!("one of {}", names.join(", "))
    })
}

/// Runs `docdeck approve`.
pub(super) async fn approve(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    run(cx, options, PullRequestAction::Approve, true).await
}

/// Runs `docdeck merge`.
pub(super) async fn merge(cx: &mut CommandContext<'_>, options: &MergeOptions) -> Result<Code, CliError> {
    let can_ask = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !options.yes && !can_ask {
        return Err(CliError::local_error(
            "docdeck merge asks for confirmation, which needs a terminal. Add --yes to merge without asking.",
        ));
    }
    run(cx, &options.common, PullRequestAction::Merge(options.method), options.yes).await
}

async fn run(
    cx: &mut CommandContext<'_>,
    options: &Options,
    action: PullRequestAction,
    is_confirmed: bool,
) -> Result<Code, CliError> {
    let Some(hosts) = configured_hosts(cx)? else { return Err(pull_requests_disabled_error()) };
    if !hosts.settings.allows_actions {
        return Err(CliError::local_error(
            "Approving and merging are turned off: set actions = true under [pull_requests] in config.toml.",
        ));
    }
    let session = cx.open_store(true)?;
    let done = act_and_print(&session, &hosts, options, action, is_confirmed, cx.out).await;
    session.close().await;
    done
}

async fn act_and_print(
    session: &StoreSession,
    hosts: &ConfiguredHosts,
    options: &Options,
    action: PullRequestAction,
    is_confirmed: bool,
    out: &mut Out,
) -> Result<Code, CliError> {
    let found = find_target(session, hosts, &options.id).await?;
    let (target, client) = match found.and_then(|target| target.client.clone().map(|client| (target, client))) {
        Ok(found) => found,
        Err(problem) => return Err(CliError::new(Code::Service, problem)),
    };
    let (link, head, store) = (&target.linked.link, &options.head, &session.store);
    let prepared = match is_confirmed {
        true => Ok(action.clone()),
        false => ActionRun::prepare_action(store, &client, &target.linked, head, &action).await,
    };
    let outcome = match prepared {
        Err(outcome) => outcome,
        Ok(action) if !is_confirmed && !confirm(&action.question(link.number, &link.repository, head), out) => {
            return Err(CliError::new(Code::Service, "Nothing was done."));
        }
        Ok(action) => ActionRun::run(store, &client, &target.linked, head, &action).await.outcome,
    };
    let rows: Vec<_> = session.store.job(target.job).await?.into_iter().collect();
    let fields = serde_json::json!({ "jobs": jobs_json(&session.store, &rows).await? });
    let sentence = outcome.sentence(&action, link.number);
    let code = match outcome {
        ActionOutcome::Done => Code::Done,
        ActionOutcome::HeadChanged | ActionOutcome::NotDone(_) => Code::Service,
        ActionOutcome::Unconfirmed { .. } => Code::Unconfirmed,
    };
    if !options.json {
        write_pull_request_table(&rows, out);
    }
    if code != Code::Done {
        return Err(CliError::new(code, sentence).with_json_fields(fields));
    }
    if options.json {
        out.print_json(&fields);
    }
    out.note(&sentence);
    Ok(code)
}
