//! Collects the facts that the checks of `docdeck doctor` examine. A mistake in one setting doesn't stop the
//! collection.

use super::hosts::{self, HostFacts};
use super::report::{Finding, PrivateData};
use super::team::{self, TeamFacts};
use crate::api::{ApiError, ApiResponse, Client, ClientOptions, ExtraRoots, RootsError, Route};
use crate::config::environment::Environment;
use crate::config::file::{ConfigFile, LoadedFile, ProfileConfig, read_config_file};
use crate::config::hosts::HostSettings;
use crate::config::key::{KeySource, resolve_key_source, resolve_path};
use crate::config::sourced::Sourced;
use crate::config::sources;
use crate::config::{ChosenTheme, ConfigError, DisplaySettings, GlobalOptions, display_settings};
use crate::engine::RunningInstances;
use crate::model::Time;
use crate::model::endpoint::{ApiKey, Scope};
use crate::model::failure::Failure;
use crate::model::remote_job::{JobId, RemoteJob};
use crate::store::{StoreContent, StoreError, StoreExamination, examine};
use crate::terminal::probe::{self, NotQueried, ProbeReplies};
use crate::terminal::signals::SignalStream;
use chrono::Utc;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The timeout for connecting to the service, short enough for an interactive command.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The timeout for the whole request.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(15);
/// The id of a job that doesn't exist.
const PROBE_JOB_ID: &str = "docdeck-doctor-looks-for-no-job";

/// The facts that the checks examine. A setting that can't be resolved is an error, `None` or the default.
#[derive(Debug)]
pub(super) struct DoctorFacts<'a> {
    pub(super) environment: &'a Environment,
    /// Whether requests are forbidden by `--offline`.
    pub(super) is_offline: bool,
    pub(super) config_path: Option<Sourced<PathBuf>>,
    /// Whether other users can read the configuration file. `None` if there is no file.
    pub(super) is_config_readable_by_others: Result<Option<bool>, ConfigError>,
    pub(super) config: ConfigFile,
    pub(super) profile_name: Result<Sourced<String>, ConfigError>,
    pub(super) base_url: Sourced<String>,
    pub(super) base_url_mistake: Option<ConfigError>,
    pub(super) project: Option<Sourced<String>>,
    pub(super) project_mistake: Option<ConfigError>,
    pub(super) organization: Option<String>,
    pub(super) scope: Option<Scope>,
    pub(super) key_source: Option<KeySource>,
    pub(super) key: Result<Option<ApiKey>, ConfigError>,
    pub(super) ca_file: Option<(PathBuf, Result<ExtraRoots, RootsError>)>,
    /// `None` if the key or the project is missing.
    pub(super) client: Option<Result<Client, Failure>>,
    /// The error is a sentence: why the base URL can't be used.
    pub(super) route: Result<Route, String>,
    pub(super) display: DisplaySettings,
    pub(super) theme_error: Option<ConfigError>,
    pub(super) data_folder: Result<PathBuf, ConfigError>,
    /// The result of the repair, if one was requested.
    pub(super) repair: Option<Finding>,
    /// `None` if the store was not examined, `Some(Ok(None))` if there is no store.
    pub(super) store_examination: Option<Result<Option<StoreExamination>, StoreError>>,
    pub(super) running_instances: RunningInstances,
    pub(super) response: Option<TimedResponse>,
    /// The code hosts of pull requests; `None` if requests to them are turned off.
    pub(super) hosts: Option<Vec<HostFacts>>,
    /// The team's database, or a sentence with the reason why it can't be used; `None` if no team is configured.
    pub(super) team: Option<Result<TeamFacts, String>>,
    /// The terminal's replies to docdeck's queries, or why it was not queried.
    pub(super) terminal_replies: Result<ProbeReplies, NotQueried>,
}

/// The response to the request for a job, and this computer's time before the request and after the response.
#[derive(Debug)]
pub(super) struct TimedResponse {
    pub(super) response: ApiResponse<RemoteJob>,
    pub(super) sent_at: Time,
    pub(super) received_at: Time,
}

impl<'a> DoctorFacts<'a> {
    /// Reads the settings and the API key. Runs the key command, if one is configured.
    pub(super) async fn read_settings(
        global_options: &GlobalOptions,
        environment: &'a Environment,
        is_offline: bool,
    ) -> Self {
        let path = sources::config_path(global_options, environment);
        let loaded = path.clone().and_then(|path| read_config_file(&path.value));
        let (config, is_config_readable_by_others) = match loaded {
            Ok(Some(LoadedFile { file, is_readable_by_others })) => (file, Ok(Some(is_readable_by_others))),
            Ok(None) => (ConfigFile::default(), Ok(None)),
            Err(error) => (ConfigFile::default(), Err(error)),
        };
        let config_path = path.ok();
        let at = config_path.as_ref().map(|path| path.value.clone()).unwrap_or_default();
        let nothing = ProfileConfig::default();
        let (profile_name, profile) = match sources::resolve_profile(global_options, environment, &at, &config) {
            Ok((name, profile)) => (Ok(name), profile.unwrap_or(&nothing)),
            Err(error) => (Err(error), &nothing),
        };
        let base_url = sources::resolve_base_url(global_options, environment, profile);
        let project = sources::resolve_project(global_options, environment, profile);
        let project_mistake = project.as_ref().and_then(sources::project_mistake);
        let scope = sources::resolve_scope(global_options, environment, profile).filter(|_| project_mistake.is_none());
        let name = profile_name.as_ref().map_or("", |name| &name.value);
        let is_readable_by_others = matches!(is_config_readable_by_others, Ok(Some(true)));
        let (key_source, key) = match resolve_key_source(environment, name, profile, &at, is_readable_by_others) {
            Ok(Some(source)) => {
                let key = source.read().await;
                (Some(source), key.map(Some))
            }
            Ok(None) => (None, Ok(None)),
            Err(error) => (None, Err(error)),
        };
        let ca_path = profile.ca_file.as_deref().map(|path| resolve_path(&at, path));
        let ca_file = ca_path.map(|path| (path.clone(), ExtraRoots::read(&path)));
        let roots = ca_file.as_ref().and_then(|(_, roots)| roots.clone().ok());
        let options = ClientOptions { roots, connect_timeout: CONNECT_TIMEOUT, total_timeout: TOTAL_TIMEOUT };
        let known = scope.clone().zip(key.as_ref().ok().cloned().flatten());
        // Any project will do, because the route doesn't depend on it.
        let any = Scope { base_url: base_url.value.clone(), project: "x".to_owned(), organization: None };
        let mut display = display_settings(global_options, environment, &config.ui, &at);
        let theme_error = display.theme.read().err();
        if theme_error.is_some() {
            display.theme = ChosenTheme::default();
        }
        Self {
            environment,
            is_offline,
            base_url_mistake: sources::base_url_mistake(&base_url, profile, &at),
            organization: sources::resolve_organization(profile),
            config_path,
            is_config_readable_by_others,
            profile_name,
            base_url,
            project,
            project_mistake,
            scope,
            key_source,
            key,
            ca_file,
            client: known.map(|(scope, key)| Client::new(scope, key, options)),
            route: Route::for_scope(&any),
            display,
            theme_error,
            data_folder: sources::resolve_data_folder(global_options, environment).map(|folder| folder.value),
            config,
            repair: None,
            store_examination: None,
            running_instances: RunningInstances::default(),
            response: None,
            hosts: None,
            team: None,
            terminal_replies: Err(NotQueried::Failed),
        }
    }

    /// Returns the path of the configuration file. The path is empty if it can't be resolved.
    pub(super) fn config_file_path(&self) -> &Path {
        self.config_path.as_ref().map_or(Path::new(""), |path| &path.value)
    }

    /// Returns the data folder, which may not exist. Returns `None` if it can't be resolved.
    pub(super) fn data_folder_path(&self) -> Option<&Path> {
        self.data_folder.as_deref().ok()
    }

    /// Returns the content of the store. Returns `None` if there is no store that can be queried.
    pub(super) fn store_content(&self) -> Option<&StoreContent> {
        self.store_examination.as_ref()?.as_ref().ok()?.as_ref()?.content.as_ref()
    }

    /// Returns the response of the service. Returns `None` if no request was sent or none was answered.
    pub(super) fn service_response(&self) -> Option<&TimedResponse> {
        let has_no_answer = |failure: &ApiError| {
            matches!(failure, ApiError::NotReached { .. } | ApiError::TimedOut { .. } | ApiError::Lost { .. })
        };
        self.response.as_ref().filter(|timed| !timed.response.result.as_ref().is_err_and(has_no_answer))
    }

    /// Examines the store, and finds the instances of docdeck that are running.
    pub(super) async fn examine_store(&mut self) {
        let (Ok(folder), scope) = (self.data_folder.clone(), self.scope.clone()) else { return };
        let read = move || {
            let examined = examine(&folder, scope.as_ref(), Utc::now());
            (examined, RunningInstances::find(&folder, scope.as_ref()))
        };
        if let Ok((examined, running_instances)) = tokio::task::spawn_blocking(read).await {
            (self.store_examination, self.running_instances) = (Some(examined), running_instances);
        }
    }

    /// Unless offline, requests a tracked job, or a job that doesn't exist if none is tracked. The request doesn't
    /// count toward the hourly limits and changes nothing.
    pub(super) async fn request_job(&mut self) {
        let Some(Ok(client)) = self.client.as_ref().filter(|_| !self.is_offline) else { return };
        let tracked = self.store_content().and_then(|content| content.example_job.clone());
        let Some(id) = tracked.or_else(|| JobId::new(PROBE_JOB_ID)) else { return };
        let sent_at = Utc::now();
        let response = client.get_job(&id).await;
        self.response = Some(TimedResponse { response, sent_at, received_at: Utc::now() });
    }

    /// Examines the code hosts of pull requests, unless requests to them are turned off.
    pub(super) async fn examine_hosts(&mut self) {
        let Some(settings) = HostSettings::from_file(&self.config, self.config_file_path()) else { return };
        let links = self.store_content().map(|content| content.newest_pull_requests.clone()).unwrap_or_default();
        self.hosts = Some(hosts::examine(settings, self, &links).await);
    }

    /// Examines the team's database, if one is configured. Connects to it, unless offline.
    pub(super) async fn examine_team(&mut self) {
        self.team = team::examine(self).await;
    }

    /// Queries the terminal, if there is one.
    pub(super) async fn query_terminal(&mut self) {
        let caps = crate::runtime::terminal_caps(self.environment).ok();
        // Until `_signals` is dropped, a signal that would end the program is delayed, so that the terminal is restored
        // first.
        let _signals = SignalStream::listen();
        let terminal_replies = tokio::task::spawn_blocking(move || probe::query_terminal(caps)).await;
        self.terminal_replies = terminal_replies.unwrap_or(Err(NotQueried::Failed));
    }

    /// Returns the data that must not appear in the report.
    pub(super) fn private_data(&self) -> PrivateData {
        let project = self.project.as_ref().filter(|_| self.project_mistake.is_none()).map(|project| &project.value);
        let links = self.store_content().map_or(&[][..], |content| &content.newest_pull_requests);
        let repositories = links.iter().map(|link| link.repository.clone());
        PrivateData {
            key: self.key.clone().ok().flatten(),
            private_names: project.into_iter().chain(&self.organization).cloned().chain(repositories).collect(),
            home: directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf()),
        }
    }
}
