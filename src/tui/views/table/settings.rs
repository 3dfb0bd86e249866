//! The settings of the list of pages that are saved from one start of docdeck to the next.

use super::{Metric, PageSorting, PageTable};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableSettings {
    pub metric: Metric,
    pub is_log_scale: bool,
    pub sorting: PageSorting,
    pub filter: String,
    pub groups_by_folder: bool,
}

impl PageTable {
    /// Returns the settings as the user chose them, including settings that don't apply to the current rows.
    pub(in crate::tui) fn settings(&self) -> TableSettings {
        let Self { metric, is_log_scale, sorting, groups_by_folder, .. } = *self;
        TableSettings { metric, is_log_scale, sorting, groups_by_folder, filter: self.filter_text.clone() }
    }

    pub(in crate::tui) fn apply_settings(&mut self, settings: TableSettings) {
        (self.is_log_scale, self.sorting, self.filter_text, self.groups_by_folder) =
            (settings.is_log_scale, settings.sorting, settings.filter, settings.groups_by_folder);
        self.apply_filter();
        self.sort_entries();
        self.rebuild_lines();
        self.show_metric(settings.metric);
    }
}
