//! The built program, killed: while prompts are on their way, in the middle of a batch, before a prompt was sent.

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

/// The built program on that record, with these keys pressed. On a thread of its own: the simulator has to answer
/// meanwhile.
async fn typed(sim: &Sim, folder: &Path, keys: impl FnOnce(&mut Pty) + Send + 'static) -> Pty {
    let setup = Setup::dashboard()
        .with("DOCDECK_BASE_URL", &sim.base_url())
        .with("DOCDECK_API_KEY", sim.api_key())
        .with("DOCDECK_PROJECT_ID", sim.project())
        .with("DOCDECK_DATA_DIR", &folder.display().to_string());
    let typing = tokio::task::spawn_blocking(move || {
        let mut pty = Pty::spawn(setup);
        pty.wait_for_text("No jobs are known");
        keys(&mut pty);
        pty
    });
    typing.await.expect("typed")
}

fn kill(pty: Pty) {
    pty.signal(Signal::KILL);
    drop(pty);
}

/// What the service took in, each text once.
fn carried_out(sim: &Sim) -> BTreeSet<String> {
    let prompts = sim.prompts();
    let texts: BTreeSet<String> = prompts.iter().map(|(_, text)| text.clone()).collect();
    assert_eq!(texts.len(), prompts.len(), "something went out twice: {prompts:?}");
    texts
}

#[tokio::test]
async fn what_a_killed_docdeck_was_sending_is_unconfirmed_at_the_next_start_and_not_sent_again() {
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
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.until_shown("! unconfirmed: ! decides").await;
    // The thread may have been read before the news of its job came.
    desk.until_shown("NEEDS YOU 1").await;
    let prompt = desk.only_prompt().await;
    assert_eq!((prompt.text.as_str(), prompt.delivery.kind()), ("Cut off", DeliveryKind::Unconfirmed));
    // Another prompt goes through, so the dispatcher had its turn.
    desk.accepted("Another [sim:seconds=6000]").await;
    assert_eq!(sim.requests(Operation::Create), 2);
    assert_eq!(sim.prompts().iter().filter(|(_, text)| text == "Cut off").count(), 0);
}

#[tokio::test]
async fn a_batch_cut_off_in_its_middle_goes_on_at_the_next_start_and_only_what_was_under_way_is_unconfirmed() {
    let (sim, folder) = (sim(&["create=latency-100"]).await, folder());
    let texts: Vec<String> = (0..16).map(|n| format!("Page {n:02} [sim:seconds=6000]")).collect();
    let paste = format!("\x1b[200~{}\x1b[201~", texts.join("\n\n"));
    let keys = move |pty: &mut Pty| {
        pty.send("b");
        pty.wait_for_text("Many new jobs at once");
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
    // From here on no answer comes. Four are sent at a time, so with four more no older one is under way.
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
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.until("the rest", |_| sim.carried_out(Operation::Create) == 12).await;
    desk.until_shown("NEEDS YOU 4").await;
    desk.until_shown("WORKING 12").await;
    // Another prompt goes through, so the dispatcher had its turn with all that it would send.
    desk.accepted("Another [sim:seconds=6000]").await;
    assert_eq!((carried_out(&sim).len(), sim.requests(Operation::Create)), (13, 17));
    for row in desk.store.jobs(&desk.scope).await.expect("rows") {
        let thread = desk.thread(row.key).await;
        let prompt = thread.prompts.first().expect("a prompt");
        let expected = match carried_out(&sim).contains(&prompt.text) {
            true => DeliveryKind::Accepted,
            false => DeliveryKind::Unconfirmed,
        };
        assert_eq!(prompt.delivery.kind(), expected, "{}", prompt.text);
    }
}

#[tokio::test]
async fn a_prompt_that_waited_for_the_limit_when_docdeck_was_killed_is_sent_once_when_the_limit_allows() {
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
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.until_shown("QUEUED 1").await;
    assert_eq!(desk.only_prompt().await.delivery.kind(), DeliveryKind::Queued);
    assert_eq!(sim.requests(Operation::Create), 0);
    // The hour is over; the next answer of the service says so.
    sim.advance(TimeDelta::hours(1));
    desk.keys("2");
    desk.until("the prompt", |_| !sim.prompts().is_empty()).await;
    desk.keys("1");
    desk.until_shown("agent  active").await;
    assert_eq!((carried_out(&sim).len(), sim.requests(Operation::Create)), (1, 1));
}
