//! The sort order of the pages: a column and a direction. Unknown values always come last; pages with equal values are
//! ordered by path.

use super::comparison::PageMetrics;
use super::metric::Metric;
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageColumn {
    Path,
    /// The number in the range on screen.
    Value(Metric),
    /// The change since the compared range.
    Change(Metric),
}

impl PageColumn {
    const ALL: [Self; 15] = [
        Self::Path,
        Self::Value(Metric::Human),
        Self::Value(Metric::Ai),
        Self::Value(Metric::Total),
        Self::Value(Metric::Share),
        Self::Value(Metric::HumanVisitors),
        Self::Value(Metric::AiVisitors),
        Self::Value(Metric::Visitors),
        Self::Change(Metric::Human),
        Self::Change(Metric::Ai),
        Self::Change(Metric::Total),
        Self::Change(Metric::Share),
        Self::Change(Metric::HumanVisitors),
        Self::Change(Metric::AiVisitors),
        Self::Change(Metric::Visitors),
    ];

    /// Returns the name on the screen.
    pub fn name(self) -> String {
        match self {
            Self::Path => "path".to_owned(),
            Self::Value(metric) => metric.name().to_owned(),
            Self::Change(metric) => format!("Δ {}", metric.name()),
        }
    }

    /// Looks up a column by its name.
    pub(in crate::tui) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    /// Returns the metric of the column; `None` for the path.
    fn metric(self) -> Option<Metric> {
        match self {
            Self::Path => None,
            Self::Value(metric) | Self::Change(metric) => Some(metric),
        }
    }

    /// Whether the table has the column. Changes need a comparison, and visitors have to be shown.
    pub(super) fn is_available(self, is_compared: bool, has_visitors: bool) -> bool {
        let has_metric = self.metric().is_none_or(|metric| has_visitors || !metric.counts_visitors());
        has_metric && (is_compared || !matches!(self, Self::Change(_)))
    }

    /// Returns the next column that the table has, wrapping around.
    #[must_use]
    pub fn next(self, is_compared: bool, has_visitors: bool) -> Self {
        let is_available = |column: &Self| column.is_available(is_compared, has_visitors);
        let after = Self::ALL.into_iter().skip_while(|column| *column != self).skip(1);
        after.chain(Self::ALL).find(is_available).unwrap_or(Self::Path)
    }

    /// Returns the number of a page in this column, to sort by it. `None` for the path, or if the number is unknown.
    pub(super) fn sort_number(self, figures: &PageMetrics<'_>) -> Option<i128> {
        match self {
            Self::Path => None,
            Self::Value(metric) => metric.value_sort_key(figures.counts),
            Self::Change(metric) => figures.change_sort_key(metric),
        }
    }
}

/// A column to sort by, and the direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSorting {
    pub by: PageColumn,
    pub is_descending: bool,
}

impl Default for PageSorting {
    fn default() -> Self {
        Self::by(PageColumn::Value(Metric::Total))
    }
}

impl PageSorting {
    /// Returns the order by this column in its default direction: numbers descending, paths ascending.
    pub fn by(by: PageColumn) -> Self {
        Self { by, is_descending: by != PageColumn::Path }
    }

    pub fn arrow(self) -> &'static str {
        if self.is_descending { "↓" } else { "↑" }
    }

    /// Returns the key of a page in this order. Pages without a number come last. Pages with equal numbers are sorted
    /// by `path_position`, the position of the page in the order of paths.
    pub(super) fn sort_key(self, number: Option<i128>, path_position: u32) -> u128 {
        // `shifted` maps signed numbers to unsigned numbers in the same order. Its range covers every 64-bit count in
        // millionths.
        const MIDDLE: i128 = 1 << 94;
        let shifted = |n: i128| (n.clamp(1 - MIDDLE, MIDDLE - 1) + MIDDLE).unsigned_abs();
        let number = match (number, self.is_descending) {
            (Some(n), false) => shifted(n),
            (Some(n), true) => shifted(-n.clamp(1 - MIDDLE, MIDDLE - 1)),
            (None, _) => 1 << 95,
        };
        let path_position =
            if self.by == PageColumn::Path && self.is_descending { !path_position } else { path_position };
        (number << 32) | u128::from(path_position)
    }
}

/// Compares paths so that the pages of a folder are adjacent, right after the page with the folder's name.
pub(super) fn compare_paths(a: &str, b: &str) -> Ordering {
    let weight = |byte: u8| if byte == b'/' { 0 } else { byte };
    let (a, b) = (a.as_bytes(), b.as_bytes());
    // Paths often share a prefix, so this skips eight bytes at a time up to the first difference.
    let eights = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    let same = 8 * eights.take_while(|(a, b)| a == b).count();
    match a.iter().zip(b).skip(same).find(|(a, b)| a != b) {
        Some((a, b)) => weight(*a).cmp(&weight(*b)),
        None => a.len().cmp(&b.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_a_folder_are_adjacent() {
        let mut paths = ["/api-v2", "/api/x", "/api", "/api/y", "/b", "/api.html"];
        paths.sort_by(|a, b| compare_paths(a, b));
        assert_eq!(paths, ["/api", "/api/x", "/api/y", "/api-v2", "/api.html", "/b"]);
    }

    proptest::proptest! {
        #[test]
        fn slashes_sort_before_all_other_bytes(same in "[a-c/]{0,30}", a in "[a-c/é-]{0,12}", b in "[a-c/é-]{0,12}") {
            let (a, b) = (format!("{same}{a}"), format!("{same}{b}"));
            let plain = |path: &str| path.replace('/', "\0");
            proptest::prop_assert_eq!(compare_paths(&a, &b), plain(&a).cmp(&plain(&b)));
        }
    }

    #[test]
    fn unknown_values_come_last_in_both_directions() {
        for is_descending in [true, false] {
            let sorting = PageSorting { by: PageColumn::Value(Metric::Total), is_descending };
            let known = [i128::MIN, -1, 0, 7, i128::MAX].map(|n| sorting.sort_key(Some(n), 9));
            assert!(known.iter().all(|key| *key < sorting.sort_key(None, 0)));
            assert_eq!(known.is_sorted(), !is_descending);
            assert!(sorting.sort_key(Some(7), 1) < sorting.sort_key(Some(7), 2), "equal ones by path");
        }
    }

    #[test]
    fn the_columns_wrap_around_and_skip_changes_without_a_comparison() {
        let round = |is_compared: bool, has_visitors: bool| {
            let mut seen = vec![PageColumn::Path];
            loop {
                let next = seen[seen.len() - 1].next(is_compared, has_visitors);
                if next == PageColumn::Path {
                    return seen.len();
                }
                seen.push(next);
            }
        };
        assert_eq!([round(true, false), round(false, false), round(true, true), round(false, true)], [9, 5, 15, 8]);
        assert_eq!(PageColumn::Change(Metric::Ai).next(false, false), PageColumn::Path, "after a comparison ended");
    }
}
