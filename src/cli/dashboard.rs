//! `docdeck` without a command: reads the configuration, prepares the store and the API client, and runs the dashboard.
//! Errors before the dashboard opens are printed on stderr.

use super::data_folder::{cli_store_error, permission_warning, repair_message, unavailable_reason};
use super::error::CliError;
use super::exit_code::Code;
use super::team::{TeamUrlReader, resolve_team_access};
use super::{customization, welcome};
use crate::api::Client;
use crate::config::environment::Environment;
use crate::config::profiles::ConfiguredProfile;
use crate::config::{GlobalOptions, Settings, SetupState, themes};
use crate::engine::PollOptions;
use crate::model::endpoint::ApiKey;
use crate::model::text::CleanText;
use crate::runtime::effects::EngineConfig;
use crate::runtime::hosts::ConfiguredHosts;
use crate::runtime::profile_effects::ProfileEffectRunner;
use crate::runtime::profile_switcher::ProfileSwitcher;
use crate::runtime::startup::FirstFrameData;
use crate::runtime::{self, DashboardConfig, Folders};
use crate::store::{OpenOutcome, OpenStore};
use crate::terminal::caps::TerminalCaps;
use crate::tui::ProfileEntry;
use crate::tui::{AppConfig, PullRequestAccess};
use chrono::FixedOffset;
use std::io::IsTerminal;
use std::path::Path;

/// Runs the dashboard, or the setup page if required settings are missing.
pub(super) async fn run(global_options: &GlobalOptions, environment: Environment) -> Result<Code, CliError> {
    let settings = match crate::config::resolve(global_options, &environment)? {
        SetupState::Ready(settings) => *settings,
        // On the heap, because this future is larger than that of the dashboard.
        SetupState::Missing(missing) => return Box::pin(welcome::run(global_options, *missing, environment)).await,
    };
    open_dashboard(settings, environment, None).await
}

/// The result of the setup page, with which the dashboard opens: the API key and a first message.
pub(super) struct SetupResult {
    pub(super) key: ApiKey,
    pub(super) greeting: CleanText,
    /// Whether the service has accepted the API key.
    pub(super) is_key_verified: bool,
}

/// Runs the dashboard with these settings.
pub(super) async fn open_dashboard(
    settings: Settings,
    environment: Environment,
    setup_result: Option<SetupResult>,
) -> Result<Code, CliError> {
    // Mistakes in the configuration are reported before anything is opened.
    let palettes = settings.display.theme.read()?;
    let keymap = customization::keymap(&settings.customization, &settings.config_path)?;
    let commands = customization::parse_commands(&settings.customization, &keymap, &settings.config_path)?;
    let caps = detect_terminal(&environment)?.with_titles(settings.customization.notify.title);
    // The API key is read before the dashboard opens, because a key command may ask for a password in the terminal.
    let (key, greeting, is_key_verified) = match setup_result {
        Some(setup) => (setup.key, Some(setup.greeting), setup.is_key_verified),
        None => (settings.key.read().await?, None, false),
    };
    let options = settings.client_options()?;
    let hosts = ConfiguredHosts::clients(settings.hosts.clone(), options.roots.clone());
    let client =
        Client::new(settings.scope.clone(), key, options).map_err(|failure| CliError::local_error(failure.message))?;
    let no_store = |error| cli_store_error(&settings.data_folder, &error);
    // The store is opened before the dashboard, so that an error is printed in the shell.
    let mut store = OpenStore::open(&settings.data_folder, chrono::Utc::now()).map_err(no_store)?;
    let app_config = AppConfig { keymap, commands, greeting, is_key_verified, ..build_app_config(&settings) };
    let first_frame_data = FirstFrameData::read(&mut store, &app_config).map_err(terminal_error)?;
    let (store, opened) = store.start().map_err(no_store)?;
    let folders = Folders {
        data: Some(settings.data_folder.clone()),
        templates: Some(settings.templates_folder.clone()),
        themes: Some(settings.config_path.with_file_name("themes")),
    };
    let themes = themes::theme_names(folders.themes.as_deref());
    let (notify, copy_program) = (settings.customization.notify.method, settings.customization.clipboard.clone());
    let profile_effects =
        ProfileEffectRunner { config_path: settings.config_path.clone(), configured_key_source: None };
    let (team, team_problem) = match resolve_team_access(&settings.team, &store, &mut TeamUrlReader::default()).await {
        Ok(team) => (team, None),
        Err(error) => (None, Some(CleanText::line(&error.sentence))),
    };
    let engine_config = Some(EngineConfig {
        client,
        poll: PollOptions { per_minute: settings.polls_per_minute, ..PollOptions::default() },
        analytics: settings.analytics,
        lock_folder: Some(settings.data_folder.clone()),
        on_change: settings.customization.on_change.clone(),
        hosts,
        team: team.clone(),
    });
    let profiles = ProfileSwitcher {
        profiles: settings.profiles.clone(),
        poll: PollOptions { per_minute: settings.polls_per_minute, ..PollOptions::default() },
        analytics: settings.analytics,
        lock_folder: Some(settings.data_folder.clone()),
        on_change: settings.customization.on_change.clone(),
        hosts: settings.hosts.clone(),
        team,
    };
    let notice = notice(&opened, &settings.data_folder).or(team_problem);
    let app_config = AppConfig { themes, notice, read_only: opened.is_read_only, ..app_config };
    let dashboard_config = Box::new(DashboardConfig {
        app: app_config,
        first_dialog: None,
        display: settings.display,
        palettes,
        notify,
        copy_program,
        store,
        first_frame_data,
        engine: engine_config,
        environment,
        caps,
        folders,
        profiles,
        profile_effects,
    });
    let ended = runtime::run_dashboard(dashboard_config).await.map_err(terminal_error)?;
    Ok(if ended.has_unrecorded_outcomes { Code::Unconfirmed } else { ended.exit_reason.into() })
}

/// Returns the notice that the dashboard shows when it opens, if any. The first of these applies: the store was
/// repaired, no store can be created in the data folder, or other users can read the data folder.
fn notice(opened: &OpenOutcome, folder: &Path) -> Option<CleanText> {
    let repaired = repair_message(opened).map(|sentence| CleanText::line(&sentence));
    let permissions = || permission_warning(folder).map(|sentence| CleanText::line(&sentence));
    repaired.or_else(|| opened.is_read_only.then(|| unavailable_reason(folder)).flatten()).or_else(permissions)
}

fn build_app_config(settings: &Settings) -> AppConfig {
    AppConfig {
        profile: settings.profile.clone(),
        profiles: settings.profiles.iter().map(profile_entry).collect(),
        current_profile: settings.current_profile,
        default_profile: settings.default_profile,
        reduced_motion: settings.display.has_reduced_motion,
        mouse_enabled: settings.display.is_mouse_enabled,
        opens_all_jobs: settings.display.shows_all_profiles,
        filters: customization::filters(&settings.customization),
        config_path: Some(CleanText::line(&settings.config_path.display().to_string())),
        weights: settings.weights,
        pull_requests: match &settings.hosts {
            None => PullRequestAccess::Off,
            Some(hosts) if hosts.allows_actions => PullRequestAccess::Write,
            Some(_) => PullRequestAccess::Read,
        },
        can_copy_long_texts: !settings.customization.clipboard.is_empty(),
        ..AppConfig::new(settings.scope.clone(), local_offset())
    }
}

fn profile_entry(profile: &ConfiguredProfile) -> ProfileEntry {
    ProfileEntry { name: profile.name.clone(), scope: profile.scope.clone(), problem: profile.problem() }
}

/// Returns the capabilities of the terminal.
///
/// # Errors
/// Fails if stdin or stdout is not a terminal, or the dashboard can't run in it.
pub(super) fn detect_terminal(environment: &Environment) -> Result<TerminalCaps, CliError> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(CliError::local_error(
            "The dashboard needs an interactive terminal; stdin or stdout is redirected.",
        ));
    }
    runtime::terminal_caps(environment).map_err(CliError::local_error)
}

pub(super) fn local_offset() -> FixedOffset {
    *chrono::Local::now().offset()
}

pub(super) fn terminal_error(error: std::io::Error) -> CliError {
    CliError::local_error(format!("The terminal can't be used: {error}."))
}
