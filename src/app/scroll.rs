//! Scrolling: moving through a list or text, and computing its visible part.

/// The first visible line after scrolling as little as possible to show `at`, with `visible` lines of `total`.
pub(super) fn scroll_to_show(top: usize, at: usize, visible: usize, total: usize) -> usize {
    let visible = visible.max(1);
    let top = if at < top { at } else { top.max((at + 1).saturating_sub(visible)) };
    top.min(total.saturating_sub(visible))
}

/// Moves a position by `by`, within `total`.
pub(super) fn move_within(at: usize, by: isize, total: usize) -> usize {
    at.saturating_add_signed(by).min(total.saturating_sub(1))
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Scroll {
    By(isize),
    Page(isize),
    Top,
    Bottom,
}

impl Scroll {
    pub(super) fn apply(self, at: usize, rows: usize, total: usize) -> usize {
        match self {
            Self::By(n) => move_within(at, n, total),
            Self::Page(n) => move_within(at, n.saturating_mul(page_step(rows)), total),
            Self::Top => 0,
            Self::Bottom => total.saturating_sub(1),
        }
    }
}

/// A page is one line less than the view, to keep a line of context.
pub(super) fn page_step(rows: usize) -> isize {
    isize::try_from(rows.saturating_sub(1).max(1)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_moves_no_more_than_needed() {
        assert_eq!(scroll_to_show(0, 4, 5, 100), 0);
        assert_eq!(scroll_to_show(0, 5, 5, 100), 1);
        assert_eq!(scroll_to_show(10, 3, 5, 100), 3);
        assert_eq!(scroll_to_show(98, 99, 5, 100), 95, "no empty lines at the end");
        assert_eq!(scroll_to_show(3, 0, 5, 0), 0);
    }
}
