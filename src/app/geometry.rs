//! Where things lie at a given size. State (scrolling, paging), the mouse and drawing all ask here, so that they agree.
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
/// From so many columns on the detail stands at the right of the list.
pub const WIDE: u16 = 120;
/// From so many rows on it stands below the list where it has no room at the right.
pub const TALL: u16 = 36;
/// Rows that the summary over the page views takes: range, totals, a gap, column heads.
const VIEWS_HEAD: u16 = 5;
/// The list and the detail are no narrower than this side by side, wherever the divider is dragged to.
pub const PANE_COLUMNS: u16 = 40;
/// They are no lower than this one above the other.
pub const PANE_ROWS: u16 = 8;

/// How the jobs list and the detail share the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// The detail at the right.
    Right,
    /// The detail below.
    Below,
    /// One of them at a time.
    Alone,
}

/// How the user wants the panes of the jobs screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Panes {
    /// The detail is shown on Enter only, whatever the room.
    pub hidden: bool,
    /// Columns of the list with the detail at its right; none for the usual share.
    pub columns: Option<u16>,
    /// Rows of the list with the detail below; none for the usual share.
    pub rows: Option<u16>,
}

/// The parts of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    pub header: Rect,
    pub body: Rect,
    pub footer: Rect,
    /// The jobs list, borders included.
    pub list: Rect,
    /// The detail, borders included: beside the list, below it, or over it when it is alone.
    pub detail: Rect,
    pub arrangement: Arrangement,
}

/// Whether the screen is large enough to be used.
pub fn is_usable(size: (u16, u16)) -> bool {
    size.0 >= MIN.0 && size.1 >= MIN.1
}

/// The parts at this size (columns, rows).
pub fn geometry(size: (u16, u16), panes: Panes) -> Geometry {
    let (width, height) = size;
    let header = Rect::new(0, 0, width, height.min(1));
    let footer = Rect::new(0, height.saturating_sub(1), width, height.min(1));
    let body = Rect::new(0, 1, width, height.saturating_sub(2));
    let arrangement = match () {
        () if panes.hidden => Arrangement::Alone,
        () if width >= WIDE => Arrangement::Right,
        () if height >= TALL => Arrangement::Below,
        () => Arrangement::Alone,
    };
    let (list, detail) = match arrangement {
        Arrangement::Alone => (body, body),
        Arrangement::Right => {
            let columns = share(width, panes.columns, PANE_COLUMNS);
            (Rect { width: columns, ..body }, Rect { x: columns, width: width - columns, ..body })
        }
        Arrangement::Below => {
            let rows = share(body.height, panes.rows, PANE_ROWS);
            (Rect { height: rows, ..body }, Rect { y: body.y + rows, height: body.height - rows, ..body })
        }
    };
    Geometry { header, body, footer, list, detail, arrangement }
}

/// What the list takes of so many cells: what was chosen as far as both parts keep so many, else more than half.
fn share(whole: u16, chosen: Option<u16>, least: u16) -> u16 {
    // In 32 bits: nine times the widest terminal there could be is more than 16 hold.
    let usual = whole - u16::try_from(u32::from(whole) * 9 / 20).unwrap_or(0);
    chosen.unwrap_or(usual).clamp(least, whole.saturating_sub(least).max(least)).min(whole)
}

/// Between the borders of a box.
fn inside(area: Rect) -> Rect {
    Rect::new(area.x + 1, area.y + 1, area.width.saturating_sub(2), area.height.saturating_sub(2))
}

/// What is left of a box's inside under so many rows.
fn below(area: Rect, head: u16) -> Rect {
    let inside = inside(area);
    let head = head.min(inside.height);
    Rect { y: inside.y + head, height: inside.height - head, ..inside }
}

/// Text in a box with a column of air on each side, over so many lines.
fn text_over(area: Rect, lines: u16) -> Rect {
    let inner = inside(area);
    let (width, height) = (inner.width.saturating_sub(2), inner.height.saturating_sub(lines));
    Rect { x: inner.x + 1, width, height, ..inner }
}

fn rows(area: Rect) -> usize {
    usize::from(area.height)
}

impl Geometry {
    /// Whether list and detail are both on the screen.
    pub fn shows_both(&self) -> bool {
        self.arrangement != Arrangement::Alone
    }

    /// The two borders at which list and detail meet; empty where one of them is alone.
    pub fn divider(&self) -> Rect {
        match self.arrangement {
            Arrangement::Right => Rect { x: self.detail.x - 1, width: 2, ..self.body },
            Arrangement::Below => Rect { y: self.detail.y - 1, height: 2, ..self.body },
            Arrangement::Alone => Rect::default(),
        }
    }

    /// The lines of the jobs list, between its borders.
    pub fn list_lines(&self) -> Rect {
        inside(self.list)
    }

    /// The row of the range over the page views, with the names of others beside it.
    pub fn views_range(&self) -> Rect {
        Rect { height: self.body.height.min(1), ..self.body }
    }

    /// The title of the jobs list, in its upper border.
    pub fn list_title(&self) -> Rect {
        Rect {
            x: self.list.x + 1,
            width: self.list.width.saturating_sub(2),
            height: self.list.height.min(1),
            ..self.list
        }
    }

    /// The row of the column heads over the page views.
    pub fn views_heads(&self) -> Rect {
        Rect { y: self.body.y + VIEWS_HEAD - 1, height: 1, ..self.body }
    }

    /// The page views under them, over the line that says which rows they are.
    pub fn views_lines(&self) -> Rect {
        let height = self.body.height.saturating_sub(VIEWS_HEAD + 1);
        Rect { y: self.body.y + VIEWS_HEAD, height, ..self.body }
    }

    /// Rows of the jobs list between its borders.
    pub fn list_rows(&self) -> usize {
        rows(self.list_lines())
    }

    /// Columns of text in the detail: inside the borders and one column of air on each side.
    pub fn detail_columns(&self) -> usize {
        usize::from(self.detail.width.saturating_sub(4))
    }

    /// Rows of text in the detail.
    pub fn detail_rows(&self) -> usize {
        usize::from(self.detail.height.saturating_sub(2))
    }

    /// Rows of the page views.
    pub fn views_rows(&self) -> usize {
        rows(self.views_lines())
    }

    /// The lines of the log under its column heads.
    pub fn log_lines(&self) -> Rect {
        below(self.body, 1)
    }

    /// The box of the prompt editor.
    pub fn editor(&self) -> Rect {
        // A small screen is all its own: a reason why a text came back takes some lines.
        centered(self.body, 100, self.body.height.saturating_sub(self.body.height / 5).max(14))
    }

    /// The text of the prompt editor, over a rule and two lines at least that say how it stands.
    pub fn editor_text(&self) -> Rect {
        text_over(self.editor(), 3)
    }

    /// The text of many prompts, over a rule and a line at least.
    pub fn batch_text(&self) -> Rect {
        text_over(self.layer(), 2)
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

    /// The lines of the list of texts: under the line that narrows it, over the rule and the preview.
    pub fn picker_lines(&self) -> Rect {
        let lines = below(self.layer(), 1);
        Rect { height: (lines.height.saturating_sub(1) / 2).max(1).min(lines.height), ..lines }
    }

    /// Rows of it, at least one.
    pub fn picker_rows(&self) -> usize {
        rows(self.picker_lines()).max(1)
    }

    /// The box of the palette.
    pub fn palette(&self) -> Rect {
        centered(self.body, 84, self.body.height.min(26))
    }

    /// The lines of its list, under the line that narrows it.
    pub fn palette_lines(&self) -> Rect {
        below(self.palette(), 1)
    }

    /// Rows of it.
    pub fn palette_rows(&self) -> usize {
        rows(self.palette_lines())
    }

    /// The lines of a batch: under its price and a gap, over a line for what is wrong.
    pub fn batch_lines(&self) -> Rect {
        let lines = below(self.layer(), 2);
        Rect { height: lines.height.saturating_sub(1), ..lines }
    }

    /// Rows of it, at least one.
    pub fn batch_rows(&self) -> usize {
        rows(self.batch_lines()).max(1)
    }

    /// The lines of what is kept, under its column heads.
    pub fn kept_lines(&self) -> Rect {
        below(self.layer(), 1)
    }

    /// Rows of it, at least one.
    pub fn kept_rows(&self) -> usize {
        rows(self.kept_lines()).max(1)
    }

    /// The lines of a layer full of text.
    pub fn layer_lines(&self) -> Rect {
        inside(self.layer())
    }

    /// The title of the list of the jobs of all profiles.
    pub fn all_jobs_title(&self) -> Rect {
        let layer = self.layer();
        Rect { x: layer.x + 1, width: layer.width.saturating_sub(2), height: layer.height.min(1), ..layer }
    }

    /// The lines of the jobs of all profiles.
    pub fn all_jobs_lines(&self) -> Rect {
        let lines = inside(self.layer());
        Rect { height: lines.height.saturating_sub(1), ..lines }
    }

    /// Rows of the jobs of all profiles: over a line that says how old what is known is.
    pub fn all_jobs_rows(&self) -> usize {
        self.layer_rows().saturating_sub(1).max(1)
    }

    /// The lines of the list of that many profiles.
    pub fn profile_lines(&self, total: usize, failed: bool) -> Rect {
        let lines = inside(self.profiles(total));
        let height = u16::try_from(self.profile_rows(total, failed)).unwrap_or(u16::MAX);
        Rect { height: height.min(lines.height), ..lines }
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

    /// The two halves of the movers, heads included: side by side where paths have room, else one above the other.
    pub fn movers_halves(&self) -> [Rect; 2] {
        let inside = inside(self.movers());
        if self.movers_side_by_side() {
            let half = inside.width / 2;
            let right = Rect { x: inside.x + half, width: inside.width - half, ..inside };
            return [Rect { width: half, ..inside }, right];
        }
        let height = (inside.height / 2).max(1).min(inside.height);
        let lower = Rect { y: inside.y + height, height: inside.height - height, ..inside };
        [Rect { height, ..inside }, lower]
    }

    /// Rows of each of them under its head.
    pub fn movers_rows(&self) -> (usize, usize) {
        let [upper, lower] = self.movers_halves().map(|half| rows(half).saturating_sub(1));
        (upper, lower)
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

    const SIZES: ([u16; 11], [u16; 12]) =
        ([0, 1, 2, 39, 40, 60, 80, 119, 120, 160, 300], [0, 1, 2, 3, 11, 12, 20, 24, 35, 36, 50, 100]);

    fn sizes() -> impl Iterator<Item = (u16, u16)> {
        SIZES.0.into_iter().flat_map(|width| SIZES.1.into_iter().map(move |height| (width, height)))
    }

    #[test]
    fn every_part_lies_inside_the_screen_at_any_size() {
        for (width, height) in sizes() {
            let g = geometry((width, height), Panes::default());
            let screen = Rect::new(0, 0, width, height);
            let boxes = [g.editor(), g.help(), g.layer(), g.small(7), g.palette(), g.movers(), g.divider()];
            let lists = [g.picker_lines(), g.palette_lines(), g.batch_lines(), g.kept_lines(), g.views_lines()];
            let parts = [&[g.header, g.list, g.detail, g.footer], &g.movers_halves()[..], &boxes, &lists].concat();
            for part in parts.into_iter().filter(|part| !part.is_empty()) {
                assert_eq!(part.intersection(screen), part, "{width}x{height}");
            }
        }
    }

    #[test]
    fn the_detail_stands_where_there_is_room_for_it() {
        let at = |size| geometry(size, Panes::default()).arrangement;
        assert_eq!([at((120, 12)), at((300, 100))], [Arrangement::Right; 2]);
        assert_eq!([at((90, 50)), at((40, 36)), at((119, 100))], [Arrangement::Below; 3]);
        assert_eq!([at((80, 24)), at((40, 12)), at((119, 35))], [Arrangement::Alone; 3]);
        let hidden = geometry((300, 100), Panes { hidden: true, ..Panes::default() });
        assert_eq!((hidden.list, hidden.detail, hidden.divider()), (hidden.body, hidden.body, Rect::default()));
    }

    #[test]
    fn the_divider_leaves_both_sides_their_least_room() {
        for size in sizes().filter(|size| is_usable(*size)) {
            for chosen in [None, Some(0), Some(39), Some(77), Some(u16::MAX)] {
                let g = geometry(size, Panes { hidden: false, columns: chosen, rows: chosen });
                let (list, detail) = (g.list, g.detail);
                match g.arrangement {
                    Arrangement::Right => {
                        assert!(list.width >= PANE_COLUMNS && detail.width >= PANE_COLUMNS, "{size:?} {chosen:?}");
                        assert_eq!((list.width + detail.width, list.right()), (size.0, detail.x));
                        assert_eq!((g.divider().x, g.divider().right()), (list.right() - 1, detail.x + 1));
                    }
                    Arrangement::Below => {
                        assert!(list.height >= PANE_ROWS && detail.height >= PANE_ROWS, "{size:?} {chosen:?}");
                        assert_eq!((list.height + detail.height, list.bottom()), (size.1 - 2, detail.y));
                        assert_eq!((g.divider().y, g.divider().bottom()), (list.bottom() - 1, detail.y + 1));
                    }
                    Arrangement::Alone => assert!(g.divider().is_empty()),
                }
            }
        }
        assert_eq!(geometry((160, 40), Panes { columns: Some(77), ..Panes::default() }).list.width, 77);
        assert_eq!(geometry((90, 50), Panes { rows: Some(15), ..Panes::default() }).list.height, 15);
    }
}
