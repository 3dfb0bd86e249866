//! What came from another computer: an engine sends nothing of it by itself.

use crate::engine_fixture::{EngineFixture, open, scope_of, sim};
use docdeck::model::log::Operation;
use docdeck::model::prompt::{Delivery, DeliveryKind};
use docdeck::store::ExportFilter;
use std::io::{BufReader, Seek as _};

#[tokio::test]
async fn a_prompt_that_waits_on_another_computer_is_sent_by_that_one_alone() {
    let (sim, here, there) =
        (sim(&[]).await, tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (store, scope) = (open(here.path()), scope_of(&sim));
    let (waiting, _) = store.add_new_job(&scope, "Theirs", chrono::Utc::now()).await.expect("queued");
    let mut lines = tempfile::tempfile().expect("a file");
    let out = lines.try_clone().expect("a file");
    store.export(out, ExportFilter::default(), "test", chrono::Utc::now()).await.expect("written");
    lines.rewind().expect("rewound");
    let other = open(there.path());
    other.import(BufReader::new(lines), ExportFilter::default(), false, chrono::Utc::now()).await.expect("taken in");
    other.close().await;
    // An engine that polls and sends what is queued; its own prompt goes out behind whatever else it would send.
    let mut desk = EngineFixture::begin(&sim, there.path()).await;
    let (_, own) = desk.accepted("Mine").await;
    assert_eq!(sim.requests(Operation::Create), 1);
    let rows = desk.store.jobs(&desk.scope).await.expect("rows");
    let theirs = rows.iter().find(|row| row.key != own.key).expect("taken in");
    assert_eq!(theirs.undelivered, Some(DeliveryKind::Unconfirmed));
    desk.engine.stop().await;
    // Where it was written it goes out as ever.
    let mut desk = EngineFixture::begin(&sim, here.path()).await;
    assert_eq!(desk.outcome(waiting).await.0, Delivery::Accepted);
    assert_eq!(sim.requests(Operation::Create), 2);
}
