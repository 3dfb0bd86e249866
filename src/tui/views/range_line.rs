//! The layout of the range line: the dates of the range, then the names of the presets that one key cycles through. If
//! not all names fit, the names around the current preset are shown. Drawing and mouse input share the layout, so that
//! they agree.

use super::super::App;
use crate::model::Time;
use crate::model::period::{DateRange, Preset};
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

/// Blank columns between the dates and the first name.
const GAP: usize = 3;
/// If fewer names than this fit, only the name of the current range is shown.
const MIN_NAMES: usize = 5;

/// Formats a range: first and last day in UTC, number of days, and whether today is included. If that doesn't fit in
/// `width` columns, leaves out the number of days.
pub fn format_range(range: DateRange, now: Time, width: usize) -> String {
    let days = match range.days() {
        1 => "1 day".to_owned(),
        n => format!("{n} days"),
    };
    let has_today = range.contains(now.date_naive());
    let full = format!("{range}, {days} UTC{}", if has_today { ", today so far" } else { "" });
    if full.width() < width { full } else { format!("{range} UTC{}", if has_today { ", so far" } else { "" }) }
}

impl App {
    /// Returns the preset names that fit in a line of `width` columns after the first `used` columns.
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
        let width_left = width.saturating_sub(used);
        let names = adjacent_names(&all, width_left);
        if names.len() >= MIN_NAMES {
            // Two blanks separate the names, since some names contain a blank. Three blanks (`GAP`) come before the
            // first name.
            let mut end = used + 1;
            let place = |(text, on, choice): (String, bool, PresetChoice)| {
                let at = end + 2;
                end = at + text.width();
                RangeName { start_column: at, text, is_current: on, choice }
            };
            names.into_iter().map(place).collect()
        } else if width_left > range_name.width() + 4 + GAP {
            vec![RangeName {
                start_column: used + GAP,
                text: format!("‹ {range_name} ›"),
                is_current: true,
                choice: PresetChoice::Next,
            }]
        } else {
            Vec::new()
        }
    }

    /// Returns the dates of the range, indented by a blank, and the names that fit beside them in a line of `width`
    /// columns.
    pub fn range_line(&self, width: usize, now: Time) -> (String, Vec<RangeName>) {
        let text = format!(" {}", format_range(self.views.query().range, now, width));
        let names = self.names_that_fit(text.width(), width, now.date_naive());
        (text, names)
    }

    /// Returns what a click on column `cell` of the range line does; `None` if no name is there.
    pub(in crate::tui) fn range_choice_at(&self, cell: usize, width: usize, now: Time) -> Option<PresetChoice> {
        let names = self.range_line(width, now).1;
        let hit = |name: &&RangeName| (name.start_column..name.start_column + name.text.width()).contains(&cell);
        names.iter().find(hit).map(|name| name.choice)
    }
}

/// Returns as many adjacent names as fit, including the current one. `‹` or `›` at an end stands for the names that
/// don't fit.
fn adjacent_names(all: &[(String, bool, PresetChoice)], width: usize) -> Vec<(String, bool, PresetChoice)> {
    let current = all.iter().position(|(_, on, _)| *on).unwrap_or(0);
    let cut = |start: usize, end: usize| {
        let before = all.get(start.wrapping_sub(1)).map(|(.., choice)| ("‹".to_owned(), false, *choice));
        let after = all.get(end).map(|(.., choice)| ("›".to_owned(), false, *choice));
        let names = all.get(start..end).unwrap_or(&[]).iter().cloned();
        before.into_iter().chain(names).chain(after).collect::<Vec<_>>()
    };
    let fits =
        |names: &[(String, bool, PresetChoice)]| names.iter().map(|(text, ..)| text.width() + 2).sum::<usize>() < width;
    let windows = (0..=current).flat_map(|start| (current + 1..=all.len()).rev().map(move |end| (start, end)));
    // Of the runs of adjacent names that fit, takes the first of the longest ones.
    let mut most = Vec::new();
    for names in windows.map(|(start, end)| cut(start, end)).filter(|names| fits(names)) {
        if names.len() > most.len() {
            most = names;
        }
    }
    most
}
