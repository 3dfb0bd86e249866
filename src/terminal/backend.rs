//! Sends each frame as a single write, in few bytes, because every byte counts over SSH. The write is inside
//! synchronized output, unless the terminal would print unknown sequences. If nothing has changed, nothing is sent.

mod encode;
mod sgr;
mod shown_screen;

#[cfg(test)]
mod tests;

use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect, Size};
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use shown_screen::ShownScreen;
use std::fmt::Write as _;
use std::io::{self, Write};

const SYNC_BEGIN: &str = "\x1b[?2026h";
const SYNC_END: &str = "\x1b[?2026l";
const CLEAR: &str = "\x1b[2J";
const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";

/// A terminal that shows frames. ratatui provides the frame to draw into, but [`ShownScreen`] finds the cells that have
/// changed, because ratatui would measure every glyph of the old and the new frame for that.
#[derive(Debug)]
pub(super) struct TerminalScreen<W: Write> {
    terminal: Terminal<FrameBackend<W>>,
    /// The cells that the next frame begins with. They reuse the memory of the last frame.
    cells: Buffer,
}

impl<W: Write> TerminalScreen<W> {
    /// Creates a screen for a blank terminal. Characters for which `is_hidden` is true are removed from every frame.
    ///
    /// # Errors
    /// Never fails; ratatui's signature requires the `Result`.
    pub(super) fn new(out: W, size: Size, is_synchronized: bool, is_hidden: fn(char) -> bool) -> io::Result<Self> {
        // The viewport is empty, because ratatui would fill two buffers of its size, which are never used.
        let options = TerminalOptions { viewport: Viewport::Fixed(Rect::ZERO) };
        let terminal = Terminal::with_options(FrameBackend::new(out, size, is_synchronized, is_hidden), options)?;
        Ok(Self { terminal, cells: Buffer::default() })
    }

    /// Draws a frame of this size. Sends what has changed. The cursor moves to the position that the frame sets, and is
    /// visible if `shows_cursor` is true.
    ///
    /// The frame begins with the cells that `prepare_next` has left in the buffer of the last frame, or with blank ones
    /// if the size has changed. `prepare_next` is called after the frame was sent.
    ///
    /// # Errors
    /// Fails if the terminal is gone.
    pub(super) fn draw(
        &mut self,
        size: Size,
        shows_cursor: bool,
        render: impl FnOnce(&mut Frame<'_>),
        prepare_next: impl FnOnce(&mut Buffer),
    ) -> io::Result<()> {
        self.terminal.backend_mut().prepare(size, shows_cursor);
        let mut next = std::mem::take(&mut self.cells);
        let area = Rect::from((Position::ORIGIN, size));
        if next.area != area {
            next = Buffer::empty(area);
        }
        self.terminal.draw(|frame| {
            // Outside `render`, ratatui's own buffer is empty, so that ratatui finds nothing to compare.
            std::mem::swap(frame.buffer_mut(), &mut next);
            render(frame);
            std::mem::swap(frame.buffer_mut(), &mut next);
        })?;
        let backend = self.terminal.backend_mut();
        backend.screen.show(&mut next);
        let sent = backend.send_frame();
        // The next frame is prepared only after this one was sent, so that sending doesn't wait for the preparation.
        if next.area.is_empty() {
            next.clone_from(backend.screen.cells());
        }
        prepare_next(&mut next);
        self.cells = next;
        sent
    }

    /// Clears the terminal before the next frame, which is then sent completely.
    pub(super) fn clear(&mut self) {
        self.terminal.backend_mut().clear_later();
    }

    /// Sends a sequence that draws nothing (such as a title or a copied text) between two frames.
    ///
    /// # Errors
    /// Fails if the terminal is gone.
    pub(super) fn send(&mut self, sequence: &[u8]) -> io::Result<()> {
        self.terminal.backend_mut().send(sequence)
    }
}

/// The backend of [`ratatui::Terminal`], and what the terminal shows.
#[derive(Debug)]
struct FrameBackend<W> {
    out: W,
    size: Size,
    is_synchronized: bool,
    screen: ShownScreen,
    /// Whether the terminal is cleared before the next frame.
    is_clear_pending: bool,
    /// Whether the cursor is visible at the position that the frame sets. A hidden cursor is moved too, because screen
    /// readers and magnifiers follow it.
    shows_cursor: bool,
    /// Where the frame places the cursor, if anywhere.
    cursor_target: Option<Position>,
    /// Where the terminal's cursor is; `None` if unknown.
    cursor_at: Option<Position>,
    /// Whether the terminal shows its cursor; `None` if unknown.
    is_cursor_shown: Option<bool>,
}

impl<W: Write> FrameBackend<W> {
    /// Creates the backend of a blank terminal.
    fn new(out: W, size: Size, is_synchronized: bool, is_hidden: fn(char) -> bool) -> Self {
        Self {
            out,
            size,
            is_synchronized,
            screen: ShownScreen::blank(is_hidden),
            is_clear_pending: false,
            shows_cursor: false,
            cursor_target: None,
            cursor_at: None,
            is_cursor_shown: None,
        }
    }

    /// Sets the size of the next frame, and whether the cursor is visible. If the size has changed, the terminal is
    /// cleared before the frame.
    fn prepare(&mut self, size: Size, shows_cursor: bool) {
        self.shows_cursor = shows_cursor;
        if self.size != size {
            self.size = size;
            self.clear_later();
        }
    }

    /// Clears the terminal before the next frame.
    fn clear_later(&mut self) {
        self.screen.clear();
        self.is_clear_pending = true;
        (self.cursor_at, self.is_cursor_shown) = (None, None);
    }

    fn send(&mut self, sequence: &[u8]) -> io::Result<()> {
        self.out.write_all(sequence)?;
        self.out.flush()
    }

    /// Sends the frame. A visible cursor is hidden while the cells are drawn, unless the output is synchronized.
    fn send_frame(&mut self) -> io::Result<()> {
        let mut frame = self.screen.encode_changes();
        if !frame.is_empty() {
            self.cursor_at = None;
        }
        let target = self.cursor_target.filter(|target| self.cursor_at != Some(*target));
        let shows_cursor = self.shows_cursor && self.cursor_target.is_some();
        let hides_briefly = !self.is_synchronized && self.cursor_at.is_none() && self.is_cursor_shown == Some(true);
        let hides_cursor = self.is_cursor_shown != Some(false) && (!shows_cursor || hides_briefly);
        let clears = std::mem::take(&mut self.is_clear_pending);
        if let Some(Position { x, y }) = target {
            // Writing to a string can't fail.
            let _ = write!(frame, "\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1);
        }
        if shows_cursor && (self.is_cursor_shown != Some(true) || hides_briefly) {
            frame.push_str(SHOW_CURSOR);
        }
        self.cursor_at = self.cursor_target.or(self.cursor_at);
        self.is_cursor_shown = Some(shows_cursor);
        if frame.is_empty() && !hides_cursor && !clears {
            return Ok(());
        }
        let sequence = |is_sent: bool, sequence: &'static str| if is_sent { sequence } else { "" };
        let before = [(self.is_synchronized, SYNC_BEGIN), (hides_cursor, HIDE_CURSOR), (clears, CLEAR)];
        frame.insert_str(0, &before.map(|(is_sent, text)| sequence(is_sent, text)).concat());
        frame.push_str(sequence(self.is_synchronized, SYNC_END));
        self.send(frame.as_bytes())
    }
}

impl<W: Write> Backend for FrameBackend<W> {
    type Error = io::Error;

    /// Does nothing, because [`TerminalScreen::draw`] finds the changes.
    fn draw<'a, I>(&mut self, _: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.cursor_target = None;
        Ok(())
    }

    /// Does nothing, because [`Self::set_cursor_position`] follows.
    fn show_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.cursor_target.unwrap_or_default())
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.cursor_target = Some(position.into());
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.clear_later();
        Ok(())
    }

    fn clear_region(&mut self, _: ClearType) -> io::Result<()> {
        self.clear()
    }

    fn size(&self) -> io::Result<Size> {
        Ok(self.size)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size, pixels: Size::ZERO })
    }

    /// Does nothing, because [`TerminalScreen::draw`] sends the frame.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
