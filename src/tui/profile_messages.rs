//! The messages and effects about the profiles of the configuration, and about the setup of a new profile.

use crate::model::endpoint::{ApiKey, Scope};
use crate::model::failure::Failure;
use crate::model::setup::{ConfigWritePermission, KeySourceInput, NewProfile, SetupProblem};
use crate::model::text::CleanText;

/// A message about profiles.
#[derive(Debug)]
pub enum ProfilesMsg {
    /// A new profile was validated without a request.
    ProfileChecked { attempt: u64, result: Result<(), SetupProblem> },
    /// A new profile was added to the list of profiles. `key` is `None` if the API key could not be read.
    ProfileAdded { profile: ProfileEntry, key: Option<ApiKey> },
    /// The API key of a new profile. Ignored if this attempt to set up a profile was cancelled or replaced by a new
    /// one.
    NewProfileKeyRead { attempt: u64, result: Result<ApiKey, Failure> },
    /// The service's response to the test of a new profile.
    ProfileTested { attempt: u64, result: Result<CleanText, Failure> },
    /// A new profile was written to the configuration, or could not be written.
    ConfigWritten { attempt: u64, result: Result<(), ConfigWriteError> },
    /// The API key of the profile at this index.
    ProfileKeyRead(usize, Result<ApiKey, Failure>),
    /// The result of testing the API key of the profile at this index. `Ok` has the key and, if the key could not be
    /// tested, the failure.
    ProfileKeyTested(usize, Result<(ApiKey, Option<Failure>), Failure>),
}

/// A side effect about profiles.
#[derive(Debug, Clone, PartialEq)]
pub enum ProfilesEffect {
    /// Validates a new profile without a request; answered by [`ProfilesMsg::ProfileChecked`].
    CheckProfile { attempt: u64, profile: Box<NewProfile> },
    /// Adds a profile to the list of profiles after it was written to the configuration; answered by
    /// [`ProfilesMsg::ProfileAdded`].
    AddProfile(Box<NewProfile>, Option<ApiKey>),
    /// Reads the API key of a new profile; answered by [`ProfilesMsg::NewProfileKeyRead`]. If a command prints the key,
    /// the command may use the terminal.
    ReadNewProfileKey { attempt: u64, key: KeySourceInput },
    /// Tests a new profile with one GET request; answered by [`ProfilesMsg::ProfileTested`].
    TestProfile { attempt: u64, profile: Box<NewProfile>, key: ApiKey },
    /// Writes a new profile to the configuration; answered by [`ProfilesMsg::ConfigWritten`].
    WriteConfig { attempt: u64, profile: Box<NewProfile>, allowed: ConfigWritePermission },
    /// Reads the API key of the profile at this index; answered by [`ProfilesMsg::ProfileKeyRead`].
    ReadProfileKey(usize),
    /// Tests the API key of the profile at this index with one GET request, which doesn't count toward the hourly
    /// limits; answered by [`ProfilesMsg::ProfileKeyTested`].
    TestProfileKey(usize, ApiKey),
    /// Switches to the profile at this index. All later effects apply to this profile.
    SwitchProfile(usize, ApiKey),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileEntry {
    pub name: CleanText,
    /// The service and project. `None` if the profile has no project.
    pub scope: Option<Scope>,
    /// Why docdeck can't switch to this profile, as a sentence. `None` if it can.
    pub problem: Option<CleanText>,
}

impl ProfileEntry {
    /// Returns the host of the profile's service, for display.
    pub fn host(&self) -> CleanText {
        let url = self.scope.as_ref().map_or("", |scope| scope.base_url.as_str());
        CleanText::line(url.split_once("://").map_or(url, |(_, rest)| rest))
    }

    /// Returns the profile's project, for display.
    pub fn project(&self) -> CleanText {
        CleanText::line(self.scope.as_ref().map_or("", |scope| scope.project.as_str()))
    }
}

/// What docdeck starts when the setup form ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelaunchTarget {
    /// The demo. The form is shown again after the demo.
    Demo,
    /// The dashboard of the new profile.
    Dashboard,
}

/// Why the configuration was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigWriteError {
    /// The configuration file already exists. The user has to confirm this change to it.
    NeedsConfirmation(ConfigWritePermission),
    Failed(Failure),
}
