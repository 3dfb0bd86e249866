//! The first page of somebody who has configured nothing yet.

use super::View;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let theme = view.theme;
    let missing = view.app.start.missing.as_ref().map(ToString::to_string).unwrap_or_default();
    let command = |text: &'static str, why: &'static str| {
        Line::from(vec![Span::styled(format!("  {text:<38}"), theme.key), Span::styled(why, theme.muted)])
    };
    let lines = vec![
        Line::styled("Welcome to docdeck", theme.title),
        Line::default(),
        Line::raw(
            "Start agent jobs on your documentation, watch them live, open their pull requests, and see which pages people and AI read.",
        ),
        Line::default(),
        Line::styled(missing, theme.warning),
        Line::default(),
        Line::styled("Look around first; it needs no key and no network:", theme.text),
        command("docdeck demo", ""),
        Line::default(),
        Line::styled("With a project of your own:", theme.text),
        command("export DOCDECK_API_KEY=…", "an admin key"),
        command("export DOCDECK_PROJECT_ID=…", "the project's id"),
        command("docdeck", ""),
        Line::default(),
        Line::styled("Key and id stand on the API keys page of the service's dashboard.", theme.muted),
    ];
    let inner = Rect {
        x: area.x + 2.min(area.width),
        y: area.y + 1.min(area.height),
        width: area.width.saturating_sub(4).min(90),
        height: area.height.saturating_sub(1),
    };
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), inner);
}
