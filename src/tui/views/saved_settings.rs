//! Saves the settings of the page views screen, and restores them when docdeck starts again: how the range was chosen,
//! and how its pages were listed.

use super::ViewsState;
use super::table::{Metric, PageColumn, PageSorting, TableSettings};
use crate::model::Time;
use crate::model::layout::{SavedRange, SortBy, ViewsLayout};
use crate::model::load::Load;
use crate::model::period::{DateRange, Period, Preset};
use crate::model::views::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MIN_PAGE_SIZE};

impl ViewsState {
    /// Returns the current settings, to save them. Settings with their default value are left out.
    pub(in crate::tui) fn layout(&self) -> ViewsLayout {
        let settings = self.table.settings();
        let sorting = settings.sorting;
        let default = PageSorting::default();
        ViewsLayout {
            range: self.chosen_range(),
            limit: Some(self.query.limit).filter(|limit| *limit != DEFAULT_PAGE_SIZE),
            metric: Some(settings.metric).filter(|metric| *metric != Metric::default()).map(|m| m.name().to_owned()),
            log_scale: settings.is_log_scale,
            folded: settings.groups_by_folder,
            sort: (sorting != default).then(|| SortBy {
                by: sorting.by.name(),
                reversed: sorting.is_descending != PageSorting::by(sorting.by).is_descending,
            }),
            filter: settings.filter,
        }
    }

    /// Returns how the range was chosen; `None` for the default, the last seven days.
    fn chosen_range(&self) -> Option<SavedRange> {
        let days = self.period.all_days();
        match self.preset {
            Some(Preset::SevenDays) => None,
            Some(preset) => Some(SavedRange::Preset(preset.name().to_owned())),
            None => Some(SavedRange::Days(days.from(), days.to())),
        }
    }

    /// Whether the screen has been shown since docdeck started. Page views are loaded only when the screen is shown.
    pub(in crate::tui) fn has_been_shown(&self) -> bool {
        !matches!(self.load, Load::Idle) || self.table.report().is_some()
    }

    /// Restores saved settings and ignores invalid settings. Loads nothing, because pages are loaded only when the
    /// screen is shown.
    pub(in crate::tui) fn restore(&mut self, layout: &ViewsLayout, now: Time) {
        let today = now.date_naive();
        let chosen = match &layout.range {
            Some(SavedRange::Preset(name)) => {
                let preset = Preset::ALL.into_iter().find(|preset| preset.name() == name);
                preset.map(|preset| (preset.period(today), Some(preset)))
            }
            Some(SavedRange::Days(from, to)) => DateRange::new(*from, *to).map(|days| (Period::from_range(days), None)),
            None => None,
        };
        if let Some((period, preset)) = chosen
            && let Some(range) = period.range(today)
        {
            (self.period, self.preset, self.query.range) = (period, preset, range);
        }
        self.query.limit = layout.limit.unwrap_or(DEFAULT_PAGE_SIZE).clamp(MIN_PAGE_SIZE, MAX_PAGE_SIZE);
        let metric = Metric::ALL.into_iter().find(|metric| layout.metric.as_deref() == Some(metric.name()));
        let sorting = layout.sort.as_ref().and_then(|sort| {
            let default = PageSorting::by(PageColumn::from_name(&sort.by)?);
            Some(PageSorting { is_descending: default.is_descending != sort.reversed, ..default })
        });
        self.table.apply_settings(TableSettings {
            metric: metric.unwrap_or_default(),
            is_log_scale: layout.log_scale,
            sorting: sorting.unwrap_or_default(),
            filter: layout.filter.clone(),
            groups_by_folder: layout.folded,
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

    fn layout_after(change: impl FnOnce(&mut ViewsState)) -> ViewsLayout {
        let mut views = ViewsState::new(now());
        change(&mut views);
        views.layout()
    }

    fn restored(layout: &ViewsLayout, now: Time) -> ViewsState {
        let mut views = ViewsState::new(now);
        views.restore(layout, now);
        views
    }

    #[test]
    fn defaults_are_not_saved() {
        assert_eq!(layout_after(|_| {}), ViewsLayout::default());
        assert_eq!(restored(&ViewsLayout::default(), now()).layout(), ViewsLayout::default());
    }

    #[test]
    fn presets_follow_the_date_and_custom_ranges_stay() {
        let layout = layout_after(|views| drop(views.switch_to_next_preset(now())));
        assert_eq!(layout.range, Some(SavedRange::Preset("30d".to_owned())));
        let views = restored(&layout, at("2026-12-24T01:00:00Z"));
        assert_eq!(views.query().range.to_string(), "2026-11-25 … 2026-12-24");
        assert_eq!(views.preset(), Some(Preset::ThirtyDays));
        let seven = restored(&ViewsLayout::default(), at("2026-12-24T01:00:00Z"));
        assert_eq!(seven.query().range.to_string(), "2026-12-18 … 2026-12-24");
        let day = |text: &str| text.parse().expect("a day");
        let custom = DateRange::new(day("2026-09-01"), day("2026-09-30")).expect("a range");
        let layout = layout_after(|views| drop(views.set_custom_range(custom)));
        let views = restored(&layout, at("2026-12-24T01:00:00Z"));
        let name = views.range_name(day("2026-12-24"));
        assert_eq!((views.query().range, name.as_deref()), (custom, Some("2026-09")), "a whole month");
    }

    #[test]
    fn metric_scale_order_filter_and_folding_are_restored() {
        let layout = layout_after(|views| {
            let sorting = PageSorting { by: PageColumn::Change(Metric::Ai), is_descending: false };
            let settings = TableSettings {
                metric: Metric::Share,
                is_log_scale: true,
                sorting,
                filter: "/guides".to_owned(),
                groups_by_folder: true,
            };
            views.table.apply_settings(settings);
            drop(views.set_page_size(25));
        });
        assert_eq!(layout.sort, Some(SortBy { by: "Δ AI".to_owned(), reversed: true }));
        let views = restored(&layout, now());
        assert_eq!((views.layout(), views.query().limit), (layout, 25));
    }

    #[test]
    fn invalid_values_are_ignored() {
        let day = |text: &str| text.parse().expect("a day");
        let default = ViewsState::new(now()).query();
        let invalid = |range| ViewsLayout {
            range: Some(range),
            limit: Some(9999),
            metric: Some("clicks".to_owned()),
            sort: Some(SortBy { by: "mood".to_owned(), reversed: true }),
            ..ViewsLayout::default()
        };
        let ranges = [
            SavedRange::Preset("fortnight".to_owned()),
            SavedRange::Days(day("2026-11-09"), day("2026-11-01")),
            SavedRange::Days(day("2027-01-01"), day("2027-01-31")),
        ];
        for range in ranges {
            let views = restored(&invalid(range), now());
            assert_eq!((views.query().range, views.query().limit), (default.range, MAX_PAGE_SIZE));
            assert_eq!((views.table.sorting(), views.table.metric()), (PageSorting::default(), Metric::Total));
        }
    }
}
