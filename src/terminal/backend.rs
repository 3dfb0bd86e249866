//! A ratatui backend that sends each frame as a single write, in few bytes, because every byte counts over SSH. The
//! write is inside synchronized output, unless the terminal would print unknown sequences. If nothing has changed,
//! nothing is sent.

mod encode;
mod sgr;
mod shown_screen;

#[cfg(test)]
mod tests;

use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use shown_screen::ShownScreen;
use std::fmt::Write as _;
use std::io::{self, Write};

const SYNC_BEGIN: &str = "\x1b[?2026h";
const SYNC_END: &str = "\x1b[?2026l";
const CLEAR: &str = "\x1b[2J";
const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";

/// A backend for [`ratatui::Terminal`]. It collects what a frame changes, and [`Backend::flush`] sends it.
#[derive(Debug)]
pub(super) struct FrameBackend<W> {
    out: W,
    size: Size,
    is_synchronized: bool,
    screen: ShownScreen,
    /// Whether the terminal is cleared before the next frame.
    clears: bool,
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
    pub(super) fn new(out: W, size: Size, is_synchronized: bool) -> Self {
        Self {
            out,
            size,
            is_synchronized,
            screen: ShownScreen::blank(size),
            clears: false,
            shows_cursor: false,
            cursor_target: None,
            cursor_at: None,
            is_cursor_shown: None,
        }
    }

    /// Sets the size of the next frame, and whether the cursor is visible.
    pub(super) fn prepare(&mut self, size: Size, shows_cursor: bool) {
        self.size = size;
        self.shows_cursor = shows_cursor;
    }

    /// Sends a sequence that draws nothing (such as a title or a copied text) between two frames.
    pub(super) fn send(&mut self, sequence: &[u8]) -> io::Result<()> {
        self.out.write_all(sequence)?;
        self.out.flush()
    }
}

impl<W: Write> Backend for FrameBackend<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, updates: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        updates.for_each(|(x, y, cell)| self.screen.put(x, y, cell));
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
        self.screen = ShownScreen::blank(self.size);
        self.clears = true;
        (self.cursor_at, self.is_cursor_shown) = (None, None);
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

    /// Sends the frame. A visible cursor is hidden while the cells are drawn, unless the output is synchronized.
    fn flush(&mut self) -> io::Result<()> {
        let mut frame = String::new();
        let cells = self.screen.encode_changes();
        if !cells.is_empty() {
            self.cursor_at = None;
        }
        let target = self.cursor_target.filter(|target| self.cursor_at != Some(*target));
        let shows_cursor = self.shows_cursor && self.cursor_target.is_some();
        let hides_briefly = !self.is_synchronized && self.cursor_at.is_none() && self.is_cursor_shown == Some(true);
        if self.is_cursor_shown != Some(false) && (!shows_cursor || hides_briefly) {
            frame.push_str(HIDE_CURSOR);
        }
        if std::mem::take(&mut self.clears) {
            frame.push_str(CLEAR);
        }
        frame.push_str(&cells);
        if let Some(Position { x, y }) = target {
            // Writing to a string can't fail.
            let _ = write!(frame, "\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1);
        }
        if shows_cursor && (self.is_cursor_shown != Some(true) || hides_briefly) {
            frame.push_str(SHOW_CURSOR);
        }
        self.cursor_at = self.cursor_target.or(self.cursor_at);
        self.is_cursor_shown = Some(shows_cursor);
        if frame.is_empty() {
            return Ok(());
        }
        let (begin, end) = if self.is_synchronized { (SYNC_BEGIN, SYNC_END) } else { ("", "") };
        self.send([begin, &frame, end].concat().as_bytes())
    }
}
