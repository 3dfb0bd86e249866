//! The page about an undelivered prompt: what happened and when, what can be done and what each choice means, the prompt.
//! Laid out as lines here, so that scrolling and drawing agree.

use super::detail::kind_text;
use super::dialog::UndeliveredDialog;
use super::keymap::{Action, BINDINGS, Context, Keymap};
use super::wrap::wrap;
use super::{App, format};
use crate::model::Time;
use crate::model::ledger::RateLimited;
use crate::model::prompt::{DeliveryKind, PromptKind};
use crate::model::text::CleanText;

/// Cells before the text of a choice.
pub const INDENT: usize = 4;
/// Characters and lines of the prompt that are shown; the whole of a longer one is in the store, and `e` or `y` has it.
const MAX_CHARS: usize = 24_000;
const MAX_LINES: usize = 300;

/// A line of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolveLine {
    Heading(String),
    Text(String),
    /// What matters most.
    Warning(String),
    Muted(String),
    /// A choice: its key and its name.
    Choice(String, String),
    /// What a choice means.
    Meaning(String),
}

impl App {
    /// The page at this width.
    pub fn resolve_lines(&self, resolve: &UndeliveredDialog, width: usize) -> Vec<ResolveLine> {
        let mut page = UndeliveredPage { lines: Vec::new(), width, keymap: &self.config.keymap };
        page.lines.push(ResolveLine::Heading(resolve.title.to_string()));
        page.gap();
        self.what_happened(resolve, &mut page);
        page.gap();
        page.lines.push(ResolveLine::Heading("What you can do".to_owned()));
        for (action, meaning) in self.choices(resolve) {
            page.choice(action, &meaning);
        }
        page.gap();
        page.prompt(&resolve.prompt.text);
        page.lines
    }

    fn what_happened(&self, resolve: &UndeliveredDialog, page: &mut UndeliveredPage) {
        let prompt = &resolve.prompt;
        let kind = kind_text(prompt.kind);
        let clock = |at: Time| at.with_timezone(&self.config.offset).format("%Y-%m-%d %H:%M:%S").to_string();
        let written = format!("On disk since {}", clock(prompt.written_at));
        let sent = resolve.sent_at.map_or_else(String::new, |at| format!(", went out at {}", clock(at)));
        page.text(&format!("{written}{sent}."), ResolveLine::Muted);
        let (happened, means) = match (prompt.delivery.kind(), prompt.kind) {
            // Taken in from a file (`model::backup::join`).
            (DeliveryKind::Unconfirmed, _) if resolve.sent_at.is_none() => (
                "It came from another computer and was not sent from here. It may have been sent from there, or not.",
                "docdeck never sends such a prompt by itself: the work could be done twice. Look at the other computer \
                 before you send it here.",
            ),
            (DeliveryKind::Unconfirmed, PromptKind::Create) => (
                "The answer was lost: the service may have made this job, or may not.",
                "The service can't list its jobs, so docdeck can't find out, and it never sends such a prompt again by \
                 itself: that could make the job twice.",
            ),
            (DeliveryKind::Unconfirmed, PromptKind::FollowUp) => (
                "The answer was lost: the service may have taken this follow-up, or may not.",
                "docdeck never sends such a prompt again by itself: the agent could do the work twice. Follow-ups behind \
                 it wait for your decision.",
            ),
            (DeliveryKind::Rejected, _) => {
                ("The service refused it. Nothing was carried out.", "Its own words say what to change.")
            }
            _ => ("It never reached the service. Nothing was carried out.", "It is safe to send it again."),
        };
        page.text(happened, ResolveLine::Warning);
        if let Some(reason) = prompt.delivery.reason() {
            page.text(&format!("For this {kind}: {reason}"), ResolveLine::Text);
        }
        page.text(means, ResolveLine::Text);
    }

    /// The choices that there are, the safest first, each with what it means.
    fn choices(&self, resolve: &UndeliveredDialog) -> Vec<(Action, String)> {
        let limited = match resolve.prompt.kind {
            PromptKind::Create => RateLimited::Create,
            PromptKind::FollowUp => RateLimited::FollowUp,
        };
        let price = if self.knows_budget(limited) {
            format!("One of the {} {} left here this hour.", self.budget(limited).left(), limited.word())
        } else {
            "One request of the hour's limit.".to_owned()
        };
        let unconfirmed = resolve.prompt.delivery.kind() == DeliveryKind::Unconfirmed;
        let undo = self.key_label(Context::Jobs, Action::Undo);
        let discard = match (unconfirmed, resolve.prompt.kind) {
            (true, PromptKind::Create) => {
                format!("Give it up. The service may still have started it. {undo} undoes this.")
            }
            (true, PromptKind::FollowUp) => {
                format!("Give it up. The service may still have received it. {undo} undoes this.")
            }
            (false, _) => format!("Give it up. Nothing is sent. {undo} undoes this."),
        };
        if !unconfirmed {
            return vec![
                (Action::EditPrompt, "Change the text, then send it as the same prompt.".to_owned()),
                (Action::SendAgain, format!("As it is. {price}")),
                (Action::Discard, discard),
            ];
        }
        let again = match resolve.prompt.kind {
            PromptKind::Create => {
                format!("Right when the service's dashboard has no such job; else there will be two. {price}")
            }
            PromptKind::FollowUp => format!("Right when the job is not at work on it; else it is done twice. {price}"),
        };
        let mut choices = Vec::new();
        if resolve.prompt.kind == PromptKind::Create {
            let text = "Look for the job in the service's dashboard and copy its id. One request asks for it; nothing is sent.";
            choices.push((Action::LinkJob, text.to_owned()));
        } else if resolve.has_id {
            let text = "One request: if the job is at work, the follow-up has arrived. Then discard it here.";
            choices.push((Action::CheckJob, text.to_owned()));
        }
        choices.push((Action::SendAgain, again));
        choices.push((Action::Discard, discard));
        choices
    }
}

struct UndeliveredPage<'a> {
    lines: Vec<ResolveLine>,
    width: usize,
    keymap: &'a Keymap,
}

impl UndeliveredPage<'_> {
    fn gap(&mut self) {
        self.lines.push(ResolveLine::Text(String::new()));
    }

    fn text(&mut self, text: &str, line: impl Fn(String) -> ResolveLine) {
        self.lines.extend(wrap(text, self.width, 12).0.into_iter().map(line));
    }

    fn choice(&mut self, action: Action, meaning: &str) {
        // The table knows the key and what to call it.
        let row = BINDINGS.iter().find(|row| row.context == Context::Resolve && row.action == action);
        let Some((row, key)) = row.and_then(|row| Some((row, self.keymap.keys(row).first()?))) else { return };
        self.lines.push(ResolveLine::Choice(key.to_string(), row.hint.to_owned()));
        let meaning = wrap(meaning, self.width.saturating_sub(INDENT).max(8), 6).0;
        self.lines.extend(meaning.into_iter().map(ResolveLine::Meaning));
    }

    fn prompt(&mut self, text: &str) {
        let characters = text.chars().count();
        let size =
            format!("{}, {}", format::plural(text.lines().count(), "line"), format::plural(characters, "character"));
        self.lines.push(ResolveLine::Heading(format!("The prompt ({size})")));
        let head: String = text.chars().take(MAX_CHARS).collect();
        let (lines, cut) = wrap(CleanText::block(&head).as_str().trim_end(), self.width, MAX_LINES);
        self.lines.extend(lines.into_iter().map(ResolveLine::Text));
        if cut || characters > MAX_CHARS {
            self.lines.push(ResolveLine::Muted("… the rest is in the record".to_owned()));
        }
    }
}
