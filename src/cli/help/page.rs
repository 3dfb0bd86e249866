//! Lays out a page of the guide for a terminal. Supports only the Markdown that the guide uses: headings, paragraphs,
//! lists, tables, fenced code, bold text and links. HTML (comments, pictures) is left out.

use crate::tui::wrap::wrap;
use unicode_width::UnicodeWidthStr as _;

/// The maximum width of text, in columns, so that lines stay readable. Also used if the width of the output is unknown.
const MAX_WIDTH: usize = 100;
/// The number of cells between two columns of a table.
const COLUMN_GAP: usize = 2;
const CODE_INDENT: &str = "    ";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// Lays out the page in lines of at most `width` cells; code is not wrapped. `can_show_bold` is true if the output can
/// show bold text.
pub(super) fn lay_out(markdown: &str, width: Option<usize>, can_show_bold: bool) -> String {
    let mut layout =
        PageLayout { width: width.unwrap_or(MAX_WIDTH).min(MAX_WIDTH), can_show_bold, text: String::new() };
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        if is_html(line) {
            continue;
        } else if line.is_empty() {
            layout.push_blank_line();
        } else if line.starts_with("```") {
            for code in lines.by_ref().take_while(|line| !line.starts_with("```")) {
                layout.push(&format!("{CODE_INDENT}{code}"));
            }
        } else if line.starts_with('#') {
            layout.push_heading(line.trim_start_matches('#').trim());
        } else if line.starts_with('|') {
            let mut rows = vec![split_row(line)];
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                rows.push(split_row(row));
            }
            layout.push_table(&rows);
        } else {
            let mut paragraph = line.to_owned();
            let continues_paragraph = |line: &&str| {
                !line.is_empty()
                    && !line.starts_with(['|', '#'])
                    && !line.starts_with("```")
                    && !is_html(line)
                    && item_indent(line) == 0
            };
            while let Some(more) = lines.next_if(continues_paragraph) {
                paragraph.push(' ');
                paragraph.push_str(more.trim_start());
            }
            layout.push_paragraph(&paragraph);
        }
    }
    layout.text
}

fn is_html(line: &str) -> bool {
    line.trim_start().starts_with('<')
}

/// Returns the width, in cells, of the `- ` or `1. ` at the start of a list item. Returns 0 for other lines.
fn item_indent(line: &str) -> usize {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    match line.split_once(' ') {
        Some(("-", _)) => 2,
        Some((number, _)) if digits > 0 && number.len() == digits + 1 && number.ends_with('.') => number.len() + 1,
        _ => 0,
    }
}

struct PageLayout {
    width: usize,
    can_show_bold: bool,
    text: String,
}

impl PageLayout {
    fn push(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Adds an empty line, unless the text is empty or ends with one.
    fn push_blank_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn push_heading(&mut self, text: &str) {
        let text = if self.can_show_bold { format!("{BOLD}{text}{RESET}") } else { text.to_owned() };
        self.push(&text);
    }

    /// Adds a paragraph or a list item. In a list item, all lines after the first are indented.
    fn push_paragraph(&mut self, markdown: &str) {
        let indent = item_indent(markdown);
        let text = remove_markup(markdown);
        let (lines, _) = wrap(&text, self.width.saturating_sub(indent), usize::MAX - 1);
        let mut in_code = false;
        for (n, line) in lines.iter().enumerate() {
            let indent = if n == 0 { 0 } else { indent };
            let line = if self.can_show_bold { bold_code(line, &mut in_code) } else { line.clone() };
            self.push(&format!("{:indent$}{line}", ""));
        }
    }

    /// Adds a table with a bold first row. Cells are wrapped; if any row has more than three lines, empty lines
    /// separate all rows.
    fn push_table(&mut self, rows: &[Vec<String>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let is_rule = |row: &[String]| row.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':')));
        let rows: Vec<&Vec<String>> = rows.iter().filter(|row| !is_rule(row)).collect();
        let width_of = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
        let widths: Vec<usize> = (0..columns).map(|column| width_of(column).unwrap_or(0)).collect();
        let widths = fit_widths(&widths, self.width);
        let wrap_row = |row: &Vec<String>| -> Vec<Vec<String>> {
            row.iter().zip(&widths).map(|(cell, &width)| wrap(cell, width.max(1), usize::MAX - 1).0).collect()
        };
        let height = |row: &[Vec<String>]| row.iter().map(Vec::len).max().unwrap_or(0);
        let rows: Vec<Vec<Vec<String>>> = rows.into_iter().map(wrap_row).collect();
        let is_tall = rows.iter().any(|row| height(row) > 3);
        for (n, wrapped) in rows.into_iter().enumerate() {
            if is_tall && n > 0 {
                self.push_blank_line();
            }
            for line in 0..height(&wrapped) {
                let mut text = String::new();
                for (cell, &width) in wrapped.iter().zip(&widths) {
                    let part = cell.get(line).map_or("", String::as_str);
                    text.push_str(part);
                    text.push_str(&" ".repeat((width + COLUMN_GAP).saturating_sub(part.width())));
                }
                if n == 0 { self.push_heading(text.trim_end()) } else { self.push(&text) }
            }
        }
    }
}

/// Makes the code in a line bold: replaces its backticks with the escape sequences that start and end bold text.
/// `in_code` is true if the line starts inside code. Afterwards, `in_code` is true if the next line starts inside code.
fn bold_code(line: &str, in_code: &mut bool) -> String {
    let mut text = if *in_code { BOLD.to_owned() } else { String::new() };
    for (n, part) in line.split('`').enumerate() {
        if n > 0 {
            *in_code = !*in_code;
            text.push_str(if *in_code { BOLD } else { RESET });
        }
        text.push_str(part);
    }
    if *in_code {
        text.push_str(RESET);
    }
    text
}

/// Reduces the widths of columns until they fit the line. Each step makes the widest column one cell narrower.
fn fit_widths(widths: &[usize], line: usize) -> Vec<usize> {
    let mut widths = widths.to_vec();
    let gaps = COLUMN_GAP * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > line {
        match widths.iter_mut().max() {
            Some(widest) if *widest > 1 => *widest -= 1,
            _ => break,
        }
    }
    widths
}

/// Returns the cells of a table row. `\|` is a bar within a cell.
fn split_row(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\u{0}");
    row.split('|').map(|cell| remove_markup(&cell.replace('\u{0}', "|")).replace('`', "").trim().to_owned()).collect()
}

/// Returns the text without the Markdown syntax of bold text and links.
fn remove_markup(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, link)) = rest.split_once('[') {
        match link.split_once("](").and_then(|(words, more)| Some((words, more.split_once(')')?.1))) {
            Some((words, after)) if !words.contains(['[', '`']) => {
                text.push_str(before);
                text.push_str(words);
                rest = after;
            }
            _ => {
                text.push_str(before);
                text.push('[');
                rest = link;
            }
        }
    }
    text.push_str(rest);
    text.replace("**", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_paragraphs_lists_tables_and_code_are_laid_out() {
        let markdown = "# Title\n\nTwo `words`\nand [a link](x.md).\n\n- **One** item that is long\n- two\n\n\
                        <!-- a comment -->\n| key | does |\n|---|---|\n| `a \\| b` | adds one more thing |\n\n```\n[x]  y\n```\n";
        let text = "Title\n\nTwo `words` and a\nlink.\n\n- One item that\n  is long\n- two\n\nkey    does\na | b  adds one\n       more thing\n\n    [x]  y\n";
        assert_eq!(lay_out(markdown, Some(17), false), text);
        assert!(lay_out("# Title", None, true).starts_with("\x1b[1mTitle"));
        let text = "\x1b[1ma long\x1b[0m\n\x1b[1mword\x1b[0m\nand more\n";
        assert_eq!(lay_out("`a long word` and more", Some(8), true), text, "code that is wrapped");
    }

    #[test]
    fn numbered_items_are_separate_and_pictures_are_left_out() {
        let markdown = "1. one item that\nis long\n2. two\n\n<picture>\n  <img alt=\"a\" src=\"b\">\n</picture>\n\n2026 was a year.\n";
        assert_eq!(
            lay_out(markdown, Some(12), false),
            "1. one\n   item that\n   is long\n2. two\n\n2026 was a\nyear.\n"
        );
    }

    #[test]
    fn a_bracket_that_is_not_part_of_a_link_is_kept() {
        assert_eq!(remove_markup("`[ui]` and [[filters]] and [x](y)"), "`[ui]` and [[filters]] and x");
    }
}
