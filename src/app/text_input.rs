//! A text input: the operations of the text widget as actions of the key table, without the widget's own shortcuts.

use super::keymap::Edit;
use super::templates::blank;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::{Modifier, Style};
use tui_textarea::{CursorMove, DataCursor, Scrolling, TextArea, WrapMode};

#[derive(Debug, Clone)]
pub struct TextInput {
    area: TextArea<'static>,
    one_line: bool,
    /// How many of the widget's changes each undo reverts, and each redo repeats.
    undo: Vec<usize>,
    redo: Vec<usize>,
    /// The last change, if the next one may belong to the same undo.
    last: Option<(TextChange, bool)>,
}

/// The kind of a change. Changes of the same kind are undone together, word by word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextChange {
    Typed,
    DeletedBefore,
    DeletedAfter,
    /// Undone separately.
    Other,
}

/// The widget's limit of undo steps.
const MAX_UNDO_STEPS: usize = 10_000;

impl TextInput {
    /// Creates an input of several lines, wrapped at words.
    pub fn block(text: &str) -> Self {
        let mut area = TextArea::new(split_lines(text));
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        Self::with(area, false)
    }

    /// Creates an input of a single line, scrolled horizontally.
    pub fn line(text: &str) -> Self {
        let area = TextArea::new(vec![split_lines(text).join(" ")]);
        Self::with(area, true)
    }

    /// Creates an input of a single, selected line: the next character replaces it, any other key keeps it.
    pub fn selected_line(text: &str) -> Self {
        let mut input = Self::line(text);
        if !input.area.is_empty() {
            input.area.select_all();
        }
        input
    }

    fn with(mut area: TextArea<'static>, one_line: bool) -> Self {
        area.set_cursor_line_style(Style::new());
        area.set_selection_style(Style::new().add_modifier(Modifier::REVERSED));
        area.set_max_histories(MAX_UNDO_STEPS);
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        Self { area, one_line, undo: Vec::new(), redo: Vec::new(), last: None }
    }

    pub fn area(&self) -> &TextArea<'static> {
        &self.area
    }

    /// The text, with lines joined by LF.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Moves the cursor to a cell, given relative to the upper left corner of the visible part: to the end of the line
    /// beyond a line's end, and to the last line below the text.
    pub fn point_at(&mut self, row: u16, column: u16) {
        let (top, left) = self.area.scroll_offset();
        let seen = |from: u16, cells: u16| usize::from(from).saturating_add(usize::from(cells));
        let DataCursor(row, column) = self.area.screen_to_data(seen(top, row), seen(left, column));
        if let (Ok(row), Ok(column)) = (u16::try_from(row), u16::try_from(column)) {
            self.move_cursor(CursorMove::Jump(row, column));
        }
    }

    /// The number of characters before the cursor in its line.
    pub fn column(&self) -> usize {
        self.area.cursor().1
    }

    /// Whether there is only white space.
    pub fn is_blank(&self) -> bool {
        self.area.lines().iter().all(|line| line.trim().is_empty())
    }

    /// The number of lines and of characters.
    pub fn size(&self) -> (usize, usize) {
        let lines = self.area.lines();
        let breaks = lines.len().saturating_sub(1);
        (lines.len(), lines.iter().map(|line| line.chars().count()).sum::<usize>() + breaks)
    }

    /// Handles a key without a binding. Returns whether the text changed.
    pub fn type_key(&mut self, key: KeyEvent) -> bool {
        let has_modifier = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER);
        match key.code {
            KeyCode::Char(c) if !has_modifier => {
                let is_word = is_word(c);
                self.change(TextChange::Typed, is_word, |area| {
                    area.insert_char(c);
                    true
                })
            }
            KeyCode::Tab if !has_modifier => self.edit(Edit::Tab),
            KeyCode::Backspace if !has_modifier => {
                let before = self.cursor_line().chars().nth(self.column().wrapping_sub(1));
                self.change(TextChange::DeletedBefore, before.is_some_and(is_word), TextArea::delete_char)
            }
            KeyCode::Delete if !has_modifier => {
                let under = self.cursor_line().chars().nth(self.column());
                self.change(TextChange::DeletedAfter, under.is_some_and(is_word), TextArea::delete_next_char)
            }
            KeyCode::Left if !has_modifier => self.move_cursor(CursorMove::Back),
            KeyCode::Right if !has_modifier => self.move_cursor(CursorMove::Forward),
            KeyCode::Up if !has_modifier => self.move_cursor(CursorMove::Up),
            KeyCode::Down if !has_modifier => self.move_cursor(CursorMove::Down),
            _ => false,
        }
    }

    /// Performs an edit of the key table. Returns whether the text changed.
    pub fn edit(&mut self, edit: Edit) -> bool {
        match edit {
            Edit::Newline | Edit::Tab if self.one_line => return false,
            Edit::Newline | Edit::Tab => {}
            // An edit key keeps the selected text.
            _ => self.area.cancel_selection(),
        }
        match edit {
            Edit::Newline => self.change(TextChange::Other, false, |area| {
                area.insert_newline();
                true
            }),
            Edit::Tab => self.change(TextChange::Other, false, TextArea::insert_tab),
            Edit::Undo => self.undo_step(),
            Edit::Redo => self.redo_step(),
            Edit::WordBack => self.move_cursor(CursorMove::WordBack),
            Edit::WordForward => self.move_cursor(CursorMove::WordForward),
            Edit::LineStart => self.move_cursor(CursorMove::Head),
            Edit::LineEnd => self.move_cursor(CursorMove::End),
            Edit::TextStart => {
                self.area.move_cursor(CursorMove::Top);
                self.move_cursor(CursorMove::Head)
            }
            Edit::TextEnd => {
                self.area.move_cursor(CursorMove::Bottom);
                self.move_cursor(CursorMove::End)
            }
            Edit::DeleteWordBack => self.change(TextChange::Other, false, TextArea::delete_word),
            Edit::DeleteWordForward => self.change(TextChange::Other, false, TextArea::delete_next_word),
            // At the start of a line the widget would join it with the previous one.
            Edit::DeleteToLineStart if self.column() == 0 => false,
            Edit::DeleteToLineStart => self.change(TextChange::Other, false, TextArea::delete_line_by_head),
            Edit::DeleteToLineEnd => self.change(TextChange::Other, false, TextArea::delete_line_by_end),
            Edit::PageUp => self.scroll(Scrolling::PageUp),
            Edit::PageDown => self.scroll(Scrolling::PageDown),
        }
    }

    /// Whether text is selected, which the next character replaces.
    pub fn is_selected(&self) -> bool {
        self.area.selection_range().is_some_and(|(from, to)| from != to)
    }

    /// Inserts pasted text. CR and CRLF become LF; other control characters except tabs are removed.
    pub fn paste(&mut self, text: &str) -> bool {
        let lines = split_lines(text);
        let text = if self.one_line { lines.join(" ").trim().to_owned() } else { lines.join("\n") };
        !text.is_empty() && self.change(TextChange::Other, false, |area| area.insert_str(text))
    }

    /// Replaces the whole text; a single undo reverts it. Returns false if the text is the same.
    pub fn replace(&mut self, text: &str) -> bool {
        let text = split_lines(text).join("\n");
        if text == self.text() {
            return false;
        }
        self.area.select_all();
        self.change(TextChange::Other, false, |area| if text.is_empty() { area.cut() } else { area.insert_str(text) })
    }

    /// Whether a template blank is left.
    pub fn has_blank(&self) -> bool {
        self.area.lines().iter().any(|line| blank(line).is_some())
    }

    /// Moves to the next blank after the cursor, otherwise to the first one, and deletes it, so that typing replaces
    /// it. Returns false if there is none.
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
        // The widget can't jump further than `u16::MAX`; a blank beyond that is not visited.
        let target =
            found.and_then(|(at, column, length)| Some((u16::try_from(at).ok()?, u16::try_from(column).ok()?, length)));
        let Some((at, column, length)) = target else { return false };
        self.area.move_cursor(CursorMove::Jump(at, column));
        // A blank is ASCII, so its bytes are its characters.
        self.change(TextChange::Other, false, |area| area.delete_str(length))
    }

    fn cursor_line(&self) -> &str {
        self.area.lines().get(self.area.cursor().0).map_or("", String::as_str)
    }

    /// Makes a change and records how to undo it. A word and what follows it up to the next word are undone together.
    fn change(&mut self, kind: TextChange, is_word: bool, make: impl FnOnce(&mut TextArea<'static>) -> bool) -> bool {
        let replaces = self.is_selected();
        let was_word = self.last.filter(|(last, _)| *last == kind && kind != TextChange::Other).map(|(_, word)| word);
        if !make(&mut self.area) {
            return false;
        }
        // The widget deletes the selected text in a separate change before it inserts.
        let inserts = replaces && !self.area.is_empty();
        let steps = 1 + usize::from(inserts);
        match self.undo.last_mut() {
            Some(last) if !replaces && was_word.is_some_and(|was_word| was_word || !is_word) => *last += steps,
            _ => self.undo.push(steps),
        }
        self.redo.clear();
        self.last = Some((kind, is_word));
        true
    }

    fn undo_step(&mut self) -> bool {
        self.last = None;
        let Some(steps) = self.undo.pop() else { return false };
        let undone = (0..steps).take_while(|_| self.area.undo()).count();
        self.redo.push(undone);
        undone > 0
    }

    fn redo_step(&mut self) -> bool {
        self.last = None;
        let Some(steps) = self.redo.pop() else { return false };
        let redone = (0..steps).take_while(|_| self.area.redo()).count();
        self.undo.push(redone);
        redone > 0
    }

    /// Moves the cursor and clears the selection.
    fn move_cursor(&mut self, to: CursorMove) -> bool {
        self.last = None;
        self.area.cancel_selection();
        self.area.move_cursor(to);
        false
    }

    /// Resets the scroll position; the next drawing scrolls only as far as the cursor requires. Used after a resize,
    /// when more of the text may fit.
    pub(super) fn unscroll(&mut self) {
        let DataCursor(row, column) = self.area.cursor();
        let (Ok(row), Ok(column)) = (u16::try_from(row), u16::try_from(column)) else { return };
        // Twice, because a step is half of the maximal offset.
        for _ in 0..2 {
            self.area.scroll((-i16::MAX, -i16::MAX));
        }
        self.move_cursor(CursorMove::Jump(row, column));
    }

    fn scroll(&mut self, by: Scrolling) -> bool {
        self.area.scroll(by);
        false
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Splits a text into lines at any kind of line break.
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
    fn a_mebibyte_is_pasted_completely() {
        let text = "All work and no play. ".repeat(48_000);
        let mut input = TextInput::block("");
        input.paste(&text);
        assert_eq!(input.text().len(), text.len());
        assert_eq!(input.size(), (1, text.len()));
    }

    #[test]
    fn undo_reverts_a_change_and_redo_repeats_it() {
        let mut input = TextInput::block("a");
        input.edit(Edit::DeleteWordBack);
        assert!(input.is_blank());
        input.edit(Edit::Undo);
        assert_eq!(input.text(), "a");
        input.edit(Edit::Redo);
        assert!(input.is_blank());
    }

    fn press(input: &mut TextInput, code: KeyCode) {
        input.type_key(KeyEvent::new(code, KeyModifiers::NONE));
    }

    fn type_in(input: &mut TextInput, text: &str) {
        text.chars().for_each(|c| press(input, KeyCode::Char(c)));
    }

    /// The texts that repeated undo shows.
    fn undone(input: &mut TextInput) -> Vec<String> {
        std::iter::from_fn(|| input.edit(Edit::Undo).then(|| input.text())).collect()
    }

    #[test]
    fn undo_and_redo_go_word_by_word() {
        let mut input = TextInput::line("");
        type_in(&mut input, "fix all_links, 2 now");
        assert_eq!(undone(&mut input), ["fix all_links, 2 ", "fix all_links, ", "fix ", ""]);
        input.edit(Edit::Redo);
        input.edit(Edit::Redo);
        assert_eq!(input.text(), "fix all_links, ");
        type_in(&mut input, "now");
        assert!(!input.edit(Edit::Redo), "there is nothing to redo after a change");
        (0..6).for_each(|_| press(&mut input, KeyCode::Backspace));
        assert_eq!(input.text(), "fix all_link");
        assert_eq!(undone(&mut input), ["fix all_links", "fix all_links, now", "fix all_links, ", "fix ", ""]);
    }

    #[test]
    fn a_paste_a_cursor_move_and_a_line_break_each_start_an_undo_step() {
        let mut input = TextInput::block("");
        type_in(&mut input, "ab");
        input.paste("cd ef");
        type_in(&mut input, "gh");
        press(&mut input, KeyCode::Left);
        type_in(&mut input, "i");
        input.edit(Edit::Newline);
        type_in(&mut input, "j");
        let steps = ["abcd efgi\nh", "abcd efgih", "abcd efgh", "abcd ef", "ab", ""];
        assert_eq!(undone(&mut input), steps);
    }

    #[test]
    fn the_usual_keys_delete_and_move_within_the_line() {
        let mut input = TextInput::block("first\nsecond line");
        input.edit(Edit::DeleteWordBack);
        assert_eq!(input.text(), "first\nsecond ");
        input.edit(Edit::DeleteToLineStart);
        assert_eq!(input.text(), "first\n");
        assert!(!input.edit(Edit::DeleteToLineStart), "the previous line is unchanged");
        press(&mut input, KeyCode::Up);
        input.edit(Edit::LineStart);
        press(&mut input, KeyCode::Right);
        input.edit(Edit::DeleteToLineEnd);
        assert_eq!(input.text(), "f\n");
    }

    #[test]
    fn typing_replaces_the_selection_and_other_keys_keep_it() {
        let mut input = TextInput::selected_line("old words");
        assert!(input.is_selected());
        type_in(&mut input, "ne");
        assert_eq!((input.text().as_str(), input.is_selected()), ("ne", false));
        assert_eq!(undone(&mut input), ["old words"], "one step");
        for keeps in [Edit::LineStart, Edit::LineEnd, Edit::WordBack] {
            let mut input = TextInput::selected_line("old words");
            input.edit(keeps);
            assert_eq!((input.text().as_str(), input.is_selected()), ("old words", false));
        }
        let mut input = TextInput::selected_line("old words");
        press(&mut input, KeyCode::Left);
        type_in(&mut input, "x");
        assert_eq!(input.text(), "old wordxs");
        let mut input = TextInput::selected_line("old words");
        input.edit(Edit::DeleteWordBack);
        assert_eq!(input.text(), "old ");
        let mut input = TextInput::selected_line("old words");
        press(&mut input, KeyCode::Backspace);
        assert_eq!(input.text(), "", "the selection is deleted");
        assert!(!TextInput::selected_line("").is_selected());
    }

    #[test]
    fn a_single_undo_restores_a_replaced_text() {
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
    fn blanks_are_visited_in_order_and_replaced_by_typing() {
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
    fn a_larger_area_shows_scrolled_out_text_again_and_keeps_the_cursor() {
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
