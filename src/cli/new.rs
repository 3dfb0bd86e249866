//! `docdeck new`: a prompt becomes a job, or a file of prompts many.

use super::batch;
use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use super::prompt_text::PromptSource;
use super::sending::{SendOptions, SentPrompt};
use super::session::Session;
use super::wait::Patience;
use crate::config::Flags;
use crate::config::environment::Environment;
use crate::engine::LeaseRoles;
use crate::model::prompt::PromptKind;
use clap::Args;
use std::path::PathBuf;

/// What `--json` gives, and the exit codes.
pub(super) const JSON: &str = "\
The prompt is on disk before it is sent, and sent once. Piped, stdout is the job's id; progress is on stderr.

A batch is queued on disk as a whole, then sent at the pace that the limit allows; the command stays until all are sent, \
or with --wait until all jobs are finished. Broken off, what has not gone out is paused in the queue, and --rest goes on \
with it. Prompts that are the same as some that wait here, or went out within 24 hours, are not sent again without being \
asked for. Piped, the ids come on stdout as they are accepted.

With --json: a JOB as `docdeck jobs --help` tells, for a batch {\"jobs\": [JOB, …]}, for --dry-run {\"prompts\", \"known\", \
\"now\", \"later\", \"laterFrom\", \"lastNotBefore\", \"ahead\", \"usedHere\", \"limit\"}. If the service answers two new jobs with the same \
id, they are one job: stderr tells so, and sharesIdWith lists the other prompts. When the exit code is neither 0 nor 1, error and exitCode in it.

Exit code: 0 accepted, with --wait done; 1 with --wait: the job failed; 2 usage, configuration or store; 3 key refused; 4 \
not sent or refused; 5 the limit is used up: the prompt is kept, paused; 6 unconfirmed: the answer was lost, so nobody \
knows whether there is a job, or the job was accepted and could not be recorded, or its id could not be written to stdout \
(a full disk: stderr has the id), and the command must not simply be run again; 124 the time was up; 130 Ctrl-C.";

/// The prompt, and what to wait for.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    source: PromptSource,
    /// Many jobs from a file: prompts apart by blank lines, CSV with a column `prompt`, or JSON Lines; `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "file"])]
    batch: Option<PathBuf>,
    /// Only say what the batch costs
    #[arg(long, requires = "batch", conflicts_with_all = ["prompt", "file"])]
    pub(super) dry_run: bool,
    /// Queue the batch and leave sending to a dashboard, which has to be running; needs no key
    #[arg(long, requires = "batch", conflicts_with_all = ["prompt", "file", "dry_run", "wait", "timeout"])]
    pub(super) queue: bool,
    /// Of a batch that was begun before: only what has not gone out
    #[arg(long, requires = "batch", conflicts_with_all = ["prompt", "file"])]
    pub(super) rest: bool,
    /// The batch once more, though its prompts went out or wait already
    #[arg(long, requires = "batch", conflicts_with_all = ["prompt", "file", "rest"])]
    pub(super) again: bool,
    /// Wait until the job is finished, and for a place when the limit is used up
    #[arg(long)]
    pub(super) wait: bool,
    #[command(flatten)]
    pub(super) patience: Patience,
    /// Answer as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Makes the job.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    if let Some(file) = &options.batch {
        return batch::run(flags, environment, file, options, out).await;
    }
    let text = options.source.read()?;
    let wish = SendOptions { wait: options.wait, timer: options.patience.start(), json: options.json };
    let duties = if options.wait { LeaseRoles::Poll } else { LeaseRoles::None };
    Session::with(flags, environment, duties, out, async |desk, out| send(desk, &text, wish, out).await).await
}

async fn send(desk: &mut Session, text: &str, wish: SendOptions, out: &mut Out) -> Result<Code, CliError> {
    let engine = desk.engine.clone();
    // A signal at this moment is told afterwards: the prompt is on disk or it is not.
    let (prompt, row) = desk.undisturbed(engine.submit_new_job(text)).await?;
    SentPrompt::new(prompt, PromptKind::Create, row).see_off(desk, wish, out).await
}
