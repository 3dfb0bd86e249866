//! The clients for code hosts, with the addresses and tokens of the configuration.

use crate::api::hosts::{HostClient, host_client_options};
use crate::api::{ClientOptions, ExtraRoots};
use crate::config::hosts::{HostSettings, unusable_token_text};
use crate::engine::{HostAccess, HostDirectory};
use crate::model::pull_request::HostKind;
use crate::model::text::CleanText;
use std::pin::Pin;

/// The code hosts of the configuration, and those for which `gh` or `glab` have a token.
#[derive(Debug)]
pub struct ConfiguredHosts {
    pub settings: HostSettings,
    /// Certificate authorities that are trusted in addition to those of the system.
    pub roots: Option<ExtraRoots>,
}

impl ConfiguredHosts {
    async fn find(&self, host: &str, kind: HostKind) -> HostAccess {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let Some(address) = self.settings.address(host, kind) else { return HostAccess::NoToken };
        for source in self.settings.token_sources(host, kind, variable) {
            let token = match source.read(variable).await {
                Ok(Some(token)) => token,
                Ok(None) => continue,
                Err(error) => return HostAccess::Unusable(unusable_token_text(host, &error)),
            };
            let options = ClientOptions { roots: self.roots.clone(), ..host_client_options() };
            return match HostClient::new(&address, token, options) {
                Ok(client) => HostAccess::Client(client),
                Err(error) => HostAccess::Unusable(CleanText::line(&error.to_string())),
            };
        }
        HostAccess::NoToken
    }
}

impl HostDirectory for ConfiguredHosts {
    fn access<'a>(&'a self, host: &'a str, kind: HostKind) -> Pin<Box<dyn Future<Output = HostAccess> + Send + 'a>> {
        Box::pin(self.find(host, kind))
    }
}
