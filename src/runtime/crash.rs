//! The panic hook, for any thread: it restores the terminal, shows and logs the message, and exits with code 101.

use super::logfile;
use crate::model::text::CleanText;
use crate::terminal::modes::TerminalState;
use std::panic::PanicHookInfo;
use std::path::PathBuf;
use std::sync::Arc;

/// The exit code of a Rust program after a panic.
pub const EXIT_CODE: i32 = 101;

/// Installs the panic hook for the rest of the process. `log` is the file to which panics are written, if any.
pub fn install(terminal: Arc<TerminalState>, log: Option<PathBuf>) {
    install_with(move || terminal.restore(), log);
}

/// Like [`install`], for a process that doesn't take over the terminal.
pub fn install_without_terminal(log: Option<PathBuf>) {
    install_with(|| {}, log);
}

fn install_with(restore: impl Fn() + Send + Sync + 'static, log: Option<PathBuf>) {
    std::panic::set_hook(Box::new(move |info| {
        restore();
        let what = panic_sentence(info);
        if let Some(path) = &log {
            logfile::append(path, &what);
        }
        eprintln!("docdeck crashed (please report): {what}");
        eprintln!("Saved prompts and drafts are not lost.");
        // Exits instead of unwinding: after a panic in a task or on the store's thread, the rest of the program would
        // continue.
        std::process::exit(EXIT_CODE);
    }));
}

fn panic_sentence(info: &PanicHookInfo<'_>) -> CleanText {
    let payload = info.payload();
    let what = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let what = what.unwrap_or("no message");
    let place = info.location().map_or_else(|| "unknown location".to_owned(), ToString::to_string);
    CleanText::line(&format!("{what} (at {place})"))
}
