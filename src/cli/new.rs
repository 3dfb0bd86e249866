//! `docdeck new`: creates a job from a prompt, or many jobs from a file of prompts.

use super::batch;
use super::error::CliError;
use super::exit_code::Code;
use super::prompt_text::PromptSource;
use super::sending::{SendOptions, SubmittedPrompt};
use super::session::CommandContext;
use super::waiting::WaitTimeout;
use crate::model::prompt::PromptKind;
use clap::Args;
use std::path::PathBuf;

/// Help text about the output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
The prompt is saved before it is sent, and sent only once. When piped, it prints only the job id; progress is on stderr.

A batch is saved in full, then sent as fast as the limit allows. The command runs until all prompts are sent, or \
with --wait until all jobs are finished. If it is interrupted, the unsent prompts are paused in the queue; --rest \
sends them. Prompts that are in the queue already, or were sent in the last 24 hours, are sent again only with \
--again. When piped, it prints only the ids, each as soon as its job is accepted.

With --json: JOB as in `docdeck jobs --help`; for a batch {\"jobs\": [JOB, …]}; for --dry-run the \
numbers \"prompts\" (to send), \"known\" (skipped, because they were sent before), \"now\" (sent at once), \"later\" \
(sent when the limit allows it), \"ahead\" (queued before these), \"limit\" (new jobs an hour) and \"usedHere\" \
(how many of them this computer has used), and the earliest times at which the first and the last of the \"later\" \
prompts can be sent: \"laterFrom\" and \"lastNotBefore\" (null if there are none). If the service \
returns the same id for two new jobs, docdeck treats them as one job: a note is printed on stderr, and \"sharesIdWith\" lists the \
other prompts. If the exit code is neither 0 nor 1, the object has \"error\" and \"exitCode\".

Exit codes: 0 accepted (with --wait: done); 1 the job failed (with --wait); 2 usage, configuration or database error; \
3 key refused; 4 rejected or not sent; 5 hourly limit reached, the prompt is saved and paused; 6 unconfirmed; 124 \
timeout; 130 Ctrl-C.

After 6, don't just run the command again. Either the answer was lost, and the job may exist; or the job was accepted, \
but could not be recorded; or its id could not be written to stdout (disk full). In the last two cases, the id is on \
stderr.";

#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    source: PromptSource,
    /// create many jobs from a file: prompts separated by blank lines, CSV with a `prompt` column, or JSON Lines; `-`
    /// is stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "file"])]
    batch: Option<PathBuf>,
    /// only print how many jobs can start now, and when the others can
    #[arg(long, requires = "batch", conflicts_with_all = ["prompt", "file"])]
    pub(super) dry_run: bool,
    /// queue the batch for a running dashboard to send; needs no key
    #[arg(long, requires = "batch", conflicts_with_all = ["prompt", "file", "dry_run", "wait", "timeout"])]
    pub(super) queue: bool,
    /// send only the prompts that an earlier run did not send
    #[arg(long, requires = "batch", conflicts_with_all = ["prompt", "file"])]
    pub(super) rest: bool,
    /// send all prompts, even those that were sent or queued before
    #[arg(long, requires = "batch", conflicts_with_all = ["prompt", "file", "rest"])]
    pub(super) again: bool,
    /// wait out the hourly limit, then wait for the job to finish
    #[arg(long)]
    pub(super) wait: bool,
    #[command(flatten)]
    pub(super) wait_timeout: WaitTimeout,
    /// print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs `docdeck new`.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    if let Some(file) = &options.batch {
        return batch::run(cx, file, options).await;
    }
    let text = options.source.read()?;
    let send_options =
        SendOptions { should_wait: options.wait, timer: options.wait_timeout.start(), as_json: options.json };
    cx.with_session(send_options.required_leases(), async |session, out| {
        let engine = session.engine.clone();
        // A signal is handled only after the prompt is saved, so that the prompt is never half saved.
        let (prompt, row) = session.run_uninterrupted(engine.submit_new_job(&text)).await?;
        SubmittedPrompt::new(prompt, PromptKind::Create, row).wait_and_print_result(session, send_options, out).await
    })
    .await
}
