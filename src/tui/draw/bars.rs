//! Draws bars. `█` stands for human views and `▒` for AI views, stacked or alone, so that they differ even without
//! colour. A bar of the total views consists of `■` if it is not stacked. All other bars can end in eighths of a cell,
//! if the terminal can draw them.

use super::theme::Theme;
use crate::model::views::{Counts, DecimalCount, as_f64};
use crate::tui::format::{format_views, grouped_number};
use crate::tui::views::table::{BarScale, Metric, PageMetrics};
use ratatui::style::Style;
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr;

const HUMAN_SYMBOL: &str = "█";
const AI_SYMBOL: &str = "▒";
const TOTAL_SYMBOL: &str = "■";

/// Returns the symbol and the style of a bar that shows one metric. The total has its own symbol, because on a log
/// scale its bar is not the sum of the human and the AI bar.
pub(in crate::tui) fn symbol_and_style(metric: Metric, theme: &Theme) -> (&'static str, Style) {
    match metric {
        Metric::Human | Metric::HumanVisitors => (HUMAN_SYMBOL, theme.human),
        Metric::Ai | Metric::Share | Metric::AiVisitors => (AI_SYMBOL, theme.ai_fill()),
        Metric::Total | Metric::Visitors => (TOTAL_SYMBOL, theme.text),
    }
}

/// Returns the number of cells nearest to the fraction `part` (0 to 1) of `width`. A fraction above 0 gets at least one
/// cell.
fn cells_of_fraction(part: f64, width: usize) -> usize {
    if part <= 0.0 || width == 0 {
        return 0;
    }
    // A half is rounded down.
    let cells = (part.min(1.0) * as_f64(width as u64) - 0.5).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number from 0 to `width`")]
    let cells = cells as usize;
    cells.max(1)
}

/// Returns the number of cells for `value` on a scale from 0 to `full`. A value above 0 gets at least one cell.
pub(in crate::tui) fn bar_cells(value: DecimalCount, full: f64, width: usize) -> usize {
    if full <= 0.0 { 0 } else { cells_of_fraction(value.as_f64() / full, width) }
}

/// Returns the bar of a page or folder on a scale, in at most `width` cells. The bar is empty if the value is not a
/// count, or if the page is not listed in the range.
pub(in crate::tui) fn bar_spans(
    figures: &PageMetrics<'_>,
    metric: Metric,
    scale: BarScale,
    width: usize,
    theme: &Theme,
) -> Vec<Span<'static>> {
    if !figures.is_listed {
        return Vec::new();
    }
    let part = match (scale, metric) {
        (BarScale::Linear(full), Metric::Total) => return stacked_bar(figures.counts, full.as_f64(), width, theme),
        (BarScale::Share, _) => figures.counts.ai_share().unwrap_or(0.0),
        (scale, metric) => metric.bar_length(figures.counts).map_or(0.0, |views| scale.fraction(views)),
    };
    // On a log scale a single view has the length 0, but it still gets the shortest bar.
    let has_views = metric.bar_length(figures.counts).is_some_and(|views| !views.is_zero());
    let (sign, style) = symbol_and_style(metric, theme);
    let parts_per_cell = match sign {
        // Unicode has no eighths of `■`, so a bar of the total ends in a whole cell.
        TOTAL_SYMBOL => 1,
        _ => theme.parts_per_cell(),
    };
    let parts = cells_of_fraction(part, width * parts_per_cell).max(usize::from(has_views && width > 0));
    let end = if sign == AI_SYMBOL { theme.ai_partial_fill() } else { style };
    solid_spans(sign, parts, parts_per_cell, [style, end]).into()
}

/// Returns a bar for a fraction (0 to 1), in at most `width` cells. A fraction above 0 gets at least the shortest
/// possible bar.
pub(in crate::tui) fn fraction_bar(part: f64, width: usize, style: Style, theme: &Theme) -> Vec<Span<'static>> {
    let per_cell = theme.parts_per_cell();
    solid_spans(HUMAN_SYMBOL, cells_of_fraction(part, width * per_cell), per_cell, [style; 2]).into()
}

/// Returns the spans of a bar of one symbol: the whole cells, and the last cell, which is filled in part. `whole` and
/// `end` are their styles.
fn solid_spans(sign: &str, parts: usize, parts_per_cell: usize, [whole, end]: [Style; 2]) -> [Span<'static>; 2] {
    let cells = Span::styled(sign.repeat(parts / parts_per_cell), whole);
    [cells, Span::styled(left_filled_block(parts % parts_per_cell), end)]
}

/// Returns a cell of which this many eighths are filled from the left; an empty text for none.
fn left_filled_block(n: usize) -> &'static str {
    ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"].get(n).copied().unwrap_or_default()
}

/// Returns a stacked bar of human and AI views on a linear scale from 0 to `full`, in at most `width` cells. Leaves out
/// values that are not counts.
pub(in crate::tui) fn stacked_bar(counts: &Counts, full: f64, width: usize, theme: &Theme) -> Vec<Span<'static>> {
    let (human, ai) = (counts.human.value().unwrap_or_default(), counts.ai.value().unwrap_or_default());
    let per_cell = theme.parts_per_cell();
    let parts = bar_cells(human + ai, full, width * per_cell);
    let human_parts = human_part_count((human, ai), parts, per_cell, theme);
    if human_parts == parts || parts < per_cell && human >= ai {
        return solid_spans(HUMAN_SYMBOL, parts, per_cell, [theme.human; 2]).into();
    }
    let human_cells = human_parts / per_cell;
    let mut bar = vec![Span::styled(HUMAN_SYMBOL.repeat(human_cells), theme.human)];
    let (shared, mut ai_parts) = (human_parts % per_cell, parts - human_cells * per_cell);
    // A cell has only two colours, which is enough for human and AI views. If the bar also ended in this cell, its
    // blank end would need a third colour. In that case the cell shows only AI views.
    if shared > 0 && ai_parts >= per_cell {
        let style = Style { bg: theme.ai_partial_fill().fg, ..theme.human };
        bar.push(Span::styled(left_filled_block(shared), style));
        ai_parts -= per_cell;
    }
    bar.extend(solid_spans(AI_SYMBOL, ai_parts, per_cell, [theme.ai_fill(), theme.ai_partial_fill()]));
    bar
}

/// Returns a bar for `value` on a linear scale from 0 to `full`, divided into human and AI views in the proportion of
/// `human` to `ai`. If both are 0, the bar is not divided.
pub(in crate::tui) fn divided_bar(
    (human, ai): (DecimalCount, DecimalCount),
    value: DecimalCount,
    full: DecimalCount,
    width: usize,
    theme: &Theme,
) -> Vec<Span<'static>> {
    let sum = human + ai;
    if sum.is_zero() {
        let part = if full.is_zero() { 0.0 } else { value.ratio_to(full) };
        return fraction_bar(part, width, theme.text, theme);
    }
    // The scale is changed so that a bar for `sum` on the new scale is as long as a bar for `value` on the old one.
    // Changing `human` and `ai` instead would round their proportion twice.
    let full = full.as_f64() * sum.ratio_to(value);
    stacked_bar(&Counts::new(human.into(), ai.into(), sum.into()), full, width, theme)
}

/// Returns how many of the `parts` of a stacked bar show human views; the others show AI views. `parts` is the length
/// of the whole bar, counted in parts of cells. If one cell can't show both kinds of views, human views end at a whole
/// cell.
pub(in crate::tui) fn human_part_count(
    (human, ai): (DecimalCount, DecimalCount),
    parts: usize,
    per_cell: usize,
    theme: &Theme,
) -> usize {
    if theme.can_show_human_and_ai_in_one_cell() || ai.is_zero() || parts < per_cell {
        return human_cell_count(human, ai, parts);
    }
    human_cell_count(human, ai, parts / per_cell) * per_cell
}

/// Returns how many of the `cell_count` cells of a stacked bar show human views; the others show AI views. With at
/// least two cells, each kind that has views gets at least one. Instead of cells, the caller can count parts of cells.
fn human_cell_count(human: DecimalCount, ai: DecimalCount, cell_count: usize) -> usize {
    match (human.is_zero(), ai.is_zero()) {
        (true, _) => 0,
        (_, true) => cell_count,
        _ if cell_count < 2 => usize::from(human >= ai).min(cell_count),
        _ => bar_cells(human, (human + ai).as_f64(), cell_count).min(cell_count - 1),
    }
}

/// Returns a line that shows the scale, such as `0 ──── 14k` or `log 1 ──── 14k`, in exactly `width` cells. If space is
/// short, shows only the end of the scale.
pub(in crate::tui) fn scale_line(scale: BarScale, width: usize) -> String {
    let (log, start, end) = match scale {
        BarScale::Linear(full) => ("", "0", short_number_if_exact(full)),
        BarScale::Log(full) => ("log ", "1", short_number_if_exact(full)),
        BarScale::Share => ("", "0", "100%".to_owned()),
    };
    let line = width.saturating_sub(log.len() + start.len() + end.width() + 2);
    if line >= 2 {
        return format!("{log}{start} {} {end}", "─".repeat(line));
    }
    let end = match scale {
        BarScale::Linear(full) | BarScale::Log(full) if log.len() + end.width() > width => short_number(full),
        _ => end,
    };
    super::text::align_right(&format!("{log}{end}"), width)
}

/// Returns a line that shows a linear scale from 0 to `full`, such as `0 ──── 13,430`, in `width` cells. If space is
/// short, shows only `full`.
pub(in crate::tui) fn linear_scale_line(full: &str, width: usize) -> String {
    let line = width.saturating_sub(full.width() + 3);
    if line < 2 { super::text::align_right(full, width) } else { format!("0 {} {full}", "─".repeat(line)) }
}

/// Formats a number from 10,000 on in thousands or millions if that is exact: `14k`, `1.4m`. Formats all digits of any
/// other number.
pub(in crate::tui) fn short_number_if_exact(count: DecimalCount) -> String {
    let n = count.rounded();
    match n {
        1_000_000.. if n % 1_000_000 == 0 => format!("{}m", grouped_number(n / 1_000_000)),
        1_000_000.. if n % 100_000 == 0 => format!("{}.{}m", grouped_number(n / 1_000_000), n / 100_000 % 10),
        10_000.. if n % 1000 == 0 => format!("{}k", grouped_number(n / 1000)),
        _ => format_views(count),
    }
}

/// Formats a rounded number in at most six cells: `9,999`, `13k`, `1,204m`, `9e18`. A number below 1,000 has at most
/// one decimal.
pub(in crate::tui) fn short_number(count: DecimalCount) -> String {
    if count < DecimalCount::from(999) {
        return format_views(count);
    }
    let n = count.rounded();
    match n {
        ..10_000 => grouped_number(n),
        10_000..9_999_500 => format!("{}k", grouped_number((n + 500) / 1000)),
        9_999_500..9_999_500_000 => format!("{}m", grouped_number((n + 500_000) / 1_000_000)),
        _ => {
            let digits = n.to_string();
            format!("{}e{}", digits.chars().next().unwrap_or('0'), digits.len() - 1)
        }
    }
}

/// Formats a number of views in at most six cells: `9,999`, `13.4k`, `204k`, `1.2m`. Thousands and millions below 100
/// have one decimal.
pub(in crate::tui) fn short_number_with_decimal(count: DecimalCount) -> String {
    let n = count.rounded();
    match n {
        10_000..99_950 => format!("{}.{}k", (n + 50) / 1000, (n + 50) % 1000 / 100),
        99_950..999_500 => format!("{}k", (n + 500) / 1000),
        999_500..99_950_000 => format!("{}.{}m", (n + 50_000) / 1_000_000, (n + 50_000) % 1_000_000 / 100_000),
        _ => short_number(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::views::Count;
    use crate::tui::draw::theme::ColorDepth;
    use crate::tui::views::table::ComparisonBaseline;

    fn bar(human: i64, ai: i64, full: f64, width: usize) -> String {
        let counts = Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai));
        stacked_bar(&counts, full, width, &Theme::new(ColorDepth::TrueColor))
            .iter()
            .map(|span| span.content.as_ref())
            .collect()
    }

    #[test]
    fn a_bar_is_as_long_as_its_share_of_the_scale() {
        assert_eq!(bar(50, 50, 100.0, 10), "█████▒▒▒▒▒");
        assert_eq!(bar(20, 20, 100.0, 10), "██▒▒");
        assert_eq!(bar(0, 0, 100.0, 10), "");
    }

    #[test]
    fn a_bar_ends_in_an_eighth_of_a_cell() {
        assert_eq!(bar(33, 0, 80.0, 10), "████▏");
        assert_eq!(bar(33, 18, 80.0, 10), "████▏▒▍", "the cell of both ends with AI views");
        assert_eq!(bar(33, 2, 80.0, 10), "████▍", "the last cell has space for one of them: AI views");
        assert_eq!(bar(2, 3, 80.0, 10), "▋", "less than a cell: the larger one");
        assert_eq!(bar(0, 3, 80.0, 10), "▍");
    }

    #[test]
    fn a_bar_is_divided_in_the_proportion_of_human_and_ai_views() {
        let bar = |human: u64, ai: u64, value: u64| -> String {
            let theme = Theme::new(ColorDepth::TrueColor);
            let spans = divided_bar((human.into(), ai.into()), value.into(), 100.into(), 10, &theme);
            spans.iter().map(|span| span.content.as_ref()).collect()
        };
        assert_eq!(bar(50, 50, 100), "█████▒▒▒▒▒");
        assert_eq!(bar(90, 30, 80), "██████▒▒", "30 views in the other direction");
        assert_eq!(bar(0, 0, 40), "████");
    }

    #[test]
    fn the_cell_between_human_and_ai_views_has_both_colours() {
        let counts = Counts::new(Count::Known(33), Count::Known(18), Count::Known(51));
        let theme = Theme::new(ColorDepth::TrueColor);
        let spans = stacked_bar(&counts, 80.0, 10, &theme);
        let shared = spans.iter().find(|span| span.content == "▏").expect("a shared cell");
        assert_eq!((shared.style.fg, shared.style.bg), (theme.human.fg, theme.ai_partial_fill().fg));
    }

    #[test]
    fn without_the_colours_of_the_texture_human_views_end_at_a_whole_cell() {
        let shown = |human, ai| {
            let counts = Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai));
            let spans = stacked_bar(&counts, 80.0, 10, &Theme::new(ColorDepth::None));
            spans.iter().map(|span| span.content.as_ref()).collect::<String>()
        };
        assert_eq!([shown(33, 18), shown(33, 0), shown(1, 2)], ["████▒▒▍", "████▏", "▍"]);
        assert_eq!(shown(33, 19), "████▒▒▌", "a larger total is a longer bar");
    }

    #[test]
    fn without_eighths_a_bar_consists_of_whole_cells() {
        let counts = Counts::new(Count::Known(33), Count::Known(18), Count::Known(51));
        let ascii = Theme { ascii: true, ..Theme::new(ColorDepth::None) };
        let console = Theme { has_eighth_blocks: false, ..Theme::new(ColorDepth::None) };
        for theme in [ascii, console] {
            let shown: String =
                stacked_bar(&counts, 80.0, 10, &theme).iter().map(|span| span.content.as_ref()).collect();
            assert_eq!(shown, "████▒▒");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_nearest_number_of_cells_is_used(part in 0.0..1.2_f64, cells in 0_usize..200, width in 0_usize..200) {
            let exact = as_f64(cells as u64) / as_f64(width.max(1) as u64);
            for part in [part, exact, exact + 0.5 / as_f64(width.max(1) as u64)] {
                let off = |n: usize| (as_f64(n as u64) / as_f64(width as u64) - part.min(1.0)).abs();
                let shown = cells_of_fraction(part, width);
                if part <= 0.0 || width == 0 {
                    proptest::prop_assert_eq!(shown, 0);
                } else {
                    let nearest = (1..=width).map(off).fold(f64::INFINITY, f64::min);
                    proptest::prop_assert!(shown >= 1 && off(shown) <= nearest + 1e-9, "{}", shown);
                }
            }
        }
    }

    #[test]
    fn a_value_above_zero_gets_at_least_an_eighth_of_a_cell() {
        assert_eq!(bar(1, 0, 1_000_000.0, 10), "▏");
        assert_eq!(bar(0, 1, 1_000_000.0, 10), "▏");
        assert_eq!(bar(1_000_000, 1, 1_000_001.0, 10), "█████████▉");
    }

    #[test]
    fn the_scale_fills_its_width() {
        let linear = |width| scale_line(BarScale::Linear(13_430.into()), width);
        assert_eq!(linear(14), "0 ───── 13,430");
        assert_eq!([6, 5].map(linear), ["13,430", "  13k"]);
        assert_eq!(scale_line(BarScale::Linear(14_000.into()), 10), "0 ──── 14k");
        assert_eq!(scale_line(BarScale::Log(13_430.into()), 8), " log 13k");
        let numbers = [9_999, 10_600, 1_204_000_000, u64::MAX].map(|n| short_number(n.into()));
        assert_eq!(numbers, ["9,999", "11k", "1,204m", "1e19"], "rounded, not cut");
        assert_eq!(short_number(DecimalCount::parse("12.5").expect("a number")), "12.5");
        assert_eq!(scale_line(BarScale::Log(99.into()), 12), "log 1 ─── 99");
        assert_eq!(scale_line(BarScale::Share, 10), "0 ─── 100%");
    }

    #[test]
    fn a_number_is_shortened_only_if_that_is_exact() {
        let shown = [9_000, 14_000, 14_100, 999_000, 1_000_000, 1_400_000, 1_450_000, 14_000_000];
        let shown = shown.map(|n: u64| short_number_if_exact(n.into()));
        assert_eq!(shown, ["9,000", "14k", "14,100", "999k", "1m", "1.4m", "1,450k", "14m"]);
    }

    #[test]
    fn a_compact_number_has_one_decimal_and_at_most_six_cells() {
        let shown = [7, 9_999, 13_430, 99_949, 99_950, 204_499, 1_249_999, 99_949_999, 1_204_000_000];
        let shown = shown.map(|n: u64| short_number_with_decimal(n.into()));
        assert_eq!(shown, ["7", "9,999", "13.4k", "99.9k", "100k", "204k", "1.2m", "99.9m", "1,204m"]);
    }

    fn plain(human: i64, ai: i64, metric: Metric, scale: BarScale) -> String {
        let counts = Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai));
        let figures = PageMetrics::of(&counts, ComparisonBaseline::Uncompared);
        bar_spans(&figures, metric, scale, 10, &Theme::new(ColorDepth::TrueColor))
            .iter()
            .map(|span| span.content.as_ref())
            .collect()
    }

    #[test]
    fn each_metric_has_its_own_symbol_and_a_log_scale_is_never_stacked() {
        assert_eq!(plain(5, 5, Metric::Human, BarScale::Linear(10.into())), "█████");
        assert_eq!(plain(5, 5, Metric::Ai, BarScale::Linear(10.into())), "▒▒▒▒▒");
        assert_eq!(plain(50, 50, Metric::Total, BarScale::Log(10_000.into())), "■■■■■");
        assert_eq!(plain(60, 40, Metric::Share, BarScale::Share), "▒▒▒▒");
    }

    #[test]
    fn the_bar_of_a_fraction_grows_in_eighths_and_shows_every_fraction_above_zero() {
        let bar = |part, width| -> String {
            let theme = Theme::new(ColorDepth::None);
            fraction_bar(part, width, theme.text, &theme).iter().map(|span| span.content.as_ref()).collect()
        };
        assert_eq!(
            [bar(0.0, 10), bar(0.0001, 10), bar(0.5, 4), bar(0.53, 4), bar(2.0, 3)],
            ["", "▏", "██", "██▏", "███"]
        );
    }

    #[test]
    fn on_a_log_scale_one_view_has_a_bar_and_zero_has_none() {
        assert_eq!(plain(1, 0, Metric::Human, BarScale::Log(10_000.into())), "▏");
        assert_eq!(plain(0, 1, Metric::Human, BarScale::Log(10_000.into())), "");
    }

    #[test]
    fn a_removed_page_has_no_bar() {
        let previous = Counts::new(Count::Known(9), Count::Known(9), Count::Known(18));
        let figures = PageMetrics::of(&previous, ComparisonBaseline::Gone(&previous));
        assert!(
            bar_spans(&figures, Metric::Total, BarScale::Linear(18.into()), 10, &Theme::new(ColorDepth::None))
                .is_empty()
        );
    }
}
