//! `docdeck` where something is not configured yet: the page that asks for it, the demo from there and back, and the
//! dashboard of what was written, all in the same terminal.

use super::dashboard::{AfterSetup, local_offset, no_terminal, open, terminal};
use super::error::CliError;
use super::exit_code::Code;
use super::{customization, demo};
use crate::app::AppConfig;
use crate::app::welcome::{Begin, Ready, Welcome};
use crate::config::customization::How;
use crate::config::environment::Environment;
use crate::config::{Flags, Missing, SetupState, resolve, themes};
use crate::model::endpoint::Scope;
use crate::model::setup::DEFAULT_BASE_URL;
use crate::model::text::CleanText;
use crate::runtime::first_run::FirstRun;
use crate::runtime::switch::ProfileSwitcher;
use crate::runtime::{self, DashboardConfig, Exit, Folders};
use crate::sim::SimOptions;
use crate::store::Store;

/// Runs the page, and what it leads to. It needs neither service nor disk until it is told to.
pub(super) async fn run(flags: &Flags, missing: Missing, environment: Environment) -> Result<Code, CliError> {
    // Without one the sentences on how to set it up are the better answer.
    terminal(&environment).map_err(|_| CliError::unusable(missing.how_to()))?;
    let mut page = Box::new(Welcome::new(&missing.known, CleanText::line(&missing.config.display().to_string())));
    loop {
        let ended = runtime::run(parts(&missing, page, environment.clone())?).await.map_err(no_terminal)?;
        page = match (ended.exit, ended.welcome) {
            (Exit::Begin(Begin::Demo), Some(page)) => {
                // Its own end comes back here; all other ends are meant for docdeck.
                match demo::run(flags, environment.clone(), SimOptions::default()).await? {
                    Exit::Quit => page,
                    other => return Ok(other.into()),
                }
            }
            (Exit::Begin(Begin::Dashboard), Some(page)) => {
                return match page.ready() {
                    Some(ready) => dashboard(flags, ready, environment).await,
                    None => Ok(Code::Done),
                };
            }
            (exit, _) => return Ok(exit.into()),
        };
    }
}

fn parts(missing: &Missing, page: Box<Welcome>, environment: Environment) -> Result<DashboardConfig, CliError> {
    let (look, colours) = (missing.look.clone(), missing.look.theme.read_unless_usual()?);
    let keymap = customization::keymap(&missing.own, &missing.config)?;
    let kind = terminal(&environment)?.with_titles(missing.own.notify.title);
    let folder = missing.config.with_file_name("themes");
    let scope = Scope { base_url: DEFAULT_BASE_URL.into(), project: String::new(), organization: None };
    let start = AppConfig {
        calm: missing.look.calm,
        mouse: missing.look.mouse,
        themes: themes::names(Some(&folder)),
        keymap,
        welcome: Some(page),
        ..AppConfig::new(scope, local_offset())
    };
    Ok(DashboardConfig {
        start,
        look,
        colours,
        notify: How::Off,
        clipboard: Vec::new(),
        store: Store::in_memory().map_err(CliError::unusable)?,
        begun: None,
        connection: None,
        environment,
        kind,
        folders: Folders { themes: Some(folder), ..Folders::default() },
        profiles: ProfileSwitcher::default(),
        first_run: FirstRun { config: missing.config.clone(), source: missing.source.clone() },
    })
}

/// The dashboard of what was written. What was tried beats the environment, as an option does.
async fn dashboard(flags: &Flags, ready: Ready, environment: Environment) -> Result<Code, CliError> {
    let Ready { profile, key, greeting, is_verified } = ready;
    let scope = profile.scope();
    let flags = Flags {
        profile: Some(profile.name),
        project: Some(scope.project),
        base_url: Some(scope.base_url),
        ..flags.clone()
    };
    match resolve(&flags, &environment)? {
        SetupState::Ready(settings) => {
            open(*settings, environment, Some(AfterSetup { key, greeting, is_verified })).await
        }
        SetupState::Missing(missing) => Err(CliError::unusable(missing.how_to())),
    }
}
