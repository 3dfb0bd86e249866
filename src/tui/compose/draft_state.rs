//! Whether typed text is saved as a draft.

use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::text::CleanText;
use chrono::TimeDelta;

/// The time from the first unsaved change of a draft until the draft is saved.
pub const DRAFT_SAVE_DELAY: TimeDelta = TimeDelta::seconds(1);

/// Whether the text is saved as a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftState {
    /// The text has not changed since the editor was opened.
    Unchanged,
    /// The text is to be saved at this time.
    Due(Time),
    /// The text is being saved.
    Saving,
    /// The text was saved at this time.
    Saved(Time),
    /// Saving failed. The editor shows this error.
    Failed(CleanText),
}

impl DraftState {
    /// Schedules a save, because the text has changed. If a save is already scheduled, its time stays.
    pub fn mark_changed(&mut self, now: Time) {
        if !matches!(self, Self::Due(_)) {
            *self = Self::Due(now + DRAFT_SAVE_DELAY);
        }
    }

    /// Whether there are unsaved changes.
    pub fn is_unsaved(&self) -> bool {
        matches!(self, Self::Due(_) | Self::Failed(_))
    }

    /// Returns the time at which the text has to be saved; `None` if no save is scheduled.
    pub fn due_at(&self) -> Option<Time> {
        match self {
            Self::Due(at) => Some(*at),
            _ => None,
        }
    }

    pub fn is_due(&self, now: Time) -> bool {
        self.due_at().is_some_and(|at| at <= now)
    }

    /// Changes the state to [`Self::Saving`] if there are unsaved changes. Returns whether there were any.
    pub fn start_saving(&mut self) -> bool {
        let is_unsaved = self.is_unsaved();
        if is_unsaved {
            *self = Self::Saving;
        }
        is_unsaved
    }

    /// Returns why the draft is not saved; `None` if saving didn't fail.
    pub(in crate::tui) fn failure_text(&self) -> Option<String> {
        match self {
            Self::Failed(reason) => Some(format!("Could not save the draft: {reason}")),
            _ => None,
        }
    }

    /// Applies the result of saving. If the text has changed again meanwhile, it stays unsaved.
    pub fn apply_saved(&mut self, result: Result<Time, Failure>) {
        match result {
            Ok(at) if *self == Self::Saving => *self = Self::Saved(at),
            Ok(_) => {}
            Err(failure) => *self = Self::Failed(failure.message),
        }
    }
}

/// Joins two drafts into one text, so that neither is lost.
pub(in crate::tui) fn join_drafts(first: String, second: &str) -> String {
    match (first.trim().is_empty(), second.trim().is_empty()) {
        (_, true) => first,
        (true, false) => second.to_owned(),
        (false, false) => format!("{first}\n\n{second}"),
    }
}
