//! The server side of TLS on 127.0.0.1, with a certificate that is signed by a test authority (`ca.pem`).

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::net::TcpStream;
use std::sync::Arc;

const CERTIFICATE: &[u8] = include_bytes!("../client/leaf.pem");
const PRIVATE_KEY: &[u8] = include_bytes!("../client/leaf.key");

/// Returns a TLS session. The handshake is part of the first read or write, which fails if the handshake fails.
pub(crate) fn session(stream: TcpStream) -> rustls::StreamOwned<rustls::ServerConnection, TcpStream> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_slice(PRIVATE_KEY).expect("a key");
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a pair");
    rustls::StreamOwned::new(rustls::ServerConnection::new(Arc::new(config)).expect("a session"), stream)
}
