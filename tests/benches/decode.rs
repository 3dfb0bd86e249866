//! Measures how long docdeck takes to decode responses of the service: a job, and page views with 50 and 250 rows.
//!
//! `cargo bench --bench decode`

#![expect(clippy::expect_used, reason = "a benchmark that can't be set up should fail")]

use criterion::{BenchmarkId, Criterion};
use docdeck::api::BodyReader;
use docdeck::api::wire::{CountsBody, PageBody, ViewsBody};
use docdeck::model::endpoint::ApiKey;
use docdeck::model::log::Operation;
use std::hint::black_box;
use std::time::Duration;

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .without_plots()
        .configure_from_args();
    bench_job(&mut criterion);
    bench_page_views(&mut criterion);
    criterion.final_summary();
}

fn bench_job(criterion: &mut Criterion) {
    let bytes = br#"{"id":"01J9ZK4M8Q7V5T","status":"completed",
        "source":{"repository":"https://github.com/acme/docs","ref":"agent/broken-links"},"model":"sonnet",
        "prLink":"https://github.com/acme/docs/pull/1423","createdAt":"2026-11-20T13:02:30.000Z","archivedAt":null}"#;
    let key = ApiKey::new("mint_of_nobody").expect("a key");
    let reader = BodyReader { operation: Operation::GetJob, timeout: Duration::from_secs(60), key: &key };
    criterion.bench_function("job", |bencher| bencher.iter(|| reader.job(200, None, black_box(bytes))));
}

/// Measures 50 rows, the default page size of the table, and 250 rows, the largest response of the service.
fn bench_page_views(criterion: &mut Criterion) {
    let counts = |n: u64| CountsBody { human: n * 17, ai: n * 5, total: n * 22 };
    let key = ApiKey::new("mint_of_nobody").expect("a key");
    let reader = BodyReader { operation: Operation::Views, timeout: Duration::from_secs(60), key: &key };
    let mut group = criterion.benchmark_group("rows of views");
    for rows in [50, 250] {
        let page = |n: u64| PageBody {
            path: format!("/guides/section-{}/how-to-do-thing-{n}", n % 40),
            counts: counts(rows - n),
        };
        let body = ViewsBody { totals: counts(1_000_000), views: (0..rows).map(page).collect(), has_more: true };
        let bytes = serde_json::to_vec(&body).expect("JSON");
        group.bench_with_input(BenchmarkId::from_parameter(rows), &bytes, |bencher, bytes| {
            bencher.iter(|| reader.views(200, None, black_box(bytes)));
        });
    }
}
