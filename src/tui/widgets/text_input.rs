//! A text input, built on a text widget. The widget's own shortcuts are not used. Instead, the actions of the key
//! bindings run the widget's operations.

use crate::tui::compose::blanks::{count_template_blanks, find_template_blank};
use crate::tui::keymap::Edit;
use crate::tui::wrap::wrap;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use tui_textarea::{CursorMove, DataCursor, Scrolling, TextArea, WrapMode};

#[derive(Debug, Clone)]
pub struct TextInput {
    area: TextArea<'static>,
    is_single_line: bool,
    /// For each undo step, the number of the widget's changes that it reverts. The last step is undone first.
    undo_counts: Vec<usize>,
    /// For each redo step, the number of the widget's changes that it repeats. The last step is repeated first.
    redo_counts: Vec<usize>,
    /// The kind of the last change, and whether it changed a word character. `None` if the next change has to start a
    /// new undo step.
    last_change: Option<(TextChange, bool)>,
}

/// The kind of a change. Consecutive changes of the same kind are undone one word at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextChange {
    Typed,
    DeletedBefore,
    DeletedAfter,
    /// Any other change, which is undone separately.
    Other,
}

/// The number of changes that the widget can undo.
const MAX_UNDOABLE_CHANGES: usize = 10_000;

impl TextInput {
    /// Creates a multi-line input, wrapped at words.
    pub fn multi_line(text: &str) -> Self {
        let mut area = TextArea::new(split_lines(text));
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        Self::from_area(area, false)
    }

    /// Creates a single-line input, which scrolls horizontally.
    pub fn single_line(text: &str) -> Self {
        let area = TextArea::new(vec![split_lines(text).join(" ")]);
        Self::from_area(area, true)
    }

    /// Creates a single-line input whose text is selected. A typed character replaces the text; moving the cursor keeps
    /// it.
    pub fn single_line_selected(text: &str) -> Self {
        let mut input = Self::single_line(text);
        if !input.area.is_empty() {
            input.area.select_all();
        }
        input
    }

    fn from_area(mut area: TextArea<'static>, is_single_line: bool) -> Self {
        area.set_cursor_line_style(Style::new());
        area.set_selection_style(Style::new().add_modifier(Modifier::REVERSED));
        area.set_max_histories(MAX_UNDOABLE_CHANGES);
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        Self { area, is_single_line, undo_counts: Vec::new(), redo_counts: Vec::new(), last_change: None }
    }

    pub fn area(&self) -> &TextArea<'static> {
        &self.area
    }

    /// Returns the text, with lines separated by LF.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Moves the cursor to a clicked cell of the area that shows the text. A click to the right of a line moves the
    /// cursor to the end of the line; a click below the text, to the last line. Ignores clicks outside the area.
    pub(in crate::tui) fn click(&mut self, area: Rect, at: Position) {
        if !area.contains(at) {
            return;
        }
        let (top, left) = self.area.scroll_offset();
        let seen = |from: u16, cells: u16| usize::from(from).saturating_add(usize::from(cells));
        let DataCursor(row, column) = self.area.screen_to_data(seen(top, at.y - area.y), seen(left, at.x - area.x));
        if let (Ok(row), Ok(column)) = (u16::try_from(row), u16::try_from(column)) {
            self.move_cursor(CursorMove::Jump(row, column));
        }
    }

    /// Moves the cursor down by this many lines, or up if negative. The mouse wheel scrolls a text in this way, because
    /// the cursor has to stay visible.
    pub(in crate::tui) fn move_cursor_by_lines(&mut self, by: isize) {
        for _ in 0..by.unsigned_abs() {
            self.move_cursor(if by < 0 { CursorMove::Up } else { CursorMove::Down });
        }
    }

    /// Returns the number of characters before the cursor in its line.
    pub fn cursor_column(&self) -> usize {
        self.area.cursor().1
    }

    /// Whether the text is empty or only white space.
    pub fn is_blank(&self) -> bool {
        self.area.lines().iter().all(|line| line.trim().is_empty())
    }

    /// Returns the number of lines and the number of characters.
    pub fn line_and_char_counts(&self) -> (usize, usize) {
        let lines = self.area.lines();
        let breaks = lines.len().saturating_sub(1);
        (lines.len(), lines.iter().map(|line| line.chars().count()).sum::<usize>() + breaks)
    }

    /// Returns the number of rows of the wrapped text at this width, up to `max`.
    pub(in crate::tui) fn wrapped_row_count(&self, width: usize, max: usize) -> usize {
        // The cursor after the last character needs a cell, too.
        let rows = |line: &String| wrap(line, width.saturating_sub(1).max(1), max).0.len().max(1);
        self.area.lines().iter().take(max).map(rows).sum::<usize>().min(max)
    }

    /// Handles a key that has no binding. Returns whether the text changed.
    pub fn type_key(&mut self, key: KeyEvent) -> bool {
        let has_modifier = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER);
        match key.code {
            KeyCode::Char(c) if !has_modifier => {
                let is_word = is_word_char(c);
                self.change(TextChange::Typed, is_word, |area| {
                    area.insert_char(c);
                    true
                })
            }
            KeyCode::Tab if !has_modifier => self.edit(Edit::Tab),
            KeyCode::Backspace if !has_modifier => {
                let before = self.cursor_line().chars().nth(self.cursor_column().wrapping_sub(1));
                self.change(TextChange::DeletedBefore, before.is_some_and(is_word_char), TextArea::delete_char)
            }
            KeyCode::Delete if !has_modifier => {
                let under = self.cursor_line().chars().nth(self.cursor_column());
                self.change(TextChange::DeletedAfter, under.is_some_and(is_word_char), TextArea::delete_next_char)
            }
            KeyCode::Left if !has_modifier => self.move_cursor(CursorMove::Back),
            KeyCode::Right if !has_modifier => self.move_cursor(CursorMove::Forward),
            KeyCode::Up if !has_modifier => self.move_cursor(CursorMove::Up),
            KeyCode::Down if !has_modifier => self.move_cursor(CursorMove::Down),
            _ => false,
        }
    }

    /// Runs an edit command of the key bindings. Returns whether the text changed.
    pub fn edit(&mut self, edit: Edit) -> bool {
        match edit {
            Edit::Newline | Edit::Tab if self.is_single_line => return false,
            Edit::Newline | Edit::Tab => {}
            // Other edits don't replace the selected text.
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
            // At the start of a line, nothing is deleted. The widget would join the line with the previous one.
            Edit::DeleteToLineStart if self.cursor_column() == 0 => false,
            Edit::DeleteToLineStart => self.change(TextChange::Other, false, TextArea::delete_line_by_head),
            Edit::DeleteToLineEnd => self.change(TextChange::Other, false, TextArea::delete_line_by_end),
            Edit::PageUp => self.scroll(Scrolling::PageUp),
            Edit::PageDown => self.scroll(Scrolling::PageDown),
        }
    }

    /// Whether text is selected, so that the next typed character replaces it.
    pub fn has_selection(&self) -> bool {
        self.area.selection_range().is_some_and(|(from, to)| from != to)
    }

    /// Inserts pasted text. Line breaks become LF or, in a single-line input, blanks. Other control characters except
    /// tabs are removed. A single-line input also trims the pasted text. Returns whether the text changed.
    pub fn paste(&mut self, text: &str) -> bool {
        let lines = split_lines(text);
        let text = if self.is_single_line { lines.join(" ").trim().to_owned() } else { lines.join("\n") };
        !text.is_empty() && self.change(TextChange::Other, false, |area| area.insert_str(text))
    }

    /// Replaces the whole text. A single undo restores the old text. Returns false if the new text equals the old one.
    pub fn replace(&mut self, text: &str) -> bool {
        let text = split_lines(text).join("\n");
        if text == self.text() {
            return false;
        }
        self.area.select_all();
        self.change(TextChange::Other, false, |area| if text.is_empty() { area.cut() } else { area.insert_str(text) })
    }

    /// Whether the text contains a template blank.
    pub fn has_template_blank(&self) -> bool {
        self.area.lines().iter().any(|line| find_template_blank(line).is_some())
    }

    /// Returns the number of template blanks.
    pub fn template_blank_count(&self) -> usize {
        self.area.lines().iter().map(|line| count_template_blanks(line)).sum()
    }

    /// Selects the next template blank, or the first one if none follows, so that typing replaces it. Returns false if
    /// there is no blank.
    pub fn select_next_template_blank(&mut self) -> bool {
        let DataCursor(row, column) = self.area.cursor();
        let lines = self.area.lines();
        let after = |at: usize| if at == row { column } else { 0 };
        let found =
            (row..lines.len()).map(|at| (at, after(at))).chain((0..=row).map(|at| (at, 0))).find_map(|(at, from)| {
                let line = lines.get(at)?;
                let skipped = line.char_indices().nth(from).map_or(line.len(), |(byte, _)| byte);
                let rest = line.get(skipped..)?;
                let range = find_template_blank(rest)?;
                let before = from + rest.get(..range.start)?.chars().count();
                // A blank, such as `{{page}}`, is ASCII, so its length in bytes is its number of characters.
                Some((at, before, before + range.len()))
            });
        // The widget can't jump to rows or columns beyond `u16::MAX`, so blanks there are not visited.
        let target = found.and_then(|(at, start, end)| {
            Some((u16::try_from(at).ok()?, u16::try_from(start).ok()?, u16::try_from(end).ok()?))
        });
        let Some((at, start, end)) = target else { return false };
        self.move_cursor(CursorMove::Jump(at, start));
        self.area.start_selection();
        self.area.move_cursor(CursorMove::Jump(at, end));
        true
    }

    /// Inserts a text on separate lines: below the line with the cursor or, if that line is blank, on that line.
    /// Selects the first template blank of the inserted text. Returns whether the text changed.
    pub fn insert_lines(&mut self, text: &str) -> bool {
        let row = self.area.cursor().0;
        let is_blank = |at: usize| self.area.lines().get(at).is_none_or(|line| line.trim().is_empty());
        let (before, first) = if is_blank(row) { ("", row) } else { ("\n\n", row + 2) };
        let after = if is_blank(row + 1) { "" } else { "\n" };
        let text = text.trim_end();
        self.edit(Edit::LineEnd);
        let changed = self.paste(&format!("{before}{text}{after}"));
        let last = first + split_lines(text).len() - 1;
        if let (Ok(top), Ok(bottom)) = (u16::try_from(first), u16::try_from(last)) {
            self.move_cursor(CursorMove::Jump(top, 0));
            // If the inserted text has no template blank, one outside of it may be found instead. That one is not
            // selected: the cursor goes to the end of the inserted text.
            if !self.select_next_template_blank() || !(first..=last).contains(&self.area.cursor().0) {
                self.move_cursor(CursorMove::Jump(bottom, u16::MAX));
            }
        }
        changed
    }

    fn cursor_line(&self) -> &str {
        self.area.lines().get(self.area.cursor().0).map_or("", String::as_str)
    }

    /// Makes a change and records how to undo it. Returns whether the text changed. A typed word is undone together
    /// with the characters between it and the next word.
    fn change(&mut self, kind: TextChange, is_word: bool, make: impl FnOnce(&mut TextArea<'static>) -> bool) -> bool {
        let replaces = self.has_selection();
        let was_word =
            self.last_change.filter(|(last, _)| *last == kind && kind != TextChange::Other).map(|(_, word)| word);
        if !make(&mut self.area) {
            return false;
        }
        // If the change replaces the selected text, the widget makes two changes: it deletes, then inserts.
        let only_deletes = matches!(kind, TextChange::DeletedBefore | TextChange::DeletedAfter);
        let inserts = replaces && !only_deletes && !self.area.is_empty();
        let steps = 1 + usize::from(inserts);
        match self.undo_counts.last_mut() {
            Some(last) if !replaces && was_word.is_some_and(|was_word| was_word || !is_word) => *last += steps,
            _ => self.undo_counts.push(steps),
        }
        self.redo_counts.clear();
        self.last_change = Some((kind, is_word));
        true
    }

    fn undo_step(&mut self) -> bool {
        self.last_change = None;
        let Some(steps) = self.undo_counts.pop() else { return false };
        let undone = (0..steps).take_while(|_| self.area.undo()).count();
        self.redo_counts.push(undone);
        undone > 0
    }

    fn redo_step(&mut self) -> bool {
        self.last_change = None;
        let Some(steps) = self.redo_counts.pop() else { return false };
        let redone = (0..steps).take_while(|_| self.area.redo()).count();
        self.undo_counts.push(redone);
        redone > 0
    }

    /// Moves the cursor and clears the selection.
    fn move_cursor(&mut self, to: CursorMove) -> bool {
        self.last_change = None;
        self.area.cancel_selection();
        self.area.move_cursor(to);
        false
    }

    /// Resets the scroll position. The next time that the text is drawn, it is scrolled only as far as needed to show
    /// the cursor. Clears the selection. Used after a resize, when more of the text may fit.
    pub(in crate::tui) fn reset_scroll(&mut self) {
        let DataCursor(row, column) = self.area.cursor();
        let (Ok(row), Ok(column)) = (u16::try_from(row), u16::try_from(column)) else { return };
        // Scrolls twice, because one call scrolls by at most `i16::MAX`, and the scroll position is a `u16`.
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

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Splits a text into lines at LF, CR or CRLF, and removes control characters except tabs.
fn split_lines(text: &str) -> Vec<String> {
    let unified = text.replace("\r\n", "\n").replace('\r', "\n");
    let keep = |c: &char| *c == '\t' || !c.is_control();
    unified.split('\n').map(|line| line.chars().filter(keep).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_break_of_a_paste_becomes_one_line_feed() {
        let mut input = TextInput::multi_line("");
        input.paste("a\r\nb\rc\nd\x1b[2J");
        assert_eq!(input.text(), "a\nb\nc\nd[2J");
    }

    #[test]
    fn text_pasted_into_a_single_line_input_becomes_one_line() {
        let mut input = TextInput::single_line("x");
        input.paste(" 1\n2 ");
        assert_eq!(input.text(), "x1 2");
        assert!(!input.edit(Edit::Newline));
    }

    #[test]
    fn a_paste_of_a_mebibyte_is_complete() {
        let text = "All work and no play. ".repeat(48_000);
        let mut input = TextInput::multi_line("");
        input.paste(&text);
        assert_eq!(input.text().len(), text.len());
        assert_eq!(input.line_and_char_counts(), (1, text.len()));
    }

    #[test]
    fn undo_reverts_a_change_and_redo_repeats_it() {
        let mut input = TextInput::multi_line("a");
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

    /// Undoes all changes. Returns the text after each undo.
    fn undo_all(input: &mut TextInput) -> Vec<String> {
        std::iter::from_fn(|| input.edit(Edit::Undo).then(|| input.text())).collect()
    }

    #[test]
    fn undo_and_redo_go_word_by_word() {
        let mut input = TextInput::single_line("");
        type_in(&mut input, "fix all_links, 2 now");
        assert_eq!(undo_all(&mut input), ["fix all_links, 2 ", "fix all_links, ", "fix ", ""]);
        input.edit(Edit::Redo);
        input.edit(Edit::Redo);
        assert_eq!(input.text(), "fix all_links, ");
        type_in(&mut input, "now");
        assert!(!input.edit(Edit::Redo), "there is nothing to redo after a change");
        (0..6).for_each(|_| press(&mut input, KeyCode::Backspace));
        assert_eq!(input.text(), "fix all_link");
        assert_eq!(undo_all(&mut input), ["fix all_links", "fix all_links, now", "fix all_links, ", "fix ", ""]);
    }

    #[test]
    fn a_paste_a_cursor_move_and_a_line_break_each_start_an_undo_step() {
        let mut input = TextInput::multi_line("");
        type_in(&mut input, "ab");
        input.paste("cd ef");
        type_in(&mut input, "gh");
        press(&mut input, KeyCode::Left);
        type_in(&mut input, "i");
        input.edit(Edit::Newline);
        type_in(&mut input, "j");
        let steps = ["abcd efgi\nh", "abcd efgih", "abcd efgh", "abcd ef", "ab", ""];
        assert_eq!(undo_all(&mut input), steps);
    }

    #[test]
    fn the_usual_keys_delete_and_move_within_the_line() {
        let mut input = TextInput::multi_line("first\nsecond line");
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
    fn typing_replaces_the_selected_text_and_moving_the_cursor_keeps_the_text() {
        let mut input = TextInput::single_line_selected("old words");
        assert!(input.has_selection());
        type_in(&mut input, "ne");
        assert_eq!((input.text().as_str(), input.has_selection()), ("ne", false));
        assert_eq!(undo_all(&mut input), ["old words"], "one step");
        for keeps in [Edit::LineStart, Edit::LineEnd, Edit::WordBack] {
            let mut input = TextInput::single_line_selected("old words");
            input.edit(keeps);
            assert_eq!((input.text().as_str(), input.has_selection()), ("old words", false));
        }
        let mut input = TextInput::single_line_selected("old words");
        press(&mut input, KeyCode::Left);
        type_in(&mut input, "x");
        assert_eq!(input.text(), "old wordxs");
        let mut input = TextInput::single_line_selected("old words");
        input.edit(Edit::DeleteWordBack);
        assert_eq!(input.text(), "old ");
        let mut input = TextInput::single_line_selected("old words");
        press(&mut input, KeyCode::Backspace);
        assert_eq!(input.text(), "", "the selection is deleted");
        assert!(!TextInput::single_line_selected("").has_selection());
    }

    #[test]
    fn a_single_undo_restores_a_replaced_text() {
        let mut input = TextInput::multi_line("old\ntext");
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
        let mut input = TextInput::multi_line("日本 {{a}} and {{b}}\n{{c}}");
        for letter in ['x', 'y', 'z'] {
            assert!(input.select_next_template_blank());
            input.type_key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
        }
        assert!(!input.select_next_template_blank() && !input.has_template_blank());
        assert_eq!(input.text(), "日本 x and y\nz");
    }

    #[test]
    fn a_selected_blank_stays_until_it_is_typed_over_and_undo_brings_it_back() {
        let mut input = TextInput::multi_line("{{a}} and {{b}}, {{c}}");
        assert_eq!(input.template_blank_count(), 3);
        (0..2).for_each(|_| assert!(input.select_next_template_blank()));
        assert_eq!(input.text(), "{{a}} and {{b}}, {{c}}", "no blank is deleted");
        press(&mut input, KeyCode::Backspace);
        assert_eq!(input.text(), "{{a}} and , {{c}}");
        input.edit(Edit::Undo);
        assert_eq!((input.text().as_str(), input.template_blank_count()), ("{{a}} and {{b}}, {{c}}", 3));
    }

    #[test]
    fn lines_are_inserted_below_the_text_around_the_cursor() {
        let insert = |text: &str, up: usize| {
            let mut input = TextInput::multi_line(text);
            (0..up).for_each(|_| press(&mut input, KeyCode::Up));
            assert!(input.insert_lines("Fix {{path}}\nnow\n"));
            let inserted = input.text();
            type_in(&mut input, "X");
            assert_eq!(input.text(), inserted.replace("{{path}}", "X"));
            inserted
        };
        assert_eq!(insert("", 0), "Fix {{path}}\nnow");
        assert_eq!(insert("one", 0), "one\n\nFix {{path}}\nnow");
        assert_eq!(insert("one\n", 0), "one\nFix {{path}}\nnow");
        assert_eq!(insert("one\ntwo", 1), "one\n\nFix {{path}}\nnow\n\ntwo");
        let mut input = TextInput::multi_line("{{a}}");
        input.insert_lines("no blank");
        type_in(&mut input, "!");
        assert_eq!(input.text(), "{{a}}\n\nno blank!", "a blank above is not selected");
    }

    #[test]
    fn shortcuts_of_the_text_widget_do_nothing() {
        let mut input = TextInput::multi_line("abc");
        let changed = input.type_key(KeyEvent::new(KeyCode::Char('h'), KeyModifiers::CONTROL));
        assert!(!changed);
        assert_eq!(input.text(), "abc");
    }

    #[test]
    fn enlarging_the_area_shows_more_text_and_keeps_the_cursor() {
        use ratatui::{buffer::Buffer, layout::Rect, widgets::Widget};
        let draw = |input: &TextInput, height| {
            let area = Rect::new(0, 0, 20, height);
            input.area().render(area, &mut Buffer::empty(area));
            input.area().scroll_offset().0
        };
        let mut input = TextInput::multi_line(&(1..=9).map(|n| n.to_string()).collect::<Vec<_>>().join("\n"));
        let cursor = input.area().cursor();
        assert_eq!(draw(&input, 3), 6);
        assert_eq!(draw(&input, 12), 6, "the widget itself leaves it scrolled");
        input.reset_scroll();
        assert_eq!((draw(&input, 12), input.area().cursor()), (0, cursor));
        input.reset_scroll();
        assert_eq!((draw(&input, 4), input.area().cursor()), (5, cursor));
    }
}
