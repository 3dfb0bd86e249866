//! `docdeck follow`: a follow-up to a job that is known here.

use super::error::CliError;
use super::exit_code::Code;
use super::job_line::id;
use super::out::Out;
use super::prompt_text::PromptSource;
use super::resolve_id;
use super::sending::{SendOptions, SentPrompt};
use super::session::{Session, StoreSession};
use super::wait::Patience;
use super::waiting::tell;
use crate::app::format::plural;
use crate::config::Flags;
use crate::config::environment::Environment;
use crate::engine::LeaseRoles;
use crate::model::prompt::{DeliveryKind, PromptId, PromptKind};
use crate::model::row::Job;
use crate::model::text::CleanText;
use clap::Args;

/// Characters of a discarded prompt that are quoted.
const QUOTED: usize = 60;

/// What `--json` gives, and the exit codes.
pub(super) const JSON: &str = "\
Follow-ups to one job are sent in order. One that is unconfirmed or paused blocks a new one: then nothing is sent, and \
the exit code is 2. One that was rejected or not sent is discarded for the new one, since the service did nothing with it; \
`docdeck show ID` still lists it.

With --json: a JOB as `docdeck jobs --help` tells, plus followUp: {prompt, delivery} and, if earlier prompts were \
discarded, discarded: [{prompt, delivery}]; when the exit code is neither 0 nor \
1, error and exitCode in it. Piped, stdout is the job's id. Exit codes as those of `docdeck new`; 4 as well for a job that \
is not known here.";

/// The job, the follow-up, and what to wait for.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Id of a job known here, or the beginning of one
    #[arg(value_name = "ID", add = super::completion_candidates::job_ids())]
    id: String,
    #[command(flatten)]
    source: PromptSource,
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
) -> Result<Code, CliError> {
    let text = options.source.read()?;
    // Before the key is asked for: an id that is not known needs none.
    let row = StoreSession::with(flags, environment, out, async |record, _| {
        Ok(resolve_id::find(&record.store.jobs(&record.scope).await?, &options.id)?.clone())
    });
    let row = row.await?;
    let wish = SendOptions { wait: options.wait, timer: options.patience.start(), json: options.json };
    let duties = if options.wait { LeaseRoles::Poll } else { LeaseRoles::None };
    Session::with(flags, environment, duties, out, async |desk, out| send(desk, &row, &text, wish, out).await).await
}

async fn send(desk: &mut Session, row: &Job, text: &str, wish: SendOptions, out: &mut Out) -> Result<Code, CliError> {
    let thread = desk.store.thread(row.key).await?;
    let ahead = thread.prompts.iter().map(|prompt| (prompt.id, prompt.delivery.kind()));
    let ahead: Vec<(PromptId, DeliveryKind)> =
        ahead.filter(|(_, kind)| kind.holds_the_rest() && !kind.was_not_carried_out()).collect();
    for (prompt, kind) in &ahead {
        // Paused for all but another command, which sends it.
        let is_sent = *kind == DeliveryKind::Paused && !desk.engine.is_held(*prompt).await?;
        if needs_decision(*kind) && !is_sent {
            return Err(blocked(row, *kind));
        }
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
    let (prompt, row, discarded) = desk.undisturbed(engine.supersede_follow_ups(row.key, text)).await?;
    for one in &discarded {
        let title = CleanText::title(&one.text, QUOTED);
        out.note(&format!("Discarded the earlier prompt “{title}”, which was {}.", one.delivery.kind().word()));
    }
    SentPrompt::new(prompt, PromptKind::FollowUp, row).in_place_of(discarded).see_off(desk, wish, out).await
}

/// Whether docdeck does nothing more about a prompt until the user decides, and the service may have carried it out or
/// still may.
fn needs_decision(kind: DeliveryKind) -> bool {
    matches!(kind, DeliveryKind::Unconfirmed | DeliveryKind::Paused)
}

fn blocked(row: &Job, kind: DeliveryKind) -> CliError {
    let what_to_do = if kind == DeliveryKind::Paused {
        "In the dashboard, `p` on the job sends the paused one, and `x` removes it from the queue. Then run this command \
         again."
    } else {
        "The agent may have received it, so look at the job first. Then press `!` on it in the dashboard to check it, send \
         it again or discard it, and run this command again."
    };
    CliError::unusable(format!(
        "Nothing was sent: an earlier prompt of job {} is {}, and follow-ups go out in order. {what_to_do}",
        id(row),
        kind.word()
    ))
}
