//! `docdeck demo`: opens the dashboard on a simulated service in this process, over real HTTP. The store is in memory
//! and starts with a history of jobs and page views.

mod history;
#[cfg(unix)]
mod server;
#[cfg(unix)]
mod team;
mod views;

use super::customization;
use super::dashboard::{detect_terminal, local_offset, terminal_error};
use super::error::CliError;
use crate::api::{Client, ClientOptions};
use crate::config::environment::Environment;
use crate::config::{GlobalOptions, display_settings, read_explicit_config_file, themes};
use crate::engine::PollOptions;
use crate::model::analytics::AnalyticsSettings;
use crate::model::endpoint::{ApiKey, Scope};
use crate::model::text::CleanText;
use crate::runtime::effects::EngineConfig;
use crate::runtime::hosts::SimulatedHosts;
use crate::runtime::profile_effects::ProfileEffectRunner;
use crate::runtime::profile_switcher::ProfileSwitcher;
use crate::runtime::startup::FirstFrameData;
use crate::runtime::{self, DashboardConfig, ExitReason, Folders};
use crate::sim::{Sim, SimOptions};
use crate::store::Store;
use crate::tui::AppConfig;
use crate::tui::tour::Tour;
use chrono::Utc;
use history::DemoHistory;
use std::sync::Arc;

#[cfg(unix)]
use team::DemoTeam;

/// Replaces the demo's team on systems other than Unix. It has no values, because the team's database listens on a Unix
/// socket.
#[cfg(not(unix))]
enum DemoTeam {}

#[cfg(not(unix))]
impl DemoTeam {
    async fn share_jobs_and_start_colleague(
        &self,
        _store: &Store,
        _scope: &Scope,
        _client: Client,
        _hosts: Option<Arc<dyn crate::engine::HostClients>>,
    ) -> Result<crate::engine::TeamAccess, CliError> {
        match *self {}
    }
}

/// Starts the team of the demo if `with_team` is true.
#[cfg_attr(not(unix), expect(clippy::unused_async, reason = "it waits on Unix"))]
async fn start_team(with_team: bool) -> Result<Option<DemoTeam>, CliError> {
    if !with_team {
        return Ok(None);
    }
    #[cfg(unix)]
    return DemoTeam::start().await.map(Some);
    #[cfg(not(unix))]
    Err(CliError::local_error("docdeck demo --team works only on Linux and macOS."))
}

/// Runs the dashboard on the simulated service.
pub(super) async fn run(
    global_options: &GlobalOptions,
    environment: Environment,
    options: SimOptions,
    shows_tour: bool,
    with_team: bool,
) -> Result<ExitReason, CliError> {
    let (store, store_creation_hold) = Store::in_memory_delayed().map_err(CliError::local_error)?;
    let (file, path) = read_explicit_config_file(global_options, &environment)?;
    let custom = file.customization();
    let keymap = customization::keymap(&custom, &path)?;
    let commands = customization::parse_commands(&custom, &keymap, &path)?;
    let caps = detect_terminal(&environment)?.with_titles(custom.notify.title);
    let display_settings = display_settings(global_options, &environment, &file.ui, &path);
    let palettes = display_settings.theme.read()?;
    let sim = Sim::start(options)
        .await
        .map_err(|error| CliError::local_error(format!("Can't start the simulated service: {error}.")))?;
    let sim = Arc::new(sim);
    let scope = Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None };
    let key = ApiKey::new(sim.api_key()).ok_or_else(|| CliError::local_error("The simulated service has no key."))?;
    let client = Client::new(scope.clone(), key, ClientOptions::default())
        .map_err(|failure| CliError::local_error(failure.message))?;
    let team = start_team(with_team).await?;
    let history = DemoHistory::new(&scope, sim.initial_jobs(), Utc::now());
    let folder = (!path.as_os_str().is_empty()).then(|| path.with_file_name("themes"));
    let app_config = AppConfig {
        profile: CleanText::line("demo"),
        is_demo: true,
        reduced_motion: display_settings.has_reduced_motion,
        mouse_enabled: display_settings.is_mouse_enabled,
        themes: themes::theme_names(folder.as_deref()),
        keymap,
        filters: customization::filters(&custom),
        can_copy_long_texts: !custom.clipboard.is_empty(),
        commands,
        ..AppConfig::new(scope.clone(), local_offset())
    };
    // The store is created when `store_creation_hold` is dropped. A team needs the store now, so the hold is dropped
    // here. Without a team, the hold is dropped only after the first frame.
    let first_frame_data = FirstFrameData::new(history.first_jobs(), (!with_team).then_some(store_creation_hold));
    // The first frame doesn't wait until the history is written. Because the store is in memory, only a bug in the demo
    // can make writing fail.
    let writing = tokio::spawn(history.write(store.clone()));
    // Lets the task send its requests to the store, so that all later requests find the history.
    tokio::task::yield_now().await;
    let access = match &team {
        Some(team) => {
            let _ = writing.await;
            Some(
                team.share_jobs_and_start_colleague(&store, &scope, client.clone(), SimulatedHosts::clients(&sim))
                    .await?,
            )
        }
        None => None,
    };
    tokio::spawn(views::fill_cache(Arc::clone(&sim), store.clone(), app_config.scope.clone()));
    let (poll, hosts) = (PollOptions::default(), SimulatedHosts::clients(&sim));
    let engine_config = Some(EngineConfig {
        client,
        poll,
        analytics: AnalyticsSettings::default(),
        lock_folder: None,
        on_change: custom.on_change,
        hosts,
        team: access,
    });
    let (notify, folders) = (custom.notify.method, Folders { themes: folder, ..Folders::default() });
    let dashboard_config = Box::new(DashboardConfig {
        app: app_config,
        first_dialog: if shows_tour { Some(Box::new(Tour)) } else { None },
        display: display_settings,
        palettes,
        notify,
        copy_program: custom.clipboard,
        store,
        first_frame_data,
        engine: engine_config,
        environment,
        caps,
        folders,
        profiles: ProfileSwitcher::default(),
        profile_effects: ProfileEffectRunner::default(),
    });
    Ok(runtime::run_dashboard(dashboard_config).await.map_err(terminal_error)?.exit_reason)
}
