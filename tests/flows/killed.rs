//! The built program, killed while a prompt is on its way.

use crate::desk::{Desk, faults, folder, sim};
use crate::pty::{Pty, Setup};
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use rustix::process::Signal;

#[tokio::test]
async fn what_a_killed_docdeck_was_sending_is_unconfirmed_at_the_next_start_and_not_sent_again() {
    let (sim, folder) = (sim(&["create=latency-60000"]).await, folder());
    let setup = Setup::dashboard()
        .with("DOCDECK_BASE_URL", &sim.base_url())
        .with("DOCDECK_API_KEY", sim.api_key())
        .with("DOCDECK_PROJECT_ID", sim.project())
        .with("DOCDECK_DATA_DIR", &folder.path().display().to_string());
    // On a thread of its own: the simulator has to answer meanwhile.
    let typing = tokio::task::spawn_blocking(move || {
        let mut pty = Pty::spawn(setup);
        pty.wait_for_text("No jobs are known");
        pty.send("n");
        pty.wait_for_text("New job");
        pty.send("Cut off\x13");
        pty.wait_for_text("on disk, sending");
        pty
    });
    let pty = typing.await.expect("typed");
    while sim.requests(Operation::Create) == 0 {
        tokio::task::yield_now().await;
    }
    pty.signal(Signal::KILL);
    drop(pty);
    faults(&sim, &[]);
    let mut desk = Desk::begin(&sim, folder.path()).await;
    desk.until_shown("! unconfirmed: ! decides").await;
    desk.assert_shows("NEEDS YOU 1");
    let prompt = desk.only_prompt().await;
    assert_eq!((prompt.text.as_str(), prompt.delivery.kind()), ("Cut off", DeliveryKind::Unconfirmed));
    // Another prompt goes through, so the dispatcher had its turn.
    desk.accepted("Another [sim:seconds=6000]").await;
    assert_eq!(sim.requests(Operation::Create), 2);
    assert_eq!(sim.prompts().iter().filter(|(_, text)| text == "Cut off").count(), 0);
}
