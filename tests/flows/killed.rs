//! The built program, killed while prompts are being sent, in the middle of a batch, and before a prompt was sent.

use crate::dashboard_fixture::{DashboardFixture, faults, folder, scope_of, sim};
use crate::pty::{Pty, Setup};
use chrono::TimeDelta;
use docdeck::model::ledger::RateLimited;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use docdeck::sim::Sim;
use docdeck::store::Store;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::path::Path;

/// Runs the built program on that database with these keys pressed. It runs on a separate thread, because the simulator
/// has to answer meanwhile.
async fn typed(sim: &Sim, folder: &Path, keys: impl FnOnce(&mut Pty) + Send + 'static) -> Pty {
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

fn kill(pty: Pty) {
    pty.signal(Signal::KILL);
    drop(pty);
}

/// The prompts that the service has accepted; asserts that each text arrived once.
fn carried_out(sim: &Sim) -> BTreeSet<String> {
    let prompts = sim.prompts();
    let texts: BTreeSet<String> = prompts.iter().map(|(_, text)| text.clone()).collect();
    assert_eq!(texts.len(), prompts.len(), "something went out twice: {prompts:?}");
    texts
}

#[tokio::test]
async fn a_prompt_being_sent_at_a_kill_is_unconfirmed_at_the_next_start_and_not_sent_again() {
    let (sim, folder) = (sim(&["create=latency-60000"]).await, folder());
    let keys = |pty: &mut Pty| {
        pty.send("n");
        pty.wait_for_text("New job");
        pty.send("Cut off\x13");
        pty.wait_for_text("Saved, sending now: Cut off");
    };
    let pty = typed(&sim, folder.path(), keys).await;
    while sim.requests(Operation::Create) == 0 {
        tokio::task::yield_now().await;
    }
    kill(pty);
    faults(&sim, &[]);
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.until_shown("! unconfirmed: press !").await;
    // The thread may have been read before the event of its job arrived.
    dashboard.until_shown("NEEDS YOU 1").await;
    let prompt = dashboard.only_prompt().await;
    assert_eq!((prompt.text.as_str(), prompt.delivery.kind()), ("Cut off", DeliveryKind::Unconfirmed));
    // Another prompt is accepted, so the dispatcher has had its turn.
    dashboard.accepted("Another [sim:seconds=6000]").await;
    assert_eq!(sim.requests(Operation::Create), 2);
    assert_eq!(sim.prompts().iter().filter(|(_, text)| text == "Cut off").count(), 0);
}

#[tokio::test]
async fn a_batch_interrupted_by_a_kill_continues_at_the_next_start_and_only_prompts_being_sent_are_unconfirmed() {
    let (sim, folder) = (sim(&["create=latency-100"]).await, folder());
    let texts: Vec<String> = (0..16).map(|n| format!("Page {n:02} [sim:seconds=6000]")).collect();
    let paste = format!("\x1b[200~{}\x1b[201~", texts.join("\n\n"));
    let keys = move |pty: &mut Pty| {
        pty.send("b");
        pty.wait_for_text("New jobs from a list");
        pty.send(&paste);
        pty.wait_for_text("Page 15");
        pty.send("\x13");
        pty.wait_for_text("queue 16 jobs");
        pty.press_until("y", "1 Jobs 16");
    };
    let pty = typed(&sim, folder.path(), keys).await;
    while sim.carried_out(Operation::Create) < 2 {
        tokio::task::yield_now().await;
    }
    // From here on no answer comes. Four are sent at a time, so with four more no older one is being sent.
    faults(&sim, &["create=latency-60000"]);
    let (before, mut asked) = (sim.requests(Operation::Create), 0);
    while asked < before + 4 {
        asked = sim.requests(Operation::Create);
        tokio::task::yield_now().await;
    }
    kill(pty);
    let done = carried_out(&sim);
    assert!((2..=12).contains(&done.len()), "{done:?}");
    faults(&sim, &[]);
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.until("the rest", |_| sim.carried_out(Operation::Create) == 12).await;
    dashboard.until_shown("NEEDS YOU 4").await;
    dashboard.until_shown("WORKING 12").await;
    // Another prompt is accepted, so the dispatcher has had its turn with everything that it would send.
    dashboard.accepted("Another [sim:seconds=6000]").await;
    assert_eq!((carried_out(&sim).len(), sim.requests(Operation::Create)), (13, 17));
    for row in dashboard.store.jobs(&dashboard.scope).await.expect("rows") {
        let thread = dashboard.thread(row.key).await;
        let prompt = thread.prompts.first().expect("a prompt");
        let expected = match carried_out(&sim).contains(&prompt.text) {
            true => DeliveryKind::Accepted,
            false => DeliveryKind::Unconfirmed,
        };
        assert_eq!(prompt.delivery.kind(), expected, "{}", prompt.text);
    }
}

#[tokio::test]
async fn a_prompt_waiting_for_the_limit_at_a_kill_is_sent_once_when_the_limit_resets() {
    let (sim, folder) = (sim(&[]).await, folder());
    let (store, _) = Store::open(folder.path(), sim.now()).expect("a store");
    for _ in 0..100 {
        store.spend(&scope_of(&sim), RateLimited::Create, sim.now()).await.expect("written").expect("a place");
    }
    store.close().await;
    let keys = |pty: &mut Pty| {
        pty.send("n");
        pty.wait_for_text("New job");
        pty.send("Written, not sent\x13");
        pty.wait_for_text("QUEUED 1");
    };
    let pty = typed(&sim, folder.path(), keys).await;
    kill(pty);
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.until_shown("QUEUED 1").await;
    assert_eq!(dashboard.only_prompt().await.delivery.kind(), DeliveryKind::Queued);
    assert_eq!(sim.requests(Operation::Create), 0);
    // The hour is over; the next answer of the service reports that.
    sim.advance(TimeDelta::hours(1));
    dashboard.keys("2");
    dashboard.until("the prompt", |_| !sim.prompts().is_empty()).await;
    dashboard.keys("1");
    dashboard.until_shown("agent  active").await;
    assert_eq!((carried_out(&sim).len(), sim.requests(Operation::Create)), (1, 1));
}
