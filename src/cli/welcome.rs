//! The setup page, which `docdeck` opens if a required setting is missing. From there the user can open the demo and
//! return, or save the settings and open the dashboard.

use super::dashboard::{SetupResult, detect_terminal, local_offset, open_dashboard, terminal_error};
use super::error::CliError;
use super::exit_code::Code;
use super::{customization, demo};
use crate::config::customization::{Customization, NotifyMethod};
use crate::config::environment::Environment;
use crate::config::{DisplaySettings, GlobalOptions, IncompleteSettings, SetupState, resolve, themes};
use crate::model::endpoint::Scope;
use crate::model::setup::DEFAULT_BASE_URL;
use crate::model::text::CleanText;
use crate::runtime::profile_effects::ProfileEffectRunner;
use crate::runtime::profile_switcher::ProfileSwitcher;
use crate::runtime::startup::FirstFrameData;
use crate::runtime::{self, DashboardConfig, ExitReason, Folders};
use crate::sim::SimOptions;
use crate::store::Store;
use crate::tui::AppConfig;
use crate::tui::RelaunchTarget;
use crate::tui::welcome::{ProfileToStart, Welcome};

/// Runs the setup page, and the demo or the dashboard after it. Sends no request and writes no file unless the user
/// starts an action that needs one.
pub(super) async fn run(
    global_options: &GlobalOptions,
    missing: IncompleteSettings,
    environment: Environment,
) -> Result<Code, CliError> {
    // Without a terminal, fails with setup instructions, because the page can't be shown.
    detect_terminal(&environment).map_err(|_| CliError::local_error(missing.setup_instructions()))?;
    let page = SetupPage {
        display: missing.display.clone(),
        customization: missing.customization.clone(),
        profile_effects: ProfileEffectRunner {
            config_path: missing.config_path.clone(),
            configured_key_source: missing.key_source.clone(),
        },
    };
    let form = Welcome::new(&missing.existing, CleanText::line(&missing.config_path.display().to_string()));
    match page.show(global_options, Box::new(form), &environment).await? {
        (ExitReason::Relaunch(RelaunchTarget::Dashboard), Some(form)) => match form.profile_to_start() {
            Some(ready) => open_with_profile(global_options, ready, environment).await,
            None => Ok(Code::Done),
        },
        (exit, _) => Ok(exit.into()),
    }
}

/// The settings of the setup page.
pub(super) struct SetupPage {
    pub(super) display: DisplaySettings,
    pub(super) customization: Customization,
    pub(super) profile_effects: ProfileEffectRunner,
}

impl SetupPage {
    /// Shows the setup form, and the demo if the user chooses it. Quitting the demo returns to the form. Returns how
    /// the last page (form or demo) ended, and the form if that was the last page.
    pub(super) async fn show(
        &self,
        global_options: &GlobalOptions,
        mut form: Box<Welcome>,
        environment: &Environment,
    ) -> Result<(ExitReason, Option<Box<Welcome>>), CliError> {
        loop {
            let ended =
                runtime::run_dashboard(self.dashboard_config(form, environment)?).await.map_err(terminal_error)?;
            form = match (ended.exit_reason, ended.welcome) {
                (ExitReason::Relaunch(RelaunchTarget::Demo), Some(form)) => {
                    match demo::run(global_options, environment.clone(), SimOptions::default(), true, false).await? {
                        ExitReason::Quit => form,
                        other => return Ok((other, None)),
                    }
                }
                ended => return Ok(ended),
            };
        }
    }

    fn dashboard_config(
        &self,
        form: Box<Welcome>,
        environment: &Environment,
    ) -> Result<Box<DashboardConfig>, CliError> {
        let (display, palettes) = (self.display.clone(), self.display.theme.read()?);
        let (config, custom) = (&self.profile_effects.config_path, &self.customization);
        let keymap = customization::keymap(custom, config)?;
        let caps = detect_terminal(environment)?.with_titles(custom.notify.title);
        let folder = config.with_file_name("themes");
        let scope = Scope { base_url: DEFAULT_BASE_URL.into(), project: String::new(), organization: None };
        let app_config = AppConfig {
            reduced_motion: self.display.has_reduced_motion,
            mouse_enabled: self.display.is_mouse_enabled,
            themes: themes::theme_names(Some(&folder)),
            keymap,
            needs_setup: true,
            ..AppConfig::new(scope, local_offset())
        };
        Ok(Box::new(DashboardConfig {
            app: app_config,
            first_dialog: Some(form),
            display,
            palettes,
            notify: NotifyMethod::Off,
            copy_program: Vec::new(),
            store: Store::in_memory().map_err(CliError::local_error)?,
            first_frame_data: FirstFrameData::default(),
            engine: None,
            environment: environment.clone(),
            caps,
            folders: Folders { themes: Some(folder), ..Folders::default() },
            profiles: ProfileSwitcher::default(),
            profile_effects: self.profile_effects.clone(),
        }))
    }
}

/// Opens the dashboard with the saved profile. Like command-line options, the values that the setup page has checked
/// override environment variables.
async fn open_with_profile(
    global_options: &GlobalOptions,
    ready: ProfileToStart,
    environment: Environment,
) -> Result<Code, CliError> {
    let ProfileToStart { profile, key, greeting, is_key_verified } = ready;
    let scope = profile.scope();
    let global_options = GlobalOptions {
        profile: Some(profile.name),
        project: Some(scope.project),
        base_url: Some(scope.base_url),
        ..global_options.clone()
    };
    match resolve(&global_options, &environment)? {
        SetupState::Ready(settings) => {
            open_dashboard(*settings, environment, Some(SetupResult { key, greeting, is_key_verified })).await
        }
        SetupState::Missing(missing) => Err(CliError::local_error(missing.setup_instructions())),
    }
}
