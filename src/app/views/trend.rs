//! The trend: human and AI views per day of the range, or per week of a long one, from the site's totals. Days that are
//! known cost nothing; what the others cost is said before they are asked for, one request each.

use super::super::dialog::{ConfirmAction, ConfirmDialog, Dialog};
use super::super::keymap::{Action, Context};
use super::super::scroll::Scroll;
use super::super::{App, Effect, Screen, Severity, format};
use super::all_pages::is_settled;
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::Sums;
use crate::model::views::{Count, Counts, ViewCount};
use chrono::{Datelike, Days, NaiveDate, Weekday};
use std::collections::HashMap;

/// From so many days on a bar is a week.
pub const WEEKLY_FROM: u32 = 60;
/// Days over which the mean goes, the day itself included.
pub const MEAN_DAYS: u32 = 7;

/// The site's totals by range, as far as they are known.
#[derive(Debug, Default)]
pub struct RangeTotals {
    known: HashMap<DateRange, Timed<Counts>>,
    /// What is being asked for and has not come yet.
    asked: Vec<DateRange>,
}

impl RangeTotals {
    /// What is known of this range.
    pub fn of(&self, range: DateRange) -> Option<&Timed<Counts>> {
        self.known.get(&range)
    }

    /// Ranges that were asked for and have not come yet.
    pub fn still_to_come(&self) -> usize {
        self.asked.len()
    }

    /// As an answer said it, else as the sum of its days, if every one of them is known; the newer of the two.
    fn best(&self, range: DateRange) -> Option<Timed<Counts>> {
        let told = self.of(range).cloned();
        let summed = if range.days() > 1 { self.summed(range) } else { None };
        match (told, summed) {
            (Some(told), Some(summed)) => Some(if summed.as_of > told.as_of { summed } else { told }),
            (told, summed) => told.or(summed),
        }
    }

    /// The sum of all days of a range. Each day was loaded some time after its end, or before it: the sum counts as loaded
    /// that long after the end of the range, by the day for which this time was shortest. A week of complete days is thus
    /// complete, although its Monday was loaded on Wednesday.
    fn summed(&self, range: DateRange) -> Option<Timed<Counts>> {
        let add = |sum: &Count, more: &Count| Some(Count::from(sum.value()? + more.value()?));
        let of = |day: DateRange| {
            let known = self.of(day)?;
            let as_of = known.as_of.checked_add_signed(range.to() - day.to()).unwrap_or(known.as_of);
            Some(Timed { value: known.value.clone(), as_of })
        };
        let mut days = days(range);
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

    /// The totals of a range whose days are all over and were over when they were loaded: as an answer said it, otherwise
    /// the sum of its days.
    pub(super) fn complete(&self, range: DateRange) -> Option<Counts> {
        let settled = |range: DateRange| self.of(range).filter(|known| is_settled(range, known.as_of));
        if let Some(known) = settled(range) {
            return Some(known.value.clone());
        }
        let mut sums = Sums::default();
        for day in days(range) {
            let counts = &settled(day)?.value;
            if [&counts.human, &counts.ai, &counts.total].iter().any(|count| count.value().is_none()) {
                return None;
            }
            sums = sums.with(counts);
        }
        Some(Counts { human: sums.human.into(), ai: sums.ai.into(), total: sums.total.into() })
    }

    /// Mean of human and AI views over this day and the six before it; none unless all of them are known in full.
    pub fn mean_up_to(&self, day: NaiveDate) -> Option<ViewCount> {
        let from = day.checked_sub_days(Days::new(u64::from(MEAN_DAYS) - 1))?;
        let mut sum = ViewCount::ZERO;
        for day in days(DateRange::new(from, day)?) {
            let known = self.of(day).filter(|known| is_settled(day, known.as_of))?;
            sum = sum + height(&known.value)?;
        }
        Some(sum.scaled(1, MEAN_DAYS.into()))
    }
}

/// Human and AI views together, the height of a stacked bar; none where one of them is no count.
pub fn height(counts: &Counts) -> Option<ViewCount> {
    Some(counts.human.value()? + counts.ai.value()?)
}

/// The days of a range, each as a range.
pub fn days(range: DateRange) -> impl Iterator<Item = DateRange> {
    let to = range.to();
    range.from().iter_days().take_while(move |day| *day <= to).filter_map(|day| DateRange::new(day, day))
}

/// The ISO weeks of a range, Monday first, cut at its ends.
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

/// One bar: a day, or a week.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    pub range: DateRange,
    /// None while they are not known.
    pub totals: Option<Timed<Counts>>,
}

impl Bar {
    /// Whether what is shown leaves out a part of its last day: today, or a day that was asked for while it was going on.
    pub fn is_partial(&self, now: Time) -> bool {
        match &self.totals {
            Some(known) => !is_settled(self.range, known.as_of),
            None => self.range.contains(now.date_naive()),
        }
    }

    /// Whether it has to be asked for: unknown, or no longer fresh.
    pub fn is_missing(&self, now: Time) -> bool {
        !self.totals.as_ref().is_some_and(|known| self.range.is_fresh(known.as_of, now))
    }

    /// Whether it is a Saturday or a Sunday.
    pub fn is_weekend(&self) -> bool {
        self.range.days() == 1 && matches!(self.range.from().weekday(), Weekday::Sat | Weekday::Sun)
    }
}

/// A mean per day, and the days that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FullDaysMean {
    pub mean: ViewCount,
    /// Days that the mean is taken over.
    pub days: u32,
    /// All days of the range that are over.
    pub all: u32,
}

/// How many days of a range are over before this day.
fn days_before(range: DateRange, day: NaiveDate) -> u32 {
    let last = day.pred_opt().unwrap_or(day).min(range.to());
    DateRange::new(range.from(), last).map_or(0, |over| over.days())
}

/// The layer. A week of which not all days are known is asked for as one range: one request instead of up to seven.
#[derive(Debug)]
pub struct TrendDialog {
    pub range: DateRange,
    bars: Vec<DateRange>,
    selected: usize,
}

impl TrendDialog {
    /// The bars of a range, the last one selected.
    pub fn new(range: DateRange) -> Self {
        let bars = if range.days() >= WEEKLY_FROM { weeks(range) } else { days(range).collect::<Vec<_>>() };
        let selected = bars.len().saturating_sub(1);
        Self { range, bars, selected }
    }

    /// Whether a bar is a week, drawn as its mean per day.
    pub fn is_weekly(&self) -> bool {
        self.range.days() >= WEEKLY_FROM
    }

    /// What a bar stands for.
    pub fn unit(&self) -> &'static str {
        if self.is_weekly() { "week" } else { "day" }
    }

    /// How many bars.
    pub fn len(&self) -> usize {
        self.bars.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bars.is_empty()
    }

    /// Place of the selected bar.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// These bars, with what is known of each.
    pub fn bars<'a>(&'a self, totals: &'a RangeTotals) -> impl Iterator<Item = Bar> + 'a {
        self.bars.iter().map(|range| Bar { range: *range, totals: totals.best(*range) })
    }

    /// What has to be asked for, the newest first.
    pub fn missing(&self, totals: &RangeTotals, now: Time) -> Vec<DateRange> {
        let mut missing: Vec<DateRange> =
            self.bars(totals).filter(|bar| bar.is_missing(now)).map(|bar| bar.range).collect();
        missing.reverse();
        missing
    }

    /// The mean of human and AI views per day, over all days that are known in full. A week that isn't over counts with its
    /// days up to yesterday, or with those of them that are known one by one. `None` if no day is known in full.
    pub fn mean_of_full_days(&self, totals: &RangeTotals, now: Time) -> Option<FullDaysMean> {
        let settled = |range: DateRange| {
            let known = totals.best(range).filter(|known| is_settled(range, known.as_of))?;
            Some((height(&known.value)?, range.days()))
        };
        let today = now.date_naive();
        let until_yesterday = |bar: DateRange| bar.until(today.pred_opt()?);
        let counted = |bar: DateRange| match settled(bar).or_else(|| settled(until_yesterday(bar)?)) {
            Some(whole) => vec![whole],
            None => days(bar).filter_map(settled).collect(),
        };
        let (sum, days) = self
            .bars
            .iter()
            .flat_map(|bar| counted(*bar))
            .fold((ViewCount::ZERO, 0), |(sum, days), (views, of)| (sum + views, days + of));
        let all = days_before(self.range, today).max(days);
        (days > 0).then(|| FullDaysMean { mean: sum.scaled(1, days.into()), days, all })
    }

    pub(in crate::app) fn scroll(&mut self, by: Scroll, visible: usize) {
        self.selected = by.apply(self.selected, visible, self.bars.len());
    }
}

impl App {
    /// The key that shows the trend.
    pub(in crate::app) fn open_trend(&mut self, _now: Time, effects: &mut Vec<Effect>) {
        let range = self.views.query().range;
        let open = TrendDialog::new(range);
        // The days before it are part of the first means.
        let ahead = range.from().checked_sub_days(Days::new(u64::from(MEAN_DAYS) - 1));
        let from = ahead.filter(|_| !open.is_weekly()).unwrap_or(range.from());
        let mut wanted: Vec<DateRange> = DateRange::new(from, range.to()).into_iter().flat_map(days).collect();
        wanted.extend(open.bars.iter().filter(|bar| bar.days() > 1));
        self.dialogs.push(Dialog::Trend(Box::new(open)));
        effects.push(Effect::RecallTotals(wanted));
    }

    /// The key that asks for what is missing, after its price.
    pub(super) fn load_trend(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(Dialog::Trend(open)) = self.dialogs.last() else { return };
        let (unit, all) = (open.unit(), open.len());
        let mut missing = open.missing(&self.views.totals, now);
        let left = self.views_left();
        if self.views.totals.still_to_come() > 0 {
            self.notify(Severity::Info, "They are being asked for already.", now);
            return;
        }
        match missing.len() {
            0 => self.notify(Severity::Info, &format!("Every {unit} is known and fresh: nothing to ask for."), now),
            _ if left == 0 => {
                let text = self.nothing_left(now);
                self.notify(Severity::Problem, &text, now);
            }
            1 => self.load_totals(missing, effects),
            n => {
                let offer = if n > left as usize {
                    missing.truncate(left as usize);
                    format!("{n} requests, but only {left} left here. Ask for the newest {left}?")
                } else {
                    format!("{n} requests, {left} left here. Ask for them, the newest first?")
                };
                let text = format!("{n} of {all} {unit}s are not known or not fresh: {offer}");
                let yes = ConfirmAction::LoadTotals(missing);
                self.dialogs.push(Dialog::Question(ConfirmDialog { text, yes }));
            }
        }
    }

    pub(in crate::app) fn load_totals(&mut self, ranges: Vec<DateRange>, effects: &mut Vec<Effect>) {
        self.views.totals.asked.clone_from(&ranges);
        effects.push(Effect::LoadTotals(ranges));
    }

    /// What is known of the bars and what the rest costs, for the foot of the layer.
    pub fn trend_price(&self, open: &TrendDialog, now: Time, short: bool) -> String {
        let (missing, all, unit) = (open.missing(&self.views.totals, now).len(), open.len(), open.unit());
        let awaited = self.views.totals.still_to_come();
        let left = self.views_left();
        let asks = self.key_label(Context::Trend, Action::LoadAll);
        match missing {
            _ if awaited > 0 => format!("asking, {} to come", format::plural(awaited, unit)),
            0 if all == 1 => format!("the {unit} is known"),
            0 => format!("all {all} {unit}s known"),
            n if short => format!("{n} of {all} to ask: {asks}, {}, {left} left", format::plural(n, "request")),
            n => format!(
                "{n} of {all} {unit}s not known or not fresh: {asks} asks, {}, {left} left here",
                format::plural(n, "request")
            ),
        }
    }

    pub(in crate::app) fn totals_told(&mut self, range: DateRange, totals: Timed<Counts>) {
        let known = &mut self.views.totals;
        known.asked.retain(|asked| *asked != range);
        // A late answer does not take a newer one's place.
        if known.of(range).is_none_or(|old| old.as_of <= totals.as_of) {
            known.known.insert(range, totals);
        }
        self.dirty |= self.screen == Screen::Views;
    }

    pub(in crate::app) fn totals_recalled(
        &mut self,
        result: Result<Vec<(DateRange, Timed<Counts>)>, Failure>,
        now: Time,
        _effects: &mut Vec<Effect>,
    ) {
        match result {
            Ok(totals) => {
                for (range, totals) in totals {
                    if self.views.totals.of(range).is_none_or(|old| old.as_of <= totals.as_of) {
                        self.views.totals.known.insert(range, totals);
                    }
                }
            }
            // Unknown is what it stays; beside an open trend that needs a reason.
            Err(failure) if self.dialogs.iter().any(|top| matches!(top, Dialog::Trend(_))) => {
                self.notify_failure(&failure, now);
            }
            Err(_) => {}
        }
        self.dirty = true;
    }

    pub(in crate::app) fn totals_loaded(&mut self, result: Result<(), Failure>, now: Time) {
        let open = self.views.totals.still_to_come();
        self.views.totals.asked.clear();
        if let Err(failure) = result {
            let asks = self.key_label(Context::Trend, Action::LoadAll);
            let kept = if open > 0 { format!(" What came is kept; {asks} asks for the rest.") } else { String::new() };
            self.notify(Severity::Problem, &format!("{}{kept}", failure.sentence), now);
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
            let stamped = Timed { value: counts, as_of: moment(as_of) };
            totals.known.insert(range(day, day), stamped);
        }
        totals
    }

    const LATER: &str = "2026-11-20T12:00:00Z";

    #[test]
    fn a_range_has_a_bar_a_day_and_from_sixty_days_on_a_bar_a_week() {
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
    fn what_is_missing_is_what_is_unknown_or_was_loaded_while_it_went_on() {
        let totals = totals(&[
            ("2026-11-16", 5, LATER),
            // Loaded while that day went on: it does not become final by waiting.
            ("2026-11-17", 5, "2026-11-17T12:00:00Z"),
            ("2026-11-20", 5, LATER),
        ]);
        let trend = TrendDialog::new(range("2026-11-16", "2026-11-20"));
        let missing = |now: &str| -> Vec<String> {
            trend.missing(&totals, moment(now)).iter().map(|range| range.from().to_string()).collect()
        };
        assert_eq!(missing(LATER), ["2026-11-19", "2026-11-18", "2026-11-17"]);
        assert_eq!(missing("2026-11-20T12:06:00Z").len(), 4, "today is fresh for five minutes");
        let bars: Vec<Bar> = trend.bars(&totals).collect();
        let partial: Vec<bool> = bars.iter().map(|bar| bar.is_partial(moment(LATER))).collect();
        assert_eq!(partial, [false, true, false, false, true]);
    }

    #[test]
    fn a_week_is_known_from_its_days_once_all_of_them_are() {
        let mut known: Vec<(String, i64, &str)> = (9..15).map(|day| (format!("2026-11-{day:02}"), 10, LATER)).collect();
        let week = range("2026-11-09", "2026-11-15");
        let of = |known: &[(String, i64, &'static str)]| {
            totals(&known.iter().map(|(day, human, at)| (day.as_str(), *human, *at)).collect::<Vec<_>>()).best(week)
        };
        assert_eq!(of(&known), None, "a day is missing: not 0");
        known.push(("2026-11-15".to_owned(), 40, "2026-11-18T00:00:00Z"));
        let sum = of(&known).expect("known");
        assert_eq!(height(&sum.value), Some(107.into()));
        assert_eq!(sum.as_of, moment("2026-11-18T00:00:00Z"), "the last day was loaded first");
    }

    #[test]
    fn a_week_of_days_that_were_loaded_when_each_was_over_is_complete() {
        let week = range("2026-11-09", "2026-11-15");
        let known: Vec<(String, String)> =
            (9..16).map(|day| (format!("2026-11-{day:02}"), format!("2026-11-{:02}T09:00:00Z", day + 2))).collect();
        let mut known: Vec<_> = known.iter().map(|(day, as_of)| (day.as_str(), 10, as_of.as_str())).collect();
        let sum = totals(&known).best(week).expect("known");
        assert_eq!(sum.as_of, moment("2026-11-17T09:00:00Z"));
        let bar = Bar { range: week, totals: Some(sum) };
        assert!(!bar.is_partial(moment(LATER)) && !bar.is_missing(moment(LATER)));
        known[2].2 = "2026-11-11T12:00:00Z";
        let sum = totals(&known).best(week).expect("known");
        assert_eq!(sum.as_of, moment("2026-11-15T12:00:00Z"), "half a day is missing");
        assert!(Bar { range: week, totals: Some(sum) }.is_partial(moment(LATER)));
    }

    #[test]
    fn the_mean_needs_seven_days_that_are_known_in_full() {
        let mut known: Vec<(String, i64, &str)> = (14..20).map(|day| (format!("2026-11-{day}"), 6, LATER)).collect();
        let day: NaiveDate = "2026-11-19".parse().expect("a date");
        let of = |known: &[(String, i64, &'static str)], day: NaiveDate| {
            totals(&known.iter().map(|(day, human, at)| (day.as_str(), *human, *at)).collect::<Vec<_>>())
                .mean_up_to(day)
        };
        assert_eq!(of(&known, day), None);
        known.push(("2026-11-13".to_owned(), 20, LATER));
        assert_eq!(of(&known, day), Some(9.into()));
        known.push(("2026-11-20".to_owned(), 6, LATER));
        assert_eq!(of(&known, day.succ_opt().expect("a day")), None, "today is partial");
    }

    #[test]
    fn the_mean_of_a_long_range_counts_the_full_days_of_a_week_that_goes_on() {
        // 2026-11-20 is a Friday: four days of its week are over.
        let mut known: Vec<(String, i64, &str)> = (16..20).map(|day| (format!("2026-11-{day}"), 9, LATER)).collect();
        known.push(("2026-11-20".to_owned(), 500, LATER));
        let known: Vec<_> = known.iter().map(|(day, human, at)| (day.as_str(), *human, *at)).collect();
        let mut totals = totals(&known);
        let trend = TrendDialog::new(range("2026-09-14", "2026-11-20"));
        let mean = |totals: &RangeTotals| trend.mean_of_full_days(totals, moment(LATER)).expect("some days are known");
        assert_eq!(mean(&totals), FullDaysMean { mean: 10.into(), days: 4, all: 67 });
        // A week that is known as a whole, and one that was loaded before it was over.
        let mut week = |from: &str, to: &str, human: i64| {
            let counts = Counts { human: Count::Known(human), ai: Count::Known(0), total: Count::Known(human) };
            totals.known.insert(range(from, to), Timed { value: counts, as_of: moment(LATER) });
        };
        week("2026-11-09", "2026-11-15", 7 * 10 + 3);
        week("2026-11-16", "2026-11-20", 9_999);
        let found = mean(&totals);
        assert_eq!((found.days, found.all), (11, 67));
        assert_eq!(found.mean.rounded(), 10, "113 views on 11 days");
        assert_eq!(found.mean.tenths(), 103);
        // The days up to yesterday that were loaded at once, as a comparison does.
        let trend = TrendDialog::new(range("2026-09-15", "2026-11-20"));
        totals.known.remove(&range("2026-11-18", "2026-11-18"));
        let mean = |totals: &RangeTotals| trend.mean_of_full_days(totals, moment(LATER)).expect("some days are known");
        assert_eq!(mean(&totals).days, 10);
        let counts = Counts { human: Count::Known(40), ai: Count::Known(0), total: Count::Known(40) };
        let stamped = Timed { value: counts, as_of: moment(LATER) };
        totals.known.insert(range("2026-11-16", "2026-11-19"), stamped);
        assert_eq!(mean(&totals).days, 11);
    }

    #[test]
    fn a_day_with_numbers_that_are_no_counts_makes_no_sum() {
        let mut totals = totals(&[("2026-11-09", 1, LATER)]);
        let odd = Counts { human: Count::Known(-1), ai: Count::Missing, total: Count::Known(4) };
        let day = range("2026-11-10", "2026-11-10");
        totals.known.insert(day, Timed { value: odd, as_of: moment(LATER) });
        assert_eq!(totals.best(range("2026-11-09", "2026-11-10")), None);
    }
}
