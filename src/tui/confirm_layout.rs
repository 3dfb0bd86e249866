//! The layout of a confirmation dialog and the labels of its two buttons. Both drawing and mouse clicks use it, so that
//! they agree.

use super::App;
use super::bulk::{BulkAction, Targets};
use super::dialog::{ConfirmAction, ConfirmDialog};
use super::format::{display_width, fit, format_count};
use super::geometry::Geometry;
use super::keymap::{Action, Context};
use crate::model::change::QueueChange;
use crate::model::prompt::Resolution;
use crate::model::setup::WritePermission;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

/// The text between the two buttons.
pub const BUTTON_SEPARATOR: &str = " · ";

/// The two buttons of a confirmation, each with its keyboard key and label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmButtons {
    pub yes_key: String,
    pub yes_label: &'static str,
    pub no_key: String,
    pub no_label: &'static str,
}

/// The areas of a confirmation dialog on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfirmLayout {
    /// The whole dialog, including its borders.
    pub area: Rect,
    pub text: Rect,
    /// The list of jobs below the text, one per line.
    pub jobs: Rect,
    /// The line with the buttons.
    pub buttons: Rect,
    pub yes: Rect,
    pub no: Rect,
}

impl App {
    /// Returns the keyboard keys and labels of the two buttons.
    pub fn confirm_buttons(&self, question: &ConfirmDialog) -> ConfirmButtons {
        ConfirmButtons {
            yes_key: self.key_label(Context::Confirm, Action::Yes),
            yes_label: question.on_yes.confirm_label(),
            no_key: self.key_label(Context::Confirm, Action::Close),
            no_label: question.on_yes.cancel_label(),
        }
    }
}

impl ConfirmDialog {
    /// Lays out the text, the list of jobs, a gap and the buttons in a centred box.
    pub fn layout(&self, g: Geometry, buttons: &ConfirmButtons) -> ConfirmLayout {
        let columns = usize::from(g.small_dialog(7).width.saturating_sub(4)).max(1);
        let text = self.text_height(columns);
        let max_job_lines = g.body.height.saturating_sub(text.saturating_add(4));
        let jobs = u16::try_from(self.job_lines(columns, usize::from(max_job_lines)).len()).unwrap_or(max_job_lines);
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
        let gap = u16::try_from(BUTTON_SEPARATOR.width()).unwrap_or(0);
        let yes = Rect { width: cells(&buttons.yes_key, buttons.yes_label), ..line };
        let no = Rect { x: yes.right() + gap, width: cells(&buttons.no_key, buttons.no_label), ..line };
        let jobs = Rect { y: inner.y + text.min(row), height: jobs, ..inner }.intersection(inner);
        let text = Rect { height: if self.on_yes.targets().is_some() { text.min(row) } else { row }, ..inner };
        ConfirmLayout { area, text, jobs, buttons: line, yes: yes.intersection(inner), no: no.intersection(inner) }
    }

    /// Lists the jobs that the action applies to, then the skipped jobs, in at most `max_lines` lines. If one of the
    /// two lists is too long, its last line shows how many jobs are left out.
    pub fn job_lines(&self, columns: usize, max_lines: usize) -> Vec<ConfirmLine> {
        let Some(targets) = self.on_yes.targets() else { return Vec::new() };
        let skipped = targets.skipped.len();
        // If not all jobs fit, the skipped jobs get at most a third of the lines, because the other jobs matter more.
        // The skipped jobs get at least one line, so that the user sees that jobs are skipped.
        let skipped_lines =
            if targets.titles.len() + skipped <= max_lines { skipped } else { skipped.min((max_lines / 3).max(1)) };
        let titles = targets.titles.iter().map(|title| format!("• {title}"));
        let left_out = targets.skipped.iter().map(|(title, reason)| {
            // A long title is truncated, but never the reason.
            let reason = format!(": {reason}");
            format!("skipped {}{reason}", fit(title.as_str(), columns.saturating_sub(8 + display_width(&reason))))
        });
        let mut lines: Vec<ConfirmLine> = limited_lines(titles, max_lines - skipped_lines.min(max_lines), "more")
            .map(|line| ConfirmLine::Target(fit(&line, columns)))
            .collect();
        lines.extend(
            limited_lines(left_out, skipped_lines, "skipped").map(|line| ConfirmLine::Skipped(fit(&line, columns))),
        );
        lines
    }

    /// Returns how many lines the text takes at this width.
    fn text_height(&self, columns: usize) -> u16 {
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

/// A line of the list of jobs in a confirmation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmLine {
    /// A job that the action applies to.
    Target(String),
    /// A marked job that the action skips.
    Skipped(String),
}

/// Returns at most `max_lines` of these lines. If there are more, the last returned line shows how many are left out:
/// `and 3 more`, where `more` is the given `word`.
fn limited_lines(
    lines: impl ExactSizeIterator<Item = String>,
    max_lines: usize,
    word: &str,
) -> impl Iterator<Item = String> {
    let all = lines.len();
    let shown = if all <= max_lines { all } else { max_lines.saturating_sub(1) };
    let lead = if shown == 0 { "" } else { "and " };
    let more = (shown < all && max_lines > 0).then(|| format!("{lead}{} {word}", format_count(all - shown)));
    lines.take(shown).chain(more)
}

impl ConfirmAction {
    /// Returns the jobs of a bulk action, or `None` for any other action.
    fn targets(&self) -> Option<&Targets> {
        match self {
            Self::Bulk(_, targets) => Some(targets),
            _ => None,
        }
    }

    /// Returns the title of the dialog.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Resolve(_, Resolution::SendAgain) => "Send again",
            Self::Resolve(_, Resolution::SendEdited(_)) => "Send edited prompt",
            Self::Resolve(_, Resolution::Link(_)) => "Link job",
            Self::DeleteDraft(_) => "Delete draft",
            Self::OpenDraft(_) => "Open draft",
            Self::NewDraftAbout(_) => "Start new draft",
            Self::Bulk(BulkAction::FollowUp, _) => "Send follow-ups",
            Self::Bulk(BulkAction::RemoveFromQueue, _) => "Remove queued prompts",
            Self::Bulk(BulkAction::Queue(QueueChange::Pause), _) => "Pause queued prompts",
            Self::Bulk(BulkAction::Queue(QueueChange::Resume), _) => "Resume queued prompts",
            Self::Bulk(BulkAction::Queue(QueueChange::Up | QueueChange::Down), _) => "Move queued prompts",
            Self::Bulk(BulkAction::OpenPrs, _) => "Open pull requests",
            Self::Bulk(BulkAction::CopyLinks, _) => "Copy links",
            Self::Bulk(BulkAction::Dismiss, _) => "Dismiss jobs",
            Self::Bulk(BulkAction::Restore, _) => "Restore jobs",
            Self::Bulk(BulkAction::MarkDone, _) => "Mark as done",
            Self::Bulk(BulkAction::MarkNotDone, _) => "Move back to needs you",
            Self::Bulk(BulkAction::Tags(_), _) => "Change tags",
            Self::Bulk(BulkAction::Export, _) => "Export jobs",
            Self::LoadAll(_) => "Load all pages",
            Self::LoadTotals(_) => "Load trend",
            Self::SaveProfile(_) => "Save profile",
            Self::Overwrite(_) => "Overwrite file",
            Self::ReplaceFilter(_) => "Replace filter",
            Self::Quit => "Quit",
        }
    }

    /// Returns the label of the button that confirms.
    pub fn confirm_label(&self) -> &'static str {
        match self {
            Self::Resolve(_, Resolution::SendAgain) => "send again",
            Self::Resolve(_, Resolution::SendEdited(_)) | Self::Bulk(BulkAction::FollowUp, _) => "send",
            Self::Resolve(_, Resolution::Link(_)) => "link",
            Self::DeleteDraft(_) => "delete",
            Self::OpenDraft(_) => "open draft",
            Self::NewDraftAbout(_) => "start new draft",
            Self::Bulk(BulkAction::RemoveFromQueue, _) => "remove",
            Self::Bulk(BulkAction::Queue(QueueChange::Pause), _) => "pause",
            Self::Bulk(BulkAction::Queue(QueueChange::Resume), _) => "resume",
            Self::Bulk(BulkAction::Queue(QueueChange::Up | QueueChange::Down), _) => "move",
            Self::Bulk(BulkAction::OpenPrs, _) => "open all",
            Self::Bulk(BulkAction::CopyLinks, _) => "copy all",
            Self::Bulk(BulkAction::Dismiss, _) => "dismiss",
            Self::Bulk(BulkAction::Restore, _) => "restore",
            Self::Bulk(BulkAction::MarkDone, _) => "mark as done",
            Self::Bulk(BulkAction::MarkNotDone, _) => "move back",
            Self::Bulk(BulkAction::Tags(_), _) => "change tags",
            Self::Bulk(BulkAction::Export, _) => "export",
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

    /// Returns the label of the button that cancels. Every keyboard key except the key for yes cancels, too.
    pub fn cancel_label(&self) -> &'static str {
        match self {
            Self::Quit => "stay",
            _ => "cancel",
        }
    }
}
