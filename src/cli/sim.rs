//! `docdeck sim`: the simulated service alone. Prints the lines that point docdeck at it, then serves until it is ended.

use super::error::CliError;
use super::exit_code::Code;
use crate::runtime::signals::{EndSignals, Signal};
use crate::sim::{Sim, SimOptions};
use std::io::{self, Write};

/// Serves until Ctrl-C, or another signal that asks to end.
pub(super) async fn run(options: SimOptions) -> Result<Code, CliError> {
    let port = options.port;
    let sim = Sim::start(options)
        .await
        .map_err(|error| CliError::unusable(format!("The simulated service can't listen on port {port}: {error}.")))?;
    // Listened for before the lines are out: whoever reads them may end it at once.
    let ended = ended().map_err(|error| CliError::unusable(format!("No signal can be waited for: {error}.")))?;
    // Nobody may be reading any more; the service is of use all the same.
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{}", sim.shell_lines().trim_end()).and_then(|()| out.flush());
    drop(out);
    let code = ended.await;
    sim.stop().await;
    Ok(code)
}

/// How it is ended, by a signal that is listened for from now on.
fn ended() -> io::Result<impl Future<Output = Code>> {
    let mut signals = EndSignals::listen()?;
    Ok(async move {
        match signals.next().await {
            Signal::Interrupt => Code::Interrupted,
            _ => Code::Done,
        }
    })
}
