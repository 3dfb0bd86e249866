//! A message in the lower rule of the screen, and the lines into which it is wrapped.

use super::keymap::Action;
use super::message_fit::fit_message;
use crate::model::Time;
use crate::model::text::CleanText;
use crate::tui::format::{display_width, truncate};

/// The number of rows that a message leaves free: the header, the lower rule and the footer.
pub(super) const ROWS_KEPT_FREE_BY_MESSAGE: usize = 3;

/// The kinds of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Info,
    Success,
    Warning,
    Error,
    Tip,
}

impl Severity {
    /// Whether the notice stays until the user has read it.
    pub fn stays_until_read(self) -> bool {
        matches!(self, Self::Warning | Self::Error)
    }

    /// Returns the sign before the text.
    fn sign(self) -> &'static str {
        match self {
            Self::Info | Self::Tip => "",
            Self::Success => "✓ ",
            Self::Warning | Self::Error => "! ",
        }
    }
}

/// A message about something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub severity: Severity,
    pub text: CleanText,
    /// When the notice ends on its own. `None` if it stays until it is read.
    pub until: Option<Time>,
    /// The action that the notice asks for. Running this action ends the notice.
    pub next_step: Option<Action>,
    /// Whether a key was pressed while the notice was shown. A warning or an error then shrinks to one line.
    pub is_seen: bool,
}

/// What the lower rule shows: a notice, a problem with the filter, an alert or a tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub severity: Severity,
    pub(super) text: String,
    pub(super) is_seen: bool,
}

impl Message {
    /// Returns the lines of the message. It is one line if it fits in `rule_width` cells of the lower rule. A warning
    /// or an error that the user has seen is shortened to one line. Any other message is wrapped to `width` cells.
    /// `width` and `rows` are the size of the screen.
    pub(super) fn lines(&self, rule_width: usize, width: usize, rows: usize) -> Vec<String> {
        let sign = self.severity.sign();
        let space = rule_width.saturating_sub(sign.len().min(2));
        if display_width(&self.text) <= space || (self.is_seen && self.severity.stays_until_read()) {
            return vec![format!("{sign}{}", shorten(&self.text, space))];
        }
        // Each line starts with a blank.
        let indent = " ".repeat(1 + display_width(sign));
        let lines = fit_message(
            &self.text,
            width.saturating_sub(indent.len()),
            rows.saturating_sub(ROWS_KEPT_FREE_BY_MESSAGE).max(1),
        );
        let lines = lines.into_iter().enumerate();
        lines.map(|(n, line)| if n == 0 { format!(" {sign}{line}") } else { format!("{indent}{line}") }).collect()
    }
}

/// Shortens a text to a line. The last sentence, which is the next step, is kept if it takes at most two thirds of the
/// line.
fn shorten(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    if let Some((what, next)) = text.trim_end_matches('.').rsplit_once(". ")
        && display_width(next) + 2 <= width * 2 / 3
    {
        return format!("{} {next}", truncate(what, width - display_width(next) - 1));
    }
    fit_message(text, width, 1).into_iter().next().unwrap_or_default()
}
