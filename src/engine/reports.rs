//! All pages of a range, and the site's totals of many ranges: what is known of them, and loading them within the ledger.

use super::inner::Inner;
use crate::model::failure::{Failure, FailureKind};
use crate::model::load::Stamped;
use crate::model::period::DateRange;
use crate::model::report::{LoadEnd, LoadEnded, LoadOrder, Recalled};
use crate::model::views::Counts;
use std::sync::Arc;

impl Inner {
    pub(super) async fn recall(&self, _range: DateRange) -> Result<Recalled, Failure> {
        Err(Failure::new(FailureKind::Local, "Not there yet."))
    }

    pub(super) async fn load_all(self: &Arc<Self>, _order: LoadOrder) -> LoadEnd {
        let failure = Failure::new(FailureKind::Local, "Not there yet.");
        LoadEnd { report: None, ended: LoadEnded::Failed(failure), requests: 0 }
    }

    pub(super) fn stop_loading(&self, _range: DateRange) {}

    pub(super) async fn recall_totals(
        &self,
        _ranges: &[DateRange],
    ) -> Result<Vec<(DateRange, Stamped<Counts>)>, Failure> {
        Err(Failure::new(FailureKind::Local, "Not there yet."))
    }

    pub(super) async fn load_totals(self: &Arc<Self>, _ranges: &[DateRange]) -> Result<(), Failure> {
        Err(Failure::new(FailureKind::Local, "Not there yet."))
    }
}
