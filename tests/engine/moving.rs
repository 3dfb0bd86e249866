//! Tests with prompts imported from another computer: the engine does not send them automatically.

use crate::engine_fixture::{EngineFixture, open, scope_of, sim};
use docdeck::model::log::Operation;
use docdeck::model::prompt::{Delivery, DeliveryKind};
use docdeck::store::ExportFilter;
use std::io::{BufReader, Seek as _};

#[tokio::test]
async fn a_prompt_that_waits_on_another_computer_is_only_sent_there() {
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
    // An engine that polls and dispatches; its own prompt is sent after everything else that it would send.
    let mut fixture = EngineFixture::begin(&sim, there.path()).await;
    let (_, own) = fixture.accepted("Mine").await;
    assert_eq!(sim.requests(Operation::Create), 1);
    let rows = fixture.store.jobs(&fixture.scope).await.expect("rows");
    let theirs = rows.iter().find(|row| row.key != own.key).expect("taken in");
    assert_eq!(theirs.undelivered, Some(DeliveryKind::Unconfirmed));
    fixture.engine.stop().await;
    // On the computer where it was written it is sent as usual.
    let mut fixture = EngineFixture::begin(&sim, here.path()).await;
    assert_eq!(fixture.outcome(waiting).await.0, Delivery::Accepted);
    assert_eq!(sim.requests(Operation::Create), 2);
}
