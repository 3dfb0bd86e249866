//! The page about an undelivered prompt: what happened and when, the choices with their meaning, and the prompt. It is
//! composed as lines here, so that scrolling and drawing agree.

use super::dialog::UndeliveredDialog;
use super::keymap::{Action, BINDINGS, Context, Keymap};
use super::wrap::wrap;
use super::{App, format};
use crate::model::Time;
use crate::model::ledger::RateLimited;
use crate::model::prompt::{DeliveryKind, PromptKind};
use crate::model::text::CleanText;

/// The indentation of a choice's text, in cells.
pub const INDENT: usize = 4;
/// The number of characters and lines of the prompt that are shown. `e` or `y` gives the complete text.
const MAX_CHARS: usize = 24_000;
const MAX_LINES: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndeliveredLine {
    Heading(String),
    Text(String),
    /// The most important line.
    Warning(String),
    Muted(String),
    /// A choice: its key and its name.
    Choice(String, String),
    Meaning(String),
}

impl App {
    /// The lines of the page at this width.
    pub fn undelivered_lines(&self, resolve: &UndeliveredDialog, width: usize) -> Vec<UndeliveredLine> {
        let mut page = UndeliveredPage { lines: Vec::new(), width, keymap: &self.config.keymap };
        page.lines.push(UndeliveredLine::Heading(resolve.title.to_string()));
        page.gap();
        self.add_what_happened(resolve, &mut page);
        page.gap();
        page.lines.push(UndeliveredLine::Heading("What you can do".to_owned()));
        for (action, meaning) in self.choices(resolve) {
            page.choice(action, &meaning);
        }
        page.gap();
        page.prompt(&resolve.prompt.text);
        page.lines
    }

    fn add_what_happened(&self, resolve: &UndeliveredDialog, page: &mut UndeliveredPage) {
        let prompt = &resolve.prompt;
        let clock = |at: Time| at.with_timezone(&self.config.offset).format("%Y-%m-%d %H:%M:%S").to_string();
        let saved = format!("Saved at {}", clock(prompt.written_at));
        let sent = resolve.sent_at.map_or_else(String::new, |at| format!(", sent at {}", clock(at)));
        page.text(&format!("{saved}{sent}."), UndeliveredLine::Muted);
        let (what, meaning) = match (prompt.delivery.kind(), prompt.kind) {
            // Imported from a file (`model::backup::join`).
            (DeliveryKind::Unconfirmed, _) if resolve.sent_at.is_none() => (
                "Imported from another computer. It may or may not have been sent from there.",
                "docdeck never sends it automatically: the work could be done twice. Check the other computer before \
                 you send it here.",
            ),
            (DeliveryKind::Unconfirmed, PromptKind::Create) => (
                "The answer was lost: the service may or may not have started this job.",
                "The service can't list its jobs, so docdeck can't find out. It never sends the prompt again \
                 automatically: that could start the job twice.",
            ),
            (DeliveryKind::Unconfirmed, PromptKind::FollowUp) => (
                "The answer was lost: the service may or may not have received this follow-up.",
                "docdeck never sends it again automatically: the agent could do the work twice. Later follow-ups wait \
                 for your decision.",
            ),
            (DeliveryKind::Rejected, _) => {
                ("The service rejected it. Nothing was started.", "Edit the prompt before you send it again.")
            }
            _ => ("It never reached the service. Nothing was started.", "It is safe to send it again."),
        };
        page.text(what, UndeliveredLine::Warning);
        if let Some(reason) = prompt.delivery.reason() {
            page.text(&format!("Reason: {reason}"), UndeliveredLine::Text);
        }
        page.text(meaning, UndeliveredLine::Text);
    }

    /// The possible choices, the safest first, each with its meaning.
    fn choices(&self, resolve: &UndeliveredDialog) -> Vec<(Action, String)> {
        let limited = match resolve.prompt.kind {
            PromptKind::Create => RateLimited::Create,
            PromptKind::FollowUp => RateLimited::FollowUp,
        };
        let cost = if self.has_budget(limited) {
            format!("Uses one of {} {} left this hour.", self.budget(limited).left(), limited.label())
        } else {
            "Uses one request of the hourly limit.".to_owned()
        };
        let unconfirmed = resolve.prompt.delivery.kind() == DeliveryKind::Unconfirmed;
        let undo = self.key_label(Context::Jobs, Action::Undo);
        let discard = match (unconfirmed, resolve.prompt.kind) {
            (true, PromptKind::Create) => {
                format!("The service may still have started it. {undo} undoes this.")
            }
            (true, PromptKind::FollowUp) => {
                format!("The service may still have received it. {undo} undoes this.")
            }
            (false, _) => format!("Nothing is sent. {undo} undoes this."),
        };
        if !unconfirmed {
            return vec![
                (Action::EditPrompt, "Change the text, then send it.".to_owned()),
                (Action::SendAgain, format!("Send it unchanged. {cost}")),
                (Action::Discard, discard),
            ];
        }
        let again = match resolve.prompt.kind {
            PromptKind::Create => {
                format!("Choose this if the job is not on the service's dashboard; otherwise you get it twice. {cost}")
            }
            PromptKind::FollowUp => {
                format!("Choose this if the job is not working on it; otherwise it is done twice. {cost}")
            }
        };
        let mut choices = Vec::new();
        if resolve.prompt.kind == PromptKind::Create {
            let text = "Copy the job's id from the service's dashboard. One request checks it; nothing is sent.";
            choices.push((Action::LinkJob, text.to_owned()));
        } else if resolve.has_id {
            let text = "Uses one request. If the job is working, the follow-up has arrived: discard it here.";
            choices.push((Action::CheckJob, text.to_owned()));
        }
        choices.push((Action::SendAgain, again));
        choices.push((Action::Discard, discard));
        choices
    }
}

struct UndeliveredPage<'a> {
    lines: Vec<UndeliveredLine>,
    width: usize,
    keymap: &'a Keymap,
}

impl UndeliveredPage<'_> {
    fn gap(&mut self) {
        self.lines.push(UndeliveredLine::Text(String::new()));
    }

    fn text(&mut self, text: &str, line: impl Fn(String) -> UndeliveredLine) {
        self.lines.extend(wrap(text, self.width, 12).0.into_iter().map(line));
    }

    fn choice(&mut self, action: Action, meaning: &str) {
        // The key table has the key and its hint.
        let row = BINDINGS.iter().find(|row| row.context == Context::Resolve && row.action == action);
        let Some((row, key)) = row.and_then(|row| Some((row, self.keymap.keys(row).first()?))) else { return };
        self.lines.push(UndeliveredLine::Choice(key.to_string(), row.hint.to_owned()));
        let meaning = wrap(meaning, self.width.saturating_sub(INDENT).max(8), 6).0;
        self.lines.extend(meaning.into_iter().map(UndeliveredLine::Meaning));
    }

    fn prompt(&mut self, text: &str) {
        let characters = text.chars().count();
        let size =
            format!("{}, {}", format::plural(text.lines().count(), "line"), format::plural(characters, "character"));
        self.lines.push(UndeliveredLine::Heading(format!("The prompt ({size})")));
        let head: String = text.chars().take(MAX_CHARS).collect();
        let (lines, cut) = wrap(CleanText::block(&head).as_str().trim_end(), self.width, MAX_LINES);
        self.lines.extend(lines.into_iter().map(UndeliveredLine::Text));
        if cut || characters > MAX_CHARS {
            self.lines.push(UndeliveredLine::Muted("… the rest is not shown".to_owned()));
        }
    }
}
