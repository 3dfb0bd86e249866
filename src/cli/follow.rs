//! `docdeck follow`: sends a follow-up to a tracked job.

use super::error::CliError;
use super::exit_code::Code;
use super::job_format::id_text;
use super::out::Out;
use super::prompt_text::PromptSource;
use super::resolve_id;
use super::sending::{SendOptions, SubmittedPrompt};
use super::session::{CommandContext, Session, StoreSession};
use super::waiting::{WaitTimeout, log_progress};
use crate::model::job::Job;
use crate::model::prompt::{DeliveryKind, PromptId, PromptKind};
use crate::model::text::CleanText;
use crate::tui::format::plural;
use clap::Args;

/// The maximum length, in characters, of a prompt that a message quotes.
const MAX_QUOTE_CHARS: usize = 60;

/// Help text about the JSON output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
Follow-ups to a job are sent in order. An unconfirmed or paused follow-up blocks a new one: then nothing is sent, and \
the exit code is 2. A new follow-up replaces one that was rejected or not sent; `docdeck show ID` still lists the \
replaced one.

With --json: JOB as in `docdeck jobs --help`, plus \"followUp\": {\"prompt\", \"delivery\"} and, if earlier \
prompts were discarded, \"discarded\": [{\"prompt\", \"delivery\"}, …]; plus \"error\" and \"exitCode\" if the \
exit code is neither 0 nor 1. When piped, it prints only the job id. The exit codes are those of `docdeck new`; 4 also \
means that the job is not tracked.";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// id of a tracked job, or a unique prefix of it
    #[arg(value_name = "ID", add = super::completion_candidates::job_ids())]
    id: String,
    #[command(flatten)]
    source: PromptSource,
    /// wait out the hourly limit, then wait for the job to finish
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    wait_timeout: WaitTimeout,
    /// print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs `docdeck follow`.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    let text = options.source.read()?;
    // The job is found before the API key is read, because an unknown id can be reported without the key.
    let find = async |session: &StoreSession, _: &mut Out| {
        Ok(resolve_id::find_by_id_prefix(&session.store.jobs(&session.scope).await?, &options.id)?.clone())
    };
    let row = cx.with_store(find).await?;
    let send_options =
        SendOptions { should_wait: options.wait, timer: options.wait_timeout.start(), as_json: options.json };
    let work = async |session: &mut Session, out: &mut Out| send_to_job(session, &row, &text, send_options, out).await;
    cx.with_session(send_options.required_leases(), work).await
}

async fn send_to_job(
    session: &mut Session,
    row: &Job,
    text: &str,
    send_options: SendOptions,
    out: &mut Out,
) -> Result<Code, CliError> {
    let thread = session.store.thread(row.key).await?;
    let ahead = thread
        .prompts
        .iter()
        .filter(|prompt| prompt.is_from_this_computer())
        .map(|prompt| (prompt.id, prompt.delivery.kind()));
    let ahead: Vec<(PromptId, DeliveryKind)> =
        ahead.filter(|(_, kind)| kind.blocks_later_prompts() && !kind.certainly_had_no_effect()).collect();
    for (prompt, kind) in &ahead {
        // A prompt is also `Paused` while another running command has reserved it and will send it. Then `is_paused` is
        // false, and the user has nothing to decide.
        let is_reserved = *kind == DeliveryKind::Paused && !session.engine.is_paused(*prompt).await?;
        if needs_decision(*kind) && !is_reserved {
            return Err(blocked_error(row, *kind));
        }
    }
    if !ahead.is_empty() {
        log_progress(
            &format!(
                "waiting for {} to this job, sent by a dashboard or another command",
                plural(ahead.len(), "earlier prompt")
            ),
            out,
        );
    }
    let engine = session.engine.clone();
    let (prompt, row, discarded) =
        session.run_uninterrupted(engine.submit_follow_up_discarding_undelivered(row.key, text)).await?;
    for earlier in &discarded {
        let title = CleanText::title(&earlier.text, MAX_QUOTE_CHARS);
        out.note(&format!("Discarded the earlier prompt “{title}”, which was {}.", earlier.delivery.kind().word()));
    }
    SubmittedPrompt::new(prompt, PromptKind::FollowUp, row)
        .with_discarded(discarded)
        .wait_and_print_result(session, send_options, out)
        .await
}

/// Whether the user must decide what happens to the prompt: it is `Paused`, or it is `Unconfirmed` and may have
/// arrived.
fn needs_decision(kind: DeliveryKind) -> bool {
    matches!(kind, DeliveryKind::Unconfirmed | DeliveryKind::Paused)
}

fn blocked_error(row: &Job, kind: DeliveryKind) -> CliError {
    let what_to_do = if kind == DeliveryKind::Paused {
        "In the dashboard, press `p` on the job to resume the earlier prompt, or `x` to remove it from the queue. Then \
         run this command again."
    } else {
        "The agent may have received the earlier prompt. In the dashboard, press `!` on the job: there you can check \
         the job, then send the prompt again or discard it. Then run this command again."
    };
    CliError::local_error(format!(
        "Nothing was sent: an earlier prompt of job {} is {}, and follow-ups are sent in order. {what_to_do}",
        id_text(row),
        kind.word()
    ))
}
