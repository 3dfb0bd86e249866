//! From pages to a job about them: the editor that names them, and what a template's blanks say of them.

use super::super::editor::Editor;
use super::super::format;
use super::super::overlay::Overlay;
use super::super::picker::Picking;
use super::super::templates::Values;
use super::super::{App, Effect, Record, Tone};
use crate::model::Time;
use crate::model::period::DateRange;
use crate::model::prompt::DraftSlot;
use crate::model::report::Report;
use crate::model::text::CleanText;
use crate::model::views::{Counts, PageRow, as_f64};
use std::collections::{HashMap, HashSet};

/// Pages that a title or a notice names; more are counted.
const NAMED_MAX: usize = 3;

/// The pages in a few words: `/a`, `/a, /b and /c`, `12 pages`.
pub(in crate::app) fn named(pages: &[CleanText]) -> String {
    if pages.len() > NAMED_MAX { format::plural(pages.len(), "page") } else { listed(pages) }
}

/// All pages, as in a sentence.
fn listed(pages: &[CleanText]) -> String {
    match pages {
        [] => String::new(),
        [one] => one.to_string(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(CleanText::as_str).collect();
            format!("{} and {last}", first.join(", "))
        }
    }
}

/// The editor's title.
pub(in crate::app) fn about_title(pages: &[CleanText]) -> CleanText {
    CleanText::line(&match pages {
        [one] => format!("New job about {one}"),
        pages => format!("New job about {}", format::plural(pages.len(), "page")),
    })
}

/// The text that an editor about these pages begins with.
fn beginning(pages: &[CleanText]) -> String {
    let mut text = format!("{}: ", named(pages));
    if pages.len() > NAMED_MAX {
        text.push('\n');
        text.extend(pages.iter().map(|page| format!("\n- {page}")));
    }
    text
}

/// The order of templates for so many pages: those that are made for them first.
pub(in crate::app) fn for_pages(text: &str, pages: usize) -> u8 {
    let (of_one, of_several) = (text.contains("{{path}}"), text.contains("{{pages}}"));
    match (of_one, of_several) {
        (_, true) if pages > 1 => 0,
        (true, _) => 1,
        (_, true) => 2,
        (false, false) => 3,
    }
}

/// Takes another instance's draft into the editor; what is to be said of it. With `ours` the text holds both drafts.
pub(in crate::app) fn draft_about_read(editor: &mut Editor, text: &str, theirs: &[CleanText], ours: bool) -> String {
    let mut pages = theirs.to_vec();
    if ours {
        pages.extend(editor.pages.iter().filter(|page| !theirs.contains(page)).cloned());
    }
    let is_other = !ours && !same(&pages, &editor.pages);
    let mut with = Editor::new(DraftSlot::AboutPages, about_title(&pages), text);
    with.pages = pages;
    *editor = with;
    let here = format!("A draft about {} from another docdeck on this computer is here", named(theirs));
    if is_other { format!("{here}: send it or empty it, then n on this page.") } else { format!("{here}.") }
}

fn same(one: &[CleanText], other: &[CleanText]) -> bool {
    let of = |pages: &[CleanText]| pages.iter().cloned().collect::<HashSet<_>>();
    of(one) == of(other)
}

impl App {
    /// The key that opens the editor for a job about the chosen pages. A draft about other pages that is kept comes back
    /// instead: there is one.
    pub(in crate::app) fn open_job_about_pages(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let pages: Vec<CleanText> = match self.overlays.last() {
            Some(Overlay::Card(card)) => vec![card.path.clone()],
            _ => self.views.table.chosen().into_iter().map(|row| row.path.clone()).collect(),
        };
        if self.record != Record::Read {
            self.say(Tone::Info, "The record is still being read; try again in a moment.", now);
            return;
        }
        if pages.is_empty() {
            self.say(Tone::Info, "A job about which page? Select one with j and k, or mark several with v.", now);
            return;
        }
        let slot = DraftSlot::AboutPages;
        let is_kept = self.draft(slot).is_some_and(|text| !text.trim().is_empty());
        let is_other = is_kept && !same(&self.draft_pages, &pages);
        let title = about_title(if is_kept { &self.draft_pages } else { &pages });
        let layers = self.overlays.len();
        self.open_editor(slot, title, now);
        let Some(Overlay::Editor(editor)) = self.overlays.get_mut(layers) else { return };
        if is_other {
            let whose = named(&self.draft_pages);
            let text = format!("Your draft about {whose} is back: send it or empty it, then n on this page.");
            self.say(Tone::Info, &text, now);
        } else if !is_kept {
            editor.begin_with(beginning(&pages));
            editor.pages = pages;
            self.open_picker(Picking::Templates, effects);
        }
    }

    /// The range whose rows are listed; none when nothing is.
    pub(in crate::app) fn listed_range(&self) -> Option<DateRange> {
        let answered = || self.views.load().shown().map(|shown| shown.value.query.range);
        self.views.table.report().map(|report| report.range).or_else(answered)
    }

    /// What the blanks of a template say of these pages: the numbers of the range that is listed, as far as they are
    /// known.
    pub(in crate::app) fn page_values(&self, pages: &[CleanText]) -> Values {
        let mut values = Values { path: Some(listed(pages)), ..Values::default() };
        let rows = found(self.views.rows(), pages);
        let line = |page: &CleanText| match rows.get(page).map(|row| numbers(&row.counts)) {
            Some((Some(human), Some(ai))) => {
                format!("- {page}: {} views by people, {} by AI", format::number(human), format::number(ai))
            }
            _ => format!("- {page}"),
        };
        values.pages = Some(pages.iter().map(line).collect::<Vec<_>>().join("\n"));
        let Some(range) = self.listed_range() else { return values };
        (values.from, values.to) = (Some(range.from().to_string()), Some(range.to().to_string()));
        let sum = |count: fn(&Counts) -> Option<u64>| sum(&rows, pages, count);
        let (human, ai) = (sum(|counts| counts.human.value()), sum(|counts| counts.ai.value()));
        values.human = human.map(format::number);
        values.ai = ai.map(format::number);
        values.total = sum(|counts| counts.total.value()).map(format::number);
        if let (Some(human), Some(ai)) = (human, ai)
            && let Some(whole) = human.checked_add(ai).filter(|whole| *whole > 0)
        {
            values.share = Some(format!("{:.0}%", as_f64(ai) / as_f64(whole) * 100.0));
        }
        if let (Some(before), Some(human), Some(ai)) = (self.views.table.before(), human, ai) {
            values.change = change(before, pages, human, ai);
        }
        values
    }
}

/// The rows of these pages.
fn found<'a>(rows: &'a [PageRow], pages: &[CleanText]) -> HashMap<&'a CleanText, &'a PageRow> {
    let wanted: HashSet<&CleanText> = pages.iter().collect();
    rows.iter().filter(|row| wanted.contains(&row.path)).map(|row| (&row.path, row)).collect()
}

fn numbers(counts: &Counts) -> (Option<u64>, Option<u64>) {
    (counts.human.value(), counts.ai.value())
}

/// The sum over the pages; none where one of them is not known.
fn sum(rows: &HashMap<&CleanText, &PageRow>, pages: &[CleanText], count: fn(&Counts) -> Option<u64>) -> Option<u64> {
    pages.iter().try_fold(0_u64, |sum, page| sum.checked_add(count(&rows.get(page)?.counts)?))
}

/// `human +4%, AI −31% against 2026-11-07 … 2026-11-13`; none where the other range doesn't say.
fn change(before: &Report, pages: &[CleanText], human: u64, ai: u64) -> Option<String> {
    let rows = found(&before.rows, pages);
    let of = |count: fn(&Counts) -> Option<u64>| {
        pages.iter().try_fold(0_u64, |sum, page| match rows.get(page) {
            Some(row) => sum.checked_add(count(&row.counts)?),
            // All pages are known: this one had no views.
            None if before.complete => Some(sum),
            None => None,
        })
    };
    let human = percent(human, of(|counts| counts.human.value())?);
    let ai = percent(ai, of(|counts| counts.ai.value())?);
    Some(format!("human {human}, AI {ai} against {}", before.range))
}

/// A change as a template says it.
fn percent(now: u64, before: u64) -> String {
    if before == 0 {
        return format!("{} instead of none", format::number(now));
    }
    let change = (as_f64(now) / as_f64(before) - 1.0) * 100.0;
    let sign = if change < 0.0 { "−" } else { "+" };
    format!("{sign}{:.0}%", change.abs())
}

#[cfg(test)]
#[path = "page_job_tests.rs"]
mod tests;
