//! Tests of prompts that the service certainly did not carry out: not sent, rejected, or over the limit.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, scope_of, set_faults, start_sim, start_sim_on_port};
use crossterm::event::KeyCode;
use docdeck::model::log::Operation;
use docdeck::model::prompt::{Delivery, DeliveryKind};
use docdeck::tui::{Effect, PromptsEffect};
use tokio::net::TcpSocket;

#[tokio::test]
async fn a_prompt_that_was_not_sent_can_be_resent_without_a_second_copy() {
    // This socket reserves a port on which no server listens.
    let reserved = TcpSocket::new_v4().expect("a socket");
    reserved.set_reuseaddr(true).expect("set");
    reserved.bind("127.0.0.1:0".parse().expect("an address")).expect("bound");
    let port = reserved.local_addr().expect("an address").port();
    let folder = create_folder();
    let other_sim = start_sim(&[]).await;
    let mut scope = scope_of(&other_sim);
    scope.base_url = format!("http://127.0.0.1:{port}");
    let mut dashboard = DashboardFixture::start_with_scope(scope, other_sim.api_key(), folder.path()).await;
    dashboard.send_new("Try me");
    dashboard.wait_until_shown("Not sent: “Try me”.").await;
    assert!(dashboard.app.dialogs.is_empty(), "the editor is closed");
    let before = dashboard.only_prompt().await;
    assert_eq!(before.delivery.kind(), DeliveryKind::NotSent);
    // The service becomes available on the reserved port.
    let sim = start_sim_on_port(port, &[]).await;
    dashboard.wait_until("its thread", |dashboard| dashboard.app.detail.undelivered().is_some()).await;
    dashboard.press_chars("!e");
    dashboard.assert_shows("Try me");
    dashboard.press_ctrl('s');
    dashboard.wait_until("the job's id", |dashboard| dashboard.selected_job().id.is_some()).await;
    let after = dashboard.only_prompt().await;
    assert_eq!((after.id, after.delivery), (before.id, Delivery::Accepted));
    assert_eq!((sim.requests(Operation::Create), sim.carried_out_count(Operation::Create)), (1, 1));
}

#[tokio::test]
async fn a_rejected_prompt_is_shown_with_the_services_message_and_can_be_edited_and_resent() {
    let (sim, folder) = (start_sim(&["create=400"]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_new("Wrong");
    dashboard.wait_until_shown("Rejected: “Wrong”.").await;
    let prompt = dashboard.only_prompt().await;
    let Delivery::Rejected(reason) = &prompt.delivery else { panic!("{prompt:?}") };
    dashboard.assert_shows(reason.as_str().split(['.', ':']).next().expect("a first part"));
    assert_eq!(sim.carried_out_count(Operation::Create), 0);
    set_faults(&sim, &[]);
    // The thread may be shown before the list knows about the response.
    dashboard.wait_until_shown("        ! rejected").await;
    dashboard.wait_until_shown("Needs you 1").await;
    dashboard.press_chars("!e");
    dashboard
        .assert_shows(&format!("Last attempt: {}", reason.as_str().split(['.', ':']).next().expect("a first part")));
    dashboard.press_chars(" no more");
    dashboard.press_ctrl('s');
    dashboard.wait_until("acceptance", |_| !sim.received_prompts().is_empty()).await;
    dashboard.wait_until_shown("Accepted: Wrong no more").await;
    let after = dashboard.only_prompt().await;
    assert_eq!((after.id, after.text.as_str(), after.delivery), (prompt.id, "Wrong no more", Delivery::Accepted));
    assert_eq!((sim.requests(Operation::Create), sim.received_prompts().len()), (2, 1));
}

#[tokio::test]
async fn changes_to_a_rejected_prompt_are_saved_when_its_editor_is_closed() {
    let (sim, folder) = (start_sim(&["create=400"]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_new("Wrong");
    // The thread may be shown before the list knows about the response.
    dashboard.wait_until_shown("        ! rejected").await;
    dashboard.wait_until_shown("Needs you 1").await;
    set_faults(&sim, &[]);
    dashboard.press_chars("!");
    dashboard.assert_shows("The service rejected this prompt. Nothing was started.");
    dashboard.press_chars("e now");
    dashboard.press_key(KeyCode::Esc);
    dashboard.press_chars("!e right");
    dashboard.press_ctrl('s');
    dashboard.wait_until("acceptance", |_| !sim.received_prompts().is_empty()).await;
    assert_eq!(sim.received_prompts().first().map(|(_, text)| text.clone()), Some("Wrong now right".to_owned()));
}

#[tokio::test]
async fn after_a_429_a_prompt_waits_and_is_then_sent_automatically_once() {
    let (sim, folder) = (start_sim(&["create=429-1"]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_new("Wait for me [sim:seconds=6000]");
    dashboard.wait_until_shown("new jobs: limit reached, next request in").await;
    dashboard.wait_until_shown("Queued 1").await;
    assert_eq!(sim.carried_out_count(Operation::Create), 0);
    set_faults(&sim, &[]);
    dashboard.wait_until_shown("◐ started").await;
    assert_eq!(dashboard.only_prompt().await.delivery, Delivery::Accepted);
    // On a busy computer, the wait of one second may end before the fault is removed. Then another 429 follows.
    assert!(sim.requests(Operation::Create) >= 2);
    assert_eq!((sim.carried_out_count(Operation::Create), sim.received_prompts().len()), (1, 1));
    let sent = dashboard.requested_effects.iter().filter(|effect| {
        matches!(effect, Effect::Prompts(PromptsEffect::SubmitNewJob(_)) | Effect::Prompts(PromptsEffect::Resolve(..)))
    });
    assert_eq!(sent.count(), 1, "the user has sent the prompt only once");
}
