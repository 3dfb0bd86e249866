//! The layout of the horizontal rule above the page views: the dates of the range, and the names of the presets that
//! one key cycles through. If the names don't all fit, only the common ones are shown, or only the name of the current
//! range. Drawing and mouse input share the layout, so that they agree.

use super::super::App;
use crate::model::Time;
use crate::model::period::{DateRange, Preset};
use crate::tui::format::plural;
use chrono::{Datelike as _, NaiveDate};
use unicode_width::UnicodeWidthStr as _;

/// What a click on a name in the range line does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeNameAction {
    Preset(Preset),
    /// Opens the calendar to choose a custom range.
    Custom,
    /// Switches to the preset after the current one.
    Next,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeName {
    /// The screen column in which the name starts, counted from the start of the line.
    pub start_column: usize,
    pub text: String,
    /// Whether this is the name of the range on screen.
    pub is_current: bool,
    pub choice: RangeNameAction,
}

/// The minimum number of columns at which the names of all presets are shown, not only the current one.
const MIN_COLUMNS_WITH_ALL_NAMES: usize = 100;

/// The number of cells between two names. With a single cell, two names would look like one name of two words.
pub(in crate::tui) const NAME_GAP: usize = 2;

/// Formats a range in at most `width` cells if possible: `20–26 Nov 2026 UTC, 7 days incl. today`. The shorter forms
/// leave out the current year and the number of days: `20–26 Nov UTC incl. today`, or `20 Nov – today UTC` if space is
/// short.
pub fn format_range(range: DateRange, now: Time, width: usize) -> String {
    let has_today = range.contains(now.date_naive());
    let (so_far, shortest_so_far) = match (has_today, range.days()) {
        (false, _) => ("", ""),
        (true, 1) => (", today so far", ", so far"),
        (true, _) => (" incl. today", ""),
    };
    let days = if range.days() == 1 { String::new() } else { format!(", {}", plural(range.days(), "day")) };
    let words = short_range(range, now);
    let shortest = if has_today && range.days() > 1 {
        format!("{} – today UTC", range.from().format("%-d %b"))
    } else {
        format!("{words} UTC{shortest_so_far}")
    };
    let forms = [format!("{} UTC{days}{so_far}", range.format_dates(true)), format!("{words} UTC{so_far}")];
    forms.into_iter().find(|form| form.width() <= width).unwrap_or(shortest)
}

/// Formats a range in words, with the year unless it is the current one: `20–26 Nov`, `28 Dec 2025 – 3 Jan 2026`.
pub(in crate::tui) fn short_range(range: DateRange, now: Time) -> String {
    range.format_dates(range.from().year() != now.year() || range.to().year() != now.year())
}

/// Returns the state of a range that was loaded before its last day was over and therefore has more views by now:
/// `ongoing` or, if its last day is over by now, `outdated`. Returns `None` for any other range.
pub(super) fn unfinished_state(range: DateRange, as_of: Time, now: Time) -> Option<&'static str> {
    let is_unfinished = |at: Time| at.date_naive() <= range.to();
    is_unfinished(as_of).then(|| if is_unfinished(now) { "ongoing" } else { "outdated" })
}

/// A name, whether it is the name of the range on screen, and what a click on it does.
type NameChoice = (String, bool, RangeNameAction);

/// Returns the number of cells that the names need at the right of a rule.
fn names_width(names: &[NameChoice]) -> usize {
    let texts: usize = names.iter().map(|(text, ..)| text.width()).sum();
    // A blank and a cell of the rule follow the last name.
    texts + NAME_GAP * names.len().saturating_sub(1) + 2
}

/// Returns the first list of names that fits at the right of a rule of `width` columns whose first `used` columns are
/// taken. Returns no names if none of the lists fits.
fn fitting_names(lists: Vec<Vec<NameChoice>>, used: usize, width: usize) -> Vec<RangeName> {
    for names in lists {
        let Some(mut column) = width.checked_sub(names_width(&names)).filter(|start| *start > used) else {
            continue;
        };
        let place = |(text, is_current, choice): NameChoice| {
            let start_column = column;
            column += text.width() + NAME_GAP;
            RangeName { start_column, text, is_current, choice }
        };
        return names.into_iter().map(place).collect();
    }
    Vec::new()
}

fn is_day_count(preset: Preset) -> bool {
    preset.name().ends_with('d')
}

impl App {
    /// Returns the lists of range names that could be shown in a horizontal line of `width` columns, the longest list
    /// first.
    fn range_name_lists(&self, width: usize, today: NaiveDate) -> Vec<Vec<NameChoice>> {
        let current = self.views.preset_if_current(today);
        // A week, month or quarter that is not a preset shows its own name instead of `custom`.
        let range_name = self.views.range_name(today).unwrap_or_else(|| "custom".to_owned());
        let bracketed = |name: &str, is_current| if is_current { format!("[{name}]") } else { name.to_owned() };
        let preset = |preset: Preset| {
            let is_current = current == Some(preset);
            (bracketed(preset.name(), is_current), is_current, RangeNameAction::Preset(preset))
        };
        let last = if current.is_some() { "custom" } else { range_name.as_str() };
        let custom = (bracketed(last, current.is_none()), current.is_none(), RangeNameAction::Custom);
        let all = Preset::ALL.into_iter().map(preset).chain([custom.clone()]).collect();
        let days = Preset::ALL.into_iter().filter(|preset| is_day_count(*preset) || current == Some(*preset));
        let few = days.map(preset).chain([custom]).collect();
        let only = vec![(format!("‹ {range_name} ›"), true, RangeNameAction::Next)];
        if width < MIN_COLUMNS_WITH_ALL_NAMES { vec![only] } else { vec![all, few, only] }
    }

    /// Returns what follows the tabs in the upper rule: the dates of the range, and at the right the names that fit
    /// beside them in a rule of `width` columns.
    pub fn range_line(&self, width: usize, now: Time) -> (String, Vec<RangeName>) {
        let tabs = self.analytics.tab.tab_names_width(u16::try_from(width).unwrap_or(u16::MAX));
        let today = now.date_naive();
        // The dates are shortened to leave space for the names of the common ranges or, on a narrow screen, for the
        // name of the current range. If the tabs take half of a narrow screen, no space is reserved for that name,
        // because even shorter dates would not show that the range includes today.
        let lists = self.range_name_lists(width, today);
        let own = lists.last().filter(|_| tabs < width / 2);
        let reserved = lists.iter().rev().nth(1).or(own).map_or(0, |names| names_width(names));
        let text = format_range(self.views.query().range, now, width.saturating_sub(tabs + 5 + reserved));
        let names = fitting_names(lists, tabs + text.width() + 4, width);
        (text, names)
    }

    /// Returns what a click on column `cell` of the range line does; `None` if no name is there.
    pub(in crate::tui) fn range_choice_at(&self, cell: usize, width: usize, now: Time) -> Option<RangeNameAction> {
        let names = self.range_line(width, now).1;
        let hit = |name: &&RangeName| (name.start_column..name.start_column + name.text.width()).contains(&cell);
        names.iter().find(hit).map(|name| name.choice)
    }
}
