//! `docdeck follow`: a follow-up to a job that is known here.

use super::code::Code;
use super::desk::{Desk, Record};
use super::job_line::id;
use super::out::Out;
use super::prompt_text::Source;
use super::refusal::Refusal;
use super::sending::{Letter, Wish};
use super::wait::Patience;
use super::waiting::tell;
use super::which;
use crate::app::format::plural;
use crate::config::Flags;
use crate::config::environment::Environment;
use crate::engine::Duties;
use crate::model::prompt::{DeliveryKind, Prompt, PromptKind};
use crate::model::row::JobRow;
use clap::Args;

/// What `--json` gives, and the exit codes.
pub(super) const JSON: &str = "\
Follow-ups to one job go out in order. One that is unconfirmed, refused, not sent or paused holds the rest: then nothing \
is sent, and it says so (2).

With --json: a JOB as `docdeck jobs --help` tells, plus followUp: {prompt, delivery}; when the exit code is neither 0 nor \
1, error and exitCode in it. Piped, stdout is the job's id. Exit codes as those of `docdeck new`; 4 as well for a job that \
is not known here.";

/// The job, the follow-up, and what to wait for.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Id of a job known here, or the beginning of one
    #[arg(value_name = "ID", add = super::live::job_ids())]
    id: String,
    #[command(flatten)]
    source: Source,
    /// Wait until the job is finished, and for a place when the limit is used up
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    patience: Patience,
    /// Answer as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Sends it.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    options: &Options,
    out: &mut Out,
) -> Result<Code, Refusal> {
    let text = options.source.read()?;
    // Before the key is asked for: an id that is not known needs none.
    let row = Record::with(flags, environment, out, async |record, _| {
        Ok(which::find(&record.store.jobs(&record.scope).await?, &options.id)?.clone())
    });
    let row = row.await?;
    let wish = Wish { wait: options.wait, timer: options.patience.start(), json: options.json };
    let duties = if options.wait { Duties::Poll } else { Duties::None };
    Desk::with(flags, environment, duties, out, async |desk, out| send(desk, &row, &text, wish, out).await).await
}

async fn send(desk: &mut Desk, row: &JobRow, text: &str, wish: Wish, out: &mut Out) -> Result<Code, Refusal> {
    let thread = desk.store.thread(row.key).await?;
    let ahead: Vec<&Prompt> = thread.prompts.iter().filter(|prompt| prompt.delivery.kind().holds_the_rest()).collect();
    if let Some(holding) = ahead.iter().find(|prompt| is_held(prompt.delivery.kind())) {
        return Err(held(row, holding));
    }
    if !ahead.is_empty() {
        tell(
            &format!(
                "behind {} to this job that a dashboard or another command sends",
                plural(ahead.len(), "earlier prompt")
            ),
            out,
        );
    }
    let engine = desk.engine.clone();
    let (prompt, row) = desk.undisturbed(engine.submit_follow_up(row.key, text)).await?;
    Letter::new(prompt, PromptKind::FollowUp, row).see_off(desk, wish, out).await
}

/// Whether only the user can bring it further.
fn is_held(kind: DeliveryKind) -> bool {
    kind.needs_user() || kind == DeliveryKind::Paused
}

fn held(row: &JobRow, holding: &Prompt) -> Refusal {
    let kind = holding.delivery.kind();
    let key = if kind == DeliveryKind::Paused { "p" } else { "!" };
    Refusal::unusable(format!(
        "Nothing was sent: an earlier prompt of job {} is {}, and follow-ups go out in order. `{key}` on it in the \
         dashboard decides about that one; then send this again.",
        id(row),
        kind.word()
    ))
}
