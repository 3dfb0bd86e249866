//! A ratatui backend that only tracks the position and visibility of the cursor. The sequences that change them are
//! sent with the frame, and only if the terminal's cursor is different.

use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use std::io;

/// The position and visibility of the terminal's cursor. Both are `None` (unknown) at first, and after another program
/// has written to the terminal.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    at: Option<Position>,
    is_shown: Option<bool>,
}

/// A backend that handles only the cursor: [`super::output::TerminalOutput`] draws the cells, and
/// [`Self::finish_frame`] returns the sequences that place the cursor.
#[derive(Debug, Default)]
pub(super) struct CursorBackend {
    target: Option<Position>,
    cursor: Cursor,
}

/// The sequences that are sent before and after the cells of a frame.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CursorSequences {
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
}

impl CursorBackend {
    /// Records that cells were drawn, so that the position of the cursor is unknown.
    pub(super) fn cursor_moved(&mut self) {
        self.cursor.at = None;
    }

    /// Records that the position and the visibility of the cursor are unknown.
    pub(super) fn forget_cursor(&mut self) {
        self.cursor = Cursor::default();
    }

    /// Returns the sequences that move the cursor to the position that the frame requests, and show or hide it. If
    /// `flickers` is true, a visible cursor is hidden until the cells of the frame are drawn.
    pub(super) fn finish_frame(&mut self, shown: bool, flickers: bool) -> CursorSequences {
        let Cursor { at, is_shown } = self.cursor;
        let shown = shown && self.target.is_some();
        let mut sequences = CursorSequences::default();
        let hides_briefly = at.is_none() && is_shown == Some(true) && flickers;
        if is_shown != Some(false) && (!shown || hides_briefly) {
            sequences.before.extend_from_slice(b"\x1b[?25l");
        }
        if let Some(wanted) = self.target.filter(|wanted| at != Some(*wanted)) {
            let (row, column) = (u32::from(wanted.y) + 1, u32::from(wanted.x) + 1);
            sequences.after.extend_from_slice(format!("\x1b[{row};{column}H").as_bytes());
        }
        if shown && (is_shown != Some(true) || hides_briefly) {
            sequences.after.extend_from_slice(b"\x1b[?25h");
        }
        self.cursor = Cursor { at: self.target.or(at), is_shown: Some(shown) };
        sequences
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
        self.target = None;
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.target.unwrap_or_default())
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.target = Some(position.into());
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
