//! The service's JSON responses, including errors in the documented format.

use crate::api::wire::{ErrorBody, ErrorDetailBody};
use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;

/// A response before it is sent.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
    /// Additional headers. A Content-Type among them replaces `application/json`.
    pub(super) headers: Vec<(HeaderName, String)>,
}

impl Reply {
    pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Self {
        match serde_json::to_vec(body) {
            Ok(json) => Self { status, body: json.into(), headers: Vec::new() },
            Err(_) => Self { status: StatusCode::INTERNAL_SERVER_ERROR, body: Bytes::new(), headers: Vec::new() },
        }
    }

    /// Returns an error response with its message and details.
    pub(super) fn error(status: StatusCode, error: &str, details: Vec<ErrorDetailBody>) -> Self {
        Self::json(status, &ErrorBody { error: error.to_owned(), details })
    }

    /// Converts the reply to a response with a Content-Length header.
    pub(super) fn into_response(self) -> Response {
        self.into_response_with_body(Body::from)
    }

    /// Converts the reply to a response whose body `send` creates.
    pub(super) fn into_response_with_body(self, send: impl FnOnce(Bytes) -> Body) -> Response {
        let mut response = Response::new(send(self.body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        }
        response
    }
}

/// Returns the response for an error without details.
pub(super) fn error_response(status: StatusCode, error: &str) -> Response {
    Reply::error(status, error, Vec::new()).into_response()
}
