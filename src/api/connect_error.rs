//! Determines from an error of the HTTP library whether and why a request never reached the service. If this module
//! doesn't recognize an error, the service may have carried out the request.

use crate::model::text::CleanText;
use std::error::Error;
use std::io;

/// Why a request was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectError {
    /// The host name is not valid, or has no address.
    UnknownHost,
    /// No server listens at the address.
    Refused,
    /// There is no network, or no route to the host.
    NoRoute,
    /// No connection was established in time.
    TimedOut,
    /// TLS could not be negotiated, or the certificate is not trusted. Contains the reason.
    Tls(CleanText),
    /// The proxy can't be reached or rejected the request. Contains the reason, but not the proxy's address, which may
    /// contain a password.
    Proxy(CleanText),
    /// This computer has no root certificates, so TLS is impossible. Contains the reason.
    NoCertificates(CleanText),
    /// Another failure before anything was sent. Contains the reason.
    Other(CleanText),
}

impl ConnectError {
    /// Returns the reason if the error proves that the request was not sent, otherwise `None`.
    pub(super) fn from_reqwest(error: &reqwest::Error) -> Option<Self> {
        if error.is_builder() {
            return Some(Self::Other(innermost_cause(error)));
        }
        if !error.is_connect() {
            return None;
        }
        Some(Self::from_connect_failure(error))
    }

    fn from_connect_failure(error: &reqwest::Error) -> Self {
        if error_chain(error).any(is_proxy_error) {
            return Self::Proxy(innermost_cause(error));
        }
        if let Some(tls) = error_chain(error).find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
            return Self::Tls(tls_reason(tls));
        }
        // A host name that TLS rejects as malformed could not be resolved either, so the user gets the same error.
        if error.is_dns() || error_chain(error).any(|cause| cause.is::<rustls::pki_types::InvalidDnsNameError>()) {
            return Self::UnknownHost;
        }
        if error.is_timeout() {
            return Self::TimedOut;
        }
        match error_chain(error).find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => Self::Refused,
            Some(io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkDown) => {
                Self::NoRoute
            }
            _ if innermost_cause(error).as_str().starts_with("tls ") => Self::Tls(innermost_cause(error)),
            _ => Self::Other(innermost_cause(error)),
        }
    }
}

/// Returns the error and its causes, outermost first. This includes errors that are wrapped in an `io::Error`, although
/// `io::Error::source` skips them.
fn error_chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = error;
    std::iter::successors(Some(first), |cause| next_cause(*cause))
}

fn next_cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

/// Returns the text of the innermost cause. The outer causes only repeat the URL or "error sending request".
pub(super) fn innermost_cause(error: &reqwest::Error) -> CleanText {
    let cause = error_chain(error).last().map(ToString::to_string).unwrap_or_default();
    CleanText::title(&cause, 120)
}

/// Whether the error comes from a proxy. The error types of proxy tunnels are private, so the errors are recognized by
/// their texts.
fn is_proxy_error(cause: &(dyn Error + 'static)) -> bool {
    let text = cause.to_string();
    text.starts_with("tunnel error") || text.starts_with("SOCKS error") || text.contains("socks proxy")
}

/// Returns a phrase that states why a certificate or a handshake was rejected.
pub fn tls_reason(error: &rustls::Error) -> CleanText {
    use rustls::AlertDescription as Alert;
    use rustls::CertificateError as Cert;
    let reason = match error {
        rustls::Error::InvalidCertificate(bad) => match bad {
            Cert::Expired | Cert::ExpiredContext { .. } => "its certificate has expired",
            Cert::NotValidYet | Cert::NotValidYetContext { .. } => "its certificate is not valid yet",
            Cert::NotValidForName | Cert::NotValidForNameContext { .. } => "its certificate is for another host",
            Cert::UnknownIssuer => "this computer does not trust the issuer of its certificate",
            Cert::Revoked => "its certificate was revoked",
            Cert::BadEncoding => "its certificate can't be read",
            Cert::BadSignature => "its certificate was not signed by the issuer that it names",
            Cert::InvalidPurpose | Cert::InvalidPurposeContext { .. } => "its certificate is not for servers",
            Cert::UnhandledCriticalExtension => "its certificate has a critical extension that docdeck doesn't support",
            Cert::UnknownRevocationStatus | Cert::ExpiredRevocationList | Cert::ExpiredRevocationListContext { .. } => {
                "its certificate may have been revoked (unknown status)"
            }
            other => return reason_from_debug_text(&format!("{other:?}")),
        },
        rustls::Error::InvalidMessage(_) => "the server does not speak TLS",
        rustls::Error::NoCertificatesPresented => "it presents no certificate",
        rustls::Error::PeerIncompatible(_) => "it offers no TLS version or cipher that docdeck accepts (1.2 and 1.3)",
        rustls::Error::PeerMisbehaved(_) => "it violates the TLS protocol",
        rustls::Error::AlertReceived(Alert::CertificateRequired | Alert::UnknownCA | Alert::BadCertificate) => {
            "it requires a client certificate, which docdeck doesn't support"
        }
        rustls::Error::AlertReceived(Alert::HandshakeFailure | Alert::ProtocolVersion) => {
            "it accepts no TLS version or cipher that docdeck offers (1.2 and 1.3)"
        }
        rustls::Error::AlertReceived(Alert::UnrecognisedName) => "it doesn't serve this host name",
        _ => return CleanText::title(&error.to_string(), 120),
    };
    CleanText::line(reason)
}

/// Returns a phrase for a certificate error that is recognized only by its debug output. If the error is unknown, the
/// phrase quotes this output.
fn reason_from_debug_text(debug_text: &str) -> CleanText {
    const CERTIFICATE_REASONS: [(&str, &str); 9] = [
        (
            "CaUsedAsEndEntity",
            "its certificate is a CA certificate, like many self-signed ones; it needs one with CA:FALSE",
        ),
        ("EndEntityUsedAsCa", "the issuer of its certificate is not a CA"),
        ("UnsupportedCertVersion", "its certificate is of an old version; it needs X.509 version 3"),
        (
            "UnsupportedSignatureAlgorithm",
            "its certificate has a signature that docdeck doesn't accept (such as SHA-1)",
        ),
        ("UnsupportedCrlSignatureAlgorithm", "its list of revoked certificates has an unsupported signature"),
        ("NameConstraintViolation", "the issuer of its certificate may not issue for this host name"),
        ("PathLenConstraintViolated", "its certificate chain is longer than one of its CAs allows"),
        ("MaximumPathDepthExceeded", "its certificate chain is too long"),
        ("TrailingData", "its certificate can't be read"),
    ];
    match CERTIFICATE_REASONS.iter().find(|(known, _)| debug_text.contains(known)) {
        Some((_, reason)) => CleanText::line(reason),
        None => CleanText::title(&format!("its certificate is not accepted: {debug_text}"), 120),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{CertificateError, OtherError};

    #[test]
    fn a_ca_certificate_used_by_a_server_is_explained() {
        let bad = CertificateError::Other(OtherError(std::sync::Arc::new(io::Error::other("CaUsedAsEndEntity"))));
        let reason = tls_reason(&rustls::Error::InvalidCertificate(bad));
        assert!(reason.as_str().contains("CA:FALSE") && !reason.as_str().contains("CaUsed"), "{reason}");
        let unknown = CertificateError::Other(OtherError(std::sync::Arc::new(io::Error::other("Odd"))));
        assert!(
            tls_reason(&rustls::Error::InvalidCertificate(unknown))
                .as_str()
                .starts_with("its certificate is not accepted")
        );
    }
    use reqwest::dns::{Name, Resolve, Resolving};

    struct EmptyResolver;

    impl Resolve for EmptyResolver {
        fn resolve(&self, _name: Name) -> Resolving {
            Box::pin(async { Err("no such host".into()) })
        }
    }

    #[tokio::test]
    async fn an_unknown_name_is_distinguished_from_other_connection_failures() {
        let builder = reqwest::Client::builder().no_proxy().tls_certs_only([]).dns_resolver(EmptyResolver);
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = builder.build().expect("a client");
        let error = client.get("http://docs.invalid").send().await.expect_err("no name");
        assert_eq!(ConnectError::from_reqwest(&error), Some(ConnectError::UnknownHost));
    }
}
