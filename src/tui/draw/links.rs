//! Adds links to the finished frame: OSC 8 sequences around existing glyphs, so that the screen looks the same.
//!
//! The first cell of a link contains the opening sequence, all glyphs of the link and the closing sequence, and has the
//! width of the whole link. Therefore no other cell is drawn between the two sequences, and the link is sent only when
//! it changes. The other cells of the link contain their plain glyphs.

use super::text::truncate;
use crate::model::link::WebLink;
use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::layout::Rect;
use std::num::NonZeroU16;
use unicode_width::UnicodeWidthStr;

/// The maximum length of a link target in bytes. Some terminals ignore links with longer targets.
const MAX_TARGET_BYTES: usize = 2000;
/// Marks the cells after the first cell of a link. The mark makes them differ from cells without a link, so that they
/// are sent again when the link is removed. Otherwise the terminal would keep the link.
const LINK_TAIL: CellDiffOption = CellDiffOption::ForcedWidth(NonZeroU16::MIN);

/// A text on the screen that is a link.
#[derive(Debug)]
pub(in crate::tui) struct ScreenLink {
    area: Rect,
    text: String,
    target: String,
}

impl ScreenLink {
    /// Creates a link for `text` at the left of an area of one line. Returns `None` if the target is not the address of
    /// a web page, or is too long.
    pub(in crate::tui) fn new(area: Rect, text: &str, target: &str) -> Option<Self> {
        let text = truncate(text, usize::from(area.width));
        let width = u16::try_from(text.width()).ok()?;
        Some(Self { area: Rect { width, ..area }, text, target: sanitized_target(target)? })
    }

    /// Whether the text of the link is completely visible. Returns false if a dialog covers a part of it.
    pub(in crate::tui) fn is_visible(&self, buffer: &Buffer) -> bool {
        glyphs_in(buffer, self.area).is_some_and(|seen| seen == self.text)
    }

    /// Makes the text a link.
    pub(in crate::tui) fn apply(&self, buffer: &mut Buffer) {
        let Rect { x, y, width, .. } = self.area;
        let (Some(cells), Some(run)) = (NonZeroU16::new(width), glyphs_in(buffer, self.area)) else { return };
        for column in x.saturating_add(1)..self.area.right() {
            if let Some(cell) = buffer.cell_mut((column, y)) {
                cell.set_diff_option(LINK_TAIL);
            }
        }
        if let Some(head) = buffer.cell_mut((x, y)) {
            head.set_symbol(&format!("\x1b]8;;{}\x1b\\{run}\x1b]8;;\x1b\\", self.target));
            head.set_diff_option(CellDiffOption::ForcedWidth(cells));
        }
    }
}

/// Returns the glyphs in an area of one line, or `None` if the area exceeds the screen.
fn glyphs_in(buffer: &Buffer, area: Rect) -> Option<String> {
    let mut out = String::new();
    let mut covered = 0;
    for column in area.left()..area.right() {
        let symbol = buffer.cell((column, area.y))?.symbol();
        if covered > 0 {
            // Skips the second half of a wide character.
            covered -= 1;
            continue;
        }
        covered = symbol.width().saturating_sub(1);
        out.push_str(symbol);
    }
    Some(out)
}

/// Returns the target in a form that is safe for a terminal: an http or https address in printable ASCII. Returns
/// `None` if the target is another kind of address or too long.
fn sanitized_target(target: &str) -> Option<String> {
    let link = WebLink::parse(target)?;
    (link.as_str().len() <= MAX_TARGET_BYTES).then(|| link.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    const URL: &str = "https://github.com/acme/docs/pull/1423";

    fn line(text: &str) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 30, 1));
        buffer.set_string(0, 0, text, Style::new());
        buffer
    }

    fn linked(text: &str, link: &str, url: &str) -> Buffer {
        let mut buffer = line(text);
        let link = ScreenLink::new(Rect::new(3, 0, 20, 1), link, url).expect("a link");
        assert!(link.is_visible(&buffer));
        link.apply(&mut buffer);
        buffer
    }

    fn sent(before: &Buffer, after: &Buffer) -> Vec<(u16, String)> {
        before.diff(after).into_iter().map(|(x, _, cell)| (x, cell.symbol().to_owned())).collect()
    }

    #[test]
    fn the_first_cell_contains_the_complete_link_which_is_sent_once() {
        let empty = Buffer::empty(Rect::new(0, 0, 30, 1));
        let with = linked("PR 1423 more", "1423", URL);
        let sent_first = sent(&empty, &with);
        let run = format!("\x1b]8;;{URL}\x1b\\1423\x1b]8;;\x1b\\");
        assert_eq!(sent_first[2], (3, run));
        // Blanks of an empty screen are not sent.
        assert_eq!(sent_first[3], (8, "m".to_owned()));
        assert_eq!(sent(&with, &linked("PR 1423 more", "1423", URL)), [], "nothing changed");
    }

    #[test]
    fn a_cell_that_is_no_longer_a_link_is_sent_again() {
        let with = linked("PR 1423 more", "1423", URL);
        let plain: Vec<(u16, String)> = (3..).zip("1423".chars().map(String::from)).collect();
        assert_eq!(sent(&with, &line("PR 1423 more")), plain);
        let shorter = linked("PR 1423 more", "14", URL);
        let after: Vec<u16> = sent(&with, &shorter).iter().map(|(x, _)| *x).collect();
        assert_eq!(after, [3, 5, 6]);
    }

    #[test]
    fn a_link_of_wide_characters_has_their_width() {
        let with = linked("PR 日本 x", "日本", "https://example.com/日本");
        let head = with.cell((3, 0)).expect("a cell");
        assert_eq!(head.symbol(), "\x1b]8;;https://example.com/%E6%97%A5%E6%9C%AC\x1b\\日本\x1b]8;;\x1b\\");
        assert_eq!(head.diff_option, CellDiffOption::ForcedWidth(NonZeroU16::new(4).expect("not 0")));
    }

    #[test]
    fn a_partly_covered_text_is_not_visible_as_a_link() {
        let link = ScreenLink::new(Rect::new(3, 0, 20, 1), "1423", URL).expect("a link");
        assert!(!link.is_visible(&line("PR 14┌─┐")));
        assert!(!ScreenLink::new(Rect::new(28, 0, 20, 1), "1423", URL).expect("a link").is_visible(&line("")));
    }

    #[test]
    fn only_web_pages_are_linked_and_no_target_can_end_the_sequence() {
        for bad in [
            "",
            "https://",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "ssh://host",
            "https:///path",
            "https://a/\x1b\\\x1b[2J",
            "https://a/\x07b",
            "https://a/\u{9c}b",
            "https://a/b\nc",
            &format!("https://a/{}", "b".repeat(MAX_TARGET_BYTES)),
        ] {
            assert_eq!(sanitized_target(bad), None, "{bad:?}");
        }
        assert_eq!(sanitized_target(URL).as_deref(), Some(URL));
        assert_eq!(sanitized_target("HTTP://a/b c;d").as_deref(), Some("http://a/b%20c;d"));
    }
}
