//! The numbers of a page: human, AI and total views, the share of AI, and human, AI and total visitors. The number that
//! the user chose as the metric determines the bars and the rank.

use crate::model::views::{Count, Counts, DecimalCount};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Metric {
    Human,
    Ai,
    #[default]
    Total,
    Share,
    HumanVisitors,
    AiVisitors,
    Visitors,
}

/// Stands for the visitors of a page while they are not loaded.
static UNKNOWN_VISITORS: Count = Count::Missing;

impl Metric {
    /// All metrics, in the order of their columns.
    pub const ALL: [Self; 7] =
        [Self::Human, Self::Ai, Self::Total, Self::Share, Self::HumanVisitors, Self::AiVisitors, Self::Visitors];

    /// Returns the name on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Ai => "AI",
            Self::Total => "total",
            Self::Share => "AI %",
            Self::HumanVisitors => "human visitors",
            Self::AiVisitors => "AI visitors",
            Self::Visitors => "visitors",
        }
    }

    /// Whether the metric counts visitors, which are loaded only on request.
    pub fn counts_visitors(self) -> bool {
        matches!(self, Self::HumanVisitors | Self::AiVisitors | Self::Visitors)
    }

    /// Returns the next metric, wrapping around. Leaves out visitors unless they are shown.
    #[must_use]
    pub fn next(self, has_visitors: bool) -> Self {
        let after = Self::ALL.into_iter().skip_while(|metric| *metric != self).skip(1);
        let mut next = after.chain(Self::ALL).filter(|metric| has_visitors || !metric.counts_visitors());
        next.next().unwrap_or_default()
    }

    /// Returns the count as received from the service; `None` for the share, which is computed.
    pub fn count(self, counts: &Counts) -> Option<&Count> {
        let visitors = |of: fn(&Counts) -> &Count| counts.visitors.as_deref().map_or(&UNKNOWN_VISITORS, of);
        match self {
            Self::Human => Some(&counts.human),
            Self::Ai => Some(&counts.ai),
            Self::Total => Some(&counts.total),
            Self::Share => None,
            Self::HumanVisitors => Some(visitors(|visitors| &visitors.human)),
            Self::AiVisitors => Some(visitors(|visitors| &visitors.ai)),
            Self::Visitors => Some(visitors(|visitors| &visitors.total)),
        }
    }

    /// Returns the number as a sort key. For views and visitors, this is the number in millionths, possibly negative;
    /// for the share, an integer that is ordered as the shares are. `None` if the number is unknown.
    pub(super) fn value_sort_key(self, counts: &Counts) -> Option<i128> {
        match self.count(counts) {
            Some(count) => count.signed_value().map(DecimalCount::millionths),
            None => counts.ai_share().map(float_sort_key).map(i128::from),
        }
    }

    /// Returns the length of a bar in views or visitors. The bar of the total is at least as long as human plus AI
    /// views. `None` for the share and for invalid counts.
    pub fn bar_length(self, counts: &Counts) -> Option<DecimalCount> {
        let parts = || Some(counts.human.value()? + counts.ai.value()?);
        match self {
            Self::Human => counts.human.value(),
            Self::Ai => counts.ai.value(),
            Self::Total => parts().max(counts.total.value()),
            Self::Share => None,
            Self::HumanVisitors | Self::AiVisitors | Self::Visitors => self.count(counts).and_then(Count::value),
        }
    }
}

/// Converts a float to an integer. The integers are ordered as `f64::total_cmp` orders the floats.
pub(super) fn float_sort_key(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

/// The scale of the bars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BarScale {
    /// From 0 to this many views.
    Linear(DecimalCount),
    /// From 1 to this many views, logarithmic.
    Log(DecimalCount),
    /// From 0 to 100%, for the share of AI.
    Share,
}

impl BarScale {
    /// Returns the end of a scale for values up to `most`: `most`, rounded up to two significant digits.
    pub fn rounded_end_for(most: DecimalCount) -> DecimalCount {
        let whole = most.millionths().max(1).unsigned_abs().div_ceil(DecimalCount::ONE.millionths().unsigned_abs());
        let step = 10_u128.pow(whole.checked_ilog10().unwrap_or(0).saturating_sub(1));
        DecimalCount::from(u64::try_from(whole.div_ceil(step) * step).unwrap_or(u64::MAX))
    }

    /// Returns the length of a bar for this many views, as a fraction of the full length from 0 to 1. On a share scale,
    /// always 0.
    pub fn fraction(self, views: DecimalCount) -> f64 {
        match self {
            Self::Share => 0.0,
            Self::Linear(full) | Self::Log(full) if views.is_zero() || full.is_zero() => 0.0,
            Self::Log(full) if full > DecimalCount::ONE => (views.as_f64().ln() / full.as_f64().ln()).clamp(0.0, 1.0),
            Self::Linear(full) | Self::Log(full) => views.ratio_to(full).clamp(0.0, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_keep_their_order_as_integers() {
        let values = [f64::NEG_INFINITY, -2.5, -0.1, -0.0, 0.0, 1e-300, 0.5, 1.0, f64::INFINITY];
        assert!(values.map(float_sort_key).is_sorted());
    }

    #[test]
    fn a_log_scale_goes_from_one_view_to_the_most_views() {
        let scale = BarScale::Log(10_000.into());
        assert_eq!([0, 1, 100, 10_000].map(|views| scale.fraction(views.into())), [0.0, 0.0, 0.5, 1.0]);
        assert_eq!(
            scale.fraction(DecimalCount::parse("0.5").expect("a number")),
            0.0,
            "half a view is below the scale"
        );
        assert_eq!(
            BarScale::Log(DecimalCount::ONE).fraction(DecimalCount::ONE),
            1.0,
            "a scale of one view has nothing below it"
        );
        assert_eq!(BarScale::Linear(DecimalCount::ZERO).fraction(DecimalCount::ZERO), 0.0);
    }

    #[test]
    fn a_scale_ends_at_a_round_number() {
        let end = |most: u64| BarScale::rounded_end_for(most.into());
        assert_eq!(
            [0, 1, 99, 100, 101, 999, 13_575].map(end),
            [1, 1, 99, 100, 110, 1_000, 14_000].map(DecimalCount::from)
        );
        assert_eq!(BarScale::rounded_end_for(DecimalCount::parse("9.5").expect("a number")), 10.into());
        assert_eq!(end(u64::MAX), u64::MAX.into(), "no overflow");
    }

    #[test]
    fn the_bar_of_a_total_is_never_shorter_than_human_plus_ai_views() {
        let counts = Counts::new(Count::Known(6), Count::Known(7), Count::Known(9));
        assert_eq!(Metric::Total.bar_length(&counts), Some(13.into()));
        assert_eq!(Metric::Share.bar_length(&counts), None);
        assert_eq!(Metric::Human.bar_length(&Counts::default()), None, "unknown is not 0");
    }

    #[test]
    fn the_metrics_wrap_around() {
        for (has_visitors, steps) in [(true, 7), (false, 4)] {
            let metric = (0..steps).fold(Metric::default(), |metric, _| metric.next(has_visitors));
            assert_eq!(metric, Metric::default());
        }
        assert_eq!(Metric::Visitors.next(false), Metric::Human, "after visitors were hidden");
    }
}
