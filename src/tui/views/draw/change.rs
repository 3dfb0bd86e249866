//! Decides which changes matter: small ones are muted, and outliers are highlighted, so that they are found among the
//! rows of a comparison.

use crate::model::comparison::ViewsChange;
use crate::model::views::DecimalCount;
use crate::tui::draw::Theme;
use crate::tui::view::View;
use ratatui::style::{Modifier, Style};

/// A change of less than this percentage is muted, because views vary that much from week to week.
const MIN_UNMUTED_PERCENT: f64 = 5.0;
/// A change between counts below this number is muted, because a few visitors can cause such a change.
const MIN_UNMUTED_COUNT: u64 = 30;
/// The minimum change of an outlier, in percent.
const MIN_OUTLIER_PERCENT: f64 = 25.0;
/// The minimum change of an outlier, as a share of the site's views. A page that few people read can double without
/// meaning anything.
const MIN_OUTLIER_SITE_SHARE: f64 = 0.005;
/// The sign that marks an outlier, so that it is recognizable without colours too.
pub(in crate::tui) const OUTLIER_MARK: &str = "!";

/// How much a change matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum ChangeWeight {
    Small,
    Normal,
    Outlier,
}

impl ChangeWeight {
    /// Returns how much a change matters. `site` is the number of views of the whole site in the compared range that
    /// has more views; 0 if it is unknown.
    pub(in crate::tui) fn of(change: ViewsChange, site: DecimalCount) -> Self {
        let (largest, percent) = match change {
            ViewsChange::Unknown => return Self::Normal,
            ViewsChange::New(views) | ViewsChange::Gone(views) => (views, f64::INFINITY),
            ViewsChange::InBoth { current, previous } => {
                (current.max(previous), change.percent().map_or(f64::INFINITY, f64::abs))
            }
        };
        let difference = change.difference().unwrap_or_default().abs();
        if percent < MIN_UNMUTED_PERCENT || largest < DecimalCount::from(MIN_UNMUTED_COUNT) {
            Self::Small
        } else if percent >= MIN_OUTLIER_PERCENT
            && !site.is_zero()
            && difference.ratio_to(site) >= MIN_OUTLIER_SITE_SHARE
        {
            Self::Outlier
        } else {
            Self::Normal
        }
    }

    /// Returns the mark that is shown behind a change, one cell wide: `!` for an outlier, otherwise a blank.
    pub(in crate::tui) fn outlier_mark(self) -> &'static str {
        if self == Self::Outlier { OUTLIER_MARK } else { " " }
    }

    /// Returns the style of a change. Small and unknown changes are muted, and outliers have the colour of warnings.
    /// All other increases are shown as good, and all other decreases as bad.
    pub(in crate::tui) fn style(self, change: ViewsChange, theme: &Theme) -> Style {
        match (self, change.difference()) {
            (Self::Small, _) | (_, None) => theme.muted,
            (Self::Outlier, _) => theme.warning.add_modifier(Modifier::BOLD),
            (Self::Normal, Some(difference)) if difference > DecimalCount::ZERO => theme.good,
            (Self::Normal, Some(difference)) if difference < DecimalCount::ZERO => theme.bad,
            (Self::Normal, Some(_)) => theme.muted,
        }
    }
}

/// Returns the total views of the site in whichever of the two compared ranges has more, per day if the ranges differ
/// in length; 0 if nothing is compared.
pub(in crate::tui) fn larger_site_views(view: View<'_>) -> DecimalCount {
    let Some(comparison) = view.app.views.table.comparison() else { return DecimalCount::ZERO };
    let ranges = comparison.ranges();
    let current = comparison.current.totals.total.value().map(|views| ranges.comparable_current(views));
    let previous = comparison.previous.totals.total.value().map(|views| ranges.comparable_previous(views));
    current.max(previous).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_changes_much_and_concerns_many_of_the_sites_views() {
        let weight = |current: u64, previous: u64| {
            ChangeWeight::of(ViewsChange::InBoth { current: current.into(), previous: previous.into() }, 100_000.into())
        };
        assert_eq!(weight(1_411, 2_712), ChangeWeight::Outlier);
        assert_eq!(weight(410, 640), ChangeWeight::Normal, "230 of 100,000 views");
        assert_eq!(weight(10_600, 10_000), ChangeWeight::Normal, "many views, but 6%");
        assert_eq!(weight(10_400, 10_000), ChangeWeight::Small);
        assert_eq!(weight(29, 10), ChangeWeight::Small);
        assert_eq!(weight(600, 0), ChangeWeight::Outlier);
        let of = |change| ChangeWeight::of(change, 100_000.into());
        assert_eq!(of(ViewsChange::New(500.into())), ChangeWeight::Outlier);
        assert_eq!(of(ViewsChange::Gone(400.into())), ChangeWeight::Normal);
        assert_eq!(of(ViewsChange::New(29.into())), ChangeWeight::Small);
        assert_eq!(ChangeWeight::of(ViewsChange::New(500.into()), DecimalCount::ZERO), ChangeWeight::Normal);
    }
}
