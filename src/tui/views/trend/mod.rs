//! The trend: the site's human and AI views per day of the range, or per week if the range is long; or its visitors per
//! day. Cached totals are free. Each missing bar costs one request, and the total cost is shown before loading.

pub(in crate::tui) mod chart;
pub(in crate::tui) mod draw;

use super::all_pages::is_final;
use super::range_totals::{
    CompleteDaysMean, MIN_DAYS_FOR_WEEKLY_BARS, RangeTotals, TrendBar, bar_height, count_days_before, trend_bar_ranges,
};
use crate::model::period::DateRange;
use crate::model::views::DecimalCount;
use crate::tui::component::prelude::*;
use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
use crate::tui::{ViewsEffect, ViewsMsg, format};
use unicode_width::UnicodeWidthStr as _;

/// The trend dialog. A week with unknown days is loaded as one range: one request instead of up to seven.
#[derive(Debug)]
pub struct TrendDialog {
    pub range: DateRange,
    bars: Vec<DateRange>,
    selected: usize,
    /// Whether the bars show visitors instead of views.
    shows_visitors: bool,
}

impl TrendDialog {
    /// Creates the dialog for a range, with the last bar selected.
    pub fn new(range: DateRange) -> Self {
        let bars = trend_bar_ranges(range);
        let selected = bars.len().saturating_sub(1);
        Self { range, bars, selected, shows_visitors: false }
    }

    /// Returns the totals that the bars show.
    fn totals<'a>(&self, app: &'a App) -> &'a RangeTotals {
        if self.shows_visitors { app.views.visitors.totals() } else { &app.views.totals }
    }

    /// Switches between views and visitors, and reads the visitors from the cache. If each bar is a week, shows a
    /// notice instead.
    fn toggle_visitors(&mut self, cx: &mut Cx<'_>) {
        if self.is_weekly() {
            let text = "No visitors per week: a visitor who comes on several days would be counted several times.";
            return cx.notify(Severity::Info, text);
        }
        self.shows_visitors = !self.shows_visitors;
        if self.shows_visitors {
            let wanted = self.totals_to_read(cx.app.views.previous_period());
            cx.app.read_visitor_totals(wanted, cx.effects);
        }
    }

    /// Whether each bar is a week, drawn as its mean per day.
    pub fn is_weekly(&self) -> bool {
        self.range.days() >= MIN_DAYS_FOR_WEEKLY_BARS
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
    pub fn missing_ranges(&self, totals: &RangeTotals, now: Time) -> Vec<DateRange> {
        let mut missing: Vec<DateRange> =
            self.bars(totals).filter(|bar| bar.needs_loading(now)).map(|bar| bar.range).collect();
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
        let until_yesterday = |bar: DateRange| bar.days_up_to(today.pred_opt()?);
        let counted = |bar: DateRange| match settled(bar).or_else(|| settled(until_yesterday(bar)?)) {
            Some(week) => vec![week],
            None => bar.single_days().filter_map(settled).collect(),
        };
        let (sum, days) = self
            .bars
            .iter()
            .flat_map(|bar| counted(*bar))
            .fold((DecimalCount::ZERO, 0), |(sum, days), (views, of)| (sum + views, days + of));
        let all = count_days_before(self.range, today).max(days);
        (days > 0).then(|| CompleteDaysMean { mean: sum.scaled(1, days.into()), known_days: days, complete_days: all })
    }
}

/// The number of bars that PgUp and PgDn move by.
const BARS_PER_PAGE_KEY_PRESS: usize = 8;

impl TrendDialog {
    /// Opens the trend and reads the totals that it shows from the cache.
    pub fn open(cx: &mut Cx<'_>) {
        let range = cx.app.views.query().range;
        let open = Self::new(range);
        let wanted = open.totals_to_read(cx.app.views.previous_period());
        cx.open(open);
        cx.run(Effect::Views(ViewsEffect::LoadCachedTotals(wanted)));
    }

    /// Returns the ranges whose totals the trend needs from the cache.
    pub(super) fn totals_to_read(&self, previous: Option<DateRange>) -> Vec<DateRange> {
        let previous = previous.filter(|_| !self.is_weekly());
        let days = [Some(self.range), previous].into_iter().flatten().flat_map(DateRange::single_days);
        days.chain(self.bars.iter().copied().filter(|bar| bar.days() > 1)).collect()
    }

    /// Loads the missing totals. If that costs more than one request, asks first.
    fn load_missing(&self, cx: &mut Cx<'_>) {
        let (unit, all) = (self.unit(), self.len());
        let mut missing = self.missing_ranges(self.totals(cx.app), cx.now);
        let left = cx.app.view_requests_left();
        if self.totals(cx.app).pending_count() > 0 {
            return cx.notify(Severity::Info, "Already loading.");
        }
        match missing.len() {
            0 => cx.notify(Severity::Info, &format!("Every {unit} is loaded and up to date.")),
            _ if left == 0 => {
                cx.app.notify_no_requests_left(cx.now);
            }
            1 if self.shows_visitors => cx.app.load_visitor_totals(missing, cx.effects),
            1 => cx.app.load_totals(missing, cx.effects),
            n => {
                // Some days of a week may be loaded.
                let state = if unit == "day" { "not loaded or outdated" } else { "incomplete or outdated" };
                let text = if n > left as usize {
                    missing.truncate(left as usize);
                    let (are_left, newest) = match left {
                        1 => ("request is left", unit.to_owned()),
                        _ => ("requests are left", left.to_string()),
                    };
                    format!(
                        "{n} of {all} {unit}s are {state}, but only {left} {are_left} this hour. Load the newest \
                         {newest}?"
                    )
                } else {
                    format!(
                        "Load {n} of {all} {unit}s ({state})? Uses {n} requests ({left} left this hour), newest {unit} first."
                    )
                };
                let on_yes = match self.shows_visitors {
                    true => ConfirmAction::LoadVisitorTotals(missing),
                    false => ConfirmAction::LoadTotals(missing),
                };
                cx.open(ConfirmDialog { text, on_yes });
            }
        }
    }

    /// Returns what the missing bars cost, for the last line of the dialog; `None` if nothing is missing. While bars
    /// are being loaded, returns how many of them are left.
    fn cost_text(&self, app: &App, now: Time, width: usize) -> Option<String> {
        let totals = self.totals(app);
        let (missing, all, unit) = (self.missing_ranges(totals, now).len(), self.len(), self.unit());
        if totals.pending_count() > 0 {
            return Some(format!("loading, {} left", format::plural(totals.pending_count(), unit)));
        }
        if missing == 0 {
            return None;
        }
        let is_outdated = self.bars(totals).any(|bar| bar.totals.is_some() && bar.needs_loading(now));
        let state = match (is_outdated, unit) {
            (true, _) => "not loaded or outdated",
            (false, "day") => "not loaded",
            // “Not loaded” could be wrong, because some days of a missing week may be loaded.
            (false, _) => "not fully loaded",
        };
        let short_state = if state == "not loaded" { state } else { "incomplete" };
        let (left, load_key) = (app.view_requests_left(), app.key_label(Context::Trend, Action::LoadAll));
        let requests = format::plural(missing, "request");
        let them = if missing == 1 { "it" } else { "them" };
        let forms = [
            format!(
                "{missing} of {all} {unit}s {state}: press {load_key} to load {them} ({requests}, {left} left this hour)"
            ),
            format!("{missing} of {all} {unit}s {state}: press {load_key} to load {them} ({requests}, {left} left)"),
            format!("{missing}/{all} {unit}s {state}: press {load_key} ({requests}, {left} left)"),
            format!("{missing}/{all} {unit}s {state}: press {load_key} ({requests})"),
            format!("{missing}/{all} {short_state}: press {load_key} ({requests})"),
        ];
        let [.., shortest] = &forms;
        Some(forms.iter().find(|form| form.width() <= width).unwrap_or(shortest).clone())
    }
}

impl Component for TrendDialog {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Trend, Context::Lists, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        let needs_loading = |bar: TrendBar| bar.needs_loading(app.updated_at);
        let is_loading = self.totals(app).pending_count() > 0;
        let can_load = || !is_loading && app.view_requests_left() > 0 && self.bars(self.totals(app)).any(needs_loading);
        match action {
            Action::LoadAll => FooterLabel::default_if(can_load()),
            Action::Metric if self.is_weekly() => None,
            Action::Metric if self.shows_visitors => Some("views".into()),
            _ => Some(FooterLabel::Default),
        }
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::LoadAll => self.load_missing(cx),
            Action::Metric => self.toggle_visitors(cx),
            _ => return Flow::Unhandled,
        }
        Flow::Handled
    }

    fn scroll(&mut self, by: Scroll, _cx: &mut Cx<'_>) {
        self.selected = by.apply(self.selected, BARS_PER_PAGE_KEY_PRESS, self.bars.len());
    }

    fn scroll_with_wheel(&mut self, _at: Position, by: isize, cx: &mut Cx<'_>) {
        self.scroll(Scroll::By(by.signum()), cx);
    }

    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        // If the cache can't be read, the totals stay unknown. The failure is shown only while the trend is open.
        if let Msg::Views(ViewsMsg::CachedTotalsLoaded(Err(failure))) = &msg {
            cx.app.notify_failure(failure, cx.now);
        }
        Err(msg)
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        draw::draw(frame, view, self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::views::Count;
    use crate::model::views::Counts;
    use crate::tui::views::Timed;

    fn range(from: &str, to: &str) -> DateRange {
        DateRange::new(from.parse().expect("a date"), to.parse().expect("a date")).expect("in order")
    }

    fn moment(text: &str) -> Time {
        text.parse().expect("a time")
    }

    fn totals(known: &[(&str, i64, &str)]) -> RangeTotals {
        let mut totals = RangeTotals::default();
        for (day, human, as_of) in known {
            let counts = Counts::new(Count::Known(*human), Count::Known(1), Count::Known(human + 1));
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
            // Loaded before the day was over, so the totals stay incomplete until they are loaded again.
            ("2026-11-17", 5, "2026-11-17T12:00:00Z"),
            ("2026-11-20", 5, TODAY_AT_NOON),
        ]);
        let trend = TrendDialog::new(range("2026-11-16", "2026-11-20"));
        let missing = |now: &str| -> Vec<String> {
            trend.missing_ranges(&totals, moment(now)).iter().map(|range| range.from().to_string()).collect()
        };
        assert_eq!(missing(TODAY_AT_NOON), ["2026-11-19", "2026-11-18", "2026-11-17"]);
        assert_eq!(missing("2026-11-20T12:06:00Z").len(), 4, "today is fresh for five minutes");
        let bars: Vec<TrendBar> = trend.bars(&totals).collect();
        let incomplete: Vec<bool> = bars.iter().map(|bar| bar.is_incomplete(moment(TODAY_AT_NOON))).collect();
        assert_eq!(incomplete, [false, true, false, false, true]);
    }

    #[test]
    fn the_footer_offers_to_load_totals_that_are_missing_or_outdated() {
        let now = moment(TODAY_AT_NOON);
        let scope = crate::model::endpoint::Scope {
            base_url: "https://api.example.com".into(),
            project: "a".into(),
            organization: None,
        };
        let utc = chrono::FixedOffset::east_opt(0).expect("UTC");
        let (mut app, _) = App::new(crate::tui::AppConfig::new(scope, utc), now);
        let trend = TrendDialog::new(range("2026-11-17", "2026-11-17"));
        let offers_load = |app: &App| trend.footer_label(Action::LoadAll, app).is_some();
        assert!(offers_load(&app), "unknown");
        app.views.totals = totals(&[("2026-11-17", 5, TODAY_AT_NOON)]);
        assert!(!offers_load(&app), "loaded after the day");
        app.views.totals = totals(&[("2026-11-17", 5, "2026-11-17T12:00:00Z")]);
        assert!(offers_load(&app), "loaded before the day was over");
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
        assert!(!bar.is_incomplete(moment(TODAY_AT_NOON)) && !bar.needs_loading(moment(TODAY_AT_NOON)));
        known[2].2 = "2026-11-11T12:00:00Z";
        let sum = totals(&known).newest_totals(week).expect("known");
        assert_eq!(sum.as_of, moment("2026-11-15T12:00:00Z"), "half a day is missing");
        assert!(TrendBar { range: week, totals: Some(sum) }.is_incomplete(moment(TODAY_AT_NOON)));
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
            let counts = Counts::new(Count::Known(human), Count::Known(0), Count::Known(human));
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
        let counts = Counts::new(Count::Known(40), Count::Known(0), Count::Known(40));
        let stamped = Timed { value: counts, as_of: moment(TODAY_AT_NOON) };
        totals.by_range.insert(range("2026-11-16", "2026-11-19"), stamped);
        assert_eq!(mean(&totals).known_days, 11);
    }

    #[test]
    fn a_day_without_valid_counts_has_no_sum() {
        let mut totals = totals(&[("2026-11-09", 1, TODAY_AT_NOON)]);
        let odd = Counts::new(Count::Known(-1), Count::Missing, Count::Known(4));
        let day = range("2026-11-10", "2026-11-10");
        totals.by_range.insert(day, Timed { value: odd, as_of: moment(TODAY_AT_NOON) });
        assert_eq!(totals.newest_totals(range("2026-11-09", "2026-11-10")), None);
    }
}
