//! Where a yes-or-no question stands, and its answers. Drawing and the mouse both ask here, so that they agree.

use super::geometry::Geometry;
use super::overlay::Question;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

/// What is said behind the key for yes; what is said for no.
pub const YES: &str = " yes";
pub const NO: [&str; 2] = ["anything else", " no"];
/// Cells between the answers.
pub const GAP: usize = 3;

/// The parts of a question on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionPlace {
    /// The box with its borders.
    pub area: Rect,
    pub text: Rect,
    /// The line of the answers.
    pub answers: Rect,
    pub yes: Rect,
    pub no: Rect,
}

impl Question {
    /// Its text above the answers, a gap between, in a box in the middle; `key` is what is pressed for yes.
    pub fn place(&self, g: Geometry, key: &str) -> QuestionPlace {
        let columns = usize::from(g.small(7).width.saturating_sub(4)).max(1);
        let lines = self.lines(columns);
        let area = g.small(lines.saturating_add(4));
        let inner = Rect {
            x: area.x + 2,
            y: area.y + 1,
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(2),
        };
        let row = lines.saturating_add(1).min(inner.height.saturating_sub(1));
        let answers = Rect { y: inner.y + row, height: 1, ..inner };
        let cells = |[one, other]: [&str; 2]| u16::try_from(one.width() + other.width()).unwrap_or(0);
        let gap = u16::try_from(GAP).unwrap_or(0);
        let yes = Rect { width: cells([key, YES]), ..answers };
        let no = Rect { x: yes.right() + gap, width: cells(NO), ..answers };
        let text = Rect { height: row, ..inner };
        QuestionPlace { area, text, answers, yes: yes.intersection(inner), no: no.intersection(inner) }
    }

    /// How many lines its text takes.
    fn lines(&self, columns: usize) -> u16 {
        let (mut lines, mut used) = (1_u16, 0);
        for word in self.text.split_whitespace() {
            let needed = word.width() + usize::from(used > 0);
            if used > 0 && used + needed > columns {
                lines = lines.saturating_add(1);
                used = word.width();
            } else {
                used += needed;
            }
        }
        lines
    }
}
