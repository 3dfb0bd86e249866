//! The range on screen: presets, the previous and the next period, custom ranges.

use super::super::{App, Effect, Severity};
use super::ViewsScreen;
use crate::model::Time;
use crate::model::period::{DateRange, Period, Preset};
use chrono::NaiveDate;

impl ViewsScreen {
    /// The chosen preset; after midnight, the range on screen may still be the one that it meant the day before.
    pub fn preset(&self) -> Option<Preset> {
        self.preset
    }

    /// The preset whose days are on screen.
    pub fn preset_on(&self, today: NaiveDate) -> Option<Preset> {
        self.preset.filter(|preset| preset.range(today) == self.query.range)
    }

    /// The name of the range: that of its preset, week, month or quarter; none for other days.
    pub fn range_name(&self, today: NaiveDate) -> Option<String> {
        self.preset_on(today).map(|preset| preset.name().to_owned()).or_else(|| self.period.name())
    }

    /// The next preset; the first one after a range of one's own.
    pub fn next_preset(&mut self, now: Time) -> Option<Effect> {
        let preset = self.preset.map_or(Preset::SevenDays, Preset::next);
        self.choose(preset.period(now.date_naive()), Some(preset), now)
    }

    /// A range of one's own, which has come.
    pub fn custom(&mut self, range: DateRange) -> Option<Effect> {
        (self.preset, self.period) = (None, Period::days(range));
        self.set_range(range)
    }

    /// The days of a period that have come; `preset` where it was chosen as one. None when it begins after today.
    pub fn choose(&mut self, period: Period, preset: Option<Preset>, now: Time) -> Option<Effect> {
        let range = period.range(now.date_naive())?;
        (self.preset, self.period) = (preset, period);
        self.set_range(range)
    }

    /// The previous or next period: as many days, or the week, month or quarter. None for one that begins after today.
    pub fn step(&mut self, steps: i32, now: Time) -> Option<Effect> {
        let today = now.date_naive();
        let period = self.period.step(steps).filter(|period| period.range(today).is_some())?;
        self.choose(period, period.preset(today), now)
    }

    /// Counts the days of a preset from today, and those of a period that goes on up to today. Whether the range is
    /// another one now.
    pub(super) fn follow_today(&mut self, now: Time) -> bool {
        let (today, before) = (now.date_naive(), self.query.range);
        if let Some(preset) = self.preset {
            self.period = preset.period(today);
        }
        if self.preset.is_some() || self.period.whole().to() > self.query.range.to() {
            self.query.range = self.period.range(today).unwrap_or(before);
        }
        self.query.range != before
    }
}

impl App {
    /// The keys for the previous and the next period.
    pub(in crate::app) fn step_period(&mut self, steps: i32, now: Time, effects: &mut Vec<Effect>) {
        let before = self.views.query().range;
        effects.extend(self.views.step(steps, now));
        if steps > 0 && self.views.query().range == before {
            self.notify(Severity::Info, "Nothing is known of the days after today.", now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Time {
        "2026-11-20T12:00:00Z".parse().expect("a time")
    }

    fn shown(views: &ViewsScreen) -> (String, Option<String>) {
        (views.query().range.to_string(), views.range_name(now().date_naive()))
    }

    fn named(range: &str, name: &str) -> (String, Option<String>) {
        (range.to_owned(), Some(name.to_owned()))
    }

    #[test]
    fn the_presets_go_round() {
        let mut views = ViewsScreen::new(now());
        let names: Vec<_> = Preset::ALL
            .iter()
            .filter_map(|_| {
                views.next_preset(now());
                views.range_name(now().date_naive())
            })
            .collect();
        let weeks = ["yesterday", "week", "last week"];
        let months = ["month", "last month", "quarter", "last quarter"];
        assert_eq!(names, [["30d", "90d"].as_slice(), &weeks, &months, &["7d"]].concat());
    }

    #[test]
    fn days_step_by_their_length_and_not_past_today() {
        let mut views = ViewsScreen::new(now());
        views.step(-1, now());
        assert_eq!(shown(&views), ("2026-11-07 … 2026-11-13".to_owned(), None));
        views.step(1, now());
        assert_eq!(views.preset(), Some(Preset::SevenDays));
        assert!(views.step(1, now()).is_none(), "nothing after today");
    }

    #[test]
    fn weeks_step_by_whole_weeks_and_come_back_to_today() {
        let mut views = ViewsScreen::new(now());
        views.choose(Preset::ThisWeek.period(now().date_naive()), Some(Preset::ThisWeek), now());
        assert_eq!(shown(&views), named("2026-11-16 … 2026-11-20", "week"));
        views.step(-1, now());
        assert_eq!(shown(&views), named("2026-11-09 … 2026-11-15", "last week"));
        views.step(-1, now());
        assert_eq!(shown(&views), named("2026-11-02 … 2026-11-08", "2026-W45"));
        views.step(2, now());
        assert_eq!(shown(&views), named("2026-11-16 … 2026-11-20", "week"));
    }

    #[test]
    fn a_preset_is_not_named_once_the_days_on_screen_are_others() {
        let views = ViewsScreen::new(now());
        let tomorrow = now().date_naive().succ_opt().expect("a day");
        assert_eq!((views.preset(), views.preset_on(tomorrow)), (Some(Preset::SevenDays), None));
        assert_eq!(views.range_name(tomorrow), None, "seven days up to yesterday");
    }

    #[test]
    fn months_step_by_the_calendar_and_come_back_to_today() {
        let mut views = ViewsScreen::new(now());
        views.choose(Preset::ThisMonth.period(now().date_naive()), Some(Preset::ThisMonth), now());
        assert_eq!(shown(&views), named("2026-11-01 … 2026-11-20", "month"));
        views.step(-1, now());
        assert_eq!(shown(&views), named("2026-10-01 … 2026-10-31", "last month"));
        views.step(-1, now());
        assert_eq!(shown(&views), named("2026-09-01 … 2026-09-30", "2026-09"));
        views.step(1, now());
        views.step(1, now());
        assert_eq!(shown(&views), named("2026-11-01 … 2026-11-20", "month"));
        assert!(views.step(1, now()).is_none());
    }

    #[test]
    fn a_range_that_ends_before_a_whole_length_was_over_is_cut_at_today_and_returns() {
        let mut views = ViewsScreen::new(now());
        let day = |text: &str| text.parse().expect("a date");
        let ten = DateRange::new(day("2026-11-05"), day("2026-11-14")).expect("a range");
        views.custom(ten);
        views.step(1, now());
        assert_eq!(views.query().range.to_string(), "2026-11-15 … 2026-11-20");
        views.step(-1, now());
        assert_eq!(views.query().range, ten);
    }

    #[test]
    fn after_midnight_the_range_follows_today_but_leaves_days_of_ones_own() {
        let tomorrow: Time = "2026-12-01T00:10:00Z".parse().expect("a time");
        let mut views = ViewsScreen::new(now());
        assert!(!views.follow_today(now()));
        assert!(views.follow_today(tomorrow));
        assert_eq!(views.query().range.to_string(), "2026-11-25 … 2026-12-01");
        let mut views = ViewsScreen::new(now());
        views.choose(Preset::ThisMonth.period(now().date_naive()), None, now());
        views.follow_today(tomorrow);
        assert_eq!(views.query().range.to_string(), "2026-11-01 … 2026-11-30", "the month is over");
        let mut views = ViewsScreen::new(now());
        let days = views.query().range;
        views.custom(days);
        views.follow_today(tomorrow);
        assert_eq!(views.query().range, days);
    }
}
