//! Builds previews with every fault: each request is sent once, and no error message contains the key.

use crate::case::{check_sentence, client_options, create_store_folder, scope_of};
use crate::list::{API_KEY, JOB_ID, faults};
use crate::support::server::{ConnectionEnd, Server, ServerBehavior};
use crate::support::slow::sample;
use docdeck::api::Client;
use docdeck::engine::{Engine, EngineSetup, LeaseRoles, PollOptions};
use docdeck::model::analytics::AnalyticsSettings;
use docdeck::model::endpoint::ApiKey;
use docdeck::model::ledger::Quota;
use docdeck::model::remote_job::{JobId, RemoteJob, Status};
use docdeck::model::text::CleanText;
use docdeck::store::Store;
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

/// The number of faults that are tried at the same time.
const CONCURRENT_FAULTS: usize = 16;

/// Runs a sample, and all faults with `DOCDECK_SLOW_TESTS`.
#[tokio::test]
async fn a_preview_is_requested_once_whatever_the_response_is() {
    let target = Server::start(ServerBehavior::Response(
        b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"[..].into(),
        ConnectionEnd::Keep,
    ))
    .await;
    let faults = sample(faults(target.port()), 12);
    futures_util::stream::iter(&faults)
        .for_each_concurrent(CONCURRENT_FAULTS, async |fault| {
            // The bodies of responses about jobs are no builds either.
            for starts in [true, false] {
                let (server, folder) = (Server::start(fault.job.clone()).await, create_store_folder());
                let scope = scope_of(&server);
                let now = chrono::Utc::now();
                let (store, _) = Store::open(folder.path(), now).expect("a store");
                let mut job = RemoteJob::new(JobId::new(JOB_ID).expect("an id"), Status::Completed);
                job.state.source.git_ref = Some(CleanText::line("agent/fix-it"));
                let row = store.track(&scope, job, now).await.expect("written");
                let key = ApiKey::new(API_KEY).expect("a key");
                let (sender, _events) = mpsc::channel(4096);
                let setup = EngineSetup {
                    client: Client::new(scope.clone(), key, client_options(fault.short_timeout)).expect("a client"),
                    store: store.clone(),
                    scope: scope.clone(),
                    poll: PollOptions::default(),
                    analytics: AnalyticsSettings::default(),
                    roles: LeaseRoles::None,
                    lock_folder: Some(folder.path().to_owned()),
                    on_change: None,
                    hosts: None,
                    team: None,
                    events: sender,
                };
                let engine = Engine::start(setup).await.expect("an engine");
                let failure = match starts {
                    true => engine.start_preview(row.key).await.err(),
                    false => engine.fetch_preview_build(&CleanText::line("build-1")).await.err(),
                };
                let name = &fault.name;
                if let Some(failure) = failure {
                    check_sentence(&failure.message).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
                } else {
                    assert!(!starts, "{name}: a job is not accepted as a new build");
                }
                let requests = server.requests();
                assert_eq!(requests.len(), usize::from(fault.job.reads_requests()), "{name}: {requests:?}");
                let budget = store.budget(&scope, Quota::Previews, engine.service_time()).await.expect("read");
                let is_sent = starts && !requests.is_empty();
                assert!(budget.used >= u32::from(is_sent) && budget.used <= u32::from(starts), "{name}: {budget:?}");
                engine.stop().await;
                store.close().await;
            }
        })
        .await;
    assert_eq!(target.connection_count(), 0, "no redirect is followed");
}
