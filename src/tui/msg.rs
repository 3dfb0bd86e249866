//! The messages that the state machine handles, and the effects that it requests. Most effects are answered by a
//! message, even if they fail. A feature's messages and effects are in its `messages` module.

use super::analytics::messages::{AnalyticsEffect, AnalyticsMsg};
use super::compose::messages::{PromptsEffect, PromptsMsg};
use super::jobs::messages::{JobsEffect, JobsMsg};
use super::keymap::Keymap;
use super::profile_messages::{ProfileEntry, ProfilesEffect, ProfilesMsg, RelaunchTarget};
use super::views::messages::{ViewsEffect, ViewsMsg};
use crate::model::analytics::needs_work::SignalWeights;
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::layout::Layout;
use crate::model::text::CleanText;
use chrono::FixedOffset;

/// A message to the state machine.
#[derive(Debug)]
pub enum Msg {
    Jobs(JobsMsg),
    Prompts(PromptsMsg),
    Views(ViewsMsg),
    Analytics(AnalyticsMsg),
    Profiles(ProfilesMsg),
    /// A key, a mouse event, a paste, a resize or a focus change of the terminal.
    Input(crossterm::event::Event),
    Engine(EngineEvent),
    /// The first attempt to write to the store has shown that the store is read-only.
    StoreReadOnly,
    /// The file was not written, because a file with its name already exists.
    FileExists(NewFile),
    /// A filter was saved in the configuration, or could not be saved.
    FilterSaved {
        filter: SavedFilter,
        result: Result<(), Failure>,
    },
    /// The result of an effect such as opening a URL or copying. It is only shown in a notice. `success_notice` is the
    /// notice if `result` is `Ok`.
    ActionFinished {
        success_notice: CleanText,
        result: Result<(), Failure>,
    },
    /// The layout that the store has under this key. `None` if it has none.
    LayoutLoaded(String, Option<Layout>),
    /// The time that `App::next_timer` returned is reached.
    Timer,
    /// docdeck continues after it was suspended.
    Resumed,
    /// The connection to the team's database is closed, so docdeck can be suspended.
    TeamDisconnected,
    /// docdeck has to exit because of a signal or the end of input.
    Terminate,
}

/// A file to write into the current folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    pub name: String,
    pub text: String,
    /// What the file contains, for notices, such as `3 jobs`.
    pub description: CleanText,
}

/// What to do if the file already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    /// Add a number to the name of the new file.
    Never,
    /// Ask the user, without writing the file.
    Ask,
    /// Overwrite the file, because the user has confirmed it.
    Yes,
}

/// A command from the user's configuration, bound to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomCommand {
    pub key: super::keymap::Chord,
    pub name: CleanText,
    /// The arguments, with the placeholders `{pr}`, `{id}`, `{path}`, `{repository}` and `{ref}`.
    pub args: Vec<String>,
}

/// A filter from the configuration, shown as a tab of the jobs list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedFilter {
    pub name: CleanText,
    pub text: String,
}

/// A side effect that the state machine requests and the runtime runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    Jobs(JobsEffect),
    Prompts(PromptsEffect),
    Views(ViewsEffect),
    Analytics(AnalyticsEffect),
    Profiles(ProfilesEffect),
    /// Loads the layout saved under this key; answered by [`Msg::LayoutLoaded`].
    LoadLayout(String),
    /// Saves the layout in the store under this key, without a notice.
    SaveLayout {
        key: String,
        text: String,
    },
    /// Turns mouse reporting of the terminal on or off.
    SetMouse(bool),
    /// Opens the text in `$VISUAL` or `$EDITOR`, which uses the terminal until it exits.
    OpenExternalEditor(String),
    /// Switches to this theme, and saves it as the default if `save_as_default` is true; answered by
    /// [`Msg::ActionFinished`].
    UseTheme {
        name: String,
        save_as_default: bool,
    },
    /// Saves a filter in the configuration; answered by [`Msg::FilterSaved`].
    SaveFilter {
        filter: SavedFilter,
        replaces_existing: bool,
    },
    /// Writes a file to the current folder; answered by [`Msg::ActionFinished`], or by [`Msg::FileExists`] if the user
    /// has to be asked before a file is overwritten.
    WriteFile(NewFile, Overwrite),
    /// Runs a custom command, which uses the terminal until it exits; answered by [`Msg::ActionFinished`].
    RunCommand(Vec<String>),
    /// Shows a desktop notification with this text, because jobs finished while the terminal was not focused.
    ShowDesktopNotification(CleanText),
    /// Ends the current dashboard and starts the target in the same terminal.
    Relaunch(RelaunchTarget),
    /// Saves the names of the screens and dialogs whose tip was shown, separated by spaces.
    SaveSeenTips(String),
    /// Opens an http or https URL, without a shell.
    OpenUrl(CleanText),
    /// Copies a text to the clipboard; answered by [`Msg::ActionFinished`].
    Copy {
        /// The notice for success, as a sentence.
        success_notice: CleanText,
        text: String,
    },
    /// Asks the engine to report the current budgets, because a limit was reset.
    ReportBudgets,
    Redraw,
    /// Suspends docdeck, after the connection to the team's database is closed.
    Suspend,
    /// Suspends docdeck now. Does nothing if docdeck was resumed meanwhile.
    SuspendNow,
    /// Ends the dashboard. What earlier effects save, such as drafts, is still written.
    Quit,
}

impl Effect {
    /// Returns the effect that copies a text. `what` completes the notice "Copied …". Control characters other than
    /// tabs and line breaks are removed, because the text may be pasted into a shell.
    pub fn copy(what: &str, mut text: String) -> Self {
        text.retain(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'));
        Self::Copy { success_notice: CleanText::line(&format!("Copied {what}.")), text }
    }
}

/// What the dashboard needs to start: its settings, and data that is known before the store is read.
#[derive(Debug, Clone)]
pub struct AppConfig {
    pub scope: Scope,
    pub profile: CleanText,
    pub profiles: Vec<ProfileEntry>,
    /// The index of the current profile in `profiles`.
    pub current_profile: usize,
    /// The index of the default profile in `profiles`.
    pub default_profile: Option<usize>,
    /// Whether this is the demo, which saves nothing.
    pub is_demo: bool,
    /// The columns and rows of the terminal.
    pub size: (u16, u16),
    /// Whether to draw less often, because docdeck runs over SSH or the user prefers it. The symbol in the header
    /// doesn't blink then, and seconds are shown in steps of ten.
    pub reduced_motion: bool,
    /// Whether mouse support is on at the start.
    pub mouse_enabled: bool,
    /// The layout to restore: the saved layout or, if there is none, the default. `None` in the demo, with a
    /// read-only store and during the setup, because no layout is saved then.
    pub layout: Option<Layout>,
    /// A problem to show at the start, such as a damaged store that was moved aside.
    pub notice: Option<CleanText>,
    /// Good news to show at the start, unless there is a problem.
    pub greeting: Option<CleanText>,
    /// Whether the service has accepted the API key.
    pub is_key_verified: bool,
    /// Whether the store can't be written. Prompts can't be sent then.
    pub read_only: bool,
    /// The offset of local time from UTC.
    pub offset: FixedOffset,
    /// Whether docdeck is not configured yet, so that it starts with the setup form.
    pub needs_setup: bool,
    /// The path of the configuration file, where settings are saved. `None` in the demo.
    pub config_path: Option<CleanText>,
    /// The names of all themes.
    pub themes: Vec<String>,
    pub keymap: Keymap,
    pub filters: Vec<SavedFilter>,
    pub commands: Vec<CustomCommand>,
    pub pull_requests: PullRequestAccess,
    /// How much each sign of a problem counts when the pages that need work are ranked.
    pub weights: SignalWeights,
    /// Whether the list of all profiles' jobs opens at the start. It never does with a single profile.
    pub opens_all_jobs: bool,
    /// Whether long texts can be copied. This needs a copy command in the configuration, because terminals limit the
    /// length of copied text.
    pub can_copy_long_texts: bool,
}

/// What the configuration allows with pull requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullRequestAccess {
    /// Code hosts are not asked, so pull requests are only links.
    Off,
    /// Pull requests and their changes are shown.
    Read,
    /// Pull requests can also be reviewed, merged and closed.
    Write,
}

impl AppConfig {
    /// Returns the configuration of a dashboard for this scope, with defaults for everything else.
    pub fn new(scope: Scope, offset: FixedOffset) -> Self {
        Self {
            scope,
            profile: CleanText::default(),
            profiles: Vec::new(),
            current_profile: 0,
            default_profile: None,
            is_demo: false,
            size: (0, 0),
            reduced_motion: false,
            mouse_enabled: true,
            layout: None,
            notice: None,
            greeting: None,
            is_key_verified: false,
            read_only: false,
            offset,
            needs_setup: false,
            config_path: None,
            themes: Vec::new(),
            keymap: Keymap::default(),
            filters: Vec::new(),
            commands: Vec::new(),
            pull_requests: PullRequestAccess::Write,
            weights: SignalWeights::default(),
            opens_all_jobs: false,
            can_copy_long_texts: false,
        }
    }
}
