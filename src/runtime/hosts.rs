//! Creates the clients for code hosts: either with the addresses and tokens of the configuration, or, in the demo, for
//! the simulated code hosts.

use crate::api::hosts::{HostAddress, HostClient, HostError, host_client_options};
use crate::api::{ClientOptions, ExtraRoots};
use crate::config::hosts::{HostSettings, unusable_token_text};
use crate::engine::{HostAccess, HostClients};
use crate::model::endpoint::ApiKey;
use crate::model::pull_request::HostKind;
use crate::model::text::CleanText;
use crate::sim::Sim;
use std::pin::Pin;
use std::sync::Arc;

/// The code hosts of the configuration, and those for which `gh` or `glab` have a token.
#[derive(Debug)]
pub struct ConfiguredHosts {
    pub settings: HostSettings,
    /// Certificate authorities that are trusted in addition to those of the system.
    pub roots: Option<ExtraRoots>,
}

impl ConfiguredHosts {
    /// Returns the code hosts for the engine; `None` if `settings` is `None`.
    pub fn clients(settings: Option<HostSettings>, roots: Option<ExtraRoots>) -> Option<Arc<dyn HostClients>> {
        settings.map(|settings| -> Arc<dyn HostClients> { Arc::new(Self { settings, roots }) })
    }

    async fn find_access(&self, host: &str, kind: HostKind) -> HostAccess {
        let Some(address) = self.settings.address(host, kind) else { return HostAccess::NoToken };
        match self.settings.read_token(host, kind).await {
            Ok(Some((_, token))) => match self.client(&address, token) {
                Ok(client) => HostAccess::Client(client),
                Err(error) => HostAccess::Unusable(CleanText::line(&error.to_string())),
            },
            Ok(None) => HostAccess::NoToken,
            Err(error) => HostAccess::Unusable(unusable_token_text(host, &error)),
        }
    }

    /// Creates the client for a host.
    ///
    /// # Errors
    /// Fails if the address is invalid.
    pub fn client(&self, address: &HostAddress, token: ApiKey) -> Result<HostClient, HostError> {
        HostClient::new(address, token, ClientOptions { roots: self.roots.clone(), ..host_client_options() })
    }
}

/// The simulated code hosts of the demo.
#[derive(Debug)]
pub struct SimulatedHosts([HostClient; 2]);

impl SimulatedHosts {
    /// Returns the hosts of this simulated service for the engine; `None` if a token or address is unusable.
    pub fn clients(sim: &Sim) -> Option<Arc<dyn HostClients>> {
        let client = |kind| {
            HostClient::new(&sim.host_address(kind), ApiKey::new(sim.host_token(kind))?, host_client_options()).ok()
        };
        Some(Arc::new(Self([client(HostKind::GitHub)?, client(HostKind::GitLab)?])))
    }
}

impl HostClients for SimulatedHosts {
    fn access<'a>(&'a self, _host: &'a str, kind: HostKind) -> Pin<Box<dyn Future<Output = HostAccess> + Send + 'a>> {
        let client = self.0.iter().find(|client| client.kind() == kind);
        Box::pin(async move { client.map_or(HostAccess::NoToken, |client| HostAccess::Client(client.clone())) })
    }
}

impl HostClients for ConfiguredHosts {
    fn access<'a>(&'a self, host: &'a str, kind: HostKind) -> Pin<Box<dyn Future<Output = HostAccess> + Send + 'a>> {
        Box::pin(self.find_access(host, kind))
    }
}
