//! The layout of a confirmation dialog and the labels of its two buttons. Drawing and the mouse both use it, so that
//! they agree.

use super::App;
use super::bulk::{Bulk, Targets};
use super::dialog::{ConfirmAction, ConfirmDialog};
use super::format::{display_width, fit, format_count};
use super::geometry::Geometry;
use super::keymap::{Action, Context};
use crate::model::change::QueueChange;
use crate::model::prompt::Resolution;
use crate::model::setup::WritePermission;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

/// Between the two buttons.
pub const SEPARATOR: &str = " · ";

/// The two buttons of a confirmation, each with its key and label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmButtons {
    pub yes_key: String,
    pub yes: &'static str,
    pub no_key: String,
    pub no: &'static str,
}

/// The parts of a confirmation dialog on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfirmLayout {
    /// The dialog, borders included.
    pub area: Rect,
    pub text: Rect,
    /// The list of jobs below the text, one per line.
    pub jobs: Rect,
    /// The line of the buttons.
    pub answers: Rect,
    pub yes: Rect,
    pub no: Rect,
}

impl App {
    /// The keys and labels of the two buttons.
    pub fn confirm_buttons(&self, question: &ConfirmDialog) -> ConfirmButtons {
        ConfirmButtons {
            yes_key: self.key_label(Context::Confirm, Action::Yes),
            yes: question.yes.label(),
            no_key: self.key_label(Context::Confirm, Action::Close),
            no: question.yes.cancel_label(),
        }
    }
}

impl ConfirmDialog {
    /// Lays out the text, the list of jobs, a gap and the buttons in a centred box.
    pub fn layout(&self, g: Geometry, answers: &ConfirmButtons) -> ConfirmLayout {
        let columns = usize::from(g.small_dialog(7).width.saturating_sub(4)).max(1);
        let text = self.lines(columns);
        let most = g.body.height.saturating_sub(text.saturating_add(4));
        let jobs = u16::try_from(self.job_lines(columns, usize::from(most)).len()).unwrap_or(most);
        let lines = text.saturating_add(jobs);
        let area = g.small_dialog(lines.saturating_add(4));
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
        ConfirmLayout { area, text, jobs, answers: line, yes: yes.intersection(inner), no: no.intersection(inner) }
    }

    /// The titles of the jobs that the action applies to, then the skipped ones, in at most `most` lines. If there are
    /// more, the last line has their number.
    pub fn job_lines(&self, columns: usize, most: usize) -> Vec<ConfirmLine> {
        let Some(targets) = self.yes.targets() else { return Vec::new() };
        let out = targets.left_out.len();
        // The jobs that the action applies to matter more, but the dialog must show that some are skipped.
        let for_left_out = if targets.titles.len() + out <= most { out } else { out.min((most / 3).max(1)) };
        let titles = targets.titles.iter().map(|title| format!("• {title}"));
        let left_out = targets.left_out.iter().map(|(title, reason)| {
            // The title is truncated rather than the reason.
            let reason = format!(": {reason}");
            format!("not {}{reason}", fit(title.as_str(), columns.saturating_sub(4 + display_width(&reason))))
        });
        let mut lines: Vec<ConfirmLine> = limited_lines(titles, most - for_left_out.min(most), "more")
            .map(|line| ConfirmLine::Target(fit(&line, columns)))
            .collect();
        lines.extend(
            limited_lines(left_out, for_left_out, "skipped").map(|line| ConfirmLine::LeftOut(fit(&line, columns))),
        );
        lines
    }

    /// The height of the text in lines.
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

/// A job in the list of a confirmation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmLine {
    /// The action applies to it.
    Target(String),
    /// The job is marked, but skipped.
    LeftOut(String),
}

/// At most `most` of these lines; if there are more, the last line has the number of the others.
fn limited_lines(
    lines: impl ExactSizeIterator<Item = String>,
    most: usize,
    word: &str,
) -> impl Iterator<Item = String> {
    let all = lines.len();
    let shown = if all <= most { all } else { most.saturating_sub(1) };
    let lead = if shown == 0 { "" } else { "and " };
    let more = (shown < all && most > 0).then(|| format!("{lead}{} {word}", format_count(all - shown)));
    lines.take(shown).chain(more)
}

impl ConfirmAction {
    /// The jobs that the action applies to.
    fn targets(&self) -> Option<&Targets> {
        match self {
            Self::Bulk(_, targets) => Some(targets),
            _ => None,
        }
    }

    /// The title of the dialog.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Resolve(_, Resolution::SendAgain) => "Send again",
            Self::Resolve(_, Resolution::SendEdited(_)) => "Send edited prompt",
            Self::Resolve(_, Resolution::Link(_)) => "Link job",
            Self::DeleteDraft(_) => "Delete draft",
            Self::OpenDraft(_) => "Open draft",
            Self::NewDraftAbout(_) => "Start new draft",
            Self::Bulk(Bulk::FollowUp, _) => "Send follow-ups",
            Self::Bulk(Bulk::RemoveFromQueue, _) => "Remove queued prompts",
            Self::Bulk(Bulk::Queue(QueueChange::Pause), _) => "Pause queued prompts",
            Self::Bulk(Bulk::Queue(QueueChange::Release), _) => "Resume queued prompts",
            Self::Bulk(Bulk::Queue(QueueChange::Up | QueueChange::Down), _) => "Move queued prompts",
            Self::Bulk(Bulk::OpenPrs, _) => "Open pull requests",
            Self::Bulk(Bulk::CopyLinks, _) => "Copy links",
            Self::Bulk(Bulk::Dismiss, _) => "Dismiss jobs",
            Self::Bulk(Bulk::Restore, _) => "Restore jobs",
            Self::Bulk(Bulk::Done, _) => "Mark as done",
            Self::Bulk(Bulk::NotDone, _) => "Move back to needs you",
            Self::Bulk(Bulk::Tags(_), _) => "Change tags",
            Self::Bulk(Bulk::Export, _) => "Export jobs",
            Self::LoadAll(_) => "Load all pages",
            Self::LoadTotals(_) => "Load trend",
            Self::SaveProfile(_) => "Save profile",
            Self::Overwrite(_) => "Overwrite file",
            Self::ReplaceFilter(_) => "Replace filter",
            Self::Quit => "Quit",
        }
    }

    /// The label of the yes button.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Resolve(_, Resolution::SendAgain) => "send again",
            Self::Resolve(_, Resolution::SendEdited(_)) | Self::Bulk(Bulk::FollowUp, _) => "send",
            Self::Resolve(_, Resolution::Link(_)) => "link",
            Self::DeleteDraft(_) => "delete",
            Self::OpenDraft(_) => "open draft",
            Self::NewDraftAbout(_) => "start new draft",
            Self::Bulk(Bulk::RemoveFromQueue, _) => "remove",
            Self::Bulk(Bulk::Queue(QueueChange::Pause), _) => "pause",
            Self::Bulk(Bulk::Queue(QueueChange::Release), _) => "resume",
            Self::Bulk(Bulk::Queue(QueueChange::Up | QueueChange::Down), _) => "move",
            Self::Bulk(Bulk::OpenPrs, _) => "open all",
            Self::Bulk(Bulk::CopyLinks, _) => "copy all",
            Self::Bulk(Bulk::Dismiss, _) => "dismiss",
            Self::Bulk(Bulk::Restore, _) => "restore",
            Self::Bulk(Bulk::Done, _) => "mark as done",
            Self::Bulk(Bulk::NotDone, _) => "move back",
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

    /// The label of the no button. Any other key does the same.
    pub fn cancel_label(&self) -> &'static str {
        match self {
            Self::Quit => "stay",
            _ => "cancel",
        }
    }
}
