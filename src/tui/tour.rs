//! The tour of the demo: a box with four steps. Any key except those for redrawing and suspending closes the box. If
//! the box names the key, the action of the key also runs.

use super::component::prelude::*;
use super::geometry::centered;
use super::jobs::screen::JobsScreen;
use super::keymap::Keymap;
use super::wrap::wrap;
use crate::tui::Pane;
use crate::tui::draw::boxes::draw_box;
use crate::tui::draw::theme::Theme;
use ratatui::text::Span;
use ratatui::widgets::{Paragraph, Wrap};

/// The width of the box with its borders.
const BOX_WIDTH: u16 = 50;
/// The minimum width of the screen at which the box has margins. On a narrower screen, it is as wide as the screen.
const MIN_COLUMNS_FOR_MARGINS: u16 = 60;
/// The rows below the box.
const ROWS_BELOW: u16 = 2;
/// The maximum number of lines of a step.
const MAX_LINES_PER_STEP: usize = 3;
/// The width of the bullet and the blanks before the text of a step.
const BULLET_WIDTH: u16 = 3;

#[derive(Debug)]
pub struct Tour;

impl Component for Tour {
    fn contexts(&self) -> &'static [Context] {
        JobsScreen(Pane::List).contexts()
    }

    fn is_modal(&self) -> bool {
        false
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        JobsScreen(Pane::List).footer_label(action, app)
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Redraw | Action::Suspend => return Flow::Unhandled,
            Action::Open | Action::FollowUp | Action::ShowAnalytics | Action::NewJob | Action::Help => {
                cx.app.run_action(action, cx.now, cx.effects);
            }
            _ => {}
        }
        Flow::Close
    }

    fn handle_unbound_key(&mut self) -> Flow {
        Flow::Close
    }

    fn click(&mut self, _at: Position, _cx: &mut Cx<'_>) -> Flow {
        Flow::Close
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let (keymap, body) = (&view.app.config.keymap, view.app.geometry().body);
        let width = if body.width < MIN_COLUMNS_FOR_MARGINS { body.width } else { BOX_WIDTH };
        let columns = width.saturating_sub(4);
        let mut lines = steps(keymap, view.theme);
        let step_count = lines.len();
        lines.extend([Line::from(" "), last_line(keymap, view.theme)]);
        let lines: Vec<_> = lines
            .into_iter()
            .enumerate()
            .map(|(n, line)| {
                let indent = if n < step_count { BULLET_WIDTH } else { 0 };
                let wrapped =
                    wrap(&line.to_string(), usize::from(columns.saturating_sub(indent)), MAX_LINES_PER_STEP).0;
                (indent, u16::try_from(wrapped.len()).unwrap_or(1), line)
            })
            .collect();
        let height = lines.iter().map(|(_, height, _)| height).sum::<u16>();
        let mut area = centered(body, width, height.saturating_add(2));
        area.y = area.y.max(body.bottom().saturating_sub(ROWS_BELOW + area.height));
        let inner = draw_box(frame, area, Line::styled(" A tour in four steps ", view.theme.title), view.theme.focus);
        let mut row = Rect { x: inner.x + 1, width: columns, height: 1, ..inner };
        for (indent, height, line) in lines {
            // The steps are not numbered, because some begin with a key that is a digit.
            let bullet = Line::styled("•", view.theme.muted);
            frame.render_widget(bullet, Rect { width: indent, ..row }.intersection(inner));
            let text = Rect { x: row.x + indent, width: columns.saturating_sub(indent), height, ..row };
            frame.render_widget(Paragraph::new(line).wrap(Wrap { trim: true }), text.intersection(inner));
            row.y += height;
        }
    }
}

/// Returns the steps with the user's keys. A step is left out if it has no key.
fn steps(keymap: &Keymap, theme: &Theme) -> Vec<Line<'static>> {
    let key = |context, action| {
        Some(Span::styled(keymap.key(&[context, Context::Everywhere], action)?.to_string(), theme.key))
    };
    let step = |key: Option<Span<'static>>, text: &'static str| Some(vec![key?, text.into()]);
    let views = key(Context::Jobs, Action::ShowAnalytics).zip(key(Context::Views, Action::Open));
    let steps = [
        step(key(Context::Jobs, Action::Open), " opens the selected job"),
        step(key(Context::Jobs, Action::FollowUp), " sends it a follow-up"),
        views.map(|(views, open)| vec![views, " shows page views; ".into(), open, " opens a page".into()]),
        step(key(Context::Views, Action::NewJob), " on a page starts a job about it"),
    ];
    steps.into_iter().flatten().map(Line::from).collect()
}

fn last_line(keymap: &Keymap, theme: &Theme) -> Line<'static> {
    let mut line = Line::from("Any key closes this.");
    if let Some(help) = keymap.key(&[Context::Everywhere], Action::Help) {
        line.extend([Span::raw(" "), Span::styled(help.to_string(), theme.key), Span::raw(" shows all shortcuts.")]);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::endpoint::Scope;
    use crate::model::remote_job::Status;
    use crate::tui::chord::{ch, plain_key};
    use crate::tui::draw::ColorDepth;
    use crate::tui::help::Help;
    use crate::tui::jobs::tests::{at, row};
    use crate::tui::{AppConfig, InitialData, JobsMsg, Screen};
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

    /// Opens the tour over a list of two jobs.
    fn open_tour() -> App {
        let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
        let utc = chrono::FixedOffset::east_opt(0).expect("UTC");
        let (mut app, _) = App::new(AppConfig { size: (80, 24), ..AppConfig::new(scope, utc) }, at(0));
        app.open(Tour);
        let jobs = vec![row(1, Status::Completed), row(2, Status::Completed)];
        let data = InitialData { jobs, ..InitialData::default() };
        app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(data)))), at(0));
        app
    }

    fn press(code: KeyCode) -> App {
        let mut app = open_tour();
        app.update(Msg::Input(Event::Key(KeyEvent::from(code))), at(1));
        assert!(app.find::<Tour>().is_none(), "{code} closes the tour");
        app
    }

    #[test]
    fn a_key_that_the_tour_names_also_does_what_it_says() {
        assert_eq!(press(KeyCode::Enter).pane, Pane::Detail);
        assert_eq!(press(KeyCode::Char('2')).screen, Screen::Analytics);
        assert!(press(KeyCode::Char('?')).top::<Help>().is_some());
        for key in ['f', 'n'] {
            assert!(press(KeyCode::Char(key)).takes_text(), "{key} opens the editor");
        }
    }

    #[test]
    fn any_other_key_only_closes_the_tour() {
        for code in [KeyCode::Esc, KeyCode::Char('q'), KeyCode::Char('d'), KeyCode::Down, KeyCode::F(7)] {
            let app = press(code);
            assert!(app.dialogs.is_empty() && app.notice.is_none(), "{code}");
            assert_eq!((app.screen, app.pane), (Screen::Jobs, Pane::List), "{code}");
            assert_eq!(app.jobs.selected().map(|job| job.key.0), Some(2), "{code}");
        }
    }

    #[test]
    fn a_click_closes_the_tour_and_a_resize_does_not() {
        let mut app = open_tour();
        app.update(Msg::Input(Event::Resize(40, 12)), at(1));
        assert!(app.top::<Tour>().is_some());
        let kind = MouseEventKind::Down(MouseButton::Left);
        let click = MouseEvent { kind, column: 3, row: 3, modifiers: KeyModifiers::NONE };
        app.update(Msg::Input(Event::Mouse(click)), at(1));
        assert!(app.dialogs.is_empty());
    }

    #[test]
    fn the_tour_names_custom_keys_and_leaves_out_a_step_without_a_key() {
        let mut keymap = Keymap::default();
        keymap.set_keys(Context::Jobs, "open", vec![ch('O')]);
        keymap.set_keys(Context::Jobs, "follow-up", Vec::new());
        keymap.set_keys(Context::Everywhere, "help", vec![plain_key(KeyCode::F(1))]);
        let steps: Vec<String> = steps(&keymap, &Theme::new(ColorDepth::None)).iter().map(Line::to_string).collect();
        assert_eq!(steps.first().map(String::as_str), Some("O opens the selected job"));
        assert_eq!(steps.len(), 3);
        assert_eq!(
            last_line(&keymap, &Theme::new(ColorDepth::None)).to_string(),
            "Any key closes this. F1 shows all shortcuts."
        );
    }
}
