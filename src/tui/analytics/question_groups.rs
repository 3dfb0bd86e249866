//! The questions to the assistant, counted by page or by category.

use super::row_list::{ListTab, ListedGroup, RowList, Rows};
use crate::model::Time;
use crate::model::analytics::fields::{Field, FieldValue, FilterFlag, HasFields};
use crate::model::analytics::{Question, RowsReport};
use crate::model::comparison::{ComparedRanges, ViewsChange};
use crate::model::text::CleanText;
use crate::model::views::DecimalCount;
use std::collections::HashMap;

/// What questions are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    Page,
    Category,
}

impl Grouping {
    /// Returns the group of a question; empty if the service doesn't name one.
    fn group_of(self, question: &Question) -> CleanText {
        match self {
            Self::Page => question.subject_page().map(|path| CleanText::line(&path)).unwrap_or_default(),
            Self::Category => question.category.clone().unwrap_or_default(),
        }
    }

    /// Returns what one group is called: `page` or `category`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Category => "category",
        }
    }
}

/// The questions of one page or category.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuestionGroup {
    /// The path or category; empty for the questions without one.
    pub name: CleanText,
    pub questions: u64,
    pub answered: u64,
    pub unanswered: u64,
    pub last_asked_at: Option<Time>,
    /// How the number of questions changed: `None` if nothing is compared, unknown unless both compared reports are
    /// complete.
    pub change: Option<ViewsChange>,
}

impl QuestionGroup {
    /// Returns the share of unanswered questions, 0 to 1. Ignores questions of which it is unknown whether they were
    /// answered. `None` if no questions remain.
    pub(super) fn unanswered_share(&self) -> Option<f64> {
        let known = DecimalCount::from(self.answered + self.unanswered);
        (!known.is_zero()).then(|| DecimalCount::from(self.unanswered).ratio_to(known))
    }
}

impl HasFields for QuestionGroup {
    const FIELDS: &'static [Field<Self>] = &[
        Field::new("name", "name", |group| FieldValue::Text(group.name.as_str().into())),
        Field::new("unanswered", "unanswered", |group| FieldValue::Number(Some(group.unanswered.into()))),
        Field::new("questions", "questions", |group| FieldValue::Number(Some(group.questions.into()))),
        Field::new("share", "share", |group| FieldValue::Percent(group.unanswered_share().map(|share| share * 100.0))),
        Field::with_heading("last asked", Field::new("last", "last", |group| FieldValue::Time(group.last_asked_at))),
    ];
    const FILTER_FLAGS: &'static [FilterFlag<Self>] = &[];
    const DEFAULT_SORT_FIELD: &'static str = "unanswered";

    fn identity(&self) -> &str {
        self.name.as_str()
    }
}

/// The compared ranges, with the questions of the current range and of the previous range.
pub(super) type ComparedQuestions<'a> = (ComparedRanges, &'a RowsReport<Question>, &'a RowsReport<Question>);

/// The list of groups.
#[derive(Debug, Default)]
pub struct QuestionGroups {
    /// What the questions are grouped by; `None` while they are listed one by one.
    grouping: Option<Grouping>,
    groups: Vec<QuestionGroup>,
    list: RowList<QuestionGroup>,
}

impl QuestionGroups {
    pub fn grouping(&self) -> Option<Grouping> {
        self.grouping
    }

    /// Switches from the list of questions to counting by page, then to counting by category, then back to the list.
    pub(super) fn switch_grouping(&mut self) {
        self.grouping = match self.grouping {
            None => Some(Grouping::Page),
            Some(Grouping::Page) => Some(Grouping::Category),
            Some(Grouping::Category) => None,
        };
        // The filter and the marks of pages don't apply to categories.
        (self.list, self.groups) = (RowList::default(), Vec::new());
    }

    pub(super) fn list_questions(&mut self) {
        self.grouping = None;
    }

    /// Counts the questions of the report and of the compared reports again. Does nothing while the questions are
    /// listed one by one.
    pub(super) fn update_groups(&mut self, questions: &[Question], compared: Option<ComparedQuestions<'_>>) {
        let Some(grouping) = self.grouping else { return };
        let selected = self.selected().map(|group| group.name.to_string());
        let mut groups: HashMap<CleanText, QuestionGroup> = HashMap::new();
        for question in questions {
            let name = grouping.group_of(question);
            let group =
                groups.entry(name.clone()).or_insert_with(|| QuestionGroup { name, ..QuestionGroup::default() });
            group.questions += 1;
            group.answered += u64::from(question.is_answered == Some(true));
            group.unanswered += u64::from(question.is_answered == Some(false));
            group.last_asked_at = group.last_asked_at.max(question.asked_at);
        }
        if let Some((ranges, current, previous)) = compared {
            let is_complete = current.is_complete() && previous.is_complete();
            let count = |report: &RowsReport<Question>| {
                let mut counts: HashMap<CleanText, u64> = HashMap::new();
                report.rows.iter().for_each(|question| *counts.entry(grouping.group_of(question)).or_default() += 1);
                counts
            };
            let (current, previous) = (count(current), count(previous));
            let number =
                |counts: &HashMap<CleanText, u64>, name| DecimalCount::from(counts.get(name).copied().unwrap_or(0));
            for group in groups.values_mut() {
                let (current, previous) = (number(&current, &group.name), number(&previous, &group.name));
                group.change = Some(match (is_complete, previous.is_zero()) {
                    (false, _) => ViewsChange::Unknown,
                    (true, true) => ViewsChange::New(current),
                    (true, false) if current.is_zero() => ViewsChange::Gone(previous),
                    (true, false) => ViewsChange::InBoth {
                        current: ranges.comparable_current(current),
                        previous: ranges.comparable_previous(previous),
                    },
                });
            }
        }
        self.groups = groups.into_values().collect();
        // The list is sorted by a field later. Groups with the same value in that field stay in the order set here: by
        // the number of their questions, then by name.
        self.groups.sort_by(|a, b| b.questions.cmp(&a.questions).then_with(|| a.name.cmp(&b.name)));
        self.filter_sort_and_select(selected.as_deref());
    }

    /// Returns the selected group with its questions.
    pub(super) fn selected_group(&self, questions: &[Question]) -> Option<ListedGroup> {
        let (grouping, group) = (self.grouping?, self.selected()?);
        let rows = questions.iter().filter(|question| grouping.group_of(question) == group.name);
        let rows = rows.map(|question| question.id.to_string()).collect();
        let name = match group.name.as_str() {
            "" => format!("questions without a {}", grouping.word()),
            name => name.to_owned(),
        };
        Some(ListedGroup { name, rows })
    }

    /// Returns the questions of the marked groups or the selected one, unanswered ones first.
    pub(super) fn questions_of_chosen_groups<'a>(&self, questions: &'a [Question]) -> Vec<&'a Question> {
        let Some(grouping) = self.grouping else { return Vec::new() };
        let chosen: Vec<&CleanText> = self.marked_or_selected().into_iter().map(|group| &group.name).collect();
        let mut found: Vec<&Question> =
            questions.iter().filter(|question| chosen.contains(&&grouping.group_of(question))).collect();
        found.sort_by_key(|question| question.is_answered != Some(false));
        found
    }

    fn filter_sort_and_select(&mut self, selected: Option<&str>) {
        self.list.filter_and_sort(&Rows { loaded_rows: &self.groups, gone_rows: &[] }, selected, |_| false);
    }
}

impl ListTab for QuestionGroups {
    type Row = QuestionGroup;

    fn list(&self) -> &RowList<QuestionGroup> {
        &self.list
    }

    fn list_mut(&mut self) -> &mut RowList<QuestionGroup> {
        &mut self.list
    }

    fn all_rows(&self) -> Rows<'_, QuestionGroup> {
        Rows { loaded_rows: &self.groups, gone_rows: &[] }
    }

    fn filter_and_sort(&mut self) {
        let selected = self.selected().map(|group| group.name.to_string());
        self.filter_sort_and_select(selected.as_deref());
    }
}
