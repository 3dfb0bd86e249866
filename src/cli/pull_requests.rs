//! `docdeck pr`: asks the code hosts for the state of pull requests, stores it and prints it.

use super::error::CliError;
use super::exit_code::Code;
use super::job_format::{id_text, jobs_json};
use super::out::Out;
use super::resolve_id;
use super::session::{CommandContext, StoreSession};
use super::table::{ColumnKind, TextCell, TextColumn, table_lines};
use crate::api::hosts::{HostClient, HostErrorKind};
use crate::config::{self, SetupState, resolve};
use crate::engine::{
    HostAccess, HostClients as _, LinkedPullRequest, PullRequestStates, max_links_per_read, no_token_text,
    pull_requests_by_host,
};
use crate::model::colors::ColorRole;
use crate::model::job::{Job, JobKey};
use crate::model::pull_request::{
    Checks, ChecksState, PULL_REQUESTS_DISABLED, PullRequest, ReviewDecision, short_commit,
};
use crate::runtime::hosts::ConfiguredHosts;
use crate::store::{Store, StoreError};
use clap::Args;

/// Help text about hosts, the output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
Without IDs, loads the pull requests that were open when they were last loaded, and those that were never loaded. \
GitHub is called twice per 25 pull requests, GitLab once per merge request. docdeck uses the tokens of gh and glab, the \
command-line tools of GitHub and GitLab, unless config.toml has a section [hosts.\"HOST\"]. The calls don't count \
toward the limits of the service.

With --json: {\"jobs\": [JOB, …]} as in `docdeck jobs --help`; the state is in \"pullRequest\": {\"number\", \"url\", \
\"title\", \"state\" (open, draft, queued, merged, closed), \"checks\": {\"state\" (passing, failing, pending, none, \
unavailable), \"passed\", \"total\", \"failed\": [{\"name\", \"url\"}, …]}, \"review\" (approved, changes_requested, \
required, none; null if the host doesn't report it), \"conflict\", \"behind\" (true if the base branch has \
newer commits), \"head\" (commit), \"branch\", \"additions\", \"deletions\", \"files\" (their number), \
\"mergedAt\", \"asOf\" (when the state was read), \"checksAsOf\" (null if the checks were never read)}. \
\"pullRequest\" is null if the state is unknown.

When piped, it prints one line per job, with tab-separated fields: id, pull request URL, state, checks, review, head commit, \
title.

Exit codes: 0 read; 2 usage, configuration or database error; 4 no such job, or at least one pull request could not be \
read; its last known state is printed.";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// ids of tracked jobs, or unique prefixes of them
    #[arg(value_name = "ID", add = super::completion_candidates::job_ids())]
    ids: Vec<String>,
    /// print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs `docdeck pr`.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    let hosts = configured_hosts(cx)?;
    let session = cx.open_store(true)?;
    let done = read_and_print(&session, hosts.as_ref(), options, cx.out).await;
    session.close().await;
    done
}

/// Returns the configured hosts; `None` if the configuration turns requests to code hosts off.
pub(super) fn configured_hosts(cx: &CommandContext<'_>) -> Result<Option<ConfiguredHosts>, CliError> {
    let (settings, roots) = match resolve(cx.global_options, cx.environment)? {
        SetupState::Ready(settings) => (settings.hosts.clone(), settings.client_options()?.roots),
        SetupState::Missing(_) => (config::host_settings(cx.global_options, cx.environment)?, None),
    };
    Ok(settings.map(|settings| ConfiguredHosts { settings, roots }))
}

async fn read_and_print(
    session: &StoreSession,
    hosts: Option<&ConfiguredHosts>,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let Some(hosts) = hosts else {
        return Err(pull_requests_disabled_error());
    };
    let keys: Vec<JobKey> = if options.ids.is_empty() {
        // The store returns the oldest job first, but the newest one is the most interesting.
        let open = session.store.jobs_with_pull_requests(&session.scope, false).await?;
        open.iter().rev().map(|job| job.key).collect()
    } else {
        let all = session.store.jobs(&session.scope).await?;
        resolve_id::find_all_by_id_prefix(&all, &options.ids)?.into_iter().map(|job| job.key).collect()
    };
    let mut jobs = Vec::with_capacity(keys.len());
    for key in keys {
        jobs.extend(session.store.job(key).await?);
    }
    let problems = refresh_pull_requests(&session.store, hosts, &jobs).await?;
    let mut rows = Vec::with_capacity(jobs.len());
    for job in &jobs {
        rows.extend(session.store.job(job.key).await?);
    }
    let fields = serde_json::json!({ "jobs": jobs_json(&session.store, &rows).await? });
    if !options.json {
        write_pull_request_table(&rows, out);
        if rows.is_empty() {
            out.note("No job has an open pull request.");
        }
    }
    if !problems.is_empty() {
        let sentences: Vec<String> = problems.into_iter().map(|problem| problem.text).collect();
        return Err(CliError::new(Code::Service, sentences.join("\n")).with_json_fields(fields));
    }
    if options.json {
        out.print_json(&fields);
    }
    Ok(Code::Done)
}

/// Why the state of a pull request was not read.
#[derive(Debug)]
pub(super) struct ReadProblem {
    /// A sentence for the user.
    pub(super) text: String,
    /// Whether the problem lasts until the user changes something.
    pub(super) is_lasting: bool,
}

impl ReadProblem {
    fn lasting(text: String) -> Self {
        Self { text, is_lasting: true }
    }

    /// Creates the problem for an error of a host. A wrong address, a refused token, a pull request that doesn't exist
    /// and an answer about another pull request stay the same until the user changes something.
    fn from_host_error(text: String, kind: &HostErrorKind) -> Self {
        let is_lasting = matches!(
            kind,
            HostErrorKind::InvalidAddress
                | HostErrorKind::Unauthorized
                | HostErrorKind::NotFound
                | HostErrorKind::OtherPullRequest
        );
        Self { text, is_lasting }
    }
}

/// Reads and stores the state of the pull requests of these jobs. Returns the problems.
///
/// # Errors
/// Fails if the store can't be written.
pub(super) async fn refresh_pull_requests(
    store: &Store,
    hosts: &ConfiguredHosts,
    jobs: &[Job],
) -> Result<Vec<ReadProblem>, StoreError> {
    let mut problems = Vec::new();
    for job in jobs {
        if !job.has_supported_pr_link() {
            problems.push(ReadProblem::lasting(no_pull_request_text(job)));
        }
    }
    for ((host, kind), requested) in pull_requests_by_host(jobs) {
        let client = match hosts.access(&host, kind).await {
            HostAccess::Client(client) => client,
            HostAccess::NoToken => {
                problems.push(ReadProblem::lasting(no_token_text(&host, kind)));
                continue;
            }
            HostAccess::Unusable(why) => {
                problems.push(ReadProblem::lasting(why.to_string()));
                continue;
            }
        };
        for chunk in requested.chunks(max_links_per_read(kind)) {
            let round = PullRequestStates::read(&client, chunk, true).await;
            let points = round.responses.iter().map(|(budget, _)| budget.cost.unwrap_or(1)).sum();
            store.record_host_points(&host, points, chrono::Utc::now()).await?;
            store.apply_pull_requests(round.reported, chrono::Utc::now()).await?;
            problems.extend(
                round.failed.iter().map(|(link, error)| {
                    ReadProblem::from_host_error(format!("#{}: {error}.", link.number), &error.kind)
                }),
            );
            if let Some(error) = round.responses.into_iter().find_map(|(_, error)| error) {
                problems.push(ReadProblem::from_host_error(format!("{error}."), &error.kind));
                if error.kind.affects_other_requests() {
                    break;
                }
            }
        }
    }
    Ok(problems)
}

/// A job's pull request, and the client for its code host.
pub(super) struct PullRequestTarget {
    pub(super) job: JobKey,
    pub(super) linked: LinkedPullRequest,
    /// The error is a sentence that states why no request can be sent to the host.
    pub(super) client: Result<HostClient, String>,
}

/// Finds the pull request of a job by the job's id. The inner error is a sentence for a job without a pull request.
///
/// # Errors
/// Fails if there is no such job, or the store can't be read.
pub(super) async fn find_target(
    session: &StoreSession,
    hosts: &ConfiguredHosts,
    id: &str,
) -> Result<Result<PullRequestTarget, String>, CliError> {
    let rows = session.store.jobs(&session.scope).await?;
    let job = resolve_id::find_by_id_prefix(&rows, id)?;
    let by_host = pull_requests_by_host([job]).pop_first();
    let Some(((host, kind), Some(linked))) = by_host.map(|(host, mut linked)| (host, linked.pop())) else {
        return Ok(Err(no_pull_request_text(job)));
    };
    let client = match hosts.access(&host, kind).await {
        HostAccess::Client(client) => Ok(client),
        HostAccess::NoToken => Err(no_token_text(&host, kind)),
        HostAccess::Unusable(why) => Err(why.to_string()),
    };
    Ok(Ok(PullRequestTarget { job: job.key, linked, client }))
}

/// Returns a sentence that states why docdeck can't read a pull request of the job.
fn no_pull_request_text(job: &Job) -> String {
    match &job.remote.pr_link {
        None => format!("The job {} has no pull request.", id_text(job)),
        Some(link) => format!("{link} is not a link to a pull request on GitHub or GitLab."),
    }
}

/// Returns the error for a configuration that turns requests to code hosts off.
pub(super) fn pull_requests_disabled_error() -> CliError {
    CliError::local_error(PULL_REQUESTS_DISABLED)
}

/// Writes the state of pull requests, one job per line.
pub(super) fn write_pull_request_table(rows: &[Job], out: &mut Out) {
    let state = |row: &Job| row.pull_request.as_deref().map(|state| (state.main_fact(), state.clone()));
    let columns = [
        TextColumn::new("ID", ColumnKind::Id, |row: &&Job, _| TextCell::new(ColorRole::Muted, id_text(row))),
        TextColumn::new("PR", ColumnKind::Left, |row: &&Job, _| {
            let number = row.pr_number().map(|number| format!("#{number}")).unwrap_or_default();
            TextCell::new(ColorRole::Text, number).with_piped_text(row.pr_url().unwrap_or_default().as_str())
        }),
        TextColumn::new("STATE", ColumnKind::Left, move |row: &&Job, _| match state(row) {
            Some((fact, _)) => TextCell::new(fact.color_role(), fact.word_and_meaning().0),
            None => TextCell::new(ColorRole::Muted, "unknown"),
        }),
        TextColumn::new("CHECKS", ColumnKind::Left, |row: &&Job, _| {
            TextCell::new(ColorRole::Text, row.pull_request.as_deref().map(checks_text).unwrap_or_default())
        }),
        TextColumn::new("REVIEW", ColumnKind::Left, |row: &&Job, _| {
            TextCell::new(
                ColorRole::Text,
                row.pull_request
                    .as_deref()
                    .map(|state| state.review.map_or("unknown", ReviewDecision::word))
                    .unwrap_or_default(),
            )
        }),
        TextColumn::new("HEAD", ColumnKind::Left, |row: &&Job, _| {
            let head = row.pull_request.as_ref().map(|state| state.head.clone()).unwrap_or_default();
            TextCell::new(ColorRole::Muted, short_commit(&head)).with_piped_text(head.as_str())
        }),
        TextColumn::new("TITLE", ColumnKind::Flexible { min: 12 }, |row: &&Job, _| {
            let title = row.pull_request.as_ref().map_or(&row.local.title, |state| &state.title);
            TextCell::new(ColorRole::Text, title.as_str())
        }),
    ];
    let lines = table_lines(&columns, &rows.iter().collect::<Vec<_>>(), out);
    out.print_lines(&lines);
}

/// Returns the state of the checks, with their numbers if the host reports them.
pub(super) fn checks_text(state: &PullRequest) -> String {
    let Checks { state, passed, total, .. } = &state.checks;
    let is_counted = *total > 0 && !matches!(state, ChecksState::None | ChecksState::Unavailable);
    if is_counted { format!("{} {passed}/{total}", state.word()) } else { state.word().to_owned() }
}
