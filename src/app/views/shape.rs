//! The keys that shape the list of pages: order, filter, folding, metric, scale and marks; and what they are called now.

use super::super::dialog::Dialog;
use super::super::keymap::{Action, Context};
use super::super::text_input::TextInput;
use super::super::{App, Severity};
use super::table::{Metric, PageSorting, PageTable};
use crate::model::Time;

impl App {
    /// Carries out a key that changes what is listed and how, asking nothing of the service.
    pub(in crate::app) fn shape_table(&mut self, action: Action, now: Time) {
        if let Some(what) = needs_all(action)
            && !self.views.table.is_report()
        {
            let load = self.key_label(Context::Views, Action::LoadAll);
            self.notify(Severity::Info, &format!("{what} needs all pages: {load} loads them."), now);
            return;
        }
        let table = &mut self.views.table;
        let sorting = table.sorting();
        match action {
            Action::NextSort => table.sort(PageSorting::by(sorting.by.next(table.comparison().is_some()))),
            Action::ReverseSort => table.sort(PageSorting { descending: !sorting.descending, ..sorting }),
            Action::Fold => table.toggle_tree(),
            Action::Metric => table.set_metric(table.metric().next()),
            Action::LogScale if table.metric() == Metric::Share => {
                let metric = self.key_label(Context::Views, Action::Metric);
                self.notify(
                    Severity::Info,
                    &format!("A share is drawn from 0 to 100%: {metric} goes to another metric."),
                    now,
                );
            }
            Action::LogScale => table.toggle_log(),
            Action::Mark => table.toggle_mark(),
            Action::MarkRange => table.mark_range(),
            Action::Filter => {
                let input = TextInput::line(table.filter_text());
                self.dialogs.push(Dialog::Filter(Box::new(input)));
            }
            _ => {}
        }
    }

    /// Right and left in a tree: into a folder and out of it.
    pub(in crate::app) fn walk_tree(&mut self, inwards: bool) {
        if inwards { self.views.table.go_in() } else { self.views.table.go_out() }
    }

    /// Whether Esc leaves so many marks this time: a press more takes them away, since it is work to set them again.
    pub(in crate::app) fn keeps_marks(&mut self, marks: usize, now: Time) -> bool {
        if marks < 2 {
            return false;
        }
        let closes = self.key_label(Context::Views, Action::Close);
        let text = format!("{} marks: {closes} again takes them away.", super::super::format::count(marks));
        let was_said = self.notice.as_ref().is_some_and(|notice| notice.text.as_str() == text);
        if was_said {
            self.notice = None;
        } else {
            self.notify(Severity::Info, &text, now);
        }
        !was_said
    }

    /// Takes away the marks, else the filter; whether there was anything.
    pub(in crate::app) fn open_up_table(&mut self, now: Time) -> bool {
        if self.keeps_marks(self.views.table.marked(), now) {
            return true;
        }
        let table = &mut self.views.table;
        if table.marked() > 0 {
            table.clear_marks();
            return true;
        }
        let filtered = table.is_filtered();
        if filtered {
            table.set_filter("");
        }
        filtered
    }

    /// Whether a key of the list would do something now; none where others decide.
    pub(in crate::app) fn can_shape_table(&self, action: Action) -> Option<bool> {
        let table: &PageTable = &self.views.table;
        let folder = table.selected_folder();
        let has_pages = !table.rows().is_empty() || table.absent() > 0;
        Some(match action {
            Action::NextSort | Action::ReverseSort | Action::Fold => table.is_report() && has_pages,
            Action::Filter => table.is_report() && has_pages || table.is_filtered(),
            Action::Movers if !has_pages => false,
            Action::LogScale => !table.rows().is_empty() && table.metric() != Metric::Share,
            Action::Metric => !table.rows().is_empty(),
            Action::Mark | Action::MarkRange | Action::Open => !table.is_empty(),
            Action::NewJob => folder.is_none() && !table.is_empty() || table.marked() > 0,
            Action::CopyMain => table.selected_row().is_some(),
            Action::NextPage if table.is_tree() => folder.is_some(),
            Action::PreviousPage if table.is_tree() => table.can_go_out(),
            // All pages stand in one list.
            Action::NextPage | Action::PreviousPage if table.is_report() => false,
            _ => return None,
        })
    }

    /// What a key of the list is called now; none where its usual name holds.
    pub(in crate::app) fn table_hint(&self, action: Action) -> Option<&'static str> {
        let table: &PageTable = &self.views.table;
        let folder = table.selected_folder();
        match action {
            Action::Open | Action::NextPage if folder.is_some_and(|folder| !folder.open) => Some("open folder"),
            Action::Open | Action::PreviousPage if folder.is_some_and(|folder| folder.open) => Some("close folder"),
            Action::NextPage if folder.is_some() => Some("into it"),
            Action::PreviousPage if table.is_tree() => Some("folder above"),
            Action::Fold if table.is_tree() => Some("unfold"),
            Action::LogScale if table.is_log() => Some("linear"),
            Action::NewJob if table.marked() > 0 => Some("job about them"),
            Action::Close if table.marked() > 0 => Some("unmark"),
            Action::Close if table.is_filtered() => Some("clear filter"),
            _ => None,
        }
    }
}

/// What an action does to the list that one page of rows is not enough for, as the beginning of a sentence.
fn needs_all(action: Action) -> Option<&'static str> {
    match action {
        Action::NextSort | Action::ReverseSort => Some("Sorting"),
        Action::Filter => Some("Filtering"),
        Action::Fold => Some("Folding into a tree"),
        _ => None,
    }
}
