//! The command line. Each command has a file; the commands share [`session`] (settings, store and engine), `out` and
//! `table` (output) and `exit_code`.

mod arguments;
mod batch;
mod batch_plan;
mod changes;
mod completion_candidates;
mod completions;
mod cost;
pub mod customization;
mod dashboard;
mod data_folder;
mod demo;
mod doctor;
mod error;
mod exit_code;
mod export;
mod follow;
mod help;
mod import;
mod init;
mod job_line;
mod jobs;
mod line_writer;
mod man;
mod new;
mod out;
mod prompt_text;
mod prune;
mod prune_jobs;
mod resolve_id;
mod sending;
mod session;
mod show;
mod sim;
mod status;
mod table;
mod track;
mod usage_error;
mod views;
mod wait;
mod waiting;
mod watch;
mod welcome;

use crate::config::Flags;
use crate::config::environment::Environment;
use crate::runtime;
use arguments::{Arguments, Command};
use error::CliError;
use exit_code::Code;
use out::Out;
use std::process::ExitCode;

/// Reads the arguments, runs the command, and returns the exit code.
pub fn main() -> ExitCode {
    // Core dumps are forbidden before the environment is read, because it may contain the API key.
    runtime::core_dump::forbid();
    if completions::answer_shell() {
        return ExitCode::SUCCESS;
    }
    let arguments = match Arguments::read(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) => return usage_error::report(error),
    };
    let environment = Environment::from_process();
    let flags = Flags::from(arguments.options);
    let mut out = Out::of_process();
    let as_json = arguments.command.as_ref().is_some_and(Command::answers_in_json);
    let result = dispatch(arguments.command, &flags, environment, &mut out);
    let code = result.unwrap_or_else(|error| error.report(&mut out, as_json));
    out.clear_live();
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
    flags: &Flags,
    environment: Environment,
    out: &mut Out,
) -> Result<Code, CliError> {
    // This command runs without the async runtime: shells run it at every prompt, and starting the runtime takes time.
    if let Some(Command::Status(options)) = &command {
        return status::run(flags, &environment, options, out);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::unusable(format!("Can't start the async runtime: {error}.")))?;
    let result = runtime.block_on(async {
        match command {
            None => dashboard::run(flags, environment).await,
            Some(Command::Demo(world)) => demo::run(flags, environment, world.options(0)).await.map(Code::from),
            Some(Command::Sim { port, world }) => sim::run(world.options(port)).await,
            Some(Command::Init(options)) => init::run(flags, &environment, &options, out).await,
            Some(Command::New(options)) => new::run(flags, &environment, &options, out).await,
            Some(Command::Follow(options)) => follow::run(flags, &environment, &options, out).await,
            Some(Command::Jobs(options)) => jobs::run(flags, &environment, &options, out).await,
            Some(Command::Show(options)) => show::run(flags, &environment, &options, out).await,
            Some(Command::Track(options)) => track::run(flags, &environment, &options, out).await,
            Some(Command::Watch(options)) => watch::run(flags, &environment, &options, out).await,
            Some(Command::Status(options)) => status::run(flags, &environment, &options, out),
            Some(Command::Wait(options)) => wait::run(flags, &environment, &options, out).await,
            Some(Command::Views(options)) => views::run(flags, &environment, &options, out).await,
            Some(Command::Export(options)) => export::run(flags, &environment, &options, out).await,
            Some(Command::Import(options)) => import::run(flags, &environment, &options, out).await,
            Some(Command::Doctor(options)) => doctor::run(flags, &environment, &options, out).await,
            Some(Command::Prune(options)) => prune::run(flags, &environment, &options, out).await,
            Some(Command::Completions(options)) => completions::run(&options, out),
            Some(Command::Man(options)) => man::run(&options, out),
            Some(Command::Help(options)) => help::run(&options, flags, &environment, out),
        }
    });
    // A DNS lookup may still run on another thread, and docdeck doesn't wait for it.
    runtime.shutdown_background();
    result
}
