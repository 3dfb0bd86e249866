//! The layout of the rule above the page views: the dates of the range, and the names of the presets that one key cycles
//! through. Without space for all names, only that of the current range is shown. Drawing and mouse input share the
//! layout, so that they agree.

use super::super::App;
use crate::model::Time;
use crate::model::period::{DateRange, Preset};
use crate::tui::format::plural;
use chrono::NaiveDate;
use unicode_width::UnicodeWidthStr as _;

/// What a click on a name in the range line does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresetChoice {
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
    pub choice: PresetChoice,
}

/// The minimum number of columns at which all names are shown rather than only that of the current range.
const MIN_COLUMNS_WITH_ALL_NAMES: usize = 100;

/// The number of cells behind each name. One would not tell names of two words apart.
const NAME_GAP: usize = 2;

/// Formats a range: first and last day in UTC, number of days, and whether today is included. If that doesn't fit in
/// `width` columns, leaves out the number of days.
pub fn format_range(range: DateRange, now: Time, width: usize) -> String {
    let days = plural(range.days(), "day");
    let has_today = range.contains(now.date_naive());
    if range.days() == 1 {
        return format!("{} UTC{}", range.from(), if has_today { ", so far" } else { "" });
    }
    let full = format!("{range}, {days} UTC{}", if has_today { ", today so far" } else { "" });
    if full.width() < width { full } else { format!("{range} UTC{}", if has_today { ", so far" } else { "" }) }
}

impl App {
    /// Returns the preset names that fit at the right of a rule of `width` columns whose first `used` columns are taken.
    fn names_that_fit(&self, used: usize, width: usize, today: NaiveDate) -> Vec<RangeName> {
        let current = self.views.preset_if_current(today);
        // A week, month or quarter that is not a preset shows its own name instead of `custom`.
        let range_name = self.views.range_name(today).unwrap_or_else(|| "custom".to_owned());
        let presets = Preset::ALL.map(|preset| (preset.name(), current == Some(preset), PresetChoice::Preset(preset)));
        let last = if current.is_some() { "custom" } else { range_name.as_str() };
        let all = presets.into_iter().chain([(last, current.is_none(), PresetChoice::Custom)]);
        let all: Vec<(String, bool, PresetChoice)> = all
            .map(|(name, on, choice)| (if on { format!("[{name}]") } else { name.to_owned() }, on, choice))
            .collect();
        let only = vec![(format!("‹ {range_name} ›"), true, PresetChoice::Next)];
        let candidates = if width < MIN_COLUMNS_WITH_ALL_NAMES { vec![only] } else { vec![all, only] };
        for names in candidates {
            let needed = names.iter().map(|(text, ..)| text.width() + NAME_GAP).sum::<usize>() + 1;
            let Some(mut column) = width.checked_sub(needed).filter(|start| *start > used) else { continue };
            let place = |(text, is_current, choice): (String, bool, PresetChoice)| {
                let start_column = column;
                column += text.width() + NAME_GAP;
                RangeName { start_column, text, is_current, choice }
            };
            return names.into_iter().map(place).collect();
        }
        Vec::new()
    }

    /// Returns the title of the rule above the page views: the dates of the range, and at its right the names that fit
    /// beside them in a rule of `width` columns.
    pub fn range_line(&self, width: usize, now: Time) -> (String, Vec<RangeName>) {
        let text = format_range(self.views.query().range, now, width.saturating_sub(4));
        let names = self.names_that_fit(text.width() + 3, width, now.date_naive());
        (text, names)
    }

    /// Returns what a click on column `cell` of the range line does; `None` if no name is there.
    pub(in crate::tui) fn range_choice_at(&self, cell: usize, width: usize, now: Time) -> Option<PresetChoice> {
        let names = self.range_line(width, now).1;
        let hit = |name: &&RangeName| (name.start_column..name.start_column + name.text.width()).contains(&cell);
        names.iter().find(hit).map(|name| name.choice)
    }
}
