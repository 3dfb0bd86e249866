//! Reports a panic of any thread: shows and logs its message, and exits with code 101.

use super::logfile;
use crate::model::text::CleanText;
use std::panic::PanicHookInfo;
use std::path::PathBuf;

/// The exit code of a Rust program after a panic.
pub const PANIC_EXIT_CODE: i32 = 101;

/// Installs a panic hook for a process that doesn't take over the terminal. `log` is the file to which panics are
/// written, if any.
pub fn install_panic_hook(log: Option<PathBuf>) {
    std::panic::set_hook(Box::new(move |info| report_and_exit(info, log.as_ref())));
}

/// Reports a panic. The terminal must already be restored.
pub(super) fn report_and_exit(info: &PanicHookInfo<'_>, log: Option<&PathBuf>) {
    let what = panic_sentence(info);
    if let Some(path) = log {
        logfile::append(path, &what);
    }
    eprintln!("docdeck crashed (please report): {what}");
    eprintln!("Saved prompts and drafts are not lost.");
    // Exits instead of unwinding: after a panic in a task or on the store's thread, the rest of the program would
    // continue.
    std::process::exit(PANIC_EXIT_CODE);
}

fn panic_sentence(info: &PanicHookInfo<'_>) -> CleanText {
    let payload = info.payload();
    let what = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let what = what.unwrap_or("no message");
    let place = info.location().map_or_else(|| "unknown location".to_owned(), ToString::to_string);
    CleanText::line(&format!("{what} (at {place})"))
}
