//! Compares two ranges by their complete days: `c` compares with the previous period, `C` with any range. All pages of
//! the compared days have to be loaded.

use super::super::confirm::{ConfirmAction, ConfirmDialog};
use super::super::keymap::{Action, Context};
use super::super::{App, Effect, Severity};
use super::all_pages::{AllPages, RequestedComparison, RequiredData, is_final};
use super::trend::TrendDialog;
use crate::model::Time;
use crate::model::comparison::{ComparedRanges, Comparison, NotComparable};
use crate::model::period::DateRange;
use crate::model::views::Counts;
use crate::tui::ViewsEffect;
use chrono::NaiveDate;

/// Maximum length, in days, of a range whose trend is read from the cache.
const MAX_TREND_DAYS: u32 = 400;

/// How the site's totals changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteChange {
    pub ranges: ComparedRanges,
    pub current: Counts,
    pub previous: Counts,
    /// Whether the pages are compared too, not only the site's totals.
    pub compares_pages: bool,
}

impl AllPages {
    /// Returns the two reports for the requested comparison of the range `shown`. `None` until both reports are
    /// complete and were loaded after the last day of their ranges.
    pub(super) fn comparison_of(&self, shown: DateRange) -> Option<Comparison> {
        let request = self.comparison.as_ref().filter(|request| request.shown_range == shown)?;
        let settled = |range| self.complete_report(range).filter(|report| is_final(range, report.as_of)).cloned();
        Some(Comparison { current: settled(request.ranges.current)?, previous: settled(request.ranges.previous)? })
    }
}

impl super::ViewsState {
    /// Returns the previous period: the same number of days just before the range on screen, or the previous week,
    /// month or quarter. `None` if it would begin before the first day of the calendar.
    pub(super) fn previous_period(&self) -> Option<DateRange> {
        self.period.step(-1).map(|period| period.all_days())
    }

    /// Returns the days of the range on screen and of `other` that can be compared.
    pub(in crate::tui) fn days_to_compare(
        &self,
        other: DateRange,
        today: NaiveDate,
    ) -> Result<ComparedRanges, NotComparable> {
        ComparedRanges::new(self.query.range, other, self.previous_period() == Some(other), today)
    }

    /// Returns which days of the range on screen and of the previous period can be compared.
    ///
    /// # Errors
    /// Returns a sentence with the reason if no days can be compared.
    pub(in crate::tui) fn try_days_to_compare_with_previous(&self, today: NaiveDate) -> Result<ComparedRanges, String> {
        ComparedRanges::with_previous(self.query.range, self.period, today).map_err(|why| why.to_string())
    }

    fn requested_comparison_with(&self, other: DateRange, now: Time) -> Result<RequestedComparison, NotComparable> {
        let ranges = self.days_to_compare(other, now.date_naive())?;
        Ok(RequestedComparison { shown_range: self.query.range, other_range: other, ranges, unread_ranges: Vec::new() })
    }

    /// Returns the site's totals that were loaded with the listed rows, even if the rows belong to an earlier query.
    /// `None` if nothing is listed.
    pub fn site_totals(&self) -> Option<&Counts> {
        let report = self.table.report().map(|report| &report.totals);
        report.or_else(|| self.load.shown().map(|shown| &shown.value.page.totals))
    }

    /// Like [`Self::try_days_to_compare_with_previous`], but returns `None` if no days can be compared.
    pub(in crate::tui) fn days_to_compare_with_previous(&self, today: NaiveDate) -> Option<ComparedRanges> {
        self.try_days_to_compare_with_previous(today).ok()
    }

    /// Returns the ranges whose totals the screen needs from the cache: for [`Self::site_change`] and for the trend.
    pub(super) fn totals_to_read(&self, now: Time) -> Vec<DateRange> {
        let compared = self.days_to_compare_with_previous(now.date_naive());
        let mut ranges: Vec<DateRange> =
            compared.into_iter().flat_map(|ranges| [ranges.current, ranges.previous]).collect();
        if self.query.range.days() <= MAX_TREND_DAYS {
            ranges.extend(TrendDialog::new(self.query.range).totals_to_read(self.previous_period()));
        }
        ranges
    }

    /// Returns how the site's totals changed: between the compared reports, or since the previous period if no reports
    /// are compared. `None` if the necessary totals are not cached, if no days can be compared, or if the listed rows
    /// belong to an earlier query.
    pub fn site_change(&self, now: Time) -> Option<SiteChange> {
        if !self.lists_current_query() {
            return None;
        }
        let (listed, as_of) = (self.site_totals()?, self.as_of()?);
        let shown = self.query.range;
        let (ranges, totals, previous, by_page) = match self.table.comparison() {
            Some(comparison) => {
                let Comparison { current, previous } = comparison;
                (comparison.ranges(), current.totals.clone(), previous.totals.clone(), true)
            }
            None => {
                // Totals that were loaded before the last midnight miss views of the day on which they were loaded, so
                // that day counts as incomplete.
                let ranges = self.days_to_compare_with_previous(as_of.min(now).date_naive())?;
                let previous = self.totals.final_totals(ranges.previous)?;
                let totals =
                    if ranges.current == shown { listed.clone() } else { self.totals.final_totals(ranges.current)? };
                (ranges, totals, previous, false)
            }
        };
        Some(SiteChange { ranges, current: totals, previous, compares_pages: by_page })
    }

    /// Whether the listed pages are compared with another range.
    pub fn is_comparing(&self) -> bool {
        self.table.comparison().is_some()
    }
}

impl App {
    /// Compares with the previous period, or stops comparing.
    pub(in crate::tui) fn toggle_comparison(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if self.views.is_comparing() {
            self.views.all_pages.comparison = None;
            self.list_report_if_complete();
            return;
        }
        match self.views.previous_period() {
            Some(previous) => self.compare_with(previous, now, effects),
            None => self.notify(Severity::Info, &NotComparable::NoPreviousPeriod.to_string(), now),
        }
    }

    /// Compares the range on screen with another range, by their complete days. Asks before loading pages that are
    /// missing.
    pub(in crate::tui) fn compare_with(&mut self, other: DateRange, now: Time, effects: &mut Vec<Effect>) {
        let request = match self.views.requested_comparison_with(other, now) {
            Ok(request) => request,
            Err(why) => return self.notify(Severity::Info, &why.to_string(), now),
        };
        let (shown, ranges) = (request.shown_range, request.ranges);
        if self.views.all_pages.active_load().is_none() {
            self.views.all_pages.comparison = Some(request);
        }
        let listed = (ranges.current != shown).then_some((shown, RequiredData::Complete));
        let compared = [ranges.current, ranges.previous].map(|range| (range, RequiredData::Final));
        self.request_load(listed.into_iter().chain(compared).collect(), now, effects);
    }

    /// Shows the requested comparison of the current range, if all its pages are loaded.
    pub(super) fn show_comparison(&mut self) {
        let range = self.views.query().range;
        if self.views.all_pages.comparison_of(range).is_some() && self.views.range_being_read.is_none() {
            self.list_report_if_complete();
        }
    }

    /// Handles a change of range during a comparison. If all pages of the new range and of its previous period are
    /// cached, compares these two; otherwise ends the comparison.
    pub(super) fn continue_comparison_in_new_range(&mut self, range: DateRange, now: Time, effects: &mut Vec<Effect>) {
        if self.views.all_pages.comparison.as_ref().is_none_or(|old| old.shown_range == range) {
            return;
        }
        self.views.all_pages.comparison = None;
        let Some(previous) = self.views.previous_period() else { return };
        match self.views.requested_comparison_with(previous, now) {
            Err(why) => self.notify(Severity::Info, &format!("Comparison ended. {why}"), now),
            Ok(request) if self.views.all_pages.complete_report(range).is_none() => {
                self.notify_no_longer_compared(request.ranges, now)
            }
            Ok(mut request) => {
                let compared = [request.ranges.current, request.ranges.previous];
                request.unread_ranges = compared.into_iter().filter(|compared| *compared != range).collect();
                effects.extend(
                    request.unread_ranges.iter().copied().map(ViewsEffect::LoadCachedReport).map(Effect::Views),
                );
                self.views.all_pages.comparison = Some(request);
            }
        }
    }

    /// Handles a range that was read from the cache. After a change of range, a comparison may be waiting for ranges
    /// that are being read. When the last of these ranges has been read, shows the comparison, or ends it if pages are
    /// missing.
    pub(super) fn handle_range_read_for_comparison(&mut self, range: DateRange, now: Time) {
        let Some(request) = &mut self.views.all_pages.comparison else { return };
        let was_unread = request.unread_ranges.len();
        request.unread_ranges.retain(|unread| *unread != range);
        if request.unread_ranges.len() == was_unread || !request.unread_ranges.is_empty() {
            return;
        }
        let (shown, ranges) = (request.shown_range, request.ranges);
        if self.views.all_pages.comparison_of(shown).is_some() {
            self.show_comparison();
        } else {
            self.views.all_pages.comparison = None;
            self.notify_no_longer_compared(ranges, now);
        }
    }

    fn notify_no_longer_compared(&mut self, ranges: ComparedRanges, now: Time) {
        let compare = self.key_label(Context::Views, Action::Compare);
        let text = format!(
            "Comparison ended: not all pages of {} are loaded. Press {compare} to load them (shows the cost first).",
            ranges.dates_text()
        );
        self.notify(Severity::Info, &text, now);
    }

    /// Updates the compared days when the listed range is reloaded, since another day may be complete by now. Returns
    /// the data that the updated comparison needs besides the listed range.
    pub(super) fn update_compared_days(&mut self, now: Time) -> Vec<(DateRange, RequiredData)> {
        let Some(old) = self.views.all_pages.comparison.as_ref() else { return Vec::new() };
        let Ok(request) = self.views.requested_comparison_with(old.other_range, now) else { return Vec::new() };
        if old.shown_range != request.shown_range || old.ranges == request.ranges {
            return Vec::new();
        }
        let compared = [request.ranges.current, request.ranges.previous];
        let missing = compared.into_iter().filter(|range| *range != request.shown_range);
        let missing = missing.map(|range| (range, RequiredData::Final)).collect();
        self.views.all_pages.comparison = Some(request);
        missing
    }

    /// Ends a requested comparison if its cost was declined, or if a load for it ended early.
    pub(in crate::tui) fn drop_unused_comparison(&mut self) {
        let Some(request) = &self.views.all_pages.comparison else { return };
        let is_asked = self
            .find::<ConfirmDialog>()
            .is_some_and(|dialog| matches!(dialog.on_yes, ConfirmAction::LoadAllPageViews(_)));
        let is_listed = self.views.table.report().map(|report| report.range) == Some(request.shown_range)
            && self.views.table.comparison().map(Comparison::ranges) == Some(request.ranges);
        let is_waiting = !request.unread_ranges.is_empty()
            || self.views.all_pages.is_busy()
            || self.views.range_being_read.is_some();
        if !is_listed && !is_asked && !is_waiting {
            self.views.all_pages.comparison = None;
        }
    }
}
