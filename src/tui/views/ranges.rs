//! Choosing the range on screen: presets, the previous and the next period, custom ranges.

use super::super::{App, Effect, Severity};
use super::ViewsState;
use crate::model::Time;
use crate::model::period::{DateRange, Period, Preset};
use chrono::NaiveDate;

impl ViewsState {
    /// Returns the chosen preset. After midnight, the screen may still show the days that the preset meant the day
    /// before.
    pub fn preset(&self) -> Option<Preset> {
        self.preset
    }

    /// Returns the chosen preset if the screen shows the days that the preset means on the day `today`.
    pub fn preset_if_current(&self, today: NaiveDate) -> Option<Preset> {
        self.preset.filter(|preset| preset.range(today) == self.query.range)
    }

    /// Returns the name of the range on screen; `None` unless the range is a preset, a week, a month or a quarter.
    pub fn range_name(&self, today: NaiveDate) -> Option<String> {
        self.preset_if_current(today).map(|preset| preset.name().to_owned()).or_else(|| self.period.name())
    }

    /// Switches to the next preset, or from a custom range to the first preset.
    pub fn switch_to_next_preset(&mut self, now: Time) -> Option<Effect> {
        let preset = self.preset.map_or(Preset::SevenDays, Preset::next);
        self.set_period(preset.period(now.date_naive()), Some(preset), now)
    }

    /// Switches to a custom range, which must not contain future days.
    pub fn set_custom_range(&mut self, range: DateRange) -> Option<Effect> {
        (self.preset, self.period) = (None, Period::from_range(range));
        self.set_range(range)
    }

    /// Switches to the days of `period` up to today; does nothing if the period begins after today. `preset` is the
    /// preset that means this period, if there is one.
    pub fn set_period(&mut self, period: Period, preset: Option<Preset>, now: Time) -> Option<Effect> {
        let range = period.range(now.date_naive())?;
        (self.preset, self.period) = (preset, period);
        self.set_range(range)
    }

    /// Goes `steps` periods forward, or back if negative. A period has as many days as the range, or is a week, a month
    /// or a quarter. Does nothing if the new period begins after today.
    pub fn step_range(&mut self, steps: i32, now: Time) -> Option<Effect> {
        let today = now.date_naive();
        let period = self.period.step(steps).filter(|period| period.range(today).is_some())?;
        self.set_period(period, period.preset(today), now)
    }

    /// Updates the range after midnight: a preset moves to today, and a period in progress is extended up to today.
    /// Returns whether the range changed.
    pub(in crate::tui) fn update_for_today(&mut self, now: Time) -> bool {
        let (today, before) = (now.date_naive(), self.query.range);
        if let Some(preset) = self.preset {
            self.period = preset.period(today);
        }
        if self.preset.is_some() || self.period.all_days().to() > self.query.range.to() {
            self.query.range = self.period.range(today).unwrap_or(before);
        }
        self.query.range != before
    }

    /// Updates the range after midnight. If the range changes, returns the effect that reads the new range from the
    /// cache.
    pub(in crate::tui) fn move_range_to_today(&mut self, now: Time) -> Option<Effect> {
        if !self.update_for_today(now) {
            return None;
        }
        self.query.page = 1;
        self.table.select_first_or_last_line(false);
        Some(self.load_cached())
    }
}

impl App {
    /// Goes `steps` periods forward, or back if negative. Shows a notice if the new period would begin after today.
    pub(in crate::tui) fn step_period(&mut self, steps: i32, now: Time, effects: &mut Vec<Effect>) {
        let before = self.views.query().range;
        effects.extend(self.views.step_range(steps, now));
        if steps > 0 && self.views.query().range == before {
            self.notify(Severity::Info, "There are no page views after today.", now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Time {
        "2026-11-20T12:00:00Z".parse().expect("a time")
    }

    fn shown(views: &ViewsState) -> (String, Option<String>) {
        (views.query().range.to_string(), views.range_name(now().date_naive()))
    }

    fn range_with_name(range: &str, name: &str) -> (String, Option<String>) {
        (range.to_owned(), Some(name.to_owned()))
    }

    #[test]
    fn the_presets_wrap_around() {
        let mut views = ViewsState::new(now());
        let names: Vec<_> = Preset::ALL
            .iter()
            .filter_map(|_| {
                views.switch_to_next_preset(now());
                views.range_name(now().date_naive())
            })
            .collect();
        let weeks = ["yesterday", "week", "last week"];
        let months = ["month", "last month", "quarter", "last quarter"];
        assert_eq!(names, [["30d", "90d"].as_slice(), &weeks, &months, &["7d"]].concat());
    }

    #[test]
    fn a_range_of_days_steps_by_its_length_and_not_past_today() {
        let mut views = ViewsState::new(now());
        views.step_range(-1, now());
        assert_eq!(shown(&views), ("2026-11-07 … 2026-11-13".to_owned(), None));
        views.step_range(1, now());
        assert_eq!(views.preset(), Some(Preset::SevenDays));
        assert!(views.step_range(1, now()).is_none(), "nothing after today");
    }

    #[test]
    fn a_week_steps_by_complete_weeks_and_is_cut_at_today() {
        let mut views = ViewsState::new(now());
        views.set_period(Preset::ThisWeek.period(now().date_naive()), Some(Preset::ThisWeek), now());
        assert_eq!(shown(&views), range_with_name("2026-11-16 … 2026-11-20", "week"));
        views.step_range(-1, now());
        assert_eq!(shown(&views), range_with_name("2026-11-09 … 2026-11-15", "last week"));
        views.step_range(-1, now());
        assert_eq!(shown(&views), range_with_name("2026-11-02 … 2026-11-08", "2026-W45"));
        views.step_range(2, now());
        assert_eq!(shown(&views), range_with_name("2026-11-16 … 2026-11-20", "week"));
    }

    #[test]
    fn a_preset_has_no_name_if_other_days_are_on_screen() {
        let views = ViewsState::new(now());
        let tomorrow = now().date_naive().succ_opt().expect("a day");
        assert_eq!((views.preset(), views.preset_if_current(tomorrow)), (Some(Preset::SevenDays), None));
        assert_eq!(views.range_name(tomorrow), None, "seven days up to yesterday");
    }

    #[test]
    fn a_month_steps_by_calendar_months_and_is_cut_at_today() {
        let mut views = ViewsState::new(now());
        views.set_period(Preset::ThisMonth.period(now().date_naive()), Some(Preset::ThisMonth), now());
        assert_eq!(shown(&views), range_with_name("2026-11-01 … 2026-11-20", "month"));
        views.step_range(-1, now());
        assert_eq!(shown(&views), range_with_name("2026-10-01 … 2026-10-31", "last month"));
        views.step_range(-1, now());
        assert_eq!(shown(&views), range_with_name("2026-09-01 … 2026-09-30", "2026-09"));
        views.step_range(1, now());
        views.step_range(1, now());
        assert_eq!(shown(&views), range_with_name("2026-11-01 … 2026-11-20", "month"));
        assert!(views.step_range(1, now()).is_none());
    }

    #[test]
    fn a_range_that_steps_past_today_is_cut_and_a_step_back_restores_it() {
        let mut views = ViewsState::new(now());
        let day = |text: &str| text.parse().expect("a date");
        let ten = DateRange::new(day("2026-11-05"), day("2026-11-14")).expect("a range");
        views.set_custom_range(ten);
        views.step_range(1, now());
        assert_eq!(views.query().range.to_string(), "2026-11-15 … 2026-11-20");
        views.step_range(-1, now());
        assert_eq!(views.query().range, ten);
    }

    #[test]
    fn after_midnight_presets_follow_today_and_custom_ranges_stay() {
        let tomorrow: Time = "2026-12-01T00:10:00Z".parse().expect("a time");
        let mut views = ViewsState::new(now());
        assert!(!views.update_for_today(now()));
        assert!(views.update_for_today(tomorrow));
        assert_eq!(views.query().range.to_string(), "2026-11-25 … 2026-12-01");
        let mut views = ViewsState::new(now());
        views.set_period(Preset::ThisMonth.period(now().date_naive()), None, now());
        views.update_for_today(tomorrow);
        assert_eq!(views.query().range.to_string(), "2026-11-01 … 2026-11-30", "the month is over");
        let mut views = ViewsState::new(now());
        let days = views.query().range;
        views.set_custom_range(days);
        views.update_for_today(tomorrow);
        assert_eq!(views.query().range, days);
    }
}
