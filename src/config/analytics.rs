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
    views: Option<Weight>,
    lost_views: Option<Weight>,
    thumbs_down: Option<Weight>,
    open_comments: Option<Weight>,
    unanswered_questions: Option<Weight>,
    unclicked_searches: Option<Weight>,
}

/// A finite number that is not negative.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "f64")]
struct Weight(f64);

impl TryFrom<f64> for Weight {
    type Error = &'static str;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        if number.is_finite() && number >= 0.0 { Ok(Self(number)) } else { Err("a weight is a number, 0 or more") }
    }
}

impl AnalyticsConfig {
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
            if let Some(Weight(weight)) = weight {
                weights.set(signal, weight);
            }
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_a_number_of_0_or_more() {
        let parse = |text: &str| toml::from_str::<AnalyticsConfig>(text).map(AnalyticsConfig::weights);
        let weights = parse("weights = { views = 2, lost_views = 0, thumbs_down = 0.5 }").expect("valid");
        assert_eq!(weights.0, [2.0, 0.0, 0.5, 1.0, 1.0, 1.0]);
        for wrong in ["-1", "inf", "nan"] {
            let error = parse(&format!("weights = {{ views = {wrong} }}")).expect_err("refused");
            assert_eq!(error.message(), "a weight is a number, 0 or more");
        }
    }
}
