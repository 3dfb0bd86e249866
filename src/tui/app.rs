//! The state of the dashboard, and the accessors that all screens and dialogs use.

use super::component::Component;
use super::format::needs_you_text;
use super::geometry::{Geometry, compute_layout};
use super::jobs::messages::JobsEffect;
use super::keymap::{Action, Context};
use super::msg::{AppConfig, Effect};
use super::notice::{Notice, Severity};
use crate::model::Time;
use crate::model::connection::ConnectionState;
use crate::model::failure::Failure;
use crate::model::job::{JobGroup, JobKey};
use crate::model::ledger::{Budget, Quota};
use crate::model::load::Load;
use crate::model::prompt::DraftTarget;
use crate::model::team::TeamStatus;
use crate::model::text::CleanText;
use crate::model::unrecorded::UnrecordedOutcomes;
use std::collections::{BTreeMap, HashMap, HashSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// Only the setup form, which is a dialog. Shown until docdeck is configured.
    Welcome,
    Jobs,
    /// The analytics screen. Its first tab shows the page views.
    Analytics,
    Log,
}

/// The screens in the header. Each entry has the screen, the action that opens the screen, and the screen's name.
pub(super) const HEADER_TABS: [(Screen, Action, &str); 3] = [
    (Screen::Jobs, Action::ShowJobs, "Jobs"),
    (Screen::Analytics, Action::ShowAnalytics, "Analytics"),
    (Screen::Log, Action::ShowLog, "Log"),
];

/// Returns the screen that an action opens.
pub(super) fn screen_of(action: Action) -> Option<Screen> {
    HEADER_TABS.iter().find(|(_, opens, _)| *opens == action).map(|(screen, ..)| *screen)
}

/// Which part of the jobs screen has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    List,
    Detail,
}

/// Whether the store's content is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreState {
    /// The store is being read. Until then the jobs are unknown, which is not the same as an empty list.
    Reading,
    Loaded,
    /// The store couldn't be read because of `why`. The next attempt to read it is at `retry_at`. While an attempt is
    /// under way, `retry_at` is `None`.
    Unreadable {
        why: Failure,
        retry_at: Option<Time>,
    },
}

/// The notice for a setting that the demo doesn't save.
pub(super) const NOT_SAVED_IN_DEMO: &str = "The demo saves no settings.";

/// All state of the dashboard, owned by the event loop.
#[derive(Debug)]
pub struct App {
    pub config: AppConfig,
    pub size: (u16, u16),
    pub screen: Screen,
    pub pane: Pane,
    /// The open dialogs. The last one is on top.
    pub dialogs: Vec<Box<dyn Component>>,
    pub store: StoreState,
    pub jobs: super::jobs::JobList,
    pub detail: super::jobs::detail::Detail,
    /// The jobs of all profiles, while their list is open.
    pub all_jobs: Option<super::all_jobs::list::AllJobs>,
    pub views: super::views::ViewsState,
    /// The tabs of the analytics screen other than the page views.
    pub analytics: super::analytics::AnalyticsState,
    pub log: super::log_entries::LogEntries,
    pub connection: ConnectionState,
    /// The state of the exchange with the team's database.
    pub team: TeamStatus,
    pub notice: Option<Notice>,
    /// The warning or error that a newer notice covers.
    pub(super) covered_notice: Option<Notice>,
    /// Whether a key was pressed while the alert about unrecorded outcomes of prompts was shown.
    pub(super) is_unrecorded_alert_seen: bool,
    /// Prompts whose outcome could not be recorded on disk yet. A prompt is shown until its outcome is recorded.
    pub unrecorded: UnrecordedOutcomes,
    pub(super) budgets: BTreeMap<Quota, Budget>,
    pub(super) drafts: HashMap<DraftTarget, String>,
    /// The pages that the draft in [`DraftTarget::AboutPages`] is about.
    pub(super) draft_pages: Vec<CleanText>,
    pub(super) undo_stack: Vec<super::state::JobUndo>,
    pub(super) filter_bar: super::state::FilterBarState,
    pub(super) tracking: Option<super::state::TrackingProgress>,
    /// The failed job that the user retries, while a copy of its prompt is being saved.
    pub(super) retried_job: Option<JobKey>,
    /// The follow-up to several jobs that is being saved, if any.
    pub(super) bulk_follow_up: Option<super::state::BulkFollowUp>,
    /// The actions on pull requests and the preview builds that the user has started.
    pub(super) pull_request_work: super::state::PullRequestWork,
    /// The visible jobs on which the agent is working, as last reported to the engine.
    pub(super) last_reported_visible_jobs: Vec<JobKey>,
    /// The commands and themes that were chosen in the command palette, the most recent first.
    pub(super) recent_choices: Vec<super::state::PaletteChoice>,
    pub(super) finish_alerts: super::finish_alerts::FinishAlerts,
    pub(super) team_notices: super::team_notices::TeamNotices,
    pub(super) tips: super::state::Tips,
    pub(super) startup_queue: super::state::StartupQueue,
    /// The jobs of other profiles in the list of all profiles' jobs. Updates of these jobs are not applied to `jobs`.
    pub(super) other_profile_jobs: HashSet<JobKey>,
    /// The job to select once the store is read.
    pub(super) pending_selection: Option<JobKey>,
    /// Whether this instance, rather than another one, sends the queued prompts. True until the engine reports
    /// otherwise.
    pub(super) sends_queued_prompts: bool,
    pub(super) pointer: super::state::Pointer,
    pub(super) panes: super::geometry::PaneConstraints,
    pub(super) layout_save_state: super::state::LayoutSaveState,
    /// When a text input last closed while the user may still have been typing. Shortcuts are ignored for a moment
    /// after this time.
    pub(super) input_closed_at: Option<Time>,
    /// The number of the last attempt in a closed setup dialog. A new setup dialog continues counting from this number,
    /// so that late answers to the closed dialog are ignored.
    pub(super) setup_attempts: u64,
    /// The time of the last update, for labels in the footer that depend on the age of data.
    pub(super) updated_at: Time,
    /// Whether the screen has to be drawn again.
    pub(super) is_dirty: bool,
    /// The number of messages so far that may have changed more on screen than the selection.
    pub content_version: u64,
    /// Whether the current key press only moves the selection of a list or scrolls.
    pub(super) only_moves_selection: bool,
}

impl App {
    /// Creates the initial state. Returns it with the first effects to run. If the configuration needs to be set up,
    /// the caller opens the setup form.
    pub fn new(config: AppConfig, now: Time) -> (Self, Vec<Effect>) {
        let is_set_up = !config.needs_setup;
        let mut app = Self {
            size: config.size,
            screen: if is_set_up { Screen::Jobs } else { Screen::Welcome },
            pane: Pane::List,
            dialogs: Vec::new(),
            store: StoreState::Reading,
            jobs: super::jobs::JobList::default(),
            detail: super::jobs::detail::Detail::default(),
            all_jobs: None,
            views: super::views::ViewsState::new(now),
            analytics: super::analytics::AnalyticsState::default(),
            log: super::log_entries::LogEntries::default(),
            connection: if config.is_key_verified { ConnectionState::Ready } else { ConnectionState::Unknown },
            team: TeamStatus::default(),
            notice: None,
            covered_notice: None,
            is_unrecorded_alert_seen: false,
            unrecorded: UnrecordedOutcomes::default(),
            budgets: BTreeMap::new(),
            drafts: HashMap::new(),
            draft_pages: Vec::new(),
            undo_stack: Vec::new(),
            filter_bar: super::state::FilterBarState::default(),
            tracking: None,
            retried_job: None,
            bulk_follow_up: None,
            pull_request_work: super::state::PullRequestWork::default(),
            last_reported_visible_jobs: Vec::new(),
            recent_choices: Vec::new(),
            finish_alerts: super::finish_alerts::FinishAlerts::default(),
            team_notices: super::team_notices::TeamNotices::default(),
            tips: super::state::Tips::default(),
            startup_queue: super::state::StartupQueue::default(),
            other_profile_jobs: HashSet::new(),
            pending_selection: None,
            sends_queued_prompts: true,
            pointer: super::state::Pointer::new(config.mouse_enabled),
            panes: super::geometry::PaneConstraints::default(),
            layout_save_state: super::state::LayoutSaveState::default(),
            input_closed_at: None,
            setup_attempts: 0,
            updated_at: now,
            is_dirty: true,
            content_version: 0,
            only_moves_selection: false,
            config,
        };
        if let Some(text) = app.config.notice.clone() {
            app.notify(Severity::Warning, text.as_str(), now);
        } else if app.config.read_only {
            app.set_read_only(now);
        } else if let Some(text) = app.config.greeting.clone() {
            app.notify(Severity::Success, text.as_str(), now);
        }
        let mut effects = Vec::new();
        if is_set_up {
            app.restore_layout(now, &mut effects);
            // If the list has the default order and no filter, the store can find the first jobs of the list without
            // reading all jobs, so these jobs are loaded first. Otherwise, all data is loaded at once.
            let rows = app.size.1.into();
            effects.insert(
                0,
                if app.is_unfiltered_in_default_order() {
                    Effect::Jobs(JobsEffect::LoadFirstRows(rows))
                } else {
                    Effect::Jobs(JobsEffect::LoadInitialData)
                },
            );
        }
        app.detail.set_width(app.geometry().detail_columns());
        (app, effects)
    }

    /// Returns the layout of the screen at its current size.
    pub fn geometry(&self) -> Geometry {
        let needed_list_columns = u16::try_from(self.jobs.needed_list_columns()).unwrap_or(u16::MAX);
        let hides_detail = self.panes.hides_detail || self.has_nothing_to_select();
        compute_layout(self.size, super::geometry::PaneConstraints { needed_list_columns, hides_detail, ..self.panes })
    }

    /// Whether no job can be selected, so that the list takes the space of the details. False while the jobs are being
    /// read, because the first job will need that space for its details.
    pub(in crate::tui) fn has_nothing_to_select(&self) -> bool {
        self.store != StoreState::Reading && self.jobs.selected().is_none()
    }

    /// Returns whether the screen has to be drawn again, and resets this to false.
    pub fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.is_dirty)
    }

    /// Whether data for the current screen is still being read from the store, which takes only a moment.
    pub fn is_reading_store(&self) -> bool {
        let list = self.screen == Screen::Jobs && self.store == StoreState::Reading && self.jobs.is_empty();
        let trend = self.screen == Screen::Analytics && self.views.is_reading_trend();
        list || trend || (self.detail_is_visible() && matches!(self.detail.thread(), Load::Loading { previous: None }))
    }

    /// Returns the title for the terminal's window.
    pub fn terminal_title(&self) -> String {
        match self.jobs.count_of(JobGroup::NeedsYou) {
            0 => "docdeck".to_owned(),
            n => format!("{} · docdeck", needs_you_text(n, self.jobs.pull_request_counts())),
        }
    }

    /// Returns a budget as last reported by the engine. Until the engine has reported the budget, returns one with all
    /// requests left.
    pub fn budget(&self, quota: Quota) -> Budget {
        self.budgets.get(&quota).copied().unwrap_or_else(|| Budget::unused(quota))
    }

    /// Whether the engine has reported this budget.
    pub fn is_budget_known(&self, quota: Quota) -> bool {
        self.budgets.contains_key(&quota)
    }

    /// Returns the saved draft of a target.
    pub fn draft(&self, draft_target: DraftTarget) -> Option<&str> {
        self.drafts.get(&draft_target).map(String::as_str)
    }

    /// Returns the pages that the draft in [`DraftTarget::AboutPages`] is about.
    pub fn draft_pages(&self) -> &[CleanText] {
        &self.draft_pages
    }

    /// Returns the contexts in which a key is looked up, the most specific context first.
    pub fn contexts(&self) -> &'static [Context] {
        self.top_component().map_or(&[Context::Lists, Context::Everywhere], Component::contexts)
    }

    /// Whether character keys type text instead of running commands.
    pub(crate) fn takes_text(&self) -> bool {
        self.top_component().is_some_and(Component::takes_text)
    }

    /// Whether any of the active contexts is one in which text is typed.
    pub fn has_text_context(&self) -> bool {
        self.contexts().iter().any(|context| context.takes_text())
    }

    /// Returns the key of an action for use in a message.
    pub fn key_label(&self, context: Context, action: Action) -> String {
        self.config.keymap.key_label(context, action)
    }
}
