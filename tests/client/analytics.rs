//! The reports besides page views, loaded from the simulated service with the real client.

use super::{ApiError, Client, ClientOptions, check_error, support};
use docdeck::api::{ApiResponse, DecodableRow};
use docdeck::model::analytics::{
    AnalyticsKind, Cursor, Feedback, PageFeedback, Question, RowsMerge, RowsResponse, Search,
};
use docdeck::model::endpoint::ApiKey;
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::model::text::CleanText;
use docdeck::model::views::PageRow;
use docdeck::sim::{Sim, SimOptions, SimulatedRow};

fn client_with(sim: &Sim, key: &str) -> Client {
    let key = ApiKey::new(key).expect("a key");
    Client::new(support::scope_of(sim), key, ClientOptions::default()).expect("a client")
}

/// Returns the 100 days before yesterday.
fn range(sim: &Sim) -> DateRange {
    let last = sim.now().date_naive() - chrono::Days::new(2);
    DateRange::last_days(100, last)
}

/// Loads all rows of a report, and compares them with those of the service.
async fn assert_complete<R: DecodableRow + SimulatedRow>(sim: &Sim) -> usize {
    let (client, range) = (client_with(sim, sim.api_key()), range(sim));
    let before = sim.analytics::<R>(range);
    let first = client.get_report_rows::<R>(range, None).await.result.expect("rows");
    let (totals, has_unavailable_rows) = (first.totals.clone(), first.has_unavailable_rows);
    let mut merge = RowsMerge::start(range, first, sim.now());
    while let Some(cursor) = merge.report().next.clone() {
        let response: RowsResponse<R> = client.get_report_rows(range, Some(&cursor)).await.result.expect("rows");
        assert_ne!(response.next.as_ref(), Some(&cursor), "{:?}", R::KIND);
        assert!(merge.add_response(response, sim.now()), "{:?}: each answer has new rows", R::KIND);
    }
    let report = merge.into_report();
    let after = sim.analytics::<R>(range);
    // Statuses change with time.
    if before == after {
        assert_eq!(report.rows, before.rows, "{:?}", R::KIND);
        assert_eq!((totals, has_unavailable_rows), (before.totals, before.has_unavailable_rows));
    }
    assert_eq!(report.duplicates, 0);
    report.rows.len()
}

#[tokio::test]
async fn the_rows_of_all_responses_are_the_rows_of_the_service() {
    for (seed, pages) in [(7, 1200), (8, 3600), (9, 40)] {
        let sim = Sim::start(SimOptions { seed, pages, jobs: 4, ..SimOptions::default() }).await.expect("a port");
        let counts = [
            assert_complete::<PageRow>(&sim).await,
            assert_complete::<Search>(&sim).await,
            assert_complete::<Feedback>(&sim).await,
            assert_complete::<PageFeedback>(&sim).await,
            assert_complete::<Question>(&sim).await,
        ];
        if pages > 2000 {
            let several = [1, 1, 1, 0, 1].map(|more| more == 1);
            let limits = AnalyticsKind::ALL.map(|kind| usize::try_from(kind.max_rows()).expect("small"));
            let has_several = |n: usize| counts[n] > limits[n];
            assert_eq!(std::array::from_fn(has_several), several, "{counts:?}");
        }
        let requests: u64 = AnalyticsKind::ALL.map(|kind| sim.requests(Operation::Analytics(kind))).iter().sum();
        assert!(requests < 100, "{requests}");
    }
}

fn error<T: std::fmt::Debug>(response: ApiResponse<T>) -> ApiError {
    check_error(response).result.expect_err("an error")
}

#[tokio::test]
async fn a_key_may_read_reports_and_all_share_one_limit() {
    let sim = Sim::start(SimOptions { pages: 20, jobs: 0, ..SimOptions::default() }).await.expect("a port");
    let (reader, range) = (client_with(&sim, sim.read_only_key()), range(&sim));
    let questions = reader.get_report_rows::<Question>(range, None).await.result.expect("rows");
    let id = questions.rows.first().expect("a question").id.clone();
    assert_eq!(reader.get_question_thread(&id).await.result.expect("messages").len() % 2, 0);
    let unknown = error(reader.get_question_thread(&CleanText::line("nope")).await);
    assert!(matches!(unknown, ApiError::NotFound { operation: Operation::Conversation, .. }), "{unknown}");
    let stranger = client_with(&sim, "mint_sim_stranger");
    assert!(matches!(error(stranger.get_report_rows::<Search>(range, None).await), ApiError::Unauthorized { .. }));
    let bad = error(reader.get_report_rows::<Feedback>(range, Cursor::new("x").as_ref()).await);
    assert!(bad.to_string().contains("cursor is not valid"), "{bad}");
    // Four requests were counted so far.
    for _ in 0..32 {
        reader.get_report_rows::<PageFeedback>(range, None).await.result.expect("rows");
        reader.get_report_rows::<Search>(range, None).await.result.expect("rows");
        reader.get_report_rows::<PageRow>(range, None).await.result.expect("rows");
    }
    assert!(matches!(error(reader.get_question_thread(&id).await), ApiError::Limited { .. }));
    assert!(matches!(error(reader.get_report_rows::<Feedback>(range, None).await), ApiError::Limited { .. }));
    sim.advance(chrono::TimeDelta::hours(1));
    reader.get_report_rows::<Feedback>(range, None).await.result.expect("rows");
}

#[tokio::test]
async fn a_stuck_report_repeats_its_cursor_and_an_endless_one_has_no_new_rows() {
    let sim = Sim::start(SimOptions { pages: 300, jobs: 0, ..SimOptions::default() }).await.expect("a port");
    let (client, range) = (client_with(&sim, sim.api_key()), range(&sim));
    sim.set_faults(vec!["all=stuck".parse().expect("a fault")]);
    let first = client.get_report_rows::<Feedback>(range, None).await.result.expect("rows");
    let second = client.get_report_rows::<Feedback>(range, first.next.as_ref()).await.result.expect("rows");
    assert_eq!((&second.next, &second.rows), (&first.next, &first.rows));
    let by_page = client.get_report_rows::<PageFeedback>(range, None).await.result.expect("rows");
    assert!(by_page.has_unavailable_rows && by_page.next.is_none());
    sim.set_faults(vec!["searches=endless".parse().expect("a fault")]);
    let mut next: Option<Cursor> = None;
    for requests in 0..6 {
        let response = client.get_report_rows::<Search>(range, next.as_ref()).await.result.expect("rows");
        assert!(response.next.is_some() && (requests < 3 || response.rows.is_empty()), "{requests}");
        next = response.next;
    }
}

#[tokio::test]
async fn a_truncated_response_with_reader_text_is_not_quoted() {
    let sim = Sim::start(SimOptions { pages: 300, jobs: 0, ..SimOptions::default() }).await.expect("a port");
    let (client, range) = (client_with(&sim, sim.api_key()), range(&sim));
    sim.set_faults(vec!["all=malformed".parse().expect("a fault")]);
    let feedback = error(client.get_report_rows::<Feedback>(range, None).await);
    assert!(matches!(&feedback, ApiError::Unreadable { excerpt, .. } if excerpt.is_empty()), "{feedback:?}");
    let searches = error(client.get_report_rows::<Search>(range, None).await);
    assert!(matches!(&searches, ApiError::Unreadable { excerpt, .. } if !excerpt.is_empty()), "{searches:?}");
    sim.set_faults(vec!["all=odd".parse().expect("a fault")]);
    let odd = client.get_report_rows::<PageRow>(range, None).await.result.expect("rows");
    assert!(odd.rows.iter().any(|row| row.counts.human.value().is_none()), "odd numbers are kept as they are");
}
