//! Starts a job about pages: opens the editor with the paths of the pages, and fills in the blanks of a template.

use super::super::compose::about_pages::{
    are_same_pages, initial_text, joined_page_paths, short_page_list, title_of_job_about_pages,
};
use super::super::compose::picker::PickerKind;
use super::super::compose::templates::TemplateValues;
use super::super::confirm::{ConfirmAction, ConfirmDialog};
use super::super::format;
use super::super::keymap::{Action, Context};
use super::super::{App, Effect, Severity, StoreState};
use crate::model::Time;
use crate::model::comparison::Comparison;
use crate::model::period::DateRange;
use crate::model::prompt::DraftTarget;
use crate::model::report::Report;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, DecimalCount, PageRow};
use crate::tui::PromptsEffect;
use crate::tui::analytics::AnalyticsTab;
use std::collections::{HashMap, HashSet};

impl App {
    /// Opens the editor for a job about the marked pages or the selected page. If the filter hides all marked pages,
    /// shows a notice instead.
    pub(in crate::tui) fn open_new_job_about_pages(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let pages = self.views.table.chosen_pages().into_iter().map(|row| row.path.clone()).collect();
        let hidden = self.views.table.hidden_marked_count();
        if hidden > 0 && self.views.table.marked_count() == 0 {
            let marked = format::plural(hidden, "marked page");
            let clears = self.key_label(Context::Views, Action::Close);
            let verb = if hidden == 1 { "is" } else { "are" };
            self.notify(Severity::Info, &format!("{marked} {verb} hidden by the filter: {clears} clears it."), now);
            return;
        }
        self.open_new_job_about(pages, now, effects);
    }

    /// Opens the editor for a job about these pages. There is only one draft about pages. If that draft is about other
    /// pages, asks first, so that no job is about the wrong pages.
    pub(in crate::tui) fn open_new_job_about(&mut self, pages: Vec<CleanText>, now: Time, effects: &mut Vec<Effect>) {
        if self.store != StoreState::Loaded {
            self.notify(Severity::Info, "Jobs and drafts are still loading. Try again in a moment.", now);
            return;
        }
        if pages.is_empty() {
            self.notify(Severity::Info, "No page is selected. Select one with j and k, or mark several with v.", now);
            return;
        }
        let draft_target = DraftTarget::AboutPages;
        let has_draft = self.draft(draft_target).is_some_and(|text| !text.trim().is_empty());
        let is_other = has_draft && !are_same_pages(&self.draft_pages, &pages);
        if is_other {
            self.ask_to_start_new_draft(pages);
            return;
        }
        if has_draft {
            self.open_editor(draft_target, title_of_job_about_pages(&self.draft_pages), now);
        } else {
            self.open_new_editor_about_pages(pages, now, effects);
        }
    }

    /// Called when there is a draft about other pages. Asks whether to start a new draft about `pages` and keep the
    /// existing one as the draft of a job without pages. If there is already a draft of a job without pages, asks
    /// whether to open the existing draft about other pages instead.
    fn ask_to_start_new_draft(&mut self, pages: Vec<CleanText>) {
        let (theirs, these) = (short_page_list(&self.draft_pages), short_page_list(&pages));
        let has_new_job = self.draft(DraftTarget::NewJob).is_some_and(|text| !text.trim().is_empty());
        if has_new_job {
            let text = format!(
                "You already have two drafts of new jobs: one about {theirs} and one without pages. Send or delete one \
                 before you start another. Open the one about {theirs}?"
            );
            let yes = ConfirmAction::OpenDraft(DraftTarget::AboutPages);
            self.open(ConfirmDialog { text, on_yes: yes });
            return;
        }
        let drafts_key = self.key_label(Context::Jobs, Action::Drafts);
        let text = format!(
            "You have an unsent draft about {theirs}. Start a new one about {these}? The draft about {theirs} is kept \
             with your drafts ({drafts_key} on the jobs screen)."
        );
        self.open(ConfirmDialog { text, on_yes: ConfirmAction::NewDraftAbout(pages) });
    }

    /// Opens the editor for a job about `pages`. An existing draft about other pages is kept as the draft of a job
    /// without pages. If the text of that draft doesn't name all of its pages, their paths are put in front of it.
    pub(in crate::tui) fn start_new_draft_about(
        &mut self,
        pages: Vec<CleanText>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let draft_target = DraftTarget::AboutPages;
        if let Some(text) = self.drafts.remove(&draft_target) {
            let is_named = self.draft_pages.iter().all(|page| text.contains(page.as_str()));
            let text = if is_named { text } else { format!("{}: {text}", joined_page_paths(&self.draft_pages)) };
            effects.push(Effect::Prompts(PromptsEffect::SaveDraft(DraftTarget::NewJob, text.clone())));
            effects.push(Effect::Prompts(PromptsEffect::DeleteDraft(draft_target)));
            self.drafts.insert(DraftTarget::NewJob, text);
        }
        self.open_new_editor_about_pages(pages, now, effects);
    }

    /// Opens an editor with an initial text instead of a draft, and opens the list of templates on top of the editor.
    fn open_new_editor_about_pages(&mut self, pages: Vec<CleanText>, now: Time, effects: &mut Vec<Effect>) {
        let mut editor = self.new_editor(DraftTarget::AboutPages, title_of_job_about_pages(&pages), now);
        editor.set_initial_text(initial_text(&pages));
        editor.pages = pages;
        self.open(editor);
        self.open_picker(PickerKind::Templates, effects);
    }

    /// Returns the range whose rows are listed; `None` if nothing is listed.
    pub(in crate::tui) fn listed_range(&self) -> Option<DateRange> {
        let shown_range = || self.views.load().shown().map(|shown| shown.value.query.range);
        self.views.table.report().map(|report| report.range).or_else(shown_range)
    }

    /// Returns the values of a template's blanks for a job about these pages, such as their views in the range on
    /// screen.
    pub(in crate::tui) fn page_template_values(&self, pages: &[CleanText], now: Time) -> TemplateValues {
        let mut values = TemplateValues { path: Some(joined_page_paths(pages)), ..TemplateValues::default() };
        let shown = self.views.query().range;
        let is_listed = self.analytics.tab == AnalyticsTab::Pages || self.listed_range() == Some(shown);
        // Another tab may show a range whose pages were never listed.
        let (range, rows) = match is_listed {
            true => (self.listed_range(), self.views.rows()),
            false => (Some(shown), self.analytics.reports_of(shown).views.map_or(&[][..], |views| &views.rows)),
        };
        let rows = rows_of(rows, pages);
        let line = |page: &CleanText| match rows.get(page).map(|row| &row.counts) {
            Some(counts) => {
                let (human, ai) = (count_in_sentence(&counts.human), count_in_sentence(&counts.ai));
                format!("- {page}: {human} views by people, {ai} by AI")
            }
            _ => format!("- {page}"),
        };
        values.pages = Some(pages.iter().map(line).collect::<Vec<_>>().join("\n"));
        let Some(range) = range else { return values };
        let so_far = if now.date_naive() <= range.to() { ", today so far" } else { "" };
        (values.from, values.to) = (Some(range.from().to_string()), Some(format!("{}{so_far}", range.to())));
        if pages.iter().any(|page| !rows.contains_key(page)) {
            return values;
        }
        let sum = |count: fn(&Counts) -> &Count| sum_over_pages(&rows, pages, count);
        let (human, ai) = (sum(|counts| &counts.human), sum(|counts| &counts.ai));
        let text = |of: Option<DecimalCount>, count: fn(&Counts) -> &Count| match (of, pages) {
            (Some(n), _) => format::format_views(n),
            (None, [page]) => rows.get(page).map_or_else(String::new, |row| count_in_sentence(count(&row.counts))),
            (None, _) => UNKNOWN_NUMBER_TEXT.to_owned(),
        };
        values.human = Some(text(human, |counts| &counts.human));
        values.ai = Some(text(ai, |counts| &counts.ai));
        values.total = Some(text(sum(|counts| &counts.total), |counts| &counts.total));
        values.share = Some("an unknown share".to_owned());
        let (Some(human), Some(ai)) = (human, ai) else { return values };
        let both = human + ai;
        values.share = (!both.is_zero()).then(|| format!("{:.0}%", ai.ratio_to(both) * 100.0));
        if let Some(comparison) = self.views.table.comparison().filter(|_| is_listed) {
            values.views_change = views_change_text(comparison, self.views.query().range, pages);
        }
        values
    }
}

/// Replaces an unknown number within a sentence.
const UNKNOWN_NUMBER_TEXT: &str = "an unknown number of";

/// Formats a count for a sentence. An invalid count is shown as received from the service.
fn count_in_sentence(count: &Count) -> String {
    match count {
        Count::Missing => UNKNOWN_NUMBER_TEXT.to_owned(),
        count if count.value().is_some() => format::count_text(count),
        count => format!("{} (as received)", format::count_text(count)),
    }
}

/// Returns the rows of these pages, by path.
fn rows_of<'a>(rows: &'a [PageRow], pages: &[CleanText]) -> HashMap<&'a CleanText, &'a PageRow> {
    let wanted: HashSet<&CleanText> = pages.iter().collect();
    rows.iter().filter(|row| wanted.contains(&row.path)).map(|row| (&row.path, row)).collect()
}

/// Adds up one kind of count over all pages; `None` if that count of one page is unknown.
fn sum_over_pages(
    rows: &HashMap<&CleanText, &PageRow>,
    pages: &[CleanText],
    count: impl Fn(&Counts) -> &Count,
) -> Option<DecimalCount> {
    pages.iter().map(|page| count(&rows.get(page)?.counts).value()).sum()
}

/// Describes how the views of the pages changed: `human +4%, AI −31% compared with 2026-11-07 … 2026-11-13`. Also
/// names the compared days of the range on screen, unless they are the whole range. `None` if a number is unknown in
/// one of the reports.
fn views_change_text(comparison: &Comparison, shown: DateRange, pages: &[CleanText]) -> Option<String> {
    let ranges = comparison.ranges();
    let sums = |report: &Report, count: fn(&Counts) -> &Count| -> Option<DecimalCount> {
        let rows = rows_of(&report.rows, pages);
        let views = pages.iter().map(|page| match rows.get(page) {
            Some(row) => count(&row.counts).value(),
            // A complete report lists every page that had views.
            None => report.complete.then_some(DecimalCount::ZERO),
        });
        views.sum()
    };
    let change = |count: fn(&Counts) -> &Count| {
        let (current, previous) = (sums(&comparison.current, count)?, sums(&comparison.previous, count)?);
        Some(percent_change(ranges.comparable_current(current), ranges.comparable_previous(previous)))
    };
    let (human, ai) = (change(|counts| &counts.human)?, change(|counts| &counts.ai)?);
    let per_day = if ranges.is_per_day() { " per day" } else { "" };
    let days = if ranges.current == shown { String::new() } else { format!(" in {}", ranges.current) };
    Some(format!("human {human}, AI {ai}{per_day}{days} compared with {}", ranges.previous))
}

/// Formats a change in percent, or as `12 instead of none` if there were no views before.
fn percent_change(current: DecimalCount, previous: DecimalCount) -> String {
    if previous.is_zero() {
        return format!("{} instead of none", format::format_views(current));
    }
    let change = (current.ratio_to(previous) - 1.0) * 100.0;
    let sign = if change < 0.0 { "−" } else { "+" };
    format!("{sign}{:.0}%", change.abs())
}

#[cfg(test)]
#[path = "page_job_tests.rs"]
mod tests;
