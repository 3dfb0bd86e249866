//! Bars: human `█` and AI `▒` side by side, told apart without any colour.

use super::theme::Theme;
use crate::model::views::{Counts, as_f64};
use ratatui::text::Span;

const HUMAN: &str = "█";
const AI: &str = "▒";

/// Cells for `value` on a scale that ends at `full` in `width` cells; something is never nothing.
pub(super) fn cells(value: u64, full: f64, width: usize) -> usize {
    if value == 0 || full <= 0.0 || width == 0 {
        return 0;
    }
    let share = (as_f64(value) / full).clamp(0.0, 1.0);
    // Widths are far below 2³²: the search for the nearest number of cells stays exact.
    let nearest = (0..=width).min_by(|a, b| {
        let off = |n: usize| (as_f64(n as u64) / as_f64(width as u64) - share).abs();
        off(*a).total_cmp(&off(*b))
    });
    nearest.unwrap_or(0).max(1)
}

/// A stacked bar on a scale that ends at `full`, in at most `width` cells. Nothing is drawn of what is no count.
pub(super) fn stacked(counts: &Counts, full: f64, width: usize, theme: &Theme) -> [Span<'static>; 2] {
    let (human, ai) = (counts.human.value().unwrap_or(0), counts.ai.value().unwrap_or(0));
    let whole = cells(human.saturating_add(ai), full, width);
    let human_cells = match (human, ai) {
        (0, _) => 0,
        (_, 0) => whole,
        _ if whole < 2 => usize::from(human >= ai),
        _ => cells(human, as_f64(human) + as_f64(ai), whole).min(whole - 1),
    };
    [Span::styled(HUMAN.repeat(human_cells), theme.human), Span::styled(AI.repeat(whole - human_cells), theme.ai)]
}

/// A printed scale, `0 ──── 13,430`, in exactly `width` cells where that fits.
pub(super) fn scale(full: &str, width: usize) -> String {
    let line = width.saturating_sub(full.len() + 3);
    if line < 2 { super::text::right(full, width) } else { format!("0 {} {full}", "─".repeat(line)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::views::Count;
    use crate::ui::theme::Depth;

    fn bar(human: i64, ai: i64, full: f64, width: usize) -> String {
        let counts = Counts { human: Count::Known(human), ai: Count::Known(ai), total: Count::Known(human + ai) };
        stacked(&counts, full, width, &Theme::new(Depth::None)).iter().map(|span| span.content.as_ref()).collect()
    }

    #[test]
    fn a_bar_is_as_long_as_its_share_of_the_scale() {
        assert_eq!(bar(50, 50, 100.0, 10), "█████▒▒▒▒▒");
        assert_eq!(bar(20, 20, 100.0, 10), "██▒▒");
        assert_eq!(bar(0, 0, 100.0, 10), "");
    }

    #[test]
    fn something_is_never_drawn_as_nothing() {
        assert_eq!(bar(1, 0, 1_000_000.0, 10), "█");
        assert_eq!(bar(0, 1, 1_000_000.0, 10), "▒");
        assert_eq!(bar(1_000_000, 1, 1_000_001.0, 10), "█████████▒");
    }

    #[test]
    fn the_scale_fills_its_width() {
        assert_eq!(scale("13,430", 20), "0 ─────────── 13,430");
        assert_eq!(scale("13,430", 6), "13,430");
    }
}
