//! Certificate authorities that the user trusts in addition to those of the system, such as a company's own authority.
//! They are read from a PEM file.

use super::connect_error::tls_reason;
use crate::model::redaction::redacted_path;
use crate::model::text::CleanText;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The maximum number of bytes that are read from a certificate file. Even the largest bundles have less than a quarter
/// of this size.
const MAX_CERTIFICATE_FILE_BYTES: u64 = 4 << 20;

/// Why a certificate file can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RootsError {
    #[error(
        "The certificate file {} can't be read: {why}. Correct ca_file in the profile, or remove it to trust only the system's certificates.",
        path.display()
    )]
    Unreadable { path: PathBuf, why: CleanText },
    #[error(
        "The certificate file {} has no certificate in PEM form (-----BEGIN CERTIFICATE-----). Convert another form with openssl x509 -inform der -outform pem.",
        path.display()
    )]
    NoCertificates { path: PathBuf },
    #[error("Certificate {number} in {} can't be used: {why}. Remove it, or download the file again.", path.display())]
    BadCertificate { path: PathBuf, number: usize, why: CleanText },
}

/// Certificates of authorities that are trusted in addition to those of the system.
#[derive(Debug, Clone)]
pub struct ExtraRoots {
    certificates: Vec<CertificateDer<'static>>,
}

impl ExtraRoots {
    /// Reads a PEM file of certificates.
    ///
    /// # Errors
    /// Fails if the file can't be read, has no certificate, or has a certificate that can't be used as an authority.
    pub fn read(path: &Path) -> Result<Self, RootsError> {
        let bytes = read_limited(path).map_err(|error| {
            let text = error.to_string();
            let why = CleanText::line(&text.split(" (os error").next().unwrap_or_default().to_lowercase());
            RootsError::Unreadable { path: redacted_path(path), why }
        })?;
        let mut certificates = Vec::new();
        let mut store = RootCertStore::empty();
        for (number, found) in (1..).zip(CertificateDer::pem_slice_iter(&bytes)) {
            let bad = |why: &str| RootsError::BadCertificate {
                path: redacted_path(path),
                number,
                why: CleanText::title(why, 120),
            };
            let certificate = found.map_err(|error| bad(&error.to_string()))?;
            store.add(certificate.clone()).map_err(|error| bad(tls_reason(&error).as_str()))?;
            certificates.push(certificate);
        }
        match certificates.is_empty() {
            true => Err(RootsError::NoCertificates { path: redacted_path(path) }),
            false => Ok(Self { certificates }),
        }
    }

    pub fn count(&self) -> usize {
        self.certificates.len()
    }

    /// Returns the certificates for rustls.
    pub fn to_der(&self) -> Vec<CertificateDer<'static>> {
        self.certificates.clone()
    }

    /// Returns the certificates in the type of the HTTP library.
    pub(super) fn certificates(&self) -> reqwest::Result<Vec<reqwest::Certificate>> {
        self.certificates.iter().map(|certificate| reqwest::Certificate::from_der(certificate)).collect()
    }
}

fn read_limited(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_CERTIFICATE_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<ExtraRoots, RootsError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ca.pem");
        std::fs::write(&path, text).expect("written");
        ExtraRoots::read(&path)
    }

    const AUTHORITY: &str = include_str!("../../tests/client/ca.pem");

    #[test]
    fn every_certificate_of_a_bundle_is_read() {
        assert_eq!(read_text(AUTHORITY).map(|roots| roots.count()), Ok(1));
        let bundle = format!("# ours\n{AUTHORITY}\n{AUTHORITY}");
        assert_eq!(read_text(&bundle).map(|roots| roots.count()), Ok(2));
    }

    #[test]
    fn the_error_for_a_missing_or_empty_file_explains_what_to_do() {
        let missing = ExtraRoots::read(Path::new("/nonexistent/ca.pem")).expect_err("not there").to_string();
        assert!(
            missing.starts_with("The certificate file /nonexistent/ca.pem can't be read: no such file"),
            "{missing}"
        );
        assert!(missing.contains("ca_file"), "{missing}");
        for none in ["", "mint_secret", include_str!("../../tests/client/leaf.key")] {
            let message = read_text(none).expect_err("none").to_string();
            assert!(message.contains("has no certificate") && message.contains("PEM"), "{message}");
            assert!(!message.contains("mint_secret"), "{message}");
        }
    }

    #[test]
    fn the_error_for_a_truncated_certificate_gives_its_number() {
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let message = read_text(&format!("{AUTHORITY}{broken}")).expect_err("broken").to_string();
        assert!(message.starts_with("Certificate 2 in "), "{message}");
    }
}
