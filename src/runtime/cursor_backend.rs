//! ratatui's way to the terminal, with a cursor that stands where it should also while it is hidden: what is wanted of it
//! is noted here, and sent with the frame only where the terminal's cursor is not there already.

use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use std::io;

/// What is known of the terminal's cursor. Nothing at first, and after anything else drew.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    at: Option<Position>,
    is_shown: Option<bool>,
}

/// The backend, of which only the cursor matters: cells are drawn by the screen, a frame's cursor is left to
/// [`Console::end_frame`].
#[derive(Debug, Default)]
pub(super) struct CursorBackend {
    wanted: Option<Position>,
    cursor: Cursor,
}

/// What goes out around a frame's cells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CursorSequences {
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
}

impl CursorBackend {
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
    pub(super) fn end_frame(&mut self, shown: bool, flickers: bool) -> CursorSequences {
        let Cursor { at, is_shown } = self.cursor;
        let shown = shown && self.wanted.is_some();
        let mut around = CursorSequences::default();
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

impl Backend for CursorBackend {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, _none: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.wanted = None;
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.wanted.unwrap_or_default())
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.wanted = Some(position.into());
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn clear_region(&mut self, _region: ClearType) -> io::Result<()> {
        Ok(())
    }

    fn size(&self) -> io::Result<Size> {
        Ok(Size::ZERO)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: Size::ZERO, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
