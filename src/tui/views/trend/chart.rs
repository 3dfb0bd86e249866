//! Draws a chart of human and AI views per day, or per week: columns, whose heights are in eighths of a cell, on a grid
//! of round numbers. The trend dialog, the page details and the page views screen share the chart.
//!
//! ```text
//!  40k ┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
//!      │▇▇▇▇▇▇░                  `░` the previous period
//!  20k ┤██████░┈┈┈▅▅▅▅▅▅┈┈┈┈┈┈┈┈
//!      │██████░   ██████   ╱╱╱╱╱╱   today so far
//!    0 ┴▀▀▀▀▀▀───▀▀▀▀▀▀─────▲───   the selected bar; a weekend is underlined
//!       Fri 20    Sat 21   Sun 22
//! ```

use super::super::range_totals::{MIN_DAYS_FOR_WEEKLY_BARS, RangeTotals, TrendBar, bar_height};
use crate::model::Time;
use crate::model::period::DateRange;
use crate::model::views::{Count, DecimalCount, as_f64};
use crate::tui::draw::Theme;
use crate::tui::draw::bars::{self, short_number_if_exact};
use crate::tui::draw::text::{TextRow, align_right};
use crate::tui::format::display_width;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

/// Maximum width of a slot: a bar and the gap to its right.
const MAX_SLOT_WIDTH: usize = 24;
/// The maximum number of lines of the grid.
const MAX_GRID_LINES: usize = 8;
/// Minimum width of a slot whose gap has space for the bar of the previous period.
const MIN_SLOT_WIDTH_WITH_PREVIOUS: usize = 6;
/// Minimum width of the labels of the grid.
const MIN_LABEL_WIDTH: usize = 4;
/// Minimum distance between the beginnings of two labels under the axis.
const MIN_LABEL_DISTANCE: usize = 7;
/// The end of the label of an incomplete bar, if it fits.
const SO_FAR_SUFFIX: &str = " so far";
/// The note below a chart in which each bar is a week.
const WEEKLY_NOTE: &str = "views per day, by week";
/// The number of rows below the chart: the axis and its labels.
pub(in crate::tui) const AXIS_ROWS: u16 = 2;

/// A bar of the chart, with its values.
#[derive(Debug)]
pub(in crate::tui) struct ChartBar {
    pub(in crate::tui) bar: TrendBar,
    /// Human views per day; `None` if they are unknown or invalid.
    human: Option<DecimalCount>,
    /// AI views per day; `None` if they are unknown or invalid.
    ai: Option<DecimalCount>,
    /// Human plus AI views on the same day of the previous period; `None` if they are unknown.
    pub(in crate::tui) previous: Option<DecimalCount>,
    /// Whether the views were counted before the day or week was over.
    pub(in crate::tui) is_incomplete: bool,
}

impl ChartBar {
    /// Creates a bar. The values of a week are means per day.
    pub(in crate::tui) fn new(bar: TrendBar, previous: Option<DecimalCount>, is_weekly: bool, now: Time) -> Self {
        let counts = bar.totals.as_ref().map(|known| &known.value);
        let as_of = bar.totals.as_ref().map_or(now, |known| known.as_of);
        let value =
            |count: &Count| count.value().map(|n| if is_weekly { mean_per_day(n, bar.range, as_of) } else { n });
        Self {
            human: counts.and_then(|counts| value(&counts.human)),
            ai: counts.and_then(|counts| value(&counts.ai)),
            previous,
            is_incomplete: bar.is_incomplete(now),
            bar,
        }
    }

    /// Whether the bar is loaded, but its numbers are not valid counts.
    pub(in crate::tui) fn is_invalid(&self) -> bool {
        self.bar.totals.is_some() && self.views().is_none()
    }

    fn views(&self) -> Option<DecimalCount> {
        self.human.zip(self.ai).map(|(human, ai)| human + ai)
    }
}

/// Converts a height that is measured from the axis to the height of a bar, in parts of a row. The axis and the lines
/// of the grid are in the middle of their rows, but a bar begins at the lower edge of the first row above the axis.
/// Without the conversion, the top of a bar would be above the line of the grid with the same number.
fn height_above_axis(parts: usize, per_row: usize) -> usize {
    if parts == 0 { 0 } else { parts.saturating_sub(per_row / 2).max(1) }
}

/// Returns the mean number of views per day. A day that was in progress when the views were loaded counts as the
/// fraction that had passed.
pub(in crate::tui) fn mean_per_day(views: DecimalCount, range: DateRange, as_of: Time) -> DecimalCount {
    views.scaled(86_400, u64::from(range.elapsed_seconds(as_of)).max(1))
}

/// How high a bar reaches above the axis.
#[derive(Debug, Clone, Copy)]
struct BarHeights {
    /// The number of parts of a cell. Only whole cells can be hatched, so an incomplete bar has one part per cell.
    parts_per_cell: usize,
    /// Human plus AI views, in parts of a cell; 0 if they are unknown.
    total: usize,
    /// The human views, in parts.
    human: usize,
    /// The views of the previous period, in rows; 0 if they are unknown.
    previous: usize,
}

/// A horizontal line of the grid: the row that it is in, counted from 1 at the bottom, and its label.
#[derive(Debug)]
struct GridLine {
    level: usize,
    label: String,
}

/// The visible part of the chart.
#[derive(Debug)]
pub(in crate::tui) struct Chart {
    pub(in crate::tui) bars: Vec<ChartBar>,
    /// The indexes of the visible bars.
    visible_bars: std::ops::Range<usize>,
    /// The width of each bar with the gap to its right.
    slot_width: usize,
    /// Whether the chart is a line of braille with two bars per cell, because there are more bars than cells.
    is_line: bool,
    grid: Vec<GridLine>,
    /// The number of views at the top of the scale.
    views_at_top: DecimalCount,
    label_width: usize,
    rows: usize,
    /// The number of rows that the lines of the grid divide evenly. The other rows, at the top, stay blank.
    scaled_rows: usize,
    mean: Option<DecimalCount>,
    selected: Option<usize>,
    /// A note on how to load the missing bars. Shown if most of the bars are not loaded.
    unloaded_note: String,
}

impl Chart {
    /// Lays out the chart in `width` cells and `rows` rows, without the rows of the axis.
    pub(in crate::tui) fn new(bars: Vec<ChartBar>, (width, rows): (usize, usize), theme: &Theme) -> Self {
        let values = bars.iter().flat_map(|bar| [bar.views(), bar.previous]).flatten();
        let most = values.max();
        let (views_at_top, values) = most.map_or((DecimalCount::ONE, Vec::new()), |most| best_grid(most, rows));
        let scaled_rows = rows_divisible_by(values.len(), rows);
        let level = |value| bars::bar_cells(value, views_at_top.as_f64(), scaled_rows);
        let line = |value| GridLine { level: level(value), label: short_number_if_exact(value) };
        let grid: Vec<GridLine> = values.into_iter().map(line).collect();
        let label_width = grid.iter().map(|line| display_width(&line.label)).fold(MIN_LABEL_WIDTH, usize::max);
        let space = width.saturating_sub(label_width + 2).max(1);
        let slot_width = (space / bars.len().max(1)).clamp(1, MAX_SLOT_WIDTH);
        let is_line = bars.len() > space && theme.parts_per_cell() > 1;
        let visible = if is_line { space * 2 } else { space / slot_width }.min(bars.len());
        let visible_bars = 0..visible;
        Self {
            visible_bars,
            bars,
            slot_width,
            is_line,
            grid,
            views_at_top,
            label_width,
            rows,
            scaled_rows,
            mean: None,
            selected: None,
            unloaded_note: String::new(),
        }
    }

    /// Marks the selected bar, and scrolls to it by whole screens. The last screen is full, too: it may begin with bars
    /// of the previous screen.
    #[must_use]
    pub(in crate::tui) fn with_selected(mut self, selected: usize) -> Self {
        let visible = self.visible_bars.len().max(1);
        let start = (selected / visible * visible).min(self.bars.len().saturating_sub(visible));
        self.visible_bars = start..(start + visible).min(self.bars.len());
        self.selected = Some(selected);
        self
    }

    /// Adds a line at the mean.
    #[must_use]
    pub(in crate::tui) fn with_mean(mut self, mean: Option<DecimalCount>) -> Self {
        self.mean = mean;
        self
    }

    /// Adds the note on how to load the missing bars.
    #[must_use]
    pub(in crate::tui) fn with_unloaded_note(mut self, note: String) -> Self {
        self.unloaded_note = note;
        self
    }

    /// Returns the longest run of bars that are not loaded, if it contains most of the visible bars and has space for a
    /// note. One note is easier to read than many question marks.
    fn unloaded_bars(&self) -> Option<std::ops::Range<usize>> {
        let visible: Vec<(usize, bool)> =
            self.visible().map(|(place, bar)| (place, bar.bar.totals.is_none())).collect();
        let runs = visible.chunk_by(|(_, one), (_, next)| one == next).filter(|run| run.iter().all(|(_, none)| *none));
        let longest = runs.max_by_key(|run| run.len())?;
        let fits = longest.len() * self.slot_width > display_width(&self.unloaded_note) + 4;
        let (first, _) = longest.first()?;
        let is_most = fits && !self.unloaded_note.is_empty() && longest.len() * 2 > visible.len();
        is_most.then(|| *first..first + longest.len())
    }

    /// Whether the previous period is drawn beside the bars.
    pub(in crate::tui) fn shows_previous(&self) -> bool {
        !self.is_line
            && self.slot_width >= MIN_SLOT_WIDTH_WITH_PREVIOUS
            && self.bars.iter().any(|bar| bar.previous.is_some())
    }

    /// Whether weekends are marked on the axis.
    pub(in crate::tui) fn marks_weekends(&self) -> bool {
        !self.is_line && !self.is_weekly() && self.bars.iter().any(|bar| bar.bar.is_weekend())
    }

    fn is_weekly(&self) -> bool {
        self.bars.iter().any(|bar| bar.bar.range.days() > 1)
    }

    /// Whether the chart is a line of braille, which shows only the totals.
    pub(in crate::tui) fn is_line(&self) -> bool {
        self.is_line
    }

    /// Returns all lines of the chart: its rows, the axis and the labels under it.
    pub(in crate::tui) fn lines<'a>(&self, width: usize, theme: &Theme) -> Vec<Line<'a>> {
        let heights: Vec<BarHeights> = self.visible().map(|(_, bar)| self.heights(bar, theme)).collect();
        let rows = (1..=self.rows).rev().map(|level| self.row_line(level, width, &heights, theme));
        rows.chain([self.axis_line(width, theme), self.dates_line(width, theme)]).collect()
    }

    fn visible(&self) -> impl Iterator<Item = (usize, &ChartBar)> {
        self.bars.iter().enumerate().skip(self.visible_bars.start).take(self.visible_bars.len())
    }

    /// Returns the width of a bar without its gap.
    fn bar_width(&self) -> usize {
        match self.slot_width {
            1 => 1,
            slot_width if slot_width >= MIN_SLOT_WIDTH_WITH_PREVIOUS => slot_width * 2 / 3,
            slot_width => slot_width - 1,
        }
    }

    /// Returns the row `level`, where 1 is the row above the axis. `heights` are the heights of the visible bars.
    fn row_line<'a>(&self, level: usize, width: usize, heights: &[BarHeights], theme: &Theme) -> Line<'a> {
        let mut row = TextRow::new(width);
        let grid = self.grid.iter().find(|line| line.level == level);
        row.push(align_right(grid.map_or("", |line| &line.label), self.label_width), theme.muted);
        row.push(if grid.is_some() { " ┤" } else { " │" }, theme.border);
        let mean = self.mean.map(|mean| self.height_in_parts(mean, 1));
        let is_mean = mean == Some(level);
        let blank = match grid {
            _ if is_mean => ("━", theme.text),
            Some(_) => ("┈", theme.border),
            None => (" ", theme.text),
        };
        let (bar_width, gap) = (self.bar_width(), self.slot_width - self.bar_width());
        if self.is_line {
            self.push_braille(&mut row, level, blank, theme);
        } else {
            let unloaded = if level == 1 { self.unloaded_bars().unwrap_or_default() } else { 0..0 };
            for ((place, bar), heights) in self.visible().zip(heights) {
                if unloaded.contains(&place) {
                    if place == unloaded.start {
                        let width = unloaded.len() * self.slot_width - gap;
                        let note = format!(" {} ", self.unloaded_note);
                        row.push(format!("{note:·^width$}"), theme.muted).push_repeated(" ", gap, theme.text);
                    }
                    continue;
                }
                // The line of the mean has a gap at a bar with unknown views, which the mean doesn't include.
                let blank = if is_mean && bar.views().is_none() { (" ", theme.text) } else { blank };
                let (symbol, style) = match Self::bar_symbol(bar, heights, level, theme) {
                    // The line of the mean doesn't cross the bar of a day in progress: the mean doesn't include the
                    // day, and the line would hide the hatching of the bar.
                    Some((symbol, style)) if is_mean && !bar.is_incomplete && bar.views().is_some() => {
                        mean_style_over_bar(style, theme)
                            .map_or((symbol, style), |mean_style_over_bar| ("━", mean_style_over_bar))
                    }
                    Some(cell) => cell,
                    None => blank,
                };
                row.push_repeated(symbol, bar_width, style);
                let has_space = self.slot_width >= MIN_SLOT_WIDTH_WITH_PREVIOUS;
                let beside = usize::from(has_space && level <= heights.previous);
                row.push_repeated("░", beside, theme.muted).push_repeated(blank.0, gap - beside, blank.1);
            }
        }
        let rest = row.remaining_cells();
        row.push_repeated(blank.0, rest, blank.1);
        row.line()
    }

    fn heights(&self, bar: &ChartBar, theme: &Theme) -> BarHeights {
        let parts_per_cell = if bar.is_incomplete { 1 } else { theme.parts_per_cell() };
        let previous = bar.previous.map_or(0, |previous| self.whole_cells(previous));
        let Some((human, ai)) = bar.human.zip(bar.ai) else {
            return BarHeights { parts_per_cell, total: 0, human: 0, previous };
        };
        if parts_per_cell == 1 {
            let total = self.whole_cells(human + ai);
            return BarHeights {
                parts_per_cell,
                total,
                human: bars::human_part_count((human, ai), total, 1, theme),
                previous,
            };
        }
        let height_in_parts = self.height_in_parts(human + ai, parts_per_cell);
        let total = height_above_axis(height_in_parts, parts_per_cell);
        // If a cell can't show both human and AI views, the human views have to end between two cells.
        let human = match theme.can_show_human_and_ai_in_one_cell() {
            true => height_above_axis(
                bars::human_part_count((human, ai), height_in_parts, parts_per_cell, theme),
                parts_per_cell,
            ),
            false => bars::human_part_count((human, ai), total, parts_per_cell, theme),
        };
        BarHeights { parts_per_cell, total, human, previous }
    }

    /// Returns the symbol and the style of a bar at a level, counted from 1 at the bottom; `None` above the bar. Human
    /// views are at the bottom, AI views above them.
    fn bar_symbol(bar: &ChartBar, heights: &BarHeights, level: usize, theme: &Theme) -> Option<(&'static str, Style)> {
        let (Some(human), Some(ai)) = (bar.human, bar.ai) else {
            let sign = if bar.is_invalid() { "≠" } else { "?" };
            return (level == 1).then_some((sign, theme.muted));
        };
        let parts_per_cell = heights.parts_per_cell;
        let below = (level - 1) * parts_per_cell;
        let (filled, human_filled) = (
            heights.total.saturating_sub(below).min(parts_per_cell),
            heights.human.saturating_sub(below).min(parts_per_cell),
        );
        let (human_sign, ai_sign, ai_style) =
            if bar.is_incomplete { ("╱", "╲", theme.ai) } else { ("█", "▒", theme.ai_fill()) };
        Some(match (filled, human_filled) {
            (0, _) => return None,
            (_, all) if all == parts_per_cell => (human_sign, theme.human),
            (all, 0) if all == parts_per_cell => (ai_sign, ai_style),
            // A partial block would look like human views, so the whole cell is textured or blank.
            (filled, 0) if !theme.can_show_human_and_ai_in_one_cell() => {
                return (level == 1 || filled * 2 >= parts_per_cell).then_some((ai_sign, ai_style));
            }
            (filled, 0) => (eighths_at_bottom(filled), theme.ai_partial_fill()),
            (filled, human) if filled == human => (eighths_at_bottom(filled), theme.human),
            (all, human) if all == parts_per_cell => {
                (eighths_at_bottom(human), Style { bg: theme.ai_partial_fill().fg, ..theme.human })
            }
            // This cell would need three colours, for human views, AI views and the blank end, but a cell has only two.
            // It shows AI views, because they might otherwise not be visible at all.
            (filled, _) if level > 1 => (eighths_at_bottom(filled), theme.ai_partial_fill()),
            (filled, _) => (eighths_at_bottom(filled), if human >= ai { theme.human } else { theme.ai_partial_fill() }),
        })
    }

    /// Returns the height, in cells, of a bar that consists of whole cells: its height above the axis, rounded to whole
    /// cells. A bar that is not empty has at least one cell.
    fn whole_cells(&self, views: DecimalCount) -> usize {
        const PARTS: usize = 8;
        let above = height_above_axis(self.height_in_parts(views, PARTS), PARTS);
        if above == 0 { 0 } else { ((above + PARTS / 2) / PARTS).max(1) }
    }

    /// Returns the height of this number of views above the axis, in parts of a row.
    fn height_in_parts(&self, views: DecimalCount, per_row: usize) -> usize {
        bars::bar_cells(views, self.views_at_top.as_f64(), self.scaled_rows * per_row)
    }

    /// Draws one row of the line of totals, two bars per cell.
    fn push_braille(&self, row: &mut TextRow<'_>, level: usize, blank: (&str, Style), theme: &Theme) {
        let dots = |bar: &ChartBar| height_above_axis(self.height_in_parts(bar.views()?, 4), 4).checked_sub(1);
        let heights: Vec<Option<usize>> = self.visible().map(|(_, bar)| dots(bar)).collect();
        let below = (level - 1) * 4;
        // The bits of the dots from the bottom to the top, in the left and in the right half of a cell.
        let bits: [[u32; 4]; 2] = [[0x40, 0x04, 0x02, 0x01], [0x80, 0x20, 0x10, 0x08]];
        for (place, pair) in heights.chunks(2).enumerate() {
            let mut cell = 0x2800;
            for (half, height) in pair.iter().enumerate() {
                let Some(height) = *height else { continue };
                // The line connects each bar with the bar before.
                let before =
                    (place * 2 + half).checked_sub(1).and_then(|before| heights.get(before).copied().flatten());
                let before = before.unwrap_or(height);
                // The other half of the connection is drawn at the previous bar.
                let line = height.min(before.saturating_add(1))..=height.max(before.saturating_sub(1));
                for (dot, bit) in bits.get(half).into_iter().flatten().enumerate() {
                    cell |= if line.contains(&(below + dot)) { *bit } else { 0 };
                }
            }
            match char::from_u32(cell).filter(|_| cell != 0x2800) {
                Some(braille) => row.push(braille.to_string(), theme.text),
                None => row.push(blank.0, blank.1),
            };
        }
    }

    /// Returns the axis. The bars reach down to it, weekends are underlined, and an arrow marks the selected bar.
    fn axis_line<'a>(&self, width: usize, theme: &Theme) -> Line<'a> {
        let mut row = TextRow::new(width);
        let zero = if self.grid.is_empty() { "" } else { "0" };
        row.push(align_right(zero, self.label_width), theme.muted).push(" ┴", theme.border);
        let arrow = |place: usize| self.selected == Some(place);
        if self.is_line {
            let cells = self.visible().step_by(2);
            for (place, _) in cells {
                let is_selected = arrow(place) || arrow(place + 1);
                row.push(if is_selected { "▲" } else { "─" }, if is_selected { theme.mark } else { theme.border });
            }
        } else {
            let marks_weekends = self.marks_weekends();
            for (place, bar) in self.visible() {
                let (sign, style) = Self::bar_symbol_on_axis(bar, theme).unwrap_or(("─", theme.border));
                let (sign, style) = match marks_weekends && bar.bar.is_weekend() {
                    true => weekend_sign(sign, style, theme),
                    false => (sign, style),
                };
                let width = self.bar_width();
                let side = (width - 1) / 2;
                if arrow(place) {
                    row.push_repeated(sign, side, style).push("▲", theme.mark).push_repeated(
                        sign,
                        width - 1 - side,
                        style,
                    );
                } else {
                    row.push_repeated(sign, width, style);
                }
                row.push_repeated("─", self.slot_width - width, theme.border);
            }
        }
        let rest = row.remaining_cells();
        row.push_repeated("─", rest, theme.border);
        row.line()
    }

    /// Returns the symbol that continues a bar in the row of the axis. The line of the axis is in the middle of that
    /// row, so the symbol fills the upper half of a cell. `None` if the bar has no views or is hatched, or if the
    /// terminal can't fill half of a cell.
    fn bar_symbol_on_axis(bar: &ChartBar, theme: &Theme) -> Option<(&'static str, Style)> {
        bar.views().filter(|views| !bar.is_incomplete && !views.is_zero() && theme.parts_per_cell() > 1)?;
        let is_human = bar.human.is_some_and(|human| !human.is_zero());
        Some(("▀", if is_human { theme.human } else { theme.ai_partial_fill() }))
    }

    /// Returns the line with the dates under the axis, as many as fit. `…` at an end means that there are more bars on
    /// that side.
    fn dates_line<'a>(&self, width: usize, theme: &Theme) -> Line<'a> {
        let mut row = TextRow::new(width);
        let gutter = self.label_width + 2;
        row.push(align_right(if self.visible_bars.start > 0 { "…" } else { "" }, gutter), theme.muted);
        let per_cell = if self.is_line { 2 } else { 1 };
        let is_weekly = self.is_weekly();
        let each =
            (MIN_LABEL_DISTANCE * per_cell + if is_weekly { per_cell } else { 2 * per_cell }).div_ceil(self.slot_width);
        let end = if self.visible_bars.end < self.bars.len() { width.saturating_sub(2) } else { width };
        for (at, (_, bar)) in self.visible().enumerate().step_by(each.max(1)) {
            let from = bar.bar.range.from();
            let mut label = from.format(if is_weekly { "%-d %b" } else { "%a %-d" }).to_string();
            let start = gutter + at * self.slot_width / per_cell;
            let with_so_far = display_width(&label) + SO_FAR_SUFFIX.len();
            // The label of the last bar may be wider than its slot, because no other label follows.
            let fits = self.slot_width > with_so_far || at + 1 == self.visible_bars.len() && start + with_so_far <= end;
            if bar.is_incomplete && bar.bar.totals.is_some() && fits {
                label.push_str(SO_FAR_SUFFIX);
            }
            if start + display_width(&label) <= end {
                row.pad_to(start).push(label, theme.muted);
            }
        }
        if self.visible_bars.end < self.bars.len() {
            row.pad_to(width.saturating_sub(1)).push("…", theme.muted);
        } else if is_weekly && WEEKLY_NOTE.len() + 2 <= row.remaining_cells() {
            row.pad_to(width - WEEKLY_NOTE.len()).push(WEEKLY_NOTE, theme.muted);
        }
        row.line()
    }
}

/// Returns the bars of a range: one per day, or one per week if the range is long. `previous` is the period that each
/// day is compared with.
pub(in crate::tui) fn chart_bars(
    range: DateRange,
    bars: impl IntoIterator<Item = TrendBar>,
    previous: Option<DateRange>,
    totals: &RangeTotals,
    now: Time,
) -> Vec<ChartBar> {
    let is_weekly = range.days() >= MIN_DAYS_FOR_WEEKLY_BARS;
    let of_previous = |day: DateRange| {
        let previous = previous.filter(|_| !is_weekly)?;
        let same_day = previous.from().checked_add_signed(day.from() - range.from())?;
        let same_day = Some(same_day).filter(|day| *day <= previous.to())?;
        bar_height(&totals.get(DateRange::day(same_day))?.value)
    };
    bars.into_iter().map(|bar| ChartBar::new(bar.clone(), of_previous(bar.range), is_weekly, now)).collect()
}

/// Returns the style of the line of the mean where it crosses a bar: the colour of the bar is its background. Returns
/// `None` without colours, because the line would look like a hole in the bar.
fn mean_style_over_bar(bar: Style, theme: &Theme) -> Option<Style> {
    // Behind the line, a textured cell gets the average tone of its texture.
    let bg: Option<Color> = if bar.bg.is_some() { theme.ai_partial_fill().fg } else { bar.fg };
    bg.map(|_| Style { bg, ..theme.text })
}

/// Returns the sign and the style of the axis under a weekend: the underlined `sign`, or `═` if the terminal can't draw
/// eighth blocks.
pub(in crate::tui) fn weekend_sign<'a>(sign: &'a str, style: Style, theme: &Theme) -> (&'a str, Style) {
    match theme.parts_per_cell() {
        1 => ("═", style),
        _ => (sign, style.add_modifier(Modifier::UNDERLINED)),
    }
}

/// Returns a cell of which this many eighths are filled from the bottom.
fn eighths_at_bottom(n: usize) -> &'static str {
    ["", "▁", "▂", "▃", "▄", "▅", "▆", "▇"].get(n).copied().unwrap_or("█")
}

/// Returns the largest multiple of `lines` that is at most `rows`, so that the lines are in evenly spaced rows.
fn rows_divisible_by(lines: usize, rows: usize) -> usize {
    (rows - rows % lines.max(1)).max(1)
}

/// Returns the number of views at the top of the scale, and the numbers of views at the lines of the grid. Of all grids
/// with round numbers and enough lines to read a height, chooses the grid with the highest bars. Bars are lower if a
/// grid doesn't divide the rows evenly, because the remaining rows stay blank.
fn best_grid(most: DecimalCount, rows: usize) -> (DecimalCount, Vec<DecimalCount>) {
    let enough_lines = (rows / 4).clamp(1, 3);
    let grid = |lines| {
        let step = grid_step(most, lines);
        let top = rounded_up_to(most, step);
        let values = (1..=MAX_GRID_LINES as u64).map(|n| DecimalCount::from(step.saturating_mul(n)));
        let values: Vec<DecimalCount> = values.filter(|value| !value.is_zero() && *value <= top).collect();
        let height = most.ratio_to(top) * as_f64(rows_divisible_by(values.len(), rows) as u64);
        (height, top, values)
    };
    // A high chart has space for more lines, so that its scale needn't end far above its highest bar.
    let most_lines = (rows / 2).clamp(1, 5).max(rows / 4).min(MAX_GRID_LINES);
    let grids = (1..=most_lines).map(grid);
    // Of several grids with the same height, `max_by` returns the last one, which has the most lines.
    let lines = |values: &Vec<DecimalCount>| values.len().min(enough_lines);
    let best = grids.max_by(|(one, _, of_one), (other, _, of_other)| {
        lines(of_one).cmp(&lines(of_other)).then_with(|| one.total_cmp(other))
    });
    best.map_or((DecimalCount::ONE, Vec::new()), |(_, top, values)| (top, values))
}

/// Returns the distance between two neighbouring lines of the grid, in views: the smallest round number for which
/// `lines` lines reach `most` views or more.
fn grid_step(most: DecimalCount, lines: usize) -> u64 {
    let lines = u64::try_from(lines).unwrap_or(1);
    let steps = (0..=18_u32).flat_map(|exponent| {
        let unit = 10_u64.pow(exponent);
        [Some(unit), Some(unit * 2), unit.is_multiple_of(10).then_some(unit / 10 * 25), Some(unit * 5)]
    });
    let reaches = |step: &u64| DecimalCount::from(step.saturating_mul(lines)) >= most;
    steps.flatten().find(reaches).unwrap_or(u64::MAX)
}

/// Returns the smallest multiple of `step` that is not below `views`.
fn rounded_up_to(views: DecimalCount, step: u64) -> DecimalCount {
    let multiples = (1..=MAX_GRID_LINES as u64).map(|n| DecimalCount::from(step.saturating_mul(n)));
    multiples.into_iter().find(|end| *end >= views).unwrap_or(views.max(DecimalCount::ONE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::load::Timed;
    use crate::model::views::Counts;
    use crate::tui::draw::ColorDepth;
    use chrono::{Days, NaiveDate};

    fn bars(values: &[(i64, i64)], previous: Option<u64>) -> Vec<ChartBar> {
        let first: NaiveDate = "2026-11-16".parse().expect("a Monday");
        let as_of: Time = "2027-01-01T00:00:00Z".parse().expect("a time");
        let bar = |(n, (human, ai)): (usize, &(i64, i64))| {
            let day = first + Days::new(u64::try_from(n).expect("few"));
            let value = Counts::new(Count::Known(*human), Count::Known(*ai), Count::Known(human + ai));
            let totals = (*human >= 0).then_some(Timed { value, as_of });
            let bar = TrendBar { range: DateRange::day(day), totals };
            ChartBar::new(bar, previous.map(DecimalCount::from), false, as_of)
        };
        values.iter().enumerate().map(bar).collect()
    }

    fn shown(chart: &Chart, width: usize) -> Vec<String> {
        let text = |line: Line<'_>| line.spans.iter().map(|span| span.content.as_ref()).collect::<String>();
        let lines = chart.lines(width, &Theme::new(ColorDepth::TrueColor)).into_iter().map(text);
        lines.map(|line| line.trim_end().to_owned()).collect()
    }

    #[test]
    fn columns_end_in_eighths_and_the_grid_has_round_numbers() {
        let theme = Theme::new(ColorDepth::TrueColor);
        let chart = Chart::new(bars(&[(900, 350), (400, 0), (-1, 0)], None), (24, 4), &theme);
        assert_eq!(
            shown(&chart, 24),
            [
                "2,000 ┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈",
                "      │",
                "1,000 ┤▂▂▂▂┈┈┈┈┈┈┈┈┈┈┈┈┈",
                "      │████ ▂▂▂▂ ????",
                "    0 ┴▀▀▀▀─▀▀▀▀────────",
                "       Mon 16    Wed 18",
            ]
        );
    }

    #[test]
    fn the_mean_crosses_bars_and_leaves_out_unknown_days() {
        let theme = Theme::new(ColorDepth::TrueColor);
        let chart = Chart::new(bars(&[(800, 0), (-1, 0), (200, 0)], None), (18, 2), &theme);
        let chart = chart.with_mean(Some(500.into()));
        let line = chart.lines(18, &theme).swap_remove(1);
        let styles: Vec<(&str, Option<Color>)> =
            line.spans.iter().skip(2).map(|span| (span.content.as_ref(), span.style.bg)).collect();
        assert_eq!(styles[0], ("━━", theme.human.fg), "the mean keeps the colour that it crosses");
        assert!(styles.iter().any(|(text, _)| *text == "??"), "{styles:?}");
        let plain = Theme::new(ColorDepth::None);
        let line = chart.lines(18, &plain).swap_remove(1).to_string();
        assert!(line.contains("│██"), "without colours, the line would be a hole: {line}");
    }

    #[test]
    fn the_previous_period_is_beside_each_column_whose_top_is_on_the_line_of_its_number() {
        let theme = Theme::new(ColorDepth::None);
        let chart = Chart::new(bars(&[(400, 0), (200, 0)], Some(200)), (22, 4), &theme);
        assert!(chart.shows_previous());
        assert_eq!(shown(&chart, 22)[2..4], [" 200 ┤█████░┈┈▄▄▄▄▄░┈┈", "     │█████░  █████░"]);
    }

    #[test]
    fn bars_of_whole_cells_end_nearest_to_their_number() {
        let theme = Theme::new(ColorDepth::None);
        // Four rows of 100 views each, the lowest of which begins half a row above the axis.
        for (views, rows) in [(0, 0), (10, 1), (190, 1), (200, 2), (270, 2), (310, 3)] {
            let mut values = bars(&[(400, 0), (i64::try_from(views).expect("few"), 0)], Some(views));
            values[1].is_incomplete = true;
            let lines = shown(&Chart::new(values, (22, 4), &theme), 22);
            let count = |sign: char| lines.iter().filter(|line| line.contains(sign)).count();
            assert_eq!((count('╱'), count('░')), (rows, rows), "{views} views: {lines:?}");
        }
    }

    #[test]
    fn more_bars_than_cells_become_a_line_of_two_bars_per_cell() {
        let values: Vec<(i64, i64)> = (0..40).map(|n| (100 + n, 0)).collect();
        let theme = Theme::new(ColorDepth::None);
        let chart = Chart::new(bars(&values, None), (30, 4), &theme).with_selected(39);
        assert!(chart.is_line());
        let lines = shown(&chart, 30);
        assert!(lines.concat().contains(|c| ('\u{2801}'..='\u{28ff}').contains(&c)), "{lines:?}");
        assert!(lines.iter().any(|line| line.contains('▲')), "{lines:?}");
        let ascii = Theme { ascii: true, ..theme };
        assert!(!Chart::new(bars(&values, None), (30, 4), &ascii).is_line(), "ASCII has no dots: it scrolls");
    }

    #[test]
    fn a_high_chart_has_several_lines() {
        let lines = |most: u64, rows| best_grid(most.into(), rows).1.len();
        assert_eq!([lines(2_500, 2), lines(2_500, 9), lines(2_500, 16), lines(1, 16)], [1, 3, 5, 1]);
        let top = |rows| best_grid(31_500.into(), rows).0;
        assert_eq!([top(8), top(29)], [40_000.into(), 35_000.into()]);
    }

    #[test]
    fn the_steps_of_the_grid_are_round() {
        let step = |most: u64| grid_step(most.into(), 5);
        assert_eq!([0, 1, 5, 6, 37_000, 12_000, 21_000].map(step), [1, 1, 1, 2, 10_000, 2_500, 5_000]);
        assert_eq!(grid_step(37_000.into(), 2), 20_000);
        assert_eq!(grid_step(u64::MAX.into(), 5), 5_000_000_000_000_000_000);
    }
}
