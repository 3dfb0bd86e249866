//! Tests that the engine doesn't automatically send prompts that were imported from another computer.

use crate::support::engine::EngineFixture;
use crate::support::{open_store, scope_of, start_sim};
use docdeck::model::log::Operation;
use docdeck::model::prompt::{Delivery, DeliveryKind};
use docdeck::store::ScopeFilter;
use std::io::{BufReader, Seek as _};

#[tokio::test]
async fn an_exported_prompt_is_sent_only_on_the_computer_where_it_was_queued() {
    let (sim, here, there) =
        (start_sim(&[]).await, tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (store, scope) = (open_store(here.path()), scope_of(&sim));
    let (waiting, _) = store.add_new_job(&scope, "Theirs", chrono::Utc::now()).await.expect("queued");
    let mut lines = tempfile::tempfile().expect("a file");
    let out = lines.try_clone().expect("a file");
    store.export(out, ScopeFilter::default(), "test", chrono::Utc::now()).await.expect("written");
    lines.rewind().expect("rewound");
    let other = open_store(there.path());
    other.import(BufReader::new(lines), ScopeFilter::default(), false, chrono::Utc::now()).await.expect("taken in");
    other.close().await;
    // The new prompt is the last one in the queue: when it is accepted, the engine has sent all that it would send.
    let mut fixture = EngineFixture::start_on_folder(&sim, there.path()).await;
    let (_, own) = fixture.submit_accepted_job("Mine").await;
    assert_eq!(sim.requests(Operation::Create), 1);
    let rows = fixture.store.jobs(&fixture.scope).await.expect("rows");
    let theirs = rows.iter().find(|row| row.key != own.key).expect("taken in");
    assert_eq!(theirs.local.undelivered, Some(DeliveryKind::Unconfirmed));
    fixture.engine.stop().await;
    // On the computer where the imported prompt was written, the prompt is sent as usual.
    let mut fixture = EngineFixture::start_on_folder(&sim, here.path()).await;
    assert_eq!(fixture.wait_for_delivery(waiting).await.0, Delivery::Accepted);
    assert_eq!(sim.requests(Operation::Create), 2);
}
