//! The line with the days of the range, and beside them the names of the presets that one key cycles through: all of
//! them if they fit, otherwise those around the current one. Shared by drawing and mouse input, so that they agree.

use super::super::App;
use crate::model::Time;
use crate::model::period::{DateRange, Preset};
use chrono::NaiveDate;
use unicode_width::UnicodeWidthStr as _;

/// The choice behind a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresetChoice {
    Preset(Preset),
    /// A custom range.
    Custom,
    /// The next preset, whichever it is.
    Next,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeName {
    /// Its first column.
    pub at: usize,
    pub text: String,
    /// Whether it is the current range.
    pub is_current: bool,
    pub choice: PresetChoice,
}

/// Blanks before the names.
const GAP: usize = 3;
/// If fewer names than this fit, only the current one is shown.
const FEWEST: usize = 5;

/// The range as text: both days included, UTC, and whether it includes today.
pub fn format_range(range: DateRange, now: Time, width: usize) -> String {
    let days = match range.days() {
        1 => "1 day".to_owned(),
        n => format!("{n} days"),
    };
    let has_today = range.contains(now.date_naive());
    let full = format!("{range}, {days} UTC{}", if has_today { ", today partial" } else { "" });
    if full.width() < width { full } else { format!("{range} UTC{}", if has_today { ", partial" } else { "" }) }
}

impl App {
    /// The names that fit in `width` columns after the first `used` ones.
    fn names_after(&self, used: usize, width: usize, today: NaiveDate) -> Vec<RangeName> {
        let current = self.views.preset_on(today);
        // A week, month or quarter that is no preset shows its own name instead of `custom`.
        let own = self.views.range_name(today).unwrap_or_else(|| "custom".to_owned());
        let presets = Preset::ALL.map(|preset| (preset.name(), current == Some(preset), PresetChoice::Preset(preset)));
        let last = if current.is_some() { "custom" } else { own.as_str() };
        let all = presets.into_iter().chain([(last, current.is_none(), PresetChoice::Custom)]);
        let all: Vec<(String, bool, PresetChoice)> = all
            .map(|(name, on, choice)| (if on { format!("[{name}]") } else { name.to_owned() }, on, choice))
            .collect();
        let width_left = width.saturating_sub(used);
        let names = adjacent_names(&all, width_left);
        if names.len() >= FEWEST {
            // Two blanks before each name, since some names have two words; a third one before the first.
            let mut end = used + 1;
            let place = |(text, on, choice): (String, bool, PresetChoice)| {
                let at = end + 2;
                end = at + text.width();
                RangeName { at, text, is_current: on, choice }
            };
            names.into_iter().map(place).collect()
        } else if width_left > own.width() + 4 + GAP {
            vec![RangeName {
                at: used + GAP, text: format!("‹ {own} ›"), is_current: true, choice: PresetChoice::Next
            }]
        } else {
            Vec::new()
        }
    }

    /// The text of the range, after a blank, and the names beside it, in `width` columns.
    pub fn range_line(&self, width: usize, now: Time) -> (String, Vec<RangeName>) {
        let text = format!(" {}", format_range(self.views.query().range, now, width));
        let names = self.names_after(text.width(), width, now.date_naive());
        (text, names)
    }

    /// The choice at a column of that line.
    pub(in crate::app) fn range_choice_at(&self, cell: usize, width: usize, now: Time) -> Option<PresetChoice> {
        let names = self.range_line(width, now).1;
        let hit = |name: &&RangeName| (name.at..name.at + name.text.width()).contains(&cell);
        names.iter().find(hit).map(|name| name.choice)
    }
}

/// As many adjacent names as fit, including the current one; a sign at an end shows that there are more.
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
    // The most names; of equally many, those that come first.
    let mut most = Vec::new();
    for names in windows.map(|(start, end)| cut(start, end)).filter(|names| fits(names)) {
        if names.len() > most.len() {
            most = names;
        }
    }
    most
}
