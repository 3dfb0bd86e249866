//! Draws small dialogs: the input of a value, and a confirmation.

use super::{View, cursor, draw_box};
use crate::tui::confirm_layout::{BUTTON_SEPARATOR, ConfirmLine};
use crate::tui::dialog::{ConfirmDialog, InputCheck, InputDialog, InputValue};
use crate::tui::format::{fit, format_count};
use crate::tui::wrap::wrap;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

/// Minimum height of an input dialog, in rows.
const MIN_INPUT_ROWS: u16 = 7;

fn padded(area: Rect) -> Rect {
    Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area }
}

pub(in crate::tui) fn draw_input_dialog(frame: &mut Frame<'_>, view: View<'_>, ask: &InputDialog) {
    let theme = view.theme;
    let g = view.app.geometry();
    let mut area = g.small_dialog(MIN_INPUT_ROWS);
    if let InputCheck::Failed(why) = &ask.check {
        let lines =
            wrap(why.as_str(), usize::from(area.width.saturating_sub(4)).max(1), usize::from(MIN_INPUT_ROWS)).0.len();
        area = g.small_dialog(u16::try_from(lines + 4).unwrap_or(MIN_INPUT_ROWS).max(MIN_INPUT_ROWS));
    }
    let title = fit(&ask.title(), usize::from(area.width.saturating_sub(4)));
    let inner = padded(draw_box(frame, area, Line::styled(format!(" {title} "), theme.title), theme.focus));
    let field = Rect { height: inner.height.min(1), ..inner };
    frame.render_widget(ask.input.area(), field);
    cursor::place_in_input(frame, view, field);
    let message = match ask.value() {
        _ if ask.check == InputCheck::Running => Line::styled("Checking with the service…", theme.working),
        _ if let InputCheck::Failed(why) = &ask.check => Line::styled(why.as_str(), theme.warning),
        Err(wrong) if !ask.input.is_blank() => Line::styled(format!("Not valid yet: {wrong}."), theme.warning),
        Ok(InputValue::Ids(ids)) if ids.len() > 1 => {
            Line::styled(format!("{} ids, one request for each.", format_count(ids.len())), theme.muted)
        }
        _ => Line::styled(ask.explanation(), theme.muted),
    };
    let below = Rect { y: inner.y + 2, height: inner.height.saturating_sub(2), ..inner };
    frame.render_widget(Paragraph::new(message).wrap(Wrap { trim: true }), below);
}

pub(in crate::tui) fn draw_confirm_dialog(frame: &mut Frame<'_>, view: View<'_>, question: &ConfirmDialog) {
    let theme = view.theme;
    let answers = view.app.confirm_buttons(question);
    let place = question.layout(view.app.geometry(), &answers);
    draw_box(frame, place.area, Line::styled(format!(" {} ", question.on_yes.title()), theme.title), theme.focus);
    let text = Paragraph::new(question.text.as_str()).wrap(Wrap { trim: true });
    frame.render_widget(text, place.text);
    let jobs = question.job_lines(usize::from(place.jobs.width), usize::from(place.jobs.height));
    for (row, line) in place.jobs.rows().zip(jobs) {
        let line = match line {
            ConfirmLine::Target(text) => Line::styled(text, theme.text),
            ConfirmLine::Skipped(text) => Line::styled(text, theme.muted),
        };
        frame.render_widget(line, row);
    }
    let line = Line::from(vec![
        Span::styled(answers.yes_key, theme.key),
        Span::raw(format!(" {}", answers.yes_label)),
        Span::styled(BUTTON_SEPARATOR, theme.muted),
        Span::styled(answers.no_key, theme.key),
        Span::raw(format!(" {}", answers.no_label)),
    ]);
    frame.render_widget(line, place.buttons);
}
