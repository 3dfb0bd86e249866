//! Editing text: the widget's operations behind the actions of the key table, without the widget's own shortcuts.

use super::keymap::Edit;
use super::templates::blank;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_textarea::{CursorMove, DataCursor, Scrolling, TextArea, WrapMode};

/// A text area that takes its keys from the table.
#[derive(Debug, Clone)]
pub struct TextInput {
    area: TextArea<'static>,
    one_line: bool,
    /// The whole text was replaced once: the widget counts that as two changes, undo as one.
    replaced: bool,
}

impl TextInput {
    /// Several lines, wrapped at words.
    pub fn block(text: &str) -> Self {
        let mut area = TextArea::new(split_lines(text));
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        Self::with(area, false)
    }

    /// One line, scrolled sideways.
    pub fn line(text: &str) -> Self {
        let area = TextArea::new(vec![split_lines(text).join(" ")]);
        Self::with(area, true)
    }

    fn with(mut area: TextArea<'static>, one_line: bool) -> Self {
        area.set_cursor_line_style(ratatui::style::Style::new());
        area.set_max_histories(1000);
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        Self { area, one_line, replaced: false }
    }

    /// The widget, for drawing.
    pub fn area(&self) -> &TextArea<'static> {
        &self.area
    }

    /// The text, lines joined by LF.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Puts the cursor on what is drawn in this cell, counted from the upper left corner of what is in sight; behind a
    /// line's end on that, below the text on its last line.
    pub fn point_at(&mut self, row: u16, column: u16) {
        let (top, left) = self.area.scroll_offset();
        let seen = |from: u16, cells: u16| usize::from(from).saturating_add(usize::from(cells));
        let DataCursor(row, column) = self.area.screen_to_data(seen(top, row), seen(left, column));
        if let (Ok(row), Ok(column)) = (u16::try_from(row), u16::try_from(column)) {
            self.go(CursorMove::Jump(row, column));
        }
    }

    /// Characters before the cursor in its line.
    pub fn column(&self) -> usize {
        self.area.cursor().1
    }

    /// Whether there is nothing but white space.
    pub fn is_blank(&self) -> bool {
        self.area.lines().iter().all(|line| line.trim().is_empty())
    }

    /// Number of lines and of characters.
    pub fn size(&self) -> (usize, usize) {
        let lines = self.area.lines();
        let breaks = lines.len().saturating_sub(1);
        (lines.len(), lines.iter().map(|line| line.chars().count()).sum::<usize>() + breaks)
    }

    /// Takes a key that no binding took; whether the text changed.
    pub fn type_key(&mut self, key: KeyEvent) -> bool {
        let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER);
        match key.code {
            KeyCode::Char(c) if !held => {
                self.area.insert_char(c);
                true
            }
            KeyCode::Tab if !held => self.edit(Edit::Tab),
            KeyCode::Backspace if !held => self.area.delete_char(),
            KeyCode::Delete if !held => self.area.delete_next_char(),
            KeyCode::Left if !held => self.go(CursorMove::Back),
            KeyCode::Right if !held => self.go(CursorMove::Forward),
            KeyCode::Up if !held => self.go(CursorMove::Up),
            KeyCode::Down if !held => self.go(CursorMove::Down),
            _ => false,
        }
    }

    /// Carries out an edit of the table; whether the text changed.
    pub fn edit(&mut self, edit: Edit) -> bool {
        match edit {
            Edit::Newline if self.one_line => false,
            Edit::Newline => {
                self.area.insert_newline();
                true
            }
            Edit::Tab => !self.one_line && self.area.insert_tab(),
            Edit::Undo => self.step(TextArea::undo),
            Edit::Redo => self.step(TextArea::redo),
            Edit::WordBack => self.go(CursorMove::WordBack),
            Edit::WordForward => self.go(CursorMove::WordForward),
            Edit::LineStart => self.go(CursorMove::Head),
            Edit::LineEnd => self.go(CursorMove::End),
            Edit::TextStart => {
                self.area.move_cursor(CursorMove::Top);
                self.go(CursorMove::Head)
            }
            Edit::TextEnd => {
                self.area.move_cursor(CursorMove::Bottom);
                self.go(CursorMove::End)
            }
            Edit::DeleteWordBack => self.area.delete_word(),
            Edit::DeleteWordForward => self.area.delete_next_word(),
            Edit::DeleteToLineEnd => self.area.delete_line_by_end(),
            Edit::PageUp => self.scroll(Scrolling::PageUp),
            Edit::PageDown => self.scroll(Scrolling::PageDown),
        }
    }

    /// Puts a paste in; CR and CRLF become LF, other control characters but tab are left out.
    pub fn paste(&mut self, text: &str) -> bool {
        let lines = split_lines(text);
        let text = if self.one_line { lines.join(" ").trim().to_owned() } else { lines.join("\n") };
        !text.is_empty() && self.area.insert_str(text)
    }

    /// Puts another text in the place of all of it; one undo brings the old one back. False when it is the same.
    pub fn replace(&mut self, text: &str) -> bool {
        let text = split_lines(text).join("\n");
        if text == self.text() {
            return false;
        }
        self.replaced |= !self.area.is_empty();
        self.area.select_all();
        if text.is_empty() { self.area.cut() } else { self.area.insert_str(text) }
    }

    /// Whether a blank of a template is left.
    pub fn has_blank(&self) -> bool {
        self.area.lines().iter().any(|line| blank(line).is_some())
    }

    /// Goes to the next blank after the cursor, else the first one, and takes it out: what is typed next stands in its
    /// place. False when there is none.
    pub fn next_blank(&mut self) -> bool {
        let DataCursor(row, column) = self.area.cursor();
        let lines = self.area.lines();
        let after = |at: usize| if at == row { column } else { 0 };
        let found =
            (row..lines.len()).map(|at| (at, after(at))).chain((0..=row).map(|at| (at, 0))).find_map(|(at, from)| {
                let line = lines.get(at)?;
                let skipped = line.char_indices().nth(from).map_or(line.len(), |(byte, _)| byte);
                let rest = line.get(skipped..)?;
                let range = blank(rest)?;
                let before = rest.get(..range.start)?.chars().count();
                Some((at, from + before, range.len()))
            });
        // The widget jumps no further than this; a blank behind it is left to the eye.
        let place =
            found.and_then(|(at, column, length)| Some((u16::try_from(at).ok()?, u16::try_from(column).ok()?, length)));
        let Some((at, column, length)) = place else { return false };
        self.area.move_cursor(CursorMove::Jump(at, column));
        // A blank is ASCII: as many characters as bytes.
        self.area.delete_str(length)
    }

    fn step(&mut self, step: fn(&mut TextArea<'static>) -> bool) -> bool {
        let changed = step(&mut self.area);
        if changed && self.replaced && self.area.is_empty() {
            step(&mut self.area);
        }
        changed
    }

    fn go(&mut self, to: CursorMove) -> bool {
        self.area.move_cursor(to);
        false
    }

    /// Begins to be seen from its start again: the next drawing scrolls as far as the cursor needs and no further. For an
    /// area of another size, which may have room for what was out of sight.
    pub(super) fn unscroll(&mut self) {
        let DataCursor(row, column) = self.area.cursor();
        let (Ok(row), Ok(column)) = (u16::try_from(row), u16::try_from(column)) else { return };
        // Twice: a step is half of what an offset may be.
        for _ in 0..2 {
            self.area.scroll((-i16::MAX, -i16::MAX));
        }
        self.go(CursorMove::Jump(row, column));
    }

    fn scroll(&mut self, by: Scrolling) -> bool {
        self.area.scroll(by);
        false
    }
}

/// Lines of a text whatever its line ends are.
fn split_lines(text: &str) -> Vec<String> {
    let unified = text.replace("\r\n", "\n").replace('\r', "\n");
    let keep = |c: &char| *c == '\t' || !c.is_control();
    unified.split('\n').map(|line| line.chars().filter(keep).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_end_of_a_paste_becomes_one_line_feed() {
        let mut input = TextInput::block("");
        input.paste("a\r\nb\rc\nd\x1b[2J");
        assert_eq!(input.text(), "a\nb\nc\nd[2J");
    }

    #[test]
    fn a_paste_into_one_line_stays_one_line() {
        let mut input = TextInput::line("x");
        input.paste(" 1\n2 ");
        assert_eq!(input.text(), "x1 2");
        assert!(!input.edit(Edit::Newline));
    }

    #[test]
    fn a_mebibyte_is_pasted_whole() {
        let text = "All work and no play. ".repeat(48_000);
        let mut input = TextInput::block("");
        input.paste(&text);
        assert_eq!(input.text().len(), text.len());
        assert_eq!(input.size(), (1, text.len()));
    }

    #[test]
    fn undo_takes_back_and_redo_brings_again() {
        let mut input = TextInput::block("a");
        input.edit(Edit::DeleteWordBack);
        assert!(input.is_blank());
        input.edit(Edit::Undo);
        assert_eq!(input.text(), "a");
        input.edit(Edit::Redo);
        assert!(input.is_blank());
    }

    #[test]
    fn one_undo_brings_back_a_text_that_was_replaced() {
        let mut input = TextInput::block("old\ntext");
        assert!(input.replace("new"));
        assert!(!input.replace("new"), "nothing to change");
        input.edit(Edit::Undo);
        assert_eq!(input.text(), "old\ntext");
        input.edit(Edit::Redo);
        assert_eq!(input.text(), "new");
        assert!(input.replace(""));
        input.edit(Edit::Undo);
        assert_eq!(input.text(), "new");
    }

    #[test]
    fn blanks_are_visited_in_turn_and_typed_over() {
        let mut input = TextInput::block("日本 {{a}} and {{b}}\n{{c}}");
        for letter in ['x', 'y', 'z'] {
            assert!(input.next_blank());
            input.type_key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
        }
        assert!(!input.next_blank() && !input.has_blank());
        assert_eq!(input.text(), "日本 x and y\nz");
    }

    #[test]
    fn the_widgets_own_shortcuts_do_nothing() {
        let mut input = TextInput::block("abc");
        let changed = input.type_key(KeyEvent::new(KeyCode::Char('h'), KeyModifiers::CONTROL));
        assert!(!changed);
        assert_eq!(input.text(), "abc");
    }

    #[test]
    fn in_a_larger_area_what_was_scrolled_away_is_seen_again_and_the_cursor_stays() {
        use ratatui::{buffer::Buffer, layout::Rect, widgets::Widget};
        let draw = |input: &TextInput, height| {
            let area = Rect::new(0, 0, 20, height);
            input.area().render(area, &mut Buffer::empty(area));
            input.area().scroll_offset().0
        };
        let mut input = TextInput::block(&(1..=9).map(|n| n.to_string()).collect::<Vec<_>>().join("\n"));
        let cursor = input.area().cursor();
        assert_eq!(draw(&input, 3), 6);
        assert_eq!(draw(&input, 12), 6, "the widget itself leaves it scrolled");
        input.unscroll();
        assert_eq!((draw(&input, 12), input.area().cursor()), (0, cursor));
        input.unscroll();
        assert_eq!((draw(&input, 4), input.area().cursor()), (5, cursor));
    }
}
