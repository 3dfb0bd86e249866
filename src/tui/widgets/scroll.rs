//! Computes positions when a list or text is scrolled.

use crate::tui::keymap::Action;

/// Returns the new first visible line after scrolling from `top` as little as possible to show line `at`. `visible` is
/// the number of lines that fit on screen, and `total` the number of all lines.
pub(in crate::tui) fn scroll_to_show(top: usize, at: usize, visible: usize, total: usize) -> usize {
    let visible = visible.max(1);
    let top = if at < top { at } else { top.max((at + 1).saturating_sub(visible)) };
    top.min(total.saturating_sub(visible))
}

/// The first visible line of a list. While a message is shown or the terminal is smaller, fewer lines may be visible.
/// Afterwards, the list shows the same lines as before, unless the user has scrolled or moved the selection meanwhile.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::tui) struct FirstLine {
    top: usize,
    rows: usize,
    before_shrinking: Option<ScrollBeforeShrink>,
}

/// The scroll position of a list before fewer lines became visible, so that it can be restored.
#[derive(Debug, Clone, Copy)]
struct ScrollBeforeShrink {
    top: usize,
    rows: usize,
    selected_line: usize,
}

impl FirstLine {
    pub(in crate::tui) fn get(self) -> usize {
        self.top
    }

    /// Shows the lines from `top`, because the user scrolled.
    pub(in crate::tui) fn set(&mut self, top: usize) {
        (self.top, self.before_shrinking) = (top, None);
    }

    /// Scrolls as little as possible to show line `at` of `total` lines in a view of `rows` lines.
    pub(in crate::tui) fn show(&mut self, at: usize, rows: usize, total: usize) {
        let previous = std::mem::replace(&mut self.rows, rows);
        let larger = self.before_shrinking.take().filter(|larger| larger.selected_line == at);
        let shrinks =
            || (rows < previous).then_some(ScrollBeforeShrink { top: self.top, rows: previous, selected_line: at });
        match larger.or_else(shrinks) {
            Some(larger) if larger.rows <= rows => self.top = larger.top,
            larger => self.before_shrinking = larger,
        }
        self.top = scroll_to_show(self.top, at, rows, total);
    }

    /// Shows one more line above the first one.
    pub(in crate::tui) fn show_line_above(&mut self) {
        self.top = self.top.saturating_sub(1);
    }
}

/// Returns the position `at` moved by `by`, limited to `0..total`.
pub(in crate::tui) fn move_within(at: usize, by: isize, total: usize) -> usize {
    at.saturating_add_signed(by).min(total.saturating_sub(1))
}

/// A scroll command, by lines or pages, or to an end.
#[derive(Debug, Clone, Copy)]
pub enum Scroll {
    By(isize),
    Page(isize),
    Top,
    Bottom,
}

impl Scroll {
    pub(in crate::tui) fn of_action(action: Action) -> Option<Self> {
        Some(match action {
            Action::Down => Self::By(1),
            Action::Up => Self::By(-1),
            Action::PageDown => Self::Page(1),
            Action::PageUp => Self::Page(-1),
            Action::Top => Self::Top,
            Action::Bottom => Self::Bottom,
            _ => return None,
        })
    }

    /// Returns the position after scrolling from `at`, with `rows` visible lines out of `total`.
    pub(in crate::tui) fn apply(self, at: usize, rows: usize, total: usize) -> usize {
        match self {
            Self::By(n) => move_within(at, n, total),
            Self::Page(n) => move_within(at, n.saturating_mul(page_step(rows)), total),
            Self::Top => 0,
            Self::Bottom => total.saturating_sub(1),
        }
    }
}

/// Returns how many lines a page command moves: one less than the visible lines, so that one of them stays visible.
pub(in crate::tui) fn page_step(rows: usize) -> isize {
    isize::try_from(rows.saturating_sub(1).max(1)).unwrap_or(1)
}

/// Returns the element after `current` or, if `is_next` is false, the element before it. After the last element comes
/// the first one.
pub(in crate::tui) fn cyclic_neighbour<T: Copy + PartialEq>(all: &[T], current: T, is_next: bool) -> T {
    let at = all.iter().position(|one| *one == current).unwrap_or(0);
    let to = (at + if is_next { 1 } else { all.len().saturating_sub(1) }) % all.len().max(1);
    all.get(to).copied().unwrap_or(current)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrolling_to_a_line_moves_no_further_than_needed() {
        assert_eq!(scroll_to_show(0, 4, 5, 100), 0);
        assert_eq!(scroll_to_show(0, 5, 5, 100), 1);
        assert_eq!(scroll_to_show(10, 3, 5, 100), 3);
        assert_eq!(scroll_to_show(98, 99, 5, 100), 95, "no empty lines at the end");
        assert_eq!(scroll_to_show(3, 0, 5, 0), 0);
    }
}
