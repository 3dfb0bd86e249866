//! Where things lie at a given size. State (scrolling, paging) and drawing both ask here, so that they agree.
//!
//! ```text
//!  docdeck  acme-docs   1 Jobs 48   2 Views   3 Log        ● live  3 active   creates 37/100 used here ↺ 22m   header
//! ┌ list ──────────────────────────────────────────┐┌ detail ────────────────────────────────────────────────┐
//! │                                                ││                                                        │  body
//! └────────────────────────────────────────────────┘└────────────────────────────────────────────────────────┘
//!  notice, or the keys of this moment                                                                           footer
//! ```

use ratatui::layout::Rect;

/// Below this nothing but a sentence is shown.
pub const MIN: (u16, u16) = (40, 12);
/// From here on the detail stands beside the list.
pub const WIDE: u16 = 120;
/// Rows that the summary over the page views takes: range, totals, a gap, column heads.
const VIEWS_HEAD: u16 = 5;

/// The parts of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    pub header: Rect,
    pub body: Rect,
    pub footer: Rect,
    /// The jobs list, borders included.
    pub list: Rect,
    /// The detail, borders included: beside the list, or over it when it is alone.
    pub detail: Rect,
    /// Whether list and detail stand side by side.
    pub side_by_side: bool,
}

/// Whether the screen is large enough to be used.
pub fn is_usable(size: (u16, u16)) -> bool {
    size.0 >= MIN.0 && size.1 >= MIN.1
}

/// The parts at this size (columns, rows).
pub fn geometry(size: (u16, u16)) -> Geometry {
    let (width, height) = size;
    let header = Rect::new(0, 0, width, height.min(1));
    let footer = Rect::new(0, height.saturating_sub(1), width, height.min(1));
    let body = Rect::new(0, 1, width, height.saturating_sub(2));
    let side_by_side = width >= WIDE;
    let list_width = if side_by_side { width - width * 9 / 20 } else { width };
    let list = Rect { width: list_width, ..body };
    let detail =
        if side_by_side { Rect { x: list_width, width: width.saturating_sub(list_width), ..body } } else { body };
    Geometry { header, body, footer, list, detail, side_by_side }
}

impl Geometry {
    /// Rows of the jobs list between its borders.
    pub fn list_rows(&self) -> usize {
        usize::from(self.list.height.saturating_sub(2))
    }

    /// Columns of text in the detail: inside the borders and one column of air on each side.
    pub fn detail_columns(&self) -> usize {
        usize::from(self.detail.width.saturating_sub(4))
    }

    /// Rows of text in the detail.
    pub fn detail_rows(&self) -> usize {
        usize::from(self.detail.height.saturating_sub(2))
    }

    /// Rows of page views under the summary and over the line that says which rows they are.
    pub fn views_rows(&self) -> usize {
        usize::from(self.body.height.saturating_sub(VIEWS_HEAD + 1))
    }

    /// Rows of the log under its column heads.
    pub fn log_rows(&self) -> usize {
        usize::from(self.body.height.saturating_sub(3))
    }

    /// The box of the prompt editor.
    pub fn editor(&self) -> Rect {
        centered(self.body, 100, self.body.height.saturating_sub(self.body.height / 5).max(8))
    }

    /// The box of the help.
    pub fn help(&self) -> Rect {
        centered(self.body, 84, self.body.height)
    }

    /// Columns of text in the help.
    pub fn help_columns(&self) -> usize {
        usize::from(self.help().width.saturating_sub(2))
    }

    /// Rows of text in it.
    pub fn help_rows(&self) -> usize {
        usize::from(self.help().height.saturating_sub(2))
    }

    /// The box of a layer that takes the whole height: a list of texts, many prompts, an undelivered prompt.
    pub fn layer(&self) -> Rect {
        // A strip of what is below would only disturb.
        let width = if self.body.width < 140 { self.body.width } else { 120 };
        centered(self.body, width, self.body.height)
    }

    /// Columns of text in it: inside the borders and one column of air on each side.
    pub fn layer_columns(&self) -> usize {
        usize::from(self.layer().width.saturating_sub(4))
    }

    /// Rows of text in it.
    pub fn layer_rows(&self) -> usize {
        usize::from(self.layer().height.saturating_sub(2))
    }

    /// Rows of the list of texts: under the line that narrows it, over the rule and the preview.
    pub fn picker_rows(&self) -> usize {
        (self.layer_rows().saturating_sub(2) / 2).max(1)
    }

    /// The box of the palette.
    pub fn palette(&self) -> Rect {
        centered(self.body, 84, self.body.height.min(26))
    }

    /// Rows of its list, under the line that narrows it.
    pub fn palette_rows(&self) -> usize {
        usize::from(self.palette().height.saturating_sub(3))
    }

    /// Rows of the list of a batch: under its price and a gap, over a line for what is wrong.
    pub fn batch_rows(&self) -> usize {
        self.layer_rows().saturating_sub(3).max(1)
    }

    /// Rows of the list of what is kept: under its column heads.
    pub fn kept_rows(&self) -> usize {
        self.layer_rows().saturating_sub(1).max(1)
    }

    /// Rows of the jobs of all profiles: over a line that says how old what is known is.
    pub fn all_jobs_rows(&self) -> usize {
        self.layer_rows().saturating_sub(1).max(1)
    }

    /// The box of that many profiles, over what happens or what went wrong.
    pub fn profiles(&self, total: usize) -> Rect {
        let height = u16::try_from(total.saturating_add(6)).unwrap_or(u16::MAX);
        centered(self.body, 84, height.min(self.body.height))
    }

    /// Rows of their list: over a gap and three lines of text, six where a failure is said on narrow ones.
    pub fn profile_rows(&self, total: usize, is_said: bool) -> usize {
        let area = self.profiles(total);
        let text = if is_said && area.width < 60 { 6 } else { 3 };
        usize::from(area.height.saturating_sub(3 + text)).max(1)
    }

    /// The box of the movers: two halves side by side take the whole width.
    pub fn movers(&self) -> Rect {
        if self.movers_side_by_side() { self.body } else { self.layer() }
    }

    /// Rows of the two halves of the movers, each under its head: side by side where paths have room, else one above the
    /// other.
    pub fn movers_rows(&self) -> (usize, usize) {
        let rows = usize::from(self.movers().height.saturating_sub(2));
        if self.movers_side_by_side() {
            return (rows.saturating_sub(1), rows.saturating_sub(1));
        }
        let upper = rows / 2;
        (upper.saturating_sub(1), (rows - upper).saturating_sub(1))
    }

    /// Whether the two halves of the movers stand side by side.
    pub fn movers_side_by_side(&self) -> bool {
        self.body.width >= 140
    }

    /// A box in the middle for a question or a value.
    pub fn small(&self, height: u16) -> Rect {
        centered(self.body, 76, height)
    }
}

/// A box in the middle of an area, no larger than it.
pub fn centered(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect::new(area.x + (area.width - width) / 2, area.y + (area.height - height) / 2, width, height)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_lies_inside_the_screen_at_any_size() {
        for width in [0, 1, 2, 39, 40, 80, 119, 120, 160, 300] {
            for height in [0, 1, 2, 3, 11, 12, 24, 48, 100] {
                let g = geometry((width, height));
                let screen = Rect::new(0, 0, width, height);
                let parts = [g.header, g.list, g.detail, g.footer, g.editor(), g.help(), g.layer(), g.small(7)];
                for part in parts.into_iter().filter(|part| !part.is_empty()) {
                    assert_eq!(part.intersection(screen), part, "{width}x{height}");
                }
            }
        }
    }
}
