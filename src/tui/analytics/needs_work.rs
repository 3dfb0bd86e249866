//! The state of the tab with the pages that need work.

use super::messages::AnalyticsEffect;
use crate::model::analytics::needs_work::{NeedsWork, PageSignals};
use crate::model::period::DateRange;
use crate::model::report::Report;
use crate::tui::msg::Effect;
use crate::tui::widgets::list_state::ListState;
use std::sync::Arc;

/// The state of the tab.
#[derive(Debug, Default)]
pub struct NeedsWorkTab {
    pub(super) range: Option<DateRange>,
    pub(super) views: Option<Arc<Report>>,
    pub(super) previous_views: Option<Arc<Report>>,
    pub(super) found: NeedsWork,
    pub(super) list: ListState,
    /// How many reports are being loaded.
    pub(super) loading: u32,
    /// Why the last load failed.
    pub(super) failure: Option<String>,
}

impl NeedsWorkTab {
    /// Shows this range. Returns the effects that read the cached page views, or none if it is already shown.
    pub(super) fn show_range(&mut self, range: DateRange) -> Vec<Effect> {
        if self.range == Some(range) {
            return Vec::new();
        }
        *self = Self { range: Some(range), ..Self::default() };
        let ranges = [Some(range), range.step(-1)];
        let read = |range| Effect::Analytics(AnalyticsEffect::LoadCachedViews(range));
        ranges.into_iter().flatten().map(read).collect()
    }

    /// Stores page views that were read or loaded. Ignores those of another range.
    pub(super) fn set_views(&mut self, range: DateRange, report: Option<Arc<Report>>) {
        match report {
            Some(report) if self.range == Some(range) => self.views = Some(report),
            Some(report) if self.range.and_then(|shown| shown.step(-1)) == Some(range) && report.complete => {
                self.previous_views = Some(report);
            }
            _ => {}
        }
    }

    pub(super) fn selected(&self) -> Option<&PageSignals> {
        self.found.pages.get(self.list.selected())
    }

    pub(super) fn range(&self) -> Option<DateRange> {
        self.range
    }

    pub(super) fn has_views(&self) -> bool {
        self.views.is_some()
    }
}
