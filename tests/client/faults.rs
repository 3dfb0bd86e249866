//! Tests of every way in which a request can fail: which error results, and whether the prompt may have arrived.

use super::support::server::{bind_refusing_port, http_response};
use super::*;
use docdeck::api::{ConnectError, RequestEffect, RetryAfterHeader, Unreadable};
use docdeck::model::Time;
use docdeck::model::failure::FailureKind;
use std::io::Write;

const JOB: &str = r#"{"id":"job_1","status":"active"}"#;

fn now() -> Time {
    "2026-11-20T12:00:00Z".parse().expect("a time")
}

#[tokio::test]
async fn a_refused_connection_never_reached_the_service() {
    let (_held, port) = bind_refusing_port();
    let response = check_error(client(&format!("http://127.0.0.1:{port}")).create_job("x").await);
    assert_eq!(response.status, None);
    let error = error(response);
    assert!(matches!(&error, ApiError::NotReached { cause: ConnectError::Refused, .. }), "{error:?}");
    assert_eq!((error.request_effect(), error.failure(now()).kind), (RequestEffect::NotReached, FailureKind::Offline));
    assert!(error.to_string().contains(&format!("127.0.0.1:{port}")), "{error}");
}

#[tokio::test]
async fn a_truncated_response_leaves_the_prompt_unconfirmed() {
    let half = http_response(201, "", JOB.as_bytes());
    let half = half[..half.len() - 5].to_vec();
    let chunk = b"HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n".to_vec();
    let close_after = |bytes: Vec<u8>| ServerBehavior::response(bytes, ConnectionEnd::Close);
    for reply in [
        close_after(Vec::new()),
        ServerBehavior::response("", ConnectionEnd::Reset),
        close_after(half),
        close_after(chunk),
    ] {
        let error = error(create(reply).await.0);
        assert!(matches!(&error, ApiError::Lost { .. }), "{error:?}");
        assert_eq!((error.request_effect(), error.failure(now()).kind), (RequestEffect::Unknown, FailureKind::Offline));
        assert!(error.to_string().contains("may have been started"), "{error}");
    }
}

#[tokio::test]
async fn a_timeout_leaves_the_prompt_unconfirmed() {
    let head = b"HTTP/1.1 201 Created\r\ncontent-length: 30\r\n\r\n{\"id\"".to_vec();
    for (reply, status) in [
        (ServerBehavior::response("", ConnectionEnd::Stall), None),
        (ServerBehavior::response(head, ConnectionEnd::Stall), Some(201)),
    ] {
        let server = Server::start(reply).await;
        let response = client_for(&server.base_url(), short_timeout()).create_job("x").await;
        server.only_request();
        assert_eq!(response.status, status);
        assert!(response.took >= Duration::from_millis(250), "{:?}", response.took);
        let error = error(response);
        assert!(matches!(&error, ApiError::TimedOut { .. }), "{error:?}");
        assert_eq!(
            (error.request_effect(), error.log_reason().as_str()),
            (RequestEffect::Unknown, "timed out after 250 ms")
        );
    }
}

#[tokio::test]
async fn an_error_keeps_its_meaning_if_its_body_is_truncated() {
    let cut = b"HTTP/1.1 400 Bad\r\ncontent-length: 99\r\n\r\nprompt is too long".to_vec();
    let error = error(create(ServerBehavior::response(cut, ConnectionEnd::Close)).await.0);
    assert!(
        matches!(&error, ApiError::BadRequest { service_text, .. } if service_text.as_str() == "prompt is too long"),
        "{error:?}"
    );
    assert_eq!(error.request_effect(), RequestEffect::Refused);
}

#[tokio::test]
async fn each_error_status_has_its_own_variant_kind_and_text() {
    type Check = fn(&ApiError) -> bool;
    let checks: [(u16, Check, RequestEffect, FailureKind); 11] = [
        (400, |e| matches!(e, ApiError::BadRequest { .. }), RequestEffect::Refused, FailureKind::Service),
        (401, |e| matches!(e, ApiError::Unauthorized { .. }), RequestEffect::Refused, FailureKind::KeyRefused),
        (403, |e| matches!(e, ApiError::Forbidden { .. }), RequestEffect::Refused, FailureKind::KeyRefused),
        (404, |e| matches!(e, ApiError::NotFound { .. }), RequestEffect::Refused, FailureKind::NotFound),
        (408, |e| matches!(e, ApiError::ServerTimeout { .. }), RequestEffect::Unknown, FailureKind::Offline),
        (409, |e| matches!(e, ApiError::Rejected { .. }), RequestEffect::Refused, FailureKind::Service),
        (413, |e| matches!(e, ApiError::Rejected { .. }), RequestEffect::Refused, FailureKind::Service),
        (422, |e| matches!(e, ApiError::Rejected { .. }), RequestEffect::Refused, FailureKind::Service),
        (499, |e| matches!(e, ApiError::ServerTimeout { .. }), RequestEffect::Unknown, FailureKind::Offline),
        (500, |e| matches!(e, ApiError::Failed { .. }), RequestEffect::Unknown, FailureKind::Offline),
        (503, |e| matches!(e, ApiError::Failed { .. }), RequestEffect::Unknown, FailureKind::Offline),
    ];
    for (status, has_variant, reached, kind) in checks {
        let body = r#"{"error":"Not like this","details":[{"message":"nor that"}]}"#;
        let response = create(ServerBehavior::json(status, body)).await.0;
        assert_eq!(response.status, Some(status));
        let error = error(response);
        assert!(has_variant(&error), "{status}: {error:?}");
        assert_eq!((error.request_effect(), error.failure(now()).kind), (reached, kind), "{status}");
        let sentence = error.to_string();
        assert!(sentence.contains(&format!("{status}: “Not like this: nor that”")), "{sentence}");
    }
}

#[tokio::test]
async fn retry_after_is_read_as_seconds_or_as_a_date_and_may_be_missing() {
    for (header, retry, pause) in [
        ("retry-after: 90\r\n", RetryAfterHeader::Seconds(90), 90),
        (
            "retry-after: Fri, 20 Nov 2026 12:05:00 GMT\r\n",
            RetryAfterHeader::At(now() + chrono::TimeDelta::minutes(5)),
            300,
        ),
        ("retry-after: -1\r\n", RetryAfterHeader::Missing, 60),
        ("", RetryAfterHeader::Missing, 60),
    ] {
        let error = error(follow_up(ServerBehavior::http(429, header, br#"{"error":"Rate limit exceeded"}"#)).await);
        assert!(matches!(&error, ApiError::Limited { retry: read, .. } if *read == retry), "{header}: {error:?}");
        assert_eq!(error.request_effect(), RequestEffect::Refused);
        let wait = error.wait(now()).expect("a limit");
        assert_eq!((wait.until - now()).num_seconds(), pause, "{header}");
        assert_eq!(wait.is_estimate, retry == RetryAfterHeader::Missing, "{header}");
        assert_eq!(error.failure(now()).kind, FailureKind::Limited(wait));
    }
}

#[tokio::test]
async fn an_html_page_of_a_proxy_is_shown_as_status_and_title() {
    let page = b"<html><head><title>502 Bad Gateway</title></head><body><hr>nginx</body></html>";
    let error = error(create(ServerBehavior::http(502, "content-type: text/html\r\n", page)).await.0);
    assert!(error.to_string().starts_with("The service failed (502: “502 Bad Gateway”)"), "{error}");
    assert!(!error.to_string().contains('<'), "{error}");
}

#[tokio::test]
async fn a_404_page_points_to_a_wrong_base_url() {
    let page = b"<!doctype html><title>Not here</title>";
    let error = error(create(ServerBehavior::http(404, "", page)).await.0);
    assert!(error.to_string().contains("base URL is probably wrong"), "{error}");
}

#[tokio::test]
async fn a_key_in_an_error_response_is_redacted() {
    let body = format!(r#"{{"error":"unknown key {KEY}"}}"#);
    let refused = error(create(ServerBehavior::json(401, &body)).await.0);
    assert!(refused.to_string().contains("unknown key ***"), "{refused}");
    let odd = error(get(ServerBehavior::json(200, &format!("key {KEY}"))).await);
    assert!(odd.to_string().contains("key ***"), "{odd}");
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    let elsewhere = Server::start(ServerBehavior::json(200, JOB)).await;
    let location = format!("location: http://user:pw@127.0.0.1:{}/login?next=x\r\n", elsewhere.port());
    for status in [301, 302, 307, 308] {
        let error = error(create(ServerBehavior::http(status, &location, b"")).await.0);
        let host = format!("127.0.0.1:{}", elsewhere.port());
        assert!(matches!(&error, ApiError::Redirected { host: Some(to), .. } if to.as_str() == host), "{error:?}");
        assert!(!error.to_string().contains("pw"), "{error}");
        assert_eq!(error.request_effect(), RequestEffect::Refused);
    }
    assert_eq!(elsewhere.connection_count(), 0);
}

#[tokio::test]
async fn a_success_status_without_a_readable_job_leaves_the_prompt_unconfirmed() {
    for (body, wanted) in [
        ("", Unreadable::Empty),
        ("<html><title>Sign in</title></html>", Unreadable::HtmlPage),
        ("{\"id\":", Unreadable::NotJson),
        ("null", Unreadable::NotJson),
        (r#"{"status":"active"}"#, Unreadable::NoId),
    ] {
        let error = error(create(ServerBehavior::json(200, body)).await.0);
        assert!(matches!(&error, ApiError::Unreadable { why, .. } if *why == wanted), "{body}: {error:?}");
        assert_eq!((error.request_effect(), error.failure(now()).kind), (RequestEffect::Unknown, FailureKind::Service));
    }
}

#[tokio::test]
async fn a_response_about_another_job_is_dropped() {
    let other = r#"{"id":"job_2","status":"failed"}"#;
    assert!(matches!(error(get(ServerBehavior::json(200, other)).await), ApiError::OtherJob { .. }));
    let error = error(follow_up(ServerBehavior::json(200, other)).await);
    assert_eq!(error.request_effect(), RequestEffect::Unknown);
}

#[tokio::test]
async fn bodies_are_limited_after_decompression() {
    let zeros = |mib: usize| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&vec![b' '; mib * 1024 * 1024]).expect("written");
        ServerBehavior::http(200, "content-encoding: gzip\r\n", &gzip.finish().expect("finished"))
    };
    assert!(matches!(error(get(zeros(5)).await), ApiError::TooLarge { limit_mib: 4, .. }));
    assert!(matches!(error(views(zeros(17)).await), ApiError::TooLarge { limit_mib: 16, .. }));
    let fits = error(views(zeros(5)).await);
    assert!(matches!(fits, ApiError::Unreadable { why: Unreadable::Empty, .. }), "{fits:?}");
}

#[tokio::test]
async fn a_response_of_exactly_the_limit_is_read() {
    let limit = 4 * 1024 * 1024;
    let padded = |length: usize| format!("{JOB}{}", " ".repeat(length - JOB.len()));
    assert!(get(ServerBehavior::json(200, &padded(limit))).await.result.is_ok());
    let error = error(
        create(ServerBehavior::response(http_response(200, "", padded(limit + 1).as_bytes()), ConnectionEnd::Close))
            .await
            .0,
    );
    assert!(matches!(&error, ApiError::TooLarge { .. }), "{error:?}");
    assert_eq!(error.request_effect(), RequestEffect::Unknown);
}

#[tokio::test]
async fn only_the_beginning_of_an_endless_error_page_is_read() {
    let mut endless = b"HTTP/1.1 500 Oh\r\n\r\n".to_vec();
    endless.extend(b"overloaded ".repeat(20_000));
    let server = Server::start(ServerBehavior::response(endless, ConnectionEnd::Stall)).await;
    let response = client(&server.base_url()).get_job(&id()).await;
    assert!(error(response).to_string().contains("overloaded overloaded"));
}

#[tokio::test]
async fn a_response_that_is_not_http_leaves_the_prompt_unconfirmed() {
    let error = error(create(ServerBehavior::response("SSH-2.0-OpenSSH_9.9\r\n", ConnectionEnd::Close)).await.0);
    assert_eq!(error.request_effect(), RequestEffect::Unknown);
}

#[tokio::test]
async fn the_error_of_a_lost_get_suggests_a_retry_and_mentions_no_prompt() {
    for sentence in [
        error(get(ServerBehavior::response("", ConnectionEnd::Reset)).await).to_string(),
        error(views(ServerBehavior::response("", ConnectionEnd::Reset)).await).to_string(),
    ] {
        assert!(sentence.contains("try again") && !sentence.contains("send"), "{sentence}");
    }
}
