//! The prompt editor: the text, and under it how it stands and what it would cost.

use super::text::{TextRow, fit};
use super::{View, boxed, cursor, put};
use crate::app::editor::{DraftState, Editor};
use crate::app::format::plural;
use crate::app::keymap::Action;
use crate::app::message_fit::fit_message as laid_out;
use crate::model::ledger::RateLimited;
use crate::model::prompt::PromptKind;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

/// Most lines that a reason takes.
const SAID_LINES: usize = 8;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, editor: &Editor, area: Rect) {
    let theme = view.theme;
    let title = fit(editor.title.as_str(), usize::from(area.width.saturating_sub(4)));
    let inner = boxed(frame, area, Line::styled(format!(" {title} "), theme.title), theme.focus);
    let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let (said, style) = said(view, editor);
    let width = usize::from(inner.width).max(1);
    // Why it came back matters more than the size of the text; a line of the text and the rule stay.
    let room = usize::from(inner.height).saturating_sub(2).max(1);
    let said = laid_out(&said, width, room.min(SAID_LINES));
    let below = u16::try_from(said.len() + if said.len() < room { 2 } else { 1 }).unwrap_or(inner.height);
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
    if said.len() < room {
        put(frame, inner, usize::from(inner.height.saturating_sub(1)), size_line(view, editor, width));
    }
    for (n, line) in said.into_iter().enumerate() {
        put(frame, inner, rule + 1 + n, Line::styled(line, style));
    }
}

/// A message, why the prompt was not delivered, or whether the draft is saved.
fn said(view: View<'_>, editor: &Editor) -> (String, Style) {
    let theme = view.theme;
    if let Some(message) = &editor.message {
        return (message.to_string(), theme.warning);
    }
    if editor.is_lent {
        return ("your own editor has the text".to_owned(), theme.working);
    }
    if let Some(reason) = &editor.last_failure {
        return (format!("Last attempt: {reason}"), theme.warning);
    }
    if editor.saved == DraftState::Unchanged && editor.is_unchanged() && !editor.input.is_blank() {
        return (format!("{} closes (nothing to save)", close_key(view)), theme.muted);
    }
    draft_said(view, &editor.saved)
}

fn close_key(view: View<'_>) -> String {
    view.app.contexts().first().map_or_else(String::new, |context| view.app.key_label(*context, Action::Close))
}

/// Where the draft is.
pub(super) fn draft_said(view: View<'_>, saved: &DraftState) -> (String, Style) {
    let theme = view.theme;
    match saved {
        DraftState::Unchanged => (format!("{} closes and keeps the draft", close_key(view)), theme.muted),
        DraftState::Due(_) => ("draft not on disk yet".to_owned(), theme.muted),
        DraftState::Writing => ("writing the draft…".to_owned(), theme.muted),
        DraftState::At(_) if view.app.config.demo => ("draft kept as long as the demo runs".to_owned(), theme.muted),
        DraftState::At(at) => {
            let at = at.with_timezone(&view.app.config.offset).format("%H:%M:%S");
            (format!("draft on disk since {at}"), theme.muted)
        }
        DraftState::Failed(reason) => (format!("The draft could not be written: {reason}"), theme.warning),
    }
}

fn size_line<'a>(view: View<'_>, editor: &Editor, width: usize) -> Line<'a> {
    let theme = view.theme;
    let (lines, characters) = editor.input.size();
    let mut row = TextRow::new(width);
    row.push(format!("{}, {}", plural(lines, "line"), plural(characters, "character")), theme.muted);
    let limited = match editor.kind {
        PromptKind::FollowUp => RateLimited::FollowUp,
        PromptKind::Create => RateLimited::Create,
    };
    if view.app.knows_budget(limited) {
        let budget = view.app.budget(limited);
        let left = format!("{} {} left this hour, as known here", budget.left(), limited.word());
        row.to(width.saturating_sub(left.width()).max(width - row.room() + 2));
        row.push(left, if budget.left() == 0 { theme.warning } else { theme.muted });
    }
    row.line()
}
