//! The words of the footer that depend on what is selected: a hint says what its key would do now.

use super::dialog::Dialog;
use super::keymap::{Action, Binding, Context};
use super::{App, Pane, Screen, format};
use crate::model::prompt::DeliveryKind;

impl App {
    /// What the footer says beside a key.
    pub fn hint(&self, row: &Binding) -> String {
        let is_list = match self.dialogs.last() {
            None => self.screen == Screen::Jobs,
            Some(overlay) => matches!(overlay, Dialog::AllJobs(_)),
        };
        let selected = self.listed().selected().filter(|_| is_list);
        if self.screen == Screen::Views
            && self.dialogs.is_empty()
            && let Some(hint) = self.table_hint(row.action)
        {
            return hint.to_owned();
        }
        let marked = self.listed().marked() > 0;
        match (row.action, selected) {
            (Action::Confirm, _) if let Some(jobs) = self.batch_size() => {
                format!("queue {}", format::plural(jobs, "job"))
            }
            (Action::Drafts, _) => format::plural(self.draft_count(), "draft"),
            (Action::CopyMain, Some(job)) if !marked && job.pr_link.is_none() => "copy id".to_owned(),
            (Action::Dismiss, Some(job)) if !marked && job.dismissed => "take back".to_owned(),
            (Action::MarkDone, Some(job)) if !marked && job.is_handled() => "not done".to_owned(),
            (Action::QueuePause, Some(job)) if !marked && job.undelivered == Some(DeliveryKind::Paused) => {
                "release".to_owned()
            }
            (Action::LoadAll, _) if self.dialogs.is_empty() => self.load_all_hint().to_owned(),
            (Action::Compare, _) if self.views.is_comparing() => "compare no more".to_owned(),
            (Action::Close, _) if row.context == Context::Everywhere && self.narrows_all_jobs().is_some() => {
                self.narrows_all_jobs().unwrap_or_default().to_owned()
            }
            (Action::Close, _) if self.dialogs.last().is_some_and(|overlay| overlay.is_narrowed_help()) => {
                "all keys".to_owned()
            }
            (Action::Close, _)
                if self.dialogs.is_empty() && self.screen == Screen::Views && self.views.all.can_stop() =>
            {
                "stop loading".to_owned()
            }
            (Action::Close, _) if row.context == Context::Everywhere && self.dialogs.is_empty() => {
                // What Esc takes away, in the order in which it does.
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

    /// What Esc takes away before it closes the list of all profiles' jobs.
    fn narrows_all_jobs(&self) -> Option<&'static str> {
        let Some(Dialog::AllJobs(open)) = self.dialogs.last() else { return None };
        match (open.list.marked(), open.filter().trim().is_empty()) {
            (1.., _) => Some("unmark"),
            (0, false) => Some("clear filter"),
            (0, true) => None,
        }
    }
}
