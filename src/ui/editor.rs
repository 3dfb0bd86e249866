//! The prompt editor: the text, and under it how it stands and what it would cost.

use super::text::{Row, fit};
use super::{View, boxed, cursor, put};
use crate::app::editor::{Editor, Progress, Saved};
use crate::app::format::plural;
use crate::app::keymap::Action;
use crate::model::ledger::Limited;
use crate::model::prompt::DraftSlot;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, editor: &Editor, area: Rect) {
    let theme = view.theme;
    let title = fit(editor.title.as_str(), usize::from(area.width.saturating_sub(4)));
    let inner = boxed(frame, area, Line::styled(format!(" {title} "), theme.title), theme.focus);
    let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let (said, style) = said(view, editor);
    let width = usize::from(inner.width).max(1);
    // A reason may take up to three lines; a short one takes one.
    let said_lines = u16::try_from(said.width().div_ceil(width).clamp(1, 3)).unwrap_or(1);
    let below = said_lines + 2;
    let text = Rect { height: inner.height.saturating_sub(below), ..inner };
    frame.render_widget(editor.input.area(), text);
    cursor::type_at(frame, view, text);
    if editor.input.is_blank() && editor.input.size().1 == 0 {
        let hint = editor.invitation();
        let spot = Rect { x: text.x + 1, width: text.width.saturating_sub(1), height: text.height.min(1), ..text };
        frame.render_widget(Line::styled(fit(hint, width - 1), theme.muted), spot);
    }
    let rule = usize::from(text.height);
    put(frame, inner, rule, Line::styled("─".repeat(width), theme.border));
    let message = Rect { y: inner.y + text.height + 1, height: said_lines.min(inner.height), ..inner };
    frame.render_widget(Paragraph::new(said).style(style).wrap(Wrap { trim: true }), message);
    put(frame, inner, usize::from(inner.height.saturating_sub(1)), size_line(view, editor, width));
}

/// How it stands: a message, the progress, or where the draft is.
fn said(view: View<'_>, editor: &Editor) -> (String, Style) {
    let theme = view.theme;
    if let Some(message) = &editor.message {
        return (message.to_string(), theme.warning);
    }
    match &editor.progress {
        Progress::Storing => ("writing it to disk…".to_owned(), theme.working),
        Progress::Sending(_) => ("on disk, sending…".to_owned(), theme.working),
        Progress::Outside(_) => ("your own editor has the text".to_owned(), theme.working),
        Progress::Back(_, reason) => (format!("It came back. {reason}"), theme.warning),
        Progress::Editing if editor.saved == Saved::Unchanged && editor.is_unchanged() && !editor.input.is_blank() => {
            (format!("{} closes; unchanged it is no draft", close_key(view)), theme.muted)
        }
        Progress::Editing => draft_said(view, &editor.saved),
    }
}

fn close_key(view: View<'_>) -> String {
    view.app.contexts().first().map_or_else(String::new, |context| view.app.told(*context, Action::Close))
}

/// Where the draft is.
pub(super) fn draft_said(view: View<'_>, saved: &Saved) -> (String, Style) {
    let theme = view.theme;
    match saved {
        Saved::Unchanged => (format!("{} closes and keeps the draft", close_key(view)), theme.muted),
        Saved::Due(_) => ("draft not on disk yet".to_owned(), theme.muted),
        Saved::Writing => ("writing the draft…".to_owned(), theme.muted),
        Saved::At(_) if view.app.start.demo => ("draft kept as long as the demo runs".to_owned(), theme.muted),
        Saved::At(at) => {
            let at = at.with_timezone(&view.app.start.offset).format("%H:%M:%S");
            (format!("draft on disk since {at}"), theme.muted)
        }
        Saved::Failed(reason) => (format!("The draft could not be written: {reason}"), theme.warning),
    }
}

fn size_line<'a>(view: View<'_>, editor: &Editor, width: usize) -> Line<'a> {
    let theme = view.theme;
    let (lines, characters) = editor.input.size();
    let mut row = Row::new(width);
    row.push(format!("{}, {}", plural(lines, "line"), plural(characters, "character")), theme.muted);
    let limited = match editor.slot {
        DraftSlot::FollowUp(_) => Limited::FollowUp,
        DraftSlot::NewJob | DraftSlot::AboutPages | DraftSlot::Batch | DraftSlot::Prompt(_) => Limited::Create,
    };
    if view.app.knows_budget(limited) {
        let budget = view.app.budget(limited);
        let left = format!("{} {} left this hour, as known here", budget.left(), limited.word());
        row.to(width.saturating_sub(left.width()).max(width - row.room() + 2));
        row.push(left, if budget.left() == 0 { theme.warning } else { theme.muted });
    }
    row.line()
}
