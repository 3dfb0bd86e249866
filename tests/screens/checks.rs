//! What holds for every screen at every size: no text is wider than the screen or cut off without `…`, and the header,
//! the footer and the required texts are visible.

use crate::text;
use ratatui::buffer::Buffer;
use std::collections::HashSet;
use unicode_width::UnicodeWidthStr;

const FRAME: &str = "│┌┐└┘─━├┤┬┴┼▌▐█▒┈";

/// Fails if one of the screens, which show the same state at different sizes, breaks one of the rules or doesn't
/// contain one of the `texts`.
pub(crate) fn assert_readable(name: &str, texts: &[&str], screens: &[Buffer]) {
    let mut words: HashSet<String> = texts.iter().flat_map(|text| text.split(' ')).map(str::to_owned).collect();
    let mut words_at_edges = Vec::new();
    for screen in screens {
        assert_has_parts(name, screen, texts);
        for word in find_words(screen) {
            if word.is_at_edge {
                words_at_edges.push((screen, word.text));
            } else {
                words.insert(word.text);
            }
        }
    }
    for (screen, word) in words_at_edges {
        let is_whole = words.contains(&word) || word.contains(['…', '█', '▒']);
        assert!(is_whole, "{name}: “{word}” is cut off, or needs a place in the scene's texts:\n{}", text(screen));
    }
}

fn assert_has_parts(name: &str, screen: &Buffer, texts: &[&str]) {
    let shown = text(screen);
    let lines: Vec<&str> = shown.lines().collect();
    let (header, footer) = (lines.first().expect("a header"), lines.last().expect("a footer"));
    assert!(header.contains("docdeck") || header.contains("Analytics"), "{name}: no header\n{shown}");
    let is_question = [" · n cancel", " · n stay"].iter().any(|buttons| shown.contains(buttons));
    let ways_on = ["help", "Esc", "quit", "Ctrl-C"];
    let has_keys = ways_on.iter().any(|key| footer.contains(key));
    assert!(has_keys != is_question, "{name}: the keys are in the footer, or in a question\n{shown}");
    assert!(lines.iter().all(|line| line.width() <= usize::from(screen.area.width)), "{name}: too wide\n{shown}");
    let flowing = shown.replace(|c| FRAME.contains(c), " ");
    let flowing = flowing.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in texts {
        assert!(flowing.contains(text), "{name}: “{text}” is missing\n{shown}");
    }
}

struct Word {
    text: String,
    /// Whether the end of the screen or of a pane follows, so that a part of the word may be missing.
    is_at_edge: bool,
}

/// Returns the words of the screen, without those that a dialog may cover in part.
fn find_words(screen: &Buffer) -> Vec<Word> {
    let (columns, rows) = (screen.area.width, screen.area.height);
    let symbol = |x, y| screen.cell((x, y)).map_or(" ", |cell| cell.symbol());
    let ends_word = |symbol: &str| symbol == " " || FRAME.contains(symbol);
    // Going up a line that is the left side of a box leads to the box's left corner.
    let is_left_side = |x, y: u16| {
        let corner = (0..y).rev().map(|above| symbol(x, above)).find(|symbol| *symbol != "│");
        matches!(corner, Some("┌" | "├"))
    };
    let mut words = Vec::new();
    for y in 0..rows {
        let (mut x, mut word) = (0, String::new());
        while x < columns {
            let symbol = symbol(x, y);
            if !ends_word(symbol) {
                word.push_str(symbol);
                x += u16::try_from(symbol.width().max(1)).expect("a narrow symbol");
                if x < columns {
                    continue;
                }
            }
            let is_at_edge = x >= columns || symbol == "│";
            let is_covered = is_at_edge && x < columns && is_left_side(x, y);
            if !word.is_empty() && !is_covered {
                words.push(Word { text: word.trim_end_matches([',', '.', ':']).to_owned(), is_at_edge });
            }
            word.clear();
            x += 1;
        }
    }
    words
}
