//! Tests that depend on environment variables: proxies and root certificates. Each test runs itself again in its own
//! process, because all tests of a process share its environment.

use super::server::refusing;
use super::*;
use docdeck::api::{ConnectError, ExtraRoots, Reached};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

/// Set in the process that a test starts; the base URL to use.
const BASE_URL: &str = "DOCDECK_TEST_BASE_URL";
/// A certificate authority for tests; `tls` has a server certificate of it for 127.0.0.1 and localhost.
const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/ca.pem");
/// A name that is rejected without a lookup: a label has at most 63 characters.
const NO_NAME: &str = "https://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid";

/// The base URL, in the process that was started for it.
fn given() -> Option<String> {
    std::env::var(BASE_URL).ok()
}

/// Runs one test of this file again with only these of the relevant variables.
async fn rerun(test: &str, base_url: &str, variables: &[(&str, &str)]) {
    let mut command = tokio::process::Command::new(std::env::current_exe().expect("this program"));
    command.args([&format!("environment::{test}"), "--exact", "--nocapture"]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
        command.env_remove(name).env_remove(name.to_ascii_lowercase());
    }
    command.env("SSL_CERT_FILE", AUTHORITY).env(BASE_URL, base_url).envs(variables.iter().copied());
    let output = command.kill_on_drop(true).output().await.expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

async fn create_at(base_url: &str) -> ApiError {
    error(client(base_url).create_job("x").await)
}

#[tokio::test]
async fn this_computer_is_never_reached_through_a_proxy() {
    if let Some(base_url) = given() {
        let job = client(&base_url).get_job(&id()).await.result.expect("a job");
        assert_eq!(job.id, id());
        return;
    }
    let proxy = Server::start(Reply::json(502, "")).await;
    let server = Server::start(Reply::json(200, r#"{"id":"job_1"}"#)).await;
    let url = proxy.base_url();
    let proxies = [("HTTP_PROXY", url.as_str()), ("http_proxy", &url), ("HTTPS_PROXY", &url), ("ALL_PROXY", &url)];
    for base_url in [server.base_url(), format!("http://localhost:{}", server.port())] {
        rerun("this_computer_is_never_reached_through_a_proxy", &base_url, &proxies).await;
    }
    assert_eq!((proxy.connections(), server.requests().len()), (0, 2));
}

#[tokio::test]
async fn other_computers_are_reached_through_the_proxy_which_never_sees_the_key() {
    if let Some(base_url) = given() {
        let error = create_at(&base_url).await;
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::Proxy(_), .. }), "{error:?}");
        assert_eq!(error.reached(), Reached::No);
        assert!(!format!("{error} {error:?}").contains("pr0xypw"), "{error}");
        return;
    }
    let proxy = Server::start(Reply::Last(b"HTTP/1.1 403 No\r\n\r\n".to_vec())).await;
    let with_password = format!("http://user:pr0xypw@127.0.0.1:{}", proxy.port());
    let test = "other_computers_are_reached_through_the_proxy_which_never_sees_the_key";
    rerun(test, "https://docs.invalid", &[("HTTPS_PROXY", &with_password)]).await;
    let request = proxy.only_request();
    assert_eq!(request.line(), "CONNECT docs.invalid:443 HTTP/1.1");
    assert!(!request.head.contains(KEY), "{}", request.head);
    assert!(request.header("proxy-authorization").is_some());
}

#[tokio::test]
async fn an_unreachable_proxy_is_named_as_the_cause() {
    if let Some(base_url) = given() {
        let error = create_at(&base_url).await;
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::Proxy(_), .. }), "{error:?}");
        assert!(error.to_string().contains("HTTPS_PROXY"), "{error}");
        return;
    }
    let (_held, port) = refusing();
    for scheme in ["http", "socks5h"] {
        let proxy = format!("{scheme}://127.0.0.1:{port}");
        rerun("an_unreachable_proxy_is_named_as_the_cause", "https://docs.invalid", &[("HTTPS_PROXY", &proxy)]).await;
    }
}

#[tokio::test]
async fn no_proxy_is_honoured_and_an_unknown_name_is_named_as_the_cause() {
    if let Some(base_url) = given() {
        let error = create_at(&base_url).await;
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::Name, .. }), "{error:?}");
        assert_eq!(error.reached(), Reached::No);
        return;
    }
    let proxy = Server::start(Reply::json(502, "")).await;
    let variables = [("HTTPS_PROXY", proxy.base_url()), ("NO_PROXY", "invalid".to_owned())];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    rerun("no_proxy_is_honoured_and_an_unknown_name_is_named_as_the_cause", NO_NAME, &variables).await;
    assert_eq!(proxy.connections(), 0);
}

#[tokio::test]
async fn without_root_certificates_only_this_computer_can_be_reached() {
    if let Some(base_url) = given() {
        let error = create_at("https://docs.invalid").await;
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::NoCertificates(_), .. }), "{error:?}");
        assert!(client(&base_url).get_job(&id()).await.result.is_ok());
        return;
    }
    let server = Server::start(Reply::json(200, r#"{"id":"job_1"}"#)).await;
    let test = "without_root_certificates_only_this_computer_can_be_reached";
    rerun(test, &server.base_url(), &[("SSL_CERT_FILE", "/nonexistent/ca.pem")]).await;
}

#[tokio::test]
async fn a_server_without_tls_is_recognised() {
    if let Some(base_url) = given() {
        let error = create_at(&base_url).await;
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::Tls(_), .. }), "{error:?}");
        assert!(error.to_string().contains("does not speak TLS"), "{error}");
        return;
    }
    let base_url = serve_plain_text();
    rerun("a_server_without_tls_is_recognised", &base_url, &[]).await;
}

#[tokio::test]
async fn a_connection_timeout_means_the_service_was_not_reached() {
    if let Some(base_url) = given() {
        let options = ClientOptions { connect_timeout: Duration::from_millis(100), ..ClientOptions::default() };
        let error = error(client_for(&base_url, options).create_job("x").await);
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::TimedOut, .. }), "{error:?}");
        assert_eq!(error.reached(), Reached::No);
        return;
    }
    // It accepts the connection and never answers the TLS handshake.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base_url = format!("https://127.0.0.1:{}", silent.local_addr().expect("an address").port());
    rerun("a_connection_timeout_means_the_service_was_not_reached", &base_url, &[]).await;
}

#[tokio::test]
async fn the_key_is_sent_to_a_server_with_a_trusted_certificate() {
    if let Some(base_url) = given() {
        assert_eq!(client(&base_url).get_job(&id()).await.result.expect("a job").id, id());
        return;
    }
    rerun("the_key_is_sent_to_a_server_with_a_trusted_certificate", &serve_tls(), &[]).await;
}

#[tokio::test]
async fn a_custom_authority_is_trusted_in_addition_to_those_of_the_system() {
    if let Some(base_url) = given() {
        let roots = Some(ExtraRoots::read(Path::new(AUTHORITY)).expect("a certificate"));
        let client = client_for(&base_url, ClientOptions { roots, ..ClientOptions::default() });
        assert_eq!(client.get_job(&id()).await.result.expect("a job").id, id());
        return;
    }
    let test = "a_custom_authority_is_trusted_in_addition_to_those_of_the_system";
    // The system has no certificates, or only another one.
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/leaf.pem");
    for system in ["/nonexistent/ca.pem", other] {
        rerun(test, &serve_tls(), &[("SSL_CERT_FILE", system)]).await;
    }
}

#[tokio::test]
async fn a_custom_authority_does_not_replace_those_of_the_system() {
    if let Some(base_url) = given() {
        let other = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/leaf.pem");
        let roots = Some(ExtraRoots::read(Path::new(other)).expect("a certificate"));
        let client = client_for(&base_url, ClientOptions { roots, ..ClientOptions::default() });
        assert_eq!(client.get_job(&id()).await.result.expect("a job").id, id());
        return;
    }
    rerun("a_custom_authority_does_not_replace_those_of_the_system", &serve_tls(), &[]).await;
}

#[tokio::test]
async fn every_usual_variable_names_the_proxy() {
    if let Some(base_url) = given() {
        let error = create_at(&base_url).await;
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::Proxy(_), .. }), "{error:?}");
        return;
    }
    for variable in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        let proxy = Server::start(Reply::Last(b"HTTP/1.1 403 No\r\n\r\n".to_vec())).await;
        let variables = [(variable, proxy.base_url())];
        let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
        rerun("every_usual_variable_names_the_proxy", "https://docs.invalid", &variables).await;
        assert_eq!(proxy.only_request().line(), "CONNECT docs.invalid:443 HTTP/1.1", "{variable}");
    }
}

#[tokio::test]
async fn an_untrusted_certificate_ends_the_connection_before_the_key_is_sent() {
    if let Some(base_url) = given() {
        let error = create_at(&base_url).await;
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::Tls(_), .. }), "{error:?}");
        assert!(error.to_string().contains("issuer that this computer does not trust"), "{error}");
        assert_eq!(error.reached(), Reached::No);
        return;
    }
    // The server's own certificate as the only root: it is not an authority.
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/leaf.pem");
    let test = "an_untrusted_certificate_ends_the_connection_before_the_key_is_sent";
    rerun(test, &serve_tls(), &[("SSL_CERT_FILE", other)]).await;
}

/// Answers every connection with a line that is not TLS.
fn serve_plain_text() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = stream.read(&mut [0; 4096]);
    });
    format!("https://127.0.0.1:{port}")
}

/// A TLS server for one request; it returns a job if the key is correct.
fn serve_tls() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let mut stream = tls::session(listener.accept().expect("a connection").0);
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            // A client that does not trust the certificate disconnects here.
            if stream.read_exact(&mut byte).is_err() {
                return;
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).expect("text");
        let status = if head.contains(&format!("Bearer {KEY}")) { 200 } else { 401 };
        let _ = stream.write_all(&server::http(status, "", br#"{"id":"job_1"}"#));
    });
    format!("https://127.0.0.1:{port}")
}
