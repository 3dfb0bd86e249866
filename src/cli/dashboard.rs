//! `docdeck`: joins configuration, store, client and log, and opens the dashboard on them. Whatever can go wrong before
//! the terminal is taken over is said on stderr.

use super::data_folder::{barred, open_to_others, repaired, unusable};
use super::error::CliError;
use super::exit_code::Code;
use super::{customization, welcome};
use crate::api::Client;
use crate::app::AppConfig;
use crate::app::profiles::ProfileEntry;
use crate::config::environment::Environment;
use crate::config::profiles::KnownProfile;
use crate::config::{Flags, Settings, SetupState, themes};
use crate::engine::PollOptions;
use crate::model::endpoint::ApiKey;
use crate::model::text::CleanText;
use crate::runtime::effects::EngineConfig;
use crate::runtime::first_run::FirstRun;
use crate::runtime::preload::Preload;
use crate::runtime::switch::ProfileSwitcher;
use crate::runtime::terminal::TerminalCaps;
use crate::runtime::{self, DashboardConfig, Folders};
use crate::store::{Opened, Store};
use chrono::FixedOffset;
use std::io::IsTerminal;
use std::path::Path;

/// Runs the dashboard on the configured service.
pub(super) async fn run(flags: &Flags, environment: Environment) -> Result<Code, CliError> {
    let settings = match crate::config::resolve(flags, &environment)? {
        SetupState::Ready(settings) => *settings,
        SetupState::Missing(missing) => return welcome::run(flags, *missing, environment).await,
    };
    open(settings, environment, None).await
}

/// The dashboard after the welcome page: with the key that was read there, and something to say first.
pub(super) struct AfterSetup {
    pub(super) key: ApiKey,
    pub(super) greeting: CleanText,
    /// The service has accepted the key.
    pub(super) is_verified: bool,
}

/// Runs the dashboard with these settings.
pub(super) async fn open(
    settings: Settings,
    environment: Environment,
    after: Option<AfterSetup>,
) -> Result<Code, CliError> {
    // One of the user's own may be wrong, which is said before anything is opened.
    let colours = settings.look.theme.read_unless_usual()?;
    let keymap = customization::keymap(&settings.own, &settings.config)?;
    let commands = customization::commands(&settings.own, &keymap, &settings.config)?;
    let kind = terminal(&environment)?.with_titles(settings.own.notify.title);
    // Before the terminal is taken over: a key command may ask for a password in it.
    let (key, greeting, is_verified) = match after {
        Some(after) => (after.key, Some(after.greeting), after.is_verified),
        None => (settings.key.read().await?, None, false),
    };
    let client = Client::new(settings.scope.clone(), key, settings.client_options()?)
        .map_err(|failure| CliError::unusable(failure.sentence))?;
    // The store is opened on its own thread, and all else made ready meanwhile.
    let no_store = |error| unusable(&settings.data_folder, &error);
    let (store, opening) = Store::begin(&settings.data_folder, chrono::Utc::now()).map_err(no_store)?;
    let start = AppConfig { keymap, commands, greeting, is_verified, ..start(&settings) };
    let begun = Preload::begin(&store, &start).map_err(no_terminal)?;
    let connection = Some(EngineConfig {
        client,
        poll: PollOptions { per_minute: settings.per_minute, ..PollOptions::default() },
        lock_folder: Some(settings.data_folder.clone()),
        on_change: settings.own.on_change.clone(),
    });
    let folders = Folders {
        data: Some(settings.data_folder.clone()),
        templates: Some(settings.templates.clone()),
        themes: Some(settings.config.with_file_name("themes")),
    };
    let themes = themes::names(folders.themes.as_deref());
    let (notify, clipboard) = (settings.own.notify.how, settings.own.clipboard.clone());
    let first_run = FirstRun { config: settings.config.clone(), source: None };
    let profiles = ProfileSwitcher {
        known: settings.profiles.clone(),
        poll: PollOptions { per_minute: settings.per_minute, ..PollOptions::default() },
        lock_folder: Some(settings.data_folder.clone()),
        on_change: settings.own.on_change.clone(),
    };
    // What is wrong with it is said in the shell.
    let opened = opening.opened().await.map_err(no_store)?;
    let start =
        AppConfig { themes, notice: notice(&opened, &settings.data_folder), read_only: opened.read_only, ..start };
    let parts = DashboardConfig {
        start,
        look: settings.look,
        colours,
        notify,
        clipboard,
        store,
        begun: Some(begun),
        connection,
        environment,
        kind,
        folders,
        profiles,
        first_run,
    };
    let ended = runtime::run(parts).await.map_err(no_terminal)?;
    Ok(if ended.is_unrecorded { Code::Unconfirmed } else { ended.exit.into() })
}

/// What the opening found that has to be said.
fn notice(opened: &Opened, folder: &Path) -> Option<CleanText> {
    let repaired = repaired(opened).map(|sentence| CleanText::line(&sentence));
    let open = || open_to_others(folder).map(|sentence| CleanText::line(&sentence));
    repaired.or_else(|| opened.read_only.then(|| barred(folder)).flatten()).or_else(open)
}

fn start(settings: &Settings) -> AppConfig {
    AppConfig {
        profile: settings.profile.clone(),
        profiles: settings.profiles.iter().map(profile).collect(),
        current: settings.current,
        default: settings.default,
        calm: settings.look.calm,
        mouse: settings.look.mouse,
        all_profiles: settings.look.all_profiles,
        filters: customization::filters(&settings.own),
        config: Some(CleanText::line(&settings.config.display().to_string())),
        long_copies: !settings.own.clipboard.is_empty(),
        ..AppConfig::new(settings.scope.clone(), local_offset())
    }
}

fn profile(known: &KnownProfile) -> ProfileEntry {
    ProfileEntry { name: known.name.clone(), scope: known.scope.clone(), lacks: known.lacks() }
}

/// The terminal that stdin and stdout are, or why the dashboard can't run in it.
pub(super) fn terminal(environment: &Environment) -> Result<TerminalCaps, CliError> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(CliError::unusable("The dashboard needs a terminal, and stdin or stdout is none."));
    }
    TerminalCaps::of(environment).map_err(CliError::unusable)
}

/// The offset of local time, for times of day.
pub(super) fn local_offset() -> FixedOffset {
    *chrono::Local::now().offset()
}

/// The system refused what the dashboard needs of the terminal.
pub(super) fn no_terminal(error: std::io::Error) -> CliError {
    CliError::unusable(format!("The terminal can't be used: {error}."))
}
