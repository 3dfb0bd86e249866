//! The layers over a screen. One enum, a stack: the topmost has the keys, Esc closes it.

use super::editor::Editor;
use super::keymap::Context;
use super::text_input::TextInput;
use crate::model::Time;
use crate::model::job::JobId;
use crate::model::period::parse_range;
use crate::model::prompt::{Prompt, PromptId, Resolution};
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use crate::model::views::{LIMIT_MAX, LIMIT_MIN};

/// A layer.
#[derive(Debug)]
pub enum Overlay {
    Editor(Box<Editor>),
    Ask(Box<Ask>),
    Resolve(Box<Resolve>),
    Question(Question),
    Help(Help),
}

impl Overlay {
    /// The context whose keys hold while it is on top.
    pub fn context(&self) -> Context {
        match self {
            Self::Editor(_) => Context::Editor,
            Self::Ask(_) => Context::Ask,
            Self::Resolve(_) => Context::Resolve,
            Self::Question(_) => Context::Question,
            Self::Help(_) => Context::Lists,
        }
    }

    /// Whether characters are typed into it rather than being commands.
    pub fn takes_text(&self) -> bool {
        matches!(self, Self::Editor(_) | Self::Ask(_))
    }
}

/// A value that is asked for.
#[derive(Debug)]
pub struct Ask {
    pub wanted: Wanted,
    pub input: TextInput,
}

/// Which value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// The id of a job created elsewhere.
    TrackId,
    /// The id of the job that an unconfirmed prompt made.
    LinkId(PromptId),
    /// A page of rows.
    Page,
    /// Rows per page.
    PageSize,
    /// A range of days.
    Range,
}

/// A value that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Id(JobId),
    Number(u32),
    Range(crate::model::period::DateRange),
}

impl Ask {
    /// Asks, with a text to start from.
    pub fn new(wanted: Wanted, text: &str) -> Self {
        Self { wanted, input: TextInput::line(text) }
    }

    /// What is asked for, as a heading.
    pub fn title(&self) -> &'static str {
        match self.wanted {
            Wanted::TrackId => "Track a job created elsewhere",
            Wanted::LinkId(_) => "Link to the job that it became",
            Wanted::Page => "Jump to a page of rows",
            Wanted::PageSize => "Rows per page",
            Wanted::Range => "A range of days, both included, UTC",
        }
    }

    /// What to type.
    pub fn explanation(&self) -> &'static str {
        match self.wanted {
            Wanted::TrackId => "The job's id, from the service's dashboard. One request asks for it.",
            Wanted::LinkId(_) => {
                "The job's id, from the service's dashboard. One request asks for it; nothing is sent."
            }
            Wanted::Page => "A number from 1. The service doesn't say how many pages there are.",
            Wanted::PageSize => "A number from 1 to 250. One request loads one page of rows.",
            Wanted::Range => "Two dates, like 2026-11-01 2026-11-20, or one for a single day.",
        }
    }

    /// The value, or what is wrong with it, said while typing.
    pub fn value(&self) -> Result<Value, String> {
        let typed = self.input.text();
        let typed = typed.trim();
        let number = |low: u32, high: u32| {
            let n = typed.parse().ok().filter(|n| (low..=high).contains(n));
            n.map(Value::Number).ok_or_else(|| match high {
                u32::MAX => format!("a whole number from {low}"),
                _ => format!("a whole number from {low} to {high}"),
            })
        };
        match self.wanted {
            Wanted::TrackId | Wanted::LinkId(_) => JobId::new(typed).map(Value::Id).ok_or_else(|| "an id".to_owned()),
            Wanted::Page => number(1, u32::MAX),
            Wanted::PageSize => number(LIMIT_MIN, LIMIT_MAX),
            Wanted::Range => parse_range(typed).map(Value::Range).map_err(|error| error.to_string()),
        }
    }
}

/// An undelivered prompt that the user decides about.
#[derive(Debug)]
pub struct Resolve {
    pub job: JobKey,
    pub title: CleanText,
    pub prompt: Prompt,
    /// Whether the job exists at the service, so that it can be looked at.
    pub has_id: bool,
    /// When it went out.
    pub sent_at: Option<Time>,
}

/// A question for yes; anything else is no.
#[derive(Debug)]
pub struct Question {
    pub text: String,
    pub yes: Consequence,
}

/// What yes leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consequence {
    Resolve(PromptId, Resolution),
}

/// The list of keys.
#[derive(Debug)]
pub struct Help {
    /// The contexts of the moment it was asked for.
    pub contexts: Vec<Context>,
    pub scroll: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(wanted: Wanted, text: &str) -> Result<Value, String> {
        Ask::new(wanted, text).value()
    }

    #[test]
    fn a_wrong_value_says_what_would_be_right() {
        assert_eq!(ask(Wanted::PageSize, "251"), Err("a whole number from 1 to 250".to_owned()));
        assert_eq!(ask(Wanted::PageSize, "250"), Ok(Value::Number(250)));
        assert_eq!(ask(Wanted::Page, "0"), Err("a whole number from 1".to_owned()));
        let reversed = ask(Wanted::Range, "2026-11-20 2026-11-01");
        assert_eq!(reversed, Err("the first date comes after the second".to_owned()));
        assert!(ask(Wanted::TrackId, "  ").is_err());
    }
}
