//! Tests of the request that each operation sends, and of successful responses.

use super::*;
use docdeck::model::remote_job::Status;
use docdeck::model::views::Count;
use std::io::Write;

const JOB: &str = r#"{"id":"job_1","status":"active"}"#;

#[tokio::test]
async fn a_create_sends_the_prompt_once_with_the_key() {
    let (response, request) = create(ServerBehavior::json(201, JOB)).await;
    assert_eq!(request.line(), "POST /v2/agent/proj/job HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Bearer mint_5ecret"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("user-agent"), Some(concat!("docdeck/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(request.body, br#"{"prompt":"Fix the links"}"#);
    assert_eq!(response.status, Some(201));
    assert_eq!(response.result.expect("a job").state.status, Some(Status::Active));
}

#[tokio::test]
async fn ids_and_projects_are_escaped_to_one_path_segment_each() {
    let job = r#"{"id":"a/../b?c d%2Fé"}"#;
    let server = Server::start(ServerBehavior::json(200, job)).await;
    let base_url = format!("{}/docs/", server.base_url());
    let scope = Scope { base_url, project: "my proj/x".to_owned(), organization: None };
    let client = Client::new(scope, ApiKey::new(KEY).expect("a key"), ClientOptions::default()).expect("a client");
    let id = JobId::new("a/../b?c d%2Fé").expect("an id");
    assert_eq!(client.get_job(&id).await.result.expect("a job").id, id);
    client.send_follow_up(&id, "x").await.result.expect("a job");
    let lines: Vec<_> = server.requests().iter().map(|request| request.line().to_owned()).collect();
    let path = "/docs/v2/agent/my%20proj%2Fx/job/a%2F..%2Fb%3Fc%20d%252F%C3%A9";
    assert_eq!(lines, [format!("GET {path} HTTP/1.1"), format!("POST {path}/message HTTP/1.1")]);
}

#[tokio::test]
async fn an_id_that_is_no_valid_path_segment_is_not_sent() {
    let server = Server::start(ServerBehavior::json(200, JOB)).await;
    let dots = JobId::new("..").expect("an id");
    let error = error(client(&server.base_url()).get_job(&dots).await);
    assert_eq!(error.request_effect(), docdeck::api::RequestEffect::NotReached);
    assert_eq!(server.connection_count(), 0);
}

#[tokio::test]
async fn views_are_requested_with_both_dates_and_decoded_tolerantly() {
    let body = r#"{"totals":{"human":2.0,"ai":1,"total":3},"views":[{"path":"/a","human":2,"ai":1,"total":3}],"hasMore":false}"#;
    let server = Server::start(ServerBehavior::json(200, body)).await;
    let page = client(&server.base_url()).get_views(&week()).await.result.expect("views");
    let line = "GET /v1/analytics/proj/views?dateFrom=2026-11-14&dateTo=2026-11-21&limit=50&offset=0 HTTP/1.1";
    let request = server.only_request();
    assert_eq!((request.line(), request.header("authorization")), (line, Some("Bearer mint_5ecret")));
    assert_eq!(page.totals.human, Count::Known(2));
    assert_eq!((page.rows.len(), page.has_more), (1, Some(false)));
}

#[tokio::test]
async fn a_prompt_of_megabytes_is_sent_completely() {
    let prompt = "línea \"quoted\"\n".repeat(250_000);
    let server = Server::start(ServerBehavior::json(201, JOB)).await;
    let response = client(&server.base_url()).create_job(&prompt).await;
    assert!(response.result.is_ok());
    let sent: serde_json::Value = serde_json::from_slice(&server.only_request().body).expect("JSON");
    assert!(sent["prompt"] == prompt, "the prompt was changed");
}

#[tokio::test]
async fn get_requests_share_a_connection_and_every_prompt_opens_a_new_one() {
    let server = Server::start(ServerBehavior::json(200, JOB)).await;
    let client = client(&server.base_url());
    for _ in 0..3 {
        client.get_job(&id()).await.result.expect("a job");
    }
    assert_eq!((server.requests().len(), server.connection_count()), (3, 1));
    for _ in 0..2 {
        client.create_job("x").await.result.expect("a job");
    }
    assert_eq!((server.requests().len(), server.connection_count()), (5, 3));
}

#[tokio::test]
async fn a_new_client_opens_no_connection() {
    let server = Server::start(ServerBehavior::json(200, JOB)).await;
    let client = client(&server.base_url());
    assert!(!format!("{client:?}").contains(KEY));
    assert_eq!(server.connection_count(), 0);
}

#[tokio::test]
async fn successful_and_failed_responses_contain_the_time_of_the_service() {
    let date = "date: Fri, 20 Nov 2026 12:00:00 GMT\r\n";
    let service_time = "2026-11-20T12:00:00Z".parse().ok();
    assert_eq!(get(ServerBehavior::http(200, date, JOB.as_bytes())).await.date, service_time);
    assert_eq!(get(ServerBehavior::http(500, date, b"")).await.date, service_time);
    assert_eq!(get(ServerBehavior::http(200, "date: today\r\n", JOB.as_bytes())).await.date, None);
}

#[tokio::test]
async fn a_compressed_response_is_read() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(JOB.as_bytes()).expect("written");
    let reply = ServerBehavior::http(200, "content-encoding: gzip\r\n", &gzip.finish().expect("finished"));
    assert_eq!(get(reply).await.result.expect("a job").id, id());
}

#[tokio::test]
async fn a_job_with_any_2xx_status_is_accepted() {
    for status in [200, 201, 202, 203, 299] {
        assert!(create(ServerBehavior::json(status, JOB)).await.0.result.is_ok(), "{status}");
    }
}

#[test]
fn plain_http_to_another_computer_is_refused_before_anything_is_sent() {
    let scope = Scope { base_url: "http://192.0.2.1".to_owned(), project: "p".to_owned(), organization: None };
    let refused = Client::new(scope, ApiKey::new(KEY).expect("a key"), ClientOptions::default());
    let sentence = refused.expect_err("refused").message;
    assert!(sentence.as_str().contains("192.0.2.1") && sentence.as_str().contains("Use https"), "{sentence}");
}
