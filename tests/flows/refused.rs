//! Prompts that certainly were not carried out: never sent, rejected, or over the limit.

use crate::dashboard_fixture::{DashboardFixture, faults, folder, scope_of, sim, sim_on};
use crossterm::event::KeyCode;
use docdeck::app::Effect;
use docdeck::model::log::Operation;
use docdeck::model::prompt::{Delivery, DeliveryKind};
use tokio::net::TcpSocket;

#[tokio::test]
async fn what_never_reached_the_service_is_sent_again_as_the_same_prompt() {
    // A port that is taken, where nobody listens.
    let taken = TcpSocket::new_v4().expect("a socket");
    taken.set_reuseaddr(true).expect("set");
    taken.bind("127.0.0.1:0".parse().expect("an address")).expect("bound");
    let port = taken.local_addr().expect("an address").port();
    let folder = folder();
    let elsewhere = sim(&[]).await;
    let mut scope = scope_of(&elsewhere);
    scope.base_url = format!("http://127.0.0.1:{port}");
    let mut desk = DashboardFixture::begin_with(scope, elsewhere.api_key(), folder.path()).await;
    desk.send_new("Try me");
    desk.until_shown("Not sent: Try me.").await;
    assert!(desk.app.dialogs.is_empty(), "the editor is closed");
    let before = desk.only_prompt().await;
    assert_eq!(before.delivery.kind(), DeliveryKind::NotSent);
    // The service is back.
    let sim = sim_on(port, &[]).await;
    desk.until("its thread", |desk| desk.app.detail.undelivered().is_some()).await;
    desk.keys("!e");
    desk.assert_shows("Try me");
    desk.ctrl('s');
    desk.until("acceptance", |desk| desk.app.dialogs.is_empty() && !sim.prompts().is_empty()).await;
    let after = desk.only_prompt().await;
    assert_eq!((after.id, after.delivery), (before.id, Delivery::Accepted));
    assert_eq!((sim.requests(Operation::Create), sim.carried_out(Operation::Create)), (1, 1));
}

#[tokio::test]
async fn a_rejected_prompt_is_shown_with_the_services_words_and_is_edited_and_sent_again() {
    let (sim, folder) = (sim(&["create=400"]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.send_new("Wrong");
    desk.until_shown("Rejected: Wrong.").await;
    let prompt = desk.only_prompt().await;
    let Delivery::Rejected(reason) = &prompt.delivery else { panic!("{prompt:?}") };
    desk.assert_shows(reason.as_str().split(['.', ':']).next().expect("a first part"));
    assert_eq!(sim.carried_out(Operation::Create), 0);
    faults(&sim, &[]);
    desk.until_shown("! rejected: ! edits and sends it again").await;
    desk.keys("!e");
    desk.assert_shows(&format!("Last attempt: {}", reason.as_str().split(['.', ':']).next().expect("a first part")));
    desk.keys(" no more");
    desk.ctrl('s');
    desk.until("acceptance", |_| !sim.prompts().is_empty()).await;
    desk.until_shown("Accepted: Wrong no more").await;
    let after = desk.only_prompt().await;
    assert_eq!((after.id, after.text.as_str(), after.delivery), (prompt.id, "Wrong no more", Delivery::Accepted));
    assert_eq!((sim.requests(Operation::Create), sim.prompts().len()), (2, 1));
}

#[tokio::test]
async fn what_was_changed_in_a_rejected_prompt_is_kept_when_its_editor_is_closed() {
    let (sim, folder) = (sim(&["create=400"]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.send_new("Wrong");
    desk.until_shown("! rejected: ! edits and sends it again").await;
    desk.assert_shows("NEEDS YOU 1");
    faults(&sim, &[]);
    desk.keys("!");
    desk.assert_shows("The service refused it. Nothing was carried out.");
    desk.keys("e now");
    desk.key(KeyCode::Esc);
    desk.keys("!e right");
    desk.ctrl('s');
    desk.until("acceptance", |_| !sim.prompts().is_empty()).await;
    assert_eq!(sim.prompts().first().map(|(_, text)| text.clone()), Some("Wrong now right".to_owned()));
}

#[tokio::test]
async fn after_a_429_a_prompt_waits_and_goes_out_by_itself_once() {
    let (sim, folder) = (sim(&["create=429-1"]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.send_new("Wait for me [sim:seconds=6000]");
    desk.until_shown("new jobs: limit reached, next in").await;
    desk.until_shown("QUEUED 1").await;
    assert_eq!(sim.carried_out(Operation::Create), 0);
    faults(&sim, &[]);
    desk.until_shown("agent  active").await;
    assert_eq!(desk.only_prompt().await.delivery, Delivery::Accepted);
    assert_eq!((sim.requests(Operation::Create), sim.prompts().len()), (2, 1));
    let sent = desk.asked.iter().filter(|effect| matches!(effect, Effect::SubmitNewJob(_) | Effect::Resolve(..)));
    assert_eq!(sent.count(), 1, "nobody asked for it a second time");
}
