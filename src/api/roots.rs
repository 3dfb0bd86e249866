//! Authorities that the user trusts beside those of the system: a company's own, whose proxy or service no other computer
//! knows. Read from a file of certificates in PEM form.

use super::connect_error::tls_reason;
use crate::model::redaction::redacted_path;
use crate::model::text::CleanText;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What is read of a file: the largest bundles have less than a quarter of it.
const MAX_BYTES: u64 = 4 << 20;

/// Why a file of certificates can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RootsError {
    #[error(
        "The file of certificates {} can't be read: {why}. Mend ca_file in the profile, or take it out to trust the system's certificates alone.",
        path.display()
    )]
    Unreadable { path: PathBuf, why: CleanText },
    #[error(
        "The file of certificates {} holds none: it has to be in PEM form, with -----BEGIN CERTIFICATE----- in it (openssl x509 -inform der -outform pem makes that of another form).",
        path.display()
    )]
    None { path: PathBuf },
    #[error("Certificate {number} in {} can't be used: {why}. Take it out, or get the file anew.", path.display())]
    Bad { path: PathBuf, number: usize, why: CleanText },
}

/// Certificates of authorities, trusted beside those of the system.
#[derive(Debug, Clone)]
pub struct ExtraRoots {
    certificates: Vec<CertificateDer<'static>>,
}

impl ExtraRoots {
    /// Reads a file of certificates in PEM form.
    ///
    /// # Errors
    /// It can't be read, has no certificate, or one that is none of an authority.
    pub fn read(path: &Path) -> Result<Self, RootsError> {
        let bytes = read(path).map_err(|error| {
            let text = error.to_string();
            let why = CleanText::line(&text.split(" (os error").next().unwrap_or_default().to_lowercase());
            RootsError::Unreadable { path: redacted_path(path), why }
        })?;
        let mut certificates = Vec::new();
        let mut store = RootCertStore::empty();
        for (number, found) in (1..).zip(CertificateDer::pem_slice_iter(&bytes)) {
            let bad =
                |why: &str| RootsError::Bad { path: redacted_path(path), number, why: CleanText::title(why, 120) };
            let certificate = found.map_err(|error| bad(&error.to_string()))?;
            store.add(certificate.clone()).map_err(|error| bad(tls_reason(&error).as_str()))?;
            certificates.push(certificate);
        }
        match certificates.is_empty() {
            true => Err(RootsError::None { path: redacted_path(path) }),
            false => Ok(Self { certificates }),
        }
    }

    /// How many certificates there are.
    pub fn count(&self) -> usize {
        self.certificates.len()
    }

    /// As the HTTP client below takes them.
    pub(super) fn certificates(&self) -> reqwest::Result<Vec<reqwest::Certificate>> {
        self.certificates.iter().map(|certificate| reqwest::Certificate::from_der(certificate)).collect()
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
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
    fn every_certificate_of_a_bundle_is_taken() {
        assert_eq!(read_text(AUTHORITY).map(|roots| roots.count()), Ok(1));
        let bundle = format!("# ours\n{AUTHORITY}\n{AUTHORITY}");
        assert_eq!(read_text(&bundle).map(|roots| roots.count()), Ok(2));
    }

    #[test]
    fn a_file_that_is_not_there_or_holds_no_certificate_is_said_with_what_to_do() {
        let missing = ExtraRoots::read(Path::new("/nonexistent/ca.pem")).expect_err("not there").to_string();
        assert!(
            missing.starts_with("The file of certificates /nonexistent/ca.pem can't be read: no such file"),
            "{missing}"
        );
        assert!(missing.contains("ca_file"), "{missing}");
        for none in ["", "mint_secret", include_str!("../../tests/client/leaf.key")] {
            let said = read_text(none).expect_err("none").to_string();
            assert!(said.contains("holds none") && said.contains("PEM"), "{said}");
            assert!(!said.contains("mint_secret"), "{said}");
        }
    }

    #[test]
    fn a_certificate_that_was_cut_is_pointed_at() {
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let said = read_text(&format!("{AUTHORITY}{broken}")).expect_err("broken").to_string();
        assert!(said.starts_with("Certificate 2 in "), "{said}");
    }
}
