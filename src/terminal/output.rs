//! Writes to the terminal. Each frame is a single write. It is sent inside synchronized output, unless the terminal
//! would print unknown sequences. ratatui would flush after each cursor call; this module flushes once per frame.

use super::cursor_backend::CursorBackend;
use super::double_buffer::DoubleBuffer;
use super::encode;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use std::io::{self, Write};

const SYNC_BEGIN: &[u8] = b"\x1b[?2026h";
const SYNC_END: &[u8] = b"\x1b[?2026l";
const CLEAR: &[u8] = b"\x1b[2J";

/// The terminal to which stdout writes. On Unix it bypasses the standard library's line buffer, which would split a
/// frame into several writes.
#[derive(Debug)]
pub struct Tty {
    #[cfg(unix)]
    out: std::fs::File,
    #[cfg(not(unix))]
    out: io::Stdout,
}

impl Tty {
    /// Opens the terminal to which stdout writes.
    ///
    /// # Errors
    /// stdout is closed.
    pub fn stdout() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            Ok(Self { out: std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?) })
        }
        #[cfg(not(unix))]
        {
            Ok(Self { out: io::stdout() })
        }
    }
}

impl Write for Tty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.out.write(bytes) {
                // Another process made the shared terminal non-blocking. The terminal's buffer is full now, but will
                // drain.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                other => return other,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns the columns and rows of the terminal. On Unix it asks through stdout, because crossterm would reopen the
/// terminal each time.
///
/// # Errors
/// The system does not report a size.
pub fn terminal_size() -> io::Result<(u16, u16)> {
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(io::stdout())
        && size.ws_col > 0
        && size.ws_row > 0
    {
        return Ok((size.ws_col, size.ws_row));
    }
    crossterm::terminal::size()
}

/// The screen: the frame that the terminal shows, and the output to which changes are written.
#[derive(Debug)]
pub struct TerminalOutput<W> {
    /// Creates ratatui's frames, but has no cells and no size.
    terminal: Terminal<CursorBackend>,
    frames: DoubleBuffer,
    out: W,
    synchronized: bool,
    /// Whether the content of the terminal is unknown, so that the next frame must be drawn completely.
    is_content_unknown: bool,
}

impl<W: Write> TerminalOutput<W> {
    /// Creates the output for a terminal on which nothing was drawn yet. If `synchronized` is set, frames are sent
    /// inside synchronized output.
    ///
    /// # Errors
    /// Never fails; ratatui's signature requires the `Result`.
    pub fn new(out: W, synchronized: bool) -> io::Result<Self> {
        let options = TerminalOptions { viewport: Viewport::Fixed(Rect::ZERO) };
        let terminal = Terminal::with_options(CursorBackend::default(), options)?;
        Ok(Self { terminal, frames: DoubleBuffer::default(), out, synchronized, is_content_unknown: false })
    }

    /// Draws a frame of this size. Sends the changes since the last frame in a single write, or nothing if there are
    /// none. The cursor moves to the position that the frame sets, and is visible if `cursor_shown` is true.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(
        &mut self,
        (columns, rows): (u16, u16),
        cursor_shown: bool,
        render: impl FnOnce(&mut Frame<'_>),
    ) -> io::Result<()> {
        let area = Rect::new(0, 0, columns, rows);
        let redraws_all = std::mem::take(&mut self.is_content_unknown) || self.frames.has_other_size(area);
        let mut next = self.frames.take(area);
        self.terminal.draw(|frame| {
            // `render` draws into our own buffer. ratatui's buffer stays empty, so that ratatui has nothing to compare
            // or store.
            std::mem::swap(frame.buffer_mut(), &mut next);
            if !area.is_empty() {
                render(frame);
            }
            std::mem::swap(frame.buffer_mut(), &mut next);
        })?;
        self.frames.put(next);
        let backend = self.terminal.backend_mut();
        let cleared: &[u8] = if redraws_all { CLEAR } else { b"" };
        if redraws_all {
            backend.forget_cursor();
            self.frames.mark_cleared();
        }
        let changed = self.frames.encode_changes(encode::encode_cells);
        if !changed.is_empty() {
            backend.cursor_moved();
        }
        let sequences = backend.finish_frame(cursor_shown, !self.synchronized);
        let parts = [sequences.before.as_slice(), cleared, changed.as_bytes(), &sequences.after].concat();
        if parts.is_empty() {
            return Ok(());
        }
        let (begin, end): (&[u8], &[u8]) = if self.synchronized { (SYNC_BEGIN, SYNC_END) } else { (b"", b"") };
        self.out.write_all(&[begin, &parts, end].concat())?;
        self.out.flush()
    }

    /// Marks the content of the terminal as unknown: the next frame is drawn completely.
    pub fn invalidate(&mut self) {
        self.is_content_unknown = true;
    }

    /// Sends a sequence that draws nothing (such as a title or a copied text) between two frames.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn send(&mut self, sequence: &[u8]) -> io::Result<()> {
        self.out.write_all(sequence)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Position;

    #[derive(Debug, Default)]
    struct RecordedWrites(Vec<Vec<u8>>);

    impl Write for RecordedWrites {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const SIZE: (u16, u16) = (20, 3);

    fn render_text(frame: &mut Frame<'_>, text: &str) {
        let area = frame.buffer_mut().area;
        frame.render_widget(text, area);
    }

    fn screen(synchronized: bool) -> TerminalOutput<RecordedWrites> {
        TerminalOutput::new(RecordedWrites::default(), synchronized).expect("a screen")
    }

    #[test]
    fn a_frame_with_a_cursor_is_one_write_inside_synchronized_output() {
        let mut screen = screen(true);
        screen
            .draw(SIZE, true, |frame| {
                render_text(frame, "hello");
                frame.set_cursor_position(Position::new(1, 1));
            })
            .expect("drawn");
        let [frame] = &screen.out.0[..] else { panic!("{} writes", screen.out.0.len()) };
        assert!(frame.starts_with(SYNC_BEGIN) && frame.ends_with(SYNC_END));
        assert!(String::from_utf8_lossy(frame).contains("hello"));
    }

    #[test]
    fn an_old_terminal_gets_no_synchronized_output() {
        let mut screen = screen(false);
        screen.draw(SIZE, false, |frame| render_text(frame, "hello")).expect("drawn");
        assert!(!String::from_utf8_lossy(&screen.out.0.concat()).contains("2026"));
    }

    #[test]
    fn the_second_frame_contains_only_changes() {
        let mut screen = screen(true);
        screen.draw(SIZE, false, |frame| render_text(frame, "hello")).expect("drawn");
        screen.draw(SIZE, false, |frame| render_text(frame, "hallo")).expect("drawn");
        let second = String::from_utf8_lossy(&screen.out.0[1]).into_owned();
        assert!(second.contains('a') && !second.contains('o'), "{second:?}");
    }

    /// Draws a frame with this text and cursor, and returns what was sent.
    fn sent(screen: &mut TerminalOutput<RecordedWrites>, shown: bool, text: &str, at: (u16, u16)) -> String {
        screen.out.0.clear();
        let render = |frame: &mut Frame<'_>| {
            render_text(frame, text);
            frame.set_cursor_position(Position::from(at));
        };
        screen.draw(SIZE, shown, render).expect("drawn");
        assert!(screen.out.0.len() < 2, "one write");
        String::from_utf8(screen.out.0.concat()).expect("text")
    }

    #[test]
    fn a_hidden_cursor_is_moved_and_nothing_is_sent_while_it_stays() {
        let mut screen = screen(false);
        let first = sent(&mut screen, false, "hello", (2, 1));
        assert!(first.starts_with("\x1b[?25l") && first.ends_with("\x1b[2;3H"), "{first:?}");
        assert_eq!(sent(&mut screen, false, "hello", (2, 1)), "", "nothing changed");
        assert_eq!(sent(&mut screen, false, "hello", (2, 2)), "\x1b[3;3H");
        let changed = sent(&mut screen, false, "hallo", (2, 2));
        assert!(changed.ends_with("\x1b[3;3H") && !changed.contains("?25"), "{changed:?}");
    }

    #[test]
    fn the_sequences_that_show_and_hide_the_cursor_are_sent_once() {
        let mut synchronized = screen(true);
        sent(&mut synchronized, false, "a", (1, 0));
        let shown = sent(&mut synchronized, true, "ab", (2, 0));
        assert!(shown.ends_with("\x1b[1;3H\x1b[?25h\x1b[?2026l"), "{shown:?}");
        let typed = sent(&mut synchronized, true, "abc", (3, 0));
        assert!(!typed.contains("?25"), "visible only when the frame is complete: {typed:?}");
        assert_eq!(sent(&mut synchronized, false, "abc", (3, 0)), "\x1b[?2026h\x1b[?25l\x1b[?2026l");
        let mut plain = screen(false);
        sent(&mut plain, true, "a", (1, 0));
        let typed = sent(&mut plain, true, "ab", (2, 0));
        assert!(typed.starts_with("\x1b[?25l") && typed.ends_with("\x1b[1;3H\x1b[?25h"), "no flicker: {typed:?}");
    }

    #[test]
    fn the_cursor_position_is_sent_again_after_another_program_had_the_terminal() {
        let mut screen = screen(false);
        sent(&mut screen, false, "a", (1, 0));
        screen.terminal.backend_mut().forget_cursor();
        assert_eq!(sent(&mut screen, false, "a", (1, 0)), "\x1b[?25l\x1b[1;2H");
    }
}
