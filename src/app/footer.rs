//! The last line: the keys of this moment, which have room and where each stands, or what there is to say. Drawing and
//! the mouse both ask here, so that they agree.

use super::keymap::Chord;
use super::{App, Tone};
use unicode_width::UnicodeWidthStr;

/// Most lines that a problem takes at the foot.
const PROBLEM_LINES: usize = 4;

/// A key with the word for what it does: a blank, the key, a blank, the word, a blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// Its first cell.
    pub at: usize,
    pub chord: Chord,
    pub key: String,
    pub word: String,
}

impl Hint {
    fn new(chord: Chord, word: String) -> Self {
        Self { at: 0, chord, key: chord.to_string(), word }
    }

    /// Cells that it takes.
    pub fn width(&self) -> usize {
        self.key.width() + self.word.width() + 3
    }

    /// Help and quit have a place come what may.
    fn is_kept(&self) -> bool {
        matches!(self.word.as_str(), "help" | "quit")
    }
}

impl App {
    /// The keys of this moment in so many cells, whole ones only; the last two, help and quit, come what may.
    pub fn footer(&self, width: usize) -> Vec<Hint> {
        let mut items: Vec<Hint> = self.hints().map(|(chord, row)| Hint::new(chord, self.hint(row))).collect();
        // The user's own come behind what belongs to this screen, before what holds everywhere.
        let is_general = |item: &Hint| matches!(item.word.as_str(), "refresh" | "help");
        let place = items.iter().position(is_general).unwrap_or(items.len());
        let own = self.own_hints().map(|own| Hint::new(own.key, own.name.to_string()));
        items.splice(place..place, own.collect::<Vec<_>>());
        let reserved: usize = items.iter().filter(|item| item.is_kept()).map(Hint::width).sum();
        let (mut used, mut at) = (0, 0);
        items.retain_mut(|item| {
            let fits = item.is_kept() || used + item.width() + reserved <= width;
            if fits {
                used += if item.is_kept() { 0 } else { item.width() };
                item.at = at;
                at += item.width();
            }
            fits
        });
        items
    }
    /// What there is to say at the foot in lines of so many cells, the lowest last; empty when there is nothing.
    pub fn notice_lines(&self, width: usize) -> Vec<String> {
        match &self.notice {
            Some(notice) => match notice.tone {
                Tone::Info => vec![format!(" {}", notice.text)],
                Tone::Greeting => wrapped(&format!(" ✓ {}", notice.text), width),
                Tone::Problem => wrapped(&format!(" ! {}", notice.text), width),
            },
            None => Vec::new(),
        }
    }
}

/// The lines of a text, parted between words; what is more than so many lines can hold stays in the last one.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text.to_owned();
    while lines.len() + 1 < PROBLEM_LINES && rest.width() > width {
        let spaces = rest.match_indices(' ').map(|(at, _)| rest.split_at(at));
        let fitting = spaces.take_while(|(upper, _)| upper.width() <= width).last();
        let Some((upper, lower)) = fitting.filter(|(upper, _)| upper.trim().len() > 1) else { break };
        let (upper, lower) = (upper.to_owned(), format!("  {lower}"));
        lines.push(upper);
        rest = lower;
    }
    lines.push(rest);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_that_needs_more_lines_is_parted_between_words() {
        assert_eq!(wrapped(" ! all fits", 20), [" ! all fits"]);
        let said = " ! The service can't be reached, so nothing was sent";
        assert_eq!(wrapped(said, 31), [" ! The service can't be", "   reached, so nothing was sent"]);
        let said = " ! one two three four five six seven eight";
        assert_eq!(wrapped(said, 10), [" ! one two", "   three", "   four", "   five six seven eight"]);
        assert_eq!(wrapped(" ! averyverylongword", 10), [" ! averyverylongword"]);
    }
}
