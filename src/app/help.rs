//! The help as lines: the keys of a moment from the one table, with the user's own commands. How they look is not decided here.

use super::App;
use super::keymap::{Binding, Chord, Context};
use super::wrap::wrap;
use unicode_width::UnicodeWidthStr;

/// Cells before the keys and between them and what they do.
const GAPS: usize = 3;

/// One line of the help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelpLine {
    Gap,
    Heading(String),
    /// Keys, none on a line that goes on with the text of the one before, and what they do.
    Key(String, String),
}

/// Cells that the keys take in a box of so many columns.
pub fn key_columns(columns: usize) -> usize {
    if columns < 60 { 10 } else { 24 }
}

impl App {
    /// The help on these contexts in so many columns.
    pub fn help_lines(&self, contexts: &[Context], columns: usize) -> Vec<HelpLine> {
        let mut lines = Vec::new();
        for &context in contexts {
            let rows: Vec<&Binding> = self.start.keymap.rows(contexts).filter(|row| row.context == context).collect();
            let texts = rows.iter().map(|row| (keys(self.start.keymap.keys(row), key_columns(columns)), row.help));
            section(&mut lines, context.name(), texts, columns);
        }
        let own = self.own_commands(contexts).map(|own| (own.key.to_string(), own.name.as_str()));
        section(&mut lines, "your commands", own, columns);
        lines
    }
}

fn section<'a>(lines: &mut Vec<HelpLine>, name: &str, rows: impl Iterator<Item = (String, &'a str)>, columns: usize) {
    let room = columns.saturating_sub(key_columns(columns) + GAPS);
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    if !lines.is_empty() {
        lines.push(HelpLine::Gap);
    }
    lines.push(HelpLine::Heading(name.to_uppercase()));
    for (mut keys, text) in rows {
        for part in wrap(text, room, 4).0 {
            lines.push(HelpLine::Key(std::mem::take(&mut keys), part));
        }
    }
}

/// As many whole keys as fit, the first come what may.
fn keys(chords: &[Chord], columns: usize) -> String {
    let mut out = String::new();
    for chord in chords.iter().map(ToString::to_string) {
        if out.is_empty() {
            out = chord;
        } else if out.width() + 2 + chord.width() <= columns {
            out = format!("{out}  {chord}");
        } else {
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::keymap::BINDINGS;

    #[test]
    fn every_key_is_explained_in_one_line_of_a_usual_terminal() {
        let room = 78 - key_columns(78) - GAPS;
        for row in BINDINGS {
            assert!(row.help.width() <= room, "{} cells are too many: {}", row.help.width(), row.help);
        }
    }

    #[test]
    fn keys_are_named_whole_or_not_at_all() {
        let delete = BINDINGS.iter().find(|row| row.keys.len() == 3).expect("a row with three keys");
        let all: Vec<String> = delete.keys.iter().map(ToString::to_string).collect();
        assert_eq!(keys(delete.keys, 24), all[..2].join("  "));
        assert_eq!(keys(delete.keys, 10), all[0]);
    }
}
