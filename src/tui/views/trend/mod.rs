//! The trend: human and AI views of the site per day of the range, or per week if the range is long. Cached totals are
//! free. Each missing bar costs one request, and the total cost is shown before loading.

mod draw;

use super::all_pages::is_final;
use crate::model::failure::Failure;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::ViewSums;
use crate::model::views::{Count, Counts, ViewCount};
use crate::tui::component::prelude::*;
use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
use crate::tui::{Screen, format};
use chrono::{Datelike, Days, NaiveDate, Weekday};
use std::collections::HashMap;

/// Ranges of at least this many days have one bar per week instead of per day.
pub const MIN_DAYS_FOR_WEEKS: u32 = 60;
/// Number of days in a moving mean: the day for which the mean is shown, and the six days before it.
pub const MEAN_DAYS: u32 = 7;

/// The cached totals of the site, by range.
#[derive(Debug, Default)]
pub struct RangeTotals {
    by_range: HashMap<DateRange, Timed<Counts>>,
    /// Ranges that were requested and have not arrived yet.
    pending: Vec<DateRange>,
}

impl RangeTotals {
    /// Returns the totals of this range.
    pub fn get(&self, range: DateRange) -> Option<&Timed<Counts>> {
        self.by_range.get(&range)
    }

    /// Returns the number of ranges that were requested and have not arrived yet.
    pub fn pending_count(&self) -> usize {
        self.pending.len()
    }

    /// Returns the totals of a range: the answer for the whole range or the sum of its days, whichever is newer. The
    /// sum is available only if every day is known.
    fn newest_totals(&self, range: DateRange) -> Option<Timed<Counts>> {
        let answered = self.get(range).cloned();
        let summed = if range.days() > 1 { self.sum_of_days(range) } else { None };
        match (answered, summed) {
            (Some(answered), Some(summed)) => Some(if summed.as_of > answered.as_of { summed } else { answered }),
            (answered, summed) => answered.or(summed),
        }
    }

    /// Adds up the totals of all days of a range; `None` if one day is unknown. For the load time of the sum, each
    /// day's load time is moved forward by the number of days from that day to the end of the range. The earliest
    /// result counts. So a week counts as complete if each day was loaded after that day was over, even if Monday was
    /// loaded on Wednesday.
    fn sum_of_days(&self, range: DateRange) -> Option<Timed<Counts>> {
        let add = |sum: &Count, more: &Count| Some(Count::from(sum.value()? + more.value()?));
        let of = |day: DateRange| {
            let known = self.get(day)?;
            let as_of = known.as_of.checked_add_signed(range.to() - day.to()).unwrap_or(known.as_of);
            Some(Timed { value: known.value.clone(), as_of })
        };
        let mut days = single_days(range);
        let mut sum = of(days.next()?)?;
        for day in days {
            let day = of(day)?;
            sum.value = Counts {
                human: add(&sum.value.human, &day.value.human)?,
                ai: add(&sum.value.ai, &day.value.ai)?,
                total: add(&sum.value.total, &day.value.total)?,
            };
            sum.as_of = sum.as_of.min(day.as_of);
        }
        Some(sum)
    }

    /// Returns the totals of a range if they can't change any more. The answer for the whole range counts if it was
    /// loaded after the range was over. Otherwise, the sum of all days counts if each day was loaded after that day was
    /// over.
    pub(super) fn final_totals(&self, range: DateRange) -> Option<Counts> {
        let settled = |range: DateRange| self.get(range).filter(|known| is_final(range, known.as_of));
        if let Some(known) = settled(range) {
            return Some(known.value.clone());
        }
        let mut sums = ViewSums::default();
        for day in single_days(range) {
            let counts = &settled(day)?.value;
            if [&counts.human, &counts.ai, &counts.total].iter().any(|count| count.value().is_none()) {
                return None;
            }
            sums = sums.with(counts);
        }
        Some(Counts { human: sums.human.into(), ai: sums.ai.into(), total: sums.total.into() })
    }

    /// Returns the mean of human plus AI views over `day` and the six days before it; `None` unless all seven days are
    /// known and complete.
    pub fn moving_mean(&self, day: NaiveDate) -> Option<ViewCount> {
        let from = day.checked_sub_days(Days::new(u64::from(MEAN_DAYS) - 1))?;
        let mut sum = ViewCount::ZERO;
        for day in single_days(DateRange::new(from, day)?) {
            let known = self.get(day).filter(|known| is_final(day, known.as_of))?;
            sum = sum + bar_height(&known.value)?;
        }
        Some(sum.scaled(1, MEAN_DAYS.into()))
    }
}

/// Returns human plus AI views, the height of a stacked bar. `None` if either number is not a valid count.
pub fn bar_height(counts: &Counts) -> Option<ViewCount> {
    Some(counts.human.value()? + counts.ai.value()?)
}

/// Returns each day of a range as a range of one day.
pub fn single_days(range: DateRange) -> impl Iterator<Item = DateRange> {
    let to = range.to();
    range.from().iter_days().take_while(move |day| *day <= to).filter_map(|day| DateRange::new(day, day))
}

/// Splits a range into weeks that start on Monday. The first and the last week are cut at the ends of the range.
fn weeks(range: DateRange) -> Vec<DateRange> {
    let mut weeks = Vec::new();
    let mut from = range.from();
    while from <= range.to() {
        let sunday = from.week(Weekday::Mon).last_day().min(range.to());
        weeks.extend(DateRange::new(from, sunday));
        let Some(next) = sunday.succ_opt() else { break };
        from = next;
    }
    weeks
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrendBar {
    pub range: DateRange,
    /// The site's totals in the range of the bar; `None` if they are unknown.
    pub totals: Option<Timed<Counts>>,
}

impl TrendBar {
    /// Whether the totals were loaded before the last day of the bar was over. If they are unknown: whether the bar
    /// includes today.
    pub fn is_partial(&self, now: Time) -> bool {
        match &self.totals {
            Some(known) => !is_final(self.range, known.as_of),
            None => self.range.contains(now.date_naive()),
        }
    }

    /// Whether the totals have to be loaded, because they are unknown or outdated.
    pub fn is_missing(&self, now: Time) -> bool {
        !self.totals.as_ref().is_some_and(|known| self.range.is_fresh(known.as_of, now))
    }

    pub fn is_weekend(&self) -> bool {
        self.range.days() == 1 && matches!(self.range.from().weekday(), Weekday::Sat | Weekday::Sun)
    }
}

/// The mean of views per day over all complete days that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompleteDaysMean {
    pub mean: ViewCount,
    /// Number of days in the mean.
    pub known_days: u32,
    /// Number of days of the range that are over, including days with unknown views.
    pub complete_days: u32,
}

/// Counts the days of a range that are before `day`.
fn count_days_before(range: DateRange, day: NaiveDate) -> u32 {
    let last = day.pred_opt().unwrap_or(day).min(range.to());
    DateRange::new(range.from(), last).map_or(0, |over| over.days())
}

/// The trend dialog. A week with unknown days is loaded as one range: one request instead of up to seven.
#[derive(Debug)]
pub struct TrendDialog {
    pub range: DateRange,
    bars: Vec<DateRange>,
    selected: usize,
}

impl TrendDialog {
    /// Creates the dialog for a range, with the last bar selected.
    pub fn new(range: DateRange) -> Self {
        let bars =
            if range.days() >= MIN_DAYS_FOR_WEEKS { weeks(range) } else { single_days(range).collect::<Vec<_>>() };
        let selected = bars.len().saturating_sub(1);
        Self { range, bars, selected }
    }

    /// Whether each bar is a week, drawn as its mean per day.
    pub fn is_weekly(&self) -> bool {
        self.range.days() >= MIN_DAYS_FOR_WEEKS
    }

    /// Returns the word for what a bar covers: `day` or `week`.
    pub fn unit(&self) -> &'static str {
        if self.is_weekly() { "week" } else { "day" }
    }

    pub fn len(&self) -> usize {
        self.bars.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bars.is_empty()
    }

    /// Returns the index of the selected bar.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Returns the bars with their totals.
    pub fn bars<'a>(&'a self, totals: &'a RangeTotals) -> impl Iterator<Item = TrendBar> + 'a {
        self.bars.iter().map(|range| TrendBar { range: *range, totals: totals.newest_totals(*range) })
    }

    /// Returns the days or weeks whose totals have to be loaded, from the latest to the earliest.
    pub fn missing(&self, totals: &RangeTotals, now: Time) -> Vec<DateRange> {
        let mut missing: Vec<DateRange> =
            self.bars(totals).filter(|bar| bar.is_missing(now)).map(|bar| bar.range).collect();
        missing.reverse();
        missing
    }

    /// Returns the mean of human plus AI views per day over all complete days that are known; `None` if there are none.
    /// The days of the current week up to yesterday are included, whether they were loaded as one range or day by day.
    pub fn mean_of_complete_days(&self, totals: &RangeTotals, now: Time) -> Option<CompleteDaysMean> {
        let settled = |range: DateRange| {
            let known = totals.newest_totals(range).filter(|known| is_final(range, known.as_of))?;
            Some((bar_height(&known.value)?, range.days()))
        };
        let today = now.date_naive();
        let until_yesterday = |bar: DateRange| bar.cut_at(today.pred_opt()?);
        let counted = |bar: DateRange| match settled(bar).or_else(|| settled(until_yesterday(bar)?)) {
            Some(week) => vec![week],
            None => single_days(bar).filter_map(settled).collect(),
        };
        let (sum, days) = self
            .bars
            .iter()
            .flat_map(|bar| counted(*bar))
            .fold((ViewCount::ZERO, 0), |(sum, days), (views, of)| (sum + views, days + of));
        let all = count_days_before(self.range, today).max(days);
        (days > 0).then(|| CompleteDaysMean { mean: sum.scaled(1, days.into()), known_days: days, complete_days: all })
    }
}

/// The number of bars that PgUp and PgDn move by.
const BARS_PER_PAGE: usize = 8;

impl TrendDialog {
    /// Opens the trend and reads the totals that it shows from the cache.
    pub fn open(cx: &mut Cx<'_>) {
        let range = cx.app.views.query().range;
        let open = Self::new(range);
        // The moving means of the first days include days before the range.
        let ahead = range.from().checked_sub_days(Days::new(u64::from(MEAN_DAYS) - 1));
        let from = ahead.filter(|_| !open.is_weekly()).unwrap_or(range.from());
        let mut wanted: Vec<DateRange> = DateRange::new(from, range.to()).into_iter().flat_map(single_days).collect();
        wanted.extend(open.bars.iter().filter(|bar| bar.days() > 1));
        cx.open(open);
        cx.run(Effect::LoadCachedTotals(wanted));
    }

    /// Loads the missing totals. If that costs more than one request, asks first.
    fn load_missing(&self, cx: &mut Cx<'_>) {
        let (unit, all) = (self.unit(), self.len());
        let mut missing = self.missing(&cx.app.views.totals, cx.now);
        let left = cx.app.view_requests_left();
        if cx.app.views.totals.pending_count() > 0 {
            return cx.notify(Severity::Info, "Already loading.");
        }
        match missing.len() {
            0 => cx.notify(Severity::Info, &format!("Every {unit} is loaded and up to date.")),
            _ if left == 0 => {
                let text = cx.app.no_requests_left_text(cx.now);
                cx.notify(Severity::Problem, &text);
            }
            1 => cx.app.load_totals(missing, cx.effects),
            n => {
                let offer = if n > left as usize {
                    missing.truncate(left as usize);
                    format!("{n} requests, but only {left} left. Load the newest {left}?")
                } else {
                    format!("{n} requests, {left} left. Load them, newest first?")
                };
                let text = format!("{n} of {all} {unit}s are missing or outdated: {offer}");
                let on_yes = ConfirmAction::LoadTotals(missing);
                cx.open(ConfirmDialog { text, on_yes });
            }
        }
    }

    /// Returns how many bars are loaded and what the rest costs, for the last line of the dialog.
    fn cost_text(&self, app: &App, now: Time, short: bool) -> String {
        let (missing, all, unit) = (self.missing(&app.views.totals, now).len(), self.len(), self.unit());
        let awaited = app.views.totals.pending_count();
        let left = app.view_requests_left();
        let load_key = app.key_label(Context::Trend, Action::LoadAll);
        match missing {
            _ if awaited > 0 => format!("loading, {} left", format::plural(awaited, unit)),
            0 if all == 1 => format!("the {unit} is loaded"),
            0 => format!("all {all} {unit}s loaded"),
            n if short => format!("{n}/{all} missing; {load_key}: {}, {left} left", format::plural(n, "request")),
            n => format!(
                "{n} of {all} {unit}s missing or outdated: press {load_key}, {}, {left} left",
                format::plural(n, "request")
            ),
        }
    }
}

impl Component for TrendDialog {
    fn context(&self) -> Context {
        Context::Trend
    }

    fn offers(&self, action: Action, app: &App) -> Option<Label> {
        let can_load = || app.view_requests_left() > 0 && self.bars(&app.views.totals).any(|bar| bar.totals.is_none());
        Label::default_if(action != Action::LoadAll || can_load())
    }

    fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::LoadAll => self.load_missing(cx),
            _ => return Flow::Pass,
        }
        Flow::Handled
    }

    fn scroll(&mut self, by: Scroll, _cx: &mut Cx<'_>) {
        self.selected = by.apply(self.selected, BARS_PER_PAGE, self.bars.len());
    }

    fn wheel(&mut self, _at: Position, by: isize, cx: &mut Cx<'_>) {
        self.scroll(Scroll::By(by.signum()), cx);
    }

    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        // Without the cache, the totals stay unknown. The reason matters only while the trend is open.
        if let Msg::CachedTotals(Err(failure)) = &msg {
            cx.app.notify_failure(failure, cx.now);
        }
        Err(msg)
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        draw::draw(frame, view, self);
    }
}

impl App {
    pub(in crate::tui) fn load_totals(&mut self, ranges: Vec<DateRange>, effects: &mut Vec<Effect>) {
        self.views.totals.pending.clone_from(&ranges);
        effects.push(Effect::LoadTotals(ranges));
    }

    pub(in crate::tui) fn totals_received(&mut self, range: DateRange, totals: Timed<Counts>) {
        let known = &mut self.views.totals;
        known.pending.retain(|asked| *asked != range);
        // An answer that arrives late doesn't replace newer totals.
        if known.get(range).is_none_or(|old| old.as_of <= totals.as_of) {
            known.by_range.insert(range, totals);
        }
        self.dirty |= self.screen == Screen::Views;
    }

    pub(in crate::tui) fn cached_totals_loaded(&mut self, result: Result<Vec<(DateRange, Timed<Counts>)>, Failure>) {
        for (range, totals) in result.unwrap_or_default() {
            if self.views.totals.get(range).is_none_or(|old| old.as_of <= totals.as_of) {
                self.views.totals.by_range.insert(range, totals);
            }
        }
        self.dirty = true;
    }

    pub(in crate::tui) fn totals_load_ended(&mut self, result: Result<(), Failure>, now: Time) {
        let open = self.views.totals.pending_count();
        self.views.totals.pending.clear();
        if let Err(failure) = result {
            let load_key = self.key_label(Context::Trend, Action::LoadAll);
            let rest = if open > 0 { format!(" Press {load_key} to load the rest.") } else { String::new() };
            self.notify(Severity::Problem, &format!("{}{rest}", failure.message), now);
        }
        self.dirty = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: &str, to: &str) -> DateRange {
        DateRange::new(from.parse().expect("a date"), to.parse().expect("a date")).expect("in order")
    }

    fn moment(text: &str) -> Time {
        text.parse().expect("a time")
    }

    fn totals(known: &[(&str, i64, &str)]) -> RangeTotals {
        let mut totals = RangeTotals::default();
        for (day, human, as_of) in known {
            let counts = Counts { human: Count::Known(*human), ai: Count::Known(1), total: Count::Known(human + 1) };
            let timed = Timed { value: counts, as_of: moment(as_of) };
            totals.by_range.insert(range(day, day), timed);
        }
        totals
    }

    const TODAY_AT_NOON: &str = "2026-11-20T12:00:00Z";

    #[test]
    fn a_range_of_sixty_days_or_more_has_one_bar_per_week() {
        let daily = TrendDialog::new(range("2026-09-22", "2026-11-19"));
        assert_eq!((daily.range.days(), daily.len(), daily.is_weekly()), (59, 59, false));
        let weekly = TrendDialog::new(range("2026-09-22", "2026-11-20"));
        assert_eq!((weekly.range.days(), weekly.is_weekly()), (60, true));
        let bars: Vec<String> = weekly.bars.iter().map(ToString::to_string).collect();
        assert_eq!(bars.first().map(String::as_str), Some("2026-09-22 … 2026-09-27"), "cut at the start, Monday first");
        assert_eq!(bars.get(1).map(String::as_str), Some("2026-09-28 … 2026-10-04"));
        assert_eq!(bars.last().map(String::as_str), Some("2026-11-16 … 2026-11-20"), "cut at the end");
        assert_eq!(weekly.bars.iter().map(DateRange::days).sum::<u32>(), 60, "each day once");
    }

    #[test]
    fn days_that_are_unknown_or_were_loaded_before_they_ended_are_missing() {
        let totals = totals(&[
            ("2026-11-16", 5, TODAY_AT_NOON),
            // Loaded before the day was over, so the totals stay partial until they are loaded again.
            ("2026-11-17", 5, "2026-11-17T12:00:00Z"),
            ("2026-11-20", 5, TODAY_AT_NOON),
        ]);
        let trend = TrendDialog::new(range("2026-11-16", "2026-11-20"));
        let missing = |now: &str| -> Vec<String> {
            trend.missing(&totals, moment(now)).iter().map(|range| range.from().to_string()).collect()
        };
        assert_eq!(missing(TODAY_AT_NOON), ["2026-11-19", "2026-11-18", "2026-11-17"]);
        assert_eq!(missing("2026-11-20T12:06:00Z").len(), 4, "today is fresh for five minutes");
        let bars: Vec<TrendBar> = trend.bars(&totals).collect();
        let partial: Vec<bool> = bars.iter().map(|bar| bar.is_partial(moment(TODAY_AT_NOON))).collect();
        assert_eq!(partial, [false, true, false, false, true]);
    }

    #[test]
    fn a_week_is_known_once_all_its_days_are_known() {
        let mut known: Vec<(String, i64, &str)> =
            (9..15).map(|day| (format!("2026-11-{day:02}"), 10, TODAY_AT_NOON)).collect();
        let week = range("2026-11-09", "2026-11-15");
        let of = |known: &[(String, i64, &'static str)]| {
            let known: Vec<_> = known.iter().map(|(day, human, at)| (day.as_str(), *human, *at)).collect();
            totals(&known).newest_totals(week)
        };
        assert_eq!(of(&known), None, "a day is missing: not 0");
        known.push(("2026-11-15".to_owned(), 40, "2026-11-18T00:00:00Z"));
        let sum = of(&known).expect("known");
        assert_eq!(bar_height(&sum.value), Some(107.into()));
        assert_eq!(sum.as_of, moment("2026-11-18T00:00:00Z"), "the last day was loaded first");
    }

    #[test]
    fn a_week_is_complete_if_each_day_was_loaded_after_it_was_over() {
        let week = range("2026-11-09", "2026-11-15");
        let known: Vec<(String, String)> =
            (9..16).map(|day| (format!("2026-11-{day:02}"), format!("2026-11-{:02}T09:00:00Z", day + 2))).collect();
        let mut known: Vec<_> = known.iter().map(|(day, as_of)| (day.as_str(), 10, as_of.as_str())).collect();
        let sum = totals(&known).newest_totals(week).expect("known");
        assert_eq!(sum.as_of, moment("2026-11-17T09:00:00Z"));
        let bar = TrendBar { range: week, totals: Some(sum) };
        assert!(!bar.is_partial(moment(TODAY_AT_NOON)) && !bar.is_missing(moment(TODAY_AT_NOON)));
        known[2].2 = "2026-11-11T12:00:00Z";
        let sum = totals(&known).newest_totals(week).expect("known");
        assert_eq!(sum.as_of, moment("2026-11-15T12:00:00Z"), "half a day is missing");
        assert!(TrendBar { range: week, totals: Some(sum) }.is_partial(moment(TODAY_AT_NOON)));
    }

    #[test]
    fn the_mean_needs_seven_complete_days() {
        let mut known: Vec<(String, i64, &str)> =
            (14..20).map(|day| (format!("2026-11-{day}"), 6, TODAY_AT_NOON)).collect();
        let day: NaiveDate = "2026-11-19".parse().expect("a date");
        let of = |known: &[(String, i64, &'static str)], day: NaiveDate| {
            totals(&known.iter().map(|(day, human, at)| (day.as_str(), *human, *at)).collect::<Vec<_>>())
                .moving_mean(day)
        };
        assert_eq!(of(&known, day), None);
        known.push(("2026-11-13".to_owned(), 20, TODAY_AT_NOON));
        assert_eq!(of(&known, day), Some(9.into()));
        known.push(("2026-11-20".to_owned(), 6, TODAY_AT_NOON));
        assert_eq!(of(&known, day.succ_opt().expect("a day")), None, "today is partial");
    }

    #[test]
    fn the_mean_of_a_long_range_counts_the_complete_days_of_the_current_week() {
        // 2026-11-20 is a Friday: four days of its week are over.
        let mut known: Vec<(String, i64, &str)> =
            (16..20).map(|day| (format!("2026-11-{day}"), 9, TODAY_AT_NOON)).collect();
        known.push(("2026-11-20".to_owned(), 500, TODAY_AT_NOON));
        let known: Vec<_> = known.iter().map(|(day, human, at)| (day.as_str(), *human, *at)).collect();
        let mut totals = totals(&known);
        let trend = TrendDialog::new(range("2026-09-14", "2026-11-20"));
        let mean = |totals: &RangeTotals| {
            trend.mean_of_complete_days(totals, moment(TODAY_AT_NOON)).expect("some days are known")
        };
        assert_eq!(mean(&totals), CompleteDaysMean { mean: 10.into(), known_days: 4, complete_days: 67 });
        // Two weeks that were each loaded as one range, the second one before it was over.
        let mut week = |from: &str, to: &str, human: i64| {
            let counts = Counts { human: Count::Known(human), ai: Count::Known(0), total: Count::Known(human) };
            totals.by_range.insert(range(from, to), Timed { value: counts, as_of: moment(TODAY_AT_NOON) });
        };
        week("2026-11-09", "2026-11-15", 7 * 10 + 3);
        week("2026-11-16", "2026-11-20", 9_999);
        let found = mean(&totals);
        assert_eq!((found.known_days, found.complete_days), (11, 67));
        assert_eq!(found.mean.rounded(), 10, "113 views on 11 days");
        assert_eq!(found.mean.tenths(), 103);
        // Next, the days of the current week up to yesterday are loaded as one range, as a comparison loads them.
        let trend = TrendDialog::new(range("2026-09-15", "2026-11-20"));
        totals.by_range.remove(&range("2026-11-18", "2026-11-18"));
        let mean = |totals: &RangeTotals| {
            trend.mean_of_complete_days(totals, moment(TODAY_AT_NOON)).expect("some days are known")
        };
        assert_eq!(mean(&totals).known_days, 10);
        let counts = Counts { human: Count::Known(40), ai: Count::Known(0), total: Count::Known(40) };
        let stamped = Timed { value: counts, as_of: moment(TODAY_AT_NOON) };
        totals.by_range.insert(range("2026-11-16", "2026-11-19"), stamped);
        assert_eq!(mean(&totals).known_days, 11);
    }

    #[test]
    fn a_day_without_valid_counts_has_no_sum() {
        let mut totals = totals(&[("2026-11-09", 1, TODAY_AT_NOON)]);
        let odd = Counts { human: Count::Known(-1), ai: Count::Missing, total: Count::Known(4) };
        let day = range("2026-11-10", "2026-11-10");
        totals.by_range.insert(day, Timed { value: odd, as_of: moment(TODAY_AT_NOON) });
        assert_eq!(totals.newest_totals(range("2026-11-09", "2026-11-10")), None);
    }
}
