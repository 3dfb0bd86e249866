//! The line of the range: which days, and beside it the names of the ranges that one key goes through; all of them where
//! there is room, else the one that is shown, between the signs that say that there are others. Drawing and the mouse both
//! ask here, so that they agree.

use super::super::App;
use crate::model::Time;
use crate::model::period::{DateRange, Preset};
use unicode_width::UnicodeWidthStr as _;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
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
    pub choice: Choice,
}

/// The blanks before the names.
const GAP: usize = 3;

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
    /// The names that have room behind the first `used` of so many cells.
    fn names_from(&self, used: usize, width: usize) -> Vec<RangeName> {
        let current = self.views.preset();
        // A month or a quarter that is no preset has a name of its own, in the place of `custom`.
        let own = self.views.range_name().unwrap_or_else(|| "custom".to_owned());
        let presets = Preset::ALL.map(|preset| (preset.name(), current == Some(preset), Choice::Preset(preset)));
        let last = if current.is_some() { "custom" } else { own.as_str() };
        let all = presets.into_iter().chain([(last, current.is_none(), Choice::Own)]);
        let all: Vec<(String, bool, Choice)> = all
            .map(|(name, on, choice)| (if on { format!("[{name}]") } else { name.to_owned() }, on, choice))
            .collect();
        let needed: usize = all.iter().map(|(text, ..)| text.width() + 2).sum();
        let room = width.saturating_sub(used);
        if room > needed {
            // Two blanks before each name, since some are of two words; a third before the first.
            let mut end = used + 1;
            let place = |(text, on, choice): (String, bool, Choice)| {
                let at = end + 2;
                end = at + text.width();
                RangeName { at, text, on, choice }
            };
            all.into_iter().map(place).collect()
        } else if room > own.width() + 4 + GAP {
            vec![RangeName { at: used + GAP, text: own, on: true, choice: Choice::Next }]
        } else {
            Vec::new()
        }
    }

    /// The range in words, behind a blank, and the names beside it, in so many cells.
    pub fn range_line(&self, width: usize, now: Time) -> (String, Vec<RangeName>) {
        let text = format!(" {}", describe(self.views.query().range, now, width));
        let names = self.names_from(text.width(), width);
        (text, names)
    }

    /// What stands in a cell of that line.
    pub(in crate::app) fn range_choice_at(&self, cell: usize, width: usize, now: Time) -> Option<Choice> {
        let names = self.range_line(width, now).1;
        let hit = |name: &&RangeName| {
            // The one that stands alone has a sign and a blank on either side.
            let signs = if name.choice == Choice::Next { 4 } else { 0 };
            (name.at..name.at + name.text.width() + signs).contains(&cell)
        };
        names.iter().find(hit).map(|name| name.choice)
    }
}
