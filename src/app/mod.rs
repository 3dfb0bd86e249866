//! The state machine of the dashboard: `update(message, now)` changes the state and names the effects to carry out.
//!
//! Pure and fast: it awaits nothing, reads no clock, does no I/O. One file per screen or overlay; `update` takes the
//! messages, `act` the actions that keys stand for, `wake` says when the screen changes by itself.

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
pub use thread_prefetch::MOST_OF_ONE as MOST_READ_AHEAD;

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
use geometry::{Geometry, geometry};
use keymap::{Action, Binding, Chord, Context};
use std::collections::{HashMap, HashSet};

/// The screens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// Where to configure what is not configured yet.
    Welcome,
    Jobs,
    Views,
    Log,
}

/// Which part of the jobs screen has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    List,
    Detail,
}

/// What is known of the store's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreState {
    /// Not read yet: the list is not empty but unknown.
    Reading,
    Read,
    /// It is tried again from `again` on; none while that is under way.
    Unreadable {
        why: Failure,
        again: Option<Time>,
    },
}

/// How urgent a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Info,
    /// Good news that take more than a line.
    Greeting,
    Problem,
}

/// A line that is said for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub severity: Severity,
    pub text: CleanText,
    pub until: Time,
    /// A key came since: in a small screen it gives back what it covers.
    pub is_read: bool,
}

/// All state of the dashboard. The event loop owns the only one.
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
    /// While something is not configured yet.
    pub welcome: Option<Box<welcome::Welcome>>,
    pub connection: Connection,
    pub notice: Option<Notice>,
    /// Shown for as long as they are not on disk.
    pub unrecorded: UnrecordedPrompts,
    budgets: HashMap<RateLimited, Budget>,
    drafts: HashMap<DraftSlot, String>,
    /// The pages that the draft of a new job about pages is about.
    draft_pages: Vec<CleanText>,
    undo: Vec<job_labels::LabelUndo>,
    search: job_filter_bar::Search,
    tracking: Option<tracking::Tracking>,
    /// A follow-up to several jobs that is being written to disk.
    bulk_follow_up: Option<bulk_follow_up::BulkFollowUp>,
    on_screen: Vec<JobKey>,
    /// What was chosen in the palette, the last first.
    recent_choices: Vec<palette::PaletteChoice>,
    finish_alerts: finish_alerts::FinishAlerts,
    tips: tips::Tips,
    startup_queue: startup_queue::StartupQueue,
    /// Jobs of other profiles, as far as they were listed: they are none of this list's.
    other_profile_jobs: HashSet<JobKey>,
    /// To be selected once the record is read.
    pending_selection: Option<JobKey>,
    /// Whether this instance sends what is queued; assumed until the engine tells.
    sends_queue: bool,
    pointer: mouse::Pointer,
    panes: geometry::Panes,
    saved_layout: layout::Remembered,
    /// When a text input closed while the user may still have been typing into it.
    input_closed_at: Option<Time>,
    /// Attempts of setup dialogs that were closed: an answer to one of them belongs to no later dialog.
    setup_attempts: u64,
    dirty: bool,
}

impl App {
    /// The state before anything is known, and the effects to begin with.
    pub fn new(mut start: AppConfig, now: Time) -> (Self, Vec<Effect>) {
        let welcome = start.welcome.take();
        let is_set_up = welcome.is_none();
        let mut app = Self {
            size: start.size,
            screen: if welcome.is_some() { Screen::Welcome } else { Screen::Jobs },
            pane: Pane::List,
            dialogs: Vec::new(),
            store: StoreState::Reading,
            jobs: jobs::JobList::default(),
            detail: detail::Detail::default(),
            views: views::ViewsScreen::new(now),
            log: log::LogScreen::default(),
            welcome,
            connection: if start.is_verified { Connection::Ready } else { Connection::Unknown },
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
            pointer: mouse::Pointer::new(start.mouse),
            panes: geometry::Panes::default(),
            saved_layout: layout::Remembered::default(),
            input_closed_at: None,
            setup_attempts: 0,
            dirty: true,
            config: start,
        };
        if let Some(text) = app.config.notice.clone() {
            app.notify(Severity::Problem, text.as_str(), now);
        } else if app.config.read_only {
            app.say_read_only(now);
        } else if let Some(text) = app.config.greeting.clone() {
            app.notify(Severity::Greeting, text.as_str(), now);
        }
        let mut effects = Vec::new();
        if is_set_up {
            app.restore_layout(now, &mut effects);
            // The first rows are those of the usual order; where another one is shown, they would be any rows.
            let rows = app.size.1.into();
            effects.insert(0, if app.lists_as_usual() { Effect::LoadFirstRows(rows) } else { Effect::LoadKnown });
        }
        app.detail.fit(app.geometry().detail_columns());
        (app, effects)
    }

    /// The parts of the screen at the present size.
    pub fn geometry(&self) -> Geometry {
        geometry(self.size, self.panes)
    }

    /// Whether anything on screen changed since the last call; the frame gate asks once per frame.
    pub fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }

    /// Whether the record is being read for what is on the screen now: a matter of a moment.
    pub fn reads_record(&self) -> bool {
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

    /// A ledger as last reported; unused until the first report.
    pub fn budget(&self, limited: RateLimited) -> Budget {
        self.budgets.get(&limited).copied().unwrap_or_else(|| Budget::unused(limited))
    }

    /// Whether the ledger was reported at all.
    pub fn knows_budget(&self, limited: RateLimited) -> bool {
        self.budgets.contains_key(&limited)
    }

    /// The text kept for a slot.
    pub fn draft(&self, slot: DraftSlot) -> Option<&str> {
        self.drafts.get(&slot).map(String::as_str)
    }

    /// The pages that the draft of a new job about pages is about.
    pub fn draft_pages(&self) -> &[CleanText] {
        &self.draft_pages
    }

    /// Whether the detail can be seen.
    pub fn detail_is_visible(&self) -> bool {
        self.screen == Screen::Jobs && (self.geometry().shows_both() || self.pane == Pane::Detail)
    }

    /// The contexts that are asked for a key, the most special one first.
    pub fn contexts(&self) -> &'static [Context] {
        use Context as C;
        match (self.dialogs.last().map(Dialog::context), self.screen, self.pane) {
            (Some(C::Editor), ..) => &[C::Editor, C::Text, C::Everywhere],
            (Some(C::BatchText), ..) => &[C::BatchText, C::Text, C::Everywhere],
            (Some(C::Batch), ..) => &[C::Batch, C::Lists, C::Everywhere],
            (Some(C::Pick), ..) => &[C::Pick, C::Text, C::Everywhere],
            (Some(C::Palette), ..) => &[C::Palette, C::Text],
            (Some(C::Drafts), ..) => &[C::Drafts, C::Lists, C::Everywhere],
            (Some(C::Ask), ..) => &[C::Ask, C::Text, C::Everywhere],
            (Some(C::Resolve), ..) => &[C::Resolve, C::Lists, C::Everywhere],
            (Some(C::Filter), ..) => &[C::Filter, C::Text, C::Everywhere],
            (Some(C::Question), ..) => &[C::Question],
            (Some(C::Welcome), ..) => &[C::Welcome, C::Everywhere],
            (Some(C::WelcomeText), ..) => &[C::WelcomeText, C::Text, C::Everywhere],
            (Some(C::Calendar), ..) => &[C::Calendar, C::Everywhere],
            (Some(C::CalendarLine), ..) => &[C::CalendarLine, C::Ask, C::Text, C::Everywhere],
            (Some(C::Help), ..) => &[C::Help, C::Lists, C::Everywhere],
            (Some(C::Card), ..) => &[C::Card, C::Lists, C::Everywhere],
            (Some(C::Trend), ..) => &[C::Trend, C::Lists, C::Everywhere],
            (Some(C::Movers), ..) => &[C::Movers, C::Lists, C::Everywhere],
            (Some(C::Export), ..) => &[C::Export, C::Lists, C::Everywhere],
            (Some(C::AllJobs), ..) => &[C::AllJobs, C::Lists, C::Everywhere],
            (Some(C::Profiles), ..) => &[C::Profiles, C::Lists, C::Everywhere],
            (Some(C::Kept), ..) => &[C::Kept, C::Lists, C::Everywhere],
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

    /// Whether characters are typed rather than being commands.
    pub(crate) fn takes_text(&self) -> bool {
        match self.dialogs.last() {
            Some(dialog) => dialog.takes_text(),
            None => self.screen == Screen::Welcome,
        }
    }

    /// Whether text is typed at this moment.
    pub fn is_typing(&self) -> bool {
        self.contexts().iter().any(|context| context.takes_text())
    }

    /// The bindings of this moment that have a hint and would do something, each with a key that reaches it.
    pub fn hints(&self) -> impl Iterator<Item = (Chord, &'static Binding)> {
        let typing = self.takes_text();
        let in_editor = matches!(self.contexts().first(), Some(Context::Editor | Context::BatchText));
        // In a single line the keys of text need no hint.
        let wanted = move |row: &Binding| {
            let is_apt = match row.action {
                // While a dialog is open, the key for it closes that.
                Action::Quit => !self.has_dialog(),
                _ => in_editor || row.context != Context::Text,
            };
            is_apt && !row.hint.is_empty() && self.is_possible(row.action)
        };
        let rows = self.config.keymap.rows_that(self.contexts(), wanted);
        rows.filter_map(move |row| {
            let reaches = |chord: &&Chord| !typing || row.context != Context::Everywhere || !chord.types_text();
            self.config.keymap.keys(row).iter().find(reaches).map(|chord| (*chord, row))
        })
    }

    /// What a sentence says for pressing an action's key there.
    pub fn key_label(&self, context: Context, action: Action) -> String {
        self.config.keymap.key_label(context, action)
    }

    fn notify(&mut self, tone: Severity, text: &str, now: Time) {
        let seconds = match tone {
            Severity::Info => 5,
            Severity::Greeting | Severity::Problem => 15,
        };
        let until = now + chrono::TimeDelta::seconds(seconds);
        self.notice = Some(Notice { severity: tone, text: CleanText::line(text), until, is_read: false });
        self.dirty = true;
    }

    fn notify_failure(&mut self, failure: &Failure, now: Time) {
        let text = failure.sentence.clone();
        self.notify(Severity::Problem, text.as_str(), now);
    }

    /// Whether an action is one of this screen's at all: there is no other screen behind the first page.
    fn is_offered(&self, action: Action) -> bool {
        let of_others = matches!(
            action,
            Action::ShowJobs
                | Action::ShowViews
                | Action::ShowLog
                | Action::NextPane
                | Action::Refresh
                | Action::Profiles
        );
        self.screen != Screen::Welcome || !of_others
    }

    /// Whether an action would do something now: such keys are hinted at, others stay out of the footer.
    fn is_possible(&self, action: Action) -> bool {
        if self.screen == Screen::Views
            && self.dialogs.is_empty()
            && let Some(possible) = self.can_shape_table(action)
        {
            return possible;
        }
        if !self.is_offered(action) {
            return false;
        }
        let selected = self.listed().selected();
        let ready = self.store == StoreState::Read;
        if let (Action::CompareWith, Some(Dialog::Kept(kept))) = (action, self.dialogs.last()) {
            return kept.selected().is_some();
        }
        match action {
            Action::NewJob | Action::Track | Action::Batch => ready,
            Action::Drafts => self.draft_count() > 0,
            Action::QueuePause | Action::QueueUp | Action::QueueDown | Action::QueueRemove => {
                self.any_target(queue::waits)
            }
            Action::Filter if matches!(self.dialogs.last(), Some(Dialog::Help(_))) => true,
            Action::Filter | Action::NextSort => !self.listed().is_empty(),
            Action::Mark | Action::Rename | Action::Tags | Action::Note => selected.is_some(),
            Action::FollowUp => self.any_target(|row| row.id.is_some() && !row.gone),
            Action::OpenPr => self.any_target(|row| row.pr_link.is_some()),
            Action::MarkDone => self.any_target(|row| row.wants_action() && !row.dismissed),
            Action::Resolve => selected.is_some_and(|row| row.undelivered.is_some_and(|kind| kind.needs_user())),
            Action::CopyMain if self.dialogs.is_empty() && self.screen == Screen::Jobs => {
                self.jobs.marked() > 0 || selected.is_some_and(|row| row.pr_link.is_some() || row.id.is_some())
            }
            Action::Dismiss => {
                // An undelivered prompt has to be decided about first.
                self.listed().marked() > 0
                    || selected.is_some_and(|row| {
                        !row.undelivered.is_some_and(|kind| kind.needs_user() || kind == DeliveryKind::Sending)
                    })
            }
            // The key still says when there is one again.
            Action::LoadAll if self.views_left() == 0 && !self.views.all.can_stop() => false,
            Action::LoadAll | Action::Compare | Action::Trend | Action::Movers => self.views_offer(action),
            Action::Open if let Some(Dialog::Movers(movers)) = self.dialogs.last() => movers.selected().is_some(),
            Action::BeforeAfter if matches!(self.dialogs.last(), Some(Dialog::Card(_))) => self.card_job().is_some(),
            Action::Open if matches!(self.dialogs.last(), Some(Dialog::Card(_))) => self.card_job().is_some(),
            Action::Open => selected.is_some(),
            Action::BeforeAfter => selected.is_some_and(|row| !row.pages.is_empty()),
            Action::Profiles => self.config.config.is_some() || self.config.profiles.len() > 1,
            Action::AllJobs => self.config.profiles.len() > 1,
            Action::NewProfile => self.config.config.is_some(),
            Action::SaveFilter => self.can_save_filter(),
            Action::KeepTheme => self.can_keep_theme(),
            Action::Demo => self.dialogs.is_empty(),
            Action::Interrupt if self.setup_on_top().is_some() => !self.has_layer(),
            Action::Close => self.has_layer(),
            Action::Help => !matches!(self.dialogs.last(), Some(Dialog::Help(_))),
            Action::Confirm => match self.dialogs.last() {
                Some(Dialog::Picker(picker)) => picker.selected().is_some(),
                Some(Dialog::Palette(palette)) => palette.selected().is_some(),
                Some(Dialog::Kept(kept)) => kept.selected().is_some(),
                Some(Dialog::Batch(batch)) => !matches!(batch.step, batch::BatchStep::Reading(_)),
                _ => true,
            },
            Action::DeleteDraft => self.draft_count() > 0,
            Action::Refresh if matches!(self.dialogs.last(), Some(Dialog::AllJobs(_))) => true,
            Action::Refresh => self.dialogs.is_empty() && matches!(self.screen, Screen::Jobs | Screen::Views),
            Action::JumpToPage => self.views.table.report().is_none(),
            Action::NextPage => self.views.has_next(),
            Action::PreviousPage => self.views.query().page > 1,
            Action::EditPrompt | Action::LinkJob | Action::CheckJob => self.resolve_offers(action),
            Action::NextBlank => match self.dialogs.last() {
                Some(Dialog::Editor(editor)) => !editor.is_lent && editor.input.has_blank(),
                _ => false,
            },
            Action::Send | Action::Edit(_) | Action::History | Action::Templates | Action::EditOutside => {
                match self.dialogs.last() {
                    Some(Dialog::Editor(editor)) => !editor.is_lent,
                    _ => true,
                }
            }
            _ => true,
        }
    }

    /// Whether this holds for one of the jobs that keys work on: the marked ones, or without marks the selected one.
    fn any_target(&self, is_possible: impl Fn(&Job) -> bool) -> bool {
        let list = self.listed();
        if self.acts_on_marks() {
            return list.any_marked(is_possible);
        }
        list.selected().is_some_and(is_possible)
    }

    /// Lines of the detail before its thread: state, times, links, and a gap.
    pub fn detail_head_lines(&self) -> usize {
        let columns = self.geometry().detail_columns();
        self.jobs.selected().map_or(0, |row| detail::head(row, columns).len() + 1)
    }

    fn resolve_offers(&self, action: Action) -> bool {
        use crate::model::prompt::PromptKind;
        let Some(Dialog::Resolve(resolve)) = self.dialogs.last() else { return false };
        let unconfirmed = resolve.prompt.delivery.kind() == DeliveryKind::Unconfirmed;
        match action {
            Action::EditPrompt => !unconfirmed,
            Action::LinkJob => unconfirmed && resolve.prompt.kind == PromptKind::Create,
            Action::CheckJob => unconfirmed && resolve.has_id,
            _ => true,
        }
    }
}
