//! Whom docdeck talks to, and with which secret.

use std::fmt;
use zeroize::Zeroizing;

/// The service and project that jobs, drafts, ledgers and leases belong to, whatever the profile is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Base address without a trailing slash.
    pub base_url: String,
    /// Project id as given, not encoded.
    pub project: String,
    /// Organization, where the configuration names one: analytics requests are limited per organization.
    pub organization: Option<String>,
}

impl Scope {
    /// Whom the analytics ledger belongs to: the organization, or else the project (api.md: limits).
    pub fn analytics_owner(&self) -> &str {
        self.organization.as_deref().unwrap_or(&self.project)
    }

    /// Under which key the store keeps how far this service's clock is ahead of the local one, in milliseconds.
    pub fn clock_key(&self) -> String {
        format!("service-clock {}", self.base_url)
    }

    /// Under which key the store keeps how the talk with the service goes for whoever looks at this project's jobs.
    pub fn connection_key(&self) -> String {
        format!("connection {} {}", self.base_url, self.project)
    }
}

/// The environment variable that may hold the key. No program that docdeck starts inherits it.
pub const KEY_VARIABLE: &str = "DOCDECK_API_KEY";

/// The API key. Wiped from memory when dropped; prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Zeroizing<String>);

impl ApiKey {
    /// Takes a key as typed or read: white space at both ends is dropped. `None` when nothing is left or when it holds
    /// a character that can't stand in a header.
    pub fn new(raw: &str) -> Option<Self> {
        let key = raw.trim();
        let fits = !key.is_empty() && key.bytes().all(|b| (0x21..=0x7e).contains(&b));
        fits.then(|| Self(Zeroizing::new(key.to_owned())))
    }

    /// The secret itself, for the one header that carries it.
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
    fn a_key_prints_as_stars() {
        let key = ApiKey::new(" mint_secret\n").expect("a key");
        assert_eq!(format!("{key:?}"), "***");
        assert_eq!(key.expose(), "mint_secret");
    }

    #[test]
    fn a_key_that_cannot_stand_in_a_header_is_refused() {
        assert!(ApiKey::new("mint_a\r\nX-Evil: 1").is_none());
        assert!(ApiKey::new("  \n").is_none());
    }
}
