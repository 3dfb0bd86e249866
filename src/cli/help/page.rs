//! Lays out a page of the guide for a terminal. Handles the Markdown that the guide uses: headings, paragraphs, lists,
//! tables, fenced code, bold text and links. HTML (comments, pictures) is left out.

use crate::app::wrap::wrap;
use unicode_width::UnicodeWidthStr as _;

/// Columns of text if the width of the output is unknown, and the maximum width for readable lines.
const WIDTH: usize = 100;
/// Cells between two columns of a table.
const GAP: usize = 2;
const CODE_INDENT: &str = "    ";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// The page as lines of at most `width` cells; code keeps its lines. `bold`: whether the output shows styles.
pub(super) fn lay_out(markdown: &str, width: Option<usize>, bold: bool) -> String {
    let mut layout = PageLayout { width: width.unwrap_or(WIDTH).min(WIDTH), bold, text: String::new() };
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        if is_html(line) {
            continue;
        } else if line.is_empty() {
            layout.blank();
        } else if line.starts_with("```") {
            for code in lines.by_ref().take_while(|line| !line.starts_with("```")) {
                layout.push(&format!("{CODE_INDENT}{code}"));
            }
        } else if line.starts_with('#') {
            layout.heading(line.trim_start_matches('#').trim());
        } else if line.starts_with('|') {
            let mut rows = vec![split_row(line)];
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                rows.push(split_row(row));
            }
            layout.table(&rows);
        } else {
            let mut paragraph = line.to_owned();
            let goes_on = |line: &&str| {
                !line.is_empty()
                    && !line.starts_with(['|', '#'])
                    && !line.starts_with("```")
                    && !is_html(line)
                    && item_indent(line) == 0
            };
            while let Some(more) = lines.next_if(goes_on) {
                paragraph.push(' ');
                paragraph.push_str(more.trim_start());
            }
            layout.paragraph(&paragraph);
        }
    }
    layout.text
}

fn is_html(line: &str) -> bool {
    line.trim_start().starts_with('<')
}

/// Cells of the `- ` or `1. ` that starts an item of a list; 0 for other lines.
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
    bold: bool,
    text: String,
}

impl PageLayout {
    fn push(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// An empty line, unless there is one already.
    fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn heading(&mut self, text: &str) {
        let text = if self.bold { format!("{BOLD}{text}{PLAIN}") } else { text.to_owned() };
        self.push(&text);
    }

    /// A paragraph or an item of a list, whose lines after the first are indented.
    fn paragraph(&mut self, markdown: &str) {
        let indent = item_indent(markdown);
        let text = without_marks(markdown);
        let (lines, _) = wrap(&text, self.width.saturating_sub(indent), usize::MAX - 1);
        let mut in_code = false;
        for (n, line) in lines.iter().enumerate() {
            let indent = if n == 0 { 0 } else { indent };
            let line = if self.bold { bold_code(line, &mut in_code) } else { line.clone() };
            self.push(&format!("{:indent$}{line}", ""));
        }
    }

    /// Rows under the bold first one. Cells are wrapped; an empty line is between rows if some have many lines.
    fn table(&mut self, rows: &[Vec<String>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let is_rule = |row: &[String]| row.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':')));
        let rows: Vec<&Vec<String>> = rows.iter().filter(|row| !is_rule(row)).collect();
        let width_of = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
        let widths: Vec<usize> = (0..columns).map(|column| width_of(column).unwrap_or(0)).collect();
        let widths = fitted(&widths, self.width);
        let wrap_row = |row: &Vec<String>| -> Vec<Vec<String>> {
            row.iter().zip(&widths).map(|(cell, &width)| wrap(cell, width.max(1), usize::MAX - 1).0).collect()
        };
        let height = |row: &[Vec<String>]| row.iter().map(Vec::len).max().unwrap_or(0);
        let rows: Vec<Vec<Vec<String>>> = rows.into_iter().map(wrap_row).collect();
        let is_tall = rows.iter().any(|row| height(row) > 3);
        for (n, wrapped) in rows.into_iter().enumerate() {
            if is_tall && n > 0 {
                self.blank();
            }
            for line in 0..height(&wrapped) {
                let mut text = String::new();
                for (cell, &width) in wrapped.iter().zip(&widths) {
                    let part = cell.get(line).map_or("", String::as_str);
                    text.push_str(part);
                    text.push_str(&" ".repeat((width + GAP).saturating_sub(part.width())));
                }
                if n == 0 { self.heading(text.trim_end()) } else { self.push(&text) }
            }
        }
    }
}

/// The line with its code in bold letters instead of between backticks. `in_code` says whether code goes on from the line
/// before, and into the next one.
fn bold_code(line: &str, in_code: &mut bool) -> String {
    let mut text = if *in_code { BOLD.to_owned() } else { String::new() };
    for (n, part) in line.split('`').enumerate() {
        if n > 0 {
            *in_code = !*in_code;
            text.push_str(if *in_code { BOLD } else { PLAIN });
        }
        text.push_str(part);
    }
    if *in_code {
        text.push_str(PLAIN);
    }
    text
}

/// Widths that fit a line: the widest column gives way until all fit.
fn fitted(widths: &[usize], line: usize) -> Vec<usize> {
    let mut widths = widths.to_vec();
    let gaps = GAP * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > line {
        match widths.iter_mut().max() {
            Some(widest) if *widest > 1 => *widest -= 1,
            _ => break,
        }
    }
    widths
}

/// The cells of a row; `\|` is a bar within one.
fn split_row(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\u{0}");
    row.split('|').map(|cell| without_marks(&cell.replace('\u{0}', "|")).replace('`', "").trim().to_owned()).collect()
}

/// The text of a line without the marks of bold text and links.
fn without_marks(markdown: &str) -> String {
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
    fn numbered_items_are_apart_and_pictures_are_left_out() {
        let markdown = "1. one item that\nis long\n2. two\n\n<picture>\n  <img alt=\"a\" src=\"b\">\n</picture>\n\n2026 was a year.\n";
        assert_eq!(
            lay_out(markdown, Some(12), false),
            "1. one\n   item that\n   is long\n2. two\n\n2026 was a\nyear.\n"
        );
    }

    #[test]
    fn a_bracket_that_is_no_link_stays() {
        assert_eq!(without_marks("`[ui]` and [[filters]] and [x](y)"), "`[ui]` and [[filters]] and x");
    }
}
