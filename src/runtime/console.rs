//! ratatui's way to the terminal, with a cursor that stands where it should also while it is hidden: what is wanted of it
//! is noted here, and sent with the frame only where the terminal's cursor is not there already.

use super::output;
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use std::io::{self, Write};

/// What is known of the terminal's cursor. Nothing at first, and after anything else drew.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    at: Option<Position>,
    is_shown: Option<bool>,
}

/// The backend; a frame's cursor is left to [`Console::end_frame`].
#[derive(Debug)]
pub(super) struct Console<W: Write> {
    inner: CrosstermBackend<W>,
    wanted: Option<Position>,
    cursor: Cursor,
}

/// What goes out around a frame's cells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Around {
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
}

impl<W: Write> Console<W> {
    /// A way to this writer.
    pub(super) fn new(writer: W) -> Self {
        Self { inner: CrosstermBackend::new(writer), wanted: None, cursor: Cursor::default() }
    }

    /// Cells were drawn: the terminal's cursor is behind the last one.
    pub(super) fn wandered(&mut self) {
        self.cursor.at = None;
    }

    /// The terminal's cursor may be anywhere, shown or not.
    pub(super) fn forget_cursor(&mut self) {
        self.cursor = Cursor::default();
    }

    /// Brings the cursor to where the frame wants it, `shown` or hidden. While it is seen and `flickers`, it is hidden
    /// until the frame's cells are drawn.
    pub(super) fn end_frame(&mut self, shown: bool, flickers: bool) -> Around {
        let Cursor { at, is_shown } = self.cursor;
        let shown = shown && self.wanted.is_some();
        let mut around = Around::default();
        let wanders = at.is_none() && is_shown == Some(true) && flickers;
        if is_shown != Some(false) && (!shown || wanders) {
            around.before.extend_from_slice(b"\x1b[?25l");
        }
        if let Some(wanted) = self.wanted.filter(|wanted| at != Some(*wanted)) {
            let (row, column) = (u32::from(wanted.y) + 1, u32::from(wanted.x) + 1);
            around.after.extend_from_slice(format!("\x1b[{row};{column}H").as_bytes());
        }
        if shown && (is_shown != Some(true) || wanders) {
            around.after.extend_from_slice(b"\x1b[?25h");
        }
        self.cursor = Cursor { at: self.wanted.or(at), is_shown: Some(shown) };
        around
    }
}

impl<W: Write> Backend for Console<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        // What differs is found and drawn by the screen; ratatui is given nothing to compare.
        let mut content = content.peekable();
        if content.peek().is_none() {
            return Ok(());
        }
        self.wandered();
        self.inner.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.wanted = None;
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.inner.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.wanted = Some(position.into());
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.cursor.at = None;
        self.inner.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.cursor.at = None;
        self.inner.clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        output::size().map(Size::from)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.inner.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.inner)
    }
}
