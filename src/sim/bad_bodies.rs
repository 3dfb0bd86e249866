//! Builds the responses for injected faults. Some faults replace the service's response, others damage it. `faults`
//! determines which fault applies to a request.

use super::faults::{FaultKind, SimRetryAfter};
use super::limits::retry_after_date;
use super::reply::{Reply, error_response};
use crate::model::Time;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use chrono::TimeDelta;
use futures_util::stream;
use serde_json::Value;
use std::convert::Infallible;
use std::time::Duration;

/// Marks a response that must not be sent: the connection is closed instead.
#[derive(Debug, Clone, Copy)]
pub(super) struct CloseConnectionMarker;

/// The size of a huge response in bytes, larger than the client accepts.
const HUGE_BODY_BYTES: usize = 32 * 1024 * 1024;

const GATEWAY_PAGE: &str = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad \
Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n";
const SIGN_IN_PAGE: &str = "<!doctype html><html><head><title>Sign in to this network</title></head><body><h1>Welcome\
</h1><p>Please sign in to go on.</p></body></html>";

/// Returns the response if the fault prevents the request from being carried out, otherwise `None`.
pub(super) fn fault_response(kind: FaultKind, now: Time) -> Option<Response> {
    Some(match kind {
        FaultKind::Refuse => connection_closing_response(),
        FaultKind::Status(status) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            error_response(status, status.canonical_reason().unwrap_or("Error"))
        }
        FaultKind::TooManyRequests(retry_after) => too_many_requests(retry_after, now),
        FaultKind::GatewayPage => html_page(StatusCode::BAD_GATEWAY, GATEWAY_PAGE),
        FaultKind::SignInPage => html_page(StatusCode::OK, SIGN_IN_PAGE),
        FaultKind::Redirect => {
            let mut response = html_page(StatusCode::FOUND, "");
            response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/sign-in"));
            response
        }
        _ => return None,
    })
}

/// Damages or drops the service's response. Most faults change only successful responses.
pub(super) fn damage_response(kind: FaultKind, reply: Reply) -> Response {
    let is_success = reply.status.is_success();
    match kind {
        FaultKind::Lost => connection_closing_response(),
        FaultKind::FailsAfterwards => error_response(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error"),
        FaultKind::Malformed if is_success => {
            let half = reply.body.slice(..reply.body.len() / 2);
            Reply { body: half, ..reply }.into_response()
        }
        FaultKind::Empty if is_success => Reply { body: Bytes::new(), ..reply }.into_response(),
        FaultKind::Huge if is_success => reply.into_response_with_body(huge_body),
        FaultKind::Slow if is_success => reply.into_response_with_body(slow_body),
        FaultKind::MalformedNumbers if is_success => {
            Reply { body: change_json(&reply.body, make_numbers_malformed), ..reply }.into_response()
        }
        FaultKind::CountsDividedByTen if is_success => {
            Reply { body: change_json(&reply.body, divide_counts_by_ten), ..reply }.into_response()
        }
        FaultKind::StuckCursor | FaultKind::EndlessRows if is_success => {
            Reply { body: change_json(&reply.body, claim_more_rows), ..reply }.into_response()
        }
        _ => reply.into_response(),
    }
}

/// Applies a change to the JSON of a response. A response that is not JSON stays unchanged.
fn change_json(body: &Bytes, change: impl FnOnce(&mut Value)) -> Bytes {
    let Ok(mut value) = serde_json::from_slice(body) else { return body.clone() };
    change(&mut value);
    Bytes::from(value.to_string())
}

/// The names of the lists of rows in reports.
const ROW_LIST_FIELDS: [&str; 5] = ["views", "visitors", "searches", "feedback", "conversations"];
/// The names of the counts in the rows and totals of reports.
const COUNT_FIELDS: [&str; 8] = ["human", "thumbsUp", "hits", "ai", "thumbsDown", "code", "total", "totalSearches"];

fn rows(body: &mut Value) -> impl Iterator<Item = &mut Value> {
    let fields = body.as_object_mut().into_iter().flatten();
    let lists = fields.filter(|(name, _)| ROW_LIST_FIELDS.contains(&name.as_str()));
    lists.filter_map(|(_, list)| list.as_array_mut()).flatten()
}

/// Makes numbers invalid in four of five rows of a report. Responses about jobs have no rows and stay unchanged.
fn make_numbers_malformed(body: &mut Value) {
    for (row, kind) in rows(body).filter_map(Value::as_object_mut).zip((0..5).cycle()) {
        let counts = COUNT_FIELDS.iter().filter(|name| row.get(**name).is_some_and(Value::is_number));
        let counts: Vec<&str> = counts.copied().collect();
        // The rows of searches have only one count, so `first`, `second` and `last` can be the same field.
        let (Some(first), Some(last)) = (counts.first(), counts.last()) else { continue };
        let second = counts.get(1).unwrap_or(first);
        match kind {
            1 => row.insert((*first).to_owned(), Value::from(12.5)),
            2 => row.remove(*second),
            3 => row.insert((*last).to_owned(), Value::from(1e30)),
            4 => row.insert((*first).to_owned(), Value::from(-3)),
            _ => None,
        };
    }
}

/// Divides every count of a report by ten. The service's schema allows fractions, because a count is just a JSON
/// number. The human and AI counts still add up to the total.
fn divide_counts_by_ten(body: &mut Value) {
    let divide = |counts: &mut Value| {
        for name in COUNT_FIELDS {
            if let Some(number) = counts.get_mut(name)
                && let Some(count) = number.as_f64()
            {
                *number = Value::from(count / 10.0);
            }
        }
    };
    body.get_mut("totals").into_iter().for_each(divide);
    rows(body).for_each(divide);
    divide(body);
}

/// Sets `hasMore` to true. Responses without this field, such as those about jobs, stay unchanged.
fn claim_more_rows(body: &mut Value) {
    if let Some(more) = body.get_mut("hasMore") {
        *more = Value::Bool(true);
    }
}

pub(super) fn connection_closing_response() -> Response {
    let mut response = Response::new(Body::empty());
    response.extensions_mut().insert(CloseConnectionMarker);
    response
}

fn html_page(status: StatusCode, html: &'static str) -> Response {
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html"));
    response
}

fn too_many_requests(retry_after: SimRetryAfter, now: Time) -> Response {
    let mut response = error_response(StatusCode::TOO_MANY_REQUESTS, "Rate limit exceeded");
    let value = match retry_after {
        SimRetryAfter::Seconds(seconds) => Some(seconds.to_string()),
        SimRetryAfter::Date => Some(retry_after_date(now + TimeDelta::minutes(1))),
        SimRetryAfter::Absent => None,
    };
    if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

/// Returns the same JSON object with an additional first member of 32 MiB, generated while it is sent. The JSON is
/// valid, but too large for a client.
fn huge_body(body: Bytes) -> Body {
    let filler = Bytes::from(vec![b'x'; 64 * 1024]);
    let chunks = HUGE_BODY_BYTES / filler.len();
    let head = std::iter::once(Bytes::from_static(b"{\"filler\":\""));
    let middle = std::iter::repeat_n(filler, chunks);
    let end = [Bytes::from_static(b"\","), body.slice(1.min(body.len())..)];
    Body::from_stream(stream::iter(head.chain(middle).chain(end).map(Ok::<_, Infallible>)))
}

/// Returns the same body, sent at eight bytes a second.
fn slow_body(body: Bytes) -> Body {
    Body::from_stream(stream::unfold(body, async |mut remaining| {
        if remaining.is_empty() {
            return None;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let next = remaining.split_to(8.min(remaining.len()));
        Some((Ok::<_, Infallible>(next), remaining))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEWS: &str = r#"{"totals":{"human":9,"ai":1,"total":10},"views":[{"path":"/a","human":5,"ai":0,"total":5},
        {"path":"/b","human":4,"ai":1,"total":5},{"path":"/c","human":3,"ai":1,"total":4}],"hasMore":false}"#;

    fn apply_change(body: &'static str, change: fn(&mut Value)) -> Value {
        serde_json::from_slice(&change_json(&Bytes::from_static(body.as_bytes()), change)).expect("JSON")
    }

    #[test]
    fn malformed_numbers_affect_only_some_rows() {
        let body = apply_change(VIEWS, make_numbers_malformed);
        let rows = &body["views"];
        assert_eq!(rows[0], serde_json::json!({"path": "/a", "human": 5, "ai": 0, "total": 5}));
        assert_eq!(rows[1], serde_json::json!({"path": "/b", "human": 12.5, "ai": 1, "total": 5}));
        assert_eq!(rows[2], serde_json::json!({"path": "/c", "human": 3, "total": 4}));
        assert_eq!((&body["totals"]["total"], &body["hasMore"]), (&Value::from(10), &Value::from(false)));
    }

    #[test]
    fn tenths_are_fractions_that_add_up() {
        let body = apply_change(VIEWS, divide_counts_by_ten);
        assert_eq!(body["totals"], serde_json::json!({"human": 0.9, "ai": 0.1, "total": 1.0}));
        assert_eq!(body["views"][1], serde_json::json!({"path": "/b", "human": 0.4, "ai": 0.1, "total": 0.5}));
        assert_eq!(apply_change(r#"{"id":"j"}"#, divide_counts_by_ten), serde_json::json!({"id": "j"}));
    }

    #[test]
    fn the_counts_of_every_report_are_changed_and_its_texts_are_not() {
        let pages = r#"{"feedback":[{"path":"/a","thumbsUp":5,"thumbsDown":1,"code":0,"total":6}],"hasMore":false}"#;
        let row = serde_json::json!({"path": "/a", "thumbsUp": 0.5, "thumbsDown": 0.1, "code": 0.0, "total": 0.6});
        assert_eq!(apply_change(pages, divide_counts_by_ten)["feedback"][0], row);
        let searches = r#"{"searches":[{"searchQuery":"a","hits":4,"ctr":0.5},{"searchQuery":"b","hits":4,"ctr":0.5}],
            "totalSearches":8,"nextCursor":null}"#;
        let tenths = apply_change(searches, divide_counts_by_ten);
        assert_eq!((&tenths["totalSearches"], &tenths["searches"][0]["ctr"]), (&Value::from(0.8), &Value::from(0.5)));
        assert_eq!(apply_change(searches, make_numbers_malformed)["searches"][1]["hits"], Value::from(12.5));
        let code = r#"{"feedback":[{"id":"a","code":"a()"},{"id":"b","code":"b()"}],"nextCursor":null}"#;
        assert_eq!(apply_change(code, make_numbers_malformed), serde_json::from_str::<Value>(code).expect("JSON"));
    }

    #[test]
    fn an_endless_response_claims_that_there_are_more_rows_and_a_job_is_unchanged() {
        assert_eq!(apply_change(VIEWS, claim_more_rows)["hasMore"], Value::from(true));
        assert_eq!(apply_change(r#"{"id":"j"}"#, claim_more_rows), serde_json::json!({"id": "j"}));
        assert_eq!(apply_change(r#"{"id":"j"}"#, make_numbers_malformed), serde_json::json!({"id": "j"}));
    }
}
