//! The layout of a confirmation dialog and the words of its two answers. Drawing and the mouse both use it, so that they
//! agree.

use super::App;
use super::bulk::{Bulk, Targets};
use super::dialog::{ConfirmAction, ConfirmDialog};
use super::format::{cells, count, fit};
use super::geometry::Geometry;
use super::keymap::{Action, Context};
use crate::model::change::QueueChange;
use crate::model::prompt::Resolution;
use crate::model::setup::WritePermission;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

/// Between the two answers.
pub const SEPARATOR: &str = " · ";

/// The two answers of a confirmation: each a key and what the key does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmButtons {
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
    /// Below the text: the jobs that are named, a line each.
    pub jobs: Rect,
    /// The line of the answers.
    pub answers: Rect,
    pub yes: Rect,
    pub no: Rect,
}

impl App {
    /// The keys and labels of a confirmation's two answers.
    pub fn answers(&self, question: &ConfirmDialog) -> ConfirmButtons {
        ConfirmButtons {
            yes_key: self.key_label(Context::Question, Action::Yes),
            yes: question.yes.label(),
            no_key: self.key_label(Context::Question, Action::Close),
            no: question.yes.cancel_label(),
        }
    }
}

impl ConfirmDialog {
    /// Its text above the answers, a gap between, in a box in the middle.
    pub fn place(&self, g: Geometry, answers: &ConfirmButtons) -> QuestionPlace {
        let columns = usize::from(g.small(7).width.saturating_sub(4)).max(1);
        let text = self.lines(columns);
        let most = g.body.height.saturating_sub(text.saturating_add(4));
        let jobs = u16::try_from(self.job_lines(columns, usize::from(most)).len()).unwrap_or(most);
        let lines = text.saturating_add(jobs);
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
        let jobs = Rect { y: inner.y + text.min(row), height: jobs, ..inner }.intersection(inner);
        let text = Rect { height: if self.yes.targets().is_some() { text.min(row) } else { row }, ..inner };
        QuestionPlace { area, text, jobs, answers: line, yes: yes.intersection(inner), no: no.intersection(inner) }
    }

    /// The jobs that it is about, by their titles, then those that are left out, in at most so many lines. If there are too
    /// many of them, the last line counts the others.
    pub fn job_lines(&self, columns: usize, most: usize) -> Vec<QuestionLine> {
        let Some(targets) = self.yes.targets() else { return Vec::new() };
        let out = targets.left_out.len();
        // Those that are acted on matter more, but that some are left out has to be seen.
        let for_left_out = if targets.titles.len() + out <= most { out } else { out.min((most / 3).max(1)) };
        let titles = targets.titles.iter().map(|title| format!("• {title}"));
        let left_out = targets.left_out.iter().map(|(title, reason)| {
            // The reason stays whole: the title is cut before it.
            let reason = format!(": {reason}");
            format!("not {}{reason}", fit(title.as_str(), columns.saturating_sub(4 + cells(&reason))))
        });
        let mut lines: Vec<QuestionLine> = named(titles, most - for_left_out.min(most), "more")
            .map(|line| QuestionLine::Target(fit(&line, columns)))
            .collect();
        lines.extend(named(left_out, for_left_out, "left out").map(|line| QuestionLine::LeftOut(fit(&line, columns))));
        lines
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

/// A line that names a job of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionLine {
    /// The action works on it.
    Target(String),
    /// It is marked, but left out.
    LeftOut(String),
}

/// These lines, at most so many; the last of them counts those that have no line.
fn named(lines: impl ExactSizeIterator<Item = String>, most: usize, word: &str) -> impl Iterator<Item = String> {
    let all = lines.len();
    let shown = if all <= most { all } else { most.saturating_sub(1) };
    let lead = if shown == 0 { "" } else { "and " };
    let more = (shown < all && most > 0).then(|| format!("{lead}{} {word}", count(all - shown)));
    lines.take(shown).chain(more)
}

impl ConfirmAction {
    /// The jobs that it is about.
    fn targets(&self) -> Option<&Targets> {
        match self {
            Self::Bulk(_, targets) => Some(targets),
            _ => None,
        }
    }

    /// What the key for yes does, as the dialog labels it.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Resolve(_, Resolution::SendAgain) => "send again",
            Self::Resolve(_, Resolution::SendEdited(_)) | Self::Bulk(Bulk::FollowUp, _) => "send",
            Self::Resolve(_, Resolution::Link(_)) => "link",
            Self::DeleteDraft(_) => "delete",
            Self::OpenDraft(_) => "open draft",
            Self::BeginAbout(_) => "start new draft",
            Self::Bulk(Bulk::RemoveFromQueue, _) => "remove",
            Self::Bulk(Bulk::Queue(QueueChange::Pause), _) => "pause",
            Self::Bulk(Bulk::Queue(QueueChange::Release), _) => "resume",
            Self::Bulk(Bulk::Queue(QueueChange::Up | QueueChange::Down), _) => "move",
            Self::Bulk(Bulk::OpenPrs, _) => "open all",
            Self::Bulk(Bulk::CopyLinks, _) => "copy all",
            Self::Bulk(Bulk::Dismiss, _) => "dismiss",
            Self::Bulk(Bulk::TakeBack, _) => "restore",
            Self::Bulk(Bulk::Done, _) => "mark as done",
            Self::Bulk(Bulk::NotDone, _) => "put back",
            Self::Bulk(Bulk::Tags(_), _) => "change tags",
            Self::Bulk(Bulk::Export, _) => "export",
            Self::LoadAll(_) => "load all",
            Self::LoadTotals(_) => "load",
            Self::SaveProfile(WritePermission::Nothing) => "save",
            Self::SaveProfile(WritePermission::Add) => "add",
            Self::SaveProfile(WritePermission::Change) => "change",
            Self::Overwrite(_) => "overwrite",
            Self::ReplaceFilter(_) => "replace",
            Self::Quit => "quit",
        }
    }

    /// What every other key does.
    pub fn cancel_label(&self) -> &'static str {
        match self {
            Self::Quit => "stay",
            _ => "cancel",
        }
    }
}
