//! The setup page, which `docdeck` opens if a required setting is missing. From there the user can open the demo and
//! return, or save the settings and open the dashboard.

use super::dashboard::{AfterSetup, detect_terminal, local_offset, open_dashboard, terminal_error};
use super::error::CliError;
use super::exit_code::Code;
use super::{customization, demo};
use crate::config::customization::NotifyMethod;
use crate::config::environment::Environment;
use crate::config::{Flags, MissingSettings, SetupState, resolve, themes};
use crate::model::endpoint::Scope;
use crate::model::setup::DEFAULT_BASE_URL;
use crate::model::text::CleanText;
use crate::runtime::first_run::FirstRun;
use crate::runtime::switch::ProfileSwitcher;
use crate::runtime::{self, DashboardConfig, Exit, Folders};
use crate::sim::SimOptions;
use crate::store::Store;
use crate::tui::AppConfig;
use crate::tui::RelaunchTarget;
use crate::tui::welcome::{ProfileToStart, Welcome};

/// Runs the setup page, and the demo or the dashboard after it. Uses neither network nor disk until the user starts
/// something that needs them.
pub(super) async fn run(flags: &Flags, missing: MissingSettings, environment: Environment) -> Result<Code, CliError> {
    // Without a terminal, explains how to configure docdeck instead.
    detect_terminal(&environment).map_err(|_| CliError::unusable(missing.setup_instructions()))?;
    let mut page =
        Box::new(Welcome::new(&missing.existing, CleanText::line(&missing.config_path.display().to_string())));
    loop {
        let ended = runtime::run_dashboard(welcome_config(&missing, page, environment.clone())?)
            .await
            .map_err(terminal_error)?;
        page = match (ended.exit, ended.welcome) {
            (Exit::Relaunch(RelaunchTarget::Demo), Some(page)) => {
                // Quitting the demo returns to the setup page; any other exit ends docdeck.
                match demo::run(flags, environment.clone(), SimOptions::default(), true).await? {
                    Exit::Quit => page,
                    other => return Ok(other.into()),
                }
            }
            (Exit::Relaunch(RelaunchTarget::Dashboard), Some(page)) => {
                return match page.profile_to_start() {
                    Some(ready) => open_with_profile(flags, ready, environment).await,
                    None => Ok(Code::Done),
                };
            }
            (exit, _) => return Ok(exit.into()),
        };
    }
}

fn welcome_config(
    missing: &MissingSettings,
    page: Box<Welcome>,
    environment: Environment,
) -> Result<DashboardConfig, CliError> {
    let (display, palettes) = (missing.display.clone(), missing.display.theme.read()?);
    let keymap = customization::keymap(&missing.customization, &missing.config_path)?;
    let kind = detect_terminal(&environment)?.with_titles(missing.customization.notify.title);
    let folder = missing.config_path.with_file_name("themes");
    let scope = Scope { base_url: DEFAULT_BASE_URL.into(), project: String::new(), organization: None };
    let start = AppConfig {
        reduced_motion: missing.display.has_reduced_motion,
        mouse_enabled: missing.display.mouse,
        themes: themes::theme_names(Some(&folder)),
        keymap,
        needs_setup: true,
        ..AppConfig::new(scope, local_offset())
    };
    Ok(DashboardConfig {
        app: start,
        first_dialog: Some(page),
        display,
        palettes,
        notify: NotifyMethod::Off,
        clipboard: Vec::new(),
        store: Store::in_memory().map_err(CliError::unusable)?,
        preload: None,
        engine: None,
        environment,
        caps: kind,
        folders: Folders { themes: Some(folder), ..Folders::default() },
        profiles: ProfileSwitcher::default(),
        first_run: FirstRun { config: missing.config_path.clone(), source: missing.key_source.clone() },
    })
}

/// Opens the dashboard with the saved profile. The values that the setup page has checked override the environment, as
/// options do.
async fn open_with_profile(flags: &Flags, ready: ProfileToStart, environment: Environment) -> Result<Code, CliError> {
    let ProfileToStart { profile, key, greeting, is_verified } = ready;
    let scope = profile.scope();
    let flags = Flags {
        profile: Some(profile.name),
        project: Some(scope.project),
        base_url: Some(scope.base_url),
        ..flags.clone()
    };
    match resolve(&flags, &environment)? {
        SetupState::Ready(settings) => {
            open_dashboard(*settings, environment, Some(AfterSetup { key, greeting, is_verified })).await
        }
        SetupState::Missing(missing) => Err(CliError::unusable(missing.setup_instructions())),
    }
}
