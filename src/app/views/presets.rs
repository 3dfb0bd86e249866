//! The line of the range: its days, and beside them the names of the ranges that one key goes through: all of them if they
//! fit, otherwise those around the current one. Drawing and the mouse both ask here, so that they agree.

use super::super::App;
use crate::model::Time;
use crate::model::period::{DateRange, Preset};
use chrono::NaiveDate;
use unicode_width::UnicodeWidthStr as _;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresetChoice {
    Preset(Preset),
    /// A range of one's own.
    Own,
    /// The next one, whichever it is.
    Next,
}

/// A name beside the range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeName {
    /// Its first cell.
    pub at: usize,
    pub text: String,
    /// Whether it is the range that is shown.
    pub on: bool,
    pub choice: PresetChoice,
}

/// The blanks before the names.
const GAP: usize = 3;
/// Fewer names beside each other than this mean little: then the current one stands alone.
const FEWEST: usize = 5;

/// The range as people say it: both days included, UTC, and whether today is in it.
pub fn describe(range: DateRange, now: Time, width: usize) -> String {
    let days = match range.days() {
        1 => "1 day".to_owned(),
        n => format!("{n} days"),
    };
    let holds_today = range.contains(now.date_naive());
    let whole = format!("{range}, {days} UTC{}", if holds_today { ", today partial" } else { "" });
    if whole.width() < width { whole } else { format!("{range} UTC{}", if holds_today { ", partial" } else { "" }) }
}

impl App {
    /// The names that fit behind the first `used` of so many cells.
    fn names_from(&self, used: usize, width: usize, today: NaiveDate) -> Vec<RangeName> {
        let current = self.views.preset_on(today);
        // A week, month or quarter that is no preset has a name of its own, in the place of `custom`.
        let own = self.views.range_name(today).unwrap_or_else(|| "custom".to_owned());
        let presets = Preset::ALL.map(|preset| (preset.name(), current == Some(preset), PresetChoice::Preset(preset)));
        let last = if current.is_some() { "custom" } else { own.as_str() };
        let all = presets.into_iter().chain([(last, current.is_none(), PresetChoice::Own)]);
        let all: Vec<(String, bool, PresetChoice)> = all
            .map(|(name, on, choice)| (if on { format!("[{name}]") } else { name.to_owned() }, on, choice))
            .collect();
        let room = width.saturating_sub(used);
        let names = window(&all, room);
        if names.len() >= FEWEST {
            // Two blanks before each name, since some are of two words; a third before the first.
            let mut end = used + 1;
            let place = |(text, on, choice): (String, bool, PresetChoice)| {
                let at = end + 2;
                end = at + text.width();
                RangeName { at, text, on, choice }
            };
            names.into_iter().map(place).collect()
        } else if room > own.width() + 4 + GAP {
            vec![RangeName { at: used + GAP, text: format!("‹ {own} ›"), on: true, choice: PresetChoice::Next }]
        } else {
            Vec::new()
        }
    }

    /// The range in words, behind a blank, and the names beside it, in so many cells.
    pub fn range_line(&self, width: usize, now: Time) -> (String, Vec<RangeName>) {
        let text = format!(" {}", describe(self.views.query().range, now, width));
        let names = self.names_from(text.width(), width, now.date_naive());
        (text, names)
    }

    /// What stands in a cell of that line.
    pub(in crate::app) fn range_choice_at(&self, cell: usize, width: usize, now: Time) -> Option<PresetChoice> {
        let names = self.range_line(width, now).1;
        let hit = |name: &&RangeName| (name.at..name.at + name.text.width()).contains(&cell);
        names.iter().find(hit).map(|name| name.choice)
    }
}

/// As many names as fit, in a row and with the current one among them; a sign at an end shows that there are more.
fn window(all: &[(String, bool, PresetChoice)], room: usize) -> Vec<(String, bool, PresetChoice)> {
    let current = all.iter().position(|(_, on, _)| *on).unwrap_or(0);
    let cut = |start: usize, end: usize| {
        let before = all.get(start.wrapping_sub(1)).map(|(.., choice)| ("‹".to_owned(), false, *choice));
        let after = all.get(end).map(|(.., choice)| ("›".to_owned(), false, *choice));
        let names = all.get(start..end).unwrap_or(&[]).iter().cloned();
        before.into_iter().chain(names).chain(after).collect::<Vec<_>>()
    };
    let fits =
        |names: &[(String, bool, PresetChoice)]| names.iter().map(|(text, ..)| text.width() + 2).sum::<usize>() < room;
    let windows = (0..=current).flat_map(|start| (current + 1..=all.len()).rev().map(move |end| (start, end)));
    // The most names; of as many, those that come first.
    let mut most = Vec::new();
    for names in windows.map(|(start, end)| cut(start, end)).filter(|names| fits(names)) {
        if names.len() > most.len() {
            most = names;
        }
    }
    most
}
