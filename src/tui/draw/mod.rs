//! Draws the state of the app into a frame, with a theme and for a given time. Changes no state, and visits only what
//! is visible.

pub(in crate::tui) mod ascii;
pub(in crate::tui) mod bars;
pub(in crate::tui) mod boxes;
pub(in crate::tui) mod cursor;
mod glyphs;
pub(in crate::tui) mod header_and_footer;
pub(in crate::tui) mod impact;
pub(in crate::tui) mod kept_cells;
pub(in crate::tui) mod links;
pub(in crate::tui) mod list_title;
pub(in crate::tui) mod rules;
pub(in crate::tui) mod text;
pub(in crate::tui) mod theme;

pub(in crate::tui) use kept_cells::FIXED_CONTENT_KEY;
pub use kept_cells::KeptCells;
pub use theme::{ColorDepth, Theme};

use crate::model::Time;
use crate::tui::App;
use crate::tui::geometry::{MIN_SCREEN_SIZE, is_usable};
use crate::tui::jobs::detail_draw::pr_screen_link;
use crate::tui::keymap::{Action, Context};
use crate::tui::view::View;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::style::Color;
use ratatui::widgets::{Paragraph, Wrap};

/// Draws the whole screen. Text that the user typed or pasted may contain control and format characters; they are
/// removed from every frame when it is written to the terminal.
pub fn draw(frame: &mut Frame<'_>, app: &App, theme: &Theme, now: Time) {
    draw_with_kept_cells(frame, app, theme, now, &KeptCells::default());
}

/// Like [`draw`], but doesn't draw the cells again that `kept_cells` still has from the last frame.
pub fn draw_with_kept_cells(frame: &mut Frame<'_>, app: &App, theme: &Theme, now: Time, kept_cells: &KeptCells) {
    kept_cells.begin_frame(frame.buffer_mut(), app, theme, now);
    draw_all(frame, View { app, theme, now, kept_cells });
    kept_cells.end_frame(frame.buffer_mut());
}

fn draw_all(frame: &mut Frame<'_>, view: View<'_>) {
    let View { app, theme, .. } = view;
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
    // The link is looked up before the glyphs are changed. It is inserted last, so that no other step takes its escape
    // sequence for a glyph.
    let link = screen_link(view).filter(|link| link.is_visible(frame.buffer_mut()));
    if let Some(background) = theme.background {
        paint_background(frame.buffer_mut(), background, theme.text.fg);
    }
    if theme.ascii {
        ascii::translate(frame.buffer_mut(), theme.shows_unicode_text);
    }
    if let Some(link) = link {
        link.apply(frame.buffer_mut());
    }
}

/// Returns the link on the screen, if there is one and the terminal supports links.
fn screen_link(view: View<'_>) -> Option<links::ScreenLink> {
    let View { app, theme, .. } = view;
    let g = app.geometry();
    let is_shown = theme.has_clickable_links && is_usable(app.size) && app.detail_is_visible();
    if is_shown { pr_screen_link(view, g.detail_text()) } else { None }
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
    if !view.kept_cells.try_keep(frame.buffer_mut(), g.header, FIXED_CONTENT_KEY) {
        header_and_footer::draw_header(frame, view, g.header);
    }
    let lowest_visible = app.dialogs.iter().rposition(|dialog| dialog.fills_screen());
    if let Some(screen) = app.screen_component().filter(|_| lowest_visible.is_none()) {
        screen.draw(frame, view);
    }
    for dialog in app.dialogs.iter().skip(lowest_visible.unwrap_or(0)) {
        view.kept_cells.mark_covered();
        dialog.draw(frame, view);
    }
    header_and_footer::draw_footer(frame, view, g.footer);
}

fn draw_too_small(frame: &mut Frame<'_>, view: View<'_>) {
    let (area, quit) = (frame.buffer_mut().area, view.app.key_label(Context::Everywhere, Action::Quit));
    let size = format!("{}×{}, needs {}×{}", area.width, area.height, MIN_SCREEN_SIZE.0, MIN_SCREEN_SIZE.1);
    let text = format!("Terminal too small ({size}). Press {quit} to quit.");
    let paragraph = Paragraph::new(text).style(view.theme.text).wrap(Wrap { trim: true });
    frame.render_widget(paragraph, area);
}
