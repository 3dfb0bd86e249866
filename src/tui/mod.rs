//! The state machine of the dashboard: `update(message, now)` changes the state and returns the effects to run.
//!
//! The state machine is pure and fast: it never waits, reads no clock and does no I/O. Each screen and dialog has its
//! own file. `update` handles messages, `act` runs the actions of keys, and `timers` computes when the screen has to
//! change although no message arrives.

mod act;
pub mod all_jobs;
pub mod bulk;
mod chord;
pub mod component;
pub mod compose;
pub mod confirm;
mod custom_commands;
pub mod detail;
pub mod dialog;
mod dispatch;
pub mod draw;
pub mod filter;
mod finish_alerts;
pub mod footer;
mod footer_labels;
pub mod format;
pub mod geometry;
pub mod header;
pub mod help;
pub mod impact;
pub mod input_dialog;
mod job_filter_bar;
mod job_labels;
pub mod jobs;
pub mod keymap;
mod layout;
pub mod list_state;
#[cfg(test)]
mod list_tests;
pub mod list_title;
pub mod log;
mod marks;
pub mod message_fit;
mod mouse;
mod msg;
pub mod order;
pub mod palette;
pub mod profiles;
mod pruned_jobs;
mod queue;
mod quitting;
pub mod scroll;
mod scrolling;
mod secret_input;
mod startup_queue;
mod submit;
mod text_entry;
pub mod text_input;
mod thread_prefetch;
mod timers;
mod tips;
mod tracking;
pub mod undelivered;
mod update;
pub mod views;
pub mod welcome;
pub mod wrap;

pub use msg::{
    AllProfilesJobs, AppConfig, CustomCommand, Effect, InitialData, Msg, NewFile, Overwrite, SavedFilter, SubmitError,
    Template,
};
pub use thread_prefetch::MAX_THREAD_BYTES;

use crate::model::Time;
use crate::model::connection::Connection;
use crate::model::failure::Failure;
use crate::model::ledger::{Budget, RateLimited};
use crate::model::load::Load;
use crate::model::prompt::{DeliveryKind, DraftTarget};
use crate::model::row::{Job, JobGroup, JobKey};
use crate::model::text::CleanText;
use crate::model::unrecorded::UnrecordedPrompts;
use dialog::Dialog;
use geometry::{Geometry, compute_layout};
use keymap::{Action, Binding, Chord, Context};
use std::collections::{HashMap, HashSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// The setup form, which is the lowest dialog until docdeck is configured.
    Welcome,
    Jobs,
    Views,
    Log,
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
    Read,
    /// The store couldn't be read because of `why`. The next attempt to read it is at `retry_at`. While an attempt is
    /// under way, `retry_at` is `None`.
    Unreadable {
        why: Failure,
        retry_at: Option<Time>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Info,
    /// Good news, which is shown longer than `Info`.
    Greeting,
    Problem,
}

/// A message that is shown until a given time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub severity: Severity,
    pub text: CleanText,
    pub until: Time,
    /// Whether a key was pressed while the notice was shown. On a small screen, the notice then shrinks to show what is
    /// below it.
    pub is_seen: bool,
}

/// All state of the dashboard, owned by the event loop.
#[derive(Debug)]
pub struct App {
    pub config: AppConfig,
    pub size: (u16, u16),
    pub screen: Screen,
    pub pane: Pane,
    pub dialogs: Vec<Dialog>,
    pub store: StoreState,
    pub jobs: jobs::JobList,
    pub detail: detail::Detail,
    pub views: views::ViewsScreen,
    pub log: log::LogScreen,
    pub connection: Connection,
    pub notice: Option<Notice>,
    /// Prompts whose outcome could not be recorded on disk yet. They are shown until it is recorded.
    pub unrecorded: UnrecordedPrompts,
    budgets: HashMap<RateLimited, Budget>,
    drafts: HashMap<DraftTarget, String>,
    /// The pages that the draft in [`DraftTarget::AboutPages`] is about.
    draft_pages: Vec<CleanText>,
    undo_stack: Vec<job_labels::LabelUndo>,
    search: job_filter_bar::FilterBarState,
    tracking: Option<tracking::Tracking>,
    /// The follow-up to several jobs that is being saved, if any.
    bulk_follow_up: Option<compose::BulkFollowUp>,
    /// The visible jobs that the agent is working on, as last reported to the engine.
    on_screen: Vec<JobKey>,
    /// The commands and themes that were chosen in the command palette, the most recent first.
    recent_choices: Vec<palette::PaletteChoice>,
    finish_alerts: finish_alerts::FinishAlerts,
    tips: tips::Tips,
    startup_queue: startup_queue::StartupQueue,
    /// The jobs of other profiles in the list of all profiles' jobs. Updates of these jobs are not applied to `jobs`.
    other_profile_jobs: HashSet<JobKey>,
    /// The job to select once the store is read.
    pending_selection: Option<JobKey>,
    /// Whether this instance, rather than another one, sends the queued prompts. True until the engine reports
    /// otherwise.
    sends_queue: bool,
    pointer: mouse::Pointer,
    panes: geometry::Panes,
    saved_layout: layout::SavedLayout,
    /// When a text input last closed while the user may still have been typing. Shortcuts are ignored for a moment
    /// after this time.
    input_closed_at: Option<Time>,
    /// The number of the last attempt in a closed setup dialog. A new setup dialog continues counting from this number,
    /// so that late answers to the closed dialog are ignored.
    setup_attempts: u64,
    /// Whether the screen has to be drawn again.
    dirty: bool,
}

impl App {
    /// Creates the initial state. Returns it with the first effects to run.
    pub fn new(mut config: AppConfig, now: Time) -> (Self, Vec<Effect>) {
        let welcome = config.welcome.take();
        let is_set_up = welcome.is_none();
        let mut app = Self {
            size: config.size,
            screen: if is_set_up { Screen::Jobs } else { Screen::Welcome },
            pane: Pane::List,
            dialogs: welcome.into_iter().map(|form| Dialog::Component(form)).collect(),
            store: StoreState::Reading,
            jobs: jobs::JobList::default(),
            detail: detail::Detail::default(),
            views: views::ViewsScreen::new(now),
            log: log::LogScreen::default(),
            connection: if config.is_verified { Connection::Ready } else { Connection::Unknown },
            notice: None,
            unrecorded: UnrecordedPrompts::default(),
            budgets: HashMap::new(),
            drafts: HashMap::new(),
            draft_pages: Vec::new(),
            undo_stack: Vec::new(),
            search: job_filter_bar::FilterBarState::default(),
            tracking: None,
            bulk_follow_up: None,
            on_screen: Vec::new(),
            recent_choices: Vec::new(),
            finish_alerts: finish_alerts::FinishAlerts::default(),
            tips: tips::Tips::default(),
            startup_queue: startup_queue::StartupQueue::default(),
            other_profile_jobs: HashSet::new(),
            pending_selection: None,
            sends_queue: true,
            pointer: mouse::Pointer::new(config.mouse_enabled),
            panes: geometry::Panes::default(),
            saved_layout: layout::SavedLayout::default(),
            input_closed_at: None,
            setup_attempts: 0,
            dirty: true,
            config,
        };
        if let Some(text) = app.config.notice.clone() {
            app.notify(Severity::Problem, text.as_str(), now);
        } else if app.config.read_only {
            app.notify_read_only(now);
        } else if let Some(text) = app.config.greeting.clone() {
            app.notify(Severity::Greeting, text.as_str(), now);
        }
        let mut effects = Vec::new();
        if is_set_up {
            app.restore_layout(now, &mut effects);
            // The store can return only the first jobs of the default order. With another order or a filter, the list
            // may start with other jobs, so all data is loaded.
            let rows = app.size.1.into();
            effects.insert(
                0,
                if app.is_unfiltered_in_default_order() {
                    Effect::LoadFirstRows(rows)
                } else {
                    Effect::LoadInitialData
                },
            );
        }
        app.detail.set_width(app.geometry().detail_columns());
        (app, effects)
    }

    /// Returns the layout of the screen at its current size.
    pub fn geometry(&self) -> Geometry {
        compute_layout(self.size, self.panes)
    }

    /// Returns whether the screen changed since the last call. The frame scheduler calls this once per frame.
    pub fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }

    /// Whether data for the current screen is still being read from the store, which takes only a moment.
    pub fn is_reading_store(&self) -> bool {
        let list = self.screen == Screen::Jobs && self.store == StoreState::Reading && self.jobs.is_empty();
        list || (self.detail_is_visible() && matches!(self.detail.thread(), Load::Loading { before: None }))
    }

    /// Returns the title for the terminal's window.
    pub fn terminal_title(&self) -> String {
        match self.jobs.count_of(JobGroup::NeedsYou) {
            0 => "docdeck".to_owned(),
            n => format!("{n} need you · docdeck"),
        }
    }

    /// Returns a budget as last reported by the engine. Until the engine has reported the budget, returns one with all
    /// requests left.
    pub fn budget(&self, limited: RateLimited) -> Budget {
        self.budgets.get(&limited).copied().unwrap_or_else(|| Budget::unused(limited))
    }

    /// Whether the engine has reported this budget.
    pub fn has_budget(&self, limited: RateLimited) -> bool {
        self.budgets.contains_key(&limited)
    }

    /// Returns the saved draft of a slot.
    pub fn draft(&self, slot: DraftTarget) -> Option<&str> {
        self.drafts.get(&slot).map(String::as_str)
    }

    /// Returns the pages that the draft in [`DraftTarget::AboutPages`] is about.
    pub fn draft_pages(&self) -> &[CleanText] {
        &self.draft_pages
    }

    /// Whether the details of the selected job are visible.
    pub fn detail_is_visible(&self) -> bool {
        self.screen == Screen::Jobs && (self.geometry().shows_both() || self.pane == Pane::Detail)
    }

    /// Returns the contexts in which a key is looked up, the most specific context first.
    pub fn contexts(&self) -> &'static [Context] {
        use Context as C;
        match (self.dialogs.last().map(Dialog::context), self.screen, self.pane) {
            (Some(C::Editor), ..) => &[C::Editor, C::Text, C::Everywhere],
            (Some(C::BatchText), ..) => &[C::BatchText, C::Text, C::Everywhere],
            (Some(C::Batch), ..) => &[C::Batch, C::Lists, C::Everywhere],
            (Some(C::Picker), ..) => &[C::Picker, C::Text, C::Everywhere],
            (Some(C::Palette), ..) => &[C::Palette, C::Text],
            (Some(C::Drafts), ..) => &[C::Drafts, C::Lists, C::Everywhere],
            (Some(C::Input), ..) => &[C::Input, C::Text, C::Everywhere],
            (Some(C::Resolve), ..) => &[C::Resolve, C::Lists, C::Everywhere],
            (Some(C::Filter), ..) => &[C::Filter, C::Text, C::Everywhere],
            (Some(C::Confirm), ..) => &[C::Confirm],
            (Some(C::Welcome), ..) => &[C::Welcome, C::Everywhere],
            (Some(C::WelcomeText), ..) => &[C::WelcomeText, C::Text, C::Everywhere],
            (Some(C::Calendar), ..) => &[C::Calendar, C::Everywhere],
            (Some(C::CalendarLine), ..) => &[C::CalendarLine, C::Input, C::Text, C::Everywhere],
            (Some(C::Help), ..) => &[C::Help, C::Lists, C::Everywhere],
            (Some(C::PageDetail), ..) => &[C::PageDetail, C::Lists, C::Everywhere],
            (Some(C::Trend), ..) => &[C::Trend, C::Lists, C::Everywhere],
            (Some(C::Movers), ..) => &[C::Movers, C::Lists, C::Everywhere],
            (Some(C::Export), ..) => &[C::Export, C::Lists, C::Everywhere],
            (Some(C::AllJobs), ..) => &[C::AllJobs, C::Lists, C::Everywhere],
            (Some(C::Profiles), ..) => &[C::Profiles, C::Lists, C::Everywhere],
            (Some(C::CachedRanges), ..) => &[C::CachedRanges, C::Lists, C::Everywhere],
            (Some(_), ..) => &[C::Lists, C::Everywhere],
            (None, Screen::Jobs, Pane::List) => &[C::Jobs, C::Lists, C::Everywhere],
            (None, Screen::Jobs, Pane::Detail) => &[C::Detail, C::Lists, C::Everywhere],
            (None, Screen::Views, _) => &[C::Views, C::Lists, C::Everywhere],
            (None, Screen::Log | Screen::Welcome, _) => &[C::Lists, C::Everywhere],
        }
    }

    /// Whether character keys type text instead of running commands.
    pub(crate) fn takes_text(&self) -> bool {
        self.dialogs.last().is_some_and(Dialog::takes_text)
    }

    /// Whether text is typed in any of the active contexts.
    pub fn has_text_context(&self) -> bool {
        self.contexts().iter().any(|context| context.takes_text())
    }

    /// Returns the bindings that the footer may show, each with its first usable key. Such a binding has a hint and
    /// would have an effect now.
    pub fn hints(&self) -> impl Iterator<Item = (Chord, &'static Binding)> {
        let takes_text = self.takes_text();
        let in_editor = matches!(self.contexts().first(), Some(Context::Editor | Context::BatchText));
        // Hints of keys that edit text are shown only in multi-line editors.
        let is_shown = move |row: &Binding| {
            let is_relevant = match row.action {
                // While a dialog or the details cover the list, the quit key only closes them.
                Action::Quit => !self.has_dialog_or_detail(),
                _ => in_editor || row.context != Context::Text,
            };
            is_relevant && !row.hint.is_empty() && self.is_shortcut_offered(row)
        };
        let rows = self.config.keymap.active_bindings_where(self.contexts(), is_shown);
        rows.filter_map(move |row| {
            let is_usable = |chord: &&Chord| !takes_text || row.context != Context::Everywhere || !chord.types_text();
            self.config.keymap.keys(row).iter().find(is_usable).map(|chord| (*chord, row))
        })
    }

    /// Whether a shortcut would have an effect now. A dialog decides about the shortcuts of its own context, and may also
    /// decline general ones.
    fn is_shortcut_offered(&self, row: &Binding) -> bool {
        match self.top_component() {
            Some(dialog) if dialog.offers(row.action, self).is_none() => false,
            Some(dialog) if row.context == dialog.context() => true,
            _ => self.is_possible(row.action),
        }
    }

    /// Returns the key of an action for use in a message.
    pub fn key_label(&self, context: Context, action: Action) -> String {
        self.config.keymap.key_label(context, action)
    }

    fn notify(&mut self, severity: Severity, text: &str, now: Time) {
        let seconds = match severity {
            Severity::Info => 5,
            Severity::Greeting | Severity::Problem => 15,
        };
        let until = now + chrono::TimeDelta::seconds(seconds);
        self.notice = Some(Notice { severity, text: CleanText::line(text), until, is_seen: false });
        self.dirty = true;
    }

    fn notify_failure(&mut self, failure: &Failure, now: Time) {
        let text = failure.message.clone();
        self.notify(Severity::Problem, text.as_str(), now);
    }

    /// Whether an action is available on this screen. The setup screen has no actions that need the dashboard.
    fn is_offered(&self, action: Action) -> bool {
        let needs_dashboard = matches!(
            action,
            Action::ShowJobs
                | Action::ShowViews
                | Action::ShowLog
                | Action::NextPane
                | Action::Refresh
                | Action::Profiles
        );
        self.screen != Screen::Welcome || !needs_dashboard
    }

    /// Whether an action would have an effect now. The footer shows only the keys of such actions.
    fn is_possible(&self, action: Action) -> bool {
        if !self.is_offered(action) {
            return false;
        }
        let selected = self.active_list().selected();
        let ready = self.store == StoreState::Read;
        match action {
            Action::NewJob | Action::Track | Action::Batch => ready,
            Action::Drafts => self.draft_count() > 0,
            Action::QueuePause | Action::QueueUp | Action::QueueDown | Action::QueueRemove => {
                self.any_target_job(queue::has_queued_prompt)
            }
            Action::Filter | Action::NextSort => !self.active_list().is_empty(),
            Action::Mark | Action::Rename | Action::Tags | Action::Note => selected.is_some(),
            Action::FollowUp => self.any_target_job(|row| row.id.is_some() && !row.gone),
            Action::OpenPr => self.any_target_job(|row| row.pr_link.is_some()),
            Action::MarkDone => self.any_target_job(|row| row.wants_action() && !row.dismissed),
            Action::Resolve => selected.is_some_and(|row| row.undelivered.is_some_and(|kind| kind.needs_user())),
            Action::CopyMain if self.dialogs.is_empty() && self.screen == Screen::Jobs => {
                self.jobs.marked_count() > 0 || selected.is_some_and(|row| row.pr_link.is_some() || row.id.is_some())
            }
            Action::Dismiss => {
                // A job can't be dismissed while its prompt is being sent or waits for the user's decision.
                self.active_list().marked_count() > 0
                    || selected.is_some_and(|row| {
                        !row.undelivered.is_some_and(|kind| kind.needs_user() || kind == DeliveryKind::Sending)
                    })
            }
            Action::Open => selected.is_some(),
            Action::BeforeAfter => selected.is_some_and(|row| !row.pages.is_empty()),
            Action::Profiles => self.config.config_path.is_some() || self.config.profiles.len() > 1,
            Action::AllJobs => self.config.profiles.len() > 1,
            Action::NewProfile => self.config.config_path.is_some(),
            Action::SaveFilter => self.can_save_filter(),
            Action::Close => self.has_something_to_close(),
            Action::Refresh if matches!(self.dialogs.last(), Some(Dialog::AllJobs(_))) => true,
            Action::Refresh => self.dialogs.is_empty() && matches!(self.screen, Screen::Jobs | Screen::Views),
            _ => true,
        }
    }

    /// Whether `holds` is true for at least one of the jobs that keys act on. These are the marked jobs or, if keys
    /// don't act on marks, the selected job.
    fn any_target_job(&self, holds: impl Fn(&Job) -> bool) -> bool {
        let list = self.active_list();
        if self.acts_on_marks() {
            return list.any_marked(holds);
        }
        list.selected().is_some_and(holds)
    }

    /// Returns the number of lines in the details before the thread: state, times, links, and a gap.
    pub fn detail_head_lines(&self) -> usize {
        let columns = self.geometry().detail_columns();
        self.jobs.selected().map_or(0, |row| detail::facts(row, columns).len() + 1)
    }
}
