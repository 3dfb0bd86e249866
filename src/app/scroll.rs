//! Scrolling: a movement through something long, and which part of it is visible.

/// The first visible line, so that `at` is visible among `visible` lines of `total`, moving as little as possible.
pub(super) fn follow(top: usize, at: usize, visible: usize, total: usize) -> usize {
    let visible = visible.max(1);
    let top = if at < top { at } else { top.max((at + 1).saturating_sub(visible)) };
    top.min(total.saturating_sub(visible))
}

/// A position moved by `by`, kept within `total`.
pub(super) fn moved(at: usize, by: isize, total: usize) -> usize {
    at.saturating_add_signed(by).min(total.saturating_sub(1))
}

/// A movement through something long.
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
            Self::By(n) => moved(at, n, total),
            Self::Page(n) => moved(at, n.saturating_mul(page(rows)), total),
            Self::Top => 0,
            Self::Bottom => total.saturating_sub(1),
        }
    }
}

/// A screenful less one line, so that the eye keeps its place.
pub(super) fn page(rows: usize) -> isize {
    isize::try_from(rows.saturating_sub(1).max(1)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_moves_no_more_than_needed() {
        assert_eq!(follow(0, 4, 5, 100), 0);
        assert_eq!(follow(0, 5, 5, 100), 1);
        assert_eq!(follow(10, 3, 5, 100), 3);
        assert_eq!(follow(98, 99, 5, 100), 95, "no empty lines at the end");
        assert_eq!(follow(3, 0, 5, 0), 0);
    }
}
