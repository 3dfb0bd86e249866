//! The state machine of the dashboard: `update(message, now)` changes the state and returns the effects to run.
//!
//! It is pure and fast: it never waits, reads no clock and does no I/O. There is one file per screen or dialog.
//! `update` handles messages, `act` handles actions of keys, and `timers` computes when the screen changes without a
//! message.

mod act;
pub mod all_jobs;
pub mod batch;
pub mod bulk;
mod bulk_follow_up;
mod chord;
pub mod confirm_layout;
mod custom_commands;
pub mod detail;
pub mod dialog;
pub mod editor;
pub mod filter;
mod finish_alerts;
pub mod footer;
mod footer_labels;
pub mod format;
pub mod geometry;
pub mod header;
pub mod help;
pub mod impact;
mod job_filter_bar;
mod job_labels;
pub mod jobs;
pub mod keymap;
mod layout;
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
pub mod picker;
pub mod profiles;
mod prompt_sources;
mod pruned_jobs;
mod queue;
mod quitting;
pub mod resolve;
mod scroll;
mod scrolling;
mod secret_input;
mod startup_queue;
mod submit;
pub mod templates;
mod text_entry;
pub mod text_input;
mod thread_prefetch;
mod timers;
mod tips;
mod tracking;
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
use crate::model::prompt::{DeliveryKind, DraftSlot};
use crate::model::row::{Job, JobGroup, JobKey};
use crate::model::text::CleanText;
use crate::model::unrecorded::UnrecordedPrompts;
use dialog::Dialog;
use geometry::{Geometry, compute_layout};
use keymap::{Action, Binding, Chord, Context};
use std::collections::{HashMap, HashSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// The setup form, shown until docdeck is configured.
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
    /// Not read yet: the list is unknown rather than empty.
    Reading,
    Read,
    /// Reading is retried at `again`; `None` while it is being retried.
    Unreadable {
        why: Failure,
        again: Option<Time>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Info,
    /// Good news, shown longer than information.
    Greeting,
    Problem,
}

/// A message that is shown for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub severity: Severity,
    pub text: CleanText,
    pub until: Time,
    /// A key was pressed since: on a small screen the notice shrinks to show what it covers.
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
    /// The setup form, until docdeck is configured.
    pub welcome: Option<Box<welcome::Welcome>>,
    pub connection: Connection,
    pub notice: Option<Notice>,
    /// Prompts that could not be recorded on disk, shown until they are.
    pub unrecorded: UnrecordedPrompts,
    budgets: HashMap<RateLimited, Budget>,
    drafts: HashMap<DraftSlot, String>,
    /// The pages that the draft about pages refers to.
    draft_pages: Vec<CleanText>,
    undo: Vec<job_labels::LabelUndo>,
    search: job_filter_bar::Search,
    tracking: Option<tracking::Tracking>,
    /// A follow-up to several jobs that is being saved.
    bulk_follow_up: Option<bulk_follow_up::BulkFollowUp>,
    on_screen: Vec<JobKey>,
    /// The latest choices in the command palette, newest first.
    recent_choices: Vec<palette::PaletteChoice>,
    finish_alerts: finish_alerts::FinishAlerts,
    tips: tips::Tips,
    startup_queue: startup_queue::StartupQueue,
    /// Listed jobs of other profiles, which don't belong in `jobs`.
    other_profile_jobs: HashSet<JobKey>,
    /// The job to select once the store is read.
    pending_selection: Option<JobKey>,
    /// Whether this instance sends queued prompts. Assumed until the engine reports it.
    sends_queue: bool,
    pointer: mouse::Pointer,
    panes: geometry::Panes,
    saved_layout: layout::SavedLayout,
    /// When a text input closed while the user may still have been typing into it.
    input_closed_at: Option<Time>,
    /// The attempts of closed setup dialogs, so that a late answer is not attributed to a new dialog.
    setup_attempts: u64,
    dirty: bool,
}

impl App {
    /// The initial state, and the first effects to run.
    pub fn new(mut config: AppConfig, now: Time) -> (Self, Vec<Effect>) {
        let welcome = config.welcome.take();
        let is_set_up = welcome.is_none();
        let mut app = Self {
            size: config.size,
            screen: if welcome.is_some() { Screen::Welcome } else { Screen::Jobs },
            pane: Pane::List,
            dialogs: Vec::new(),
            store: StoreState::Reading,
            jobs: jobs::JobList::default(),
            detail: detail::Detail::default(),
            views: views::ViewsScreen::new(now),
            log: log::LogScreen::default(),
            welcome,
            connection: if config.is_verified { Connection::Ready } else { Connection::Unknown },
            notice: None,
            unrecorded: UnrecordedPrompts::default(),
            budgets: HashMap::new(),
            drafts: HashMap::new(),
            draft_pages: Vec::new(),
            undo: Vec::new(),
            search: job_filter_bar::Search::default(),
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
            pointer: mouse::Pointer::new(config.mouse),
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
            // The first rows are those of the default order; in another order they would be arbitrary rows.
            let rows = app.size.1.into();
            effects
                .insert(0, if app.has_default_order() { Effect::LoadFirstRows(rows) } else { Effect::LoadInitialData });
        }
        app.detail.fit(app.geometry().detail_columns());
        (app, effects)
    }

    /// The layout of the screen at the current size.
    pub fn geometry(&self) -> Geometry {
        compute_layout(self.size, self.panes)
    }

    /// Whether anything on screen changed since the last call. The frame scheduler calls it once per frame.
    pub fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }

    /// Whether data for the screen is being read from the store, which takes only a moment.
    pub fn is_reading_store(&self) -> bool {
        let list = self.screen == Screen::Jobs && self.store == StoreState::Reading && self.jobs.is_empty();
        list || (self.detail_is_visible() && matches!(self.detail.thread(), Load::Loading { before: None }))
    }

    /// The terminal's title.
    pub fn title(&self) -> String {
        match self.jobs.count_of(JobGroup::NeedsYou) {
            0 => "docdeck".to_owned(),
            n => format!("{n} need you · docdeck"),
        }
    }

    /// A budget as last reported; unused until the first report.
    pub fn budget(&self, limited: RateLimited) -> Budget {
        self.budgets.get(&limited).copied().unwrap_or_else(|| Budget::unused(limited))
    }

    /// Whether a budget was reported.
    pub fn has_budget(&self, limited: RateLimited) -> bool {
        self.budgets.contains_key(&limited)
    }

    /// The saved draft of a slot.
    pub fn draft(&self, slot: DraftSlot) -> Option<&str> {
        self.drafts.get(&slot).map(String::as_str)
    }

    /// The pages that the draft about pages refers to.
    pub fn draft_pages(&self) -> &[CleanText] {
        &self.draft_pages
    }

    /// Whether the detail is visible.
    pub fn detail_is_visible(&self) -> bool {
        self.screen == Screen::Jobs && (self.geometry().shows_both() || self.pane == Pane::Detail)
    }

    /// The contexts in which a key is looked up, the most specific first.
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
            (None, Screen::Log, _) => &[C::Lists, C::Everywhere],
            (None, Screen::Welcome, _) if self.welcome.as_ref().is_some_and(|form| form.form.is_choice()) => {
                &[C::Welcome, C::Everywhere]
            }
            (None, Screen::Welcome, _) => &[C::WelcomeText, C::Text, C::Everywhere],
        }
    }

    /// Whether character keys type text rather than run commands.
    pub(crate) fn takes_text(&self) -> bool {
        match self.dialogs.last() {
            Some(dialog) => dialog.takes_text(),
            None => self.screen == Screen::Welcome,
        }
    }

    pub fn is_typing(&self) -> bool {
        self.contexts().iter().any(|context| context.takes_text())
    }

    /// The bindings that have a hint and would do something now, each with a usable key.
    pub fn hints(&self) -> impl Iterator<Item = (Chord, &'static Binding)> {
        let takes_text = self.takes_text();
        let in_editor = matches!(self.contexts().first(), Some(Context::Editor | Context::BatchText));
        // A single-line input needs no hints for its text keys.
        let is_shown = move |row: &Binding| {
            let is_relevant = match row.action {
                // While a dialog is open, Quit closes the dialog.
                Action::Quit => !self.has_dialog(),
                _ => in_editor || row.context != Context::Text,
            };
            is_relevant && !row.hint.is_empty() && self.is_possible(row.action)
        };
        let rows = self.config.keymap.rows_that(self.contexts(), is_shown);
        rows.filter_map(move |row| {
            let is_usable = |chord: &&Chord| !takes_text || row.context != Context::Everywhere || !chord.types_text();
            self.config.keymap.keys(row).iter().find(is_usable).map(|chord| (*chord, row))
        })
    }

    /// The key of an action, as shown in messages.
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

    /// Whether an action exists on this screen: the setup form can't switch screens.
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

    /// Whether an action would do something now. The footer shows only the keys of such actions.
    fn is_possible(&self, action: Action) -> bool {
        if self.screen == Screen::Views
            && self.dialogs.is_empty()
            && let Some(possible) = self.can_change_table(action)
        {
            return possible;
        }
        if !self.is_offered(action) {
            return false;
        }
        let selected = self.listed().selected();
        let ready = self.store == StoreState::Read;
        if let (Action::CompareWith, Some(Dialog::CachedRanges(kept))) = (action, self.dialogs.last()) {
            return kept.selected().is_some();
        }
        match action {
            Action::NewJob | Action::Track | Action::Batch => ready,
            Action::Drafts => self.draft_count() > 0,
            Action::QueuePause | Action::QueueUp | Action::QueueDown | Action::QueueRemove => {
                self.any_target_job(queue::has_queued_prompt)
            }
            Action::Filter if matches!(self.dialogs.last(), Some(Dialog::Help(_))) => true,
            Action::Filter | Action::NextSort => !self.listed().is_empty(),
            Action::Mark | Action::Rename | Action::Tags | Action::Note => selected.is_some(),
            Action::FollowUp => self.any_target_job(|row| row.id.is_some() && !row.gone),
            Action::OpenPr => self.any_target_job(|row| row.pr_link.is_some()),
            Action::MarkDone => self.any_target_job(|row| row.wants_action() && !row.dismissed),
            Action::Resolve => selected.is_some_and(|row| row.undelivered.is_some_and(|kind| kind.needs_user())),
            Action::CopyMain if self.dialogs.is_empty() && self.screen == Screen::Jobs => {
                self.jobs.marked() > 0 || selected.is_some_and(|row| row.pr_link.is_some() || row.id.is_some())
            }
            Action::Dismiss => {
                // An undelivered prompt has to be resolved first.
                self.listed().marked() > 0
                    || selected.is_some_and(|row| {
                        !row.undelivered.is_some_and(|kind| kind.needs_user() || kind == DeliveryKind::Sending)
                    })
            }
            // Not offered without requests left, although the key still shows a notice about the next one.
            Action::LoadAll if self.views_left() == 0 && !self.views.all_pages.can_stop() => false,
            Action::LoadAll | Action::Compare | Action::Trend | Action::Movers => self.can_run_views_action(action),
            Action::Open if let Some(Dialog::Movers(movers)) = self.dialogs.last() => movers.selected().is_some(),
            Action::BeforeAfter if matches!(self.dialogs.last(), Some(Dialog::PageDetail(_))) => {
                self.selected_page_job().is_some()
            }
            Action::Open if matches!(self.dialogs.last(), Some(Dialog::PageDetail(_))) => {
                self.selected_page_job().is_some()
            }
            Action::Open => selected.is_some(),
            Action::BeforeAfter => selected.is_some_and(|row| !row.pages.is_empty()),
            Action::Profiles => self.config.config.is_some() || self.config.profiles.len() > 1,
            Action::AllJobs => self.config.profiles.len() > 1,
            Action::NewProfile => self.config.config.is_some(),
            Action::SaveFilter => self.can_save_filter(),
            Action::SaveTheme => self.can_save_theme(),
            Action::Demo => self.dialogs.is_empty(),
            Action::Interrupt if self.setup_on_top().is_some() => !self.has_something_to_close(),
            Action::Close => self.has_something_to_close(),
            Action::Help => !matches!(self.dialogs.last(), Some(Dialog::Help(_))),
            Action::Confirm => match self.dialogs.last() {
                Some(Dialog::Picker(picker)) => picker.selected().is_some(),
                Some(Dialog::Palette(palette)) => palette.selected().is_some(),
                Some(Dialog::CachedRanges(kept)) => kept.selected().is_some(),
                Some(Dialog::Batch(batch)) => !matches!(batch.step, batch::BatchStep::Reading(_)),
                _ => true,
            },
            Action::DeleteDraft => self.draft_count() > 0,
            Action::Refresh if matches!(self.dialogs.last(), Some(Dialog::AllJobs(_))) => true,
            Action::Refresh => self.dialogs.is_empty() && matches!(self.screen, Screen::Jobs | Screen::Views),
            Action::JumpToPage => self.views.table.report().is_none(),
            Action::NextPage => self.views.has_next(),
            Action::PreviousPage => self.views.query().page > 1,
            Action::EditPrompt | Action::LinkJob | Action::CheckJob => self.can_resolve_by(action),
            Action::NextBlank => match self.dialogs.last() {
                Some(Dialog::Editor(editor)) => !editor.is_in_external_editor && editor.input.has_blank(),
                _ => false,
            },
            Action::Send | Action::Edit(_) | Action::History | Action::Templates | Action::EditOutside => {
                match self.dialogs.last() {
                    Some(Dialog::Editor(editor)) => !editor.is_in_external_editor,
                    _ => true,
                }
            }
            _ => true,
        }
    }

    /// Whether the condition holds for any of the jobs that keys act on: the marked ones, otherwise the selected one.
    fn any_target_job(&self, is_possible: impl Fn(&Job) -> bool) -> bool {
        let list = self.listed();
        if self.acts_on_marks() {
            return list.any_marked(is_possible);
        }
        list.selected().is_some_and(is_possible)
    }

    /// The number of detail lines before the thread: state, times, links, and a gap.
    pub fn detail_head_lines(&self) -> usize {
        let columns = self.geometry().detail_columns();
        self.jobs.selected().map_or(0, |row| detail::facts(row, columns).len() + 1)
    }

    fn can_resolve_by(&self, action: Action) -> bool {
        use crate::model::prompt::PromptKind;
        let Some(Dialog::Undelivered(resolve)) = self.dialogs.last() else { return false };
        let unconfirmed = resolve.prompt.delivery.kind() == DeliveryKind::Unconfirmed;
        match action {
            Action::EditPrompt => !unconfirmed,
            Action::LinkJob => unconfirmed && resolve.prompt.kind == PromptKind::Create,
            Action::CheckJob => unconfirmed && resolve.has_id,
            _ => true,
        }
    }
}
