//! The fields of the rows: their names in filters, sorting and exports, and how their values compare.

use super::needs_work::{PageSignals, ProblemSignal};
use super::{AnalyticsRow, Feedback, PageFeedback, Question, Search};
use crate::model::Time;
use crate::model::text::CleanText;
use crate::model::views::{Count, DecimalCount, PageRow};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

/// The value of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldValue<'a> {
    Text(Cow<'a, str>),
    Count(&'a Count),
    /// A share, 0 to 1.
    Share(&'a Count),
    /// A count that docdeck has computed; `None` if it is unknown.
    Number(Option<DecimalCount>),
    /// A percentage that docdeck has computed; `None` if it is unknown.
    Percent(Option<f64>),
    Time(Option<Time>),
}

impl<'a> FieldValue<'a> {
    fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// Returns the number that a filter compares: a count, or a share in percent. `None` if there is no number.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Count(count) => count.signed_value().map(|count| count.as_f64()),
            Self::Share(count) => count.signed_value().map(|count| count.as_f64() * 100.0),
            Self::Number(count) => count.map(DecimalCount::as_f64),
            Self::Percent(percent) => *percent,
            Self::Text(_) | Self::Time(_) => None,
        }
    }

    /// Returns the key by which rows are sorted. An unknown value is less than all known values.
    fn sort_key(self) -> SortKey<'a> {
        match self {
            Self::Text(text) => SortKey::Text(text),
            Self::Time(time) => SortKey::Time(time),
            Self::Count(_) | Self::Share(_) | Self::Number(_) | Self::Percent(_) => SortKey::Number(self.number()),
        }
    }
}

/// The key by which rows are sorted. All keys of one field are the same variant.
#[derive(Debug)]
enum SortKey<'a> {
    Text(Cow<'a, str>),
    Number(Option<f64>),
    Time(Option<Time>),
}

impl SortKey<'_> {
    fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Compares two numbers or times. Texts are sorted by [`sorted_text_indices`] instead.
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Time(one), Self::Time(other)) => one.cmp(other),
            (Self::Number(one), Self::Number(other)) => one.partial_cmp(other).unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        }
    }
}

/// A text that is being sorted without regard to the case of ASCII letters.
struct TextKey<'a> {
    /// The next eight bytes to compare, in lower case, as a number that has the same sort order as the bytes.
    next_bytes: u64,
    /// The bytes of the text that follow the bytes in `next_bytes`.
    remaining_bytes: &'a [u8],
    /// The index of the text among all texts.
    index: usize,
}

impl<'a> TextKey<'a> {
    fn new(text: &'a str, index: usize) -> Self {
        let mut key = Self { next_bytes: 0, remaining_bytes: text.as_bytes(), index };
        key.advance();
        key
    }

    /// Replaces `next_bytes` with the following eight bytes. Bytes past the end of the text are 0, which no clean text
    /// contains.
    fn advance(&mut self) {
        let (bytes, remaining_bytes) = self.remaining_bytes.split_at(self.remaining_bytes.len().min(8));
        let mut next_bytes = [0; 8];
        next_bytes.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = byte.to_ascii_lowercase());
        (self.next_bytes, self.remaining_bytes) = (u64::from_be_bytes(next_bytes), remaining_bytes);
    }
}

/// Returns the indices of the texts in sorted order. Texts that start alike are common, so each pass compares eight
/// bytes, and only texts that are equal so far take part in the next pass. This reads a text once per pass instead of
/// at each comparison.
fn sorted_text_indices<'a>(texts: impl Iterator<Item = &'a str>, ascending: bool) -> Vec<usize> {
    let mut keys: Vec<TextKey<'_>> = texts.enumerate().map(|(index, text)| TextKey::new(text, index)).collect();
    let mut equal_so_far: Vec<Range<usize>> = Vec::new();
    equal_so_far.push(0..keys.len());
    while let Some(range) = equal_so_far.pop() {
        let mut start = range.start;
        let Some(keys) = keys.get_mut(range) else { continue };
        keys.sort_unstable_by(|one, other| {
            let order = one.next_bytes.cmp(&other.next_bytes);
            if ascending { order } else { order.reverse() }.then(one.index.cmp(&other.index))
        });
        for equal in keys.chunk_by_mut(|one, other| one.next_bytes == other.next_bytes) {
            let end = start + equal.len();
            if equal.len() > 1 && equal.iter().any(|key| !key.remaining_bytes.is_empty()) {
                equal.iter_mut().for_each(TextKey::advance);
                equal_so_far.push(start..end);
            }
            start = end;
        }
    }
    keys.into_iter().map(|key| key.index).collect()
}

/// A field of a row.
#[derive(Debug)]
pub struct Field<R> {
    /// The name in filters.
    pub name: &'static str,
    /// The heading of the column, which filters accept too.
    pub heading: &'static str,
    /// The field's name in the service's JSON, for exports.
    pub service_name: &'static str,
    /// Whether readers of the site wrote the value. Such a value is exported only on request.
    pub is_reader_text: bool,
    pub value: fn(&R) -> FieldValue<'_>,
}

impl<R> Field<R> {
    pub const fn new(name: &'static str, service_name: &'static str, value: fn(&R) -> FieldValue<'_>) -> Self {
        Self { name, heading: name, service_name, is_reader_text: false, value }
    }

    const fn reader_text(name: &'static str, service_name: &'static str, value: fn(&R) -> FieldValue<'_>) -> Self {
        Self { is_reader_text: true, ..Self::new(name, service_name, value) }
    }

    /// Returns the field with a column heading that differs from the field's name.
    pub const fn with_heading(heading: &'static str, field: Self) -> Self {
        Self { heading, ..field }
    }

    /// Whether the row's value of this field is a number, known or unknown. A filter can compare such a value.
    pub fn is_number(&self, row: &R) -> bool {
        !matches!((self.value)(row), FieldValue::Text(_) | FieldValue::Time(_))
    }
}

/// A property that a filter can name: its word, and a function that returns whether a row has the property.
pub type FilterFlag<R> = (&'static str, fn(&R) -> bool);

/// A row with named fields, by which it is filtered and sorted.
pub trait HasFields: Default + 'static {
    /// The fields, in the order of columns.
    const FIELDS: &'static [Field<Self>];
    /// The properties that filters can name.
    const FILTER_FLAGS: &'static [FilterFlag<Self>];
    /// The name of the field by which the rows are sorted at first, highest value first.
    const DEFAULT_SORT_FIELD: &'static str;
    /// Whether rows are compared with the previous period. If so, the word `new` in a filter matches rows that the
    /// previous period doesn't have.
    const IS_COMPARED: bool = false;

    /// Returns the text that identifies the row in its report.
    fn identity(&self) -> &str;

    /// Whether lists show the row after all others, because it can't be ranked with them.
    fn is_unranked(&self) -> bool {
        false
    }
}

/// A row of a report with its fields.
pub trait FieldedRow: AnalyticsRow + HasFields {
    /// The name of the list in the service's JSON.
    const JSON_LIST_NAME: &'static str;

    /// Returns the number that is compared with the previous period. `None` if rows of this kind can't be compared.
    fn compared_count(&self) -> Option<&Count> {
        None
    }

    /// Returns a copy of this row with counts of 0. If only the previous period has the row, the current period shows
    /// this copy. `None` if rows of this kind can't be compared.
    fn with_zero_counts(&self) -> Option<Self> {
        None
    }
}

/// Returns the field with this name, otherwise the field whose column has this heading.
pub fn find_field<R: HasFields>(name: &str) -> Option<&'static Field<R>> {
    let named = R::FIELDS.iter().find(|field| field.name.eq_ignore_ascii_case(name));
    named.or_else(|| R::FIELDS.iter().find(|field| field.heading.eq_ignore_ascii_case(name)))
}

fn optional_text(text: Option<&CleanText>) -> FieldValue<'_> {
    FieldValue::text(text.map(CleanText::as_str).unwrap_or_default())
}

impl HasFields for PageRow {
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("page", "path", |row| FieldValue::text(row.path.as_str())),
        Field::new("human", "human", |row| FieldValue::Count(&row.counts.human)),
        Field::new("ai", "ai", |row| FieldValue::Count(&row.counts.ai)),
        Field::new("total", "total", |row| FieldValue::Count(&row.counts.total)),
    ];
    const FILTER_FLAGS: &'static [FilterFlag<Self>] = &[];
    const DEFAULT_SORT_FIELD: &'static str = "total";

    fn identity(&self) -> &str {
        self.key().as_str()
    }
}

impl FieldedRow for PageRow {
    const JSON_LIST_NAME: &'static str = "visitors";
}

impl HasFields for Search {
    const FIELDS: &'static [Field<Self>] = &[
        Field::with_heading("query", Field::new("search", "searchQuery", |row| FieldValue::text(row.query.as_str()))),
        Field::with_heading("searches", Field::new("hits", "hits", |row| FieldValue::Count(&row.hits))),
        Field::with_heading("clicked", Field::new("ctr", "ctr", |row| FieldValue::Share(&row.click_rate))),
        Field::with_heading(
            "most clicked page",
            Field::new("page", "topClickedPage", |row| optional_text(row.top_page.as_ref())),
        ),
        Field::with_heading(
            "last searched",
            Field::new("last", "lastSearchedAt", |row| FieldValue::Time(row.last_searched_at)),
        ),
    ];
    const FILTER_FLAGS: &'static [FilterFlag<Self>] =
        &[("unclicked", Search::is_unclicked), ("gone", |row| matches!(row.hits, Count::Known(0)))];
    const DEFAULT_SORT_FIELD: &'static str = "hits";
    const IS_COMPARED: bool = true;

    fn identity(&self) -> &str {
        self.key().as_str()
    }
}

impl FieldedRow for Search {
    const JSON_LIST_NAME: &'static str = "searches";

    fn compared_count(&self) -> Option<&Count> {
        Some(&self.hits)
    }

    fn with_zero_counts(&self) -> Option<Self> {
        Some(Self { hits: Count::Known(0), click_rate: Count::Missing, ..self.clone() })
    }
}

impl HasFields for Feedback {
    const FIELDS: &'static [Field<Self>] = &[
        Field::with_heading("age", Field::new("time", "createdAt", |row| FieldValue::Time(row.created_at))),
        Field::new("page", "path", |row| FieldValue::text(row.path.as_str())),
        Field::new("status", "status", |row| FieldValue::text(row.status.label())),
        Field::with_heading(
            "type",
            Field::new("helpful", "helpful", |row| {
                FieldValue::text(match row.helpful {
                    Some(true) => "true",
                    Some(false) => "false",
                    None => "",
                })
            }),
        ),
        Field::new("source", "source", |row| optional_text(row.source.as_ref())),
        Field::reader_text("comment", "comment", |row| optional_text(row.comment.as_ref())),
        Field::reader_text("code", "code", |row| optional_text(row.code.as_ref())),
        Field::new("file", "filename", |row| optional_text(row.filename.as_ref())),
        Field::new("language", "lang", |row| optional_text(row.lang.as_ref())),
        Field::new("id", "id", |row| FieldValue::text(row.id.as_str())),
    ];
    const FILTER_FLAGS: &'static [FilterFlag<Self>] = &[
        ("open", |row| row.status.is_open()),
        ("pending", |row| row.status.service_name() == "pending"),
        ("resolved", |row| row.status.service_name() == "resolved"),
        ("dismissed", |row| row.status.service_name() == "dismissed"),
        ("up", |row| row.helpful == Some(true)),
        ("down", |row| row.helpful == Some(false)),
        ("comment", |row| row.comment.is_some()),
        ("code", |row| row.code.is_some()),
    ];
    const DEFAULT_SORT_FIELD: &'static str = "time";

    fn identity(&self) -> &str {
        self.key().as_str()
    }
}

impl FieldedRow for Feedback {
    const JSON_LIST_NAME: &'static str = "feedback";
}

impl HasFields for PageFeedback {
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("page", "path", |row| FieldValue::text(row.path.as_str())),
        Field::new("up", "thumbsUp", |row| FieldValue::Count(&row.thumbs_up)),
        Field::new("down", "thumbsDown", |row| FieldValue::Count(&row.thumbs_down)),
        Field::with_heading("code samples", Field::new("code", "code", |row| FieldValue::Count(&row.code))),
        Field::new("total", "total", |row| FieldValue::Count(&row.total)),
    ];
    const FILTER_FLAGS: &'static [FilterFlag<Self>] = &[("gone", |row| matches!(row.total, Count::Known(0)))];
    const DEFAULT_SORT_FIELD: &'static str = "down";
    const IS_COMPARED: bool = true;

    fn identity(&self) -> &str {
        self.key().as_str()
    }
}

impl FieldedRow for PageFeedback {
    const JSON_LIST_NAME: &'static str = "feedback";

    fn compared_count(&self) -> Option<&Count> {
        Some(&self.thumbs_down)
    }

    fn with_zero_counts(&self) -> Option<Self> {
        let none = || Count::Known(0);
        Some(Self { path: self.path.clone(), thumbs_up: none(), thumbs_down: none(), code: none(), total: none() })
    }
}

impl HasFields for Question {
    const FIELDS: &'static [Field<Self>] = &[
        Field::with_heading("age", Field::new("time", "timestamp", |row| FieldValue::Time(row.asked_at))),
        Field::new("status", "resolutionStatus", |row| {
            FieldValue::text(match row.is_answered {
                Some(true) => "answered",
                Some(false) => "unanswered",
                None => "",
            })
        }),
        Field::new("page", "pageUrl", |row| FieldValue::Text(row.subject_page().unwrap_or_default())),
        Field::new("category", "queryCategory", |row| optional_text(row.category.as_ref())),
        Field::reader_text("question", "query", |row| FieldValue::text(row.query.as_str())),
        Field::reader_text("answer", "response", |row| FieldValue::text(row.response.as_str())),
        Field::new("id", "id", |row| FieldValue::text(row.id.as_str())),
    ];
    const FILTER_FLAGS: &'static [FilterFlag<Self>] =
        &[("unanswered", |row| row.is_answered == Some(false)), ("answered", |row| row.is_answered == Some(true))];
    // Unanswered questions come first.
    const DEFAULT_SORT_FIELD: &'static str = "status";

    fn identity(&self) -> &str {
        self.key().as_str()
    }
}

impl FieldedRow for Question {
    const JSON_LIST_NAME: &'static str = "conversations";
}

impl HasFields for PageSignals {
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("page", "path", |page| FieldValue::text(page.path_text())),
        Field::new("views", ProblemSignal::Views.name(), |page| FieldValue::Number(page.value(ProblemSignal::Views))),
        Field::new("change", "change", |page| FieldValue::Percent(page.views_change.percent())),
        Field::new("lost", ProblemSignal::LostViews.name(), |page| {
            FieldValue::Number(page.value(ProblemSignal::LostViews))
        }),
        Field::new("down", ProblemSignal::ThumbsDown.name(), |page| {
            FieldValue::Number(page.value(ProblemSignal::ThumbsDown))
        }),
        Field::new("comments", ProblemSignal::OpenComments.name(), |page| {
            FieldValue::Number(page.value(ProblemSignal::OpenComments))
        }),
        Field::new("unanswered", ProblemSignal::UnansweredQuestions.name(), |page| {
            FieldValue::Number(page.value(ProblemSignal::UnansweredQuestions))
        }),
        Field::new("searches", ProblemSignal::UnclickedSearches.name(), |page| {
            FieldValue::Number(page.value(ProblemSignal::UnclickedSearches))
        }),
        Field::new("score", "score", |page| FieldValue::Percent(Some(page.score * 100.0))),
    ];
    const FILTER_FLAGS: &'static [FilterFlag<Self>] = &[];
    const DEFAULT_SORT_FIELD: &'static str = "score";

    fn identity(&self) -> &str {
        self.path_text()
    }

    /// The row of the signals that belong to no page is listed last, because it is not a page that needs work.
    fn is_unranked(&self) -> bool {
        self.path.is_none()
    }
}

/// Returns the items, sorted by a field of their rows, highest value first unless `ascending` is set. Items with equal
/// values keep their order.
pub fn sorted_rows<'a, T: Copy, R: HasFields>(
    items: &[T],
    row: impl Fn(&T) -> &'a R,
    field: &Field<R>,
    ascending: bool,
) -> Vec<T> {
    // The values are computed once and not for each comparison.
    let keys: Vec<SortKey<'a>> = items.iter().map(|item| (field.value)(row(item)).sort_key()).collect();
    if keys.first().is_some_and(|key| key.text().is_some()) {
        let order = sorted_text_indices(keys.iter().filter_map(SortKey::text), ascending);
        return order.into_iter().filter_map(|index| items.get(index).copied()).collect();
    }
    let mut keyed: Vec<(SortKey<'a>, T)> = keys.into_iter().zip(items.iter().copied()).collect();
    keyed.sort_by(|(one, _), (other, _)| {
        let order = one.compare(other);
        if ascending { order } else { order.reverse() }
    });
    keyed.into_iter().map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that all names are unique and that the JSON of a row has all fields by the service's name.
    fn check_fields<R: FieldedRow>() {
        let row = serde_json::to_value(R::default()).expect("JSON");
        let mut names: Vec<&str> = R::FIELDS.iter().map(|field| field.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), R::FIELDS.len());
        for field in R::FIELDS {
            assert!(row.get(field.service_name).is_some(), "{} in {row}", field.service_name);
        }
        assert!(find_field::<R>(R::DEFAULT_SORT_FIELD).is_some());
    }

    #[test]
    fn every_field_has_the_name_of_the_service_in_json() {
        check_fields::<PageRow>();
        check_fields::<Search>();
        check_fields::<Feedback>();
        check_fields::<PageFeedback>();
        check_fields::<Question>();
    }

    #[test]
    fn texts_are_sorted_without_regard_to_case() {
        let texts = ["b", "Bc", "a\u{0}", "a", "", "/guides/a", "/guides/B", "/guides/b/c", "ü"];
        let rows: Vec<Search> =
            texts.iter().map(|text| Search { query: CleanText::line(text), ..Search::default() }).collect();
        let field = find_field::<Search>("search").expect("a field");
        let sorted: Vec<String> = sorted_rows(&rows.iter().collect::<Vec<_>>(), |row| *row, field, true)
            .into_iter()
            .map(|row: &Search| row.query.as_str().to_lowercase())
            .collect();
        assert!(sorted.is_sorted() && sorted.len() == texts.len(), "{sorted:?}");
    }

    #[test]
    fn unknown_values_are_sorted_last() {
        let search = |query: &str, hits| Search { query: CleanText::line(query), hits, ..Search::default() };
        let all = [search("a", Count::Missing), search("b", Count::Known(3)), search("c", Count::Known(7))];
        let field = find_field::<Search>("hits").expect("a field");
        let rows: Vec<&Search> = sorted_rows(&all.iter().collect::<Vec<_>>(), |row| row, field, false);
        let order: Vec<&str> = rows.iter().map(|row| row.query.as_str()).collect();
        assert_eq!(order, ["c", "b", "a"]);
    }
}
