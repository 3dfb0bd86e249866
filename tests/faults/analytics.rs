//! Requests every report besides page views, and a conversation, with every fault: each request is sent once, has the
//! same outcome as a request for page views, and neither its response nor its message contains the key.

use crate::case::{CaseError, check, check_sentence, client_options, retry_seconds, scope_of};
use crate::list::{API_KEY, ExpectedOutcome, Fault, JOB_ID, faults};
use crate::support::server::{ConnectionEnd, Server, ServerBehavior, http_response};
use crate::support::slow::sample;
use docdeck::api::{ApiResponse, Client, DecodableRow};
use docdeck::model::analytics::{AnalyticsKind, Cursor, Feedback, PageFeedback, Question, Search};
use docdeck::model::endpoint::ApiKey;
use docdeck::model::failure::FailureKind;
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::model::text::CleanText;
use docdeck::model::views::PageRow;
use futures_util::StreamExt as _;

/// The number of cases that run at the same time.
const CONCURRENT_CASES: usize = 16;
/// A successful status and a response with rows.
const ROWS: &str = "rows";

/// Runs a sample, and all faults with `DOCDECK_SLOW_TESTS`.
#[tokio::test]
async fn a_report_is_requested_once_and_fails_like_page_views() {
    let redirect_target = Server::start(ServerBehavior::Response(
        b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"[..].into(),
        ConnectionEnd::Keep,
    ))
    .await;
    let faults = sample(faults(redirect_target.port()), 12);
    let operations = AnalyticsKind::ALL.map(Operation::Analytics).into_iter().chain([Operation::Conversation]);
    let cases = faults.iter().flat_map(|fault| operations.clone().map(move |operation| (fault, operation)));
    let wrong: Vec<String> = futures_util::stream::iter(cases)
        .map(async |(fault, operation)| {
            let result = run(fault, operation).await;
            result.err().map(|wrong| format!("{:16} {:34} {wrong}", operation.name(), fault.name))
        })
        .buffer_unordered(CONCURRENT_CASES)
        .filter_map(async |wrong| wrong)
        .collect()
        .await;
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(redirect_target.connection_count(), 0, "no redirect is followed, so the API key stays with its service");
}

/// Runs one case.
async fn run(fault: &Fault, operation: Operation) -> Result<(), CaseError> {
    let (list, path) = list_and_path(operation);
    let (behavior, has_rows) = with_rows(&fault.views, list);
    let server = Server::start(behavior.clone()).await;
    let key = ApiKey::new(API_KEY).expect("a key");
    let client = Client::new(scope_of(&server), key, client_options(fault.short_timeout)).expect("a client");
    let range = DateRange::last_days(7, chrono::Utc::now().date_naive());
    let before = chrono::Utc::now();
    let found = match operation {
        Operation::Analytics(AnalyticsKind::Visitors) => summary(rows::<PageRow>(&client, range).await),
        Operation::Analytics(AnalyticsKind::Searches) => summary(rows::<Search>(&client, range).await),
        Operation::Analytics(AnalyticsKind::Feedback) => summary(rows::<Feedback>(&client, range).await),
        Operation::Analytics(AnalyticsKind::FeedbackByPage) => summary(rows::<PageFeedback>(&client, range).await),
        Operation::Analytics(AnalyticsKind::Questions) => summary(rows::<Question>(&client, range).await),
        _ => summary(client.get_question_thread(&CleanText::line(JOB_ID)).await),
    }?;
    let found = match found {
        Outcome::Rows => ROWS.to_owned(),
        Outcome::Failed(FailureKind::Limited(wait)) => {
            ExpectedOutcome::Limited(retry_seconds(before, wait.until, chrono::Utc::now())?).to_string()
        }
        Outcome::Failed(FailureKind::Offline) => ExpectedOutcome::Offline.to_string(),
        Outcome::Failed(FailureKind::KeyRefused) => ExpectedOutcome::KeyRefused.to_string(),
        Outcome::Failed(FailureKind::NotFound) => ExpectedOutcome::NotFound.to_string(),
        Outcome::Failed(FailureKind::Service) => ExpectedOutcome::Service.to_string(),
        Outcome::Failed(kind) => return Err(format!("ended as {kind:?}")),
    };
    let [.., views] = &fault.expected;
    let expected = match views {
        ExpectedOutcome::Loaded(_) if has_rows => ROWS.to_owned(),
        // Unlike page views, another report has nothing to show without its rows.
        ExpectedOutcome::Loaded(_) => ExpectedOutcome::Service.to_string(),
        other => other.to_string(),
    };
    check(found == expected, || format!("{found}; expected: {expected}"))?;
    let requests = server.requests();
    check(requests.len() == usize::from(behavior.reads_requests()), || format!("requests were {requests:?}"))?;
    let start = format!("GET /v1/analytics/proj/{path}");
    check(requests.iter().all(|request| request.head.starts_with(&start)), || format!("not {start}: {requests:?}"))?;
    check(server.connection_count() <= 1, || format!("{} connections", server.connection_count()))
}

enum Outcome {
    Rows,
    Failed(FailureKind),
}

async fn rows<R: DecodableRow>(
    client: &Client,
    range: DateRange,
) -> ApiResponse<docdeck::model::analytics::RowsResponse<R>> {
    client.get_report_rows(range, Cursor::new("7").as_ref()).await
}

/// Checks that nothing in the response contains the key.
fn summary<T: std::fmt::Debug>(response: ApiResponse<T>) -> Result<Outcome, CaseError> {
    let shown = format!("{response:?}");
    check(!shown.contains(API_KEY), || format!("the key is in {shown}"))?;
    match response.result {
        Ok(_) => Ok(Outcome::Rows),
        Err(error) => {
            let failure = error.failure(chrono::Utc::now());
            check_sentence(&failure.message)?;
            let reason = error.log_reason();
            check(!reason.as_str().contains(API_KEY), || format!("the log says {reason}"))?;
            Ok(Outcome::Failed(failure.kind))
        }
    }
}

/// Returns the name of the list in the response, and the end of the path of the request.
fn list_and_path(operation: Operation) -> (&'static str, &'static str) {
    match operation {
        Operation::Analytics(AnalyticsKind::Visitors) => ("visitors", "visitors?"),
        Operation::Analytics(AnalyticsKind::Searches) => ("searches", "searches?"),
        Operation::Analytics(AnalyticsKind::Feedback) => ("feedback", "feedback?"),
        Operation::Analytics(AnalyticsKind::FeedbackByPage) => ("feedback", "feedback/by-page?"),
        Operation::Analytics(AnalyticsKind::Questions) => ("conversations", "assistant?"),
        _ => ("messages", "assistant/threads/"),
    }
}

/// Renames the list in a complete response with page views. Returns whether there is one.
fn with_rows(views: &ServerBehavior, list: &str) -> (ServerBehavior, bool) {
    const OK: &[u8] = b"HTTP/1.1 200 Status\r\n";
    let ServerBehavior::Response(bytes, ConnectionEnd::Keep) = views else { return (views.clone(), false) };
    let name = br#""views":"#;
    let head = bytes.windows(4).position(|end| end == b"\r\n\r\n").filter(|_| bytes.starts_with(OK));
    let at = bytes.windows(name.len()).position(|found| found == name);
    let (Some(head), Some(at)) = (head, at) else { return (views.clone(), false) };
    let body = [&bytes[head + 4..at], format!("\"{list}\":").as_bytes(), &bytes[at + name.len()..]].concat();
    (ServerBehavior::response(http_response(200, "", &body), ConnectionEnd::Keep), true)
}
