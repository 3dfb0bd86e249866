//! The rows of a tab: which of them are shown in which order, which one is selected, and which are marked.

use crate::model::analytics::fields::{Field, FieldValue, HasFields, find_field, sorted_rows};
use crate::model::analytics::filter::RowFilter;
use crate::tui::widgets::list_state::ListState;
use std::collections::HashSet;

/// The loaded rows, and the rows that only the previous period has.
#[derive(Debug)]
pub struct Rows<'a, R> {
    pub loaded_rows: &'a [R],
    /// The rows that only the previous period has.
    pub gone_rows: &'a [R],
}

impl<'a, R> Rows<'a, R> {
    fn iter(&self) -> impl Iterator<Item = &'a R> + use<'a, R> {
        self.loaded_rows.iter().chain(self.gone_rows)
    }

    fn get(&self, at: usize) -> Option<&'a R> {
        self.loaded_rows.get(at).or_else(|| self.gone_rows.get(at.checked_sub(self.loaded_rows.len())?))
    }
}

/// The filter, order, selection and marks of a list of rows.
#[derive(Debug)]
pub struct RowList<R: HasFields> {
    /// The indices of the shown rows, in their order.
    shown_indices: Vec<usize>,
    pub(in crate::tui) state: ListState,
    /// The index of the field by which the rows are sorted.
    sort_field_index: usize,
    is_ascending: bool,
    filter_text: String,
    filter: RowFilter<R>,
    /// The identities of the marked rows.
    marks: HashSet<String>,
    /// The group to which the list is limited; `None` if all rows are listed.
    listed_group: Option<ListedGroup>,
}

/// The group of rows to which a list is limited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListedGroup {
    pub name: String,
    /// The identities of the rows in the group.
    pub rows: HashSet<String>,
}

impl<R: HasFields> Default for RowList<R> {
    fn default() -> Self {
        Self {
            shown_indices: Vec::new(),
            state: ListState::default(),
            sort_field_index: R::FIELDS.iter().position(|field| field.name == R::DEFAULT_SORT_FIELD).unwrap_or(0),
            is_ascending: false,
            filter_text: String::new(),
            filter: RowFilter::default(),
            marks: HashSet::new(),
            listed_group: None,
        }
    }
}

impl<R: HasFields> RowList<R> {
    /// Lists only the rows of a group, or all rows. The caller then has to call [`ListTab::filter_and_sort`].
    pub(super) fn limit_to_group(&mut self, group: Option<ListedGroup>) {
        self.listed_group = group;
    }

    pub(super) fn listed_group(&self) -> Option<&ListedGroup> {
        self.listed_group.as_ref()
    }

    /// Filters and sorts the rows, and selects the row with the identity `selected`, otherwise the first one.
    pub(super) fn filter_and_sort(&mut self, rows: &Rows<'_, R>, selected: Option<&str>, is_new: impl Fn(&R) -> bool) {
        let is_listed = |row: &R| self.listed_group.as_ref().is_none_or(|only| only.rows.contains(row.identity()));
        let passes = |(_, row): &(usize, &R)| is_listed(row) && self.filter.passes_in_comparison(row, &is_new);
        let mut order: Vec<(usize, &R)> = rows.iter().enumerate().filter(passes).collect();
        if let Some(field) = self.sort_field() {
            order = sorted_rows(&order, |(_, row)| row, field, self.is_ascending);
        }
        order.sort_by_key(|(_, row)| row.is_unranked());
        let at = selected.and_then(|selected| order.iter().position(|(_, row)| row.identity() == selected));
        self.shown_indices = order.into_iter().map(|(at, _)| at).collect();
        self.state.set_len(self.shown_indices.len());
        self.state.select(at.unwrap_or(0));
    }

    fn sort_field(&self) -> Option<&'static Field<R>> {
        R::FIELDS.get(self.sort_field_index)
    }

    /// Returns the name of the field by which the rows are sorted, and whether the lowest value comes first.
    pub(in crate::tui) fn sort_order(&self) -> (&'static str, bool) {
        (self.sort_field().map_or("", |field| field.name), self.is_ascending)
    }

    pub(in crate::tui) fn is_empty(&self) -> bool {
        self.shown_indices.is_empty()
    }

    pub(in crate::tui) fn filter_text(&self) -> &str {
        &self.filter_text
    }

    pub(in crate::tui) fn filter_problem(&self) -> Option<&str> {
        self.filter.problem()
    }

    /// Whether the filter contains a word that needs a comparison with the previous period.
    pub(super) fn needs_comparison(&self) -> bool {
        self.filter.needs_comparison()
    }

    pub(in crate::tui) fn is_marked(&self, row: &R) -> bool {
        self.marks.contains(row.identity())
    }

    pub(in crate::tui) fn marked_count(&self) -> usize {
        self.marks.len()
    }

    pub(in crate::tui) fn clear_marks(&mut self) {
        self.marks.clear();
    }

    /// Returns notes for the rule below the rows: the listed group, the number of marked rows, and the order unless it
    /// is the default.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        let only = self.listed_group.as_ref().map(|only| format!("only {}", only.name));
        let marked = (self.marked_count() > 0).then(|| format!("{} marked", self.marked_count()));
        let (field, is_ascending) = self.sort_order();
        let is_default = field == R::DEFAULT_SORT_FIELD && !is_ascending;
        let order = (!is_default).then(|| {
            let name = find_field::<R>(field).map_or(field, |field| field.heading);
            format!("sorted by {name}{}", if sort_arrow_points_up(field, is_ascending) { " ↑" } else { "" })
        });
        only.into_iter().chain(marked).chain(order)
    }
}

/// Whether the arrow of an order points up. For the fields `time` and `last` the arrow is reversed, because their
/// columns show ages: an ascending order of times is a descending order of ages.
pub(super) fn sort_arrow_points_up(field: &str, is_ascending: bool) -> bool {
    is_ascending != matches!(field, "time" | "last")
}

/// A tab with a list of rows.
pub trait ListTab {
    type Row: HasFields;

    fn list(&self) -> &RowList<Self::Row>;

    fn list_mut(&mut self) -> &mut RowList<Self::Row>;

    fn all_rows(&self) -> Rows<'_, Self::Row>;

    /// Filters and sorts the rows again. The selection stays on its row if that is still shown.
    fn filter_and_sort(&mut self);

    /// Returns the rows that are visible in `rows` lines, each with whether it is selected.
    fn visible(&self, rows: usize) -> impl Iterator<Item = (&Self::Row, bool)> {
        let all = self.all_rows();
        let visible = self.list().state.visible(self.list().shown_indices.iter(), rows);
        visible.filter_map(move |(at, is_selected)| Some((all.get(*at)?, is_selected)))
    }

    /// Returns the shown rows, in their order.
    fn rows(&self) -> impl Iterator<Item = &Self::Row> {
        let rows = self.all_rows();
        self.list().shown_indices.iter().filter_map(move |at| rows.get(*at))
    }

    fn selected(&self) -> Option<&Self::Row> {
        self.all_rows().get(*self.list().shown_indices.get(self.list().state.selected())?)
    }

    /// Selects the row that is this many rows below the selected one, or above it if `by` is negative.
    fn select_relative(&mut self, by: isize) {
        let state = &mut self.list_mut().state;
        state.select(state.selected().saturating_add_signed(by));
    }

    /// Returns the index of the selected row, and the number of shown rows.
    fn position(&self) -> (usize, usize) {
        (self.list().state.selected(), self.list().shown_indices.len())
    }

    /// Returns the marked rows that are shown or, if there are none, the selected row.
    fn marked_or_selected(&self) -> Vec<&Self::Row> {
        let marked: Vec<&Self::Row> = self.rows().filter(|row| self.list().is_marked(row)).collect();
        if marked.is_empty() { self.selected().into_iter().collect() } else { marked }
    }

    /// Marks or unmarks the selected row.
    fn toggle_mark(&mut self) {
        let Some(identity) = self.selected().map(|row| row.identity().to_owned()) else { return };
        let marks = &mut self.list_mut().marks;
        if !marks.remove(&identity) {
            marks.insert(identity);
        }
    }

    fn set_filter(&mut self, text: &str) {
        let list = self.list_mut();
        text.clone_into(&mut list.filter_text);
        list.filter = RowFilter::parse(text);
        self.filter_and_sort();
    }

    /// Sorts by the next field for which `is_column` returns true.
    fn sort_by_next(&mut self, is_column: impl Fn(&str) -> bool) {
        let fields = Self::Row::FIELDS;
        let mut next =
            (1..fields.len()).filter_map(|step| fields.get((self.list().sort_field_index + step) % fields.len()));
        if let Some(next) = next.find(|field| is_column(field.name)) {
            self.sort_by(next.name);
        }
    }

    /// Sorts by a field and selects the first row: texts in alphabetical order, other values from the highest. Reverses
    /// the order if the rows are already sorted by this field.
    fn sort_by(&mut self, name: &str) {
        let fields = Self::Row::FIELDS;
        let Some((at, field)) = fields.iter().enumerate().find(|(_, field)| field.name == name) else { return };
        let is_text = matches!((field.value)(&Self::Row::default()), FieldValue::Text(_));
        let list = self.list_mut();
        list.is_ascending = if at == list.sort_field_index { !list.is_ascending } else { is_text };
        list.sort_field_index = at;
        self.filter_and_sort();
        self.list_mut().state.select(0);
    }

    fn reverse(&mut self) {
        let list = self.list_mut();
        list.is_ascending = !list.is_ascending;
        self.filter_and_sort();
    }
}
