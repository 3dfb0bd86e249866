//! The layout of a confirmation dialog and the words of its two answers. Drawing and the mouse both use it, so that they
//! agree.

use super::App;
use super::bulk::Bulk;
use super::geometry::Geometry;
use super::keymap::{Action, Context};
use super::overlay::{Consequence, Question};
use crate::model::change::QueueChange;
use crate::model::prompt::Resolution;
use crate::model::setup::Allowed;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

/// Between the two answers.
pub const SEPARATOR: &str = " · ";

/// The two answers of a confirmation: each a key and what the key does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answers {
    pub yes_key: String,
    pub yes: &'static str,
    pub no_key: String,
    pub no: &'static str,
}

/// The parts of a question on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionPlace {
    /// The box with its borders.
    pub area: Rect,
    pub text: Rect,
    /// The line of the answers.
    pub answers: Rect,
    pub yes: Rect,
    pub no: Rect,
}

impl App {
    /// The keys and labels of a confirmation's two answers.
    pub fn answers(&self, question: &Question) -> Answers {
        Answers {
            yes_key: self.told(Context::Question, Action::Yes),
            yes: question.yes.label(),
            no_key: self.told(Context::Question, Action::Close),
            no: question.yes.cancel_label(),
        }
    }
}

impl Question {
    /// Its text above the answers, a gap between, in a box in the middle.
    pub fn place(&self, g: Geometry, answers: &Answers) -> QuestionPlace {
        let columns = usize::from(g.small(7).width.saturating_sub(4)).max(1);
        let lines = self.lines(columns);
        let area = g.small(lines.saturating_add(4));
        let inner = Rect {
            x: area.x + 2,
            y: area.y + 1,
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(2),
        };
        let row = lines.saturating_add(1).min(inner.height.saturating_sub(1));
        let line = Rect { y: inner.y + row, height: 1, ..inner };
        let cells = |key: &str, label: &str| u16::try_from(key.width() + 1 + label.width()).unwrap_or(0);
        let gap = u16::try_from(SEPARATOR.width()).unwrap_or(0);
        let yes = Rect { width: cells(&answers.yes_key, answers.yes), ..line };
        let no = Rect { x: yes.right() + gap, width: cells(&answers.no_key, answers.no), ..line };
        let text = Rect { height: row, ..inner };
        QuestionPlace { area, text, answers: line, yes: yes.intersection(inner), no: no.intersection(inner) }
    }

    /// How many lines its text takes.
    fn lines(&self, columns: usize) -> u16 {
        let (mut lines, mut used) = (1_u16, 0);
        for word in self.text.split_whitespace() {
            let needed = word.width() + usize::from(used > 0);
            if used > 0 && used + needed > columns {
                lines = lines.saturating_add(1);
                used = word.width();
            } else {
                used += needed;
            }
        }
        lines
    }
}

impl Consequence {
    /// What the key for yes does, as the dialog labels it.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Resolve(_, Resolution::SendAgain) => "send again",
            Self::Resolve(_, Resolution::SendEdited(_)) | Self::Bulk(Bulk::FollowUp, _) => "send",
            Self::Resolve(_, Resolution::Link(_)) => "link",
            Self::Resolve(_, Resolution::Dismiss) => "discard",
            Self::DeleteDraft(_) => "delete",
            Self::OpenDraft(_) => "open draft",
            Self::BeginAbout(_) => "start new draft",
            Self::Queue(_, QueueChange::Remove) => "remove",
            Self::Queue(_, QueueChange::Pause) => "pause",
            Self::Queue(_, QueueChange::Release) => "resume",
            Self::Queue(_, QueueChange::Up | QueueChange::Down) => "move",
            Self::Bulk(Bulk::OpenPrs, _) => "open all",
            Self::Bulk(Bulk::CopyLinks, _) => "copy all",
            Self::Bulk(Bulk::Dismiss, _) => "dismiss",
            Self::Bulk(Bulk::TakeBack, _) => "restore",
            Self::Bulk(Bulk::Tags(_), _) => "change tags",
            Self::Bulk(Bulk::Export, _) => "export",
            Self::LoadAll(_) => "load all",
            Self::LoadTotals(_) => "load",
            Self::SaveProfile(Allowed::Nothing) => "save",
            Self::SaveProfile(Allowed::Add) => "add",
            Self::SaveProfile(Allowed::Change) => "change",
            Self::Overwrite(_) => "overwrite",
        }
    }

    /// What every other key does.
    pub fn cancel_label(&self) -> &'static str {
        "cancel"
    }
}
