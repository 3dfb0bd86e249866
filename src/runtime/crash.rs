//! What a panic does, on whatever thread it happens: the terminal is given back first, then the message is shown and
//! logged, and the program ends with code 101.

use super::logfile;
use super::terminal::TerminalState;
use crate::model::text::CleanText;
use std::panic::PanicHookInfo;
use std::path::PathBuf;
use std::sync::Arc;

/// The code that a Rust program ends with after a panic.
pub const CODE: i32 = 101;

/// Sets the hook for the rest of the process. `log` is where the panic is written down, if anywhere.
pub fn install(lent: Arc<TerminalState>, log: Option<PathBuf>) {
    install_with(move || lent.give_back(), log);
}

/// As [`install`], for a program that has not taken the terminal over.
pub fn install_plain(log: Option<PathBuf>) {
    install_with(|| {}, log);
}

fn install_with(give_back: impl Fn() + Send + Sync + 'static, log: Option<PathBuf>) {
    std::panic::set_hook(Box::new(move |info| {
        give_back();
        let what = sentence(info);
        if let Some(path) = &log {
            logfile::append(path, &what);
        }
        eprintln!("docdeck stopped because of a mistake in it: {what}");
        eprintln!("Prompts and drafts that were saved are still there. Please report this.");
        // Not by unwinding: a panic in a task or on the store's thread would leave the rest of the program running.
        std::process::exit(CODE);
    }));
}

fn sentence(info: &PanicHookInfo<'_>) -> CleanText {
    let payload = info.payload();
    let what = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let what = what.unwrap_or("no message");
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    CleanText::line(&format!("{what} (at {place})"))
}
