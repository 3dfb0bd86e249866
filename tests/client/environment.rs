//! Tests of settings in environment variables: proxies and root certificates. Each test starts itself again in a new
//! process, because all tests in a process share one environment.

use super::support::server::{bind_refusing_port, http_response};
use super::*;
use docdeck::api::{ConnectError, ExtraRoots, RequestEffect};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

/// Variable with the base URL. It is set only in the process that a test starts.
const BASE_URL_VARIABLE: &str = "DOCDECK_TEST_BASE_URL";
/// Certificate of the test authority, which signed the certificate of the servers in `tls`.
const CA_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/ca.pem");
/// A URL whose host name is rejected without a DNS lookup, because a part of it has more than 63 characters.
const BAD_HOST_URL: &str = "https://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid";

/// Returns the base URL in a process that [`rerun`] has started, and `None` in other processes.
fn base_url_of_rerun() -> Option<String> {
    std::env::var(BASE_URL_VARIABLE).ok()
}

/// Runs one test of this file in a new process with these variables. Other proxy variables are not set there, and the
/// test authority is the system's root certificate unless `variables` contains `SSL_CERT_FILE`.
async fn rerun(test: &str, base_url: &str, variables: &[(&str, &str)]) {
    let mut command = tokio::process::Command::new(std::env::current_exe().expect("this program"));
    command.args([&format!("environment::{test}"), "--exact", "--nocapture"]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
        command.env_remove(name).env_remove(name.to_ascii_lowercase());
    }
    command.env("SSL_CERT_FILE", CA_FILE).env(BASE_URL_VARIABLE, base_url).envs(variables.iter().copied());
    let output = command.kill_on_drop(true).output().await.expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

async fn create_job_error(base_url: &str) -> ApiError {
    error(client(base_url).create_job("x").await)
}

#[tokio::test]
async fn this_computer_is_never_reached_through_a_proxy() {
    if let Some(base_url) = base_url_of_rerun() {
        let job = client(&base_url).get_job(&id()).await.result.expect("a job");
        assert_eq!(job.id, id());
        return;
    }
    let proxy = Server::start(ServerBehavior::json(502, "")).await;
    let server = Server::start(ServerBehavior::json(200, r#"{"id":"job_1"}"#)).await;
    let url = proxy.base_url();
    let proxies = [("HTTP_PROXY", url.as_str()), ("http_proxy", &url), ("HTTPS_PROXY", &url), ("ALL_PROXY", &url)];
    for base_url in [server.base_url(), format!("http://localhost:{}", server.port())] {
        rerun("this_computer_is_never_reached_through_a_proxy", &base_url, &proxies).await;
    }
    assert_eq!((proxy.connection_count(), server.requests().len()), (0, 2));
}

#[tokio::test]
async fn other_computers_are_reached_through_the_proxy_which_never_sees_the_key() {
    if let Some(base_url) = base_url_of_rerun() {
        let error = create_job_error(&base_url).await;
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::Proxy(_), .. }), "{error:?}");
        assert_eq!(error.request_effect(), RequestEffect::NotReached);
        assert!(!format!("{error} {error:?}").contains("pr0xypw"), "{error}");
        return;
    }
    let proxy = Server::start(ServerBehavior::response("HTTP/1.1 403 No\r\n\r\n", ConnectionEnd::Close)).await;
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
    if let Some(base_url) = base_url_of_rerun() {
        let error = create_job_error(&base_url).await;
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::Proxy(_), .. }), "{error:?}");
        assert!(error.to_string().contains("HTTPS_PROXY"), "{error}");
        return;
    }
    let (_held, port) = bind_refusing_port();
    for scheme in ["http", "socks5h"] {
        let proxy = format!("{scheme}://127.0.0.1:{port}");
        rerun("an_unreachable_proxy_is_named_as_the_cause", "https://docs.invalid", &[("HTTPS_PROXY", &proxy)]).await;
    }
}

#[tokio::test]
async fn a_host_in_no_proxy_is_never_reached_through_the_proxy() {
    if let Some(base_url) = base_url_of_rerun() {
        let error = create_job_error(&base_url).await;
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::UnknownHost, .. }), "{error:?}");
        assert_eq!(error.request_effect(), RequestEffect::NotReached);
        return;
    }
    let proxy = Server::start(ServerBehavior::json(502, "")).await;
    let variables = [("HTTPS_PROXY", proxy.base_url()), ("NO_PROXY", "invalid".to_owned())];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    rerun("a_host_in_no_proxy_is_never_reached_through_the_proxy", BAD_HOST_URL, &variables).await;
    assert_eq!(proxy.connection_count(), 0);
}

#[tokio::test]
async fn without_root_certificates_only_this_computer_can_be_reached() {
    if let Some(base_url) = base_url_of_rerun() {
        let error = create_job_error("https://docs.invalid").await;
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::NoCertificates(_), .. }), "{error:?}");
        assert!(client(&base_url).get_job(&id()).await.result.is_ok());
        return;
    }
    let server = Server::start(ServerBehavior::json(200, r#"{"id":"job_1"}"#)).await;
    let test = "without_root_certificates_only_this_computer_can_be_reached";
    rerun(test, &server.base_url(), &[("SSL_CERT_FILE", "/nonexistent/ca.pem")]).await;
}

#[tokio::test]
async fn a_server_without_tls_is_recognised() {
    if let Some(base_url) = base_url_of_rerun() {
        let error = create_job_error(&base_url).await;
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::Tls(_), .. }), "{error:?}");
        assert!(error.to_string().contains("does not speak TLS"), "{error}");
        return;
    }
    let base_url = serve_plain_text();
    rerun("a_server_without_tls_is_recognised", &base_url, &[]).await;
}

#[tokio::test]
async fn a_connection_timeout_means_the_service_was_not_reached() {
    if let Some(base_url) = base_url_of_rerun() {
        let options = ClientOptions { connect_timeout: Duration::from_millis(100), ..ClientOptions::default() };
        let error = error(client_for(&base_url, options).create_job("x").await);
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::TimedOut, .. }), "{error:?}");
        assert_eq!(error.request_effect(), RequestEffect::NotReached);
        return;
    }
    // The system accepts the connection, but nothing responds to the TLS handshake.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base_url = format!("https://127.0.0.1:{}", silent.local_addr().expect("an address").port());
    rerun("a_connection_timeout_means_the_service_was_not_reached", &base_url, &[]).await;
}

#[tokio::test]
async fn the_key_is_sent_to_a_server_with_a_trusted_certificate() {
    if let Some(base_url) = base_url_of_rerun() {
        assert_eq!(client(&base_url).get_job(&id()).await.result.expect("a job").id, id());
        return;
    }
    rerun("the_key_is_sent_to_a_server_with_a_trusted_certificate", &serve_tls(), &[]).await;
}

#[tokio::test]
async fn a_custom_authority_is_trusted_in_addition_to_the_system_authorities() {
    if let Some(base_url) = base_url_of_rerun() {
        let roots = Some(ExtraRoots::read(Path::new(CA_FILE)).expect("a certificate"));
        let client = client_for(&base_url, ClientOptions { roots, ..ClientOptions::default() });
        assert_eq!(client.get_job(&id()).await.result.expect("a job").id, id());
        return;
    }
    let test = "a_custom_authority_is_trusted_in_addition_to_the_system_authorities";
    // The system has no root certificates, or only a different one.
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/leaf.pem");
    for system in ["/nonexistent/ca.pem", other] {
        rerun(test, &serve_tls(), &[("SSL_CERT_FILE", system)]).await;
    }
}

#[tokio::test]
async fn a_custom_authority_does_not_replace_the_system_authorities() {
    if let Some(base_url) = base_url_of_rerun() {
        let other = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/leaf.pem");
        let roots = Some(ExtraRoots::read(Path::new(other)).expect("a certificate"));
        let client = client_for(&base_url, ClientOptions { roots, ..ClientOptions::default() });
        assert_eq!(client.get_job(&id()).await.result.expect("a job").id, id());
        return;
    }
    rerun("a_custom_authority_does_not_replace_the_system_authorities", &serve_tls(), &[]).await;
}

#[tokio::test]
async fn every_usual_variable_can_set_the_proxy() {
    if let Some(base_url) = base_url_of_rerun() {
        let error = create_job_error(&base_url).await;
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::Proxy(_), .. }), "{error:?}");
        return;
    }
    for variable in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        let proxy = Server::start(ServerBehavior::response("HTTP/1.1 403 No\r\n\r\n", ConnectionEnd::Close)).await;
        let variables = [(variable, proxy.base_url())];
        let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
        rerun("every_usual_variable_can_set_the_proxy", "https://docs.invalid", &variables).await;
        assert_eq!(proxy.only_request().line(), "CONNECT docs.invalid:443 HTTP/1.1", "{variable}");
    }
}

#[tokio::test]
async fn an_untrusted_certificate_ends_the_connection_before_the_key_is_sent() {
    if let Some(base_url) = base_url_of_rerun() {
        let error = create_job_error(&base_url).await;
        assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::Tls(_), .. }), "{error:?}");
        assert!(error.to_string().contains("this computer does not trust the issuer"), "{error}");
        assert_eq!(error.request_effect(), RequestEffect::NotReached);
        return;
    }
    // The only root certificate is that of the server itself, which is not the certificate of an authority.
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/leaf.pem");
    let test = "an_untrusted_certificate_ends_the_connection_before_the_key_is_sent";
    rerun(test, &serve_tls(), &[("SSL_CERT_FILE", other)]).await;
}

/// Starts a server that responds on its first connection with plain HTTP instead of TLS; returns its URL.
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

/// Starts a TLS server for one request, to which it responds with a job if the API key is correct; returns its URL.
fn serve_tls() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let mut stream = crate::support::tls::session(listener.accept().expect("a connection").0);
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
        let _ = stream.write_all(&http_response(status, "", br#"{"id":"job_1"}"#));
    });
    format!("https://127.0.0.1:{port}")
}
