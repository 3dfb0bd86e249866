//! Builds the underlying HTTP client: TLS, proxies, timeouts, connection pools. The client never follows a redirect,
//! never retries a request, and never uses a proxy for this computer.

use super::address::{BaseUrl, Loopback};
use super::client::ClientOptions;
use super::connect_error::{ConnectError, innermost_cause};
use crate::model::text::CleanText;
use reqwest::redirect::Policy;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::sync::OnceCell;

/// How long an idle connection is kept for the next request. This is longer than the usual pause between two polls (30
/// s), and shorter than the usual timeout of servers and load balancers (60 s), so that they don't close the connection
/// first.
const IDLE_TIMEOUT: Duration = Duration::from_secs(45);

/// What happens to a connection after its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionReuse {
    /// The connection is kept for the next request. If the server has meanwhile closed the connection, the next request
    /// fails, so only requests that can be repeated use a kept connection.
    Keep,
    /// Every request opens a new connection. If the server has just closed a kept connection, a prompt or an action
    /// sent on it would become `Unconfirmed`, which is worse than one more handshake.
    Never,
}

/// Builds the client. Reads the system's certificates if TLS is used, which may take a while: don't call it on the
/// event loop.
fn build_http_client(
    base: &BaseUrl,
    options: &ClientOptions,
    reuse: ConnectionReuse,
) -> reqwest::Result<reqwest::Client> {
    // An error means that a crypto provider is installed already, which is just as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("docdeck/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .gzip(true)
        .connect_timeout(connect_timeout(options))
        .timeout(options.total_timeout)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(match reuse {
            ConnectionReuse::Keep => usize::MAX,
            ConnectionReuse::Never => 0,
        });
    if let Some(loopback) = base.loopback() {
        builder = builder.no_proxy();
        if loopback == Loopback::Name {
            // `localhost` must mean this computer, even if a hosts file or a name server returns another address: the
            // key may be sent to `localhost` unencrypted.
            let loopback_addresses =
                [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), SocketAddr::from((Ipv6Addr::LOCALHOST, 0))];
            builder = builder.resolve_to_addrs("localhost", &loopback_addresses);
        }
    }
    if !base.is_encrypted() {
        // Without TLS, no certificate is checked. So the system's certificates are not read, and docdeck also works on
        // a computer without root certificates.
        builder = builder.tls_certs_only([]);
    } else if let Some(roots) = &options.roots {
        builder = builder.tls_certs_merge(roots.certificates()?);
    }
    builder.build()
}

/// Returns the client in `cell`, which is built at its first use.
pub(super) async fn get_or_build_client<'a>(
    cell: &'a OnceCell<reqwest::Client>,
    base: &BaseUrl,
    options: &ClientOptions,
    reuse: ConnectionReuse,
) -> Result<&'a reqwest::Client, ConnectError> {
    let build = || async {
        let (base, options) = (base.clone(), options.clone());
        // Reading the system's certificates takes so long that it would block the event loop.
        let built = tokio::task::spawn_blocking(move || self::build_http_client(&base, &options, reuse)).await;
        match built {
            Ok(Ok(client)) => Ok(client),
            Ok(Err(error)) => Err(ConnectError::NoCertificates(innermost_cause(&error))),
            Err(_) => Err(ConnectError::Other(CleanText::line("docdeck is shutting down"))),
        }
    };
    cell.get_or_try_init(build).await
}

/// Returns the timeout for connecting. It is always shorter than the total timeout, so that "no connection" can be
/// distinguished from "no response".
pub(super) fn connect_timeout(options: &ClientOptions) -> Duration {
    options.connect_timeout.min(options.total_timeout / 10 * 9)
}
