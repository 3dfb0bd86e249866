//! The layout of the screen at a given size. Scrolling, paging, mouse clicks and drawing all use it, so that they
//! agree.
//!
//! ```text
//!  docdeck  acme-docs   1 Jobs ●4   2 Analytics   3 Log             ◆ ready  new jobs 37/100 used  header
//! ─ title of the list ───────────────────────────────┬─ title of the details ───────────────────   upper rule
//!                                                    │                                             content
//! ─ a notice or the scope ───── 2 of 44, 28 more ↓ ──┴──────────────────────────────────────────   lower rule
//!  keys that apply now                                                                             footer
//! ```

use ratatui::layout::Rect;

/// The minimum size of the terminal (columns, rows). On a smaller terminal, only a message is shown.
pub const MIN_SCREEN_SIZE: (u16, u16) = (40, 12);
/// The minimum number of columns at which the details are to the right of the list.
pub const MIN_COLUMNS_SIDE_BY_SIDE: u16 = 120;
/// The minimum number of columns of the screen at which the lists of jobs have column headings.
const MIN_COLUMNS_WITH_HEADINGS: u16 = 100;
/// The minimum number of rows at which the details are below the list, if there are too few columns to show them to the
/// right of it.
pub const MIN_ROWS_STACKED: u16 = 36;
/// The minimum number of columns of the list, and of the details, when they are side by side. Dragging the divider
/// can't make them narrower.
pub const MIN_PANE_COLUMNS: u16 = 38;
/// The minimum number of rows of the list, and of the details, when one is above the other.
pub const MIN_PANE_ROWS: u16 = 6;
/// The list grows to show its longest title in full. While the list and the divider together have at most this number
/// of columns, the details may shrink to [`MIN_PANE_COLUMNS`]. Beyond this number, the list grows only while the
/// details keep [`MIN_DETAIL_COLUMNS_BESIDE_WIDE_LIST`].
const MAX_LIST_COLUMNS_SHRINKING_DETAIL: u16 = 82;
/// The number of columns that the details keep if the list grows beyond [`MAX_LIST_COLUMNS_SHRINKING_DETAIL`]. It is
/// enough for the links of pull requests.
const MIN_DETAIL_COLUMNS_BESIDE_WIDE_LIST: u16 = 57;

/// How the jobs list and the details share the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobsArrangement {
    /// The details to the right of the list.
    SideBySide,
    /// The details below the list.
    Stacked,
    /// Either the list or the details, not both.
    OneAtATime,
}

/// What the layout of the jobs screen depends on besides the size: the user's settings, and the space that an editor
/// and the longest title need.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PaneConstraints {
    /// Whether the details are shown only after Enter, whatever the size of the screen.
    pub hides_detail: bool,
    /// The number of columns of the list while the details are to its right; `None` for the default.
    pub list_width: Option<u16>,
    /// The number of rows of the list while the details are below it; `None` for the default.
    pub list_height: Option<u16>,
    /// The number of rows that an editor below the thread takes at the bottom; 0 without such an editor. While there is
    /// an editor, the details are never below the list.
    pub editor_rows: u16,
    /// The number of columns that the list needs to show its longest title.
    pub needed_list_columns: u16,
}

/// The parts of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    pub header: Rect,
    /// Everything between the header and the footer: the upper rule, the content and the lower rule.
    pub body: Rect,
    /// The body without the rules.
    pub content: Rect,
    pub footer: Rect,
    /// The jobs list, with its column headings.
    pub list: Rect,
    /// The job details: to the right of the list, below it, or in its place.
    pub detail: Rect,
    pub arrangement: JobsArrangement,
}

/// Whether the terminal has at least the minimum size.
pub fn is_usable(size: (u16, u16)) -> bool {
    size.0 >= MIN_SCREEN_SIZE.0 && size.1 >= MIN_SCREEN_SIZE.1
}

/// Computes the layout of a screen of this size (columns, rows).
pub fn compute_layout(size: (u16, u16), panes: PaneConstraints) -> Geometry {
    let (width, height) = size;
    let header = Rect::new(0, 0, width, height.min(1));
    let footer = Rect::new(0, height.saturating_sub(1), width, height.min(1));
    let body = Rect::new(0, 1, width, height.saturating_sub(2));
    let content = Rect::new(0, 2, width, height.saturating_sub(4));
    let arrangement = match () {
        () if panes.hides_detail => JobsArrangement::OneAtATime,
        () if width >= MIN_COLUMNS_SIDE_BY_SIDE => JobsArrangement::SideBySide,
        () if height >= MIN_ROWS_STACKED && panes.editor_rows == 0 => JobsArrangement::Stacked,
        () => JobsArrangement::OneAtATime,
    };
    // The upper rule of the editor is also the lower rule of the panes.
    let space = Rect { height: content.height.saturating_sub(panes.editor_rows.saturating_sub(1)), ..content };
    let (list, detail) = match arrangement {
        JobsArrangement::OneAtATime => (space, space),
        JobsArrangement::SideBySide => {
            let min_detail_columns = (width - MAX_LIST_COLUMNS_SHRINKING_DETAIL)
                .clamp(MIN_PANE_COLUMNS, MIN_DETAIL_COLUMNS_BESIDE_WIDE_LIST);
            let max_list_columns = width - 1 - min_detail_columns;
            let default = default_list_size(width).max(panes.needed_list_columns.min(max_list_columns));
            let columns = clamped_list_size(width - 1, panes.list_width.unwrap_or(default), MIN_PANE_COLUMNS);
            let detail = Rect { x: columns + 1, width: width - columns - 1, ..space };
            (Rect { width: columns, ..space }, detail)
        }
        JobsArrangement::Stacked => {
            let total = content.height - 1;
            let rows = clamped_list_size(total, panes.list_height.unwrap_or(default_list_size(total)), MIN_PANE_ROWS);
            let detail = Rect { y: content.y + rows + 1, height: total - rows, ..content };
            (Rect { height: rows, ..content }, detail)
        }
    };
    Geometry { header, body, content, footer, list, detail, arrangement }
}

/// Returns how many of `total` cells the list gets by default: 60 %.
fn default_list_size(total: u16) -> u16 {
    // Computed in 32 bits, because twice the maximum width overflows 16 bits.
    total - u16::try_from(u32::from(total) * 2 / 5).unwrap_or(0)
}

/// Limits the size of the list so that both panes have at least `min` of the `total` cells.
fn clamped_list_size(total: u16, chosen: u16, min: u16) -> u16 {
    chosen.clamp(min, total.saturating_sub(min).max(min)).min(total)
}

/// Returns the area inside the borders of a box.
pub(in crate::tui) fn inside_borders(area: Rect) -> Rect {
    Rect::new(area.x + 1, area.y + 1, area.width.saturating_sub(2), area.height.saturating_sub(2))
}

/// Returns the area inside the borders of a box, without its first `head` rows.
pub(in crate::tui) fn inside_borders_without_top_rows(area: Rect, head: u16) -> Rect {
    without_top_rows(inside_borders(area), head)
}

/// Returns the area between the upper and the lower rule of an area.
pub(in crate::tui) fn between_rules(area: Rect) -> Rect {
    Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area }
}

/// Returns an area without its first `head` rows.
pub(in crate::tui) fn without_top_rows(area: Rect, head: u16) -> Rect {
    let head = head.min(area.height);
    Rect { y: area.y + head, height: area.height - head, ..area }
}

pub(in crate::tui) fn row_capacity(area: Rect) -> usize {
    usize::from(area.height)
}

impl Geometry {
    /// Whether both the list and the details are on the screen.
    pub fn shows_both_panes(&self) -> bool {
        self.arrangement != JobsArrangement::OneAtATime
    }

    /// Returns the row of the upper rule.
    pub fn upper_rule(&self) -> Rect {
        Rect { height: self.body.height.min(1), ..self.body }
    }

    /// Returns the row of the lower rule.
    pub fn lower_rule(&self) -> Rect {
        Rect { y: self.body.bottom().saturating_sub(1), height: self.body.height.min(1), ..self.body }
    }

    /// Returns the rule below the list and the details.
    pub fn rule_below_panes(&self) -> Rect {
        Rect { y: self.detail.bottom(), ..self.lower_rule() }
    }

    /// Returns the cells between the list and the details; empty if only one of them is shown. If the details are below
    /// the list, the cells are the rule with the title of the details.
    pub fn divider(&self) -> Rect {
        match self.arrangement {
            JobsArrangement::SideBySide => Rect { x: self.list.right(), width: 1, ..self.list },
            JobsArrangement::Stacked => Rect { y: self.list.bottom(), height: 1, ..self.content },
            JobsArrangement::OneAtATime => Rect::default(),
        }
    }

    /// Returns the area of the lines of the jobs list, below the column headings.
    pub fn list_lines(&self) -> Rect {
        without_top_rows(self.list, self.list_heading_rows())
    }

    /// Returns how many rows a list of jobs has for column headings.
    pub(in crate::tui) fn list_heading_rows(&self) -> u16 {
        u16::from(self.body.width >= MIN_COLUMNS_WITH_HEADINGS)
    }

    /// Returns the part of the upper rule above the jobs list.
    pub fn list_rule(&self) -> Rect {
        Rect { width: self.list.width, ..self.upper_rule() }
    }

    /// Returns the rule above the details.
    pub fn detail_rule(&self) -> Rect {
        Rect { y: self.detail.y.saturating_sub(1), height: self.body.height.min(1), ..self.detail }
    }

    pub fn list_rows(&self) -> usize {
        row_capacity(self.list_lines())
    }

    /// Returns the area of the text of the details, with a margin of one column on each side.
    pub fn detail_text(&self) -> Rect {
        inside_margin(self.detail)
    }

    /// Returns the number of columns of text in the details.
    pub fn detail_columns(&self) -> usize {
        usize::from(self.detail_text().width)
    }

    /// Returns the number of rows of text in the details.
    pub fn detail_rows(&self) -> usize {
        usize::from(self.detail.height)
    }

    /// Returns the number of columns of text in a full-screen dialog, with a margin of one column on each side.
    pub fn dialog_columns(&self) -> usize {
        usize::from(inside_margin(self.content).width)
    }

    /// Returns the number of rows of a full-screen dialog.
    pub fn dialog_rows(&self) -> usize {
        row_capacity(self.content)
    }

    /// Returns the area of a centred box of this height, for a confirmation or an input.
    pub fn small_dialog(&self, height: u16) -> Rect {
        centered(self.body, 76, height)
    }
}

/// Returns the cells of a rule that its title may use. On each side of these cells, a cell of the rule and a blank
/// remain.
pub(in crate::tui) fn title_area(rule: Rect) -> Rect {
    Rect { x: rule.x + 2, width: rule.width.saturating_sub(4), ..rule }
}

/// Returns the part of an area inside a margin of one column on the left and on the right.
pub(in crate::tui) fn inside_margin(area: Rect) -> Rect {
    Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area }
}

/// Returns a centred box of this size, but no larger than `area`.
pub fn centered(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect::new(area.x + (area.width - width) / 2, area.y + (area.height - height) / 2, width, height)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::compose::{batch::prompt_list_area, picker::entry_list_area};
    use crate::tui::views::areas::{AboveTable, ViewsAreas};

    const SIZES: ([u16; 11], [u16; 12]) =
        ([0, 1, 2, 39, 40, 60, 80, 119, 120, 160, 300], [0, 1, 2, 3, 11, 12, 20, 24, 35, 36, 50, 100]);

    fn sizes() -> impl Iterator<Item = (u16, u16)> {
        SIZES.0.into_iter().flat_map(|width| SIZES.1.into_iter().map(move |height| (width, height)))
    }

    #[test]
    fn every_part_is_inside_the_screen_at_any_size() {
        for (width, height) in sizes() {
            let g = compute_layout((width, height), PaneConstraints::default());
            let screen = Rect::new(0, 0, width, height);
            let boxes = [g.small_dialog(7), g.divider()];
            let lists = [entry_list_area(g, 9), prompt_list_area(g), ViewsAreas::new(g.body, AboveTable::Trend).lines];
            let parts = [&[g.header, g.list, g.detail, g.footer], &boxes[..], &lists].concat();
            for part in parts.into_iter().filter(|part| !part.is_empty()) {
                assert_eq!(part.intersection(screen), part, "{width}x{height}");
            }
        }
    }

    #[test]
    fn the_details_are_where_there_is_space_for_them() {
        let at = |size| compute_layout(size, PaneConstraints::default()).arrangement;
        assert_eq!([at((120, 12)), at((300, 100))], [JobsArrangement::SideBySide; 2]);
        assert_eq!([at((90, 50)), at((40, 36)), at((119, 100))], [JobsArrangement::Stacked; 3]);
        assert_eq!([at((80, 24)), at((40, 12)), at((119, 35))], [JobsArrangement::OneAtATime; 3]);
        let hidden = compute_layout((300, 100), PaneConstraints { hides_detail: true, ..PaneConstraints::default() });
        assert_eq!((hidden.list, hidden.detail, hidden.divider()), (hidden.content, hidden.content, Rect::default()));
    }

    #[test]
    fn an_editor_below_the_thread_takes_its_rows_from_the_panes() {
        for (size, arrangement) in [((120, 40), JobsArrangement::SideBySide), ((90, 50), JobsArrangement::OneAtATime)] {
            let g = compute_layout(size, PaneConstraints { editor_rows: 12, ..PaneConstraints::default() });
            assert_eq!((g.arrangement, g.body.height), (arrangement, size.1 - 2));
            assert_eq!([g.list.bottom(), g.detail.bottom()], [g.body.bottom() - 12; 2]);
        }
    }

    #[test]
    fn the_divider_leaves_both_panes_their_minimum_size() {
        for size in sizes().filter(|size| is_usable(*size)) {
            for chosen in [None, Some(0), Some(39), Some(77), Some(u16::MAX)] {
                let g = compute_layout(
                    size,
                    PaneConstraints { list_width: chosen, list_height: chosen, ..PaneConstraints::default() },
                );
                let (list, detail) = (g.list, g.detail);
                match g.arrangement {
                    JobsArrangement::SideBySide => {
                        assert!(
                            list.width >= MIN_PANE_COLUMNS && detail.width >= MIN_PANE_COLUMNS,
                            "{size:?} {chosen:?}"
                        );
                        assert_eq!(
                            (list.right(), g.divider().right(), detail.right()),
                            (g.divider().x, detail.x, size.0)
                        );
                    }
                    JobsArrangement::Stacked => {
                        assert!(list.height >= MIN_PANE_ROWS && detail.height >= MIN_PANE_ROWS, "{size:?} {chosen:?}");
                        assert_eq!((list.bottom(), g.divider().bottom()), (g.divider().y, detail.y));
                        assert_eq!(detail.bottom(), g.lower_rule().y);
                    }
                    JobsArrangement::OneAtATime => assert!(g.divider().is_empty()),
                }
            }
        }
        assert_eq!(
            compute_layout((160, 40), PaneConstraints { list_width: Some(77), ..PaneConstraints::default() })
                .list
                .width,
            77
        );
        let needed = |width, needed_list_columns| {
            compute_layout((width, 48), PaneConstraints { needed_list_columns, ..PaneConstraints::default() })
        };
        let widths = [(143, 200), (160, 0), (160, 100), (160, 200), (200, 200)].map(|(w, n)| needed(w, n).list.width);
        assert_eq!(widths, [86, 96, 100, 102, 142], "the longest title, but the details keep 57 columns");
        assert_eq!(
            compute_layout((90, 50), PaneConstraints { list_height: Some(15), ..PaneConstraints::default() })
                .list
                .height,
            15
        );
    }
}
