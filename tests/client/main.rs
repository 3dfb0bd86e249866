//! Tests of the HTTP client against local servers that respond well, badly, late or not at all.

#![expect(clippy::expect_used, reason = "clippy excuses test functions only, not what they share")]

mod analytics;
mod documented;
mod environment;
mod exchanges;
mod faults;
mod gitlab;
mod hosts;
mod requests;

#[path = "../support/mod.rs"]
mod support;

use docdeck::api::{ApiError, ApiResponse, Client, ClientOptions};
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::period::DateRange;
use docdeck::model::remote_job::{JobId, RemoteJob};
use docdeck::model::views::{ViewsQuery, ViewsResponse};
use std::time::Duration;
use support::server::{ConnectionEnd, Request, Server, ServerBehavior};

const KEY: &str = "mint_5ecret";

fn client_for(base_url: &str, options: ClientOptions) -> Client {
    let scope = Scope { base_url: base_url.to_owned(), project: "proj".to_owned(), organization: None };
    let client = Client::new(scope, ApiKey::new(KEY).expect("a key"), options).expect("a client");
    assert!(!format!("{client:?} {client:#?}").contains(KEY));
    client
}

fn client(base_url: &str) -> Client {
    client_for(base_url, ClientOptions::default())
}

/// Returns options with timeouts of a quarter of a second.
fn short_timeout() -> ClientOptions {
    let wait = Duration::from_millis(250);
    ClientOptions { connect_timeout: wait, total_timeout: wait, ..ClientOptions::default() }
}

fn id() -> JobId {
    JobId::new("job_1").expect("an id")
}

fn week() -> ViewsQuery {
    let range = DateRange::last_days(7, "2026-11-20".parse().expect("a date"));
    ViewsQuery { range, limit: 50, page: 1 }
}

/// Creates a job at a server that sends this reply; returns the result and the only request that the server received.
async fn create(reply: ServerBehavior) -> (ApiResponse<RemoteJob>, Request) {
    let server = Server::start(reply).await;
    let response = client(&server.base_url()).create_job("Fix the links").await;
    (check_error(response), server.only_request())
}

async fn get(reply: ServerBehavior) -> ApiResponse<RemoteJob> {
    let server = Server::start(reply).await;
    let response = client(&server.base_url()).get_job(&id()).await;
    server.only_request();
    check_error(response)
}

async fn follow_up(reply: ServerBehavior) -> ApiResponse<RemoteJob> {
    let server = Server::start(reply).await;
    let response = client(&server.base_url()).send_follow_up(&id(), "And the redirects").await;
    server.only_request();
    check_error(response)
}

async fn views(reply: ServerBehavior) -> ApiResponse<ViewsResponse> {
    let server = Server::start(reply).await;
    let response = client(&server.base_url()).get_views(&week()).await;
    server.only_request();
    check_error(response)
}

/// Asserts that an error message is one sentence, and that the error, its sources and their debug output don't contain
/// the API key. Returns the response unchanged.
fn check_error<T: std::fmt::Debug>(response: ApiResponse<T>) -> ApiResponse<T> {
    if let Err(error) = &response.result {
        let sentence = error.to_string();
        assert!(sentence.ends_with('.') && !sentence.contains('\n'), "{sentence}");
        let mut all = format!("{sentence} {error:?} {error:#?} {} {response:?}", error.log_reason());
        let mut cause = std::error::Error::source(error);
        while let Some(deeper) = cause {
            all.push_str(&format!(" {deeper} {deeper:?} {deeper:#?}"));
            cause = deeper.source();
        }
        assert!(!all.contains(KEY), "{all}");
    }
    response
}

fn error<T: std::fmt::Debug>(response: ApiResponse<T>) -> ApiError {
    check_error(response).result.expect_err("an error")
}
