//! `docdeck sim`: runs the simulated service without the dashboard. Prints shell lines that make docdeck use it, then
//! serves until a signal.

use super::error::CliError;
use super::exit_code::Code;
use crate::sim::{Sim, SimOptions};
use crate::terminal::signals::{Signal, SignalStream};
use std::io::{self, Write};

/// Runs `docdeck sim` until Ctrl-C or another signal that asks to end.
pub(super) async fn run(options: SimOptions) -> Result<Code, CliError> {
    let port = options.port;
    let sim = Sim::start(options).await.map_err(|error| {
        CliError::local_error(format!("The simulated service can't listen on port {port}: {error}."))
    })?;
    // The signal handler is installed before the lines are printed, because a script that reads them may send a signal
    // at once.
    let ended =
        listen_for_end_signal().map_err(|error| CliError::local_error(format!("Can't handle signals: {error}.")))?;
    // A write error is ignored, because the service is useful even if stdout is closed.
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{}", sim.shell_lines().trim_end()).and_then(|()| out.flush());
    drop(out);
    let code = ended.await;
    sim.stop().await;
    Ok(code)
}

/// Installs the signal handler. The returned future waits for a signal and returns the exit code.
fn listen_for_end_signal() -> io::Result<impl Future<Output = Code>> {
    let mut signals = SignalStream::listen_for_end_signals()?;
    Ok(async move {
        match signals.next().await {
            Signal::Interrupt => Code::Interrupted,
            _ => Code::Done,
        }
    })
}
