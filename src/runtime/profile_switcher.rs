//! The profiles to which the user can switch. Reads the API key of a profile, tests the key with one request, and
//! returns the configuration of the profile's engine. Only after these steps does the dashboard stop using the previous
//! profile and start the new engine.

use super::effects::EngineConfig;
use super::hosts::ConfiguredHosts;
use crate::api::{Client, ClientOptions};
use crate::config::hosts::HostSettings;
use crate::config::key::KeySource;
use crate::config::profiles::ConfiguredProfile;
use crate::engine::{PollOptions, TeamAccess};
use crate::model::analytics::AnalyticsSettings;
use crate::model::endpoint::ApiKey;
use crate::model::failure::{Failure, FailureKind};
use crate::model::remote_job::JobId;
use crate::model::text::CleanText;
use crate::tui::ProfileEntry;
use crate::tui::{Msg, ProfilesMsg};
use chrono::Utc;
use std::path::PathBuf;
use std::time::Duration;

/// The id of a nonexistent job that is fetched to test a key: fetching a job is the only request that doesn't count
/// toward an hourly limit.
const PROBE_JOB_ID: &str = "docdeck-asks-whether-the-key-works";
/// How long to wait for the service when a key is tested. After that, the user can switch to the profile with an
/// untested key, because an unreachable service must not prevent the switch.
const KEY_CHECK_TIMEOUT: Duration = Duration::from_secs(8);

/// The configured profiles, and the settings that they share.
#[derive(Debug, Default)]
pub struct ProfileSwitcher {
    /// The profiles in the same order as in the state of [`App`](crate::tui::App), which refers to a profile by its
    /// index (`profile_index`).
    pub profiles: Vec<ConfiguredProfile>,
    pub poll: PollOptions,
    pub analytics: AnalyticsSettings,
    pub lock_folder: Option<PathBuf>,
    pub on_change: Vec<String>,
    /// `None` if the state of pull requests is not requested.
    pub hosts: Option<HostSettings>,
    /// `None` if no team is configured.
    pub team: Option<TeamAccess>,
}

impl ProfileSwitcher {
    fn client_options(&self, profile_index: usize) -> Result<ClientOptions, Failure> {
        let profile = self.profiles.get(profile_index).ok_or_else(incomplete_profile_failure)?;
        Ok(profile.client_options()?)
    }

    fn client(&self, profile_index: usize, key: ApiKey, options: ClientOptions) -> Result<Client, Failure> {
        let profile = self.profiles.get(profile_index).ok_or_else(incomplete_profile_failure)?;
        Client::new(profile.scope.clone().ok_or_else(incomplete_profile_failure)?, key, options)
    }

    fn key_source(&self, profile_index: usize) -> Result<KeySource, Failure> {
        match self.profiles.get(profile_index).map(|profile| &profile.key) {
            Some(Ok(Some(source))) => Ok(source.clone()),
            Some(Err(error)) => Err(error.clone().into()),
            Some(Ok(None)) | None => Err(incomplete_profile_failure()),
        }
    }

    /// Returns the name of the program that prints the key of this profile, or `None` if the key has another source.
    pub(super) fn key_program(&self, profile_index: usize) -> Option<CleanText> {
        match self.key_source(profile_index) {
            Ok(KeySource::Command(words)) => words.first().map(|program| CleanText::line(program)),
            _ => None,
        }
    }

    /// Reads the key of this profile. The message has the key, or the reason why it can't be read.
    pub fn read_key(&self, profile_index: usize) -> impl Future<Output = Msg> + Send + 'static {
        let source = self.key_source(profile_index);
        async move {
            let read = async { Ok(source?.read().await?) };
            Msg::Profiles(ProfilesMsg::ProfileKeyRead(profile_index, read.await))
        }
    }

    /// Tests the key of this profile with one request to the service. The message has the result.
    pub fn test_key(&self, profile_index: usize, key: ApiKey) -> impl Future<Output = Msg> + Send + 'static {
        let client =
            self.client_options(profile_index).and_then(|options| self.client(profile_index, key.clone(), options));
        async move {
            let tried = async { check_key(&client?).await.map(|failure| (key, failure)) };
            Msg::Profiles(ProfilesMsg::ProfileKeyTested(profile_index, tried.await))
        }
    }

    /// Adds a saved profile, so that the user can switch to it. Returns the message for the state machine.
    pub fn add(&mut self, added: ConfiguredProfile, key: Option<ApiKey>) -> Msg {
        let profile = ProfileEntry { name: added.name.clone(), scope: added.scope.clone(), problem: added.problem() };
        self.profiles.push(added);
        Msg::Profiles(ProfilesMsg::ProfileAdded { profile, key })
    }

    /// Returns the configuration of the engine for this profile.
    ///
    /// # Errors
    /// Fails if there is no such profile, if it has no project, or if its certificate file can't be read.
    pub fn engine_config(&self, profile_index: usize, key: ApiKey) -> Result<EngineConfig, Failure> {
        let Self { poll, lock_folder, on_change, .. } = self;
        let (poll, lock_folder, on_change) = (poll.clone(), lock_folder.clone(), on_change.clone());
        let options = self.client_options(profile_index)?;
        let hosts = ConfiguredHosts::clients(self.hosts.clone(), options.roots.clone());
        let (client, analytics) = (self.client(profile_index, key, options)?, self.analytics);
        let team = self.team.clone();
        Ok(EngineConfig { client, poll, analytics, lock_folder, on_change, hosts, team })
    }
}

fn incomplete_profile_failure() -> Failure {
    Failure::local("This profile has no project or no key.")
}

/// Checks a key with one GET request. Returns an error, which prevents the switch, if the service refuses the key.
/// Returns any other failure as `Ok(Some)`; it doesn't prevent the switch, because the store can be used without the
/// service.
async fn check_key(client: &Client) -> Result<Option<Failure>, Failure> {
    let Some(id) = JobId::new(PROBE_JOB_ID) else { return Ok(None) };
    let Ok(response) = tokio::time::timeout(KEY_CHECK_TIMEOUT, client.get_job(&id)).await else {
        let sentence = format!("The service did not answer within {} s.", KEY_CHECK_TIMEOUT.as_secs());
        return Ok(Some(Failure::new(FailureKind::Offline, &sentence)));
    };
    let failure = match response.result {
        Ok(_) => return Ok(None),
        Err(error) => error.failure(response.date.unwrap_or_else(Utc::now)),
    };
    match failure.kind {
        FailureKind::KeyRefused => Err(failure),
        FailureKind::NotFound => Ok(None),
        _ => Ok(Some(failure)),
    }
}
