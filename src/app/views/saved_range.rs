//! What is remembered of the views screen from one start to the next: the range as it was chosen, and how its pages were
//! listed.

use super::ViewsScreen;
use super::table::{Metric, PageColumn, PageSorting, Shape};
use crate::model::Time;
use crate::model::layout::{ShownScreen, SortBy, ViewsLayout};
use crate::model::load::Load;
use crate::model::period::{DateRange, Period, Preset};
use crate::model::views::{LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN};

impl ViewsScreen {
    /// As it is left now.
    pub(in crate::app) fn layout(&self) -> ViewsLayout {
        let shape = self.table.shape();
        let sorting = shape.sorting;
        let usual = PageSorting::default();
        ViewsLayout {
            range: self.chosen_range(),
            limit: Some(self.query.limit).filter(|limit| *limit != LIMIT_DEFAULT),
            metric: Some(shape.metric).filter(|metric| *metric != Metric::default()).map(|m| m.name().to_owned()),
            log: shape.log,
            folded: shape.folded,
            sort: (sorting != usual).then(|| SortBy {
                by: sorting.by.name(),
                reversed: sorting.descending != PageSorting::by(sorting.by).descending,
            }),
            filter: shape.filter,
        }
    }

    /// How the range was chosen; none for the usual one.
    fn chosen_range(&self) -> Option<ShownScreen> {
        let days = self.period.whole();
        match self.preset {
            Some(Preset::SevenDays) => None,
            Some(preset) => Some(ShownScreen::Preset(preset.name().to_owned())),
            None => Some(ShownScreen::Days(days.from(), days.to())),
        }
    }

    /// Whether a range was shown, or is about to be.
    pub(in crate::app) fn is_begun(&self) -> bool {
        !matches!(self.load, Load::Idle) || self.table.report().is_some()
    }

    /// As it was left; nothing is asked for before the screen is shown. What means nothing any more is passed over.
    pub(in crate::app) fn restore(&mut self, layout: &ViewsLayout, now: Time) {
        let today = now.date_naive();
        let chosen = match &layout.range {
            Some(ShownScreen::Preset(name)) => {
                let preset = Preset::ALL.into_iter().find(|preset| preset.name() == name);
                preset.map(|preset| (preset.period(today), Some(preset)))
            }
            Some(ShownScreen::Days(from, to)) => DateRange::new(*from, *to).map(|days| (Period::days(days), None)),
            None => None,
        };
        if let Some((period, preset)) = chosen
            && let Some(range) = period.range(today)
        {
            (self.period, self.preset, self.query.range) = (period, preset, range);
        }
        self.query.limit = layout.limit.unwrap_or(LIMIT_DEFAULT).clamp(LIMIT_MIN, LIMIT_MAX);
        let metric = Metric::ALL.into_iter().find(|metric| layout.metric.as_deref() == Some(metric.name()));
        let sorting = layout.sort.as_ref().and_then(|sort| {
            let usual = PageSorting::by(PageColumn::named(&sort.by)?);
            Some(PageSorting { descending: usual.descending != sort.reversed, ..usual })
        });
        self.table.take_shape(Shape {
            metric: metric.unwrap_or_default(),
            log: layout.log,
            sorting: sorting.unwrap_or_default(),
            filter: layout.filter.clone(),
            folded: layout.folded,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        text.parse().expect("a time")
    }

    fn now() -> Time {
        at("2026-11-20T12:00:00Z")
    }

    fn left(change: impl FnOnce(&mut ViewsScreen)) -> ViewsLayout {
        let mut views = ViewsScreen::new(now());
        change(&mut views);
        views.layout()
    }

    fn restored(layout: &ViewsLayout, now: Time) -> ViewsScreen {
        let mut views = ViewsScreen::new(now);
        views.restore(layout, now);
        views
    }

    #[test]
    fn the_usual_is_not_written_down() {
        assert_eq!(left(|_| {}), ViewsLayout::default());
        assert_eq!(restored(&ViewsLayout::default(), now()).layout(), ViewsLayout::default());
    }

    #[test]
    fn a_preset_moves_with_the_days_and_days_of_ones_own_stay() {
        let layout = left(|views| drop(views.next_preset(now())));
        assert_eq!(layout.range, Some(ShownScreen::Preset("30d".to_owned())));
        let views = restored(&layout, at("2026-12-24T01:00:00Z"));
        assert_eq!(views.query().range.to_string(), "2026-11-25 … 2026-12-24");
        assert_eq!(views.preset(), Some(Preset::ThirtyDays));
        let seven = restored(&ViewsLayout::default(), at("2026-12-24T01:00:00Z"));
        assert_eq!(seven.query().range.to_string(), "2026-12-18 … 2026-12-24");
        let day = |text: &str| text.parse().expect("a day");
        let own = DateRange::new(day("2026-09-01"), day("2026-09-30")).expect("a range");
        let layout = left(|views| drop(views.custom(own)));
        let views = restored(&layout, at("2026-12-24T01:00:00Z"));
        let name = views.range_name(day("2026-12-24"));
        assert_eq!((views.query().range, name.as_deref()), (own, Some("2026-09")), "a whole month");
    }

    #[test]
    fn metric_scale_order_filter_and_folding_come_back() {
        let layout = left(|views| {
            let sorting = PageSorting { by: PageColumn::Change(Metric::Ai), descending: false };
            let shape = Shape { metric: Metric::Share, log: true, sorting, filter: "/guides".to_owned(), folded: true };
            views.table.take_shape(shape);
            drop(views.set_limit(25));
        });
        assert_eq!(layout.sort, Some(SortBy { by: "Δ AI".to_owned(), reversed: true }));
        let views = restored(&layout, now());
        assert_eq!((views.layout(), views.query().limit), (layout, 25));
    }

    #[test]
    fn what_means_nothing_any_more_is_passed_over() {
        let day = |text: &str| text.parse().expect("a day");
        let usual = ViewsScreen::new(now()).query();
        let odd = |range| ViewsLayout {
            range: Some(range),
            limit: Some(9999),
            metric: Some("clicks".to_owned()),
            sort: Some(SortBy { by: "mood".to_owned(), reversed: true }),
            ..ViewsLayout::default()
        };
        let ranges = [
            ShownScreen::Preset("fortnight".to_owned()),
            ShownScreen::Days(day("2026-11-09"), day("2026-11-01")),
            ShownScreen::Days(day("2027-01-01"), day("2027-01-31")),
        ];
        for range in ranges {
            let views = restored(&odd(range), now());
            assert_eq!((views.query().range, views.query().limit), (usual.range, LIMIT_MAX));
            assert_eq!((views.table.sorting(), views.table.metric()), (PageSorting::default(), Metric::Total));
        }
    }
}
