//! The tabs of the analytics screen, and their names at the start of its upper rule.
//!
//! ```text
//! ─ Pages  Searches  Feedback  Questions  Needs work  16–22 Nov UTC incl. today ────────── ‹ 7d › ─
//! ```

use crate::model::analytics::AnalyticsKind;
use crate::model::report::CachedRange;
use crate::tui::geometry::title_area;
use ratatui::layout::{Position, Rect};
use unicode_width::UnicodeWidthStr as _;

/// The minimum width of the upper rule at which it shows the names of all tabs. Below this width, it shows at most the
/// name of the current tab.
const MIN_WIDTH_WITH_ALL_TABS: u16 = 80;
/// The minimum width of the upper rule at which it shows the names of all tabs beside a filter.
const MIN_WIDTH_WITH_ALL_TABS_AND_FILTER: u16 = 100;
/// The number of blank columns after the name of each tab.
pub(in crate::tui) const TAB_GAP: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnalyticsTab {
    /// The page views.
    #[default]
    Pages,
    Searches,
    Feedback,
    Questions,
    NeedsWork,
}

impl AnalyticsTab {
    pub const ALL: [Self; 5] = [Self::Pages, Self::Searches, Self::Feedback, Self::Questions, Self::NeedsWork];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pages => "Pages",
            Self::Searches => "Searches",
            Self::Feedback => "Feedback",
            Self::Questions => "Questions",
            Self::NeedsWork => "Needs work",
        }
    }

    /// Returns the tab that shows a report.
    pub(in crate::tui) fn of_report(kind: AnalyticsKind) -> Self {
        match kind {
            AnalyticsKind::Visitors => Self::Pages,
            AnalyticsKind::Searches => Self::Searches,
            AnalyticsKind::Feedback | AnalyticsKind::FeedbackByPage => Self::Feedback,
            AnalyticsKind::Questions => Self::Questions,
        }
    }

    /// Whether the tab can show something of a cached range without a request.
    pub(in crate::tui) fn can_show_cached(self, cached: &CachedRange) -> bool {
        match self {
            Self::Pages => cached.views.is_some(),
            // This tab shows what is cached, and requests nothing on its own.
            Self::NeedsWork => true,
            tab => cached.reports.iter().any(|kind| Self::of_report(*kind) == tab),
        }
    }

    /// Returns the tab `steps` to the right, or to the left if negative. After the last tab comes the first.
    #[must_use]
    pub(in crate::tui) fn step(self, steps: isize) -> Self {
        let len = isize::try_from(Self::ALL.len()).unwrap_or(1);
        let at = Self::ALL.iter().position(|tab| *tab == self).and_then(|at| isize::try_from(at).ok()).unwrap_or(0);
        let next = usize::try_from((at + steps).rem_euclid(len)).unwrap_or(0);
        Self::ALL.get(next).copied().unwrap_or_default()
    }

    /// Returns the tabs whose names are shown in a rule of this width.
    pub(in crate::tui) fn visible_tabs(self, width: u16, is_filtered: bool) -> impl Iterator<Item = Self> {
        let has_all = width >= if is_filtered { MIN_WIDTH_WITH_ALL_TABS_AND_FILTER } else { MIN_WIDTH_WITH_ALL_TABS };
        // The page views are recognizable without the name of their tab, and a filter needs the space.
        let shows_own_name = self != Self::Pages && (!is_filtered || width >= MIN_WIDTH_WITH_ALL_TABS);
        Self::ALL.into_iter().filter(move |tab| has_all || (shows_own_name && *tab == self))
    }

    /// Returns the number of cells that the names of the tabs take in an upper rule without a filter, including the gap
    /// after each name.
    pub(in crate::tui) fn tab_names_width(self, width: u16) -> usize {
        self.visible_tabs(width, false).map(|tab| tab.name().width() + TAB_GAP).sum()
    }

    /// Returns the tab whose name was clicked in the upper rule.
    pub(in crate::tui) fn tab_at(self, at: Position, rule: Rect, is_filtered: bool) -> Option<Self> {
        let mut x = usize::from(title_area(rule).x);
        self.visible_tabs(rule.width, is_filtered).filter(|_| rule.contains(at)).find(|tab| {
            let start = x;
            x += tab.name().width() + TAB_GAP;
            (start..start + tab.name().width()).contains(&usize::from(at.x))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tabs_wrap_around() {
        assert_eq!(AnalyticsTab::Pages.step(-1), AnalyticsTab::NeedsWork);
        assert_eq!(AnalyticsTab::NeedsWork.step(1), AnalyticsTab::Pages);
        assert_eq!(AnalyticsTab::Pages.step(1), AnalyticsTab::Searches);
    }

    #[test]
    fn a_click_finds_the_name_under_it() {
        let rule = Rect::new(0, 1, 100, 1);
        let at = |x| AnalyticsTab::Pages.tab_at(Position { x, y: 1 }, rule, false);
        assert_eq!(
            [2, 6, 7, 9, 16].map(at),
            [
                Some(AnalyticsTab::Pages),
                Some(AnalyticsTab::Pages),
                None,
                Some(AnalyticsTab::Searches),
                Some(AnalyticsTab::Searches)
            ]
        );
        assert_eq!(AnalyticsTab::Pages.tab_at(Position { x: 2, y: 2 }, rule, false), None);
        let narrow = Rect::new(0, 1, 60, 1);
        assert_eq!(AnalyticsTab::Feedback.tab_at(Position { x: 3, y: 1 }, narrow, false), Some(AnalyticsTab::Feedback));
    }
}
