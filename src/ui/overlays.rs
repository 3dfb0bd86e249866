//! Small layers: a value that is asked for, a prompt to decide about, a yes-or-no question.

use super::text::fit;
use super::{View, boxed};
use crate::app::detail::kind_text;
use crate::app::overlay::{Ask, Question, Resolve};
use crate::model::prompt::{DeliveryKind, PromptKind};
use crate::model::text::CleanText;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

fn padded(area: Rect) -> Rect {
    Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area }
}

pub(super) fn ask(frame: &mut Frame<'_>, view: View<'_>, ask: &Ask, area: Rect) {
    let theme = view.theme;
    let inner = padded(boxed(frame, area, Line::styled(format!(" {} ", ask.title()), theme.title), theme.focus));
    let field = Rect { height: inner.height.min(1), ..inner };
    frame.render_widget(ask.input.area(), field);
    let said = match ask.value() {
        Err(wrong) if !ask.input.is_blank() => Line::styled(format!("Not yet right: {wrong}."), theme.warning),
        _ => Line::styled(ask.explanation(), theme.muted),
    };
    let below = Rect { y: inner.y + 2, height: inner.height.saturating_sub(2), ..inner };
    frame.render_widget(Paragraph::new(said).wrap(Wrap { trim: true }), below);
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

pub(super) fn resolve(frame: &mut Frame<'_>, view: View<'_>, resolve: &Resolve, area: Rect) {
    let theme = view.theme;
    let title = format!(" {}: {} ", kind_text(resolve.prompt.kind), resolve.prompt.delivery.kind().word());
    let inner = padded(boxed(frame, area, Line::styled(title, theme.title), theme.focus));
    let mut lines = vec![Line::styled(resolve.title.to_string(), theme.title)];
    if let Some(at) = resolve.sent_at {
        let at = at.with_timezone(&view.app.start.offset).format("%Y-%m-%d %H:%M:%S");
        lines.push(Line::styled(format!("went out at {at}"), theme.muted));
    }
    lines.push(Line::default());
    lines.push(Line::styled(happened(resolve), theme.warning));
    if let Some(reason) = resolve.prompt.delivery.reason() {
        lines.push(Line::raw(reason.to_string()));
    }
    lines.push(Line::default());
    let mut offer = |key: &'static str, text: &'static str| {
        lines.push(Line::from(vec![Span::styled(format!("{key}  "), theme.key), Span::raw(text)]));
    };
    let unconfirmed = resolve.prompt.delivery.kind() == DeliveryKind::Unconfirmed;
    match (unconfirmed, resolve.prompt.kind) {
        (false, _) => {
            offer("s", "send it again as it is");
            offer("e", "edit it first");
        }
        (true, PromptKind::Create) => {
            offer("l", "link it to the job that it became, by id");
            offer("s", "send it again: it may then be carried out twice");
        }
        (true, PromptKind::FollowUp) => {
            offer("g", "look at the job, one request: is it at work?");
            offer("s", "send it again: it may then be carried out twice");
        }
    }
    offer("d", "let it go; it stays in the record");
    lines.push(Line::default());
    lines.push(Line::styled("The prompt:", theme.muted));
    let head: String = resolve.prompt.text.chars().take(8000).collect();
    let width = usize::from(inner.width);
    let text = CleanText::block(&head);
    lines.extend(text.as_str().lines().take(40).map(|line| Line::raw(fit(line, width.max(1) * 4))));
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), inner);
}

fn happened(resolve: &Resolve) -> &'static str {
    match resolve.prompt.delivery.kind() {
        DeliveryKind::Unconfirmed => "The answer was lost, so the service may or may not have carried it out.",
        DeliveryKind::Rejected => "The service refused it. Nothing was carried out.",
        _ => "It never reached the service. Nothing was carried out.",
    }
}
