//! Kills the built program while it sends a prompt, in the middle of a batch, and while a prompt waits for the limit.

use crate::support::dashboard::DashboardFixture;
use crate::support::pty::{Pty, Setup};
use crate::support::{create_folder, scope_of, set_faults, start_sim};
use chrono::TimeDelta;
use docdeck::model::ledger::Quota;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use docdeck::sim::Sim;
use docdeck::store::Store;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Starts the built program on the database in `folder` and presses keys. Uses a separate thread, because the simulator
/// has to respond meanwhile on this one.
async fn start_and_type(sim: &Sim, folder: &Path, keys: impl FnOnce(&mut Pty) + Send + 'static) -> Pty {
    let setup = Setup::dashboard()
        .with("DOCDECK_BASE_URL", &sim.base_url())
        .with("DOCDECK_API_KEY", sim.api_key())
        .with("DOCDECK_PROJECT_ID", sim.project())
        .with("DOCDECK_DATA_DIR", &folder.display().to_string());
    let typing = tokio::task::spawn_blocking(move || {
        let mut pty = Pty::spawn(setup);
        pty.wait_for_text("No jobs yet");
        keys(&mut pty);
        pty
    });
    typing.await.expect("typed")
}

async fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let wait = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wait)
        .await
        .unwrap_or_else(|_| panic!("timed out waiting for {what}"));
}

fn kill(pty: Pty) {
    pty.signal(Signal::KILL);
    drop(pty);
}

/// Returns the prompts that the service has accepted. Asserts that it got each of them only once.
fn accepted_prompts(sim: &Sim) -> BTreeSet<String> {
    let prompts = sim.received_prompts();
    let texts: BTreeSet<String> = prompts.iter().map(|(_, text)| text.clone()).collect();
    assert_eq!(texts.len(), prompts.len(), "something went out twice: {prompts:?}");
    texts
}

#[tokio::test]
async fn a_prompt_that_was_being_sent_during_a_kill_is_unconfirmed_and_not_resent() {
    let (sim, folder) = (start_sim(&["create=latency-60000"]).await, create_folder());
    let keys = |pty: &mut Pty| {
        pty.send("n");
        pty.wait_for_text("New job");
        pty.send("Cut off\x13");
        pty.wait_for_text("Saved, sending now: Cut off");
    };
    let pty = start_and_type(&sim, folder.path(), keys).await;
    wait_for("the request", || sim.requests(Operation::Create) > 0).await;
    kill(pty);
    set_faults(&sim, &[]);
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.wait_until_shown("        ! unconfirmed").await;
    // The list may be updated later than the thread.
    dashboard.wait_until_shown("Needs you 1").await;
    let prompt = dashboard.only_prompt().await;
    assert_eq!((prompt.text.as_str(), prompt.delivery.kind()), ("Cut off", DeliveryKind::Unconfirmed));
    // When another prompt is accepted, the engine has handled the whole queue.
    dashboard.send_accepted_job("Another [sim:seconds=6000]").await;
    assert_eq!(sim.requests(Operation::Create), 2);
    assert_eq!(sim.received_prompts().iter().filter(|(_, text)| text == "Cut off").count(), 0);
}

#[tokio::test]
async fn after_a_kill_a_batch_continues_and_only_prompts_that_were_being_sent_are_unconfirmed() {
    let (sim, folder) = (start_sim(&["create=latency-400"]).await, create_folder());
    let texts: Vec<String> = (0..16).map(|n| format!("Page {n:02} [sim:seconds=6000]")).collect();
    let paste = format!("\x1b[200~{}\x1b[201~", texts.join("\n\n"));
    let keys = move |pty: &mut Pty| {
        pty.send("b");
        pty.wait_for_text("New jobs from a list");
        pty.send(&paste);
        pty.wait_for_text("Page 15");
        pty.send("\x13");
        pty.wait_for_text("start 16 jobs");
        pty.press_until("y", "Queued ");
    };
    let pty = start_and_type(&sim, folder.path(), keys).await;
    wait_for("two jobs", || sim.carried_out_count(Operation::Create) >= 2).await;
    // From now on, no request gets a response. docdeck sends four prompts at a time, so after four more requests, all
    // earlier ones have a response.
    set_faults(&sim, &["create=latency-60000"]);
    let before = sim.requests(Operation::Create);
    wait_for("four more requests", || sim.requests(Operation::Create) >= before + 4).await;
    kill(pty);
    let done = accepted_prompts(&sim);
    assert!((2..=12).contains(&done.len()), "{done:?}");
    set_faults(&sim, &[]);
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.wait_until("the rest", |_| sim.carried_out_count(Operation::Create) == 12).await;
    dashboard.wait_until_shown("Needs you 4").await;
    dashboard.wait_until_shown("Working 12").await;
    // When another prompt is accepted, the engine has sent everything in the queue that it would send.
    dashboard.send_accepted_job("Another [sim:seconds=6000]").await;
    assert_eq!((accepted_prompts(&sim).len(), sim.requests(Operation::Create)), (13, 17));
    for row in dashboard.store.jobs(&dashboard.scope).await.expect("rows") {
        let thread = dashboard.thread(row.key).await;
        let prompt = thread.prompts.first().expect("a prompt");
        let expected = match accepted_prompts(&sim).contains(&prompt.text) {
            true => DeliveryKind::Accepted,
            false => DeliveryKind::Unconfirmed,
        };
        assert_eq!(prompt.delivery.kind(), expected, "{}", prompt.text);
    }
}

#[tokio::test]
async fn a_prompt_that_waited_for_the_limit_during_a_kill_is_sent_once_when_the_limit_resets() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let (store, _) = Store::open(folder.path(), sim.now()).expect("a store");
    for _ in 0..100 {
        store.spend(&scope_of(&sim), Quota::Create, sim.now()).await.expect("written").expect("a place");
    }
    store.close().await;
    let keys = |pty: &mut Pty| {
        pty.send("n");
        pty.wait_for_text("New job");
        pty.send("Written, not sent\x13");
        pty.wait_for_text("Queued 1");
    };
    let pty = start_and_type(&sim, folder.path(), keys).await;
    kill(pty);
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.wait_until_shown("Queued 1").await;
    assert_eq!(dashboard.only_prompt().await.delivery.kind(), DeliveryKind::Queued);
    assert_eq!(sim.requests(Operation::Create), 0);
    // The hour of the limit ends. The dashboard gets the new time of the service with the next response.
    sim.advance(TimeDelta::hours(1));
    dashboard.press_chars("2");
    dashboard.wait_until("the prompt", |_| !sim.received_prompts().is_empty()).await;
    dashboard.press_chars("1");
    dashboard.wait_until_shown("◐ started").await;
    assert_eq!((accepted_prompts(&sim).len(), sim.requests(Operation::Create)), (1, 1));
}
