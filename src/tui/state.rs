//! Parts of the app's state. The functions that change a part are in the module of its feature.

use super::keymap::{Binding, Chord};
use crate::model::Time;
use crate::model::change::LocalChange;
use crate::model::job::{Job, JobKey, JobsLeftAfterPrune};
use crate::model::layout::Layout;
use crate::model::preview::{Build, BuildState, StartedBuild};
use crate::model::prompt::PromptId;
use crate::model::pull_request::HostKind;
use crate::model::pull_request_action::{PullRequestAction, SeenHeadCommit, UnsentReviewKind};
use crate::model::text::CleanText;
use crossterm::event::Event;
use std::collections::{BTreeSet, HashMap, VecDeque};
use strum::{EnumString, IntoStaticStr};

#[derive(Debug, Default)]
pub(super) struct StartupQueue {
    /// Keys, pastes and focus changes.
    pub input_events: Vec<Event>,
    pub changed_rows: Vec<Job>,
    /// Merged jobs, each as the removed job and the job into which it was merged.
    pub merged_jobs: Vec<(JobKey, JobKey)>,
    /// The jobs that remain after the last pruning.
    pub remaining_jobs: Option<JobsLeftAfterPrune>,
}

#[derive(Debug, Default)]
pub(super) enum LayoutSaveState {
    /// Changes aren't saved: in the demo, with a read-only store, during the setup, and until a layout is restored.
    #[default]
    NotSaving,
    /// The current layout equals this saved layout.
    Saved(Layout),
    /// The current layout differs from this saved layout and will be saved at the given time.
    Due(Layout, Time),
}

/// The typed filter, and the saved filter that it is combined with.
#[derive(Debug, Default)]
pub(super) struct FilterBarState {
    pub typed: String,
    /// The index of the active tab: 0 for all jobs, n for the saved filter with the index n − 1.
    pub active_tab_index: usize,
    /// The search that is running. Only one search runs at a time, however fast the user types.
    pub running_search: Option<PromptSearch>,
}

/// A search of the prompts for a word of the filter.
#[derive(Debug)]
pub(super) struct PromptSearch {
    pub word: String,
    /// Whether the prompts of all profiles are searched, because their list is open.
    pub covers_all_profiles: bool,
}

#[derive(Debug)]
pub(super) struct Pointer {
    /// Whether mouse reporting is on.
    pub is_mouse_enabled: bool,
    /// Whether the divider is being dragged.
    pub is_dragging: bool,
}

impl Pointer {
    pub(super) fn new(on: bool) -> Self {
        Self { is_mouse_enabled: on, is_dragging: false }
    }
}

/// A follow-up to several jobs, while its prompts are being saved.
#[derive(Debug)]
pub(super) struct BulkFollowUp {
    pub text: String,
    pub pending_jobs: Vec<JobKey>,
    pub saved_count: usize,
    pub failed_jobs: Vec<JobKey>,
    pub failure_message: Option<CleanText>,
}

/// The actions on pull requests and the preview builds that the user has started since docdeck started.
#[derive(Debug, Default)]
pub(super) struct PullRequestWork {
    /// The action on several pull requests that is under way, with the pull requests that still wait for it.
    pub running_bulk_action: Option<BulkPullRequestAction>,
    /// The last build of a preview for each job.
    pub builds: HashMap<JobKey, PreviewBuild>,
    /// The jobs for which the response to an action on their pull request was lost, and when. No action on such a pull
    /// request is offered until its state has been read again.
    pub unconfirmed_action_times: HashMap<JobKey, Time>,
    /// The unsent texts of reviews and comments. A key is the link of a pull request and the kind of text.
    pub unsent_reviews: HashMap<(CleanText, UnsentReviewKind), String>,
}

/// An action on several pull requests, while it is under way.
#[derive(Debug)]
pub(super) struct BulkPullRequestAction {
    pub action: PullRequestAction,
    /// The job whose pull request the action was last sent to. Its outcome has not arrived yet.
    pub current_job: JobKey,
    /// The pull requests to which the action has not been sent yet.
    pub waiting_targets: VecDeque<SeenHeadCommit>,
    /// The number of pull requests on which the action has succeeded.
    pub done_count: usize,
}

/// The build of a preview that the user has asked for.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct PreviewBuild {
    /// The accepted build; `None` until the service has accepted it.
    pub started_build: Option<StartedBuild>,
    /// The build as last reported by the service.
    pub last_known_build: Option<Build>,
    /// Why the build was not started, or why its state is unknown. The state is then not requested again.
    pub problem: Option<CleanText>,
    /// How many times the state of the build was requested.
    pub request_count: u16,
    /// How many of the latest requests for the state failed in a row.
    pub consecutive_failures: u8,
}

impl PreviewBuild {
    /// Whether the result of the build is still to come.
    pub(super) fn is_running(&self) -> bool {
        self.problem.is_none() && !self.last_known_build.as_ref().is_some_and(|last| last.state.is_final())
    }

    /// Returns the address of the preview if the build has succeeded.
    pub(super) fn url(&self) -> Option<&CleanText> {
        let is_built = self.last_known_build.as_ref().is_some_and(|last| last.state == BuildState::Success);
        self.started_build.as_ref().and_then(|started_build| started_build.url.as_ref()).filter(|_| is_built)
    }
}

/// A list of ids whose jobs are being requested, and the results so far.
#[derive(Debug, Default)]
pub(super) struct TrackingProgress {
    /// The ids whose result has not arrived yet.
    pub pending_ids: Vec<CleanText>,
    /// The number of jobs that are now tracked.
    pub tracked_count: usize,
    /// The ids of jobs that the service doesn't have.
    pub unknown_ids: Vec<CleanText>,
    /// The ids whose request failed although the service may have the job.
    pub ids_with_failed_request: Vec<CleanText>,
    /// Why the request for the last of `ids_with_failed_request` failed.
    pub failure_reason: Option<CleanText>,
}

#[derive(Debug)]
pub(super) enum JobUndo {
    /// Applies these changes. Each change restores one value, for all jobs that had this value before.
    Change {
        /// The text of the notice after the undo, without `Undone:`.
        undo_text: String,
        changes: Vec<(Vec<JobKey>, LocalChange)>,
    },
    /// Restores these discarded prompts. `jobs` are the jobs that the prompts belong to.
    Restore { prompts: Vec<PromptId>, jobs: Vec<JobKey> },
}

impl JobUndo {
    /// Removes the jobs that are not in `remaining`, because they no longer exist. Returns whether there is still
    /// something to undo.
    pub(super) fn retain_jobs(&mut self, remaining: &JobsLeftAfterPrune) -> bool {
        match self {
            Self::Change { changes, .. } => {
                changes.iter_mut().for_each(|(keys, _)| keys.retain(|key| remaining.contains(*key)));
                changes.retain(|(keys, _)| !keys.is_empty());
                !changes.is_empty()
            }
            // The prompts can only be restored together, so all their jobs must still exist.
            Self::Restore { jobs, .. } => jobs.iter().all(|key| remaining.contains(*key)),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum PaletteChoice {
    /// A key binding.
    Binding(&'static Binding),
    /// The custom command that this key runs.
    CustomCommand(Chord),
    /// The theme with this name.
    Theme(String),
}

/// A screen or dialog that has a tip. Once the tip was shown, the name of the place is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr)]
#[cfg_attr(test, derive(strum::EnumIter))]
#[strum(serialize_all = "kebab-case")]
pub enum TipPlace {
    Jobs,
    Detail,
    Views,
    Log,
    Editor,
    Batch,
    Calendar,
    /// Stored under the name `card`, which earlier versions of docdeck use.
    #[strum(serialize = "card")]
    PageDetail,
    Trend,
    Movers,
    /// The jobs list, after its own tip, if jobs have pull requests on a code host for which there is no token.
    HostToken,
}

/// Which tips were shown, and the tip that is shown now.
#[derive(Debug, Default)]
pub(super) struct Tips {
    /// The places whose tip was shown. `None` if no tips may be shown, because they are turned off or this set is not
    /// loaded yet.
    pub seen_places: Option<BTreeSet<TipPlace>>,
    /// The code hosts for which there is no token although jobs have pull requests there.
    pub hosts_without_token: Vec<(CleanText, HostKind)>,
    /// The current screen or dialog, if it can have a tip. When it changes, the current tip disappears.
    pub place: Option<TipPlace>,
    /// The tip that is shown now, and until when.
    pub current_tip: Option<(String, Time)>,
}

impl Tips {
    /// Sets the places whose tip was shown. `seen` has their stored names, separated by spaces. It is `None` if no tips
    /// may be shown.
    pub(super) fn set_seen(&mut self, seen: Option<&str>) {
        // Names that only other versions of docdeck have are ignored.
        self.seen_places = seen.map(|words| words.split_whitespace().filter_map(|word| word.parse().ok()).collect());
    }

    pub(super) fn dismiss(&mut self) {
        self.current_tip = None;
    }

    pub(super) fn expire(&mut self, now: Time) {
        self.current_tip.take_if(|(_, until)| *until <= now);
    }

    /// Returns when the current tip disappears.
    pub(super) fn ends_at(&self) -> Option<Time> {
        self.current_tip.as_ref().map(|(_, until)| *until)
    }
}
