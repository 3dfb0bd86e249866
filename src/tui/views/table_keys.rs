//! The keys that change the list of pages (order, filter, folding, metric, scale and marks), and their footer labels.

use super::super::dialog::Dialog;
use super::super::keymap::{Action, Context};
use super::super::text_input::TextInput;
use super::super::{App, Severity};
use super::table::{Metric, PageSorting, PageTable};
use crate::model::Time;

impl App {
    /// Handles an action that changes how the pages are listed. Requests nothing from the service.
    pub(in crate::tui) fn change_table(&mut self, action: Action, now: Time) {
        if let Some(what) = words_if_all_pages_needed(action)
            && !self.views.table.is_report()
        {
            let load = self.key_label(Context::Views, Action::LoadAll);
            self.notify(Severity::Info, &format!("{what} needs all pages: press {load} to load them."), now);
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
                    &format!("Shares are always drawn from 0 to 100%; {metric} changes the metric."),
                    now,
                );
            }
            Action::LogScale => table.toggle_log_scale(),
            Action::Mark => table.toggle_mark(),
            Action::MarkRange => table.mark_range(),
            Action::Filter => {
                let input = TextInput::line(table.filter_text());
                self.dialogs.push(Dialog::Filter(Box::new(input)));
            }
            _ => {}
        }
    }

    /// Handles the keys for right and left in a tree: goes into the selected folder, or out of the current one.
    pub(in crate::tui) fn navigate_tree(&mut self, inwards: bool) {
        if inwards { self.views.table.enter_folder() } else { self.views.table.leave_folder() }
    }

    /// Warns and returns `true` if Esc has to be pressed once more to clear the marks, because it takes work to set
    /// several marks again. Returns `false` if there are fewer than two marks, or if the warning is already on screen.
    pub(in crate::tui) fn warn_before_clearing_marks(&mut self, marks: usize, now: Time) -> bool {
        if marks < 2 {
            return false;
        }
        let closes = self.key_label(Context::Views, Action::Close);
        let text = format!("{} marks: press {closes} again to clear them.", super::super::format::format_count(marks));
        let was_warned = self.notice.as_ref().is_some_and(|notice| notice.text.as_str() == text);
        if was_warned {
            self.notice = None;
        } else {
            self.notify(Severity::Info, &text, now);
        }
        !was_warned
    }

    /// Clears the marks, or the filter if there are no marks. Returns whether there was anything to clear.
    pub(in crate::tui) fn clear_marks_or_filter(&mut self, now: Time) -> bool {
        if self.warn_before_clearing_marks(self.views.table.marked_count(), now) {
            return true;
        }
        let table = &mut self.views.table;
        if table.marked_count() > 0 {
            table.clear_marks();
            return true;
        }
        let filtered = table.is_filtered();
        if filtered {
            table.set_filter("");
        }
        filtered
    }

    /// Whether an action would do something now; `None` if that doesn't depend on the list of pages.
    pub(in crate::tui) fn can_change_table(&self, action: Action) -> Option<bool> {
        let table: &PageTable = &self.views.table;
        let folder = table.selected_folder();
        let has_pages = !table.rows().is_empty() || table.absent_count() > 0;
        Some(match action {
            Action::NextSort | Action::ReverseSort | Action::Fold => table.is_report() && has_pages,
            Action::Filter => table.is_report() && has_pages || table.is_filtered(),
            Action::Movers if !has_pages => false,
            Action::LogScale => !table.rows().is_empty() && table.metric() != Metric::Share,
            Action::Metric => !table.rows().is_empty(),
            Action::Mark | Action::MarkRange | Action::Open => !table.is_empty(),
            Action::NewJob => folder.is_none() && !table.is_empty() || table.marked_count() > 0,
            Action::CopyMain => table.selected_row().is_some(),
            Action::NextPage if table.is_tree() => folder.is_some(),
            Action::PreviousPage if table.is_tree() => table.can_leave_folder(),
            // A report lists all pages at once, so it has no next page of rows.
            Action::NextPage | Action::PreviousPage if table.is_report() => false,
            _ => return None,
        })
    }

    /// Returns the footer label of an action that depends on the state of the list; `None` for the usual label.
    pub(in crate::tui) fn table_key_label(&self, action: Action) -> Option<&'static str> {
        let table: &PageTable = &self.views.table;
        let folder = table.selected_folder();
        match action {
            Action::Open | Action::NextPage if folder.is_some_and(|folder| !folder.is_open) => Some("open folder"),
            Action::Open | Action::PreviousPage if folder.is_some_and(|folder| folder.is_open) => Some("close folder"),
            Action::NextPage if folder.is_some() => Some("go into"),
            Action::PreviousPage if table.is_tree() => Some("parent"),
            Action::Fold if table.is_tree() => Some("unfold"),
            Action::LogScale if table.has_log_scale() => Some("linear"),
            Action::NewJob if table.marked_count() > 0 => Some("job about them"),
            Action::Close if table.marked_count() > 0 => Some("unmark"),
            Action::Close if table.is_filtered() => Some("clear filter"),
            _ => None,
        }
    }
}

/// Returns the first words of the notice for an action that needs all pages of the range; `None` for other actions.
fn words_if_all_pages_needed(action: Action) -> Option<&'static str> {
    match action {
        Action::NextSort | Action::ReverseSort => Some("Sorting"),
        Action::Filter => Some("Filtering"),
        Action::Fold => Some("Folding into a tree"),
        _ => None,
    }
}
