//! The names of the ranges that one key goes through, beside the range: all of them where there is room, else the one
//! that is shown, between the signs that say that there are others.

use crate::model::period::Preset;
use crate::ui::View;
use crate::ui::text::Row;
use unicode_width::UnicodeWidthStr;

/// The blanks before the names.
const GAP: &str = "   ";

/// Adds the names to the range's line.
pub(super) fn names(row: &mut Row<'_>, view: View<'_>) {
    let View { app, theme, .. } = view;
    let current = app.views.preset();
    // A month or a quarter that is no preset has a name of its own, in the place of `custom`.
    let own = app.views.range_name().unwrap_or_else(|| "custom".to_owned());
    let names = Preset::ALL.iter().map(|preset| (preset.name(), current == Some(*preset)));
    let last = if current.is_some() { ("custom", false) } else { (own.as_str(), true) };
    let all: Vec<(&str, bool)> = names.chain([last]).collect();
    let needed: usize = all.iter().map(|(name, on)| name.width() + if *on { 4 } else { 2 }).sum();
    // Two blanks before each name, since some are of two words; a third before the first.
    if row.room() > needed {
        row.push(" ", theme.text);
        for (name, on) in all {
            let (text, style) =
                if on { (format!("  [{name}]"), theme.mark) } else { (format!("  {name}"), theme.muted) };
            row.push(text, style);
        }
    } else if row.room() > own.width() + 4 + GAP.len() {
        row.push(GAP, theme.text).push("‹ ", theme.muted).push(own, theme.mark).push(" ›", theme.muted);
    }
}
