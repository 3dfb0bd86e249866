//! Page views as the service counts them. Every field may be missing or unexpected.

pub use super::count::{Count, DecimalCount, NonInteger};

use super::period::DateRange;
use super::text::CleanText;
use serde::{Deserialize, Serialize};

/// The minimum number of rows that one request can ask for.
pub const MIN_PAGE_SIZE: u32 = 1;
/// The maximum number of rows that one request can ask for.
pub const MAX_PAGE_SIZE: u32 = 250;
/// The number of rows that one request asks for by default.
pub const DEFAULT_PAGE_SIZE: u32 = 50;

/// Human, AI and total views, or visitors, of a page or of the site.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    pub human: Count,
    pub ai: Count,
    pub total: Count,
    /// The visitors, if they were requested. They come from another report and are stored with that report.
    #[serde(skip)]
    pub visitors: Option<Box<Counts>>,
}

impl Counts {
    /// Returns counts without visitors.
    pub fn new(human: Count, ai: Count, total: Count) -> Self {
        Self { human, ai, total, visitors: None }
    }

    /// Returns AI views divided by human + AI views, 0 to 1, or `None` if there are no views or no valid counts.
    pub fn ai_share(&self) -> Option<f64> {
        let (human, ai) = (self.human.value()?, self.ai.value()?);
        let sum = human + ai;
        (!sum.is_zero()).then(|| ai.ratio_to(sum))
    }

    /// Whether human, AI and total views are valid counts and the total is the sum of the other two.
    pub fn adds_up(&self) -> bool {
        match (self.human.value(), self.ai.value(), self.total.value()) {
            (Some(human), Some(ai), Some(total)) => (human + ai).nearly_equals(total),
            _ => false,
        }
    }
}

/// Converts an integer to a double. The result is exact up to 2⁵³, and rounded for larger integers.
pub fn as_f64(n: u64) -> f64 {
    let (high, low) = (u32::try_from(n >> 32).unwrap_or(u32::MAX), u32::try_from(n & 0xffff_ffff).unwrap_or(0));
    f64::from(high) * 4_294_967_296.0 + f64::from(low)
}

/// One page of the site and its views.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PageRow {
    pub path: CleanText,
    #[serde(flatten)]
    pub counts: Counts,
}

/// One response of the service: the site's totals of the range, and some of its pages in the service's order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ViewsResponse {
    pub totals: Counts,
    pub rows: Vec<PageRow>,
    /// Whether there are more rows after this response; `None` if the response doesn't state it.
    pub has_more: Option<bool>,
}

/// A request for page views.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ViewsQuery {
    pub range: DateRange,
    /// The number of rows to ask for.
    pub limit: u32,
    /// Which block of `limit` rows to ask for, starting at 1.
    pub page: u32,
}

impl ViewsQuery {
    /// Returns the number of rows before the requested ones: (page − 1) × limit.
    pub fn offset(&self) -> u64 {
        u64::from(self.page.saturating_sub(1)) * u64::from(self.limit)
    }

    /// Whether more rows follow after those in `response`. If `response` doesn't state this, assumes that more rows
    /// follow if `response` has at least `limit` rows.
    pub fn has_next(&self, response: &ViewsResponse) -> bool {
        response.has_more.unwrap_or(response.rows.len() >= self.limit as usize)
    }

    /// Selects the requested rows from `first`, the first rows of the range in the service's order. `has_more` is
    /// true if the range has more rows than `first`. Returns `None` if `has_more` is true and `first` ends before the
    /// last requested row.
    pub fn select_from(&self, first: ViewsResponse, has_more: bool) -> Option<ViewsResponse> {
        let start = usize::try_from(self.offset()).unwrap_or(usize::MAX);
        let end = start.saturating_add(self.limit as usize);
        let count = first.rows.len();
        if has_more && count < end {
            return None;
        }
        let rows = first.rows.into_iter().skip(start).take(self.limit as usize).collect();
        Some(ViewsResponse { rows, has_more: Some(has_more || count > end), ..first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(human: i64, ai: i64, total: i64) -> Counts {
        Counts::new(Count::Known(human), Count::Known(ai), Count::Known(total))
    }

    #[test]
    fn the_ai_share_without_views_is_unknown_and_not_zero() {
        assert_eq!(counts(0, 0, 0).ai_share(), None);
        assert_eq!(counts(3, 1, 4).ai_share(), Some(0.25));
        assert_eq!(Counts::default().ai_share(), None);
    }

    #[test]
    fn numbers_that_do_not_add_up_are_detected() {
        assert!(counts(3, 1, 4).adds_up());
        assert!(!counts(3, 1, 5).adds_up());
        assert!(!counts(-3, 1, -2).adds_up());
    }

    #[test]
    fn the_offset_skips_the_rows_of_earlier_blocks() {
        let range = DateRange::last_days(7, chrono::NaiveDate::default());
        let query = ViewsQuery { range, limit: 50, page: 3 };
        assert_eq!(query.offset(), 100);
    }

    #[test]
    fn rows_are_selected_only_if_all_of_them_are_loaded() {
        let row = |n: u32| PageRow { path: CleanText::line(&format!("/{n}")), ..PageRow::default() };
        let first = ViewsResponse { rows: (0..5).map(row).collect(), ..ViewsResponse::default() };
        let select = |limit, page, has_more| {
            let query = ViewsQuery { range: DateRange::last_days(7, chrono::NaiveDate::default()), limit, page };
            let selected = query.select_from(first.clone(), has_more)?;
            let paths: Vec<String> = selected.rows.iter().map(|row| row.path.to_string()).collect();
            Some((paths.join(" "), selected.has_more == Some(true)))
        };
        let found = |paths: &str, has_more| Some((paths.to_owned(), has_more));
        assert_eq!(select(2, 1, true), found("/0 /1", true));
        assert_eq!(select(2, 2, true), found("/2 /3", true));
        assert_eq!(select(5, 1, true), found("/0 /1 /2 /3 /4", true));
        assert_eq!(select(2, 3, true), None, "the service has more rows");
        assert_eq!(select(2, 3, false), found("/4", false));
        assert_eq!(select(5, 1, false), found("/0 /1 /2 /3 /4", false));
        assert_eq!(select(2, 9, false), found("", false));
        assert_eq!(select(250, u32::MAX, false), found("", false));
    }
}
