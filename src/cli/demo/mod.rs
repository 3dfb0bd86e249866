//! `docdeck demo`: the dashboard on a simulated service in this process, over real HTTP. The record is in memory and
//! begins with what somebody who had used docdeck all along would have.

mod history;
mod views;

use super::customization;
use super::dashboard::{local_offset, no_terminal, terminal};
use super::error::CliError;
use crate::api::{Client, ClientOptions};
use crate::app::AppConfig;
use crate::config::environment::Environment;
use crate::config::{Flags, look, named_file, themes};
use crate::engine::PollOptions;
use crate::model::endpoint::{ApiKey, Scope};
use crate::model::text::CleanText;
use crate::runtime::effects::EngineConfig;
use crate::runtime::first_run::FirstRun;
use crate::runtime::preload::Preload;
use crate::runtime::switch::ProfileSwitcher;
use crate::runtime::{self, DashboardConfig, Exit, Folders};
use crate::sim::{Sim, SimOptions};
use crate::store::Store;
use chrono::Utc;
use history::DemoHistory;
use std::sync::Arc;

/// Runs the dashboard on the simulated service.
pub(super) async fn run(flags: &Flags, environment: Environment, options: SimOptions) -> Result<Exit, CliError> {
    let (file, path) = named_file(flags, &environment)?;
    let mine = file.own();
    let keymap = customization::keymap(&mine, &path)?;
    let commands = customization::commands(&mine, &keymap, &path)?;
    let kind = terminal(&environment)?.with_titles(mine.notify.title);
    let look = look(flags, &environment, &file.ui, &path);
    let colours = look.theme.read_unless_usual()?;
    let sim = Sim::start(options)
        .await
        .map_err(|error| CliError::unusable(format!("The simulated service can't be started: {error}.")))?;
    let sim = Arc::new(sim);
    let scope = Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None };
    let key = ApiKey::new(sim.api_key()).ok_or_else(|| CliError::unusable("The simulated service has no key."))?;
    let client = Client::new(scope.clone(), key, ClientOptions::default())
        .map_err(|failure| CliError::unusable(failure.sentence))?;
    let store = Store::in_memory().map_err(CliError::unusable)?;
    let now = Utc::now();
    let past = DemoHistory { store: &store, scope: &scope, now };
    let rest = past.fill(sim.seeded()).await.map_err(CliError::unusable)?;
    let folder = (!path.as_os_str().is_empty()).then(|| path.with_file_name("themes"));
    let start = AppConfig {
        profile: CleanText::line("demo"),
        demo: true,
        calm: look.calm,
        mouse: look.mouse,
        themes: themes::names(folder.as_deref()),
        keymap,
        filters: customization::filters(&mine),
        long_copies: !mine.clipboard.is_empty(),
        commands,
        ..AppConfig::new(scope.clone(), local_offset())
    };
    // The first rows are asked for before the rest is written, and all rows after it.
    let begun = Preload::begin(&store, &start).map_err(no_terminal)?;
    past.add_rest(rest);
    tokio::spawn(views::remember(Arc::clone(&sim), store.clone(), start.scope.clone()));
    let connection =
        Some(EngineConfig { client, poll: PollOptions::default(), lock_folder: None, on_change: mine.on_change });
    let (notify, folders) = (mine.notify.how, Folders { themes: folder, ..Folders::default() });
    let parts = DashboardConfig {
        start,
        look,
        colours,
        notify,
        clipboard: mine.clipboard,
        store,
        begun: Some(begun),
        connection,
        environment,
        kind,
        folders,
        profiles: ProfileSwitcher::default(),
        first_run: FirstRun::default(),
    };
    Ok(runtime::run(parts).await.map_err(no_terminal)?.exit)
}
