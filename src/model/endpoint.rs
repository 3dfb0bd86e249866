//! The service and project that docdeck connects to, and the API key.

use std::fmt;
use zeroize::Zeroizing;

/// The service and project that jobs, drafts, ledgers and leases belong to, independent of the profile's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The base URL without a trailing slash.
    pub base_url: String,
    /// The project id as configured, not percent-encoded.
    pub project: String,
    /// The organization, if the configuration names one. Analytics requests are limited per organization.
    pub organization: Option<String>,
}

impl Scope {
    /// Returns the id of the owner of the hourly limit that analytics requests count toward: the organization, or the
    /// project if no organization is set.
    pub fn analytics_limit_owner_id(&self) -> &str {
        self.organization.as_deref().unwrap_or(&self.project)
    }

    /// Returns the key under which the store holds the clock offset: how many milliseconds the service's clock is ahead
    /// of the local one.
    pub fn clock_offset_store_key(&self) -> String {
        format!("service-clock {}", self.base_url)
    }

    /// Returns the key under which the store holds the connection state, which all docdeck processes of this project
    /// share.
    pub fn connection_state_store_key(&self) -> String {
        format!("connection {} {}", self.base_url, self.project)
    }
}

/// The environment variable with the API key. docdeck removes it from the environment of every program that it starts.
pub const API_KEY_VARIABLE: &str = "DOCDECK_API_KEY";

/// The environment variable with the URL of the team's database, which contains a password. docdeck removes it from the
/// environment of every program that it starts.
pub const TEAM_URL_VARIABLE: &str = "DOCDECK_TEAM_URL";

/// The API key. Its memory is wiped on drop, and its debug output is `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Zeroizing<String>);

impl ApiKey {
    /// Creates an API key from text, without the white space around it. Returns `None` if the text is empty, or if the
    /// key contains anything but visible ASCII characters, which would not be allowed in a header.
    pub fn new(raw: &str) -> Option<Self> {
        let key = raw.trim();
        let fits = !key.is_empty() && key.bytes().all(|b| (0x21..=0x7e).contains(&b));
        fits.then(|| Self(Zeroizing::new(key.to_owned())))
    }

    /// Returns the secret itself, which must not be shown or logged.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_printed_as_asterisks() {
        let key = ApiKey::new(" mint_secret\n").expect("a key");
        assert_eq!(format!("{key:?}"), "***");
        assert_eq!(key.expose(), "mint_secret");
    }

    #[test]
    fn a_key_that_is_invalid_in_a_header_is_rejected() {
        assert!(ApiKey::new("mint_a\r\nX-Evil: 1").is_none());
        assert!(ApiKey::new("  \n").is_none());
    }
}
