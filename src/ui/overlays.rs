//! Small layers: a value that is asked for, a yes-or-no question.

use super::{View, boxed, cursor};
use crate::app::format::count;
use crate::app::geometry::Geometry;
use crate::app::overlay::{Ask, Question, Value};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

fn padded(area: Rect) -> Rect {
    Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area }
}

pub(super) fn ask(frame: &mut Frame<'_>, view: View<'_>, ask: &Ask, area: Rect) {
    let theme = view.theme;
    let inner = padded(boxed(frame, area, Line::styled(format!(" {} ", ask.title()), theme.title), theme.focus));
    let field = Rect { height: inner.height.min(1), ..inner };
    frame.render_widget(ask.input.area(), field);
    cursor::type_at(frame, view, field);
    let said = match ask.value() {
        Err(wrong) if !ask.input.is_blank() => Line::styled(format!("Not yet right: {wrong}."), theme.warning),
        Ok(Value::Ids(ids)) if ids.len() > 1 => {
            Line::styled(format!("{} ids, one request for each.", count(ids.len())), theme.muted)
        }
        _ => Line::styled(ask.explanation(), theme.muted),
    };
    let below = Rect { y: inner.y + 2, height: inner.height.saturating_sub(2), ..inner };
    frame.render_widget(Paragraph::new(said).wrap(Wrap { trim: true }), below);
}

/// Rows of the box that a question takes: its text, a gap, the keys, the borders.
pub(super) fn question_height(question: &Question, g: Geometry) -> u16 {
    let columns = usize::from(g.small(7).width.saturating_sub(4)).max(1);
    let mut lines = 1;
    let mut used = 0;
    for word in question.text.split_whitespace() {
        let needed = word.width() + usize::from(used > 0);
        if used > 0 && used + needed > columns {
            lines += 1;
            used = word.width();
        } else {
            used += needed;
        }
    }
    u16::try_from(lines + 4).unwrap_or(u16::MAX).max(7)
}

pub(super) fn question(frame: &mut Frame<'_>, view: View<'_>, question: &Question, area: Rect) {
    let theme = view.theme;
    let inner = padded(boxed(frame, area, Line::styled(" Are you sure? ", theme.title), theme.focus));
    let lines = vec![
        Line::raw(question.text.clone()),
        Line::default(),
        Line::from(vec![
            Span::styled("y", theme.key),
            Span::raw(" yes   "),
            Span::styled("anything else", theme.key),
            Span::raw(" no"),
        ]),
    ];
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }), inner);
}
