//! Questions that a command asks on the terminal.

use super::out::Out;
use std::io::BufRead as _;

/// Asks a question on the terminal. Returns whether the answer is yes.
pub(super) fn confirm(question: &str, out: &mut Out) -> bool {
    out.note(&format!("{question} [y/N]"));
    let mut answer = String::new();
    let is_read = std::io::stdin().lock().read_line(&mut answer).is_ok();
    is_read && matches!(answer.trim(), "y" | "Y" | "yes")
}
