//! Builds the HTTP client below ours: TLS, proxies, timeouts, pools. What it must never do stands here too: follow a
//! redirect, retry, or take a proxy to this computer.

use super::address::{Address, Loopback};
use super::client::ClientOptions;
use reqwest::redirect::Policy;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// How long an idle connection is kept for the next look at a job: longer than the usual pause between two polls (30 s),
/// shorter than what servers and balancers commonly allow (60 s), so that they are not the ones who close it.
const KEEP_IDLE: Duration = Duration::from_secs(45);

/// What becomes of a connection after its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reuse {
    /// Kept for the next request: right for what may be asked again.
    Keep,
    /// Every request gets a new one. A prompt that goes into a connection which the other side has just given up would
    /// end as unconfirmed, for the price of one handshake.
    Never,
}

/// Reads the system's certificates where TLS is spoken, which may take a while: call it off the event loop.
pub(super) fn build(address: &Address, options: &ClientOptions, reuse: Reuse) -> reqwest::Result<reqwest::Client> {
    // An error says that one is installed already, which is just as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("docdeck/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .gzip(true)
        .connect_timeout(connect_timeout(options))
        .timeout(options.total_timeout)
        .pool_idle_timeout(KEEP_IDLE)
        .pool_max_idle_per_host(match reuse {
            Reuse::Keep => usize::MAX,
            Reuse::Never => 0,
        });
    if let Some(loopback) = address.loopback() {
        builder = builder.no_proxy();
        if loopback == Loopback::Name {
            // Whatever a hosts file or a name server says, this name is this computer: the key may go out unencrypted.
            let here = [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), SocketAddr::from((Ipv6Addr::LOCALHOST, 0))];
            builder = builder.resolve_to_addrs("localhost", &here);
        }
    }
    if !address.is_encrypted() {
        // No certificate will be looked at, so a machine without any is fine.
        builder = builder.tls_certs_only([]);
    } else if let Some(roots) = &options.roots {
        builder = builder.tls_certs_merge(roots.certificates()?);
    }
    builder.build()
}

/// Shorter than the total timeout in any case, so that "no connection" can be told from "no answer".
pub(super) fn connect_timeout(options: &ClientOptions) -> Duration {
    options.connect_timeout.min(options.total_timeout / 10 * 9)
}
