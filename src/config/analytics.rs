//! The section `[analytics]` of the configuration file.

use crate::model::analytics::needs_work::{ProblemSignal, SignalWeights};
use serde::Deserialize;

/// The section `[analytics]`.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnalyticsConfig {
    /// Whether yesterday's page views are loaded into the cache once a day.
    pub(super) record_days: Option<bool>,
    #[serde(default)]
    weights: WeightTable,
}

/// How much each problem of a page, such as lost views, counts in the ranking of pages that need work.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightTable {
    views: Option<f64>,
    lost_views: Option<f64>,
    thumbs_down: Option<f64>,
    open_comments: Option<f64>,
    unanswered_questions: Option<f64>,
    unclicked_searches: Option<f64>,
}

impl AnalyticsConfig {
    /// Returns the weights. A weight that is negative, infinite or not a number counts as 0.
    pub(super) fn weights(self) -> SignalWeights {
        let mut weights = SignalWeights::default();
        let table = self.weights;
        let chosen = [
            (ProblemSignal::Views, table.views),
            (ProblemSignal::LostViews, table.lost_views),
            (ProblemSignal::ThumbsDown, table.thumbs_down),
            (ProblemSignal::OpenComments, table.open_comments),
            (ProblemSignal::UnansweredQuestions, table.unanswered_questions),
            (ProblemSignal::UnclickedSearches, table.unclicked_searches),
        ];
        for (signal, weight) in chosen {
            if let Some(weight) = weight {
                weights.set(signal, if weight.is_finite() { weight.max(0.0) } else { 0.0 });
            }
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_and_non_finite_weights_become_zero() {
        let text = "weights = { views = 2, lost_views = -1, thumbs_down = inf, open_comments = nan }";
        let weights = toml::from_str::<AnalyticsConfig>(text).expect("valid").weights();
        assert_eq!(weights.0, [2.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    }
}
