//! Draws the state of the app into a frame, with a theme and for a given time. Changes no state, and visits only what
//! is visible.

pub(in crate::tui) mod all_jobs;
pub(in crate::tui) mod ascii;
pub(in crate::tui) mod bars;
pub(in crate::tui) mod cursor;
pub(in crate::tui) mod detail;
pub(in crate::tui) mod frame_lines;
pub(in crate::tui) mod impact;
pub(in crate::tui) mod jobs;
pub(in crate::tui) mod links;
pub(in crate::tui) mod list_title;
pub(in crate::tui) mod text;
pub(in crate::tui) mod theme;

pub use theme::{ColorDepth, Theme};

use crate::model::Time;
use crate::model::text::is_hidden;
use crate::tui::component::Component as _;
use crate::tui::dialog::Dialog;
use crate::tui::geometry::{MIN_SCREEN_SIZE, is_usable};
use crate::tui::keymap::{Action, Context};
use crate::tui::log::LogComponent;
use crate::tui::views::screen::ViewsComponent;
use crate::tui::{App, Pane, Screen};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph, Wrap};

/// What all drawing functions need: the state, the theme and the current time.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub app: &'a App,
    pub theme: &'a Theme,
    pub now: Time,
}

/// Draws the whole screen.
pub fn draw(frame: &mut Frame<'_>, app: &App, theme: &Theme, now: Time) {
    let view = View { app, theme, now };
    let area = frame.buffer_mut().area;
    // After a resize, nothing is drawn until the app has received the message about it, because its state was laid out
    // for another size.
    let size = (app.size.0.min(area.width), app.size.1.min(area.height));
    if !is_usable(size) || (area.width, area.height) != app.size {
        if !is_usable((area.width, area.height)) {
            draw_too_small(frame, view);
        }
    } else {
        draw_screen(frame, view);
    }
    replace_hidden_chars(frame.buffer_mut());
    // The link is looked up before the glyphs are changed. It is inserted last, so that no other step takes its escape
    // sequence for a glyph.
    let link = screen_link(view).filter(|link| link.is_visible(frame.buffer_mut()));
    if let Some(background) = theme.background {
        paint_background(frame.buffer_mut(), background, theme.text.fg);
    }
    if theme.ascii {
        ascii::translate(frame.buffer_mut());
    }
    if let Some(link) = link {
        link.apply(frame.buffer_mut());
    }
}

/// Returns the link on the screen, if there is one and the terminal supports links.
fn screen_link(view: View<'_>) -> Option<links::ScreenLink> {
    let View { app, theme, .. } = view;
    let g = app.geometry();
    let shown = app.screen == Screen::Jobs && is_usable(app.size) && (g.shows_both() || app.pane == Pane::Detail);
    if theme.has_clickable_links && shown { detail::pr_screen_link(view, g.detail) } else { None }
}

/// Removes control and format characters from a finished frame, because none of them may reach the terminal. The
/// editor's widget draws text that users typed or pasted, so a frame may contain them. A cell that contains nothing
/// else shows `\u{fffd}`.
fn replace_hidden_chars(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        // Skips the most common symbols: ASCII (one byte), and the lines and blocks that borders and bars consist of.
        let is_plain = matches!(cell.symbol().as_bytes(), [_] | [0xe2, 0x94..=0x97, _]);
        if !is_plain && cell.symbol().contains(is_hidden) {
            let seen: String = cell.symbol().chars().filter(|c| !is_hidden(*c)).collect();
            cell.set_symbol(if seen.is_empty() { "\u{fffd}" } else { &seen });
        }
    }
}

/// Applies the theme's background and text colour to cells that have the terminal's default colours.
fn paint_background(buffer: &mut Buffer, background: Color, text: Option<Color>) {
    for cell in &mut buffer.content {
        if cell.bg == Color::Reset {
            cell.bg = background;
        }
        if cell.fg == Color::Reset {
            cell.fg = text.unwrap_or(Color::Reset);
        }
    }
}

fn draw_screen(frame: &mut Frame<'_>, view: View<'_>) {
    let app = view.app;
    let g = app.geometry();
    frame_lines::draw_header(frame, view, g.header);
    match app.screen {
        // The setup form is the lowest dialog.
        Screen::Welcome => {}
        Screen::Jobs => {
            // The focused pane is drawn last, so that the cursor ends there.
            if g.shows_both() && app.pane == Pane::List {
                detail::draw(frame, view, g.detail);
            }
            if g.shows_both() || app.pane == Pane::List {
                jobs::draw(frame, view, g.list);
            }
            if app.pane == Pane::Detail {
                detail::draw(frame, view, g.detail);
            }
        }
        Screen::Views => ViewsComponent.draw(frame, view),
        Screen::Log => LogComponent.draw(frame, view),
    }
    for dialog in &app.dialogs {
        match dialog {
            Dialog::Component(open) => open.draw(frame, view),
            // The filter itself is drawn with its list. Only the cursor is placed here: in the title, or in the last
            // line.
            Dialog::Filter(_) => {
                let last = Rect { y: g.body.bottom().saturating_sub(1), height: 1, ..g.body };
                let list = if app.all_jobs().is_some() { g.full_dialog() } else { g.list };
                let title = Rect { height: 1, ..list };
                let in_last = app.screen == Screen::Views && app.all_jobs().is_none();
                cursor::place_in_input(frame, view, if in_last { last } else { title });
            }
            Dialog::AllJobs(open) => all_jobs::draw(frame, view, open, g.full_dialog()),
        }
    }
    frame_lines::draw_footer(frame, view, g.footer);
}

fn draw_too_small(frame: &mut Frame<'_>, view: View<'_>) {
    let (area, quit) = (frame.buffer_mut().area, view.app.key_label(Context::Everywhere, Action::Quit));
    let size = format!("{}×{}, needs {}×{}", area.width, area.height, MIN_SCREEN_SIZE.0, MIN_SCREEN_SIZE.1);
    let text = format!("Terminal too small ({size}). Press {quit} to quit.");
    let paragraph = Paragraph::new(text).style(view.theme.text).wrap(Wrap { trim: true });
    frame.render_widget(paragraph, area);
}

/// Clears the area, draws a box with a title, and returns the inner area.
pub(in crate::tui) fn draw_box(frame: &mut Frame<'_>, area: Rect, title: Line<'_>, border: Style) -> Rect {
    frame.render_widget(Clear, area);
    draw_pane(frame, area, &title, border)
}

/// Draws a box with a title on an area that is still blank, and returns the inner area.
pub(in crate::tui) fn draw_pane(frame: &mut Frame<'_>, area: Rect, title: &Line<'_>, border: Style) -> Rect {
    text::border(frame.buffer_mut(), area, border);
    let width = u16::try_from(title.width()).unwrap_or(u16::MAX).min(area.width.saturating_sub(2));
    let spot = Rect { x: area.x.saturating_add(1), width, height: 1, ..area };
    text::paint(frame.buffer_mut(), spot, title);
    let inner = Block::bordered().inner(area);
    cursor::place_in_corner(frame, inner);
    inner
}

/// Returns the text for `hidden` lines below the visible ones.
pub(in crate::tui) fn hidden_lines_text(hidden: usize) -> String {
    format!("{hidden} more ↓")
}

/// Shows in the lower border how many lines follow below the visible ones.
pub(in crate::tui) fn draw_more_below(frame: &mut Frame<'_>, view: View<'_>, area: Rect, hidden: usize) {
    if hidden > 0 && area.width > 20 {
        let text = format!(" {} ", hidden_lines_text(hidden));
        let width = u16::try_from(text.chars().count()).unwrap_or(0);
        let spot = Rect::new(area.right().saturating_sub(width + 2), area.bottom().saturating_sub(1), width, 1);
        frame.render_widget(Line::styled(text, view.theme.muted), spot);
    }
}

/// Draws one line at the given row of an area that is still blank. Ignores rows beyond the area.
pub(in crate::tui) fn draw_line(frame: &mut Frame<'_>, area: Rect, row: usize, line: Line<'_>) {
    let Ok(row) = u16::try_from(row) else { return };
    if row < area.height {
        let spot = Rect { y: area.y + row, height: 1, ..area };
        cursor::place_on_selected(frame, spot, &line);
        text::paint_on_blank(frame.buffer_mut(), spot, &line);
    }
}
