//! Tells why a request never reached the service, from the chain of causes that the HTTP library gives.
//! An error that is not recognised here counts as one after which the request may have been carried out.

use crate::model::text::CleanText;
use std::error::Error;
use std::io;

/// Why nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectError {
    /// The host's name has no address, or can't have one.
    Name,
    /// Nobody listens there.
    Refused,
    /// No way leads there: no network, no route.
    NoRoute,
    /// No connection in time.
    TimedOut,
    /// TLS could not be agreed on, or the certificate is not trusted; with the reason.
    Tls(CleanText),
    /// The proxy can't be reached or did not let the request through; with the reason, without its address (which may
    /// hold a password).
    Proxy(CleanText),
    /// This computer can't speak TLS at all: no root certificates; with the reason.
    NoCertificates(CleanText),
    /// Another failure before anything was sent.
    Other(CleanText),
}

impl ConnectError {
    /// Some when the error says for certain that the request did not go out.
    pub(super) fn of(error: &reqwest::Error) -> Option<Self> {
        if error.is_builder() {
            return Some(Self::Other(innermost(error)));
        }
        if !error.is_connect() {
            return None;
        }
        Some(Self::of_connect(error))
    }

    fn of_connect(error: &reqwest::Error) -> Self {
        if chain(error).any(speaks_of_proxy) {
            return Self::Proxy(innermost(error));
        }
        if let Some(tls) = chain(error).find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
            return Self::Tls(tls_reason(tls));
        }
        // A name that TLS refuses could not have been found either.
        if error.is_dns() || chain(error).any(|cause| cause.is::<rustls::pki_types::InvalidDnsNameError>()) {
            return Self::Name;
        }
        if error.is_timeout() {
            return Self::TimedOut;
        }
        match chain(error).find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => Self::Refused,
            Some(io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkDown) => {
                Self::NoRoute
            }
            _ if innermost(error).as_str().starts_with("tls ") => Self::Tls(innermost(error)),
            _ => Self::Other(innermost(error)),
        }
    }
}

/// The error and its causes, outermost first. An `io::Error` hides the error that it wraps from `source()`.
fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = error;
    std::iter::successors(Some(first), |cause| cause_of(*cause))
}

fn cause_of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

/// What the innermost cause says. The outer ones repeat the URL or say "error sending request".
pub(super) fn innermost(error: &reqwest::Error) -> CleanText {
    let cause = chain(error).last().map(ToString::to_string).unwrap_or_default();
    CleanText::title(&cause, 120)
}

/// The types of the tunnel's errors are private; their texts are what there is to go by.
fn speaks_of_proxy(cause: &(dyn Error + 'static)) -> bool {
    let text = cause.to_string();
    text.starts_with("tunnel error") || text.starts_with("SOCKS error") || text.contains("socks proxy")
}

/// Why a certificate or a handshake was not accepted, as a phrase.
pub(super) fn tls_reason(error: &rustls::Error) -> CleanText {
    use rustls::AlertDescription as Alert;
    use rustls::CertificateError as Bad;
    let reason = match error {
        rustls::Error::InvalidCertificate(bad) => match bad {
            Bad::Expired | Bad::ExpiredContext { .. } => "its certificate has expired",
            Bad::NotValidYet | Bad::NotValidYetContext { .. } => "its certificate is not valid yet",
            Bad::NotValidForName | Bad::NotValidForNameContext { .. } => "its certificate is for another host",
            Bad::UnknownIssuer => "its certificate comes from an issuer that this computer does not trust",
            Bad::Revoked => "its certificate was revoked",
            Bad::BadEncoding => "its certificate can't be read",
            Bad::BadSignature => "its certificate was not signed by the issuer that it names",
            Bad::InvalidPurpose | Bad::InvalidPurposeContext { .. } => "its certificate is not for servers",
            Bad::UnhandledCriticalExtension => "its certificate has a critical extension that docdeck doesn't know",
            Bad::UnknownRevocationStatus | Bad::ExpiredRevocationList | Bad::ExpiredRevocationListContext { .. } => {
                "it is not known whether its certificate was revoked"
            }
            other => return other_reason(&format!("{other:?}")),
        },
        rustls::Error::InvalidMessage(_) => "what answers there does not speak TLS",
        rustls::Error::NoCertificatesPresented => "it presents no certificate",
        rustls::Error::PeerIncompatible(_) => {
            "it offers no version or cipher of TLS that docdeck accepts (1.2 and 1.3)"
        }
        rustls::Error::PeerMisbehaved(_) => "it breaks the rules of TLS",
        rustls::Error::AlertReceived(Alert::CertificateRequired | Alert::UnknownCA | Alert::BadCertificate) => {
            "it wants a certificate of the client, which docdeck has not"
        }
        rustls::Error::AlertReceived(Alert::HandshakeFailure | Alert::ProtocolVersion) => {
            "it accepts no version or cipher of TLS that docdeck offers (1.2 and 1.3)"
        }
        rustls::Error::AlertReceived(Alert::UnrecognisedName) => "it doesn't serve this host name",
        _ => return CleanText::title(&error.to_string(), 120),
    };
    CleanText::line(reason)
}

/// Errors of the certificate library have names only.
fn other_reason(name: &str) -> CleanText {
    const KNOWN: [(&str, &str); 9] = [
        (
            "CaUsedAsEndEntity",
            "its certificate is that of an authority, as many self-signed ones are; it needs one with CA:FALSE",
        ),
        ("EndEntityUsedAsCa", "the issuer of its certificate is no authority"),
        ("UnsupportedCertVersion", "its certificate is of an old version; it needs X.509 version 3"),
        (
            "UnsupportedSignatureAlgorithm",
            "its certificate is signed in a way that docdeck doesn't accept (such as SHA-1)",
        ),
        ("UnsupportedCrlSignatureAlgorithm", "its list of revoked certificates is signed in an unknown way"),
        ("NameConstraintViolation", "the issuer of its certificate may not issue for this host name"),
        ("PathLenConstraintViolated", "its chain of certificates is longer than an authority in it allows"),
        ("MaximumPathDepthExceeded", "its chain of certificates is too long"),
        ("TrailingData", "its certificate can't be read"),
    ];
    match KNOWN.iter().find(|(known, _)| name.contains(known)) {
        Some((_, reason)) => CleanText::line(reason),
        None => CleanText::title(&format!("its certificate is not accepted: {name}"), 120),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{CertificateError, OtherError};

    #[test]
    fn a_certificate_of_an_authority_in_place_of_a_servers_is_told_in_words() {
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

    struct KnowsNobody;

    impl Resolve for KnowsNobody {
        fn resolve(&self, _name: Name) -> Resolving {
            Box::pin(async { Err("no such host".into()) })
        }
    }

    #[tokio::test]
    async fn an_unknown_name_is_told_from_other_failures_to_connect() {
        let builder = reqwest::Client::builder().no_proxy().tls_certs_only([]).dns_resolver(KnowsNobody);
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = builder.build().expect("a client");
        let error = client.get("http://docs.invalid").send().await.expect_err("no name");
        assert_eq!(ConnectError::of(&error), Some(ConnectError::Name));
    }
}
