//! Prompts that were certainly not carried out: not sent, rejected, or over the limit.

use crate::dashboard_fixture::{DashboardFixture, faults, folder, scope_of, sim, sim_on};
use crossterm::event::KeyCode;
use docdeck::app::Effect;
use docdeck::model::log::Operation;
use docdeck::model::prompt::{Delivery, DeliveryKind};
use tokio::net::TcpSocket;

#[tokio::test]
async fn a_prompt_that_never_reached_the_service_is_resent_as_the_same_prompt() {
    // A port that is reserved but on which nothing listens.
    let taken = TcpSocket::new_v4().expect("a socket");
    taken.set_reuseaddr(true).expect("set");
    taken.bind("127.0.0.1:0".parse().expect("an address")).expect("bound");
    let port = taken.local_addr().expect("an address").port();
    let folder = folder();
    let elsewhere = sim(&[]).await;
    let mut scope = scope_of(&elsewhere);
    scope.base_url = format!("http://127.0.0.1:{port}");
    let mut dashboard = DashboardFixture::start_with(scope, elsewhere.api_key(), folder.path()).await;
    dashboard.send_new("Try me");
    dashboard.until_shown("Not sent: Try me.").await;
    assert!(dashboard.app.dialogs.is_empty(), "the editor is closed");
    let before = dashboard.only_prompt().await;
    assert_eq!(before.delivery.kind(), DeliveryKind::NotSent);
    // The service is back.
    let sim = sim_on(port, &[]).await;
    dashboard.until("its thread", |dashboard| dashboard.app.detail.undelivered().is_some()).await;
    dashboard.keys("!e");
    dashboard.assert_shows("Try me");
    dashboard.ctrl('s');
    dashboard.until("acceptance", |dashboard| dashboard.app.dialogs.is_empty() && !sim.prompts().is_empty()).await;
    let after = dashboard.only_prompt().await;
    assert_eq!((after.id, after.delivery), (before.id, Delivery::Accepted));
    assert_eq!((sim.requests(Operation::Create), sim.carried_out(Operation::Create)), (1, 1));
}

#[tokio::test]
async fn a_rejected_prompt_is_shown_with_the_services_message_and_can_be_edited_and_resent() {
    let (sim, folder) = (sim(&["create=400"]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_new("Wrong");
    dashboard.until_shown("Rejected: Wrong.").await;
    let prompt = dashboard.only_prompt().await;
    let Delivery::Rejected(reason) = &prompt.delivery else { panic!("{prompt:?}") };
    dashboard.assert_shows(reason.as_str().split(['.', ':']).next().expect("a first part"));
    assert_eq!(sim.carried_out(Operation::Create), 0);
    faults(&sim, &[]);
    dashboard.until_shown("! rejected: ! to edit and send again").await;
    dashboard.keys("!e");
    dashboard
        .assert_shows(&format!("Last attempt: {}", reason.as_str().split(['.', ':']).next().expect("a first part")));
    dashboard.keys(" no more");
    dashboard.ctrl('s');
    dashboard.until("acceptance", |_| !sim.prompts().is_empty()).await;
    dashboard.until_shown("Accepted: Wrong no more").await;
    let after = dashboard.only_prompt().await;
    assert_eq!((after.id, after.text.as_str(), after.delivery), (prompt.id, "Wrong no more", Delivery::Accepted));
    assert_eq!((sim.requests(Operation::Create), sim.prompts().len()), (2, 1));
}

#[tokio::test]
async fn changes_to_a_rejected_prompt_are_saved_when_its_editor_is_closed() {
    let (sim, folder) = (sim(&["create=400"]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_new("Wrong");
    dashboard.until_shown("! rejected: ! to edit and send again").await;
    dashboard.assert_shows("NEEDS YOU 1");
    faults(&sim, &[]);
    dashboard.keys("!");
    dashboard.assert_shows("The service rejected it. Nothing was started.");
    dashboard.keys("e now");
    dashboard.key(KeyCode::Esc);
    dashboard.keys("!e right");
    dashboard.ctrl('s');
    dashboard.until("acceptance", |_| !sim.prompts().is_empty()).await;
    assert_eq!(sim.prompts().first().map(|(_, text)| text.clone()), Some("Wrong now right".to_owned()));
}

#[tokio::test]
async fn after_a_429_a_prompt_waits_and_is_sent_once_by_itself() {
    let (sim, folder) = (sim(&["create=429-1"]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_new("Wait for me [sim:seconds=6000]");
    dashboard.until_shown("new jobs: limit reached, next in").await;
    dashboard.until_shown("QUEUED 1").await;
    assert_eq!(sim.carried_out(Operation::Create), 0);
    faults(&sim, &[]);
    dashboard.until_shown("agent  active").await;
    assert_eq!(dashboard.only_prompt().await.delivery, Delivery::Accepted);
    assert_eq!((sim.requests(Operation::Create), sim.prompts().len()), (2, 1));
    let sent = dashboard
        .requested_effects
        .iter()
        .filter(|effect| matches!(effect, Effect::SubmitNewJob(_) | Effect::Resolve(..)));
    assert_eq!(sent.count(), 1, "nobody asked for it a second time");
}
