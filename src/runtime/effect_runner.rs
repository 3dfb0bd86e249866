//! Runs single effects and returns messages with their results.

use super::new_file;
use super::profile_effects::ProfileEffectRunner;
use crate::engine::Engine;
use crate::model::endpoint::Scope;
use crate::model::failure::Failure;
use crate::model::layout::Layout;
use crate::store::{Store, StoreError};
use crate::tui::{Effect, Msg};
use std::path::PathBuf;
use tokio::sync::watch;

/// The store's key for the list of tips that were already shown.
pub(super) const TIPS_STORE_KEY: &str = "tips";

/// The engine, or the reason why it has not started yet; `None` before the end of the first attempt to start it.
pub(super) type EngineStartup = Option<Result<Engine, Failure>>;

/// Everything that a task needs to run an effect.
#[derive(Debug, Clone)]
pub(super) struct EffectRunner {
    pub(super) store: Store,
    pub(super) scope: Scope,
    /// The folder of the user's templates.
    pub(super) templates_folder: Option<PathBuf>,
    /// The folder for exports; `None` for the current folder.
    pub(super) export_folder: Option<PathBuf>,
    /// Runs the effects of profiles and of the setup form.
    pub(super) profile_effects: ProfileEffectRunner,
    pub(super) engine: watch::Receiver<EngineStartup>,
}

impl EffectRunner {
    /// Runs an effect. Returns `None` if the effect has no result, or if the event loop runs it.
    pub(super) async fn run(self, effect: Effect) -> Option<Msg> {
        match effect {
            Effect::Jobs(effect) => self.run_jobs_effect(effect).await.map(Msg::Jobs),
            Effect::Prompts(effect) => self.run_prompts_effect(effect).await.map(Msg::Prompts),
            Effect::Views(effect) => self.run_views_effect(effect).await.map(Msg::Views),
            Effect::Analytics(effect) => self.run_analytics_effect(effect).await.map(Msg::Analytics),
            Effect::Profiles(effect) => self.profile_effects.run(effect).await.map(Msg::Profiles),
            Effect::LoadLayout(key) => {
                let text = self.store.value(&key).await.ok().flatten();
                Some(Msg::LayoutLoaded(key, text.map(|text| Layout::parse(&text))))
            }
            Effect::SaveLayout { key, text } => {
                // Errors are ignored: only the layout is lost.
                let _ = self.store.set_value(&key, &text).await;
                None
            }
            Effect::SaveSeenTips(words) => {
                // Errors are ignored: the tips are shown once more.
                let _ = self.store.set_value(TIPS_STORE_KEY, &words).await;
                None
            }
            Effect::WriteFile(file, overwrite) => {
                Some(new_file::save_new_file(self.export_folder.clone(), file, overwrite).await)
            }
            Effect::SaveFilter { filter, replaces_existing } => {
                Some(self.profile_effects.save_filter(filter, replaces_existing).await)
            }
            Effect::ReportBudgets => {
                self.engine().await.ok()?.emit_budgets().await;
                None
            }
            Effect::UseTheme { .. }
            | Effect::OpenExternalEditor(_)
            | Effect::RunCommand(_)
            | Effect::ShowDesktopNotification(_)
            | Effect::Relaunch(_)
            | Effect::OpenUrl(_)
            | Effect::Copy { .. }
            | Effect::SetMouse(_)
            | Effect::Redraw
            | Effect::Suspend
            | Effect::SuspendNow
            | Effect::Quit => None,
        }
    }

    /// Waits for the end of the first attempt to start the engine, and returns the engine or, until a later attempt
    /// succeeds, the failure.
    pub(super) async fn engine(&self) -> Result<Engine, Failure> {
        let mut engine = self.engine.clone();
        let ended = || Failure::local("docdeck is shutting down; nothing was sent.");
        let started = engine.wait_for(Option::is_some).await.map_err(|_| ended())?;
        started.clone().unwrap_or_else(|| Err(ended()))
    }

    /// Waits until the engine runs, even if the first attempt to start it failed. Returns `None` if docdeck is shutting
    /// down.
    pub(super) async fn running_engine(&self) -> Option<Engine> {
        let mut engine = self.engine.clone();
        let started = engine.wait_for(|started| matches!(started, Some(Ok(_)))).await.ok()?;
        started.as_ref()?.as_ref().ok().cloned()
    }

    /// Passes the engine to `call`. Waits and fails like [`Self::engine`].
    pub(super) async fn with_engine<T>(
        &self,
        call: impl AsyncFnOnce(Engine) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        call(self.engine().await?).await
    }
}

pub(super) fn store_failure(error: StoreError) -> Failure {
    error.not_saved_failure()
}
