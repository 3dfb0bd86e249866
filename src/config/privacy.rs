//! The section `[privacy]` of the configuration file.

use crate::model::analytics::ReaderTextRetention;
use serde::Deserialize;

/// The section `[privacy]`.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PrivacyConfig {
    /// For how many days the feedback and the questions that readers wrote are stored; 0 to never store them.
    reader_text_days: Option<u16>,
}

impl PrivacyConfig {
    pub(super) fn reader_text_days(self) -> ReaderTextRetention {
        self.reader_text_days.map_or_else(ReaderTextRetention::default, ReaderTextRetention)
    }
}
