//! The labels in the footer that depend on the state: each describes what its keyboard key does at the moment.

use super::component::Label;
use super::dialog::Dialog;
use super::keymap::{Action, Binding, Context};
use super::{App, Pane, Screen, format};
use crate::model::prompt::DeliveryKind;

impl App {
    /// Returns the label of a key binding in the footer.
    pub fn hint_label(&self, row: &Binding) -> String {
        if let Some(Label::Text(text)) = self.top_component().and_then(|dialog| dialog.offers(row.action, self)) {
            return text;
        }
        let is_list = match self.dialogs.last() {
            None => self.screen == Screen::Jobs,
            Some(dialog) => matches!(dialog, Dialog::AllJobs(_)),
        };
        let selected = self.active_list().selected().filter(|_| is_list);
        let marked = self.active_list().marked_count() > 0;
        match (row.action, selected) {
            (Action::Drafts, _) => format::plural(self.draft_count(), "draft"),
            (Action::CopyMain, Some(job)) if !marked && job.pr_link.is_none() => "copy id".to_owned(),
            (Action::Dismiss, Some(job)) if !marked && job.dismissed => "restore".to_owned(),
            (Action::MarkDone, Some(job)) if !marked && job.is_handled() => "not done".to_owned(),
            (Action::QueuePause, Some(job)) if !marked && job.undelivered == Some(DeliveryKind::Paused) => {
                "resume".to_owned()
            }
            (Action::Close, _) if row.context == Context::Everywhere && self.all_jobs_close_label().is_some() => {
                self.all_jobs_close_label().unwrap_or_default().to_owned()
            }
            (Action::Close, _) if row.context == Context::Everywhere && self.dialogs.is_empty() => {
                // Esc first leaves the details, then clears the marks, then clears the filter.
                let what = match self.pane {
                    Pane::Detail => "back",
                    Pane::List if marked => "unmark",
                    Pane::List => "clear filter",
                };
                what.to_owned()
            }
            _ => row.hint.to_owned(),
        }
    }

    /// Returns the label of Esc if it clears the marks or the filter of the list of all profiles' jobs. Returns `None`
    /// if Esc closes that list, or if the list is not on top.
    fn all_jobs_close_label(&self) -> Option<&'static str> {
        let Some(Dialog::AllJobs(open)) = self.dialogs.last() else { return None };
        match (open.list.marked_count(), open.filter().trim().is_empty()) {
            (1.., _) => Some("unmark"),
            (0, false) => Some("clear filter"),
            (0, true) => None,
        }
    }
}
