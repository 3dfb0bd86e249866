//! The text of the dialog about an undelivered prompt: what happened and when, the choices with their meaning, and the
//! prompt. Scrolling and drawing use the same lines, so that they agree.

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
/// The maximum number of characters of the prompt that are shown. The user gets the complete text by editing or copying
/// the prompt.
const MAX_PROMPT_CHARS: usize = 24_000;
/// The maximum number of lines of the prompt that are shown.
const MAX_PROMPT_LINES: usize = 300;

/// A line of the dialog; the variant determines its style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndeliveredLine {
    Heading(String),
    Text(String),
    /// The statement of what happened, which is highlighted.
    Warning(String),
    Muted(String),
    /// The key and the name of a choice.
    Choice(String, String),
    /// The meaning of the choice above it.
    Meaning(String),
}

impl App {
    /// Returns the lines of the dialog at this width.
    pub fn undelivered_lines(&self, resolve: &UndeliveredDialog, width: usize) -> Vec<UndeliveredLine> {
        let mut page = UndeliveredPage { lines: Vec::new(), width, keymap: &self.config.keymap };
        page.lines.push(UndeliveredLine::Heading(resolve.title.to_string()));
        page.add_gap();
        self.add_what_happened(resolve, &mut page);
        page.add_gap();
        page.lines.push(UndeliveredLine::Heading("What you can do".to_owned()));
        for (action, meaning) in self.choices(resolve) {
            page.add_choice(action, &meaning);
        }
        page.add_gap();
        page.add_prompt(&resolve.prompt.text);
        page.lines
    }

    fn add_what_happened(&self, resolve: &UndeliveredDialog, page: &mut UndeliveredPage) {
        let prompt = &resolve.prompt;
        let clock = |at: Time| at.with_timezone(&self.config.offset).format("%Y-%m-%d %H:%M:%S").to_string();
        let saved = format!("Saved at {}", clock(prompt.written_at));
        let sent = resolve.sent_at.map_or_else(String::new, |at| format!(", sent at {}", clock(at)));
        page.add_text(&format!("{saved}{sent}."), UndeliveredLine::Muted);
        let (what, meaning) = match (prompt.delivery.kind(), prompt.kind) {
            // An unconfirmed prompt without a sending time was imported from a file.
            (DeliveryKind::Unconfirmed, _) if resolve.sent_at.is_none() => (
                "Imported from another computer. It may or may not have been sent from there.",
                "docdeck never sends it automatically: the work could be done twice. Check the other computer before \
                 you send it here.",
            ),
            (DeliveryKind::Unconfirmed, PromptKind::Create) => (
                "The reply was lost: the service may or may not have started this job.",
                "The API can't list jobs, so docdeck can't find out. It never sends the prompt again \
                 automatically: that could start the job twice.",
            ),
            (DeliveryKind::Unconfirmed, PromptKind::FollowUp) => (
                "The reply was lost: the service may or may not have received this follow-up.",
                "docdeck never sends it again automatically: the agent could do the work twice. Later follow-ups wait \
                 for your decision.",
            ),
            (DeliveryKind::Rejected, _) => {
                ("The service rejected it. Nothing was started.", "Edit the prompt before you send it again.")
            }
            _ => ("It never reached the service. Nothing was started.", "It is safe to send it again."),
        };
        page.add_text(what, UndeliveredLine::Warning);
        if let Some(reason) = prompt.delivery.reason() {
            page.add_text(&format!("Reason: {reason}"), UndeliveredLine::Text);
        }
        page.add_text(meaning, UndeliveredLine::Text);
    }

    /// Returns the possible choices, the safest first, each with its meaning.
    fn choices(&self, resolve: &UndeliveredDialog) -> Vec<(Action, String)> {
        let limited = match resolve.prompt.kind {
            PromptKind::Create => RateLimited::Create,
            PromptKind::FollowUp => RateLimited::FollowUp,
        };
        let cost = if self.has_budget(limited) {
            format!("Uses one of {} {} left this hour.", self.budget(limited).requests_left(), limited.label())
        } else {
            "Uses one request of the hourly limit.".to_owned()
        };
        let unconfirmed = resolve.prompt.delivery.kind() == DeliveryKind::Unconfirmed;
        let undo = self.key_label(Context::Jobs, Action::Undo);
        let discard = match (unconfirmed, resolve.prompt.kind) {
            (true, PromptKind::Create) => {
                format!("The service may still have started it. {undo} undoes the discard.")
            }
            (true, PromptKind::FollowUp) => {
                format!("The service may still have received it. {undo} undoes the discard.")
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
                format!("Only if the job isn't on the service's dashboard; otherwise it runs twice. {cost}")
            }
            PromptKind::FollowUp => {
                format!("Only if the job isn't working on it; otherwise the work is done twice. {cost}")
            }
        };
        let mut choices = Vec::new();
        if resolve.prompt.kind == PromptKind::Create {
            let text = "Copy the job's id from the service's dashboard. One request checks it; no prompt is sent.";
            choices.push((Action::LinkJob, text.to_owned()));
        } else if resolve.has_id {
            let text = "Uses one request. If the job is working, the follow-up arrived; discard this copy.";
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
    fn add_gap(&mut self) {
        self.lines.push(UndeliveredLine::Text(String::new()));
    }

    fn add_text(&mut self, text: &str, line: impl Fn(String) -> UndeliveredLine) {
        self.lines.extend(wrap(text, self.width, 12).0.into_iter().map(line));
    }

    fn add_choice(&mut self, action: Action, meaning: &str) {
        // The key and the name of the choice come from its key binding.
        let row = BINDINGS.iter().find(|row| row.context == Context::Resolve && row.action == action);
        let Some((row, key)) = row.and_then(|row| Some((row, self.keymap.keys(row).first()?))) else { return };
        self.lines.push(UndeliveredLine::Choice(key.to_string(), row.hint.to_owned()));
        let meaning = wrap(meaning, self.width.saturating_sub(INDENT).max(8), 6).0;
        self.lines.extend(meaning.into_iter().map(UndeliveredLine::Meaning));
    }

    fn add_prompt(&mut self, text: &str) {
        let characters = text.chars().count();
        let size =
            format!("{}, {}", format::plural(text.lines().count(), "line"), format::plural(characters, "character"));
        self.lines.push(UndeliveredLine::Heading(format!("The prompt ({size})")));
        let head: String = text.chars().take(MAX_PROMPT_CHARS).collect();
        let (lines, cut) = wrap(CleanText::block(&head).as_str().trim_end(), self.width, MAX_PROMPT_LINES);
        self.lines.extend(lines.into_iter().map(UndeliveredLine::Text));
        if cut || characters > MAX_PROMPT_CHARS {
            self.lines.push(UndeliveredLine::Muted("… the rest is not shown".to_owned()));
        }
    }
}
