//! The command line. Each command has a file; the commands share [`session`] (settings, store and engine), `out` and
//! `table` (output) and `exit_code`.

mod analytics;
mod approve_and_merge;
mod arguments;
mod batch;
mod batch_plan;
mod blank_check;
mod changes;
mod completion_candidates;
mod completions;
mod confirm;
mod cost;
pub mod customization;
mod dashboard;
mod data_folder;
mod demo;
mod diff;
mod doctor;
mod error;
mod exit_code;
mod export;
mod follow;
mod help;
mod import;
mod init;
mod job_format;
mod jobs;
mod line_writer;
mod man;
mod new;
mod number_parser;
mod out;
mod output_format;
mod prompt_text;
mod prune;
mod pull_requests;
mod range_options;
mod resolve_id;
mod sending;
mod session;
mod show;
mod sim;
mod status;
mod table;
mod team;
mod track;
mod usage_error;
mod views;
mod wait;
mod wait_pull_requests;
mod waiting;
mod watch;
mod welcome;

use crate::config::GlobalOptions;
use crate::config::environment::Environment;
use crate::engine::LeaseRoles;
use crate::model::analytics::{Question, Search};
use crate::model::views::PageRow;
use crate::runtime;
use arguments::{Arguments, Command, DemoArguments};
use clap::CommandFactory as _;
use error::CliError;
use exit_code::Code;
use out::Out;
use session::{CommandContext, Session};
use std::process::ExitCode;

/// Reads the arguments, runs the command, and returns the exit code.
pub fn main() -> ExitCode {
    // Core dumps are forbidden before the environment is read, because it may contain the API key.
    runtime::core_dump::forbid();
    runtime::crash::install_panic_hook(None);
    if completions::answer_completion_request(Arguments::command) {
        return ExitCode::SUCCESS;
    }
    let arguments = match Arguments::read(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) => return usage_error::report(error),
    };
    let environment = Environment::from_process();
    let global_options = GlobalOptions::from(arguments.global);
    let mut out = Out::from_process();
    let as_json = arguments.command.as_ref().is_some_and(Command::prints_json);
    let result = dispatch(arguments.command, &global_options, &environment, &mut out);
    let code = result.unwrap_or_else(|error| error.report(&mut out, as_json));
    out.clear_live_line();
    match out.output_error().map(str::to_owned) {
        // The result could not be written, which is an error even if the command succeeded.
        Some(why) => {
            out.note(&format!("docdeck: {why}"));
            if code == Code::Done { Code::Unusable.into() } else { code.into() }
        }
        None => code.into(),
    }
}

fn dispatch(
    command: Option<Command>,
    global_options: &GlobalOptions,
    environment: &Environment,
    out: &mut Out,
) -> Result<Code, CliError> {
    let cx = &mut CommandContext { global_options, environment, out, team_url: team::TeamUrlReader::default() };
    // Shells run `docdeck status` at every prompt, so it must be fast. Without a team, it doesn't start the async
    // runtime, which takes time.
    if let Some(Command::Status(options)) = &command {
        team::exchange_before_status(cx);
        return status::run(cx, options);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::local_error(format!("Can't start the async runtime: {error}.")))?;
    let result = runtime.block_on(async {
        let prints_analytics = command.as_ref().is_some_and(Command::prints_analytics);
        if prints_analytics || command.as_ref().is_some_and(Command::receives_team_jobs) {
            team::exchange_briefly(cx).await;
        }
        let changes_jobs = command.as_ref().is_some_and(Command::changes_jobs);
        let result = match command {
            None => dashboard::run(global_options, environment.clone()).await,
            Some(Command::Demo(options)) => {
                let DemoArguments { simulation, no_tour, team } = options;
                demo::run(global_options, environment.clone(), simulation.options(0), !no_tour, team)
                    .await
                    .map(Code::from)
            }
            Some(Command::Sim { port, simulation }) => sim::run(simulation.options(port)).await,
            Some(Command::Init(options)) => init::run(global_options, environment, &options, cx.out).await,
            Some(Command::New(options)) => new::run(cx, &options).await,
            Some(Command::Follow(options)) => follow::run(cx, &options).await,
            Some(Command::Jobs(options)) => {
                cx.with_store(async |store, out| jobs::run(store, &options, out).await).await
            }
            Some(Command::Show(options)) => {
                cx.with_store(async |store, out| show::run(store, &options, out).await).await
            }
            Some(Command::Pr(options)) => pull_requests::run(cx, &options).await,
            Some(Command::Diff(options)) => diff::run(cx, &options).await,
            Some(Command::Approve(options)) => approve_and_merge::approve(cx, &options).await,
            Some(Command::Merge(options)) => approve_and_merge::merge(cx, &options).await,
            Some(Command::Track(options)) => track::run(cx, &options).await,
            Some(Command::Watch(options)) => {
                let work = async |session: &mut Session, out: &mut Out| watch::run(session, options.json, out).await;
                cx.with_session(LeaseRoles::Poll, work).await
            }
            Some(Command::Status(options)) => status::run(cx, &options),
            Some(Command::Wait(options)) => wait::run(cx, &options).await,
            Some(Command::Views(options)) => views::run(cx, &options).await,
            Some(Command::Searches(options)) => analytics::run::<Search>(cx, &options).await,
            Some(Command::Feedback(options)) => analytics::run_feedback(cx, &options).await,
            Some(Command::Questions(options)) => analytics::run::<Question>(cx, &options).await,
            Some(Command::Visitors(options)) => analytics::run::<PageRow>(cx, &options).await,
            Some(Command::NeedsWork(options)) => analytics::needs_work::run(cx, &options).await,
            Some(Command::Export(options)) => export::run(cx, &options).await,
            Some(Command::Import(options)) => import::run(cx, &options).await,
            Some(Command::Doctor(options)) => doctor::run(cx, &options).await,
            Some(Command::Prune(options)) => prune::run(cx, &options).await,
            Some(Command::Team(options)) => team::run(cx, &options).await,
            Some(Command::Completions(options)) => completions::run(&options, cx.out),
            Some(Command::Man(options)) => man::run(&options, cx.out),
            Some(Command::Help(options)) => help::run(cx, &options, Arguments::command()),
        };
        if changes_jobs && result.as_ref().map_or_else(CliError::has_partial_results, |_| true) {
            team::exchange_briefly(cx).await;
        } else if prints_analytics {
            team::send_reports_briefly(cx).await;
        }
        result
    });
    // A DNS lookup may still run on another thread, and docdeck doesn't wait for it.
    runtime.shutdown_background();
    result
}
